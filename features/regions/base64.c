#include "features/regions/parts.h"

#include <pthread.h>

static int value_of(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Of four characters at a time: the value shifted to its place, or a bit beyond the 24 when the
// character is none of the alphabet.
static uint32_t table[4][256];

static void make_table(void)
{
    enum { WRONG = 1 << 24 };
    for (int c = 0; c < 256; c++)
        for (int i = 0; i < 4; i++) {
            int value = value_of((unsigned char)c);
            table[i][c] = value < 0 ? WRONG : (uint32_t)value << (18 - 6 * i);
        }
}

static const uint32_t *shifted(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; // several threads may decode
    pthread_once(&once, make_table);
    return table[0];
}

static size_t padding(const char *text, size_t length)
{
    if (length < 4 || text[length - 1] != '=')
        return 0;
    return text[length - 2] == '=' ? 2 : 1;
}

size_t vd_base64_bytes(const char *text, size_t length)
{
    return length % 4 ? SIZE_MAX : length / 4 * 3 - padding(text, length);
}

size_t vd_base64_decode(const char *text, size_t length, unsigned char *out)
{
    const uint32_t *values = shifted();
    const unsigned char *in = (const unsigned char *)text;
    size_t padded = padding(text, length), whole = padded ? length - 4 : length, at = 0;
    for (; at < whole; at += 4, out += 3) {
        uint32_t bits = values[in[at]] | values[256 + in[at + 1]] | values[512 + in[at + 2]] |
                        values[768 + in[at + 3]];
        if (bits >> 24)
            break;
        out[0] = (unsigned char)(bits >> 16);
        out[1] = (unsigned char)(bits >> 8);
        out[2] = (unsigned char)bits;
    }
    if (at < whole || !padded) {
        while (at < length && value_of(in[at]) >= 0)
            at++;
        return at;
    }
    uint32_t bits = 0;
    for (size_t i = 0; i < 4 - padded; i++, at++) {
        int value = value_of(in[at]);
        if (value < 0)
            return at;
        bits |= (uint32_t)value << (18 - 6 * i);
    }
    for (size_t i = 0; i < 3 - padded; i++)
        out[i] = (unsigned char)(bits >> (16 - 8 * i));
    return bits & (padded == 2 ? 0xffff : 0xff) ? at - 1 : length;
}

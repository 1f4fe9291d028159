#include "tests/support/damage.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDITS = 4, LONGEST = 24, HEADER = 1024 };

int damage_rounds(int rounds)
{
    const char *times = getenv("VISDIAL_DAMAGE");
    int factor = times ? (int)strtol(times, NULL, 10) : 1;
    return rounds * (factor > 0 ? factor : 1);
}

static size_t some_place(vd_rng *rng, size_t size)
{
    if (size > HEADER && vd_rng_below(rng, 2))
        size = HEADER;
    return (size_t)vd_rng_below(rng, (int)size);
}

// Bytes [from, from + out) become `with`.
static size_t replace_bytes(char *bytes, size_t size, size_t from, size_t out, const void *with,
                            size_t in)
{
    memmove(bytes + from + in, bytes + from + out, size - from - out);
    memcpy(bytes + from, with, in);
    return size - out + in;
}

// The whole number in the text around `at`; *length 0 where there is none.
static size_t number_around(const char *bytes, size_t size, size_t at, size_t *length)
{
    size_t end = at;
    while (at > 0 && isdigit((unsigned char)bytes[at - 1]))
        at--;
    while (end < size && isdigit((unsigned char)bytes[end]))
        end++;
    *length = end - at;
    return at;
}

static size_t extreme_number(char *bytes, size_t size, size_t at, vd_rng *rng)
{
    static const char *const texts[] = {"0",
                                        "-1",
                                        "1",
                                        "255",
                                        "65536",
                                        "2147483647",
                                        "2147483648",
                                        "4294967296",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "18446744073709551615",
                                        "1e308",
                                        "1e-320",
                                        "0.5",
                                        "1e999",
                                        "NaN"};
    static const int64_t words[] = {0,           -1,        1,         2,         255,
                                    INT16_MAX,   INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
                                    UINT32_MAX,  1ll << 32, 1ll << 40, 1ll << 61, (1ll << 61) + 1,
                                    -(1ll << 62)};
    size_t length;
    size_t from = number_around(bytes, size, at, &length);
    if (length > 0 && length <= LONGEST) {
        const char *text = texts[vd_rng_below(rng, sizeof texts / sizeof *texts)];
        return replace_bytes(bytes, size, from, length, text, strlen(text));
    }
    int64_t word = words[vd_rng_below(rng, sizeof words / sizeof *words)];
    size_t width = (size_t)1 << (1 + vd_rng_below(rng, 3)); // 2, 4 or 8 bytes
    at -= at % width;
    if (at + width <= size)
        memcpy(bytes + at, &word, width);
    return size;
}

static size_t edit(char *bytes, size_t size, vd_rng *rng)
{
    static const char likely[] = "\"{}[]:,-0159.eE\\ \t\n\xc3\xff";
    size_t at = some_place(rng, size);
    size_t piece = 1 + (size_t)vd_rng_below(rng, LONGEST), left = size - at;
    char copy[LONGEST];
    piece = piece < left ? piece : left;
    memcpy(copy, bytes + at, piece);
    switch (vd_rng_below(rng, 9)) {
    case 0:
        bytes[at] = likely[vd_rng_below(rng, sizeof likely)]; // NUL among them
        return size;
    case 1:
        bytes[at] ^= (char)(1 << vd_rng_below(rng, 8));
        return size;
    case 2:
        bytes[at] = (char)vd_rng_next(rng);
        return size;
    case 3:
        return replace_bytes(bytes, size, at, vd_rng_below(rng, 2) ? 1 : piece, copy, 0);
    case 4:
        return replace_bytes(bytes, size, at, 0, copy, piece);
    case 5:
        return replace_bytes(bytes, size, some_place(rng, size), 0, copy, piece);
    case 6:
        return vd_rng_below(rng, 4) ? size : at; // rarely: most files notice that
    default:
        return extreme_number(bytes, size, at, rng);
    }
}

char *damage_bytes(const char *bytes, size_t size, vd_rng *rng, size_t *changed)
{
    char *copy = malloc(size + EDITS * LONGEST + 1);
    if (size)
        memcpy(copy, bytes, size);
    for (int edits = 1 + vd_rng_below(rng, EDITS); edits > 0 && size > 0; edits--)
        size = edit(copy, size, rng);
    copy[size] = '\0';
    *changed = size;
    return copy;
}

#include "tui/base/safe_output.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/utf8.h"

// ---- the filter ---------------------------------------------------------------------------------

// U+007F and above that would be replaced on a terminal.
static bool hides(unsigned c)
{
    static const unsigned ranges[][2] = {
        {0x7f, 0x9f},      // DEL, C1
        {0xad, 0xad},      // soft hyphen
        {0x61c, 0x61c},    // Arabic letter mark
        {0x200b, 0x200f},  // zero-width space to right-to-left mark
        {0x2028, 0x202e},  // line separators; embeddings and overrides of the direction
        {0x2060, 0x206f},  // word joiner to deprecated format characters
        {0xfeff, 0xfeff},  // zero-width no-break space
        {0xfff9, 0xfffb},  // interlinear annotations
        {0xe0000, 0xe007f} // tags
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

// Bytes of the character that begins with this one, 0 when none does.
static size_t character_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static bool is_replaced(const vd_safe_text *filter, int32_t c)
{
    if (c < 0x20)
        return c != '\n' && c != '\t';
    return hides((unsigned)c) && (filter->terminal || c < 0xa0);
}

// Takes the character at the start of bytes, `length` of which are there. Returns how many it has,
// 0 when more must come to tell.
static size_t take(const vd_safe_text *filter, const unsigned char *bytes, size_t length, char *out,
                   size_t *used)
{
    size_t own = character_length(bytes[0]), there = own < length ? own : length;
    for (size_t i = 1; i < there; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            own = 0;
    if (own > length)
        return 0;
    int32_t c = vd_utf8_next(bytes, length, &own);
    if (c < 0 || is_replaced(filter, c)) {
        out[(*used)++] = '?';
        return own;
    }
    memcpy(out + *used, bytes, own);
    *used += own;
    return own;
}

size_t vd_safe_text_filter(vd_safe_text *filter, const char *text, size_t length, char *out)
{
    size_t used = 0, at = 0;
    while (filter->held_length > 0) {
        unsigned char *held = (unsigned char *)filter->held;
        size_t own = take(filter, held, filter->held_length, out, &used);
        if (own > 0) {
            filter->held_length -= own;
            memmove(held, held + own, filter->held_length);
        } else if (at < length) {
            held[filter->held_length++] = (unsigned char)text[at++];
        } else {
            return used;
        }
    }
    while (at < length) {
        size_t own = take(filter, (const unsigned char *)text + at, length - at, out, &used);
        if (own == 0) {
            filter->held_length = length - at;
            memcpy(filter->held, text + at, length - at);
            break;
        }
        at += own;
    }
    return used;
}

// They stand in strings only, where an escape means the same.
static void print_escaped(FILE *out, unsigned c)
{
    if (c < 0x10000)
        fprintf(out, "\\u%04x", c);
    else
        fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

void vd_safe_output_json(FILE *out, const char *json, size_t length)
{
    for (size_t at = 0, own; at < length; at += own) {
        int32_t c = vd_utf8_next(json + at, length - at, &own);
        if (c >= 0x7f && hides((unsigned)c))
            print_escaped(out, (unsigned)c);
        else
            fwrite(json + at, 1, own, out);
    }
}

// ---- stdout and stderr --------------------------------------------------------------------------

typedef struct safe_stream {
    vd_safe_text filter;
    int file;
    FILE *plain;
} safe_stream;

static safe_stream safe_stdout = {.file = STDOUT_FILENO}, safe_stderr = {.file = STDERR_FILENO};

static ssize_t write_safely(void *cookie, const char *bytes, size_t size)
{
    enum { PIECE = 4096 };
    safe_stream *stream = cookie;
    char safe[PIECE + sizeof stream->filter.held];
    for (size_t at = 0; at < size; at += PIECE) {
        size_t length = size - at < PIECE ? size - at : PIECE;
        size_t used = vd_safe_text_filter(&stream->filter, bytes + at, length, safe);
        if (vd_file_write_all(stream->file, safe, used) < used)
            return 0; // which stdio takes for an error, with errno
    }
    return (ssize_t)size;
}

static void begin(safe_stream *stream, FILE **standard, int buffering)
{
    FILE *safe = fopencookie(stream, "w", (cookie_io_functions_t){.write = write_safely});
    stream->plain = *standard;
    stream->filter.terminal = isatty(stream->file);
    if (!safe)
        return; // out of memory, which the program will say soon
    fflush(*standard);
    setvbuf(safe, NULL, buffering, BUFSIZ);
    *standard = safe;
}

void vd_safe_output_begin(void)
{
    begin(&safe_stdout, &stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    begin(&safe_stderr, &stderr, _IONBF);
}

FILE *vd_safe_output_terminal(FILE *stream)
{
    if (stream == stdout && safe_stdout.plain)
        return safe_stdout.plain;
    return stream == stderr && safe_stderr.plain ? safe_stderr.plain : stream;
}

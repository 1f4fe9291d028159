#include "features/text/glove.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"

enum { LONGEST_LINE = 1 << 16, MOST_NUMBERS = 65536 };

typedef struct reader {
    const char *path;
    FILE *file;
    char *line; // LONGEST_LINE
    long number;
} reader;

static vd_status begin(reader *r, const char *path, vd_error *err)
{
    *r = (reader){.path = path, .line = vd_alloc(LONGEST_LINE, 1)};
    if (!r->line)
        return vd_error_memory(err, "a line of word vectors");
    int file;
    size_t size;
    vd_status status = vd_file_open(path, &file, &size, err); // which refuses pipes
    if (status == VD_OK && !(r->file = fdopen(file, "r"))) {
        close(file);
        status = vd_error_memory(err, path);
    }
    return status;
}

static void end(reader *r)
{
    if (r->file)
        fclose(r->file);
    vd_free(r->line);
}

// The next line without its end; *there false at the end of the file.
static vd_status next_line(reader *r, bool *there, vd_error *err)
{
    *there = fgets(r->line, LONGEST_LINE, r->file) != NULL;
    if (!*there)
        return ferror(r->file) ? vd_error_set(err, VD_IO, "%.400s: %s", r->path, strerror(errno))
                               : VD_OK;
    r->number++;
    size_t length = strlen(r->line);
    if (length + 1 == LONGEST_LINE && r->line[length - 1] != '\n')
        return vd_error_set(err, VD_FORMAT,
                            "%.400s, line %ld: longer than %d bytes; expected a word and its "
                            "numbers",
                            r->path, r->number, LONGEST_LINE - 2);
    while (length > 0 && strchr("\r\n ", r->line[length - 1]))
        r->line[--length] = '\0';
    return VD_OK;
}

// How many numbers follow the word, by the spaces.
static int numbers_of(const char *line)
{
    int count = 0;
    for (const char *at = strchr(line, ' '); at && count <= MOST_NUMBERS; at = strchr(at + 1, ' '))
        count++;
    return count;
}

static vd_status check_width(const reader *r, int width, vd_error *err)
{
    int found = numbers_of(r->line);
    if (found == width && r->line[0] != ' ')
        return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%.400s, line %ld: %d numbers after a word, expected %d as in the lines "
                        "before",
                        r->path, r->number, found, width);
}

vd_status vd_glove_width(const char *path, int *width, vd_error *err)
{
    reader r;
    bool there = false;
    *width = 0;
    vd_status status = begin(&r, path, err);
    if (status == VD_OK)
        status = next_line(&r, &there, err);
    if (status == VD_OK)
        *width = there ? numbers_of(r.line) : 0;
    if (status == VD_OK && (*width < 1 || *width > MOST_NUMBERS))
        status = vd_error_set(err, VD_FORMAT,
                              "%.400s, line 1: expected a word and its numbers, separated by "
                              "spaces (GloVe's text format)",
                              path);
    end(&r);
    return status;
}

static vd_status parse_row(const reader *r, int width, float *row, vd_error *err)
{
    char *at = strchr(r->line, ' ');
    for (int i = 0; i < width; i++) {
        char *start = at + 1;
        row[i] = strtof(start, &at);
        if (at == start || (*at != ' ' && *at != '\0') || !isfinite(row[i]))
            return vd_error_set(err, VD_FORMAT,
                                "%.400s, line %ld: '%.20s' where number %d of %d should be",
                                r->path, r->number, start, i + 1, width);
    }
    return VD_OK;
}

// Which row a line is for: that of its word, or `unk` for the word "unk"; NULL for no row.
static vd_status take_line(const reader *r, const vd_vocab *vocab, int width, float *rows,
                           float *unk, bool *seen, vd_error *err)
{
    vd_status status = check_width(r, width, err);
    if (status)
        return status;
    char *space = strchr(r->line, ' ');
    *space = '\0';
    int32_t id = vd_vocab_id(vocab, r->line);
    bool unknown = strcmp(r->line, "unk") == 0;
    *space = ' ';
    if (id < VD_FIRST_WORD && !unknown)
        return VD_OK;
    float *row = id >= VD_FIRST_WORD ? rows + (size_t)id * (size_t)width : unk;
    status = parse_row(r, width, row, err);
    if (status)
        return status;
    seen[id] = true; // VD_UNKNOWN: the vector of "unk" is there
    if (unknown && row != unk)
        memcpy(unk, row, (size_t)width * sizeof *unk);
    seen[VD_UNKNOWN] = seen[VD_UNKNOWN] || unknown;
    return VD_OK;
}

vd_status vd_glove_read(const char *path, const vd_vocab *vocab, int width, float *rows, int *found,
                        vd_error *err)
{
    reader r;
    bool there = true;
    int size = vd_vocab_size(vocab), own = 0;
    bool *seen = vd_alloc((size_t)size, sizeof *seen);
    float *unk = vd_alloc((size_t)width, sizeof *unk);
    vd_status status = begin(&r, path, err);
    if (status == VD_OK && (!seen || !unk))
        status = vd_error_memory(err, "word vectors");
    while (status == VD_OK) {
        status = next_line(&r, &there, err);
        if (status || !there)
            break;
        status = take_line(&r, vocab, width, rows, unk, seen, err);
    }
    if (status == VD_OK && !seen[VD_UNKNOWN])
        status =
            vd_error_set(err, VD_FORMAT,
                         "%.400s: there is no word \"unk\", whose vector unknown words get", path);
    for (int id = 0; id < size && status == VD_OK; id++) {
        float *row = rows + (size_t)id * (size_t)width;
        if (id < VD_UNKNOWN)
            memset(row, 0, (size_t)width * sizeof *row);
        else if (id == VD_UNKNOWN || !seen[id])
            memcpy(row, unk, (size_t)width * sizeof *row);
        else
            own++;
    }
    if (found && status == VD_OK)
        *found = own;
    end(&r);
    vd_free(unk);
    vd_free(seen);
    return status;
}

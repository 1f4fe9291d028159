// The fuzzer of everything that reads a file: `make fuzz`, or for one format
//
//   build/fuzz/tests/fuzz/fuzz FORMAT CORPUS... [options of libFuzzer]
//
// FORMAT is a row of tests/support/file_formats.h. `fuzz --list` prints the formats, `fuzz --seed
// FORMAT FILE` writes a small whole file of one. A file may be refused, but only with a reason and
// a text; nothing may crash, leak, or run out of bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/file_formats.h"
#include "tests/support/support.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const file_format *format;
static char *path; // where an input is put for the reader

static void list_formats(void)
{
    for (const file_format *f = file_formats; f->file; f++)
        puts(f->file);
}

static const file_format *find_format(const char *name)
{
    const file_format *f = file_formats;
    while (f->file && strcmp(f->file, name) != 0)
        f++;
    if (f->file)
        return f;
    fprintf(stderr, "there is no format '%s'; --list prints them\n", name);
    exit(2);
}

static void write_seed(const char *to)
{
    size_t size;
    format->write(path);
    char *bytes = support_read_file(path, &size);
    support_write_file(to, bytes, size);
    free(bytes);
}

// Takes the format out of the arguments; the rest are libFuzzer's.
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char **word = *argv;
    bool seed = *argc == 4 && strcmp(word[1], "--seed") == 0;
    if (*argc == 2 && strcmp(word[1], "--list") == 0) {
        list_formats();
        exit(0);
    }
    if (*argc < 2) {
        fprintf(stderr, "usage: %s FORMAT CORPUS... [options of libFuzzer]\n", word[0]);
        exit(2);
    }
    format = find_format(word[seed ? 2 : 1]);
    const char *directory = file_formats_begin();
    atexit(file_formats_end);
    path = support_join(directory, format->file);
    format->write(path); // with the folder that it is in
    if (seed) {
        write_seed(word[3]);
        exit(0);
    }
    memmove(word + 1, word + 2, (size_t)(*argc - 1) * sizeof *word);
    --*argc;
    return 0;
}

static bool fits(vd_status status, const vd_error *err)
{
    if (status == VD_OK)
        return true;
    return err->status == status && *err->text && status != VD_NOT_FOUND && status != VD_USAGE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vd_error err = {0};
    support_write_file(path, data, size);
    vd_status status = format->read(path, &err);
    if (!fits(status, &err)) {
        fprintf(stderr, "%s: status %d with '%s' (%d)\n", format->file, status, err.text,
                err.status);
        abort();
    }
    return 0;
}

// What the tests share: temporary directories, files, the samples and golden numbers beside the
// project, failing every allocation once. A helper that cannot do its work ends the test program.
#ifndef VD_TEST_SUPPORT_H
#define VD_TEST_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

// A new empty directory below $TMPDIR (or /tmp); free() the name.
char *support_temp_dir(void);
// Removes path and all below it; a missing path is fine. Symbolic links are not followed.
void support_remove_tree(const char *path);
// "directory/name", free().
char *support_join(const char *directory, const char *name);
// How many entries a directory has (a call that gave up must leave no temporary file behind).
size_t support_count_entries(const char *directory);

void support_write_file(const char *path, const void *data, size_t size);
void support_write_text(const char *path, const char *text);
// The whole file with a NUL behind it, free(). size may be NULL.
char *support_read_file(const char *path, size_t *size);
bool support_exists(const char *path);

double support_milliseconds(void); // a clock that only goes forward

// Path of a file below ../shared ("data/visdial/..."), real samples that are not part of the
// project. Where ../shared is absent the calling test says so and is skipped; where it is there, a
// missing file ends the test. The string lives until the fourth call after this.
const char *support_shared(const char *relative);
// Says what is missing, for the list of skipped tests (tests/run), and skips the calling test.
void support_skip(const char *missing) __attribute__((noreturn));

// Makes the 1st, 2nd, ... allocation (engine/base/alloc.h) of call fail until call succeeds. Each
// failure must come back as VD_NO_MEMORY with a text; call itself frees what a success gave.
// Returns how many allocations were failed. Leaks are what the address sanitizer is for.
typedef vd_status (*support_call)(void *context, vd_error *err);
size_t support_fail_each_allocation(support_call call, void *context);

// Fails the test unless status is `expected` and err's text holds each string given (NULL ends).
void support_refused(vd_status status, vd_status expected, const vd_error *err, ...)
    __attribute__((sentinel));

#endif

// Every format that the program reads: a small whole file of it, and a reader that asks for all
// that is in it. For tests that damage files, and for the fuzzer (tests/fuzz).
#ifndef VD_TEST_FILE_FORMATS_H
#define VD_TEST_FILE_FORMATS_H

#include <stdbool.h>

#include "engine/base/error.h"

typedef struct file_format {
    const char *file; // its name below the directory; NULL ends the table
    void (*write)(const char *path);
    // VD_OK when all of the file can be used. Fails the test where something that was read cannot.
    vd_status (*read)(const char *path, vd_error *err);
    int rounds;   // how many damaged files a test tries; 0: only the fuzzer (it names no file)
    bool lenient; // nothing in it is refused
} file_format;

extern const file_format file_formats[];

// Makes the world that the readers need; returns the directory for the files, borrowed.
const char *file_formats_begin(void);
void file_formats_end(void); // removes the directory, too

#endif

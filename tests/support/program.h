// Running the built program: $VISDIAL_BIN, else build/visdial.
#ifndef VD_TEST_PROGRAM_H
#define VD_TEST_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

typedef struct support_program {
    pid_t pid;
    int code;  // exit code, or 128 + the signal that ended it
    char *out; // what it wrote on standard output and standard error, NUL behind
    char *err;
    int files[2]; // of these, while it runs
} support_program;

// arguments: without the program's name, NULL at the end. input: what it reads on standard input
// (NULL: nothing). most_bytes: no file may grow beyond it (0: no limit).
void support_program_start(support_program *program, const char *const *arguments,
                           const char *input, size_t most_bytes);
// Waits for its end, a minute at most.
void support_program_wait(support_program *program);
// Both.
void support_program_run(support_program *program, const char *const *arguments, const char *input);
void support_program_clear(support_program *program);

// Prints what the program said and fails the test unless it ended with `code` and standard error
// holds each of the strings (NULL at the end).
void support_program_expect(const support_program *program, int code, ...)
    __attribute__((sentinel));

#endif

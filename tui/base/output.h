// Helpers for what the commands print on stdout.
#ifndef VD_OUTPUT_H
#define VD_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>

#define VD_VERSION "1.0"

// How the program was called, for messages that say how to call it again: argv[0], or "visdial"
// where it was found in PATH.
extern const char *vd_called;

// Whether the locale's characters are UTF-8. Sets LC_CTYPE from the environment.
bool vd_output_utf8(void);

int vd_output_width(const char *text); // characters
int vd_output_columns(void);           // of the terminal that stdout is; 0: it is none
// How many bytes of a text are its first `columns` characters.
size_t vd_output_first(const char *text, int columns);

// A line of a description: a name, and at column 12 its value.
void vd_output_row(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

// share (0..1) of `width` cells (at most 40), padded with spaces.
enum { VD_BAR_SIZE = 40 * 3 + 1 };
const char *vd_output_bar(char out[VD_BAR_SIZE], double share, int width, bool utf8);

// A generator with an open object. yajl does not check what its allocator returns: when memory is
// out, the program ends with a message.
yajl_gen vd_output_object(void);
void vd_output_object_end(yajl_gen json); // closes it, writes it to stdout, frees json

#endif

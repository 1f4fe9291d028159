// Text of files, file names and people must not control the terminal. Everything that is printed
// on stdout and stderr passes through one filter, so that no message has to take care of it.
//
// Replaced by "?": control characters except newline and tab (ESC, DEL, U+0080 to U+009F), bytes
// that are not UTF-8; on a terminal also invisible characters that change the display: marks and
// overrides of the writing direction, zero-width characters. What is printed for another program
// (a pipe, a file) keeps these.
#ifndef VD_SAFE_OUTPUT_H
#define VD_SAFE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// A character that was cut off at the end of a piece of text waits for its other bytes here.
typedef struct vd_safe_text {
    bool terminal;
    char held[4];
    size_t held_length;
} vd_safe_text;

// Filters one piece of text: out has room for length + 4 bytes; returns how many were written.
size_t vd_safe_text_filter(vd_safe_text *filter, const char *text, size_t length, char *out);

// JSON with those characters escaped ("\\u202e"), which the filter would replace.
void vd_safe_output_json(FILE *out, const char *json, size_t length);

// Puts the filter under stdout and stderr; once, at the start of the program. Their file numbers
// are STDOUT_FILENO and STDERR_FILENO; fileno() does not know them any more.
void vd_safe_output_begin(void);
// What stdout or stderr was before, for the program's own control characters: the screen, the
// line of progress.
FILE *vd_safe_output_terminal(FILE *stream);

#endif

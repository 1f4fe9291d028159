// Text on a cell grid: UTF-8 to display clusters, their widths, and word wrapping.
//
// A cluster is what takes one or two columns: a base character with the marks that sit on it
// (utf8proc's grapheme clusters, Unicode UAX 29). Where the C library's wcwidth and utf8proc do
// not agree how wide a character is, or one of them does not know it, terminals differ, and U+FFFD
// replaces it. The C library's widths follow LC_CTYPE.
#ifndef VD_WRAP_H
#define VD_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As many characters as one cell of ncurses can hold.
enum { VD_CLUSTER_CODES = 5, VD_REPLACEMENT = 0xFFFD };

typedef struct vd_cluster {
    size_t bytes; // taken from the text, at least 1
    int width;    // columns, 1 or 2
    int count;    // code points, at least 1
    uint32_t code[VD_CLUSTER_CODES];
} vd_cluster;

// The cluster at the start of text; length >= 1. Bytes that are no UTF-8, control characters and
// lone marks come back as U+FFFD; a tab and a line feed as a space.
void vd_cluster_next(const char *text, size_t length, vd_cluster *out);

// Columns that text takes.
int vd_text_width(const char *text, size_t length);
// Bytes of the longest start of text that fits into `width` columns.
size_t vd_text_fit(const char *text, size_t length, int width);

// One line of wrapped text.
typedef struct vd_text_line {
    size_t start, length; // bytes, without the white space at the break
    int width;            // columns
} vd_text_line;

// The next line of at most `width` columns from *offset (0 at first), which moves on. Breaks at
// white space, at line feeds always, inside a word only where the word is wider than a line.
// False when the text is used up. An empty text has no lines.
bool vd_wrap_next(const char *text, size_t length, int width, size_t *offset, vd_text_line *line);

// Where a part begins in a text, letters of either case; NULL: it is not in it.
const char *vd_text_find(const char *text, const char *part);

#endif

// One line of text being edited, with the usual keys, a cut buffer and a history. Does not use the
// terminal.
#ifndef VD_LINE_EDIT_H
#define VD_LINE_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/keymap.h"

enum { VD_LINE_MAX = 2000, VD_LINE_HISTORY = 500 }; // bytes of a line; lines remembered
// Stands for the end of a line in what was pasted: U+23CE, the return symbol.
#define VD_LINE_BREAK "\xe2\x8f\x8e"
enum { VD_LINE_BREAK_CODE = 0x23CE };

typedef struct vd_line {
    char text[VD_LINE_MAX + 1]; // UTF-8, zero-terminated
    size_t length, cursor;      // bytes; the cursor stands before a cluster or at the end
    unsigned changes;           // another number after every change of the text
    char cut[VD_LINE_MAX + 1];
    bool cutting;     // the last action cut something: the next cut adds to it
    char **history;   // oldest first, owned
    size_t count, at; // at == count: the draft
    char draft[VD_LINE_MAX + 1];
    bool searching;   // the history: the line is what was found, the cursor where
    bool lost;        // no line of the history has what is looked for
    char wanted[256]; // what is looked for
    // of Tab: `changes` when the line was suggested, or others were listed; the next of them
    unsigned suggested;
    int candidate;
} vd_line;

// A zeroed vd_line is an empty line.
void vd_line_free(vd_line *line);
void vd_line_set(vd_line *line, const char *text); // cut to VD_LINE_MAX; cursor at the end
void vd_line_clear(vd_line *line);

// Inserts a character; control characters become spaces, invalid code points are left out. False:
// the line is full.
bool vd_line_insert(vd_line *line, uint32_t code);
// Does an EDIT_ action; false for any other.
bool vd_line_action(vd_line *line, vd_action action);

// The same, or types the key where it means nothing else; false: it is neither.
bool vd_line_key(vd_line *line, vd_key key, vd_action action);

// While the history is searched: whether the key was the search's. A character is looked for with
// those before it, letters of either case; EDIT_SEARCH goes to an older line, SEARCH to a newer
// one, STOP and Ctrl-G put the line back, BACK keeps what was found. Any other key ends the search
// and has its own meaning.
bool vd_line_search(vd_line *line, vd_key key, vd_action action);

// Adds a line to the history (not twice in a row, not the empty line) and leaves the history.
void vd_line_remember(vd_line *line, const char *text);

// The part of the line that `width` columns show: bytes first .. first + length - 1, the cursor at
// column `column` < width. The line scrolls sideways so that the cursor is always inside.
typedef struct vd_line_view {
    size_t first, length;
    int column;
    bool more_left, more_right;
} vd_line_view;
vd_line_view vd_line_visible(const vd_line *line, int width);

#endif

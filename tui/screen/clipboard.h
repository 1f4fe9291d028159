// Text for the clipboard of the person's terminal, also over ssh: the control sequence OSC 52
// (xterm, "Manipulate Selection Data"), which most terminals take.
#ifndef VD_CLIPBOARD_H
#define VD_CLIPBOARD_H

#include <stdbool.h>
#include <stddef.h>

enum { VD_CLIPBOARD_BYTES = 74994 }; // terminals take no more: 100,000 bytes in base 64

// The sequence (vd_free), its length in *length; NULL: memory is out. tmux: also wrapped for a tmux
// that passes sequences on.
char *vd_clipboard_sequence(const char *text, bool tmux, size_t *length);

// Gives the text to tmux where the program runs in one that takes it, which passes it on to its
// terminal, whatever it does with sequences; else writes the sequence to standard output. False:
// memory is out, or nothing can be written.
bool vd_clipboard_copy(const char *text);

#endif

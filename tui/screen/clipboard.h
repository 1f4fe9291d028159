// Copies text to the clipboard of the user's terminal, also over ssh, by the control sequence OSC
// 52 (xterm, "Manipulate Selection Data"), which most terminals support.
#ifndef VD_CLIPBOARD_H
#define VD_CLIPBOARD_H

#include <stdbool.h>

enum { VD_CLIPBOARD_BYTES = 74994 }; // limit of terminals: 100,000 bytes in base 64

// The sequence (g_free). tmux: also wrapped for tmux's passthrough, with the escapes doubled.
char *vd_clipboard_sequence(const char *text, bool tmux);

// Gives the text to tmux (set-buffer -w), which passes it on to its terminal, if the program runs
// in tmux and tmux accepts it; else writes the sequence to standard output.
void vd_clipboard_copy(const char *text);

#endif

// Queries to a terminal and its answers: which picture protocols it supports, the size of its
// cells, 24-bit colour, a light background. Queries are bytes to write to it; the answers arrive
// like typed keys, later or never, and are separated from keys here. Does not use the terminal.
#ifndef VD_REPLIES_H
#define VD_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vd_replies {
    bool kitty, iterm, sixel;
    bool placeholders; // supports kitty's Unicode placeholders
    bool direct_color;
    bool light;                  // has a light background
    bool named;                  // the terminal has sent its name, which is its last answer
    int cell_width, cell_height; // pixels, 0: not known
    int sixel_colors;            // 0: not known
    // The answer that is being read.
    char text[256];
    int length;
    bool escaped; // an escape was its last character
} vd_replies;

// All queries; out of 256 bytes. tmux: also queries the terminal behind tmux. colors: also for
// 24-bit colour, which sets colours for a moment.
void vd_replies_question(bool tmux, bool colors, char *out, size_t size);
extern const char vd_replies_cell_question[];       // only how large a cell is
extern const char vd_replies_background_question[]; // only its background, and what it is

typedef enum vd_reply_state {
    VD_REPLY_NONE, // not an answer; what was read were keys
    VD_REPLY_MORE, // incomplete
    VD_REPLY_DONE
} vd_reply_state;

// The next character behind an escape.
vd_reply_state vd_replies_take(vd_replies *replies, uint32_t code);

#endif

// What a terminal says of itself when it is asked: which pictures it shows, how large its cells
// are, whether it has 24-bit colour and a light background. The questions are bytes to write to it;
// the answers come as if they were typed, some time later or never, and are told from keys here. No
// terminal here.
#ifndef VD_REPLIES_H
#define VD_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vd_replies {
    bool kitty, iterm, sixel;
    bool placeholders; // kitty's pictures may stand on characters: it is one of those that do this
    bool direct_color;
    bool light; // its background is
    bool named; // the terminal said what it is; what it answers to the other questions came before
    int cell_width, cell_height; // pixels, 0: not known
    int sixel_colors;            // 0: not known
    // The answer that is being read.
    char text[256];
    int length;
    bool escaped; // an escape was its last character
} vd_replies;

// Everything that can be asked; out of 256 bytes. tmux: the terminal is tmux's, which is asked for
// what stands behind it, too. colors: also for 24-bit colour; sets colours for a moment.
void vd_replies_question(bool tmux, bool colors, char *out, size_t size);
extern const char vd_replies_cell_question[];       // only how large a cell is
extern const char vd_replies_background_question[]; // only its background, and what it is

typedef enum vd_reply_state {
    VD_REPLY_NONE, // this is no answer; what was taken were keys
    VD_REPLY_MORE, // more belongs to it
    VD_REPLY_DONE
} vd_reply_state;

// The next character behind an escape.
vd_reply_state vd_replies_take(vd_replies *replies, uint32_t code);

#endif

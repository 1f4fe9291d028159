// What the terminal supports, from its answers (replies.h) and its environment; and which way of
// drawing pictures follows. No terminal here.
#ifndef VD_ABILITIES_H
#define VD_ABILITIES_H

#include "tui/screen/grid.h"
#include "tui/screen/replies.h"

// Zero-initialise.
typedef struct vd_abilities {
    vd_picture_mode wanted;
    vd_replies replies;
    double asked;                // when, in seconds; 0: not
    bool all_asked;              // not the colour of the background alone
    bool tmux;                   // between here and the terminal
    bool tmux_asked, tmux_sixel; // vd_tmux_shows_sixel
} vd_abilities;

double vd_abilities_now(void); // in seconds
// NO_COLOR is set.
bool vd_abilities_no_color(void);
// What to ask the terminal; false: nothing depends on it, or it was asked already.
bool vd_abilities_question(vd_abilities *abilities, const vd_look *look, char *out, size_t size);
// How pictures are drawn and which theme fits the background, by all that is known now: whether
// that is another way than before.
// width, height: pixels of a cell as the terminal's driver says, 0 when it does not.
bool vd_abilities_look(vd_abilities *abilities, int width, int height, vd_look *look);

#endif

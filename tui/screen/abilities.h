// What the terminal supports, from its answers (replies.h) and the environment, and how pictures
// are drawn accordingly. Does not use the terminal.
#ifndef VD_ABILITIES_H
#define VD_ABILITIES_H

#include "tui/screen/grid.h"
#include "tui/screen/replies.h"

// Zero-initialise.
typedef struct vd_abilities {
    vd_picture_mode wanted;
    vd_replies replies;
    double asked;                // time of the questions in seconds; 0: not asked
    bool all_asked;              // not only the background colour
    bool tmux;                   // the program runs in tmux
    bool tmux_asked, tmux_sixel; // vd_tmux_shows_sixel
} vd_abilities;

// Sets the locale of characters from the environment; whether it is UTF-8.
bool vd_abilities_utf8(void);
// NO_COLOR is set.
bool vd_abilities_no_color(void);
// The questions for the terminal; false: the answers are not needed, or it was asked already.
bool vd_abilities_question(vd_abilities *abilities, const vd_look *look, char *out, size_t size);
// Sets how pictures are drawn and which theme fits the background from all that is known; returns
// whether this has changed.
// width, height: pixels of a cell from the terminal driver, 0 if not known.
bool vd_abilities_look(vd_abilities *abilities, int width, int height, vd_look *look);

#endif

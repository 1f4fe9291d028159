// The state of the views: the open place and the way to it, cursors, scrolling, the selected round,
// the typed line. It reads the conversation and the lanes and changes neither. What refers to a
// round or a lane may be out of date for a moment; vd_navigation_settle corrects it after every key
// and event.
#ifndef VD_CHAT_NAVIGATION_H
#define VD_CHAT_NAVIGATION_H

#include "tui/chat/lanes/lanes.h"
#include "tui/screen/grid.h"
#include "tui/screen/layout.h"
#include "tui/screen/line_edit.h"
#include "tui/screen/places.h"

// How many rows of the dialog a round takes, and what that depends on.
typedef struct vd_row_count {
    int width;
    long stamp; // of the answer, 0: not known
    int chosen, asides, rows;
} vd_row_count;

// Pages of the walk that are not stages: what-if, after the last stage; unknown while there is no
// walk.
enum { VD_WALK_WHAT_IF = -1, VD_WALK_UNKNOWN = 1000 };

// A part of the screen where a mouse click runs a /command, or is on an entry of the place's list.
typedef struct vd_spot {
    vd_rect at;
    char command[32]; // "": the entry
    int entry;        // among those that match
} vd_spot;

enum { VD_SPOTS = VD_GRID_MAX };

// What is looked at of a caption word by word.
typedef struct vd_caption_look {
    int column; // of its words
    int word;   // the same in its side, to be found again when the caption is another one
    long stamp; // of the caption that these are of
    int side;   // of the captions beside each other
    int at;     // cursor in what can be changed
    int layer;  // below 0: the top one
    int head;   // below 0: the mean over them
    int fade; // steps until the regions are those of this word, not of the one before; 0: they are
    bool playing; // the words follow each other by themselves
} vd_caption_look;

typedef struct vd_navigation {
    vd_places places; // from the chat on; drawing says what scrolls, also of lists and the dialog
    int lane;         // whose answers and attention the places show; the chat: the first one's
    int selected;     // the round shown, -1 = the newest
    int editing;      // round whose question is in the line, -1 none
    unsigned edition; // of the conversation that these are of
    bool reveal;      // scroll so that the selected round is seen

    vd_line line;
    vd_line filter;  // of the place that filters
    bool pasting;    // the input is being pasted
    size_t unpasted; // characters that the line had no room for
    size_t unread;   // bytes that are not UTF-8
    int suggestion;  // people's questions already suggested for this line
    size_t stem; // bytes of a suggestion that were typed, 0: people's question about this picture
    char search[256];

    int list_at;   // cursor in the filtered list
    int word;      // of the detail view
    int walk_page; // a stage of the walk, or what-if, which lies after the last one
    int walk_at;   // cursor in the what-ifs
    vd_caption_look caption;
    int scroll; // dialog: lines above the bottom

    // Written while drawing, read by keys that depend on what is seen.
    vd_panels layout;
    vd_spot spots[VD_SPOTS]; // (spot_count) what is drawn later lies on top
    int spot_count;
    GArray *row_counts; // of vd_row_count: of the rounds
} vd_navigation;

void vd_navigation_init(vd_navigation *nav);
void vd_navigation_free(vd_navigation *nav);

// After the conversation, the lanes or the place changed: scrolls to the end of a new branch, and
// deselects rounds that were removed.
void vd_navigation_settle(vd_navigation *nav, const vd_lanes *lanes);
// Cancels editing a round, and clears the line in that case.
void vd_navigation_stop_editing(vd_navigation *nav);

// The round whose ranking and attention are shown: selected, else the newest answered; -1 none.
int vd_navigation_round(const vd_navigation *nav, const vd_branch *branch);
void vd_navigation_step(vd_navigation *nav, const vd_conversation *conversation, int step);
void vd_navigation_newest(vd_navigation *nav); // selects none: the newest is shown
// Selects the next older round with this text ("": the last search); returns whether there is one.
bool vd_navigation_find(vd_navigation *nav, const vd_branch *branch, const char *text);

// While drawing: a click there runs the command, unless another is added on top of it.
void vd_spot_add(vd_navigation *nav, vd_rect at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void vd_spot_add_entry(vd_navigation *nav, vd_rect at, int entry); // the same of a list
const vd_spot *vd_spot_at(const vd_navigation *nav, int x, int y); // NULL: none

#endif

// The chat's state, and what keys and commands do to it: they change the conversation and the lanes
// through their headers, and update the navigation.
#ifndef VD_CHAT_ACTIONS_H
#define VD_CHAT_ACTIONS_H

#include "tui/chat/navigation/navigation.h"
#include "tui/chat/navigation/rankings.h"
#include "tui/screen/picture.h"

typedef struct vd_chat vd_chat;

// The picture as it is shown.
typedef struct vd_shown_picture {
    vd_picture picture;
    char error[768];            // why there is none, "" when there is
    vd_picture_regions regions; // without their features; of count 0: not known
    char no_regions[768];       // why they could not be found, "" until then
    bool no_outlines;
} vd_shown_picture;

// The picture beside the list of pictures.
typedef struct vd_preview {
    vd_picture picture;
    char error[256]; // why there is none, "" when there is
    size_t index;    // of which it is, when there is either
    long serial;     // of the request for the pixels of `asked`, 0: none is being served
    size_t asked;
} vd_preview;

// Pictures that are to be opened, one after the other: a file is one of the world's pictures once
// it could be read.
typedef struct vd_opening {
    char **paths;         // g_strfreev; NULL: nothing is being opened
    int at;               // the one that is being read
    long serial;          // of the request
    size_t before, first; // how many pictures the world had; the one of the first path
    vd_image image;       // of that one, owned; empty where it is no file
} vd_opening;

// A list that is drawn and scrolled by list.c.
typedef struct vd_list vd_list;
struct vd_list {
    vd_chat *chat;
    int *at;        // the cursor, an index among the entries that match
    int count;      // entries, whether they match or not
    bool at_once;   // one click picks
    vd_sheet sheet; // of a list of answers
    int top, rows;  // while it is drawn: the first match in sight, how many there is room for
    bool (*matches)(const vd_list *list, int index); // the filter; NULL: all do
    void (*draw_row)(const vd_list *list, vd_grid *grid, vd_rect at, int index, bool selected);
    void (*pick)(const vd_list *list, int index);
};

// What fills the screen between the status row and the question line, one file each
// (tui/chat/views). A place is a row of VD_PLACE_LIST, its title and keys rows of the tables in
// keymap.c, and one of these. Every pointer may be NULL unless it says otherwise.
typedef struct vd_view {
    vd_action action;   // opens it, and goes back from it; NONE: the chat
    const char *filter; // prompt; typing then goes into nav.filter, not into the question line
    bool of_round;      // shows an answer: cannot be opened, and closes, while there is none
    bool hides;         // an answer that comes is not seen: the last row says it
    void (*open)(vd_chat *chat); // it becomes the place; top and filter are at their start already
    // Where things go; NULL: all of the room (vd_panels_full without a side panel).
    vd_panels (*arrange)(vd_chat *chat, int width, int height);
    // Draws into nav.layout; sets nav.way.seen and nav.way.most when it scrolls. Never NULL.
    void (*draw)(vd_chat *chat, vd_grid *grid);
    vd_list (*list)(vd_chat *chat); // that is scrolled, picked from and clicked on
    // Moves by lines, towards the end when positive; NULL: the list's cursor, or nav.way.top of
    // this place within 0..scroll_most.
    void (*scroll)(vd_chat *chat, int lines);
    // An action that only means something here, or something else than in the chat; false: not
    // taken, the list's or the chat's own meaning holds (vd_chat_act).
    bool (*act)(vd_chat *chat, vd_action action, const char *argument);
    void (*click)(vd_chat *chat, int x, int y); // where no spot is
} vd_view;

// A request about the session's file, for tui/chat/recorder.h.
typedef enum vd_wish { VD_WISH_NONE, VD_WISH_SAVE, VD_WISH_LOAD } vd_wish;

struct vd_chat {
    vd_conversation conversation;
    vd_lanes lanes;
    vd_navigation nav;
    vd_notice notice; // in the last row until the next key
    vd_rankings rankings;
    vd_shown_picture shown;
    vd_preview preview;
    vd_opening opening;
    const vd_view *const *views; // (VD_PLACES)
    vd_theme_name theme;
    bool still; // nothing moves by itself
    vd_wish wish;
    char wished[VD_SAVED_NAME + 1]; // the name; longer ones are cut to one that is too long
    vd_saved *saved; // (saved_count) sessions, as they were when their list was opened
    size_t saved_count;
    uint64_t random;
};

static inline const vd_view *vd_chat_view(const vd_chat *chat) // that fills the screen
{
    return chat->views[chat->nav.places.now];
}

// ---- actions (dispatch.c) -----------------------------------------------------------------------

// All that keys, /commands and the mouse do (vd_act).
bool vd_chat_act(vd_chat *chat, vd_action action, const char *argument);
// Runs a line that starts with '/', also the path of a picture.
void vd_chat_command(vd_chat *chat, const char *line);

// ---- keys (keys.c) ------------------------------------------------------------------------------

void vd_chat_key(vd_chat *chat, vd_key key);
// After every key and event: updates the views after changes, and requests what they need.
void vd_chat_settle(vd_chat *chat);

// ---- lists (list.c) -----------------------------------------------------------------------------

// Draws the matches around the cursor, which stays inside; returns how many there are.
int vd_list_draw(vd_list *list, vd_grid *grid, vd_rect at);
int vd_list_entry(const vd_list *list); // the entry under the cursor, -1 none
// Of the list of the place.
void vd_list_scroll(vd_chat *chat, int lines);
void vd_list_pick(vd_chat *chat);

// ---- what is shown ------------------------------------------------------------------------------

// The round whose ranking and attention are shown, and the answer to it; NULL none.
const vd_round *vd_chat_round(const vd_chat *chat);
const vd_response *vd_chat_response(const vd_chat *chat);
// Whether there is such a round; if not, says that its answer is waited for, or to ask first.
bool vd_chat_asked(vd_chat *chat);
void vd_chat_open(vd_chat *chat, vd_place place);
vd_line *vd_chat_line(vd_chat *chat); // what typing goes into
// How many words of the question in the line the first model would not read; the last row says so.
int vd_chat_left_over(const vd_chat *chat);
void vd_chat_find(vd_chat *chat, const char *text); // the next older round with this text
void vd_chat_fold(vd_chat *chat, bool on);          // answers that mean the same as one
// "region 2": switches it and goes to the what-ifs; "none": all back; "": only goes there.
void vd_chat_what_if(vd_chat *chat, const char *text);

// ---- the conversation ---------------------------------------------------------------------------

void vd_chat_ask(vd_chat *chat, const char *typed);
void vd_chat_choose(vd_chat *chat, int rank); // of the answer that is shown
void vd_chat_edit(vd_chat *chat);             // puts the selected round's question into the line
void vd_chat_change(vd_chat *chat, size_t round, const char *typed); // and asks all after it again
void vd_chat_branch(vd_chat *chat); // another one from the selected round on
void vd_chat_go_picture(vd_chat *chat, size_t index);
// The same with the picture's pixels: takes ownership of *image. Where that is empty, the file is
// read.
void vd_chat_go_image(vd_chat *chat, size_t index, vd_image *image);
void vd_chat_start_over(vd_chat *chat); // with this picture
// Forgets the conversations about all pictures and shows this one. False: it cannot now.
bool vd_chat_leave_session(vd_chat *chat, size_t picture);
void vd_chat_wish(vd_chat *chat, vd_wish wish, const char *name);

// ---- pasting (paste.c) --------------------------------------------------------------------------

void vd_chat_paste(vd_chat *chat, bool begin); // what is typed from now on is pasted, or no longer
// The end of a pasted line; an empty line, and the end of a line that goes elsewhere than into the
// question line, are a space.
void vd_chat_break_line(vd_chat *chat, vd_line *line);
int vd_chat_lines(const char *text);    // that were pasted
void vd_chat_join_lines(vd_line *line); // what is in the line is one question

// ---- pictures of one's own (own_picture.c) ------------------------------------------------------

// Paths of pictures or folders as typed or dragged, with quotes, backslashes or file://.
// The engine's thread reads them; the chat goes to the first when all are read. One that cannot be
// read ends it, and is not opened.
void vd_chat_open_picture(vd_chat *chat, const char *text);
void vd_chat_preview(vd_chat *chat, size_t index);       // reads the picture for chat->preview
void vd_chat_image_came(vd_chat *chat, vd_event *event); // pixels; takes them
// Stops waiting for pictures to be opened, or for the pixels of the one that is shown. False:
// neither is waited for.
bool vd_chat_stop_reading(vd_chat *chat);
void vd_opening_clear(vd_opening *opening);
// What is being read, for the status row: its name; NULL: nothing.
const char *vd_chat_reading(const vd_chat *chat);
bool vd_chat_is_path(const char *text); // a line that is nothing but such paths, of files
void vd_chat_new_picture(vd_chat *chat, const char *argument); // a seed, or ""
void vd_chat_save_picture(vd_chat *chat, const char *text);
// "next": changes to the next caption; "edit": puts the caption into the line; otherwise the text
// becomes the picture's caption.
void vd_chat_caption(vd_chat *chat, const char *text);
uint64_t vd_chat_random(vd_chat *chat);

// ---- the caption word by word: what is looked at (caption_look.c) -------------------------------

enum { VD_FADES = 4 }; // steps in which the regions of a word become those of the next

// Milliseconds until vd_chat_tick changes what is shown; -1: it will not.
int vd_chat_pause(const vd_chat *chat);
void vd_chat_tick(vd_chat *chat);
void vd_chat_words_settle(vd_chat *chat); // after keys and events
void vd_chat_words_start(vd_chat *chat);  // from the first word on
void vd_chat_words_go(vd_chat *chat, int column);
void vd_chat_words_side(vd_chat *chat, int side);
// Changes something of the caption that is looked at, or puts it back; NULL: puts all back.
void vd_chat_words_flip(vd_chat *chat, const vd_switch *one);
int vd_chat_words_last(const vd_chat *chat);                                 // the last column
int vd_chat_words_shown(const vd_chat *chat, const vd_caption_sheet *sheet); // the side in use
// The look that is shown: a layer; a head, below 0: the mean over them.
int vd_chat_look_layer(const vd_chat *chat, const vd_caption_side *caption);
int vd_chat_look_head(const vd_chat *chat, const vd_caption_side *caption);

// ---- the same: what is typed (caption_words.c) --------------------------------------------------

void vd_chat_words_play(vd_chat *chat); // or pause; opens it where it is not open
// "3", or "": the next.
void vd_chat_word(vd_chat *chat, const char *text);
void vd_chat_layer(vd_chat *chat, const char *text);
void vd_chat_head(vd_chat *chat, const char *text);
void vd_chat_captioner(vd_chat *chat, const char *text); // a file, "off"
// A caption that the captioner is to read, "off"; "": the dialog's, or none when one is read.
void vd_chat_read(vd_chat *chat, const char *text);

// ---- completing commands (completion.c) ---------------------------------------------------------

void vd_chat_complete(vd_chat *chat); // Tab on such a line

// ---- out of the chat (copy.c) -------------------------------------------------------------------

typedef enum vd_export_kind {
    VD_EXPORT_HTML,
    VD_EXPORT_MARKDOWN,
    VD_EXPORT_VISDIAL
} vd_export_kind;

void vd_chat_copy(vd_chat *chat,
                  const char *what); // "answer", "round", "conversation"; "": the first
void vd_chat_export(vd_chat *chat, const char *text); // "html FILE"; md, json

// ---- completing questions (questions.c) ---------------------------------------------------------

// Tab on any other line.
void vd_chat_complete_question(vd_chat *chat);

#endif

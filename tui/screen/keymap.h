// The key bindings: the actions of each place with their keys, /commands and clickable hints. One
// table for the chat, the cases of a comparison and the curves of runs; dispatch, the help screen,
// the last row and the man page are made from it.
#ifndef VD_KEYMAP_H
#define VD_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

// Keys that are no characters: X(VD_KEY_name, how it is called).
#define VD_KEY_LIST(X)                                                                             \
    X(UP, "Up")                                                                                    \
    X(DOWN, "Down")                                                                                \
    X(LEFT, "Left")                                                                                \
    X(RIGHT, "Right")                                                                              \
    X(HOME, "Home")                                                                                \
    X(END, "End")                                                                                  \
    X(PAGE_UP, "PgUp")                                                                             \
    X(PAGE_DOWN, "PgDn")                                                                           \
    X(INSERT, "Ins")                                                                               \
    X(DELETE, "Del")                                                                               \
    X(BACKSPACE, "Backspace")                                                                      \
    X(ENTER, "Enter")                                                                              \
    X(TAB, "Tab")                                                                                  \
    X(BACK_TAB, "BackTab")                                                                         \
    X(ESCAPE, "Esc")                                                                               \
    X(WHEEL_UP, "WheelUp")                                                                         \
    X(WHEEL_DOWN, "WheelDown")                                                                     \
    X(CLICK, "Click")            /* left button, at (x, y) */                                      \
    X(PASTE_BEGIN, "PasteBegin") /* what follows up to PASTE_END was pasted */                     \
    X(PASTE_END, "PasteEnd")

enum {
    VD_KEY_NONE = 0x110000, // above Unicode
#define X(name, text) VD_KEY_##name,
    VD_KEY_LIST(X)
#undef X
        VD_KEY_F0 = 0x110100 // VD_KEY_F0 + n is function key n
};

enum { VD_ALT = 1, VD_CTRL = 2, VD_SHIFT = 4 };

typedef struct vd_key {
    uint32_t code; // a code point (lower case letter with VD_CTRL) or VD_KEY_*
    uint8_t modifiers;
    int x, y; // where the mouse was
} vd_key;

// A character that is typed.
static inline bool vd_key_is_typed(vd_key key)
{
    return key.code < VD_KEY_NONE && !(key.modifiers & (VD_ALT | VD_CTRL));
}

// The view that has the keys. The chat's places: X(name, view, title of the help): the place is
// VD_PLACE_name and vd_view_view (tui/chat/actions/actions.h) draws it; every one but the help also
// has the line's editing keys.
#define VD_PLACE_LIST(X)                                                                           \
    X(CHAT, chat, "Keys in the chat")                                                              \
    X(ZOOM, zoom, "Keys while the picture fills the screen")                                       \
    X(ANSWERS, answers, "Keys in the list of answers")    /* the whole pool, typing filters it */  \
    X(DETAIL, detail, "Keys in the attention view")       /* heat maps */                          \
    X(PICTURES, pictures, "Keys in the list of pictures") /* typing finds some */                  \
    X(SESSIONS, sessions, "Keys in the list of sessions")                                          \
    X(COMPARE, compare, "Keys while models are compared") /* side by side */                       \
    X(WALK, walk, "Keys in the walk through an answer")   /* by stages, and what if */             \
    X(CAPTION, caption, "Keys while a caption is looked at word by word")                          \
    X(HELP, help, "Keys of the help")

typedef enum vd_place {
#define X(name, view, title) VD_PLACE_##name,
    VD_PLACE_LIST(X)
#undef X
        VD_PLACES,              // of the chat; those of the cases of a comparison follow
    VD_PLACE_CASES = VD_PLACES, // their list
    VD_PLACE_CASES_AND_CASE,    // the list with a case beside it
    VD_PLACE_CASE,
    VD_PLACE_CASE_MAPS,    // its attentions word by word
    VD_PLACE_CASE_PICTURE, // its picture fills the screen
    VD_PLACE_CASES_FIND,   // a text that cases contain is typed
    VD_PLACE_CURVES,       // of training runs
    VD_PLACE_RUN,          // the same while this program trains
    VD_PLACE_COMMAND,      // a /command is typed where nothing else is (tui/screen/entry.h)
    VD_ALL_PLACES
} vd_place;

typedef enum vd_action {
    VD_ACTION_NONE,
    VD_ACTION_ASK,
    VD_ACTION_COMMAND, // opens the line for one
    VD_ACTION_COMPLETE,
    VD_ACTION_HELP,
    VD_ACTION_LEAVE,
    VD_ACTION_STOP,
    VD_ACTION_BACK,
    VD_ACTION_SCROLL_UP,
    VD_ACTION_SCROLL_DOWN,
    VD_ACTION_SCROLL_TOP,
    VD_ACTION_SCROLL_BOTTOM,
    VD_ACTION_LINE_UP,
    VD_ACTION_LINE_DOWN,
    VD_ACTION_OLDER_ROUND,
    VD_ACTION_NEWER_ROUND,
    VD_ACTION_CHOOSE_ANSWER,
    VD_ACTION_COMPARE,
    VD_ACTION_PICTURES,
    VD_ACTION_FOLLOW,
    VD_ACTION_EDIT_ROUND,
    VD_ACTION_NEXT_BRANCH,
    VD_ACTION_SAVE,
    VD_ACTION_LOAD,
    VD_ACTION_SESSIONS,
    VD_ACTION_UNDO,
    VD_ACTION_REDO,
    VD_ACTION_NEXT_PICTURE,
    VD_ACTION_PREVIOUS_PICTURE,
    VD_ACTION_RANDOM_PICTURE,
    VD_ACTION_OPEN,
    VD_ACTION_NEW_PICTURE,
    VD_ACTION_CAPTION,
    VD_ACTION_SWITCH_MODEL,
    VD_ACTION_AGAIN,
    VD_ACTION_ZOOM,
    VD_ACTION_ANSWERS,
    VD_ACTION_DETAIL,
    VD_ACTION_WALK,
    VD_ACTION_WORDS,
    VD_ACTION_WORD,
    VD_ACTION_PLAY,
    VD_ACTION_LAYER,
    VD_ACTION_HEAD,
    VD_ACTION_CAPTIONER,
    VD_ACTION_READ,
    VD_ACTION_ALL_BACK,
    VD_ACTION_PICK,
    VD_ACTION_LEFT,
    VD_ACTION_RIGHT,
    VD_ACTION_FIRST,
    VD_ACTION_LAST,
    VD_ACTION_SEARCH,
    VD_ACTION_FOLD,
    VD_ACTION_OUTLINES,
    VD_ACTION_REDRAW,
    VD_ACTION_SUSPEND,
    VD_ACTION_PICTURE,
    VD_ACTION_ROUND,
    VD_ACTION_MODEL,
    VD_ACTION_NEW,
    VD_ACTION_COPY,
    VD_ACTION_EXPORT,
    VD_ACTION_WHAT_IF,
    VD_ACTION_BRANCH,
    VD_ACTION_THEME,
    VD_ACTION_NEXT_THEME,
    VD_ACTION_MOUSE,
    VD_ACTION_PICTURE_MODE,
    VD_ACTION_NEXT_CASE,
    VD_ACTION_PREVIOUS_CASE,
    VD_ACTION_GROUP,
    VD_ACTION_FAMILY,
    VD_ACTION_ORDER,
    VD_ACTION_JUDGE,
    VD_ACTION_EDIT_START, // those from here on edit the line, KILL_END to KILL_WORD_RIGHT cut
    VD_ACTION_EDIT_END,
    VD_ACTION_EDIT_LEFT,
    VD_ACTION_EDIT_RIGHT,
    VD_ACTION_EDIT_WORD_LEFT,
    VD_ACTION_EDIT_WORD_RIGHT,
    VD_ACTION_EDIT_BACKSPACE,
    VD_ACTION_EDIT_DELETE,
    VD_ACTION_EDIT_KILL_END,
    VD_ACTION_EDIT_KILL_START,
    VD_ACTION_EDIT_KILL_WORD,
    VD_ACTION_EDIT_KILL_WORD_RIGHT,
    VD_ACTION_EDIT_YANK,
    VD_ACTION_EDIT_SWAP,
    VD_ACTION_EDIT_OLDER,
    VD_ACTION_EDIT_NEWER,
    VD_ACTION_EDIT_SEARCH,
    VD_ACTIONS
} vd_action;

// An action, how it is reached, and its texts.
typedef struct vd_binding {
    uint32_t places; // bits 1 << vd_place: where its keys work, and in the same screens its command
    vd_action action;
    bool empty;           // the keys mean this only while the line is empty
    const char *keys;     // "F10, Alt-c"; "Alt-1..9" is a key for each number; NULL: none
    const char *command;  // "/compare"; NULL: none
    const char *argument; // that the command takes, "MODEL"; NULL: none
    const char *meaning;
    const char *hint; // short form for the last row; NULL: not there
} vd_binding;

// A key that the user has rebound to another key or a /command.
typedef struct vd_rebinding {
    vd_key key, as; // as: VD_KEY_NONE and no line: nothing any more
    char line[96];  // "/theme light", "" none
} vd_rebinding;

// "Ctrl-G" and "/walk", "F12" or "none". VD_FORMAT: one of the two is not known, or the key is a
// character, which is typed.
vd_status vd_rebinding_read(const char *key, const char *to, vd_rebinding *out, vd_error *err);
// Sets the rebindings for the functions below (borrowed; 0: none).
void vd_keymap_rebind(const vd_rebinding *rebindings, int count);
// The command line that a rebound key runs in a place; NULL: none, or its screen lacks the command.
const char *vd_keymap_line(vd_place place, vd_key key);
// What a key, or the one that it stands for, says to its action: the lines of the wheel, its own
// digit or Space; else "".
const char *vd_keymap_says(vd_key key, char text[2]);

// VD_ACTION_NONE: the key means nothing here (a character then goes into the line). Characters are
// typed wherever the line is not empty.
vd_action vd_keymap_action(vd_place place, vd_key key, bool line_empty);

const char *vd_keymap_title(vd_place place); // "Keys in the chat"
// Where /commands are typed in the screen of `place` and a key stands for the action: "in the
// attention view or while models are compared"; "": nowhere.
void vd_keymap_where(vd_place place, vd_action action, char *out, size_t size);
// Lines of the help for a place: the keys ("Ctrl-A, Home") and what they do. False past the last
// one. Buffers are cut to fit. Editing keys come last.
bool vd_keymap_help(vd_place place, size_t index, char *keys, size_t keys_size,
                    const char **meaning);
// The bindings that have a command in the screen of `place`, in alphabetical order; NULL past the
// last. The chat is a screen, the cases of a comparison are one, the curves and those of a run.
const vd_binding *vd_keymap_command(vd_place place, size_t index);

// The most useful keys of a place in one line of at most `size` bytes: "F1 help  F2 zoom ...",
// as many as fit `width` columns.
void vd_keymap_hints(vd_place place, int width, char *out, size_t size);
// What a click on a column of that line does: the key it names; VD_KEY_NONE: none is there.
vd_key vd_keymap_hint_key(vd_place place, int width, int column);

// "Ctrl-A", "Alt-3", "F1", "PgUp", "a". `out` of at least 24 bytes.
void vd_key_name(vd_key key, char *out, size_t size);
// The key with this name ("C-a" and "M-3" are accepted, too); false when there is none.
bool vd_key_parse(const char *name, vd_key *out);

#endif

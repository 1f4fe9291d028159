// The line that /commands are typed into: what it means, completing it, and the line itself in the
// screens in which nothing else is typed. Their names and meanings are in the table of keymap.c.
#ifndef VD_ENTRY_H
#define VD_ENTRY_H

#include "tui/base/complete.h"
#include "tui/screen/grid.h"
#include "tui/screen/line_edit.h"
#include "tui/screen/notice.h"
#include "tui/screen/places.h"

// What does an action in a screen: a key's, or a command's with its argument. argument: what stands
// behind the command, or what the key says: "3" of Alt-3, " " of Space, the lines of the wheel; "":
// nothing. False: it means nothing here.
typedef bool vd_act(void *screen, vd_action action, const char *argument);

// Runs a line that starts with '/', the command in full or short. The notice says what is wrong: no
// such command (and which is nearest), an argument that it does not take, nothing to do here.
void vd_entry_run(const vd_places *places, const char *line, vd_notice *notice, vd_act *act,
                  void *screen);
bool vd_entry_known(const vd_places *places, const char *line); // it starts with a command
// Reads "on" or "off", which `command` takes; false: the notice says so.
bool vd_entry_switch(const char *command, const char *argument, bool *on, vd_notice *notice);

// Tab: completes the line to the longest start that all candidates share, and lists them where that
// is no progress. add: arguments of a command of the screen besides those of this file; may be
// NULL.
typedef void vd_entry_add(const void *screen, const char *command, vd_completion *completion);
void vd_entry_complete(const vd_places *places, vd_line *line, vd_notice *notice, vd_entry_add *add,
                       const void *screen);

// Draws the part of a line around its cursor, which the grid's becomes.
vd_line_view vd_line_draw(const vd_line *line, vd_grid *grid, vd_rect at);

// ---- where nothing else is typed ----------------------------------------------------------------

// Zero-initialise; vd_line_free its line.
typedef struct vd_entry {
    vd_line line;
    bool open;        // the keys are those of VD_PLACE_COMMAND
    vd_notice notice; // in the last row until the next key
} vd_entry;

// "/" opens it, Enter runs it. Keys that run a command (vd_keymap_line) do so as well. False: the
// key is none of these, and acts as it does there.
bool vd_entry_key(vd_entry *entry, const vd_places *places, vd_key key, vd_act *act, void *screen);
// Draws the line, or what was said, from the row `at` upwards. False: there is neither.
bool vd_entry_draw(const vd_entry *entry, vd_grid *grid, vd_rect at);

#endif

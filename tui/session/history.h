// The questions typed in earlier chats: one a line, oldest first, in
// $XDG_STATE_HOME/visdial/history (XDG_STATE_HOME defaults to ~/.local/state; XDG Base Directory
// Specification 0.8). Each is added when it is asked, so that a killed program loses none.
#ifndef VD_HISTORY_H
#define VD_HISTORY_H

#include "engine/base/error.h"
#include "tui/screen/line_edit.h"

enum { VD_HISTORY_BYTES = 256 * 1024 }; // a longer file is cut to its newer half when it is read

// A path below $XDG_STATE_HOME/visdial (g_free), its directories are created; NULL when there is
// no directory for it.
char *vd_state_path(const char *name);
#define VD_NO_STATE "$XDG_STATE_HOME (without it ~/.local/state) cannot be written"
// Adds the file's lines to the line's history. A missing file is empty; lines with control
// characters and lines that are too long are skipped.
vd_status vd_history_load(const char *path, vd_line *line, vd_error *err);
vd_status vd_history_append(const char *path, const char *text, vd_error *err);

#endif

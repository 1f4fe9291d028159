// The user's preferences: $XDG_CONFIG_HOME/visdial/config (XDG_CONFIG_HOME defaults to ~/.config;
// XDG Base Directory Specification 0.8). One setting a line, `name = value`; empty lines and lines
// that start with # are skipped. Options of the command line override the file. A wrong line never
// keeps the program from starting: it is ignored with a message.
//
//   theme = auto        # or light, dark, mono, safe (for colour-blind users)
//   mouse = on          # or off
//   motion = on         # or off: no animations
//   model = best        # or base, improved, or a model file
//   picture = auto      # or kitty, sixel, iterm (protocols of terminals), cells, none
//   fold = off          # or on: answers that say the same are shown as one
//   key Ctrl-G = /walk  # a key runs a command of the chat, does what another key does (F12), or
//                       # does nothing (none)
#ifndef VD_CONFIG_H
#define VD_CONFIG_H

#include <stdbool.h>

#include "engine/base/error.h"
#include "tui/screen/grid.h"
#include "tui/screen/keymap.h"

enum { VD_REBINDINGS = 64 };

typedef struct vd_preferences {
    vd_theme_name theme;
    vd_picture_mode pictures;
    bool mouse;
    bool motion;
    bool fold;
    char model[512]; // "": none is preferred
    vd_rebinding keys[VD_REBINDINGS];
    int key_count;
    char remark[1024]; // about lines that are wrong, "" none
} vd_preferences;

vd_preferences vd_preferences_defaults(void);
// Reads the file at path (NULL: where the specification says) over what *config holds; a missing
// file changes nothing. What cannot be read is left out; config->remark then names the file, the
// first wrong line, what was found and what was expected. It fails only when memory is out.
vd_status vd_preferences_read(const char *path, vd_preferences *config, vd_error *err);

// Where that file is (g_free); NULL: nowhere.
char *vd_preferences_path(void);

// `name` below visdial/ in the directory that an environment variable names, else below
// ~/fallback (g_free). NULL when neither is an absolute path.
char *vd_config_place(const char *variable, const char *fallback, const char *name);

#endif

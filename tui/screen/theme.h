// Themes: a role for every kind of text, a style for every role in every theme at
// every colour depth. Backgrounds stay the terminal's own, except for the status row; nothing is
// shown by colour alone, so that the mono theme shows the same.
#ifndef VD_THEME_H
#define VD_THEME_H

#include "tui/screen/grid.h"

// role, attributes without colours, attributes with colours
#define VD_ROLE_LIST(X)                                                                            \
    X(TEXT, 0, 0)                                                                                  \
    X(FAINT, VD_DIM, 0)                                                                            \
    X(TITLE, VD_BOLD, VD_BOLD)                                                                     \
    X(QUESTION, VD_BOLD, VD_BOLD)                                                                  \
    X(ANSWER, 0, 0)                                                                                \
    X(FIRST, VD_BOLD, VD_BOLD)                                                                     \
    X(BAR_FIRST, 0, 0)                                                                             \
    X(BAR, 0, 0)                                                                                   \
    X(BAR_REGION, 0, 0)                                                                            \
    X(BAR_ROUND, 0, 0)                                                                             \
    X(BAR_WORD, 0, 0)                                                                              \
    X(STATUS, VD_REVERSE, 0)                                                                       \
    X(STATUS_NAME, VD_REVERSE | VD_BOLD, VD_BOLD)                                                  \
    X(STATUS_WARN, VD_REVERSE | VD_BOLD, VD_BOLD)                                                  \
    X(PROMPT, VD_BOLD, VD_BOLD)                                                                    \
    X(RULE, VD_DIM, 0)                                                                             \
    X(NOTE, 0, 0)                                                                                  \
    X(WRONG, VD_BOLD, VD_BOLD)                                                                     \
    X(UP, VD_BOLD, 0)                                                                              \
    X(DOWN, 0, 0)                                                                                  \
    X(UNKNOWN, VD_UNDERLINE, VD_UNDERLINE)                                                         \
    X(SELECTED, VD_REVERSE, VD_REVERSE)                                                            \
    X(MATCH, VD_REVERSE, 0)                                                                        \
    X(REGION, VD_BOLD, VD_BOLD)                                                                    \
    X(OUTLINE, VD_BOLD, VD_BOLD)            /* over the picture, on dark */                        \
    X(LABEL, VD_REVERSE | VD_BOLD, VD_BOLD) /* the number of an outline */

typedef enum vd_role {
#define X(name, mono, attributes) VD_ROLE_##name,
    VD_ROLE_LIST(X)
#undef X
        VD_ROLES
} vd_role;

vd_style vd_theme(vd_look look, vd_role role);
vd_style vd_style_of(const vd_grid *grid, vd_role role); // by the grid's look
// What a theme makes of what a terminal can do.
vd_look vd_theme_look(vd_look able, vd_theme_name theme);

// "dark", "light", "mono", "safe"; false when it is none of them.
bool vd_theme_find(const char *name, vd_theme_name *out);
const char *vd_theme_title(vd_theme_name theme);

#endif

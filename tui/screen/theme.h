// Themes: a role for every kind of text, a style for every role in every theme at
// every colour depth. Backgrounds stay the terminal's own, except for the status row; nothing is
// shown by colour alone, so that the mono theme shows the same.
#ifndef VD_THEME_H
#define VD_THEME_H

#include "tui/screen/grid.h"

typedef enum vd_role {
    VD_ROLE_TEXT,
    VD_ROLE_FAINT,
    VD_ROLE_TITLE,
    VD_ROLE_QUESTION,
    VD_ROLE_ANSWER,
    VD_ROLE_FIRST,
    VD_ROLE_BAR_FIRST,
    VD_ROLE_BAR,
    VD_ROLE_BAR_REGION,
    VD_ROLE_BAR_ROUND,
    VD_ROLE_BAR_WORD,
    VD_ROLE_STATUS,
    VD_ROLE_STATUS_NAME,
    VD_ROLE_STATUS_WARN,
    VD_ROLE_PROMPT,
    VD_ROLE_RULE,
    VD_ROLE_NOTE,
    VD_ROLE_WRONG,
    VD_ROLE_UP,
    VD_ROLE_DOWN,
    VD_ROLE_UNKNOWN,
    VD_ROLE_SELECTED,
    VD_ROLE_MATCH,
    VD_ROLE_REGION,
    VD_ROLE_OUTLINE,
    VD_ROLE_LABEL,
    VD_ROLES
} vd_role;

vd_style vd_theme(vd_look look, vd_role role);
vd_style vd_style_of(const vd_grid *grid, vd_role role); // by the grid's look
// The look of a theme on a terminal with these abilities; VD_THEME_AUTO: by able.theme.
vd_look vd_theme_look(vd_look able, vd_theme_name theme);

const char *vd_theme_title(vd_theme_name theme); // one of VD_THEME_NAMES

#endif

// Themes: a style for every role in every theme at every colour depth. Backgrounds stay the
// terminal's own, except for the status row; nothing is shown by colour alone, so that the mono
// theme shows the same.
#ifndef VD_THEME_H
#define VD_THEME_H

#include "tui/screen/grid.h"

vd_style vd_theme(vd_look look, vd_role role);
// The look of a theme on a terminal with these abilities; VD_THEME_AUTO: by able.theme.
vd_look vd_theme_look(vd_look able, vd_theme_name theme);

const char *vd_theme_title(vd_theme_name theme); // one of VD_THEME_NAMES

#endif

#include "tui/screen/theme.h"

#include <string.h>

static const uint8_t attributes[VD_ROLES][2] = {
#define X(name, mono, with_colors) [VD_ROLE_##name] = {mono, with_colors},
    VD_ROLE_LIST(X)
#undef X
};

// Indices of colours, -1 = the terminal's own: in front and behind, of 16 and of 256.
typedef struct colors {
    int16_t fg_16, bg_16, fg_256, bg_256;
} colors;

static const colors dark[VD_ROLES] = {
    [VD_ROLE_TEXT] = {-1, -1, -1, -1},         [VD_ROLE_FAINT] = {8, -1, 245, -1},
    [VD_ROLE_TITLE] = {6, -1, 110, -1},        [VD_ROLE_QUESTION] = {-1, -1, -1, -1},
    [VD_ROLE_ANSWER] = {2, -1, 114, -1},       [VD_ROLE_FIRST] = {10, -1, 114, -1},
    [VD_ROLE_BAR_FIRST] = {2, -1, 71, -1},     [VD_ROLE_BAR] = {4, -1, 67, -1},
    [VD_ROLE_BAR_REGION] = {3, -1, 178, -1},   [VD_ROLE_BAR_ROUND] = {5, -1, 139, -1},
    [VD_ROLE_BAR_WORD] = {6, -1, 73, -1},      [VD_ROLE_STATUS] = {7, 0, 252, 236},
    [VD_ROLE_STATUS_NAME] = {14, 0, 117, 236}, [VD_ROLE_STATUS_WARN] = {11, 0, 221, 236},
    [VD_ROLE_PROMPT] = {14, -1, 117, -1},      [VD_ROLE_RULE] = {8, -1, 240, -1},
    [VD_ROLE_NOTE] = {3, -1, 179, -1},         [VD_ROLE_WRONG] = {9, -1, 203, -1},
    [VD_ROLE_UP] = {2, -1, 114, -1},           [VD_ROLE_DOWN] = {3, -1, 173, -1},
    [VD_ROLE_UNKNOWN] = {11, -1, 215, -1},     [VD_ROLE_SELECTED] = {-1, -1, -1, -1},
    [VD_ROLE_MATCH] = {0, 3, 16, 179},         [VD_ROLE_REGION] = {11, -1, 227, -1},
    [VD_ROLE_OUTLINE] = {11, -1, 227, -1},     [VD_ROLE_LABEL] = {0, 3, 16, 227},
};

static const colors light[VD_ROLES] = {
    [VD_ROLE_TEXT] = {-1, -1, -1, -1},       [VD_ROLE_FAINT] = {8, -1, 242, -1},
    [VD_ROLE_TITLE] = {4, -1, 25, -1},       [VD_ROLE_QUESTION] = {-1, -1, -1, -1},
    [VD_ROLE_ANSWER] = {2, -1, 22, -1},      [VD_ROLE_FIRST] = {2, -1, 22, -1},
    [VD_ROLE_BAR_FIRST] = {2, -1, 71, -1},   [VD_ROLE_BAR] = {4, -1, 68, -1},
    [VD_ROLE_BAR_REGION] = {3, -1, 172, -1}, [VD_ROLE_BAR_ROUND] = {5, -1, 133, -1},
    [VD_ROLE_BAR_WORD] = {6, -1, 30, -1},    [VD_ROLE_STATUS] = {0, 7, 235, 252},
    [VD_ROLE_STATUS_NAME] = {4, 7, 18, 252}, [VD_ROLE_STATUS_WARN] = {1, 7, 88, 252},
    [VD_ROLE_PROMPT] = {4, -1, 25, -1},      [VD_ROLE_RULE] = {7, -1, 250, -1},
    [VD_ROLE_NOTE] = {5, -1, 94, -1},        [VD_ROLE_WRONG] = {1, -1, 124, -1},
    [VD_ROLE_UP] = {2, -1, 22, -1},          [VD_ROLE_DOWN] = {1, -1, 130, -1},
    [VD_ROLE_UNKNOWN] = {1, -1, 130, -1},    [VD_ROLE_SELECTED] = {-1, -1, -1, -1},
    [VD_ROLE_MATCH] = {0, 3, 16, 222},       [VD_ROLE_REGION] = {5, -1, 94, -1},
    [VD_ROLE_OUTLINE] = {11, -1, 227, -1},   [VD_ROLE_LABEL] = {0, 3, 16, 227},
};

// Blue against orange, near the palette of Okabe and Ito ("Color Universal Design", 2008): colours
// that must be told apart differ in lightness or along the axis that all common kinds of colour
// blindness keep.
static const colors safe[VD_ROLES] = {
    [VD_ROLE_TEXT] = {-1, -1, -1, -1},         [VD_ROLE_FAINT] = {8, -1, 245, -1},
    [VD_ROLE_TITLE] = {6, -1, 74, -1},         [VD_ROLE_QUESTION] = {-1, -1, -1, -1},
    [VD_ROLE_ANSWER] = {6, -1, 74, -1},        [VD_ROLE_FIRST] = {14, -1, 117, -1},
    [VD_ROLE_BAR_FIRST] = {6, -1, 74, -1},     [VD_ROLE_BAR] = {4, -1, 32, -1},
    [VD_ROLE_BAR_REGION] = {3, -1, 214, -1},   [VD_ROLE_BAR_ROUND] = {7, -1, 250, -1},
    [VD_ROLE_BAR_WORD] = {6, -1, 74, -1},      [VD_ROLE_STATUS] = {7, 0, 252, 236},
    [VD_ROLE_STATUS_NAME] = {14, 0, 117, 236}, [VD_ROLE_STATUS_WARN] = {11, 0, 214, 236},
    [VD_ROLE_PROMPT] = {14, -1, 117, -1},      [VD_ROLE_RULE] = {8, -1, 240, -1},
    [VD_ROLE_NOTE] = {3, -1, 214, -1},         [VD_ROLE_WRONG] = {11, -1, 208, -1},
    [VD_ROLE_UP] = {14, -1, 117, -1},          [VD_ROLE_DOWN] = {3, -1, 208, -1},
    [VD_ROLE_UNKNOWN] = {11, -1, 214, -1},     [VD_ROLE_SELECTED] = {-1, -1, -1, -1},
    [VD_ROLE_MATCH] = {0, 3, 16, 214},         [VD_ROLE_REGION] = {11, -1, 227, -1},
    [VD_ROLE_OUTLINE] = {11, -1, 227, -1},     [VD_ROLE_LABEL] = {0, 3, 16, 227},
};

static const struct {
    const char *title;
    const colors *roles; // NULL: without colours
} themes[VD_THEMES] = {[VD_THEME_DARK] = {"dark", dark},
                       [VD_THEME_LIGHT] = {"light", light},
                       [VD_THEME_MONO] = {"mono", NULL},
                       [VD_THEME_SAFE] = {"safe", safe}};

bool vd_theme_find(const char *name, vd_theme_name *out)
{
    for (int i = 0; i < VD_THEMES; i++)
        if (strcmp(themes[i].title, name) == 0) {
            *out = (vd_theme_name)i;
            return true;
        }
    return false;
}

const char *vd_theme_title(vd_theme_name theme)
{
    return themes[theme].title;
}

static vd_color color(int index)
{
    return index < 0 ? VD_COLOR_DEFAULT : vd_color_index(index);
}

vd_look vd_theme_look(vd_look able, vd_theme_name theme)
{
    able.theme = theme;
    if (theme == VD_THEME_MONO)
        able.depth = VD_DEPTH_MONO;
    return able;
}

vd_style vd_style_of(const vd_grid *grid, vd_role role)
{
    return vd_theme(grid->look, role);
}

vd_style vd_theme(vd_look look, vd_role role)
{
    const colors *roles = themes[look.theme].roles;
    if (look.depth == VD_DEPTH_MONO || !roles)
        return (vd_style){.attributes = attributes[role][0]};
    vd_style style = {.attributes = attributes[role][1]};
    if (look.depth <= VD_DEPTH_16) {
        int fg = roles[role].fg_16, bg = roles[role].bg_16;
        if (look.depth == VD_DEPTH_8 && fg == 8) { // grey would be black
            style.attributes |= VD_DIM;
            fg = -1;
        } else if (look.depth == VD_DEPTH_8 && fg > 8) {
            style.attributes |= VD_BOLD;
            fg -= 8;
        }
        style.fg = color(fg);
        style.bg = color(bg);
        return style;
    }
    style.fg = color(roles[role].fg_256);
    style.bg = color(roles[role].bg_256);
    // Terminals with direct colour take indices 0..7 for the palette, the others for RGB values.
    if (look.depth == VD_DEPTH_DIRECT) {
        style.fg = style.fg ? vd_color_rgb(vd_color_to_rgb(style.fg, 0)) : VD_COLOR_DEFAULT;
        style.bg = style.bg ? vd_color_rgb(vd_color_to_rgb(style.bg, 0)) : VD_COLOR_DEFAULT;
    }
    return style;
}

#include "tui/screen/theme.h"

// Indices of colours, -1 = the terminal's own: in front and behind, of 16 and of 256.
typedef struct colors {
    int16_t fg_16, bg_16, fg_256, bg_256;
} colors;

// The attributes of a role, without and with colours, and its colours in each theme. The theme that
// is safe for the colour-blind has blue against orange, near the palette of Okabe and Ito ("Color
// Universal Design", 2008): colours that must be told apart differ in lightness or along the axis
// that all common kinds of colour blindness keep.
enum { D = VD_DIM, B = VD_BOLD, R = VD_REVERSE, U = VD_UNDERLINE, I = VD_ITALIC };
static const struct {
    uint8_t mono, attributes;
    colors dark, light, safe;
} roles[VD_ROLES] = {
    [VD_ROLE_TEXT] = {0, 0, {-1, -1, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1}},
    [VD_ROLE_FAINT] = {D, 0, {8, -1, 245, -1}, {8, -1, 242, -1}, {8, -1, 245, -1}},
    [VD_ROLE_TITLE] = {B, B, {6, -1, 110, -1}, {4, -1, 25, -1}, {6, -1, 74, -1}},
    [VD_ROLE_QUESTION] = {B, B, {-1, -1, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1}},
    [VD_ROLE_ANSWER] = {0, 0, {2, -1, 114, -1}, {2, -1, 22, -1}, {6, -1, 74, -1}},
    [VD_ROLE_CAPTION] = {I, I, {-1, -1, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1}},
    [VD_ROLE_DOUBT] = {B | I, B | I, {9, -1, 203, -1}, {1, -1, 124, -1}, {11, -1, 208, -1}},
    [VD_ROLE_FIRST] = {B, B, {10, -1, 114, -1}, {2, -1, 22, -1}, {14, -1, 117, -1}},
    [VD_ROLE_BAR_FIRST] = {0, 0, {2, -1, 71, -1}, {2, -1, 71, -1}, {6, -1, 74, -1}},
    [VD_ROLE_BAR] = {0, 0, {4, -1, 67, -1}, {4, -1, 68, -1}, {4, -1, 32, -1}},
    [VD_ROLE_BAR_REGION] = {0, 0, {3, -1, 178, -1}, {3, -1, 172, -1}, {3, -1, 214, -1}},
    [VD_ROLE_BAR_ROUND] = {0, 0, {5, -1, 139, -1}, {5, -1, 133, -1}, {7, -1, 250, -1}},
    [VD_ROLE_BAR_WORD] = {0, 0, {6, -1, 73, -1}, {6, -1, 30, -1}, {6, -1, 74, -1}},
    [VD_ROLE_STATUS] = {R, 0, {7, 0, 252, 236}, {0, 7, 235, 252}, {7, 0, 252, 236}},
    [VD_ROLE_STATUS_NAME] = {R | B, B, {14, 0, 117, 236}, {4, 7, 18, 252}, {14, 0, 117, 236}},
    [VD_ROLE_STATUS_WARN] = {R | B, B, {11, 0, 221, 236}, {1, 7, 88, 252}, {11, 0, 214, 236}},
    [VD_ROLE_PROMPT] = {B, B, {14, -1, 117, -1}, {4, -1, 25, -1}, {14, -1, 117, -1}},
    [VD_ROLE_RULE] = {D, 0, {8, -1, 240, -1}, {7, -1, 250, -1}, {8, -1, 240, -1}},
    [VD_ROLE_NOTE] = {0, 0, {3, -1, 179, -1}, {5, -1, 94, -1}, {3, -1, 214, -1}},
    [VD_ROLE_WRONG] = {B, B, {9, -1, 203, -1}, {1, -1, 124, -1}, {11, -1, 208, -1}},
    [VD_ROLE_UP] = {B, 0, {2, -1, 114, -1}, {2, -1, 22, -1}, {14, -1, 117, -1}},
    [VD_ROLE_DOWN] = {0, 0, {3, -1, 173, -1}, {1, -1, 130, -1}, {3, -1, 208, -1}},
    [VD_ROLE_UNKNOWN] = {U, U, {11, -1, 215, -1}, {1, -1, 130, -1}, {11, -1, 214, -1}},
    [VD_ROLE_SELECTED] = {R, R, {-1, -1, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1}},
    [VD_ROLE_MATCH] = {R, 0, {0, 3, 16, 179}, {0, 3, 16, 222}, {0, 3, 16, 214}},
    [VD_ROLE_REGION] = {B, B, {11, -1, 227, -1}, {5, -1, 94, -1}, {11, -1, 227, -1}},
    [VD_ROLE_OUTLINE] = {B, B, {11, -1, 227, -1}, {11, -1, 227, -1}, {11, -1, 227, -1}},
    [VD_ROLE_LABEL] = {R | B, B, {0, 3, 16, 227}, {0, 3, 16, 227}, {0, 3, 16, 227}},
};

static const char *const titles[VD_THEMES] = {"auto", "light", "dark", "mono", "safe"};

const char *vd_theme_title(vd_theme_name theme)
{
    return titles[theme];
}

static vd_color color(int index)
{
    return index < 0 ? VD_COLOR_DEFAULT : vd_color_index(index);
}

vd_look vd_theme_look(vd_look able, vd_theme_name theme)
{
    if (theme != VD_THEME_AUTO)
        able.theme = theme;
    if (theme == VD_THEME_MONO)
        able.depth = VD_DEPTH_MONO;
    return able;
}

vd_style vd_theme(vd_look look, vd_role role)
{
    const colors *own = look.theme == VD_THEME_LIGHT  ? &roles[role].light
                        : look.theme == VD_THEME_SAFE ? &roles[role].safe
                                                      : &roles[role].dark;
    if (look.depth == VD_DEPTH_MONO || look.theme == VD_THEME_MONO)
        return (vd_style){.attributes = roles[role].mono};
    vd_style style = {.attributes = roles[role].attributes};
    if (look.depth <= VD_DEPTH_16) {
        int fg = own->fg_16, bg = own->bg_16;
        // Most terminals brighten the first eight in bold: black to grey, all of them on white.
        if (fg == 0 || (fg > 0 && fg < 8 && look.theme == VD_THEME_LIGHT))
            style.attributes &= (uint8_t)~VD_BOLD;
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
    style.fg = color(own->fg_256);
    style.bg = color(own->bg_256);
    // Terminals with direct colour take indices 0..7 for the palette, the others for RGB values.
    if (look.depth == VD_DEPTH_DIRECT) {
        style.fg = style.fg ? vd_color_rgb(vd_color_to_rgb(style.fg, 0)) : VD_COLOR_DEFAULT;
        style.bg = style.bg ? vd_color_rgb(vd_color_to_rgb(style.bg, 0)) : VD_COLOR_DEFAULT;
    }
    return style;
}

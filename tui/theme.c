#include "tui/theme.h"

static const struct {
    uint8_t mono, attributes;
    int16_t fg_16, bg_16, fg_256, bg_256;
} roles[VD_ROLES] = {
#define X(name, mono_, fg16, bg16, fg256, bg256, attributes_)                                      \
    [VD_ROLE_##name] = {mono_, attributes_, fg16, bg16, fg256, bg256},
    VD_ROLE_LIST(X)
#undef X
};

static vd_color color(int index)
{
    return index < 0 ? VD_COLOR_DEFAULT : vd_color_index(index);
}

vd_style vd_theme(vd_look look, vd_role role)
{
    if (look.depth == VD_DEPTH_MONO)
        return (vd_style){.attributes = roles[role].mono};
    vd_style style = {.attributes = roles[role].attributes};
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

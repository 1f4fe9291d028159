// 24-bit colour for curses if no terminal description with it is installed: makes one from the
// terminal's own description.
#ifndef VD_DIRECT_COLOR_H
#define VD_DIRECT_COLOR_H

// Describes the terminal that setupterm() was called for as one with 24-bit colour: a compiled
// description (term(5)) as a value of the environment variable TERMINFO, "b64:..." (g_free).
// Palette colours 0 to 7 stay what they are, larger numbers are RGB.
char *vd_direct_color_describe(const char *term);

#endif

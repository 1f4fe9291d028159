// The screen as a grid of cells. Views draw into it, screen.c copies it to the terminal, tests read
// it as text. Does not use the terminal.
#ifndef VD_GRID_H
#define VD_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/screen/wrap.h"

// ---- colours and styles ------------------------------------------------------------------------

// Number of colours. With 8, the bright ones of 16 are shown as bold, only in the foreground.
typedef enum vd_depth {
    VD_DEPTH_MONO,
    VD_DEPTH_8,
    VD_DEPTH_16,
    VD_DEPTH_256,
    VD_DEPTH_DIRECT
} vd_depth;

// Which colours are used (tui/screen/theme.h): for a light or a dark background, without colours,
// or safe for the colour-blind. The names that options take: VD_THEME_NAMES, in this order.
typedef enum vd_theme_name {
    VD_THEME_AUTO, // light where the terminal says that its background is, else dark
    VD_THEME_LIGHT,
    VD_THEME_DARK,
    VD_THEME_MONO,
    VD_THEME_SAFE,
    VD_THEMES
} vd_theme_name;
#define VD_THEME_NAMES "auto, light, dark, mono or safe"

// How pictures are drawn: with the pixels of a terminal that takes them by one of three protocols,
// in cells, or not at all. The names that options take: VD_PICTURE_MODE_NAMES, in this order.
typedef enum vd_picture_mode {
    VD_PICTURE_AUTO, // the best that the terminal says it can; cells until it has said so
    VD_PICTURE_KITTY,
    VD_PICTURE_SIXEL,
    VD_PICTURE_ITERM,
    VD_PICTURE_CELLS,
    VD_PICTURE_NONE
} vd_picture_mode;
#define VD_PICTURE_MODE_NAMES "auto, kitty, sixel, iterm, cells or none"

// What the terminal supports, and the user's choices.
typedef struct vd_look {
    vd_depth depth;
    bool ascii; // nothing beyond ASCII
    vd_theme_name theme;
    vd_picture_mode pictures;
    int cell_width, cell_height; // pixels of a cell, where pictures are drawn with pixels
    bool tmux;                   // pictures go through tmux, in its envelope (tui/screen/pixels.h)
} vd_look;

// 0 = the terminal's own colour, else a palette index or 24-bit RGB.
typedef uint32_t vd_color;
enum { VD_COLOR_DEFAULT = 0, VD_COLOR_INDEX = 0x01000000, VD_COLOR_RGB = 0x02000000 };

static inline vd_color vd_color_index(int index)
{
    return (vd_color)VD_COLOR_INDEX | (vd_color)(index & 0xFF);
}

static inline vd_color vd_color_rgb(uint32_t rgb)
{
    return (vd_color)VD_COLOR_RGB | (rgb & 0xFFFFFF);
}

// RGB of a colour (palette indices as xterm has them; the default counts as `otherwise`).
uint32_t vd_color_to_rgb(vd_color color, uint32_t otherwise);
// The colour a depth has for an RGB value; the default in mono.
vd_color vd_color_nearest(uint32_t rgb, vd_depth depth);

enum { VD_BOLD = 1, VD_DIM = 2, VD_REVERSE = 4, VD_UNDERLINE = 8, VD_ITALIC = 16 };

typedef struct vd_style {
    vd_color fg, bg;
    uint8_t attributes; // VD_BOLD | ...
} vd_style;

// What kind of text it is: the theme has a style for each (tui/screen/theme.h).
typedef enum vd_role {
    VD_ROLE_TEXT,
    VD_ROLE_FAINT,
    VD_ROLE_TITLE,
    VD_ROLE_QUESTION,
    VD_ROLE_ANSWER,
    VD_ROLE_CAPTION,
    VD_ROLE_DOUBT, // of whether the caption is right
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

// ---- cells -------------------------------------------------------------------------------------

typedef struct vd_cell {
    uint32_t code[VD_CLUSTER_CODES];
    uint8_t count; // code points
    uint8_t width; // 1 or 2; 0 for the right half of a wide one
    vd_style style;
} vd_cell;

typedef struct vd_rect {
    int x, y, width, height;
} vd_rect;

static inline bool vd_rect_has(vd_rect at, int x, int y)
{
    return x >= at.x && x < at.x + at.width && y >= at.y && y < at.y + at.height;
}

static inline bool vd_rects_overlap(vd_rect a, vd_rect b)
{
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
           b.y < a.y + a.height;
}

// A picture of pixels over cells that hold nothing else.
typedef struct vd_grid_image {
    vd_rect place;
    vd_look look; // the protocol
    unsigned id;  // another one for every picture
    const char
        *bytes; // draw it, with the cursor in its first cell; borrowed until the next drawing
    size_t length;
} vd_grid_image;

enum { VD_GRID_IMAGES = 6 };

typedef struct vd_grid {
    int width, height;
    vd_cell *cell; // (height, width), owned
    vd_look look;
    int cursor_x, cursor_y; // -1 = hidden
    vd_grid_image image[VD_GRID_IMAGES];
    int images;
} vd_grid;

enum { VD_GRID_MAX = 2000 }; // columns and rows beyond this are left blank

// Makes the grid width x height blank cells; the old content is gone. Zero-initialise first.
void vd_grid_resize(vd_grid *grid, int width, int height);
bool vd_grid_has_image(const vd_grid *grid, unsigned id);
void vd_grid_clear(vd_grid *grid); // blanks every cell, hides the cursor, forgets the images
void vd_grid_free(vd_grid *grid);

// NULL outside the grid.
vd_cell *vd_grid_at(const vd_grid *grid, int x, int y);

// ---- drawing: everything is clipped to the grid ------------------------------------------------

// One code point of width 1. `ascii` replaces it on an ASCII terminal.
void vd_grid_put(vd_grid *grid, int x, int y, uint32_t code, char ascii, vd_role role);
void vd_grid_put_styled(vd_grid *grid, int x, int y, uint32_t code, char ascii, vd_style style);

// At most `width` columns of text; text that does not fit ends in an ellipsis. Returns the columns
// used.
int vd_grid_text(vd_grid *grid, int x, int y, int width, const char *text, vd_role role);
int vd_grid_text_n(vd_grid *grid, int x, int y, int width, const char *text, size_t length,
                   vd_role role);
int vd_grid_text_styled(vd_grid *grid, int x, int y, int width, const char *text, vd_style style);
// The same without an ellipsis.
int vd_grid_plain(vd_grid *grid, int x, int y, int width, const char *text, size_t length,
                  vd_role role);
// Right-aligned in the columns x .. x + width - 1.
void vd_grid_right(vd_grid *grid, int x, int y, int width, const char *text, vd_role role);

// Text over several lines, the last one cut with an ellipsis. Returns the rows used.
int vd_grid_wrapped(vd_grid *grid, vd_rect place, const char *text, vd_role role);

void vd_grid_fill(vd_grid *grid, vd_rect place, vd_role role);
// A horizontal bar: fraction 0..1 of `width` columns in eighths of a column; any fraction above
// zero shows something.
void vd_grid_bar(vd_grid *grid, int x, int y, int width, double fraction, vd_role full,
                 vd_role rest);
// A gain (0..1) to the right of zero, a loss (-1..0) to its left; zero is a line in the middle.
void vd_grid_signed_bar(vd_grid *grid, int x, int y, int width, double value, vd_role gain,
                        vd_role loss, vd_role zero);
// One cell with a bar of eighths from its bottom: 0..1.
void vd_grid_level(vd_grid *grid, int x, int y, double fraction, vd_role role);

// Rows as UTF-8 lines without trailing spaces, colours left out (g_free).
char *vd_grid_to_text(const vd_grid *grid);

#endif

#include "tui/screen/grid.h"

#include <glib.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tui/screen/theme.h"

// ---- colours -----------------------------------------------------------------------------------

static const uint32_t palette_16[16] = {0x000000, 0x800000, 0x008000, 0x808000, 0x000080, 0x800080,
                                        0x008080, 0xc0c0c0, 0x808080, 0xff0000, 0x00ff00, 0xffff00,
                                        0x0000ff, 0xff00ff, 0x00ffff, 0xffffff};
static const int cube[6] = {0, 95, 135, 175, 215, 255};

static uint32_t palette_rgb(int index)
{
    if (index < 16)
        return palette_16[index];
    if (index >= 232) {
        uint32_t grey = (uint32_t)(8 + 10 * (index - 232));
        return grey << 16 | grey << 8 | grey;
    }
    index -= 16;
    return (uint32_t)cube[index / 36] << 16 | (uint32_t)cube[index / 6 % 6] << 8 |
           (uint32_t)cube[index % 6];
}

uint32_t vd_color_to_rgb(vd_color color, uint32_t otherwise)
{
    if (color & VD_COLOR_RGB)
        return color & 0xFFFFFF;
    return color & VD_COLOR_INDEX ? palette_rgb((int)(color & 0xFF)) : otherwise;
}

static int distance(uint32_t a, uint32_t b)
{
    int red = (int)(a >> 16 & 255) - (int)(b >> 16 & 255);
    int green = (int)(a >> 8 & 255) - (int)(b >> 8 & 255);
    int blue = (int)(a & 255) - (int)(b & 255);
    return 2 * red * red + 4 * green * green + 3 * blue * blue;
}

vd_color vd_color_nearest(uint32_t rgb, vd_depth depth)
{
    if (depth == VD_DEPTH_MONO)
        return VD_COLOR_DEFAULT;
    if (depth == VD_DEPTH_DIRECT)
        return vd_color_rgb(rgb);
    // The first 16 are what people retheme, so with 256 colours they are not used.
    int from = depth == VD_DEPTH_256 ? 16 : 0, best = from;
    int to = depth == VD_DEPTH_256 ? 256 : depth == VD_DEPTH_16 ? 16 : 8;
    for (int index = from; index < to; index++)
        if (distance(rgb, palette_rgb(index)) < distance(rgb, palette_rgb(best)))
            best = index;
    return vd_color_index(best);
}

// ---- cells -------------------------------------------------------------------------------------

static const vd_cell blank = {.code = {' '}, .count = 1, .width = 1};

void vd_grid_resize(vd_grid *grid, int width, int height)
{
    grid->width = CLAMP(width, 0, VD_GRID_MAX);
    grid->height = CLAMP(height, 0, VD_GRID_MAX);
    grid->cell = g_renew(vd_cell, grid->cell, grid->width * grid->height);
    vd_grid_clear(grid);
}

bool vd_grid_has_image(const vd_grid *grid, unsigned id)
{
    for (int i = 0; i < grid->images; i++)
        if (grid->image[i].id == id)
            return true;
    return false;
}

void vd_grid_clear(vd_grid *grid)
{
    for (int i = 0; i < grid->width * grid->height; i++)
        grid->cell[i] = blank;
    grid->images = 0;
    grid->cursor_x = grid->cursor_y = -1;
}

void vd_grid_free(vd_grid *grid)
{
    g_free(grid->cell);
    *grid = (vd_grid){0};
}

vd_cell *vd_grid_at(const vd_grid *grid, int x, int y)
{
    bool inside = x >= 0 && y >= 0 && x < grid->width && y < grid->height;
    return inside ? &grid->cell[y * grid->width + x] : NULL;
}

// Blanks the other half of a wide character before one of its halves is overwritten.
static void split_wide(vd_grid *grid, int x, int y)
{
    vd_cell *cell = vd_grid_at(grid, x, y);
    vd_cell *other = NULL;
    if (cell && cell->width == 0)
        other = vd_grid_at(grid, x - 1, y);
    else if (cell && cell->width == 2)
        other = vd_grid_at(grid, x + 1, y);
    if (other) {
        vd_style style = other->style;
        *other = blank;
        other->style = style;
    }
}

static void put_cluster(vd_grid *grid, int x, int y, const vd_cluster *cluster, vd_style style)
{
    vd_cell *cell = vd_grid_at(grid, x, y);
    if (!cell)
        return;
    split_wide(grid, x, y);
    *cell = blank;
    cell->style = style;
    if (cluster->width == 2) {
        vd_cell *right = vd_grid_at(grid, x + 1, y);
        if (!right)
            return; // no room for its right half: a space
        split_wide(grid, x + 1, y);
        *right = blank;
        right->count = 0;
        right->width = 0;
        right->style = style;
    }
    if (grid->look.ascii && cluster->code[0] >= 0x7F) {
        cell->code[0] = '?';
        if (cluster->width == 2)
            *vd_grid_at(grid, x + 1, y) = *cell;
        return;
    }
    cell->count = (uint8_t)cluster->count;
    cell->width = (uint8_t)cluster->width;
    memcpy(cell->code, cluster->code, sizeof cell->code);
}

void vd_grid_put_styled(vd_grid *grid, int x, int y, uint32_t code, char ascii, vd_style style)
{
    vd_cluster cluster = {.width = 1, .count = 1};
    cluster.code[0] = grid->look.ascii ? (uint32_t)(unsigned char)ascii : code;
    put_cluster(grid, x, y, &cluster, style);
}

void vd_grid_put(vd_grid *grid, int x, int y, uint32_t code, char ascii, vd_role role)
{
    vd_grid_put_styled(grid, x, y, code, ascii, vd_theme(grid->look, role));
}

// Without an ellipsis, as vd_grid_plain.
static int put_text(vd_grid *grid, int x, int y, int width, const char *text, size_t length,
                    vd_style style)
{
    int used = 0;
    for (size_t at = 0; at < length;) {
        vd_cluster cluster;
        vd_cluster_next(text + at, length - at, &cluster);
        if (used + cluster.width > width)
            break;
        put_cluster(grid, x + used, y, &cluster, style);
        used += cluster.width;
        at += cluster.bytes;
    }
    return used;
}

int vd_grid_plain(vd_grid *grid, int x, int y, int width, const char *text, size_t length,
                  vd_role role)
{
    return put_text(grid, x, y, width, text, length, vd_theme(grid->look, role));
}

// With an ellipsis where it does not fit, as vd_grid_text_n.
static int put_cut(vd_grid *grid, int x, int y, int width, const char *text, size_t length,
                   vd_style style)
{
    if (width <= 0)
        return 0;
    if (vd_text_fit(text, length, width) == length)
        return put_text(grid, x, y, width, text, length, style);
    int used = put_text(grid, x, y, width - 1, text, length, style);
    vd_grid_put_styled(grid, x + used, y, 0x2026, '~', style);
    return used + 1;
}

int vd_grid_text_styled(vd_grid *grid, int x, int y, int width, const char *text, vd_style style)
{
    return put_cut(grid, x, y, width, text, strlen(text), style);
}

int vd_grid_text_n(vd_grid *grid, int x, int y, int width, const char *text, size_t length,
                   vd_role role)
{
    return put_cut(grid, x, y, width, text, length, vd_theme(grid->look, role));
}

int vd_grid_text(vd_grid *grid, int x, int y, int width, const char *text, vd_role role)
{
    return vd_grid_text_n(grid, x, y, width, text, strlen(text), role);
}

void vd_grid_right(vd_grid *grid, int x, int y, int width, const char *text, vd_role role)
{
    int wanted = vd_text_width(text, strlen(text));
    int skip = wanted < width ? width - wanted : 0;
    vd_grid_text(grid, x + skip, y, width - skip, text, role);
}

int vd_grid_wrapped(vd_grid *grid, vd_rect place, const char *text, vd_role role)
{
    size_t length = strlen(text), offset = 0;
    vd_text_line line;
    int rows = 0;
    while (rows < place.height && vd_wrap_next(text, length, place.width, &offset, &line)) {
        size_t rest = rows == place.height - 1 ? length - line.start : line.length;
        vd_grid_text_n(grid, place.x, place.y + rows, place.width, text + line.start, rest, role);
        rows++;
    }
    return rows;
}

void vd_grid_fill(vd_grid *grid, vd_rect place, vd_role role)
{
    vd_style style = vd_theme(grid->look, role);
    for (int y = place.y; y < place.y + place.height && y < grid->height; y++)
        for (int x = place.x; x < place.x + place.width && x < grid->width; x++)
            vd_grid_put_styled(grid, x, y, ' ', ' ', style);
}

void vd_grid_bar(vd_grid *grid, int x, int y, int width, double fraction, vd_role full,
                 vd_role rest)
{
    if (width <= 0)
        return;
    fraction = fraction > 0 ? (fraction < 1 ? fraction : 1) : 0; // NaN is 0
    int eighths = (int)lround(fraction * width * 8);
    if (eighths == 0 && fraction > 0)
        eighths = 1;
    if (grid->look.ascii)
        eighths = (eighths + 4) / 8 * 8 + (eighths > 0 && eighths < 4 ? 8 : 0);
    for (int i = 0; i < width; i++, eighths -= 8) {
        if (eighths >= 8)
            vd_grid_put(grid, x + i, y, 0x2588, '#', full);
        else if (eighths > 0)
            vd_grid_put(grid, x + i, y, 0x2590u - (uint32_t)eighths, '#', full);
        else
            vd_grid_put(grid, x + i, y, ' ', '.', rest);
    }
}

// Of the blocks that grow to the left there are three.
static void signed_cell(vd_grid *grid, int x, int y, double part, bool gain, vd_role role)
{
    static const uint32_t codes[2][4] = {{' ', 0x2595, 0x2590, 0x2588},
                                         {' ', 0x258F, 0x258C, 0x2588}};
    int size = part < 0.05 ? 0 : part < 0.3 ? 1 : part < 0.75 ? 2 : 3;
    vd_grid_put(grid, x, y, codes[gain][size], size == 0 ? ' ' : gain ? '+' : '-', role);
}

void vd_grid_signed_bar(vd_grid *grid, int x, int y, int width, double value, vd_role gain,
                        vd_role loss, vd_role zero)
{
    int side = width / 2;
    if (side <= 0)
        return;
    double cells = fmin(fabs(value), 1) * side;
    vd_grid_put(grid, x + side, y, 0x2502, '|', zero);
    for (int i = 0; i < side; i++) {
        signed_cell(grid, x + side - 1 - i, y, value < 0 ? cells - i : 0, false, loss);
        signed_cell(grid, x + side + 1 + i, y, value > 0 ? cells - i : 0, true, gain);
    }
}

void vd_grid_level(vd_grid *grid, int x, int y, double fraction, vd_role role)
{
    fraction = fraction > 0 ? (fraction < 1 ? fraction : 1) : 0;
    int eighths = (int)lround(fraction * 8);
    if (eighths == 0)
        eighths = 1;
    static const char ramp[] = "._-=+*%#@"; // darker and darker; [0] stands for less than 1/16
    vd_grid_put(grid, x, y, 0x2580u + (uint32_t)eighths, ramp[(int)lround(fraction * 8)], role);
}

char *vd_grid_to_text(const vd_grid *grid)
{
    GString *text = g_string_new(NULL);
    for (int y = 0; y < grid->height; y++) {
        gsize end = text->len; // of what is no space
        for (int x = 0; x < grid->width; x++) {
            const vd_cell *cell = vd_grid_at(grid, x, y);
            for (int i = 0; i < cell->count; i++)
                g_string_append_unichar(text, cell->code[i]);
            if (cell->count > 0 && cell->code[cell->count - 1] != ' ')
                end = text->len;
        }
        g_string_truncate(text, end);
        g_string_append_c(text, '\n');
    }
    return g_string_free(text, FALSE);
}

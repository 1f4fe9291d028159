#include "tui/screen/picture.h"

#include <chafa.h>
#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/screen/pixels.h"
#include "tui/screen/theme.h"

void vd_picture_set(vd_picture *picture, vd_image *image)
{
    vd_picture_clear(picture);
    picture->image = *image;
    *image = (vd_image){0};
}

void vd_picture_clear(vd_picture *picture)
{
    vd_image_clear(&picture->image);
    g_free(picture->cell);
    for (int i = 0; i < VD_GRID_IMAGES; i++)
        g_free(picture->pixels[i].bytes);
    *picture = (vd_picture){0};
}

// ---- pixels to cells ---------------------------------------------------------------------------

static ChafaCanvas *canvas_new(int width, int height, vd_look look)
{
    static const ChafaCanvasMode modes[] = {
        [VD_DEPTH_MONO] = CHAFA_CANVAS_MODE_FGBG,
        [VD_DEPTH_8] = CHAFA_CANVAS_MODE_INDEXED_8,
        [VD_DEPTH_16] = CHAFA_CANVAS_MODE_INDEXED_16,
        [VD_DEPTH_256] = CHAFA_CANVAS_MODE_INDEXED_240,
        [VD_DEPTH_DIRECT] = CHAFA_CANVAS_MODE_TRUECOLOR,
    };
    ChafaSymbolTags tags = CHAFA_SYMBOL_TAG_SPACE | CHAFA_SYMBOL_TAG_SOLID | CHAFA_SYMBOL_TAG_BLOCK;
    if (look.ascii)
        tags = CHAFA_SYMBOL_TAG_ASCII | CHAFA_SYMBOL_TAG_SPACE;
    else if (look.depth == VD_DEPTH_MONO)
        tags = CHAFA_SYMBOL_TAG_BRAILLE | CHAFA_SYMBOL_TAG_SPACE;
    ChafaSymbolMap *symbols = chafa_symbol_map_new();
    chafa_symbol_map_add_by_tags(symbols, tags);
    ChafaCanvasConfig *config = chafa_canvas_config_new();
    chafa_canvas_config_set_geometry(config, width, height);
    chafa_canvas_config_set_canvas_mode(config, modes[look.depth]);
    chafa_canvas_config_set_symbol_map(config, symbols);
    chafa_canvas_config_set_work_factor(config, 0.7f);
    // Perceptual colour distances (DIN 6176); otherwise the few blues of the palette turn purple.
    if (look.depth == VD_DEPTH_256)
        chafa_canvas_config_set_color_space(config, CHAFA_COLOR_SPACE_DIN99D);
    // With few tones silhouettes show more than halftones, and more contrast would hide them.
    if (look.depth <= VD_DEPTH_16)
        chafa_canvas_config_set_preprocessing_enabled(config, FALSE);
    ChafaCanvas *canvas = chafa_canvas_new(config);
    chafa_canvas_config_unref(config);
    chafa_symbol_map_unref(symbols);
    return canvas;
}

// Six hues, up to which angle each goes; then it is red again.
static const struct {
    int end, color;
} hues[] = {{18, 1}, {70, 3}, {165, 2}, {200, 6}, {258, 4}, {345, 5}, {360, 1}};

// The colour of 8 or 16 that a person would name: greys stay grey and a hue stays that hue, however
// light or dark. By distance alone a shadow is teal, and so is a light blue.
static int named_color(const uint8_t rgb[3], vd_depth depth)
{
    enum { GREYISH = 45, ORANGE = 40, BRIGHT = 150 };
    int red = rgb[0], green = rgb[1], blue = rgb[2];
    int high = MAX(red, MAX(green, blue)), low = MIN(red, MIN(green, blue)), span = high - low;
    if (span < GREYISH) {
        int grey = (high + low) / 2;
        if (depth == VD_DEPTH_8)
            return grey < 80 ? 0 : 7;
        return grey < 64 ? 0 : grey < 116 ? 8 : grey < 224 ? 7 : 15;
    }
    int hue = high == red     ? (360 + 60 * (green - blue) / span) % 360
              : high == green ? 120 + 60 * (blue - red) / span
                              : 240 + 60 * (red - green) / span;
    int i = 0;
    while (hue >= hues[i].end)
        i++;
    bool orange = hues[i].color == 3 && hue < ORANGE; // the dark yellow, a brown
    return hues[i].color + (depth == VD_DEPTH_16 && high >= BRIGHT && !orange ? 8 : 0);
}

// The picture in the colours of the palette, for few of them; NULL: out of memory.
static uint8_t *in_named_colors(const vd_image *image, vd_depth depth)
{
    size_t count = (size_t)image->width * (size_t)image->height;
    uint8_t *out = vd_alloc(count, 3);
    for (size_t i = 0; i < count && out; i++) {
        uint32_t rgb = vd_color_to_rgb(vd_color_index(named_color(image->rgb + 3 * i, depth)), 0);
        for (int c = 0; c < 3; c++)
            out[3 * i + (size_t)c] = (uint8_t)(rgb >> (16 - 8 * c));
    }
    return out;
}

static vd_color cell_color(int raw, vd_depth depth)
{
    if (raw < 0 || depth == VD_DEPTH_MONO)
        return VD_COLOR_DEFAULT;
    return depth == VD_DEPTH_DIRECT ? vd_color_rgb((uint32_t)raw) : vd_color_index(raw);
}

static vd_status make_cells(vd_picture *picture, int width, int height, vd_look look, vd_error *err)
{
    const vd_image *image = &picture->image;
    bool few = look.depth == VD_DEPTH_8 || look.depth == VD_DEPTH_16;
    uint8_t *named = few ? in_named_colors(image, look.depth) : NULL;
    if (few && !named)
        return vd_error_memory(err, "the picture in few colours");
    ChafaCanvas *canvas = canvas_new(width, height, look);
    chafa_canvas_draw_all_pixels(canvas, CHAFA_PIXEL_RGB8, named ? named : image->rgb, image->width,
                                 image->height, image->width * 3);
    vd_free(named);
    picture->cell = g_renew(vd_cell, picture->cell, width * height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            vd_cell *cell = &picture->cell[y * width + x];
            int fg, bg;
            chafa_canvas_get_raw_colors_at(canvas, x, y, &fg, &bg);
            uint32_t code = chafa_canvas_get_char_at(canvas, x, y);
            *cell = (vd_cell){.count = 1, .width = 1};
            cell->code[0] = code && code != 0x2800 ? code : ' '; // an empty braille cell is a space
            cell->style.fg = cell_color(fg, look.depth);
            cell->style.bg = cell_color(bg, look.depth);
        }
    chafa_canvas_unref(canvas);
    picture->width = width;
    picture->height = height;
    picture->look = look;
    return VD_OK;
}

static vd_status draw_cells(vd_picture *picture, vd_grid *grid, vd_rect place, vd_error *err)
{
    bool fresh = picture->cell && picture->width == place.width &&
                 picture->height == place.height && picture->look.depth == grid->look.depth &&
                 picture->look.ascii == grid->look.ascii;
    if (!fresh) {
        vd_status status = make_cells(picture, place.width, place.height, grid->look, err);
        if (status)
            return status;
    }
    for (int y = 0; y < place.height; y++)
        for (int x = 0; x < place.width; x++) {
            vd_cell *cell = vd_grid_at(grid, place.x + x, place.y + y);
            if (cell)
                *cell = picture->cell[y * place.width + x];
        }
    return VD_OK;
}

// ---- pixels to pixels --------------------------------------------------------------------------

static bool same_look(const vd_look *a, const vd_look *b)
{
    return a->pictures == b->pictures && a->theme == b->theme && a->depth == b->depth &&
           a->cell_width == b->cell_width && a->cell_height == b->cell_height && a->tmux == b->tmux;
}

static bool same_outlines(const vd_outline *a, const vd_outline *b, int count)
{
    for (int i = 0; i < count; i++) {
        bool same = a[i].number == b[i].number && a[i].share == b[i].share;
        for (int side = 0; side < 4; side++)
            same &= a[i].box[side] == b[i].box[side];
        if (!same)
            return false;
    }
    return true;
}

// The one that was drawn like this before, or the one that was not used for longest. An image has
// one place: the same picture elsewhere on the grid is another image.
static vd_picture_pixels *find_pixels(vd_picture *picture, const vd_grid *grid,
                                      const vd_picture_pixels *wanted)
{
    vd_picture_pixels *oldest = picture->pixels;
    for (vd_picture_pixels *p = picture->pixels; p < picture->pixels + VD_GRID_IMAGES; p++) {
        if (p->bytes && !vd_grid_has_image(grid, p->id) && p->width == wanted->width &&
            p->height == wanted->height && p->count == wanted->count &&
            same_look(&p->look, &wanted->look) &&
            same_outlines(p->outlines, wanted->outlines, p->count))
            return p;
        if (p->used < oldest->used)
            oldest = p;
    }
    g_free(oldest->bytes);
    *oldest = *wanted;
    return oldest;
}

static vd_status draw_pixels(vd_picture *picture, vd_grid *grid, vd_rect place,
                             const vd_outline *outlines, int count, vd_error *err)
{
    vd_picture_pixels wanted = {
        .width = place.width, .height = place.height, .look = grid->look, .count = count};
    if (count)
        memcpy(wanted.outlines, outlines, (size_t)count * sizeof *outlines);
    vd_picture_pixels *pixels = find_pixels(picture, grid, &wanted);
    pixels->used = ++picture->draws;
    if (!pixels->bytes) {
        vd_image composed;
        vd_status status = vd_pixels_compose(&picture->image, place.width, place.height, grid->look,
                                             outlines, count, &composed, err);
        if (!status)
            status = vd_pixels_encode(&composed, pixels, err);
        vd_image_clear(&composed);
        if (status)
            return status;
    }
    if (!vd_pixels_over_cells(&grid->look))
        vd_pixels_fill_cells(grid, place, pixels->id);
    grid->image[grid->images++] = (vd_grid_image){.place = place,
                                                  .look = grid->look,
                                                  .id = pixels->id,
                                                  .bytes = pixels->bytes,
                                                  .length = pixels->length};
    return VD_OK;
}

vd_status vd_picture_draw(vd_picture *picture, vd_grid *grid, vd_rect place,
                          const vd_outline *outlines, int count, vd_error *err)
{
    if (!picture->image.rgb)
        return vd_error_set(err, VD_NOT_FOUND, "no picture is loaded");
    if (place.width <= 0 || place.height <= 0 || grid->look.pictures == VD_PICTURE_NONE)
        return VD_OK;
    bool inside = place.x >= 0 && place.y >= 0 && place.x + place.width <= grid->width &&
                  place.y + place.height <= grid->height;
    bool pixels = inside && grid->images < VD_GRID_IMAGES &&
                  vd_pixels_wanted(&grid->look, place.width, place.height);
    vd_status status = VD_OK;
    if (!pixels || vd_pixels_over_cells(&grid->look)) {
        status = draw_cells(picture, grid, place, err);
        if (!status)
            vd_picture_outline(grid, place, outlines, count);
    }
    if (pixels && !status)
        status = draw_pixels(picture, grid, place, outlines, MIN(count, VD_OUTLINES_MOST), err);
    return status;
}

// ---- outlines ----------------------------------------------------------------------------------

typedef struct pen {
    uint32_t horizontal, vertical, corner[4]; // corners: top left, top right, bottom left, right
    char ascii[3];                            // horizontal, vertical, corner
    int shade;                                // percent of the picture's brightness behind it
} pen;

static const pen heavy = {0x2501, 0x2503, {0x250F, 0x2513, 0x2517, 0x251B}, {'=', '#', '#'}, 50};
static const pen thin = {0x2500, 0x2502, {0x250C, 0x2510, 0x2514, 0x2518}, {'-', '|', '+'}, 60};
static const pen dashed = {0x2504, 0x2506, {0x256D, 0x256E, 0x2570, 0x256F}, {'.', ':', '.'}, 70};

static const pen *pen_for(double share)
{
    return share >= VD_OUTLINE_HEAVY ? &heavy : share >= VD_OUTLINE_THIN ? &thin : &dashed;
}

// The cells an outline runs through: just outside the box where there is room.
static vd_rect outline_cells(const float box[4], vd_rect place)
{
    double left = floor(fmax(box[0], 0) * place.width - 0.5);
    double top = floor(fmax(box[1], 0) * place.height - 0.5);
    double right = ceil(fmin(box[2], 1) * place.width - 0.5);
    double bottom = ceil(fmin(box[3], 1) * place.height - 0.5);
    left = fmin(fmax(left, 0), place.width - 1);
    top = fmin(fmax(top, 0), place.height - 1);
    right = fmin(fmax(right, left), place.width - 1);
    bottom = fmin(fmax(bottom, top), place.height - 1);
    return (vd_rect){place.x + (int)left, place.y + (int)top, (int)(right - left) + 1,
                     (int)(bottom - top) + 1};
}

static uint32_t mix(uint32_t a, uint32_t b, int percent_of_sum)
{
    uint32_t out = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        uint32_t sum = (a >> shift & 255) + (b >> shift & 255);
        out |= sum * (uint32_t)percent_of_sum / 200 << shift;
    }
    return out;
}

static void line_cell(vd_grid *grid, int x, int y, uint32_t code, char ascii, int shade,
                      vd_style line)
{
    const vd_cell *cell = vd_grid_at(grid, x, y);
    if (!cell)
        return;
    if (grid->look.depth != VD_DEPTH_MONO) {
        uint32_t bg = vd_color_to_rgb(cell->style.bg, 0);
        uint32_t fg = vd_color_to_rgb(cell->style.fg, bg);
        bool crossing = cell->code[0] >= 0x2500 && cell->code[0] < 0x2580; // another outline
        if (cell->code[0] == ' ' || crossing)
            fg = bg;
        line.bg = vd_color_nearest(mix(fg, bg, crossing ? 100 : shade), grid->look.depth);
    }
    vd_grid_put_styled(grid, x, y, code, ascii, line);
}

static void draw_outline(vd_grid *grid, vd_rect at, const pen *with, vd_style line)
{
    int right = at.x + at.width - 1, bottom = at.y + at.height - 1;
    for (int x = at.x + 1; x < right; x++) {
        line_cell(grid, x, at.y, with->horizontal, with->ascii[0], with->shade, line);
        line_cell(grid, x, bottom, with->horizontal, with->ascii[0], with->shade, line);
    }
    for (int y = at.y + 1; y < bottom; y++) {
        line_cell(grid, at.x, y, with->vertical, with->ascii[1], with->shade, line);
        line_cell(grid, right, y, with->vertical, with->ascii[1], with->shade, line);
    }
    for (int i = 0; i < 4; i++)
        line_cell(grid, i % 2 ? right : at.x, i < 2 ? at.y : bottom, with->corner[i],
                  with->ascii[2], with->shade, line);
}

// Where a label of `width` columns goes: a free place along the outline's edges, the top left
// corner first, with a gap to other labels, so that two numbers do not look like one. No columns
// where none is free.
static vd_rect label_place(vd_rect outline, vd_rect place, int width, const vd_rect *taken,
                           int count)
{
    int last_x = outline.x + outline.width - width, last_y = outline.y + outline.height - 1;
    if (last_x < outline.x)
        last_x = outline.x;
    for (int y = outline.y; y <= last_y; y++) {
        int step = y == outline.y || y == last_y || last_x == outline.x ? 1 : last_x - outline.x;
        for (int x = outline.x; x <= last_x; x += step) {
            vd_rect spot = {x - 1, y, width + 2, 1};
            bool free_spot = x + width <= place.x + place.width;
            for (int i = 0; i < count && free_spot; i++)
                free_spot = !taken[i].width || !vd_rects_overlap(spot, taken[i]);
            if (free_spot)
                return (vd_rect){x, y, width, 1};
        }
    }
    return (vd_rect){outline.x, outline.y, 0, 1};
}

void vd_outline_labels(vd_rect place, const vd_outline *outlines, int count, vd_rect *labels)
{
    for (int i = 0; i < count; i++) {
        int width = snprintf(NULL, 0, "%d", outlines[i].number);
        labels[i] = label_place(outline_cells(outlines[i].box, place), place, width, labels, i);
    }
}

void vd_picture_outline(vd_grid *grid, vd_rect place, const vd_outline *outlines, int count)
{
    if (place.width <= 0 || place.height <= 0)
        return;
    count = count > VD_OUTLINES_MOST ? VD_OUTLINES_MOST : count;
    vd_style line = vd_theme(grid->look, VD_ROLE_OUTLINE);
    for (int i = count - 1; i >= 0; i--) {
        vd_style style = line;
        if (outlines[i].share < VD_OUTLINE_THIN)
            style.attributes &= (uint8_t)~VD_BOLD;
        draw_outline(grid, outline_cells(outlines[i].box, place), pen_for(outlines[i].share),
                     style);
    }
    vd_rect labels[VD_OUTLINES_MOST];
    vd_outline_labels(place, outlines, count, labels);
    for (int i = 0; i < count; i++) {
        char label[12];
        snprintf(label, sizeof label, "%d", outlines[i].number);
        vd_grid_plain(grid, labels[i].x, labels[i].y, labels[i].width, label, strlen(label),
                      VD_ROLE_LABEL);
    }
}

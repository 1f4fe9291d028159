#include "tui/screen/pixels.h"

#include <chafa.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "features/pictures/resample.h"
#include "tui/screen/theme.h"

// ---- cells --------------------------------------------------------------------------------------

// Combining characters that number the rows of kitty's placeholders (its rowcolumn-diacritics.txt).
static const uint16_t row_marks[] = {
    0x305, 0x30d, 0x30e, 0x310, 0x312, 0x33d, 0x33e, 0x33f, 0x346, 0x34a, 0x34b, 0x34c,
    0x350, 0x351, 0x352, 0x357, 0x35b, 0x363, 0x364, 0x365, 0x366, 0x367, 0x368, 0x369,
    0x36a, 0x36b, 0x36c, 0x36d, 0x36e, 0x36f, 0x483, 0x484, 0x485, 0x486, 0x487, 0x592,
    0x593, 0x594, 0x595, 0x597, 0x598, 0x599, 0x59c, 0x59d, 0x59e, 0x59f, 0x5a0, 0x5a1,
    0x5a8, 0x5a9, 0x5ab, 0x5ac, 0x5af, 0x5c4, 0x610, 0x611, 0x612, 0x613, 0x614, 0x615,
    0x616, 0x617, 0x657, 0x658, 0x659, 0x65a, 0x65b, 0x65d, 0x65e, 0x6d6, 0x6d7, 0x6d8,
    0x6d9, 0x6da, 0x6db, 0x6dc, 0x6df, 0x6e0, 0x6e1, 0x6e2, 0x6e4, 0x6e7, 0x6e8, 0x6eb};
enum { ROW_MARKS = sizeof row_marks / sizeof *row_marks, PLACEHOLDER = 0x10EEEE };

// Numbers of images: what 256 colours can say, without the colours that people rename.
enum { FIRST_ID = 16, IDS = 240 };

bool vd_pixels_wanted(const vd_look *look, int width, int height)
{
    return look->pictures >= VD_PICTURE_KITTY && look->pictures <= VD_PICTURE_ITERM &&
           look->cell_width > 0 && look->cell_height > 0 && width > 0 && height > 0 &&
           (!look->tmux || look->pictures != VD_PICTURE_KITTY || height <= ROW_MARKS);
}

bool vd_pixels_over_cells(const vd_look *look)
{
    return look->tmux && look->pictures == VD_PICTURE_ITERM;
}

void vd_pixels_fill_cells(vd_grid *grid, vd_rect place, unsigned id)
{
    vd_style style = {0};
    if (grid->look.tmux) // the colour of a placeholder is the number of its image
        style.fg = grid->look.depth == VD_DEPTH_DIRECT ? vd_color_rgb(id) : vd_color_index((int)id);
    for (int y = 0; y < place.height; y++)
        for (int x = 0; x < place.width; x++) {
            vd_cell *cell = vd_grid_at(grid, place.x + x, place.y + y);
            // Not a space: the end of a row of spaces is erased in one go, and with it the image.
            const vd_cell blank = {.code = {grid->look.ascii ? ' ' : 0xA0}, .count = 1, .width = 1};
            if (!cell)
                continue;
            *cell = blank;
            cell->style = style;
            if (!grid->look.tmux)
                continue;
            // The first of a row says which it is of which row; each other one follows its left.
            cell->code[0] = PLACEHOLDER;
            cell->code[1] = row_marks[y];
            cell->code[2] = row_marks[0];
            cell->count = x == 0 ? 3 : 2;
        }
}

// ---- outlines and numbers -----------------------------------------------------------------------

static void paint(vd_image *image, int x, int y, uint32_t rgb, double opacity)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height)
        return;
    uint8_t *at = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
    for (int c = 0; c < 3; c++) {
        double own = rgb >> (16 - 8 * c) & 255;
        at[c] = (uint8_t)(at[c] + (own - at[c]) * opacity + 0.5);
    }
}

// A frame of `wide` pixels inwards; dash 0: whole, else the length of dashes and gaps.
static void draw_frame(vd_image *image, vd_rect at, int wide, int dash, uint32_t rgb,
                       double opacity)
{
    for (int y = 0; y < at.height; y++)
        for (int x = 0; x < at.width; x++) {
            bool sides = x < wide || x >= at.width - wide, ends = y < wide || y >= at.height - wide;
            int along = sides ? y : x;
            if (sides || ends)
                if (!dash || along / dash % 2 == 0)
                    paint(image, at.x + x, at.y + y, rgb, opacity);
            if (!ends && x == wide && at.width > 2 * wide)
                x = at.width - wide - 1;
        }
}

// Digits of the VGA's font of 8 x 16, without the empty rows above and below.
enum { DIGIT_ROWS = 10, FONT_ROWS = 16, FONT_TOP = 3 };
static const uint8_t digits[10][DIGIT_ROWS] = {
    {0x7c, 0xc6, 0xc6, 0xce, 0xde, 0xf6, 0xe6, 0xc6, 0xc6, 0x7c},
    {0x18, 0x38, 0x78, 0x18, 0x18, 0x18, 0x18, 0x18, 0x18, 0x7e},
    {0x7c, 0xc6, 0x06, 0x0c, 0x18, 0x30, 0x60, 0xc0, 0xc6, 0xfe},
    {0x7c, 0xc6, 0x06, 0x06, 0x3c, 0x06, 0x06, 0x06, 0xc6, 0x7c},
    {0x0c, 0x1c, 0x3c, 0x6c, 0xcc, 0xfe, 0x0c, 0x0c, 0x0c, 0x1e},
    {0xfe, 0xc0, 0xc0, 0xc0, 0xfc, 0x06, 0x06, 0x06, 0xc6, 0x7c},
    {0x38, 0x60, 0xc0, 0xc0, 0xfc, 0xc6, 0xc6, 0xc6, 0xc6, 0x7c},
    {0xfe, 0xc6, 0x06, 0x06, 0x0c, 0x18, 0x30, 0x30, 0x30, 0x30},
    {0x7c, 0xc6, 0xc6, 0xc6, 0x7c, 0xc6, 0xc6, 0xc6, 0xc6, 0x7c},
    {0x7c, 0xc6, 0xc6, 0xc6, 0x7e, 0x06, 0x06, 0x06, 0x0c, 0x78}};

// How much of a pixel a digit covers, of nine points in it. place: of the digit's cell.
static double covered(int digit, vd_rect place, int x, int y)
{
    int points = 0;
    for (int i = 0; i < 9; i++) {
        int right = 2 * (i % 3) + 1, down = 2 * (i / 3) + 1; // sixths of the pixel
        int column = (6 * x + right) * 8 / (6 * place.width);
        int row = (6 * y + down) * FONT_ROWS / (6 * place.height) - FONT_TOP;
        points += row >= 0 && row < DIGIT_ROWS && digits[digit][row] >> (7 - column) & 1;
    }
    return points / 9.0;
}

static void draw_number(vd_image *image, vd_rect cell, const char *number, uint32_t ink,
                        uint32_t paper)
{
    for (; *number; number++, cell.x += cell.width)
        for (int y = 0; y < cell.height; y++)
            for (int x = 0; x < cell.width; x++) {
                paint(image, cell.x + x, cell.y + y, paper, 1);
                paint(image, cell.x + x, cell.y + y, ink, covered(*number - '0', cell, x, y));
            }
}

// Where a box lies among the pixels.
static vd_rect box_of(const float box[4], const vd_image *image)
{
    double left = fmin(fmax(box[0], 0), 1), top = fmin(fmax(box[1], 0), 1);
    double right = fmin(fmax(box[2], left), 1), bottom = fmin(fmax(box[3], top), 1);
    vd_rect at = {(int)(left * image->width), (int)(top * image->height), 0, 0};
    at.width = (int)ceil(right * image->width) - at.x;
    at.height = (int)ceil(bottom * image->height) - at.y;
    return at;
}

static void draw_outline(vd_image *image, const vd_outline *outline, int cell, uint32_t rgb)
{
    bool heavy = outline->share >= VD_OUTLINE_HEAVY, dashed = outline->share < VD_OUTLINE_THIN;
    int wide = MAX(heavy ? 2 : 1, heavy ? cell / 6 : cell / 10);
    vd_rect at = box_of(outline->box, image);
    // Dark on both sides, so that it is seen on any colour.
    for (int side = -1; side <= wide; side += wide + 1) {
        vd_rect edge = {at.x + side, at.y + side, at.width - 2 * side, at.height - 2 * side};
        draw_frame(image, edge, 1, 0, 0x000000, 0.5);
    }
    draw_frame(image, at, wide, dashed ? MAX(cell / 3, 3) : 0, rgb, 1);
}

// The cell of a label, moved by less than a cell to touch its box, unless another label is near.
static vd_rect label_at(vd_rect cells, vd_look look, vd_rect box, const vd_rect *taken, int count)
{
    vd_rect cell = {cells.x * look.cell_width, cells.y * look.cell_height,
                    cells.width * look.cell_width, look.cell_height};
    vd_rect at = cell;
    at.x = CLAMP(cell.x, box.x, MAX(box.x, box.x + box.width - cell.width));
    at.y = CLAMP(cell.y, MAX(box.y - cell.height, 0), box.y + box.height);
    int gap = look.cell_width / 2;
    vd_rect room = {at.x - gap, at.y, at.width + 2 * gap, at.height};
    for (int i = 0; i < count; i++)
        if (taken[i].width && vd_rects_overlap(room, taken[i]))
            return cell;
    return at;
}

vd_status vd_pixels_compose(const vd_image *picture, int width, int height, vd_look look,
                            const vd_outline *outlines, int count, vd_image *out, vd_error *err)
{
    *out = (vd_image){0};
    vd_status status =
        vd_image_scale(picture, width * look.cell_width, height * look.cell_height, out, err);
    if (status)
        return status;
    if (look.depth != VD_DEPTH_MONO) // pixels are not short of colours where cells are
        look.depth = VD_DEPTH_256;
    vd_style line = vd_theme(look, VD_ROLE_OUTLINE), label = vd_theme(look, VD_ROLE_LABEL);
    uint32_t yellow = vd_color_to_rgb(line.fg, 0xffffff);
    uint32_t paper = vd_color_to_rgb(label.bg, 0xffffff);
    uint32_t ink = vd_color_to_rgb(label.fg, 0x000000);
    for (int i = count - 1; i >= 0; i--)
        draw_outline(out, &outlines[i], look.cell_height, yellow);
    vd_rect labels[VD_OUTLINES_MOST];
    vd_outline_labels((vd_rect){0, 0, width, height}, outlines, count, labels);
    for (int i = 0; i < count; i++) {
        char number[12];
        if (!labels[i].width)
            continue;
        snprintf(number, sizeof number, "%d", outlines[i].number);
        labels[i] = label_at(labels[i], look, box_of(outlines[i].box, out), labels, i);
        vd_rect digit = {labels[i].x, labels[i].y, look.cell_width, look.cell_height};
        draw_number(out, digit, number, ink, paper);
    }
    return VD_OK;
}

// ---- the protocols ------------------------------------------------------------------------------

// Through tmux: in an envelope, with the escapes in it doubled.
static void add_kitty(GString *out, bool tmux, const char *keys, const char *data, size_t length)
{
    const char *escape = tmux ? "\033\033" : "\033";
    g_string_append_printf(out, "%s%s_G%s;", tmux ? "\033Ptmux;" : "", escape, keys);
    g_string_append_len(out, data, (gssize)length);
    g_string_append_printf(out, "%s\\%s", escape, tmux ? "\033\\" : "");
}

static void encode_kitty(GString *out, const vd_picture_pixels *of, const char *data)
{
    enum { PIECE = 4096 }; // the most that the protocol allows
    size_t length = strlen(data);
    char keys[96];
    for (size_t at = 0; at < length; at += PIECE) {
        int more = at + PIECE < length;
        if (at == 0)
            snprintf(keys, sizeof keys, "a=T,f=100,i=%u,q=2,C=1,c=%d,r=%d%s,m=%d", of->id,
                     of->width, of->height, of->look.tmux ? ",U=1" : "", more);
        else
            snprintf(keys, sizeof keys, "m=%d", more);
        add_kitty(out, of->look.tmux, keys, data + at, more ? PIECE : length - at);
    }
}

static vd_status encode_png(GString *out, const vd_image *composed, const vd_picture_pixels *of,
                            vd_error *err)
{
    unsigned char *png;
    size_t size;
    vd_status status = vd_image_to_png(composed, true, &png, &size, err);
    if (status)
        return status;
    g_autofree char *data = g_base64_encode(png, size);
    if (of->look.pictures == VD_PICTURE_KITTY)
        encode_kitty(out, of, data);
    else
        g_string_append_printf(out,
                               "%s]1337;File=inline=1;size=%zu;width=%d;height=%d;"
                               "preserveAspectRatio=0;doNotMoveCursor=1:%s\a",
                               of->look.tmux ? "\033\033" : "\033", size, of->width, of->height,
                               data);
    vd_free(png);
    return VD_OK;
}

// Sixels stand in rows of six pixels; what is left of the last cell stays free.
static vd_status encode_sixel(GString *out, const vd_image *composed, const vd_picture_pixels *of,
                              vd_error *err)
{
    int rows = composed->height - composed->height % 6;
    size_t count = (size_t)composed->width * (size_t)rows;
    // With three bytes a pixel chafa loses the rows of pictures that it does not scale.
    uint8_t *rgba = vd_alloc_raw(4 * count + 1);
    if (!rgba)
        return vd_error_memory(err, "the picture in sixels");
    for (size_t i = 0; i < count; i++) {
        memcpy(rgba + 4 * i, composed->rgb + 3 * i, 3);
        rgba[4 * i + 3] = 255;
    }
    ChafaCanvasConfig *config = chafa_canvas_config_new();
    chafa_canvas_config_set_geometry(config, of->width, of->height);
    chafa_canvas_config_set_cell_geometry(config, of->look.cell_width, of->look.cell_height);
    chafa_canvas_config_set_pixel_mode(config, CHAFA_PIXEL_MODE_SIXELS);
    chafa_canvas_config_set_dither_mode(config, CHAFA_DITHER_MODE_DIFFUSION);
    chafa_canvas_config_set_dither_grain_size(config, 1, 1);
    ChafaCanvas *canvas = chafa_canvas_new(config);
    chafa_canvas_draw_all_pixels(canvas, CHAFA_PIXEL_RGBA8_UNASSOCIATED, rgba, composed->width,
                                 rows, composed->width * 4);
    ChafaTermInfo *sequences = chafa_term_db_get_fallback_info(chafa_term_db_get_default());
    g_autoptr(GString) sixels = chafa_canvas_print(canvas, sequences);
    g_string_append_len(out, sixels->str, (gssize)sixels->len);
    chafa_term_info_unref(sequences);
    chafa_canvas_unref(canvas);
    chafa_canvas_config_unref(config);
    vd_free(rgba);
    return VD_OK;
}

vd_status vd_pixels_encode(const vd_image *composed, vd_picture_pixels *to, vd_error *err)
{
    static atomic_uint count;
    to->id = FIRST_ID + atomic_fetch_add(&count, 1) % IDS;
    GString *out = g_string_new(NULL);
    vd_status status = to->look.pictures == VD_PICTURE_SIXEL ? encode_sixel(out, composed, to, err)
                                                             : encode_png(out, composed, to, err);
    to->length = out->len;
    to->bytes = g_string_free(out, status != VD_OK);
    return status;
}

void vd_pixels_removal(const vd_grid_image *image, char *out, size_t size)
{
    out[0] = '\0';
    if (image->look.pictures != VD_PICTURE_KITTY)
        return;
    char keys[48];
    snprintf(keys, sizeof keys, "a=d,d=I,i=%u,q=2", image->id);
    g_autoptr(GString) bytes = g_string_new(NULL);
    add_kitty(bytes, image->look.tmux, keys, "", 0);
    g_strlcpy(out, bytes->str, size);
}

#include "tui/screen/layout.h"

static int clamp(int value, int low, int high)
{
    if (high < low)
        high = low;
    return value < low ? low : value > high ? high : value;
}

int vd_clamp(int value, int most)
{
    return clamp(value, 0, most);
}

vd_rect vd_panels_fit(vd_rect room, int picture_width, int picture_height)
{
    if (room.width <= 0 || room.height <= 0)
        return (vd_rect){room.x, room.y, 0, 0};
    bool known = picture_width > 0 && picture_height > 0;
    long long pw = known ? picture_width : 4, ph = known ? picture_height : 3;
    int width = (int)((2LL * room.height * pw + ph / 2) / ph);
    int height = room.height;
    if (width > room.width) {
        width = room.width;
        height = (int)((room.width * ph + pw) / (2 * pw));
    }
    width = clamp(width, 1, room.width);
    height = clamp(height, 1, room.height);
    return (vd_rect){room.x + (room.width - width) / 2, room.y + (room.height - height) / 2, width,
                     height};
}

static vd_panels frame(int width, int height)
{
    vd_panels layout = {0};
    if (width < VD_LEAST_WIDTH || height < VD_LEAST_HEIGHT)
        return layout;
    layout.status = (vd_rect){0, 0, width, 1};
    layout.line = (vd_rect){0, height - 2, width, 1};
    layout.hints = (vd_rect){0, height - 1, width, 1};
    return layout;
}

vd_panels vd_panels_full(int width, int height, int side)
{
    vd_panels layout = frame(width, height);
    if (!layout.status.height)
        return layout;
    layout.shape = VD_SHAPE_COLUMNS;
    bool fits = side > 0 && width >= side + 46;
    int main_width = fits ? width - side - 1 : width;
    layout.picture = (vd_rect){0, 1, main_width, height - 3};
    if (fits)
        layout.attention = (vd_rect){main_width + 1, 1, side, height - 3};
    return layout;
}

// Picture and panels side by side above, dialog below.
static void band(vd_panels *layout, int width, int height, int pw, int ph, int caption)
{
    layout->shape = VD_SHAPE_BAND;
    int caption_rows = clamp((caption + width - 2) / (width - 1), 1, 2);
    int room = height - 3 - caption_rows; // picture and dialog
    int rows = clamp(room * 2 / 3, 9, room - 4);
    vd_rect fit = vd_panels_fit((vd_rect){0, 1, width - 42, rows}, pw, ph);
    int right = fit.width + 2;
    layout->picture = (vd_rect){0, 1, fit.width, rows};
    int answer_rows = clamp(rows / 2, 4, 12);
    layout->answers = (vd_rect){right, 1, width - right, answer_rows};
    layout->attention = (vd_rect){right, 1 + answer_rows, width - right, rows - answer_rows};
    layout->caption = (vd_rect){0, 1 + rows, width, caption_rows};
    layout->dialog = (vd_rect){0, 1 + rows + caption_rows, width, room - rows};
}

// Picture, caption and attention left; answers and dialog right.
static void columns(vd_panels *layout, int width, int height, int pw, int ph, int caption)
{
    layout->shape = VD_SHAPE_COLUMNS;
    int room = height - 3;
    vd_rect fit = vd_panels_fit((vd_rect){0, 1, width * 11 / 20, room * 2 / 3}, pw, ph);
    int left = fit.width < 48 ? 48 : fit.width;
    int caption_rows = clamp((caption + left - 2) / (left - 1), 1, 3);
    layout->picture = (vd_rect){0, 1, left, fit.height};
    layout->caption = (vd_rect){0, 1 + fit.height, left, caption_rows};
    int below = 1 + fit.height + caption_rows + 1;
    layout->attention = (vd_rect){0, below, left, height - 2 - below};
    int right = left + 2;
    int answer_rows = clamp(room * 2 / 5, 8, 22);
    layout->answers = (vd_rect){right, 1, width - right, answer_rows - 1};
    layout->dialog = (vd_rect){right, 1 + answer_rows, width - right, room - answer_rows};
}

// A narrow terminal that is tall: picture, answers and dialog below each other.
static void tower(vd_panels *layout, int width, int height, int pw, int ph)
{
    int room = height - 3;
    layout->picture = vd_panels_fit((vd_rect){0, 1, width, room - 14}, pw, ph);
    layout->picture.x = 0;
    layout->picture.y = 1;
    layout->picture.width = width;
    int y = 1 + layout->picture.height;
    room -= layout->picture.height;
    int answer_rows = clamp(room / 3, 3, 8);
    int attention_rows = room - answer_rows >= 10 ? 5 : 0;
    layout->answers = (vd_rect){0, y, width, answer_rows};
    layout->attention = (vd_rect){0, y + answer_rows, width, attention_rows};
    y += answer_rows + attention_rows;
    layout->dialog = (vd_rect){0, y, width, height - 2 - y};
}

// A small one: the picture beside the answers takes a third of the width, the dialog lies below.
static void compact(vd_panels *layout, int width, int height, int pw, int ph)
{
    layout->shape = VD_SHAPE_COMPACT;
    int room = height - 3;
    if (room >= 22 && width < 72) {
        tower(layout, width, height, pw, ph);
        return;
    }
    int rows = clamp(room * 5 / 9, 4, room - 4);
    vd_rect fit = vd_panels_fit((vd_rect){0, 1, width / 3, rows}, pw, ph);
    int right = fit.width + 1;
    layout->picture = (vd_rect){0, 1, fit.width, rows};
    layout->answers = (vd_rect){right, 1, width - right, rows};
    layout->dialog = (vd_rect){0, 1 + rows, width, room - rows};
}

vd_panels vd_panels_chat(int width, int height, int picture_width, int picture_height, int caption)
{
    vd_panels layout = frame(width, height);
    if (!layout.status.height)
        return layout;
    if (width >= 110 && height >= 32)
        columns(&layout, width, height, picture_width, picture_height, caption);
    else if (width >= 72 && height >= 20)
        band(&layout, width, height, picture_width, picture_height, caption);
    else
        compact(&layout, width, height, picture_width, picture_height);
    return layout;
}

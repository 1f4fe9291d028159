// The words of a caption in lines, those of two captions beneath each other. Above a word stands
// what it got: from the history (w, beside what it would be with equal scores), or through the gate
// of sat. Below it stands what the selected word got from its entry of the history.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chat/views/draw.h"

enum { MOST = VD_CAPTION_SIDES * VD_SIDE_WORDS };
#define LEAST_LINK 0.05 // of the history's entries those that give more are shown

typedef struct band {
    vd_chat *chat;
    vd_grid *grid;
    const vd_caption_sheet *sheet;
    vd_rect at;
    int label, curve;                            // columns before the words, rows of a curve
    double top;                                  // of a curve
    int x[MOST], width[MOST], line[MOST], lines; // of a column: where it stands
} band;

static bool has_history(const band *b, int side)
{
    return b->sheet->side[side].trace.history != NULL;
}

static bool has_curve(const band *b, int side)
{
    return has_history(b, side) || b->sheet->side[side].trace.word[0].gate >= 0;
}

static double curve_of(const band *b, int side, int word)
{
    const vd_caption_side *c = &b->sheet->side[side];
    return has_history(b, side) ? vd_caption_side_given(c, word, vd_chat_look_layer(b->chat, c),
                                                        vd_chat_look_head(b->chat, c))
                                : c->trace.word[word].gate;
}

static double highest(const band *b)
{
    double most = 0.1;
    for (int s = 0; s < b->sheet->sides; s++)
        for (int t = 0; t < b->sheet->side[s].trace.words && has_curve(b, s); t++)
            most =
                fmax(most, fmax(curve_of(b, s, t), vd_caption_side_chance(&b->sheet->side[s], t)));
    return most;
}

// ---- where words stand --------------------------------------------------------------------------

static int column_width(const band *b, int column)
{
    int width = 1;
    for (int s = 0; s < b->sheet->sides; s++) {
        int t = vd_caption_sheet_word(b->sheet, s, column);
        const char *text = t < 0 ? "-" : b->sheet->side[s].word[t];
        int own = vd_text_width(text, strlen(text)) + vd_caption_sheet_differs(b->sheet, column);
        int least = has_history(b, s) ? 3 : 1; // a bar and two digits
        own = own < least ? least : own;
        width = own > width ? own : width;
    }
    return width;
}

static void place_columns(band *b)
{
    int x = b->label;
    for (int i = 0; i < b->sheet->rows; i++) {
        b->width[i] = column_width(b, i);
        if (x + b->width[i] > b->at.width && x > b->label) {
            x = b->label;
            b->lines++;
        }
        b->x[i] = b->at.x + x;
        b->line[i] = b->lines;
        x += b->width[i] + 1;
    }
    b->lines++;
}

static int rows_of_side(const band *b, int side)
{
    return 1 + has_history(b, side) + (has_curve(b, side) ? b->curve : 0);
}

// ---- rows ---------------------------------------------------------------------------------------

// A bar over several rows, from its foot up.
static void draw_bar(vd_grid *grid, int x, int foot, int rows, double fraction, vd_role role)
{
    for (int r = 0; r < rows; r++)
        if (r == 0 || fraction * rows > r)
            vd_grid_level(grid, x, foot - r, fraction * rows - r, role);
}

static void draw_curve(const band *b, int side, int column, int foot)
{
    int t = vd_caption_sheet_word(b->sheet, side, column);
    if (t < 0)
        return;
    double chance = vd_caption_side_chance(&b->sheet->side[side], t);
    draw_bar(b->grid, b->x[column], foot, b->curve, curve_of(b, side, t) / b->top,
             VD_ROLE_BAR_WORD);
    if (chance >= 0)
        draw_bar(b->grid, b->x[column] + 1, foot, b->curve, chance / b->top, VD_ROLE_FAINT);
}

static vd_role role_of(const band *b, int side, int column)
{
    int selected = b->chat->nav.caption.column;
    if (column == selected)
        return side == vd_chat_words_shown(b->chat, b->sheet) ? VD_ROLE_SELECTED : VD_ROLE_QUESTION;
    int t = vd_caption_sheet_word(b->sheet, side, column);
    if (t >= 0 && !vd_caption_side_knows(&b->sheet->side[side], t))
        return VD_ROLE_UNKNOWN;
    return column > selected                            ? VD_ROLE_FAINT
           : vd_caption_sheet_differs(b->sheet, column) ? VD_ROLE_MATCH
                                                        : VD_ROLE_TEXT;
}

static void draw_word(const band *b, int side, int column, int y)
{
    int t = vd_caption_sheet_word(b->sheet, side, column);
    int used = vd_grid_text(b->grid, b->x[column], y, b->at.x + b->at.width - b->x[column],
                            t < 0 ? "-" : b->sheet->side[side].word[t], role_of(b, side, column));
    if (t >= 0 && vd_caption_sheet_differs(b->sheet, column))
        vd_grid_text(b->grid, b->x[column] + used, y, 1, "*", VD_ROLE_NOTE);
    vd_spot_add(&b->chat->nav, (vd_rect){b->x[column], y, b->width[column] + 1, 1}, "/word %d",
                column + 1);
}

// What the selected word got from this one's entry, its own apart.
static void draw_link(const band *b, int side, int column, int y)
{
    const vd_caption_side *c = &b->sheet->side[side];
    int t = vd_caption_sheet_word(b->sheet, side, column),
        now = vd_caption_sheet_word(b->sheet, side, b->chat->nav.caption.column);
    float history[VD_SIDE_WORDS];
    char text[8];
    if (t < 0 || now < t)
        return;
    vd_caption_trace_look(&c->trace, now, vd_chat_look_layer(b->chat, c),
                          vd_chat_look_head(b->chat, c), NULL, history);
    double share = (double)history[t];
    if (share <= LEAST_LINK)
        return;
    vd_role role = t == now ? VD_ROLE_NOTE : share >= 0.25 ? VD_ROLE_QUESTION : VD_ROLE_TEXT;
    snprintf(text, sizeof text, "%.0f", 100 * share);
    vd_grid_level(b->grid, b->x[column], y, share, t == now ? VD_ROLE_NOTE : VD_ROLE_BAR_WORD);
    vd_grid_text(b->grid, b->x[column] + 1, y, b->width[column] - 1, text, role);
}

static void draw_label(const band *b, int y, const char *text)
{
    vd_grid_text(b->grid, b->at.x, y, b->label, text, VD_ROLE_TITLE);
}

// Returns the row behind it.
static int draw_side(const band *b, int side, int line, int y)
{
    int words = y + (has_curve(b, side) ? b->curve : 0);
    if (words > y)
        draw_label(b, words - 1, has_history(b, side) ? "w" : "g");
    draw_label(b, words, b->sheet->sides == 1 ? "" : vd_caption_letter(side));
    for (int i = 0; i < b->sheet->rows; i++) {
        if (b->line[i] != line)
            continue;
        if (words > y)
            draw_curve(b, side, i, words - 1);
        draw_word(b, side, i, words);
        if (has_history(b, side))
            draw_link(b, side, i, words + 1);
    }
    return y + rows_of_side(b, side);
}

int vd_draw_caption_words(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_caption_sheet *sheet)
{
    band b = {.chat = chat, .grid = grid, .sheet = sheet, .at = at};
    bool curves = has_curve(&b, 0) || (sheet->sides > 1 && has_curve(&b, 1));
    b.label = sheet->sides > 1 || curves ? 2 : 0;
    b.curve = at.height >= 14 ? 3 : at.height >= 8 ? 1 : 0;
    b.top = highest(&b);
    place_columns(&b);
    int each = rows_of_side(&b, 0) + (sheet->sides > 1 ? rows_of_side(&b, 1) : 0);
    int fit = at.height / each < 1 ? 1 : at.height / each;
    int first = vd_clamp(b.line[vd_clamp(chat->nav.caption.column, sheet->rows - 1)] - fit + 1,
                         b.lines - fit);
    int last = first + fit < b.lines ? first + fit : b.lines, y = at.y;
    for (int line = first; line < last; line++) {
        y = draw_side(&b, 0, line, y);
        if (sheet->sides > 1)
            y = draw_side(&b, 1, line, y);
    }
    return y - at.y;
}

// The frame of the chat screen, what fills the whole screen, and the dialog.
#include <string.h>
#include <strings.h>

#include "tui/theme.h"
#include "tui/view_chat.h"

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

// ---- status, question line, last row -----------------------------------------------------------

static void draw_status(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    vd_style plain = role(grid, VD_ROLE_STATUS), name = role(grid, VD_ROLE_STATUS_NAME);
    vd_grid_fill(grid, at, plain);
    char text[256];
    int x = vd_grid_text(grid, at.x, at.y, at.width, " visdial ", name);
    void *context = chat->source.context;
    snprintf(text, sizeof text, at.width >= 72 ? " picture %zu/%zu  id %lld" : " %zu/%zu",
             chat->index + 1, chat->source.count(context),
             (long long)chat->source.image_id(context, chat->index));
    x += vd_grid_text(grid, x, at.y, at.width - x, text, plain);

    const vd_round *shown = vd_chat_shown(chat);
    char time[32] = "";
    if (shown)
        snprintf(time, sizeof time, "  %.*f ms", shown->reply.answer.milliseconds < 9.95 ? 1 : 0,
                 shown->reply.answer.milliseconds);
    bool waiting = chat->loading[0] || vd_chat_busy(chat) || !chat->model[0];
    if (chat->loading[0])
        snprintf(text, sizeof text, "loading %s ", chat->loading);
    else if (!chat->model[0])
        snprintf(text, sizeof text, "no model ");
    else if (vd_chat_busy(chat))
        snprintf(text, sizeof text, "%s is thinking ", chat->model);
    else
        snprintf(text, sizeof text, "%s  %s%s%s ", chat->model, chat->backend, time,
                 at.width >= 60 ? "  F1 help" : "");
    vd_grid_right(grid, x + 1, at.y, at.width - x - 1, text,
                  waiting ? role(grid, VD_ROLE_STATUS_WARN) : plain);
}

static void draw_line(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    bool filtering = chat->place == VD_PLACE_ANSWERS;
    const vd_line *line = filtering ? &chat->filter : &chat->line;
    int x = vd_grid_text(grid, at.x, at.y, at.width, filtering ? " filter> " : " > ",
                         role(grid, VD_ROLE_PROMPT));
    int width = at.width - x;
    vd_line_view view = vd_line_visible(line, width);
    vd_grid_plain(grid, x, at.y, width, line->text + view.first, view.length,
                  role(grid, VD_ROLE_TEXT));
    vd_style faint = role(grid, VD_ROLE_FAINT);
    if (line->length == 0 && !filtering)
        vd_grid_text(grid, x, at.y, width,
                     vd_chat_busy(chat)  ? "thinking... Ctrl-C stops"
                     : chat->round_count ? "ask on, or / for commands"
                     : width >= 56       ? "ask about the picture (Tab: a question people asked)"
                                         : "ask about the picture (Tab: an idea)",
                     faint);
    if (view.more_left)
        vd_grid_put(grid, x - 1, at.y, 0x2039, '<', role(grid, VD_ROLE_PROMPT));
    if (view.more_right)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x203A, '>', role(grid, VD_ROLE_PROMPT));
    if (chat->place != VD_PLACE_HELP) {
        grid->cursor_x = x + view.column;
        grid->cursor_y = at.y;
    }
}

static void draw_hints(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    if (chat->message[0]) {
        vd_grid_text(grid, at.x + 1, at.y, at.width - 2, chat->message,
                     role(grid, chat->message_wrong ? VD_ROLE_WRONG : VD_ROLE_NOTE));
        return;
    }
    char hints[256];
    vd_keymap_hints(chat->place, at.width - 2, hints, sizeof hints);
    vd_grid_text(grid, at.x + 1, at.y, at.width - 2, hints, role(grid, VD_ROLE_FAINT));
}

// Text over several lines; returns the rows used.
static int draw_wrapped(vd_grid *grid, vd_rect at, const char *text, vd_style style)
{
    size_t length = strlen(text), offset = 0;
    vd_text_line line;
    int rows = 0;
    while (rows < at.height && vd_wrap_next(text, length, at.width, &offset, &line)) {
        bool last = rows == at.height - 1;
        size_t rest = last ? length - line.start : line.length; // cut with an ellipsis
        vd_grid_text_n(grid, at.x, at.y + rows, at.width, text + line.start, rest, style);
        rows++;
    }
    return rows;
}

// ---- picture -----------------------------------------------------------------------------------

static void draw_outlines(vd_chat *chat, vd_grid *grid, vd_rect place)
{
    const vd_round *round = vd_chat_shown(chat);
    if (!round || !chat->boxes || chat->no_outlines || round->reply.answer.regions != chat->regions)
        return;
    vd_share top[VD_OUTLINES];
    int count =
        vd_shares_top(round->reply.answer.region_attention, chat->regions, 0.9, top, VD_OUTLINES);
    vd_outline outlines[VD_OUTLINES];
    for (int i = 0; i < count; i++) {
        outlines[i] = (vd_outline){.share = top[i].share, .number = i + 1};
        memcpy(outlines[i].box, chat->boxes + 4 * top[i].index, sizeof outlines[i].box);
    }
    vd_picture_outline(grid, place, outlines, count);
}

static void draw_picture(vd_chat *chat, vd_grid *grid, vd_rect room)
{
    if (room.width <= 0 || room.height <= 0)
        return;
    vd_rect place = vd_panels_fit(room, chat->picture.image.width, chat->picture.image.height);
    vd_error error = {0};
    if (chat->picture_error[0] || vd_picture_draw(&chat->picture, grid, place, &error)) {
        draw_wrapped(grid, (vd_rect){room.x + 1, room.y, room.width - 2, room.height},
                     chat->picture_error[0] ? chat->picture_error : error.text,
                     role(grid, VD_ROLE_WRONG));
        return;
    }
    draw_outlines(chat, grid, place);
}

static const char *caption_of(const vd_chat *chat)
{
    return chat->source.caption(chat->source.context, chat->index);
}

static void draw_caption(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    if (at.height <= 0)
        return;
    vd_style style = role(grid, VD_ROLE_TEXT);
    style.attributes |= VD_ITALIC;
    draw_wrapped(grid, (vd_rect){at.x + 1, at.y, at.width - 1, at.height}, caption_of(chat), style);
}

// ---- dialog ------------------------------------------------------------------------------------

// One row of the dialog: a part of a text, or an answer's line with what is known about it.
typedef struct dialog_row {
    int round;         // -1: the caption
    bool first;        // the row with the number
    bool answer, last; // last: the figures go at its end
    const char *text;
    size_t length;
} dialog_row;

enum { MOST_ROWS = 4000 };

// Calls the rows one by one; returns how many there are. With out NULL it only counts.
static int dialog_rows(const vd_chat *chat, int width, dialog_row *out, int from, int room)
{
    int count = 0;
    // Where the caption stands right above the dialog it is not said twice.
    int from_round = chat->layout.shape == VD_SHAPE_BAND ? 0 : -1;
    for (int i = from_round; i < (int)chat->round_count; i++) {
        const vd_round *round = i >= 0 ? &chat->rounds[i] : NULL;
        for (int part = 0; part < 2; part++) {
            const char *text = !round           ? caption_of(chat)
                               : part == 0      ? round->typed
                               : round->pending ? "..."
                                                : vd_round_answer(round, round->chosen);
            if (!round && part == 1)
                continue;
            // Figures stand behind the answer: "62 %  improved".
            int inner = width - 3 - (part == 1 ? 18 : 0);
            size_t length = strlen(text), offset = 0;
            vd_text_line line;
            bool first = true;
            while (vd_wrap_next(text, length, inner < 8 ? 8 : inner, &offset, &line)) {
                dialog_row row = {.round = i,
                                  .first = first && part == 0,
                                  .answer = part == 1,
                                  .last = part == 1 && first,
                                  .text = text + line.start,
                                  .length = line.length};
                if (out && count >= from && count < from + room)
                    out[count - from] = row;
                count++;
                first = false;
            }
        }
    }
    return count;
}

static void mark_matches(vd_chat *chat, vd_grid *grid, int x, int y, const dialog_row *row)
{
    size_t length = strlen(chat->search);
    for (size_t at = 0; length && at + length <= row->length; at++)
        if (strncasecmp(row->text + at, chat->search, length) == 0)
            vd_grid_plain(grid, x + vd_text_width(row->text, at), y, grid->width, row->text + at,
                          length, role(grid, VD_ROLE_MATCH));
}

static void draw_figures(vd_grid *grid, vd_rect at, const vd_round *round)
{
    char percent[16] = "?", text[64];
    const vd_answer *answer = &round->reply.answer;
    if (round->chosen >= 0 && round->chosen < answer->candidates)
        vd_percent(percent, sizeof percent, answer->probability[round->chosen]);
    bool own = answer->candidates > 0 && round->chosen != answer->order[0];
    snprintf(text, sizeof text, "%s%6s %.20s", own ? "chosen " : "", percent, round->model);
    int width = (int)strlen(text);
    if (width > at.width)
        return;
    vd_grid_right(grid, at.x, at.y, at.width, text, role(grid, VD_ROLE_FAINT));
}

void vd_chat_draw_dialog(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    static dialog_row rows[VD_GRID_MAX];
    if (at.height <= 0 || at.width < 20)
        return;
    int total = dialog_rows(chat, at.width, NULL, 0, 0);
    chat->page = at.height;
    chat->scroll_most = total > at.height ? total - at.height : 0;
    int top =
        chat->scroll_most - (chat->scroll < chat->scroll_most ? chat->scroll : chat->scroll_most);
    if (chat->follow) { // the selected round's first row comes into sight
        int row = 0;
        int wanted = chat->selected >= 0 ? chat->selected : (int)chat->round_count - 1;
        dialog_row one;
        while (row < total && dialog_rows(chat, at.width, &one, row, 1) > row &&
               one.round != wanted)
            row++;
        if (row < top)
            top = row;
        else if (row > top + at.height - 2)
            top = row - at.height + 2;
        top = top > chat->scroll_most ? chat->scroll_most : top < 0 ? 0 : top;
        chat->follow = false;
    }
    chat->scroll = chat->scroll_most - top;
    dialog_rows(chat, at.width, rows, top, at.height);
    const vd_round *shown = vd_chat_shown(chat);
    for (int i = 0; i < at.height && top + i < total; i++) {
        const dialog_row *row = &rows[i];
        const vd_round *round = row->round >= 0 ? &chat->rounds[row->round] : NULL;
        int y = at.y + i, x = at.x + 3;
        if (y < VD_GRID_MAX)
            chat->row_round[y] = round && !round->pending ? row->round : -1;
        if (row->first && round) {
            char number[24];
            snprintf(number, sizeof number, "%2d", row->round + 1);
            vd_grid_text(grid, at.x, y, 3, number,
                         role(grid, round == shown ? VD_ROLE_PROMPT : VD_ROLE_FAINT));
        }
        bool chosen_round = chat->selected >= 0 && round == shown;
        vd_style style = role(grid, !round        ? VD_ROLE_FAINT
                                    : row->answer ? VD_ROLE_ANSWER
                                                  : VD_ROLE_QUESTION);
        if (chosen_round) // which round the panels show
            vd_grid_put(grid, at.x + 2, y, 0x258C, '|', role(grid, VD_ROLE_PROMPT));
        vd_grid_text_n(grid, x, y, at.width - 3, row->text, row->length, style);
        mark_matches(chat, grid, x, y, row);
        if (row->last && round && !round->pending) {
            int used = vd_text_width(row->text, row->length) + 4;
            draw_figures(grid, (vd_rect){at.x + used, y, at.width - used, 1}, round);
        }
    }
    vd_style mark = role(grid, VD_ROLE_NOTE);
    if (top > 0)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x2191, '^', mark);
    if (top < chat->scroll_most)
        vd_grid_put(grid, at.x + at.width - 1, at.y + at.height - 1, 0x2193, 'v', mark);
}

// ---- help --------------------------------------------------------------------------------------

static void draw_help(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    static const char *const titles[VD_PLACES] = {
        [VD_PLACE_CHAT] = "Keys in the chat",
        [VD_PLACE_ZOOM] = "Keys while the picture fills the screen",
        [VD_PLACE_ANSWERS] = "Keys in the list of answers",
        [VD_PLACE_DETAIL] = "Keys in the attention view",
        [VD_PLACE_HELP] = "Keys of the help",
    };
    int row = -chat->help_scroll, left = at.width >= 70 ? 24 : 16;
    char keys[96];
    const char *meaning;
    vd_style key_style = role(grid, VD_ROLE_PROMPT), text = role(grid, VD_ROLE_TEXT);
    vd_style title = role(grid, VD_ROLE_TITLE);
#define VISIBLE(r) ((r) >= 0 && (r) < at.height)
    if (VISIBLE(row))
        vd_grid_text(grid, at.x + 1, at.y + row, at.width - 2, titles[chat->before_help], title);
    row++;
    for (int section = 0; section < 2; section++) {
        if (section == 1) {
            row++;
            if (VISIBLE(row))
                vd_grid_text(grid, at.x + 1, at.y + row, at.width - 2, "Commands (Tab completes)",
                             title);
            row++;
        }
        for (size_t i = 0;
             section == 0 ? vd_keymap_help(chat->before_help, i, keys, sizeof keys, &meaning)
                          : vd_chat_command_help(i, keys, sizeof keys, &meaning);
             i++) {
            size_t length = strlen(meaning), offset = 0;
            vd_text_line line;
            for (bool first = true;
                 vd_wrap_next(meaning, length, at.width - left - 2, &offset, &line);
                 first = false, row++) {
                if (!VISIBLE(row))
                    continue;
                if (first)
                    vd_grid_text(grid, at.x + 1, at.y + row, left - 2, keys, key_style);
                vd_grid_text_n(grid, at.x + left, at.y + row, at.width - left - 1,
                               meaning + line.start, line.length, text);
            }
        }
    }
#undef VISIBLE
    int total = row + chat->help_scroll;
    chat->page = at.height;
    chat->scroll_most = total > at.height ? total - at.height : 0;
    if (chat->help_scroll < chat->scroll_most)
        vd_grid_put(grid, at.x + at.width - 1, at.y + at.height - 1, 0x2193, 'v',
                    role(grid, VD_ROLE_NOTE));
}

// ---- everything --------------------------------------------------------------------------------

static void draw_too_small(vd_grid *grid)
{
    char text[96];
    snprintf(text, sizeof text, "visdial needs %dx%d; this is %dx%d", VD_LEAST_WIDTH,
             VD_LEAST_HEIGHT, grid->width, grid->height);
    draw_wrapped(grid, (vd_rect){0, 0, grid->width, grid->height}, text,
                 vd_theme(grid->look, VD_ROLE_TEXT));
}

void vd_chat_draw(vd_chat *chat, vd_grid *grid)
{
    vd_grid_clear(grid);
    memset(chat->row_round, -1, sizeof chat->row_round);
    chat->page = chat->scroll_most = 0;
    const char *caption = caption_of(chat);
    int caption_width = vd_text_width(caption, strlen(caption));
    const vd_image *image = &chat->picture.image;
    if (chat->place == VD_PLACE_CHAT)
        chat->layout =
            vd_panels_chat(grid->width, grid->height, image->width, image->height, caption_width);
    else
        chat->layout =
            vd_panels_full(grid->width, grid->height, chat->place == VD_PLACE_ZOOM ? 26 : 0);
    vd_panels *layout = &chat->layout;
    if (layout->shape == VD_SHAPE_NONE) {
        draw_too_small(grid);
        return;
    }
    draw_status(chat, grid, layout->status);
    vd_rect full = layout->picture;
    switch (chat->place) {
    case VD_PLACE_HELP:
        draw_help(chat, grid, full);
        break;
    case VD_PLACE_ANSWERS:
        vd_chat_draw_answer_list(chat, grid, full);
        break;
    case VD_PLACE_DETAIL:
        vd_chat_draw_detail(chat, grid, full);
        break;
    case VD_PLACE_ZOOM:
        draw_caption(chat, grid, (vd_rect){full.x, full.y + full.height - 1, full.width, 1});
        full.height--;
        draw_picture(chat, grid, full);
        vd_chat_draw_attention(chat, grid, layout->attention);
        break;
    default:
        draw_picture(chat, grid, full);
        draw_caption(chat, grid, layout->caption);
        vd_chat_draw_answers(chat, grid, layout->answers);
        vd_chat_draw_attention(chat, grid, layout->attention);
        vd_chat_draw_dialog(chat, grid, layout->dialog);
    }
    draw_line(chat, grid, layout->line);
    draw_hints(chat, grid, layout->hints);
}

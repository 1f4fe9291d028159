// The dialog: what was asked and answered, scrolled, searched, one round selected.
#include <string.h>
#include <strings.h>

#include "engine/base/alloc.h"
#include "tui/screen/theme.h"
#include "tui/chat/views/draw.h"

// One row of the dialog: a part of a text, or an answer's line with what is known about it.
typedef struct dialog_row {
    int round;         // -1: the caption
    bool first;        // the row with the number
    bool remark;       // the program's, about the question
    bool answer, last; // last: the figures go at its end
    const char *text;
    size_t length;
} dialog_row;

enum { QUESTION, REMARK, ANSWER, PARTS }; // of a round

static const char *remark_of(const vd_response *response)
{
    return response->ready && response->reply.remark ? response->reply.remark : "";
}

// The rows of one entry (-1: the caption); returns how many there are. `from` .. from + room - 1 of
// them go into out, which may be NULL.
static int entry_rows(const vd_chat *chat, int entry, int width, dialog_row *out, int from,
                      int room)
{
    int count = 0;
    const vd_round *round = entry >= 0 ? &chat->conversation.branch->rounds[entry] : NULL;
    const vd_response *response = round ? &round->response[chat->nav.lane] : NULL;
    for (int part = QUESTION; part < (round ? PARTS : REMARK); part++) {
        const char *text = !round             ? vd_caption_line(chat)
                           : part == QUESTION ? round->typed
                           : part == REMARK   ? remark_of(response)
                           : !response->ready ? "..."
                                              : vd_response_text(response, response->chosen);
        // Figures stand behind the answer: "62 %  improved".
        int inner = width - 3 - (part == ANSWER ? 18 : 0);
        size_t length = strlen(text), offset = 0;
        vd_text_line line;
        bool first = true;
        while (vd_wrap_next(text, length, inner < 8 ? 8 : inner, &offset, &line)) {
            if (out && count >= from && count < from + room)
                out[count - from] = (dialog_row){.round = entry,
                                                 .first = first && part == QUESTION,
                                                 .remark = part == REMARK,
                                                 .answer = part == ANSWER,
                                                 .last = part == ANSWER && first,
                                                 .text = text + line.start,
                                                 .length = line.length};
            count++;
            first = false;
        }
    }
    return count;
}

static vd_row_count *kept_count(vd_navigation *nav, size_t entry)
{
    return vd_make_room(&nav->row_counts, &nav->row_count_room, entry + 1, sizeof *nav->row_counts)
               ? &nav->row_counts[entry]
               : NULL;
}

// The same number, kept: a long dialog is not wrapped again for every key.
static int count_rows(vd_chat *chat, int entry, int width)
{
    const vd_response *response =
        entry < 0 ? NULL : &chat->conversation.branch->rounds[entry].response[chat->nav.lane];
    vd_row_count *kept = response && response->ready ? kept_count(&chat->nav, (size_t)entry) : NULL;
    if (!kept)
        return entry_rows(chat, entry, width, NULL, 0, 0);
    if (kept->width != width || kept->stamp != response->stamp || kept->chosen != response->chosen)
        *kept = (vd_row_count){.width = width,
                               .stamp = response->stamp,
                               .chosen = response->chosen,
                               .rows = entry_rows(chat, entry, width, NULL, 0, 0)};
    return kept->rows;
}

// Where the caption stands right above the dialog it is not said twice.
static int first_entry(const vd_chat *chat)
{
    return chat->nav.layout.shape == VD_SHAPE_BAND ? 0 : -1;
}

// Rows of all entries before `end`.
static int rows_before(vd_chat *chat, int end, int width)
{
    int count = 0;
    for (int i = first_entry(chat); i < end; i++)
        count += count_rows(chat, i, width);
    return count;
}

// Fills out (room) from row `top` on.
static void collect_rows(vd_chat *chat, int width, int top, dialog_row *out, int room)
{
    int row = 0;
    for (int i = first_entry(chat); i < (int)chat->conversation.branch->count && row < top + room;
         i++) {
        int count = count_rows(chat, i, width), from = top > row ? top - row : 0;
        int at = row + from - top;
        if (row + count > top)
            entry_rows(chat, i, width, out + at, from, room - at);
        row += count;
    }
}

static void mark_matches(vd_chat *chat, vd_grid *grid, int x, int y, const dialog_row *row)
{
    size_t length = strlen(chat->nav.search);
    for (size_t at = 0; length && at + length <= row->length; at++)
        if (strncasecmp(row->text + at, chat->nav.search, length) == 0)
            vd_grid_plain(grid, x + vd_text_width(row->text, at), y, grid->width, row->text + at,
                          length, vd_style_of(grid, VD_ROLE_MATCH));
}

// The word is one that the model did not know.
static bool is_unknown(const void *context, const char *word)
{
    const vd_reply *reply = context;
    for (int i = 0; i < reply->words; i++)
        if (reply->unknown[i] && strcasecmp(reply->word[i], word) == 0)
            return true;
    return false;
}

static void draw_figures(vd_grid *grid, vd_rect at, const vd_response *response)
{
    char percent[16] = "?", text[64];
    const vd_answer *answer = &response->reply.answer;
    if (response->chosen >= 0 && response->chosen < answer->candidates)
        vd_percent(percent, sizeof percent, answer->probability[response->chosen]);
    bool own = answer->candidates > 0 && response->chosen != answer->order[0];
    snprintf(text, sizeof text, "%s%6s %.20s", own ? "chosen " : "", percent, response->model);
    int width = (int)strlen(text);
    if (width > at.width)
        return;
    vd_grid_right(grid, at.x, at.y, at.width, text, vd_style_of(grid, VD_ROLE_FAINT));
    if (!vd_response_changed(response) || at.width - width < 16)
        return;
    char before[256], was[80];
    vd_response_before(response, before, sizeof before);
    snprintf(was, sizeof was, "was %.70s", before);
    vd_grid_text(grid, at.x + 1, at.y, at.width - width - 3, was, vd_style_of(grid, VD_ROLE_NOTE));
}

// Columns for the number of a round and the mark of the selected one.
static int gutter_width(const vd_chat *chat)
{
    int digits = snprintf(NULL, 0, "%zu", chat->conversation.branch->count);
    return digits < 2 ? 3 : digits + 1;
}

void vd_draw_dialog(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    static dialog_row rows[VD_GRID_MAX];
    if (at.height <= 0 || at.width < 20)
        return;
    int gutter = gutter_width(chat), width = at.width - gutter + 3;
    int total = rows_before(chat, (int)chat->conversation.branch->count, width);
    chat->nav.seen = at.height;
    chat->nav.scroll_most = total > at.height ? total - at.height : 0;
    int top = chat->nav.scroll_most -
              (chat->nav.scroll < chat->nav.scroll_most ? chat->nav.scroll : chat->nav.scroll_most);
    if (chat->nav.reveal) { // the selected round's first row comes into sight
        int wanted = chat->nav.selected >= 0 ? chat->nav.selected
                                             : (int)chat->conversation.branch->count - 1;
        int row = rows_before(chat, wanted, width);
        if (row < top)
            top = row;
        else if (row > top + at.height - 2)
            top = row - at.height + 2;
        top = top > chat->nav.scroll_most ? chat->nav.scroll_most : top < 0 ? 0 : top;
        chat->nav.reveal = false;
    }
    chat->nav.scroll = chat->nav.scroll_most - top;
    collect_rows(chat, width, top, rows, at.height < VD_GRID_MAX ? at.height : VD_GRID_MAX);
    const vd_round *shown = vd_chat_round(chat);
    for (int i = 0; i < at.height && i < VD_GRID_MAX && top + i < total; i++) {
        const dialog_row *row = &rows[i];
        const vd_round *round =
            row->round >= 0 ? &chat->conversation.branch->rounds[row->round] : NULL;
        const vd_response *response = round ? &round->response[chat->nav.lane] : NULL;
        int y = at.y + i, x = at.x + gutter;
        if (response && response->ready)
            vd_spot_add(&chat->nav, (vd_rect){at.x, y, at.width, 1}, "/round %d", row->round + 1);
        if (row->first && round) {
            char number[24];
            snprintf(number, sizeof number, "%*d", gutter - 1, row->round + 1);
            vd_grid_text(grid, at.x, y, gutter, number,
                         vd_style_of(grid, round == shown ? VD_ROLE_PROMPT : VD_ROLE_FAINT));
        }
        bool chosen_round = chat->nav.selected >= 0 && round == shown;
        vd_style style = vd_style_of(grid, !round        ? VD_ROLE_FAINT
                                           : row->remark ? VD_ROLE_NOTE
                                           : row->answer ? VD_ROLE_ANSWER
                                                         : VD_ROLE_QUESTION);
        if (chosen_round) // which round the panels show
            vd_grid_put(grid, at.x + gutter - 1, y, 0x258C, '|', vd_style_of(grid, VD_ROLE_PROMPT));
        vd_grid_text_n(grid, x, y, at.width - gutter, row->text, row->length, style);
        if (response && response->ready && !row->remark && !row->answer)
            vd_mark_words(grid, x, y, at.width - gutter, row->text, row->length, is_unknown,
                          &response->reply);
        mark_matches(chat, grid, x, y, row);
        if (row->last && response && response->ready) {
            int used = vd_text_width(row->text, row->length) + gutter + 1;
            draw_figures(grid, (vd_rect){at.x + used, y, at.width - used, 1}, response);
        }
    }
    vd_draw_more(grid, at, top, chat->nav.scroll_most);
}

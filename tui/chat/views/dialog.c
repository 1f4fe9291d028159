// The dialog: what was asked and answered, scrolled, searched, one round selected.
#include <string.h>
#include <strings.h>

#include "tui/chat/views/draw.h"

typedef enum row_kind {
    CAPTION,
    TALK, // small talk, and what the program replied
    REPLY,
    QUESTION,
    REMARK, // the program's, about the question
    ANSWER
} row_kind;

// One row of the dialog: a part of a text, or an answer's line with what is known about it.
typedef struct dialog_row {
    row_kind kind;
    int round;  // -1: none
    bool first; // of its text: the number goes before it, or the figures at its end
    const char *text;
    size_t length;
} dialog_row;

// Rows `from` .. from + room - 1 of those that are added go into out, which may be NULL.
typedef struct row_list {
    dialog_row *out;
    int from, room;
    int count; // of all that were added
} row_list;

// What is shown, in rows of this width.
typedef struct dialog {
    vd_chat *chat;
    const char *caption; // vd_caption_line
    int width;
} dialog;

static void add_rows(row_list *list, row_kind kind, int round, const char *text, int width)
{
    size_t length = strlen(text), offset = 0;
    vd_text_line line;
    bool first = true;
    while (vd_wrap_next(text, length, width < 8 ? 8 : width, &offset, &line)) {
        int at = list->count++ - list->from;
        if (list->out && at >= 0 && at < list->room)
            list->out[at] = (dialog_row){kind, round, first, text + line.start, line.length};
        first = false;
    }
}

// Small talk before a round; after the last one there may be some, too.
static bool is_before(const vd_branch *branch, const vd_aside *aside, size_t round)
{
    return aside->before == round || (round == branch->count && aside->before > round);
}

static int count_asides(const vd_branch *branch, size_t round)
{
    int count = 0;
    for (size_t i = 0; i < branch->aside_count; i++)
        count += is_before(branch, &branch->asides[i], round);
    return count;
}

static void add_asides(row_list *list, const vd_branch *branch, size_t round, int width)
{
    for (size_t i = 0; i < branch->aside_count; i++)
        if (is_before(branch, &branch->asides[i], round)) {
            add_rows(list, TALK, -1, branch->asides[i].typed, width);
            add_rows(list, REPLY, -1, branch->asides[i].reply, width);
        }
}

// The rows of one entry: a round, -1 the caption, after the last round what was said after it.
static void add_entry(row_list *list, const dialog *d, int entry)
{
    enum { FIGURES = 18 }; // behind the answer: "62 %  improved"
    const vd_branch *branch = d->chat->conversation.branch;
    int inner = d->width - 3;
    if (entry < 0) {
        add_rows(list, CAPTION, -1, d->caption, inner);
        return;
    }
    add_asides(list, branch, (size_t)entry, inner);
    if (!branch->rounds || entry >= (int)branch->count)
        return;
    const vd_round *round = &branch->rounds[entry];
    const vd_response *response = &round->response[d->chat->nav.lane];
    const char *remark = response->ready ? response->reply.remark : NULL;
    const char *answer = response->ready ? vd_response_text(response, response->chosen) : "...";
    add_rows(list, QUESTION, entry, round->typed, inner);
    add_rows(list, REMARK, entry, remark ? remark : "", inner);
    add_rows(list, ANSWER, entry, answer, inner - FIGURES);
}

static int entry_rows(const dialog *d, int entry)
{
    row_list list = {0};
    add_entry(&list, d, entry);
    return list.count;
}

static vd_row_count *kept_count(vd_navigation *nav, guint entry)
{
    if (entry >= nav->row_counts->len)
        g_array_set_size(nav->row_counts, entry + 1);
    return &g_array_index(nav->row_counts, vd_row_count, entry);
}

// The same number, kept: a long dialog is not wrapped again for every key.
static int count_rows(const dialog *d, int entry)
{
    vd_chat *chat = d->chat;
    const vd_branch *branch = chat->conversation.branch;
    bool round = entry >= 0 && entry < (int)branch->count;
    const vd_response *response = round ? &branch->rounds[entry].response[chat->nav.lane] : NULL;
    if (!response || !response->ready)
        return entry_rows(d, entry);
    vd_row_count *kept = kept_count(&chat->nav, (guint)entry);
    int asides = count_asides(branch, (size_t)entry);
    if (kept->width != d->width || kept->stamp != response->stamp ||
        kept->chosen != response->chosen || kept->asides != asides)
        *kept = (vd_row_count){.width = d->width,
                               .stamp = response->stamp,
                               .chosen = response->chosen,
                               .asides = asides,
                               .rows = entry_rows(d, entry)};
    return kept->rows;
}

// Where the caption stands right above the dialog it is not said twice.
static int first_entry(const vd_chat *chat)
{
    return chat->nav.layout.shape == VD_SHAPE_BAND ? 0 : -1;
}

// Rows of all entries before `end`.
static int rows_before(const dialog *d, int end)
{
    int count = 0;
    for (int i = first_entry(d->chat); i < end; i++)
        count += count_rows(d, i);
    return count;
}

// Fills out (room) from row `top` on.
static void collect_rows(const dialog *d, int top, dialog_row *out, int room)
{
    int row = 0, end = (int)d->chat->conversation.branch->count;
    for (int i = first_entry(d->chat); i <= end && row < top + room; i++) {
        int count = count_rows(d, i), from = top > row ? top - row : 0;
        int at = row + from - top;
        row_list list = {.out = out + at, .from = from, .room = room - at};
        if (row + count > top)
            add_entry(&list, d, i);
        row += count;
    }
}

static void mark_matches(vd_chat *chat, vd_grid *grid, int x, int y, const dialog_row *row)
{
    size_t length = strlen(chat->nav.search);
    for (size_t at = 0; length && at + length <= row->length; at++)
        if (strncasecmp(row->text + at, chat->nav.search, length) == 0)
            vd_grid_plain(grid, x + vd_text_width(row->text, at), y, grid->width, row->text + at,
                          length, VD_ROLE_MATCH);
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
    char text[64];
    const vd_answer *answer = &response->reply.answer;
    bool known = response->chosen >= 0 && response->chosen < answer->candidates;
    double share = known ? (double)answer->probability[response->chosen] : -1;
    bool own = answer->candidates > 0 && response->chosen != answer->order[0];
    snprintf(text, sizeof text, "%s%6s %.20s", own ? "chosen " : "", vd_percent(share).text,
             response->model);
    int width = (int)strlen(text);
    if (width > at.width)
        return;
    vd_grid_right(grid, at.x, at.y, at.width, text, VD_ROLE_FAINT);
    if (!vd_response_changed(response) || at.width - width < 16)
        return;
    char before[256], was[80];
    vd_response_before(response, before, sizeof before);
    if (!before[0])
        return;
    snprintf(was, sizeof was, "was %.70s", before);
    vd_grid_text(grid, at.x + 1, at.y, at.width - width - 3, was, VD_ROLE_NOTE);
}

// Columns for the number of a round and the mark of the selected one.
static int gutter_width(const vd_chat *chat)
{
    int digits = snprintf(NULL, 0, "%zu", chat->conversation.branch->count);
    return digits < 2 ? 3 : digits + 1;
}

static void draw_row(vd_chat *chat, vd_grid *grid, vd_rect at, int gutter, const dialog_row *row)
{
    static const vd_role roles[] = {
        [CAPTION] = VD_ROLE_FAINT,     [TALK] = VD_ROLE_QUESTION, [REPLY] = VD_ROLE_NOTE,
        [QUESTION] = VD_ROLE_QUESTION, [REMARK] = VD_ROLE_NOTE,   [ANSWER] = VD_ROLE_ANSWER};
    const vd_round *shown = vd_chat_round(chat);
    const vd_round *round = row->round >= 0 ? &chat->conversation.branch->rounds[row->round] : NULL;
    const vd_response *response = round ? &round->response[chat->nav.lane] : NULL;
    int x = at.x + gutter;
    bool answered = response && response->ready;
    if (answered)
        vd_spot_add(&chat->nav, at, "/round %d", row->round + 1);
    if (row->first && row->kind == QUESTION) {
        char number[24];
        snprintf(number, sizeof number, "%*d", gutter - 1, row->round + 1);
        vd_grid_text(grid, at.x, at.y, gutter, number,
                     round == shown ? VD_ROLE_PROMPT : VD_ROLE_FAINT);
    }
    if (chat->nav.selected >= 0 && round && round == shown) // which round the panels show
        vd_grid_put(grid, x - 1, at.y, 0x258C, '|', VD_ROLE_PROMPT);
    vd_grid_text_n(grid, x, at.y, at.width - gutter, row->text, row->length, roles[row->kind]);
    if (answered && row->kind == QUESTION)
        vd_mark_words(grid, x, at.y, at.width - gutter, row->text, row->length, is_unknown,
                      &response->reply);
    mark_matches(chat, grid, x, at.y, row);
    if (answered && row->kind == ANSWER && row->first) {
        int used = vd_text_width(row->text, row->length) + gutter + 1;
        draw_figures(grid, (vd_rect){at.x + used, at.y, at.width - used, 1}, response);
    }
}

// The first row in sight, of `total`; what was scrolled to is kept in its bounds.
static int first_row(const dialog *d, int height, int total)
{
    vd_navigation *nav = &d->chat->nav;
    vd_places_drawn(&nav->places, total, height);
    int top = nav->places.most - (nav->scroll < nav->places.most ? nav->scroll : nav->places.most);
    if (nav->reveal) { // the selected round's first row comes into sight
        int wanted =
            nav->selected >= 0 ? nav->selected : (int)d->chat->conversation.branch->count - 1;
        int row = rows_before(d, wanted);
        if (row < top)
            top = row;
        else if (row > top + height - 2)
            top = row - height + 2;
        top = vd_clamp(top, nav->places.most);
        nav->reveal = false;
    }
    nav->scroll = nav->places.most - top;
    return top;
}

void vd_draw_dialog(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    static dialog_row rows[VD_GRID_MAX];
    if (at.height <= 0 || at.width < 20)
        return;
    char caption[VD_CAPTION_LINE];
    vd_caption_line(chat, caption);
    int gutter = gutter_width(chat);
    dialog d = {chat, caption, at.width - gutter + 2};
    // A column less where there are marks that there is more: most often, so it is counted first.
    int rounds = (int)chat->conversation.branch->count + 1;
    int total = rows_before(&d, rounds);
    bool more = total > at.height;
    d.width += !more;
    if (!more)
        total = rows_before(&d, rounds);
    int top = first_row(&d, at.height, total);
    int room = at.height < VD_GRID_MAX ? at.height : VD_GRID_MAX;
    collect_rows(&d, top, rows, room);
    for (int i = 0; i < room && top + i < total; i++)
        draw_row(chat, grid, (vd_rect){at.x, at.y + i, at.width - more, 1}, gutter, &rows[i]);
    vd_draw_more(grid, at, top, chat->nav.places.most);
}

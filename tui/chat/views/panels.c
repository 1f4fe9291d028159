// The panels about one answer: ranking, attention over regions, rounds and words.
#include <string.h>

#include "tui/chat/views/draw.h"

// ---- ranking -----------------------------------------------------------------------------------

// "entropy 1.24 bits, margin 48 %", or what of it has room; of answers that are shown as one with
// those with the same meaning, the margin alone, where the first has the largest share.
static void write_figures(const vd_response *response, const vd_sheet_side *side, int room,
                          char *out, size_t size)
{
    double first = vd_sheet_row(side, 0).probability;
    double second = vd_sheet_rows(side) > 1 ? vd_sheet_row(side, 1).probability : 0;
    const vd_percent_text margin = vd_percent(first - second);
    snprintf(out, size, "entropy %.1f bits, margin %s", response->entropy, margin.text);
    if (side->folded || (int)strlen(out) > room)
        snprintf(out, size, "margin %s", margin.text);
    if ((int)strlen(out) > room || first < second)
        out[0] = '\0';
}

void vd_ranking_title(const vd_response *response, const char *start, int room, char *out,
                      size_t size)
{
    const char *path = response->pool.path;
    int candidates = response->reply.answer.candidates;
    int used = snprintf(out, size, "%s of %d%s%s", start, candidates, path ? " in " : "",
                        path ? path : "");
    // Then the file's name alone: a part of the path would name another file.
    for (int cut = 0; path && used > room && cut < 2; cut++) {
        const char *name = cut ? strrchr(path, '/') : NULL;
        used = snprintf(out, size, "%s of %d in %s", start, candidates, name ? name + 1 : path);
    }
}

// The title and what it has room for beside it; without the pool where only then the margin fits.
static void write_title(const vd_chat *chat, const vd_sheet_side *side, int room, char *out,
                        size_t size, char *right, size_t right_size)
{
    enum { MARGIN = 15 };
    const vd_response *response = vd_chat_response(chat);
    int number = (int)(vd_chat_round(chat) - chat->conversation.branch->rounds) + 1;
    char start[32] = "Best", brief[64];
    if (chat->nav.selected >= 0)
        snprintf(start, sizeof start, "Round %d: best", number);
    vd_ranking_title(response, start, room - MARGIN, out, size);
    write_figures(response, side, room - (int)strlen(out) - 2, right, right_size);
    if (right[0])
        return;
    snprintf(brief, sizeof brief, "%s of %d", start, response->reply.answer.candidates);
    write_figures(response, side, room - (int)strlen(brief) - 2, right, right_size);
    if (right[0])
        snprintf(out, size, "%s", brief);
}

void vd_draw_ranking_title(const vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet)
{
    char text[512], right[64];
    write_title(chat, &sheet->side[0], at.width, text, sizeof text, right, sizeof right);
    int used = vd_grid_text(grid, at.x, at.y, at.width, text, VD_ROLE_TITLE);
    vd_grid_right(grid, at.x + used + 1, at.y, at.width - used - 1, right, VD_ROLE_FAINT);
}

// "relevance 1; human answer at place 2: yes": how right people found the answer the conversation
// goes on with, where the model ranks what they answered themselves, and what that was.
static bool human_text(const vd_chat *chat, char *out, size_t size)
{
    const vd_round *round = vd_chat_round(chat);
    const vd_response *response = vd_chat_response(chat);
    const char *human = round ? vd_people_answer(&chat->conversation, round) : NULL;
    if (!human)
        return false;
    int place = vd_response_rank(response, human);
    char rank[32] = "not in the pool", relevance[32] = "";
    if (place >= 0)
        snprintf(rank, sizeof rank, "at place %d", place + 1);
    float known = vd_people_relevance(&chat->conversation, round,
                                      vd_response_text(response, response->chosen));
    if (known >= 0)
        snprintf(relevance, sizeof relevance, "relevance %.2g; ", (double)known);
    snprintf(out, size, "%shuman answer %s: %.100s", relevance, rank, human);
    return true;
}

static void draw_welcome(vd_grid *grid, vd_rect at)
{
    static const char *const lines[] = {
        "Chat about the picture",
        "",
        "Type a question and press Enter.",
        "Tab suggests a question.",
        "F1 lists the keys that work here.",
    };
    bool roomy = at.height >= 5 && at.width >= 40;
    int row = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines && row < at.height; i++) {
        if (!roomy && (i == 0 || i == 1))
            continue;
        vd_rect rest = {at.x + 1, at.y + row, at.width - 1, at.height - row};
        int rows = vd_grid_wrapped(grid, rest, lines[i], i == 0 ? VD_ROLE_TITLE : VD_ROLE_TEXT);
        row += rows > 0 ? rows : 1;
    }
}

void vd_draw_answers(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet)
{
    const vd_response *response = vd_chat_response(chat);
    if (at.height <= 0)
        return;
    if (!response) {
        draw_welcome(grid, at);
        return;
    }
    vd_draw_ranking_title(chat, grid, at, sheet);
    char human[256];
    int rows = at.height - 1;
    if (rows >= 3 && human_text(chat, human, sizeof human)) {
        rows--;
        vd_grid_text(grid, at.x, at.y + at.height - 1, at.width, human, VD_ROLE_NOTE);
    }
    if (rows >= 3 && response->reply.generated) {
        g_autofree char *said = g_strconcat("generated: ", response->reply.generated, NULL);
        vd_grid_text(grid, at.x, at.y + rows, at.width, said, VD_ROLE_ANSWER);
        rows--;
    }
    vd_ranking_draw(grid, (vd_rect){at.x, at.y + 1, at.width, rows}, sheet, 0, 0, false);
    vd_spot_add(&chat->nav, (vd_rect){at.x, at.y, at.width, 1}, "/answers");
    for (int i = 0; i < rows && i < vd_sheet_rows(&sheet->side[0]); i++)
        vd_spot_add(&chat->nav, (vd_rect){at.x, at.y + 1 + i, at.width, 1}, "/choose %d",
                    vd_sheet_row(&sheet->side[0], i).place + 1);
}

// ---- attention ---------------------------------------------------------------------------------

enum { SHARE = 6, LEAST_BAR = 4 }; // columns

// A label, a bar where there is room for one, a percentage.
static void draw_share(vd_grid *grid, vd_rect at, const char *label, int label_width, double share,
                       vd_role role, vd_role bar)
{
    int bar_width = at.width - label_width - 2 - SHARE;
    if (bar_width < LEAST_BAR)
        label_width = at.width - SHARE;
    else
        vd_grid_bar(grid, at.x + label_width + 1, at.y, bar_width, share, bar, VD_ROLE_RULE);
    vd_grid_text(grid, at.x, at.y, label_width, label, role);
    vd_grid_right(grid, at.x + at.width - 6, at.y, 6, vd_percent(share).text, VD_ROLE_TEXT);
}

// Numbers end in one column where some have two digits.
static int padding(const vd_share *top, int count, int index)
{
    bool two = false;
    for (int i = 0; i < count; i++)
        two = two || top[i].index >= 9;
    return two && index < 9;
}

// Columns of the longest label.
static int labels_width(const vd_sheet *sheet, const vd_share *top, int count)
{
    int width = 3; // of "+12", too
    for (int i = 0; i < count; i++) {
        const vd_region_text label = vd_sheet_region(sheet, top[i].index);
        int own = (int)strlen(label.text) + padding(top, count, top[i].index);
        width = own > width ? own : width;
    }
    return width;
}

// The title of a list of shares, and below it what is said where the network shows none. False:
// there is no list.
static bool begin_shares(vd_grid *grid, vd_rect at, const char *title, const float *share,
                         const char *none)
{
    vd_grid_text(grid, at.x, at.y, at.width, title, VD_ROLE_TITLE);
    if (!share)
        vd_grid_wrapped(grid, (vd_rect){at.x, at.y + 1, at.width, at.height - 1}, none,
                        VD_ROLE_FAINT);
    return share && at.height > 1;
}

static void draw_regions(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet)
{
    const vd_answer *answer = &sheet->side[0].reply->answer;
    const vd_attention *looks = vd_answer_attention(answer, VD_AXIS_QUESTIONS, VD_AXIS_REGIONS);
    const float *share = looks ? looks->share : NULL;
    char title[32] = "Regions";
    if (!chat->shown.regions.boxes)
        snprintf(title, sizeof title, "Regions (no boxes known)");
    else if (looks && looks->of > 1)
        snprintf(title, sizeof title, "Regions, last %s", looks->part);
    if (!begin_shares(grid, at, title, share, VD_NO_REGIONS))
        return;
    vd_share top[36];
    vd_rect row = {at.x, at.y + 1, at.width, 1};
    int rows = at.height - 1, count = vd_shares_top(share, answer->regions, 0.9, top, 36);
    int names = labels_width(sheet, top, count < rows ? count : rows);
    double rest = 1;
    for (int i = 0; i < count && i < rows; i++, row.y++) {
        char label[sizeof(vd_region_text) + 1];
        if (i == rows - 1 && count > rows) { // the last row sums up what does not fit
            snprintf(label, sizeof label, "+%d", answer->regions - i);
            draw_share(grid, row, label, names, rest, VD_ROLE_FAINT, VD_ROLE_RULE);
            break;
        }
        snprintf(label, sizeof label, "%s%s", padding(top, count, top[i].index) ? " " : "",
                 vd_sheet_region(sheet, top[i].index).text);
        draw_share(grid, row, label, names, top[i].share, VD_ROLE_REGION, VD_ROLE_BAR_REGION);
        vd_spot_add(&chat->nav, row, "/what-if region %d", top[i].index + 1);
        rest -= top[i].share;
    }
}

static void draw_rounds(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_answer *answer)
{
    enum { MOST = 64 };
    const vd_branch *branch = chat->conversation.branch;
    const float *share = vd_answer_shares(answer, VD_AXIS_ENTRIES);
    if (!begin_shares(grid, at, "History", share, VD_NO_ROUNDS))
        return;
    vd_share top[MOST];
    vd_rect row = {at.x, at.y + 1, at.width, 1};
    int rows = at.height - 1;
    int count = vd_shares_top(share, answer->rounds, 2, top, rows < MOST ? rows : MOST);
    vd_shares_by_index(top, count); // the strongest ones, in the order they were said
    for (int i = 0; i < count; i++, row.y++) {
        char label[96] = "caption";
        int entry = top[i].index;
        bool known = entry > 0 && entry <= (int)branch->count;
        if (entry > 0) {
            snprintf(label, sizeof label, known ? "%d %.80s" : "%d", entry,
                     known ? branch->rounds[entry - 1].typed : "");
            vd_spot_add(&chat->nav, row, "/round %d", entry);
        }
        draw_share(grid, row, label, at.width * 12 / 20, top[i].share, VD_ROLE_TEXT,
                   VD_ROLE_BAR_ROUND);
    }
}

void vd_draw_attention(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet)
{
    if (at.height <= 0 || at.width <= 0 || !sheet->sides)
        return;
    // The words get what regions and rounds do not need, one row at least.
    vd_share top[36];
    const vd_answer *answer = &sheet->side[0].reply->answer;
    const float *share = vd_answer_shares(answer, VD_AXIS_REGIONS);
    int needed = share ? vd_shares_top(share, answer->regions, 0.9, top, 36) : 3; // or a text
    needed = 1 + (needed > answer->rounds ? needed : answer->rounds);
    int words = at.height < 4 ? 0 : at.height - needed;
    words = at.height < 4 ? 0 : words < 1 ? 1 : words > 3 ? 3 : words;
    bool gap = at.height >= needed + words + 1;
    vd_sheet_draw_words(grid, (vd_rect){at.x, at.y + at.height - words, at.width, words},
                        sheet->side[0].reply);
    vd_rect upper = {at.x, at.y, at.width, at.height - words - (gap ? 1 : 0)};
    if (at.width < 36) { // one below the other
        int regions = upper.height * 3 / 5;
        draw_regions(chat, grid, (vd_rect){at.x, at.y, at.width, regions}, sheet);
        draw_rounds(chat, grid,
                    (vd_rect){at.x, at.y + regions + 1, at.width, upper.height - regions - 1},
                    answer);
        return;
    }
    int left = (at.width - 2) * (sheet->names ? 3 : 2) / 5; // names need room
    draw_regions(chat, grid, (vd_rect){at.x, at.y, left, upper.height}, sheet);
    draw_rounds(chat, grid, (vd_rect){at.x + left + 2, at.y, at.width - left - 2, upper.height},
                answer);
}

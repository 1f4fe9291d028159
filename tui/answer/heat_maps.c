#include "tui/answer/heat_maps.h"

#include <glib.h>
#include <string.h>

#include "engine/base/append.h"
#include "tui/answer/attention.h"
#include "tui/base/shares.h"

// A page that scrolls: rows outside are not drawn.
typedef struct scroll_page {
    vd_grid *grid;
    vd_rect at;
    int row; // next, from the top of the screen; negative above it
} scroll_page;

static bool visible(const scroll_page *page)
{
    return page->row >= 0 && page->row < page->at.height;
}

static void title(scroll_page *page, const char *text)
{
    if (visible(page))
        vd_grid_text(page->grid, page->at.x, page->at.y + page->row, page->at.width, text,
                     VD_ROLE_TITLE);
    page->row++;
}

// Row to draw in, or one below the grid when it is not in sight.
static int row_y(const scroll_page *page)
{
    return visible(page) ? page->at.y + page->row : page->grid->height;
}

static const vd_reply *reply_of(const vd_heat_maps *maps)
{
    return maps->sheet->side[maps->side].reply;
}

// ---- the parts ---------------------------------------------------------------------------------

// Every word is in sight: over several rows where one is too narrow.
static void draw_question(scroll_page *page, const vd_heat_maps *maps)
{
    const vd_reply *reply = reply_of(maps);
    int x = page->at.x, end = page->at.x + page->at.width;
    char cut[48];
    snprintf(cut, sizeof cut, "(%d more words were cut off)", reply->cut);
    for (int i = 0; i < reply->words + (reply->cut > 0); i++) {
        const char *word = i < reply->words ? reply->word[i] : cut;
        vd_role which = i == reply->words   ? VD_ROLE_NOTE
                        : i == maps->word   ? VD_ROLE_SELECTED
                        : reply->unknown[i] ? VD_ROLE_UNKNOWN
                                            : VD_ROLE_QUESTION;
        if (x > page->at.x && x + vd_text_width(word, strlen(word)) > end) {
            page->row++;
            x = page->at.x;
        }
        x += vd_grid_text(page->grid, x, row_y(page), end - x, word, which) + 1;
    }
    page->row += 2;
}

// Of the beginning or the end of an answer, which nobody said.
static bool is_mark(const char *word)
{
    return strcmp(word, "<S>") == 0 || strcmp(word, "</S>") == 0;
}

// The words of an entry, each with its share of what the selected question word, or the question,
// looks at.
static void draw_entry_words(scroll_page *page, const vd_heat_maps *maps, const vd_answer *answer,
                             const vd_attention *topic, int entry)
{
    int left = page->at.x + 26, end = page->at.x + page->at.width, y = row_y(page), x = left;
    int first = answer->history_start[entry], length = answer->history_start[entry + 1] - first;
    int row = topic->query == VD_AXIS_QUESTION_WORDS ? maps->word : 0;
    const float *share = topic->share + (size_t)row * (size_t)topic->columns + first;
    vd_entry_words words;
    vd_sheet_entry_words(maps->sheet, answer, entry, &words);
    for (int j = 0; j < length; j++) {
        char text[48];
        if (words.count == length && is_mark(words.word[j]))
            continue;
        if (words.count == length)
            snprintf(text, sizeof text, "%s", words.word[j]);
        else
            snprintf(text, sizeof text, "#%d", j + 1);
        char number[8] = ""; // percent, of what is no trace
        if (share[j] >= 0.045f)
            snprintf(number, sizeof number, "%.0f", 100 * (double)share[j]);
        int width = vd_text_width(text, strlen(text)) + (int)strlen(number);
        if (x + width + 2 > end && x > left) {
            page->row++;
            y = row_y(page);
            x = left;
        }
        bool strong = share[j] >= 0.2f;
        x += vd_grid_text(page->grid, x, y, end - x - 2, text,
                          strong ? VD_ROLE_QUESTION : VD_ROLE_TEXT);
        // In ASCII a level is a digit: the number says more.
        if (page->grid->look.ascii && number[0])
            vd_grid_put(page->grid, x, y, ' ', ' ', VD_ROLE_TEXT);
        else
            vd_grid_level(page->grid, x, y, share[j], VD_ROLE_BAR_WORD);
        x++;
        x += vd_grid_text(page->grid, x, y, end - x, number, VD_ROLE_FAINT) + 1;
    }
}

// The rounds by their weight, and the words of each.
static void draw_history(scroll_page *page, const vd_heat_maps *maps, const vd_answer *answer,
                         const float *rounds, const vd_attention *topic)
{
    char text[220], looks[96] = "", step[48];
    vd_answer_step(answer, VD_AXIS_ENTRIES, step, sizeof step);
    if (topic && topic->query == VD_AXIS_QUESTIONS)
        snprintf(looks, sizeof looks, "where the question looks (%%)");
    else if (topic)
        snprintf(looks, sizeof looks, "where \"%.40s\" looks (%%)",
                 reply_of(maps)->word[maps->word]);
    else if (!vd_answer_whole(answer))
        snprintf(looks, sizeof looks, "what the words attend to %s",
                 maps->pending ? "is being computed" : "is no longer kept");
    snprintf(text, sizeof text, "History%s: %s%s%s", rounds ? step : "",
             rounds ? "weight of each round" : "",
             !rounds || !*looks ? ""
             : topic            ? ", and "
                                : "; ",
             looks);
    title(page, text);
    for (int r = 0; r < answer->rounds; r++) {
        char label[32];
        int y = row_y(page);
        snprintf(label, sizeof label, r ? "round %d" : "caption", r);
        vd_grid_text(page->grid, page->at.x, y, 8, label, VD_ROLE_TEXT);
        if (rounds) {
            vd_grid_bar(page->grid, page->at.x + 9, y, 9, rounds[r], VD_ROLE_BAR_ROUND,
                        VD_ROLE_RULE);
            vd_grid_right(page->grid, page->at.x + 18, y, 6, vd_percent(rounds[r]).text,
                          VD_ROLE_TEXT);
        }
        if (topic && answer->history_start)
            draw_entry_words(page, maps, answer, topic, r);
        page->row++;
    }
    page->row++;
}

// ---- tables -------------------------------------------------------------------------------------

// Columns of a region's name, and behind it of bar and percentage; of a word, at least and at most.
enum { NUMBER = 4, NAME = 26, SHARE = 16, CELL = 7, WIDE_CELL = 11, MOST_COLUMNS = 36 };

// Names stand where two words have room beside them.
static int label_width(const vd_heat_maps *maps, int width)
{
    return maps->sheet->names && width >= NAME + SHARE + 2 * CELL ? NAME : NUMBER;
}

// Where cells begin.
static int cells_from(const scroll_page *page, const vd_heat_maps *maps)
{
    return label_width(maps, page->at.width) + SHARE;
}

// Question words, and nothing behind them where rows look at that, too.
static int columns_of(const vd_attention *a)
{
    return a->columns + a->nothing;
}

// Of so many cells in a row: words get the room that there is, numbers need none.
static int cell_width(const scroll_page *page, const vd_heat_maps *maps, const vd_attention *a,
                      int columns)
{
    int width = (page->at.width - cells_from(page, maps)) / (columns > 0 ? columns : 1);
    bool words = a->key == VD_AXIS_QUESTION_WORDS;
    return !words || width < CELL ? CELL : width > WIDE_CELL ? WIDE_CELL : width;
}

// A row of shares, of the columns chosen.
static void draw_cells(scroll_page *page, const vd_heat_maps *maps, const vd_attention *a, int row,
                       const vd_share *column, int columns)
{
    const float *shares = a->share + (size_t)row * (size_t)a->columns;
    int x = page->at.x + cells_from(page, maps), y = row_y(page);
    for (int i = 0; i < columns; i++, x += cell_width(page, maps, a, columns)) {
        int index = column[i].index;
        double share = index < a->columns ? (double)shares[index] : vd_attention_nothing(a, row);
        bool selected = a->key == VD_AXIS_QUESTION_WORDS && column[i].index == maps->word;
        if (!page->grid->look.ascii) // there it could be taken for a digit's neighbour
            vd_grid_level(page->grid, x, y, share, VD_ROLE_BAR_WORD);
        vd_grid_text(page->grid, x + 1, y, CELL - 2, vd_percent(share).text,
                     selected ? VD_ROLE_QUESTION : VD_ROLE_FAINT);
    }
}

static void draw_column_names(scroll_page *page, const vd_heat_maps *maps, const vd_attention *a,
                              const vd_share *column, int columns)
{
    int cell = cell_width(page, maps, a, columns);
    for (int i = 0; i < columns; i++) {
        char text[48];
        bool selected = a->key == VD_AXIS_QUESTION_WORDS && column[i].index == maps->word;
        bool nothing = column[i].index == a->columns;
        if (nothing)
            snprintf(text, sizeof text, "nothing");
        else if (a->key == VD_AXIS_REGIONS) // its name has no room
            snprintf(text, sizeof text, "%d", column[i].index + 1);
        else if (a->key == VD_AXIS_ENTRIES) // likewise
            snprintf(text, sizeof text, column[i].index ? "r%d" : "capt.", column[i].index);
        else
            vd_sheet_item(maps->sheet, maps->side, a->key, column[i].index, text, sizeof text);
        vd_grid_text(page->grid, page->at.x + cells_from(page, maps) + i * cell, row_y(page),
                     cell - !nothing, text, selected ? VD_ROLE_SELECTED : VD_ROLE_TEXT);
    }
}

// How many columns have room.
static int columns_that_fit(const scroll_page *page, const vd_heat_maps *maps, int all)
{
    int fit = (page->at.width - cells_from(page, maps)) / CELL;
    fit = fit < 1 ? 1 : fit > MOST_COLUMNS ? MOST_COLUMNS : fit;
    return fit > all ? all : fit;
}

// The words around the selected one, which stays in sight; after the last one is nothing. Returns
// how many.
static int words_around(const scroll_page *page, const vd_heat_maps *maps, const vd_attention *a,
                        vd_share *column)
{
    int words = columns_of(a), columns = columns_that_fit(page, maps, words);
    bool last = maps->word == a->columns - 1 && columns > 1;
    int from = last ? words - columns : maps->word - columns / 2;
    from = from > words - columns ? words - columns : from;
    from = from < 0 ? 0 : from;
    for (int i = 0; i < columns; i++)
        column[i].index = from + i;
    return columns;
}

static void draw_region_name(scroll_page *page, const vd_heat_maps *maps, int region)
{
    char name[sizeof(vd_region_text) + 1];
    int width = label_width(maps, page->at.width);
    if (width == NUMBER)
        snprintf(name, sizeof name, "%2d", region + 1);
    else
        snprintf(name, sizeof name, "%s%s", region < 9 ? " " : "",
                 vd_sheet_region(maps->sheet, region).text);
    vd_grid_text(page->grid, page->at.x, row_y(page), width - 1, name, VD_ROLE_REGION);
}

// share NULL, looks NULL: the network has no such attention.
static void draw_regions(scroll_page *page, const vd_heat_maps *maps, const vd_answer *answer,
                         const float *share, const vd_attention *looks)
{
    vd_share column[MOST_COLUMNS], top[MOST_COLUMNS];
    int words = looks ? columns_of(looks) : 0;
    int columns = looks ? words_around(page, maps, looks, column) : 0;
    char text[128], step[48];
    vd_answer_step(answer, VD_AXIS_REGIONS, step, sizeof step);
    snprintf(text, sizeof text, "Regions%s: share of the attention", step);
    bool nothing = columns && column[columns - 1].index == looks->columns;
    if (columns < words) // the numbers first: a narrow screen cuts the end
        snprintf(text, sizeof text,
                 "Regions, words %d-%d of %d%s (Left/Right): which each looks at",
                 column[0].index + 1, column[columns - 1].index + !nothing, looks->columns,
                 nothing ? " and nothing" : "");
    else if (looks)
        snprintf(text, sizeof text, "Regions%s: %swhich question words each looks at", step,
                 share ? "share of the attention, and " : "");
    title(page, text);
    if (looks)
        draw_column_names(page, maps, looks, column, columns);
    if (share)
        vd_grid_text(page->grid, page->at.x + cells_from(page, maps) - SHARE + 1, row_y(page),
                     SHARE - 2, "share", VD_ROLE_FAINT);
    page->row++;
    int count = share ? vd_shares_top(share, answer->regions, 2, top, MOST_COLUMNS)
                      : columns_that_fit(page, maps, answer->regions);
    for (int i = 0; i < count; i++, page->row++) {
        int x = page->at.x, y = row_y(page), region = share ? top[i].index : i;
        draw_region_name(page, maps, region);
        x += label_width(maps, page->at.width);
        if (share) {
            vd_grid_bar(page->grid, x, y, 8, top[i].share, VD_ROLE_BAR_REGION, VD_ROLE_RULE);
            vd_grid_right(page->grid, x + 8, y, 6, vd_percent(top[i].share).text, VD_ROLE_TEXT);
        }
        if (looks)
            draw_cells(page, maps, looks, region, column, columns);
    }
}

// The columns of some attentions that have room: words around the selected one, of others those
// with the largest shares, in their order.
static int choose_columns(const scroll_page *page, const vd_heat_maps *maps,
                          const vd_attention *list, int count, vd_share *column)
{
    int all = list->columns, columns = columns_that_fit(page, maps, all);
    if (list->key == VD_AXIS_QUESTION_WORDS)
        return words_around(page, maps, list, column);
    float *sum = g_new0(float, all);
    for (int i = 0; i < count; i++)
        for (int at = 0; at < list[i].rows * all; at++)
            sum[at % all] += list[i].share[at];
    columns = vd_shares_top(sum, all, 2, column, columns);
    g_free(sum);
    vd_shares_by_index(column, columns);
    return columns;
}

// `count` attentions of one name, a row each, or one with all its rows.
static void draw_others(scroll_page *page, const vd_heat_maps *maps, const vd_attention *list,
                        int count)
{
    vd_share column[MOST_COLUMNS];
    char text[128];
    int columns = choose_columns(page, maps, list, count, column);
    page->row++;
    if (count > 1)
        snprintf(text, sizeof text, "%s by %s: %s to %s", list->name, list->part,
                 vd_axis_name(list->query), vd_axis_name(list->key));
    else {
        vd_attention_title(list, text, sizeof text / 2);
        vd_append(text, sizeof text, ": %s to %s", vd_axis_name(list->query),
                  vd_axis_name(list->key));
    }
    if (columns > 0 && columns < list->columns && list->key == VD_AXIS_QUESTION_WORDS)
        vd_append(text, sizeof text, " %d-%d of %d (Left/Right)", column[0].index + 1,
                  column[columns - 1].index + 1, list->columns);
    else if (columns > 0 && columns < list->columns)
        vd_append(text, sizeof text, ", the largest %d of %d", columns, list->columns);
    title(page, text);
    draw_column_names(page, maps, list, column, columns);
    page->row++;
    for (int i = 0; i < count; i++)
        for (int r = 0; r < list[i].rows; r++, page->row++) {
            if (count > 1)
                snprintf(text, sizeof text, "%s %d", list->part, list[i].index + 1);
            else
                vd_sheet_item(maps->sheet, maps->side, list->query, r, text, sizeof text);
            vd_grid_text(page->grid, page->at.x, row_y(page), cells_from(page, maps) - 1, text,
                         VD_ROLE_TEXT);
            draw_cells(page, maps, &list[i], r, column, columns);
        }
}

// How many attentions from the index-th on are one table: those of a name, where each is a row.
static int count_alike(const vd_answer *answer, int index)
{
    const vd_attention *first = &answer->attention[index];
    int count = 1;
    while (index + count < answer->attentions && first->rows == 1 && first->share &&
           first[count].share && strcmp(first[count].name, first->name) == 0 &&
           first[count].of == first->of && first[count].rows == 1 &&
           first[count].columns == first->columns)
        count++;
    return count;
}

int vd_heat_maps_draw(const vd_heat_maps *maps, vd_grid *grid, vd_rect at, int top)
{
    const vd_reply *reply = reply_of(maps);
    const vd_answer *answer = &reply->answer;
    const vd_attention *rounds = vd_answer_attention(answer, VD_AXIS_QUESTIONS, VD_AXIS_ENTRIES);
    const vd_attention *regions = vd_answer_attention(answer, VD_AXIS_QUESTIONS, VD_AXIS_REGIONS);
    const vd_attention *topic =
        vd_answer_attention(answer, VD_AXIS_QUESTION_WORDS, VD_AXIS_HISTORY_WORDS);
    const vd_attention *looks =
        vd_answer_attention(answer, VD_AXIS_REGIONS, VD_AXIS_QUESTION_WORDS);
    if (!topic)
        topic = vd_answer_attention(answer, VD_AXIS_QUESTIONS, VD_AXIS_HISTORY_WORDS);
    scroll_page page = {grid, at, -top};
    title(&page, "The question as the model saw it");
    draw_question(&page, maps);
    if (answer->candidates == 0 || reply->words == 0)
        return page.row + top;
    if (rounds || topic)
        draw_history(&page, maps, answer, rounds ? rounds->share : NULL, topic);
    if (regions || looks)
        draw_regions(&page, maps, answer, regions ? regions->share : NULL, looks);
    else
        title(&page, "The network " VD_NO_REGIONS);
    for (int i = 0, count; i < answer->attentions; i += count) {
        const vd_attention *a = &answer->attention[i];
        count = count_alike(answer, i);
        if (!a->share)
            continue;
        bool above = a == rounds || a == regions || a == topic || a == looks;
        if (count > 1 || !above)
            draw_others(&page, maps, a, count);
    }
    return page.row + top;
}

#include "tui/answer/heat_maps.h"

#include <string.h>

#include "tui/base/shares.h"
#include "tui/session/entry_words.h"
#include "tui/screen/theme.h"

// A page that scrolls: rows outside are not drawn.
typedef struct scroll_page {
    vd_grid *grid;
    vd_rect at;
    int row; // next, from the top of the screen; negative above it
} scroll_page;

static vd_style role(const scroll_page *page, vd_role which)
{
    return vd_style_of(page->grid, which);
}

static bool visible(const scroll_page *page)
{
    return page->row >= 0 && page->row < page->at.height;
}

static void title(scroll_page *page, const char *text)
{
    if (visible(page))
        vd_grid_text(page->grid, page->at.x, page->at.y + page->row, page->at.width, text,
                     role(page, VD_ROLE_TITLE));
    page->row++;
}

// Row to draw in, or one below the grid when it is not in sight.
static int row_y(const scroll_page *page)
{
    return visible(page) ? page->at.y + page->row : page->grid->height;
}

// The words of an entry, 0 the caption; none where they are not known: numbers stand for them.
static void words_of(const vd_sheet *sheet, int entry, vd_entry_words *out)
{
    out->count = 0;
    if (entry == 0)
        vd_entry_words_caption(out, sheet->caption, NULL);
    else if (entry <= sheet->rounds && sheet->said[entry - 1].answer)
        vd_entry_words_turn(out, sheet->said[entry - 1].question, sheet->said[entry - 1].answer,
                            NULL);
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
        x += vd_grid_text(page->grid, x, row_y(page), end - x, word, role(page, which)) + 1;
    }
    page->row += 2;
}

// Of the beginning or the end of an answer, which nobody said.
static bool is_mark(const char *word)
{
    return strcmp(word, "<S>") == 0 || strcmp(word, "</S>") == 0;
}

// One entry: its weight, then its words, each with the share of the selected question word.
static void draw_entry(scroll_page *page, const vd_heat_maps *maps, const vd_answer *answer,
                       int entry)
{
    char label[32], percent[16];
    snprintf(label, sizeof label, entry ? "round %d" : "caption", entry);
    vd_percent(percent, sizeof percent, answer->context_attention[entry]);
    int left = page->at.x + 26, end = page->at.x + page->at.width, y = row_y(page);
    vd_grid_text(page->grid, page->at.x, y, 8, label, role(page, VD_ROLE_TEXT));
    vd_grid_bar(page->grid, page->at.x + 9, y, 9, answer->context_attention[entry],
                role(page, VD_ROLE_BAR_ROUND), role(page, VD_ROLE_RULE));
    vd_grid_right(page->grid, page->at.x + 18, y, 6, percent, role(page, VD_ROLE_TEXT));

    if (!answer->topic_attention) {
        page->row++;
        return;
    }
    vd_entry_words words;
    words_of(maps->sheet, entry, &words);
    int length = answer->history_length[entry], x = left;
    const float *share = answer->topic_attention +
                         ((size_t)entry * (size_t)answer->question_length + (size_t)maps->word) *
                             (size_t)answer->history_width;
    for (int j = 0; j < length && j < answer->history_width; j++) {
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
                          role(page, strong ? VD_ROLE_QUESTION : VD_ROLE_TEXT));
        // In ASCII a level is a digit: the number says more.
        if (page->grid->look.ascii && number[0])
            vd_grid_put(page->grid, x, y, ' ', ' ', role(page, VD_ROLE_TEXT));
        else
            vd_grid_level(page->grid, x, y, share[j], role(page, VD_ROLE_BAR_WORD));
        x++;
        x += vd_grid_text(page->grid, x, y, end - x, number, role(page, VD_ROLE_FAINT)) + 1;
    }
    page->row++;
}

// Columns of a region's name, and behind it of bar and percentage; of a word.
enum { NUMBER = 4, NAME = 26, SHARE = 16, CELL = 7 };

// Names stand where two words have room beside them.
static int label_width(const vd_heat_maps *maps, int width)
{
    return maps->sheet->names && width >= NAME + SHARE + 2 * CELL ? NAME : NUMBER;
}

static void draw_region_row(scroll_page *page, const vd_heat_maps *maps, const vd_answer *answer,
                            const vd_share *region, int from, int columns)
{
    char text[16], name[VD_REGION_LABEL + 1] = " ";
    int x = page->at.x, y = row_y(page), label = label_width(maps, page->at.width);
    vd_sheet_region(maps->sheet, region->index, name + (region->index < 9));
    if (label == NUMBER)
        snprintf(name, sizeof name, "%2d", region->index + 1);
    vd_grid_text(page->grid, x, y, label - 1, name, role(page, VD_ROLE_REGION));
    x += label;
    vd_grid_bar(page->grid, x, y, 8, region->share, role(page, VD_ROLE_BAR_REGION),
                role(page, VD_ROLE_RULE));
    vd_percent(text, sizeof text, region->share);
    vd_grid_right(page->grid, x + 8, y, 6, text, role(page, VD_ROLE_TEXT));
    for (int i = from; i < from + columns; i++) {
        double share = answer->word_attention[region->index * answer->question_length + i];
        int left = x + SHARE + (i - from) * CELL;
        if (!page->grid->look.ascii) // there it could be taken for a digit's neighbour
            vd_grid_level(page->grid, left, y, share, role(page, VD_ROLE_BAR_WORD));
        snprintf(text, sizeof text, "%.0f %%", share * 100);
        vd_grid_text(page->grid, left + 1, y, CELL - 2, text,
                     role(page, i == maps->word ? VD_ROLE_QUESTION : VD_ROLE_FAINT));
    }
    page->row++;
}

static void draw_regions(scroll_page *page, const vd_heat_maps *maps)
{
    const vd_reply *reply = reply_of(maps);
    const vd_answer *answer = &reply->answer;
    int words = reply->words < answer->question_length ? reply->words : answer->question_length;
    int label = label_width(maps, page->at.width) + SHARE;
    int columns = (page->at.width - label) / CELL;
    columns = columns < 1 ? 1 : columns > words ? words : columns;
    int from = maps->word - columns / 2; // the selected word stays in sight
    from = from > words - columns ? words - columns : from;
    from = from < 0 ? 0 : from;
    char text[128] = "Regions: share of the answer, and which question words each looks at";
    if (columns < words) // the numbers first: a narrow screen cuts the end
        snprintf(text, sizeof text, "Regions, words %d-%d of %d (Left/Right): which each looks at",
                 from + 1, from + columns, words);
    title(page, text);
    for (int i = from; i < from + columns; i++)
        vd_grid_text(page->grid, page->at.x + label + (i - from) * CELL, row_y(page), CELL - 1,
                     reply->word[i], role(page, i == maps->word ? VD_ROLE_SELECTED : VD_ROLE_TEXT));
    vd_grid_text(page->grid, page->at.x + label - SHARE + 1, row_y(page), SHARE - 2, "share",
                 role(page, VD_ROLE_FAINT));
    page->row++;
    vd_share top[36];
    int count = vd_shares_top(answer->region_attention, answer->regions, 0.9, top, 36);
    for (int i = 0; i < count; i++)
        draw_region_row(page, maps, answer, &top[i], from, columns);
}

int vd_heat_maps_draw(const vd_heat_maps *maps, vd_grid *grid, vd_rect at, int top)
{
    const vd_reply *reply = reply_of(maps);
    const vd_answer *answer = &reply->answer;
    scroll_page page = {grid, at, -top};
    bool whole = answer->context_attention && answer->word_attention && answer->region_attention &&
                 answer->history_length;
    title(&page, "The question as the model saw it");
    draw_question(&page, maps);
    if (whole && reply->words > 0) {
        char text[128];
        if (answer->topic_attention)
            snprintf(text, sizeof text,
                     "History: weight of each round, and where \"%.40s\" looks (%%)",
                     reply->word[maps->word]);
        else
            snprintf(text, sizeof text,
                     "History: weight of each round; what the words attend to %s",
                     maps->pending ? "is being computed" : "is no longer kept");
        title(&page, text);
        for (int r = 0; r < answer->rounds; r++)
            draw_entry(&page, maps, answer, r);
        page.row++;
        draw_regions(&page, maps);
    }
    return page.row + top;
}

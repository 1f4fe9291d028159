// A caption word by word: its words, the regions that the selected one looked at, in the picture
// and in a list with what else could have been said, and what if.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/base/utf8.h"
#include "tui/chat/views/draw.h"
#include "tui/screen/pixels.h"

enum { MOST_REGIONS = 256, MOST_ENTRIES = VD_RUNNERS_UP + MOST_REGIONS + 2 };
enum { LOW = 14 }; // rows

// The word of a side in the selected column, or `before` it; -1: none.
static int word_at(const vd_chat *chat, const vd_caption_sheet *sheet, int side, int before)
{
    int column = vd_clamp(chat->nav.caption.column, sheet->rows - 1) - before;
    return column < 0 ? -1 : vd_caption_sheet_word(sheet, side, column);
}

// The caption that is looked at, its selected word; -1: it has none there.
static const vd_caption_side *looked_at(const vd_chat *chat, int *word)
{
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    *word = -1;
    if (!sheet)
        return NULL;
    int side = vd_chat_words_shown(chat, sheet);
    *word = word_at(chat, sheet, side, 0);
    return &sheet->side[side];
}

static int regions_of(const vd_caption_side *caption)
{
    return caption->trace.regions < MOST_REGIONS ? caption->trace.regions : MOST_REGIONS;
}

static void add_shares(const vd_chat *chat, const vd_caption_side *caption, int word, double weight,
                       float out[MOST_REGIONS])
{
    float share[MOST_REGIONS];
    if (word < 0 || caption->trace.regions > MOST_REGIONS)
        return;
    vd_caption_trace_look(&caption->trace, word, vd_chat_look_layer(chat, caption),
                          vd_chat_look_head(chat, caption), share, NULL);
    for (int k = 0; k < caption->trace.regions; k++)
        out[k] += (float)weight * share[k];
}

// The regions' shares in the look that is shown; zeros where there is no word. fades: while it
// plays, between those of two words.
static void shares_of(const vd_chat *chat, int side, bool fades, float out[MOST_REGIONS])
{
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    double before = fades ? (double)chat->nav.caption.fade / VD_FADES : 0;
    memset(out, 0, MOST_REGIONS * sizeof *out);
    add_shares(chat, &sheet->side[side], word_at(chat, sheet, side, 0), 1 - before, out);
    if (before > 0)
        add_shares(chat, &sheet->side[side], word_at(chat, sheet, side, 1), before, out);
}

// ---- what can be changed ------------------------------------------------------------------------

typedef struct entry {
    vd_switch what;
    double share; // probability of a word, share of a region; negative: none
} entry;

static entry word_entry(const vd_caption_side *caption, int word, int likely)
{
    const vd_generated_word *said = &caption->trace.word[word];
    entry out = {.what = {.kind = VD_SWITCH_WORD, .index = word}};
    out.share = likely < 0 ? said->probability : said->likely[likely].probability;
    const char *text = likely < 0 ? caption->word[word] : caption->likely[word][likely];
    size_t length = vd_utf8_whole(text, strlen(text), sizeof out.what.word - 1);
    snprintf(out.what.word, sizeof out.what.word, "%.*s", (int)length, text);
    return out;
}

// The word that is said, and the likeliest ones.
static int add_words(const vd_caption_side *caption, int word, entry *out)
{
    const vd_generated_word *said = &caption->trace.word[word];
    int count = 0;
    bool likely = false;
    for (int i = 0; i < said->likelies; i++)
        likely |= said->likely[i].id == said->id;
    if (!likely)
        out[count++] = word_entry(caption, word, -1);
    for (int i = 0; i < said->likelies; i++)
        out[count++] = word_entry(caption, word, i);
    return count;
}

// By falling shares.
static int add_regions(const vd_chat *chat, const vd_caption_side *caption, int word, entry *out)
{
    float share[MOST_REGIONS];
    int count = regions_of(caption);
    shares_of(chat, vd_chat_words_shown(chat, vd_lanes_captioned(&chat->lanes)), true, share);
    for (int k = 0; k < count && word < 0; k++)
        share[k] = -1;
    for (int k = 0; k < count; k++) {
        int at = k;
        for (; at > 0 && out[at - 1].share < (double)share[k]; at--)
            out[at] = out[at - 1];
        out[at] = (entry){{.kind = VD_SWITCH_REGION, .index = k}, (double)share[k]};
    }
    return count;
}

static int list_entries(const vd_chat *chat, entry out[MOST_ENTRIES])
{
    int word, count = 0;
    const vd_caption_side *caption = looked_at(chat, &word);
    if (!caption)
        return 0;
    if (word >= 0)
        count += add_words(caption, word, out);
    count += add_regions(chat, caption, word, out + count);
    if (caption->trace.history)
        out[count++] = (entry){{.kind = VD_SWITCH_HISTORY}, -1};
    return count;
}

// Whether it is wanted so: a word that is said, what is left out.
static bool is_on(const vd_chat *chat, const entry *e)
{
    const vd_caption_wish *wanted = &chat->lanes.caption.wanted;
    int word;
    const vd_caption_side *caption = looked_at(chat, &word);
    if (e->what.kind == VD_SWITCH_WORD)
        return caption && word >= 0 && strcmp(caption->word[word], e->what.word) == 0;
    bool own = !wanted->second[0] || wanted->changed == chat->nav.caption.side;
    return own && vd_switches_find(&wanted->switches, &e->what);
}

static void draw_entry(const vd_list *list, vd_grid *grid, vd_rect at, int index, bool selected)
{
    enum { MARK = 4, SHARE = 7, BAR = 10, LEAST = 36 };
    entry all[MOST_ENTRIES];
    list_entries(list->chat, all);
    const entry *e = &all[index];
    bool word = e->what.kind == VD_SWITCH_WORD, on = is_on(list->chat, e);
    vd_region_text region = {"history"};
    if (e->what.kind == VD_SWITCH_REGION)
        region = vd_region_label(list->chat->shown.regions.names, e->what.index);
    const char *name = word ? e->what.word : region.text;
    int bar = at.width >= LEAST ? BAR : 0, width = at.width - MARK - SHARE - bar;
    vd_grid_text(grid, at.x, at.y, MARK,
                 word ? on ? "(x) " : "( ) "
                 : on ? "[x] "
                      : "[ ] ",
                 on ? VD_ROLE_NOTE : VD_ROLE_FAINT);
    vd_grid_text(grid, at.x + MARK, at.y, width, name,
                 selected                           ? VD_ROLE_SELECTED
                 : e->what.kind == VD_SWITCH_REGION ? VD_ROLE_REGION
                                                    : VD_ROLE_TEXT);
    if (e->share < 0)
        return;
    vd_grid_right(grid, at.x + MARK + width, at.y, SHARE, vd_percent(e->share).text, VD_ROLE_TEXT);
    if (bar)
        vd_grid_bar(grid, at.x + at.width - bar + 1, at.y, bar - 1, e->share,
                    word ? VD_ROLE_BAR : VD_ROLE_BAR_REGION, VD_ROLE_RULE);
}

static void pick_entry(const vd_list *list, int index)
{
    int word;
    const vd_caption_side *caption = looked_at(list->chat, &word);
    entry all[MOST_ENTRIES];
    list_entries(list->chat, all);
    const entry *e = &all[index];
    bool forced = vd_switches_find(&list->chat->lanes.caption.wanted.switches, &e->what);
    if (e->what.kind == VD_SWITCH_WORD && is_on(list->chat, e) && !forced)
        vd_notice_say(&list->chat->notice, "%s",
                      caption && caption->read
                          ? "the caption has this word"
                          : "this is the captioner's own word; choose another one with Down");
    else
        vd_chat_words_flip(list->chat, &e->what);
}

static vd_list list_caption(vd_chat *chat)
{
    entry all[MOST_ENTRIES];
    return (vd_list){.chat = chat,
                     .at = &chat->nav.caption.at,
                     .count = list_entries(chat, all),
                     .draw_row = draw_entry,
                     .pick = pick_entry};
}

// ---- texts --------------------------------------------------------------------------------------

static void add_history(const vd_chat *chat, const vd_caption_side *c, int word, char *out,
                        size_t size)
{
    double given =
        vd_caption_side_given(c, word, vd_chat_look_layer(chat, c), vd_chat_look_head(chat, c));
    vd_append(out, size, "  history w %s (equal scores %s)", vd_percent(given).text,
              vd_percent(vd_caption_side_chance(c, word)).text);
}

static void add_look(const vd_chat *chat, const vd_caption_side *c, char *out, size_t size)
{
    int head = vd_chat_look_head(chat, c);
    if (c->trace.layers > 1)
        vd_append(out, size, "  layer %d of %d", vd_chat_look_layer(chat, c) + 1, c->trace.layers);
    if (c->trace.heads > 1 && head < 0)
        vd_append(out, size, "  mean of %d heads", c->trace.heads);
    else if (c->trace.heads > 1)
        vd_append(out, size, "  head %d of %d", head + 1, c->trace.heads);
}

// "red 43 %  entropy 1.2 bits  history w 23 % (equal scores 8 %)  layer 2 of 2  mean of 4 heads".
static void write_figures(const vd_chat *chat, char *out, size_t size)
{
    int word;
    const vd_caption_side *c = looked_at(chat, &word);
    if (word < 0) {
        snprintf(out, size, "no word here");
        return;
    }
    const vd_generated_word *said = &c->trace.word[word];
    snprintf(out, size, "%s %s", c->word[word], vd_percent(said->probability).text);
    if (!vd_caption_side_knows(c, word))
        vd_append(out, size, "  unknown to the captioner, which reads <UNK>");
    vd_append(out, size, "  entropy %.2f bits", said->entropy / log(2));
    if (c->trace.history)
        add_history(chat, c, word, out, size);
    if (said->gate >= 0)
        vd_append(out, size, "  gate g %.2f", said->gate);
    if (said->chosen >= 0)
        vd_append(out, size, "  looked at %s alone",
                  vd_region_label(chat->shown.regions.names, said->chosen).text);
    add_look(chat, c, out, size);
}

// ---- the picture --------------------------------------------------------------------------------

// What the selected word of a side looked at; hard attention: the one region.
static void draw_map(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_caption_sheet *sheet,
                     int side)
{
    const vd_caption_side *c = &sheet->side[side];
    int word = word_at(chat, sheet, side, 0);
    float share[MOST_REGIONS];
    // In pixels it does not fade: each step would be the whole picture again, at 60 x 22 cells of
    // 10 x 20 165 kB as PNG and 200 kB as sixels (100 x 38: 340 and 480), made in 40 and 200 ms; a
    // step takes 70 ms. Only kitty could have the outlines as a layer of their own, 13 kB (32).
    shares_of(chat, side, !vd_pixels_wanted(&grid->look, at.width, at.height), share);
    if (word >= 0 && c->trace.word[word].chosen >= 0) {
        memset(share, 0, sizeof share);
        share[vd_clamp(c->trace.word[word].chosen, MOST_REGIONS - 1)] = 1;
    }
    bool known = word >= 0 && c->trace.regions == chat->shown.regions.count;
    const vd_shared_picture of = {.picture = &chat->shown.picture,
                                  .error = chat->shown.error,
                                  .share = known ? share : NULL,
                                  .boxes = vd_chat_boxes(chat),
                                  .regions = regions_of(c)};
    if (side != vd_chat_words_shown(chat, sheet))
        vd_spot_add(&chat->nav, at, "/switch");
    if (sheet->sides > 1 && at.height > 1) {
        vd_grid_text(grid, at.x, at.y, 1, vd_caption_letter(side), VD_ROLE_TITLE);
        at.x += 2;
        at.width -= 2;
    }
    vd_shared_picture_draw(&of, grid, at);
}

// One picture, or one for each side where there is room.
static void draw_maps(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_caption_sheet *sheet)
{
    enum { LEAST = 20 };
    int each = (at.width - 1) / 2;
    if (sheet->sides == 1 || each < LEAST) {
        draw_map(chat, grid, at, sheet, vd_chat_words_shown(chat, sheet));
        return;
    }
    draw_map(chat, grid, (vd_rect){at.x, at.y, each, at.height}, sheet, 0);
    draw_map(chat, grid, (vd_rect){at.x + each + 1, at.y, each, at.height}, sheet, 1);
}

// ---- the place ----------------------------------------------------------------------------------

static void draw_list(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    vd_list list = list_caption(chat);
    vd_list_draw(&list, grid, at);
    vd_draw_more(grid, (vd_rect){at.x, at.y, at.width + 1, at.height}, list.top,
                 list.count - at.height);
}

// Picture and list, below the words.
static void draw_below(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_caption_sheet *sheet)
{
    enum { LEAST_LIST = 21, MOST_LIST = 48, LEAST_ROWS = 3 };
    if (at.height <= 0)
        return;
    int list = at.width * 2 / 5;
    list = list < LEAST_LIST ? LEAST_LIST : list > MOST_LIST ? MOST_LIST : list;
    if (at.height < LEAST_ROWS)
        list = at.width;
    vd_rect picture = {at.x, at.y, at.width - list - 1, at.height};
    if (picture.width > 0)
        draw_maps(chat, grid, picture, sheet);
    draw_list(chat, grid, (vd_rect){at.x + at.width - list, at.y, list, at.height});
}

// Whether the caption that is looked at is true, and how like the data's it is; returns how many
// rows that takes.
static int draw_verdict(const vd_chat *chat, vd_grid *grid, vd_rect at,
                        const vd_caption_sheet *sheet)
{
    int side = vd_chat_words_shown(chat, sheet);
    const vd_caption_verdict *verdict = &sheet->side[side].verdict;
    bool judged = verdict->is != VD_NOT_JUDGED;
    char text[480], score[128];
    vd_caption_score_text(&sheet->side[side].score, score, sizeof score);
    if (!judged && !*score)
        return 0;
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", sheet->sides > 1 ? vd_caption_letter(side) : "",
             sheet->sides > 1 ? " " : "", vd_caption_judged_names[verdict->is], judged ? ": " : "",
             judged ? verdict->why : "", judged && *score ? "; " : "", score);
    return vd_grid_wrapped(grid, at, text, VD_ROLE_NOTE);
}

static void draw_sheet(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_caption_sheet *sheet)
{
    char figures[256];
    int end = at.y + at.height;
    for (int side = 0; side < sheet->sides; side++)
        if (at.height >= LOW || side == vd_chat_words_shown(chat, sheet))
            at.y += vd_draw_caption_title(
                chat, grid, (vd_rect){at.x, at.y, at.width, at.height >= LOW ? 3 : 1}, sheet, side);
    int words = at.height >= LOW ? at.height / 2 : at.height / 3;
    at.y += vd_draw_caption_words(chat, grid, (vd_rect){at.x, at.y, at.width, words}, sheet);
    if (at.height >= LOW)
        at.y += draw_verdict(chat, grid, (vd_rect){at.x, at.y, at.width, 2}, sheet);
    write_figures(chat, figures, sizeof figures);
    at.y += vd_grid_wrapped(grid, (vd_rect){at.x, at.y, at.width, at.height >= LOW ? 2 : 1},
                            figures, VD_ROLE_ANSWER);
    draw_below(chat, grid, (vd_rect){at.x, at.y, at.width, end - at.y}, sheet);
}

static void draw_caption(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->nav.layout.picture;
    const vd_conversation *conversation = &chat->conversation;
    const char *doubt = vd_world_doubt(conversation->world, conversation->branches.picture);
    const vd_caption_sheet *sheet = vd_lanes_captioned(&chat->lanes);
    at = (vd_rect){at.x + 1, at.y, at.width - 2, at.height};
    if (at.height <= 0)
        return;
    if (doubt) {
        int rows = vd_grid_wrapped(grid, (vd_rect){at.x, at.y, at.width, 2}, doubt, VD_ROLE_WRONG);
        at.y += rows;
        at.height -= rows;
    }
    if (sheet)
        draw_sheet(chat, grid, at, sheet);
    else
        vd_grid_wrapped(grid, at,
                        chat->lanes.caption.failed ? "No captioner can describe this picture."
                                                   : "Computing the caption...",
                        VD_ROLE_FAINT);
}

static void open_caption(vd_chat *chat)
{
    chat->lanes.caption.failed = false;
    vd_chat_words_start(chat);
}

static bool act_caption(vd_chat *chat, vd_action action, const char *argument)
{
    (void)argument;
    const vd_caption_look *look = &chat->nav.caption;
    switch ((int)action) {
    case VD_ACTION_LEFT:
    case VD_ACTION_RIGHT:
        vd_chat_words_go(chat, look->column + (action == VD_ACTION_LEFT ? -1 : 1));
        return true;
    case VD_ACTION_FIRST:
    case VD_ACTION_LAST:
        vd_chat_words_go(chat, action == VD_ACTION_FIRST ? 0 : MOST_ENTRIES);
        return true;
    case VD_ACTION_SWITCH_MODEL:
        vd_chat_words_side(chat, look->side + 1);
        return true;
    case VD_ACTION_ALL_BACK:
        vd_chat_words_flip(chat, NULL);
        return true;
    default:
        return false;
    }
}

const vd_view vd_view_caption = {.action = VD_ACTION_WORDS,
                                 .hides = true,
                                 .open = open_caption,
                                 .draw = draw_caption,
                                 .list = list_caption,
                                 .act = act_caption};

// A walk through the answer that is looked at, one page a stage, and a last page of
// what-ifs, where what is switched off changes the ranking at once.
#include <glib.h>
#include <math.h>
#include <string.h>

#include "engine/base/append.h"
#include "tui/base/shares.h"
#include "tui/chat/views/draw.h"

// A page that scrolls: rows outside are not drawn.
typedef struct walk_page {
    vd_grid *grid;
    vd_rect at;
    int top;       // first row in sight
    int rows;      // drawn so far, the lowest one
    vd_rect inset; // of the picture in the upper right corner, beside the first rows
} walk_page;

// Where a row of the page lies on the screen; below the grid when it is not in sight.
static int row_y(walk_page *page, int row)
{
    page->rows = row + 1 > page->rows ? row + 1 : page->rows;
    row -= page->top;
    return row >= 0 && row < page->at.height ? page->at.y + row : page->grid->height;
}

// How many columns a row has for text.
static int row_width(const walk_page *page, int row)
{
    return page->at.width - (row < page->inset.height ? page->inset.width + 1 : 0);
}

// ---- stages -------------------------------------------------------------------------------------

static const vd_answer *answer_now(const vd_walk *walk)
{
    return walk->switches.count > 0 ? &walk->changed.answer : &walk->reply.answer;
}

static int page_of(const vd_chat *chat)
{
    const vd_walk *walk = chat->lanes.walk.walk;
    bool beyond = walk && chat->nav.walk_page >= walk->trace.stages;
    return beyond ? VD_WALK_WHAT_IF : chat->nav.walk_page;
}

enum { HEAD = 2 }; // rows of the title

// A word that was put in the place of another is none of the vocabulary's.
static bool gives_unknown(const vd_walk *walk)
{
    for (int i = 0; i < walk->switches.count; i++)
        for (int w = 0; w < walk->changed.words; w++)
            if (walk->changed.unknown[w] && walk->switches.at[i].kind == VD_SWITCH_WORD &&
                strcmp(walk->changed.word[w], walk->switches.at[i].word) == 0)
                return true;
    return false;
}

// The title, and below it what the walk is through: the question and its answer.
static void draw_title(walk_page *page, const vd_chat *chat, const char *title,
                       const char *const *answers)
{
    const vd_walk *walk = chat->lanes.walk.walk;
    char text[96], right[160];
    int pages = walk->trace.stages + 1, number = page_of(chat);
    snprintf(text, sizeof text, "%d/%d %.60s", number == VD_WALK_WHAT_IF ? pages : number + 1,
             pages, title);
    int y = row_y(page, 0);
    int x = vd_grid_text(page->grid, page->at.x, y, row_width(page, 0), text, VD_ROLE_TITLE);
    if (walk->switches.count > 0) {
        char names[128];
        vd_switches_text(&walk->switches, names, sizeof names);
        snprintf(right, sizeof right, "changed: %.120s%s", names,
                 gives_unknown(walk) ? " (unknown)" : "");
    } else {
        snprintf(right, sizeof right, "E %d  H %d  D %d", walk->config.embed, walk->config.hidden,
                 walk->config.region);
    }
    int room = row_width(page, 0) - x - 2;
    if (room > 8)
        vd_grid_right(page->grid, page->at.x + x + 2, y, room, right,
                      walk->switches.count ? VD_ROLE_NOTE : VD_ROLE_FAINT);
    const vd_answer *was = &walk->reply.answer, *now = answer_now(walk);
    char answer[160];
    int wide = snprintf(answer, sizeof answer, "%.60s (%s)", answers[now->order[0]],
                        vd_percent((double)now->probability[now->order[0]]).text);
    if (walk->switches.count > 0)
        wide += snprintf(answer + wide, sizeof answer - (size_t)wide, ", was %.60s (%s)",
                         answers[was->order[0]],
                         vd_percent((double)was->probability[was->order[0]]).text);
    int width = row_width(page, 1);
    wide = wide < width / 2 ? wide : width / 2;
    y = row_y(page, 1);
    x = page->at.x;
    x += vd_grid_text(page->grid, x, y, width - wide - 2, walk->reply.typed, VD_ROLE_QUESTION);
    vd_grid_text(page->grid, x + 2, y, page->at.x + width - x - 2, answer, VD_ROLE_FIRST);
}

static int draw_wrapped(walk_page *page, int row, const char *text, vd_role which)
{
    size_t length = strlen(text), offset = 0;
    vd_text_line line;
    while (vd_wrap_next(text, length, row_width(page, row), &offset, &line)) {
        vd_grid_text_n(page->grid, page->at.x, row_y(page, row), row_width(page, row),
                       text + line.start, line.length, which);
        row++;
    }
    return row;
}

// "q (192) the question (2H)"
static void draw_value(walk_page *page, int x, int width, int row, const char *mark,
                       const vd_trace_value *value)
{
    char shape[48] = "(";
    for (int i = 0; i < value->dims; i++)
        vd_append(shape, sizeof shape, i ? ", %d" : "%d", value->shape[i]);
    vd_append(shape, sizeof shape, ") ");
    int y = row_y(page, row), end = x + width;
    x += vd_grid_text(page->grid, x, y, 4, mark, VD_ROLE_FAINT);
    x += vd_grid_text(page->grid, x, y, end - x, value->name, VD_ROLE_QUESTION) + 1;
    x += vd_grid_text(page->grid, x, y, end - x, shape, VD_ROLE_NOTE);
    x += vd_grid_text(page->grid, x, y, end - x, value->is, VD_ROLE_TEXT) + 1;
    if (x + (int)strlen(value->axes) + 2 <= end) {
        snprintf(shape, sizeof shape, "(%s)", value->axes);
        vd_grid_text(page->grid, x, y, end - x, shape, VD_ROLE_FAINT);
    }
}

static int draw_values(walk_page *page, int row, const vd_trace_stage *stage)
{
    bool beside = page->at.width >= 60;
    int half = beside ? page->at.width * 9 / 20 + 1 : page->at.width;
    int right = beside ? half + 1 : 0, out = beside ? row : row + stage->ins;
    for (int i = 0; i < stage->ins; i++)
        draw_value(page, page->at.x, half, row + i, i ? "    " : "in  ", &stage->in[i]);
    for (int i = 0; i < stage->outs; i++)
        draw_value(page, page->at.x + right, page->at.width - right, out + i, i ? "    " : "out ",
                   &stage->out[i]);
    return MAX(row + stage->ins, out + stage->outs);
}

static int label_width(const vd_walk_table *table, int most)
{
    int width = 6;
    for (int r = 0; r < table->rows; r++) {
        int wide = vd_text_width(table->row[r], strlen(table->row[r]));
        width = wide > width ? wide : width;
    }
    return width < most ? width : most;
}

// One column of shares: bars.
static int draw_bars(walk_page *page, int x, int width, int row, const vd_walk_table *table)
{
    int names = label_width(table, width > 40 ? width - 26 : width * 11 / 20);
    for (int r = 0; r < table->rows; r++, row++) {
        int y = row_y(page, row), bar = width - names - 8;
        vd_grid_text(page->grid, x, y, names, table->row[r], VD_ROLE_TEXT);
        vd_grid_bar(page->grid, x + names + 1, y, bar > 30 ? 30 : bar, table->value[r],
                    VD_ROLE_BAR_REGION, VD_ROLE_RULE);
        vd_grid_right(page->grid, x + names + 1 + (bar > 30 ? 30 : bar), y, 7,
                      vd_percent(table->value[r]).text, VD_ROLE_TEXT);
    }
    return row;
}

// Where a table's columns lie.
typedef struct cell_grid {
    int names, cell; // width of the rows' names, of a column
    int from, to;    // columns in one band
    bool levels;
} cell_grid;

static void draw_column_names(walk_page *page, int x, int y, const vd_walk_table *table,
                              const cell_grid *cells)
{
    for (int i = cells->from; i < cells->to; i++) {
        int left = x + cells->names + 1 + (i - cells->from) * cells->cell;
        if (table->text)
            vd_grid_text(page->grid, left, y, cells->cell - 1, table->column[i], VD_ROLE_FAINT);
        else
            vd_grid_right(page->grid, left, y, cells->cell - 1, table->column[i], VD_ROLE_FAINT);
    }
}

static void draw_row_of_cells(walk_page *page, int x, int y, int r, const vd_walk_table *table,
                              const cell_grid *cells)
{
    vd_grid_text(page->grid, x, y, cells->names, table->row[r], VD_ROLE_TEXT);
    for (int i = cells->from; i < cells->to; i++) {
        char text[64];
        int at = r * table->columns + i, width = cells->cell - 1;
        int left = x + cells->names + (i - cells->from) * cells->cell + 1;
        bool strong = table->share && table->value[at] >= 0.25;
        vd_walk_cell(table, at, cells->cell < 7, text, sizeof text);
        vd_role role = strong ? VD_ROLE_QUESTION : VD_ROLE_TEXT;
        if (table->text)
            vd_grid_text(page->grid, left, y, width, text, role);
        else
            vd_grid_right(page->grid, left, y, width - cells->levels, text, role);
        if (cells->levels)
            vd_grid_level(page->grid, left + width - 1, y, table->value[at], VD_ROLE_BAR_WORD);
    }
}

// A heat map, or plain numbers. Columns that have no room stand below the others, with the rows'
// names once more.
static int draw_cells(walk_page *page, int x, int width, int row, const vd_walk_table *table)
{
    cell_grid cells = {.names = label_width(table, width * 2 / 5)};
    int room = width - cells.names;
    int least = table->text ? 16 : table->share ? 6 : 8, most = table->text ? 24 : 14;
    int cell = room / table->columns;
    cells.cell = cell < least ? least : cell > most ? most : cell;
    cells.levels = table->share && !table->text && !page->grid->look.ascii && cells.cell > 4;
    int shown = room / cells.cell > 0 ? room / cells.cell : 1;
    for (cells.from = 0; cells.from < table->columns; cells.from = cells.to) {
        cells.to = cells.from + shown < table->columns ? cells.from + shown : table->columns;
        row += cells.from > 0;
        if (table->columns > 1)
            draw_column_names(page, x, row_y(page, row++), table, &cells);
        for (int r = 0; r < table->rows; r++, row++)
            draw_row_of_cells(page, x, row_y(page, row), r, table, &cells);
    }
    return row;
}

static int draw_table(walk_page *page, int x, int width, int row, const vd_walk_table *table)
{
    vd_grid_text(page->grid, x, row_y(page, row++), width, table->title, VD_ROLE_TITLE);
    return table->share && table->columns == 1 ? draw_bars(page, x, width, row, table)
                                               : draw_cells(page, x, width, row, table);
}

static void draw_tables(walk_page *page, int row, const vd_walk_stage *stage)
{
    int width = page->at.width, next = 0;
    if (stage->tables > 1 && width >= 60) { // two side by side
        int first = stage->table[0].text ? width * 13 / 20 : width * 11 / 20;
        int one = draw_table(page, page->at.x, first - 2, row, &stage->table[0]);
        int other = draw_table(page, page->at.x + first, width - first, row, &stage->table[1]);
        row = (one > other ? one : other) + 1;
        next = 2;
    }
    for (; next < stage->tables; next++)
        row = draw_table(page, page->at.x, width, row, &stage->table[next]) + 1;
}

static void draw_stage(walk_page *page, const vd_chat *chat, const char *const *answers)
{
    const vd_walk *walk = chat->lanes.walk.walk;
    vd_walk_stage stage;
    vd_walk_stage_make(walk, walk->switches.count > 0, page_of(chat), answers, &stage);
    draw_title(page, chat, stage.of->title, answers);
    bool roomy = page->at.height >= 18;
    int row = draw_wrapped(page, HEAD, stage.of->why, VD_ROLE_TEXT) + roomy;
    row = row < page->inset.height ? page->inset.height : row;
    row = draw_values(page, row, stage.of);
    for (int i = 0; i < VD_STAGE_FORMULAS && stage.of->formula[i]; i++)
        row = draw_wrapped(page, row, stage.of->formula[i], VD_ROLE_ANSWER);
    draw_tables(page, row + roomy, &stage);
    vd_walk_stage_clear(&stage);
}

// ---- what if ------------------------------------------------------------------------------------

// The answer as it is, and as the switches change it.
static vd_sheet sheet_of(vd_chat *chat)
{
    const vd_lane_walk *own = &chat->lanes.walk;
    vd_sheet sheet = vd_chat_sheet(chat);
    vd_response changed = *vd_chat_response(chat);
    sheet.side[sheet.sides++] = sheet.side[0];
    if (own->walk->switches.count > 0) {
        changed.stamp = own->came;
        changed.reply = own->walk->changed;
        sheet.side[1] = vd_rankings_side(&chat->rankings, VD_RANKING_CHANGED, &changed, NULL);
        sheet.side[1].reply = &own->walk->changed;
        sheet.side[1].model = sheet.side[0].model;
    }
    return sheet;
}

static void draw_ranking(walk_page *page, vd_chat *chat, vd_rect at)
{
    const vd_sheet sheet = sheet_of(chat);
    bool changed = chat->lanes.walk.walk->switches.count > 0;
    bool hinted = !changed && page_of(chat) == VD_WALK_WHAT_IF;
    static const char hint[] = "Enter changes one thing";
    char title[64];
    int wide = snprintf(title, sizeof title, "Answers%s%s", hinted ? "; " : "", hinted ? hint : "");
    vd_grid_text(page->grid, at.x, at.y, at.width, wide <= at.width ? title : hint, VD_ROLE_TITLE);
    vd_ranking_draw(page->grid, (vd_rect){at.x, at.y + 1, at.width, at.height - 1}, &sheet, changed,
                    0, false);
}

// Where the parts of an effect's row lie in a list so wide; 0: not there.
typedef struct effect_columns {
    int name, share, bar, points, change, now; // widths
} effect_columns;

static effect_columns effect_columns_of(int width)
{
    enum { BOX = 4, ROOMY = 60 };
    effect_columns c = {.share = 6, .points = width >= ROOMY ? 7 : 6};
    c.now = width >= ROOMY ? 18 : width >= 44 ? 15 : 9; // "now: " and a short answer
    c.bar = width >= 72 ? 9 : 0;
    c.change = width >= ROOMY ? 12 : 0;
    c.name = width - BOX - c.share - c.bar - c.points - c.change - c.now;
    return c;
}

// The largest effect, which fills a side of the bars.
static double largest_effect(const vd_walk *walk, double before)
{
    double most = 0.05;
    for (int i = 0; i < walk->effects; i++)
        most = fmax(most, fabs(walk->effect[i].left - before));
    return most;
}

// "[x] 3 blue metal cone    39 % ==== -12.5  --|    now: no": a switch, its attention, what it
// alone does to the first answer.
static void draw_effect(const vd_list *list, vd_grid *grid, vd_rect at, int index, bool selected)
{
    const vd_walk *walk = list->chat->lanes.walk.walk;
    const vd_effect *e = &walk->effect[index];
    int first = walk->reply.answer.order[0], x = at.x, y = at.y;
    double before = (double)walk->reply.answer.probability[first], change = e->left - before;
    const vd_switch *on = vd_switches_find(&list->chat->lanes.walk.switches, &e->what);
    bool other =
        on && e->what.kind == VD_SWITCH_WORD && on->word[0]; // the effect is of leaving out
    effect_columns c = effect_columns_of(at.width);
    vd_role direction = change < 0 ? VD_ROLE_DOWN : VD_ROLE_UP;
    char name[sizeof(vd_region_text) + 96], text[16];
    // The number of a region and its name say enough.
    if (e->what.kind == VD_SWITCH_REGION && walk->names)
        g_strlcpy(name, vd_region_label(walk->names, e->what.index).text, sizeof name);
    else
        vd_walk_switch_name(walk, &e->what, name, sizeof name);
    if (other)
        vd_append(name, sizeof name, " = %s", on->word);
    x += vd_grid_text(grid, x, y, 4, on ? "[x] " : "[ ] ", on ? VD_ROLE_NOTE : VD_ROLE_FAINT);
    vd_grid_text(grid, x, y, c.name - 1, name, selected ? VD_ROLE_SELECTED : VD_ROLE_TEXT);
    x += c.name;
    if (e->attention >= 0) {
        vd_grid_right(grid, x, y, c.share, vd_percent(e->attention).text, VD_ROLE_TEXT);
        vd_grid_bar(grid, x + c.share + 1, y, c.bar - 1, e->attention, VD_ROLE_BAR_REGION,
                    VD_ROLE_RULE);
    }
    if (other)
        return;
    x += c.share + c.bar;
    snprintf(text, sizeof text, "%+.1f", 100 * change);
    vd_grid_right(grid, x, y, c.points, text, direction);
    x += c.points;
    vd_grid_signed_bar(grid, x + 1, y, c.change - 1, change / largest_effect(walk, before),
                       VD_ROLE_UP, VD_ROLE_DOWN, VD_ROLE_RULE);
    x += c.change + 1;
    if (e->first == first)
        return;
    x += vd_grid_text(grid, x, y, c.now - 1, "now: ", VD_ROLE_NOTE);
    vd_grid_text(grid, x, y, c.now - 6, list->sheet.side[0].texts[e->first], VD_ROLE_NOTE);
}

static void flip_effect(const vd_list *list, int index)
{
    vd_lanes_flip(&list->chat->lanes, &list->chat->lanes.walk.walk->effect[index].what);
}

static vd_list list_effects(vd_chat *chat)
{
    const vd_walk *walk = chat->lanes.walk.walk;
    return (vd_list){.chat = chat,
                     .sheet = vd_chat_sheet(chat),
                     .at = &chat->nav.walk_at,
                     .at_once = true,
                     .count = walk ? walk->effects : 0,
                     .draw_row = draw_effect,
                     .pick = flip_effect};
}

// What the list shows, as much of it as has room.
static const char *what_changes(int width)
{
    static const char *const texts[] = {
        "One thing left out or changed: the answer's share falls (-) or rises (+)",
        "One thing changed: the share falls (-) or rises (+)", "One changed: share - or +"};
    int i = 0;
    while (i < 2 && (int)strlen(texts[i]) > width)
        i++;
    return texts[i];
}

// The ranking stands beside the list, unless it stands under the picture already.
static void draw_what_if(walk_page *page, vd_chat *chat, const char *const *answers, bool aside)
{
    const vd_walk *walk = chat->lanes.walk.walk;
    const vd_answer *was = &walk->reply.answer;
    bool wide = page->at.width >= 70 && !aside;
    int width = wide ? page->at.width * 12 / 20 : page->at.width, head = HEAD;
    char text[160];
    draw_title(page, chat, "What if?", answers);
    vd_grid_text(page->grid, page->at.x, row_y(page, head), row_width(page, head),
                 what_changes(row_width(page, head)), VD_ROLE_TEXT);
    head++;
    if (wide) {
        draw_ranking(page, chat,
                     (vd_rect){page->at.x + width + 2, page->at.y + head,
                               page->at.width - width - 2, page->at.height - head});
    } else if (!aside && walk->switches.count > 0) {
        const vd_answer *now = answer_now(walk);
        snprintf(text, sizeof text, "now: %.60s (%s), place %d before", answers[now->order[0]],
                 vd_percent((double)now->probability[now->order[0]]).text,
                 vd_answer_place(was, now->order[0]) + 1);
        vd_grid_text(page->grid, page->at.x, row_y(page, head++), width, text, VD_ROLE_FIRST);
    }
    effect_columns c = effect_columns_of(width);
    int x = page->at.x + 4 + c.name, y = row_y(page, head++);
    bool steps =
        vd_walk_looks(walk, VD_AXIS_REGIONS) > 1; // then of the step that looked most at it
    vd_grid_right(page->grid, x + c.share - 15, y, 14, steps ? "most attention" : "attention",
                  VD_ROLE_FAINT);
    x += c.share + c.bar;
    vd_grid_right(page->grid, x, y, c.points, "points", VD_ROLE_FAINT);
    vd_list list = list_effects(chat);
    vd_rect rows = {page->at.x, page->at.y + head, width, page->at.height - head};
    vd_list_draw(&list, page->grid, rows);
    rows.width += wide;
    vd_draw_more(page->grid, rows, list.top, list.count - rows.height);
}

// ---- the place ----------------------------------------------------------------------------------

// The picture stands beside the walk, with the ranking below it, and where there is no room for
// that in the corner. Its outlines have the regions' numbers.
static vd_panels arrange_walk(vd_chat *chat, int width, int height)
{
    (void)chat;
    int side = width >= 120 ? width / 3 : width >= 110 ? 40 : width >= 72 ? 26 : 0;
    return vd_panels_full(width, height, side);
}

// What a stage gives to each region; NULL: it has no such table.
static const vd_trace_table *region_shares(const vd_trace *trace, int stage)
{
    for (int i = 0; i < trace->stage[stage].tables; i++) {
        const vd_trace_table *table = &trace->stage[stage].table[i];
        if (table->share && table->row_axis == VD_AXIS_REGIONS && table->columns == 1)
            return table;
    }
    return NULL;
}

// The picture with the shares that the page is about: the stage's, or the answer's.
static void draw_sheet(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    vd_sheet sheet = vd_chat_sheet(chat);
    const vd_walk *walk = chat->lanes.walk.walk;
    bool what_ifs = page_of(chat) == VD_WALK_WHAT_IF;
    const vd_trace *trace = walk->switches.count > 0 ? &walk->changed_trace : &walk->trace;
    const vd_trace_table *table = what_ifs ? NULL : region_shares(trace, page_of(chat));
    float *own = table ? g_new(float, (gsize)table->rows) : NULL;
    for (int i = 0; own && i < table->rows; i++)
        own[i] = (float)table->value[i];
    const vd_shared_picture of = {.picture = &chat->shown.picture,
                                  .error = chat->shown.error,
                                  .share =
                                      walk->regions != sheet.regions ? NULL
                                      : own                          ? own
                                            : vd_answer_shares(answer_now(walk), VD_AXIS_REGIONS),
                                  .boxes = sheet.boxes,
                                  .regions = sheet.regions,
                                  .all = what_ifs}; // any of them can be left out
    vd_shared_picture_draw(&of, grid, at);
    g_free(own);
}

static void draw_aside(walk_page *page, vd_chat *chat, vd_rect side)
{
    const vd_image *image = &chat->shown.picture.image;
    vd_rect room = {side.x, side.y, side.width, side.height * 3 / 5};
    int picture = vd_panels_fit(room, image->width, image->height).height;
    draw_sheet(chat, page->grid, (vd_rect){side.x, side.y, side.width, picture});
    vd_draw_caption(chat, page->grid, (vd_rect){side.x, side.y + picture, side.width, 2});
    draw_ranking(page, chat,
                 (vd_rect){side.x, side.y + picture + 3, side.width, side.height - picture - 3});
}

static void draw_inset(walk_page *page, vd_chat *chat)
{
    const vd_image *image = &chat->shown.picture.image;
    int rows = page_of(chat) == VD_WALK_WHAT_IF ? HEAD + 1 : HEAD + 2;
    if (page->top > 0)
        return; // it scrolls with the page
    vd_rect room = {0, 0, page->at.width / 3, rows};
    page->inset = vd_panels_fit(room, image->width, image->height);
    page->inset.height = rows;
    page->inset.x = page->at.x + page->at.width - page->inset.width;
    page->inset.y = page->at.y;
    draw_sheet(chat, page->grid, page->inset);
}

static void draw_walk(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->nav.layout.picture, side = chat->nav.layout.attention;
    const vd_response *response = vd_chat_response(chat);
    if (!response || at.height <= 0)
        return;
    walk_page page = {
        .grid = grid,
        .at = {at.x + 1, at.y, at.width - 2, at.height},
        .top = page_of(chat) == VD_WALK_WHAT_IF ? 0 : chat->nav.places.top[VD_PLACE_WALK]};
    if (!vd_lanes_walks(&chat->lanes, chat->nav.lane, response)) {
        bool other = !vd_answerer_same(&response->by, &chat->lanes.lane[chat->nav.lane].by);
        draw_wrapped(&page, 0,
                     other ? "Another model gave this answer; ask again to walk "
                             "through that of this one."
                     : chat->lanes.walk.failed ? "There is no walk through this answer."
                                               : "Computing the walk...",
                     VD_ROLE_FAINT);
        return;
    }
    if (side.height > 0)
        draw_aside(&page, chat, side);
    else
        draw_inset(&page, chat);
    if (page_of(chat) == VD_WALK_WHAT_IF) {
        draw_what_if(&page, chat, response->pool.text, side.height > 0);
        return;
    }
    draw_stage(&page, chat, response->pool.text);
    vd_places_drawn(&chat->nav.places, page.rows, at.height);
    vd_draw_more(grid, at, chat->nav.places.top[VD_PLACE_WALK], chat->nav.places.most);
}

static void open_walk(vd_chat *chat)
{
    chat->nav.walk_page = 0;
}

// Before the first stage, and behind the last one, lies what-if.
static void turn_page(vd_chat *chat, int step)
{
    const vd_walk *walk = chat->lanes.walk.walk;
    int stages = walk ? walk->trace.stages : VD_WALK_UNKNOWN;
    int to = page_of(chat) + step;
    chat->nav.walk_page = to < VD_WALK_WHAT_IF ? stages - 1 : to < stages ? to : VD_WALK_WHAT_IF;
    chat->nav.places.top[VD_PLACE_WALK] = 0;
}

static bool act_walk(vd_chat *chat, vd_action action, const char *argument)
{
    bool list = page_of(chat) == VD_WALK_WHAT_IF && chat->lanes.walk.walk;
    switch ((int)action) {
    case VD_ACTION_LEFT:
    case VD_ACTION_RIGHT:
        turn_page(chat, action == VD_ACTION_LEFT ? -1 : 1);
        return true;
    case VD_ACTION_PICK:
        if (list)
            vd_list_pick(chat);
        else
            turn_page(chat, argument[0] == ' ' ? VD_WALK_WHAT_IF - page_of(chat) : 1);
        return true;
    case VD_ACTION_ALL_BACK:
        chat->lanes.walk.switches.count = 0;
        return true;
    default:
        return false;
    }
}

static void scroll_walk(vd_chat *chat, int lines)
{
    if (page_of(chat) == VD_WALK_WHAT_IF && chat->lanes.walk.walk)
        vd_list_scroll(chat, lines);
    else
        vd_places_scroll(&chat->nav.places, lines);
}

const vd_view vd_view_walk = {.action = VD_ACTION_WALK,
                              .of_round = true,
                              .hides = true,
                              .open = open_walk,
                              .arrange = arrange_walk,
                              .draw = draw_walk,
                              .list = list_effects,
                              .scroll = scroll_walk,
                              .act = act_walk};

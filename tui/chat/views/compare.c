// Models side by side on one question: rankings with moves against the first model, what each
// looked at, people's answer, and how they fare over the conversation.
#include <glib.h>
#include <stdlib.h>

#include "engine/base/append.h"
#include "tui/answer/columns.h"
#include "tui/chat/views/draw.h"

// The round that is compared: as in the chat, the one the first model's answer is shown of.
static const vd_round *compared(const vd_chat *chat)
{
    const vd_branch *branch = chat->conversation.branch;
    if (chat->nav.selected >= 0 && chat->nav.selected < (int)branch->count)
        return &branch->rounds[chat->nav.selected];
    return branch->count ? &branch->rounds[branch->count - 1] : NULL;
}

static vd_columns columns_of(const vd_chat *chat)
{
    enum { GAP = 1, LEAST = 19, FEWEST = 1 };
    vd_rect at = chat->nav.layout.picture;
    return vd_columns_choose((vd_rect){at.x, at.y + 1, at.width, at.height - 2}, GAP, LEAST, FEWEST,
                             chat->lanes.count, chat->nav.lane);
}

// ---- the answers as a sheet --------------------------------------------------------------------

typedef struct compared_sheet {
    vd_sheet sheet; // a side for each lane, without a reply while there is none
    char note[VD_MODELS][96];
} compared_sheet;

// What a lane is doing, or whose answers its history is made of.
static void note_of_lane(const vd_chat *chat, int lane, bool ready, int width, char *out,
                         size_t size)
{
    const vd_lane *own = &chat->lanes.lane[lane];
    bool first = lane == 0 && own->follow == VD_FOLLOW_SHARED;
    vd_follow follow = first ? VD_FOLLOW_OWN : own->follow;
    if (own->loading)
        snprintf(out, size, "loading %s", own->coming);
    else if (!ready && chat->conversation.branch->count)
        snprintf(out, size, own->stopped ? "stopped" : "...");
    else
        snprintf(out, size, "%s", width < 26 ? vd_follow_name(follow) : vd_follow_answers(follow));
}

static void make_sheet(vd_chat *chat, const vd_round *round, int width, compared_sheet *out)
{
    const vd_response *first = round && round->response[0].ready ? &round->response[0] : NULL;
    const char *human = round ? vd_people_answer(&chat->conversation, round) : NULL;
    out->sheet = (vd_sheet){.boxes = vd_chat_boxes(chat),
                            .names = chat->shown.regions.names,
                            .regions = chat->shown.regions.count,
                            .human = human,
                            .sides = chat->lanes.count};
    for (int lane = 0; lane < chat->lanes.count; lane++) {
        vd_sheet_side *side = &out->sheet.side[lane];
        const vd_response *own = round ? &round->response[lane] : NULL;
        *side = (vd_sheet_side){.lane = lane, .chosen = -1, .human = -1};
        if (own && own->ready) {
            *side = vd_rankings_side(&chat->rankings, lane, own, lane ? first : NULL);
            side->apart |= !first;
            side->human = human ? vd_response_index(own, human) : -1;
            side->human_rank = vd_answer_place(&own->reply.answer, side->human) + 1;
        }
        side->model = chat->lanes.lane[lane].loaded ? chat->lanes.lane[lane].model : "-";
        side->note = out->note[lane];
        note_of_lane(chat, lane, side->reply, width, out->note[lane], sizeof out->note[lane]);
    }
}

// ---- parts of a column -------------------------------------------------------------------------

static void draw_pool(vd_grid *grid, vd_rect at, const vd_response *response)
{
    char text[512];
    vd_ranking_title(response, "Best", at.width, text, sizeof text);
    vd_grid_text(grid, at.x, at.y, at.width, text, VD_ROLE_NOTE);
}

static void draw_human(const vd_chat *chat, vd_grid *grid, vd_rect at, const vd_round *round,
                       const vd_sheet_side *side)
{
    char text[160], rank[32] = "not in the pool";
    if (side->human_rank > 0)
        snprintf(rank, sizeof rank, "at place %g", side->human_rank);
    float relevance =
        vd_people_relevance(&chat->conversation, round, vd_sheet_text(side, side->chosen));
    if (relevance >= 0 && at.width >= 46)
        snprintf(text, sizeof text, "* human answer %s; chosen: relevance %.2g", rank,
                 (double)relevance);
    else
        snprintf(text, sizeof text, at.width < 27 ? "*human %s" : "* human answer %s", rank);
    vd_grid_text(grid, at.x, at.y, at.width, text, VD_ROLE_NOTE);
}

// Metrics of the rounds that a person answered, except those with a candidate that is not in the
// pool.
static void draw_metrics(const vd_chat *chat, vd_grid *grid, vd_rect at, int lane)
{
    const vd_branch *branch = chat->conversation.branch;
    vd_metrics sum = {0};
    size_t answered = 0;
    for (size_t i = 0; i < branch->count; i++)
        if (branch->rounds[i].response[lane].ready) {
            vd_metrics_merge(&sum, &branch->rounds[i].response[lane].metrics);
            answered += vd_people_answer(&chat->conversation, &branch->rounds[i]) != NULL;
        }
    if (answered == 0)
        return;
    enum { LEAST = 34 };
    char figures[64] = "candidates not in pool", of[48], whole[112];
    if (sum.rounds)
        snprintf(figures, sizeof figures, "R@1 %.2f MRR %.2f", vd_metrics_mean(&sum, VD_R1),
                 vd_metrics_mean(&sum, VD_MRR));
    if (sum.dense_rounds && (int)strlen(figures) + 10 <= at.width)
        vd_append(figures, sizeof figures, " NDCG %.2f", vd_metrics_mean(&sum, VD_NDCG));
    snprintf(of, sizeof of, sum.rounds < answered ? "%zu of %zu" : "%zu", sum.rounds, answered);
    snprintf(whole, sizeof whole, "%s round%s: %s", of, answered == 1 ? "" : "s", figures);
    if ((int)strlen(whole) > at.width)
        snprintf(whole, sizeof whole, "%s: %s", of, figures);
    vd_grid_text(grid, at.x, at.y, at.width,
                 at.width < LEAST || (int)strlen(whole) > at.width ? figures : whole, VD_ROLE_TEXT);
}

// How the rankings of the first model and another one agree.
static void draw_agreement(const vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet)
{
    enum { OVERLAP = 5 };
    int other = chat->nav.lane ? chat->nav.lane : 1;
    if (sheet->sides == 1)
        vd_grid_text(grid, at.x, at.y, at.width, "One model answers; /compare MODEL adds another.",
                     VD_ROLE_NOTE);
    if (other >= sheet->sides || !sheet->side[0].reply || !sheet->side[other].reply)
        return;
    vd_agreement they = vd_sheet_agreement(sheet, other, OVERLAP);
    char text[200];
    snprintf(text, sizeof text, "%s against %s: %s first answer", sheet->side[other].model,
             sheet->side[0].model, they.same ? "the same" : "another");
    if (at.width >= 72)
        vd_append(text, sizeof text, ", %d of top %d shared, distance %s", they.shared, they.most,
                  vd_percent(they.far).text);
    vd_grid_text(grid, at.x, at.y, at.width, text, they.same ? VD_ROLE_ANSWER : VD_ROLE_NOTE);
}

// ---- the screen --------------------------------------------------------------------------------

typedef struct parts {
    int pool, picture, ranking, attention, human, metrics; // rows
    int more; // columns that the ranking leaves to the marks that it goes on
} parts;

// Whether the models rank different pools.
static bool pools_differ(const vd_chat *chat, const vd_round *round)
{
    const vd_response *first = NULL;
    for (int lane = 0; round && lane < chat->lanes.count; lane++) {
        const vd_response *own = &round->response[lane];
        if (own->ready && first &&
            (own->pool.count != first->pool.count ||
             g_strcmp0(own->pool.path, first->pool.path) != 0))
            return true;
        first = own->ready ? own : first;
    }
    return false;
}

static parts divide(const vd_chat *chat, int room, int column, bool pools, bool human)
{
    parts rows = {.metrics = 1, .pool = pools, .human = human};
    const vd_image *image = &chat->shown.picture.image;
    room -= 1 + rows.metrics + rows.pool + rows.human; // heading
    if (room >= 8 && column >= 16) {
        vd_rect fit =
            vd_panels_fit((vd_rect){0, 0, column, room * 11 / 20}, image->width, image->height);
        rows.picture = fit.height;
    }
    if (room >= 14 && column >= 24)
        rows.attention = 3;
    rows.ranking = room - rows.picture - rows.attention;
    return rows;
}

static void draw_column(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_round *round, int lane,
                        const vd_sheet *sheet, parts rows)
{
    const vd_sheet_side *side = &sheet->side[lane];
    int end = at.y + at.height;
    vd_sheet_draw_head(grid, at, side, lane == chat->nav.lane);
    at.y++;
    if (rows.pool && side->reply)
        draw_pool(grid, at, &round->response[lane]);
    at.y += rows.pool;
    at.height = rows.picture;
    vd_sheet_draw_picture(grid, at, &chat->shown.picture, chat->shown.error, sheet, lane);
    if (!side->reply)
        return;
    at.y += rows.picture;
    at.height = rows.ranking;
    int top = chat->nav.places.top[VD_PLACE_COMPARE];
    if (rows.more)
        vd_draw_more(grid, at, top, chat->nav.places.most);
    vd_ranking_draw(grid, (vd_rect){at.x, at.y, at.width - rows.more, at.height}, sheet, lane, top,
                    false);
    at.y += rows.ranking;
    if (rows.attention)
        vd_sheet_draw_attention(grid, at, sheet, lane);
    if (rows.human)
        draw_human(chat, grid, (vd_rect){at.x, end - 2, at.width, 1}, round, side);
    draw_metrics(chat, grid, (vd_rect){at.x, end - 1, at.width, 1}, lane);
}

// The round and its question, how many models have room, and what people answered.
static void draw_title(const vd_chat *chat, vd_grid *grid, vd_rect at, const vd_round *round,
                       const vd_sheet *sheet, int count)
{
    char text[600], some[48] = "";
    if (count < sheet->sides)
        snprintf(some, sizeof some, ", %d of %d models", count, sheet->sides);
    if (round)
        snprintf(text, sizeof text, "Round %d%s: %.500s",
                 (int)(round - chat->conversation.branch->rounds) + 1, some, round->typed);
    else
        snprintf(text, sizeof text, "Ask a question: every model here answers it.");
    int used = vd_grid_text(grid, at.x, at.y, at.width, text, VD_ROLE_QUESTION);
    if (!sheet->human || at.width - used <= 20)
        return;
    snprintf(text, sizeof text, "human answer: %.100s", sheet->human);
    vd_grid_right(grid, at.x + used + 1, at.y, at.width - used - 1, text, VD_ROLE_NOTE);
}

static void draw_compare(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->nav.layout.picture;
    const vd_round *round = compared(chat);
    vd_columns columns = columns_of(chat);
    vd_rect own = vd_columns_place(&columns, 0);
    compared_sheet made;
    make_sheet(chat, round, own.width, &made);
    parts rows =
        divide(chat, own.height, own.width, pools_differ(chat, round), made.sheet.human != NULL);
    int all = made.sheet.side[0].reply ? vd_sheet_rows(&made.sheet.side[0]) : 0;
    vd_places_drawn(&chat->nav.places, all, rows.ranking);
    draw_title(chat, grid, at, round, &made.sheet, columns.count);
    for (int i = 0; i < columns.count; i++) {
        own = vd_columns_place(&columns, i);
        rows.more = i == columns.count - 1 && chat->nav.places.most > 0; // the last one has them
        draw_column(chat, grid, own, round, columns.side[i], &made.sheet, rows);
        for (int y = own.y; i > 0 && y < own.y + own.height; y++)
            vd_grid_put(grid, own.x - 1, y, 0x2502, '|', VD_ROLE_RULE);
    }
    draw_agreement(chat, grid, (vd_rect){at.x, at.y + at.height - 1, at.width, 1}, &made.sheet);
}

// ---- keys --------------------------------------------------------------------------------------

static void open_compare(vd_chat *chat)
{
    vd_lanes_compare_with(&chat->lanes, "");
}

// Of models that are clicked on, the argument says how many further right they are.
static bool act_compare(vd_chat *chat, vd_action action, const char *argument)
{
    int step = action == VD_ACTION_LEFT ? chat->lanes.count - 1
               : argument[0]            ? (int)strtol(argument, NULL, 10)
                                        : 1;
    if (action != VD_ACTION_LEFT && action != VD_ACTION_RIGHT)
        return false;
    chat->nav.lane = (chat->nav.lane + step) % chat->lanes.count;
    return true;
}

static void click_compare(vd_chat *chat, int x, int y)
{
    vd_columns columns = columns_of(chat);
    int lane = vd_columns_side(&columns, x, y);
    char steps[16];
    snprintf(steps, sizeof steps, "%d", chat->lanes.count + lane - chat->nav.lane);
    if (lane >= 0)
        vd_chat_act(chat, VD_ACTION_RIGHT, steps);
}

const vd_view vd_view_compare = {.action = VD_ACTION_COMPARE,
                                 .open = open_compare,
                                 .draw = draw_compare,
                                 .act = act_compare,
                                 .click = click_compare};

// Models side by side on one question: rankings with moves against the first model, what each
// looked at, people's answer, and how they fare over the conversation.
#include <math.h>
#include <string.h>

#include "tui/answer/ranking.h"
#include "tui/screen/theme.h"
#include "tui/chat/views/draw.h"

enum { LEAST_COLUMN = 19, OVERLAP = 5 };

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

// The round that is compared: as in the chat, the one the first model's answer is shown of.
static const vd_round *compared(const vd_chat *chat)
{
    if (chat->nav.selected >= 0 && chat->nav.selected < (int)chat->conversation.branch->count)
        return &chat->conversation.branch->rounds[chat->nav.selected];
    return chat->conversation.branch->count
               ? &chat->conversation.branch->rounds[chat->conversation.branch->count - 1]
               : NULL;
}

static const vd_response *ready(const vd_round *round, int lane)
{
    return round && round->response[lane].ready ? &round->response[lane] : NULL;
}

// ---- columns -----------------------------------------------------------------------------------

// The lanes that have room: the first one, and as many as fit up to the selected one.
static int columns(const vd_chat *chat, int width, int lanes[VD_MODELS])
{
    int most = (width + 1) / (LEAST_COLUMN + 1), count = 0;
    most = most < 1 ? 1 : most > chat->lanes.count ? chat->lanes.count : most;
    int from = chat->nav.lane - (most - 2); // of the lanes behind the first one
    from = from < 1 ? 1 : from > chat->lanes.count - most + 1 ? chat->lanes.count - most + 1 : from;
    lanes[count++] = most == 1 ? chat->nav.lane : 0;
    while (count < most)
        lanes[count++] = from++;
    return count;
}

static void draw_heading(const vd_chat *chat, vd_grid *grid, vd_rect at, int lane,
                         const vd_response *response)
{
    const vd_lane *own = &chat->lanes.lane[lane];
    bool first = lane == 0 && own->follow == VD_FOLLOW_SHARED;
    char text[128];
    int x =
        at.x + vd_grid_text(grid, at.x, at.y, at.width, own->model[0] ? own->model : "-",
                            role(grid, lane == chat->nav.lane ? VD_ROLE_SELECTED : VD_ROLE_TITLE));
    if (own->loading[0])
        snprintf(text, sizeof text, "  loading %s", own->loading);
    else if (!response && chat->conversation.branch->count)
        snprintf(text, sizeof text, own->stopped ? "  stopped" : "  ...");
    else
        snprintf(text, sizeof text, at.width < 26 ? " %s" : "  %s answers",
                 first ? "own" : vd_follow_name(own->follow));
    x += vd_grid_text(grid, x, at.y, at.x + at.width - x, text, role(grid, VD_ROLE_FAINT));
    if (response && at.x + at.width - x > 9) {
        snprintf(text, sizeof text, "%.1f ms", response->reply.answer.milliseconds);
        vd_grid_right(grid, x, at.y, at.x + at.width - x, text, role(grid, VD_ROLE_FAINT));
    }
}

// to: where an answer stands, from: where the first model has it, NULL: nowhere.
static void draw_move(vd_grid *grid, vd_rect at, const vd_folded *from, const vd_folded *to)
{
    const vd_sheet_move move = {from ? from->place : -1, to->place,
                                to->probability - (from ? from->probability : 0)};
    vd_rank_move_draw(grid, at, &move);
}

static void draw_ranked(vd_chat *chat, vd_grid *grid, vd_rect at, int lane,
                        const vd_response *response, const vd_response *first, int people,
                        int number)
{
    int moves = !first ? 0 : at.width >= 30 ? VD_RANK_MOVE_CHANGE : VD_RANK_MOVE;
    int right = at.x + at.width, y = at.y;
    int bar = at.width >= (first ? 48 : 30) ? at.width / 5 : 0;
    vd_folded row = vd_rankings_at(&chat->rankings, lane, response, number), now, there;
    char text[16];
    snprintf(text, sizeof text, "%d", row.place + 1);
    int digits = 2 + (row.place > 98);
    vd_grid_right(grid, at.x, y, digits, text, role(grid, VD_ROLE_FAINT));
    bool chosen = row.answer == response->chosen;
    if (chosen)
        vd_grid_put(grid, at.x + digits, y, 0x25B8, '>', role(grid, VD_ROLE_PROMPT));
    else if (number == people)
        vd_grid_put(grid, at.x + digits, y, '*', '*', role(grid, VD_ROLE_NOTE));
    int x = at.x + 4, room = right - 6 - moves - (bar ? bar + 1 : 0) - 1 - x;
    vd_draw_alike(grid, (vd_rect){x, y, room, 1}, vd_response_text(response, row.answer), row.alike,
                  role(grid, chosen ? VD_ROLE_FIRST : VD_ROLE_TEXT));
    if (first) {
        bool known =
            vd_rankings_in_first(&chat->rankings, lane, response, first, number, &now, &there) >= 0;
        draw_move(grid, (vd_rect){right - 6 - moves, y, moves, 1}, known ? &there : NULL, &now);
    }
    if (bar)
        vd_grid_bar(grid, right - 6 - moves - bar - (first ? 1 : 0), y, bar, row.probability,
                    role(grid, chosen ? VD_ROLE_BAR_FIRST : VD_ROLE_BAR), role(grid, VD_ROLE_RULE));
    vd_percent(text, sizeof text, row.probability);
    vd_grid_right(grid, right - 5, y, 5, text, role(grid, VD_ROLE_TEXT));
}

static void draw_ranking(vd_chat *chat, vd_grid *grid, vd_rect at, int lane,
                         const vd_response *response, const vd_response *first, const char *human)
{
    int count = vd_rankings_count(&chat->rankings, lane, response),
        top = chat->nav.top[VD_PLACE_COMPARE];
    int place = human ? vd_response_rank(response, human) : -1;
    int people = place < 0 ? -1
                           : vd_rankings_row(&chat->rankings, lane, response,
                                             response->reply.answer.order[place]);
    for (int i = 0; i < at.height && top + i < count; i++)
        draw_ranked(chat, grid, (vd_rect){at.x, at.y + i, at.width, 1}, lane, response, first,
                    people, top + i);
}

// "Regions 1 62 %  2 16 % ...": the largest shares in one row.
static void draw_shares(vd_grid *grid, vd_rect at, const char *title, const float *share, int count,
                        bool rounds)
{
    vd_share top[VD_OUTLINES];
    int shown = share ? vd_shares_top(share, count, 0.9, top, VD_OUTLINES) : 0;
    int x = at.x + vd_grid_text(grid, at.x, at.y, at.width, title, role(grid, VD_ROLE_TITLE)) + 1;
    for (int i = 0; i < shown; i++) {
        char text[48], percent[16], label[24];
        vd_percent(percent, sizeof percent, top[i].share);
        snprintf(label, sizeof label, "%d", rounds ? top[i].index : i + 1);
        snprintf(text, sizeof text, "%s %s", rounds && top[i].index == 0 ? "caption" : label,
                 percent);
        int room = at.x + at.width - x;
        if ((int)strlen(text) > room)
            break;
        x += vd_grid_text(grid, x, at.y, room, text, role(grid, VD_ROLE_TEXT)) + 2;
    }
}

static void draw_human(const vd_chat *chat, vd_grid *grid, vd_rect at, const vd_round *round,
                       const vd_response *response, const char *human)
{
    int place = vd_response_rank(response, human);
    char text[160], rank[32] = "not in the pool";
    if (place >= 0)
        snprintf(rank, sizeof rank, "place %d", place + 1);
    float relevance = vd_people_relevance(&chat->conversation, round,
                                          vd_response_text(response, response->chosen));
    if (relevance >= 0 && at.width >= 34)
        snprintf(text, sizeof text, "* people's: %s; ours: relevance %.2g", rank,
                 (double)relevance);
    else
        snprintf(text, sizeof text, "*people's: %s", rank);
    vd_grid_text(grid, at.x, at.y, at.width, text, role(grid, VD_ROLE_NOTE));
}

static void draw_metrics(const vd_chat *chat, vd_grid *grid, vd_rect at, int lane)
{
    vd_metrics sum = {0};
    for (size_t i = 0; i < chat->conversation.branch->count; i++)
        if (chat->conversation.branch->rounds[i].response[lane].ready)
            vd_metrics_merge(&sum, &chat->conversation.branch->rounds[i].response[lane].metrics);
    if (sum.rounds == 0)
        return;
    vd_metrics_means mean = vd_metrics_mean(&sum);
    char text[96];
    int used = at.width < 34
                   ? snprintf(text, sizeof text, "R@1 %.2f MRR %.2f", mean.recall[0], mean.mrr)
                   : snprintf(text, sizeof text, "%zu round%s: R@1 %.2f MRR %.2f", sum.rounds,
                              sum.rounds == 1 ? "" : "s", mean.recall[0], mean.mrr);
    if (sum.dense_rounds && at.width >= 34)
        snprintf(text + used, sizeof text - (size_t)used, " NDCG %.2f", mean.ndcg);
    vd_grid_text(grid, at.x, at.y, at.width, text, role(grid, VD_ROLE_TEXT));
}

// ---- agreement ---------------------------------------------------------------------------------

// How two rankings agree, answers that mean the same taken together where they are shown so.
typedef struct agreement {
    bool same;        // first answer
    int most, shared; // how many of the first `most` are among the other's first `most`
    double far;       // half the sum of the changes of probability: the share that lies elsewhere
} agreement;

static agreement compare_rankings(vd_chat *chat, int lane, const vd_response *response,
                                  const vd_response *first)
{
    int count = vd_rankings_count(&chat->rankings, lane, response);
    agreement out = {.most = count < OVERLAP ? count : OVERLAP};
    for (int i = 0; i < count; i++) {
        vd_folded now, there = {0};
        int row = vd_rankings_in_first(&chat->rankings, lane, response, first, i, &now, &there);
        out.same |= i == 0 && row == 0;
        out.shared += i < out.most && row >= 0 && row < OVERLAP;
        out.far += fabs(now.probability - (row < 0 ? 0 : there.probability)) / 2;
    }
    return out;
}

static void draw_agreement(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_round *round)
{
    int other = chat->nav.lane ? chat->nav.lane : 1;
    if (chat->lanes.count == 1)
        vd_grid_text(grid, at.x, at.y, at.width, "One model answers; /compare MODEL adds another.",
                     role(grid, VD_ROLE_NOTE));
    const vd_response *a = ready(round, 0),
                      *b = other < chat->lanes.count ? ready(round, other) : NULL;
    if (!a || !b)
        return;
    agreement they = compare_rankings(chat, other, b, a);
    char text[200], far[16];
    vd_percent(far, sizeof far, they.far);
    int used = snprintf(text, sizeof text, "%s against %s: %s first answer", b->model, a->model,
                        they.same ? "the same" : "another");
    if (at.width >= 72)
        snprintf(text + used, sizeof text - (size_t)used, ", first %d share %d, %s of mass moved",
                 they.most, they.shared, far);
    vd_grid_text(grid, at.x, at.y, at.width, text,
                 role(grid, they.same ? VD_ROLE_ANSWER : VD_ROLE_NOTE));
}

// ---- the screen --------------------------------------------------------------------------------

typedef struct parts {
    int picture, ranking, attention, human, metrics; // rows
} parts;

static parts divide(const vd_chat *chat, int room, int column, bool human)
{
    parts rows = {.metrics = 1, .human = human};
    room -= 3 + rows.metrics + rows.human; // title, headings, agreement
    if (room >= 14 && column >= 24) {
        vd_rect fit =
            vd_panels_fit((vd_rect){0, 0, column, room * 11 / 20}, chat->shown.picture.image.width,
                          chat->shown.picture.image.height);
        rows.picture = fit.height;
        rows.attention = 3;
    }
    rows.ranking = room - rows.picture - rows.attention;
    return rows;
}

static void draw_column(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_round *round, int lane,
                        parts rows)
{
    const vd_response *response = ready(round, lane), *first = lane ? ready(round, 0) : NULL;
    const char *human = round ? vd_people_answer(&chat->conversation, round) : NULL;
    draw_heading(chat, grid, (vd_rect){at.x, at.y, at.width, 1}, lane, response);
    int y = at.y + 1;
    vd_draw_picture(chat, grid, (vd_rect){at.x, y, at.width, rows.picture}, response);
    y += rows.picture;
    if (!response)
        return;
    draw_ranking(chat, grid, (vd_rect){at.x, y, at.width, rows.ranking}, lane, response, first,
                 human);
    y += rows.ranking;
    if (rows.attention) {
        const vd_answer *answer = &response->reply.answer;
        vd_rect row = {at.x, y, at.width, 1};
        draw_shares(grid, row, "Regions", answer->region_attention, answer->regions, false);
        row.y++;
        draw_shares(grid, row, "History", answer->context_attention, answer->rounds, true);
        row.y++;
        vd_draw_words(grid, row, response);
        y += rows.attention;
    }
    if (human)
        draw_human(chat, grid, (vd_rect){at.x, y, at.width, 1}, round, response, human);
    y += rows.human;
    draw_metrics(chat, grid, (vd_rect){at.x, y, at.width, 1}, lane);
}

static void draw_compare(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->nav.layout.picture;
    const vd_round *round = compared(chat);
    const char *human = round ? vd_people_answer(&chat->conversation, round) : NULL;
    int lanes[VD_MODELS], count = columns(chat, at.width, lanes);
    int width = (at.width - (count - 1)) / count;
    parts rows = divide(chat, at.height, width, human != NULL);
    const vd_response *first = ready(round, 0);
    chat->nav.seen = rows.ranking > 1 ? rows.ranking : 1;
    chat->nav.scroll_most = first ? vd_rankings_count(&chat->rankings, 0, first) - rows.ranking : 0;
    chat->nav.scroll_most = chat->nav.scroll_most < 0 ? 0 : chat->nav.scroll_most;
    chat->nav.top[VD_PLACE_COMPARE] =
        vd_clamp(chat->nav.top[VD_PLACE_COMPARE], chat->nav.scroll_most);

    char text[600], some[48] = "";
    if (count < chat->lanes.count)
        snprintf(some, sizeof some, ", %d of %d models", count, chat->lanes.count);
    if (round)
        snprintf(text, sizeof text, "Round %d%s: %.500s",
                 (int)(round - chat->conversation.branch->rounds) + 1, some, round->typed);
    else
        snprintf(text, sizeof text, "Ask a question: every model here answers it.");
    int used = vd_grid_text(grid, at.x, at.y, at.width, text, role(grid, VD_ROLE_QUESTION));
    if (human && at.width - used > 20) {
        snprintf(text, sizeof text, "people: %.100s", human);
        vd_grid_right(grid, at.x + used + 1, at.y, at.width - used - 1, text,
                      role(grid, VD_ROLE_NOTE));
    }
    for (int i = 0; i < count; i++) {
        int x = at.x + i * (width + 1);
        draw_column(chat, grid, (vd_rect){x, at.y + 1, width, at.height - 2}, round, lanes[i],
                    rows);
        for (int y = at.y + 1; i > 0 && y < at.y + at.height - 1; y++)
            vd_grid_put(grid, x - 1, y, 0x2502, '|', role(grid, VD_ROLE_RULE));
    }
    draw_agreement(chat, grid, (vd_rect){at.x, at.y + at.height - 1, at.width, 1}, round);
}

// ---- keys --------------------------------------------------------------------------------------

static void open_compare(vd_chat *chat)
{
    vd_lanes_compare_with(&chat->lanes, "");
}

static bool act_compare(vd_chat *chat, vd_action action, vd_key key)
{
    (void)key;
    int step = action == VD_ACTION_LEFT ? chat->lanes.count - 1 : 1;
    if (action == VD_ACTION_FOLLOW) {
        vd_follow now = chat->lanes.lane[chat->nav.lane].follow;
        // The first one's own answers are the shared ones.
        vd_follow next = chat->nav.lane == 0 && now == VD_FOLLOW_SHARED ? VD_FOLLOW_HUMAN
                                                                        : (now + 1) % VD_FOLLOWS;
        vd_lanes_follow(&chat->lanes, chat->nav.lane, next);
        return true;
    }
    if (action != VD_ACTION_LEFT && action != VD_ACTION_RIGHT)
        return false;
    chat->nav.lane = (chat->nav.lane + step) % chat->lanes.count;
    return true;
}

static void click_compare(vd_chat *chat, int x, int y)
{
    int lanes[VD_MODELS], count = columns(chat, chat->nav.layout.picture.width, lanes);
    int width = (chat->nav.layout.picture.width - (count - 1)) / count;
    int column = (x - chat->nav.layout.picture.x) / (width + 1);
    if (y >= chat->nav.layout.picture.y && y < chat->nav.layout.line.y && column >= 0 &&
        column < count)
        chat->nav.lane = lanes[column];
}

const vd_view vd_view_compare = {
    .open = open_compare, .draw = draw_compare, .act = act_compare, .click = click_compare};

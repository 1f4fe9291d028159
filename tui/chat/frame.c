// The frame of the screen: status row, question line, notices and hints around the open place.
#include <string.h>

#include "engine/base/append.h"
#include "engine/base/utf8.h"
#include "tui/base/bundled.h"
#include "tui/chat/chat.h"
#include "tui/chat/views/draw.h"
#include "tui/screen/entry.h"
#include "tui/screen/theme.h"
#include "tui/session/spelling.h"

// ---- status, question line, last row -----------------------------------------------------------

// The models that answer, also where one is shown: "best | base", where that is wider "best +1". Of
// several the one whose answer the view is about: "best | [base]", "base +1".
static void name_models(const vd_lanes *lanes, int shown, int width, char *text, size_t size)
{
    bool whole = true;
    text[0] = '\0';
    for (int i = 0; i < lanes->count; i++) {
        const vd_lane *lane = &lanes->lane[i];
        bool marked = i == shown && lanes->count > 1;
        whole = vd_append(text, size, "%s%s%s%s", i ? " | " : "", marked ? "[" : "",
                          lane->loaded ? lane->model : lane->coming, marked ? "]" : "");
    }
    if (lanes->count > 1 && (!whole || vd_text_width(text, strlen(text)) > width))
        snprintf(text, size, "%s +%d", lanes->lane[shown < 0 ? 0 : shown].model, lanes->count - 1);
}

static void draw_status(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    vd_grid_fill(grid, at, VD_ROLE_STATUS);
    char text[256];
    int x = vd_grid_text(grid, at.x, at.y, at.width, " visdial ", VD_ROLE_STATUS_NAME);
    const vd_world *world = chat->conversation.world;
    size_t picture = chat->conversation.branches.picture;
    char id[40];
    vd_world_name(world, picture, id, sizeof id);
    snprintf(text, sizeof text, at.width >= 72 ? " picture %zu/%zu  %s%s" : " %zu/%zu", picture + 1,
             vd_world_count(world), vd_world_own_path(world, picture) ? "" : "id ", id);
    x += vd_grid_text(grid, x, at.y, at.width - x, text, VD_ROLE_STATUS);
    if (chat->conversation.branches.count > 1) {
        snprintf(text, sizeof text, at.width >= 72 ? "  branch %d/%d" : " b%d/%d",
                 chat->conversation.branches.used + 1, chat->conversation.branches.count);
        x += vd_grid_text(grid, x, at.y, at.width - x, text, VD_ROLE_STATUS_NAME);
    }

    const vd_response *response = vd_chat_response(chat);
    const vd_lane *lane = &chat->lanes.lane[0];
    char time[32] = "";
    if (response && (at.width >= 60 || chat->conversation.branches.count == 1))
        snprintf(time, sizeof time, "  %.*f ms", response->reply.answer.milliseconds < 9.95 ? 1 : 0,
                 response->reply.answer.milliseconds);
    size_t pending = vd_conversation_pending(&chat->conversation);
    const char *reading = vd_chat_reading(chat);
    bool waiting = reading || lane->loading || pending || !lane->loaded;
    if (reading)
        snprintf(text, sizeof text, "reading %.*s; Esc stops ",
                 (int)vd_utf8_whole(reading, strlen(reading), 24), reading);
    else if (lane->loading)
        snprintf(text, sizeof text, "loading %s ", lane->coming);
    else if (!lane->loaded)
        snprintf(text, sizeof text, "no model ");
    else if (pending > 1)
        snprintf(text, sizeof text, "%s is answering, %zu more wait ", lane->model, pending - 1);
    else if (pending)
        snprintf(text, sizeof text, "%s is answering ", lane->model);
    else {
        char models[160], rest[64];
        int size = snprintf(rest, sizeof rest, "  %.20s%s%s ", lane->backend, time,
                            at.width >= 60 ? "  F1 help" : "");
        bool side = vd_chat_view(chat)->of_round && chat->nav.places.now != VD_PLACE_COMPARE;
        name_models(&chat->lanes, side ? chat->nav.lane : -1, at.width - x - 1 - size, models,
                    sizeof models);
        snprintf(text, sizeof text, "%s%s", models, rest);
    }
    vd_grid_right(grid, x + 1, at.y, at.width - x - 1, text,
                  waiting ? VD_ROLE_STATUS_WARN : VD_ROLE_STATUS);
}

// What stands before the line; returns its columns.
static int draw_prompt(const vd_chat *chat, vd_grid *grid, vd_rect at)
{
    const char *filtering = vd_chat_view(chat)->filter;
    const vd_line *line = &chat->nav.line;
    char prompt[300] = " > ";
    bool lost = !filtering && line->searching && line->lost;
    if (filtering)
        snprintf(prompt, sizeof prompt, "%s", filtering);
    else if (line->searching)
        snprintf(prompt, sizeof prompt, " %s \"%s\"> ", lost ? "not found" : "search",
                 line->wanted);
    else if (chat->nav.editing >= 0)
        snprintf(prompt, sizeof prompt, " round %d> ", chat->nav.editing + 1);
    return vd_grid_text(grid, at.x, at.y, at.width * 2 / 3, prompt,
                        lost ? VD_ROLE_WRONG : VD_ROLE_PROMPT);
}

// The model's vocabulary lacks the word, however it is written (Cube, dont, two).
static bool is_unknown(const void *context, const char *word)
{
    vd_reply seen = {0};
    bool unknown = false;
    if (vd_read_typed(context, word, &seen.question, NULL) == VD_OK &&
        vd_reply_see(&seen, context, NULL) == VD_OK)
        for (int i = 0; i < seen.words; i++)
            unknown |= seen.unknown[i] && strcmp(seen.word[i], "?") != 0;
    vd_reply_clear(&seen);
    return unknown;
}

// Words that are typed to their end.
static void mark_unknown(const vd_chat *chat, vd_grid *grid, int x, int y, int width,
                         const vd_line_view *view)
{
    const vd_line *line = &chat->nav.line;
    const vd_vocab *vocab = chat->lanes.lane[0].vocab;
    size_t length = view->length, end = view->first + length;
    if (line->cursor == line->length && end == line->length)
        while (length > 0 && line->text[view->first + length - 1] != ' ')
            length--;
    if (vocab)
        vd_mark_words(grid, x, y, width, line->text + view->first, length, is_unknown, vocab);
}

static void draw_line(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    const char *filtering = vd_chat_view(chat)->filter;
    const vd_line *line = filtering ? &chat->nav.filter : &chat->nav.line;
    int x = at.x + draw_prompt(chat, grid, at);
    int width = at.width - x;
    vd_line_view view = vd_line_draw(line, grid, (vd_rect){x, at.y, width, 1});
    if (!filtering && line->text[strspn(line->text, " ")] != '/' && !line->searching)
        mark_unknown(chat, grid, x, at.y, width - view.more_right, &view);
    if (line->length == 0 && !filtering && !line->searching)
        vd_grid_text(grid, x, at.y, width,
                     vd_lanes_wait(&chat->lanes)                  ? "answering... Ctrl-C stops"
                     : vd_conversation_waits(&chat->conversation) ? VD_NO_MODEL
                     : chat->conversation.branch->count           ? "ask more, or / for commands"
                     : width >= 56 ? "ask about the picture (Tab suggests a question)"
                                   : "ask about the picture (Tab: an idea)",
                     VD_ROLE_FAINT);
    if (chat->nav.places.now == VD_PLACE_HELP)
        grid->cursor_x = grid->cursor_y = -1;
}

static void draw_hints(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    if (chat->notice.kind != VD_NOTICE_NONE) {
        vd_notice_draw(&chat->notice, grid, at);
        return;
    }
    char hints[256];
    int cut = vd_chat_left_over(chat);
    if (cut > 0)
        snprintf(hints, sizeof hints, "too long: last %d word%s not read", cut,
                 cut == 1 ? "" : "s");
    else
        vd_keymap_hints(chat->nav.places.now, at.width - 2, hints, sizeof hints);
    vd_grid_text(grid, at.x + 1, at.y, at.width - 2, hints, cut > 0 ? VD_ROLE_NOTE : VD_ROLE_FAINT);
}

// ---- everything --------------------------------------------------------------------------------

// A message of several rows moves the line up; what lies above it gives way.
static void make_room_for_message(vd_chat *chat, vd_grid *grid)
{
    vd_panels *layout = &chat->nav.layout;
    if (chat->notice.kind == VD_NOTICE_NONE)
        return;
    int more = vd_notice_rows(&chat->notice, grid, layout->hints.width) - 1;
    if (more < 1)
        return;
    vd_rect *panels[] = {&layout->picture, &layout->caption, &layout->answers, &layout->attention,
                         &layout->dialog};
    layout->line.y -= more;
    layout->hints.y -= more;
    layout->hints.height += more;
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++) {
        int room = layout->line.y - panels[i]->y;
        if (panels[i]->height > room)
            panels[i]->height = room > 0 ? room : 0;
    }
}

static void draw_screen(vd_chat *chat, vd_grid *grid)
{
    const vd_view *view = vd_chat_view(chat);
    vd_grid_clear(grid);
    chat->nav.spot_count = 0;
    chat->nav.places.seen = chat->nav.places.most = 0;
    chat->nav.layout = view->arrange ? view->arrange(chat, grid->width, grid->height)
                                     : vd_panels_full(grid->width, grid->height, 0);
    if (vd_draw_too_small(grid))
        return;
    make_room_for_message(chat, grid);
    draw_status(chat, grid, chat->nav.layout.status);
    view->draw(chat, grid);
    draw_line(chat, grid, chat->nav.layout.line);
    draw_hints(chat, grid, chat->nav.layout.hints);
}

void vd_chat_draw(vd_chat *chat, vd_grid *grid)
{
    vd_look able = grid->look; // what the terminal can do, whatever is wanted of it
    grid->look = vd_theme_look(able, chat->theme);
    draw_screen(chat, grid);
    grid->look = able;
}

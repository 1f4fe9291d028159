// The frame of the screen, the chat and the picture in full.
#include <string.h>
#include <strings.h>

#include "tui/screen/theme.h"
#include "tui/chat/chat.h"

enum { MOST_MESSAGE_ROWS = 3 };

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

// ---- status, question line, last row -----------------------------------------------------------

static void draw_status(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    vd_style plain = role(grid, VD_ROLE_STATUS), name = role(grid, VD_ROLE_STATUS_NAME);
    vd_grid_fill(grid, at, plain);
    char text[256];
    int x = vd_grid_text(grid, at.x, at.y, at.width, " visdial ", name);
    void *context = chat->source.context;
    snprintf(text, sizeof text, at.width >= 72 ? " picture %zu/%zu  id %lld" : " %zu/%zu",
             chat->index + 1, chat->source.count(context),
             (long long)chat->source.image_id(context, chat->index));
    x += vd_grid_text(grid, x, at.y, at.width - x, text, plain);
    if (chat->branch_count > 1) {
        snprintf(text, sizeof text, at.width >= 72 ? "  branch %d/%d" : " b%d/%d", chat->branch + 1,
                 chat->branch_count);
        x += vd_grid_text(grid, x, at.y, at.width - x, text, role(grid, VD_ROLE_STATUS_NAME));
    }

    const vd_take *take = vd_chat_take(chat);
    const vd_lane *lane = &chat->lanes[0];
    char time[32] = "";
    if (take && (at.width >= 60 || chat->branch_count == 1))
        snprintf(time, sizeof time, "  %.*f ms", take->reply.answer.milliseconds < 9.95 ? 1 : 0,
                 take->reply.answer.milliseconds);
    bool waiting = lane->loading[0] || vd_chat_busy(chat) || !lane->model[0];
    if (lane->loading[0])
        snprintf(text, sizeof text, "loading %s ", lane->loading);
    else if (!lane->model[0])
        snprintf(text, sizeof text, "no model ");
    else if (vd_chat_busy(chat))
        snprintf(text, sizeof text, "%s is thinking ", lane->model);
    else
        snprintf(text, sizeof text, "%s  %s%s%s ", lane->model, lane->backend, time,
                 at.width >= 60 ? "  F1 help" : "");
    vd_grid_right(grid, x + 1, at.y, at.width - x - 1, text,
                  waiting ? role(grid, VD_ROLE_STATUS_WARN) : plain);
}

static void draw_line(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    const char *filtering = vd_view_of(chat->place)->filter;
    const vd_line *line = filtering ? &chat->filter : &chat->line;
    char prompt[32] = " > ";
    if (chat->editing >= 0)
        snprintf(prompt, sizeof prompt, " round %d> ", chat->editing + 1);
    int x = vd_grid_text(grid, at.x, at.y, at.width, filtering ? filtering : prompt,
                         role(grid, VD_ROLE_PROMPT));
    int width = at.width - x;
    vd_line_view view = vd_line_visible(line, width);
    vd_grid_plain(grid, x, at.y, width, line->text + view.first, view.length,
                  role(grid, VD_ROLE_TEXT));
    vd_style faint = role(grid, VD_ROLE_FAINT);
    if (line->length == 0 && !filtering)
        vd_grid_text(grid, x, at.y, width,
                     vd_chat_busy(chat)  ? "thinking... Ctrl-C stops"
                     : chat->round_count ? "ask on, or / for commands"
                     : width >= 56       ? "ask about the picture (Tab: a question people asked)"
                                         : "ask about the picture (Tab: an idea)",
                     faint);
    if (view.more_left)
        vd_grid_put(grid, x - 1, at.y, 0x2039, '<', role(grid, VD_ROLE_PROMPT));
    if (view.more_right)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x203A, '>', role(grid, VD_ROLE_PROMPT));
    if (chat->place != VD_PLACE_HELP) {
        grid->cursor_x = x + view.column;
        grid->cursor_y = at.y;
    }
}

static void draw_hints(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    if (chat->message[0]) {
        vd_chat_draw_wrapped(grid, (vd_rect){at.x + 1, at.y, at.width - 2, at.height},
                             chat->message,
                             role(grid, chat->message_wrong ? VD_ROLE_WRONG : VD_ROLE_NOTE));
        return;
    }
    char hints[256];
    vd_keymap_hints(chat->place, at.width - 2, hints, sizeof hints);
    vd_grid_text(grid, at.x + 1, at.y, at.width - 2, hints, role(grid, VD_ROLE_FAINT));
}

void vd_chat_draw_more(vd_grid *grid, vd_rect at, int first, int most)
{
    vd_style mark = role(grid, VD_ROLE_NOTE);
    if (first > 0)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x2191, '^', mark);
    if (first < most)
        vd_grid_put(grid, at.x + at.width - 1, at.y + at.height - 1, 0x2193, 'v', mark);
}

int vd_chat_draw_wrapped(vd_grid *grid, vd_rect at, const char *text, vd_style style)
{
    size_t length = strlen(text), offset = 0;
    vd_text_line line;
    int rows = 0;
    while (rows < at.height && vd_wrap_next(text, length, at.width, &offset, &line)) {
        bool last = rows == at.height - 1;
        size_t rest = last ? length - line.start : line.length; // cut with an ellipsis
        vd_grid_text_n(grid, at.x, at.y + rows, at.width, text + line.start, rest, style);
        rows++;
    }
    return rows;
}

// ---- picture -----------------------------------------------------------------------------------

static void draw_outlines(const vd_chat *chat, vd_grid *grid, vd_rect place, const vd_take *take)
{
    if (!take || !chat->boxes || chat->no_outlines || take->reply.answer.regions != chat->regions)
        return;
    vd_share top[VD_OUTLINES];
    int count =
        vd_shares_top(take->reply.answer.region_attention, chat->regions, 0.9, top, VD_OUTLINES);
    vd_outline outlines[VD_OUTLINES];
    for (int i = 0; i < count; i++) {
        outlines[i] = (vd_outline){.share = top[i].share, .number = i + 1};
        memcpy(outlines[i].box, chat->boxes + 4 * top[i].index, sizeof outlines[i].box);
    }
    vd_picture_outline(grid, place, outlines, count);
}

void vd_chat_draw_picture(vd_chat *chat, vd_grid *grid, vd_rect room, const vd_take *take)
{
    if (room.width <= 0 || room.height <= 0)
        return;
    vd_rect place = vd_panels_fit(room, chat->picture.image.width, chat->picture.image.height);
    vd_error error = {0};
    if (chat->picture_error[0] || vd_picture_draw(&chat->picture, grid, place, &error)) {
        vd_chat_draw_wrapped(grid, (vd_rect){room.x + 1, room.y, room.width - 2, room.height},
                             chat->picture_error[0] ? chat->picture_error : error.text,
                             role(grid, VD_ROLE_WRONG));
        return;
    }
    draw_outlines(chat, grid, place, take);
}

static const char *caption_of(const vd_chat *chat)
{
    return chat->source.caption(chat->source.context, chat->index);
}

void vd_chat_draw_caption(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    if (at.height <= 0)
        return;
    vd_style style = role(grid, VD_ROLE_TEXT);
    style.attributes |= VD_ITALIC;
    vd_chat_draw_wrapped(grid, (vd_rect){at.x + 1, at.y, at.width - 1, at.height}, caption_of(chat),
                         style);
}

// ---- the chat, and the picture in full ----------------------------------------------------------

static vd_panels arrange_chat(const vd_chat *chat, int width, int height)
{
    const char *caption = caption_of(chat);
    const vd_image *image = &chat->picture.image;
    return vd_panels_chat(width, height, image->width, image->height,
                          vd_text_width(caption, strlen(caption)));
}

static void draw_chat(vd_chat *chat, vd_grid *grid)
{
    const vd_panels *layout = &chat->layout;
    vd_chat_draw_picture(chat, grid, layout->picture, vd_chat_take(chat));
    vd_chat_draw_caption(chat, grid, layout->caption);
    vd_chat_draw_answers(chat, grid, layout->answers);
    vd_chat_draw_attention(chat, grid, layout->attention);
    vd_chat_draw_dialog(chat, grid, layout->dialog);
}

static void scroll_dialog(vd_chat *chat, int lines)
{
    chat->scroll = vd_clamp(chat->scroll - lines, chat->scroll_most);
}

static void click_chat(vd_chat *chat, int x, int y)
{
    vd_rect picture = chat->layout.picture;
    if (x >= picture.x && x < picture.x + picture.width && y >= picture.y &&
        y < picture.y + picture.height)
        vd_chat_open(chat, VD_PLACE_ZOOM);
    else if (chat->row_round[y] >= 0 && x >= chat->layout.dialog.x)
        chat->selected = chat->row_round[y] == (int)chat->round_count - 1 ? -1 : chat->row_round[y];
}

const vd_view vd_view_chat = {.title = "Keys in the chat",
                              .arrange = arrange_chat,
                              .draw = draw_chat,
                              .scroll = scroll_dialog,
                              .click = click_chat};

static vd_panels arrange_zoom(const vd_chat *chat, int width, int height)
{
    (void)chat;
    return vd_panels_full(width, height, 26);
}

static void draw_zoom(vd_chat *chat, vd_grid *grid)
{
    vd_rect full = chat->layout.picture;
    vd_chat_draw_caption(chat, grid, (vd_rect){full.x, full.y + full.height - 1, full.width, 1});
    full.height--;
    vd_chat_draw_picture(chat, grid, full, vd_chat_take(chat));
    vd_chat_draw_attention(chat, grid, chat->layout.attention);
}

static void click_zoom(vd_chat *chat, int x, int y)
{
    (void)x;
    (void)y;
    vd_chat_open(chat, VD_PLACE_CHAT);
}

const vd_view vd_view_zoom = {.title = "Keys while the picture fills the screen",
                              .arrange = arrange_zoom,
                              .draw = draw_zoom,
                              .click = click_zoom};

// ---- everything --------------------------------------------------------------------------------

static void draw_too_small(vd_grid *grid)
{
    char text[96];
    snprintf(text, sizeof text, "visdial needs %dx%d; this is %dx%d", VD_LEAST_WIDTH,
             VD_LEAST_HEIGHT, grid->width, grid->height);
    vd_chat_draw_wrapped(grid, (vd_rect){0, 0, grid->width, grid->height}, text,
                         vd_theme(grid->look, VD_ROLE_TEXT));
}

// A message of several rows moves the line up; what lies above it gives way.
static void make_room_for_message(vd_chat *chat, vd_grid *grid)
{
    vd_panels *layout = &chat->layout;
    const vd_rect unseen = {0, grid->height, layout->hints.width - 2, MOST_MESSAGE_ROWS};
    int more = vd_chat_draw_wrapped(grid, unseen, chat->message, (vd_style){0}) - 1;
    if (!chat->message[0] || more < 1)
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
    const vd_view *view = vd_view_of(chat->place);
    vd_grid_clear(grid);
    memset(chat->row_round, -1, sizeof chat->row_round);
    chat->page = chat->scroll_most = 0;
    chat->layout = view->arrange ? view->arrange(chat, grid->width, grid->height)
                                 : vd_panels_full(grid->width, grid->height, 0);
    if (chat->layout.shape == VD_SHAPE_NONE) {
        draw_too_small(grid);
        return;
    }
    make_room_for_message(chat, grid);
    draw_status(chat, grid, chat->layout.status);
    view->draw(chat, grid);
    draw_line(chat, grid, chat->layout.line);
    draw_hints(chat, grid, chat->layout.hints);
}

void vd_chat_draw(vd_chat *chat, vd_grid *grid)
{
    vd_look able = grid->look; // what the terminal can do, whatever is wanted of it
    grid->look.theme = chat->theme;
    if (chat->theme == VD_THEME_MONO)
        grid->look.depth = VD_DEPTH_MONO;
    draw_screen(chat, grid);
    grid->look = able;
}

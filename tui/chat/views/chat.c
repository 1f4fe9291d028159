// The chat, and the picture in full.
#include <string.h>

#include "tui/chat/views/draw.h"
#include "tui/screen/theme.h"

static vd_panels arrange_chat(const vd_chat *chat, int width, int height)
{
    const char *caption = vd_caption_line(chat);
    const vd_image *image = &chat->shown.picture.image;
    return vd_panels_chat(width, height, image->width, image->height,
                          vd_text_width(caption, strlen(caption)));
}

static void draw_chat(vd_chat *chat, vd_grid *grid)
{
    const vd_panels *layout = &chat->nav.layout;
    const vd_sheet sheet = vd_chat_sheet(chat);
    vd_draw_picture(chat, grid, layout->picture, &sheet);
    vd_draw_caption(chat, grid, layout->caption);
    vd_draw_answers(chat, grid, layout->answers, &sheet);
    vd_draw_attention(chat, grid, layout->attention, &sheet);
    vd_draw_dialog(chat, grid, layout->dialog);
}

static void scroll_dialog(vd_chat *chat, int lines)
{
    chat->nav.scroll = vd_clamp(chat->nav.scroll - lines, chat->nav.scroll_most);
}

static void click_chat(vd_chat *chat, int x, int y)
{
    vd_rect picture = chat->nav.layout.picture;
    if (x >= picture.x && x < picture.x + picture.width && y >= picture.y &&
        y < picture.y + picture.height)
        vd_chat_open(chat, VD_PLACE_ZOOM);
    else if (chat->nav.row_round[y] >= 0 && x >= chat->nav.layout.dialog.x)
        chat->nav.selected = chat->nav.row_round[y] == (int)chat->conversation.branch->count - 1
                                 ? -1
                                 : chat->nav.row_round[y];
}

const vd_view vd_view_chat = {
    .arrange = arrange_chat, .draw = draw_chat, .scroll = scroll_dialog, .click = click_chat};

static vd_panels arrange_zoom(const vd_chat *chat, int width, int height)
{
    (void)chat;
    return vd_panels_full(width, height, 26);
}

static void draw_zoom(vd_chat *chat, vd_grid *grid)
{
    vd_rect full = chat->nav.layout.picture;
    vd_draw_caption(chat, grid, (vd_rect){full.x, full.y + full.height - 1, full.width, 1});
    full.height--;
    const vd_sheet sheet = vd_chat_sheet(chat);
    vd_draw_picture(chat, grid, full, &sheet);
    vd_draw_attention(chat, grid, chat->nav.layout.attention, &sheet);
}

static void click_zoom(vd_chat *chat, int x, int y)
{
    (void)x;
    (void)y;
    vd_chat_open(chat, VD_PLACE_CHAT);
}

const vd_view vd_view_zoom = {.arrange = arrange_zoom, .draw = draw_zoom, .click = click_zoom};

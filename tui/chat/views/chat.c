// The chat, and the picture in full.
#include <math.h>
#include <string.h>

#include "tui/chat/views/draw.h"

static vd_panels arrange_chat(vd_chat *chat, int width, int height)
{
    char caption[VD_CAPTION_LINE];
    vd_caption_line(chat, caption);
    const vd_image *image = &chat->shown.picture.image;
    return vd_panels_chat(width, height, image->width, image->height,
                          vd_text_width(caption, strlen(caption)));
}

static void draw_chat(vd_chat *chat, vd_grid *grid)
{
    const vd_panels *layout = &chat->nav.layout;
    const vd_sheet sheet = vd_chat_sheet(chat);
    vd_sheet_draw_picture(grid, layout->picture, &chat->shown.picture, chat->shown.error, &sheet,
                          sheet.sides - 1);
    vd_spot_add(&chat->nav, layout->picture, "/zoom");
    vd_draw_caption(chat, grid, layout->caption);
    vd_draw_answers(chat, grid, layout->answers, &sheet);
    vd_draw_attention(chat, grid, layout->attention, &sheet);
    vd_draw_dialog(chat, grid, layout->dialog);
}

static void scroll_dialog(vd_chat *chat, int lines)
{
    chat->nav.scroll = vd_clamp(chat->nav.scroll - lines, chat->nav.places.most);
}

const vd_view vd_view_chat = {.arrange = arrange_chat, .draw = draw_chat, .scroll = scroll_dialog};

static vd_panels arrange_zoom(vd_chat *chat, int width, int height)
{
    (void)chat;
    return vd_panels_full(width, height, 26);
}

// The boxes of the regions that are outlined, but for those that hold most of the picture: a click
// leaves one out.
static void add_regions(vd_chat *chat, vd_rect room, const vd_sheet *sheet)
{
    const vd_image *image = &chat->shown.picture.image;
    vd_rect at = vd_panels_fit(room, image->width, image->height);
    const vd_answer *answer = sheet->sides ? &sheet->side[0].reply->answer : NULL;
    const float *share = answer ? vd_answer_shares(answer, VD_AXIS_REGIONS) : NULL;
    vd_share top[VD_OUTLINES_MOST];
    int count = 0;
    if (share && sheet->boxes && answer->regions == sheet->regions)
        count = vd_shares_top(share, answer->regions, 0.9, top, VD_OUTLINES_MOST);
    while (count-- > 0) { // the strongest on top
        const float *box = sheet->boxes + (size_t)4 * (size_t)top[count].index;
        int x = (int)((float)at.width * box[0]), y = (int)((float)at.height * box[1]);
        vd_rect own = {at.x + x, at.y + y, (int)ceilf((float)at.width * box[2]) - x,
                       (int)ceilf((float)at.height * box[3]) - y};
        if (2 * own.width * own.height <= at.width * at.height)
            vd_spot_add(&chat->nav, own, "/what-if region %d", top[count].index + 1);
    }
}

static void draw_zoom(vd_chat *chat, vd_grid *grid)
{
    vd_rect full = chat->nav.layout.picture;
    vd_draw_caption(chat, grid, (vd_rect){full.x, full.y + full.height - 1, full.width, 1});
    full.height--;
    const vd_sheet sheet = vd_chat_sheet(chat);
    vd_sheet_draw_picture(grid, full, &chat->shown.picture, chat->shown.error, &sheet,
                          sheet.sides - 1);
    vd_spot_add(&chat->nav, full, "/zoom");
    add_regions(chat, full, &sheet);
    vd_draw_attention(chat, grid, chat->nav.layout.attention, &sheet);
}

const vd_view vd_view_zoom = {
    .action = VD_ACTION_ZOOM, .hides = true, .arrange = arrange_zoom, .draw = draw_zoom};

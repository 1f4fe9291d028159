// Parts of the screen that several views share.
#include "tui/chat/views/draw.h"
#include "tui/screen/theme.h"

const float *vd_chat_boxes(const vd_chat *chat)
{
    return chat->shown.no_outlines ? NULL : chat->shown.boxes;
}

vd_sheet vd_chat_sheet(vd_chat *chat)
{
    const vd_response *response = vd_chat_response(chat);
    vd_sheet sheet = {.caption = vd_conversation_caption(&chat->conversation),
                      .boxes = vd_chat_boxes(chat),
                      .names = chat->shown.names,
                      .regions = chat->shown.regions};
    if (response)
        sheet.side[sheet.sides++] =
            vd_rankings_side(&chat->rankings, chat->nav.lane, response, NULL);
    return sheet;
}

void vd_draw_more(vd_grid *grid, vd_rect at, int first, int most)
{
    vd_style mark = vd_style_of(grid, VD_ROLE_NOTE);
    if (first > 0)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x2191, '^', mark);
    if (first < most)
        vd_grid_put(grid, at.x + at.width - 1, at.y + at.height - 1, 0x2193, 'v', mark);
}

void vd_draw_picture(vd_chat *chat, vd_grid *grid, vd_rect at, const vd_sheet *sheet)
{
    vd_sheet_draw_picture(grid, at, &chat->shown.picture, chat->shown.error, sheet,
                          sheet->sides - 1);
}

void vd_draw_caption(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    vd_style style = vd_style_of(grid, VD_ROLE_TEXT);
    style.attributes |= VD_ITALIC;
    vd_grid_wrapped(grid, (vd_rect){at.x + 1, at.y, at.width - 1, at.height},
                    vd_conversation_caption(&chat->conversation), style);
}

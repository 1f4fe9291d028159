// Parts of the screen that several views share.
#include <string.h>

#include "tui/chat/views/draw.h"
#include "tui/screen/theme.h"

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

void vd_draw_more(vd_grid *grid, vd_rect at, int first, int most)
{
    vd_style mark = role(grid, VD_ROLE_NOTE);
    if (first > 0)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x2191, '^', mark);
    if (first < most)
        vd_grid_put(grid, at.x + at.width - 1, at.y + at.height - 1, 0x2193, 'v', mark);
}

int vd_draw_wrapped(vd_grid *grid, vd_rect at, const char *text, vd_style style)
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

static void draw_outlines(const vd_chat *chat, vd_grid *grid, vd_rect place,
                          const vd_response *response)
{
    if (!response || !chat->shown.boxes || chat->shown.no_outlines ||
        response->reply.answer.regions != chat->shown.regions)
        return;
    vd_share top[VD_OUTLINES];
    int count = vd_shares_top(response->reply.answer.region_attention, chat->shown.regions, 0.9,
                              top, VD_OUTLINES);
    vd_outline outlines[VD_OUTLINES];
    for (int i = 0; i < count; i++) {
        outlines[i] = (vd_outline){.share = top[i].share, .number = i + 1};
        memcpy(outlines[i].box, chat->shown.boxes + 4 * top[i].index, sizeof outlines[i].box);
    }
    vd_picture_outline(grid, place, outlines, count);
}

void vd_draw_picture(vd_chat *chat, vd_grid *grid, vd_rect room, const vd_response *response)
{
    if (room.width <= 0 || room.height <= 0)
        return;
    vd_rect place =
        vd_panels_fit(room, chat->shown.picture.image.width, chat->shown.picture.image.height);
    vd_error error = {0};
    if (chat->shown.error[0] || vd_picture_draw(&chat->shown.picture, grid, place, &error)) {
        vd_draw_wrapped(grid, (vd_rect){room.x + 1, room.y, room.width - 2, room.height},
                        chat->shown.error[0] ? chat->shown.error : error.text,
                        role(grid, VD_ROLE_WRONG));
        return;
    }
    draw_outlines(chat, grid, place, response);
}

void vd_draw_caption(vd_chat *chat, vd_grid *grid, vd_rect at)
{
    if (at.height <= 0)
        return;
    vd_style style = role(grid, VD_ROLE_TEXT);
    style.attributes |= VD_ITALIC;
    vd_draw_wrapped(grid, (vd_rect){at.x + 1, at.y, at.width - 1, at.height},
                    vd_conversation_caption(&chat->conversation), style);
}

// The help: the keys that work in the place it was opened from, then the commands.
#include <string.h>

#include "tui/screen/theme.h"
#include "tui/chat/views/draw.h"

static vd_style role(const vd_grid *grid, vd_role which)
{
    return vd_theme(grid->look, which);
}

static void draw_help(vd_chat *chat, vd_grid *grid)
{
    vd_rect at = chat->nav.layout.picture;
    vd_place about = chat->nav.stack[vd_clamp(chat->nav.depth - 1, VD_PLACES - 1)];
    int row = -chat->nav.top[VD_PLACE_HELP], left = at.width >= 70 ? 24 : 16;
    char keys[96];
    const char *meaning;
    vd_style key_style = role(grid, VD_ROLE_PROMPT), text = role(grid, VD_ROLE_TEXT);
    vd_style title = role(grid, VD_ROLE_TITLE);
#define VISIBLE(r) ((r) >= 0 && (r) < at.height)
    if (VISIBLE(row))
        vd_grid_text(grid, at.x + 1, at.y + row, at.width - 2, chat->views[about]->title, title);
    row++;
    for (int section = 0; section < 2; section++) {
        if (section == 1) {
            row++;
            if (VISIBLE(row))
                vd_grid_text(grid, at.x + 1, at.y + row, at.width - 2, "Commands (Tab completes)",
                             title);
            row++;
        }
        for (size_t i = 0; section == 0 ? vd_keymap_help(about, i, keys, sizeof keys, &meaning)
                                        : vd_chat_command_help(i, keys, sizeof keys, &meaning);
             i++) {
            size_t length = strlen(meaning), offset = 0;
            vd_text_line line;
            for (bool first = true;
                 vd_wrap_next(meaning, length, at.width - left - 2, &offset, &line);
                 first = false, row++) {
                if (!VISIBLE(row))
                    continue;
                if (first)
                    vd_grid_text(grid, at.x + 1, at.y + row, left - 2, keys, key_style);
                vd_grid_text_n(grid, at.x + left, at.y + row, at.width - left - 1,
                               meaning + line.start, line.length, text);
            }
        }
    }
#undef VISIBLE
    int total = row + chat->nav.top[VD_PLACE_HELP];
    chat->nav.seen = at.height;
    chat->nav.scroll_most = total > at.height ? total - at.height : 0;
    vd_draw_more(grid, at, 0, chat->nav.scroll_most - chat->nav.top[VD_PLACE_HELP]);
}

const vd_view vd_view_help = {.title = "Keys of the help", .draw = draw_help};

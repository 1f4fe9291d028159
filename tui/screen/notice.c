#include "tui/screen/notice.h"

#include <stdarg.h>
#include <stdio.h>

bool vd_notice_put(vd_notice *notice, vd_notice_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    notice->kind = kind;
    vsnprintf(notice->text, sizeof notice->text, format, arguments);
    va_end(arguments);
    return false;
}

int vd_notice_rows(const vd_notice *notice, vd_grid *grid, int width)
{
    const vd_rect unseen = {0, grid->height, width - 2, VD_NOTICE_ROWS};
    return vd_grid_wrapped(grid, unseen, notice->text, VD_ROLE_TEXT);
}

void vd_notice_draw(const vd_notice *notice, vd_grid *grid, vd_rect at)
{
    vd_role role = notice->kind == VD_NOTICE_WRONG ? VD_ROLE_WRONG : VD_ROLE_NOTE;
    vd_grid_wrapped(grid, (vd_rect){at.x + 1, at.y, at.width - 2, at.height}, notice->text, role);
}

// A list that typing filters. One of the entries that match is under the cursor.
#include "tui/chat/actions/actions.h"

static bool matches(const vd_list *list, int index)
{
    return !list->matches || list->matches(list, index);
}

static int count_matches(const vd_list *list)
{
    int count = 0;
    if (!list->matches || !list->chat->nav.filter.length)
        return list->count;
    for (int i = 0; i < list->count; i++)
        count += matches(list, i);
    return count;
}

int vd_list_draw(vd_list *list, vd_grid *grid, vd_rect at)
{
    int total = count_matches(list), seen = 0;
    *list->at = vd_clamp(*list->at, total - 1);
    list->top = vd_clamp(*list->at - at.height / 2, total - at.height);
    list->rows = at.height;
    for (int i = 0; i < list->count && seen < list->top + at.height; i++) {
        if (!matches(list, i) || seen++ < list->top)
            continue;
        vd_rect row = {at.x, at.y + seen - 1 - list->top, at.width, 1};
        vd_spot_add_entry(&list->chat->nav, row, seen - 1);
        list->draw_row(list, grid, row, i, seen - 1 == *list->at);
    }
    return total;
}

void vd_list_scroll(vd_chat *chat, int lines)
{
    const vd_list list = vd_chat_view(chat)->list(chat);
    *list.at = vd_clamp(*list.at + lines, count_matches(&list) - 1);
}

int vd_list_entry(const vd_list *list)
{
    for (int i = 0, seen = 0; i < list->count; i++)
        if (matches(list, i) && seen++ == *list->at)
            return i;
    return -1;
}

void vd_list_pick(vd_chat *chat)
{
    const vd_list list = vd_chat_view(chat)->list(chat);
    int entry = vd_list_entry(&list);
    if (entry >= 0)
        list.pick(&list, entry);
}

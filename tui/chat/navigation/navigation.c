#include "tui/chat/navigation/navigation.h"

#include <stdarg.h>
#include <stdio.h>

void vd_navigation_init(vd_navigation *nav)
{
    *nav = (vd_navigation){.selected = -1,
                           .editing = -1,
                           .caption = {.layer = -1, .head = -1},
                           .row_counts = g_array_new(FALSE, TRUE, sizeof(vd_row_count))};
    vd_places_begin(&nav->places, VD_PLACE_CHAT);
}

void vd_navigation_free(vd_navigation *nav)
{
    vd_line_free(&nav->line);
    vd_line_free(&nav->filter);
    g_clear_pointer(&nav->row_counts, g_array_unref);
    *nav = (vd_navigation){0};
}

void vd_navigation_stop_editing(vd_navigation *nav)
{
    if (nav->editing >= 0)
        vd_line_clear(&nav->line);
    nav->editing = -1;
}

void vd_navigation_settle(vd_navigation *nav, const vd_lanes *lanes)
{
    const vd_conversation *conversation = lanes->conversation;
    int rounds = (int)conversation->branch->count;
    bool other = nav->edition != conversation->edition;
    nav->edition = conversation->edition;
    if (other)
        nav->scroll = 0;
    if (other || nav->selected >= rounds)
        nav->selected = -1;
    if (other || nav->editing >= rounds)
        vd_navigation_stop_editing(nav);
    nav->lane = nav->places.now == VD_PLACE_CHAT ? 0 : vd_clamp(nav->lane, lanes->count - 1);
}

// ---- rounds ------------------------------------------------------------------------------------

int vd_navigation_round(const vd_navigation *nav, const vd_branch *branch)
{
    int count = (int)branch->count;
    if (nav->selected >= 0 && nav->selected < count &&
        branch->rounds[nav->selected].response[nav->lane].ready)
        return nav->selected;
    while (count > 0 && !branch->rounds[count - 1].response[nav->lane].ready)
        count--;
    return count - 1;
}

void vd_navigation_step(vd_navigation *nav, const vd_conversation *conversation, int step)
{
    int last = (int)(conversation->branch->count - vd_conversation_pending(conversation)) - 1;
    if (last < 0)
        return;
    int at = (nav->selected < 0 ? last : nav->selected) + step;
    nav->selected = at >= last ? -1 : at < 0 ? 0 : at;
    nav->reveal = true;
}

void vd_navigation_newest(vd_navigation *nav)
{
    nav->selected = -1;
    nav->scroll = 0;
}

bool vd_navigation_find(vd_navigation *nav, const vd_branch *branch, const char *text)
{
    if (text[0])
        snprintf(nav->search, sizeof nav->search, "%s", text);
    int count = (int)branch->count, from = nav->selected >= 0 ? nav->selected : count;
    for (int i = 1; nav->search[0] && i <= count; i++) {
        int at = ((from - i) % count + count) % count;
        const vd_round *round = &branch->rounds[at];
        const vd_response *response = &round->response[nav->lane];
        const char *answer = vd_response_text(response, response->chosen);
        if (!response->ready ||
            (!vd_text_find(round->typed, nav->search) && !vd_text_find(answer, nav->search)))
            continue;
        nav->selected = at;
        nav->reveal = true;
        return true;
    }
    return false;
}

// ---- the mouse ---------------------------------------------------------------------------------

void vd_spot_add_entry(vd_navigation *nav, vd_rect at, int entry)
{
    if (nav->spot_count < VD_SPOTS)
        nav->spots[nav->spot_count++] = (vd_spot){.at = at, .entry = entry};
}

void vd_spot_add(vd_navigation *nav, vd_rect at, const char *format, ...)
{
    vd_spot spot = {.at = at};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(spot.command, sizeof spot.command, format, arguments);
    va_end(arguments);
    if (nav->spot_count < VD_SPOTS)
        nav->spots[nav->spot_count++] = spot;
}

const vd_spot *vd_spot_at(const vd_navigation *nav, int x, int y)
{
    for (int i = nav->spot_count - 1; i >= 0; i--)
        if (vd_rect_has(nav->spots[i].at, x, y))
            return &nav->spots[i];
    return NULL;
}

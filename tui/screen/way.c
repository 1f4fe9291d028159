#include "tui/screen/way.h"

#include "tui/screen/key_help.h"
#include "tui/screen/layout.h"
#include "tui/screen/theme.h"

static void arrive(vd_way *way, int depth)
{
    way->depth = depth;
    way->now = way->stack[depth - 1];
    way->seen = way->most = 0;
}

static int depth_of(const vd_way *way, vd_place place)
{
    int depth = 0;
    while (depth < way->depth && way->stack[depth] != place)
        depth++;
    return depth;
}

void vd_way_begin(vd_way *way, vd_place first)
{
    way->stack[0] = first;
    if (way->depth <= 1)
        arrive(way, 1);
}

void vd_way_go(vd_way *way, vd_place place)
{
    int depth = depth_of(way, place);
    way->stack[depth] = place;
    way->top[place] = 0;
    arrive(way, depth + 1);
}

bool vd_way_have(const vd_way *way, vd_place place)
{
    return depth_of(way, place) < way->depth;
}

void vd_way_back(vd_way *way)
{
    if (way->depth > 1)
        arrive(way, way->depth - 1);
}

// ---- pages --------------------------------------------------------------------------------------

enum { FAR = 1 << 30 }; // further than anything is long

int vd_scroll_lines(vd_action action, bool wheel, int seen)
{
    int page = wheel ? 3 : seen > 2 ? seen - 1 : 1;
    switch ((int)action) {
    case VD_ACTION_SCROLL_UP:
        return -page;
    case VD_ACTION_SCROLL_DOWN:
        return page;
    case VD_ACTION_SCROLL_TOP:
        return -FAR;
    case VD_ACTION_SCROLL_BOTTOM:
        return FAR;
    case VD_ACTION_LINE_UP:
        return -1;
    case VD_ACTION_LINE_DOWN:
        return 1;
    default:
        return 0;
    }
}

static int clamp(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

bool vd_way_act(vd_way *way, vd_action action, vd_key key)
{
    int lines = vd_scroll_lines(action, vd_key_is_wheel(key), way->seen),
        *top = &way->top[way->now];
    bool help = action == VD_ACTION_HELP;
    if (help && way->now != VD_PLACE_HELP)
        vd_way_go(way, VD_PLACE_HELP);
    else if (help || action == VD_ACTION_BACK)
        vd_way_back(way);
    else if (lines)
        *top = clamp(*top + lines, way->most);
    return lines != 0 || help || action == VD_ACTION_BACK;
}

void vd_way_drawn(vd_way *way, int rows, int seen)
{
    int *top = &way->top[way->now];
    way->seen = seen;
    way->most = rows > seen ? rows - seen : 0;
    *top = clamp(*top, way->most);
}

void vd_way_draw_help(vd_way *way, vd_grid *grid, vd_rect at)
{
    vd_place about = way->stack[clamp(way->depth - 2, VD_ALL_PLACES)];
    int rows = vd_key_help_draw(grid, at, about, false, way->top[VD_PLACE_HELP]);
    vd_way_drawn(way, rows, at.height);
}

bool vd_draw_too_small(vd_grid *grid)
{
    char text[96];
    if (grid->width >= VD_LEAST_WIDTH && grid->height >= VD_LEAST_HEIGHT)
        return false;
    snprintf(text, sizeof text, "visdial needs %dx%d; this is %dx%d", VD_LEAST_WIDTH,
             VD_LEAST_HEIGHT, grid->width, grid->height);
    vd_grid_wrapped(grid, (vd_rect){0, 0, grid->width, grid->height}, text,
                    vd_style_of(grid, VD_ROLE_TEXT));
    return true;
}

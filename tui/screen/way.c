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

int vd_scroll_lines(vd_action action, const char *argument, int seen)
{
    int page = argument[0] ? 3 : seen > 2 ? seen - 1 : 1;
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

void vd_way_scroll(vd_way *way, int lines)
{
    way->top[way->now] = vd_clamp(way->top[way->now] + lines, way->most);
}

bool vd_way_act(vd_way *way, vd_action action, const char *argument)
{
    int lines = vd_scroll_lines(action, argument, way->seen);
    bool help = action == VD_ACTION_HELP;
    if (help && way->now != VD_PLACE_HELP)
        vd_way_go(way, VD_PLACE_HELP);
    else if (help || action == VD_ACTION_BACK)
        vd_way_back(way);
    else if (lines)
        vd_way_scroll(way, lines);
    return lines != 0 || help || action == VD_ACTION_BACK;
}

void vd_way_drawn(vd_way *way, int rows, int seen)
{
    way->seen = seen > 0 ? seen : 0;
    way->most = rows > seen ? rows - seen : 0;
    vd_way_scroll(way, 0);
}

void vd_draw_more(vd_grid *grid, vd_rect at, int first, int most)
{
    vd_style mark = vd_style_of(grid, VD_ROLE_NOTE);
    if (first > 0)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x2191, '^', mark);
    if (first < most)
        vd_grid_put(grid, at.x + at.width - 1, at.y + at.height - 1, 0x2193, 'v', mark);
}

void vd_way_draw_help(vd_way *way, vd_grid *grid, vd_rect at)
{
    vd_place about = way->stack[vd_clamp(way->depth - 2, VD_ALL_PLACES)];
    int top = way->top[VD_PLACE_HELP];
    vd_way_drawn(way, vd_key_help_draw(grid, at, about, way->stack[0], top), at.height);
    vd_draw_more(grid, at, 0, way->most - top);
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

#include "tui/screen/places.h"

#include <string.h>

#include "tui/screen/layout.h"

static void arrive(vd_places *places, int depth)
{
    places->depth = depth;
    places->now = places->stack[depth - 1];
    places->seen = places->most = 0;
}

static int depth_of(const vd_places *places, vd_place place)
{
    int depth = 0;
    while (depth < places->depth && places->stack[depth] != place)
        depth++;
    return depth;
}

void vd_places_begin(vd_places *places, vd_place first)
{
    places->stack[0] = first;
    if (places->depth <= 1)
        arrive(places, 1);
}

void vd_places_open(vd_places *places, vd_place place)
{
    int depth = depth_of(places, place);
    places->stack[depth] = place;
    places->top[place] = 0;
    arrive(places, depth + 1);
}

bool vd_places_has(const vd_places *places, vd_place place)
{
    return depth_of(places, place) < places->depth;
}

void vd_places_back(vd_places *places)
{
    if (places->depth > 1)
        arrive(places, places->depth - 1);
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

void vd_places_scroll(vd_places *places, int lines)
{
    places->top[places->now] = vd_clamp(places->top[places->now] + lines, places->most);
}

bool vd_places_act(vd_places *places, vd_action action, const char *argument)
{
    int lines = vd_scroll_lines(action, argument, places->seen);
    bool help = action == VD_ACTION_HELP;
    if (help && places->now != VD_PLACE_HELP)
        vd_places_open(places, VD_PLACE_HELP);
    else if (help || action == VD_ACTION_BACK)
        vd_places_back(places);
    else if (lines)
        vd_places_scroll(places, lines);
    return lines != 0 || help || action == VD_ACTION_BACK;
}

void vd_places_drawn(vd_places *places, int rows, int seen)
{
    places->seen = seen > 0 ? seen : 0;
    places->most = rows > seen ? rows - seen : 0;
    vd_places_scroll(places, 0);
}

void vd_draw_more(vd_grid *grid, vd_rect at, int first, int most)
{
    if (first > 0)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x2191, '^', VD_ROLE_NOTE);
    if (first < most)
        vd_grid_put(grid, at.x + at.width - 1, at.y + at.height - 1, 0x2193, 'v', VD_ROLE_NOTE);
}

// ---- the help -----------------------------------------------------------------------------------

// The next row, from the top of what is seen; rows outside are not drawn.
typedef struct help_page {
    vd_grid *grid;
    vd_rect at;
    int row, keys; // keys: columns of them
} help_page;

static void put(const help_page *page, int x, const char *text, size_t length, vd_role role)
{
    if (page->row >= 0 && page->row < page->at.height)
        vd_grid_text_n(page->grid, page->at.x + x, page->at.y + page->row, page->at.width - x - 1,
                       text, length, role);
}

static void put_title(help_page *page, const char *title)
{
    put(page, 1, title, strlen(title), VD_ROLE_TITLE);
    page->row++;
}

// Keys and their meaning beside each other, each over as many rows as it needs.
static void put_entry(help_page *page, const char *keys, const char *meaning)
{
    size_t keys_at = 0, meaning_at = 0;
    vd_text_line line;
    for (bool more = true; more; page->row += more) {
        more = vd_wrap_next(keys, strlen(keys), page->keys - 2, &keys_at, &line);
        if (more)
            put(page, 1, keys + line.start, line.length, VD_ROLE_PROMPT);
        if (!vd_wrap_next(meaning, strlen(meaning), page->at.width - page->keys - 2, &meaning_at,
                          &line))
            continue;
        put(page, page->keys, meaning + line.start, line.length, VD_ROLE_TEXT);
        more = true;
    }
}

const char *const vd_help_shown[][2] = {
    {"63 %", "beside an answer its probability within the pool of answers; beside a region, "
             "round or word its share of the attention"},
    {"margin", "the first answer's probability minus the second's"},
    {"entropy", "of the answers' probabilities, in bits: 0 if one answer has all of it"},
    {"Regions", "regions with the largest attention, by the numbers of their outlines"},
    {"History", "attention to the caption and the earlier rounds"},
    {"Saw", "the question as the model read it; words in [ ] are not known to it"},
    {"distance", "side by side: half the sum of the differences of two models' probabilities; "
                 "0 % the same, 100 % nothing in common"},
    {NULL, NULL}};

// The keys of a place, in the chat what it shows, then the /commands of its screen, from row `top`
// on. Returns how many rows there are.
static int draw_help(vd_grid *grid, vd_rect at, vd_place place, vd_place screen, int top)
{
    help_page page = {grid, at, -top, at.width >= 70 ? 24 : 16};
    char keys[96];
    const char *meaning;
    const vd_binding *binding;
    put_title(&page, vd_keymap_title(place));
    for (size_t i = 0; vd_keymap_help(place, i, keys, sizeof keys, &meaning); i++)
        put_entry(&page, keys, meaning);
    if (screen == VD_PLACE_CHAT) {
        page.row++;
        put_title(&page, VD_HELP_SHOWN);
        for (int i = 0; vd_help_shown[i][0]; i++)
            put_entry(&page, vd_help_shown[i][0], vd_help_shown[i][1]);
    }
    page.row++;
    put_title(&page, "Commands (Tab completes)");
    for (size_t i = 0; (binding = vd_keymap_command(screen, i)) != NULL; i++) {
        snprintf(keys, sizeof keys, "%s%s%s", binding->command, binding->argument ? " " : "",
                 binding->argument ? binding->argument : "");
        put_entry(&page, keys, binding->meaning);
    }
    return page.row + top;
}

void vd_places_draw_help(vd_places *places, vd_grid *grid, vd_rect at)
{
    vd_place about = places->stack[vd_clamp(places->depth - 2, VD_ALL_PLACES)];
    int top = places->top[VD_PLACE_HELP];
    vd_places_drawn(places, draw_help(grid, at, about, places->stack[0], top), at.height);
    vd_draw_more(grid, at, 0, places->most - top);
}

bool vd_draw_too_small(vd_grid *grid)
{
    char text[96];
    if (grid->width >= VD_LEAST_WIDTH && grid->height >= VD_LEAST_HEIGHT)
        return false;
    snprintf(text, sizeof text, "visdial needs %dx%d; this is %dx%d", VD_LEAST_WIDTH,
             VD_LEAST_HEIGHT, grid->width, grid->height);
    vd_grid_wrapped(grid, (vd_rect){0, 0, grid->width, grid->height}, text, VD_ROLE_TEXT);
    return true;
}

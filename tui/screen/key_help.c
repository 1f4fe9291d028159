#include "tui/screen/key_help.h"

#include <string.h>

#include "tui/screen/theme.h"

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
                       text, length, vd_theme(page->grid->look, role));
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

bool vd_key_help_shown(size_t index, const char **word, const char **meaning)
{
    static const char *const shown[][2] = {
        {"63 %", "beside an answer its probability within the pool of answers; beside a region, "
                 "round or word its share of the attention"},
        {"margin", "the first answer's probability minus the second's"},
        {"entropy", "of the answers' probabilities, in bits: 0 if one answer has all of it"},
        {"Regions", "regions with the largest attention, by the numbers of their "
                    "outlines"},
        {"History", "attention to the caption and the earlier rounds"},
        {"Saw", "the question as the model read it; words in [ ] are not known to it"},
        {"distance", "side by side: half the sum of the differences of two models' "
                     "probabilities; 0 % the same, 100 % nothing in common"},
    };
    if (index >= sizeof shown / sizeof *shown)
        return false;
    *word = shown[index][0];
    *meaning = shown[index][1];
    return true;
}

int vd_key_help_draw(vd_grid *grid, vd_rect at, vd_place place, vd_place screen, int top)
{
    help_page page = {grid, at, -top, at.width >= 70 ? 24 : 16};
    char keys[96];
    const char *word, *meaning;
    const vd_binding *binding;
    put_title(&page, vd_keymap_title(place));
    for (size_t i = 0; vd_keymap_help(place, i, keys, sizeof keys, &meaning); i++)
        put_entry(&page, keys, meaning);
    if (screen == VD_PLACE_CHAT) {
        page.row++;
        put_title(&page, VD_KEY_HELP_SHOWN);
        for (size_t i = 0; vd_key_help_shown(i, &word, &meaning); i++)
            put_entry(&page, word, meaning);
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

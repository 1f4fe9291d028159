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

int vd_key_help_draw(vd_grid *grid, vd_rect at, vd_place place, bool commands, int top)
{
    help_page page = {grid, at, -top, at.width >= 70 ? 24 : 16};
    char keys[96];
    const char *meaning;
    const vd_binding *binding;
    put_title(&page, vd_keymap_title(place));
    for (size_t i = 0; vd_keymap_help(place, i, keys, sizeof keys, &meaning); i++)
        put_entry(&page, keys, meaning);
    if (commands) {
        page.row++;
        put_title(&page, "Commands (Tab completes)");
    }
    for (size_t i = 0; commands && (binding = vd_keymap_command(i)) != NULL; i++) {
        snprintf(keys, sizeof keys, "%s%s%s", binding->command, binding->argument ? " " : "",
                 binding->argument ? binding->argument : "");
        put_entry(&page, keys, binding->meaning);
    }
    return page.row + top;
}

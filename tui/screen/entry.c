#include "tui/screen/entry.h"

#include <glib.h>
#include <string.h>

#include "tui/base/bundled.h"
#include "tui/base/nearest.h"
#include "tui/base/options.h"

// ---- what a line means --------------------------------------------------------------------------

// The command that a name is, or is short for; NULL: none (*matches 0) or more than one.
static const vd_binding *find_command(vd_place screen, const char *name, size_t length,
                                      int *matches)
{
    const vd_binding *found = NULL, *binding;
    *matches = 0;
    for (size_t i = 0; (binding = vd_keymap_command(screen, i)) != NULL; i++) {
        if (g_ascii_strncasecmp(binding->command, name, length) != 0)
            continue;
        found = binding;
        *matches += 1;
        if (strlen(found->command) == length) {
            *matches = 1;
            return found;
        }
    }
    return *matches == 1 ? found : NULL;
}

bool vd_entry_known(const vd_places *places, const char *line)
{
    int matches;
    return find_command(places->stack[0], line, strcspn(line, " "), &matches) != NULL;
}

static void refuse_command(vd_place screen, const char *name, size_t length, int matches,
                           vd_notice *notice)
{
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)(length < 60 ? length : 60), name);
    vd_nearest nearest = {.typed = typed, .most = VD_EDITS_OF_NAMES};
    const vd_binding *binding;
    for (size_t i = 0; length > 2 && (binding = vd_keymap_command(screen, i)) != NULL; i++)
        vd_nearest_try(&nearest, binding->command);
    if (matches > 1 && length > 1)
        vd_notice_complain(notice, "%s is short for more than one command; Tab lists them", typed);
    else if (nearest.name)
        vd_notice_complain(notice, "%s is not a command; did you mean %s?", typed, nearest.name);
    else
        vd_notice_complain(notice, "%s is not a command; F1 lists them", typed);
}

void vd_entry_run(const vd_places *places, const char *line, vd_notice *notice, vd_act *act,
                  void *screen)
{
    size_t length = strcspn(line, " ");
    char argument[VD_LINE_MAX + 1];
    int matches;
    g_strlcpy(argument, line + length, sizeof argument);
    g_strstrip(argument);
    const vd_binding *found = find_command(places->stack[0], line, length, &matches);
    if (!found || length < 2)
        refuse_command(places->stack[0], line, length, matches, notice);
    else if (!found->argument && argument[0])
        vd_notice_complain(notice, "%s takes no argument, found \"%s\"", found->command, argument);
    else if (!act(screen, found->action, argument)) {
        char where[256];
        vd_keymap_where(places->stack[0], found->action, where, sizeof where);
        vd_notice_complain(notice, "%s does nothing here%s%s", found->command,
                           *where ? "; it works " : "", where);
    }
}

bool vd_entry_switch(const char *command, const char *argument, bool *on, vd_notice *notice)
{
    *on = strcmp(argument, "on") == 0;
    return *on || strcmp(argument, "off") == 0 ||
           vd_notice_complain(notice, "%s on or %s off", command, command);
}

// ---- completing it ------------------------------------------------------------------------------

// The words that commands take.
static const struct {
    const char *command, *choices;
} words[] = {{"/model", VD_MODEL_NAMES},
             {"/compare", VD_MODEL_NAMES ", off"},
             {"/history", "own, shared or data"},
             {"/theme", VD_THEME_NAMES},
             {"/mouse", "on or off"},
             {"/fold", "on or off"},
             {"/group", "1, 2, 3 or 4"},
             {"/picture-mode", VD_PICTURE_MODE_NAMES},
             {"/caption", "next or edit"},
             {"/captioner", "off"},
             {"/copy", "answer, round or conversation"},
             {"/export", "html, md or json"}};

static void add_words(const char *command, vd_completion *completion)
{
    char text[64];
    const char *word;
    size_t length;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *choices = strcmp(words[i].command, command) == 0 ? words[i].choices : "";
        bool file = strcmp(command, "/export") == 0; // follows
        while ((word = vd_choice_next(&choices, &length)) != NULL) {
            snprintf(text, sizeof text, "%s %.*s%s", command, (int)length, word, file ? " " : "");
            vd_complete_add(completion, text);
        }
    }
}

static void add_commands(vd_place screen, vd_completion *completion)
{
    const vd_binding *binding;
    for (size_t i = 0; (binding = vd_keymap_command(screen, i)) != NULL; i++) {
        vd_complete_add(completion, binding->command);
        size_t length = strlen(completion->common);
        if (completion->matches == 1 && binding->argument &&
            strcmp(completion->common, binding->command) == 0)
            memcpy(completion->common + length, " ", 2); // nothing else: on to what it takes
    }
}

void vd_entry_complete(const vd_places *places, vd_line *line, vd_notice *notice, vd_entry_add *add,
                       const void *screen)
{
    bool again = line->changes == line->suggested; // Tab once more: the next of a long list
    vd_completion completion = {.typed = line->text, .skip = again ? line->candidate : 0};
    const char *space = strchr(line->text, ' ');
    char name[32];
    if (space) {
        snprintf(name, sizeof name, "%.*s", (int)(space - line->text), line->text);
        if (vd_entry_known(places, name))
            add_words(name, &completion);
        if (add)
            add(screen, name, &completion);
    } else {
        add_commands(places->stack[0], &completion);
    }
    if (completion.matches == 0)
        vd_notice_say(notice, "%s",
                      space ? "there is no completion that starts like that"
                            : "no command starts like that; F1 lists them");
    else if (strlen(completion.common) > line->length)
        vd_line_set(line, completion.common);
    else if (completion.matches > 1) {
        int listed = completion.skip + completion.listed;
        bool more = listed < completion.matches;
        vd_notice_say(notice, "%s%s", completion.list,
                      more || completion.skip ? "  (Tab: others)" : "");
        line->suggested = line->changes;
        line->candidate = more ? listed : 0;
    }
}

// ---- where nothing else is typed ----------------------------------------------------------------

static void submit(vd_entry *entry, const vd_places *places, vd_act *act, void *screen)
{
    char line[VD_LINE_MAX + 1];
    g_strlcpy(line, entry->line.text, sizeof line);
    vd_line_remember(&entry->line, line);
    entry->open = false;
    vd_entry_run(places, line, &entry->notice, act, screen);
}

// An open line takes all keys.
static void type(vd_entry *entry, const vd_places *places, vd_key key, vd_act *act, void *screen)
{
    vd_line *line = &entry->line;
    vd_action action = vd_keymap_action(VD_PLACE_COMMAND, key, line->length == 0);
    if (action == VD_ACTION_COMPLETE)
        vd_entry_complete(places, line, &entry->notice, NULL, NULL);
    else if (action == VD_ACTION_ASK)
        submit(entry, places, act, screen);
    else if (!vd_line_key(line, key, action) && action) {
        entry->open = action != VD_ACTION_BACK && action != VD_ACTION_HELP;
        if (action != VD_ACTION_BACK)
            act(screen, action, "");
    }
    entry->open &= line->length > 0;
}

bool vd_entry_key(vd_entry *entry, const vd_places *places, vd_key key, vd_act *act, void *screen)
{
    const char *line = vd_keymap_line(places->now, key);
    bool open = entry->open;
    entry->notice = (vd_notice){0};
    if (open) {
        type(entry, places, key, act, screen);
    } else if (line) {
        vd_entry_run(places, line, &entry->notice, act, screen);
    } else if (vd_keymap_action(places->now, key, true) == VD_ACTION_COMMAND) {
        vd_line_set(&entry->line, "/");
        entry->open = true;
    }
    return open || line || entry->open;
}

// ---- on the screen ------------------------------------------------------------------------------

vd_line_view vd_line_draw(const vd_line *line, vd_grid *grid, vd_rect at)
{
    vd_line_view view = vd_line_visible(line, at.width);
    vd_grid_plain(grid, at.x, at.y, at.width, line->text + view.first, view.length, VD_ROLE_TEXT);
    if (view.more_left)
        vd_grid_put(grid, at.x - 1, at.y, 0x2039, '<', VD_ROLE_PROMPT);
    if (view.more_right)
        vd_grid_put(grid, at.x + at.width - 1, at.y, 0x203A, '>', VD_ROLE_PROMPT);
    grid->cursor_x = at.x + view.column;
    grid->cursor_y = at.y;
    return view;
}

bool vd_entry_draw(const vd_entry *entry, vd_grid *grid, vd_rect at)
{
    enum { PROMPT = 3 };
    if (entry->open) {
        vd_grid_fill(grid, at, VD_ROLE_TEXT);
        vd_grid_text(grid, at.x, at.y, at.width, " > ", VD_ROLE_PROMPT);
        vd_line_draw(&entry->line, grid, (vd_rect){at.x + PROMPT, at.y, at.width - PROMPT, 1});
        at.y--;
    }
    if (entry->notice.kind == VD_NOTICE_NONE)
        return entry->open;
    vd_rect room = {at.x, at.y, at.width, vd_notice_rows(&entry->notice, grid, at.width)};
    room.y -= room.height - 1;
    vd_grid_fill(grid, room, VD_ROLE_TEXT);
    vd_notice_draw(&entry->notice, grid, room);
    return true;
}

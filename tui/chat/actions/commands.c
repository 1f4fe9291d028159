// The /commands of the chat; their names and meanings are in the table of keymap.c.
#include <glib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/base/complete.h"
#include "tui/base/nearest.h"
#include "tui/base/options.h"
#include "tui/chat/actions/actions.h"
#include "tui/screen/theme.h"

// Reads a number from 1 to `most`.
static bool read_number(const char *text, long most, size_t *out)
{
    char *end;
    long number = strtol(text, &end, 10);
    *out = (size_t)number;
    return end != text && !*end && number >= 1 && number <= most;
}

static void run_picture(vd_chat *chat, const char *argument)
{
    const vd_world *world = chat->conversation.world;
    size_t count = vd_world_count(world), index;
    vd_error error = {0};
    char *end;
    long long id = strtoll(argument, &end, 10);
    if (argument[0] == '#') {
        if (read_number(argument + 1, (long)count, &index))
            vd_chat_go_picture(chat, index - 1);
        else
            vd_notice_complain(&chat->notice, "/picture %s: there are pictures #1 to #%zu",
                               argument, count);
    } else if (end == argument || *end) {
        vd_notice_complain(&chat->notice,
                           "/picture takes an image id, or \"#3\" for the third picture");
    } else if (vd_world_find(world, id, &index, &error)) {
        if (id >= 1 && id <= (long long)count)
            vd_notice_complain(&chat->notice,
                               "no picture has the id %lld; /picture #%lld is %zu/%zu", id, id,
                               (size_t)id, count);
        else
            vd_notice_complain(&chat->notice, "%s", error.text);
    } else {
        vd_chat_go_picture(chat, index);
    }
}

static void run_model(vd_chat *chat, const char *argument)
{
    const vd_lane *first = &chat->lanes.lane[0];
    if (argument[0])
        vd_lanes_use_model(&chat->lanes, 0, argument);
    else
        vd_notice_say(&chat->notice,
                      "this is %s; /model best, /model base, /model improved or /model FILE",
                      first->loaded ? first->model : "no model");
}

static void run_choose(vd_chat *chat, const char *argument)
{
    size_t place;
    const vd_response *response = vd_chat_response(chat);
    int most = response ? response->reply.answer.candidates : INT_MAX;
    if (read_number(argument, most, &place))
        vd_chat_choose(chat, (int)place - 1);
    else
        vd_notice_complain(&chat->notice, "/choose takes a place in the ranking, 1 to %d",
                           response ? most : 1);
}

static void run_compare(vd_chat *chat, const char *argument)
{
    bool off = strcmp(argument, "off") == 0;
    const vd_lane *first = &chat->lanes.lane[0];
    if (off)
        vd_lanes_stop_comparing(&chat->lanes);
    else // before the place, which adds a model where there is only one
        vd_lanes_compare_with(&chat->lanes, argument);
    vd_chat_open(chat, off ? VD_PLACE_CHAT : VD_PLACE_COMPARE);
    if (off && first->loaded)
        vd_notice_say(&chat->notice, "%s answers alone", first->model);
}

// "/history own", or "/history base own" for one of several models.
static void run_history(vd_chat *chat, const char *argument)
{
    vd_lanes *lanes = &chat->lanes;
    const char *word = strrchr(argument, ' ');
    size_t length = word ? (size_t)(word - argument) : 0;
    word = word ? word + 1 : argument;
    int lane = length ? -1 : chat->nav.lane;
    for (int i = 0; i < lanes->count && length; i++)
        if (strncmp(lanes->lane[i].model, argument, length) == 0 && !lanes->lane[i].model[length])
            lane = i;
    if (lane < 0) {
        vd_notice_complain(&chat->notice, "/history %s: no such model is shown", argument);
        return;
    }
    for (int i = 0; i < VD_FOLLOWS; i++)
        if (strncmp(word, vd_follow_name((vd_follow)i), strlen(word)) == 0 && word[0]) {
            vd_lanes_follow(lanes, lane, (vd_follow)i);
            return;
        }
    vd_notice_complain(&chat->notice,
                       "/history own, shared or people's: the answers that %s continues from",
                       lanes->lane[lane].model);
}

static void run_pictures(vd_chat *chat, const char *argument)
{
    vd_chat_open(chat, VD_PLACE_PICTURES);
    vd_line_set(&chat->nav.filter, argument);
}

static void run_branch(vd_chat *chat, const char *argument)
{
    size_t number;
    int count = chat->conversation.branches.count;
    if (!argument[0])
        vd_chat_branch(chat);
    else if (read_number(argument, count, &number))
        vd_lanes_use_branch(&chat->lanes, (int)number - 1);
    else
        vd_notice_complain(&chat->notice,
                           "/branch %s: no such branch; there are branches 1 to %d, and /branch "
                           "alone starts another",
                           argument, count);
}

static void run_round(vd_chat *chat, const char *argument)
{
    size_t number, count = chat->conversation.branch->count;
    if (read_number(argument, (long)count, &number)) {
        chat->nav.selected = number == count ? -1 : (int)number - 1;
        chat->nav.reveal = true;
    } else {
        vd_notice_complain(&chat->notice, "/round takes the number of a round; there are %zu",
                           count);
    }
}

static void run_theme(vd_chat *chat, const char *argument)
{
    int found = vd_choice_find(VD_THEME_NAMES, argument);
    if (found < 0) {
        vd_notice_complain(&chat->notice, "/theme " VD_THEME_NAMES " (for colour-blind users)");
        return;
    }
    chat->theme = (vd_theme_name)found;
    vd_notice_say(&chat->notice, VD_THEME_CHOSEN, argument, argument);
}

// "on" or "off"; else says what `name` takes.
static bool read_switch(vd_chat *chat, const char *name, const char *argument, bool *on)
{
    *on = strcmp(argument, "on") == 0;
    if (*on || strcmp(argument, "off") == 0)
        return true;
    return vd_notice_complain(&chat->notice, "%s on or %s off", name, name);
}

static void run_fold(vd_chat *chat, const char *argument)
{
    bool on = !chat->rankings.folded;
    if (!argument[0] || read_switch(chat, "/fold", argument, &on))
        vd_chat_fold(chat, on);
}

static void run_mouse(vd_chat *chat, const char *argument)
{
    bool on;
    if (read_switch(chat, "/mouse", argument, &on) &&
        vd_lanes_send(&chat->lanes, VD_REQUEST_MOUSE, 0, NULL, on))
        vd_notice_say(&chat->notice, "mouse %s",
                      on ? "on" : "off: the terminal selects text again");
}

static void run_picture_mode(vd_chat *chat, const char *argument)
{
    int mode = vd_choice_find(VD_PICTURE_MODE_NAMES, argument);
    if (mode < 0)
        vd_notice_complain(&chat->notice, "/picture-mode %s", VD_PICTURE_MODE_NAMES);
    else if (vd_lanes_send(&chat->lanes, VD_REQUEST_PICTURE_MODE, 0, NULL, (size_t)mode))
        vd_notice_say(&chat->notice, "`picture = %s` in the config file keeps it", argument);
}

static void run_save(vd_chat *chat, const char *argument)
{
    size_t length = strlen(argument);
    if (length > 4 && strcmp(argument + length - 4, ".png") == 0)
        vd_chat_save_picture(chat, argument);
    else if (argument[0])
        vd_chat_wish(chat, VD_WISH_SAVE, argument);
    else
        vd_notice_complain(&chat->notice,
                           "/save takes a name for this session, such as /save monday, or a file "
                           "for the picture, such as /save my.png");
}

static void run_load(vd_chat *chat, const char *argument)
{
    if (argument[0])
        vd_chat_wish(chat, VD_WISH_LOAD, argument);
    else
        vd_chat_open(chat, VD_PLACE_SESSIONS);
}

// Commands that take something; the others are keys' actions by another way.
static const struct {
    vd_action action;
    void (*run)(vd_chat *chat, const char *argument);
} runs[] = {
    {VD_ACTION_PICTURE, run_picture},
    {VD_ACTION_PICTURES, run_pictures},
    {VD_ACTION_MODEL, run_model},
    {VD_ACTION_CHOOSE_ANSWER, run_choose},
    {VD_ACTION_SEARCH, vd_chat_find},
    {VD_ACTION_WHAT_IF, vd_chat_what_if},
    {VD_ACTION_COMPARE, run_compare},
    {VD_ACTION_FOLLOW, run_history},
    {VD_ACTION_COPY, vd_chat_copy},
    {VD_ACTION_EXPORT, vd_chat_export},
    {VD_ACTION_ROUND, run_round},
    {VD_ACTION_BRANCH, run_branch},
    {VD_ACTION_THEME, run_theme},
    {VD_ACTION_FOLD, run_fold},
    {VD_ACTION_MOUSE, run_mouse},
    {VD_ACTION_PICTURE_MODE, run_picture_mode},
    {VD_ACTION_CAPTION, vd_chat_caption},
    {VD_ACTION_WORD, vd_chat_word},
    {VD_ACTION_LAYER, vd_chat_layer},
    {VD_ACTION_HEAD, vd_chat_head},
    {VD_ACTION_CAPTIONER, vd_chat_captioner},
    {VD_ACTION_READ, vd_chat_read},
    {VD_ACTION_SAVE, run_save},
    {VD_ACTION_LOAD, run_load},
    {VD_ACTION_OPEN, vd_chat_open_picture},
    {VD_ACTION_NEW_PICTURE, vd_chat_new_picture},
};

static const char *const arguments[] = {
    "/model best",         "/model base",         "/model improved",
    "/compare best",       "/compare base",       "/compare improved",
    "/compare off",        "/history own",        "/history shared",
    "/history people's",   "/theme auto",         "/theme dark",
    "/theme light",        "/theme mono",         "/theme safe",
    "/mouse on",           "/mouse off",          "/fold on",
    "/fold off",           "/picture-mode auto",  "/picture-mode kitty",
    "/picture-mode sixel", "/picture-mode iterm", "/picture-mode cells",
    "/picture-mode none",  "/caption next",       "/caption edit",
    "/captioner off",      "/copy answer",        "/copy round",
    "/copy conversation",  "/export html ",       "/export md ",
    "/export json "};

// The command that a name is, or is short for; NULL: none (*matches 0) or more than one.
static const vd_binding *find_command(const char *name, size_t length, int *matches)
{
    const vd_binding *found = NULL, *binding;
    *matches = 0;
    for (size_t i = 0; (binding = vd_keymap_command(i)) != NULL; i++) {
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

static vd_action run(vd_chat *chat, const vd_binding *command, const char *argument)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (runs[i].action == command->action) {
            runs[i].run(chat, argument);
            return VD_ACTION_NONE;
        }
    return command->action;
}

static void refuse_command(vd_chat *chat, const char *name, size_t length, int matches)
{
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)(length < 60 ? length : 60), name);
    vd_nearest nearest = {.typed = typed, .most = VD_EDITS_OF_NAMES};
    const vd_binding *binding;
    for (size_t i = 0; length > 2 && (binding = vd_keymap_command(i)) != NULL; i++)
        vd_nearest_try(&nearest, binding->command);
    if (matches > 1 && length > 1)
        vd_notice_complain(&chat->notice, "%s is short for more than one command; Tab lists them",
                           typed);
    else if (nearest.name)
        vd_notice_complain(&chat->notice, "%s is not a command; did you mean %s?", typed,
                           nearest.name);
    else
        vd_notice_complain(&chat->notice, "%s is not a command; F1 lists them", typed);
}

vd_action vd_chat_command(vd_chat *chat, const char *line)
{
    size_t length = strcspn(line, " ");
    const char *argument = line + length + strspn(line + length, " ");
    char trimmed[VD_LINE_MAX + 1];
    int matches;
    g_strlcpy(trimmed, argument, sizeof trimmed);
    g_strchomp(trimmed);
    const vd_binding *found = find_command(line, length, &matches);
    if (!found && vd_chat_is_path(line))
        vd_chat_open_picture(chat, line);
    else if (!found || length < 2)
        refuse_command(chat, line, length, matches);
    else if (!found->argument && trimmed[0])
        vd_notice_complain(&chat->notice, "%s takes no argument, found \"%s\"", found->command,
                           trimmed);
    else
        return run(chat, found, trimmed);
    return VD_ACTION_NONE;
}

void vd_chat_misplaced(vd_chat *chat, vd_action action)
{
    const vd_binding *binding;
    for (size_t i = 0; (binding = vd_keymap_command(i)) != NULL; i++)
        if (binding->action == action) {
            const char *where = vd_keymap_where(action);
            vd_notice_complain(&chat->notice, "%s does nothing here%s%s", binding->command,
                               where ? "; it works " : "", where ? where : "");
            return;
        }
}

static void add_switch(vd_completion *completion, vd_switch_kind kind, int index)
{
    char name[48], text[64];
    const vd_switch one = {.kind = kind, .index = index};
    vd_switch_name(&one, name, sizeof name);
    snprintf(text, sizeof text, "/what-if %s", name);
    vd_complete_add(completion, text);
}

// All that can be left out of the answer that is looked at.
static void add_switches(const vd_chat *chat, vd_completion *completion)
{
    const vd_response *response = vd_chat_response(chat);
    const vd_answer *answer = response ? &response->reply.answer : NULL;
    const char *name;
    vd_complete_add(completion, "/what-if none");
    add_switch(completion, VD_SWITCH_PICTURE, 0);
    add_switch(completion, VD_SWITCH_POSITIONS, 0);
    if (!answer)
        return;
    for (int i = 0; vd_attention_named(answer->attention, answer->attentions, i, &name); i++)
        add_switch(completion, VD_SWITCH_ATTENTION, i);
    for (int i = 0; i < answer->rounds; i++)
        add_switch(completion, VD_SWITCH_ENTRY, i);
    for (int i = 0; i < answer->regions; i++)
        add_switch(completion, VD_SWITCH_REGION, i);
    for (int i = 0; i < response->reply.words; i++)
        add_switch(completion, VD_SWITCH_WORD, i);
}

static void add_sessions(vd_completion *completion)
{
    vd_saved *saved;
    size_t count;
    char text[VD_SAVED_NAME + 8];
    if (vd_saved_list(&saved, &count, NULL) == VD_OK)
        for (size_t i = 0; i < count; i++) {
            snprintf(text, sizeof text, "/load %s", saved[i].name);
            vd_complete_add(completion, text);
        }
    vd_free(saved);
}

static const char *const pictures_end[] = {".png", ".jpg", ".jpeg", ".bmp",
                                           ".ppm", ".pgm", ".pnm",  NULL};

// The arguments that a command is known to take, after it and a space.
static void add_arguments(const vd_chat *chat, const char *name, vd_completion *completion)
{
    char text[256];
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        vd_complete_add(completion, arguments[i]);
    if (strcmp(name, "/model") == 0 || strcmp(name, "/compare") == 0 ||
        strcmp(name, "/captioner") == 0)
        vd_complete_paths(completion, strlen(name) + 1,
                          (const char *const[]){".safetensors", NULL});
    const char *file = strcmp(name, "/export") == 0 ? strchr(completion->typed, ' ') : NULL;
    if (file && (file = strchr(file + 1, ' ')) != NULL)
        vd_complete_paths(completion, (size_t)(file + 1 - completion->typed),
                          (const char *const[]){"", NULL});
    if (strcmp(name, "/open") == 0)
        vd_complete_paths(completion, strlen(name) + 1, pictures_end);
    if (strcmp(name, "/what-if") == 0)
        add_switches(chat, completion);
    for (int i = 1; i <= chat->conversation.branches.count && strcmp(name, "/branch") == 0; i++) {
        snprintf(text, sizeof text, "/branch %d", i);
        vd_complete_add(completion, text);
    }
    if (strcmp(name, "/load") == 0)
        add_sessions(completion);
    const vd_world *world = chat->conversation.world;
    size_t pictures = strcmp(name, "/picture") == 0 ? vd_world_count(world) : 0;
    for (size_t i = 0; i < pictures; i++) {
        snprintf(text, sizeof text, "/picture %lld", (long long)vd_world_image_id(world, i));
        if (!vd_world_own_path(world, i))
            vd_complete_add(completion, text);
    }
}

// Completes to the longest start that all candidates share; lists them when that is no progress.
void vd_chat_complete(vd_chat *chat)
{
    const char *text = chat->nav.line.text;
    vd_navigation *nav = &chat->nav;
    bool again = nav->line.changes == nav->suggested; // Tab once more: the next of a long list
    vd_completion completion = {.typed = text, .skip = again ? nav->candidate : 0};
    const char *space = strchr(text, ' ');
    if (space) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)(space - text < 30 ? space - text : 30), text);
        add_arguments(chat, name, &completion);
    }
    const vd_binding *binding;
    for (size_t i = 0; !space && (binding = vd_keymap_command(i)) != NULL; i++) {
        vd_complete_add(&completion, binding->command);
        size_t length = strlen(completion.common);
        if (completion.matches == 1 && binding->argument &&
            strcmp(completion.common, binding->command) == 0)
            memcpy(completion.common + length, " ", 2); // nothing else: on to what it takes
    }
    if (completion.matches == 0)
        vd_notice_say(&chat->notice, "%s",
                      space ? "there is no completion that starts like that"
                            : "no command starts like that; F1 lists them");
    else if (strlen(completion.common) > nav->line.length)
        vd_line_set(&nav->line, completion.common);
    else if (completion.matches > 1) {
        int listed = completion.skip + completion.listed;
        bool more = listed < completion.matches;
        vd_notice_say(&chat->notice, "%s%s", completion.list,
                      more || completion.skip ? "  (Tab: others)" : "");
        nav->suggested = nav->line.changes;
        nav->candidate = more ? listed : 0;
    }
}

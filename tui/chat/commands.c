// The /commands of the chat: one table for dispatch, completion and help.
#include <string.h>
#include <strings.h>

#include "tui/base/complete.h"
#include "tui/screen/theme.h"
#include "tui/chat/chat.h"

typedef struct command {
    const char *name;
    const char *argument; // NULL: takes none
    const char *meaning;
    void (*run)(vd_chat *chat, const char *argument);
} command;

static void run_picture(vd_chat *chat, const char *argument)
{
    char *end;
    long long id = strtoll(argument, &end, 10);
    size_t index;
    vd_error error = {0};
    if (end == argument || *end)
        vd_chat_complain(chat, "/picture takes an image id, or \"#3\" for the third picture");
    else if (chat->source.find(chat->source.context, id, &index, &error))
        vd_chat_complain(chat, "%s", error.text);
    else
        vd_chat_go_picture(chat, index);
}

static void run_number(vd_chat *chat, const char *argument)
{
    if (argument[0] != '#') {
        run_picture(chat, argument);
        return;
    }
    char *end;
    long number = strtol(argument + 1, &end, 10);
    size_t count = chat->source.count(chat->source.context);
    if (end == argument + 1 || *end || number < 1 || (size_t)number > count)
        vd_chat_complain(chat, "/picture %s: there are pictures #1 to #%zu", argument, count);
    else
        vd_chat_go_picture(chat, (size_t)number - 1);
}

static void run_next(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_go_picture(chat, (chat->index + 1) % chat->source.count(chat->source.context));
}

static void run_prev(vd_chat *chat, const char *argument)
{
    (void)argument;
    size_t count = chat->source.count(chat->source.context);
    vd_chat_go_picture(chat, (chat->index + count - 1) % count);
}

static void run_random(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_random_picture(chat);
}

static void run_model(vd_chat *chat, const char *argument)
{
    if (argument[0])
        vd_chat_use_model(chat, 0, argument);
    else
        vd_chat_say(chat, "this is %s; /model base, /model improved or /model FILE",
                    chat->lanes[0].model[0] ? chat->lanes[0].model : "no model");
}

static void run_again(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_again(chat);
}

static void run_undo(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_undo(chat);
}

static void run_new(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_start_over(chat);
}

static void run_choose(vd_chat *chat, const char *argument)
{
    char *end;
    long place = strtol(argument, &end, 10);
    const vd_take *take = vd_chat_take(chat);
    if (end == argument || *end || place < 1 || (take && place > take->reply.answer.candidates))
        vd_chat_complain(chat, "/choose takes a place in the ranking, 1 to %d",
                         take ? take->reply.answer.candidates : 1);
    else
        vd_chat_choose(chat, (int)place - 1);
}

static void run_find(vd_chat *chat, const char *argument)
{
    vd_chat_find(chat, argument);
}

static void run_zoom(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_open(chat, chat->place == VD_PLACE_ZOOM ? VD_PLACE_CHAT : VD_PLACE_ZOOM);
}

static void run_answers(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_open(chat, VD_PLACE_ANSWERS);
}

static void run_attention(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_open(chat, VD_PLACE_DETAIL);
}

static void run_walk(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_open(chat, VD_PLACE_WALK);
}

static void run_compare(vd_chat *chat, const char *argument)
{
    if (strcmp(argument, "off") == 0) {
        vd_chat_stop_comparing(chat);
        vd_chat_open(chat, VD_PLACE_CHAT);
        return;
    }
    vd_chat_compare_with(chat, argument);
    vd_chat_open(chat, VD_PLACE_COMPARE);
}

// "/history own", or "/history base own" for one of several models.
static void run_history(vd_chat *chat, const char *argument)
{
    const char *word = strrchr(argument, ' ');
    size_t length = word ? (size_t)(word - argument) : 0;
    word = word ? word + 1 : argument;
    int lane = length ? -1 : chat->lane;
    for (int i = 0; i < chat->lane_count && length; i++)
        if (strncmp(chat->lanes[i].model, argument, length) == 0 && !chat->lanes[i].model[length])
            lane = i;
    if (lane < 0) {
        vd_chat_complain(chat, "/history %s: no such model is here", argument);
        return;
    }
    for (int i = 0; i < VD_FOLLOWS; i++)
        if (strncmp(word, vd_follow_name((vd_follow)i), strlen(word)) == 0 && word[0]) {
            vd_chat_follow(chat, lane, (vd_follow)i);
            return;
        }
    vd_chat_complain(chat, "/history own, shared or people's: the answers that %s continues from",
                     chat->lanes[lane].model);
}

static void run_pictures(vd_chat *chat, const char *argument)
{
    vd_chat_open(chat, VD_PLACE_PICTURES);
    vd_line_set(&chat->filter, argument);
}

static void run_edit(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_edit(chat);
}

static void run_branch(vd_chat *chat, const char *argument)
{
    char *end;
    long number = strtol(argument, &end, 10);
    size_t keep = chat->selected >= 0 ? (size_t)chat->selected + 1 : chat->round_count;
    if (argument[0] && (*end || number < 1 || number > chat->branch_count))
        vd_chat_complain(chat,
                         "/branch %s: found no such number; branches are 1 to %d, and /branch "
                         "alone starts another",
                         argument, chat->branch_count);
    else if (argument[0])
        vd_chat_use_branch(chat, (int)number - 1);
    else if (vd_chat_busy(chat))
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
    else if (vd_chat_fork(chat, keep))
        vd_chat_say(chat, "branch %d goes on after round %zu; Alt-n goes to the others",
                    chat->branch + 1, keep);
}

static void run_theme(vd_chat *chat, const char *argument)
{
    if (!vd_theme_find(argument, &chat->theme))
        vd_chat_complain(chat, "/theme dark, light, mono or safe (for the colour-blind)");
    else
        vd_chat_say(chat, "theme %s; `theme = %s` in the config file keeps it", argument, argument);
}

static void run_fold(vd_chat *chat, const char *argument)
{
    bool on = strcmp(argument, "on") == 0;
    if (!on && strcmp(argument, "off") != 0)
        vd_chat_complain(chat, "/fold on or /fold off");
    else
        vd_chat_fold_answers(chat, on);
}

static void run_mouse(vd_chat *chat, const char *argument)
{
    bool on = strcmp(argument, "on") == 0;
    if (!on && strcmp(argument, "off") != 0)
        vd_chat_complain(chat, "/mouse on or /mouse off");
    else if (vd_chat_post(chat, VD_REQUEST_MOUSE, 0, NULL, on))
        vd_chat_say(chat, "mouse %s", on ? "on" : "off: the terminal selects text again");
}

static void run_help(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_open(chat, VD_PLACE_HELP);
}

static void run_quit(vd_chat *chat, const char *argument)
{
    (void)argument;
    vd_chat_post(chat, VD_REQUEST_LEAVE, 0, NULL, 0);
}

static const command commands[] = {
    {"/picture", "ID or #N", "a picture by its image id or by its number", run_number},
    {"/pictures", "TEXT", "find a picture by caption, id or what is in it", run_pictures},
    {"/next", NULL, "the next picture", run_next},
    {"/prev", NULL, "the previous picture", run_prev},
    {"/random", NULL, "any picture", run_random},
    {"/model", "NAME", "base, improved or a model file; the conversation stays", run_model},
    {"/again", NULL, "ask the last question again, with this model", run_again},
    {"/choose", "N", "continue with the answer at place N", run_choose},
    {"/undo", NULL, "forget the last round", run_undo},
    {"/new", NULL, "start over with this picture", run_new},
    {"/find", "TEXT", "search the dialog", run_find},
    {"/zoom", NULL, "picture full screen and back", run_zoom},
    {"/answers", NULL, "every answer of the pool, ranked", run_answers},
    {"/attention", NULL, "attention word by word", run_attention},
    {"/walk", NULL, "walk through the answer, stage by stage", run_walk},
    {"/what-if", "CHANGE",
     "leave out: caption, round N, region N, word N, word N=OTHER, attention N, positions, picture",
     vd_chat_what_if},
    {"/compare", "MODEL", "models side by side: one more, or `off`", run_compare},
    {"/history", "WHOSE", "whose answers a model continues from: own, shared, people's",
     run_history},
    {"/edit", NULL, "edit the selected round's question (Alt-e)", run_edit},
    {"/branch", "N", "another conversation from the selected round on; or go to number N",
     run_branch},
    {"/theme", "NAME", "dark, light, mono or safe (for the colour-blind)", run_theme},
    {"/fold", "on|off", "answers that say the same as one, or each by itself (Alt-a)", run_fold},
    {"/mouse", "on|off", "use the mouse here or leave it to the terminal", run_mouse},
    {"/help", NULL, "the keys and commands", run_help},
    {"/quit", NULL, "leave", run_quit},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char *const arguments[] = {
    "/model base",  "/model improved", "/compare base",   "/compare improved",
    "/compare off", "/history own",    "/history shared", "/history people's",
    "/theme dark",  "/theme light",    "/theme mono",     "/theme safe",
    "/mouse on",    "/mouse off",      "/fold on",        "/fold off"};

bool vd_chat_command_help(size_t index, char *usage, size_t usage_size, const char **meaning)
{
    if (index >= COMMANDS)
        return false;
    snprintf(usage, usage_size, "%s%s%s", commands[index].name, commands[index].argument ? " " : "",
             commands[index].argument ? commands[index].argument : "");
    *meaning = commands[index].meaning;
    return true;
}

void vd_chat_command(vd_chat *chat, const char *line)
{
    size_t length = strcspn(line, " ");
    const char *argument = line + length + strspn(line + length, " ");
    char trimmed[VD_LINE_MAX + 1];
    snprintf(trimmed, sizeof trimmed, "%s", argument);
    size_t end = strlen(trimmed);
    while (end > 0 && trimmed[end - 1] == ' ')
        trimmed[--end] = '\0';

    const command *found = NULL;
    int matches = 0;
    for (int i = 0; i < COMMANDS; i++) {
        if (strncmp(commands[i].name, line, length) != 0)
            continue;
        bool whole = strlen(commands[i].name) == length;
        if (whole || !found)
            found = &commands[i];
        matches = whole ? 1 : matches + 1;
        if (whole)
            break;
    }
    if (matches != 1 || length < 2)
        vd_chat_complain(chat, "%.*s is %s command; F1 lists them", (int)length, line,
                         matches > 1 && length > 1 ? "short for more than one" : "no");
    else if (!found->argument && trimmed[0])
        vd_chat_complain(chat, "%s takes nothing after it, found \"%s\"", found->name, trimmed);
    else
        found->run(chat, trimmed);
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
    const vd_take *take = vd_chat_take(chat);
    vd_complete_add(completion, "/what-if none");
    add_switch(completion, VD_SWITCH_PICTURE, 0);
    add_switch(completion, VD_SWITCH_POSITIONS, 0);
    for (int i = 0; i < 4; i++)
        add_switch(completion, VD_SWITCH_ATTENTION, i);
    for (int i = 0; take && i < take->reply.answer.rounds; i++)
        add_switch(completion, VD_SWITCH_ENTRY, i);
    for (int i = 0; take && i < take->reply.answer.regions; i++)
        add_switch(completion, VD_SWITCH_REGION, i);
    for (int i = 0; take && i < take->reply.words; i++)
        add_switch(completion, VD_SWITCH_WORD, i);
}

// The arguments that a command is known to take, after it and a space.
static void add_arguments(const vd_chat *chat, const char *name, vd_completion *completion)
{
    char text[256];
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        vd_complete_add(completion, arguments[i]);
    if (strcmp(name, "/model") == 0 || strcmp(name, "/compare") == 0)
        vd_complete_paths(completion, strlen(name) + 1, ".safetensors");
    if (strcmp(name, "/what-if") == 0)
        add_switches(chat, completion);
    for (int i = 1; i <= chat->branch_count && strcmp(name, "/branch") == 0; i++) {
        snprintf(text, sizeof text, "/branch %d", i);
        vd_complete_add(completion, text);
    }
    size_t pictures = strcmp(name, "/picture") == 0 ? chat->source.count(chat->source.context) : 0;
    for (size_t i = 0; i < pictures; i++) {
        snprintf(text, sizeof text, "/picture %lld",
                 (long long)chat->source.image_id(chat->source.context, i));
        vd_complete_add(completion, text);
    }
}

// Completes to the longest start that all candidates share; lists them when that is no progress.
void vd_chat_complete(vd_chat *chat)
{
    const char *text = chat->line.text;
    if (text[0] != '/')
        return;
    vd_completion completion = {.typed = text};
    const char *space = strchr(text, ' ');
    if (space) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)(space - text < 30 ? space - text : 30), text);
        add_arguments(chat, name, &completion);
    }
    for (size_t i = 0; i < COMMANDS && !space; i++) {
        vd_complete_add(&completion, commands[i].name);
        size_t length = strlen(completion.common);
        if (completion.matches == 1 && commands[i].argument &&
            strcmp(completion.common, commands[i].name) == 0)
            memcpy(completion.common + length, " ", 2); // nothing else: on to what it takes
    }
    if (completion.matches == 0)
        vd_chat_say(chat, "%s",
                    space ? "nothing is known that starts like that"
                          : "no command starts like that; F1 lists them");
    else if (strlen(completion.common) > chat->line.length)
        vd_line_set(&chat->line, completion.common);
    else if (completion.matches > 1)
        vd_chat_say(chat, "%s", completion.list);
}

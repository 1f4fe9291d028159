// Completing the /commands of the chat.
#include <string.h>

#include "engine/base/alloc.h"
#include "features/pictures/image.h"
#include "tui/base/bundled.h"
#include "tui/base/complete.h"
#include "tui/base/options.h"
#include "tui/chat/actions/actions.h"

// The words that commands take.
static const struct {
    const char *command, *choices;
} words[] = {{"/model", VD_MODEL_NAMES},
             {"/compare", VD_MODEL_NAMES ", off"},
             {"/history", "own, shared or people's"},
             {"/theme", VD_THEME_NAMES},
             {"/mouse", "on or off"},
             {"/fold", "on or off"},
             {"/picture-mode", VD_PICTURE_MODE_NAMES},
             {"/caption", "next or edit"},
             {"/captioner", "off"},
             {"/copy", "answer, round or conversation"},
             {"/export", "html, md or json"}};

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

// The arguments that a command is known to take, after it and a space.
static void add_arguments(const vd_chat *chat, const char *name, vd_completion *completion)
{
    char text[256];
    add_words(name, completion);
    if (strcmp(name, "/model") == 0 || strcmp(name, "/compare") == 0 ||
        strcmp(name, "/captioner") == 0)
        vd_complete_paths(completion, strlen(name) + 1,
                          (const char *const[]){".safetensors", NULL});
    const char *file = strcmp(name, "/export") == 0 ? strchr(completion->typed, ' ') : NULL;
    if (file && (file = strchr(file + 1, ' ')) != NULL)
        vd_complete_paths(completion, (size_t)(file + 1 - completion->typed),
                          (const char *const[]){"", NULL});
    if (strcmp(name, "/open") == 0)
        vd_complete_paths(completion, strlen(name) + 1, vd_image_suffixes);
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

// Completing the /commands of the chat.
#include <string.h>

#include "features/pictures/image.h"
#include "tui/chat/actions/actions.h"
#include "tui/screen/entry.h"

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
    g_autofree vd_saved *saved = NULL;
    size_t count;
    char text[VD_SAVED_NAME + 8];
    if (vd_saved_list(&saved, &count, NULL) == VD_OK)
        for (size_t i = 0; i < count; i++) {
            snprintf(text, sizeof text, "/load %s", saved[i].name);
            vd_complete_add(completion, text);
        }
}

// What a command takes and tui/screen/entry.c does not know of, after it and a space.
static void add_arguments(const void *context, const char *name, vd_completion *completion)
{
    const vd_chat *chat = context;
    char text[256];
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

void vd_chat_complete(vd_chat *chat)
{
    vd_navigation *nav = &chat->nav;
    vd_entry_complete(&nav->places, &nav->line, &chat->notice, add_arguments, chat);
}

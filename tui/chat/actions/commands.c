// The /commands of the chat; their names and meanings are in the table of keymap.c.
#include <glib.h>
#include <string.h>

#include "tui/base/nearest.h"
#include "tui/chat/actions/actions.h"

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

// It means nothing here: says where it works.
static void refuse_here(vd_chat *chat, const vd_binding *command)
{
    char where[256];
    vd_keymap_where(command->action, where, sizeof where);
    vd_notice_complain(&chat->notice, "%s does nothing here%s%s", command->command,
                       *where ? "; it works " : "", where);
}

void vd_chat_command(vd_chat *chat, const char *line)
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
    else if (!vd_chat_act(chat, found->action, trimmed))
        refuse_here(chat, found);
}

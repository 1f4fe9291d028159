#include "tui/screen/clipboard.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/file.h"

char *vd_clipboard_sequence(const char *text, bool tmux)
{
    g_autofree char *coded = g_base64_encode((const guchar *)text, strlen(text));
    g_autofree char *plain = g_strdup_printf("\033]52;c;%s\a", coded);
    return tmux ? g_strdup_printf("%s\033Ptmux;\033%s\033\\", plain, plain) // doubled inside
                : g_steal_pointer(&plain);
}

// -w: to the clipboard of its terminal as well (tmux 3.2).
static bool give_to_tmux(const char *text)
{
    const char *const command[] = {"tmux", "set-buffer", "-w", "--", text, NULL};
    int status;
    return g_spawn_sync(NULL, (gchar **)command, NULL,
                        G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
                            G_SPAWN_STDERR_TO_DEV_NULL,
                        NULL, NULL, NULL, NULL, &status, NULL) &&
           status == 0;
}

void vd_clipboard_copy(const char *text)
{
    const char *inside = getenv("TMUX");
    bool tmux = inside && *inside;
    if (tmux && give_to_tmux(text))
        return;
    g_autofree char *sequence = vd_clipboard_sequence(text, tmux);
    vd_file_write_all(STDOUT_FILENO, sequence, strlen(sequence));
}

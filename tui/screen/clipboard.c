#include "tui/screen/clipboard.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"

char *vd_clipboard_sequence(const char *text, bool tmux)
{
    gchar *coded = g_base64_encode((const guchar *)text, strlen(text));
    char *out = vd_format("\033]52;c;%s\a", coded);
    if (out && tmux) { // escapes are doubled inside
        char *both = vd_format("%s\033Ptmux;\033%s\033\\", out, out);
        vd_free(out);
        out = both;
    }
    g_free(coded);
    return out;
}

// -w: to the clipboard of its terminal as well (tmux 3.2).
static bool give_to_tmux(const char *text)
{
    char *const command[] = {(char *)"tmux", (char *)"set-buffer", (char *)"-w",
                             (char *)"--",   (char *)text,         NULL};
    int status;
    return g_spawn_sync(NULL, (gchar **)command, NULL,
                        G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
                            G_SPAWN_STDERR_TO_DEV_NULL,
                        NULL, NULL, NULL, NULL, &status, NULL) &&
           status == 0;
}

bool vd_clipboard_copy(const char *text)
{
    const char *inside = getenv("TMUX");
    bool tmux = inside && *inside;
    if (tmux && give_to_tmux(text))
        return true;
    char *sequence = vd_clipboard_sequence(text, tmux);
    size_t length = sequence ? strlen(sequence) : 0;
    bool done = sequence && vd_file_write_all(STDOUT_FILENO, sequence, length) == length;
    vd_free(sequence);
    return done;
}

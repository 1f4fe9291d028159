#include "tui/screen/tmux.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 300, LONGEST = 4096 };

// All that comes before the end or, in all, PATIENCE milliseconds; false: it did not end.
static bool read_all(int file, char *out)
{
    gint64 end = g_get_monotonic_time() + PATIENCE * (gint64)1000;
    size_t used = 0;
    for (;;) {
        struct pollfd wait = {.fd = file, .events = POLLIN};
        gint64 left = (end - g_get_monotonic_time()) / 1000;
        if (left <= 0 || used + 1 >= LONGEST)
            return false;
        if (poll(&wait, 1, (int)left) < 1)
            continue;
        ssize_t got = read(file, out + used, LONGEST - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            out[used] = '\0';
            return got == 0;
        }
        used += (size_t)got;
    }
}

// What a command prints (g_free); NULL: it fails, or takes too long and is ended.
static char *run(const char *const *command)
{
    GPid child;
    int file, status = 0;
    char *said = g_malloc(LONGEST);
    bool done = g_spawn_async_with_pipes(NULL, (gchar **)command, NULL,
                                         G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL |
                                             G_SPAWN_DO_NOT_REAP_CHILD,
                                         NULL, NULL, &child, NULL, &file, NULL, NULL);
    if (done) {
        done = read_all(file, said);
        if (!done)
            kill(child, SIGKILL);
        close(file);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        g_spawn_close_pid(child);
    }
    if (!done || status != 0)
        g_clear_pointer(&said, g_free);
    return said;
}

// A format as tmux fills it in for this pane (g_free); NULL: it does not. A server that has not
// answered once is not asked again.
static char *ask(const char *format)
{
    static bool silent;
    const char *pane = getenv("TMUX_PANE");
    const char *const command[] = {"tmux", "display-message", "-p", "-t", pane, format, NULL};
    char *said = pane && !silent ? run(command) : NULL;
    silent = !said;
    return said;
}

bool vd_tmux_shows_sixel(void)
{
    g_autofree char *features = ask(",#{client_termfeatures},");
    return features && strstr(features, ",sixel,");
}

bool vd_tmux_place(int *x, int *y)
{
    // Its rows of status at the top; then whether the pane is covered.
    g_autofree char *said =
        ask("#{pane_left} #{pane_top} "
            "#{?#{==:#{status-position},top},#{?#{==:#{status},on},1,#{status}},0} "
            "#{?window_active,#{?window_bigger,1,#{?pane_in_mode,1,"
            "#{?window_zoomed_flag,#{?pane_active,0,1},0}}},1}");
    int rows = 0, covered = 1;
    *x = *y = 0;
    bool seen = said && sscanf(said, "%d %d %d %d", x, y, &rows, &covered) == 4;
    if (said && !seen) // status is off
        seen = sscanf(said, "%d %d off %d", x, y, &covered) == 3;
    *y += seen ? rows : 0;
    return seen && !covered;
}

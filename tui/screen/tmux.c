#include "tui/screen/tmux.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A format as tmux fills it in for this pane (g_free); NULL: it does not.
static char *ask(const char *format)
{
    const char *pane = getenv("TMUX_PANE");
    char *const command[] = {(char *)"tmux",
                             (char *)"display-message",
                             (char *)"-p",
                             (char *)"-t",
                             (char *)pane,
                             (char *)format,
                             NULL};
    char *said = NULL;
    int status = 0;
    bool done = pane && g_spawn_sync(NULL, (gchar **)command, NULL,
                                     G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                                     &said, NULL, &status, NULL);
    if (done && status == 0)
        return said;
    g_free(said);
    return NULL;
}

bool vd_tmux_shows_sixel(void)
{
    char *features = ask(",#{client_termfeatures},");
    bool has = features && strstr(features, ",sixel,");
    g_free(features);
    return has;
}

bool vd_tmux_place(int *x, int *y)
{
    // Its rows of status at the top; then whether the pane is covered.
    char *said = ask("#{pane_left} #{pane_top} "
                     "#{?#{==:#{status-position},top},#{?#{==:#{status},on},1,#{status}},0} "
                     "#{?window_active,#{?window_bigger,1,#{?pane_in_mode,1,"
                     "#{?window_zoomed_flag,#{?pane_active,0,1},0}}},1}");
    int rows = 0, covered = 1;
    *x = *y = 0;
    bool seen = said && sscanf(said, "%d %d %d %d", x, y, &rows, &covered) == 4;
    if (said && !seen) // status is off
        seen = sscanf(said, "%d %d off %d", x, y, &covered) == 3;
    g_free(said);
    *y += seen ? rows : 0;
    return seen && !covered;
}

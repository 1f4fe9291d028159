// The chat in a real terminal whose window changes its size.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/terminal.h"

static const char *last_row(const char *screen)
{
    const char *end = screen + strlen(screen) - 1, *row = end;
    while (row > screen && row[-1] != '\n')
        row--;
    return row;
}

// The screen with its colours, once its last row is there (or the size it is too small with) and
// it no longer changes.
static char *settled(bool fits, const char *size)
{
    char *before = NULL;
    for (int tries = 0, same = 0; tries < 200 && same < 3; tries++) {
        usleep(50000);
        char *now = tmux("capture-pane -e -p -t chat");
        bool drawn = fits ? strstr(last_row(now), "F1 help") != NULL : strstr(now, size) != NULL;
        same = drawn && before && strcmp(now, before) == 0 ? same + 1 : 0;
        free(before);
        before = now;
    }
    return before;
}

// Whatever sizes a window has been through: every cell is what drawing it anew makes of it, with
// the colours of the theme, the question line and the keys in the last row.
static void the_screen_survives_every_resize(void **state)
{
    (void)state;
    static const int sizes[][2] = {{10, 5},   {300, 100}, {40, 12},  {39, 12}, {80, 24},
                                   {10, 100}, {300, 5},   {300, 12}, {41, 13}, {72, 20},
                                   {71, 19},  {200, 60},  {10, 5},   {80, 24}};
    configure("theme = light\n");
    start_command("", "chat");
    await("base  cpu");
    tell("send-keys -t chat 'what color is it?' Enter");
    await(" 1 what color is it?");
    await("Best of");
    tell("send-keys -t chat C-l"); // without what was said last
    char *first = settled(true, "");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        free(tmux("resize-window -t chat -x %d -y %d", sizes[i][0], sizes[i][1]));
        bool fits = sizes[i][0] >= 40 && sizes[i][1] >= 12;
        char size[16];
        snprintf(size, sizeof size, "%dx%d", sizes[i][0], sizes[i][1]);
        char *resized = settled(fits, size);
        tell("send-keys -t chat C-l");
        char *drawn = settled(fits, size);
        if (strcmp(resized, drawn) != 0)
            fail_msg("%dx%d: after resizing\n%s\ndrawn anew\n%s", sizes[i][0], sizes[i][1], resized,
                     drawn);
        if ((strstr(last_row(drawn), "F1 help") != NULL) != fits)
            fail_msg("%dx%d: the keys\n%s", sizes[i][0], sizes[i][1], drawn);
        assert_int_equal(strstr(drawn, "ask more, or / for commands") != NULL, fits);
        free(drawn);
        free(resized);
    }
    char *last = settled(true, "");
    assert_string_equal(last, first);
    free(last);
    free(first);
    tell("send-keys -t chat C-d");
    await("[exit 0]");
    configure("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screen_survives_every_resize),
    };
    return cmocka_run_group_tests(tests, terminal_open, terminal_close);
}

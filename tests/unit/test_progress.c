#include "tui/base/progress.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/support.h"

static const char *line(size_t width, int64_t done, int64_t total, int64_t first, double seconds,
                        const char *suffix)
{
    static char out[512];
    vd_progress_line(out, sizeof out, width, "epoch 1", done, total, first, seconds, suffix);
    return out;
}

static void a_line_says_how_far_how_fast_and_how_long(void **state)
{
    (void)state;
    assert_string_equal(line(100, 25, 100, 0, 10, "loss 2.5"),
                        "epoch 1 [#####...............] 25/100  25% 2.50/s 0:30 left  loss 2.5");
    assert_string_equal(line(100, 100, 100, 0, 10, NULL),
                        "epoch 1 [####################] 100/100 100% 10.0/s 0:00 left");
}

static void the_rate_counts_only_what_was_done_now(void **state)
{
    (void)state;
    assert_non_null(strstr(line(100, 60, 100, 50, 10, NULL), "1.00/s 0:40 left"));
}

static void nothing_done_yet_divides_by_nothing(void **state)
{
    (void)state;
    assert_non_null(strstr(line(100, 0, 100, 0, 0, NULL), "0%"));
    assert_non_null(strstr(line(100, 0, 100, 0, 0, NULL), "- left"));
    assert_non_null(strstr(line(100, 5, 0, 0, 5, NULL), "epoch 1 5 1.00/s"));
}

static void a_narrow_line_loses_the_bar_first_and_is_never_too_wide(void **state)
{
    (void)state;
    assert_non_null(strstr(line(80, 25, 100, 0, 10, "loss 2.5"), " [#####...............] "));
    assert_non_null(strstr(line(66, 25, 100, 0, 10, "loss 2.5"), " [##........] "));
    assert_null(strchr(line(50, 25, 100, 0, 10, "loss 2.5"), '['));
    for (size_t width = 1; width < 100; width++)
        assert_true(strlen(line(width, 25, 100, 0, 10, "loss 2.5")) <= width);
    // "é" is two bytes: a cut never leaves half of it.
    assert_true(strlen(line(46, 25, 100, 0, 10, "éééé")) <= 46);
    for (size_t width = 30; width < 60; width++) {
        const char *text = line(width, 25, 100, 0, 10, "éééé");
        size_t n = strlen(text);
        assert_true(n == 0 || (unsigned char)text[n - 1] != 0xc3);
    }
}

static void hours_show_as_hours(void **state)
{
    (void)state;
    assert_non_null(strstr(line(100, 1, 7200, 0, 1, NULL), "1:59:59 left"));
}

// Runs call with standard error in a file and returns what was written.
static char *written(void (*call)(void))
{
    char name[] = "/tmp/visdial-progress-XXXXXX";
    int file = mkstemp(name);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    call();
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(file);
    char *text = support_read_file(name, NULL);
    unlink(name);
    return text;
}

static void say(bool quiet)
{
    vd_progress progress;
    vd_progress_start(&progress, "pictures", 10, 0, quiet);
    for (int i = 1; i <= 10; i++)
        vd_progress_update(&progress, i, NULL);
    vd_progress_clear(&progress);
    vd_progress_end(&progress, 10, true);
}

static void say_aloud(void)
{
    say(false);
}

static void say_nothing(void)
{
    say(true);
}

static void off_a_terminal_lines_are_plain_and_few(void **state)
{
    (void)state;
    char *text = written(say_aloud);
    assert_null(strchr(text, '\r'));
    assert_non_null(strstr(text, "pictures"));
    assert_non_null(strstr(text, "10/10 100%"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); // one line
    free(text);
}

static void quiet_writes_nothing(void **state)
{
    (void)state;
    char *text = written(say_nothing);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_how_far_how_fast_and_how_long),
        cmocka_unit_test(the_rate_counts_only_what_was_done_now),
        cmocka_unit_test(nothing_done_yet_divides_by_nothing),
        cmocka_unit_test(a_narrow_line_loses_the_bar_first_and_is_never_too_wide),
        cmocka_unit_test(hours_show_as_hours),
        cmocka_unit_test(off_a_terminal_lines_are_plain_and_few),
        cmocka_unit_test(quiet_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

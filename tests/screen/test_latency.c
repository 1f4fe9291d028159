// A key is on the screen within a frame (16 ms) while the engine works: the built program in a
// terminal, with a pool so large that loading it takes half a second and ranking it milliseconds.
// Of several times the least counts: other programs only ever add to it, and a screen that waited
// for the engine would be late every time.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/support/pty.h"
#include "tests/support/sanitized.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"

// Sanitizers make the engine thirty times as slow, and the screen ten times: there is no frame
// then.
#if SUPPORT_SANITIZED
#define ANSWERS  2000
#define FRAME_MS 200
#else
#define ANSWERS  50000
#define FRAME_MS 16
#endif
#define TEXT(number)   #number
#define WITHIN(number) "est of " TEXT(number)

enum { TIMES = 15, PATIENCE_MS = 20000 };

static tiny_world tiny;

static int make_large_pool(void **state)
{
    (void)state;
    tiny_world_make(&tiny);
    char *path = support_join(tiny.directory, "pool.txt");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < ANSWERS; i++)
        fprintf(file, "1\tit is %d %s and %d\n", i, i % 2 ? "red" : "blue", i % 77);
    assert_int_equal(fclose(file), 0);
    free(path);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    tiny_world_remove(&tiny);
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Letters behind these keys; between them the engine comes to rest. Their least must be in time.
static void expect_in_time(const char *what, const char *before)
{
    double times[TIMES];
    for (int i = 0; i < TIMES; i++) {
        pty_drain();
        times[i] = pty_letter(before, i);
        assert_true(times[i] >= 0);
    }
    qsort(times, TIMES, sizeof *times, by_size);
    print_message("%s: least %.1f ms, median %.1f ms\n", what, times[0], times[TIMES / 2]);
    assert_true(times[0] < FRAME_MS);
}

// Changes alone may leave a word out that was partly there: Ctrl-L draws the whole screen, again
// and again until what the keys asked for has come.
static void expect_shown(const char *keys, const char *text)
{
    pty_forget();
    assert_true(pty_tell(keys));
    double start = support_milliseconds();
    while (!pty_showed(text) && support_milliseconds() - start < PATIENCE_MS) {
        assert_true(pty_tell("\014"));
        pty_drain();
    }
    assert_true(pty_showed(text));
}

static void a_key_is_on_the_screen_while_the_engine_works(void **state)
{
    (void)state;
    const char *const arguments[] = {"chat", "--assets", tiny.directory, NULL};
    assert_true(pty_start(arguments, 120, 40));
    assert_true(pty_await("loading base"));
    double least = 1e9;
    int typed = 0;
    for (; typed < 1000 && !pty_showed("cpu"); typed++) {
        double took = pty_letter("", typed);
        assert_true(took >= 0);
        least = took < least ? took : least;
    }
    print_message("while a model is loaded: %d letters, least %.1f ms\n", typed, least);
    assert_true(typed > 2);
    assert_true(least < 3 * FRAME_MS); // another thread has all the work there is
    assert_true(pty_tell("what color is the ball?\r") && pty_await(WITHIN(ANSWERS)));
    expect_in_time("at rest", "");
    expect_in_time("while an answer is ranked", "\033[17~"); // F6 asks once more
    pty_drain();
    expect_shown("\033[24~", "Word states"); // F12
    expect_in_time("in the walk", "");
    expect_shown(" ", "What if?");
    expect_in_time("while a what-if is computed", " ");
    pty_end();
}

// Keys that come faster than they are drawn do not keep an answer from the screen.
static void an_answer_comes_between_keys(void **state)
{
    (void)state;
    // On an empty line.
    static const char rights[] = "\033[C\033[C\033[C\033[C\033[C\033[C\033[C\033[C";
    const char *const arguments[] = {"chat", "--assets", tiny.directory, NULL};
    assert_true(pty_start(arguments, 120, 40));
    assert_true(pty_await("cpu"));
    pty_drain();
    pty_forget();
    assert_true(pty_tell("what color is the ball?\r"));
    double start = support_milliseconds();
    while (!pty_showed(WITHIN(ANSWERS)) && support_milliseconds() - start < PATIENCE_MS) {
        assert_true(pty_tell(rights) && pty_take());
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); // three times in a frame
    }
    assert_true(pty_showed(WITHIN(ANSWERS)));
    pty_end();
}

// Curses waited for more when a mouse event came that it was not asked for: the screen stood still
// until the next key.
static void a_model_comes_after_a_click(void **state)
{
    (void)state;
    // A button let go, the right one, the wheel to the side.
    static const char *const mouse[] = {"\033[<0;9;1m", "\033[<2;9;1M", "\033[<66;9;1M"};
    const char *const arguments[] = {"chat", "--assets", tiny.directory, NULL};
    for (size_t i = 0; i < sizeof mouse / sizeof *mouse; i++) {
        char keys[100];
        snprintf(keys, sizeof keys, "/model improved\r%s", mouse[i]);
        assert_true(pty_start(arguments, 120, 40) && pty_await("cpu"));
        assert_true(pty_tell("\033[<0;9;1M"));
        pty_drain();
        assert_true(pty_tell(keys) && pty_await("from now on"));
        pty_end();
    }
}

// As under nohup: nothing but the terminal itself says that it is gone.
static void the_chat_ends_with_its_terminal(void **state)
{
    (void)state;
    const char *const arguments[] = {"chat", "--assets", tiny.directory, NULL};
    signal(SIGHUP, SIG_IGN);
    bool started = pty_start(arguments, 80, 24);
    signal(SIGHUP, SIG_DFL);
    assert_true(started && pty_await("cpu"));
    assert_true(pty_leaves_with_its_terminal());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_between_keys),
        cmocka_unit_test(a_key_is_on_the_screen_while_the_engine_works),
        cmocka_unit_test(a_model_comes_after_a_click),
        cmocka_unit_test(the_chat_ends_with_its_terminal),
    };
    return cmocka_run_group_tests(tests, make_large_pool, remove_tiny);
}

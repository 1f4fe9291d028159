// The caption word by word in the built program: it goes on by itself, with nothing typed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/pty.h"

#define F11 "\033[23~"

static void it_plays_by_itself(void **state)
{
    (void)state;
    static const char *const arguments[] = {"chat", "--no-transcript", "--picture", "none", NULL};
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_true(pty_start(arguments, 80, 24));
    assert_true(pty_await("cpu"));
    assert_true(pty_tell(F11));
    assert_true(pty_await("entropy"));
    pty_drain();
    pty_forget();
    assert_true(pty_await(" %")); // the next word's figures
    pty_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_plays_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

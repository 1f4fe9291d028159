// Questions that come faster than they are answered, in the built program: each gets its answer,
// in the order in which they came, whether the model is there yet or not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/one_world.h"
#include "tests/support/pty.h"
#include "tests/support/support.h"
#include "tui/transcript/transcript.h"

static const char *const questions[] = {"what color is the cube", "is it next to the ball",
                                        "what color is the ball", "is it a cube"};
enum { QUESTIONS = sizeof questions / sizeof *questions };

// Waits until the transcript has every answer, twenty seconds at most.
static vd_transcript_file await_answers(const char *path)
{
    vd_transcript_file file;
    for (int tries = 0; tries < 1000; tries++, usleep(20000)) {
        pty_take();
        if (vd_transcript_read(path, &file, NULL) == VD_OK) {
            if (file.dialog_count == 1 && file.dialogs[0].count == QUESTIONS)
                return file;
            vd_transcript_clear(&file);
        }
    }
    fail_msg("%s: not all questions were answered", path);
    return file;
}

static void expect_answers(const char *keys, bool at_once)
{
    char *path = support_join(tiny.directory, "talk.jsonl");
    const char *const arguments[] = {"chat", "--transcript", path, NULL};
    unlink(path);
    assert_true(pty_start(arguments, 80, 24));
    assert_true(pty_await(at_once ? "loading" : "cpu"));
    assert_true(pty_tell(keys));
    vd_transcript_file file = await_answers(path);
    assert_int_equal(file.record_count, QUESTIONS);
    for (int i = 0; i < QUESTIONS; i++)
        assert_string_equal(file.dialogs[0].rounds[i].question, questions[i]);
    vd_transcript_clear(&file);
    pty_end();
    free(path);
}

static void four_questions_in_one_write_have_four_answers(void **state)
{
    (void)state;
    char keys[512] = "";
    size_t length = 0;
    for (int i = 0; i < QUESTIONS; i++)
        length += (size_t)snprintf(keys + length, sizeof keys - length, "%s\r", questions[i]);
    expect_answers(keys, true);
    expect_answers(keys, false);
}

static void four_pasted_lines_have_four_answers(void **state)
{
    (void)state;
    char keys[512] = "\033[200~";
    size_t length = strlen(keys);
    for (int i = 0; i < QUESTIONS; i++)
        length += (size_t)snprintf(keys + length, sizeof keys - length, "%s\n", questions[i]);
    snprintf(keys + length, sizeof keys - length, "\033[201~\r");
    expect_answers(keys, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_questions_in_one_write_have_four_answers),
        cmocka_unit_test(four_pasted_lines_have_four_answers),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}

// How soon a key is on the screen: with 10,000 rounds to scroll through, and in the program itself
// while the engine answers. A screen refreshed 60 times a second leaves 16 ms.
#include "tests/bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/fake_chat.h"
#include "tests/support/pty.h"

enum { ROUNDS = 10000, KEYS = 400, TYPED = 200 };

// ---- drawing, without a terminal ---------------------------------------------------------------

static fake_chat fake;

static void add_rounds(void)
{
    fake_chat_keys(&fake, "'is there a small red ball to the left of it?' Enter");
    for (int i = 1; i < ROUNDS; i++) {
        char typed[128];
        snprintf(typed, sizeof typed,
                 "question %d: is there anything behind the large cube that nobody mentioned yet?",
                 i + 1);
        vd_branch *branch = fake.chat.conversation.branch;
        vd_round *round = vd_branch_add(branch, typed);
        if (!round)
            exit(1);
        const vd_response *first = &branch->rounds[0].response[0];
        round->response[0] = *first;
        if (vd_reply_copy(&first->reply, &round->response[0].reply, NULL))
            exit(1);
    }
}

static void measure_keys(const char *what, const char *const *keys, size_t count, int width,
                         int height)
{
    static double times[KEYS];
    fake_chat_size(&fake, width, height);
    for (size_t i = 0; i < KEYS; i++) {
        vd_key key;
        vd_key_parse(keys[i % count], &key);
        double start = bench_now();
        vd_chat_key(&fake.chat, key);
        vd_chat_draw(&fake.chat, &fake.grid);
        times[i] = bench_now() - start;
    }
    bench_report(what, times, KEYS);
}

static void measure_drawing(void)
{
    static const char *const pages[] = {"PgUp", "PgUp", "PgUp", "PgDn"};
    static const char *const jumps[] = {"C-Home", "C-End"};
    static const char *const rounds[] = {"M-Up", "M-Up", "M-Down"};
    static const char *const letters[] = {"a", "b", "Backspace"};
    fake_chat_start(&fake);
    add_rounds();
    measure_keys("10,000 rounds, 80x24: a page", pages, 4, 80, 24);
    measure_keys("10,000 rounds, 80x24: to either end", jumps, 2, 80, 24);
    measure_keys("10,000 rounds, 80x24: another round", rounds, 3, 80, 24);
    measure_keys("10,000 rounds, 80x24: a letter", letters, 3, 80, 24);
    measure_keys("10,000 rounds, 200x60: a page", pages, 4, 200, 60);
    fake_chat_end(&fake);
}

// ---- the program in a terminal -----------------------------------------------------------------

// before: keys written together with the letter, "" none.
static bool measure_typing(const char *what, const char *before)
{
    static double times[TYPED];
    for (int i = 0; i < TYPED; i++) {
        pty_drain();
        times[i] = pty_letter(before, i);
        if (times[i] < 0)
            return false;
    }
    bench_report(what, times, TYPED);
    return true;
}

static bool measure_program(void)
{
    const char *const arguments[] = {"chat", NULL};
    if (!pty_start(arguments, 120, 40))
        return false;
    bool good = pty_await("cpu") && pty_tell("is there a red cube?\r") && pty_await("within") &&
                measure_typing("120x40: a letter on the screen", "") &&
                // F6 asks the last question again: the engine is at work when the letter comes.
                measure_typing("120x40: the same while the engine answers", "\033[17~") &&
                // F10: two engines. Changes alone may leave a word out that was partly there, so
                // the whole screen is asked for again (Ctrl-L).
                pty_tell("\033[21~") && (usleep(500000), pty_tell("\014")) &&
                pty_await("against") &&
                measure_typing("120x40: the same while two engines answer", "\033[17~");
    pty_end();
    return good;
}

int main(void)
{
    const char *program = getenv("VISDIAL_BIN");
    if (!program || access(program, X_OK) != 0) {
        fprintf(stderr, "VISDIAL_BIN does not name the program: use `make bench`\n");
        return 2;
    }
    bench_machine("bench_chat");
    measure_drawing();
    if (!measure_program()) {
        fprintf(stderr, "the program did not show what was typed\n");
        return 1;
    }
    return 0;
}

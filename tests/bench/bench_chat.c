// How soon a key is on the screen: with 10,000 rounds to scroll through, and in the program itself
// while the engine answers. A screen refreshed 60 times a second leaves 16 ms.
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "engine/alloc.h"
#include "tests/support/fake_chat.h"

enum { ROUNDS = 10000, KEYS = 400, TYPED = 200, PATIENCE_MS = 20000, OUTPUT = 1 << 16 };

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
        vd_round *round = vd_chat_make_room(&fake.chat) ? &fake.chat.rounds[i] : NULL;
        if (!round)
            exit(1);
        *round = (vd_round){.typed = vd_strdup(typed), .human = -1};
        round->take[0] = fake.chat.rounds[0].take[0];
        if (vd_reply_copy(&fake.chat.rounds[0].take[0].reply, &round->take[0].reply, NULL))
            exit(1);
        fake.chat.round_count++;
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

static int terminal;

// Reads what comes until it holds `text`; false after a while.
static bool await(const char *text)
{
    static char output[OUTPUT + 1];
    size_t length = 0;
    double start = bench_now();
    while (bench_now() - start < PATIENCE_MS) {
        struct pollfd wait = {.fd = terminal, .events = POLLIN};
        if (poll(&wait, 1, 100) <= 0)
            continue;
        if (length > OUTPUT / 2) { // what came long ago
            memmove(output, output + length - 64, 64);
            length = 64;
        }
        ssize_t count = read(terminal, output + length, OUTPUT - length);
        if (count <= 0)
            return false;
        length += (size_t)count;
        output[length] = 0;
        if (strstr(output, text))
            return true;
    }
    return false;
}

static bool tell(const char *keys)
{
    return write(terminal, keys, strlen(keys)) == (ssize_t)strlen(keys);
}

// Everything that is on its way.
static void drain(void)
{
    struct pollfd wait = {.fd = terminal, .events = POLLIN};
    char rest[4096];
    while (poll(&wait, 1, 30) > 0 && read(terminal, rest, sizeof rest) > 0)
        ;
}

// before: keys written together with the letter, "" none.
static bool measure_typing(const char *what, const char *before)
{
    static double times[TYPED];
    for (int i = 0; i < TYPED; i++) {
        // A letter that stands nowhere else: digits and words change all the time.
        const char *letter = i % 2 ? "Q" : "Z";
        char keys[32];
        snprintf(keys, sizeof keys, "%s%s", before, letter);
        drain();
        double start = bench_now();
        if (!tell(keys) || !await(letter))
            return false;
        times[i] = bench_now() - start;
        if (!tell("\025")) // Ctrl-U
            return false;
    }
    bench_report(what, times, TYPED);
    return true;
}

static bool measure_program(const char *program)
{
    struct winsize size = {.ws_row = 40, .ws_col = 120};
    pid_t child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0)
        return false;
    if (child == 0) {
        setenv("TERM", "xterm-256color", 1);
        execl(program, program, "chat", (char *)NULL);
        _exit(127);
    }
    bool good = await("cpu") && tell("is there a red cube?\r") && await("within") &&
                measure_typing("120x40: a letter on the screen", "") &&
                // F6 asks the last question again: the engine is at work when the letter comes.
                measure_typing("120x40: the same while the engine answers", "\033[17~") &&
                // F10: two engines. Changes alone may leave a word out that was partly there, so
                // the whole screen is asked for again (Ctrl-L).
                tell("\033[21~") && (usleep(500000), tell("\014")) && await("against") &&
                measure_typing("120x40: the same while two engines answer", "\033[17~");
    kill(child, SIGTERM);
    drain();
    waitpid(child, NULL, 0);
    close(terminal);
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
    if (!measure_program(program)) {
        fprintf(stderr, "the program did not show what was typed\n");
        return 1;
    }
    return 0;
}

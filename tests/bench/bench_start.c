// From the command to a chat that can be read: the program runs in a pseudo-terminal of 80x24, the
// clock stops when the caption of the first picture stands in its output.
#include "tests/bench/bench.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "tui/session/session.h"

enum { RUNS = 15, OUTPUT = 1 << 20, PATIENCE_MS = 20000, CAPTION = 16 };

// Drops escape sequences (CSI, OSC, two-byte ones) and control characters in place.
static size_t plain(const char *from, size_t length, char *to)
{
    size_t kept = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)from[i];
        if (c != 0x1b) {
            if (c >= 0x20)
                to[kept++] = (char)c;
            continue;
        }
        if (++i < length && from[i] == '[') {
            do
                i++;
            while (i < length && (from[i] < '@' || from[i] > '~'));
        } else if (i < length && from[i] == ']') {
            while (i < length && from[i] != '\a' && !(from[i] == '\\' && from[i - 1] == 0x1b))
                i++;
        } else if (i < length && (from[i] == '(' || from[i] == ')')) {
            i++;
        }
    }
    to[kept] = 0;
    return kept;
}

static void quit(pid_t child, int terminal)
{
    kill(child, SIGTERM);
    // What it still writes has to be read, or it would wait for that instead of ending.
    char rest[4096];
    while (read(terminal, rest, sizeof rest) > 0)
        ;
    waitpid(child, NULL, 0);
    close(terminal);
}

// Milliseconds, or -1 when the caption did not come.
static double first_screen(const char *program, const char *caption)
{
    static char output[OUTPUT], text[OUTPUT + 1];
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    int terminal;
    double start = bench_now();
    pid_t child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0)
        return -1;
    if (child == 0) {
        setenv("TERM", "xterm-256color", 1);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    size_t length = 0;
    double took = -1;
    while (took < 0 && length < sizeof output && bench_now() - start < PATIENCE_MS) {
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        if (poll(&ready, 1, 100) <= 0)
            continue;
        ssize_t got = read(terminal, output + length, sizeof output - length);
        if (got <= 0)
            break;
        length += (size_t)got;
        plain(output, length, text);
        if (strstr(text, caption))
            took = bench_now() - start;
    }
    quit(child, terminal);
    if (took < 0)
        fprintf(stderr, "the caption \"%s\" did not appear; seen: %.200s\n", caption, text);
    return took;
}

int main(void)
{
    const char *program = getenv("VISDIAL_BIN");
    vd_error err = {0};
    vd_world *world = NULL;
    if (!program || access(program, X_OK) != 0) {
        fprintf(stderr, "VISDIAL_BIN does not name the program: use `make bench`\n");
        return 2;
    }
    bench_machine("bench_start");
    if (vd_world_open(NULL, &world, &err) != VD_OK)
        return bench_fail(&err);
    // Its beginning is enough, and cannot be broken over two lines.
    char caption[CAPTION + 1];
    snprintf(caption, sizeof caption, "%s", vd_world_caption(world, 0));
    vd_world_close(world);

    double times[RUNS];
    for (int i = 0; i < RUNS; i++) {
        times[i] = first_screen(program, caption);
        if (times[i] < 0)
            return 1;
    }
    bench_report("program start to first screen", times, RUNS);
    return 0;
}

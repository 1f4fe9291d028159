// From the command to what a person waits for: the program runs in a pseudo-terminal of 80x24, the
// clock stops when it stands in the output. Without arguments that is the caption of the first
// picture; with a picture of one's own (1280x960) first the picture, then the answer to a question
// that was typed at once.
#include "tests/bench/bench.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "features/pictures/image.h"
#include "tui/session/session.h"

enum { RUNS = 15, OUTPUT = 1 << 20, PATIENCE_MS = 20000, CAPTION = 16, LARGER = 4 };

static const char own_picture[] = "build/bench/picture.png";

// Whether what one waits for stands in the text.
typedef bool (*sign)(const char *text);

static char caption[CAPTION + 1];

static bool has_caption(const char *text)
{
    return strstr(text, caption) != NULL;
}

static bool has_picture(const char *text)
{
    return strstr(text, "\u2580") || strstr(text, "\u2584"); // half blocks
}

// "83 %"
static bool has_answer(const char *text)
{
    const char *share = strstr(text, " %");
    while (share && (share == text || !isdigit((unsigned char)share[-1])))
        share = strstr(share + 1, " %");
    return share != NULL;
}

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

// Answers the question what terminal this is, as every terminal does; false while it was not asked.
static bool introduce(int terminal, const char *output)
{
    static const char answer[] = "\033[?62;22c";
    return strstr(output, "\033[c") && write(terminal, answer, sizeof answer - 1) > 0;
}

// file: a picture of one's own, or NULL. Milliseconds, or -1 when what is waited for did not come.
static double first_screen(const char *program, const char *file, const char *typed, sign seen)
{
    static char output[OUTPUT + 1], text[OUTPUT + 1];
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    int terminal;
    double start = bench_now();
    pid_t child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0)
        return -1;
    if (child == 0) {
        setenv("TERM", "xterm-256color", 1);
        execl(program, program, file, (char *)NULL);
        _exit(127);
    }
    if (write(terminal, typed, strlen(typed)) < 0)
        return -1;
    size_t length = 0;
    double took = -1;
    bool answered = false;
    while (took < 0 && length < OUTPUT && bench_now() - start < PATIENCE_MS) {
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        if (poll(&ready, 1, 100) <= 0)
            continue;
        ssize_t got = read(terminal, output + length, OUTPUT - length);
        if (got <= 0)
            break;
        length += (size_t)got;
        output[length] = 0;
        answered = answered || introduce(terminal, output);
        plain(output, length, text);
        if (seen(text))
            took = bench_now() - start;
    }
    quit(child, terminal);
    if (took < 0)
        fprintf(stderr, "not what was expected: %.200s\n", text);
    return took;
}

static int measure(const char *program, const char *what, const char *file, const char *typed,
                   sign seen)
{
    double times[RUNS];
    for (int i = 0; i < RUNS; i++) {
        times[i] = first_screen(program, file, typed, seen);
        if (times[i] < 0)
            return 1;
    }
    bench_report(what, times, RUNS);
    return 0;
}

// A bundled picture, each pixel LARGER times as wide and as high.
static vd_status write_own_picture(const char *file, vd_error *err)
{
    vd_image small = {0}, large = {0};
    vd_status status = vd_image_read(file, &small, err);
    if (status == VD_OK)
        status = vd_image_new(small.width * LARGER, small.height * LARGER, &large, err);
    for (int y = 0; status == VD_OK && y < large.height; y++)
        for (int x = 0; x < large.width; x++)
            memcpy(large.rgb + 3 * ((size_t)y * (size_t)large.width + (size_t)x),
                   small.rgb +
                       3 * ((size_t)(y / LARGER) * (size_t)small.width + (size_t)(x / LARGER)),
                   3);
    if (status == VD_OK)
        status = vd_image_write_png(own_picture, &large, err);
    vd_image_clear(&large);
    vd_image_clear(&small);
    return status;
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
    if (vd_world_open_files(&(vd_world_files){0}, &world, &err) != VD_OK)
        return bench_fail(&err);
    // Its beginning is enough, and cannot be broken over two lines.
    snprintf(caption, sizeof caption, "%s", vd_world_caption(world, 0));
    vd_world_close(world);
    mkdir("build/bench", 0777);
    if (write_own_picture("assets/pictures/1000001.png", &err) != VD_OK)
        return bench_fail(&err);
    return measure(program, "program start to first screen", NULL, "", has_caption) ||
           measure(program, "own picture: start to the picture", own_picture, "", has_picture) ||
           measure(program, "own picture: start to the first answer", own_picture,
                   "what is the color of the sphere?\r", has_answer);
}

// PyTorch's half of a measurement: children that time on request, so that all run in alternation;
// one for each PyTorch at hand: the latest release (`make torch`) and that of python3, or
// those of the pythons named in $VISDIAL_TORCH, separated by colons.
#ifndef BENCH_TORCH_H
#define BENCH_TORCH_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TORCHES = 2 };

typedef struct torch {
    pid_t child; // 0: it is gone
    FILE *to, *from;
    char version[32]; // "2.15.0"
} torch;

typedef struct torches {
    torch list[MOST_TORCHES];
    int count;
} torches;

// False when torch cannot be imported by that python.
static inline bool torch_version(const char *python, char *version, size_t size)
{
    char command[1200], line[256] = "";
    snprintf(command, sizeof command, "'%s' tests/bench/mvan_torch.py --versions 2>/dev/null",
             python);
    FILE *out = popen(command, "r");
    bool got = out && fgets(line, sizeof line, out);
    if (!out || pclose(out) != 0 || !got)
        return false;
    const char *number = strchr(line, ' ');
    number = number ? number + 1 : line;
    snprintf(version, size, "%.*s", (int)strcspn(number, "+a, \n"), number);
    printf("# %s", line);
    return true;
}

// A child that runs `script` with `arguments`, up to six, and answers each line with a line.
static inline void torch_start(torch *t, const char *python, const char *script,
                               const char *const arguments[6])
{
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0)
        return;
    // The next child must not hold this one's input open.
    fcntl(in[1], F_SETFD, FD_CLOEXEC);
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
    t->child = fork();
    if (t->child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[0]);
        close(out[1]);
        execlp(python, python, script, arguments[0], arguments[1], arguments[2], arguments[3],
               arguments[4], arguments[5], (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    t->to = fdopen(in[1], "w");
    t->from = fdopen(out[0], "r");
    signal(SIGPIPE, SIG_IGN);
}

static inline torches torches_start(const char *script, const char *const arguments[6])
{
    torches all = {.count = 0};
    const char *chosen = getenv("VISDIAL_TORCH");
    const char *next = chosen && *chosen ? chosen : "build/torch/bin/python:python3";
    while (*next && all.count < MOST_TORCHES) {
        torch *t = &all.list[all.count];
        char python[1024];
        size_t length = strcspn(next, ":");
        snprintf(python, sizeof python, "%.*s", (int)length, next);
        next += length + (next[length] == ':');
        if (!torch_version(python, t->version, sizeof t->version))
            continue;
        torch_start(t, python, script, arguments);
        all.count += t->to && t->from;
    }
    if (all.count == 0)
        printf("# PyTorch is not there, so only visdial is measured: \"make torch\" installs it\n"
               "# below build/, or name pythons that have it in $VISDIAL_TORCH\n");
    fflush(stdout);
    return all;
}

// Milliseconds that the threads of a process have run; -1 when they cannot be read.
static inline double process_time(pid_t process)
{
    char command[128];
    double nanoseconds = -1;
    snprintf(command, sizeof command,
             "cat /proc/%d/task/*/schedstat | awk '{s += $1} END {printf \"%%.0f\", s}'",
             (int)process);
    FILE *in = popen(command, "r");
    if (in && fscanf(in, "%lf", &nanoseconds) != 1)
        nanoseconds = -1;
    if (in)
        pclose(in);
    return nanoseconds < 0 ? -1 : nanoseconds * 1e-6;
}

// Waits until the child sleeps: its threads go on looking for work for up to a fifth of a second
// after an answer, on the processors that the next measurement needs.
static inline void torch_settle(const torch *t)
{
    enum { LOOKS = 100, PAUSE_US = 10000 };
    double before = -2, now = -1;
    for (int i = 0; i < LOOKS && now != before && t->child > 0; i++) {
        before = process_time(t->child);
        usleep(PAUSE_US);
        now = process_time(t->child);
    }
}

// The two numbers that the child answers `what` with: mvan_torch.py's are milliseconds of wall and
// CPU time, eval_torch.py's milliseconds and a sum of ranks. False when the child is gone.
static inline bool torch_ask(torch *t, const char *what, double *first, double *second)
{
    char line[128], *rest;
    if (t->child <= 0)
        return false;
    fprintf(t->to, "%s\n", what);
    fflush(t->to);
    if (!fgets(line, sizeof line, t->from)) {
        fprintf(stderr, "PyTorch %s stopped at \"%s\"\n", t->version, what);
        t->child = 0;
        return false;
    }
    *first = strtod(line, &rest);
    *second = strtod(rest, NULL);
    torch_settle(t);
    return true;
}

// Their versions stay.
static inline void torches_stop(torches *all)
{
    for (int i = 0; i < all->count; i++) {
        torch *t = &all->list[i];
        fclose(t->to);
        fclose(t->from);
        if (t->child > 0)
            waitpid(t->child, NULL, 0);
        t->child = 0;
    }
}

#endif

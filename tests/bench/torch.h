// PyTorch's half of a measurement: mvan_torch.py as a child that times on request, so that both
// halves run in alternation.
#ifndef BENCH_TORCH_H
#define BENCH_TORCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct torch {
    pid_t child; // 0: there is none
    FILE *to, *from;
} torch;

// The python of `make torch`, or of $VISDIAL_TORCH; false when torch cannot be imported by it.
static inline bool torch_python(char *path, size_t size)
{
    const char *chosen = getenv("VISDIAL_TORCH");
    snprintf(path, size, "%s", chosen && *chosen ? chosen : "build/torch/bin/python");
    char command[1200];
    snprintf(command, sizeof command, "'%s' tests/bench/mvan_torch.py --versions 2>&1", path);
    FILE *out = popen(command, "r");
    char line[256] = "";
    bool got = out && fgets(line, sizeof line, out);
    if (out && pclose(out) == 0 && got) {
        printf("# %s", line);
        return true;
    }
    printf("# PyTorch is not there, so only visdial is measured: \"make torch\" installs it below\n"
           "# build/, or name a python that has it in $VISDIAL_TORCH\n");
    return false;
}

static inline torch torch_start(const char *model, const char *batch)
{
    torch t = {0};
    char python[1024];
    int in[2], out[2];
    if (!torch_python(python, sizeof python) || pipe(in) != 0 || pipe(out) != 0)
        return t;
    t.child = fork();
    if (t.child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execl(python, python, "tests/bench/mvan_torch.py", "--model", model, "--batch", batch,
              (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    t.to = fdopen(in[1], "w");
    t.from = fdopen(out[0], "r");
    signal(SIGPIPE, SIG_IGN);
    return t;
}

// One run of `what`: milliseconds of wall and CPU time. False when there is no PyTorch (any more).
static inline bool torch_time(torch *t, const char *what, double *wall, double *cpu)
{
    char line[128];
    if (t->child <= 0)
        return false;
    fprintf(t->to, "%s\n", what);
    fflush(t->to);
    if (!fgets(line, sizeof line, t->from)) {
        fprintf(stderr, "PyTorch stopped at \"%s\"\n", what);
        t->child = 0;
        return false;
    }
    char *rest;
    *wall = strtod(line, &rest);
    *cpu = strtod(rest, NULL);
    return true;
}

static inline void torch_stop(torch *t)
{
    if (!t->to)
        return;
    fclose(t->to);
    fclose(t->from);
    if (t->child > 0)
        waitpid(t->child, NULL, 0);
}

#endif

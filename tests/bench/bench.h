// What the benchmarks share: a clock, order statistics, and a description of the machine.
#ifndef BENCH_H
#define BENCH_H

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/base/threads.h"
#include "engine/base/error.h"

static inline double bench_now(void) // milliseconds
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts `times` and prints one line of it.
static inline void bench_report(const char *what, double *times, size_t count)
{
    if (count == 0)
        return;
    qsort(times, count, sizeof *times, bench_compare);
    printf("%-44s median %8.3f ms   95%% %8.3f   least %8.3f   most %8.3f   of %zu\n", what,
           times[count / 2], times[count * 95 / 100], times[0], times[count - 1], count);
}

static inline void bench_machine(const char *program)
{
    const char *threads = getenv("OPENBLAS_NUM_THREADS"); // as the program does
    vd_threads_use(threads ? (int)strtol(threads, NULL, 10) : 0);
    char line[256], processor[256] = "unknown processor";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info)) {
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(processor, sizeof processor, "%s", strchr(line, ':') + 2);
            processor[strcspn(processor, "\n")] = 0;
            break;
        }
    }
    if (info)
        fclose(info);
    struct utsname system = {0};
    uname(&system);
    printf("# %s\n# machine: %s, %ld cores, %s %s\n", program, processor,
           sysconf(_SC_NPROCESSORS_ONLN), system.sysname, system.release);
    printf("# threads: %s, instructions: %s, compiler: %s, libc: %s\n# BLAS: %s\n",
           threads ? threads : "one a processor", vd_cpu_instruction_names[vd_cpu_instructions()],
           __VERSION__, gnu_get_libc_version(), vd_backend_cpu_library());
}

static inline int bench_fail(const vd_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    return vd_status_exit_code(err->status);
}

#endif

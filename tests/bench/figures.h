// Series of times, and the table that a benchmark ends with.
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdbool.h>

#include "tests/bench/bench.h"

enum { MOST_RUNS = 64, MOST_ROWS = 24 };

typedef struct series {
    double wall[MOST_RUNS], cpu[MOST_RUNS];
    int count;
} series;

static inline double median_of(const double *values, int count)
{
    double sorted[MOST_RUNS];
    if (count == 0)
        return -1;
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, bench_compare);
    return sorted[count / 2];
}

static inline double median(const series *s)
{
    return median_of(s->wall, s->count);
}

static inline void detail(const char *what, series *s)
{
    double sorted[MOST_RUNS];
    memcpy(sorted, s->wall, sizeof sorted);
    qsort(sorted, (size_t)s->count, sizeof *sorted, bench_compare);
    printf("%-44s median %9.3f ms   least %9.3f   most %9.3f   CPU time %9.3f   of %d\n", what,
           median(s), sorted[0], sorted[s->count - 1], median_of(s->cpu, s->count), s->count);
}

static inline double cpu_now(void) // milliseconds, all threads
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

typedef struct row {
    char what[64];
    double ours, theirs, floor, bar, ratio_bar; // milliseconds (or the unit); < 0: none
    const char *unit;
} row;

static row rows[MOST_ROWS];
static int row_count;

static inline void add_row(const char *what, double ours, double theirs, double floor, double bar,
                           double ratio_bar, const char *unit)
{
    if (row_count == MOST_ROWS)
        return;
    rows[row_count] = (row){"", ours, theirs, floor, bar, ratio_bar, unit};
    snprintf(rows[row_count++].what, sizeof rows->what, "%s", what);
}

static inline const char *number(double x, const char *suffix, char *text, size_t size)
{
    if (x < 0)
        return "";
    snprintf(text, size, x < 10 ? "%.2f%s" : "%.0f%s", x, suffix);
    return text;
}

static inline void print_table(void)
{
    printf(
        "\n| what | ours | PyTorch | ratio | floor | bar | met |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < row_count; i++) {
        const row *r = &rows[i];
        char unit[16], a[32], b[32], c[32], d[32], e[32];
        snprintf(unit, sizeof unit, " %s", r->unit);
        bool met = r->bar < 0 || r->ours <= r->bar;
        if (strcmp(r->unit, "%") == 0)
            met = r->ours >= r->bar;
        if (r->ratio_bar > 0)
            met = r->theirs > 0 && r->theirs / r->ours >= r->ratio_bar;
        snprintf(e, sizeof e, ">= %.0fx", r->ratio_bar);
        char bar[48];
        snprintf(bar, sizeof bar, "%s%s",
                 strcmp(r->unit, "%") == 0 ? ">= " : "<= ", number(r->bar, unit, d, sizeof d));
        printf("| %s | %s | %s | ", r->what, number(r->ours, unit, a, sizeof a),
               number(r->theirs, unit, b, sizeof b));
        printf("%s | ", r->theirs > 0 ? number(r->theirs / r->ours, "x", c, sizeof c) : "");
        printf("%s | %s | %s |\n", number(r->floor, unit, c, sizeof c),
               r->ratio_bar > 0 ? e
               : r->bar < 0     ? ""
                                : bar,
               r->ratio_bar > 0 && r->theirs <= 0 ? "?"
               : met                              ? "yes"
                                                  : "no");
    }
}

#endif

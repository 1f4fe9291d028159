// Series of times, and the table that a benchmark ends with.
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdbool.h>

#include "tests/bench/bench.h"
#include "tests/bench/torch.h"

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

// One run by every PyTorch; series i is the i-th one's.
static inline void run_torch(torches *t, const char *what, series *s)
{
    for (int i = 0; i < t->count; i++)
        if (torch_ask(&t->list[i], what, &s[i].wall[s[i].count], &s[i].cpu[s[i].count]))
            s[i].count++;
}

static inline void detail_torch(const torches *t, const char *what, series *s)
{
    for (int i = 0; i < t->count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s, PyTorch %s", what, t->list[i].version);
        if (s[i].count)
            detail(name, &s[i]);
    }
}

static inline double cpu_now(void) // milliseconds, all threads
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

typedef struct table_row {
    char what[64];
    double ours, floor, bar, ratio_bar; // milliseconds (or the unit); < 0: none
    double theirs[MOST_TORCHES];        // each PyTorch's; < 0: none
    const char *unit;
} table_row;

static table_row table_rows[MOST_ROWS];
static int row_count;

// theirs: a series for each PyTorch, NULL = it was not asked.
static inline void add_row(const char *what, double ours, const series *theirs, double floor,
                           double bar, double ratio_bar, const char *unit)
{
    if (row_count == MOST_ROWS)
        return;
    table_row *r = &table_rows[row_count++];
    *r = (table_row){"", ours, floor, bar, ratio_bar, {0}, unit};
    snprintf(r->what, sizeof r->what, "%s", what);
    for (int i = 0; i < MOST_TORCHES; i++)
        r->theirs[i] = theirs ? median(&theirs[i]) : -1;
}

static inline const char *number(double x, const char *suffix, char *text, size_t size)
{
    if (x < 0)
        return "";
    snprintf(text, size, x < 10 ? "%.2f%s" : "%.0f%s", x, suffix);
    return text;
}

// "yes", "no", or the only PyTorch that the bar is met beside; "" without a bar.
static inline const char *verdict(const table_row *r, const torches *t)
{
    if (r->ratio_bar < 0) {
        bool most = strcmp(r->unit, "%") != 0;
        return r->bar < 0 ? "" : (most ? r->ours <= r->bar : r->ours >= r->bar) ? "yes" : "no";
    }
    const char *met = NULL;
    int asked = 0, passed = 0;
    for (int i = 0; i < t->count; i++) {
        asked += r->theirs[i] > 0;
        if (r->theirs[i] / r->ours >= r->ratio_bar) {
            met = t->list[i].version;
            passed++;
        }
    }
    return asked == 0 ? "?" : passed == 0 ? "no" : passed == asked ? "yes" : met;
}

static inline void print_table(const torches *t)
{
    printf("\n| what | ours |");
    for (int i = 0; i < t->count; i++)
        printf(" PyTorch %s | ratio |", t->list[i].version);
    printf(" floor | bar | met |\n|---|---|");
    for (int i = 0; i < t->count; i++)
        printf("---|---|");
    printf("---|---|---|\n");
    for (int i = 0; i < row_count; i++) {
        const table_row *r = &table_rows[i];
        char unit[16], text[32];
        snprintf(unit, sizeof unit, " %s", r->unit);
        printf("| %s | %s |", r->what, number(r->ours, unit, text, sizeof text));
        for (int k = 0; k < t->count; k++) {
            printf(" %s |", number(r->theirs[k], unit, text, sizeof text));
            printf(" %s |",
                   number(r->theirs[k] > 0 ? r->theirs[k] / r->ours : -1, "x", text, sizeof text));
        }
        printf(" %s |", number(r->floor, unit, text, sizeof text));
        if (r->ratio_bar > 0)
            printf(" >= %gx |", r->ratio_bar);
        else if (r->bar < 0)
            printf(" |");
        else
            printf(" %s%s |", strcmp(r->unit, "%") == 0 ? ">= " : "<= ",
                   number(r->bar, unit, text, sizeof text));
        printf(" %s |\n", verdict(r, t));
    }
}

#endif

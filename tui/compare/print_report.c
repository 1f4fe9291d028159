// The comparison as tables, on standard output.
#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/compare/compare.h"
#include "tui/base/output.h"

// ---- what the writers share ---------------------------------------------------------------------

vd_metric vd_compare_metric(vd_right by)
{
    return by == VD_RIGHT_HUMAN ? VD_R1 : VD_CORRECT;
}

static double known_p(const vd_comparison *comparison, int side, vd_metric metric)
{
    double p = comparison->against[side].difference[metric].p;
    return isnan(p) ? 1 : p;
}

vd_status vd_compare_holm(const vd_compare *compare, int side, size_t first, size_t count,
                          vd_metric metric, double *out, vd_error *err)
{
    for (size_t i = 0; i < count; i++)
        out[i] = known_p(&compare->slices.slice[first + i].comparison, side, metric);
    return vd_holm(out, count, err);
}

vd_status vd_compare_model_p(const vd_compare *compare, int side, double out[VD_METRICS],
                             vd_error *err)
{
    const vd_comparison *all = &compare->slices.slice[0].comparison;
    vd_status status = VD_OK;
    for (int m = 0; m < VD_METRICS && status == VD_OK; m++) {
        double p[VD_MODELS];
        int models = compare->cases->models;
        for (int i = 1; i < models; i++)
            p[i - 1] = known_p(all, i, (vd_metric)m);
        status = vd_holm(p, (size_t)models - 1, err);
        out[m] = isnan(all->against[side].difference[m].p) ? NAN : p[side - 1];
    }
    return status;
}

const char *vd_compare_p_name(const vd_compare *compare)
{
    return compare->cases->models > 2 ? "p (Holm)" : "p";
}

void vd_compare_counts(const vd_against *pair, vd_right by, size_t out[VD_CASE_UNKNOWN])
{
    const vd_pairs *pairs = &pair->right[by];
    out[VD_CASE_BOTH] = pairs->both;
    out[VD_CASE_FIRST] = pairs->only_a;
    out[VD_CASE_SECOND] = pairs->only_b;
    out[VD_CASE_NEITHER] = pairs->neither;
}

void vd_compare_pair_name(const vd_compare *compare, int side, vd_case_group group, char *out,
                          size_t size)
{
    const vd_cases *cases = compare->cases;
    if (group == VD_CASE_BOTH || group == VD_CASE_NEITHER)
        snprintf(out, size, "both %s", group == VD_CASE_BOTH ? "right" : "wrong");
    else
        snprintf(out, size, "only %.60s right", cases->name[group == VD_CASE_SECOND ? side : 0]);
}

const char *vd_compare_metric_name(vd_metric metric)
{
    static const char *const names[] = {[VD_R1] = "R@1",           [VD_R5] = "R@5",
                                        [VD_R10] = "R@10",         [VD_MEAN_RANK] = "mean rank",
                                        [VD_MRR] = "MRR",          [VD_NDCG] = "NDCG",
                                        [VD_CORRECT] = "correct@1"};
    return names[metric];
}

void vd_compare_p(char *out, size_t size, double p)
{
    if (isnan(p))
        snprintf(out, size, "-");
    else if (p < 0.001)
        snprintf(out, size, "< 0.001");
    else
        snprintf(out, size, "%.3f", p);
}

void vd_compare_range(char *out, size_t size, const vd_interval *interval, int width, int digits,
                      const char *between)
{
    if (isnan(interval->low))
        snprintf(out, size, "%*s", 2 * width + (width ? (int)strlen(between) : 0), "-");
    else
        snprintf(out, size, "%+*.*f%s%+*.*f", width, digits, interval->low, between, width, digits,
                 interval->high);
}

// ---- tables -------------------------------------------------------------------------------------

static const char *name_of(const vd_compare *compare, int side)
{
    return compare->cases->name[side];
}

static void print_counts(const size_t *counts, size_t total)
{
    printf(" %9zu  %5.1f %%", *counts, total > 0 ? 100 * (double)*counts / (double)total : 0.0);
}

static void print_groups(const vd_compare *compare, int side)
{
    const vd_comparison *all = &compare->slices.slice[0].comparison;
    const vd_against *pair = &all->against[side];
    bool relevance = all->metrics[0].dense_rounds > 0;
    char name[96];
    printf("%-24s %18s%s\n", "which is right", "the human answer",
           relevance ? "        relevance 1" : "");
    for (int group = 0; group < VD_CASE_UNKNOWN; group++) {
        vd_compare_pair_name(compare, side, (vd_case_group)group, name, sizeof name);
        printf("%-24.40s", name);
        for (int by = 0; by < 1 + relevance; by++) {
            size_t counts[VD_CASE_UNKNOWN];
            vd_compare_counts(pair, (vd_right)by, counts);
            print_counts(&counts[group], counts[0] + counts[1] + counts[2] + counts[3]);
        }
        printf("\n");
    }
    static const char *const tests[] = {"McNemar's test, exact p", "McNemar's test, mid-p"};
    for (int i = 0; i < 2; i++) {
        printf("%-24s", tests[i]);
        for (int by = 0; by < 1 + relevance; by++) {
            char p[16];
            vd_compare_p(p, sizeof p, i ? pair->test[by].mid_p : pair->test[by].exact);
            printf(" %18s", p);
        }
        printf("\n");
    }
}

static vd_status print_metrics(const vd_compare *compare, int side, vd_error *err)
{
    const vd_comparison *all = &compare->slices.slice[0].comparison;
    double sum[2][VD_METRICS], count[2][VD_METRICS], corrected[VD_METRICS];
    vd_status status = vd_compare_model_p(compare, side, corrected, err);
    if (status)
        return status;
    printf("\n%-18s %8.16s %10.16s %11s   %-19s  %s\n", "", name_of(compare, 0),
           name_of(compare, side), "difference", "95 % interval", vd_compare_p_name(compare));
    vd_metrics_sums(&all->metrics[0], sum[0], count[0]);
    vd_metrics_sums(&all->metrics[side], sum[1], count[1]);
    for (int m = 0; m < VD_METRICS; m++) {
        const vd_interval *d = &all->against[side].difference[m];
        if (count[0][m] <= 0)
            continue;
        char p[16], range[48];
        vd_compare_p(p, sizeof p, corrected[m]);
        vd_compare_range(range, sizeof range, d, 8, 4, "  ");
        printf("%-18s %8.4f %10.4f %+11.4f   %s  %s\n", vd_compare_metric_name((vd_metric)m),
               sum[0][m] / count[0][m], sum[1][m] / count[1][m], d->estimate, range, p);
    }
    return VD_OK;
}

// How often which of several models are right together.
static void print_patterns(const vd_compare *compare)
{
    const vd_cases *cases = compare->cases;
    bool relevance = compare->slices.slice[0].comparison.metrics[0].dense_rounds > 0;
    size_t count[2][1 << VD_MODELS] = {{0}}, total[2] = {0};
    for (size_t i = 0; i < cases->count; i++)
        for (int by = 0; by < 2; by++) {
            unsigned pattern = 0;
            if (vd_case_group_of(cases, &cases->at[i], (vd_right)by) == VD_CASE_UNKNOWN)
                continue;
            for (int side = 0; side < cases->models; side++)
                pattern |= (unsigned)vd_case_right(&cases->at[i], side, (vd_right)by)
                           << (cases->models - 1 - side);
            count[by][pattern]++;
            total[by]++;
        }
    for (int side = 0; side < cases->models; side++)
        printf("%-10.10s ", name_of(compare, side));
    printf("%18s%s\n", "the human answer", relevance ? "        relevance 1" : "");
    for (unsigned i = 1u << cases->models; i-- > 0;) {
        for (int side = 0; side < cases->models; side++)
            printf("%-10s ", i >> (cases->models - 1 - side) & 1 ? "right" : "wrong");
        for (int by = 0; by < 1 + relevance; by++)
            print_counts(&count[by][i], total[by]);
        printf("\n");
    }
}

static vd_status print_slices(const vd_compare *compare, int side, const char *what, size_t first,
                              size_t count, vd_error *err)
{
    vd_metric metric = vd_compare_metric(compare->by);
    double *p = vd_alloc(count, sizeof *p);
    if (!p)
        return vd_error_memory(err, "p-values");
    vd_status status = vd_compare_holm(compare, side, first, count, metric, p, err);
    printf("\n%-18s %8s %8.8s %10.10s %11s   %-19s  %-8s  %s\n", what, "rounds",
           name_of(compare, 0), name_of(compare, side), "difference", "95 % interval", "p (Holm)",
           "only / only");
    for (size_t i = 0; i < count && status == VD_OK; i++) {
        const vd_slice *slice = &compare->slices.slice[first + i];
        const vd_comparison *c = &slice->comparison;
        const vd_interval *d = &c->against[side].difference[metric];
        const vd_pairs *pairs = &c->against[side].right[compare->by];
        double sum[2][VD_METRICS], rounds[2][VD_METRICS];
        char name[32], corrected[16], range[48];
        vd_metrics_sums(&c->metrics[0], sum[0], rounds[0]);
        vd_metrics_sums(&c->metrics[side], sum[1], rounds[1]);
        if (rounds[0][metric] <= 0)
            continue;
        snprintf(name, sizeof name, "%d", slice->round);
        vd_compare_p(corrected, sizeof corrected, p[i]);
        vd_compare_range(range, sizeof range, d, 8, 4, "  ");
        printf("%-18.18s %8.0f %8.4f %10.4f %+11.4f   %s  %-8s  %zu / %zu\n",
               slice->family ? slice->family : name, rounds[0][metric],
               sum[0][metric] / rounds[0][metric], sum[1][metric] / rounds[1][metric], d->estimate,
               range, corrected, pairs->only_a, pairs->only_b);
    }
    vd_free(p);
    return status;
}

// One model against the first.
static vd_status print_pair(const vd_compare *compare, int side, vd_error *err)
{
    const vd_cases *cases = compare->cases;
    const char *metric = vd_compare_metric_name(vd_compare_metric(compare->by));
    char title[48];
    if (cases->models > 2)
        printf("\n---- %s against %s\n\n", name_of(compare, side), name_of(compare, 0));
    print_groups(compare, side);
    vd_status status = print_metrics(compare, side, err);
    snprintf(title, sizeof title, "%s by family", metric);
    if (status == VD_OK && cases->family_count)
        status = print_slices(compare, side, title, 1, cases->family_count, err);
    snprintf(title, sizeof title, "%s by round", metric);
    if (status == VD_OK && cases->rounds > 1)
        status =
            print_slices(compare, side, title, 1 + cases->family_count, (size_t)cases->rounds, err);
    return status;
}

static void print_cases(const vd_compare *compare)
{
    enum { MOST = 10 };
    const vd_cases *cases = compare->cases;
    printf("\nwhere they differ most%s\n",
           compare->count ? "" : ": no question fits what was asked for");
    for (size_t i = 0; i < compare->count && i < MOST; i++) {
        const vd_case *at = compare->at[i];
        printf("%3.0f %%  picture %lld, round %d: ", 100 * (double)at->moved,
               (long long)vd_case_dialog(cases, at)->image_id, at->round + 1);
        vd_output_text(stdout, vd_case_question(cases, at));
        printf("?\n");
        const char *human = vd_case_human(cases, at);
        printf("       %-7s ", "human");
        vd_output_text(stdout, human ? human : "-");
        for (int side = 0; side < cases->models; side++) {
            printf("\n       %c %-12.12s ", vd_case_right(at, side, compare->by) ? '+' : '-',
                   name_of(compare, side));
            vd_output_text(stdout, vd_case_option(cases, at, at->side[side].first));
            if (at->side[side].rank > 0)
                printf("  (human answer: place %g)", (double)at->side[side].rank);
        }
        printf("\n");
    }
}

vd_status vd_compare_print(const vd_compare *compare, vd_error *err)
{
    const vd_cases *cases = compare->cases;
    for (int side = 0; side < cases->models; side++)
        printf("%-8s %s (%s)\n", side ? "" : "models", name_of(compare, side),
               vd_model_path(cases->model[side]));
    printf("data     %s, %zu dialogs, %zu questions\n\n", cases->corpus->data, cases->dialogs,
           cases->count);
    if (cases->models > 2)
        print_patterns(compare);
    vd_status status = VD_OK;
    for (int side = 1; side < cases->models && status == VD_OK; side++)
        status = print_pair(compare, side, err);
    if (status == VD_OK)
        print_cases(compare);
    return status;
}

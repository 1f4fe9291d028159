// The comparison as tables: of two models which are right, their metrics, one metric by family and
// by round. What prints and what writes pages show the same ones.
#include <glib.h>
#include <math.h>

#include "tui/compare/compare.h"
#include "tui/measure/measure.h"

// ---- numbers ------------------------------------------------------------------------------------

static double known_p(const vd_comparison *comparison, int side, vd_metric metric)
{
    double p = comparison->against[side].difference[metric].p;
    return isnan(p) ? 1 : p;
}

// Over all cases: p-values of a model's metrics, corrected for the number of models that are
// compared with the first.
static vd_status holm_of_models(const vd_compare *compare, int side, double out[VD_METRICS],
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

static const char *metric_name(vd_metric metric)
{
    return metric == VD_MEAN_RANK ? "mean rank" : vd_measure_columns[metric].label;
}

// "0.620", "< 0.001"; "-" when it is not known.
static void write_p(char *out, size_t size, double p)
{
    if (isnan(p))
        snprintf(out, size, "-");
    else if (p < 0.001)
        snprintf(out, size, "< 0.001");
    else
        snprintf(out, size, "%.3f", p);
}

void vd_compare_range(char *out, size_t size, const vd_interval *interval)
{
    if (isnan(interval->low))
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%+.4f to %+.4f", interval->low, interval->high);
}

// ---- tables -------------------------------------------------------------------------------------

static void add_group(vd_table *table, const vd_compare *compare, const vd_against *pair, int side,
                      vd_case_group group, bool relevance)
{
    char name[96];
    vd_case_pair_name(compare->cases, side, group, name, sizeof name);
    vd_table_add(table, "%s", name);
    for (int by = 0; by < 1 + relevance; by++) {
        const vd_pairs *of = &pair->right[by];
        const size_t counts[] = {[VD_CASE_BOTH] = of->both,
                                 [VD_CASE_FIRST] = of->only_a,
                                 [VD_CASE_SECOND] = of->only_b,
                                 [VD_CASE_NEITHER] = of->neither};
        double all = (double)(counts[0] + counts[1] + counts[2] + counts[3]);
        vd_table_more(table, "%zu\t%.1f %%", counts[group],
                      all > 0 ? 100 * (double)counts[group] / all : 0.0);
    }
}

static void make_groups(vd_table *table, const vd_compare *compare, int side)
{
    static const char *const tests[] = {"McNemar's test, exact p", "McNemar's test, mid-p"};
    const vd_comparison *all = &compare->slices.slice[0].comparison;
    const vd_against *pair = &all->against[side];
    const vd_mcnemar test[] = {vd_mcnemar_test(&pair->right[0]), vd_mcnemar_test(&pair->right[1])};
    bool relevance = all->metrics[0].dense_rounds > 0;
    vd_table_add(table, "which is right\tthe human answer\t");
    if (relevance)
        vd_table_more(table, "relevance 1\t");
    for (int group = 0; group < VD_CASE_UNKNOWN; group++)
        add_group(table, compare, pair, side, (vd_case_group)group, relevance);
    for (int i = 0; i < 2; i++) {
        char p[2][16];
        for (int by = 0; by < 2; by++)
            write_p(p[by], sizeof p[by], i ? test[by].mid_p : test[by].exact);
        vd_table_add(table, "%s\t%s\t", tests[i], p[0]);
        if (relevance)
            vd_table_more(table, "%s\t", p[1]);
    }
}

// Differences are the model - the first one, here and in `study`.
static void add_head(vd_table *table, const vd_compare *compare, int side, const char *what,
                     const char *p)
{
    const char *first = compare->cases->name[0], *name = compare->cases->name[side];
    vd_table_add(table, "%s\trounds\t%.60s\t%.60s\t%.60s - %.60s\t95 %% interval\t%s", what, first,
                 name, name, first, p);
}

// False: there are no rounds.
static bool add_row(vd_table *table, const char *name, const vd_comparison *c, int side,
                    vd_metric metric, double p, double reach)
{
    const vd_interval *d = &c->against[side].difference[metric];
    char corrected[16], range[48];
    size_t rounds = vd_metrics_rounds(&c->metrics[0], metric);
    if (rounds == 0)
        return false;
    write_p(corrected, sizeof corrected, p);
    vd_compare_range(range, sizeof range, d);
    vd_table_row *row =
        vd_table_add(table, "%s\t%zu\t%.4f\t%.4f\t%+.4f\t%s\t%s", name, rounds,
                     vd_metrics_mean(&c->metrics[0], metric),
                     vd_metrics_mean(&c->metrics[side], metric), d->estimate, range, corrected);
    if (!isnan(d->estimate) && !isnan(d->low))
        row->range = (vd_table_range){d->estimate, d->low, d->high, reach};
    return true;
}

// How far the widest interval of these slices reaches, for a common scale.
static double reach_of(const vd_compare *compare, int side, size_t first, size_t count,
                       vd_metric metric)
{
    double reach = 0;
    for (size_t i = first; i < first + count; i++) {
        const vd_interval *d =
            &compare->slices.slice[i].comparison.against[side].difference[metric];
        if (!isnan(d->estimate))
            reach = fmax(reach, fmax(fabs(d->low), fabs(d->high)));
    }
    return reach;
}

static vd_status make_metrics(vd_table *table, const vd_compare *compare, int side, vd_error *err)
{
    const vd_comparison *all = &compare->slices.slice[0].comparison;
    double p[VD_METRICS];
    vd_status status = holm_of_models(compare, side, p, err);
    if (status)
        return status;
    double ranks = reach_of(compare, side, 0, 1, VD_MEAN_RANK);
    double parts =
        fmax(reach_of(compare, side, 0, 1, VD_R1), reach_of(compare, side, 0, 1, VD_CORRECT)) * 1.4;
    add_head(table, compare, side, "metric", compare->cases->models > 2 ? "p (Holm)" : "p");
    for (int m = 0; m < VD_METRICS; m++)
        add_row(table, metric_name((vd_metric)m), all, side, (vd_metric)m, p[m],
                m == VD_MEAN_RANK ? ranks : parts);
    return VD_OK;
}

static vd_status make_slices(vd_table *table, const vd_compare *compare, int side, const char *what,
                             size_t first, size_t count, vd_error *err)
{
    // Which says how often a model is right.
    vd_metric metric = compare->by == VD_RIGHT_HUMAN ? VD_R1 : VD_CORRECT;
    double *p = g_new(double, count);
    for (size_t i = 0; i < count; i++)
        p[i] = known_p(&compare->slices.slice[first + i].comparison, side, metric);
    vd_status status = vd_holm(p, count, err);
    char title[48];
    snprintf(title, sizeof title, "%s by %s", metric_name(metric), what);
    add_head(table, compare, side, title, "p (Holm)");
    vd_table_more(table, "only %.60s / %.60s right", compare->cases->name[0],
                  compare->cases->name[side]);
    double reach = reach_of(compare, side, first, count, metric);
    for (size_t i = 0; i < count && status == VD_OK; i++) {
        const vd_slice *slice = &compare->slices.slice[first + i];
        char name[24];
        snprintf(name, sizeof name, "%d", slice->round);
        const vd_pairs *pairs = &slice->comparison.against[side].right[compare->by];
        if (add_row(table, slice->family ? slice->family : name, &slice->comparison, side, metric,
                    p[i], reach))
            vd_table_more(table, "%zu / %zu", pairs->only_a, pairs->only_b);
    }
    g_free(p);
    return status;
}

// VD_NOT_FOUND: there is nothing to say.
static vd_status make_table(vd_table *table, const vd_compare *compare, int side,
                            vd_compare_kind kind, vd_error *err)
{
    const vd_cases *cases = compare->cases;
    switch (kind) {
    case VD_COMPARE_GROUPS:
        make_groups(table, compare, side);
        return VD_OK;
    case VD_COMPARE_METRICS:
        return make_metrics(table, compare, side, err);
    case VD_COMPARE_FAMILIES:
        return cases->family_count
                   ? make_slices(table, compare, side, "family", 1, cases->family_count, err)
                   : VD_NOT_FOUND;
    default:
        return cases->rounds > 1 ? make_slices(table, compare, side, "round",
                                               1 + cases->family_count, (size_t)cases->rounds, err)
                                 : VD_NOT_FOUND;
    }
}

vd_status vd_compare_tables(const vd_compare *compare, int side, vd_compare_put *put, void *context,
                            vd_error *err)
{
    vd_status status = VD_OK;
    for (int kind = 0; kind < VD_COMPARE_KINDS && status == VD_OK; kind++) {
        vd_table table = {0};
        status = make_table(&table, compare, side, (vd_compare_kind)kind, err);
        if (status == VD_OK)
            put(context, (vd_compare_kind)kind, &table);
        vd_table_clear(&table);
        status = status == VD_NOT_FOUND ? VD_OK : status;
    }
    return status;
}

// The comparison as Markdown: the tables, then the cases.
#include "engine/base/alloc.h"
#include "tui/compare/compare.h"
#include "tui/page/markdown.h"

static const char *model_name(const vd_compare *compare, int side)
{
    return compare->cases->name[side];
}

static void put_groups(vd_markup *m, const vd_compare *compare, int side)
{
    static const char *const says[] = {"the human answer is first", "relevance 1 is first"};
    const vd_against *pair = &compare->slices.slice[0].comparison.against[side];
    for (int by = 0; by < 2; by++) {
        size_t counts[VD_CASE_UNKNOWN];
        vd_compare_counts(pair, (vd_right)by, counts);
        double total = (double)(counts[0] + counts[1] + counts[2] + counts[3]);
        if (total <= 0)
            continue;
        vd_markup_put(m, "| right: %s | questions | |\n| --- | ---: | ---: |\n", says[by]);
        for (int g = 0; g < VD_CASE_UNKNOWN; g++) {
            char name[96];
            vd_compare_pair_name(compare, side, (vd_case_group)g, name, sizeof name);
            vd_markup_put(m, "| %s | %zu | %.1f %% |\n", name, counts[g],
                          100 * (double)counts[g] / total);
        }
        char exact[16], mid[16];
        vd_compare_p(exact, sizeof exact, pair->test[by].exact);
        vd_compare_p(mid, sizeof mid, pair->test[by].mid_p);
        vd_markup_put(m, "\nMcNemar's test: exact p %s, mid-p %s.\n\n", exact, mid);
    }
}

static void put_head(vd_markup *m, const vd_compare *compare, int side, const char *what,
                     const char *p)
{
    vd_markup_put(m,
                  "| %s | rounds | %s | %s | difference | 95 %% interval | %s |\n"
                  "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
                  what, model_name(compare, 0), model_name(compare, side), p);
}

static void put_row(vd_markup *m, const char *name, const vd_comparison *c, int side,
                    vd_metric metric, double p)
{
    const vd_interval *d = &c->against[side].difference[metric];
    double sum[2][VD_METRICS], count[2][VD_METRICS];
    char text[16], range[48];
    vd_metrics_sums(&c->metrics[0], sum[0], count[0]);
    vd_metrics_sums(&c->metrics[side], sum[1], count[1]);
    if (count[0][metric] <= 0)
        return;
    vd_compare_p(text, sizeof text, p);
    vd_compare_range(range, sizeof range, d, 0, 4, " to ");
    vd_markup_put(m, "| %s | %.0f | %.4f | %.4f | %+.4f | %s | %s |\n", name, count[0][metric],
                  sum[0][metric] / count[0][metric], sum[1][metric] / count[1][metric], d->estimate,
                  range, text);
}

static vd_status put_slices(vd_markup *m, const vd_compare *compare, int side, const char *what,
                            size_t first, size_t count, vd_error *err)
{
    vd_metric metric = vd_compare_metric(compare->by);
    double *p = vd_alloc(count, sizeof *p);
    if (!p)
        return vd_error_memory(err, "p-values");
    vd_status status = vd_compare_holm(compare, side, first, count, metric, p, err);
    char title[48];
    snprintf(title, sizeof title, "%s by %s", vd_compare_metric_name(metric), what);
    put_head(m, compare, side, title, "p (Holm)");
    for (size_t i = 0; i < count && status == VD_OK; i++) {
        const vd_slice *slice = &compare->slices.slice[first + i];
        char name[24];
        snprintf(name, sizeof name, "%d", slice->round);
        put_row(m, slice->family ? slice->family : name, &slice->comparison, side, metric, p[i]);
    }
    vd_markup_put(m, "\n");
    vd_free(p);
    return status;
}

// One model against the first.
static vd_status put_pair(vd_markup *m, const vd_compare *compare, int side, vd_error *err)
{
    const vd_cases *cases = compare->cases;
    const vd_comparison *all = &compare->slices.slice[0].comparison;
    double p[VD_METRICS];
    vd_status status = vd_compare_model_p(compare, side, p, err);
    if (status)
        return status;
    if (cases->models > 2)
        vd_markup_put(m, "## %s against %s\n\n", model_name(compare, side), model_name(compare, 0));
    put_groups(m, compare, side);
    put_head(m, compare, side, "metric", vd_compare_p_name(compare));
    for (int i = 0; i < VD_METRICS; i++)
        put_row(m, vd_compare_metric_name((vd_metric)i), all, side, (vd_metric)i, p[i]);
    vd_markup_put(m, "\n");
    if (cases->family_count)
        status = put_slices(m, compare, side, "family", 1, cases->family_count, err);
    if (status == VD_OK && cases->rounds > 1)
        status = put_slices(m, compare, side, "round", 1 + cases->family_count,
                            (size_t)cases->rounds, err);
    return status;
}

static vd_status put_all(vd_markup *m, const vd_compare *compare, vd_error *err)
{
    const vd_cases *cases = compare->cases;
    char names[400];
    vd_cases_names(compare->cases, names, sizeof names);
    vd_markup_put(m,
                  "# %s, question by question\n\n%zu questions of %zu dialogs in %s; every "
                  "question continues from the human answers. Differences are %s minus %s; "
                  "intervals are 95 %%, from a paired bootstrap over dialogs.\n\n",
                  names, cases->count, cases->dialogs, cases->corpus->data,
                  cases->models > 2 ? "a model" : model_name(compare, 1), model_name(compare, 0));
    vd_status status = VD_OK;
    for (int side = 1; side < cases->models && status == VD_OK; side++)
        status = put_pair(m, compare, side, err);
    vd_markup_put(m, "## Cases\n\n%zu of %zu, by how far the models differ.\n\n", compare->count,
                  compare->shown_of);
    for (size_t i = 0; i < compare->count && status == VD_OK; i++) {
        vd_case_sheet made;
        status = vd_case_sheet_make(cases, compare->at[i], compare->by, compare->stop, &made, err);
        if (status)
            break;
        vd_markdown_sheet(m, &made.sheet);
        vd_case_sheet_clear(&made);
        if (compare->progress)
            vd_progress_update(compare->progress, (int64_t)i + 1, NULL);
    }
    return status;
}

vd_status vd_compare_markdown(const vd_compare *compare, const char *path, vd_error *err)
{
    vd_markup *m;
    vd_status status = vd_markup_create(path, VD_MARKUP_MARKDOWN, &m, err);
    if (status)
        return status;
    status = put_all(m, compare, err);
    if (status == VD_OK)
        return vd_markup_commit(m, err);
    vd_markup_abort(m);
    return status;
}

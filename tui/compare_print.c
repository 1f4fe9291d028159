// The comparison as tables and as JSON, on standard output.
#include <math.h>
#include <string.h>

#include "engine/alloc.h"
#include "tui/compare.h"
#include "tui/output.h"

// ---- what the writers share ---------------------------------------------------------------------

vd_metric vd_compare_metric(vd_right by)
{
    return by == VD_RIGHT_HUMAN ? VD_R1 : VD_CORRECT;
}

vd_status vd_compare_holm(const vd_compare *compare, size_t first, size_t count, vd_metric metric,
                          double *out, vd_error *err)
{
    for (size_t i = 0; i < count; i++) {
        double p = compare->slices.slice[first + i].comparison.difference[metric].p;
        out[i] = isnan(p) ? 1 : p;
    }
    return vd_holm(out, count, err);
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

// ---- tables -------------------------------------------------------------------------------------

static const char *name_of(const vd_compare *compare, int side)
{
    return vd_model_name(compare->cases->model[side]);
}

static void print_groups(const vd_compare *compare)
{
    const vd_comparison *all = &compare->slices.slice[0].comparison;
    const char *a = name_of(compare, 0), *b = name_of(compare, 1);
    bool relevance = all->metrics[0].dense_rounds > 0;
    char name[96];
    printf("%-24s %18s%s\n", "which is right", "the human answer",
           relevance ? "        relevance 1" : "");
    for (int group = 0; group < VD_CASE_UNKNOWN; group++) {
        vd_case_group_name(compare->cases, (vd_case_group)group, name, sizeof name);
        printf("%-24.40s", name);
        for (int by = 0; by < 1 + relevance; by++) {
            const vd_pairs *pairs = &all->right[by];
            size_t counts[] = {pairs->both, pairs->only_a, pairs->only_b, pairs->neither};
            double total = (double)(counts[0] + counts[1] + counts[2] + counts[3]);
            printf(" %9zu  %5.1f %%", counts[group],
                   total > 0 ? 100 * (double)counts[group] / total : 0.0);
        }
        printf("\n");
    }
    static const char *const tests[] = {"McNemar's test, exact p", "McNemar's test, mid-p"};
    for (int i = 0; i < 2; i++) {
        printf("%-24s", tests[i]);
        for (int by = 0; by < 1 + relevance; by++) {
            char p[16];
            vd_compare_p(p, sizeof p, i ? all->test[by].mid_p : all->test[by].exact);
            printf(" %18s", p);
        }
        printf("\n");
    }
    printf("\n%-18s %8.16s %10.16s %11s   %-19s  %s\n", "", a, b, "difference", "95 % interval",
           "p");
    double sum[2][VD_METRICS], count[2][VD_METRICS];
    for (int side = 0; side < 2; side++)
        vd_metrics_sums(&all->metrics[side], sum[side], count[side]);
    for (int m = 0; m < VD_METRICS; m++) {
        const vd_interval *d = &all->difference[m];
        if (count[0][m] <= 0)
            continue;
        char p[16];
        vd_compare_p(p, sizeof p, d->p);
        printf("%-18s %8.4f %10.4f %+11.4f   %+8.4f  %+8.4f  %s\n",
               vd_compare_metric_name((vd_metric)m), sum[0][m] / count[0][m],
               sum[1][m] / count[1][m], d->estimate, d->low, d->high, p);
    }
}

static vd_status print_slices(const vd_compare *compare, const char *what, size_t first,
                              size_t count, vd_error *err)
{
    vd_metric metric = vd_compare_metric(compare->by);
    double *p = vd_alloc(count, sizeof *p);
    if (!p)
        return vd_error_memory(err, "p-values");
    vd_status status = vd_compare_holm(compare, first, count, metric, p, err);
    printf("\n%-18s %8s %8.8s %10.10s %11s   %-19s  %-8s  %s\n", what, "rounds",
           name_of(compare, 0), name_of(compare, 1), "difference", "95 % interval", "p (Holm)",
           "only / only");
    for (size_t i = 0; i < count && status == VD_OK; i++) {
        const vd_slice *slice = &compare->slices.slice[first + i];
        const vd_comparison *c = &slice->comparison;
        const vd_interval *d = &c->difference[metric];
        const vd_pairs *pairs = &c->right[compare->by];
        double sum[2][VD_METRICS], rounds[2][VD_METRICS];
        char name[32], corrected[16];
        vd_metrics_sums(&c->metrics[0], sum[0], rounds[0]);
        vd_metrics_sums(&c->metrics[1], sum[1], rounds[1]);
        if (rounds[0][metric] <= 0)
            continue;
        snprintf(name, sizeof name, "%d", slice->round);
        vd_compare_p(corrected, sizeof corrected, p[i]);
        printf("%-18.18s %8.0f %8.4f %10.4f %+11.4f   %+8.4f  %+8.4f  %-8s  %zu / %zu\n",
               slice->family ? slice->family : name, rounds[0][metric],
               sum[0][metric] / rounds[0][metric], sum[1][metric] / rounds[1][metric], d->estimate,
               d->low, d->high, corrected, pairs->only_a, pairs->only_b);
    }
    vd_free(p);
    return status;
}

static void print_cases(const vd_compare *compare)
{
    enum { MOST = 10 };
    const vd_cases *cases = compare->cases;
    printf("\nwhere they differ most%*s%-36s %s\n", 17, "", name_of(compare, 0),
           name_of(compare, 1));
    for (size_t i = 0; i < compare->count && i < MOST; i++) {
        const vd_case *at = compare->at[i];
        printf("%3.0f %%  picture %lld, round %d: ", 100 * (double)at->moved,
               (long long)vd_case_dialog(cases, at)->image_id, at->round + 1);
        vd_output_text(stdout, vd_case_question(cases, at));
        printf("?\n");
        const char *human = vd_case_human(cases, at);
        printf("       %-7s ", "human");
        vd_output_text(stdout, human ? human : "-");
        for (int side = 0; side < 2; side++) {
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
    printf("models   %s (%s)\n         %s (%s)\n", name_of(compare, 0),
           vd_model_path(cases->model[0]), name_of(compare, 1), vd_model_path(cases->model[1]));
    printf("data     %s, %zu dialogs, %zu questions\n\n", cases->corpus->data, cases->dialogs,
           cases->count);
    print_groups(compare);
    const char *metric = vd_compare_metric_name(vd_compare_metric(compare->by));
    char title[48];
    vd_status status = VD_OK;
    snprintf(title, sizeof title, "%s by family", metric);
    if (cases->family_count)
        status = print_slices(compare, title, 1, cases->family_count, err);
    snprintf(title, sizeof title, "%s by round", metric);
    if (status == VD_OK && cases->rounds > 1)
        status = print_slices(compare, title, 1 + cases->family_count, (size_t)cases->rounds, err);
    if (status == VD_OK)
        print_cases(compare);
    return status;
}

// ---- JSON ---------------------------------------------------------------------------------------

static void key_number(yajl_gen json, const char *key, double value)
{
    vd_output_string(json, key);
    vd_output_number(json, value);
}

static void json_pairs(yajl_gen json, const vd_comparison *c, vd_right by)
{
    const vd_pairs *pairs = &c->right[by];
    yajl_gen_map_open(json);
    key_number(json, "both", (double)pairs->both);
    key_number(json, "only_first", (double)pairs->only_a);
    key_number(json, "only_second", (double)pairs->only_b);
    key_number(json, "neither", (double)pairs->neither);
    key_number(json, "mcnemar_exact_p", c->test[by].exact);
    key_number(json, "mcnemar_mid_p", c->test[by].mid_p);
    yajl_gen_map_close(json);
}

static void json_comparison(yajl_gen json, const vd_comparison *c)
{
    double sum[2][VD_METRICS], count[2][VD_METRICS];
    for (int side = 0; side < 2; side++)
        vd_metrics_sums(&c->metrics[side], sum[side], count[side]);
    yajl_gen_map_open(json);
    key_number(json, "questions", (double)c->cases);
    vd_output_string(json, "right_human");
    json_pairs(json, c, VD_RIGHT_HUMAN);
    if (c->metrics[0].dense_rounds) {
        vd_output_string(json, "right_relevant");
        json_pairs(json, c, VD_RIGHT_RELEVANT);
    }
    vd_output_string(json, "metrics");
    yajl_gen_map_open(json);
    for (int m = 0; m < VD_METRICS; m++) {
        const vd_interval *d = &c->difference[m];
        if (count[0][m] <= 0)
            continue;
        vd_output_string(json, vd_metric_name((vd_metric)m));
        yajl_gen_map_open(json);
        key_number(json, "rounds", count[0][m]);
        key_number(json, "first", sum[0][m] / count[0][m]);
        key_number(json, "second", sum[1][m] / count[1][m]);
        key_number(json, "difference", d->estimate);
        key_number(json, "low", d->low);
        key_number(json, "high", d->high);
        key_number(json, "standard_error", d->standard_error);
        key_number(json, "p", d->p);
        yajl_gen_map_close(json);
    }
    yajl_gen_map_close(json);
    yajl_gen_map_close(json);
}

static void json_case(yajl_gen json, const vd_compare *compare, const vd_case *at)
{
    static const char *const groups[] = {"both", "only_first", "only_second", "neither", NULL};
    const vd_cases *cases = compare->cases;
    const vd_visdial_round *round = vd_case_round(cases, at);
    const char *group = groups[vd_case_group_of(at, compare->by)];
    yajl_gen_map_open(json);
    vd_output_string(json, "image_id");
    yajl_gen_integer(json, vd_case_dialog(cases, at)->image_id);
    vd_output_string(json, "round");
    yajl_gen_integer(json, at->round + 1);
    if (round->family) {
        vd_output_string(json, "family");
        vd_output_string(json, round->family);
    }
    vd_output_string(json, "group");
    if (group)
        vd_output_string(json, group);
    else
        yajl_gen_null(json);
    key_number(json, "moved", (double)at->moved);
    vd_output_string(json, "question");
    vd_output_string(json, vd_case_question(cases, at));
    if (vd_case_human(cases, at)) {
        vd_output_string(json, "human");
        vd_output_string(json, vd_case_human(cases, at));
    }
    vd_output_string(json, "answers");
    yajl_gen_array_open(json);
    for (int side = 0; side < 2; side++) {
        const vd_case_side *s = &at->side[side];
        yajl_gen_map_open(json);
        vd_output_string(json, "first");
        vd_output_string(json, vd_case_option(cases, at, s->first));
        if (round->relevance)
            key_number(json, "relevance", (double)round->relevance[s->first]);
        if (s->rank > 0)
            key_number(json, "human_rank", (double)s->rank);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
}

vd_status vd_compare_json(const vd_compare *compare, vd_error *err)
{
    const vd_cases *cases = compare->cases;
    yajl_gen json = yajl_gen_alloc(NULL);
    if (!json)
        return vd_error_memory(err, "JSON");
    yajl_gen_map_open(json);
    vd_output_string(json, "models");
    yajl_gen_array_open(json);
    for (int side = 0; side < 2; side++)
        vd_output_string(json, vd_model_path(cases->model[side]));
    yajl_gen_array_close(json);
    vd_output_string(json, "data");
    vd_output_string(json, cases->corpus->data);
    key_number(json, "dialogs", (double)cases->dialogs);
    vd_output_string(json, "right");
    vd_output_string(json, compare->by == VD_RIGHT_HUMAN ? "human" : "relevant");
    vd_output_string(json, "all");
    json_comparison(json, &compare->slices.slice[0].comparison);
    vd_output_string(json, "family");
    yajl_gen_map_open(json);
    for (size_t i = 1; i < compare->slices.count; i++)
        if (compare->slices.slice[i].family) {
            vd_output_string(json, compare->slices.slice[i].family);
            json_comparison(json, &compare->slices.slice[i].comparison);
        }
    yajl_gen_map_close(json);
    vd_output_string(json, "round");
    yajl_gen_map_open(json);
    for (size_t i = 1; i < compare->slices.count; i++)
        if (compare->slices.slice[i].round) {
            char name[16];
            snprintf(name, sizeof name, "%d", compare->slices.slice[i].round);
            vd_output_string(json, name);
            json_comparison(json, &compare->slices.slice[i].comparison);
        }
    yajl_gen_map_close(json);
    vd_output_string(json, "cases");
    yajl_gen_array_open(json);
    for (size_t i = 0; i < compare->count; i++)
        json_case(json, compare, compare->at[i]);
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
    vd_output_json(stdout, json);
    return VD_OK;
}

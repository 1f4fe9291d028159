// The comparison as one JSON object, on standard output. Models after the second are in "further",
// each with the same fields against the first.
#include "tui/compare/compare.h"
#include "tui/base/output.h"

static void json_pairs(yajl_gen json, const vd_against *against, vd_right by)
{
    const vd_pairs *pairs = &against->right[by];
    yajl_gen_map_open(json);
    vd_member_number(json, "both", (double)pairs->both);
    vd_member_number(json, "only_first", (double)pairs->only_a);
    vd_member_number(json, "only_second", (double)pairs->only_b);
    vd_member_number(json, "neither", (double)pairs->neither);
    vd_member_number(json, "mcnemar_exact_p", against->test[by].exact);
    vd_member_number(json, "mcnemar_mid_p", against->test[by].mid_p);
    yajl_gen_map_close(json);
}

static void json_comparison(yajl_gen json, const vd_comparison *c, int side)
{
    const vd_against *against = &c->against[side];
    yajl_gen_map_open(json);
    vd_member_number(json, "questions", (double)c->cases);
    vd_output_string(json, "right_human");
    json_pairs(json, against, VD_RIGHT_HUMAN);
    if (c->metrics[0].dense_rounds) {
        vd_output_string(json, "right_relevant");
        json_pairs(json, against, VD_RIGHT_RELEVANT);
    }
    vd_member_map(json, "metrics");
    for (int m = 0; m < VD_METRICS; m++) {
        const vd_interval *d = &against->difference[m];
        size_t rounds = vd_metrics_rounds(&c->metrics[0], (vd_metric)m);
        if (rounds == 0)
            continue;
        vd_output_string(json, vd_metric_name((vd_metric)m));
        yajl_gen_map_open(json);
        vd_member_number(json, "rounds", (double)rounds);
        vd_member_number(json, "first", vd_metrics_mean(&c->metrics[0], (vd_metric)m));
        vd_member_number(json, "second", vd_metrics_mean(&c->metrics[side], (vd_metric)m));
        vd_member_number(json, "difference", d->estimate);
        vd_member_number(json, "low", d->low);
        vd_member_number(json, "high", d->high);
        vd_member_number(json, "standard_error", d->standard_error);
        vd_member_number(json, "p", d->p);
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
    const char *group = groups[vd_case_group_of(cases, at, compare->by)];
    yajl_gen_map_open(json);
    vd_member_integer(json, "image_id", vd_case_dialog(cases, at)->image_id);
    vd_member_integer(json, "round", at->round + 1);
    if (round->family)
        vd_member_string(json, "family", round->family);
    vd_output_string(json, "group");
    if (group)
        vd_output_string(json, group);
    else
        yajl_gen_null(json);
    vd_member_number(json, "moved", (double)at->moved);
    vd_member_string(json, "question", vd_case_question(cases, at));
    if (vd_case_human(cases, at))
        vd_member_string(json, "human", vd_case_human(cases, at));
    vd_member_list(json, "answers");
    for (int side = 0; side < cases->models; side++) {
        const vd_case_side *s = &at->side[side];
        yajl_gen_map_open(json);
        vd_member_string(json, "first", vd_case_option(cases, at, s->first));
        if (round->relevance)
            vd_member_number(json, "relevance", (double)round->relevance[s->first]);
        if (s->rank > 0)
            vd_member_number(json, "human_rank", (double)s->rank);
        if (cases->models > 2)
            vd_member_number(json, "moved", (double)s->moved);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
}

static void json_slices(yajl_gen json, const vd_compare *compare, int side, bool families)
{
    vd_member_map(json, families ? "family" : "round");
    for (size_t i = 1; i < compare->slices.count; i++) {
        const vd_slice *slice = &compare->slices.slice[i];
        char round[16];
        snprintf(round, sizeof round, "%d", slice->round);
        if (families != (slice->family != NULL))
            continue;
        vd_output_string(json, families ? slice->family : round);
        json_comparison(json, &slice->comparison, side);
    }
    yajl_gen_map_close(json);
}

// A model against the first: all, by family, by round.
static void json_pair(yajl_gen json, const vd_compare *compare, int side)
{
    vd_output_string(json, "all");
    json_comparison(json, &compare->slices.slice[0].comparison, side);
    json_slices(json, compare, side, true);
    json_slices(json, compare, side, false);
}

void vd_compare_json(const vd_compare *compare)
{
    const vd_cases *cases = compare->cases;
    yajl_gen json = vd_output_object();
    vd_member_list(json, "models");
    for (int side = 0; side < cases->models; side++)
        vd_output_string(json, vd_model_path(cases->model[side]));
    yajl_gen_array_close(json);
    vd_member_string(json, "data", cases->corpus->data);
    vd_member_number(json, "dialogs", (double)cases->dialogs);
    vd_member_string(json, "right", compare->by == VD_RIGHT_HUMAN ? "human" : "relevant");
    vd_member_string(json, "sign", "second - first");
    json_pair(json, compare, 1);
    if (cases->models > 2) {
        vd_member_list(json, "further");
        for (int side = 2; side < cases->models; side++) {
            yajl_gen_map_open(json);
            vd_member_string(json, "second", vd_model_path(cases->model[side]));
            json_pair(json, compare, side);
            yajl_gen_map_close(json);
        }
        yajl_gen_array_close(json);
    }
    vd_member_list(json, "cases");
    for (size_t i = 0; i < compare->count; i++)
        json_case(json, compare, compare->at[i]);
    yajl_gen_array_close(json);
    vd_output_object_end(json);
}

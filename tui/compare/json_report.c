// The comparison as one JSON object, on standard output. Models after the second are in "further",
// each with the same fields against the first.
#include <inttypes.h>

#include "engine/base/json.h"
#include "tui/base/output.h"
#include "tui/compare/compare.h"

static void json_pairs(yajl_gen json, const vd_against *against, vd_right by)
{
    const vd_pairs *pairs = &against->right[by];
    vd_mcnemar test = vd_mcnemar_test(pairs);
    vd_json_put(json, "{both: %zu, only_first: %zu, only_second: %zu, neither: %zu", pairs->both,
                pairs->only_a, pairs->only_b, pairs->neither);
    vd_json_put(json, "mcnemar_exact_p: %.9g, mcnemar_mid_p: %.9g}", test.exact, test.mid_p);
}

static void json_comparison(yajl_gen json, const vd_comparison *c, int side)
{
    const vd_against *against = &c->against[side];
    vd_json_put(json, "{questions: %zu, right_human:", c->cases);
    json_pairs(json, against, VD_RIGHT_HUMAN);
    if (c->metrics[0].dense_rounds) {
        vd_json_put(json, "right_relevant:");
        json_pairs(json, against, VD_RIGHT_RELEVANT);
    }
    vd_json_put(json, "metrics: {");
    for (int m = 0; m < VD_METRICS; m++) {
        const vd_interval *d = &against->difference[m];
        size_t rounds = vd_metrics_rounds(&c->metrics[0], (vd_metric)m);
        if (rounds == 0)
            continue;
        vd_json_put(json, "%s: {rounds: %zu, first: %.9g, second: %.9g",
                    vd_metric_name((vd_metric)m), rounds,
                    vd_metrics_mean(&c->metrics[0], (vd_metric)m),
                    vd_metrics_mean(&c->metrics[side], (vd_metric)m));
        vd_json_put(json, "difference: %.9g, low: %.9g, high: %.9g, standard_error: %.9g, p: %.9g}",
                    d->estimate, d->low, d->high, d->standard_error, d->p);
    }
    vd_json_put(json, "}}");
}

static void json_case(yajl_gen json, const vd_compare *compare, const vd_case *at)
{
    static const char *const groups[] = {"both", "only_first", "only_second", "neither", NULL};
    const vd_cases *cases = compare->cases;
    const vd_visdial_round *round = vd_case_round(cases, at);
    const char *group = groups[vd_case_group_of(cases, at, compare->by)];
    vd_json_put(json, "{image_id: %" PRId64 ", round: %d", vd_case_dialog(cases, at)->image_id,
                at->round + 1);
    if (round->family)
        vd_json_put(json, "family: %s", round->family);
    if (group)
        vd_json_put(json, "group: %s", group);
    else
        vd_json_put(json, "group: null");
    vd_json_put(json, "moved: %.9g, question: %s", (double)at->moved, vd_case_question(cases, at));
    if (vd_case_human(cases, at))
        vd_json_put(json, "human: %s", vd_case_human(cases, at));
    vd_json_put(json, "answers: [");
    for (int side = 0; side < cases->models; side++) {
        const vd_case_side *s = &at->side[side];
        vd_json_put(json, "{first: %s", vd_case_option(cases, at, s->first));
        if (round->relevance)
            vd_json_put(json, "relevance: %.9g", (double)round->relevance[s->first]);
        if (s->rank > 0)
            vd_json_put(json, "human_rank: %.9g", (double)s->rank);
        if (cases->models > 2)
            vd_json_put(json, "moved: %.9g", (double)s->moved);
        vd_json_put(json, "}");
    }
    vd_json_put(json, "]}");
}

static void json_slices(yajl_gen json, const vd_compare *compare, int side, bool families)
{
    vd_json_put(json, "%s: {", families ? "family" : "round");
    for (size_t i = 1; i < compare->slices.count; i++) {
        const vd_slice *slice = &compare->slices.slice[i];
        if (families != (slice->family != NULL))
            continue;
        char round[16];
        snprintf(round, sizeof round, "%d", slice->round);
        vd_json_put(json, "%s:", families ? slice->family : round);
        json_comparison(json, &slice->comparison, side);
    }
    vd_json_put(json, "}");
}

// A model against the first: all, by family, by round.
static void json_pair(yajl_gen json, const vd_compare *compare, int side)
{
    vd_json_put(json, "all:");
    json_comparison(json, &compare->slices.slice[0].comparison, side);
    json_slices(json, compare, side, true);
    json_slices(json, compare, side, false);
}

void vd_compare_json(const vd_compare *compare)
{
    const vd_cases *cases = compare->cases;
    yajl_gen json = vd_output_object();
    vd_json_put(json, "models: [");
    for (int side = 0; side < cases->models; side++)
        vd_json_put(json, "%s", vd_model_path(cases->model[side]));
    vd_json_put(json, "], decoders: [");
    for (int side = 0; side < cases->models; side++)
        vd_json_put(json, "%s", vd_decoders_name(cases->by[side]));
    vd_json_put(json, "], data: %s, dialogs: %zu, right: %s, sign: %s", cases->corpus->data,
                cases->dialogs, compare->by == VD_RIGHT_HUMAN ? "human" : "relevant",
                "second - first");
    json_pair(json, compare, 1);
    if (cases->models > 2) {
        vd_json_put(json, "further: [");
        for (int side = 2; side < cases->models; side++) {
            vd_json_put(json, "{second: %s, decoder: %s", vd_model_path(cases->model[side]),
                        vd_decoders_name(cases->by[side]));
            json_pair(json, compare, side);
            vd_json_put(json, "}");
        }
        vd_json_put(json, "]");
    }
    vd_json_put(json, "cases: [");
    for (size_t i = 0; i < compare->count; i++)
        json_case(json, compare, compare->at[i]);
    vd_json_put(json, "]");
    vd_output_object_end(json);
}

#include "tui/commands/eval_caption.h"

#include <stdio.h>

#include "tui/base/output.h"

typedef struct measured {
    vd_caption_measure measure[2]; // of the results, of those they are compared with
    vd_interval interval[VD_CAPTION_METRICS], difference[VD_CAPTION_METRICS];
} measured;

static vd_status measure_file(vd_caption_judge *judge, const char *path, vd_caption_measure *out,
                              vd_error *err)
{
    vd_results *results;
    vd_status status = vd_results_read(path, &results, err);
    if (status == VD_OK)
        status = vd_caption_measure_run(judge, results, out, err);
    vd_results_free(results);
    return status;
}

static vd_status measure(const vd_caption_evaluation *e, vd_caption_judge *judge, measured *m,
                         vd_error *err)
{
    vd_status status = measure_file(judge, e->results, &m->measure[0], err);
    if (status == VD_OK && e->against)
        status = measure_file(judge, e->against, &m->measure[1], err);
    if (status == VD_OK && e->intervals)
        status = vd_caption_intervals(&m->measure[0], NULL, &e->bootstrap, m->interval, err);
    if (status == VD_OK && e->intervals && e->against)
        status =
            vd_caption_intervals(&m->measure[0], &m->measure[1], &e->bootstrap, m->difference, err);
    return status;
}

static const char *whose_tokens(const vd_caption_evaluation *e)
{
    return e->paths.tokens_given ? "given" : "visdial, after coco-caption's";
}

static vd_status print_text(const vd_caption_evaluation *e, const vd_captions *references,
                            const vd_caption_report *report, vd_error *err)
{
    vd_output_row("results", "%s", e->results);
    if (e->against)
        vd_output_row("against", "%s", e->against);
    vd_output_row("references", "%s, %s, %zu pictures, %zu captions", references->path,
                  references->kind, references->count, vd_captions_total(references));
    vd_output_row("tokens", "%s", whose_tokens(e));
    printf("\n");
    return vd_caption_print(report, err);
}

static void print_json(const vd_caption_evaluation *e, const vd_captions *references,
                       const vd_caption_report *report)
{
    yajl_gen json = vd_output_object();
    vd_member_string(json, "results", e->results);
    if (e->against)
        vd_member_string(json, "against", e->against);
    vd_member_string(json, "references", references->path);
    vd_member_string(json, "tokens", whose_tokens(e));
    vd_caption_json(json, report);
    vd_output_object_end(json);
}

vd_status vd_evaluate_captions(const vd_caption_evaluation *e, vd_error *err)
{
    vd_caption_judge *judge;
    measured m = {0};
    vd_status status = vd_caption_judge_open(&e->paths, &judge, err);
    if (status == VD_OK)
        status = measure(e, judge, &m, err);
    const vd_caption_report report = {.measure = &m.measure[0],
                                      .other = e->against ? &m.measure[1] : NULL,
                                      .interval = e->intervals ? m.interval : NULL,
                                      .difference =
                                          e->intervals && e->against ? m.difference : NULL,
                                      .level = e->level};
    if (status == VD_OK && e->json)
        print_json(e, vd_caption_judge_references(judge), &report);
    else if (status == VD_OK)
        status = print_text(e, vd_caption_judge_references(judge), &report, err);
    vd_caption_measure_clear(&m.measure[0]);
    vd_caption_measure_clear(&m.measure[1]);
    vd_caption_judge_close(judge);
    return status;
}

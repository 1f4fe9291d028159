#include "tui/commands/eval_caption.h"

#include <glib.h>
#include <stdio.h>

#include "engine/base/append.h"
#include "engine/base/json.h"
#include "engine/base/file.h"
#include "tui/base/output.h"
#include "tui/base/progress.h"
#include "tui/base/generation.h"
#include "tui/measure/generate.h"

typedef struct measured {
    vd_regions *regions;     // of captioners; NULL: no captions are generated
    vd_caption_judge *judge; // NULL: nothing is scored
    vd_pictures_to_caption pictures;
    int64_t *image; // of them
    vd_results *results[2];
    char *signature[2]; // how the captioners were trained; NULL: not known
    bool looks;         // one of them has hard attention
    size_t count;       // captions of the first
    vd_caption_measure measure[2];
    vd_interval interval[VD_CAPTION_METRICS], difference[VD_CAPTION_METRICS];
} measured;

// ---- captions -----------------------------------------------------------------------------------

// Those of the references, or all that have features.
static void list_pictures(measured *m)
{
    const vd_captions *references = m->judge ? vd_caption_judge_references(m->judge) : NULL;
    size_t count = references ? references->count : m->regions->count;
    m->image = g_new(int64_t, count);
    for (size_t i = 0; i < count; i++)
        m->image[i] = references ? references->image[i].image_id : m->regions->image_id[i];
    m->pictures = (vd_pictures_to_caption){m->regions, count, m->image};
}

static vd_status open_captioner(const vd_caption_evaluation *e, const char *path,
                                vd_captioner **out, vd_error *err)
{
    const vd_backend *backend;
    vd_status status = vd_captioner_load(path, out, err);
    if (status == VD_OK)
        status = vd_backend_choose(e->backend, 0, &backend, err);
    return status ? status : vd_model_use((*out)->model, backend, err);
}

// Of two captioners only those look as --hard says that can.
static vd_hard look_of(const vd_caption_evaluation *e, const vd_captioner *captioner)
{
    return e->from[1].model && !vd_captioner_is_hard(captioner)
               ? VD_HARD_LARGEST
               : (vd_hard)(VD_HARD_LARGEST + e->hard);
}

static vd_status generate(const vd_caption_evaluation *e, int which, measured *m, vd_error *err)
{
    const char *model = e->from[which].model;
    vd_captioner *captioner = NULL;
    vd_progress progress;
    vd_status status = open_captioner(e, model, &captioner, err);
    vd_progress_start(&progress, "captions", (int64_t)m->pictures.count, 0, e->quiet);
    const vd_watch watch = {vd_progress_report, &progress, vd_interrupt_watch()};
    if (status == VD_OK)
        status = vd_generate_captions(captioner, &m->pictures, &e->how, look_of(e, captioner),
                                      e->threads, &watch, model, &m->results[which], err);
    if (status == VD_OK)
        m->signature[which] = g_strdup(vd_model_metadata(captioner->model, "signature"));
    m->looks = m->looks || vd_captioner_is_hard(captioner);
    vd_interrupt_release();
    vd_progress_end(&progress, (int64_t)m->pictures.count, status == VD_OK);
    vd_captioner_free(captioner);
    return status;
}

// NULL: there are no captions.
static const char *name_of(const vd_captions_from *from)
{
    return from->model ? from->model : from->results;
}

static vd_status get_captions(const vd_caption_evaluation *e, measured *m, vd_error *err)
{
    vd_status status = VD_OK;
    for (int i = 0; i < 2 && status == VD_OK; i++)
        if (e->from[i].model)
            status = generate(e, i, m, err);
        else if (e->from[i].results)
            status = vd_results_read(e->from[i].results, &m->results[i], err);
    if (status == VD_OK && m->results[0])
        m->count = m->results[0]->count;
    if (status == VD_OK && e->out && m->results[0])
        status = vd_results_write(e->out, m->results[0]->list, m->count, err);
    return status;
}

// ---- measuring ----------------------------------------------------------------------------------

// An output must be none of the files that are read.
static vd_status keep_inputs(const vd_caption_evaluation *e, vd_error *err)
{
    const char *in[] = {e->from[0].model, e->from[1].model,  e->from[1].results, e->features,
                        e->paths.scenes,  e->paths.training, e->paths.references};
    vd_status status = vd_output_check(&e->out, 1, in, sizeof in / sizeof *in, e->force, err);
    return status || !e->out ? status : vd_output_try(e->out, err);
}

static vd_status open_files(vd_caption_evaluation *e, measured *m, vd_error *err)
{
    vd_status status = keep_inputs(e, err);
    if (status == VD_OK && e->features)
        status = vd_regions_open(e->features, &m->regions, err);
    e->paths.regions = m->regions;
    if (status == VD_OK && e->paths.references)
        status = vd_caption_judge_open(&e->paths, &m->judge, err);
    if (status == VD_OK && m->regions)
        list_pictures(m);
    return status;
}

static vd_status measure(const vd_caption_evaluation *e, measured *m, vd_error *err)
{
    vd_status status = VD_OK;
    for (int i = 0; i < 2 && status == VD_OK && m->results[i]; i++)
        status = vd_caption_measure_run(m->judge, m->results[i], &m->measure[i], err);
    if (status || !e->bootstrap.resamples)
        return status;
    status = vd_caption_intervals(&m->measure[0], NULL, &e->bootstrap, m->interval, err);
    if (status == VD_OK && name_of(&e->from[1]))
        status =
            vd_caption_intervals(&m->measure[0], &m->measure[1], &e->bootstrap, m->difference, err);
    return status;
}

// ---- printing -----------------------------------------------------------------------------------

static const char *whose_tokens(const vd_caption_evaluation *e)
{
    return e->paths.tokens_given ? "given" : "visdial, after coco-caption's";
}

static const char *how_said(const vd_caption_evaluation *e, const measured *m, char out[160])
{
    vd_generation_text(&e->how, out, 160);
    if (m->looks)
        vd_append(out, 160, " hard=%s", vd_hard_names[e->hard]);
    return out;
}

static void print_captions(const vd_caption_evaluation *e, const measured *m)
{
    char said[160];
    const char *const name[2] = {e->from[0].model ? "captioner" : "results", "against"};
    for (int i = 0; i < 2 && name_of(&e->from[i]); i++) {
        vd_output_row(name[i], "%s", name_of(&e->from[i]));
        if (m->signature[i])
            vd_output_row("trained", "%s", m->signature[i]);
    }
    if (e->features)
        vd_output_row("said", "%s", how_said(e, m, said));
}

static void print_text(const vd_caption_evaluation *e, const measured *m,
                       const vd_caption_report *report)
{
    print_captions(e, m);
    if (m->judge) {
        const vd_captions *references = vd_caption_judge_references(m->judge);
        vd_output_row("references", "%s, %s, %zu pictures, %zu captions", references->path,
                      references->kind, references->count, vd_captions_total(references));
        vd_output_row("tokens", "%s", whose_tokens(e));
        printf("\n");
        vd_caption_print(report);
        printf(e->out ? "\n" : "");
    }
    if (e->out)
        vd_output_row("captions", "%zu written to %s", m->count, e->out);
}

static void print_json(const vd_caption_evaluation *e, const measured *m,
                       const vd_caption_report *report)
{
    char said[160];
    yajl_gen json = vd_output_object();
    vd_json_put(json, "%s: %s", e->from[0].model ? "model" : "results", name_of(&e->from[0]));
    if (name_of(&e->from[1]))
        vd_json_put(json, "against: %s", name_of(&e->from[1]));
    if (e->features)
        vd_json_put(json, "said: %s", how_said(e, m, said));
    for (int i = 0; i < 2; i++)
        if (m->signature[i])
            vd_json_put(json, i ? "against_signature: %s" : "signature: %s", m->signature[i]);
    vd_json_put(json, "captions: %zu", m->count);
    if (m->judge) {
        vd_json_put(json, "references: %s, tokens: %s", vd_caption_judge_references(m->judge)->path,
                    whose_tokens(e));
        vd_caption_json(json, report);
    }
    vd_output_object_end(json);
}

static void print(const vd_caption_evaluation *e, const measured *m)
{
    bool two = name_of(&e->from[1]), intervals = e->bootstrap.resamples;
    const vd_caption_report report = {.measure = &m->measure[0],
                                      .other = two ? &m->measure[1] : NULL,
                                      .references =
                                          m->judge ? vd_caption_judge_references(m->judge) : NULL,
                                      .generated = {m->results[0], m->results[1]},
                                      .cases = e->cases,
                                      .interval = intervals ? m->interval : NULL,
                                      .difference = intervals && two ? m->difference : NULL,
                                      .level = e->bootstrap.level};
    (e->json ? print_json : print_text)(e, m, &report);
}

vd_status vd_evaluate_captions(vd_caption_evaluation *e, vd_error *err)
{
    measured m = {0};
    vd_status status = open_files(e, &m, err);
    if (status == VD_OK)
        status = get_captions(e, &m, err);
    if (status == VD_OK && m.judge)
        status = measure(e, &m, err);
    if (status == VD_OK)
        print(e, &m);
    for (int i = 0; i < 2; i++) {
        vd_caption_measure_clear(&m.measure[i]);
        vd_results_free(m.results[i]);
        g_free(m.signature[i]);
    }
    vd_caption_judge_close(m.judge);
    g_free(m.image);
    vd_regions_close(m.regions);
    return status;
}

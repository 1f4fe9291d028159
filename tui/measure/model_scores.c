#include "tui/measure/model_scores.h"

#include "engine/base/alloc.h"
#include "engine/base/parallel.h"
#include "engine/model/scorer.h"

typedef struct scorers {
    const vd_model *model;
    vd_pool *pool; // of the dialogs that are scored now
    vd_scorer *scorer[VD_THREADS];
} scorers;

static vd_status prepare(void *context, const vd_candidates *candidates, const vd_watch *watch,
                         vd_error *err)
{
    scorers *s = context;
    vd_pool_free(s->pool);
    return vd_pool_new(s->model, candidates->tokens, candidates->length, candidates->count,
                       candidates->width, watch, &s->pool, err);
}

static vd_status score(void *context, int worker, const vd_batch *batch, float *scores,
                       vd_error *err)
{
    scorers *s = context;
    return vd_scorer_run(s->scorer[worker], s->pool, batch, scores, err);
}

vd_status vd_measure_model_open(vd_model *model, vd_decoders by, int workers,
                                vd_measure_source *out, vd_error *err)
{
    scorers *s = vd_alloc(1, sizeof *s);
    // What a generative decoder makes of a candidate depends on the question.
    *out = (vd_measure_source){
        .context = s, .prepare = vd_has_discriminative(by) ? prepare : NULL, .score = score};
    if (!s)
        return vd_error_memory(err, "the scorers");
    s->model = model;
    workers = workers < 1 ? 1 : workers > VD_THREADS ? VD_THREADS : workers;
    vd_status status = VD_OK;
    for (; !status && out->workers < workers; out->workers++) {
        status = vd_scorer_new(model, &s->scorer[out->workers], err);
        if (status == VD_OK)
            vd_scorer_decoders(s->scorer[out->workers], by);
    }
    return status;
}

void vd_measure_model_close(vd_measure_source *source)
{
    scorers *s = source->context;
    if (s) {
        vd_pool_free(s->pool);
        for (int i = 0; i < VD_THREADS; i++)
            vd_scorer_free(s->scorer[i]);
    }
    vd_free(s);
    *source = (vd_measure_source){0};
}

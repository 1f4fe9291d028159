#include "engine/model/scorer.h"

#include "engine/base/alloc.h"
#include "engine/model/model_private.h"

struct vd_scorer {
    const vd_model *model;
    vd_decoders by;
    vd_arena arena;
};

vd_status vd_scorer_new(const vd_model *model, vd_scorer **out, vd_error *err)
{
    *out = vd_alloc(1, sizeof **out);
    if (!*out)
        return vd_error_memory(err, "the scorer");
    (*out)->model = model;
    (*out)->by = model->config.decoders;
    return VD_OK;
}

void vd_scorer_decoders(vd_scorer *scorer, vd_decoders by)
{
    scorer->by = by;
}

vd_status vd_scorer_run(vd_scorer *scorer, const vd_pool *pool, const vd_batch *batch,
                        float *scores, vd_error *err)
{
    vd_network net = {.kept = pool ? &pool->vectors : NULL};
    if (pool && (pool->model != scorer->model || pool->count != batch->distinct))
        return vd_error_set(
            err, VD_USAGE, "a pool of %d answers for a batch of %d candidates, or of another model",
            pool->count, batch->distinct);
    vd_arena_reset(&scorer->arena);
    vd_model_pass(scorer->model, &scorer->arena, &net.pass);
    return vd_network_scores(&net, batch, scorer->by, scores, err);
}

void vd_scorer_free(vd_scorer *scorer)
{
    if (scorer)
        vd_arena_free(&scorer->arena);
    vd_free(scorer);
}

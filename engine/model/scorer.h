// Scores of whole batches under a loaded model, for evaluation.
#ifndef VD_SCORER_H
#define VD_SCORER_H

#include "engine/networks/batch.h"
#include "engine/model/model.h"
#include "engine/model/pool.h"

// One thread at a time per scorer; scorers of one model may run on different threads.
typedef struct vd_scorer vd_scorer;
// Keeps a reference to model.
vd_status vd_scorer_new(const vd_model *model, vd_scorer **out, vd_error *err);
// Uses all decoders of the model (the mean of two) unless another choice is made; run refuses a
// decoder that the model does not have.
void vd_scorer_decoders(vd_scorer *scorer, vd_decoders by);
// scores (B, R, O). pool: the batch's distinct candidates, encoded, when many batches share them
// (vd_loader_share); NULL: they are encoded here. VD_USAGE: a pool of another model or another
// number of answers than the batch has distinct candidates.
vd_status vd_scorer_run(vd_scorer *scorer, const vd_pool *pool, const vd_batch *batch,
                        float *scores, vd_error *err);
void vd_scorer_free(vd_scorer *scorer);

#endif

// The candidate answers that a question ranks, each as the vector that the discriminative decoder
// computes for it. A pool's vectors depend on model and answers only and are made once.
#ifndef VD_POOL_H
#define VD_POOL_H

#include <stdint.h>

#include "engine/model/model.h"
#include "engine/backend/arena.h"
#include "engine/base/parallel.h"
#include "engine/networks/batch.h"

typedef struct vd_pool vd_pool;

// tokens: (count, width) ids, each `<S> answer </S>` cut to VD_MAX_CANDIDATE, VD_PAD beyond length.
// Vectors are made of the first VD_CUT_CANDIDATE.
// Keeps a reference to model. VD_USAGE: no answers, or a token that is none; VD_INTERRUPTED: watch
// stopped it. Shared prefixes of answers are computed once. The work is spread over
// the machine's processors; the vectors do not depend on their number. watch (may be NULL) reports
// how many answers are done.
vd_status vd_pool_new(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                      int count, int width, const vd_watch *watch, vd_pool **out, vd_error *err);
void vd_pool_free(vd_pool *pool);
// Keeps the vectors in 16 bits from now on, on the CPU: ranking a large pool is limited by reading
// it, which then takes half as long. Scores change by less than 1e-3 of their size. Without enough
// memory nothing changes. vd_pool_load and vd_pool_open do so with VD_LARGE_POOL answers and more.
enum { VD_LARGE_POOL = 1 << 16 };
void vd_pool_halve(vd_pool *pool);

// Chooses the model's decoders that score the answers from now on; VD_BOTH: the mean of both
// scores. Default: the discriminative one where the model has it, because a generative one reads
// every answer again for every question. tokens, lengths, width: what the pool was made of, copied.
// VD_MISMATCH when the model has no such decoder. A failure leaves the pool unchanged.
vd_status vd_pool_score_by(vd_pool *pool, vd_decoders by, const int32_t *tokens,
                           const int32_t *lengths, int width, vd_error *err);
vd_decoders vd_pool_decoders(const vd_pool *pool);

// The vectors as a file (safetensors), in 16 bits where they are kept so, with hashes of the
// answers' tokens and of the weights that made them.
vd_status vd_pool_save(const vd_pool *pool, const char *path, vd_error *err);
// Maps such a file. VD_MISMATCH when it was made of other answers or another model.
vd_status vd_pool_load(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                       int count, int width, const char *path, vd_pool **out, vd_error *err);
// The file's vectors when they match, else new ones. New ones are written to the file when
// computing them takes about a second or more; a failure to write is not an error: they are
// computed again next time.
vd_status vd_pool_open(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                       int count, int width, const char *path, const vd_watch *watch, vd_pool **out,
                       vd_error *err);

// Scores (B, R, O) of a whole batch by decoders that the model has (VD_BOTH: the mean of both), for
// evaluation. arena: a thread's own, zero at first, whose memory the calls use one after another
// (vd_arena_free). pool: the batch's distinct candidates, encoded, when many batches share them
// (vd_loader_share); NULL: they are encoded here. VD_USAGE: a pool of another model or another
// number of answers than the batch has distinct candidates, or no such decoder.
vd_status vd_model_scores(const vd_model *model, vd_decoders by, vd_arena *arena,
                          const vd_pool *pool, const vd_batch *batch, float *scores, vd_error *err);

#endif

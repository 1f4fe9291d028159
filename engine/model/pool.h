// The candidate answers a question is ranked against, each as the vector that the discriminative
// decoder makes of it. A pool's vectors depend on model and answers only and are made once.
#ifndef VD_POOL_H
#define VD_POOL_H

#include <stdint.h>

#include "engine/model/model.h"
#include "engine/base/parallel.h"

typedef struct vd_pool vd_pool;

// tokens: (count, width) ids, each `<S> answer </S>` cut to VD_MAX_CANDIDATE, VD_PAD beyond length.
// Vectors are made of the first VD_CUT_CANDIDATE.
// Keeps a reference to model. What answers begin with alike is computed once; the work is spread
// over the machine's processors, and the vectors do not depend on how many those are.
// watch (may be NULL) is told how many answers are done.
vd_status vd_pool_new(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                      int count, int width, const vd_watch *watch, vd_pool **out, vd_error *err);
void vd_pool_free(vd_pool *pool);
int vd_pool_count(const vd_pool *pool);
// Keeps the vectors in 16 bits from now on, on the CPU: ranking a large pool costs reading it, and
// that is half as much then. Scores change by less than 1e-3 of their size. Where memory is short
// nothing changes. vd_pool_load and vd_pool_open do so with VD_LARGE_POOL answers and more.
enum { VD_LARGE_POOL = 1 << 16 };
void vd_pool_halve(vd_pool *pool);

// Which of the model's decoders score the answers from now on; VD_BOTH: the mean of both scores.
// Without this the discriminative one does, in a model that has it: a generative one says every
// answer anew for every question. tokens, lengths, width: what the pool was made of, copied.
// VD_MISMATCH when the model has no such decoder; the pool is as it was after a failure.
vd_status vd_pool_score_by(vd_pool *pool, vd_decoders by, const int32_t *tokens,
                           const int32_t *lengths, int width, vd_error *err);
vd_decoders vd_pool_decoders(const vd_pool *pool);

// The vectors as a file (safetensors), in 16 bits where they are kept so, with hashes of the
// answers' tokens and of the weights that made them.
vd_status vd_pool_save(const vd_pool *pool, const char *path, vd_error *err);
// Maps such a file. VD_MISMATCH when it is not of these answers and this model.
vd_status vd_pool_load(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                       int count, int width, const char *path, vd_pool **out, vd_error *err);
// The file's vectors when they fit, else new ones, which are written there when they are so many
// that making them takes about a second (that they could not be written is no error: they are made
// again next time).
vd_status vd_pool_open(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                       int count, int width, const char *path, const vd_watch *watch, vd_pool **out,
                       vd_error *err);

#endif

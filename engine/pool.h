// The candidate answers a question is ranked against, each as the vector that the discriminative
// decoder makes of it. A pool's vectors depend on model and answers only and are made once.
#ifndef VD_POOL_H
#define VD_POOL_H

#include <stdint.h>

#include "engine/model.h"
#include "engine/parallel.h"

typedef struct vd_pool vd_pool;

// tokens: (count, width) ids, each `<S> answer </S>` cut to 19, VD_PAD beyond length.
// Keeps a reference to model. What answers begin with alike is computed once; the work is spread
// over the machine's processors, and the vectors do not depend on how many those are.
// watch (may be NULL) is told how many answers are done.
vd_status vd_pool_new(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                      int count, int width, const vd_watch *watch, vd_pool **out, vd_error *err);
void vd_pool_free(vd_pool *pool);
int vd_pool_count(const vd_pool *pool);

#endif

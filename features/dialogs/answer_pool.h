// The answers a typed question is ranked against: a text file, one `count<TAB>answer` a line, most
// frequent first; and its tokens under a vocabulary.
#ifndef VD_DIALOGS_ANSWER_POOL_H
#define VD_DIALOGS_ANSWER_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "engine/model/vocab.h"
#include "features/dialogs/visdial.h"

typedef struct vd_answer_pool {
    size_t count;
    char **answer;  // owned
    int64_t *times; // how often it was given in the training split
} vd_answer_pool;

// The `top` most frequent answers (0: all) that people gave in data; equally frequent ones in the
// order of the data's table. VD_FORMAT when there are none.
vd_status vd_answer_pool_count(const vd_visdial *data, size_t top, vd_answer_pool *out,
                               vd_error *err);

// The same of answers that were given so many times each.
vd_status vd_answer_pool_from_counts(const char *const *answers, const int64_t *times, size_t count,
                                     size_t top, vd_answer_pool *out, vd_error *err);

// A pool file ("count<TAB>answer", one per line). VD_NOT_FOUND or VD_IO, VD_FORMAT names the line;
// on failure *out is empty.
vd_status vd_answer_pool_read(const char *path, vd_answer_pool *out, vd_error *err);
// VD_USAGE: an answer that cannot be a line, or not the most frequent first.
vd_status vd_answer_pool_write(const vd_answer_pool *pool, const char *path, vd_error *err);
void vd_answer_pool_clear(vd_answer_pool *pool);
// Each <S> answer </S>, cut to VD_MAX_CANDIDATE: tokens (count, VD_MAX_CANDIDATE) and lengths
// (count), both new (vd_free).
vd_status vd_answer_pool_tokens(const vd_answer_pool *pool, const vd_vocab *vocab, int32_t **tokens,
                                int32_t **lengths, vd_error *err);
#endif

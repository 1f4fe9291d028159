// SHA-256 (FIPS 180-4) of what an answer depends on, so that it can be told later whether it is
// still the same.
#ifndef VD_FINGERPRINT_H
#define VD_FINGERPRINT_H

#include <stddef.h>

#include "engine/base/error.h"
#include "features/dialogs/answer_pool.h"

typedef struct vd_fingerprint {
    char text[65]; // 64 hexadecimal digits, or "" when it is not known
} vd_fingerprint;

vd_status vd_fingerprint_file(const char *path, vd_fingerprint *out, vd_error *err);
// Of two pieces of memory, one behind the other; the second may be NULL.
void vd_fingerprint_bytes(const void *a, size_t a_size, const void *b, size_t b_size,
                          vd_fingerprint *out);
void vd_fingerprint_pool(const vd_answer_pool *pool, vd_fingerprint *out); // of its answers

#endif

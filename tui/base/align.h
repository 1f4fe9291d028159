// Aligns two lists of words with the fewest words replaced, added or left out (Levenshtein 1966);
// ties: words are paired as early as possible.
#ifndef VD_ALIGN_H
#define VD_ALIGN_H

#include <stdbool.h>

enum { VD_ALIGN_MOST = 32 };

// A word of each list, by its index; -1: it has none here.
typedef struct vd_aligned {
    int first, second;
} vd_aligned;

// counts: 0 to VD_ALIGN_MOST. Returns how many rows out (at least both counts together) has.
int vd_align(const char *const *first, int first_count, const char *const *second, int second_count,
             vd_aligned *out);
// Whether a row has the same word on both sides.
bool vd_aligned_same(const vd_aligned *row, const char *const *first, const char *const *second);

#endif

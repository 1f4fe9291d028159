// Answers that mean the same with more or fewer words: "yes", "yes it is", "yes, it is". When they
// are folded into one, a ranking shows more different answers.
#ifndef VD_FOLD_H
#define VD_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "engine/model/dialog.h"
#include "engine/base/error.h"

// What is left of an answer when words that only point or link (it, is, there, a, the, ...) and
// punctuation are taken away: answers with equal keys are alike. An answer that consists of such
// words only is its own key. "not", "no" and numbers stay. Cut to size - 1 bytes.
void vd_fold_key(const char *answer, char *key, size_t size);

// (*group)[i], new (vd_free): index of the first answer that is alike, i itself where there is none
// before it.
vd_status vd_fold_answers(const char *const *answer, size_t count, int32_t **group, vd_error *err);

// A group as a ranking shows it.
typedef struct vd_folded {
    int32_t answer;     // the best ranked of the group
    int place;          // its place in the ranking, from 0
    int alike;          // how many more there are
    double probability; // of all of them together
} vd_folded;

// The first `most` groups by their best answers into list; *count how many there are.
vd_status vd_fold_ranking(const vd_answer *answer, const int32_t *group, int most, vd_folded *list,
                          int *count, vd_error *err);

#endif

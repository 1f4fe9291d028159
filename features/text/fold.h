// Answers that mean the same: "yes", "yes it is", "yep"; "2", "just 2", "2 of them". When they are
// shown as one, a ranking shows more different answers.
#ifndef VD_FOLD_H
#define VD_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "engine/model/dialog.h"

// The key of an answer: the answer without function words (it, is, there, a, the, just, ...) and
// punctuation; yeah, yep are yes, nope is no, "no, it isn't" too. Answers with equal keys mean the
// same. An answer of only such words is its own key. "not" and numbers stay. Cut to size - 1 bytes.
void vd_fold_key(const char *answer, char *key, size_t size);

// (count), new (g_free): index of the first answer with the same meaning, its own if none comes
// before it.
int32_t *vd_fold_answers(const char *const *answer, size_t count);

// A group as a ranking shows it.
typedef struct vd_answer_group {
    int32_t answer;     // the best ranked of the group
    int place;          // its place in the ranking, from 0
    int alike;          // number of further answers in the group
    double probability; // of all of them together
} vd_answer_group;

// The first `most` groups by their best answers into list (most); returns how many there are.
int vd_fold_ranking(const vd_answer *answer, const int32_t *group, int most, vd_answer_group *list);

#endif

// Lists of attentions by hand, and those that MVAN names.
#ifndef SUPPORT_ATTENTIONS_H
#define SUPPORT_ATTENTIONS_H

#include "engine/model/dialog.h"

// One that is not an index-th of several; share is taken as it is.
vd_attention support_attention(const char *name, vd_axis query, vd_axis key, int rows, int columns,
                               float *share);
// The four of MVAN in its order, in list[4]; history_words NULL: not kept.
int support_mvan(const vd_answer *answer, float *rounds, float *history_words,
                 float *question_words, float *regions, vd_attention *list);
// One to the rounds and two to the regions, by step, in list[3].
int support_steps(const vd_answer *answer, float *rounds, float *first, float *second,
                  vd_attention *list);
// The share that question word `word` gives word `at` of an entry.
float support_topic(const vd_answer *answer, int entry, int word, int at);
int support_entry_length(const vd_answer *answer, int entry); // in words

#endif

// A dialog of random words with a random model of a few numbers, for tests of
// engine/model/dialog.h.
#ifndef VD_TEST_SMALL_DIALOG_H
#define VD_TEST_SMALL_DIALOG_H

#include "engine/networks/batch.h"
#include "engine/model/dialog.h"

// The last of the P regions is padding.
enum { WORDS = 30, E = 6, H = 8, D = 10, P = 5, REAL = 4, ROUNDS = 6, POOL = 40, TO = 6 };

typedef struct small_dialog {
    vd_model *model;
    vd_pool *pool;
    float image[P * D];
    int32_t question[ROUNDS * VD_MAX_QUESTION], question_length[ROUNDS];
    int32_t history[ROUNDS * VD_MAX_HISTORY], history_length[ROUNDS];
    int32_t candidate[POOL * TO], candidate_length[POOL];
    int32_t option[ROUNDS * POOL], truth[ROUNDS];
} small_dialog;

void small_dialog_begin(small_dialog *c, vd_gate gate, vd_positions positions);
void small_dialog_end(small_dialog *c);
vd_model *small_dialog_model(vd_gate gate, vd_positions positions); // the same weights every time
vd_batch small_dialog_batch(const small_dialog *c);

void must(vd_status status, const vd_error *err); // fails the test with the error's text
void assert_near(const char *what, double found, double expected); // within 1e-5

#endif

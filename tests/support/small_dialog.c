#include "tests/support/small_dialog.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "tests/support/backend.h"
#include "tests/support/random_model.h"

void must(vd_status status, const vd_error *err)
{
    if (status != VD_OK)
        fail_msg("%s", err->text);
}

vd_model *small_dialog_model(vd_gate gate, vd_positions positions)
{
    vd_config config = {.vocab = WORDS + VD_FIRST_WORD,
                        .embed = E,
                        .hidden = H,
                        .region = D,
                        .gate = gate,
                        .positions = positions};
    vd_model *model = support_random_model(&config);
    assert_string_equal(vd_model_name(model), "random");
    vd_error err;
    must(vd_model_use(model, support_backend(), &err), &err);
    return model;
}

static void random_tokens(vd_rng *rng, int32_t *ids, int32_t *length, int least, int most)
{
    *length = least + vd_rng_below(rng, most - least + 1);
    for (int i = 0; i < *length; i++)
        ids[i] = 1 + vd_rng_below(rng, WORDS + VD_FIRST_WORD - 1);
}

void small_dialog_begin(small_dialog *c, vd_gate gate, vd_positions positions)
{
    vd_rng rng = vd_rng_seed(3, 4);
    vd_error err;
    memset(c, 0, sizeof *c);
    c->model = small_dialog_model(gate, positions);
    for (int i = 0; i < REAL * D; i++)
        c->image[i] = (float)vd_rng_range(&rng, 0, 1);
    for (int i = 0; i < POOL; i++)
        random_tokens(&rng, c->candidate + (size_t)i * TO, &c->candidate_length[i], 1, TO);
    for (int r = 0; r < ROUNDS; r++) {
        random_tokens(&rng, c->question + (size_t)r * VD_MAX_QUESTION, &c->question_length[r], 1,
                      VD_MAX_QUESTION - 1);
        random_tokens(&rng, c->history + (size_t)r * VD_MAX_HISTORY, &c->history_length[r], 1,
                      VD_MAX_HISTORY);
        for (int i = 0; i < POOL; i++)
            c->option[r * POOL + i] = i;
    }
    must(vd_pool_new(c->model, c->candidate, c->candidate_length, POOL, TO, NULL, &c->pool, &err),
         &err);
}

void small_dialog_end(small_dialog *c)
{
    vd_pool_free(c->pool);
    vd_model_free(c->model);
}

vd_batch small_dialog_batch(const small_dialog *c)
{
    return (vd_batch){.dialogs = 1,
                      .rounds = ROUNDS,
                      .regions = P,
                      .candidates = POOL,
                      .question_width = VD_MAX_QUESTION,
                      .history_width = VD_MAX_HISTORY,
                      .candidate_width = TO,
                      .distinct = POOL,
                      .image = c->image,
                      .question = c->question,
                      .question_length = c->question_length,
                      .history = c->history,
                      .history_length = c->history_length,
                      .candidate = c->candidate,
                      .candidate_length = c->candidate_length,
                      .option = c->option,
                      .truth = c->truth};
}

void assert_near(const char *what, double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-5))
        fail_msg("%s: %.9g, expected %.9g", what, found, expected);
}

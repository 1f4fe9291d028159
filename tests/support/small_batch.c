#include "tests/support/small_batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/base/rng.h"

enum { P = 4, O = 6, U = 9, TQ = 7, TH = 11, TO = 4, N = SMALL_DIALOGS * SMALL_ROUNDS };

static float image[SMALL_DIALOGS * P * SMALL_REGION];
static int32_t question[N * TQ], question_length[N], history[N * TH], history_length[N];
static int32_t candidate[U * TO], candidate_length[U], option[N * O], truth[N];
static int32_t heard[U * TO], said[U * TO];

static void draw(vd_rng *rng, int32_t *ids, int32_t *lengths, int count, int width)
{
    for (int s = 0; s < count; s++) {
        lengths[s] = 1 + vd_rng_below(rng, width);
        for (int i = 0; i < width; i++)
            ids[s * width + i] = i < lengths[s] ? 1 + vd_rng_below(rng, SMALL_VOCAB - 1) : 0;
    }
}

const vd_batch *small_batch(void)
{
    static vd_batch batch;
    vd_rng rng = vd_rng_seed(21, 1);
    for (int i = 0; i < SMALL_DIALOGS * P * SMALL_REGION; i++)
        image[i] = (float)vd_rng_uniform(&rng);
    draw(&rng, question, question_length, N, TQ);
    draw(&rng, history, history_length, N, TH);
    draw(&rng, candidate, candidate_length, U, TO);
    for (int u = 0; u < U; u++)
        for (int i = 0; i < candidate_length[u]; i++) {
            heard[u * TO + i] = i ? candidate[u * TO + i - 1] : VD_START;
            said[u * TO + i] = candidate[u * TO + i];
        }
    for (int i = 0; i < N * O; i++)
        option[i] = (i * 5 + i / O) % U;
    for (int i = 0; i < N; i++)
        truth[i] = vd_rng_below(&rng, O);
    batch = (vd_batch){.dialogs = SMALL_DIALOGS,
                       .rounds = SMALL_ROUNDS,
                       .regions = P,
                       .candidates = O,
                       .question_width = TQ,
                       .history_width = TH,
                       .candidate_width = TO,
                       .distinct = U,
                       .image = image,
                       .question = question,
                       .question_length = question_length,
                       .history = history,
                       .history_length = history_length,
                       .candidate = candidate,
                       .candidate_length = candidate_length,
                       .option = option,
                       .truth = truth,
                       .candidate_in = heard,
                       .candidate_out = said};
    return &batch;
}

vd_vocab *small_vocab(void)
{
    char word[SMALL_VOCAB][8];
    const char *list[SMALL_VOCAB];
    vd_vocab *vocab;
    vd_error err;
    int words = SMALL_VOCAB - VD_FIRST_WORD;
    for (int i = 0; i < words; i++) {
        snprintf(word[i], sizeof word[i], "w%d", i);
        list[i] = word[i];
    }
    if (vd_vocab_from_words(list, (size_t)words, &vocab, &err) != VD_OK)
        fail_msg("%s", err.text);
    return vocab;
}

// MVAN composed of the tape's operations, with its own text encoder, against the fused stages: e,
// the four attentions, and the gradient of every parameter.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/network.h"
#include "engine/networks/parts.h"
#include "engine/networks/positions.h"
#include "tests/support/backend.h"
#include "tests/support/must.h"
#include "tests/support/small_batch.h"
#include "tests/support/small_trainer.h"

// ---- both ---------------------------------------------------------------------------------------

static void compare(const char *what, const vd_real *found, const vd_real *expected, size_t n,
                    double tolerance)
{
    float *a = support_read(found, n), *b = support_read(expected, n);
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs((double)b[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)(a[i] - b[i])) <= tolerance * fmax(1, largest)))
            fail_msg("%s[%zu]: on the tape %.9g, fused %.9g", what, i, (double)a[i], (double)b[i]);
    vd_free(a);
    vd_free(b);
}

static const vd_value *shown(const vd_tape *t, const char *name)
{
    for (const vd_shown *s = t->shown; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return s->value;
    fail_msg("%s is not shown", name);
    return NULL;
}

static void compare_attentions(const vd_tape *t, const vd_pass *pass)
{
    const vd_geometry *span = &pass->span;
    const vd_value *rounds = shown(t, "rounds"), *words = shown(t, "history-words"),
                   *read = shown(t, "question-words");
    const vd_pair_group *g = words->pairing->group;
    assert_true(words->pairing->by_entry);
    for (int n = 0, pair = 0; n < span->questions; n++, g++) {
        int b = span->dialog[n], first = span->entry_start[b];
        const int *entry = span->history->start + first, *word = span->question->start;
        int width = entry[span->entry_start[b + 1] - first] - entry[0];
        compare("rounds", rounds->x + pair, pass->context + n * span->most, (size_t)span->seen[n],
                1e-5);
        pair += span->seen[n];
        for (int i = 0; i < g->query.count; i++)
            compare("history-words", words->x + g->at + i * g->key[0].count,
                    pass->topic + pass->topic_start[b] +
                        (word[n] + i - word[span->question_start[b]]) * width,
                    (size_t)g->key[0].count, 1e-5);
    }
    g = read->pairing->group;
    for (int n = 0; n < span->questions; n++, g++)
        for (int k = 0; k < g->query.count; k++) {
            int stride;
            size_t start = vd_pass_word_start(pass, n, &stride);
            compare("question-words", read->x + g->at + k * g->key[0].count,
                    pass->word + start + k * stride, (size_t)g->key[0].count, 1e-5);
        }
    compare("regions", shown(t, "regions")->x, pass->region, (size_t)pass->rows, 1e-5);
}

static void compare_gates(vd_gate gate)
{
    static vd_layout layout;
    const vd_backend *be = support_backend();
    const vd_batch *batch = small_batch();
    vd_config config = small_config();
    vd_rng rng = vd_rng_seed(6, 1);
    vd_arena arena = {.memory = be->memory};
    vd_weights weights, gradients;
    vd_error err;
    config.gate = gate;
    vd_weights_layout(&config, &layout, NULL, NULL);
    size_t n = layout.elements, e = (size_t)(batch->dialogs * batch->rounds * config.hidden);
    float *host = vd_alloc(n, sizeof *host), share[1000];
    vd_real *block = vd_arena_reals(&arena, n), *fused = vd_arena_zeros(&arena, n),
            *taped = vd_arena_zeros(&arena, n), *sinusoid;
    vd_layout_init(&layout, host, &rng);
    be->load_floats(host, block, n);
    vd_weights_layout(&config, &layout, block, &weights);
    vd_weights_layout(&config, &layout, fused, &gradients);
    must(vd_words_table(be, config.embed, &sinusoid, &err), &err);
    vd_network net = {.pass = {.be = be,
                               .config = &config,
                               .w = &weights,
                               .dw = &gradients,
                               .sinusoid = sinusoid,
                               .arena = &arena}};
    must(vd_network_encode(&net, batch, &err), &err);

    int region_start[SMALL_DIALOGS + 1];
    for (int b = 0; b <= batch->dialogs; b++)
        region_start[b] = b * batch->regions;
    vd_parameters d = {&layout, (unsigned char *)taped, VD_F32, NULL, false};
    vd_tape tape = {.be = be, .arena = &arena, .w = &weights.all, .dw = &d};
    vd_word_states states;
    vd_inputs in = {.config = &config,
                    .span = &net.pass.span,
                    .question_words = &net.pass.question_words,
                    .history_words = &net.pass.history_words,
                    .sinusoid = sinusoid,
                    .region_start = region_start,
                    .states = &states};
    in.regions = vd_tape_constant(&tape, VD_AXIS_REGIONS, net.pass.image,
                                  region_start[batch->dialogs], config.region);
    vd_value *y = vd_encoder_mvan.build(&tape, &in);
    must(vd_tape_status(&tape, &err), &err);
    compare("e", y->x, net.pass.encoded, e, 1e-5);
    compare_attentions(&tape, &net.pass);

    for (size_t i = 0; i < e; i++)
        share[i] = (float)vd_rng_range(&rng, -1, 1);
    be->load_floats(share, net.pass.dencoded, e);
    be->load_floats(share, y->dx, e);
    must(vd_network_encode_backward(&net, &err), &err);
    vd_tape_backward(&tape, NULL);
    must(vd_tape_status(&tape, &err), &err);
    for (int k = 0; k < layout.count; k++)
        compare(layout.parameter[k].name, taped + layout.parameter[k].offset,
                fused + layout.parameter[k].offset, layout.parameter[k].elements, 1e-5);
    be->memory->release(sinusoid);
    vd_free(host);
    vd_arena_free(&arena);
}

static void composed_and_fused_are_the_same(void **state)
{
    (void)state;
    compare_gates(VD_GATE_LEAKY_RELU);
    compare_gates(VD_GATE_SIGMOID);
    compare_gates(VD_GATE_ELU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composed_and_fused_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

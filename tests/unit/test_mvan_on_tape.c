// MVAN composed of the tape's operations against the fused stages: e, the four attentions, and the
// gradient of every parameter.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/mvan/network.h"
#include "engine/networks/parts.h"
#include "tests/support/backend.h"
#include "tests/support/must.h"
#include "tests/support/small_batch.h"
#include "tests/support/small_trainer.h"

// ---- the network --------------------------------------------------------------------------------

static vd_value *gated(vd_tape *t, vd_gate gate, const vd_value *x, const char *name)
{
    static const vd_function function[] = {VD_LEAKY_RELU, VD_SIGMOID, VD_ELU};
    char part[96];
    snprintf(part, sizeof part, "encoder.%s.1.embed_y.0", name);
    vd_value *y = vd_tape_map(t, VD_TANH, vd_tape_linear(t, x, part));
    snprintf(part, sizeof part, "encoder.%s.1.embed_g.0", name);
    return vd_tape_multiply(t, y, vd_tape_map(t, function[gate], vd_tape_linear(t, x, part)));
}

// sigmoid(W [a ; b] + b) o [a ; b]
static vd_value *gated_pair(vd_tape *t, const vd_value *a, const vd_value *b, const char *name)
{
    vd_value *x = vd_tape_join(t, a, b);
    return vd_tape_multiply(t, vd_tape_map(t, VD_SIGMOID, vd_tape_linear(t, x, name)), x);
}

typedef struct text {
    vd_value *embedding, *states, *sentence;
} text;

static text read_text(vd_tape *t, vd_inputs *in, vd_text what, const char *name)
{
    text r;
    vd_sequences words = {.packed = what.packed, .axis = what.words};
    r.embedding = vd_tape_embed(t, "encoder.word_embed.weight", what.packed->rows.id,
                                what.packed->tokens, what.words);
    words.x = vd_text_all_words(t, in, &what);
    r.states = vd_tape_lstm(t, &words, name, 2, 2, 0);
    r.sentence = vd_text_ends(t, &what, r.states, 2);
    return r;
}

// For each question and each entry it sees, in the order of the pairs of rounds: the question's
// words and the entry's.
static const vd_pairing *pair_words(vd_tape *t, const vd_inputs *in)
{
    const vd_geometry *span = in->span;
    int count = 0, i = 0;
    for (int n = 0; n < span->questions; n++)
        count += span->seen[n];
    vd_pair_group *group = vd_arena_take(t->arena, (size_t)count, sizeof *group);
    for (int n = 0; n < span->questions; n++)
        for (int r = 0; r < span->seen[n]; r++, i++) {
            int entry = span->entry_start[span->dialog[n]] + r;
            group[i].query =
                (vd_range){in->question_words->start[n], in->question_words->length[n]};
            group[i].key[0] =
                (vd_range){in->history_words->start[entry], in->history_words->length[entry]};
        }
    return vd_pairing_make(t->arena, VD_AXIS_QUESTION_WORDS, in->question_words->tokens,
                           VD_AXIS_HISTORY_WORDS, in->history_words->tokens, group, count);
}

// For each question the regions as it sees them (rows of `seen`) and: its words; itself.
static const vd_pairing *pair_regions(vd_tape *t, const vd_inputs *in, int regions, bool words)
{
    int count = in->span->questions, rows = count * regions;
    vd_pair_group *group = vd_arena_take(t->arena, (size_t)count, sizeof *group);
    for (int n = 0; n < count; n++) {
        vd_range own = {n * regions, regions};
        group[n].query = words ? own : (vd_range){n, 1};
        group[n].key[0] =
            words ? (vd_range){in->question_words->start[n], in->question_words->length[n]} : own;
    }
    return words ? vd_pairing_make(t->arena, VD_AXIS_REGIONS, rows, VD_AXIS_QUESTION_WORDS,
                                   in->question_words->tokens, group, count)
                 : vd_pairing_make(t->arena, VD_AXIS_QUESTIONS, count, VD_AXIS_REGIONS, rows, group,
                                   count);
}

static vd_value *build(vd_tape *t, vd_inputs *in, vd_gate gate, int regions)
{
    text q = read_text(t, in, vd_text_questions(in), "encoder.ques_rnn.rnn_model");
    text h = read_text(t, in, vd_text_entries(in), "encoder.hist_rnn.rnn_model");
    // Context matching.
    vd_value *fq = gated(t, gate, q.sentence, "context_matching.ques_emb");
    vd_value *fh = gated(t, gate, h.sentence, "context_matching.hist_emb");
    vd_value *w = vd_tape_vector(t, "encoder.context_matching.att.1.weight");
    vd_value *a = vd_tape_attend(
        t,
        vd_tape_dot(t, vd_inputs_pairing(t, in, VD_SEES_ROUNDS), vd_tape_multiply(t, fq, w), fh, 1),
        "rounds", 0);
    vd_value *context = gated_pair(t, q.sentence, vd_tape_mix(t, a, h.sentence),
                                   "encoder.context_matching.context_gate.0");
    // Topic aggregation.
    vd_value *wq = gated(t, gate, q.states, "topic_aggregation.ques_emb");
    vd_value *wh = gated(t, gate, h.states, "topic_aggregation.hist_emb");
    vd_value *s =
        vd_tape_attend(t, vd_tape_dot(t, pair_words(t, in), wq, wh, 1), "history-words", 0);
    vd_value *u = vd_tape_mix(t, vd_tape_weigh(t, s, a), h.embedding);
    vd_value *topic = gated_pair(t, q.embedding, u, "encoder.topic_aggregation.topic_gate.0");
    // Topic view.
    const vd_pairing *p = vd_inputs_pairing(t, in, VD_SEES_REGIONS);
    vd_value *fv = gated(t, gate, in->regions, "modality_fusion_topic.img_nonlinear_emb");
    vd_value *ft = gated(t, gate, topic, "modality_fusion_topic.topic_emb");
    s = vd_tape_dot(t, pair_regions(t, in, regions, true), vd_tape_keys(t, p, fv), ft, 1);
    s = vd_tape_attend(t, s, "question-words", 0);
    vd_value *m = vd_tape_join(t, vd_tape_keys(t, p, in->regions), vd_tape_mix(t, s, topic));
    m = vd_tape_map(t, VD_RELU, vd_tape_linear(t, m, "encoder.modality_fusion_topic.MLP.1"));
    m = vd_tape_map(t, VD_RELU, vd_tape_linear(t, m, "encoder.modality_fusion_topic.MLP.3"));
    // Context view.
    vd_value *y = vd_tape_join(t, m, vd_tape_queries(t, p, context));
    vd_value *fm = gated(t, gate, y, "modality_fusion_context.mf_emb");
    vd_value *fc = gated(t, gate, context, "modality_fusion_context.context_matching_emb");
    vd_value *z = vd_tape_unit(t, vd_tape_products(t, p, fc, fm));
    z = vd_tape_linear(t, z, "encoder.modality_fusion_context.att.1");
    z->pairing = pair_regions(t, in, regions, false);
    vd_value *g = vd_tape_attend(t, z, "regions", 0);
    y = vd_tape_join(t, vd_tape_mix(t, g, m), context);
    return vd_tape_map(t, VD_RELU, vd_tape_linear(t, y, "encoder.fusion.1"));
}

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
    for (int n = 0, pair = 0; n < span->questions; n++)
        for (int r = 0; r < span->seen[n]; r++, pair++, g++) {
            int b = span->dialog[n], width, first = span->entry_start[b];
            const int *entry = span->history->start + first, *word = span->question->start;
            compare("rounds", rounds->x + pair, pass->context + n * span->most + r, 1, 1e-5);
            width = entry[span->entry_start[b + 1] - first] - entry[0];
            for (int i = 0; i < g->query.count; i++)
                compare("history-words", words->x + g->at + i * g->key[0].count,
                        pass->topic + pass->topic_start[b] +
                            (word[n] + i - word[span->question_start[b]]) * width +
                            (entry[r] - entry[0]),
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
    vd_layout_start(&layout, host, &rng);
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
    vd_parameters d = {&layout, (unsigned char *)taped, VD_F32, NULL};
    vd_tape tape = {.be = be, .arena = &arena, .w = &weights.all, .dw = &d};
    vd_inputs in = {.config = &config,
                    .span = &net.pass.span,
                    .question_words = &net.pass.question_words,
                    .history_words = &net.pass.history_words,
                    .sinusoid = sinusoid,
                    .region_start = region_start};
    in.regions = vd_tape_constant(&tape, VD_AXIS_REGIONS, net.pass.image,
                                  region_start[batch->dialogs], config.region);
    vd_value *y = build(&tape, &in, gate, batch->regions);
    must(vd_tape_status(&tape, &err), &err);
    compare("e", y->x, net.pass.encoded, e, 1e-5);
    compare_attentions(&tape, &net.pass);

    for (size_t i = 0; i < e; i++)
        share[i] = (float)vd_rng_range(&rng, -1, 1);
    be->load_floats(share, net.pass.dencoded, e);
    be->load_floats(share, y->dx, e);
    must(vd_network_encode_backward(&net, &err), &err);
    vd_tape_backward(&tape);
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

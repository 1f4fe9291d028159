// Every gradient by central differences in double precision on a tiny model. Dropout is on (its
// masks are functions of the key, so the loss is a smooth function of the weights), so are
// positions and the large margin.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/token.h"
#include "engine/networks/network.h"
#include "engine/networks/positions.h"
#include "tests/support/readings.h"

enum { B = 2, R = 3, P = 4, O = 5, U = 7, V = 11, E = 3, H = 4, D = 5, TQ = 4, TH = 6, TO = 3 };
enum { TOGETHER = 8 }; // elements of a parameter that are moved together

static float image[B * P * D];
static int32_t question[B * R * TQ], question_length[B * R], history[B * R * TH],
    history_length[B * R], candidate[U * TO], candidate_length[U], option[B * R * O], truth[B * R];
static int32_t heard[U * TO], said[U * TO];

static void fill_tokens(int32_t *ids, int32_t *lengths, int count, int width, int least,
                        vd_rng *rng)
{
    for (int s = 0; s < count; s++) {
        lengths[s] = least + vd_rng_below(rng, width - least + 1);
        for (int i = 0; i < lengths[s]; i++)
            ids[s * width + i] = 1 + vd_rng_below(rng, V - 1);
    }
}

static vd_batch make_batch(void)
{
    vd_rng rng = vd_rng_seed(5, 1);
    for (int i = 0; i < B * P * D; i++)
        image[i] = (float)vd_rng_range(&rng, -1, 1);
    memset(image + (P + 2) * D, 0, 2 * D * sizeof *image); // two padding regions
    fill_tokens(question, question_length, B * R, TQ, 1, &rng);
    fill_tokens(history, history_length, B * R, TH, 1, &rng);
    // One entry begins with its question.
    memcpy(history + TH, question, (size_t)question_length[0] * sizeof *history);
    if (history_length[1] < question_length[0])
        history_length[1] = question_length[0];
    fill_tokens(candidate, candidate_length, U, TO, 1, &rng);
    question_length[B * R - 1] = 0; // a round that does not exist
    for (int u = 0; u < U; u++)
        for (int i = 0; i < candidate_length[u]; i++) {
            heard[u * TO + i] = i ? candidate[u * TO + i - 1] : VD_START;
            said[u * TO + i] = candidate[u * TO + i];
        }
    for (int i = 0; i < B * R * O; i++)
        option[i] = (i * 3 + i / O) % U;
    for (int i = 0; i < B * R; i++)
        truth[i] = i == B * R - 1 ? -1 : vd_rng_below(&rng, O);
    return (vd_batch){.dialogs = B,
                      .rounds = R,
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
}

static int32_t *number_words(const int32_t *ids, size_t count, int32_t *own)
{
    for (size_t i = 0; i < count; i++)
        own[i] = ids[i] == VD_UNKNOWN && i % 3 ? V + (int32_t)(i % 2) : ids[i];
    return own;
}

static void number_unknown(vd_batch *batch)
{
    static int32_t asked[B * R * TQ], told[B * R * TH], in[U * TO], out[U * TO];
    batch->own.question = number_words(question, B * R * TQ, asked);
    batch->own.history = number_words(history, B * R * TH, told);
    batch->own.candidate_in = number_words(heard, U * TO, in);
    batch->own.candidate_out = number_words(said, U * TO, out);
}

typedef struct setting {
    vd_gate gate;
    vd_positions positions;
    int margin;
    double lambda;
    vd_real dropout;
    vd_decoders decoders;
    vd_network_kind network;
    vd_text_choice text;
    vd_score score;
    vd_tying tying;
    vd_answer_decoder answer;
    vd_score words;
    vd_copy copy;
    bool relevance; // what is learned, of most rounds
    bool own_masks;
    vd_real coverage;
    vd_real random_time;
    bool linear;
    double next_word;
} setting;

typedef struct model {
    vd_config config;
    vd_layout layout;
    vd_real block[20000], gradient[20000], sinusoid[VD_MAX_HISTORY * E];
    vd_weights weights, gradients;
    vd_arena arena;
} model;

static double loss_of(model *m, const vd_batch *batch, const setting *s, bool with_gradient)
{
    double loss, total = 0;
    vd_error err;
    vd_arena_reset(&m->arena);
    vd_network net = {.pass = {.be = vd_backend_cpu(),
                               .config = &m->config,
                               .w = &m->weights,
                               .dw = with_gradient ? &m->gradients : NULL,
                               .sinusoid = m->sinusoid,
                               .dropout = s->dropout,
                               .lstm_dropout = s->dropout,
                               .position_dropout = s->dropout,
                               .own_masks = s->own_masks,
                               .coverage = s->coverage,
                               .next_word = s->next_word,
                               .text_dropout = s->dropout,
                               .random_time = s->random_time,
                               .linear = s->linear,
                               .key = 99,
                               .arena = &m->arena}};
    // The loss is that of the pass with gradients, joined rows and all, so dropout agrees.
    net.pass.dw = &m->gradients;
    if (vd_network_encode(&net, batch, &err) != VD_OK)
        fail_msg("%s", err.text);
    if (with_gradient)
        memset(m->gradient, 0, sizeof m->gradient);
    if (vd_has_discriminative(s->decoders)) {
        assert_int_equal(vd_discriminative_forward(&net, &err), VD_OK);
        assert_int_equal(vd_discriminative_loss(&net, s->margin, s->lambda, NULL, &loss, &err),
                         VD_OK);
        if (with_gradient)
            assert_int_equal(vd_discriminative_backward(&net, &err), VD_OK);
        total += loss;
    }
    if (vd_has_generative(s->decoders)) {
        // One piece of a larger step.
        const vd_totals of = {.words = 40};
        assert_int_equal(vd_generative_loss(&net, &of, &loss, &err), VD_OK);
        if (with_gradient)
            assert_int_equal(vd_generative_backward(&net, &err), VD_OK);
        total += loss;
    }
    if (with_gradient)
        assert_int_equal(vd_network_encode_backward(&net, &err), VD_OK);
    return total + net.pass.next_word_loss;
}

// How the loss changes with elements from..to-1 of a parameter in a random direction; *found: what
// the gradient says. One wrong element shows as if it were alone, and two do not cancel.
static double slope(model *m, const vd_batch *batch, const setting *s, const vd_parameter *p,
                    size_t from, size_t to, vd_rng *rng, double *found)
{
    const double step = 5e-6;
    vd_real *at = m->block + p->offset + from, kept[TOGETHER];
    double direction[TOGETHER];
    size_t n = to - from;
    *found = 0;
    memcpy(kept, at, n * sizeof *at);
    for (size_t i = 0; i < n; i++) {
        double length = vd_rng_range(rng, 0.5, 1.5);
        direction[i] = vd_rng_below(rng, 2) ? length : -length;
        *found += direction[i] * m->gradient[p->offset + from + i];
        at[i] = kept[i] + step * direction[i];
    }
    double above = loss_of(m, batch, s, false);
    for (size_t i = 0; i < n; i++)
        at[i] = kept[i] - step * direction[i];
    double below = loss_of(m, batch, s, false);
    memcpy(at, kept, n * sizeof *at);
    return (above - below) / (2 * step);
}

// Where several together disagree, which a kink of the loss near by makes them do, each half alone.
static void check_elements(model *m, const vd_batch *batch, const setting *s, const vd_parameter *p,
                           size_t from, size_t to, vd_rng *rng)
{
    char name[40];
    double found, expected = slope(m, batch, s, p, from, to, rng, &found);
    if (fabs(found - expected) <= 1e-7 + 1e-5 * fabs(expected))
        return;
    if (to - from == 1)
        fail_msg("%s, %s[%zu]: gradient %.10g, finite difference %.10g",
                 support_reading_name(&m->config, name), p->name, from, found, expected);
    size_t middle = (from + to) / 2;
    check_elements(m, batch, s, p, from, middle, rng);
    check_elements(m, batch, s, p, middle, to, rng);
}

static void check(const setting *s)
{
    static model m;
    static float relevance[B * R * O];
    vd_batch batch = make_batch();
    if (s->copy != VD_COPY_NONE)
        number_unknown(&batch);
    vd_rng rng = vd_rng_seed(8, 2);
    if (s->relevance) {
        for (int i = 0; i < B * R * O; i++) // of the first round nothing is known
            relevance[i] = i < O ? 0 : (float)vd_rng_below(&rng, 3) / 2;
        batch.relevance = relevance;
    }
    m.config = (vd_config){.vocab = V,
                           .embed = E,
                           .hidden = H,
                           .region = D,
                           .gate = s->gate,
                           .positions = s->positions,
                           .decoders = s->decoders,
                           .network = s->network,
                           .text = s->text,
                           .heads = s->network == VD_NETWORK_DIALOG_TRANSFORMER ? 0 : 2,
                           .score_rounds = s->score,
                           .score_regions = s->score == VD_SCORE_SUM ? VD_SCORE_OWN : s->score,
                           .hops = 2,
                           .tying = s->tying,
                           .answer = s->answer,
                           .score_words = s->words,
                           .copy = s->copy};
    vd_weights_layout(&m.config, &m.layout, m.block, &m.weights);
    assert_true(m.layout.elements <= sizeof m.block / sizeof *m.block);
    vd_weights_layout(&m.config, &m.layout, m.gradient, &m.gradients);
    vd_words_sinusoid(m.sinusoid, VD_MAX_HISTORY, E);
    vd_layout_init(&m.layout, m.block, &rng);
    for (size_t i = V * E; i < m.layout.elements; i++)
        m.block[i] += 0.05 * vd_rng_normal(&rng); // no bias exactly at a kink
    loss_of(&m, &batch, s, true);
    for (size_t i = 0; i < E; i++) // the pad row's is withheld: the row is never updated
        assert_true(m.gradient[i] == 0);
    for (int k = 0; k < m.layout.count; k++) {
        const vd_parameter *p = &m.layout.parameter[k];
        for (size_t from = k == 0 ? E : 0; from < p->elements; from += TOGETHER)
            check_elements(&m, &batch, s, p, from,
                           from + TOGETHER < p->elements ? from + TOGETHER : p->elements, &rng);
    }
    vd_arena_free(&m.arena);
}

static void leaky_gates_plain_softmax(void **state)
{
    (void)state;
    check(&(setting){.gate = VD_GATE_LEAKY_RELU,
                     .positions = VD_POSITIONS_NONE,
                     .margin = 1,
                     .lambda = 0,
                     .dropout = 0,
                     .decoders = VD_DISCRIMINATIVE});
}

static void shares_of_relevance(void **state)
{
    (void)state;
    check(&(setting){.gate = VD_GATE_SIGMOID,
                     .positions = VD_POSITIONS_NONE,
                     .margin = 1,
                     .decoders = VD_DISCRIMINATIVE,
                     .relevance = true});
}

static void sigmoid_gates_with_dropout(void **state)
{
    (void)state;
    check(&(setting){.gate = VD_GATE_SIGMOID,
                     .positions = VD_POSITIONS_NONE,
                     .margin = 1,
                     .lambda = 0,
                     .dropout = 0.3,
                     .decoders = VD_DISCRIMINATIVE});
}

static void elu_gates_learned_positions_margin_four(void **state)
{
    (void)state;
    check(&(setting){.gate = VD_GATE_ELU,
                     .positions = VD_POSITIONS_LEARNED,
                     .margin = 4,
                     .lambda = 2,
                     .dropout = 0.2,
                     .decoders = VD_DISCRIMINATIVE});
}

static void leaky_gates_sinusoidal_positions_margin_two(void **state)
{
    (void)state;
    check(&(setting){.gate = VD_GATE_LEAKY_RELU,
                     .positions = VD_POSITIONS_SINUSOIDAL,
                     .margin = 2,
                     .lambda = 0.5,
                     .dropout = 0.2,
                     .decoders = VD_DISCRIMINATIVE});
}

// With positions every candidate is read alone from its first word on, without from the second
// layer on.
static void candidates_with_dropout_masks_of_their_own(void **state)
{
    (void)state;
    for (int placed = 0; placed < 2; placed++)
        check(&(setting){.gate = VD_GATE_SIGMOID,
                         .positions = placed ? VD_POSITIONS_LEARNED : VD_POSITIONS_NONE,
                         .margin = 1,
                         .dropout = 0.3,
                         .decoders = VD_DISCRIMINATIVE,
                         .own_masks = true});
}

static void as_printed_positions_margin_three(void **state)
{
    (void)state;
    check(&(setting){.gate = VD_GATE_LEAKY_RELU,
                     .positions = VD_POSITIONS_AS_PRINTED,
                     .margin = 3,
                     .lambda = 0,
                     .dropout = 0,
                     .decoders = VD_DISCRIMINATIVE});
}

static void generative_decoder_with_learned_positions_and_dropout(void **state)
{
    (void)state;
    check(&(setting){.gate = VD_GATE_SIGMOID,
                     .positions = VD_POSITIONS_LEARNED,
                     .margin = 1,
                     .lambda = 0,
                     .dropout = 0.2,
                     .decoders = VD_GENERATIVE});
}

static void both_decoders_with_margin_and_dropout(void **state)
{
    (void)state;
    check(&(setting){.gate = VD_GATE_ELU,
                     .positions = VD_POSITIONS_SINUSOIDAL,
                     .margin = 2,
                     .lambda = 0.5,
                     .dropout = 0.2,
                     .decoders = VD_BOTH});
}

// Every other network, with all that can be switched in it.
static void networks_on_the_tape(void **state)
{
    (void)state;
    for (int n = VD_NETWORK_MVAN + 1; n < VD_NETWORKS; n++) {
        vd_network_kind network = (vd_network_kind)n;
        check(&(setting){
            .margin = 1, .positions = VD_POSITIONS_NONE, .dropout = 0, .network = network});
        check(&(setting){.margin = 2,
                         .lambda = 0.5,
                         .positions = n % 2 ? VD_POSITIONS_LEARNED : VD_POSITIONS_SINUSOIDAL,
                         .dropout = 0.3,
                         .decoders = VD_BOTH,
                         .network = network});
    }
}

static void tables_that_all_hops_share(void **state)
{
    (void)state;
    check(&(setting){.margin = 1,
                     .positions = VD_POSITIONS_LEARNED,
                     .dropout = 0.3,
                     .network = VD_NETWORK_MEMN2N,
                     .tying = VD_TYING_LAYER_WISE});
}

// As in training: the same memories are skipped in every pass.
static void random_time_and_linear_start(void **state)
{
    (void)state;
    for (int linear = 0; linear < 2; linear++)
        check(&(setting){.margin = 1,
                         .positions = VD_POSITIONS_NONE,
                         .network = VD_NETWORK_MEMN2N,
                         .random_time = 1,
                         .linear = linear});
}

// Every other text encoder, with dropout and without.
static void text_encoders(void **state)
{
    vd_config config = {.hidden = H, .heads = 2};
    (void)state;
    for (int n = 0; support_reading(n, &config); n++)
        if (config.text != VD_TEXT_OWN)
            check(&(setting){.margin = 1,
                             .positions = VD_POSITIONS_NONE,
                             .dropout = config.network == VD_NETWORK_HREA ? 0 : 0.3,
                             .network = config.network,
                             .text = config.text});
}

static void every_score_of_rounds_and_regions(void **state)
{
    vd_config config = {0};
    (void)state;
    for (int n = 0; support_scoring(n, &config); n++)
        check(&(setting){.margin = 1,
                         .positions = VD_POSITIONS_NONE,
                         .dropout = config.score_rounds % 2 ? 0.3 : 0,
                         .network = config.network,
                         .score = config.score_rounds});
}

// The decoder's own parameters, and what it changes in those before it.
static void attention_over_the_dialog(void **state)
{
    (void)state;
    for (int answer = VD_ANSWER_ATTENTION; answer <= VD_ANSWER_CONV; answer++)
        for (int n = VD_NETWORK_MVAN; n < VD_NETWORKS; n++)
            check(&(setting){.margin = 1,
                             .positions = n % 2 ? VD_POSITIONS_LEARNED : VD_POSITIONS_NONE,
                             .dropout = n % 2 ? 0.3 : 0,
                             .decoders = n % 2 ? VD_GENERATIVE : VD_BOTH,
                             .network = (vd_network_kind)n,
                             .answer = (vd_answer_decoder)answer});
}

static void every_score_of_words(void **state)
{
    (void)state;
    for (int score = VD_SCORE_ADDITIVE; score <= VD_SCORE_PRODUCT; score++)
        check(&(setting){.margin = 1,
                         .positions = VD_POSITIONS_NONE,
                         .dropout = score % 2 ? 0.3 : 0,
                         .decoders = VD_GENERATIVE,
                         .network = VD_NETWORK_LF,
                         .answer = VD_ANSWER_ATTENTION,
                         .words = (vd_score)score});
}

// With own numbers for some of the unknown words.
static void copied_words(void **state)
{
    static const vd_network_kind network[] = {VD_NETWORK_MVAN, VD_NETWORK_LF, VD_NETWORK_MEMN2N};
    (void)state;
    for (int i = 0; i < 6; i++)
        check(&(setting){.margin = 1,
                         .positions = i % 2 ? VD_POSITIONS_LEARNED : VD_POSITIONS_NONE,
                         .dropout = i % 2 ? 0.3 : 0,
                         .decoders = i % 2 ? VD_GENERATIVE : VD_BOTH,
                         .network = network[i / 2],
                         .answer = VD_ANSWER_ATTENTION,
                         .copy = i < 3 ? VD_COPY_POINTER : VD_COPY_COPYNET});
}

static void coverage_of_copied_words(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++)
        check(&(setting){.margin = 1,
                         .positions = VD_POSITIONS_NONE,
                         .dropout = both ? 0.3 : 0,
                         .decoders = both ? VD_BOTH : VD_GENERATIVE,
                         .network = both ? VD_NETWORK_MVAN : VD_NETWORK_LF,
                         .answer = VD_ANSWER_ATTENTION,
                         .copy = VD_COPY_POINTER,
                         .coverage = 0.7});
}

// Word vectors are read, and what the next word is compared with.
static void the_next_word_of_the_dialog(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++)
        check(&(setting){.margin = 1,
                         .positions = VD_POSITIONS_NONE,
                         .dropout = n ? 0.3 : 0,
                         .decoders = n ? VD_BOTH : VD_DISCRIMINATIVE,
                         .network = VD_NETWORK_DIALOG_TRANSFORMER,
                         .next_word = 0.1});
}

// The same vectors, and the regions and words that answers go on from, in one piece and not.
static void answers_that_go_on_with_the_dialog(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++)
        check(&(setting){.margin = 1,
                         .positions = VD_POSITIONS_NONE,
                         .dropout = n ? 0.3 : 0,
                         .decoders = n == 1 ? VD_BOTH : VD_GENERATIVE,
                         .network = VD_NETWORK_DIALOG_TRANSFORMER,
                         .answer = VD_ANSWER_SEQUENCE,
                         .next_word = n == 2 ? 0.1 : 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaky_gates_plain_softmax),
        cmocka_unit_test(shares_of_relevance),
        cmocka_unit_test(sigmoid_gates_with_dropout),
        cmocka_unit_test(elu_gates_learned_positions_margin_four),
        cmocka_unit_test(leaky_gates_sinusoidal_positions_margin_two),
        cmocka_unit_test(candidates_with_dropout_masks_of_their_own),
        cmocka_unit_test(as_printed_positions_margin_three),
        cmocka_unit_test(generative_decoder_with_learned_positions_and_dropout),
        cmocka_unit_test(both_decoders_with_margin_and_dropout),
        cmocka_unit_test(networks_on_the_tape),
        cmocka_unit_test(tables_that_all_hops_share),
        cmocka_unit_test(random_time_and_linear_start),
        cmocka_unit_test(text_encoders),
        cmocka_unit_test(every_score_of_rounds_and_regions),
        cmocka_unit_test(attention_over_the_dialog),
        cmocka_unit_test(every_score_of_words),
        cmocka_unit_test(copied_words),
        cmocka_unit_test(coverage_of_copied_words),
        cmocka_unit_test(the_next_word_of_the_dialog),
        cmocka_unit_test(answers_that_go_on_with_the_dialog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

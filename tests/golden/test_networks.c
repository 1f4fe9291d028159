// The networks on the tape against their twins in PyTorch (networks.py): e of a small batch, the
// attentions with a name, and the gradient of every parameter; and the generative decoder with
// attention behind them (answers.py), which may copy words (copying.py): loss, scores of
// candidates, gradients.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "engine/networks/encoder.h"
#include "engine/networks/network.h"
#include "tests/support/backend.h"
#include "tests/support/must.h"
#include "tests/support/readings.h"

enum {
    B = 2,
    R = 3,
    P = 4,
    D = 5,
    V = 15,
    E = 4,
    H = 6,
    TQ = 4,
    TH = 6,
    STEPS = 2,
    HEADS = 2,
    N = B * R,
    U = 6,
    O = 4,
    TO = 4
};

static const double TOLERANCE = 1e-5, GRADIENT_TOLERANCE = 1e-4;
static vd_safetensors *file;

// Numbers of the tensor network/name; NULL when there is none.
static const float *tensor_of(const char *network, const char *name, float *out, size_t count)
{
    char whole[200];
    vd_error err;
    snprintf(whole, sizeof whole, "%s%s%s", network, *network ? "/" : "", name);
    const vd_tensor *t = vd_safetensors_find(file, whole);
    if (!t)
        return NULL;
    assert_int_equal(t->elements, count);
    assert_int_equal(vd_tensor_floats(t, 0, count, out, &err), VD_OK);
    return out;
}

static void read_ints(const char *name, int32_t *out, size_t count)
{
    float numbers[N * TH];
    assert_non_null(tensor_of("", name, numbers, count));
    for (size_t i = 0; i < count; i++)
        out[i] = (int32_t)numbers[i];
}

static vd_batch read_batch(void)
{
    static float image[B * P * D];
    static int32_t question[N * TQ], question_length[N], history[N * TH], history_length[N];
    static int32_t truth[N];
    assert_non_null(tensor_of("", "img", image, sizeof image / sizeof *image));
    read_ints("ques", question, N * TQ);
    read_ints("ques_len", question_length, N);
    read_ints("hist", history, N * TH);
    read_ints("hist_len", history_length, N);
    for (int n = 0; n < N; n++)
        truth[n] = -1;
    return (vd_batch){.dialogs = B,
                      .rounds = R,
                      .regions = P,
                      .question_width = TQ,
                      .history_width = TH,
                      .image = image,
                      .question = question,
                      .question_length = question_length,
                      .history = history,
                      .history_length = history_length,
                      .truth = truth};
}

// <S> answer, answer </S>
static void split_candidates(const int32_t *candidate, const int32_t *length, int32_t *in,
                             int32_t *out)
{
    memset(in, 0, U * TO * sizeof *in);
    memset(out, 0, U * TO * sizeof *out);
    for (int u = 0; u < U; u++)
        for (int i = 0; i + 1 < length[u]; i++) {
            in[u * TO + i] = candidate[u * TO + i];
            out[u * TO + i] = candidate[u * TO + i + 1];
        }
}

// The candidates of the file of answers.
static void read_candidates(vd_batch *batch)
{
    static int32_t candidate[U * TO], length[U], option[N * O], truth[N], in[U * TO], out[U * TO];
    read_ints("opt", candidate, U * TO);
    read_ints("opt_len", length, U);
    read_ints("option", option, N * O);
    read_ints("truth", truth, N);
    split_candidates(candidate, length, in, out);
    batch->candidates = O;
    batch->distinct = U;
    batch->candidate_width = TO;
    batch->candidate = candidate;
    batch->candidate_length = length;
    batch->option = option;
    batch->truth = truth;
    batch->candidate_in = in;
    batch->candidate_out = out;
}

// Texts with own numbers for unknown words.
static void read_own(vd_batch *batch)
{
    static int32_t question[N * TQ], history[N * TH], candidate[U * TO], in[U * TO], out[U * TO];
    read_ints("ques_own", question, N * TQ);
    read_ints("hist_own", history, N * TH);
    read_ints("opt_own", candidate, U * TO);
    split_candidates(candidate, batch->candidate_length, in, out);
    batch->own.question = question;
    batch->own.history = history;
    batch->own.candidate_in = in;
    batch->own.candidate_out = out;
}

typedef struct room {
    char name[40];
    vd_config config;
    vd_layout layout;
    vd_weights weights, gradients;
    float *expected, *found; // as many numbers as there are parameters
    vd_real *there, *dthere;
    vd_arena arena;
    vd_network net;
    int compared;
} room;

// Of the decoders the file has one or none.
static bool is_in_file(const vd_parameter *p)
{
    return strncmp(p->name, "encoder.", 8) == 0 || strstr(p->name, "decoder.attention.") ||
           strstr(p->name, "decoder.conv.") || strstr(p->name, "decoder.pointer.") ||
           strstr(p->name, "decoder.copy.") || strstr(p->name, "decoder.answer_rnn.") ||
           strstr(p->name, "decoder.lstm_to_words.");
}

// name: in the file.
static void open_room(room *r, const vd_config *which, const char *name)
{
    const vd_memory *memory = support_backend()->memory;
    *r = (room){.config = {.network = which->network,
                           .text = which->text,
                           .heads = which->heads,
                           .tying = which->tying,
                           .score_rounds = which->score_rounds,
                           .score_regions = which->score_regions,
                           .decoders = which->decoders,
                           .answer = which->answer,
                           .score_words = which->score_words,
                           .copy = which->copy,
                           .vocab = V,
                           .embed = E,
                           .hidden = H,
                           .region = D,
                           .positions = VD_POSITIONS_NONE,
                           .hops = STEPS}};
    snprintf(r->name, sizeof r->name, "%s", name);
    vd_weights_layout(&r->config, &r->layout, NULL, NULL);
    size_t n = r->layout.elements;
    r->expected = vd_alloc(n, sizeof *r->expected);
    r->found = vd_alloc(n, sizeof *r->found);
    r->there = memory->allocate(n * sizeof *r->there);
    r->dthere = memory->allocate(n * sizeof *r->there);
    for (int k = 0; k < r->layout.count; k++) {
        const vd_parameter *p = &r->layout.parameter[k];
        if (is_in_file(p) && !tensor_of(r->name, p->name, r->found + p->offset, p->elements))
            fail_msg("%s has a parameter %s, its twin has not", r->name, p->name);
    }
    memory->upload(r->there, r->found, n * sizeof *r->there);
    memory->zero(r->dthere, n * sizeof *r->there);
    vd_weights_layout(&r->config, &r->layout, r->there, &r->weights);
    vd_weights_layout(&r->config, &r->layout, r->dthere, &r->gradients);
    r->arena.memory = memory;
    r->net.pass = (vd_pass){.be = support_backend(),
                            .config = &r->config,
                            .w = &r->weights,
                            .dw = &r->gradients,
                            .arena = &r->arena};
}

static void close_room(room *r)
{
    const vd_memory *memory = support_backend()->memory;
    vd_free(r->expected);
    vd_free(r->found);
    memory->release(r->there);
    memory->release(r->dthere);
    vd_arena_free(&r->arena);
}

static void compare(const room *r, const char *what, size_t i, double found, double expected,
                    double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s, %s[%zu]: found %.9g, expected %.9g", r->name, what, i, found, expected);
}

static void compare_encoded(room *r)
{
    float expected[N * H];
    size_t n = N * (size_t)vd_encoded_width(&r->config);
    assert_non_null(tensor_of(r->name, "e", expected, n));
    float *found = support_read(r->net.pass.encoded, n);
    for (size_t i = 0; i < n; i++)
        compare(r, "e", i, (double)found[i], (double)expected[i], TOLERANCE);
    vd_free(found);
}

// All that a row could look at.
static size_t width_of(const vd_pairing *p)
{
    switch ((int)p->key_axis) {
    case VD_AXIS_ENTRIES:
        return R;
    case VD_AXIS_REGIONS:
        return P;
    case VD_AXIS_HISTORY_WORDS:
        return (size_t)R * TH;
    default:
        return TQ + p->sentinel;
    }
}

// Each row's keys come in the order of what it sees, from the first. Rows that are no questions are
// those of all questions, one after the other. A pass for gradients need not show anything.
static void compare_shown(room *r, const vd_batch *batch)
{
    vd_error err;
    r->net.pass.dw = NULL;
    must(vd_network_encode(&r->net, batch, &err), &err);
    compare_encoded(r);
    for (const vd_shown *s = r->net.pass.tape->shown; s; s = s->next) {
        const vd_pairing *p = s->value->pairing;
        char name[40];
        static float expected[N * R * TH * TQ];
        size_t wide = width_of(p);
        size_t rows = p->query_axis == VD_AXIS_QUESTIONS ? N : (size_t)p->query_rows;
        snprintf(name, sizeof name, "%s.%s%d", s->name, s->heads ? "head." : "", s->index);
        if (!tensor_of(r->name, name, expected, rows * wide))
            fail_msg("%s shows %s, its twin does not", r->name, name);
        float *found = support_read(s->value->x, (size_t)p->pairs);
        for (int i = 0; i < p->count; i++) {
            const vd_pair_group *g = &p->group[i];
            for (int q = 0; q < g->query.count; q++)
                for (int k = 0; k < g->key[0].count; k++)
                    compare(r, name, (size_t)k, (double)found[g->at + q * g->key[0].count + k],
                            (double)expected[(size_t)(g->query.first + q) * wide + (size_t)k],
                            TOLERANCE);
        }
        vd_free(found);
        r->compared++;
    }
    r->net.pass.dw = &r->gradients;
}

static void compare_gradients(room *r)
{
    support_backend()->read_floats(r->dthere, r->found, r->layout.elements);
    for (int k = 0; k < r->layout.count; k++) {
        const vd_parameter *p = &r->layout.parameter[k];
        char name[160];
        double largest = 0;
        snprintf(name, sizeof name, "grad.%s", p->name);
        if (!tensor_of(r->name, name, r->expected, p->elements))
            continue;
        for (size_t i = 0; i < p->elements; i++)
            largest = fmax(largest, fabs((double)r->expected[i]));
        for (size_t i = 0; i < p->elements; i++)
            compare(r, name, i, (double)r->found[p->offset + i], (double)r->expected[i],
                    GRADIENT_TOLERANCE * largest + 1e-7);
        r->compared++;
    }
}

// Every tensor of the file below the network's name has been compared.
static void assert_complete(const room *r)
{
    int tensors = -1; // but e
    const char *weights[] = {"/encoder.", "/decoder.", "/gen_decoder."};
    size_t length = strlen(r->name);
    for (size_t i = 0; i < vd_safetensors_count(file); i++) {
        const char *name = vd_safetensors_at(file, i)->name;
        bool result = strncmp(name, r->name, length) == 0 && name[length] == '/';
        for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
            result &= strncmp(name + length, weights[k], strlen(weights[k])) != 0;
        tensors += result;
    }
    assert_int_equal(r->compared, tensors);
}

static void compare_network(const vd_config *which)
{
    static room r;
    float share[N * H];
    char name[sizeof r.name];
    vd_error err;
    vd_batch batch = read_batch();
    assert_non_null(tensor_of("", "share", share, N * H));
    open_room(&r, which, support_reading_name(which, name));
    compare_shown(&r, &batch);
    must(vd_network_encode(&r.net, &batch, &err), &err);
    compare_encoded(&r);
    support_backend()->load_floats(share, r.net.pass.dencoded, N * H);
    must(vd_network_encode_backward(&r.net, &err), &err);
    compare_gradients(&r);
    assert_complete(&r);
    assert_null(support_backend()->last_error());
    close_room(&r);
}

// One for each text encoder; MVAN with one; and the other ways in which networks use them: on the
// history as one text, in the place of sums of words.
static bool has_twin(const vd_config *config)
{
    return config->text == VD_TEXT_OWN || config->network == VD_NETWORK_MN_ATT ||
           (config->network == VD_NETWORK_MVAN && config->text == VD_TEXT_GRU) ||
           (config->network == VD_NETWORK_LF && config->text == VD_TEXT_GLDR) ||
           (config->network == VD_NETWORK_MEMN2N && config->text == VD_TEXT_LSTM) ||
           (config->network == VD_NETWORK_DMN && config->text == VD_TEXT_CONVS2S);
}

static void compare_scores(void)
{
    static const struct {
        vd_network_kind network;
        vd_score rounds, regions;
    } cases[] = {
        {VD_NETWORK_HREA, VD_SCORE_SUM, VD_SCORE_OWN},
        {VD_NETWORK_MN_ATT, VD_SCORE_BILINEAR, VD_SCORE_BILINEAR},
        {VD_NETWORK_MN_ATT, VD_SCORE_MULTI_HEAD, VD_SCORE_MULTI_HEAD},
        {VD_NETWORK_LF_BU, VD_SCORE_OWN, VD_SCORE_MULTI_HEAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare_network(&(vd_config){.network = cases[i].network,
                                     .heads = HEADS,
                                     .score_rounds = cases[i].rounds,
                                     .score_regions = cases[i].regions});
}

static void networks_equal_their_twins(void **state)
{
    vd_error err;
    (void)state;
    must(vd_safetensors_open("tests/golden/data/networks.safetensors", &file, &err), &err);
    vd_config config = {.hidden = H, .heads = HEADS};
    for (int i = 0; support_reading(i, &config); i++)
        if (has_twin(&config))
            compare_network(&config);
    config = (vd_config){.network = VD_NETWORK_MEMN2N, .tying = VD_TYING_LAYER_WISE};
    compare_network(&config);
    compare_scores();
    vd_safetensors_close(file);
}

static void compare_answers(const char *name, const vd_config *config, vd_real coverage)
{
    static room r;
    float scores[N * O], expected[N * O], expected_loss;
    double loss;
    vd_error err;
    vd_batch batch = read_batch();
    read_candidates(&batch);
    if (vd_copies(config))
        read_own(&batch);
    open_room(&r, config, name);
    must(vd_network_encode(&r.net, &batch, &err), &err);
    compare_encoded(&r);
    must(vd_generative_scores(&r.net, scores, &err), &err);
    assert_non_null(tensor_of(name, "scores", expected, N * O));
    for (size_t i = 0; i < N * O; i++)
        compare(&r, "scores", i, (double)scores[i], (double)expected[i], TOLERANCE);
    r.net.pass.coverage = coverage;
    must(vd_generative_loss(&r.net, NULL, &loss, &err), &err);
    assert_non_null(tensor_of(name, "loss", &expected_loss, 1));
    compare(&r, "loss", 0, loss, (double)expected_loss, TOLERANCE);
    must(vd_generative_backward(&r.net, &err), &err);
    must(vd_network_encode_backward(&r.net, &err), &err);
    compare_gradients(&r);
    r.compared += 2;
    assert_complete(&r);
    assert_null(support_backend()->last_error());
    close_room(&r);
}

static void answers_equal_their_twins(void **state)
{
    enum { LSTM = VD_ANSWER_ATTENTION, CONV = VD_ANSWER_CONV, SEQUENCE = VD_ANSWER_SEQUENCE };
    static const struct {
        const char *name;
        vd_network_kind network;
        vd_decoders by;
        int answer;
        vd_score score;
    } cases[] = {
        {"lf", VD_NETWORK_LF, VD_GENERATIVE, LSTM, VD_SCORE_OWN},
        {"hre", VD_NETWORK_HRE, VD_GENERATIVE, LSTM, VD_SCORE_BILINEAR},
        {"mac", VD_NETWORK_MAC, VD_GENERATIVE, LSTM, VD_SCORE_OWN},
        {"memn2n", VD_NETWORK_MEMN2N, VD_GENERATIVE, LSTM, VD_SCORE_OWN},
        {"dmn", VD_NETWORK_DMN, VD_GENERATIVE, LSTM, VD_SCORE_OWN},
        {"mn-both", VD_NETWORK_MN, VD_BOTH, LSTM, VD_SCORE_ADDITIVE},
        {"memn2n-dot", VD_NETWORK_MEMN2N, VD_GENERATIVE, LSTM, VD_SCORE_DOT},
        {"memn2n-scaled", VD_NETWORK_MEMN2N, VD_GENERATIVE, LSTM, VD_SCORE_SCALED},
        {"memn2n-product", VD_NETWORK_MEMN2N, VD_GENERATIVE, LSTM, VD_SCORE_PRODUCT},
        {"lf-conv", VD_NETWORK_LF, VD_GENERATIVE, CONV, VD_SCORE_OWN},
        {"mac-conv", VD_NETWORK_MAC, VD_BOTH, CONV, VD_SCORE_OWN},
        {"memn2n-conv", VD_NETWORK_MEMN2N, VD_GENERATIVE, CONV, VD_SCORE_OWN},
        {"dialog-transformer", VD_NETWORK_DIALOG_TRANSFORMER, VD_GENERATIVE, SEQUENCE,
         VD_SCORE_OWN},
    };
    vd_error err;
    (void)state;
    must(vd_safetensors_open("tests/golden/data/answers.safetensors", &file, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare_answers(cases[i].name,
                        &(vd_config){.network = cases[i].network,
                                     .decoders = cases[i].by,
                                     .answer = (vd_answer_decoder)cases[i].answer,
                                     .heads = cases[i].answer == SEQUENCE ? HEADS : 0,
                                     .score_words = cases[i].score},
                        0);
    vd_safetensors_close(file);
}

static void copied_words_equal_their_twins(void **state)
{
    static const struct {
        const char *name;
        vd_network_kind network;
        vd_decoders by;
        vd_score score;
        vd_copy copy;
        vd_real coverage;
    } cases[] = {
        {"mn-pointer", VD_NETWORK_MN, VD_GENERATIVE, VD_SCORE_OWN, VD_COPY_POINTER, 0},
        {"mac-pointer", VD_NETWORK_MAC, VD_BOTH, VD_SCORE_ADDITIVE, VD_COPY_POINTER, 0},
        {"lf-copynet", VD_NETWORK_LF, VD_GENERATIVE, VD_SCORE_OWN, VD_COPY_COPYNET, 0},
        {"hre-copynet", VD_NETWORK_HRE, VD_BOTH, VD_SCORE_ADDITIVE, VD_COPY_COPYNET, 0},
        {"memn2n-copynet", VD_NETWORK_MEMN2N, VD_GENERATIVE, VD_SCORE_DOT, VD_COPY_COPYNET, 0},
        {"lf-coverage", VD_NETWORK_LF, VD_GENERATIVE, VD_SCORE_OWN, VD_COPY_POINTER, 1},
    };
    vd_error err;
    (void)state;
    must(vd_safetensors_open("tests/golden/data/copying.safetensors", &file, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare_answers(cases[i].name,
                        &(vd_config){.network = cases[i].network,
                                     .decoders = cases[i].by,
                                     .answer = VD_ANSWER_ATTENTION,
                                     .score_words = cases[i].score,
                                     .copy = cases[i].copy},
                        cases[i].coverage);
    vd_safetensors_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_equal_their_twins),
        cmocka_unit_test(answers_equal_their_twins),
        cmocka_unit_test(copied_words_equal_their_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

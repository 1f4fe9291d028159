// Dynamic coattention network (Xiong et al. 2017) over the dialog and, with weights of its own, the
// picture. U words of the question, C words of the entries up to now (or regions: flow.h), each
// with a trained row at its end, a sentinel:
//   Q = tanh(W U + b), L = C Q^T
//   A_Q = softmax of L over the rows of C, C_Q = A_Q^T C    what each word of the question looks at
//   A_D = softmax of L over the words, C_D = A_D [Q ; C_Q]  what each row looks at
//   M = a layer of LSTMs over [C ; C_D] (words), relu(W [C ; C_D] + b) (regions)
//   c = sum_j softmax_j(w . M_j) M_j, x likewise, e = tanh(W [c ; x ; q] + b)
// What a row gives to the sentinel of the question it gives to nothing. The sentinel of C takes
// part in A_Q alone: as in the paper, M has no row of it. The paper's decoder, which goes back and
// forth between the ends of a span, is left out. Attentions: A_D, history words -> question words
// (history-words) and regions -> question words (question-words); the last softmax (pooled-words,
// regions).
#include "engine/networks/flow.h"
#include "engine/networks/text/text.h"

enum { LAYERS = 1 };

static void declare_flow(vd_layout *layout, const char *of, int w)
{
    const vd_init start = {VD_INIT_NORMAL, 0.1};
    vd_layout_linear(layout, vd_name_of("encoder.flow.%s.question", of).text, w, w, true);
    vd_layout_add(layout, vd_name_of("encoder.flow.%s.sentinel.question", of).text, "", false, 1, w,
                  start);
    vd_layout_add(layout, vd_name_of("encoder.flow.%s.sentinel.context", of).text, "", false, 1, w,
                  start);
}

static void declare(const vd_config *c, vd_layout *layout)
{
    int w = vd_width_even(c);
    vd_flows_declare(layout, c, &(vd_flow_sizes){.layers = LAYERS, .model = 3 * w, .pool = w});
    declare_flow(layout, "history", w);
    declare_flow(layout, "regions", w);
}

// x with its last row behind those of each question, as they are among the keys of p.
static vd_value *end_with_last(vd_tape *tape, const vd_value *x, const vd_pairing *p)
{
    if (!p || tape->status != VD_OK)
        return &tape->nothing;
    int *row = vd_arena_ints(tape->arena, (size_t)p->key_rows);
    for (int n = 0; n < p->count && row; n++) {
        vd_range own = p->group[n].key[0];
        int last = own.first + own.count - 1;
        for (int j = own.first; j < last; j++)
            row[j] = j - n;
        row[last] = x->rows - 1;
    }
    return vd_tape_choose(tape, x, row, p->key_rows, x->axis);
}

// x with a sentinel below it.
static vd_value *add_sentinel(vd_tape *tape, const vd_flow *flow, const char *part,
                              const vd_value *x)
{
    return vd_tape_stack(
        tape, x, vd_tape_vector(tape, vd_name_of("encoder.flow.%s.%s", flow->of, part).text));
}

// Q, with a sentinel behind the words of each question; p: rows and these.
static vd_value *read_words(vd_tape *tape, const vd_flow *flow, const vd_pairing *p,
                            const vd_value *words)
{
    vd_value *u = add_sentinel(tape, flow, "sentinel.question", words);
    vd_value *q = vd_tanh_layer(tape, u, vd_name_of("encoder.flow.%s.question", flow->of).text, 0);
    return end_with_last(tape, q, p);
}

// C_Q: what each word of the question looks at.
static vd_value *look_at_rows(vd_tape *tape, const vd_inputs *in, const vd_flow *flow,
                              const vd_value *q)
{
    const vd_pairing *p = vd_flow_pairing(tape, in, flow, 1, true);
    vd_value *c = add_sentinel(tape, flow, "sentinel.context", flow->rows);
    c = end_with_last(tape, c, p);
    return vd_tape_mix(tape, vd_tape_softmax(tape, vd_tape_dot(tape, p, q, c, 1)), c);
}

static void explain(vd_tape *tape, const vd_flow *flow, const vd_value *q, const vd_value *d)
{
    const vd_explained history = {
        .title = "Co-attention: history",
        .why = "Every word of the question attends to the matching words of the history. Then "
               "every word of the history attends to the matching words of the question and to "
               "what these found. A word without a match attends to nothing.",
        .formula = {"L = C Q^T, Q = tanh(W U + b)", "C_Q = softmax_j(L)^T C",
                    "C_D = softmax_i(L) [Q ; C_Q]", "G_j = [C_j ; C_D,j]"},
        .in = {{"C", "words of the history", flow->rows},
               {"Q", "words of the question, and nothing", q}},
        .out = {{"C_D", "the question, as each word sees it", d}}};
    const vd_explained regions = {
        .title = "Co-attention: regions",
        .why = "Every word of the question attends to the matching regions. Then every region "
               "attends to the matching words and to what these found. A region without a match "
               "attends to nothing.",
        .formula = {"L = X Q^T, Q = tanh(W U + b)", "X_Q = softmax_k(L)^T X",
                    "X_D = softmax_i(L) [Q ; X_Q]", "G_k = [X_k ; X_D,k]"},
        .in = {{"X", "the regions", flow->rows}, {"Q", "words of the question, and nothing", q}},
        .out = {{"X_D", "the question, as each region sees it", d}}};
    vd_tape_explain(tape, flow->axis == VD_AXIS_REGIONS ? &regions : &history);
}

// c, or x.
static vd_value *compare(vd_tape *tape, const vd_inputs *in, const vd_flows *f, const vd_flow *flow)
{
    vd_pairing *p = vd_flow_pairing(tape, in, flow, 1, false);
    if (p)
        p->sentinel = true;
    vd_value *q = read_words(tape, flow, p, f->words);
    vd_value *taken = look_at_rows(tape, in, flow, q);
    vd_value *a = vd_tape_attend(tape, vd_tape_dot(tape, p, flow->rows, q, 1), flow->looks, 0);
    vd_value *d = vd_tape_mix(tape, a, vd_tape_concat(tape, q, taken));
    explain(tape, flow, q, d);
    vd_value *m = vd_flow_model(tape, in, flow, vd_tape_concat(tape, flow->rows, d), LAYERS);
    return vd_flow_pool(tape, in, flow, m, m);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    return vd_flows_build(tape, in, compare);
}

const vd_encoder vd_encoder_dcn = {.name = "dcn",
                                   .title = "dynamic coattention network",
                                   .text = &vd_text_bilstm,
                                   .reads = "image dropout",
                                   .declare = declare,
                                   .build = build,
                                   .question_width = vd_width_even};

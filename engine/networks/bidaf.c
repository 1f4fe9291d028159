// Bidirectional attention flow (Seo et al. 2017) over the dialog and, with weights of its own, the
// picture. U words of the question, C words of the entries up to now (or regions: flow.h):
//   S_ji = w . [C_j ; U_i ; C_j o U_i] = w1 . C_j + w2 . U_i + (w3 o C_j) . U_i
//   u_j = sum_i softmax_i(S_ji) U_i                  each row looks at the question's words
//   b = softmax_j(max_i S_ji), h = sum_j b_j C_j     the question looks at the rows
//   G_j = [C_j ; u_j ; C_j o u_j ; C_j o h]
//   M = two layers of LSTMs over G (words), relu(W G + b) (regions)
//   c = sum_j softmax_j(w . [G_j ; M_j]) M_j, x likewise, e = tanh(W [c ; x ; q] + b)
// w1 . C_j is the same for all i: it cancels in u_j, and is added to the maximum, not to each S_ji.
// The paper's layers of characters, its highway network and averaged weights are left out.
// Attentions: history words -> question words (history-words), regions -> question words
// (question-words), b (words-alone, regions-alone), the last softmax (pooled-words, regions).
#include "engine/networks/flow.h"
#include "engine/networks/text/text.h"

enum { LAYERS = 2 };

static void declare(const vd_config *c, vd_layout *layout)
{
    int w = vd_width_even(c);
    vd_flows_declare(layout, c, &(vd_flow_sizes){.layers = LAYERS, .model = 4 * w, .pool = 5 * w});
    vd_layout_score(layout, "encoder.flow.history.score", 3 * w, false);
    vd_layout_score(layout, "encoder.flow.regions.score", 3 * w, false);
}

// w1, w2, w3.
static void find_weights(vd_tape *tape, const vd_flow *flow, const vd_value *w[3])
{
    vd_value *all = vd_tape_vector(tape, vd_name_of("encoder.flow.%s.score.weight", flow->of).text);
    for (int i = 0; i < 3; i++)
        w[i] = vd_tape_columns(tape, all, i * all->columns / 3, all->columns / 3);
}

// w1 . C_j, a number a row.
static vd_value *own_scores(vd_tape *tape, const vd_flow *flow, const vd_value *w1, int questions)
{
    vd_value *w = vd_tape_repeat(tape, w1, questions, VD_AXIS_QUESTIONS);
    return vd_tape_dot(tape, flow->pool, w, flow->rows, 1);
}

// h, from the largest S of each row.
static vd_value *look_at_rows(vd_tape *tape, const vd_flow *flow, const vd_value *s,
                              const vd_value *own)
{
    vd_value *most = vd_tape_add(tape, own, vd_tape_max(tape, s));
    return vd_tape_mix(tape, vd_tape_attend(tape, most, flow->alone, 0), flow->rows);
}

static void explain(vd_tape *tape, const vd_flow *flow, const vd_value *u, const vd_value *h)
{
    const vd_explained history = {
        .title = "Attention flow: history",
        .why = "Every word of the history is compared with every word of the question and attends "
               "to those that match. The history words with the best matches are averaged.",
        .formula = {"S_ji = w . [C_j ; U_i ; C_j o U_i]", "u_j = sum_i softmax_i(S_ji) U_i",
                    "b = softmax_j(max_i S_ji), h = sum_j b_j C_j",
                    "G_j = [C_j ; u_j ; C_j o u_j ; C_j o h]"},
        .in = {{"C", "words of the history", flow->rows}},
        .out = {{"u", "the question, as each word sees it", u}, {"h", "of all words", h}}};
    const vd_explained regions = {
        .title = "Attention flow: regions",
        .why = "Every region is compared with every word of the question and attends to those that "
               "match. The regions with the best matches are averaged.",
        .formula = {"S_ki = w . [X_k ; U_i ; X_k o U_i]", "u_k = sum_i softmax_i(S_ki) U_i",
                    "b = softmax_k(max_i S_ki), h = sum_k b_k X_k",
                    "G_k = [X_k ; u_k ; X_k o u_k ; X_k o h]"},
        .in = {{"X", "the regions", flow->rows}},
        .out = {{"u", "the question, as each region sees it", u}, {"h", "of all regions", h}}};
    vd_tape_explain(tape, flow->axis == VD_AXIS_REGIONS ? &regions : &history);
}

// c, or x.
static vd_value *compare(vd_tape *tape, const vd_inputs *in, const vd_flows *f, const vd_flow *flow)
{
    const vd_pairing *p = vd_flow_pairing(tape, in, flow, 0, false);
    const vd_value *w[3], *c = flow->rows;
    find_weights(tape, flow, w);
    vd_value *s = vd_tape_add(tape, vd_tape_multiply(tape, c, w[2]), w[1]);
    s = vd_tape_dot(tape, p, s, f->words, 1);
    vd_value *u = vd_tape_mix(tape, vd_tape_attend(tape, s, flow->looks, 0), f->words);
    vd_value *own = own_scores(tape, flow, w[0], in->span->questions);
    vd_value *h = look_at_rows(tape, flow, s, own);
    const vd_value *const all[] = {c, u, vd_tape_multiply(tape, c, u),
                                   vd_tape_products(tape, flow->pool, h, c)};
    vd_value *g = vd_tape_concat_all(tape, all, 4);
    explain(tape, flow, u, h);
    vd_value *m = vd_flow_model(tape, in, flow, g, LAYERS);
    return vd_flow_pool(tape, in, flow, vd_tape_concat(tape, g, m), m);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    return vd_flows_build(tape, in, compare);
}

const vd_encoder vd_encoder_bidaf = {.name = "bidaf",
                                     .title = "bidirectional attention flow",
                                     .text = &vd_text_bilstm,
                                     .reads = "image dropout",
                                     .declare = declare,
                                     .build = build,
                                     .question_width = vd_width_even};

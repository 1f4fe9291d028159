#include "engine/networks/flow.h"

enum { READ_BOTH_WAYS = 2 };

void vd_flows_declare(vd_layout *layout, const vd_config *c, const vd_flow_sizes *sizes)
{
    int w = vd_width_even(c);
    vd_text_declare(layout, c, "encoder.ques_rnn", c->embed);
    vd_text_declare_states(layout, c, "encoder.hist_rnn", c->embed);
    vd_layout_linear(layout, "encoder.regions.image", c->region, w, true);
    vd_layout_recurrent(layout, "encoder.flow.history.model", 4, sizes->layers, READ_BOTH_WAYS,
                        sizes->model, w / READ_BOTH_WAYS);
    vd_layout_linear(layout, "encoder.flow.regions.model", sizes->model, w, true);
    vd_layout_score(layout, "encoder.flow.history.pool", sizes->pool, false);
    vd_layout_score(layout, "encoder.flow.regions.pool", sizes->pool, false);
    vd_layout_linear(layout, "encoder.out", 3 * w, c->hidden, true);
}

// ---- rows of questions --------------------------------------------------------------------------

vd_pairing *vd_flow_pairing(vd_tape *tape, const vd_inputs *in, const vd_flow *flow, int more,
                            bool back)
{
    int all = in->span->questions, more_rows = back ? more : 0;
    vd_pair_group *group =
        flow->pool ? vd_arena_take(tape->arena, (size_t)all, sizeof *group) : NULL;
    int rows = group ? flow->pool->key_rows + all * more_rows : 0;
    int words = in->question_words->tokens + all * more;
    for (int n = 0; n < all && group; n++) {
        vd_range row = flow->pool->group[n].key[0],
                 word = vd_inputs_seen(in, VD_AXIS_QUESTION_WORDS, n);
        vd_range of_rows = {row.first + n * more_rows, row.count + more_rows};
        vd_range of_words = {word.first + n * more, word.count + more};
        group[n].query = back ? of_words : of_rows;
        group[n].key[0] = back ? of_rows : of_words;
    }
    return vd_tape_pairing(tape, back ? VD_AXIS_QUESTION_WORDS : flow->axis, back ? words : rows,
                           back ? flow->axis : VD_AXIS_QUESTION_WORDS, back ? rows : words, group,
                           all, "what the questions look at");
}

void vd_flow_spread(vd_tape *tape, vd_inputs *in, const vd_value *x, vd_flow *flow)
{
    bool regions = flow->axis == VD_AXIS_REGIONS;
    const vd_pairing *seen =
        vd_inputs_pairing(tape, in, regions ? VD_SEES_REGIONS : VD_SEES_HISTORY_WORDS);
    flow->pool =
        vd_inputs_pairing(tape, in, regions ? VD_SEES_OWN_REGIONS : VD_SEES_OWN_HISTORY_WORDS);
    flow->rows =
        vd_tape_rows(tape, x, vd_tape_lists(tape, seen).key, seen ? seen->pairs : 0, flow->axis);
}

static void explain_texts(vd_tape *tape, const vd_inputs *in, const vd_flows *f)
{
    const vd_explained stage = {
        .title = "Words and regions",
        .why = "The question and every entry of the history are read word by word. The numbers of "
               "each region become a vector of the same size.",
        .formula = {"U, q = read(question), C = read(entries)", "X_k = tanh(W v_k + b)"},
        .in = {{"v", "regions", in->regions}},
        .out = {{"U", "words of the question", f->words},
                {"C", "words of the history", f->of[0].rows},
                {"X", "regions", f->of[1].rows}}};
    vd_tape_explain(tape, &stage);
}

static vd_flows begin(vd_tape *tape, vd_inputs *in)
{
    vd_flows f = {.of = {{.of = "history",
                          .looks = "history-words",
                          .alone = "words-alone",
                          .pooled = "pooled-words",
                          .axis = VD_AXIS_HISTORY_WORDS},
                         {.of = "regions",
                          .looks = "question-words",
                          .alone = "regions-alone",
                          .pooled = "regions",
                          .axis = VD_AXIS_REGIONS}}};
    f.q = vd_text_sentences(tape, in, vd_text_questions(in), in->dropout);
    f.words = in->states->question;
    vd_value *c = vd_text_states(tape, in, vd_text_entries(in), in->dropout);
    vd_value *x = vd_tanh_layer(tape, in->regions, "encoder.regions.image", 0);
    vd_flow_spread(tape, in, c, &f.of[0]);
    vd_flow_spread(tape, in, x, &f.of[1]);
    explain_texts(tape, in, &f);
    return f;
}

// ---- rows become one ----------------------------------------------------------------------------

vd_value *vd_flow_model(vd_tape *tape, const vd_inputs *in, const vd_flow *flow, const vd_value *g,
                        int layers)
{
    g = vd_tape_dropout(tape, g, in->dropout);
    if (flow->axis == VD_AXIS_REGIONS)
        return vd_tape_map(tape, VD_RELU, vd_tape_linear(tape, g, "encoder.flow.regions.model"));
    const vd_sequences s = {
        .packed = vd_inputs_sequences(tape, flow->pool), .x = g, .axis = flow->axis};
    if (tape->status != VD_OK)
        return &tape->nothing;
    return vd_tape_lstm(tape, &s, "encoder.flow.history.model", layers, READ_BOTH_WAYS,
                        in->lstm_dropout);
}

// alone: the share of a row is by M_j alone, else by G_j, too.
static void explain_pool(vd_tape *tape, const vd_flow *flow, bool alone, const vd_value *m,
                         const vd_value *sum)
{
    const vd_explained words = {
        .title = "The words become one vector",
        .why = "An LSTM reads the words of the history in order, with the results of the "
               "comparison. Each word gets a share; the weighted sum is what is recalled.",
        .formula = {"M = LSTMs(G)", alone ? "c = sum_j softmax_j(w . M_j) M_j"
                                          : "c = sum_j softmax_j(w . [G_j ; M_j]) M_j"},
        .in = {{"M", "words, read in order", m}},
        .out = {{"c", "what is recalled", sum}}};
    const vd_explained regions = {
        .title = "The regions become one vector",
        .why = "Each region, with the results of the comparison, gets a share; the weighted sum is "
               "what is seen.",
        .formula = {"M_k = relu(W G_k + b)", alone ? "x = sum_k softmax_k(w . M_k) M_k"
                                                   : "x = sum_k softmax_k(w . [G_k ; M_k]) M_k"},
        .in = {{"M", "regions with what was compared", m}},
        .out = {{"x", "what is seen", sum}}};
    vd_tape_explain(tape, flow->axis == VD_AXIS_REGIONS ? &regions : &words);
}

vd_value *vd_flow_pool(vd_tape *tape, const vd_inputs *in, const vd_flow *flow, const vd_value *s,
                       const vd_value *m)
{
    vd_value *score = vd_tape_linear(tape, vd_tape_dropout(tape, s, in->dropout),
                                     vd_name_of("encoder.flow.%s.pool", flow->of).text);
    score->pairing = flow->pool;
    vd_value *sum = vd_tape_mix(tape, vd_tape_attend(tape, score, flow->pooled, 0), m);
    explain_pool(tape, flow, s == m, m, sum);
    return sum;
}

// e of the two sums.
static vd_value *concat_layer(vd_tape *tape, const vd_inputs *in, const vd_flows *f,
                              const vd_value *const sum[VD_FLOWS])
{
    const vd_value *const all[] = {sum[0], sum[1], f->q};
    vd_value *e = vd_tanh_layer(tape, vd_tape_concat_all(tape, all, 3), "encoder.out", in->dropout);
    const vd_explained stage = {.title = "Fusion",
                                .why =
                                    "What is recalled, what is seen and the question are combined.",
                                .formula = {"e = tanh(W [c ; x ; q] + b)"},
                                .in = {{"c", "what is recalled", sum[0]},
                                       {"x", "what is seen", sum[1]},
                                       {"q", "the question", f->q}},
                                .out = {{"e", "all three", e}}};
    vd_tape_explain(tape, &stage);
    return e;
}

vd_value *vd_flows_build(vd_tape *tape, vd_inputs *in, vd_flow_compare *compare)
{
    const vd_flows f = begin(tape, in);
    const vd_value *sum[VD_FLOWS];
    for (int i = 0; i < VD_FLOWS; i++)
        sum[i] = compare(tape, in, &f, &f.of[i]);
    return concat_layer(tape, in, &f, sum);
}

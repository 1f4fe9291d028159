// Hierarchical recurrent encoder (Das et al. 2017), without attention and with.
//   i = W_i v + b, v = unit(mean of v_k), is joined to every word of the question; q_t is the end
//   of an LSTM over these, e_t the state of an LSTM over the rounds after [q_t ; h_t] (hre), h_t
//   the newest entry, or after [c_t ; q_t] (hrea), c_t = sum_{r<=t} a_tr h_r.
// The released code's score of rounds is w_q . q_t + w_h . h_r + b (score-rounds sum), in which the
// question cancels: its attention is the same whatever is asked. Ours is additive.
// Attention (hrea): a, question -> rounds.
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

static vd_scoring score_of(const vd_config *c)
{
    return vd_scoring_of(c, c->score_rounds, VD_SCORE_ADDITIVE, "encoder.rounds.score");
}

static void declare(const vd_config *c, vd_layout *layout)
{
    vd_layout_linear(layout, "encoder.image", c->region, c->embed, true);
    vd_text_declare(layout, c, "encoder.ques_rnn", 2 * c->embed);
    vd_text_declare(layout, c, "encoder.hist_rnn", c->embed);
    vd_layout_recurrent(layout, "encoder.dialog.rnn_model", 4, 1, 1, 2 * c->hidden, c->hidden);
}

static void declare_attention(const vd_config *c, vd_layout *layout)
{
    declare(c, layout);
    vd_score_declare(layout, score_of(c));
}

// q: the picture is read with every word.
static vd_value *read_questions(vd_tape *tape, vd_inputs *in)
{
    const vd_text text = vd_text_questions(in);
    vd_value *picture = vd_tape_dropout(tape, vd_inputs_picture(tape, in), in->dropout);
    picture = vd_tape_linear(tape, picture, "encoder.image");
    vd_value *beside = vd_tape_rows(tape, picture, text.packed->rows.owner, text.packed->tokens,
                                    VD_AXIS_QUESTION_WORDS);
    vd_value *words = vd_tape_concat(tape, vd_text_all_words(tape, in, text), beside);
    vd_value *q = vd_text_sentences_of(tape, in, text, words);
    const vd_explained stage = {
        .title = "Words, with the picture",
        .why = "The picture as a whole, made smaller, is joined to every word of the question. The "
               "question is read word by word; so is every entry of the history.",
        .formula = {"i = W_i unit(mean of v_k) + b, unit(x) = x / |x|",
                    "q = read([word ; i] of the question), h_r = read(entry r)"},
        .out = {{"i", "the picture", picture}, {"q", "the question and the picture", q}}};
    vd_tape_explain(tape, &stage);
    return q;
}

static vd_value *read_entries(vd_tape *tape, vd_inputs *in)
{
    return vd_text_sentences(tape, in, vd_text_entries(in), 0);
}

// The state after each round of a dialog, from a row a question.
static vd_value *read_rounds(vd_tape *tape, vd_inputs *in, const vd_value *x)
{
    const vd_sequences s = {.packed = vd_inputs_dialogs(tape, in, VD_AXIS_QUESTIONS),
                            .x = x,
                            .axis = VD_AXIS_QUESTIONS};
    return vd_tape_lstm(tape, &s, "encoder.dialog.rnn_model", 1, 1, 0);
}

static vd_value *over_rounds(vd_tape *tape, vd_inputs *in, const char *formula, const vd_value *x)
{
    vd_value *e = read_rounds(tape, in, x);
    const vd_explained stage = {.title = "Over the rounds",
                                .why = "An LSTM reads one round after another: its state after "
                                       "this one carries what the dialog was about.",
                                .formula = {formula, "e_t = LSTM(x_t, e_t-1)"},
                                .in = {{"x", "this round", x}},
                                .out = {{"e", "the dialog so far", e}}};
    vd_tape_explain(tape, &stage);
    return e;
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    vd_value *q = read_questions(tape, in);
    vd_value *h = vd_newest_entries(tape, in, read_entries(tape, in));
    return over_rounds(tape, in, "x_t = [q ; h], h the newest entry", vd_tape_concat(tape, q, h));
}

static vd_value *build_attention(vd_tape *tape, vd_inputs *in)
{
    const vd_scoring score = score_of(in->config);
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_ROUNDS);
    vd_value *q = read_questions(tape, in), *h = read_entries(tape, in);
    vd_value *c = vd_score_find(tape, score, p, q, h, h, 0, "rounds");
    const vd_explained stage = {.title = "Look back",
                                .why = "The question is compared with each entry of the history; "
                                       "the best matches are recalled.",
                                .formula = {vd_score_by_heads(score)
                                                ? "c = heads(q, h), as above"
                                                : "a = softmax_r(score(q, h_r)), c = sum_r a_r h_r",
                                            vd_score_formula(score)},
                                .in = {{"q", "the question", q}, {"h", "the entries", h}},
                                .out = {{"c", "what is recalled", c}}};
    vd_tape_explain(tape, &stage);
    return over_rounds(tape, in, "x_t = [c ; q]", vd_tape_concat(tape, c, q));
}

const vd_encoder vd_encoder_hre = {.name = "hre",
                                   .title = "hierarchical recurrent encoder",
                                   .reads_earlier = true,
                                   .text = &vd_text_lstm,
                                   .reads = "dropout",
                                   .declare = declare,
                                   .build = build,
                                   .question_width = vd_width_hidden};
const vd_encoder vd_encoder_hrea = {.name = "hrea",
                                    .title = "hierarchical recurrent encoder with attention",
                                    .reads_earlier = true,
                                    .text = &vd_text_lstm,
                                    .reads = "score-rounds dropout",
                                    .declare = declare_attention,
                                    .build = build_attention,
                                    .question_width = vd_width_hidden};

// Reasoning step by step: MAC (Hudson, Manning 2018) over the picture and, as a second base of
// knowledge, the dialog (Shah et al. 2020). w_s word states and q last states of the question
// (own: bidirectional LSTM); regions x_n = W_2 elu(W_1 v_n), v_n as the file has it; entries x_r =
// W_h h_r + age(t - r), r <= t. For steps i = 1..T, weights shared but for W_i:
//   control  u = W_cq [c_{i-1} ; W_i q + b] + b, c_i = sum_s softmax_s(w_a . (u o w_s)) w_s
//   read     I_n = (W_m m_{i-1} + b) o (W_k x_n + b), I'_n = elu(W_I I_n + W_x x_n + b),
//            r = sum_n softmax_n(w_r . elu(c_i o I'_n)) x_n, of regions and of entries apart
//   write    m_i = W_w [r ; r' ; m_{i-1}] + b
// e = W elu(W [q ; m_T] + b) + b. c_0, m_0 are trained.
// Attentions, index = step: question -> its words, regions, rounds.
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

enum { STEPS = 5, AGES = 64 };

static void declare_reader(vd_layout *layout, const char *of, int d)
{
    static const char *const part[] = {"memory", "key", "mix", "own"};
    for (int i = 0; i < 4; i++)
        vd_layout_linear(layout, vd_name_of("encoder.%s.read.%s", of, part[i]).text, d, d, i < 3);
    vd_layout_score(layout, vd_name_of("encoder.%s.read.score", of).text, d, false);
}

static void declare(const vd_config *c, vd_layout *layout)
{
    int d = vd_width_even(c);
    const vd_init start = {VD_INIT_NORMAL, 0.1};
    vd_texts_declare(c, layout);
    vd_layout_linear(layout, "encoder.regions.image.0", c->region, d, true);
    vd_layout_linear(layout, "encoder.regions.image.2", d, d, true);
    vd_layout_linear(layout, "encoder.rounds.entry", d, d, true);
    vd_layout_add(layout, "encoder.rounds.age", ".weight", false, AGES, d, start);
    vd_layout_add(layout, "encoder.control.start", "", false, 1, d, vd_init_zero());
    vd_layout_add(layout, "encoder.memory.start", "", false, 1, d, vd_init_zero());
    for (int i = 0; i < vd_hops(c, STEPS); i++)
        vd_layout_linear(layout, vd_name_of("encoder.control.question.%d", i).text, d, d, true);
    vd_layout_linear(layout, "encoder.control.join", 2 * d, d, true);
    vd_layout_score(layout, "encoder.control.score", d, false);
    declare_reader(layout, "regions", d);
    declare_reader(layout, "rounds", d);
    vd_layout_linear(layout, "encoder.memory.write", 3 * d, d, true);
    vd_layout_linear(layout, "encoder.out.0", 2 * d, d, true);
    vd_layout_linear(layout, "encoder.out.2", d, c->hidden, true);
}

// What is read: rows x, of which each query sees its own; what does not change from step to step.
typedef struct reader {
    const char *of;
    const vd_pairing *p;
    const vd_value *x, *key, *own;
} reader;

static vd_value *layer(vd_tape *tape, const reader *r, const char *part, const vd_value *x)
{
    return vd_tape_linear(tape, x, vd_name_of("encoder.%s.read.%s", r->of, part).text);
}

static reader make_reader(vd_tape *tape, const char *of, const vd_pairing *p, const vd_value *x)
{
    reader r = {.of = of, .p = p, .x = x};
    r.key = layer(tape, &r, "key", x);
    r.own = vd_tape_keys(tape, p, layer(tape, &r, "own", x));
    return r;
}

static vd_value *read(vd_tape *tape, const reader *r, const vd_value *control,
                      const vd_value *memory, int step)
{
    vd_value *i = vd_tape_products(tape, r->p, layer(tape, r, "memory", memory), r->key);
    i = vd_tape_map(tape, VD_ELU, vd_tape_add(tape, layer(tape, r, "mix", i), r->own));
    i = vd_tape_map(tape, VD_ELU, vd_tape_products(tape, r->p, control, i));
    vd_value *a = vd_tape_attend(tape, layer(tape, r, "score", i), r->of, step);
    return vd_tape_mix(tape, a, r->x);
}

static vd_value *control_step(vd_tape *tape, const vd_pairing *p, const vd_value *before,
                              const vd_value *q, const vd_value *words, int step)
{
    static const vd_scoring score = {.own = VD_SCORE_PRODUCT, .name = "encoder.control.score"};
    vd_value *now = vd_tape_linear(tape, q, vd_name_of("encoder.control.question.%d", step).text);
    vd_value *u = vd_tape_linear(tape, vd_tape_concat(tape, before, now), "encoder.control.join");
    vd_value *s = vd_score_pairs(tape, score, p, u, words, 0);
    return vd_tape_mix(tape, vd_tape_attend(tape, s, "question-words", step), words);
}

static void explain_texts(vd_tape *tape, const vd_inputs *in, const vd_value *q,
                          const reader *rounds, const reader *regions)
{
    const vd_explained stage = {
        .title = "Words, history and regions",
        .why = "The question and every entry of the history are read word by word; a vector for "
               "how long ago it was is added to an entry. The numbers of each region become a "
               "vector of the same size. c and m start as trained vectors.",
        .formula = {"q, w = read(question)", "x_r = W_h read(entry r) + b + age(t - r)",
                    "x_n = W_2 elu(W_1 v_n + b_1) + b_2"},
        .in = {{"v", "regions", in->raw}},
        .out = {{"q", "the question", q},
                {"x_r", "the entries of the history", rounds->x},
                {"x_n", "the regions", regions->x}}};
    vd_tape_explain(tape, &stage);
}

// found: of the regions, of the entries, and the memory before.
static void explain_step(vd_tape *tape, const vd_value *q, const vd_value *c,
                         const vd_value *const found[3], const vd_value *m)
{
    const vd_explained stage = {
        .title = "Control, read, write",
        .why = "Some words of the question control this step. Matching regions and entries are "
               "read, and what is found is written to the memory.",
        .formula = {"u = W [c before ; q_i] + b, q_i = W_i q + b_i in the i-th step",
                    "c = sum_s softmax_s(w . (u o w_s)) w_s",
                    "I_n = (W_m m before + b) o (W_k x_n + b), I'_n = elu(W_I I_n + b + W_x x_n)",
                    "r = sum_n softmax_n(w_r . elu(c o I'_n)) x_n, r' likewise of x_r",
                    "m = W [r ; r' ; m before] + b"},
        .in = {{"q", "the question", q}, {"m before", "the memory before", found[2]}},
        .out = {{"c", "what is asked now", c},
                {"r", "of the regions", found[0]},
                {"r'", "of the entries", found[1]},
                {"m", "the memory", m}}};
    vd_tape_explain(tape, &stage);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    vd_value *q = vd_text_sentences(tape, in, vd_text_questions(in), 0);
    vd_value *h = vd_text_sentences(tape, in, vd_text_entries(in), 0);
    const vd_value *words = in->states->question;
    vd_value *k = vd_tape_linear(tape, in->raw, "encoder.regions.image.0");
    k = vd_tape_linear(tape, vd_tape_map(tape, VD_ELU, k), "encoder.regions.image.2");
    vd_value *x = vd_aged_entries(tape, in, vd_tape_linear(tape, h, "encoder.rounds.entry"),
                                  "encoder.rounds.age.weight", 0);
    const reader regions =
        make_reader(tape, "regions", vd_inputs_pairing(tape, in, VD_SEES_REGIONS), k);
    const reader rounds =
        make_reader(tape, "rounds", vd_inputs_pairing(tape, in, VD_SEES_OWN_ROUNDS), x);
    explain_texts(tape, in, q, &rounds, &regions);
    const vd_pairing *own = vd_inputs_pairing(tape, in, VD_SEES_OWN_WORDS);
    const vd_value *c = vd_tape_repeat(tape, vd_tape_vector(tape, "encoder.control.start"), q->rows,
                                       VD_AXIS_QUESTIONS);
    const vd_value *m = vd_tape_repeat(tape, vd_tape_vector(tape, "encoder.memory.start"), q->rows,
                                       VD_AXIS_QUESTIONS);
    for (int i = 0; i < vd_hops(in->config, STEPS); i++) {
        c = control_step(tape, own, c, q, words, i);
        const vd_value *const found[] = {read(tape, &regions, c, m, i),
                                         read(tape, &rounds, c, m, i), m};
        m = vd_tape_linear(tape, vd_tape_concat_all(tape, found, 3), "encoder.memory.write");
        explain_step(tape, q, c, found, m);
    }
    vd_value *e = vd_tape_dropout(tape, vd_tape_concat(tape, q, m), in->dropout);
    e = vd_tape_map(tape, VD_ELU, vd_tape_linear(tape, e, "encoder.out.0"));
    e = vd_tape_linear(tape, e, "encoder.out.2");
    vd_explain_vector(tape, "e = W_2 elu(W_1 [q ; m] + b_1) + b_2", q,
                      (vd_named){"m", "the memory", m}, e);
    return e;
}

const vd_encoder vd_encoder_mac = {.name = "mac",
                                   .title = "memory, attention and composition",
                                   .text = &vd_text_bilstm,
                                   .reads = "hops dropout",
                                   .declare = declare,
                                   .build = build,
                                   .question_width = vd_width_even,
                                   .part = "step"};

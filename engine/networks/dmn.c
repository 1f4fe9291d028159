// Dynamic memory network, DMN+ (Xiong et al. 2016). q is the end of a one-way GRU over the
// question. Facts are states of a two-way GRU, both directions added, over
//   entries 0..t, each the sum of its words weighted by position (vd_sums in parts.h): f_r. With a
//   text encoder chosen, that reads the question and the entries tanh(W v_n + b) of the regions, in
//   the file's order (the paper's grid is read in snakes): f'_n
// m^0 = q. For hops k = 1..K, an episode over each kind of facts:
//   g = softmax_j(w . tanh(W z_j + b)), z_j = [f_j o q ; f_j o m ; |f_j - q| ; |f_j - m|]
//   h_j = g_j h~_j + (1 - g_j) h_{j-1}, h_0 = 0, h~_j as in a GRU without update gate
//   c, c': the last h of entries, of regions; m <- relu(W^k [m ; c ; c' ; q] + b)
// e = tanh(W [m ; q] + b). Only W^k differs from hop to hop.
//
// Two episodes side by side are ours: one over both kinds would always read the regions last. The
// backward GRU of the entries starts at entry t: facts depend on the round. To this network the
// order of regions matters. A released version takes the softmax of g over the batch; its L2 and
// the first DMN (nine features, sigmoid gate) are left out. Dropout is on facts and before e.
// Attentions, index = hop: question -> rounds, regions (g).
#include "engine/networks/parts.h"
#include "engine/networks/text/text.h"

enum { HOPS = 3 };

// One layer of GRUs.
static void declare_gru(vd_layout *layout, const char *name, int directions, int in, int hidden)
{
    vd_layout_recurrent(layout, name, 3, 1, directions, in, hidden);
}

static void declare_episode(vd_layout *layout, const char *of, int h)
{
    vd_layout_linear(layout, vd_name_of("encoder.memory.%s.score.0", of).text, 4 * h, h, true);
    vd_layout_score(layout, vd_name_of("encoder.memory.%s.score.2", of).text, h, false);
    vd_layout_linear(layout, vd_name_of("encoder.memory.%s.gru.input", of).text, h, 2 * h, true);
    vd_layout_linear(layout, vd_name_of("encoder.memory.%s.gru.state", of).text, h, 2 * h, true);
}

static void declare(const vd_config *c, vd_layout *layout)
{
    int h = c->hidden;
    vd_text_declare(layout, c, "encoder.question", c->embed);
    if (c->text != VD_TEXT_OWN)
        vd_text_declare(layout, c, "encoder.hist_rnn", c->embed);
    declare_gru(layout, "encoder.entries.rnn_model", 2, vd_width_summed(c), h);
    vd_layout_linear(layout, "encoder.regions.image", c->region, h, true);
    declare_gru(layout, "encoder.regions.rnn_model", 2, h, h);
    declare_episode(layout, "entries", h);
    declare_episode(layout, "regions", h);
    for (int k = 0; k < vd_hops(c, HOPS); k++)
        vd_layout_linear(layout, vd_name_of("encoder.memory.update.%d", k).text, 4 * h, h, true);
    vd_layout_linear(layout, "encoder.out", 2 * h, h, true);
}

// ---- facts --------------------------------------------------------------------------------------

// One kind of facts, a row for each pair of a question and what it sees.
typedef struct facts {
    const char *of, *shown; // in names of parameters, of attentions
    const vd_pairing *p;
    const vd_packed *sequences; // those of each question
    const vd_value *f;
    const vd_value *with_q, *from_q; // f o q, |f - q|
} facts;

static vd_value *distances(vd_tape *tape, const facts *s, const vd_value *x)
{
    vd_value *less = vd_tape_queries(tape, s->p, vd_tape_scale(tape, x, -1));
    return vd_tape_map(tape, VD_ABSOLUTE, vd_tape_add(tape, s->f, less));
}

static facts make_facts(vd_tape *tape, const char *of, const char *shown, const vd_pairing *p,
                        const vd_value *f, const vd_value *q)
{
    facts s = {.of = of, .shown = shown, .p = p, .f = vd_tape_keys(tape, p, f)};
    s.sequences = vd_inputs_sequences(tape, p);
    s.with_q = vd_tape_products(tape, p, q, s.f);
    s.from_q = distances(tape, &s, q);
    return s;
}

// States of both directions, added.
static vd_value *read_both_ways(vd_tape *tape, const vd_inputs *in, const vd_sequences *s,
                                const char *name)
{
    int h = in->config->hidden;
    vd_value *y = vd_tape_gru(tape, s, name, 1, 2, 0);
    y = vd_tape_add(tape, vd_tape_columns(tape, y, 0, h), vd_tape_columns(tape, y, h, h));
    return vd_tape_dropout(tape, y, in->dropout);
}

static vd_value *read_sentences(vd_tape *tape, vd_inputs *in)
{
    const vd_text entries = vd_text_entries(in);
    if (in->config->text != VD_TEXT_OWN)
        return vd_text_sentences(tape, in, entries, 0);
    const vd_sums sums = vd_sums_of(tape, in, entries);
    return vd_sums_take(tape, in, &sums, "encoder.word_embed.weight");
}

static facts read_entries(vd_tape *tape, vd_inputs *in, const vd_value *q)
{
    const vd_pairing *seen = vd_inputs_pairing(tape, in, VD_SEES_ROUNDS),
                     *own = vd_inputs_pairing(tape, in, VD_SEES_OWN_ROUNDS);
    const vd_sequences s = {.packed = vd_inputs_sequences(tape, own),
                            .x = read_sentences(tape, in),
                            .row = vd_tape_lists(tape, seen).key,
                            .axis = VD_AXIS_PAIRS};
    vd_value *f = read_both_ways(tape, in, &s, "encoder.entries.rnn_model");
    return make_facts(tape, "entries", "rounds", own, f, q);
}

static facts read_regions(vd_tape *tape, vd_inputs *in, const vd_value *q)
{
    const vd_sequences s = {
        .packed = vd_inputs_sequences(tape, vd_inputs_pairing(tape, in, VD_SEES_PICTURE)),
        .x = vd_tanh_layer(tape, in->regions, "encoder.regions.image", 0),
        .axis = VD_AXIS_REGIONS};
    vd_value *f = read_both_ways(tape, in, &s, "encoder.regions.rnn_model");
    return make_facts(tape, "regions", "regions", vd_inputs_pairing(tape, in, VD_SEES_REGIONS), f,
                      q);
}

// ---- episodes -----------------------------------------------------------------------------------

static vd_value *layer(vd_tape *tape, const facts *s, const char *part, const vd_value *x)
{
    return vd_tape_linear(tape, x, vd_name_of("encoder.memory.%s.%s", s->of, part).text);
}

// c: the facts read one after the other, as far as the gate lets them in.
static vd_value *read_facts(vd_tape *tape, const facts *s, const vd_value *m, int hop)
{
    const vd_value *const z[] = {s->with_q, vd_tape_products(tape, s->p, m, s->f), s->from_q,
                                 distances(tape, s, m)};
    vd_value *y =
        vd_tape_map(tape, VD_TANH, layer(tape, s, "score.0", vd_tape_concat_all(tape, z, 4)));
    vd_value *g = vd_tape_attend(tape, layer(tape, s, "score.2", y), s->shown, hop);
    vd_value *states = vd_tape_gated_gru(tape, s->f, g, s->sequences,
                                         vd_name_of("encoder.memory.%s.gru", s->of).text);
    return vd_tape_last_states(tape, states, s->sequences, 1, VD_AXIS_QUESTIONS);
}

static void explain_facts(vd_tape *tape, const vd_inputs *in, const vd_value *q,
                          const facts *entries, const facts *regions)
{
    const vd_explained stage = {
        .title = "Question and facts",
        .why = "The question is read word by word. Every entry is a sum of its words, or what a "
               "text encoder makes of it. Entries and regions are then read in order, forwards "
               "and backwards: the states are the facts.",
        .formula = {in->config->text == VD_TEXT_OWN
                        ? "q = read(question), s_r = sum_j l_j o x_rj, l_j by a word's place"
                        : "q = read(question), s_r = read(entry r)",
                    "f_r = forward + backward state at r of GRUs over s_0..s_t",
                    "f'_n = the same over tanh(W v_n + b), in the file's order"},
        .in = {{"v", "regions", in->regions}},
        .out = {{"q", "the question", q},
                {"f", "facts: the entries", entries->f},
                {"f'", "facts: the regions", regions->f}}};
    vd_tape_explain(tape, &stage);
}

static void explain_episode(vd_tape *tape, const vd_value *before, const vd_value *c,
                            const vd_value *seen, const vd_value *m)
{
    const vd_explained stage = {
        .title = "Read the facts again",
        .why = "Entries and regions are read in order. The question and what is known so far "
               "decide how much of each enters the memory.",
        .formula = {"z_j = [f_j o q ; f_j o m before ; |f_j - q| ; |f_j - m before|]",
                    "g = softmax_j(w . tanh(W z_j + b)), h_j = g_j h~_j + (1 - g_j) h_j-1",
                    ("h~_j = tanh(W_n f_j + b + r o (U_n h_j-1 + b')), r = sigmoid(W_r f_j + b + "
                     "U_r h_j-1 + b')"),
                    "c = the last h, c' that of the regions",
                    "m = relu(W_k [m before ; c ; c' ; q] + b_k) in the k-th hop"},
        .in = {{"m before", "what is known", before}},
        .out = {{"c", "of the entries", c},
                {"c'", "of the regions", seen},
                {"m", "what is known now", m}}};
    vd_tape_explain(tape, &stage);
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    vd_text asked = vd_text_questions(in);
    asked.name = "encoder.question";
    const vd_value *q = vd_text_sentences(tape, in, asked, 0), *m = q;
    const facts entries = read_entries(tape, in, q), regions = read_regions(tape, in, q);
    explain_facts(tape, in, q, &entries, &regions);
    for (int k = 0; k < vd_hops(in->config, HOPS); k++) {
        const vd_value *c = read_facts(tape, &entries, m, k),
                       *seen = read_facts(tape, &regions, m, k);
        const vd_value *const all[] = {m, c, seen, q}, *before = m;
        m = vd_tape_map(tape, VD_RELU,
                        vd_tape_linear(tape, vd_tape_concat_all(tape, all, 4),
                                       vd_name_of("encoder.memory.update.%d", k).text));
        explain_episode(tape, before, c, seen, m);
    }
    const vd_value *all = vd_tape_concat(tape, m, q);
    vd_value *e = vd_tanh_layer(tape, all, "encoder.out", in->dropout);
    vd_explain_vector(tape, "e = tanh(W [m ; q] + b)", q, (vd_named){"m", "what is known", m}, e);
    return e;
}

const vd_encoder vd_encoder_dmn = {.name = "dmn",
                                   .title = "dynamic memory network",
                                   .text = &vd_text_gru_layer,
                                   .reads = "image hops dropout",
                                   .declare = declare,
                                   .build = build,
                                   .question_width = vd_width_hidden,
                                   .history_width = vd_width_summed,
                                   .part = "hop"};

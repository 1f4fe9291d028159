// End-to-end memory network (Sukhbaatar et al. 2015). Memories are the entries of the history and,
// ours, the regions. A sentence is the sum of its words, each weighted by its position: l_j o A x_j
// (parts.h); or, with a text encoder chosen, A s, s what that makes of it. u starts as the
// question's sum. For hops k = 1..K:
//   p = softmax_r(u . m_r), m_r = sum_j l_j o A^k x_rj + T_A^k(t - r), entries r <= t
//   p' = softmax_n(u . M_A^k v_n)
//   u <- u + sum_r p_r c_r + sum_n p'_n M_C^k v_n, c_r like m_r with C^k, T_C^k
// e = tanh(W u + b). T counts back from the newest entry, at most 63.
//
// Tables, by the setting tying: adjacent, A^{k+1} = C^k, T and M likewise; or layer-wise, one A, C,
// T_A, T_C, M_A, M_C for all hops, and H u + ... in place of u + ... A^1 is the embedding of all
// words, the question's too (layer-wise, the paper leaves the question's table free).
//
// In released code all tables start as N(0, 0.1), and J of l_j is the longest sentence of the data.
// Here the embedding, which candidates share, starts as everywhere, and J is the sentence's own
// length. As there, training makes entries older by empty memories at random (random-time); first
// epochs without softmax in the hops (linear-start) are none unless asked for. There is no dropout.
// Attentions, index = hop: question -> rounds, regions.
#include "engine/networks/parts.h"

enum { HOPS = 3, MOST_HOPS = 16, AGES = 64 };

static const char SQUARE[] = "encoder.memory.between"; // H

static bool adjacent(const vd_config *c)
{
    return c->tying == VD_TYING_ADJACENT;
}

// How many tables of each kind there are: A^1, then each C.
static int tables_of(const vd_config *c)
{
    return adjacent(c) ? vd_hops(c, HOPS) + 1 : 2;
}

static void declare(const vd_config *c, vd_layout *layout)
{
    int e = c->embed;
    bool sums = c->text == VD_TEXT_OWN;
    if (!sums)
        vd_texts_declare(c, layout);
    for (int k = 0; k < tables_of(c); k++) {
        const vd_name words = vd_name_of("encoder.memory.words.%d", k);
        if (!sums)
            vd_layout_linear(layout, words.text, c->hidden, c->embed, false);
        else if (k > 0) // the first is the embedding
            vd_layout_add(layout, words.text, ".weight", true, c->vocab, e,
                          (vd_init){VD_INIT_WORDS, 0.1});
        vd_layout_add(layout, vd_name_of("encoder.memory.time.%d", k).text, ".weight", false, AGES,
                      e, (vd_init){VD_INIT_NORMAL, 0.1});
        vd_layout_linear(layout, vd_name_of("encoder.memory.image.%d", k).text, c->region, c->embed,
                         false);
    }
    if (!adjacent(c))
        vd_layout_linear(layout, SQUARE, c->embed, c->embed, false);
    vd_layout_linear(layout, "encoder.out", c->embed, c->hidden, true);
}

// Questions or entries: words to be summed, or (s) what a text encoder makes of them.
typedef struct sentences {
    vd_sums sums;
    const vd_value *s;
} sentences;

static sentences read_text(vd_tape *tape, const vd_inputs *in, vd_text text)
{
    if (in->config->text == VD_TEXT_OWN)
        return (sentences){.sums = vd_sums_of(tape, in, text)};
    return (sentences){.s = vd_text_sentences(tape, in, text, 0)};
}

// By the k-th table.
static vd_value *take(vd_tape *tape, const vd_inputs *in, const sentences *of, int k)
{
    const vd_name words = vd_name_of("encoder.memory.words.%d", k);
    const vd_name table = vd_name_of("%s.weight", k ? words.text : "encoder.word_embed");
    return of->s ? vd_tape_linear(tape, of->s, words.text)
                 : vd_sums_take(tape, in, &of->sums, table.text);
}

// Both memories as one set of tables gives them.
typedef struct memory {
    const vd_value *entries; // (pairs of questions and entries, E)
    const vd_value *regions; // (K, E)
} memory;

static memory remember(vd_tape *tape, vd_inputs *in, const sentences *entries, int k)
{
    memory m;
    m.entries =
        vd_aged_entries(tape, in, take(tape, in, entries, k),
                        vd_name_of("encoder.memory.time.%d.weight", k).text, in->random_time);
    m.regions = vd_tape_linear(tape, in->regions, vd_name_of("encoder.memory.image.%d", k).text);
    return m;
}

// What u finds: compared with `keys`, mixed from `values`.
static vd_value *look(vd_tape *tape, vd_inputs *in, vd_usual_pairing sight, int hop,
                      const vd_value *u, const vd_value *keys, const vd_value *values)
{
    const char *name = sight == VD_SEES_REGIONS ? "regions" : "rounds";
    vd_value *s = vd_tape_dot(tape, vd_inputs_pairing(tape, in, sight), u, keys, 1);
    return vd_tape_mix(tape, in->linear ? s : vd_tape_attend(tape, s, name, hop), values);
}

static void explain_texts(vd_tape *tape, const vd_inputs *in, const vd_value *u)
{
    bool sums = in->config->text == VD_TEXT_OWN;
    const vd_explained stage = {
        .title = "The question and the memories",
        .why = "The question is the first query. Entries (with how long ago they were) and regions "
               "are the memories: two vectors each, one to compare with, one to take.",
        .formula = {sums ? "u = sum_j l_j o A_1 x_j, x_j words of the question, l_j by their place"
                         : "u = A_1 read(question)",
                    sums ? "m_r = sum_j l_j o A x_rj + T_A(t - r), c_r = sum_j l_j o C x_rj + "
                           "T_C(t - r)"
                         : "m_r = A read(entry r) + T_A(t - r), c_r = C read(entry r) + T_C(t - r)",
                    adjacent(in->config)
                        ? "A, T_A, M_A of each hop are C, T_C, M_C of the one before"
                        : "A, C, T, M are the same in all hops"},
        .in = {{"v", "regions", in->regions}},
        .out = {{"u", "what is asked", u}}};
    vd_tape_explain(tape, &stage);
}

static void explain_hop(vd_tape *tape, const vd_config *c, const vd_value *u, const vd_value *found,
                        const vd_value *seen, const vd_value *next)
{
    const vd_explained stage = {
        .title = "Ask the memories",
        .why = "The query is compared with every entry and every region. "
               "What matches is added to it; the sum is the next query.",
        .formula = {"p = softmax_r(u before . m_r), o = sum_r p_r c_r",
                    "p' = softmax_n(u before . M_A v_n), o' = sum_n p'_n "
                    "M_C v_n",
                    adjacent(c) ? "u = u before + o + o'" : "u = H u before + o + o'"},
        .in = {{"u before", "what is asked", u}},
        .out = {{"o", "of the entries", found},
                {"o'", "of the regions", seen},
                {"u", "what is asked next", next}}};
    vd_tape_explain(tape, &stage);
}

static const vd_value *hop(vd_tape *tape, vd_inputs *in, int k, const memory *a, const memory *c,
                           const vd_value *u)
{
    const vd_value *o = look(tape, in, VD_SEES_OWN_ROUNDS, k, u, a->entries, c->entries);
    const vd_value *seen = look(tape, in, VD_SEES_REGIONS, k, u, a->regions, c->regions);
    const vd_value *kept = adjacent(in->config) ? u : vd_tape_linear(tape, u, SQUARE);
    const vd_value *next = vd_tape_add(tape, vd_tape_add(tape, kept, o), seen);
    explain_hop(tape, in->config, u, o, seen, next);
    return next;
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    const sentences questions = read_text(tape, in, vd_text_questions(in)),
                    entries = read_text(tape, in, vd_text_entries(in));
    const vd_value *u = take(tape, in, &questions, 0);
    memory m[MOST_HOPS + 1] = {0};
    explain_texts(tape, in, u);
    for (int k = 0; k < tables_of(in->config); k++)
        m[k] = remember(tape, in, &entries, k);
    for (int k = 0; k < vd_hops(in->config, HOPS); k++) {
        int from = adjacent(in->config) ? k : 0;
        u = hop(tape, in, k, &m[from], &m[from + 1], u);
    }
    vd_value *e = vd_tanh_layer(tape, u, "encoder.out", 0);
    vd_explain_vector(tape, "e = tanh(W u + b)", NULL, (vd_named){"u", "what is asked", u}, e);
    return e;
}

const vd_encoder vd_encoder_memn2n = {.name = "memn2n",
                                      .title = "end-to-end memory network",
                                      .reads = "image hops tying random-time linear-start",
                                      .declare = declare,
                                      .build = build,
                                      .question_width = vd_width_summed,
                                      .part = "hop"};

#include "engine/networks/parts.h"

#include <math.h>

#include "engine/networks/batch.h"
#include "engine/networks/text/layers.h"

// ---- texts --------------------------------------------------------------------------------------

vd_text vd_text_questions(const vd_inputs *in)
{
    return (vd_text){"encoder.ques_rnn", in->question_words, VD_AXIS_QUESTION_WORDS,
                     VD_AXIS_QUESTIONS};
}

vd_text vd_text_entries(const vd_inputs *in)
{
    return (vd_text){"encoder.hist_rnn", in->history_words, VD_AXIS_HISTORY_WORDS, VD_AXIS_ENTRIES};
}

static const char WORDS[] = "encoder.word_embed.weight";

// The words at `id`, at the positions `position`, and dropout where these were added.
static vd_value *embed(vd_tape *tape, const vd_inputs *in, const char *words, const int32_t *id,
                       const int *position, int rows, vd_axis axis)
{
    vd_value *x = vd_tape_embed(tape, words, id, rows, axis);
    vd_positions positions = in->config->positions;
    vd_value *table = NULL;
    if (positions == VD_POSITIONS_LEARNED)
        table = vd_tape_vector(tape, "encoder.position.weight");
    else if (positions == VD_POSITIONS_SINUSOIDAL)
        table =
            vd_tape_constant(tape, VD_AXIS_NONE, in->sinusoid, VD_MAX_HISTORY, in->config->embed);
    if (!table)
        return x;
    x = vd_tape_add(tape, x, vd_tape_rows(tape, table, position, rows, axis));
    return vd_tape_dropout(tape, x, in->position_dropout);
}

// Positions of words in their own entry, whatever stands before it.
static const vd_packed *places_of(const vd_inputs *in, vd_text text)
{
    return text.words == VD_AXIS_HISTORY_WORDS ? in->history_words : text.packed;
}

vd_value *vd_text_all_words(vd_tape *tape, const vd_inputs *in, vd_text text)
{
    const vd_packed *p = places_of(in, text);
    return embed(tape, in, WORDS, p->rows.id, p->rows.position, p->tokens, text.words);
}

// Word vectors, with positions where the configuration has them: the distinct ones and which of
// them a word is.
static vd_sequences text_words(vd_tape *tape, const vd_inputs *in, vd_text text)
{
    const vd_packed *p = places_of(in, text);
    vd_sequences s = {.packed = text.packed, .axis = text.words, .x = &tape->nothing};
    vd_distinct_words words;
    vd_error err;
    bool placed = in->config->positions == VD_POSITIONS_SINUSOIDAL ||
                  in->config->positions == VD_POSITIONS_LEARNED;
    if (tape->status != VD_OK)
        return s;
    // Dropout makes equal words differ; and to send a device what is distinct takes its time.
    if ((placed && in->position_dropout != 0) || !tape->be->memory->host) {
        s.x = vd_text_all_words(tape, in, text);
        return s;
    }
    if (vd_packed_distinct(p, in->config->vocab, placed, tape->arena, &words, &err) != VD_OK) {
        vd_tape_fail(tape, err.status, "%s", err.text);
        return s;
    }
    s.x = embed(tape, in, WORDS, words.id, words.position, words.count, VD_AXIS_NONE);
    s.row = words.word;
    return s;
}

void vd_text_declare_states(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    vd_text_encoder_of(config)->declare(layout, config, name, in);
}

void vd_text_declare(vd_layout *layout, const vd_config *config, const char *name, int in)
{
    vd_text_declare_states(layout, config, name, in);
    if (!vd_text_encoder_of(config)->directions)
        vd_text_declare_pool(layout, config, name);
}

void vd_texts_declare(const vd_config *config, vd_layout *layout)
{
    vd_text_declare(layout, config, "encoder.ques_rnn", config->embed);
    vd_text_declare(layout, config, "encoder.hist_rnn", config->embed);
}

// The same with dropout, where there is any.
static vd_sequences dropped_words(vd_tape *tape, const vd_inputs *in, vd_text text, vd_real dropout)
{
    if (dropout == 0)
        return text_words(tape, in, text);
    return (vd_sequences){.packed = text.packed,
                          .x = vd_tape_dropout(tape, vd_text_all_words(tape, in, text), dropout),
                          .axis = text.words};
}

int vd_width_hidden(const vd_config *config)
{
    return config->hidden;
}

int vd_width_even(const vd_config *config)
{
    return 2 * ((config->hidden + 1) / 2);
}

int vd_width_summed(const vd_config *config)
{
    return config->text == VD_TEXT_OWN ? config->embed : config->hidden;
}

int vd_width_concatenated(const vd_config *config)
{
    return vd_text_encoder_of(config)->directions == 1 ? config->hidden : config->embed;
}

static vd_value *states_of(vd_tape *tape, const vd_inputs *in, vd_text text,
                           const vd_sequences *words)
{
    vd_value *states = vd_text_encoder_of(in->config)->states(tape, in, words, text.name);
    *(text.words == VD_AXIS_QUESTION_WORDS ? &in->states->question : &in->states->history) = states;
    return states;
}

vd_value *vd_text_states(vd_tape *tape, const vd_inputs *in, vd_text text, vd_real dropout)
{
    const vd_sequences words = dropped_words(tape, in, text, dropout);
    return states_of(tape, in, text, &words);
}

vd_value *vd_text_pool_states(vd_tape *tape, const vd_inputs *in, vd_text text,
                              const vd_value *states)
{
    int directions = vd_text_encoder_of(in->config)->directions;
    if (tape->status != VD_OK)
        return &tape->nothing;
    if (directions)
        return vd_tape_last_states(tape, states, text.packed, directions, text.sentences);
    return vd_text_pool(tape, text.packed, text.sentences, states, text.name);
}

vd_value *vd_text_sentences(vd_tape *tape, const vd_inputs *in, vd_text text, vd_real dropout)
{
    return vd_text_pool_states(tape, in, text, vd_text_states(tape, in, text, dropout));
}

vd_value *vd_text_sentences_of(vd_tape *tape, const vd_inputs *in, vd_text text, const vd_value *x)
{
    const vd_sequences words = {.packed = text.packed, .x = x, .axis = text.words};
    return vd_text_pool_states(tape, in, text, states_of(tape, in, text, &words));
}

// ---- sums of words ------------------------------------------------------------------------------

// l of one word: position j of J words, counted from 0.
static void weigh_position(vd_real *l, int embed, int j, int words)
{
    double right = (double)j + 1 - ((double)words + 1) / 2;
    for (int i = 0; i < embed; i++) {
        double up = (double)i + 1 - ((double)embed + 1) / 2;
        l[i] = (vd_real)(1 + 4 * up * right / ((double)embed * (double)words));
    }
}

static const vd_value *weigh_positions(vd_tape *tape, const vd_packed *p, int embed, vd_axis axis)
{
    size_t columns = (size_t)embed, n = (size_t)p->tokens * columns;
    vd_real *l = vd_arena_take_raw(tape->arena, n, sizeof *l);
    for (int t = 0; t < p->tokens && l; t++)
        weigh_position(l + (size_t)t * columns, embed, p->position[t], p->length[p->owner[t]]);
    return vd_tape_given(tape, axis, l, p->tokens, embed);
}

const vd_value *vd_ones(vd_tape *tape, const vd_pairing *p)
{
    int pairs = p ? p->pairs : 0;
    vd_real *one = p ? vd_arena_take_raw(tape->arena, (size_t)pairs, sizeof *one) : NULL;
    for (int i = 0; one && i < pairs; i++)
        one[i] = 1;
    return vd_tape_given_pairs(tape, p, one);
}

vd_sums vd_sums_of(vd_tape *tape, const vd_inputs *in, vd_text text)
{
    return (vd_sums){
        .text = text,
        .position = weigh_positions(tape, text.packed, in->config->embed, text.words),
        .all = vd_ones(tape, vd_text_pairing(tape, text.packed, text.sentences, text.words))};
}

vd_value *vd_sums_take(vd_tape *tape, const vd_inputs *in, const vd_sums *sums, const char *table)
{
    const vd_packed *p = sums->text.packed;
    vd_value *x = embed(tape, in, table, p->rows.id, p->rows.position, p->tokens, sums->text.words);
    return vd_tape_mix(tape, sums->all, vd_tape_multiply(tape, x, sums->position));
}

// ---- rows of entries ----------------------------------------------------------------------------

// Ages of entries, oldest first, among as many empty ones as are drawn for the question.
static void draw_ages(vd_rng rng, int entries, vd_real random, int *age)
{
    // Less what a float's rounding may add.
    int empty = vd_rng_below(&rng, 1 + (int)ceil((double)random * entries - 1e-4));
    for (int left = entries, all = entries + empty; left > 0; all--)
        if (vd_rng_below(&rng, all) < left) { // it is one of those left
            *age++ = all - 1;
            left--;
        }
}

vd_value *vd_aged_entries(vd_tape *tape, vd_inputs *in, const vd_value *entries, const char *ages,
                          vd_real random)
{
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_ROUNDS);
    const vd_value *table = vd_tape_vector(tape, ages);
    int pairs = p ? p->pairs : 0;
    int *age = p ? vd_arena_ints(tape->arena, (size_t)pairs) : NULL;
    for (int n = 0, pair = 0; n < in->span->questions && age; pair += in->span->seen[n++])
        draw_ages(vd_rng_seed(tape->key, (uint64_t)n), in->span->seen[n], random, age + pair);
    for (int i = 0; i < pairs && age; i++)
        age[i] = age[i] < table->rows ? age[i] : table->rows - 1;
    return vd_tape_add(tape, vd_tape_keys(tape, p, entries),
                       vd_tape_choose(tape, table, age, pairs, VD_AXIS_PAIRS));
}

vd_value *vd_newest_entries(vd_tape *tape, const vd_inputs *in, const vd_value *entries)
{
    const vd_geometry *span = in->span;
    int *newest = vd_arena_ints(tape->arena, (size_t)span->questions);
    for (int n = 0; n < span->questions && newest; n++)
        newest[n] = span->entry_start[span->dialog[n]] + span->seen[n] - 1;
    return vd_tape_choose(tape, entries, newest, span->questions, VD_AXIS_QUESTIONS);
}

// One run over a dialog, read at the end of each entry.
static vd_value *read_once(vd_tape *tape, const vd_inputs *in)
{
    const vd_geometry *span = in->span;
    vd_text text = vd_text_entries(in);
    text.packed = vd_inputs_dialogs(tape, in, VD_AXIS_HISTORY_WORDS);
    text.sentences = VD_AXIS_DIALOGS;
    int *end = vd_arena_ints(tape->arena, (size_t)span->questions);
    vd_value *states = vd_text_states(tape, in, text, 0);
    for (int n = 0; n < span->questions && end; n++) {
        vd_range words = vd_inputs_seen(in, VD_AXIS_HISTORY_WORDS, n);
        end[n] = words.count ? words.first + words.count - 1 : -1;
    }
    return vd_tape_choose(tape, states, end, span->questions, VD_AXIS_QUESTIONS);
}

// A run over what each question sees.
static vd_value *read_each(vd_tape *tape, vd_inputs *in)
{
    const vd_pairing *seen = vd_inputs_pairing(tape, in, VD_SEES_HISTORY_WORDS);
    const vd_text entries = vd_text_entries(in),
                  concatenated = {entries.name, vd_inputs_sequences(tape, seen), VD_AXIS_PAIRS,
                                  VD_AXIS_QUESTIONS};
    const vd_sequences words = {.packed = concatenated.packed,
                                .x = vd_text_all_words(tape, in, entries),
                                .row = vd_tape_lists(tape, seen).key,
                                .axis = VD_AXIS_PAIRS};
    if (tape->status != VD_OK)
        return &tape->nothing;
    vd_value *states = vd_text_encoder_of(in->config)->states(tape, in, &words, entries.name);
    return vd_text_pool_states(tape, in, concatenated, states);
}

vd_value *vd_read_concatenated(vd_tape *tape, vd_inputs *in, vd_value **history)
{
    bool one_way = vd_text_encoder_of(in->config)->directions == 1;
    vd_value *q = vd_text_sentences(tape, in, vd_text_questions(in), 0);
    vd_value *g = *history = one_way ? read_once(tape, in) : read_each(tape, in);
    const vd_explained stage = {
        .title = "The texts",
        .why = "The question is read word by word; so are all entries of the history, one after "
               "the other as one text.",
        .formula = {"q = read(question), g = read(entries 0..t as one text)"},
        .out = {{"q", "the question", q}, {"g", "the history", g}}};
    vd_tape_explain(tape, &stage);
    return q;
}

// ---- scores -------------------------------------------------------------------------------------

static vd_score kind_of(vd_scoring s)
{
    return s.kind == VD_SCORE_OWN ? s.own : s.kind;
}

vd_scoring vd_scoring_of(const vd_config *c, vd_score kind, vd_score own, const char *name)
{
    int h = c->hidden;
    return (vd_scoring){kind, own, name, h, h, h, vd_text_heads(c), h};
}

// name.part.weight, a matrix or a vector, and name.part.bias.
static void declare_part(vd_layout *layout, vd_scoring s, const char *part, int in, int out,
                         bool bias)
{
    const vd_name name = vd_name_of("%s%s", s.name, part);
    vd_layout_add(layout, name.text, ".weight", out != 0, out ? out : 1, in, vd_init_recurrent(in));
    if (bias)
        vd_layout_add(layout, name.text, ".bias", false, out ? out : 1, 0, vd_init_zero());
}

bool vd_score_by_heads(vd_scoring s)
{
    return kind_of(s) == VD_SCORE_MULTI_HEAD;
}

const char *vd_score_formula(vd_scoring s)
{
    static const char *const formula[] = {[VD_SCORE_ADDITIVE] =
                                              "score(x, y) = v . tanh(W_q x + b + W_k y)",
                                          [VD_SCORE_DOT] = "score(x, y) = x . y",
                                          [VD_SCORE_SCALED] = "score(x, y) = x . y / sqrt(d)",
                                          [VD_SCORE_BILINEAR] = "score(x, y) = (W x) . y",
                                          [VD_SCORE_PRODUCT] = "score(x, y) = w . (x o y)",
                                          [VD_SCORE_SUM] = "score(x, y) = w_q . x + w_k . y + b"};
    return kind_of(s) < sizeof formula / sizeof *formula ? formula[kind_of(s)] : NULL;
}

void vd_score_declare(vd_layout *layout, vd_scoring s)
{
    switch (kind_of(s)) {
    case VD_SCORE_ADDITIVE:
        declare_part(layout, s, ".query", s.query, s.hidden, true);
        declare_part(layout, s, ".key", s.key, s.hidden, false);
        vd_layout_add(layout, s.name, ".v.weight", false, 1, s.hidden, vd_init_zero());
        break;
    case VD_SCORE_BILINEAR:
        declare_part(layout, s, ".query", s.query, s.key, false);
        break;
    case VD_SCORE_PRODUCT:
        declare_part(layout, s, "", s.query, 0, false);
        break;
    case VD_SCORE_MULTI_HEAD:
        vd_heads_declare(layout, s.name, (vd_heads_size){s.query, s.key, s.hidden, s.found});
        break;
    case VD_SCORE_SUM:
        declare_part(layout, s, ".query", s.query, 0, true);
        declare_part(layout, s, ".key", s.key, 0, false);
        break;
    default:
        break;
    }
}

// w . dropout(x o y); without dropout (w o x) . y, so that no pair needs a row of its own.
static vd_value *product_scores(vd_tape *tape, vd_scoring s, const vd_pairing *p,
                                const vd_value *query, const vd_value *key, vd_real dropout)
{
    if (dropout != 0)
        return vd_tape_linear(
            tape, vd_tape_dropout(tape, vd_tape_products(tape, p, query, key), dropout), s.name);
    const vd_value *w = vd_tape_vector(tape, vd_name_of("%s.weight", s.name).text);
    return vd_tape_dot(tape, p, vd_tape_multiply(tape, query, w), key, 1);
}

static vd_value *additive_scores(vd_tape *tape, vd_scoring s, const vd_pairing *p,
                                 const vd_value *query, const vd_value *k, vd_real dropout)
{
    vd_value *q = vd_tape_linear(tape, query, vd_name_of("%s.query", s.name).text);
    if (dropout == 0)
        return vd_tape_additive(tape, p, q, k,
                                vd_tape_vector(tape, vd_name_of("%s.v.weight", s.name).text));
    q = vd_tape_add(tape, vd_tape_queries(tape, p, q), vd_tape_keys(tape, p, k));
    q = vd_tape_dropout(tape, vd_tape_map(tape, VD_TANH, q), dropout);
    return vd_tape_linear(tape, q, vd_name_of("%s.v", s.name).text);
}

const vd_value *vd_score_keys(vd_tape *tape, vd_scoring s, const vd_value *key)
{
    bool layer = kind_of(s) == VD_SCORE_ADDITIVE || kind_of(s) == VD_SCORE_SUM;
    return layer ? vd_tape_linear(tape, key, vd_name_of("%s.key", s.name).text) : key;
}

vd_value *vd_score_pairs(vd_tape *tape, vd_scoring s, const vd_pairing *p, const vd_value *query,
                         const vd_value *key, vd_real dropout)
{
    return vd_score_queries(tape, s, p, query, vd_score_keys(tape, s, key), dropout);
}

vd_value *vd_score_queries(vd_tape *tape, vd_scoring s, const vd_pairing *p, const vd_value *query,
                           const vd_value *key, vd_real dropout)
{
    vd_value *q;
    switch (kind_of(s)) {
    case VD_SCORE_ADDITIVE:
        return additive_scores(tape, s, p, query, key, dropout);
    case VD_SCORE_SCALED:
        query = vd_tape_scale(tape, query, 1 / (vd_real)sqrt((double)s.query));
        return vd_tape_dot(tape, p, query, key, 1);
    case VD_SCORE_BILINEAR:
        query = vd_tape_linear(tape, query, vd_name_of("%s.query", s.name).text);
        return vd_tape_dot(tape, p, query, key, 1);
    case VD_SCORE_PRODUCT:
        return product_scores(tape, s, p, query, key, dropout);
    case VD_SCORE_SUM:
        q = vd_tape_linear(tape, query, vd_name_of("%s.query", s.name).text);
        return vd_tape_add(tape, vd_tape_queries(tape, p, q), vd_tape_keys(tape, p, key));
    default:
        return vd_tape_dot(tape, p, query, key, 1);
    }
}

static vd_value *find_by_heads(vd_tape *tape, vd_scoring s, const vd_pairing *p,
                               const vd_value *query, const vd_value *key, const char *shown)
{
    vd_value *found = vd_heads_attend(tape, p, query, key, s.heads, s.name, shown);
    const vd_explained stage = {
        .title = "Attention with several heads",
        .why = "Each head compares them in a way of its own and recalls its own part; the parts "
               "are joined. The table is the mean of the heads.",
        .formula = {"a_j = softmax_j(W_q x . W_k y_j / sqrt(d / heads))",
                    "c = W_o [of each head sum_j a_j W_v y_j]"},
        .in = {{"x", "what is asked", query}, {"y", "what it is compared with", key}},
        .out = {{"c", "what is found", found}}};
    vd_tape_explain(tape, &stage);
    return found;
}

vd_value *vd_score_find(vd_tape *tape, vd_scoring s, const vd_pairing *p, const vd_value *query,
                        const vd_value *key, const vd_value *values, vd_real dropout,
                        const char *shown)
{
    if (vd_score_by_heads(s))
        return find_by_heads(tape, s, p, query, key, shown);
    vd_value *scores = vd_score_pairs(tape, s, p, query, key, dropout);
    return vd_tape_mix(tape, vd_tape_attend(tape, scores, shown, 0), values);
}

// ---- memory, regions ----------------------------------------------------------------------------

vd_value *vd_tanh_layer(vd_tape *tape, const vd_value *x, const char *name, vd_real dropout)
{
    return vd_tape_map(tape, VD_TANH,
                       vd_tape_linear(tape, vd_tape_dropout(tape, x, dropout), name));
}

static vd_scoring memory_score(const vd_config *c)
{
    return vd_scoring_of(c, c->score_rounds, VD_SCORE_DOT, "encoder.rounds.score");
}

void vd_memory_declare(vd_layout *layout, const vd_config *config)
{
    int h = config->hidden;
    vd_texts_declare(config, layout);
    vd_score_declare(layout, memory_score(config));
    vd_layout_linear(layout, "encoder.memory", h, h, true);
    vd_layout_linear(layout, "encoder.out", h, h, true);
}

vd_value *vd_memory_look(vd_tape *tape, vd_inputs *in, const vd_value *u)
{
    const vd_scoring score = memory_score(in->config);
    const bool heads = vd_score_by_heads(score);
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_ROUNDS);
    vd_value *h = vd_text_sentences(tape, in, vd_text_entries(in), in->dropout);
    vd_value *c = vd_score_find(tape, score, p, u, h, h, 0, "rounds");
    vd_value *recalled = vd_tanh_layer(tape, c, "encoder.memory", in->dropout);
    vd_value *e = vd_tanh_layer(tape, vd_tape_add(tape, recalled, u), "encoder.out", 0);
    const vd_explained stage = {.title = "Look back",
                                .why = "The question is compared with each entry of the history; "
                                       "the best matches are recalled and added to it.",
                                .formula = {heads ? "c = heads(u, h), as above"
                                                  : "a = softmax_r(score(u, h_r)), "
                                                    "c = sum_r a_r h_r",
                                            "e = tanh(W_e (tanh(W_c c + b) + u) + b)",
                                            vd_score_formula(score)},
                                .in = {{"u", "the question", u}, {"h", "the entries", h}},
                                .out = {{"c", "what is recalled", c}, {"e", "both", e}}};
    vd_tape_explain(tape, &stage);
    return e;
}

static vd_scoring glimpse_score(const vd_config *c)
{
    return vd_scoring_of(c, c->score_regions, VD_SCORE_ADDITIVE, "encoder.regions.score");
}

void vd_glimpse_declare(vd_layout *layout, const vd_config *config)
{
    vd_layout_linear(layout, "encoder.regions.image", config->region, config->hidden, true);
    vd_score_declare(layout, glimpse_score(config));
    vd_layout_linear(layout, "encoder.regions.out", config->hidden, config->hidden, true);
}

vd_value *vd_glimpse(vd_tape *tape, vd_inputs *in, const vd_value *u)
{
    const vd_scoring score = glimpse_score(in->config);
    const bool heads = vd_score_by_heads(score);
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_REGIONS);
    vd_value *y = vd_tape_dropout(
        tape, vd_tanh_layer(tape, in->regions, "encoder.regions.image", 0), in->dropout);
    vd_value *seen = vd_score_find(tape, score, p, u, y, y, in->dropout, "regions");
    vd_value *e =
        vd_tanh_layer(tape, vd_tape_add(tape, seen, u), "encoder.regions.out", in->dropout);
    const vd_explained stage = {
        .title = "Look at the regions",
        .why = "What is known so far decides which regions to attend to; "
               "their weighted sum is added to it.",
        .formula = {"y_k = tanh(W_i v_k + b)",
                    heads ? "y' = heads(u, y), as above"
                          : "p = softmax_k(score(u, y_k)), y' = sum_k p_k y_k",
                    "e = tanh(W_o (y' + u) + b)", vd_score_formula(score)},
        .in = {{"u", "what is asked", u}, {"y", "the regions", y}},
        .out = {{"y'", "what is seen", seen}, {"e", "both", e}}};
    vd_tape_explain(tape, &stage);
    return e;
}

// ---- stages -------------------------------------------------------------------------------------

void vd_explain_vector(vd_tape *tape, const char *formula, const vd_value *q, vd_named found,
                       const vd_value *e)
{
    const vd_named question = {"q", "the question", q};
    const vd_explained stage = {.title = "The question's vector",
                                .why = "The question and what was found become one vector, e, "
                                       "which the candidates are compared with.",
                                .formula = {formula},
                                .in = {q ? question : found, q ? found : (vd_named){0}},
                                .out = {{"e", "the encoder's vector", e}}};
    vd_tape_explain(tape, &stage);
}

// MVAN composed of the tape's operations: the same network as the stages beside this file, whose
// formulas stand there, with any text encoder in place of the LSTMs. Word states and sentence
// vectors are 2H wide. Names of parameters and attentions are the same. The texts' parameters are
// declared here, all others with the fused stages (engine/networks/weights.c).
#include "engine/networks/flow.h"
#include "engine/networks/pass.h"
#include "engine/networks/text/text.h"

static int twice(const vd_config *c)
{
    return 2 * c->hidden;
}

// tanh(Wy x + by) o g(Wg x + bg)
static vd_value *gated(vd_tape *tape, const vd_inputs *in, const vd_value *x, const char *name)
{
    static const vd_function gate[] = {[VD_GATE_LEAKY_RELU] = VD_LEAKY_RELU,
                                       [VD_GATE_SIGMOID] = VD_SIGMOID,
                                       [VD_GATE_ELU] = VD_ELU};
    x = vd_tape_dropout(tape, x, in->dropout);
    vd_value *y = vd_tape_linear(tape, x, vd_name_of("encoder.%s.1.embed_y.0", name).text);
    y = vd_tape_map(tape, VD_TANH, y);
    vd_value *g = vd_tape_linear(tape, x, vd_name_of("encoder.%s.1.embed_g.0", name).text);
    return vd_tape_multiply(tape, y, vd_tape_map(tape, gate[in->config->gate], g));
}

// sigmoid(W x + b) o x, x = [a ; b]
static vd_value *gated_pair(vd_tape *tape, const vd_value *a, const vd_value *b, const char *name)
{
    vd_value *x = vd_tape_concat(tape, a, b);
    return vd_tape_multiply(tape, vd_tape_map(tape, VD_SIGMOID, vd_tape_linear(tape, x, name)), x);
}

// Word embeddings (topic aggregation mixes them), word states, sentence vectors.
typedef struct text {
    const vd_value *embedding, *states, *sentence;
} text;

static text read_text(vd_tape *tape, const vd_inputs *in, vd_text of)
{
    text t = {.embedding = vd_tape_embed(tape, "encoder.word_embed.weight", of.packed->rows.id,
                                         of.packed->tokens, of.words)};
    t.states = vd_text_states(tape, in, of, 0);
    t.sentence = vd_text_pool_states(tape, in, of, t.states);
    return t;
}

static void explain_words(vd_tape *tape, const text *q, const text *h)
{
    const vd_explained stage = {
        .title = "Word states",
        .why = "Each word of the question becomes a list of numbers, a vector, which also depends "
               "on the words around it. The entries of the history are read likewise.",
        .formula = {"Q, q = read(word vectors), H, h = read(history)"},
        .in = {{"W", "question word vectors", q->embedding}},
        .out = {{"Q", "word states", q->states},
                {"q", "the question", q->sentence},
                {"h", "history, read likewise", h->sentence}}};
    vd_tape_explain(tape, &stage);
}

// ---- context matching ---------------------------------------------------------------------------

// e_ctx; *a: the attention.
static vd_value *match_context(vd_tape *tape, vd_inputs *in, const text *q, const text *h,
                               const vd_value **a)
{
    static const vd_scoring score = {.own = VD_SCORE_PRODUCT,
                                     .name = "encoder.context_matching.att.1"};
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_ROUNDS);
    vd_value *fq = gated(tape, in, q->sentence, "context_matching.ques_emb");
    vd_value *fh = gated(tape, in, h->sentence, "context_matching.hist_emb");
    vd_value *s = vd_score_pairs(tape, score, p, fq, fh, in->dropout);
    *a = vd_tape_attend(tape, s, "rounds", 0);
    vd_value *c = vd_tape_mix(tape, *a, h->sentence);
    vd_value *e = gated_pair(tape, q->sentence, c, "encoder.context_matching.context_gate.0");
    vd_mvan_explain(
        tape, VD_MVAN_CONTEXT_MATCHING, in->config->gate,
        (vd_explained){
            .in = {{"q", "the question", q->sentence}, {"h", "history entries", h->sentence}},
            .out = {{"c", "what it takes from history", c}, {"e_ctx", "question in context", e}}});
    return e;
}

// ---- topic aggregation --------------------------------------------------------------------------

static int count_rounds(const vd_geometry *span)
{
    int count = 0;
    for (int n = 0; n < span->questions; n++)
        count += span->seen[n];
    return count;
}

// For each question and each entry that it sees, in the order of the pairs of rounds: the words of
// both.
static const vd_pairing *pair_words(vd_tape *tape, const vd_inputs *in)
{
    const vd_geometry *span = in->span;
    const int *history = in->history_words->start;
    int count = count_rounds(span), i = 0;
    vd_pair_group *group = vd_arena_take(tape->arena, (size_t)count, sizeof *group);
    for (int n = 0; n < span->questions && group; n++)
        for (int r = 0; r < span->seen[n]; r++, i++) {
            int entry = span->entry_start[span->dialog[n]] + r;
            group[i].query = vd_inputs_seen(in, VD_AXIS_QUESTION_WORDS, n);
            group[i].key[0] = (vd_range){history[entry], history[entry + 1] - history[entry]};
        }
    return vd_tape_pairing(tape, VD_AXIS_QUESTION_WORDS, in->question_words->tokens,
                           VD_AXIS_HISTORY_WORDS, in->history_words->tokens, group, count,
                           "the words of the dialog");
}

// The same pairs, those of a question together: its words, each with the words of all entries.
static vd_pairing *pair_all_words(vd_tape *tape, const vd_inputs *in)
{
    int questions = in->span->questions;
    vd_pair_group *group = vd_arena_take(tape->arena, (size_t)questions, sizeof *group);
    for (int n = 0; n < questions && group; n++) {
        group[n].query = vd_inputs_seen(in, VD_AXIS_QUESTION_WORDS, n);
        group[n].key[0] = vd_inputs_seen(in, VD_AXIS_HISTORY_WORDS, n);
    }
    return vd_pairing_make(tape->arena, VD_AXIS_QUESTION_WORDS, in->question_words->tokens,
                           VD_AXIS_HISTORY_WORDS, in->history_words->tokens, group, questions);
}

// Where the pairs of all words are among those by entry.
static void list_pairs(const vd_geometry *span, const vd_pair_group *from, const vd_pairing *all,
                       int *row)
{
    for (int n = 0; n < span->questions; n++) {
        const vd_pair_group *to = &all->group[n];
        for (int r = 0, column = 0; r < span->seen[n]; r++, column += from++->key[0].count)
            for (int i = 0; i < to->query.count; i++)
                for (int j = 0; j < from->key[0].count; j++)
                    row[to->at + i * to->key[0].count + column + j] =
                        from->at + i * from->key[0].count + j;
    }
}

// S as people see it: a row for each word of a question.
static void show_words(vd_tape *tape, const vd_inputs *in, const vd_value *s)
{
    vd_pairing *all = tape->status == VD_OK ? pair_all_words(tape, in) : NULL;
    int *row = all ? vd_arena_ints(tape->arena, (size_t)all->pairs) : NULL;
    if (row)
        list_pairs(in->span, s->pairing->group, all, row);
    vd_value *shown = vd_tape_choose(tape, s, row, all ? all->pairs : 0, VD_AXIS_PAIRS);
    if (!all || tape->status != VD_OK)
        return;
    all->by_entry = true;
    shown->pairing = all;
    vd_tape_show(tape, shown, "history-words", 0);
}

// e_top
static vd_value *gather_topics(vd_tape *tape, const vd_inputs *in, const text *q, const text *h,
                               const vd_value *a)
{
    vd_value *fq = gated(tape, in, q->states, "topic_aggregation.ques_emb");
    vd_value *fh = gated(tape, in, h->states, "topic_aggregation.hist_emb");
    vd_value *s = vd_tape_dot(tape, pair_words(tape, in), fq, fh, 1);
    if (vd_is_uniform(tape->uniform, "history-words"))
        s = vd_tape_scale(tape, s, 0);
    s = vd_tape_softmax(tape, s);
    show_words(tape, in, s);
    vd_value *u = vd_tape_mix(tape, vd_tape_weigh(tape, s, a), h->embedding);
    vd_value *e = gated_pair(tape, q->embedding, u, "encoder.topic_aggregation.topic_gate.0");
    vd_mvan_explain(tape, VD_MVAN_TOPIC_AGGREGATION, in->config->gate,
                    (vd_explained){.in = {{"Q", "word states", q->states}},
                                   .out = {{"u", "what each word gathered", u},
                                           {"e_top", "words with topics", e}}});
    return e;
}

// ---- views --------------------------------------------------------------------------------------

static vd_value *relu_layer(vd_tape *tape, const vd_value *x, const char *name)
{
    return vd_tape_map(tape, VD_RELU, vd_tape_linear(tape, x, name));
}

// m, a row for each region as a question sees it; *regions: those rows.
static vd_value *view_topics(vd_tape *tape, vd_inputs *in, const vd_value *topic, vd_flow *regions)
{
    vd_value *fv = gated(tape, in, in->regions, "modality_fusion_topic.img_nonlinear_emb");
    vd_value *ft = gated(tape, in, topic, "modality_fusion_topic.topic_emb");
    vd_flow_spread(tape, in, fv, regions);
    vd_value *s = vd_tape_dot(tape, vd_flow_pairing(tape, in, regions, 0, 0), regions->rows, ft, 1);
    vd_value *t = vd_tape_mix(tape, vd_tape_attend(tape, s, "question-words", 0), topic);
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_REGIONS);
    vd_value *m = vd_tape_concat(tape, vd_tape_keys(tape, p, in->regions), t);
    m = vd_tape_dropout(tape, m, in->dropout);
    m = relu_layer(tape, m, "encoder.modality_fusion_topic.MLP.1");
    m = relu_layer(tape, m, "encoder.modality_fusion_topic.MLP.3");
    vd_mvan_explain(tape, VD_MVAN_TOPIC_VIEW, in->config->gate,
                    (vd_explained){.in = {{"img", "region features", in->regions},
                                          {"e_top", "words with topics", topic}},
                                   .out = {{"m", "regions with words", m}}});
    return m;
}

// y
static vd_value *view_context(vd_tape *tape, vd_inputs *in, const vd_value *m,
                              const vd_value *context, const vd_flow *regions)
{
    const vd_pairing *p = vd_inputs_pairing(tape, in, VD_SEES_REGIONS);
    vd_value *y = vd_tape_concat(tape, m, vd_tape_queries(tape, p, context));
    vd_value *fm = gated(tape, in, y, "modality_fusion_context.mf_emb");
    vd_value *fc = gated(tape, in, context, "modality_fusion_context.context_matching_emb");
    vd_value *z = vd_tape_unit(tape, vd_tape_products(tape, p, fc, fm));
    z = vd_tape_linear(tape, vd_tape_dropout(tape, z, in->dropout),
                       "encoder.modality_fusion_context.att.1");
    z->pairing = regions->pool;
    y = vd_tape_concat(tape, vd_tape_mix(tape, vd_tape_attend(tape, z, "regions", 0), m), context);
    vd_mvan_explain(tape, VD_MVAN_CONTEXT_VIEW, in->config->gate,
                    (vd_explained){.in = {{"m", "regions with words", m},
                                          {"e_ctx", "question in context", context}},
                                   .out = {{"y", "picture and question", y}}});
    return y;
}

static vd_value *build(vd_tape *tape, vd_inputs *in)
{
    const text q = read_text(tape, in, vd_text_questions(in)),
               h = read_text(tape, in, vd_text_entries(in));
    const vd_value *a;
    vd_flow regions = {.axis = VD_AXIS_REGIONS};
    explain_words(tape, &q, &h);
    vd_value *context = match_context(tape, in, &q, &h, &a);
    vd_value *topic = gather_topics(tape, in, &q, &h, a);
    vd_value *m = view_topics(tape, in, topic, &regions);
    vd_value *y = view_context(tape, in, m, context, &regions);
    vd_value *e = relu_layer(tape, vd_tape_dropout(tape, y, in->dropout), "encoder.fusion.1");
    vd_mvan_explain(tape, VD_MVAN_FUSION, in->config->gate,
                    (vd_explained){.in = {{"y", "picture and question", y}},
                                   .out = {{"e", "question vector e", e}}});
    return e;
}

const vd_encoder vd_encoder_mvan = {.name = "mvan",
                                    .title = "multi-view attention network",
                                    .reads = "gate open-gates image dropout",
                                    .published = {.mark = "encoder.fusion.1.weight",
                                                  .last = "encoder.fusion.1.weight",
                                                  .states = 4},
                                    .text = &vd_text_bilstm,
                                    .declare = vd_texts_declare,
                                    .build = build,
                                    .question_width = twice};

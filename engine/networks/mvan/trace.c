// What MVAN shows of an answer: its attentions, and its stages with their numbers.
#include "engine/networks/pass.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/networks/encoder.h"

// ---- attentions ---------------------------------------------------------------------------------

const vd_attention_at *vd_pass_shown(const vd_pass *pass, int *count)
{
    if (pass->tape)
        return vd_tape_shown(pass->tape, vd_encoder_of(pass->config)->part, count);
    int words = pass->question_words.tokens;
    const vd_attention_at all[] = {{.name = "rounds",
                                    .query = VD_AXIS_QUESTIONS,
                                    .key = VD_AXIS_ENTRIES,
                                    .rows = 1,
                                    .columns = pass->history_words.sequences,
                                    .share = pass->context},
                                   {.name = "history-words",
                                    .query = VD_AXIS_QUESTION_WORDS,
                                    .key = VD_AXIS_HISTORY_WORDS,
                                    .by_entry = true,
                                    .rows = words,
                                    .columns = pass->history_words.tokens,
                                    .share = pass->topic},
                                   {.name = "question-words",
                                    .query = VD_AXIS_REGIONS,
                                    .key = VD_AXIS_QUESTION_WORDS,
                                    .rows = pass->regions,
                                    .columns = words,
                                    .share = pass->word},
                                   {.name = "regions",
                                    .query = VD_AXIS_QUESTIONS,
                                    .key = VD_AXIS_REGIONS,
                                    .rows = 1,
                                    .columns = pass->rows,
                                    .share = pass->region}};
    vd_attention_at *list = vd_arena_take_raw(pass->arena, sizeof all / sizeof *all, sizeof *list);
    if (list)
        memcpy(list, all, sizeof all);
    *count = list ? (int)(sizeof all / sizeof *all) : 0;
    return list;
}

// ---- what the stages compute --------------------------------------------------------------------

enum part {
    ABSENT, // not kept
    WORD,
    STATE,
    QUESTION,
    HISTORY,
    MATCHED,
    CONTEXT_GATE,
    CONTEXT,
    GATHERED,
    TOPIC_GATE,
    TOPIC,
    REGION_TOPIC,
    VIEW,
    FUSED,
    POOLED,
    ENCODED,
    ROUNDS, // the attentions, in their order
    HISTORY_WORDS,
    QUESTION_WORDS,
    REGIONS,
    PARTS
};

// Numbers of a trace, and where the pass or the answer has them: row r of a pass is row index[r],
// r itself with NULL.
typedef struct part_source {
    const vd_real *pass;
    const float *answer;
    size_t rows, all, columns;
    const int *index;
} part_source;

typedef struct tracing {
    const vd_pass *pass;
    const vd_axis_subsets *subsets;
    const vd_outcome *outcome;
    part_source source[PARTS];
    float *part[PARTS];
    double *figures; // where the next table's numbers go
    vd_trace_stage *stage;
} tracing;

static void list_parts(tracing *t)
{
    const vd_pass *pass = t->pass;
    const vd_config *c = pass->config;
    size_t e = (size_t)c->embed, h = (size_t)c->hidden, d = (size_t)c->region;
    size_t words = (size_t)pass->question_words.tokens;
    size_t seen = (size_t)pass->history_words.sequences,
           entries = (size_t)t->subsets->count[VD_AXIS_ENTRIES];
    size_t real = (size_t)pass->rows, regions = (size_t)pass->regions;
    const int *entry = t->subsets->at[VD_AXIS_ENTRIES], *region = pass->row_image;
    const part_source of_pass[] = {
        [WORD] = {pass->question.embedding, NULL, words, words, e, NULL},
        [STATE] = {pass->question.recurrent.y, NULL, words, words, 2 * h, NULL},
        [QUESTION] = {pass->question.sentence, NULL, 1, 1, 2 * h, NULL},
        [HISTORY] = {pass->history.sentence, NULL, seen, entries, 2 * h, entry},
        [MATCHED] = {pass->matched, NULL, 1, 1, 2 * h, NULL},
        [CONTEXT_GATE] = {pass->context_pair.gate, NULL, 1, 1, 4 * h, NULL},
        [CONTEXT] = {pass->context_pair.y, NULL, 1, 1, 4 * h, NULL},
        [GATHERED] = {pass->gathered, NULL, words, words, e, NULL},
        [TOPIC_GATE] = {pass->topic_pair.gate, NULL, words, words, 2 * e, NULL},
        [TOPIC] = {pass->topic_pair.y, NULL, words, words, 2 * e, NULL},
        [REGION_TOPIC] = {pass->region_topic, NULL, real, regions, 2 * e, region},
        [VIEW] = {pass->view, NULL, real, regions, d, region},
        [FUSED] = {pass->fused, NULL, real, regions, h, region},
        [POOLED] = {pass->pooled, NULL, 1, 1, d + 4 * h, NULL},
        [ENCODED] = {pass->encoded, NULL, 1, 1, h, NULL}};
    memcpy(t->source, of_pass, sizeof of_pass);
    for (int i = 0; i < t->outcome->attentions; i++) {
        const vd_attention *a = &t->outcome->attention[i];
        size_t n = (size_t)a->rows * (size_t)a->columns;
        t->source[ROUNDS + i] = (part_source){NULL, a->share, n, n, 1, NULL};
    }
}

static bool copy_parts(tracing *t, float **at)
{
    size_t most = 0;
    for (int i = 0; i < PARTS; i++) {
        size_t n = t->source[i].rows * t->source[i].columns;
        most = n > most ? n : most;
    }
    float *rows = vd_alloc(most, sizeof *rows);
    for (int i = 1; rows && i < PARTS; i++) {
        const part_source *p = &t->source[i];
        const float *from = p->answer ? p->answer : rows;
        if (p->pass)
            t->pass->be->read_floats(p->pass, rows, p->rows * p->columns);
        for (size_t r = 0; r < p->rows; r++)
            memcpy(*at + (p->index ? (size_t)p->index[r] : r) * p->columns, from + r * p->columns,
                   p->columns * sizeof **at);
        t->part[i] = *at;
        *at += p->all * p->columns;
    }
    vd_free(rows);
    return rows != NULL;
}

// ---- tables -------------------------------------------------------------------------------------

static double length_of(const float *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static double cosine(const float *x, const float *y, int n)
{
    double sum = 0, size = length_of(x, n) * length_of(y, n);
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    return size > 0 ? sum / size : 0;
}

static double mean_of(const float *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i];
    return n ? sum / n : 0;
}

// A table of the stage with its numbers to be filled in.
static double *add_table(tracing *t, const char *title, vd_trace_table table)
{
    double *value = t->figures;
    table.value = value;
    snprintf(table.title, sizeof table.title, "%s", title);
    t->figures += table.rows * table.columns;
    t->stage->table[t->stage->tables++] = table;
    return value;
}

static void add_attention(tracing *t, const char *title, int index, const char *const *column)
{
    const vd_attention *a = &t->outcome->attention[index];
    int n = a->rows * a->columns;
    vd_trace_table table = {.share = true,
                            .row_axis = a->query,
                            .column_axis = a->key,
                            .rows = a->rows,
                            .columns = a->columns};
    if (column)
        table = (vd_trace_table){
            .share = true, .row_axis = a->key, .column = column, .rows = a->columns, .columns = 1};
    double *value = add_table(t, title, table);
    for (int i = 0; i < n; i++)
        value[i] = (double)a->share[i];
}

static void word_states(tracing *t)
{
    static const char *const columns[] = {"|word vector|", "|state|", "cos(state, q)"};
    const vd_config *c = t->pass->config;
    int words = t->pass->question_words.tokens, h2 = 2 * c->hidden;
    if (c->positions != VD_POSITIONS_NONE)
        t->stage->formula[0] = "Q = BiLSTM(word vectors + positions)";
    double *value = add_table(
        t, "Question words",
        (vd_trace_table){
            .row_axis = VD_AXIS_QUESTION_WORDS, .column = columns, .rows = words, .columns = 3});
    for (int i = 0; i < words; i++) {
        const float *state = t->part[STATE] + i * h2;
        *value++ = length_of(t->part[WORD] + i * c->embed, c->embed);
        *value++ = length_of(state, h2);
        *value++ = cosine(state, t->part[QUESTION], h2);
    }
}

// The f of the formulas; each has its own weights.
static const char *const gated_transform[] = {
    [VD_GATE_SIGMOID] = "every f(x) = tanh(W x + b) * sigmoid(V x + c)",
    [VD_GATE_LEAKY_RELU] = "every f(x) = tanh(W x + b) * LeakyReLU(V x + c)",
    [VD_GATE_ELU] = "every f(x) = tanh(W x + b) * ELU(V x + c)"};

static void context_matching(tracing *t)
{
    static const char *const a[] = {"a"}, *const open[] = {"open"},
                             *const parts[] = {"of the question q", "of the history c"};
    int h2 = 2 * t->pass->config->hidden;
    t->stage->formula[3] = gated_transform[t->pass->config->gate];
    add_attention(t, "Attention 1: which rounds it is about", 0, a);
    double *value = add_table(
        t, "Gate: how far it is open",
        (vd_trace_table){.share = true, .row = parts, .column = open, .rows = 2, .columns = 1});
    for (int i = 0; i < 2; i++)
        value[i] = mean_of(t->part[CONTEXT_GATE] + i * h2, h2);
}

// a_r S_rij, what the words gather by.
static void gathered_shares(tracing *t)
{
    const vd_attention *rounds = &t->outcome->attention[0], *words = rounds + 1;
    const vd_packed *seen = &t->pass->history_words;
    const int *entry = t->subsets->at[VD_AXIS_ENTRIES],
              *index = t->subsets->at[VD_AXIS_HISTORY_WORDS];
    double *value = add_table(t, "Attention 2: related words, word@round (0: caption)",
                              (vd_trace_table){.share = true,
                                               .row_axis = words->query,
                                               .column_axis = words->key,
                                               .rows = words->rows,
                                               .columns = words->columns});
    for (int s = 0; s < seen->sequences; s++)
        for (int j = seen->start[s]; j < seen->start[s + 1]; j++)
            for (int i = 0; i < words->rows; i++) {
                int at = i * words->columns + (index ? index[j] : j);
                value[at] = (double)(rounds->share[entry ? entry[s] : s] * words->share[at]);
            }
}

static void topic_aggregation(tracing *t)
{
    static const char *const parts[] = {"the word", "gathered"};
    int words = t->pass->question_words.tokens, e = t->pass->config->embed;
    gathered_shares(t);
    double *value = add_table(t, "Gate: how far it is open",
                              (vd_trace_table){.share = true,
                                               .row_axis = VD_AXIS_QUESTION_WORDS,
                                               .column = parts,
                                               .rows = words,
                                               .columns = 2});
    for (int i = 0; i < 2 * words; i++)
        value[i] = mean_of(t->part[TOPIC_GATE] + i * e, e);
}

static void topic_view(tracing *t)
{
    add_attention(t, "Attention 3: which words each region looks at", 2, NULL);
}

static void context_view(tracing *t)
{
    static const char *const g[] = {"g"};
    add_attention(t, "Attention 4: the regions the answer draws on", 3, g);
}

static void fusion(tracing *t)
{
    static const char *const rows[] = {"numbers in y", "numbers in e", "of them above zero (relu)",
                                       "the largest", "length |e|"};
    static const char *const none[] = {""};
    int h = t->pass->config->hidden;
    double *value = add_table(
        t, "The vector e", (vd_trace_table){.row = rows, .column = none, .rows = 5, .columns = 1});
    memcpy(value,
           (double[]){t->pass->config->region + 4 * h, h, 0, 0, length_of(t->part[ENCODED], h)},
           5 * sizeof *value);
    for (int i = 0; i < h; i++) {
        value[2] += t->part[ENCODED][i] > 0;
        value[3] = fmax(value[3], (double)t->part[ENCODED][i]);
    }
}

// ---- stages -------------------------------------------------------------------------------------

typedef struct stage_tensor {
    const char *name, *is, *axes;
    enum part part;
} stage_tensor;

// By vd_mvan_stage.
static const struct {
    const char *title, *why, *formula[3];
    stage_tensor in[VD_STAGE_VALUES], out[VD_STAGE_VALUES];
    void (*tables)(tracing *);
} stages[] = {
    {.title = "Word states",
     .why = "Each word of the question becomes a list of numbers, a vector. The question is read "
            "forwards and backwards, so that the vector of a word also depends on the words around "
            "it.",
     .formula = {"Q = BiLSTM(word vectors)",
                 "q = [forward state at the last word ; backward state at the first]"},
     .in = {{"W", "question word vectors", "Tq, E", WORD}},
     .out = {{"Q", "word states", "Tq, 2H", STATE},
             {"q", "the question", "2H", QUESTION},
             {"h", "history, read likewise", "R, 2H", HISTORY}},
     .tables = word_states},
    {.title = "Context matching and gate",
     .why = "Which earlier rounds is the question about? Each round gets a share of attention; "
            "together they are 100 %. A gate then passes on a part of the question and of the "
            "history: all of it where it is open, nothing where it is closed.",
     .formula = {"s_r = w . (f_q(q) * f_h(h_r)) + b      a = softmax over r of s",
                 "c = sum_r a_r h_r      x = [q ; c]", "e_ctx = sigmoid(W x + b) * x"},
     .in = {{"q", "the question", "2H", QUESTION}, {"h", "history entries", "R, 2H", HISTORY}},
     .out = {{"a", "attention 1: question -> rounds", "R", ROUNDS},
             {"c", "what it takes from history", "2H", MATCHED},
             {"e_ctx", "question in context", "4H", CONTEXT}},
     .tables = context_matching},
    {.title = "Topic aggregation and gate",
     .why = "The same word by word: each word of the question looks for the words of the caption "
            "and of earlier rounds that belong to it. This is how \"it\" can stand for a cube that "
            "was named before.",
     .formula = {"S_rij = f_q(Q_i) . f_h(H_rj), softmax over j",
                 "u_i = sum_r a_r sum_j S_rij W_rj      x_i = [word_i ; u_i]",
                 "e_top,i = sigmoid(W x_i + b) * x_i"},
     .in = {{"Q", "word states", "Tq, 2H", STATE}, {"a", "attention 1", "R", ROUNDS}},
     .out = {{"u", "what each word gathered", "Tq, E", GATHERED},
             {"e_top", "words with topics", "Tq, 2E", TOPIC},
             {"S", "attention 2: word -> word", "Tq, Th", HISTORY_WORDS}},
     .tables = topic_aggregation},
    {.title = "Topic view",
     .why = "Now the picture. A region is a part of it with one object. Each region attends to the "
            "words of the question that match it; a row adds up to 100 %.",
     .formula = {"M_ki = f_v(img_k) . f_t(e_top,i), softmax over i", "t_k = sum_i M_ki e_top,i",
                 "m_k = relu(W2 relu(W1 [img_k ; t_k] + b1) + b2)"},
     .in = {{"img", "region features", "P, D", ABSENT},
            {"e_top", "words with topics", "Tq, 2E", TOPIC}},
     .out = {{"M", "attention 3: region -> word", "P, Tq", QUESTION_WORDS},
             {"t", "each region's words", "P, 2E", REGION_TOPIC},
             {"m", "regions with words", "P, D", VIEW}},
     .tables = topic_view},
    {.title = "Context view",
     .why = "Which regions is the answer read from? The question and its history give each region "
            "a share of attention; together they are 100 %. The picture shows them as outlines.",
     .formula = {"y_k = [m_k ; e_ctx]      z_k = l2norm(f_m(y_k) * f_c(e_ctx))",
                 "g = softmax over k of (w . z_k + b)", "y = sum_k g_k y_k"},
     .in = {{"m", "regions with words", "P, D", VIEW},
            {"e_ctx", "question in context", "4H", CONTEXT}},
     .out = {{"z", "fit of region and context", "P, H", FUSED},
             {"g", "attention 4: regions", "P", REGIONS},
             {"y", "picture and question", "D+4H", POOLED}},
     .tables = context_view},
    {.title = "Fusion",
     .why = "What was seen and what was asked become one vector, e. It has as many numbers as the "
            "vector of an answer, so that the two can be compared.",
     .formula = {"e = relu(W y + b)"},
     .in = {{"y", "picture and question", "D+4H", POOLED}},
     .out = {{"e", "question vector e", "H", ENCODED}},
     .tables = fusion},
};
enum { STAGES = sizeof stages / sizeof *stages };

void vd_mvan_explain(vd_tape *tape, vd_mvan_stage which, vd_gate gate, vd_explained stage)
{
    stage.title = stages[which].title;
    stage.why = stages[which].why;
    memcpy(stage.formula, stages[which].formula, sizeof stages->formula);
    if (which == VD_MVAN_CONTEXT_MATCHING)
        stage.formula[3] = gated_transform[gate];
    vd_tape_explain(tape, &stage);
}

// Of the axis that begins `axes`.
static int axis_size(const tracing *t, const char *axes)
{
    const vd_config *c = t->pass->config;
    const struct {
        const char *name;
        int size;
    } all[] = {{"Tq", t->pass->question_words.tokens},
               {"Th", t->subsets->count[VD_AXIS_HISTORY_WORDS]},
               {"R", t->subsets->count[VD_AXIS_ENTRIES]},
               {"P", t->subsets->count[VD_AXIS_REGIONS]},
               {"D", c->region},
               {"D+4H", c->region + 4 * c->hidden},
               {"E", c->embed},
               {"2E", 2 * c->embed},
               {"H", c->hidden},
               {"2H", 2 * c->hidden},
               {"4H", 4 * c->hidden}};
    size_t length = strcspn(axes, ","), i = 0;
    while (strlen(all[i].name) != length || strncmp(all[i].name, axes, length) != 0)
        i++;
    return all[i].size;
}

static int list_tensors(const tracing *t, const stage_tensor *from, vd_trace_value *out)
{
    int count = 0;
    for (; count < VD_STAGE_VALUES && from[count].name; count++) {
        vd_trace_value *to = &out[count];
        *to = (vd_trace_value){
            .name = from[count].name, .is = from[count].is, .value = t->part[from[count].part]};
        snprintf(to->axes, sizeof to->axes, "%s", from[count].axes);
        for (const char *axis = to->axes; axis; axis = strchr(axis, ',')) {
            axis += axis > to->axes ? 2 : 0;
            to->shape[to->dims++] = axis_size(t, axis);
        }
    }
    return count;
}

static void list_stages(tracing *t, vd_trace_stage *out)
{
    for (int i = 0; i < STAGES; i++) {
        t->stage = &out[i];
        snprintf(out[i].title, sizeof out[i].title, "%s", stages[i].title);
        out[i].why = stages[i].why;
        memcpy(out[i].formula, stages[i].formula, sizeof stages[i].formula);
        out[i].ins = list_tensors(t, stages[i].in, out[i].in);
        out[i].outs = list_tensors(t, stages[i].out, out[i].out);
        stages[i].tables(t);
    }
}

vd_status vd_trace_take(const vd_pass *pass, const vd_axis_subsets *subsets,
                        const vd_outcome *outcome, vd_trace *out, vd_error *err)
{
    if (pass->tape)
        return vd_encoder_trace(pass, subsets, outcome, out, err);
    tracing t = {.pass = pass, .subsets = subsets, .outcome = outcome};
    size_t candidates = (size_t)outcome->candidates, floats = 2 * candidates, shares = 0;
    list_parts(&t);
    for (int i = 0; i < PARTS; i++)
        floats += t.source[i].all * t.source[i].columns;
    for (int i = ROUNDS; i < PARTS; i++)
        shares += t.source[i].all;
    // Of tables: the attentions, five numbers a word, two and five, the candidates'.
    size_t figures =
        shares + 5 * (size_t)pass->question_words.tokens + 7 + vd_decoder_figures(outcome);
    vd_status status = vd_trace_make(STAGES + VD_DECODER_STAGES, floats, figures, out, err);
    float *at = out->memory;
    t.figures = out->figures;
    if (status == VD_OK && !copy_parts(&t, &at)) {
        vd_trace_clear(out);
        status = vd_error_memory(err, "what the stages computed");
    }
    if (status)
        return status;
    list_stages(&t, out->stage);
    vd_decoder_stages(outcome, &out->stage[STAGES - 1].out[0], at, at + candidates, t.figures,
                      &out->stage[STAGES]);
    return VD_OK;
}

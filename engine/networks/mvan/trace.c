// What MVAN shows of an answer: its attentions, and its stages with their numbers.
#include "engine/networks/pass.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

// What the stages name: its name, its axes, and where the pass has the numbers. Those of the
// picture are not copied; the attentions, the last ones in their order, are the answer's.
#define NAMED(X)                                                                                   \
    X(IMAGE, "img", "P, D", image)                                                                 \
    X(WORD, "W", "Tq, E", question.embedding)                                                      \
    X(STATE, "Q", "Tq, 2H", question.recurrent.y)                                                  \
    X(QUESTION, "q", "2H", question.sentence)                                                      \
    X(HISTORY, "h", "R, 2H", history.sentence)                                                     \
    X(MATCHED, "c", "2H", matched)                                                                 \
    X(CONTEXT_GATE, "gate", "4H", context_pair.gate)                                               \
    X(CONTEXT, "e_ctx", "4H", context_pair.y)                                                      \
    X(GATHERED, "u", "Tq, E", gathered)                                                            \
    X(TOPIC_GATE, "gate", "Tq, 2E", topic_pair.gate)                                               \
    X(TOPIC, "e_top", "Tq, 2E", topic_pair.y)                                                      \
    X(REGION_TOPIC, "t", "P, 2E", region_topic)                                                    \
    X(VIEW, "m", "P, D", view)                                                                     \
    X(FUSED, "z", "P, H", fused)                                                                   \
    X(POOLED, "y", "D+4H", pooled)                                                                 \
    X(ENCODED, "e", "H", encoded)                                                                  \
    X(ROUNDS, "a", "R", context)                                                                   \
    X(HISTORY_WORDS, "S", "Tq, Th", topic)                                                         \
    X(QUESTION_WORDS, "M", "P, Tq", word)                                                          \
    X(REGIONS, "g", "P", region)

enum part {
#define X(part, name, axes, where) part,
    NAMED(X)
#undef X
        PARTS
};

static const struct {
    const char *name, *axes;
    size_t at;
} named[PARTS] = {
#define X(part, name, axes, where) {name, axes, offsetof(vd_pass, where)},
    NAMED(X)
#undef X
};

typedef struct tracing {
    const vd_pass *pass;
    const vd_axis_subsets *subsets;
    const vd_outcome *outcome;
    vd_trace_value part[PARTS];
    vd_trace *trace;
    vd_trace_stage *stage;
} tracing;

// What there is of an axis: in the dialog, in the pass; row r of the pass is row index[r], r itself
// with NULL.
typedef struct axis_rows {
    const char *name;
    int all, seen;
    const int *index;
} axis_rows;

// The axis that begins `axes`.
static axis_rows axis_of(const tracing *t, const char *axes)
{
    const vd_pass *pass = t->pass;
    const vd_axis_subsets *of = t->subsets;
    int words = pass->question_words.tokens, d = pass->config->region, e = pass->config->embed,
        h = pass->config->hidden;
    const axis_rows all[] = {
        {"R", of->count[VD_AXIS_ENTRIES], pass->history_words.sequences, of->at[VD_AXIS_ENTRIES]},
        {"P", of->count[VD_AXIS_REGIONS], pass->rows, pass->row_image},
        {"Th", of->count[VD_AXIS_HISTORY_WORDS], 0, NULL},
        {"Tq", words, words, NULL},
        {"D", d, d, NULL},
        {"D+4H", d + 4 * h, d + 4 * h, NULL},
        {"E", e, e, NULL},
        {"2E", 2 * e, 2 * e, NULL},
        {"H", h, h, NULL},
        {"2H", 2 * h, 2 * h, NULL},
        {"4H", 4 * h, 4 * h, NULL}};
    size_t length = strcspn(axes, ","), i = 0;
    while (strlen(all[i].name) != length || strncmp(all[i].name, axes, length) != 0)
        i++;
    return all[i];
}

static size_t size_of(const vd_trace_value *x)
{
    return (size_t)x->shape[0] * (size_t)(x->dims > 1 ? x->shape[1] : 1);
}

static void list_parts(tracing *t)
{
    for (int i = 0; i < PARTS; i++) {
        vd_trace_value *to = &t->part[i];
        to->name = named[i].name;
        snprintf(to->axes, sizeof to->axes, "%s", named[i].axes);
        for (const char *axis = to->axes; axis; axis = strchr(axis, ',')) {
            axis += axis > to->axes ? 2 : 0;
            to->shape[to->dims++] = axis_of(t, axis).all;
        }
    }
}

// to: zeros. Rows of the pass that come later in the dialog are moved there, the last first.
static void read_part(const tracing *t, enum part i, float *to)
{
    const axis_rows rows = axis_of(t, named[i].axes);
    size_t columns = t->part[i].dims > 1 ? (size_t)t->part[i].shape[1] : 1;
    const vd_real *const *from = (const void *)((const char *)t->pass + named[i].at);
    t->pass->be->read_floats(*from, to, (size_t)rows.seen * columns);
    for (int r = rows.seen; rows.index && r-- > 0;) {
        float *row = to + (size_t)r * columns;
        if (rows.index[r] == r)
            break;
        memcpy(to + (size_t)rows.index[r] * columns, row, columns * sizeof *to);
        memset(row, 0, columns * sizeof *to);
    }
}

static void copy_parts(tracing *t)
{
    for (int i = WORD; i < PARTS; i++) {
        size_t n = size_of(&t->part[i]);
        float *to = vd_arena_take(&t->trace->memory, n, sizeof *to);
        if (to && i < ROUNDS)
            read_part(t, i, to);
        else if (to)
            memcpy(to, t->outcome->attention[i - ROUNDS].share, n * sizeof *to);
        t->part[i].value = to;
    }
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

static double *add_table(tracing *t, const char *title, vd_trace_table table)
{
    return vd_trace_add_table(t->trace, t->stage, title, table);
}

static double *add_attention(tracing *t, const char *title, enum part part,
                             const char *const *column)
{
    const vd_attention *a = &t->outcome->attention[part - ROUNDS];
    return vd_trace_add_attention(t->trace, t->stage, title, a, column);
}

// The means of equal parts of a gate, one for each number of the table.
static void add_gate(tracing *t, enum part part, vd_trace_table table)
{
    int n = table.rows * table.columns, size = n ? (int)size_of(&t->part[part]) / n : 0;
    double *value = add_table(t, "Gate: how far it is open", table);
    for (int i = 0; value && i < n; i++)
        value[i] = mean_of(t->part[part].value + i * size, size);
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
    for (int i = 0; value && i < words; i++) {
        const float *state = t->part[STATE].value + i * h2;
        *value++ = length_of(t->part[WORD].value + i * c->embed, c->embed);
        *value++ = length_of(state, h2);
        *value++ = cosine(state, t->part[QUESTION].value, h2);
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
                             *const halves[] = {"of the question q", "of the history c"};
    t->stage->formula[3] = gated_transform[t->pass->config->gate];
    add_attention(t, "Attention 1: which rounds it is about", ROUNDS, a);
    add_gate(
        t, CONTEXT_GATE,
        (vd_trace_table){.share = true, .row = halves, .column = open, .rows = 2, .columns = 1});
}

// With a_r S_rij, what the words gather by.
static void topic_aggregation(tracing *t)
{
    static const char *const halves[] = {"the word", "gathered"};
    const vd_attention *rounds = &t->outcome->attention[0], *words = rounds + 1;
    const vd_packed *seen = &t->pass->history_words;
    const int *entry = t->subsets->at[VD_AXIS_ENTRIES],
              *index = t->subsets->at[VD_AXIS_HISTORY_WORDS];
    double *value = add_attention(t, "Attention 2: related words, word@round (0: caption)",
                                  HISTORY_WORDS, NULL);
    for (int s = 0; value && s < seen->sequences; s++)
        for (int j = seen->start[s]; j < seen->start[s + 1]; j++)
            for (int i = 0; i < words->rows; i++) {
                int at = i * words->columns + (index ? index[j] : j);
                value[at] = (double)(rounds->share[entry ? entry[s] : s] * words->share[at]);
            }
    add_gate(t, TOPIC_GATE,
             (vd_trace_table){.share = true,
                              .row_axis = VD_AXIS_QUESTION_WORDS,
                              .column = halves,
                              .rows = words->rows,
                              .columns = 2});
}

static void topic_view(tracing *t)
{
    add_attention(t, "Attention 3: which words each region looks at", QUESTION_WORDS, NULL);
}

static void context_view(tracing *t)
{
    static const char *const g[] = {"g"};
    add_attention(t, "Attention 4: the regions the answer draws on", REGIONS, g);
}

static void fusion(tracing *t)
{
    static const char *const rows[] = {"numbers in y", "numbers in e", "of them above zero (relu)",
                                       "the largest", "length |e|"};
    static const char *const none[] = {""};
    int h = t->pass->config->hidden;
    const float *e = t->part[ENCODED].value;
    double above = 0, largest = 0;
    for (int i = 0; i < h; i++) {
        above += e[i] > 0;
        largest = fmax(largest, (double)e[i]);
    }
    double *value = add_table(
        t, "The vector e", (vd_trace_table){.row = rows, .column = none, .rows = 5, .columns = 1});
    if (value)
        memcpy(value,
               (double[]){t->pass->config->region + 4 * h, h, above, largest, length_of(e, h)},
               5 * sizeof *value);
}

// ---- stages -------------------------------------------------------------------------------------

typedef struct stage_tensor {
    enum part part;
    const char *is; // NULL: no more
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
     .in = {{WORD, "question word vectors"}},
     .out = {{STATE, "word states"},
             {QUESTION, "the question"},
             {HISTORY, "history, read likewise"}},
     .tables = word_states},
    {.title = "Context matching and gate",
     .why = "Which earlier rounds is the question about? Each round gets a share of attention; "
            "together they are 100 %. A gate then passes on a part of the question and of the "
            "history: all of it where it is open, nothing where it is closed.",
     .formula = {"s_r = w . (f_q(q) * f_h(h_r)) + b      a = softmax over r of s",
                 "c = sum_r a_r h_r      x = [q ; c]", "e_ctx = sigmoid(W x + b) * x"},
     .in = {{QUESTION, "the question"}, {HISTORY, "history entries"}},
     .out = {{ROUNDS, "attention 1: question -> rounds"},
             {MATCHED, "what it takes from history"},
             {CONTEXT, "question in context"}},
     .tables = context_matching},
    {.title = "Topic aggregation and gate",
     .why = "The same word by word: each word of the question looks for the words of the caption "
            "and of earlier rounds that belong to it. This is how \"it\" can stand for a cube that "
            "was named before.",
     .formula = {"S_rij = f_q(Q_i) . f_h(H_rj), softmax over j",
                 "u_i = sum_r a_r sum_j S_rij W_rj      x_i = [word_i ; u_i]",
                 "e_top,i = sigmoid(W x_i + b) * x_i"},
     .in = {{STATE, "word states"}, {ROUNDS, "attention 1"}},
     .out = {{GATHERED, "what each word gathered"},
             {TOPIC, "words with topics"},
             {HISTORY_WORDS, "attention 2: word -> word"}},
     .tables = topic_aggregation},
    {.title = "Topic view",
     .why = "Now the picture. A region is a part of it with one object. Each region attends to the "
            "words of the question that match it; a row adds up to 100 %.",
     .formula = {"M_ki = f_v(img_k) . f_t(e_top,i), softmax over i", "t_k = sum_i M_ki e_top,i",
                 "m_k = relu(W2 relu(W1 [img_k ; t_k] + b1) + b2)"},
     .in = {{IMAGE, "region features"}, {TOPIC, "words with topics"}},
     .out = {{QUESTION_WORDS, "attention 3: region -> word"},
             {REGION_TOPIC, "each region's words"},
             {VIEW, "regions with words"}},
     .tables = topic_view},
    {.title = "Context view",
     .why = "Which regions is the answer read from? The question and its history give each region "
            "a share of attention; together they are 100 %. The picture shows them as outlines.",
     .formula = {"y_k = [m_k ; e_ctx]      z_k = l2norm(f_m(y_k) * f_c(e_ctx))",
                 "g = softmax over k of (w . z_k + b)", "y = sum_k g_k y_k"},
     .in = {{VIEW, "regions with words"}, {CONTEXT, "question in context"}},
     .out = {{FUSED, "fit of region and context"},
             {REGIONS, "attention 4: regions"},
             {POOLED, "picture and question"}},
     .tables = context_view},
    {.title = "Fusion",
     .why = "What was seen and what was asked become one vector, e. It has as many numbers as the "
            "vector of an answer, so that the two can be compared.",
     .formula = {"e = relu(W y + b)"},
     .in = {{POOLED, "picture and question"}},
     .out = {{ENCODED, "question vector e"}},
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

static int list_tensors(const tracing *t, const stage_tensor *from, vd_trace_value *out)
{
    int count = 0;
    for (; count < VD_STAGE_VALUES && from[count].is; count++) {
        out[count] = t->part[from[count].part];
        out[count].is = from[count].is;
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
    tracing t = {.pass = pass, .subsets = subsets, .outcome = outcome, .trace = out};
    vd_status status = vd_trace_make(STAGES + VD_DECODER_STAGES, out, err);
    if (status == VD_OK) {
        list_parts(&t);
        copy_parts(&t);
        status = vd_trace_status(out, err);
    }
    if (status)
        return status;
    list_stages(&t, out->stage);
    vd_decoder_stages(outcome, &out->stage[STAGES - 1].out[0], out);
    return vd_trace_status(out, err);
}

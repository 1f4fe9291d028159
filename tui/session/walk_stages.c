// What each stage shows. Names and formulas are those of the stages' files in engine/.
#include <glib.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tui/base/shares.h"
#include "tui/session/walk.h"

// What a stage is made from: the answer as it is, or the changed one.
typedef struct walk_view {
    const vd_walk *walk;
    const vd_reply *reply;
    const vd_answer *answer;
    const vd_trace *trace;
    const char *const *answers;
    vd_walk_stage *out;
} walk_view;

// ---- tables -------------------------------------------------------------------------------------

// A table with these columns; the caller names and fills its rows.
static vd_walk_table *new_table(walk_view *v, const char *title, bool share, int rows,
                                const char *const *columns, int count)
{
    vd_walk_table *t = &v->out->table[v->out->tables++];
    *t = (vd_walk_table){.share = share, .rows = rows, .columns = count};
    g_strlcpy(t->title, title, sizeof t->title);
    t->row = g_malloc0_n((gsize)rows, sizeof *t->row);
    t->column = g_malloc0_n((gsize)count, sizeof *t->column);
    t->value = g_new0(double, (gsize)rows *(gsize)count);
    for (int i = 0; i < count; i++)
        g_strlcpy(t->column[i], columns[i], sizeof t->column[i]);
    return t;
}

// The same with one column.
static vd_walk_table *new_list(walk_view *v, const char *title, bool share, int rows,
                               const char *column)
{
    return new_table(v, title, share, rows, &column, 1);
}

static void name_row(vd_walk_table *t, int row, const char *text)
{
    g_strlcpy(t->row[row], text, sizeof t->row[row]);
}

static void name_words(const walk_view *v, vd_walk_table *t)
{
    for (int i = 0; i < t->rows; i++)
        name_row(t, i, v->reply->word[i]);
}

// In the order of their shares in the answer as it is, whatever is switched.
static void name_regions(const walk_view *v, vd_walk_table *t)
{
    for (int p = 0; p < t->rows; p++) {
        char label[VD_REGION_LABEL];
        vd_region_label(v->walk->names, v->walk->region[p], label);
        snprintf(t->row[p], sizeof t->row[p], "%s%.40s", v->walk->names ? "" : "region ", label);
    }
}

// "3 a red cube": an answer with its place from 1.
static void name_answer(const walk_view *v, vd_walk_table *t, int row, int place)
{
    snprintf(t->row[row], sizeof t->row[row], "%d %.38s", place,
             v->answers[v->answer->order[place - 1]]);
}

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

static void word_states(walk_view *v)
{
    static const char *const columns[] = {"|word vector|", "|state|", "cos(state, q)"};
    const vd_trace *t = v->trace;
    bool positions = v->walk->config.positions != VD_POSITIONS_NONE;
    for (int i = 0; v->answer == &v->walk->changed.answer && i < v->walk->switches.count; i++)
        if (v->walk->switches.at[i].kind == VD_SWITCH_POSITIONS)
            positions = !positions;
    if (positions)
        v->out->formula[0] = "Q = BiLSTM(word vectors + positions)";
    vd_walk_table *table = new_table(v, "Question words", false, t->words, columns, 3);
    name_words(v, table);
    for (int i = 0; i < t->words; i++) {
        const float *state = t->state + (size_t)i * 2 * (size_t)t->hidden;
        table->value[3 * i] = length_of(t->word + (size_t)i * (size_t)t->embed, t->embed);
        table->value[3 * i + 1] = length_of(state, 2 * t->hidden);
        table->value[3 * i + 2] = cosine(state, t->question, 2 * t->hidden);
    }
}

static void context_matching(walk_view *v)
{
    // The f of the formulas; each has its own weights.
    static const char *const gated_transform[] = {
        [VD_GATE_SIGMOID] = "every f(x) = tanh(W x + b) * sigmoid(V x + c)",
        [VD_GATE_LEAKY_RELU] = "every f(x) = tanh(W x + b) * LeakyReLU(V x + c)",
        [VD_GATE_ELU] = "every f(x) = tanh(W x + b) * ELU(V x + c)"};
    const vd_trace *t = v->trace;
    int h2 = 2 * t->hidden;
    v->out->formula[3] = gated_transform[v->walk->config.gate];
    vd_walk_table *table =
        new_list(v, "Attention 1: which rounds it is about", true, t->rounds, "a");
    for (int r = 0; r < t->rounds; r++) {
        name_row(table, r, v->walk->entry[r].label);
        table->value[r] = (double)v->answer->context_attention[r];
    }
    table = new_list(v, "Gate: how far it is open", true, 2, "open");
    name_row(table, 0, "of the question q");
    name_row(table, 1, "of the history c");
    table->value[0] = mean_of(t->context_gate, h2);
    table->value[1] = mean_of(t->context_gate + h2, h2);
}

// The history words that question word i gathers most of, by a_r S_rij. share: room for (R, Th).
static void strongest_words(const walk_view *v, vd_walk_table *table, int i, float *share)
{
    enum { MOST = 3 };
    const vd_answer *a = v->answer;
    vd_share top[MOST];
    int width = a->history_width;
    for (int r = 0; r < a->rounds; r++)
        for (int j = 0; j < width; j++) {
            const float *s =
                a->topic_attention + (size_t)(r * a->question_length + i) * (size_t)width;
            share[r * width + j] = j < a->history_length[r] ? a->context_attention[r] * s[j] : 0;
        }
    int count = vd_shares_top(share, a->rounds * width, 2, top, table->columns);
    for (int n = 0; n < count; n++) {
        int r = top[n].index / width, j = top[n].index % width;
        const vd_entry_words *words = &v->walk->entry[r].words;
        char word[32], percent[16];
        if (words->count == a->history_length[r])
            snprintf(word, sizeof word, "%s", words->word[j]);
        else
            snprintf(word, sizeof word, "#%d", j + 1);
        vd_percent(percent, sizeof percent, top[n].share);
        snprintf(table->text[i * table->columns + n], sizeof table->text[0], "%.23s@%d %.8s", word,
                 r, percent);
        table->value[i * table->columns + n] = top[n].share;
    }
}

static void topic_aggregation(walk_view *v)
{
    static const char *const order[] = {"most", "then", "then"};
    static const char *const parts[] = {"the word", "gathered"};
    const vd_trace *t = v->trace;
    int e = t->embed;
    vd_walk_table *table = new_table(v, "Attention 2: related words, word@round (0: caption)", true,
                                     t->words, order, 3);
    table->text = g_malloc0_n((gsize)t->words * 3, sizeof *table->text);
    name_words(v, table);
    float *share = g_new(float, (gsize)v->answer->rounds *(gsize)v->answer->history_width);
    for (int i = 0; i < t->words; i++)
        strongest_words(v, table, i, share);
    g_free(share);
    table = new_table(v, "Gate: how far it is open", true, t->words, parts, 2);
    name_words(v, table);
    for (int i = 0; i < 2 * t->words; i++)
        table->value[i] = mean_of(t->topic_gate + (size_t)i * (size_t)e, e);
}

static void topic_view(walk_view *v)
{
    const vd_answer *a = v->answer;
    int words = a->question_length;
    vd_walk_table *table = new_table(v, "Attention 3: which words each region looks at", true,
                                     v->trace->regions, (const char *const *)v->reply->word, words);
    name_regions(v, table);
    for (int p = 0; p < table->rows; p++)
        for (int i = 0; i < words; i++)
            table->value[p * words + i] = (double)a->word_attention[v->walk->region[p] * words + i];
}

static void context_view(walk_view *v)
{
    vd_walk_table *table =
        new_list(v, "Attention 4: the regions the answer draws on", true, v->trace->regions, "g");
    name_regions(v, table);
    for (int p = 0; p < table->rows; p++)
        table->value[p] = (double)v->answer->region_attention[v->walk->region[p]];
}

static void fusion(walk_view *v)
{
    const vd_trace *t = v->trace;
    int active = 0;
    double most = 0;
    for (int i = 0; i < t->hidden; i++) {
        active += t->encoded[i] > 0;
        most = fmax(most, (double)t->encoded[i]);
    }
    const struct {
        const char *name;
        double value;
    } rows[] = {{"numbers in y", t->region + 4 * t->hidden},
                {"numbers in e", t->hidden},
                {"of them above zero (relu)", active},
                {"the largest", most},
                {"length |e|", length_of(t->encoded, t->hidden)}};
    vd_walk_table *table = new_list(v, "The vector e", false, G_N_ELEMENTS(rows), "");
    for (int i = 0; i < table->rows; i++) {
        name_row(table, i, rows[i].name);
        table->value[i] = rows[i].value;
    }
}

enum { SHOWN_ANSWERS = 8 };

static void candidate_scores(walk_view *v)
{
    const vd_answer *a = v->answer;
    int all = a->candidates, shown = MIN(all, SHOWN_ANSWERS);
    vd_walk_table *table = new_list(v, "Scores of the first answers, and of the last", false,
                                    shown + (all > shown), "z");
    for (int i = 0; i < table->rows; i++) {
        int place = i < shown ? i + 1 : all;
        name_answer(v, table, i, place);
        table->value[i] = (double)a->score[a->order[place - 1]];
    }
}

static void softmax(walk_view *v)
{
    const vd_answer *a = v->answer;
    int all = a->candidates, shown = MIN(all, SHOWN_ANSWERS);
    double others = 1;
    char title[96];
    snprintf(title, sizeof title, "Shares within %d candidates", all);
    vd_walk_table *table = new_list(v, title, true, shown + (all > shown), "p");
    for (int i = 0; i < shown; i++) {
        name_answer(v, table, i, i + 1);
        table->value[i] = (double)a->probability[a->order[i]];
        others -= table->value[i];
    }
    if (all > shown) {
        snprintf(table->row[shown], sizeof table->row[shown], "the other %d", all - shown);
        table->value[shown] = fmax(others, 0);
    }
}

// ---- stages -------------------------------------------------------------------------------------

// A tensor: its axes give the shape, source and offset the pointer to its numbers.
typedef struct tensor {
    const char *name, *is, *axes;
    enum { ABSENT, OF_ANSWER, OF_TRACE } source; // ABSENT: not part of what was computed
    size_t offset;
} tensor;

#define ANSWER(member) OF_ANSWER, offsetof(vd_answer, member)
#define TRACE(member)  OF_TRACE, offsetof(vd_trace, member)

typedef struct stage_row {
    const char *title, *why, *formula[4];
    tensor in[3], out[3];
    void (*tables)(walk_view *v);
} stage_row;

// The stage of the scores has a row for each choice of decoders.
enum { SCORES = 6, SOFTMAX = SCORES + 3 };

static const stage_row stages[] = {
    {.title = "Word states",
     .why = "Each word of the question becomes a list of numbers, a vector. The question is read "
            "forwards and backwards, so that the vector of a word also depends on the words around "
            "it.",
     .formula = {"Q = BiLSTM(word vectors)",
                 "q = [forward state at the last word ; backward state at the first]"},
     .in = {{"W", "question word vectors", "Tq, E", TRACE(word)}},
     .out = {{"Q", "word states", "Tq, 2H", TRACE(state)},
             {"q", "the question", "2H", TRACE(question)},
             {"h", "history, read likewise", "R, 2H", TRACE(history)}},
     .tables = word_states},
    {.title = "Context matching and gate",
     .why = "Which earlier rounds is the question about? Each round gets a share of attention; "
            "together they are 100 %. A gate then passes on a part of the question and of the "
            "history: all of it where it is open, nothing where it is closed.",
     .formula = {"s_r = w . (f_q(q) * f_h(h_r)) + b      a = softmax over r of s",
                 "c = sum_r a_r h_r      x = [q ; c]", "e_ctx = sigmoid(W x + b) * x"},
     .in = {{"q", "the question", "2H", TRACE(question)},
            {"h", "history entries", "R, 2H", TRACE(history)}},
     .out = {{"a", "attention 1: question -> rounds", "R", ANSWER(context_attention)},
             {"c", "what it takes from history", "2H", TRACE(matched)},
             {"e_ctx", "question in context", "4H", TRACE(context)}},
     .tables = context_matching},
    {.title = "Topic aggregation and gate",
     .why = "The same word by word: each word of the question looks for the words of the caption "
            "and of earlier rounds that belong to it. This is how \"it\" can stand for a cube that "
            "was named before.",
     .formula = {"S_rij = f_q(Q_i) . f_h(H_rj), softmax over j",
                 "u_i = sum_r a_r sum_j S_rij W_rj      x_i = [word_i ; u_i]",
                 "e_top,i = sigmoid(W x_i + b) * x_i"},
     .in = {{"Q", "word states", "Tq, 2H", TRACE(state)},
            {"a", "attention 1", "R", ANSWER(context_attention)}},
     .out = {{"u", "what each word gathered", "Tq, E", TRACE(gathered)},
             {"e_top", "words with topics", "Tq, 2E", TRACE(topic)},
             {"S", "attention 2: word -> word", "R, Tq, Th", ANSWER(topic_attention)}},
     .tables = topic_aggregation},
    {.title = "Topic view",
     .why = "Now the picture. A region is a part of it with one object. Each region picks the "
            "words of the question that fit it; a row adds up to 100 %.",
     .formula = {"M_ki = f_v(img_k) . f_t(e_top,i), softmax over i", "t_k = sum_i M_ki e_top,i",
                 "m_k = relu(W2 relu(W1 [img_k ; t_k] + b1) + b2)"},
     .in = {{"img", "region features", "P, D", ABSENT, 0},
            {"e_top", "words with topics", "Tq, 2E", TRACE(topic)}},
     .out = {{"M", "attention 3: region -> word", "P, Tq", ANSWER(word_attention)},
             {"t", "each region's words", "P, 2E", TRACE(region_topic)},
             {"m", "regions with words", "P, D", TRACE(view)}},
     .tables = topic_view},
    {.title = "Context view",
     .why = "Which regions is the answer read from? The question and its history give each region "
            "a share of attention; together they are 100 %. The picture shows them as outlines.",
     .formula = {"y_k = [m_k ; e_ctx]      z_k = l2norm(f_m(y_k) * f_c(e_ctx))",
                 "g = softmax over k of (w . z_k + b)", "y = sum_k g_k y_k"},
     .in = {{"m", "regions with words", "P, D", TRACE(view)},
            {"e_ctx", "question in context", "4H", TRACE(context)}},
     .out = {{"z", "fit of region and context", "P, H", TRACE(fused)},
             {"g", "attention 4: regions", "P", ANSWER(region_attention)},
             {"y", "picture and question", "D+4H", TRACE(pooled)}},
     .tables = context_view},
    {.title = "Fusion",
     .why = "What was seen and what was asked become one vector, e. It has as many numbers as the "
            "vector of an answer, so that the two can be compared.",
     .formula = {"e = relu(W y + b)"},
     .in = {{"y", "picture and question", "D+4H", TRACE(pooled)}},
     .out = {{"e", "question vector e", "H", TRACE(encoded)}},
     .tables = fusion},
    [SCORES +
        VD_DISCRIMINATIVE] = {.title = "Candidate scores",
                              .why = "Every answer that the model can give has a vector, too. Its "
                                     "score says how well that fits e: the higher, the better.",
                              .formula = {"o_c = last state of LSTM(answer c)", "z_c = o_c . e"},
                              .in = {{"e", "question vector e", "H", TRACE(encoded)},
                                     {"o", "the pool's answers", "O, H", ABSENT, 0}},
                              .out = {{"z", "a score for each", "O", ANSWER(score)}},
                              .tables = candidate_scores},
    [SCORES + VD_GENERATIVE] =
        {.title = "Candidate scores",
         .why = "The model says every answer that it can give word by word, beginning from e. "
                "The score says how probable its words are: the closer to 0, the better.",
         .formula = {"P = softmax(W LSTM(answer c, from e))", "z_c = mean_t log P(word t of c)"},
         .in = {{"e", "question vector e", "H", TRACE(encoded)}},
         .out = {{"z", "a score for each", "O", ANSWER(score)}},
         .tables = candidate_scores},
    [SCORES +
        VD_BOTH] = {.title = "Candidate scores",
                    .why = "Two scores are averaged: how well the vector of an answer fits e, and "
                           "how probable its words are after e. The higher, the better.",
                    .formula = {"o_c = last state of LSTM(answer c)",
                                "z_c = (o_c . e + mean_t log P(word t of c)) / 2"},
                    .in = {{"e", "question vector e", "H", TRACE(encoded)},
                           {"o", "the pool's answers", "O, H", ABSENT, 0}},
                    .out = {{"z", "a score for each", "O", ANSWER(score)}},
                    .tables = candidate_scores},
    [SOFTMAX] = {.title = "Softmax",
                 .why = "The scores become shares that add up to 100 %. A large share says that an "
                        "answer is better than the others here, not that it is right.",
                 .formula = {"p_c = exp(z_c) / sum_d exp(z_d)"},
                 .in = {{"z", "scores", "O", ANSWER(score)}},
                 .out = {{"p", "shares", "O", ANSWER(probability)}},
                 .tables = softmax}};

void vd_walk_cell(const vd_walk_table *table, int at, bool narrow, char *out, size_t size)
{
    double value = table->value[at];
    if (table->text)
        snprintf(out, size, "%s", table->text[at]);
    else if (table->share && narrow)
        snprintf(out, size, "%.0f", 100 * value);
    else if (table->share)
        vd_percent(out, size, value);
    else if (value == floor(value) && fabs(value) < 1e6)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%.3f", value);
}

static int axis_size(const walk_view *v, const char *axis)
{
    const vd_trace *t = v->trace;
    const struct {
        const char *name;
        int size;
    } axes[] = {{"Tq", t->words},
                {"Th", v->answer->history_width},
                {"R", t->rounds},
                {"P", t->regions},
                {"O", v->answer->candidates},
                {"D", t->region},
                {"D+4H", t->region + 4 * t->hidden},
                {"E", t->embed},
                {"2E", 2 * t->embed},
                {"H", t->hidden},
                {"2H", 2 * t->hidden},
                {"4H", 4 * t->hidden}};
    size_t i = 0;
    while (strcmp(axes[i].name, axis) != 0)
        i++;
    return axes[i].size;
}

static int list_values(const walk_view *v, const tensor *tensors, vd_walk_value *out)
{
    int count = 0;
    for (; count < 3 && tensors[count].name; count++) {
        const tensor *from = &tensors[count];
        vd_walk_value *to = &out[count];
        *to = (vd_walk_value){.name = from->name, .is = from->is, .axes = from->axes};
        if (from->source) {
            const void *base = from->source == OF_TRACE ? (const void *)v->trace : v->answer;
            memcpy(&to->value, (const char *)base + from->offset, sizeof to->value);
        }
        char **axes = g_strsplit(from->axes, ", ", 3);
        for (; axes[to->dims]; to->dims++)
            to->shape[to->dims] = axis_size(v, axes[to->dims]);
        g_strfreev(axes);
    }
    return count;
}

void vd_walk_stage_make(const vd_walk *walk, bool changed, int index, const char *const *answers,
                        vd_walk_stage *out)
{
    const stage_row *from = &stages[index < SCORES    ? index
                                    : index == SCORES ? SCORES + (int)walk->by
                                                      : SOFTMAX];
    const vd_reply *reply = changed ? &walk->changed : &walk->reply;
    walk_view v = {.walk = walk,
                   .reply = reply,
                   .answer = &reply->answer,
                   .trace = changed ? &walk->changed_trace : &walk->trace,
                   .answers = answers,
                   .out = out};
    *out = (vd_walk_stage){.title = from->title, .why = from->why};
    memcpy(out->formula, from->formula, sizeof out->formula);
    out->ins = list_values(&v, from->in, out->in);
    out->outs = list_values(&v, from->out, out->out);
    from->tables(&v);
}

void vd_walk_stage_clear(vd_walk_stage *stage)
{
    for (int i = 0; i < stage->tables; i++) {
        g_free(stage->table[i].row);
        g_free(stage->table[i].column);
        g_free(stage->table[i].value);
        g_free(stage->table[i].text);
    }
    *stage = (vd_walk_stage){0};
}

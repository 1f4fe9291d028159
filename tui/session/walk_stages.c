// What each stage shows. Names and formulas are those of the stages' files in engine/.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/base/shares.h"
#include "tui/session/walk.h"

// What a stage is made of, whichever answer is shown.
typedef struct walk_view {
    const vd_walk *walk;
    const vd_reply *reply;
    const vd_answer *answer;
    const vd_trace *trace;
    const char *const *answers;
    vd_walk_stage *out;
} walk_view;

// ---- pieces -------------------------------------------------------------------------------------

static void put_value(vd_walk_value *list, int *count, const char *name, const char *is,
                      const char *axes, const float *value, int rows, int columns)
{
    list[(*count)++] = (vd_walk_value){.name = name,
                                       .is = is,
                                       .axes = axes,
                                       .dims = columns ? 2 : 1,
                                       .shape = {rows, columns},
                                       .value = value};
}

static void goes_in(walk_view *v, const char *name, const char *is, const char *axes,
                    const float *value, int rows, int columns)
{
    put_value(v->out->in, &v->out->ins, name, is, axes, value, rows, columns);
}

static void comes_out(walk_view *v, const char *name, const char *is, const char *axes,
                      const float *value, int rows, int columns)
{
    put_value(v->out->out, &v->out->outs, name, is, axes, value, rows, columns);
}

static vd_walk_table *new_table(walk_view *v, bool share, int rows, int columns, bool text)
{
    vd_walk_table *t = &v->out->table[v->out->tables];
    size_t cells = (size_t)rows * (size_t)columns;
    *t = (vd_walk_table){.share = share, .rows = rows, .columns = columns};
    v->out->tables++;
    t->row = vd_alloc((size_t)rows, sizeof *t->row);
    t->column = vd_alloc((size_t)columns, sizeof *t->column);
    t->value = vd_alloc(cells, sizeof *t->value);
    if (text)
        t->text = vd_alloc(cells, sizeof *t->text);
    return t->row && t->column && t->value && (t->text || !text) ? t : NULL;
}

static void label(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%.*s", (int)size - 1, text);
}

static void name_column(vd_walk_table *t, int column, const char *text)
{
    label(t->column[column], sizeof t->column[column], text);
}

static void name_row(vd_walk_table *t, int row, const char *text)
{
    label(t->row[row], sizeof t->row[row], text);
}

static void name_words(const walk_view *v, vd_walk_table *t, bool rows)
{
    for (int i = 0; i < v->trace->words; i++) {
        if (rows)
            name_row(t, i, v->reply->word[i]);
        else
            name_column(t, i, v->reply->word[i]);
    }
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

// ---- the stages ---------------------------------------------------------------------------------

static bool word_states(walk_view *v)
{
    const vd_trace *t = v->trace;
    bool positions = v->walk->config.positions != VD_POSITIONS_NONE;
    for (int i = 0; v->answer == &v->walk->changed.answer && i < v->walk->switches.count; i++)
        if (v->walk->switches.at[i].kind == VD_SWITCH_POSITIONS)
            positions = !positions;
    v->out->title = "Word states";
    v->out->file = "engine/networks/mvan/sentences.c";
    v->out->why = "A word means something only beside its neighbours: read from left to right and "
                  "from right to left, every word gets a vector that knows the whole question.";
    v->out->formula[0] =
        positions ? "Q = BiLSTM(word vectors + positions)" : "Q = BiLSTM(word vectors)";
    v->out->formula[1] = "q = [forward state at the last word ; backward state at the first]";
    goes_in(v, "W", "question word vectors", "Tq, E", t->word, t->words, t->embed);
    comes_out(v, "Q", "word states", "Tq, 2H", t->state, t->words, 2 * t->hidden);
    comes_out(v, "q", "the question", "2H", t->question, 2 * t->hidden, 0);
    comes_out(v, "h", "history, read likewise", "R, 2H", t->history, t->rounds, 2 * t->hidden);
    vd_walk_table *table = new_table(v, false, t->words, 3, false);
    if (!table)
        return false;
    label(table->title, sizeof table->title, "Question words");
    name_words(v, table, true);
    name_column(table, 0, "|word vector|");
    name_column(table, 1, "|state|");
    name_column(table, 2, "cos(state, q)");
    for (int i = 0; i < t->words; i++) {
        const float *state = t->state + (size_t)i * 2 * (size_t)t->hidden;
        table->value[3 * i] = length_of(t->word + (size_t)i * (size_t)t->embed, t->embed);
        table->value[3 * i + 1] = length_of(state, 2 * t->hidden);
        table->value[3 * i + 2] = cosine(state, t->question, 2 * t->hidden);
    }
    return true;
}

// What every f of the formulas is, with weights of its own.
static const char *gated_transform(vd_gate gate)
{
    static const char *const formula[] = {
        [VD_GATE_SIGMOID] = "every f(x) = tanh(W x + b) * sigmoid(V x + c)",
        [VD_GATE_LEAKY_RELU] = "every f(x) = tanh(W x + b) * LeakyReLU(V x + c)",
        [VD_GATE_ELU] = "every f(x) = tanh(W x + b) * ELU(V x + c)"};
    return formula[gate];
}

static bool context_matching(walk_view *v)
{
    const vd_trace *t = v->trace;
    int h2 = 2 * t->hidden;
    v->out->title = "Context matching and gate";
    v->out->file = "engine/networks/mvan/context_matching.c";
    v->out->why =
        "\"It\" means nothing without the earlier rounds: the question picks the rounds it is "
        "about, and a gate decides how much of question and history is passed on.";
    v->out->formula[0] = "s_r = w . (f_q(q) * f_h(h_r)) + b      a = softmax over r of s";
    v->out->formula[1] = "c = sum_r a_r h_r      x = [q ; c]";
    v->out->formula[2] = "e_ctx = sigmoid(W x + b) * x";
    v->out->formula[3] = gated_transform(v->walk->config.gate);
    goes_in(v, "q", "the question", "2H", t->question, h2, 0);
    goes_in(v, "h", "history entries", "R, 2H", t->history, t->rounds, h2);
    comes_out(v, "a", "attention 1: question -> rounds", "R", v->answer->context_attention,
              t->rounds, 0);
    comes_out(v, "c", "what it takes from history", "2H", t->matched, h2, 0);
    comes_out(v, "e_ctx", "question in context", "4H", t->context, 2 * h2, 0);
    vd_walk_table *table = new_table(v, true, t->rounds, 1, false);
    if (!table)
        return false;
    label(table->title, sizeof table->title, "Attention 1: which rounds it is about");
    name_column(table, 0, "a");
    for (int r = 0; r < t->rounds; r++) {
        name_row(table, r, v->walk->entry[r].label);
        table->value[r] = (double)v->answer->context_attention[r];
    }
    if (!(table = new_table(v, true, 2, 1, false)))
        return false;
    label(table->title, sizeof table->title, "Gate: mean opening");
    name_column(table, 0, "open");
    name_row(table, 0, "of the question q");
    name_row(table, 1, "of the history c");
    table->value[0] = mean_of(t->context_gate, h2);
    table->value[1] = mean_of(t->context_gate + h2, h2);
    return true;
}

// The history words that question word i gathers most of, by a_r S_rij.
static void strongest_words(const walk_view *v, vd_walk_table *table, int i)
{
    const vd_answer *a = v->answer;
    double before = 2;
    int used_r = -1, used_j = -1;
    for (int n = 0; n < table->columns; n++) {
        int best_r = -1, best_j = -1;
        double best = -1;
        for (int r = 0; r < a->rounds; r++)
            for (int j = 0; j < a->history_length[r]; j++) {
                double share =
                    (double)a->context_attention[r] *
                    (double)
                        a->topic_attention[((size_t)r * (size_t)a->question_length + (size_t)i) *
                                               (size_t)a->history_width +
                                           (size_t)j];
                // In falling order, equal shares by place.
                bool later = share < before ||
                             (share == before && (r > used_r || (r == used_r && j > used_j)));
                if (later && share > best) {
                    best = share;
                    best_r = r;
                    best_j = j;
                }
            }
        if (best_r < 0)
            return;
        const vd_walk_entry *entry = &v->walk->entry[best_r];
        char word[32], percent[16];
        if (entry->words.count == a->history_length[best_r])
            snprintf(word, sizeof word, "%s", entry->words.word[best_j]);
        else
            snprintf(word, sizeof word, "#%d", best_j + 1);
        vd_percent(percent, sizeof percent, best);
        snprintf(table->text[i * table->columns + n], sizeof table->text[0], "%.23s@%d %.8s", word,
                 best_r, percent);
        table->value[i * table->columns + n] = best;
        before = best;
        used_r = best_r;
        used_j = best_j;
    }
}

static bool topic_aggregation(walk_view *v)
{
    const vd_trace *t = v->trace;
    int e = t->embed, e2 = 2 * t->embed;
    v->out->title = "Topic aggregation and gate";
    v->out->file = "engine/networks/mvan/topic_aggregation.c";
    v->out->why = "Every single word of the question gathers the history's words it is about, so "
                  "that \"it\" can stand for the cube that was named two rounds ago.";
    v->out->formula[0] = "S_rij = f_q(Q_i) . f_h(H_rj), softmax over j";
    v->out->formula[1] = "u_i = sum_r a_r sum_j S_rij W_rj      x_i = [word_i ; u_i]";
    v->out->formula[2] = "e_top,i = sigmoid(W x_i + b) * x_i";
    goes_in(v, "Q", "word states", "Tq, 2H", t->state, t->words, 2 * t->hidden);
    goes_in(v, "a", "attention 1", "R", v->answer->context_attention, t->rounds, 0);
    comes_out(v, "u", "what each word gathered", "Tq, E", t->gathered, t->words, e);
    comes_out(v, "e_top", "words with topics", "Tq, 2E", t->topic, t->words, e2);
    v->out->out[v->out->outs++] =
        (vd_walk_value){.name = "S",
                        .is = "attention 2: word -> word",
                        .axes = "R, Tq, Th",
                        .dims = 3,
                        .shape = {t->rounds, t->words, v->answer->history_width},
                        .value = v->answer->topic_attention};
    vd_walk_table *table = new_table(v, true, t->words, 3, true);
    if (!table)
        return false;
    label(table->title, sizeof table->title, "Attention 2: a_r S, word@round (0 caption)");
    name_words(v, table, true);
    name_column(table, 0, "most");
    name_column(table, 1, "then");
    name_column(table, 2, "then");
    for (int i = 0; i < t->words; i++)
        strongest_words(v, table, i);
    if (!(table = new_table(v, true, t->words, 2, false)))
        return false;
    label(table->title, sizeof table->title, "Gate: mean opening");
    name_words(v, table, true);
    name_column(table, 0, "the word");
    name_column(table, 1, "gathered");
    for (int i = 0; i < t->words; i++) {
        table->value[2 * i] = mean_of(t->topic_gate + (size_t)i * (size_t)e2, e);
        table->value[2 * i + 1] = mean_of(t->topic_gate + (size_t)i * (size_t)e2 + e, e);
    }
    return true;
}

static void name_regions(vd_walk_table *table)
{
    for (int p = 0; p < table->rows; p++)
        snprintf(table->row[p], sizeof table->row[p], "region %d", p + 1);
}

static bool topic_view(walk_view *v)
{
    const vd_trace *t = v->trace;
    int q = v->answer->question_length;
    v->out->title = "Topic view";
    v->out->file = "engine/networks/mvan/topic_view.c";
    v->out->why = "Every region of the picture picks the words of the question that could be about "
                  "it and takes them into its own vector.";
    v->out->formula[0] = "M_ki = f_v(img_k) . f_t(e_top,i), softmax over i";
    v->out->formula[1] = "t_k = sum_i M_ki e_top,i";
    v->out->formula[2] = "m_k = relu(W2 relu(W1 [img_k ; t_k] + b1) + b2)";
    v->out->in[v->out->ins++] = (vd_walk_value){.name = "img",
                                                .is = "region features",
                                                .axes = "P, D",
                                                .dims = 2,
                                                .shape = {t->regions, t->region}};
    goes_in(v, "e_top", "words with topics", "Tq, 2E", t->topic, t->words, 2 * t->embed);
    comes_out(v, "M", "attention 3: region -> word", "P, Tq", v->answer->word_attention, t->regions,
              q);
    comes_out(v, "t", "each region's words", "P, 2E", t->region_topic, t->regions, 2 * t->embed);
    comes_out(v, "m", "regions with words", "P, D", t->view, t->regions, t->region);
    vd_walk_table *table = new_table(v, true, t->regions, q, false);
    if (!table)
        return false;
    label(table->title, sizeof table->title, "Attention 3: which words each region looks at");
    name_regions(table);
    name_words(v, table, false);
    for (int p = 0; p < t->regions; p++)
        for (int i = 0; i < q; i++)
            table->value[p * q + i] = (double)v->answer->word_attention[v->walk->region[p] * q + i];
    return true;
}

static bool context_view(walk_view *v)
{
    const vd_trace *t = v->trace;
    int h4 = 4 * t->hidden;
    v->out->title = "Context view";
    v->out->file = "engine/networks/mvan/context_view.c";
    v->out->why =
        "Now the whole question, with its history, decides which regions the answer is read from.";
    v->out->formula[0] = "y_k = [m_k ; e_ctx]      z_k = l2norm(f_m(y_k) * f_c(e_ctx))";
    v->out->formula[1] = "g = softmax over k of (w . z_k + b)";
    v->out->formula[2] = "y = sum_k g_k y_k";
    goes_in(v, "m", "regions with words", "P, D", t->view, t->regions, t->region);
    goes_in(v, "e_ctx", "question in context", "4H", t->context, h4, 0);
    comes_out(v, "z", "fit of region and context", "P, H", t->fused, t->regions, t->hidden);
    comes_out(v, "g", "attention 4: regions", "P", v->answer->region_attention, t->regions, 0);
    comes_out(v, "y", "picture and question", "D+4H", t->pooled, t->region + h4, 0);
    vd_walk_table *table = new_table(v, true, t->regions, 1, false);
    if (!table)
        return false;
    label(table->title, sizeof table->title, "Attention 4: the regions the answer draws on");
    name_column(table, 0, "g");
    name_regions(table);
    for (int p = 0; p < t->regions; p++)
        table->value[p] = (double)v->answer->region_attention[v->walk->region[p]];
    return true;
}

static bool fusion(walk_view *v)
{
    const vd_trace *t = v->trace;
    int active = 0;
    double most = 0;
    v->out->title = "Fusion";
    v->out->file = "engine/networks/mvan/fusion.c";
    v->out->why = "Picture and question become one vector of the size of an answer, so "
                  "that the two can be compared.";
    v->out->formula[0] = "e = relu(W y + b)";
    goes_in(v, "y", "picture and question", "D+4H", t->pooled, t->region + 4 * t->hidden, 0);
    comes_out(v, "e", "question vector e", "H", t->encoded, t->hidden, 0);
    for (int i = 0; i < t->hidden; i++) {
        active += t->encoded[i] > 0;
        most = fmax(most, (double)t->encoded[i]);
    }
    vd_walk_table *table = new_table(v, false, 5, 1, false);
    if (!table)
        return false;
    label(table->title, sizeof table->title, "The vector e");
    name_column(table, 0, "");
    name_row(table, 0, "numbers in y");
    table->value[0] = t->region + 4 * t->hidden;
    name_row(table, 1, "numbers in e");
    table->value[1] = t->hidden;
    name_row(table, 2, "of them above zero (relu)");
    table->value[2] = active;
    name_row(table, 3, "the largest");
    table->value[3] = most;
    name_row(table, 4, "length |e|");
    table->value[4] = length_of(t->encoded, t->hidden);
    return true;
}

enum { SHOWN_ANSWERS = 8 };

static bool candidate_scores(walk_view *v)
{
    static const char *const file_of[] = {"engine/networks/decoders/discriminative.c",
                                          "engine/model/speak.c", "engine/model/dialog.c"};
    static const char *const why[] = {"An LSTM has read each answer of the pool; the one whose "
                                      "vector points in the direction of e wins.",
                                      "An LSTM that starts from e predicts each answer of the pool "
                                      "word by word; the most probable one wins.",
                                      "Two decoders judge each answer: how close its vector is to "
                                      "e, and how probable its words are after e."};
    static const char *const formula[][2] = {
        {"o_c = last state of LSTM(answer c)", "z_c = o_c . e"},
        {"P = softmax(W LSTM(answer c, from e))", "z_c = mean_t log P(word t of c)"},
        {"o_c = last state of LSTM(answer c)", "z_c = (o_c . e + mean_t log P(word t of c)) / 2"}};
    const vd_answer *a = v->answer;
    int rows = a->candidates < SHOWN_ANSWERS ? a->candidates : SHOWN_ANSWERS;
    bool last = a->candidates > rows;
    v->out->title = "Candidate scores";
    v->out->file = file_of[v->walk->by];
    v->out->why = why[v->walk->by];
    v->out->formula[0] = formula[v->walk->by][0];
    v->out->formula[1] = formula[v->walk->by][1];
    goes_in(v, "e", "question vector e", "H", v->trace->encoded, v->trace->hidden, 0);
    if (vd_has_discriminative(v->walk->by))
        v->out->in[v->out->ins++] = (vd_walk_value){.name = "o",
                                                    .is = "the pool's answers",
                                                    .axes = "O, H",
                                                    .dims = 2,
                                                    .shape = {a->candidates, v->trace->hidden}};
    comes_out(v, "z", "a score for each", "O", a->score, a->candidates, 0);
    vd_walk_table *table = new_table(v, false, rows + last, 1, false);
    if (!table)
        return false;
    label(table->title, sizeof table->title, "Scores of the first answers, and of the last");
    name_column(table, 0, "z");
    for (int i = 0; i < rows + last; i++) {
        int index = a->order[i < rows ? i : a->candidates - 1];
        snprintf(table->row[i], sizeof table->row[i], "%d %.38s", i < rows ? i + 1 : a->candidates,
                 v->answers[index]);
        table->value[i] = (double)a->score[index];
    }
    return true;
}

static bool softmax(walk_view *v)
{
    const vd_answer *a = v->answer;
    int rows = a->candidates < SHOWN_ANSWERS ? a->candidates : SHOWN_ANSWERS;
    bool rest = a->candidates > rows;
    double others = 1;
    v->out->title = "Softmax";
    v->out->file = "engine/model/dialog.c";
    v->out->why = "Scores become shares that sum to one over this pool: they say which answer is "
                  "best among these, not how certain it is.";
    v->out->formula[0] = "p_c = exp(z_c) / sum_d exp(z_d)";
    goes_in(v, "z", "scores", "O", a->score, a->candidates, 0);
    comes_out(v, "p", "shares", "O", a->probability, a->candidates, 0);
    vd_walk_table *table = new_table(v, true, rows + rest, 1, false);
    if (!table)
        return false;
    snprintf(table->title, sizeof table->title, "Shares within %d candidates", a->candidates);
    name_column(table, 0, "p");
    for (int i = 0; i < rows; i++) {
        int index = a->order[i];
        snprintf(table->row[i], sizeof table->row[i], "%d %.38s", i + 1, v->answers[index]);
        table->value[i] = (double)a->probability[index];
        others -= table->value[i];
    }
    if (rest) {
        snprintf(table->row[rows], sizeof table->row[rows], "the other %d", a->candidates - rows);
        table->value[rows] = others > 0 ? others : 0;
    }
    return true;
}

vd_status vd_walk_stage_make(const vd_walk *walk, bool changed, int stage,
                             const char *const *answers, vd_walk_stage *out, vd_error *err)
{
    static bool (*const make[VD_WALK_STAGES])(walk_view *) = {
        word_states,  context_matching, topic_aggregation, topic_view,
        context_view, fusion,           candidate_scores,  softmax};
    *out = (vd_walk_stage){0};
    const vd_reply *reply = changed ? &walk->changed : &walk->reply;
    walk_view v = {.walk = walk,
                   .reply = reply,
                   .answer = &reply->answer,
                   .trace = changed ? &walk->changed_trace : &walk->trace,
                   .answers = answers,
                   .out = out};
    if (make[stage](&v))
        return VD_OK;
    vd_walk_stage_clear(out);
    return vd_error_memory(err, "a stage");
}

void vd_walk_stage_clear(vd_walk_stage *stage)
{
    for (int i = 0; i < stage->tables; i++) {
        vd_free(stage->table[i].row);
        vd_free(stage->table[i].column);
        vd_free(stage->table[i].value);
        vd_free(stage->table[i].text);
    }
    *stage = (vd_walk_stage){0};
}

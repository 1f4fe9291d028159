// The stages that every answer ends with, as they are shown.
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/networks/trace.h"

typedef struct scoring {
    const char *why, *formula[VD_STAGE_FORMULAS];
} scoring;

static const scoring scores[] = {
    [VD_DISCRIMINATIVE] = {"Every candidate answer has a vector, too. Its score says how well that "
                           "matches e: the higher, the better.",
                           {"o_c = last state of LSTM(answer c)", "z_c = o_c . e"}},
    [VD_GENERATIVE] = {"The decoder reads every candidate answer word by word, starting from e. "
                       "The score says how probable its words are: the closer to 0, the better.",
                       {"P = softmax(W LSTM(answer c, from e))",
                        "z_c = mean_t log P(word t of c)"}},
    [VD_BOTH] = {
        "Two scores are averaged: how well the vector of an answer matches e, and how probable its "
        "words are given e. The higher, the better.",
        {"o_c = last state of LSTM(answer c)", "z_c = (o_c . e + mean_t log P(word t of c)) / 2"}}};

// Of an LSTM that looks at the dialog.
static const scoring looking[] = {
    [VD_GENERATIVE] = {"The decoder reads every candidate answer word by word, starting from e; "
                       "for each word it attends to the words of the dialog. The score says how "
                       "probable its words are: the closer to 0, the better.",
                       {"s_t = LSTM(answer c to word t, from e)",
                        "d_t = sum_j softmax_j(score(s_t, x_j)) x_j, x words of the dialog",
                        "P = softmax(W' tanh(W [s_t ; d_t] + b) + b')",
                        "z_c = mean_t log P(word t of c)"}},
    [VD_BOTH] = {"Two scores are averaged: how well the vector of an answer matches e, and how "
                 "probable its words are given e and the dialog. The higher, the better.",
                 {"o_c = last state of LSTM(answer c)",
                  "d_t = sum_j softmax_j(score(s_t, x_j)) x_j, s_t = LSTM(answer c, from e)",
                  "P = softmax(W' tanh(W [s_t ; d_t] + b) + b')",
                  "z_c = (o_c . e + mean_t log P(word t of c)) / 2"}}};

// Of a generative one alone that also copies them.
static const scoring copied[] = {
    [VD_COPY_POINTER] =
        {"The score says how probable the words of an answer are, one after another, starting from "
         "e. Each word comes from the vocabulary or is copied from the dialog words attended to; "
         "both probabilities are added.",
         {"s_t = LSTM(answer c to word t, from e), a_j = softmax_j(score(s_t, x_j))",
          "d_t = sum_j a_j x_j, g = sigmoid(w . [d_t ; s_t ; word t] + b)",
          "P(y) = g softmax(W' tanh(W [s_t ; d_t] + b) + b')_y + (1 - g) sum_{x_j = y} a_j",
          "z_c = mean_t log P(word t of c)"}},
    [VD_COPY_COPYNET] = {
        "The score says how probable the words of an answer are, one after another, starting from "
        "e. Each word comes from the vocabulary or is copied from the dialog; one softmax covers "
        "both.",
        {"s_t = LSTM([word t of c ; the x_j that are that word], from e)",
         "d_t = sum_j softmax_j(score(s_t, x_j)) x_j, k_j = tanh(W_c x_j) . s_t",
         "P = softmax over words and places of [W' tanh(W [s_t ; d_t] + b) + b' ; k]",
         "z_c = mean_t log P(word t of c)"}}};

static const scoring convolved[] = {
    [VD_GENERATIVE] =
        {"The decoder reads every candidate answer word by word, starting from e; each word is "
         "read with the two before it and attends to the words of the dialog. The score says how "
         "probable its words are: the closer to 0, the better.",
         {"a_t = glu(conv(words of c to t, from e)), three times, with d_t between",
          "d_t = sum_j softmax_j(W a_t . x_j) (x_j + w_j), x words of the dialog",
          "P = softmax(W' y_t + b'), y_t = a_t with d_t", "z_c = mean_t log P(word t of c)"}},
    [VD_BOTH] = {"Two scores are averaged: how well the vector of an answer matches e, and how "
                 "probable its words are given e and the dialog. The higher, the better.",
                 {"o_c = last state of LSTM(answer c)",
                  "d_t = sum_j softmax_j(W a_t . x_j) (x_j + w_j), a_t = glu(conv(answer c))",
                  "P = softmax(W' y_t + b'), y_t = a_t with d_t",
                  "z_c = (o_c . e + mean_t log P(word t of c)) / 2"}}};

static const scoring *scoring_of(const vd_outcome *outcome)
{
    static const scoring *const by_answer[] = {
        [VD_ANSWER_LSTM] = scores, [VD_ANSWER_ATTENTION] = looking, [VD_ANSWER_CONV] = convolved};
    bool said = vd_has_generative(outcome->by);
    if (said && outcome->by == VD_GENERATIVE && outcome->copy != VD_COPY_NONE)
        return &copied[outcome->copy];
    return &by_answer[said ? outcome->answer : VD_ANSWER_LSTM][outcome->by];
}

static vd_trace_value numbers(const char *name, const char *is, int count, const float *value)
{
    return (vd_trace_value){name, is, "O", 1, {count}, value};
}

static vd_trace_table column(bool share, const char *const *name, int count, const double *value)
{
    return (vd_trace_table){.share = share,
                            .row_axis = VD_AXIS_ANSWERS,
                            .column = name,
                            .rows = count,
                            .columns = 1,
                            .value = value};
}

size_t vd_decoder_figures(const vd_outcome *outcome)
{
    size_t n = 2 * (size_t)outcome->candidates;
    for (int i = 0; i < outcome->look_count; i++)
        n += (size_t)outcome->looks[i].rows * (size_t)outcome->looks[i].columns;
    return n;
}

// What the words of the given answer look at, the last of several.
static void add_looks(const vd_outcome *outcome, double *figures, vd_trace_stage *stage)
{
    int from = outcome->look_count - (VD_STAGE_TABLES - stage->tables);
    for (int i = from > 0 ? from : 0; i < outcome->look_count; i++) {
        const vd_attention *a = &outcome->looks[i];
        vd_trace_table *table = &stage->table[stage->tables++];
        *table = (vd_trace_table){.share = true,
                                  .row_axis = a->query,
                                  .column_axis = a->key,
                                  .rows = a->rows,
                                  .columns = a->columns,
                                  .value = figures};
        vd_attention_title(a, table->title, sizeof table->title);
        for (int k = 0; k < a->rows * a->columns; k++)
            *figures++ = (double)a->share[k];
    }
}

void vd_decoder_stages(const vd_outcome *outcome, const vd_trace_value *encoded, float *score,
                       float *probability, double *figures, vd_trace_stage stage[VD_DECODER_STAGES])
{
    static const char *const z[] = {"z"}, *const p[] = {"p"};
    int n = outcome->candidates;
    const scoring *by = scoring_of(outcome);
    for (int i = 0; i < n; i++) {
        figures[i] = (double)(score[i] = outcome->score[i]);
        figures[n + i] = (double)(probability[i] = outcome->probability[i]);
    }
    stage[0] = (vd_trace_stage){.title = "Candidate scores",
                                .why = by->why,
                                .in = {*encoded},
                                .ins = 1,
                                .out = {numbers("z", "a score for each", n, score)},
                                .outs = 1,
                                .table = {column(false, z, n, figures)},
                                .tables = 1};
    memcpy(stage[0].formula, by->formula, sizeof by->formula);
    if (vd_has_discriminative(outcome->by))
        stage[0].in[stage[0].ins++] =
            (vd_trace_value){"o", "the pool's answers", "O, H", 2, {n, encoded->shape[0]}, NULL};
    snprintf(stage[0].table[0].title, sizeof stage[0].table[0].title,
             "Scores of the first answers, and of the last");
    add_looks(outcome, figures + 2 * n, &stage[0]);
    stage[1] = (vd_trace_stage){
        .title = "Softmax",
        .why = "The scores become shares that add up to 100 %. A large share means that an answer "
               "is better than the others here, not that it is right.",
        .formula = {"p_c = exp(z_c) / sum_d exp(z_d)"},
        .in = {numbers("z", "scores", n, score)},
        .ins = 1,
        .out = {numbers("p", "shares", n, probability)},
        .outs = 1,
        .table = {column(true, p, n, figures + n)},
        .tables = 1};
    snprintf(stage[1].table[0].title, sizeof stage[1].table[0].title, "Shares within %d candidates",
             n);
}

vd_status vd_trace_make(size_t stages, size_t floats, size_t figures, vd_trace *out, vd_error *err)
{
    *out = (vd_trace){.stages = (int)stages,
                      .stage = vd_alloc(stages, sizeof *out->stage),
                      .memory = vd_alloc(floats, sizeof *out->memory),
                      .figures = vd_alloc(figures, sizeof *out->figures)};
    if (out->stage && out->memory && out->figures)
        return VD_OK;
    vd_trace_clear(out);
    return vd_error_memory(err, "what the stages computed");
}

void vd_trace_clear(vd_trace *trace)
{
    vd_free(trace->stage);
    vd_free(trace->memory);
    vd_free(trace->figures);
    *trace = (vd_trace){0};
}

// Tables of stages, and the stages that every answer ends with.
#include "engine/networks/trace.h"

#include <stdio.h>
#include <string.h>

// ---- tables -------------------------------------------------------------------------------------

double *vd_trace_add_table(vd_trace *trace, vd_trace_stage *stage, const char *title,
                           vd_trace_table table)
{
    size_t n = (size_t)table.rows * (size_t)table.columns;
    double *value = vd_arena_take(&trace->memory, n, sizeof *value);
    table.value = value;
    snprintf(table.title, sizeof table.title, "%s", title);
    stage->table[stage->tables++] = table;
    return value;
}

double *vd_trace_add_attention(vd_trace *trace, vd_trace_stage *stage, const char *title,
                               const vd_attention *a, const char *const *column)
{
    bool turned = column && a->rows == 1, nothing = a->nothing && !turned;
    vd_trace_table table = {.share = true,
                            .nothing = nothing,
                            .row_axis = a->query,
                            .column_axis = a->key,
                            .rows = a->rows,
                            .columns = a->columns + nothing};
    char own[sizeof table.title];
    if (turned)
        table = (vd_trace_table){
            .share = true, .row_axis = a->key, .column = column, .rows = a->columns, .columns = 1};
    vd_attention_title(a, own, sizeof own);
    double *value = vd_trace_add_table(trace, stage, title ? title : own, table), *at = value;
    for (int r = 0; at && r < a->rows; r++) {
        for (int c = 0; c < a->columns; c++)
            *at++ = (double)a->share[r * a->columns + c];
        if (nothing)
            *at++ = vd_attention_nothing(a, r);
    }
    return value;
}

// ---- decoders -----------------------------------------------------------------------------------

// How probable a generative decoder's words are; both: of two decoders.
typedef struct decoder_texts {
    const char *why, *both, *formula[VD_STAGE_FORMULAS - 2];
} decoder_texts;

static const char given_the_dialog[] =
    "Two scores are averaged: how well the vector of an answer matches e, and how probable its "
    "words are given e and the dialog. The higher, the better.";

static const decoder_texts by_answer[] = {
    [VD_ANSWER_LSTM] = {"The decoder reads every candidate answer word by word, starting from e. "
                        "The score says how probable its words are: the closer to 0, the better.",
                        "Two scores are averaged: how well the vector of an answer matches e, and "
                        "how probable its words are given e. The higher, the better.",
                        {"P = softmax(W LSTM(answer c, from e) + b)"}},
    [VD_ANSWER_ATTENTION] =
        {"The decoder reads every candidate answer word by word, starting from e; for each word it "
         "attends to the words of the dialog. The score says how probable its words are: the "
         "closer to 0, the better.",
         given_the_dialog,
         {"s_t = LSTM(answer c to word t, from e)",
          "d_t = sum_j softmax_j(score(s_t, x_j)) x_j, x words of the dialog",
          "P = softmax(W' tanh(W [s_t ; d_t] + b) + b')"}},
    [VD_ANSWER_CONV] =
        {"The decoder reads every candidate answer word by word, starting from e; each word is "
         "read with the two before it and attends to the words of the dialog. The score says how "
         "probable its words are: the closer to 0, the better.",
         given_the_dialog,
         {"g = word t of c + place t, y = W (g + W_e e + b_e) + b",
          "three times, r = sqrt(0.5): a = glu(conv(y, from t - 2 to t)), q = (W_in a + b + g) r,",
          "o = sqrt(m) r sum_j softmax_j(q . x_j) (x_j + w_j), y = ((W_out o + b + a) r + y) r,",
          "x, w states and vectors of the m words of the dialog; P = softmax(W_v (W y + b) + "
          "b')"}},
    [VD_ANSWER_SEQUENCE] = {
        "The network goes on with its sequence: <S>, then the words of a candidate answer, each of "
        "which attends to the regions, to the dialog and to the answer's words before it. The "
        "score says how probable its words are: the closer to 0, the better.",
        "Two scores are averaged: how well the vector of an answer matches e, and how probable its "
        "words are where the dialog goes on with them. The higher, the better.",
        {"x_t = the layers on word t of c, which sees the dialog and c to word t",
         "P = softmax(W LN(x_t)), W the word vectors"}}};

// Of an LSTM that attends to the dialog's words and copies them.
static const decoder_texts by_copy[] = {
    [VD_COPY_POINTER] =
        {"The score says how probable the words of an answer are, one after another, starting from "
         "e. Each word comes from the vocabulary or is copied from the dialog words attended to; "
         "both probabilities are added.",
         given_the_dialog,
         {"s_t = LSTM(answer c to word t, from e), a_j = softmax_j(score(s_t, x_j))",
          "d_t = sum_j a_j x_j, g = sigmoid(w . [d_t ; s_t ; word t] + b)",
          "P(y) = g softmax(W' tanh(W [s_t ; d_t] + b) + b')_y + (1 - g) sum_{x_j = y} a_j"}},
    [VD_COPY_COPYNET] = {
        "The score says how probable the words of an answer are, one after another, starting from "
        "e. Each word comes from the vocabulary or is copied from the dialog; one softmax covers "
        "both.",
        given_the_dialog,
        {"s_t = LSTM([word t of c ; mean of the x_j that are that word], from e)",
         "d_t = sum_j softmax_j(score(s_t, x_j)) x_j, k_j = tanh(W_c x_j) . s_t",
         "P = softmax over words and places of [W' tanh(W [s_t ; d_t] + b) + b' ; k]"}}};

static void explain_scores(const vd_outcome *outcome, vd_trace_stage *stage)
{
    static const char matched[] = "Every candidate answer has a vector, too. Its score says how "
                                  "well that matches e: the higher, the better.";
    static const char *const score[] = {[VD_DISCRIMINATIVE] = "z_c = o_c . e",
                                        [VD_GENERATIVE] = "z_c = mean_t log P(word t of c)",
                                        [VD_BOTH] =
                                            "z_c = (o_c . e + mean_t log P(word t of c)) / 2"};
    const decoder_texts *texts =
        outcome->copy ? &by_copy[outcome->copy] : &by_answer[outcome->answer];
    const char **formula = stage->formula;
    stage->why = outcome->by == VD_BOTH         ? texts->both
                 : outcome->by == VD_GENERATIVE ? texts->why
                                                : matched;
    if (vd_has_discriminative(outcome->by))
        *formula++ = "o_c = last state of LSTM(answer c)";
    for (size_t i = 0; vd_has_generative(outcome->by) && i < VD_STAGE_FORMULAS - 2; i++)
        if (texts->formula[i])
            *formula++ = texts->formula[i];
    *formula = score[outcome->by];
}

// A number for each candidate.
static vd_trace_value numbers(vd_trace *trace, const char *name, const char *is, int count,
                              const float *from)
{
    float *value = vd_arena_take_raw(&trace->memory, (size_t)count, sizeof *value);
    if (value && count > 0)
        memcpy(value, from, (size_t)count * sizeof *value);
    return (vd_trace_value){name, is, "O", 1, {value ? count : 0}, value};
}

// A number for each candidate, in a column of this name.
static void add_column(vd_trace *trace, vd_trace_stage *stage, const char *title, bool share,
                       const char *const *name, const vd_trace_value *numbers)
{
    const vd_trace_table table = {.share = share,
                                  .row_axis = VD_AXIS_ANSWERS,
                                  .column = name,
                                  .rows = numbers->shape[0],
                                  .columns = 1};
    double *value = vd_trace_add_table(trace, stage, title, table);
    for (int i = 0; value && i < table.rows; i++)
        value[i] = (double)numbers->value[i];
}

// What the words of the given answer look at, the last of several.
static void add_looks(vd_trace *trace, const vd_outcome *outcome, vd_trace_stage *stage)
{
    int from = outcome->look_count - (VD_STAGE_TABLES - stage->tables);
    for (int i = from > 0 ? from : 0; i < outcome->look_count; i++)
        vd_trace_add_attention(trace, stage, NULL, &outcome->looks[i], NULL);
}

void vd_decoder_stages(const vd_outcome *outcome, const vd_trace_value *encoded, vd_trace *trace)
{
    static const char *const z[] = {"z"}, *const p[] = {"p"};
    vd_trace_stage *stage = trace->stage + trace->stages - VD_DECODER_STAGES;
    int n = outcome->candidates;
    char title[sizeof stage->table->title];
    stage[0] = (vd_trace_stage){.title = "Candidate scores",
                                .in = {*encoded},
                                .ins = 1,
                                .out = {numbers(trace, "z", "a score for each", n, outcome->score)},
                                .outs = 1};
    explain_scores(outcome, &stage[0]);
    if (vd_has_discriminative(outcome->by))
        stage[0].in[stage[0].ins++] =
            (vd_trace_value){"o", "the pool's answers", "O, H", 2, {n, encoded->shape[0]}, NULL};
    add_column(trace, &stage[0], "Scores of the first answers, and of the last", false, z,
               &stage[0].out[0]);
    add_looks(trace, outcome, &stage[0]);
    stage[1] = (vd_trace_stage){
        .title = "Softmax",
        .why =
            "The scores become probabilities that add up to 100 %. A high one means that an answer "
            "is better than the others here, not that it is right.",
        .formula = {"p_c = exp(z_c) / sum_d exp(z_d)"},
        .in = {stage[0].out[0]},
        .ins = 1,
        .out = {numbers(trace, "p", "probabilities", n, outcome->probability)},
        .outs = 1};
    stage[1].in[0].is = "scores";
    snprintf(title, sizeof title, "Probabilities of the %d candidates", n);
    add_column(trace, &stage[1], title, true, p, &stage[1].out[0]);
}

// ---- memory -------------------------------------------------------------------------------------

vd_status vd_trace_make(int stages, vd_trace *out, vd_error *err)
{
    *out = (vd_trace){.stages = stages};
    out->stage = vd_arena_take(&out->memory, (size_t)stages, sizeof *out->stage);
    return vd_trace_status(out, err);
}

vd_status vd_trace_status(vd_trace *trace, vd_error *err)
{
    if (!trace->memory.failed)
        return VD_OK;
    vd_trace_clear(trace);
    return vd_error_memory(err, "what the stages computed");
}

void vd_trace_clear(vd_trace *trace)
{
    vd_arena_free(&trace->memory);
    *trace = (vd_trace){0};
}

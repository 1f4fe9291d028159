// Generative decoder: a 2-layer LSTM generates the answer word by word; the initial hidden state of
// every layer is the encoder's vector e (Park et al. 2021, section 3.4; Das et al. 2017).
//   loss: next-word cross entropy, mean over the words of the batch
//     (with copy pointer also its coverage loss, copying.c)
//   to rank: a candidate's score is its mean log-probability per word
// Between the LSTM and the words there may be attention over the dialog (lstm_attention.c); or a
// decoder of convolutions replaces the LSTM (conv.c); or the network itself goes on with the
// text that it has read (vd_encoder.answer), and words are predicted by their vectors:
// P = softmax(W y), W the word vectors, among them <PAD>, a row of zeros that is not changed.
#include "engine/networks/network.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "engine/networks/encoder.h"

static bool is_conv(const vd_pass *pass)
{
    return pass->config->answer == VD_ANSWER_CONV;
}

static bool has_lstm(const vd_pass *pass)
{
    return !is_conv(pass) && !vd_goes_on(pass->config);
}

// The answers as the dialog's text goes on.
static vd_status go_on(vd_pass *pass, vd_given_answers *given, const int *question, vd_error *err)
{
    vd_tape *tape = given->attended.tape = vd_source_tape(pass, err);
    if (!tape)
        return VD_NO_MEMORY;
    given->attended.out =
        vd_encoder_of(pass->config)->answer(tape, pass->source.sequence, &given->packed, question);
    return vd_tape_status(tape, err);
}

// From the LSTM's states, or the words themselves, to what the next words are made of.
static vd_status attend(vd_pass *pass, vd_given_answers *given, const int *question, vd_error *err)
{
    const vd_recurrent_pass *r = &given->text.recurrent;
    given->output = r->y;
    given->doutput = r->dy;
    if (!vd_attends(pass->config) && has_lstm(pass))
        return VD_OK;
    vd_status status =
        vd_goes_on(pass->config) ? go_on(pass, given, question, err)
        : is_conv(pass)
            ? vd_conv_answers(pass, &given->packed, question, &given->attended, err)
            : vd_lstm_attention(pass, &given->packed, question, r->y, r->dy, &given->attended, err);
    if (status != VD_OK)
        return status;
    given->output = given->attended.out->x;
    given->doutput = given->attended.out->dx;
    return vd_copies(pass->config) ? vd_copying_match(pass, &given->attended, &given->copying, err)
                                   : VD_OK;
}

// Of copynet: what the LSTM reads, the words beside what was found of them in the dialog.
static vd_status join_attended(vd_pass *pass, vd_given_answers *given, vd_text_pass *text,
                               vd_error *err)
{
    const vd_value *found = given->copying.mean;
    int tokens = given->packed.tokens, e = text->wide, h = pass->config->hidden, wide = e + h;
    vd_real *x = vd_arena_reals(pass->arena, (size_t)tokens * (size_t)wide);
    if (!x)
        return vd_error_memory(err, "copied words");
    pass->be->copy_rows(text->input, e, text->input_row, tokens, e, x, wide);
    pass->be->copy_rows(found->x, h, NULL, tokens, h, x + e, wide);
    text->input = x;
    text->input_row = NULL;
    text->inputs = tokens;
    text->wide = wide;
    return VD_OK;
}

// The LSTM over the answers' words.
static vd_status run_lstm(vd_pass *pass, vd_given_answers *given, vd_error *err)
{
    int h = pass->config->hidden, count = given->packed.sequences;
    vd_real *initial = vd_arena_reals(pass->arena, (size_t)count * (size_t)h);
    if (!initial)
        return vd_error_memory(err, "generated answers");
    pass->be->copy_rows(pass->encoded, h, given->question, count, h, initial, h);
    vd_status status =
        vd_words_forward(pass, &given->text, &given->packed, VD_SITE_ANSWER_WORDS, err);
    vd_text_pass read = given->text;
    if (status == VD_OK && given->copying.mean)
        status = join_attended(pass, given, &read, err);
    if (status == VD_OK)
        status = vd_recurrent_forward(pass, &read, pass->w->answer, 1, initial,
                                      VD_SITE_ANSWER_LAYER, err);
    given->text.recurrent = read.recurrent;
    return status;
}

vd_status vd_given_read(vd_pass *pass, vd_given_answers *given, const int32_t *ids,
                        const int32_t *lengths, const int *question, int count, int width,
                        vd_error *err)
{
    vd_status status = VD_OK;
    *given = (vd_given_answers){0};
    given->question = vd_arena_upload(pass->arena, question, (size_t)count, sizeof *question);
    if (pass->arena->failed)
        return vd_error_memory(err, "generated answers");
    if (vd_copies(pass->config))
        status = vd_copying_begin(pass, ids, lengths, count, width, &given->copying, &ids, err);
    if (status == VD_OK)
        status = vd_packed_make(ids, lengths, count, width, pass->arena, &given->packed, err);
    if (status == VD_OK && vd_copies(pass->config))
        status = vd_copying_find(pass, &given->packed, question, &given->copying, err);
    if (status == VD_OK && has_lstm(pass))
        status = run_lstm(pass, given, err);
    return status == VD_OK ? attend(pass, given, question, err) : status;
}

// Scores become probabilities; log_sum (rows) the logarithm of the sum of their exponentials: the
// largest score less the logarithm of its probability.
static vd_status sum_and_normalise(vd_pass *pass, vd_real *p, int rows, vd_real *log_sum,
                                   vd_error *err)
{
    size_t n = (size_t)rows;
    int words = pass->config->vocab;
    int *start = vd_arena_ints(pass->arena, 2 * n);
    for (int r = 0; r < rows && start; r++) {
        start[r] = r * words;
        start[rows + r] = words;
    }
    const int *there = vd_arena_upload(pass->arena, start, 2 * n, sizeof *start);
    int *at = vd_arena_numbers(pass->arena, n, sizeof *at);
    vd_real *log_p = vd_arena_reals(pass->arena, n);
    if (pass->arena->failed)
        return vd_error_memory(err, "word scores");
    const vd_segments segments = {rows, words, there, there + n};
    pass->be->max_segments(&segments, p, log_sum, at);
    pass->be->softmax(p, rows, words, words);
    pass->be->word_log(p, at, rows, 0, log_p);
    pass->be->add_scaled(log_sum, -1, log_p, n);
    return VD_OK;
}

vd_status vd_given_words(vd_pass *pass, const vd_real *output, int rows, vd_real *p,
                         const vd_real **log_sum, vd_error *err)
{
    int words = pass->config->vocab, most = INT_MAX / words; // indices of p are ints
    *log_sum = NULL;
    pass->be->linear(output, &pass->w->words.w, pass->w->words.b, p, rows);
    if (!vd_copies(pass->config) || pass->config->copy != VD_COPY_COPYNET) {
        pass->be->softmax(p, rows, words, words);
        return VD_OK;
    }
    vd_real *sum = vd_arena_reals(pass->arena, (size_t)rows);
    vd_status status = sum ? VD_OK : vd_error_memory(err, "word scores");
    for (int n, r = 0; r < rows && status == VD_OK; r += n) {
        n = rows - r < most ? rows - r : most;
        status = sum_and_normalise(pass, p + (size_t)r * (size_t)words, n, sum + r, err);
    }
    *log_sum = status == VD_OK ? sum : NULL;
    return status;
}

// Log-probabilities of the words out (count, width) that are to follow those of in, one a row of
// given->packed: *log, host memory of the pass' arena.
static vd_status find_logs(vd_pass *pass, vd_given_answers *given, const int32_t *in,
                           const int32_t *out, const int32_t *lengths, const int *question,
                           int count, int width, const vd_real **log, vd_error *err)
{
    int v = pass->config->vocab;
    const vd_packed *packed = &given->packed;
    const vd_real *log_sum;
    vd_status status = vd_given_read(pass, given, in, lengths, question, count, width, err);
    if (status != VD_OK)
        return status;
    size_t rows = (size_t)packed->tokens;
    int32_t *target = vd_arena_take(pass->arena, rows, sizeof *target);
    vd_real *here = vd_arena_take_raw(pass->arena, rows, sizeof *here);
    vd_real *there = vd_arena_reals(pass->arena, rows);
    given->logits = vd_arena_reals(pass->arena, rows * (size_t)v);
    if (pass->arena->failed)
        return vd_error_memory(err, "word scores");
    for (size_t row = 0; row < rows; row++) {
        target[row] =
            out[(size_t)packed->owner[row] * (size_t)width + (size_t)packed->position[row]];
        if (vd_copies(pass->config))
            target[row] = vd_copying_target(&given->copying, (int)row, target[row], v);
    }
    given->target = vd_arena_upload(pass->arena, target, rows, sizeof *target);
    if (pass->arena->failed)
        return vd_error_memory(err, "word scores");
    status = vd_given_words(pass, given->output, packed->tokens, given->logits, &log_sum, err);
    if (status != VD_OK)
        return status;
    pass->be->word_log(given->logits, given->target, packed->tokens, v, there);
    if (vd_copies(pass->config))
        status = vd_copying_logs(pass, &given->copying, log_sum, there, err);
    if (status != VD_OK)
        return status;
    // Not read_floats: a float holds too little for finite differences in double precision.
    pass->be->memory->download(here, there, rows * sizeof *here);
    *log = here;
    return vd_backend_status(pass->be, err);
}

vd_status vd_given_scores(vd_pass *pass, const int32_t *in, const int32_t *out,
                          const int32_t *lengths, const int *question, int count, int width,
                          float *scores, vd_error *err)
{
    vd_given_answers given;
    const vd_real *log;
    vd_status status = find_logs(pass, &given, in, out, lengths, question, count, width, &log, err);
    memset(scores, 0, (size_t)count * sizeof *scores);
    for (int row = 0; status == VD_OK && row < given.packed.tokens; row++) {
        int s = given.packed.owner[row];
        scores[s] += (float)log[row] / (float)lengths[s];
    }
    return status;
}

// ---- answers of a batch -------------------------------------------------------------------------

typedef struct vd_answer_list {
    int count;
    int *question;     // (count)
    int32_t *in, *out; // (count, width) what the decoder reads and predicts
    int32_t *length;   // (count)
} vd_answer_list;

static vd_status take_list(vd_network *net, int most, vd_answer_list *list, vd_error *err)
{
    vd_arena *arena = net->pass.arena;
    if (!net->batch->candidate_in || !net->batch->candidate_out)
        return vd_error_set(err, VD_USAGE, "the batch has no words for the generative decoder");
    size_t n = (size_t)most, width = (size_t)net->batch->candidate_width;
    list->count = 0;
    list->question = vd_arena_ints(arena, n);
    list->in = vd_arena_take_raw(arena, n * width, sizeof *list->in);
    list->out = vd_arena_take_raw(arena, n * width, sizeof *list->out);
    list->length = vd_arena_take_raw(arena, n, sizeof *list->length);
    return arena->failed ? vd_error_memory(err, "generated answers") : VD_OK;
}

// Appends an option of a question; where words are copied, with extended ids if there are any.
static void add_answer(const vd_network *net, int question, int option, vd_answer_list *list)
{
    const vd_batch *batch = net->batch;
    bool own = vd_copies(net->pass.config) && batch->own.candidate_in && batch->own.candidate_out;
    size_t width = (size_t)batch->candidate_width, to = (size_t)list->count * width;
    const int32_t *in = own ? batch->own.candidate_in : batch->candidate_in;
    const int32_t *out = own ? batch->own.candidate_out : batch->candidate_out;
    int candidate = batch->option[(size_t)question * (size_t)batch->candidates + (size_t)option];
    size_t from = (size_t)candidate * width;
    list->question[list->count] = question;
    list->length[list->count++] = vd_batch_answer_words(batch, candidate);
    memcpy(list->in + to, in + from, width * sizeof *list->in);
    memcpy(list->out + to, out + from, width * sizeof *list->out);
}

vd_status vd_generative_loss(vd_network *net, const vd_totals *of, double *loss, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_batch *batch = net->batch;
    vd_answer_list list;
    const vd_real *log;
    double total = 0, covered = 0;
    vd_status status = take_list(net, pass->span.questions, &list, err);
    if (status != VD_OK)
        return status;
    for (int n = 0; n < pass->span.questions; n++)
        if (batch->truth[n] >= 0)
            add_answer(net, n, batch->truth[n], &list);
    status = find_logs(pass, &net->given, list.in, list.out, list.length, list.question, list.count,
                       batch->candidate_width, &log, err);
    if (status != VD_OK)
        return status;
    for (int row = 0; row < net->given.packed.tokens; row++)
        total -= (double)log[row];
    if (pass->config->copy == VD_COPY_POINTER && pass->coverage != 0)
        status = vd_copying_coverage(pass, &net->given.copying, &net->given.packed, &covered, err);
    if (status != VD_OK)
        return status;
    total += (double)pass->coverage * covered;
    int64_t words = of ? of->words : net->given.packed.tokens;
    net->word_share = words ? 1 / (vd_real)words : 0;
    *loss = words ? total / (double)words : 0;
    return VD_OK;
}

// What copynet's LSTM read, back to the words (dwords) and to what was found of them.
static vd_status found_backward(vd_pass *pass, vd_given_answers *given, const vd_real *dread,
                                vd_real *dwords, vd_error *err)
{
    const vd_text_pass *text = &given->text;
    int tokens = given->packed.tokens, e = text->wide, h = pass->config->hidden, wide = e + h;
    pass->be->scatter_rows(dread, wide, text->input_row, tokens, e, dwords, e);
    pass->be->scatter_rows(dread + e, wide, NULL, tokens, h, given->copying.mean->dx, h);
    return vd_tape_backward(given->copying.tape, err);
}

// From given->text.recurrent.dy to the words and to e.
static vd_status lstm_backward(vd_pass *pass, vd_given_answers *given, vd_error *err)
{
    int h = pass->config->hidden, count = given->packed.sequences;
    vd_real *dinput =
        vd_arena_zeros(pass->arena, (size_t)given->text.inputs * (size_t)pass->config->embed);
    vd_real *dinitial = vd_arena_zeros(pass->arena, (size_t)count * (size_t)h), *dread = dinput;
    if (given->copying.mean)
        dread = vd_arena_zeros(pass->arena,
                               (size_t)given->packed.tokens * (size_t)(given->text.wide + h));
    if (pass->arena->failed)
        return vd_error_memory(err, "the generative decoder's gradient");
    vd_status status =
        vd_recurrent_backward(pass, &given->text.recurrent, pass->dw->answer, dread, dinitial, err);
    if (status == VD_OK && given->copying.mean)
        status = found_backward(pass, given, dread, dinput, err);
    if (status != VD_OK)
        return status;
    vd_words_backward(pass, &given->text, dinput, VD_SITE_ANSWER_WORDS);
    pass->be->scatter_rows(dinitial, h, given->question, count, h, pass->dencoded, h);
    return VD_OK;
}

vd_status vd_generative_backward(vd_network *net, vd_error *err)
{
    vd_pass *pass = &net->pass;
    vd_given_answers *given = &net->given;
    int h = pass->w->words.w.columns, v = pass->config->vocab, words = given->packed.tokens;
    const vd_real *whole = NULL, *hit = NULL;
    vd_status status = VD_OK;
    if (vd_copies(pass->config))
        status = vd_copying_backward(pass, &given->copying, &given->packed, net->word_share, &whole,
                                     &hit, err);
    if (status != VD_OK)
        return status;
    // Softmax and cross entropy together: (p - 1 at the target) / words of the step.
    pass->be->word_gradient(given->logits, given->target, whole, hit, words, v, net->word_share);
    if (vd_goes_on(pass->config)) {
        const vd_real *zero = vd_arena_zeros(pass->arena, 1);
        if (!zero)
            return vd_error_memory(err, "the generative decoder's gradient");
        pass->be->copy_rows(zero, 0, NULL, words, 1, given->logits + VD_PAD, v);
    }
    pass->be->linear_backward(given->output, &pass->w->words.w, given->logits, given->doutput, h, 1,
                              &pass->dw->words.w, pass->dw->words.b, words);
    if (given->attended.tape)
        status = vd_tape_backward(given->attended.tape, err);
    if (status == VD_OK && has_lstm(pass))
        status = lstm_backward(pass, given, err);
    return status == VD_OK && vd_attends(pass->config) ? vd_tape_backward(pass->source.tape, err)
                                                       : status;
}

vd_status vd_generative_scores(vd_network *net, float *scores, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_batch *batch = net->batch;
    vd_answer_list list;
    vd_status status = take_list(net, batch->candidates, &list, err);
    // A question at a time in memory of its own: the word scores of all would be gigabytes.
    vd_arena question = {.memory = pass->arena->memory}, *whole = pass->arena;
    pass->arena = &question;
    for (int n = 0; status == VD_OK && n < pass->span.questions; n++) {
        vd_arena_reset(&question);
        list.count = 0;
        for (int c = 0; c < batch->candidates; c++)
            add_answer(net, n, c, &list);
        status = vd_given_scores(pass, list.in, list.out, list.length, list.question, list.count,
                                 batch->candidate_width,
                                 scores + (size_t)n * (size_t)batch->candidates, err);
    }
    pass->arena = whole;
    vd_arena_free(&question);
    return status;
}

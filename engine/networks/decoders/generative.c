// Generative decoder: a 2-layer LSTM says the answer word by word; the initial hidden state of
// every layer is the encoder's vector e (Park et al. 2021, section 3.4; Das et al. 2017).
//   loss: next-word cross entropy, mean over the words of the batch
//   to rank: a candidate's score is its mean log-probability per word
#include "engine/networks/mvan/network.h"

#include <math.h>
#include <string.h>

// The answers one run says: (question, distinct candidate) pairs.
typedef struct vd_spoken {
    int count;
    int *question, *candidate;
} vd_spoken;

// Packs what the decoder reads, and lists what it should say in the same order.
static vd_status pack(vd_network *net, const vd_spoken *spoken, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_batch *batch = net->batch;
    size_t width = (size_t)batch->candidate_width, count = (size_t)spoken->count;
    int32_t *ids = vd_arena_take(pass->arena, count * width, sizeof *ids);
    int32_t *lengths = vd_arena_take(pass->arena, count, sizeof *lengths);
    if (pass->arena->failed)
        return vd_error_memory(err, "generated answers");
    for (size_t s = 0; s < count; s++) {
        lengths[s] = vd_batch_said(batch, spoken->candidate[s]);
        memcpy(ids + s * width, batch->candidate_in + (size_t)spoken->candidate[s] * width,
               width * sizeof *ids);
    }
    vd_status status = vd_packed_make(ids, lengths, spoken->count, (int)width, pass->arena,
                                      &net->answer_words, err);
    if (status != VD_OK)
        return status;
    int32_t *target = vd_arena_take(pass->arena, (size_t)net->answer_words.tokens, sizeof *target);
    if (!target)
        return vd_error_memory(err, "generated answers");
    for (int row = 0; row < net->answer_words.tokens; row++) {
        size_t s = (size_t)net->answer_words.owner[row];
        target[row] = batch->candidate_out[(size_t)spoken->candidate[s] * width +
                                           (size_t)net->answer_words.place[row]];
    }
    net->target =
        vd_arena_upload(pass->arena, target, (size_t)net->answer_words.tokens, sizeof *target);
    return net->target ? VD_OK : vd_error_memory(err, "generated answers");
}

// Log-probabilities of every word at every place.
static vd_status speak(vd_network *net, const vd_spoken *spoken, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_packed *packed = &net->answer_words;
    int h = pass->config->hidden, v = pass->config->vocab;
    vd_status status = pack(net, spoken, err);
    if (status != VD_OK)
        return status;
    vd_real *initial = vd_arena_reals(pass->arena, (size_t)spoken->count * (size_t)h);
    net->logits = vd_arena_reals(pass->arena, (size_t)packed->tokens * (size_t)v);
    if (pass->arena->failed)
        return vd_error_memory(err, "word scores");
    const int *question =
        vd_arena_upload(pass->arena, spoken->question, (size_t)spoken->count, sizeof *question);
    if (!question)
        return vd_error_memory(err, "generated answers");
    net->answer_question = question;
    pass->be->gather_rows(pass->encoded, question, spoken->count, h, initial);
    vd_positions positions = pass->config->positions;
    if (positions == VD_POSITIONS_AS_PRINTED)
        positions = VD_POSITIONS_NONE;
    net->answer = (vd_text_pass){0};
    status = vd_words_forward(pass, &net->answer, packed, positions, VD_SITE_ANSWER_WORDS, err);
    if (status == VD_OK)
        status = vd_recurrent_forward(pass, &net->answer, pass->w->answer, 1, initial,
                                      VD_SITE_ANSWER_LAYER, err);
    if (status != VD_OK)
        return status;
    pass->be->linear(net->answer.recurrent.y, &pass->w->words.w, pass->w->words.b, net->logits,
                     packed->tokens);
    pass->be->softmax(net->logits, packed->tokens, v, v);
    return VD_OK;
}

static vd_status allocate_spoken(vd_pass *pass, size_t most, vd_spoken *spoken, vd_error *err)
{
    spoken->count = 0;
    spoken->question = vd_arena_ints(pass->arena, most);
    spoken->candidate = vd_arena_ints(pass->arena, most);
    return pass->arena->failed ? vd_error_memory(err, "generated answers") : VD_OK;
}

static vd_status check_answers(const vd_batch *batch, vd_error *err)
{
    if (batch->candidate_in && batch->candidate_out)
        return VD_OK;
    return vd_error_set(err, VD_USAGE, "the batch has no words for the generative decoder");
}

// Of every word that should be said; host memory of the pass' arena, NULL when that is out.
static const vd_real *log_probabilities(vd_network *net)
{
    vd_pass *pass = &net->pass;
    int rows = net->answer_words.tokens;
    vd_real *there = vd_arena_reals(pass->arena, (size_t)rows);
    vd_real *here = vd_arena_take_raw(pass->arena, (size_t)rows, sizeof *here);
    if (pass->arena->failed)
        return NULL;
    pass->be->word_log(net->logits, net->target, rows, pass->config->vocab, there);
    // Not read_floats: a float holds too little for finite differences in double precision.
    pass->be->memory->download(here, there, (size_t)rows * sizeof *here);
    return here;
}

vd_status vd_generative_loss(vd_network *net, const vd_totals *of, double *loss, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_batch *batch = net->batch;
    vd_spoken spoken;
    double total = 0;
    vd_status status = check_answers(batch, err);
    if (status == VD_OK)
        status = allocate_spoken(pass, (size_t)pass->span.questions, &spoken, err);
    if (status != VD_OK)
        return status;
    for (int n = 0; n < pass->span.questions; n++)
        if (batch->truth[n] >= 0) {
            spoken.question[spoken.count] = n;
            spoken.candidate[spoken.count++] =
                batch->option[(size_t)n * (size_t)batch->candidates + (size_t)batch->truth[n]];
        }
    status = speak(net, &spoken, err);
    if (status != VD_OK)
        return status;
    const vd_real *log_probability = log_probabilities(net);
    if (!log_probability)
        return vd_error_memory(err, "the loss");
    for (int row = 0; row < net->answer_words.tokens; row++)
        total -= (double)log_probability[row];
    int64_t words = of ? of->words : net->answer_words.tokens;
    net->word_share = words ? 1 / (vd_real)words : 0;
    *loss = words ? total / (double)words : 0;
    return VD_OK;
}

vd_status vd_generative_backward(vd_network *net, vd_error *err)
{
    vd_pass *pass = &net->pass;
    const vd_packed *packed = &net->answer_words;
    int h = pass->config->hidden, v = pass->config->vocab;
    size_t s = (size_t)packed->sequences;
    vd_real *dinput =
        vd_arena_zeros(pass->arena, (size_t)net->answer.inputs * (size_t)pass->config->embed);
    vd_real *dinitial = vd_arena_zeros(pass->arena, s * (size_t)h);
    if (pass->arena->failed)
        return vd_error_memory(err, "the generative decoder's gradient");
    // Softmax and cross entropy together: (p - 1 at the target) / words of the step.
    pass->be->word_gradient(net->logits, net->target, packed->tokens, v, net->word_share);
    pass->be->linear_backward(net->answer.recurrent.y, &pass->w->words.w, net->logits,
                              net->answer.recurrent.dy, h, 1, &pass->dw->words.w, pass->dw->words.b,
                              packed->tokens);
    vd_status status = vd_recurrent_backward(pass, &net->answer.recurrent, pass->dw->answer, dinput,
                                             dinitial, err);
    if (status != VD_OK)
        return status;
    vd_words_backward(pass, &net->answer, dinput, VD_SITE_ANSWER_WORDS);
    pass->be->add_rows_backward(pass->dencoded, net->answer_question, packed->sequences, h,
                                dinitial);
    return VD_OK;
}

static vd_status score_question(vd_network *net, int n, vd_spoken *spoken, float *out,
                                vd_error *err)
{
    const vd_batch *batch = net->batch;
    spoken->count = batch->candidates;
    for (int c = 0; c < batch->candidates; c++) {
        spoken->question[c] = n;
        spoken->candidate[c] = batch->option[(size_t)n * (size_t)batch->candidates + (size_t)c];
        out[c] = 0;
    }
    vd_status status = speak(net, spoken, err);
    if (status != VD_OK)
        return status;
    const vd_real *log_probability = log_probabilities(net);
    if (!log_probability)
        return vd_error_memory(err, "candidate scores");
    for (int row = 0; row < net->answer_words.tokens; row++) {
        int c = net->answer_words.owner[row];
        out[c] += (float)log_probability[row] / (float)net->answer_words.length[c];
    }
    return VD_OK;
}

vd_status vd_generative_scores(vd_network *net, float *scores, vd_error *err)
{
    vd_pass *pass = &net->pass;
    vd_spoken spoken;
    vd_status status = check_answers(net->batch, err);
    if (status == VD_OK)
        status = allocate_spoken(pass, (size_t)net->batch->candidates, &spoken, err);
    // A question at a time in memory of its own: the word scores of all would be gigabytes.
    vd_arena question = {.memory = pass->arena->memory}, *whole = pass->arena;
    pass->arena = &question;
    for (int n = 0; status == VD_OK && n < pass->span.questions; n++) {
        vd_arena_reset(&question);
        status = score_question(net, n, &spoken,
                                scores + (size_t)n * (size_t)net->batch->candidates, err);
    }
    pass->arena = whole;
    vd_arena_free(&question);
    net->answer = (vd_text_pass){0};
    net->answer_words = (vd_packed){0};
    net->target = NULL;
    net->logits = NULL;
    return status;
}

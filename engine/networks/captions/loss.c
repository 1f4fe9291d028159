// What captions cost (captions.h): cross entropy of the next words, smoothed or not, and how far
// what heads give to the history is from its level (AWC; Lian et al. 2023, equations 13 and 14,
// without the epsilon of 1e-8 in the square).
#include <math.h>

#include "engine/base/alloc.h"
#include "engine/networks/captions/private.h"

// The targets' shares of one number where labels are smoothed; NULL: they are not, or memory is
// out.
static const float *smoothed(vd_caption_pass *pass, const vd_caption_words *words)
{
    vd_arena *arena = pass->tape.arena;
    size_t v = (size_t)pass->config->vocab, rows = (size_t)words->rows;
    double smoothing = pass->config->smoothing;
    float *share = smoothing > 0 ? vd_arena_take_raw(arena, rows * v, sizeof *share) : NULL;
    for (size_t r = 0; r < rows && share; r++) {
        for (size_t i = 0; i < v; i++)
            share[r * v + i] = (float)(smoothing / (double)(v - 1));
        share[r * v + (size_t)words->target[r]] = (float)(1 - smoothing);
    }
    return vd_arena_upload(arena, share, rows * v, sizeof *share);
}

// scale * the sum over words; the gradient goes to the logits' where one is wanted.
static vd_status cross_entropy(vd_caption_pass *pass, const float *relevance, double scale,
                               vd_real *gradient, double *out, vd_error *err)
{
    const vd_caption_words *words = &pass->words;
    vd_arena *arena = pass->tape.arena;
    size_t rows = (size_t)words->rows;
    double *loss = vd_arena_numbers(arena, 1, sizeof *loss);
    const int32_t *truth = vd_arena_upload(arena, words->target, rows, sizeof *truth);
    if (!loss || !truth)
        return vd_error_memory(err, "the loss of captions");
    const vd_candidate_loss l = {.questions = words->rows,
                                 .candidates = pass->config->vocab,
                                 .margin = 1,
                                 .scale = scale,
                                 .truth = truth,
                                 .relevance = relevance,
                                 .scores = pass->logits->x,
                                 .dscores = gradient,
                                 .loss = loss};
    pass->tape.be->candidate_loss(&l);
    pass->tape.be->memory->download(out, loss, sizeof *out);
    return vd_backend_status(pass->tape.be, err);
}

// Adds a term to *out, and what its numbers count to their gradients.
static vd_status add_term(vd_caption_pass *pass, const vd_caption_term *term, double captions,
                          double *out, vd_error *err)
{
    const vd_tape *tape = &pass->tape;
    const vd_value *y = term->y;
    size_t n = (size_t)y->rows * (size_t)y->columns;
    vd_real *here = vd_arena_take_raw(tape->arena, n, sizeof *here);
    const vd_real *weight = vd_arena_upload(tape->arena, term->weight, n, sizeof *weight);
    if (!here || !weight)
        return vd_error_memory(err, "the loss of captions");
    tape->be->memory->download(here, y->x, n * sizeof *here);
    vd_status status = vd_backend_status(tape->be, err);
    for (size_t i = 0; i < n && status == VD_OK; i++)
        *out += (double)term->weight[i] * (double)here[i] / captions;
    if (y->dx)
        tape->be->add_scaled(y->dx, (vd_real)(1 / captions), weight, n);
    return status;
}

// Probabilities of all words (W, V), and ln p of each next one (W), on the host.
static vd_status next_words(vd_caption_pass *pass, vd_real **p, vd_real **log, vd_error *err)
{
    const vd_tape *tape = &pass->tape;
    const vd_value *y = pass->logits;
    size_t rows = (size_t)y->rows, n = rows * (size_t)y->columns;
    vd_real *there = vd_arena_reals(tape->arena, rows);
    const int32_t *target = vd_arena_upload(tape->arena, pass->words.target, rows, sizeof *target);
    *p = vd_arena_reals(tape->arena, n);
    *log = vd_arena_take_raw(tape->arena, rows, sizeof **log);
    if (!*p || !there || !*log || !target)
        return vd_error_memory(err, "the loss of captions");
    tape->be->memory->copy(*p, y->x, n * sizeof **p);
    tape->be->softmax(*p, y->rows, y->columns, y->columns);
    tape->be->word_log(*p, target, y->rows, y->columns, there);
    tape->be->memory->download(*log, there, rows * sizeof **log);
    return vd_backend_status(tape->be, err);
}

static vd_status reinforce(vd_caption_pass *pass, double captions, double *out, vd_error *err)
{
    vd_real *p, *log;
    vd_status status = next_words(pass, &p, &log, err);
    return status == VD_OK ? vd_caption_reinforce(pass, log, captions, out, err) : status;
}

vd_status vd_caption_compute_loss(vd_caption_pass *pass, const vd_totals *of, vd_caption_loss *out,
                                  vd_error *err)
{
    vd_tape *tape = &pass->tape;
    const vd_caption_words *words = &pass->words;
    double all = (double)(of ? of->words : words->rows);
    double captions = (double)(of ? of->questions : words->captions);
    bool sum = vd_caption_is_sat(pass->config) || pass->config->ce == VD_CE_SUM;
    double scale = 1 / (sum ? captions : all);
    *out = (vd_caption_loss){0};
    if (!words->target || !pass->logits)
        return vd_error_set(err, VD_USAGE, "the loss needs the next word of every word");
    const float *share = smoothed(pass, words);
    if (tape->arena->failed)
        return vd_error_memory(err, "the loss of captions");
    vd_real *gradient = pass->logits->dx;
    vd_status status = cross_entropy(pass, NULL, scale, share ? NULL : gradient, &out->words, err);
    out->loss = out->words;
    out->words /= scale * all;
    if (status == VD_OK && share)
        status = cross_entropy(pass, share, scale, gradient, &out->loss, err);
    for (int i = 0; i < pass->terms && status == VD_OK; i++)
        status = add_term(pass, &pass->term[i], captions, &out->other, err);
    if (status == VD_OK && pass->config->captioner == VD_CAPTIONER_SAT_HARD)
        status = reinforce(pass, captions, &out->other, err);
    out->loss += out->other;
    if (status != VD_OK)
        return status;
    return tape->dw ? vd_tape_backward(tape, err) : vd_tape_status(tape, err);
}

vd_status vd_caption_weighted_loss(vd_caption_pass *pass, const vd_real *weight, double *loss,
                                   vd_error *err)
{
    vd_tape *tape = &pass->tape;
    const vd_value *y = pass->logits;
    size_t rows = (size_t)y->rows;
    vd_real *p, *log;
    *loss = 0;
    vd_status status = next_words(pass, &p, &log, err);
    if (status != VD_OK)
        return status;
    for (size_t r = 0; r < rows; r++)
        *loss -= (double)weight[r] * (double)log[r];
    if (!tape->dw)
        return VD_OK;
    const vd_real *there = vd_arena_upload(tape->arena, weight, rows, sizeof *weight);
    const int32_t *target = vd_arena_upload(tape->arena, pass->words.target, rows, sizeof *target);
    if (!there || !target)
        return vd_error_memory(err, "the loss of captions");
    tape->be->word_gradient(p, target, there, there, y->rows, y->columns, 1);
    tape->be->add_scaled(y->dx, 1, p, rows * (size_t)y->columns);
    return vd_tape_backward(tape, err);
}

bool vd_caption_history_share(const vd_caption_pass *pass, double *sum)
{
    int layers = vd_caption_layers(pass->config), heads = vd_caption_heads(pass->config);
    for (int l = 0; l < layers; l++) {
        const vd_value *y = pass->layer[l].given;
        size_t n = y ? (size_t)y->rows * (size_t)y->columns : 0;
        float *w = y ? vd_alloc(n, sizeof *w) : NULL;
        if (!w)
            return false;
        pass->tape.be->read_floats(y->x, w, n);
        for (size_t i = 0; i < n; i++)
            sum[l * heads + (int)(i % (size_t)heads)] += (double)w[i];
        vd_free(w);
    }
    return true;
}

vd_status vd_caption_run(vd_caption_pass *pass, const vd_batch *batch, const vd_totals *of,
                         vd_caption_loss *out, vd_error *err)
{
    vd_caption_words words;
    vd_status status = vd_caption_encode(pass, batch, err);
    if (status == VD_OK)
        status = vd_caption_words_all(pass, batch->captions, &words, err);
    if (status == VD_OK)
        status = vd_caption_read(pass, &words, err);
    return status == VD_OK ? vd_caption_compute_loss(pass, of, out, err) : status;
}

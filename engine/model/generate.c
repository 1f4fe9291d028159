// Hypotheses grow by a word a step. Each step runs the LSTM over the whole beginnings again:
// answers are short (three words on average), and every backend then needs no more than it has.
#include "engine/model/model_private.h"

#include <math.h>
#include <string.h>

#include "engine/base/token.h"

// So many given answers are scored at once: their word scores are (words, V).
enum { CHUNK = 64 };

// A beginning, <S> first.
typedef struct hypothesis {
    int length;
    int32_t word[VD_MAX_CANDIDATE];
    double sum; // of log-probabilities
} hypothesis;

// Copied words beside those of the vocabulary.
static vd_status add_copied(vd_pass *pass, const vd_given_answers *given, int wide,
                            const vd_real *log_sum, float **out, vd_error *err)
{
    size_t n = (size_t)given->packed.sequences, v = (size_t)pass->config->vocab;
    float *all = vd_arena_take(pass->arena, n * (size_t)wide, sizeof *all);
    if (!all)
        return vd_error_memory(err, "copied words");
    for (size_t i = 0; i < n; i++)
        memcpy(all + i * (size_t)wide, *out + i * v, v * sizeof *all);
    *out = all;
    return vd_copying_spread(pass, &given->copying, &given->packed, log_sum, wide, all, err);
}

// Probabilities (count, wide), host, of the word after each beginning.
static vd_status next_words(vd_pass *pass, const hypothesis *list, int count, int wide, float **out,
                            vd_error *err)
{
    size_t n = (size_t)count, v = (size_t)pass->config->vocab, h = (size_t)pass->w->words.w.columns;
    int width = list[0].length;
    vd_given_answers given;
    const vd_real *log_sum;
    int32_t *ids = vd_arena_take(pass->arena, n * (size_t)width, sizeof *ids);
    int32_t *lengths = vd_arena_take(pass->arena, n, sizeof *lengths);
    int *question = vd_arena_ints(pass->arena, n); // the only one, 0
    vd_real *last = vd_arena_reals(pass->arena, n * h), *words = vd_arena_reals(pass->arena, n * v);
    *out = vd_arena_take_raw(pass->arena, n * v, sizeof **out);
    if (pass->arena->failed)
        return vd_error_memory(err, "generated answers");
    for (size_t i = 0; i < n; i++) {
        lengths[i] = width;
        memcpy(ids + i * (size_t)width, list[i].word, (size_t)width * sizeof *ids);
    }
    vd_status status = vd_given_read(pass, &given, ids, lengths, question, count, width, err);
    if (status != VD_OK)
        return status;
    vd_last_states(pass->be, &given.packed, 1, (int)h, given.output, last);
    status = vd_given_words(pass, last, count, words, &log_sum, err);
    if (status != VD_OK)
        return status;
    pass->be->read_floats(words, *out, n * v);
    if (vd_copies(pass->config))
        status = add_copied(pass, &given, wide, log_sum, out, err);
    return status == VD_OK ? vd_backend_status(pass->be, err) : status;
}

static bool may_follow(const hypothesis *h, int32_t word)
{
    int32_t last = h->word[h->length - 1];
    if (word == VD_PAD || word == VD_START || word == VD_UNKNOWN ||
        (word == VD_END && h->length == 1))
        return false;
    for (int i = 1; i < h->length; i++)
        if (h->word[i - 1] == last && h->word[i] == word)
            return false;
    return true;
}

typedef struct extension {
    int from; // hypothesis
    int32_t word;
    double sum;
} extension;

// Keeps the `most` best extensions by falling sum.
static int keep(extension *list, int count, int most, extension new)
{
    int at = count < most ? count++ : most;
    for (; at > 0 && list[at - 1].sum < new.sum; at--)
        if (at < most)
            list[at] = list[at - 1];
    if (at < most)
        list[at] = new;
    return count;
}

// Keeps the `beams` best answers by falling score.
static void add_answer(vd_generated_answer *out, int *count, int beams,
                       const vd_generated_answer *new)
{
    int at = *count < beams ? (*count)++ : beams;
    for (; at > 0 && out[at - 1].score < new->score; at--)
        if (at < beams)
            out[at] = out[at - 1];
    if (at < beams)
        out[at] = *new;
}

static void finish(vd_generated_answer *out, int *count, int beams, const hypothesis *h, double sum,
                   int words)
{
    vd_generated_answer new = {.length = h->length - 1, .score = (float)(sum / words)};
    memcpy(new.word, h->word + 1, (size_t) new.length * sizeof *new.word);
    add_answer(out, count, beams, &new);
}

// One word more for every hypothesis; those that end go to out. *count gets how many go on.
static vd_status grow(vd_pass *pass, hypothesis *list, int *count, int beams,
                      vd_generated_answer *out, int *generated, vd_error *err)
{
    size_t v = (size_t)vd_copying_wide(pass);
    extension best[2 * VD_BEAMS];
    hypothesis next[VD_BEAMS];
    int kept = 0, going = 0;
    float *p;
    vd_status status = next_words(pass, list, *count, (int)v, &p, err);
    if (status != VD_OK)
        return status;
    for (int i = 0; i < *count; i++)
        for (size_t w = 0; w < v; w++) {
            if (!may_follow(&list[i], (int32_t)w))
                continue;
            double sum = list[i].sum + log(fmax((double)p[(size_t)i * v + w], 1e-37));
            if (kept < 2 * beams || sum > best[kept - 1].sum)
                kept = keep(best, kept, 2 * beams, (extension){i, (int32_t)w, sum});
        }
    for (int k = 0; k < kept && going < beams; k++) {
        const hypothesis *from = &list[best[k].from];
        // Greedy search ends with its first </S>; a beam takes those that are among its best.
        if (best[k].word == VD_END) {
            if (k < beams)
                finish(out, generated, beams, from, best[k].sum, from->length);
            if (k == 0 && beams == 1)
                break;
            continue;
        }
        next[going] = *from;
        next[going].word[next[going].length++] = best[k].word;
        next[going++].sum = best[k].sum;
    }
    memcpy(list, next, (size_t)going * sizeof *list);
    *count = going;
    return VD_OK;
}

static vd_status search(vd_pass *pass, int beams, const atomic_int *stop, vd_generated_answer *out,
                        int *count, vd_error *err)
{
    hypothesis list[VD_BEAMS] = {{.length = 1, .word = {VD_START}}};
    int going = 1;
    vd_status status = VD_OK;
    vd_arena step = {.memory = pass->arena->memory}, *whole = pass->arena;
    *count = 0;
    pass->arena = &step;
    while (status == VD_OK && list[0].length <= VD_MOST_WORDS && going > 0 && *count < beams) {
        vd_arena_reset(&step);
        status = vd_stopped(stop, err);
        if (status == VD_OK)
            status = grow(pass, list, &going, beams, out, count, err);
    }
    pass->arena = whole;
    vd_arena_free(&step);
    // What reached the longest length is cut there.
    for (int i = 0; i < going && status == VD_OK && list[0].length > VD_MOST_WORDS; i++)
        finish(out, count, beams, &list[i], list[i].sum, list[i].length - 1);
    return status;
}

vd_status vd_generate_answers(vd_pass *pass, const atomic_int *stop,
                              vd_generated_answers *generated, vd_error *err)
{
    int one;
    vd_status status = search(pass, VD_BEAMS, stop, generated->beam, &generated->count, err);
    if (status == VD_OK)
        status = search(pass, 1, stop, &generated->greedy, &one, err);
    if (status != VD_OK)
        return status;
    const vd_generated_answer *greedy = &generated->greedy;
    for (int i = 0; i < generated->count; i++)
        if (generated->beam[i].length == greedy->length &&
            memcmp(generated->beam[i].word, greedy->word,
                   (size_t)greedy->length * sizeof *greedy->word) == 0)
            return VD_OK;
    generated->count -= generated->count == VD_BEAMS;
    add_answer(generated->beam, &generated->count, VD_BEAMS, greedy);
    return VD_OK;
}

// ---- given answers ------------------------------------------------------------------------------

static vd_status score_chunk(vd_pass *pass, const int32_t *tokens, const int32_t *lengths,
                             int count, int width, float *scores, vd_error *err)
{
    int32_t *generated = vd_arena_take(pass->arena, (size_t)count, sizeof *generated);
    int *question = vd_arena_ints(pass->arena, (size_t)count); // the only one, 0
    if (pass->arena->failed)
        return vd_error_memory(err, "generated answers");
    for (int i = 0; i < count; i++)
        generated[i] = lengths[i] > 0 ? lengths[i] - 1 : 0; // all but the last are read
    return vd_given_scores(pass, tokens, tokens + 1, generated, question, count, width, scores,
                           err);
}

vd_status vd_pool_generative_scores(vd_pass *pass, const int32_t *tokens, const int32_t *lengths,
                                    int count, int width, const atomic_int *stop, float *scores,
                                    vd_error *err)
{
    vd_status status = VD_OK;
    vd_arena chunk = {.memory = pass->arena->memory}, *whole = pass->arena;
    pass->arena = &chunk;
    for (int first = 0; first < count && status == VD_OK; first += CHUNK) {
        int n = count - first < CHUNK ? count - first : CHUNK;
        vd_arena_reset(&chunk);
        status = vd_stopped(stop, err);
        if (status == VD_OK)
            status = score_chunk(pass, tokens + (size_t)first * (size_t)width, lengths + first, n,
                                 width, scores + first, err);
    }
    pass->arena = whole;
    vd_arena_free(&chunk);
    return status;
}

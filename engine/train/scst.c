#include "engine/train/scst.h"

#include <math.h>
#include <string.h>

#include "engine/model/captioner_private.h"

static const double LONGEST = 20; // what sums over words are divided by

// Captions of a batch's pictures, K of each, what they are worth and how much they count.
typedef struct samples {
    vd_caption_pass *pass;
    const vd_batch *batch;
    const vd_scst_step *step;
    int k;
    vd_generated_caption *generated;     // (pictures, K)
    int *count;                          // (pictures) of them
    double *reward;                      // (pictures, K)
    int *form;                           // (pictures, K)
    int forms[VD_CAPTION_FORMS], formed; // captions of each form, of all
    vd_real *weight; // (pictures, K) r - b, those that are alike in the first of them
} samples;

static vd_status take(vd_caption_pass *pass, const vd_batch *batch, const vd_scst_step *step,
                      samples *out, vd_error *err)
{
    vd_arena *arena = pass->tape.arena;
    size_t k = (size_t)step->options->sample_size, n = (size_t)batch->dialogs * k;
    *out = (samples){.pass = pass,
                     .batch = batch,
                     .step = step,
                     .k = (int)k,
                     .generated = vd_arena_take(arena, n, sizeof *out->generated),
                     .count = vd_arena_ints(arena, (size_t)batch->dialogs),
                     .reward = vd_arena_take(arena, n, sizeof *out->reward),
                     .form = vd_arena_ints(arena, n),
                     .weight = vd_arena_take(arena, n, sizeof *out->weight)};
    return arena->failed ? vd_error_memory(err, "captions that are said") : VD_OK;
}

// Captions of all pictures. The pass that learns has seen them; a copy of it says, without a
// gradient.
static vd_status generate(const samples *s, const vd_generation *how, vd_generated_caption *out,
                          int most, int *count, vd_error *err)
{
    vd_caption_pass pass = *s->pass;
    pass.tape.dw = NULL;
    uint64_t *stream = vd_arena_take(pass.tape.arena, (size_t)s->batch->dialogs, sizeof *stream);
    if (!stream)
        return vd_error_memory(err, "captions that are said");
    for (int b = 0; b < s->batch->dialogs; b++)
        stream[b] = (uint64_t)s->batch->item[b];
    return vd_caption_generate(&pass, s->step->vocab, how, stream, out, most, count, err);
}

static vd_status generate_samples(const samples *s, vd_error *err)
{
    bool drawn = s->step->options->sample == VD_SAMPLE_DRAW;
    const vd_generation how = {.beam = s->k,
                               .longest = VD_MAX_CAPTION,
                               .temperature = drawn,
                               .seed = s->step->seed,
                               .drawn = drawn,
                               .anything = drawn};
    return generate(s, &how, s->generated, s->k, s->count, err);
}

// Its words, and </S> where it was said; how many.
static int copy_ids(const vd_generated_caption *c, int32_t id[VD_MAX_CAPTION + 1])
{
    memcpy(id, c->word, (size_t)c->length * sizeof *id);
    id[c->length] = VD_END;
    return c->length + c->ended;
}

static double reward_of(const samples *s, int picture, const vd_generated_caption *c)
{
    int32_t id[VD_MAX_CAPTION + 1];
    int count = copy_ids(c, id);
    const vd_rewards *r = s->step->rewards;
    return r->of(r->context, s->batch->item[picture], id, count);
}

// What the captions are worth, and how many there are of each form.
static void find_rewards(samples *s, vd_caption_rewards *sum)
{
    const vd_rewards *r = s->step->rewards;
    for (int b = 0; b < s->batch->dialogs; b++)
        for (int i = b * s->k; i < b * s->k + s->count[b]; i++) {
            int32_t id[VD_MAX_CAPTION + 1];
            int count = copy_ids(&s->generated[i], id);
            s->reward[i] = r->of(r->context, s->batch->item[b], id, count);
            sum->sum += s->reward[i];
            sum->count++;
            s->form[i] = r->form ? r->form(r->context, id, count) : -1;
            if (s->form[i] >= 0)
                s->forms[s->form[i]]++;
            s->formed += s->form[i] >= 0;
        }
}

// What a reward counts for.
static double limited(const samples *s, double reward)
{
    double most = s->step->options->reward_most;
    return most > 0 && reward > most ? most : reward;
}

// What a sampled caption counts for.
static double worth(const samples *s, int i)
{
    bool rare = s->step->options->variety > 0 && s->formed > 0 && s->reward[i] > 0;
    double share = rare && s->form[i] >= 0 ? (double)s->forms[s->form[i]] / s->formed : 1;
    return limited(s, s->reward[i]) - s->step->options->variety * log2(share);
}

// Takes from the rewards of a picture what they are compared with.
static void compare(const samples *s, int b, double greedy)
{
    double sum = 0;
    int n = s->count[b];
    vd_scst_baseline by = s->step->options->baseline;
    double *reward = s->reward + b * s->k;
    for (int i = 0; i < n; i++)
        reward[i] = worth(s, b * s->k + i);
    for (int i = 0; i < n; i++)
        sum += reward[i];
    for (int i = 0; i < n; i++) {
        double others = n > 1 ? (sum - reward[i]) / (n - 1) : reward[i];
        double base = by == VD_BASELINE_MEAN ? sum / n : by == VD_BASELINE_OTHERS ? others : greedy;
        s->weight[b * s->k + i] = (vd_real)(reward[i] - base);
    }
}

static bool is_same(const vd_generated_caption *a, const vd_generated_caption *b)
{
    return a->length == b->length && a->ended == b->ended &&
           memcmp(a->word, b->word, (size_t)a->length * sizeof *a->word) == 0;
}

// What captions that are alike count goes to the first of them.
static void gather(const samples *s, int b)
{
    const vd_generated_caption *generated = s->generated + b * s->k;
    vd_real *weight = s->weight + b * s->k;
    for (int i = 1; i < s->count[b]; i++)
        for (int j = 0; j < i; j++)
            if (is_same(&generated[i], &generated[j])) {
                weight[j] += weight[i];
                weight[i] = 0;
                break;
            }
}

static vd_status find_weights(samples *s, vd_error *err)
{
    const vd_generation how = vd_generation_greedy();
    size_t pictures = (size_t)s->batch->dialogs;
    bool greedy = s->step->options->baseline == VD_BASELINE_GREEDY;
    vd_generated_caption *best = vd_arena_take(s->pass->tape.arena, pictures, sizeof *best);
    int *count = vd_arena_ints(s->pass->tape.arena, pictures);
    if (!best || !count)
        return vd_error_memory(err, "captions that are said");
    vd_status status = greedy ? generate(s, &how, best, 1, count, err) : VD_OK;
    for (int b = 0; b < s->batch->dialogs && status == VD_OK; b++) {
        compare(s, b, greedy ? limited(s, reward_of(s, b, &best[b])) : 0);
        gather(s, b);
    }
    return status;
}

// Captions to be read for the gradient, picture by picture, and what each word's ln p counts.
typedef struct reading {
    vd_caption_batch captions;
    int32_t *word, *length;
    int *picture;
    vd_real *weight;
    size_t words; // weights so far
} reading;

static vd_status take_reading(const samples *s, reading *r, vd_error *err)
{
    vd_arena *arena = s->pass->tape.arena;
    size_t most = (size_t)s->batch->dialogs * (size_t)s->k;
    most += s->batch->captions ? (size_t)s->batch->captions->count : 0;
    *r = (reading){.word = vd_arena_take(arena, most * VD_MAX_CAPTION, sizeof *r->word),
                   .length = vd_arena_take(arena, most, sizeof *r->length),
                   .picture = vd_arena_ints(arena, most),
                   .weight = vd_arena_take(arena, most * (VD_MAX_CAPTION + 1), sizeof *r->weight)};
    r->captions = (vd_caption_batch){0, VD_MAX_CAPTION, r->word, r->length, r->picture};
    return arena->failed ? vd_error_memory(err, "captions that are said") : VD_OK;
}

// weight: of each word and, where the caption has ended, of </S>.
static void add_caption(reading *r, int picture, const int32_t *word, int length, bool ended,
                        double weight)
{
    int n = r->captions.count++;
    memcpy(r->word + (size_t)n * VD_MAX_CAPTION, word, (size_t)length * sizeof *word);
    r->length[n] = length;
    r->picture[n] = picture;
    for (int t = 0; t <= length; t++)
        r->weight[r->words++] = t < length || ended ? (vd_real)weight : 0;
}

// Of the captions of the batch, from *next on, those of a picture.
static void add_given(const samples *s, reading *r, int picture, int *next)
{
    const vd_caption_batch *c = s->batch->captions;
    double weight = s->step->options->ce_weight / (double)s->step->of.words;
    for (; weight > 0 && *next < c->count && c->picture[*next] == picture; ++*next)
        add_caption(r, picture, c->word + (size_t)*next * (size_t)c->width, c->length[*next], true,
                    weight);
}

// Captions that count for something.
static vd_status list_captions(const samples *s, reading *r, vd_error *err)
{
    int next = 0;
    double each = 1 / ((double)s->step->of.questions * s->k * LONGEST);
    vd_status status = take_reading(s, r, err);
    for (int b = 0; b < s->batch->dialogs && status == VD_OK; b++) {
        for (int i = b * s->k; i < (b + 1) * s->k; i++)
            if (s->weight[i] != 0)
                add_caption(r, b, s->generated[i].word, s->generated[i].length,
                            s->generated[i].ended, (double)s->weight[i] * each);
        if (s->batch->captions)
            add_given(s, r, b, &next);
    }
    return status;
}

static vd_status learn(const samples *s, double *loss, vd_error *err)
{
    vd_caption_words words;
    reading r;
    vd_status status = list_captions(s, &r, err);
    if (status != VD_OK || r.captions.count == 0)
        return status;
    status = vd_caption_words_all(s->pass, &r.captions, &words, err);
    if (status == VD_OK)
        status = vd_caption_read(s->pass, &words, err);
    return status == VD_OK ? vd_caption_weighted_loss(s->pass, r.weight, loss, err) : status;
}

vd_status vd_scst_gradient(vd_caption_pass *pass, const vd_batch *batch, const vd_scst_step *step,
                           double *loss, vd_caption_rewards *generated, vd_error *err)
{
    samples s;
    *loss = 0;
    *generated = (vd_caption_rewards){0};
    pass->hard = VD_HARD_LARGEST; // as it says them
    vd_status status = take(pass, batch, step, &s, err);
    if (status == VD_OK)
        status = vd_caption_encode(pass, batch, err);
    if (status == VD_OK)
        status = generate_samples(&s, err);
    if (status == VD_OK) {
        find_rewards(&s, generated);
        status = find_weights(&s, err);
    }
    return status == VD_OK ? learn(&s, loss, err) : status;
}

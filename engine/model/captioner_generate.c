// Saying captions: greedy, beam search, drawn (captioner.h).
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/model/captioner_private.h"

typedef struct hypothesis {
    vd_generated_caption caption;
    int parent; // its row among those read last
} hypothesis;

// The captions of one picture.
typedef struct search {
    const vd_generation *how;
    const bool *dangling; // of all
    int vocab, most;
    int first;                                           // its first row among those read last
    hypothesis list[VD_MOST_BEAMS], next[VD_MOST_BEAMS]; // by falling sums; drawn: as they came
    int count;
    vd_rng rng;
} search;

// The captions of all pictures of a pass, a word of each at a time.
typedef struct searches {
    vd_caption_pass *pass;
    const vd_generation *how;
    int pictures, vocab;
    search *of;     // (pictures)
    float *logs;    // (rows, V)
    bool *dangling; // (V) words that no caption ends on; NULL: any may
    int32_t *id;    // (rows) of what is read next
    int *parent, *picture;
} searches;

vd_generation vd_generation_greedy(void)
{
    return (vd_generation){.beam = 1, .longest = VD_MAX_CAPTION};
}

void vd_generation_text(const vd_generation *how, char *out, size_t size)
{
    char first[80];
    if (how->temperature > 0)
        snprintf(first, sizeof first, "temperature=%g seed=%" PRIu64 " longest=%d",
                 how->temperature, how->seed, how->longest);
    else
        snprintf(first, sizeof first, "beam=%d longest=%d length-power=%g", how->beam, how->longest,
                 how->length_power);
    snprintf(out, size, "%s%s%s%s%s", first, how->no_repeat ? " no-repeat" : "",
             how->no_trigram ? " no-trigram" : "", how->no_dangling ? " no-dangling" : "",
             how->merge_repeats ? " merge-repeats" : "");
}

static vd_status check_forced(const vd_generation *how, int vocab, vd_error *err)
{
    const vd_caption_what_if *w = how->what_if;
    int places = w ? w->places : 0;
    if (places < 0 || places > how->longest)
        return vd_error_set(err, VD_USAGE, "words for %d places; expected 0 to %d, the longest",
                            places, how->longest);
    for (int i = 0; i < places; i++)
        if (w->forced[i] < 0 || w->forced[i] >= vocab || w->forced[i] == VD_START ||
            (w->forced[i] == VD_END && (i == 0 || i + 1 < places)))
            return vd_error_set(
                err, VD_USAGE,
                "word %d is to be id %d; expected 3 to %d, or the end (2) behind words", i + 1,
                w->forced[i], vocab - 1);
    return VD_OK;
}

static vd_status check_saying(const vd_generation *how, int vocab, int most, vd_error *err)
{
    if (how->beam < 1 || how->beam > VD_MOST_BEAMS)
        return vd_error_set(err, VD_USAGE, "a beam of %d hypotheses; expected 1 to %d", how->beam,
                            VD_MOST_BEAMS);
    if (how->longest < 1 || how->longest > VD_MAX_CAPTION)
        return vd_error_set(err, VD_USAGE, "captions of %d words; expected 1 to %d", how->longest,
                            VD_MAX_CAPTION);
    if (most < 1 || most > how->beam)
        return vd_error_set(err, VD_USAGE, "%d captions of a beam of %d", most, how->beam);
    if (!(how->temperature >= 0) || (how->temperature > 0 && how->beam > 1 && !how->drawn))
        return vd_error_set(err, VD_USAGE, "sampling needs a temperature above 0 and a beam of 1");
    return check_forced(how, vocab, err);
}

static vd_status list_dangling(searches *s, const vd_vocab *vocab, vd_error *err)
{
    static const char *const words[] = {"a",    "an",   "the",    "in",    "for", "at",
                                        "of",   "with", "before", "after", "on",  "upon",
                                        "near", "to",   "is",     "are",   "am"};
    if (!s->how->no_dangling)
        return VD_OK;
    s->dangling = vd_alloc((size_t)s->vocab, sizeof *s->dangling);
    if (!s->dangling)
        return vd_error_memory(err, "the search");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        s->dangling[vd_vocab_id(vocab, words[i])] = true;
    return VD_OK;
}

// Whether the last two words and this one stand in the caption already.
static bool is_trigram_again(const vd_generated_caption *c, int32_t id)
{
    int n = c->length;
    for (int i = 0; i + 2 < n; i++)
        if (c->word[i] == c->word[n - 2] && c->word[i + 1] == c->word[n - 1] &&
            c->word[i + 2] == id)
            return true;
    return false;
}

static bool may_follow(const search *s, const vd_generated_caption *c, int32_t id)
{
    int32_t last = c->length > 0 ? c->word[c->length - 1] : VD_PAD;
    const vd_caption_what_if *w = s->how->what_if;
    if (w && c->length < w->places && (w->forced[c->length] != VD_PAD || id == VD_END))
        return id == w->forced[c->length];
    if (s->how->anything)
        return true;
    if (id == VD_END)
        return c->length > 0 && !(s->dangling && s->dangling[last]);
    return id >= VD_FIRST_WORD && !(s->how->no_repeat && id == last) &&
           !(s->how->no_trigram && c->length >= 2 && is_trigram_again(c, id));
}

static bool is_open(const search *s, const vd_generated_caption *c)
{
    return !c->ended && c->length < s->how->longest;
}

static vd_generated_caption add_word(const vd_generated_caption *c, int32_t id, double log)
{
    vd_generated_caption longer = *c;
    longer.log_probability += log;
    longer.ended = id == VD_END;
    if (!longer.ended)
        longer.word[longer.length++] = id;
    return longer;
}

// Keeps the best sums; of equal ones the earlier.
static void offer(search *s, int *count, const vd_generated_caption *c, int parent)
{
    int at = *count;
    while (at > 0 && s->next[at - 1].caption.log_probability < c->log_probability)
        at--;
    if (at == s->how->beam)
        return;
    *count += *count < s->how->beam;
    memmove(s->next + at + 1, s->next + at, (size_t)(*count - at - 1) * sizeof *s->next);
    s->next[at] = (hypothesis){*c, parent};
}

// Worth looking at: better than the last that is kept.
static bool may_enter(const search *s, int count, double sum)
{
    return count < s->how->beam || sum > s->next[count - 1].caption.log_probability;
}

static void offer_words(search *s, int *count, const vd_generated_caption *c, int row,
                        const float *log)
{
    for (int32_t id = VD_END; id < s->vocab; id++)
        if (may_enter(s, *count, c->log_probability + (double)log[id]) && may_follow(s, c, id)) {
            vd_generated_caption longer = add_word(c, id, (double)log[id]);
            offer(s, count, &longer, row);
        }
}

// One word of p^(1 / temperature) among those that may follow; below 0: none may.
// Shares are those beside the likeliest word that may follow, or they would all be 0 where that is
// unlikely and the temperature low.
static int32_t draw_word(search *s, const vd_generated_caption *c, const float *log)
{
    double sum = 0, t = s->how->temperature, most = -INFINITY;
    int32_t last = -1;
    for (int32_t id = 0; id < s->vocab; id++)
        if (may_follow(s, c, id))
            most = fmax(most, (double)log[id]);
    for (int32_t id = 0; id < s->vocab; id++)
        if (may_follow(s, c, id))
            sum += exp(((double)log[id] - most) / t);
    double point = vd_rng_uniform(&s->rng) * sum, below = 0;
    for (int32_t id = 0; id < s->vocab && (last < 0 || below <= point); id++)
        if (may_follow(s, c, id)) {
            below += exp(((double)log[id] - most) / t);
            last = id;
        }
    return last;
}

// So many ways on from a caption, behind those that there are.
static void draw_words(search *s, int *count, const vd_generated_caption *c, int row,
                       const float *log, int times)
{
    for (int i = 0; i < times; i++) {
        int32_t id = draw_word(s, c, log);
        if (id >= 0)
            s->next[(*count)++] = (hypothesis){add_word(c, id, (double)log[id]), row};
    }
}

// From the logarithms of the open hypotheses, a row each, to the next list.
static void extend(search *s, bool first, const float *logs)
{
    int count = 0, row = s->first;
    bool drawn = s->how->temperature > 0;
    for (int i = 0; i < s->count; i++) {
        const vd_generated_caption *c = &s->list[i].caption;
        const float *log = logs + (size_t)row * (size_t)s->vocab;
        if (!is_open(s, c) && drawn)
            s->next[count++] = (hypothesis){*c, -1};
        else if (!is_open(s, c))
            offer(s, &count, c, -1);
        else if (drawn)
            draw_words(s, &count, c, row, log, first ? s->how->beam : 1);
        else
            offer_words(s, &count, c, row, log);
        row += is_open(s, c);
    }
    memcpy(s->list, s->next, (size_t)count * sizeof *s->list);
    s->count = count;
}

// Whether nothing can change any more.
static bool is_done(const search *s)
{
    double open = -INFINITY, finished = -INFINITY;
    for (int i = 0; i < s->count; i++) {
        const vd_generated_caption *c = &s->list[i].caption;
        double *best = is_open(s, c) ? &open : &finished;
        *best = fmax(*best, c->log_probability);
    }
    bool certain = s->most == 1 && s->how->length_power == 0;
    return open == -INFINITY || (certain && open <= finished);
}

// Lists the newest words of the picture's open hypotheses; returns how many rows there are then.
static int list_newest(searches *all, int p, bool first, int rows)
{
    search *s = &all->of[p];
    s->first = rows;
    for (int i = 0; i < s->count && !is_done(s); i++) {
        const vd_generated_caption *c = &s->list[i].caption;
        if (!is_open(s, c))
            continue;
        all->id[rows] = first ? VD_START : c->word[c->length - 1];
        all->parent[rows] = s->list[i].parent;
        all->picture[rows++] = p;
    }
    return rows;
}

// Reads the newest words of all open hypotheses; *rows 0: there are none.
static vd_status read_next(searches *all, bool first, int *rows, vd_error *err)
{
    vd_caption_words words;
    *rows = 0;
    for (int p = 0; p < all->pictures; p++)
        *rows = list_newest(all, p, first, *rows);
    if (*rows == 0)
        return VD_OK;
    const vd_caption_next next = {*rows, all->id, first ? NULL : all->parent, all->picture};
    vd_status status =
        vd_caption_words_step(all->pass->tape.arena, &all->pass->words, &next, &words, err);
    if (status == VD_OK)
        status = vd_caption_read(all->pass, &words, err);
    return status == VD_OK ? vd_caption_logs(all->pass, all->logs, err) : status;
}

static double rank_of(const vd_generated_caption *c, double power)
{
    return c->log_probability / pow(c->length + c->ended, power);
}

// The last order; equal ones stay as they are.
static void sort(search *s)
{
    for (int i = 1; i < s->count && s->how->length_power != 0; i++)
        for (int j = i; j > 0 && rank_of(&s->list[j].caption, s->how->length_power) >
                                     rank_of(&s->list[j - 1].caption, s->how->length_power);
             j--) {
            hypothesis kept = s->list[j];
            s->list[j] = s->list[j - 1];
            s->list[j - 1] = kept;
        }
}

// Extends what was read; VD_FORMAT where nothing may follow.
static vd_status extend_all(searches *all, bool first, vd_error *err)
{
    for (int p = 0; p < all->pictures; p++) {
        search *s = &all->of[p];
        if (is_done(s))
            continue;
        extend(s, first, all->logs);
        if (s->count == 0)
            return vd_error_set(err, VD_FORMAT,
                                "no word may follow: the vocabulary has too few for these "
                                "constraints");
    }
    return VD_OK;
}

static vd_status start_searches(searches *all, const vd_vocab *vocab, const uint64_t *stream,
                                int most, vd_error *err)
{
    size_t pictures = (size_t)all->pictures, rows = pictures * (size_t)all->how->beam;
    all->of = vd_alloc(pictures, sizeof *all->of);
    all->logs = vd_alloc(rows * (size_t)all->vocab, sizeof *all->logs);
    all->id = vd_alloc(rows, sizeof *all->id);
    all->parent = vd_alloc(rows, sizeof *all->parent);
    all->picture = vd_alloc(rows, sizeof *all->picture);
    if (!all->of || !all->logs || !all->id || !all->parent || !all->picture)
        return vd_error_memory(err, "the search");
    vd_status status = list_dangling(all, vocab, err);
    for (size_t p = 0; p < pictures; p++) {
        search *s = &all->of[p];
        s->how = all->how;
        s->dangling = all->dangling;
        s->vocab = all->vocab;
        s->most = most;
        s->count = 1;
        s->rng = vd_rng_seed(all->how->seed, stream ? stream[p] : UINT64_C(0x63617074696f6e));
    }
    return status;
}

static void free_searches(searches *all)
{
    vd_free(all->of);
    vd_free(all->logs);
    vd_free(all->dangling);
    vd_free(all->id);
    vd_free(all->parent);
    vd_free(all->picture);
}

static void copy_captions(searches *all, int most, vd_generated_caption *out, int *count)
{
    for (int p = 0; p < all->pictures; p++) {
        search *s = &all->of[p];
        sort(s);
        count[p] = s->count < most ? s->count : most;
        for (int i = 0; i < count[p]; i++)
            out[p * most + i] = s->list[i].caption;
    }
}

vd_status vd_caption_generate(vd_caption_pass *pass, const vd_vocab *vocab,
                              const vd_generation *how, const uint64_t *stream,
                              vd_generated_caption *out, int most, int *count, vd_error *err)
{
    vd_status status = check_saying(how, pass->config->vocab, most, err);
    if (status != VD_OK)
        return status;
    searches all = {
        .pass = pass, .how = how, .pictures = pass->pictures, .vocab = pass->config->vocab};
    int rows = 1;
    status = start_searches(&all, vocab, stream, most, err);
    for (bool first = true; status == VD_OK; first = false) {
        status = read_next(&all, first, &rows, err);
        if (status != VD_OK || rows == 0)
            break;
        status = extend_all(&all, first, err);
    }
    if (status == VD_OK)
        copy_captions(&all, most, out, count);
    free_searches(&all);
    return status;
}

static void merge_repeats(vd_generated_caption *c)
{
    int kept = 0;
    for (int i = 0; i < c->length; i++)
        if (kept == 0 || c->word[i] != c->word[kept - 1])
            c->word[kept++] = c->word[i];
    c->length = kept;
}

vd_status vd_captioner_generate(vd_captioner *captioner, const float *image, int regions,
                                const vd_generation *how, vd_generated_caption *out, int most,
                                int *count, vd_error *err)
{
    vd_caption_pass pass;
    *count = 0;
    if (captioner->hard == VD_HARD_DRAW && how->beam > 1)
        return vd_error_set(err, VD_USAGE,
                            "a beam of %d hypotheses of a captioner that draws where it looks; "
                            "expected 1",
                            how->beam);
    vd_status status = vd_captioner_encode(captioner, image, regions, how->what_if, &pass, err);
    if (status == VD_OK)
        status =
            vd_caption_generate(&pass, captioner->model->vocab, how, NULL, out, most, count, err);
    for (int i = 0; how->merge_repeats && i < *count; i++)
        merge_repeats(&out[i]);
    return status;
}

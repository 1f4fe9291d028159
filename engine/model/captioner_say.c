// Saying captions: greedy, beam search, drawn (captioner.h).
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/model/captioner_private.h"

typedef struct hypothesis {
    vd_said_caption said;
    int parent; // its row among the logits of the step before
} hypothesis;

typedef struct search {
    vd_captioner *captioner;
    const vd_saying *how;
    vd_caption_pass pass;
    int vocab, most;
    float *logs;                                         // (beam, V)
    hypothesis list[VD_MOST_BEAMS], next[VD_MOST_BEAMS]; // by falling sums
    int count;
    bool *dangling; // (V) words that no caption ends on; NULL: any may
    vd_rng rng;
} search;

vd_saying vd_saying_greedy(void)
{
    return (vd_saying){.beam = 1, .longest = VD_MAX_CAPTION};
}

void vd_saying_text(const vd_saying *how, char *out, size_t size)
{
    char first[80];
    if (how->temperature > 0)
        snprintf(first, sizeof first, "temperature=%g seed=%" PRIu64 " longest=%d",
                 how->temperature, how->seed, how->longest);
    else
        snprintf(first, sizeof first, "beam=%d longest=%d length-power=%g", how->beam,
                 how->longest, how->length_power);
    snprintf(out, size, "%s%s%s%s%s", first, how->no_repeat ? " no-repeat" : "",
             how->no_trigram ? " no-trigram" : "", how->no_dangling ? " no-dangling" : "",
             how->merge_repeats ? " merge-repeats" : "");
}

static vd_status check_saying(const vd_saying *how, int most, vd_error *err)
{
    if (how->beam < 1 || how->beam > VD_MOST_BEAMS)
        return vd_error_set(err, VD_USAGE, "a beam of %d hypotheses; expected 1 to %d", how->beam,
                            VD_MOST_BEAMS);
    if (how->longest < 1 || how->longest > VD_MAX_CAPTION)
        return vd_error_set(err, VD_USAGE, "captions of %d words; expected 1 to %d", how->longest,
                            VD_MAX_CAPTION);
    if (most < 1 || most > how->beam)
        return vd_error_set(err, VD_USAGE, "%d captions of a beam of %d", most, how->beam);
    if (!(how->temperature >= 0) || (how->temperature > 0 && how->beam > 1))
        return vd_error_set(err, VD_USAGE,
                            "a caption that is drawn has a temperature above 0 and no beam");
    return VD_OK;
}

static vd_status list_dangling(search *s, vd_error *err)
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
        s->dangling[vd_vocab_id(s->captioner->model->vocab, words[i])] = true;
    return VD_OK;
}

// Whether the last two words and this one stand in the caption already.
static bool is_trigram_again(const vd_said_caption *c, int32_t id)
{
    int n = c->length;
    for (int i = 0; i + 2 < n; i++)
        if (c->word[i] == c->word[n - 2] && c->word[i + 1] == c->word[n - 1] &&
            c->word[i + 2] == id)
            return true;
    return false;
}

static bool may_follow(const search *s, const vd_said_caption *c, int32_t id)
{
    int32_t last = c->length > 0 ? c->word[c->length - 1] : VD_PAD;
    if (id == VD_END)
        return c->length > 0 && !(s->dangling && s->dangling[last]);
    return id >= VD_FIRST_WORD && !(s->how->no_repeat && id == last) &&
           !(s->how->no_trigram && c->length >= 2 && is_trigram_again(c, id));
}

static bool is_open(const search *s, const vd_said_caption *c)
{
    return !c->ended && c->length < s->how->longest;
}

static vd_said_caption add_word(const vd_said_caption *c, int32_t id, double log)
{
    vd_said_caption longer = *c;
    longer.log_probability += log;
    longer.ended = id == VD_END;
    if (!longer.ended)
        longer.word[longer.length++] = id;
    return longer;
}

// Keeps the best sums; of equal ones the earlier.
static void offer(search *s, int *count, const vd_said_caption *c, int parent)
{
    int at = *count;
    while (at > 0 && s->next[at - 1].said.log_probability < c->log_probability)
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
    return count < s->how->beam || sum > s->next[count - 1].said.log_probability;
}

static void offer_words(search *s, int *count, const vd_said_caption *c, int row)
{
    const float *log = s->logs + (size_t)row * (size_t)s->vocab;
    for (int32_t id = VD_END; id < s->vocab; id++)
        if (may_enter(s, *count, c->log_probability + (double)log[id]) && may_follow(s, c, id)) {
            vd_said_caption longer = add_word(c, id, (double)log[id]);
            offer(s, count, &longer, row);
        }
}

// One word of p^(1 / temperature) among those that may follow.
// Shares are those beside the likeliest word that may follow, or they would all be 0 where that is
// unlikely and the temperature low.
static void draw_word(search *s, int *count, const vd_said_caption *c)
{
    double sum = 0, t = s->how->temperature, most = -INFINITY;
    int32_t last = -1;
    for (int32_t id = VD_END; id < s->vocab; id++)
        if (may_follow(s, c, id))
            most = fmax(most, (double)s->logs[id]);
    for (int32_t id = VD_END; id < s->vocab; id++)
        if (may_follow(s, c, id))
            sum += exp(((double)s->logs[id] - most) / t);
    double point = vd_rng_uniform(&s->rng) * sum, below = 0;
    for (int32_t id = VD_END; id < s->vocab && (last < 0 || below <= point); id++)
        if (may_follow(s, c, id)) {
            below += exp(((double)s->logs[id] - most) / t);
            last = id;
        }
    if (last < 0)
        return;
    vd_said_caption longer = add_word(c, last, (double)s->logs[last]);
    offer(s, count, &longer, 0);
}

// From the logits of the open hypotheses, a row each, to the next list.
static void extend(search *s)
{
    int count = 0, row = 0;
    for (int i = 0; i < s->count; i++) {
        const vd_said_caption *c = &s->list[i].said;
        if (!is_open(s, c))
            offer(s, &count, c, -1);
        else if (s->how->temperature > 0)
            draw_word(s, &count, c);
        else
            offer_words(s, &count, c, row);
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
        const vd_said_caption *c = &s->list[i].said;
        double *best = is_open(s, c) ? &open : &finished;
        *best = fmax(*best, c->log_probability);
    }
    bool certain = s->most == 1 && s->how->length_power == 0;
    return open == -INFINITY || (certain && open <= finished);
}

// Reads the newest words of the open hypotheses.
static vd_status read_next(search *s, bool first, vd_error *err)
{
    int32_t id[VD_MOST_BEAMS];
    int parent[VD_MOST_BEAMS], open = 0;
    vd_caption_words words;
    for (int i = 0; i < s->count; i++) {
        const vd_said_caption *c = &s->list[i].said;
        if (!is_open(s, c))
            continue;
        id[open] = first ? VD_START : c->word[c->length - 1];
        parent[open++] = s->list[i].parent;
    }
    vd_status status =
        vd_caption_words_next(&s->pass, id, first ? NULL : parent, open, &words, err);
    if (status == VD_OK)
        status = vd_caption_read(&s->pass, &words, err);
    return status == VD_OK ? vd_caption_logs(&s->pass, s->logs, err) : status;
}

static double rank_of(const vd_said_caption *c, double power)
{
    return c->log_probability / pow(c->length + c->ended, power);
}

// The last order; equal ones stay as they are.
static void sort(search *s)
{
    for (int i = 1; i < s->count && s->how->length_power != 0; i++)
        for (int j = i; j > 0 && rank_of(&s->list[j].said, s->how->length_power) >
                                     rank_of(&s->list[j - 1].said, s->how->length_power);
             j--) {
            hypothesis kept = s->list[j];
            s->list[j] = s->list[j - 1];
            s->list[j - 1] = kept;
        }
}

static vd_status run_search(search *s, vd_error *err)
{
    vd_status status = list_dangling(s, err);
    s->count = 1;
    s->list[0] = (hypothesis){0};
    for (bool first = true; status == VD_OK && (first || !is_done(s)); first = false) {
        status = read_next(s, first, err);
        if (status == VD_OK)
            extend(s);
        if (status == VD_OK && s->count == 0)
            status = vd_error_set(err, VD_FORMAT,
                                  "no word may follow: the vocabulary has too few for these "
                                  "constraints");
    }
    if (status == VD_OK)
        sort(s);
    return status;
}

static void merge_repeats(vd_said_caption *c)
{
    int kept = 0;
    for (int i = 0; i < c->length; i++)
        if (kept == 0 || c->word[i] != c->word[kept - 1])
            c->word[kept++] = c->word[i];
    c->length = kept;
}

vd_status vd_captioner_say(vd_captioner *captioner, const float *image, int regions,
                           const vd_saying *how, vd_said_caption *out, int most, int *count,
                           vd_error *err)
{
    *count = 0;
    vd_status status = check_saying(how, most, err);
    if (status != VD_OK)
        return status;
    search *s = vd_alloc(1, sizeof *s);
    if (!s)
        return vd_error_memory(err, "the search");
    s->captioner = captioner;
    s->how = how;
    s->most = most;
    s->vocab = captioner->model->config.vocab;
    s->rng = vd_rng_seed(how->seed, UINT64_C(0x63617074696f6e));
    s->logs = vd_alloc((size_t)how->beam * (size_t)s->vocab, sizeof *s->logs);
    status = s->logs ? vd_captioner_see(captioner, image, regions, &s->pass, err)
                     : vd_error_memory(err, "the search");
    if (status == VD_OK)
        status = run_search(s, err);
    for (int i = 0; status == VD_OK && i < s->count && i < most; i++)
        out[(*count)++] = s->list[i].said;
    for (int i = 0; how->merge_repeats && i < *count; i++)
        merge_repeats(&out[i]);
    vd_free(s->logs);
    vd_free(s->dangling);
    vd_free(s);
    return status;
}

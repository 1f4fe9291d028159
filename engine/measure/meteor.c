#include "engine/measure/meteor.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 100, MASKS = VD_CAPTION_MOST / 64 };

typedef struct sentences {
    vd_tokens hypothesis, reference;
    const int32_t *stem;
} sentences;

// An alignment of the first words of the caption.
typedef struct partial {
    uint64_t used[MASKS]; // words of the reference
    int last;             // the reference's word that the last word has, -1: none
    int exact, stems, chunks, distance;
} partial;

static int32_t stem_of(const sentences *s, int32_t id)
{
    return s->stem ? s->stem[id] : id;
}

static bool is_used(const partial *p, int j)
{
    return p->used[j / 64] >> (j % 64) & 1;
}

// How often a word, or the words of a stem, are in the caption from some place on, and free in the
// reference.
typedef struct left {
    int hypothesis, reference;
} left;

static left count_left(const sentences *s, const partial *p, int from, int32_t id, bool stems)
{
    left l = {0};
    int32_t wanted = stems ? stem_of(s, id) : id;
    for (int i = from; i < s->hypothesis.count; i++)
        l.hypothesis += (stems ? stem_of(s, s->hypothesis.id[i]) : s->hypothesis.id[i]) == wanted;
    for (int j = 0; j < s->reference.count; j++)
        l.reference += !is_used(p, j) &&
                       (stems ? stem_of(s, s->reference.id[j]) : s->reference.id[j]) == wanted;
    return l;
}

// The better alignment first, of the same words.
static int compare(const void *a, const void *b)
{
    const partial *x = a, *y = b;
    if (x->chunks != y->chunks)
        return x->chunks - y->chunks;
    return x->distance - y->distance;
}

static bool same_rest(const partial *a, const partial *b)
{
    return a->last == b->last && memcmp(a->used, b->used, sizeof a->used) == 0;
}

// Keeps the better of two that go on alike. In a full list it takes the place of the worst, if it
// is better.
static void keep(partial *list, int *count, const partial *p)
{
    int worst = 0;
    for (int k = 0; k < *count; k++) {
        if (same_rest(&list[k], p)) {
            if (compare(p, &list[k]) < 0)
                list[k] = *p;
            return;
        }
        if (compare(&list[k], &list[worst]) > 0)
            worst = k;
    }
    if (*count < KEPT)
        list[(*count)++] = *p;
    else if (compare(p, &list[worst]) < 0)
        list[worst] = *p;
}

static partial match(const partial *p, int i, int j, bool exact)
{
    partial next = *p;
    next.used[j / 64] |= UINT64_C(1) << (j % 64);
    next.exact += exact;
    next.stems += !exact;
    next.chunks += p->last < 0 || p->last + 1 != j;
    next.distance += abs(i - j);
    next.last = j;
    return next;
}

// The largest sum of weights: of each stem as many words match as both sentences have, of them as
// many exactly as both have of each word; both are reached together. So word i may stay alone only
// where the caption has more of its stem than the reference, and may take another word of its stem
// only where neither of the two words loses an exact match by that. Every such way to go on:
static void extend(const sentences *s, const partial *p, int i, partial *list, int *count)
{
    int32_t id = s->hypothesis.id[i];
    left word = count_left(s, p, i, id, false), stem = count_left(s, p, i, id, true);
    bool word_spare = word.hypothesis > word.reference,
         stem_spare = stem.hypothesis > stem.reference;
    if (word_spare && stem_spare) {
        partial next = *p;
        next.last = -1;
        keep(list, count, &next);
    }
    for (int j = 0; j < s->reference.count; j++) {
        int32_t other = s->reference.id[j];
        if (is_used(p, j) || stem_of(s, other) != stem_of(s, id))
            continue;
        left there = other == id ? word : count_left(s, p, i + 1, other, false);
        if (other != id && !(word_spare && there.reference > there.hypothesis))
            continue;
        partial next = match(p, i, j, other == id);
        keep(list, count, &next);
    }
}

vd_meteor vd_meteor_align(vd_tokens hypothesis, vd_tokens reference, const int32_t *stem)
{
    sentences s = {hypothesis, reference, stem};
    partial lists[2][KEPT] = {{{.last = -1}}};
    int counts[2] = {1, 0}, now = 0;
    for (int i = 0; i < hypothesis.count; i++, now = !now) {
        counts[!now] = 0;
        for (int k = 0; k < counts[now]; k++)
            extend(&s, &lists[now][k], i, lists[!now], &counts[!now]);
    }
    const partial *best = &lists[now][0];
    for (int k = 1; k < counts[now]; k++)
        if (compare(&lists[now][k], best) < 0)
            best = &lists[now][k];
    int matches = best->exact + best->stems;
    bool whole = best->chunks == 1 && matches == hypothesis.count && matches == reference.count;
    return (vd_meteor){.weight = best->exact + 0.6 * best->stems,
                       .matches = matches,
                       .chunks = whole ? 0.0 : best->chunks,
                       .hypothesis = hypothesis.count,
                       .reference = reference.count};
}

double vd_meteor_score(const vd_meteor *c)
{
    if (c->matches == 0.0)
        return 0.0;
    double precision = c->weight / c->hypothesis, recall = c->weight / c->reference;
    double mean = precision * recall / (0.85 * precision + 0.15 * recall);
    return mean * (1.0 - 0.6 * pow(c->chunks / c->matches, 0.2));
}

vd_meteor vd_meteor_best(vd_tokens hypothesis, const vd_tokens *reference, int references,
                         const int32_t *stem)
{
    vd_meteor best = vd_meteor_align(hypothesis, reference[0], stem);
    for (int j = 1; j < references; j++) {
        vd_meteor other = vd_meteor_align(hypothesis, reference[j], stem);
        if (vd_meteor_score(&other) > vd_meteor_score(&best))
            best = other;
    }
    return best;
}

#include "engine/measure/cider.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"

enum { ORDERS = 4 };

// An n-gram; words behind its end are -1.
typedef struct gram {
    int32_t id[ORDERS];
} gram;

typedef struct vd_cider_entry {
    gram gram;
    uint32_t pictures; // df; 0: the entry is free
    uint32_t last;     // the picture, from 1 on, that was counted last
} entry;

static gram gram_of(const int32_t *id, int n)
{
    gram g = {{-1, -1, -1, -1}};
    memcpy(g.id, id, (size_t)n * sizeof *id);
    return g;
}

static uint64_t hash(const gram *g)
{
    uint64_t h = 0;
    for (int i = 0; i < ORDERS; i++)
        h = (h ^ (uint32_t)g->id[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return h;
}

// Where the n-gram is, or the free slot where it would be.
static entry *find(const vd_cider *cider, const gram *g)
{
    size_t slot = (size_t)hash(g) & (cider->slots - 1);
    while (cider->entry[slot].pictures && memcmp(&cider->entry[slot].gram, g, sizeof *g) != 0)
        slot = (slot + 1) & (cider->slots - 1);
    return &cider->entry[slot];
}

static bool enlarge(vd_cider *cider)
{
    vd_cider larger = {.slots = cider->slots ? 2 * cider->slots : 1 << 10};
    larger.entry = vd_alloc(larger.slots, sizeof *larger.entry);
    if (!larger.entry)
        return false;
    for (size_t i = 0; i < cider->slots; i++)
        if (cider->entry[i].pictures)
            *find(&larger, &cider->entry[i].gram) = cider->entry[i];
    vd_free(cider->entry);
    cider->entry = larger.entry;
    cider->slots = larger.slots;
    return true;
}

void vd_cider_clear(vd_cider *cider)
{
    vd_free(cider->entry);
    *cider = (vd_cider){0};
}

// Once a picture, which has this number.
static bool count(vd_cider *cider, gram g, uint32_t picture)
{
    if (2 * (cider->taken + 1) > cider->slots && !enlarge(cider))
        return false;
    entry *e = find(cider, &g);
    e->gram = g;
    cider->taken += !e->pictures;
    e->pictures += e->last != picture;
    e->last = picture;
    return true;
}

vd_status vd_cider_add(vd_cider *cider, const vd_tokens *reference, int references, vd_error *err)
{
    if (cider->pictures >= UINT32_MAX - 1)
        return vd_error_set(err, VD_USAGE, "CIDEr-D of more than %zu pictures", cider->pictures);
    uint32_t picture = (uint32_t)++cider->pictures;
    for (int j = 0; j < references; j++)
        for (int n = 1; n <= ORDERS; n++)
            for (int i = 0; i + n <= reference[j].count; i++)
                if (!count(cider, gram_of(reference[j].id + i, n), picture))
                    return vd_error_memory(err, "n-grams");
    return VD_OK;
}

// ---- scores -------------------------------------------------------------------------------------

static double weight(const vd_cider *cider, const int32_t *id, int n)
{
    gram g = gram_of(id, n);
    uint32_t pictures = cider->slots ? find(cider, &g)->pictures : 0;
    return log((double)cider->pictures) - log(pictures > 1 ? pictures : 1.0);
}

// a_s of a sentence's n-grams: each one's where it is there first, 0 elsewhere.
typedef struct weighed {
    vd_tokens sentence;
    int n, grams;
    int times[VD_CAPTION_MOST];
    double idf[VD_CAPTION_MOST]; // where times is not 0
    double norm;
} weighed;

static void weigh(const vd_cider *cider, vd_tokens sentence, int n, weighed *out)
{
    out->sentence = sentence;
    out->n = n;
    out->grams = vd_ngram_counts(sentence, n, out->times);
    double squares = 0.0;
    for (int i = 0; i < out->grams; i++) {
        if (!out->times[i])
            continue;
        out->idf[i] = weight(cider, sentence.id + i, n);
        squares += (out->times[i] * out->idf[i]) * (out->times[i] * out->idf[i]);
    }
    out->norm = sqrt(squares);
}

// sum_g min(a_h, a_r) a_r / (|a_h| |a_r|)
static double clipped_cosine(const weighed *h, const weighed *r)
{
    double sum = 0.0;
    if (h->norm == 0.0 || r->norm == 0.0)
        return 0.0;
    for (int i = 0; i < h->grams; i++) {
        if (!h->times[i])
            continue;
        int there = vd_ngram_times(r->sentence, h->sentence.id + i, h->n);
        int both = there < h->times[i] ? there : h->times[i];
        sum += both * h->idf[i] * there * h->idf[i];
    }
    return sum / (h->norm * r->norm);
}

static int bigrams(vd_tokens sentence)
{
    return sentence.count > 1 ? sentence.count - 1 : 0;
}

double vd_cider_score(const vd_cider *cider, vd_tokens hypothesis, const vd_tokens *reference,
                      int references)
{
    if (cider->pictures == 0)
        return 0.0;
    double sum = 0.0;
    weighed h, r;
    for (int n = 1; n <= ORDERS; n++) {
        weigh(cider, hypothesis, n, &h);
        for (int j = 0; j < references; j++) {
            double delta = bigrams(hypothesis) - bigrams(reference[j]);
            weigh(cider, reference[j], n, &r);
            sum += clipped_cosine(&h, &r) * exp(-delta * delta / 72.0);
        }
    }
    return 10.0 * sum / (ORDERS * (double)references);
}

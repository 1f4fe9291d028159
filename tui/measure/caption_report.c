#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/json.h"
#include "tui/base/table.h"
#include "tui/measure/captions.h"

// ---- tables -------------------------------------------------------------------------------------

typedef char cell[64];

static const char *number(cell out, const vd_caption_metric_name *name, double value)
{
    if (isnan(value))
        snprintf(out, sizeof(cell), "-");
    else
        snprintf(out, sizeof(cell), "%.*f", name->digits, value * name->scale);
    return out;
}

static const char *range(cell out, const vd_caption_metric_name *name, const vd_interval *interval)
{
    if (!interval || isnan(interval->low))
        snprintf(out, sizeof(cell), "-");
    else
        snprintf(out, sizeof(cell), "%.*f to %.*f", name->digits, interval->low * name->scale,
                 name->digits, interval->high * name->scale);
    return out;
}

static void add_metric(vd_table *table, const vd_caption_report *r, int metric)
{
    const vd_caption_metric_name *name = &vd_caption_metric_names[metric];
    const vd_interval *difference = r->difference ? &r->difference[metric] : NULL;
    cell one, two, low, by, p = "-";
    if (isnan(r->measure->metric[metric]))
        return;
    vd_table_add(table, "%s\t%s\t%s", name->label, number(one, name, r->measure->metric[metric]),
                 range(low, name, r->interval ? &r->interval[metric] : NULL));
    if (!r->other)
        return;
    number(by, name, r->other->metric[metric] - r->measure->metric[metric]);
    vd_table_more(table, "%s\t%s", number(two, name, r->other->metric[metric]), by);
    // Where both are shown as zero, what differs is how zeros were smoothed.
    if (difference && !isnan(difference->p) && (strtod(one, NULL) != 0 || strtod(two, NULL) != 0))
        snprintf(p, sizeof p, "%.4f", difference->p);
    vd_table_more(table, "%s\t%s", range(low, name, difference), p);
}

static void print_metrics(const vd_caption_report *r)
{
    vd_table table = {0};
    cell level;
    snprintf(level, sizeof level, "%g %% interval", 100.0 * r->level);
    vd_table_add(&table, "metric\tvalue\t%s", level);
    if (r->other)
        vd_table_more(&table, "other\tdifference\t%s\tp", level);
    for (int i = 0; i < VD_CAPTION_METRICS; i++)
        add_metric(&table, r, i);
    vd_table_finish(&table, 0);
}

static size_t total(const size_t *counts)
{
    size_t sum = 0;
    for (int i = 0; i < BLOCKS_CLAIM_SORTS; i++)
        sum += counts[i];
    return sum;
}

static void print_claims(const vd_caption_measure *m)
{
    vd_table table = {0};
    printf("\n");
    vd_table_add(&table, "claim\tcaptions\tfalse");
    for (int i = 0; i < BLOCKS_CLAIM_SORTS; i++)
        vd_table_add(&table, "%s\t%zu\t%zu", blocks_claim_names[i], m->claimed[i],
                     m->false_claims[i]);
    vd_table_add(&table, "not read\t%zu\t-", m->pictures - total(m->claimed));
    vd_table_finish(&table, 0);
}

// Of both captioners: whether they are faithful about a picture.
static vd_pairs faithful_pairs(const vd_caption_report *r)
{
    vd_pairs pairs = {0};
    for (size_t i = 0; i < r->measure->pictures; i++)
        vd_pairs_add(&pairs, r->measure->picture[i].faithful > 0,
                     r->other->picture[i].faithful > 0);
    return pairs;
}

static void print_agreement(const vd_caption_report *r)
{
    vd_pairs pairs = faithful_pairs(r);
    printf("\nfaithful: both %zu, only first %zu, only second %zu, neither %zu\n", pairs.both,
           pairs.only_a, pairs.only_b, pairs.neither);
}

// A picture, by its place in the references, and what the captions of both are worth there.
typedef struct differing {
    size_t picture;
    double first, second;
} differing;

static vd_caption_metric metric_of_differences(const vd_caption_report *r)
{
    return r->measure->all.judged > 0 ? VD_CAPTION_BITS : VD_CAPTION_CIDER_D;
}

static int larger_first(const void *a, const void *b)
{
    const differing *one = a, *two = b;
    double by = fabs(two->first - two->second) - fabs(one->first - one->second);
    return by > 0 ? 1 : by < 0 ? -1 : one->picture < two->picture ? -1 : 1;
}

static double value_of(const vd_caption_measure *measure, size_t picture, vd_caption_metric which)
{
    double metric[VD_CAPTION_METRICS];
    vd_caption_sums_metrics(&measure->picture[picture], metric);
    return metric[which];
}

// The largest differences, of equal ones those of the first pictures (g_free). *count: how many.
static differing *find_differences(const vd_caption_report *r, size_t *count)
{
    vd_caption_metric metric = metric_of_differences(r);
    differing *all = g_new(differing, r->measure->pictures);
    *count = 0;
    for (size_t i = 0; i < r->measure->pictures; i++) {
        all[*count] =
            (differing){i, value_of(r->measure, i, metric), value_of(r->other, i, metric)};
        *count += all[*count].first != all[*count].second;
    }
    if (*count > 0)
        qsort(all, *count, sizeof *all, larger_first);
    *count = MIN(*count, r->cases);
    return all;
}

static const char *generated(const vd_caption_report *r, int which, const differing *d)
{
    return vd_results_find(r->generated[which], r->references->image[d->picture].image_id);
}

static void print_differences(const vd_caption_report *r)
{
    size_t count;
    differing *all = find_differences(r, &count);
    vd_table table = {0};
    const vd_caption_metric_name *name = &vd_caption_metric_names[metric_of_differences(r)];
    if (count > 0) {
        printf("\nlargest differences: first captioner above second\n");
        vd_table_add(&table, "picture\t%s\tcaption", name->label);
    }
    for (size_t i = 0; i < count; i++) {
        const differing *d = &all[i];
        cell one, two;
        vd_table_add(&table, "%" PRId64 "\t%s\t%s", r->references->image[d->picture].image_id,
                     number(one, name, d->first), generated(r, 0, d));
        vd_table_add(&table, "\t%s\t%s", number(two, name, d->second), generated(r, 1, d));
    }
    vd_table_finish(&table, 0);
    g_free(all);
}

void vd_caption_print(const vd_caption_report *r)
{
    const vd_caption_measure *m = r->measure;
    bool judged = m->all.judged > 0;
    print_metrics(r);
    printf("\n%zu different caption%s of %zu (%.1f %%)\n", m->distinct, m->distinct == 1 ? "" : "s",
           m->pictures, 100.0 * (double)m->distinct / (double)m->pictures);
    if (r->other && judged)
        print_agreement(r);
    if (judged)
        print_claims(m);
    if (r->other)
        print_differences(r);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void json_intervals(yajl_gen json, const char *key, const vd_interval *interval,
                           double level, bool difference)
{
    vd_json_put(json, "%s: {level: %.9g", key, level);
    for (int i = 0; i < VD_CAPTION_METRICS; i++) {
        const vd_interval *one = &interval[i];
        const char *name = vd_caption_metric_names[i].name;
        if (difference && !isnan(one->estimate))
            vd_json_put(json, "%s: [%.9g, %.9g, %.9g, %.9g]", name, one->estimate, one->low,
                        one->high, one->p);
        else if (!isnan(one->estimate))
            vd_json_put(json, "%s: [%.9g, %.9g]", name, one->low, one->high);
    }
    vd_json_put(json, "}");
}

static void json_measure(yajl_gen json, const char *key, const vd_caption_measure *m)
{
    bool judged = m->all.judged > 0.0;
    vd_json_put(json, "%s: {pictures: %zu, distinct: %zu", key, m->pictures, m->distinct);
    for (int i = 0; i < VD_CAPTION_METRICS; i++)
        if (!isnan(m->metric[i]))
            vd_json_put(json, "%s: %.9g", vd_caption_metric_names[i].name, m->metric[i]);
    if (judged)
        vd_json_put(json, "claims: {");
    for (int i = 0; i < BLOCKS_CLAIM_SORTS && judged; i++)
        vd_json_put(json, "%s: {captions: %zu, false: %zu}", blocks_claim_names[i], m->claimed[i],
                    m->false_claims[i]);
    vd_json_put(json, judged ? "}}" : "}");
}

static void json_agreement(yajl_gen json, const vd_caption_report *r)
{
    vd_pairs pairs = faithful_pairs(r);
    vd_json_put(json, "agreement: {both: %zu, all_alone: %zu, other_alone: %zu, neither: %zu}",
                pairs.both, pairs.only_a, pairs.only_b, pairs.neither);
}

static void json_differences(yajl_gen json, const vd_caption_report *r)
{
    size_t count;
    differing *all = find_differences(r, &count);
    const vd_caption_metric_name *name = &vd_caption_metric_names[metric_of_differences(r)];
    vd_json_put(json, "largest_differences: [");
    for (size_t i = 0; i < count; i++) {
        const differing *d = &all[i];
        vd_json_put(json, "{image_id: %" PRId64 ", %s: [%.9g, %.9g], captions: [%s, %s]}",
                    r->references->image[d->picture].image_id, name->name, d->first, d->second,
                    generated(r, 0, d), generated(r, 1, d));
    }
    vd_json_put(json, "]");
    g_free(all);
}

void vd_caption_json(yajl_gen json, const vd_caption_report *r)
{
    json_measure(json, "all", r->measure);
    if (r->interval)
        json_intervals(json, "interval", r->interval, r->level, false);
    if (!r->other)
        return;
    json_measure(json, "other", r->other);
    if (r->measure->all.judged > 0.0)
        json_agreement(json, r);
    vd_json_put(json, "sign: %s", "second - first");
    if (r->difference)
        json_intervals(json, "difference", r->difference, r->level, true);
    json_differences(json, r);
}

#include "engine/networks/batch.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/base/token.h"

// Sequences of one kind.
typedef struct vd_lines {
    const char *name;
    const int32_t *ids, *lengths;
    int count, width, longest;
} vd_lines;

// Whether a, b, c >= 0 and the network can count a b c things.
static bool countable(int a, int b, int c)
{
    int product;
    return a >= 0 && b >= 0 && c >= 0 && !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_mul_overflow(product, c, &product) && product < INT_MAX;
}

static vd_status check_sizes(const vd_batch *b, vd_error *err)
{
    if (countable(b->dialogs, b->rounds, b->regions) &&
        countable(b->dialogs, b->rounds, b->candidates) &&
        countable(b->dialogs, b->rounds, VD_MAX_HISTORY) && countable(b->dialogs, 1, b->regions) &&
        countable(b->distinct, VD_MAX_CANDIDATE, 1) && b->question_width >= 0 &&
        b->history_width >= 0 && b->candidate_width >= 0)
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "a batch of %d dialogs, %d rounds, %d regions, %d of %d candidates, widths "
                        "%d, %d, %d: more than can be counted, or less than none",
                        b->dialogs, b->rounds, b->regions, b->candidates, b->distinct,
                        b->question_width, b->history_width, b->candidate_width);
}

static vd_status check_pictures(const vd_batch *b, vd_error *err)
{
    for (int i = 0; i < b->dialogs && !b->image; i++)
        if (b->kept.row[i] < 0)
            return vd_error_set(err, VD_USAGE, "picture %d of the batch is kept in row %d", i,
                                (int)b->kept.row[i]);
    return VD_OK;
}

static vd_status check_ids(const char *name, int at, const int32_t *ids, int count, int vocab,
                           vd_error *err)
{
    for (int i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= vocab)
            return vd_error_set(err, VD_USAGE,
                                "%s %d of the batch: word %d is %d, expected 0 to %d", name, at, i,
                                (int)ids[i], vocab - 1);
    return VD_OK;
}

static vd_status check_lines(const vd_lines *l, int vocab, vd_error *err)
{
    int most = l->width < l->longest ? l->width : l->longest;
    for (int s = 0; s < l->count; s++) {
        if (l->lengths[s] < 0 || l->lengths[s] > most)
            return vd_error_set(err, VD_USAGE, "%s %d of the batch: %d words, expected 0 to %d",
                                l->name, s, (int)l->lengths[s], most);
        vd_status status =
            check_ids(l->name, s, l->ids + (size_t)s * (size_t)l->width, l->lengths[s], vocab, err);
        if (status != VD_OK)
            return status;
    }
    return VD_OK;
}

static vd_status check_order(const vd_batch *b, vd_error *err)
{
    for (int u = 0; u < b->distinct && b->candidate_order; u++)
        if (b->candidate_order[u] < 0 || b->candidate_order[u] >= b->distinct)
            return vd_error_set(err, VD_USAGE,
                                "place %d of the batch's candidates in order is %d, expected 0 to "
                                "%d",
                                u, b->candidate_order[u], b->distinct - 1);
    return VD_OK;
}

static vd_status check_options(const vd_batch *b, vd_error *err)
{
    int questions = b->dialogs * b->rounds, options = questions * b->candidates;
    for (int i = 0; i < options; i++)
        if (b->option[i] < 0 || b->option[i] >= b->distinct)
            return vd_error_set(err, VD_USAGE, "option %d of the batch is %d, expected 0 to %d", i,
                                (int)b->option[i], b->distinct - 1);
    for (int k = 0; k < questions; k++)
        if (b->truth[k] < -1 || b->truth[k] >= b->candidates)
            return vd_error_set(err, VD_USAGE,
                                "the answer of question %d of the batch is %d, expected -1 to %d",
                                k, (int)b->truth[k], b->candidates - 1);
    return VD_OK;
}

static vd_status check_spoken(const vd_batch *b, int vocab, vd_error *err)
{
    if (!b->candidate_in || !b->candidate_out)
        return VD_OK;
    if (b->candidate_width > VD_MAX_CANDIDATE)
        return vd_error_set(err, VD_USAGE, "answers of the batch: up to %d words, expected %d",
                            b->candidate_width, VD_MAX_CANDIDATE);
    vd_status status = VD_OK;
    for (int u = 0; status == VD_OK && u < b->distinct; u++) {
        size_t at = (size_t)u * (size_t)b->candidate_width;
        status = check_ids("answer", u, b->candidate_in + at, b->candidate_width, vocab, err);
        if (status == VD_OK)
            status = check_ids("answer", u, b->candidate_out + at, b->candidate_width, vocab, err);
    }
    return status;
}

vd_status vd_batch_check(const vd_batch *b, int vocab, vd_error *err)
{
    vd_status status = check_sizes(b, err);
    if (status != VD_OK)
        return status;
    int questions = b->dialogs * b->rounds;
    const vd_lines lines[] = {
        {"question", b->question, b->question_length, questions, b->question_width,
         VD_MAX_QUESTION},
        {"history entry", b->history, b->history_length, questions, b->history_width,
         VD_MAX_HISTORY},
        {"candidate", b->candidate, b->candidate_length, b->distinct, b->candidate_width,
         VD_MAX_CANDIDATE},
    };
    status = check_pictures(b, err);
    for (size_t i = 0; status == VD_OK && i < sizeof lines / sizeof *lines; i++)
        status = check_lines(&lines[i], vocab, err);
    if (status == VD_OK)
        status = check_order(b, err);
    if (status == VD_OK)
        status = check_options(b, err);
    return status == VD_OK ? check_spoken(b, vocab, err) : status;
}

int vd_batch_said(const vd_batch *batch, int candidate)
{
    const int32_t *out = batch->candidate_out + (size_t)candidate * (size_t)batch->candidate_width;
    int n = 0;
    while (n < batch->candidate_width && out[n] != VD_PAD)
        n++;
    return n;
}

vd_totals vd_batch_totals(const vd_batch *batch)
{
    vd_totals totals = {0};
    for (int n = 0; n < batch->dialogs * batch->rounds; n++) {
        if (batch->truth[n] < 0)
            continue;
        totals.questions++;
        if (batch->candidate_out)
            totals.words += vd_batch_said(
                batch,
                batch->option[(size_t)n * (size_t)batch->candidates + (size_t)batch->truth[n]]);
    }
    return totals;
}

#include "engine/networks/batch.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/backend/arena.h"
#include "engine/backend/backend.h"
#include "engine/base/token.h"

// Numbers within bounds.
typedef struct id_range {
    const char *before, *after; // what number i is called: before i after
    const int32_t *number;      // NULL: there are none
    int count, least, most;
} id_range;

// Sequences of one kind; all of their width where lengths is NULL.
typedef struct vd_lines {
    const char *name;
    const int32_t *ids, *lengths;
    const int32_t *own; // the same with numbers for unknown words, or NULL
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
                        "%d, %d, %d: too large, or negative",
                        b->dialogs, b->rounds, b->regions, b->candidates, b->distinct,
                        b->question_width, b->history_width, b->candidate_width);
}

static vd_status check_range(const id_range *r, vd_error *err)
{
    for (int i = 0; r->number && i < r->count; i++)
        if (r->number[i] < r->least || r->number[i] > r->most)
            return vd_error_set(err, VD_USAGE, "%s%d%s of the batch is %d, expected %d to %d",
                                r->before, i, r->after, (int)r->number[i], r->least, r->most);
    return VD_OK;
}

// Word i of sequence s.
static vd_status check_own(const vd_lines *l, int s, int i, int vocab, vd_error *err)
{
    size_t at = (size_t)s * (size_t)l->width + (size_t)i;
    int32_t id = l->ids[at], own = l->own[at];
    if (own < vocab ? own == id : id == VD_UNKNOWN)
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "%s %d of the batch: word %d is %d and has number %d of its own; expected "
                        "the same, or for %d (unknown) one from %d on",
                        l->name, s, i, (int)id, (int)own, VD_UNKNOWN, vocab);
}

static vd_status check_lines(const vd_lines *l, int vocab, vd_error *err)
{
    int most = l->width < l->longest ? l->width : l->longest;
    for (int s = 0; s < l->count; s++) {
        int length = l->lengths ? l->lengths[s] : l->width;
        if (length < 0 || length > most)
            return vd_error_set(err, VD_USAGE, "%s %d of the batch: %d words, expected 0 to %d",
                                l->name, s, length, most);
        const int32_t *id = l->ids + (size_t)s * (size_t)l->width;
        vd_status status = VD_OK;
        for (int i = 0; i < length && status == VD_OK; i++)
            if (id[i] < 0 || id[i] >= vocab)
                return vd_error_set(err, VD_USAGE,
                                    "%s %d of the batch: word %d is %d, expected 0 to %d", l->name,
                                    s, i, (int)id[i], vocab - 1);
            else if (l->own)
                status = check_own(l, s, i, vocab, err);
        if (status)
            return status;
    }
    return VD_OK;
}

vd_status vd_batch_check(const vd_batch *b, int vocab, vd_error *err)
{
    vd_status status = check_sizes(b, err);
    if (status != VD_OK)
        return status;
    int n = b->dialogs * b->rounds;
    bool given = b->candidate_in && b->candidate_out;
    const vd_lines lines[] = {
        {"question", b->question, b->question_length, b->own.question, n, b->question_width,
         VD_MAX_QUESTION},
        {"history entry", b->history, b->history_length, b->own.history, n, b->history_width,
         VD_MAX_HISTORY},
        {"candidate", b->candidate, b->candidate_length, NULL, b->distinct, b->candidate_width,
         VD_MAX_CANDIDATE},
        {"answer", b->candidate_in, NULL, b->own.candidate_in, given ? b->distinct : 0,
         b->candidate_width, VD_MAX_CANDIDATE},
        {"answer", b->candidate_out, NULL, b->own.candidate_out, given ? b->distinct : 0,
         b->candidate_width, VD_MAX_CANDIDATE},
    };
    const id_range ranges[] = {
        {"the row of picture ", "", b->image ? NULL : b->kept.row, b->dialogs, 0, INT32_MAX},
        {"position ", " of the candidates in order", b->candidate_order, b->distinct, 0,
         b->distinct - 1},
        {"option ", "", b->option, n * b->candidates, 0, b->distinct - 1},
        {"the answer of question ", "", b->truth, n, -1, b->candidates - 1},
    };
    for (size_t i = 0; status == VD_OK && i < sizeof ranges / sizeof *ranges; i++)
        status = check_range(&ranges[i], err);
    for (size_t i = 0; status == VD_OK && i < sizeof lines / sizeof *lines; i++)
        status = check_lines(&lines[i], vocab, err);
    return status;
}

vd_real *vd_batch_image(const vd_batch *batch, int size, const vd_backend *be, vd_arena *arena)
{
    size_t dialogs = (size_t)batch->dialogs, picture = (size_t)batch->regions * (size_t)size;
    vd_real *x = vd_arena_reals(arena, dialogs * picture);
    if (x && batch->image) {
        be->load_floats(batch->image, x, dialogs * picture);
    } else if (x) {
        const int32_t *row = vd_arena_upload(arena, batch->kept.row, dialogs, sizeof *row);
        if (!row)
            return NULL;
        be->load_halves(batch->kept.halves, batch->kept.stride, row, batch->dialogs, picture, x);
    }
    return x;
}

static bool is_real(const vd_batch *batch, size_t size, int region)
{
    if (!batch->image)
        return batch->kept.real[region];
    const float *x = batch->image + (size_t)region * size;
    for (size_t i = 0; i < size; i++)
        if (x[i] != 0)
            return true;
    return false;
}

void vd_batch_regions(const vd_batch *batch, int size, bool padding, int *row, int *start)
{
    int count = 0, regions = batch->regions;
    for (int b = 0; b < batch->dialogs; b++) {
        start[b] = count;
        for (int r = b * regions; r < (b + 1) * regions; r++)
            if (is_real(batch, (size_t)size, r))
                row[count++] = r;
        bool none = count == start[b];
        for (int r = b * regions; none && padding && r < (b + 1) * regions; r++)
            row[count++] = r;
    }
    start[batch->dialogs] = count;
}

void vd_batch_known(int32_t *ids, size_t count, int vocab)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= vocab)
            ids[i] = VD_UNKNOWN;
}

int vd_batch_answer_words(const vd_batch *batch, int candidate)
{
    const int32_t *out = batch->candidate_out + (size_t)candidate * (size_t)batch->candidate_width;
    int n = 0;
    while (n < batch->candidate_width && out[n] != VD_PAD)
        n++;
    return n;
}

// The entries and the last question, without their first token.
static int64_t text_of(const vd_batch *batch, int dialog)
{
    int64_t entries = 0, question = 0;
    for (int n = dialog * batch->rounds; n < (dialog + 1) * batch->rounds; n++) {
        entries += batch->history_length[n];
        if (batch->question_length[n] > 0)
            question = batch->question_length[n];
    }
    return entries + question > 0 ? entries + question - 1 : 0;
}

vd_totals vd_batch_totals(const vd_batch *batch)
{
    vd_totals totals = {0};
    for (int b = 0; b < batch->dialogs; b++)
        totals.text += text_of(batch, b);
    for (int n = 0; n < batch->dialogs * batch->rounds; n++) {
        if (batch->truth[n] < 0)
            continue;
        totals.questions++;
        if (batch->candidate_out)
            totals.words += vd_batch_answer_words(
                batch,
                batch->option[(size_t)n * (size_t)batch->candidates + (size_t)batch->truth[n]]);
    }
    return totals;
}

#include "engine/networks/attention.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"

// ---- the list -----------------------------------------------------------------------------------

const vd_attention *vd_attention_last(const vd_attention *list, int count, vd_axis query,
                                      vd_axis key)
{
    while (count-- > 0)
        if (list[count].query == query && list[count].key == key && list[count].share)
            return &list[count];
    return NULL;
}

bool vd_attention_named(const vd_attention *list, int count, int index, const char **name)
{
    for (int i = 0; i < count; i++) {
        bool before = list[i].derived;
        for (int k = 0; k < i && !before; k++)
            before = strcmp(list[k].name, list[i].name) == 0;
        if (!before && index-- == 0) {
            *name = list[i].name;
            return true;
        }
    }
    return false;
}

double vd_attention_nothing(const vd_attention *attention, int row)
{
    const float *share = attention->share + (size_t)row * (size_t)attention->columns;
    double sum = 0;
    for (int c = 0; c < attention->columns && attention->nothing; c++)
        sum += (double)share[c];
    return sum > 0 ? fmax(1 - sum, 0) : 0;
}

void vd_attention_title(const vd_attention *attention, char *out, size_t size)
{
    if (attention->of > 1)
        snprintf(out, size, "%s, %s %d of %d", attention->name, attention->part,
                 attention->index + 1, attention->of);
    else
        snprintf(out, size, "%s", attention->name);
}

void vd_attentions_free(vd_attention *list, int count)
{
    for (int i = 0; list && i < count; i++)
        vd_free(list[i].share);
    vd_free(list);
}

vd_status vd_attentions_copy(const vd_attention *list, int count, vd_attention **out, vd_error *err)
{
    *out = NULL;
    if (count == 0)
        return VD_OK;
    vd_attention *copy = *out = vd_alloc((size_t)count, sizeof *copy);
    bool whole = copy != NULL;
    for (int i = 0; i < count && whole; i++) {
        size_t bytes = (size_t)list[i].rows * (size_t)list[i].columns * sizeof *copy->share;
        copy[i] = list[i];
        if (!list[i].share)
            continue;
        copy[i].share = vd_alloc_raw(bytes);
        whole = copy[i].share != NULL;
        if (whole)
            memcpy(copy[i].share, list[i].share, bytes);
    }
    if (whole)
        return VD_OK;
    vd_attentions_free(copy, count);
    *out = NULL;
    return vd_error_memory(err, "the attentions");
}

// ---- from a pass to an answer -------------------------------------------------------------------

vd_status vd_attentions_gather(const vd_backend *be, vd_arena *arena, const vd_attention_at *list,
                               int count, vd_real **out, size_t *n, vd_error *err)
{
    *n = 0;
    for (int i = 0; i < count; i++)
        *n += (size_t)list[i].rows * (size_t)list[i].columns;
    vd_real *at = *out = vd_arena_reals(arena, *n);
    if (!at)
        return vd_error_memory(err, "the attentions");
    for (int i = 0; i < count; i++) {
        size_t numbers = (size_t)list[i].rows * (size_t)list[i].columns;
        be->memory->copy(at, list[i].share, numbers * sizeof *at);
        at += numbers;
    }
    return VD_OK;
}

// Row i of the pass is the row it gives of the dialog.
static int index_of(const vd_axis_subsets *subsets, vd_axis axis, int seen, int i)
{
    return subsets->at[axis] && seen < subsets->count[axis] ? subsets->at[axis][i] : i;
}

static bool spread(const vd_attention_at *from, const float *share, const vd_axis_subsets *subsets,
                   vd_attention *to)
{
    *to = (vd_attention){.index = from->index,
                         .of = from->of ? from->of : 1,
                         .query = from->query,
                         .key = from->key,
                         .by_entry = from->by_entry,
                         .nothing = from->nothing,
                         .derived = from->derived,
                         .rows = subsets->count[from->query],
                         .columns = subsets->count[from->key]};
    snprintf(to->name, sizeof to->name, "%s", from->name);
    snprintf(to->part, sizeof to->part, "%s", from->part ? from->part : "");
    size_t columns = (size_t)to->columns;
    int seen = from->columns - from->nothing;
    to->share = vd_alloc((size_t)to->rows * columns, sizeof *share);
    for (int r = 0; to->share && r < from->rows; r++) {
        float *row = to->share + (size_t)index_of(subsets, from->query, from->rows, r) * columns;
        for (int c = 0; c < seen; c++)
            row[index_of(subsets, from->key, seen, c)] = *share++;
        share += from->nothing;
    }
    return to->share != NULL;
}

vd_status vd_attentions_spread(const vd_attention_at *list, int count, const float *share,
                               const vd_axis_subsets *subsets, vd_attention **out, vd_error *err)
{
    vd_attention *to = *out = vd_alloc((size_t)count, sizeof *to);
    for (int i = 0; to && i < count; i++) {
        if (!spread(&list[i], share, subsets, &to[i])) {
            vd_attentions_free(to, count);
            to = *out = NULL;
        }
        share += (size_t)list[i].rows * (size_t)list[i].columns;
    }
    return to ? VD_OK : vd_error_memory(err, "the attentions");
}

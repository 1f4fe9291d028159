// Writing ranks; features/dialogs/round_lists.c reads them.
#include "features/dialogs/ranks.h"

#include <inttypes.h>
#include <math.h>

#include <glib.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/rng.h"

typedef struct scored {
    float score;
    uint64_t draw;
    int candidate;
} scored;

struct vd_ranks_writer {
    vd_output *file;
    size_t entries;
    scored *list; // of a round
    size_t room;
};

vd_status vd_ranks_create(const char *path, vd_ranks_writer **out, vd_error *err)
{
    *out = NULL;
    vd_ranks_writer *writer = vd_alloc(1, sizeof *writer);
    if (!writer)
        return vd_error_memory(err, "the ranks");
    vd_status status = vd_output_create(path, &writer->file, err);
    if (status) {
        vd_free(writer);
        return status;
    }
    *out = writer;
    return VD_OK;
}

// The better score first; ties are in the order of their random numbers.
static int compare_scored(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (isnan(x->score) != isnan(y->score))
        return isnan(x->score) ? 1 : -1;
    if (x->score != y->score && !isnan(x->score))
        return x->score > y->score ? -1 : 1;
    if (x->draw != y->draw)
        return x->draw < y->draw ? -1 : 1;
    return x->candidate - y->candidate;
}

static vd_status rank_candidates(vd_ranks_writer *w, int64_t image_id, int32_t round_id,
                                 const float *scores, int n, vd_error *err)
{
    if (!vd_make_room(&w->list, &w->room, (size_t)n, sizeof *w->list))
        return vd_error_memory(err, "the ranks");
    vd_rng rng = vd_rng_seed((uint64_t)image_id, (uint64_t)round_id);
    for (int i = 0; i < n; i++)
        w->list[i] = (scored){scores[i], vd_rng_next(&rng), i};
    qsort(w->list, (size_t)n, sizeof *w->list, compare_scored);
    // From here `draw` is the rank, and index i is that of candidate i again.
    for (int i = 0; i < n; i++)
        w->list[w->list[i].candidate].draw = (uint64_t)i + 1;
    return VD_OK;
}

vd_status vd_ranks_add(vd_ranks_writer *w, int64_t image_id, int32_t round_id, const float *scores,
                       int n, vd_error *err)
{
    vd_status status = rank_candidates(w, image_id, round_id, scores, n, err);
    if (status != VD_OK)
        return status;
    GString *text = g_string_new(w->entries++ ? ",\n" : "[");
    g_string_append_printf(text, "{\"image_id\":%" PRId64 ",\"round_id\":%" PRId32 ",\"ranks\":[",
                           image_id, round_id);
    for (int i = 0; i < n; i++)
        g_string_append_printf(text, "%s%" PRIu64, i ? "," : "", w->list[i].draw);
    g_string_append(text, "]}");
    status = vd_output_write(w->file, text->str, text->len, err);
    g_string_free(text, TRUE);
    return status;
}

vd_status vd_ranks_commit(vd_ranks_writer *w, vd_error *err)
{
    const char *end = w->entries ? "]\n" : "[]\n";
    vd_status status = vd_output_write(w->file, end, strlen(end), err);
    if (status == VD_OK) {
        status = vd_output_commit(w->file, err);
        w->file = NULL;
    }
    vd_ranks_abort(w);
    return status;
}

void vd_ranks_abort(vd_ranks_writer *w)
{
    if (!w)
        return;
    vd_output_abort(w->file);
    vd_free(w->list);
    vd_free(w);
}

// Files with a number for each candidate of some rounds: rankings (features/dialogs/ranks.h) and
// dense annotations, how relevant each candidate is:
//   [{"image_id", "round_id": 1.., "gt_relevance": [0..1, one a candidate]}, ...]
// The train split's file has "relevance" for "gt_relevance".
#include <inttypes.h>

#include "engine/base/alloc.h"
#include "engine/base/json_stream.h"
#include "features/dialogs/ranks.h"
#include "features/dialogs/store.h"

enum { ROOT = 1, ENTRY, LIST, IMAGE_ID, ROUND_ID, NUMBER };

enum { RELEVANCE_RULES = 2, COMMON_RULES = 5, RANK_RULES = 1 };

static const vd_json_rule rules[] = {
    {ENTRY, "gt_relevance", VD_JSON_ARRAY, LIST, false},
    {ENTRY, "relevance", VD_JSON_ARRAY, LIST, false},
    {0, NULL, VD_JSON_ARRAY, ROOT, true},
    {ROOT, NULL, VD_JSON_OBJECT, ENTRY, false},
    {ENTRY, "image_id", VD_JSON_INTEGER, IMAGE_ID, true},
    {ENTRY, "round_id", VD_JSON_INTEGER, ROUND_ID, true},
    {LIST, NULL, VD_JSON_REAL, NUMBER, false},
    {ENTRY, "ranks", VD_JSON_ARRAY, LIST, true},
};

// What the numbers are, and how messages call them.
typedef struct kind {
    const vd_json_rule *rules;
    int rule_count;
    double least, most;
    const char *number, *bounds, *entries, *done;
} kind;

static const kind relevances = {
    rules, RELEVANCE_RULES + COMMON_RULES, 0, 1, "relevance", "0 to 1", "annotations", "annotated"};
static const kind ranks = {rules + RELEVANCE_RULES,
                           COMMON_RULES + RANK_RULES,
                           1,
                           1e6,
                           "rank",
                           "1 to 1000000",
                           "ranks",
                           "ranked"};

// A list for each round; NULL where the file has none.
typedef struct lists {
    size_t *first;         // (dialogs + 1) where a dialog's rounds begin
    const float **list;    // (rounds)
    vd_string_arena arena; // of these
} lists;

typedef struct reading {
    const kind *kind;
    const vd_visdial *data;
    vd_string_arena *arena; // of the lists
    lists *lists;
    bool in_entry;
    int64_t image_id, round_id; // of the entry; -1 and 0: not known yet
    int given;                  // lists of the entry
    float *values;
    size_t value_count, value_room, entries;
} reading;

static void where(const void *context, char *text, size_t size)
{
    const reading *r = context;
    if (!r->in_entry)
        return;
    if (r->image_id >= 0)
        vd_visdial_location(text, size, 0, r->image_id,
                            r->round_id <= INT32_MAX ? (int32_t)r->round_id : 0);
    else
        snprintf(text, size, "entry %zu", r->entries + 1);
}

static vd_status on_value(void *context, vd_json_reader *reader, int id,
                          const vd_json_scalar *value)
{
    reading *r = context;
    if (id == IMAGE_ID) {
        r->image_id = value->integer;
    } else if (id == ROUND_ID) {
        if (value->integer < 1)
            return vd_json_refuse(reader, VD_FORMAT,
                                  "\"round_id\" is %" PRId64 "; rounds count from 1",
                                  value->integer);
        r->round_id = value->integer;
    } else {
        if (!(value->real >= r->kind->least && value->real <= r->kind->most))
            return vd_json_refuse(reader, VD_FORMAT, "%s %zu is %g; expected %s", r->kind->number,
                                  r->value_count + 1, value->real, r->kind->bounds);
        if (!vd_make_room(&r->values, &r->value_room, r->value_count + 1, sizeof *r->values))
            return vd_json_no_memory(reader);
        r->values[r->value_count++] = (float)value->real;
    }
    return VD_OK;
}

static vd_status on_open(void *context, vd_json_reader *reader, int container)
{
    reading *r = context;
    if (container == ENTRY) {
        r->in_entry = true;
        r->image_id = -1;
        r->round_id = 0;
        r->given = 0;
        r->value_count = 0;
    } else if (container == LIST && r->given++ > 0) {
        return vd_json_refuse(reader, VD_FORMAT,
                              "both \"gt_relevance\" and \"relevance\"; expected one of them");
    }
    return VD_OK;
}

static vd_status on_close(void *context, vd_json_reader *reader, int container)
{
    reading *r = context;
    if (container != ENTRY)
        return VD_OK;
    if (r->given == 0)
        return vd_json_refuse(reader, VD_FORMAT,
                              "the entry has neither \"gt_relevance\" nor \"relevance\"");
    const vd_visdial_dialog *dialog = vd_visdial_find(r->data, r->image_id);
    if (!dialog && ((const vd_visdial_store *)r->data)->partial) {
        r->in_entry = false;
        return VD_OK; // of a picture that was left out
    }
    if (!dialog)
        return vd_json_refuse(reader, VD_MISMATCH,
                              "image %" PRId64 " is not in %s; are the two files of one split?",
                              r->image_id, r->data->path);
    if (r->round_id > dialog->round_count)
        return vd_json_refuse(reader, VD_MISMATCH,
                              "\"round_id\" is %" PRId64 ", but the dialog has %" PRId32 " rounds",
                              r->round_id, dialog->round_count);
    size_t n = (size_t)dialog->rounds[r->round_id - 1].option_count;
    if (r->value_count != n)
        return vd_json_refuse(reader, VD_MISMATCH, "%zu %ss for %zu candidates; expected one each",
                              r->value_count, r->kind->number, n);
    size_t at = r->lists->first[dialog - r->data->dialogs] + (size_t)r->round_id - 1;
    if (r->lists->list[at])
        return vd_json_refuse(reader, VD_FORMAT, "%s twice; expected once", r->kind->done);
    float *own = vd_string_arena_take(r->arena, n, sizeof *own);
    if (!own)
        return vd_json_no_memory(reader);
    if (n > 0)
        memcpy(own, r->values, n * sizeof *own);
    r->lists->list[at] = own;
    r->entries++;
    r->in_entry = false;
    return VD_OK;
}

// *out is to be cleared after a failure, too.
static vd_status read_lists(const char *path, const vd_visdial *data, const kind *of,
                            vd_string_arena *arena, lists *out, vd_error *err)
{
    reading r = {.kind = of, .data = data, .arena = arena, .lists = out};
    const vd_json_form form = {of->rules, of->rule_count, on_open, on_close, on_value, where};
    out->first = vd_string_arena_take(&out->arena, data->dialog_count + 1, sizeof *out->first);
    for (size_t d = 0; out->first && d < data->dialog_count; d++)
        out->first[d + 1] = out->first[d] + (size_t)data->dialogs[d].round_count;
    if (out->first)
        out->list =
            vd_string_arena_take(&out->arena, out->first[data->dialog_count], sizeof *out->list);
    if (!out->list)
        return vd_error_memory(err, "numbers of candidates");
    vd_status status = vd_json_stream(path, &form, &r, err);
    if (status == VD_OK && r.entries == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: there are no %s of %s in it", path, of->entries,
                              data->path);
    vd_free(r.values);
    return status;
}

// ---- relevances -------------------------------------------------------------

vd_status vd_visdial_read_dense(vd_visdial *data, const char *path, vd_error *err)
{
    lists l = {0};
    vd_status status =
        read_lists(path, data, &relevances, &((vd_visdial_store *)data)->arena, &l, err);
    // Entries take effect together, when all of them are found good.
    for (size_t d = 0; status == VD_OK && d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++) {
            const float *relevance = l.list[l.first[d] + (size_t)r];
            if (relevance)
                data->dialogs[d].rounds[r].relevance = relevance;
        }
    vd_string_arena_clear(&l.arena);
    return status;
}

// ---- ranks ------------------------------------------------------------------

struct vd_ranks {
    const char *path;
    lists lists; // its arena has the ranks, too
    size_t irregular;
};

// Whether they are each number from 1 to n once; seen: (n).
static bool is_permutation(const float *rank, int n, bool *seen)
{
    memset(seen, 0, (size_t)n * sizeof *seen);
    for (int i = 0; i < n; i++) {
        int index = rank[i] <= (float)n ? (int)rank[i] - 1 : -1;
        if (index < 0 || (float)(index + 1) != rank[i] || seen[index])
            return false;
        seen[index] = true;
    }
    return true;
}

static vd_status count_irregular(vd_ranks *of, const vd_visdial *data, vd_error *err)
{
    int most = 1;
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++)
            if (data->dialogs[d].rounds[r].option_count > most)
                most = data->dialogs[d].rounds[r].option_count;
    bool *seen = vd_alloc((size_t)most, sizeof *seen);
    if (!seen)
        return vd_error_memory(err, "the ranks");
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++) {
            const float *rank = vd_ranks_of(of, d, r);
            of->irregular +=
                rank && !is_permutation(rank, data->dialogs[d].rounds[r].option_count, seen);
        }
    vd_free(seen);
    return VD_OK;
}

const char *vd_ranks_path(const vd_ranks *of)
{
    return of->path;
}

size_t vd_ranks_irregular(const vd_ranks *of)
{
    return of->irregular;
}

vd_status vd_ranks_read(const char *path, const vd_visdial *data, vd_ranks **out, vd_error *err)
{
    *out = NULL;
    vd_ranks *read = vd_alloc(1, sizeof *read);
    if (!read)
        return vd_error_memory(err, "the ranks");
    vd_string_arena *arena = &read->lists.arena;
    vd_status status = read_lists(path, data, &ranks, arena, &read->lists, err);
    if (status == VD_OK && !(read->path = vd_string_arena_text(arena, path, strlen(path))))
        status = vd_error_memory(err, "the ranks");
    if (status == VD_OK)
        status = count_irregular(read, data, err);
    if (status == VD_OK)
        *out = read;
    else
        vd_ranks_free(read);
    return status;
}

void vd_ranks_free(vd_ranks *of)
{
    if (!of)
        return;
    vd_string_arena_clear(&of->lists.arena);
    vd_free(of);
}

const float *vd_ranks_of(const vd_ranks *of, size_t dialog, int32_t round)
{
    return of->lists.list[of->lists.first[dialog] + (size_t)round];
}

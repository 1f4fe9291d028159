// Dense annotations: how relevant each candidate of a round is.
//   [{"image_id", "round_id": 1.., "gt_relevance": [0..1, one a candidate]}, ...]
// The train split's file has "relevance" for "gt_relevance".
#include <inttypes.h>

#include "engine/base/alloc.h"
#include "engine/base/json_stream.h"
#include "features/dialogs/store.h"

enum { ROOT = 1, ENTRY, RELEVANCES, IMAGE_ID, ROUND_ID, RELEVANCE };

static const vd_json_rule rules[] = {
    {0, NULL, VD_JSON_ARRAY, ROOT, true},
    {ROOT, NULL, VD_JSON_OBJECT, ENTRY, false},
    {ENTRY, "image_id", VD_JSON_INTEGER, IMAGE_ID, true},
    {ENTRY, "round_id", VD_JSON_INTEGER, ROUND_ID, true},
    {ENTRY, "gt_relevance", VD_JSON_ARRAY, RELEVANCES, false},
    {ENTRY, "relevance", VD_JSON_ARRAY, RELEVANCES, false},
    {RELEVANCES, NULL, VD_JSON_REAL, RELEVANCE, false},
};

// One entry of the file; entries take effect together, when all of them are found good.
typedef struct entry {
    vd_visdial_round *round;
    const float *relevance;
} entry;

typedef struct annotating {
    vd_visdial_store *store;
    bool in_entry, image_known, round_known;
    int64_t image_id, round_id;
    int lists;
    float *values;
    size_t value_count, value_room;
    entry *entries;
    size_t entry_count, entry_room;
} annotating;

static void where(const void *context, char *text, size_t size)
{
    const annotating *a = context;
    if (!a->in_entry)
        return;
    if (a->image_known)
        vd_visdial_place(text, size, 0, a->image_id,
                         a->round_known && a->round_id <= INT32_MAX ? (int32_t)a->round_id : 0);
    else
        snprintf(text, size, "entry %zu", a->entry_count + 1);
}

static vd_status no_memory(vd_json_reader *reader)
{
    return vd_json_refuse(reader, VD_NO_MEMORY, "out of memory");
}

static vd_status on_value(void *context, vd_json_reader *reader, int id,
                          const vd_json_scalar *value)
{
    annotating *a = context;
    if (id == IMAGE_ID) {
        a->image_id = value->integer;
        a->image_known = value->integer >= 0;
        return VD_OK;
    }
    if (id == ROUND_ID) {
        if (value->integer < 1)
            return vd_json_refuse(reader, VD_FORMAT,
                                  "\"round_id\" is %" PRId64 "; rounds count from 1",
                                  value->integer);
        a->round_id = value->integer;
        a->round_known = true;
        return VD_OK;
    }
    if (!(value->real >= 0.0 && value->real <= 1.0))
        return vd_json_refuse(reader, VD_FORMAT, "relevance %zu is %g; expected 0 to 1",
                              a->value_count, value->real);
    if (a->value_count == a->value_room) {
        size_t room = a->value_room ? 2 * a->value_room : 128;
        float *grown = vd_grow(a->values, a->value_room, room, sizeof *grown);
        if (!grown)
            return no_memory(reader);
        a->values = grown;
        a->value_room = room;
    }
    a->values[a->value_count++] = (float)value->real;
    return VD_OK;
}

static vd_status on_open(void *context, vd_json_reader *reader, int place)
{
    annotating *a = context;
    if (place == ENTRY) {
        a->in_entry = true;
        a->image_known = a->round_known = false;
        a->lists = 0;
        a->value_count = 0;
    } else if (place == RELEVANCES && a->lists++ > 0) {
        return vd_json_refuse(reader, VD_FORMAT,
                              "both \"gt_relevance\" and \"relevance\"; expected one of them");
    }
    return VD_OK;
}

static vd_status add_entry(annotating *a, vd_json_reader *reader, vd_visdial_round *round)
{
    if (a->entry_count == a->entry_room) {
        size_t room = a->entry_room ? 2 * a->entry_room : 64;
        entry *grown = vd_grow(a->entries, a->entry_room, room, sizeof *grown);
        if (!grown)
            return no_memory(reader);
        a->entries = grown;
        a->entry_room = room;
    }
    float *relevance = vd_string_arena_take(&a->store->pieces, a->value_count, sizeof *relevance);
    if (!relevance)
        return no_memory(reader);
    if (a->value_count > 0)
        memcpy(relevance, a->values, a->value_count * sizeof *relevance);
    a->entries[a->entry_count++] = (entry){round, relevance};
    return VD_OK;
}

static vd_status on_close(void *context, vd_json_reader *reader, int place)
{
    annotating *a = context;
    if (place != ENTRY)
        return VD_OK;
    const vd_visdial *data = &a->store->data;
    if (a->lists == 0)
        return vd_json_refuse(reader, VD_FORMAT,
                              "the entry has neither \"gt_relevance\" nor \"relevance\"");
    const vd_visdial_dialog *dialog = vd_visdial_find(data, a->image_id);
    if (!dialog)
        return vd_json_refuse(reader, VD_MISMATCH,
                              "image %" PRId64 " is not in %s; are the two files of one split?",
                              a->image_id, data->path);
    if (a->round_id > dialog->round_count)
        return vd_json_refuse(reader, VD_MISMATCH,
                              "\"round_id\" is %" PRId64 ", but the dialog has %" PRId32 " rounds",
                              a->round_id, dialog->round_count);
    vd_visdial_round *round = &dialog->rounds[a->round_id - 1];
    if (a->value_count != (size_t)round->option_count)
        return vd_json_refuse(reader, VD_MISMATCH,
                              "%zu relevances for %" PRId32 " candidates; expected one each",
                              a->value_count, round->option_count);
    vd_status status = add_entry(a, reader, round);
    if (status == VD_OK)
        a->in_entry = false;
    return status;
}

static const vd_json_form form = {
    .rules = rules,
    .rule_count = sizeof rules / sizeof *rules,
    .open = on_open,
    .close = on_close,
    .value = on_value,
    .where = where,
};

static int compare_entries(const void *x, const void *y)
{
    const vd_visdial_round *a = ((const entry *)x)->round, *b = ((const entry *)y)->round;
    return (a > b) - (a < b);
}

static vd_status apply(annotating *a, const char *path, vd_error *err)
{
    if (a->entry_count == 0)
        return vd_error_set(err, VD_FORMAT, "%s: there are no annotations in it", path);
    qsort(a->entries, a->entry_count, sizeof *a->entries, compare_entries);
    for (size_t i = 1; i < a->entry_count; i++) {
        if (a->entries[i].round != a->entries[i - 1].round)
            continue;
        const vd_visdial *data = &a->store->data;
        for (size_t d = 0; d < data->dialog_count; d++)
            for (int32_t r = 0; r < data->dialogs[d].round_count; r++)
                if (&data->dialogs[d].rounds[r] == a->entries[i].round)
                    return vd_error_set(err, VD_FORMAT,
                                        "%s: image %" PRId64 ", round %" PRId32
                                        ": annotated twice; expected once",
                                        path, data->dialogs[d].image_id, r + 1);
    }
    for (size_t i = 0; i < a->entry_count; i++)
        a->entries[i].round->relevance = a->entries[i].relevance;
    return VD_OK;
}

vd_status vd_visdial_read_dense(vd_visdial *data, const char *path, vd_error *err)
{
    annotating a = {.store = (vd_visdial_store *)data};
    vd_status status = vd_json_stream(path, &form, &a, err);
    if (status == VD_OK)
        status = apply(&a, path, err);
    vd_free(a.entries);
    vd_free(a.values);
    return status;
}

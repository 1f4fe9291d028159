#include "features/dialogs/ranks.h"

#include <inttypes.h>
#include <math.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/rng.h"
#include "engine/base/json_stream.h"
#include "engine/base/string_arena.h"
#include "features/dialogs/store.h"

// ---- reading ------------------------------------------------------------------------------------

struct vd_ranks {
    size_t *first;      // (dialogs + 1) where a dialog's rounds begin
    const float **list; // one a round
    vd_string_arena pieces;
};

enum { ROOT = 1, ENTRY, RANKS, IMAGE_ID, ROUND_ID, RANK };

static const vd_json_rule rules[] = {
    {0, NULL, VD_JSON_ARRAY, ROOT, true},
    {ROOT, NULL, VD_JSON_OBJECT, ENTRY, false},
    {ENTRY, "image_id", VD_JSON_INTEGER, IMAGE_ID, true},
    {ENTRY, "round_id", VD_JSON_INTEGER, ROUND_ID, true},
    {ENTRY, "ranks", VD_JSON_ARRAY, RANKS, true},
    {RANKS, NULL, VD_JSON_REAL, RANK, false},
};

typedef struct reading {
    const vd_visdial *data;
    vd_ranks *ranks;
    bool in_entry, image_known, round_known;
    int64_t image_id, round_id;
    float *values;
    size_t value_count, value_room, entries;
} reading;

static void where(const void *context, char *text, size_t size)
{
    const reading *r = context;
    if (!r->in_entry)
        return;
    if (r->image_known)
        vd_visdial_place(text, size, 0, r->image_id,
                         r->round_known && r->round_id <= INT32_MAX ? (int32_t)r->round_id : 0);
    else
        snprintf(text, size, "entry %zu", r->entries + 1);
}

static vd_status add_rank(reading *r, vd_json_reader *reader, double rank)
{
    if (!(rank >= 1.0 && rank <= 1e6))
        return vd_json_refuse(reader, VD_FORMAT, "rank %zu is %g; expected 1 or more",
                              r->value_count, rank);
    if (r->value_count == r->value_room) {
        size_t room = r->value_room ? 2 * r->value_room : 128;
        float *grown = vd_grow(r->values, r->value_room, room, sizeof *grown);
        if (!grown)
            return vd_json_refuse(reader, VD_NO_MEMORY, "out of memory");
        r->values = grown;
        r->value_room = room;
    }
    r->values[r->value_count++] = (float)rank;
    return VD_OK;
}

static vd_status on_value(void *context, vd_json_reader *reader, int id,
                          const vd_json_scalar *value)
{
    reading *r = context;
    if (id == RANK)
        return add_rank(r, reader, value->real);
    if (id == IMAGE_ID) {
        r->image_id = value->integer;
        r->image_known = value->integer >= 0;
        return VD_OK;
    }
    if (value->integer < 1)
        return vd_json_refuse(reader, VD_FORMAT, "\"round_id\" is %" PRId64 "; rounds count from 1",
                              value->integer);
    r->round_id = value->integer;
    r->round_known = true;
    return VD_OK;
}

static vd_status on_open(void *context, vd_json_reader *reader, int place)
{
    reading *r = context;
    (void)reader;
    if (place == ENTRY) {
        r->in_entry = true;
        r->image_known = r->round_known = false;
        r->value_count = 0;
    }
    return VD_OK;
}

static vd_status on_close(void *context, vd_json_reader *reader, int place)
{
    reading *r = context;
    if (place != ENTRY)
        return VD_OK;
    const vd_visdial_dialog *dialog = vd_visdial_find(r->data, r->image_id);
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
        return vd_json_refuse(reader, VD_MISMATCH,
                              "%zu ranks for %zu candidates; expected one each", r->value_count, n);
    size_t at = r->ranks->first[dialog - r->data->dialogs] + (size_t)r->round_id - 1;
    if (r->ranks->list[at])
        return vd_json_refuse(reader, VD_FORMAT, "ranked twice; expected once");
    float *own = vd_string_arena_take(&r->ranks->pieces, n, sizeof *own);
    if (!own)
        return vd_json_refuse(reader, VD_NO_MEMORY, "out of memory");
    if (n)
        memcpy(own, r->values, n * sizeof *own);
    r->ranks->list[at] = own;
    r->entries++;
    r->in_entry = false;
    return VD_OK;
}

static const vd_json_form form = {
    .rules = rules,
    .rule_count = sizeof rules / sizeof *rules,
    .open = on_open,
    .close = on_close,
    .value = on_value,
    .where = where,
};

static vd_ranks *make_ranks(const vd_visdial *data)
{
    vd_ranks *ranks = vd_alloc(1, sizeof *ranks);
    if (!ranks)
        return NULL;
    ranks->first = vd_alloc(data->dialog_count + 1, sizeof *ranks->first);
    if (ranks->first) {
        for (size_t d = 0; d < data->dialog_count; d++)
            ranks->first[d + 1] = ranks->first[d] + (size_t)data->dialogs[d].round_count;
        ranks->list = vd_alloc(ranks->first[data->dialog_count], sizeof *ranks->list);
    }
    if (ranks->first && ranks->list)
        return ranks;
    vd_ranks_free(ranks);
    return NULL;
}

vd_status vd_ranks_read(const char *path, const vd_visdial *data, vd_ranks **out, vd_error *err)
{
    reading r = {.data = data, .ranks = make_ranks(data)};
    *out = NULL;
    if (!r.ranks)
        return vd_error_memory(err, "the ranks");
    vd_status status = vd_json_stream(path, &form, &r, err);
    if (status == VD_OK && r.entries == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: there are no ranks in it", path);
    vd_free(r.values);
    if (status) {
        vd_ranks_free(r.ranks);
        return status;
    }
    *out = r.ranks;
    return VD_OK;
}

void vd_ranks_free(vd_ranks *ranks)
{
    if (!ranks)
        return;
    vd_free(ranks->first);
    vd_free(ranks->list);
    vd_string_arena_clear(&ranks->pieces);
    vd_free(ranks);
}

const float *vd_ranks_of(const vd_ranks *ranks, size_t dialog, int32_t round)
{
    return ranks->list[ranks->first[dialog] + (size_t)round];
}

// ---- writing ------------------------------------------------------------------------------------

typedef struct lot {
    float score;
    uint64_t draw;
    int candidate;
} lot;

struct vd_ranks_writer {
    vd_output *file;
    size_t entries;
    lot *lots; // of a round
    int room;
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

// The better score first, then by lot.
static int compare_lots(const void *a, const void *b)
{
    const lot *x = a, *y = b;
    if (isnan(x->score) != isnan(y->score))
        return isnan(x->score) ? 1 : -1;
    if (x->score != y->score && !isnan(x->score))
        return x->score > y->score ? -1 : 1;
    if (x->draw != y->draw)
        return x->draw < y->draw ? -1 : 1;
    return x->candidate - y->candidate;
}

static vd_status draw_lots(vd_ranks_writer *w, int64_t image_id, int32_t round_id,
                           const float *scores, int n, vd_error *err)
{
    if (n > w->room) {
        vd_free(w->lots);
        w->lots = vd_alloc((size_t)n, sizeof *w->lots);
        w->room = w->lots ? n : 0;
        if (!w->lots)
            return vd_error_memory(err, "the ranks");
    }
    vd_rng rng = vd_rng_seed((uint64_t)image_id, (uint64_t)round_id);
    for (int i = 0; i < n; i++)
        w->lots[i] = (lot){scores[i], vd_rng_next(&rng), i};
    qsort(w->lots, (size_t)n, sizeof *w->lots, compare_lots);
    // From here `draw` is the rank, and the lots are by candidate again.
    for (int i = 0; i < n; i++)
        w->lots[w->lots[i].candidate].draw = (uint64_t)i + 1;
    return VD_OK;
}

static vd_status write_text(vd_ranks_writer *w, vd_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static vd_status write_text(vd_ranks_writer *w, vd_error *err, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return vd_output_write(w->file, text, (size_t)length, err);
}

vd_status vd_ranks_add(vd_ranks_writer *w, int64_t image_id, int32_t round_id, const float *scores,
                       int n, vd_error *err)
{
    vd_status status = draw_lots(w, image_id, round_id, scores, n, err);
    if (status == VD_OK)
        status =
            write_text(w, err, "%s{\"image_id\":%" PRId64 ",\"round_id\":%" PRId32 ",\"ranks\":[",
                       w->entries ? ",\n" : "[", image_id, round_id);
    for (int i = 0; status == VD_OK && i < n; i++)
        status = write_text(w, err, "%s%" PRIu64, i ? "," : "", w->lots[i].draw);
    if (status == VD_OK)
        status = write_text(w, err, "]}");
    w->entries++;
    return status;
}

vd_status vd_ranks_commit(vd_ranks_writer *w, vd_error *err)
{
    vd_status status = write_text(w, err, w->entries ? "]\n" : "[]\n");
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
    vd_free(w->lots);
    vd_free(w);
}

#include "features/captions/results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "engine/base/json_stream.h"
#include "features/pictures/photos.h"

// ---- reading ------------------------------------------------------------------------------------

enum { LIST = 1, ENTRY, IMAGE_ID, CAPTION };

static const vd_json_rule rules[] = {
    {0, NULL, VD_JSON_ARRAY, LIST, true},
    {LIST, NULL, VD_JSON_OBJECT, ENTRY, false},
    {ENTRY, "image_id", VD_JSON_INTEGER, IMAGE_ID, true},
    {ENTRY, "caption", VD_JSON_STRING, CAPTION, true},
};

typedef struct loading {
    vd_results *results;
    size_t room;
    bool in_entry;
    vd_result now;
} loading;

static void where(const void *context, char *text, size_t size)
{
    const loading *l = context;
    if (l->in_entry)
        snprintf(text, size, "entry %zu", l->results->count + 1);
}

static vd_status on_open(void *context, vd_json_reader *reader, int container)
{
    loading *l = context;
    (void)reader;
    l->in_entry |= container == ENTRY;
    return VD_OK;
}

static vd_status on_value(void *context, vd_json_reader *reader, int id,
                          const vd_json_scalar *value)
{
    loading *l = context;
    if (id == IMAGE_ID)
        return vd_json_whole(reader, "image_id", value, INT64_MAX, &l->now.image_id);
    l->now.caption = vd_string_arena_text(&l->results->arena, value->text, value->length);
    return l->now.caption ? VD_OK : vd_json_no_memory(reader);
}

static vd_status on_close(void *context, vd_json_reader *reader, int container)
{
    loading *l = context;
    if (container != ENTRY)
        return VD_OK;
    if (!vd_make_room(&l->results->list, &l->room, l->results->count + 1, sizeof *l->results->list))
        return vd_json_no_memory(reader);
    l->results->list[l->results->count++] = l->now;
    l->in_entry = false;
    return VD_OK;
}

static const vd_json_form form = {rules, sizeof rules / sizeof *rules, on_open, on_close, on_value,
                                  where};

static vd_status sort(vd_results *r, vd_error *err)
{
    if (r->count == 0)
        return vd_error_set(err, VD_FORMAT, "%.400s: there are no captions in it", r->path);
    qsort(r->list, r->count, sizeof *r->list, vd_image_id_order);
    for (size_t i = 1; i < r->count; i++)
        if (r->list[i].image_id == r->list[i - 1].image_id)
            return vd_error_set(err, VD_FORMAT,
                                "%.400s: two captions of image %" PRId64 "; expected one a picture",
                                r->path, r->list[i].image_id);
    return VD_OK;
}

static vd_status begin(const char *path, vd_results **out, vd_error *err)
{
    *out = vd_alloc(1, sizeof **out);
    if (*out && ((*out)->path = vd_strdup(path)))
        return VD_OK;
    vd_free(*out);
    *out = NULL;
    return vd_error_memory(err, "results");
}

// Hands over what was filled with this status.
static vd_status finish(vd_results *results, vd_status status, vd_results **out, vd_error *err)
{
    if (status == VD_OK)
        status = sort(results, err);
    if (status == VD_OK)
        *out = results;
    else
        vd_results_free(results);
    return status;
}

vd_status vd_results_read(const char *path, vd_results **out, vd_error *err)
{
    loading l = {0};
    *out = NULL;
    vd_status status = begin(path, &l.results, err);
    return status ? status : finish(l.results, vd_json_stream(path, &form, &l, err), out, err);
}

vd_status vd_results_new(const char *name, const vd_result *list, size_t count, vd_results **out,
                         vd_error *err)
{
    vd_results *r;
    *out = NULL;
    vd_status status = begin(name, &r, err);
    if (status)
        return status;
    r->list = vd_alloc(count, sizeof *r->list);
    for (; r->list && r->count < count && status == VD_OK; r->count++) {
        const char *text = list[r->count].caption;
        r->list[r->count] = (vd_result){list[r->count].image_id,
                                        vd_string_arena_text(&r->arena, text, strlen(text))};
        status = r->list[r->count].caption ? VD_OK : vd_error_memory(err, "results");
    }
    return finish(r, r->list ? status : vd_error_memory(err, "results"), out, err);
}

void vd_results_free(vd_results *results)
{
    if (!results)
        return;
    vd_free(results->list);
    vd_free(results->path);
    vd_string_arena_clear(&results->arena);
    vd_free(results);
}

const char *vd_results_find(const vd_results *results, int64_t image_id)
{
    const vd_result *found =
        bsearch(&image_id, results->list, results->count, sizeof *found, vd_image_id_order);
    return found ? found->caption : NULL;
}

// ---- writing ------------------------------------------------------------------------------------

typedef struct writing {
    const vd_result *list;
    size_t count;
} writing;

static yajl_gen_status emit(yajl_gen gen, void *context)
{
    const writing *w = context;
    yajl_gen_status status = vd_json_put(gen, "[");
    for (size_t i = 0; i < w->count && !status; i++)
        status = vd_json_put(gen, "{image_id: %" PRId64 ", caption: %s}", w->list[i].image_id,
                             w->list[i].caption);
    return status ? status : vd_json_put(gen, "]");
}

vd_status vd_results_write(const char *path, const vd_result *list, size_t count, vd_error *err)
{
    return vd_json_write_file(path, emit, &(writing){list, count}, err);
}

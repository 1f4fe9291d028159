// What JSON files of one entry a picture hold, for `visdial info`.
#include <inttypes.h>

#include "engine/base/json_stream.h"
#include "features/captions/captions.h"
#include "tui/base/output.h"
#include "tui/commands/command.h"

// ---- JSON lists: an object a round or a picture -------------------------------------------------

typedef struct rows {
    size_t count, ranks, relevance, objects, captions;
    int64_t first, last; // image ids
} rows;

enum { ROWS = 1, ROW, RANKS, RELEVANCE, OBJECTS, OBJECT, IMAGE = 1, NUMBER, SAID };

static vd_status open_row(void *context, vd_json_reader *reader, int place)
{
    rows *r = context;
    (void)reader;
    r->count += place == ROW;
    r->ranks += place == RANKS;
    r->relevance += place == RELEVANCE;
    r->objects += place == OBJECT;
    return VD_OK;
}

static vd_status close_row(void *context, vd_json_reader *reader, int place)
{
    (void)context;
    (void)reader;
    (void)place;
    return VD_OK;
}

static void where_row(const void *context, char *text, size_t size)
{
    snprintf(text, size, "entry %zu", ((const rows *)context)->count);
}

static vd_status take_value(void *context, vd_json_reader *reader, int id,
                            const vd_json_scalar *value)
{
    rows *r = context;
    (void)reader;
    r->captions += id == SAID;
    if (id == IMAGE) {
        r->first = r->count == 1 || value->integer < r->first ? value->integer : r->first;
        r->last = r->count == 1 || value->integer > r->last ? value->integer : r->last;
    }
    return VD_OK;
}

vd_status vd_info_rows(const char *path, vd_error *err)
{
    static const vd_json_rule rules[] = {
        {0, NULL, VD_JSON_ARRAY, ROWS, true},
        {ROWS, NULL, VD_JSON_OBJECT, ROW, false},
        {ROW, "image_id", VD_JSON_INTEGER, IMAGE, true},
        {ROW, "ranks", VD_JSON_ARRAY, RANKS, false},
        {RANKS, NULL, VD_JSON_REAL, NUMBER, false},
        {ROW, "gt_relevance", VD_JSON_ARRAY, RELEVANCE, false},
        {ROW, "relevance", VD_JSON_ARRAY, RELEVANCE, false},
        {RELEVANCE, NULL, VD_JSON_REAL, NUMBER, false},
        {ROW, "objects", VD_JSON_ARRAY, OBJECTS, false},
        {OBJECTS, NULL, VD_JSON_OBJECT, OBJECT, false},
        {ROW, "caption", VD_JSON_STRING, SAID, false},
    };
    const vd_json_form form = {.rules = rules,
                               .rule_count = sizeof rules / sizeof *rules,
                               .open = open_row,
                               .close = close_row,
                               .where = where_row,
                               .value = take_value};
    rows r = {0};
    vd_status status = vd_json_stream(path, &form, &r, err);
    if (status)
        return status;
    if (!r.ranks && !r.relevance && !r.objects && !r.captions)
        return vd_error_set(
            err, VD_FORMAT,
            "%s: a JSON list; expected dense annotations, rankings, scenes or captions", path);
    printf("%s: %s\n", path,
           r.objects     ? "scenes of Blocks pictures"
           : r.captions  ? "captions of a captioner, one a picture (results)"
           : r.relevance ? "dense annotations (relevance of each candidate)"
                         : "rankings of the candidates, for the challenge's server");
    vd_output_row(r.objects || r.captions ? "pictures" : "rounds", "%zu", r.count);
    if (r.objects)
        vd_output_row("objects", "%zu", r.objects);
    vd_output_row("images", "ids %" PRId64 " to %" PRId64, r.first, r.last);
    return VD_OK;
}

// ---- captions -----------------------------------------------------------------------------------

vd_status vd_info_captions(const char *path, vd_error *err)
{
    vd_captions *captions;
    vd_status status = vd_captions_read(path, &captions, err);
    if (status)
        return status;
    printf("%s: captions that people wrote (%s)\n", path, captions->kind);
    vd_output_row("pictures", "%zu", captions->count);
    vd_output_row("captions", "%zu", vd_captions_total(captions));
    vd_output_row("words", "%zu different", captions->words.count);
    vd_captions_free(captions);
    return VD_OK;
}

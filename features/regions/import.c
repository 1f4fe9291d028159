#include "features/regions/import.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/safetensors.h"
#include "engine/base/prefetch.h"

enum {
    ALIGNMENT = 4096,
    SECONDS = 5,
    MOST_STATE = 4096,
    MOST_PREFETCHED = 16, // pictures
    PREFETCH_BYTES = 16 << 20
};

// A picture as it was read.
typedef struct reading {
    float *features, *boxes; // (P, D), (P, 4) in the room for all
    vd_status status;
    vd_error err;
} reading;

typedef struct writing {
    const vd_import *import;
    size_t count, max, size, element; // N, P, D, bytes a number
    size_t read_size;                 // D of the source
    bool with_boxes;
    char *target, *part, *state; // paths: where import->out leads, and beside it
    int file;
    char *header;
    size_t header_size;
    uint64_t boxes_at, ids_at, used_at, end; // offsets
    float *features, *boxes;                 // of all prefetched pictures
    reading read[MOST_PREFETCHED];
    size_t slots, first; // slots of prefetched pictures; the first picture
    vd_prefetch *prefetch;
    uint16_t *halves;            // (P, D)
    size_t done;                 // pictures
    atomic_uint_fast64_t passed; // vd_file_passed
    char identity[MOST_STATE];
} writing;

static vd_status write_failed(const writing *w, const char *what, vd_error *err)
{
    const char *help = errno == ENOSPC || errno == EDQUOT
                           ? "; free some space and run it again; it continues from here"
                           : "";
    return vd_error_set(err, VD_IO, "%s: %s failed: %s%s", w->part, what, strerror(errno), help);
}

static vd_status write_at(const writing *w, const void *data, size_t size, uint64_t offset,
                          vd_error *err)
{
    bool written = lseek(w->file, (off_t)offset, SEEK_SET) >= 0 &&
                   vd_file_write_all(w->file, data, size) == size;
    return written ? VD_OK : write_failed(w, "writing", err);
}

// ---- columns ------------------------------------------------------------------------------------

// The next "7" or "7-9".
static bool read_range(const char **text, long *from, long *to)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    *from = *to = strtol(*text, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *to = strtol(end + 1, &end, 10);
    *text = end + (*end == ',' && end[1]);
    return *end == ',' || *end == '\0';
}

vd_status vd_import_columns(const char *text, int size, int **column, int *columns, vd_error *err)
{
    const char *at = text;
    long from, to, next = 0;
    *columns = 0;
    *column = vd_alloc((size_t)size, sizeof **column);
    if (!*column)
        return vd_error_memory(err, "the columns");
    do {
        if (!read_range(&at, &from, &to) || from < next || to < from || to >= size) {
            vd_free(*column);
            *column = NULL;
            return vd_error_set(
                err, VD_USAGE,
                "columns '%.80s': expected increasing numbers from 0 to %d, such as 0-15,%d", text,
                size - 1, size - 1);
        }
        for (; from <= to; from++)
            (*column)[(*columns)++] = (int)from;
        next = from;
    } while (*at);
    return VD_OK;
}

// ---- what is to be written ----------------------------------------------------------------------

static vd_status make_header(writing *w, vd_error *err)
{
    const vd_import *import = w->import;
    vd_safetensors_writer *plan;
    size_t n = w->count, p = w->max;
    vd_status status = vd_safetensors_plan(import->out, &plan, err);
    if (status != VD_OK)
        return status;
    vd_safetensors_put_metadata(plan, "source", import->source, err);
    vd_safetensors_put_metadata(plan, "layout", import->from->kind, err);
    vd_safetensors_declare(plan, "features", import->full ? VD_F32 : VD_F16, 3,
                           (size_t[]){n, p, w->size}, err);
    if (w->with_boxes)
        vd_safetensors_declare(plan, "boxes", VD_F32, 3, (size_t[]){n, p, 4}, err);
    vd_safetensors_declare(plan, "image_id", VD_I64, 1, &n, err);
    vd_safetensors_declare(plan, "num_regions", VD_I32, 1, &n, err);
    status = vd_safetensors_header(plan, ALIGNMENT, &w->header, &w->header_size, err);
    vd_safetensors_abort(plan);
    if (status != VD_OK)
        return status;
    // The declarations have checked that these products can be had.
    w->boxes_at = w->header_size + (uint64_t)n * p * w->size * w->element;
    w->ids_at = w->boxes_at + (w->with_boxes ? (uint64_t)n * p * 16 : 0);
    w->used_at = w->ids_at + (uint64_t)n * 8;
    w->end = w->used_at + (uint64_t)n * 4;
    return VD_OK;
}

// What must be the same for an import to continue: the source file, the pictures in it, and
// what is made of them.
static void identify(writing *w)
{
    const vd_regions *from = w->import->from;
    struct stat about = {0};
    stat(from->path, &about);
    uint64_t hash = vd_hash_with(VD_HASH_START, from->changed);
    for (size_t i = 0; i < w->count; i++) {
        hash = vd_hash_with(hash, (uint64_t)from->image_id[i]);
        hash = vd_hash_with(hash, (uint64_t)from->used[i]);
    }
    for (int i = 0; i < w->import->columns; i++)
        hash = vd_hash_with(hash, (uint64_t)w->import->column[i]);
    snprintf(w->identity, sizeof w->identity,
             "visdial features import 1\n%.200s, %.60s, %lld bytes, changed %lld.%09ld\n"
             "%zu pictures of %zu x %zu, %zu bytes each, %s boxes, images %016" PRIx64 "\ndone ",
             w->import->source, from->kind, (long long)about.st_size,
             (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec, w->count, w->max, w->size,
             w->element, w->with_boxes ? "with" : "without", hash);
}

static vd_status prepare(writing *w, const vd_import *import, vd_error *err)
{
    const vd_regions *from = import->from;
    *w = (writing){.import = import,
                   .count = from->count,
                   .max = (size_t)from->max,
                   .size = (size_t)(import->column ? import->columns : from->size),
                   .read_size = (size_t)from->size,
                   .element = import->full ? sizeof(float) : sizeof(uint16_t),
                   .with_boxes = !from->no_boxes,
                   .file = -1};
    vd_status status = vd_output_target(import->out, &w->target, err);
    if (status)
        return status;
    w->part = vd_format("%s.part", w->target);
    w->state = vd_format("%s.part.state", w->target);
    if (!w->part || !w->state)
        return vd_error_memory(err, "a path");
    identify(w);
    return make_header(w, err);
}

static void release(writing *w)
{
    vd_prefetch_free(w->prefetch);
    if (w->file >= 0)
        close(w->file);
    vd_free(w->halves);
    vd_free(w->boxes);
    vd_free(w->features);
    vd_free(w->header);
    vd_free(w->state);
    vd_free(w->part);
    vd_free(w->target);
}

// ---- going on -----------------------------------------------------------------------------------

// How many pictures of this very work are in OUT.part; 0 when that cannot be relied on.
static size_t find_done(const writing *w)
{
    char *text = NULL;
    size_t size, same = strlen(w->identity), done = 0;
    struct stat about;
    if (stat(w->part, &about) != 0 || (uint64_t)about.st_size != w->end ||
        vd_file_read(w->state, MOST_STATE, &text, &size, NULL) != VD_OK)
        return 0;
    if (size > same && memcmp(text, w->identity, same) == 0 &&
        (sscanf(text + same, "%zu", &done) != 1 || done > w->count))
        done = 0;
    vd_free(text);
    return done;
}

vd_status vd_import_resumed(const vd_import *import, size_t *done, vd_error *err)
{
    writing w;
    *done = 0;
    vd_status status = prepare(&w, import, err);
    if (status == VD_OK)
        *done = find_done(&w);
    release(&w);
    return status;
}

static vd_status start(writing *w, vd_error *err)
{
    size_t picture = w->max * w->read_size, most = PREFETCH_BYTES / (picture * sizeof *w->features);
    w->slots = most < 2 ? 2 : most < MOST_PREFETCHED ? most : MOST_PREFETCHED;
    w->features = vd_alloc(w->slots * picture, sizeof *w->features);
    w->boxes = vd_alloc(w->slots * w->max, 4 * sizeof *w->boxes);
    w->halves = vd_alloc(picture, sizeof *w->halves);
    if (!w->features || !w->boxes || !w->halves)
        return vd_error_memory(err, "pictures' regions");
    for (size_t i = 0; i < w->slots; i++)
        w->read[i] =
            (reading){.features = w->features + i * picture, .boxes = w->boxes + i * w->max * 4};
    w->file = vd_output_open(w->part, w->target, 0);
    if (w->file < 0)
        return write_failed(w, "creating it", err);
    if (flock(w->file, LOCK_EX | LOCK_NB) != 0)
        return vd_error_set(err, VD_IO, "%s: another import is writing it", w->part);
    w->done = find_done(w);
    if (w->done > 0)
        return VD_OK;
    // No data of another import may remain in the holes.
    if ((unlink(w->state) != 0 && errno != ENOENT) || ftruncate(w->file, 0) != 0 ||
        ftruncate(w->file, (off_t)w->end) != 0)
        return write_failed(w, "making room", err);
    return write_at(w, w->header, w->header_size, 0, err);
}

// ---- pictures -----------------------------------------------------------------------------------

// The columns that are kept, in the same memory: they rise.
static void keep_columns(const writing *w, size_t regions, float *features)
{
    const vd_import *import = w->import;
    for (size_t r = 0; import->column && r < regions; r++)
        for (size_t i = 0; i < w->size; i++)
            features[r * w->size + i] = features[r * w->read_size + (size_t)import->column[i]];
}

// Makes picture `first + n`; false when it is the last or cannot be read.
static bool read_picture(void *context, size_t n, size_t target)
{
    writing *w = context;
    reading *r = &w->read[target];
    size_t row = w->first + n;
    r->status = vd_regions_read(w->import->from, row, r->features, w->with_boxes ? r->boxes : NULL,
                                &r->err);
    if (r->status == VD_OK)
        keep_columns(w, (size_t)w->import->from->used[row], r->features);
    return r->status == VD_OK && row + 1 < w->count;
}

// Halves of finite floats: 65520 and more became infinite.
static vd_status check_halves(const writing *w, size_t row, const float *features, size_t count,
                              vd_error *err)
{
    unsigned bad = 0; // without a branch a number, so that vectors are made of it
    for (size_t i = 0; i < count; i++)
        bad |= (w->halves[i] & 0x7c00u) == 0x7c00u;
    for (size_t i = 0; bad && i < count; i++)
        if ((w->halves[i] & 0x7c00u) == 0x7c00u)
            return vd_error_set(err, VD_FORMAT,
                                "%s: image %" PRId64 ", region %zu: feature %zu is %g, too large "
                                "for half precision; import with --f32",
                                w->import->from->path, w->import->from->image_id[row],
                                i / w->size + 1, i % w->size, (double)features[i]);
    return VD_OK;
}

static vd_status copy_picture(writing *w, vd_error *err)
{
    const vd_regions *from = w->import->from;
    const reading *r = &w->read[vd_prefetch_next(w->prefetch)];
    size_t row = w->done, used = (size_t)from->used[row], count = used * w->size;
    const void *data = r->features;
    vd_status status = r->status ? vd_error_set(err, r->status, "%s", r->err.text) : VD_OK;
    if (status == VD_OK && !w->import->full) {
        vd_halves_from_floats(r->features, count, w->halves);
        status = check_halves(w, row, r->features, count, err);
        data = w->halves;
    }
    uint64_t at = w->header_size + (uint64_t)row * w->max * w->size * w->element;
    if (status == VD_OK)
        status = write_at(w, data, count * w->element, at, err);
    if (status == VD_OK && w->with_boxes)
        status = write_at(w, r->boxes, used * 16, w->boxes_at + (uint64_t)row * w->max * 16, err);
    if (status != VD_OK)
        return status;
    vd_file_passed(w->file, at + count * w->element, &w->passed); // the disk begins now
    w->done++;
    return VD_OK;
}

// The pictures are on the disk before the state counts them.
static vd_status save_state(writing *w, vd_error *err)
{
    char text[MOST_STATE + 32];
    if (fdatasync(w->file) != 0)
        return write_failed(w, "writing to the disk", err);
    int length = snprintf(text, sizeof text, "%s%zu\n", w->identity, w->done);
    return vd_output_file(w->state, text, (size_t)length, err);
}

static vd_status copy_all(writing *w, vd_error *err)
{
    const vd_import *import = w->import;
    double saved = vd_seconds();
    vd_status status = VD_OK;
    w->first = w->done;
    vd_regions_once(import->from);
    if (w->done < w->count)
        status = vd_prefetch_new(w->slots, read_picture, w, &w->prefetch, err);
    while (status == VD_OK && w->done < w->count) {
        status = copy_picture(w, err);
        if (status == VD_OK && import->progress)
            import->progress(import->context, w->done);
        bool stop = import->stop && atomic_load(import->stop);
        if (status == VD_OK && (stop || vd_seconds() - saved > SECONDS)) {
            status = save_state(w, err);
            saved = vd_seconds();
        }
        if (status == VD_OK && stop && w->done < w->count)
            status = vd_error_set(err, VD_INTERRUPTED,
                                  "stopped after %zu of %zu pictures; run it again to continue",
                                  w->done, w->count);
    }
    return status;
}

static vd_status write_index(writing *w, vd_error *err)
{
    const vd_regions *from = w->import->from;
    enum { CHUNK = 1024 };
    vd_status status = VD_OK;
    for (size_t first = 0; status == VD_OK && first < w->count; first += CHUNK) {
        int64_t id[CHUNK];
        int32_t used[CHUNK];
        size_t some = w->count - first < CHUNK ? w->count - first : CHUNK;
        for (size_t i = 0; i < some; i++) {
            id[i] = from->image_id[first + i];
            used[i] = from->used[first + i];
        }
        status = write_at(w, id, some * sizeof *id, w->ids_at + first * sizeof *id, err);
        if (status == VD_OK)
            status = write_at(w, used, some * sizeof *used, w->used_at + first * sizeof *used, err);
    }
    return status;
}

static vd_status finish(writing *w, vd_error *err)
{
    vd_status status = write_index(w, err);
    if (status == VD_OK)
        status = vd_output_replace(w->file, w->part, w->target, err);
    if (status == VD_OK)
        unlink(w->state);
    return status;
}

vd_status vd_import_run(const vd_import *import, vd_error *err)
{
    writing w;
    const char *from = import->from->path;
    vd_status status = vd_output_check(&import->out, 1, &from, 1, true, err);
    if (status)
        return status;
    status = prepare(&w, import, err);
    if (status == VD_OK)
        status = start(&w, err);
    if (status == VD_OK)
        status = copy_all(&w, err);
    if (status == VD_OK)
        status = finish(&w, err);
    release(&w);
    return status;
}

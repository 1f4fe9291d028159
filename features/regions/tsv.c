// Region features in tab-separated lines, in the two public layouts, which differ in the number of
// columns:
//   bottom-up attention, 6: image_id image_w image_h num_boxes boxes features
//   LXMERT, 10: img_id img_h img_w objects_id objects_conf attrs_id attrs_conf num_boxes boxes
//     features
// boxes (n, 4) in pixels and features (n, D) are base64 of little-endian float32. Opening reads the
// file once, for the offsets of its lines.
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "features/regions/parts.h"
#include "features/regions/source.h"

enum { CHUNK = 1 << 20, MOST_COLUMNS = 10, LONGEST_LINE = 1 << 28 };

typedef struct layout {
    const char *kind;
    int columns, id, width, height, count, boxes, features;
} layout;

static const layout layouts[] = {
    {"TSV, bottom-up attention", 6, 0, 1, 2, 3, 4, 5},
    {"TSV, LXMERT", 10, 0, 2, 1, 7, 8, 9},
};

typedef struct line {
    uint64_t offset;
    uint32_t length; // without its end
    float width, height;
} line;

typedef struct tsv {
    const char *path; // borrowed
    int file;
    const layout *layout;
    line *lines;
    size_t room, id_room, used_room;
    size_t size;                 // D
    bool once;                   // it is read through once
    atomic_uint_fast64_t passed; // so far
} tsv;

typedef struct fields {
    const char *at[MOST_COLUMNS];
    size_t length[MOST_COLUMNS];
    int count;
} fields;

static vd_status refuse(const tsv *t, size_t number, vd_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static vd_status refuse(const tsv *t, size_t number, vd_error *err, const char *format, ...)
{
    char words[400];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    return vd_error_set(err, VD_FORMAT, "%s: line %zu: %s", t->path, number, words);
}

static bool split(const char *text, size_t length, fields *out)
{
    const char *end = text + length;
    for (out->count = 0; out->count < MOST_COLUMNS;) {
        const char *tab = memchr(text, '\t', (size_t)(end - text));
        out->at[out->count] = text;
        out->length[out->count++] = (size_t)((tab ? tab : end) - text);
        if (!tab)
            return true;
        text = tab + 1;
    }
    return false;
}

// A whole number of at most nine digits; floats such as "640.0" are none.
static bool number_of(const fields *f, int column, int64_t *out)
{
    int64_t value = 0;
    if (f->length[column] < 1 || f->length[column] > 9)
        return false;
    for (size_t i = 0; i < f->length[column]; i++) {
        char c = f->at[column][i];
        if (c < '0' || c > '9')
            return false;
        value = 10 * value + (c - '0');
    }
    *out = value;
    return true;
}

// ---- the offsets of lines -----------------------------------------------------------------------

static vd_status choose_layout(tsv *t, const fields *f, bool few, size_t number, vd_error *err)
{
    for (size_t i = 0; few && !t->layout && i < sizeof layouts / sizeof *layouts; i++)
        if (f->count == layouts[i].columns)
            t->layout = &layouts[i];
    if (few && t->layout && f->count == t->layout->columns)
        return VD_OK;
    return refuse(t, number, err, "%s%d columns; expected %s", few ? "" : "more than ", f->count,
                  !t->layout                ? "6 (bottom-up attention) or 10 (LXMERT)"
                  : t->layout->columns == 6 ? "6, as in the lines before"
                                            : "10, as in the lines before");
}

// How many numbers a row of features has, from the lengths alone.
static vd_status check_lengths(tsv *t, const fields *f, int64_t count, size_t number, vd_error *err)
{
    const layout *l = t->layout;
    size_t boxes = vd_base64_bytes(f->at[l->boxes], f->length[l->boxes]);
    size_t features = vd_base64_bytes(f->at[l->features], f->length[l->features]);
    size_t n = (size_t)count, size = features / (4 * n);
    if (boxes != 16 * n)
        return refuse(t, number, err, "boxes of %zu characters do not hold %zu x 4 numbers",
                      f->length[l->boxes], n);
    if (features == SIZE_MAX || size == 0 || size > VD_REGIONS_WIDEST || size * 4 * n != features)
        return refuse(t, number, err, "features of %zu characters do not hold %zu rows of numbers",
                      f->length[l->features], n);
    if (t->size && size != t->size)
        return refuse(t, number, err, "rows of %zu numbers; expected %zu, as in the lines before",
                      size, t->size);
    t->size = size;
    return VD_OK;
}

static vd_status add_line(tsv *t, const char *text, size_t length, uint64_t offset, vd_regions *out,
                          vd_error *err)
{
    size_t number = out->count + 1;
    fields f;
    int64_t width = 0, height = 0, count = 0, id = 0;
    if (length > 0 && text[length - 1] == '\r')
        length--;
    bool few = split(text, length, &f);
    vd_status status = choose_layout(t, &f, few, number, err);
    if (status != VD_OK)
        return status;
    const layout *l = t->layout;
    char name[128] = "";
    if (f.length[l->id] < sizeof name)
        memcpy(name, f.at[l->id], f.length[l->id]);
    if (!vd_image_id_of(name, &id))
        return refuse(t, number, err, "the image id \"%.40s\" does not end with a number", name);
    if (!number_of(&f, l->width, &width) || !number_of(&f, l->height, &height) || width < 1 ||
        height < 1)
        return refuse(t, number, err,
                      "image %" PRId64 ": its width or height is not a number from 1 on", id);
    if (!number_of(&f, l->count, &count) || count < 1 || count > VD_REGIONS_MOST)
        return refuse(t, number, err,
                      "image %" PRId64 ": its number of boxes is not one from 1 to %d", id,
                      VD_REGIONS_MOST);
    status = check_lengths(t, &f, count, number, err);
    if (status != VD_OK)
        return status;
    size_t all = out->count + 1;
    if (!vd_make_room(&t->lines, &t->room, all, sizeof *t->lines) ||
        !vd_make_room(&out->image_id, &t->id_room, all, sizeof *out->image_id) ||
        !vd_make_room(&out->used, &t->used_room, all, sizeof *out->used))
        return vd_error_memory(err, "the lines of region features");
    out->image_id[out->count] = id;
    out->used[out->count] = count;
    t->lines[out->count++] = (line){offset, (uint32_t)length, (float)width, (float)height};
    out->max = count > out->max ? (int)count : out->max;
    return VD_OK;
}

// A chunk of the file, while the lines are looked for.
typedef struct window {
    char *text;
    size_t room, held;
    uint64_t start; // where in the file
} window;

// Takes the lines that are complete out of the window.
static vd_status add_lines(tsv *t, window *w, size_t searched, vd_regions *out, vd_error *err)
{
    size_t from = 0;
    vd_status status = VD_OK;
    for (char *end;
         status == VD_OK && (end = memchr(w->text + searched, '\n', w->held - searched)) != NULL;
         from = searched) {
        size_t length = (size_t)(end - w->text) - from;
        status = add_line(t, w->text + from, length, w->start + from, out, err);
        searched = from + length + 1;
    }
    if (from > 0)
        memmove(w->text, w->text + from, w->held - from);
    w->held -= from;
    w->start += from;
    return status;
}

static vd_status find_lines(tsv *t, vd_regions *out, vd_error *err)
{
    window w = {0};
    size_t got = 0;
    vd_status status = VD_OK;
    posix_fadvise(t->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    do {
        size_t searched = w.held;
        status = vd_make_room(&w.text, &w.room, w.held + CHUNK, 1)
                     ? vd_file_read_at(t->file, t->path, w.text + w.held, CHUNK, w.start + w.held,
                                       &got, err)
                     : vd_error_memory(err, "a line of region features");
        if (status == VD_OK) {
            w.held += got;
            status = add_lines(t, &w, searched, out, err);
        }
        if (status == VD_OK && w.held > LONGEST_LINE)
            status = refuse(t, out->count + 1, err, "is longer than %d bytes", LONGEST_LINE);
    } while (status == VD_OK && got > 0);
    if (status == VD_OK && w.held > 0) // the last line may lack its end
        status = add_line(t, w.text, w.held, w.start, out, err);
    if (status == VD_OK && out->count == 0)
        status = vd_error_set(err, VD_FORMAT, "%s: there are no lines in it", t->path);
    vd_free(w.text);
    return status;
}

// ---- reading ------------------------------------------------------------------------------------

static vd_status decode(const tsv *t, const fields *f, int column, size_t numbers, float *out,
                        size_t number, vd_error *err)
{
    if (vd_base64_bytes(f->at[column], f->length[column]) != 4 * numbers)
        return refuse(t, number, err, "it has changed since the file was opened");
    size_t wrong = vd_base64_decode(f->at[column], f->length[column], (unsigned char *)out);
    if (wrong < f->length[column])
        return refuse(t, number, err, "column %d, character %zu is not base64", column + 1,
                      wrong + 1);
    return VD_OK;
}

static vd_status decode_line(const tsv *t, size_t row, const char *text, size_t length, size_t used,
                             float *features, float *boxes, vd_error *err)
{
    const line *l = &t->lines[row];
    fields f;
    if (length != l->length || !split(text, length, &f) || f.count != t->layout->columns)
        return refuse(t, row + 1, err, "it has changed since the file was opened");
    vd_status status = decode(t, &f, t->layout->features, used * t->size, features, row + 1, err);
    if (status != VD_OK || !boxes)
        return status;
    status = decode(t, &f, t->layout->boxes, used * 4, boxes, row + 1, err);
    if (status == VD_OK)
        vd_regions_normalise(boxes, used, l->width, l->height);
    return status;
}

// The line's text is this call's own, so that several threads may read.
static vd_status read_line(void *state, size_t row, size_t used, float *features, float *boxes,
                           vd_error *err)
{
    tsv *t = state;
    const line *l = &t->lines[row];
    size_t got = 0;
    char *text = vd_alloc_raw(l->length);
    if (!text)
        return vd_error_memory(err, "a line of region features");
    vd_status status = vd_file_read_at(t->file, t->path, text, l->length, l->offset, &got, err);
    if (t->once)
        vd_file_passed(t->file, l->offset + got, &t->passed);
    if (status == VD_OK)
        status = decode_line(t, row, text, got, used, features, boxes, err);
    vd_free(text);
    return status;
}

static void read_tsv_once(void *state)
{
    ((tsv *)state)->once = true;
}

static void close_tsv(void *state)
{
    tsv *t = state;
    if (t->file >= 0)
        close(t->file);
    vd_free(t->lines);
    vd_free(t);
}

vd_status vd_regions_open_tsv(vd_regions *out, vd_error *err)
{
    size_t size;
    tsv *t = vd_alloc(1, sizeof *t);
    if (!t)
        return vd_error_memory(err, "region features");
    t->file = -1;
    out->state = t;
    out->read = read_line;
    out->once = read_tsv_once;
    out->close = close_tsv;
    t->path = out->path;
    vd_status status = vd_file_open(t->path, &t->file, &size, err);
    if (status == VD_OK)
        status = find_lines(t, out, err);
    if (status != VD_OK)
        return status;
    out->kind = t->layout->kind;
    out->size = (int)t->size;
    return VD_OK;
}

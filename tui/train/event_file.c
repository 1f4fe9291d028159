#include "tui/train/event_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"

enum { HEAD = 12, FOOT = 4, MOST_RECORD = 1 << 20, MOST_TAG = 200 };

static const char PREFIX[] = "events.out.tfevents.";

struct vd_events {
    char *path;
    int file;
    int64_t records;
    off_t size;      // of the file up to the end of these
    vd_error damage; // what made an end of it worthless
};

// ---- records ------------------------------------------------------------------------------------

uint32_t vd_crc32c(const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= byte[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static uint32_t masked(const void *data, size_t size)
{
    uint32_t crc = vd_crc32c(data, size);
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static void put_fixed(unsigned char *to, uint64_t value, int bytes)
{
    value = GUINT64_TO_LE(value);
    memcpy(to, &value, (size_t)bytes);
}

static uint64_t get_fixed(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    memcpy(&value, from, (size_t)bytes);
    return GUINT64_FROM_LE(value);
}

// ---- protocol buffers ---------------------------------------------------------------------------

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static void put_varint(GByteArray *m, uint64_t value)
{
    do {
        unsigned char byte = (unsigned char)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        g_byte_array_append(m, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_key(GByteArray *m, int field, int kind)
{
    put_varint(m, (uint64_t)(field << 3 | kind));
}

static void put_number(GByteArray *m, int field, const void *number, int bytes)
{
    uint64_t bits = 0;
    unsigned char fixed[8];
    put_key(m, field, bytes == 8 ? FIXED64 : FIXED32);
    memcpy(&bits, number, (size_t)bytes);
    put_fixed(fixed, bytes == 8 ? bits : (uint32_t)bits, bytes);
    g_byte_array_append(m, fixed, (guint)bytes);
}

static void put_string(GByteArray *m, int field, const void *data, size_t size)
{
    put_key(m, field, BYTES);
    put_varint(m, size);
    g_byte_array_append(m, data, (guint)size);
}

// One field of a message.
typedef struct field {
    int number, kind;
    uint64_t value;            // VARINT, FIXED
    const unsigned char *data; // BYTES
    size_t size;
} field;

typedef struct walk {
    const unsigned char *at, *end;
    bool broken;
} walk;

static uint64_t get_varint(walk *w)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && w->at < w->end; shift += 7) {
        unsigned char byte = *w->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    w->broken = true;
    return 0;
}

static bool next_field(walk *w, field *f)
{
    if (w->at >= w->end || w->broken)
        return false;
    uint64_t key = get_varint(w), size = 0;
    *f = (field){.number = (int)(key >> 3 & 0xffff), .kind = (int)(key & 7)};
    if (f->kind == VARINT)
        f->value = get_varint(w);
    else if (f->kind == FIXED64 || f->kind == FIXED32)
        size = f->kind == FIXED64 ? 8 : 4;
    else if (f->kind == BYTES)
        size = get_varint(w);
    else
        w->broken = true;
    if (w->broken || size > (uint64_t)(w->end - w->at)) {
        w->broken = true;
        return false;
    }
    f->data = w->at;
    f->size = (size_t)size;
    if (f->kind == FIXED64 || f->kind == FIXED32)
        f->value = get_fixed(w->at, (int)size);
    w->at += size;
    return true;
}

// ---- writing ------------------------------------------------------------------------------------

// Frees the message.
static vd_status write_record(vd_events *e, GByteArray *message, vd_error *err)
{
    unsigned char head[HEAD], foot[FOOT];
    put_fixed(head, message->len, 8);
    put_fixed(head + 8, masked(head, 8), 4);
    put_fixed(foot, masked(message->data, message->len), FOOT);
    g_byte_array_prepend(message, head, HEAD);
    g_byte_array_append(message, foot, FOOT);
    // What is left of a record that could not be written and not be cut off hides those behind it.
    struct stat about;
    vd_status status = VD_OK;
    if (fstat(e->file, &about) == 0 && about.st_size > e->size && ftruncate(e->file, e->size) != 0)
        status = vd_error_set(err, VD_IO, "%.300s: %s", e->path, strerror(errno));
    if (status == VD_OK)
        status = vd_file_append(e->file, e->path, message->data, message->len, err);
    if (status == VD_OK) {
        e->records++;
        e->size += (off_t)message->len;
    }
    g_byte_array_free(message, TRUE);
    return status;
}

vd_status vd_events_add(vd_events *events, int64_t step, const vd_scalar *scalars, int count,
                        vd_error *err)
{
    GByteArray *event = g_byte_array_new(), *summary = g_byte_array_new();
    double now = (double)g_get_real_time() * 1e-6;
    for (int i = 0; i < count; i++) {
        GByteArray *value = g_byte_array_new();
        float number = (float)scalars[i].value;
        put_string(value, 1, scalars[i].tag, strnlen(scalars[i].tag, MOST_TAG));
        put_number(value, 2, &number, sizeof number);
        put_string(summary, 1, value->data, value->len);
        g_byte_array_free(value, TRUE);
    }
    put_number(event, 1, &now, sizeof now);
    put_key(event, 2, VARINT);
    put_varint(event, (uint64_t)step);
    put_string(event, 5, summary->data, summary->len);
    g_byte_array_free(summary, TRUE);
    return write_record(events, event, err);
}

static vd_status write_version(vd_events *e, vd_error *err)
{
    static const char version[] = "brain.Event:2";
    GByteArray *event = g_byte_array_new();
    double now = (double)g_get_real_time() * 1e-6;
    put_number(event, 1, &now, sizeof now);
    put_string(event, 3, version, sizeof version - 1);
    return write_record(e, event, err);
}

static vd_status begin_file(vd_events *e, const char *directory, vd_error *err)
{
    const char *host = strchr(g_get_host_name(), '/') ? "visdial" : g_get_host_name();
    e->path = vd_format("%s/%s%010lld.%.60s", directory, PREFIX, (long long)time(NULL), host);
    if (!e->path)
        return vd_error_memory(err, "a path");
    e->file = open(e->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (e->file < 0)
        return vd_error_set(err, VD_IO, "%.300s: %s", e->path, strerror(errno));
    return write_version(e, err);
}

vd_status vd_events_find(const char *directory, char **path, vd_error *err)
{
    char newest[256] = "";
    *path = NULL;
    DIR *listing = opendir(directory);
    if (!listing)
        return errno == ENOTDIR
                   ? vd_error_set(err, VD_FORMAT,
                                  "%.400s: is a file; expected a directory that `visdial train "
                                  "--out` wrote",
                                  directory)
                   : vd_error_set(err, errno == ENOENT ? VD_NOT_FOUND : VD_IO, "%.400s: %s",
                                  directory, strerror(errno));
    for (struct dirent *entry; (entry = readdir(listing));)
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0 &&
            strcmp(entry->d_name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", entry->d_name);
    closedir(listing);
    if (!*newest)
        return vd_error_set(err, VD_NOT_FOUND,
                            "%.300s: there is no event file (%s...) in it; `visdial train` writes "
                            "one into its --out",
                            directory, PREFIX);
    *path = g_build_filename(directory, newest, NULL);
    return VD_OK;
}

// ---- reading ------------------------------------------------------------------------------------

// Passes the scalars of a record to the sink; false when the record is not an event.
static bool read_event(const unsigned char *data, size_t size, vd_event_sink sink, void *context)
{
    walk event = {data, data + size, false}, summary = {0};
    field f;
    int64_t step = 0;
    while (next_field(&event, &f)) {
        if (f.number == 2 && f.kind == VARINT)
            step = (int64_t)f.value;
        else if (f.number == 5 && f.kind == BYTES)
            summary = (walk){f.data, f.data + f.size, false};
    }
    while (next_field(&summary, &f)) {
        if (f.number != 1 || f.kind != BYTES)
            continue;
        walk value = {f.data, f.data + f.size, false};
        char tag[MOST_TAG + 1] = "";
        float number = 0;
        bool has = false;
        for (field v; next_field(&value, &v);) {
            if (v.number == 1 && v.kind == BYTES)
                snprintf(tag, sizeof tag, "%.*s", v.size > MOST_TAG ? MOST_TAG : (int)v.size,
                         (const char *)v.data);
            if (v.number != 2 || v.kind != FIXED32)
                continue;
            uint32_t bits = (uint32_t)v.value;
            memcpy(&number, &bits, sizeof number);
            has = true;
        }
        if (value.broken)
            return false;
        if (has && sink)
            sink(context, step, tag, (double)number);
    }
    return !event.broken && !summary.broken;
}

static vd_status damaged(const char *path, size_t at, const char *what, vd_error *err)
{
    return vd_error_set(err, VD_FORMAT, "%.300s: the record at byte %zu has %s", path, at, what);
}

// Reads at most `most` records from *offset on; *count: how many, -1 when the file cannot be read.
static vd_status walk_records(const char *path, size_t *offset, int64_t most, int64_t *count,
                              vd_event_sink sink, void *context, vd_error *err)
{
    char *data;
    size_t size;
    // Read as a whole: a run's scalars are some megabytes.
    vd_status status = vd_file_read(path, (size_t)1 << 30, &data, &size, err);
    const unsigned char *bytes = (const unsigned char *)data;
    *count = status == VD_OK ? 0 : -1;
    while (status == VD_OK && *count < most && *offset < size && size - *offset >= HEAD) {
        const unsigned char *at = bytes + *offset;
        uint64_t length = get_fixed(at, 8);
        if (get_fixed(at + 8, 4) != masked(at, 8))
            status = damaged(path, *offset, "a length that does not match its checksum", err);
        else if (length > MOST_RECORD)
            status = damaged(path, *offset, "too many bytes for a record of scalars", err);
        else if (size - *offset < HEAD + length + FOOT)
            break;
        else if (get_fixed(at + HEAD + length, FOOT) != masked(at + HEAD, (size_t)length))
            status = damaged(path, *offset, "contents that do not match their checksum", err);
        else if (!read_event(at + HEAD, (size_t)length, sink, context))
            status = damaged(path, *offset, "contents that are not an event", err);
        if (status == VD_OK) {
            *offset += HEAD + (size_t)length + FOOT;
            ++*count;
        }
    }
    vd_free(data);
    return status;
}

vd_status vd_events_read(const char *path, size_t *offset, vd_event_sink sink, void *context,
                         vd_error *err)
{
    int64_t count;
    return walk_records(path, offset, INT64_MAX, &count, sink, context, err);
}

// Cuts the file after its first `records` valid records. A file without any is not an event file.
static vd_status cut(vd_events *e, int64_t records, vd_error *err)
{
    size_t keep = 0;
    vd_status status = walk_records(e->path, &keep, records, &e->records, NULL, NULL, &e->damage);
    if (e->records < 0 || (e->records == 0 && status != VD_OK))
        return vd_error_set(err, status, "%s", e->damage.text);
    e->file = open(e->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (e->file < 0 || ftruncate(e->file, (off_t)keep) != 0)
        return vd_error_set(err, VD_IO, "%.300s: %s", e->path, strerror(errno));
    e->size = (off_t)keep;
    return e->records == 0 ? write_version(e, err) : VD_OK;
}

vd_status vd_events_open(const char *directory, int64_t records, vd_events **out, vd_error *err)
{
    vd_error none;
    *out = NULL;
    vd_events *e = g_new0(vd_events, 1);
    e->file = -1;
    vd_status status = vd_events_find(directory, &e->path, &none);
    if (status == VD_NOT_FOUND)
        status = begin_file(e, directory, err);
    else if (status != VD_OK)
        vd_error_set(err, status, "%s", none.text);
    else
        status = cut(e, records, err);
    if (status != VD_OK) {
        vd_events_close(e);
        return status;
    }
    *out = e;
    return VD_OK;
}

const char *vd_events_damage(const vd_events *events)
{
    return events->damage.status ? events->damage.text : NULL;
}

int64_t vd_events_count(const vd_events *events)
{
    return events->records;
}

void vd_events_close(vd_events *events)
{
    if (!events)
        return;
    if (events->file >= 0)
        close(events->file);
    vd_free(events->path);
    g_free(events);
}

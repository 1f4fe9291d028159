#include "engine/base/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/json.h"

// ---- writing ------------------------------------------------------------------------------------

typedef struct vd_settings {
    const vd_field *fields;
    const char *base;
} vd_settings;

static yajl_gen_status emit_text(yajl_gen gen, const char *text)
{
    return yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
}

// Numbers with all their digits, so that a resumed run is the same run.
static yajl_gen_status emit_field(yajl_gen gen, const vd_field *field, const char *at)
{
    char text[40];
    switch (field->kind) {
    case VD_FIELD_INT:
        return yajl_gen_integer(gen, *(const int *)at);
    case VD_FIELD_SEED:
        snprintf(text, sizeof text, "%" PRIu64, *(const uint64_t *)at);
        return emit_text(gen, text);
    case VD_FIELD_REAL:
        snprintf(text, sizeof text, "%.17g", *(const double *)at);
        return yajl_gen_number(gen, text, strlen(text));
    case VD_FIELD_FLOAT:
        snprintf(text, sizeof text, "%.9g", (double)*(const float *)at);
        return yajl_gen_number(gen, text, strlen(text));
    case VD_FIELD_CHOICE:
        return emit_text(gen, field->choice_name(*(const int *)at));
    }
    return yajl_gen_status_ok;
}

static yajl_gen_status emit(yajl_gen gen, void *context)
{
    const vd_settings *s = context;
    yajl_gen_status status = yajl_gen_map_open(gen);
    for (const vd_field *f = s->fields; f->name && status == yajl_gen_status_ok; f++) {
        status = emit_text(gen, f->name);
        if (status == yajl_gen_status_ok)
            status = emit_field(gen, f, s->base + f->offset);
    }
    return status == yajl_gen_status_ok ? yajl_gen_map_close(gen) : status;
}

vd_status vd_settings_write(const vd_field *fields, const void *settings, const char *what,
                            char **json, vd_error *err)
{
    vd_settings s = {fields, settings};
    size_t length;
    return vd_json_write(what, emit, &s, json, &length, err);
}

// ---- checking -----------------------------------------------------------------------------------

static double number_at(const vd_field *field, const void *at)
{
    switch (field->kind) {
    case VD_FIELD_INT:
    case VD_FIELD_CHOICE:
        return *(const int *)at;
    case VD_FIELD_REAL:
        return *(const double *)at;
    case VD_FIELD_FLOAT:
        return (double)*(const float *)at;
    case VD_FIELD_SEED: // any will do
        break;
    }
    return 0;
}

vd_status vd_settings_check(const vd_field *fields, const void *settings, vd_error *err)
{
    for (const vd_field *f = fields; f->name; f++) {
        double value = number_at(f, (const char *)settings + f->offset), most = f->most;
        if (f->kind == VD_FIELD_CHOICE)
            while (f->choice_name((int)most + 1))
                most++;
        if (!(value >= f->least && value <= most))
            return vd_error_set(err, VD_USAGE, "%s is %g, expected %g to %g", f->name, value,
                                f->least, most);
    }
    return VD_OK;
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct vd_settings_reader {
    const vd_field *fields;
    const char *where;
    char *base;
    const vd_field *field; // the one whose value comes next
    uint32_t seen;         // bit i = field i was there
    int depth;
    vd_status refused;
    vd_error *err;
} vd_settings_reader;

static int refuse(vd_settings_reader *r, const char *what)
{
    r->refused = vd_error_set(r->err, VD_FORMAT, "%s: %s%s%s", r->where,
                              r->field ? r->field->name : "settings", ": ", what);
    return 0;
}

static int on_start(void *context)
{
    vd_settings_reader *r = context;
    return r->depth++ ? refuse(r, "expected a plain value, found an object") : 1;
}

static int on_end(void *context)
{
    (void)context;
    return 1;
}

static int on_array(void *context)
{
    return refuse(context, "expected a plain value, found an array");
}

static int on_null(void *context)
{
    return refuse(context, "expected a plain value, found null");
}

static int on_boolean(void *context, int value)
{
    (void)value;
    return refuse(context, "expected a number or a string, found a boolean");
}

static int on_key(void *context, const unsigned char *key, size_t length)
{
    vd_settings_reader *r = context;
    r->field = NULL;
    for (const vd_field *f = r->fields; f->name; f++)
        if (strlen(f->name) == length && memcmp(f->name, key, length) == 0)
            r->field = f;
    if (!r->field)
        return refuse(r, "found a field this version does not know");
    r->seen |= 1u << (r->field - r->fields);
    return 1;
}

static int on_number(void *context, const char *number, size_t length)
{
    vd_settings_reader *r = context;
    const vd_field *f = r->field;
    char text[64], *end;
    if (!f || f->kind == VD_FIELD_CHOICE || f->kind == VD_FIELD_SEED)
        return refuse(r, "expected a string, found a number");
    if (length >= sizeof text)
        return refuse(r, "found a number of too many digits");
    memcpy(text, number, length);
    text[length] = 0;
    double value = strtod(text, &end);
    if (*end || !(value >= f->least && value <= f->most) ||
        (f->kind == VD_FIELD_INT && value != (double)(int)value)) {
        char what[160];
        snprintf(what, sizeof what, "expected %s from %g to %g, found %s",
                 f->kind == VD_FIELD_INT ? "a whole number" : "a number", f->least, f->most, text);
        return refuse(r, what);
    }
    if (f->kind == VD_FIELD_INT)
        *(int *)(void *)(r->base + f->offset) = (int)value;
    else if (f->kind == VD_FIELD_REAL)
        *(double *)(void *)(r->base + f->offset) = value;
    else
        *(float *)(void *)(r->base + f->offset) = (float)value;
    return 1;
}

static int on_string(void *context, const unsigned char *string, size_t length)
{
    vd_settings_reader *r = context;
    const vd_field *f = r->field;
    if (!f || (f->kind != VD_FIELD_CHOICE && f->kind != VD_FIELD_SEED))
        return refuse(r, "expected a number, found a string");
    if (f->kind == VD_FIELD_SEED) {
        char text[24], *end;
        if (length == 0 || length >= sizeof text || string[0] == '-')
            return refuse(r, "expected a whole number as a string");
        memcpy(text, string, length);
        text[length] = 0;
        errno = 0;
        uint64_t value = strtoull(text, &end, 10);
        if (*end || errno)
            return refuse(r, "expected a whole number as a string");
        *(uint64_t *)(void *)(r->base + f->offset) = value;
        return 1;
    }
    for (int i = 0; f->choice_name(i); i++)
        if (strlen(f->choice_name(i)) == length && !memcmp(f->choice_name(i), string, length)) {
            *(int *)(void *)(r->base + f->offset) = i;
            return 1;
        }
    char what[128];
    snprintf(what, sizeof what, "\"%.*s\" is not one this version knows (such as \"%s\")",
             length > 60 ? 60 : (int)length, (const char *)string, f->choice_name(0));
    return refuse(r, what);
}

vd_status vd_settings_read(const vd_field *fields, const char *json, const char *where,
                           void *settings, vd_error *err)
{
    static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                             .yajl_boolean = on_boolean,
                                             .yajl_number = on_number,
                                             .yajl_string = on_string,
                                             .yajl_start_map = on_start,
                                             .yajl_map_key = on_key,
                                             .yajl_end_map = on_end,
                                             .yajl_start_array = on_array};
    vd_settings_reader r = {
        .fields = fields, .where = where, .base = settings, .refused = VD_FORMAT, .err = err};
    for (const vd_field *f = fields; f->name; f++)
        if (f->optional)
            *(int *)(void *)(r.base + f->offset) = 0;
    vd_status status = vd_json_read(where, json, strlen(json), &callbacks, &r, &r.refused, err);
    for (const vd_field *f = fields; status == VD_OK && f->name; f++)
        if (!f->optional && !(r.seen & 1u << (f - fields)))
            status = vd_error_set(err, VD_FORMAT, "%s: \"%s\" is missing", where, f->name);
    return status;
}

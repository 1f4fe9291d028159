#include "engine/model/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/json.h"

// One field of a settings struct.
typedef struct vd_field {
    const char *name;
    enum { INT, SEED, REAL, FLOAT, CHOICE } kind;
    size_t offset;
    double least, most;
    const char *(*choice_name)(int); // CHOICE: names of 0, 1, ... until NULL
} vd_field;

static const char *gate_choice(int i)
{
    return i <= VD_GATE_ELU ? vd_gate_name((vd_gate)i) : NULL;
}

static const char *positions_choice(int i)
{
    return i <= VD_POSITIONS_AS_PRINTED ? vd_positions_name((vd_positions)i) : NULL;
}

static const char *optimiser_choice(int i)
{
    return i <= VD_RMSPROP ? vd_optimiser_name((vd_optimiser)i) : NULL;
}

static const char *decoders_choice(int i)
{
    return i <= VD_BOTH ? vd_decoders_name((vd_decoders)i) : NULL;
}

static const vd_field config_fields[] = {
    {"vocab", INT, offsetof(vd_config, vocab), 5, 10000000, NULL},
    {"embed", INT, offsetof(vd_config, embed), 1, 65536, NULL},
    {"hidden", INT, offsetof(vd_config, hidden), 1, 65536, NULL},
    {"region", INT, offsetof(vd_config, region), 1, 65536, NULL},
    {"gate", CHOICE, offsetof(vd_config, gate), 0, 0, gate_choice},
    {"positions", CHOICE, offsetof(vd_config, positions), 0, 0, positions_choice},
    {"decoder", CHOICE, offsetof(vd_config, decoders), 0, 0, decoders_choice},
    {NULL, INT, 0, 0, 0, NULL},
};

static const vd_field option_fields[] = {
    {"optimiser", CHOICE, offsetof(vd_train_options, optimiser), 0, 0, optimiser_choice},
    {"rate", REAL, offsetof(vd_train_options, rate), 0, 1e3, NULL},
    {"clip", REAL, offsetof(vd_train_options, clip), 0, 1e9, NULL},
    {"margin", INT, offsetof(vd_train_options, margin), 1, 4, NULL},
    {"lambda_start", REAL, offsetof(vd_train_options, lambda_start), 0, 1e9, NULL},
    {"lambda_decay", REAL, offsetof(vd_train_options, lambda_decay), 0, 1, NULL},
    {"lambda_floor", REAL, offsetof(vd_train_options, lambda_floor), 0, 1e9, NULL},
    {"dropout", FLOAT, offsetof(vd_train_options, dropout), 0, 0.99, NULL},
    {"lstm_dropout", FLOAT, offsetof(vd_train_options, lstm_dropout), 0, 0.99, NULL},
    {"position_dropout", FLOAT, offsetof(vd_train_options, position_dropout), 0, 0.99, NULL},
    {"open_gates", INT, offsetof(vd_train_options, open_gates), 0, 1, NULL},
    {"seed", SEED, offsetof(vd_train_options, seed), 0, 0, NULL},
    {NULL, INT, 0, 0, 0, NULL},
};

// Models from before there was a choice do not have it: 0, discriminative.
static const char *const OPTIONAL = "decoder";

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
    case INT:
        return yajl_gen_integer(gen, *(const int *)at);
    case SEED:
        snprintf(text, sizeof text, "%" PRIu64, *(const uint64_t *)at);
        return emit_text(gen, text);
    case REAL:
        snprintf(text, sizeof text, "%.17g", *(const double *)at);
        return yajl_gen_number(gen, text, strlen(text));
    case FLOAT:
        snprintf(text, sizeof text, "%.9g", (double)*(const float *)at);
        return yajl_gen_number(gen, text, strlen(text));
    case CHOICE:
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

vd_status vd_settings_from_config(const vd_config *config, char **json, vd_error *err)
{
    vd_settings s = {config_fields, (const char *)config};
    size_t length;
    return vd_json_write("configuration", emit, &s, json, &length, err);
}

vd_status vd_settings_from_options(const vd_train_options *options, char **json, vd_error *err)
{
    vd_settings s = {option_fields, (const char *)options};
    size_t length;
    return vd_json_write("training options", emit, &s, json, &length, err);
}

// ---- checking -----------------------------------------------------------------------------------

static double number_at(const vd_field *field, const void *at)
{
    switch (field->kind) {
    case INT:
    case CHOICE:
        return *(const int *)at;
    case REAL:
        return *(const double *)at;
    case FLOAT:
        return (double)*(const float *)at;
    case SEED: // any will do
        break;
    }
    return 0;
}

static vd_status check(const vd_field *fields, const char *base, vd_error *err)
{
    for (const vd_field *f = fields; f->name; f++) {
        double value = number_at(f, base + f->offset), most = f->most;
        if (f->kind == CHOICE)
            while (f->choice_name((int)most + 1))
                most++;
        if (!(value >= f->least && value <= most))
            return vd_error_set(err, VD_USAGE, "%s is %g, expected %g to %g", f->name, value,
                                f->least, most);
    }
    return VD_OK;
}

vd_status vd_settings_check_config(const vd_config *config, vd_error *err)
{
    return check(config_fields, (const char *)config, err);
}

vd_status vd_settings_check_options(const vd_train_options *options, vd_error *err)
{
    return check(option_fields, (const char *)options, err);
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
    if (!f || f->kind == CHOICE || f->kind == SEED)
        return refuse(r, "expected a string, found a number");
    if (length >= sizeof text)
        return refuse(r, "found a number of too many digits");
    memcpy(text, number, length);
    text[length] = 0;
    double value = strtod(text, &end);
    if (*end || !(value >= f->least && value <= f->most) ||
        (f->kind == INT && value != (double)(int)value)) {
        char what[160];
        snprintf(what, sizeof what, "expected %s from %g to %g, found %s",
                 f->kind == INT ? "a whole number" : "a number", f->least, f->most, text);
        return refuse(r, what);
    }
    if (f->kind == INT)
        *(int *)(void *)(r->base + f->offset) = (int)value;
    else if (f->kind == REAL)
        *(double *)(void *)(r->base + f->offset) = value;
    else
        *(float *)(void *)(r->base + f->offset) = (float)value;
    return 1;
}

static int on_string(void *context, const unsigned char *string, size_t length)
{
    vd_settings_reader *r = context;
    const vd_field *f = r->field;
    if (!f || (f->kind != CHOICE && f->kind != SEED))
        return refuse(r, "expected a number, found a string");
    if (f->kind == SEED) {
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

static vd_status read(const vd_field *fields, const char *json, const char *where, void *base,
                      vd_error *err)
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
        .fields = fields, .where = where, .base = base, .refused = VD_FORMAT, .err = err};
    for (const vd_field *f = fields; f->name; f++)
        if (strcmp(f->name, OPTIONAL) == 0)
            *(int *)(void *)(r.base + f->offset) = 0;
    vd_status status = vd_json_read(where, json, strlen(json), &callbacks, &r, &r.refused, err);
    for (const vd_field *f = fields; status == VD_OK && f->name; f++)
        if (strcmp(f->name, OPTIONAL) != 0 && !(r.seen & 1u << (f - fields)))
            status = vd_error_set(err, VD_FORMAT, "%s: \"%s\" is missing", where, f->name);
    return status;
}

vd_status vd_settings_to_config(const char *json, const char *where, vd_config *config,
                                vd_error *err)
{
    return read(config_fields, json, where, config, err);
}

vd_status vd_settings_to_options(const char *json, const char *where, vd_train_options *options,
                                 vd_error *err)
{
    return read(option_fields, json, where, options, err);
}

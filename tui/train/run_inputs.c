#include "tui/train/run_inputs.h"

#include <glib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/json.h"

enum { MOST_BYTES = 1 << 16, MOST_LIMIT = 1000000000 };
static const char choices[] = "skip or refuse";

static const struct {
    const char *name;
    size_t offset;
} texts[] = {{"data", offsetof(vd_run_inputs, data)},
             {"features", offsetof(vd_run_inputs, features)},
             {"train-dense", offsetof(vd_run_inputs, train_dense)},
             {"val", offsetof(vd_run_inputs, val)},
             {"val-features", offsetof(vd_run_inputs, val_features)},
             {"val-dense", offsetof(vd_run_inputs, val_dense)},
             {"scenes", offsetof(vd_run_inputs, scenes)},
             {"val-scenes", offsetof(vd_run_inputs, val_scenes)},
             {"split", offsetof(vd_run_inputs, split)},
             {"val-split", offsetof(vd_run_inputs, val_split)}};
enum { TEXTS = sizeof texts / sizeof *texts, PATHS = TEXTS - 2 }; // paths, then names

static const char **text_of(vd_run_inputs *inputs, int which)
{
    return (const char **)(void *)((char *)inputs + texts[which].offset);
}

static yajl_gen_status emit(yajl_gen json, void *context)
{
    vd_run_inputs inputs = *(const vd_run_inputs *)context;
    vd_json_put(json, "{");
    for (int i = 0; i < TEXTS; i++) {
        const char *text = *text_of(&inputs, i);
        char *whole = text && i < PATHS ? g_canonicalize_filename(text, NULL) : g_strdup(text);
        if (whole)
            vd_json_put(json, "%s: %s", texts[i].name, whole);
        g_free(whole);
    }
    if (inputs.val_limit)
        vd_json_put(json, "val-limit: %zu", inputs.val_limit);
    return vd_json_put(json, "missing: %s}", inputs.missing == VD_MISSING_SKIP ? "skip" : "refuse");
}

vd_status vd_run_inputs_write(const vd_run_inputs *inputs, const char *path, vd_error *err)
{
    return vd_json_write_file(path, emit, (void *)inputs, err);
}

// The first name that is none of ours, NULL for none: left out, it would change the run in silence.
static const char *unknown_name(const vd_json_value *kept)
{
    for (const vd_json_value *member = kept->first; member; member = member->next) {
        bool known = strcmp(member->key, "val-limit") == 0 || strcmp(member->key, "missing") == 0;
        for (int i = 0; i < TEXTS; i++)
            known = known || strcmp(member->key, texts[i].name) == 0;
        if (!known)
            return member->key;
    }
    return NULL;
}

static bool is_given(const vd_arguments *given, const char *name)
{
    return given && vd_arguments_have(given, name);
}

// Whether each entry is what the head of run_inputs.h says.
static bool is_well_formed(const vd_json_value *kept)
{
    const vd_json_value *member = kept->type == VD_JSON_MAP ? kept->first : NULL;
    for (; member; member = member->next)
        if (strcmp(member->key, "val-limit") == 0
                ? member->type != VD_JSON_NUMBER || member->whole < 1 || member->whole > MOST_LIMIT
                : member->type != VD_JSON_TEXT)
            return false;
    return kept->type == VD_JSON_MAP;
}

static vd_status take(vd_run_inputs *inputs, const vd_arguments *given, const char *path,
                      const vd_json_value *kept, vd_error *err)
{
    const char *unknown = kept->type == VD_JSON_MAP ? unknown_name(kept) : NULL;
    if (unknown)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s: \"%.60s\" is an unknown entry; continue the run with the "
                            "program that wrote it",
                            path, unknown);
    for (int i = 0; i < TEXTS; i++)
        if (!is_given(given, texts[i].name))
            *text_of(inputs, i) = vd_json_text(kept, texts[i].name);
    const vd_json_value *limit = vd_json_member(kept, "val-limit", VD_JSON_NUMBER);
    const char *missing = vd_json_text(kept, "missing");
    int choice = missing ? vd_choice_find(choices, missing) : VD_MISSING_SKIP;
    if (!is_well_formed(kept) || choice < 0 || !inputs->data || !inputs->features)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s: not what a run reads; expected {\"data\": PATH, ...}; remove "
                            "it, and name --data and --features",
                            path);
    if (limit && !is_given(given, "val-limit"))
        inputs->val_limit = (size_t)limit->whole;
    if (!is_given(given, "missing"))
        inputs->missing = (vd_missing)choice;
    return VD_OK;
}

vd_status vd_run_inputs_read(vd_run_inputs *inputs, const vd_arguments *given, const char *path,
                             vd_json_value **kept, vd_error *err)
{
    char *text;
    size_t size;
    vd_error why = {0};
    *kept = NULL;
    vd_status status = vd_file_read(path, MOST_BYTES, &text, &size, &why);
    if (status == VD_NOT_FOUND && inputs->data && inputs->features)
        return VD_OK; // what is named suffices
    if (status && given)
        return vd_error_set(err, status,
                            "--resume: %s; it says what the run reads: name --data and --features",
                            why.text);
    if (status)
        return vd_error_set(err, status, "%s", why.text);
    status = vd_json_value_read(path, text, size, kept, err);
    vd_free(text);
    return status ? status : take(inputs, given, path, *kept, err);
}

#include "engine/model/file.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "engine/networks/encoder.h"

vd_status vd_metadata_set(vd_metadata *metadata, const char *key, const char *value, vd_error *err)
{
    int at = 0;
    while (at < metadata->count && strcmp(metadata->pair[at].key, key) != 0)
        at++;
    if (at == (int)(sizeof metadata->pair / sizeof *metadata->pair))
        return vd_error_set(err, VD_USAGE, "no room for metadata \"%s\"", key);
    char *copy = vd_strdup(value), *name = at == metadata->count ? vd_strdup(key) : NULL;
    if (!copy || (at == metadata->count && !name)) {
        vd_free(copy);
        vd_free(name);
        return vd_error_memory(err, "metadata");
    }
    if (name) {
        metadata->pair[at].key = name;
        metadata->count++;
    } else {
        vd_free(metadata->pair[at].value);
    }
    metadata->pair[at].value = copy;
    return VD_OK;
}

const char *vd_metadata_get(const vd_metadata *metadata, const char *key)
{
    for (int i = 0; i < metadata->count; i++)
        if (strcmp(metadata->pair[i].key, key) == 0)
            return metadata->pair[i].value;
    return NULL;
}

void vd_metadata_clear(vd_metadata *metadata)
{
    for (int i = 0; i < metadata->count; i++) {
        vd_free(metadata->pair[i].key);
        vd_free(metadata->pair[i].value);
    }
    metadata->count = 0;
}

static vd_status required(const vd_safetensors *file, const char *key, const char **value,
                          vd_error *err)
{
    *value = vd_safetensors_metadata(file, key);
    if (*value)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%s: no \"%s\" in its metadata, so it is no model; `visdial info` says "
                        "what it is, `visdial import` makes a model of a checkpoint's weights",
                        vd_safetensors_path(file), key);
}

// The configuration, of parts that go together.
static vd_status read_settings(const char *json, const char *path, vd_task task, vd_config *config,
                               vd_error *err)
{
    vd_error why;
    vd_caption_config caption;
    vd_status status = task == VD_TASK_CAPTION
                           ? vd_settings_read(vd_caption_settings, json, path, &caption, err)
                           : vd_settings_read(vd_config_settings, json, path, config, err);
    if (status == VD_OK && task == VD_TASK_CAPTION)
        *config = vd_config_of_captioner(&caption);
    if (status == VD_OK && vd_encoder_check(config, &why) != VD_OK)
        status = vd_error_set(err, VD_FORMAT, "%s: %s", path, why.text);
    return status;
}

static vd_status read_task(const vd_safetensors *file, vd_task *task, vd_error *err)
{
    const char *name = vd_safetensors_metadata(file, "task");
    *task = name && strcmp(name, vd_task_names[VD_TASK_CAPTION]) == 0 ? VD_TASK_CAPTION
                                                                      : VD_TASK_DIALOG;
    if (!name || strcmp(name, vd_task_names[*task]) == 0)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%s: its \"task\" is \"%.40s\"; this version knows dialog and caption",
                        vd_safetensors_path(file), name);
}

vd_status vd_model_file_settings(const vd_safetensors *file, vd_config *config, vd_vocab **vocab,
                                 vd_error *err)
{
    const char *settings, *words, *path = vd_safetensors_path(file);
    vd_task task;
    *vocab = NULL;
    *config = (vd_config){0};
    vd_status status = required(file, "config", &settings, err);
    if (status == VD_OK)
        status = required(file, "vocab", &words, err);
    if (status == VD_OK)
        status = read_task(file, &task, err);
    if (status == VD_OK)
        status = read_settings(settings, path, task, config, err);
    if (status == VD_OK)
        status = vd_vocab_from_json(words, strlen(words), path, vocab, err);
    if (status == VD_OK && vd_vocab_size(*vocab) != config->vocab) {
        status = vd_error_set(err, VD_MISMATCH,
                              "%s: its configuration says %d words, its vocabulary has %d", path,
                              config->vocab, vd_vocab_size(*vocab));
        vd_vocab_free(*vocab);
        *vocab = NULL;
    }
    return status;
}

static bool is_among(const char *name, const char *const *prefixes)
{
    for (; prefixes && *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
            return true;
    return false;
}

vd_status vd_model_file_fits(const vd_safetensors *file, const vd_layout *layout,
                             const char *const *also, vd_error *err)
{
    for (size_t i = 0; i < vd_safetensors_count(file); i++) {
        const char *name = vd_safetensors_at(file, i)->name;
        if (!vd_layout_find(layout, name) && !is_among(name, also))
            return vd_error_set(err, VD_MISMATCH,
                                "%s: tensor %s does not belong to the network its configuration "
                                "describes",
                                vd_safetensors_path(file), name);
    }
    vd_status status = VD_OK;
    for (int k = 0; status == VD_OK && k < layout->count; k++) {
        const vd_parameter *p = &layout->parameter[k];
        const vd_tensor *tensor;
        status = vd_safetensors_require(file, p->name, p->dims, p->shape, &tensor, err);
    }
    return status == VD_OK ? vd_safetensors_finite(file, err) : status;
}

vd_status vd_model_file_weights(const vd_safetensors *file, const vd_layout *layout, vd_real *block,
                                vd_error *err)
{
    for (int k = 0; k < layout->count; k++) {
        const vd_parameter *p = &layout->parameter[k];
        const vd_tensor *tensor;
        vd_status status = vd_safetensors_require(file, p->name, p->dims, p->shape, &tensor, err);
        if (status == VD_OK)
            status = vd_tensor_floats(tensor, 0, p->elements, block + p->offset, err);
        if (status != VD_OK)
            return status;
    }
    return VD_OK;
}

vd_status vd_model_file_create(const char *path, const vd_config *config, const vd_vocab *vocab,
                               const vd_metadata *extra, const vd_layout *layout, vd_dtype dtype,
                               vd_safetensors_writer **out, vd_error *err)
{
    char *settings = NULL, *words = NULL;
    const void *values;
    const vd_setting *rows = vd_config_rows(config, &values);
    *out = NULL;
    vd_status status = vd_settings_write(rows, values, "configuration", &settings, err);
    if (status == VD_OK && !(words = vd_vocab_to_json(vocab)))
        status = vd_error_memory(err, "the vocabulary");
    if (status == VD_OK)
        status = vd_safetensors_create(path, out, err);
    if (status == VD_OK) {
        vd_safetensors_put_metadata(*out, "config", settings, err);
        vd_safetensors_put_metadata(*out, "vocab", words, err);
        if (config->task != VD_TASK_DIALOG)
            vd_safetensors_put_metadata(*out, "task", vd_task_names[config->task], err);
        for (int i = 0; i < extra->count; i++)
            vd_safetensors_put_metadata(*out, extra->pair[i].key, extra->pair[i].value, err);
        for (const vd_parameter *p = layout->parameter; p < layout->parameter + layout->count; p++)
            vd_safetensors_declare(*out, p->name, dtype, p->dims, p->shape, err);
    }
    vd_free(settings);
    vd_free(words);
    return status;
}

void vd_model_file_append(vd_safetensors_writer *writer, const vd_layout *layout,
                          const vd_real *block, vd_error *err)
{
    for (const vd_parameter *p = layout->parameter; p < layout->parameter + layout->count; p++)
        vd_safetensors_append_floats(writer, block + p->offset, p->elements, err);
}

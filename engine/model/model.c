#include "engine/model/model.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/model/file.h"
#include "engine/model/model_private.h"
#include "engine/networks/positions.h"

// Every training run writes the same names: what lies beside a checkpoint gets its directory
// ("run1/best").
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path, *start = file;
    char *checkpoint = vd_format("%.*scheckpoint.safetensors", (int)(file - path), path);
    if (!checkpoint)
        return NULL;
    if (slash && access(checkpoint, F_OK) == 0)
        for (start = slash; start > path && start[-1] != '/';)
            start--;
    vd_free(checkpoint);
    const char *dot = strrchr(file, '.'), *end = dot && dot != file ? dot : file + strlen(file);
    return vd_strndup(start, (size_t)(end - start));
}

static void unpack(vd_model *model)
{
    vd_matrix *list[VD_PACKED];
    int count = vd_weights_packed(&model->config, &model->weights, list);
    for (int i = 0; i < count; i++)
        if (list[i]->packed)
            model->be->unpack(list[i]);
}

static void release_weights(vd_model *model)
{
    if (!model->be)
        return;
    unpack(model);
    model->be->memory->release(model->block);
    model->be->memory->release(model->vectors);
    model->be->memory->release(model->sinusoid);
}

// Where the file has all parameters one after the other, in the layout's order and one number
// format, as vd_model_file_create writes them; NULL when it has them in another way.
static const void *weights_in_file(const vd_model *model, vd_dtype *type)
{
    const unsigned char *first = NULL;
    for (int k = 0; k < model->layout.count; k++) {
        const vd_parameter *p = &model->layout.parameter[k];
        const vd_tensor *tensor = vd_safetensors_find(model->file, p->name);
        if (!tensor || (k > 0 && tensor->dtype != *type))
            return NULL;
        *type = tensor->dtype;
        if (k == 0)
            first = tensor->data;
        if ((const unsigned char *)tensor->data != first + p->in_file * vd_dtype_size(*type))
            return NULL;
    }
    return (uintptr_t)first % vd_dtype_size(*type) == 0 ? first : NULL;
}

// The vectors of 16-bit weights, as floats.
static vd_status read_vectors(const vd_model *model, vd_real **out, vd_error *err)
{
    vd_real *vectors = model->be->memory->allocate(model->layout.vectors * sizeof *vectors);
    vd_status status = vectors ? VD_OK : vd_error_memory(err, "the model");
    for (int k = 0; status == VD_OK && k < model->layout.count; k++) {
        const vd_parameter *p = &model->layout.parameter[k];
        if (!p->matrix)
            status = vd_tensor_floats(vd_safetensors_find(model->file, p->name), 0, p->elements,
                                      vectors + p->vector, err);
    }
    *out = vectors;
    return status;
}

// Binds the weights to where the file has them; *found false when it has them otherwise.
static vd_status use_in_file(vd_model *model, bool *found, vd_error *err)
{
    vd_dtype type = VD_F32;
    const void *block = weights_in_file(model, &type);
    vd_status status = VD_OK;
    *found = block && (type == VD_F32 || type == VD_F16 || type == VD_BF16);
    if (*found && type != VD_F32)
        status = read_vectors(model, &model->vectors, err);
    if (*found)
        vd_weights_bind(&model->config, &model->layout, block, type, model->vectors,
                        &model->weights);
    return status;
}

// Says what the file is for.
static vd_status check_task(const vd_model *model, const char *path, vd_task task, vd_error *err)
{
    if (model->config.task == task)
        return VD_OK;
    if (task == VD_TASK_DIALOG)
        return vd_error_set(err, VD_MISMATCH,
                            "%s: it is a captioner, which describes pictures (`visdial caption "
                            "--model FILE`; `visdial eval --task caption` measures and compares "
                            "captioners) and answers no questions; expected a dialog model",
                            path);
    return vd_error_set(err, VD_MISMATCH,
                        "%s: it is a dialog model, which answers questions (`visdial ask --model "
                        "FILE`); expected a captioner, as `visdial train --task caption` makes it",
                        path);
}

// The weights of the file in memory of the backend: model->block.
static vd_status copy_weights(vd_model *model, vd_error *err)
{
    const vd_memory *memory = model->be->memory;
    size_t n = model->layout.elements;
    vd_real *host = model->block = memory->allocate(n * sizeof *host);
    if (model->block && !memory->host)
        host = vd_alloc(n, sizeof *host);
    vd_status status = host ? vd_model_file_weights(model->file, &model->layout, host, err)
                            : vd_error_memory(err, "the model");
    if (status == VD_OK && host != model->block) {
        memory->upload(model->block, host, n * sizeof *host);
        status = vd_backend_status(model->be, err);
    }
    if (host != model->block)
        vd_free(host);
    vd_weights_layout(&model->config, &model->layout, model->block, &model->weights);
    return status;
}

static vd_status bind_weights(vd_model *model, vd_error *err)
{
    bool in_file = false;
    vd_status status = vd_words_table(model->be, model->config.embed, &model->sinusoid, err);
    if (status == VD_OK && model->be->memory->host)
        status = use_in_file(model, &in_file, err);
    return status == VD_OK && !in_file ? copy_weights(model, err) : status;
}

vd_status vd_model_use(vd_model *model, const vd_backend *be, vd_error *err)
{
    vd_model before = *model;
    model->be = be;
    model->block = model->vectors = model->sinusoid = NULL;
    model->weights = (vd_weights){0};
    vd_status status = bind_weights(model, err);
    if (status == VD_OK) {
        release_weights(&before);
        return VD_OK;
    }
    release_weights(model);
    *model = before;
    return status;
}

vd_status vd_model_pack(vd_model *model, vd_error *err)
{
    vd_matrix *list[VD_PACKED];
    int count = vd_weights_packed(&model->config, &model->weights, list);
    for (int i = 0; i < count && model->be->pack; i++) {
        if (!list[i]->packed)
            model->be->pack(list[i]);
        if (!list[i]->packed)
            return vd_error_memory(err, "a copy of the weights");
    }
    return VD_OK;
}

const vd_backend *vd_model_backend(const vd_model *model)
{
    return model->be;
}

// task: the one that it must have; NULL: any.
static vd_status load(const char *path, const vd_task *task, vd_model **out, vd_error *err)
{
    // A checkpoint holds the optimiser's state too, a public file the embedding twice.
    static const char *const also[] = {"optimiser.", "decoder.word_embed.weight",
                                       "disc_decoder.word_embed.weight",
                                       "gen_decoder.word_embed.weight", NULL};
    *out = NULL;
    vd_model *model = vd_alloc(1, sizeof *model);
    if (!model)
        return vd_error_memory(err, "the model");
    vd_status status = vd_safetensors_open(path, &model->file, err);
    if (status == VD_OK)
        status = vd_model_file_settings(model->file, &model->config, &model->vocab, err);
    if (status == VD_OK && task)
        status = check_task(model, path, *task, err);
    if (status == VD_OK) {
        vd_weights_layout(&model->config, &model->layout, NULL, NULL);
        status = vd_model_file_fits(model->file, &model->layout, also, err);
    }
    if (status == VD_OK && !(model->name = name_of(path)))
        status = vd_error_memory(err, "the model");
    if (status == VD_OK)
        status = vd_model_use(model, vd_backend_cpu(), err);
    if (status == VD_OK)
        *out = model;
    else
        vd_model_free(model);
    return status;
}

vd_status vd_model_load(const char *path, vd_model **out, vd_error *err)
{
    return vd_model_load_for(VD_TASK_DIALOG, path, out, err);
}

vd_status vd_model_load_for(vd_task task, const char *path, vd_model **out, vd_error *err)
{
    return load(path, &task, out, err);
}

vd_status vd_model_load_any(const char *path, vd_model **out, vd_error *err)
{
    return load(path, NULL, out, err);
}

void vd_model_free(vd_model *model)
{
    if (!model)
        return;
    release_weights(model); // before the file they may be read from
    vd_safetensors_close(model->file);
    vd_vocab_free(model->vocab);
    vd_free(model->name);
    vd_free(model);
}

const vd_config *vd_model_config(const vd_model *model)
{
    return &model->config;
}

const vd_vocab *vd_model_vocab(const vd_model *model)
{
    return model->vocab;
}

const char *vd_model_name(const vd_model *model)
{
    return model->name;
}

const char *vd_model_path(const vd_model *model)
{
    return vd_safetensors_path(model->file);
}

const char *vd_model_metadata(const vd_model *model, const char *key)
{
    return vd_safetensors_metadata(model->file, key);
}

size_t vd_model_parameters(const vd_model *model)
{
    return model->layout.numbers;
}

void vd_model_pass(const vd_model *model, vd_arena *arena, vd_pass *pass)
{
    if ((arena->device.first || arena->zeroed.first) && arena->memory != model->be->memory)
        vd_arena_free(arena); // the model has moved
    arena->memory = model->be->memory;
    *pass = (vd_pass){.be = model->be,
                      .config = &model->config,
                      .w = &model->weights,
                      .sinusoid = model->sinusoid,
                      .arena = arena};
}

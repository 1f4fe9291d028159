#include "engine/model/model.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "engine/networks/batch.h"
#include "engine/backend/cpu/fp16_weights.h"
#include "engine/backend/cpu/packed_weights.h"
#include "engine/model/file.h"
#include "engine/model/model_private.h"
#include "engine/networks/mvan/pass.h"

static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return vd_strndup(base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

static void release_weights(vd_model *model)
{
    if (!model->be)
        return;
    vd_cpu_panels_free(model->panels);
    model->panels = NULL;
    if (!model->in_file && !vd_cpu_halves_free(model->block))
        model->be->memory->release(model->block);
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
        if ((const unsigned char *)tensor->data != first + p->offset * vd_dtype_size(*type))
            return NULL;
    }
    return first;
}

// Everything but the matrices that products and embeddings read
// (engine/backend/cpu/fp16_weights.h).
static vd_status fill_small(const vd_model *model, vd_real *block, vd_error *err)
{
    vd_status status = VD_OK;
    for (int k = 0; status == VD_OK && k < model->layout.count; k++) {
        const vd_parameter *p = &model->layout.parameter[k];
        if (p->dims == 1 || p->shape[0] <= VD_MAX_HISTORY)
            status = vd_tensor_floats(vd_safetensors_find(model->file, p->name), 0, p->elements,
                                      block + p->offset, err);
    }
    return status;
}

// The weights where the file has them, when the processor can read them there; *block NULL when
// not.
static vd_status use_in_file(const vd_model *model, vd_real **block, bool *in_file, vd_error *err)
{
    vd_dtype type = VD_F32;
    const void *data = weights_in_file(model, &type);
    *block = NULL;
    *in_file = data && type == VD_F32 && (uintptr_t)data % sizeof **block == 0;
    if (*in_file)
        *block = (vd_real *)(uintptr_t)data; // nobody writes the weights of a model
    else if (data && (type == VD_F16 || type == VD_BF16))
        *block = vd_cpu_halves_new(data, type, model->layout.elements);
    if (!*block || *in_file)
        return VD_OK;
    vd_status status = fill_small(model, *block, err);
    if (status != VD_OK)
        vd_cpu_halves_free(*block);
    return status;
}

static vd_status load(vd_model *model, const char *path, vd_error *err)
{
    // A checkpoint holds the optimiser's state too, a public file the embedding twice.
    static const char *const also[] = {"optimiser.", "decoder.word_embed.weight",
                                       "disc_decoder.word_embed.weight",
                                       "gen_decoder.word_embed.weight", NULL};
    vd_status status = vd_safetensors_open(path, &model->file, err);
    if (status == VD_OK)
        status = vd_model_file_settings(model->file, &model->config, &model->vocab, err);
    if (status != VD_OK)
        return status;
    const vd_config *c = &model->config;
    vd_weights_layout(c, &model->layout, NULL, NULL);
    status = vd_model_file_fits(model->file, &model->layout, also, err);
    if (status != VD_OK)
        return status;
    model->name = name_of(path);
    if (!model->name)
        return vd_error_memory(err, "the model");
    return vd_model_use(model, vd_backend_cpu(), err);
}

// Weights and positions as the file has them.
static vd_status read_weights(const vd_model *model, vd_real *block, vd_real *sinusoid,
                              vd_error *err)
{
    vd_words_sinusoid(sinusoid, VD_MAX_HISTORY, model->config.embed); // also to try them out
    return vd_model_file_weights(model->file, &model->layout, block, err);
}

static size_t sinusoid_elements(const vd_model *model)
{
    return (size_t)VD_MAX_HISTORY * (size_t)model->config.embed;
}

static vd_status upload_weights(const vd_model *model, const vd_backend *be, vd_real *block,
                                vd_real *sinusoid, vd_error *err)
{
    vd_real *host = vd_alloc(model->layout.elements, sizeof *host);
    vd_real *positions = vd_alloc(sinusoid_elements(model), sizeof *positions);
    vd_status status = host && positions ? read_weights(model, host, positions, err)
                                         : vd_error_memory(err, "the model");
    if (status == VD_OK) {
        be->memory->upload(block, host, model->layout.elements * sizeof *host);
        be->memory->upload(sinusoid, positions, sinusoid_elements(model) * sizeof *positions);
        status = vd_backend_status(be, err);
    }
    vd_free(host);
    vd_free(positions);
    return status;
}

// Weights and positions in memory of the backend.
static vd_status copy_weights(const vd_model *model, const vd_backend *be, vd_real **block,
                              vd_real *sinusoid, vd_error *err)
{
    *block = be->memory->allocate(model->layout.elements * sizeof **block);
    if (!*block)
        return vd_error_memory(err, "the model");
    vd_status status = be->memory == &vd_memory_host
                           ? read_weights(model, *block, sinusoid, err)
                           : upload_weights(model, be, *block, sinusoid, err);
    if (status != VD_OK)
        be->memory->release(*block);
    return status;
}

vd_status vd_model_use(vd_model *model, const vd_backend *be, vd_error *err)
{
    vd_real *block = NULL;
    bool in_file = false;
    vd_real *sinusoid = be->memory->allocate(sinusoid_elements(model) * sizeof *sinusoid);
    vd_status status = sinusoid ? VD_OK : vd_error_memory(err, "the model");
    if (status == VD_OK && be->memory == &vd_memory_host)
        status = use_in_file(model, &block, &in_file, err);
    if (status == VD_OK && block)
        vd_words_sinusoid(sinusoid, VD_MAX_HISTORY, model->config.embed);
    else if (status == VD_OK)
        status = copy_weights(model, be, &block, sinusoid, err);
    if (status != VD_OK) {
        be->memory->release(sinusoid);
        return status;
    }
    release_weights(model);
    model->be = be;
    model->block = block;
    model->in_file = in_file;
    model->sinusoid = sinusoid;
    vd_weights_layout(&model->config, &model->layout, block, &model->weights);
    return VD_OK;
}

static bool is_wanted(const vd_weights *weights, const vd_parameter *p, const vd_real *w,
                      vd_pack what)
{
    if (p->dims != 2)
        return false;
    if (what == VD_PACK_ALL)
        return p->shape[0] > VD_MAX_HISTORY && w != weights->embed;
    return w == weights->view_2.w ||
           (w >= weights->region_fused.w && w < weights->region_fused.b); // Wy, Wg
}

vd_status vd_model_pack(vd_model *model, vd_pack what, vd_error *err)
{
    vd_matrix matrix[VD_MAX_PARAMETERS];
    int count = 0;
    if (model->be->memory != &vd_memory_host || (model->panels && model->packed >= what))
        return VD_OK;
    for (int k = 0; k < model->layout.count; k++) {
        const vd_parameter *p = &model->layout.parameter[k];
        const vd_real *w = model->block + p->offset;
        if (is_wanted(&model->weights, p, w, what))
            matrix[count++] = (vd_matrix){w, (int)p->shape[0], (int)p->shape[1]};
    }
    vd_cpu_panels_free(model->panels);
    model->packed = what;
    return vd_cpu_panels_new(matrix, count, &model->panels, err);
}

const vd_backend *vd_model_backend(const vd_model *model)
{
    return model->be;
}

vd_status vd_model_load(const char *path, vd_model **out, vd_error *err)
{
    *out = NULL;
    vd_model *model = vd_alloc(1, sizeof *model);
    if (!model)
        return vd_error_memory(err, "the model");
    vd_status status = load(model, path, err);
    if (status != VD_OK) {
        vd_model_free(model);
        return status;
    }
    *out = model;
    return VD_OK;
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
    return model->layout.elements;
}

void vd_model_pass(const vd_model *model, vd_arena *arena, vd_pass *pass)
{
    if (arena->device.first && arena->memory != model->be->memory)
        vd_arena_free(arena); // the model has moved
    arena->memory = model->be->memory;
    *pass = (vd_pass){.be = model->be,
                      .config = &model->config,
                      .w = &model->weights,
                      .sinusoid = model->sinusoid,
                      .arena = arena};
}

#include "engine/model.h"

#include <string.h>

#include "engine/alloc.h"
#include "engine/batch.h"
#include "engine/model_file.h"
#include "engine/model_private.h"
#include "engine/pass.h"

static const char *const gate_names[] = {"leaky-relu", "sigmoid", "elu"};
static const char *const positions_names[] = {"none", "sinusoidal", "learned", "as-printed"};

const char *vd_gate_name(vd_gate gate)
{
    return gate_names[gate];
}

const char *vd_positions_name(vd_positions positions)
{
    return positions_names[positions];
}

static bool parse(const char *name, const char *const *names, int count, int *out)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = i;
            return true;
        }
    return false;
}

bool vd_gate_parse(const char *name, vd_gate *out)
{
    int i;
    if (!parse(name, gate_names, sizeof gate_names / sizeof *gate_names, &i))
        return false;
    *out = (vd_gate)i;
    return true;
}

bool vd_positions_parse(const char *name, vd_positions *out)
{
    int i;
    if (!parse(name, positions_names, sizeof positions_names / sizeof *positions_names, &i))
        return false;
    *out = (vd_positions)i;
    return true;
}

static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return vd_strndup(base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

static vd_status load(vd_model *model, const char *path, vd_error *err)
{
    // A checkpoint holds the optimiser's state too, a public file the embedding twice.
    static const char *const also[] = {"optimiser.", "decoder.word_embed.weight", NULL};
    vd_status status = vd_safetensors_open(path, &model->file, err);
    if (status == VD_OK)
        status = vd_model_file_settings(model->file, &model->config, &model->vocab, err);
    if (status != VD_OK)
        return status;
    const vd_config *c = &model->config;
    vd_weights_layout(c, VD_DISCRIMINATIVE, &model->layout, NULL, NULL);
    status = vd_model_file_fits(model->file, &model->layout, also, err);
    if (status != VD_OK)
        return status;
    model->block = vd_alloc(model->layout.elements, sizeof *model->block);
    model->sinusoid = vd_alloc((size_t)VD_MAX_HISTORY * (size_t)c->embed, sizeof *model->sinusoid);
    model->name = name_of(path);
    if (!model->block || !model->sinusoid || !model->name)
        return vd_error_memory(err, "the model");
    vd_weights_layout(c, VD_DISCRIMINATIVE, &model->layout, model->block, &model->weights);
    if (c->positions == VD_POSITIONS_SINUSOIDAL)
        vd_words_sinusoid(model->sinusoid, VD_MAX_HISTORY, c->embed);
    return vd_model_file_weights(model->file, &model->layout, model->block, err);
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
    vd_safetensors_close(model->file);
    vd_vocab_free(model->vocab);
    vd_free(model->block);
    vd_free(model->sinusoid);
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
    *pass = (vd_pass){.be = vd_backend_cpu(),
                      .config = &model->config,
                      .w = &model->weights,
                      .sinusoid = model->sinusoid,
                      .arena = arena};
}

// The file of an extractor: the weights of the detector and of the classifier, and what its world
// looks like.
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/extract/extractor.h"

enum { ROWS = VD_OUTLIER_ROWS, COLUMNS = VD_OUTLIER_COLUMNS, FEATURES = VD_OUTLIER_FEATURES };

// The tensors of a vd_outlier.
static const struct {
    const char *name;
    vd_dtype type;
    int dims;
    size_t shape[3], offset;
} part[] = {
    {"outlier.table", VD_F16, 3, {ROWS, COLUMNS, 3}, offsetof(vd_outlier, table)},
    {"outlier.mean", VD_F32, 1, {FEATURES}, offsetof(vd_outlier, mean)},
    {"outlier.precision", VD_F32, 2, {FEATURES, FEATURES}, offsetof(vd_outlier, precision)},
};
enum { PARTS = sizeof part / sizeof *part };

// ---- reading ------------------------------------------------------------------------------------

static vd_status read_tensor(const vd_safetensors *file, const char *name, int dims,
                             const size_t *shape, vd_real *out, vd_error *err)
{
    const vd_tensor *tensor;
    vd_status status = vd_safetensors_require(file, name, dims, shape, &tensor, err);
    if (!status)
        status = vd_tensor_floats(tensor, 0, tensor->elements, out, err);
    for (size_t i = 0; !status && i < tensor->elements; i++)
        if (!isfinite(out[i]))
            status = vd_error_set(err, VD_FORMAT,
                                  "%s: tensor %s, element %zu: not a finite number; the file is "
                                  "damaged, make it again with `visdial extract --train`",
                                  vd_safetensors_path(file), name, i);
    return status;
}

static vd_status read_weights(const vd_safetensors *file, vd_convnet *net, vd_error *err)
{
    vd_status status = VD_OK;
    for (int l = 0; l < net->layers && !status; l++) {
        const vd_conv *conv = &net->layer[l];
        char name[64];
        size_t kernel = (size_t)conv->kernel, outs = (size_t)conv->out;
        size_t shape[4] = {kernel, kernel, (size_t)conv->in, outs};
        snprintf(name, sizeof name, "%s.weight", conv->name);
        status = read_tensor(file, name, 4, shape, net->param + net->weight[l], err);
        snprintf(name, sizeof name, "%s.bias", conv->name);
        if (!status)
            status = read_tensor(file, name, 1, &outs, net->param + net->bias[l], err);
    }
    return status;
}

// Files of earlier programs have none of it.
static vd_status read_outlier(const vd_safetensors *file, vd_outlier *outlier, vd_error *err)
{
    if (!vd_safetensors_find(file, "outlier.table"))
        return VD_OK;
    for (int i = 0; i < PARTS; i++) {
        vd_status status = read_tensor(file, part[i].name, part[i].dims, part[i].shape,
                                       (float *)((char *)outlier + part[i].offset), err);
        if (status)
            return status;
    }
    outlier->known = true;
    return VD_OK;
}

// Files of earlier programs have none.
static vd_status read_classifier(const vd_safetensors *file, vd_extractor *extractor, vd_error *err)
{
    if (!vd_safetensors_find(file, "near.stem.weight"))
        return VD_OK;
    vd_status status =
        vd_convnet_new(vd_classify_layer, vd_classify_layers, VD_CLASSIFY_INPUTS, VD_CLASSIFY_SIDE,
                       VD_CLASSIFY_SIDE, &extractor->classifier, err);
    if (!status)
        status = read_weights(file, extractor->classifier, err);
    return status ? status
                  : vd_conv_pass_new(extractor->classifier, 2, false, &extractor->near, err);
}

vd_status vd_extractor_load(const char *path, vd_extractor **out, vd_error *err)
{
    *out = NULL;
    vd_safetensors *file = NULL;
    vd_extractor *extractor = vd_alloc(1, sizeof *extractor);
    if (!extractor)
        return vd_error_memory(err, "an extractor");
    vd_status status = vd_safetensors_open(path, &file, err);
    if (!status)
        status = vd_convnet_new(vd_detect_layer, vd_detect_layers, VD_DETECT_INPUTS,
                                VD_DETECT_WIDTH, VD_DETECT_HEIGHT, &extractor->net, err);
    if (!status)
        status = read_weights(file, extractor->net, err);
    if (!status)
        status = read_classifier(file, extractor, err);
    if (!status)
        status = read_outlier(file, &extractor->outlier, err);
    if (!status)
        status = vd_conv_pass_new(extractor->net, 1, false, &extractor->pass, err);
    vd_safetensors_close(file);
    if (status == VD_OK)
        *out = extractor;
    else
        vd_extractor_free(extractor);
    return status;
}

void vd_extractor_free(vd_extractor *extractor)
{
    if (!extractor)
        return;
    vd_conv_pass_free(extractor->near);
    vd_convnet_free(extractor->classifier);
    vd_conv_pass_free(extractor->pass);
    vd_convnet_free(extractor->net);
    vd_free(extractor);
}

// ---- writing ------------------------------------------------------------------------------------

// Declares a tensor, or appends its numbers.
static void put(vd_safetensors_writer *writer, bool numbers, const char *name, vd_dtype type,
                int dims, const size_t *shape, const float *data, vd_error *err)
{
    size_t count = 1;
    for (int i = 0; i < dims; i++)
        count *= shape[i];
    if (numbers)
        vd_safetensors_append_floats(writer, data, count, err);
    else
        vd_safetensors_declare(writer, name, type, dims, shape, err);
}

static void put_net(vd_safetensors_writer *writer, bool numbers, const vd_convnet *net,
                    vd_error *err)
{
    for (int i = 0; net && i < 2 * net->layers; i++) {
        const vd_conv *conv = &net->layer[i / 2];
        bool bias = i % 2;
        char name[64];
        size_t kernel = (size_t)conv->kernel, outs = (size_t)conv->out;
        const size_t weight[4] = {kernel, kernel, (size_t)conv->in, outs};
        snprintf(name, sizeof name, "%s.%s", conv->name, bias ? "bias" : "weight");
        put(writer, numbers, name, VD_F16, bias ? 1 : 4, bias ? &outs : weight,
            net->param + (bias ? net->bias : net->weight)[i / 2], err);
    }
}

vd_status vd_extractor_write(const vd_convnet *net, const vd_convnet *classifier,
                             const vd_outlier *outlier, const char *path, vd_error *err)
{
    vd_safetensors_writer *writer;
    vd_status status = vd_safetensors_create(path, &writer, err);
    if (status)
        return status;
    vd_safetensors_put_metadata(writer, "format", "visdial extractor 1", err);
    for (int numbers = 0; numbers < 2; numbers++) {
        put_net(writer, numbers, net, err);
        put_net(writer, numbers, classifier, err);
        for (int i = 0; outlier && i < PARTS; i++)
            put(writer, numbers, part[i].name, part[i].type, part[i].dims, part[i].shape,
                (const float *)((const char *)outlier + part[i].offset), err);
    }
    return vd_safetensors_commit(writer, err);
}

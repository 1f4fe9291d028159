#include "engine/model/import.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/safetensors.h"
#include "engine/model/file.h"
#include "engine/networks/encoder.h"

static const char EMBEDDING[] = "encoder.word_embed.weight";
// The same numbers again: decoders share the encoder's embedding.
static const char *const copies[] = {"decoder.word_embed.weight", "disc_decoder.word_embed.weight",
                                     "gen_decoder.word_embed.weight", NULL};

static bool has(const vd_safetensors *file, const char *name)
{
    return vd_safetensors_find(file, name) != NULL;
}

static vd_status find_decoders(const vd_safetensors *file, vd_decoders *out, vd_error *err)
{
    bool ranks = has(file, "disc_decoder.option_rnn.rnn_model.weight_ih_l0");
    bool says = has(file, "gen_decoder.answer_rnn.weight_ih_l0");
    if (ranks && says)
        *out = VD_BOTH;
    else if (has(file, "decoder.option_rnn.rnn_model.weight_ih_l0"))
        *out = VD_DISCRIMINATIVE;
    else if (has(file, "decoder.answer_rnn.weight_ih_l0"))
        *out = VD_GENERATIVE;
    else
        return vd_error_set(err, VD_MISMATCH,
                            "%s: no decoder in it: expected decoder.option_rnn.rnn_model..., "
                            "decoder.answer_rnn..., or disc_decoder... and gen_decoder... both",
                            vd_safetensors_path(file));
    return VD_OK;
}

static int whole(size_t size)
{
    return size > INT_MAX ? -1 : (int)size;
}

// The network whose public weights these are.
static vd_status find_network(const vd_safetensors *file, vd_config *config, vd_error *err)
{
    char expected[200] = "";
    for (int n = 0; n < VD_NETWORKS; n++) {
        config->network = (vd_network_kind)n;
        const char *mark = vd_encoder_of(config)->published.mark;
        if (mark && has(file, mark))
            return VD_OK;
        if (mark)
            vd_append(expected, sizeof expected, "%s%s (%s)", *expected ? " or " : "",
                      vd_network_names[n], mark);
    }
    return vd_error_set(err, VD_MISMATCH, "%s: no known encoder: expected the tensors of %s",
                        vd_safetensors_path(file), expected);
}

// V, E and H, D are in the shapes of the first and the last layer.
static vd_status find_sizes(const vd_safetensors *file, vd_config *config, vd_error *err)
{
    static const size_t any[2] = {0, 0};
    const vd_tensor *words, *last;
    vd_status status = vd_safetensors_require(file, EMBEDDING, 2, any, &words, err);
    if (status == VD_OK)
        status = find_network(file, config, err);
    const vd_public_weights *n = &vd_encoder_of(config)->published;
    if (status == VD_OK)
        status = vd_safetensors_require(file, n->last, 2, any, &last, err);
    if (status != VD_OK)
        return status;
    size_t states = (size_t)n->states, hidden = last->shape[0], wide = last->shape[1];
    if (hidden == 0 || hidden > wide / states || wide - states * hidden == 0)
        return vd_error_set(err, VD_MISMATCH, "%s: %s is %zu x %zu; expected H x (D + %d H)",
                            vd_safetensors_path(file), n->last, hidden, wide, n->states);
    config->vocab = whole(words->shape[0]);
    config->embed = whole(words->shape[1]);
    config->hidden = whole(hidden);
    config->region = whole(wide - states * hidden);
    if (config->decoders == VD_DISCRIMINATIVE)
        config->boundaries = n->ranking;
    return vd_settings_check(vd_config_settings, config, err);
}

static vd_status check_copies(const vd_safetensors *file, const vd_config *config, vd_error *err)
{
    size_t shape[2] = {(size_t)config->vocab, (size_t)config->embed}, width = shape[1];
    const vd_tensor *words = vd_safetensors_find(file, EMBEDDING), *copy;
    float *rows = vd_alloc(2 * width, sizeof *rows);
    vd_status status = rows ? VD_OK : vd_error_memory(err, "word vectors");
    for (size_t i = 0; copies[i] && status == VD_OK; i++) {
        if (!has(file, copies[i]))
            continue;
        status = vd_safetensors_require(file, copies[i], 2, shape, &copy, err);
        for (size_t row = 0; row < shape[0] && status == VD_OK; row++) {
            status = vd_tensor_floats(words, row * width, width, rows, err);
            if (status == VD_OK)
                status = vd_tensor_floats(copy, row * width, width, rows + width, err);
            if (status == VD_OK && memcmp(rows, rows + width, width * sizeof *rows) != 0)
                status = vd_error_set(err, VD_MISMATCH,
                                      "%s: row %zu of %s differs from %s; the network shares one "
                                      "embedding",
                                      vd_safetensors_path(file), row, copies[i], EMBEDDING);
        }
    }
    vd_free(rows);
    return status;
}

static vd_status check_weights(const vd_safetensors *file, const vd_vocab *vocab, vd_config *config,
                               vd_layout *layout, vd_error *err)
{
    vd_status status = find_decoders(file, &config->decoders, err);
    if (status == VD_OK)
        status = find_sizes(file, config, err);
    if (status == VD_OK && vd_vocab_size(vocab) != config->vocab)
        status =
            vd_error_set(err, VD_MISMATCH,
                         "%s: %s has %d rows, the vocabulary %d words (the four special ones "
                         "included); name the word counts it was trained with",
                         vd_safetensors_path(file), EMBEDDING, config->vocab, vd_vocab_size(vocab));
    if (status == VD_OK) {
        vd_weights_layout(config, layout, NULL, NULL);
        status = vd_model_file_fits(file, layout, copies, err);
    }
    return status == VD_OK ? check_copies(file, config, err) : status;
}

static vd_status check_halves(const vd_safetensors *file, const vd_layout *layout,
                              const vd_real *block, vd_error *err)
{
    for (int k = 0; k < layout->count; k++) {
        const vd_parameter *p = &layout->parameter[k];
        for (size_t i = 0; i < p->elements; i++)
            if (!isfinite(vd_half_to_float(vd_half_from_float((float)block[p->offset + i]))))
                return vd_error_set(err, VD_FORMAT,
                                    "%.300s: tensor %.100s, element %zu is %g, which half "
                                    "precision cannot hold; import without --half",
                                    vd_safetensors_path(file), p->name, i,
                                    (double)block[p->offset + i]);
    }
    return VD_OK;
}

static vd_status write_model(const vd_safetensors *file, const vd_vocab *vocab,
                             const vd_config *config, const vd_layout *layout,
                             const vd_import_options *options, const char *out, vd_error *err)
{
    vd_metadata extra = {0};
    vd_safetensors_writer *writer;
    vd_real *block = vd_alloc(layout->elements, sizeof *block);
    vd_status status =
        block ? vd_model_file_weights(file, layout, block, err) : vd_error_memory(err, "the model");
    if (status == VD_OK && options->half)
        status = check_halves(file, layout, block, err);
    if (status == VD_OK && options->pool)
        status = vd_metadata_set(&extra, "pool", options->pool, err);
    if (status == VD_OK)
        status = vd_model_file_create(out, config, vocab, &extra, layout,
                                      options->half ? VD_F16 : VD_F32, &writer, err);
    if (status == VD_OK) {
        vd_model_file_append(writer, layout, block, err);
        status = vd_safetensors_commit(writer, err);
    }
    vd_metadata_clear(&extra);
    vd_free(block);
    return status;
}

vd_status vd_model_import(const char *weights, const vd_vocab *vocab,
                          const vd_import_options *options, const char *out, vd_error *err)
{
    vd_safetensors *file = NULL;
    vd_layout *layout = vd_alloc(1, sizeof *layout);
    vd_config config = {.gate = options->gate, .positions = options->positions};
    vd_status status =
        layout ? vd_safetensors_open(weights, &file, err) : vd_error_memory(err, "the model");
    if (status == VD_OK)
        status = check_weights(file, vocab, &config, layout, err);
    if (status == VD_OK)
        status = write_model(file, vocab, &config, layout, options, out, err);
    vd_safetensors_close(file);
    vd_free(layout);
    return status;
}

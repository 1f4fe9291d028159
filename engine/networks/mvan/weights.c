#include "engine/networks/mvan/weights.h"

#include <stdio.h>

#include "engine/networks/batch.h"
#include "engine/networks/captions/captions.h"
#include "engine/networks/decoders/conv.h"
#include "engine/networks/decoders/lstm_attention.h"
#include "engine/networks/encoder.h"

typedef struct vd_binder {
    vd_layout *layout;
    vd_parameters at;
} vd_binder;

// columns 0: a vector of `rows`.
static vd_matrix bind_matrix(vd_binder *b, vd_start start, const char *prefix, const char *suffix,
                             size_t rows, size_t columns)
{
    return vd_parameters_matrix(
        &b->at, vd_layout_add(b->layout, prefix, suffix, true, rows, columns, start));
}

static vd_real *bind_vector(vd_binder *b, vd_start start, const char *prefix, const char *suffix,
                            size_t rows, size_t columns)
{
    return vd_parameters_vector(
        &b->at, vd_layout_add(b->layout, prefix, suffix, false, rows, columns, start));
}

static vd_linear_weights bind_linear(vd_binder *b, const char *name, size_t in, size_t out)
{
    vd_linear_weights l;
    l.w = bind_matrix(b, vd_start_kaiming(in), name, ".weight", out, in);
    l.b = bind_vector(b, vd_start_zero(), name, ".bias", out, 0);
    return l;
}

static vd_score_weights bind_score(vd_binder *b, const char *name, size_t in)
{
    vd_score_weights s;
    s.w = bind_vector(b, vd_start_kaiming(in), name, ".weight", 1, in);
    s.b = bind_vector(b, vd_start_zero(), name, ".bias", 1, 0);
    return s;
}

static vd_gated_weights bind_gated(vd_binder *b, const char *name, size_t in, size_t out)
{
    vd_gated_weights g;
    g.w = bind_matrix(b, vd_start_kaiming(in), name, ".1.embed_y.0.weight", out, in);
    bind_matrix(b, vd_start_kaiming(in), name, ".1.embed_g.0.weight", out, in);
    vd_layout_join(b->layout);
    g.w.rows *= 2;
    g.b = bind_vector(b, vd_start_zero(), name, ".1.embed_y.0.bias", out, 0);
    bind_vector(b, vd_start_zero(), name, ".1.embed_g.0.bias", out, 0);
    vd_layout_join(b->layout);
    return g;
}

static vd_lstm_weights bind_lstm(vd_binder *b, const char *name, int layer, int backward, size_t in,
                                 size_t hidden)
{
    char suffix[32];
    vd_lstm_weights l;
    const char *direction = backward ? "_reverse" : "";
    const vd_start start = vd_start_recurrent(hidden);
    snprintf(suffix, sizeof suffix, ".weight_ih_l%d%s", layer, direction);
    l.w_ih = bind_matrix(b, start, name, suffix, 4 * hidden, in);
    snprintf(suffix, sizeof suffix, ".weight_hh_l%d%s", layer, direction);
    l.w_hh = bind_matrix(b, start, name, suffix, 4 * hidden, hidden);
    snprintf(suffix, sizeof suffix, ".bias_ih_l%d%s", layer, direction);
    l.b_ih = bind_vector(b, start, name, suffix, 4 * hidden, 0);
    snprintf(suffix, sizeof suffix, ".bias_hh_l%d%s", layer, direction);
    l.b_hh = bind_vector(b, start, name, suffix, 4 * hidden, 0);
    return l;
}

static void bind_two_way(vd_binder *b, const char *name, size_t in, size_t hidden,
                         vd_lstm_weights lstm[VD_LAYERS][2])
{
    for (int layer = 0; layer < VD_LAYERS; layer++)
        for (int d = 0; d < 2; d++)
            lstm[layer][d] = bind_lstm(b, name, layer, d, layer ? 2 * hidden : in, hidden);
}

static void bind_one_way(vd_binder *b, const char *name, size_t in, size_t hidden,
                         vd_lstm_weights lstm[VD_LAYERS])
{
    for (int layer = 0; layer < VD_LAYERS; layer++)
        lstm[layer] = bind_lstm(b, name, layer, 0, layer ? hidden : in, hidden);
}

// One decoder is called "decoder", of two each has a name of its own.
static void bind_decoders(vd_binder *b, const vd_config *config, vd_weights *w)
{
    bool two = config->decoders == VD_BOTH;
    size_t v = (size_t)config->vocab, e = (size_t)config->embed, h = (size_t)config->hidden;
    const char *said = two ? "gen_decoder.lstm_to_words" : "decoder.lstm_to_words";
    if (vd_has_discriminative(config->decoders))
        bind_one_way(b, two ? "disc_decoder.option_rnn.rnn_model" : "decoder.option_rnn.rnn_model",
                     e, h, w->candidate);
    if (!vd_has_generative(config->decoders))
        return;
    if (config->answer != VD_ANSWER_CONV)
        bind_one_way(b, two ? "gen_decoder.answer_rnn" : "decoder.answer_rnn",
                     config->copy == VD_COPY_COPYNET ? e + h : e, h, w->answer);
    w->words.w = bind_matrix(b, vd_start_recurrent(h), said, ".weight", v, h);
    w->words.b = bind_vector(b, vd_start_recurrent(h), said, ".bias", v, 0);
    if (config->answer == VD_ANSWER_ATTENTION)
        vd_lstm_attention_declare(config, b->layout);
    if (config->answer == VD_ANSWER_CONV)
        vd_conv_declare(config, b->layout);
}

static void bind_mvan(vd_binder *b, const vd_config *config, vd_weights *w)
{
    size_t e = (size_t)config->embed, h = (size_t)config->hidden, d = (size_t)config->region;
    if (vd_is_fused(config)) {
        bind_two_way(b, "encoder.ques_rnn.rnn_model", e, h, w->question);
        bind_two_way(b, "encoder.hist_rnn.rnn_model", e, h, w->history);
    } else
        vd_encoder_mvan.declare(config, b->layout);

    w->context_question = bind_gated(b, "encoder.context_matching.ques_emb", 2 * h, h);
    w->context_history = bind_gated(b, "encoder.context_matching.hist_emb", 2 * h, h);
    w->context_score = bind_score(b, "encoder.context_matching.att.1", h);
    w->context_gate = bind_linear(b, "encoder.context_matching.context_gate.0", 4 * h, 4 * h);

    w->topic_question = bind_gated(b, "encoder.topic_aggregation.ques_emb", 2 * h, h);
    w->topic_history = bind_gated(b, "encoder.topic_aggregation.hist_emb", 2 * h, h);
    w->topic_gate = bind_linear(b, "encoder.topic_aggregation.topic_gate.0", 2 * e, 2 * e);

    w->view_image = bind_gated(b, "encoder.modality_fusion_topic.img_nonlinear_emb", d, h);
    w->view_topic = bind_gated(b, "encoder.modality_fusion_topic.topic_emb", 2 * e, h);
    w->view_1 = bind_linear(b, "encoder.modality_fusion_topic.MLP.1", d + 2 * e, d + 2 * e);
    w->view_2 = bind_linear(b, "encoder.modality_fusion_topic.MLP.3", d + 2 * e, d);

    w->region_fused = bind_gated(b, "encoder.modality_fusion_context.mf_emb", d + 4 * h, h);
    w->region_context =
        bind_gated(b, "encoder.modality_fusion_context.context_matching_emb", 4 * h, h);
    w->region_score = bind_score(b, "encoder.modality_fusion_context.att.1", h);
    w->fusion = bind_linear(b, "encoder.fusion.1", d + 4 * h, h);
}

static void bind_all(vd_binder *b, const vd_config *config, vd_weights *w)
{
    size_t v = (size_t)config->vocab, e = (size_t)config->embed;
    *w = (vd_weights){.all = b->at};
    b->layout->count = 0;
    b->layout->elements = b->layout->numbers = b->layout->vectors = 0;
    if (config->task == VD_TASK_CAPTION) {
        vd_caption_layout(&config->caption, b->layout);
        return;
    }
    w->embed = bind_matrix(b, (vd_start){VD_START_WORDS, 1}, "encoder.word_embed", ".weight", v, e);
    if (config->positions == VD_POSITIONS_LEARNED)
        w->position =
            bind_vector(b, vd_start_zero(), "encoder.position", ".weight", VD_MAX_HISTORY, e);
    if (config->network == VD_NETWORK_MVAN)
        bind_mvan(b, config, w);
    else
        vd_encoder_of(config)->declare(config, b->layout);
    bind_decoders(b, config, w);
}

void vd_weights_layout(const vd_config *config, vd_layout *layout, vd_real *block,
                       vd_weights *weights)
{
    vd_weights unbound;
    vd_binder b = {layout, {layout, (unsigned char *)block, VD_REAL_TYPE, NULL, false}};
    bind_all(&b, config, weights ? weights : &unbound);
}

void vd_weights_bind(const vd_config *config, vd_layout *layout, const void *block, vd_dtype type,
                     vd_real *vectors, vd_weights *weights)
{
    // Weights are read.
    vd_binder b = {layout, {layout, (unsigned char *)(uintptr_t)block, type, vectors, true}};
    bind_all(&b, config, weights);
}

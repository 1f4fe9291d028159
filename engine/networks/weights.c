#include "engine/networks/weights.h"

#include <assert.h>
#include <math.h>

#include "engine/networks/batch.h"
#include "engine/networks/captions/captions.h"
#include "engine/networks/decoders/source.h"
#include "engine/networks/encoder.h"

typedef struct vd_binder {
    vd_layout *layout;
    vd_parameters at;
} vd_binder;

// Of the layout's parameter `index`. Its functions declare in this order: weight, bias; of a
// direction w_ih, w_hh, b_ih, b_hh.
static vd_matrix matrix_at(const vd_binder *b, int index)
{
    assert(index < b->layout->count);
    return vd_parameters_matrix(&b->at, &b->layout->parameter[index]);
}

static vd_real *vector_at(const vd_binder *b, int index)
{
    assert(index < b->layout->count);
    return vd_parameters_vector(&b->at, &b->layout->parameter[index]);
}

static vd_linear_weights bind_linear(vd_binder *b, const char *name, int in, int out)
{
    int at = b->layout->count;
    vd_layout_linear(b->layout, name, in, out, true);
    return (vd_linear_weights){matrix_at(b, at), vector_at(b, at + 1)};
}

static vd_score_weights bind_score(vd_binder *b, const char *name, int in)
{
    int at = b->layout->count;
    vd_layout_score(b->layout, name, in, true);
    return (vd_score_weights){vector_at(b, at), vector_at(b, at + 1)};
}

// Two layers, whose numbers lie one after the other: first the matrices, then the vectors.
static vd_gated_weights bind_gated(vd_binder *b, const char *name, int in, int out)
{
    int at = b->layout->count;
    const vd_init start = vd_init_kaiming(in);
    vd_layout_add(b->layout, name, ".1.embed_y.0.weight", true, out, in, start);
    vd_layout_add(b->layout, name, ".1.embed_g.0.weight", true, out, in, start);
    vd_layout_no_gap(b->layout);
    vd_layout_add(b->layout, name, ".1.embed_y.0.bias", false, out, 0, vd_init_zero());
    vd_layout_add(b->layout, name, ".1.embed_g.0.bias", false, out, 0, vd_init_zero());
    vd_layout_no_gap(b->layout);
    vd_gated_weights g = {matrix_at(b, at), vector_at(b, at + 2)};
    g.w.rows *= 2;
    return g;
}

// lstm: (VD_LAYERS, directions)
static void bind_lstm(vd_binder *b, const char *name, int directions, int in, int hidden,
                      vd_lstm_weights *lstm)
{
    int at = b->layout->count;
    vd_layout_recurrent(b->layout, name, 4, VD_LAYERS, directions, in, hidden);
    for (int i = 0; i < VD_LAYERS * directions; i++, at += 4)
        lstm[i] = (vd_lstm_weights){matrix_at(b, at), matrix_at(b, at + 1), vector_at(b, at + 2),
                                    vector_at(b, at + 3)};
}

// One decoder is called "decoder", of two each has a name of its own.
static void bind_decoders(vd_binder *b, const vd_config *config, vd_weights *w)
{
    bool two = config->decoders == VD_BOTH;
    int v = config->vocab, e = config->embed, h = config->hidden, at;
    const char *said = two ? "gen_decoder.lstm_to_words" : "decoder.lstm_to_words";
    if (vd_has_discriminative(config->decoders))
        bind_lstm(b, two ? "disc_decoder.option_rnn.rnn_model" : "decoder.option_rnn.rnn_model", 1,
                  e, h, w->candidate);
    if (!vd_has_generative(config->decoders))
        return;
    if (config->answer == VD_ANSWER_SEQUENCE) { // the word vectors are read and predicted
        w->words = (vd_linear_weights){.w = w->embed};
        return;
    }
    if (config->answer != VD_ANSWER_CONV)
        bind_lstm(b, two ? "gen_decoder.answer_rnn" : "decoder.answer_rnn", 1,
                  config->copy == VD_COPY_COPYNET ? e + h : e, h, w->answer);
    at = b->layout->count;
    vd_layout_add(b->layout, said, ".weight", true, v, h, vd_init_recurrent(h));
    vd_layout_add(b->layout, said, ".bias", false, v, 0, vd_init_recurrent(h));
    w->words = (vd_linear_weights){matrix_at(b, at), vector_at(b, at + 1)};
    if (config->answer == VD_ANSWER_ATTENTION)
        vd_lstm_attention_declare(config, b->layout);
    if (config->answer == VD_ANSWER_CONV)
        vd_conv_declare(config, b->layout);
}

static void bind_mvan(vd_binder *b, const vd_config *config, vd_weights *w)
{
    int e = config->embed, h = config->hidden, d = config->region;
    if (vd_is_fused(config)) {
        bind_lstm(b, "encoder.ques_rnn.rnn_model", 2, e, h, &w->question[0][0]);
        bind_lstm(b, "encoder.hist_rnn.rnn_model", 2, e, h, &w->history[0][0]);
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
    int e = config->embed;
    *w = (vd_weights){.all = b->at};
    b->layout->count = 0;
    b->layout->elements = b->layout->numbers = b->layout->vectors = 0;
    if (config->task == VD_TASK_CAPTION) {
        vd_caption_layout(&config->caption, b->layout);
        return;
    }
    vd_layout_add(b->layout, "encoder.word_embed", ".weight", true, config->vocab, e,
                  (vd_init){VD_INIT_WORDS, vd_goes_on(config) ? 1 / sqrt((double)e) : 1});
    w->embed = matrix_at(b, 0);
    if (config->positions == VD_POSITIONS_LEARNED) {
        vd_layout_add(b->layout, "encoder.position", ".weight", false, VD_MAX_HISTORY, e,
                      vd_init_zero());
        w->position = vector_at(b, 1);
    }
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

int vd_weights_packed(const vd_config *config, vd_weights *weights, vd_matrix *list[VD_PACKED])
{
    list[0] = &weights->view_2.w;
    list[1] = &weights->region_fused.w;
    return config->task == VD_TASK_DIALOG && vd_is_fused(config) ? VD_PACKED : 0;
}

// What kind of network a model is, and how large.
#ifndef VD_NETWORK_CONFIG_H
#define VD_NETWORK_CONFIG_H

#include <stdbool.h>

#include "engine/backend/backend.h"
#include "engine/base/settings.h"
#include "engine/networks/captions/config.h"

// What is added to word embeddings before the LSTMs (Vaswani et al. 2017, 3.5).
typedef enum vd_positions {
    VD_POSITIONS_NONE,
    VD_POSITIONS_SINUSOIDAL,
    VD_POSITIONS_LEARNED,
    // The table indexed by the row of the batch instead of the word, added in place: what the
    // thesis' printed code does. Only as an ablation.
    VD_POSITIONS_AS_PRINTED
} vd_positions;

// Which decoders turn the encoder's vector into answers.
typedef enum vd_decoders { VD_DISCRIMINATIVE, VD_GENERATIVE, VD_BOTH } vd_decoders;

// How a generative decoder generates an answer.
typedef enum vd_answer_decoder {
    VD_ANSWER_LSTM,
    VD_ANSWER_ATTENTION, // an LSTM with attention over the words of the dialog
                         // (decoders/lstm_attention.c)
    VD_ANSWER_CONV,      // convolutions that do (decoders/conv.c)
    VD_ANSWER_SEQUENCE   // the network itself goes on with its text (vd_encoder.answer)
} vd_answer_decoder;

// Whether the words of the dialog may be copied into answers (decoders/copying.h).
typedef enum vd_copy {
    VD_COPY_NONE,
    VD_COPY_POINTER, // a gate between generating and copying (See et al. 2017)
    VD_COPY_COPYNET  // one softmax over both (Gu et al. 2016)
} vd_copy;

// The encoders there are, beside the fused MVAN (engine/networks/encoder.h).
#define VD_ENCODERS(X)                                                                             \
    X(LF, lf, "lf")                                                                                \
    X(LF_ATT, lf_att, "lf-att")                                                                    \
    X(LF_BU, lf_bu, "lf-bu")                                                                       \
    X(HRE, hre, "hre")                                                                             \
    X(HREA, hrea, "hrea")                                                                          \
    X(MN, mn, "mn")                                                                                \
    X(MN_ATT, mn_att, "mn-att")                                                                    \
    X(MAC, mac, "mac")                                                                             \
    X(AMEM, amem, "amem")                                                                          \
    X(MEMN2N, memn2n, "memn2n")                                                                    \
    X(DMN, dmn, "dmn")                                                                             \
    X(BIDAF, bidaf, "bidaf")                                                                       \
    X(DCN, dcn, "dcn")                                                                             \
    X(DIALOG_TRANSFORMER, dialog_transformer, "dialog-transformer")

typedef enum vd_network_kind {
    VD_NETWORK_MVAN,
#define X(code, symbol, name) VD_NETWORK_##code,
    VD_ENCODERS(X)
#undef X
        VD_NETWORKS
} vd_network_kind;

// How networks on the tape read questions and entries (engine/networks/text/).
#define VD_TEXTS(X)                                                                                \
    X(LSTM, lstm, "lstm")                                                                          \
    X(BILSTM, bilstm, "bilstm")                                                                    \
    X(GRU, gru, "gru")                                                                             \
    X(CONVS2S, convs2s, "convs2s")                                                                 \
    X(GLDR, gldr, "gldr")                                                                          \
    X(QANET, qanet, "qanet")                                                                       \
    X(TRANSFORMER, transformer, "transformer")

typedef enum vd_text_choice {
    VD_TEXT_OWN, // the network's own
#define X(code, symbol, name) VD_TEXT_##code,
    VD_TEXTS(X)
#undef X
        VD_TEXT_ENCODERS
} vd_text_choice;

// How an attention scores a query and a key (engine/networks/parts.h).
typedef enum vd_score {
    VD_SCORE_OWN, // the network's own
    VD_SCORE_ADDITIVE,
    VD_SCORE_DOT,
    VD_SCORE_SCALED,
    VD_SCORE_BILINEAR,
    VD_SCORE_PRODUCT,
    VD_SCORE_MULTI_HEAD, // has values of its own (Vaswani et al. 2017); not of words
    VD_SCORE_SUM         // the question cancels in the softmax (Das et al. 2017, released code)
} vd_score;

// Which of a memory's tables are one (Sukhbaatar et al. 2015, 2.2).
typedef enum vd_tying {
    VD_TYING_ADJACENT,  // what a hop gives is what the next compares with
    VD_TYING_LAYER_WISE // all hops have the same
} vd_tying;

// What region features are divided by.
typedef enum vd_image_norm {
    VD_IMAGE_CHANNELS, // each channel's norm over the picture's regions
    VD_IMAGE_REGION,   // each region's norm
    VD_IMAGE_RAW       // nothing
} vd_image_norm;

// Whether answers are read with the tokens where they begin and end.
typedef enum vd_boundaries { VD_BOUNDARIES_BOTH, VD_BOUNDARIES_NONE } vd_boundaries;

// What a model is for: to answer questions about a picture, or to describe it.
typedef enum vd_task { VD_TASK_DIALOG, VD_TASK_CAPTION } vd_task;

typedef struct vd_config {
    // Of a captioner only sizes are set beside `caption`: vocab, embed and hidden (both d), region.
    vd_task task;
    vd_caption_config caption;
    vd_network_kind network;
    int vocab;  // V
    int embed;  // E
    int hidden; // H
    int region; // D
    vd_gate gate;
    vd_positions positions;
    vd_decoders decoders;
    // Of networks on the tape:
    vd_text_choice text;
    int heads; // 0: the network's own
    vd_score score_rounds, score_regions;
    int hops; // 0: the network's own
    vd_tying tying;
    vd_image_norm image;
    vd_boundaries boundaries;
    // Of generative decoders:
    vd_answer_decoder answer;
    vd_score score_words;
    vd_copy copy;
} vd_config;

extern const vd_setting vd_config_settings[]; // the rows of vd_config (networks/settings.h)
// The configuration of a captioner.
vd_config vd_config_of_captioner(const vd_caption_config *caption);
// The rows of the task's settings, and the struct that they are of.
const vd_setting *vd_config_rows(const vd_config *config, const void **settings);

extern const char *const vd_task_names[];
extern const char *const vd_gate_names[];
extern const char *const vd_positions_names[];
extern const char *const vd_decoders_names[];
extern const char *const vd_network_names[];
extern const char *const vd_text_names[];
extern const char *const vd_score_names[];
extern const char *const vd_tying_names[];
extern const char *const vd_image_names[];
extern const char *const vd_boundaries_names[];
extern const char *const vd_answer_names[];
extern const char *const vd_copy_names[];

static inline bool vd_has_discriminative(vd_decoders decoders)
{
    return decoders != VD_GENERATIVE;
}

static inline bool vd_has_generative(vd_decoders decoders)
{
    return decoders != VD_DISCRIMINATIVE;
}

// Whether a decoder attends to the words of the dialog.
static inline bool vd_attends(const vd_config *config)
{
    return vd_has_generative(config->decoders) &&
           (config->answer == VD_ANSWER_ATTENTION || config->answer == VD_ANSWER_CONV);
}

// Whether answers go on with the network's own text.
static inline bool vd_goes_on(const vd_config *config)
{
    return vd_has_generative(config->decoders) && config->answer == VD_ANSWER_SEQUENCE;
}

// Numbers of the encoder's vector e: H; where no decoder reads it, those of a word, E.
static inline bool vd_encodes(const vd_config *config)
{
    return vd_has_discriminative(config->decoders) || config->answer != VD_ANSWER_SEQUENCE;
}

static inline int vd_encoded_width(const vd_config *config)
{
    return vd_encodes(config) ? config->hidden : config->embed;
}

// Hops, steps or layers, `own` of them where the setting leaves it to the network.
static inline int vd_hops(const vd_config *config, int own)
{
    return config->hops ? config->hops : own;
}

// Whether words of the dialog are copied into answers.
static inline bool vd_copies(const vd_config *config)
{
    return vd_attends(config) && config->copy != VD_COPY_NONE;
}

const char *vd_decoders_name(vd_decoders decoders); // "discriminative", "generative", "both"
bool vd_decoders_parse(const char *name, vd_decoders *out); // these, "disc" and "gen"

#endif

// What kind of network a model is, and how large.
#ifndef VD_NETWORK_CONFIG_H
#define VD_NETWORK_CONFIG_H

#include <stdbool.h>

#include "engine/backend/backend.h"
#include "engine/base/settings.h"

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

typedef struct vd_config {
    int vocab;  // V
    int embed;  // E
    int hidden; // H
    int region; // D
    vd_gate gate;
    vd_positions positions;
    vd_decoders decoders;
} vd_config;

extern const vd_setting vd_config_settings[]; // the rows of vd_config (networks/settings.h)
extern const char *const vd_gate_names[], *const vd_positions_names[], *const vd_decoders_names[];

static inline bool vd_has_discriminative(vd_decoders decoders)
{
    return decoders != VD_GENERATIVE;
}

static inline bool vd_has_generative(vd_decoders decoders)
{
    return decoders != VD_DISCRIMINATIVE;
}

const char *vd_decoders_name(vd_decoders decoders); // "discriminative", "generative", "both"
bool vd_decoders_parse(const char *name, vd_decoders *out); // these, "disc" and "gen"

#endif

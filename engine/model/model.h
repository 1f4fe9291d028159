// A model: configuration, vocabulary, weights. Shared by any number of dialogs and threads; only
// before them it is moved or packed.
//
// On the CPU the weights are read where the file is mapped, float32 or 16 bits as it has them, if
// it has them in the order this program writes; a 16-bit file answers to the last bit as a float32
// copy of its numbers would, with half the memory (but see vd_model_pack). The file may be replaced
// (renamed over) while a model uses it, but not shortened.
//
// File: one safetensors file. Tensors carry the public code's state_dict names; "__metadata__"
// carries "config" (JSON object, the fields below), "vocab" (JSON array) and "pool" (name of the
// file with the answers to rank, beside the model).
#ifndef VD_MODEL_H
#define VD_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/error.h"
#include "engine/model/vocab.h"

typedef enum vd_gate { VD_GATE_LEAKY_RELU, VD_GATE_SIGMOID, VD_GATE_ELU } vd_gate;

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

static inline bool vd_has_discriminative(vd_decoders decoders)
{
    return decoders != VD_GENERATIVE;
}

static inline bool vd_has_generative(vd_decoders decoders)
{
    return decoders != VD_DISCRIMINATIVE;
}

typedef struct vd_model vd_model;

vd_status vd_model_load(const char *path, vd_model **out, vd_error *err);
void vd_model_free(vd_model *model);

// Moves the weights to another backend (engine/backend/backend.h), before any pool or dialog is
// made of the model: they would keep answering from memory that is gone. On failure it stays where
// it was. A loaded model is on the CPU.
typedef struct vd_backend vd_backend;
vd_status vd_model_use(vd_model *model, const vd_backend *backend, vd_error *err);
const vd_backend *vd_model_backend(const vd_model *model);

// Copies weights in the order in which the CPU's products read them: before a conversation those
// that a question multiplies with every region (38 MB at the public size), before many dialogs are
// scored all but the embedding (as many bytes as float32 weights take). They stay until the model
// moves or is freed.
typedef enum vd_pack { VD_PACK_REGIONS, VD_PACK_ALL } vd_pack;
vd_status vd_model_pack(vd_model *model, vd_pack what, vd_error *err);

// Reads all weights of the file: VD_FORMAT when one is not a finite number, which says which.
// Loading does not, for a large file would have to be read first; a question then finds what came
// of it.
vd_status vd_model_check(const vd_model *model, vd_error *err);

const vd_config *vd_model_config(const vd_model *model);
const vd_vocab *vd_model_vocab(const vd_model *model);
const char *vd_model_name(const vd_model *model); // file name without directory and suffix
const char *vd_model_path(const vd_model *model);
// Any other metadata string of the file ("pool", "trained_on", ...); NULL when absent.
const char *vd_model_metadata(const vd_model *model, const char *key);
size_t vd_model_parameters(const vd_model *model); // how many numbers

const char *vd_gate_name(vd_gate gate); // "leaky-relu", "sigmoid", "elu"
bool vd_gate_parse(const char *name, vd_gate *out);
const char *vd_positions_name(vd_positions positions); // "none", "sinusoidal", "learned", ...
bool vd_positions_parse(const char *name, vd_positions *out);
const char *vd_decoders_name(vd_decoders decoders); // "discriminative", "generative", "both"
bool vd_decoders_parse(const char *name, vd_decoders *out); // these, "disc" and "gen"

#endif

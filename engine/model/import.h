// A model file from weights that were trained elsewhere: a state_dict of the public PyTorch code as
// safetensors (engine/model/checkpoint.py makes one of a .pth file), and the words it was trained
// with.
#ifndef VD_MODEL_IMPORT_H
#define VD_MODEL_IMPORT_H

#include <stdbool.h>

#include "engine/model/model.h"

typedef struct vd_import_options {
    vd_gate gate;           // the weights do not say it; the public code has leaky-relu
    vd_positions positions; // none in the public code
    const char *pool;       // name of the file with the answers to rank; NULL: none
    bool half;              // store half precision
} vd_import_options;

// Sizes and decoders follow from the tensors. Every name and shape is checked, and the decoders'
// copies of the embedding must equal it; a mismatch names the tensor. out may not be weights.
vd_status vd_model_import(const char *weights, const vd_vocab *vocab,
                          const vd_import_options *options, const char *out, vd_error *err);

#endif

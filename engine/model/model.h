// A model: configuration, vocabulary, weights. Shared by any number of dialogs and threads; move or
// pack the weights before making these.
//
// On the CPU the weights are read where the file is mapped, float32 or 16 bits as it has them, if
// it has them in the order this program writes; a 16-bit file gives the same answers to the bit as
// a float32 copy of its numbers, with half the memory (but see vd_model_pack). The file may be
// replaced (renamed over) while a model uses it, but not shortened.
//
// File: one safetensors file. Tensors carry the public code's state_dict names; "__metadata__"
// carries "task" (of captioners "caption"), "config" (JSON object), "vocab" (JSON array) and "pool"
// (name of the file with the answers to rank, beside the model).
#ifndef VD_MODEL_H
#define VD_MODEL_H

#include <stddef.h>

#include "engine/base/error.h"
#include "engine/model/vocab.h"
#include "engine/networks/config.h"

typedef struct vd_model vd_model;

// A weight that is not a finite number is VD_FORMAT, because it might go unnoticed in the results.
// A file of another task than dialogs is VD_MISMATCH, which says what it is for.
vd_status vd_model_load(const char *path, vd_model **out, vd_error *err);
vd_status vd_model_load_for(vd_task task, const char *path, vd_model **out, vd_error *err);
// Of any task: for inspection, or to start training from.
vd_status vd_model_load_any(const char *path, vd_model **out, vd_error *err);
void vd_model_free(vd_model *model);

// Moves the weights to another backend (engine/backend/backend.h), before any pool or dialog is
// made with the model: they would keep using memory that is gone. On failure the weights stay where
// they are. A loaded model is on the CPU.
vd_status vd_model_use(vd_model *model, const vd_backend *backend, vd_error *err);
const vd_backend *vd_model_backend(const vd_model *model);

// Before a conversation: copies the weights that a question multiplies with every region (38 MB at
// the public size) in the order in which the CPU's products read them. The copies stay until the
// model moves or is freed.
vd_status vd_model_pack(vd_model *model, vd_error *err);

const vd_config *vd_model_config(const vd_model *model);
const vd_vocab *vd_model_vocab(const vd_model *model);
// File name without suffix; with its directory, "run1/best", where training wrote the file.
const char *vd_model_name(const vd_model *model);
const char *vd_model_path(const vd_model *model);
// Any other metadata string of the file ("pool", "trained_on", ...); NULL when absent.
const char *vd_model_metadata(const vd_model *model, const char *key);
size_t vd_model_parameters(const vd_model *model); // how many numbers

#endif

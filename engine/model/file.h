// Weights to and from files: what models and checkpoints share.
#ifndef VD_MODEL_FILE_H
#define VD_MODEL_FILE_H

#include "engine/base/safetensors.h"
#include "engine/model/vocab.h"
#include "engine/networks/weights.h"

// Key, value pairs; owned strings.
typedef struct vd_metadata {
    int count;
    struct {
        char *key, *value;
    } pair[32];
} vd_metadata;

// Copies both, replacing a value that is there. VD_USAGE: all pairs are in use.
vd_status vd_metadata_set(vd_metadata *metadata, const char *key, const char *value, vd_error *err);
const char *vd_metadata_get(const vd_metadata *metadata, const char *key); // NULL when absent
void vd_metadata_clear(vd_metadata *metadata);

// Configuration and vocabulary of a model file or checkpoint, checked against each other.
vd_status vd_model_file_settings(const vd_safetensors *file, vd_config *config, vd_vocab **vocab,
                                 vd_error *err);
// Whether the file holds every parameter of the layout, in its shape; a tensor that does not belong
// is refused, except those in `also` (a NULL-terminated list of prefixes); so is a number that is
// not finite. Call it before memory is allocated for the layout, because its sizes come from the
// file.
vd_status vd_model_file_fits(const vd_safetensors *file, const vd_layout *layout,
                             const char *const *also, vd_error *err);
// Reads every parameter of a layout that matches the file.
vd_status vd_model_file_weights(const vd_safetensors *file, const vd_layout *layout, vd_real *block,
                                vd_error *err);

// Starts writing: metadata (config, vocab, extra) put, parameters declared with dtype. A failure of
// the writer comes out when it commits.
vd_status vd_model_file_create(const char *path, const vd_config *config, const vd_vocab *vocab,
                               const vd_metadata *extra, const vd_layout *layout, vd_dtype dtype,
                               vd_safetensors_writer **out, vd_error *err);
void vd_model_file_append(vd_safetensors_writer *writer, const vd_layout *layout,
                          const vd_real *block, vd_error *err);

#endif

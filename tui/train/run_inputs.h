// The input files of a run, kept beside its checkpoint for --resume. DIR/inputs.json has
//
//   {"data": PATH, "features": PATH, "train-dense": PATH, "scenes": PATH, "val": PATH,
//    "val-features": PATH, "val-dense": PATH, "val-scenes": PATH, "val-limit": N,
//    "missing": "skip" or "refuse", "split": NAME, "val-split": NAME}
//
// with absolute paths; inputs that the run does not use are left out.
#ifndef VD_RUN_INPUTS_H
#define VD_RUN_INPUTS_H

#include "engine/base/json_tree.h"
#include "features/dialogs/dataset.h"
#include "tui/base/options.h"

#define VD_RUN_INPUTS "inputs.json"

typedef struct vd_run_inputs {
    const char *data, *features, *train_dense, *val, *val_features, *val_dense, // NULL: none
        *scenes, *val_scenes;
    const char *split, *val_split; // of captions, NULL: not named
    size_t val_limit;              // 0: all
    vd_missing missing;
} vd_run_inputs;

vd_status vd_run_inputs_write(const vd_run_inputs *inputs, const char *path, vd_error *err);
// For a resumed run: inputs whose options were not given are taken from the file, which may be
// missing if data and features were given. Texts are borrowed from *kept (vd_json_value_free).
// given NULL: all are taken from the file.
vd_status vd_run_inputs_read(vd_run_inputs *inputs, const vd_arguments *given, const char *path,
                             vd_json_value **kept, vd_error *err);

#endif

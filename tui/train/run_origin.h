// What a run was started with, in the metadata of its trainer; a resumed run must have the same.
#ifndef VD_RUN_ORIGIN_H
#define VD_RUN_ORIGIN_H

#include "engine/train/trainer.h"
#include "tui/train/run_data.h"
#include "tui/train/run_inputs.h"

typedef struct vd_run_origin {
    const vd_run_data *data;
    const vd_run_inputs *in;
    const char *from, *glove; // as given; NULL: not given
} vd_run_origin;

// The name of a file without its directory; NULL of none.
const char *vd_run_base(const char *path);
// Compares data, features, whether there is relevance, and the first weights where they are given
// again. VD_MISMATCH says what differs. path: of the run, for messages.
vd_status vd_run_origin_check(const vd_run_origin *origin, const vd_trainer *trainer,
                              const char *path, vd_error *err);

#endif

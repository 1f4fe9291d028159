// What is to be settled before the first step of a run: its directory, locked by one process; what
// it was started with, in the metadata of its trainer, which a resumed run must have, too; the
// processes that train together.
#ifndef VD_RUN_START_H
#define VD_RUN_START_H

#include "engine/train/trainer.h"
#include "tui/train/run_data.h"
#include "tui/train/run_inputs.h"

// Locks the directory until *hold is closed; VD_USAGE if another process holds the lock. If the
// file system has no locks or the directory cannot be opened, *hold is -1.
vd_status vd_run_directory_hold(const char *out, int *hold, vd_error *err);
// Creates it if needed and locks it; VD_USAGE if it contains a run already.
vd_status vd_run_directory_make(const char *out, int *hold, vd_error *err);

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

// Checks that all processes of the group train the same network on the same dialogs with the same
// settings from the same step; VD_MISMATCH in each of them says what differs. Dialogs, settings and
// first weights are compared by the trainer's metadata.
vd_status vd_run_agree(const vd_group *group, const vd_trainer *trainer, vd_error *err);
// Divides the machine's processors among its processes.
vd_status vd_run_share_processors(const vd_group *group, vd_error *err);

#endif

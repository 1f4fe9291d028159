// Processes that train together.
#ifndef VD_RUN_GROUP_H
#define VD_RUN_GROUP_H

#include "engine/train/trainer.h"

// Checks that all processes of the group train the same network on the same dialogs with the same
// settings from the same step; VD_MISMATCH in each of them says what differs. Dialogs, settings and
// first weights are compared by the trainer's metadata.
vd_status vd_run_agree(const vd_group *group, const vd_trainer *trainer, vd_error *err);
// Divides the machine's processors among its processes.
vd_status vd_run_share_processors(const vd_group *group, vd_error *err);

#endif

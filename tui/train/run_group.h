// Processes that train together.
#ifndef VD_RUN_GROUP_H
#define VD_RUN_GROUP_H

#include "engine/train/trainer.h"

// All processes of the group must train the same network on the same dialogs with the same settings
// from the same step: VD_MISMATCH in each of them says what differs. What a trainer keeps in its
// metadata tells its dialogs, settings and first weights.
vd_status vd_run_agree(const vd_group *group, const vd_trainer *trainer, vd_error *err);
// Divides the machine's processors among the processes that are on it.
vd_status vd_run_share_processors(const vd_group *group, vd_error *err);

#endif

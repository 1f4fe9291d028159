// Processes that train one model together (engine/train/group.h).
#ifndef VD_TOGETHER_H
#define VD_TOGETHER_H

#include "engine/train/group.h"
#include "engine/train/trainer.h"

// All processes of the group must train the same network on the same dialogs with the same settings
// from the same step: VD_MISMATCH in each of them says what differs. What a trainer keeps in its
// metadata tells its dialogs, settings and first weights. NULL group: VD_OK.
vd_status vd_together_agree(const vd_group *group, const vd_trainer *trainer, vd_error *err);

#endif

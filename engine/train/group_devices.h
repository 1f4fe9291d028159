// Whether the devices of a group's processes sum arrays themselves (vd_devices, backend.h).
#ifndef VD_GROUP_DEVICES_H
#define VD_GROUP_DEVICES_H

#include "engine/backend/backend.h"
#include "engine/train/group.h"

// Asks every process and joins the devices when all can; *out is NULL in all of them when one
// cannot. `how` (of `room` bytes) gets how arrays are summed, and when not by the devices why not:
// "by NCCL 2.27.3 on the devices". Every process of the group must call it. VD_IO: the group broke.
vd_status vd_group_devices(const vd_group *group, const vd_backend *backend, const vd_devices **out,
                           char *how, size_t room, vd_error *err);

#endif

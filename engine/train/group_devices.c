#include "engine/train/group_devices.h"

#include <stdio.h>

// Whether all processes say yes.
static vd_status ask_all(const vd_group *group, bool yes, bool *all, vd_error *err)
{
    double count = yes;
    const char *trouble = group->sum_doubles(&count, 1);
    *all = yes && !trouble && (int)count == group->size;
    return trouble ? vd_error_set(err, VD_IO, "the processes that train together: %s", trouble)
                   : VD_OK;
}

// The id of the first process becomes everyone's: the others add zeros.
static vd_status spread_id(const vd_group *group, unsigned char *id, vd_error *err)
{
    double bytes[VD_DEVICES_ID];
    for (int i = 0; i < VD_DEVICES_ID; i++)
        bytes[i] = group->rank == 0 ? id[i] : 0;
    const char *trouble = group->sum_doubles(bytes, VD_DEVICES_ID);
    if (trouble)
        return vd_error_set(err, VD_IO, "the processes that train together: %s", trouble);
    for (int i = 0; i < VD_DEVICES_ID; i++)
        id[i] = (unsigned char)bytes[i];
    return VD_OK;
}

vd_status vd_group_devices(const vd_group *group, const vd_backend *backend, const vd_devices **out,
                           char *how, size_t room, vd_error *err)
{
    const vd_devices *devices = backend->devices;
    unsigned char id[VD_DEVICES_ID] = {0};
    const char *why = devices ? devices->open() : "one of them computes on the CPU";
    bool all;
    *out = NULL;
    if (!why && group->rank == 0)
        why = devices->make_id(id);
    vd_status status = ask_all(group, !why, &all, err);
    if (status == VD_OK && all) {
        status = spread_id(group, id, err);
        if (status == VD_OK)
            why = devices->join(id, group->rank, group->size);
        if (status == VD_OK)
            status = ask_all(group, !why, &all, err);
        if (status != VD_OK || !all)
            devices->leave();
    }
    if (status != VD_OK)
        return status;
    if (all) {
        *out = devices;
        snprintf(how, room, "by %s on the devices", devices->name());
    } else {
        snprintf(how, room, "by %s in host memory (%s)", group->name,
                 why ? why : "another process cannot do it on its device");
    }
    return VD_OK;
}

#include "engine/graph/axis.h"

#include <string.h>

#define NAME_OF(axis, name) name,
static const char *const axis_names[] = {VD_AXES(NAME_OF)};
#undef NAME_OF

const char *vd_axis_name(vd_axis axis)
{
    return axis_names[axis];
}

bool vd_axis_parse(const char *name, vd_axis *out)
{
    for (int i = 0; i < VD_AXIS_COUNT; i++)
        if (strcmp(axis_names[i], name) == 0) {
            *out = (vd_axis)i;
            return true;
        }
    return false;
}

#include "tui/base/bundled.h"

#include <string.h>

const char *const vd_bundled_models[VD_BUNDLED_MODELS] = {"best", "base", "improved"};

static int find(const char *model)
{
    int i = 0;
    while (i < VD_BUNDLED_MODELS && strcmp(model, vd_bundled_models[i]) != 0)
        i++;
    return i;
}

bool vd_is_bundled(const char *model)
{
    return find(model) < VD_BUNDLED_MODELS;
}

const char *vd_next_bundled(const char *model)
{
    int next = find(model) + 1;
    return vd_bundled_models[next < VD_BUNDLED_MODELS ? next : 0];
}

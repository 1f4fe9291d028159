#include "tui/base/bundled.h"

#include <string.h>

#include "tui/base/nearest.h"

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

const char *vd_nearest_bundled(const char *typed)
{
    enum { MOST_EDITS = 2 }; // the names are short
    vd_nearest nearest = {.typed = typed, .most = MOST_EDITS};
    for (int i = 0; i < VD_BUNDLED_MODELS; i++)
        vd_nearest_try(&nearest, vd_bundled_models[i]);
    return nearest.name;
}

#include "tui/session/contents.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "features/extract/extract.h"

const char *const vd_attribute_names[] = {
    "red",  "green", "blue",     "yellow", "purple", "orange", "white", "black",
    "cube", "ball",  "cylinder", "cone",   "rubber", "metal",  "small", "large"};

static const char *best_name(const float *features, int kind)
{
    int first = vd_attribute_first[kind], best = first;
    for (int i = first; i < first + vd_attribute_count[kind]; i++)
        if (features[VD_FEATURE_ATTRIBUTES + i] > features[VD_FEATURE_ATTRIBUTES + best])
            best = i;
    return vd_attribute_names[best];
}

static void describe_regions(const float *features, int regions, char *out, size_t size)
{
    enum { COLOR, SHAPE, MATERIAL, SIZE };
    size_t used = 0;
    for (int r = 0; r < regions && used < size; r++) {
        const float *one = features + (size_t)r * VD_FEATURE_SIZE;
        // Every region of this extractor has a 1 there; half sure of it is sure enough.
        if (one[VD_FEATURE_ONE] < 0.99f || one[VD_FEATURE_CONFIDENCE] < 0.5f)
            continue;
        int wrote = snprintf(out + used, size - used, "%s%s %s %s %s", used ? "; " : "",
                             best_name(one, SIZE), best_name(one, COLOR), best_name(one, MATERIAL),
                             best_name(one, SHAPE));
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

void vd_contents_of(const vd_world *world, size_t index, char *out, size_t size)
{
    const vd_regions *file = world->regions;
    size_t row;
    out[0] = '\0';
    if (vd_regions_size(file) != VD_FEATURE_SIZE ||
        vd_regions_find(file, vd_world_image_id(world, index), &row, NULL) != VD_OK)
        return;
    float *features = vd_alloc((size_t)vd_regions_max(file), VD_FEATURE_SIZE * sizeof *features);
    if (features && vd_regions_read(file, row, features, NULL, NULL) == VD_OK)
        describe_regions(features, vd_regions_used(file, row), out, size);
    vd_free(features);
}

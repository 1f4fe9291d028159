#include "tui/session/contents.h"

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
    vd_picture_regions regions = {0};
    out[0] = '\0';
    if (vd_regions_size(world->regions) == VD_FEATURE_SIZE &&
        vd_picture_regions_read(world->regions, vd_world_image_id(world, index), &regions, NULL) ==
            VD_OK)
        describe_regions(regions.features, regions.count, out, size);
    vd_picture_regions_clear(&regions);
}

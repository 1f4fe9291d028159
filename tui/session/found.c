#include "tui/session/found.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "features/extract/extract.h"

enum { COLOR, SHAPE, MATERIAL, SIZE };

const char *const vd_attribute_names[] = {
    "red",  "green", "blue",     "yellow", "purple", "orange", "white", "black",
    "cube", "ball",  "cylinder", "cone",   "rubber", "metal",  "small", "large"};

const char *vd_attribute_meant(const char *word)
{
    static const struct {
        const char *start, *name;
    } others[] = {{"big", "large"},   {"huge", "large"},    {"little", "small"}, {"tiny", "small"},
                  {"shiny", "metal"}, {"matt", "rubber"},   {"sphere", "ball"},  {"box", "cube"},
                  {"block", "cube"},  {"metallic", "metal"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncasecmp(word, others[i].start, strlen(others[i].start)) == 0)
            return others[i].name;
    return NULL;
}

static int best(const float *features, int kind)
{
    int first = vd_attribute_first[kind], most = first;
    for (int i = first; i < first + vd_attribute_count[kind]; i++)
        if (features[VD_FEATURE_ATTRIBUTES + i] > features[VD_FEATURE_ATTRIBUTES + most])
            most = i;
    return most;
}

static const char *best_name(const float *features, int kind)
{
    return vd_attribute_names[best(features, kind)];
}

// The features of a region that the extractor is sure of; NULL: it is not.
static const float *sure(const vd_picture_regions *regions, int region)
{
    const float *one = regions->features + (size_t)region * VD_FEATURE_SIZE;
    // Every region of this extractor has a 1 in one channel; a confidence of 0.5 is enough.
    return one[VD_FEATURE_ONE] < 0.99f || one[VD_FEATURE_CONFIDENCE] < 0.5f ? NULL : one;
}

void vd_found_names(vd_picture_regions *regions)
{
    if (regions->size != VD_FEATURE_SIZE || regions->count == 0)
        return;
    regions->names = g_new0(vd_region_name, (gsize)regions->count);
    for (int r = 0; r < regions->count; r++) {
        const float *one = sure(regions, r);
        if (one)
            snprintf(regions->names[r].text, sizeof regions->names[r].text, "%s %s %s",
                     best_name(one, COLOR), best_name(one, MATERIAL), best_name(one, SHAPE));
    }
}

vd_region_text vd_region_label(const vd_region_name *names, int row)
{
    vd_region_text out;
    const char *name = names ? names[row].text : "";
    snprintf(out.text, sizeof out.text, "%d%s%s", row + 1, *name ? " " : "", name);
    return out;
}

vd_region_name *vd_found_contents(const vd_picture_regions *regions, int *count)
{
    int most = regions->size == VD_FEATURE_SIZE ? regions->count : 0;
    vd_region_name *things = most ? vd_alloc((size_t)most, sizeof *things) : NULL;
    *count = 0;
    for (int r = 0; things && r < most; r++) {
        const float *one = sure(regions, r);
        if (one)
            snprintf(things[(*count)++].text, sizeof things->text, "%s %s %s %s",
                     best_name(one, SIZE), best_name(one, COLOR), best_name(one, MATERIAL),
                     best_name(one, SHAPE));
    }
    return things;
}

// How many there are of each colour and shape.
static int count_kinds(const vd_picture_regions *regions, int times[VD_COLORS][VD_SHAPES])
{
    int all = 0;
    for (int r = 0; r < regions->count; r++) {
        const float *one = sure(regions, r);
        if (one) {
            times[best(one, COLOR)][best(one, SHAPE) - VD_COLORS]++;
            all++;
        }
    }
    return all;
}

void vd_found_caption(const vd_picture_regions *regions, char out[VD_FOUND_CAPTION])
{
    int times[VD_COLORS][VD_SHAPES] = {0};
    bool known = regions && regions->size == VD_FEATURE_SIZE && count_kinds(regions, times) > 0;
    snprintf(out, VD_FOUND_CAPTION, "%s", known ? "" : "a picture");
    // The most first.
    for (int wanted = known ? regions->count : 0; wanted > 0; wanted--)
        for (int kind = 0; kind < VD_COLORS * VD_SHAPES; kind++) {
            if (times[kind / VD_SHAPES][kind % VD_SHAPES] != wanted)
                continue;
            char number[16];
            const char *color = vd_attribute_names[kind / VD_SHAPES];
            snprintf(number, sizeof number, "%d", wanted);
            vd_append(out, VD_FOUND_CAPTION, "%s%s %s %s%s", *out ? ", " : "I see ",
                      wanted > 1                ? number
                      : strcmp(color, "orange") ? "a"
                                                : "an",
                      color, vd_attribute_names[VD_COLORS + kind % VD_SHAPES],
                      wanted > 1 ? "s" : "");
        }
}

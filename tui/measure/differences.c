// The pictures on which two captioners differ most.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/measure/captions.h"

static int larger_first(const void *a, const void *b)
{
    const vd_caption_difference *one = a, *two = b;
    double by = fabs(two->first - two->second) - fabs(one->first - one->second);
    return by > 0 ? 1 : by < 0 ? -1 : one->picture < two->picture ? -1 : 1;
}

static double value_of(const vd_caption_measure *measure, size_t picture, vd_caption_metric which)
{
    double metric[VD_CAPTION_METRICS];
    vd_caption_sums_metrics(&measure->picture[picture], metric);
    return metric[which];
}

vd_status vd_caption_differences(const vd_caption_measure *first, const vd_caption_measure *second,
                                 size_t most, vd_caption_difference *out, size_t *count,
                                 vd_caption_metric *metric, vd_error *err)
{
    *metric = first->all.judged > 0 ? VD_CAPTION_BITS : VD_CAPTION_CIDER_D;
    *count = 0;
    vd_caption_difference *all = vd_alloc(first->pictures, sizeof *all);
    if (!all)
        return vd_error_memory(err, "the captions");
    for (size_t i = 0; i < first->pictures; i++) {
        all[*count] =
            (vd_caption_difference){i, value_of(first, i, *metric), value_of(second, i, *metric)};
        *count += all[*count].first != all[*count].second;
    }
    qsort(all, *count, sizeof *all, larger_first);
    *count = *count < most ? *count : most;
    memcpy(out, all, *count * sizeof *out);
    vd_free(all);
    return VD_OK;
}

// Dialogs whose pictures have no features.
#include <inttypes.h>

#include "engine/base/alloc.h"
#include "features/dialogs/store.h"

static vd_status refuse_missing(const vd_visdial *dialogs, const vd_regions *regions,
                                const vd_error *first, size_t missing, vd_error *err)
{
    if (missing < dialogs->dialog_count)
        return vd_error_set(err, VD_NOT_FOUND,
                            "%.400s; so have %zu of %zu pictures; --missing skip leaves them out",
                            first->text, missing, dialogs->dialog_count);
    return vd_error_set(err, VD_NOT_FOUND,
                        "%.300s: none of the %zu pictures of %.300s has features here; expected "
                        "for example image %" PRId64,
                        regions->path, missing, dialogs->path, dialogs->dialogs[0].image_id);
}

static size_t count_missing(const vd_visdial *dialogs, const vd_regions *regions, vd_error *first)
{
    size_t missing = 0, row;
    for (size_t i = 0; i < dialogs->dialog_count; i++)
        if (vd_regions_find(regions, dialogs->dialogs[i].image_id, &row, missing ? NULL : first) !=
            VD_OK)
            missing++;
    return missing;
}

vd_status vd_visdial_match(vd_visdial *dialogs, const vd_regions *regions, vd_missing missing,
                           size_t *skipped, vd_error *err)
{
    vd_error first = {0};
    *skipped = count_missing(dialogs, regions, &first);
    if (*skipped == 0)
        return VD_OK;
    if (missing == VD_MISSING_REFUSE || *skipped == dialogs->dialog_count)
        return refuse_missing(dialogs, regions, &first, *skipped, err);
    vd_visdial_store *store = (vd_visdial_store *)dialogs;
    size_t kept = 0, row, one, other;
    for (size_t i = 0; i < dialogs->dialog_count; i++)
        if (vd_regions_find(regions, dialogs->dialogs[i].image_id, &row, NULL) == VD_OK)
            dialogs->dialogs[kept++] = dialogs->dialogs[i];
    dialogs->dialog_count = kept;
    store->partial = true;
    vd_free(store->images);
    store->images = NULL;
    vd_status status = vd_visdial_index(store, &one, &other, err);
    // Of what is left, words are counted in the dialogs, candidates among them.
    for (size_t i = 0; i < kept && status == VD_OK; i++)
        status = vd_visdial_check_options(dialogs, i, err);
    return status;
}

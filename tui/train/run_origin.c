#include "tui/train/run_origin.h"

#include <string.h>

const char *vd_run_base(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static vd_status check_same(const vd_trainer *trainer, const char *key, const char *what,
                            const char *found, const char *file, const char *path, vd_error *err)
{
    const char *begun = vd_trainer_metadata(trainer, key);
    return begun && strcmp(begun, found) == 0
               ? VD_OK
               : vd_error_set(err, VD_MISMATCH,
                              "%.300s was started with other %s (%.80s) than %.300s (%s)", path,
                              what, begun ? begun : "unknown", file, found);
}

vd_status vd_run_origin_check(const vd_run_origin *origin, const vd_trainer *trainer,
                              const char *path, vd_error *err)
{
    char data[80], features[80];
    vd_run_data_describe(origin->data, data, sizeof data);
    vd_status status = check_same(trainer, "data", "data", data, origin->in->data, path, err);
    if (status == VD_OK)
        status = vd_run_data_features(origin->data, features, sizeof features, err);
    if (status == VD_OK)
        status =
            check_same(trainer, "features", "features", features, origin->in->features, path, err);
    if (status)
        return status;
    bool dense = vd_trainer_metadata(trainer, "dense") != NULL;
    if (dense != (origin->in->train_dense != NULL))
        return vd_error_set(err, VD_MISMATCH,
                            "--train-dense: the run was started %s it; start over in another --out",
                            dense ? "with" : "without");
    const char *from = vd_run_base(origin->from ? origin->from : origin->glove),
               *start = vd_trainer_metadata(trainer, "started_from");
    return !from || (start && strcmp(from, start) == 0)
               ? VD_OK
               : vd_error_set(err, VD_MISMATCH,
                              "--%s: the run was started from %.200s, found %.200s; leave it out "
                              "to continue, or start over in another --out",
                              origin->from ? "from" : "glove", start ? start : "unknown", from);
}

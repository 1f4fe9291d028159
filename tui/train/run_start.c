#include "tui/train/run_start.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/threads.h"

// ---- its directory ------------------------------------------------------------------------------

vd_status vd_run_directory_hold(const char *out, int *hold, vd_error *err)
{
    *hold = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*hold < 0 || flock(*hold, LOCK_EX | LOCK_NB) == 0)
        return VD_OK;
    int why = errno;
    close(*hold);
    *hold = -1;
    return why != EWOULDBLOCK ? VD_OK
                              : vd_error_set(err, VD_USAGE,
                                             "another visdial is training in %.400s; wait until it "
                                             "ends, or choose another --out",
                                             out);
}

vd_status vd_run_directory_make(const char *out, int *hold, vd_error *err)
{
    vd_status status = vd_directory_make(out, err);
    if (!status)
        status = vd_run_directory_hold(out, hold, err);
    if (status)
        return status;
    static const char *const files[][2] = {
        {"checkpoint.safetensors", "continue it with --resume"},
        {"model.safetensors", "there is no checkpoint to continue from; remove it"}};
    for (size_t i = 0; i < 2; i++) {
        char path[4096 + 32];
        snprintf(path, sizeof path, "%.4096s/%s", out, files[i][0]);
        if (access(path, F_OK) == 0)
            return vd_error_set(err, VD_USAGE, "%.300s exists already; %s, or choose another --out",
                                path, files[i][1]);
    }
    return VD_OK;
}

// ---- what it was started with -------------------------------------------------------------------

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

// ---- its processes ------------------------------------------------------------------------------

vd_status vd_run_agree(const vd_group *group, const vd_trainer *trainer, vd_error *err)
{
    if (!group)
        return VD_OK;
    char *network = NULL, *training = NULL, from[32];
    const char *data = vd_trainer_metadata(trainer, "data"),
               *weights = vd_trainer_metadata(trainer, "started_from");
    snprintf(from, sizeof from, "step %" PRId64, vd_trainer_steps(trainer));
    const void *values;
    const vd_setting *rows = vd_config_rows(vd_trainer_config(trainer), &values);
    vd_status status = vd_settings_write(rows, values, "configuration", &network, err);
    if (status == VD_OK)
        status = vd_settings_write(vd_train_settings, vd_trainer_options(trainer),
                                   "training options", &training, err);
    const char *const same[][2] = {{"dialogs", data},
                                   {"progress", from},
                                   {"settings of the network", network},
                                   {"training options", training},
                                   {"first weights", weights}};
    for (size_t i = 0; i < sizeof same / sizeof *same && status == VD_OK; i++)
        status = vd_group_agree(group, same[i][0], same[i][1] ? same[i][1] : "", err);
    vd_free(network);
    vd_free(training);
    return status;
}

vd_status vd_run_share_processors(const vd_group *group, vd_error *err)
{
    int threads;
    vd_status status = vd_group_threads(group, &threads, err);
    if (status == VD_OK && group)
        vd_threads_processors(threads);
    return status;
}

#include "tui/train/run_group.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/base/alloc.h"
#include "engine/base/threads.h"

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

#include "tui/train/together.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/base/alloc.h"

vd_status vd_together_agree(const vd_group *group, const vd_trainer *trainer, vd_error *err)
{
    if (!group)
        return VD_OK;
    char *network = NULL, *options = NULL, from[32];
    const char *data = vd_trainer_metadata(trainer, "data"),
               *weights = vd_trainer_metadata(trainer, "started_from");
    snprintf(from, sizeof from, "step %" PRId64, vd_trainer_steps(trainer));
    vd_status status = vd_settings_write(vd_config_settings, vd_trainer_config(trainer),
                                         "configuration", &network, err);
    if (status == VD_OK)
        status = vd_settings_write(vd_train_settings, vd_trainer_options(trainer),
                                   "training options", &options, err);
    const char *const same[][2] = {{"dialogs", data},
                                   {"progress", from},
                                   {"settings of the network", network},
                                   {"training options", options},
                                   {"first weights", weights}};
    for (size_t i = 0; i < sizeof same / sizeof *same && status == VD_OK; i++)
        status = vd_group_agree(group, same[i][0], same[i][1] ? same[i][1] : "", err);
    vd_free(network);
    vd_free(options);
    return status;
}

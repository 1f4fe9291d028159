#include "tui/train/run_judge.h"

#include <unistd.h>

#include "tui/measure/verdict.h"

static void find_scenes(const char *data, const char **scenes, char *room, size_t size)
{
    if (*scenes || !data)
        return;
    vd_scenes_beside(data, room, size);
    if (access(room, F_OK) == 0)
        *scenes = room;
}

static vd_status open_rewards(vd_run_judge *j, const vd_run_judged *judged, const vd_run_inputs *in,
                              vd_error *err)
{
    const vd_train_options *options = vd_trainer_options(judged->trainer);
    const char *const scenes[] = {in->scenes, in->val_scenes}, *const data[] = {in->data, in->val};
    vd_run_rewards **out[] = {&j->rewards, &j->validation_rewards};
    const vd_caption_set *set[] = {judged->captions, judged->validation};
    vd_status status = VD_OK;
    for (int i = 0; i < 2 && status == VD_OK && set[i]; i++) {
        const vd_rewards_source source = {.scst = options->scst,
                                          .eos = options->eos,
                                          .vocab = vd_trainer_vocab(judged->trainer),
                                          .set = set[i],
                                          .captions = data[i],
                                          .scenes = scenes[i] ? scenes[i] : j->beside[i]};
        status = vd_run_rewards_new(&source, out[i], err);
    }
    vd_trainer_reward(judged->trainer, vd_run_rewards_table(j->rewards));
    return status;
}

// The best epoch is known by what scenes say: there must be some.
static vd_status check_scenes(const vd_run_judged *judged, const vd_run_inputs *in, vd_error *err)
{
    vd_best_by by = vd_trainer_options(judged->trainer)->best_by;
    bool wanted = by == VD_BEST_FAITHFUL || by == VD_BEST_BITS;
    return wanted && judged->validation && !in->val_scenes
               ? vd_error_set(err, VD_USAGE,
                              "--best-by %s needs the scenes of --val; name them with --val-scenes",
                              vd_best_names[by])
               : VD_OK;
}

vd_status vd_run_judge_open(vd_run_judge *j, const vd_run_judged *judged, vd_run_inputs *in,
                            vd_training *training, vd_error *err)
{
    find_scenes(in->data, &in->scenes, j->beside[0], sizeof j->beside[0]);
    find_scenes(in->val, &in->val_scenes, j->beside[1], sizeof j->beside[1]);
    vd_status status = check_scenes(judged, in, err);
    if (status == VD_OK && vd_trainer_options(judged->trainer)->scst != VD_SCST_NONE)
        status = open_rewards(j, judged, in, err);
    const vd_caption_paths paths = {.references = in->val,
                                    .split = judged->validation_split,
                                    .missing = VD_MISSING_SKIP,
                                    .told = true,
                                    .scenes = in->val_scenes,
                                    .regions = judged->validation_regions,
                                    .limit = in->val_limit};
    if (status == VD_OK && judged->validation && judged->measures)
        status = vd_caption_judge_open(&paths, &j->judge, err);
    training->judge = j->judge;
    training->validation_rewards = vd_run_rewards_table(j->validation_rewards);
    return status;
}

void vd_run_judge_close(vd_run_judge *j)
{
    vd_caption_judge_close(j->judge);
    vd_run_rewards_free(j->validation_rewards);
    vd_run_rewards_free(j->rewards);
}

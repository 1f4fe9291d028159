#include "tui/base/generation.h"

enum { BEAM = 5 };

const char *const vd_hard_names[] = {"largest", "draw", "expected"};

vd_generation vd_generation_usual(void)
{
    vd_generation how = vd_generation_greedy();
    how.beam = BEAM;
    return how;
}

bool vd_generation_draws(vd_generation *how, int hard, const vd_arguments *given)
{
    bool draws = VD_HARD_LARGEST + hard == VD_HARD_DRAW;
    if (draws && !vd_arguments_have(given, "beam"))
        how->beam = 1;
    return draws;
}

vd_status vd_generation_check(vd_generation *how, const vd_arguments *given, vd_error *err)
{
    if (!vd_arguments_have(given, "temperature"))
        return VD_OK;
    how->beam = 1;
    return vd_arguments_refuse(
        given, "beam length-power",
        "and --temperature exclude each other: captions are searched or sampled", err);
}

bool vd_captioner_is_hard(const vd_captioner *captioner)
{
    return captioner && vd_caption_is_hard(&vd_model_config(captioner->model)->caption);
}

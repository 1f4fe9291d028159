#include "tui/base/saying.h"

enum { BEAM = 5 };

vd_saying vd_saying_usual(void)
{
    vd_saying how = vd_saying_greedy();
    how.beam = BEAM;
    return how;
}

vd_status vd_saying_check(vd_saying *how, const vd_arguments *given, vd_error *err)
{
    if (!vd_arguments_have(given, "temperature"))
        return VD_OK;
    how->beam = 1;
    return vd_arguments_refuse(
        given, "beam length-power",
        "and --temperature exclude each other: captions are searched or sampled", err);
}

#include "tui/base/backend_choice.h"

vd_status vd_choose_backend(const char *name, int device, vd_chosen_backend *out, vd_error *err)
{
    vd_backend_choice choice = VD_BACKEND_AUTO;
    *out = (vd_chosen_backend){.backend = vd_backend_cpu()};
    if (name && !vd_backend_choice_parse(name, &choice))
        return vd_error_set(err, VD_USAGE, "--backend: expected auto, cpu or cuda, found '%.80s'",
                            name);
    return vd_backend_choose(choice, device, &out->backend, out->why, sizeof out->why, err);
}

bool vd_backend_gave_up(const vd_backend *backend, vd_status status)
{
    return !backend->memory->host && (status == VD_NO_MEMORY || status == VD_UNAVAILABLE);
}

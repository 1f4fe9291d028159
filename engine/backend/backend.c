#include "engine/backend/backend.h"

vd_status vd_backend_status(const vd_backend *be, vd_error *err)
{
    const char *what = be->last_error();
    return what ? vd_error_set(err, VD_UNAVAILABLE, "%s", what) : VD_OK;
}

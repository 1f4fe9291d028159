#include "tui/train/run_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (mkdir(out, 0777) != 0 && errno != EEXIST)
        return vd_error_set(err, errno == ENOENT ? VD_NOT_FOUND : VD_IO,
                            "--out: %.400s cannot be made: %s", out, strerror(errno));
    vd_status status = vd_run_directory_hold(out, hold, err);
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

#include "tui/base/directory_hold.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

vd_status vd_directory_hold(const char *path, int *hold, vd_error *err)
{
    *hold = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*hold < 0 || flock(*hold, LOCK_EX | LOCK_NB) == 0)
        return VD_OK;
    int why = errno;
    vd_directory_release(*hold);
    *hold = -1;
    if (why != EWOULDBLOCK)
        return VD_OK;
    return vd_error_set(err, VD_USAGE,
                        "another visdial trains in %.400s; wait for its end, or choose another "
                        "--out",
                        path);
}

void vd_directory_release(int hold)
{
    if (hold >= 0)
        close(hold);
}

#include "engine/base/plugin.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/append.h"

void vd_program_directory(char *out, size_t room)
{
    ssize_t length = readlink("/proc/self/exe", out, room - 1);
    out[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
}

bool vd_plugin_find(const char *const *directories, const char *name, char path[VD_PLUGIN_PATH],
                    char *looked, size_t room)
{
    char own[VD_PLUGIN_PATH - 64];
    const char *const usual[] = {own, VD_PREFIX "/lib/visdial", NULL};
    if (!directories) {
        vd_program_directory(own, sizeof own);
        directories = usual;
    }
    looked[0] = '\0';
    for (; *directories; directories++) {
        vd_append(looked, room, "%s%.200s", *looked ? ", " : "", *directories);
        snprintf(path, VD_PLUGIN_PATH, "%s/%s", *directories, name);
        if (**directories && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

// Processes of one machine share its processors: how many threads are this one's.
#include "engine/train/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/alloc.h"

// The first line of a file from where `name` begins, or nothing.
static void read_line(const char *path, const char *name, char *out, size_t room)
{
    FILE *file = fopen(path, "r");
    *out = '\0';
    while (file && fgets(out, (int)room, file) && strncmp(out, name, strlen(name)) != 0)
        *out = '\0';
    if (file)
        (void)fclose(file);
}

// How many a list as "0-3,8" names; 0: it is none.
static int count_listed(const char *list)
{
    int count = 0;
    while (*list) {
        char *end;
        long from = strtol(list, &end, 10), to = from;
        if (end == list)
            return count;
        if (*end == '-')
            to = strtol(end + 1, &end, 10);
        count += from <= to && to < 100000 ? (int)(to - from) + 1 : 0;
        list = *end == ',' ? end + 1 : "";
    }
    return count;
}

// Which processors this process may run on, and on which machine: processes for which this is the
// same text share them.
static int allowed_processors(char *where, size_t room)
{
    static const char field[] = "Cpus_allowed_list:";
    char machine[128], list[4096];
    read_line("/proc/sys/kernel/random/boot_id", "", machine, sizeof machine);
    if (!*machine && gethostname(machine, sizeof machine - 1) != 0)
        *machine = '\0';
    read_line("/proc/self/status", field, list, sizeof list);
    const char *at = *list ? list + strlen(field) : list;
    snprintf(where, room, "%s %s", machine, at);
    at += strspn(at, " \t");
    int count = count_listed(at);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? count : online > 0 ? (int)online : 1;
}

vd_status vd_group_threads(const vd_group *group, int *threads, vd_error *err)
{
    char where[4300];
    *threads = allowed_processors(where, sizeof where);
    if (!group)
        return VD_OK;
    double *hash = vd_alloc((size_t)group->size, sizeof *hash);
    if (!hash)
        return vd_error_memory(err, "what the processes compare");
    hash[group->rank] = vd_group_hash(where);
    double own = hash[group->rank];
    vd_status status = vd_group_status(group->sum_doubles(hash, (size_t)group->size), err);
    int sharing = 0;
    for (int r = 0; r < group->size; r++)
        sharing += hash[r] == own;
    vd_free(hash);
    if (status != VD_OK)
        return status;
    *threads = *threads > sharing ? *threads / (sharing ? sharing : 1) : 1;
    return VD_OK;
}

#include "tui/base/complete.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void vd_complete_add(vd_completion *completion, const char *candidate)
{
    size_t typed = strlen(completion->typed);
    if (strncmp(candidate, completion->typed, typed) != 0 ||
        strlen(candidate) >= sizeof completion->common)
        return;
    size_t used = strlen(completion->list);
    snprintf(completion->list + used, sizeof completion->list - used, "%s%s", used ? "  " : "",
             candidate);
    if (completion->matches++ == 0)
        snprintf(completion->common, sizeof completion->common, "%s", candidate);
    size_t same = 0;
    while (completion->common[same] && completion->common[same] == candidate[same])
        same++;
    completion->common[same] = '\0';
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

void vd_complete_paths(vd_completion *completion, size_t skip, const char *ending)
{
    const char *path = completion->typed + skip, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *home = getenv("HOME");
    int before = (int)(name - completion->typed);
    char directory[1024];
    bool at_home = strncmp(path, "~/", 2) == 0 && home;
    int wrote =
        snprintf(directory, sizeof directory, "%s%.*s",
                 at_home ? home
                 : slash ? ""
                         : ".",
                 slash ? (int)(slash + 1 - path) - (at_home ? 1 : 0) : 0, path + (at_home ? 1 : 0));
    DIR *open = wrote < (int)sizeof directory ? opendir(directory) : NULL;
    for (struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        char candidate[1024], full[1400];
        struct stat about;
        if (entry->d_name[0] == '.' && name[0] != '.')
            continue;
        snprintf(full, sizeof full, "%s/%s", directory, entry->d_name);
        bool is_directory = stat(full, &about) == 0 && S_ISDIR(about.st_mode);
        if (!is_directory && !ends_in(entry->d_name, ending))
            continue;
        int length = snprintf(candidate, sizeof candidate, "%.*s%s%s", before, completion->typed,
                              entry->d_name, is_directory ? "/" : "");
        if (length < (int)sizeof candidate)
            vd_complete_add(completion, candidate);
    }
    if (open)
        closedir(open);
}

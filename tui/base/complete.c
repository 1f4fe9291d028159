#include "tui/base/complete.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/base/utf8.h"

// The bytes of what was typed that a list leaves out.
static size_t unlisted(const char *typed)
{
    const char *argument = strrchr(typed, ' '), *slash = argument ? strrchr(argument, '/') : NULL;
    return slash ? (size_t)(slash + 1 - typed) : argument ? (size_t)(argument + 1 - typed) : 0;
}

void vd_complete_add(vd_completion *completion, const char *candidate)
{
    size_t typed = strlen(completion->typed);
    if (strncmp(candidate, completion->typed, typed) != 0 ||
        strlen(candidate) >= sizeof completion->common)
        return;
    char *list = completion->list;
    const char *shown = candidate + unlisted(completion->typed);
    bool next = completion->matches == completion->skip + completion->listed;
    if (next && strlen(list) + strlen(shown) + 2 < sizeof completion->list) {
        vd_append(list, sizeof completion->list, "%s%s", *list ? "  " : "", shown);
        completion->listed++;
    }
    if (completion->matches++ == 0)
        snprintf(completion->common, sizeof completion->common, "%s", candidate);
    size_t same = 0;
    while (completion->common[same] && completion->common[same] == candidate[same])
        same++;
    completion->common[vd_utf8_whole(candidate, strlen(candidate), same)] = '\0';
}

// In any case: cameras write .JPG.
static bool ends_with_one(const char *name, const char *const *endings)
{
    size_t length = strlen(name);
    for (; *endings; endings++)
        if (length >= strlen(*endings) &&
            g_ascii_strcasecmp(name + length - strlen(*endings), *endings) == 0)
            return true;
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// What a directory holds, sorted; g_ptr_array_unref.
static GPtrArray *list_directory(const char *directory)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *open = g_dir_open(directory, 0, NULL);
    for (const char *entry; open && (entry = g_dir_read_name(open));)
        g_ptr_array_add(names, g_strdup(entry));
    if (open)
        g_dir_close(open);
    g_ptr_array_sort(names, compare_names);
    return names;
}

void vd_complete_paths(vd_completion *completion, size_t skip, const char *const *endings)
{
    const char *path = completion->typed + skip, *slash = strrchr(path, '/'),
               *home = getenv("HOME");
    const char *name = slash ? slash + 1 : path;
    bool at_home = home && g_str_has_prefix(path, "~/");
    char *directory = at_home ? g_strdup_printf("%s%.*s", home, (int)(name - path) - 1, path + 1)
                      : slash ? g_strndup(path, (size_t)(name - path))
                              : g_strdup(".");
    GPtrArray *names = list_directory(directory);
    for (guint i = 0; i < names->len; i++) {
        const char *entry = names->pdata[i];
        char *full = g_build_filename(directory, entry, NULL);
        bool is_directory = g_file_test(full, G_FILE_TEST_IS_DIR);
        char *candidate = g_strdup_printf("%.*s%s%s", (int)(name - completion->typed),
                                          completion->typed, entry, is_directory ? "/" : "");
        if ((*entry != '.' || *name == '.') && (is_directory || ends_with_one(entry, endings)))
            vd_complete_add(completion, candidate);
        g_free(candidate);
        g_free(full);
    }
    g_ptr_array_unref(names);
    g_free(directory);
}

// The files that a chat was about, as its transcript has them.
#include <glib.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tui/transcript/transcript.h"

const char *const vd_recorded_file_names[VD_RECORDED_FILES] = {"assets", "data",   "features",
                                                               "dense",  "images", "captioner"};

static const char **path_of(vd_world_files *files, int which)
{
    static const size_t offset[VD_RECORDED_FILES] = {
        offsetof(vd_world_files, directory), offsetof(vd_world_files, data),
        offsetof(vd_world_files, features),  offsetof(vd_world_files, dense),
        offsetof(vd_world_files, images),    offsetof(vd_world_files, captioner)};
    return (const char **)(void *)((char *)files + offset[which]);
}

void vd_recorded_files_of(const vd_world_files *files, vd_recorded_files *out)
{
    vd_world_files copy = *files;
    for (int i = 0; i < VD_RECORDED_FILES; i++) {
        const char *path = *path_of(&copy, i);
        out->path[i] = path ? g_canonicalize_filename(path, NULL) : NULL;
    }
}

bool vd_recorded_files_same(const vd_recorded_files *a, const vd_recorded_files *b)
{
    for (int i = 0; i < VD_RECORDED_FILES; i++)
        if (g_strcmp0(a->path[i], b->path[i]) != 0)
            return false;
    return true;
}

void vd_recorded_files_use(const vd_recorded_files *recorded, vd_world_files *files)
{
    for (int i = 0; i < VD_RECORDED_FILES; i++)
        if (!*path_of(files, i))
            *path_of(files, i) = recorded->path[i];
}

void vd_recorded_files_clear(vd_recorded_files *files)
{
    for (int i = 0; i < VD_RECORDED_FILES; i++)
        g_free(files->path[i]);
    *files = (vd_recorded_files){0};
}

// ---- paths as text ------------------------------------------------------------------------------

char *vd_recorded_path(const char *path)
{
    if (g_utf8_validate(path, -1, NULL))
        return g_strdup(path);
    g_autofree char *whole = g_canonicalize_filename(path, NULL);
    return g_filename_to_uri(whole, NULL, NULL);
}

void vd_recorded_picture(const char *path, int64_t image_id, char *out, size_t size)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (path)
        snprintf(out, size, "%s", slash ? slash + 1 : path);
    else
        snprintf(out, size, "%" PRId64, image_id);
}

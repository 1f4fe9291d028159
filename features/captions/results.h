// Generated captions: the results file of coco-caption and the challenge server, [{"image_id": int,
// "caption": str}, ...], one a picture.
#ifndef VD_CAPTION_RESULTS_H
#define VD_CAPTION_RESULTS_H

#include "engine/base/error.h"
#include "engine/base/string_arena.h"

#include <stddef.h>
#include <stdint.h>

typedef struct vd_result {
    int64_t image_id;
    const char *caption; // may be ""
} vd_result;

typedef struct vd_results {
    char *path; // of the file, or a name for errors
    size_t count;
    vd_result *list; // (count) by rising image id
    vd_string_arena arena;
} vd_results;

// VD_FORMAT with file and place: wrong kinds of values, missing keys, a picture twice, nothing.
vd_status vd_results_read(const char *path, vd_results **out, vd_error *err);
// The same for captions in memory, which are copied; name: used as the file name in errors.
vd_status vd_results_new(const char *name, const vd_result *list, size_t count, vd_results **out,
                         vd_error *err);
void vd_results_free(vd_results *results);                                // NULL is fine
const char *vd_results_find(const vd_results *results, int64_t image_id); // NULL: there is none

// Writes the file in the order of the list; complete or not there.
vd_status vd_results_write(const char *path, const vd_result *list, size_t count, vd_error *err);

#endif

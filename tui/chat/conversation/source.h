// Where the chat's pictures and the dialogs that people had about them come from.
#ifndef VD_CHAT_SOURCE_H
#define VD_CHAT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "features/pictures/image.h"

// One round of the dialog people had about a picture. Borrowed.
typedef struct vd_human {
    const char *question; // without "?"
    const char *answer;   // NULL when the file does not say
    int coreference;      // it refers to the round so many before it; 0 to none, -1 not known
} vd_human;

typedef struct vd_chat_source {
    void *context;
    size_t (*count)(void *context); // pictures, at least 1
    int64_t (*image_id)(void *context, size_t index);
    const char *(*caption)(void *context, size_t index);
    bool (*human)(void *context, size_t index, int round, vd_human *out); // false: no such round
    // One of the candidates of that round, NULL past the last; how right people found it, 0..1,
    // negative when not known.
    const char *(*candidate)(void *context, size_t index, int round, int which, float *relevance);
    // What was found in a picture, "large blue metal cube; small ..."; "" when that is not known.
    void (*contents)(void *context, size_t index, char *out, size_t size);
    // Index of a picture by its id; the error names some that exist.
    vd_status (*find)(void *context, int64_t image_id, size_t *index, vd_error *err);
    vd_status (*picture)(void *context, size_t index, vd_image *out, vd_error *err);
} vd_chat_source;

#endif

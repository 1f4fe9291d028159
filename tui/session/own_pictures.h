// The user's own pictures: files and generated ones. They follow the world's pictures in
// its list; one that is there stays as it is. Inside of tui/session/; session.h has what others
// call.
//
// They are opened by one thread. A picture's regions are found when they are first asked for, by
// whichever thread that is; the others wait for it.
#ifndef VD_OWN_PICTURES_H
#define VD_OWN_PICTURES_H

#include <pthread.h>

#include "features/extract/extract.h"
#include "features/pictures/image.h"
#include "tui/session/captioning.h"

enum { VD_OWN_MOST = 1 << 16, VD_OFFERS = VD_HYPOTHESES + 1 };

typedef struct vd_own_picture {
    char *path; // in full, also how a transcript names it; "blocks:SEED" of one that was made
    const char *name;
    bool made;
    uint64_t seed; // of its scene, when it was made
    int64_t image_id;
    char *features; // the file beside it that has its regions; NULL: they are looked for
    atomic_bool ready;
    // Its caption; NULL: not known yet. Each stays where it is; one that is set before the picture
    // is ready stays the caption.
    _Atomic(const vd_picture_caption *) caption;
    struct vd_own_caption *captions; // all that there were
    // When ready:
    vd_picture_regions regions;
    const vd_picture_caption *offer[VD_OFFERS]; // (offers) to choose from
    int offers;
    bool doubted; // it does not look like the extractor's world
} vd_own_picture;

// Others only read `count` and `picture`.
typedef struct vd_own_pictures {
    char *extractor_path, *features;
    pthread_mutex_t looking; // the extractor serves one thread
    vd_extractor *extractor; // NULL: not loaded yet
    vd_captioning *captioning;
    pthread_mutex_t adding; // captions
    atomic_size_t count;    // entries below it do not move
    vd_own_picture *picture[VD_OWN_MOST];
} vd_own_pictures;

// extractor: path of its weights, which are loaded when they are needed; features: of the first
// picture that is opened, or NULL; captioning: borrowed, NULL: none.
vd_own_pictures *vd_own_pictures_new(const char *extractor, const char *features,
                                     vd_captioning *captioning);
void vd_own_pictures_free(vd_own_pictures *own); // NULL is fine

// One that is open already is found again.
vd_status vd_own_pictures_open(vd_own_pictures *own, const char *path, size_t *index,
                               vd_error *err);
// All pictures of a folder, by name; *index is that of the first.
vd_status vd_own_pictures_open_folder(vd_own_pictures *own, const char *path, size_t *index,
                                      vd_error *err);
vd_status vd_own_pictures_make(vd_own_pictures *own, uint64_t seed, size_t *index, vd_error *err);

vd_status vd_own_pictures_image(const vd_own_picture *picture, vd_image *out, vd_error *err);
// vd_world_set_caption, vd_world_next_caption; the thread that opens pictures.
vd_status vd_own_pictures_caption(vd_own_pictures *own, vd_own_picture *picture, const char *text,
                                  vd_caption_by by, vd_error *err);
vd_status vd_own_pictures_next_caption(vd_own_picture *picture, vd_error *err);
// Finds the regions and a caption, unless that has happened.
vd_status vd_own_pictures_look(vd_own_pictures *own, vd_own_picture *picture, vd_error *err);

#endif

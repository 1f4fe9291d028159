// Pictures with captions as a captioner learns them: region features and token ids, any number of
// captions a picture, as batches.
#ifndef VD_CAPTION_SET_H
#define VD_CAPTION_SET_H

#include "engine/backend/arena.h"
#include "engine/networks/batch.h"
#include "features/captions/captions.h"

typedef struct vd_caption_set {
    const vd_captions *captions;
    const vd_regions *regions;
    int32_t *id; // the vocabulary's, of each word of the captions
    size_t *row; // (pictures) in the regions
} vd_caption_set;

// The pictures that captions has now, in its order; captions and regions must outlive the set.
// Captions are cut to VD_MAX_CAPTION words. A picture without features is VD_NOT_FOUND
// (vd_captions_match leaves them out before).
vd_status vd_caption_set_new(const vd_captions *captions, const vd_vocab *vocab,
                             const vd_regions *regions, vd_caption_set **out, vd_error *err);
void vd_caption_set_free(vd_caption_set *set); // NULL is fine
// Captions and words of these pictures, </S> included.
void vd_caption_set_totals(const vd_caption_set *set, const size_t *pictures, size_t count,
                           vd_totals *out);

// Batches of pictures with all their captions, valid until the next call; `pictures` stays as long.
typedef struct vd_caption_loader {
    const vd_caption_set *set; // the caller's; all else is zero at first
    vd_batch batch;
    vd_caption_batch captions;
    vd_arena arena; // of the batch; vd_arena_free in the end
    float *image;
    int32_t *word, *length;
    int *picture;
} vd_caption_loader;
vd_status vd_caption_loader_batch(vd_caption_loader *loader, const size_t *pictures, size_t count,
                                  const vd_batch **out, vd_error *err);

#endif

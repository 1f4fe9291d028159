// Pictures with captions as a captioner learns them: region features and token ids, any number of
// captions a picture, as batches.
#ifndef VD_CAPTION_SET_H
#define VD_CAPTION_SET_H

#include "engine/model/vocab.h"
#include "engine/networks/batch.h"
#include "features/dialogs/visdial.h"
#include "features/regions/regions.h"

// One caption of a picture. Whatever format captions come in, they become a list of these.
typedef struct vd_reference {
    int64_t image_id;
    int length;
    int32_t word[VD_MAX_CAPTION]; // token ids without <S> and </S>
} vd_reference;

// The captions of dialogs, one each, in lower case and cut: *out (vd_free) has as many as there are
// dialogs.
vd_status vd_references_of_dialogs(const vd_visdial *dialogs, const vd_vocab *vocab,
                                   vd_reference **out, vd_error *err);
// The words of the captions that occur at least so many times.
vd_status vd_caption_vocab(const vd_visdial *dialogs, int64_t minimum, vd_vocab **out,
                           vd_error *err);

typedef struct vd_caption_set vd_caption_set;

// Pictures in the order of their first caption. The list is copied; regions must outlive the set. A
// picture without features is VD_NOT_FOUND, a list without captions VD_FORMAT.
vd_status vd_caption_set_new(const vd_reference *list, size_t count, const vd_regions *regions,
                             vd_caption_set **out, vd_error *err);
void vd_caption_set_free(vd_caption_set *set);
size_t vd_caption_set_pictures(const vd_caption_set *set);
size_t vd_caption_set_captions(const vd_caption_set *set);
int64_t vd_caption_set_image(const vd_caption_set *set, size_t picture);
// Captions and words of these pictures, </S> included.
void vd_caption_set_totals(const vd_caption_set *set, const size_t *pictures, size_t count,
                           vd_totals *out);

// Batches of pictures with all their captions, valid until the next call; `pictures` stays as long.
typedef struct vd_caption_loader vd_caption_loader;
vd_status vd_caption_loader_new(const vd_caption_set *set, vd_caption_loader **out, vd_error *err);
vd_status vd_caption_loader_batch(vd_caption_loader *loader, const size_t *pictures, size_t count,
                                  const vd_batch **out, vd_error *err);
void vd_caption_loader_free(vd_caption_loader *loader);

#endif

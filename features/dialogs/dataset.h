// Dialogs and region features as batches for the network: everything tokenised once, in memory.
#ifndef VD_DATASET_H
#define VD_DATASET_H

#include "engine/backend/arena.h"
#include "engine/networks/batch.h"
#include "engine/model/vocab.h"
#include "features/regions/regions.h"
#include "features/dialogs/visdial.h"

// What becomes of dialogs whose pictures have no features.
typedef enum vd_missing { VD_MISSING_SKIP, VD_MISSING_REFUSE } vd_missing;

// Leaves them out of the dialogs, from then on; *skipped: how many. VD_NOT_FOUND when they are
// refused, or when nothing is left. After the relevance was read (vd_visdial_read_dense).
vd_status vd_visdial_match(vd_visdial *dialogs, const vd_regions *regions, vd_missing missing,
                           size_t *skipped, vd_error *err);

typedef struct vd_dataset vd_dataset;
typedef struct vd_picture_cache vd_picture_cache; // picture_cache.h

// Keeps references to dialogs and regions. Every dialog's image must have features.
vd_status vd_dataset_new(const vd_visdial *dialogs, const vd_regions *regions,
                         const vd_vocab *vocab, vd_dataset **out, vd_error *err);
void vd_dataset_free(vd_dataset *dataset);
const vd_visdial *vd_dataset_data(const vd_dataset *dataset);
const vd_visdial_dialog *vd_dataset_dialog(const vd_dataset *dataset, size_t index);

const vd_regions *vd_dataset_regions(const vd_dataset *dataset);

// The sum of vd_batch_totals over the batches of these dialogs, without making them.
void vd_dataset_totals(const vd_dataset *dataset, const size_t *dialogs, size_t count,
                       vd_totals *totals);

// A word-count vocabulary: from the counts that the dialogs were packed with, else from their
// questions, answers and captions; and always from the latter.
vd_status vd_dataset_vocab(const vd_visdial *dialogs, int64_t minimum, vd_vocab **out,
                           vd_error *err);
vd_status vd_dataset_own_vocab(const vd_visdial *dialogs, int64_t minimum, vd_vocab **out,
                               vd_error *err);

// Ablations that show what a model uses; all off = 0.
typedef struct vd_dataset_view {
    bool other_image; // every dialog sees the next dialog's picture
    bool no_history;  // every history entry, the caption's too, is a single <UNK>
} vd_dataset_view;

// The distinct candidate answers of some dialogs, as the network reads them (batch.h).
typedef struct vd_candidates {
    int count, width;         // U, To
    int32_t *tokens, *length; // (U, To) <S> answer </S>, (U)
    int32_t *generated_in,
        *generated_out;        // (U, To) for the generative decoder: <S> answer, answer </S>
    int32_t *own_in, *own_out; // (U, To) the same with extended ids for unknown words
    int32_t *index;            // (answers of the data) which of them an answer is; -1 = none
    vd_arena memory;           // has them all
} vd_candidates;

// Of dialogs first .. first + count - 1. Cleared with vd_candidates_clear.
vd_status vd_dataset_candidates(const vd_dataset *dataset, size_t first, size_t count,
                                vd_candidates *out, vd_error *err);
void vd_candidates_clear(vd_candidates *candidates);
// *out: how many of `count` dialogs from `first` on have at most `answers` distinct candidates
// together; at least 1, whatever the first one has.
vd_status vd_dataset_span(const vd_dataset *dataset, size_t first, size_t count, size_t answers,
                          size_t *out, vd_error *err);

// Fills a batch for `count` dialogs. The arrays belong to the loader and are valid until its next
// call. Regions are cut to the most any of these pictures has; candidates are distinct per batch,
// or those of vd_loader_share.
typedef struct vd_loader vd_loader;
vd_status vd_loader_new(const vd_dataset *dataset, vd_loader **out, vd_error *err);
vd_status vd_loader_batch(vd_loader *loader, const size_t *dialogs, size_t count,
                          const vd_dataset_view *view, const vd_batch **out, vd_error *err);
// Batches from now on have these candidates, borrowed, which must hold all of their dialogs'; NULL:
// their own again. Vectors of shared candidates can then be computed once for many batches.
void vd_loader_share(vd_loader *loader, const vd_candidates *candidates);
void vd_loader_free(vd_loader *loader);

// ---- the data loader: while the network works on one batch, a thread makes the next -------------

// The dialogs of batch n (0, 1, ...) and how many they are, valid until the next call; 0: there is
// no such batch. Called on one thread, with n as it rises.
typedef size_t (*vd_data_loader_plan)(void *context, size_t n, const size_t **dialogs);

typedef struct vd_data_loader vd_data_loader;

// Batches that are in use or being made at the same time.
enum { VD_DATA_LOADER_BATCHES = 2 };

// Only the loader may use the context until it is freed, and the cache, which holds the pictures of
// its batches; cache NULL: the pictures are in the batches themselves.
vd_status vd_data_loader_new(const vd_dataset *dataset, vd_data_loader_plan plan, void *context,
                             vd_picture_cache *cache, vd_data_loader **out, vd_error *err);
// The next batch, owned by the loader and valid until the next call; NULL after the last. After a
// failure every call fails.
vd_status vd_data_loader_next(vd_data_loader *loader, const vd_batch **out, vd_error *err);
void vd_data_loader_free(vd_data_loader *loader);

#endif

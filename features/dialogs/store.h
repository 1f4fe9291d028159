// The inside of a vd_visdial: its memory and its index. Internal to features/.
#ifndef VD_DIALOGS_STORE_H
#define VD_DIALOGS_STORE_H

#include <stdbool.h>

#include "engine/base/safetensors.h"
#include "engine/base/string_arena.h"
#include "features/dialogs/visdial.h"

typedef struct vd_visdial_image {
    int64_t image_id;
    size_t dialog;
} vd_visdial_image;

// Token ids of many texts, in a mapped file: text i has ids[first[i]] up to ids[first[i + 1]].
typedef struct vd_packed_tokens {
    const int32_t *ids;
    const int64_t *first; // (count + 1)
    size_t count;
} vd_packed_tokens;

// What a packed file holds besides the dialogs. Ids are places in `words`; VD_CUT_* limits hold for
// the lengths, but ids are to be checked by whoever reads them.
typedef struct vd_packed_file {
    vd_safetensors *file;
    vd_packed_tokens questions, answers, captions;
    const char **words;    // (word_count) all that occur, in falling order of their counts
    const int64_t *counts; // how often each is said; 0 for those of candidates only
    size_t word_count;
} vd_packed_file;

typedef struct vd_visdial_store {
    vd_visdial data;          // first, so that a vd_visdial is a vd_visdial_store
    vd_string_arena pieces;   // strings, rounds, options, relevance
    vd_visdial_image *images; // (dialog_count) by rising image id
    vd_packed_file *packed;   // NULL when the dialogs were read from JSON
} vd_visdial_store;

// Sorts the images; an image with two dialogs is refused: *first and *second are those dialogs.
vd_status vd_visdial_index(vd_visdial_store *store, size_t *first, size_t *second, vd_error *err);
// Whether round `r` (from 0) of a dialog is complete and its question and answer are in their
// tables; false with what is wrong in `words`.
bool vd_visdial_round_fits(const vd_visdial *data, const vd_visdial_dialog *dialog, int32_t r,
                           char *words, size_t size);
// The same of its candidates: every one in the table, the true one with the answer's text.
bool vd_visdial_options_fit(const vd_visdial *data, const vd_visdial_round *round, char *words,
                            size_t size);
vd_status vd_packed_open(const char *path, vd_visdial **out, vd_error *err);
void vd_packed_free(vd_packed_file *packed);

// The caller's own name for a place in a file: "image 7, round 2". image -1 when it is not known
// yet, then the dialog's number (from 1) is given; round 0 for none.
void vd_visdial_place(char *text, size_t size, size_t dialog, int64_t image, int32_t round);

#endif

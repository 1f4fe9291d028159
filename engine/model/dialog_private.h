// The inside of a dialog: what it keeps. Internal to engine/model/.
#ifndef VD_DIALOG_PRIVATE_H
#define VD_DIALOG_PRIVATE_H

#include "engine/model/dialog.h"
#include "engine/model/model_private.h"
#include "engine/networks/encoder.h"

// Rows of numbers in the backend's memory, one for each entry or each word of the history.
typedef struct vd_kept_rows {
    vd_real *numbers;
    size_t room; // rows
} vd_kept_rows;

// What is kept of the history: per entry and per word of all entries, in order.
typedef struct vd_kept_history {
    int entries, words;
    size_t start_room, id_room;
    int *start;               // (entries + 1) first word of an entry
    int32_t *id;              // (words) host memory, like start; unknown words with extended ids
    vd_kept_rows sentence;    // (entries, 2H)
    vd_kept_rows matching;    // (entries, H) f_h of context matching
    vd_kept_rows embedding;   // (words, E)
    vd_kept_rows aggregation; // (words, H) f_h of topic aggregation
    vd_kept_rows source;      // (words, H) what a generative decoder looks at
} vd_kept_history;

struct vd_dialog {
    const vd_model *model;
    const vd_pool *pool;
    vd_kept_history history;
    int regions;
    float *image;       // (P, D) as given
    vd_real *f_image;   // (P, H) f_v of the topic view
    vd_real *view_half; // (P, D+2E) W1's image half
    vd_memo memo;       // of a network on the tape
    vd_kept_rows memo_rows;
    vd_arena arena;
};

// Networks on the tape read the words again with every question.
static inline bool vd_dialog_is_fused(const vd_dialog *d)
{
    return vd_is_fused(&d->model->config);
}

// Unknown words have extended ids, at least the vocabulary's size, where they can be copied.
bool vd_dialog_ids_fit(const int32_t *ids, int count, const vd_config *config);
// Copies `rows` more behind the first `used`.
vd_status vd_dialog_keep_rows(const vd_dialog *d, vd_kept_rows *kept, int used, int rows, int width,
                              const vd_real *from, vd_error *err);
// The texts as the network reads them: unknown words as <UNK>.
vd_status vd_dialog_read_known(vd_pass *pass, vd_texts *texts, vd_error *err);
// The words of the entries listed, unknown ones with extended ids.
vd_status vd_dialog_list_ids(const vd_dialog *d, const int *entry, int count, vd_pass *pass,
                             vd_texts *out, vd_error *err);
// All entries as they are kept, in the pass.
vd_status vd_dialog_use_history(const vd_dialog *d, vd_pass *pass, vd_error *err);
// Encodes the entries listed, as the pass's configuration has it; what depends on them is NULL in
// the pass, so that the stages compute it.
vd_status vd_dialog_encode_history(const vd_dialog *d, const int *entry, int count, vd_pass *pass,
                                   vd_error *err);

#endif

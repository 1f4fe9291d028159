// The inside of a vd_visdial (its memory, its index, its packed file) and of a vd_dataset (its
// tokens). Internal to features/.
#ifndef VD_DIALOGS_STORE_H
#define VD_DIALOGS_STORE_H

#include <stdbool.h>

#include "engine/base/safetensors.h"
#include "engine/base/string_arena.h"
#include "features/dialogs/dataset.h"
#include "features/pictures/photos.h"

// The texts that the network reads: their names in a packed file, and the most tokens it reads of
// each: of answers with <S> and </S>.
enum { VD_QUESTIONS, VD_ANSWERS, VD_CAPTIONS, VD_TEXTS };
extern const struct vd_text_kind {
    const char *name;
    int most;
} vd_text_kinds[VD_TEXTS];

size_t vd_visdial_text_count(const vd_visdial *data, int kind);
const char *vd_visdial_text(const vd_visdial *data, int kind, size_t index);

// Columns of numbers in a packed file, one a round; the last two may be missing.
enum {
    VD_COLUMN_QUESTION,
    VD_COLUMN_ANSWER,
    VD_COLUMN_TRUTH,
    VD_COLUMN_OPTIONS,
    VD_COLUMN_FAMILY,
    VD_COLUMN_COREFERENCE,
    VD_COLUMNS
};
extern const char *const vd_column_names[VD_COLUMNS];

// Token ids of many texts, in a mapped file: text i has ids[first[i]] up to ids[first[i + 1]].
typedef struct vd_packed_tokens {
    const int32_t *ids;
    const int64_t *first; // (count + 1)
    size_t count;
} vd_packed_tokens;

// What a packed file holds besides the dialogs. Ids are indices of `words`; the lengths are
// checked, ids are to be checked by whoever reads them.
typedef struct vd_packed_file {
    vd_safetensors *file;
    vd_packed_tokens tokens[VD_TEXTS];
    const char **words;    // (word_count) all that occur, in falling order of their counts
    const int64_t *counts; // how often each is said; 0 for those of candidates only
    size_t word_count;
    bool given; // the counts are not those of the dialogs (vd_visdial_pack)
} vd_packed_file;

typedef struct vd_visdial_store {
    vd_visdial data;        // first, so that a vd_visdial is a vd_visdial_store
    vd_string_arena arena;  // strings, rounds, options, relevance
    vd_image_at *images;    // (dialog_count) by rising image id
    vd_packed_file *packed; // NULL when the dialogs were read from JSON
    bool partial;           // some dialogs were left out: what is packed of all does not hold
} vd_visdial_store;

// What is packed of all these dialogs: words, counts, hash; NULL: to be found from the texts.
static inline const vd_packed_file *vd_visdial_packed(const vd_visdial *data)
{
    const vd_visdial_store *store = (const vd_visdial_store *)data;
    return store->partial ? NULL : store->packed;
}

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

// A location in a file, for messages: "image 7, round 2". image -1 when it is not known
// yet, then the dialog's number (from 1) is given; round 0 for none.
void vd_visdial_location(char *text, size_t size, size_t dialog, int64_t image, int32_t round);

// ---- data sets --------------------------------------------------------------

// Many short sequences of token ids, one after another; unknown words with extended ids (vocab.h).
typedef struct vd_token_table {
    int32_t *ids;
    size_t used, room;
    size_t *first;   // where each starts in ids
    uint8_t *length; // 0 too for strings that no dialog uses
} vd_token_table;

// The texts of each kind as token ids: questions with "?", answers without <S> and </S>, cut. What
// is packed as tokens only changes its ids. To be cleared after a failure, too.
vd_status vd_tokens_fill(const vd_visdial *data, const vd_vocab *vocab,
                         vd_token_table tokens[VD_TEXTS], vd_error *err);
void vd_tokens_clear(vd_token_table tokens[VD_TEXTS]);

struct vd_dataset {
    const vd_visdial *dialogs;
    const vd_regions *regions;
    size_t *row; // (dialog_count) row of its image in regions
    vd_token_table tokens[VD_TEXTS];
    int32_t candidates; // O
    int vocab;          // words
};

static inline const int32_t *vd_sequence(const vd_token_table *s, size_t index)
{
    return s->ids + s->first[index];
}

// <S> answer </S>, cut: its length, and the tokens.
int vd_wrapped_length(const vd_dataset *set, int32_t answer);
// The number of tokens of answer </S>, cut, which the generative decoder is to predict.
int vd_predicted_length(const vd_dataset *set, int32_t answer);
int vd_wrap_answer(const vd_dataset *set, int32_t answer, int32_t *out);
// Zeroed rows for candidates->count answers of `width` tokens, from the arena; false: no memory.
bool vd_candidates_room(vd_candidates *candidates, vd_arena *arena);
// Row u of candidates: one answer in all its forms. The row is zero before.
void vd_candidate_fill(const vd_dataset *set, int32_t answer, int u, vd_candidates *out);

#endif

// What features/ hands to the network: a few dialogs as numbers. All pointers are borrowed.
//
// Legend (the whole engine): B dialogs, R rounds, P regions, D region size, Tq question length,
// Th history-entry length, O candidates a round, U distinct candidates, To candidate length,
// E word size, H LSTM size, V vocabulary.
#ifndef VD_BATCH_H
#define VD_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"
#include "engine/base/real.h"

struct vd_arena;
struct vd_backend;

// The longest sequences the public code keeps (tokens, special ones included).
enum { VD_MAX_QUESTION = 20, VD_MAX_HISTORY = 40, VD_MAX_CANDIDATE = 20 };
// So many tokens of <S> answer </S> are read to rank it. A generative decoder reads one token less
// than there are and predicts as many.
enum { VD_CUT_CANDIDATE = VD_MAX_CANDIDATE - 1 };
// Words of a caption; longer ones are cut.
enum { VD_MAX_CAPTION = 20 };

// Captions of a batch's pictures, a few of each.
typedef struct vd_caption_batch {
    int count, width;      // C, and the most words; 0 <= width <= VD_MAX_CAPTION
    const int32_t *word;   // (C, width) token ids, without <S> and </S>
    const int32_t *length; // (C)
    const int *picture;    // (C) whose they are, rising, 0 to B - 1
} vd_caption_batch;

typedef struct vd_batch {
    int dialogs;    // B
    int rounds;     // R
    int regions;    // P, the same for the whole batch; missing regions are zero rows
    int candidates; // O
    int question_width, history_width, candidate_width; // Tq, Th, To
    int distinct;                                       // U

    const float *image; // (B, P, D), or NULL: the pictures are in `kept`
    // Pictures that are already in the backend's memory, in half precision: one row of `stride`
    // numbers per picture, which starts with its regions.
    struct {
        const uint16_t *halves; // in the backend's memory
        size_t stride;
        const int32_t *row;  // (B) where this batch's pictures are
        const uint8_t *real; // (B, P) whether a region is more than zeros
    } kept;

    const int32_t *question;        // (B, R, Tq) token ids, VD_PAD beyond the length
    const int32_t *question_length; // (B, R); 0 marks a round that does not exist
    const int32_t *history;         // (B, R, Th); entry 0 is the caption
    const int32_t *history_length;  // (B, R)

    const int32_t *candidate;        // (U, To) <S> answer </S>
    const int32_t *candidate_length; // (U)
    const int *candidate_order;      // (U) them sorted by their words (vd_packed_sort), or NULL
    const int32_t *option;           // (B, R, O) index into the distinct candidates
    const int32_t *truth;            // (B, R) index into O of the human answer; -1 unknown
    const float *relevance; // (B, R, O) of each candidate, to be learned; NULL: the truth alone

    // Generative decoder only: what it reads (<S> answer) and predicts (answer </S>).
    const int32_t *candidate_in, *candidate_out; // (U, To), or NULL

    // For decoders that copy words: the same tokens, where words that the vocabulary lacks have
    // ids V and above instead of VD_UNKNOWN, the same for a word in the whole batch. NULL: all
    // unknown words have the same id.
    struct {
        const int32_t *question, *history, *candidate_in, *candidate_out;
    } own;
    // For captioners, which read these and the pictures, and nothing else; NULL: dialogs.
    const vd_caption_batch *captions;
    const size_t *item; // (B) which pictures of their set these are; NULL: not known
} vd_batch;

// The totals that a step's losses are averaged over, however many batches it takes.
typedef struct vd_totals {
    int64_t questions; // with a known answer; of captioners the captions
    int64_t words;     // of those answers or captions, </S> included: what is predicted
    // Of dialogs as one text, the caption to the last question: the tokens behind another one, with
    // the <S> and </S> that some networks leave out (boundaries.h).
    int64_t text;
} vd_totals;

vd_totals vd_batch_totals(const vd_batch *batch);
// Words of a distinct candidate that the generative decoder predicts; needs candidate_out.
int vd_batch_answer_words(const vd_batch *batch, int candidate);

// Own numbers become VD_UNKNOWN.
void vd_batch_known(int32_t *ids, size_t count, int vocab);

// The pictures (B, P, size) in the backend's memory, of the arena; NULL when memory is out.
vd_real *vd_batch_image(const vd_batch *batch, int size, const struct vd_backend *be,
                        struct vd_arena *arena);
// The real regions of each picture, as rows of (B P): row (B P), start (B + 1). A region of zeros
// only is none; with `padding` it is one where its picture has no other.
void vd_batch_regions(const vd_batch *batch, int size, bool padding, int *row, int *start);

// Whether a network of `vocab` words can read the batch: sizes that can be counted, lengths within
// the widths and the limits above, every id, option and answer in range, extended ids where the
// words are unknown. VD_USAGE names the first that is not.
vd_status vd_batch_check(const vd_batch *batch, int vocab, vd_error *err);

#endif

// Copying words of the dialog into answers (copy pointer, copynet; with answer lstm-attention).
// The words of the dialog that an answer sees are X; those that the vocabulary lacks have numbers
// of their own, V and above (batch.h), are read as <UNK>, and can be said by copying alone. P of
// the next word is over the vocabulary and those of X, and exact: both ways of saying a word are
// added.
//
// Formulas: copying.c. Which words of X are a target is found on the host, by their numbers.
#ifndef VD_COPYING_H
#define VD_COPYING_H

#include "engine/networks/decoders/source.h"

typedef struct vd_copying {
    const int32_t *read;  // (words) host: what the decoder reads, unknown words with own numbers
    vd_tape *tape;        // of copynet: from the words of the dialog to
    const vd_value *mean; // (words, H) the mean of those that are the word that is read
    const vd_attended *attended;
    const vd_source *source;
    const vd_pairing *pairing;
    const vd_pair_group **seen; // (words) host: what each looks at
    uint8_t *hit, *known;       // (pairs), (words) host: of vd_copied_words
    vd_copied_words copies;     // of all words, once vd_copying_logs has it
} vd_copying;

// The parameters, and of copynet what the source is compared by.
void vd_copying_declare(const vd_config *config, vd_layout *layout);
const vd_value *vd_copynet_keys(vd_tape *tape, const vd_config *config, const vd_value *x);

// ---- of answers, in this order ------------------------------------------------------------------

// ids (sequences, width), the answers as they are read, before they are packed; *known: the same
// with <UNK> for own numbers.
vd_status vd_copying_begin(struct vd_pass *pass, const int32_t *ids, const int32_t *lengths,
                           int sequences, int width, vd_copying *copying, const int32_t **known,
                           vd_error *err);
// Of copynet: copying->mean, which the LSTM reads beside each word.
vd_status vd_copying_find(struct vd_pass *pass, const vd_packed *answers, const int *question,
                          vd_copying *copying, vd_error *err);
// On the decoder's tape: attended->copied and gate, from the LSTM's states s, what they found c by
// the attention a.
void vd_copying_score(struct vd_pass *pass, const vd_packed *answers, const vd_value *s,
                      const vd_value *c, const vd_value *a, vd_attended *attended);
// What each word looks at.
vd_status vd_copying_see(struct vd_pass *pass, const vd_attended *attended, vd_copying *copying,
                         vd_error *err);
// The logarithms of P of words that X may have own numbers of: log (words), of the vocabulary's
// words, becomes that of all. A word that neither has is <UNK>. log_sum: vd_given_words. First each
// row's target; returned is its id in the vocabulary.
int32_t vd_copying_target(vd_copying *copying, int row, int32_t id, int vocab);
vd_status vd_copying_logs(struct vd_pass *pass, vd_copying *copying, const vd_real *log_sum,
                          vd_real *log, vd_error *err);
// The words' probabilities after each answer: p (answers, wide), host, becomes that of all words;
// before it is that of the vocabulary's, and zero. log_sum (answers): of their last rows.
vd_status vd_copying_spread(struct vd_pass *pass, const vd_copying *copying,
                            const vd_packed *answers, const vd_real *log_sum, int wide, float *p,
                            vd_error *err);
// One more than the largest number in X, at least vocab.
int vd_copying_wide(const struct vd_pass *pass);
// From the loss, the mean of -log P times `share` a word: what word_gradient needs, and what goes
// back over the decoder's tape.
vd_status vd_copying_backward(struct vd_pass *pass, vd_copying *copying, const vd_packed *answers,
                              vd_real share, const vd_real **whole, const vd_real **hit,
                              vd_error *err);
// Of pointer: sum_ij min(a_ij, sum_{i' < i} a_i'j) over all answers.
vd_status vd_copying_coverage(struct vd_pass *pass, const vd_copying *copying,
                              const vd_packed *answers, double *sum, vd_error *err);

#endif

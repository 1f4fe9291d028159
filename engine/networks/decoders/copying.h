// Copying words of the dialog into answers (copy pointer, copynet; with answer lstm-attention).
// The words of the dialog that an answer sees are X; those that the vocabulary lacks have numbers
// of their own, V and above (batch.h), are read as <UNK>, and can be said by copying alone. P of
// the next word is over the vocabulary and those of X, and exact: both ways of saying a word are
// added.
//
// Formulas: copying.c. What is per word of an answer or per pair is computed on the host.
#ifndef VD_COPYING_H
#define VD_COPYING_H

#include "engine/networks/decoders/source.h"

// The next word's probability, taken apart.
typedef struct vd_copied_word {
    double generate; // G: how much is said, not copied
    double said;     // p of the target in the vocabulary, 0 where it is not there
    double copied;   // the share of the places in X that are the target
    double p;        // G said + (1 - G) copied
    int32_t target;  // with an own number where X has it
} vd_copied_word;

typedef struct vd_copying {
    const int32_t *read;  // (words) host: what the decoder reads, unknown words with own numbers
    vd_tape *tape;        // of copynet: from the words of the dialog to
    const vd_value *mean; // (words, H) the mean of those that are the word that is read
    const vd_attended *attended;
    const vd_source *source;
    const vd_pairing *pairing;
    const vd_pair_group **seen; // (words) host: what each looks at
    vd_real *share;             // (pairs) host: attention; of copynet scores until they are opened
    const vd_real *gate;        // of pointer: (words) host: scores of the gate
    vd_copied_word *word;       // (words) host
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
// Reads what it takes to the host.
vd_status vd_copying_read(struct vd_pass *pass, const vd_attended *attended, vd_copying *copying,
                          vd_error *err);
// The logarithms of P of words that X may have own numbers of: log (words), of the vocabulary's
// words, becomes that of all. A word that neither has is <UNK>. log_sum: vd_given_words.
// *target (words): places in the vocabulary.
int32_t vd_copying_target(const vd_copying *copying, int row, int32_t id, int vocab);
void vd_copying_logs(vd_copying *copying, const vd_real *log_sum, int vocab, vd_real *log);
// The words' probabilities after row `row`: p, (vocab) and room for those up to `wide`, which are
// zero.
void vd_copying_spread(vd_copying *copying, int row, const vd_real *log_sum, int vocab, float *p);
// One more than the largest number in X, at least vocab.
int vd_copying_wide(const struct vd_pass *pass);
// From the loss, the mean of -log P times `share` a word: what word_gradient needs, and what goes
// back over the decoder's tape.
vd_status vd_copying_backward(struct vd_pass *pass, vd_copying *copying, const vd_packed *answers,
                              vd_real share, const vd_real **whole, const vd_real **hit,
                              vd_error *err);
// Of pointer: sum_ij min(a_ij, sum_{i' < i} a_i'j) over all answers. dpairs, NULL: none is wanted,
// is added its gradient times `share`.
double vd_copying_coverage(const vd_copying *copying, const vd_packed *answers, vd_real share,
                           vd_real *dpairs);

#endif

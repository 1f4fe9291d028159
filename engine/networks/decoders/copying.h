// Copying words of the dialog into answers (copy pointer, copynet; with answer lstm-attention).
// X: the words of the dialog that an answer attends to. Those of them that the vocabulary lacks
// have ids of their own, V and above (batch.h); the network reads them as <UNK>, and only copying
// can generate them. P of the next word is a distribution over the vocabulary and X: the
// probability of generating a word plus that of copying it.
//
// Formulas: copying.c. Where a target occurs in X is found on the host, by the ids.
#ifndef VD_COPYING_H
#define VD_COPYING_H

#include "engine/networks/decoders/source.h"

typedef struct vd_copying {
    const int32_t *read;  // (words) host: what the decoder reads, unknown words with own ids
    vd_tape *tape;        // copynet: computes `mean` from the words of the dialog
    const vd_value *mean; // (words, H) selective read: the mean of those equal to the word read
    const vd_attended *attended;
    const vd_source *source;
    const vd_pairing *pairing;
    const vd_pair_group **seen; // (words) host: what each attends to
    uint8_t *hit, *known;       // (pairs), (words) host: as in vd_copied_words
    vd_copied_words copies;     // set by vd_copying_logs
} vd_copying;

// The parameters; and copynet's keys, made of the source's words.
void vd_copying_declare(const vd_config *config, vd_layout *layout);
const vd_value *vd_copynet_keys(vd_tape *tape, const vd_config *config, const vd_value *x);

// ---- for answers, in this order -----------------------------------------------------------------

// ids (sequences, width): the decoder's input, before it is packed. *known: the same with <UNK>
// where an id is not of the vocabulary.
vd_status vd_copying_begin(struct vd_pass *pass, const int32_t *ids, const int32_t *lengths,
                           int sequences, int width, vd_copying *copying, const int32_t **known,
                           vd_error *err);
// Copynet: computes copying->mean, which the LSTM reads beside each word.
vd_status vd_copying_find(struct vd_pass *pass, const vd_packed *answers, const int *question,
                          vd_copying *copying, vd_error *err);
// On the decoder's tape: attended->copied and gate, from the LSTM's states s, the context vectors c
// and the attention a.
void vd_copying_score(struct vd_pass *pass, const vd_packed *answers, const vd_value *s,
                      const vd_value *c, const vd_value *a, vd_attended *attended);
// Sets copying->seen, hit and known.
vd_status vd_copying_match(struct vd_pass *pass, const vd_attended *attended, vd_copying *copying,
                           vd_error *err);
// Call first, once per row: sets the target of the row. Returns its id in the vocabulary, <UNK> of
// a word that only X has.
int32_t vd_copying_target(vd_copying *copying, int row, int32_t id, int vocab);
// log (words): in, log P of the target by generating alone; out, by generating and copying.
// log_sum: as vd_given_words returns it.
vd_status vd_copying_logs(struct vd_pass *pass, vd_copying *copying, const vd_real *log_sum,
                          vd_real *log, vd_error *err);
// After each answer, P of every word: p (answers, wide), host: in, of the vocabulary's words, then
// zeros; out, of these and of X. log_sum (answers): of the last rows.
vd_status vd_copying_spread(struct vd_pass *pass, const vd_copying *copying,
                            const vd_packed *answers, const vd_real *log_sum, int wide, float *p,
                            vd_error *err);
// One more than the largest id in X, at least vocab.
int vd_copying_wide(const struct vd_pass *pass);
// The loss is the sum of -log P times `share` over the words. Computes what word_gradient needs,
// and the gradients that go back over the decoder's tape.
vd_status vd_copying_backward(struct vd_pass *pass, vd_copying *copying, const vd_packed *answers,
                              vd_real share, const vd_real **whole, const vd_real **hit,
                              vd_error *err);
// Pointer: the coverage loss, sum_ij min(a_ij, sum_{i' < i} a_i'j) over all answers.
vd_status vd_copying_coverage(struct vd_pass *pass, const vd_copying *copying,
                              const vd_packed *answers, double *sum, vd_error *err);

#endif

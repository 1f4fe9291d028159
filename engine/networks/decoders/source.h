// What a generative decoder attends to (answer lstm-attention, conv): every word of an answer
// attends to all words of the entries 0..t and of the question.
//
// Use: whoever ran the encoder calls vd_source_read once; then a decoder's own function for any
// answers. Backward: the tapes of the answers first, then source.tape, then the encoder.
#ifndef VD_SOURCE_H
#define VD_SOURCE_H

#include "engine/graph/tape.h"
#include "engine/networks/config.h"

struct vd_pass;

// What the answers of a pass attend to. Legend of pass.h; W as vd_source_width says.
typedef struct vd_source {
    // Of networks on the tape: (TQ, ...) (TH, ...) word states, or word vectors. NULL: MVAN's.
    const vd_value *question, *history;
    // What answers go on with (answer sequence), of a network that reads the dialog as a text.
    const struct vd_dialog_tokens *sequence;
    const vd_real *kept; // (TH, W) x of the entries, where a dialog has kept them; else NULL
    int first;           // the question that the decoder takes for the first
    const int32_t *id;   // (TH + TQ) host: the words, unknown ones with extended ids; when copying

    vd_tape *tape;         // from the word states to
    const vd_value *words; // (TH + TQ, W) the values: of all entries, then of all questions
    const vd_value *keys;  // what their scores are computed from
    const vd_value *copy;  // of copynet: (TH + TQ, H) what copying is scored by
    vd_pair_group *seen;   // (N) of each question: the rows of its entries 0..t, its own
} vd_source;

// How wide x is: H; E for conv.
int vd_source_width(const vd_config *config);
// The decoder's parameter `part`: "decoder.attention.score", of two decoders "gen_decoder....".
vd_name vd_source_name(const vd_config *config, const char *part);
void vd_source_declare(const vd_config *config, vd_layout *layout);

struct vd_texts;
// pass->source.id of texts whose unknown words have extended ids (batch.h), once they are packed;
// nothing where the configuration copies no words.
vd_status vd_source_ids(struct vd_pass *pass, const struct vd_texts *questions,
                        const struct vd_texts *entries, vd_error *err);
// pass->source, after the encoder; nothing where the decoder attends to no words.
vd_status vd_source_read(struct vd_pass *pass, vd_error *err);
// x of entries whose word states are in pass->history: *x (TH, W), in the arena.
vd_status vd_source_entries(struct vd_pass *pass, const vd_real **x, vd_error *err);

// ---- for decoders -------------------------------------------------------------------------------

// A tape of the pass; NULL and an error when memory is out.
vd_tape *vd_source_tape(struct vd_pass *pass, vd_error *err);
// Numbers from outside the tape, which collects their gradient in dx (NULL: none is wanted).
const vd_value *vd_source_outside(vd_tape *tape, vd_axis axis, const vd_real *x, vd_real *dx,
                                  int rows, int columns);
// The words of answers with what they see; sequence i of `answers` belongs to question[i].
const vd_pairing *vd_source_pairing(vd_tape *tape, const vd_source *source,
                                    const vd_packed *answers, const int *question);

// Words of answers, on their way to the scores of the next word.
typedef struct vd_attended {
    vd_tape *tape;
    const vd_value *out; // (words, H) what the scores of the next word are made of
    // When copying (copying.h):
    const vd_value *copied; // of pairs, copying's: the attention; of copynet scores
    const vd_value *gate;   // of pointer: (words, 1) scores of the gate
} vd_attended;

// ---- the decoders (lstm_attention.c, conv.c) ----------------------------------------------------

void vd_lstm_attention_declare(const vd_config *config, vd_layout *layout);
void vd_conv_declare(const vd_config *config, vd_layout *layout);
// What the scores of words need of x; of conv the values of its attention: x, plus word vectors.
const vd_value *vd_lstm_attention_keys(vd_tape *tape, const vd_config *config, const vd_value *x);
const vd_value *vd_conv_words(vd_tape *tape, const struct vd_pass *pass, const vd_value *x);
// Sequence i of `answers` belongs to question[i]. s, ds: states (words, H) after each word and
// their gradient (NULL: none is wanted). That of pass->encoded conv collects in pass->dencoded.
vd_status vd_lstm_attention(struct vd_pass *pass, const vd_packed *answers, const int *question,
                            const vd_real *s, vd_real *ds, vd_attended *attended, vd_error *err);
vd_status vd_conv_answers(struct vd_pass *pass, const vd_packed *answers, const int *question,
                          vd_attended *attended, vd_error *err);

#endif

// Text encoders: how words become word states (T, W) and sentence vectors (S, W). The setting
// `text` chooses one for the questions and the entries of any network that reads them with
// vd_text_states or vd_text_sentences (engine/networks/parts.h). One file each, the recurrent ones
// share one.
//
// In the files: x a word's vector, y its state so far; d = W, vd_states_width; parameters lie below
// NAME.rnn_model and NAME.text, NAME being encoder.ques_rnn or encoder.hist_rnn.
#ifndef VD_TEXT_H
#define VD_TEXT_H

#include "engine/networks/encoder.h"

typedef struct vd_text_encoder {
    // Of recurrent states, whose last ones are the sentence: 1 or 2. 0: the words' states are
    // pooled.
    int directions;
    int layers, gates; // of recurrent ones; gates: 4 of an LSTM, 3 of a GRU
    bool heads;        // divides the states among heads
    double dropout;    // its own rate in training; recurrent ones have that between LSTM layers
    void (*declare)(vd_layout *layout, const vd_config *config, const char *name, int in);
    vd_value *(*states)(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                        const char *name);
} vd_text_encoder;

#define X(code, symbol, name) extern const vd_text_encoder vd_text_##symbol;
VD_TEXTS(X)
#undef X
// Of one layer: some networks' own.
extern const vd_text_encoder vd_text_bilstm_layer, vd_text_gru_layer;

// That of the configuration, or the network's own; NULL: it has none.
const vd_text_encoder *vd_text_encoder_of(const vd_config *config);
// W: H, in MVAN 2H; where two halves are concatenated, even.
int vd_states_width(const vd_config *config);
int vd_text_heads(const vd_config *config);
// The rate of dropout in training, from the option of that name: below 0 the encoder's own.
vd_real vd_text_dropout(const vd_config *config, double option);

// Each sentence and its words; NULL after a failure.
const vd_pairing *vd_text_pairing(vd_tape *tape, const vd_packed *words, vd_axis sentences,
                                  vd_axis axis);
// Sentences of states that are not recurrent: b = softmax_i(w . y_i) over the sentence's words,
// then sum_i b_i y_i; w is NAME.text.pool. That of the question is shown, as "own-words".
void vd_text_declare_pool(vd_layout *layout, const vd_config *config, const char *name);
vd_value *vd_text_pool(vd_tape *tape, const vd_packed *words, vd_axis sentences,
                       const vd_value *states, const char *name);

#endif

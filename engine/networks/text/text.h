// Text encoders: how words become word states (T, H) and sentence vectors (S, H). The setting
// `text` chooses one for the questions and the entries of any network that reads them with
// vd_text_sentences (engine/networks/parts.h). One file each, the recurrent ones share one.
//
// In the files: x a word's vector, y its state so far; d = H; parameters lie below NAME.rnn_model
// and NAME.text, NAME being encoder.ques_rnn or encoder.hist_rnn.
#ifndef VD_TEXT_H
#define VD_TEXT_H

#include "engine/networks/encoder.h"

typedef struct vd_text_encoder {
    // Of recurrent states, whose last ones are the sentence: 1 or 2.
    int directions;
    void (*declare)(vd_layout *layout, const vd_config *config, const char *name, int in);
    vd_value *(*states)(vd_tape *tape, const vd_inputs *in, const vd_sequences *words,
                        const char *name);
} vd_text_encoder;

#define X(code, symbol, name) extern const vd_text_encoder vd_text_##symbol;
VD_TEXTS(X)
#undef X

// That of the configuration; where this leaves it to the network, lstm.
const vd_text_encoder *vd_text_encoder_of(const vd_config *config);

#endif

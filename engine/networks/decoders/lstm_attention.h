// The generative decoder lstm-attention: its LSTM's states attend to the words of the dialog.
#ifndef VD_LSTM_ATTENTION_H
#define VD_LSTM_ATTENTION_H

#include "engine/networks/decoders/source.h"

void vd_lstm_attention_declare(const vd_config *config, vd_layout *layout);
// What the scores of words need of x.
const vd_value *vd_lstm_attention_keys(vd_tape *tape, const vd_config *config, const vd_value *x);
// s, ds: states (words, H) after each word and their gradient (NULL: none is wanted); sequence i of
// `answers` belongs to question[i].
vd_status vd_lstm_attention(struct vd_pass *pass, const vd_packed *answers, const int *question,
                            const vd_real *s, vd_real *ds, vd_attended *attended, vd_error *err);

#endif

// The generative decoder conv: convolutions over the words of the answer, which attend to the words
// of the dialog.
#ifndef VD_CONV_DECODER_H
#define VD_CONV_DECODER_H

#include "engine/networks/decoders/source.h"

void vd_conv_declare(const vd_config *config, vd_layout *layout);
// The values of the attention: x of the entries' words, then the questions', plus their word
// vectors.
const vd_value *vd_conv_words(vd_tape *tape, const struct vd_pass *pass, const vd_value *x);
// Sequence i of `answers` belongs to question[i]; the gradient of pass->encoded is collected in
// pass->dencoded.
vd_status vd_conv_answers(struct vd_pass *pass, const vd_packed *answers, const int *question,
                          vd_attended *attended, vd_error *err);

#endif

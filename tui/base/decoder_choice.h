// The option --decoder of the commands that rank a pool of answers.
#ifndef VD_DECODER_CHOICE_H
#define VD_DECODER_CHOICE_H

#include <stdbool.h>

#include "engine/model/model.h"
#include "tui/base/option_texts.h"

// Commands that answer questions take the discriminative decoder when nothing is said; those that
// evaluate take every decoder that the model has.
#define VD_DECODER_OPTION                                                                          \
    {                                                                                              \
        "decoder", "WHICH", VD_HELP_DECODER " (default: discriminative where the model has it)"    \
    }
#define VD_DECODER_ALL_OPTION                                                                      \
    {                                                                                              \
        "decoder", "WHICH", VD_HELP_DECODER " (default: all that the model has)"                   \
    }

typedef struct vd_decoder_choice {
    bool made; // false: the default
    vd_decoders by;
} vd_decoder_choice;

// The option's value; VD_USAGE for another word.
vd_status vd_choose_decoder(const char *value, vd_decoder_choice *out, vd_error *err);

// The decoders of a model that a choice selects; all of them when no choice was made. VD_MISMATCH
// when the model does not have the decoder.
vd_status vd_decoder_of(const vd_model *model, const vd_decoder_choice *choice, vd_decoders *out,
                        vd_error *err);

#endif

// The option --decoder of the commands that rank a pool of answers.
#ifndef VD_DECODER_CHOICE_H
#define VD_DECODER_CHOICE_H

#include <stdbool.h>

#include "engine/model/model.h"
#include "tui/base/options.h"

typedef struct vd_decoder_choice {
    bool made; // false: the default
    vd_decoders by;
} vd_decoder_choice;

// note: the default, and what else is to be said. reads: vd_decoder_read, or what collects several.
// clang-format off
#define VD_DECODER_OPTION(type, member, reads, note)                                               \
    {"decoder", "NAME", VD_HELP_DECODER note, VD_INTO(type, member), .read = (reads),              \
     .names = vd_decoders_names, .most = VD_BOTH}
// clang-format on
// Default of commands that answer questions, and of those that evaluate.
#define VD_DECODER_OF_ANSWERS     " (default: discriminative where the model has it)"
#define VD_DECODER_OF_EVALUATIONS " (default: all that the model has)"

// Reads the option (vd_option) into a vd_decoder_choice.
vd_status vd_decoder_read(void *choice, const char *name, const char *text, vd_error *err);

// The decoders of a model that a choice selects; all of them when no choice was made. VD_MISMATCH
// when the model does not have the decoder.
vd_status vd_decoder_of(const vd_model *model, const vd_decoder_choice *choice, vd_decoders *out,
                        vd_error *err);

#endif

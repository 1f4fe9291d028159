// The option --decoder of the commands that rank a pool of answers.
#ifndef VD_DECODER_CHOICE_H
#define VD_DECODER_CHOICE_H

#include <stdbool.h>

#include "engine/model.h"

#define VD_DECODER_OPTION                                                                          \
    {                                                                                              \
        "decoder", "WHICH",                                                                        \
            "that ranks: discriminative (the default where there is one), generative or both"      \
    }

typedef struct vd_decoder_choice {
    bool made; // false: whatever is usual
    vd_decoders by;
} vd_decoder_choice;

// The option's value; VD_USAGE for another word.
vd_status vd_choose_decoder(const char *value, vd_decoder_choice *out, vd_error *err);

#endif

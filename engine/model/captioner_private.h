// The inside of a captioner.
#ifndef VD_CAPTIONER_PRIVATE_H
#define VD_CAPTIONER_PRIVATE_H

#include "engine/model/captioner.h"
#include "engine/model/model_private.h"
#include "engine/networks/captions/captions.h"

// A pass over one picture, which it has seen. what_if: NULL, or what is changed.
vd_status vd_captioner_encode(vd_captioner *captioner, const float *image, int regions,
                              const vd_caption_what_if *what_if, vd_caption_pass *pass,
                              vd_error *err);
// Log-probabilities (W, V) of the words that follow those read last.
vd_status vd_caption_logs(vd_caption_pass *pass, float *logs, vd_error *err);

// Generates captions of all pictures that a pass encoded, a word of each at a time. Draws of
// picture p are from the random numbers (how->seed, stream[p]), whatever other pictures there are;
// NULL: all have one stream. out: (pictures, most), count: (pictures), as vd_captioner_generate.
vd_status vd_caption_generate(vd_caption_pass *pass, const vd_vocab *vocab,
                              const vd_generation *how, const uint64_t *stream,
                              vd_generated_caption *out, int most, int *count, vd_error *err);

#endif

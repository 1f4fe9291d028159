// The inside of a captioner.
#ifndef VD_CAPTIONER_PRIVATE_H
#define VD_CAPTIONER_PRIVATE_H

#include "engine/model/captioner.h"
#include "engine/model/model_private.h"
#include "engine/networks/captions/captions.h"

struct vd_captioner {
    vd_model *model;
    bool shares; // the model is another's
    vd_arena arena;
};

// A pass over one picture, which it has seen.
vd_status vd_captioner_see(vd_captioner *captioner, const float *image, int regions,
                           vd_caption_pass *pass, vd_error *err);
// Log-probabilities (W, V) of the words that follow those read last.
vd_status vd_caption_logs(vd_caption_pass *pass, float *logs, vd_error *err);

#endif

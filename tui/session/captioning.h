// The captioner of a world: it says the captions of pictures that nobody has described. Inside of
// tui/session/; session.h and caption_sheet.h have what others call.
//
// It is loaded when it is first needed, by whichever thread that is; the others wait for it.
#ifndef VD_CAPTIONING_H
#define VD_CAPTIONING_H

#include "engine/model/captioner.h"
#include "tui/session/session.h"

// Captioners are searched with a beam of so many, and all that it ends with can be chosen.
enum { VD_HYPOTHESES = 5 };

typedef struct vd_captioning vd_captioning;

vd_captioning *vd_captioning_new(const char *path); // of the captioner's file
void vd_captioning_free(vd_captioning *captioning); // NULL is fine
const char *vd_captioning_path(const vd_captioning *captioning);
// The captioner, which is this thread's until it is given back; *out is NULL and nothing is to be
// given back where it cannot be loaded, the same error each time.
vd_status vd_captioning_take(vd_captioning *captioning, vd_captioner **out, vd_error *err);
void vd_captioning_give_back(vd_captioning *captioning);

// VD_MISMATCH for regions of another size than the captioner's.
vd_status vd_captioner_fits(const vd_captioner *captioner, const vd_picture_regions *regions,
                            vd_error *err);
// The captions that a beam search ends with, the best first; VD_MISMATCH for regions of another
// size than the captioner's.
vd_status vd_hypotheses(vd_captioner *captioner, const vd_picture_regions *regions,
                        vd_generated_caption out[VD_HYPOTHESES], int *count, vd_error *err);
// Words of a captioner as a text (g_free).
char *vd_generated_caption_text(const vd_vocab *vocab, const vd_generated_caption *caption);

#endif

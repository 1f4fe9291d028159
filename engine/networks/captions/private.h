// The inside of the captioners.
#ifndef VD_CAPTIONS_PRIVATE_H
#define VD_CAPTIONS_PRIVATE_H

#include "engine/networks/captions/captions.h"

// One kind of captioner.
typedef struct vd_caption_network {
    void (*declare)(const vd_caption_config *config, vd_layout *layout);
    // From the regions (K, D) as the extractor gave them: pass->encoded, and what else depends on
    // the pictures alone.
    void (*encode)(vd_caption_pass *pass, const vd_value *regions);
    // What the next words are made of, a row each, for the layer `out`.
    const vd_value *(*read)(vd_caption_pass *pass, const vd_caption_words *words);
} vd_caption_network;

// Hard attention: 1 for the region that each caption of a step attends to, or its shares.
const vd_value *vd_caption_choose(vd_caption_pass *pass, const vd_caption_words *words,
                                  vd_caption_step *step);
// Hard attention, after the cross entropy: what choices brought, and its gradient for the shares.
// log (W) host: log-probabilities of the next words. Adds to *loss.
vd_status vd_caption_reinforce(vd_caption_pass *pass, const vd_real *log, double captions,
                               double *loss, vd_error *err);

extern const vd_caption_network vd_caption_transformer, vd_caption_sat;

// ---- what is read (words.c) ---------------------------------------------------------------------

// The real regions of all pictures (K, D); sets pass->pictures and pass->region_start.
const vd_value *vd_caption_regions(vd_caption_pass *pass, const vd_batch *batch);
int vd_caption_word_count(const vd_caption_words *words, int caption); // of those read now
// Rows of a caption's picture among all regions.
vd_range vd_caption_picture(const vd_caption_pass *pass, const vd_caption_words *words,
                            int caption);
// Words and rows of keys in these groups; NULL and a failure of the tape when memory is out.
const vd_pairing *vd_caption_pairing(vd_caption_pass *pass, const vd_caption_words *words,
                                     int key_rows, vd_pair_group *group, int count);
const vd_pairing *vd_caption_sees_regions(vd_caption_pass *pass, const vd_caption_words *words);
// Each word those up to itself in its caption.
const vd_pairing *vd_caption_sees_words(vd_caption_pass *pass, const vd_caption_words *words);
void vd_caption_no_memory(vd_caption_pass *pass);

// ---- history (history.c) ------------------------------------------------------------------------

// Words, and all regions with a row below them for each word so far: which of both a word sees in
// its second look.
const vd_pairing *vd_caption_pair_again(vd_caption_pass *pass, const vd_caption_words *words);
// (keys of that, h) 1 for those of the history, else 0.
const vd_value *vd_caption_mark_history(vd_caption_pass *pass, const vd_caption_words *words);
// Keys and values of the words so far: those before, and those of now.
void vd_caption_add_keys(vd_tape *tape, const vd_caption_words *words, vd_caption_keys *keys,
                         vd_caption_keys now);
// Makes what a layer's heads give to the history a term of the loss.
void vd_caption_awc_term(vd_caption_pass *pass, const vd_caption_words *words, int layer);

// ---- layers (captions.c) ------------------------------------------------------------------------

// Xavier uniform (Glorot, Bengio 2010).
vd_init vd_caption_xavier(int in, int out);
// name.weight (out, in) of it and, with a bias, name.bias of zeros.
void vd_caption_declare_linear(vd_layout *layout, const char *name, int in, int out, bool bias);

#endif

// Captioners: networks that describe a picture word by word, composed on the tape. Each is a file
// beside this one with its formulas; config.h has its settings.
//
// Legend: C captions of B pictures, K regions of all pictures, W words that are read at once, J
// words read so far; V the size of the vocabulary; D, d, h, N as in config.h. All words of captions
// are read at once (training), or the newest word of each (generation): the same functions do both.
#ifndef VD_CAPTIONS_H
#define VD_CAPTIONS_H

#include "engine/graph/tape.h"
#include "engine/networks/batch.h"
#include "engine/networks/captions/config.h"

enum { VD_CAPTION_LAYERS = 8 };

// The words that are read now, and what each may see.
typedef struct vd_caption_words {
    int captions, rows;     // C, W: rows lie caption by caption
    int keys;               // J: words read before these, and these
    const int32_t *id;      // (W) in the backend's memory
    const int32_t *host_id; // (W) the same on the host
    const int *position;    // (W) backend: position of a word in its caption, from 0
    const int *from;   // (J) backend: the words so far, caption by caption, as rows of [before ;
                       // now]; NULL: nothing was read before
    const int *parent; // (C) backend: the previously read caption that each one extends; NULL: none
    const int *picture;    // (C) host: of each caption, non-decreasing
    const int *picture_at; // (C) backend: the same
    const int *start;      // (C + 1) host: a caption's first row of W
    const int *first;      // (C + 1) host: a caption's first row of J
    const int32_t *target; // (W) host: the next word; NULL: not known
} vd_caption_words;

// Keys and values of a layer, a row each.
typedef struct vd_caption_keys {
    const vd_value *key, *value;
} vd_caption_keys;

// Keys and values that a layer keeps, of its own input and of the history.
typedef struct vd_caption_layer {
    vd_caption_keys regions, again; // of the first attention, of the second
    vd_caption_keys words, history; // (J, d)
    // Attention of the last words read, all heads: over regions in the first attention; over
    // regions and history in the second (NULL: there is none).
    const vd_value *look, *second;
    const vd_value
        *given; // (W, h) w: the share that a head gives to the history; NULL: no second attention
} vd_caption_layer;

// A term of the loss besides the cross entropy: the sum of weight * y, mean over captions.
typedef struct vd_caption_term {
    const vd_value *y;
    const vd_real *weight; // host, for each number of y
} vd_caption_term;

// The attention of a recurrent captioner in one step, for all captions of at least that length.
typedef struct vd_caption_step {
    const vd_value *look, *second;
    const vd_value *gate; // (captions, 1)
    // Hard attention, host: which captions are read; for each the chosen pair, -1: soft attention.
    int captions;
    const int *caption, *chosen;
} vd_caption_step;

// Rewards of the sampled regions (hard attention): ln p(y|s) / T, summed over captions.
typedef struct vd_caption_rewards {
    double sum;
    int64_t count;
} vd_caption_rewards;

typedef struct vd_caption_pass {
    // Settings, filled by the caller; all else zero. tape: be, arena, w, dw and key.
    vd_tape tape;
    const vd_caption_config *config;
    const vd_real *sinusoid; // (VD_MAX_HISTORY, d) in the backend's memory
    vd_real dropout;
    bool no_history; // the second look attends to the regions alone; not with VD_HISTORY_ONLY
    vd_hard hard;    // draws follow from the tape's key
    // Hard attention: the reward's baseline (NULL: the mean of this batch), and the region that the
    // only caption attends to in each step (T) instead of a sampled one, or of the largest share
    // when not training; NULL: neither.
    const double *baseline;
    const int *forced;
    vd_caption_rewards rewards; // of vd_caption_compute_loss
    // Internal.
    int pictures;
    const int *region_start; // (B + 1) host: a picture's first region
    const int *region_row;   // (K) host: which row of (B P) a region is
    const vd_value *encoded; // (K, d) regions
    vd_caption_layer layer[VD_CAPTION_LAYERS];
    vd_caption_words words;                  // read last
    vd_value *logits;                        // (W, V)
    vd_caption_term term[VD_CAPTION_LAYERS]; // of words whose next one is known
    int terms;
    // Of recurrent captioners: (B, H) of each picture before the first word; of the captions read
    // last; steps when all words were read at once.
    vd_lstm_state start, state;
    vd_caption_step step[VD_MAX_CAPTION + 1];
} vd_caption_pass;

void vd_caption_layout(const vd_caption_config *config, vd_layout *layout);

// Encodes a batch's pictures. VD_USAGE: a picture has no regions, or captions do not match the
// configuration.
vd_status vd_caption_encode(vd_caption_pass *pass, const vd_batch *batch, vd_error *err);
// All words of captions, each with its next word: <S> w_1 .. w_n -> w_1 .. w_n </S>.
vd_status vd_caption_words_all(vd_caption_pass *pass, const vd_caption_batch *captions,
                               vd_caption_words *out, vd_error *err);
// One more word for each of some captions, ordered by picture: its id and the previously read
// caption that it extends (NULL: nothing was read before), on the host; picture NULL: all are of
// the first.
typedef struct vd_caption_next {
    int captions;
    const int32_t *id;
    const int *parent, *picture;
} vd_caption_next;
vd_status vd_caption_words_step(vd_arena *arena, const vd_caption_words *last,
                                const vd_caption_next *next, vd_caption_words *out, vd_error *err);
// The attention of word `position` of the first caption in a layer (of its last attention) and its
// row there. All words must have been read at once.
const vd_value *vd_caption_look(const vd_caption_pass *pass, int layer, int position, int *row);
// Reads the words and sets pass->logits. The words before them are those in pass->words.
vd_status vd_caption_read(vd_caption_pass *pass, const vd_caption_words *words, vd_error *err);

// The losses of a step's captions: sums over this batch, divided by the totals of the whole step.
typedef struct vd_caption_loss {
    double words; // cross entropy, mean over words, without smoothing
    double loss;  // what is minimised
    double other; // all other terms
} vd_caption_loss;

// Losses of all words (vd_caption_words_all) after vd_caption_read; totals NULL: of this batch.
// With gradients (tape.dw), also runs the backward pass.
//   loss = -(1 / words) sum q ln p + gamma / (N h captions) sum_captions (1/T) sum_t (w_t - beta)^2
// q is 1 at the next word, or 1 - epsilon_s there and epsilon_s / (V - 1) elsewhere. With ce sum,
// and SAT: 1 / captions instead of 1 / words. SAT soft:
//   lambda / captions sum_captions sum_k (tau - sum_t a_tk)^2
// SAT hard (s_t chosen, R = ln p(y|s) / T, m the baseline), of which the first has no value of its
// own:
//   -(1 / captions) sum_captions [lambda_r (R - m) sum_t ln a_{t,s_t} + lambda_e sum_t H(a_t)]
vd_status vd_caption_compute_loss(vd_caption_pass *pass, const vd_totals *of, vd_caption_loss *out,
                                  vd_error *err);

// The same for captions that the network generated, weighted by their rewards (SCST: Rennie et al.,
// CVPR 2017), after vd_caption_read of vd_caption_words_all: *loss = -sum weight ln p over all
// words, weight (W) on the host. It includes no other term.
vd_status vd_caption_weighted_loss(vd_caption_pass *pass, const vd_real *weight, double *loss,
                                   vd_error *err);

// Adds the share that each head gave to the history, summed over the last words read: (N, h).
// Returns false if the captioner has no history.
bool vd_caption_history_share(const vd_caption_pass *pass, double *sum);

// Encodes the pictures, reads their captions and computes loss and gradients.
vd_status vd_caption_run(vd_caption_pass *pass, const vd_batch *batch, const vd_totals *of,
                         vd_caption_loss *out, vd_error *err);

// Words and </S> of a batch's captions.
vd_totals vd_captions_totals(const vd_caption_batch *captions);

#endif

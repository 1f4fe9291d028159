// Training: forward, backward, clipping, optimiser, schedule, checkpoints.
#ifndef VD_TRAINER_H
#define VD_TRAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/networks/batch.h"
#include "engine/networks/captions/captions.h"
#include "engine/train/group.h"
#include "engine/model/captioner.h"
#include "engine/model/model.h"
#include "engine/train/options.h"
#include "engine/train/scst.h"

typedef struct vd_trainer vd_trainer;

// A new model with random weights (vd_layout_init) drawn from options->seed. vocab is copied.
// Settings out of range are refused (engine/base/settings.h).
vd_status vd_trainer_new(const vd_config *config, const vd_vocab *vocab,
                         const vd_train_options *options, vd_trainer **out, vd_error *err);
// Continues exactly where vd_trainer_checkpoint left off, options and optimiser state included.
vd_status vd_trainer_resume(const char *path, vd_trainer **out, vd_error *err);
void vd_trainer_free(vd_trainer *trainer);

// Starts a new trainer (no step taken yet) from a model's weights instead of random ones. Sizes
// must be the model's, and the vocabulary must begin with its words: the rows of further words,
// positions (learned ones start from zero) and a decoder that the model does not have start as new.
// A model with sigmoid gates can start one with another gate g: sigmoid(x) is near 1/2 + x/4, which
// is g(1/2 + x/4) where that is positive, so Wg becomes Wg / 4 and bg becomes bg / 4 + 1/2.
vd_status vd_trainer_start_from(vd_trainer *trainer, const vd_model *model, vd_error *err);

// Moves weights and optimiser state to another backend (engine/backend/backend.h), between steps;
// on failure they stay where they were. A new or resumed trainer is on the CPU.
vd_status vd_trainer_use(vd_trainer *trainer, const vd_backend *backend, vd_error *err);
const vd_backend *vd_trainer_backend(const vd_trainer *trainer);
// From now on, steps are taken together with the other processes of the group (NULL: alone). Every
// process must take every step, each with its own part of the dialogs. If every process has a
// device and the backend supports it, the devices sum the gradients, otherwise the group does in
// host memory; vd_trainer_sums says which and why. Uses the trainer's current backend. Every
// process must call it.
vd_status vd_trainer_join(vd_trainer *trainer, const vd_group *group, vd_error *err);
const char *vd_trainer_sums(const vd_trainer *trainer); // a text for users; "" without a group

// Word vectors (V, E) to start from instead of random ones, copied. VD_USAGE: the row of VD_PAD is
// not zero.
vd_status vd_trainer_set_words(vd_trainer *trainer, const float *rows, vd_error *err);

// Borrowed.
const vd_config *vd_trainer_config(const vd_trainer *trainer);
const vd_vocab *vd_trainer_vocab(const vd_trainer *trainer);
const vd_train_options *vd_trainer_options(const vd_trainer *trainer);
int64_t vd_trainer_steps(const vd_trainer *trainer); // steps taken so far

// A string, copied, stored in checkpoints and models under key (the name of the pool, the position
// in the data set, ...).
vd_status vd_trainer_set_metadata(vd_trainer *trainer, const char *key, const char *value,
                                  vd_error *err);
// Borrowed; NULL when absent.
const char *vd_trainer_metadata(const vd_trainer *trainer, const char *key);

// The rewards for options->scst; required before the first step. Borrowed, including what it points
// to.
void vd_trainer_reward(vd_trainer *trainer, const vd_rewards *rewards);
// After vd_trainer_update: the mean reward of the step's captions; 0 without scst.
double vd_trainer_rewarded(const vd_trainer *trainer);
// Of a captioner: one caption for each of a batch's pictures, greedy and without dropout. out:
// (pictures).
vd_status vd_trainer_describe(vd_trainer *trainer, const vd_batch *batch, vd_generated_caption *out,
                              vd_error *err);

// A step's dialogs (or pictures with captions), divided into micro-batches to limit memory.
typedef struct vd_micro_batches {
    size_t count; // of this process; 0 if other processes have all of the step's dialogs
    vd_totals of; // of the whole step, of all processes; with scst its questions are the pictures
    bool last_epoch; // of the run: the coverage loss applies
    bool linear;     // of its start: memn2n's hops are without softmax
    // The next one, valid until the next call.
    vd_status (*next)(void *context, const vd_batch **batch, vd_error *err);
    void *context;
} vd_micro_batches;

// One step takes two calls. A device that runs out of memory fails in the first, which changes no
// weights and can be repeated. It sums this process' gradient over the micro-batches; the result is
// that of one large batch (up to rounding; each micro-batch has its own dropout masks). *loss: the
// part of this process of the mean loss before the step: the sum over the decoders, plus
// options->next_word times the loss of the next words.
vd_status vd_trainer_gradient(vd_trainer *trainer, const vd_micro_batches *step, double *loss,
                              vd_error *err);
// Sums gradient and *loss over the processes and changes the weights; multiplier is the schedule's
// factor on the rate. *gradient_norm (may be NULL): before clipping. VD_FORMAT: loss or norm is not
// finite; the weights are as they were.
vd_status vd_trainer_update(vd_trainer *trainer, double multiplier, double *loss,
                            double *gradient_norm, vd_error *err);

// Scores of all candidates without dropout, by all decoders the model has (vd_network_scores):
// scores (B, R, O). For evaluation during training.
vd_status vd_trainer_scores(vd_trainer *trainer, const vd_batch *batch, float *scores,
                            vd_error *err);

// Of a captioner (config.task): the loss of a batch's captions without dropout; of: its divisor.
// given: (N, h), the share that heads gave to the history is added to it
// (vd_caption_history_share); may be NULL.
vd_status vd_trainer_caption_loss(vd_trainer *trainer, const vd_batch *batch, const vd_totals *of,
                                  vd_caption_loss *loss, double *given, vd_error *err);
// (N, h) the levels beta of attention weight coherence. Returns false if there are none.
bool vd_trainer_levels(const vd_trainer *trainer, double *levels);

// The factor of the learning rate when the fraction `done` of the run (0 to 1) is done. steps: the
// thesis' schedule, which rises linearly 0.01 -> 1 over the first 2 of 8 epochs, x0.1 at 5 and
// at 6. cosine: rises linearly 0.01 -> 1 over the first 1/32, then half a cosine down to 0.02.
// constant, warm-up: 1.
double vd_schedule_multiplier(vd_schedule schedule, double done);
// The factor in step 1, 2 ... of the schedule warm-up (Vaswani et al. 2017, equation 3):
//   width^-0.5 min(step^-0.5, step steps^-1.5), highest at step `steps`
double vd_warm_up(int width, int64_t step, int64_t steps);

// Model file (weights, and the options they were trained with) and checkpoint (weights, optimiser
// state, counters); both written to a temporary file, synced and renamed. dtype VD_F32 or VD_F16.
vd_status vd_trainer_save_model(const vd_trainer *trainer, const char *path, int dtype,
                                vd_error *err);
vd_status vd_trainer_checkpoint(const vd_trainer *trainer, const char *path, vd_error *err);

#endif

// Training a convolutional net on pictures rendered for it: the detector, and the classifier of its
// regions. A batch is divided into micro-batches, each on a thread of its own. Batch normalisation
// is over the pictures of one micro-batch (as in Hoffer et al. 2017, section 4).
#ifndef BLOCKS_DETECTOR_TRAINER_H
#define BLOCKS_DETECTOR_TRAINER_H

#include "assets/blocks/detector.h"
#include "assets/blocks/detector_loss.h"
#include "features/extract/convnet.h"

enum { BLOCKS_MICRO_BATCHES = 2, BLOCKS_MICRO_BATCH_MOST = 32 };

// Pictures, augmented, and what a net makes of them.
typedef struct blocks_micro_batch {
    vd_conv_pass *pass;
    vd_real *picture; // (240, 320, 4) that crops are taken of; NULL: there are none
    int count;        // pictures
    int targets[BLOCKS_MICRO_BATCH_MOST];
    detector_target target[BLOCKS_MICRO_BATCH_MOST][BLOCKS_MAX];
    blocks_detector_loss loss;
} blocks_micro_batch;

typedef struct blocks_trainer blocks_trainer;

// What a net learns.
typedef struct blocks_task {
    const char *stage; // of the progress
    const vd_conv *layer;
    const int *layers;
    int channels, width, height;   // of the net's input
    int crops;                     // taken of a picture; 0: the picture itself is the input
    void (*init)(vd_convnet *net); // after the weights were drawn; may be NULL
    // Takes the crops of picture i, which is in batch->picture; random numbers go on from *rng.
    void (*crop)(const blocks_micro_batch *batch, int i, vd_rng *rng);
    // Adds the losses of the net's output to batch->loss. gradient: of scale times their sum.
    void (*loss)(blocks_micro_batch *batch, const vd_real *output, double scale, vd_real *gradient);
    // After every epoch but the last, with `folded`; may be NULL.
    vd_status (*save)(const blocks_trainer *trainer, vd_error *err);
} blocks_task;

struct blocks_trainer {
    const blocks_detector_options *options;
    const blocks_task *task;
    blocks_scene *scene; // (pictures)
    uint8_t *rgb;        // (pictures, 240, 320, 3)
    size_t *order;       // (pictures)
    vd_convnet *net, *folded;
    blocks_micro_batch batch[BLOCKS_MICRO_BATCHES];
    vd_real *moment[2];            // of Adam: (params)
    blocks_detector_report report; // may be NULL
    void *user;
    double start; // of the stage
    long step;    // steps taken
    int first;    // of the step's pictures in `order`
    int objects;  // or crops, in the step's batch
};

// Renders the pictures. After a failure, too, the trainer is cleared.
vd_status blocks_trainer_new(blocks_trainer *trainer, const blocks_detector_options *options,
                             blocks_detector_report report, void *user, vd_error *err);
void blocks_trainer_clear(blocks_trainer *trainer);
// A new net for the task, in place of the one before.
vd_status blocks_trainer_begin(blocks_trainer *trainer, const blocks_task *task, vd_error *err);
// All epochs; trainer->folded is the result.
vd_status blocks_trainer_run(blocks_trainer *trainer, vd_error *err);

extern const blocks_task blocks_task_detector, blocks_task_classifier;
// After the detector's training: shifts its confidence so that one half is the best threshold, and
// writes it.
vd_status blocks_trainer_calibrate(blocks_trainer *trainer, vd_error *err);

#endif

// Training a convolutional net on pictures rendered for it: the detector, and the classifier of its
// regions. A batch is computed in two halves, each on a thread of its own.
#ifndef BLOCKS_DETECTOR_TRAINER_H
#define BLOCKS_DETECTOR_TRAINER_H

#include "assets/blocks/detector.h"
#include "assets/blocks/detector_loss.h"
#include "features/extract/convnet.h"

enum { BLOCKS_HALVES = 2 };

typedef struct blocks_half blocks_half;
typedef struct blocks_trainer blocks_trainer;

// What a net learns.
typedef struct blocks_lesson {
    const char *stage; // of the progress
    const vd_conv *layer;
    const int *layers;
    int channels, width, height;    // of the net's input
    int crops;                      // taken of a picture; 0: the picture itself is the input
    void (*begin)(vd_convnet *net); // after the weights were drawn; may be NULL
    // Computes the pass of a half, its losses and its gradients.
    void (*learn)(blocks_half *half);
    // After every epoch but the last, with `folded`; may be NULL.
    vd_status (*keep)(const blocks_trainer *trainer, vd_error *err);
} blocks_lesson;

struct blocks_trainer {
    const blocks_detector_options *options;
    const blocks_lesson *lesson;
    blocks_scene *scene; // (pictures)
    uint8_t *rgb;        // (pictures, 240, 320, 3)
    int *order;          // (pictures)
    vd_convnet *net, *folded;
    vd_conv_pass *pass[BLOCKS_HALVES];
    vd_real *picture[BLOCKS_HALVES]; // (240, 320, 4) that crops are taken of
    vd_real *gradient;
    vd_real *moment[2];            // of Adam, like gradient
    blocks_detector_report report; // may be NULL
    void *user;
    double start; // of the stage
};

struct blocks_half {
    blocks_trainer *trainer;
    vd_conv_pass *pass;
    int index, first, count; // pictures
    long step;
    blocks_detector_loss loss;
    int objects; // or crops, in the whole batch
};

// Renders the pictures. After a failure, too, the trainer is cleared.
vd_status blocks_trainer_new(blocks_trainer *trainer, const blocks_detector_options *options,
                             blocks_detector_report report, void *user, vd_error *err);
void blocks_trainer_clear(blocks_trainer *trainer);
// A new net for the lesson, in place of the one before.
vd_status blocks_trainer_begin(blocks_trainer *trainer, const blocks_lesson *lesson, vd_error *err);
// All epochs; trainer->folded is the result.
vd_status blocks_trainer_run(blocks_trainer *trainer, vd_error *err);

// Picture i of a half, augmented, as blocks_augment has it; *rng goes on.
int blocks_half_picture(const blocks_half *half, int i, vd_rng *rng, vd_real *input,
                        detector_target *target);

// The lessons, and what follows the detector's: its confidence is calibrated.
extern const blocks_lesson blocks_lesson_detector, blocks_lesson_classifier;
vd_status blocks_detector_settle(blocks_trainer *trainer, vd_error *err);

#endif

// How a network is trained: optimiser, schedule, loss, dropout, batches, and what is made of it.
// Names, bounds, defaults and help of all of them: engine/networks/settings.h.
#ifndef VD_TRAIN_OPTIONS_H
#define VD_TRAIN_OPTIONS_H

#include <stdint.h>

#include "engine/base/settings.h"

typedef enum vd_optimiser { VD_ADAM, VD_RMSPROP, VD_ADAMAX } vd_optimiser;

// Of the learning rate: the thesis' three steps, or a cosine (vd_schedule_multiplier).
typedef enum vd_schedule { VD_SCHEDULE_STEPS, VD_SCHEDULE_COSINE } vd_schedule;

typedef struct vd_train_options {
    // Adam or AdaMax (0.9, 0.999, 1e-8), or RMSProp (alpha 0.99, eps 1e-8)
    vd_optimiser optimiser;
    double rate, clip;
    vd_schedule schedule;
    int margin; // of the L-softmax: lambda = max(floor, start * decay^step)
    double lambda_start, lambda_decay, lambda_floor;
    double dropout, lstm_dropout, position_dropout;
    int own_masks;       // as vd_pass has it
    double text_dropout; // below 0: the text encoder's own (engine/networks/text/)
    double coverage;     // weight of the coverage loss in the last epoch (decoders/copying.c)
    // 1: a gate without an upper bound starts as the tangent of a sigmoid one, 1/2 + x/4, so that
    // the network starts where one with sigmoid gates does; 0: as the sigmoid's weights would,
    // PyTorch's start, from which attention 3 saturates early.
    int open_gates;
    uint64_t seed;
    // Of a run over a data set (tui/train); a trainer only keeps and checks them.
    int batch, micro_batch, epochs; // micro_batch 0: the whole batch
    int min_count, pool, half;
} vd_train_options;

extern const vd_setting vd_train_settings[]; // the rows of vd_train_options
extern const char *const vd_optimiser_names[], *const vd_schedule_names[];

vd_train_options vd_train_defaults(void);

#endif

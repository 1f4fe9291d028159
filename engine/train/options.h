// How a network is trained: optimiser, schedule, loss, dropout.
#ifndef VD_TRAIN_OPTIONS_H
#define VD_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef enum vd_optimiser { VD_ADAM, VD_RMSPROP } vd_optimiser;

typedef struct vd_train_options {
    vd_optimiser optimiser; // Adam (0.9, 0.999, 1e-8) or RMSProp (alpha 0.99, eps 1e-8)
    double rate;            // base learning rate, 1e-3
    double clip;            // largest norm of the whole gradient; 0 = no clipping
    int margin;             // L-softmax margin m: 1 (plain softmax), 2, 3, 4
    double lambda_start, lambda_decay, lambda_floor; // lambda = max(floor, start * decay^step)
    float dropout;          // before each f, score layer, MLP and fusion: 0.25
    float lstm_dropout;     // between LSTM layers: 0.4
    float position_dropout; // after adding positions: 0.1
    // 1: a gate without an upper bound starts as the tangent of a sigmoid one, 1/2 + x/4, so that
    // the network starts where one with sigmoid gates does; 0: as the sigmoid's weights would,
    // PyTorch's start, from which attention 3 saturates early.
    int open_gates;
    uint64_t seed;
} vd_train_options;

// The defaults above; softmax loss, Adam, seed 1.
vd_train_options vd_train_defaults(void);
// As a JSON object and back; whether all are in range (engine/base/settings.h).
vd_status vd_train_options_write(const vd_train_options *options, char **json, vd_error *err);
vd_status vd_train_options_read(const char *json, const char *where, vd_train_options *options,
                                vd_error *err);
vd_status vd_train_options_check(const vd_train_options *options, vd_error *err);
const char *vd_optimiser_name(vd_optimiser optimiser);
bool vd_optimiser_parse(const char *name, vd_optimiser *out);

#endif

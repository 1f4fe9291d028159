// A training run with its curves on the screen.
#ifndef VD_TRAINING_WATCHED_H
#define VD_TRAINING_WATCHED_H

#include "tui/train/training.h"

// vd_training_run, quiet and silent, while the screen shows the curves; a key stops it with a
// checkpoint. VD_UNAVAILABLE: no thread, or no terminal.
vd_status vd_training_run_watched(vd_training *training, vd_error *err);

#endif

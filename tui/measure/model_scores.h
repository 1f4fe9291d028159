// A loaded model as a source of scores to measure: one scorer a worker, candidates encoded once
// for the dialogs that share them.
#ifndef VD_MEASURE_MODEL_SCORES_H
#define VD_MEASURE_MODEL_SCORES_H

#include "engine/model/model.h"
#include "tui/measure/measure.h"

// by: the decoders that score, of those the model has. Closed with vd_measure_model_close, also
// after a failure.
vd_status vd_measure_model_open(vd_model *model, vd_decoders by, int workers,
                                vd_measure_source *out, vd_error *err);
void vd_measure_model_close(vd_measure_source *source);

#endif

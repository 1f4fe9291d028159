// What was measured, as tables for people and as JSON.
#ifndef VD_MEASURE_REPORT_H
#define VD_MEASURE_REPORT_H

#include <yajl/yajl_gen.h>

#include "engine/measure/statistics.h"
#include "tui/measure/measure.h"

// intervals: (VD_METRICS) of the metrics over all rounds, at this confidence level, or NULL.
void vd_measure_print(const vd_measure *measure, const vd_interval *intervals, double level);
// Keys and values into the object that is open: "dialogs", "all", "interval", "round", "family",
// "rounds_back".
void vd_measure_json(yajl_gen json, const vd_measure *measure, const vd_interval *intervals,
                     double level);

#endif

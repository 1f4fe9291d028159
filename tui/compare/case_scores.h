// The part of making cases that asks the models.
#ifndef VD_CASE_SCORES_H
#define VD_CASE_SCORES_H

#include "tui/compare/cases.h"

// Fills cases->at, which has room for them, and cases->count with every round that has candidates,
// by dialog and round, as each of the models scores it.
vd_status vd_case_scores(vd_cases *cases, const vd_cases_options *options, vd_error *err);

#endif

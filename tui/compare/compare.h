// What comes of comparing models over a data set, and the ways to say it: tables, JSON,
// Markdown, one HTML page.
#ifndef VD_COMPARE_H
#define VD_COMPARE_H

#include "tui/compare/cases.h"

typedef struct vd_compare {
    const vd_cases *cases;
    vd_slices slices;
    vd_right by;            // what the groups go by
    const vd_case **at;     // (count) the cases that are shown one by one, in their order
    size_t count, shown_of; // how many there would be without a limit
    const atomic_int *stop; // may be NULL
    vd_progress *progress;  // of the cases; may be NULL
} vd_compare;

// p-values of one metric, of a model against the first, over slices first .. first + count - 1,
// corrected for being asked together (Holm). out: (count).
vd_status vd_compare_holm(const vd_compare *compare, int side, size_t first, size_t count,
                          vd_metric metric, double *out, vd_error *err);
// Over all cases: p-values of a model's metrics, corrected for the number of models that are held
// against the first, and what those are called ("p" of two models, else "p (Holm)").
vd_status vd_compare_model_p(const vd_compare *compare, int side, double out[VD_METRICS],
                             vd_error *err);
const char *vd_compare_p_name(const vd_compare *compare);
// Of a model and the first: in how many questions both, one or none is right, and what the groups
// are called.
void vd_compare_counts(const vd_against *pair, vd_right by, size_t out[VD_CASE_UNKNOWN]);
void vd_compare_pair_name(const vd_compare *compare, int side, vd_case_group group, char *out,
                          size_t size);
// The metric that says how often a model is right: R@1 or correct@1.
vd_metric vd_compare_metric(vd_right by);
const char *vd_compare_metric_name(vd_metric metric); // for people: "R@1", "mean rank"
// "0.620", "< 0.001"; "-" when it is not known.
void vd_compare_p(char *out, size_t size, double p);
// Both ends of an interval with `digits` decimals, each `width` wide; "-" when they are not known.
void vd_compare_range(char *out, size_t size, const vd_interval *interval, int width, int digits,
                      const char *between);

vd_status vd_compare_print(const vd_compare *compare, vd_error *err);
vd_status vd_compare_json(const vd_compare *compare, vd_error *err);
vd_status vd_compare_markdown(const vd_compare *compare, const char *path, vd_error *err);
vd_status vd_compare_html(const vd_compare *compare, const char *path, vd_error *err);

#endif

// The result of comparing models over a data set, written as tables, JSON, Markdown or one HTML
// page.
#ifndef VD_COMPARE_H
#define VD_COMPARE_H

#include "tui/base/table.h"
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

// What two models are compared by, a table each.
typedef enum vd_compare_kind {
    VD_COMPARE_GROUPS, // which is right
    VD_COMPARE_METRICS,
    VD_COMPARE_FAMILIES, // the metric of `by`, by family and by round
    VD_COMPARE_ROUNDS,
    VD_COMPARE_KINDS
} vd_compare_kind;

// Hands the tables about a model and the first one to `put`, those that have something to say.
typedef void vd_compare_put(void *context, vd_compare_kind kind, const vd_table *table);
vd_status vd_compare_tables(const vd_compare *compare, int side, vd_compare_put *put, void *context,
                            vd_error *err);
// "-0.0550 to +0.0651"; "-" when it is not known.
void vd_compare_range(char *out, size_t size, const vd_interval *interval);

// A question, and in lines below it the human answer and each model's.
void vd_case_print(const vd_cases *cases, const vd_case *at, vd_right by, bool utf8);
// To standard output; the other two replace the file at path.
vd_status vd_compare_print(const vd_compare *compare, vd_error *err);
void vd_compare_json(const vd_compare *compare);
vd_status vd_compare_markdown(const vd_compare *compare, const char *path, vd_error *err);
vd_status vd_compare_html(const vd_compare *compare, const char *path, vd_error *err);

#endif

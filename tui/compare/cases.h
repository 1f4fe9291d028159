// Every question of a data set with the answers of two to four models: which are right, how much
// they differ, and whether that is significant. The first model is the baseline.
// The questions continue from the human answers, as in the evaluation.
#ifndef VD_CASES_H
#define VD_CASES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine/measure/statistics.h"
#include "tui/measure/corpus.h"
#include "tui/base/progress.h"
#include "tui/answer/sheet.h"

// ---- cases --------------------------------------------------------------------------------------

typedef struct vd_case_side {
    vd_metrics metrics; // of this question alone
    float rank;         // of the human answer, ties averaged; 0 not known
    int32_t first;      // the answer ranked first: index into the round's options
    float moved; // total variation distance to the first model's probabilities, 0..1: half of sum
                 // |p_a - p_b|; 0 for the first model
} vd_case_side;

typedef struct vd_case {
    uint32_t dialog;
    int32_t round;                // from 0
    float moved;                  // the most that any side did
    vd_case_side side[VD_MODELS]; // of the models
} vd_case;

typedef struct vd_cases {
    const vd_corpus *corpus; // borrowed
    int models;              // 2 .. VD_MODELS
    vd_model *model[VD_MODELS];
    vd_decoders by[VD_MODELS]; // that rank
    char *name[VD_MODELS];     // shown; all different
    size_t first, dialogs;     // those of the corpus that are compared
    size_t count;
    vd_case *at; // (count) by dialog and round
    size_t family_count;
    int threads;         // that work at a time
    const char **family; // by name; borrowed from the corpus
    int rounds;          // of the longest dialog
} vd_cases;

typedef struct vd_cases_options {
    const char *model[VD_MODELS]; // bundled names or paths; two at least, NULL ends them
    // Of each model, which of its decoders rank; not made: all that it has, as in the evaluation.
    vd_decoder_choice decoder[VD_MODELS];
    size_t limit; // dialogs; 0 = all
    bool one;     // only the dialog about the picture image_id
    int64_t image_id;
    int threads; // that work at a time; 0 = as many as there are processors
    const atomic_int *stop;
    bool quiet; // no line of progress
} vd_cases_options;

// Help: which models are compared where none is named.
#define VD_HELP_COMPARED                                                                           \
    "Without --model the models are base and improved, which are the same network, MVAN, without " \
    "and with the four changes Adam, LeakyReLU gates, positions and large margin. "

// Reads an option (vd_option) into a vd_cases_options: one more of the models, or of the decoders;
// at most VD_MODELS.
vd_status vd_cases_add_model(void *options, const char *name, const char *text, vd_error *err);
vd_status vd_cases_add_decoder(void *options, const char *name, const char *text, vd_error *err);
// When all are named: base and improved where there are no models, one decoder for all of them.
// VD_USAGE for a single model, or another number of decoders.
vd_status vd_cases_complete(vd_cases_options *options, vd_error *err);
int vd_cases_model_count(const vd_cases_options *options);
// Loads the models and scores every round that has candidates. VD_FORMAT when none has a human
// answer or relevance. Keeps a reference to corpus. The cases do not depend on the number of
// threads.
vd_status vd_cases_new(const vd_corpus *corpus, const vd_cases_options *options, vd_cases **out,
                       vd_error *err);
void vd_cases_free(vd_cases *cases);

const vd_visdial_dialog *vd_case_dialog(const vd_cases *cases, const vd_case *at);
const vd_visdial_round *vd_case_round(const vd_cases *cases, const vd_case *at);
const char *vd_case_option(const vd_cases *cases, const vd_case *at, int option); // its text
const char *vd_case_question(const vd_cases *cases, const vd_case *at);           // without "?"
const char *vd_case_human(const vd_cases *cases, const vd_case *at);              // NULL: not known

// ---- groups -------------------------------------------------------------------------------------

// When an answer counts as right: it is what the human said (the thesis' ticks; rank 1), or people
// found it fully right (relevance 1).
typedef enum vd_right { VD_RIGHT_HUMAN, VD_RIGHT_RELEVANT } vd_right;

typedef enum vd_case_group {
    VD_CASE_BOTH,    // every model
    VD_CASE_FIRST,   // the first model, but not every other one
    VD_CASE_SECOND,  // not the first model, but another one
    VD_CASE_NEITHER, // no model
    VD_CASE_UNKNOWN, // the right answer is not known
    VD_CASE_GROUPS
} vd_case_group;

bool vd_case_right(const vd_case *at, int side, vd_right by);
vd_case_group vd_case_group_of(const vd_cases *cases, const vd_case *at, vd_right by);
// "both", "first", "second", "neither"; NULL for VD_CASE_UNKNOWN.
const char *vd_case_group_key(vd_case_group group);
void vd_cases_names(const vd_cases *cases, char *out, size_t size); // "a, b and c"
// A tick or a cross for each model ("\u2713\u2717"), "??" when it is not known.
void vd_case_marks(const vd_cases *cases, const vd_case *at, vd_right by, bool ascii, char *out,
                   size_t size);
// "both right", "only base right", ...: of all models, and of a model and the first.
void vd_case_pair_name(const vd_cases *cases, int side, vd_case_group group, char *out,
                       size_t size);
void vd_case_group_name(const vd_cases *cases, vd_case_group group, char *out, size_t size);

// ---- choosing -----------------------------------------------------------------------------------

typedef enum vd_case_order { VD_CASE_BY_DIFFERENCE, VD_CASE_BY_DIALOG } vd_case_order;

typedef struct vd_case_filter {
    vd_right by;
    unsigned groups;    // bits 1 << vd_case_group; 0 = all
    const char *family; // NULL: any
    int round;          // from 1; 0: any
    const char *text;   // in question, human answer or first answers, or the picture's number
} vd_case_filter;

bool vd_case_matches(const vd_cases *cases, const vd_case *at, const vd_case_filter *filter);
// out: room for cases->count; gets the matching cases in that order. Returns how many. By
// difference: largest first, equal ones by dialog and round.
size_t vd_cases_select(const vd_cases *cases, const vd_case_filter *filter, vd_case_order order,
                       const vd_case **out);

// ---- significance of the difference -------------------------------------------------------------

// A model against the first one.
typedef struct vd_against {
    vd_interval difference[VD_METRICS]; // the model - the first, bootstrapped over dialogs
    vd_pairs right[2];                  // by vd_right; a is the first model
} vd_against;

typedef struct vd_comparison {
    size_t cases;
    vd_metrics metrics[VD_MODELS];
    vd_against against[VD_MODELS]; // by model; nothing for the first
} vd_comparison;

// Over the cases of the filter. resamples 0 = 10000.
vd_status vd_cases_compare(const vd_cases *cases, const vd_case_filter *filter, int resamples,
                           vd_comparison *out, vd_error *err);

// All cases, every family and every round.
typedef struct vd_slice {
    const char *family; // NULL: any
    int round;          // 0: any
    vd_comparison comparison;
} vd_slice;
typedef struct vd_slices {
    size_t count;
    vd_slice *slice; // the first is about all cases
} vd_slices;
vd_status vd_cases_slices(const vd_cases *cases, int resamples, const atomic_int *stop,
                          vd_slices *out, vd_error *err);
void vd_slices_clear(vd_slices *slices);

// ---- one case in full ---------------------------------------------------------------------------

typedef struct vd_case_sheet {
    vd_sheet sheet; // the rest is what it borrows
    vd_reply reply[VD_MODELS];
    vd_picture_regions regions;
    vd_turn *history;
    const char **texts;
    char id[48], title[96], group_name[96];
} vd_case_sheet;

// Asks the models. May run on another thread than the rest, one call at a time. The sheet has no
// picture: its width and height are 0. *out must stay where it is.
vd_status vd_case_sheet_make(const vd_cases *cases, const vd_case *at, vd_right by,
                             const atomic_int *stop, vd_case_sheet *out, vd_error *err);
// The same without boxes and answers: out->reply is empty.
void vd_case_sheet_lay_out(const vd_cases *cases, const vd_case *at, vd_right by,
                           vd_case_sheet *out);
// Which models are right, and the group, by another meaning of right.
void vd_case_sheet_judge(const vd_cases *cases, const vd_case *at, vd_right by, vd_case_sheet *out);
void vd_case_sheet_clear(vd_case_sheet *sheet);

// ---- between these files -------------------------------------------------------------

// Fills cases->at, which has room for them, and cases->count with every round that has candidates,
// by dialog and round, as each of the models scores it.
vd_status vd_case_scores(vd_cases *cases, const vd_cases_options *options, vd_error *err);

#endif

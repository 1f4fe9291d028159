// What a network computed on the way to one answer, stage by stage, for people to walk through: a
// list of stages that the network gives. Legend of engine/networks/batch.h, and R history entries,
// P regions, Tq question words, Th words of the history, O answers.
//
// Rows of entries and regions that an intervention left out, and of padding, are zero.
#ifndef VD_TRACE_H
#define VD_TRACE_H

#include <stddef.h>

#include "engine/networks/attention.h"
#include "engine/networks/config.h"

// A tensor. Texts are constants of the network.
typedef struct vd_trace_value {
    const char *name, *is; // "Q", "word states"
    char axes[24];         // "Tq, 2H"; a number where the legend has no letter
    int dims, shape[3];
    const float *value; // NULL: not among what was computed
} vd_trace_value;

// Numbers to be shown as a table. The rows and columns of an axis are all of it, in its order, and
// named by who shows them; those of VD_AXIS_NONE have the names given here.
typedef struct vd_trace_table {
    char title[64];
    bool share;   // parts of 1: bars and percents
    bool nothing; // one more column after the axis: the share of nothing
    vd_axis row_axis, column_axis;
    const char *const *row, *const *column;
    int rows, columns;
    const double *value; // (rows, columns)
} vd_trace_table;

enum { VD_STAGE_VALUES = 4, VD_STAGE_FORMULAS = 6, VD_STAGE_TABLES = 7 };

typedef struct vd_trace_stage {
    char title[64];
    const char *why;
    const char *formula[VD_STAGE_FORMULAS]; // NULL: no more
    vd_trace_value in[VD_STAGE_VALUES], out[VD_STAGE_VALUES];
    int ins, outs;
    vd_trace_table table[VD_STAGE_TABLES];
    int tables;
} vd_trace_stage;

typedef struct vd_trace {
    vd_trace_stage *stage; // (stages)
    int stages;
    vd_arena memory; // of the stages and of all their numbers
} vd_trace;

// Room for so many stages, all zero.
vd_status vd_trace_make(int stages, vd_trace *out, vd_error *err);
// VD_OK; VD_NO_MEMORY where memory has run out since, and the trace is cleared.
vd_status vd_trace_status(vd_trace *trace, vd_error *err);
void vd_trace_clear(vd_trace *trace); // frees what it owns and zeroes it

// Appends a table to a stage; returns its numbers, zeros to be filled in, NULL when memory is out.
double *vd_trace_add_table(vd_trace *trace, vd_trace_stage *stage, const char *title,
                           vd_trace_table table);
// The same of an attention, filled in. title NULL: its own. column: of an attention with one row
// the name of the only column, which has a row for each key; NULL: it stays a row.
double *vd_trace_add_attention(vd_trace *trace, vd_trace_stage *stage, const char *title,
                               const vd_attention *attention, const char *const *column);

// What an answer came to, as its stages show it.
typedef struct vd_outcome {
    const vd_attention *attention; // (attentions)
    int attentions;
    const vd_attention *looks; // (look_count) of the words of the given answer
    int look_count;
    vd_decoders by;           // that ranked
    vd_answer_decoder answer; // how a generative decoder generates them
    vd_copy copy;
    int candidates;
    const float *score, *probability; // (candidates)
} vd_outcome;

// The last stages, behind every network's vector e, which `encoded` is: scores of the candidates
// and softmax.
enum { VD_DECODER_STAGES = 2 };
void vd_decoder_stages(const vd_outcome *outcome, const vd_trace_value *encoded, vd_trace *trace);

#endif

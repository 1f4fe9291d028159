// A walk through one answer: the stages of the network in order, each with inputs, formula,
// numbers, outputs and reason; the effect of every what-if beside the attention on the same thing;
// and the answer with some what-ifs switched on. Plain data; runs on the engine's thread.
#ifndef VD_WALK_H
#define VD_WALK_H

#include <stdatomic.h>

#include "tui/session/session.h"
#include "tui/session/switches.h"

typedef struct vd_walk_entry {
    char label[96]; // "caption", "round 2: what color is it"
    vd_entry_words words;
} vd_walk_entry;

// What one switch does to the first answer.
typedef struct vd_effect {
    vd_switch what;
    double attention; // share it got, of several steps the largest; negative: it gets none
    double left;      // probability of the original first answer
    int first;        // the first answer with the switch
} vd_effect;

typedef struct vd_walk {
    char model[64];
    vd_config config;
    int entries, regions;
    vd_walk_entry *entry;  // (entries)
    int *region;           // (regions) rows of the features by falling attention, as they are shown
    vd_region_name *names; // (regions) or NULL
    vd_reply reply;        // as it is
    vd_trace trace;
    int effects; // 0: not asked for
    vd_effect *effect;
    vd_switches switches;
    vd_reply changed; // with the switches; answer.candidates is 0 without any
    vd_trace changed_trace;
} vd_walk;

// Asks the session's conversation `typed`, and again with the switches (NULL: none), and with each
// single one when effects are wanted. A switch that names what is not there is VD_USAGE.
vd_status vd_walk_new(vd_session *session, const char *typed, const vd_switches *switches,
                      bool effects, const atomic_int *stop, vd_walk **out, vd_error *err);
void vd_walk_free(vd_walk *walk);
// How many attentions the question has over this axis: one for each step that looks there.
int vd_walk_looks(const vd_walk *walk, vd_axis axis);
// What a switch is about, or what it does where it leaves nothing out: "region 3 blue metal cone",
// "round 2: what color is it", "word 1 \"what\"", "positions added", "attention 4: regions
// flattened".
void vd_walk_switch_name(const vd_walk *walk, const vd_switch *what, char *out, size_t size);

// ---- stages ------------------------------------------------------------------------------------

// Those that the network gives (engine/networks/trace.h), with names for rows and columns.

// Numbers with names. Shares are parts of 1, to be shown as bars and percents.
typedef struct vd_walk_table {
    char title[64];
    bool share;
    int rows, columns;
    char (*row)[64];
    char (*column)[24];
    double *value;    // (rows, columns)
    char (*text)[48]; // (rows, columns) instead of numbers alone, or NULL
} vd_walk_table;

// The cell `at` as a text; narrow: a share without " %".
void vd_walk_cell(const vd_walk_table *table, int at, bool narrow, char *out, size_t size);

typedef struct vd_walk_stage {
    const vd_trace_stage *of; // the network's
    vd_walk_table table[VD_STAGE_TABLES];
    int tables;
} vd_walk_stage;

// Stage `index` of the answer as it is, or as the switches changed it. answers: the texts of the
// pool.
void vd_walk_stage_make(const vd_walk *walk, bool changed, int index, const char *const *answers,
                        vd_walk_stage *out);
void vd_walk_stage_clear(vd_walk_stage *stage);

#endif

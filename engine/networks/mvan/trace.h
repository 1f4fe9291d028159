// What the stages of the network computed on the way to one answer, as floats, in the order of
// their files. Legend of engine/networks/batch.h, and R history entries, P regions, Tq question
// words.
//
// Rows of entries and regions that an intervention left out, and of padding, are zero.
#ifndef VD_TRACE_H
#define VD_TRACE_H

#include "engine/base/error.h"

typedef struct vd_trace {
    int embed, hidden, region; // E, H, D
    int words;                 // Tq
    int rounds;                // R
    int regions;               // P
    float *memory;             // of all arrays

    // Word states (sentences.c).
    float *word;     // (Tq, E) embeddings, without positions
    float *state;    // (Tq, 2H) Q
    float *question; // (2H) q
    float *history;  // (R, 2H) h
    // Context matching (context_matching.c).
    float *matched;      // (2H) c
    float *context_gate; // (4H) sigmoid(Wx + b), of [q ; c]
    float *context;      // (4H) e_ctx
    // Topic aggregation (topic_aggregation.c).
    float *gathered;   // (Tq, E) u
    float *topic_gate; // (Tq, 2E) sigmoid(Wx + b), of [word ; u]
    float *topic;      // (Tq, 2E) e_top
    // Topic view (topic_view.c).
    float *region_topic; // (P, 2E) t
    float *view;         // (P, D) m
    // Context view (context_view.c).
    float *fused;  // (P, H) z
    float *pooled; // (D+4H) y
    // Fusion (fusion.c).
    float *encoded; // (H) e
} vd_trace;

void vd_trace_clear(vd_trace *trace); // frees what it owns and zeroes it

#endif

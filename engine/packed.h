// Sequences of different lengths without padding. Two orders of the same tokens are used:
//   flat order     sequence 0's words, then sequence 1's, ... : what attention reads
//   step order     step 0 of all sequences (longest first), then step 1, ... : what an LSTM reads
#ifndef VD_PACKED_H
#define VD_PACKED_H

#include <stdint.h>

#include "engine/arena.h"
#include "engine/error.h"

typedef struct vd_packed {
    int sequences; // S
    int tokens;    // T, over all sequences
    int longest;   // steps
    int *start;    // (S + 1) flat row of a sequence's first word
    int *length;   // (S)
    int32_t *id;   // (T) token ids, flat order
    int *place;    // (T) place of a token in its sequence, flat order
    int *owner;    // (T) sequence of a token, flat order
    int *order;    // (S) sequences by falling length, ties by index
    int *active;   // (longest) sequences that have a step s
    int *offset;   // (longest + 1) first row of a step, step order
    int *forward;  // (T) flat row of each row in step order, reading left to right
    int *backward; // (T) the same, reading right to left
} vd_packed;

// ids: (sequences, width), lengths 0..width. Arrays live in arena.
vd_status vd_packed_make(const int32_t *ids, const int32_t *lengths, int sequences, int width,
                         vd_arena *arena, vd_packed *out, vd_error *err);

#endif

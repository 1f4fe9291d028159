// The name nearest to what was typed, for "did you mean ...?".
#ifndef VD_NEAREST_H
#define VD_NEAREST_H

// How many single-letter edits lie between two names: letters added, left out, replaced, and two
// neighbours swapped (optimal string alignment; Damerau 1964). Of long names the first 40 bytes.
int vd_edits(const char *a, const char *b);

enum { VD_EDITS_OF_NAMES = 3 }; // the usual `most`

// The first of the candidates with the fewest edits, at most one for three of its letters.
typedef struct vd_nearest {
    const char *typed;
    int most;         // edits
    const char *name; // borrowed, NULL: none is near
    int edits;        // to that
} vd_nearest;

void vd_nearest_try(vd_nearest *nearest, const char *candidate);

#endif

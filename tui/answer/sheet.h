// One question about one picture with what one to four models made of it, as plain data: what the
// pages (HTML, Markdown) show. All borrowed.
#ifndef VD_SHEET_H
#define VD_SHEET_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/session/session.h"

// Rounds that came before.
typedef struct vd_sheet_round {
    const char *question, *answer; // answer NULL: none known
} vd_sheet_round;

typedef struct vd_sheet_side {
    const char *model;
    const vd_reply *reply;
    const char *const *texts; // (candidates)
    const float *relevance;   // (candidates), NULL: not known
    int human;                // index of the human answer among the candidates, -1 not there
    int chosen;               // index of the answer the dialog went on with, -1 the human one
    bool judged, right;       // whether the first answer is right, where anybody knows
} vd_sheet_side;

typedef struct vd_sheet {
    const char *id; // of its place in the page; letters, digits and '-'
    const char *title;
    int64_t image_id;
    int width, height;  // pixels of the picture in the page, 0 when there is none
    const float *boxes; // (regions, 4) in 0..1 or NULL
    int regions;
    const char *caption;
    const vd_sheet_round *said; // (rounds)
    int rounds;
    const char *question;           // without "?"
    const char *human;              // the human answer or NULL
    const char *group, *group_name; // "first", "only base right"; NULL: none
    const char *family;             // NULL: none
    double moved;                   // share of probability that lies elsewhere; negative: none
    int sides;                      // 1 .. VD_MODELS
    vd_sheet_side side[VD_MODELS];
} vd_sheet;

const char *vd_sheet_mark(const char *question); // "?" unless it ends with one
// Place of a candidate in a side's ranking, from 1; 0 when it is not there.
int vd_sheet_place(const vd_sheet_side *side, int index);

#endif

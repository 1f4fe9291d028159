// One question about one picture and the answers of one to four networks: the data that every view
// of answers renders, on the screen (columns.h, ranking.h, panels.h, heat_maps.h), as a page
// (tui/page), as JSON (json.h) and as lines of a transcript. Plain data, all of it borrowed.
#ifndef VD_SHEET_H
#define VD_SHEET_H

#include <stdbool.h>
#include <stdint.h>

#include "features/text/fold.h"
#include "tui/session/session.h"

// The answer of one network.
typedef struct vd_sheet_side {
    int lane;                 // of a conversation: 0 is the model that holds it
    const char *name;         // of the model as it was asked for: "base" or a path; NULL: not known
    const char *model;        // for display
    const char *note;         // shown beside the name; NULL: the first answer is
    const vd_reply *reply;    // NULL: none yet
    const char *const *texts; // (candidates)
    // The ranking as it is shown, answers that mean the same as one; NULL: each by itself.
    const vd_answer_group *folded; // (folded_count)
    int folded_count;
    const int32_t *row;     // (candidates) where each stands in that; NULL: it is searched
    const int32_t *same;    // (candidates) the same answer's index in the first side's candidates,
                            // -1 none; NULL: the candidates are the same
    bool apart;             // which candidates are the same is not known
    const float *relevance; // (candidates), NULL: not known
    int human;              // index of the human answer among the candidates, -1 not there
    double human_rank;      // of it, equal scores averaged; 0: not known
    int chosen;             // index of the answer with which the dialog continued, -1 the human one
    bool judged, right;     // whether it is known if the first answer is right, and that
    vd_fingerprint model_hash, pool_hash;
} vd_sheet_side;

typedef struct vd_sheet {
    const char *id; // of its place in the page; letters, digits and '-'
    const char *title;
    int64_t image_id;
    const char *picture;         // path of a picture of one's own; NULL: one of the data
    int width, height;           // pixels of the picture in the page, 0 when there is none
    const float *boxes;          // (regions, 4) in 0..1 or NULL
    const vd_region_name *names; // (regions) or NULL
    int regions;
    vd_fingerprint features_hash;
    const char *caption;
    vd_caption_by caption_by;
    const vd_turn *history; // (rounds) that came before
    int rounds;
    const char *question;           // as typed, or of the data, with or without "?"
    const char *human;              // the human answer or NULL
    const char *group, *group_name; // "first", "only base right"; NULL: none
    const char *family;             // NULL: none
    double moved;                   // total variation distance of two rankings; negative: none
    int sides;                      // 1 .. VD_MODELS
    vd_sheet_side side[VD_MODELS];
} vd_sheet;

const char *vd_sheet_mark(const char *question); // "?" unless it ends with one of .?!
// A region of an answer, "3 blue metal cone" (vd_region_label).
vd_region_text vd_sheet_region(const vd_sheet *sheet, int row);
int vd_answer_place(const vd_answer *answer, int index); // of a candidate, from 0; -1: not there

// ---- the ranking as it is shown ----------------------------------------------------------------

const char *vd_sheet_text(const vd_sheet_side *side, int index); // of a candidate, never NULL
int vd_sheet_rows(const vd_sheet_side *side);
// A row; of answers that mean the same the best one, unless the chosen one is among them.
vd_answer_group vd_sheet_row(const vd_sheet_side *side, int row);
int vd_sheet_row_of(const vd_sheet_side *side, int index); // of a candidate; -1: none

// The place of a row of one side compared with the first side.
typedef struct vd_sheet_move {
    int before;    // place there, from 0; -1: it is not there
    int place;     // here
    double change; // of its probability
} vd_sheet_move;
vd_sheet_move vd_sheet_moved(const vd_sheet *sheet, int side, int row);

// How a side's ranking agrees with the first one's.
typedef struct vd_agreement {
    bool same;        // first answer
    int most, shared; // how many of the first `most` are among the other's first `most`
    double far;       // total variation distance: half the sum of the changes of probability
} vd_agreement;
vd_agreement vd_sheet_agreement(const vd_sheet *sheet, int side, int most);

#endif

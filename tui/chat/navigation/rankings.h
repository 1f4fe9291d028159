// Rankings as they are shown: answers that mean the same as one when that is wanted ("yes (+3
// alike)"), otherwise each separately; and the place of one model's answer in the ranking of
// another. Rows and moves are computed once per answer, so that keys and drawing take the same time
// for any pool size.
#ifndef VD_CHAT_RANKINGS_H
#define VD_CHAT_RANKINGS_H

#include "tui/answer/sheet.h"
#include "tui/chat/conversation/conversation.h"

// What is kept of the answer that a lane shows. All owned but the pools, NULL until it is needed.
typedef struct vd_lane_ranking {
    const char *const *answers; // the pool that group is of
    int32_t *group;
    const char *const *pool, *const *first; // the pool that `same` is of, and leads to
    int32_t *same;
    long stamp;            // the answer that list and row are of, 0 none
    bool folded;           // and whether alike ones are one in row
    vd_answer_group *list; // (count)
    int count;
    int32_t *row; // of each answer of the pool
} vd_lane_ranking;

// What stands beside the lanes: the answer of a walk with its what-ifs.
enum { VD_RANKING_CHANGED = VD_MODELS, VD_RANKINGS };

typedef struct vd_rankings {
    bool folded; // wanted so
    vd_lane_ranking lane[VD_RANKINGS];
} vd_rankings;

void vd_rankings_clear(vd_rankings *rankings); // what is kept

// A lane's answer as the side of a sheet, with its ranking as shown. first: the answer it is
// compared with; NULL: none. What the side points to is valid until the next call for this lane.
vd_sheet_side vd_rankings_side(vd_rankings *rankings, int lane, const vd_response *response,
                               const vd_response *first);

#endif

// Rankings as they are shown: answers that mean the same as one when that is wanted ("yes (+3
// alike)"), each by itself when not, or when memory is out; and where the answer of one model
// stands in the ranking of another. What a row or a move needs is computed once an answer, so that
// keys and drawing find it here whatever the pool's size.
#ifndef VD_CHAT_RANKINGS_H
#define VD_CHAT_RANKINGS_H

#include "features/text/fold.h"
#include "tui/chat/conversation/conversation.h"

// What is kept of the answer that a lane shows. All owned but the pools, NULL until it is needed.
typedef struct vd_lane_ranking {
    const char *const *answers; // the pool that group is of
    int32_t *group;
    const char *const *pool, *const *first; // the pool that `same` is of, and leads to
    int32_t *same;
    long stamp;      // the answer that list and row are of, 0 none
    bool folded;     // and whether alike ones are one in row
    vd_folded *list; // (count)
    int count;
    int32_t *row; // of each answer of the pool
} vd_lane_ranking;

typedef struct vd_rankings {
    bool folded; // wanted so
    vd_lane_ranking lane[VD_MODELS];
} vd_rankings;

void vd_rankings_clear(vd_rankings *rankings); // what is kept

// Rows of a lane's ranking, and one of them: of a group the answer that the conversation goes on
// with, where it is in it.
int vd_rankings_count(vd_rankings *rankings, int lane, const vd_response *response);
vd_folded vd_rankings_at(const vd_rankings *rankings, int lane, const vd_response *response,
                         int row);
// The row that an answer of the pool is in; -1: memory is out.
int vd_rankings_row(vd_rankings *rankings, int lane, const vd_response *response, int answer);
// A row of a lane's ranking (the best of those that are alike), and that of the same answer in the
// first lane's: returns its number, -1 where it has none.
int vd_rankings_in_first(vd_rankings *rankings, int lane, const vd_response *response,
                         const vd_response *first, int row, vd_folded *now, vd_folded *there);

#endif

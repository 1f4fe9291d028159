// Rankings of the candidates in the challenge server's format:
//   [{"image_id": int, "round_id": 1.., "ranks": [rank of candidate 0, of candidate 1, ...]}, ...]
// Rank 1 is the best. Val: every round; test: the last round of each dialog.
#ifndef VD_RANKS_H
#define VD_RANKS_H

#include "features/dialogs/visdial.h"

// ---- reading: somebody's file -------------------------------------------------------------------

typedef struct vd_ranks vd_ranks;

// Each entry must name a round of data and give each of its candidates a number of at least 1;
// entries of pictures that vd_visdial_match left out are skipped. Candidates may share a rank.
// VD_FORMAT, VD_MISMATCH with file, image and round otherwise.
vd_status vd_ranks_read(const char *path, const vd_visdial *data, vd_ranks **out, vd_error *err);
void vd_ranks_free(vd_ranks *ranks);
const char *vd_ranks_path(const vd_ranks *ranks);
// Rounds whose ranks are not each number from 1 to their candidates' once: the server refuses them.
size_t vd_ranks_irregular(const vd_ranks *ranks);
// Of round 0.. of a dialog: one number a candidate, or NULL where the file has none.
const float *vd_ranks_of(const vd_ranks *ranks, size_t dialog, int32_t round);

// ---- writing ------------------------------------------------------------------------------------

typedef struct vd_ranks_writer vd_ranks_writer;

vd_status vd_ranks_create(const char *path, vd_ranks_writer **out, vd_error *err);
// The server wants every rank 1..n once. Candidates whose scores tie (NaN ties with NaN and comes
// last) get theirs at random, the same way every time for an image and round: ordering them as they
// stand would help the model, because that order leaks the answer in the real data.
vd_status vd_ranks_add(vd_ranks_writer *writer, int64_t image_id, int32_t round_id,
                       const float *scores, int n, vd_error *err);
// Frees writer whether it succeeds or not; the file is complete or not there at all.
vd_status vd_ranks_commit(vd_ranks_writer *writer, vd_error *err);
void vd_ranks_abort(vd_ranks_writer *writer); // safe on NULL

#endif

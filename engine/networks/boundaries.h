// Texts without the tokens that say where an answer begins and ends, for networks that were trained
// without them (config->boundaries).
#ifndef VD_BOUNDARIES_H
#define VD_BOUNDARIES_H

#include "engine/backend/arena.h"
#include "engine/base/error.h"

// *ids (count, width) and *lengths become copies in the arena, of the texts order[i] (NULL: all, in
// their order): without <S>, and with only the last </S> or, for candidates (`all`), none.
vd_status vd_bare_texts(vd_arena *arena, const int32_t **ids, const int32_t **lengths,
                        const int *order, int count, int width, bool all, vd_error *err);

#endif

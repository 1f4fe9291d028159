// Sinusoidal positions of words (Vaswani et al. 2017, section 3.5).
#ifndef VD_POSITIONS_H
#define VD_POSITIONS_H

#include "engine/backend/backend.h"

// PE(pos, 2i) = sin(pos / 10000^(2i/E)), PE(pos, 2i+1) = cos(same); table (rows, E).
void vd_words_sinusoid(vd_real *table, int rows, int embed);
// The same with VD_MAX_HISTORY rows in memory of the backend, *out, for the caller to release.
vd_status vd_words_table(const vd_backend *backend, int embed, vd_real **out, vd_error *err);

#endif

// Files damaged at random, the same way every time, for tests of what reads them.
#ifndef VD_TEST_DAMAGE_H
#define VD_TEST_DAMAGE_H

#include <stddef.h>

#include "engine/base/rng.h"

// How many damaged files a test tries: `rounds` times $VISDIAL_DAMAGE, where that is a number
// (for a long search: VISDIAL_DAMAGE=100 build/san/tests/unit/test_damage).
int damage_rounds(int rounds);

// One to four changes, half of them in the first KiB, where headers are: bits flipped, likely and
// other bytes set, numbers replaced by extreme ones (as text, as little-endian words), pieces
// dropped, doubled or moved, the end cut off. *changed gets their number of bytes; free().
char *damage_bytes(const char *bytes, size_t size, vd_rng *rng, size_t *changed);

#endif

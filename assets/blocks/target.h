// How a target is named; target.c has what is said of things mentioned before, target_place.c what
// is said of where things are.
#ifndef BLOCKS_TARGET_H
#define BLOCKS_TARGET_H

#include "assets/blocks/state.h"

// Something is left to ask about: not all attributes of hide are known of the object.
bool blocks_target_open(const blocks_state *state, int object, unsigned hide);
// The last round was about two things that are not the set: "the one on the left" would be of
// those.
bool blocks_of_two_others(const blocks_state *state, blocks_set set);

// "the %k on the far left", a pattern; AROUND: in the middle.
extern const char *const blocks_place_patterns[BLOCKS_DIRECTIONS + 1];

// One way of naming each: the pattern of its name, after what the letters stand for was said; NULL:
// not possible here.
typedef const char *blocks_pick_fn(blocks_state *state, unsigned hide, blocks_target *target);
blocks_pick_fn blocks_pick_named, blocks_pick_place, blocks_pick_ranked, blocks_pick_size,
    blocks_pick_neighbour;
// The thing that is nearest to another, in some direction or in any.
const char *blocks_pick_near(blocks_state *state, unsigned hide, const blocks_target *from,
                             blocks_target *target);
// Writes the name, and what it names; false: there is no pattern.
bool blocks_target_write(blocks_state *state, const char *pattern, blocks_target *target);
// Picks and names one so; false: not possible here.
bool blocks_target_name(blocks_state *state, blocks_pick_fn *pick, unsigned hide,
                        blocks_target *target);

#endif

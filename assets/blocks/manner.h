// How a person types a question: politely, in British spelling, in haste, with words that nobody
// knows, with remarks, in the order of words of another language.
#ifndef BLOCKS_MANNER_H
#define BLOCKS_MANNER_H

#include "engine/base/rng.h"

typedef enum {
    BLOCKS_POLITE = 1,  // could you tell me what color it is
    BLOCKS_BRITISH = 2, // colour
    BLOCKS_HASTY = 4,   // waht colr is it
    BLOCKS_STRAY = 8,   // gavuze, what color is it
    BLOCKS_REMARK = 16, // tom wants to know, what color is it, i can't tell
    BLOCKS_FOREIGN = 32 // it has what color
} blocks_manner;

enum { BLOCKS_MOST_WORDS = 20 }; // of a question: VD_MAX_QUESTION, the network reads no more

// How many tokens the question has for the network, its question mark among them.
int blocks_words(const char *text);

// How somebody types in one dialog: a set of manners, mostly none.
unsigned blocks_manner_draw(vd_rng *rng);
// Rewrites the question in that manner; what would not fit into `size` is left as it is, nothing is
// cut off. The meaning stays the same. before: the answer just heard, which some repeat ("ok, 2.
// and ..."); NULL: none.
void blocks_manner_apply(vd_rng *rng, unsigned manner, const char *before, char *text, size_t size);

#endif

// What a caption claims, and whether that is true of a scene. A caption is read whole, by the
// patterns that captions are made of (caption.h), or not at all.
//
//   there     "a k among other things", "a table with a k and some other objects": some k
//   one       "there is just 1 k", "a single k", "several things, 1 of them a k": exactly one
//   count     "there are N ks", "a picture of N solids": exactly N
//   place     "a k is on the far left", "the closest object is a k": some k lies clearly beyond all
//             others that way (blocks_extreme)
//   relation  "a k is behind a j": two objects, a k and a j, lie so clearly (blocks_lies)
//
// k and j are kinds (facts.h), in any of the words of phrase.c.
#ifndef BLOCKS_CLAIM_H
#define BLOCKS_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#include "assets/blocks/facts.h"
#include "engine/base/error.h"

typedef enum blocks_claim_sort {
    BLOCKS_CLAIM_THERE,
    BLOCKS_CLAIM_ONE,
    BLOCKS_CLAIM_COUNT,
    BLOCKS_CLAIM_PLACE,
    BLOCKS_CLAIM_RELATION,
    BLOCKS_CLAIM_SORTS
} blocks_claim_sort;

extern const char *const blocks_claim_names[BLOCKS_CLAIM_SORTS];

typedef struct blocks_claim {
    blocks_claim_sort sort;
    blocks_kind kind, other;    // k; RELATION: j
    int number;                 // COUNT: N
    blocks_direction direction; // PLACE, RELATION: LEFT .. BEHIND
} blocks_claim;

// text: lower case; blanks before commas and several in a row are accepted. False: it is no
// caption of these.
bool blocks_claim_read(const char *text, blocks_claim *claim);

typedef enum blocks_verdict {
    BLOCKS_FALSE,
    BLOCKS_DOUBTFUL, // a place or a relation that holds, but by less than the margin of blocks_lies
    BLOCKS_TRUE
} blocks_verdict;

blocks_verdict blocks_claim_judge(const blocks_claim *claim, const blocks_scene *scene);

// The objects that decide it.
typedef struct blocks_evidence {
    blocks_set kinds, others; // those of kind k; RELATION: of kind j
    // RELATION: a k and a j of the best verdict, -1: there are no two. PLACE: one is the object
    // that lies farthest that way, other -1. All others: -1.
    int one, other;
} blocks_evidence;
blocks_evidence blocks_claim_evidence(const blocks_claim *claim, const blocks_scene *scene);

// What is named that is not there, after CHAIR (Rohrbach et al., EMNLP 2018). A mention is a kind
// with an attribute at least ("thing" names none).
typedef struct blocks_mentions {
    int mentions, absent;  // CHAIR_i = absent / mentions; absent: no object is of the kind
    int attributes, wrong; // named; those beyond the most of a mention's that one object has
} blocks_mentions;
blocks_mentions blocks_claim_mentions(const blocks_claim *claim, const blocks_scene *scene);

// ---- the information of a claim -----------------------------------------------------------------

// Of how many scenes of a set each possible claim is true, counted once: 3 MB. Afterwards any
// number of threads may ask.
typedef struct blocks_shares blocks_shares;

// scene: (count), not kept; 1 or more.
vd_status blocks_shares_new(const blocks_scene *scene, size_t count, blocks_shares **out,
                            vd_error *err);
void blocks_shares_free(blocks_shares *shares); // NULL is fine
// -log2 (share of the scenes of which the claim is true), in bits; where it is true of none, as if
// it were of one.
double blocks_shares_bits(const blocks_shares *shares, const blocks_claim *claim);
// True bits of a caption of a scene, a reward: its bits if it is read and true, else 0. A caption
// that is true of every scene has 0 bits.
double blocks_caption_bits(const blocks_shares *shares, const char *text,
                           const blocks_scene *scene);

#endif

// The patterns of captions (phrase.h), after CLEVR-Dialog's four kinds: extreme position, unique
// object, counts, relation. caption.c says them, claim.c reads them. Internal to both.
#ifndef BLOCKS_CAPTION_H
#define BLOCKS_CAPTION_H

#include "assets/blocks/dialog.h"
#include "assets/blocks/phrase.h"

// %a: a noun with "a"; %b: a place, one of blocks_caption_at.
void blocks_caption_place(blocks_direction direction, char pattern[BLOCKS_PATTERN_ROOM]);
extern const char *const blocks_caption_at[BLOCKS_DIRECTIONS];
// %c: a noun with "a", or a predicate.
extern const char blocks_caption_only[];
// %a: a noun with "a", one of perhaps several; %b: a bare noun, the only one.
extern const char blocks_caption_one[];
extern const char blocks_caption_all[];  // %a: a number
extern const char blocks_caption_many[]; // %a: a number, %b: a noun in the plural
// %a, %b: nouns with "a"; %c: blocks_direction_words.
extern const char blocks_caption_relation[];

// Of everything that is said about a scene; the caption comes first.
vd_rng blocks_dialog_stream(const blocks_scene *scene);

#endif

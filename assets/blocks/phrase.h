// Wording: patterns with alternatives, and noun phrases for kinds of objects.
#ifndef BLOCKS_PHRASE_H
#define BLOCKS_PHRASE_H

#include <stddef.h>

#include "assets/blocks/facts.h"
#include "engine/base/rng.h"

// Writes a random expansion of the pattern: "(3:a|b|)" is a three times out of five, b or nothing
// once each; alternatives nest. "%t" is the text that follows for the letter t of `letters`: a text
// for each letter, NULL for none; "%T" is that without its article ("red ball" of "the red ball";
// "it" and "the one before" stay). Runs of blanks become one. Cut to size - 1 bytes.
void blocks_expand(vd_rng *rng, char *out, size_t size, const char *pattern, const char *letters,
                   ...);
// text: of the letters 'a' to 'z'.
void blocks_expand_words(vd_rng *rng, char *out, size_t size, const char *pattern,
                         const char *const text[26]);

enum { BLOCKS_PHRASE = 64, BLOCKS_PATTERN_ROOM = 256 }; // the latter: where one is put together

typedef struct blocks_phrase {
    char text[BLOCKS_PHRASE];
} blocks_phrase;

// A random expansion of a pattern without letters.
blocks_phrase blocks_expansion(vd_rng *rng, const char *pattern);

typedef enum {
    BLOCKS_BARE,     // "big red cube", "red thing"
    BLOCKS_A,        // "a big red cube", "an orange thing"
    BLOCKS_THE,      // "the big red cube", "the red one"
    BLOCKS_THAT,     // "that cube"
    BLOCKS_PLURAL,   // "red cubes", "red things"
    BLOCKS_THE_MANY, // "the red cubes", "the red ones"
} blocks_article;

blocks_phrase blocks_noun(vd_rng *rng, blocks_kind kind, blocks_article article);
// "color" or "colour", "shape", "material", "size".
blocks_phrase blocks_attribute_word(vd_rng *rng, blocks_attribute attribute);
// The value as what follows "is it": "red", "a ball", "made of metal", "big".
blocks_phrase blocks_predicate(vd_rng *rng, blocks_attribute attribute, int value);
// The value as what follows "are they": "red", "balls", "shiny", "small".
blocks_phrase blocks_predicate_many(vd_rng *rng, blocks_attribute attribute, int value);

// ---- reading ------------------------------------------------------------------------------------

// What a letter of a pattern stands for when a text is read.
typedef enum {
    BLOCKS_NOTHING, // the letter is not in the pattern
    BLOCKS_NOUN,
    BLOCKS_PREDICATE,
    BLOCKS_NUMBER,
    BLOCKS_PATTERN, // of its own, without letters
} blocks_slot;

typedef struct blocks_letter {
    blocks_slot slot;
    blocks_article article; // NOUN: BARE, A or PLURAL
    const char *pattern;    // PATTERN
    // What was read:
    bool read; // whether the reading has the letter
    blocks_kind kind;
    int number;
} blocks_letter;

// Whether the text is an expansion of the pattern; then fills in what it has for the letters.
// letters: of 'a' to 'z', or NULL where the pattern has none.
bool blocks_read(const char *text, const char *pattern, blocks_letter letters[26]);

#endif

// Sentence ends, as NLTK's Punkt tokenizer finds them (Kiss and Strunk, "Unsupervised Multilingual
// Sentence Boundary Detection", Computational Linguistics 32(4), 2006). Internal to features/.
//
// Punkt's decision in short: "?" and "!" end a sentence; a word's final period does unless the
// word is an abbreviation, or an initial or number with a lower-case word after it. In text without
// capitals this is the published English model. Its statistics about capitals are not here:
// they only matter where a capital follows an abbreviation, an initial, a number or "...", and
// VisDial text has no capitals.
#ifndef VD_SENTENCES_H
#define VD_SENTENCES_H

#include <glib.h>

typedef struct vd_span {
    size_t start, stop; // bytes [start, stop)
} vd_span;

// The sentences of a text that is valid UTF-8 in order: vd_span (g_array_unref).
GArray *vd_sentences(const char *text);

#endif

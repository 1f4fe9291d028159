// Dialogs packed for training: what a JSON file holds, with every text as token ids, in one
// safetensors file that is memory-mapped, so it opens at once. vd_visdial_open and vd_visdial_read
// take either kind.
//
// metadata: "format" "visdial dialogs 1", "version", "split", "source", "words": "counted" in these
// dialogs, or "given" (vd_visdial_pack)
// D dialogs, R rounds, K rounds with candidates, O candidates, Q questions, A answers, W words:
//   image_id I64 (D); first_round I64 (D + 1)
//   question, answer, truth, options I32 (R); -1: none; options: row of candidates
//   candidates I32 (K, O) indices in the table of answers
//   family, coreference I32 (R), where a file has them; -1: none
//   {question,answer,caption,word,family}_text U8, each text followed by a NUL, and
//   {question,answer,caption,word,family}_start I64 (count + 1) where they start
//   {question,answer,caption}_ids I32 and _first I64 (count + 1): indices in the table of words,
//   cut to what the network reads; a question ends with "?"; a text that no dialog uses has none;
//   -1: <UNK>, which only a caption without words has
//   word_count I64 (W), falling: the vocabulary of a least count is the first of the words, and
//   ties stand in the order of the dialogs; words that only candidates have come last, with 0
// metadata "content": vd_visdial_hash in hexadecimal
#ifndef VD_DIALOGS_PACK_H
#define VD_DIALOGS_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/vocab.h"
#include "features/dialogs/visdial.h"

// source: where the dialogs come from, for messages. counts: word counts to use instead of those of
// the dialogs (NULL): the word table then has these counts and this order; words found only in the
// dialogs come last, with 0.
vd_status vd_visdial_pack(const vd_visdial *data, const vd_word_counts *counts, const char *source,
                          const char *path, vd_error *err);

// A hash of the dialogs: images, texts, answers. A packed file stores it.
uint64_t vd_visdial_hash(const vd_visdial *data);

// How often each word occurs in questions (with "?"), given answers and captions; with `candidates`
// also the words of other candidates, with count 0. In order of first occurrence; counts: zero at
// first, to be cleared after a failure, too.
vd_status vd_visdial_count_words(const vd_visdial *data, bool candidates, vd_word_counts *counts,
                                 vd_error *err);

#endif

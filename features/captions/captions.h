// Captions of pictures: what several people, or Blocks' maker, wrote about each. Four layouts, told
// from each other by what is in them; keys that are not named here are skipped.
//
// Karpathy's splits (dataset_coco.json, dataset_flickr8k.json, Blocks' {split}_captions.json):
//   {"images": [{"cocoid": int, "imgid": int, "split": str,
//                "sentences": [{"tokens": [str, ...], "raw": str}, ...]}, ...]}
//   The number of a picture is cocoid, or imgid where there is none (Flickr). Words are the tokens
//   as they stand. raw may be missing: then it is the tokens with blanks between them.
// COCO captions (captions_val2014.json), keys in any order:
//   {"images": [{"id": int}, ...], "annotations": [{"image_id": int, "caption": str}, ...]}
// VisDial dialogs (JSON or packed; dialogs/visdial.h): the caption of each, one a picture.
// Words of the last two are the project's tokens of the text in lower case.
#ifndef VD_CAPTIONED_H
#define VD_CAPTIONED_H

#include "features/captions/tokens.h"
#include "features/dialogs/dataset.h"

typedef struct vd_caption {
    const char *text; // as a person wrote it
    vd_tokens words;  // numbers in vd_captions.words
} vd_caption;

typedef struct vd_captioned {
    int64_t image_id;
    const char *split; // "train", "restval", "val", "test", as the file has it; "": it has none
    int captions;      // 1 or more
    const vd_caption *caption;
} vd_captioned;

typedef struct vd_captions {
    char *path;
    const char *kind; // "Karpathy split", "COCO captions", "VisDial captions"
    bool tokenised;   // words are tokens of the file, a Karpathy split's
    size_t count;
    vd_captioned *image;   // (count) in the order of the file, each number once
    vd_word_counts *words; // all words of the file, numbered in the file's order
    vd_string_arena arena; // what is pointed at above
} vd_captions;

// VD_FORMAT with file, place and what was expected: wrong kinds of values, missing keys, a picture
// twice or without captions, an annotation of no picture, a caption of more than VD_CAPTION_MOST
// words.
vd_status vd_captions_read(const char *path, vd_captions **out, vd_error *err);
void vd_captions_free(vd_captions *captions); // NULL is fine

// From now on only the pictures of a split; "train" takes "restval", too. A file without splits
// stays as it is. VD_NOT_FOUND, with the splits that there are, when nothing is left.
vd_status vd_captions_choose(vd_captions *captions, const char *split, vd_error *err);
bool vd_captions_mixed(const vd_captions *captions); // pictures of several splits
// Pictures without features are left out from now on; *skipped: how many. VD_NOT_FOUND, with their
// number and the first, when they are refused, or when nothing is left.
vd_status vd_captions_match(vd_captions *captions, const vd_regions *regions, vd_missing missing,
                            size_t *skipped, vd_error *err);
size_t vd_captions_total(const vd_captions *captions); // captions of all pictures
// Tells the chosen pictures and their words from others'.
uint64_t vd_captions_hash(const vd_captions *captions);
// NULL when there is no such picture. Looks at one after another.
const vd_captioned *vd_captions_find(const vd_captions *captions, int64_t image_id);

// The words of the chosen pictures that occur `minimum` times or more: <PAD> <S> </S> <UNK>, then
// by falling count, ties in file order. most > 0: of each caption only the first `most` words.
vd_status vd_captions_vocab(const vd_captions *captions, int64_t minimum, int most, vd_vocab **out,
                            vd_error *err);
// The vocabulary's id of each word of the file, (vd_word_counts_size(words)), new (vd_free).
vd_status vd_captions_ids(const vd_captions *captions, const vd_vocab *vocab, int32_t **out,
                          vd_error *err);

#endif

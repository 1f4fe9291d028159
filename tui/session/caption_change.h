// What if: a caption said anew with something changed, from text: the what-ifs of switches.h that
// captions have (region N, word N=OTHER, history) and a beginning.
#ifndef VD_CAPTION_CHANGE_H
#define VD_CAPTION_CHANGE_H

#include "engine/model/captioner.h"
#include "tui/session/session.h"
#include "tui/session/switches.h"

#define VD_END_WORD "(end)" // the end of a caption as a word

// Borrowed. All zero: nothing is changed.
typedef struct vd_caption_changes {
    const vd_switches *switches; // NULL: none
    const char *begin;           // words that the caption begins with; NULL: none
} vd_caption_changes;

// "without region 3, word 2=red, beginning with there is".
void vd_caption_changes_text(const vd_caption_changes *changes, char *out, size_t size);

// The same for a captioner, and with the words that stay.
typedef struct vd_caption_change {
    vd_caption_what_if what_if;
    bool *mask_region; // of what_if, owned; NULL: nothing was said yet
} vd_caption_change;

// The id of a typed word: VD_END for VD_END_WORD, VD_UNKNOWN for one that the vocabulary lacks. A
// number that it has only as digits becomes them: "two", "2".
int32_t vd_caption_typed_id(const vd_vocab *vocab, const char **word);

// What is changed, before anything is said: regions, history, the beginning. Errors as below.
vd_status vd_caption_change_read(const vd_captioner *captioner, const vd_picture_regions *regions,
                                 const vd_caption_changes *changes, vd_caption_change *out,
                                 vd_error *err);
// Says captions with these changes: said, count as vd_captioner_say. Forced words are taken from
// the first place on: those before it stay as they are said without it, and the rest is said anew;
// VD_END_WORD ends the caption. how->what_if is not looked at. VD_USAGE: a region that is not
// there, a word that the captioner does not know, a what-if of answers; VD_MISMATCH: the regions
// are of another kind.
vd_status vd_caption_change_say(vd_captioner *captioner, const vd_picture_regions *regions,
                                const vd_saying *how, const vd_caption_changes *changes,
                                vd_caption_change *out, vd_said_caption *said, int most, int *count,
                                vd_error *err);
void vd_caption_change_clear(vd_caption_change *change);

// VD_MISMATCH for regions of another size than the captioner's.
vd_status vd_captioner_fits(const vd_captioner *captioner, const vd_picture_regions *regions,
                            vd_error *err);

#endif

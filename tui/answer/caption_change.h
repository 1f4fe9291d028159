// What a caption is changed by, from text: the what-ifs of switches.h that captions have (region N,
// word N=OTHER), a beginning, no history.
#ifndef VD_CAPTION_CHANGE_H
#define VD_CAPTION_CHANGE_H

#include "tui/answer/caption_sheet.h"
#include "tui/session/switches.h"

typedef struct vd_caption_changes {
    vd_switches switches;
    const char *begin; // words that the caption begins with; NULL: none
    bool no_history;
} vd_caption_changes;

typedef struct vd_caption_change {
    vd_caption_what_if what_if;
    bool *mask_region; // of what_if, owned
    char name[240];    // "without region 3, word 2=red"
} vd_caption_change;

bool vd_caption_changes_any(const vd_caption_changes *changes);
// before: the caption as it is, said. Without a beginning its words before the first that is
// replaced stay; "(end)" is a word. VD_USAGE: a region or a word that is not there, a word that the
// captioner does not know, a what-if of answers.
vd_status vd_caption_change_make(const vd_caption_changes *changes, const vd_caption_side *before,
                                 vd_caption_change *out, vd_error *err);
void vd_caption_change_clear(vd_caption_change *change);

#endif

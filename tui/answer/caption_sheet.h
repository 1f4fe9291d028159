// A picture and what one or two captioners say about it: the model that everything which shows
// captions renders, as text (caption_text.c), as JSON (caption_json.c) and as a page
// (tui/page/html_caption.h). The second one is another captioner, or the first under other
// conditions (what if).
#ifndef VD_CAPTION_SHEET_H
#define VD_CAPTION_SHEET_H

#include <yajl/yajl_gen.h>

#include "engine/model/captioner.h"
#include "tui/base/align.h"
#include "tui/base/table.h"
#include "tui/session/caption_change.h"

// Whether a caption is true, and what decides that: where the picture's scene is known.
typedef enum vd_caption_judged {
    VD_NOT_JUDGED,
    VD_JUDGED_NOT_READ, // it is none of the captions that can be judged
    VD_JUDGED_FALSE,
    VD_JUDGED_DOUBTFUL, // what it says holds, but by little
    VD_JUDGED_FAITHFUL
} vd_caption_judged;
extern const char *const vd_caption_judged_names[]; // "", "not read", "false", ..., "faithful"

typedef struct vd_caption_verdict {
    vd_caption_judged is;
    char why[256]; // "2 objects are a red cube: ..."; "" not judged
} vd_caption_verdict;

enum { VD_MOST_SAID_WORDS = VD_MAX_CAPTION + 1 };

// What one captioner says. Filled by the caller down to the changes, and judged by it; the rest is
// its own.
typedef struct vd_caption_side {
    const char *name; // "assets/captioner.safetensors", "as it is", "without region 3"
    const char *hard; // where hard attention looked; NULL: there is none
    vd_captioner *captioner;
    vd_caption_changes changes; // all zero: nothing is changed
    vd_caption_verdict verdict;
    vd_said_caption said[VD_MOST_BEAMS]; // the best first
    int count;
    double milliseconds; // of the search
    vd_caption_change change;
    vd_caption_trace trace;
    const char *word[VD_MOST_SAID_WORDS]; // (trace.words) texts, "(end)" the last if it ended
    char *text;                           // the caption, owned
    double under[2]; // log-probability of this caption under each side; one side: its own
    int unknown[2];  // how many of its words that side does not know: read as <UNK>
} vd_caption_side;

typedef struct vd_caption_sheet {
    const char *picture;               // what people know it by
    const vd_picture_regions *regions; // borrowed
    int sides;                         // 1 or 2
    vd_caption_side side[2];
    vd_aligned row[2 * VD_MOST_SAID_WORDS]; // (rows) words of both; one side: its own
    int rows;
} vd_caption_sheet;

// Says the captions of a side, `most` of them, with its changes.
vd_status vd_caption_side_say(vd_caption_side *side, const vd_picture_regions *regions,
                              const vd_saying *how, int most, vd_error *err);
// With all sides said: what they are beside each other.
vd_status vd_caption_sheet_compare(vd_caption_sheet *sheet, vd_error *err);
void vd_caption_sheet_clear(vd_caption_sheet *sheet); // captioners stay

const vd_model *vd_caption_side_model(const vd_caption_side *side);
const char *vd_caption_side_word(const vd_caption_side *side, int32_t id); // "(end)" of </S>
char *vd_caption_side_text(const vd_caption_side *side, int which); // of said[which], vd_free
double vd_caption_side_perplexity(const vd_caption_side *side);
// What a word gave to the history, w_t: the mean over the top layer's heads; 0 without one.
double vd_caption_side_given(const vd_caption_side *side, int word);
// Of w_t: what it would be if all scores were equal, n / (P + n), of n entries that the word sees
// (all up to its own: t) and P regions.
double vd_caption_side_chance(const vd_caption_side *side, const vd_picture_regions *regions,
                              int word);
// The log-probability of each caption under each side.
void vd_caption_sheet_under(const vd_caption_sheet *sheet, vd_table *out);

// On standard output.
vd_status vd_caption_sheet_print(const vd_caption_sheet *sheet, vd_error *err);
// Members of the object that is open.
vd_status vd_caption_sheet_json(yajl_gen json, const vd_caption_sheet *sheet, vd_error *err);

#endif

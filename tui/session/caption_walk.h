// A picture's caption word by word: what a captioner says, what else it could have said, what it
// looked at; of two captioners beside each other, or of one as it is and with something changed
// (what if). Plain data; made on the engine's thread.
#ifndef VD_CAPTION_WALK_H
#define VD_CAPTION_WALK_H

#include "engine/model/captioner.h"
#include "tui/base/align.h"
#include "tui/session/session.h"
#include "tui/session/switches.h"

enum { VD_WALKED_SIDES = 2, VD_WALKED_WORDS = VD_MAX_CAPTION + 1 };

// What is asked for. All zero: nothing.
typedef struct vd_caption_wish {
    size_t picture;
    int place;            // which of the captions that the first captioner's beam ends with, from 1
    char second[512];     // file of a captioner beside the first; "": none
    vd_switches switches; // what is changed: regions left out, words forced, the history left out
    int changed;          // for which of two captioners
} vd_caption_wish;

bool vd_caption_wish_same(const vd_caption_wish *a, const vd_caption_wish *b);

// A word in UTF-8; longer ones are cut.
typedef struct vd_caption_word {
    char text[32];
} vd_caption_word;

// What one captioner says.
typedef struct vd_walked_caption {
    char name[64]; // of the captioner
    vd_caption_config config;
    int place, of;     // which of its beam's captions
    bool changed;      // with the switches of the wish
    int seen;          // regions that it saw
    double under;      // log-probability of these words as the other side reads them
    int unknown;       // how many of them that does not know
    char verdict[300]; // "false: no object is a red cube" (measure/walk_verdict.h); "": not judged
    vd_caption_trace trace;
    vd_caption_word word[VD_WALKED_WORDS]; // (trace.words), </S> as "(end)"
    vd_caption_word likely[VD_WALKED_WORDS][VD_RUNNERS_UP];
} vd_walked_caption;

typedef struct vd_caption_walk {
    vd_caption_wish wish;
    int sides;
    vd_walked_caption side[VD_WALKED_SIDES];
    // (columns) the words of both sides beside each other; of one side its own.
    vd_aligned column[VD_WALKED_SIDES * VD_WALKED_WORDS];
    int columns;
} vd_caption_walk;

// second: the captioner of wish->second, NULL: there is none. With switches side `changed` is as
// they say; without a second captioner the other side is what the first says as it is. A forced
// word leaves those before it as they are said without it, and the rest is said anew. VD_USAGE:
// something cannot be changed; VD_MISMATCH: the picture's regions are of another kind.
vd_status vd_caption_walk_new(const vd_world *world, struct vd_captioning *second,
                              const vd_caption_wish *wish, vd_caption_walk **out, vd_error *err);
void vd_caption_walk_free(vd_caption_walk *walk); // NULL is fine
// The word of a side in a column; -1: it has none there.
int vd_caption_walk_word(const vd_caption_walk *walk, int side, int column);
// Whether the sides differ there.
bool vd_caption_walk_differs(const vd_caption_walk *walk, int column);
// What a word would give to the history if all that it sees were the same to it: n / (seen + n), n
// entries; negative: there is no history.
double vd_walked_chance(const vd_walked_caption *caption, int word);

#endif

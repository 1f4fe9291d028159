// A picture's caption word by word: what a captioner says, or how it reads a caption that somebody
// gave; what else it could have generated, and what it looked at. One caption, or two beside each
// other: of two captioners, or of one as it is and with something changed (what if). The one model
// of this: the chat shows it, tui/answer/caption_text.h prints it, tui/page/html_caption.h makes a
// page of it. Plain data.
#ifndef VD_CAPTION_SHEET_H
#define VD_CAPTION_SHEET_H

#include <glib.h>

#include "engine/model/captioner.h"
#include "tui/base/align.h"
#include "tui/session/session.h"
#include "tui/session/switches.h"

enum { VD_CAPTION_SIDES = 2, VD_SIDE_WORDS = VD_MAX_CAPTION + 1, VD_READ_TEXT = 1024 };

// What is asked for. All zero: the first caption of the first picture.
typedef struct vd_caption_wish {
    size_t picture;
    int place;            // which of the captions that the first captioner's beam ends with, from 1
    char second[512];     // file of a captioner beside the first; "": none
    vd_switches switches; // what is changed: regions left out, words forced, the history left out
    const char *begin;    // words that the changed caption begins with, borrowed; NULL: any
    int changed;          // for which of two captioners
    // A caption to be read: beside the captioner's own one, or by both of two captioners. A changed
    // word replaces its word there, and nothing is generated anew. "": none.
    char read[VD_READ_TEXT];
    bool read_cut; // it is the beginning of a longer one
} vd_caption_wish;

bool vd_caption_wish_same(const vd_caption_wish *a, const vd_caption_wish *b);
// Of a longer text the words that there is room for.
void vd_caption_wish_read(vd_caption_wish *wish, const char *text);

// Whether a caption is true, and what decides that: where the picture's scene is known
// (tui/measure/verdict.h).
typedef enum vd_caption_judged {
    VD_NOT_JUDGED,
    VD_JUDGED_NOT_READ, // it is none of the captions that can be judged
    VD_JUDGED_FALSE,
    VD_JUDGED_DOUBTFUL, // what it says holds, but by little
    VD_JUDGED_FAITHFUL
} vd_caption_judged;
extern const char *const vd_caption_judged_names[]; // "", "not checked", "false", ..., "faithful"

typedef struct vd_caption_verdict {
    vd_caption_judged is;
    char why[256]; // "2 objects are a red cube: ..."; "" not judged
} vd_caption_verdict;

// A caption beside the one of its picture in the data, each 0 to 1.
typedef struct vd_caption_score {
    bool known;
    double bleu_1, rouge_l, meteor_es;
} vd_caption_score;

// "beside the data's caption: BLEU-1 45.0, ROUGE-L 40.2, METEOR-es 22.1"; "" where it is not known.
void vd_caption_score_text(const vd_caption_score *score, char *out, size_t size);

// A caption and one captioner. Texts belong to it.
typedef struct vd_caption_side {
    const char *name, *path; // of the captioner
    const char *signature;   // how it was trained; NULL: not known
    const char *backend;
    const char *hard; // where hard attention looked; NULL: there is none
    vd_caption_config config;
    bool read;    // the caption was given, not generated
    bool changed; // with what the wish changes
    int seen;     // regions that the captioner saw
    // The captions that the beam ended with, the best first, and which of them this is, from 1;
    // read: of 0.
    struct {
        const char *text;
        double log_probability;
    } generated[VD_MOST_BEAMS];
    int of, place;
    double milliseconds; // that saying took
    const char *text;
    bool ended; // with </S>; else it was cut
    vd_caption_trace trace;
    // (trace.words), </S> as "(end)"; of words that the captioner does not know (VD_UNKNOWN) what
    // was given.
    const char *word[VD_SIDE_WORDS];
    const char *likely[VD_SIDE_WORDS][VD_RUNNERS_UP];
    // Log-probability of these words as each side reads them, and how many of them that does not
    // know; one side: its own.
    double under[VD_CAPTION_SIDES];
    int unknown[VD_CAPTION_SIDES];
    vd_caption_verdict verdict;
    vd_caption_score score; // of two captioners (tui/measure/score.h)
    GStringChunk *texts;
} vd_caption_side;

typedef struct vd_caption_sheet {
    vd_caption_wish wish;
    char picture[256]; // what people know it by
    const char *doubt; // a warning that it is of another kind, or NULL
    vd_picture_regions regions;
    int captioners, sides;
    vd_caption_side side[VD_CAPTION_SIDES];
    // (rows) the words of both sides beside each other; of one side its own.
    vd_aligned row[VD_CAPTION_SIDES * VD_SIDE_WORDS];
    int rows;
} vd_caption_sheet;

// Which captioners the captions come from, and how they generate; both captioners are this
// thread's.
typedef struct vd_caption_sources {
    vd_captioner *captioner[VD_CAPTION_SIDES]; // the second NULL: there is one
    const char *hard[VD_CAPTION_SIDES];        // borrowed
    vd_generation how;
    int most; // captions that are kept, 1 to how.beam
} vd_caption_sources;

// Changes apply to the side wish->changed; with one captioner to the second, and the first stays
// unchanged. The words before a forced word stay; the rest is generated again. wish->second is only
// copied. VD_USAGE: something cannot be changed; VD_MISMATCH: the picture's regions are of another
// kind.
vd_status vd_caption_sheet_new(const vd_world *world, const vd_caption_sources *by,
                               const vd_caption_wish *wish, vd_caption_sheet **out, vd_error *err);
// The same by the world's captioner. second: the one of wish->second, NULL: there is none.
struct vd_captioning;
vd_status vd_caption_sheet_of(const vd_world *world, struct vd_captioning *second,
                              const vd_caption_wish *wish, vd_caption_sheet **out, vd_error *err);
void vd_caption_sheet_free(vd_caption_sheet *sheet); // NULL is fine

// The word of a side in a row; -1: it has none there.
int vd_caption_sheet_word(const vd_caption_sheet *sheet, int side, int row);
// Whether the sides differ there.
bool vd_caption_sheet_differs(const vd_caption_sheet *sheet, int row);
// What tells a side from the other: "as it is", "without region 3"; "the given caption"; a path.
void vd_caption_side_label(const vd_caption_sheet *sheet, int side, char *out, size_t size);
double vd_caption_side_perplexity(const vd_caption_side *side);
bool vd_caption_side_knows(const vd_caption_side *side, int word); // its captioner has this word
// What a word gave to the history, w_t: the sum of its entries in a look (vd_caption_trace_look);
// 0 without one.
double vd_caption_side_given(const vd_caption_side *side, int word, int layer, int head);
// vd_caption_trace_look; of hard attention the one region has all.
void vd_caption_side_look(const vd_caption_side *side, int word, int layer, int head,
                          float *regions, float *history);
// Of w_t: what it would be if all scores were equal, n / (P + n), of n entries that the word sees
// and P regions; negative: there is no history.
double vd_caption_side_chance(const vd_caption_side *side, int word);

#endif

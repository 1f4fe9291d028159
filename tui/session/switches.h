// What-if questions as text: things to switch off or change while a question is answered again.
//
//   caption, round N               leave out what was said
//   region N                       leave out a region
//   picture                        blank the picture
//   word N, word N=red             leave out a word of the question, say another instead
//   attention N, attention NAME    make an attention flat
//   positions                      take positions away, or add them where the model has none
//   history                        captions: no word gets anything from the words before it
//
// Rounds, regions, words and attentions count from 1; a region has the number that it is outlined
// with, attentions count by their names in the network's order.
#ifndef VD_SWITCHES_H
#define VD_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/error.h"

typedef enum vd_switch_kind {
    VD_SWITCH_ENTRY,     // index: history entry, 0 the caption
    VD_SWITCH_REGION,    // row of the features, from 0
    VD_SWITCH_WORD,      // place in the question, from 0; word: what is said instead, "" nothing
    VD_SWITCH_ATTENTION, // place among the network's names, from 0, or -1: word is the name
    VD_SWITCH_POSITIONS,
    VD_SWITCH_PICTURE,
    VD_SWITCH_HISTORY
} vd_switch_kind;

typedef struct vd_switch {
    vd_switch_kind kind;
    int index;
    char word[32];
} vd_switch;

enum { VD_SWITCHES = 64 };

typedef struct vd_switches {
    int count;
    vd_switch at[VD_SWITCHES];
} vd_switches;

// What is changed: what an answer comes from, or a caption.
typedef enum vd_switch_of { VD_OF_ANSWER, VD_OF_CAPTION } vd_switch_of;
// The error lists what can be changed.
vd_status vd_switch_parse(const char *text, vd_switch_of of, vd_switch *out, vd_error *err);
// An option with this name adds one; the same again is none, the same word with another replacement
// is refused.
vd_status vd_switches_add(vd_switches *switches, vd_switch_of of, const char *option,
                          const char *text, vd_error *err);
// "round 2", "word 3=red": what vd_switch_parse reads.
void vd_switch_name(const vd_switch *one, char *out, size_t size);
// "region 3, word 2=red"; "" none.
void vd_switches_text(const vd_switches *switches, char *out, size_t size);
bool vd_switch_leaves_out(const vd_switch *one); // else it changes something

const vd_switch *vd_switches_find(const vd_switches *switches, const vd_switch *one);
// The same things with the same words, in the same order.
bool vd_switches_same(const vd_switches *a, const vd_switches *b);
// Adds it, or takes it away when it is there; a word with another replacement replaces. False when
// there are too many.
bool vd_switches_flip(vd_switches *switches, const vd_switch *one);

#endif

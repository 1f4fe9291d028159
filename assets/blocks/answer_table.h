// The table of answers as its own code sees it: what each one says. Internal to the answers.
#ifndef BLOCKS_ANSWER_TABLE_H
#define BLOCKS_ANSWER_TABLE_H

#include "assets/blocks/answers.h"

typedef enum {
    FORM_YES,
    FORM_YES_THERE,
    FORM_YES_IT,
    FORM_YES_THEY,
    FORM_YES_ALL,
    FORM_YES_ONE,   // yes, a red one
    FORM_YES_COUNT, // yes, 2 of them
    FORM_YES_VALUE, // yes, it's red
    FORM_NO,
    FORM_NO_THERE,
    FORM_NO_IT,
    FORM_NO_THEY,
    FORM_NO_ALL,   // no, not all of them
    FORM_NO_SOME,  // no, only some of them
    FORM_NO_NONE,  // no, none of them
    FORM_NO_VALUE, // no, it's red
    FORM_NO_BLOCKS,
    FORM_COUNT,
    FORM_ABOUT, // a few
    FORM_VALUE, // red, it's red
    FORM_A,     // a red cube
    FORM_THE,   // the red cube, the red one
    FORM_NOTHING,
    FORM_SHARED,    // they're all red
    FORM_PAIR,      // red and blue
    FORM_DIFFERENT, // different colors
    FORM_PLACE,
    FORM_MORE, // cubes, the red ones
    FORM_SAME,
    FORM_NO_SUCH, // there is no cone
    FORM_TELL,
    FORM_SCENE,
} blocks_form;

enum { BLOCKS_FORMS = FORM_SCENE + 1, ANSWERS_MAX = 512, ANSWER_TEXT = 40 };

typedef struct blocks_answer {
    char text[ANSWER_TEXT];
    blocks_form form;
    blocks_kind says; // attributes it names
    unsigned told;    // which ones, a bit each
    blocks_kind also; // PAIR: those of the other object
    int number;       // COUNT, YES_COUNT; PLACE: its direction; SCENE: its topic
    bool it;          // speaks of one thing: it's red
    float weight;     // how often among answers of its form
} blocks_answer;

const blocks_answer *blocks_answer_at(int index);

static inline bool blocks_form_yes(blocks_form form)
{
    return form <= FORM_YES_VALUE;
}

static inline bool blocks_form_no(blocks_form form)
{
    return form >= FORM_NO && form <= FORM_NO_BLOCKS;
}

#endif

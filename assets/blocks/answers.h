// The answers the world can give, what a question asks, and which answers are true of it.
#ifndef BLOCKS_ANSWERS_H
#define BLOCKS_ANSWERS_H

#include <stdbool.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/facts.h"
#include "engine/base/rng.h"

// What kind of answer a question wants.
typedef enum {
    ASK_THERE,  // is there such a thing: yes, a red one
    ASK_ANY,    // are any of these red: no, none of them
    ASK_ONE,    // is this thing red: no, it's blue
    ASK_ALL,    // are these all red: no, not all of them
    ASK_POLAR,  // any other yes or no
    ASK_COUNT,  // how many
    ASK_VALUE,  // what color (shape, material, size) is it
    ASK_SHARED, // what color (...) are they
    ASK_WHICH,  // which thing
    ASK_CHOICE, // which of two things
    ASK_WHERE,  // where is it
    ASK_MORE,   // which of two kinds are there more of
    ASK_SCENE,  // about the picture as such
    BLOCKS_ASKS
} blocks_ask;

typedef enum {
    SCENE_TELL,  // nobody can tell from the picture
    SCENE_WHAT,  // what is in the picture
    SCENE_GRAY,  // what color is the table or the background
    SCENE_TABLE, // what are they on
    BLOCKS_SCENE_TOPICS
} blocks_scene_topic;

typedef enum { VERB_IS, VERB_ARE } blocks_verb;

// A question's meaning: enough to judge every answer.
typedef struct blocks_meaning {
    blocks_ask ask;
    bool yes;                   // THERE, ONE, ALL, POLAR: the true answer
    blocks_verb verb;           // THERE: how the question puts it
    bool absent;                // THERE: about something that no scene has
    blocks_attribute attribute; // ONE, VALUE, SHARED; BLOCKS_ATTRIBUTES = none
    blocks_set objects; // what is asked about; THERE: what there is. VALUE, WHICH: empty = no such
    blocks_set partly;  // WHICH: objects that are half an answer
    int other;          // CHOICE: the object that it is not
    unsigned given;     // attributes the question itself names
    int number;         // COUNT: how many; ALL: of how many it is true
    bool sides;         // WHERE: on the left or on the right, nothing else
    blocks_kind more;   // MORE: what there is more of; VALUE: what there is not
    bool equal;         // MORE: neither
    blocks_scene_topic topic; // SCENE
} blocks_meaning;

// 0..1: 1 for a true answer, between for one that is true in part or beside the point.
float blocks_relevance(const blocks_scene *scene, const blocks_meaning *meaning, int answer);

// One of the true answers, the short and plain more often.
int blocks_answer_draw(const blocks_scene *scene, const blocks_meaning *meaning, vd_rng *rng);

// What the answer says of the object it is about (bit per attribute).
unsigned blocks_answer_says(int answer);
// The number it names, -1 for none.
int blocks_answer_number(int answer);

// Fills options, truth and relevance of a round whose answer is set.
void blocks_candidates(const blocks_scene *scene, const blocks_meaning *meaning, vd_rng *rng,
                       blocks_round *round);

#endif

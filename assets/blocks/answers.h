// The answers the world can give, what a question asks, and which answers are true of it.
#ifndef BLOCKS_ANSWERS_H
#define BLOCKS_ANSWERS_H

#include <stdbool.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/facts.h"
#include "engine/base/rng.h"

// What kind of answer a question wants: up to POLAR a yes or a no.
typedef enum {
    ASK_THERE,   // is there such a thing: yes, a red one
    ASK_ANOTHER, // is there another one: yes, 1 more
    ASK_ANY,     // are any of these red: no, none of them
    ASK_ONE,     // is this thing red: no, it's blue
    ASK_ALL,     // are these all red: no, not all of them
    ASK_SAME,    // are they the same color: no, different colors
    ASK_POLAR,   // any other yes or no
    ASK_COUNT,   // how many
    ASK_VALUE,   // what color (shape, material, size) is it
    ASK_SHARED,  // what color (...) are they
    ASK_WHICH,   // which thing
    ASK_CHOICE,  // which of several things
    ASK_WHERE,   // where is it
    ASK_SIDE,    // is it left or right of the ball
    ASK_MORE,    // which of two kinds are there more of
    ASK_MOST,    // which color is most common
    ASK_EXTENT,  // is it bigger or smaller than the ball
    ASK_ASPECT,  // what is the difference between two things, what have they in common
    ASK_SCENE,   // about the picture as such
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
    bool yes;                   // THERE, ONE, ALL, POLAR: the true answer; ASPECT: the difference;
                                // others: not read
    blocks_verb verb;           // THERE: how the question puts it
    bool absent;                // THERE: about something that no scene has
    blocks_attribute attribute; // ONE, VALUE, SHARED, SAME, MOST; BLOCKS_ATTRIBUTES = none
    blocks_set objects; // what is asked about; THERE: what there is. VALUE, WHICH: empty = no such
    blocks_set partly;  // WHICH: objects that are half an answer
    blocks_set among;   // CHOICE: the objects to choose from
    unsigned given;     // attributes the question itself names; ASPECT: the right ones
    int number;         // COUNT: how many; ALL: of how many it is true; ANOTHER: how many more;
                        // EXTENT: 0 smaller, 1 the same, 2 bigger
    bool sides;         // WHERE, CHOICE: on the left or on the right, nothing else
    bool rows;          // WHERE, CHOICE: in the front or in the back, nothing else
    int toward;         // ONE, SIDE: in which direction it lies of the other thing; CHOICE: which
                        // direction is asked for; -1 = not asked
    blocks_kind more;   // MORE, MOST: what there is more of; VALUE: what there is not
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

// Fills options, truth and relevance of a round, of which only `answer` is read.
void blocks_candidates(const blocks_scene *scene, const blocks_meaning *meaning, vd_rng *rng,
                       blocks_round *round);

// ---- the table of answers -----------------------------------------------------------------------

typedef enum {
    FORM_YES,
    FORM_YES_THERE,
    FORM_YES_IT,
    FORM_YES_THEY,
    FORM_YES_ALL,
    FORM_YES_ONE,   // yes, a red one
    FORM_YES_COUNT, // yes, 2 of them
    FORM_YES_VALUE, // yes, it's red
    FORM_YES_MORE,  // yes, 1 more
    FORM_NO,
    FORM_NO_THERE,
    FORM_NO_IT,
    FORM_NO_THEY,
    FORM_NO_ALL,       // no, not all of them
    FORM_NO_SOME,      // no, only some of them
    FORM_NO_NONE,      // no, none of them
    FORM_NO_VALUE,     // no, it's red
    FORM_NO_SIDE,      // no, it's behind
    FORM_NO_MORE,      // no, that's all
    FORM_NO_DIFFERENT, // no, different colors
    FORM_NO_BLOCKS,
    FORM_COUNT,
    FORM_ABOUT, // a few
    FORM_VALUE, // red, it's red
    FORM_A,     // a red cube
    FORM_THE,   // the red cube, the red one
    FORM_NOTHING,
    FORM_SHARED,    // they're all red
    FORM_LIST,      // red and blue; red, green and blue
    FORM_DIFFERENT, // different colors
    FORM_PLACE,
    FORM_SIDE, // to the left, behind it
    FORM_BOTH, // both of them, neither
    FORM_MORE, // cubes, the red ones
    FORM_SAME,
    FORM_EXTENT,  // bigger, the same size
    FORM_ASPECT,  // the color
    FORM_NO_SUCH, // there is no cone
    FORM_TELL,
    FORM_SCENE,
} blocks_form;

enum { BLOCKS_FORMS = FORM_SCENE + 1, ANSWERS_MAX = 640, ANSWER_TEXT = 40 };
enum { BLOCKS_LISTED = 5 }; // the most values that an answer lists; of more: different colors

typedef struct blocks_answer {
    char text[ANSWER_TEXT];
    blocks_form form;
    blocks_kind says; // attributes it names
    unsigned named;   // which ones, a bit each
    unsigned listed;  // LIST: the values, a bit each (says: the first of them)
    int number;       // COUNT, YES_COUNT, YES_MORE; PLACE, SIDE: its direction; SCENE: its topic;
                      // DIFFERENT, ASPECT: its attribute
    bool it;          // speaks of one thing: it's red
    float weight;     // how often among answers of its form
} blocks_answer;

const blocks_answer *blocks_answer_at(int index);

static inline bool blocks_form_yes(blocks_form form)
{
    return form <= FORM_YES_MORE;
}

static inline bool blocks_form_no(blocks_form form)
{
    return form >= FORM_NO && form <= FORM_NO_BLOCKS;
}

#endif

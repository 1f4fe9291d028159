// The dialog state while a dialog is generated: which facts have been mentioned, what "it" and
// "they" refer to, and the questions that could come next. Internal to the generator.
#ifndef BLOCKS_STATE_H
#define BLOCKS_STATE_H

#include "assets/blocks/answers.h"
#include "assets/blocks/phrase.h"

// A question that could be asked, with its effects on the dialog state.
typedef struct blocks_draft {
    char text[BLOCKS_TEXT];
    const char *family;
    int coreference;
    blocks_meaning meaning;
    uint64_t topic; // the same question in other words has the same topic

    unsigned named[BLOCKS_MAX]; // attributes of objects that the question names
    int single;                 // the one object that it is about, -1 = none
    bool crowded;               // names several: no clear "it" afterwards
    int about;                  // the object that the answer describes, -1 = none
    blocks_kind kind;           // COUNT, THERE: the kind asked about
    bool kind_stated;           // the answer states how many of that kind there are, or whether any
    bool tallied;               // POLAR: the question itself states how many
    blocks_kind whole;          // COUNT: "how many of the cubes are red": the cubes
    bool group;                 // "they" may be that kind afterwards
    bool other_group;           // about things that "they" might refer to too
    bool other_thing;           // about something else that "it" might refer to
    bool plural;                // asked in the plural
    bool of_they;               // about those mentioned last, or one of them
    blocks_set both;            // the two things that it is about, empty = others
    bool of_both;               // "they" are those two
    bool of_found;              // "they" are those that the round before found
    int implied;                // the one object that a yes is about, unnamed; -1 = none
    blocks_kind target;         // VALUE: the kind by which the object was named
    int asked;                  // ONE, ALL: the value that is asked for, -1 = none
    blocks_set found;           // several other things that the answer mentions
    int beside;                 // SIDE: of which thing the side is asked for, -1 = none
    int difference;             // by how many there are more of one of two kinds; 0: not asked
    blocks_set left_out;        // "are there only cubes": the others
    int faced, faced_other;     // ONE: 1 + the direction in which it is asked to lie of that other
    int at; // 1 + the direction in which what it is about is the furthest; 0: not named so
} blocks_draft;

// One entry of the history, as far as its words tell.
typedef struct blocks_entry {
    unsigned words; // values named, bit per value
    int object;     // the one object it is about, -1 = none or several
    blocks_ask ask;
    blocks_attribute attribute;
    blocks_kind kind; // COUNT, THERE; VALUE: how the object was named
    bool exist, count, value;
    bool counted;      // COUNT: kind is what was counted, of a group or named
    blocks_kind whole; // COUNT: the kind named of which that is a part
    bool one;          // THERE: one of the kind was asked for, and there is at least one
    bool verify;
    int asked;                // verify: the value
    bool yes;                 // ALL, SAME: the answer; SHARED: there is one; others: not read
    int named;                // the object that the answer named, or alone can mean; -1 = none
    blocks_set found;         // several things that were counted or found, and are no kind: "they"
    blocks_set rest;          // CHOICE among several: those that were not chosen
    blocks_set not_so;        // ALL, answered no: those that are not
    int beside;               // SIDE: of which thing the side was asked for, -1 = none
    blocks_direction axis;    // LEFT: left or right, FRONT: in front or behind
    blocks_kind answer_value; // VALUE, SHARED, MOST: the one value that the answer gave
    int difference;           // MORE, POLAR: how many more, where the answer said of which; 0: none
    blocks_set left_out;      // POLAR, answered no: those besides the kinds named
    bool complete;            // SHARED: the answer names every value that there is
    int faced, of_other;      // ONE: as in blocks_draft, and of which thing; 0: not asked
    int at;                   // as in blocks_draft, among all of the kind furthest_of
    blocks_kind furthest_of;
} blocks_entry;

typedef struct blocks_fact {
    blocks_kind kind;
    int number; // how many; -1: at least one
} blocks_fact;

// How a question names its target.
typedef enum {
    TARGET_NAMED,      // by a kind that it alone is
    TARGET_PLACE,      // the thing on the far left
    TARGET_SIZE,       // the biggest cube
    TARGET_NEIGHBOUR,  // the thing behind the red ball
    TARGET_NEXT_TO_IT, // the thing behind it
    TARGET_NOT,        // the cube that isn't red
    TARGET_ALIKE,      // the other thing of the same color as the ball
    TARGET_IT,         // of several things: "they"
    TARGET_THAT,       // that ball: of several, the one mentioned
    TARGET_BEFORE,     // the one before
    TARGET_ANSWER,     // that one: the thing that the answer before named
    TARGET_AMONG,      // of those mentioned last: the red one, the one on the left
    TARGET_RANKED,     // the second cube from the left
    TARGET_OTHER,      // the other cube: of two, not the one just mentioned
    TARGET_REMAINING,  // those that the round before did not count or choose: the others
    TARGET_BESIDES,    // of several things: those of a kind beside the one just mentioned
    TARGET_FOUND,      // of several things: "they", those that the round before found
    TARGET_BOTH,       // of several things: "they", the two that the round before was about
    TARGET_OPPOSITE,   // the one on the right, after one on the left
} blocks_naming;

enum { BLOCKS_FACTS = 2 * BLOCKS_ROUNDS + 4 };

typedef struct blocks_state {
    const blocks_scene *scene;
    vd_rng rng;
    blocks_dialog *dialog;
    int round; // the one to come, 1..BLOCKS_ROUNDS; the caption is 0
    uint64_t topics[BLOCKS_ROUNDS];
    blocks_entry entry[BLOCKS_ROUNDS + 1];
    const blocks_entry *latest; // of the round before; the caption's, which asks nothing
    blocks_fact fact[BLOCKS_FACTS];
    int facts;

    unsigned known[BLOCKS_MAX]; // attributes of each object that have been mentioned
    int last[BLOCKS_MAX];       // entry that last mentioned the object alone, -1 = none
    int mention[BLOCKS_MAX];    // entry that last mentioned it, or perhaps did, -1 = none

    int it, it_entry;   // what "it" is, -1 = nothing clear
    int before;         // what "it" was right before that, -1 = nothing clear
    blocks_set singles; // objects that rounds (not the caption) mentioned one at a time

    bool they; // whether "they" refers to a group
    blocks_kind they_kind;
    int they_entry, groups; // groups: how many the rounds (not the caption) mentioned
    int they_last;          // the round that mentioned them last
    blocks_set both;        // the two things that round both_entry was about
    int both_entry;
    int references;                    // coreferent questions so far
    blocks_naming naming;              // how the next question is to name its target
    char word[26][BLOCKS_TEXT];        // what the letters of its pattern stand for
    char pattern[BLOCKS_PATTERN_ROOM]; // where a pattern is put together
    bool digits;                       // "one" is written as 1
} blocks_state;

// ---- state ------------------------------------------------------------------------------------

static inline bool blocks_chance(blocks_state *state, double probability)
{
    return vd_rng_uniform(&state->rng) < probability;
}

// One of the elements of an array.
#define BLOCKS_ONE_OF(state, list)                                                                 \
    ((list)[vd_rng_below(&(state)->rng, (int)(sizeof(list) / sizeof *(list)))])

// The kind of some object of the scene, by the attributes in mask.
blocks_kind blocks_some_kind(blocks_state *state, unsigned mask);
int blocks_some_object(blocks_state *state);
blocks_attribute blocks_some_attribute(blocks_state *state);
int blocks_other_value(blocks_state *state, blocks_attribute attribute, int value); // any but this
blocks_direction blocks_some_direction(blocks_state *state);

unsigned blocks_kind_words(blocks_kind kind);
unsigned blocks_text_words(const char *text); // of all values that the text names

void blocks_add_fact(blocks_state *state, blocks_kind kind, int number);
// What the dialog so far states: number of the kind, -1 = at least one, -2 = unknown.
int blocks_known_number(const blocks_state *state, blocks_kind kind);

// A draft without effects on the dialog state.
blocks_draft blocks_draft_new(const char *family, blocks_ask ask);
// It asks for these: whether there are any, or how many.
void blocks_ask_for(blocks_draft *draft, blocks_set objects);
// What the letters stand for in the pattern of the next question or target: a text for each letter.
void blocks_say(blocks_state *state, const char *letters, ...);
// One expansion of the pattern (phrase.h) with that.
void blocks_write(blocks_state *state, const char *pattern, char *out, size_t size);
uint64_t blocks_topic(int what, int64_t a, int64_t b, int64_t c);
int64_t blocks_kind_key(blocks_kind kind);
int64_t blocks_kinds_key(const blocks_kind kind[2]); // in either order

// Would a reader who does not know the order of the rounds know what "it" ("they") is? People
// choose the latest mention; most references are made where both readings agree, because the
// network matches contents and does not know the order of the rounds.
bool blocks_it_clear(const blocks_state *state);
bool blocks_they_clear(const blocks_state *state);
// The round before (not the caption) was about the two things `both`.
static inline bool blocks_of_two(const blocks_state *state)
{
    return state->round > 1 && state->both_entry == state->round - 1;
}
bool blocks_several_mentioned(
    const blocks_state *state); // whether several things were mentioned together

// ---- what a question can be about -------------------------------------------------------------

typedef struct blocks_target {
    int object;
    char text[BLOCKS_PHRASE + 32]; // "the red ball", "it", "the thing on the far left"
    unsigned named;                // attributes named
    blocks_kind kind;              // by which it is named
    int coreference;
    const char *family; // when the way of naming it decides the family, else NULL
    const char *place;  // PLACE, of no kind: where it is ("on the far left"), else NULL
    bool crowded;
    int beside; // NEIGHBOUR: the object by which it is named, and by which attributes that is
    unsigned beside_named;
    bool of_they; // one of those mentioned last
    bool sides,
        rows; // "the left one" beside "the right one", "the front one" beside "the back one"
    int at;   // PLACE, OPPOSITE: 1 + its direction; 0: named otherwise, or in the middle
} blocks_target;

// Picks an object of which an attribute in `hide` has not been mentioned yet (else the answer is
// known) and names it without those, as state->naming says: %t. False when there is no such object.
bool blocks_target_pick(blocks_state *state, unsigned hide, blocks_target *target);
// The same, by a kind that it alone is, without saying it.
bool blocks_target_pick_named(blocks_state *state, unsigned hide, blocks_target *target);
// A draft of a question about one target, which the answer describes if the question is for that.
blocks_draft blocks_draft_about(const char *family, blocks_ask ask, const blocks_target *target);
const char *blocks_direction_words(blocks_direction direction);
// "(on the left|leftmost)" of a target that is named by its place.
const char *blocks_place_words(const blocks_target *target);
// Two different things, %t and %u, the second named by a kind; and a draft of a question that
// compares them.
bool blocks_two_targets(blocks_state *state, unsigned hide, blocks_target target[2]);
blocks_draft blocks_about_two(const blocks_state *state, const char *family, blocks_ask ask,
                              const blocks_target target[2]);

// What several questions are about: those mentioned last, or a kind.
typedef struct blocks_group {
    blocks_kind kind;
    blocks_set set;
    int coreference;
    bool named;     // in the question, not "they"
    bool both;      // the two that the round before was about
    bool narrowed;  // of "they", those that the round before counted
    bool remaining; // the others
    bool found;     // those that the round before found
    int64_t key;    // the same group, the same key
} blocks_group;

// Some of "they" were just counted: now "they" may be those.
bool blocks_they_narrowed(const blocks_state *state);
// The others of a whole ("they", a kind, the candidates of a choice) of which some were counted or
// one was chosen in the round before.
blocks_set blocks_remaining(const blocks_state *state);
blocks_group blocks_group_of(const blocks_state *state,
                             blocks_kind kind); // all of the kind, unnamed
// As state->naming says. Says %g and %m: "they", "them"; "the cubes" twice, or "the two cubes"; of
// a group that is named also %b: "cubes".
bool blocks_group_pick(blocks_state *state, blocks_group *group);
// "they", whatever was counted of them; and right after "how many of them are red" those that are.
bool blocks_group_they(blocks_state *state, blocks_group *group);
bool blocks_group_latest(blocks_state *state, blocks_group *group);
// A value of the attribute, one that some of the group have more often than not.
int blocks_group_value(blocks_state *state, const blocks_group *group, blocks_attribute attribute);
blocks_draft blocks_group_draft(const blocks_group *group, const char *family, blocks_ask ask,
                                blocks_set objects);
// A draft of a question about a kind that it names.
blocks_draft blocks_about_kind(const char *family, blocks_ask ask, const blocks_scene *scene,
                               blocks_kind kind);
// A draft of a question that asks what the things of the set are; false: too many to list, or none.
bool blocks_list_draft(const blocks_state *state, blocks_set set, blocks_draft *draft);

// ---- questions --------------------------------------------------------------------------------

// Makes a question, whose target, if it has one, is named as state->naming says: all but its text,
// of which it returns the pattern, after what the letters stand for was said. NULL when there is
// nothing to ask.
typedef const char *blocks_ask_fn(blocks_state *state, blocks_draft *draft);
// Makes one and writes its text; false: there is nothing to ask.
bool blocks_make(blocks_state *state, blocks_ask_fn *ask, blocks_draft *draft);

// Of a kind: "how many cubes are there", "and balls".
blocks_ask_fn blocks_ask_count, blocks_ask_count_all, blocks_ask_exist, blocks_ask_number,
    blocks_ask_all, blocks_ask_distinct, blocks_ask_how_many, blocks_ask_and_count,
    blocks_ask_and_exist, blocks_ask_that_value, blocks_ask_bound, blocks_ask_kinds, blocks_ask_not,
    blocks_ask_together, blocks_ask_and_all, blocks_ask_neither, blocks_ask_which_are,
    blocks_ask_only_kinds, blocks_ask_both_kinds;
// Whether there is a further one: "another one", "any other cubes besides the red one".
blocks_ask_fn blocks_ask_another, blocks_ask_any_other, blocks_ask_which_same, blocks_ask_besides,
    blocks_ask_besides_those, blocks_ask_only;
// Of one thing: "what color is it".
blocks_ask_fn blocks_ask_attribute, blocks_ask_verify, blocks_ask_what, blocks_ask_and_attribute,
    blocks_ask_and_verify, blocks_ask_and_what, blocks_ask_and_next, blocks_ask_biggest,
    blocks_ask_no_such;
// Of its neighbours: "is there anything behind it".
blocks_ask_fn blocks_ask_neighbour, blocks_ask_anything, blocks_ask_pair, blocks_ask_where,
    blocks_ask_side, blocks_ask_and_side, blocks_ask_on_top, blocks_ask_is_between,
    blocks_ask_is_extreme, blocks_ask_between, blocks_ask_between_two, blocks_ask_near,
    blocks_ask_or_side;
// Of parts of the picture: "how many cubes are on the left".
blocks_ask_fn blocks_ask_part_exist, blocks_ask_part_count, blocks_ask_part_what,
    blocks_ask_part_more, blocks_ask_which_at;
// Comparisons: "is it bigger than the cube".
blocks_ask_fn blocks_ask_more, blocks_ask_which_more, blocks_ask_same, blocks_ask_bigger,
    blocks_ask_extent, blocks_ask_bigger_than_all, blocks_ask_any_bigger, blocks_ask_else,
    blocks_ask_how_many_more, blocks_ask_aspect, blocks_ask_difference;
// Choices: "which is metal, the cube or the ball", "which of them is closest".
blocks_ask_fn blocks_ask_which_two, blocks_ask_which_place, blocks_ask_which_of,
    blocks_ask_which_nearer, blocks_ask_which_three;
// With and, or, not, but: "how many are either red or balls", "are all but one of them red".
blocks_ask_fn blocks_ask_mixed, blocks_ask_without, blocks_ask_and_not, blocks_ask_all_but,
    blocks_ask_two_sides, blocks_ask_than_that;
// What there is most of: "which color is most common", "are most of them red".
blocks_ask_fn blocks_ask_most, blocks_ask_mostly, blocks_ask_occurs;
// Of a group, "they" or named: "what color are the cubes".
blocks_ask_fn blocks_ask_they_count, blocks_ask_they_tally, blocks_ask_they_not,
    blocks_ask_they_all, blocks_ask_they_any, blocks_ask_group_what, blocks_ask_group_same,
    blocks_ask_others, blocks_ask_they_number, blocks_ask_they_pair, blocks_ask_one_each,
    blocks_ask_counted_what, blocks_ask_one_differs, blocks_ask_what_are_there,
    blocks_ask_and_group;
// What is alike, and what is partly hidden: "are any two identical", "which is the odd one out".
blocks_ask_fn blocks_ask_any_pair, blocks_ask_identical, blocks_ask_odd_one, blocks_ask_any_hidden,
    blocks_ask_which_hidden, blocks_ask_hidden, blocks_ask_hider;
// Of all but one: "is everything else red". Of what is left over: "which ones aren't", "what else
// has that color".
blocks_ask_fn blocks_ask_rest, blocks_ask_not_so, blocks_ask_what_besides, blocks_ask_that_color,
    blocks_ask_what_else, blocks_ask_about_others, blocks_ask_sure, blocks_ask_that_all;
// Of what no scene has, of what every scene has, of the picture as such.
blocks_ask_fn blocks_ask_absent, blocks_ask_present, blocks_ask_scene;

// Writes the caption and starts the dialog state with what it mentions.
void blocks_caption(blocks_state *state);

#endif

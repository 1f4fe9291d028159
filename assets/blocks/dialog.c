#include "assets/blocks/dialog.h"

#include "assets/blocks/caption.h"
#include "assets/blocks/manner.h"
#include "assets/blocks/state.h"

// One kind of question: how it is made, how often it comes.
typedef enum {
    WHEN_ANY,  // needs nothing said before
    WHEN_LONE, // speaks of one thing, which would then be another "it"
    WHEN_IT,
    WHEN_THEY, // a group was mentioned: TARGET_IT of several things is always "they"
    WHEN_OTHER // refers to what was said in some other way
} when;

typedef struct question {
    when when;
    double weight;
    double balance; // yes-or-no questions: noes to a yes as they come, so that both get even
    blocks_ask_fn *ask;
    blocks_naming naming;
} question;

static const question questions[] = {
    {WHEN_ANY, 72, 1, blocks_ask_count, TARGET_NAMED},
    {WHEN_ANY, 3, 1, blocks_ask_count_all, TARGET_NAMED},
    {WHEN_ANY, 56, 1, blocks_ask_exist, TARGET_NAMED},
    {WHEN_ANY, 13, 1.4, blocks_ask_number, TARGET_NAMED},
    {WHEN_ANY, 9, 1.6, blocks_ask_all, TARGET_NAMED},
    {WHEN_ANY, 7, 1.25, blocks_ask_more, TARGET_NAMED},
    {WHEN_ANY, 3, 1, blocks_ask_which_more, TARGET_NAMED},
    {WHEN_ANY, 17, 1, blocks_ask_absent, TARGET_NAMED},
    {WHEN_ANY, 1.5, 1, blocks_ask_present, TARGET_NAMED},
    {WHEN_ANY, 2, 1, blocks_ask_scene, TARGET_NAMED},
    {WHEN_ANY, 36, 1, blocks_ask_no_such, TARGET_NAMED},
    {WHEN_ANY, 5, 1, blocks_ask_group_what, TARGET_NAMED},
    {WHEN_ANY, 4, 3.5, blocks_ask_group_same, TARGET_NAMED},
    {WHEN_ANY, 2, 1, blocks_ask_distinct, TARGET_NAMED},
    {WHEN_ANY, 8, 1, blocks_ask_what_are_there, TARGET_NAMED},
    {WHEN_ANY, 7, 1.6, blocks_ask_bound, TARGET_NAMED},
    {WHEN_ANY, 3.5, 1, blocks_ask_kinds, TARGET_NAMED},
    {WHEN_ANY, 14, 1, blocks_ask_not, TARGET_NAMED},
    {WHEN_ANY, 2, 1, blocks_ask_neither, TARGET_NAMED},
    {WHEN_ANY, 2, 1, blocks_ask_only_kinds, TARGET_NAMED},
    {WHEN_ANY, 5, 1, blocks_ask_both_kinds, TARGET_NAMED},
    {WHEN_LONE, 6, 0.7, blocks_ask_which_same, TARGET_NAMED},
    {WHEN_IT, 14, 0.7, blocks_ask_which_same, TARGET_IT},
    {WHEN_LONE, 6, 5, blocks_ask_is_between, TARGET_NAMED},
    {WHEN_IT, 8, 5, blocks_ask_is_between, TARGET_IT},
    {WHEN_LONE, 2, 1, blocks_ask_is_extreme, TARGET_NAMED},
    {WHEN_IT, 8, 1, blocks_ask_is_extreme, TARGET_IT},
    {WHEN_OTHER, 12, 0.46, blocks_ask_else, TARGET_OTHER},
    {WHEN_ANY, 7, 1, blocks_ask_how_many_more, TARGET_NAMED},
    {WHEN_LONE, 22, 1, blocks_ask_attribute, TARGET_NAMED},
    {WHEN_LONE, 12, 1, blocks_ask_verify, TARGET_NAMED},
    {WHEN_LONE, 10, 1, blocks_ask_attribute, TARGET_PLACE},
    {WHEN_LONE, 4, 1, blocks_ask_verify, TARGET_PLACE},
    {WHEN_LONE, 8, 1, blocks_ask_what, TARGET_PLACE},
    {WHEN_LONE, 4, 1, blocks_ask_what, TARGET_NAMED},
    {WHEN_LONE, 6, 1, blocks_ask_what, TARGET_SIZE},
    {WHEN_LONE, 14, 1, blocks_ask_biggest, TARGET_NAMED},
    {WHEN_LONE, 16, 1, blocks_ask_attribute, TARGET_SIZE},
    {WHEN_LONE, 9, 1, blocks_ask_verify, TARGET_SIZE},
    {WHEN_LONE, 12, 1, blocks_ask_attribute, TARGET_NEIGHBOUR},
    {WHEN_LONE, 5, 1, blocks_ask_attribute, TARGET_NOT},
    {WHEN_LONE, 2, 1, blocks_ask_verify, TARGET_NOT},
    {WHEN_LONE, 1, 1, blocks_ask_what, TARGET_NOT},
    {WHEN_LONE, 7, 1, blocks_ask_neighbour, TARGET_NAMED},
    {WHEN_LONE, 6, 0.65, blocks_ask_anything, TARGET_NAMED},
    {WHEN_LONE, 7, 1, blocks_ask_pair, TARGET_NAMED},
    {WHEN_LONE, 5, 1, blocks_ask_side, TARGET_NAMED},
    {WHEN_LONE, 9, 1, blocks_ask_which_place, TARGET_NAMED},
    {WHEN_LONE, 47, 1, blocks_ask_which_two, TARGET_NAMED},
    {WHEN_LONE, 26, 1, blocks_ask_which_of, TARGET_NAMED},
    {WHEN_LONE, 30, 0.4, blocks_ask_besides, TARGET_NAMED},
    {WHEN_ANY, 12, 1, blocks_ask_most, TARGET_NAMED},
    {WHEN_ANY, 6, 1, blocks_ask_mostly, TARGET_NAMED},
    {WHEN_LONE, 2, 1, blocks_ask_where, TARGET_NAMED},
    {WHEN_LONE, 7, 1, blocks_ask_attribute, TARGET_RANKED},
    {WHEN_LONE, 3, 1, blocks_ask_verify, TARGET_RANKED},
    {WHEN_LONE, 4, 1, blocks_ask_what, TARGET_RANKED},
    {WHEN_LONE, 20, 6, blocks_ask_between, TARGET_NAMED},
    {WHEN_LONE, 8, 1, blocks_ask_which_nearer, TARGET_NAMED},
    {WHEN_LONE, 8, 1, blocks_ask_which_three, TARGET_NAMED},
    {WHEN_LONE, 8, 1, blocks_ask_aspect, TARGET_NAMED},
    {WHEN_LONE, 5, 2.3, blocks_ask_only, TARGET_NAMED},
    {WHEN_LONE, 4, 1, blocks_ask_same, TARGET_NAMED},
    {WHEN_LONE, 8, 1, blocks_ask_bigger, TARGET_NAMED},
    {WHEN_LONE, 6, 1, blocks_ask_extent, TARGET_NAMED},
    {WHEN_LONE, 1.5, 1, blocks_ask_extent, TARGET_PLACE},
    {WHEN_LONE, 2.5, 1, blocks_ask_same, TARGET_PLACE},
    {WHEN_LONE, 2, 1, blocks_ask_same, TARGET_SIZE},
    {WHEN_LONE, 2, 1, blocks_ask_bigger, TARGET_PLACE},
    {WHEN_LONE, 1.5, 0.46, blocks_ask_else, TARGET_PLACE},
    {WHEN_LONE, 1.5, 0.46, blocks_ask_else, TARGET_SIZE},
    {WHEN_LONE, 4, 1, blocks_ask_neighbour, TARGET_PLACE},
    {WHEN_LONE, 4, 1, blocks_ask_neighbour, TARGET_SIZE},
    {WHEN_LONE, 1.5, 1, blocks_ask_neighbour, TARGET_RANKED},
    {WHEN_LONE, 2, 0.65, blocks_ask_anything, TARGET_SIZE},
    {WHEN_LONE, 1.5, 0.65, blocks_ask_anything, TARGET_PLACE},
    {WHEN_LONE, 2, 1, blocks_ask_pair, TARGET_SIZE},
    {WHEN_LONE, 2, 1, blocks_ask_side, TARGET_SIZE},
    {WHEN_LONE, 1.5, 2.3, blocks_ask_only, TARGET_PLACE},
    {WHEN_LONE, 4, 0.46, blocks_ask_else, TARGET_NAMED},
    {WHEN_LONE, 14, 1.8, blocks_ask_bigger_than_all, TARGET_NAMED},
    {WHEN_LONE, 4, 1.2, blocks_ask_any_bigger, TARGET_NAMED},
    {WHEN_LONE, 8, 3, blocks_ask_rest, TARGET_NAMED},
    {WHEN_LONE, 1.5, 1, blocks_ask_on_top, TARGET_NAMED},
    {WHEN_LONE, 72, 0.45, blocks_ask_besides_those, TARGET_NAMED},
    {WHEN_ANY, 9, 1, blocks_ask_which_are, TARGET_NAMED},
    {WHEN_ANY, 2, 4, blocks_ask_one_differs, TARGET_NAMED},
    {WHEN_IT, 320, 1, blocks_ask_attribute, TARGET_IT},
    {WHEN_IT, 16, 1, blocks_ask_which_are, TARGET_IT},
    {WHEN_IT, 90, 1, blocks_ask_verify, TARGET_IT},
    {WHEN_IT, 6, 1, blocks_ask_what, TARGET_IT},
    {WHEN_IT, 22, 1, blocks_ask_neighbour, TARGET_IT},
    {WHEN_IT, 6, 0.67, blocks_ask_anything, TARGET_IT},
    {WHEN_IT, 18, 1, blocks_ask_pair, TARGET_IT},
    {WHEN_IT, 16, 1, blocks_ask_side, TARGET_IT},
    {WHEN_IT, 8, 1, blocks_ask_attribute, TARGET_NEXT_TO_IT},
    {WHEN_IT, 8, 1, blocks_ask_verify, TARGET_NEXT_TO_IT},
    {WHEN_IT, 12, 0.4, blocks_ask_besides, TARGET_IT},
    {WHEN_IT, 1.5, 1, blocks_ask_where, TARGET_IT},
    {WHEN_IT, 4, 1, blocks_ask_same, TARGET_IT},
    {WHEN_IT, 14, 1, blocks_ask_extent, TARGET_IT},
    {WHEN_IT, 14, 0.9, blocks_ask_else, TARGET_IT},
    {WHEN_IT, 24, 1.8, blocks_ask_bigger_than_all, TARGET_IT},
    {WHEN_IT, 7, 1.2, blocks_ask_any_bigger, TARGET_IT},
    {WHEN_IT, 14, 3, blocks_ask_rest, TARGET_IT},
    {WHEN_IT, 2, 1, blocks_ask_on_top, TARGET_IT},
    {WHEN_IT, 10, 6, blocks_ask_between, TARGET_IT},
    {WHEN_IT, 4, 1, blocks_ask_which_nearer, TARGET_IT},
    {WHEN_IT, 12, 2.3, blocks_ask_only, TARGET_IT},
    {WHEN_THEY, 160, 1, blocks_ask_they_count, TARGET_NAMED},
    {WHEN_THEY, 24, 1, blocks_ask_they_tally, TARGET_NAMED},
    {WHEN_THEY, 70, 1, blocks_ask_which_of, TARGET_IT},
    {WHEN_THEY, 36, 1, blocks_ask_they_not, TARGET_NAMED},
    {WHEN_THEY, 60, 1, blocks_ask_attribute, TARGET_AMONG},
    {WHEN_THEY, 24, 1, blocks_ask_verify, TARGET_AMONG},
    {WHEN_THEY, 22, 1, blocks_ask_which_place, TARGET_AMONG},
    {WHEN_THEY, 22, 1, blocks_ask_which_two, TARGET_AMONG},
    {WHEN_THEY, 8, 1, blocks_ask_bigger, TARGET_AMONG},
    {WHEN_THEY, 72, 0.45, blocks_ask_besides_those, TARGET_IT},
    {WHEN_THEY, 6, 1, blocks_ask_most, TARGET_IT},
    {WHEN_THEY, 30, 1, blocks_ask_aspect, TARGET_IT},
    {WHEN_THEY, 25, 0.25, blocks_ask_they_pair, TARGET_IT},
    {WHEN_THEY, 8, 1, blocks_ask_mostly, TARGET_IT},
    {WHEN_THEY, 12, 4, blocks_ask_one_differs, TARGET_IT},
    {WHEN_OTHER, 230, 1, blocks_ask_another, TARGET_NAMED},
    {WHEN_THEY, 110, 3.9, blocks_ask_they_all, TARGET_NAMED},
    {WHEN_OTHER, 8, 3.9, blocks_ask_they_all, TARGET_NAMED},
    {WHEN_OTHER, 20, 1, blocks_ask_they_number, TARGET_NAMED},
    {WHEN_THEY, 40, 0.73, blocks_ask_they_any, TARGET_NAMED},
    {WHEN_THEY, 45, 1, blocks_ask_group_what, TARGET_IT},
    {WHEN_THEY, 20, 4, blocks_ask_group_same, TARGET_IT},
    {WHEN_THEY, 4, 1, blocks_ask_others, TARGET_NAMED},
    {WHEN_THEY, 40, 1, blocks_ask_they_number, TARGET_NAMED},
    {WHEN_OTHER, 120, 1, blocks_ask_attribute, TARGET_THAT},
    {WHEN_OTHER, 28, 1, blocks_ask_verify, TARGET_THAT},
    {WHEN_OTHER, 45, 1, blocks_ask_attribute, TARGET_ANSWER},
    {WHEN_OTHER, 28, 1, blocks_ask_verify, TARGET_ANSWER},
    {WHEN_OTHER, 8, 1, blocks_ask_neighbour, TARGET_ANSWER},
    {WHEN_OTHER, 4, 1, blocks_ask_where, TARGET_ANSWER},
    {WHEN_OTHER, 16, 1, blocks_ask_side, TARGET_ANSWER},
    {WHEN_OTHER, 10, 1, blocks_ask_pair, TARGET_ANSWER},
    {WHEN_OTHER, 6, 1, blocks_ask_bigger, TARGET_ANSWER},
    {WHEN_OTHER, 110, 1, blocks_ask_group_what, TARGET_REMAINING},
    {WHEN_OTHER, 100, 1, blocks_ask_group_what, TARGET_FOUND},
    {WHEN_OTHER, 40, 3.9, blocks_ask_they_all, TARGET_FOUND},
    {WHEN_OTHER, 24, 4, blocks_ask_group_same, TARGET_FOUND},
    {WHEN_IT, 16, 1, blocks_ask_group_what, TARGET_BESIDES},
    {WHEN_IT, 6, 3.9, blocks_ask_they_all, TARGET_BESIDES},
    {WHEN_IT, 3, 4, blocks_ask_group_same, TARGET_BESIDES},
    {WHEN_OTHER, 24, 0.3, blocks_ask_any_other, TARGET_NAMED},
    {WHEN_OTHER, 45, 3.9, blocks_ask_they_all, TARGET_REMAINING},
    {WHEN_OTHER, 24, 4, blocks_ask_group_same, TARGET_REMAINING},
    {WHEN_OTHER, 100, 1, blocks_ask_attribute, TARGET_REMAINING},
    {WHEN_OTHER, 44, 1, blocks_ask_verify, TARGET_REMAINING},
    {WHEN_OTHER, 40, 1, blocks_ask_and_side, TARGET_NAMED},
    {WHEN_OTHER, 1200, 1, blocks_ask_not_so, TARGET_NAMED},
    {WHEN_OTHER, 40, 1, blocks_ask_one_each, TARGET_BOTH},
    {WHEN_THEY, 8, 1, blocks_ask_one_each, TARGET_IT},
    {WHEN_OTHER, 24, 1, blocks_ask_that_color, TARGET_NAMED},
    {WHEN_ANY, 3, 1, blocks_ask_what_besides, TARGET_NAMED},
    {WHEN_ANY, 5, 1, blocks_ask_occurs, TARGET_NAMED},
    {WHEN_ANY, 4, 0.5, blocks_ask_any_pair, TARGET_NAMED},
    {WHEN_ANY, 3, 1, blocks_ask_identical, TARGET_NAMED},
    {WHEN_ANY, 16, 1, blocks_ask_odd_one, TARGET_NAMED},
    {WHEN_THEY, 14, 1, blocks_ask_odd_one, TARGET_IT},
    {WHEN_ANY, 3, 1, blocks_ask_any_hidden, TARGET_NAMED},
    {WHEN_LONE, 8, 1, blocks_ask_which_hidden, TARGET_NAMED},
    {WHEN_LONE, 4, 2, blocks_ask_hidden, TARGET_NAMED},
    {WHEN_LONE, 6, 1, blocks_ask_hider, TARGET_NAMED},
    {WHEN_IT, 14, 1, blocks_ask_hider, TARGET_IT},
    {WHEN_IT, 14, 2, blocks_ask_hidden, TARGET_IT},
    {WHEN_THEY, 14, 1, blocks_ask_occurs, TARGET_IT},
    {WHEN_LONE, 8, 6, blocks_ask_between_two, TARGET_NAMED},
    {WHEN_THEY, 14, 6, blocks_ask_between_two, TARGET_IT},
    {WHEN_OTHER, 30, 1, blocks_ask_group_what, TARGET_BOTH},
    {WHEN_OTHER, 60, 2, blocks_ask_group_same, TARGET_BOTH},
    {WHEN_OTHER, 50, 1, blocks_ask_which_of, TARGET_BOTH},
    {WHEN_OTHER, 20, 1, blocks_ask_aspect, TARGET_BOTH},
    {WHEN_OTHER, 16, 1, blocks_ask_which_place, TARGET_BOTH},
    {WHEN_OTHER, 16, 1, blocks_ask_which_two, TARGET_BOTH},
    {WHEN_OTHER, 12, 1, blocks_ask_bigger, TARGET_BOTH},
    {WHEN_OTHER, 60, 1, blocks_ask_counted_what, TARGET_NAMED},
    {WHEN_OTHER, 40, 1, blocks_ask_attribute, TARGET_OTHER},
    {WHEN_OTHER, 20, 1, blocks_ask_verify, TARGET_OTHER},
    {WHEN_OTHER, 4, 1, blocks_ask_what, TARGET_OTHER},
    {WHEN_OTHER, 6, 1, blocks_ask_where, TARGET_OTHER},
    {WHEN_OTHER, 6, 1, blocks_ask_neighbour, TARGET_OTHER},
    {WHEN_OTHER, 8, 1, blocks_ask_attribute, TARGET_BEFORE},
    {WHEN_OTHER, 8, 1, blocks_ask_verify, TARGET_BEFORE},
    {WHEN_OTHER, 14, 1, blocks_ask_side, TARGET_THAT},
    {WHEN_OTHER, 10, 1, blocks_ask_pair, TARGET_THAT},
    {WHEN_OTHER, 14, 1, blocks_ask_that_value, TARGET_NAMED},
    {WHEN_OTHER, 20, 1, blocks_ask_and_attribute, TARGET_NAMED},
    {WHEN_OTHER, 4, 1, blocks_ask_and_attribute, TARGET_PLACE},
    {WHEN_OTHER, 4, 1, blocks_ask_and_attribute, TARGET_SIZE},
    {WHEN_OTHER, 30, 1, blocks_ask_and_attribute, TARGET_OTHER},
    {WHEN_OTHER, 4, 1, blocks_ask_and_attribute, TARGET_NEIGHBOUR},
    {WHEN_OTHER, 6, 1, blocks_ask_and_attribute, TARGET_NEXT_TO_IT},
    {WHEN_OTHER, 24, 1, blocks_ask_and_group, TARGET_NAMED},
    {WHEN_OTHER, 4, 1, blocks_ask_and_attribute, TARGET_AMONG},
    {WHEN_OTHER, 20, 1, blocks_ask_and_group, TARGET_BESIDES},
    {WHEN_OTHER, 45, 1, blocks_ask_and_verify, TARGET_NAMED},
    {WHEN_OTHER, 8, 1, blocks_ask_and_verify, TARGET_PLACE},
    {WHEN_OTHER, 40, 1, blocks_ask_and_verify, TARGET_OTHER},
    {WHEN_OTHER, 6, 1, blocks_ask_and_verify, TARGET_NEXT_TO_IT},
    {WHEN_OTHER, 12, 1, blocks_ask_how_many, TARGET_NAMED},
    {WHEN_OTHER, 300, 1, blocks_ask_and_count, TARGET_NAMED},
    {WHEN_OTHER, 4000, 1, blocks_ask_together, TARGET_NAMED},
    {WHEN_OTHER, 1000, 1, blocks_ask_difference, TARGET_NAMED},
    {WHEN_OTHER, 90, 1, blocks_ask_what_else, TARGET_NAMED},
    {WHEN_OTHER, 160, 1, blocks_ask_about_others, TARGET_NAMED},
    {WHEN_OTHER, 400, 1, blocks_ask_and_attribute, TARGET_OPPOSITE},
    {WHEN_OTHER, 100, 1, blocks_ask_attribute, TARGET_OPPOSITE},
    {WHEN_OTHER, 30, 1, blocks_ask_verify, TARGET_OPPOSITE},
    {WHEN_OTHER, 120, 1, blocks_ask_and_verify, TARGET_OPPOSITE},
    {WHEN_OTHER, 300, 1, blocks_ask_and_what, TARGET_OPPOSITE},
    {WHEN_ANY, 8, 1, blocks_ask_mixed, TARGET_NAMED},
    {WHEN_ANY, 8, 1, blocks_ask_without, TARGET_NAMED},
    {WHEN_OTHER, 160, 1, blocks_ask_and_not, TARGET_NAMED},
    {WHEN_ANY, 5, 1, blocks_ask_all_but, TARGET_NAMED},
    {WHEN_THEY, 14, 1, blocks_ask_all_but, TARGET_IT},
    {WHEN_OTHER, 14, 1, blocks_ask_all_but, TARGET_BOTH},
    {WHEN_LONE, 7, 1, blocks_ask_two_sides, TARGET_NAMED},
    {WHEN_IT, 8, 1, blocks_ask_two_sides, TARGET_IT},
    {WHEN_OTHER, 100, 1, blocks_ask_than_that, TARGET_NAMED},
    {WHEN_LONE, 5, 1, blocks_ask_neighbour, TARGET_NEIGHBOUR},
    {WHEN_LONE, 4, 1, blocks_ask_same, TARGET_NEIGHBOUR},
    {WHEN_LONE, 3, 1, blocks_ask_verify, TARGET_NEIGHBOUR},
    {WHEN_LONE, 2, 0.46, blocks_ask_else, TARGET_NEIGHBOUR},
    {WHEN_LONE, 6, 1, blocks_ask_attribute, TARGET_ALIKE},
    {WHEN_LONE, 2, 1, blocks_ask_verify, TARGET_ALIKE},
    {WHEN_ANY, 7, 1, blocks_ask_part_exist, TARGET_NAMED},
    {WHEN_ANY, 14, 1, blocks_ask_part_count, TARGET_NAMED},
    {WHEN_ANY, 2, 1, blocks_ask_part_what, TARGET_NAMED},
    {WHEN_ANY, 3, 1, blocks_ask_part_more, TARGET_NAMED},
    {WHEN_LONE, 4, 1, blocks_ask_which_at, TARGET_PLACE},
    {WHEN_OTHER, 4, 1, blocks_ask_sure, TARGET_NAMED},
    {WHEN_OTHER, 60, 1, blocks_ask_that_all, TARGET_NAMED},
    {WHEN_OTHER, 120, 1, blocks_ask_or_side, TARGET_NAMED},
    {WHEN_LONE, 5, 1, blocks_ask_near, TARGET_NAMED},
    {WHEN_IT, 12, 1, blocks_ask_near, TARGET_IT},
    {WHEN_OTHER, 24, 1, blocks_ask_and_exist, TARGET_NAMED},
    {WHEN_OTHER, 50, 1, blocks_ask_and_all, TARGET_NAMED},
    {WHEN_OTHER, 350, 1, blocks_ask_and_next, TARGET_NAMED},
};

enum { QUESTIONS = sizeof questions / sizeof *questions, ENOUGH = 6 };

// People refer to what was said before in more than half of their questions (tests/exam).
static const double IT = 1.2, THEY = 2.2, OTHER = 2;

static double weight_now(const blocks_state *state, const question *q)
{
    switch (q->when) {
    case WHEN_IT:
        return state->it < 0 ? 0 : IT * q->weight;
    case WHEN_THEY:
        return !state->they ? 0 : THEY * q->weight;
    case WHEN_OTHER:
        return OTHER * q->weight;
    case WHEN_LONE:
        // First questions about what is clearly "it", then about others.
        return state->it >= 0 && blocks_it_clear(state) && state->references < ENOUGH
                   ? 0.25 * q->weight
                   : q->weight;
    default:
        return q->weight;
    }
}

// The public data writes every number as a digit, "one" as well ("the red 1"), and what a person
// types is made to look so: some dialogs are written that way.
static void write_digits(char *text)
{
    for (char *p = text; (p = strstr(p, "one")); p++) {
        bool word = (p == text || p[-1] == ' ') && (p[3] == 0 || p[3] == ' ' || p[3] == ',');
        if (!word)
            continue;
        *p = '1';
        memmove(p + 1, p + 3, strlen(p + 3) + 1);
    }
}

static bool typed_before(const blocks_state *state, const char *text)
{
    for (int r = 1; r < state->round; r++)
        if (!strcmp(state->dialog->round[r - 1].question, text))
            return true;
    return false;
}

static bool said_before(const blocks_state *state, const blocks_draft *draft)
{
    for (int r = 1; r < state->round; r++)
        if (state->topics[r - 1] == draft->topic)
            return true;
    return typed_before(state, draft->text);
}

static bool is_kept(blocks_state *state, const question *q, const blocks_draft *draft)
{
    return draft->meaning.ask > ASK_POLAR || draft->meaning.absent ||
           blocks_chance(state, draft->meaning.yes ? q->balance : 1 / q->balance);
}

// "is there": "yes, there is"; "are there", "do you see any cubes": "yes, there are".
static blocks_verb verb_of(const blocks_draft *draft)
{
    const char *text = draft->text;
    return !strncmp(text, "is ", 3)    ? VERB_IS
           : !strncmp(text, "are ", 4) ? VERB_ARE
           : draft->plural             ? VERB_ARE
                                       : VERB_IS;
}

// Returns the answer. A question to which no answer of the table is true (two red cubes: "which is
// bigger") is not asked.
static int draw_question(blocks_state *state, blocks_draft *draft)
{
    double weight[QUESTIONS], total;
    for (;;) {
        total = 0;
        for (int i = 0; i < QUESTIONS; i++)
            total += weight[i] = weight_now(state, &questions[i]);
        double draw = vd_rng_uniform(&state->rng) * total;
        int i = 0;
        while (i < QUESTIONS - 1 && (draw -= weight[i]) >= 0)
            i++;
        const question *q = &questions[i];
        state->naming = q->naming;
        if (!blocks_make(state, q->ask, draft))
            continue;
        if (state->digits)
            write_digits(draft->text);
        if (blocks_words(draft->text) > BLOCKS_MOST_WORDS || said_before(state, draft) ||
            !is_kept(state, q, draft))
            continue;
        draft->meaning.verb = verb_of(draft);
        int answer = blocks_answer_draw(state->scene, &draft->meaning, &state->rng);
        if (answer >= 0)
            return answer;
    }
}

// ---- what a question and its answer change ----------------------------------------------------

static void set_it(blocks_state *state, int object)
{
    if (state->it != object)
        state->before = state->it;
    state->it = object;
    state->it_entry = state->round;
    state->singles |= 1u << object;
    state->last[object] = state->round;
}

static void learn(blocks_state *state, const blocks_draft *draft, int answer)
{
    const blocks_meaning *m = &draft->meaning;
    for (int i = 0; i < state->scene->count; i++)
        state->known[i] |= draft->named[i];
    if (draft->about >= 0)
        state->known[draft->about] |= blocks_answer_says(answer);
    bool alike = m->ask == ASK_SHARED || (m->ask == ASK_ALL && m->yes);
    for (int i = 0; i < state->scene->count; i++)
        if (alike && blocks_has(m->objects, i) && m->attribute < BLOCKS_ATTRIBUTES)
            state->known[i] |= 1u << m->attribute;
    bool polar = m->ask == ASK_ONE && m->attribute < BLOCKS_ATTRIBUTES;
    if (polar && (m->yes || blocks_values(m->attribute) == 2))
        state->known[draft->about] |= 1u << m->attribute;
    if (draft->kind_stated)
        blocks_add_fact(state, draft->kind,
                        m->ask == ASK_COUNT || !m->objects ? blocks_size_of(m->objects)
                        : blocks_answer_number(answer) > 0 ? blocks_answer_number(answer)
                                                           : -1);
}

// Which object the words of question and answer bring up alone, -1 = none.
static int brought_up(const blocks_draft *draft)
{
    const blocks_meaning *m = &draft->meaning;
    int only = blocks_only(m->objects);
    if (draft->single >= 0)
        return draft->single;
    return draft->kind_stated ? only : -1;
}

// Something was found that a person may mean by "it" without being told which it is: "is there a
// cube" of several, "is anything behind it".
static bool is_vague(const blocks_draft *draft, int one)
{
    const blocks_meaning *m = &draft->meaning;
    if (draft->other_thing)
        return true;
    if (m->ask == ASK_COUNT)
        return m->number == 1 && (one < 0 || one != blocks_only(m->objects) || draft->other_group);
    if (m->ask == ASK_THERE || m->ask == ASK_ANY) {
        int found = blocks_size_of(m->objects);
        return found > 0 && (one < 0 || draft->single >= 0) && (found == 1 || !draft->plural);
    }
    // "is there only 1 cube"
    return m->ask == ASK_POLAR && draft->group && blocks_size_of(m->objects) == 1;
}

static void note_entry(blocks_state *state, const blocks_draft *draft, int answer, int object)
{
    const blocks_meaning *m = &draft->meaning;
    blocks_entry *entry = &state->entry[state->round];
    *entry = (blocks_entry){.object = object,
                            .ask = m->ask,
                            .attribute = m->attribute,
                            .kind = m->ask == ASK_VALUE ? draft->target : draft->kind};
    entry->value = (m->ask == ASK_VALUE && m->objects) ||
                   (m->ask == ASK_SHARED && (draft->of_they || draft->group));
    entry->beside = draft->beside;
    if (draft->beside >= 0)
        entry->axis = (blocks_direction)(m->toward & ~1);
    entry->verify = m->ask == ASK_ONE && draft->asked >= 0;
    entry->asked = draft->asked;
    entry->count = m->ask == ASK_COUNT && draft->group && draft->kind_stated;
    entry->counted = (m->ask == ASK_COUNT || draft->tallied) && draft->kind_stated;
    entry->whole = draft->whole;
    entry->exist = m->ask == ASK_THERE && draft->kind_stated && draft->coreference == 0;
    entry->one = entry->exist && m->yes && !draft->plural && blocks_answer_number(answer) < 0;
    bool shared =
        m->ask == ASK_SHARED && blocks_shared(state->scene, m->objects, m->attribute) >= 0;
    entry->yes = m->yes || shared;
    entry->answer_value = blocks_anything;
    if ((m->ask == ASK_VALUE && m->objects) || shared)
        entry->answer_value.value[m->attribute] =
            (int8_t)blocks_value_of(state->scene, __builtin_ctz(m->objects), m->attribute);
    else if (m->ask == ASK_MOST && m->objects == blocks_all(state->scene))
        entry->answer_value = m->more;
    bool named =
        (m->ask == ASK_WHICH || m->ask == ASK_CHOICE) && draft->about >= 0 && draft->single < 0;
    entry->named = named && blocks_answer_says(answer) ? draft->about : draft->implied;
    bool found = m->ask == ASK_COUNT ||
                 (m->yes && draft->plural && (m->ask == ASK_ANOTHER || m->ask == ASK_THERE));
    bool of_these =
        draft->of_found && (m->ask == ASK_SHARED || m->ask == ASK_SAME || m->ask == ASK_ALL);
    if (of_these || (found && draft->other_group && m->number == blocks_size_of(m->objects)))
        entry->found = m->objects;
    if (draft->found)
        entry->found = draft->found;
    if (m->ask == ASK_ALL && !m->yes && draft->asked >= 0) {
        blocks_kind so = blocks_such(m->attribute, draft->asked);
        entry->not_so = m->objects & ~blocks_find(state->scene, so);
    }
    if (entry->named < 0 && draft->single < 0 && draft->about < 0 &&
        draft->coreference + draft->crowded > 0)
        entry->named = blocks_only(entry->found);
    if (m->ask == ASK_CHOICE && blocks_only(m->objects) >= 0 && blocks_size_of(m->among) > 2)
        entry->rest = m->among & ~m->objects;
    bool more = m->ask == ASK_MORE ? !m->equal : m->yes;
    entry->difference = more ? draft->difference : 0;
    entry->left_out = m->ask == ASK_POLAR && !m->yes ? draft->left_out : 0;
    entry->at = draft->single >= 0 && m->objects == 1u << draft->single ? draft->at : 0;
    entry->furthest_of = draft->target;
    entry->complete = m->ask == ASK_SHARED && m->objects == blocks_all(state->scene) &&
                      m->attribute != BLOCKS_SIZE && blocks_answer_says(answer) &&
                      blocks_distinct(state->scene, m->objects, m->attribute) <= 3;
    entry->faced = draft->faced;
    entry->of_other = draft->faced_other;
    entry->words = blocks_text_words(draft->text) | blocks_text_words(blocks_answer_text(answer));
}

static void note_it(blocks_state *state, const blocks_draft *draft, int answer)
{
    const blocks_meaning *m = &draft->meaning;
    int one = brought_up(draft), others = 0;
    bool other = draft->about >= 0 && draft->about != one && blocks_answer_says(answer);
    bool crowded = draft->crowded || other, vague = is_vague(draft, one);
    note_entry(state, draft, answer, crowded ? -1 : one);
    if (crowded || vague) {
        // Several were named: nobody can say which one "it" would be.
        state->it = state->before = -1;
    } else if (one >= 0) {
        set_it(state, one);
    }
    for (int i = 0; i < state->scene->count; i++) {
        bool named = draft->named[i] || i == draft->about || i == draft->single;
        bool perhaps = vague && blocks_has(m->objects, i);
        if (named || perhaps || i == one)
            state->mention[i] = state->round;
        if (crowded && named)
            state->singles |= 1u << i;
        others += named && i != one;
    }
    if (others)
        state->before = -1;
}

static void note_they(blocks_state *state, const blocks_draft *draft, int answer)
{
    const blocks_meaning *m = &draft->meaning;
    int number = blocks_size_of(m->objects);
    bool found = (m->ask != ASK_THERE && m->ask != ASK_ANY) || m->yes;
    if (draft->other_group) {
        state->groups += 2; // no clear "they" any more
        state->they = false;
    }
    // "are there any cubes" that finds one, "yes, 3 of them": other things than "they" so far.
    if ((draft->group && number == 1) || (!draft->plural && blocks_answer_number(answer) > 1))
        state->they = false;
    if (draft->of_they)
        state->they_last = state->round;
    if (draft->of_both) // no group of before any more
        state->they = false;
    if (blocks_size_of(draft->both) == 2) {
        state->both = draft->both;
        state->both_entry = state->round;
    }
    if (draft->group && number >= 2 && found) {
        state->groups += !state->they || state->they_entry == 0 ||
                         !blocks_kind_same(state->they_kind, draft->kind);
        state->they = true;
        state->they_kind = draft->kind;
        state->they_entry = state->they_last = state->round;
    }
}

// A kind of which there are several, known from the conversation or seen: what a person may say
// before asking something.
static bool some_fact(blocks_state *state, const blocks_draft *draft, blocks_kind *kind)
{
    static const unsigned char masks[] = {0, 0, 2, 2, 1, 4};
    *kind = blocks_some_kind(state, BLOCKS_ONE_OF(state, masks));
    if (state->facts && blocks_chance(state, 0.5))
        *kind = state->fact[vd_rng_below(&state->rng, state->facts)].kind;
    bool asked = draft->kind_stated && blocks_kind_same(draft->kind, *kind);
    return !asked && blocks_number(state->scene, *kind) > 1;
}

// "9 things, ok. how many are red": says what is true before a question without pronouns. Whether
// "they" might then be these.
static bool add_fact(blocks_state *state, const blocks_draft *draft, char *text, size_t size)
{
    blocks_kind kind;
    char out[2 * BLOCKS_TEXT], padded[BLOCKS_TEXT + 2];
    snprintf(padded, sizeof padded, " %s", text);
    static const char *const pronouns[] = {" it",  " they", " the",   " tho",
                                           " thi", " that", " other", " else"};
    for (size_t i = 0; i < sizeof pronouns / sizeof *pronouns; i++) {
        const char *at = strstr(padded, pronouns[i]);
        if (at && strncmp(at, " the ", 5) != 0 && strncmp(at, " there", 6) != 0 &&
            strncmp(at, " thing", 6) != 0)
            return false;
    }
    // "7 balls, ok. how many red": of the balls
    bool bare = !strncmp(text, "how many ", 9) && blocks_words(text) < 6 && !strstr(text, "there");
    if (draft->coreference || bare || !some_fact(state, draft, &kind))
        return false;
    char number[4];
    snprintf(number, sizeof number, "%d", blocks_number(state->scene, kind));
    blocks_expand(
        &state->rng, out, sizeof out,
        "(3:%n %p, ok|2:ok, %n %p|so %n %p|%n %p, hm|2:i see %n %p|i count %n %p|there are %n %p, "
        "(ok|right)|right, %n %p|nice, %n %p|%n %p, fine|alright, %n %p|hm, %n %p)(3:,|) %t",
        "npt", number, blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text, text);
    if (strlen(out) >= size || blocks_words(out) > BLOCKS_MOST_WORDS)
        return false;
    snprintf(text, size, "%s", out);
    blocks_add_fact(state, kind, blocks_number(state->scene, kind));
    return !draft->group && !(state->they && blocks_kind_same(kind, state->they_kind));
}

void blocks_dialog_make(const blocks_scene *scene, blocks_dialog *dialog)
{
    blocks_state state = {.scene = scene, .dialog = dialog, .it = -1, .before = -1};
    state.rng = blocks_dialog_stream(scene);
    memset(dialog, 0, sizeof *dialog);
    for (int i = 0; i < BLOCKS_MAX; i++)
        state.last[i] = state.mention[i] = -1;
    blocks_caption(&state);
    state.digits = blocks_chance(&state, 0.4);
    unsigned manner = blocks_manner_draw(&state.rng);
    for (state.round = 1; state.round <= BLOCKS_ROUNDS; state.round++) {
        blocks_round *round = &dialog->round[state.round - 1];
        blocks_draft draft;
        state.latest = &state.entry[state.round - 1];
        round->answer = draw_question(&state, &draft);
        snprintf(round->question, sizeof round->question, "%s", draft.text);
        bool fact = blocks_chance(&state, manner & BLOCKS_REMARK ? 0.25 : 0.03) &&
                    add_fact(&state, &draft, round->question, sizeof round->question);
        const char *before =
            state.round > 1 ? blocks_answer_text(dialog->round[state.round - 2].answer) : NULL;
        blocks_manner_apply(&state.rng, manner, before, round->question, sizeof round->question);
        // "what color is it" may have become "what colour is it", which was asked before.
        if (typed_before(&state, round->question))
            snprintf(round->question, sizeof round->question, "%s", draft.text);
        round->family = draft.family;
        round->coreference = draft.coreference;
        blocks_candidates(scene, &draft.meaning, &state.rng, round);
        state.topics[state.round - 1] = draft.topic;
        state.references += draft.coreference > 0;
        learn(&state, &draft, round->answer);
        note_it(&state, &draft, round->answer);
        note_they(&state, &draft, round->answer);
        if (fact) {
            state.groups += 2;
            state.they = false;
        }
    }
}

// Questions about two kinds: how many cubes and balls, whether there are both, only these or
// neither.
#include "assets/blocks/state.h"

enum { TOPIC_KINDS = 21, TOPIC_NEITHER = 23 };

// "how many cubes and balls are there", "how many red or blue things are there"
const char *blocks_ask_kinds(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_attribute a = blocks_chance(state, 0.6) ? BLOCKS_SHAPE : BLOCKS_COLOR;
    blocks_kind kind[2];
    for (int i = 0; i < 2; i++)
        kind[i] = blocks_some_kind(state, 1u << a);
    blocks_attribute of = a == BLOCKS_SHAPE ? BLOCKS_COLOR : BLOCKS_SHAPE;
    bool some = blocks_chance(state, 0.25);
    blocks_kind whole = blocks_some_kind(state, some ? 1u << of : 0);
    blocks_set both = blocks_find(scene, kind[0]) | blocks_find(scene, kind[1]);
    both &= blocks_find(scene, whole);
    if (kind[0].value[a] == kind[1].value[a] || blocks_known_number(state, kind[0]) >= 0)
        return NULL;
    *draft = blocks_draft_new("count", ASK_COUNT);
    blocks_ask_for(draft, both);
    draft->meaning.given = 1u << a;
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_KINDS, a, blocks_kinds_key(kind), blocks_kind_key(whole));
    if (some) {
        draft->meaning.given |= 1u << of;
        blocks_say(state, "v", blocks_predicate_many(&state->rng, a, kind[0].value[a]).text);
        blocks_say(state, "w", blocks_predicate_many(&state->rng, a, kind[1].value[a]).text);
        blocks_say(state, "p", blocks_noun(&state->rng, whole, BLOCKS_PLURAL).text);
        return "(2:how many %p are either %v or %w|2:how many %p are %v or %w|how many of the %p "
               "are (either|) %v or %w)";
    }
    if (a == BLOCKS_COLOR) {
        blocks_say(state, "vw", blocks_value_name(a, kind[0].value[a]),
                   blocks_value_name(a, kind[1].value[a]));
        return "(2:how many %v (or|and) %w (things|objects) are there|2:how many things are "
               "(either|) %v or %w|how many are %v or %w)";
    }
    blocks_say(state, "q", blocks_noun(&state->rng, kind[1], BLOCKS_PLURAL).text);
    blocks_say(state, "p", blocks_noun(&state->rng, kind[0], BLOCKS_PLURAL).text);
    return "(3:how many %p and %q are there (2:|in total|together|altogether)|2:how many %p and "
           "%q|how many %p or %q are there|%p and %q, how many|number of %p and %q|2:%p plus "
           "%q|how many %p plus %q|%p and %q (in total|together)|sum of %p and %q)";
}

// "is there a ball and a cube", "are there both cubes and balls": as often one of them is missing
const char *blocks_ask_both_kinds(blocks_state *state, blocks_draft *draft)
{
    blocks_attribute a = blocks_chance(state, 0.65) ? BLOCKS_SHAPE : BLOCKS_COLOR;
    blocks_kind kind[2] = {blocks_some_kind(state, 1u << a), blocks_anything};
    bool yes = blocks_chance(state, 0.5), many = blocks_chance(state, 0.5);
    kind[1].value[a] = (int8_t)vd_rng_below(&state->rng, blocks_values(a));
    if (kind[0].value[a] == kind[1].value[a] || (blocks_find(state->scene, kind[1]) != 0) != yes ||
        blocks_known_number(state, kind[1]) == 0)
        return NULL;
    if (blocks_chance(state, 0.5)) {
        blocks_kind swap = kind[0];
        kind[0] = kind[1];
        kind[1] = swap;
    }
    *draft = blocks_draft_new("exist", ASK_POLAR);
    draft->meaning.yes = yes;
    draft->plural = many;
    draft->other_group = draft->other_thing = true;
    draft->topic = blocks_topic(TOPIC_KINDS, 20 + a, blocks_kinds_key(kind), 0);
    blocks_article article = many ? BLOCKS_PLURAL : BLOCKS_A;
    blocks_say(state, "q", blocks_noun(&state->rng, kind[1], article).text);
    blocks_say(state, "p", blocks_noun(&state->rng, kind[0], article).text);
    return many ? "(3:are there %p and %q|2:are there both %p and %q|do you see (both|) %p and "
                  "%q|(any|both) %p and %q)"
                : "(4:is there %p and %q|2:is there both %p and %q|do you see (both|) %p and "
                  "%q|can you see %p and %q)";
}

// "what is neither a ball nor a cone", "besides the balls and the cones, what is there": one thing
static const char *ask_which_neither(blocks_state *state, blocks_draft *draft, blocks_attribute a,
                                     const blocks_kind kind[2], int only)
{
    *draft = blocks_draft_new("choice", ASK_WHICH);
    draft->meaning.objects = 1u << only;
    draft->single = draft->about = only;
    draft->topic = blocks_topic(TOPIC_NEITHER, a, 100 + only, 0);
    if (a == BLOCKS_SHAPE && blocks_chance(state, 0.4)) {
        blocks_phrase text[4]; // many, many, one, one
        for (int i = 3; i >= 0; i--)
            text[i] = blocks_noun(&state->rng, kind[i % 2], i < 2 ? BLOCKS_PLURAL : BLOCKS_A);
        blocks_say(state, "pqsr", text[0].text, text[1].text, text[2].text, text[3].text);
        return "((apart from|besides|other than) the %p and (the|) %q, what (else is there|is "
               "there)|what is there (besides|apart from|other than) (the|) %p and (the|) %q|what "
               "is not %s or %r)";
    }
    blocks_phrase second = blocks_predicate(&state->rng, a, kind[1].value[a]);
    blocks_say(state, "vw", blocks_predicate(&state->rng, a, kind[0].value[a]).text, second.text);
    return "(2:which (thing|object|one|solid) is neither %v nor %w|what is neither %v nor %w|what "
           "is not %v or %w|which (thing|object) is not %v or %w)";
}

// "is there anything other than cubes and balls": the other way round
static bool other_than(blocks_draft *draft)
{
    draft->meaning.yes = draft->other_thing = !draft->meaning.yes;
    return true;
}

// "are there only cubes and balls"
const char *blocks_ask_only_kinds(blocks_state *state, blocks_draft *draft)
{
    blocks_attribute a = blocks_chance(state, 0.7) ? BLOCKS_SHAPE : BLOCKS_COLOR;
    blocks_kind kind[2];
    for (int i = 0; i < 2; i++)
        kind[i] = blocks_some_kind(state, 1u << a);
    bool one = blocks_chance(state, 0.3);
    blocks_set such = blocks_find(state->scene, kind[0]);
    if (!one)
        such |= blocks_find(state->scene, kind[1]);
    bool yes = such == blocks_all(state->scene);
    if ((!one && kind[0].value[a] == kind[1].value[a]) || (!yes && !blocks_chance(state, 0.1)))
        return NULL;
    *draft = blocks_draft_new("verify", ASK_POLAR);
    draft->meaning.yes = yes;
    draft->left_out = blocks_all(state->scene) & ~such;
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_KINDS, 10 + a, blocks_kinds_key(kind), one);
    blocks_phrase second = blocks_noun(&state->rng, kind[1], BLOCKS_PLURAL);
    blocks_phrase first = blocks_noun(&state->rng, kind[0], BLOCKS_PLURAL);
    blocks_say(state, "pqvw", first.text, second.text, blocks_value_name(a, kind[0].value[a]),
               blocks_value_name(a, kind[1].value[a]));
    if (!one && blocks_chance(state, 0.25) && other_than(draft))
        return a == BLOCKS_SHAPE
                   ? "(2:is there anything other than %p and %q|anything other than %p and %q|are "
                     "there any other shapes (than|besides|apart from) %p and %q)"
                   : "(is there anything other than %p and %q|are there any other colors "
                     "(than|besides|apart from) %v and %w|is there any color other than %v and %w)";
    return one ? "(2:are there only %p|only %p|so (just|only) %p, (right|correct)|are there "
                 "(nothing but|just) %p)"
               : "(2:are there only %p and %q|only %p and %q|so (just|only) %p and %q, "
                 "(right|correct|then)|are there just %p and %q)";
}

// "how many things are neither red nor blue", "what is neither red nor blue"
const char *blocks_ask_neither(blocks_state *state, blocks_draft *draft)
{
    blocks_attribute a = blocks_chance(state, 0.4) ? BLOCKS_SHAPE : BLOCKS_COLOR;
    blocks_kind kind[2];
    blocks_set others = blocks_all(state->scene);
    for (int i = 0; i < 2; i++) {
        kind[i] = blocks_some_kind(state, 1u << a);
        others &= ~blocks_find(state->scene, kind[i]);
    }
    if (kind[0].value[a] == kind[1].value[a])
        return NULL;
    if (blocks_only(others) >= 0 && blocks_chance(state, 0.5))
        return ask_which_neither(state, draft, a, kind, blocks_only(others));
    *draft = blocks_draft_new("count", ASK_COUNT);
    blocks_ask_for(draft, others);
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_NEITHER, a, blocks_kinds_key(kind), 0);
    blocks_say(state, "w", blocks_predicate_many(&state->rng, a, kind[1].value[a]).text);
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a, kind[0].value[a]).text);
    return "(3:how many (things|objects) are neither %v nor %w|how many are neither %v nor %w|how "
           "many (things|objects) are not %v or %w)";
}

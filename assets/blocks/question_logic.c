// Questions with and, or, not and but: how many are either red or balls, how many there are besides
// the cubes, whether all but one of them are red, what is left of the ball and behind the cone.
#include "assets/blocks/state.h"

#include <stdlib.h>

enum {
    TOPIC_MIXED = 151,
    TOPIC_WITHOUT,
    TOPIC_AND_NOT,
    TOPIC_ALL_BUT,
    TOPIC_TWO_SIDES,
    TOPIC_THAN_THAT
};

// How two kinds are joined.
typedef enum { JOIN_OR, JOIN_NOR, JOIN_AND, JOIN_BUT_NOT, JOINS } join;

static blocks_set joined(const blocks_scene *scene, join how, const blocks_kind kind[2])
{
    blocks_set one = blocks_find(scene, kind[0]), two = blocks_find(scene, kind[1]);
    return how == JOIN_OR    ? one | two
           : how == JOIN_NOR ? blocks_all(scene) & ~(one | two)
           : how == JOIN_AND ? one & two
                             : one & ~two;
}

// "how many things are either red or balls", "both red and metal", "neither red nor cubes"
const char *blocks_ask_mixed(blocks_state *state, blocks_draft *draft)
{
    static const blocks_attribute pairs[][2] = {
        {BLOCKS_COLOR, BLOCKS_SHAPE},    {BLOCKS_COLOR, BLOCKS_SHAPE},
        {BLOCKS_MATERIAL, BLOCKS_SHAPE}, {BLOCKS_SIZE, BLOCKS_SHAPE},
        {BLOCKS_SHAPE, BLOCKS_MATERIAL}, {BLOCKS_SHAPE, BLOCKS_COLOR},
        {BLOCKS_SHAPE, BLOCKS_SIZE},     {BLOCKS_COLOR, BLOCKS_MATERIAL},
        {BLOCKS_MATERIAL, BLOCKS_COLOR}, {BLOCKS_SIZE, BLOCKS_MATERIAL},
        {BLOCKS_SIZE, BLOCKS_COLOR}};
    static const char *const patterns[JOINS] = {
        [JOIN_OR] = "how many %n are (2:either|) %v or %w",
        [JOIN_NOR] = "how many %n are (3:neither %v nor %w|not %v and not %w)",
        [JOIN_AND] = "how many %n are (3:both %v and %w|%v and (3:|also) %w)",
        [JOIN_BUT_NOT] = "how many %n are %v (3:but|and) not %w"};
    static const join often[] = {JOIN_OR, JOIN_OR, JOIN_OR, JOIN_NOR, JOIN_AND, JOIN_BUT_NOT};
    const blocks_attribute *a = BLOCKS_ONE_OF(state, pairs);
    join how = BLOCKS_ONE_OF(state, often);
    blocks_kind kind[2];
    for (int i = 0; i < 2; i++)
        kind[i] = blocks_some_kind(state, 1u << a[i]);
    blocks_set such = joined(state->scene, how, kind);
    if (how >= JOIN_AND && !such && !blocks_chance(state, 0.3))
        return NULL;
    *draft = blocks_draft_new("count", ASK_COUNT);
    blocks_ask_for(draft, such);
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_MIXED, how, blocks_kinds_key(kind), 0);
    // "how many are red or balls" would be of a group just mentioned.
    const char *noun = blocks_several_mentioned(state) ? "(things|objects)" : "(3:things|objects|)";
    blocks_say(state, "n", blocks_expansion(&state->rng, noun).text);
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a[0], kind[0].value[a[0]]).text);
    blocks_say(state, "w", blocks_predicate_many(&state->rng, a[1], kind[1].value[a[1]]).text);
    return patterns[how];
}

// "how many things other than cubes are there", "not counting the cubes, how many are left", "how
// many things besides the cubes are red"
const char *blocks_ask_without(blocks_state *state, blocks_draft *draft)
{
    static const unsigned char masks[] = {2, 2, 2, 2, 1, 1, 4, 8, 3, 6, 10};
    unsigned mask = BLOCKS_ONE_OF(state, masks);
    blocks_kind kind = blocks_some_kind(state, mask), so = blocks_anything;
    blocks_attribute a = blocks_some_attribute(state);
    bool some = !(mask >> a & 1) && blocks_chance(state, 0.25);
    if (some)
        so = blocks_some_kind(state, 1u << a);
    blocks_set such = blocks_find(state->scene, kind);
    *draft = blocks_draft_new("count", ASK_COUNT);
    blocks_ask_for(draft, blocks_find(state->scene, so) & ~such);
    draft->plural = draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_WITHOUT, blocks_kind_key(kind), blocks_kind_key(so), 0);
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_THE_MANY).text);
    if (blocks_only(such) >= 0)
        blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_THE).text);
    blocks_say(state, "n", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    if (some) {
        blocks_say(state, "v", blocks_predicate_many(&state->rng, a, so.value[a]).text);
        const char *but = "(3:other than|3:besides|2:apart from|2:except|except for|excluding)";
        blocks_say(state, "b", blocks_expansion(&state->rng, but).text);
        return "(2:how many (things|objects) %b %p are %v|how many (things|objects) are %v %b "
               "%p|%b %p, how many (things|objects) are %v|not counting %p, how many are %v)";
    }
    if (state->latest->counted && !blocks_kind_mask(state->latest->kind) &&
        blocks_chance(state, 0.6)) {
        draft->coreference = 1;
        return "(2:and without (the|) %n|and not counting the %n|and except (the|) %n|without "
               "(the|) %n|and if you leave out the %n)";
    }
    const char *but = "(3:other than|3:besides|2:apart from|2:except|except for|2:excluding|not "
                      "counting|leaving out)";
    blocks_say(state, "b", blocks_expansion(&state->rng, but).text);
    return "(5:how many (things|objects) %b %p (2:|are there)|2:how many %b %p|2:how many "
           "(things|objects) are there %b %p|2:how many non %n|non %n, how many|2:how many "
           "(things|objects|) without %p|3:without %p, how many (2:are left|are there|things are "
           "there)|2:not counting %p, how many (things|objects|) are (there|left)|how many "
           "(things|objects), not counting %p|everything (but|except) %p, how many (things|) are "
           "(there|that)|how many (things|objects) (are there|) without counting %p)";
}

// "how many red things are there | 3 | how many aren't red": those not counted
const char *blocks_ask_and_not(blocks_state *state, blocks_draft *draft)
{
    bool counted = state->latest->counted && state->latest->ask == ASK_COUNT;
    blocks_set set = counted ? blocks_remaining(state) : 0;
    blocks_kind whole = blocks_they_narrowed(state) ? state->they_kind : state->latest->whole;
    unsigned mask = blocks_kind_mask(state->latest->kind) & ~blocks_kind_mask(whole);
    if (!set || !mask || mask & (mask - 1))
        return NULL;
    blocks_attribute a = (blocks_attribute)__builtin_ctz(mask);
    *draft = blocks_draft_new("count", ASK_COUNT);
    draft->coreference = 1;
    blocks_ask_for(draft, set);
    draft->plural = draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_AND_NOT, set, 0, 0);
    blocks_phrase so = blocks_predicate_many(&state->rng, a, state->latest->kind.value[a]);
    blocks_say(state, "v", so.text);
    return "(4:|2:and|so) (2:how many aren't|how many are not) (2:%v|)";
}

// "are all but one of the cubes red", "are none of them red", "is neither of them metal"
const char *blocks_ask_all_but(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a = blocks_some_attribute(state);
    if (!blocks_group_pick(state, &g) || g.kind.value[a] >= 0)
        return NULL;
    bool yes = blocks_chance(state, 0.5), none = blocks_chance(state, 0.5);
    int size = blocks_size_of(g.set), value = 0, number = 0;
    for (int attempt = 0; attempt < 8; attempt++) {
        value = none && yes ? vd_rng_below(&state->rng, blocks_values(a))
                            : blocks_group_value(state, &g, a);
        number = blocks_size_of(blocks_find(state->scene, blocks_such(a, value)) & g.set);
        if ((none ? number == 0 : number == size - 1) == yes)
            break;
    }
    if ((none ? number == 0 : number == size - 1) != yes || (!none && size < 3))
        return NULL;
    *draft = blocks_group_draft(&g, "verify", ASK_POLAR, g.set);
    draft->meaning.yes = yes;
    draft->topic = blocks_topic(TOPIC_ALL_BUT, g.key, a, value * 2 + none);
    blocks_phrase one = blocks_predicate(&state->rng, a, value);
    blocks_say(state, "vw", blocks_predicate_many(&state->rng, a, value).text, one.text);
    return !none ? "(3:are all but one of %m %v|2:all but one of %m are %v(2:|, right|, correct))"
           : size == 2 ? "(2:neither of %m is %w(2:|, right|, correct)|is neither of %m %w|so "
                         "neither of %m is %w)"
                       : "(2:are none of %m %v|none of %m are %v(2:|, right|, correct)|so none of "
                         "%m are %v)";
}

// "what is left of the ball and behind the cube", "how many things are left of it or behind it"
const char *blocks_ask_two_sides(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_target target[2];
    if (!blocks_two_targets(state, 0, target))
        return NULL;
    bool either = blocks_chance(state, 0.25);
    blocks_set there[2], doubtful[2];
    blocks_phrase where[2];
    for (int i = 0; i < 2; i++) {
        blocks_direction direction = blocks_some_direction(state);
        there[i] = blocks_toward(scene, direction, target[i].object);
        doubtful[i] = blocks_doubtful(scene, direction, target[i].object) & ~there[i];
        where[i] = blocks_expansion(&state->rng, blocks_direction_words(direction));
    }
    blocks_set found = either ? there[0] | there[1] : there[0] & there[1];
    blocks_set perhaps =
        either ? doubtful[0] | doubtful[1] : (there[0] | doubtful[0]) & (there[1] | doubtful[1]);
    int only = blocks_only(found);
    bool what = !either && only >= 0 && blocks_chance(state, 0.6);
    if (perhaps & ~found || (!found && !blocks_chance(state, 0.3)))
        return NULL;
    *draft = blocks_about_two(state, "relation", what ? ASK_WHICH : ASK_COUNT, target);
    blocks_ask_for(draft, found);
    draft->meaning.given = 0;
    draft->about = what ? only : -1;
    draft->single = -1;
    draft->both = 0;
    draft->crowded = draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_TWO_SIDES, found, target[0].object, target[1].object);
    blocks_say(state, "de", where[0].text, where[1].text);
    return what ? "(3:what is|2:what's|which (thing|object) is|what (thing|object) is) %d %t and "
                  "%e %u"
           : either ? "how many (things|objects) are (2:|either) %d %t or %e %u"
                    : "(2:how many (things|objects) are|how many are) %d %t and %e %u";
}

// "how many cubes are there | 3 | is that more than the number of balls"
const char *blocks_ask_than_that(blocks_state *state, blocks_draft *draft)
{
    unsigned mask = blocks_kind_mask(state->latest->kind);
    if (!state->latest->counted || state->latest->ask != ASK_COUNT || !mask)
        return NULL;
    blocks_kind other = blocks_some_kind(state, mask & (mask - 1) ? 1u << BLOCKS_SHAPE : mask);
    blocks_set such = blocks_find(state->scene, state->latest->kind);
    blocks_set those = blocks_find(state->scene, other);
    if (such & those)
        return NULL;
    bool more = blocks_chance(state, 0.65);
    int difference = blocks_size_of(such) - blocks_size_of(those);
    *draft = blocks_draft_new("comparison", ASK_POLAR);
    draft->coreference = 1;
    draft->meaning.yes = more ? difference > 0 : difference < 0;
    draft->difference = abs(difference);
    draft->other_group = draft->other_thing = true;
    draft->topic = blocks_topic(TOPIC_THAN_THAT, state->round, blocks_kind_key(other), 0);
    blocks_say(state, "p", blocks_noun(&state->rng, other, BLOCKS_PLURAL).text);
    return more ? "(3:is that more than the number of %p|is that more than there are %p|are there "
                  "more of (those|them) than %p|is that more than (the|) %p)"
                : "(3:is that (fewer|less) than the number of %p|is that (fewer|less) than there "
                  "are %p|are there fewer of (those|them) than %p)";
}

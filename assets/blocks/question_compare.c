// Questions that compare: numbers of two kinds, two things, one thing with all others.
#include "assets/blocks/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOPIC_MORE = 48,
    TOPIC_WHICH_MORE,
    TOPIC_SAME,
    TOPIC_ELSE = 52,
    TOPIC_BESIDES,
    TOPIC_ANOTHER,
    TOPIC_ONLY,
    TOPIC_HOW_MANY_MORE,
    TOPIC_ASPECT,
    TOPIC_DIFFERENCE = 144
};

static const blocks_attribute kinds_of[] = {BLOCKS_SHAPE, BLOCKS_SHAPE, BLOCKS_SHAPE,
                                            BLOCKS_COLOR, BLOCKS_COLOR, BLOCKS_MATERIAL,
                                            BLOCKS_SIZE};

// Two kinds that differ in one attribute, at least one of which exists; some have a shape in
// common.
static blocks_attribute two_kinds(blocks_state *state, blocks_kind kind[2], int number[2])
{
    blocks_attribute a = BLOCKS_ONE_OF(state, kinds_of);
    bool common = a != BLOCKS_SHAPE && blocks_chance(state, 0.35);
    int shape = state->scene->object[blocks_some_object(state)].value[BLOCKS_SHAPE];
    for (int i = 0; i < 2; i++) {
        kind[i] = blocks_some_kind(state, 1u << a);
        if (common)
            kind[i].value[BLOCKS_SHAPE] = (int8_t)shape;
        if (i == 1 && kind[0].value[a] == kind[1].value[a])
            kind[1].value[a] = (int8_t)blocks_other_value(state, a, kind[0].value[a]);
    }
    // The first is one that there is; said first as often as second.
    if (blocks_chance(state, 0.5)) {
        blocks_kind swap = kind[0];
        kind[0] = kind[1];
        kind[1] = swap;
    }
    for (int i = 0; i < 2; i++)
        number[i] = blocks_number(state->scene, kind[i]);
    return a;
}

// %p and %q are things of the two kinds.
static void say_kinds(blocks_state *state, blocks_draft *draft, const blocks_kind kind[2])
{
    blocks_phrase one = blocks_noun(&state->rng, kind[0], BLOCKS_PLURAL);
    blocks_phrase two = blocks_noun(&state->rng, kind[1], BLOCKS_PLURAL);
    // "more small cylinders than big ones"
    if (kind[0].value[BLOCKS_SHAPE] >= 0 &&
        kind[0].value[BLOCKS_SHAPE] == kind[1].value[BLOCKS_SHAPE] && blocks_chance(state, 0.7)) {
        blocks_kind rest = blocks_kind_with(kind[1], BLOCKS_SHAPE, -1);
        blocks_phrase bare = blocks_noun(&state->rng, rest, BLOCKS_BARE); // "big thing"
        snprintf(two.text, sizeof two.text, "%.*s ones", (int)strcspn(bare.text, " "), bare.text);
    }
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_MORE, blocks_kinds_key(kind), 0, 0);
    blocks_say(state, "pq", one.text, two.text);
}

// "are there more cubes or balls | cubes | how many more"
const char *blocks_ask_difference(blocks_state *state, blocks_draft *draft)
{
    if (!state->latest->difference)
        return NULL;
    *draft = blocks_draft_new("count", ASK_COUNT);
    draft->coreference = 1;
    draft->meaning.number = state->latest->difference;
    draft->other_group = draft->other_thing = true;
    draft->topic = blocks_topic(TOPIC_DIFFERENCE, state->round, 0, 0);
    return "(and|4:) (4:how many more|2:by how many|how many more are there|by how much|how many "
           "more exactly|how many more of (them|those)|what is the difference)";
}

// "are there more cubes than balls"
const char *blocks_ask_more(blocks_state *state, blocks_draft *draft)
{
    blocks_kind kind[2];
    int number[2], how = vd_rng_below(&state->rng, 10);
    two_kinds(state, kind, number);
    *draft = blocks_draft_new("comparison", ASK_POLAR);
    int difference = number[0] - number[1];
    draft->difference = how < 8 ? abs(difference) : 0;
    draft->meaning.yes = how < 6 ? difference > 0 : how < 8 ? difference < 0 : difference == 0;
    if (((how < 8) == (difference == 0) && !blocks_chance(state, 0.4)) ||
        (number[0] == 0 && number[1] == 0))
        return NULL;
    say_kinds(state, draft, kind);
    return how < 6 ? "(6:are there more %p than %q|do you see more %p than %q|3:is the number of "
                     "%p (3:greater|larger|higher|bigger) than (2:the number of|that of) %q)"
           : how < 8
               ? "(2:are there (2:fewer|less) %p than %q|is the number of %p "
                 "(2:less|smaller|lower) than (2:the number of|that of) %q)"
               : "(2:are there (2:|exactly) as many %p as %q|2:are there the same number of %p and "
                 "%q|are there equally many %p and %q|2:(are|is) there an equal number of %p and "
                 "%q|2:is the number of %p (equal to|the same as) (2:the number of|that of) %q)";
}

// "are there more cubes or balls"
const char *blocks_ask_which_more(blocks_state *state, blocks_draft *draft)
{
    blocks_kind kind[2];
    int number[2];
    two_kinds(state, kind, number);
    bool equal = number[0] == number[1];
    if (equal && (!number[0] || blocks_chance(state, 0.4)))
        return NULL;
    *draft = blocks_draft_new("comparison", ASK_MORE);
    draft->difference = abs(number[0] - number[1]);
    draft->meaning.equal = equal;
    draft->meaning.more = kind[number[1] > number[0]];
    if (kind[0].value[BLOCKS_SHAPE] == kind[1].value[BLOCKS_SHAPE])
        draft->meaning.more.value[BLOCKS_SHAPE] = -1;
    if (blocks_kind_mask(kind[0]) == 1u << BLOCKS_MATERIAL && blocks_chance(state, 0.5)) {
        const char *one = blocks_value_name(BLOCKS_MATERIAL, kind[0].value[BLOCKS_MATERIAL]);
        const char *two = blocks_value_name(BLOCKS_MATERIAL, kind[1].value[BLOCKS_MATERIAL]);
        draft->other_group = true;
        draft->topic = blocks_topic(TOPIC_MORE, blocks_kinds_key(kind), 0, 0);
        blocks_say(state, "ab", one, two);
        return "(2:is there more %a or (more|) %b|what is there more of, %a or %b|more %a or "
               "(more|) %b|is it mostly %a or %b|2:%a or %b, (which|what) is (there|) more)";
    }
    say_kinds(state, draft, kind);
    return "(4:are there more %p or (3:|more) %q|what are there more of, %p or %q|which are there "
           "more of, %p or %q|2:are there more %p or %q|2:(is it|are they|) mostly %p or %q|more "
           "%p or %q|%p or %q, which (are there|) more (of|)|which is there more of, %p or "
           "%q|what's more, %p or %q|what do (we|you) have more of, %p or %q|do (we have|you see) "
           "more %p or %q)";
}

// "how many more cubes than balls are there"
const char *blocks_ask_how_many_more(blocks_state *state, blocks_draft *draft)
{
    blocks_kind kind[2];
    int number[2];
    two_kinds(state, kind, number);
    bool fewer = blocks_chance(state, 0.25), either = !fewer && blocks_chance(state, 0.15);
    int difference = fewer ? number[1] - number[0] : number[0] - number[1];
    if (either)
        difference = abs(difference);
    if ((!either && difference < 1) || !number[0] || !number[1])
        return NULL;
    *draft = blocks_draft_new("count", ASK_COUNT);
    draft->meaning.number = difference;
    say_kinds(state, draft, kind);
    draft->topic = blocks_topic(TOPIC_HOW_MANY_MORE, blocks_kinds_key(kind), 0, 0);
    return either  ? "(what is|what's|) the difference between the number(s|) of %p and (of|) %q"
           : fewer ? "how many fewer %p than %q are there"
                   : "(3:how many more %p than %q are there|how many more %p than %q|how many more "
                     "%p are there than %q|%p minus %q)";
}

// "what is the difference between the ball and the cube", "what do they have in common"
const char *blocks_ask_aspect(blocks_state *state, blocks_draft *draft)
{
    bool they = state->naming == TARGET_IT || state->naming == TARGET_BOTH,
         differ = blocks_chance(state, 0.6);
    blocks_target target[2];
    blocks_group g = {0};
    if (they ? !blocks_group_pick(state, &g) || blocks_size_of(g.set) != 2
             : !blocks_two_targets(state, 0, target))
        return NULL;
    blocks_set two = they ? g.set : 1u << target[0].object | 1u << target[1].object;
    unsigned alike = 0, all = (1u << BLOCKS_ATTRIBUTES) - 1;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        alike |= (unsigned)(blocks_shared(state->scene, two, (blocks_attribute)a) >= 0) << a;
    unsigned right = differ ? all & ~alike : alike;
    // One answer is enough; that nothing is alike is rare enough to be asked.
    if (__builtin_popcount(right) > 1 || (differ && !right))
        return NULL;
    if (they) {
        *draft = blocks_group_draft(&g, "comparison", ASK_ASPECT, two);
    } else {
        *draft = blocks_about_two(state, "comparison", ASK_ASPECT, target);
        draft->meaning.objects = two;
    }
    draft->meaning.yes = differ;
    draft->meaning.given = right;
    draft->topic = blocks_topic(TOPIC_ASPECT, differ, two, 0);
    int one = right ? __builtin_ctz(right) : 0;
    int other = (one + 1 + vd_rng_below(&state->rng, BLOCKS_ATTRIBUTES - 1)) % BLOCKS_ATTRIBUTES;
    blocks_say(state, "c", blocks_attribute_word(&state->rng, other).text);
    blocks_say(state, "a", blocks_attribute_word(&state->rng, one).text);
    if (they)
        return differ ? "(2:what is the difference between %m|what's the difference between "
                        "%m|2:what is different about %m|what's different about %m|how are %g "
                        "different|how do %g differ|what is the difference|do %g differ in %a or "
                        "(only|) in %c|do %g differ in %c or (only|) in %a)"
                      : "(3:what do %g have in common|what do %g share|what is the same about %m)";
    return differ ? "(3:what is the difference between %t and %u|what's the difference between %t "
                    "and %u|how (is %t different from|does %t differ from) %u|what is different "
                    "between %t and %u|do %t and %u differ in %a or in %c|do %t and %u differ in "
                    "%c or (only|) in %a)"
                  : "(3:what do %t and %u have in common|what does %t have in common with %u|what "
                    "do %t and %u share)";
}

// "is the ball the same color as the cube"
const char *blocks_ask_same(blocks_state *state, blocks_draft *draft)
{
    blocks_attribute a = blocks_some_attribute(state);
    bool yes = blocks_chance(state, 0.5);
    blocks_target target[2];
    for (int attempt = 0; attempt < 6; attempt++) {
        if (!blocks_two_targets(state, 1u << a, target))
            continue;
        const blocks_object *one = &state->scene->object[target[0].object];
        const blocks_object *two = &state->scene->object[target[1].object];
        if ((blocks_value(one, a) == blocks_value(two, a)) != yes)
            continue;
        *draft = blocks_about_two(state, "comparison", ASK_POLAR, target);
        draft->meaning.yes = yes;
        draft->topic = blocks_topic(TOPIC_SAME, a, (target[0].object + target[1].object), 0);
        blocks_phrase word = blocks_attribute_word(&state->rng, a);
        blocks_say(state, "v", word.text);
        if (state->naming == TARGET_IT && target[1].named && blocks_chance(state, 0.25))
            return "(2:is %u (also|) the same %v|is %u the same %v too|does %u have the same %v|is "
                   "%u of the same %v|same %v as %u|and is %u the same %v|(and|) %u, same %v|has "
                   "%u the same %v)";
        if (state->naming == TARGET_IT)
            return "(3:is %t the same %v as %u|is %t of the same %v as %u|does %t have the same %v "
                   "as %u|does %t have the %v of %u|%t has the same %v (as|like) %u|has %t the "
                   "same %v as %u|does %t have same %v as %u)";
        return "(3:is %t the same %v as %u|2:are %t and %u the same %v|2:do %t and %u have the "
               "same %v|does %t have the same %v as %u|do %t and %u share the same %v|%T and %U "
               "the same %v|same %v, %T and %U)";
    }
    return NULL;
}

static const char *const else_names[BLOCKS_ATTRIBUTES] = {"color", "shape", "(2:material|stuff)",
                                                          "size"};

// "is there another cube besides the red one | yes | are those two the same size"; empty: of
// several
static blocks_set with_it(const blocks_target *target, blocks_set others)
{
    return blocks_only(others) < 0 ? 0 : others | 1u << target->object;
}

// "anything else made of the same stuff", of the thing just mentioned
static const char *ask_else_of_it(blocks_state *state, blocks_attribute a)
{
    blocks_say(state, "v", blocks_expansion(&state->rng, else_names[a]).text);
    if (a == BLOCKS_MATERIAL && blocks_chance(state, 0.7))
        return "(2:is anything else|anything else|is there anything else) (3:made of the same "
               "%v|made of that|of the same %v)";
    return "(2:is anything else (the same|that) %v|is there anything else (of|with|in) (the "
           "same|that) %v|does anything else (have|share) (its|the same|that) %v|2:anything else "
           "(of|with|in) the same %v|anything else (the same|that) %v|is there another "
           "(thing|object) (of|with) the same %v)";
}

// "is anything else the same color as the ball", "how many other things have its shape"
const char *blocks_ask_else(blocks_state *state, blocks_draft *draft)
{
    static const blocks_attribute asked[] = {BLOCKS_COLOR,    BLOCKS_COLOR, BLOCKS_COLOR,
                                             BLOCKS_SHAPE,    BLOCKS_SHAPE, BLOCKS_MATERIAL,
                                             BLOCKS_MATERIAL, BLOCKS_SIZE};
    blocks_attribute a = BLOCKS_ONE_OF(state, asked);
    blocks_target target;
    if (!blocks_target_pick(state, state->naming == TARGET_IT ? 0 : 1u << a, &target))
        return NULL;
    blocks_kind alike = blocks_kind_of(&state->scene->object[target.object], 1u << a);
    blocks_set others = blocks_find(state->scene, alike) & ~(1u << target.object);
    bool count = blocks_chance(state, 0.3);
    // More often than not something shares a shape, a material or a size: keep yes and no even.
    static const double kept[BLOCKS_ATTRIBUTES] = {0.6, 0.4, 0.15, 0.15};
    if (!count && others && !blocks_chance(state, kept[a]))
        return NULL;
    *draft = blocks_draft_about("comparison", count ? ASK_COUNT : ASK_THERE, &target);
    blocks_ask_for(draft, others);
    draft->meaning.given = 1u << a;
    draft->other_group = count || others;
    draft->implied = count ? -1 : blocks_only(others);
    draft->both = with_it(&target, others);
    draft->topic = blocks_topic(TOPIC_ELSE, a, target.object, 0);
    blocks_say(state, "p", blocks_noun(&state->rng, alike, BLOCKS_PLURAL).text);
    blocks_say(state, "k", blocks_noun(&state->rng, alike, BLOCKS_BARE).text);
    // "is there another cube": once it is known that it is one, and where none but it was meant.
    bool known = state->naming == TARGET_IT && state->known[target.object] >> a & 1;
    for (int i = 0; known && i < state->scene->count; i++)
        known = !blocks_has(others, i) || state->mention[i] < 0;
    blocks_say(state, "v", blocks_predicate(&state->rng, a, alike.value[a]).text);
    if (state->naming == TARGET_IT && !count && blocks_it_clear(state) && blocks_chance(state, 0.4))
        return ask_else_of_it(state, a);
    if (known && !count && a != BLOCKS_SHAPE && blocks_chance(state, 0.3))
        return "(2:anything else %v|2:is anything else %v|2:is there anything else %v|is there "
               "anything else that is %v|any other (thing|object) that (is|'s) %v|is there another "
               "(thing|object) that is %v)";
    blocks_say(state, "v", blocks_expansion(&state->rng, else_names[a]).text);
    if (known)
        return count ? "(2:how many other %p are there|how many more %p are there|how many other "
                       "%p do you see)"
                     : "(3:is there another %k|2:are there any other %p|are there more %p|do you "
                       "see another %k|any other %p|are there any more %p|any more %p|another "
                       "%k|other %p|is there a further %k|is there one more %k)";
    if (!count)
        return "(2:is anything else the same %v as %t|is there anything else with the same %v as "
               "%t|is there another (thing|object) of the same %v as %t|does anything else have "
               "the same %v as %t)";
    return state->naming == TARGET_IT
               ? "(2:how many other (things|objects) (have|are) the same %v as %t|2:how many "
                 "others have (that|the same) %v|how many others (share|are) (that|its|the same) "
                 "%v|what number of other (things|objects) (have|are) the same %v as %t|how many "
                 "other (things|objects) (have|share) (that|its) %v|others of the same %v, how "
                 "many)"
               : "(3:how many other (things|objects) (have|are) the same %v as %t|what number of "
                 "other (things|objects) (have|are) the same %v as %t|how many others (have|are) "
                 "the same %v as %t)";
}

// "which thing has the same color as the ball", "is there a cube of the same color"
const char *blocks_ask_which_same(blocks_state *state, blocks_draft *draft)
{
    bool material = blocks_chance(state, 0.2);
    blocks_attribute a = material                     ? BLOCKS_MATERIAL
                         : blocks_chance(state, 0.65) ? BLOCKS_COLOR
                                                      : BLOCKS_SHAPE;
    blocks_target target;
    if (!blocks_target_pick(state, 1u << a, &target))
        return NULL;
    blocks_kind alike = blocks_kind_of(&state->scene->object[target.object], 1u << a);
    // "which cube has the same color"
    bool some = material || (a == BLOCKS_COLOR && blocks_chance(state, 0.4));
    if (some)
        alike.value[BLOCKS_SHAPE] = (int8_t)vd_rng_below(&state->rng, BLOCKS_SHAPES);
    blocks_set others = blocks_find(state->scene, alike) & ~(1u << target.object);
    bool there = some && blocks_chance(state, 0.5);
    int only = blocks_only(others);
    if (there ? others && !blocks_chance(state, 0.6) : only < 0)
        return NULL;
    *draft = blocks_draft_about("comparison", there ? ASK_THERE : ASK_WHICH, &target);
    draft->meaning.objects = others;
    draft->meaning.yes = others != 0;
    draft->meaning.given = there ? blocks_kind_mask(alike) : 0;
    draft->about = only;
    draft->single = -1;
    draft->crowded = true;
    draft->other_thing = draft->other_group = there && others;
    draft->topic = blocks_topic(TOPIC_ELSE, a, target.object, 1 + some + there);
    blocks_kind shape = blocks_such(BLOCKS_SHAPE, alike.value[BLOCKS_SHAPE]);
    bool of_it = state->naming == TARGET_IT;
    bool of_shape = (int)state->scene->object[target.object].shape == alike.value[BLOCKS_SHAPE];
    const char *other = of_shape && blocks_chance(state, 0.6) ? "other " : "";
    if (some) {
        blocks_say(state, "b", blocks_noun(&state->rng, shape, BLOCKS_BARE).text);
        blocks_say(state, "p", blocks_noun(&state->rng, shape, BLOCKS_PLURAL).text);
        blocks_say(state, "k", blocks_noun(&state->rng, shape, BLOCKS_A).text);
    }
    blocks_say(state, "vo", blocks_attribute_word(&state->rng, a).text, other);
    return there ? (of_it ? "(is there %k|do you see %k|any %p) (of|in|with) (the|that) same %v"
                          : "(is there %k|do you see %k) (of|in|with) the same %v as %t")
           : some && of_it
               ? (material ? "which %o%b (2:is made of|has|is of) the same %v (2:|as it)"
                           : "which %o%b (2:has|is|is of) the same %v (2:|as it)")
           : some ? "(3:which %o%b has the same %v as %t|which %o%b (matches|goes with) %t in "
                    "%v|which %o%b is the same %v as %t)"
                  : "(5:which (other|) (thing|object|one) has the same %v as %t|2:what (else|) has "
                    "the same %v as %t|which (thing|object|one) matches %t in %v|what (else|) "
                    "shares the %v of %t)";
}

// "is there another one", after "is there a cube": "yes".
const char *blocks_ask_another(blocks_state *state, blocks_draft *draft)
{
    const blocks_entry *before = state->latest;
    if (!before->one || blocks_known_number(state, before->kind) >= 0)
        return NULL;
    int others = blocks_number(state->scene, before->kind) - 1;
    // "is that the only one": the other way round.
    bool only = blocks_chance(state, 0.15), count = !only && blocks_chance(state, 0.1);
    *draft = blocks_draft_new("another", only ? ASK_POLAR : count ? ASK_COUNT : ASK_ANOTHER);
    draft->coreference = 1;
    draft->meaning.yes = only ? others == 0 : others > 0;
    draft->meaning.number = others;
    // Nobody can say which of them was meant first: what is said must be true of all.
    draft->meaning.objects = blocks_find(state->scene, before->kind);
    draft->meaning.given = blocks_kind_mask(before->kind);
    draft->other_thing = draft->other_group = true;
    draft->both = others == 1 ? draft->meaning.objects : 0;
    draft->topic = blocks_topic(TOPIC_ANOTHER, blocks_kind_key(before->kind), 0, 0);
    blocks_say(state, "k", blocks_noun(&state->rng, before->kind, BLOCKS_BARE).text);
    blocks_say(state, "p", blocks_noun(&state->rng, before->kind, BLOCKS_PLURAL).text);
    draft->plural = blocks_chance(state, 0.5);
    return only ? "(is that the only (2:one|%k)|is it the only (one|%k)|only the one|just the one)"
           : count ? "(2:how many more|how many more are there|how many more of (them|those) are "
                     "there|how many other %p are there)"
           : draft->plural ? "(2:are there any more|any more|2:are there any others|2:any "
                             "others|are there any more of (those|them)|any more of "
                             "(those|them)|are there more of (those|them)|are there any other "
                             "%p|any other %p|are there any more %p|any more %p|are there others)"
                           : "(3:is there another one|another one of those|is there another one of "
                             "those|3:another one|2:is there another|is there another %k|another "
                             "%k|is there 1 more|is there one more|do you see another one|is there "
                             "a second (one|%k)|is there more than one)";
}

// "is it the only red thing", "is the ball the only metal thing"
const char *blocks_ask_only(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_target target;
    if (!blocks_target_pick(state, 0, &target))
        return NULL;
    blocks_attribute a = blocks_some_attribute(state);
    unsigned mask = 1u << a | (blocks_chance(state, 0.2) ? 1u << BLOCKS_SHAPE : 0);
    blocks_kind kind = blocks_kind_of(&scene->object[target.object], mask);
    blocks_set such = blocks_find(scene, kind);
    // How it is named may not answer it; for a thing not seen yet the question says what it is.
    bool answered = (target.named & mask) == target.named && target.named;
    if (answered || blocks_known_number(state, kind) >= 0 ||
        ((mask & ~state->known[target.object]) && !blocks_chance(state, 0.3)))
        return NULL;
    *draft = blocks_draft_about("another", ASK_POLAR, &target);
    draft->meaning.yes = blocks_size_of(such) == 1;
    draft->meaning.objects = such;
    draft->meaning.given = mask;
    draft->named[target.object] |= mask;
    blocks_set others = such & ~(1u << target.object);
    draft->found = blocks_size_of(others) > 1 ? others : 0;
    draft->topic = blocks_topic(TOPIC_ONLY, target.object, mask, 0);
    blocks_say(state, "k", blocks_noun(&state->rng, kind, BLOCKS_BARE).text);
    return "(4:is %t the only %k|is %t the only %k (there|on the table))";
}

// "are there any other cubes besides the red one"
const char *blocks_ask_besides(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_target target;
    if (!blocks_target_pick(state, 0, &target))
        return NULL;
    blocks_attribute a = blocks_chance(state, 0.65) ? BLOCKS_SHAPE : BLOCKS_COLOR;
    blocks_kind kind = blocks_kind_of(&scene->object[target.object], 1u << a);
    blocks_set others = blocks_find(scene, kind) & ~(1u << target.object);
    // The name may not give away what it is: "any other cubes besides the cube".
    bool bare = target.named == 1u << a ||
                (!(target.named >> a & 1) && !(state->known[target.object] >> a & 1));
    if (bare || blocks_known_number(state, kind) >= 0)
        return NULL;
    bool count = blocks_chance(state, 0.25);
    *draft = blocks_draft_about("another", count ? ASK_COUNT : ASK_ANOTHER, &target);
    draft->single = -1;
    draft->crowded = draft->other_group = true;
    draft->other_thing = others != 0;
    draft->implied = count ? -1 : blocks_only(others);
    draft->both = with_it(&target, others);
    blocks_ask_for(draft, others);
    draft->meaning.given = 1u << a;
    draft->topic = blocks_topic(TOPIC_BESIDES, a, target.object, 0);
    blocks_say(state, "k", blocks_noun(&state->rng, kind, BLOCKS_BARE).text);
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    const char *but = "(5:besides|3:other than|apart from|except|except for|but|aside from)";
    blocks_say(state, "b", blocks_expansion(&state->rng, but).text);
    draft->plural = blocks_chance(state, 0.6);
    return count ? "(2:how many other %p are there|how many %p are there|how many more %p are "
                   "there) %b %t"
           : draft->plural ? "(3:are there any other %p|any other %p|2:are there any %p|are there "
                             "other %p|do you see any other %p) %b %t"
                           : "(3:is there another %k|2:do you see another %k|another %k) %b %t";
}

// "are there any other things", "what else is there": beside those that were named one by one
const char *blocks_ask_any_other(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_set named = 0;
    for (int i = 0; i < scene->count; i++)
        named |= state->mention[i] >= 0 ? 1u << i : 0;
    blocks_set others = blocks_all(scene) & ~named;
    int number = blocks_size_of(others);
    if (state->round < 2 || !named || blocks_several_mentioned(state) ||
        blocks_known_number(state, blocks_anything) >= 0)
        return NULL;
    for (int e = 1; e < state->round; e++) // of each round it is clear what it was about
        if (state->entry[e].object < 0 ||
            (state->entry[e].ask != ASK_VALUE && state->entry[e].ask != ASK_ONE &&
             state->entry[e].ask != ASK_WHICH))
            return NULL;
    bool what = number > 0 && blocks_chance(state, 0.5);
    *draft = blocks_draft_new("another", !what ? ASK_ANOTHER : number > 1 ? ASK_SHARED : ASK_WHICH);
    draft->coreference = 1;
    blocks_ask_for(draft, others);
    if (what && number > 1)
        draft->meaning.attribute = BLOCKS_SHAPE;
    draft->about = what ? blocks_only(others) : -1;
    draft->crowded = draft->other_group = draft->plural = true;
    draft->other_thing = number > 0;
    draft->topic = blocks_topic(TOPIC_ANOTHER, 1, 0, 0);
    return what ? "(3:what else is there|2:what else do you see|what else can you see|what else is "
                  "(on the table|in the picture)|what other (things|objects) are there|anything "
                  "else, what)"
                : "(3:are there any other (things|objects) (2:|on the table|here)|2:is there "
                  "anything else (2:|on the table|in the picture)|do you see anything else|any "
                  "other (things|objects)|anything else (2:|there|on the table)|are there more "
                  "(things|objects))";
}

// "are there any other black things besides those": of several of a kind, or of the two things
// mentioned one by one
const char *blocks_ask_besides_those(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    bool group = state->naming == TARGET_IT;
    blocks_set those = group ? blocks_find(scene, state->they_kind) : state->singles;
    if (group ? blocks_they_narrowed(state) || state->round - state->they_last > 1 ||
                    state->entry[state->they_entry].one
              : state->they || state->round - state->it_entry > 1)
        return NULL;
    blocks_attribute a = blocks_some_attribute(state);
    int value = blocks_shared(scene, those, a), size = blocks_size_of(those);
    if (size < 2 || value < 0 || (!group && size != 2))
        return NULL;
    bool known = group ? state->they_kind.value[a] >= 0 : true;
    for (int i = 0; i < scene->count && !group; i++)
        known &= !blocks_has(those, i) || state->known[i] >> a & 1;
    blocks_kind kind = blocks_such(a, value);
    blocks_set others = blocks_find(scene, kind) & ~those;
    bool alone = group && blocks_kind_mask(state->they_kind) == 1u << a;
    if (!known || alone || blocks_known_number(state, kind) >= 0)
        return NULL;
    bool count = blocks_chance(state, 0.2);
    *draft = blocks_draft_new("another", count ? ASK_COUNT : ASK_ANOTHER);
    draft->coreference = state->round - (group ? state->they_entry : state->it_entry);
    blocks_ask_for(draft, others);
    draft->meaning.given = 1u << a;
    draft->crowded = draft->other_group = draft->plural = true;
    draft->other_thing = others != 0;
    draft->topic = blocks_topic(TOPIC_BESIDES, a, 100 + those, 0);
    const char *but = "(5:besides|3:other than|apart from|except|but)";
    blocks_say(state, "b", blocks_expansion(&state->rng, but).text);
    bool two_told = blocks_known_number(state, state->they_kind) == 2;
    const char *them = size > 2   ? "(2:those|them|these)"
                       : !group   ? "(2:those two|these two|those)"
                       : two_told ? "(2:those two|those|them)"
                                  : "(those|them)";
    blocks_say(state, "t", blocks_expansion(&state->rng, them).text);
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    return count ? "(3:how many other %p are there|how many more %p are there|how many other "
                   "%p(,|)) %b %t"
                 : "(3:are there any other %p|2:any other %p|are there other %p|are there any "
                   "%p|any more %p|do you see any other %p) %b %t";
}

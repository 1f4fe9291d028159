// Questions that leave a choice: which of two things is bigger, which of them is metal, what there
// is most of.
#include "assets/blocks/state.h"

#include <stdio.h>

enum {
    TOPIC_BIGGER = 96,
    TOPIC_TWO,
    TOPIC_PLACE,
    TOPIC_OF,
    TOPIC_MOST,
    TOPIC_MOSTLY,
    TOPIC_NEARER
};

// The answer is `best`, one of the two.
static void choose(blocks_draft *draft, int best, const blocks_target target[2])
{
    draft->meaning.among = 1u << target[0].object | 1u << target[1].object;
    draft->meaning.objects = 1u << best;
    draft->about = best;
}

// "the red one or the blue one" of two cubes: their shape, which is said once and for all; -1: they
// have no shape in common, or nothing else distinguishes them.
static int common_shape(const blocks_state *state, const blocks_target target[2], char text[2][96])
{
    int shape = target[0].kind.value[BLOCKS_SHAPE];
    if (shape < 0 || shape != target[1].kind.value[BLOCKS_SHAPE])
        return -1;
    for (int i = 0; i < 2; i++) {
        blocks_kind rest = blocks_kind_with(target[i].kind, BLOCKS_SHAPE, -1);
        if (!blocks_kind_mask(rest))
            return -1;
        vd_rng rng = state->rng;
        snprintf(text[i], 96, "%s", blocks_noun(&rng, rest, BLOCKS_THE).text);
    }
    return shape;
}

// "the shiny orange cube or the matte one": the second in what it differs from the first, where
// that is one attribute.
static void shorten_second(blocks_state *state, const blocks_target target[2])
{
    blocks_kind one = target[0].kind, two = target[1].kind, only = blocks_anything;
    int differ = 0;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        if (one.value[a] != two.value[a]) {
            only.value[a] = two.value[a];
            differ++;
        }
    bool so = differ == 1 && blocks_kind_mask(one) == blocks_kind_mask(two) &&
              one.value[BLOCKS_SHAPE] >= 0 && only.value[BLOCKS_SHAPE] < 0;
    if (so && state->naming != TARGET_AMONG && blocks_chance(state, 0.4))
        blocks_say(state, "u", blocks_noun(&state->rng, only, BLOCKS_THE).text);
}

// "which of the cubes is metal, the red one or the blue one": %m the cubes, %k one of them.
static bool are_of_shape(blocks_state *state, const blocks_target target[2])
{
    char text[2][96];
    int shape = common_shape(state, target, text);
    if (state->naming == TARGET_AMONG || shape < 0 || !blocks_chance(state, 0.5))
        return false;
    blocks_kind kind = blocks_such(BLOCKS_SHAPE, shape);
    blocks_say(state, "ktu", blocks_noun(&state->rng, kind, BLOCKS_BARE).text, text[0], text[1]);
    blocks_say(state, "m", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    return true;
}

// %t and %u are the two, %p what one of them is.
static const char *word_two(blocks_state *state, const blocks_draft *draft,
                            const blocks_target target[2], const char *says, const char *pattern)
{
    blocks_say(state, "p", says);
    if (draft->meaning.ask == ASK_CHOICE && are_of_shape(state, target))
        return "(which of the %m is %p, %t or %u|which %k is %p, %t or %u)";
    shorten_second(state, target);
    return pattern;
}

// "which is bigger, the ball or the cube", "is the ball bigger than the cube"
const char *blocks_ask_bigger(blocks_state *state, blocks_draft *draft)
{
    blocks_target target[2];
    if (!blocks_two_targets(state, 1u << BLOCKS_SIZE, target))
        return NULL;
    blocks_size one = state->scene->object[target[0].object].size;
    blocks_size two = state->scene->object[target[1].object].size;
    bool choice = blocks_chance(state, 0.5), bigger = blocks_chance(state, 0.7);
    bool yes = blocks_chance(state, 0.5);
    if (one == two && (choice || yes || !blocks_chance(state, 0.2)))
        return NULL;
    if (one != two && (bigger ? one > two : one < two) != yes) {
        blocks_target swap = target[0];
        target[0] = target[1];
        target[1] = swap;
        blocks_say(state, "tu", target[0].text, target[1].text);
    }
    // Height depends on the shape, too: of two large things the cone is taller than the cube.
    bool tall = one != two && blocks_chance(state, 0.15);
    *draft = blocks_about_two(state, "comparison", choice ? ASK_CHOICE : ASK_POLAR, target);
    draft->meaning.yes = yes;
    int best = target[!yes].object, other = target[yes].object;
    if (choice) {
        draft->meaning.given = 1u << BLOCKS_SIZE;
        choose(draft, best, target);
    }
    draft->topic = blocks_topic(TOPIC_BIGGER, (best + other), 0, 0);
    const char *how = bigger ? (tall ? "taller" : "(3:bigger|larger)")
                             : (tall ? "shorter" : "(6:smaller|littler)");
    return word_two(
        state, draft, target, blocks_expansion(&state->rng, how).text,
        choice ? "(12:(4:which is|2:which one is|what is|what's|which of (2:the|those) two "
                 "is|which one's|which's) (6:%p|the %p one), %t or %u|is %t or %u %p|2:%p, %T or "
                 "%U|who is %p, %t or %u|%T or %U, (which|who) is %p|%T (vs|versus) %U, (which "
                 "is|) %p|(of|between|out of) %t and %u, which (one|) is %p)"
               : "(6:is %t %p than %u|%T %p than %U)");
}

// "is it bigger or smaller than the cube"
const char *blocks_ask_extent(blocks_state *state, blocks_draft *draft)
{
    blocks_target target[2];
    if (!blocks_two_targets(state, 1u << BLOCKS_SIZE, target))
        return NULL;
    blocks_size one = state->scene->object[target[0].object].size;
    blocks_size two = state->scene->object[target[1].object].size;
    if (one == two && !blocks_chance(state, 0.15))
        return NULL;
    *draft = blocks_about_two(state, "comparison", ASK_EXTENT, target);
    draft->meaning.number = one == two ? 1 : one > two ? 2 : 0;
    draft->topic = blocks_topic(TOPIC_BIGGER, (target[0].object + target[1].object), 0, 1);
    return "(4:is %t bigger or smaller than %u|2:is %t (smaller or bigger|larger or "
           "smaller|smaller or larger) than %u|is %t bigger than %u or smaller|%T bigger or "
           "smaller than %U|how big is %t compared (to|with) %u|is %t bigger, smaller or the same "
           "size as %u|compared to %u, is %t bigger or smaller)";
}

// "is it made of the same material as the cubes", all of which are of one
static const char *same_as_all(blocks_state *state, blocks_draft *draft,
                               const blocks_target *target, blocks_kind kind, blocks_set others)
{
    blocks_attribute a = blocks_some_attribute(state);
    int value = blocks_shared(state->scene, others, a);
    if (value < 0 || kind.value[a] >= 0 || target->kind.value[a] >= 0)
        return NULL;
    *draft = blocks_draft_about("comparison", ASK_POLAR, target);
    draft->meaning.yes = blocks_value_of(state->scene, target->object, a) == value;
    draft->other_group = true;
    draft->crowded = state->naming != TARGET_IT;
    draft->topic = blocks_topic(TOPIC_BIGGER, 3000 + target->object, blocks_kind_key(kind), a);
    blocks_phrase them = blocks_noun(&state->rng, kind, BLOCKS_THE_MANY);
    blocks_say(state, "vm", blocks_attribute_word(&state->rng, a).text, them.text);
    return a == BLOCKS_MATERIAL ? "(2:is %t (made|) of the same %v as %m|is %t the same %v as "
                                  "%m|does %t have the same %v as %m|same %v as %m, %T)"
                                : "(2:is %t the same %v as (4:|all) %m|does %t have the same %v as "
                                  "%m|is %t of the same %v as %m)";
}

// "is it bigger than the cubes", all of which are of one size
const char *blocks_ask_bigger_than_all(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick(state, 1u << BLOCKS_SIZE, &target))
        return NULL;
    unsigned mask = blocks_chance(state, 0.8) ? 1u << BLOCKS_SHAPE : 1u << BLOCKS_COLOR;
    blocks_kind kind = blocks_some_kind(state, mask);
    blocks_set others = blocks_find(state->scene, kind);
    if (blocks_size_of(others) < 2 || blocks_has(others, target.object))
        return NULL;
    if (blocks_chance(state, 0.4))
        return same_as_all(state, draft, &target, kind, others);
    int size = blocks_shared(state->scene, others, BLOCKS_SIZE);
    if (size < 0)
        return NULL;
    int own = (int)state->scene->object[target.object].size;
    bool bigger = blocks_chance(state, 0.6), yes = bigger ? own > size : own < size;
    *draft = blocks_draft_about("comparison", ASK_POLAR, &target);
    draft->meaning.yes = yes;
    draft->other_group = true;
    draft->crowded = state->naming != TARGET_IT;
    draft->topic = blocks_topic(TOPIC_BIGGER, 1000 + target.object, blocks_kind_key(kind), 0);
    bool tall = own != size && blocks_chance(state, 0.15);
    const char *how = bigger ? (tall ? "taller" : "(3:bigger|larger)")
                      : tall ? "shorter"
                             : "smaller";
    blocks_phrase size_word = blocks_expansion(&state->rng, how);
    blocks_say(state, "mh", blocks_noun(&state->rng, kind, BLOCKS_THE_MANY).text, size_word.text);
    return "(6:is %t %h than (4:|all) %m|%T %h than %m)";
}

// "is there anything smaller than it"
const char *blocks_ask_any_bigger(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick(state, 1u << BLOCKS_SIZE, &target))
        return NULL;
    bool bigger = blocks_chance(state, 0.5);
    blocks_kind such = blocks_such(BLOCKS_SIZE, bigger ? BLOCKS_LARGE : BLOCKS_SMALL);
    bool same =
        state->scene->object[target.object].value[BLOCKS_SIZE] == (uint8_t)such.value[BLOCKS_SIZE];
    blocks_set found = same ? 0 : blocks_find(state->scene, such);
    *draft = blocks_draft_about("comparison", ASK_THERE, &target);
    draft->meaning.yes = found != 0;
    draft->meaning.objects = found;
    draft->meaning.given = 1u << BLOCKS_SIZE;
    draft->single = -1;
    draft->crowded = true;
    draft->other_thing = draft->other_group = found != 0;
    draft->topic = blocks_topic(TOPIC_BIGGER, 2000 + bigger, target.object, 0);
    return bigger ? "(3:is there anything|2:is anything|is there something|do you see "
                    "anything|anything) (3:bigger|larger) than %t"
                  : "(3:is there anything|2:is anything|is there something|do you see "
                    "anything|anything) smaller than %t";
}

// Which of the two have the value: the first, the second, both or neither, in such shares that
// guessing does not help.
static int value_of_two(blocks_state *state, blocks_attribute a, const blocks_target target[2])
{
    int value[2];
    for (int i = 0; i < 2; i++)
        value[i] = blocks_value_of(state->scene, target[i].object, a);
    if (value[0] != value[1])
        return value[blocks_chance(state, 0.5)];
    if (!blocks_chance(state, 0.12))
        return -1;
    int some = blocks_value_of(state->scene, blocks_some_object(state), a);
    return blocks_chance(state, 0.5) ? value[0] : some;
}

// "which is metal, the ball or the cube"
const char *blocks_ask_which_two(blocks_state *state, blocks_draft *draft)
{
    static const blocks_attribute asked[] = {BLOCKS_COLOR, BLOCKS_COLOR, BLOCKS_MATERIAL,
                                             BLOCKS_MATERIAL, BLOCKS_SIZE};
    blocks_attribute a = BLOCKS_ONE_OF(state, asked);
    blocks_target target[2];
    if (!blocks_two_targets(state, 1u << a, target))
        return NULL;
    int value = value_of_two(state, a, target);
    if (value < 0)
        return NULL;
    *draft = blocks_about_two(state, "choice", ASK_CHOICE, target);
    blocks_kind such = blocks_such(a, value);
    choose(draft, target[0].object, target);
    draft->meaning.objects = blocks_find(state->scene, such) & draft->meaning.among;
    draft->meaning.given = 1u << a;
    draft->about = blocks_only(draft->meaning.objects);
    draft->topic = blocks_topic(TOPIC_TWO, a, target[0].object + target[1].object, 0);
    return word_two(state, draft, target, blocks_predicate(&state->rng, a, value).text,
                    "(4:which is %p, %t or %u|4:which one is %p, %t or %u|which of (2:the|those) "
                    "two is %p, %t or %u|is %t or %u %p|what is %p, %t or %u|which of %t and %u is "
                    "%p|of %t and %u, which (one|) is %p|which %p, %T or %U|which one's %p, %t or "
                    "%u|between %t and %u, which (one|) is %p)");
}

// "which is further left, the ball or the cube"
const char *blocks_ask_which_place(blocks_state *state, blocks_draft *draft)
{
    static const char *const places[BLOCKS_DIRECTIONS] = {
        "((further|farther) (to the|) left|more to the left|on the left|to the left)",
        "((further|farther) (to the|) right|more to the right|on the right|to the right)",
        ("(3:closer|2:closer to (us|the camera|you|me)|nearer|in front|further in front|further "
         "forward)"),
        "(2:(further|farther) (2:back|away)|behind|further from the camera|more in the back)"};
    blocks_target target[2];
    if (!blocks_two_targets(state, 0, target))
        return NULL;
    blocks_direction direction = blocks_some_direction(state);
    int one = target[0].object, two = target[1].object;
    bool first = blocks_lies(state->scene, one, direction, two);
    if (direction <= BLOCKS_RIGHT ? target[0].sides : target[0].rows)
        return NULL;
    if (!first && !blocks_lies(state->scene, two, direction, one))
        return NULL;
    *draft = blocks_about_two(state, "relation", ASK_CHOICE, target);
    draft->meaning.given = 0;
    choose(draft, first ? one : two, target);
    draft->meaning.toward = (int)direction;
    draft->topic = blocks_topic(TOPIC_PLACE, direction / 2, one + two, one < two ? one : two);
    return word_two(state, draft, target, blocks_expansion(&state->rng, places[direction]).text,
                    "(4:which is %p, %t or %u|4:which one is %p, %t or %u|which of (2:the|those) "
                    "two is %p, %t or %u|what is %p, %t or %u|is %t or %u %p|2:%p, %T or %U|which "
                    "one's %p, %t or %u|(of|between) %t and %u, which (one|) is %p)");
}

// "which is closer to the cone, the ball or the cube"
const char *blocks_ask_which_nearer(blocks_state *state, blocks_draft *draft)
{
    blocks_target to, target[2];
    if (!blocks_target_pick(state, 0, &to) || !blocks_target_pick_named(state, 0, &target[0]) ||
        !blocks_target_pick_named(state, 0, &target[1]))
        return NULL;
    int one = target[0].object, two = target[1].object;
    int best = one == two || one == to.object || two == to.object
                   ? -1
                   : blocks_nearer(state->scene, to.object, one, two);
    if (best < 0)
        return NULL;
    *draft = blocks_draft_about("relation", ASK_CHOICE, &to);
    draft->named[one] = target[0].named;
    draft->named[two] = target[1].named;
    draft->meaning.given = 0;
    draft->single = -1;
    draft->crowded = true;
    choose(draft, best, target);
    draft->topic = blocks_topic(TOPIC_NEARER, to.object, one + two, one * two);
    blocks_say(state, "stu", to.text, target[0].text, target[1].text);
    shorten_second(state, target);
    blocks_say(state, "n", blocks_expansion(&state->rng, "(4:closer|2:nearer)").text);
    return "(4:(which|which one|what) is %n to %s, %t or %u|is %t or %u %n to %s|is %s %n to %t or "
           "(to|) %u|which of %t and %u is %n to %s|%n to %s, %t or %u)";
}

// "which is closest, the cone, the cube or the ball", "which is the biggest, ..."
const char *blocks_ask_which_three(blocks_state *state, blocks_draft *draft)
{
    static const char *const places[BLOCKS_DIRECTIONS] = {
        "(2:furthest (to the|) left|leftmost|the leftmost)",
        "(2:furthest (to the|) right|rightmost|the rightmost)",
        "(the|) (3:closest|nearest) (2:|to (us|me|the camera))",
        "(furthest (away|back)|farthest|the farthest|farthest (away |)from (us|me|the camera))"};
    blocks_target target[3];
    unsigned set = 0;
    bool size = blocks_chance(state, 0.3), big = blocks_chance(state, 0.5);
    for (int i = 0; i < 3; i++) {
        if (!blocks_target_pick_named(state, size ? 1u << BLOCKS_SIZE : 0, &target[i]))
            return NULL;
        set |= 1u << target[i].object;
    }
    blocks_direction direction = blocks_some_direction(state);
    blocks_kind such = blocks_such(BLOCKS_SIZE, big ? BLOCKS_LARGE : BLOCKS_SMALL);
    int best = size ? blocks_only(blocks_find(state->scene, such) & set)
                    : blocks_extreme(state->scene, set, direction);
    if (blocks_size_of(set) != 3 || best < 0)
        return NULL;
    *draft = blocks_about_two(state, "superlative", ASK_CHOICE, target);
    draft->both = 0;
    draft->named[target[2].object] = target[2].named;
    draft->meaning.given = size ? 1u << BLOCKS_SIZE : 0;
    draft->meaning.toward = size ? -1 : (int)direction;
    choose(draft, best, target);
    draft->meaning.among = set;
    draft->topic = blocks_topic(TOPIC_OF, set, 102 + size, size ? big : direction);
    blocks_say(state, "ptuv",
               blocks_expansion(&state->rng, !size ? places[direction]
                                             : big ? "(the|) (3:biggest|2:largest)"
                                                   : "(the|) smallest")
                   .text,
               target[0].text, target[1].text, target[2].text);
    return "(4:which (one|) is %p, %t, %u or %v|what is %p, %t, %u or %v|which of %t, %u and %v is "
           "%p|%p, %T, %U or %V)";
}

// ---- which of a group -------------------------------------------------------------------------

// The one of the group that has a value, or the only one that has not; 0: none of them.
static bool single_out(blocks_state *state, const blocks_group *g, bool without,
                       blocks_draft *draft)
{
    blocks_attribute a = blocks_some_attribute(state);
    if (g->kind.value[a] >= 0)
        return false;
    blocks_kind such = blocks_such(a, blocks_group_value(state, g, a));
    blocks_set found = blocks_find(state->scene, such) & g->set;
    if (without)
        found = g->set & ~found;
    if (blocks_size_of(found) > 1 || (!found && (without || !blocks_chance(state, 0.3))))
        return false;
    blocks_phrase value = blocks_predicate(&state->rng, a, such.value[a]);
    if (!without && found && a != BLOCKS_SHAPE && blocks_chance(state, 0.15))
        snprintf(value.text, sizeof value.text, "the %s one", blocks_value_name(a, such.value[a]));
    if (without)
        blocks_say(state, "i", blocks_chance(state, 0.5) ? "is not" : "isn't");
    blocks_say(state, "v", value.text);
    draft->meaning.objects = found;
    draft->meaning.given |= 1u << a;
    draft->topic = blocks_topic(TOPIC_OF, g->key, a, such.value[a]);
    return true;
}

// The one of the group that lies furthest to one side.
static bool single_out_place(blocks_state *state, const blocks_group *g, blocks_draft *draft)
{
    static const char *const places[BLOCKS_DIRECTIONS] = {
        "(on the far left|furthest left|furthest to the left|leftmost|the leftmost)",
        "(on the far right|furthest right|furthest to the right|rightmost|the rightmost)",
        "(2:closest|closest to (us|the camera|you)|in the front|nearest|the closest)",
        ("(farthest away|furthest back|in the back|the farthest|at the back|(farthest|furthest) "
         "(away |)from (us|me|the camera))")};
    static const char *const of_two[BLOCKS_DIRECTIONS] = {
        "(2:further (to the|) left|farther left|more to the left|on the left)",
        "(2:further (to the|) right|farther right|more to the right|on the right)",
        "(3:closer|closer to (us|me|the camera)|nearer|in front|more near to me|nearer to us)",
        "(2:further (away|back)|farther (away|back)|behind)"};
    blocks_direction direction = blocks_some_direction(state);
    int object = blocks_extreme(state->scene, g->set, direction);
    if (object < 0)
        return false;
    bool two = blocks_size_of(g->set) == 2 && blocks_chance(state, 0.6);
    blocks_say(state, "v",
               blocks_expansion(&state->rng, two ? of_two[direction] : places[direction]).text);
    draft->family = "superlative";
    draft->meaning.toward = (int)direction;
    draft->meaning.objects = 1u << object;
    draft->topic = blocks_topic(TOPIC_OF, g->key, 100, direction);
    return true;
}

// The biggest of the group.
static bool single_out_size(blocks_state *state, const blocks_group *g, blocks_draft *draft)
{
    bool big = blocks_chance(state, 0.5);
    blocks_kind such = blocks_such(BLOCKS_SIZE, big ? BLOCKS_LARGE : BLOCKS_SMALL);
    blocks_set found = blocks_find(state->scene, such) & g->set;
    if (blocks_size_of(found) != 1 || g->kind.value[BLOCKS_SIZE] >= 0)
        return false;
    bool two = blocks_size_of(g->set) == 2 && blocks_chance(state, 0.6);
    const char *how = two && big ? "(the|) (3:bigger|larger)"
                      : two      ? "(the|) smaller"
                      : big      ? "(the|) (3:biggest|2:largest|tallest)"
                                 : "(the|) (5:smallest|shortest)";
    blocks_say(state, "v", blocks_expansion(&state->rng, how).text);
    draft->family = "superlative";
    draft->meaning.objects = found;
    draft->meaning.given |= 1u << BLOCKS_SIZE;
    draft->topic = blocks_topic(TOPIC_OF, g->key, 101, big);
    return true;
}

// "which of them is metal", "which of the cubes is closest"
const char *blocks_ask_which_of(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    if (!blocks_group_pick(state, &g))
        return NULL;
    *draft = blocks_group_draft(&g, "choice", ASK_CHOICE, g.set);
    draft->meaning.among = g.set;
    blocks_say(state, "i", "is");
    int how = vd_rng_below(&state->rng, 10);
    if (how < 6   ? !single_out(state, &g, how < 2, draft)
        : how < 8 ? !single_out_place(state, &g, draft)
                  : !single_out_size(state, &g, draft))
        return NULL;
    draft->group = draft->plural = false;
    draft->other_group = g.named;
    draft->about = draft->single = blocks_only(draft->meaning.objects);
    blocks_say(state, "k", blocks_noun(&state->rng, g.kind, BLOCKS_BARE).text);
    return g.named  ? "(3:which of %m %i %v|3:which one of %m %i %v|2:which %k %i %v)"
           : g.both ? "(which of %m %i %v|which one of %m %i %v)"
                    : "(3:which of %m %i %v|2:which one of %m %i %v|3:which one %i %v|which %i "
                      "%v|which from %m %i %v|and which of %m %i %v)";
}

// ---- what there is most of --------------------------------------------------------------------

// The value that most (or, of those that come, fewest) of the set have; -1: two tie.
static int most_common(const blocks_scene *scene, blocks_set set, blocks_attribute a, bool fewest)
{
    int best = -1, number = 0;
    bool tie = false;
    for (int v = 0; v < blocks_values(a); v++) {
        blocks_kind kind = blocks_such(a, v);
        int n = blocks_size_of(blocks_find(scene, kind) & set);
        if (!n)
            continue;
        tie = best >= 0 && n == number ? true : tie;
        if (best < 0 || (fewest ? n < number : n > number)) {
            tie = false;
            best = v;
            number = n;
        }
    }
    return tie ? -1 : best;
}

// "which color is most common", "what color are most of the cubes"
const char *blocks_ask_most(blocks_state *state, blocks_draft *draft)
{
    static const blocks_attribute asked[] = {BLOCKS_COLOR, BLOCKS_COLOR,    BLOCKS_SHAPE,
                                             BLOCKS_SHAPE, BLOCKS_MATERIAL, BLOCKS_SIZE};
    blocks_attribute a = BLOCKS_ONE_OF(state, asked);
    blocks_group g = blocks_group_of(state, blocks_anything);
    bool some = state->naming == TARGET_IT || blocks_chance(state, 0.2);
    bool fewest = !some && blocks_chance(state, 0.15);
    if (some &&
        (!blocks_group_pick(state, &g) || g.kind.value[a] >= 0 || blocks_size_of(g.set) < 3))
        return NULL;
    int value = most_common(state->scene, g.set, a, fewest);
    if (value < 0)
        return NULL;
    *draft = blocks_group_draft(&g, "superlative", ASK_MOST, g.set);
    draft->group = false;
    draft->other_group = !some || g.named;
    draft->meaning.attribute = a;
    draft->meaning.more.value[a] = (int8_t)value;
    draft->topic = blocks_topic(TOPIC_MOST, g.key, a, fewest);
    blocks_say(state, "a", blocks_attribute_word(&state->rng, a).text);
    return some ? (a == BLOCKS_MATERIAL ? "(what are most of %m made of|2:what %a are most of %m)"
                                        : "what %a are most of %m")
           : fewest ? "((what|which) %a is (the|) (least common|rarest)|(what|which) %a (is there "
                      "least of|appears least often)|what is the least common %a)"
                    : "(6:(2:what|which) %a is (3:|the) most (3:common|frequent)|2:(what|which) %a "
                      "(appears|occurs) most (often|frequently)|2:what %a do you see (the|) "
                      "most|(what|which) %a is there most of|what %a comes up (the|) most|what %a "
                      "shows up (the|) most|3:what is the most (3:common|frequent) %a|what's the "
                      "most common %a|most common %a|2:what %a are most of the "
                      "(things|objects)|what %a do most (of the|) (things|objects) have)";
}

// "which color occurs only once", "which color do exactly two of them have"
const char *blocks_ask_occurs(blocks_state *state, blocks_draft *draft)
{
    blocks_attribute a = blocks_chance(state, 0.65) ? BLOCKS_COLOR : BLOCKS_SHAPE;
    blocks_group g = blocks_group_of(state, blocks_anything);
    bool some = state->naming == TARGET_IT || blocks_chance(state, 0.4);
    if (some && !blocks_group_pick(state, &g))
        return NULL;
    int times = blocks_chance(state, 0.6) ? 1 : 2, value = -1, values = 0;
    for (int v = 0; v < blocks_values(a); v++) {
        blocks_kind kind = blocks_such(a, v);
        bool so = blocks_size_of(blocks_find(state->scene, kind) & g.set) == times;
        values += so;
        value = so ? v : value;
    }
    if (values != 1 || g.kind.value[a] >= 0 || blocks_size_of(g.set) < 3)
        return NULL;
    *draft = blocks_group_draft(&g, "superlative", ASK_MOST, g.set);
    draft->group = false;
    draft->other_group = !some || g.named;
    draft->meaning.attribute = a;
    draft->meaning.more.value[a] = (int8_t)value;
    draft->topic = blocks_topic(TOPIC_MOST, g.key, a, 2 + times);
    blocks_say(state, "a", blocks_attribute_word(&state->rng, a).text);
    if (some)
        return times == 1 ? "((which|what) %a (occurs|appears) only once among %m|(which|what) %a "
                            "does only one of %m have)"
                          : "((which|what) %a (occurs|appears) twice among %m|(which|what) %a do "
                            "exactly two of %m have)";
    return times == 1 ? "((which|what) %a (occurs|appears) only once|(which|what) %a (is there|do "
                        "you see) only once|(which|what) %a does only one (thing|object) have)"
                      : "(2:(which|what) %a (occurs|appears) (exactly|) twice|(which|what) %a is "
                        "there twice|(which|what) %a do exactly two (things|objects) have)";
}

// "are most of them red"
const char *blocks_ask_mostly(blocks_state *state, blocks_draft *draft)
{
    blocks_group g = blocks_group_of(state, blocks_anything);
    blocks_attribute a = blocks_some_attribute(state);
    bool all = state->naming != TARGET_IT && blocks_chance(state, 0.6);
    bool yes = blocks_chance(state, 0.5);
    g.named = all;
    if (all)
        blocks_say(state, "m", blocks_expansion(&state->rng, "the (things|objects)").text);
    else if (!blocks_group_pick(state, &g))
        return NULL;
    int size = blocks_size_of(g.set);
    if (g.kind.value[a] >= 0 || size < 3)
        return NULL;
    int value = yes ? most_common(state->scene, g.set, a, false) : blocks_group_value(state, &g, a);
    blocks_kind such = blocks_such(a, value < 0 ? 0 : value);
    int number = blocks_size_of(blocks_find(state->scene, such) & g.set);
    // Fewer than half, but more than of any other: some call that most.
    bool no = 2 * number < size && most_common(state->scene, g.set, a, false) != value;
    if (value < 0 || (yes ? 2 * number <= size : !no))
        return NULL;
    *draft = blocks_group_draft(&g, "verify", ASK_POLAR, g.set);
    draft->meaning.yes = yes;
    draft->group = false;
    draft->other_group = g.named;
    draft->topic = blocks_topic(TOPIC_MOSTLY, g.key, a, 0);
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a, value).text);
    return "(4:are most of %m %v|are the majority of %m %v|are more than half of %m %v)";
}

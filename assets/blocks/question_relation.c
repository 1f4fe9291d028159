// Questions about where things are: what is left of the ball, is anything behind it.
#include "assets/blocks/state.h"

#include <string.h>

enum {
    TOPIC_NEIGHBOUR = 32,
    TOPIC_ANYTHING,
    TOPIC_SIDES,
    TOPIC_WHERE,
    TOPIC_HOW_MANY,
    TOPIC_SIDE,
    TOPIC_ON_TOP,
    TOPIC_NEAR,
    TOPIC_BETWEEN = 112
};

// %d: the direction in words.
static void say_direction(blocks_state *state, blocks_direction direction)
{
    blocks_say(state, "d", blocks_expansion(&state->rng, blocks_direction_words(direction)).text);
}

// "what is to its left": "it" is named by that.
static bool is_beside_it(blocks_state *state, const blocks_target *target,
                         blocks_direction direction)
{
    return direction <= BLOCKS_RIGHT && !strcmp(target->text, "it") && blocks_chance(state, 0.3);
}

// "how many cubes are left of the ball"
static const char *ask_how_many(blocks_state *state, const blocks_target *target,
                                blocks_direction direction, blocks_draft *draft)
{
    blocks_kind kind = blocks_anything;
    if (blocks_chance(state, 0.5))
        kind = blocks_some_kind(state, blocks_chance(state, 0.6) ? 1u << BLOCKS_SHAPE
                                                                 : 1u << BLOCKS_COLOR);
    blocks_set such = blocks_find(state->scene, kind) & ~(1u << target->object);
    if (blocks_doubtful(state->scene, direction, target->object) & such)
        return NULL;
    *draft = blocks_draft_about("relation", ASK_COUNT, target);
    draft->other_group = true;
    draft->meaning.objects = blocks_toward(state->scene, direction, target->object) & such;
    draft->meaning.number = blocks_size_of(draft->meaning.objects);
    draft->topic = blocks_topic(TOPIC_HOW_MANY, direction, target->object, blocks_kind_key(kind));
    blocks_say(state, "k", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    say_direction(state, direction);
    return "(4:how many %k are (there|) %d %t|how many %k do you see %d %t)";
}

// "what small red thing is left of the ball"
static const char *ask_neighbour_of(blocks_state *state, blocks_direction direction, int nearest,
                                    blocks_draft *draft)
{
    static const unsigned char masks[] = {1, 1, 2, 4, 8, 9, 10};
    blocks_kind kind = blocks_kind_of(&state->scene->object[nearest], BLOCKS_ONE_OF(state, masks));
    draft->meaning.given = draft->named[nearest] = blocks_kind_mask(kind);
    draft->meaning.partly = 0;
    blocks_say(state, "k", blocks_noun(&state->rng, kind, BLOCKS_BARE).text);
    say_direction(state, direction);
    return "(2:which|what) %k is (4:|just|right) %d %t";
}

// "what is the ball next to", "what is it behind": what stands in the direction, by where the
// target is of it
static const char *const its_place[BLOCKS_DIRECTIONS + 1] = {
    [BLOCKS_LEFT] = "(what is %t (to the|) right of|%T is (to the|) right of what)",
    [BLOCKS_RIGHT] = "(what is %t (to the|) left of|%T is (to the|) left of what)",
    [BLOCKS_FRONT] = "(3:what is %t behind|what does %t stand behind|behind what is %t)",
    [BLOCKS_BEHIND] = "(3:what is %t in front of|what does %t stand in front of)",
    [BLOCKS_AROUND] =
        ("(4:what is %t (3:next to|near|close to|closest to|beside|right next to|standing next "
         "to|nearest to)|(next to|near) what is %t|what does %t stand next to|what %T next to|%T "
         "is next to what|what's %t next to|what is the neighbor of %t)")};

// "what is left of the ball"
const char *blocks_ask_neighbour(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick(state, 0, &target))
        return NULL;
    blocks_direction direction = (blocks_direction)vd_rng_below(&state->rng, BLOCKS_DIRECTIONS + 1);
    if (direction != BLOCKS_AROUND && blocks_chance(state, 0.2))
        return ask_how_many(state, &target, direction, draft);
    bool around = direction == BLOCKS_AROUND;
    blocks_set there = around ? 0 : blocks_toward(state->scene, direction, target.object);
    int nearest = blocks_nearest(state->scene, direction, target.object);
    bool nothing = !around && !there && !blocks_doubtful(state->scene, direction, target.object);
    if (nothing ? !blocks_chance(state, 0.3) : nearest < 0)
        return NULL;
    *draft = blocks_draft_about("relation", ASK_WHICH, &target);
    draft->meaning.given = 0;
    draft->meaning.objects = nothing ? 0 : 1u << nearest;
    draft->meaning.partly = there;
    draft->about = nothing ? -1 : nearest;
    draft->single = nothing ? target.object : -1;
    draft->crowded = !nothing;
    draft->both = nothing ? 0 : 1u << nearest | 1u << target.object;
    draft->topic = blocks_topic(TOPIC_NEIGHBOUR, direction, target.object, 0);
    if (!nothing && blocks_chance(state, 0.12))
        return ask_neighbour_of(state, direction, nearest, draft);
    if (blocks_chance(state, around ? 0.4 : 0.1))
        return its_place[direction];
    if (is_beside_it(state, &target, direction)) {
        blocks_say(state, "s", direction == BLOCKS_LEFT ? "left" : "right");
        return "(2:what is|what's|which (thing|object) is|) (2:to|on) its %s";
    }
    say_direction(state, direction);
    return "(14:what is (6:|just|directly|right) %d %t|8:what's %d %t|2:what (thing|object) is %d "
           "%t|what do we see (|right) %d %t|and what is %d %t|and what's (|right|just) %d "
           "%t|2:which (thing|object) is %d %t|2:what do you see %d %t|2:what can you see %d "
           "%t|2:what is there %d %t|what (stands|sits|lies) %d %t|3:%d %T|what %d %T|what is the "
           "thing %d %t|what would be %d %t|what do i see %d %t|(and|) the thing "
           "(|right|just|directly) %d %t, what is (it|that)|(name|tell me|describe|identify) the "
           "(thing|object) (|right|directly) %d %t|what is (standing|lying|sitting) %d "
           "%t|(something|there is something) (|right|directly) %d %t, what is (it|that))";
}

// "is there anything behind the ball", "is there a cube behind the ball"
const char *blocks_ask_anything(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    bool yes = blocks_chance(state, 0.5), some_kind = blocks_chance(state, 0.35);
    for (int attempt = 0; attempt < 6; attempt++) {
        blocks_target target;
        if (!blocks_target_pick(state, 0, &target))
            return NULL;
        blocks_direction direction = blocks_some_direction(state);
        blocks_kind kind = blocks_anything;
        if (some_kind)
            kind = blocks_some_kind(state, blocks_chance(state, 0.6) ? 1u << BLOCKS_SHAPE
                                                                     : 1u << BLOCKS_COLOR);
        blocks_set such = blocks_find(scene, kind) & ~(1u << target.object);
        blocks_set there = blocks_toward(scene, direction, target.object) & such;
        blocks_set doubtful = blocks_doubtful(scene, direction, target.object) & such;
        if (yes ? !there : there || doubtful || !such)
            continue;
        *draft = blocks_draft_about("relation", ASK_THERE, &target);
        draft->meaning.yes = yes;
        draft->meaning.objects = there;
        draft->meaning.given = blocks_kind_mask(kind);
        draft->about = blocks_only(there);
        draft->crowded = yes && state->naming != TARGET_IT;
        draft->topic =
            blocks_topic(TOPIC_ANYTHING, direction, target.object, blocks_kind_key(kind));
        blocks_say(state, "k", blocks_noun(&state->rng, kind, BLOCKS_A).text);
        if (!some_kind && is_beside_it(state, &target, direction)) {
            blocks_say(state, "s", direction == BLOCKS_LEFT ? "left" : "right");
            return "(2:is there anything|is anything|anything|do you see anything) (2:to|on) its "
                   "%s";
        }
        bool hiding = !some_kind && direction == BLOCKS_BEHIND && blocks_chance(state, 0.15);
        say_direction(state, direction);
        if (some_kind)
            return "(6:is there %k %d %t|2:do you see %k %d %t|can you see %k %d %t|%k %d %T)";
        return hiding ? "(2:is (something|anything) (hiding|standing) %d %t|anything "
                        "(hiding|hidden) %d %t)"
                      : "(10:is there anything %d %t|6:is anything %d %t|2:is there something %d "
                        "%t|2:do you see anything %d %t|2:is there (another|an) object %d "
                        "%t|2:anything %d %T|does anything (stand|sit|lie) %d %t)";
    }
    return NULL;
}

// What lies between two things was asked for, and found.
static void found_between(blocks_draft *draft, blocks_set there)
{
    draft->meaning.yes = there != 0;
    draft->meaning.given = 0;
    draft->meaning.objects = there;
    draft->meaning.partly = 0;
    draft->about = blocks_only(there);
    draft->single = -1;
    draft->crowded = true;
    draft->other_thing = draft->other_group = there != 0;
}

// "what is between the two cubes", "is there anything between them"
const char *blocks_ask_between_two(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    if (!blocks_group_pick(state, &g) || blocks_size_of(g.set) != 2)
        return NULL;
    int one = __builtin_ctz(g.set), two = blocks_only(g.set & ~(1u << one));
    blocks_set doubtful, there = blocks_between(state->scene, one, two, &doubtful);
    bool what = blocks_chance(state, 0.5);
    if (doubtful || (what && blocks_only(there) < 0))
        return NULL;
    *draft = blocks_group_draft(&g, "relation", what ? ASK_WHICH : ASK_THERE, there);
    found_between(draft, there);
    draft->meaning.attribute = BLOCKS_ATTRIBUTES;
    draft->group = draft->plural = draft->of_they = false;
    draft->kind = blocks_anything;
    draft->topic = blocks_topic(TOPIC_BETWEEN, one + two, one * two, what);
    if (what)
        return g.named ? "(4:what is|2:what's|what (lies|stands|sits)|which (thing|object) is|) "
                         "(in|) between the (two|2) %b"
                       : "(4:what is|2:what's|which (thing|object) is|) (in|) between "
                         "(2:them|those two|the two of them)";
    return g.named ? "(3:is there anything|is anything|anything) (in|) between the (two|2) %b"
                   : "(3:is there anything|is anything|anything) (in|) between (2:them|those two)";
}

// "what is between the ball and the cube", "is there anything between it and the cube"
const char *blocks_ask_between(blocks_state *state, blocks_draft *draft)
{
    blocks_target one, two;
    if (!blocks_target_pick(state, 0, &one) || !blocks_target_pick_named(state, 0, &two) ||
        one.object == two.object)
        return NULL;
    blocks_set doubtful, there = blocks_between(state->scene, one.object, two.object, &doubtful);
    bool what = blocks_chance(state, 0.5);
    if (doubtful || (what && blocks_only(there) < 0))
        return NULL;
    *draft = blocks_draft_about("relation", what ? ASK_WHICH : ASK_THERE, &one);
    draft->named[two.object] = two.named;
    draft->coreference = one.coreference;
    found_between(draft, there);
    draft->topic =
        blocks_topic(TOPIC_BETWEEN, one.object + two.object, one.object * two.object, what);
    blocks_say(state, "tu", one.text, two.text);
    return what ? "(5:what is|3:what's|what lies|what stands|which (thing|object) is|) between %t "
                  "and %u"
                : "(4:is there anything|2:is anything|do you see anything|anything|is there "
                  "something) between %t and %u";
}

// "is it near the ball": the nearest is, and what is farther than half of the others is not
const char *blocks_ask_near(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_target pair[2];
    if (!blocks_two_targets(state, 0, pair))
        return NULL;
    int one = pair[0].object, two = pair[1].object, nearer = 0;
    bool yes = blocks_nearest(scene, BLOCKS_AROUND, one) == two ||
               blocks_nearest(scene, BLOCKS_AROUND, two) == one;
    for (int i = 0; i < scene->count; i++)
        nearer += i != one && i != two && blocks_nearer(scene, one, i, two) == i;
    if (!yes && (nearer < 2 || 2 * nearer < scene->count - 2))
        return NULL;
    *draft = blocks_about_two(state, "relation", ASK_POLAR, pair);
    draft->meaning.yes = yes;
    draft->topic = blocks_topic(TOPIC_NEAR, one, two, 0);
    say_direction(state, BLOCKS_AROUND);
    return "(4:is %t (2:near|2:next to|close to|beside|by) %u|%T (near|next to|close to) %U)";
}

// "is it between the ball and the cube"
const char *blocks_ask_is_between(blocks_state *state, blocks_draft *draft)
{
    blocks_target it, one, two;
    if (!blocks_target_pick(state, 0, &it) || !blocks_target_pick_named(state, 0, &one) ||
        !blocks_target_pick_named(state, 0, &two) || one.object == two.object ||
        one.object == it.object || two.object == it.object)
        return NULL;
    blocks_set doubtful, there = blocks_between(state->scene, one.object, two.object, &doubtful);
    if (blocks_has(doubtful, it.object))
        return NULL;
    *draft = blocks_draft_about("relation", ASK_POLAR, &it);
    draft->meaning.yes = blocks_has(there, it.object);
    draft->single = -1;
    draft->crowded = true;
    draft->named[one.object] = one.named;
    draft->named[two.object] = two.named;
    draft->topic = blocks_topic(TOPIC_BETWEEN, one.object + two.object, one.object * two.object,
                                10 + it.object);
    blocks_say(state, "tuw", it.text, one.text, two.text);
    return "(4:is %t (in|) between %u and %w|%T (in|) between %u and %w)";
}

// "is it the closest one", "is the cube the thing on the far left"
const char *blocks_ask_is_extreme(blocks_state *state, blocks_draft *draft)
{
    blocks_target it;
    if (!blocks_target_pick(state, 0, &it) || it.family)
        return NULL;
    blocks_direction direction = blocks_some_direction(state);
    int best = blocks_extreme(state->scene, blocks_all(state->scene), direction);
    if (best < 0 || (best != it.object && !blocks_chance(state, 0.2)))
        return NULL;
    *draft = blocks_draft_about("superlative", ASK_POLAR, &it);
    draft->meaning.yes = best == it.object;
    draft->topic = blocks_topic(TOPIC_SIDES, 100 + direction, it.object, 0);
    static const char *const places[BLOCKS_DIRECTIONS] = {
        "(the leftmost (thing|object|one)|the (thing|one) furthest to the left|the furthest to the "
        "left)",
        "(the rightmost (thing|object|one)|the (thing|one) furthest to the right|the furthest to "
        "the right)",
        "(the (closest|nearest) (thing|object|one)(3:| to (us|the camera))|the (thing|one) closest "
        "to (us|the camera|me))",
        "(the (farthest|furthest) (thing|object|one)(3:| away)|the (thing|one) furthest "
        "(back|away))"};
    blocks_say(state, "tp", it.text, blocks_expansion(&state->rng, places[direction]).text);
    return "is %t %p";
}

// "is there anything on top of it": everything stands on the table.
const char *blocks_ask_on_top(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick(state, 0, &target))
        return NULL;
    *draft = blocks_draft_about("relation", ASK_THERE, &target);
    draft->meaning.objects = 0;
    draft->meaning.given = 0;
    draft->topic = blocks_topic(TOPIC_ON_TOP, target.object, 0, 0);
    return "(4:is there anything|2:is anything|is there something|do you see anything|anything) "
           "(3:on top of|on|2:inside|inside of|in) %t";
}

// Two things, one of which is named by what it alone is: "is it left of the cube", "is the cube
// left of it".
static bool pick_pair(blocks_state *state, blocks_target *one, blocks_target *two)
{
    blocks_target pair[2];
    if (!blocks_two_targets(state, 0, pair))
        return false;
    *one = pair[0];
    *two = pair[1];
    if (state->naming == TARGET_IT && blocks_chance(state, 0.35)) {
        blocks_target swap = *one;
        *one = *two;
        *two = swap;
        blocks_say(state, "tu", one->text, two->text);
    }
    return true;
}

// "is it left of the cube" goes on to be about it; of two that are named nobody can say which.
static void keep_it(const blocks_state *state, blocks_draft *draft, const blocks_target *one,
                    const blocks_target *two)
{
    bool clear = state->naming == TARGET_IT && !one->named;
    draft->coreference = one->coreference | two->coreference;
    draft->both = 1u << one->object | 1u << two->object;
    draft->named[two->object] = two->named;
    draft->crowded = !clear;
    draft->single = clear ? one->object : -1;
    draft->about = -1;
}

static const char *const pair_patterns[BLOCKS_DIRECTIONS] = {
    "(8:is %t %d %u|is %t (further|farther) (to the|) left than %u|is %t more to the left than "
    "%u|does %t (stand|sit) %d %u|do you see %t %d %u|%T %d %U)",
    "(8:is %t %d %u|is %t (further|farther) (to the|) right than %u|is %t more to the right than "
    "%u|does %t (stand|sit) %d %u|do you see %t %d %u|%T %d %U)",
    "(8:is %t %d %u|2:is %t closer (to (us|the camera|you|the viewer)|) than %u|is %t nearer than "
    "%u|does %t (stand|sit) %d %u|%T %d %U)",
    "(8:is %t %d %u|is %t (further|farther) (2:away|back|from (us|you|me|the viewer|the camera)) "
    "than %u|does %t (stand|sit) %d %u|%T %d %U)",
};

// "is the ball left of the cube"
const char *blocks_ask_pair(blocks_state *state, blocks_draft *draft)
{
    blocks_target one, two;
    if (!pick_pair(state, &one, &two))
        return NULL;
    blocks_direction direction = blocks_some_direction(state);
    bool yes = blocks_lies(state->scene, one.object, direction, two.object);
    if (!yes && !blocks_lies(state->scene, two.object, direction, one.object))
        return NULL; // side by side: neither yes nor no
    *draft = blocks_draft_about("relation", ASK_ONE, &one);
    draft->meaning.yes = yes;
    draft->meaning.toward = yes ? (int)direction : (int)direction ^ 1;
    keep_it(state, draft, &one, &two);
    draft->faced = 1 + (int)direction;
    draft->faced_other = two.object;
    int low = one.object < two.object ? one.object : two.object;
    draft->topic = blocks_topic(TOPIC_SIDES, direction / 2, low, (one.object + two.object));
    say_direction(state, direction);
    return pair_patterns[direction];
}

// "is the ball left or right of the cube"
const char *blocks_ask_side(blocks_state *state, blocks_draft *draft)
{
    static const char *const across =
        "(4:is %t (2:to the left or (to|on|) (the|) right|to the right or (to|on|) (the|) left|on "
        "the left or (on|) the right|left or right|right or left) of %u|on which side of %u is "
        "%t|which side of %u is %t on|position of %T relative to %U, left or right|%T left or "
        "right of %U|is %t (to the|) left of %u or (to the|) right of it|where is %t, (left or "
        "right|right or left) of %u)";
    static const char *const along =
        "(3:is %t (in front of or behind|behind or in front of|in front or behind) %u|is %t in "
        "front of %u or behind it|is %t behind %u or in front of it|%T in front of or behind %U)";
    blocks_target one, two;
    if (!pick_pair(state, &one, &two))
        return NULL;
    blocks_direction direction = blocks_chance(state, 0.5) ? BLOCKS_LEFT : BLOCKS_FRONT;
    bool so = blocks_lies(state->scene, one.object, direction, two.object);
    if (!so && !blocks_lies(state->scene, two.object, direction, one.object))
        return NULL;
    *draft = blocks_draft_about("relation", ASK_SIDE, &one);
    draft->meaning.toward = so ? (int)direction : (int)direction ^ 1;
    draft->beside = two.object;
    keep_it(state, draft, &one, &two);
    draft->topic = blocks_topic(TOPIC_SIDE, direction, one.object, two.object);
    say_direction(state, direction);
    return direction == BLOCKS_LEFT ? across : along;
}

// "is the ball in front of the cube | no | or behind"
const char *blocks_ask_or_side(blocks_state *state, blocks_draft *draft)
{
    static const char *const sides[BLOCKS_DIRECTIONS] = {
        "(3:left|to the left|on the left|left of it)",
        "(3:right|to the right|on the right|right of it)", "(3:in front|in front of it)",
        "(3:behind|behind it|in back of it)"};
    const blocks_entry *before = state->latest;
    if (!before->faced || before->object < 0)
        return NULL;
    blocks_target target = {.object = before->object, .kind = blocks_anything, .coreference = 1};
    blocks_direction direction = (blocks_direction)((before->faced - 1) ^ 1);
    bool yes = blocks_lies(state->scene, before->object, direction, before->of_other);
    *draft = blocks_draft_about("relation", ASK_ONE, &target);
    draft->meaning.yes = yes;
    draft->meaning.toward = yes ? (int)direction : (int)direction ^ 1;
    draft->about = -1;
    draft->topic = blocks_topic(TOPIC_SIDES, 200 + state->round, 0, 0);
    blocks_say(state, "s", blocks_expansion(&state->rng, sides[direction]).text);
    return "(3:or %s|or is it %s|is it %s then|%s then|so it is %s)";
}

// "is the ball to the left or to the right of the cube | left | and the cone"
const char *blocks_ask_and_side(blocks_state *state, blocks_draft *draft)
{
    const blocks_entry *before = state->latest;
    blocks_target target;
    if (before->beside < 0 || !blocks_target_pick(state, 0, &target) ||
        target.object == before->beside)
        return NULL;
    blocks_direction direction = before->axis;
    bool so = blocks_lies(state->scene, target.object, direction, before->beside);
    if (!so && !blocks_lies(state->scene, before->beside, direction, target.object))
        return NULL;
    *draft = blocks_draft_about("relation", ASK_SIDE, &target);
    draft->coreference = 1;
    draft->meaning.toward = so ? (int)direction : (int)direction ^ 1;
    draft->beside = before->beside;
    draft->topic = blocks_topic(TOPIC_SIDE, direction, target.object, before->beside);
    return "(3:and %t|3:what about %t|2:how about %t|and what about %t)";
}

// "where is the ball"
const char *blocks_ask_where(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick(state, 0, &target) || target.family)
        return NULL;
    int side = blocks_side(state->scene, target.object);
    int depth = blocks_depth(state->scene, target.object);
    bool choice = side >= 0 && blocks_chance(state, 0.25);
    bool rows = !choice && depth >= 0 && blocks_chance(state, 0.25);
    bool polar = !choice && !rows && side >= 0 && blocks_chance(state, 0.35);
    if (!rows && side < 0 && depth >= 0 && blocks_chance(state, 0.5))
        return NULL; // the middle of one and not of the other
    *draft = blocks_draft_about("relation", polar ? ASK_ONE : ASK_WHERE, &target);
    draft->about = -1;
    draft->topic = blocks_topic(TOPIC_WHERE, target.object, 0, 0);
    bool left = blocks_chance(state, 0.5);
    draft->meaning.yes = (side == BLOCKS_LEFT) == left;
    draft->meaning.sides = choice;
    draft->meaning.rows = rows;
    // "is there a ball": "yes"; "where".
    if (!choice && !rows && !polar && state->naming == TARGET_IT && target.coreference == 1 &&
        blocks_chance(state, 0.2))
        return "(3:where|and where|where exactly)";
    say_direction(state, BLOCKS_LEFT);
    if (choice)
        return "(4:is %t on the left or (on|) the right|is %t on the right or (on|) the left|is %t "
               "on the left or right|which side is %t on|%T left or right|is %t left or "
               "right|where is %t, (left or right|on the left or (on|) the right|right or left))";
    if (rows)
        return "(2:is %t in (the|) front or in (the|) back|is %t in (the|) back or in (the|) "
               "front|where is %t, in (the|) front or in (the|) back|is %t at the front or at the "
               "back|where is %t, up front or in the back|is %t in the front or the back|%T, front "
               "or back)";
    if (polar)
        return left ? "is %t on the left (2:|side|hand side|side of the (picture|table)|of the "
                      "picture)"
                    : "is %t on the right (2:|side|hand side|side of the (picture|table)|of the "
                      "picture)";
    return "(6:where is %t|2:where's %t|where on the table is %t|where do you see %t|(and|) where "
           "exactly is %t|where can i find %t|where in the picture is %t|where %T|whereabouts is "
           "%t|where exactly is %t|where do (we|you|i) find %t|where would i find %t|in "
           "(which|what) part of the (2:picture|image) is %t|what is the position of %t|what "
           "(part|area) of the picture is %t in)";
}

// How a question names things by where they are: the leftmost cube, the thing in the corner, the
// ball behind the cone, the biggest one.
#include "assets/blocks/target.h"

#include <stdio.h>

const char *const blocks_place_patterns[BLOCKS_DIRECTIONS + 1] = {
    [BLOCKS_LEFT] = "(3:the %k on the far left|2:the %k on the left|2:the leftmost %k|the %k "
                    "furthest to the left|the %k farthest left|the %k all the way on the left|the "
                    "left %k|the %k way over on the left|the %k (closest|nearest) to the left "
                    "(edge|side)|the most left %k|2:the (first|1st) %k from (the|) left)",
    [BLOCKS_RIGHT] =
        "(3:the %k on the far right|2:the %k on the right|2:the rightmost %k|the %k furthest to "
        "the right|the %k farthest right|the %k all the way on the right|the right %k|the %k way "
        "over on the right|the %k (closest|nearest) to the right (edge|side)|the most right "
        "%k|2:the (first|1st) %k from (the|) right)",
    [BLOCKS_FRONT] =
        "(3:the closest %k|2:the %k in the front|the %k in front|the nearest %k|the %k closest to "
        "(you|us|me|the camera)|the frontmost %k|the %k at the front|the %k in the very front|the "
        "%k nearest to (the viewer|us)|the %k right at the front|the front %k|the %k in the "
        "foreground|the (first|1st) %k from the front)",
    [BLOCKS_BEHIND] = "(3:the %k in the back|the %k at the back|2:the farthest %k|the furthest "
                      "%k|the %k (farthest|furthest) (2:away|(away |)from (the camera|us|me))|the "
                      "%k furthest back|the %k all the way in the back|the %k at the very back|the "
                      "back %k|the %k way in the back|3:the %k on the far side (2:|of the "
                      "table)|the %k in the background|the (first|1st) %k from the back)",
    [BLOCKS_AROUND] = ("(3:the %k in the middle|the middle %k|the %k in the (center|centre)|the %k "
                       "closest to the (middle|center))"),
};

// The same without a noun, for "what is on the left".
static const char *const bare_places[BLOCKS_DIRECTIONS + 1] = {
    [BLOCKS_LEFT] = "(2:on the left|2:on the far left|on the left side|furthest to the "
                    "left|leftmost|all the way on the left|way over on the left|(closest|nearest) "
                    "to the left (edge|side)|(the|) most left|(first|1st) from (the|) left)",
    [BLOCKS_RIGHT] =
        "(2:on the right|2:on the far right|on the right side|furthest to the right|rightmost|all "
        "the way on the right|way over on the right|(closest|nearest) to the right "
        "(edge|side)|(the|) most right|(first|1st) from (the|) right)",
    [BLOCKS_FRONT] = "(2:in the front|2:in front|2:closest (to (you|us|the camera)|)|at the "
                     "front|nearest|in the very front|right at the front)",
    [BLOCKS_BEHIND] = "(2:in the back|(farthest|furthest) (3:away|(away |)from (the "
                      "camera|us|me))|at the back|furthest back|all the way in the back|at the "
                      "very back|on the far side (2:|of the table))",
    [BLOCKS_AROUND] = "(3:in the middle|in the (center|centre)|closest to the middle)",
};

// The corners of the picture.
static const char *const bare_corners[2][2] = {
    [0] = {[BLOCKS_LEFT] = "(2:in|at|on) the (3:bottom|lower|2:front) left (2:|corner)",
           [BLOCKS_RIGHT] = "(2:in|at|on) the (3:bottom|lower|2:front) right (2:|corner)"},
    [1] = {[BLOCKS_LEFT] = "(2:in|at|on) the (3:top|upper|2:back) left (2:|corner)",
           [BLOCKS_RIGHT] = "(2:in|at|on) the (3:top|upper|2:back) right (2:|corner)"},
};

const char *blocks_place_words(const blocks_target *target)
{
    return bare_places[target->at - 1];
}

// The noun of a place among all things; "one" where that is not of a group just mentioned.
static blocks_phrase place_noun(blocks_state *state, blocks_kind kind, double chance)
{
    blocks_phrase noun = blocks_noun(&state->rng, kind, BLOCKS_BARE);
    if (!blocks_kind_mask(kind) && !blocks_several_mentioned(state) &&
        !blocks_of_two_others(state, 0) && blocks_chance(state, chance))
        snprintf(noun.text, sizeof noun.text, "one");
    return noun;
}

static const char *pick_corner(blocks_state *state, unsigned hide, blocks_target *target)
{
    int corner = vd_rng_below(&state->rng, 4);
    for (int tried = 0; tried < 4; tried++, corner = (corner + 1) % 4) {
        target->object = blocks_corner(state->scene, corner & 1, corner >> 1);
        if (target->object >= 0 && blocks_target_open(state, target->object, hide))
            break;
        target->object = -1;
    }
    if (target->object < 0)
        return NULL;
    bool right = corner & 1, back = corner >> 1;
    target->place = bare_corners[back][right ? BLOCKS_RIGHT : BLOCKS_LEFT];
    target->family = "superlative";
    blocks_phrase place = blocks_expansion(&state->rng, target->place);
    blocks_say(state, "kp", place_noun(state, target->kind, 0.2).text, place.text);
    return "the %k %p";
}

const char *blocks_pick_place(blocks_state *state, unsigned hide, blocks_target *target)
{
    const blocks_scene *scene = state->scene;
    if (blocks_chance(state, 0.5))
        return pick_corner(state, hide, target);
    blocks_direction direction = (blocks_direction)vd_rng_below(&state->rng, BLOCKS_DIRECTIONS + 1);
    blocks_set among = blocks_all(scene);
    // "the leftmost cube": of some kind of which there are several.
    if (direction != BLOCKS_AROUND && blocks_chance(state, 0.3)) {
        static const blocks_attribute named[] = {BLOCKS_SHAPE, BLOCKS_SHAPE, BLOCKS_COLOR,
                                                 BLOCKS_COLOR, BLOCKS_SIZE,  BLOCKS_MATERIAL};
        blocks_attribute a = BLOCKS_ONE_OF(state, named);
        int some = blocks_some_object(state);
        if (!(hide >> a & 1))
            target->kind = blocks_kind_of(&scene->object[some], 1u << a);
        among = blocks_find(scene, target->kind);
    }
    target->object = blocks_extreme(scene, among, direction);
    if (target->object < 0 || !blocks_target_open(state, target->object, hide))
        return NULL;
    target->place = blocks_kind_mask(target->kind) ? NULL : bare_places[direction];
    target->at = direction == BLOCKS_AROUND ? 0 : 1 + (int)direction;
    target->family = "superlative";
    blocks_say(state, "k", place_noun(state, target->kind, 0.2).text);
    return blocks_place_patterns[direction];
}

// "the second cube from the left"
const char *blocks_pick_ranked(blocks_state *state, unsigned hide, blocks_target *target)
{
    static const char *const sides[BLOCKS_DIRECTIONS] = {
        "(4:from the left|from left)", "(4:from the right|from right)",
        "(3:from the front|from front)", "(3:from the back|from back)"};
    static const char *const places[] = {"", "(5:second|2nd)", "(5:third|3rd)"};
    const blocks_scene *scene = state->scene;
    blocks_direction direction = blocks_some_direction(state);
    int place = blocks_chance(state, 0.8) ? 1 : 2;
    if (blocks_chance(state, 0.35)) {
        blocks_attribute a = blocks_chance(state, 0.7) ? BLOCKS_SHAPE : BLOCKS_COLOR;
        target->kind = blocks_kind_of(&scene->object[blocks_some_object(state)], 1u << a);
    }
    if (blocks_kind_mask(target->kind) & hide)
        return NULL;
    target->object = blocks_ranked(scene, blocks_find(scene, target->kind), direction, place);
    if (target->object < 0 || !blocks_target_open(state, target->object, hide))
        return NULL;
    blocks_phrase noun = place_noun(state, target->kind, 0.3);
    blocks_phrase side = blocks_expansion(&state->rng, sides[direction]);
    target->family = "superlative";
    blocks_say(state, "pks", blocks_expansion(&state->rng, places[place]).text, noun.text,
               side.text);
    return "the %p %k %s";
}

const char *blocks_pick_size(blocks_state *state, unsigned hide, blocks_target *target)
{
    const blocks_scene *scene = state->scene;
    int size = vd_rng_below(&state->rng, BLOCKS_SIZES);
    int some = blocks_some_object(state);
    blocks_attribute a = blocks_chance(state, 0.75) ? BLOCKS_SHAPE : BLOCKS_COLOR;
    bool any = blocks_chance(state, 0.5); // "the biggest thing"
    if (hide & ((any ? 0 : 1u << a) | 1u << BLOCKS_SIZE))
        return NULL;
    target->kind = blocks_kind_of(&scene->object[some], any ? 0 : 1u << a);
    if (blocks_number(scene, target->kind) < 2)
        return NULL;
    blocks_kind sized = blocks_kind_with(target->kind, BLOCKS_SIZE, size);
    target->object = blocks_only(blocks_find(scene, sized));
    if (target->object < 0 || !blocks_target_open(state, target->object, hide))
        return NULL;
    target->named = 1u << BLOCKS_SIZE;
    target->family = "superlative";
    blocks_say(state, "k", blocks_noun(&state->rng, target->kind, BLOCKS_BARE).text);
    return size == BLOCKS_LARGE ? "the (6:biggest|5:largest|2:bigger|2:larger|tallest) %k"
                                : "the (8:smallest|2:smaller|littlest|shortest) %k";
}

const char *blocks_direction_words(blocks_direction direction)
{
    static const char *const words[BLOCKS_DIRECTIONS + 1] = {
        "(4:to the left of|3:left of|on the left of|on the left side of)",
        "(4:to the right of|3:right of|on the right of|on the right side of)",
        "in front of",
        "(6:behind|in back of)",
        "(4:next to|2:closest to|nearest to|near|2:beside|nearest|by)",
    };
    return words[direction];
}

// The thing that is nearest to another, in some direction or in any.
const char *blocks_pick_near(blocks_state *state, unsigned hide, const blocks_target *from,
                             blocks_target *target)
{
    *target = (blocks_target){.family = "relation", .kind = blocks_anything, .crowded = true};
    blocks_direction direction = (blocks_direction)vd_rng_below(&state->rng, BLOCKS_DIRECTIONS + 1);
    target->object = blocks_nearest(state->scene, direction, from->object);
    if (target->object < 0 || !blocks_target_open(state, target->object, hide))
        return NULL;
    target->coreference = from->coreference;
    // "the cylinder behind it": what it is says only what is not asked.
    static const blocks_attribute says[] = {BLOCKS_SHAPE, BLOCKS_SHAPE, BLOCKS_COLOR, BLOCKS_SIZE};
    blocks_attribute a = BLOCKS_ONE_OF(state, says);
    if (!(hide >> a & 1) && blocks_chance(state, 0.3))
        target->kind = blocks_kind_of(&state->scene->object[target->object], 1u << a);
    snprintf(state->pattern, sizeof state->pattern, "the %s %s %s %%t",
             blocks_kind_mask(target->kind) ? "%k" : "(3:thing|2:object|one|item)",
             direction == BLOCKS_AROUND  ? "(6:|that is)"
             : direction <= BLOCKS_RIGHT ? "(6:|just|directly|(that|which) is|that's)"
                                         : "(6:|just|right|directly|(that|which) is|that's)",
             blocks_direction_words(direction));
    target->beside = from->object;
    target->beside_named = from->named;
    blocks_say(state, "tk", from->text, blocks_noun(&state->rng, target->kind, BLOCKS_BARE).text);
    return state->pattern;
}

// "the thing behind the cube", "the thing behind the ball that is left of the cube"
const char *blocks_pick_neighbour(blocks_state *state, unsigned hide, blocks_target *target)
{
    blocks_target from, between;
    double draw = vd_rng_uniform(&state->rng);
    blocks_pick_fn *pick = draw < 0.15  ? blocks_pick_size
                           : draw < 0.3 ? blocks_pick_place
                                        : blocks_pick_named;
    if (!blocks_target_name(state, pick, 0, &from))
        return NULL;
    if (draw < 0.6 ||
        !blocks_target_write(state, blocks_pick_near(state, 0, &from, &between), &between))
        return blocks_pick_near(state, hide, &from, target);
    bool found =
        blocks_kind_mask(between.kind) &&
        blocks_target_write(state, blocks_pick_near(state, hide, &between, target), target);
    blocks_say(state, "n", target->text);
    return found && target->object != from.object ? "%n" : NULL;
}

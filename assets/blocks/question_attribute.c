// Questions about one thing: what color it is, whether it is red, what it is.
#include "assets/blocks/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOPIC_ATTRIBUTE = 1, TOPIC_VERIFY, TOPIC_WHAT, TOPIC_NO_SUCH };
enum { LEAD = 80 };

static const char *const attribute_patterns[BLOCKS_ATTRIBUTES] = {
    [BLOCKS_COLOR] =
        "(14:(5:what|which) (6:color|colour) is %t|2:what is the (3:color|colour) of %t|2:what's "
        "the (3:color|colour) of %t|what (3:color|colour) does %t have|2:color (of|) %T|%T(2:|,|:) "
        "color|what color %T|(what|which) (color|colour) (has %t|%t has)|can you tell me the color "
        "of %t|what (2:color|colour) would you say %t is|do you know what color %t is|tell me the "
        "color of %t|%t (is|has) (what|which) color|3:%o %t%v)",
    [BLOCKS_SHAPE] =
        "(8:(5:what|which) shape is %t|2:what is the shape of %t|2:what's the shape of %t|what "
        "shape does %t have|what kind of shape is %t|2:what kind of (thing|object) is %t|what sort "
        "of shape is %t|can you tell me the shape of %t|shape (of|) %T|what form has %t|what form "
        "is %t|what form does %t have|%T(2:|,|:) shape|what shape %T|which shape has %t|%t "
        "(is|has) what shape|%o %t%v)",
    [BLOCKS_MATERIAL] =
        "(8:what is %t made of|4:what's %t made of|(of|from) what is %t made|(of|from) "
        "(what|which) material is %t (made|)|%t is made of what|3:(3:what|which) material is %t "
        "(made of|)|3:is %t metal or rubber|2:is %t rubber or metal|2:is %t (shiny or matte|matte "
        "or shiny)|what is %t made out of|what is the material of %t|what's the material of "
        "%t|material (of|) %T|material of %T, metal or rubber|material of %T, rubber or "
        "metal|%T(2:|,|:) material|what material %T|what kind of material is %t|%T metal or "
        "rubber|do you know what %t is made of|is %t (shiny|metal|metallic)(,|) or is it "
        "(dull|matte|rubber)|is %t (matte|dull|rubber)(,|) or is it (shiny|metal)|is %t (soft or "
        "hard|hard or soft|shiny or dull|dull or shiny|shiny or (kind of|) dull|metallic or "
        "matte)|%T, (shiny or matte|rubber or metal))",
    [BLOCKS_SIZE] =
        "(6:(5:what|which) size is %t|is %t big(,|) or is it small|is %t small(,|) or is it big|%t "
        "is (big or small|small or big)|6:how (3:big|large) is %t|4:is %t big or small|3:is %t "
        "large or small|3:is %t small or (big|large)|is %t (little or big|big or little|tiny or "
        "huge)|what is the size of %t|what's the size of %t|size (of|) %T|size of %T, big or "
        "small|%T(2:|,|:) size|%T(,|) big or small|how big would you say %t is|%t is how big|%t "
        "(is|has) what size|%T, (small or big|big or little))",
};

// "%o %t%v": "is it a cube or a ball", "is it red or blue": one of them right, the other that of
// something else in the picture more often than not.
static void two_values(blocks_state *state, blocks_attribute a, int right)
{
    int wrong = blocks_value_of(state->scene, blocks_some_object(state), a);
    if (wrong == right)
        wrong = blocks_other_value(state, a, right);
    bool first = blocks_chance(state, 0.5);
    const char *an = a == BLOCKS_SHAPE ? "a " : "";
    const char *one = blocks_value_name(a, first ? right : wrong);
    const char *two = blocks_value_name(a, first ? wrong : right);
    bool what = a == BLOCKS_COLOR && blocks_chance(state, 0.2);
    const char *other = what || !blocks_chance(state, 0.15) ? " or "
                        : blocks_chance(state, 0.5)         ? " or is it "
                                                            : ", or is it ";
    char values[BLOCKS_TEXT];
    snprintf(values, sizeof values, "%s %s%s%s%s%s", what ? "," : "", an, one, other, an, two);
    blocks_say(state, "ov", what ? "what color is" : "is", values);
}

static blocks_attribute draw_attribute(blocks_state *state)
{
    // Two-valued attributes can be guessed half of the time: fewer of them.
    static const blocks_attribute draw[] = {BLOCKS_COLOR, BLOCKS_COLOR,    BLOCKS_COLOR,
                                            BLOCKS_COLOR, BLOCKS_SHAPE,    BLOCKS_SHAPE,
                                            BLOCKS_SHAPE, BLOCKS_MATERIAL, BLOCKS_SIZE};
    return BLOCKS_ONE_OF(state, draw);
}

static const char *const led_patterns[BLOCKS_ATTRIBUTES] = {
    "%l(3:what (2:color|colour) is (3:it|that)|3:%o it%v|what is its color|which color is "
    "(it|that))",
    "%l(3:what shape is (3:it|that)|%o it%v|which shape is it)",
    "%l(3:what is (3:it|that) made of|is it metal or rubber|is it (shiny or matte|rubber or "
    "metal))",
    "%l(2:how big is (3:it|that)|2:is (it|that) big or small|what size is it|is it small or big)"};

// "look at the red ball, is it shiny": sometimes what is asked about stands before the question, as
// %l, and in it is "it".
static bool draw_lead(blocks_state *state, const blocks_target *target)
{
    bool other = state->naming == TARGET_OTHER || state->naming == TARGET_REMAINING;
    bool can = (state->naming == TARGET_NAMED || state->naming == TARGET_PLACE ||
                state->naming == TARGET_SIZE || other) &&
               !strncmp(target->text, "the ", 4) && strlen(target->text) < 36;
    if (!can || !blocks_chance(state, other ? 0.2 : 0.06))
        return false;
    bool a = state->naming == TARGET_NAMED && blocks_chance(state, 0.5);
    blocks_phrase noun = blocks_noun(&state->rng, target->kind, BLOCKS_A);
    // "i see another cube, is it big"
    bool another = state->naming == TARGET_OTHER && blocks_chance(state, 0.4);
    const char *before = another ? "(2:i see|there is|and there is|i notice)"
                         : other ? "(3:and|now|about|so|2:what about|and what about)"
                         : a     ? "(3:i see|there is|there's|i think i see|i can see|i notice)"
                                 : "(3:look at|now look at|about|as for|see|take|you see|3:what "
                                   "about|and what about|how about|and|now)";
    const char *thing = a ? noun.text : another ? target->text + 4 : target->text;
    char lead[LEAD];
    snprintf(lead, sizeof lead, "%.20s %s%.40s, ", blocks_expansion(&state->rng, before).text,
             another ? "an" : "", thing);
    blocks_say(state, "lt", lead, "it");
    return true;
}

const char *blocks_ask_attribute(blocks_state *state, blocks_draft *draft)
{
    blocks_attribute attribute = draw_attribute(state);
    blocks_target target;
    if (!blocks_target_pick(state, 1u << attribute, &target))
        return NULL;
    *draft = blocks_draft_about(target.family ? target.family : "attribute", ASK_VALUE, &target);
    draft->meaning.attribute = attribute;
    draft->topic = blocks_topic(TOPIC_ATTRIBUTE, attribute, target.object, 0);
    bool led = draw_lead(state, &target);
    two_values(state, attribute, blocks_value_of(state->scene, target.object, attribute));
    if (led)
        return led_patterns[attribute];
    // "is there a ball": "yes"; "what color".
    static const char *const short_patterns[BLOCKS_ATTRIBUTES] = {
        "(2:what color|which color|what colour)", "(2:what shape|which shape|what kind)",
        ("(2:what material|what is it made of|made of what|metal or rubber|shiny or matte|rubber "
         "or metal)"),
        "(what size|how big|big or small|small or big)"};
    bool brief =
        state->naming == TARGET_IT && target.coreference == 1 && blocks_chance(state, 0.08);
    if (brief && state->latest->value && state->latest->attribute != attribute &&
        state->latest->object == target.object) {
        blocks_phrase wrong = blocks_attribute_word(&state->rng, state->latest->attribute);
        blocks_say(state, "ba", wrong.text, blocks_attribute_word(&state->rng, attribute).text);
        return "(2:not the %b, the %a|not its %b, its %a|no, the %a|no, i meant the %a|i meant the "
               "%a|i mean its %a|i asked for the %a|no, (what|which) %a)";
    }
    if (!strcmp(target.text, "it") && blocks_chance(state, 0.06)) {
        blocks_say(state, "a", blocks_attribute_word(&state->rng, attribute).text);
        return "(2:what is its %a|what's its %a|its %a|tell me its %a|(and|what about|how about) "
               "(the|its) %a)";
    }
    return brief ? short_patterns[attribute] : attribute_patterns[attribute];
}

// "is it metal like the ball": the ball is, and says nothing about it.
static bool pick_like(blocks_state *state, blocks_draft *draft, const blocks_target *target,
                      blocks_attribute attribute, int value)
{
    blocks_target other;
    if (!blocks_target_pick_named(state, 1u << attribute, &other) ||
        other.object == target->object ||
        blocks_value_of(state->scene, other.object, attribute) != value)
        return false;
    draft->named[other.object] = other.named | 1u << attribute;
    draft->crowded = true;
    blocks_say(state, "o", other.text);
    return true;
}

const char *blocks_ask_verify(blocks_state *state, blocks_draft *draft)
{
    blocks_attribute attribute = blocks_some_attribute(state);
    blocks_target target;
    if (!blocks_target_pick(state, 1u << attribute, &target))
        return NULL;
    *draft = blocks_draft_about(target.family ? target.family : "verify", ASK_ONE, &target);
    int truth = blocks_value_of(state->scene, target.object, attribute), value = truth;
    draft->meaning.yes = blocks_chance(state, 0.5);
    draft->meaning.attribute = attribute;
    if (!draft->meaning.yes) {
        value = blocks_other_value(state, attribute, truth);
        // A value of another object in the picture is the better trap.
        int trap = blocks_value_of(state->scene, blocks_some_object(state), attribute);
        if (trap != truth)
            value = trap;
    }
    draft->asked = value;
    draft->topic = blocks_topic(TOPIC_VERIFY, attribute, target.object, value);
    blocks_phrase predicate = blocks_predicate(&state->rng, attribute, value);
    // A ball is round and a cube is not; the others are a matter of opinion.
    if (attribute == BLOCKS_SHAPE && value == BLOCKS_BALL &&
        (truth == BLOCKS_BALL || truth == BLOCKS_CUBE) && blocks_chance(state, 0.2))
        snprintf(predicate.text, sizeof predicate.text, "round");
    blocks_say(state, "v", predicate.text);
    if (attribute != BLOCKS_SHAPE && blocks_chance(state, 0.04)) {
        blocks_kind such = blocks_such(attribute, value);
        blocks_say(state, "k", blocks_noun(&state->rng, such, BLOCKS_A).text);
        return "(2:is %t %k|%t is %k)";
    }
    if (blocks_chance(state, 0.04))
        return "(%t is %v, (isn't it|is it)|%t must be %v, (right|is it|isn't it)|%t looks %v, "
               "(right|doesn't it)|is %t really %v|is %t actually %v)";
    if (attribute != BLOCKS_SHAPE && blocks_chance(state, 0.05) &&
        pick_like(state, draft, &target, attribute, value))
        return "is %t (3:|also) %v(3:|,| too,) like %o";
    if (draw_lead(state, &target))
        return "%l(6:is it %v|3:is that %v|would you say it is %v|isn't it %v|is (it|that) (%v "
               "too|also %v))";
    if (attribute == BLOCKS_COLOR)
        return "(12:is %t %v|is the color of %t %v|does %t look %v|would you say %t is %v|%T %v|%t "
               "is %v|and is %t %v|is %t %v too|is %t also %v|and %t, is it %v|is %t %v or not|%t "
               "is %v, (right|yes|correct)|isn't %t %v)";
    if (attribute == BLOCKS_SHAPE)
        return "(14:is %t %v|would you say %t is %v|%T %v|%t is %v|and is %t %v|is %t also %v|and "
               "%t, is it %v|is %t %v or not|%t is %v, (right|yes|correct)|isn't %t %v)";
    return "(14:is %t %v|does %t look %v|would you say %t is %v|%T %v|and is %t %v|is %t %v too|is "
           "%t also %v|and %t, is it %v|is %t %v or not|%T, %v or not|%t is %v|%t is %v, "
           "(right|yes|correct)|isn't %t %v)";
}

// "what is the thing on the left": a red cube.
const char *blocks_ask_what(blocks_state *state, blocks_draft *draft)
{
    static const char *const it =
        "(4:what is %t|what is %t exactly|what kind of thing is %t|what kind of object is %t)";
    static const char *const the =
        "(6:what is %t|5:what's %t|can you describe %t|describe %t|tell me what %t is|what does %t "
        "look like|how does %t look|identify %t|name %t|tell me about %t|what do you call %t|what "
        "would you call %t|which (thing|object|item) is %t)";
    static const char *const placed = "(3:what is %p|3:what's %p|which (thing|object) is %p|what "
                                      "(thing|object) is %p|what do you see %p|(thing|object) %p)";
    blocks_target target;
    unsigned hide = 1u << BLOCKS_SHAPE;
    if (state->naming == TARGET_PLACE)
        hide |= 1u << BLOCKS_COLOR;
    if (!blocks_target_pick(state, hide, &target))
        return NULL;
    *draft = blocks_draft_about(target.family ? target.family : "attribute", ASK_WHICH, &target);
    draft->topic = blocks_topic(TOPIC_WHAT, target.object, 0, 0);
    blocks_say(state, "p", blocks_expansion(&state->rng, target.place ? target.place : "").text);
    // Without a verb it would be the question of the round before again.
    bool by_place = (state->naming == TARGET_PLACE || state->naming == TARGET_RANKED) &&
                    !state->latest->value && !state->latest->verify;
    if (by_place && blocks_chance(state, 0.15))
        return target.place ? "(%T|2:%p)" : "%T";
    bool largest = state->scene->object[target.object].size == BLOCKS_LARGE;
    if (state->naming == TARGET_SIZE && !blocks_kind_mask(target.kind) && blocks_chance(state, 0.4))
        return largest ? "(the|3:) (2:biggest|largest) (3:|one|thing)"
                       : "(the|3:) smallest (3:|one|thing)";
    return state->naming == TARGET_IT                  ? it
           : target.place && blocks_chance(state, 0.5) ? placed
                                                       : the;
}

// "and the cube": the question of the round before, of another thing.
const char *blocks_ask_and_attribute(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    const blocks_entry *before = state->latest;
    if (!before->value)
        return NULL;
    for (int e = 1; e < state->round - 1; e++)
        if (state->entry[e].value && state->entry[e].attribute != before->attribute &&
            !blocks_chance(state, 0.1))
            return NULL;
    blocks_target target;
    bool named = state->naming == TARGET_NAMED;
    if (!blocks_target_pick(state, 1u << before->attribute, &target))
        return NULL;
    // "the small one": the same kind as before but for its size.
    blocks_kind kind = before->kind;
    for (int a = BLOCKS_ATTRIBUTES - 1; named && a >= 0 && blocks_chance(state, 0.5); a--) {
        if (a == BLOCKS_SHAPE || kind.value[a] < 0 || kind.value[BLOCKS_SHAPE] < 0)
            continue;
        int value = (kind.value[a] + 1) % blocks_values((blocks_attribute)a);
        blocks_kind other = blocks_kind_with(kind, (blocks_attribute)a, value);
        int object = blocks_only(blocks_find(scene, other));
        if (object < 0 || state->known[object] >> before->attribute & 1)
            continue;
        target = (blocks_target){.object = object, .kind = other, .named = blocks_kind_mask(other)};
        kind = blocks_such((blocks_attribute)a, value);
        blocks_say(state, "t", blocks_noun(&state->rng, kind, BLOCKS_THE).text);
        break;
    }
    *draft = blocks_draft_about(target.family ? target.family : "attribute", ASK_VALUE, &target);
    draft->coreference = 1;
    draft->meaning.attribute = before->attribute;
    draft->topic = blocks_topic(TOPIC_ATTRIBUTE, before->attribute, target.object, 0);
    unsigned mask = blocks_kind_mask(target.kind);
    bool value = named && mask && !(mask & (mask - 1)) && mask != 1u << BLOCKS_SHAPE;
    if (value && blocks_chance(state, 0.4)) {
        blocks_attribute a = (blocks_attribute)__builtin_ctz(mask);
        blocks_say(state, "v", blocks_value_name(a, target.kind.value[a]));
        return "(3:and %v|3:%v|what about %v|how about %v)";
    }
    return "(6:and %t|4:what about %t|4:how about %t|2:and what about %t|2:and for %t|2:and that "
           "of %t|2:no(,|) i (mean|meant) %t|sorry(,|) i meant %t|not that one(,|) %t|no, %t|not "
           "that(,|) %t|i (mean|meant) %t|%t|2:%T)";
}

// "what is on the left | a red cube | and on the right"
const char *blocks_ask_and_what(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (state->latest->ask != ASK_WHICH || !blocks_target_pick(state, 1u << BLOCKS_SHAPE, &target))
        return NULL;
    static const char *const places[BLOCKS_DIRECTIONS] = {
        "(2:on the left|left|leftmost|furthest left)",
        "(2:on the right|right|rightmost|furthest right)",
        "(in (the|) front|(the|) closest|(the|) nearest)",
        "((in|at) the back|(the|) furthest (2:|away|back)|(the|) farthest)"};
    *draft = blocks_draft_about("superlative", ASK_WHICH, &target);
    draft->coreference = 1;
    draft->topic = blocks_topic(TOPIC_WHAT, target.object, 0, 0);
    blocks_phrase place = blocks_expansion(&state->rng, places[target.at - 1]);
    if (!blocks_kind_mask(target.kind) && blocks_chance(state, 0.6))
        blocks_say(state, "t", place.text);
    return "(4:and %t|2:what about %t|how about %t|%t|and what is %t)";
}

// "what is the leftmost thing | a red cube | and the next one"
const char *blocks_ask_and_next(blocks_state *state, blocks_draft *draft)
{
    const blocks_entry *before = state->latest;
    if (before->ask != ASK_WHICH || !before->at)
        return NULL;
    blocks_target target = {.kind = before->furthest_of, .family = "superlative", .coreference = 1};
    target.object = blocks_ranked(state->scene, blocks_find(state->scene, target.kind),
                                  (blocks_direction)(before->at - 1), 1);
    if (target.object < 0 || target.object == before->object)
        return NULL;
    *draft = blocks_draft_about(target.family, ASK_WHICH, &target);
    draft->topic = blocks_topic(TOPIC_WHAT, target.object, 0, 0);
    return "(3:and the next (3:one|thing|)|and then|what comes next|the next one|what is the next "
           "one|and (3:the second|the second one|the 2nd))";
}

// "biggest": of several large things the one that looks the largest
const char *blocks_ask_biggest(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    bool big = blocks_chance(state, 0.5);
    blocks_kind kind = blocks_such(BLOCKS_SIZE, big ? BLOCKS_LARGE : BLOCKS_SMALL);
    blocks_set such = blocks_find(scene, kind);
    double rank[BLOCKS_MAX], second; // the less, the more so
    for (int i = 0; i < scene->count; i++) {
        const double *box = scene->object[i].box;
        double area = (box[2] - box[0]) * (box[3] - box[1]);
        rank[i] = big ? -area : -1 / fmax(area, 1);
    }
    int object = blocks_least(such, rank, &second);
    if (second >= 0 || rank[object] > 1.15 * second || blocks_of_two(state) ||
        blocks_several_mentioned(state))
        return NULL;
    *draft = blocks_draft_new("superlative", ASK_WHICH);
    draft->meaning.objects = 1u << object;
    draft->meaning.partly = such;
    draft->meaning.given = 1u << BLOCKS_SIZE;
    draft->about = object;
    draft->other_thing = true;
    draft->topic = blocks_topic(TOPIC_WHAT, 100 + big, 0, 0);
    blocks_say(state, "s",
               blocks_expansion(&state->rng, big ? "(2:biggest|largest)" : "smallest").text);
    return "(2:(the|) %s|%s (one|thing|object)|what is the %s (thing|object)|who is the %s)";
}

// "and the cube", "what about the cube": the yes-or-no question of the round before.
const char *blocks_ask_and_verify(blocks_state *state, blocks_draft *draft)
{
    const blocks_entry *before = state->latest;
    if (!before->verify)
        return NULL;
    for (int e = 1; e < state->round - 1; e++)
        if ((state->entry[e].value || state->entry[e].verify) && !blocks_chance(state, 0.3))
            return NULL;
    blocks_target target;
    if (!blocks_target_pick(state, 1u << before->attribute, &target) ||
        target.object == before->object)
        return NULL;
    *draft = blocks_draft_about(target.family ? target.family : "verify", ASK_ONE, &target);
    draft->coreference = 1;
    int truth = blocks_value_of(state->scene, target.object, before->attribute);
    draft->meaning.yes = truth == before->asked;
    draft->meaning.attribute = before->attribute;
    draft->asked = before->asked;
    draft->topic = blocks_topic(TOPIC_VERIFY, before->attribute, target.object, before->asked);
    if (!draft->meaning.yes && before->attribute != BLOCKS_MATERIAL &&
        before->attribute != BLOCKS_SIZE && blocks_chance(state, 0.6))
        return NULL; // few things are red
    return "(2:and %t|3:what about %t|2:how about %t|and what about %t|is %t too|and is %t|(and|) "
           "%t too|same for %t|no(,|) i (mean|meant) %t|sorry(,|) i meant %t)";
}

// A kind that is not there: a cone, a green cone, a green thing. Of what the conversation has said
// already it seldom speaks.
static bool pick_no_such(blocks_state *state, blocks_kind *kind)
{
    static const blocks_attribute further[] = {BLOCKS_COLOR, BLOCKS_COLOR, BLOCKS_COLOR,
                                               BLOCKS_MATERIAL, BLOCKS_SIZE};
    *kind = blocks_anything;
    bool shape = blocks_chance(state, 0.85);
    if (shape)
        *kind = blocks_such(BLOCKS_SHAPE, vd_rng_below(&state->rng, BLOCKS_SHAPES));
    if (!shape || blocks_chance(state, 0.6)) {
        blocks_attribute a = BLOCKS_ONE_OF(state, further);
        *kind = blocks_kind_with(*kind, a, vd_rng_below(&state->rng, blocks_values(a)));
    }
    int told = blocks_known_number(state, *kind);
    return !blocks_find(state->scene, *kind) &&
           (told == -2 || (told == 0 && blocks_chance(state, 0.4)));
}

// "what color is the cone", "where is the green cone" where there is none.
const char *blocks_ask_no_such(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_kind kind;
    if (!pick_no_such(state, &kind))
        return NULL;
    int shape = kind.value[BLOCKS_SHAPE];
    blocks_attribute attribute = blocks_some_attribute(state);
    int missing = BLOCKS_SHAPES - blocks_distinct(scene, blocks_all(scene), BLOCKS_SHAPE);
    bool alone = blocks_kind_mask(kind) == 1u << BLOCKS_SHAPE,
         which = alone && missing == 1 && blocks_chance(state, 0.2);
    if (which)
        attribute = BLOCKS_SHAPE;
    else if (blocks_kind_mask(kind) >> attribute & 1)
        return NULL;
    *draft = blocks_draft_new("absent", ASK_VALUE);
    draft->meaning.attribute = attribute;
    draft->meaning.more = kind;
    draft->topic = blocks_topic(TOPIC_NO_SUCH, shape, kind.value[BLOCKS_COLOR], 0);
    draft->kind = kind;
    draft->kind_stated = true;
    blocks_say(state, "t", blocks_noun(&state->rng, kind, BLOCKS_THE).text);
    if (which)
        return "(3:(which|what) shape is (2:missing|not there|not in the picture)|which of the "
               "(four|4|) shapes is missing|(which|what) shape is there none of)";
    if (blocks_chance(state, 0.3))
        return "(6:where is %t|2:where's %t|where do you see %t|where exactly is %t)";
    two_values(state, attribute, vd_rng_below(&state->rng, blocks_values(attribute)));
    return attribute_patterns[attribute];
}

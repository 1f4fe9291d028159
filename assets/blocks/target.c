// How a question names what it is about: the red ball, the leftmost cube, it, the other one.
#include "assets/blocks/target.h"

#include <stdio.h>
#include <string.h>

// Masks of attributes (without those in hide) by which the object can be named and be alone.
static int unique_masks(const blocks_scene *scene, int object, unsigned hide, unsigned masks[15])
{
    int count = 0;
    for (unsigned mask = 1; mask < 16; mask++) {
        if (mask & hide)
            continue;
        if (blocks_number(scene, blocks_kind_of(&scene->object[object], mask)) == 1)
            masks[count++] = mask;
    }
    return count;
}

bool blocks_target_open(const blocks_state *state, int object, unsigned hide)
{
    return !hide || (state->known[object] & hide) != hide;
}

static int random_of(blocks_state *state, blocks_set set)
{
    int pick = vd_rng_below(&state->rng, blocks_size_of(set));
    for (int i = 0;; i++)
        if (blocks_has(set, i) && pick-- == 0)
            return i;
}

const char *blocks_pick_named(blocks_state *state, unsigned hide, blocks_target *target)
{
    *target = (blocks_target){.object = -1};
    blocks_set can = 0;
    unsigned masks[15];
    for (int i = 0; i < state->scene->count; i++)
        if (blocks_target_open(state, i, hide) && unique_masks(state->scene, i, hide, masks))
            can |= 1u << i;
    if (!can)
        return NULL;
    target->object = random_of(state, can);
    int count = unique_masks(state->scene, target->object, hide, masks);
    // Few words where they do; sometimes more, as people give them.
    static const double weight[5] = {0, 6, 4, 1, 0.2};
    double total = 0;
    for (int i = 0; i < count; i++) {
        bool spare = false;
        for (int j = 0; j < count; j++)
            spare |= j != i && (masks[j] & masks[i]) == masks[j];
        if (!spare || blocks_chance(state, 0.25))
            total += weight[__builtin_popcount(masks[i])];
        else
            masks[i] = 0;
    }
    double draw = vd_rng_uniform(&state->rng) * total;
    unsigned mask = 0;
    for (int i = 0; i < count && draw >= 0; i++) {
        if (!masks[i])
            continue;
        mask = masks[i];
        draw -= weight[__builtin_popcount(mask)];
    }
    target->kind = blocks_kind_of(&state->scene->object[target->object], mask);
    blocks_say(state, "k", blocks_noun(&state->rng, target->kind, BLOCKS_THE).text + 4);
    return blocks_chance(state, 0.03) ? "the only %k" : "the %k"; // "the only red ball"
}

bool blocks_several_mentioned(const blocks_state *state)
{
    bool several = state->they || state->groups;
    for (int i = 0; i < state->facts; i++)
        several |= state->fact[i].number > 1;
    return several;
}

bool blocks_of_two_others(const blocks_state *state, blocks_set set)
{
    return blocks_of_two(state) && state->both != set;
}

// "the cube that isn't red"
static const char *pick_not(blocks_state *state, unsigned hide, blocks_target *target)
{
    const blocks_scene *scene = state->scene;
    target->object = blocks_some_object(state);
    blocks_attribute of = blocks_chance(state, 0.8) ? BLOCKS_SHAPE : BLOCKS_COLOR;
    bool any = blocks_chance(state, 0.5); // "the thing that isn't a ball"
    blocks_attribute a = blocks_some_attribute(state);
    if ((!any && a == of) || hide & (1u << of | 1u << a) ||
        !blocks_target_open(state, target->object, hide))
        return NULL;
    target->kind = blocks_kind_of(&scene->object[target->object], any ? 0 : 1u << of);
    blocks_set such = blocks_find(scene, target->kind);
    blocks_set others = such & ~(1u << target->object);
    int value = blocks_shared(scene, others, a);
    if (value < 0 || value == blocks_value_of(scene, target->object, a))
        return NULL;
    blocks_phrase not = blocks_predicate(&state->rng, a, value);
    blocks_say(state, "kv", blocks_noun(&state->rng, target->kind, BLOCKS_BARE).text, not .text);
    return "the (3:|only) %k (2:that isn't|2:that is not|which is not|that's not) %v";
}

// "the other cube of the same size as the ball"
static const char *pick_alike(blocks_state *state, unsigned hide, blocks_target *target)
{
    const blocks_scene *scene = state->scene;
    blocks_target from;
    blocks_attribute a = blocks_some_attribute(state), named = blocks_some_attribute(state);
    if (hide >> a & 1 || !blocks_target_pick_named(state, 1u << a, &from))
        return NULL;
    blocks_set others = blocks_find(scene, blocks_kind_of(&scene->object[from.object], 1u << a)) &
                        ~(1u << from.object);
    if (!others)
        return NULL;
    target->object = random_of(state, others);
    if (!(hide >> named & 1) && named != a && blocks_chance(state, 0.6))
        target->kind = blocks_kind_of(&scene->object[target->object], 1u << named);
    if (blocks_only(others & blocks_find(scene, target->kind)) < 0 ||
        !blocks_target_open(state, target->object, hide))
        return NULL;
    target->family = "comparison";
    target->crowded = true;
    target->beside = from.object;
    target->beside_named = from.named;
    blocks_phrase word = blocks_attribute_word(&state->rng, a);
    blocks_phrase noun = blocks_noun(&state->rng, target->kind, BLOCKS_BARE);
    bool other =
        blocks_has(blocks_find(scene, target->kind), from.object) && blocks_chance(state, 0.5);
    blocks_say(state, "okvt", other ? "other" : "", noun.text, word.text, from.text);
    return "the %o %k (2:with the same %v as|2:that has the same %v as|of the same %v as) %t";
}

static const char *pick_it(blocks_state *state, unsigned hide, blocks_target *target)
{
    if (state->it < 0 || !blocks_target_open(state, state->it, hide))
        return NULL;
    if (!blocks_it_clear(state) && state->round - state->it_entry > 1)
        return NULL;
    target->object = state->it;
    target->coreference = state->round - state->it_entry;
    return "(16:it|2:that one|that|that thing|that object|this one|this thing)";
}

static const char *pick_next_to_it(blocks_state *state, unsigned hide, blocks_target *target)
{
    blocks_target from = {.object = -1, .kind = blocks_anything};
    return blocks_target_name(state, pick_it, 0, &from)
               ? blocks_pick_near(state, hide, &from, target)
               : NULL;
}

// Of all such things, is the object the one mentioned last?
static bool latest_of(const blocks_state *state, int object, blocks_set such)
{
    for (int i = 0; i < state->scene->count; i++)
        if (i != object && blocks_has(such, i) && state->mention[i] >= state->last[object])
            return false;
    return state->last[object] >= 0 && state->mention[object] == state->last[object];
}

// Is the object the only one that the words of the conversation so far call by this value?
static int cue_entry(const blocks_state *state, int object, unsigned word)
{
    int latest = -1;
    for (int e = 0; e < state->round; e++) {
        if (!(state->entry[e].words & word))
            continue;
        if (state->entry[e].object != object)
            return -1;
        latest = e;
    }
    return latest;
}

static const char *pick_that(blocks_state *state, unsigned hide, blocks_target *target)
{
    const blocks_scene *scene = state->scene;
    int start = blocks_some_object(state);
    for (int k = 0; k < scene->count; k++) {
        int object = (start + k) % scene->count;
        if (state->last[object] < 0 || !blocks_target_open(state, object, hide))
            continue;
        for (int j = 0; j < BLOCKS_ATTRIBUTES; j++) {
            static const blocks_attribute order[] = {BLOCKS_SHAPE, BLOCKS_COLOR, BLOCKS_SIZE,
                                                     BLOCKS_MATERIAL};
            blocks_attribute a = order[j];
            blocks_kind kind = blocks_kind_of(&scene->object[object], 1u << a);
            blocks_set such = blocks_find(scene, kind);
            if (hide >> a & 1 || blocks_size_of(such) < 2 || !latest_of(state, object, such) ||
                cue_entry(state, object, blocks_kind_words(kind)) < 0)
                continue;
            target->object = object;
            target->kind = kind;
            target->coreference = state->round - state->last[object];
            blocks_phrase noun = blocks_noun(&state->rng, kind, BLOCKS_THAT);
            blocks_say(state, "kb", noun.text, noun.text + 5);
            return "(8:%k|2:the %b (you|we) mentioned|the %b from before|the %b we talked "
                   "about|this %b|the same %b)";
        }
    }
    return NULL;
}

static const char *pick_before(blocks_state *state, unsigned hide, blocks_target *target)
{
    if (state->before < 0 || state->it < 0 || state->round - state->it_entry > 1 ||
        !blocks_target_open(state, state->before, hide))
        return NULL;
    target->object = state->before;
    target->coreference = state->round - state->last[state->before];
    bool first =
        state->singles == (1u << state->it | 1u << state->before) && state->last[state->before] > 0;
    return first && blocks_chance(state, 0.5)
               ? "(3:the first one|the first thing)"
               : "(2:the one before|the one before that|the previous one)";
}

// "what is behind it | a red cube | is that one big"
static const char *pick_answer(blocks_state *state, unsigned hide, blocks_target *target)
{
    int told = state->latest->named;
    if (told < 0 || !blocks_target_open(state, told, hide))
        return NULL;
    target->object = told;
    target->coreference = 1;
    if (state->latest->ask == ASK_WHICH)
        return state->it < 0 ? "(4:that one|4:it|2:that|that thing|that object|this one)"
                             : "(4:that one|2:that|that thing|that object|this one)";
    if (state->latest->ask == ASK_CHOICE)
        return state->it < 0 ? "(3:that one|3:it|that)" : "that one";
    if (state->it < 0)
        return "(4:that one|3:it|2:that|that thing|that other one|the other one|this one)";
    return "(4:that one|2:that|that thing|that other one|the other one|this one)";
}

// "the other cube": of the two there are, not the one just mentioned. "the other one": of the two
// mentioned last.
static const char *pick_other(blocks_state *state, unsigned hide, blocks_target *target)
{
    int last = state->round - 1, told = state->entry[last].named;
    // "which is bigger, the ball or the cube | the ball | what color is the other one"
    if (last > 0 && state->entry[last].ask == ASK_CHOICE && told >= 0 &&
        state->both_entry == last) {
        target->object = blocks_only(state->both & ~(1u << told));
        target->coreference = 1;
        return target->object >= 0 && blocks_target_open(state, target->object, hide)
                   ? "the other one"
                   : NULL;
    }
    if (state->it < 0 || state->it_entry != last || last < 1)
        return NULL;
    bool of_they = state->they && state->they_last == last && blocks_chance(state, 0.6);
    static const blocks_attribute named_by[] = {BLOCKS_SHAPE,    BLOCKS_SHAPE, BLOCKS_SHAPE,
                                                BLOCKS_SHAPE,    BLOCKS_COLOR, BLOCKS_COLOR,
                                                BLOCKS_MATERIAL, BLOCKS_SIZE};
    blocks_attribute a = BLOCKS_ONE_OF(state, named_by);
    target->kind =
        of_they ? state->they_kind : blocks_kind_of(&state->scene->object[state->it], 1u << a);
    blocks_set two = blocks_find(state->scene, target->kind);
    unsigned named = blocks_kind_mask(target->kind);
    if (blocks_size_of(two) != 2 || !blocks_has(two, state->it) || named & hide ||
        (named & state->known[state->it]) != named)
        return NULL;
    target->object = blocks_only(two & ~(1u << state->it));
    if (!blocks_target_open(state, target->object, hide))
        return NULL;
    target->coreference = 1;
    target->of_they = of_they;
    if (of_they)
        return "the other one";
    blocks_say(state, "ka", blocks_noun(&state->rng, target->kind, BLOCKS_BARE).text,
               blocks_value_name(a, target->kind.value[a]));
    return a != BLOCKS_SHAPE && blocks_chance(state, 0.5) ? "the other %a one" : "the other %k";
}

// "the third cube", "the third one": of three, two of which were mentioned one by one.
static const char *pick_third(blocks_state *state, unsigned hide, blocks_target *target)
{
    const blocks_scene *scene = state->scene;
    const bool of_two = blocks_of_two(state); // the two of the round before
    blocks_set told = of_two ? state->both : 0;
    for (int i = 0; i < scene->count && !of_two; i++)
        told |= state->last[i] > 0 ? 1u << i : 0;
    int some = blocks_some_object(state);
    bool all = scene->count == 3;
    target->kind = all ? blocks_anything : blocks_kind_of(&scene->object[some], 1u << BLOCKS_SHAPE);
    blocks_set three = blocks_find(scene, target->kind), left = three & ~told;
    target->object = blocks_only(left);
    bool latest = of_two || state->it_entry == state->round - 1;
    if (blocks_size_of(three) != 3 || target->object < 0 || !latest || state->round < 2 ||
        state->mention[target->object] >= 0 || !blocks_target_open(state, target->object, hide) ||
        (!all && hide & 1u << BLOCKS_SHAPE))
        return NULL;
    target->coreference = 1;
    blocks_say(state, "k", blocks_noun(&state->rng, target->kind, BLOCKS_BARE).text);
    return all ? "the (2:third|3rd) (4:one|3:thing|2:object)" : "the (3:third|3rd) %k";
}

// "how many of them are red | 2 | what color is the other one"
static const char *pick_remaining(blocks_state *state, unsigned hide, blocks_target *target)
{
    // "how many large things are there | 5 | what color is the other one": of all things
    bool of_all = state->latest->counted && !blocks_kind_mask(state->latest->whole) &&
                  !state->latest->rest && !blocks_they_narrowed(state);
    if (of_all || !blocks_remaining(state))
        return pick_third(state, hide, target);
    target->object = blocks_only(blocks_remaining(state));
    if (target->object < 0 || !blocks_target_open(state, target->object, hide))
        return NULL;
    target->coreference = 1;
    target->of_they = true;
    return blocks_they_narrowed(state)
               ? "(3:the other one|the remaining one|the last one|the one that is left)"
               : "(3:the other one|the remaining one)";
}

// Of things that were mentioned.
static const char *const one_at[BLOCKS_DIRECTIONS] = {
    "the (3:one on the left|2:left one|leftmost one|one furthest left|one to the left)",
    "the (3:one on the right|2:right one|rightmost one|one furthest right|one to the right)",
    "the (2:one in (the|) front|2:closest one|nearest one|front one|one at the front)",
    "the (2:one in the back|2:one at the back|farthest one|back one|one furthest away)"};

// "what color is the left ball | red | and the right one"
static const char *pick_opposite(blocks_state *state, unsigned hide, blocks_target *target)
{
    bool of_two = state->both_entry > 0 && !blocks_kind_mask(state->latest->furthest_of);
    if (!state->latest->at || of_two || blocks_kind_mask(state->latest->furthest_of) & hide)
        return NULL;
    blocks_direction direction = (blocks_direction)((state->latest->at - 1) ^ 1);
    target->kind = state->latest->furthest_of;
    target->object =
        blocks_extreme(state->scene, blocks_find(state->scene, target->kind), direction);
    if (target->object < 0 || !blocks_target_open(state, target->object, hide))
        return NULL;
    target->coreference = 1;
    target->at = 1 + (int)direction;
    target->family = "superlative";
    bool noun = blocks_kind_mask(target->kind) && blocks_chance(state, 0.25);
    blocks_say(state, "k", blocks_noun(&state->rng, target->kind, BLOCKS_BARE).text);
    return noun ? blocks_place_patterns[direction] : one_at[direction];
}

// One of those mentioned last: "the red one", "the one on the left".
static const char *pick_among(blocks_state *state, unsigned hide, blocks_target *target)
{
    const blocks_scene *scene = state->scene;
    blocks_set set = blocks_find(scene, state->they_kind);
    if (!state->they || state->round - state->they_last > 1 || blocks_they_narrowed(state) ||
        blocks_of_two_others(state, set) || blocks_size_of(set) < 2 ||
        blocks_kind_mask(state->they_kind) & hide)
        return NULL;
    target->coreference = state->round - state->they_entry;
    target->of_they = true;
    target->kind = state->they_kind;
    if (blocks_chance(state, 0.4)) {
        blocks_direction direction = blocks_some_direction(state);
        target->object = blocks_extreme(scene, set, direction);
        blocks_say(state, "k", blocks_expansion(&state->rng, one_at[direction]).text);
        target->family = "superlative";
    } else {
        blocks_attribute a = blocks_some_attribute(state);
        int some = random_of(state, set);
        if (target->kind.value[a] >= 0 || hide >> a & 1)
            return NULL;
        target->kind.value[a] = (int8_t)blocks_value_of(scene, some, a);
        target->object = blocks_only(blocks_find(scene, target->kind));
        blocks_kind such = blocks_such(a, target->kind.value[a]);
        blocks_phrase noun = blocks_noun(&state->rng, such, BLOCKS_THE);
        if (a == BLOCKS_SHAPE && strstr(noun.text, "one"))
            return NULL;
        blocks_say(state, "k", noun.text);
    }
    return target->object >= 0 && blocks_target_open(state, target->object, hide) ? "%k" : NULL;
}

bool blocks_target_write(blocks_state *state, const char *pattern, blocks_target *target)
{
    if (!pattern)
        return false;
    blocks_write(state, pattern, target->text, sizeof target->text);
    target->named |= blocks_kind_mask(target->kind);
    return true;
}

bool blocks_target_name(blocks_state *state, blocks_pick_fn *pick, unsigned hide,
                        blocks_target *target)
{
    *target = (blocks_target){.object = -1, .kind = blocks_anything};
    return blocks_target_write(state, pick(state, hide, target), target);
}

bool blocks_target_pick_named(blocks_state *state, unsigned hide, blocks_target *target)
{
    return blocks_target_name(state, blocks_pick_named, hide, target);
}

bool blocks_target_pick(blocks_state *state, unsigned hide, blocks_target *target)
{
    static blocks_pick_fn *const pick[] = {[TARGET_NAMED] = blocks_pick_named,
                                           [TARGET_PLACE] = blocks_pick_place,
                                           [TARGET_SIZE] = blocks_pick_size,
                                           [TARGET_NEIGHBOUR] = blocks_pick_neighbour,
                                           [TARGET_NEXT_TO_IT] = pick_next_to_it,
                                           [TARGET_NOT] = pick_not,
                                           [TARGET_ALIKE] = pick_alike,
                                           [TARGET_IT] = pick_it,
                                           [TARGET_THAT] = pick_that,
                                           [TARGET_BEFORE] = pick_before,
                                           [TARGET_ANSWER] = pick_answer,
                                           [TARGET_AMONG] = pick_among,
                                           [TARGET_RANKED] = blocks_pick_ranked,
                                           [TARGET_OTHER] = pick_other,
                                           [TARGET_REMAINING] = pick_remaining,
                                           [TARGET_OPPOSITE] = pick_opposite};
    bool found = blocks_target_name(state, pick[state->naming], hide, target);
    blocks_say(state, "t", target->text);
    return found;
}

// "the left one", "the right one": of the group, or of the two things, mentioned last
static bool pick_two_places(blocks_state *state, unsigned hide, blocks_target target[2])
{
    static const char *const names[][BLOCKS_DIRECTIONS] = {
        {"the left one", "the right one", "the front one", "the back one"},
        {"the one on the left", "the one on the right", "the one in front", "the one in the back"},
        {"the left", "the right", "the front one", "the one in the back"}};
    const blocks_scene *scene = state->scene;
    bool both = state->naming == TARGET_BOTH;
    blocks_kind kind = both ? blocks_anything : state->they_kind;
    blocks_set two = both ? state->both : blocks_find(scene, kind);
    if (both ? !blocks_of_two(state)
             : !state->they || state->round - state->they_last > 1 || blocks_they_narrowed(state) ||
                   blocks_of_two_others(state, two) || blocks_size_of(two) != 2 ||
                   blocks_kind_mask(kind) & hide)
        return false;
    static const int often[] = {0, 0, 1, 1, 2};
    const char *const *name = names[BLOCKS_ONE_OF(state, often)];
    int first = vd_rng_below(&state->rng, 4), at[2];
    first = first == 3 ? BLOCKS_FRONT + vd_rng_below(&state->rng, 2) : first % 2;
    for (int i = 0; i < 2; i++) {
        at[i] = first ^ i;
        target[i] = (blocks_target){.kind = kind,
                                    .coreference = both ? 1 : state->round - state->they_entry,
                                    .of_they = !both,
                                    .family = "superlative"};
        target[i].object = blocks_extreme(scene, two, (blocks_direction)at[i]);
        target[i].named = blocks_kind_mask(kind);
        target[i].sides = at[i] <= BLOCKS_RIGHT;
        target[i].rows = !target[i].sides;
        snprintf(target[i].text, sizeof target[i].text, "%s", name[at[i]]);
        if (target[i].object < 0 || !blocks_target_open(state, target[i].object, hide))
            return false;
    }
    return true;
}

static bool pick_two(blocks_state *state, unsigned hide, blocks_target target[2])
{
    if (state->naming == TARGET_BOTH)
        return pick_two_places(state, hide, target);
    if (state->naming == TARGET_AMONG && blocks_chance(state, 0.5) &&
        pick_two_places(state, hide, target))
        return true;
    // "is it bigger than the other cube"
    bool other = state->naming == TARGET_IT && blocks_chance(state, 0.3);
    bool (*const pick)(blocks_state *, unsigned, blocks_target *) =
        state->naming == TARGET_AMONG ? blocks_target_pick : blocks_target_pick_named;
    if (!blocks_target_pick(state, hide, &target[0]))
        return false;
    return ((other && blocks_target_name(state, pick_other, hide, &target[1])) ||
            pick(state, hide, &target[1])) &&
           target[0].object != target[1].object;
}

bool blocks_two_targets(blocks_state *state, unsigned hide, blocks_target target[2])
{
    bool found = pick_two(state, hide, target);
    if (found)
        blocks_say(state, "tu", target[0].text, target[1].text);
    return found;
}

blocks_draft blocks_about_two(const blocks_state *state, const char *family, blocks_ask ask,
                              const blocks_target target[2])
{
    blocks_draft draft = blocks_draft_about(family, ask, &target[0]);
    draft.named[target[1].object] = target[1].named;
    draft.both = 1u << target[0].object | 1u << target[1].object;
    draft.meaning.sides = target[0].sides;
    draft.meaning.rows = target[0].rows;
    if (state->naming != TARGET_IT) {
        draft.single = -1;
        draft.crowded = true;
    }
    return draft;
}

blocks_draft blocks_draft_about(const char *family, blocks_ask ask, const blocks_target *target)
{
    blocks_draft draft = blocks_draft_new(family, ask);
    draft.coreference = target->coreference;
    draft.meaning.objects = 1u << target->object;
    draft.meaning.given = target->named;
    draft.named[target->object] = target->named;
    draft.single = target->object;
    if (ask == ASK_VALUE || ask == ASK_ONE || ask == ASK_WHICH)
        draft.about = target->object;
    draft.crowded = target->crowded;
    if (target->beside_named)
        draft.named[target->beside] |= target->beside_named;
    draft.target = target->kind;
    draft.at = target->at;
    draft.of_they = target->of_they;
    return draft;
}

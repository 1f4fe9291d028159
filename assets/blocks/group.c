// What a question about several things is about: those mentioned last, the others of them, what was
// just found, or a kind.
#include "assets/blocks/state.h"

#include <stdio.h>

blocks_group blocks_group_of(const blocks_state *state, blocks_kind kind)
{
    return (blocks_group){
        .kind = kind, .set = blocks_find(state->scene, kind), .key = blocks_kind_key(kind)};
}

static void say_pronouns(blocks_state *state, const char *they, const char *them)
{
    blocks_phrase subject = blocks_expansion(&state->rng, they);
    blocks_say(state, "gm", subject.text, blocks_expansion(&state->rng, them).text);
}

// The same for both.
static void say_noun(blocks_state *state, const char *pattern, const char *noun)
{
    char text[BLOCKS_PHRASE];
    blocks_expand(&state->rng, text, sizeof text, pattern, "p", noun);
    blocks_say(state, "gm", text, text);
}

bool blocks_group_they(blocks_state *state, blocks_group *g)
{
    if (state->they && !blocks_they_clear(state) && state->round - state->they_last > 1)
        return false;
    *g = blocks_group_of(state, state->they ? state->they_kind : blocks_anything);
    g->coreference = state->they ? state->round - state->they_entry : 0;
    if (!state->they) {
        // Nobody mentioned a group, or of two things: "they" is what lies on the table.
        int named = 0;
        for (int i = 0; i < state->scene->count; i++)
            named += state->mention[i] >= 0;
        if (state->groups || named > 1 || blocks_several_mentioned(state))
            return false;
    }
    say_pronouns(state, "(6:they|those)", "(4:them|2:those|these)");
    return blocks_size_of(g->set) >= 2;
}

static bool pick_kind(blocks_state *state, blocks_group *g)
{
    static const unsigned char masks[] = {2, 2, 2, 1, 1, 4, 8, 6, 10};
    int some = blocks_some_object(state);
    *g = blocks_group_of(state,
                         blocks_kind_of(&state->scene->object[some], BLOCKS_ONE_OF(state, masks)));
    g->named = true;
    blocks_phrase noun = blocks_noun(&state->rng, g->kind, BLOCKS_THE_MANY);
    blocks_say(state, "b", noun.text + 4);
    // "the two big ones"
    int number = blocks_size_of(g->set);
    bool told = (number == 2 || number == 3) && blocks_chance(state, 0.2);
    say_noun(state,
             !told         ? "the %p"
             : number == 2 ? "the (2:two|2) %p"
                           : "the (2:three|3) %p",
             noun.text + 4);
    return number >= 2;
}

bool blocks_they_narrowed(const blocks_state *state)
{
    return state->they && state->they_last == state->round - 1 && state->latest->counted &&
           !blocks_kind_same(state->latest->kind, state->they_kind);
}

// Those mentioned last; right after "how many of them are red" those that are.
bool blocks_group_latest(blocks_state *state, blocks_group *g)
{
    if (!blocks_group_they(state, g))
        return false;
    if (!blocks_they_narrowed(state))
        return true;
    g->kind = state->latest->kind;
    g->set = blocks_find(state->scene, g->kind);
    g->key = blocks_kind_key(g->kind);
    g->coreference = 1;
    g->narrowed = true;
    return blocks_size_of(g->set) >= 2;
}

// "what is behind it | a red cube | are they the same size": the two that the round before was
// about.
static bool pick_both(blocks_state *state, blocks_group *g)
{
    if (!blocks_of_two(state))
        return false;
    *g =
        (blocks_group){.kind = blocks_anything, .set = state->both, .coreference = 1, .both = true};
    g->key = -1 - (int64_t)state->both;
    // Where a group was mentioned before, "they" might be that.
    if (blocks_several_mentioned(state))
        say_pronouns(state, "(2:those two|these two|the two of them)", "(2:those two|these two)");
    else
        say_pronouns(state, "(5:they|2:those two)", "(4:them|2:the two|those two)");
    return true;
}

blocks_set blocks_remaining(const blocks_state *state)
{
    const blocks_entry *before = state->latest;
    blocks_kind counted = before->kind;
    if (before->counted && !blocks_find(state->scene, counted))
        return 0; // of none there are no others
    // "which of the cubes is closest | the red one | what color are the others"
    if (before->rest)
        return before->rest;
    // "how many of the cubes are red | 2 | what color are the others"
    if (before->counted && blocks_kind_mask(before->whole))
        return blocks_find(state->scene, before->whole) & ~blocks_find(state->scene, counted);
    // "how many red things are there | 4 | what color are the others": of all things
    if (before->counted && __builtin_popcount(blocks_kind_mask(counted)) == 1 &&
        (!state->they || blocks_kind_same(state->they_kind, counted)))
        return blocks_all(state->scene) & ~blocks_find(state->scene, counted);
    return blocks_they_narrowed(state)
               ? blocks_find(state->scene, state->they_kind) & ~blocks_find(state->scene, counted)
               : 0;
}

// "what color is the white cube | what color are the other two cubes": of a kind, those beside the
// one just mentioned
static bool pick_besides_it(blocks_state *state, blocks_group *g)
{
    const blocks_scene *scene = state->scene;
    if (state->it < 0 || state->it_entry != state->round - 1 || state->it_entry < 1)
        return false;
    blocks_attribute a = blocks_chance(state, 0.75) ? BLOCKS_SHAPE : BLOCKS_COLOR;
    blocks_kind kind = blocks_kind_of(&scene->object[state->it], 1u << a);
    blocks_set others = blocks_find(scene, kind) & ~(1u << state->it);
    int number = blocks_size_of(others);
    if (number < 2 || !(state->known[state->it] >> a & 1))
        return false;
    *g = (blocks_group){.kind = kind, .set = others, .coreference = 1, .remaining = true};
    g->key = -200000 - (int64_t)state->it * 16 - a;
    // "what color is the biggest cube | and the other two"
    bool bare = a == BLOCKS_SHAPE && number < 4 && state->latest->kind.value[a] >= 0 &&
                blocks_chance(state, 0.4);
    say_noun(state,
             bare          ? (number == 2 ? "the other (2:two|2)" : "the other (2:three|3)")
             : number == 2 ? "the other (3:|two|2) %p"
             : number == 3 ? "the other (3:|three|3) %p"
                           : "the other %p",
             blocks_noun(&state->rng, kind, BLOCKS_THE_MANY).text + 4);
    return true;
}

// "how many of them are red | 2 | what color are the others"
static bool pick_remaining(blocks_state *state, blocks_group *g)
{
    static const char *const how_many[] = {"", "", "(2|two)", "(3|three)"};
    blocks_kind whole = state->latest->whole;
    if (blocks_they_narrowed(state))
        whole = state->they_kind;
    *g = (blocks_group){.kind = whole, .coreference = 1, .remaining = true, .found = true};
    g->set = blocks_remaining(state);
    g->key = -100000 - blocks_kind_key(state->latest->kind);
    int number = blocks_size_of(g->set);
    if (number < 2)
        return false;
    char pattern[160];
    const char *many = number < 4 ? how_many[number] : "ones";
    // "the other two cubes"
    if (whole.value[BLOCKS_SHAPE] >= 0 && blocks_chance(state, 0.3)) {
        blocks_phrase noun = blocks_noun(&state->rng, whole, BLOCKS_THE_MANY);
        snprintf(pattern, sizeof pattern, "(3:the other|the remaining) %s %%p",
                 number < 4 ? blocks_expansion(&state->rng, many).text : "");
        say_noun(state, number < 4 ? pattern : "the other %p", noun.text + 4);
        return true;
    }
    snprintf(pattern, sizeof pattern,
             "(3:the others|2:the other %s|the rest|the remaining %s|the remaining ones|the rest "
             "of them|the other ones)",
             many, many);
    say_noun(state, pattern, NULL);
    return true;
}

// "are there any other red things | yes | what are they"
static bool pick_found(blocks_state *state, blocks_group *g)
{
    *g =
        (blocks_group){.kind = blocks_anything, .coreference = 1, .remaining = true, .found = true};
    g->set = state->they ? 0 : state->latest->found;
    g->key = -300000 - (int64_t)g->set;
    int number = blocks_size_of(g->set);
    const char *many =
        number == 2 ? "(2:those two|these two)" : "(2:those three|those 3|these three)";
    bool told = number <= 3 && blocks_chance(state, 0.25);
    // "is it the only red one | no | what are the others"
    if (state->latest->ask == ASK_POLAR && blocks_chance(state, 0.6))
        many = "(3:the others|2:the other ones)", told = true;
    say_pronouns(state, told ? many : "(5:they|2:those|these)",
                 told ? many : "(4:them|2:those|these)");
    return number >= 2;
}

bool blocks_group_pick(blocks_state *state, blocks_group *g)
{
    return state->naming == TARGET_BOTH        ? pick_both(state, g)
           : state->naming == TARGET_REMAINING ? pick_remaining(state, g)
           : state->naming == TARGET_BESIDES   ? pick_besides_it(state, g)
           : state->naming == TARGET_FOUND     ? pick_found(state, g)
           : state->naming == TARGET_IT        ? blocks_group_latest(state, g)
                                               : pick_kind(state, g);
}

blocks_draft blocks_group_draft(const blocks_group *g, const char *family, blocks_ask ask,
                                blocks_set objects)
{
    blocks_draft draft = blocks_draft_new(family, ask);
    draft.coreference = g->coreference;
    draft.meaning.objects = objects;
    draft.meaning.given = blocks_kind_mask(g->kind);
    draft.plural = g->named;
    draft.group = g->named || g->narrowed;
    draft.of_they = !g->named && !g->both;
    draft.both = g->both || (g->remaining && blocks_size_of(g->set) == 2) ? g->set : 0;
    draft.other_group = g->remaining;
    draft.of_found = g->found;
    draft.of_both = g->both;
    if (draft.group)
        draft.kind = g->kind;
    return draft;
}

int blocks_group_value(blocks_state *state, const blocks_group *g, blocks_attribute a)
{
    for (;;) {
        int some = blocks_some_object(state);
        if (blocks_has(g->set, some) || blocks_chance(state, 0.25))
            return blocks_value_of(state->scene, some, a);
    }
}

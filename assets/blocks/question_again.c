// The question of the round before asked again, of another kind: "how many cubes are there | 2 |
// and balls".
#include "assets/blocks/state.h"

#include <stdio.h>
#include <string.h>

enum { TOPIC_KIND = 16, TOPIC_ALL_ARE = 64, TOPIC_TOGETHER = 145 };

// "how many red cubes are there | 2 | and blue": the value in which two kinds differ, where that is
// one and no shape, else NULL.
static const char *other_value(blocks_kind before, blocks_kind now)
{
    int differ = -1;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++) {
        if (before.value[a] == now.value[a])
            continue;
        if (differ >= 0)
            return NULL;
        differ = a;
    }
    return differ < 0 || differ == BLOCKS_SHAPE
               ? NULL
               : blocks_value_name((blocks_attribute)differ, now.value[differ]);
}

// The kind named before but for one attribute, no shape: "red cubes", "blue cubes".
static bool vary(blocks_state *state, blocks_ask ask, blocks_draft *draft)
{
    blocks_kind kind = state->latest->kind;
    blocks_attribute a = blocks_some_attribute(state);
    if (a == BLOCKS_SHAPE || kind.value[a] < 0 || blocks_kind_mask(kind) == 1u << a)
        return false;
    int some = blocks_some_object(state);
    kind.value[a] = (int8_t)blocks_value_of(state->scene, some, a);
    blocks_set such = blocks_find(state->scene, kind);
    if (kind.value[a] == state->latest->kind.value[a] || blocks_known_number(state, kind) != -2 ||
        (!such && blocks_chance(state, 0.6)))
        return false;
    *draft = blocks_about_kind(ask == ASK_COUNT ? "count" : "exist", ask, state->scene, kind);
    draft->meaning.yes = such != 0;
    return true;
}

// The same question of another kind that differs in what was named then.
static bool again(blocks_state *state, blocks_ask_fn *ask, blocks_draft *draft)
{
    unsigned mask = blocks_kind_mask(state->latest->kind);
    for (int attempt = 0; attempt < 6; attempt++)
        if (vary(state, state->latest->exist ? ASK_THERE : ASK_COUNT, draft))
            return true;
    for (int attempt = 0; mask && attempt < 12; attempt++)
        if (blocks_make(state, ask, draft) && blocks_kind_mask(draft->kind) == mask)
            return true;
    return false;
}

// "are all the cubes red | no | same for the balls"
const char *blocks_ask_and_all(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    const blocks_entry *before = state->latest;
    if (before->ask != ASK_ALL)
        return NULL;
    blocks_attribute attribute = before->attribute;
    unsigned mask = 1u << (blocks_chance(state, 0.7) ? BLOCKS_SHAPE : BLOCKS_COLOR);
    blocks_kind kind = blocks_some_kind(state, mask);
    blocks_set set = blocks_find(scene, kind);
    if (mask >> attribute & 1 || blocks_size_of(set) < 2 || blocks_kind_same(kind, before->kind))
        return NULL;
    bool yes = blocks_shared(scene, set, attribute) == before->asked;
    if (!yes && attribute <= BLOCKS_COLOR && !blocks_chance(state, 0.3))
        return NULL;
    *draft = blocks_about_kind("verify", ASK_ALL, scene, kind);
    draft->coreference = 1;
    draft->meaning.yes = yes;
    draft->asked = before->asked;
    draft->meaning.attribute = attribute;
    draft->meaning.number = blocks_number(scene, blocks_kind_with(kind, attribute, before->asked));
    draft->topic = blocks_topic(TOPIC_ALL_ARE, blocks_kind_key(kind), attribute, 0);
    blocks_say(state, "m", blocks_noun(&state->rng, kind, BLOCKS_THE_MANY).text);
    return "(3:same for %m|3:and %m|2:what about %m|how about %m|and are %m too|%m too|is that so "
           "for %m|and what about %m|are %m too)";
}

// "how many", after an is there that was answered with yes, or after what there is most of.
const char *blocks_ask_how_many(blocks_state *state, blocks_draft *draft)
{
    bool most = state->latest->ask == ASK_MOST && blocks_kind_mask(state->latest->answer_value);
    blocks_kind kind = most ? state->latest->answer_value : state->latest->kind;
    if (!(state->latest->exist || most) ||
        (most ? blocks_known_number(state, kind) >= 0 : blocks_known_number(state, kind) != -1))
        return NULL;
    for (int e = 1; e < state->round - 1; e++)
        if (state->entry[e].exist && blocks_find(state->scene, state->entry[e].kind) &&
            !blocks_chance(state, 0.3))
            return NULL;
    *draft = blocks_about_kind("count", ASK_COUNT, state->scene, kind);
    draft->coreference = 1;
    draft->topic = blocks_topic(TOPIC_KIND, blocks_kind_key(kind), 1, 0);
    return "(3:how many|2:how many are there|how many of them|how many do you see|how many of them "
           "are there)";
}

// "what color is it | red | how many things have that color"
const char *blocks_ask_that_value(blocks_state *state, blocks_draft *draft)
{
    static const char *const patterns[BLOCKS_ATTRIBUTES] = {
        [BLOCKS_COLOR] = ("(3:how many (things|objects) have that (3:color|colour)|2:how many "
                          "(things|objects|) are that (3:color|colour)|how many (things|objects) "
                          "(are there of|are there in|of) that color)"),
        [BLOCKS_SHAPE] = ("(2:how many (things|objects) have that shape|how many (things|objects) "
                          "(are there of|of) that shape|how many are that shape)"),
        [BLOCKS_MATERIAL] =
            ("(how many (things|objects) are (there|) made of that|how many (things|objects) are "
             "made of that (material|stuff)|how many (things|objects) have that material)"),
        [BLOCKS_SIZE] = ("(how many (things|objects) (have|are) that size|how many are that "
                         "size|how many (things|objects) are there of that size)"),
    };
    unsigned mask = blocks_kind_mask(state->latest->answer_value);
    if (!mask || blocks_known_number(state, state->latest->answer_value) >= 0)
        return NULL;
    *draft = blocks_about_kind("count", ASK_COUNT, state->scene, state->latest->answer_value);
    draft->coreference = 1;
    return patterns[__builtin_ctz(mask)];
}

// "and balls", after a how many.
const char *blocks_ask_and_count(blocks_state *state, blocks_draft *draft)
{
    if (!state->latest->count || !again(state, blocks_ask_count, draft))
        return NULL;
    draft->coreference = 1;
    const char *other = other_value(state->latest->kind, draft->kind);
    if (other && blocks_chance(state, 0.6)) {
        blocks_say(state, "v", other);
        return "(4:and %v|3:%v|what about %v|how about %v|and how many %v|2:and %v ones|%v "
               "ones|2:and how many %v ones|how many %v ones|and the %v ones)";
    }
    blocks_phrase many = blocks_noun(&state->rng, draft->kind, BLOCKS_PLURAL);
    blocks_say(state, "pt", many.text, blocks_noun(&state->rng, draft->kind, BLOCKS_THE_MANY).text);
    return "(3:and %p|2:and %t|2:what about %p|2:how about %p|what about %t|and how many %p|%p|%p "
           "then|how many %p then|no(,|) i (mean|meant) %p|sorry(,|) i meant %p)";
}

// "how many cubes are there | 2 | and balls | 3 | how many is that together"
const char *blocks_ask_together(blocks_state *state, blocks_draft *draft)
{
    const blocks_entry *last = state->latest;
    const blocks_entry *before = last - 1;
    if (state->round < 3 || !last->counted || !before->counted || last->ask != ASK_COUNT ||
        before->ask != ASK_COUNT || (state->round > 3 && (before - 1)->ask == ASK_COUNT))
        return NULL;
    blocks_set one = blocks_find(state->scene, before->kind);
    blocks_set two = blocks_find(state->scene, last->kind);
    if (!one || !two || one & two)
        return NULL;
    *draft = blocks_draft_new("count", ASK_COUNT);
    blocks_ask_for(draft, one | two);
    draft->coreference = 2;
    draft->other_group = draft->other_thing = true;
    draft->topic = blocks_topic(TOPIC_TOGETHER, state->round, 0, 0);
    return "(3:how many is that (4:together|2:in total|2:altogether|in all|in sum)|how many "
           "(are|is) (that|those|they) together|(and|so|) (together|in total|altogether|in "
           "sum)|2:total|(and|) how many (together|in total|altogether|of both|are both)|(and|) "
           "what is the (sum|total)|sum|(and|) both together|and the (sum|total)|makes how many|so "
           "(that's|) how many in total|what is (that|it) together|and all together|so that "
           "makes|that makes|altogether|what's the (sum|total)|add them (up|together))";
}

// "what about a ball", after an is there.
const char *blocks_ask_and_exist(blocks_state *state, blocks_draft *draft)
{
    if (!state->latest->exist || !again(state, blocks_ask_exist, draft))
        return NULL;
    draft->coreference = 1;
    draft->group = draft->plural = false;
    blocks_phrase one = {""};
    const char *other = other_value(state->latest->kind, draft->kind);
    if (other)
        snprintf(one.text, sizeof one.text, "a%s %s one", strchr("aeiou", other[0]) ? "n" : "",
                 other);
    if (other && blocks_chance(state, 0.7)) {
        blocks_say(state, "vw", other, one.text);
        return "(4:how about %v|2:what about %v|2:and %v|or %v|%v|3:what about %w|2:and %w|%w|how "
               "about %w|2:and any %v ones|%v one|any %v ones)";
    }
    blocks_say(state, "a", blocks_noun(&state->rng, draft->kind, BLOCKS_A).text);
    return "(3:what about %a|2:and %a|or %a|how about %a)";
}

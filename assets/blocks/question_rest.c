// What is left over: those that are not so ("are they all red | no | which ones aren't"), what
// there is besides the cubes, what else has that color.
#include "assets/blocks/state.h"

enum { TOPIC_NOT_SO = 140, TOPIC_WHAT_BESIDES, TOPIC_THAT_COLOR, MOST_LISTED = 4 };
enum { TOPIC_WHAT_ELSE = 146, TOPIC_ABOUT_OTHERS, TOPIC_SURE, TOPIC_THAT_ALL };

bool blocks_list_draft(const blocks_state *state, blocks_set set, blocks_draft *draft)
{
    int number = blocks_size_of(set), only = blocks_only(set);
    if (!number || number > MOST_LISTED || blocks_distinct(state->scene, set, BLOCKS_SHAPE) > 3)
        return false;
    *draft = blocks_draft_new("attribute", number > 1 ? ASK_SHARED : ASK_WHICH);
    draft->meaning.objects = set;
    draft->meaning.attribute = number > 1 ? BLOCKS_SHAPE : BLOCKS_ATTRIBUTES;
    draft->single = draft->about = only;
    draft->plural = draft->other_thing = number > 1;
    draft->other_group = draft->of_found = true;
    return true;
}

// "are all the cubes metal | no | which ones aren't", "how many aren't"
const char *blocks_ask_not_so(blocks_state *state, blocks_draft *draft)
{
    blocks_set set = state->latest->not_so;
    int number = blocks_size_of(set);
    if (!set)
        return NULL;
    if (blocks_chance(state, 0.4)) {
        *draft = blocks_draft_new("count", ASK_COUNT);
        draft->coreference = 1;
        blocks_ask_for(draft, set);
        draft->plural = draft->other_group = true;
        draft->topic = blocks_topic(TOPIC_NOT_SO, set, 1, 0);
        return "(and|so|4:) how many (4:|of them|of those) (3:aren't|2:are not)";
    }
    if (!blocks_list_draft(state, set, draft))
        return NULL;
    draft->coreference = 1;
    draft->topic = blocks_topic(TOPIC_NOT_SO, set, 0, 0);
    return number > 1 ? "(and|so|4:) (4:which ones|2:which|which of them|what are the ones that) "
                        "(3:aren't|2:are not)"
                      : "(and|so|4:) (4:which one|2:which|which of them|what is the one that) "
                        "(3:isn't|2:is not)";
}

// "what is there besides the cubes"
const char *blocks_ask_what_besides(blocks_state *state, blocks_draft *draft)
{
    unsigned mask = 1u << (blocks_chance(state, 0.7) ? BLOCKS_SHAPE : BLOCKS_COLOR);
    blocks_kind kind = blocks_some_kind(state, mask);
    blocks_set such = blocks_find(state->scene, kind);
    if (!blocks_list_draft(state, blocks_all(state->scene) & ~such, draft))
        return NULL;
    draft->topic = blocks_topic(TOPIC_WHAT_BESIDES, blocks_kind_key(kind), 0, 0);
    blocks_article article = blocks_only(such) < 0 ? BLOCKS_PLURAL : BLOCKS_BARE;
    blocks_say(state, "p", blocks_noun(&state->rng, kind, article).text);
    blocks_say(state, "b",
               blocks_expansion(&state->rng, "(3:besides|2:apart from|other than)").text);
    return "(2:what (2:|else) is there %b the %p|what (2:|else) is on the table %b the %p|%b the "
           "%p, what (2:|else) is there|what do you see %b the %p)";
}

// "which of them is biggest | the red cone | what else is that color"
const char *blocks_ask_that_color(blocks_state *state, blocks_draft *draft)
{
    int one = state->latest->named;
    if (one < 0 && state->round > 1 && state->it_entry == state->round - 1)
        one = state->it;
    if (one < 0)
        return NULL;
    blocks_kind kind = blocks_kind_of(&state->scene->object[one], 1u << BLOCKS_COLOR);
    if (blocks_known_number(state, kind) >= 0 ||
        !blocks_list_draft(state, blocks_find(state->scene, kind) & ~(1u << one), draft))
        return NULL;
    for (int i = 0; i < state->scene->count; i++) // of those that were mentioned none is meant
        if (blocks_has(draft->meaning.objects, i) && state->mention[i] >= 0)
            return NULL;
    draft->coreference = 1;
    draft->meaning.given = 1u << BLOCKS_COLOR;
    draft->topic = blocks_topic(TOPIC_THAT_COLOR, one, 0, 0);
    blocks_say(state, "c", blocks_attribute_word(&state->rng, BLOCKS_COLOR).text);
    return draft->plural ? "(and|so|4:) (4:what else (2:is|has) that %c|2:what else has the same "
                           "%c|what else is the same %c|which other (things|objects) have "
                           "(that|the same) %c|what other (things|objects) are that %c)"
                         : "(and|so|4:) (4:what else (2:is|has) that %c|2:what else has the same "
                           "%c|what else is the same %c|which other (thing|object) has (that|the "
                           "same) %c|what other (thing|object) is that %c)";
}

// "are there only cubes | no | what else is there", "how many cubes are there | 3 | what else": all
// things of other kinds
const char *blocks_ask_what_else(blocks_state *state, blocks_draft *draft)
{
    const blocks_entry *before = state->latest;
    blocks_set set = before->left_out;
    unsigned mask = blocks_kind_mask(before->kind);
    bool found = before->counted || (before->exist && before->yes);
    if (!set && found && (mask == 1u << BLOCKS_SHAPE || mask == 1u << BLOCKS_COLOR) &&
        !blocks_kind_mask(before->whole) && blocks_find(state->scene, before->kind))
        set = blocks_all(state->scene) & ~blocks_find(state->scene, before->kind);
    if (!blocks_list_draft(state, set, draft))
        return NULL;
    draft->coreference = 1;
    draft->topic = blocks_topic(TOPIC_WHAT_ELSE, set, 0, 0);
    // After "are there any cubes" these might be others of the cubes.
    if (draft->plural && !before->exist && blocks_chance(state, 0.15))
        return "(2:and the (rest|others)|what about the rest)";
    return draft->plural
               ? "(and|so|4:) (4:what else is there|2:what else|2:what else do you see|what else "
                 "is (on the table|in the picture)|what other (things|objects) are there|what are "
                 "the other (ones|things|objects)|what else is in it|which others)"
               : "(and|so|4:) (4:what else is there|2:what else|2:what else do you see|what else "
                 "is (on the table|in the picture)|what is the other (one|thing|object))";
}

// "how many of the cubes are metal | 2 | what about the others", "are they all red | no | and the
// others": the attribute that was asked for
const char *blocks_ask_about_others(blocks_state *state, blocks_draft *draft)
{
    const blocks_entry *before = state->latest;
    blocks_set set = before->not_so;
    unsigned mask = 0;
    if (before->counted && before->ask == ASK_COUNT) {
        blocks_kind whole = blocks_they_narrowed(state) ? state->they_kind : before->whole;
        set = blocks_kind_mask(whole) || blocks_they_narrowed(state) ? blocks_remaining(state) : 0;
        mask = blocks_kind_mask(before->kind) & ~blocks_kind_mask(whole);
    }
    blocks_attribute a = before->not_so ? before->attribute
                         : mask         ? (blocks_attribute)__builtin_ctz(mask)
                                        : BLOCKS_ATTRIBUTES;
    if (!set || a == BLOCKS_ATTRIBUTES || mask & (mask - 1) ||
        blocks_distinct(state->scene, set, a) > 3)
        return NULL;
    int only = blocks_only(set);
    *draft = blocks_draft_new("attribute", only < 0 ? ASK_SHARED : ASK_VALUE);
    draft->coreference = 1;
    draft->meaning.objects = set;
    draft->meaning.attribute = a;
    draft->single = draft->about = only;
    draft->plural = draft->other_thing = only < 0;
    draft->other_group = draft->of_found = true;
    draft->topic = blocks_topic(TOPIC_ABOUT_OTHERS, set, a, 0);
    return only < 0 ? "(3:what about|2:and|how about|and what about) the (4:others|2:rest|other "
                      "ones|remaining ones)"
                    : "(3:what about|2:and|how about|and what about) the (4:other one|remaining "
                      "one|other|last one)";
}

// "what color is it | red | are you sure": yes
const char *blocks_ask_sure(blocks_state *state, blocks_draft *draft)
{
    if (state->round < 2)
        return NULL;
    *draft = blocks_draft_new("verify", ASK_POLAR);
    draft->coreference = 1;
    draft->meaning.yes = true;
    draft->topic = blocks_topic(TOPIC_SURE, state->round, 0, 0);
    return "(6:are you (2:|really|quite|very) sure|4:really|3:sure|you sure|is that "
           "(right|so|correct|true)|are you certain|certain|positive|no doubt|are you sure about "
           "that|you are sure|is it really so|for real|seriously)";
}

// "what shapes do you see | cubes and balls | is that all", "anything else"
const char *blocks_ask_that_all(blocks_state *state, blocks_draft *draft)
{
    static const char *const plural[BLOCKS_ATTRIBUTES] = {"colors", "shapes", "materials", "sizes"};
    if (!state->latest->complete)
        return NULL;
    bool all = blocks_chance(state, 0.5);
    *draft = blocks_draft_new("another", ASK_POLAR);
    draft->coreference = 1;
    draft->meaning.yes = all;
    draft->topic = blocks_topic(TOPIC_THAT_ALL, state->round, 0, 0);
    blocks_say(state, "s", plural[state->latest->attribute]);
    return all ? "(4:is that all|are (those|these|that) all|that's all|(is|are) (that|those) all "
                 "(the|of the) %s|no others|no other %s|nothing else|so only those)"
               : "(3:anything else|2:any more|2:any others|any other %s|are there any other %s|any "
                 "more %s|is there any other|are there more)";
}

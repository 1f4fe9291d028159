// Questions about parts of the picture: is there anything on the left, how many cubes are in the
// back.
#include "assets/blocks/state.h"

#include <stdlib.h>

enum { TOPIC_PART = 150 };

// A part of the picture and a kind of things there.
typedef struct part {
    blocks_direction direction;
    blocks_kind kind;
    blocks_set such, there, doubtful; // all of the kind; those in the part; those near the middle
    const char *place;                // a pattern
} part;

static part draw_part(blocks_state *state)
{
    static const char *const places[BLOCKS_DIRECTIONS] = {
        "(6:on the left|2:on the left side|on the left hand side|on the left half|in the left "
        "half|on the left side of the (picture|table)|at the left)",
        "(6:on the right|2:on the right side|on the right hand side|on the right half|in the right "
        "half|on the right side of the (picture|table)|at the right)",
        "(3:in the front|2:at the front|in the foreground|in the front half|up front|in the front "
        "part of the picture)",
        "(3:in the back|2:at the back|in the background|in the back half|in the back part of the "
        "picture)"};
    static const unsigned masks[] = {0, 0, 1, 1, 2, 2, 4, 8};
    part p = {.direction = blocks_some_direction(state)};
    p.kind = blocks_some_kind(state, BLOCKS_ONE_OF(state, masks));
    p.place = places[p.direction];
    p.such = blocks_find(state->scene, p.kind);
    p.there = blocks_part(state->scene, p.direction, &p.doubtful) & p.such;
    p.doubtful &= p.such;
    return p;
}

// %p are the things, %a one of them, %k without an article, %h the place.
static void say_part(blocks_state *state, blocks_draft *draft, const part *p)
{
    blocks_say(state, "p", blocks_noun(&state->rng, p->kind, BLOCKS_PLURAL).text);
    blocks_say(state, "a", blocks_noun(&state->rng, p->kind, BLOCKS_A).text);
    blocks_say(state, "k", blocks_noun(&state->rng, p->kind, BLOCKS_BARE).text);
    blocks_say(state, "h", blocks_expansion(&state->rng, p->place).text);
    draft->topic = blocks_topic(TOPIC_PART, (int)p->direction, blocks_kind_key(p->kind),
                                draft->meaning.ask == ASK_COUNT);
}

// "is there anything on the left", "is there a cube in the back"
const char *blocks_ask_part_exist(blocks_state *state, blocks_draft *draft)
{
    part p = draw_part(state);
    bool any = !blocks_kind_mask(p.kind), yes = p.there != 0;
    if ((!yes && p.doubtful) || (any && yes && !blocks_chance(state, 0.5)))
        return NULL;
    *draft = blocks_draft_new("relation", ASK_THERE);
    blocks_ask_for(draft, p.there);
    draft->meaning.given = blocks_kind_mask(p.kind);
    draft->implied = blocks_only(p.there);
    draft->other_group = true;
    draft->other_thing = yes;
    draft->plural = !any && blocks_chance(state, 0.4);
    say_part(state, draft, &p);
    if (any)
        return "(6:is there anything %h|2:is anything %h|4:is there something %h|2:do you see "
               "anything %h|2:anything %h|something %h|can you see anything %h|is there an object "
               "%h)";
    return draft->plural
               ? "(4:are there any %p %h|2:are there %p %h|2:any %p %h|do you see any %p %h)"
               : "(4:is there %a %h|2:is there any %k %h|2:any %k %h|do you see %a %h|%a %h)";
}

// "how many cubes are on the left"
const char *blocks_ask_part_count(blocks_state *state, blocks_draft *draft)
{
    part p = draw_part(state);
    bool any = !blocks_kind_mask(p.kind);
    if (p.doubtful || (!p.there && !blocks_chance(state, 0.4)))
        return NULL;
    *draft = blocks_draft_new("relation", ASK_COUNT);
    blocks_ask_for(draft, p.there);
    draft->meaning.given = blocks_kind_mask(p.kind);
    draft->other_group = true;
    say_part(state, draft, &p);
    return any ? "(4:how many (2:things|objects) are %h|how many (things|objects) %h|2:how many "
                 "%h|how many are %h|number of (things|objects) %h|how many (things|objects) do "
                 "you see %h)"
               : "(5:how many %p are %h|2:how many %p are there %h|2:how many %p %h|number of %p "
                 "%h|how many %p do you see %h|%h, how many %p are there)";
}

// "what things are on the left": a few
const char *blocks_ask_part_what(blocks_state *state, blocks_draft *draft)
{
    part p = draw_part(state);
    if (blocks_kind_mask(p.kind) || p.doubtful || blocks_size_of(p.there) < 2 ||
        !blocks_list_draft(state, p.there, draft))
        return NULL;
    say_part(state, draft, &p);
    return "(2:what (things|objects) are %h|which (things|objects) are %h|what (things|objects) do "
           "you see %h|what are the (things|objects) %h|what all is %h)";
}

// "are there more things on the left or on the right"
const char *blocks_ask_part_more(blocks_state *state, blocks_draft *draft)
{
    blocks_set left_doubtful, right_doubtful;
    int left = blocks_size_of(blocks_part(state->scene, BLOCKS_LEFT, &left_doubtful));
    int right = blocks_size_of(blocks_part(state->scene, BLOCKS_RIGHT, &right_doubtful));
    int difference = left - right, middle = state->scene->count - left - right;
    if (abs(difference) <= middle)
        return NULL;
    *draft = blocks_draft_new("comparison", ASK_SIDE);
    draft->meaning.toward = difference > 0 ? BLOCKS_LEFT : BLOCKS_RIGHT;
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_PART, 50, 0, 0);
    return "(3:are there more (things|objects) on the left or on the right|2:more on the left or "
           "(on|) the right|(which|what) side has more (things|objects)|on which side are (there|) "
           "more (things|objects)|more (things|objects) on the right or (on|) the left|where are "
           "(there|) more (things|objects), left or right)";
}

// "which cube is on the left"
const char *blocks_ask_which_at(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick(state, 0, &target) || !target.at || !blocks_kind_mask(target.kind))
        return NULL;
    *draft = blocks_draft_about("superlative", ASK_CHOICE, &target);
    draft->meaning.among = blocks_find(state->scene, target.kind);
    draft->meaning.toward = target.at - 1;
    draft->about = target.object;
    draft->topic = blocks_topic(TOPIC_PART, 60, target.object, 0);
    blocks_phrase one = blocks_noun(&state->rng, target.kind, BLOCKS_BARE);
    blocks_phrase many = blocks_noun(&state->rng, target.kind, BLOCKS_PLURAL);
    blocks_say(state, "kmp", one.text, many.text,
               blocks_expansion(&state->rng, blocks_place_words(&target)).text);
    return "(3:which %k is %p|which of the %m is %p|what %k is %p)";
}

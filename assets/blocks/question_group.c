// Questions about several things: those mentioned last ("how many of them are metal") or a kind
// named ("what color are the cubes").
#include "assets/blocks/state.h"

#include <stdio.h>

enum {
    TOPIC_KIND = 16,
    TOPIC_THEY_ALL = 64,
    TOPIC_THEY_WHAT,
    TOPIC_THEY_ANY,
    TOPIC_OTHERS,
    TOPIC_THEY_NOT,
    TOPIC_REST,
    TOPIC_THEY_NUMBER = 90,
    TOPIC_THEY_PAIR,
    TOPIC_WHICH_ARE,
    TOPIC_THERE_ARE
};

// An attribute that does not name the group and has not been stated of all of it.
static bool draw_open(blocks_state *state, const blocks_group *g, blocks_attribute *a)
{
    *a = blocks_some_attribute(state);
    bool told = true;
    for (int i = 0; i < state->scene->count; i++)
        told &= !blocks_has(g->set, i) || state->known[i] >> *a & 1;
    return g->kind.value[*a] < 0 && (!told || (g->both && blocks_chance(state, 0.3)));
}

// %v and %w: what the question says of the group and of one of them.
static void say_value(blocks_state *state, blocks_attribute a, int value)
{
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a, value).text);
    blocks_say(state, "w", blocks_predicate(&state->rng, a, value).text);
}

// "how many are red" would be of all things but right after a round (not the caption) about these.
static bool told_of(const blocks_state *state)
{
    return state->they && state->they_entry > 0 && state->they_last == state->round - 1;
}

const char *blocks_ask_they_count(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a;
    if (!blocks_group_they(state, &g) || !draw_open(state, &g, &a))
        return NULL;
    int value = blocks_group_value(state, &g, a);
    blocks_kind kind = blocks_kind_with(g.kind, a, value);
    if (blocks_known_number(state, kind) >= 0)
        return NULL;
    *draft = blocks_group_draft(&g, "count", ASK_COUNT, blocks_find(state->scene, kind));
    draft->meaning.number = blocks_size_of(draft->meaning.objects);
    draft->kind = kind;
    draft->kind_stated = true;
    draft->topic = blocks_topic(TOPIC_KIND, blocks_kind_key(kind), 0, 0);
    blocks_phrase predicate = blocks_predicate_many(&state->rng, a, value);
    blocks_say(state, "wvo", predicate.text,
               blocks_noun(&state->rng, blocks_such(a, value), BLOCKS_PLURAL).text,
               blocks_value_name(a, value));
    // The caption's group is named by a pronoun only: "how many are red" would be of all things.
    bool told = told_of(state);
    if (told && a != BLOCKS_SHAPE && blocks_chance(state, 0.15))
        return state->latest->counted
                   ? "(2:how many %o ones|and %o ones|%o ones|and how many %o ones|2:how many %w)"
                   : "(2:how many %o ones|and how many %o ones|how many %w)";
    if (!told || blocks_chance(state, 0.1))
        return told ? "(how many %v are there among %m|how many %v among %m|of %m, how many %v)"
                    : "(6:how many of %m are %w|how many %v are there among %m|of those, how many "
                      "are %w)";
    return "(8:how many of %m are %w|2:how many are %w|of those, how many are %w|and how many of "
           "%m are %w|and of %m, how many are %w|how many of %m would you say are %w|and how many "
           "are %w)";
}

// "2 of them are red, right", "is only one of them red"
const char *blocks_ask_they_tally(blocks_state *state, blocks_draft *draft)
{
    static const char *const numbers[] = {"", "", "(2|two)", "(3|three)", "(4|four)", "(5|five)"};
    blocks_group g;
    blocks_attribute a;
    if (!blocks_group_they(state, &g) || !draw_open(state, &g, &a))
        return NULL;
    blocks_kind kind = g.kind;
    int value = blocks_group_value(state, &g, a);
    kind.value[a] = (int8_t)value;
    blocks_set some = blocks_find(state->scene, kind);
    int number = blocks_size_of(some);
    bool yes = blocks_chance(state, 0.5), more = blocks_chance(state, 0.5);
    int asked = yes ? number : more ? number + 1 : number - 1;
    if (blocks_known_number(state, kind) >= 0 || asked < 1 || asked > 5 ||
        number == blocks_size_of(g.set))
        return NULL;
    *draft = blocks_group_draft(&g, "verify", ASK_POLAR, some);
    draft->meaning.yes = yes;
    draft->meaning.number = number;
    draft->kind = kind;
    draft->kind_stated = draft->tallied = yes;
    draft->topic = blocks_topic(TOPIC_KIND, blocks_kind_key(kind), 2, 0);
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a, value).text);
    if (asked == 1) {
        blocks_say(state, "w", blocks_predicate(&state->rng, a, value).text);
        return "(is (only|just|exactly) one of %m %w|only one of %m is %w, (right|correct))";
    }
    // Of three "two of them" is true too, unless it is only these.
    snprintf(state->pattern, sizeof state->pattern,
             asked < number
                 ? "(are (only|just|exactly) %s of %%m %%v|only %s of %%m are %%v, (right|correct))"
                 : "(2:%s of %%m are %%v, (right|correct)|are %s of %%m %%v)",
             numbers[asked], numbers[asked]);
    return state->pattern;
}

// "how many of them are not red"
const char *blocks_ask_they_not(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a;
    if (!blocks_group_they(state, &g) || !draw_open(state, &g, &a))
        return NULL;
    int value = blocks_group_value(state, &g, a);
    blocks_kind kind = blocks_kind_with(g.kind, a, value);
    if (blocks_known_number(state, kind) >= 0)
        return NULL;
    blocks_set others = g.set & ~blocks_find(state->scene, kind);
    *draft = blocks_group_draft(&g, "count", ASK_COUNT, others);
    draft->meaning.number = blocks_size_of(others);
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_THEY_NOT, blocks_kind_key(kind), 0, 0);
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a, value).text);
    return told_of(state) ? "(4:how many of %m are not %v|2:how many of %m aren't %v|2:how many "
                            "are not %v|3:how many aren't %v|and how many aren't %v)"
                          : "(4:how many of %m are not %v|2:how many of %m aren't %v)";
}

const char *blocks_ask_they_all(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a;
    if (!(state->naming == TARGET_NAMED ? blocks_group_latest(state, &g)
                                        : blocks_group_pick(state, &g)) ||
        !draw_open(state, &g, &a))
        return NULL;
    bool yes = blocks_chance(state, 0.5);
    // They are seldom all of one color: as few noes are asked for.
    static const double no[BLOCKS_ATTRIBUTES] = {0.3, 0.5, 1, 1};
    int value = blocks_group_value(state, &g, a), shared = blocks_shared(state->scene, g.set, a);
    if (!yes && !blocks_chance(state, no[a]))
        return NULL;
    if (yes && shared >= 0)
        value = shared;
    if ((shared == value) != yes)
        return NULL;
    *draft = blocks_group_draft(&g, "verify", ASK_ALL, g.set);
    draft->meaning.yes = yes;
    draft->meaning.attribute = a;
    blocks_kind such = blocks_such(a, value);
    draft->asked = value;
    draft->meaning.number = blocks_size_of(blocks_find(state->scene, such) & g.set);
    draft->topic = blocks_topic(TOPIC_THEY_ALL, g.key, a, 0);
    say_value(state, a, value);
    bool both = blocks_size_of(g.set) == 2 && !g.remaining && blocks_chance(state, 0.4);
    return both ? "(2:are they both %v|are both of %m %v|both %v|both of %m %v|are both %v)"
                : "(6:are %g all %v|4:are all of %m %v|2:are %g %v|all of %m %v|is each of %m "
                  "%w|is every one of %m %w|(so|) %g are all %v, (right|correct)|%g are %v, "
                  "(right|then|correct)|(and|) %g, are they (all|) %v|2:(so|) all of %m are "
                  "%v(2:|, right|, correct))";
}

// "is everything else red", "is everything but the cube red"
const char *blocks_ask_rest(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    blocks_attribute a = blocks_some_attribute(state);
    bool yes = blocks_chance(state, 0.5);
    // The others are seldom of one color: as few noes are asked for.
    static const double no[BLOCKS_ATTRIBUTES] = {0.2, 0.25, 0.7, 0.7};
    if ((!yes && !blocks_chance(state, no[a])) || !blocks_target_pick(state, 0, &target))
        return NULL;
    blocks_set rest = blocks_all(state->scene) & ~(1u << target.object);
    blocks_group g = {.kind = blocks_anything, .set = rest};
    int shared = blocks_shared(state->scene, rest, a), value = blocks_group_value(state, &g, a);
    if (yes && shared >= 0)
        value = shared;
    if (blocks_size_of(rest) < 2 || (shared == value) != yes)
        return NULL;
    *draft = blocks_draft_about("verify", ASK_ALL, &target);
    draft->meaning.objects = rest;
    draft->meaning.given = 0;
    draft->meaning.yes = yes;
    draft->meaning.attribute = a;
    draft->meaning.number = blocks_size_of(blocks_find(state->scene, blocks_such(a, value)) & rest);
    draft->asked = value;
    draft->single = -1;
    draft->crowded = draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_REST, target.object, a, value);
    say_value(state, a, value);
    const char *but = "(3:besides|2:other than|apart from|3:except|except for|3:but|aside from)";
    blocks_say(state, "b", blocks_expansion(&state->rng, but).text);
    bool rest_of_it =
        state->naming == TARGET_IT && blocks_it_clear(state) && blocks_chance(state, 0.6);
    // "the others" of a group would be those of the group.
    if (rest_of_it && !state->they && !state->groups && blocks_chance(state, 0.5))
        return "(are all the others %v|are the others all %v|are all (of|) the others %v)";
    return rest_of_it ? "(3:is everything else %w|is everything else (also %w|%w too)|are all the "
                        "other (things|objects) %v)"
                      : "(4:is everything %b %t %w|is everything else %b %t %w|2:are all "
                        "(things|objects) %b %t %v|are all the (things|objects) %b %t %v|2:(so|) "
                        "%b %t, is everything (else|) %w)";
}

// "how many", of those mentioned last: "are they all red | yes | how many"
const char *blocks_ask_they_number(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    const blocks_entry *before = state->latest;
    bool all = before->ask == ASK_ALL || before->ask == ASK_SAME || before->ask == ASK_SHARED;
    if (!blocks_they_clear(state) || !all || !before->yes || !blocks_group_they(state, &g) ||
        blocks_known_number(state, g.kind) >= 0)
        return NULL;
    *draft = blocks_group_draft(&g, "count", ASK_COUNT, g.set);
    draft->meaning.number = blocks_size_of(g.set);
    draft->kind = g.kind;
    draft->kind_stated = draft->group = draft->plural = true;
    draft->topic = blocks_topic(TOPIC_THEY_NUMBER, g.key, 0, 0);
    return "(3:how many|2:how many are there|how many of %m|how many of %m are there|and how many)";
}

// Of two things, in the negative, or with the group before the question; NULL: none of these.
static const char *same_otherwise(blocks_state *state, blocks_draft *draft, const blocks_group *g,
                                  bool both)
{
    if (g->both && !state->they && !state->groups && blocks_chance(state, 0.12))
        return "(and|) (2:the|) same %v (2:|too)";
    if (g->both)
        return "(6:are %g (both|) (of|) the same %v|3:do %g (both|) have the same %v|do %g share "
               "the same %v|do %g (also|) match in %v|and are %g the same %v)";
    if (blocks_chance(state, 0.1)) {
        draft->meaning.ask = ASK_POLAR;
        draft->meaning.yes = !draft->meaning.yes;
        return "(2:are %g different %vs|2:do %g have different %vs|do %g differ in %v|are %g "
               "different in %v|are %g of different %v)";
    }
    if (blocks_chance(state, 0.06) && !both && (g->named || !g->remaining))
        return g->named ? "(is the %v the same for all of %m|is the %v of %m (all|) the same)"
                        : "(is their %v (all|) the same|is the %v the same for all of %m|and the "
                          "%v, is it the same for all of %m)";
    if (blocks_chance(state, 0.08) && !g->named && !g->remaining && state->they &&
        state->they_last == state->round - 1 && state->both_entry < state->they_last)
        return "all (the|) same %v";
    if (blocks_chance(state, 0.06) && (g->named || g->remaining))
        return "(and|now|) %g, (do they (all|) have|are they (all|)) (2:the|) same %v (3:|as each "
               "other)";
    return NULL;
}

// "are they the same color", "are the cubes the same color"
const char *blocks_ask_group_same(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a;
    if (!blocks_group_pick(state, &g) || !draw_open(state, &g, &a))
        return NULL;
    *draft = blocks_group_draft(&g, "verify", ASK_SAME, g.set);
    draft->meaning.yes = blocks_shared(state->scene, g.set, a) >= 0;
    draft->meaning.attribute = a;
    draft->topic = blocks_topic(TOPIC_THEY_ALL, g.key, a, 100);
    blocks_say(state, "v", blocks_attribute_word(&state->rng, a).text);
    bool both = blocks_size_of(g.set) == 2 && !g.remaining && blocks_chance(state, 0.4);
    if (a == BLOCKS_MATERIAL && !g.both && blocks_chance(state, 0.3))
        return both ? "(are %g both made of the same (stuff|material|thing)|are both of %m made of "
                      "the same (stuff|material))"
                    : "are %g (2:|all) made of the same (2:stuff|2:material|thing)";
    if (both && g.named && blocks_chance(state, 0.4))
        return "((i see|there are|i can see) (2:2|two) %b, are they (both|) (of|) the same "
               "%v|2:are the (2|two) %b (of|) the same %v|do the (2|two) %b have the same %v)";
    bool again = !g.named && !g.remaining && state->latest->ask == ASK_SAME;
    if (again && blocks_chance(state, 0.7))
        return "(2:what about their %v, (also|) the same|and their %v, (also|) the same|and their "
               "%v too|2:and the same %v|and are %g the same %v|and of the same %v|the same %v "
               "too)";
    const char *otherwise = same_otherwise(state, draft, &g, both);
    if (otherwise)
        return otherwise;
    if (both)
        return "(are both of %m the same %v|do both of %m have the same %v|are both of %m of the "
               "same %v)";
    return "(6:are %g (2:all|) the same %v|2:do %g (all|) have the same %v|%g have (the|) same "
           "%v|4:are all of %m the same %v|are %g (equal|alike|identical) in %v|are %g of "
           "(equal|identical) %v|are %g (all|) of the same %v|do %g (all|) share (the same|one) "
           "%v|do %g (all|) match in %v|do all of %m have the same %v|all of %m the same %v)";
}

const char *blocks_ask_they_any(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a;
    bool yes = blocks_chance(state, 0.5);
    if (!blocks_group_they(state, &g))
        return NULL;
    for (int attempt = 0; attempt < 6; attempt++) {
        if (!draw_open(state, &g, &a))
            continue;
        int value = blocks_group_value(state, &g, a);
        if (!yes)
            value = vd_rng_below(&state->rng, blocks_values(a));
        blocks_kind kind = blocks_kind_with(g.kind, a, value);
        blocks_set some = blocks_find(state->scene, kind);
        if ((some != 0) != yes || blocks_known_number(state, kind) != -2)
            continue;
        *draft = blocks_group_draft(&g, "exist", ASK_ANY, some);
        draft->meaning.yes = yes;
        draft->meaning.given |= 1u << a;
        draft->kind = kind;
        draft->kind_stated = true;
        draft->plural = true;
        draft->about = blocks_only(some);
        if (draft->about >= 0)
            draft->named[draft->about] = draft->meaning.given;
        draft->topic = blocks_topic(TOPIC_THEY_ANY, blocks_kind_key(kind), 0, 0);
        say_value(state, a, value);
        blocks_say(state, "po", blocks_noun(&state->rng, blocks_such(a, value), BLOCKS_PLURAL).text,
                   blocks_value_name(a, value));
        if (blocks_chance(state, 0.15))
            return "(are there any %p among %m|any %p among %m)";
        bool latest = blocks_they_clear(state) && state->they_last == state->round - 1 &&
                      state->latest->ask != ASK_COUNT;
        if (latest && a != BLOCKS_SHAPE && blocks_chance(state, 0.3))
            return "(2:are there any %o ones|any %o ones|is there one that is %o|%o ones)";
        if (blocks_size_of(g.set) == 2 && blocks_chance(state, 0.3))
            return "(3:is either of %m %w|are either of %m %w)";
        return "(6:are any of %m %v|3:is any of %m %w|2:is one of %m (2:|also) %w (2:|too)|are "
               "some of %m %v|is at least one of %m %w|any of %m %v)";
    }
    return NULL;
}

// "their color", and "which color" right after what "they" are was said; NULL: in whole sentences.
static const char *ask_their(blocks_state *state, const blocks_group *g, blocks_attribute a)
{
    static const char *const plural[BLOCKS_ATTRIBUTES] = {"(3:colors|colours)", "shapes",
                                                          "materials", "sizes"};
    bool own = !g->named && !g->both && (!g->remaining || state->naming == TARGET_FOUND) &&
               state->latest->ask != ASK_SAME;
    if (own && blocks_chance(state, 0.12)) {
        blocks_say(state, "v", blocks_attribute_word(&state->rng, a).text);
        return "(2:what is their %v|what's their %v|and their %v|what about their %v|their %v)";
    }
    if (own && blocks_chance(state, 0.15)) {
        blocks_say(state, "v", blocks_expansion(&state->rng, plural[a]).text);
        return "(2:their %v|2:what are their %v|and their %v|what are the %v|(state|list|name|tell "
               "me|give me) (2:their|the) %v)";
    }
    // "are they the same color | yes | which color"
    const blocks_entry *before = state->latest;
    bool same = before->ask == ASK_SAME && before->attribute == a && before->yes;
    bool brief = !g->named && !g->both && !g->remaining && state->they &&
                 state->they_last == state->round - 1 && state->it_entry < state->they_last;
    if (brief && !same && blocks_chance(state, 0.1)) {
        blocks_say(state, "v", blocks_expansion(&state->rng, plural[a]).text);
        return "(3:%v|and %v|which %v|what %v)";
    }
    if (brief && blocks_chance(state, same ? 0.6 : 0.12)) {
        blocks_say(state, "v", blocks_attribute_word(&state->rng, a).text);
        return same ? "(3:which %v|3:what %v|and which %v|and what %v|which %v is (it|that)|what "
                      "%v is (it|that))"
                    : "(which %v|2:what %v|and what %v)";
    }
    return NULL;
}

// "what color are they", "what color are the cubes"
const char *blocks_ask_group_what(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a;
    if (!blocks_group_pick(state, &g) || !draw_open(state, &g, &a))
        return NULL;
    // A few values are named one by one.
    int values = blocks_distinct(state->scene, g.set, a);
    bool listed = values <= BLOCKS_LISTED && a <= BLOCKS_SHAPE;
    if (values > 1 && !listed && !blocks_chance(state, 0.3))
        return NULL;
    *draft = blocks_group_draft(&g, "attribute", ASK_SHARED, g.set);
    draft->meaning.attribute = a;
    draft->topic = blocks_topic(TOPIC_THEY_WHAT, g.key, a, 0);
    bool counted = state->latest->counted &&
                   (blocks_kind_mask(state->latest->whole) || blocks_they_narrowed(state));
    if (state->naming == TARGET_REMAINING && counted && a == BLOCKS_SHAPE &&
        blocks_chance(state, 0.3))
        return "(which ones|which|which of them) (aren't|are not)";
    const char *brief = ask_their(state, &g, a);
    if (brief)
        return brief;
    static const char *const led[BLOCKS_ATTRIBUTES] = {
        "(what color are (they|those)|which colors do they have|what colors are they)",
        "(what shape are (they|those)|what are they)",
        "(what are they made of|are they metal or rubber|are they shiny or matte)",
        "(how big are they|are they big or small)"};
    if (g.named && blocks_chance(state, 0.16)) {
        blocks_say(state, "v", blocks_expansion(&state->rng, led[a]).text);
        return "(2:look at|how about|what about|now look at|take|now|and|see) %g, %v";
    }
    // "list the cubes": by their colors.
    if (g.named && a == BLOCKS_COLOR && g.kind.value[BLOCKS_SHAPE] >= 0 &&
        blocks_chance(state, 0.5))
        return "(3:list (all|) the %b|2:list (all|) %b|name (all|) the %b|(which|what) %b are "
               "there|(which|what) %b do you see)";
    static const char *const patterns[BLOCKS_ATTRIBUTES] = {
        "(5:what (3:color|colour) are %g|2:what colors are %g|what are the colors of "
        "%m|(what|which) colors (have %m|do %g have)|what color do %g have|(what|which) "
        "(color|colors) %g have|%m, (what|which) color)",
        "(4:what shape are %g|what shapes are %g|(what|which) shape have %m|%m, (what|which) "
        "shape|(what|which) shape %g have|what shape do %g have|what shapes do %g have|4:what are "
        "%g|and what are %g|(which|what kind of) (things|objects|shapes) are %g)",
        ("(8:what are %g made of|2:what material are %g|2:are %g metal or rubber|which material "
         "are %g|are %g (shiny or matte|rubber or metal)|what are %g all made of)"),
        "(3:how big are %g|what size are %g|are %g big or small)"};
    return patterns[a];
}

// "what shapes are there", "what colors do you see"
const char *blocks_ask_what_are_there(blocks_state *state, blocks_draft *draft)
{
    static const blocks_attribute asked[] = {BLOCKS_SHAPE, BLOCKS_SHAPE, BLOCKS_COLOR, BLOCKS_COLOR,
                                             BLOCKS_MATERIAL};
    static const char *const names_of[] = {"(4:colors|colours|different colors)",
                                           "(4:shapes|kinds of shapes|different shapes)",
                                           "(4:materials|different materials)"};
    static const char *const bare[] = {"colors", "shapes", "materials"};
    blocks_attribute a = BLOCKS_ONE_OF(state, asked);
    *draft = blocks_draft_new("attribute", ASK_SHARED);
    draft->meaning.objects = blocks_all(state->scene);
    draft->meaning.attribute = a;
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_THERE_ARE, a, 0, 0);
    blocks_say(state, "vb", blocks_expansion(&state->rng, names_of[a]).text, bare[a]);
    // Right after a group was mentioned, it would be the group's.
    bool theirs = state->round > 1 && ((state->they && state->they_last == state->round - 1) ||
                                       state->latest->ask == ASK_COUNT || state->latest->found);
    if (!theirs && blocks_chance(state, 0.4))
        return "(2:what are (all|) the %v|3:%b|2:which %v|2:what %v|all (the|) %v|list (the|) "
               "%v|%b please|and the %b)";
    return "(4:what %v are there|2:what %v do you see|what %v can you see|2:what %v are in the "
           "picture|what %v are on the table|which %v are there|which %v do you see|(list|name) "
           "all the %v|which %v are in the picture|(what|which) %v are (in it|in "
           "there|here|present|shown|used|visible)|(what|which) %v does (it|the picture) "
           "(have|contain|show)|(what|which) %v occur)";
}

// "what are the big ones made of | rubber | and the small ones": the kind that differs from the one
// just named in one attribute, by which it is named alone.
static void pick_opposite(blocks_state *state, blocks_kind kind, blocks_group *g)
{
    blocks_attribute a = blocks_some_attribute(state);
    if (kind.value[a] < 0)
        return;
    blocks_kind other = blocks_such(a, blocks_other_value(state, a, kind.value[a]));
    *g = blocks_group_of(state, blocks_kind_with(kind, a, other.value[a]));
    g->named = true;
    blocks_say(state, "m", blocks_noun(&state->rng, other, BLOCKS_THE_MANY).text);
    // What is named must be what is meant.
    if (blocks_find(state->scene, other) != g->set)
        g->set = 0;
}

// "what color is the ball | red | and the cubes", "and the other two balls"
const char *blocks_ask_and_group(blocks_state *state, blocks_draft *draft)
{
    const blocks_entry *before = state->latest;
    blocks_group g;
    if (!before->value || !blocks_group_pick(state, &g))
        return NULL;
    if (g.named && blocks_chance(state, 0.6))
        pick_opposite(state, before->kind, &g);
    if (blocks_size_of(g.set) < 2 || g.kind.value[before->attribute] >= 0 ||
        (before->object >= 0 && blocks_has(g.set, before->object)))
        return NULL;
    if (blocks_distinct(state->scene, g.set, before->attribute) > BLOCKS_LISTED &&
        !blocks_chance(state, 0.3))
        return NULL;
    *draft = blocks_group_draft(&g, "attribute", ASK_SHARED, g.set);
    draft->coreference = 1;
    draft->of_they = false;
    draft->meaning.attribute = before->attribute;
    draft->topic = blocks_topic(TOPIC_THEY_WHAT, g.key, before->attribute, 0);
    return "(3:and %m|2:what about %m|2:how about %m|and what about %m|and for %m|and that of %m)";
}

// "how many of them are red | 2 | what are they", "which one is it": of those counted just before
const char *blocks_ask_counted_what(blocks_state *state, blocks_draft *draft)
{
    blocks_group g = blocks_group_of(state, state->latest->kind);
    g.coreference = 1;
    int number = blocks_size_of(g.set), only = blocks_only(g.set);
    unsigned mask = blocks_kind_mask(g.kind);
    if (!state->latest->counted || !mask || mask >> BLOCKS_SHAPE & 1 || !number)
        return NULL;
    *draft = blocks_group_draft(&g, "attribute", only < 0 ? ASK_SHARED : ASK_WHICH, g.set);
    draft->meaning.attribute = only < 0 ? BLOCKS_SHAPE : BLOCKS_ATTRIBUTES;
    draft->of_they = false;
    draft->kind = g.kind;
    draft->group = draft->plural = only < 0;
    draft->single = draft->about = only;
    draft->topic = blocks_topic(TOPIC_THEY_WHAT, g.key, BLOCKS_SHAPE, 0);
    return only < 0 ? "(3:what are they|2:and what are they|which ones|which ones are they|what "
                      "shapes are they|what are those)"
                    : "(3:what is it|which one|2:which one is it|what's that|and what is it|what "
                      "is that one|which one is that)";
}

// "is one of them smaller than the others"
const char *blocks_ask_one_differs(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    if (!blocks_group_pick(state, &g) || blocks_size_of(g.set) < 3 ||
        g.kind.value[BLOCKS_SIZE] >= 0)
        return NULL;
    bool bigger = blocks_chance(state, 0.5);
    blocks_kind such = blocks_such(BLOCKS_SIZE, bigger ? BLOCKS_LARGE : BLOCKS_SMALL);
    int number = blocks_size_of(blocks_find(state->scene, such) & g.set);
    *draft = blocks_group_draft(&g, "comparison", ASK_POLAR, g.set);
    draft->meaning.yes = number == 1;
    draft->group = draft->plural = false;
    draft->other_group = g.named;
    draft->other_thing = number == 1;
    draft->topic = blocks_topic(TOPIC_THEY_ALL, g.key, BLOCKS_SIZE, 200 + bigger);
    blocks_say(state, "v", bigger ? "bigger" : "smaller");
    return "(3:is one of %m %v than the (2:others|other ones|rest)|is any of %m %v than the "
           "others|is one of %m %v)";
}

// "how many other things are there"
const char *blocks_ask_others(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    if (!blocks_group_they(state, &g) || !blocks_kind_mask(g.kind) || !blocks_they_clear(state))
        return NULL;
    *draft = blocks_group_draft(&g, "count", ASK_COUNT, g.set);
    draft->meaning.number = state->scene->count - blocks_size_of(g.set);
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_OTHERS, g.key, 0, 0);
    return "(3:how many other (things|objects) are there|how many others are there|how many more "
           "(things|objects) are there besides %m)";
}

// "do any of them have the same color"
const char *blocks_ask_they_pair(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a = blocks_chance(state, 0.7) ? BLOCKS_COLOR : BLOCKS_SHAPE;
    if (!blocks_group_they(state, &g) || blocks_size_of(g.set) < 3 || g.kind.value[a] >= 0)
        return NULL;
    unsigned seen = 0, twice = 0;
    for (int i = 0; i < state->scene->count; i++) {
        unsigned value = 1u << blocks_value_of(state->scene, i, a);
        twice |= blocks_has(g.set, i) ? seen & value : 0;
        seen |= blocks_has(g.set, i) ? value : 0;
    }
    *draft = blocks_group_draft(&g, "verify", ASK_POLAR, g.set);
    draft->meaning.yes = twice != 0;
    draft->topic = blocks_topic(TOPIC_THEY_PAIR, g.key, a, 0);
    blocks_say(state, "v", a == BLOCKS_COLOR ? "color" : "shape");
    return "(3:do any of %m have the same %v|do any two of %m have the same %v|are any of %m the "
           "same %v|are any two of %m the same %v)";
}

// "what is red", "which things are metal", "what else is red": several, one or nothing
const char *blocks_ask_which_are(blocks_state *state, blocks_draft *draft)
{
    static const blocks_attribute asked[] = {BLOCKS_COLOR, BLOCKS_COLOR, BLOCKS_MATERIAL,
                                             BLOCKS_SIZE};
    blocks_attribute a = BLOCKS_ONE_OF(state, asked);
    bool more = state->naming == TARGET_IT; // besides it
    const blocks_scene *scene = state->scene;
    int some = more ? state->it : blocks_some_object(state);
    int value = blocks_value_of(scene, some, a);
    if (!more && blocks_chance(state, 0.08))
        value = vd_rng_below(&state->rng, blocks_values(a));
    blocks_kind kind = blocks_such(a, value);
    blocks_set set = blocks_find(scene, kind) & ~(more ? 1u << state->it : 0);
    int number = blocks_size_of(set), only = blocks_only(set);
    if (number > 4 || (more && !(state->known[some] >> a & 1)) ||
        (!number && !blocks_chance(state, 0.3)))
        return NULL;
    for (int i = 0; more && i < scene->count; i++) // nothing else was mentioned that is so
        if (blocks_has(set, i) && state->mention[i] >= 0)
            return NULL;
    *draft = blocks_draft_new("attribute", number > 1 ? ASK_SHARED : ASK_WHICH);
    draft->coreference = more ? state->round - state->it_entry : 0;
    draft->meaning.objects = set;
    draft->meaning.attribute = number > 1 ? BLOCKS_SHAPE : BLOCKS_ATTRIBUTES;
    draft->meaning.given = 1u << a;
    draft->kind = kind;
    draft->group = draft->plural = number > 1 && !more;
    draft->other_group = more;
    draft->other_thing = more && number > 0;
    draft->single = draft->about = more ? -1 : only;
    for (int i = 0; i < scene->count; i++)
        draft->named[i] = blocks_has(set, i) ? 1u << a : 0;
    draft->topic = blocks_topic(TOPIC_WHICH_ARE, blocks_kind_key(kind), more, 0);
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a, value).text);
    if (!more && only >= 0 && blocks_chance(state, 0.25)) {
        blocks_phrase noun = blocks_noun(&state->rng, kind, BLOCKS_BARE);
        blocks_say(state, "vk", blocks_predicate(&state->rng, a, value).text, noun.text);
        return "(3:find (something|anything) %v|2:give me (a|one) %k|show me something %v|point to "
               "something %v|name something %v|who is %v|2:which one is %v|which (thing|object) is "
               "%v|find (a|the|me a) %k)";
    }
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    return more ? "(5:what else is %v|2:which other (things|objects) are %v|what other "
                  "(things|objects) are %v|and what else is %v|what other %p are there)"
                : "(4:what is %v|3:which (things|objects|ones) are %v|what (things|objects) are "
                  "%v|what's %v|what are (all|) the %p|which %p are there|what %p do you see)";
}

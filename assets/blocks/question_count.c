// Questions about kinds: how many there are, whether there are any, whether all are red.
#include "assets/blocks/state.h"

enum {
    TOPIC_KIND = 16,
    TOPIC_ALL_THINGS,
    TOPIC_NUMBER,
    TOPIC_ALL_ARE = 64,
    TOPIC_DISTINCT = 20,
    TOPIC_NOT = 22
};

// What people call an attribute's things in the predicate: "how many things are red".
static unsigned draw_mask(blocks_state *state)
{
    // Shape and color lead; pairs are common, threes rare.
    static const unsigned char masks[] = {
        2, 2,  2, 2, 2, 1, 1, 1,  1,  4,  8,        // shape, color, material, size
        3, 3,  3, 3, 6, 6, 6, 10, 10, 10, 5, 9, 12, // color+shape, material+shape, size+shape, ...
        7, 11, 14};
    return BLOCKS_ONE_OF(state, masks);
}

// A kind of which there are so many, of which nothing is known yet.
static bool kind_with(blocks_state *state, unsigned mask, int number, blocks_kind *out)
{
    const blocks_scene *scene = state->scene;
    for (int attempt = 0; attempt < 12; attempt++) {
        blocks_kind kind = blocks_anything;
        for (int a = 0; a < BLOCKS_ATTRIBUTES; a++) {
            if (!(mask >> a & 1))
                continue;
            // Each attribute is one that something has, mostly: "no" takes looking.
            int some = blocks_some_object(state);
            kind.value[a] = (int8_t)blocks_value_of(scene, some, (blocks_attribute)a);
            if (number == 0 && (__builtin_popcount(mask) == 1 || blocks_chance(state, 0.2)))
                kind.value[a] =
                    (int8_t)vd_rng_below(&state->rng, blocks_values((blocks_attribute)a));
        }
        if (number > 0)
            kind = blocks_some_kind(state, mask);
        if (blocks_number(scene, kind) != number)
            continue;
        *out = kind;
        return true;
    }
    return false;
}

// A kind with that many things, of one attribute more often than of two.
static bool large_kind(blocks_state *state, int number, blocks_kind *out)
{
    static const unsigned char masks[] = {1, 2, 4, 8, 3, 5, 6, 9, 10, 12};
    blocks_kind kinds[(int)sizeof masks * BLOCKS_MAX];
    int count = 0;
    for (int m = 0; m < (int)sizeof masks; m++)
        for (int i = 0; i < state->scene->count; i++) {
            blocks_kind kind = blocks_kind_of(&state->scene->object[i], masks[m]);
            bool new = blocks_number(state->scene, kind) == number;
            for (int k = 0; k < count && new; k++)
                new = !blocks_kind_same(kinds[k], kind);
            if (new)
                kinds[count++] = kind;
        }
    if (count)
        *out = kinds[vd_rng_below(&state->rng, count)];
    return count > 0;
}

blocks_draft blocks_about_kind(const char *family, blocks_ask ask, const blocks_scene *scene,
                               blocks_kind kind)
{
    blocks_draft draft = blocks_draft_new(family, ask);
    draft.kind = kind;
    draft.kind_stated = ask == ASK_COUNT || ask == ASK_THERE;
    draft.plural = draft.group = true;
    draft.meaning.objects = blocks_find(scene, kind);
    draft.meaning.given = blocks_kind_mask(kind);
    draft.meaning.number = blocks_size_of(draft.meaning.objects);
    draft.topic = blocks_topic(TOPIC_KIND, blocks_kind_key(kind), 0, 0);
    int only = blocks_only(draft.meaning.objects);
    if (only >= 0)
        draft.named[only] = draft.meaning.given;
    return draft;
}

static const char *const here =
    "(8:|2:on the table|2:in the picture|in the image|in this picture|here|in the scene|in "
    "total|altogether|in all|overall|all in all)";
static const char *const around = "(8:|2:on the table|2:in the picture|in the image|in this "
                                  "picture|here|in the scene|anywhere|somewhere|in there)";

// A number in digits or as a word.
static blocks_phrase number_words(blocks_state *state, int number)
{
    static const char *const words[] = {"two", "three", "four",  "five",
                                        "six", "seven", "eight", "nine"};
    blocks_phrase phrase;
    if (number == 1)
        snprintf(phrase.text, sizeof phrase.text, "%s", blocks_chance(state, 0.5) ? "one" : "1");
    else if (number >= 2 && number <= 9 && blocks_chance(state, 0.35))
        snprintf(phrase.text, sizeof phrase.text, "%s", words[number - 2]);
    else
        snprintf(phrase.text, sizeof phrase.text, "%d", number);
    return phrase;
}

static const char including[] =
    "(3:how many %p(2: are there|)(3:| in total| altogether| overall| total)(|,) "
    "(3:including|incl|counting|with) %o|(total|number of|total number of) %p "
    "(including|incl|counting) %o|how many %p are there(| in total| altogether), %o included)";

// "how many cubes are there including that one": all of them, one of which was mentioned or is
// named.
static bool say_including(blocks_state *state, blocks_draft *draft, blocks_kind kind)
{
    blocks_set such = blocks_find(state->scene, kind);
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    int some = blocks_some_object(state);
    blocks_attribute a = blocks_some_attribute(state);
    blocks_kind named = blocks_such(a, blocks_value_of(state->scene, some, a));
    bool it = state->it >= 0 && state->it_entry == state->round - 1 && blocks_has(such, state->it);
    draft->coreference = it;
    bool all = blocks_kind_mask(kind) == 0;
    if (all) // "how many things are there including the blue box"
        named.value[BLOCKS_SHAPE] = (int8_t)state->scene->object[some].shape;
    if (it)
        blocks_say(state, "o", blocks_expansion(&state->rng, "(3:that one|2:this one|that)").text);
    else if (kind.value[a] < 0 && (all || a != BLOCKS_SHAPE) &&
             blocks_size_of(blocks_find(state->scene, named) & such) == 1)
        blocks_say(state, "o",
                   blocks_noun(&state->rng, named,
                               all && blocks_chance(state, 0.3) ? BLOCKS_THAT : BLOCKS_THE)
                       .text);
    else
        return false;
    draft->crowded = true; // a person may go on about that one
    const char *all_words = "(4:things|3:objects|2:blocks|items|pieces)";
    if (all)
        blocks_say(state, "p", blocks_expansion(&state->rng, all_words).text);
    return true;
}

// "are there 2 or 3 cubes"
static const char *ask_two_numbers(blocks_state *state, blocks_kind kind, int number)
{
    int low = number > 1 && blocks_chance(state, 0.5) ? number - 1 : number;
    bool swap = blocks_chance(state, 0.15);
    blocks_say(state, "n", number_words(state, swap ? low + 1 : low).text);
    blocks_say(state, "m", number_words(state, swap ? low : low + 1).text);
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    return "(3:are there %n or %m %p|2:%n or %m %p|is it %n or %m %p|is it %n %p or %m|are there "
           "%n %p or %m|do you see %n or %m %p)";
}

// "how many are red" would be of a group that a round was about, or of those just found.
static bool means_all(const blocks_state *state)
{
    blocks_ask last = state->latest->ask;
    bool found = last == ASK_THERE || last == ASK_ANY;
    return !found && !blocks_of_two(state) && !state->groups &&
           (!state->they || state->they_entry == 0);
}

// "how many of the cubes are red", "how many of the red things are cubes", "how many are red"
static const char *ask_count_of(blocks_state *state, blocks_draft *draft, blocks_kind kind)
{
    unsigned mask = blocks_kind_mask(kind), adjectives = mask & ~(1u << BLOCKS_SHAPE);
    bool shapes = adjectives != mask && blocks_chance(state, 0.3);
    blocks_attribute a = shapes ? BLOCKS_SHAPE : (blocks_attribute)__builtin_ctz(adjectives);
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a, kind.value[a]).text);
    draft->whole = blocks_kind_with(kind, a, -1);
    blocks_say(state, "p", blocks_noun(&state->rng, draft->whole, BLOCKS_PLURAL).text);
    int whole = blocks_number(state->scene, draft->whole);
    const char *pattern =
        "(6:how many %p are %v|4:how many of the %p are %v|of (all|) the %p, how many are %v|how "
        "many %v are there among the %p|how many of the %p would you say are %v|how many of the %p "
        "happen to be %v|how many %p happen to be %v)";
    if (whole > 2 && blocks_chance(state, 0.15))
        pattern = "(2:how many of the %n %p are %v|of the %n %p, how many are %v)";
    if (!(mask & (mask - 1)) && means_all(state) && blocks_chance(state, 0.4))
        pattern = "(4:how many are %v|2:how many %v|how many is %v|how many of all these are "
                  "%v|how many of all the things are %v|and how many are %v)";
    blocks_say(state, "n", number_words(state, whole).text);
    return pattern;
}

const char *blocks_ask_count(blocks_state *state, blocks_draft *draft)
{
    // Large groups are few and hard to count: they are looked for.
    static const int numbers[] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3,
                                  3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, 9};
    int number = BLOCKS_ONE_OF(state, numbers);
    blocks_kind kind;
    if (number >= 4 ? !large_kind(state, number, &kind)
                    : !kind_with(state, draw_mask(state), number, &kind))
        return NULL;
    int told = blocks_known_number(state, kind);
    if (told >= 0)
        return NULL;
    *draft = blocks_about_kind("count", ASK_COUNT, state->scene, kind);
    if (number > 1 && blocks_chance(state, 0.1) && say_including(state, draft, kind))
        return including;
    if (number > 0 && blocks_chance(state, 0.06))
        return ask_two_numbers(state, kind, number);
    unsigned mask = blocks_kind_mask(kind);
    if (mask & ~(1u << BLOCKS_SHAPE) && blocks_chance(state, 0.3))
        return ask_count_of(state, draft, kind);
    blocks_phrase many = blocks_noun(&state->rng, kind, BLOCKS_PLURAL);
    blocks_say(state, "ph", many.text, blocks_expansion(&state->rng, here).text);
    return "(10:how many %p are there %h|2:how many %p do you see|2:how many %p can you see|2:how "
           "many %p|how many %p are (on the table|in the picture|in this "
           "picture|visible|there)|what number of %p are there|what is the number of %p|count "
           "(all|) the %p (2:|for me)|can you count (all|) the %p|number of %p|(ok now|now|and|) "
           "the %p, how many (of (them|those)|) are there|how much %p (are there|)|%p count|%p in "
           "total|total %p|amount of %p|what's the number of %p|tell me how many %p there are|%p, "
           "how many|how many %p does the picture have|how many %p (have we got|have you got|we "
           "got|you got|do we have|are we looking at)|how many %p can you (count|find|spot)|how "
           "many %p in (total|the picture|all)|(nr|no.|num) of %p|how many %p (total|overall)|%p "
           "in the picture, how many)";
}

const char *blocks_ask_count_all(blocks_state *state, blocks_draft *draft)
{
    if (blocks_known_number(state, blocks_anything) >= 0)
        return NULL;
    *draft = blocks_about_kind("count", ASK_COUNT, state->scene, blocks_anything);
    if (blocks_chance(state, 0.15) && say_including(state, draft, blocks_anything))
        return including;
    // Where a group was mentioned, it would be the group's number.
    if (!blocks_several_mentioned(state) && blocks_chance(state, 0.25))
        return "(3:how many (in total|altogether|in all|overall)|how many (are there|do you "
               "see|are here) (in total|altogether|in all|overall)|total|total (number|count)|how "
               "many total|count (them all|everything)|what is the total)";
    blocks_say(state, "h", blocks_expansion(&state->rng, here).text);
    return "(6:how many (4:things|4:objects|items|2:blocks|shapes|solids|pieces) are there "
           "%h|3:how many (3:things|3:objects|items|blocks) are (on the table|in the "
           "picture)|2:how many (things|objects|blocks) (can|do) you see %h|what is the total "
           "number of (objects|things)|state the number of objects|count the "
           "(objects|things)|number of (objects|things)|how many (objects|things) altogether|how "
           "many (objects|things)|total number of (objects|things)|2:(nr|no.|num) of "
           "(objects|things|items)|(object|thing) count|total (objects|things)|(objects|things) in "
           "total|how many (objects|things) total|amount of (objects|things)|(objects|things), how "
           "many)";
}

// The words that may open a conversation: where the caption names nothing alone, and else.
static const char *const opening_exist[] = {
    "(3:%k|a%a|4:is that a%a|2:is this a%a|(that's|thats) a%a, (right|correct))", "(3:%k|a%a)"};
static const char *const exist_patterns[] = {
    "(6:is there a%a %h|2:is there any %k %h|2:do you see a%a %h|2:can you see a%a %h|any %k %h|is "
    "a%a (on the table|in the picture)|does the (picture|scene|image) (2:have|contain|show) a%a|is "
    "there at least 1 %k %h|%k present|is a%a present|isn't there a%a %h|there('s| is) a%a "
    "%h|there('s| is) a%a( too|), isn't there|it has (also|) a%a|there is also a%a|have you "
    "(got|spotted) a%a|can you (spot|find) a%a)",
    "(6:are there any %p %h|%p any|2:are there %p %h|2:do you see any %p %h|2:can you see any %p "
    "%h|2:any %p %h|are there some %p %h|does the (picture|scene|image) (2:have|contain|show) any "
    "%p|are any %p on the table|any %p present|%p present|have you (got|spotted) any %p|there are "
    "%p %h|can you (spot|find) any %p|do you spot any %p)",
};
static const char *const anything_pattern =
    "(3:is there anything %v %h|2:is anything %v|2:do you see anything %v %h|is there something %v "
    "%h|anything %v|is any of the (things|objects) %v|any %v stuff|%v stuff|are any of the "
    "(objects|things) %v|can you see anything %v)";

// The words of "is there a red ball".
static const char *word_exist(blocks_state *state, blocks_draft *draft, blocks_kind kind)
{
    unsigned mask = blocks_kind_mask(kind);
    blocks_phrase one = blocks_noun(&state->rng, kind, BLOCKS_BARE);
    blocks_phrase many = blocks_noun(&state->rng, kind, BLOCKS_PLURAL);
    blocks_phrase place = blocks_expansion(&state->rng, around), predicate = {""};
    char article[BLOCKS_PHRASE + 4];
    snprintf(article, sizeof article, "%s %s", strchr("aeiou", one.text[0]) ? "n" : "", one.text);
    if (!draft->plural && blocks_chance(state, 0.5))
        place.text[0] = 0;
    bool opens = state->round == 1 && !draft->plural && blocks_chance(state, 0.5), told = false;
    for (int i = 0; i < state->scene->count; i++)
        told |= state->mention[i] >= 0;
    const char *pattern = opens ? opening_exist[told] : exist_patterns[draft->plural];
    int only = __builtin_popcount(mask) == 1 ? __builtin_ctz(mask) : -1;
    if (only >= 0 && only != BLOCKS_SHAPE && blocks_chance(state, 0.5)) {
        predicate = blocks_predicate(&state->rng, (blocks_attribute)only, kind.value[only]);
        pattern = anything_pattern;
        draft->plural = draft->group = false;
    }
    blocks_say(state, "akphv", article, one.text, many.text, place.text, predicate.text);
    return pattern;
}

const char *blocks_ask_exist(blocks_state *state, blocks_draft *draft)
{
    unsigned mask = draw_mask(state);
    bool yes = blocks_chance(state, 0.5);
    blocks_kind kind, opposite;
    // Only where the other answer is possible too, so that the wording does not reveal the answer.
    bool could = kind_with(state, mask, 0, &opposite);
    if (yes ? !could && !blocks_chance(state, 0.15) : !could)
        return NULL;
    kind = yes ? blocks_some_kind(state, mask) : opposite;
    // What is there has been stated already more often than what is not.
    static const double keep_no[] = {1, 0.5, 0.73, 0.9};
    if (blocks_known_number(state, kind) != -2 ||
        (!yes && !blocks_chance(state, keep_no[__builtin_popcount(mask)])))
        return NULL;
    int number = blocks_number(state->scene, kind);
    *draft = blocks_about_kind("exist", ASK_THERE, state->scene, kind);
    draft->meaning.yes = yes;
    // As often in the plural where there is none as where there are some.
    static const double none_plural[] = {0.5, 0.65, 0.57, 0.53};
    int arity = __builtin_popcount(mask);
    draft->plural = blocks_chance(state, number == 1 ? 0.4 : number ? 0.8 : none_plural[arity]);
    draft->group = draft->plural;
    int only = blocks_only(blocks_find(state->scene, kind));
    if (only >= 0 && !draft->plural && state->it >= 0 && state->it != only &&
        blocks_it_clear(state) && state->it_entry == state->round - 1)
        draft->both = 1u << only | 1u << state->it;
    return word_exist(state, draft, kind);
}

// "are there exactly 2 cubes", "is there more than 1 ball"
const char *blocks_ask_number(blocks_state *state, blocks_draft *draft)
{
    // What is asked is drawn first, so that the number itself is no hint.
    bool yes = blocks_chance(state, 0.5), several = blocks_chance(state, 0.4);
    bool many_of_them = !several && blocks_chance(state, 0.4);
    int asked = several        ? 2
                : many_of_them ? 3 + vd_rng_below(&state->rng, 6)
                               : 1 + vd_rng_below(&state->rng, 3);
    int number = asked;
    if (several)
        number = yes ? 2 + vd_rng_below(&state->rng, 2) : 1;
    else if (!yes)
        number += blocks_chance(state, 0.5) ? 1 : -1;
    blocks_kind kind;
    bool all = !several && blocks_chance(state, 0.4);
    if (all) { // "are there 5 things"
        kind = blocks_anything;
        number = state->scene->count;
        asked = yes ? number : number + (blocks_chance(state, 0.5) ? 1 : -1);
    }
    bool found = all || (number >= 4 ? large_kind(state, number, &kind)
                                     : kind_with(state, draw_mask(state), number, &kind));
    if (!found || blocks_known_number(state, kind) >= 0)
        return NULL;
    *draft = blocks_about_kind("verify", ASK_POLAR, state->scene, kind);
    draft->meaning.yes = yes;
    draft->topic = blocks_topic(TOPIC_NUMBER, blocks_kind_key(kind), 0, 0);
    draft->plural = number > 1;
    blocks_say(state, "k", blocks_noun(&state->rng, kind, BLOCKS_BARE).text);
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    blocks_say(state, "n", number_words(state, asked).text);
    return several ? "(2:is there more than (3:1|one) %k|are there multiple %p|are there at least "
                     "2 %p|is there more than just one %k)"
           : asked == 1
               ? "(2:is there only (1|one) %k|2:is there just (1|one) %k|is there exactly 1 %k|is "
                 "there a single %k|(so|and|) there('s| is) (only|just) (the|) (1|one) %k(2:, "
                 "right|, correct|)|(so|) only (1|one) %k(, right|)|(so|) just the (1|one) %k)"
               : "(3:are there %n %p|are there exactly %n %p|do you see %n %p|are there just %n "
                 "%p|are there only %n %p|2:(so|) (there are|there's|theres) %n %p, "
                 "(right|correct)|(so|) (that's|that's like|) %n %p (in total|total)(, "
                 "(right|correct)|)|2:%n %p, (right|correct|yes)|so %n %p(, (right|correct)|)|i "
                 "count %n %p, (right|correct|yes)|true or false, there are %n %p)";
}

// "are there more than 3 cubes", "are there at least 2 balls"
const char *blocks_ask_bound(blocks_state *state, blocks_draft *draft)
{
    static const char *const bounds[] = {"more than", "at least", "(fewer|less) than",
                                         "(3:at most|no more than|not more than)"};
    bool yes = blocks_chance(state, 0.5);
    int number = 1 + vd_rng_below(&state->rng, 6), bound = vd_rng_below(&state->rng, 4);
    int far = 1 + vd_rng_below(&state->rng, 2);
    // The smallest number that is too many, or that is enough.
    int limit = yes == (bound < 2) ? number - far + 1 : number + far;
    int asked = bound % 3 == 0 ? limit - 1 : limit;
    blocks_kind kind;
    if (asked < 2 || asked > 7 || !large_kind(state, number, &kind) ||
        blocks_known_number(state, kind) >= 0)
        return NULL;
    *draft = blocks_about_kind("verify", ASK_POLAR, state->scene, kind);
    draft->meaning.yes = yes;
    draft->topic = blocks_topic(TOPIC_NUMBER, blocks_kind_key(kind), 0, 0);
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    blocks_say(state, "n", number_words(state, asked).text);
    blocks_say(state, "b", blocks_expansion(&state->rng, bounds[bound]).text);
    return "(4:are there %b %n %p|do you see %b %n %p)";
}

// "how many things are not red", "are there any cubes that are not red"
const char *blocks_ask_not(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_attribute a = blocks_some_attribute(state);
    static const unsigned char masks[] = {0, 0, 0, 0, 2, 2, 2, 2, 1, 4, 8};
    unsigned mask = BLOCKS_ONE_OF(state, masks);
    blocks_kind kind = blocks_some_kind(state, mask);
    if (mask >> a & 1 || blocks_number(scene, kind) < 2)
        return NULL;
    blocks_kind such =
        blocks_kind_with(kind, a, blocks_value_of(scene, blocks_some_object(state), a));
    blocks_set others = blocks_find(scene, kind) & ~blocks_find(scene, such);
    bool count = blocks_chance(state, 0.5);
    if (blocks_known_number(state, such) >= 0 ||
        (!count && others && !blocks_chance(state, mask ? 0.2 : 0.5)))
        return NULL;
    *draft = blocks_draft_new(count ? "count" : "exist", count ? ASK_COUNT : ASK_THERE);
    blocks_ask_for(draft, others);
    draft->meaning.given = mask;
    draft->plural = draft->other_group = true;
    draft->other_thing = !count && others;
    draft->topic = blocks_topic(TOPIC_NOT, blocks_kind_key(such), count, 0);
    if (!count && !mask && blocks_chance(state, 0.7)) {
        draft->plural = false;
        blocks_say(state, "v", blocks_predicate(&state->rng, a, such.value[a]).text);
        return "(3:is anything not %v|2:is there anything not %v|3:is there anything (that|which) "
               "(isn't|is not) %v|is there something (that isn't|not) %v|anything (here|there|) "
               "(that isn't|that is not|that's not|not) %v|any (here|there|) (that isn't|that's "
               "not) %v|is there (one|any) that isn't %v|do you see anything that is not %v|are "
               "there any (things|objects) not %v)";
    }
    if (!count && mask && blocks_chance(state, 0.3)) {
        draft->plural = false;
        blocks_say(state, "v", blocks_predicate(&state->rng, a, such.value[a]).text);
        blocks_say(state, "a", blocks_noun(&state->rng, kind, BLOCKS_A).text);
        blocks_say(state, "k", blocks_noun(&state->rng, kind, BLOCKS_BARE).text);
        return "(3:is there (any %k|%a) that (is not|isn't) %v|is there any %k not %v)";
    }
    blocks_say(state, "v", blocks_predicate_many(&state->rng, a, such.value[a]).text);
    // Where a group was mentioned, it would be of that.
    if (count && !mask && !blocks_several_mentioned(state) && blocks_chance(state, 0.5))
        return "(3:how many aren't %v|2:how many are not %v|how many not %v)";
    blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    return count ? "(3:how many %p are not %v|2:how many %p aren't %v|how many of the %p are not "
                   "%v|how many %p are there that (are not|aren't) %v|number of %p that (are "
                   "not|aren't) %v|how many %p not %v|how many %p here (are not|aren't) %v)"
                 : "(3:are there any %p that (are not|aren't) %v|any %p that (are not|aren't) "
                   "%v|do you see any %p that are not %v|are any (of the|) %p not %v)";
}

// "are all the cubes red", "is everything metal"
const char *blocks_ask_all(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    bool yes = blocks_chance(state, 0.5);
    for (int attempt = 0; attempt < 8; attempt++) {
        unsigned mask = blocks_chance(state, 0.12)  ? 0
                        : blocks_chance(state, 0.6) ? 1u << BLOCKS_SHAPE
                                                    : 1u << BLOCKS_COLOR;
        blocks_attribute attribute = blocks_some_attribute(state);
        int some = blocks_some_object(state);
        blocks_kind kind = blocks_kind_of(&scene->object[some], mask);
        blocks_set set = blocks_find(scene, kind);
        int value = blocks_value_of(scene, some, attribute);
        if (!mask && !yes && !blocks_chance(state, 0.1))
            continue; // these are too many different values for a sensible question
        if (mask >> attribute & 1 || blocks_size_of(set) < 2 ||
            (blocks_shared(scene, set, attribute) == value) != yes)
            continue;
        blocks_kind both = blocks_kind_with(kind, attribute, value);
        *draft = blocks_about_kind("verify", ASK_ALL, scene, kind);
        draft->meaning.yes = yes;
        draft->asked = value;
        draft->meaning.attribute = attribute;
        draft->meaning.number = blocks_number(scene, both);
        draft->topic = blocks_topic(TOPIC_ALL_ARE, blocks_kind_key(kind), attribute, 0);
        blocks_say(state, "v", blocks_predicate_many(&state->rng, attribute, value).text);
        blocks_say(state, "w", blocks_predicate(&state->rng, attribute, value).text);
        blocks_say(state, "p", blocks_noun(&state->rng, kind, BLOCKS_THE_MANY).text + 4);
        return mask ? "(4:are all the %p %v|3:are all of the %p %v|3:are the %p all %v|is every "
                      "one of the %p %w|are all %p %v|all %p %v|is each of the %p %w|(so|) all the "
                      "%p are %v, (right|correct|yes)|the %p are all %v, (right|correct))"
                    : "(2:is everything %w|are all (the|of the) (things|objects) %v|is everything "
                      "(here|) %w(, or what| or not)|everything is %w, (isn't it|is it)|is "
                      "everything (on the table|in the picture) %w|(so|) everything (on the "
                      "table|) is %w, (right|correct|yes))";
    }
    return NULL;
}

// "how many different colors are there"
const char *blocks_ask_distinct(blocks_state *state, blocks_draft *draft)
{
    bool color = blocks_chance(state, 0.5);
    blocks_attribute a = color ? BLOCKS_COLOR : BLOCKS_SHAPE;
    blocks_kind kind = blocks_some_kind(state, 1u << BLOCKS_SHAPE);
    if (color && blocks_number(state->scene, kind) > 1 && blocks_chance(state, 0.3)) {
        *draft = blocks_about_kind("count", ASK_COUNT, state->scene, kind);
        draft->kind_stated = false;
        draft->meaning.number = blocks_distinct(state->scene, draft->meaning.objects, a);
        draft->topic = blocks_topic(TOPIC_DISTINCT, a, blocks_kind_key(kind), 1);
        blocks_say(state, "m", blocks_noun(&state->rng, kind, BLOCKS_THE_MANY).text);
        return "(2:how many (different|) colors do %m have|how many (different|) colors are %m|how "
               "many colors are there among %m)";
    }
    *draft = blocks_draft_new("count", ASK_COUNT);
    draft->meaning.number = blocks_distinct(state->scene, blocks_all(state->scene), a);
    draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_DISTINCT, a, 0, 0);
    return color ? "(2:how many different (colors|colours) are there|how many colors (are there|do "
                   "you see|can you see))"
                 : "(3:how many different shapes (are there|do you see)|how many kinds of "
                   "(shapes|things|objects) are there)";
}

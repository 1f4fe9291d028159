// Questions about the things last spoken of: how many of them are metal, are they all red.
#include "assets/blocks/talk.h"

enum { TOPIC_KIND = 16, TOPIC_THEY_ALL = 64, TOPIC_THEY_WHAT, TOPIC_THEY_ANY, TOPIC_OTHERS };

static bool ready(blocks_talk *talk, blocks_set *they)
{
    if (!talk->they || (!blocks_they_clear(talk) && talk->round - talk->they_entry > 1))
        return false;
    *they = blocks_find(talk->scene, talk->they_kind);
    return blocks_size_of(*they) >= 2;
}

// An attribute that does not name the group.
static bool draw_open(blocks_talk *talk, blocks_attribute *a)
{
    *a = (blocks_attribute)vd_rng_below(&talk->rng, BLOCKS_ATTRIBUTES);
    return talk->they_kind.value[*a] < 0;
}

static blocks_draft start(const blocks_talk *talk, const char *family, blocks_ask ask,
                          blocks_set they)
{
    blocks_draft draft = blocks_draft_new(family, ask);
    draft.coreference = talk->round - talk->they_entry;
    draft.meaning.objects = they;
    draft.meaning.given = blocks_kind_mask(talk->they_kind);
    return draft;
}

// A value of the attribute, one that some of the group have more often than not.
static int draw_value(blocks_talk *talk, blocks_set they, blocks_attribute a)
{
    for (;;) {
        int some = vd_rng_below(&talk->rng, talk->scene->count);
        if (blocks_has(they, some) || blocks_chance(talk, 0.25))
            return blocks_value(&talk->scene->object[some], a);
    }
}

bool blocks_ask_they_count(blocks_talk *talk, blocks_draft *draft)
{
    blocks_set they;
    blocks_attribute a;
    if (!ready(talk, &they) || !draw_open(talk, &a))
        return false;
    int value = draw_value(talk, they, a);
    blocks_kind kind = talk->they_kind;
    kind.value[a] = (int8_t)value;
    if (blocks_told(talk, kind) >= 0)
        return false;
    *draft = start(talk, "count", ASK_COUNT, they);
    draft->meaning.number = blocks_size_of(blocks_find(talk->scene, kind));
    draft->kind = kind;
    draft->kind_told = true;
    draft->topic = blocks_topic(TOPIC_KIND, blocks_kind_key(kind), 0, 0);
    char predicate[BLOCKS_PHRASE], noun[BLOCKS_PHRASE];
    blocks_kind only = blocks_anything;
    only.value[a] = (int8_t)value;
    blocks_predicate_many(&talk->rng, a, value, predicate);
    blocks_noun(&talk->rng, only, BLOCKS_THE_MANY, noun);
    blocks_words words = {{0}};
    words.slot['v' - 'a'] = predicate;
    words.slot['p' - 'a'] = noun + 4;
    blocks_say(&talk->rng, draft->text, sizeof draft->text,
               "(6:how many of them are %v|3:how many of those are %v|2:how many are %v|"
               "of those, how many are %v|and how many of (them|those) are %v|"
               "how many of these are %v)",
               &words);
    return true;
}

bool blocks_ask_they_all(blocks_talk *talk, blocks_draft *draft)
{
    blocks_set they;
    blocks_attribute a;
    if (!ready(talk, &they) || !draw_open(talk, &a))
        return false;
    bool same = blocks_chance(talk, 0.25), yes = blocks_chance(talk, 0.5);
    int value = draw_value(talk, they, a), shared = blocks_shared(talk->scene, they, a);
    if (yes && shared >= 0)
        value = shared;
    if (same ? (shared >= 0) != yes : (shared == value) != yes)
        return false;
    *draft = start(talk, "verify", same ? ASK_POLAR : ASK_ALL, they);
    draft->meaning.yes = yes;
    blocks_kind such = blocks_anything;
    such.value[a] = (int8_t)value;
    draft->meaning.number = blocks_size_of(blocks_find(talk->scene, such) & they);
    draft->topic = blocks_topic(TOPIC_THEY_ALL, blocks_kind_key(talk->they_kind), (uint64_t)a,
                                same ? 100 : (uint64_t)value);
    static const char *const names[BLOCKS_ATTRIBUTES] = {"color", "shape", "material", "size"};
    char predicate[BLOCKS_PHRASE];
    blocks_predicate_many(&talk->rng, a, value, predicate);
    blocks_words words = {{0}};
    words.slot['v' - 'a'] = same ? names[a] : predicate;
    bool both = blocks_size_of(they) == 2 && blocks_chance(talk, 0.4);
    blocks_say(&talk->rng, draft->text, sizeof draft->text,
               same   ? "(3:are they (all|) the same %v|do they (all|) have the same %v|are all of "
                        "them the same %v)"
               : both ? "(2:are they both %v|are both of them %v)"
                      : "(5:are they all %v|3:are all of them %v|2:are they %v|are those all %v|"
                        "are all of those %v|are they all %v)",
               &words);
    return true;
}

bool blocks_ask_they_any(blocks_talk *talk, blocks_draft *draft)
{
    blocks_set they;
    blocks_attribute a;
    bool yes = blocks_chance(talk, 0.5);
    if (!ready(talk, &they) || !draw_open(talk, &a))
        return false;
    for (int attempt = 0; attempt < 6; attempt++) {
        if (attempt && !draw_open(talk, &a))
            continue;
        int value = draw_value(talk, they, a);
        if (!yes)
            value = vd_rng_below(&talk->rng, blocks_values(a));
        blocks_kind kind = talk->they_kind;
        kind.value[a] = (int8_t)value;
        blocks_set some = blocks_find(talk->scene, kind);
        if ((some != 0) != yes || blocks_told(talk, kind) != -2)
            continue;
        *draft = start(talk, "exist", ASK_ANY, some);
        draft->meaning.yes = yes;
        draft->meaning.given |= 1u << a;
        draft->kind = kind;
        draft->kind_told = true;
        draft->about = blocks_only(some);
        if (draft->about >= 0)
            draft->named[draft->about] = draft->meaning.given;
        draft->topic = blocks_topic(TOPIC_THEY_ANY, blocks_kind_key(kind), 0, 0);
        char many[BLOCKS_PHRASE], one[BLOCKS_PHRASE];
        blocks_predicate_many(&talk->rng, a, value, many);
        blocks_predicate(&talk->rng, a, value, one);
        blocks_words words = {{0}};
        words.slot['v' - 'a'] = many;
        words.slot['w' - 'a'] = one;
        blocks_say(&talk->rng, draft->text, sizeof draft->text,
                   "(5:are any of them %v|2:is any of them %w|2:is one of them %w|are any of those "
                   "%v|are some of them %v|is at least one of them %w)",
                   &words);
        return true;
    }
    return false;
}

// "what color are they"
bool blocks_ask_they_what(blocks_talk *talk, blocks_draft *draft)
{
    blocks_set they;
    blocks_attribute a;
    if (!ready(talk, &they) || !draw_open(talk, &a))
        return false;
    bool pair = blocks_size_of(they) == 2 && (a == BLOCKS_COLOR || a == BLOCKS_SHAPE);
    if (blocks_shared(talk->scene, they, a) < 0 && !pair && !blocks_chance(talk, 0.3))
        return false;
    *draft = start(talk, "attribute", ASK_SHARED, they);
    draft->meaning.attribute = a;
    draft->topic = blocks_topic(TOPIC_THEY_WHAT, blocks_kind_key(talk->they_kind), (uint64_t)a, 0);
    static const char *const patterns[BLOCKS_ATTRIBUTES] = {
        "(4:what (3:color|colour) are they|what colors are they|what color are those|"
        "what are their colors)",
        "(4:what shape are they|what shapes are they|what shape are those)",
        "(4:what are they made of|what material are they|are they metal or rubber)",
        "(3:how big are they|what size are they|are they big or small)"};
    blocks_say(&talk->rng, draft->text, sizeof draft->text, patterns[a], NULL);
    return true;
}

// "how many other things are there"
bool blocks_ask_others(blocks_talk *talk, blocks_draft *draft)
{
    blocks_set they;
    if (!ready(talk, &they) || !blocks_kind_mask(talk->they_kind) || !blocks_they_clear(talk))
        return false;
    *draft = start(talk, "count", ASK_COUNT, they);
    draft->meaning.number = talk->scene->count - blocks_size_of(they);
    draft->topic = blocks_topic(TOPIC_OTHERS, blocks_kind_key(talk->they_kind), 0, 0);
    blocks_say(&talk->rng, draft->text, sizeof draft->text,
               "(3:how many other (things|objects) are there|how many others are there|"
               "how many more (things|objects) are there besides (them|those))",
               NULL);
    return true;
}

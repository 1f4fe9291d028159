#include "assets/blocks/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Bit of a value.
static unsigned word_bit(blocks_attribute attribute, int value)
{
    int first = 0;
    for (int a = 0; a < (int)attribute; a++)
        first += blocks_values((blocks_attribute)a);
    return 1u << (first + value);
}

unsigned blocks_kind_words(blocks_kind kind)
{
    unsigned words = 0;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        if (kind.value[a] >= 0)
            words |= word_bit((blocks_attribute)a, kind.value[a]);
    return words;
}

// "boxes" of the text are cubes.
unsigned blocks_text_words(const char *text)
{
    static const struct {
        const char *word;
        blocks_attribute attribute;
        int value;
    } others[] = {
        {"box", BLOCKS_SHAPE, BLOCKS_CUBE},        {"sphere", BLOCKS_SHAPE, BLOCKS_BALL},
        {"matt", BLOCKS_MATERIAL, BLOCKS_RUBBER},  {"dull", BLOCKS_MATERIAL, BLOCKS_RUBBER},
        {"glossy", BLOCKS_MATERIAL, BLOCKS_METAL}, {"orb", BLOCKS_SHAPE, BLOCKS_BALL},
        {"block", BLOCKS_SHAPE, BLOCKS_CUBE},      {"shiny", BLOCKS_MATERIAL, BLOCKS_METAL},
        {"little", BLOCKS_SIZE, BLOCKS_SMALL},     {"tiny", BLOCKS_SIZE, BLOCKS_SMALL},
        {"big", BLOCKS_SIZE, BLOCKS_LARGE},        {"huge", BLOCKS_SIZE, BLOCKS_LARGE},
    };
    unsigned words = 0;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        for (int v = 0; v < blocks_values((blocks_attribute)a); v++)
            if (strstr(text, blocks_value_name((blocks_attribute)a, v)))
                words |= word_bit((blocks_attribute)a, v);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(text, others[i].word))
            words |= word_bit(others[i].attribute, others[i].value);
    return words;
}

void blocks_add_fact(blocks_state *state, blocks_kind kind, int number)
{
    if (state->facts < BLOCKS_FACTS)
        state->fact[state->facts++] = (blocks_fact){kind, number};
    // "6 cones" of 6 things: everything is a cone.
    for (int i = 0; i < state->scene->count && number == state->scene->count; i++)
        state->known[i] |= blocks_kind_mask(kind);
}

// Every `narrow` thing is a `wide` one.
static bool within(blocks_kind narrow, blocks_kind wide)
{
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        if (wide.value[a] >= 0 && wide.value[a] != narrow.value[a])
            return false;
    return true;
}

int blocks_known_number(const blocks_state *state, blocks_kind kind)
{
    int told = -2;
    for (int i = 0; i < state->facts; i++) {
        const blocks_fact *f = &state->fact[i];
        if (f->number == 0 && within(kind, f->kind))
            return 0;
        if (f->number >= 0 && blocks_kind_same(kind, f->kind))
            return f->number;
        if (f->number != 0 && within(f->kind, kind))
            told = -1;
    }
    unsigned mask = blocks_kind_mask(kind);
    for (int i = 0; i < state->scene->count; i++)
        if ((state->known[i] & mask) == mask && blocks_is(&state->scene->object[i], kind))
            told = -1;
    return told;
}

void blocks_say(blocks_state *state, const char *letters, ...)
{
    va_list texts;
    va_start(texts, letters);
    for (; *letters; letters++)
        snprintf(state->word[*letters - 'a'], BLOCKS_TEXT, "%s", va_arg(texts, const char *));
    va_end(texts);
}

void blocks_write(blocks_state *state, const char *pattern, char *out, size_t size)
{
    const char *word[26];
    for (int i = 0; i < 26; i++)
        word[i] = state->word[i];
    blocks_expand_words(&state->rng, out, size, pattern, word);
}

bool blocks_make(blocks_state *state, blocks_ask_fn *ask, blocks_draft *draft)
{
    for (int i = 0; i < 26; i++)
        state->word[i][0] = 0;
    const char *pattern = ask(state, draft);
    if (pattern)
        blocks_write(state, pattern, draft->text, sizeof draft->text);
    return pattern != NULL;
}

uint64_t blocks_topic(int what, int64_t a, int64_t b, int64_t c)
{
    uint64_t key = what * 0x9e3779b97f4a7c15u + a;
    return vd_rng_mix(vd_rng_mix(vd_rng_mix(key) + (uint64_t)b) + (uint64_t)c) | 1;
}

int64_t blocks_kind_key(blocks_kind kind)
{
    int64_t key = 0;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        key = key * 16 + kind.value[a] + 1;
    return key;
}

int64_t blocks_kinds_key(const blocks_kind kind[2])
{
    return blocks_kind_key(kind[0]) + blocks_kind_key(kind[1]);
}

int blocks_some_object(blocks_state *state)
{
    return vd_rng_below(&state->rng, state->scene->count);
}

blocks_attribute blocks_some_attribute(blocks_state *state)
{
    return (blocks_attribute)vd_rng_below(&state->rng, BLOCKS_ATTRIBUTES);
}

int blocks_other_value(blocks_state *state, blocks_attribute attribute, int value)
{
    int values = blocks_values(attribute);
    return (value + 1 + vd_rng_below(&state->rng, values - 1)) % values;
}

blocks_kind blocks_some_kind(blocks_state *state, unsigned mask)
{
    return blocks_kind_of(&state->scene->object[blocks_some_object(state)], mask);
}

blocks_direction blocks_some_direction(blocks_state *state)
{
    return (blocks_direction)vd_rng_below(&state->rng, BLOCKS_DIRECTIONS);
}

blocks_draft blocks_draft_new(const char *family, blocks_ask ask)
{
    blocks_draft draft = {
        .family = family, .single = -1, .about = -1, .asked = -1, .implied = -1, .beside = -1};
    draft.meaning.ask = ask;
    draft.meaning.attribute = BLOCKS_ATTRIBUTES;
    draft.meaning.toward = -1;
    draft.meaning.more = draft.kind = draft.target = draft.whole = blocks_anything;
    return draft;
}

void blocks_ask_for(blocks_draft *draft, blocks_set objects)
{
    draft->meaning.objects = objects;
    draft->meaning.number = blocks_size_of(objects);
    draft->meaning.yes = objects != 0;
}

bool blocks_it_clear(const blocks_state *state)
{
    return state->it >= 0 && !(state->singles & ~(1u << state->it)) &&
           state->round - state->it_entry <= 3;
}

bool blocks_they_clear(const blocks_state *state)
{
    return state->they && state->groups <= (state->they_entry > 0) &&
           state->round - state->they_entry <= 3;
}

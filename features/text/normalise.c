// What a person types, made to look like VisDial's text: lower case, digits for the numbers up to
// ten, apostrophes in contractions, no "?" at the end (all as the data set's makers left it).
#include "features/text/tokenize.h"

#include <utf8proc.h>

#include "engine/base/alloc.h"
#include "features/text/runes.h"

// Typed word, word of the training text; sorted.
static const struct {
    const char *typed, *meant;
} words[] = {
    {"aint", "ain't"},
    {"arent", "aren't"},
    {"cant", "can't"},
    {"couldnt", "couldn't"},
    {"didnt", "didn't"},
    {"doesnt", "doesn't"},
    {"dont", "don't"},
    {"eight", "8"},
    {"five", "5"},
    {"four", "4"},
    {"hadnt", "hadn't"},
    {"hasnt", "hasn't"},
    {"havent", "haven't"},
    {"hes", "he's"},
    {"im", "i'm"},
    {"isnt", "isn't"},
    {"ive", "i've"},
    {"nine", "9"},
    {"one", "1"},
    {"seven", "7"},
    {"shes", "she's"},
    {"shouldnt", "shouldn't"},
    {"six", "6"},
    {"ten", "10"},
    {"thats", "that's"},
    {"theres", "there's"},
    {"theyre", "they're"},
    {"theyve", "they've"},
    {"three", "3"},
    {"two", "2"},
    {"wasnt", "wasn't"},
    {"werent", "weren't"},
    {"whats", "what's"},
    {"wheres", "where's"},
    {"whos", "who's"},
    {"wont", "won't"},
    {"wouldnt", "wouldn't"},
    {"youre", "you're"},
    {"youve", "you've"},
    {"zero", "0"},
};

// Longest replacement over shortest word: "im" -> "i'm", "two" -> "2"; never more than one longer.
enum { GROWTH = 2 };

static int compare(const int32_t *word, size_t count, const char *other)
{
    for (size_t i = 0; i < count; i++) {
        int32_t a = word[i], b = (unsigned char)other[i];
        if (a != b)
            return a < b ? -1 : 1;
    }
    return other[count] ? -1 : 0;
}

static const char *meant(const int32_t *word, size_t count)
{
    size_t low = 0, high = sizeof words / sizeof *words;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(word, count, words[middle].typed);
        if (order == 0)
            return words[middle].meant;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

// Curly and other quotes, dashes and spaces as the keyboard has them; 0 drops the character.
static int32_t plain(int32_t rune)
{
    if (vd_rune_is_space(rune))
        return ' ';
    switch (rune) {
    case 0x2018:
    case 0x2019:
    case 0x201a:
    case 0x201b:
    case 0x02bc:
    case 0x2032:
    case 0x00b4:
    case '`':
        return '\'';
    case 0x201c:
    case 0x201d:
    case 0x201e:
    case 0x201f:
    case 0x2033:
    case 0x00ab:
    case 0x00bb:
        return '"';
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2015:
    case 0x2212:
        return '-';
    default:
        break;
    }
    utf8proc_category_t category = utf8proc_category(rune);
    if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZS)
        return ' ';
    return category == UTF8PROC_CATEGORY_CF ? 0 : utf8proc_tolower(rune);
}

// White space folded to single spaces, none at the ends.
static void fold(vd_runes *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->count; i++) {
        int32_t rune = plain(text->at[i]);
        if (rune == 0 || (rune == ' ' && (kept == 0 || text->at[kept - 1] == ' ')))
            continue;
        text->at[kept++] = rune;
    }
    while (kept > 0 && text->at[kept - 1] == ' ')
        kept--;
    text->count = kept;
}

static void cut_final_marks(vd_runes *text)
{
    while (text->count > 0) {
        int32_t last = text->at[text->count - 1];
        if (last != '?' && last != '.' && last != '!' && last != ' ')
            break;
        text->count--;
    }
}

static void replace_words(const vd_runes *text, vd_runes *out)
{
    for (size_t i = 0; i < text->count;) {
        size_t end = i;
        while (end < text->count && (vd_rune_is_word(text->at[end]) || text->at[end] == '\''))
            end++;
        const char *other = end > i ? meant(text->at + i, end - i) : NULL;
        if (end == i)
            end++;
        if (other) {
            for (; *other; other++)
                out->at[out->count++] = (unsigned char)*other;
            i = end;
        }
        for (; i < end; i++)
            out->at[out->count++] = text->at[i];
    }
}

vd_status vd_normalise_typed(const char *typed, char **out, vd_error *err)
{
    const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    vd_runes text = {0}, replaced = {0};
    char *result = NULL;
    *out = NULL;
    // Only for its check and its message; the decomposed text takes its place.
    vd_status status = vd_runes_decode(&text, typed, err);
    if (status != VD_OK)
        goto fail;
    utf8proc_ssize_t bytes = (utf8proc_ssize_t)strlen(typed);
    const utf8proc_uint8_t *source = (const utf8proc_uint8_t *)typed;
    utf8proc_ssize_t room = utf8proc_decompose(source, bytes, NULL, 0, options);
    status = VD_NO_MEMORY;
    if (room < 0 || !vd_runes_reserve(&text, (size_t)room + 1))
        goto no_memory;
    utf8proc_ssize_t count = utf8proc_decompose(source, bytes, text.at, room, options);
    count = count < 0 ? count : utf8proc_normalize_utf32(text.at, count, options);
    if (count < 0)
        goto no_memory;
    text.count = (size_t)count;
    fold(&text);
    cut_final_marks(&text);
    if (!vd_runes_reserve(&replaced, GROWTH * text.count))
        goto no_memory;
    replace_words(&text, &replaced);
    result = vd_alloc(4 * replaced.count + 1, 1);
    if (!result)
        goto no_memory;
    vd_runes_encode(replaced.at, replaced.count, result);
    status = VD_OK;
    goto fail;
no_memory:
    vd_error_memory(err, "what was typed");
fail:
    vd_runes_clear(&replaced);
    vd_runes_clear(&text);
    *out = result;
    return status;
}

// What a person types, made to look like VisDial's text: lower case, digits for the numbers up to
// ten, apostrophes in contractions, no "?" at the end (all as the data set's makers left it).
#include "features/text/tokenize.h"

#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/base/alloc.h"
#include "features/text/codepoints.h"

// Contractions, which people also type without the apostrophe, and numbers, of which the training
// text has the digits.
static const char *const contractions[] = {
    "ain't",  "aren't",  "can't",    "couldn't", "didn't", "doesn't", "don't",  "hadn't",
    "hasn't", "haven't", "he's",     "i'm",      "isn't",  "i've",    "she's",  "shouldn't",
    "that's", "there's", "they're",  "they've",  "wasn't", "weren't", "what's", "where's",
    "who's",  "won't",   "wouldn't", "you're",   "you've",
};
static const char *const numbers[] = {"zero", "one",   "two",   "three", "four", "five",
                                      "six",  "seven", "eight", "nine",  "ten"};
static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};

enum { CONTRACTIONS = sizeof contractions / sizeof *contractions, NUMBERS = 11, LONGEST = 10 };

// Replacements are never more than one character longer than a word: "im" -> "i'm".
enum { GROWTH = 2 };

// Whether the word is the text, leaving out the text's apostrophes.
static bool is_typed(const int32_t *word, size_t count, const char *text)
{
    size_t i = 0;
    for (; *text; text++)
        if (*text != '\'' && (i == count || word[i++] != *text))
            return false;
    return i == count;
}

// What the training text has for the word; false: nothing else.
static bool replace(const int32_t *word, size_t count, char out[LONGEST])
{
    for (int i = 0; i < CONTRACTIONS; i++)
        if (is_typed(word, count, contractions[i]))
            return snprintf(out, LONGEST, "%s", contractions[i]) > 0;
    for (int i = 0; i < NUMBERS; i++)
        if (is_typed(word, count, numbers[i]))
            return snprintf(out, LONGEST, "%s", digits[i]) > 0;
    return false;
}

const char *vd_typed_digits(const char *word)
{
    for (int i = 0; i < NUMBERS; i++)
        if (strcmp(word, numbers[i]) == 0)
            return digits[i];
    return NULL;
}

// Curly and other quotes, dashes and spaces as the keyboard has them; 0 drops the character.
static int32_t plain(int32_t c)
{
    static const int32_t single[] = {0x2018, 0x2019, 0x201a, 0x201b, 0x02bc, 0x2032, 0x00b4, '`'};
    static const int32_t twofold[] = {0x201c, 0x201d, 0x201e, 0x201f, 0x2033, 0x00ab, 0x00bb};
    if (vd_codepoint_is_space(c))
        return ' ';
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (c == single[i])
            return '\'';
    for (size_t i = 0; i < sizeof twofold / sizeof *twofold; i++)
        if (c == twofold[i])
            return '"';
    if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212)
        return '-';
    utf8proc_category_t category = utf8proc_category(c);
    if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZS)
        return ' ';
    return category == UTF8PROC_CATEGORY_CF ? 0 : utf8proc_tolower(c);
}

// White space folded to single spaces, none at the ends.
static void fold(vd_codepoints *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->count; i++) {
        int32_t c = plain(text->at[i]);
        if (c == 0 || (c == ' ' && (kept == 0 || text->at[kept - 1] == ' ')))
            continue;
        text->at[kept++] = c;
    }
    while (kept > 0 && text->at[kept - 1] == ' ')
        kept--;
    text->count = kept;
}

static void cut_final_marks(vd_codepoints *text)
{
    while (text->count > 0 && vd_codepoint_is_one_of(text->at[text->count - 1], "?.! "))
        text->count--;
}

static void replace_words(const vd_codepoints *text, vd_codepoints *out)
{
    for (size_t i = 0; i < text->count;) {
        size_t end = i;
        while (end < text->count && (vd_codepoint_is_word(text->at[end]) || text->at[end] == '\''))
            end++;
        char other[LONGEST] = "";
        if (replace(text->at + i, end - i, other))
            i = end;
        else if (end == i)
            end++;
        for (const char *c = other; *c; c++)
            out->at[out->count++] = (unsigned char)*c;
        for (; i < end; i++)
            out->at[out->count++] = text->at[i];
    }
}

// The typed text, composed and compatible (NFKC).
static vd_status decode(const char *typed, vd_codepoints *text, vd_error *err)
{
    // Only for its check and its message; the composed text takes its place.
    vd_status status = vd_codepoints_decode(text, typed, err);
    if (status != VD_OK)
        return status;
    char *composed = (char *)utf8proc_NFKC((const utf8proc_uint8_t *)typed);
    if (!composed || vd_codepoints_decode(text, composed, err) != VD_OK)
        status = vd_error_memory(err, "what was typed");
    free(composed);
    return status;
}

vd_status vd_normalise_typed(const char *typed, char **out, vd_error *err)
{
    vd_codepoints text = {0}, replaced = {0};
    *out = NULL;
    vd_status status = decode(typed, &text, err);
    if (status == VD_OK) {
        fold(&text);
        cut_final_marks(&text);
        if (vd_codepoints_reserve(&replaced, GROWTH * text.count)) {
            replace_words(&text, &replaced);
            *out = vd_alloc(4 * replaced.count + 1, 1);
        }
        if (*out)
            vd_codepoints_encode(replaced.at, replaced.count, *out);
        else
            status = vd_error_memory(err, "what was typed");
    }
    vd_codepoints_clear(&replaced);
    vd_codepoints_clear(&text);
    return status;
}

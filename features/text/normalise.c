// What a person types, made to look like VisDial's text: lower case, digits for the numbers up to
// ten, apostrophes in contractions, no "?" at the end (all as the data set's makers left it).
#include "features/text/tokenize.h"

#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/base/alloc.h"
#include "features/text/characters.h"

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

enum { CONTRACTIONS = sizeof contractions / sizeof *contractions, NUMBERS = 11 };

// Whether the word is the text, leaving out the text's apostrophes.
static bool is_typed(const char *word, const char *text)
{
    for (; *text; text++)
        if (*text != '\'' && *word++ != *text)
            return false;
    return !*word;
}

const char *vd_typed_digits(const char *word)
{
    for (int i = 0; i < NUMBERS; i++)
        if (strcmp(word, numbers[i]) == 0)
            return digits[i];
    return NULL;
}

// What the training text has for the word.
static const char *trained(const char *word, const void *unused)
{
    (void)unused;
    const char *digits_of = vd_typed_digits(word);
    for (int i = 0; i < CONTRACTIONS; i++)
        if (is_typed(word, contractions[i]))
            return contractions[i];
    return digits_of ? digits_of : word;
}

// Curly and other quotes, dashes and spaces as the keyboard has them; 0 drops the character.
static gunichar plain(gunichar c)
{
    static const gunichar single[] = {0x2018, 0x2019, 0x201a, 0x201b, 0x02bc, 0x2032, 0x00b4, '`'};
    static const gunichar twofold[] = {0x201c, 0x201d, 0x201e, 0x201f, 0x2033, 0x00ab, 0x00bb};
    if (vd_is_space(c))
        return ' ';
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (c == single[i])
            return '\'';
    for (size_t i = 0; i < sizeof twofold / sizeof *twofold; i++)
        if (c == twofold[i])
            return '"';
    if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212)
        return '-';
    utf8proc_category_t category = utf8proc_category((int32_t)c);
    if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZS)
        return ' ';
    return category == UTF8PROC_CATEGORY_CF ? 0 : (gunichar)utf8proc_tolower((int32_t)c);
}

// White space folded to single spaces, none at the ends, and no marks at the end (g_string_free).
static GString *plain_text(const char *text)
{
    GString *out = g_string_new(NULL);
    for (; *text; text = g_utf8_next_char(text)) {
        gunichar c = plain(g_utf8_get_char(text));
        if (c && (c != ' ' || (out->len > 0 && out->str[out->len - 1] != ' ')))
            g_string_append_unichar(out, c);
    }
    while (out->len > 0 && strchr("?.! ", out->str[out->len - 1]))
        g_string_truncate(out, out->len - 1);
    return out;
}

vd_status vd_normalise_typed(const char *typed, char **out, vd_error *err)
{
    static pcre2_code *words;
    *out = NULL;
    vd_status status = vd_text_check(typed, err);
    if (status != VD_OK)
        return status;
    // Composed and compatible.
    char *composed = (char *)utf8proc_NFKC((const utf8proc_uint8_t *)typed);
    GString *text = plain_text(composed ? composed : "");
    char *replaced =
        vd_text_replace(vd_pattern(&words, "[" VD_LETTERS "']++"), text->str, trained, NULL);
    if (composed)
        *out = vd_strdup(replaced);
    g_free(replaced);
    g_string_free(text, TRUE);
    free(composed);
    return *out ? VD_OK : vd_error_memory(err, "what was typed");
}

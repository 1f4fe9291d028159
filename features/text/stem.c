// The names of steps and regions are those of the published description.
#include "features/text/stem.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

// The word as far as it is stemmed; a y that is a consonant is Y.
typedef struct word {
    char text[VD_STEM_MOST];
    size_t length;
    size_t r1, r2; // where the regions start
} word;

static bool is_vowel(const word *w, size_t i)
{
    return strchr("aeiouy", w->text[i]) != NULL;
}

static bool has_vowel(const word *w, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (is_vowel(w, i))
            return true;
    return false;
}

static bool ends(const word *w, const char *suffix)
{
    size_t length = strlen(suffix);
    return length <= w->length && memcmp(w->text + w->length - length, suffix, length) == 0;
}

static void cut(word *w, size_t letters)
{
    w->length -= letters;
    w->text[w->length] = 0;
}

static void put_behind(word *w, const char *text)
{
    for (; *text && w->length + 1 < sizeof w->text; text++)
        w->text[w->length++] = *text;
    w->text[w->length] = 0;
}

// ---- regions ------------------------------------------------------------------------------------

static size_t region_after(const word *w, size_t from)
{
    for (size_t i = from + 1; i < w->length; i++)
        if (!is_vowel(w, i) && is_vowel(w, i - 1))
            return i + 1;
    return w->length;
}

static void find_regions(word *w)
{
    static const char *const starts[] = {"gener", "commun", "arsen"};
    w->r1 = 0;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(w->text, starts[i], strlen(starts[i])) == 0)
            w->r1 = strlen(starts[i]);
    if (!w->r1)
        w->r1 = region_after(w, 0);
    w->r2 = region_after(w, w->r1);
}

// Whether a syllable that ends the first `length` letters is short.
static bool is_short_syllable(const word *w, size_t length)
{
    if (length == 2)
        return is_vowel(w, 0) && !is_vowel(w, 1);
    return length > 2 && !is_vowel(w, length - 3) && is_vowel(w, length - 2) &&
           !is_vowel(w, length - 1) && !strchr("wxY", w->text[length - 1]);
}

// ---- steps --------------------------------------------------------------------------------------

typedef struct rule {
    const char *suffix, *instead;
} rule;

// Letters one of which has to stand before the suffix; NULL: any.
static const char *letters_before(const char *suffix)
{
    return strcmp(suffix, "li") == 0    ? "cdeghkmnrt"
           : strcmp(suffix, "ogi") == 0 ? "l"
           : strcmp(suffix, "ion") == 0 ? "st"
                                        : NULL;
}

// Of the rules whose suffix the word ends in, the longest is applied, if it lies in its region:
// R1, or R2 as "ative" always has to.
static void apply_longest(word *w, const rule *rules, bool in_r2)
{
    const rule *longest = NULL;
    for (const rule *r = rules; r->suffix; r++)
        if (ends(w, r->suffix) && (!longest || strlen(r->suffix) > strlen(longest->suffix)))
            longest = r;
    if (!longest)
        return;
    size_t start = w->length - strlen(longest->suffix);
    const char *letters = letters_before(longest->suffix);
    if (start < (in_r2 || strcmp(longest->suffix, "ative") == 0 ? w->r2 : w->r1) ||
        (letters && (start == 0 || !strchr(letters, w->text[start - 1]))))
        return;
    cut(w, strlen(longest->suffix));
    put_behind(w, longest->instead);
}

static void step_0(word *w)
{
    cut(w, ends(w, "'s'") ? 3 : ends(w, "'s") ? 2 : ends(w, "'"));
}

// How many letters of an ending in s go.
static size_t plural_letters(const word *w)
{
    bool after_i = ends(w, "ied") || ends(w, "ies");
    if (ends(w, "sses") || after_i)
        return after_i && w->length <= 4 ? 1 : 2;
    return ends(w, "s") && !ends(w, "us") && !ends(w, "ss") && w->length > 2 &&
           has_vowel(w, w->length - 2);
}

static void step_1a(word *w)
{
    cut(w, plural_letters(w));
}

static bool ends_in_double(const word *w)
{
    if (w->length < 2)
        return false;
    const char *last = w->text + w->length - 1;
    return last[0] == last[-1] && strchr("bdfgmnprt", *last);
}

static void step_1b(word *w)
{
    static const char *const endings[] = {"ingly", "edly", "ing", "ed"};
    static const rule eed[] = {{"eedly", "ee"}, {"eed", "ee"}, {0}};
    if (ends(w, "eed") || ends(w, "eedly")) {
        apply_longest(w, eed, false);
        return;
    }
    size_t length = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !length; i++)
        length = ends(w, endings[i]) ? strlen(endings[i]) : 0;
    if (!length || !has_vowel(w, w->length - length))
        return;
    cut(w, length);
    bool open = ends(w, "at") || ends(w, "bl") || ends(w, "iz");
    if (!open && ends_in_double(w))
        cut(w, 1);
    else if (open || (w->r1 >= w->length && is_short_syllable(w, w->length)))
        put_behind(w, "e");
}

static void step_1c(word *w)
{
    if (w->length > 2 && strchr("yY", w->text[w->length - 1]) && !is_vowel(w, w->length - 2))
        w->text[w->length - 1] = 'i';
}

// clang-format off
static const rule step_2[] = {
    {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"entli", "ent"},
    {"izer", "ize"}, {"ization", "ize"}, {"ational", "ate"}, {"ation", "ate"}, {"ator", "ate"},
    {"alism", "al"}, {"aliti", "al"}, {"alli", "al"}, {"fulness", "ful"}, {"ousli", "ous"},
    {"ousness", "ous"}, {"iveness", "ive"}, {"iviti", "ive"}, {"biliti", "ble"}, {"bli", "ble"},
    {"ogi", "og"}, {"fulli", "ful"}, {"lessli", "less"}, {"li", ""}, {0},
};
// clang-format on

static const rule step_3[] = {
    {"tional", "tion"}, {"ational", "ate"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"},
    {"ical", "ic"},     {"ful", ""},        {"ness", ""},    {"ative", ""},   {0}};

static const rule step_4[] = {
    {"al", ""},  {"ance", ""},  {"ence", ""}, {"er", ""},  {"ic", ""},  {"able", ""}, {"ible", ""},
    {"ant", ""}, {"ement", ""}, {"ment", ""}, {"ent", ""}, {"ism", ""}, {"ate", ""},  {"iti", ""},
    {"ous", ""}, {"ive", ""},   {"ize", ""},  {"ion", ""}, {0}};

static void step_5(word *w)
{
    size_t last = w->length - 1;
    bool e = ends(w, "e") && (last >= w->r2 || (last >= w->r1 && !is_short_syllable(w, last)));
    if (e || (ends(w, "ll") && last >= w->r2))
        cut(w, 1);
}

// ---- words --------------------------------------------------------------------------------------

static bool find_exception(const char *text, char *stem)
{
    static const char *const list[][2] = {
        {"skis", "ski"},    {"skies", "sky"},  {"dying", "die"},    {"lying", "lie"},
        {"tying", "tie"},   {"idly", "idl"},   {"gently", "gentl"}, {"ugly", "ugli"},
        {"early", "earli"}, {"only", "onli"},  {"singly", "singl"}, {"sky", "sky"},
        {"news", "news"},   {"howe", "howe"},  {"atlas", "atlas"},  {"cosmos", "cosmos"},
        {"bias", "bias"},   {"andes", "andes"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (strcmp(text, list[i][0]) != 0)
            continue;
        snprintf(stem, VD_STEM_MOST, "%s", list[i][1]);
        return true;
    }
    return false;
}

static bool stays_after_step_1a(const char *text)
{
    static const char *const list[] = {"inning",  "outing", "canning", "herring", "earring",
                                       "proceed", "exceed", "succeed", NULL};
    return g_strv_contains(list, text);
}

static void mark_consonant_y(word *w)
{
    for (size_t i = 0; i < w->length; i++)
        if (w->text[i] == 'y' && (i == 0 || is_vowel(w, i - 1)))
            w->text[i] = 'Y';
}

static void all_steps(word *w)
{
    mark_consonant_y(w);
    find_regions(w);
    step_0(w);
    step_1a(w);
    if (stays_after_step_1a(w->text))
        return;
    step_1b(w);
    step_1c(w);
    apply_longest(w, step_2, false);
    apply_longest(w, step_3, false);
    apply_longest(w, step_4, true);
    if (w->length)
        step_5(w);
}

void vd_stem(const char *text, char stem[VD_STEM_MOST])
{
    size_t length = strlen(text);
    snprintf(stem, VD_STEM_MOST, "%s", text);
    if (length <= 2 || length >= VD_STEM_MOST || find_exception(text, stem))
        return;
    word w = {.length = length - (*text == '\'')};
    memcpy(w.text, text + (*text == '\''), w.length + 1);
    all_steps(&w);
    for (size_t i = 0; i <= w.length; i++)
        stem[i] = (char)(w.text[i] == 'Y' ? 'y' : w.text[i]);
}

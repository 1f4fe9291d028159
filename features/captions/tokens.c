#include "features/captions/tokens.h"

#include <glib.h>
#include <libstemmer.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "features/text/characters.h"

// ---- coco-caption's tokens ----------------------------------------------------------------------

// Quotes, dashes and the ellipsis as the keyboard has them.
static const vd_text_rule straight[] = {
    {"\u2018\u2019", "[\u2018\u2019]", "'"},
    {"\u201c\u201d", "[\u201c\u201d]", "\""},
    {"\u2013\u2014", "[\u2013\u2014]", " -- "},
    {"\u2026", "\u2026", " ... "},
};

// Of words with blanks between them.
#define ALONE(pattern) "(?<![^ ])(?:" pattern ")(?![^ ])"
static const vd_text_rule coco[] = {
    {"(", ALONE("\\("), "-lrb-"},
    {")", ALONE("\\)"), "-rrb-"},
    {"[", ALONE("\\["), "-lsb-"},
    {"]", ALONE("\\]"), "-rsb-"},
    {"{", ALONE("\\{"), "-lcb-"},
    {"}", ALONE("\\}"), "-rcb-"},
    // "'quoted" -> "quoted", "hard-" -> "hard"
    {"'", "(?<![^ ])'(?!(?:[dmnst]|ll|re|ve)?(?![^ ])|[0-9])", ""},
    {"-", ALONE("([^ -][^ ]*?)-+"), "$1"},
    // what is dropped
    {"'`.?!,:;-", ALONE("''?|``?|[.?!,:;-]|--|\\.{3}"), ""},
};

static void given_tokens(const char *text, vd_words *out)
{
    char **word = out->word = g_strsplit_set(text, " \t\r\n", -1);
    for (; *word; word++) // without the empty ones between two blanks
        if (**word)
            out->word[out->count++] = *word;
        else
            g_free(*word);
    out->word[out->count] = NULL;
}

static vd_status coco_tokens(const char *text, vd_words *out, vd_error *err)
{
    static pcre2_code *straight_compiled[G_N_ELEMENTS(straight)],
        *coco_compiled[G_N_ELEMENTS(coco)];
    vd_words words = {0};
    vd_status status = vd_text_check(text, err);
    if (status)
        return status;
    char *plain = g_strdup(text);
    vd_text_rules(straight, straight_compiled, G_N_ELEMENTS(straight), &plain);
    status = vd_tokenize_lower(plain, &words, err);
    g_free(plain);
    if (status)
        return status;
    plain = g_strjoinv(" ", words.word);
    vd_text_rules(coco, coco_compiled, G_N_ELEMENTS(coco), &plain);
    given_tokens(plain, out);
    g_free(plain);
    vd_words_clear(&words);
    return VD_OK;
}

// ---- tokens -------------------------------------------------------------------------------------

vd_status vd_caption_tokenize(const char *text, vd_caption_tokenizer by, vd_words *out,
                              vd_error *err)
{
    *out = (vd_words){0};
    if (by == VD_CAPTION_GIVEN)
        given_tokens(text, out);
    return by == VD_CAPTION_WORDS  ? vd_tokenize_lower(text, out, err)
           : by == VD_CAPTION_COCO ? coco_tokens(text, out, err)
                                   : VD_OK;
}

static vd_status to_numbers(vd_word_counts *words, const vd_words *text, int32_t *id, vd_error *err)
{
    for (size_t i = 0; i < text->count; i++) {
        vd_status status = vd_word_counts_add(words, text->word[i], 1, err);
        if (status)
            return status;
        id[i] = vd_word_counts_number(words, text->word[i]);
    }
    return VD_OK;
}

vd_status vd_caption_numbers(vd_word_counts *words, const char *text, vd_caption_tokenizer by,
                             vd_string_arena *arena, vd_tokens *out, vd_error *err)
{
    vd_words list;
    *out = (vd_tokens){0};
    vd_status status = vd_caption_tokenize(text, by, &list, err);
    if (status == VD_OK && list.count > VD_CAPTION_MOST)
        status = vd_error_set(err, VD_FORMAT, "a caption of %zu words; expected at most %d",
                              list.count, VD_CAPTION_MOST);
    int32_t *id = status ? NULL : vd_string_arena_take(arena, list.count + 1, sizeof *id);
    if (status == VD_OK)
        status = id ? to_numbers(words, &list, id, err) : vd_error_memory(err, "captions");
    if (status == VD_OK)
        *out = (vd_tokens){id, (int)list.count};
    vd_words_clear(&list);
    return status;
}

vd_status vd_caption_stems(const vd_word_counts *words, int32_t **out, vd_error *err)
{
    vd_word_counts stems = {0};
    struct sb_stemmer *english = sb_stemmer_new("english", NULL);
    int32_t *number = *out = vd_alloc(words->count, sizeof *number);
    vd_status status = english && number ? VD_OK : vd_error_memory(err, "the stems of words");
    for (size_t i = 0; i < words->count && status == VD_OK; i++) {
        const char *word = words->words[i].text;
        const sb_symbol *stem =
            sb_stemmer_stem(english, (const sb_symbol *)word, (int)strlen(word));
        if (stem && !*stem) // of "''s"
            stem = (const sb_symbol *)word;
        status = stem ? vd_word_counts_add(&stems, (const char *)stem, 1, err)
                      : vd_error_memory(err, "the stems of words");
        if (status == VD_OK)
            number[i] = vd_word_counts_number(&stems, (const char *)stem);
    }
    sb_stemmer_delete(english);
    vd_word_counts_clear(&stems);
    if (status) {
        vd_free(number);
        *out = NULL;
    }
    return status;
}

// ---- text ---------------------------------------------------------------------------------------

static bool stands_close(const char *word)
{
    static const char *const list[] = {",", ".", ";", ":", "!", "?", "'s", "n't", NULL};
    return g_strv_contains(list, word);
}

char *vd_caption_text(const char *const *word, int count)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < count; i++) {
        if (i > 0 && !stands_close(word[i]))
            g_string_append_c(text, ' ');
        g_string_append(text, word[i]);
    }
    return g_string_free(text, FALSE);
}

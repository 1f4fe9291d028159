#include "features/captions/tokens.h"

#include <glib.h>
#include <libstemmer.h>
#include <string.h>

#include "engine/base/alloc.h"

// ---- coco-caption's tokens ----------------------------------------------------------------------

// Quotes, dashes and the ellipsis as the keyboard has them (g_free).
static char *straighten(const char *text)
{
    static const char *const list[][2] = {
        {"\u2018", "'"},    {"\u2019", "'"},    {"\u201c", "\""},   {"\u201d", "\""},
        {"\u2013", " -- "}, {"\u2014", " -- "}, {"\u2026", " ... "}};
    GString *out = g_string_new(text);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        g_string_replace(out, list[i][0], list[i][1], 0);
    return g_string_free(out, FALSE);
}

static bool is_dropped(const char *word)
{
    static const char *const list[] = {"''", "'", "``", "`", ".",  "?",   "!",
                                       ",",  ":", ";",  "-", "--", "...", NULL};
    return g_strv_contains(list, word);
}

static const char *bracket(const char *word)
{
    static const char marks[] = "()[]{}";
    static const char *const names[] = {"-lrb-", "-rrb-", "-lsb-", "-rsb-", "-lcb-", "-rcb-"};
    const char *mark = *word && !word[1] ? strchr(marks, *word) : NULL;
    return mark ? names[mark - marks] : NULL;
}

// "'quoted" -> "quoted", "hard-" -> "hard".
static void cut_ends(char *word)
{
    static const char *const whole[] = {"'s", "'m", "'d", "'ll", "'re", "'ve", "'t", "'n", NULL};
    size_t length = strlen(word);
    if (*word == '\'' && !g_strv_contains(whole, word) && !strchr("0123456789", word[1]))
        memmove(word, word + 1, length--);
    while (length > 1 && word[length - 1] == '-' && word[0] != '-')
        word[--length] = 0;
}

static vd_status to_coco(vd_words *words, vd_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < words->count; i++) {
        const char *other = bracket(words->word[i]);
        char *word = other ? vd_strdup(other) : words->word[i];
        if (!word)
            return vd_error_memory(err, "the words of a caption");
        if (other)
            vd_free(words->word[i]);
        else if (!is_dropped(word))
            cut_ends(word);
        words->word[i] = NULL;
        if (is_dropped(word))
            vd_free(word);
        else
            words->word[kept++] = word;
    }
    words->count = kept;
    return VD_OK;
}

static vd_status coco_tokens(const char *text, vd_words *out, vd_error *err)
{
    char *straight = straighten(text);
    vd_status status = vd_tokenize_lower(straight, out, err);
    g_free(straight);
    return status ? status : to_coco(out, err);
}

// ---- tokens -------------------------------------------------------------------------------------

static vd_status given_tokens(const char *text, vd_words *out, vd_error *err)
{
    static const char blanks[] = " \t\r\n";
    size_t room = 0;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t length = strcspn(text, blanks);
        char *word = vd_make_room(&out->word, &room, out->count + 1, sizeof *out->word)
                         ? vd_strndup(text, length)
                         : NULL;
        if (!word)
            return vd_error_memory(err, "the words of a caption");
        out->word[out->count++] = word;
        text += length;
    }
    return VD_OK;
}

vd_status vd_caption_tokenize(const char *text, vd_caption_tokenizer by, vd_words *out,
                              vd_error *err)
{
    *out = (vd_words){0};
    vd_status status = by == VD_CAPTION_WORDS  ? vd_tokenize_lower(text, out, err)
                       : by == VD_CAPTION_COCO ? coco_tokens(text, out, err)
                                               : given_tokens(text, out, err);
    if (status)
        vd_words_clear(out);
    return status;
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
    char *copy = vd_strndup(text->str, text->len);
    g_string_free(text, TRUE);
    return copy;
}

// The rules are NLTK's, in NLTK's order and under the names of its lists (NLTKWordTokenizer in
// nltk/tokenize/destructive.py as of 3.3 to 3.8, the versions VisDial's word counts were made
// with); each is one pass over the sentence.
#include "features/text/tokenize.h"

#include <glib.h>
#include <utf8proc.h>

#include "features/text/characters.h"
#include "features/text/sentences.h"

// ---- rules ----------------------------------------------------------------------

static const vd_text_rule rules[] = {
    // STARTING_QUOTES; the last one: a quote before a word of one character
    {"`«“‘„", "[«“‘„]|`+", " $0 "},
    {"\"`", "^\"|``", " `` "},
    {"\"'", "([ (\\[{<])(?:\"|'')", "$1 `` "},
    {"'", "(?i)'(?![mtsdn])(" VD_WORD ")(?!" VD_WORD ")", "' $1"},
    // PUNCTUATION, PARENS_BRACKETS and DOUBLE_DASHES. NLTK has the first one a second time with
    // fewer closing marks; by then it can only add spaces.
    {".", "([^.])\\.([])}>\"'»”’ ]*+)" VD_SPACE "*+\\z", "$1 . $2 "},
    {":,", "([:,])(\\P{Nd})", " $1 $2"},
    {":,", "[:,]\\z", " $0 "},
    {".", "\\.{2,}", " $0 "},
    {";@#$%&?!", "[;@#$%&?!]", " $0 "},
    {"'", "([^'])' ", "$1 ' "},
    {"*[](){}<>-", "[][*(){}<>]|--", " $0 "},
    // ENDING_QUOTES. NLTK puts a space at both ends of the sentence first; here and in what follows
    // its start and its end stand for one.
    {"»”’", "[»”’]", " $0 "},
    {"\"'", "''|\"", " '' "},
    {"'", "([^' ])('[sSmMdD]?)(?: |\\z)", "$1 $2 "},
    {"'", "([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T)(?: |\\z)", "$1 $2 "},
    // CONTRACTIONS2 and CONTRACTIONS3
    {NULL,
     "(?i)(?<!" VD_WORD ")(?|(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n)"
     "|(wan)(na)(?=" VD_SPACE "|\\z))(?!" VD_WORD ")",
     " $1 $2 "},
    {"'", "(?i)(?:^| )('t)(is)(?!" VD_WORD ")", " $1 $2 "},
    {"'", "(?i)(?:^| )('t)(was)(?!" VD_WORD ")", " $1 $2 "},
};

// ---- tokens -----------------------------------------------------------------

// Called with each token in order; the string is only borrowed.
typedef vd_status (*token_fn)(void *context, const char *token, vd_error *err);

static vd_status split(char *text, token_fn take, void *context, vd_error *err)
{
    vd_status status = VD_OK;
    for (char *token = text; *token && status == VD_OK; token = text) {
        while (*text && !vd_is_space(g_utf8_get_char(text)))
            text = g_utf8_next_char(text);
        char *end = text;
        text = *text ? g_utf8_next_char(text) : text;
        *end = '\0';
        if (end > token)
            status = take(context, token, err);
    }
    return status;
}

// What is tokenised: the text, or text + "?"; as it is, or in lower case.
typedef struct source {
    const char *text;
    bool question, lower;
} source;

// g_string_free
static GString *whole_text(const source *from)
{
    GString *text = g_string_new(from->lower ? NULL : from->text);
    for (const char *at = from->text; *at && from->lower; at = g_utf8_next_char(at))
        g_string_append_unichar(text, (gunichar)utf8proc_tolower((int32_t)g_utf8_get_char(at)));
    return from->question ? g_string_append_c(text, '?') : text;
}

static vd_status each_token(const source *from, token_fn take, void *context, vd_error *err)
{
    static pcre2_code *compiled[G_N_ELEMENTS(rules)];
    vd_status status = vd_text_check(from->text, err);
    if (status != VD_OK)
        return status;
    GString *text = whole_text(from);
    GArray *spans = vd_sentences(text->str);
    for (guint i = 0; i < spans->len && status == VD_OK; i++) {
        vd_span span = g_array_index(spans, vd_span, i);
        char *sentence = g_strndup(text->str + span.start, span.stop - span.start);
        vd_text_rules(rules, compiled, G_N_ELEMENTS(rules), &sentence);
        status = split(sentence, take, context, err);
        g_free(sentence);
    }
    g_array_unref(spans);
    g_string_free(text, TRUE);
    return status;
}

static vd_status collect(void *context, const char *token, vd_error *err)
{
    (void)err;
    g_strv_builder_add(context, token);
    return VD_OK;
}

static vd_status collect_all(const source *text, vd_words *out, vd_error *err)
{
    GStrvBuilder *words = g_strv_builder_new();
    vd_status status = each_token(text, collect, words, err);
    *out = (vd_words){0};
    if (status == VD_OK) {
        out->word = g_strv_builder_end(words);
        out->count = g_strv_length(out->word);
    }
    g_strv_builder_unref(words);
    return status;
}

vd_status vd_tokenize(const char *text, vd_words *out, vd_error *err)
{
    return collect_all(&(source){.text = text}, out, err);
}

vd_status vd_tokenize_lower(const char *text, vd_words *out, vd_error *err)
{
    return collect_all(&(source){.text = text, .lower = true}, out, err);
}

void vd_words_clear(vd_words *words)
{
    g_strfreev(words->word);
    *words = (vd_words){0};
}

// ---- counts and ids ---------------------------------------------------------

typedef struct counting {
    vd_word_counts *counts;
    int64_t times;
} counting;

static vd_status count(void *context, const char *token, vd_error *err)
{
    const counting *c = context;
    return vd_word_counts_add(c->counts, token, c->times, err);
}

vd_status vd_text_count_words(vd_word_counts *counts, const char *text, bool question,
                              int64_t times, vd_error *err)
{
    return each_token(&(source){.text = text, .question = question}, count,
                      &(counting){counts, times}, err);
}

typedef struct id_list {
    const vd_vocab *vocab;
    vd_oov_words *own; // numbers unknown words; NULL: they are VD_UNKNOWN
    int32_t *ids;
    int most, found;
} id_list;

static void append_id(id_list *list, int32_t id)
{
    if (list->found < list->most)
        list->ids[list->found] = id;
    list->found++;
}

static vd_status look_up(void *context, const char *token, vd_error *err)
{
    id_list *list = context;
    int32_t id;
    vd_status status = VD_OK;
    if (list->own && list->found < list->most)
        status = vd_oov_words_id(list->own, token, &id, err);
    else
        id = list->own ? VD_UNKNOWN : vd_vocab_id(list->vocab, token);
    append_id(list, id);
    return status;
}

// whole: with <S> and </S> around it.
static vd_status find_ids(id_list *list, const source *text, bool whole, int *length, vd_error *err)
{
    if (whole)
        append_id(list, VD_START);
    vd_status status = each_token(text, look_up, list, err);
    if (status != VD_OK)
        return status;
    if (whole)
        append_id(list, VD_END);
    *length = list->found < list->most ? list->found : list->most;
    return VD_OK;
}

vd_status vd_text_ids(const vd_vocab *vocab, const char *text, bool question, int most,
                      int32_t *ids, int *length, int *found, vd_error *err)
{
    id_list list = {vocab, NULL, ids, most, 0};
    vd_status status =
        find_ids(&list, &(source){.text = text, .question = question}, false, length, err);
    if (status == VD_OK)
        *found = list.found;
    return status;
}

vd_status vd_text_oov_ids(vd_oov_words *own, const char *text, bool question, int most,
                          int32_t *ids, int *length, vd_error *err)
{
    return find_ids(&(id_list){NULL, own, ids, most, 0},
                    &(source){.text = text, .question = question}, false, length, err);
}

vd_status vd_answer_ids(const vd_vocab *vocab, const char *answer, int most, int32_t *ids,
                        int *length, vd_error *err)
{
    return find_ids(&(id_list){vocab, NULL, ids, most, 0}, &(source){.text = answer}, true, length,
                    err);
}

vd_status vd_answer_oov_ids(vd_oov_words *own, const char *answer, int most, int32_t *ids,
                            int *length, vd_error *err)
{
    return find_ids(&(id_list){NULL, own, ids, most, 0}, &(source){.text = answer}, true, length,
                    err);
}

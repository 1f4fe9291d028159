// The rules are NLTK's, in NLTK's order and under the names of its lists (NLTKWordTokenizer in
// nltk/tokenize/destructive.py as of 3.3 to 3.8, the versions VisDial's word counts were made
// with); each is one pass over the sentence. The regular expression is quoted at each rule.
#include "features/text/tokenize.h"

#include <utf8proc.h>

#include "engine/base/alloc.h"
#include "features/text/codepoints.h"
#include "features/text/sentences.h"

// ---- one pass: reading one line, writing the other --------------------------

// No rule makes more than four characters of one.
enum { GROWTH = 4 };

typedef struct pass {
    const int32_t *in;
    size_t count;
    vd_codepoints *out;
} pass;

// A rule, applied where character i stands: writes what it makes of the characters from there on
// and returns how many these are; 0 when it does not match.
typedef size_t rule_fn(pass *p, size_t i);

static int32_t look(const pass *p, size_t i)
{
    return i < p->count ? p->in[i] : 0;
}

static void put(pass *p, int32_t c)
{
    p->out->at[p->out->count++] = c;
}

static void put_text(pass *p, const char *ascii)
{
    for (; *ascii; ascii++)
        put(p, (unsigned char)*ascii);
}

static void copy(pass *p, size_t from, size_t to)
{
    for (; from < to; from++)
        put(p, p->in[from]);
}

// -> " \0 ", of `length` characters; returns length.
static size_t pad(pass *p, size_t i, size_t length)
{
    if (length > 0) {
        put(p, ' ');
        copy(p, i, i + length);
        put(p, ' ');
    }
    return length;
}

static bool starts(const pass *p, size_t i, const char *ascii, bool any_case)
{
    for (; *ascii; ascii++, i++) {
        int32_t c = look(p, i);
        if ((any_case ? vd_codepoint_lower(c) : c) != (unsigned char)*ascii)
            return false;
    }
    return true;
}

// How often the character stands there one after another.
static size_t run_of(const pass *p, size_t i, int32_t c)
{
    size_t run = 0;
    while (look(p, i + run) == c)
        run++;
    return run;
}

// [»”’]
static bool is_closing_quote(int32_t c)
{
    return c == 0xbb || c == 0x201d || c == 0x2019;
}

// \b between characters i - 1 and i
static bool is_boundary(const pass *p, size_t i)
{
    bool before = i > 0 && vd_codepoint_is_word(p->in[i - 1]);
    return before != (i < p->count && vd_codepoint_is_word(p->in[i]));
}

// ---- STARTING_QUOTES --------------------------------------------------------

// ([«“‘„]|[`]+) -> " \1 "
static size_t open_quotes(pass *p, size_t i)
{
    int32_t c = p->in[i];
    bool quote = c == 0xab || c == 0x201c || c == 0x2018 || c == 0x201e;
    return pad(p, i, quote ? 1 : run_of(p, i, '`'));
}

// ^" -> `` and then (``) -> " \1 "
static size_t leading_quote(pass *p, size_t i)
{
    size_t length = i == 0 && p->in[i] == '"' ? 1 : starts(p, i, "``", false) ? 2 : 0;
    if (length > 0)
        put_text(p, " `` ");
    return length;
}

// ([ \(\[{<])("|'{2}) -> "\1 `` "
static size_t quote_after_space(pass *p, size_t i)
{
    size_t quote = look(p, i + 1) == '"' ? 1 : starts(p, i + 1, "''", false) ? 2 : 0;
    if (quote == 0 || !vd_codepoint_is_one_of(p->in[i], " ([{<"))
        return 0;
    put(p, p->in[i]);
    put_text(p, " `` ");
    return 1 + quote;
}

// (?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b -> "\1 \2": a quote before a word of one character
static size_t quote_before_letter(pass *p, size_t i)
{
    int32_t next = look(p, i + 1);
    if (p->in[i] != '\'' || !vd_codepoint_is_word(next) ||
        vd_codepoint_is_one_of(vd_codepoint_lower(next), "mtsdn") || !is_boundary(p, i + 2))
        return 0;
    put_text(p, "' ");
    put(p, next);
    return 2;
}

// ---- PUNCTUATION ------------------------------------------------------------

// ([^\.])(\.)([\]\)}>"'»”’ ]*)\s*$ -> "\1 \2 \3 ". NLTK has the rule a second time with fewer
// closing marks; by then it can only add spaces.
static size_t final_period(pass *p, size_t i)
{
    if (p->in[i] != '.' || i == 0 || p->in[i - 1] == '.')
        return 0;
    size_t end = i + 1, stop;
    while (vd_codepoint_is_one_of(look(p, end), "])}>\"' ") || is_closing_quote(look(p, end)))
        end++;
    for (stop = end; stop < p->count && vd_codepoint_is_space(p->in[stop]);)
        stop++;
    if (stop < p->count)
        return 0;
    while (vd_codepoint_is_space(p->in[end - 1]))
        end--;
    pad(p, i, 1);
    copy(p, i + 1, end);
    put(p, ' ');
    return p->count - i;
}

// ([:,])([^\d]) -> " \1 \2" and then ([:,])$ -> " \1 "
static size_t colons_and_commas(pass *p, size_t i)
{
    bool last = i + 1 == p->count || (i + 2 == p->count && p->in[i + 1] == '\n');
    if (!vd_codepoint_is_one_of(p->in[i], ":,") || (!last && vd_codepoint_is_digit(p->in[i + 1])))
        return 0;
    pad(p, i, 1);
    if (last)
        return 1;
    // The next character is taken too: of "::" the second keeps its place.
    if (i + 2 < p->count || !pad(p, i + 1, vd_codepoint_is_one_of(p->in[i + 1], ":,")))
        put(p, p->in[i + 1]);
    return 2;
}

// \.{2,} -> " \0 "
static size_t ellipsis(pass *p, size_t i)
{
    size_t run = run_of(p, i, '.');
    return run < 2 ? 0 : pad(p, i, run);
}

// [;@#$%&], [?!] -> " \0 "
static size_t marks(pass *p, size_t i)
{
    return pad(p, i, vd_codepoint_is_one_of(p->in[i], ";@#$%&?!"));
}

// ([^'])'\x20 -> "\1 ' "
static size_t quote_before_space(pass *p, size_t i)
{
    if (p->in[i] == '\'' || !starts(p, i + 1, "' ", false))
        return 0;
    put(p, p->in[i]);
    put_text(p, " ' ");
    return 3;
}

// [*], PARENS_BRACKETS [\]\[\(\)\{\}\<\>] and DOUBLE_DASHES -- -> " \0 "
static size_t brackets_and_dashes(pass *p, size_t i)
{
    return pad(p, i, starts(p, i, "--", false) ? 2 : vd_codepoint_is_one_of(p->in[i], "*[](){}<>"));
}

// ---- ENDING_QUOTES ----------------------------------------------------------

// ([»”’]) -> " \1 ", '' -> " '' ", " -> " '' "
static size_t closing_quotes(pass *p, size_t i)
{
    size_t quote = p->in[i] == '"' ? 1 : starts(p, i, "''", false) ? 2 : 0;
    if (quote > 0)
        put_text(p, " '' ");
    return quote > 0 ? quote : pad(p, i, is_closing_quote(p->in[i]));
}

// ([^' ])(ending)\x20 -> "\1 \2 ", where ending is the first of endings that matches
static size_t endings(pass *p, size_t i, const char *const *list)
{
    if (vd_codepoint_is_one_of(p->in[i], "' "))
        return 0;
    for (const char *const *ending = list; *ending; ending++) {
        size_t length = starts(p, i + 1, *ending, false) ? strlen(*ending) : 0;
        if (length == 0 || look(p, i + 1 + length) != ' ')
            continue;
        put(p, p->in[i]);
        put(p, ' ');
        copy(p, i + 1, i + 2 + length);
        return length + 2;
    }
    return 0;
}

static size_t possessives(pass *p, size_t i)
{
    static const char *const list[] = {"'s", "'S", "'m", "'M", "'d", "'D", "'", NULL};
    return endings(p, i, list);
}

static size_t verb_endings(pass *p, size_t i)
{
    static const char *const list[] = {"'ll", "'LL", "'re", "'RE", "'ve",
                                       "'VE", "n't", "N'T", NULL};
    return endings(p, i, list);
}

// ---- CONTRACTIONS2 and CONTRACTIONS3 ----------------------------------------

// -> " \1 \2 ", where the word, in any case, is cut
static size_t split_word(pass *p, size_t i, const char *word, size_t cut)
{
    size_t length = starts(p, i, word, true) ? strlen(word) : 0;
    if (length == 0 || !is_boundary(p, i + length) || (word[0] != ' ' && !is_boundary(p, i)) ||
        (word[0] == 'w' && !vd_codepoint_is_space(look(p, i + length))))
        return 0;
    pad(p, i, cut);
    copy(p, i + cut, i + length);
    put(p, ' ');
    return length;
}

// (?i)\b(can)(not)\b and so on; (wan)(na) needs white space after it
static size_t contractions(pass *p, size_t i)
{
    static const struct {
        const char *word;
        size_t cut;
    } list[] = {{"cannot", 3}, {"d'ye", 1},  {"gimme", 3},  {"gonna", 3},
                {"gotta", 3},  {"lemme", 3}, {"more'n", 4}, {"wanna", 3}};
    size_t length = 0;
    for (size_t k = 0; k < sizeof list / sizeof *list && length == 0; k++)
        length = split_word(p, i, list[k].word, list[k].cut);
    return length;
}

// (?i) ('t)(is)\b
static size_t tis(pass *p, size_t i)
{
    return split_word(p, i, " 'tis", 3);
}

// (?i) ('t)(was)\b
static size_t twas(pass *p, size_t i)
{
    return split_word(p, i, " 'twas", 3);
}

// ---- the rules in order -----------------------------------------------------

// What a rule needs to have any effect; most sentences have little of it.
enum {
    HAS_QUOTE = 1,  // '
    HAS_DOUBLE = 2, // "
    HAS_PERIOD = 4, // .
    HAS_MARK = 8,   // ; @ # $ % & ? !
    HAS_COMMA = 16, // : ,
    HAS_TICK = 32,  // `
    HAS_OTHER = 64, // anything outside ASCII
    ALWAYS = 128,
};

static const struct {
    rule_fn *apply;
    unsigned needs;
} rules[] = {
    {open_quotes, HAS_TICK | HAS_OTHER},
    {leading_quote, HAS_DOUBLE | HAS_TICK},
    {quote_after_space, HAS_DOUBLE | HAS_QUOTE},
    {quote_before_letter, HAS_QUOTE},
    {final_period, HAS_PERIOD},
    {colons_and_commas, HAS_COMMA},
    {ellipsis, HAS_PERIOD},
    {marks, HAS_MARK},
    {quote_before_space, HAS_QUOTE},
    {brackets_and_dashes, ALWAYS},
    {closing_quotes, HAS_DOUBLE | HAS_QUOTE | HAS_OTHER},
    {possessives, HAS_QUOTE},
    {verb_endings, HAS_QUOTE},
    {contractions, ALWAYS},
    {tis, HAS_QUOTE},
    {twas, HAS_QUOTE},
};

static unsigned contents(const int32_t *at, size_t count)
{
    unsigned has = ALWAYS;
    for (size_t i = 0; i < count; i++) {
        int32_t c = at[i];
        has |= c == '\''                               ? HAS_QUOTE
               : c == '"'                              ? HAS_DOUBLE
               : c == '.'                              ? HAS_PERIOD
               : c == '`'                              ? HAS_TICK
               : c > 0x7f                              ? HAS_OTHER
               : vd_codepoint_is_one_of(c, ":,")       ? HAS_COMMA
               : vd_codepoint_is_one_of(c, ";@#$%&?!") ? HAS_MARK
                                                       : 0;
    }
    return has;
}

static void apply_rule(pass *p, rule_fn *apply)
{
    // Contractions need a space before their first word, endings one after their last.
    bool ends = apply == brackets_and_dashes;
    if (ends)
        put(p, ' ');
    for (size_t i = 0, length; i < p->count; i += length) {
        length = apply(p, i);
        if (length == 0)
            copy(p, i, i + (length = 1));
    }
    if (ends)
        put(p, ' ');
}

// Applies the rules to a sentence; the result is in *from. The lines change places each time.
static vd_status apply_rules(const int32_t *sentence, size_t count, vd_codepoints **from,
                             vd_codepoints **to, vd_error *err)
{
    unsigned has = contents(sentence, count);
    pass p = {sentence, count, *to};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!(has & rules[i].needs))
            continue;
        if (!vd_codepoints_reserve(*to, GROWTH * (p.count + 1)))
            return vd_error_memory(err, "the words of a text");
        p.out = *to;
        apply_rule(&p, rules[i].apply);
        *to = *from;
        *from = p.out;
        p.in = p.out->at;
        p.count = p.out->count;
    }
    return VD_OK;
}

// ---- tokens -----------------------------------------------------------------

// Called with each token in order; the string is only borrowed.
typedef vd_status (*token_fn)(void *context, const char *token, size_t length, vd_error *err);

static vd_status split(const vd_codepoints *line, token_fn take, void *context, vd_error *err)
{
    char *token = vd_alloc_raw(4 * line->count + 1);
    vd_status status = token ? VD_OK : vd_error_memory(err, "the words of a text");
    for (size_t i = 0, from; i < line->count && status == VD_OK; i++) {
        for (from = i; i < line->count && !vd_codepoint_is_space(line->at[i]);)
            i++;
        if (i > from)
            status =
                take(context, token, vd_codepoints_encode(line->at + from, i - from, token), err);
    }
    vd_free(token);
    return status;
}

// What is tokenised: the text, or text + "?"; as it is, or in lower case.
typedef struct source {
    const char *text;
    bool question, lower;
} source;

static vd_status decode(const source *from, vd_codepoints *all, vd_error *err)
{
    vd_status status = vd_codepoints_decode(all, from->text, err);
    if (status != VD_OK)
        return status;
    for (size_t i = 0; i < all->count && from->lower; i++)
        all->at[i] = utf8proc_tolower(all->at[i]);
    if (from->question)
        all->at[all->count++] = '?';
    return VD_OK;
}

static vd_status each_token(const source *text, token_fn take, void *context, vd_error *err)
{
    vd_codepoints all = {0}, lines[2] = {{0}, {0}};
    vd_codepoints *from = &lines[0], *to = &lines[1];
    vd_span *spans = NULL;
    size_t count = 0;
    vd_status status = decode(text, &all, err);
    // Enough for most texts, whatever rules they meet.
    size_t usual = GROWTH * (all.count + 1);
    if (status == VD_OK &&
        !(vd_codepoints_reserve(from, usual) && vd_codepoints_reserve(to, usual)))
        status = vd_error_memory(err, "the words of a text");
    if (status == VD_OK)
        status = vd_sentences(&all, &spans, &count, err);
    for (size_t i = 0; i < count && status == VD_OK; i++) {
        status =
            apply_rules(all.at + spans[i].start, spans[i].stop - spans[i].start, &from, &to, err);
        if (status == VD_OK)
            status = split(from, take, context, err);
    }
    vd_free(spans);
    vd_codepoints_clear(&lines[1]);
    vd_codepoints_clear(&lines[0]);
    vd_codepoints_clear(&all);
    return status;
}

typedef struct collector {
    vd_words words;
    size_t room;
} collector;

static vd_status collect(void *context, const char *token, size_t length, vd_error *err)
{
    collector *c = context;
    char *word = vd_make_room(&c->words.word, &c->room, c->words.count + 1, sizeof *c->words.word)
                     ? vd_strndup(token, length)
                     : NULL;
    if (!word)
        return vd_error_memory(err, "a word");
    c->words.word[c->words.count++] = word;
    return VD_OK;
}

static vd_status collect_all(const source *text, vd_words *out, vd_error *err)
{
    collector c = {0};
    *out = (vd_words){0};
    vd_status status = each_token(text, collect, &c, err);
    if (status != VD_OK)
        vd_words_clear(&c.words);
    *out = c.words;
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
    for (size_t i = 0; i < words->count; i++)
        vd_free(words->word[i]);
    vd_free(words->word);
    *words = (vd_words){0};
}

// ---- counts and ids ---------------------------------------------------------

typedef struct counting {
    vd_word_counts *counts;
    int64_t times;
} counting;

static vd_status count(void *context, const char *token, size_t length, vd_error *err)
{
    const counting *c = context;
    (void)length;
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
    vd_own_words *own; // numbers unknown words; NULL: they are VD_UNKNOWN
    int32_t *ids;
    int most, found;
} id_list;

static void append_id(id_list *list, int32_t id)
{
    if (list->found < list->most)
        list->ids[list->found] = id;
    list->found++;
}

static vd_status look_up(void *context, const char *token, size_t length, vd_error *err)
{
    id_list *list = context;
    (void)length;
    int32_t id;
    vd_status status = VD_OK;
    if (list->own && list->found < list->most)
        status = vd_own_words_id(list->own, token, &id, err);
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

vd_status vd_text_own_ids(vd_own_words *own, const char *text, bool question, int most,
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

vd_status vd_answer_own_ids(vd_own_words *own, const char *answer, int most, int32_t *ids,
                            int *length, vd_error *err)
{
    return find_ids(&(id_list){NULL, own, ids, most, 0}, &(source){.text = answer}, true, length,
                    err);
}

// The rules are NLTK's, in NLTK's order and under the names of its lists (NLTKWordTokenizer in
// nltk/tokenize/destructive.py as of 3.3 to 3.8, the versions VisDial's word counts were made
// with); each is one pass over the sentence. The regular expression is quoted at each rule.
#include "features/text/tokenize.h"

#include "engine/base/alloc.h"
#include "features/text/runes.h"
#include "features/text/sentences.h"

// ---- one pass: reading one line, writing the other --------------------------

// No rule makes more than four characters of one.
enum { GROWTH = 4 };

typedef struct pass {
    const int32_t *in;
    size_t count;
    vd_runes *out;
} pass;

static int32_t look(const pass *p, size_t i)
{
    return i < p->count ? p->in[i] : 0;
}

static void put(pass *p, int32_t rune)
{
    p->out->at[p->out->count++] = rune;
}

static void put_padded(pass *p, int32_t rune)
{
    put(p, ' ');
    put(p, rune);
    put(p, ' ');
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

static bool is_one_of(int32_t rune, const char *set)
{
    return rune > 0 && rune < 0x80 && strchr(set, (int)rune) != NULL;
}

static int32_t lower(int32_t rune)
{
    return rune >= 'A' && rune <= 'Z' ? rune + ('a' - 'A') : rune;
}

static bool starts(const pass *p, size_t i, const char *ascii, bool any_case)
{
    for (; *ascii; ascii++, i++) {
        int32_t rune = look(p, i);
        if ((any_case ? lower(rune) : rune) != (unsigned char)*ascii)
            return false;
    }
    return true;
}

// \b between characters i - 1 and i
static bool is_boundary(const pass *p, size_t i)
{
    bool before = i > 0 && vd_rune_is_word(p->in[i - 1]);
    return before != (i < p->count && vd_rune_is_word(p->in[i]));
}

// ---- STARTING_QUOTES --------------------------------------------------------

// ([«“‘„]|[`]+) -> " \1 "
static void open_quotes(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        int32_t rune = p->in[i];
        if (rune == 0xab || rune == 0x201c || rune == 0x2018 || rune == 0x201e) {
            put_padded(p, rune);
        } else if (rune == '`') {
            size_t from = i;
            while (look(p, i + 1) == '`')
                i++;
            put(p, ' ');
            copy(p, from, i + 1);
            put(p, ' ');
        } else {
            put(p, rune);
        }
    }
}

// ^" -> `` and then (``) -> " \1 "
static void leading_quote(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        bool quote = i == 0 && p->in[i] == '"';
        bool ticks = starts(p, i, "``", false);
        if (quote || ticks)
            put_text(p, " `` ");
        else
            put(p, p->in[i]);
        i += ticks;
    }
}

// ([ \(\[{<])("|'{2}) -> "\1 `` "
static void quote_after_space(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        put(p, p->in[i]);
        if (!is_one_of(p->in[i], " ([{<"))
            continue;
        size_t quote = look(p, i + 1) == '"' ? 1 : starts(p, i + 1, "''", false) ? 2 : 0;
        if (quote > 0)
            put_text(p, " `` ");
        i += quote;
    }
}

// (?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b -> "\1 \2": a quote before a word of one character
static void quote_before_letter(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        put(p, p->in[i]);
        int32_t next = look(p, i + 1);
        if (p->in[i] == '\'' && vd_rune_is_word(next) && !is_one_of(lower(next), "mtsdn") &&
            is_boundary(p, i + 2)) {
            put(p, ' ');
            put(p, next);
            i++;
        }
    }
}

// ---- PUNCTUATION ------------------------------------------------------------

// ([^\.])(\.)([\]\)}>"'»”’ ]*)\s*$ -> "\1 \2 \3 ". NLTK has the rule a second time with fewer
// closing marks; by then it can only add spaces.
static void final_period(pass *p)
{
    size_t end = p->count, period;
    while (end > 0 && vd_rune_is_space(p->in[end - 1]))
        end--;
    period = end;
    while (period > 0 && (is_one_of(p->in[period - 1], "])}>\"' ") || p->in[period - 1] == 0xbb ||
                          p->in[period - 1] == 0x201d || p->in[period - 1] == 0x2019))
        period--;
    if (period < 2 || p->in[period - 1] != '.' || p->in[period - 2] == '.') {
        copy(p, 0, p->count);
        return;
    }
    copy(p, 0, period - 1);
    put_padded(p, '.');
    copy(p, period, end);
    put(p, ' ');
}

// ([:,])([^\d]) -> " \1 \2" and then ([:,])$ -> " \1 "
static void colons_and_commas(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        bool mark = is_one_of(p->in[i], ":,");
        bool last = i + 1 == p->count || (i + 2 == p->count && p->in[i + 1] == '\n');
        if (mark && last) {
            put_padded(p, p->in[i]);
        } else if (mark && !vd_rune_is_digit(p->in[i + 1])) {
            // The next character is taken too: of "::" the second keeps its place.
            put_padded(p, p->in[i]);
            i++;
            if (is_one_of(p->in[i], ":,") && i + 1 == p->count)
                put_padded(p, p->in[i]);
            else
                put(p, p->in[i]);
        } else {
            put(p, p->in[i]);
        }
    }
}

// \.{2,} -> " \0 "
static void ellipsis(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        size_t run = i;
        while (look(p, run) == '.')
            run++;
        if (run - i < 2) {
            put(p, p->in[i]);
            continue;
        }
        put(p, ' ');
        copy(p, i, run);
        put(p, ' ');
        i = run - 1;
    }
}

// [;@#$%&], [?!] -> " \0 "
static void marks(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (is_one_of(p->in[i], ";@#$%&?!"))
            put_padded(p, p->in[i]);
        else
            put(p, p->in[i]);
    }
}

// ([^'])'\x20 -> "\1 ' "
static void quote_before_space(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        put(p, p->in[i]);
        if (p->in[i] != '\'' && starts(p, i + 1, "' ", false)) {
            put_text(p, " ' ");
            i += 2;
        }
    }
}

// [*], PARENS_BRACKETS [\]\[\(\)\{\}\<\>] and DOUBLE_DASHES -- -> " \0 "; then a space at both ends
static void brackets_and_dashes(pass *p)
{
    put(p, ' ');
    for (size_t i = 0; i < p->count; i++) {
        if (is_one_of(p->in[i], "*[](){}<>")) {
            put_padded(p, p->in[i]);
        } else if (starts(p, i, "--", false)) {
            put_text(p, " -- ");
            i++;
        } else {
            put(p, p->in[i]);
        }
    }
    put(p, ' ');
}

// ---- ENDING_QUOTES ----------------------------------------------------------

// ([»”’]) -> " \1 ", '' -> " '' ", " -> " '' "
static void closing_quotes(pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        int32_t rune = p->in[i];
        if (rune == 0xbb || rune == 0x201d || rune == 0x2019) {
            put_padded(p, rune);
        } else if (rune == '"') {
            put_text(p, " '' ");
        } else if (starts(p, i, "''", false)) {
            put_text(p, " '' ");
            i++;
        } else {
            put(p, rune);
        }
    }
}

// ([^' ])(ending)\x20 -> "\1 \2 ", where ending is the first of endings that matches
static void endings(pass *p, const char *const *list)
{
    for (size_t i = 0; i < p->count; i++) {
        put(p, p->in[i]);
        if (is_one_of(p->in[i], "' "))
            continue;
        for (const char *const *ending = list; *ending; ending++) {
            if (look(p, i + 1) != **ending)
                continue;
            size_t length = strlen(*ending);
            if (starts(p, i + 1, *ending, false) && look(p, i + 1 + length) == ' ') {
                put(p, ' ');
                copy(p, i + 1, i + 2 + length);
                i += length + 1;
                break;
            }
        }
    }
}

static void possessives(pass *p)
{
    static const char *const list[] = {"'s", "'S", "'m", "'M", "'d", "'D", "'", NULL};
    endings(p, list);
}

static void verb_endings(pass *p)
{
    static const char *const list[] = {"'ll", "'LL", "'re", "'RE", "'ve",
                                       "'VE", "n't", "N'T", NULL};
    endings(p, list);
}

// ---- CONTRACTIONS2 and CONTRACTIONS3 ----------------------------------------

typedef struct contraction {
    const char *word;
    size_t cut;
} contraction;

// -> " \1 \2 ", where the words are cut
static void split_words(pass *p, const contraction *list, size_t count)
{
    for (size_t i = 0; i < p->count; i++) {
        size_t found = 0, end = i;
        for (; found < count; found++) {
            const char *word = list[found].word;
            if (lower(p->in[i]) != word[0])
                continue;
            end = i + strlen(word);
            if (starts(p, i, word, true) && is_boundary(p, end) &&
                (word[0] == ' ' || is_boundary(p, i)) &&
                (word[0] != 'w' || vd_rune_is_space(look(p, end))))
                break;
        }
        if (found == count) {
            put(p, p->in[i]);
            continue;
        }
        put(p, ' ');
        copy(p, i, i + list[found].cut);
        put(p, ' ');
        copy(p, i + list[found].cut, end);
        put(p, ' ');
        i = end - 1;
    }
}

// (?i)\b(can)(not)\b and so on; (wan)(na) needs white space after it
static void contractions(pass *p)
{
    static const contraction list[] = {{"cannot", 3}, {"d'ye", 1},  {"gimme", 3},  {"gonna", 3},
                                       {"gotta", 3},  {"lemme", 3}, {"more'n", 4}, {"wanna", 3}};
    split_words(p, list, sizeof list / sizeof *list);
}

// (?i) ('t)(is)\b
static void tis(pass *p)
{
    split_words(p, &(contraction){" 'tis", 3}, 1);
}

// (?i) ('t)(was)\b
static void twas(pass *p)
{
    split_words(p, &(contraction){" 'twas", 3}, 1);
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
    void (*apply)(pass *p);
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
        int32_t rune = at[i];
        has |= rune == '\''                  ? HAS_QUOTE
               : rune == '"'                 ? HAS_DOUBLE
               : rune == '.'                 ? HAS_PERIOD
               : rune == '`'                 ? HAS_TICK
               : rune > 0x7f                 ? HAS_OTHER
               : is_one_of(rune, ":,")       ? HAS_COMMA
               : is_one_of(rune, ";@#$%&?!") ? HAS_MARK
                                             : 0;
    }
    return has;
}

// Applies the rules to a sentence; the result is in *from. The lines change places each time.
static vd_status apply_rules(const int32_t *sentence, size_t count, vd_runes **from, vd_runes **to,
                             vd_error *err)
{
    unsigned has = contents(sentence, count);
    pass p = {sentence, count, *to};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!(has & rules[i].needs))
            continue;
        if (!vd_runes_reserve(*to, GROWTH * (p.count + 1)))
            return vd_error_memory(err, "the words of a text");
        p.out = *to;
        rules[i].apply(&p);
        vd_runes *done = *to;
        *to = *from;
        *from = done;
        p.in = done->at;
        p.count = done->count;
    }
    return VD_OK;
}

// ---- tokens -----------------------------------------------------------------

// Called with each token in order; the string is only borrowed.
typedef vd_status (*token_fn)(void *context, const char *token, size_t length, vd_error *err);

static vd_status split(const vd_runes *line, char **token, size_t *room, token_fn take,
                       void *context, vd_error *err)
{
    for (size_t i = 0; i < line->count;) {
        size_t from = i;
        while (i < line->count && !vd_rune_is_space(line->at[i]))
            i++;
        if (i > from) {
            size_t needed = 4 * (i - from) + 1;
            if (needed > *room) {
                vd_free(*token);
                *room = 0;
                *token = vd_alloc(2 * needed, 1);
                if (!*token)
                    return vd_error_memory(err, "a word");
                *room = 2 * needed;
            }
            size_t length = vd_runes_encode(line->at + from, i - from, *token);
            vd_status status = take(context, *token, length, err);
            if (status != VD_OK)
                return status;
        }
        i++;
    }
    return VD_OK;
}

static vd_status each_token(const char *text, token_fn take, void *context, vd_error *err)
{
    vd_runes runes = {0}, lines[2] = {{0}, {0}};
    vd_span *spans = NULL;
    size_t count = 0, room = 0;
    char *token = NULL;
    vd_runes *from = &lines[0], *to = &lines[1];
    vd_status status = vd_runes_decode(&runes, text, err);
    // Enough for most texts, whatever rules they meet.
    size_t usual = GROWTH * (runes.count + 1);
    if (status == VD_OK && !(vd_runes_reserve(from, usual) && vd_runes_reserve(to, usual)))
        status = vd_error_memory(err, "the words of a text");
    if (status == VD_OK)
        status = vd_sentences(&runes, &spans, &count, err);
    for (size_t i = 0; i < count && status == VD_OK; i++) {
        status =
            apply_rules(runes.at + spans[i].start, spans[i].stop - spans[i].start, &from, &to, err);
        if (status == VD_OK)
            status = split(from, &token, &room, take, context, err);
    }
    vd_free(token);
    vd_free(spans);
    vd_runes_clear(&lines[1]);
    vd_runes_clear(&lines[0]);
    vd_runes_clear(&runes);
    return status;
}

typedef struct collector {
    vd_words words;
    size_t room;
} collector;

static vd_status collect(void *context, const char *token, size_t length, vd_error *err)
{
    collector *c = context;
    if (c->words.count == c->room) {
        size_t room = c->room ? 2 * c->room : 16;
        char **grown = vd_grow(c->words.word, c->room, room, sizeof *grown);
        if (!grown)
            return vd_error_memory(err, "the words of a text");
        c->words.word = grown;
        c->room = room;
    }
    char *word = vd_strndup(token, length);
    if (!word)
        return vd_error_memory(err, "a word");
    c->words.word[c->words.count++] = word;
    return VD_OK;
}

vd_status vd_tokenize(const char *text, vd_words *out, vd_error *err)
{
    collector c = {0};
    *out = (vd_words){0};
    vd_status status = each_token(text, collect, &c, err);
    if (status != VD_OK)
        vd_words_clear(&c.words);
    *out = c.words;
    return status;
}

void vd_words_clear(vd_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        vd_free(words->word[i]);
    vd_free(words->word);
    *words = (vd_words){0};
}

// ---- ids --------------------------------------------------------------------

typedef struct id_list {
    const vd_vocab *vocab;
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
    (void)err;
    append_id(list, vd_vocab_id(list->vocab, token));
    return VD_OK;
}

vd_status vd_text_ids(const vd_vocab *vocab, const char *text, int most, int32_t *ids, int *length,
                      int *found, vd_error *err)
{
    id_list list = {vocab, ids, most, 0};
    vd_status status = each_token(text, look_up, &list, err);
    if (status != VD_OK)
        return status;
    *length = list.found < most ? list.found : most;
    if (found)
        *found = list.found;
    return VD_OK;
}

vd_status vd_question_ids(const vd_vocab *vocab, const char *question, int most, int32_t *ids,
                          int *length, int *found, vd_error *err)
{
    size_t bytes = strlen(question);
    char *asked = vd_alloc(bytes + 2, 1);
    if (!asked)
        return vd_error_memory(err, "a question");
    memcpy(asked, question, bytes);
    asked[bytes] = '?';
    vd_status status = vd_text_ids(vocab, asked, most, ids, length, found, err);
    vd_free(asked);
    return status;
}

vd_status vd_answer_ids(const vd_vocab *vocab, const char *answer, int most, int32_t *ids,
                        int *length, vd_error *err)
{
    id_list list = {vocab, ids, most, 0};
    append_id(&list, VD_START);
    vd_status status = each_token(answer, look_up, &list, err);
    if (status != VD_OK)
        return status;
    append_id(&list, VD_END);
    *length = list.found < most ? list.found : most;
    return VD_OK;
}

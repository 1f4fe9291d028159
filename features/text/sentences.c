#include "features/text/sentences.h"

#include <utf8proc.h>

#include "engine/base/alloc.h"

// The abbreviations of the published English model (nltk_data, punkt_tab/english/abbrev_types.txt),
// sorted; its 156th, ". . ", is no word. Their period does not end a sentence.
// clang-format off
static const char *const abbreviations[] = {
    "a.a", "a.c", "a.d", "a.g", "a.h", "a.m", "a.m.e", "a.s", "a.t", "adm", "ala", "ariz", "aug",
    "ave", "b.f", "b.v", "bros", "c", "c.i.t", "c.o.m.b", "c.v", "calif", "chg", "cie", "co", "col",
    "colo", "conn", "corp", "cos", "ct", "d", "d.c", "d.h", "d.w", "dec", "dr", "e", "e.f", "e.h",
    "e.l", "e.m", "f", "f.g", "f.j", "feb", "fla", "fri", "ft", "g", "g.d", "g.f", "g.k", "ga",
    "gen", "h", "h.c", "h.f", "h.m", "i.m.s", "ill", "inc", "j.b", "j.c", "j.j", "j.k", "j.p",
    "j.r", "jan", "jr", "k", "kan", "ky", "l", "l.a", "l.f", "l.p", "lt", "ltd", "m", "m.b.a",
    "m.d.c", "m.j", "maj", "messrs", "mg", "mich", "minn", "mr", "mrs", "ms", "n", "n.c", "n.d",
    "n.h", "n.j", "n.m", "n.v", "n.y", "nev", "nov", "oct", "ok", "okla", "ore", "p", "p.a.m",
    "p.m", "pa", "ph.d", "prof", "r", "r.a", "r.h", "r.i", "r.j", "r.k", "r.t", "rep", "reps", "s",
    "s.a", "s.a.y", "s.c", "s.g", "s.p.a", "s.s", "sen", "sep", "sept", "sr", "st", "sw", "t",
    "t.j", "tenn", "tues", "u.k", "u.n", "u.s", "u.s.a", "u.s.s.r", "v", "va", "vs", "vt", "w",
    "w.c", "w.r", "w.va", "w.w", "wash", "wed", "wis", "yr",
};
// clang-format on

// In lower case these alone may start a sentence after an initial or a number: of the model's
// 20,366 words only they have started one, and never with a capital (Punkt's _ortho_heuristic).
static const char *const lower_starts[] = {"administrators", "b-week", "r-revised", "z-holiday"};

// Punkt's _re_non_word_chars: what cannot be part of a word.
static bool is_non_word(int32_t c)
{
    return vd_codepoint_is_one_of(c, ")\";}]*:@'({[?!");
}

// Length of a token of several hyphens or periods (Punkt's _re_multi_char_punct) at i, or 0.
static size_t many_marks(const vd_codepoint_range *text, size_t i)
{
    int32_t mark = text->at[i];
    size_t run = 0;
    if (mark != '-' && mark != '.')
        return 0;
    while (i + run < text->count && text->at[i + run] == mark)
        run++;
    if (run >= 2 || mark == '-')
        return run >= 2 ? run : 0;
    // (?:\.\s){2,}\.  e.g. ". . ."
    size_t pairs = 0, end = i;
    while (end + 1 < text->count && text->at[end] == '.' &&
           vd_codepoint_is_space(text->at[end + 1])) {
        end += 2;
        pairs++;
    }
    if (end < text->count && text->at[end] == '.')
        return pairs >= 2 ? end + 1 - i : 0;
    return pairs >= 3 ? end - 1 - i : 0;
}

static bool is_word_end(const vd_codepoint_range *text, size_t i)
{
    return i >= text->count || vd_codepoint_is_space(text->at[i]) || is_non_word(text->at[i]) ||
           many_marks(text, i) > 0;
}

// Length of the token at i, which is not white space (Punkt's _word_tokenize_fmt).
static size_t token_length(const vd_codepoint_range *text, size_t i)
{
    size_t marks = many_marks(text, i);
    if (marks > 0)
        return marks;
    if (vd_codepoint_is_one_of(text->at[i], "(\"`{[:;&#*@)}]-,"))
        return 1;
    for (size_t end = i + 1;; end++)
        if (is_word_end(text, end) || (text->at[end] == ',' && is_word_end(text, end + 1)))
            return end - i;
}

static bool is_in(const char *const *list, size_t listed, const int32_t *word, size_t count)
{
    return bsearch(&(vd_codepoint_range){word, count}, list, listed, sizeof *list,
                   vd_codepoint_range_compare) != NULL;
}

static bool is_listed(const int32_t *word, size_t count)
{
    return is_in(abbreviations, sizeof abbreviations / sizeof *abbreviations, word, count);
}

// word without its final period
static bool is_abbreviation(const int32_t *word, size_t count)
{
    if (is_listed(word, count))
        return true;
    size_t last = count;
    while (last > 0 && word[last - 1] != '-')
        last--;
    return last > 0 && is_listed(word + last, count - last);
}

// ^-?[\.,]?\d[\d,\.-]*\.?$
static bool is_number(const int32_t *word, size_t count)
{
    size_t i = 0;
    if (i < count && word[i] == '-')
        i++;
    if (i < count && (word[i] == '.' || word[i] == ','))
        i++;
    if (i >= count || !vd_codepoint_is_digit(word[i]))
        return false;
    for (i++; i < count; i++)
        if (!vd_codepoint_is_digit(word[i]) && !vd_codepoint_is_one_of(word[i], ",.-"))
            return false;
    return true;
}

// Whether no sentence starts with word, as far as case tells.
static bool is_inside_word(const int32_t *word, size_t count)
{
    size_t bare = count > 1 && word[count - 1] == '.' ? count - 1 : count;
    return utf8proc_category(word[0]) == UTF8PROC_CATEGORY_LL &&
           !is_in(lower_starts, sizeof lower_starts / sizeof *lower_starts, word, bare);
}

// Whether token, followed by the token next, ends a sentence.
static bool ends_sentence(const int32_t *token, size_t count, const int32_t *next,
                          size_t next_count)
{
    if (count == 1 && vd_codepoint_is_one_of(token[0], ".?!"))
        return true;
    if (token[count - 1] != '.' || (count > 1 && token[count - 2] == '.'))
        return false;
    if (is_abbreviation(token, count - 1))
        return false;
    bool initial = count == 2 && vd_codepoint_is_letter(token[0]);
    bool mark = next_count == 1 && vd_codepoint_is_one_of(next[0], ";:,.!?");
    bool unlikely_start = is_inside_word(next, next_count) || mark;
    if (initial)
        return !unlikely_start && utf8proc_category(next[0]) != UTF8PROC_CATEGORY_LU;
    return !(is_number(token, count) && unlikely_start);
}

// Punkt's text_contains_sentbreak: some token but the last ends a sentence.
static bool contains_end(const vd_codepoint_range *text)
{
    const int32_t *token = NULL;
    size_t length = 0;
    for (size_t i = 0; i < text->count;) {
        if (vd_codepoint_is_space(text->at[i])) {
            i++;
            continue;
        }
        size_t here = token_length(text, i);
        if (token && ends_sentence(token, length, text->at + i, here))
            return true;
        token = text->at + i;
        length = here;
        i += length;
    }
    return false;
}

// A position where a sentence may end: a mark followed by punctuation, or by white space and a
// token. next is where the following sentence would start, stop where the evidence for it ends.
static bool is_candidate(const vd_codepoints *text, size_t i, size_t *next, size_t *stop)
{
    if (!vd_codepoint_is_one_of(text->at[i], ".?!") || i + 1 >= text->count)
        return false;
    if (is_non_word(text->at[i + 1])) {
        *next = i + 1;
        *stop = i + 2;
        return true;
    }
    size_t after = i + 1;
    while (after < text->count && vd_codepoint_is_space(text->at[after]))
        after++;
    if (after == i + 1 || after >= text->count)
        return false;
    *next = after;
    while (after < text->count && !vd_codepoint_is_space(text->at[after]))
        after++;
    *stop = after;
    return true;
}

// Python's string.whitespace, where Punkt looks back for the start of a word.
static bool is_blank(int32_t c)
{
    return vd_codepoint_is_one_of(c, " \t\n\r\v\f");
}

static size_t slice(const vd_codepoints *text, vd_span *spans)
{
    size_t count = 0, start = 0, word = 0;
    for (size_t i = 0; i < text->count;) {
        // One run of characters that are not white space; its last candidate counts.
        if (is_blank(text->at[i])) {
            word = ++i;
            continue;
        }
        bool found = false;
        size_t mark = 0, next = 0, stop = 0, n, s;
        for (; i < text->count && !is_blank(text->at[i]); i++)
            if (is_candidate(text, i, &n, &s)) {
                if (found && mark == word) { // the run's first character counts as well
                    spans[count++] = (vd_span){start, mark + 1};
                    start = mark + 1;
                }
                found = true;
                mark = i;
                next = n;
                stop = s;
            }
        vd_codepoint_range evidence = {text->at + word, stop - word};
        if (found && contains_end(&evidence)) {
            spans[count++] = (vd_span){start, mark + 1};
            start = next;
        }
    }
    size_t end = text->count;
    while (end > start && vd_codepoint_is_space(text->at[end - 1]))
        end--;
    spans[count++] = (vd_span){start, end};
    return count;
}

// Closing quotes and brackets at the start of a sentence belong to the one before
// (Punkt's re_boundary_realignment). Returns their length with the white space after them; bare is
// the length without it.
static size_t closing_marks(const vd_codepoints *text, vd_span span, size_t *bare)
{
    size_t i = span.start;
    while (i < span.stop && vd_codepoint_is_one_of(text->at[i], "\"')]}")) {
        i++;
        bool space = i < span.stop && vd_codepoint_is_space(text->at[i]);
        bool dashes = i + 1 < span.stop && text->at[i] == '-' && text->at[i + 1] == '-';
        if (!space && !dashes && i < span.stop)
            continue;
        *bare = i - span.start;
        while (i < span.stop && vd_codepoint_is_space(text->at[i]))
            i++;
        return i - span.start;
    }
    return 0;
}

vd_status vd_sentences(const vd_codepoints *text, vd_span **out, size_t *count, vd_error *err)
{
    *out = NULL;
    *count = 0;
    vd_span *spans = vd_alloc(text->count + 1, sizeof *spans);
    if (!spans)
        return vd_error_memory(err, "the sentences of a text");
    size_t found = slice(text, spans), kept = 0, moved = 0;
    for (size_t i = 0; i < found; i++) {
        vd_span span = {spans[i].start + moved, spans[i].stop};
        size_t bare = 0;
        moved = i + 1 < found ? closing_marks(text, spans[i + 1], &bare) : 0;
        if (moved > 0)
            span.stop = spans[i + 1].start + bare;
        if (span.start < span.stop)
            spans[kept++] = span;
    }
    *out = spans;
    *count = kept;
    return VD_OK;
}

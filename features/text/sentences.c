#include "features/text/sentences.h"

#include <stdbool.h>
#include <string.h>

#include "features/text/characters.h"

// The abbreviations of the published English model (nltk_data, punkt_tab/english/abbrev_types.txt),
// each between spaces; its 156th, ". . ", is no word. Their period does not end a sentence.
static const char abbreviations[] =
    " a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t "
    "c.o.m.b c.v calif chg cie co col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h "
    "e.l e.m f f.g f.j feb fla fri ft g g.d g.f g.k ga gen h h.c h.f h.m i.m.s ill inc j.b "
    "j.c j.j j.k j.p j.r jan jr k kan ky l l.a l.f l.p lt ltd m m.b.a m.d.c m.j maj messrs "
    "mg mich minn mr mrs ms n n.c n.d n.h n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m "
    "p.m pa ph.d prof r r.a r.h r.i r.j r.k r.t rep reps s s.a s.a.y s.c s.g s.p.a s.s sen "
    "sep sept sr st sw t t.j tenn tues u.k u.n u.s u.s.a u.s.s.r v va vs vt w w.c w.r w.va "
    "w.w wash wed wis yr ";

// Punkt's _re_non_word_chars: what cannot be part of a word; its _re_multi_char_punct.
#define NON_WORD "[)\";}\\]*:@'({[?!]"
#define MANY     "-{2,}|\\.{2,}|\\.(?:" VD_SPACE "\\.){2,}+"

static bool matches(pcre2_code **compiled, const char *pattern, const char *text)
{
    vd_match match;
    return vd_match_next(vd_pattern(compiled, pattern), text, strlen(text), 0, 0, &match);
}

// A word in lower case.
static bool is_listed(const char *word)
{
    char *key = g_strdup_printf(" %s ", word);
    bool listed = strstr(abbreviations, key);
    g_free(key);
    return listed;
}

// token: with its final period.
static bool is_abbreviation(const char *token)
{
    char *word = g_ascii_strdown(token, (gssize)strlen(token) - 1);
    const char *dash = strrchr(word, '-');
    bool listed = is_listed(word) || (dash && is_listed(dash + 1));
    g_free(word);
    return listed;
}

// Whether no sentence starts with token: it is a mark, or begins in lower case. In lower case these
// alone may start one after an initial or a number: of the model's 20,366 words only they have
// started one, and never with a capital (Punkt's _ortho_heuristic).
static bool is_unlikely_start(const char *token)
{
    static pcre2_code *start;
    return matches(&start,
                   "^(?:[;:,.!?]\\z|"
                   "(?!(?i:administrators|b-week|r-revised|z-holiday)\\.?\\z)\\p{Ll})",
                   token);
}

// Whether token, followed by the token next, ends a sentence.
static bool ends_sentence(const char *token, const char *next)
{
    static pcre2_code *capital, *initial, *number;
    if (strchr(".?!", token[0]) && !token[1])
        return true;
    if (!g_str_has_suffix(token, ".") || g_str_has_suffix(token, "..") || is_abbreviation(token))
        return false;
    if (matches(&initial, "^(?!\\p{Nd})" VD_WORD "\\.\\z", token))
        return !is_unlikely_start(next) && !matches(&capital, "^\\p{Lu}", next);
    return !(matches(&number, "^-?[.,]?\\p{Nd}[\\p{Nd},.-]*\\z", token) && is_unlikely_start(next));
}

// Punkt's text_contains_sentbreak: some token (its _word_tokenize_fmt) of [start, stop) but the
// last ends a sentence.
static bool contains_end(const char *text, size_t start, size_t stop)
{
    static pcre2_code *tokens;
    pcre2_code *pattern = vd_pattern(&tokens, MANY "|(?![(\"`{[:;&#*@)}\\]\\-,])" VD_NOT_SPACE
                                                   "+?(?=,?(?:\\z|" VD_SPACE "|" NON_WORD "|" MANY
                                                   "))|" VD_NOT_SPACE);
    char *token = NULL;
    bool found = false;
    for (vd_match match; !found && vd_match_next(pattern, text, stop, start, 0, &match);
         start = (size_t)match.group[0].stop) {
        char *next = g_strndup(text + match.group[0].start,
                               (gsize)(match.group[0].stop - match.group[0].start));
        found = token && ends_sentence(token, next);
        g_free(token);
        token = next;
    }
    g_free(token);
    return found;
}

// Runs of what Python's string.whitespace separates, where Punkt looks back for the start of a
// word, with a mark where a sentence may end: one before punctuation, or before white space and a
// token, where the following sentence would start. The last one of a run counts, and its first
// character.
static GArray *slice(const char *text)
{
    static pcre2_code *runs;
    pcre2_code *pattern = vd_pattern(
        &runs, "(?<![^\\t-\\r ])(?:([.?!])(?=" NON_WORD "|" VD_SPACE "+" VD_NOT_SPACE
               "))?[^\\t-\\r ]*([.?!])(?=(?|(" NON_WORD ")|" VD_SPACE "++(" VD_NOT_SPACE "++)))");
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(vd_span));
    size_t start = 0, length = strlen(text), at = 0;
    for (vd_match match; vd_match_next(pattern, text, length, at, 0, &match);
         at = (size_t)match.group[0].stop) {
        size_t word = (size_t)match.group[0].start;
        if (match.group[1].start >= 0) {
            g_array_append_vals(spans, &(vd_span){start, word + 1}, 1);
            start = word + 1;
        }
        if (contains_end(text, word, (size_t)match.group[3].stop)) {
            g_array_append_vals(spans, &(vd_span){start, (size_t)match.group[0].stop}, 1);
            start = (size_t)match.group[3].start;
        }
    }
    const char *end = text + length, *last;
    while ((last = g_utf8_find_prev_char(text + start, end)) && vd_is_space(g_utf8_get_char(last)))
        end = last;
    g_array_append_vals(spans, &(vd_span){start, (size_t)(end - text)}, 1);
    return spans;
}

// Closing quotes and brackets at the start of a sentence belong to the one before
// (Punkt's re_boundary_realignment). Returns their length with the white space after them; bare is
// the length without it.
static size_t closing_marks(const char *text, vd_span span, size_t *bare)
{
    static pcre2_code *closing;
    pcre2_code *pattern = vd_pattern(&closing, "([\"')\\]}]+?)(?:" VD_SPACE "++|(?=--)|\\z)");
    vd_match match;
    *bare = 0;
    if (!vd_match_next(pattern, text, span.stop, span.start, PCRE2_ANCHORED, &match))
        return 0;
    *bare = (size_t)match.group[1].stop - span.start;
    return (size_t)match.group[0].stop - span.start;
}

GArray *vd_sentences(const char *text)
{
    GArray *spans = slice(text);
    vd_span *all = (vd_span *)(void *)spans->data;
    size_t moved = 0;
    guint kept = 0;
    for (guint i = 0; i < spans->len; i++) {
        vd_span span = {all[i].start + moved, all[i].stop};
        size_t bare = 0;
        moved = i + 1 < spans->len ? closing_marks(text, all[i + 1], &bare) : 0;
        if (moved > 0)
            span.stop = all[i + 1].start + bare;
        if (span.start < span.stop)
            all[kept++] = span;
    }
    return g_array_set_size(spans, kept);
}

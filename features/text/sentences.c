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

static bool matches(GRegex **compiled, const char *pattern, const char *text)
{
    return g_regex_match(vd_pattern(compiled, pattern), text, 0, NULL);
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
    static GRegex *start;
    return matches(&start,
                   "^(?:[;:,.!?]\\z|"
                   "(?!(?i:administrators|b-week|r-revised|z-holiday)\\.?\\z)\\p{Ll})",
                   token);
}

// Whether token, followed by the token next, ends a sentence.
static bool ends_sentence(const char *token, const char *next)
{
    static GRegex *capital, *initial, *number;
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
    static GRegex *tokens;
    GRegex *pattern = vd_pattern(&tokens, MANY "|(?![(\"`{[:;&#*@)}\\]\\-,])" VD_NOT_SPACE
                                               "+?(?=,?(?:\\z|" VD_SPACE "|" NON_WORD "|" MANY
                                               "))|" VD_NOT_SPACE);
    GMatchInfo *match;
    char *token = NULL;
    bool found = false;
    g_regex_match_full(pattern, text, (gssize)stop, (int)start, 0, &match, NULL);
    for (; g_match_info_matches(match) && !found; g_match_info_next(match, NULL)) {
        char *next = g_match_info_fetch(match, 0);
        found = token && ends_sentence(token, next);
        g_free(token);
        token = next;
    }
    g_match_info_free(match);
    g_free(token);
    return found;
}

static int start_of(const GMatchInfo *match, int group, int *stop)
{
    int start = -1;
    g_match_info_fetch_pos(match, group, &start, stop);
    return start;
}

// Runs of what Python's string.whitespace separates, where Punkt looks back for the start of a
// word, with a mark where a sentence may end: one before punctuation, or before white space and a
// token, where the following sentence would start. The last one of a run counts, and its first
// character.
static GArray *slice(const char *text)
{
    static GRegex *runs;
    GRegex *pattern = vd_pattern(&runs, "(?<![^\\t-\\r ])(?:([.?!])(?=" NON_WORD "|" VD_SPACE
                                        "+" VD_NOT_SPACE "))?[^\\t-\\r ]*([.?!])(?=(?|(" NON_WORD
                                        ")|" VD_SPACE "++(" VD_NOT_SPACE "++)))");
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(vd_span));
    GMatchInfo *match;
    size_t start = 0;
    g_regex_match(pattern, text, 0, &match);
    for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
        int mark, stop, word = start_of(match, 0, &mark), next = start_of(match, 3, &stop);
        if (start_of(match, 1, NULL) >= 0) {
            g_array_append_vals(spans, &(vd_span){start, (size_t)word + 1}, 1);
            start = (size_t)word + 1;
        }
        if (contains_end(text, (size_t)word, (size_t)stop)) {
            g_array_append_vals(spans, &(vd_span){start, (size_t)mark}, 1);
            start = (size_t)next;
        }
    }
    g_match_info_free(match);
    const char *end = text + strlen(text), *last;
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
    static GRegex *closing;
    GRegex *pattern = vd_pattern(&closing, "([\"')\\]}]+?)(?:" VD_SPACE "++|(?=--)|\\z)");
    GMatchInfo *match;
    int marks = (int)span.start, all = marks;
    g_regex_match_full(pattern, text, (gssize)span.stop, (int)span.start, G_REGEX_MATCH_ANCHORED,
                       &match, NULL);
    g_match_info_fetch_pos(match, 1, NULL, &marks);
    g_match_info_fetch_pos(match, 0, NULL, &all);
    g_match_info_free(match);
    *bare = (size_t)marks - span.start;
    return (size_t)all - span.start;
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

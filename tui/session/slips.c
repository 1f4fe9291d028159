#include "tui/session/slips.h"

#include <ctype.h>
#include <glib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "features/text/tokenize.h"
#include "tui/base/nearest.h"

enum { SWAPPED = 3, DOUBLED = 4, OTHER = 6, TWICE = 8, LONGEST = 24 }; // letters

static bool same_length_slip(const char *typed, const char *meant, size_t at, size_t length)
{
    bool swapped = typed[at] == meant[at + 1] && typed[at + 1] == meant[at];
    return swapped ? length >= SWAPPED : at > 0 && length >= OTHER;
}

bool vd_is_slip(const char *typed, const char *meant)
{
    size_t n = strlen(typed), m = strlen(meant), at = 0;
    const char *longer = n > m ? typed : meant;
    size_t length = n > m ? n : m;
    if (n > LONGEST || m > LONGEST)
        return false;
    int edits = vd_edits(typed, meant);
    if (edits != 1)
        return edits == 2 && length >= TWICE && typed[0] == meant[0];
    while (typed[at] == meant[at])
        at++;
    if (n == m)
        return same_length_slip(typed, meant, at, length);
    return at > 0 && length >= (longer[at] == longer[at - 1] ? (size_t)DOUBLED : (size_t)OTHER);
}

// The most frequent word of which this is a slip, one of a single edit before others.
static const char *meant_by(const vd_vocab *vocab, const char *typed)
{
    const char *best = NULL;
    for (int32_t id = VD_FIRST_WORD; id < vd_vocab_size(vocab); id++) {
        const char *word = vd_vocab_word(vocab, id);
        if (!vd_is_slip(typed, word))
            continue;
        if (vd_edits(typed, word) == 1)
            return word;
        best = best ? best : word;
    }
    return best;
}

// A word by itself: "shirt" of "t-shirt" is none.
static size_t letters_at(const char *text, bool starts)
{
    size_t n = 0;
    while (isalpha((unsigned char)text[n]))
        n++;
    bool ends = text[n] == '\0' || strchr(" ,.?!;:", text[n]);
    return starts && ends && n >= SWAPPED && n <= LONGEST ? n : 0;
}

static const char *mend(const vd_vocab *vocab, const char *text, size_t length)
{
    char word[LONGEST + 1] = "";
    for (size_t i = 0; i < length; i++)
        word[i] = (char)tolower((unsigned char)text[i]);
    return vd_vocab_id(vocab, word) == VD_UNKNOWN ? meant_by(vocab, word) : NULL;
}

vd_status vd_typed_question(const vd_vocab *vocab, const char *typed, char **question, char **said,
                            vd_error *err)
{
    char *normal = NULL;
    vd_status status = vd_normalise_typed(typed, &normal, err);
    if (status)
        return status;
    GString *read = g_string_new(NULL), *notes = g_string_new(NULL);
    for (const char *at = normal; *at;) {
        size_t length = letters_at(at, at == normal || at[-1] == ' ');
        const char *meant = length ? mend(vocab, at, length) : NULL;
        if (meant)
            g_string_append_printf(notes, "%s%.*s: read as %s", notes->len ? "  " : "", (int)length,
                                   at, meant);
        length = length ? length : 1;
        g_string_append_len(read, meant ? meant : at,
                            meant ? (gssize)strlen(meant) : (gssize)length);
        at += length;
    }
    *question = vd_strdup(read->str);
    if (said)
        *said = vd_strdup(notes->str);
    g_string_free(read, TRUE);
    g_string_free(notes, TRUE);
    vd_free(normal);
    return *question && (!said || *said) ? VD_OK : vd_error_memory(err, "a question");
}

#include "tui/session/spelling.h"

#include <ctype.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "features/text/characters.h"
#include "features/text/tokenize.h"
#include "tui/base/nearest.h"

enum { FREQUENT = 300, SHORTEST = 4, LONGEST = 40 };

static bool is_word(const char *text)
{
    return isalpha((unsigned char)text[0]) && isalpha((unsigned char)text[1]);
}

// Among the first `words` of the vocabulary.
static const char *nearest_of(const vd_vocab *vocab, int32_t words, const char *word, int edits)
{
    vd_nearest nearest = {.typed = word, .most = edits};
    for (int32_t id = VD_FIRST_WORD; is_word(word) && id < words; id++)
        if (is_word(vd_vocab_word(vocab, id)) && vd_vocab_word(vocab, id)[0] == *word)
            vd_nearest_try(&nearest, vd_vocab_word(vocab, id));
    return nearest.name;
}

const char *vd_vocab_nearest(const vd_vocab *vocab, const char *word)
{
    return nearest_of(vocab, vd_vocab_size(vocab), word, strlen(word) <= 6 ? 1 : 2);
}

// The frequent word that the letters are read as, or the letters.
static const char *meant(const char *word, const void *of)
{
    const vd_vocab *vocab = of;
    size_t length = strlen(word);
    bool known = vd_vocab_id(vocab, word) != VD_UNKNOWN;
    const char *other = NULL;
    if (!known && length >= SHORTEST && length <= LONGEST)
        other = nearest_of(vocab, MIN(vd_vocab_size(vocab), VD_FIRST_WORD + FREQUENT), word, 1);
    return other ? other : word;
}

#define LETTERS "A-Za-z\\x{80}-\\x{10ffff}"
// Parts of "doesn't" stay.
static const char pattern[] = "(?<![" LETTERS "'])[" LETTERS "]++(?!')";

vd_status vd_read_typed(const vd_vocab *vocab, const char *typed, char **out, vd_error *err)
{
    static pcre2_code *words;
    char *text = NULL;
    *out = NULL;
    vd_status status = vd_normalise_typed(typed, &text, err);
    if (status != VD_OK)
        return status;
    *out = vd_text_replace(vd_pattern(&words, pattern), text, meant, vocab);
    vd_free(text);
    return VD_OK;
}

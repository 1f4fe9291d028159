#include "tui/session/spelling.h"

#include <ctype.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/token.h"
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

static size_t letters(const char *text)
{
    size_t count = 0;
    while (isalpha((unsigned char)text[count]) || (unsigned char)text[count] >= 0x80)
        count++;
    return count;
}

// The frequent word that these letters are read as, NULL: they stay. Parts of "doesn't" stay.
static const char *meant(const vd_vocab *vocab, const char *text, size_t at, size_t length)
{
    char word[LONGEST + 1];
    int32_t size = vd_vocab_size(vocab);
    if (length < SHORTEST || length > LONGEST || text[at + length] == '\'' ||
        (at > 0 && text[at - 1] == '\''))
        return NULL;
    memcpy(word, text + at, length);
    word[length] = '\0';
    if (vd_vocab_id(vocab, word) != VD_UNKNOWN)
        return NULL;
    return nearest_of(vocab, size < VD_FIRST_WORD + FREQUENT ? size : VD_FIRST_WORD + FREQUENT,
                      word, 1);
}

vd_status vd_read_typed(const vd_vocab *vocab, const char *typed, char **out, vd_error *err)
{
    char *text = NULL;
    *out = NULL;
    vd_status status = vd_normalise_typed(typed, &text, err);
    if (status != VD_OK)
        return status;
    GString *read = g_string_new(NULL);
    for (size_t at = 0; text[at];) {
        size_t length = letters(text + at), taken = length ? length : 1;
        const char *other = length ? meant(vocab, text, at, length) : NULL;
        g_string_append_len(read, other ? other : text + at, other ? -1 : (gssize)taken);
        at += taken;
    }
    vd_free(text);
    *out = g_string_free(read, FALSE);
    return VD_OK;
}

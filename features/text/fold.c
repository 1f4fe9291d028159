#include "features/text/fold.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include <glib.h>

static bool is_among(const char *word, size_t length, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == length && memcmp(*list, word, length) == 0)
            return true;
    return false;
}

// The word as it stands in a key, of *length bytes; 0: it says nothing there. no: behind "no".
static const char *key_word(const char *word, size_t *length, bool no)
{
    // Words that only point at what was asked about or link it.
    static const char *const fillers[] = {
        "a",    "am",      "an",   "are",    "be",  "do",   "does",  "he",      "he's",
        "i",    "i'm",     "is",   "it",     "its", "it's", "just",  "of",      "only",
        "she",  "she's",   "that", "that's", "the", "them", "there", "there's", "these",
        "they", "they're", "this", "those",  "was", "were", NULL};
    static const char *const yes[] = {"yes", "yeah", "yep", "yup", "yea", NULL};
    static const char *const noes[] = {"no", "nope", "nah", NULL};
    static const char *const again[] = {"not", "isn't", "aren't", "doesn't", "don't", NULL};
    bool nothing = is_among(word, *length, fillers) || (no && is_among(word, *length, again));
    const char *other = is_among(word, *length, yes)    ? yes[0]
                        : is_among(word, *length, noes) ? noes[0]
                                                        : NULL;
    *length = nothing ? 0 : other ? strlen(other) : *length;
    return other ? other : word;
}

// The next word from *at on: letters, digits, apostrophes and whatever is not ASCII. 0 at the end.
static size_t next_word(const char **at)
{
    const char *c = *at;
    while (*c && !isalnum((unsigned char)*c) && !(*c & 0x80))
        c++;
    *at = c;
    while (isalnum((unsigned char)*c) || *c == '\'' || *c & 0x80)
        c++;
    return (size_t)(c - *at);
}

void vd_fold_key(const char *answer, char *key, size_t size)
{
    size_t used = 0, length;
    for (const char *at = answer; (length = next_word(&at)) > 0; at += length) {
        size_t own = length;
        const char *word = key_word(at, &own, used == 2 && key[0] == 'n' && key[1] == 'o');
        if (own == 0)
            continue;
        if (used + own + 2 > size)
            break;
        if (used)
            key[used++] = ' ';
        memcpy(key + used, word, own);
        used += own;
    }
    key[used] = '\0';
    if (used == 0) {
        size_t whole = strlen(answer);
        whole = whole < size ? whole : size - 1;
        memcpy(key, answer, whole);
        key[whole] = '\0';
    }
}

int32_t *vd_fold_answers(const char *const *answer, size_t count)
{
    int32_t *group = g_new(int32_t, count);
    GStringChunk *keys = g_string_chunk_new(4096);
    GHashTable *first = g_hash_table_new(g_str_hash, g_str_equal); // answer with a key, from 1
    for (size_t i = 0; i < count; i++) {
        char key[96];
        vd_fold_key(answer[i], key, sizeof key);
        size_t alike = GPOINTER_TO_SIZE(g_hash_table_lookup(first, key));
        if (!alike)
            g_hash_table_insert(first, g_string_chunk_insert(keys, key),
                                GSIZE_TO_POINTER(alike = i + 1));
        group[i] = (int32_t)alike - 1;
    }
    g_hash_table_destroy(first);
    g_string_chunk_free(keys);
    return group;
}

int vd_fold_ranking(const vd_answer *answer, const int32_t *group, int most, vd_answer_group *list)
{
    int count = 0;
    int32_t *index = g_new0(int32_t, answer->candidates); // in list, from 1
    for (int i = 0; i < answer->candidates; i++) {
        int32_t one = answer->order[i], *at = &index[group[one]];
        double probability = (double)answer->probability[one];
        if (*at) {
            list[*at - 1].alike++;
            list[*at - 1].probability += probability;
        } else if (count < most) {
            list[count++] = (vd_answer_group){one, i, 0, probability};
            *at = count;
        }
    }
    g_free(index);
    return count;
}

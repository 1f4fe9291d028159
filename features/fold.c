#include "features/fold.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/alloc.h"

// Words that point at what was asked about or link it, without saying anything of it.
static bool is_filler(const char *word, size_t length)
{
    static const char *const fillers[] = {
        "a",    "am",    "an",      "are",   "be",   "do",      "does",  "he",    "he's",   "i",
        "i'm",  "is",    "it",      "its",   "it's", "she",     "she's", "that",  "that's", "the",
        "them", "there", "there's", "these", "they", "they're", "this",  "those", "was",    "were",
    };
    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++)
        if (strlen(fillers[i]) == length && memcmp(fillers[i], word, length) == 0)
            return true;
    return false;
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
        if (is_filler(at, length))
            continue;
        if (used + length + 2 > size)
            break;
        if (used)
            key[used++] = ' ';
        memcpy(key + used, at, length);
        used += length;
    }
    key[used] = '\0';
    if (used == 0) {
        size_t whole = strlen(answer);
        whole = whole < size ? whole : size - 1;
        memcpy(key, answer, whole);
        key[whole] = '\0';
    }
}

enum { KEY = 96 };

typedef struct keyed {
    char key[KEY];
    int32_t answer;
} keyed;

static int compare_keys(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->answer > y->answer) - (x->answer < y->answer);
}

vd_status vd_fold_answers(char *const *answer, size_t count, int32_t *group, vd_error *err)
{
    keyed *list = vd_alloc(count, sizeof *list);
    if (!list)
        return vd_error_memory(err, "answers that are alike");
    for (size_t i = 0; i < count; i++) {
        vd_fold_key(answer[i], list[i].key, KEY);
        list[i].answer = (int32_t)i;
    }
    qsort(list, count, sizeof *list, compare_keys);
    for (size_t i = 0; i < count; i++) {
        bool alike = i > 0 && strcmp(list[i].key, list[i - 1].key) == 0;
        group[list[i].answer] = alike ? group[list[i - 1].answer] : list[i].answer;
    }
    vd_free(list);
    return VD_OK;
}

vd_status vd_fold_ranking(const vd_answer *answer, const int32_t *group, int most, vd_folded *list,
                          int *count, vd_error *err)
{
    int n = 0;
    int32_t *place = vd_alloc((size_t)answer->candidates, sizeof *place); // in list, from 1
    *count = 0;
    if (!place)
        return vd_error_memory(err, "answers that are alike");
    for (int i = 0; i < answer->candidates; i++) {
        int32_t one = answer->order[i], *at = &place[group[one]];
        double probability = (double)answer->probability[one];
        if (*at) {
            list[*at - 1].alike++;
            list[*at - 1].probability += probability;
        } else if (n < most) {
            list[n++] = (vd_folded){one, 0, probability};
            *at = n;
        }
    }
    vd_free(place);
    *count = n;
    return VD_OK;
}

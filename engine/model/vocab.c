#include "engine/model/vocab.h"

#include <stdbool.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/json_tree.h"

static const char *const special[VD_FIRST_WORD] = {"<PAD>", "<S>", "</S>", "<UNK>"};

// ---- words and where they are -------------------------------------------------------------------

static size_t hash_of(const char *word)
{
    uint64_t hash = vd_hash_text(VD_HASH_START, word);
    return (size_t)(hash ^ hash >> 32);
}

// The slot where word is or would be. There is always a free one.
static size_t slot_of(const vd_word_counts *table, const char *word)
{
    size_t slot = hash_of(word) & (table->slot_count - 1);
    while (table->slots[slot] && strcmp(table->words[table->slots[slot] - 1].text, word) != 0)
        slot = (slot + 1) & (table->slot_count - 1);
    return slot;
}

int32_t vd_word_counts_number(const vd_word_counts *counts, const char *word)
{
    return counts->count ? (int32_t)counts->slots[slot_of(counts, word)] - 1 : -1;
}

// Room for another word. On failure the table stays usable.
static bool table_grow(vd_word_counts *table)
{
    if (!vd_make_room(&table->words, &table->room, table->count + 1, sizeof *table->words))
        return false;
    uint32_t *slots = vd_alloc(table->room * 2, sizeof *slots);
    if (!slots)
        return false;
    vd_free(table->slots);
    table->slots = slots;
    table->slot_count = table->room * 2;
    for (size_t i = 0; i < table->count; i++)
        slots[slot_of(table, table->words[i].text)] = (uint32_t)i + 1;
    return true;
}

// Adds a word that is not there; false when memory is out. The caller keeps count below INT32_MAX.
static bool table_add(vd_word_counts *table, const char *word)
{
    if (2 * table->count == table->slot_count && !table_grow(table))
        return false;
    char *copy = vd_strdup(word);
    if (!copy)
        return false;
    table->words[table->count++].text = copy;
    table->slots[slot_of(table, word)] = (uint32_t)table->count;
    return true;
}

void vd_word_counts_clear(vd_word_counts *counts)
{
    for (size_t i = 0; i < counts->count; i++)
        vd_free(counts->words[i].text);
    vd_free(counts->words);
    vd_free(counts->slots);
    *counts = (vd_word_counts){0};
}

// ---- vocabulary ---------------------------------------------------------------------------------

struct vd_vocab {
    vd_word_counts table; // a word's index is its id
};

void vd_vocab_free(vd_vocab *vocab)
{
    if (!vocab)
        return;
    vd_word_counts_clear(&vocab->table);
    vd_free(vocab);
}

int vd_vocab_size(const vd_vocab *vocab)
{
    return (int)vocab->table.count;
}

const char *vd_vocab_word(const vd_vocab *vocab, int32_t id)
{
    bool known = id >= 0 && (size_t)id < vocab->table.count;
    return vocab->table.words[known ? id : VD_UNKNOWN].text;
}

int32_t vd_vocab_id(const vd_vocab *vocab, const char *word)
{
    int64_t id = vd_word_counts_number(&vocab->table, word);
    return id < 0 ? VD_UNKNOWN : (int32_t)id;
}

// ---- unknown words ------------------------------------------------------------------------------

vd_status vd_oov_words_id(vd_oov_words *own, const char *word, int32_t *id, vd_error *err)
{
    int64_t known = vd_word_counts_number(&own->vocab->table, word),
            at = vd_word_counts_number(&own->more, word);
    *id = VD_UNKNOWN;
    if (known < 0 && at < 0) {
        at = (int64_t)own->more.count;
        if (at + vd_vocab_size(own->vocab) >= INT32_MAX - 1 || !table_add(&own->more, word))
            return vd_error_memory(err, "unknown words");
    }
    *id = (int32_t)(known >= 0 ? known : at + vd_vocab_size(own->vocab));
    return VD_OK;
}

const char *vd_oov_words_word(const vd_oov_words *own, int32_t id)
{
    int32_t at = id - vd_vocab_size(own->vocab);
    return at >= 0 && (size_t)at < own->more.count ? own->more.words[at].text
                                                   : vd_vocab_word(own->vocab, id);
}

// Appends the next word, checked as every source of a vocabulary needs it.
static vd_status vocab_add(vd_vocab *vocab, const char *word, const char *where, vd_error *err)
{
    size_t id = vocab->table.count;
    if (id < VD_FIRST_WORD && strcmp(word, special[id]) != 0)
        return vd_error_set(err, VD_FORMAT, "%s: word %zu is \"%.80s\"; %s is expected there",
                            where, id, word, special[id]);
    if (!*word)
        return vd_error_set(err, VD_FORMAT, "%s: word %zu is empty", where, id);
    int64_t known = vd_word_counts_number(&vocab->table, word);
    if (known >= 0)
        return vd_error_set(err, VD_FORMAT, "%s: word %zu, \"%.80s\", is word %lld already", where,
                            id, word, (long long)known);
    if (id >= INT32_MAX / 2)
        return vd_error_set(err, VD_FORMAT, "%s: too many words", where);
    return table_add(&vocab->table, word) ? VD_OK : vd_error_memory(err, "a vocabulary");
}

vd_status vd_vocab_from_words(const char *const *words, size_t count, vd_vocab **out, vd_error *err)
{
    *out = NULL;
    vd_vocab *vocab = vd_alloc(1, sizeof *vocab);
    if (!vocab)
        return vd_error_memory(err, "a vocabulary");
    vd_status status = VD_OK;
    for (size_t i = 0; !status && i < VD_FIRST_WORD; i++)
        status = vocab_add(vocab, special[i], "vocabulary", err);
    for (size_t i = 0; !status && i < count; i++)
        status = vocab_add(vocab, words[i], "vocabulary", err);
    if (status == VD_OK)
        *out = vocab;
    else
        vd_vocab_free(vocab);
    return status;
}

// ---- from and to JSON ---------------------------------------------------------------------------

static vd_status add_words(vd_vocab *vocab, const vd_json_value *words, const char *where,
                           vd_error *err)
{
    const char *expected = "an array of strings is expected";
    vd_status status = VD_OK;
    if (words->type != VD_JSON_LIST)
        return vd_error_set(err, VD_FORMAT, "%s: found %s where the vocabulary starts; %s", where,
                            vd_json_type_name(words), expected);
    for (const vd_json_value *word = words->first; word && status == VD_OK; word = word->next)
        status = word->type == VD_JSON_TEXT
                     ? vocab_add(vocab, word->text, where, err)
                     : vd_error_set(err, VD_FORMAT, "%s: word %zu is %s; %s", where,
                                    vocab->table.count, vd_json_type_name(word), expected);
    if (status == VD_OK && vocab->table.count < VD_FIRST_WORD)
        status = vd_error_set(err, VD_FORMAT,
                              "%s: the vocabulary has %zu words; it starts with %s %s %s %s", where,
                              vocab->table.count, special[0], special[1], special[2], special[3]);
    return status;
}

vd_status vd_vocab_from_json(const char *json, size_t length, const char *where, vd_vocab **out,
                             vd_error *err)
{
    vd_json_value *words;
    *out = NULL;
    vd_status status = vd_json_value_read(where, json, length, &words, err);
    if (status)
        return status;
    vd_vocab *vocab = vd_alloc(1, sizeof *vocab);
    status = vocab ? add_words(vocab, words, where, err) : vd_error_memory(err, "a vocabulary");
    vd_json_value_free(words);
    if (status)
        vd_vocab_free(vocab);
    else
        *out = vocab;
    return status;
}

static yajl_gen_status emit_words(yajl_gen gen, void *context)
{
    const vd_vocab *vocab = context;
    yajl_gen_status status = yajl_gen_array_open(gen);
    for (size_t i = 0; !status && i < vocab->table.count; i++)
        status = vd_json_put(gen, "%s", vocab->table.words[i].text);
    return status ? status : yajl_gen_array_close(gen);
}

char *vd_vocab_to_json(const vd_vocab *vocab)
{
    char *text;
    size_t length;
    vd_json_write("vocabulary", emit_words, (void *)(uintptr_t)vocab, &text, &length, NULL);
    return text;
}

// ---- counting -----------------------------------------------------------------------------------

vd_status vd_word_counts_add(vd_word_counts *counts, const char *word, int64_t times, vd_error *err)
{
    if (!*word || times < 0)
        return vd_error_set(err, VD_FORMAT, "word counts: \"%.80s\" cannot occur %lld times", word,
                            (long long)times);
    int64_t index = vd_word_counts_number(counts, word);
    if (index < 0) {
        index = (int64_t)counts->count;
        if (index >= INT32_MAX / 2)
            return vd_error_set(err, VD_FORMAT, "word counts: too many words");
        if (!table_add(counts, word))
            return vd_error_memory(err, "word counts");
    }
    int64_t *sum = &counts->words[index].times;
    if (__builtin_add_overflow(*sum, times, sum))
        *sum = INT64_MAX;
    return VD_OK;
}

int64_t vd_word_counts_times(const vd_word_counts *counts, const char *word)
{
    int64_t index = vd_word_counts_number(counts, word);
    return index < 0 ? 0 : counts->words[index].times;
}

typedef struct counted {
    const char *word;
    int64_t times;
    size_t order;
} counted;

static int by_falling_count(const void *a, const void *b)
{
    const counted *one = a, *other = b;
    if (one->times != other->times)
        return one->times > other->times ? -1 : 1;
    return one->order < other->order ? -1 : 1;
}

vd_status vd_word_counts_vocab(const vd_word_counts *counts, int64_t minimum, vd_vocab **out,
                               vd_error *err)
{
    *out = NULL;
    size_t kept = 0, all = counts->count;
    counted *order = vd_alloc(all, sizeof *order);
    const char **words = vd_alloc(all, sizeof *words);
    vd_status status = order && words ? VD_OK : vd_error_memory(err, "a vocabulary");
    for (size_t i = 0; !status && i < all; i++) {
        if (counts->words[i].times >= minimum)
            order[kept++] = (counted){counts->words[i].text, counts->words[i].times, i};
    }
    if (kept)
        qsort(order, kept, sizeof *order, by_falling_count);
    for (size_t i = 0; i < kept; i++)
        words[i] = order[i].word;
    if (!status)
        status = vd_vocab_from_words(words, kept, out, err);
    vd_free(words);
    vd_free(order);
    return status;
}

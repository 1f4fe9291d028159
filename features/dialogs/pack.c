#include "features/dialogs/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/dialogs/dataset_store.h"

// A table of texts, whatever it is made of.
typedef struct texts {
    const char *name;
    size_t count;
    const char *(*at)(const void *of, size_t index);
    const void *of;
} texts;

enum { QUESTIONS, ANSWERS, CAPTIONS, WORDS, FAMILIES, TABLES };

typedef struct packing {
    const vd_visdial *data;
    vd_safetensors_writer *writer;
    vd_vocab *vocab; // every word there is
    vd_word_counts *counts;
    vd_token_tables tokens;
    texts table[TABLES];
    size_t rounds, ranked; // R, K
    int32_t candidates;    // O
    const char **family;   // (family_count) distinct ones
    size_t family_count;
    bool coreference;
    int32_t *column; // (R) a column of the rounds, for writing
    int64_t *start;  // for writing
} packing;

// ---- what there is ----------------------------------------------------------

static const char *question_at(const void *of, size_t index)
{
    return ((const vd_visdial *)of)->questions[index];
}

static const char *answer_at(const void *of, size_t index)
{
    return ((const vd_visdial *)of)->answers[index];
}

static const char *caption_at(const void *of, size_t index)
{
    return ((const vd_visdial *)of)->dialogs[index].caption;
}

static const char *word_at(const void *of, size_t index)
{
    return vd_vocab_word(of, (int32_t)index + VD_FIRST_WORD);
}

static const char *family_at(const void *of, size_t index)
{
    return ((const packing *)of)->family[index];
}

static size_t family_place(const packing *p, const char *family)
{
    size_t place = 0;
    while (place < p->family_count && p->family[place] != family)
        place++;
    return place;
}

static vd_status survey_rounds(packing *p, vd_error *err)
{
    enum { MOST_FAMILIES = 256 }; // as the reader of JSON takes
    const vd_visdial *data = p->data;
    p->family = vd_alloc(MOST_FAMILIES, sizeof *p->family);
    if (!p->family)
        return vd_error_memory(err, "the kinds of questions");
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++) {
            const vd_visdial_round *round = &data->dialogs[d].rounds[r];
            p->rounds++;
            p->ranked += round->options != NULL;
            p->candidates = round->options ? round->option_count : p->candidates;
            p->coreference = p->coreference || round->coreference >= 0;
            if (round->family && family_place(p, round->family) == p->family_count)
                p->family[p->family_count++] = round->family;
        }
    size_t most = p->rounds;
    for (int t = 0; t < TABLES; t++)
        most = p->table[t].count > most ? p->table[t].count : most;
    p->column = vd_alloc(p->rounds, sizeof *p->column);
    p->start = vd_alloc(most + 1, sizeof *p->start);
    return p->column && p->start ? VD_OK : vd_error_memory(err, "the rounds");
}

// The counts of p become these, words that are not among them behind with 0.
static vd_status take_counts(packing *p, const vd_word_counts *counts, vd_error *err)
{
    const vd_word_counts *from[] = {counts, p->counts};
    vd_word_counts *all = NULL;
    vd_status status = vd_word_counts_new(&all, err);
    for (int i = 0; i < 2 && status == VD_OK; i++) {
        vd_vocab *words = NULL;
        status = vd_word_counts_vocab(from[i], 0, &words, err);
        for (int32_t id = VD_FIRST_WORD; status == VD_OK && id < vd_vocab_size(words); id++) {
            const char *word = vd_vocab_word(words, id);
            status = vd_word_counts_add(all, word, i ? 0 : vd_word_counts_times(counts, word), err);
        }
        vd_vocab_free(words);
    }
    vd_word_counts_free(status ? all : p->counts);
    if (status == VD_OK)
        p->counts = all;
    return status;
}

static vd_status survey(packing *p, const vd_word_counts *counts, vd_error *err)
{
    const vd_visdial *data = p->data;
    vd_status status = vd_visdial_count_words(data, true, &p->counts, err);
    if (status == VD_OK && counts)
        status = take_counts(p, counts, err);
    if (status == VD_OK)
        status = vd_word_counts_vocab(p->counts, 0, &p->vocab, err);
    if (status == VD_OK)
        status = vd_token_tables_fill(data, p->vocab, &p->tokens, err);
    if (status != VD_OK)
        return status;
    size_t words = (size_t)vd_vocab_size(p->vocab) - VD_FIRST_WORD;
    p->table[QUESTIONS] = (texts){"question", data->question_count, question_at, data};
    p->table[ANSWERS] = (texts){"answer", data->answer_count, answer_at, data};
    p->table[CAPTIONS] = (texts){"caption", data->dialog_count, caption_at, data};
    p->table[WORDS] = (texts){"word", words, word_at, p->vocab};
    status = survey_rounds(p, err);
    p->table[FAMILIES] = (texts){"family", p->family_count, family_at, p};
    return status;
}

// ---- declaring --------------------------------------------------------------

static vd_status declare(packing *p, const char *name, const char *suffix, vd_dtype dtype,
                         size_t count, vd_error *err)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    return vd_safetensors_declare(p->writer, whole, dtype, 1, &count, err);
}

static size_t text_bytes(const texts *table)
{
    size_t bytes = 0;
    for (size_t i = 0; i < table->count; i++)
        bytes += strlen(table->at(table->of, i)) + 1;
    return bytes;
}

static const vd_sequences *tokens_of(const packing *p, int table)
{
    return table == QUESTIONS ? &p->tokens.questions
           : table == ANSWERS ? &p->tokens.answers
                              : &p->tokens.captions;
}

static size_t token_count(const packing *p, int table)
{
    const vd_sequences *s = tokens_of(p, table);
    size_t all = 0;
    for (size_t i = 0; i < p->table[table].count; i++)
        all += s->length[i];
    return all;
}

// By falling alignment, so that all can be used where it lies.
static vd_status declare_all(packing *p, vd_error *err)
{
    static const char *const columns[] = {"question", "answer", "truth", "options"};
    vd_status status = declare(p, "image_id", "", VD_I64, p->data->dialog_count, err);
    if (status == VD_OK)
        status = declare(p, "first_round", "", VD_I64, p->data->dialog_count + 1, err);
    if (status == VD_OK)
        status = declare(p, "word_count", "", VD_I64, p->table[WORDS].count, err);
    for (int t = 0; t < TABLES && status == VD_OK; t++)
        status = declare(p, p->table[t].name, "_start", VD_I64, p->table[t].count + 1, err);
    for (int t = QUESTIONS; t <= CAPTIONS && status == VD_OK; t++)
        status = declare(p, p->table[t].name, "_first", VD_I64, p->table[t].count + 1, err);
    for (size_t c = 0; c < 4 && status == VD_OK; c++)
        status = declare(p, columns[c], "", VD_I32, p->rounds, err);
    if (status == VD_OK && p->family_count > 0)
        status = declare(p, "family", "", VD_I32, p->rounds, err);
    if (status == VD_OK && p->coreference)
        status = declare(p, "coreference", "", VD_I32, p->rounds, err);
    if (status == VD_OK)
        status = vd_safetensors_declare(p->writer, "candidates", VD_I32, 2,
                                        (size_t[]){p->ranked, (size_t)p->candidates}, err);
    for (int t = QUESTIONS; t <= CAPTIONS && status == VD_OK; t++)
        status = declare(p, p->table[t].name, "_ids", VD_I32, token_count(p, t), err);
    for (int t = 0; t < TABLES && status == VD_OK; t++)
        status = declare(p, p->table[t].name, "_text", VD_U8, text_bytes(&p->table[t]), err);
    return status;
}

// ---- data, in the same order ------------------------------------------------

static vd_status append_dialogs(packing *p, vd_error *err)
{
    const vd_visdial *data = p->data;
    for (size_t d = 0; d < data->dialog_count; d++)
        p->start[d] = data->dialogs[d].image_id;
    vd_status status = vd_safetensors_append(p->writer, p->start, data->dialog_count, err);
    p->start[0] = 0;
    for (size_t d = 0; d < data->dialog_count; d++)
        p->start[d + 1] = p->start[d] + data->dialogs[d].round_count;
    if (status == VD_OK)
        status = vd_safetensors_append(p->writer, p->start, data->dialog_count + 1, err);
    for (size_t i = 0; i < p->table[WORDS].count; i++)
        p->start[i] = vd_word_counts_times(p->counts, word_at(p->vocab, i));
    return status ? status : vd_safetensors_append(p->writer, p->start, p->table[WORDS].count, err);
}

static vd_status append_starts(packing *p, vd_error *err)
{
    vd_status status = VD_OK;
    for (int t = 0; t < TABLES && status == VD_OK; t++) {
        const texts *table = &p->table[t];
        p->start[0] = 0;
        for (size_t i = 0; i < table->count; i++)
            p->start[i + 1] = p->start[i] + (int64_t)strlen(table->at(table->of, i)) + 1;
        status = vd_safetensors_append(p->writer, p->start, table->count + 1, err);
    }
    for (int t = QUESTIONS; t <= CAPTIONS && status == VD_OK; t++) {
        p->start[0] = 0;
        for (size_t i = 0; i < p->table[t].count; i++)
            p->start[i + 1] = p->start[i] + tokens_of(p, t)->length[i];
        status = vd_safetensors_append(p->writer, p->start, p->table[t].count + 1, err);
    }
    return status;
}

enum { QUESTION, ANSWER, TRUTH, OPTIONS, FAMILY, COREFERENCE };

static vd_status append_column(packing *p, int which, vd_error *err)
{
    const vd_visdial *data = p->data;
    size_t at = 0;
    int32_t row = 0;
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++, at++) {
            const vd_visdial_round *round = &data->dialogs[d].rounds[r];
            int32_t value = which == QUESTION  ? round->question
                            : which == ANSWER  ? round->answer
                            : which == TRUTH   ? round->truth
                            : which == OPTIONS ? (round->options ? row++ : -1)
                            : which == FAMILY
                                ? (round->family ? (int32_t)family_place(p, round->family) : -1)
                                : round->coreference;
            p->column[at] = value;
        }
    return vd_safetensors_append(p->writer, p->column, p->rounds, err);
}

static vd_status append_rounds(packing *p, vd_error *err)
{
    vd_status status = VD_OK;
    for (int c = QUESTION; c <= COREFERENCE && status == VD_OK; c++)
        if ((c != FAMILY || p->family_count > 0) && (c != COREFERENCE || p->coreference))
            status = append_column(p, c, err);
    for (size_t d = 0; d < p->data->dialog_count; d++)
        for (int32_t r = 0; r < p->data->dialogs[d].round_count && status == VD_OK; r++) {
            const vd_visdial_round *round = &p->data->dialogs[d].rounds[r];
            if (round->options)
                status = vd_safetensors_append(p->writer, round->options,
                                               (size_t)round->option_count, err);
        }
    return status;
}

// Ids of the vocabulary as places in the table of words.
static vd_status append_tokens(packing *p, int table, vd_error *err)
{
    const vd_sequences *s = tokens_of(p, table);
    vd_status status = VD_OK;
    for (size_t i = 0; i < p->table[table].count && status == VD_OK; i++) {
        int32_t places[UINT8_MAX];
        for (int k = 0; k < s->length[i]; k++)
            places[k] = s->ids[s->first[i] + (size_t)k] - VD_FIRST_WORD;
        status = vd_safetensors_append(p->writer, places, s->length[i], err);
    }
    return status;
}

static vd_status append_texts(packing *p, const texts *table, vd_error *err)
{
    vd_status status = VD_OK;
    for (size_t i = 0; i < table->count && status == VD_OK; i++) {
        const char *text = table->at(table->of, i);
        status = vd_safetensors_append(p->writer, text, strlen(text) + 1, err);
    }
    return status;
}

static vd_status write_all(packing *p, const char *source, vd_error *err)
{
    char content[17];
    snprintf(content, sizeof content, "%016" PRIx64, vd_visdial_hash(p->data));
    const char *const pairs[][2] = {{"format", "visdial dialogs 1"},
                                    {"content", content},
                                    {"version", p->data->version},
                                    {"split", p->data->split},
                                    {"source", source}};
    vd_status status = VD_OK;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && status == VD_OK; i++)
        status = vd_safetensors_put_metadata(p->writer, pairs[i][0], pairs[i][1], err);
    if (status == VD_OK)
        status = declare_all(p, err);
    if (status == VD_OK)
        status = append_dialogs(p, err);
    if (status == VD_OK)
        status = append_starts(p, err);
    if (status == VD_OK)
        status = append_rounds(p, err);
    for (int t = QUESTIONS; t <= CAPTIONS && status == VD_OK; t++)
        status = append_tokens(p, t, err);
    for (int t = 0; t < TABLES && status == VD_OK; t++)
        status = append_texts(p, &p->table[t], err);
    return status;
}

vd_status vd_visdial_pack(const vd_visdial *data, const vd_word_counts *counts, const char *source,
                          const char *path, vd_error *err)
{
    packing p = {.data = data};
    vd_status status = survey(&p, counts, err);
    if (status == VD_OK)
        status = vd_safetensors_create(path, &p.writer, err);
    if (status == VD_OK)
        status = write_all(&p, source, err);
    if (status == VD_OK)
        status = vd_safetensors_commit(p.writer, err);
    else
        vd_safetensors_abort(p.writer);
    vd_free(p.start);
    vd_free(p.column);
    vd_free(p.family);
    vd_token_tables_clear(&p.tokens);
    vd_vocab_free(p.vocab);
    vd_word_counts_free(p.counts);
    return status;
}

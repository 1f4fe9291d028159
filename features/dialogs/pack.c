#include "features/dialogs/pack.h"

#include <inttypes.h>

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "features/dialogs/store.h"

// Lists of lists: the tables of texts VD_QUESTIONS, VD_ANSWERS, VD_CAPTIONS, WORDS and FAMILIES, of
// bytes; the tokens of the first three; and the dialogs, of rounds.
enum { WORDS = VD_TEXTS, FAMILIES, TABLES, TOKENS = TABLES, DIALOGS = TOKENS + VD_TEXTS, LISTS };

typedef struct packing {
    const vd_visdial *data;
    vd_safetensors_writer *writer;
    vd_vocab *vocab; // every word there is
    vd_word_counts counts;
    vd_token_table tokens[VD_TEXTS];
    size_t count[LISTS];
    size_t rounds, ranked; // R, K
    int32_t candidates;    // O
    const char **family;   // (count[FAMILIES]) distinct ones, of family_room
    size_t family_room;
    bool coreference;
    int32_t *column; // (R) a column of the rounds, for writing
    int64_t *start;  // for writing
    bool declaring;
    vd_status status; // the first failure; nothing is written after it
    vd_error *err;
} packing;

const char *const vd_column_names[VD_COLUMNS] = {"question", "answer", "truth",
                                                 "options",  "family", "coreference"};
static const char *const table_names[TABLES] = {"question", "answer", "caption", "word", "family"};

// ---- what tells one set of dialogs from another -----------------------------

// What `data pack` has found already; false in files of before it did.
static bool packed_hash(const vd_packed_file *packed, uint64_t *out)
{
    const char *content = vd_safetensors_metadata(packed->file, "content");
    int read = 0;
    return content && sscanf(content, "%16" SCNx64 "%n", out, &read) == 1 && !content[read];
}

uint64_t vd_visdial_hash(const vd_visdial *data)
{
    const vd_packed_file *packed = vd_visdial_packed(data);
    uint64_t hash = VD_HASH_START;
    if (packed && packed_hash(packed, &hash))
        return hash;
    hash = VD_HASH_START;
    for (size_t i = 0; i < data->dialog_count; i++) {
        const vd_visdial_dialog *dialog = &data->dialogs[i];
        hash = vd_hash_text(vd_hash_with(hash, (uint64_t)dialog->image_id), dialog->caption);
        for (int32_t r = 0; r < dialog->round_count; r++) {
            const vd_visdial_round *round = &dialog->rounds[r];
            hash = vd_hash_text(hash, data->questions[round->question]);
            hash = vd_hash_text(hash, round->answer >= 0 ? data->answers[round->answer] : "");
            hash = vd_hash_with(hash, (uint64_t)(uint32_t)round->truth);
        }
    }
    return hash;
}

// ---- what there is ----------------------------------------------------------

static const char *text_at(const packing *p, int table, size_t index)
{
    return table == WORDS      ? vd_vocab_word(p->vocab, (int32_t)index + VD_FIRST_WORD)
           : table == FAMILIES ? p->family[index]
                               : vd_visdial_text(p->data, table, index);
}

static size_t family_index(const packing *p, const char *family)
{
    size_t index = 0;
    while (index < p->count[FAMILIES] && p->family[index] != family)
        index++;
    return index;
}

// False when memory is out.
static bool survey_round(packing *p, const vd_visdial_round *round)
{
    size_t *families = &p->count[FAMILIES];
    p->rounds++;
    p->ranked += round->options != NULL;
    p->candidates = round->options ? round->option_count : p->candidates;
    p->coreference = p->coreference || round->coreference >= 0;
    if (!round->family || family_index(p, round->family) < *families)
        return true;
    if (!vd_make_room(&p->family, &p->family_room, *families + 1, sizeof *p->family))
        return false;
    p->family[(*families)++] = round->family;
    return true;
}

// The counts of p become these, words that are not among them behind with 0.
static vd_status take_counts(packing *p, const vd_word_counts *counts, vd_error *err)
{
    const vd_word_counts *from[] = {counts, &p->counts};
    vd_word_counts all = {0};
    vd_status status = VD_OK;
    for (int i = 0; i < 2 && status == VD_OK; i++) {
        vd_vocab *words = NULL;
        status = vd_word_counts_vocab(from[i], 0, &words, err);
        for (int32_t id = VD_FIRST_WORD; status == VD_OK && id < vd_vocab_size(words); id++) {
            const char *word = vd_vocab_word(words, id);
            status =
                vd_word_counts_add(&all, word, i ? 0 : vd_word_counts_times(counts, word), err);
        }
        vd_vocab_free(words);
    }
    vd_word_counts_clear(status ? &all : &p->counts);
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
        status = vd_word_counts_vocab(&p->counts, 0, &p->vocab, err);
    if (status == VD_OK)
        status = vd_tokens_fill(data, p->vocab, p->tokens, err);
    if (status != VD_OK)
        return status;
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++)
            if (!survey_round(p, &data->dialogs[d].rounds[r]))
                return vd_error_memory(err, "the kinds of questions");
    for (int kind = 0; kind < VD_TEXTS; kind++)
        p->count[kind] = p->count[TOKENS + kind] = vd_visdial_text_count(data, kind);
    p->count[DIALOGS] = data->dialog_count;
    p->count[WORDS] = (size_t)vd_vocab_size(p->vocab) - VD_FIRST_WORD;
    size_t most = 0;
    for (int l = 0; l < LISTS; l++)
        most = p->count[l] > most ? p->count[l] : most;
    p->column = vd_alloc(p->rounds, sizeof *p->column);
    p->start = vd_alloc(most + 1, sizeof *p->start);
    return p->column && p->start ? VD_OK : vd_error_memory(err, "the rounds");
}

// ---- the data of a section --------------------------------------------------

static void append(packing *p, const void *data, size_t count)
{
    if (p->status == VD_OK)
        p->status = vd_safetensors_append(p->writer, data, count, p->err);
}

// Image ids of dialogs, or counts of words.
static void append_numbers(packing *p, int list)
{
    for (size_t i = 0; i < p->count[list]; i++)
        p->start[i] = list == WORDS ? vd_word_counts_times(&p->counts, text_at(p, WORDS, i))
                                    : p->data->dialogs[i].image_id;
    append(p, p->start, p->count[list]);
}

static size_t length_of(const packing *p, int list, size_t index)
{
    return list < TABLES    ? strlen(text_at(p, list, index)) + 1
           : list < DIALOGS ? p->tokens[list - TOKENS].length[index]
                            : (size_t)p->data->dialogs[index].round_count;
}

static size_t sum(const packing *p, int list)
{
    size_t all = 0;
    for (size_t i = 0; i < p->count[list]; i++)
        all += length_of(p, list, i);
    return all;
}

// Where each part of the list starts, and where the last ends.
static void append_starts(packing *p, int list)
{
    p->start[0] = 0;
    for (size_t i = 0; i < p->count[list]; i++)
        p->start[i + 1] = p->start[i] + (int64_t)length_of(p, list, i);
    append(p, p->start, p->count[list] + 1);
}

static int32_t cell(const packing *p, const vd_visdial_round *round, int column, int32_t *row)
{
    switch (column) {
    case VD_COLUMN_QUESTION:
        return round->question;
    case VD_COLUMN_ANSWER:
        return round->answer;
    case VD_COLUMN_TRUTH:
        return round->truth;
    case VD_COLUMN_OPTIONS:
        return round->options ? (*row)++ : -1;
    case VD_COLUMN_FAMILY:
        return round->family ? (int32_t)family_index(p, round->family) : -1;
    default:
        return round->coreference;
    }
}

static void append_column(packing *p, int column)
{
    size_t at = 0;
    int32_t row = 0; // of candidates
    for (size_t d = 0; d < p->data->dialog_count; d++)
        for (int32_t r = 0; r < p->data->dialogs[d].round_count; r++)
            p->column[at++] = cell(p, &p->data->dialogs[d].rounds[r], column, &row);
    append(p, p->column, p->rounds);
}

static void append_candidates(packing *p, int unused)
{
    (void)unused;
    for (size_t d = 0; d < p->data->dialog_count; d++)
        for (int32_t r = 0; r < p->data->dialogs[d].round_count; r++) {
            const vd_visdial_round *round = &p->data->dialogs[d].rounds[r];
            if (round->options)
                append(p, round->options, (size_t)round->option_count);
        }
}

// Ids of the vocabulary as indices in the table of words.
static void append_tokens(packing *p, int table)
{
    const vd_token_table *s = &p->tokens[table];
    for (size_t i = 0; i < p->count[table]; i++) {
        int32_t indices[UINT8_MAX];
        for (int k = 0; k < s->length[i]; k++)
            indices[k] = s->ids[s->first[i] + (size_t)k] - VD_FIRST_WORD;
        append(p, indices, s->length[i]);
    }
}

static void append_texts(packing *p, int table)
{
    for (size_t i = 0; i < p->count[table]; i++)
        append(p, text_at(p, table, i), length_of(p, table, i));
}

// ---- the sections -----------------------------------------------------------

static void section(packing *p, const char *name, const char *suffix, vd_dtype dtype, size_t count,
                    void (*write)(packing *p, int which), int which)
{
    char whole[64];
    int dims = write == append_candidates ? 2 : 1;
    if (p->status != VD_OK)
        return;
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    if (p->declaring)
        p->status = vd_safetensors_declare(p->writer, whole, dtype, dims,
                                           (size_t[]){count, (size_t)p->candidates}, p->err);
    else
        write(p, which);
}

// By falling alignment, so that all can be used where it lies.
static void sections(packing *p, bool declaring)
{
    p->declaring = declaring;
    section(p, "image_id", "", VD_I64, p->count[DIALOGS], append_numbers, DIALOGS);
    section(p, "first_round", "", VD_I64, p->count[DIALOGS] + 1, append_starts, DIALOGS);
    section(p, "word_count", "", VD_I64, p->count[WORDS], append_numbers, WORDS);
    for (int t = 0; t < TABLES; t++)
        section(p, table_names[t], "_start", VD_I64, p->count[t] + 1, append_starts, t);
    for (int t = 0; t < VD_TEXTS; t++)
        section(p, table_names[t], "_first", VD_I64, p->count[t] + 1, append_starts, TOKENS + t);
    for (int c = 0; c < VD_COLUMNS; c++)
        if ((c != VD_COLUMN_FAMILY || p->count[FAMILIES] > 0) &&
            (c != VD_COLUMN_COREFERENCE || p->coreference))
            section(p, vd_column_names[c], "", VD_I32, p->rounds, append_column, c);
    section(p, "candidates", "", VD_I32, p->ranked, append_candidates, 0);
    for (int t = 0; t < VD_TEXTS; t++)
        section(p, table_names[t], "_ids", VD_I32, sum(p, TOKENS + t), append_tokens, t);
    for (int t = 0; t < TABLES; t++)
        section(p, table_names[t], "_text", VD_U8, sum(p, t), append_texts, t);
}

static vd_status write_all(packing *p, const char *source, bool given, vd_error *err)
{
    char content[17];
    snprintf(content, sizeof content, "%016" PRIx64, vd_visdial_hash(p->data));
    const char *const pairs[][2] = {
        {"format", "visdial dialogs 1"},        {"content", content},
        {"version", p->data->version},          {"split", p->data->split},
        {"words", given ? "given" : "counted"}, {"source", source}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && p->status == VD_OK; i++)
        p->status = vd_safetensors_put_metadata(p->writer, pairs[i][0], pairs[i][1], err);
    sections(p, true);
    sections(p, false);
    return p->status;
}

vd_status vd_visdial_pack(const vd_visdial *data, const vd_word_counts *counts, const char *source,
                          const char *path, vd_error *err)
{
    packing p = {.data = data, .err = err};
    vd_status status = survey(&p, counts, err);
    if (status == VD_OK)
        status = vd_safetensors_create(path, &p.writer, err);
    if (status == VD_OK)
        status = write_all(&p, source, counts != NULL, err);
    if (status == VD_OK)
        status = vd_safetensors_commit(p.writer, err);
    else
        vd_safetensors_abort(p.writer);
    vd_free(p.start);
    vd_free(p.column);
    vd_free(p.family);
    vd_tokens_clear(p.tokens);
    vd_vocab_free(p.vocab);
    vd_word_counts_clear(&p.counts);
    return status;
}

#include "engine/base/alloc.h"
#include "features/dialogs/dataset_store.h"
#include "features/text/tokenize.h"
#include "features/dialogs/store.h"

// ---- sequences --------------------------------------------------------------

static vd_status sequences_init(vd_sequences *s, size_t count, vd_error *err)
{
    s->first = vd_alloc(count, sizeof *s->first);
    s->length = vd_alloc(count, sizeof *s->length);
    s->ids = vd_alloc(1, sizeof *s->ids);
    s->room = s->ids ? 1 : 0;
    return s->first && s->length && s->ids ? VD_OK
                                           : vd_error_memory(err, "the tokens of a data set");
}

static vd_status sequences_add(vd_sequences *s, size_t index, const int32_t *ids, int length,
                               vd_error *err)
{
    if (s->room - s->used < (size_t)length) {
        size_t room = 2 * s->room + 4096;
        int32_t *grown = vd_grow(s->ids, s->room, room, sizeof *grown);
        if (!grown)
            return vd_error_memory(err, "the tokens of a data set");
        s->ids = grown;
        s->room = room;
    }
    memcpy(s->ids + s->used, ids, (size_t)length * sizeof *ids);
    s->first[index] = s->used;
    s->length[index] = (uint8_t)length;
    s->used += (size_t)length;
    return VD_OK;
}

static void sequences_clear(vd_sequences *s)
{
    vd_free(s->length);
    vd_free(s->first);
    vd_free(s->ids);
}

// ---- which strings the dialogs use ------------------------------------------

void vd_text_uses_clear(vd_text_uses *u)
{
    vd_free(u->candidate);
    vd_free(u->answer);
    vd_free(u->question);
}

vd_status vd_text_uses_count(const vd_visdial *data, vd_text_uses *u, vd_error *err)
{
    u->question = vd_alloc(data->question_count, sizeof *u->question);
    u->answer = vd_alloc(data->answer_count, sizeof *u->answer);
    u->candidate = vd_alloc(data->answer_count, sizeof *u->candidate);
    if (!u->question || !u->answer || !u->candidate)
        return vd_error_memory(err, "the strings of a data set");
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count; r++) {
            const vd_visdial_round *round = &data->dialogs[d].rounds[r];
            u->question[round->question]++;
            if (round->answer >= 0)
                u->answer[round->answer]++;
            for (int32_t i = 0; i < round->option_count; i++)
                u->candidate[round->options[i]] = true;
        }
    return VD_OK;
}

// ---- from texts -------------------------------------------------------------

static vd_status in_table(const vd_visdial *data, const char *table, size_t index, vd_status status,
                          vd_error *err)
{
    if (status != VD_FORMAT)
        return status;
    vd_error inner = err ? *err : (vd_error){0};
    return vd_error_set(err, status, "%s: %s %zu: %.400s", data->path, table, index, inner.text);
}

static vd_status tokenise_tables(const vd_visdial *data, const vd_vocab *vocab,
                                 const vd_text_uses *u, vd_token_tables *set, vd_error *err)
{
    int32_t ids[VD_MAX_QUESTION];
    int length = 0;
    vd_status status = sequences_init(&set->questions, data->question_count, err);
    if (status == VD_OK)
        status = sequences_init(&set->answers, data->answer_count, err);
    for (size_t i = 0; i < data->question_count && status == VD_OK; i++) {
        if (u->question[i] == 0)
            continue;
        status =
            vd_question_ids(vocab, data->questions[i], VD_CUT_QUESTION, ids, &length, NULL, err);
        if (status != VD_OK)
            return in_table(data, "question", i, status, err);
        status = sequences_add(&set->questions, i, ids, length, err);
    }
    for (size_t i = 0; i < data->answer_count && status == VD_OK; i++) {
        if (u->answer[i] == 0 && !u->candidate[i])
            continue;
        status = vd_text_ids(vocab, data->answers[i], VD_CUT_CANDIDATE, ids, &length, NULL, err);
        if (status != VD_OK)
            return in_table(data, "answer", i, status, err);
        status = sequences_add(&set->answers, i, ids, length, err);
    }
    return status;
}

static vd_status tokenise_captions(const vd_visdial *data, const vd_vocab *vocab,
                                   vd_token_tables *set, vd_error *err)
{
    vd_status status = sequences_init(&set->captions, data->dialog_count, err);
    for (size_t d = 0; d < data->dialog_count && status == VD_OK; d++) {
        int32_t ids[VD_MAX_HISTORY];
        int length = 0;
        status =
            vd_text_ids(vocab, data->dialogs[d].caption, VD_CUT_CAPTION, ids, &length, NULL, err);
        if (status != VD_OK)
            return in_table(data, "caption of dialog", d, status, err);
        if (length == 0) // the network needs a word, and a chat about the picture gives it this one
            ids[length++] = VD_UNKNOWN;
        status = sequences_add(&set->captions, d, ids, length, err);
    }
    return status;
}

// ---- from packed tokens -----------------------------------------------------

// The vocabulary's id of each word of the file.
static vd_status map_words(const vd_packed_file *packed, const vd_vocab *vocab, int32_t **out,
                           vd_error *err)
{
    int32_t *map = vd_alloc(packed->word_count, sizeof *map);
    if (!map)
        return vd_error_memory(err, "the words of a data set");
    for (size_t i = 0; i < packed->word_count; i++)
        map[i] = vd_vocab_id(vocab, packed->words[i]);
    *out = map;
    return VD_OK;
}

static vd_status translate(const vd_packed_file *packed, const vd_packed_tokens *tokens,
                           const int32_t *map, const char *what, vd_sequences *s, vd_error *err)
{
    size_t all = (size_t)tokens->first[tokens->count];
    s->first = vd_alloc(tokens->count, sizeof *s->first);
    s->length = vd_alloc(tokens->count, sizeof *s->length);
    s->ids = vd_alloc(all, sizeof *s->ids);
    if (!s->first || !s->length || !s->ids)
        return vd_error_memory(err, "the tokens of a data set");
    s->used = s->room = all;
    for (size_t i = 0; i < tokens->count; i++) {
        s->first[i] = (size_t)tokens->first[i];
        s->length[i] = (uint8_t)(tokens->first[i + 1] - tokens->first[i]);
    }
    for (size_t i = 0; i < all; i++) {
        if (tokens->ids[i] < -1 || tokens->ids[i] >= (int64_t)packed->word_count)
            return vd_error_set(
                err, VD_FORMAT,
                "%s: %s_ids[%zu] is word %d; there are %zu words; pack the dialogs again",
                vd_safetensors_path(packed->file), what, i, (int)tokens->ids[i],
                packed->word_count);
        s->ids[i] = tokens->ids[i] < 0 ? VD_UNKNOWN : map[tokens->ids[i]];
    }
    return VD_OK;
}

static vd_status translate_all(const vd_packed_file *packed, const vd_vocab *vocab,
                               vd_token_tables *out, vd_error *err)
{
    int32_t *map = NULL;
    vd_status status = map_words(packed, vocab, &map, err);
    if (status == VD_OK)
        status = translate(packed, &packed->questions, map, "question", &out->questions, err);
    if (status == VD_OK)
        status = translate(packed, &packed->answers, map, "answer", &out->answers, err);
    if (status == VD_OK)
        status = translate(packed, &packed->captions, map, "caption", &out->captions, err);
    vd_free(map);
    return status;
}

// -----------------------------------------------------------------------------

vd_status vd_token_tables_fill(const vd_visdial *data, const vd_vocab *vocab, vd_token_tables *out,
                               vd_error *err)
{
    const vd_packed_file *packed = ((const vd_visdial_store *)data)->packed;
    if (packed)
        return translate_all(packed, vocab, out, err);
    vd_text_uses uses = {0};
    vd_status status = vd_text_uses_count(data, &uses, err);
    if (status == VD_OK)
        status = tokenise_tables(data, vocab, &uses, out, err);
    if (status == VD_OK)
        status = tokenise_captions(data, vocab, out, err);
    vd_text_uses_clear(&uses);
    return status;
}

void vd_token_tables_clear(vd_token_tables *tables)
{
    sequences_clear(&tables->captions);
    sequences_clear(&tables->answers);
    sequences_clear(&tables->questions);
}

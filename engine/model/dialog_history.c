// What a dialog keeps of its history, and how a question's pass reads it.
#include "engine/model/dialog_private.h"

#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/token.h"

bool vd_dialog_ids_fit(const int32_t *ids, int count, const vd_config *config)
{
    for (int i = 0; i < count; i++)
        if (ids[i] < 0 || (ids[i] >= config->vocab && !vd_copies(config)))
            return false;
    return true;
}

vd_status vd_dialog_keep_rows(const vd_dialog *d, vd_kept_rows *kept, int used, int rows, int width,
                              const vd_real *from, vd_error *err)
{
    const vd_memory *memory = d->model->be->memory;
    size_t size = (size_t)width * sizeof *from, wanted = (size_t)used + (size_t)rows;
    if (wanted > kept->room) {
        size_t room = kept->room ? kept->room : 16;
        while (room < wanted)
            room *= 2;
        vd_real *grown = vd_model_take(d->model, room, size);
        if (!grown)
            return vd_error_memory(err, "the history");
        memory->copy(grown, kept->numbers, (size_t)used * size);
        vd_model_give(d->model, kept->numbers);
        *kept = (vd_kept_rows){grown, room};
    }
    memory->copy(kept->numbers + (size_t)used * (size_t)width, from, (size_t)rows * size);
    return VD_OK;
}

// The ids of one more entry, with which it counts.
static vd_status keep_ids(vd_dialog *d, const int32_t *entry, int length, vd_error *err)
{
    vd_kept_history *k = &d->history;
    if (!vd_make_room(&k->start, &k->start_room, (size_t)k->entries + 2, sizeof *k->start) ||
        !vd_make_room(&k->id, &k->id_room, (size_t)k->words + (size_t)length, sizeof *k->id))
        return vd_error_memory(err, "the history");
    memcpy(k->id + k->words, entry, (size_t)length * sizeof *k->id);
    k->words += length;
    k->start[++k->entries] = k->words;
    return VD_OK;
}

// What a pass over one more entry computed; it counts only when all of it is kept.
static vd_status keep_entry(vd_dialog *d, const vd_pass *pass, const int32_t *entry, int length,
                            vd_error *err)
{
    vd_kept_history *k = &d->history;
    int h = d->model->config.hidden, e = d->model->config.embed;
    vd_status status =
        vd_dialog_keep_rows(d, &k->sentence, k->entries, 1, 2 * h, pass->history.sentence, err);
    if (status == VD_OK)
        status =
            vd_dialog_keep_rows(d, &k->matching, k->entries, 1, h, pass->context_history.y, err);
    if (status == VD_OK)
        status = vd_dialog_keep_rows(d, &k->embedding, k->words, length, e, pass->history.embedding,
                                     err);
    if (status == VD_OK)
        status = vd_dialog_keep_rows(d, &k->aggregation, k->words, length, h, pass->topic_history.y,
                                     err);
    if (status == VD_OK && pass->source.kept)
        status = vd_dialog_keep_rows(d, &k->source, k->words, length,
                                     vd_source_width(&d->model->config), pass->source.kept, err);
    if (status == VD_OK)
        status = vd_backend_status(d->model->be, err);
    return status == VD_OK ? keep_ids(d, entry, length, err) : status;
}

vd_status vd_dialog_read_known(vd_pass *pass, vd_texts *texts, vd_error *err)
{
    size_t n = (size_t)texts->count * (size_t)texts->width;
    if (!vd_copies(pass->config))
        return VD_OK;
    int32_t *known = vd_arena_take_raw(pass->arena, n, sizeof *known);
    if (!known)
        return vd_error_memory(err, "the words of the dialog");
    memcpy(known, texts->ids, n * sizeof *known);
    vd_batch_known(known, n, pass->config->vocab);
    texts->ids = known;
    return VD_OK;
}

vd_status vd_dialog_append(vd_dialog *d, const int32_t *entry, int length, vd_error *err)
{
    const vd_config *c = &d->model->config;
    if (length < 1 || length > VD_MAX_HISTORY || !vd_dialog_ids_fit(entry, length, c))
        return vd_error_set(err, VD_USAGE,
                            "a history entry of %d tokens: expected 1 to %d, each below %d", length,
                            VD_MAX_HISTORY, c->vocab);
    if (!vd_dialog_is_fused(d))
        return keep_ids(d, entry, length, err);
    vd_pass pass;
    vd_packed packed;
    vd_arena_reset(&d->arena);
    vd_model_pass(d->model, &d->arena, &pass);
    vd_texts text = {entry, &length, 1, length};
    vd_status status = vd_dialog_read_known(&pass, &text, err);
    if (status == VD_OK)
        status = vd_packed_make(text.ids, &length, 1, length, &d->arena, &packed, err);
    if (status == VD_OK)
        status = vd_sentences_forward(&pass, &pass.history, &packed, pass.w->history,
                                      VD_SITE_HISTORY_WORDS, VD_SITE_HISTORY_LAYER, err);
    if (status == VD_OK)
        status =
            vd_gated_forward(&pass, &pass.context_history, &pass.w->context_history,
                             pass.history.sentence, 1, 2 * c->hidden, VD_SITE_CONTEXT_HISTORY, err);
    if (status == VD_OK)
        status = vd_gated_forward(&pass, &pass.topic_history, &pass.w->topic_history,
                                  pass.history.recurrent.y, length, 2 * c->hidden,
                                  VD_SITE_TOPIC_HISTORY, err);
    if (status == VD_OK && vd_attends(c))
        status = vd_source_entries(&pass, &pass.source.kept, err);
    return status == VD_OK ? keep_entry(d, &pass, entry, length, err) : status;
}

void vd_dialog_truncate(vd_dialog *dialog, int entries)
{
    if (entries < 1)
        entries = 1;
    if (entries < dialog->history.entries) {
        dialog->history.entries = entries;
        dialog->history.words = dialog->history.start[entries];
    }
    if (entries < dialog->memo.entries)
        dialog->memo.entries = entries;
}

vd_status vd_dialog_use_history(const vd_dialog *d, vd_pass *pass, vd_error *err)
{
    const vd_kept_history *k = &d->history;
    const int *at =
        vd_arena_upload(pass->arena, k->start, (size_t)k->entries + 1, sizeof *k->start);
    const int32_t *id = vd_arena_upload(pass->arena, k->id, (size_t)k->words, sizeof *k->id);
    if (!at || !id)
        return vd_error_memory(err, "the history");
    pass->history_words = (vd_packed){.sequences = k->entries,
                                      .tokens = k->words,
                                      .start = k->start,
                                      .id = k->id,
                                      .rows = {.start = at, .id = id}};
    pass->history.packed = &pass->history_words;
    pass->history.sentence = k->sentence.numbers;
    pass->history.embedding = k->embedding.numbers;
    pass->context_history.y = k->matching.numbers;
    pass->topic_history.y = k->aggregation.numbers;
    pass->source.kept = k->source.numbers;
    return VD_OK;
}

vd_status vd_dialog_list_ids(const vd_dialog *d, const int *entry, int count, vd_pass *pass,
                             vd_texts *out, vd_error *err)
{
    const vd_kept_history *k = &d->history;
    int32_t *ids = vd_arena_take(pass->arena, (size_t)count * VD_MAX_HISTORY, sizeof *ids);
    int32_t *length = vd_arena_take(pass->arena, (size_t)count, sizeof *length);
    if (pass->arena->failed)
        return vd_error_memory(err, "the history");
    for (int s = 0; s < count; s++) {
        int first = k->start[entry[s]];
        length[s] = k->start[entry[s] + 1] - first;
        memcpy(ids + (size_t)s * VD_MAX_HISTORY, k->id + first, (size_t)length[s] * sizeof *ids);
    }
    *out = (vd_texts){ids, length, count, VD_MAX_HISTORY};
    return VD_OK;
}

vd_status vd_dialog_encode_history(const vd_dialog *d, const int *entry, int count, vd_pass *pass,
                                   vd_error *err)
{
    vd_texts texts;
    vd_status status = vd_dialog_list_ids(d, entry, count, pass, &texts, err);
    if (status == VD_OK)
        status = vd_dialog_read_known(pass, &texts, err);
    if (status == VD_OK)
        status = vd_packed_make(texts.ids, texts.lengths, count, texts.width, pass->arena,
                                &pass->history_words, err);
    return status
               ? status
               : vd_sentences_forward(pass, &pass->history, &pass->history_words, pass->w->history,
                                      VD_SITE_HISTORY_WORDS, VD_SITE_HISTORY_LAYER, err);
}

static int cut(int length)
{
    return length < VD_MAX_QUESTION - 1 ? length : VD_MAX_QUESTION - 1;
}

int vd_history_entry(const int32_t *question, int question_length, const int32_t *answer,
                     int answer_length, int32_t entry[VD_MAX_HISTORY])
{
    int q = cut(question_length), a = cut(answer_length);
    memcpy(entry, question, (size_t)q * sizeof *entry);
    memcpy(entry + q, answer, (size_t)a * sizeof *entry);
    entry[q + a] = VD_END;
    return q + a + 1;
}

// Words and how often people say them, for vocabularies.
#include "engine/base/alloc.h"
#include "features/dialogs/dataset_store.h"
#include "features/text/tokenize.h"
#include "features/dialogs/pack.h"
#include "features/dialogs/store.h"

// Words in the order of the dialogs, so that ties keep it. A string that comes again was counted
// with its first use.
static vd_status count_dialog(const vd_visdial *data, const vd_visdial_dialog *dialog,
                              vd_text_uses *u, vd_word_counts *counts, vd_error *err)
{
    vd_status status = vd_text_count(counts, dialog->caption, false, 1, err);
    for (int32_t r = 0; r < dialog->round_count && status == VD_OK; r++) {
        const vd_visdial_round *round = &dialog->rounds[r];
        int64_t *times = &u->question[round->question];
        if (*times > 0)
            status = vd_text_count(counts, data->questions[round->question], true, *times, err);
        *times = 0;
        if (round->answer < 0 || status != VD_OK)
            continue;
        times = &u->answer[round->answer];
        if (*times > 0)
            status = vd_text_count(counts, data->answers[round->answer], false, *times, err);
        *times = 0;
    }
    return status;
}

// Answers that nobody gives but that are to be ranked.
static vd_status count_candidates(const vd_visdial *data, const vd_text_uses *u,
                                  vd_word_counts *counts, vd_error *err)
{
    vd_status status = VD_OK;
    for (size_t i = 0; i < data->answer_count && status == VD_OK; i++)
        if (u->candidate[i])
            status = vd_text_count(counts, data->answers[i], false, 0, err);
    return status;
}

static vd_status count_texts(const vd_visdial *data, bool candidates, vd_word_counts *counts,
                             vd_error *err)
{
    vd_text_uses u = {0};
    vd_status status = vd_text_uses_count(data, &u, err);
    for (size_t d = 0; d < data->dialog_count && status == VD_OK; d++)
        status = count_dialog(data, &data->dialogs[d], &u, counts, err);
    if (status == VD_OK && candidates)
        status = count_candidates(data, &u, counts, err);
    vd_text_uses_clear(&u);
    return status;
}

static vd_status take_packed(const vd_packed_file *packed, bool candidates, vd_word_counts *counts,
                             vd_error *err)
{
    vd_status status = VD_OK;
    for (size_t i = 0; i < packed->word_count && status == VD_OK; i++)
        if (candidates || packed->counts[i] > 0)
            status = vd_word_counts_add(counts, packed->words[i], packed->counts[i], err);
    return status;
}

vd_status vd_visdial_count_words(const vd_visdial *data, bool candidates, vd_word_counts **out,
                                 vd_error *err)
{
    *out = NULL;
    vd_word_counts *counts = NULL;
    const vd_packed_file *packed = ((const vd_visdial_store *)data)->packed;
    vd_status status = vd_word_counts_new(&counts, err);
    if (status == VD_OK)
        status = packed ? take_packed(packed, candidates, counts, err)
                        : count_texts(data, candidates, counts, err);
    if (status == VD_OK)
        *out = counts;
    else
        vd_word_counts_free(counts);
    return status;
}

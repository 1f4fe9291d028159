#include "features/dialogs/dataset.h"

#include "engine/base/alloc.h"
#include "features/dialogs/store.h"

static vd_status find_images(vd_dataset *set, vd_error *err)
{
    const vd_visdial *data = set->dialogs;
    set->row = vd_alloc(data->dialog_count, sizeof *set->row);
    if (!set->row)
        return vd_error_memory(err, "the images of a data set");
    for (size_t d = 0; d < data->dialog_count; d++) {
        vd_status status =
            vd_regions_find(set->regions, data->dialogs[d].image_id, &set->row[d], err);
        if (status != VD_OK)
            return status;
    }
    return VD_OK;
}

static vd_status find_candidates(vd_dataset *set, vd_error *err)
{
    const vd_visdial *data = set->dialogs;
    for (size_t d = 0; d < data->dialog_count && set->candidates == 0; d++)
        for (int32_t r = 0; r < data->dialogs[d].round_count && set->candidates == 0; r++)
            set->candidates = data->dialogs[d].rounds[r].option_count;
    return set->candidates > 0
               ? VD_OK
               : vd_error_set(err, VD_FORMAT, "%s: no round has answer_options; nothing to rank",
                              data->path);
}

vd_status vd_dataset_new(const vd_visdial *dialogs, const vd_regions *regions,
                         const vd_vocab *vocab, vd_dataset **out, vd_error *err)
{
    *out = NULL;
    vd_dataset *set = vd_alloc(1, sizeof *set);
    if (!set)
        return vd_error_memory(err, "a data set");
    set->dialogs = dialogs;
    set->regions = regions;
    set->vocab = vd_vocab_size(vocab);
    vd_status status = find_candidates(set, err);
    if (status == VD_OK)
        status = find_images(set, err);
    if (status == VD_OK)
        status = vd_tokens_fill(dialogs, vocab, set->tokens, err);
    if (status != VD_OK) {
        vd_dataset_free(set);
        return status;
    }
    *out = set;
    return VD_OK;
}

void vd_dataset_free(vd_dataset *dataset)
{
    if (!dataset)
        return;
    vd_tokens_clear(dataset->tokens);
    vd_free(dataset->row);
    vd_free(dataset);
}

const vd_visdial *vd_dataset_data(const vd_dataset *dataset)
{
    return dataset->dialogs;
}

const vd_regions *vd_dataset_regions(const vd_dataset *dataset)
{
    return dataset->regions;
}

const vd_visdial_dialog *vd_dataset_dialog(const vd_dataset *dataset, size_t index)
{
    return &dataset->dialogs->dialogs[index];
}

// The caption, the entries that questions see and the last question, without their first token.
static int64_t text_of(const vd_dataset *set, size_t index)
{
    const vd_visdial_dialog *dialog = vd_dataset_dialog(set, index);
    int64_t words = set->tokens[VD_CAPTIONS].length[index] - 1;
    for (int32_t r = 0; r < dialog->round_count; r++) {
        const vd_visdial_round *round = &dialog->rounds[r];
        words += set->tokens[VD_QUESTIONS].length[round->question];
        if (r + 1 < dialog->round_count) // vd_history_entry
            words += (round->answer >= 0 ? vd_wrapped_length(set, round->answer) : 0) + 1;
    }
    return words;
}

void vd_dataset_totals(const vd_dataset *set, const size_t *dialogs, size_t count,
                       vd_totals *totals)
{
    *totals = (vd_totals){0};
    for (size_t b = 0; b < count; b++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(set, dialogs[b]);
        totals->text += text_of(set, dialogs[b]);
        for (int32_t r = 0; r < dialog->round_count; r++) {
            const vd_visdial_round *round = &dialog->rounds[r];
            if (round->truth < 0)
                continue;
            totals->questions++;
            // The options of a packed file are not checked yet; the true one is the answer.
            int32_t text = round->answer >= 0 ? round->answer : round->options[round->truth];
            if (text >= 0 && (size_t)text < set->dialogs->answer_count)
                totals->words += vd_predicted_length(set, text);
        }
    }
}

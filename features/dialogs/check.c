// What a file of dialogs must hold to be used, however it was read; and the index of its images.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/alloc.h"
#include "features/dialogs/store.h"

// ---- rounds -----------------------------------------------------------------

static const char *missing_in(const vd_visdial_round *round, bool test, bool last)
{
    if (round->answer < 0 && !(test && last))
        return "answer";
    if (!round->options && !(test && !last))
        return "answer_options";
    return round->truth < 0 && !test ? "gt_index" : NULL;
}

bool vd_visdial_round_fits(const vd_visdial *data, const vd_visdial_dialog *dialog, int32_t r,
                           char *words, size_t size)
{
    const vd_visdial_round *round = &dialog->rounds[r];
    // Most rounds are whole; the split matters only for the others.
    bool whole = round->answer >= 0 && round->options && round->truth >= 0;
    bool test = !whole && strncmp(data->split, "test", 4) == 0;
    const char *missing = whole ? NULL : missing_in(round, test, r + 1 == dialog->round_count);
    if (missing) {
        snprintf(words, size,
                 "there is no \"%s\"; it may only be missing in a test split, and this is "
                 "\"%.100s\"%s",
                 missing, data->split, test ? ", where this round must have it" : "");
        return false;
    }
    if (round->question < 0 || (size_t)round->question >= data->question_count) {
        snprintf(words, size, "question %" PRId32 " is not in the table of %zu", round->question,
                 data->question_count);
        return false;
    }
    if (round->answer >= 0 && (size_t)round->answer >= data->answer_count) {
        snprintf(words, size, "answer %" PRId32 " is not in the table of %zu", round->answer,
                 data->answer_count);
        return false;
    }
    return true;
}

bool vd_visdial_options_fit(const vd_visdial *data, const vd_visdial_round *round, char *words,
                            size_t size)
{
    for (int32_t i = 0; i < round->option_count; i++) {
        if (round->options[i] >= 0 && (size_t)round->options[i] < data->answer_count)
            continue;
        snprintf(words, size,
                 "option %" PRId32 " is answer %" PRId32 ", which is not in the table of %zu", i,
                 round->options[i], data->answer_count);
        return false;
    }
    if (round->truth < 0 || round->answer < 0)
        return true;
    const char *answer = data->answers[round->answer],
               *option = data->answers[round->options[round->truth]];
    if (answer == option || strcmp(answer, option) == 0)
        return true;
    snprintf(words, size, "gt_index %" PRId32 " points at \"%.60s\", but the answer is \"%.60s\"",
             round->truth, option, answer);
    return false;
}

vd_status vd_visdial_check_options(const vd_visdial *data, size_t dialog, vd_error *err)
{
    if (!((const vd_visdial_store *)data)->packed)
        return VD_OK;
    const vd_visdial_dialog *d = &data->dialogs[dialog];
    for (int32_t r = 0; r < d->round_count; r++) {
        char place[96], words[400];
        if (vd_visdial_options_fit(data, &d->rounds[r], words, sizeof words))
            continue;
        vd_visdial_location(place, sizeof place, dialog, d->image_id, r + 1);
        return vd_error_set(err, VD_FORMAT, "%s: %s: %s; pack the dialogs again", data->path, place,
                            words);
    }
    return VD_OK;
}

// ---- images -----------------------------------------------------------------

vd_status vd_visdial_index(vd_visdial_store *store, size_t *first, size_t *second, vd_error *err)
{
    const vd_visdial *data = &store->data;
    vd_image_at *images = vd_alloc(data->dialog_count, sizeof *images);
    if (!images)
        return vd_error_memory(err, "the index of images");
    store->images = images;
    for (size_t i = 0; i < data->dialog_count; i++)
        images[i] = (vd_image_at){data->dialogs[i].image_id, i};
    const vd_image_at *twice = vd_image_at_sort(images, data->dialog_count);
    if (!twice)
        return VD_OK;
    *first = twice[-1].at;
    *second = twice->at;
    return VD_MISMATCH;
}

const vd_visdial_dialog *vd_visdial_find(const vd_visdial *data, int64_t image_id)
{
    const vd_visdial_store *store = (const vd_visdial_store *)data;
    const vd_image_at *found =
        bsearch(&image_id, store->images, data->dialog_count, sizeof *found, vd_image_id_order);
    return found ? &data->dialogs[found->at] : NULL;
}

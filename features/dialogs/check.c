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
        vd_visdial_place(place, sizeof place, dialog, d->image_id, r + 1);
        return vd_error_set(err, VD_FORMAT, "%s: %s: %s; pack the dialogs again", data->path, place,
                            words);
    }
    return VD_OK;
}

// ---- images -----------------------------------------------------------------

static int compare_images(const void *a, const void *b)
{
    const vd_visdial_image *x = a, *y = b;
    if (x->image_id != y->image_id)
        return x->image_id < y->image_id ? -1 : 1;
    return (x->dialog > y->dialog) - (x->dialog < y->dialog);
}

vd_status vd_visdial_index(vd_visdial_store *store, size_t *first, size_t *second, vd_error *err)
{
    const vd_visdial *data = &store->data;
    vd_visdial_image *images = vd_alloc(data->dialog_count, sizeof *images);
    if (!images)
        return vd_error_memory(err, "the index of images");
    store->images = images;
    for (size_t i = 0; i < data->dialog_count; i++)
        images[i] = (vd_visdial_image){data->dialogs[i].image_id, i};
    qsort(images, data->dialog_count, sizeof *images, compare_images);
    for (size_t i = 1; i < data->dialog_count; i++)
        if (images[i].image_id == images[i - 1].image_id) {
            *first = images[i - 1].dialog;
            *second = images[i].dialog;
            return VD_MISMATCH;
        }
    return VD_OK;
}

static int compare_id(const void *id, const void *image)
{
    int64_t a = *(const int64_t *)id, b = ((const vd_visdial_image *)image)->image_id;
    return (a > b) - (a < b);
}

const vd_visdial_dialog *vd_visdial_find(const vd_visdial *data, int64_t image_id)
{
    const vd_visdial_store *store = (const vd_visdial_store *)data;
    const vd_visdial_image *found =
        bsearch(&image_id, store->images, data->dialog_count, sizeof *found, compare_id);
    return found ? &data->dialogs[found->dialog] : NULL;
}

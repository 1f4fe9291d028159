#include "tui/train/run_data.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/hash.h"
#include "features/dialogs/pack.h"
#include "tui/measure/corpus.h"

// ---- dialogs ------------------------------------------------------------------------------------

static vd_status check_answers(const vd_visdial *dialogs, vd_error *err)
{
    for (size_t i = 0; i < dialogs->dialog_count; i++)
        for (int32_t r = 0; r < dialogs->dialogs[i].round_count; r++)
            if (dialogs->dialogs[i].rounds[r].truth >= 0)
                return VD_OK;
    return vd_error_set(err, VD_FORMAT,
                        "%.300s: no round has a human answer among its candidates, so there "
                        "is nothing to learn or measure",
                        dialogs->path);
}

static vd_status open_dialogs(const vd_run_files *files, vd_run_data *out, vd_error *err)
{
    vd_status status = vd_visdial_open(files->data, &out->dialogs, err);
    if (status == VD_OK && files->dense)
        status = vd_visdial_read_dense(out->dialogs, files->dense, err);
    if (status == VD_OK)
        status = vd_corpus_match(out->dialogs, out->regions, files->missing, files->say, err);
    return status ? status : check_answers(out->dialogs, err);
}

// ---- captions -----------------------------------------------------------------------------------

static vd_status open_captions(const vd_run_files *files, vd_run_data *out, vd_error *err)
{
    vd_status status = vd_captions_read(files->data, &out->captions, err);
    const char *split = files->split;
    if (status == VD_OK && !split && vd_captions_mixed(out->captions))
        split = files->usual;
    out->split = split;
    if (status == VD_OK && split)
        status = vd_captions_choose(out->captions, split, err);
    return status ? status
                  : vd_corpus_match_captions(out->captions, out->regions, files->missing,
                                             files->say, err);
}

// ---- both ---------------------------------------------------------------------------------------

vd_status vd_run_data_open(const vd_run_files *files, vd_task task, vd_run_data *out, vd_error *err)
{
    out->path = files->data;
    vd_status status = vd_regions_open(files->features, &out->regions, err);
    if (status)
        return status;
    return (task == VD_TASK_CAPTION ? open_captions : open_dialogs)(files, out, err);
}

vd_status vd_run_data_number(vd_run_data *data, const vd_vocab *vocab, vd_error *err)
{
    return data->captions
               ? vd_caption_set_new(data->captions, vocab, data->regions, &data->set, err)
               : vd_dataset_new(data->dialogs, data->regions, vocab, &data->dataset, err);
}

void vd_run_data_clear(vd_run_data *data)
{
    vd_dataset_free(data->dataset);
    vd_caption_set_free(data->set);
    vd_visdial_free(data->dialogs);
    vd_captions_free(data->captions);
    vd_regions_close(data->regions);
    *data = (vd_run_data){0};
}

size_t vd_run_data_items(const vd_run_data *data)
{
    return data->captions ? data->captions->count : data->dialogs->dialog_count;
}

void vd_run_data_describe(const vd_run_data *data, char *out, size_t size)
{
    if (data->captions)
        snprintf(out, size, "captions=%zu hash=%016" PRIx64, vd_captions_total(data->captions),
                 vd_captions_hash(data->captions));
    else
        snprintf(out, size, "dialogs=%zu hash=%016" PRIx64, data->dialogs->dialog_count,
                 vd_visdial_hash(data->dialogs));
}

vd_status vd_run_data_features(const vd_run_data *data, char *out, size_t size, vd_error *err)
{
    enum { LOOKED_AT = 8 };
    const vd_regions *regions = data->regions;
    size_t count = regions->count;
    size_t numbers = (size_t)regions->max * (size_t)regions->size;
    float *picture = g_new0(float, numbers);
    vd_status status = VD_OK;
    uint64_t hash = VD_HASH_START;
    for (size_t row = 0; row < count; row++)
        hash = vd_hash_with(hash, (uint64_t)regions->image_id[row]);
    for (size_t i = 0; i < LOOKED_AT && i < count && status == VD_OK; i++) {
        status = vd_regions_read(regions, i * count / LOOKED_AT, picture, NULL, err);
        for (size_t k = 0; k < numbers && status == VD_OK; k++) {
            uint32_t bits;
            memcpy(&bits, &picture[k], sizeof bits);
            hash = vd_hash_with(hash, bits);
        }
    }
    g_free(picture);
    snprintf(out, size, "pictures=%zu hash=%016" PRIx64, count, hash);
    return status;
}

void vd_run_data_source(const vd_run_data *data, char *out, size_t size)
{
    const char *slash = strrchr(data->path, '/'), *name = slash ? slash + 1 : data->path;
    const vd_visdial *d = data->dialogs;
    if (d)
        snprintf(out, size, "%.200s (%.40s %.40s)", name, d->version ? d->version : "",
                 d->split ? d->split : "");
    else
        snprintf(out, size, "%.200s (%.40s %.40s)", name, data->captions->kind,
                 !vd_captions_mixed(data->captions) ? data->captions->image[0].split
                 : data->split                      ? "train and restval"
                                                    : "of all splits");
}

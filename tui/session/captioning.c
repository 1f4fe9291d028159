#include "tui/session/captioning.h"

#include <glib.h>
#include <pthread.h>

#include "features/captions/tokens.h"

struct vd_captioning {
    char *path;
    pthread_mutex_t use; // a captioner serves one thread
    vd_captioner *captioner;
    vd_error why; // it could not be loaded
};

vd_captioning *vd_captioning_new(const char *path)
{
    vd_captioning *captioning = g_new0(vd_captioning, 1);
    pthread_mutex_init(&captioning->use, NULL);
    captioning->path = g_strdup(path);
    return captioning;
}

void vd_captioning_free(vd_captioning *captioning)
{
    if (!captioning)
        return;
    vd_captioner_free(captioning->captioner);
    pthread_mutex_destroy(&captioning->use);
    g_free(captioning->path);
    g_free(captioning);
}

const char *vd_captioning_path(const vd_captioning *captioning)
{
    return captioning->path;
}

vd_status vd_captioning_take(vd_captioning *captioning, vd_captioner **out, vd_error *err)
{
    pthread_mutex_lock(&captioning->use);
    if (!captioning->captioner && !captioning->why.status)
        vd_captioner_load(captioning->path, &captioning->captioner, &captioning->why);
    *out = captioning->captioner;
    if (*out)
        return VD_OK;
    vd_status status = vd_error_set(err, captioning->why.status, "%s", captioning->why.text);
    if (status == VD_NO_MEMORY) // there may be more the next time
        captioning->why = (vd_error){0};
    pthread_mutex_unlock(&captioning->use);
    return status;
}

void vd_captioning_give_back(vd_captioning *captioning)
{
    pthread_mutex_unlock(&captioning->use);
}

vd_status vd_captioner_fits(const vd_captioner *captioner, const vd_picture_regions *regions,
                            vd_error *err)
{
    const vd_model *model = captioner->model;
    int expected = vd_model_config(model)->region;
    if (regions->size == expected)
        return VD_OK;
    return vd_error_set(err, VD_MISMATCH,
                        "%.300s wants regions of %d numbers, the picture's have %d; they must come "
                        "from one extractor",
                        vd_model_path(model), expected, regions->size);
}

vd_status vd_hypotheses(vd_captioner *captioner, const vd_picture_regions *regions,
                        vd_generated_caption out[VD_HYPOTHESES], int *count, vd_error *err)
{
    vd_generation how = vd_generation_greedy();
    vd_status status = vd_captioner_fits(captioner, regions, err);
    how.beam = VD_HYPOTHESES;
    *count = 0;
    return status ? status
                  : vd_captioner_generate(captioner, regions->features, regions->count, &how, out,
                                          VD_HYPOTHESES, count, err);
}

char *vd_generated_caption_text(const vd_vocab *vocab, const vd_generated_caption *caption)
{
    const char *word[VD_MAX_CAPTION];
    for (int i = 0; i < caption->length; i++)
        word[i] = vd_vocab_word(vocab, caption->word[i]);
    return vd_caption_text(word, caption->length);
}

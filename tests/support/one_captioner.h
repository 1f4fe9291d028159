// One tiny captioner with random weights for a test program, and a picture with padding.
// one_directory.h makes the directory.
#ifndef VD_TEST_ONE_CAPTIONER_H
#define VD_TEST_ONE_CAPTIONER_H

#include "engine/base/rng.h"
#include "engine/model/captioner.h"
#include "tests/support/must.h"
#include "tests/support/one_directory.h"
#include "tests/support/random_model.h"

enum { V = 7, D = 5, P = 4 };

static vd_captioner *captioner;
static float image[P * D]; // region 1 is padding

static inline vd_caption_config config_of(vd_caption_history history)
{
    return (vd_caption_config){.captioner = VD_CAPTIONER_CAT,
                               .vocab = V,
                               .region = D,
                               .hidden = 8,
                               .embed = 3,
                               .heads = 2,
                               .layers = 2,
                               .inner = 8,
                               .history = history,
                               .shared = 1};
}

static inline void open_config(const vd_caption_config *caption)
{
    vd_error err;
    char *path = support_join(directory, "captioner.safetensors");
    const vd_config config = vd_config_of_captioner(caption);
    vd_rng rng = vd_rng_seed(8, 1);
    for (int i = 0; i < P * D; i++)
        image[i] = i / D == 1 ? 0 : (float)vd_rng_range(&rng, 0.1, 2);
    support_write_random_model(&config, path);
    must(vd_captioner_load(path, &captioner, &err), &err);
    free(path);
}

static inline void open_captioner(vd_caption_history history)
{
    const vd_caption_config caption = config_of(history);
    open_config(&caption);
}

static inline vd_generated_caption say(const vd_generation *how)
{
    vd_generated_caption out[VD_MOST_BEAMS];
    int count;
    vd_error err;
    must(vd_captioner_generate(captioner, image, P, how, out, 1, &count, &err), &err);
    assert_int_equal(count, 1);
    return out[0];
}

// The log-probability of any words.
static inline double forced(const int32_t *word, int length, bool ended)
{
    vd_caption_trace trace;
    vd_error err;
    must(vd_captioner_trace(captioner, image, P, word, length, ended, NULL, &trace, &err), &err);
    double sum = trace.log_probability;
    vd_caption_trace_clear(&trace);
    return sum;
}

#endif

// Captioners of every kind, tiny, with the names of their twins in tests/golden/captions.py.
#ifndef TESTS_SUPPORT_CAPTION_CASES_H
#define TESTS_SUPPORT_CAPTION_CASES_H

#include "engine/networks/captions/captions.h"

enum { CAPTION_V = 11, CAPTION_D = 5, CAPTION_WIDTH = 4, CAPTION_P = 4 };

typedef struct caption_case {
    const char *name;
    vd_caption_config config;
} caption_case;

#define CASE(called, past, same, normal, coherence, level, smooth)                                 \
    {                                                                                              \
        (called),                                                                                  \
        {                                                                                          \
            .captioner = VD_CAPTIONER_CAT, .vocab = CAPTION_V, .region = CAPTION_D, .hidden = 6,   \
            .embed = 3, .heads = 2, .layers = 2, .inner = 8, .history = VD_HISTORY_##past,         \
            .shared = (same), .history_norm = (normal), .awc = VD_AWC_##coherence,                 \
            .awc_level = (level), .awc_weight = 0.5, .smoothing = (smooth)                         \
        }                                                                                          \
    }

#define SAT(called, past, coherence, level, smooth, tau)                                           \
    {                                                                                              \
        (called),                                                                                  \
        {                                                                                          \
            .captioner = VD_CAPTIONER_SAT_SOFT, .vocab = CAPTION_V, .region = CAPTION_D,           \
            .hidden = 6, .embed = 3, .layers = 2, .inner = 8, .history = VD_HISTORY_##past,        \
            .shared = 1, .awc = VD_AWC_##coherence, .awc_level = (level), .awc_weight = 0.5,       \
            .seen_weight = 1, .seen_target = (tau), .smoothing = (smooth)                          \
        }                                                                                          \
    }

static const caption_case caption_cases[] = {SAT("sat", NONE, NONE, 0, 0, 1),
                                             SAT("sat-fit", NONE, NONE, 0, 0.1, 0),
                                             SAT("sat-complete", COMPLETE, LEARNT, 0, 0, 1),
                                             SAT("sat-past", PAST, NONE, 0, 0, 0),
                                             SAT("sat-only", ONLY, NONE, 0, 0, 1),
                                             SAT("sat-now", NOW, FIXED, 0.4, 0, 1),
                                             CASE("transformer", NONE, 1, 0, NONE, 0, 0),
                                             CASE("smoothed", NONE, 1, 0, NONE, 0, 0.1),
                                             CASE("complete", COMPLETE, 1, 0, NONE, 0, 0),
                                             CASE("past", PAST, 1, 0, NONE, 0, 0),
                                             CASE("only", ONLY, 1, 0, NONE, 0, 0),
                                             CASE("now", NOW, 1, 0, NONE, 0, 0),
                                             CASE("light", LIGHT, 1, 0, NONE, 0, 0),
                                             CASE("unshared", COMPLETE, 0, 0, NONE, 0, 0),
                                             CASE("normalised", COMPLETE, 1, 1, NONE, 0, 0),
                                             CASE("fixed", COMPLETE, 1, 0, FIXED, 0.3, 0),
                                             CASE("learnt", COMPLETE, 0, 1, LEARNT, 0, 0.1)};
enum { CAPTION_CASES = sizeof caption_cases / sizeof *caption_cases };
#undef CASE
#undef SAT
// Where the Transformer and cat begin.
enum { CAPTION_TRANSFORMER = 6, CAPTION_COMPLETE = 8 };

// Two pictures, the second with a region that is padding; captions of 3, 0 and 4 words.
static inline vd_batch caption_batch(void)
{
    static float image[2 * CAPTION_P * CAPTION_D];
    static const int32_t word[3 * CAPTION_WIDTH] = {5, 9, 4, 0, 0, 0, 0, 0, 10, 6, 5, 7},
                                  length[3] = {3, 0, 4};
    static const int picture[3] = {0, 0, 1};
    static const vd_caption_batch captions = {3, CAPTION_WIDTH, word, length, picture};
    vd_rng rng = vd_rng_seed(5, 1);
    for (int i = 0; i < 2 * CAPTION_P * CAPTION_D; i++)
        image[i] = i / CAPTION_D == CAPTION_P + 2 ? 0 : (float)vd_rng_range(&rng, 0.1, 1);
    return (vd_batch){.dialogs = 2, .regions = CAPTION_P, .image = image, .captions = &captions};
}

#endif

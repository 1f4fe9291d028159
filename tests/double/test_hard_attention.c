// Hard attention, in double precision: over all choices that there are, the mean of the gradients
// of single choices is the gradient of L_s = sum_s p(s|x) ln p(y|s,x), whatever the baseline; the
// entropy's gradient by central differences.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/networks/captions/captions.h"
#include "tests/support/must.h"

enum { V = 8, D = 3, P = 3, WORDS = 2, T = WORDS + 1, CHOICES = P * P * P, MOST = 2000 };

typedef struct world {
    vd_caption_config config;
    vd_layout layout;
    vd_real block[MOST], gradient[MOST];
    vd_parameters w, dw;
    vd_arena arena;
    vd_caption_pass pass;
    vd_caption_loss loss;
    double baseline;
} world;

static void open_world(world *w, double reward, double entropy)
{
    vd_rng rng = vd_rng_seed(3, 4);
    w->config = (vd_caption_config){.captioner = VD_CAPTIONER_SAT_HARD,
                                    .vocab = V,
                                    .region = D,
                                    .hidden = 4,
                                    .embed = 3,
                                    .inner = 4,
                                    .shared = 1,
                                    .reward_weight = reward,
                                    .entropy_weight = entropy};
    vd_caption_layout(&w->config, &w->layout);
    assert_true(w->layout.elements <= MOST);
    for (size_t i = 0; i < w->layout.elements; i++)
        w->block[i] = 0.6 * vd_rng_normal(&rng);
    w->w = (vd_parameters){&w->layout, (unsigned char *)w->block, VD_REAL_TYPE, NULL, false};
    w->dw = (vd_parameters){&w->layout, (unsigned char *)w->gradient, VD_REAL_TYPE, NULL, false};
}

static void run(world *w, const int *forced, bool with_gradient)
{
    static const float image[P * D] = {0.1f, 0.9f, 0.4f, 0.8f, 0.2f, 0.3f, 0.5f, 0.7f, 0.6f};
    static const int32_t word[WORDS] = {5, 7}, length = WORDS;
    static const int picture;
    static const vd_caption_batch captions = {1, WORDS, word, &length, &picture};
    const vd_batch batch = {.dialogs = 1, .regions = P, .image = image, .captions = &captions};
    vd_error err;
    vd_arena_reset(&w->arena);
    memset(w->gradient, 0, sizeof w->gradient);
    w->pass = (vd_caption_pass){.tape = {.be = vd_backend_cpu(),
                                         .arena = &w->arena,
                                         .w = &w->w,
                                         .dw = with_gradient ? &w->dw : NULL},
                                .config = &w->config,
                                .baseline = &w->baseline,
                                .forced = forced};
    must(vd_caption_run(&w->pass, &batch, NULL, &w->loss, &err), &err);
}

static void list_choice(int n, int s[T])
{
    for (int t = 0; t < T; t++, n /= P)
        s[t] = n % P;
}

// p(s|x) of the choice that was read last.
static double probability(const world *w, const int *s)
{
    double p = 1;
    for (int t = 0; t < T; t++)
        p *= w->pass.step[t].look->x[s[t]];
    return p;
}

// L_s, by all choices.
static double bound(world *w)
{
    double sum = 0;
    for (int n = 0; n < CHOICES; n++) {
        int s[T];
        list_choice(n, s);
        run(w, s, false);
        sum += probability(w, s) * -w->loss.words * T; // the cross entropy is a mean over words
    }
    return sum;
}

static double slope_of(world *w, size_t i, double (*value)(world *w))
{
    const double step = 1e-5;
    double kept = w->block[i];
    w->block[i] = kept + step;
    double above = value(w);
    w->block[i] = kept - step;
    double below = value(w);
    w->block[i] = kept;
    return (above - below) / (2 * step);
}

static void mean_of_all_choices_is_the_gradient(void **state)
{
    static world w;
    static double mean[MOST];
    (void)state;
    open_world(&w, T, 0); // R is ln p(y|s) / T
    for (w.baseline = -0.7; w.baseline < 3; w.baseline += 3) {
        memset(mean, 0, sizeof mean);
        for (int n = 0; n < CHOICES; n++) {
            int s[T];
            list_choice(n, s);
            run(&w, s, true);
            double p = probability(&w, s);
            for (size_t i = 0; i < w.layout.elements; i++)
                mean[i] -= p * w.gradient[i]; // of a loss
        }
        for (size_t i = 0; i < w.layout.elements; i += 3) {
            double expected = slope_of(&w, i, bound);
            if (fabs(mean[i] - expected) > 1e-7 + 1e-5 * fabs(expected))
                fail_msg("%zu: mean of the gradients %.10g, finite difference %.10g", i, mean[i],
                         expected);
        }
    }
    vd_arena_free(&w.arena);
}

static const int fixed[T] = {2, 0, 1};

static double loss_of(world *w)
{
    run(w, fixed, false);
    return w->loss.loss;
}

static void entropy_has_its_gradient(void **state)
{
    static world w;
    static double found[MOST];
    (void)state;
    open_world(&w, 0, 0.8);
    run(&w, fixed, true);
    memcpy(found, w.gradient, sizeof found);
    assert_true(w.loss.other < -0.8 && w.loss.other > -0.8 * T * log(P) - 1e-9);
    for (size_t i = 0; i < w.layout.elements; i += 2) {
        double expected = slope_of(&w, i, loss_of);
        if (fabs(found[i] - expected) > 1e-7 + 1e-5 * fabs(expected))
            fail_msg("%zu: gradient %.10g, finite difference %.10g", i, found[i], expected);
    }
    vd_arena_free(&w.arena);
}

// Draws follow the shares, and where nothing is learned the largest share is taken.
static void choices_are_drawn(void **state)
{
    enum { MANY = 2000 };
    static world w;
    double share[P], found[P] = {0};
    int soft = 0;
    (void)state;
    open_world(&w, 1, 0);
    run(&w, NULL, false);
    int best = w.pass.step[0].chosen[0];
    for (int k = 0; k < P; k++) {
        share[k] = w.pass.step[0].look->x[k];
        assert_true(share[k] <= w.pass.step[0].look->x[best]);
    }
    static const float image[P * D] = {0.1f, 0.9f, 0.4f, 0.8f, 0.2f, 0.3f, 0.5f, 0.7f, 0.6f};
    static const int32_t word[WORDS] = {5, 7}, length = WORDS;
    static const int picture;
    static const vd_caption_batch captions = {1, WORDS, word, &length, &picture};
    const vd_batch batch = {.dialogs = 1, .regions = P, .image = image, .captions = &captions};
    w.config.soft_share = 0.5;
    for (uint64_t key = 0; key < MANY; key++) {
        vd_error err;
        vd_arena_reset(&w.arena);
        w.pass = (vd_caption_pass){.tape = {.be = vd_backend_cpu(),
                                            .arena = &w.arena,
                                            .w = &w.w,
                                            .dw = &w.dw,
                                            .key = vd_rng_mix(key)},
                                   .config = &w.config};
        must(vd_caption_run(&w.pass, &batch, NULL, &w.loss, &err), &err);
        int s = w.pass.step[0].chosen[0];
        soft += s < 0;
        for (int t = 1; t < T; t++) // the same way throughout
            assert_true((w.pass.step[t].chosen[0] < 0) == (s < 0));
        if (s >= 0)
            found[s]++;
    }
    assert_true(abs(soft - MANY / 2) < 4 * sqrt(MANY) / 2);
    for (int k = 0; k < P; k++)
        assert_true(fabs(found[k] / (MANY - soft) - share[k]) < 4 * sqrt(0.25 / (MANY - soft)));
    vd_arena_free(&w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_of_all_choices_is_the_gradient),
        cmocka_unit_test(entropy_has_its_gradient),
        cmocka_unit_test(choices_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

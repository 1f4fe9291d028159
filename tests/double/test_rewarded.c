// Learning from captions that a captioner says itself, in double precision: over all captions there
// are, each weighted with its probability and its reward, the gradient is that of the expected
// reward, by central differences; a baseline changes nothing.
#include <math.h>
#include <string.h>

#include "engine/networks/captions/captions.h"
#include "engine/networks/positions.h"
#include "tests/support/must.h"

enum {
    V = 6,
    D = 3,
    P = 3,
    LONGEST = 2,
    SIZE = 4,
    MOST = 2000,
    ALL = 1 + 5 + 25,
    ROWS = 1 + 5 * 2 + 25 * 3
};

typedef struct world {
    vd_caption_config config;
    vd_layout layout;
    vd_real block[MOST], gradient[MOST], sinusoid[VD_MAX_HISTORY * SIZE];
    vd_parameters w, dw;
    vd_arena arena;
    vd_caption_pass pass;
    // Every caption there is: words, whether </S> follows.
    int32_t word[ALL * LONGEST], length[ALL];
    int picture[ALL];
    bool ended[ALL];
    int count;
    vd_real weight[ROWS];
} world;

static void add_caption(world *w, const int32_t *word, int length, bool ended)
{
    assert_true(w->count < ALL);
    memcpy(w->word + (size_t)w->count * LONGEST, word, (size_t)length * sizeof *word);
    w->length[w->count] = length;
    w->ended[w->count++] = ended;
}

// Those of up to LONGEST words, where they are cut; shorter ones end with </S>.
static void add_all(world *w, int32_t *word, int length)
{
    add_caption(w, word, length, length < LONGEST);
    for (int32_t id = 0; length < LONGEST && id < V; id++)
        if (id != VD_END) {
            word[length] = id;
            add_all(w, word, length + 1);
        }
}

static void open_world(world *w, vd_captioner_kind kind)
{
    vd_rng rng = vd_rng_seed(3, 4);
    int32_t word[LONGEST];
    *w = (world){.config = {.captioner = kind,
                            .vocab = V,
                            .region = D,
                            .hidden = SIZE,
                            .embed = 3,
                            .heads = 2,
                            .layers = 1,
                            .inner = 4,
                            .shared = 1,
                            .awc = kind == VD_CAPTIONER_CAT ? VD_AWC_FIXED : VD_AWC_NONE,
                            .awc_weight = 0.5,
                            .seen_weight = 1,
                            .smoothing = 0.1}};
    vd_caption_layout(&w->config, &w->layout);
    assert_true(w->layout.elements <= MOST);
    for (size_t i = 0; i < w->layout.elements; i++)
        w->block[i] = 0.6 * vd_rng_normal(&rng);
    vd_words_sinusoid(w->sinusoid, VD_MAX_HISTORY, SIZE);
    w->w = (vd_parameters){&w->layout, (unsigned char *)w->block, VD_REAL_TYPE, NULL, false};
    w->dw = (vd_parameters){&w->layout, (unsigned char *)w->gradient, VD_REAL_TYPE, NULL, false};
    add_all(w, word, 0);
    assert_int_equal(w->count, ALL);
}

// Logits of all captions.
static void read_all(world *w, bool with_gradient)
{
    static const float image[P * D] = {0.1f, 0.9f, 0.4f, 0.8f, 0.2f, 0.3f, 0.5f, 0.7f, 0.6f};
    const vd_caption_batch captions = {ALL, LONGEST, w->word, w->length, w->picture};
    const vd_batch batch = {.dialogs = 1, .regions = P, .image = image};
    vd_caption_words words;
    vd_error err;
    vd_arena_reset(&w->arena);
    memset(w->gradient, 0, sizeof w->gradient);
    w->pass = (vd_caption_pass){.tape = {.be = vd_backend_cpu(),
                                         .arena = &w->arena,
                                         .w = &w->w,
                                         .dw = with_gradient ? &w->dw : NULL},
                                .config = &w->config,
                                .sinusoid = w->sinusoid};
    must(vd_caption_encode(&w->pass, &batch, &err), &err);
    must(vd_caption_words_all(&w->pass, &captions, &words, &err), &err);
    must(vd_caption_read(&w->pass, &words, &err), &err);
    assert_int_equal(words.rows, ROWS);
}

static double log_of(const world *w, int row)
{
    const vd_real *z = w->pass.logits->x + (size_t)row * V;
    double sum = 0;
    for (int i = 0; i < V; i++)
        sum += exp(z[i]);
    return z[w->pass.words.target[row]] - log(sum);
}

static double probability(const world *w, int c)
{
    double sum = 0;
    for (int t = 0; t < w->length[c] + w->ended[c]; t++)
        sum += log_of(w, w->pass.words.start[c] + t);
    return exp(sum);
}

static double reward(const world *w, int c)
{
    const int32_t *word = w->word + (size_t)c * LONGEST;
    double sum = w->ended[c] ? 0.7 : 0;
    for (int t = 0; t < w->length[c]; t++)
        sum += (5 * word[t] + 3 * t) % 7 / 2.0;
    return sum;
}

// E[r], and whether the captions are all there are.
static double expected(world *w)
{
    double sum = 0, all = 0;
    read_all(w, false);
    for (int c = 0; c < ALL; c++) {
        sum += probability(w, c) * reward(w, c);
        all += probability(w, c);
    }
    assert_true(fabs(all - 1) < 1e-12);
    return sum;
}

static double slope_of(world *w, size_t i)
{
    const double step = 1e-5;
    double kept = w->block[i];
    w->block[i] = kept + step;
    double above = expected(w);
    w->block[i] = kept - step;
    double below = expected(w);
    w->block[i] = kept;
    return (above - below) / (2 * step);
}

static void learn(world *w, double baseline)
{
    double loss, sum = 0;
    vd_error err;
    read_all(w, true);
    memset(w->weight, 0, sizeof w->weight);
    for (int c = 0; c < ALL; c++) {
        double weight = probability(w, c) * (reward(w, c) - baseline);
        for (int t = 0; t < w->length[c] + w->ended[c]; t++)
            w->weight[w->pass.words.start[c] + t] = weight;
        sum -= weight * log(probability(w, c));
    }
    must(vd_caption_weighted_loss(&w->pass, w->weight, &loss, &err), &err);
    assert_true(fabs(loss - sum) < 1e-9);
}

static void all_captions_give_the_gradient_of_the_expected_reward(void **state)
{
    static world w;
    static const vd_captioner_kind kinds[] = {VD_CAPTIONER_TRANSFORMER, VD_CAPTIONER_CAT,
                                              VD_CAPTIONER_SAT_SOFT};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (double baseline = 0; baseline < 4; baseline += 2.5) {
            static double found[MOST];
            open_world(&w, kinds[k]);
            learn(&w, baseline);
            memcpy(found, w.gradient, sizeof found);
            const vd_parameter *words = vd_layout_find(&w.layout, "word_embed.weight");
            for (size_t i = 0; i < w.layout.elements; i += 5) {
                bool pad = i >= words->offset && i < words->offset + words->shape[1];
                double slope = pad ? 0 : slope_of(&w, i); // the row of <PAD> is not learned
                if (fabs(-found[i] - slope) > 1e-7 + 1e-5 * fabs(slope))
                    fail_msg("captioner %zu, %zu: gradient %.10g, finite difference %.10g", k, i,
                             -found[i], slope);
            }
            vd_arena_free(&w.arena);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_captions_give_the_gradient_of_the_expected_reward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

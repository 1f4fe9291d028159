// What every captioner promises: a word depends on nothing that comes after it and on no padding;
// read word by word or all at once it is the same; cat without a history is the Transformer to the
// bit; the second look's regions are the first's, less what the history gets.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/networks/positions.h"
#include "tests/support/caption_cases.h"
#include "tests/support/must.h"

enum { MOST = 8000, W = 10, D6 = 6, HEADS = 2 };

typedef struct world {
    const vd_caption_config *config;
    vd_layout layout;
    vd_real block[MOST], sinusoid[VD_MAX_HISTORY * D6];
    vd_parameters w;
    vd_arena arena;
    vd_caption_pass pass;
} world;

// Those that have twins, and hard attention, which has none.
enum { EVERY = CAPTION_CASES + 1 };
static caption_case case_of(int i)
{
    caption_case c = caption_cases[i % CAPTION_CASES];
    if (i == CAPTION_CASES) {
        c.name = "sat-hard";
        c.config.captioner = VD_CAPTIONER_SAT_HARD;
    }
    return c;
}

static void open_world(world *w, const vd_caption_config *config)
{
    vd_rng rng = vd_rng_seed(3, 4);
    w->config = config;
    vd_caption_layout(config, &w->layout);
    assert_true(w->layout.elements <= MOST);
    for (size_t i = 0; i < w->layout.elements; i++)
        w->block[i] = (vd_real)(0.4 * vd_rng_normal(&rng));
    vd_words_sinusoid(w->sinusoid, VD_MAX_HISTORY, D6);
    w->w = (vd_parameters){&w->layout, (unsigned char *)w->block, VD_REAL_TYPE, NULL, false};
}

static void begin(world *w, const vd_batch *batch)
{
    vd_error err;
    vd_arena_reset(&w->arena);
    w->pass = (vd_caption_pass){.tape = {.be = vd_backend_cpu(), .arena = &w->arena, .w = &w->w},
                                .config = w->config,
                                .sinusoid = w->sinusoid};
    must(vd_caption_encode(&w->pass, batch, &err), &err);
}

// Logits of all words.
static const vd_real *read_all(world *w, const vd_batch *batch)
{
    vd_error err;
    vd_caption_words words;
    begin(w, batch);
    must(vd_caption_words_all(&w->pass, batch->captions, &words, &err), &err);
    must(vd_caption_read(&w->pass, &words, &err), &err);
    return w->pass.logits->x;
}

static void later_words_change_nothing_before_them(void **state)
{
    static world w;
    vd_real kept[W * CAPTION_V];
    (void)state;
    vd_batch batch = caption_batch();
    vd_caption_batch captions = *batch.captions;
    int32_t word[3 * CAPTION_WIDTH];
    memcpy(word, captions.word, sizeof word);
    captions.word = word;
    batch.captions = &captions;
    for (int i = 0; i < EVERY; i++) {
        const caption_case which = case_of(i);
        open_world(&w, &which.config);
        memcpy(kept, read_all(&w, &batch), sizeof kept);
        word[2] = 6 + i % 2; // the last word of the first caption is read at step 3
        word[2 * CAPTION_WIDTH + 3] = 9 + i % 2;
        const vd_real *x = read_all(&w, &batch);
        for (int row = 0; row < W; row++) {
            bool same = true;
            for (int v = row * CAPTION_V; v < (row + 1) * CAPTION_V; v++)
                same &= kept[v] == x[v];
            if (same != (row != 3 && row != W - 1))
                fail_msg("%s: logits of row %d are %s", which.name, row,
                         same ? "the same" : "others");
        }
    }
    vd_arena_free(&w.arena);
}

// More rows of padding, and the regions' order.
static void padding_changes_nothing(void **state)
{
    enum { WIDER = CAPTION_P + 3 };
    static world w;
    static float wide[2 * WIDER * CAPTION_D];
    vd_real kept[W * CAPTION_V];
    (void)state;
    vd_batch batch = caption_batch(), padded = batch;
    padded.regions = WIDER;
    padded.image = wide;
    for (int b = 0; b < 2; b++) // padding comes first, too
        memcpy(wide + (b * WIDER + 1) * CAPTION_D, batch.image + b * CAPTION_P * CAPTION_D,
               CAPTION_P * CAPTION_D * sizeof *wide);
    for (int i = 0; i < EVERY; i++) {
        const caption_case which = case_of(i);
        open_world(&w, &which.config);
        memcpy(kept, read_all(&w, &batch), sizeof kept);
        assert_memory_equal(kept, read_all(&w, &padded), sizeof kept);
    }
    vd_arena_free(&w.arena);
}

static void cat_without_history_is_the_transformer(void **state)
{
    static world w;
    vd_real kept[W * CAPTION_V];
    (void)state;
    vd_batch batch = caption_batch();
    vd_caption_config config = caption_cases[CAPTION_TRANSFORMER].config;
    assert_int_equal(config.history, VD_HISTORY_NONE);
    open_world(&w, &config);
    memcpy(kept, read_all(&w, &batch), sizeof kept);
    config.captioner = VD_CAPTIONER_TRANSFORMER;
    config.history = VD_HISTORY_OWN;
    open_world(&w, &config);
    assert_memory_equal(kept, read_all(&w, &batch), sizeof kept);
    vd_arena_free(&w.arena);
}

static void compare_rows(const char *name, const vd_real *found, const vd_real *expected)
{
    for (int i = 0; i < CAPTION_V; i++)
        if (!(fabs((double)found[i] - (double)expected[i]) <= 1e-5))
            fail_msg("%s, %d: found %.9g, expected %.9g", name, i, (double)found[i],
                     (double)expected[i]);
}

// One more word of each of some captions of the first picture.
static void read_next(vd_caption_pass *pass, const int32_t *id, const int *parent, int captions)
{
    vd_error err;
    vd_caption_words words;
    const vd_caption_next next = {captions, id, parent, NULL};
    must(vd_caption_words_step(pass->tape.arena, &pass->words, &next, &words, &err), &err);
    must(vd_caption_read(pass, &words, &err), &err);
}

// Two captions of one picture, the second of which goes on from the first's second word: what was
// read before is taken in another order.
static void step_by_step_is_all_at_once(void **state)
{
    static const int32_t said[2 * CAPTION_WIDTH] = {5, 9, 4, 0, 5, 8, 6, 7}, length[2] = {3, 4};
    static const int picture[2] = {0, 0};
    static const vd_caption_batch two = {2, CAPTION_WIDTH, said, length, picture};
    static const int32_t first[1] = {VD_START}, next[3][2] = {{7, 5}, {9, 8}, {6, 4}};
    static const int begin_from[2] = {0, 0}, both[2] = {1, 1}, crossed[2] = {1, 0};
    static world w;
    vd_real kept[9 * CAPTION_V];
    (void)state;
    vd_batch batch = caption_batch();
    batch.dialogs = 1;
    batch.captions = &two;
    for (int i = 0; i < EVERY; i++) {
        const caption_case which = case_of(i);
        const char *name = which.name;
        open_world(&w, &which.config);
        memcpy(kept, read_all(&w, &batch), sizeof kept);
        begin(&w, &batch);
        read_next(&w.pass, first, NULL, 1);
        compare_rows(name, w.pass.logits->x, kept);
        read_next(&w.pass, next[0], begin_from, 2);
        compare_rows(name, w.pass.logits->x + CAPTION_V, kept + CAPTION_V);
        read_next(&w.pass, next[1], both, 2);
        compare_rows(name, w.pass.logits->x, kept + 2 * CAPTION_V);
        compare_rows(name, w.pass.logits->x + CAPTION_V, kept + 6 * CAPTION_V);
        read_next(&w.pass, next[2], crossed, 2);
        compare_rows(name, w.pass.logits->x, kept + 7 * CAPTION_V);
        compare_rows(name, w.pass.logits->x + CAPTION_V, kept + 3 * CAPTION_V);
    }
    vd_arena_free(&w.arena);
}

// The shares of word `row` among the pairs of one head.
static const vd_real *shares_of(const vd_value *a, int head, int row, int *keys)
{
    const vd_pairing *p = a->pairing;
    for (const vd_pair_group *g = p->group; g < p->group + p->count; g++)
        if (row >= g->query.first && row < g->query.first + g->query.count) {
            *keys = g->key[0].count + g->key[1].count;
            return a->x + head * p->pairs + g->at + (row - g->query.first) * *keys;
        }
    return NULL;
}

static void second_look_is_the_first_less_the_history(void **state)
{
    static world w;
    (void)state;
    vd_batch batch = caption_batch();
    open_world(&w, &caption_cases[CAPTION_COMPLETE].config);
    read_all(&w, &batch);
    const vd_caption_layer *layer = &w.pass.layer[1];
    for (int row = 0; row < W; row++)
        for (int h = 0; h < HEADS; h++) {
            int regions, all;
            const vd_real *first = shares_of(layer->look, h, row, &regions),
                          *second = shares_of(layer->second, h, row, &all);
            double given = (double)layer->given->x[row * HEADS + h], sum = 0;
            assert_true(given > 0 && given < 1 && all > regions);
            for (int k = 0; k < regions; k++)
                assert_true(fabs((double)second[k] - (double)first[k] * (1 - given)) < 1e-6);
            for (int k = regions; k < all; k++)
                sum += (double)second[k];
            assert_true(fabs(sum - given) < 1e-6);
        }
    vd_arena_free(&w.arena);
}

// Of the most layers, each with all that it can have.
static void the_largest_captioner_fits_into_a_layout(void **state)
{
    static vd_layout layout;
    (void)state;
    vd_caption_config c = caption_cases[CAPTION_COMPLETE].config;
    const vd_setting *row = vd_settings_find(vd_caption_settings, "layers");
    c.layers = (int)row->most;
    c.shared = 0;
    c.history_norm = 1;
    c.awc = VD_AWC_LEARNT;
    assert_true(c.layers <= VD_CAPTION_LAYERS);
    vd_caption_layout(&c, &layout);
    assert_non_null(vd_layout_find(&layout, "awc.beta"));
}

static void refuse(const char *expected, vd_caption_config config)
{
    vd_error err;
    assert_int_equal(vd_caption_check(&config, &err), VD_USAGE);
    assert_string_equal(err.text, expected);
}

static void settings_must_go_together(void **state)
{
    vd_caption_config c = caption_cases[CAPTION_COMPLETE].config;
    (void)state;
    assert_int_equal(vd_caption_check(&c, NULL), VD_OK);
    c.captioner = VD_CAPTIONER_TRANSFORMER;
    refuse("history complete: the captioner transformer has none; expected own or none, or "
           "another captioner",
           c);
    c.history = VD_HISTORY_OWN;
    c.awc = VD_AWC_LEARNT;
    refuse("awc learnt: the captioner attends to no history; expected none, or another history", c);
    c.awc = VD_AWC_NONE;
    c.captioner = VD_CAPTIONER_SAT_SOFT;
    c.history = VD_HISTORY_LIGHT;
    refuse("captioner sat-soft: it has no light history, no history-norm and no weights of its own "
           "for the history",
           c);
    c.captioner = VD_CAPTIONER_SAT_HARD;
    c.history = VD_HISTORY_PAST;
    refuse("history past: the captioner sat-hard has none; expected own or none", c);
    c.captioner = VD_CAPTIONER_TRANSFORMER;
    c.history = VD_HISTORY_OWN;
    c.heads = 4;
    refuse("heads: the vector size (hidden) 6 is not a multiple of 4 heads; expected a number "
           "that divides it",
           c);
}

static void refuse_captions(world *w, const vd_caption_batch *captions, const char *expected)
{
    vd_error err;
    vd_caption_words words;
    assert_int_equal(vd_caption_words_all(&w->pass, captions, &words, &err), VD_USAGE);
    assert_string_equal(err.text, expected);
}

static void batches_that_do_not_fit_are_refused(void **state)
{
    static world w;
    static float nothing[CAPTION_P * CAPTION_D];
    vd_error err;
    (void)state;
    vd_batch batch = caption_batch();
    vd_caption_batch c = *batch.captions;
    open_world(&w, &caption_cases[0].config);
    begin(&w, &batch);
    const int32_t length[] = {3, 5, 4}, word[] = {5, 11};
    const int picture[] = {0, 1, 0}, one[] = {1, 1, 1};
    c.length = length;
    refuse_captions(&w, &c, "caption 1: 5 words; expected 0 to 4");
    c = *batch.captions;
    c.picture = picture;
    refuse_captions(&w, &c, "caption 2: of picture 0; expected increasing numbers below 2");
    c = (vd_caption_batch){1, 2, word, one + 1, one};
    c.length = (const int32_t[]){2};
    refuse_captions(&w, &c, "caption 0, word 1: id 11; expected 0 to 10");
    // The first picture, and the second.
    static float second[2 * CAPTION_P * CAPTION_D];
    memcpy(second, batch.image, CAPTION_P * CAPTION_D * sizeof *second);
    const float *images[] = {nothing, second};
    for (int i = 0; i < 2; i++) {
        batch.dialogs = i + 1;
        batch.image = images[i];
        vd_arena_reset(&w.arena);
        w.pass.tape.last = NULL;
        w.pass.tape.status = VD_OK;
        assert_int_equal(vd_caption_encode(&w.pass, &batch, &err), VD_USAGE);
        assert_string_equal(err.text, "a picture without regions cannot be described");
    }
    vd_arena_free(&w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_words_change_nothing_before_them),
        cmocka_unit_test(padding_changes_nothing),
        cmocka_unit_test(cat_without_history_is_the_transformer),
        cmocka_unit_test(step_by_step_is_all_at_once),
        cmocka_unit_test(second_look_is_the_first_less_the_history),
        cmocka_unit_test(the_largest_captioner_fits_into_a_layout),
        cmocka_unit_test(settings_must_go_together),
        cmocka_unit_test(batches_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

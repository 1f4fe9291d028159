// The captioners against their twins in PyTorch (captions.py): logits of a small batch, what heads
// give to the history, loss, the gradient of every parameter, ten steps of Adam; loss and gradient
// of SCST on the captions of a beam search.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "engine/networks/positions.h"
#include "engine/train/scst.h"
#include "engine/train/trainer_private.h"
#include "tests/support/backend.h"
#include "tests/support/caption_cases.h"
#include "tests/support/must.h"
#include "tests/support/step.h"

enum { B = 2, C = 3, W = 10, HEADS = 2, STEPS = 10 };

static const double TOLERANCE = 1e-5, GRADIENT_TOLERANCE = 1e-4;
static vd_safetensors *file;

// Numbers of the tensor case/name; false when there is none.
static bool read_tensor(const char *name, const char *part, float *out, size_t count)
{
    char whole[200];
    vd_error err;
    snprintf(whole, sizeof whole, "%s%s%s", name, *name ? "/" : "", part);
    const vd_tensor *t = vd_safetensors_find(file, whole);
    if (!t)
        return false;
    if (t->elements != count)
        fail_msg("%s: %zu numbers, expected %zu", whole, t->elements, count);
    must(vd_tensor_floats(t, 0, count, out, &err), &err);
    return true;
}

static vd_batch read_batch(void)
{
    static float image[B * CAPTION_P * CAPTION_D], numbers[C * CAPTION_WIDTH];
    static int32_t word[C * CAPTION_WIDTH], length[C];
    static int picture[C];
    static const vd_caption_batch captions = {C, CAPTION_WIDTH, word, length, picture};
    assert_true(read_tensor("", "img", image, sizeof image / sizeof *image));
    assert_true(read_tensor("", "words", numbers, C * CAPTION_WIDTH));
    for (int i = 0; i < C * CAPTION_WIDTH; i++)
        word[i] = (int32_t)numbers[i];
    assert_true(read_tensor("", "length", numbers, C));
    for (int c = 0; c < C; c++)
        length[c] = (int32_t)numbers[c];
    assert_true(read_tensor("", "picture", numbers, C));
    for (int c = 0; c < C; c++)
        picture[c] = (int)numbers[c];
    return (vd_batch){.dialogs = B, .regions = CAPTION_P, .image = image, .captions = &captions};
}

typedef struct room {
    const caption_case *which;
    vd_layout layout;
    float *expected, *found; // as many numbers as there are parameters
    vd_real *there, *dthere, *sinusoid;
    vd_parameters w, dw;
    vd_arena arena;
    vd_caption_pass pass;
    vd_caption_loss loss;
} room;

static void open_room(room *r, const caption_case *which)
{
    const vd_memory *memory = support_backend()->memory;
    vd_error err;
    *r = (room){.which = which, .arena.memory = memory};
    vd_caption_layout(&which->config, &r->layout);
    size_t n = r->layout.elements;
    r->expected = vd_alloc(n, sizeof *r->expected);
    r->found = vd_alloc(n, sizeof *r->found);
    vd_real **part[] = {&r->there, &r->dthere};
    for (int i = 0; i < 2; i++) {
        *part[i] = memory->allocate(n * sizeof **part[i]);
        memory->zero(*part[i], n * sizeof **part[i]);
    }
    for (int k = 0; k < r->layout.count; k++) {
        const vd_parameter *p = &r->layout.parameter[k];
        if (!read_tensor(which->name, p->name, r->found + p->offset, p->elements))
            fail_msg("%s has a parameter %s, its twin has not", which->name, p->name);
    }
    support_backend()->load_floats(r->found, r->there, n);
    must(vd_words_table(support_backend(), which->config.hidden, &r->sinusoid, &err), &err);
    r->w = (vd_parameters){&r->layout, (unsigned char *)r->there, VD_REAL_TYPE, NULL, false};
    r->dw = (vd_parameters){&r->layout, (unsigned char *)r->dthere, VD_REAL_TYPE, NULL, false};
}

static void close_room(room *r)
{
    const vd_memory *memory = support_backend()->memory;
    vd_free(r->expected);
    vd_free(r->found);
    memory->release(r->there);
    memory->release(r->dthere);
    memory->release(r->sinusoid);
    vd_arena_free(&r->arena);
}

static void run(room *r, const vd_batch *batch)
{
    vd_error err;
    vd_caption_words words;
    vd_arena_reset(&r->arena);
    support_backend()->memory->zero(r->dthere, r->layout.elements * sizeof *r->dthere);
    r->pass = (vd_caption_pass){
        .tape = {.be = support_backend(), .arena = &r->arena, .w = &r->w, .dw = &r->dw},
        .config = &r->which->config,
        .sinusoid = r->sinusoid};
    must(vd_caption_encode(&r->pass, batch, &err), &err);
    must(vd_caption_words_all(&r->pass, batch->captions, &words, &err), &err);
    must(vd_caption_read(&r->pass, &words, &err), &err);
    must(vd_caption_compute_loss(&r->pass, NULL, &r->loss, &err), &err);
}

static void compare(const room *r, const char *what, size_t i, double found, double expected,
                    double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s, %s[%zu]: found %.9g, expected %.9g", r->which->name, what, i, found,
                 expected);
}

static void compare_value(const room *r, const char *what, const vd_value *value)
{
    size_t n = (size_t)value->rows * (size_t)value->columns;
    float expected[W * CAPTION_V];
    assert_true(n <= W * CAPTION_V && read_tensor(r->which->name, what, expected, n));
    float *found = support_read(value->x, n);
    for (size_t i = 0; i < n; i++)
        compare(r, what, i, (double)found[i], (double)expected[i], TOLERANCE);
    vd_free(found);
}

// whose: of the tensors in the twin's file. Parameters that no word has read have no gradient.
static void compare_gradients_of(room *r, const char *whose)
{
    support_backend()->read_floats(r->dthere, r->found, r->layout.elements);
    for (int k = 0; k < r->layout.count; k++) {
        const vd_parameter *p = &r->layout.parameter[k];
        char name[160];
        double largest = 0;
        snprintf(name, sizeof name, "grad.%s", p->name);
        if (!read_tensor(whose, name, r->expected, p->elements)) {
            if (whose == r->which->name)
                fail_msg("%s: the twin has no %s", whose, name);
            memset(r->expected, 0, p->elements * sizeof *r->expected);
        }
        // The twin's file has the row of <PAD>, which no word reads.
        for (size_t i = 0; i < p->elements; i++)
            largest = fmax(largest, fabs((double)r->expected[i]));
        for (size_t i = 0; i < p->elements; i++)
            compare(r, name, i, (double)r->found[p->offset + i], (double)r->expected[i],
                    GRADIENT_TOLERANCE * largest + 1e-7);
    }
}

static void compare_gradients(room *r)
{
    compare_gradients_of(r, r->which->name);
}

// With the twin's weights.
static vd_trainer *make_trainer(const room *r)
{
    static const char *const words[CAPTION_V - VD_FIRST_WORD] = {"a", "b", "c", "d", "e", "f", "g"};
    const vd_config config = vd_config_of_captioner(&r->which->config);
    vd_train_options options = vd_train_defaults();
    vd_vocab *vocab;
    vd_trainer *trainer;
    vd_error err;
    options.rate = 0.01;
    options.dropout = 0;
    must(vd_vocab_from_words(words, CAPTION_V - VD_FIRST_WORD, &vocab, &err), &err);
    must(vd_trainer_new(&config, vocab, &options, &trainer, &err), &err);
    must(vd_trainer_use(trainer, support_backend(), &err), &err);
    assert_int_equal(trainer->layout.elements, r->layout.elements);
    support_backend()->memory->copy(trainer->block, r->there,
                                    r->layout.elements * sizeof *r->there);
    vd_vocab_free(vocab);
    return trainer;
}

static void compare_steps(const room *r, const vd_batch *batch)
{
    float expected[STEPS];
    double loss;
    vd_error err;
    vd_trainer *trainer = make_trainer(r);
    assert_true(read_tensor(r->which->name, "steps", expected, STEPS));
    for (int s = 0; s < STEPS; s++) {
        must(step_take(trainer, batch, 1, &loss, NULL, &err), &err);
        compare(r, "loss before a step", (size_t)s, loss, (double)expected[s], 1e-4);
    }
    vd_trainer_free(trainer);
}

static void captioners_equal_their_twins(void **state)
{
    static room r;
    vd_error err;
    (void)state;
    must(vd_safetensors_open("tests/golden/data/captions.safetensors", &file, &err), &err);
    vd_batch batch = read_batch();
    for (int i = 0; i < CAPTION_CASES; i++) {
        float loss;
        open_room(&r, &caption_cases[i]);
        run(&r, &batch);
        compare_value(&r, "logits", r.pass.logits);
        int top = vd_caption_layers(&r.which->config) - 1;
        if (r.pass.layer[top].given)
            compare_value(&r, "given", r.pass.layer[top].given);
        assert_true(read_tensor(r.which->name, "loss", &loss, 1));
        compare(&r, "loss", 0, r.loss.loss, (double)loss, TOLERANCE);
        compare_gradients(&r);
        compare_steps(&r, &batch);
        assert_null(support_backend()->last_error());
        close_room(&r);
    }
    vd_safetensors_close(file);
}

// The sum over a caption's words weighs the mean over words with their number a caption.
static void the_cross_entropy_may_be_a_sum(void **state)
{
    static room r;
    vd_error err;
    (void)state;
    must(vd_safetensors_open("tests/golden/data/captions.safetensors", &file, &err), &err);
    vd_batch batch = read_batch();
    caption_case summed = caption_cases[CAPTION_TRANSFORMER];
    summed.config.ce = VD_CE_SUM;
    open_room(&r, &caption_cases[CAPTION_TRANSFORMER]);
    run(&r, &batch);
    double mean = r.loss.loss, words = r.loss.words;
    r.which = &summed;
    run(&r, &batch);
    assert_true(fabs(r.loss.loss - mean * W / C) < 1e-5 && fabs(r.loss.words - words) < 1e-6);
    close_room(&r);
    vd_safetensors_close(file);
}

// One weight by hand: three steps of Adam with other moments.
static void adam_takes_its_moments(void **state)
{
    static const vd_moments moments = {0.5, 0.75, 0.125};
    const vd_backend *be = support_backend();
    vd_real *x = be->memory->allocate(4 * sizeof *x);
    const float start[4] = {1, 2, 0, 0}; // weight, gradient, moments
    double w = 1, m = 0, v = 0;
    (void)state;
    be->load_floats(start, x, 4);
    for (int step = 1; step <= 3; step++) {
        be->adam(x, x + 1, x + 2, x + 3, 1, 1, 0.25, &moments, step);
        m = 0.5 * m + 0.5 * 2;
        v = 0.75 * v + 0.25 * 4;
        w -= 0.25 * m / (1 - pow(0.5, step)) / (sqrt(v / (1 - pow(0.75, step))) + 0.125);
    }
    float *found = support_read(x, 1);
    assert_true(fabs((double)found[0] - w) < 1e-6);
    vd_free(found);
    be->memory->release(x);
}

// ---- SCST ---------------------------------------------------------------------------------------

static double worth(const void *context, size_t item, const int32_t *id, int count)
{
    int sum = 0;
    (void)context;
    assert_true(item == 7 || item == 3);
    for (int t = 0; t < count; t++)
        sum += (7 * id[t] + 3 * t) % 11;
    return sum / 10.0;
}

static void self_criticism_equals_its_twin(void **state)
{
    static room r;
    static const struct {
        const char *name;
        vd_scst_baseline baseline;
    } cases[] = {{"transformer", VD_BASELINE_MEAN},
                 {"learnt", VD_BASELINE_GREEDY},
                 {"sat-complete", VD_BASELINE_OTHERS}};
    static const size_t item[B] = {7, 3};
    const vd_rewards rewards = {.of = worth};
    vd_error err;
    (void)state;
    must(vd_safetensors_open("tests/golden/data/captions.safetensors", &file, &err), &err);
    vd_batch batch = read_batch();
    batch.captions = NULL;
    batch.item = item;
    for (int i = 0, n = 0; i < CAPTION_CASES; i++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            char whose[64];
            float expected;
            double loss;
            vd_caption_rewards said;
            if (strcmp(caption_cases[i].name, cases[c].name) != 0)
                continue;
            const vd_train_options options = {.scst = VD_SCST_CIDER_D,
                                              .sample = VD_SAMPLE_BEAM,
                                              .sample_size = 3,
                                              .baseline = cases[c].baseline};
            const vd_scst_step step = {
                .options = &options, .rewards = &rewards, .of = {.questions = B}};
            open_room(&r, &caption_cases[i]);
            r.pass = (vd_caption_pass){
                .tape = {.be = support_backend(), .arena = &r.arena, .w = &r.w, .dw = &r.dw},
                .config = &r.which->config,
                .sinusoid = r.sinusoid};
            must(vd_scst_gradient(&r.pass, &batch, &step, &loss, &said, &err), &err);
            snprintf(whose, sizeof whose, "scst-%s", cases[c].name);
            assert_true(read_tensor(whose, "loss", &expected, 1));
            compare(&r, "loss of SCST", 0, loss, (double)expected, TOLERANCE);
            assert_int_equal(said.count, B * 3);
            compare_gradients_of(&r, whose);
            close_room(&r);
            assert_true(++n <= 3);
        }
    vd_safetensors_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captioners_equal_their_twins),
        cmocka_unit_test(the_cross_entropy_may_be_a_sum),
        cmocka_unit_test(adam_takes_its_moments),
        cmocka_unit_test(self_criticism_equals_its_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

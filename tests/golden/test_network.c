// The network against the public implementation's numbers (tests/golden/data, ../shared/golden):
// candidate scores, the four attentions, losses, every gradient, on two random models.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/backend/cpu/instructions.h"
#include "tests/support/backend.h"
#include "tests/support/golden.h"
#include "tests/support/support.h"

static const double SCORE_TOLERANCE = 1e-5, GRADIENT_TOLERANCE = 1e-4;

static void assert_close(const char *what, double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: found %.9g, expected %.9g (tolerance %g)", what, found, expected, tolerance);
}

static void assert_all_close(golden *g, const char *name, const vd_real *there, size_t count)
{
    float *found = support_read(there, count);
    float *expected = golden_floats(g, name, count);
    for (size_t i = 0; i < count; i++) {
        char what[160];
        snprintf(what, sizeof what, "%s %s[%zu]", g->path, name, i);
        assert_close(what, (double)found[i], (double)expected[i], SCORE_TOLERANCE);
    }
    vd_free(expected);
    vd_free(found);
}

static void assert_single(golden *g, const char *name, double found)
{
    float *expected = golden_floats(g, name, 1);
    assert_close(name, found, (double)expected[0], SCORE_TOLERANCE);
    vd_free(expected);
}

static void check_context(golden *g, const vd_network *net)
{
    assert_all_close(g, "out.context_attention", net->pass.context,
                     (size_t)net->pass.span.questions * (size_t)net->pass.span.most);
}

// Golden tensors are padded; ours are not. Padding words of a question have no row here: nothing
// reads them.
static void check_topic(golden *g, const vd_network *net)
{
    const vd_batch *b = &g->batch;
    const vd_pass *pass = &net->pass;
    size_t r = (size_t)b->rounds, tq = (size_t)b->question_width, th = (size_t)b->history_width;
    float *expected =
        golden_floats(g, "out.topic_attention", (size_t)pass->span.questions * r * tq * th);
    float *topic = support_read(pass->topic, pass->topic_start[pass->span.dialogs]);
    for (int n = 0; n < pass->span.questions; n++) {
        int first = n - n % b->rounds;
        const int *entry = pass->history_words.start + first;
        size_t width = (size_t)(entry[b->rounds] - entry[0]);
        for (int e = 0; e <= n % b->rounds; e++)
            for (int i = 0; i < pass->question_words.length[n]; i++)
                for (int j = 0; j < pass->history_words.length[first + e]; j++) {
                    size_t row = (size_t)(pass->question_words.start[n] + i -
                                          pass->question_words.start[first]);
                    double found = (double)topic[pass->topic_start[n / b->rounds] + row * width +
                                                 (size_t)(entry[e] - entry[0] + j)];
                    double wanted = (double)
                        expected[(((size_t)n * r + (size_t)e) * tq + (size_t)i) * th + (size_t)j];
                    assert_close("out.topic_attention", found, wanted, SCORE_TOLERANCE);
                }
    }
    vd_free(expected);
    vd_free(topic);
}

static void check_words_and_regions(golden *g, const vd_network *net)
{
    const vd_batch *b = &g->batch;
    const vd_pass *pass = &net->pass;
    size_t p = (size_t)b->regions, tq = (size_t)b->question_width, n = (size_t)pass->span.questions;
    float *word = golden_floats(g, "out.region_word_attention", n * p * tq);
    float *region = golden_floats(g, "out.region_attention", n * p);
    float *word_found = support_read(pass->word, p * (size_t)pass->question_words.tokens);
    float *region_found = support_read(pass->region, (size_t)pass->rows);
    for (size_t k = 0; k < n; k++) {
        int stride;
        size_t length = (size_t)pass->question_words.length[k],
               start = vd_pass_word_start(pass, (int)k, &stride);
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < length; j++)
                assert_close("out.region_word_attention",
                             (double)word_found[start + i * (size_t)stride + j],
                             (double)word[(k * p + i) * tq + j], SCORE_TOLERANCE);
        for (int row = pass->span.region_start[k]; row < pass->span.region_start[k + 1]; row++) {
            size_t i = (size_t)pass->row_image[row] % p;
            assert_close("out.region_attention", (double)region_found[row],
                         (double)region[k * p + i], SCORE_TOLERANCE);
            region[k * p + i] = 0;
        }
        for (size_t i = 0; i < p; i++)
            assert_close("out.region_attention of padding", 0, (double)region[k * p + i],
                         SCORE_TOLERANCE);
    }
    vd_free(word);
    vd_free(region);
    vd_free(word_found);
    vd_free(region_found);
}

static void check_gradients(golden *g, const char *prefix)
{
    float *found = support_read(g->gradient, g->layout.elements);
    for (int k = 0; k < g->layout.count; k++) {
        const vd_parameter *q = &g->layout.parameter[k];
        char name[160];
        snprintf(name, sizeof name, "%s%s", prefix, q->name);
        if (!vd_safetensors_find(g->file, name))
            continue;
        float *expected = golden_floats(g, name, q->elements);
        double largest = 0;
        for (size_t i = 0; i < q->elements; i++)
            largest = fmax(largest, fabs((double)expected[i]));
        for (size_t i = 0; i < q->elements; i++)
            assert_close(name, (double)found[q->offset + i], (double)expected[i],
                         GRADIENT_TOLERANCE * largest + 1e-9);
        g->compared++;
        vd_free(expected);
    }
    vd_free(found);
}

static void check_file(const char *file, bool with_gradient)
{
    golden g;
    golden_open(&g, file, VD_DISCRIMINATIVE);
    vd_network net = {0};
    golden_network(&g, &net, with_gradient);
    double loss;
    vd_error err;
    assert_int_equal(vd_network_encode(&net, &g.batch, &err), VD_OK);
    assert_int_equal(vd_discriminative_forward(&net, &err), VD_OK);
    assert_int_equal(vd_discriminative_loss(&net, 1, 0, NULL, &loss, &err), VD_OK);
    size_t n = (size_t)net.pass.span.questions;
    assert_all_close(&g, "out.encoder", net.pass.encoded, n * (size_t)g.config.hidden);
    assert_all_close(&g, "out.disc_scores", net.scores, n * (size_t)g.batch.candidates);
    assert_single(&g, "out.disc_loss", loss);
    check_context(&g, &net);
    check_topic(&g, &net);
    check_words_and_regions(&g, &net);
    if (with_gradient) {
        assert_int_equal(vd_discriminative_backward(&net, &err), VD_OK);
        assert_int_equal(vd_network_encode_backward(&net, &err), VD_OK);
        check_gradients(&g, "grad.");
        assert_int_equal(g.compared, g.layout.count);
    }
    golden_close(&g);
}

static void check_generative(const char *file)
{
    golden g;
    vd_network net = {0};
    vd_error err;
    double loss;
    golden_open(&g, file, VD_BOTH);
    golden_network(&g, &net, true);
    assert_int_equal(vd_network_encode(&net, &g.batch, &err), VD_OK);
    size_t n = (size_t)net.pass.span.questions * (size_t)g.batch.candidates;
    float *scores = vd_alloc(n, sizeof *scores), *expected = golden_floats(&g, "out.gen_scores", n);
    assert_int_equal(vd_generative_scores(&net, scores, &err), VD_OK);
    for (size_t i = 0; i < n; i++)
        assert_close("out.gen_scores", (double)scores[i], (double)expected[i], SCORE_TOLERANCE);
    float *other = golden_floats(&g, "out.disc_scores", n);
    assert_int_equal(vd_network_scores(&net, &g.batch, VD_BOTH, scores, &err), VD_OK);
    for (size_t i = 0; i < n; i++)
        assert_close("averaged scores", (double)scores[i],
                     ((double)expected[i] + (double)other[i]) / 2, SCORE_TOLERANCE);
    vd_free(other);
    golden_network(&g, &net, true);
    assert_int_equal(vd_network_encode(&net, &g.batch, &err), VD_OK);
    assert_int_equal(vd_generative_loss(&net, NULL, &loss, &err), VD_OK);
    assert_single(&g, "out.gen_loss", loss);
    assert_int_equal(vd_generative_backward(&net, &err), VD_OK);
    assert_int_equal(vd_network_encode_backward(&net, &err), VD_OK);
    check_gradients(&g, "gengrad.");
    assert_int_equal(g.compared, 89);
    vd_free(scores);
    vd_free(expected);
    golden_close(&g);
}

static vd_status say(void *context, vd_error *err)
{
    golden *g = context;
    vd_network net = {0};
    double loss;
    vd_arena_free(&g->arena);
    golden_network(g, &net, true);
    size_t n = (size_t)g->batch.dialogs * (size_t)g->batch.rounds * (size_t)g->batch.candidates;
    float *scores = vd_alloc(n, sizeof *scores);
    vd_status status = scores ? vd_network_encode(&net, &g->batch, err)
                              : vd_error_set(err, VD_NO_MEMORY, "scores");
    if (status == VD_OK)
        status = vd_generative_scores(&net, scores, err);
    if (status == VD_OK)
        status = vd_generative_loss(&net, NULL, &loss, err);
    if (status == VD_OK)
        status = vd_generative_backward(&net, err);
    vd_free(scores);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    golden g;
    golden_open(&g, "mvan_tiny.safetensors", VD_BOTH);
    assert_true(support_fail_each_allocation(say, &g) > 3);
    golden_close(&g);
}

static void nothing_to_say_is_refused(void **state)
{
    (void)state;
    golden g;
    vd_network net = {0};
    vd_error err;
    double loss;
    float score;
    golden_open(&g, "mvan_tiny.safetensors", VD_BOTH);
    const int32_t *in = g.batch.candidate_in;
    g.batch.candidate_in = NULL;
    golden_network(&g, &net, true);
    assert_int_equal(vd_network_encode(&net, &g.batch, &err), VD_OK);
    assert_int_equal(vd_generative_scores(&net, &score, &err), VD_USAGE);
    assert_int_equal(vd_generative_loss(&net, NULL, &loss, &err), VD_USAGE);
    g.batch.candidate_in = in;
    golden_close(&g);
}

static void tiny_generative_decoder_matches_the_public_code(void **state)
{
    (void)state;
    check_generative("mvan_tiny.safetensors");
}

static void small_generative_decoder_matches_the_public_code(void **state)
{
    (void)state;
    check_generative("mvan_small.safetensors");
}

static void tiny_matches_the_public_code(void **state)
{
    (void)state;
    check_file("mvan_tiny.safetensors", true);
    check_file("mvan_tiny.safetensors", false);
}

static void small_matches_the_public_code(void **state)
{
    (void)state;
    check_file("mvan_small.safetensors", true);
    check_file("mvan_small.safetensors", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_matches_the_public_code),
        cmocka_unit_test(small_matches_the_public_code),
        cmocka_unit_test(tiny_generative_decoder_matches_the_public_code),
        cmocka_unit_test(small_generative_decoder_matches_the_public_code),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(nothing_to_say_is_refused),
    };
    // The numbers, on every instruction set that the CPU backend has code for; then all of it on
    // the backend asked for (the CPU's on the best set).
    static const char *const sets[] = {"portable", "avx2", "avx512"};
    const struct CMUnitTest numbers[] = {tests[0], tests[1], tests[2], tests[3]};
    int failed = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (support_backend() == vd_backend_cpu() && vd_cpu_choose(sets[i]))
            failed += cmocka_run_group_tests_name(sets[i], numbers, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}

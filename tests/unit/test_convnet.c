// The convolutional net in double, where finite differences can tell a wrong gradient from
// rounding: its source is compiled into this program instead of being linked.
#define VD_DOUBLE
#include "features/extract/convnet.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/support.h"

enum { WIDTH = 16, HEIGHT = 12, INPUTS = 3, BATCH = 2 };

// Every feature once: strides, dilation, normalisation with and without a rectifier, additions of
// the same and of half the size, pointwise, a layer without anything.
static const vd_conv every_feature[] = {
    {"halve", 3, 4, 3, 2, 1, VD_CONV_PICTURE, VD_CONV_NONE, true, true},
    {"again", 4, 6, 3, 2, 1, 0, VD_CONV_NONE, true, true},
    {"wide", 6, 6, 3, 1, 2, 1, 1, true, true},
    {"large", 6, 5, 5, 1, 1, 2, VD_CONV_NONE, false, true},
    {"coarse", 5, 4, 1, 1, 1, 3, VD_CONV_NONE, true, false},
    {"fine", 4, 4, 1, 1, 1, 0, 4, true, true},
    {"heads", 4, 3, 1, 1, 1, 5, VD_CONV_NONE, false, false},
};
enum { LAYERS = sizeof every_feature / sizeof *every_feature };

static void fill(vd_real *out, size_t count, uint64_t stream)
{
    vd_rng rng = vd_rng_seed(7, stream);
    for (size_t i = 0; i < count; i++)
        out[i] = vd_rng_normal(&rng);
}

static size_t output_size(const vd_conv_pass *pass)
{
    int last = pass->net->layers - 1;
    return (size_t)pass->batch * layer_pixels(pass->net, last) * (size_t)pass->net->layer[last].out;
}

// The loss is the sum of the outputs, each times a fixed random number.
static double loss_of(vd_conv_pass *pass, const vd_real *factor)
{
    const vd_real *y = vd_conv_forward(pass);
    double sum = 0;
    for (size_t i = 0; i < output_size(pass); i++)
        sum += y[i] * factor[i];
    return sum;
}

static vd_convnet *make_net(const vd_conv *layer, int layers, int width, int height)
{
    vd_convnet *net;
    vd_error err;
    assert_int_equal(vd_convnet_new(layer, layers, INPUTS, width, height, &net, &err), VD_OK);
    vd_rng rng = vd_rng_seed(3, 1);
    vd_convnet_init(net, &rng);
    for (int l = 0; l < layers; l++) // biases and gains that a forgotten term would show in
        for (size_t i = net->bias[l]; i < (l + 1 < layers ? net->weight[l + 1] : net->params); i++)
            net->param[i] += 0.3 * vd_rng_normal(&rng);
    return net;
}

static vd_conv_pass *make_pass(const vd_convnet *net, int batch, bool training)
{
    vd_conv_pass *pass;
    vd_error err;
    assert_int_equal(vd_conv_pass_new(net, batch, training, &pass, &err), VD_OK);
    fill(pass->input,
         (size_t)batch * (size_t)net->width * (size_t)net->height * (size_t)net->channels, 2);
    return pass;
}

static void check_gradient(const vd_conv *layer, int layers, int width, int height, size_t every)
{
    vd_convnet *net = make_net(layer, layers, width, height);
    vd_conv_pass *pass = make_pass(net, BATCH, true);
    size_t outputs = output_size(pass);
    vd_real *factor = vd_alloc(outputs, sizeof *factor);
    fill(factor, outputs, 3);
    loss_of(pass, factor);
    memcpy(pass->dy[layers - 1], factor, outputs * sizeof *factor);
    vd_conv_backward(pass);
    const double step = 1e-6;
    for (size_t i = 0; i < net->params; i += every) {
        double kept = net->param[i];
        net->param[i] = kept + step;
        double above = loss_of(pass, factor);
        net->param[i] = kept - step;
        double below = loss_of(pass, factor);
        net->param[i] = kept;
        double measured = (above - below) / (2 * step), found = pass->gradient[i];
        if (fabs(measured - found) > 1e-5 * (1 + fabs(measured)))
            fail_msg("parameter %zu: gradient %.9g, measured %.9g", i, found, measured);
    }
    vd_free(factor);
    vd_conv_pass_free(pass);
    vd_convnet_free(net);
}

static void gradients_agree_with_finite_differences(void **state)
{
    (void)state;
    check_gradient(every_feature, LAYERS, WIDTH, HEIGHT, 1);
}

static void gradients_agree_across_tiles(void **state)
{
    (void)state;
    const vd_conv layer[] = {
        {"first", 3, 4, 3, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, true, true},
        {"second", 4, 2, 3, 1, 4, 0, VD_CONV_NONE, false, false},
    };
    assert_true(48 * 40 > tile_pixels(&layer[1]));
    check_gradient(layer, 2, 48, 40, 5);
}

static void odd_sizes_are_padded_at_the_end(void **state)
{
    (void)state;
    const vd_conv layer[] = {
        {"first", 3, 4, 3, 2, 1, VD_CONV_PICTURE, VD_CONV_NONE, true, true},
        {"second", 4, 2, 3, 2, 1, 0, VD_CONV_NONE, false, false},
    };
    check_gradient(layer, 2, 13, 7, 1);
}

// The definition, one number at a time.
static double convolve_at(const vd_convnet *net, const vd_real *x, int oy, int ox, int out)
{
    const vd_conv *conv = &net->layer[0];
    double sum = net->param[net->bias[0] + (size_t)out];
    for (int ky = 0; ky < conv->kernel; ky++)
        for (int kx = 0; kx < conv->kernel; kx++)
            for (int in = 0; in < conv->in; in++) {
                int y = oy * conv->stride + (ky - conv->kernel / 2) * conv->dilation;
                int xx = ox * conv->stride + (kx - conv->kernel / 2) * conv->dilation;
                if (y < 0 || y >= net->height || xx < 0 || xx >= net->width)
                    continue;
                size_t w = ((size_t)(ky * conv->kernel + kx) * (size_t)conv->in + (size_t)in) *
                               (size_t)conv->out +
                           (size_t)out;
                sum += net->param[net->weight[0] + w] * x[(y * net->width + xx) * conv->in + in];
            }
    return sum;
}

static void convolutions_follow_the_definition(void **state)
{
    (void)state;
    const vd_conv kinds[] = {
        {"plain", 3, 4, 3, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
        {"halving", 3, 4, 3, 2, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
        {"dilated", 3, 4, 3, 1, 4, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
        {"wide", 3, 2, 7, 2, 2, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
        {"pointwise", 3, 4, 1, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
        {"sparse", 3, 4, 1, 2, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        vd_convnet *net = make_net(&kinds[k], 1, WIDTH, HEIGHT);
        vd_conv_pass *pass = make_pass(net, 1, false);
        const vd_real *y = vd_conv_forward(pass);
        for (int oy = 0; oy < net->out_height[0]; oy++)
            for (int ox = 0; ox < net->out_width[0]; ox++)
                for (int c = 0; c < kinds[k].out; c++, y++)
                    if (fabs(*y - convolve_at(net, pass->input, oy, ox, c)) > 1e-12)
                        fail_msg("%s: wrong at row %d, column %d", kinds[k].name, oy, ox);
        vd_conv_pass_free(pass);
        vd_convnet_free(net);
    }
}

static void a_folded_net_computes_the_same(void **state)
{
    (void)state;
    vd_convnet *net = make_net(every_feature, LAYERS, WIDTH, HEIGHT);
    vd_convnet *folded = make_net(every_feature, LAYERS, WIDTH, HEIGHT);
    vd_conv_pass *training = make_pass(net, BATCH, true);
    vd_conv_pass *inference = make_pass(folded, BATCH, false);
    const vd_real *expected = vd_conv_forward(training);
    vd_convnet_absorb(net, training, 1);
    vd_convnet_fold(net, folded);
    const vd_real *found = vd_conv_forward(inference);
    for (size_t i = 0; i < output_size(training); i++)
        assert_true(fabs(found[i] - expected[i]) < 1e-9 * (1 + fabs(expected[i])));
    vd_conv_pass_free(inference);
    vd_conv_pass_free(training);
    vd_convnet_free(folded);
    vd_convnet_free(net);
}

static void layers_that_do_not_fit_are_refused_by_name(void **state)
{
    (void)state;
    const vd_conv wrong[][2] = {
        {{"a", 3, 4, 3, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
         {"culprit", 5, 4, 3, 1, 1, 0, VD_CONV_NONE, false, false}}, // channels
        {{"a", 3, 4, 3, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
         {"culprit", 4, 4, 2, 1, 1, 0, VD_CONV_NONE, false, false}}, // even kernel
        {{"a", 3, 4, 3, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
         {"culprit", 4, 4, 3, 1, 1, 1, VD_CONV_NONE, false, false}}, // reads itself
        {{"a", 3, 4, 3, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
         {"culprit", 4, 5, 3, 1, 1, 0, 0, false, false}}, // adds another width
        {{"a", 3, 4, 3, 1, 1, VD_CONV_PICTURE, VD_CONV_NONE, false, false},
         {"culprit", 4, 4, 3, 2, 1, 0, 0, false, false}}, // adds a larger one
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vd_convnet *net;
        vd_error err = {0};
        vd_status status = vd_convnet_new(wrong[i], 2, INPUTS, WIDTH, HEIGHT, &net, &err);
        support_refused(status, VD_MISMATCH, &err, "culprit", NULL);
        assert_null(net);
    }
    vd_convnet *net;
    assert_int_equal(vd_convnet_new(every_feature, 0, INPUTS, WIDTH, HEIGHT, &net, NULL),
                     VD_MISMATCH);
    assert_int_equal(vd_convnet_new(every_feature, LAYERS, INPUTS, 0, HEIGHT, &net, NULL),
                     VD_MISMATCH);
}

static vd_status make_everything(void *context, vd_error *err)
{
    (void)context;
    vd_convnet *net = NULL;
    vd_conv_pass *pass = NULL;
    vd_status status = vd_convnet_new(every_feature, LAYERS, INPUTS, WIDTH, HEIGHT, &net, err);
    if (!status)
        status = vd_conv_pass_new(net, BATCH, true, &pass, err);
    vd_conv_pass_free(pass);
    vd_convnet_free(net);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(make_everything, NULL) > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_follow_the_definition),
        cmocka_unit_test(gradients_agree_with_finite_differences),
        cmocka_unit_test(gradients_agree_across_tiles),
        cmocka_unit_test(odd_sizes_are_padded_at_the_end),
        cmocka_unit_test(a_folded_net_computes_the_same),
        cmocka_unit_test(layers_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The classifier of regions: its crops, what its output means, and what it learns to tell apart.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "assets/blocks/detector_trainer.h"
#include "engine/base/alloc.h"
#include "features/extract/classify.h"
#include "tests/support/sanitized.h"
#include "tests/support/support.h"

enum {
    INPUT = VD_DETECT_WIDTH * VD_DETECT_HEIGHT * VD_DETECT_INPUTS,
    SIDE = VD_CLASSIFY_SIDE,
    CHANNELS = VD_CLASSIFY_INPUTS
};

static const float wider = 1.35f;

// Channel 0 says across, channel 1 down, channel 2 is 1/4, the last one is not to be read.
static vd_real *slopes(void)
{
    vd_real *input = vd_alloc(INPUT, sizeof *input), *at = input;
    assert_non_null(input);
    for (int y = 0; y < VD_DETECT_HEIGHT; y++)
        for (int x = 0; x < VD_DETECT_WIDTH; x++, at += VD_DETECT_INPUTS) {
            at[0] = (vd_real)((x + 0.5) / VD_DETECT_WIDTH);
            at[1] = (vd_real)((y + 0.5) / VD_DETECT_HEIGHT);
            at[2] = (vd_real)0.25;
            at[3] = (vd_real)NAN;
        }
    return input;
}

static void a_crop_is_a_square_around_the_box(void **state)
{
    (void)state;
    const float box[4] = {100, 60, 148, 96}; // 48 wide, 36 high
    vd_real *input = slopes(), crop[VD_CLASSIFY_CROP];
    vd_classify_crop(input, box, crop);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const vd_real *at = crop + (size_t)(y * SIDE + x) * CHANNELS;
            double step = (double)wider * 48 / SIDE;
            double px = 124 + (x + 0.5 - SIDE / 2.0) * step,
                   py = 78 + (y + 0.5 - SIDE / 2.0) * step;
            assert_float_equal(at[0], px / VD_DETECT_WIDTH, 1e-5);
            assert_float_equal(at[1], py / VD_DETECT_HEIGHT, 1e-5);
            assert_float_equal(at[2], 0.25, 1e-6);
            bool inside = px >= 100 && px < 148 && py >= 60 && py < 96;
            assert_float_equal(at[3], inside ? 1 : -1, 0);
        }
    vd_free(input);
}

// Whatever the detector says: the picture's edge goes on.
static void boxes_at_the_edge_and_beyond_are_sound(void **state)
{
    (void)state;
    const float boxes[][4] = {{0, 0, 20, 10},           {310, 230, 320, 240},
                              {-500, -500, -400, -400}, {1e30f, 1e30f, 1e30f, 1e30f},
                              {NAN, NAN, NAN, NAN},     {5, 5, 5, 5}};
    vd_real *input = slopes(), crop[VD_CLASSIFY_CROP];
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        vd_classify_crop(input, boxes[i], crop);
        for (int k = 0; k < VD_CLASSIFY_CROP; k++)
            assert_true(crop[k] >= -1 && crop[k] <= 1);
    }
    vd_classify_crop(input, boxes[2], crop);
    assert_float_equal(crop[0], 0.5 / VD_DETECT_WIDTH, 1e-6);
    vd_free(input);
}

static void each_kind_is_a_distribution_and_sizes_stay(void **state)
{
    (void)state;
    vd_real output[2 * VD_CLASSIFY_OUTPUTS] = {0};
    float p[VD_ATTRIBUTES];
    output[3] = 3, output[VD_CLASSIFY_OUTPUTS + 3] = 1; // a colour; its mirror image
    output[VD_COLORS + 1] = 200;                        // a shape
    output[VD_COLORS + VD_SHAPES] = -2000;              // not of metal
    for (int i = 0; i < VD_ATTRIBUTES; i++)
        p[i] = 0.125f;
    vd_classify_read(output, p);
    for (int k = 0; k < VD_CLASSIFY_KINDS; k++) {
        float sum = 0;
        for (int i = 0; i < vd_attribute_count[k]; i++)
            sum += p[vd_attribute_first[k] + i];
        assert_float_equal(sum, 1, 1e-5);
    }
    assert_float_equal(p[3], exp(2) / (exp(2) + 7), 1e-5);
    assert_float_equal(p[VD_COLORS + 1], 1, 1e-5);
    assert_float_equal(p[VD_COLORS + VD_SHAPES + 1], 1, 1e-5);
    assert_float_equal(p[VD_CLASSIFY_OUTPUTS], 0.125, 0);
    assert_float_equal(p[VD_CLASSIFY_OUTPUTS + 1], 0.125, 0);
}

static void the_detector_has_a_say(void **state)
{
    (void)state;
    vd_real output[2 * VD_CLASSIFY_OUTPUTS] = {0};
    float p[VD_ATTRIBUTES] = {0.9f, 0.1f};
    p[VD_COLORS] = p[VD_COLORS + VD_SHAPES] = 1;
    output[1] = output[VD_CLASSIFY_OUTPUTS + 1] = 0.5f;
    vd_classify_read(output, p);
    assert_float_equal(p[0] / p[1], exp(0.4 * log(9) - 0.5), 1e-4);
    for (int i = 0; i < VD_ATTRIBUTES; i++)
        assert_true(p[i] >= 0 && p[i] <= 1);
}

static void a_mirrored_crop_is_the_crop_of_a_mirrored_picture(void **state)
{
    (void)state;
    vd_real crop[VD_CLASSIFY_CROP], mirrored[VD_CLASSIFY_CROP];
    for (int i = 0; i < VD_CLASSIFY_CROP; i++)
        crop[i] = (vd_real)i;
    vd_classify_mirror(crop, mirrored);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            assert_memory_equal(mirrored + (y * SIDE + SIDE - 1 - x) * CHANNELS,
                                crop + (y * SIDE + x) * CHANNELS, CHANNELS * sizeof *crop);
}

static double last_loss;

static void remember_loss(void *user, const blocks_detector_progress *p)
{
    double *first = user;
    if (strcmp(p->stage, "classifier") != 0)
        return;
    if (*first <= 0)
        *first = p->attributes;
    last_loss = p->attributes;
}

// Four pictures again and again: it learns them.
static void training_lowers_the_loss(void **state)
{
    (void)state;
    blocks_detector_options options = blocks_detector_defaults();
    options.pictures = 4;
    options.epochs = SUPPORT_SANITIZED ? 5 : 40;
    options.batch = 4;
    blocks_trainer t;
    vd_error err;
    double first = 0;
    assert_int_equal(blocks_trainer_new(&t, &options, remember_loss, &first, &err), VD_OK);
    assert_int_equal(blocks_trainer_begin(&t, &blocks_task_classifier, &err), VD_OK);
    assert_int_equal(blocks_trainer_run(&t, &err), VD_OK);
    blocks_trainer_clear(&t);
    assert_true(first > 0 && last_loss > 0);
    assert_true(SUPPORT_SANITIZED || last_loss < 0.5 * first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crop_is_a_square_around_the_box),
        cmocka_unit_test(boxes_at_the_edge_and_beyond_are_sound),
        cmocka_unit_test(each_kind_is_a_distribution_and_sizes_stay),
        cmocka_unit_test(the_detector_has_a_say),
        cmocka_unit_test(a_mirrored_crop_is_the_crop_of_a_mirrored_picture),
        cmocka_unit_test(training_lowers_the_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

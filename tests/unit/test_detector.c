// Training the extractor's detector: the loss against finite differences, the pieces around it, and
// a very small training from end to end.
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
#include "engine/base/rng.h"
#include "features/extract/extractor.h"
#include "tests/support/support.h"

enum { CELLS = VD_DETECT_ROWS * VD_DETECT_COLUMNS, OUTPUT = CELLS * VD_DETECT_OUTPUTS };

static vd_real *random_output(void)
{
    vd_real *output = vd_alloc(OUTPUT, sizeof *output);
    assert_non_null(output);
    vd_rng rng = vd_rng_seed(2, 3);
    for (int i = 0; i < OUTPUT; i++)
        output[i] = (vd_real)vd_rng_normal(&rng);
    return output;
}

// Two near each other, so that they share neighbours, one in a corner, one outside.
static const detector_target targets[] = {
    {{100, 80, 140, 130}, {121, 128}, {3, 1, 0, 1}},
    {{110, 84, 142, 134}, {124, 133}, {7, 0, 1, 0}},
    {{0, 0, 8, 6}, {3, 9}, {0, 3, 1, 1}},
    {{400, 100, 420, 120}, {410, 118}, {1, 1, 1, 1}},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static double total_loss(const vd_real *output)
{
    vd_real *gradient = vd_alloc(OUTPUT, sizeof *gradient);
    blocks_detector_loss loss = {0};
    blocks_detection_loss(output, targets, TARGETS, 1, gradient, &loss);
    vd_free(gradient);
    return loss.heat + loss.box + loss.place + loss.attributes;
}

static void the_losses_gradient_agrees_with_finite_differences(void **state)
{
    (void)state;
    vd_real *output = random_output(), *gradient = vd_alloc(OUTPUT, sizeof *gradient);
    blocks_detector_loss loss = {0};
    const double scale = 0.25;
    blocks_detection_loss(output, targets, TARGETS, scale, gradient, &loss);
    vd_rng rng = vd_rng_seed(4, 4);
    int moved = 0;
    for (int n = 0; n < 600; n++) {
        // Half of them at the cells around the two targets, half anywhere.
        int cell =
            n % 2 ? vd_rng_below(&rng, CELLS)
                  : (25 + vd_rng_below(&rng, 4)) * VD_DETECT_COLUMNS + 28 + vd_rng_below(&rng, 5);
        int i = cell * VD_DETECT_OUTPUTS + vd_rng_below(&rng, VD_DETECT_OUTPUTS);
        vd_real kept = output[i];
        const vd_real step = (vd_real)2e-3;
        output[i] = kept + step;
        double above = total_loss(output), high = (double)output[i];
        output[i] = kept - step;
        double below = total_loss(output), low = (double)output[i];
        output[i] = kept;
        double measured = scale * (above - below) / (high - low);
        moved += measured != 0;
        if (fabs(measured - (double)gradient[i]) > 1e-5 + 1e-4 * fabs(measured))
            fail_msg("output %d of cell %d: gradient %.6g, measured %.6g", i % VD_DETECT_OUTPUTS,
                     cell, (double)gradient[i], measured);
    }
    assert_true(moved > 100);
    vd_free(gradient);
    vd_free(output);
}

static void the_right_answer_has_nearly_no_loss(void **state)
{
    (void)state;
    vd_real *output = vd_alloc(OUTPUT, sizeof *output),
            *gradient = vd_alloc(OUTPUT, sizeof *output);
    const detector_target *t = &targets[0];
    for (int cell = 0; cell < CELLS; cell++) {
        vd_real *at = output + (size_t)cell * VD_DETECT_OUTPUTS;
        int x = cell % VD_DETECT_COLUMNS, y = cell / VD_DETECT_COLUMNS;
        double cx = (x + 0.5) * VD_DETECT_STRIDE, cy = (y + 0.5) * VD_DETECT_STRIDE;
        at[VD_DETECT_HEAT] = x == 30 && y == 26 ? 12 : -12;
        at[VD_DETECT_BOX] = (vd_real)((cx - t->box[0]) / VD_DETECT_UNIT);
        at[VD_DETECT_BOX + 1] = (vd_real)((cy - t->box[1]) / VD_DETECT_UNIT);
        at[VD_DETECT_BOX + 2] = (vd_real)((t->box[2] - cx) / VD_DETECT_UNIT);
        at[VD_DETECT_BOX + 3] = (vd_real)((t->box[3] - cy) / VD_DETECT_UNIT);
        at[VD_DETECT_PLACE] = (vd_real)((t->place[0] - cx) / VD_DETECT_UNIT);
        at[VD_DETECT_PLACE + 1] = (vd_real)((t->place[1] - cy) / VD_DETECT_UNIT);
        for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++)
            at[VD_DETECT_ATTRIBUTES + vd_attribute_first[k] + t->attribute[k]] = 20;
    }
    blocks_detector_loss loss = {0};
    blocks_detection_loss(output, t, 1, 1, gradient, &loss);
    assert_true(loss.heat < 1e-3 && loss.box < 1e-3 && loss.place < 1e-3 && loss.attributes < 1e-3);
    vd_detection found[4];
    assert_int_equal(vd_detect_decode(output, 0.4f, 4, found), 1);
    for (int k = 0; k < 4; k++)
        assert_float_equal(found[0].box[k], t->box[k], 1e-3);
    for (int k = 0; k < 2; k++)
        assert_float_equal(found[0].place[k], t->place[k], 1e-3);
    vd_free(gradient);
    vd_free(output);
}

// ---- training -----------------------------------------------------------------------------------

typedef struct seen {
    int rendered, trained, classified, calibrated;
    double first, last;
    atomic_int *stop;
} seen;

static void watch(void *user, const blocks_detector_progress *p)
{
    seen *s = user;
    if (strcmp(p->stage, "rendering") == 0) {
        s->rendered = p->done;
        return;
    }
    if (strcmp(p->stage, "calibrating") == 0) {
        s->calibrated = p->done;
        return;
    }
    if (strcmp(p->stage, "classifier") == 0) {
        s->classified = p->done;
        return;
    }
    double loss = p->heat + p->box + p->place + p->attributes;
    if (!s->trained)
        s->first = loss;
    s->last = loss;
    s->trained = p->done;
    if (s->stop)
        atomic_store(s->stop, 1);
}

static blocks_detector_options tiny(const char *out)
{
    blocks_detector_options options = blocks_detector_defaults();
    options.pictures = 8;
    options.epochs = 1;
    options.batch = 2;
    options.out = out;
    return options;
}

static void training_lowers_the_loss_and_writes_an_extractor(void **state)
{
    (void)state;
    char *directory = support_temp_dir(), *path = support_join(directory, "extractor");
    blocks_detector_options options = tiny(path);
    options.epochs = 5; // 20 steps
    seen s = {0};
    vd_extractor *extractor;
    blocks_detector_scores scores;
    assert_int_equal(blocks_detector_train(&options, NULL, watch, &s, NULL), VD_OK);
    assert_int_equal(s.rendered, 8);
    assert_int_equal(s.trained, 20);
    assert_int_equal(s.classified, 20);
    assert_int_equal(s.calibrated, 8);
    assert_true(s.last < 0.7 * s.first);
    assert_int_equal(vd_extractor_load(path, &extractor, NULL), VD_OK);
    assert_int_equal(blocks_detector_evaluate(extractor, 1, BLOCKS_TRAIN, 0, 4, &scores, NULL),
                     VD_OK);
    assert_int_equal(scores.pictures, 4);
    assert_true(scores.objects >= 4 * BLOCKS_MIN && scores.regions >= 4);
    vd_extractor_free(extractor);
    assert_int_equal(support_count_entries(directory), 1);
    support_remove_tree(directory);
    free(path);
    free(directory);
}

static void the_same_options_give_the_same_weights(void **state)
{
    (void)state;
    char *directory = support_temp_dir();
    char *one = support_join(directory, "one"), *two = support_join(directory, "two");
    blocks_detector_options options = tiny(one);
    options.pictures = 4; // 2 steps
    assert_int_equal(blocks_detector_train(&options, NULL, NULL, NULL, NULL), VD_OK);
    options.out = two;
    assert_int_equal(blocks_detector_train(&options, NULL, NULL, NULL, NULL), VD_OK);
    size_t a_size, b_size;
    char *a = support_read_file(one, &a_size), *b = support_read_file(two, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    free(b);
    free(a);
    support_remove_tree(directory);
    free(two);
    free(one);
    free(directory);
}

static void training_can_be_interrupted(void **state)
{
    (void)state;
    char *directory = support_temp_dir(), *path = support_join(directory, "extractor");
    blocks_detector_options options = tiny(path);
    options.epochs = 100;
    atomic_int stop = 0;
    seen s = {.stop = &stop};
    options.stop = &stop;
    vd_error err = {0};
    support_refused(blocks_detector_train(&options, NULL, watch, &s, &err), VD_INTERRUPTED, &err,
                    "step 6", NULL); // the first report comes after step 5
    support_remove_tree(directory);
    free(path);
    free(directory);
}

static void senseless_options_are_refused(void **state)
{
    (void)state;
    blocks_detector_options good = tiny("/nowhere/to/be/found"), bad[5];
    for (int i = 0; i < 5; i++)
        bad[i] = good;
    bad[0].batch = 3;
    bad[1].pictures = 1;
    bad[2].epochs = 0;
    bad[3].rate = NAN;
    bad[4].out = NULL;
    vd_error err = {0};
    for (int i = 0; i < 5; i++)
        support_refused(blocks_detector_train(&bad[i], NULL, NULL, NULL, &err), VD_USAGE, &err,
                        "cannot train", NULL);
}

// Before anything is rendered, not after hours of training.
static void a_file_that_cannot_be_written_is_said_first(void **state)
{
    (void)state;
    blocks_detector_options options = tiny("/nowhere/to/be/found");
    seen s = {0};
    vd_error err = {0};
    support_refused(blocks_detector_train(&options, NULL, watch, &s, &err), VD_NOT_FOUND, &err,
                    "/nowhere/to/be/found", "cannot be created", NULL);
    assert_int_equal(s.rendered, 0);
}

static vd_status begin(void *context, vd_error *err)
{
    blocks_trainer t;
    vd_status status = blocks_trainer_new(&t, context, NULL, NULL, err);
    if (!status)
        status = blocks_trainer_begin(&t, &blocks_task_detector, err);
    blocks_trainer_clear(&t);
    return status;
}

static vd_status calibrate_trained(void *context, vd_error *err)
{
    return blocks_trainer_calibrate(context, err);
}

static vd_status write_trained(void *context, vd_error *err)
{
    const blocks_trainer *t = context;
    return vd_extractor_write(t->folded, NULL, NULL, t->options->out, err);
}

// Each allocation in the part of training that makes it, so that a picture is not rendered, nor a
// step made, a hundred times; then the first of each part in the whole training.
static void failed_allocations_are_reported(void **state)
{
    (void)state;
    char *directory = support_temp_dir(), *path = support_join(directory, "extractor");
    blocks_detector_options options = tiny(path);
    options.pictures = 2;
    blocks_trainer t;
    vd_error err;
    size_t first[3] = {1};
    first[1] = first[0] + support_fail_each_allocation(begin, &options);
    assert_int_equal(blocks_trainer_new(&t, &options, NULL, NULL, &err), VD_OK);
    assert_int_equal(blocks_trainer_begin(&t, &blocks_task_detector, &err), VD_OK);
    assert_int_equal(blocks_trainer_run(&t, &err), VD_OK);
    first[2] = first[1] + support_fail_each_allocation(calibrate_trained, &t);
    size_t written = support_fail_each_allocation(write_trained, &t);
    blocks_trainer_clear(&t);
    assert_true(first[1] > 30 && first[2] > first[1] + 10 && written > 10);
    assert_int_equal(support_count_entries(directory), 1);
    for (int i = 0; i < 3; i++) {
        remove(path);
        vd_alloc_fail_at(first[i]);
        support_refused(blocks_detector_train(&options, NULL, NULL, NULL, &err), VD_NO_MEMORY, &err,
                        "memory", NULL);
        vd_alloc_fail_at(0);
        assert_false(support_exists(path));
    }
    support_remove_tree(directory);
    free(path);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_losses_gradient_agrees_with_finite_differences),
        cmocka_unit_test(the_right_answer_has_nearly_no_loss),
        cmocka_unit_test(training_lowers_the_loss_and_writes_an_extractor),
        cmocka_unit_test(the_same_options_give_the_same_weights),
        cmocka_unit_test(training_can_be_interrupted),
        cmocka_unit_test(senseless_options_are_refused),
        cmocka_unit_test(a_file_that_cannot_be_written_is_said_first),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

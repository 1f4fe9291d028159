// The extractor: resampling, decoding, region features, weights files; and what the bundled
// extractor promises.
#include "features/extract/classify.h"
#include "features/extract/extract.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "assets/blocks/detector.h"
#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static const char *const bundled = "assets/extractor.safetensors";

enum {
    INPUT = VD_DETECT_WIDTH * VD_DETECT_HEIGHT * VD_DETECT_INPUTS,
    OUTPUT = VD_DETECT_COLUMNS * VD_DETECT_ROWS * VD_DETECT_OUTPUTS
};

// ---- resampling ---------------------------------------------------------------------------------

static vd_image picture(int width, int height)
{
    vd_image image;
    assert_int_equal(vd_image_new(width, height, &image, NULL), VD_OK);
    return image;
}

static vd_real *input_of(const vd_image *image)
{
    vd_real *input = vd_alloc(INPUT, sizeof *input);
    assert_non_null(input);
    assert_int_equal(vd_detect_input(image, input, NULL), VD_OK);
    return input;
}

static void resampling_keeps_a_plain_picture_plain(void **state)
{
    (void)state;
    const int size[][2] = {{1, 1}, {320, 240}, {640, 480}, {37, 911}, {333, 7}, {1000, 750}};
    for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
        vd_image image = picture(size[s][0], size[s][1]);
        for (size_t i = 0; i < (size_t)size[s][0] * (size_t)size[s][1] * 3; i++)
            image.rgb[i] = (uint8_t)(60 + 70 * (i % 3));
        vd_real *input = input_of(&image);
        for (int i = 0; i < INPUT; i += VD_DETECT_INPUTS)
            for (int c = 0; c < 3; c++)
                assert_float_equal(input[i + c], (60 + 70 * c) * (2 / 255.0f) - 1, 1e-5f);
        vd_free(input);
        vd_image_clear(&image);
    }
}

static void shrinking_averages_areas(void **state)
{
    (void)state;
    vd_image small = picture(VD_DETECT_WIDTH, VD_DETECT_HEIGHT);
    vd_image large = picture(2 * VD_DETECT_WIDTH, 3 * VD_DETECT_HEIGHT);
    vd_rng rng = vd_rng_seed(1, 1);
    for (int y = 0; y < large.height; y++)
        for (int x = 0; x < large.width; x++)
            for (int c = 0; c < 3; c++) {
                uint8_t *at = &small.rgb[((y / 3) * small.width + x / 2) * 3 + c];
                if (y % 3 == 0 && x % 2 == 0)
                    *at = (uint8_t)vd_rng_below(&rng, 256);
                large.rgb[(y * large.width + x) * 3 + c] = *at;
            }
    vd_real *expected = input_of(&small), *found = input_of(&large);
    for (int i = 0; i < INPUT; i++)
        assert_float_equal(found[i], expected[i], 1e-5f);
    vd_free(found);
    vd_free(expected);
    vd_image_clear(&large);
    vd_image_clear(&small);
}

static void enlarging_interpolates(void **state)
{
    (void)state;
    vd_image image = picture(VD_DETECT_WIDTH / 2, VD_DETECT_HEIGHT);
    for (int y = 0; y < image.height; y++)
        for (int x = 0; x < image.width; x++)
            memset(image.rgb + (size_t)(y * image.width + x) * 3, x, 3);
    vd_real *input = input_of(&image);
    for (int x = 1; x < VD_DETECT_WIDTH - 1; x++) { // pixel centres: (x + 0.5) / 2 - 0.5
        float value = ((float)x + 0.5f) / 2 - 0.5f;
        assert_float_equal(input[x * VD_DETECT_INPUTS], value * (2 / 255.0f) - 1, 1e-5f);
    }
    vd_free(input);
    vd_image_clear(&image);
}

static void a_picture_without_pixels_is_refused(void **state)
{
    (void)state;
    vd_real *input = vd_alloc(INPUT, sizeof *input);
    vd_error err = {0};
    vd_image none = {0};
    support_refused(vd_detect_input(&none, input, &err), VD_FORMAT, &err, "0x0", NULL);
    vd_free(input);
}

static vd_status resample(void *context, vd_error *err)
{
    vd_real *input = ((void **)context)[1];
    return vd_detect_input(((void **)context)[0], input, err);
}

static void resampling_reports_failed_allocations(void **state)
{
    (void)state;
    vd_image image = picture(50, 60);
    vd_real *input = vd_alloc(INPUT, sizeof *input);
    assert_true(support_fail_each_allocation(resample, (void *[]){&image, input}) >= 5);
    vd_free(input);
    vd_image_clear(&image);
}

// ---- decoding -----------------------------------------------------------------------------------

static vd_real *empty_output(void)
{
    vd_real *output = vd_alloc(OUTPUT, sizeof *output);
    assert_non_null(output);
    for (int i = 0; i < OUTPUT; i += VD_DETECT_OUTPUTS)
        output[i + VD_DETECT_HEAT] = -9;
    return output;
}

// An object of 2 half wide, 2 half high around a cell.
static void plant(vd_real *output, int x, int y, float heat, float half, int color)
{
    vd_real *at = output + (size_t)(y * VD_DETECT_COLUMNS + x) * VD_DETECT_OUTPUTS;
    at[VD_DETECT_HEAT] = heat;
    for (int k = 0; k < 4; k++)
        at[VD_DETECT_BOX + k] = half / VD_DETECT_UNIT;
    for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++)
        at[VD_DETECT_ATTRIBUTES + vd_attribute_first[k]] = 8;
    at[VD_DETECT_ATTRIBUTES] = 0;
    at[VD_DETECT_ATTRIBUTES + color] = 8;
}

static void peaks_become_detections_by_confidence(void **state)
{
    (void)state;
    vd_real *output = empty_output();
    vd_detection found[8];
    plant(output, 10, 20, 1, 10, 2);
    plant(output, 40, 30, 3, 20, 5);
    plant(output, 41, 30, 2.9f, 20, 5); // beside a peak is no peak
    assert_int_equal(vd_detect_decode(output, 0.4f, 8, found), 2);
    assert_float_equal(found[0].confidence, 1 / (1 + expf(-3)), 1e-5f);
    const float box[4] = {162 - 20, 122 - 20, 162 + 20, 122 + 20};
    for (int k = 0; k < 4; k++)
        assert_float_equal(found[0].box[k], box[k], 1e-3f);
    assert_true(found[0].p[5] > 0.99f && found[1].p[2] > 0.99f);
    for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++) {
        float sum = 0;
        for (int v = 0; v < vd_attribute_count[k]; v++)
            sum += found[0].p[vd_attribute_first[k] + v];
        assert_float_equal(sum, 1, 1e-5f);
    }
    assert_int_equal(vd_detect_decode(output, 0.4f, 1, found), 1);
    vd_free(output);
}

static void one_object_is_found_once(void **state)
{
    (void)state;
    vd_real *output = empty_output();
    vd_detection found[8];
    plant(output, 40, 30, 3, 24, 5);
    plant(output, 43, 30, 2, 24, 5); // the same again, 12 pixels away: overlap 0.6
    assert_int_equal(vd_detect_decode(output, 0.4f, 8, found), 1);
    plant(output, 43, 30, 2, 24, 1); // another colour: another object
    assert_int_equal(vd_detect_decode(output, 0.4f, 8, found), 2);
    plant(output, 43, 30, 2, 12, 5); // small overlap
    assert_int_equal(vd_detect_decode(output, 0.4f, 8, found), 2);
    vd_free(output);
}

// The second one's colour is 5 with a probability of `share`, else 1.
static int found_with(float share)
{
    vd_real *output = empty_output();
    vd_detection found[8];
    plant(output, 40, 30, 3, 24, 5);
    plant(output, 43, 30, 2, 24, 5);
    output[(30 * VD_DETECT_COLUMNS + 43) * VD_DETECT_OUTPUTS + VD_DETECT_ATTRIBUTES + 1] =
        8 + logf((1 - share) / share);
    int count = vd_detect_decode(output, 0.4f, 8, found);
    vd_free(output);
    return count;
}

static void what_is_more_likely_the_same_than_not_is_one_object(void **state)
{
    (void)state;
    assert_int_equal(found_with(0.55f), 1);
    assert_int_equal(found_with(0.45f), 2);
}

static void equal_peaks_stay_in_reading_order(void **state)
{
    (void)state;
    enum { ACROSS = VD_DETECT_COLUMNS / 2, MANY = 300, MOST = 256 }; // MOST: PEAKS of detect.c
    vd_real *output = empty_output();
    vd_detection found[MANY];
    for (int i = 0; i < MANY; i++)
        plant(output, i % ACROSS * 2, i / ACROSS * 2, 2, 2, 5);
    assert_int_equal(vd_detect_decode(output, 0.4f, MANY, found), MOST);
    for (int i = 0; i < MOST; i++) {
        const int right = i % ACROSS * 2 * VD_DETECT_STRIDE + 4,
                  low = i / ACROSS * 2 * VD_DETECT_STRIDE + 4;
        assert_float_equal(found[i].box[2], right, 1e-3f);
        assert_float_equal(found[i].box[3], low, 1e-3f);
    }
    vd_free(output);
}

static void weak_peaks_are_left_out_but_never_all(void **state)
{
    (void)state;
    vd_real *output = empty_output();
    vd_detection found[8];
    plant(output, 40, 30, -2, 10, 5);
    plant(output, 10, 10, -3, 10, 5);
    assert_int_equal(vd_detect_decode(output, 0.4f, 8, found), 1);
    assert_true(found[0].confidence < 0.2f && found[0].p[5] > 0.9f);
    vd_free(output);
}

static void unusable_output_gives_a_sound_answer(void **state)
{
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        vd_real *output = empty_output();
        vd_detection found[VD_EXTRACT_MAX];
        for (int i = 0; i < OUTPUT; i++)
            output[i] = bad[b];
        int count = vd_detect_decode(output, 0.4f, VD_EXTRACT_MAX, found);
        assert_in_range(count, 1, VD_EXTRACT_MAX);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 4; k++)
                assert_true(found[i].box[k] >= 0 && found[i].box[k] <= VD_DETECT_WIDTH);
        vd_free(output);
    }
}

// ---- features -----------------------------------------------------------------------------------

// A thing of certain attributes that stands at (x, y) on the table.
static vd_detection thing(float x, float y, int color, int shape, int material, int size)
{
    vd_detection d = {.confidence = 0.9f};
    // Search for the pixels: vd_extract_place is monotonous in each.
    float low[2] = {-200, 10}, high[2] = {520, 400};
    for (int i = 0; i < 60; i++) {
        float px, py;
        d.place[0] = (low[0] + high[0]) / 2;
        d.place[1] = (low[1] + high[1]) / 2;
        vd_extract_place(&d, &px, &py);
        *(px < x ? &low[0] : &high[0]) = d.place[0];
        *(py > y ? &low[1] : &high[1]) = d.place[1];
    }
    float half = size ? 25 : 12;
    d.box[0] = d.place[0] - half;
    d.box[1] = d.place[1] - 2 * half;
    d.box[2] = d.place[0] + half;
    d.box[3] = d.place[1];
    d.p[vd_attribute_first[0] + color] = 1;
    d.p[vd_attribute_first[1] + shape] = 1;
    d.p[vd_attribute_first[2] + material] = 1;
    d.p[vd_attribute_first[3] + size] = 1;
    return d;
}

static float at(const float *features, int region, int channel)
{
    return features[region * VD_FEATURE_SIZE + channel];
}

// A red cube left, a blue ball right behind it, a small red cone in front in the middle.
static void three_things(vd_detection *found)
{
    found[0] = thing(-2, 0, 0, 0, 0, 1);
    found[1] = thing(2, 1, 2, 1, 1, 1);
    found[2] = thing(0.1f, -2, 0, 3, 0, 0);
}

static void the_layout_is_as_documented(void **state)
{
    (void)state;
    assert_int_equal(VD_FEATURE_COLOR_SHAPE, 16);
    assert_int_equal(VD_FEATURE_POSITION, 100);
    assert_int_equal(VD_FEATURE_ONE, 116);
    assert_int_equal(VD_FEATURE_NEAREST, 117);
    assert_int_equal(VD_FEATURE_ANY, 181);
    assert_int_equal(VD_FEATURE_CLOSEST, 245);
    assert_int_equal(VD_FEATURE_COUNT, 272);
    assert_int_equal(VD_FEATURE_ALIKE, 360);
    assert_int_equal(VD_FEATURE_SIZE, 372);
}

static void features_say_what_a_region_is(void **state)
{
    (void)state;
    vd_detection found[3];
    float f[3 * VD_FEATURE_SIZE];
    three_things(found);
    vd_extract_features(found, 3, f);
    assert_float_equal(at(f, 1, VD_FEATURE_ATTRIBUTES + 2), 1, 1e-6f);                  // blue
    assert_float_equal(at(f, 1, VD_FEATURE_COLOR_SHAPE + 2 * VD_SHAPES + 1), 1, 1e-6f); // blue ball
    assert_float_equal(at(f, 1, VD_FEATURE_COLOR_SHAPE + 2 * VD_SHAPES), 0, 1e-6f);
    assert_float_equal(at(f, 1, VD_FEATURE_MATERIAL_SIZE + 1 * VD_SIZES + 1), 1, 1e-6f);
    assert_float_equal(at(f, 1, VD_FEATURE_ONE), 1, 0);
    for (int pair = VD_FEATURE_COLOR_SHAPE; pair < VD_FEATURE_POSITION; pair++)
        assert_true(at(f, 0, pair) == 0 || at(f, 0, pair) == 1);
    float pairs = 0;
    for (int pair = VD_FEATURE_COLOR_SHAPE; pair < VD_FEATURE_POSITION; pair++)
        pairs += at(f, 0, pair);
    assert_float_equal(pairs, 6, 1e-5f); // one of each product
}

static void features_say_what_is_around(void **state)
{
    (void)state;
    vd_detection found[3];
    float f[3 * VD_FEATURE_SIZE];
    three_things(found);
    vd_extract_features(found, 3, f);
    assert_float_equal(at(f, 0, VD_FEATURE_SHARE + VD_RIGHT), 1, 1e-3f);
    assert_float_equal(at(f, 0, VD_FEATURE_SHARE + VD_LEFT), 0, 1e-3f);
    assert_float_equal(at(f, 0, VD_FEATURE_SHARE + VD_FRONT), 0.5f, 1e-3f);
    assert_float_equal(at(f, 0, VD_FEATURE_SHARE + VD_BEHIND), 0.5f, 1e-3f);
    const int leader[6] = {0, 1, 2, 1, 0, 2}; // left, right, front, rear, largest (first), smallest
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++)
            if (k != 4)
                assert_float_equal(at(f, i, VD_FEATURE_EXTREME + k), leader[k] == i, 0);
    // Right of the cube: the cone is nearest, the ball is there too.
    int near = VD_FEATURE_NEAREST + VD_RIGHT * VD_ATTRIBUTES, shapes = VD_COLORS;
    int any = VD_FEATURE_ANY + VD_RIGHT * VD_ATTRIBUTES;
    assert_float_equal(at(f, 0, near + shapes + 3), 1, 1e-6f);
    assert_float_equal(at(f, 0, near + shapes + 1), 0, 1e-6f);
    assert_float_equal(at(f, 0, any + shapes + 1), 1, 1e-3f);
    assert_float_equal(at(f, 0, any + shapes + 3), 1, 1e-3f);
    assert_float_equal(at(f, 0, VD_FEATURE_CLOSEST + shapes + 3), 1, 1e-6f);
    for (int a = 0; a < VD_ATTRIBUTES; a++)
        assert_float_equal(at(f, 0, VD_FEATURE_NEAREST + VD_LEFT * VD_ATTRIBUTES + a), 0, 0);
    assert_float_equal(at(f, 0, VD_FEATURE_SAME), 0.5f, 1e-6f);    // one of two is red
    assert_float_equal(at(f, 0, VD_FEATURE_UNIQUE), 0, 1e-6f);     // not the only red one
    assert_float_equal(at(f, 0, VD_FEATURE_UNIQUE + 1), 1, 1e-6f); // the only cube
}

// Of a kind (as in the order of the channels) there are n: one channel says so, the others nothing.
static void counted(const float *f, int region, int kind, int n)
{
    for (int i = 0; i < VD_COUNTED; i++)
        assert_float_equal(at(f, region, VD_FEATURE_COUNT + kind * VD_COUNTED + i), i == n - 1, 0);
}

static void features_count_regions_of_a_kind(void **state)
{
    (void)state;
    enum { THINGS = 10, COLOR_SHAPE = VD_ATTRIBUTE_KINDS, ALL = VD_COUNTED_KINDS - 1 };
    vd_detection found[THINGS];
    float f[THINGS * VD_FEATURE_SIZE];
    three_things(found);
    vd_extract_features(found, 3, f);
    const int red_cube[VD_COUNTED_KINDS] = {2, 1, 2, 2, 1, 2, 1, 1, 1, 1, 3};
    const int blue_ball[VD_COUNTED_KINDS] = {1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 3};
    for (int kind = 0; kind < VD_COUNTED_KINDS; kind++) {
        counted(f, 0, kind, red_cube[kind]);
        counted(f, 1, kind, blue_ball[kind]);
    }
    // Ten are "eight or more"; a doubtful region counts for itself only.
    for (int i = 0; i < THINGS; i++)
        found[i] = thing((float)(i - 5) / 2, 0, 0, 0, 0, 1);
    found[9].confidence = 0.45f;
    vd_extract_features(found, THINGS, f);
    counted(f, 0, COLOR_SHAPE, VD_COUNTED);
    vd_extract_features(found + 5, 5, f);
    counted(f, 0, COLOR_SHAPE, 4);
    counted(f, 0, ALL, 4);
    assert_true(at(f, 4, VD_FEATURE_COUNT + ALL * VD_COUNTED + 4) > 0);
}

static void features_say_whether_all_of_a_kind_agree(void **state)
{
    (void)state;
    vd_detection found[3];
    float f[3 * VD_FEATURE_SIZE];
    three_things(found);
    vd_extract_features(found, 3, f);
    // The red ones: one shape? one material? one size? Then the cubes: colour, material, size.
    const float red_cube[6] = {0, 1, 0, 1, 1, 1};
    for (int i = 0; i < 6; i++)
        assert_float_equal(at(f, 0, VD_FEATURE_ALIKE + i), red_cube[i], 0);
}

static void things_side_by_side_are_in_neither_direction(void **state)
{
    (void)state;
    vd_detection found[2] = {thing(-0.05f, 0, 0, 0, 0, 1), thing(0.1f, 1.5f, 1, 1, 0, 1)};
    float f[2 * VD_FEATURE_SIZE];
    vd_extract_features(found, 2, f);
    for (int i = 0; i < 2; i++) {
        assert_true(at(f, i, VD_FEATURE_SHARE + VD_LEFT) < 0.02f);
        assert_true(at(f, i, VD_FEATURE_SHARE + VD_RIGHT) < 0.02f);
    }
    assert_float_equal(at(f, 0, VD_FEATURE_SHARE + VD_BEHIND), 1, 1e-3f);
}

static void every_channel_lies_between_0_and_1(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(5, 5);
    vd_detection found[VD_EXTRACT_MAX];
    float *f = vd_alloc(VD_EXTRACT_MAX * VD_FEATURE_SIZE, sizeof *f);
    for (int round = 0; round < 40; round++) {
        int count = 1 + vd_rng_below(&rng, VD_EXTRACT_MAX);
        for (int i = 0; i < count; i++) {
            vd_detection *d = &found[i];
            *d = (vd_detection){.confidence = (float)vd_rng_uniform(&rng)};
            d->place[0] = (float)vd_rng_range(&rng, -320, 640);
            d->place[1] = (float)vd_rng_range(&rng, -240, 480);
            d->box[2] = (float)vd_rng_range(&rng, 1, 320);
            d->box[3] = (float)vd_rng_range(&rng, 1, 240);
            for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++) {
                float sum = 0, *p = d->p + vd_attribute_first[k];
                for (int v = 0; v < vd_attribute_count[k]; v++)
                    sum += p[v] = (float)vd_rng_uniform(&rng) + 1e-6f;
                for (int v = 0; v < vd_attribute_count[k]; v++)
                    p[v] /= sum;
            }
        }
        vd_extract_features(found, count, f);
        for (int i = 0; i < count * VD_FEATURE_SIZE; i++)
            if (!(f[i] >= 0 && f[i] <= 1))
                fail_msg("channel %d is %g", i % VD_FEATURE_SIZE, (double)f[i]);
    }
    vd_free(f);
}

static void one_region_has_no_surroundings(void **state)
{
    (void)state;
    vd_detection found = thing(0, 0, 3, 2, 1, 0);
    float f[VD_FEATURE_SIZE];
    vd_extract_features(&found, 1, f);
    for (int c = VD_FEATURE_NEAREST; c < VD_FEATURE_UNIQUE; c++)
        assert_float_equal(f[c], 0, 0);
    for (int k = 0; k < VD_ATTRIBUTE_KINDS; k++)
        assert_float_equal(f[VD_FEATURE_UNIQUE + k], 1, 0);
    for (int k = 0; k < 6; k++)
        assert_float_equal(f[VD_FEATURE_EXTREME + k], 1, 0);
}

// ---- weights ------------------------------------------------------------------------------------

static const vd_conv *layer_of(int l)
{
    return l < vd_detect_layers ? &vd_detect_layer[l] : &vd_classify_layer[l - vd_detect_layers];
}

// The tensors of both nets with small random numbers; `wrong` gets another shape, `broken` a NaN,
// `missing` is left out.
static void write_extractor(const char *path, const char *wrong, const char *broken,
                            const char *missing)
{
    vd_safetensors_writer *writer;
    vd_error err;
    vd_rng rng = vd_rng_seed(9, 9);
    assert_int_equal(vd_safetensors_create(path, &writer, &err), VD_OK);
    char name[64];
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < 2 * (vd_detect_layers + vd_classify_layers); t++) {
            const vd_conv *conv = layer_of(t / 2);
            snprintf(name, sizeof name, "%s.%s", conv->name, t % 2 ? "bias" : "weight");
            if (missing && strcmp(name, missing) == 0)
                continue;
            size_t k = (size_t)conv->kernel, outs = (size_t)conv->out;
            size_t shape[4] = {k, k, (size_t)conv->in, outs};
            size_t extra = wrong && strcmp(name, wrong) == 0 ? 1 : 0;
            shape[3] += extra;
            size_t count = t % 2 ? shape[3] : k * k * shape[2] * shape[3];
            if (pass == 0) {
                assert_int_equal(vd_safetensors_declare(writer, name, VD_F32, t % 2 ? 1 : 4,
                                                        t % 2 ? &shape[3] : shape, &err),
                                 VD_OK);
                continue;
            }
            float *data = vd_alloc(count, sizeof *data);
            for (size_t i = 0; i < count; i++)
                data[i] = (float)vd_rng_range(&rng, -0.1, 0.1);
            if (broken && strcmp(name, broken) == 0)
                data[count - 1] = NAN;
            assert_int_equal(vd_safetensors_append_floats(writer, data, count, &err), VD_OK);
            vd_free(data);
        }
    assert_int_equal(vd_safetensors_commit(writer, &err), VD_OK);
}

static void refuse_weights(const char *path, vd_status expected, const char *says)
{
    vd_extractor *extractor;
    vd_error err = {0};
    support_refused(vd_extractor_load(path, &extractor, &err), expected, &err, path, says, NULL);
    assert_null(extractor);
}

static void wrong_weights_are_refused_by_name(void **state)
{
    (void)state;
    char *directory = support_temp_dir(), *path = support_join(directory, "weights");
    refuse_weights(path, VD_NOT_FOUND, "");
    support_write_text(path, "not a safetensors file at all");
    refuse_weights(path, VD_FORMAT, "");
    write_extractor(path, "trunk2.weight", NULL, NULL);
    refuse_weights(path, VD_MISMATCH, "trunk2.weight");
    write_extractor(path, "heads.bias", NULL, NULL);
    refuse_weights(path, VD_MISMATCH, "heads.bias");
    write_extractor(path, NULL, NULL, "mix.bias");
    refuse_weights(path, VD_MISMATCH, "mix.bias");
    write_extractor(path, NULL, "fine.weight", NULL);
    refuse_weights(path, VD_FORMAT, "fine.weight");
    write_extractor(path, NULL, "near.same8.weight", NULL);
    refuse_weights(path, VD_FORMAT, "near.same8.weight");
    support_remove_tree(directory);
    free(path);
    free(directory);
}

static vd_status load_and_run(void *context, vd_error *err)
{
    vd_extractor *extractor = NULL;
    vd_status status = vd_extractor_load(context, &extractor, err);
    vd_extraction found;
    vd_image image = {.width = 1, .height = 1, .rgb = (uint8_t[3]){9, 9, 9}};
    if (!status)
        status = vd_extractor_run(extractor, &image, &found, NULL, err);
    vd_extractor_free(extractor);
    return status;
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    char *directory = support_temp_dir(), *path = support_join(directory, "weights");
    write_extractor(path, NULL, NULL, NULL);
    assert_true(support_fail_each_allocation(load_and_run, path) > 20);
    support_remove_tree(directory);
    free(path);
    free(directory);
}

// ---- the bundled extractor ----------------------------------------------------------------------

static vd_extractor *load_bundled(void)
{
    vd_extractor *extractor;
    vd_error err = {0};
    if (vd_extractor_load(bundled, &extractor, &err))
        fail_msg("%s", err.text);
    return extractor;
}

static void the_bundled_extractor_finds_and_names_objects(void **state)
{
    (void)state;
    vd_extractor *extractor = load_bundled();
    blocks_detector_scores s;
    assert_int_equal(blocks_detector_evaluate(extractor, 1, BLOCKS_VAL, 0, 60, &s, NULL), VD_OK);
    assert_int_equal(s.pictures, 60);
    assert_true(s.found >= 0.95 * s.objects);
    assert_true(s.spurious <= 0.2 * s.pictures);
    assert_true(s.color >= 0.98 && s.shape >= 0.98 && s.material >= 0.98 && s.size >= 0.98);
    assert_true(s.relations >= 0.98);
    vd_extractor_free(extractor);
}

static void render_val(int index, vd_image *image)
{
    blocks_scene scene;
    *image = picture(BLOCKS_WIDTH, BLOCKS_HEIGHT);
    blocks_scene_make(1, BLOCKS_VAL, index, &scene);
    blocks_render(&scene, image->rgb);
}

static void the_same_picture_gives_the_same_features(void **state)
{
    (void)state;
    enum { NUMBERS = VD_EXTRACT_MAX * VD_FEATURE_SIZE };
    vd_extractor *one = load_bundled(), *two = load_bundled();
    float *a = vd_alloc(NUMBERS, sizeof *a), *b = vd_alloc(NUMBERS, sizeof *b);
    vd_extraction found, again;
    vd_image image, other;
    render_val(3, &image);
    render_val(4, &other);
    assert_int_equal(vd_extractor_run(one, &image, &found, a, NULL), VD_OK);
    assert_int_equal(vd_extractor_run(two, &other, &again, b, NULL), VD_OK);
    assert_int_equal(vd_extractor_run(two, &image, &again, b, NULL), VD_OK);
    assert_memory_equal(a, b, NUMBERS * sizeof *a);
    assert_memory_equal(&found, &again, sizeof found);
    for (int i = found.count * VD_FEATURE_SIZE; i < NUMBERS; i++)
        assert_float_equal(a[i], 0, 0);
    vd_image_clear(&other);
    vd_image_clear(&image);
    vd_free(b);
    vd_free(a);
    vd_extractor_free(two);
    vd_extractor_free(one);
}

static void the_picture_may_have_any_size(void **state)
{
    (void)state;
    vd_extractor *extractor = load_bundled();
    vd_extraction found, again;
    vd_image image, large = picture(3 * BLOCKS_WIDTH, 3 * BLOCKS_HEIGHT);
    render_val(5, &image);
    for (int y = 0; y < large.height; y++)
        for (int x = 0; x < large.width; x++)
            memcpy(large.rgb + (size_t)(y * large.width + x) * 3,
                   image.rgb + (size_t)(y / 3 * image.width + x / 3) * 3, 3);
    assert_int_equal(vd_extractor_run(extractor, &image, &found, NULL, NULL), VD_OK);
    assert_int_equal(vd_extractor_run(extractor, &large, &again, NULL, NULL), VD_OK);
    assert_int_equal(found.count, again.count);
    for (int i = 0; i < found.count; i++) {
        assert_int_equal(found.color[i], again.color[i]);
        for (int k = 0; k < 4; k++)
            assert_float_equal(found.box[i][k], again.box[i][k], 1e-3f);
    }
    vd_image_clear(&large);
    vd_image_clear(&image);
    vd_extractor_free(extractor);
}

// Without --out they are listed, as with --show.
static void the_command_lists_the_regions(void **state)
{
    (void)state;
    support_program plain, shown;
    const char *path = "assets/pictures/1000003.png";
    support_program_run(&plain, (const char *const[]){"extract", path, NULL}, NULL);
    support_program_expect(&plain, 0, NULL);
    assert_non_null(strstr(plain.out, "1000003.png: "));
    assert_non_null(strstr(plain.out, " regions\n"));
    support_program_run(&shown, (const char *const[]){"extract", "--show", path, NULL}, NULL);
    support_program_expect(&shown, 0, NULL);
    assert_string_equal(plain.out, shown.out);
    support_program_clear(&shown);
    support_program_clear(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resampling_keeps_a_plain_picture_plain),
        cmocka_unit_test(shrinking_averages_areas),
        cmocka_unit_test(enlarging_interpolates),
        cmocka_unit_test(a_picture_without_pixels_is_refused),
        cmocka_unit_test(resampling_reports_failed_allocations),
        cmocka_unit_test(peaks_become_detections_by_confidence),
        cmocka_unit_test(one_object_is_found_once),
        cmocka_unit_test(what_is_more_likely_the_same_than_not_is_one_object),
        cmocka_unit_test(equal_peaks_stay_in_reading_order),
        cmocka_unit_test(weak_peaks_are_left_out_but_never_all),
        cmocka_unit_test(unusable_output_gives_a_sound_answer),
        cmocka_unit_test(the_layout_is_as_documented),
        cmocka_unit_test(features_say_what_a_region_is),
        cmocka_unit_test(features_say_what_is_around),
        cmocka_unit_test(features_count_regions_of_a_kind),
        cmocka_unit_test(features_say_whether_all_of_a_kind_agree),
        cmocka_unit_test(things_side_by_side_are_in_neither_direction),
        cmocka_unit_test(every_channel_lies_between_0_and_1),
        cmocka_unit_test(one_region_has_no_surroundings),
        cmocka_unit_test(wrong_weights_are_refused_by_name),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(the_bundled_extractor_finds_and_names_objects),
        cmocka_unit_test(the_same_picture_gives_the_same_features),
        cmocka_unit_test(the_picture_may_have_any_size),
        cmocka_unit_test(the_command_lists_the_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Which pictures the bundled extractor says it does not know: pictures of the Blocks world made for
// this, and pictures of 28 other kinds, none of which had a part in choosing or fitting anything.
// VISDIAL_TEST_PICTURES=20: so many of each kind (3), and a table of them.
#include "features/extract/outlier.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "assets/blocks/render.h"
#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "features/extract/extract.h"

// ---- pictures of other worlds -------------------------------------------------------------------

enum { DRAWS = 12, WIDTH = BLOCKS_WIDTH, HEIGHT = BLOCKS_HEIGHT };

typedef struct drawing {
    float d[DRAWS];    // drawn for the picture, in 0..1
    uint8_t *blocks;   // a Blocks picture, for kinds that are made of one
    uint8_t *another;  // and another
    const char *shown; // name of the kind
} drawing;

static float wave(float x)
{
    return 0.5f + 0.5f * sinf(6.2832f * x);
}

static float noise(float x, float y)
{
    float s = sinf(x * 127.1f + y * 311.7f) * 43758.5453f;
    return s - floorf(s);
}

static float smooth_noise(float x, float y)
{
    float i = floorf(x), j = floorf(y), u = x - i, v = y - j;
    return (1 - v) * ((1 - u) * noise(i, j) + u * noise(i + 1, j)) +
           v * ((1 - u) * noise(i, j + 1) + u * noise(i + 1, j + 1));
}

static void set(float *rgb, float r, float g, float b)
{
    rgb[0] = r;
    rgb[1] = g;
    rgb[2] = b;
}

static void of(const uint8_t *picture, float x, float y, float *rgb)
{
    int column = (int)fminf(fmaxf(x * WIDTH, 0), WIDTH - 1);
    int row = (int)fminf(fmaxf(y * HEIGHT, 0), HEIGHT - 1);
    const uint8_t *at = picture + (row * WIDTH + column) * 3;
    set(rgb, at[0] / 255.0f, at[1] / 255.0f, at[2] / 255.0f);
}

// x, y in 0..1; rgb in 0..1. A kind is one of these lines.
#define KINDS(X)                                                                                   \
    X(rings, float f = wave(hypotf(x - d[0], y - d[1]) * (5 + 20 * d[2]));                         \
      set(rgb, f, f * d[3], 1 - f))                                                                \
    X(tartan, set(rgb, wave(x *(4 + 20 * d[0])), wave(y *(4 + 20 * d[1])), d[2]))                  \
    X(brick_wall, float r = floorf(y * 14), c = x * 8 + 0.5f * (float)((int)r % 2);                \
      float joint = y * 14 - r < 0.12f || c - floorf(c) < 0.06f;                                   \
      set(rgb, joint ? 0.7f : 0.5f + 0.2f * noise(floorf(c), r), joint ? 0.7f : 0.25f,             \
          joint ? 0.65f : 0.2f))                                                                   \
    X(maze, float n = noise(floorf(x * 32) + d[0] * 99, floorf(y * 24));                           \
      float u = x * 32 - floorf(x * 32), v = y * 24 - floorf(y * 24);                              \
      float on = fabsf(n > 0.5f ? u - v : u + v - 1) < 0.2f; set(rgb, on, on, on))                 \
    X(sunset, float sun = hypotf(x - d[0], (y - 0.6f) * 0.75f) < 0.12f;                            \
      set(rgb, 0.9f - 0.3f * y, sun ? 0.9f : 0.7f * y, sun ? 0.3f : 0.5f - 0.4f * y))              \
    X(sea, float f = wave(y * y * 30 + 0.3f * smooth_noise(x * 9 + d[0] * 50, y * 40));            \
      set(rgb, 0.05f + 0.1f * f, 0.3f + 0.2f * f, 0.5f + 0.3f * f))                                \
    X(square_code, float f = noise(floorf(x * 40) + d[0] * 77, floorf(y * 30)) > 0.5f;             \
      set(rgb, f, f, f))                                                                           \
    X(halftone, float f = hypotf(x * 60 - floorf(x * 60) - 0.5f, y * 45 - floorf(y * 45) - 0.5f) < \
                          0.6f * (d[0] * x + (1 - d[0]) * y);                                      \
      set(rgb, f ? 0.1f : 0.95f, f ? 0.1f : 0.9f, f ? d[1] : 0.8f))                                \
    X(street_map, float a = fabsf(smooth_noise(x * 6 + d[0] * 50, y * 6) - 0.5f) < 0.03f,          \
      b = fabsf(smooth_noise(x * 9, y * 9 + d[1] * 50) - 0.5f) < 0.03f;                            \
      set(rgb, a ? 1 : 0.93f,                                                                      \
          a   ? 0.85f                                                                              \
          : b ? 1                                                                                  \
              : 0.9f,                                                                              \
          a   ? 0.4f                                                                               \
          : b ? 1                                                                                  \
              : 0.85f))                                                                            \
    X(foggy_wood, float tree = smooth_noise(x * 30 + d[0] * 50, y * 0.6f) > 0.62f;                 \
      float f = 0.8f - 0.2f * y;                                                                   \
      set(rgb, tree ? 0.3f * f : f, tree ? 0.33f * f : f, tree ? 0.3f * f : f))                    \
    X(circuit, float f = fabsf(wave(floorf(x * 20) * 0.37f + d[0]) - y) < 0.02f ||                 \
                         x * 20 - floorf(x * 20) < 0.1f;                                           \
      set(rgb, f ? 0.8f : 0.05f, f ? 0.7f : 0.35f, f ? 0.3f : 0.15f))                              \
    X(fireworks, float a = atan2f(y - d[1], x - d[0]), r = hypotf(x - d[0], y - d[1]);             \
      float f = wave(a * 4) > 0.9f && r < 0.1f + 0.3f * d[2]; set(rgb, f, f * d[3], f * d[4]))     \
    X(zebra, float f = wave(x * 8 + 2 * smooth_noise(x * 4, y * 5 + d[0] * 50)) > 0.5f;            \
      set(rgb, f, f, f))                                                                           \
    X(pie_chart, float a = atan2f(y - 0.5f, (x - 0.5f) * 1.33f) / 6.2832f + 0.5f;                  \
      float in = hypotf((x - 0.5f) * 1.33f, y - 0.5f) < 0.4f;                                      \
      float k = floorf(a * (3 + 5 * d[0]));                                                        \
      set(rgb, in ? wave(k * 0.31f + d[1]) : 1, in ? wave(k * 0.17f + d[2]) : 1,                   \
          in ? wave(k * 0.53f + d[3]) : 1))                                                        \
    X(scatter_plot, float u = floorf(x * 40), v = floorf(y * 30);                                  \
      float dot =                                                                                  \
          noise(u + d[0] * 99, v) > 0.93f && hypotf(x * 40 - u - 0.5f, y * 30 - v - 0.5f) < 0.35f; \
      float line = x * 8 - floorf(x * 8) < 0.02f || y * 6 - floorf(y * 6) < 0.02f;                 \
      set(rgb,                                                                                     \
          dot    ? 0.1f                                                                            \
          : line ? 0.8f                                                                            \
                 : 1,                                                                              \
          dot    ? 0.3f                                                                            \
          : line ? 0.8f                                                                            \
                 : 1,                                                                              \
          dot    ? 0.8f                                                                            \
          : line ? 0.8f                                                                            \
                 : 1))                                                                             \
    X(flag, int band = (int)(3 * (d[0] > 0.5f ? x : y));                                           \
      set(rgb, d[1 + band], d[4 + band], d[7 + band]))                                             \
    X(spiral, float a = atan2f(y - 0.5f, x - 0.5f) / 6.2832f;                                      \
      float f = wave(a + hypotf(x - 0.5f, y - 0.5f) * (8 + 8 * d[0])) > 0.5f;                      \
      set(rgb, f ? d[1] : d[4], f ? d[2] : d[5], f ? d[3] : d[6]))                                 \
    X(falling_snow, float f = noise(x * 311 + d[0], y * 173) > 0.985f;                             \
      set(rgb, f ? 1 : 0.15f, f ? 1 : 0.18f, f ? 1 : 0.3f))                                        \
    X(wood_grain, float f = wave(3 * x + 6 * smooth_noise(x * 2 + d[0] * 50, y * 9));              \
      set(rgb, 0.45f + 0.2f * f, 0.28f + 0.12f * f, 0.12f + 0.06f * f))                            \
    X(marbled_paper,                                                                               \
      float n = smooth_noise(x * 5 + d[0] * 50, y * 5) + 0.5f * smooth_noise(x * 11, y * 11);      \
      set(rgb, wave(n * 2), wave(n * 2 + 0.3f * d[1]), wave(n * 3)))                               \
    X(honeycomb, float r = floorf(y * 12), c = x * 14 + 0.5f * (float)((int)r % 2);                \
      float f = hypotf(c - floorf(c) - 0.5f, y * 12 - r - 0.5f) < 0.42f;                           \
      set(rgb, f ? 0.95f : 0.5f, f ? 0.7f : 0.3f, f ? 0.1f * d[0] : 0.05f))                        \
    X(handwriting, float k = floorf(y * 10);                                                       \
      float f = fabsf(y * 10 - k - 0.5f -                                                          \
                      0.3f * (wave(x * 25 + k * d[0]) - 0.5f) * smooth_noise(x * 30, k)) < 0.04f;  \
      set(rgb, f ? 0.1f : 0.97f, f ? 0.1f : 0.96f, f ? 0.5f : 0.9f))                               \
    X(x_ray, float f = smooth_noise(x * 4 + d[0] * 50, y * 4) *                                    \
                       expf(-6 * ((x - 0.5f) * (x - 0.5f) + (y - 0.5f) * (y - 0.5f)));             \
      set(rgb, f, f, f))                                                                           \
    X(rainbow, float f = hypotf((x - 0.5f) * 1.33f, y - 1) * (4 + d[0]);                           \
      set(rgb, wave(f), wave(f + 0.33f), wave(f + 0.66f)))                                         \
    X(Blocks_as_tiles, of(s->blocks, floorf(x * 20) / 20, floorf(y * 15) / 15, rgb))               \
    X(Blocks_halves_exchanged, of(s->blocks, x < 0.5f ? x + 0.5f : x - 0.5f, 1 - y, rgb))          \
    X(Blocks_channels_exchanged, of(s->blocks, x, y, rgb);                                         \
      set(rgb, 0.5f * rgb[2], rgb[0], 1 - rgb[1]))                                                 \
    X(two_Blocks_side_by_side,                                                                     \
      of(x < 0.5f ? s->blocks : s->another, x < 0.5f ? 2 * x : 2 * x - 1, y, rgb))

#define X(name, ...)                                                                               \
    static void name(const drawing *s, float x, float y, float *rgb)                               \
    {                                                                                              \
        const float *d = s->d;                                                                     \
        (void)d;                                                                                   \
        __VA_ARGS__;                                                                               \
    }
KINDS(X)
#undef X

static const struct {
    const char *name;
    void (*color)(const drawing *s, float x, float y, float *rgb);
} kinds[] = {
#define X(name, ...) {#name, name},
    KINDS(X)
#undef X
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static void blocks_picture(int index, uint8_t *rgb)
{
    blocks_scene scene;
    blocks_scene_make(77, BLOCKS_TEST, index, &scene);
    blocks_render(&scene, rgb);
}

static void draw(int kind, int number, uint8_t *rgb)
{
    static uint8_t blocks[WIDTH * HEIGHT * 3], another[WIDTH * HEIGHT * 3];
    drawing s = {.blocks = blocks, .another = another};
    vd_rng rng = vd_rng_seed(5, (uint64_t)(kind * 1000 + number));
    for (int i = 0; i < DRAWS; i++)
        s.d[i] = (float)vd_rng_below(&rng, 1000) / 1000;
    if (strstr(kinds[kind].name, "Blocks")) {
        blocks_picture(5000 + number, blocks);
        blocks_picture(6000 + number, another);
    }
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            float color[3];
            kinds[kind].color(&s, ((float)x + 0.5f) / WIDTH, ((float)y + 0.5f) / HEIGHT, color);
            for (int c = 0; c < 3; c++)
                rgb[(y * WIDTH + x) * 3 + c] = (uint8_t)(255 * fminf(fmaxf(color[c], 0), 1));
        }
}

// ---- what the bundled extractor says ------------------------------------------------------------

static int pictures_of_a_kind(void)
{
    const char *given = getenv("VISDIAL_TEST_PICTURES");
    return given ? (int)strtol(given, NULL, 10) : 3;
}

static float distance_of(vd_extractor *extractor, vd_image *image)
{
    vd_extraction found;
    assert_int_equal(vd_extractor_run(extractor, image, &found, NULL, NULL), VD_OK);
    return found.distance;
}

// The area under the ROC curve: how often one of the others is further away than a Blocks picture.
static double area(const float *blocks, int blocks_count, const float *others, int others_count)
{
    double right = 0;
    for (int i = 0; i < blocks_count; i++)
        for (int k = 0; k < others_count; k++)
            right += others[k] > blocks[i] ? 1 : others[k] == blocks[i] ? 0.5 : 0;
    return right / blocks_count / others_count;
}

static void blocks_pictures_are_known_and_others_are_not(void **state)
{
    (void)state;
    static uint8_t rgb[WIDTH * HEIGHT * 3];
    vd_image image = {WIDTH, HEIGHT, rgb};
    vd_extractor *extractor;
    vd_error err = {0};
    int each = pictures_of_a_kind(), blocks = each * 20, doubted = 0, others = 0, seen = 0;
    float *known = vd_alloc((size_t)blocks, sizeof *known);
    float *unknown = vd_alloc((size_t)each, KIND_COUNT * sizeof *unknown);
    assert_true(known && unknown);
    if (vd_extractor_load("assets/extractor.safetensors", &extractor, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < blocks; i++) {
        blocks_picture(i, rgb);
        known[i] = distance_of(extractor, &image);
        doubted += known[i] > 1;
    }
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        int found = 0;
        for (int i = 0; i < each; i++) {
            draw(kind, i, rgb);
            unknown[seen] = distance_of(extractor, &image);
            found += unknown[seen++] > 1;
        }
        if (getenv("VISDIAL_TEST_PICTURES"))
            printf("%-26s %3d of %d doubted\n", kinds[kind].name, found, each);
        others += found;
    }
    printf("Blocks: %d of %d doubted; %d other kinds: %d of %d doubted; area under ROC %.4f\n",
           doubted, blocks, KIND_COUNT, others, seen, area(known, blocks, unknown, seen));
    vd_free(unknown);
    vd_free(known);
    vd_extractor_free(extractor);
    assert_in_range(doubted, 0, blocks / 50 + 1);
    assert_in_range(others, KIND_COUNT * each * 9 / 10, KIND_COUNT * each);
}

// ---- the distance -------------------------------------------------------------------------------

static void the_distance_is_that_of_mahalanobis(void **state)
{
    (void)state;
    enum { N = VD_OUTLIER_FEATURES, COUNT = 400 };
    static double features[COUNT][N];
    vd_outlier fitted = {0};
    vd_rng rng = vd_rng_seed(3, 0);
    for (int k = 0; k < COUNT; k++)
        for (int i = 0; i < N; i++)
            features[k][i] = (i + 1) * ((double)vd_rng_below(&rng, 2001) / 1000 - 1) +
                             (i ? 0.5 * features[k][i - 1] : 0);
    assert_int_equal(vd_outlier_fit(&fitted, features[0], COUNT, NULL), VD_OK);
    assert_true(fitted.known);
    int outside = 0;
    double sum = 0;
    for (int k = 0; k < COUNT; k++) {
        double distance = vd_outlier_distance(&fitted, features[k]);
        outside += distance > 1 / 1.1;
        sum += distance * distance;
    }
    assert_in_range(outside, 3, 5); // 1 % of them
    // Without the scale the mean of the squares is the number of features.
    double limit = sqrt(N / (sum / COUNT)), far[N];
    for (int i = 0; i < N; i++)
        far[i] = (double)fitted.mean[i];
    assert_float_equal(vd_outlier_distance(&fitted, far), 0, 1e-6);
    far[0] += 100;
    assert_true(vd_outlier_distance(&fitted, far) > 10);
    assert_true(limit > 2 && limit < 5);
}

static void signs_that_do_not_vary_are_refused_only_when_senseless(void **state)
{
    (void)state;
    double features[8 * VD_OUTLIER_FEATURES];
    vd_outlier fitted = {0};
    vd_error err = {0};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        features[i] = NAN;
    assert_int_equal(vd_outlier_fit(&fitted, features, 8, &err), VD_FORMAT);
    assert_non_null(strstr(err.text, "does not vary"));
    assert_false(fitted.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_is_that_of_mahalanobis),
        cmocka_unit_test(signs_that_do_not_vary_are_refused_only_when_senseless),
        cmocka_unit_test(blocks_pictures_are_known_and_others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

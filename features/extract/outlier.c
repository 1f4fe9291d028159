#include "features/extract/outlier.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/alloc.h"
#include "features/extract/detect.h"

// Signs are taken from the picture at half the detector's size.
enum { WIDTH = VD_DETECT_WIDTH / 2, HEIGHT = VD_DETECT_HEIGHT / 2, PIXELS = WIDTH * HEIGHT };
enum { CELL = WIDTH / VD_OUTLIER_COLUMNS };
_Static_assert(CELL *VD_OUTLIER_COLUMNS == WIDTH && CELL * VD_OUTLIER_ROWS == HEIGHT,
               "a cell of the table is a square of pixels");

static const float confident = 0.5f;
// Beyond these a sign does not get worse: one bright spot is no other world.
static const double most_color = 60, most_table = 6, most_edge = 20;
static const double table_unit = 12; // what the table differs by from picture to picture
enum { LEAST_BACKGROUND = 500 };     // pixels; of fewer nothing is read

typedef struct scan {
    float rgb[PIXELS][3]; // 0..255
    float grey[PIXELS];
    bool background[PIXELS];
    int pixels; // of the background
} scan;

static void shrink(const vd_real *input, scan *s)
{
    enum { ACROSS = VD_DETECT_INPUTS, DOWN = VD_DETECT_WIDTH * VD_DETECT_INPUTS };
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const vd_real *at = input + (size_t)2 * y * DOWN + (size_t)2 * x * ACROSS;
            int p = y * WIDTH + x;
            for (int c = 0; c < 3; c++) {
                vd_real sum = at[c] + at[c + ACROSS] + at[c + DOWN] + at[c + DOWN + ACROSS];
                s->rgb[p][c] = (float)(sum / 4 + 1) * 127.5f;
            }
            s->grey[p] = (s->rgb[p][0] + s->rgb[p][1] + s->rgb[p][2]) / 3;
        }
}

// The confident regions and two pixels around them are not background.
static void mark_background(const vd_outlier_picture *picture, scan *s)
{
    enum { AROUND = 2 };
    for (int p = 0; p < PIXELS; p++)
        s->background[p] = true;
    for (int r = 0; r < picture->count; r++) {
        const float *box = picture->box[r];
        int left = (int)(box[0] * WIDTH) - AROUND, right = (int)(box[2] * WIDTH) + AROUND;
        int top = (int)(box[1] * HEIGHT) - AROUND, bottom = (int)(box[3] * HEIGHT) + AROUND;
        for (int y = top < 0 ? 0 : top; y <= bottom && y < HEIGHT; y++)
            for (int x = left < 0 ? 0 : left; x <= right && x < WIDTH; x++)
                if (picture->confidence[r] >= confident)
                    s->background[y * WIDTH + x] = false;
    }
    for (int p = 0; p < PIXELS; p++)
        s->pixels += s->background[p];
}

static vd_status scan_picture(const vd_outlier_picture *picture, scan **out, vd_error *err)
{
    *out = vd_alloc(1, sizeof **out);
    if (!*out)
        return vd_error_memory(err, "a picture's background");
    shrink(picture->input, *out);
    mark_background(picture, *out);
    return VD_OK;
}

// ---- the table ----------------------------------------------------------------------------------

// The mean table at a pixel: between the middles of the four cells around it.
static void table_at(const float *table, int x, int y, float rgb[3])
{
    float across = ((float)x + 0.5f) / CELL - 0.5f, down = ((float)y + 0.5f) / CELL - 0.5f;
    across = fminf(fmaxf(across, 0), VD_OUTLIER_COLUMNS - 1.001f);
    down = fminf(fmaxf(down, 0), VD_OUTLIER_ROWS - 1.001f);
    int column = (int)across, row = (int)down;
    float right = across - (float)column, low = down - (float)row;
    const float *at = table + (size_t)(row * VD_OUTLIER_COLUMNS + column) * 3;
    const float *below = at + (size_t)VD_OUTLIER_COLUMNS * 3;
    for (int c = 0; c < 3; c++)
        rgb[c] = (1 - low) * ((1 - right) * at[c] + right * at[c + 3]) +
                 low * ((1 - right) * below[c] + right * below[c + 3]);
}

static float table_grey(const float *table, int x, int y)
{
    float rgb[3];
    table_at(table, x, y, rgb);
    return fmaxf((rgb[0] + rgb[1] + rgb[2]) / 3, 1);
}

// How much brighter the background is than the mean table: the median over its pixels.
static double find_gain(const float *table, const scan *s)
{
    enum { STEPS = 256, MOST = 8 * STEPS };
    int times[MOST + 1] = {0}, seen = 0, bin = 0;
    for (int p = 0; p < PIXELS; p++)
        if (s->background[p]) {
            float ratio = s->grey[p] / table_grey(table, p % WIDTH, p / WIDTH);
            times[ratio < (float)MOST / STEPS ? (int)(ratio * STEPS) : MOST]++;
        }
    for (; bin < MOST; bin++) {
        seen += times[bin];
        if (2 * seen >= s->pixels)
            break;
    }
    return (bin + 0.5) / STEPS;
}

static double color_of(const scan *s, int p)
{
    double most = 0;
    for (int c = 0; c < 3; c++)
        most = fmax(most, fabs((double)(s->rgb[p][c] - s->grey[p])));
    return fmin(most, most_color);
}

static double table_distance(const float *table, double gain, const scan *s, int p)
{
    float there[3];
    double sum = 0;
    table_at(table, p % WIDTH, p / WIDTH, there);
    for (int c = 0; c < 3; c++)
        sum += fabs((double)s->rgb[p][c] - gain * (double)there[c]);
    return fmin(sum / 3 / table_unit, most_table);
}

// The gradient by central differences, one-sided at the picture's border.
static double edge_of(const scan *s, int p)
{
    int x = p % WIDTH, y = p / WIDTH;
    int left = x > 0, right = x<WIDTH - 1, up = y> 0, down = y < HEIGHT - 1;
    double across = (double)(s->grey[p + right] - s->grey[p - left]) / (left + right);
    double along = (double)(s->grey[p + down * WIDTH] - s->grey[p - up * WIDTH]) / (up + down);
    return fmin(hypot(across, along), most_edge);
}

static void background_features(const float *table, const scan *s, double *features)
{
    double color = most_color, distance = most_table, edges = most_edge, light = 5;
    if (s->pixels >= LEAST_BACKGROUND) {
        double gain = find_gain(table, s);
        color = distance = edges = 0;
        for (int p = 0; p < PIXELS; p++)
            if (s->background[p]) {
                color += color_of(s, p) / s->pixels;
                distance += table_distance(table, gain, s, p) / s->pixels;
                edges += edge_of(s, p) / s->pixels;
            }
        light = fabs(log(gain));
    }
    features[0] = color;
    features[1] = distance;
    features[2] = edges;
    features[3] = light;
}

vd_status vd_outlier_features(const vd_outlier *outlier, const vd_outlier_picture *picture,
                              double features[VD_OUTLIER_FEATURES], vd_error *err)
{
    scan *s;
    vd_status status = scan_picture(picture, &s, err);
    if (status)
        return status;
    background_features(outlier->table, s, features);
    vd_free(s);
    double unsure = 0;
    int sure = 0;
    for (int r = 0; r < picture->count; r++)
        if (picture->confidence[r] >= confident) {
            unsure += 1 - (double)picture->confidence[r];
            sure++;
        }
    features[4] = sure ? unsure / sure : 1;
    features[5] = picture->count - sure;
    features[6] = sure;
    return VD_OK;
}

double vd_outlier_distance(const vd_outlier *outlier, const double features[VD_OUTLIER_FEATURES])
{
    double square = 0;
    for (int i = 0; i < VD_OUTLIER_FEATURES; i++)
        for (int j = 0; j < VD_OUTLIER_FEATURES; j++)
            square += (features[i] - (double)outlier->mean[i]) *
                      (double)outlier->precision[i * VD_OUTLIER_FEATURES + j] *
                      (features[j] - (double)outlier->mean[j]);
    return sqrt(fmax(square, 0));
}

// ---- fitting ------------------------------------------------------------------------------------

vd_status vd_outlier_add_table(const vd_outlier_picture *picture, double *sums, vd_error *err)
{
    scan *s;
    vd_status status = scan_picture(picture, &s, err);
    for (int p = 0; !status && p < PIXELS; p++) {
        int cell = p / WIDTH / CELL * VD_OUTLIER_COLUMNS + p % WIDTH / CELL;
        for (int c = 0; s->background[p] && c < 3; c++)
            sums[cell * 4 + c] += (double)s->rgb[p][c];
        sums[cell * 4 + 3] += s->background[p];
    }
    vd_free(s);
    return status;
}

// Gauss-Jordan of a positive definite matrix.
static vd_status invert(double *a, float *inverse, vd_error *err)
{
    enum { N = VD_OUTLIER_FEATURES };
    double b[N * N] = {0};
    for (int i = 0; i < N; i++)
        b[i * N + i] = 1;
    for (int i = 0; i < N; i++) {
        double pivot = a[i * N + i];
        if (!(pivot > 0))
            return vd_error_set(
                err, VD_FORMAT,
                "sign %d of the pictures does not vary; expected different Blocks pictures", i + 1);
        for (int j = 0; j < N; j++) {
            a[i * N + j] /= pivot;
            b[i * N + j] /= pivot;
        }
        for (int k = 0; k < N; k++) {
            double factor = a[k * N + i];
            for (int j = 0; k != i && j < N; j++) {
                a[k * N + j] -= factor * a[i * N + j];
                b[k * N + j] -= factor * b[i * N + j];
            }
        }
    }
    for (int i = 0; i < N * N; i++)
        inverse[i] = (float)b[i];
    return VD_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

vd_status vd_outlier_fit(vd_outlier *outlier, const double *features, int count, vd_error *err)
{
    enum { N = VD_OUTLIER_FEATURES };
    static const double least_variance = 1e-6, within = 0.99;
    static const double room = 1.1; // pictures that were not fitted lie a little further away
    double mean[N] = {0}, covariance[N * N] = {0};
    for (int k = 0; k < count; k++)
        for (int i = 0; i < N; i++)
            mean[i] += features[k * N + i] / count;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < N * N; i++)
            covariance[i] += (features[k * N + i / N] - mean[i / N]) *
                             (features[k * N + i % N] - mean[i % N]) / count;
    for (int i = 0; i < N; i++) {
        covariance[i * N + i] += least_variance;
        outlier->mean[i] = (float)mean[i];
    }
    double *distance = vd_alloc((size_t)count, sizeof *distance);
    vd_status status = distance ? VD_OK : vd_error_memory(err, "distances");
    if (!status)
        status = invert(covariance, outlier->precision, err);
    for (int k = 0; !status && k < count; k++)
        distance[k] = vd_outlier_distance(outlier, features + (size_t)k * N);
    if (!status) {
        qsort(distance, (size_t)count, sizeof *distance, compare_numbers);
        double limit = room * distance[(int)(within * (count - 1))];
        for (int i = 0; i < N * N; i++)
            outlier->precision[i] /= (float)(limit * limit);
        outlier->known = limit > 0;
    }
    vd_free(distance);
    return status;
}

// Rows brought to mean 0 and variance 1, or to length 1.
#include "engine/backend/cpu/cpu.h"

#include <math.h>

#include "engine/base/threads.h"

static const vd_real NORM_EPSILON = (vd_real)1e-5, SHORTEST_ROW = (vd_real)1e-12;

typedef struct normalise_job {
    const vd_real *x, *dy, *gain, *bias;
    const vd_real *normal, *scale; // of the backward pass
    vd_real *out, *kept, *factor;
    vd_real *dgain, *dbias;
    size_t rows, width;
} normalise_job;

VD_TARGET_CLONES static void norm_range(void *data, size_t from, size_t to)
{
    const normalise_job j = *(const normalise_job *)data;
    for (size_t r = from; r < to; r++) {
        const vd_real *x = j.x + r * j.width;
        vd_real *normal = j.kept + r * j.width, *y = j.out + r * j.width, mean = 0, square = 0;
        for (size_t i = 0; i < j.width; i++)
            mean += x[i];
        mean /= (vd_real)j.width;
        for (size_t i = 0; i < j.width; i++)
            square += (x[i] - mean) * (x[i] - mean);
        vd_real inverse = 1 / (vd_real)sqrt(square / (vd_real)j.width + NORM_EPSILON);
        j.factor[r] = inverse;
        for (size_t i = 0; i < j.width; i++) {
            normal[i] = (x[i] - mean) * inverse;
            y[i] = normal[i] * j.gain[i] + j.bias[i];
        }
    }
}

static void layer_norm(const vd_real *x, const vd_real *gain, const vd_real *bias, int rows,
                       int width, vd_real *normal, vd_real *inverse, vd_real *y)
{
    normalise_job job = {.x = x,
                         .gain = gain,
                         .bias = bias,
                         .out = y,
                         .kept = normal,
                         .factor = inverse,
                         .width = (size_t)width};
    vd_threads_ranges((size_t)rows, 3.0 * width, norm_range, &job);
}

// d of `normal`: dy gain; dx += inverse (d - mean(d) - normal mean(d normal)).
VD_TARGET_CLONES static void norm_range_backward(void *data, size_t from, size_t to)
{
    const normalise_job j = *(const normalise_job *)data;
    for (size_t r = from; r < to; r++) {
        const vd_real *dy = j.dy + r * j.width, *normal = j.normal + r * j.width;
        vd_real *dx = j.out + r * j.width, mean = 0, along = 0;
        for (size_t i = 0; i < j.width; i++) {
            mean += dy[i] * j.gain[i];
            along += dy[i] * j.gain[i] * normal[i];
        }
        mean /= (vd_real)j.width;
        along /= (vd_real)j.width;
        for (size_t i = 0; i < j.width; i++)
            dx[i] += j.scale[r] * (dy[i] * j.gain[i] - mean - normal[i] * along);
    }
}

VD_TARGET_CLONES static void norm_columns_backward(void *data, size_t from, size_t to)
{
    const normalise_job j = *(const normalise_job *)data;
    for (size_t r = 0; r < j.rows; r++) {
        const vd_real *dy = j.dy + r * j.width, *normal = j.normal + r * j.width;
        VD_IVDEP for (size_t i = from; i < to; i++)
        {
            j.dgain[i] += dy[i] * normal[i];
            j.dbias[i] += dy[i];
        }
    }
}

static void layer_norm_backward(const vd_real *dy, const vd_real *gain, const vd_real *normal,
                                const vd_real *inverse, int rows, int width, vd_real *dx,
                                vd_real *dgain, vd_real *dbias)
{
    normalise_job job = {.dy = dy,
                         .gain = gain,
                         .normal = normal,
                         .scale = inverse,
                         .out = dx,
                         .dgain = dgain,
                         .dbias = dbias,
                         .rows = (size_t)rows,
                         .width = (size_t)width};
    if (dx)
        vd_threads_ranges((size_t)rows, 3.0 * width, norm_range_backward, &job);
    if (dgain && dbias)
        vd_threads_ranges((size_t)width, rows * 0.5, norm_columns_backward, &job);
}

VD_TARGET_CLONES static void unit_range(void *data, size_t from, size_t to)
{
    const normalise_job j = *(const normalise_job *)data;
    for (size_t r = from; r < to; r++) {
        const vd_real *x = j.x + r * j.width;
        vd_real *y = j.out + r * j.width, sum = 0;
        for (size_t i = 0; i < j.width; i++)
            sum += x[i] * x[i];
        vd_real norm = (vd_real)sqrt(sum);
        norm = norm < SHORTEST_ROW ? SHORTEST_ROW : norm;
        j.factor[r] = norm;
        for (size_t i = 0; i < j.width; i++)
            y[i] = x[i] / norm;
    }
}

static void unit_rows(const vd_real *x, int rows, int width, vd_real *y, vd_real *norm)
{
    normalise_job job = {.x = x, .out = y, .factor = norm, .width = (size_t)width};
    vd_threads_ranges((size_t)rows, 1.5 * width, unit_range, &job);
}

// dx += (dy - y (y . dy)) / norm; a row that was too short has only been scaled.
VD_TARGET_CLONES static void unit_range_backward(void *data, size_t from, size_t to)
{
    const normalise_job j = *(const normalise_job *)data;
    for (size_t r = from; r < to; r++) {
        const vd_real *dy = j.dy + r * j.width, *y = j.normal + r * j.width;
        vd_real *dx = j.out + r * j.width, along = 0, norm = j.scale[r];
        for (size_t i = 0; norm > SHORTEST_ROW && i < j.width; i++)
            along += y[i] * dy[i];
        for (size_t i = 0; i < j.width; i++)
            dx[i] += (dy[i] - y[i] * along) / norm;
    }
}

static void unit_rows_backward(const vd_real *dy, const vd_real *y, const vd_real *norm, int rows,
                               int width, vd_real *dx)
{
    normalise_job job = {.dy = dy, .normal = y, .scale = norm, .out = dx, .width = (size_t)width};
    vd_threads_ranges((size_t)rows, 2.0 * width, unit_range_backward, &job);
}

void vd_cpu_normalise(vd_backend *table)
{
    table->layer_norm = layer_norm;
    table->layer_norm_backward = layer_norm_backward;
    table->unit_rows = unit_rows;
    table->unit_rows_backward = unit_rows_backward;
}

// What happens element by element: activations, gates, dropout, embeddings.
#include "engine/backend/cpu/cpu.h"

#include <string.h>

#include "engine/backend/cpu/gemv.h"
#include "engine/base/threads.h"
#include "engine/base/elementary.h"
#include "engine/base/token.h"

VD_TARGET_CLONES void vd_cpu_add(vd_real *y, const vd_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

VD_TARGET_CLONES void vd_cpu_add_scaled(vd_real *y, vd_real a, const vd_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

// The arguments of an operation on many numbers, for its tasks.
typedef struct pointwise_job {
    vd_gate gate;
    size_t width;
    vd_real *x, *y;
    const vd_real *from;
    vd_real rate;
    uint64_t key;
} pointwise_job;

// Nanoseconds, roughly, that an exponential function and a few plain operations take.
static const double EXPONENTIAL = 0.7, FEW_OPERATIONS = 0.25;

VD_TARGET_CLONES static void gated_row(vd_gate gate, vd_real *t, vd_real *g, vd_real *y, int n)
{
    for (int i = 0; i < n; i++)
        t[i] = vd_tanh(t[i]);
    if (gate == VD_GATE_LEAKY_RELU)
        for (int i = 0; i < n; i++)
            g[i] = g[i] > 0 ? g[i] : VD_LEAKY_SLOPE * g[i];
    else if (gate == VD_GATE_SIGMOID)
        for (int i = 0; i < n; i++)
            g[i] = vd_sigmoid(g[i]);
    else
        for (int i = 0; i < n; i++)
            g[i] = g[i] > 0 ? g[i] : vd_exp(g[i]) - 1;
    for (int i = 0; i < n; i++)
        y[i] = t[i] * g[i];
}

static void gated_rows(void *data, size_t from, size_t to)
{
    const pointwise_job *j = data;
    for (size_t r = from; r < to; r++)
        gated_row(j->gate, j->x + 2 * r * j->width, j->x + (2 * r + 1) * j->width,
                  j->y + r * j->width, (int)j->width);
}

static void gated(vd_gate gate, vd_real *pre, vd_real *y, int rows, int hidden)
{
    pointwise_job job = {.gate = gate, .width = (size_t)hidden, .x = pre, .y = y};
    vd_threads_ranges((size_t)rows, 2 * hidden * EXPONENTIAL, gated_rows, &job);
}

VD_TARGET_CLONES static void gated_rows_backward(void *data, size_t from, size_t to)
{
    const pointwise_job j = *(const pointwise_job *)data;
    for (size_t r = from; r < to; r++) {
        const vd_real *dy = j.from + r * j.width;
        vd_real *t = j.x + 2 * r * j.width, *g = t + j.width;
        for (size_t i = 0; i < j.width; i++) {
            vd_real slope = vd_gate_slope(j.gate, g[i]);
            vd_real dt = dy[i] * g[i] * (1 - t[i] * t[i]);
            g[i] = dy[i] * t[i] * slope;
            t[i] = dt;
        }
    }
}

static void gated_backward(vd_gate gate, vd_real *saved, const vd_real *dy, int rows, int hidden)
{
    pointwise_job job = {.gate = gate, .width = (size_t)hidden, .x = saved, .from = dy};
    vd_threads_ranges((size_t)rows, 4 * hidden * FEW_OPERATIONS, gated_rows_backward, &job);
}

VD_TARGET_CLONES static void sigmoid_gate(vd_real *pre, const vd_real *x, vd_real *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pre[i] = vd_sigmoid(pre[i]);
        y[i] = pre[i] * x[i];
    }
}

VD_TARGET_CLONES static void sigmoid_gate_backward(vd_real *saved, const vd_real *x,
                                                   const vd_real *dy, vd_real *dx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dx[i] += dy[i] * saved[i];
        saved[i] = dy[i] * x[i] * saved[i] * (1 - saved[i]);
    }
}

VD_TARGET_CLONES static void relu_range_backward(void *data, size_t from, size_t to)
{
    const pointwise_job j = *(const pointwise_job *)data;
    for (size_t i = from; i < to; i++)
        j.x[i] = j.from[i] > 0 ? j.x[i] : 0;
}

static void relu_backward(const vd_real *y, vd_real *dy, size_t n)
{
    pointwise_job job = {.from = y, .x = dy};
    vd_threads_ranges(n, FEW_OPERATIONS, relu_range_backward, &job);
}

VD_TARGET_CLONES static void drop_range(void *data, size_t from, size_t to)
{
    const pointwise_job j = *(const pointwise_job *)data;
    uint32_t threshold = vd_dropout_threshold(j.rate);
    vd_real scale = 1 / (1 - j.rate);
    for (size_t i = from; i < to; i++)
        j.y[i] = vd_dropout_keeps(j.key, (uint32_t)i, threshold) ? j.from[i] * scale : 0;
}

static void dropout(const vd_real *x, vd_real *y, size_t n, vd_real rate, uint64_t key)
{
    pointwise_job job = {.from = x, .y = y, .rate = rate, .key = key};
    vd_threads_ranges(n, EXPONENTIAL, drop_range, &job);
}

// ---- functions of a number ----------------------------------------------------------------------

#ifdef VD_DOUBLE

static inline vd_real normal_share(vd_real x)
{
    return 0.5 * (1 + erf(x * 0.70710678118654752440));
}

#else

// The normal distribution, by 7.1.26 of Abramowitz and Stegun: the error is below 1e-7.
static inline vd_real normal_share(vd_real x)
{
    float z = x * 0.70710678f, a = z < 0 ? -z : z, t = 1 / (1 + 0.3275911f * a);
    float p = 1.061405429f;
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    float half = 0.5f * p * t * vd_exp(-a * a);
    return z < 0 ? half : 1 - half;
}

#endif

typedef struct map_job {
    vd_function f;
    const vd_real *x, *y, *dy;
    vd_real *out;
} map_job;

VD_TARGET_CLONES static void map_range(void *data, size_t from, size_t to)
{
    const map_job j = *(const map_job *)data;
    const vd_real *x = j.x;
    vd_real *y = j.out;
    if (j.f == VD_TANH)
        for (size_t i = from; i < to; i++)
            y[i] = vd_tanh(x[i]);
    else if (j.f == VD_SIGMOID)
        for (size_t i = from; i < to; i++)
            y[i] = vd_sigmoid(x[i]);
    else if (j.f == VD_RELU)
        for (size_t i = from; i < to; i++)
            y[i] = x[i] > 0 ? x[i] : 0;
    else if (j.f == VD_LEAKY_RELU)
        for (size_t i = from; i < to; i++)
            y[i] = x[i] > 0 ? x[i] : VD_LEAKY_SLOPE * x[i];
    else if (j.f == VD_ELU)
        for (size_t i = from; i < to; i++)
            y[i] = x[i] > 0 ? x[i] : vd_exp(x[i]) - 1;
    else if (j.f == VD_GELU)
        for (size_t i = from; i < to; i++)
            y[i] = x[i] * normal_share(x[i]);
    else
        for (size_t i = from; i < to; i++)
            y[i] = x[i] < 0 ? -x[i] : x[i];
}

static void map(vd_function f, const vd_real *x, vd_real *y, size_t n)
{
    map_job job = {.f = f, .x = x, .out = y};
    vd_threads_ranges(n, f == VD_RELU ? FEW_OPERATIONS : EXPONENTIAL, map_range, &job);
}

VD_TARGET_CLONES static void map_range_backward(void *data, size_t from, size_t to)
{
    const map_job j = *(const map_job *)data;
    const vd_real *x = j.x, *y = j.y, *dy = j.dy;
    vd_real *dx = j.out;
    if (j.f == VD_TANH)
        for (size_t i = from; i < to; i++)
            dx[i] += dy[i] * vd_function_slope(VD_TANH, x[i], y[i]);
    else if (j.f == VD_SIGMOID)
        for (size_t i = from; i < to; i++)
            dx[i] += dy[i] * vd_function_slope(VD_SIGMOID, x[i], y[i]);
    else if (j.f == VD_ELU)
        for (size_t i = from; i < to; i++)
            dx[i] += dy[i] * vd_function_slope(VD_ELU, x[i], y[i]);
    else if (j.f == VD_RELU)
        for (size_t i = from; i < to; i++)
            dx[i] += dy[i] * vd_function_slope(VD_RELU, x[i], y[i]);
    else if (j.f == VD_LEAKY_RELU)
        for (size_t i = from; i < to; i++)
            dx[i] += dy[i] * vd_function_slope(VD_LEAKY_RELU, x[i], y[i]);
    else if (j.f == VD_GELU)
        for (size_t i = from; i < to; i++)
            dx[i] += dy[i] * (normal_share(x[i]) +
                              x[i] * (vd_real)0.39894228040143267794 * vd_exp(-x[i] * x[i] / 2));
    else
        for (size_t i = from; i < to; i++)
            dx[i] += dy[i] * vd_function_slope(j.f, x[i], y[i]);
}

static void map_backward(vd_function f, const vd_real *x, const vd_real *y, const vd_real *dy,
                         vd_real *dx, size_t n)
{
    map_job job = {.f = f, .x = x, .y = y, .dy = dy, .out = dx};
    vd_threads_ranges(n, 2 * FEW_OPERATIONS, map_range_backward, &job);
}

static void add_scaled_range(void *data, size_t from, size_t to)
{
    const pointwise_job *j = data;
    vd_cpu_add_scaled(j->x + from, j->rate, j->from + from, to - from);
}

static void add_scaled(vd_real *y, vd_real a, const vd_real *x, size_t n)
{
    pointwise_job job = {.x = y, .from = x, .rate = a};
    vd_threads_ranges(n, FEW_OPERATIONS, add_scaled_range, &job);
}

// ---- rows ---------------------------------------------------------------------------------------

static void embed(const vd_matrix *table, const int32_t *id, int rows, vd_real *y)
{
    if (table->type == VD_REAL_TYPE) {
        vd_cpu_copy_rows(vd_matrix_reals(table), table->columns, id, rows, table->columns, y,
                         table->columns);
        return;
    }
#ifndef VD_DOUBLE
    const size_t width = (size_t)table->columns;
    for (int r = 0; r < rows; r++)
        vd_cpu_widen((const uint16_t *)table->data + (size_t)id[r] * width, table->type, width,
                     y + (size_t)r * width);
#endif
}

static void embed_backward(const vd_matrix *dtable, const int32_t *id, int rows, const vd_real *dy)
{
    const size_t width = (size_t)dtable->columns;
    for (int r = 0; r < rows; r++)
        if (id[r] != VD_PAD)
            vd_cpu_add(vd_matrix_reals(dtable) + (size_t)id[r] * width, dy + (size_t)r * width,
                       width);
}

static void add_rows(const vd_real *table, const int *index, int rows, int width, vd_real *x)
{
    const size_t n = (size_t)width;
    for (size_t r = 0; r < (size_t)rows; r++)
        vd_cpu_add(x + r * n, table + (size_t)index[r] * n, n);
}

// Rows of one array that go to, or come from, rows of others.
typedef struct row_lists_job {
    const vd_real *x, *y;
    const int *x_row, *y_row;
    int rows;
    size_t width, x_stride, y_stride;
    vd_real *out;
} row_lists_job;

static inline size_t row_of(const int *list, size_t r)
{
    return list ? (size_t)list[r] : r;
}

VD_TARGET_CLONES static void multiply_range(void *data, size_t from, size_t to)
{
    const row_lists_job j = *(const row_lists_job *)data;
    for (size_t r = from; r < to; r++) {
        const vd_real *x = j.x + row_of(j.x_row, r) * j.width;
        const vd_real *y = j.y + row_of(j.y_row, r) * j.width;
        vd_real *z = j.out + r * j.width;
        VD_IVDEP for (size_t i = 0; i < j.width; i++) z[i] = x[i] * y[i];
    }
}

static void multiply_rows(const vd_real *x, const int *x_row, const vd_real *y, const int *y_row,
                          int rows, int width, vd_real *z)
{
    row_lists_job job = {
        .x = x, .y = y, .x_row = x_row, .y_row = y_row, .width = (size_t)width, .out = z};
    vd_threads_ranges((size_t)rows, 2 + width * FEW_OPERATIONS, multiply_range, &job);
}

// Columns from..to-1: several rows may go to the same.
VD_TARGET_CLONES static void multiply_columns_backward(void *data, size_t from, size_t to)
{
    const row_lists_job j = *(const row_lists_job *)data;
    for (size_t r = 0; r < (size_t)j.rows; r++) {
        const vd_real *dz = j.x + r * j.width, *y = j.y + row_of(j.y_row, r) * j.width;
        vd_real *dx = j.out + row_of(j.x_row, r) * j.width;
        VD_IVDEP for (size_t i = from; i < to; i++) dx[i] += dz[i] * y[i];
    }
}

static void multiply_rows_backward(const vd_real *dz, const vd_real *y, const int *y_row, int rows,
                                   int width, vd_real *dx, const int *x_row)
{
    row_lists_job job = {.x = dz,
                         .y = y,
                         .x_row = x_row,
                         .y_row = y_row,
                         .rows = rows,
                         .width = (size_t)width,
                         .out = dx};
    vd_threads_ranges((size_t)width, rows * FEW_OPERATIONS, multiply_columns_backward, &job);
}

static void copy_range(void *data, size_t from, size_t to)
{
    const row_lists_job *j = data;
    for (size_t r = from; r < to; r++) {
        vd_real *y = j->out + r * j->y_stride;
        if (j->x_row && j->x_row[r] < 0)
            memset(y, 0, j->width * sizeof *y);
        else
            memcpy(y, j->x + row_of(j->x_row, r) * j->x_stride, j->width * sizeof *y);
    }
}

void vd_cpu_copy_rows(const vd_real *x, int x_stride, const int *index, int rows, int width,
                      vd_real *y, int y_stride)
{
    row_lists_job job = {.x = x,
                         .x_row = index,
                         .width = (size_t)width,
                         .x_stride = (size_t)x_stride,
                         .y_stride = (size_t)y_stride,
                         .out = y};
    vd_threads_ranges((size_t)rows, 2 + width * FEW_OPERATIONS, copy_range, &job);
}

static void copy_columns_backward(void *data, size_t from, size_t to)
{
    const row_lists_job *j = data;
    for (size_t r = 0; r < (size_t)j->rows; r++)
        if (!j->x_row || j->x_row[r] >= 0)
            vd_cpu_add(j->out + row_of(j->x_row, r) * j->x_stride + from,
                       j->x + r * j->y_stride + from, to - from);
}

static void scatter_rows(const vd_real *dy, int dy_stride, const int *index, int rows, int width,
                         vd_real *dx, int dx_stride)
{
    row_lists_job job = {.x = dy,
                         .x_row = index,
                         .rows = rows,
                         .width = (size_t)width,
                         .x_stride = (size_t)dx_stride,
                         .y_stride = (size_t)dy_stride,
                         .out = dx};
    vd_threads_ranges((size_t)width, rows * FEW_OPERATIONS, copy_columns_backward, &job);
}

void vd_cpu_pointwise(vd_backend *table)
{
    table->map = map;
    table->map_backward = map_backward;
    table->add_scaled = add_scaled;
    table->multiply_rows = multiply_rows;
    table->multiply_rows_backward = multiply_rows_backward;
    table->copy_rows = vd_cpu_copy_rows;
    table->scatter_rows = scatter_rows;
    table->gated = gated;
    table->gated_backward = gated_backward;
    table->sigmoid_gate = sigmoid_gate;
    table->sigmoid_gate_backward = sigmoid_gate_backward;
    table->relu_backward = relu_backward;
    table->dropout = dropout;
    table->embed = embed;
    table->add_rows = add_rows;
    table->embed_backward = embed_backward;
}

// What happens element by element: activations, gates, dropout, embeddings.
#include "engine/backend/cpu/cpu.h"

#include <string.h>

#include "engine/backend/cpu/gemv.h"
#include "engine/base/threads.h"
#include "engine/base/elementary.h"
#include "engine/base/token.h"

VD_WIDE void vd_cpu_add(vd_real *y, const vd_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

VD_WIDE void vd_cpu_add_scaled(vd_real *y, vd_real a, const vd_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

// What an operation on many numbers needs, for its pieces.
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

VD_WIDE static void gated_row(vd_gate gate, vd_real *t, vd_real *g, vd_real *y, int n)
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

VD_WIDE static void gated_rows_backward(void *data, size_t from, size_t to)
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

VD_WIDE static void sigmoid_gate(vd_real *pre, const vd_real *x, vd_real *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pre[i] = vd_sigmoid(pre[i]);
        y[i] = pre[i] * x[i];
    }
}

VD_WIDE static void sigmoid_gate_backward(vd_real *saved, const vd_real *x, const vd_real *dy,
                                          vd_real *dx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dx[i] += dy[i] * saved[i];
        saved[i] = dy[i] * x[i] * saved[i] * (1 - saved[i]);
    }
}

VD_WIDE static void relu_range(void *data, size_t from, size_t to)
{
    vd_real *x = ((const pointwise_job *)data)->x;
    for (size_t i = from; i < to; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

static void relu(vd_real *x, size_t n)
{
    pointwise_job job = {.x = x};
    vd_threads_ranges(n, FEW_OPERATIONS, relu_range, &job);
}

VD_WIDE static void relu_range_backward(void *data, size_t from, size_t to)
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

static void add_range(void *data, size_t from, size_t to)
{
    const pointwise_job *j = data;
    vd_cpu_add(j->x + from, j->from + from, to - from);
}

static void add(vd_real *x, const vd_real *y, size_t n)
{
    pointwise_job job = {.x = x, .from = y};
    vd_threads_ranges(n, FEW_OPERATIONS, add_range, &job);
}

VD_WIDE static void drop_range(void *data, size_t from, size_t to)
{
    const pointwise_job j = *(const pointwise_job *)data;
    uint32_t threshold = vd_drop_threshold(j.rate);
    vd_real scale = 1 / (1 - j.rate);
    for (size_t i = from; i < to; i++)
        j.y[i] = vd_keep(j.key, (uint32_t)i, threshold) ? j.from[i] * scale : 0;
}

static void dropout(const vd_real *x, vd_real *y, size_t n, vd_real rate, uint64_t key)
{
    pointwise_job job = {.from = x, .y = y, .rate = rate, .key = key};
    vd_threads_ranges(n, EXPONENTIAL, drop_range, &job);
}

static void gather_rows(const vd_real *x, const int *index, int rows, int width, vd_real *y)
{
    for (int r = 0; r < rows; r++)
        memcpy(y + (size_t)r * (size_t)width, x + (size_t)index[r] * (size_t)width,
               (size_t)width * sizeof *y);
}

static void embed(const vd_matrix *table, const int32_t *id, int rows, vd_real *y)
{
    if (table->type == VD_REAL_TYPE) {
        gather_rows(vd_matrix_reals(table), id, rows, table->columns, y);
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

static void add_rows_backward(vd_real *dtable, const int *index, int rows, int width,
                              const vd_real *dx)
{
    const size_t n = (size_t)width;
    for (size_t r = 0; r < (size_t)rows; r++)
        vd_cpu_add(dtable + (size_t)index[r] * n, dx + r * n, n);
}

void vd_cpu_pointwise(vd_backend *table)
{
    table->gated = gated;
    table->gated_backward = gated_backward;
    table->sigmoid_gate = sigmoid_gate;
    table->sigmoid_gate_backward = sigmoid_gate_backward;
    table->relu = relu;
    table->relu_backward = relu_backward;
    table->add = add;
    table->dropout = dropout;
    table->gather_rows = gather_rows;
    table->embed = embed;
    table->add_rows = add_rows;
    table->add_rows_backward = add_rows_backward;
    table->embed_backward = embed_backward;
}

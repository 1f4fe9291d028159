// What happens element by element: activations, gates, dropout.
#include "cuda/device.cuh"

enum { THREADS = 256 };
static const float LEAKY_SLOPE = 0.01f;

static __global__ void gated_kernel(vd_gate gate, float *pre, float *y, int rows, int hidden,
                                    float leak)
{
    for (VD_EACH_ROW(r, rows)) {
        float *row = pre + r * 2 * hidden;
        for (VD_EACH_COLUMN(j, hidden)) {
            float t = tanhf(row[j]), g = row[hidden + j];
            if (gate == VD_GATE_LEAKY_RELU)
                g = g > 0 ? g : leak * g;
            else if (gate == VD_GATE_SIGMOID)
                g = vd_sigmoidf(g);
            else
                g = g > 0 ? g : expm1f(g);
            row[j] = t;
            row[hidden + j] = g;
            y[r * hidden + j] = t * g;
        }
    }
}

static void gated(vd_gate gate, vd_real *pre, vd_real *y, int rows, int hidden)
{
    VD_LAUNCH(gated_kernel, vd_row_grid(rows, hidden, THREADS), THREADS, gate, pre, y, rows, hidden,
              LEAKY_SLOPE);
}

static __global__ void gated_backward_kernel(vd_gate gate, float *saved, const float *dy, int rows,
                                             int hidden, float leak)
{
    for (VD_EACH_ROW(r, rows)) {
        float *row = saved + r * 2 * hidden;
        for (VD_EACH_COLUMN(j, hidden)) {
            float t = row[j], g = row[hidden + j], d = dy[r * hidden + j], slope;
            if (gate == VD_GATE_LEAKY_RELU)
                slope = g > 0 ? 1 : leak;
            else if (gate == VD_GATE_SIGMOID)
                slope = g * (1 - g);
            else
                slope = g > 0 ? 1 : g + 1;
            row[j] = d * g * (1 - t * t);
            row[hidden + j] = d * t * slope;
        }
    }
}

static void gated_backward(vd_gate gate, vd_real *saved, const vd_real *dy, int rows, int hidden)
{
    VD_LAUNCH(gated_backward_kernel, vd_row_grid(rows, hidden, THREADS), THREADS, gate, saved, dy,
              rows, hidden, LEAKY_SLOPE);
}

static __global__ void sigmoid_gate_kernel(float *pre, const float *x, float *y, size_t n)
{
    for (VD_EACH(i, n)) {
        float g = vd_sigmoidf(pre[i]);
        pre[i] = g;
        y[i] = g * x[i];
    }
}

static void sigmoid_gate(vd_real *pre, const vd_real *x, vd_real *y, size_t n)
{
    VD_LAUNCH(sigmoid_gate_kernel, vd_blocks(n, THREADS), THREADS, pre, x, y, n);
}

static __global__ void sigmoid_gate_backward_kernel(float *saved, const float *x, const float *dy,
                                                    float *dx, size_t n)
{
    for (VD_EACH(i, n)) {
        float g = saved[i];
        dx[i] += dy[i] * g;
        saved[i] = dy[i] * x[i] * g * (1 - g);
    }
}

static void sigmoid_gate_backward(vd_real *saved, const vd_real *x, const vd_real *dy, vd_real *dx,
                                  size_t n)
{
    VD_LAUNCH(sigmoid_gate_backward_kernel, vd_blocks(n, THREADS), THREADS, saved, x, dy, dx, n);
}

static __global__ void relu_kernel(float *x, size_t n)
{
    for (VD_EACH(i, n))
        x[i] = x[i] > 0 ? x[i] : 0;
}

static void relu(vd_real *x, size_t n)
{
    VD_LAUNCH(relu_kernel, vd_blocks(n, THREADS), THREADS, x, n);
}

static __global__ void relu_backward_kernel(const float *y, float *dy, size_t n)
{
    for (VD_EACH(i, n))
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

static void relu_backward(const vd_real *y, vd_real *dy, size_t n)
{
    VD_LAUNCH(relu_backward_kernel, vd_blocks(n, THREADS), THREADS, y, dy, n);
}

static __global__ void add_kernel(float *x, const float *y, size_t n)
{
    for (VD_EACH(i, n))
        x[i] += y[i];
}

static void add(vd_real *x, const vd_real *y, size_t n)
{
    VD_LAUNCH(add_kernel, vd_blocks(n, THREADS), THREADS, x, y, n);
}

static __global__ void dropout_kernel(const float *x, float *y, vd_drop drop, size_t n)
{
    for (VD_EACH(i, n)) {
        float factor = vd_drop_factor(drop, static_cast<uint32_t>(i));
        y[i] = factor != 0 ? x[i] * factor : 0;
    }
}

static void dropout(const vd_real *x, vd_real *y, size_t n, vd_real rate, uint64_t key)
{
    VD_LAUNCH(dropout_kernel, vd_blocks(n, THREADS), THREADS, x, y, vd_drop_make(rate, key), n);
}

void vd_cuda_pointwise(vd_backend *table)
{
    table->gated = gated;
    table->gated_backward = gated_backward;
    table->sigmoid_gate = sigmoid_gate;
    table->sigmoid_gate_backward = sigmoid_gate_backward;
    table->relu = relu;
    table->relu_backward = relu_backward;
    table->add = add;
    table->dropout = dropout;
}

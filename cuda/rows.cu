// Rows gathered and scattered: embeddings, positions, joined rows.
#include "cuda/device.cuh"

enum { THREADS = 256 };

static size_t elements(int rows, int width)
{
    return static_cast<size_t>(rows) * static_cast<size_t>(width);
}

static __device__ __forceinline__ size_t row_of(const int *list, size_t k)
{
    return list ? static_cast<size_t>(list[k]) : k;
}

static __global__ void embed_kernel(const float *table, const int32_t *id, int width, float *y,
                                    size_t n)
{
    for (VD_EACH(i, n))
        y[i] = table[static_cast<size_t>(id[i / width]) * width + i % width];
}

static void embed(const vd_real *table, const int32_t *id, int rows, int width, vd_real *y)
{
    size_t n = elements(rows, width);
    VD_LAUNCH(embed_kernel, vd_blocks(n, THREADS), THREADS, table, id, width, y, n);
}

// Every half is a float: the exponent is moved, subnormals are 2^-24 times a whole number.
static __device__ __forceinline__ float float_of_half(uint16_t half)
{
    uint32_t magnitude = half & 0x7fffu, bits;
    float value;
    if (magnitude < 0x400u) {
        value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;
    } else {
        bits = (magnitude << 13) + (magnitude < 0x7c00u ? 112u << 23 : 224u << 23);
        memcpy(&value, &bits, sizeof value);
    }
    return half & 0x8000u ? -value : value;
}

static __global__ void load_halves_kernel(const uint16_t *halves, size_t stride, const int32_t *row,
                                          size_t width, float *y, size_t n)
{
    for (VD_EACH(i, n))
        y[i] = float_of_half(halves[static_cast<size_t>(row[i / width]) * stride + i % width]);
}

static void load_halves(const uint16_t *halves, size_t stride, const int32_t *row, int rows,
                        size_t width, vd_real *y)
{
    size_t n = static_cast<size_t>(rows) * width;
    VD_LAUNCH(load_halves_kernel, vd_blocks(n, THREADS), THREADS, halves, stride, row, width, y, n);
}

static __global__ void embed_backward_kernel(float *dtable, const int32_t *id, int width,
                                             const float *dy, size_t n)
{
    for (VD_EACH(i, n)) {
        int32_t word = id[i / width];
        if (word != VD_PAD)
            atomicAdd(dtable + static_cast<size_t>(word) * width + i % width, dy[i]);
    }
}

static void embed_backward(vd_real *dtable, const int32_t *id, int rows, int width,
                           const vd_real *dy)
{
    size_t n = elements(rows, width);
    VD_LAUNCH(embed_backward_kernel, vd_blocks(n, THREADS), THREADS, dtable, id, width, dy, n);
}

static __global__ void add_rows_kernel(const float *table, const int *index, int width, float *x,
                                       size_t n)
{
    for (VD_EACH(i, n))
        x[i] += table[static_cast<size_t>(index[i / width]) * width + i % width];
}

static void add_rows(const vd_real *table, const int *index, int rows, int width, vd_real *x)
{
    size_t n = elements(rows, width);
    VD_LAUNCH(add_rows_kernel, vd_blocks(n, THREADS), THREADS, table, index, width, x, n);
}

static __global__ void add_rows_backward_kernel(float *dtable, const int *index, int width,
                                                const float *dx, size_t n)
{
    for (VD_EACH(i, n))
        atomicAdd(dtable + static_cast<size_t>(index[i / width]) * width + i % width, dx[i]);
}

static void add_rows_backward(vd_real *dtable, const int *index, int rows, int width,
                              const vd_real *dx)
{
    size_t n = elements(rows, width);
    VD_LAUNCH(add_rows_backward_kernel, vd_blocks(n, THREADS), THREADS, dtable, index, width, dx,
              n);
}

static __global__ void join_kernel(const float *left, const int *left_row, int l,
                                   const float *right, const int *right_row, int r, float *y,
                                   size_t n)
{
    int width = l + r;
    for (VD_EACH(i, n)) {
        size_t k = i / width;
        int column = static_cast<int>(i % width);
        y[i] = column < l ? left[row_of(left_row, k) * l + column]
                          : right[row_of(right_row, k) * r + (column - l)];
    }
}

static void join(const vd_real *left, const int *left_row, int left_size, const vd_real *right,
                 const int *right_row, int right_size, vd_real *y, int rows)
{
    size_t n = elements(rows, left_size + right_size);
    VD_LAUNCH(join_kernel, vd_blocks(n, THREADS), THREADS, left, left_row, left_size, right,
              right_row, right_size, y, n);
}

// Rows of a list may be the same, those of no list are not.
static __device__ __forceinline__ void scatter(float *to, const int *row, size_t k, int size,
                                               int column, float x)
{
    float *at = to + row_of(row, k) * size + column;
    if (row)
        atomicAdd(at, x);
    else
        *at += x;
}

static __global__ void split_add_kernel(const float *dy, float *dleft, const int *left_row, int l,
                                        float *dright, const int *right_row, int r, size_t n)
{
    int width = l + r;
    for (VD_EACH(i, n)) {
        size_t k = i / width;
        int column = static_cast<int>(i % width);
        if (column < l) {
            if (dleft)
                scatter(dleft, left_row, k, l, column, dy[i]);
        } else if (dright) {
            scatter(dright, right_row, k, r, column - l, dy[i]);
        }
    }
}

static void split_add(const vd_real *dy, int rows, vd_real *dleft, const int *left_row,
                      int left_size, vd_real *dright, const int *right_row, int right_size)
{
    size_t n = elements(rows, left_size + right_size);
    VD_LAUNCH(split_add_kernel, vd_blocks(n, THREADS), THREADS, dy, dleft, left_row, left_size,
              dright, right_row, right_size, n);
}

static __global__ void normalise_kernel(const float *x, float *y, int regions, int size, size_t n)
{
    for (VD_EACH(i, n)) {
        size_t at = i / size * regions * size + i % size;
        float sum = 0;
        for (int k = 0; k < regions; k++)
            sum += x[at + static_cast<size_t>(k) * size] * x[at + static_cast<size_t>(k) * size];
        float norm = fmaxf(sqrtf(sum), 1e-12f);
        for (int k = 0; k < regions; k++)
            y[at + static_cast<size_t>(k) * size] = x[at + static_cast<size_t>(k) * size] / norm;
    }
}

static void normalise_regions(const vd_real *x, vd_real *y, int dialogs, int regions, int size)
{
    size_t n = elements(dialogs, size);
    VD_LAUNCH(normalise_kernel, vd_blocks(n, THREADS), THREADS, x, y, regions, size, n);
}

void vd_cuda_rows(vd_backend *table)
{
    table->load_halves = load_halves;
    table->embed = embed;
    table->embed_backward = embed_backward;
    table->add_rows = add_rows;
    table->add_rows_backward = add_rows_backward;
    table->join = join;
    table->split_add = split_add;
    table->normalise_regions = normalise_regions;
}

// Rows gathered and scattered: embeddings, positions, joined rows.
#include "cuda/device.cuh"

enum { THREADS = 256 };

static void gather_rows(const vd_real *x, const int *index, int rows, int width, vd_real *y)
{
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        const float *from = x + vd_row_of(index, r) * width;
        for (VD_EACH_COLUMN(j, width))
            y[r * width + j] = from[j];
    });
}

static void embed(const vd_matrix *table, const int32_t *id, int rows, vd_real *y)
{
    gather_rows(vd_matrix_reals(table), id, rows, table->columns, y);
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

// A picture's row is long: blocks in x share it.
static __global__ void load_halves_kernel(const uint16_t *halves, size_t stride, const int32_t *row,
                                          int rows, size_t width, float *y)
{
    for (size_t r = blockIdx.y; r < static_cast<size_t>(rows); r += gridDim.y) {
        const uint16_t *from = halves + static_cast<size_t>(row[r]) * stride;
        for (VD_EACH(i, width))
            y[r * width + i] = float_of_half(from[i]);
    }
}

static void load_halves(const uint16_t *halves, size_t stride, const int32_t *row, int rows,
                        size_t width, vd_real *y)
{
    VD_LAUNCH(load_halves_kernel,
              dim3(vd_blocks(width, THREADS), static_cast<unsigned>(rows < 65535 ? rows : 65535)),
              THREADS, halves, stride, row, rows, width, y);
}

// x[index] += dy, but for the row `left_out`; rows of a list may be the same.
static void scatter_rows(float *x, const int *index, int rows, int width, const float *dy,
                         int left_out)
{
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        if (index[r] == left_out)
            return;
        float *to = x + vd_row_of(index, r) * width;
        for (VD_EACH_COLUMN(j, width))
            atomicAdd(to + j, dy[r * width + j]);
    });
}

static void embed_backward(const vd_matrix *dtable, const int32_t *id, int rows, const vd_real *dy)
{
    scatter_rows(vd_matrix_reals(dtable), id, rows, dtable->columns, dy, VD_PAD);
}

static void add_rows(const vd_real *table, const int *index, int rows, int width, vd_real *x)
{
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        const float *from = table + vd_row_of(index, r) * width;
        for (VD_EACH_COLUMN(j, width))
            x[r * width + j] += from[j];
    });
}

static void add_rows_backward(vd_real *dtable, const int *index, int rows, int width,
                              const vd_real *dx)
{
    scatter_rows(dtable, index, rows, width, dx, -1);
}

static void concat(const vd_real *left, const int *left_row, int left_size, const vd_real *right,
                   const int *right_row, int right_size, vd_real *y, int rows)
{
    int l = left_size, wide = left_size + right_size;
    vd_for_rows(__func__, rows, wide, [=] __device__(size_t k) {
        const float *from_left = left + vd_row_of(left_row, k) * l;
        const float *from_right = right + vd_row_of(right_row, k) * right_size;
        for (VD_EACH_COLUMN(j, wide))
            y[k * wide + j] = j < l ? from_left[j] : from_right[j - l];
    });
}

// A half that is not needed is not read.
static void concat_backward(const vd_real *dy, int rows, vd_real *dleft, const int *left_row,
                            int left_size, vd_real *dright, const int *right_row, int right_size)
{
    int l = left_size, wide = left_size + right_size;
    vd_for_rows(__func__, rows, wide, [=] __device__(size_t k) {
        const float *from = dy + k * wide;
        for (VD_EACH_COLUMN(j, dleft ? l : 0))
            vd_scatter(dleft + vd_row_of(left_row, k) * l + j, left_row, from[j]);
        for (VD_EACH_COLUMN(j, dright ? right_size : 0))
            vd_scatter(dright + vd_row_of(right_row, k) * right_size + j, right_row, from[l + j]);
    });
}

static void normalise_regions(const vd_real *x, vd_real *y, int dialogs, int regions, int size)
{
    size_t n = static_cast<size_t>(dialogs) * static_cast<size_t>(size);
    vd_for_each(__func__, n, [=] __device__(size_t i) {
        size_t at = i / size * regions * size + i % size;
        float sum = 0;
        for (int k = 0; k < regions; k++)
            sum += x[at + static_cast<size_t>(k) * size] * x[at + static_cast<size_t>(k) * size];
        float norm = fmaxf(sqrtf(sum), 1e-12f);
        for (int k = 0; k < regions; k++)
            y[at + static_cast<size_t>(k) * size] = x[at + static_cast<size_t>(k) * size] / norm;
    });
}

void vd_cuda_rows(vd_backend *table)
{
    table->load_halves = load_halves;
    table->gather_rows = gather_rows;
    table->embed = embed;
    table->embed_backward = embed_backward;
    table->add_rows = add_rows;
    table->add_rows_backward = add_rows_backward;
    table->concat = concat;
    table->concat_backward = concat_backward;
    table->normalise_regions = normalise_regions;
}

// Rows gathered and scattered: embeddings, positions, joined rows.
#include "cuda/device.cuh"

enum { THREADS = 256 };

// A picture's row is long: blocks in x share it.
static __global__ void load_halves_kernel(const uint16_t *halves, size_t stride, const int32_t *row,
                                          int rows, size_t width, float *y)
{
    for (size_t r = blockIdx.y; r < static_cast<size_t>(rows); r += gridDim.y) {
        const uint16_t *from = halves + static_cast<size_t>(row[r]) * stride;
        for (VD_EACH(i, width))
            y[r * width + i] = __half2float(__ushort_as_half(from[i]));
    }
}

static void load_halves(const uint16_t *halves, size_t stride, const int32_t *row, int rows,
                        size_t width, vd_real *y)
{
    VD_LAUNCH(load_halves_kernel,
              dim3(vd_blocks(width, THREADS), static_cast<unsigned>(rows < 65535 ? rows : 65535)),
              THREADS, halves, stride, row, rows, width, y);
}

void vd_cuda_copy_rows(const vd_real *x, int x_stride, const int *index, int rows, int width,
                       vd_real *y, int y_stride)
{
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        bool none = index && index[r] < 0;
        const float *from = none ? x : x + vd_row_of(index, r) * x_stride;
        for (VD_EACH_COLUMN(j, width))
            y[r * y_stride + j] = none ? 0 : from[j];
    });
}

static void scatter_rows(const vd_real *dy, int dy_stride, const int *index, int rows, int width,
                         vd_real *dx, int dx_stride)
{
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        if (index && index[r] < 0)
            return;
        float *to = dx + vd_row_of(index, r) * dx_stride;
        for (VD_EACH_COLUMN(j, width))
            vd_scatter(to + j, index, dy[r * dy_stride + j]);
    });
}

static void embed(const vd_matrix *table, const int32_t *id, int rows, vd_real *y)
{
    int width = table->columns;
    vd_cuda_copy_rows(vd_matrix_reals(table), width, id, rows, width, y, width);
}

static void embed_backward(const vd_matrix *dtable, const int32_t *id, int rows, const vd_real *dy)
{
    float *x = vd_matrix_reals(dtable);
    int width = dtable->columns;
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        if (id[r] == VD_PAD)
            return;
        float *to = x + vd_row_of(id, r) * width;
        for (VD_EACH_COLUMN(j, width))
            atomicAdd(to + j, dy[r * width + j]);
    });
}

static void add_rows(const vd_real *table, const int *index, int rows, int width, vd_real *x)
{
    vd_for_rows(__func__, rows, width, [=] __device__(size_t r) {
        const float *from = table + vd_row_of(index, r) * width;
        for (VD_EACH_COLUMN(j, width))
            x[r * width + j] += from[j];
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
    table->copy_rows = vd_cuda_copy_rows;
    table->scatter_rows = scatter_rows;
    table->embed = embed;
    table->embed_backward = embed_backward;
    table->add_rows = add_rows;
    table->normalise_regions = normalise_regions;
}

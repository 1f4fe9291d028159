// cuBLAS as CBLAS, and CUB (cuda_host.h).
#include "tests/cuda_host/private.h"

#include <cblas.h>

#include <algorithm>
#include <vector>

// A matrix as floats, column-major (rows, columns) with leading dimension ld.
static const float *floats(const void *x, cudaDataType_t type, int columns, int ld,
                           std::vector<float> *copy)
{
    if (type == CUDA_R_32F)
        return static_cast<const float *>(x);
    const uint16_t *bits = static_cast<const uint16_t *>(x);
    size_t count = static_cast<size_t>(columns) * static_cast<size_t>(ld);
    copy->resize(count);
    for (size_t i = 0; i < count; i++) {
        uint32_t wide = static_cast<uint32_t>(bits[i]) << 16;
        memcpy(copy->data() + i, &wide, sizeof wide);
    }
    return copy->data();
}

static void multiply(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, float alpha,
                     const void *a, cudaDataType_t at, int lda, const void *b, cudaDataType_t bt,
                     int ldb, float beta, float *c, int ldc)
{
    vd_host_entry entry;
    if (m <= 0 || n <= 0 || k <= 0 || ldc < m || lda < (ta == CUBLAS_OP_N ? m : k) ||
        ldb < (tb == CUBLAS_OP_N ? k : n))
        vd_host_stop("a matrix product of sizes that cuBLAS refuses");
    std::vector<float> a_copy, b_copy;
    // The last column is as long as its rows, not as its leading dimension: nothing is read beyond.
    const float *x = floats(a, at, ta == CUBLAS_OP_N ? k : m, lda, &a_copy);
    const float *y = floats(b, bt, tb == CUBLAS_OP_N ? n : k, ldb, &b_copy);
    cblas_sgemm(CblasColMajor, ta == CUBLAS_OP_N ? CblasNoTrans : CblasTrans,
                tb == CUBLAS_OP_N ? CblasNoTrans : CblasTrans, m, n, k, alpha, x, lda, y, ldb, beta,
                c, ldc);
}

cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m,
                            int n, int k, const void *alpha, const void *a, cudaDataType_t at,
                            int lda, const void *b, cudaDataType_t bt, int ldb, const void *beta,
                            void *c, cudaDataType_t ct, int ldc, cublasComputeType_t,
                            cublasGemmAlgo_t)
{
    if (ct != CUDA_R_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    float by = *static_cast<const float *>(alpha), keep = *static_cast<const float *>(beta);
    float *to = static_cast<float *>(c);
    multiply(ta, tb, m, n, k, by, a, at, lda, b, bt, ldb, keep, to, ldc);
    return CUBLAS_STATUS_SUCCESS;
}

cudaError_t cub::DeviceRadixSort::SortPairs(void *room, size_t &bytes, const uint32_t *keys,
                                            uint32_t *sorted, const int32_t *values,
                                            int32_t *sorted_values, int count, int first_bit,
                                            int end_bit, cudaStream_t)
{
    vd_host_entry entry;
    bytes = 1;
    if (first_bit != 0 || end_bit != 32)
        return cudaErrorNotSupported;
    if (!room || vd_host_is_lost())
        return vd_host_is_lost() ? cudaErrorIllegalAddress : cudaSuccess;
    std::vector<int> order(static_cast<size_t>(count));
    for (int i = 0; i < count; i++)
        order[static_cast<size_t>(i)] = i;
    std::stable_sort(order.begin(), order.end(), [=](int a, int b) { return keys[a] < keys[b]; });
    for (int i : order) {
        *sorted++ = keys[i];
        *sorted_values++ = values[i];
    }
    return cudaSuccess;
}

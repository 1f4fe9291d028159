// What the machine can do: the rates from which floors are calculated.
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <cblas.h>
#include <pthread.h>
#include <stdint.h>

#include "engine/base/alloc.h"
#include "tests/bench/bench.h"

static double gigaflops, gigabytes; // per second, both cores

static inline void *read_part(void *data)
{
    const uint64_t *from = data;
    uint64_t sum[8] = {0};
    for (size_t i = 0; i < (size_t)1 << 24; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += from[i + (size_t)k];
    return (void *)(uintptr_t)(sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^
                               sum[7]);
}

static inline void measure_machine(void)
{
    enum { SIDE = 1024, THREADS = 2, TIMES = 12 };
    size_t part = (size_t)1 << 24; // 128 MiB a thread
    uint64_t *memory = vd_alloc(THREADS * part, sizeof *memory);
    if (!memory)
        return;
    memset(memory, 1, THREADS * part * sizeof *memory);
    float *a = (float *)memory, *b = a + SIDE * SIDE, *c = b + SIDE * SIDE;
    int threads = openblas_get_num_threads();
    openblas_set_num_threads(THREADS);
    for (int i = 0; i < TIMES; i++) {
        double start = bench_now();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE, b,
                    SIDE, 0, c, SIDE);
        double rate = 2.0 * SIDE * SIDE * SIDE / (bench_now() - start) * 1e-6;
        gigaflops = rate > gigaflops ? rate : gigaflops;
    }
    openblas_set_num_threads(threads);
    for (int i = 0; i < TIMES; i++) {
        pthread_t other;
        double start = bench_now();
        if (pthread_create(&other, NULL, read_part, memory + part) != 0)
            break;
        read_part(memory);
        pthread_join(other, NULL);
        double rate = (double)(THREADS * part * sizeof *memory) / (bench_now() - start) * 1e-6;
        gigabytes = rate > gigabytes ? rate : gigabytes;
    }
    vd_free(memory);
    printf("# two threads: OpenBLAS %.0f GFLOP/s on squares of 1,024; reading memory %.1f GB/s\n",
           gigaflops, gigabytes);
}

// The least milliseconds that memory and arithmetic allow.
static inline double floor_of(double bytes, double flops)
{
    double memory = gigabytes > 0 ? bytes / gigabytes * 1e-6 : 0;
    double arithmetic = gigaflops > 0 ? flops / gigaflops * 1e-6 : 0;
    return memory > arithmetic ? memory : arithmetic;
}

#endif

#include "engine/backend/cpu/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/backend/backend.h"

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; // cblas.h

typedef void (*sgemm_call)(int order, int ta, int tb, int m, int n, int k, float alpha,
                           const float *a, int lda, const float *b, int ldb, float beta, float *c,
                           int ldc);

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static sgemm_call sgemm;
static char description[256];

static void load(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libcblas.so.3"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library && i == 0)
            snprintf(description, sizeof description, "none: %.240s", dlerror());
    }
    if (!library)
        return;
    // ISO C has no cast from object to function pointers; POSIX promises that it works.
    union {
        void *object;
        sgemm_call sgemm;
        void (*set_threads)(int);
        char *(*text)(void);
    } symbol;
    symbol.object = dlsym(library, "openblas_set_num_threads");
    if (symbol.object)
        symbol.set_threads(1); // threads are the backend's own
    symbol.object = dlsym(library, "openblas_get_config");
    const char *config = symbol.object ? symbol.text() : "BLAS";
    symbol.object = dlsym(library, "openblas_get_corename");
    const char *core = symbol.object ? symbol.text() : "an unknown processor";
    snprintf(description, sizeof description, "%s, as for %s", config, core);
    symbol.object = dlsym(library, "cblas_sgemm");
    sgemm = symbol.sgemm;
}

static void plain_sgemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *a, int lda,
                        const float *b, int ldb, float beta, float *c, int ldc)
{
    size_t row = (size_t)lda, column = (size_t)ldb;
    for (size_t i = 0; i < (size_t)m; i++)
        for (size_t j = 0; j < (size_t)n; j++) {
            float sum = 0, *to = c + i * (size_t)ldc + j;
            for (size_t p = 0; p < (size_t)k; p++)
                sum += (ta ? a[p * row + i] : a[i * row + p]) *
                       (tb ? b[j * column + p] : b[p * column + j]);
            *to = alpha * sum + (beta == 0 ? 0 : beta * *to);
        }
}

void vd_cpu_sgemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *a, int lda,
                  const float *b, int ldb, float beta, float *c, int ldc)
{
    pthread_once(&load_once, load);
    if (sgemm)
        sgemm(ROW_MAJOR, ta ? TRANSPOSED : PLAIN, tb ? TRANSPOSED : PLAIN, m, n, k, alpha, a, lda,
              b, ldb, beta, c, ldc);
    else
        plain_sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

const char *vd_backend_cpu_library(void)
{
    pthread_once(&load_once, load);
    return description;
}

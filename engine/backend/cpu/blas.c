#include "engine/backend/cpu/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/instructions.h"

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; // cblas.h

typedef void (*sgemm_call)(int order, int ta, int tb, int m, int n, int k, float alpha,
                           const float *a, int lda, const float *b, int ldb, float beta, float *c,
                           int ldc);

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static sgemm_call sgemm;
static char description[256];

// ISO C has no cast from object to function pointers; POSIX promises that it works.
typedef union symbol {
    void *object;
    sgemm_call sgemm;
    void (*set_threads)(int);
    char *(*text)(void);
} symbol;

static void *open_library(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libcblas.so.3"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library && i == 0)
            snprintf(description, sizeof description, "none: %.240s", dlerror());
    }
    return library;
}

static const char *text_of(void *library, const char *function, const char *otherwise)
{
    symbol s = {.object = dlsym(library, function)};
    return s.object ? s.text() : otherwise;
}

const char *vd_cpu_blas_core(const char *taken)
{
    // What OpenBLAS falls back to for a processor newer than itself, which has more.
    if (strcmp(taken, "Prescott") != 0 && strcmp(taken, "Core2") != 0)
        return NULL;
    switch (vd_cpu_instructions()) {
    case VD_AVX512:
        return "SkylakeX";
    case VD_AVX2:
        return "Haswell";
    default:
        return NULL;
    }
}

// Opens it again where it did not recognise the processor; it asks for its name only once.
static void *open_for_processor(void)
{
    static const char variable[] = "OPENBLAS_CORETYPE";
    void *library = open_library();
    const char *core =
        library ? vd_cpu_blas_core(text_of(library, "openblas_get_corename", "")) : NULL;
    if (!core || getenv(variable) || setenv(variable, core, 0) != 0)
        return library;
    dlclose(library);
    library = open_library();
    unsetenv(variable); // programs that this one starts choose for themselves
    return library;
}

static void load(void)
{
    void *library = open_for_processor();
    if (!library)
        return;
    symbol s = {.object = dlsym(library, "openblas_set_num_threads")};
    if (s.object)
        s.set_threads(1); // threads are the backend's own
    snprintf(description, sizeof description, "%s, as for %s",
             text_of(library, "openblas_get_config", "BLAS"),
             text_of(library, "openblas_get_corename", "an unknown processor"));
    s.object = dlsym(library, "cblas_sgemm");
    sgemm = s.sgemm;
}

static void plain_sgemm(const vd_cpu_product *p)
{
    const float *a = p->a, *b = p->b;
    size_t row = (size_t)p->lda, column = (size_t)p->ldb;
    for (size_t i = 0; i < (size_t)p->m; i++)
        for (size_t j = 0; j < (size_t)p->n; j++) {
            float sum = 0, *to = p->c + i * (size_t)p->ldc + j;
            for (size_t k = 0; k < (size_t)p->k; k++)
                sum += (p->ta ? a[k * row + i] : a[i * row + k]) *
                       (p->tb ? b[j * column + k] : b[k * column + j]);
            *to = sum + (p->beta == 0 ? 0 : p->beta * *to);
        }
}

void vd_cpu_sgemm(const vd_cpu_product *p)
{
    pthread_once(&load_once, load);
    if (sgemm)
        sgemm(ROW_MAJOR, p->ta ? TRANSPOSED : PLAIN, p->tb ? TRANSPOSED : PLAIN, p->m, p->n, p->k,
              1, p->a, p->lda, p->b, p->ldb, p->beta, p->c, p->ldc);
    else
        plain_sgemm(p);
}

const char *vd_backend_cpu_library(void)
{
    pthread_once(&load_once, load);
    return description;
}

#include "engine/backend/cpu/cpu.h"

#include <pthread.h>
#include <sys/mman.h>

static vd_backend table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *no_error(void)
{
    return NULL; // an operation on the CPU does not fail
}

static void always_float(vd_precision precision)
{
    (void)precision;
}

static void load_floats(const float *host, vd_real *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (vd_real)host[i];
}

static void load_halves(const uint16_t *halves, size_t stride, const int32_t *row, int rows,
                        size_t n, vd_real *y)
{
    for (int r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++)
            y[(size_t)r * n + i] = (vd_real)vd_half_to_float(halves[(size_t)row[r] * stride + i]);
}

static void read_floats(const vd_real *x, float *host, size_t n)
{
    for (size_t i = 0; i < n; i++)
        host[i] = (float)x[i];
}

// ---- scratch memory -----------------------------------------------------------------------------

enum { BYTES = VD_SCRATCH_FLOATS * sizeof(float) };

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

void *vd_cpu_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

void vd_cpu_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

static void release_scratch(void *memory)
{
    vd_cpu_unmap(memory, BYTES);
}

static void make_scratch_key(void)
{
    has_key = pthread_key_create(&key, release_scratch) == 0;
}

// Mapped as a whole, so that only what is used takes memory.
float *vd_cpu_scratch(size_t floats)
{
    pthread_once(&key_once, make_scratch_key);
    if (!has_key || floats > VD_SCRATCH_FLOATS)
        return NULL;
    void *memory = pthread_getspecific(key);
    if (memory || !(memory = vd_cpu_map(BYTES)))
        return memory;
    if (pthread_setspecific(key, memory) == 0)
        return memory;
    release_scratch(memory);
    return NULL;
}

// ---- the table ----------------------------------------------------------------------------------

static void fill(void)
{
    static vd_cpu_family *const families[] = {vd_cpu_matrix,    vd_cpu_pointwise, vd_cpu_lstm,
                                              vd_cpu_attention, vd_cpu_segments,  vd_cpu_normalise,
                                              vd_cpu_gru,       vd_cpu_loss,      vd_cpu_optimiser};
    table.abi = VD_BACKEND_ABI;
    table.size = sizeof table;
    table.name = "cpu";
    table.memory = &vd_memory_host;
    table.last_error = no_error;
    table.load_floats = load_floats;
    table.read_floats = read_floats;
    table.load_halves = load_halves;
    table.precision = always_float;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        families[i](&table);
}

const vd_backend *vd_backend_cpu(void)
{
    pthread_once(&once, fill);
    return &table;
}

#include "engine/cpu.h"

#include <pthread.h>

static vd_backend table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table.name = "cpu";
    vd_cpu_matrix(&table);
    vd_cpu_pointwise(&table);
    vd_cpu_lstm(&table);
    vd_cpu_attention(&table);
    vd_cpu_optimiser(&table);
}

const vd_backend *vd_backend_cpu(void)
{
    pthread_once(&once, fill);
    return &table;
}

#include "engine/backend/cpu/vector.h"

#include "engine/backend/cpu/cpu.h"

VD_WIDE void vd_cpu_add(vd_real *y, const vd_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

VD_WIDE void vd_cpu_add_scaled(vd_real *y, vd_real a, const vd_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

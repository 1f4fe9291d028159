// Sums of vectors that several families of operations use.
#ifndef VD_CPU_VECTOR_H
#define VD_CPU_VECTOR_H

#include <stddef.h>

#include "engine/base/real.h"

void vd_cpu_add(vd_real *y, const vd_real *x, size_t n);                   // y += x
void vd_cpu_add_scaled(vd_real *y, vd_real a, const vd_real *x, size_t n); // y += a x

#endif

// Memory that a thread keeps for the copies that matrix products make of their factors.
#ifndef VD_CPU_SCRATCH_H
#define VD_CPU_SCRATCH_H

#include <stddef.h>

// Large memory that is the system's again once it is released, which malloc would keep for others
// of that size. NULL when there is none.
void *vd_cpu_map(size_t bytes);
void vd_cpu_unmap(void *memory, size_t bytes); // NULL is nothing

enum { VD_SCRATCH_FLOATS = 1 << 21 };

// This thread's memory for `floats` numbers, its only user until the next call; NULL when it is
// asked for more than VD_SCRATCH_FLOATS, or there is none.
float *vd_cpu_scratch(size_t floats);

#endif

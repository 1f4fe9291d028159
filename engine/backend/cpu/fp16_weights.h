// Matrices of weights that stay in 16 bits, in the file they were mapped from.
//
// The network's operations name weights by float pointers. A block of 16-bit weights therefore gets
// addresses that would hold it as floats, of which only those are ever touched that the caller
// fills (biases and other small things): memory that is never touched costs nothing. Products
// and embeddings, which is all that reads whole matrices, look here first and read the
// 16-bit numbers instead. A float32 sum of them is what a float32 copy of the block would give.
#ifndef VD_CPU_FP16_WEIGHTS_H
#define VD_CPU_FP16_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/safetensors.h"

// Addresses of `elements` floats, zero, that stand for as many numbers of `type` (VD_F16 or
// VD_BF16) at `data`, which has to stay there. NULL when there is no room.
float *vd_cpu_halves_new(const void *data, vd_dtype type, size_t elements);
// False when block is none of these; then nothing happened.
bool vd_cpu_halves_free(float *block);

// The matrix at w: its own address and VD_F32, or where it is in 16 bits.
const void *vd_cpu_halves_find(const float *w, vd_dtype *type);

#endif

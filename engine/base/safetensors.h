// safetensors: the project's one container (weights, region features, golden numbers).
//
// File: u64 little-endian length of the header, JSON header, raw little-endian tensors.
//   header = {"__metadata__": {"key": "string", ...},
//             "tensor name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [from, to]}, ...}
// Offsets count from the end of the header; tensors must not overlap, reach past the file or leave
// gaps, and offsets must agree with dtype and shape; anything else is refused with the file, the
// tensor, what was found and what was expected. The file is mapped, not read.
#ifndef VD_SAFETENSORS_H
#define VD_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

typedef enum vd_dtype { VD_F32, VD_F16, VD_BF16, VD_F64, VD_I32, VD_I64, VD_U8 } vd_dtype;

enum { VD_MAX_DIMS = 8 };

typedef struct vd_tensor {
    const char *name; // borrowed from the file
    vd_dtype dtype;
    int dims;
    size_t shape[VD_MAX_DIMS];
    size_t elements;  // product of shape
    const void *data; // in the mapping; aligned as the file has it, so read with the calls below
} vd_tensor;

typedef struct vd_safetensors vd_safetensors;

// Maps path. On failure *out is NULL: VD_NOT_FOUND or VD_IO, VD_FORMAT for a damaged file. Close
// with vd_safetensors_close (NULL is fine).
vd_status vd_safetensors_open(const char *path, vd_safetensors **out, vd_error *err);
void vd_safetensors_close(vd_safetensors *file);

const char *vd_safetensors_path(const vd_safetensors *file);
size_t vd_safetensors_count(const vd_safetensors *file);
const vd_tensor *vd_safetensors_at(const vd_safetensors *file, size_t index);
// NULL when there is no such tensor.
const vd_tensor *vd_safetensors_find(const vd_safetensors *file, const char *name);
// NULL when there is no such key.
const char *vd_safetensors_metadata(const vd_safetensors *file, const char *key);
// The index-th pair, ordered by key; false after the last.
bool vd_safetensors_metadata_at(const vd_safetensors *file, size_t index, const char **key,
                                const char **value);
// Looks up name and checks dims and shape (expected[i] == 0 matches any); the error names the file,
// the tensor, the shape found and the one expected.
vd_status vd_safetensors_require(const vd_safetensors *file, const char *name, int dims,
                                 const size_t *expected, const vd_tensor **out, vd_error *err);

// VD_FORMAT when a number of the file's floating-point tensors is not finite: names the tensor and
// the element. Reads the whole file, about as fast as memory is read.
vd_status vd_safetensors_finite(const vd_safetensors *file, vd_error *err);

// Converts count elements from element `first` on. F32, F16, BF16 and F64 convert to float; I32 and
// I64 to int64. The caller keeps first + count <= elements.
vd_status vd_tensor_floats(const vd_tensor *tensor, size_t first, size_t count, float *out,
                           vd_error *err);
vd_status vd_tensor_ints(const vd_tensor *tensor, size_t first, size_t count, int64_t *out,
                         vd_error *err);

size_t vd_dtype_size(vd_dtype dtype);
const char *vd_dtype_name(vd_dtype dtype);
float vd_half_to_float(uint16_t half);
uint16_t vd_half_from_float(float value); // round to nearest even
// The same for many, with the processor's own instruction where it has one; `halves` of any
// alignment are read.
void vd_halves_from_floats(const float *values, size_t count, uint16_t *halves);
void vd_floats_from_halves(const void *halves, size_t count, float *values);

// Writing: declare every tensor first, then append the data of each in the order declared (in as
// many parts as needed), then commit. Nothing appears under `path` before commit: the data goes
// to a temporary file beside it, which is synced and renamed. abort (also after a failed call)
// removes the temporary file; it is safe on NULL. After a failure calls do nothing and fail with
// what failed first, commit and header too: only these need to be looked at.
typedef struct vd_safetensors_writer vd_safetensors_writer;

vd_status vd_safetensors_create(const char *path, vd_safetensors_writer **out, vd_error *err);
vd_status vd_safetensors_put_metadata(vd_safetensors_writer *writer, const char *key,
                                      const char *value, vd_error *err);
vd_status vd_safetensors_declare(vd_safetensors_writer *writer, const char *name, vd_dtype dtype,
                                 int dims, const size_t *shape, vd_error *err);
// Only the header, for callers that write the data in an order of their own: plan, metadata,
// declare, header (vd_free; its size is a multiple of `alignment`), abort. A tensor starts where
// the one declared before it ends, the first after the header. Nothing is written.
vd_status vd_safetensors_plan(const char *path, vd_safetensors_writer **out, vd_error *err);
vd_status vd_safetensors_header(vd_safetensors_writer *writer, size_t alignment, char **header,
                                size_t *size, vd_error *err);
// Raw elements of the declared dtype.
vd_status vd_safetensors_append(vd_safetensors_writer *writer, const void *data, size_t elements,
                                vd_error *err);
// Floats, stored as the current tensor's dtype (F32 or F16).
vd_status vd_safetensors_append_floats(vd_safetensors_writer *writer, const float *data,
                                       size_t elements, vd_error *err);
// Checks that every declared tensor is complete; frees the writer whether it succeeds or not.
vd_status vd_safetensors_commit(vd_safetensors_writer *writer, vd_error *err);
void vd_safetensors_abort(vd_safetensors_writer *writer);

#endif

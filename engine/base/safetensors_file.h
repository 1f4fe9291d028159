// Inside of engine/base/safetensors*.c: an open file.
#ifndef VD_SAFETENSORS_FILE_H
#define VD_SAFETENSORS_FILE_H

#include "engine/base/json_tree.h"
#include "engine/base/safetensors.h"

// The public readers' own limit on the header.
enum { VD_SAFETENSORS_LENGTH = 8, VD_SAFETENSORS_MAX_HEADER = 100 * 1000 * 1000 };

typedef struct safetensors_entry {
    vd_tensor tensor;
    size_t from, to; // data_offsets
} safetensors_entry;

typedef struct safetensors_pair {
    const char *key, *value;
} safetensors_pair;

struct vd_safetensors {
    char *path;
    void *map;
    size_t size;
    safetensors_entry *entries; // in the order of their data
    size_t count;
    const safetensors_entry **by_name;
    safetensors_pair *metadata; // by key
    size_t pairs;
    vd_json_value *header; // to which names, keys and values belong
};

// Fills header, entries and metadata from the header's JSON. Offsets and duplicate names are the
// caller's to check; what was allocated belongs to file even on failure.
vd_status vd_safetensors_read_header(vd_safetensors *file, const char *json, size_t length,
                                     vd_error *err);

#endif

// JSON through yajl, with memory from engine/base/alloc.h. yajl does not check what its allocator
// returns; here running out of memory ends the call with VD_NO_MEMORY and leaks nothing.
#ifndef VD_JSON_H
#define VD_JSON_H

#include <setjmp.h>
#include <stddef.h>

#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include "engine/base/error.h"

// What yajl holds during one call: a list of blocks, so that all can be freed when one more cannot
// be had. Begin, then `if (setjmp(memory.out_of_memory))`, then yajl; end in both cases.
typedef struct vd_json_block {
    struct vd_json_block *next, *previous;
    size_t size, padding; // what follows stays aligned to 16
} vd_json_block;

typedef struct vd_json_memory {
    vd_json_block blocks; // head of the list
    jmp_buf out_of_memory;
} vd_json_memory;

yajl_alloc_funcs vd_json_memory_begin(vd_json_memory *memory);
void vd_json_memory_end(vd_json_memory *memory);

// Reads one JSON value. `where` names the source in errors ("model.safetensors: header"), which
// also give line and column. A callback that returns 0 ends the reading; it has filled the caller's
// error and left its status in *refused. Callbacks see every level, so they refuse nesting that is
// too deep.
vd_status vd_json_read(const char *where, const char *text, size_t length,
                       const yajl_callbacks *callbacks, void *context, const vd_status *refused,
                       vd_error *err);

// Writes one JSON value: emit calls yajl_gen_*, holds no resources of its own (running out of
// memory does not return to it) and returns the first status that is not yajl_gen_status_ok. A
// string that is not UTF-8 is VD_FORMAT. *text is new (vd_free), ends with a NUL and is NULL on
// failure.
typedef yajl_gen_status (*vd_json_emit)(yajl_gen gen, void *context);
vd_status vd_json_write(const char *where, vd_json_emit emit, void *context, char **text,
                        size_t *length, vd_error *err);
// The same as a file, with a newline at its end.
vd_status vd_json_write_file(const char *path, vd_json_emit emit, void *context, vd_error *err);
// Puts JSON: vd_json_put(json, "{name: %s, at: [%d, %.9g]}", name, place, share). Brackets stand
// for themselves; other letters, digits and "_-" are a string, such as a key, but null is null;
// commas, colons and spaces are for the reader, so that a value may be put in parts. Each directive
// puts a value: %s a string, also as a key (NULL: ""); %d, %ld, %lld and %zu whole numbers; %g and
// %.<n>g a number, null where it is not finite; %hhd true or false. Returns the first status that
// is not yajl_gen_status_ok.
yajl_gen_status vd_json_put(yajl_gen json, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Put lists.
yajl_gen_status vd_json_put_texts(yajl_gen json, const char *const *texts, size_t count);
void vd_json_put_numbers(yajl_gen json, const float *values, size_t count); // of nine digits

#endif

// Whole files: read into memory; written so that they are either complete or not there.
#ifndef VD_FILE_H
#define VD_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

// Opens path for reading and checks that it is a regular file. *size gets its length. The caller
// closes *descriptor, which is -1 on failure. A missing file is VD_NOT_FOUND.
vd_status vd_file_open(const char *path, int *descriptor, size_t *size, vd_error *err);

// Reads `size` bytes from `offset` on, or up to the end of the file; *got says how many. Does not
// move the file's position, so that several threads may read one descriptor. path: for the error.
vd_status vd_file_read_at(int descriptor, const char *path, void *out, size_t size, uint64_t offset,
                          size_t *got, vd_error *err);

// For a file that is read or written once from start to end: call it after each part with the
// part's end. Every 4 MB the system is told that it need not keep the part before in memory. Large
// files then cost half the processor's time, other programs' files stay where they are, and writing
// to the disk begins at once. *told: 0 at first; threads that read one file may share it.
void vd_file_passed(int descriptor, uint64_t end, atomic_uint_fast64_t *told);

// The file with a NUL behind it (vd_free); NULL on failure. Longer than `most` bytes: VD_FORMAT.
vd_status vd_file_read(const char *path, size_t most, char **data, size_t *size, vd_error *err);

// Adding to the end of a file, which is created with this mode where it is not there. A pipe, which
// would be waited for, and what holds no bytes are VD_FORMAT; a device is fine. For reading, too.
vd_status vd_file_extend(const char *path, unsigned mode, int *descriptor, vd_error *err);
// All of it or nothing: the part of it that a full disk took is cut off again. It goes in one write
// where that is possible, so that lines of two programs do not mix.
vd_status vd_file_append(int descriptor, const char *path, const void *data, size_t size,
                         vd_error *err);

// Writing: the data goes to a temporary file, which commit syncs and renames. What was there under
// path stays until then, and its mode afterwards, too. A symbolic link is followed: the file that
// it leads to is replaced. Temporary files lie beside that one, are created and never followed, and
// are locked, so that those of killed processes are known; the next writer of the file removes
// them. A full disk is VD_IO with the path and what to do.
typedef struct vd_output vd_output;

vd_status vd_output_create(const char *path, vd_output **out, vd_error *err);
// Whether the file could be created: ask before hours of work whose result is written there.
vd_status vd_output_try(const char *path, vd_error *err);
// Refuses (VD_USAGE) an output that is also an input or another output, whatever the names: it
// would be lost. Call it before anything is written. A NULL path is skipped.
vd_status vd_output_apart(const char *const *out, size_t outs, const char *const *in, size_t ins,
                          vd_error *err);
// Refuses (VD_USAGE) an output that holds something already, unless `force`. NULL is skipped.
vd_status vd_output_fresh(const char *path, bool force, vd_error *err);
// Removes temporary files that processes left when they were killed while writing path.
void vd_output_sweep(const char *path);
vd_status vd_output_write(vd_output *output, const void *data, size_t size, vd_error *err);
// Frees output whether it succeeds or not. Fails when an earlier write did.
vd_status vd_output_commit(vd_output *output, vd_error *err);
// Removes the temporary file; safe on NULL.
void vd_output_abort(vd_output *output);
// All of this for a file of these bytes.
vd_status vd_output_file(const char *path, const void *data, size_t size, vd_error *err);

// The parts of this, for a temporary file that is kept to go on with (features/regions/import.c).
// Where path leads: itself when it is no symbolic link (vd_free).
vd_status vd_output_place(const char *path, char **place, vd_error *err);
// Opens (flags: of open, beside O_CREAT) what will replace `place`; -1 with errno on failure.
int vd_output_open(const char *temporary, const char *place, int flags);
// Syncs it, gives it the mode of what it replaces, and renames it.
vd_status vd_output_replace(int file, const char *temporary, const char *place, vd_error *err);

#endif

// Whole files: read into memory; written so that they are either complete or absent.
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

// The first, or the last, `size` bytes of a file, or all of it; *got: how many, *whole: of how
// many.
vd_status vd_file_read_start(const char *path, void *out, size_t size, size_t *got, size_t *whole,
                             vd_error *err);
vd_status vd_file_read_end(const char *path, void *out, size_t size, size_t *got, size_t *whole,
                           vd_error *err);

// For a file that is read or written once from start to end: call it after each part with the
// part's end. Every 4 MB it tells the kernel to drop the previous part from the page cache. Large
// files then take half the processor time, other files stay cached, and writing to the disk begins
// at once. *dropped: initially 0; threads that read the same file may share it.
void vd_file_passed(int descriptor, uint64_t end, atomic_uint_fast64_t *dropped);

// The file's contents, followed by a NUL (vd_free); NULL on failure. Longer than `most` bytes:
// VD_FORMAT.
vd_status vd_file_read(const char *path, size_t most, char **data, size_t *size, vd_error *err);

// Writes all bytes to a descriptor. Returns how many were written; where that is not all, errno
// says why.
size_t vd_file_write_all(int file, const void *data, size_t size);

// Opens a file for appending (and reading); it is created with this mode if it does not exist.
// VD_FORMAT: a pipe, which would block, or anything else without bytes; a device is allowed.
vd_status vd_file_extend(const char *path, unsigned mode, int *descriptor, vd_error *err);
// Appends everything or nothing: on a full disk the partial write is truncated. Uses one write if
// possible, so that lines of two programs do not mix.
vd_status vd_file_append(int descriptor, const char *path, const void *data, size_t size,
                         vd_error *err);

// Makes a directory; one that is there stays as it is. VD_IO: it cannot be made, or is a file;
// VD_NOT_FOUND: there is no directory for it.
vd_status vd_directory_make(const char *path, vd_error *err);

// Writing: the data goes to a temporary file, which commit syncs and renames. The old file stays
// until then, and its mode is kept. A symbolic link is followed: its target is replaced. Temporary
// files are in the same directory; they are never opened through links, and they are locked, so
// that files left by killed processes are recognised and removed by the next writer. A full disk is
// VD_IO with the path and what to do.
typedef struct vd_output vd_output;

vd_status vd_output_create(const char *path, vd_output **out, vd_error *err);
// Checks that the file can be created; call it before hours of work whose result goes there.
vd_status vd_output_try(const char *path, vd_error *err);
// Refuses (VD_USAGE) an output that is also an input or another output, whatever the names: it
// would be lost; and, unless `force`, one that holds something already. Call it before anything is
// written. A NULL path is skipped.
vd_status vd_output_check(const char *const *out, size_t outs, const char *const *in, size_t ins,
                          bool force, vd_error *err);
// Removes temporary files that processes left when they were killed while writing path.
void vd_output_sweep(const char *path);
vd_status vd_output_write(vd_output *output, const void *data, size_t size, vd_error *err);
// Frees output whether it succeeds or not. Fails when an earlier write did.
vd_status vd_output_commit(vd_output *output, vd_error *err);
// Removes the temporary file; safe on NULL.
void vd_output_abort(vd_output *output);
// Creates, writes and commits a file with these bytes.
vd_status vd_output_file(const char *path, const void *data, size_t size, vd_error *err);

// The parts of this, for a temporary file that is kept to be continued (features/regions/import.c).
// The target of path if it is a symbolic link, else path itself (vd_free).
vd_status vd_output_target(const char *path, char **target, vd_error *err);
// Opens the file that will replace `target` (flags: for open, added to O_CREAT); -1 with errno on
// failure.
int vd_output_open(const char *temporary, const char *target, int flags);
// Syncs it, gives it the mode of what it replaces, and renames it.
vd_status vd_output_replace(int file, const char *temporary, const char *target, vd_error *err);

#endif

#include "engine/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"

vd_status vd_file_open(const char *path, int *descriptor, size_t *size, vd_error *err)
{
    *descriptor = -1;
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return vd_error_set(err, VD_NOT_FOUND, "%s: there is no such file", path);
    if (file < 0)
        return vd_error_set(err, VD_IO, "%s: cannot be opened: %s", path, strerror(errno));
    struct stat about;
    vd_status status = VD_OK;
    if (fstat(file, &about) != 0)
        status = vd_error_set(err, VD_IO, "%s: cannot be examined: %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        status = vd_error_set(err, VD_FORMAT, "%s: is a directory; a file is expected", path);
    else if (!S_ISREG(about.st_mode))
        status =
            vd_error_set(err, VD_FORMAT, "%s: is a device or a pipe; a file is expected", path);
    if (status) {
        close(file);
        return status;
    }
    *descriptor = file;
    *size = (size_t)about.st_size;
    return VD_OK;
}

void vd_file_passed(int descriptor, uint64_t end, atomic_uint_fast64_t *told)
{
    enum { STEP = 4 << 20 };
    uint64_t last = atomic_load_explicit(told, memory_order_relaxed);
    if ((end > last ? end - last : last - end) < STEP)
        return;
    posix_fadvise(descriptor, 0, (off_t)end, POSIX_FADV_DONTNEED);
    atomic_store_explicit(told, end, memory_order_relaxed);
}

vd_status vd_file_read_at(int descriptor, const char *path, void *out, size_t size, uint64_t offset,
                          size_t *got, vd_error *err)
{
    *got = 0;
    while (*got < size) {
        ssize_t some = pread(descriptor, (char *)out + *got, size - *got, (off_t)(offset + *got));
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return vd_error_set(err, VD_IO, "%s: reading failed at byte %" PRIu64 ": %s", path,
                                offset + *got, strerror(errno));
        if (some == 0)
            break;
        *got += (size_t)some;
    }
    return VD_OK;
}

vd_status vd_file_read(const char *path, size_t most, char **data, size_t *size, vd_error *err)
{
    *data = NULL;
    int file;
    size_t length;
    vd_status status = vd_file_open(path, &file, &length, err);
    if (status)
        return status;
    if (length > most) {
        status = vd_error_set(err, VD_FORMAT, "%s: is %zu bytes long; at most %zu are expected",
                              path, length, most);
    } else if (!(*data = vd_alloc(length + 1, 1))) {
        status = vd_error_memory(err, path);
    } else {
        status = vd_file_read_at(file, path, *data, length, 0, size, err);
    }
    close(file);
    if (status) {
        vd_free(*data);
        *data = NULL;
    }
    return status;
}

// ---- writing ------------------------------------------------------------------------------------

enum { BUFFER = 1 << 16 };

struct vd_output {
    char *path, *temporary;
    int file;
    bool failed;
    size_t buffered;
    unsigned char buffer[BUFFER];
};

static vd_status write_failed(vd_output *output, const char *what, int code, vd_error *err)
{
    output->failed = true;
    const char *help = code == ENOSPC || code == EDQUOT ? "; free some space and try again" : "";
    return vd_error_set(err, VD_IO, "%s: %s failed: %s%s", output->path, what, strerror(code),
                        help);
}

static void output_free(vd_output *output)
{
    vd_free(output->temporary);
    vd_free(output->path);
    vd_free(output);
}

void vd_output_abort(vd_output *output)
{
    if (!output)
        return;
    if (output->file >= 0) {
        close(output->file);
        unlink(output->temporary);
    }
    output_free(output);
}

// A name that no other thread or process uses and no existing file has.
static vd_status open_temporary(vd_output *output, size_t room, vd_error *err)
{
    static atomic_uint counter;
    for (int tries = 0; tries < 100; tries++) {
        snprintf(output->temporary, room, "%s.%ld-%u.part", output->path, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        output->file = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->file >= 0 || errno != EEXIST)
            break;
    }
    if (output->file >= 0)
        return VD_OK;
    int code = errno;
    vd_status status = code == ENOENT || code == ENOTDIR ? VD_NOT_FOUND : VD_IO;
    return vd_error_set(err, status, "%s: cannot be created: %s%s", output->path, strerror(code),
                        status == VD_NOT_FOUND ? " (is its directory there?)" : "");
}

void vd_output_sweep(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *directory = vd_strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    DIR *entries = directory ? opendir(*directory ? directory : ".") : NULL;
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        long pid;
        int read = 0;
        size_t length = strlen(name);
        if (strncmp(entry->d_name, name, length) == 0 &&
            sscanf(entry->d_name + length, ".%ld-%*u.part%n", &pid, &read) == 1 && read > 0 &&
            !entry->d_name[length + (size_t)read] && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
    vd_free(directory);
}

vd_status vd_output_create(const char *path, vd_output **out, vd_error *err)
{
    *out = NULL;
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return vd_error_set(err, VD_IO, "%s: is there and is not a file", path);
    vd_output *output = vd_alloc(1, sizeof *output);
    if (!output)
        return vd_error_memory(err, path);
    output->file = -1;
    size_t room = strlen(path) + 64;
    output->path = vd_strdup(path);
    output->temporary = vd_alloc(room, 1);
    vd_status status = output->path && output->temporary ? open_temporary(output, room, err)
                                                         : vd_error_memory(err, path);
    if (status) {
        vd_output_abort(output);
        return status;
    }
    *out = output;
    return VD_OK;
}

vd_status vd_output_try(const char *path, vd_error *err)
{
    vd_output *output;
    vd_status status = vd_output_create(path, &output, err);
    vd_output_abort(output);
    return status;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// What the directory of a path is, and the name behind it.
static bool find_directory(const char *path, struct stat *about, const char **name)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash ? vd_strndup(path, (size_t)(slash - path) + 1) : NULL;
    bool found = (directory || !slash) && stat(directory ? directory : ".", about) == 0;
    *name = slash ? slash + 1 : path;
    vd_free(directory);
    return found;
}

// Whether two paths name one file, or would once it exists.
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    const char *name, *other;
    if (strcmp(a, b) == 0)
        return true;
    bool there = stat(a, &x) == 0, also = stat(b, &y) == 0;
    if (there || also)
        return there && also && same_inode(&x, &y);
    return find_directory(a, &x, &name) && find_directory(b, &y, &other) && same_inode(&x, &y) &&
           strcmp(name, other) == 0;
}

vd_status vd_output_apart(const char *const *out, size_t outs, const char *const *in, size_t ins,
                          vd_error *err)
{
    for (size_t o = 0; o < outs; o++) {
        for (size_t i = 0; i < ins && out[o]; i++)
            if (in[i] && same_file(out[o], in[i]))
                return vd_error_set(err, VD_USAGE,
                                    "%.300s: would overwrite %.300s, which is read; name another "
                                    "output",
                                    out[o], in[i]);
        for (size_t i = 0; i < o && out[o]; i++)
            if (out[i] && same_file(out[o], out[i]))
                return vd_error_set(err, VD_USAGE,
                                    "%.300s: would overwrite %.300s, which is written too; name "
                                    "another output",
                                    out[o], out[i]);
    }
    return VD_OK;
}

static vd_status put(vd_output *output, const unsigned char *data, size_t size, vd_error *err)
{
    while (size > 0) {
        ssize_t done = write(output->file, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return write_failed(output, "writing", errno, err);
        data += done;
        size -= (size_t)done;
    }
    return VD_OK;
}

static vd_status flush(vd_output *output, vd_error *err)
{
    size_t size = output->buffered;
    output->buffered = 0;
    return put(output, output->buffer, size, err);
}

vd_status vd_output_write(vd_output *output, const void *data, size_t size, vd_error *err)
{
    if (output->failed)
        return vd_error_set(err, VD_IO, "%s: an earlier write failed", output->path);
    if (size > BUFFER - output->buffered) {
        vd_status status = flush(output, err);
        if (status)
            return status;
    }
    if (size > BUFFER)
        return put(output, data, size, err);
    memcpy(output->buffer + output->buffered, data, size);
    output->buffered += size;
    return VD_OK;
}

// Makes the rename survive a power cut. Some file systems cannot sync a directory; that is no
// error. Overwrites path.
static void sync_directory(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[1] = '\0';
    int file = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!fsync(file);
    close(file);
}

vd_status vd_output_commit(vd_output *output, vd_error *err)
{
    if (output->failed) {
        vd_status status =
            vd_error_set(err, VD_IO, "%s: not written: an earlier write failed", output->path);
        vd_output_abort(output);
        return status;
    }
    vd_status status = flush(output, err);
    if (!status && fsync(output->file) != 0 && errno != EINVAL)
        status = write_failed(output, "writing to the disk", errno, err);
    if (!status) {
        int closed = close(output->file);
        output->file = -1;
        if (closed != 0)
            status = write_failed(output, "closing", errno, err);
        else if (rename(output->temporary, output->path) != 0)
            status = write_failed(output, "renaming the finished file", errno, err);
        if (status)
            unlink(output->temporary);
        else
            sync_directory(output->temporary);
    }
    vd_output_abort(output);
    return status;
}

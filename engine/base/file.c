#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
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

void vd_file_passed(int descriptor, uint64_t end, atomic_uint_fast64_t *dropped)
{
    enum { STEP = 4 << 20 };
    uint64_t last = atomic_load_explicit(dropped, memory_order_relaxed);
    if ((end > last ? end - last : last - end) < STEP)
        return;
    posix_fadvise(descriptor, 0, (off_t)end, POSIX_FADV_DONTNEED);
    atomic_store_explicit(dropped, end, memory_order_relaxed);
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

static vd_status read_part(const char *path, void *out, size_t size, bool end, size_t *got,
                           size_t *whole, vd_error *err)
{
    int file;
    *got = 0;
    vd_status status = vd_file_open(path, &file, whole, err);
    if (status)
        return status;
    size_t offset = end && *whole > size ? *whole - size : 0;
    status = vd_file_read_at(file, path, out, size, offset, got, err);
    close(file);
    return status;
}

vd_status vd_file_read_start(const char *path, void *out, size_t size, size_t *got, size_t *whole,
                             vd_error *err)
{
    return read_part(path, out, size, false, got, whole, err);
}

vd_status vd_file_read_end(const char *path, void *out, size_t size, size_t *got, size_t *whole,
                           vd_error *err)
{
    return read_part(path, out, size, true, got, whole, err);
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

static vd_status failed(const char *path, const char *what, int code, vd_error *err)
{
    const char *help = code == ENOSPC || code == EDQUOT ? "; free some space and try again" : "";
    return vd_error_set(err, VD_IO, "%s: %s failed: %s%s", path, what, strerror(code), help);
}

size_t vd_file_write_all(int file, const void *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t some = write(file, (const char *)data + done, size - done);
        if (some < 0 && errno == EINTR)
            continue;
        if (some == 0)
            errno = ENOSPC;
        if (some <= 0)
            break;
        done += (size_t)some;
    }
    return done;
}

// ---- adding to the end --------------------------------------------------------------------------

vd_status vd_file_extend(const char *path, unsigned mode, int *descriptor, vd_error *err)
{
    struct stat about;
    // O_NONBLOCK: opening a FIFO must not wait for a reader.
    int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int file = open(path, flags, (mode_t)mode);
    *descriptor = -1;
    if (file < 0 || fstat(file, &about) != 0) {
        vd_status status = vd_error_set(err, VD_IO, "%s: %s", path, strerror(errno));
        if (file >= 0)
            close(file);
        return status;
    }
    if (!S_ISREG(about.st_mode) && !S_ISCHR(about.st_mode)) {
        close(file);
        return vd_error_set(err, VD_FORMAT, "%s: is a pipe or a disk; a file is expected", path);
    }
    fcntl(file, F_SETFL, O_APPEND); // a terminal is waited for
    *descriptor = file;
    return VD_OK;
}

vd_status vd_file_append(int descriptor, const char *path, const void *data, size_t size,
                         vd_error *err)
{
    off_t before = lseek(descriptor, 0, SEEK_END);
    size_t done = vd_file_write_all(descriptor, data, size);
    if (done == size)
        return VD_OK;
    int why = errno;
    // Unless another program has added something meanwhile.
    if (done > 0 && before >= 0 && lseek(descriptor, 0, SEEK_END) == before + (off_t)done &&
        ftruncate(descriptor, before) != 0)
        why = errno;
    return failed(path, "writing", why, err);
}

// ---- writing ------------------------------------------------------------------------------------

vd_status vd_directory_make(const char *path, vd_error *err)
{
    struct stat about;
    if (mkdir(path, 0777) == 0 ||
        (errno == EEXIST && stat(path, &about) == 0 && S_ISDIR(about.st_mode)))
        return VD_OK;
    if (errno == EEXIST)
        return vd_error_set(err, VD_IO, "%.400s: exists and is not a directory", path);
    return vd_error_set(err, errno == ENOENT ? VD_NOT_FOUND : VD_IO, "'%.400s' cannot be made: %s",
                        path, strerror(errno));
}

// Room that a temporary name takes behind the path; how many processes may write one file at once;
// how many left-over files are looked for.
enum { BUFFER = 1 << 16, NAME = 32, TEMPORARIES = 100, SWEPT = 4, LONGEST_PATH = 4096 };

struct vd_output {
    char *path, *temporary;
    int file;
    bool failed;
    size_t buffered;
    unsigned char buffer[BUFFER];
};

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// Makes the rename survive a power cut. Some file systems cannot sync a directory; that is no
// error.
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char directory[LONGEST_PATH] = ".";
    if (slash)
        snprintf(directory, sizeof directory, "%.*s", (int)(slash - path) + 1, path);
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!fsync(file);
    close(file);
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
        unlink(output->temporary);
        close(output->file);
    }
    output_free(output);
}

vd_status vd_output_target(const char *path, char **target, vd_error *err)
{
    enum { MOST_LINKS = 40 };
    char link[LONGEST_PATH];
    ssize_t length;
    *target = vd_strdup(path);
    for (int links = 0; *target && (length = readlink(*target, link, sizeof link - 1)) >= 0;) {
        const char *slash = strrchr(*target, '/');
        link[length] = '\0';
        int directory = *link != '/' && slash ? (int)(slash - *target) + 1 : 0;
        char *next = vd_format("%.*s%s", directory, *target, link);
        vd_free(*target);
        *target = next;
        if (++links > MOST_LINKS) {
            vd_free(*target);
            *target = NULL;
            return vd_error_set(err, VD_IO, "%s: %s", path, strerror(ELOOP));
        }
    }
    return *target ? VD_OK : vd_error_memory(err, path);
}

int vd_output_open(const char *temporary, const char *target, int flags)
{
    struct stat about;
    return open(temporary, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags,
                stat(target, &about) == 0 ? 0600 : 0666);
}

vd_status vd_output_replace(int file, const char *temporary, const char *target, vd_error *err)
{
    struct stat about;
    const char *what = "writing to the disk";
    bool good = fsync(file) == 0 || errno == EINVAL;
    if (good && stat(target, &about) == 0) {
        what = "keeping the mode";
        // Where the owner cannot be kept, the group may; a file system may know neither.
        if (fchown(file, about.st_uid, about.st_gid) != 0)
            (void)!fchown(file, (uid_t)-1, about.st_gid);
        good = fchmod(file, about.st_mode & 0777) == 0 || errno == EPERM || errno == ENOTSUP;
    }
    if (good) {
        what = "renaming the finished file";
        good = rename(temporary, target) == 0;
    }
    if (!good)
        return failed(target, what, errno, err);
    sync_directory(target);
    return VD_OK;
}

static void name_temporary(const vd_output *output, int number)
{
    snprintf(output->temporary, strlen(output->path) + NAME, "%s.visdial-%d.part", output->path,
             number);
}

// The file that a killed process left has no lock. One with a lock keeps its name until it is
// unlocked, so that what is removed is the file that was looked at.
static void sweep(const char *temporary)
{
    struct stat locked, named;
    int file = open(temporary, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &locked) == 0 &&
        lstat(temporary, &named) == 0 && S_ISREG(named.st_mode) && same_inode(&locked, &named))
        unlink(temporary);
    close(file);
}

// Locks the new file, unless it was swept away before that.
static bool hold(const vd_output *output)
{
    struct stat own, named;
    return (flock(output->file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
           fstat(output->file, &own) == 0 && lstat(output->temporary, &named) == 0 &&
           same_inode(&own, &named);
}

static vd_status open_temporary(vd_output *output, vd_error *err)
{
    for (int number = 0; number < TEMPORARIES; number++) {
        name_temporary(output, number);
        output->file = vd_output_open(output->temporary, output->path, O_EXCL);
        if (output->file < 0 && errno == EEXIST)
            continue;
        if (output->file < 0 || hold(output))
            break;
        close(output->file);
        output->file = -1;
        errno = EBUSY;
    }
    if (output->file >= 0)
        return VD_OK;
    int code = errno;
    vd_status status = code == ENOENT || code == ENOTDIR ? VD_NOT_FOUND : VD_IO;
    return vd_error_set(err, status, "%s: cannot be created: %s%s", output->path, strerror(code),
                        status == VD_NOT_FOUND ? " (is its directory there?)" : "");
}

// Where `path` leads, and room for the names of temporary files beside it.
static vd_status output_new(const char *path, vd_output **out, vd_error *err)
{
    vd_output *output = vd_alloc(1, sizeof *output);
    *out = NULL;
    if (!output)
        return vd_error_memory(err, path);
    output->file = -1;
    vd_status status = vd_output_target(path, &output->path, err);
    if (!status && !(output->temporary = vd_alloc(strlen(output->path) + NAME, 1)))
        status = vd_error_memory(err, path);
    if (status)
        output_free(output);
    else
        *out = output;
    return status;
}

static void sweep_all(const vd_output *output)
{
    for (int number = 0; number < SWEPT; number++) {
        name_temporary(output, number);
        sweep(output->temporary);
    }
}

void vd_output_sweep(const char *path)
{
    vd_output *output;
    if (output_new(path, &output, NULL) != VD_OK)
        return;
    sweep_all(output);
    vd_output_abort(output);
}

vd_status vd_output_create(const char *path, vd_output **out, vd_error *err)
{
    *out = NULL;
    struct stat about;
    vd_output *output;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return vd_error_set(err, VD_IO, "%s: exists and is not a file", path);
    vd_status status = output_new(path, &output, err);
    if (status)
        return status;
    sweep_all(output);
    status = open_temporary(output, err);
    if (status)
        vd_output_abort(output);
    else
        *out = output;
    return status;
}

vd_status vd_output_try(const char *path, vd_error *err)
{
    vd_output *output;
    vd_status status = vd_output_create(path, &output, err);
    vd_output_abort(output);
    return status;
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

vd_status vd_output_check(const char *const *out, size_t outs, const char *const *in, size_t ins,
                          bool force, vd_error *err)
{
    struct stat about;
    for (size_t o = 0; o < outs; o++)
        for (size_t i = 0; i < ins + o && out[o]; i++) {
            const char *other = i < ins ? in[i] : out[i - ins];
            if (other && same_file(out[o], other))
                return vd_error_set(err, VD_USAGE,
                                    "%.300s: would overwrite %.300s, which is %s; name another "
                                    "output",
                                    out[o], other, i < ins ? "read" : "written too");
        }
    for (size_t o = 0; o < outs && !force; o++)
        if (out[o] && stat(out[o], &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
            return vd_error_set(
                err, VD_USAGE,
                "%.400s exists already; choose another name, or overwrite it with --force", out[o]);
    return VD_OK;
}

static vd_status put(vd_output *output, const unsigned char *data, size_t size, vd_error *err)
{
    output->failed = vd_file_write_all(output->file, data, size) < size;
    return output->failed ? failed(output->path, "writing", errno, err) : VD_OK;
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

vd_status vd_output_commit(vd_output *output, vd_error *err)
{
    if (output->failed) {
        vd_status status =
            vd_error_set(err, VD_IO, "%s: not written: an earlier write failed", output->path);
        vd_output_abort(output);
        return status;
    }
    vd_status status = flush(output, err);
    if (!status)
        status = vd_output_replace(output->file, output->temporary, output->path, err);
    if (!status) {
        close(output->file);
        output->file = -1;
    }
    vd_output_abort(output);
    return status;
}

vd_status vd_output_file(const char *path, const void *data, size_t size, vd_error *err)
{
    vd_output *output;
    vd_status status = vd_output_create(path, &output, err);
    if (!status)
        status = vd_output_write(output, data, size, err);
    if (!status)
        return vd_output_commit(output, err);
    vd_output_abort(output);
    return status;
}

#include "features/regions/hdf5.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "features/regions/hdf5_library.h"
#include "features/regions/source.h"

enum { MOST_PROCESSES = 4 };
// Of a reply: the rows of the largest picture. Memory is taken as far as it is used.
static const size_t ROOM = (size_t)VD_REGIONS_MOST * VD_REGIONS_WIDEST * sizeof(float);

// Another process, which reads the file with libhdf5.
typedef struct process {
    pthread_mutex_t lock; // for a request and its reply
    pid_t id;             // 0: it does not run
    int socket;
    void *room;
} process;

struct vd_hdf5 {
    char *path;
    int plain;                   // the same file, for what is read without libhdf5
    bool once;                   // it is read through once
    atomic_uint_fast64_t passed; // so far
    const char *const *names;
    bool there[16];      // of the names
    atomic_bool endless; // libhdf5 did not end on it once: it is not asked again
    size_t count;        // processes that are used
    process process[MOST_PROCESSES];
};

// ---- processes ----------------------------------------------------------------------------------

static vd_status start(const vd_hdf5 *file, process *p, vd_error *err)
{
    int ends[2];
    if (p->id > 0)
        return VD_OK;
    if (!p->room) {
        p->room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p->room == MAP_FAILED) {
            p->room = NULL;
            return vd_error_memory(err, "region features");
        }
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return vd_error_set(err, VD_IO, "%s: a socket for reading HDF5: %s", file->path,
                            strerror(errno));
    pid_t id = fork();
    if (id == 0)
        vd_hdf5_serve(file->path, ends[1], p->room);
    int why = errno;
    close(ends[1]);
    if (id < 0) {
        close(ends[0]);
        return vd_error_set(err, VD_IO, "%s: no process for reading HDF5 could be started: %s",
                            file->path, strerror(why));
    }
    p->id = id;
    p->socket = ends[0];
    return VD_OK;
}

// How it ended.
static int end(process *p)
{
    int how = 0;
    close(p->socket);
    while (waitpid(p->id, &how, 0) < 0 && errno == EINTR) {
    }
    p->id = 0;
    return how;
}

static vd_status refuse_damaged(const vd_hdf5 *file, const char *how, const char *what,
                                vd_error *err)
{
    return vd_error_set(err, VD_FORMAT,
                        "%s: cannot be read as HDF5: libhdf5 %s %s on %s; the file is damaged: "
                        "fetch or make it again",
                        file->path, vd_hdf5_library_version(), how, what);
}

static vd_status explain_end(vd_hdf5 *file, const vd_hdf5_request *r, int how, vd_error *err)
{
    char what[128] = "the file";
    if (r->count > 0)
        snprintf(what, sizeof what, "rows %zu to %zu of \"%s\"", r->first, r->first + r->count,
                 r->name);
    else if (*r->name)
        snprintf(what, sizeof what, "\"%s\"", r->name);
    int by = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    if (by == SIGKILL)
        return vd_error_set(err, VD_IO,
                            "%s: the process that was reading %s was killed; is memory short?",
                            file->path, what);
    if (by == SIGXCPU)
        atomic_store(&file->endless, true);
    return refuse_damaged(file, by == SIGXCPU ? "does not end" : "crashes", what, err);
}

// The rows of the reply are in p->room until the lock is let go.
static vd_status ask_locked(vd_hdf5 *file, process *p, const vd_hdf5_request *r,
                            vd_hdf5_reply *reply, vd_error *err)
{
    if (atomic_load(&file->endless))
        return refuse_damaged(file, "does not end", "the file", err);
    vd_status status = start(file, p, err);
    if (status != VD_OK)
        return status;
    ssize_t sent, received;
    do
        sent = send(p->socket, r, sizeof *r, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return explain_end(file, r, end(p), err);
    do
        received = recv(p->socket, reply, sizeof *reply, 0);
    while (received < 0 && errno == EINTR);
    if (received != sizeof *reply)
        return explain_end(file, r, end(p), err);
    return reply->status ? vd_error_set(err, reply->status, "%s", reply->err.text) : VD_OK;
}

// out: where the rows go (`size` bytes), NULL for none.
static vd_status ask(vd_hdf5 *file, size_t by, const vd_hdf5_request *r, vd_hdf5_reply *reply,
                     void *out, size_t size, vd_error *err)
{
    process *p = &file->process[by];
    pthread_mutex_lock(&p->lock);
    vd_status status = ask_locked(file, p, r, reply, err);
    if (status == VD_OK && out)
        memcpy(out, p->room, size);
    pthread_mutex_unlock(&p->lock);
    return status;
}

// ---- files --------------------------------------------------------------------------------------

void vd_hdf5_close(vd_hdf5 *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < MOST_PROCESSES; i++) {
        if (file->process[i].id > 0)
            end(&file->process[i]);
        if (file->process[i].room)
            munmap(file->process[i].room, ROOM);
        pthread_mutex_destroy(&file->process[i].lock);
    }
    if (file->plain >= 0)
        close(file->plain);
    vd_free(file->path);
    vd_free(file);
}

static vd_status look_for_names(vd_hdf5 *file, vd_error *err)
{
    vd_hdf5_reply reply;
    vd_hdf5_request request = {0};
    vd_status status = ask(file, 0, &request, &reply, NULL, 0, err);
    for (size_t i = 0; status == VD_OK && file->names[i]; i++) {
        snprintf(request.name, sizeof request.name, "%s", file->names[i]);
        status = ask(file, 0, &request, &reply, NULL, 0, err);
        file->there[i] = reply.there;
    }
    return status;
}

vd_status vd_hdf5_open(const char *path, const char *const *names, vd_hdf5 **out, vd_error *err)
{
    size_t size;
    *out = NULL;
    vd_status status = vd_hdf5_library_open(path, err);
    if (status != VD_OK)
        return status;
    vd_hdf5 *file = vd_alloc(1, sizeof *file);
    if (!file || !(file->path = vd_strdup(path))) {
        vd_free(file);
        return vd_error_memory(err, "an HDF5 file");
    }
    file->names = names;
    file->count = 1;
    for (size_t i = 0; i < MOST_PROCESSES; i++)
        pthread_mutex_init(&file->process[i].lock, NULL);
    status = vd_file_open(path, &file->plain, &size, err);
    if (status == VD_OK)
        status = look_for_names(file, err);
    if (status == VD_OK)
        *out = file;
    else
        vd_hdf5_close(file);
    return status;
}

vd_status vd_hdf5_prepare(vd_hdf5 *file, const vd_hdf5_table *const *tables, size_t count,
                          vd_error *err)
{
    size_t processes = 0;
    const size_t most = (size_t)vd_parallel_threads();
    bool large = false;
    for (size_t i = 0; i < count; i++) {
        if (!tables[i]->file || tables[i]->plain >= 0)
            continue;
        processes = most < MOST_PROCESSES ? most : MOST_PROCESSES;
        large = large || tables[i]->chunk > VD_HDF5_CACHE;
    }
    file->count = large ? 1 : processes;
    if (processes == 0)
        end(&file->process[0]);
    vd_status status = VD_OK;
    for (size_t i = 1; status == VD_OK && i < file->count; i++)
        status = ask(file, i, &(vd_hdf5_request){0}, &(vd_hdf5_reply){0}, NULL, 0, err);
    return status;
}

void vd_hdf5_once(vd_hdf5 *file)
{
    file->once = true;
}

bool vd_hdf5_has(const vd_hdf5 *file, const char *name)
{
    size_t i = 0;
    while (file->names[i] && strcmp(file->names[i], name) != 0)
        i++;
    return file->names[i] && file->there[i];
}

// ---- data sets ----------------------------------------------------------------------------------

vd_status vd_hdf5_table_open(vd_hdf5 *file, const char *name, int dims, vd_hdf5_table *out,
                             vd_error *err)
{
    struct stat about;
    uint64_t bytes;
    vd_hdf5_reply reply;
    vd_hdf5_request request = {.dims = dims};
    snprintf(request.name, sizeof request.name, "%s", name);
    *out = (vd_hdf5_table){.plain = -1};
    vd_status status = ask(file, 0, &request, &reply, NULL, 0, err);
    if (status != VD_OK)
        return status;
    *out = reply.table;
    out->file = file;
    if (out->plain >= 0 && (fstat(file->plain, &about) != 0 || out->plain > about.st_size ||
                            __builtin_mul_overflow(out->shape[0], 4 * (uint64_t)out->row, &bytes) ||
                            bytes > (uint64_t)(about.st_size - out->plain) || bytes != out->stored))
        out->plain = -1;
    return VD_OK;
}

// Without the library, so that threads need not wait for one another.
static vd_status read_plain(const vd_hdf5_table *table, size_t first, size_t count, void *out,
                            vd_error *err)
{
    vd_hdf5 *file = table->file;
    size_t size = count * table->row * sizeof(float), got;
    uint64_t at = (uint64_t)table->plain + (uint64_t)first * table->row * sizeof(float);
    vd_status status = vd_file_read_at(file->plain, file->path, out, size, at, &got, err);
    if (status == VD_OK && got < size)
        status = vd_error_set(err, VD_IO,
                              "%s: \"%s\": reading failed at byte %" PRIu64
                              ": the file has become shorter",
                              file->path, table->name, at + got);
    if (file->once)
        vd_file_passed(file->plain, at + got, &file->passed);
    return status;
}

static vd_status check_rows(const vd_hdf5_table *table, size_t first, size_t count, size_t number,
                            vd_error *err)
{
    if (first > table->shape[0] || count > table->shape[0] - first)
        return vd_error_set(err, VD_FORMAT, "%s: \"%s\" has %zu rows; %zu to %zu are wanted",
                            table->file->path, table->name, table->shape[0], first, first + count);
    if (table->row > 0 && count > ROOM / number / table->row)
        return vd_error_set(err, VD_FORMAT, "%s: \"%s\": rows %zu to %zu are too large",
                            table->file->path, table->name, first, first + count);
    return VD_OK;
}

// Rows of one chunk go to one process, which has unpacked it.
static vd_status read_rows(const vd_hdf5_table *table, size_t first, size_t count, bool wide,
                           void *out, vd_error *err)
{
    vd_hdf5 *file = table->file;
    vd_hdf5_reply reply;
    vd_hdf5_request request = {.dims = table->dims, .wide = wide, .first = first, .count = count};
    memcpy(request.name, table->name, sizeof request.name);
    size_t number = wide ? sizeof(double) : sizeof(float);
    vd_status status = check_rows(table, first, count, number, err);
    if (status != VD_OK || count == 0 || table->row == 0)
        return status;
    size_t by = file->count > 0 ? first / table->chunk_rows % file->count : 0;
    return ask(file, by, &request, &reply, out, count * table->row * number, err);
}

vd_status vd_hdf5_floats(const vd_hdf5_table *table, size_t first, size_t count, float *out,
                         vd_error *err)
{
    if (table->plain < 0)
        return read_rows(table, first, count, false, out, err);
    vd_status status = check_rows(table, first, count, sizeof *out, err);
    return status ? status : read_plain(table, first, count, out, err);
}

vd_status vd_hdf5_doubles(const vd_hdf5_table *table, size_t first, size_t count, double *out,
                          vd_error *err)
{
    return read_rows(table, first, count, true, out, err);
}

#include "features/regions/hdf5_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

// The library's name at run time, as the Makefile found it.
#ifndef VD_HDF5_LIBRARY
#define VD_HDF5_LIBRARY ""
#endif

// ---- the library --------------------------------------------------------------------------------

#define FUNCTIONS(X)                                                                               \
    X(H5open)                                                                                      \
    X(H5get_libversion)                                                                            \
    X(H5Eset_auto2)                                                                                \
    X(H5Ewalk2)                                                                                    \
    X(H5Fopen)                                                                                     \
    X(H5Lexists)                                                                                   \
    X(H5Dopen2)                                                                                    \
    X(H5Dclose)                                                                                    \
    X(H5Dread)                                                                                     \
    X(H5Dget_space)                                                                                \
    X(H5Dget_type)                                                                                 \
    X(H5Dget_create_plist)                                                                         \
    X(H5Dget_offset)                                                                               \
    X(H5Dget_storage_size)                                                                         \
    X(H5Tequal)                                                                                    \
    X(H5Tget_class)                                                                                \
    X(H5Tget_size)                                                                                 \
    X(H5Tclose)                                                                                    \
    X(H5Screate_simple)                                                                            \
    X(H5Sselect_hyperslab)                                                                         \
    X(H5Sget_simple_extent_ndims)                                                                  \
    X(H5Sget_simple_extent_dims)                                                                   \
    X(H5Sclose)                                                                                    \
    X(H5Pcreate)                                                                                   \
    X(H5Pset_chunk_cache)                                                                          \
    X(H5Pget_chunk)                                                                                \
    X(H5Pget_layout)                                                                               \
    X(H5Pget_external_count)                                                                       \
    X(H5Pclose)

static struct {
    void *handle;
#define X(name) __typeof__(name) *name; // NOLINT(bugprone-macro-parentheses): a declaration
    FUNCTIONS(X)
#undef X
    hid_t native_float, native_double, dataset_access;
} h5;

static char version[32];

static const char *load_number(const char *name, hid_t *out)
{
    // A program that is linked to the library itself, as a test is, has the variables.
    void *program = dlopen(NULL, RTLD_NOW);
    const hid_t *found = program ? dlsym(program, name) : NULL;
    found = found ? found : dlsym(h5.handle, name);
    if (program)
        dlclose(program);
    if (!found)
        return name;
    *out = *found;
    return NULL;
}

// The name of the first function that is missing, or NULL.
static const char *load_functions(void)
{
#define X(name)                                                                                    \
    if (!(h5.name = (__typeof__(h5.name))dlsym(h5.handle, #name)))                                 \
        return #name;
    FUNCTIONS(X)
#undef X
    if (h5.H5open() < 0)
        return "H5open";
    const char *missing = load_number("H5T_NATIVE_FLOAT_g", &h5.native_float);
    missing = missing ? missing : load_number("H5T_NATIVE_DOUBLE_g", &h5.native_double);
    return missing ? missing : load_number("H5P_CLS_DATASET_ACCESS_ID_g", &h5.dataset_access);
}

const char *vd_hdf5_library_version(void)
{
    return version;
}

static vd_status load(const char *path, vd_error *err)
{
    if (h5.handle)
        return VD_OK;
    unsigned major = 0, minor = 0, release = 0;
    h5.handle = *VD_HDF5_LIBRARY ? dlopen(VD_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!h5.handle)
        return vd_error_set(err, VD_UNAVAILABLE,
                            "%s: reading HDF5 needs libhdf5 (%s); install it (Debian: libhdf5-dev)",
                            path,
                            *VD_HDF5_LIBRARY ? dlerror() : "this program was built without it");
    const char *missing = load_functions();
    if (!missing)
        h5.H5get_libversion(&major, &minor, &release);
    snprintf(version, sizeof version, "%u.%u.%u", major, minor, release);
    if (!missing && major == H5_VERS_MAJOR && minor == H5_VERS_MINOR) {
        h5.H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // errors come back as ours, not on stderr
        return VD_OK;
    }
    vd_status status =
        missing
            ? vd_error_set(err, VD_UNAVAILABLE, "%s: %s has no %s", path, VD_HDF5_LIBRARY, missing)
            : vd_error_set(err, VD_UNAVAILABLE,
                           "%s: %s is version %s; this program was built for %d.%d", path,
                           VD_HDF5_LIBRARY, version, H5_VERS_MAJOR, H5_VERS_MINOR);
    dlclose(h5.handle);
    h5.handle = NULL;
    return status;
}

vd_status vd_hdf5_library_open(const char *path, vd_error *err)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    vd_status status = load(path, err);
    pthread_mutex_unlock(&once);
    return status;
}

// ---- errors -------------------------------------------------------------------------------------

static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *context)
{
    char *text = context;
    if (n == 0 && error->desc)
        snprintf(text, 160, "%s", error->desc);
    return 0;
}

static vd_status refuse(const char *path, const char *what, const char *name, vd_error *err)
{
    char reason[160] = "no reason given";
    h5.H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, reason);
    return vd_error_set(err, VD_FORMAT,
                        "%s: %s%s: libhdf5 says: %s; is the file damaged or cut short?", path, what,
                        name, reason);
}

// ---- data sets ----------------------------------------------------------------------------------

// An id below 0 is of what could not be opened; asked about it, or to close it, libhdf5 does
// nothing and gives no size or class.

// libhdf5 fetches memory for a damaged size of numbers, 4 GiB each, before it looks for them.
enum { MOST_TABLES = 16, MOST_NUMBER = 16 };

// What the process has open.
typedef struct opened {
    const char *path;
    hid_t file;
    double seconds; // of the processor, that a request about all of the file may take
    size_t count;
    struct {
        vd_hdf5_table table;
        hid_t id;
    } set[MOST_TABLES];
} opened;

static vd_status take_shape(const opened *o, hid_t id, int dims, vd_hdf5_table *table,
                            vd_error *err)
{
    hsize_t shape[VD_HDF5_DIMS] = {0};
    hid_t space = h5.H5Dget_space(id), type = h5.H5Dget_type(id);
    H5T_class_t class = h5.H5Tget_class(type);
    size_t size = h5.H5Tget_size(type);
    int found = h5.H5Sget_simple_extent_ndims(space);
    if (found == dims && h5.H5Sget_simple_extent_dims(space, shape, NULL) != dims)
        found = -1;
    h5.H5Tclose(type);
    h5.H5Sclose(space);
    if (found != dims)
        return vd_error_set(err, VD_FORMAT, "%s: \"%s\" has %d dimensions; %d are expected",
                            o->path, table->name, found, dims);
    if (class != H5T_FLOAT && class != H5T_INTEGER)
        return vd_error_set(err, VD_FORMAT, "%s: \"%s\" does not hold numbers", o->path,
                            table->name);
    if (size > MOST_NUMBER)
        return vd_error_set(err, VD_FORMAT,
                            "%s: numbers of %zu bytes in \"%s\"; at most %d are expected", o->path,
                            size, table->name, MOST_NUMBER);
    table->dims = dims;
    table->row = 1;
    for (int i = 0; i < dims; i++) {
        table->shape[i] = shape[i];
        if (shape[i] > INT64_MAX / 8 ||
            (i > 0 && __builtin_mul_overflow(table->row, (size_t)shape[i], &table->row)))
            return vd_error_set(err, VD_FORMAT, "%s: \"%s\" is too large", o->path, table->name);
    }
    return VD_OK;
}

// How its numbers lie in the file.
static void take_layout(hid_t id, vd_hdf5_table *table)
{
    hsize_t chunk[VD_HDF5_DIMS];
    hid_t type = h5.H5Dget_type(id), made = h5.H5Dget_create_plist(id);
    haddr_t at = HADDR_UNDEF;
    size_t size = h5.H5Tget_size(type);
    table->stored = h5.H5Dget_storage_size(id);
    if (h5.H5Tequal(type, h5.native_float) > 0 && h5.H5Pget_layout(made) == H5D_CONTIGUOUS &&
        h5.H5Pget_external_count(made) == 0)
        at = h5.H5Dget_offset(id);
    table->plain = at <= INT64_MAX ? (int64_t)at : -1;
    table->chunk_rows = 1;
    table->chunk = (double)table->row * (double)size;
    if (h5.H5Pget_layout(made) == H5D_CHUNKED &&
        h5.H5Pget_chunk(made, table->dims, chunk) == table->dims && chunk[0] > 0) {
        table->chunk_rows = chunk[0];
        table->chunk = (double)chunk[0] * (double)size;
        for (int i = 1; i < table->dims; i++) {
            hsize_t chunks = (table->shape[i] + chunk[i] - 1) / chunk[i];
            table->chunk *= (double)chunks * (double)chunk[i];
        }
    }
    h5.H5Pclose(made);
    h5.H5Tclose(type);
}

// Chunks that hold several pictures are to be decompressed once, not once a picture.
static hid_t open_set(hid_t file, const char *name, double chunk)
{
    enum { CHUNK_SLOTS = 521 };
    hid_t access = h5.H5Pcreate(h5.dataset_access);
    h5.H5Pset_chunk_cache(access, CHUNK_SLOTS, (size_t)chunk, 1.0);
    hid_t id = h5.H5Dopen2(file, name, access >= 0 ? access : H5P_DEFAULT);
    h5.H5Pclose(access);
    return id;
}

static vd_status open_table(opened *o, const char *name, int dims, vd_error *err)
{
    vd_hdf5_table *table = &o->set[o->count].table;
    *table = (vd_hdf5_table){.plain = -1};
    snprintf(table->name, sizeof table->name, "%s", name);
    if (o->count == MOST_TABLES || h5.H5Lexists(o->file, name, H5P_DEFAULT) <= 0)
        return vd_error_set(err, VD_FORMAT, "%s: there is no data set \"%s\" in it", o->path, name);
    hid_t id = open_set(o->file, name, VD_HDF5_CACHE);
    vd_status status = id < 0 ? refuse(o->path, "no data set can be opened as ", name, err)
                              : take_shape(o, id, dims, table, err);
    if (status == VD_OK)
        take_layout(id, table);
    if (status == VD_OK && table->chunk_rows > 1 && table->chunk > VD_HDF5_CACHE &&
        table->chunk < VD_HDF5_LARGEST) {
        h5.H5Dclose(id);
        id = open_set(o->file, name, table->chunk);
        status = id < 0 ? refuse(o->path, "no data set can be opened as ", name, err) : VD_OK;
    }
    if (status == VD_OK)
        o->set[o->count++].id = id;
    else
        h5.H5Dclose(id);
    return status;
}

static vd_status read_rows(const opened *o, size_t set, const vd_hdf5_request *r, void *out,
                           vd_error *err)
{
    const vd_hdf5_table *table = &o->set[set].table;
    hid_t id = o->set[set].id, type = r->wide ? h5.native_double : h5.native_float;
    hsize_t start[VD_HDF5_DIMS] = {r->first}, extent[VD_HDF5_DIMS] = {r->count};
    for (int i = 1; i < table->dims; i++)
        extent[i] = table->shape[i];
    hid_t memory = h5.H5Screate_simple(table->dims, extent, NULL), space = h5.H5Dget_space(id);
    bool good = memory >= 0 && space >= 0 &&
                h5.H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                h5.H5Dread(id, type, memory, space, H5P_DEFAULT, out) >= 0;
    char what[96];
    snprintf(what, sizeof what, "rows %zu to %zu cannot be read of ", r->first,
             r->first + r->count);
    vd_status status = good ? VD_OK : refuse(o->path, what, table->name, err);
    h5.H5Sclose(space);
    h5.H5Sclose(memory);
    return status;
}

// ---- the process --------------------------------------------------------------------------------

// Signals that a terminal or a supervisor sends to all are for the program, which goes on until its
// work is kept; the others end this process, whatever the program does with them.
static void become_server(int *socket)
{
    enum { SOCKET = 3 };
    static const int programs[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t none;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC); // for the C library's last words
    for (int i = 0; i < SOCKET && nothing >= 0; i++)
        dup2(nothing, i);
    *socket = dup2(*socket, SOCKET);
    close_range(SOCKET + 1, ~0u, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        signal(programs[i], SIG_IGN);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

// Lets libhdf5 compute so long and no longer: on damaged files it may go round in circles.
static void limit_processor(double seconds)
{
    struct rusage used;
    struct rlimit limit;
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_CPU, &limit);
    rlim_t until = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 2 + (time_t)seconds);
    limit.rlim_cur = until < limit.rlim_max ? until : limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}

// That reading these rows may take: an old machine unpacks 8 MB a second, and what it unpacks
// cannot have been smaller than deflate makes it.
static double seconds_of(const opened *o, const vd_hdf5_table *table, const vd_hdf5_request *r)
{
    const double speed = 8e6, deflated = 1032;
    size_t from = r->first / table->chunk_rows, to = (r->first + r->count - 1) / table->chunk_rows;
    double bytes = (double)(to - from + 1) * table->chunk, most = deflated * (double)table->stored;
    return o->seconds + (bytes < most ? bytes : most) / speed;
}

static vd_status open_file(opened *o, vd_error *err)
{
    struct stat about = {0};
    if (o->file >= 0)
        return VD_OK;
    stat(o->path, &about);
    o->seconds = 5 + (double)about.st_size / 1e9;
    limit_processor(o->seconds);
    o->file = h5.H5Fopen(o->path, 0 /* read only */, H5P_DEFAULT);
    return o->file >= 0 ? VD_OK : refuse(o->path, "cannot be opened as HDF5", "", err);
}

static vd_status answer(opened *o, const vd_hdf5_request *r, void *room, vd_hdf5_reply *reply)
{
    size_t set = 0;
    vd_error *err = &reply->err;
    vd_status status = open_file(o, err);
    if (status != VD_OK || !*r->name)
        return status;
    limit_processor(o->seconds);
    if (r->dims == 0) {
        reply->there = h5.H5Lexists(o->file, r->name, H5P_DEFAULT) > 0;
        return VD_OK;
    }
    while (set < o->count && strcmp(o->set[set].table.name, r->name) != 0)
        set++;
    if (set == o->count && (status = open_table(o, r->name, r->dims, err)))
        return status;
    reply->table = o->set[set].table;
    if (r->count == 0)
        return VD_OK;
    limit_processor(seconds_of(o, &reply->table, r));
    return read_rows(o, set, r, room, err);
}

_Noreturn void vd_hdf5_serve(const char *path, int socket, void *room)
{
    opened o = {.path = path, .file = -1};
    vd_hdf5_request request;
    become_server(&socket);
    for (;;) {
        ssize_t got = recv(socket, &request, sizeof request, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != sizeof request)
            _exit(0);
        vd_hdf5_reply reply = {.table.plain = -1};
        reply.status = answer(&o, &request, room, &reply);
        if (send(socket, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply)
            _exit(0);
    }
}

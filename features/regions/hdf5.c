#include "features/regions/hdf5.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hdf5.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"

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
    X(H5Fclose)                                                                                    \
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
    X(H5Tclose)                                                                                    \
    X(H5Screate_simple)                                                                            \
    X(H5Sselect_hyperslab)                                                                         \
    X(H5Sget_simple_extent_ndims)                                                                  \
    X(H5Sget_simple_extent_dims)                                                                   \
    X(H5Sclose)                                                                                    \
    X(H5Pcreate)                                                                                   \
    X(H5Pset_chunk_cache)                                                                          \
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

// The library keeps state for the whole process, and Debian builds it without locks.
static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;

void vd_hdf5_lock(void)
{
    pthread_mutex_lock(&library);
}

void vd_hdf5_unlock(void)
{
    pthread_mutex_unlock(&library);
}

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
    if (!missing && major == H5_VERS_MAJOR && minor == H5_VERS_MINOR) {
        h5.H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // errors come back as ours, not on stderr
        return VD_OK;
    }
    vd_status status =
        missing
            ? vd_error_set(err, VD_UNAVAILABLE, "%s: %s has no %s", path, VD_HDF5_LIBRARY, missing)
            : vd_error_set(err, VD_UNAVAILABLE,
                           "%s: %s is version %u.%u; this program was built for %d.%d", path,
                           VD_HDF5_LIBRARY, major, minor, H5_VERS_MAJOR, H5_VERS_MINOR);
    dlclose(h5.handle);
    h5.handle = NULL;
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

struct vd_hdf5 {
    char *path;
    hid_t id;
    int plain;                   // the same file, for what is read without libhdf5
    bool once;                   // it is read through once
    atomic_uint_fast64_t passed; // so far
};

static vd_status refuse(const char *path, const char *what, const char *name, vd_error *err)
{
    char reason[160] = "no reason given";
    h5.H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, reason);
    return vd_error_set(err, VD_FORMAT,
                        "%s: %s%s: libhdf5 says: %s; is the file damaged or cut "
                        "short?",
                        path, what, name, reason);
}

// ---- files --------------------------------------------------------------------------------------

void vd_hdf5_close(vd_hdf5 *file)
{
    if (!file)
        return;
    if (file->id >= 0)
        h5.H5Fclose(file->id);
    if (file->plain >= 0)
        close(file->plain);
    vd_free(file->path);
    vd_free(file);
}

static vd_status open_file(const char *path, vd_hdf5 **out, vd_error *err)
{
    size_t size;
    vd_hdf5 *file = vd_alloc(1, sizeof *file);
    if (!file || !(file->path = vd_strdup(path))) {
        vd_free(file);
        return vd_error_memory(err, "an HDF5 file");
    }
    file->id = -1;
    vd_status status = vd_file_open(path, &file->plain, &size, err);
    if (status == VD_OK && (file->id = h5.H5Fopen(path, 0 /* read only */, H5P_DEFAULT)) < 0)
        status = refuse(path, "cannot be opened as HDF5", "", err);
    if (status == VD_OK)
        *out = file;
    else
        vd_hdf5_close(file);
    return status;
}

void vd_hdf5_once(vd_hdf5 *file)
{
    file->once = true;
}

bool vd_hdf5_has(const vd_hdf5 *file, const char *name)
{
    return h5.H5Lexists(file->id, name, H5P_DEFAULT) > 0;
}

// ---- data sets ----------------------------------------------------------------------------------

static vd_status take_shape(vd_hdf5_table *table, int dims, vd_error *err)
{
    hsize_t shape[VD_HDF5_DIMS] = {0};
    hid_t space = h5.H5Dget_space(table->id), type = h5.H5Dget_type(table->id);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : h5.H5Tget_class(type);
    int found = space < 0 ? -1 : h5.H5Sget_simple_extent_ndims(space);
    if (found == dims && h5.H5Sget_simple_extent_dims(space, shape, NULL) != dims)
        found = -1;
    if (type >= 0)
        h5.H5Tclose(type);
    if (space >= 0)
        h5.H5Sclose(space);
    if (found != dims)
        return vd_error_set(err, VD_FORMAT, "%s: \"%s\" has %d dimensions; %d are expected",
                            table->file->path, table->name, found, dims);
    if (class != H5T_FLOAT && class != H5T_INTEGER)
        return vd_error_set(err, VD_FORMAT, "%s: \"%s\" does not hold numbers", table->file->path,
                            table->name);
    table->dims = dims;
    table->row = 1;
    for (int i = 0; i < dims; i++) {
        table->shape[i] = shape[i];
        if (shape[i] > INT64_MAX / 8 ||
            (i > 0 && __builtin_mul_overflow(table->row, (size_t)shape[i], &table->row)))
            return vd_error_set(err, VD_FORMAT, "%s: \"%s\" is too large", table->file->path,
                                table->name);
    }
    return VD_OK;
}

// Offset of the numbers in the file if they are contiguous there and floats of this machine; else
// -1.
static int64_t find_plain(const vd_hdf5_table *table)
{
    struct stat about;
    uint64_t bytes;
    hid_t type = h5.H5Dget_type(table->id), made = h5.H5Dget_create_plist(table->id);
    haddr_t at = HADDR_UNDEF;
    if (type >= 0 && made >= 0 && h5.H5Tequal(type, h5.native_float) > 0 &&
        h5.H5Pget_layout(made) == H5D_CONTIGUOUS && h5.H5Pget_external_count(made) == 0)
        at = h5.H5Dget_offset(table->id);
    if (made >= 0)
        h5.H5Pclose(made);
    if (type >= 0)
        h5.H5Tclose(type);
    bool all = at != HADDR_UNDEF && fstat(table->file->plain, &about) == 0 &&
               !__builtin_mul_overflow(table->shape[0], 4 * (uint64_t)table->row, &bytes) &&
               at <= (uint64_t)about.st_size && bytes <= (uint64_t)about.st_size - at &&
               bytes == table->stored;
    return all ? (int64_t)at : -1;
}

void vd_hdf5_table_close(vd_hdf5_table *table)
{
    if (table->id > 0)
        h5.H5Dclose(table->id);
    *table = (vd_hdf5_table){0};
}

vd_status vd_hdf5_table_open(vd_hdf5 *file, const char *name, int dims, vd_hdf5_table *out,
                             vd_error *err)
{
    // Chunks that hold several pictures are to be decompressed once, not once a picture.
    enum { CHUNK_SLOTS = 521, CHUNK_CACHE = 64 << 20 };
    *out = (vd_hdf5_table){.file = file, .plain = -1};
    snprintf(out->name, sizeof out->name, "%s", name);
    if (!vd_hdf5_has(file, name))
        return vd_error_set(err, VD_FORMAT, "%s: there is no data set \"%s\" in it", file->path,
                            name);
    hid_t access = h5.H5Pcreate(h5.dataset_access);
    if (access >= 0)
        h5.H5Pset_chunk_cache(access, CHUNK_SLOTS, CHUNK_CACHE, 1.0);
    hid_t id = h5.H5Dopen2(file->id, name, access >= 0 ? access : H5P_DEFAULT);
    if (access >= 0)
        h5.H5Pclose(access);
    if (id < 0)
        return refuse(file->path, "no data set can be opened as ", name, err);
    out->id = id;
    vd_status status = take_shape(out, dims, err);
    out->stored = h5.H5Dget_storage_size(id);
    if (status == VD_OK)
        out->plain = find_plain(out);
    else
        vd_hdf5_table_close(out);
    return status;
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

static vd_status check_rows(const vd_hdf5_table *table, size_t first, size_t count, vd_error *err)
{
    if (first <= table->shape[0] && count <= table->shape[0] - first)
        return VD_OK;
    return vd_error_set(err, VD_FORMAT, "%s: \"%s\" has %zu rows; %zu to %zu are wanted",
                        table->file->path, table->name, table->shape[0], first, first + count);
}

static vd_status read_rows(const vd_hdf5_table *table, size_t first, size_t count, hid_t type,
                           void *out, vd_error *err)
{
    vd_status status = check_rows(table, first, count, err);
    if (status != VD_OK || count == 0)
        return status;
    hsize_t start[VD_HDF5_DIMS] = {first}, extent[VD_HDF5_DIMS] = {count};
    for (int i = 1; i < table->dims; i++)
        extent[i] = table->shape[i];
    hid_t memory = h5.H5Screate_simple(table->dims, extent, NULL);
    hid_t space = h5.H5Dget_space(table->id);
    bool good = memory >= 0 && space >= 0 &&
                h5.H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                h5.H5Dread(table->id, type, memory, space, H5P_DEFAULT, out) >= 0;
    char what[96];
    snprintf(what, sizeof what, "rows %zu to %zu cannot be read of ", first, first + count);
    status = good ? VD_OK : refuse(table->file->path, what, table->name, err);
    if (space >= 0)
        h5.H5Sclose(space);
    if (memory >= 0)
        h5.H5Sclose(memory);
    return status;
}

vd_status vd_hdf5_floats(const vd_hdf5_table *table, size_t first, size_t count, float *out,
                         vd_error *err)
{
    if (table->plain >= 0) {
        vd_status checked = check_rows(table, first, count, err);
        return checked ? checked : read_plain(table, first, count, out, err);
    }
    pthread_mutex_lock(&library);
    vd_status status = read_rows(table, first, count, h5.native_float, out, err);
    pthread_mutex_unlock(&library);
    return status;
}

vd_status vd_hdf5_doubles(const vd_hdf5_table *table, size_t first, size_t count, double *out,
                          vd_error *err)
{
    return read_rows(table, first, count, h5.native_double, out, err);
}

// ---- damaged files ------------------------------------------------------------------------------

// All that is asked of a data set later: its shape, its type, where its pieces lie, a row.
static void try_table(vd_hdf5 *file, const char *name)
{
    enum { WIDEST = 1 << 20 };
    vd_hdf5_table table;
    for (int dims = 1; dims < VD_HDF5_DIMS; dims++) {
        if (vd_hdf5_table_open(file, name, dims, &table, NULL) != VD_OK)
            continue;
        double *row = table.row <= WIDEST ? vd_alloc(table.row, sizeof *row) : NULL;
        if (row && table.shape[0] > 0) {
            vd_hdf5_doubles(&table, 0, 1, row, NULL);
            vd_hdf5_doubles(&table, table.shape[0] - 1, 1, row, NULL);
        }
        vd_free(row);
        vd_hdf5_table_close(&table);
    }
}

// In another process: it ends with 0 unless libhdf5 ends it.
static _Noreturn void try_file(const char *path, const char *const *names)
{
    enum { PROCESSOR_SECONDS = 5, SECONDS = 60 };
    int nothing =
        open("/dev/null", O_WRONLY | O_CLOEXEC); // for what the C library prints when it aborts
    if (nothing >= 0)
        dup2(nothing, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){PROCESSOR_SECONDS, PROCESSOR_SECONDS + 1});
    static const int signals[] = {SIGALRM, SIGXCPU, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    alarm(SECONDS);
    vd_hdf5 *file = NULL;
    if (open_file(path, &file, NULL) == VD_OK)
        for (; *names; names++)
            try_table(file, *names);
    vd_hdf5_close(file);
    _exit(0);
}

static vd_status expect_survival(const char *path, const char *const *names, vd_error *err)
{
    unsigned major = 0, minor = 0, release = 0;
    int how = 0;
    pid_t ended, child = fork();
    if (child == 0)
        try_file(path, names);
    do
        ended = child < 0 ? child : waitpid(child, &how, 0);
    while (ended < 0 && errno == EINTR && child > 0);
    // A process that did not start, or ran out of time, has not crashed.
    if (ended < 0 || how == 0 || (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM))
        return VD_OK;
    h5.H5get_libversion(&major, &minor, &release);
    return vd_error_set(err, VD_FORMAT,
                        "%s: cannot be opened as HDF5: libhdf5 %u.%u.%u %s on it; the file is "
                        "damaged: fetch or make it again",
                        path, major, minor, release,
                        WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU ? "does not end" : "crashes");
}

vd_status vd_hdf5_open(const char *path, const char *const *names, vd_hdf5 **out, vd_error *err)
{
    *out = NULL;
    vd_status status = load(path, err);
    if (status == VD_OK)
        status = expect_survival(path, names, err);
    return status == VD_OK ? open_file(path, out, err) : status;
}

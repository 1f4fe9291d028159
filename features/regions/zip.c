#include "features/regions/parts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <zip.h>

// The library's name at run time, as the Makefile found it.
#ifndef VD_ZIP_LIBRARY
#define VD_ZIP_LIBRARY ""
#endif

#define FUNCTIONS(X)                                                                               \
    X(zip_open)                                                                                    \
    X(zip_discard)                                                                                 \
    X(zip_stat)                                                                                    \
    X(zip_fopen)                                                                                   \
    X(zip_fread)                                                                                   \
    X(zip_fclose)                                                                                  \
    X(zip_error_init_with_code)                                                                    \
    X(zip_error_strerror)                                                                          \
    X(zip_error_fini)

static struct {
    void *handle;
#define X(name) __typeof__(name) *name; // NOLINT(bugprone-macro-parentheses): a declaration
    FUNCTIONS(X)
#undef X
} zip;

static bool load_functions(void)
{
#define X(name)                                                                                    \
    if (!(zip.name = (__typeof__(zip.name))dlsym(zip.handle, #name)))                              \
        return false;
    FUNCTIONS(X)
#undef X
    return true;
}

static char why_not[256]; // in the loader's words

static void load_library(void)
{
    if (!*VD_ZIP_LIBRARY) {
        snprintf(why_not, sizeof why_not, "this program was built without libzip");
        return;
    }
    zip.handle = dlopen(VD_ZIP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (zip.handle && load_functions())
        return;
    snprintf(why_not, sizeof why_not, "%s", dlerror());
    if (zip.handle)
        dlclose(zip.handle);
    zip.handle = NULL;
}

static vd_status load(const char *path, vd_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    if (zip.handle)
        return VD_OK;
    return vd_error_set(err, VD_UNAVAILABLE,
                        "%s: reading npz needs libzip (%s); install it (Debian: libzip-dev)", path,
                        why_not);
}

static vd_status refuse_archive(const char *path, int code, vd_error *err)
{
    zip_error_t error;
    zip.zip_error_init_with_code(&error, code);
    vd_status status = vd_error_set(err, code == ZIP_ER_NOENT ? VD_NOT_FOUND : VD_FORMAT,
                                    "%s: cannot be opened as npz (a zip file): %s", path,
                                    zip.zip_error_strerror(&error));
    zip.zip_error_fini(&error);
    return status;
}

static vd_status read_entry(zip_file_t *file, const char *path, const char *entry, void *out,
                            size_t size, size_t whole, size_t *got, vd_error *err)
{
    while (*got < size) {
        zip_int64_t some = zip.zip_fread(file, (char *)out + *got, size - *got);
        if (some < 0)
            return vd_error_set(err, VD_FORMAT, "%s: %s: its data is damaged at byte %zu", path,
                                entry, *got);
        if (some == 0)
            break;
        *got += (size_t)some;
    }
    char more;
    // At the end libzip compares the checksum.
    if ((*got < size || *got >= whole) && zip.zip_fread(file, &more, 1) != 0)
        return vd_error_set(err, VD_FORMAT, "%s: %s: its checksum is wrong", path, entry);
    return VD_OK;
}

vd_status vd_zip_read(const char *path, const char *entry, void *out, size_t size, size_t *got,
                      size_t *whole, vd_error *err)
{
    int code = 0;
    zip_stat_t about;
    *got = *whole = 0;
    vd_status status = load(path, err);
    if (status != VD_OK)
        return status;
    zip_t *archive = zip.zip_open(path, ZIP_RDONLY, &code);
    if (!archive)
        return refuse_archive(path, code, err);
    zip_file_t *file = NULL;
    if (zip.zip_stat(archive, entry, 0, &about) != 0 || !(about.valid & ZIP_STAT_SIZE))
        status = VD_NOT_FOUND;
    else if (!(file = zip.zip_fopen(archive, entry, 0)))
        status = vd_error_set(err, VD_FORMAT, "%s: %s cannot be opened; is the file damaged?", path,
                              entry);
    else
        status = read_entry(file, path, entry, out, size, about.size, got, err);
    if (status == VD_OK)
        *whole = about.size;
    if (file)
        zip.zip_fclose(file);
    zip.zip_discard(archive);
    return status;
}

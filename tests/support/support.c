#include "tests/support/support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"

static void *ensure(void *pointer, const char *what)
{
    if (!pointer) {
        fprintf(stderr, "test support: %s: %s\n", what, strerror(errno));
        exit(2);
    }
    return pointer;
}

char *support_temp_dir(void)
{
    const char *base = getenv("TMPDIR");
    char *name = support_join(base && *base ? base : "/tmp", "visdial-test-XXXXXX");
    ensure(mkdtemp(name), name);
    return name;
}

void support_remove_tree(const char *path)
{
    struct stat about;
    if (lstat(path, &about) != 0) {
        if (errno != ENOENT)
            ensure(NULL, path);
        return;
    }
    if (S_ISDIR(about.st_mode)) {
        DIR *handle = ensure(opendir(path), path);
        for (struct dirent *entry; (entry = readdir(handle));) {
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                continue;
            char *inner = support_join(path, entry->d_name);
            support_remove_tree(inner);
            free(inner);
        }
        closedir(handle);
    }
    if (remove(path) != 0)
        ensure(NULL, path);
}

char *support_join(const char *directory, const char *name)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = ensure(malloc(size), "path");
    snprintf(path, size, "%s/%s", directory, name);
    return path;
}

size_t support_count_entries(const char *directory)
{
    DIR *handle = ensure(opendir(directory), directory);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(handle));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(handle);
    return count;
}

// Written over, not emptied first: some file systems flush a file that was emptied, and fuzzing
// rewrites one thousands of times.
void support_write_file(const char *path, const void *data, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        ensure(NULL, path);
    for (size_t done = 0; done < size;) {
        ssize_t piece = write(file, (const char *)data + done, size - done);
        if (piece <= 0)
            ensure(NULL, path);
        done += (size_t)piece;
    }
    if (ftruncate(file, (off_t)size) != 0 || close(file) != 0)
        ensure(NULL, path);
}

void support_write_text(const char *path, const char *text)
{
    support_write_file(path, text, strlen(text));
}

char *support_read_file(const char *path, size_t *size)
{
    FILE *file = ensure(fopen(path, "rb"), path);
    size_t used = 0, room = 1 << 16;
    char *data = ensure(malloc(room), path);
    for (size_t got; (got = fread(data + used, 1, room - used - 1, file)) > 0;) {
        used += got;
        if (used + 1 == room)
            data = ensure(realloc(data, room *= 2), path);
    }
    if (ferror(file))
        ensure(NULL, path);
    fclose(file);
    data[used] = '\0';
    if (size)
        *size = used;
    return data;
}

bool support_exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

double support_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + (double)now.tv_nsec / 1e6;
}

const char *support_shared(const char *relative)
{
    static char paths[4][4096];
    static int next;
    if (!support_exists("../shared"))
        support_skip("../shared");
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "../shared/%s", relative);
    if (access(path, R_OK) != 0)
        ensure(NULL, path);
    return path;
}

void support_skip(const char *missing)
{
    printf("MISSING: %s\n", missing);
    skip();
    abort(); // skip() does not return
}

size_t support_fail_each_allocation(support_call call, void *context)
{
    for (size_t n = 1;; n++) {
        vd_error err = {0};
        vd_alloc_fail_at(n);
        vd_status status = call(context, &err);
        size_t made = vd_alloc_fail_at(0);
        // A call that made fewer allocations than n never met the failure.
        if (made < n) {
            if (status != VD_OK) {
                fprintf(stderr, "with all its memory: %d: %s\n", status, err.text);
                exit(1);
            }
            return n - 1;
        }
        if (status != VD_NO_MEMORY || err.status != VD_NO_MEMORY || !err.text[0]) {
            fprintf(stderr, "allocation %zu failed, the call said: %d: %s\n", n, status, err.text);
            exit(1);
        }
    }
}

void support_refused(vd_status status, vd_status expected, const vd_error *err, ...)
{
    bool fine = status == expected && err->status == expected;
    va_list parts;
    va_start(parts, err);
    for (const char *part; (part = va_arg(parts, const char *));)
        fine = fine && strstr(err->text, part);
    va_end(parts);
    if (fine)
        return;
    fprintf(stderr, "expected status %d and these words:", expected);
    va_start(parts, err);
    for (const char *part; (part = va_arg(parts, const char *));)
        fprintf(stderr, " [%s]", part);
    va_end(parts);
    fprintf(stderr, "\n   found status %d: %s\n", status, err->text);
    exit(1);
}

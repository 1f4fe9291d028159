// A library to be preloaded (LD_PRELOAD) that makes one allocation of a program fail, in its own
// code or in a library's: number $FAULT_AT, counted from main() on. How many there were in all is
// written to the file $FAULT_COUNT when the process ends. For tests/faults/run.
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Names of glibc itself, behind malloc and the others.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void),
                           void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

static atomic_bool counting;
static atomic_long allocations;
static long fails_at;
static pid_t process; // its children count for themselves and write nothing
static main_function *real_main;

static bool fails(void)
{
    if (!atomic_load(&counting) || atomic_fetch_add(&allocations, 1) + 1 != fails_at)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *memory = fails() ? NULL : __libc_memalign(alignment, size);
    if (!memory)
        return ENOMEM;
    *out = memory;
    return 0;
}

static void report(void)
{
    const char *path = getenv("FAULT_COUNT");
    atomic_store(&counting, false);
    FILE *file = path && getpid() == process ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", atomic_load(&allocations));
        fclose(file);
    }
}

static int counted_main(int argc, char **argv, char **environment)
{
    const char *at = getenv("FAULT_AT");
    fails_at = at ? strtol(at, NULL, 10) : 0;
    process = getpid();
    atexit(report);
    atomic_store(&counting, true);
    return real_main(argc, argv, environment);
}

start_function __libc_start_main;
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_function *start = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

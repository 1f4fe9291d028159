// A library to be preloaded (LD_PRELOAD) with which every read and write of a program's own code
// moves fewer bytes than asked for, and every third is interrupted before it moves any, as the
// kernel may do at any time. For tests/faults/run.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread unsigned calls;

static int interrupted(void)
{
    errno = EINTR;
    return ++calls % 3 == 0;
}

static size_t fewer(size_t size)
{
    return size > 1 ? 1 + calls * 7919u % (size < 4096 ? size - 1 : 4095) : size;
}

ssize_t read(int file, void *bytes, size_t size)
{
    return interrupted() ? -1 : syscall(SYS_read, file, bytes, fewer(size));
}

ssize_t pread(int file, void *bytes, size_t size, off_t at)
{
    return interrupted() ? -1 : syscall(SYS_pread64, file, bytes, fewer(size), at);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    return interrupted() ? -1 : syscall(SYS_write, file, bytes, fewer(size));
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    return interrupted() ? -1 : syscall(SYS_pwrite64, file, bytes, fewer(size), at);
}

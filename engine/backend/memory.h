// The memory a backend's operations read and write: the host's own on the CPU, a device's
// elsewhere. Nothing but a backend's operations and these functions may touch it.
#ifndef VD_MEMORY_H
#define VD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct vd_memory {
    // The host's own: its processors run the operations, nothing has to be copied to them.
    bool host;
    void *(*allocate)(
        size_t bytes);             // aligned to 64, contents undefined; NULL when there is no more
    void (*release)(void *memory); // NULL is nothing
    void (*zero)(void *memory, size_t bytes);
    void (*copy)(void *to, const void *from, size_t bytes);     // both in this memory
    void (*upload)(void *to, const void *from, size_t bytes);   // `from` may change once it returns
    void (*download)(void *to, const void *from, size_t bytes); // `to` is there once it returns
    // How many bytes there still are to allocate; NULL where it is not known.
    size_t (*room)(void);
    // Called for every allocation of an arena, of `bytes` bytes in a block of `room`: what lies
    // behind them is not to be written. For a backend that checks this; mostly NULL.
    void (*guard)(void *memory, size_t bytes, size_t room);
} vd_memory;

extern const vd_memory vd_memory_host;

#endif

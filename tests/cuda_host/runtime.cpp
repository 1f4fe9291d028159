// Device memory and copies on the host (cuda_host.h).
#include "tests/cuda_host/private.h"

#include <stdio.h>
#include <sys/mman.h>

#include <map>
#include <mutex>

// ---- the region ---------------------------------------------------------------------------------

static const size_t REGION = size_t(1) << 36, PAGE = 4096, LARGE_PAGE = size_t(1) << 21, GUARD = 64;
static const unsigned char PAINT = 0xa5;

static std::recursive_mutex mutex;
static unsigned char *region;
static size_t in_use;                             // bytes of the region ever handed out
static std::map<size_t, size_t> blocks;           // offset -> bytes, guards and rounding included
static std::map<unsigned char *, size_t> painted; // guard bytes
static int depth, allocations, memory_at, lost_at;
static bool is_lost;
static thread_local cudaError_t pending = cudaSuccess; // what cudaGetLastError has still to say

void vd_host_stop(const char *what)
{
    fprintf(stderr, "cuda on the host: %s\n", what);
    abort();
}

static void protect(int how)
{
    size_t bytes = (in_use + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    if (bytes > 0 && mprotect(region, bytes, how) != 0)
        vd_host_stop("mprotect failed");
}

static void check_paint()
{
    for (const auto &p : painted) // all bytes are the first one
        if (p.second > 0 &&
            (p.first[0] != PAINT || memcmp(p.first, p.first + 1, p.second - 1) != 0))
            vd_host_stop("a kernel wrote beyond the end of its buffer");
}

vd_host_entry::vd_host_entry()
{
    mutex.lock();
    if (depth++ == 0)
        protect(PROT_READ | PROT_WRITE);
}

vd_host_entry::~vd_host_entry()
{
    if (--depth == 0) {
        check_paint();
        protect(PROT_NONE);
    }
    mutex.unlock();
}

static void paint(unsigned char *at, size_t bytes)
{
    if (bytes == 0)
        return;
    memset(at, PAINT, bytes);
    painted[at] = bytes;
}

static void forget(unsigned char *from, unsigned char *to)
{
    painted.erase(painted.lower_bound(from), painted.lower_bound(to));
}

void vd_host_guard(void *memory, size_t bytes, size_t room)
{
    vd_host_entry entry;
    unsigned char *at = static_cast<unsigned char *>(memory);
    forget(at, at + room);
    memset(at, 0xff, bytes); // NaN until it is written
    paint(at + bytes, room - bytes);
}

void vd_host_fail(int memory, int lost)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    memory_at = memory;
    lost_at = lost;
    is_lost = false;
}

int vd_host_allocations(void)
{
    return allocations;
}

// Counts a call that a lost device would refuse.
static cudaError_t alive()
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (lost_at > 0 && --lost_at == 0)
        is_lost = true;
    return is_lost ? cudaErrorIllegalAddress : cudaSuccess;
}

bool vd_host_is_lost()
{
    return alive() != cudaSuccess;
}

// ---- allocation ---------------------------------------------------------------------------------

static size_t limit()
{
    const char *text = getenv("VISDIAL_HOST_MEMORY");
    return text ? strtoull(text, NULL, 10) : REGION;
}

static size_t handed_out()
{
    size_t sum = 0;
    for (const auto &b : blocks)
        sum += b.second;
    return sum;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *all)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    size_t used = handed_out();
    *all = limit();
    *available = *all > used ? *all - used : 0;
    return cudaSuccess;
}

static size_t find_room(size_t bytes)
{
    size_t from = 0;
    for (const auto &b : blocks) {
        if (b.first - from >= bytes)
            return from;
        from = b.first + b.second;
    }
    return from;
}

// In large pages where there are: it is opened and closed at every launch, and that takes time by
// the page.
static unsigned char *take_region()
{
    void *all = mmap(NULL, REGION + LARGE_PAGE, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    uintptr_t at = reinterpret_cast<uintptr_t>(all);
    unsigned char *from =
        reinterpret_cast<unsigned char *>((at + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
    madvise(from, REGION, MADV_HUGEPAGE);
    return from;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    vd_host_entry entry;
    *memory = NULL;
    if (alive() != cudaSuccess)
        return cudaErrorIllegalAddress;
    if (!region && !(region = take_region()))
        return pending = cudaErrorMemoryAllocation;
    allocations++;
    size_t size = (bytes + 2 * GUARD + PAGE - 1) / PAGE * PAGE;
    if ((memory_at > 0 && --memory_at == 0) || bytes > REGION || handed_out() + size > limit())
        return pending = cudaErrorMemoryAllocation;
    size_t from = find_room(size);
    if (from > REGION - size)
        return pending = cudaErrorMemoryAllocation;
    blocks[from] = size;
    if (from + size > in_use) {
        in_use = from + size;
        protect(PROT_READ | PROT_WRITE);
    }
    unsigned char *at = region + from + GUARD;
    paint(region + from, GUARD);
    memset(at, 0xff, bytes);
    paint(at + bytes, size - GUARD - bytes);
    *memory = at;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    vd_host_entry entry;
    if (!memory)
        return cudaSuccess;
    check_paint();
    size_t from = static_cast<size_t>(static_cast<unsigned char *>(memory) - region) - GUARD;
    auto found = blocks.find(from);
    if (found == blocks.end())
        vd_host_stop("cudaFree of what cudaMalloc did not give");
    forget(region + from, region + from + found->second);
    blocks.erase(found);
    return cudaSuccess;
}

static std::map<const unsigned char *, size_t> pinned;

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    *memory = malloc(bytes);
    if (!*memory)
        return pending = cudaErrorMemoryAllocation;
    pinned[static_cast<unsigned char *>(*memory)] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    pinned.erase(static_cast<unsigned char *>(memory));
    free(memory);
    return cudaSuccess;
}

static bool is_pinned(const void *memory, size_t bytes)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    const unsigned char *at = static_cast<const unsigned char *>(memory);
    auto next = pinned.upper_bound(at);
    if (next == pinned.begin())
        return false;
    --next;
    return at + bytes <= next->first + next->second;
}

// ---- copies -------------------------------------------------------------------------------------

static bool on_device(const void *memory, size_t bytes)
{
    const unsigned char *at = static_cast<const unsigned char *>(memory);
    return region && at >= region && at + bytes <= region + in_use;
}

static cudaError_t copy_now(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    vd_host_entry entry;
    if (alive() != cudaSuccess)
        return cudaErrorIllegalAddress;
    if (bytes > 0 && (on_device(to, bytes) != (kind != cudaMemcpyDeviceToHost) ||
                      on_device(from, bytes) != (kind != cudaMemcpyHostToDevice)))
        vd_host_stop("a copy between other memories than it says");
    if (bytes > 0)
        memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t)
{
    // From other memory the copy would wait for the device.
    if (kind == cudaMemcpyHostToDevice && !is_pinned(from, bytes))
        vd_host_stop("an upload from memory that is not pinned");
    return copy_now(to, from, bytes, kind);
}

void vd_host_move(void *to, const void *from, size_t bytes)
{
    vd_host_entry entry;
    if (on_device(to, bytes) == on_device(from, bytes))
        vd_host_stop("one of two memories must be the device's");
    memcpy(to, from, bytes);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t)
{
    vd_host_entry entry;
    if (alive() != cudaSuccess)
        return cudaErrorIllegalAddress;
    if (bytes > 0 && !on_device(memory, bytes))
        vd_host_stop("cudaMemset of host memory");
    if (bytes > 0)
        memset(memory, value, bytes);
    return cudaSuccess;
}

// ---- what there is only one of ------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int *count)
{
    const char *text = getenv("VISDIAL_HOST_DEVICES");
    *count = text ? atoi(text) : 1;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = cudaDeviceProp();
    strcpy(p->name, "the host in place of a GPU");
    p->totalGlobalMem = REGION;
    p->major = 9;
    p->multiProcessorCount = 1;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return alive();
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return alive();
}

cudaError_t cudaGetLastError()
{
    cudaError_t lost = alive(), last = lost != cudaSuccess ? lost : pending;
    pending = cudaSuccess;
    return last;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define X(code, number, text)                                                                      \
    case code:                                                                                     \
        return text;
        VD_HOST_ERRORS(X)
#undef X
    }
    return "unknown error";
}

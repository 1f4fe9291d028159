// Fibers for the threads of a block (cuda_host.h).
#include "tests/cuda_host/private.h"

#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <mutex>

dim3 threadIdx, blockIdx, blockDim, gridDim;

enum { STACK = 64 * 1024, MOST_THREADS = 1024, WARP = 32 };

enum vd_state { READY, RUNNING, AT_BLOCK, AT_WARP, DONE };

struct vd_fiber {
    void *stack, *saved; // saved: its stack pointer while it waits
    ucontext_t context;  // where there is no assembly for the machine
};

// ---- switching ----------------------------------------------------------------------------------

#if defined(__x86_64__)
extern "C" void vd_host_switch(void **save, void *load);
// Keeps what the ABI says a call keeps.
asm(R"(
.text
.globl vd_host_switch
.hidden vd_host_switch
.type vd_host_switch, @function
vd_host_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size vd_host_switch, .-vd_host_switch
.section .note.GNU-stack,"",@progbits
.text
)");
#endif

static struct {
    vd_fiber fiber[MOST_THREADS];
    dim3 threads;             // of the block, as `index` was made for
    dim3 index[MOST_THREADS]; // threadIdx of each
    vd_state state[MOST_THREADS];
    int runs_on[MOST_THREADS]; // the fiber of a thread that has started, -1 for one that has not
    uint32_t value[2][MOST_THREADS]; // of the last two shuffles, in turn
    int turn[MOST_THREADS];
    vd_fiber scheduler;
    int count, current, done;
    bool backwards; // the order in which the threads run
    vd_host_body body;
    void *context;
} block;

static void change_fiber(vd_fiber *from, vd_fiber *to)
{
#if defined(__x86_64__)
    vd_host_switch(&from->saved, to->saved);
#else
    swapcontext(&from->context, &to->context);
#endif
}

// The first thread that is ready from t on, -1 when there is none.
static int ready_from(int t)
{
    int step = block.backwards ? -1 : 1;
    for (; t >= 0 && t < block.count; t += step)
        if (block.state[t] == READY)
            return t;
    return -1;
}

static int ready_after(int t)
{
    return ready_from(block.backwards ? t - 1 : t + 1);
}

// The thread that the fiber which now runs, or is now resumed, goes on with.
static vd_fiber *resume(int t)
{
    if (block.runs_on[t] < 0)
        block.runs_on[t] = t; // that of its number: only this thread begins on it
    block.current = t;
    block.state[t] = RUNNING;
    threadIdx = block.index[t];
    return &block.fiber[block.runs_on[t]];
}

// Leaves the thread that runs in `state`; the next that is ready goes on, or else the scheduler.
static void wait_in(vd_state state)
{
    vd_fiber *mine = &block.fiber[block.runs_on[block.current]];
    block.state[block.current] = state;
    int next = ready_after(block.current);
    change_fiber(mine, next < 0 ? &block.scheduler : resume(next));
}

// Threads that have not started run one after another on the fiber of the first, without a switch,
// until one has to wait.
static void fiber_main()
{
    for (;;) {
        block.body(block.context);
        block.done++;
        int me = block.current, next = ready_after(me);
        if (next >= 0 && block.runs_on[next] < 0) {
            block.state[me] = DONE;
            block.runs_on[next] = block.runs_on[me];
            resume(next);
        } else {
            wait_in(DONE);
        }
    }
}

static void make_fiber(vd_fiber *f)
{
    if (!f->stack) {
        f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (f->stack == MAP_FAILED)
            vd_host_stop("no memory for a fiber's stack");
#if defined(__x86_64__)
        void **top = reinterpret_cast<void **>(static_cast<char *>(f->stack) + STACK) - 8;
        memset(top, 0, 8 * sizeof *top);
        top[6] = reinterpret_cast<void *>(fiber_main); // returned to by the first switch
        f->saved = top;
#else
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = f->stack;
        f->context.uc_stack.ss_size = STACK;
        f->context.uc_link = NULL;
        makecontext(&f->context, fiber_main, 0);
#endif
    }
}

// ---- meeting ------------------------------------------------------------------------------------

void __syncthreads()
{
    wait_in(AT_BLOCK);
}

void __syncwarp(unsigned)
{
    wait_in(AT_WARP);
}

int vd_host_lane()
{
    return block.current % WARP;
}

uint32_t vd_host_shuffle(uint32_t value, int lane)
{
    int other = block.current / WARP * WARP + lane;
    // The next shuffle writes to the other array: no thread overwrites what another has still to
    // read.
    uint32_t *values = block.value[block.turn[block.current] ^= 1];
    values[block.current] = value;
    wait_in(AT_WARP);
    return other < block.count ? values[other] : value;
}

// Resumes the threads [from, to) when all of them wait in `state`; false when one does not.
static bool release(int from, int to, vd_state state)
{
    bool any = false;
    for (int t = from; t < to; t++) {
        if (block.state[t] != state && block.state[t] != DONE)
            return false;
        any |= block.state[t] == state;
    }
    for (int t = from; t < to; t++)
        if (block.state[t] == state)
            block.state[t] = READY;
    return any;
}

// Threads run one after another up to the next barrier.
static void run_block()
{
    for (int t = 0; t < block.count; t++) {
        block.state[t] = READY;
        block.runs_on[t] = -1;
        block.turn[t] = 0;
    }
    block.done = 0;
    for (;;) {
        change_fiber(&block.scheduler, resume(ready_from(block.backwards ? block.count - 1 : 0)));
        if (block.done == block.count)
            return;
        bool moved = false;
        for (int t = 0; t < block.count; t += WARP)
            moved |= release(t, t + WARP < block.count ? t + WARP : block.count, AT_WARP);
        if (!moved && !release(0, block.count, AT_BLOCK))
            vd_host_stop("threads of a block wait for each other at different places");
    }
}

static void number_threads(dim3 threads)
{
    if (block.threads.x == threads.x && block.threads.y == threads.y &&
        block.threads.z == threads.z && block.count > 0)
        return;
    block.threads = threads;
    block.count = static_cast<int>(threads.x * threads.y * threads.z);
    for (int t = 0; t < block.count; t++) {
        unsigned i = static_cast<unsigned>(t);
        block.index[t] = dim3(i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y);
        make_fiber(&block.fiber[t]);
    }
}

// The order of the threads is reversed from block to block, so that a missing barrier shows.
void vd_host_launch(dim3 grid, dim3 threads, vd_host_body body, void *context)
{
    vd_host_entry entry;
    size_t count = size_t(threads.x) * threads.y * threads.z;
    if (count < 1 || count > MOST_THREADS || grid.x < 1 || grid.y < 1 || grid.y > 65535 ||
        grid.z < 1 || grid.z > 65535)
        vd_host_stop("a launch of a size that no GPU takes");
    number_threads(threads);
    block.body = body;
    block.context = context;
    gridDim = grid;
    blockDim = threads;
    block.backwards = false;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid.x;
                 blockIdx.x++, block.backwards = !block.backwards)
                run_block();
}

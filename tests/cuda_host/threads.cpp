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
    dim3 index[MOST_THREADS]; // threadIdx of each
    vd_state state[MOST_THREADS];
    uint32_t value[MOST_THREADS];
    vd_fiber scheduler;
    int threads, current, done;
    vd_host_body body;
    void *context;
} block;

static void to_scheduler(vd_state state)
{
    int me = block.current;
    block.state[me] = state;
#if defined(__x86_64__)
    vd_host_switch(&block.fiber[me].saved, block.scheduler.saved);
#else
    swapcontext(&block.fiber[me].context, &block.scheduler.context);
#endif
}

static void fiber_main()
{
    for (;;) {
        block.body(block.context);
        block.done++;
        to_scheduler(DONE);
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

static void run_fiber(int t)
{
    block.current = t;
    block.state[t] = RUNNING;
    threadIdx = block.index[t];
#if defined(__x86_64__)
    vd_host_switch(&block.scheduler.saved, block.fiber[t].saved);
#else
    swapcontext(&block.scheduler.context, &block.fiber[t].context);
#endif
}

// ---- meeting ------------------------------------------------------------------------------------

void __syncthreads()
{
    to_scheduler(AT_BLOCK);
}

void __syncwarp(unsigned)
{
    to_scheduler(AT_WARP);
}

int vd_host_lane()
{
    return block.current % WARP;
}

uint32_t vd_host_shuffle(uint32_t value, int lane)
{
    int other = block.current / WARP * WARP + lane;
    block.value[block.current] = value;
    to_scheduler(AT_WARP);
    uint32_t found = other < block.threads ? block.value[other] : value;
    to_scheduler(AT_WARP); // no thread overwrites what another has still to read
    return found;
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

static void run_ready(bool backwards)
{
    for (int i = 0; i < block.threads; i++) {
        int t = backwards ? block.threads - 1 - i : i;
        if (block.state[t] == READY)
            run_fiber(t);
    }
}

// Threads run one after another up to the next barrier. The order is reversed from block to block,
// so that a missing barrier shows.
static void run_block(bool backwards)
{
    for (int t = 0; t < block.threads; t++)
        block.state[t] = READY;
    block.done = 0;
    for (;;) {
        run_ready(backwards);
        if (block.done == block.threads)
            return;
        bool moved = false;
        for (int t = 0; t < block.threads; t += WARP)
            moved |= release(t, t + WARP < block.threads ? t + WARP : block.threads, AT_WARP);
        if (!moved && !release(0, block.threads, AT_BLOCK))
            vd_host_stop("threads of a block wait for each other at different places");
    }
}

void vd_host_launch(dim3 grid, dim3 threads, vd_host_body body, void *context)
{
    vd_host_entry entry;
    block.threads = static_cast<int>(threads.x * threads.y * threads.z);
    if (block.threads < 1 || block.threads > MOST_THREADS || grid.x < 1 || grid.y < 1 ||
        grid.y > 65535 || grid.z < 1 || grid.z > 65535)
        vd_host_stop("a launch of a size that no GPU takes");
    block.body = body;
    block.context = context;
    gridDim = grid;
    blockDim = threads;
    for (int t = 0; t < block.threads; t++) {
        unsigned i = static_cast<unsigned>(t);
        block.index[t] = dim3(i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y);
        make_fiber(&block.fiber[t]);
    }
    bool backwards = false;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++, backwards = !backwards)
                run_block(backwards);
}

#include "engine/base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST_WORKERS = 63, RANGES_A_THREAD = 16, WORTH_NS = 15000 };

// How often a worker spins for work before it sleeps, and the caller for the end: some ten
// microseconds, which covers the pauses between the operations of one question.
enum { SPINS = 4000 };

static pthread_mutex_t use = PTHREAD_MUTEX_INITIALIZER;   // held by the caller who has the workers
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // of `generation`, `asleep`, conditions
static pthread_cond_t work_there = PTHREAD_COND_INITIALIZER, all_done = PTHREAD_COND_INITIALIZER;
static int workers, wanted; // running; threads the owner asked for, 0 = one for each processor
static _Thread_local bool inside;

// The current job. A worker that comes late finds no task left. `generation` is odd while there is
// work; workers count themselves in `busy`, and nothing changes while one is busy.
static struct {
    vd_threads_item item;
    void *job;
    int count;
    atomic_int next, busy;
    atomic_uint generation;
    int asleep;
    bool waiting;
} pool;

static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void run_items(void)
{
    int index;
    while ((index = atomic_fetch_add(&pool.next, 1)) < pool.count)
        pool.item(pool.job, index);
}

static unsigned next_work(unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        unsigned now = atomic_load_explicit(&pool.generation, memory_order_acquire);
        if (now != seen && now % 2)
            return now;
        spin_pause();
    }
    pthread_mutex_lock(&mutex);
    pool.asleep++;
    unsigned now;
    while ((now = atomic_load(&pool.generation)) == seen || now % 2 == 0)
        pthread_cond_wait(&work_there, &mutex);
    pool.asleep--;
    pthread_mutex_unlock(&mutex);
    return now;
}

static void *serve(void *unused)
{
    unsigned seen = 0;
    (void)unused;
    inside = true;
    for (;;) {
        seen = next_work(seen);
        atomic_fetch_add(&pool.busy, 1);
        // Only now can the job not end any more: had it ended before, generation would have
        // changed.
        if (atomic_load(&pool.generation) == seen)
            run_items();
        if (atomic_fetch_sub(&pool.busy, 1) == 1) {
            pthread_mutex_lock(&mutex);
            if (pool.waiting)
                pthread_cond_signal(&all_done);
            pthread_mutex_unlock(&mutex);
        }
    }
    return NULL;
}

// Asked once: the C library opens and reads a file each time, which costs more than most
// operations.
static atomic_int known;

static int processors(void)
{
    int count = atomic_load_explicit(&known, memory_order_relaxed);
    if (count == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online < 1 ? 1 : online > MOST_WORKERS ? MOST_WORKERS + 1 : (int)online;
        atomic_store_explicit(&known, count, memory_order_relaxed);
    }
    return count;
}

int vd_threads_count(void)
{
    return wanted > 0 ? wanted : processors();
}

void vd_threads_use(int count)
{
    wanted = count < 1 ? 0 : count > MOST_WORKERS ? MOST_WORKERS + 1 : count;
}

void vd_threads_processors(int count)
{
    atomic_store(&known, count < 1 ? 1 : count > MOST_WORKERS ? MOST_WORKERS + 1 : count);
}

// Workers live as long as the process. If one cannot be started, the others do its work.
static void spawn(void)
{
    pthread_attr_t detached;
    if (pthread_attr_init(&detached) != 0)
        return;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    while (workers < vd_threads_count() - 1) {
        pthread_t thread;
        if (pthread_create(&thread, &detached, serve, NULL) != 0)
            break;
        workers++;
    }
    pthread_attr_destroy(&detached);
}

static void wait_for_workers(void)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&pool.busy) == 0)
            return;
        spin_pause();
    }
    pthread_mutex_lock(&mutex);
    pool.waiting = true;
    while (atomic_load(&pool.busy) > 0)
        pthread_cond_wait(&all_done, &mutex);
    pool.waiting = false;
    pthread_mutex_unlock(&mutex);
}

void vd_threads_run(int count, vd_threads_item item, void *job)
{
    if (count <= 1 || inside || vd_threads_count() <= 1 || pthread_mutex_trylock(&use) != 0) {
        for (int i = 0; i < count; i++)
            item(job, i);
        return;
    }
    spawn();
    inside = true;
    pool.item = item;
    pool.job = job;
    pool.count = count;
    atomic_store(&pool.next, 0);
    atomic_fetch_add(&pool.generation, 1); // odd: there is work
    pthread_mutex_lock(&mutex);
    if (pool.asleep)
        pthread_cond_broadcast(&work_there);
    pthread_mutex_unlock(&mutex);
    run_items();
    atomic_fetch_add(&pool.generation, 1); // even: workers that come late turn back
    wait_for_workers();
    inside = false;
    pthread_mutex_unlock(&use);
}

void vd_threads_alone(bool alone)
{
    inside = alone;
}

typedef struct range_job {
    vd_threads_range range;
    void *job;
    size_t items, ranges;
} range_job;

static void do_range(void *data, int index)
{
    const range_job *r = data;
    size_t i = (size_t)index;
    r->range(r->job, r->items * i / r->ranges, r->items * (i + 1) / r->ranges);
}

void vd_threads_ranges(size_t items, double cost, vd_threads_range range, void *job)
{
    double worth = (double)items * cost / WORTH_NS;
    size_t most = (size_t)vd_threads_count() * RANGES_A_THREAD;
    size_t ranges = worth < (double)most ? (size_t)worth : most;
    ranges = ranges > items ? items : ranges;
    if (ranges < 2 || inside || vd_threads_count() <= 1) {
        if (items > 0)
            range(job, 0, items);
        return;
    }
    range_job r = {range, job, items, ranges};
    vd_threads_run((int)ranges, do_range, &r);
}

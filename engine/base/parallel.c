#include "engine/base/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/threads.h"

typedef struct pool {
    size_t count;
    vd_parallel_work work;
    void *context;
    const atomic_int *stop;
    atomic_size_t alone; // items whose products are not shared, from the first
    atomic_size_t next, done;
    pthread_mutex_t mutex; // of what follows
    pthread_cond_t changed;
    int running;
    vd_status status; // the first failure
    vd_error error;
} pool;

typedef struct worker {
    pool *pool;
    int number;
    pthread_t thread;
} worker;

static bool ended(pool *c)
{
    pthread_mutex_lock(&c->mutex);
    bool failed = c->status != VD_OK;
    pthread_mutex_unlock(&c->mutex);
    return failed || (c->stop && atomic_load(c->stop));
}

static void *run(void *argument)
{
    worker *w = argument;
    pool *c = w->pool;
    for (;;) {
        size_t index = atomic_fetch_add(&c->next, 1);
        if (index >= c->count || ended(c))
            break;
        vd_error error = {0};
        vd_threads_alone(index < atomic_load(&c->alone));
        vd_status status = c->work(c->context, w->number, index, &error);
        if (status) {
            pthread_mutex_lock(&c->mutex);
            if (!c->status) {
                c->status = status;
                c->error = error;
            }
            pthread_mutex_unlock(&c->mutex);
            break;
        }
        atomic_fetch_add(&c->done, 1);
    }
    pthread_mutex_lock(&c->mutex);
    c->running--;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

// Until all have ended; reports a few times a second.
static void wait_for(pool *c, vd_parallel_report report, void *user)
{
    pthread_mutex_lock(&c->mutex);
    while (c->running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&c->changed, &c->mutex, &until);
        if (report) {
            pthread_mutex_unlock(&c->mutex);
            report(user, atomic_load(&c->done));
            pthread_mutex_lock(&c->mutex);
        }
    }
    pthread_mutex_unlock(&c->mutex);
}

vd_status vd_parallel(size_t count, int threads, vd_parallel_work work, void *context,
                      vd_parallel_report report, void *user, const atomic_int *stop, vd_error *err)
{
    pool c = {.count = count, .work = work, .context = context, .stop = stop};
    worker workers[VD_THREADS];
    int started = 0;
    pthread_mutex_init(&c.mutex, NULL);
    pthread_cond_init(&c.changed, NULL);
    threads = threads < 1 ? 1 : threads > VD_THREADS ? VD_THREADS : threads;
    // While there is an item for each of them; the last ones share the processors that are free.
    if (threads >= vd_threads_count())
        atomic_store(&c.alone, count / (size_t)threads * (size_t)threads);
    pthread_mutex_lock(&c.mutex);
    for (int i = 0; i < threads; i++) {
        workers[i] = (worker){.pool = &c, .number = i};
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0)
            break;
        started = ++c.running;
    }
    if (started < threads)
        atomic_store(&c.alone, 0);
    pthread_mutex_unlock(&c.mutex);
    wait_for(&c, report, user);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    if (report)
        report(user, atomic_load(&c.done));
    pthread_cond_destroy(&c.changed);
    pthread_mutex_destroy(&c.mutex);
    if (!started)
        return vd_error_set(err, VD_UNAVAILABLE, "no thread could be started");
    if (c.status) {
        if (err)
            *err = c.error;
        return c.status;
    }
    if (atomic_load(&c.done) < count)
        return vd_error_set(err, VD_INTERRUPTED, "interrupted after %zu of %zu",
                            atomic_load(&c.done), count);
    return VD_OK;
}

int vd_parallel_threads(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > VD_THREADS ? VD_THREADS : (int)count;
}

#include "engine/base/prefetch.h"

#include <pthread.h>

#include "engine/base/alloc.h"

struct vd_prefetch {
    size_t places;
    vd_prefetch_make make;
    void *context;
    pthread_t thread;
    bool threaded;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    // Of all below, under the mutex:
    size_t made;  // things
    size_t asked; // for how many; of those only the last is still used
    bool ended, stop;
};

// Thing n takes the place of thing n - places, which must not be in use any more.
static bool has_room(const vd_prefetch *ahead, size_t n)
{
    return n < ahead->places || n + 1 < ahead->asked + ahead->places;
}

static void *make_ahead(void *context)
{
    vd_prefetch *ahead = context;
    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->ended && !ahead->stop) {
        size_t n = ahead->made;
        if (!has_room(ahead, n)) {
            pthread_cond_wait(&ahead->changed, &ahead->mutex);
            continue;
        }
        pthread_mutex_unlock(&ahead->mutex);
        bool more = ahead->make(ahead->context, n, n % ahead->places);
        pthread_mutex_lock(&ahead->mutex);
        ahead->made = n + 1;
        ahead->ended = !more;
        pthread_cond_broadcast(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

vd_status vd_prefetch_new(size_t places, vd_prefetch_make make, void *context, vd_prefetch **out,
                          vd_error *err)
{
    vd_prefetch *ahead = *out = vd_alloc(1, sizeof *ahead);
    if (!ahead)
        return vd_error_memory(err, "prefetched items");
    ahead->places = places;
    ahead->make = make;
    ahead->context = context;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    ahead->threaded = pthread_create(&ahead->thread, NULL, make_ahead, ahead) == 0;
    return VD_OK;
}

size_t vd_prefetch_next(vd_prefetch *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    size_t n = ahead->asked;
    if (!ahead->threaded && !ahead->ended) {
        ahead->ended = !ahead->make(ahead->context, n, n % ahead->places);
        ahead->made = n + 1;
    }
    if (n < ahead->made || !ahead->ended)
        ahead->asked = n + 1;
    else
        n = ahead->made - 1; // the end again
    pthread_cond_broadcast(&ahead->changed);
    while (n >= ahead->made && !ahead->ended)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    n = n < ahead->made ? n : ahead->made - 1;
    pthread_mutex_unlock(&ahead->mutex);
    return n % ahead->places;
}

void vd_prefetch_free(vd_prefetch *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->stop = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    if (ahead->threaded)
        pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    vd_free(ahead);
}

#include "engine/base/prefetch.h"

#include <pthread.h>

#include "engine/base/alloc.h"

struct vd_prefetch {
    size_t slots;
    vd_prefetch_make make;
    void *context;
    pthread_t thread;
    bool threaded;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    // Of all below, under the mutex:
    size_t made;  // items
    size_t asked; // how many were asked for; only the last of them is still used
    bool ended, stop;
};

// Item n takes the slot of item n - slots, which must not be in use any more.
static bool has_room(const vd_prefetch *prefetch, size_t n)
{
    return n < prefetch->slots || n + 1 < prefetch->asked + prefetch->slots;
}

static void *make_items(void *context)
{
    vd_prefetch *prefetch = context;
    pthread_mutex_lock(&prefetch->mutex);
    while (!prefetch->ended && !prefetch->stop) {
        size_t n = prefetch->made;
        if (!has_room(prefetch, n)) {
            pthread_cond_wait(&prefetch->changed, &prefetch->mutex);
            continue;
        }
        pthread_mutex_unlock(&prefetch->mutex);
        bool more = prefetch->make(prefetch->context, n, n % prefetch->slots);
        pthread_mutex_lock(&prefetch->mutex);
        prefetch->made = n + 1;
        prefetch->ended = !more;
        pthread_cond_broadcast(&prefetch->changed);
    }
    pthread_mutex_unlock(&prefetch->mutex);
    return NULL;
}

vd_status vd_prefetch_new(size_t slots, vd_prefetch_make make, void *context, vd_prefetch **out,
                          vd_error *err)
{
    vd_prefetch *prefetch = *out = vd_alloc(1, sizeof *prefetch);
    if (!prefetch)
        return vd_error_memory(err, "prefetched items");
    prefetch->slots = slots;
    prefetch->make = make;
    prefetch->context = context;
    pthread_mutex_init(&prefetch->mutex, NULL);
    pthread_cond_init(&prefetch->changed, NULL);
    prefetch->threaded = pthread_create(&prefetch->thread, NULL, make_items, prefetch) == 0;
    return VD_OK;
}

size_t vd_prefetch_next(vd_prefetch *prefetch)
{
    pthread_mutex_lock(&prefetch->mutex);
    size_t n = prefetch->asked;
    if (!prefetch->threaded && !prefetch->ended) {
        prefetch->ended = !prefetch->make(prefetch->context, n, n % prefetch->slots);
        prefetch->made = n + 1;
    }
    if (n < prefetch->made || !prefetch->ended)
        prefetch->asked = n + 1;
    else
        n = prefetch->made - 1; // the end again
    pthread_cond_broadcast(&prefetch->changed);
    while (n >= prefetch->made && !prefetch->ended)
        pthread_cond_wait(&prefetch->changed, &prefetch->mutex);
    n = n < prefetch->made ? n : prefetch->made - 1;
    pthread_mutex_unlock(&prefetch->mutex);
    return n % prefetch->slots;
}

void vd_prefetch_free(vd_prefetch *prefetch)
{
    if (!prefetch)
        return;
    pthread_mutex_lock(&prefetch->mutex);
    prefetch->stop = true;
    pthread_cond_broadcast(&prefetch->changed);
    pthread_mutex_unlock(&prefetch->mutex);
    if (prefetch->threaded)
        pthread_join(prefetch->thread, NULL);
    pthread_cond_destroy(&prefetch->changed);
    pthread_mutex_destroy(&prefetch->mutex);
    vd_free(prefetch);
}

// Two loaders take turns: one holds the batch that is being used, the other the one after it.
#include "features/feed.h"

#include <pthread.h>
#include <stdbool.h>

#include "engine/alloc.h"

enum { TURNS = VD_FEED_BATCHES };

// What came of one batch.
typedef struct helping {
    vd_loader *loader;
    const vd_batch *batch;
    vd_status status;
    vd_error err;
} helping;

struct vd_feed {
    vd_feed_plan plan;
    void *context;
    helping turn[TURNS]; // batch n is in turn[n % TURNS]
    pthread_t thread;
    bool threaded; // else batches are made when they are asked for
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    // Of all below, under the mutex:
    size_t made;  // batches, or the end
    size_t asked; // for how many; of those only the last is still used
    bool ended, stop;
};

// Makes batch n; false when it was the last.
static bool make_helping(vd_feed *feed, size_t n)
{
    helping *h = &feed->turn[n % TURNS];
    const size_t *dialogs;
    h->batch = NULL;
    h->status = VD_OK;
    size_t count = feed->plan(feed->context, n, &dialogs);
    if (count > 0)
        h->status = vd_loader_batch(h->loader, dialogs, count, NULL, &h->batch, &h->err);
    return count > 0 && h->status == VD_OK;
}

// Batch n takes the place of batch n - TURNS, which must not be in use any more.
static bool has_room(const vd_feed *feed, size_t n)
{
    return n < TURNS || n + 1 < feed->asked + TURNS;
}

static void *make_ahead(void *context)
{
    vd_feed *feed = context;
    pthread_mutex_lock(&feed->mutex);
    while (!feed->ended && !feed->stop) {
        size_t n = feed->made;
        if (!has_room(feed, n)) {
            pthread_cond_wait(&feed->changed, &feed->mutex);
            continue;
        }
        pthread_mutex_unlock(&feed->mutex);
        bool more = make_helping(feed, n);
        pthread_mutex_lock(&feed->mutex);
        feed->made = n + 1;
        feed->ended = !more;
        pthread_cond_broadcast(&feed->changed);
    }
    pthread_mutex_unlock(&feed->mutex);
    return NULL;
}

vd_status vd_feed_new(const vd_dataset *dataset, vd_feed_plan plan, void *context,
                      vd_picture_cache *cache, vd_feed **out, vd_error *err)
{
    *out = NULL;
    vd_feed *feed = vd_alloc(1, sizeof *feed);
    if (!feed)
        return vd_error_memory(err, "batches made ahead");
    feed->plan = plan;
    feed->context = context;
    pthread_mutex_init(&feed->mutex, NULL);
    pthread_cond_init(&feed->changed, NULL);
    vd_status status = VD_OK;
    for (int i = 0; status == VD_OK && i < TURNS; i++)
        status = vd_loader_new(dataset, &feed->turn[i].loader, err);
    if (status != VD_OK) {
        vd_feed_free(feed);
        return status;
    }
    for (int i = 0; i < TURNS; i++)
        vd_loader_keep(feed->turn[i].loader, cache);
    feed->threaded = pthread_create(&feed->thread, NULL, make_ahead, feed) == 0;
    *out = feed;
    return VD_OK;
}

vd_status vd_feed_next(vd_feed *feed, const vd_batch **out, vd_error *err)
{
    pthread_mutex_lock(&feed->mutex);
    size_t n = feed->asked;
    if (!feed->threaded && !feed->ended) {
        feed->ended = !make_helping(feed, n);
        feed->made = n + 1;
    }
    if (n < feed->made || !feed->ended)
        feed->asked = n + 1;
    else
        n = feed->made - 1; // the end again
    pthread_cond_broadcast(&feed->changed);
    while (n >= feed->made)
        pthread_cond_wait(&feed->changed, &feed->mutex);
    pthread_mutex_unlock(&feed->mutex);
    const helping *h = &feed->turn[n % TURNS];
    *out = h->batch;
    return h->status ? vd_error_set(err, h->status, "%s", h->err.text) : VD_OK;
}

void vd_feed_free(vd_feed *feed)
{
    if (!feed)
        return;
    pthread_mutex_lock(&feed->mutex);
    feed->stop = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
    if (feed->threaded)
        pthread_join(feed->thread, NULL);
    for (int i = 0; i < TURNS; i++)
        vd_loader_free(feed->turn[i].loader);
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->mutex);
    vd_free(feed);
}

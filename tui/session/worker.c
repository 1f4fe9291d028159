#include "tui/session/worker.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/base/alloc.h"

// An event, and the link of a queue, is allocated together with its request, so that an answer can
// always be delivered.
typedef struct job {
    GList link; // data: the job
    atomic_int stop;
    vd_request request;
    vd_event event;
} job;

typedef struct lane {
    vd_worker *worker;
    void *context;
    pthread_t thread;
    bool started;
    GQueue waiting; // under lock
    job *running;   // under lock; NULL: none
} lane;

struct vd_worker {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    GQueue done;  // under lock
    bool leaving; // under lock
    int fd;       // eventfd, counts done
    vd_worker_serve *serve;
    int lanes;
    lane lane[VD_WORKER_LANES];
};

bool vd_answerer_same(const vd_answerer *a, const vd_answerer *b)
{
    return strcmp(a->model.text, b->model.text) == 0 && strcmp(a->pool.text, b->pool.text) == 0;
}

void vd_request_clear(vd_request *request)
{
    g_free(request->text);
    vd_turns_free(request->history, request->turns);
    g_free(request->switches);
    g_free(request->caption);
    *request = (vd_request){0};
}

void vd_event_clear(vd_event *event)
{
    if (event->made)
        event->free_made(event->made);
    g_free(event->asked);
    vd_picture_regions_clear(&event->regions);
    vd_image_clear(&event->image);
    vd_reply_clear(&event->reply);
    vd_walk_free(event->walk);
    vd_caption_sheet_free(event->caption);
    *event = (vd_event){0};
}

static job *pop(GQueue *from)
{
    GList *link = g_queue_pop_head_link(from);
    return link ? link->data : NULL;
}

static void job_free(job *item)
{
    vd_request_clear(&item->request);
    vd_event_clear(&item->event);
    vd_free(item);
}

static void *run(void *argument)
{
    lane *own = argument;
    vd_worker *worker = own->worker;
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        job *item = NULL;
        while (!worker->leaving && !(item = pop(&own->waiting)))
            pthread_cond_wait(&worker->wake, &worker->lock);
        if (!item)
            break;
        own->running = item;
        pthread_mutex_unlock(&worker->lock);
        item->event.kind = item->request.kind;
        item->event.serial = item->request.serial;
        item->event.lane = item->request.lane;
        worker->serve(own->context, &item->request, &item->stop, &item->event);
        pthread_mutex_lock(&worker->lock);
        own->running = NULL;
        g_queue_push_tail_link(&worker->done, &item->link);
        uint64_t one = 1;
        // Cannot block: an eventfd counts up to 2^64 - 2.
        while (write(worker->fd, &one, sizeof one) < 0 && errno == EINTR)
            ;
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

static vd_status start_thread(lane *own, vd_error *err)
{
    if (own->started)
        return VD_OK;
    // Signals go to the thread that owns the terminal; faults stay with the thread that caused
    // them.
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    own->started = pthread_create(&own->thread, NULL, run, own) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (own->started)
        return VD_OK;
    return vd_error_set(err, VD_UNAVAILABLE,
                        "the engine's thread could not be started (too many threads?)");
}

vd_status vd_worker_start(vd_worker_serve *serve, void *const *contexts, int lanes, vd_worker **out,
                          vd_error *err)
{
    *out = NULL;
    vd_worker *worker = vd_alloc(1, sizeof *worker);
    if (!worker)
        return vd_error_memory(err, "the engine's thread");
    worker->serve = serve;
    worker->lanes = lanes;
    for (int i = 0; i < lanes; i++)
        worker->lane[i] = (lane){.worker = worker, .context = contexts[i]};
    worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->fd < 0) {
        vd_free(worker);
        return vd_error_set(err, VD_UNAVAILABLE, "the engine's thread: %s", strerror(errno));
    }
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->wake, NULL);
    *out = worker;
    return VD_OK;
}

vd_status vd_worker_submit(vd_worker *worker, vd_request *request, vd_error *err)
{
    lane *own = &worker->lane[request->lane];
    job *item = vd_alloc(1, sizeof *item);
    vd_status status = item ? start_thread(own, err) : vd_error_memory(err, "a request");
    if (status) {
        vd_free(item);
        vd_request_clear(request);
        return status;
    }
    item->link.data = item;
    item->request = *request;
    *request = (vd_request){0};
    pthread_mutex_lock(&worker->lock);
    g_queue_push_tail_link(&own->waiting, &item->link);
    pthread_cond_broadcast(&worker->wake);
    pthread_mutex_unlock(&worker->lock);
    return VD_OK;
}

int vd_worker_fd(const vd_worker *worker)
{
    return worker->fd;
}

bool vd_worker_take(vd_worker *worker, vd_event *out)
{
    pthread_mutex_lock(&worker->lock);
    job *item = pop(&worker->done);
    if (g_queue_is_empty(&worker->done)) {
        uint64_t count; // the queue is empty: no longer readable
        while (read(worker->fd, &count, sizeof count) < 0 && errno == EINTR)
            ;
    }
    pthread_mutex_unlock(&worker->lock);
    if (!item)
        return false;
    *out = item->event;
    item->event = (vd_event){0};
    job_free(item);
    return true;
}

void vd_worker_stop(vd_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    for (int i = 0; i < worker->lanes; i++) {
        const lane *own = &worker->lane[i];
        if (own->running)
            atomic_store(&own->running->stop, 1);
        for (GList *link = own->waiting.head; link; link = link->next)
            atomic_store(&((job *)link->data)->stop, 1);
    }
    pthread_mutex_unlock(&worker->lock);
}

void vd_worker_free(vd_worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->leaving = true; // before the stop: a lane that it frees must not take the next request
    pthread_cond_broadcast(&worker->wake);
    pthread_mutex_unlock(&worker->lock);
    vd_worker_stop(worker);
    for (int i = 0; i < worker->lanes; i++) {
        if (worker->lane[i].started)
            pthread_join(worker->lane[i].thread, NULL);
        for (job *item; (item = pop(&worker->lane[i].waiting)) != NULL;)
            job_free(item);
    }
    for (job *item; (item = pop(&worker->done)) != NULL;)
        job_free(item);
    close(worker->fd);
    pthread_cond_destroy(&worker->wake);
    pthread_mutex_destroy(&worker->lock);
    vd_free(worker);
}

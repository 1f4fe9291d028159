// The engine's thread: requests are served one after another, events wait for whoever polls the
// file descriptor. The thread takes no signals.
#ifndef VD_WORKER_H
#define VD_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tui/request.h"

typedef struct vd_worker vd_worker;

// Serves one request, on the worker's thread: fills event (zeroed; kind and serial are set).
// stop becomes non-zero when the person wants the running answer stopped.
typedef void vd_worker_serve(void *context, const vd_request *request, const atomic_int *stop,
                             vd_event *event);

vd_status vd_worker_start(vd_worker_serve *serve, void *context, vd_worker **out, vd_error *err);
// Takes the request (*request is zeroed, also on failure).
vd_status vd_worker_submit(vd_worker *worker, vd_request *request, vd_error *err);
// Readable while an event waits.
int vd_worker_fd(const vd_worker *worker);
// The oldest event, ownership moves; false when none waits.
bool vd_worker_take(vd_worker *worker, vd_event *out);
// Stops the running answer; an ASK submitted later runs again.
void vd_worker_stop(vd_worker *worker);
// Stops, drops what waits, joins the thread. NULL is fine.
void vd_worker_free(vd_worker *worker);

#endif

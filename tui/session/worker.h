// The engine's threads, one for each lane: a lane's requests are served one after another, those of
// different lanes in parallel; events wait until the file descriptor is polled. A thread is started
// with its lane's first request. The threads take no signals.
#ifndef VD_WORKER_H
#define VD_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tui/session/request.h"

enum { VD_WORKER_LANES = 8 };

typedef struct vd_worker vd_worker;

// Serves one request, on the worker's thread: fills event (zeroed; kind and serial are set).
// stop becomes non-zero when the request is to be stopped.
typedef void vd_worker_serve(void *context, const vd_request *request, const atomic_int *stop,
                             vd_event *event);

// contexts (lanes): what serve gets for each lane; copied. 1 <= lanes <= VD_WORKER_LANES.
vd_status vd_worker_start(vd_worker_serve *serve, void *const *contexts, int lanes, vd_worker **out,
                          vd_error *err);
// Takes the request (*request is zeroed, also on failure). Its lane is one of the worker's.
vd_status vd_worker_submit(vd_worker *worker, vd_request *request, vd_error *err);
// Readable while an event waits.
int vd_worker_fd(const vd_worker *worker);
// The oldest event, ownership moves; false when none waits.
bool vd_worker_take(vd_worker *worker, vd_event *out);
// Stops the requests that run or wait; those submitted later are not affected.
void vd_worker_stop(vd_worker *worker);
// Stops, drops waiting requests and events, joins the threads. NULL is fine.
void vd_worker_free(vd_worker *worker);

#endif

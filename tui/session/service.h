// What serves the requests of one lane of the chat: the models it was asked for, each with what it
// has cached of the conversation. Runs on the thread of the lane; several may share a world.
#ifndef VD_SERVICE_H
#define VD_SERVICE_H

#include "tui/session/request.h"

typedef struct vd_service vd_service;

// Keeps a reference to world.
vd_status vd_service_new(vd_world *world, vd_service **out, vd_error *err);
void vd_service_free(vd_service *service);

// Serves one request (a vd_worker_serve; context is the vd_service). A model stays loaded once
// it was asked for. A question comes with all that was said before it: what the model has heard of
// that already is not computed again, whatever was undone, changed or asked of others meanwhile.
void vd_service_serve(void *context, const vd_request *request, const atomic_int *stop,
                      vd_event *event);

#endif

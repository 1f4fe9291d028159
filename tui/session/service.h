// Serves the requests of one lane of the chat: keeps the models that were requested, each with its
// cached conversation. Runs on the thread of the lane; several lanes may share a world.
#ifndef VD_SERVICE_H
#define VD_SERVICE_H

#include "tui/session/request.h"

typedef struct vd_service vd_service;

vd_service *vd_service_new(vd_world *world); // keeps a reference to it
void vd_service_free(vd_service *service);
const vd_world *vd_service_world(const vd_service *service);

// 1 + the number of each text, of equal ones that of the first (g_hash_table_destroy).
GHashTable *vd_pool_index(const char *const *text, int count);

// Serves one request (a vd_worker_serve; context is the vd_service). A model stays loaded
// after its first request. A question comes with all turns before it; turns that the model has
// encoded already are not encoded again.
void vd_service_serve(void *context, const vd_request *request, const atomic_int *stop,
                      vd_event *event);

#endif

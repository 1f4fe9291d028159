// The engine's side of a lane of the chat: the models it was asked for, each with what it has
// cached of the conversation. Runs on the lane's thread; several may share a world.
#ifndef VD_CONVERSATION_H
#define VD_CONVERSATION_H

#include "tui/session/request.h"

typedef struct vd_conversation vd_conversation;

// Keeps a reference to world.
vd_status vd_conversation_new(vd_world *world, vd_conversation **out, vd_error *err);
void vd_conversation_free(vd_conversation *conversation);

// Serves one request (a vd_worker_serve; context is the vd_conversation). A model stays loaded once
// it was asked for. A question comes with all that was said before it: what the model has heard of
// that already is not computed again, whatever was undone, changed or asked of others meanwhile.
void vd_conversation_serve(void *context, const vd_request *request, const atomic_int *stop,
                           vd_event *event);

#endif

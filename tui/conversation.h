// The engine's side of the chat: one conversation, held with whichever model is asked for. Runs on
// the worker's thread.
#ifndef VD_CONVERSATION_H
#define VD_CONVERSATION_H

#include "tui/request.h"

typedef struct vd_conversation vd_conversation;

// Keeps a reference to world.
vd_status vd_conversation_new(vd_world *world, vd_conversation **out, vd_error *err);
void vd_conversation_free(vd_conversation *conversation);

// Serves one request (a vd_worker_serve; context is the vd_conversation). A model stays loaded once
// it was asked for. Switching models carries the conversation over: the new one hears the same
// questions with the same answers.
void vd_conversation_serve(void *context, const vd_request *request, const atomic_int *stop,
                           vd_event *event);

#endif

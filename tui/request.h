// What the chat asks for and what comes back: the view makes requests, the engine's thread (or the
// terminal's side) serves them and answers with events. Plain data.
#ifndef VD_REQUEST_H
#define VD_REQUEST_H

#include "engine/error.h"
#include "tui/session.h"

typedef enum vd_request_kind {
    // for the engine's thread, served in order, each with an event
    VD_REQUEST_MODEL,   // text: "base", "improved" or a path; the conversation is carried over
    VD_REQUEST_PICTURE, // index of a picture of the world; a new conversation
    VD_REQUEST_ASK,     // text; the first answer goes into the conversation
    VD_REQUEST_CHOOSE,  // index of the pool's answer that replaces the last one
    VD_REQUEST_UNDO,
    // for the terminal's side, at once, without an event
    VD_REQUEST_STOP,
    VD_REQUEST_MOUSE, // index 1 = on, 0 = off
    VD_REQUEST_REDRAW,
    VD_REQUEST_SUSPEND,
    VD_REQUEST_LEAVE
} vd_request_kind;

typedef struct vd_request {
    vd_request_kind kind;
    long serial; // comes back in the event
    char *text;  // owned, or NULL
    size_t index;
} vd_request;

typedef struct vd_event {
    vd_request_kind kind;
    long serial;
    vd_status status;
    vd_error error; // unless status is VD_OK
    // MODEL
    char model[64], backend[64];
    const char *const *answers; // (answer_count) the pool's texts; borrowed, as long as the worker
    int answer_count;
    // PICTURE, MODEL: boxes (regions, 4) in 0..1, owned; NULL when the features carry none
    float *boxes;
    int regions;
    // ASK
    vd_reply reply;
} vd_event;

// Frees what they own and zeroes them.
void vd_request_clear(vd_request *request);
void vd_event_clear(vd_event *event);

#endif

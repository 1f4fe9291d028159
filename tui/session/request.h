// Requests of a view and the events that answer them. The engine's thread, or the main loop, serves
// the requests. Plain data.
#ifndef VD_REQUEST_H
#define VD_REQUEST_H

#include <glib.h>

#include "engine/base/error.h"
#include "features/pictures/image.h"
#include "tui/session/caption_sheet.h"
#include "tui/session/walk.h"

typedef enum vd_request_kind {
    VD_REQUEST_NONE,
    // served in order by the lane's thread, each answered by an event
    VD_REQUEST_MODEL,   // text: a bundled name or a path answers this lane's questions
    VD_REQUEST_PICTURE, // index of a picture of the world: where its regions lie
    VD_REQUEST_IMAGE,   // the same, or the file `text`: its pixels, for the screen
    VD_REQUEST_ASK,     // text, about picture `index`, after the turns of `history`
    VD_REQUEST_WALK,    // the same as a walk, with `switches`
    VD_REQUEST_CAPTION, // `caption`: a picture's caption word by word
    VD_REQUEST_CASE,    // index of a case of a comparison (tui/compare/cases.h)
    // served by the main loop at once, without an event
    VD_REQUEST_STOP,
    VD_REQUEST_MOUSE,        // index 1 = on, 0 = off
    VD_REQUEST_PICTURE_MODE, // index: a vd_picture_mode
    VD_REQUEST_REDRAW,
    VD_REQUEST_COPY,   // text: to the clipboard
    VD_REQUEST_EXPORT, // the conversation to the file `text`; index: vd_export_kind
    VD_REQUEST_SUSPEND,
    VD_REQUEST_SHOW, // what is drawn has changed: once more
    VD_REQUEST_LEAVE
} vd_request_kind;

typedef struct vd_request {
    vd_request_kind kind;
    long serial; // copied to the event, as is the lane
    int lane;
    char *text; // owned, or NULL
    size_t index;
    vd_turn *history; // (turns), owned with its texts; NULL when turns is 0
    int turns;
    vd_switches *switches;    // of a WALK, owned
    bool effects;             // also the effect of every single switch
    vd_caption_wish *caption; // of a CAPTION, owned
} vd_request;

// The answers that a model ranks; borrowed, valid as long as the worker.
typedef struct vd_pool_texts {
    const char *const *text; // (count)
    int count;
    const char *path;  // where they come from; NULL: not known
    GHashTable *index; // by text (vd_pool_index); NULL: there are none
} vd_pool_texts;

// What answers: a model's file and the pool that it ranks. Two may have the same name.
typedef struct vd_answerer {
    vd_fingerprint model, pool;
} vd_answerer;

bool vd_answerer_same(const vd_answerer *a, const vd_answerer *b);

typedef struct vd_event {
    vd_request_kind kind;
    long serial;
    int lane;
    vd_status status;
    vd_error error; // unless status is VD_OK
    // MODEL
    char *asked; // the request's text, owned
    char model[64], backend[64];
    vd_pool_texts pool;
    const vd_vocab *vocab; // borrowed, as the pool
    vd_answerer by;
    // PICTURE, ASK: owned, without their features
    vd_picture_regions regions;
    // IMAGE: owned; a larger one than a screen has pixels is reduced
    vd_image image;
    // ASK
    vd_reply reply;
    vd_fingerprint features_hash;
    // WALK
    vd_walk *walk; // owned
    // CAPTION
    vd_caption_sheet *caption; // owned
    // CASE: the result, owned; its type is known to tui/compare; free_made frees it
    size_t case_index;
    void *made;
    void (*free_made)(void *made);
} vd_event;

// Frees what they own and zeroes them.
void vd_request_clear(vd_request *request);
void vd_event_clear(vd_event *event);

#endif

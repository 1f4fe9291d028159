#include "tui/session/request.h"

#include "engine/base/alloc.h"

void vd_request_clear(vd_request *request)
{
    vd_free(request->text);
    vd_free(request->history);
    vd_free(request->switches);
    *request = (vd_request){0};
}

void vd_event_clear(vd_event *event)
{
    if (event->made)
        event->free_made(event->made);
    vd_free(event->boxes);
    vd_reply_clear(&event->reply);
    vd_walk_free(event->walk);
    *event = (vd_event){0};
}

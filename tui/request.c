#include "tui/request.h"

#include "engine/alloc.h"

void vd_request_clear(vd_request *request)
{
    vd_free(request->text);
    vd_free(request->history);
    *request = (vd_request){0};
}

void vd_event_clear(vd_event *event)
{
    vd_free(event->boxes);
    vd_reply_clear(&event->reply);
    *event = (vd_event){0};
}

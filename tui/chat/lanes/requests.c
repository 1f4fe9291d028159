// What the lanes ask for, until it is taken.
#include <string.h>

#include "tui/chat/lanes/lanes.h"

bool vd_lanes_post(vd_lanes *lanes, vd_request *request)
{
    if (lanes->request_count == VD_LANE_REQUESTS) {
        vd_notice_complain(lanes->notice, "too much at once: wait a moment");
        vd_request_clear(request);
        return false;
    }
    request->serial = ++lanes->serial;
    lanes->request[lanes->request_count++] = *request;
    *request = (vd_request){0};
    return true;
}

bool vd_lanes_send(vd_lanes *lanes, vd_request_kind kind, int lane, const char *text, size_t index)
{
    vd_request request = {.kind = kind, .lane = lane, .text = g_strdup(text), .index = index};
    return vd_lanes_post(lanes, &request);
}

vd_request vd_lanes_prepare(const vd_lanes *lanes, vd_request_kind kind, int lane, size_t round)
{
    return (vd_request){.kind = kind,
                        .lane = lane,
                        .text = g_strdup(lanes->conversation->branch->rounds[round].typed),
                        .index = lanes->conversation->branches.picture,
                        .history = vd_lanes_history(lanes, lane, round),
                        .turns = (int)round};
}

bool vd_lanes_take_request(vd_lanes *lanes, vd_request *out)
{
    if (lanes->request_count == 0)
        return false;
    *out = lanes->request[0];
    memmove(&lanes->request[0], &lanes->request[1], --lanes->request_count * sizeof(vd_request));
    return true;
}

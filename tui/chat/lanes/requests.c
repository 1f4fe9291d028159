// What the lanes ask for, until it is taken.
#include "engine/base/alloc.h"
#include "tui/chat/lanes/lanes.h"

bool vd_lanes_post(vd_lanes *lanes, vd_request *request)
{
    if (lanes->request_count == VD_LANE_REQUESTS) {
        vd_notice_complain(lanes->notice, "too much at once: wait a moment");
        vd_request_clear(request);
        return false;
    }
    int at = (lanes->request_first + lanes->request_count++) % VD_LANE_REQUESTS;
    request->serial = ++lanes->serial;
    lanes->request[at] = *request;
    *request = (vd_request){0};
    return true;
}

bool vd_lanes_send(vd_lanes *lanes, vd_request_kind kind, int lane, const char *text, size_t index)
{
    vd_request request = {
        .kind = kind, .lane = lane, .text = text ? vd_strdup(text) : NULL, .index = index};
    if (text && !request.text)
        return vd_notice_complain(lanes->notice, "out of memory");
    return vd_lanes_post(lanes, &request);
}

bool vd_lanes_prepare(const vd_lanes *lanes, vd_request_kind kind, int lane, size_t round,
                      vd_request *out)
{
    *out = (vd_request){.kind = kind,
                        .lane = lane,
                        .text = vd_strdup(lanes->conversation->branch->rounds[round].typed),
                        .index = lanes->conversation->branches.picture,
                        .history = round ? vd_lanes_history(lanes, lane, round) : NULL,
                        .turns = (int)round};
    if (out->text && (!round || out->history))
        return true;
    vd_request_clear(out);
    return false;
}

bool vd_lanes_take_request(vd_lanes *lanes, vd_request *out)
{
    if (lanes->request_count == 0)
        return false;
    *out = lanes->request[lanes->request_first];
    lanes->request[lanes->request_first] = (vd_request){0};
    lanes->request_first = (lanes->request_first + 1) % VD_LANE_REQUESTS;
    lanes->request_count--;
    return true;
}

// What the lanes ask for, until it is taken.
#include "tui/chat/lanes/lanes.h"

long vd_lanes_post(vd_lanes *lanes, vd_request request)
{
    request.serial = ++lanes->serial;
    g_array_append_val(lanes->requests, request);
    return request.serial;
}

long vd_lanes_send(vd_lanes *lanes, vd_request_kind kind, int lane, const char *text, size_t index)
{
    return vd_lanes_post(
        lanes, (vd_request){.kind = kind, .lane = lane, .text = g_strdup(text), .index = index});
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
    if (lanes->requests->len == 0)
        return false;
    *out = g_array_index(lanes->requests, vd_request, 0);
    g_array_remove_index(lanes->requests, 0);
    return true;
}

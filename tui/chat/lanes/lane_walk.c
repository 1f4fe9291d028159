// The walk through the answer that is looked at, and again with what is switched.
#include "tui/chat/lanes/lanes.h"

static bool is_of(const vd_lanes *lanes, int lane, const vd_response *response)
{
    const vd_lane_walk *own = &lanes->walk;
    return own->stamp == response->stamp && vd_answerer_same(&own->by, &lanes->lane[lane].by);
}

bool vd_lanes_walks(const vd_lanes *lanes, int lane, const vd_response *response)
{
    return lanes->walk.walk && is_of(lanes, lane, response);
}

bool vd_lanes_walk(vd_lanes *lanes, int lane, size_t round)
{
    vd_lane_walk *own = &lanes->walk;
    const vd_response *response = &lanes->conversation->branch->rounds[round].response[lane];
    const vd_lane *by = &lanes->lane[lane];
    if (own->serial || !by->loaded)
        return false;
    bool fresh = !is_of(lanes, lane, response);
    if (fresh) {
        vd_walk_free(own->walk);
        // Another model would walk to another answer, of another pool.
        *own = (vd_lane_walk){.stamp = response->stamp,
                              .by = by->by,
                              .failed = !vd_answerer_same(&response->by, &by->by)};
        if (own->failed)
            return true;
    } else if (own->failed ||
               (own->walk && vd_switches_same(&own->walk->switches, &own->switches))) {
        return false;
    }
    vd_request request = vd_lanes_prepare(lanes, VD_REQUEST_WALK, lane, round);
    request.switches = g_memdup2(&own->switches, sizeof own->switches);
    request.effects = !own->walk;
    own->serial = vd_lanes_post(lanes, request);
    return fresh;
}

void vd_lanes_flip(vd_lanes *lanes, const vd_switch *one)
{
    if (!vd_switches_flip(&lanes->walk.switches, one))
        vd_notice_complain(lanes->notice, "at most %d changes", VD_SWITCHES);
    lanes->walk.failed = false;
}

void vd_lanes_walk_came(vd_lanes *lanes, vd_event *event)
{
    vd_lane_walk *own = &lanes->walk;
    if (!own->serial || own->serial != event->serial)
        return;
    own->serial = 0;
    if (event->status) {
        // What cannot be switched is switched back.
        if (own->walk)
            own->switches = own->walk->switches;
        own->failed = !own->walk;
        if (event->status != VD_INTERRUPTED)
            vd_notice_complain(lanes->notice, "%s", event->error.text);
        return;
    }
    vd_walk *walk = event->walk;
    event->walk = NULL;
    if (own->walk && !walk->effect) { // they are the same, whatever is switched
        walk->effect = own->walk->effect;
        walk->effects = own->walk->effects;
        own->walk->effect = NULL;
    }
    vd_walk_free(own->walk);
    own->walk = walk;
    own->came = event->serial;
}

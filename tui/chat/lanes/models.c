// Which models answer.
#include <string.h>

#include "tui/chat/lanes/lanes.h"

void vd_lanes_init(vd_lanes *lanes, vd_conversation *conversation, vd_notice *notice)
{
    *lanes = (vd_lanes){.conversation = conversation,
                        .notice = notice,
                        .count = 1,
                        .requests = g_array_new(FALSE, FALSE, sizeof(vd_request))};
}

static void free_names(vd_lane *lane)
{
    g_free(lane->name);
    g_free(lane->answering);
}

void vd_lanes_free(vd_lanes *lanes)
{
    for (int i = 0; i < VD_MODELS; i++)
        free_names(&lanes->lane[i]);
    vd_walk_free(lanes->walk.walk);
    vd_caption_sheet_free(lanes->caption.sheet);
    for (vd_request request; vd_lanes_take_request(lanes, &request);)
        vd_request_clear(&request);
    g_clear_pointer(&lanes->requests, g_array_unref);
    *lanes = (vd_lanes){0};
}

const char *vd_lane_name(const vd_lane *lane)
{
    return lane->answering ? lane->answering : lane->name;
}

void vd_lanes_use_model(vd_lanes *lanes, int lane, const char *name)
{
    if (vd_lanes_must_wait(lanes))
        return;
    vd_lane *own = &lanes->lane[lane];
    own->loading = vd_lanes_send(lanes, VD_REQUEST_MODEL, lane, name, 0);
    const char *base = strrchr(name, '/');
    snprintf(own->coming, sizeof own->coming, "%s", base ? base + 1 : name);
    char *before = own->name; // may be what `name` is
    own->name = g_strdup(name);
    g_free(before);
}

static const char *other_model(const vd_lanes *lanes)
{
    const vd_lane *first = &lanes->lane[0];
    return vd_world_next_model(lanes->conversation->world, first->name,
                               first->loading ? NULL : &first->by.model);
}

// Another branch in which the same questions were all answered by this model; -1: none.
static int branch_of(const vd_conversation *conversation, const vd_answerer *by)
{
    const vd_branches *branches = &conversation->branches;
    for (int i = 0; i < branches->count; i++) {
        const vd_branch *branch = &branches->at[i], *now = conversation->branch;
        bool same = i != branches->used && branch->count == now->count && now->count > 0;
        for (size_t r = 0; same && r < now->count; r++)
            same = branch->rounds[r].response[0].ready &&
                   vd_answerer_same(&branch->rounds[r].response[0].by, by) &&
                   strcmp(branch->rounds[r].typed, now->rounds[r].typed) == 0;
        if (same)
            return i;
    }
    return -1;
}

// Two that are compared change places, and the conversation is that of the other one: the branch
// that has it already, or a new one.
static void exchange_models(vd_lanes *lanes)
{
    size_t count = lanes->conversation->branch->count;
    int known = branch_of(lanes->conversation, &lanes->lane[1].by);
    g_autofree char *first = g_strdup(lanes->lane[0].name);
    if (!vd_lanes_must_wait(lanes) && (known >= 0 || count == 0 || vd_lanes_fork(lanes, count))) {
        vd_lanes_use_model(lanes, 0, lanes->lane[1].name);
        vd_lanes_use_model(lanes, 1, first);
        if (known >= 0) {
            vd_lanes_use_branch(lanes, known);
        } else {
            vd_lanes_forget(lanes, 0, 0);
            lanes->conversation->asked_again = count ? 0 : -1;
            vd_lanes_pump(lanes);
        }
    }
}

void vd_lanes_switch_model(vd_lanes *lanes)
{
    if (lanes->count > 1)
        exchange_models(lanes);
    else
        vd_lanes_use_model(lanes, 0, other_model(lanes));
}

int vd_lanes_named(const vd_lanes *lanes, int first, const char *model)
{
    for (int i = first; i < lanes->count; i++)
        if (lanes->lane[i].name && strcmp(lanes->lane[i].name, model) == 0)
            return i;
    return -1;
}

void vd_lanes_first_model(vd_lanes *lanes, const char *name)
{
    int lane = vd_lanes_named(lanes, 0, name);
    if (lane == 1)
        exchange_models(lanes);
    else if (lane > 1)
        vd_notice_say(lanes->notice, "%s is compared already", name);
    else
        vd_lanes_use_model(lanes, 0, name);
}

void vd_lanes_compare_with(vd_lanes *lanes, const char *model)
{
    if (!model[0]) {
        lanes->compare_when_free = lanes->count == 1 && vd_conversation_waits(lanes->conversation);
        if (lanes->count > 1 || lanes->compare_when_free)
            return;
        model = other_model(lanes);
    }
    if (vd_lanes_named(lanes, 0, model) >= 0) {
        vd_notice_say(lanes->notice, "%s is compared already", model);
        return;
    }
    if (lanes->count == VD_MODELS) {
        vd_notice_complain(lanes->notice,
                           "at most %d models can be compared; /compare off starts over",
                           VD_MODELS);
        return;
    }
    int lane = lanes->count++;
    vd_lanes_use_model(lanes, lane, model);
    if (!lanes->lane[lane].loading)
        lanes->count--; // it said why
}

void vd_lanes_remove_last(vd_lanes *lanes)
{
    int lane = --lanes->count;
    const vd_branch *branch = lanes->conversation->branch;
    for (size_t i = 0; i < branch->count; i++)
        vd_response_clear(&branch->rounds[i].response[lane]);
    vd_conversation_forget_aside(lanes->conversation, lane);
    free_names(&lanes->lane[lane]);
    lanes->lane[lane] = (vd_lane){0};
}

void vd_lanes_stop_comparing(vd_lanes *lanes)
{
    while (lanes->count > 1)
        vd_lanes_remove_last(lanes);
}

// Asking the models what is missing, and what changes the rounds that they are asked.
#include <string.h>

#include "tui/base/bundled.h"
#include "tui/chat/lanes/lanes.h"

// ---- asking ------------------------------------------------------------------------------------

bool vd_lanes_wait(const vd_lanes *lanes)
{
    const vd_lane *first = &lanes->lane[0];
    return vd_conversation_waits(lanes->conversation) &&
           (first->loaded || first->loading || first->serial);
}

bool vd_lanes_must_wait(vd_lanes *lanes)
{
    bool waits = vd_lanes_wait(lanes);
    if (waits)
        vd_notice_wait(lanes->notice, "still answering; Ctrl-C stops it");
    return waits;
}

// The round a lane has to ask next; false when there is none, or it must wait.
static bool next_round(const vd_lanes *lanes, int lane, size_t *out)
{
    const vd_branch *branch = lanes->conversation->branch;
    size_t at = 0;
    while (at < branch->count && branch->rounds[at].response[lane].ready)
        at++;
    if (at == branch->count)
        return false;
    for (size_t i = 0; i < at; i++)
        if (!vd_lanes_answer(lanes, lane, i))
            return false;
    *out = at;
    return true;
}

void vd_lanes_pump(vd_lanes *lanes)
{
    for (int lane = 0; lane < lanes->count; lane++) {
        vd_lane *own = &lanes->lane[lane];
        if (own->serial || own->stopped || (!own->loaded && !own->loading) ||
            !next_round(lanes, lane, &own->at))
            continue;
        vd_request request = vd_lanes_prepare(lanes, VD_REQUEST_ASK, lane, own->at);
        own->serial = vd_lanes_post(lanes, request);
    }
}

bool vd_lanes_ask(vd_lanes *lanes, const char *typed)
{
    const vd_lane *first = &lanes->lane[0];
    size_t before = vd_conversation_pending(lanes->conversation);
    if (first->failed.status && !first->loaded && !first->loading)
        return vd_notice_complain(lanes->notice, VD_NO_MODEL);
    vd_branch_add(lanes->conversation->branch, typed);
    for (int i = 0; i < lanes->count; i++)
        lanes->lane[i].stopped = false;
    vd_lanes_pump(lanes);
    if (before)
        vd_notice_wait(lanes->notice, "%zu question%s before it; Ctrl-C stops all", before,
                       before == 1 ? "" : "s");
    return true;
}

void vd_lanes_again(vd_lanes *lanes)
{
    size_t count = lanes->conversation->branch->count;
    if (vd_lanes_must_wait(lanes))
        return;
    if (count == 0) {
        vd_notice_complain(lanes->notice, VD_ASK_FIRST);
        return;
    }
    lanes->conversation->asked_again = (int)count - 1;
    vd_conversation_clear_undone(lanes->conversation);
    for (int i = 0; i < lanes->count; i++)
        vd_lanes_forget(lanes, i, count - 1);
    vd_lanes_pump(lanes);
}

// ---- rounds that change ------------------------------------------------------------------------

void vd_lanes_forget(vd_lanes *lanes, int lane, size_t from)
{
    vd_lane *own = &lanes->lane[lane];
    const vd_branch *branch = lanes->conversation->branch;
    for (size_t i = from; i < branch->count; i++) {
        vd_response *response = &branch->rounds[i].response[lane];
        g_clear_pointer(&response->wanted, g_free);
        if (response->ready)
            vd_response_replace(response);
    }
    if (own->serial && own->at >= from)
        own->serial = 0; // its answer is not waited for any more
    own->stopped = false;
}

void vd_lanes_drop(vd_lanes *lanes, size_t keep)
{
    vd_conversation_drop(lanes->conversation, keep);
    for (int i = 0; i < VD_MODELS; i++)
        if (lanes->lane[i].serial && lanes->lane[i].at >= keep)
            lanes->lane[i].serial = 0;
}

// Answers that come later do not belong to the conversation any more.
static void stop_waiting(vd_lanes *lanes)
{
    for (int i = 0; i < VD_MODELS; i++) {
        lanes->lane[i].serial = 0;
        lanes->lane[i].stopped = false;
    }
}

// Undoes /new: whether there was one to undo.
static bool return_to_before(vd_lanes *lanes)
{
    if (!vd_conversation_return(lanes->conversation))
        return false;
    stop_waiting(lanes);
    vd_notice_say(lanes->notice, "the conversation before /new is back");
    vd_lanes_pump(lanes);
    return true;
}

void vd_lanes_undo(vd_lanes *lanes)
{
    size_t count = lanes->conversation->branch->count;
    if (vd_lanes_must_wait(lanes))
        return;
    if (count == 0) {
        if (!return_to_before(lanes))
            vd_notice_say(lanes->notice, "nothing to undo: no question was asked yet");
        return;
    }
    vd_conversation_forget_last(lanes->conversation);
    vd_lanes_drop(lanes, count - 1);
    vd_notice_say(lanes->notice, "the last round was undone; Alt-r brings it back");
}

void vd_lanes_redo(vd_lanes *lanes)
{
    if (vd_lanes_must_wait(lanes))
        return;
    if (vd_conversation_bring_back(lanes->conversation)) {
        vd_notice_say(lanes->notice, "round %zu is back", lanes->conversation->branch->count);
        vd_lanes_pump(lanes);
    } else if (!return_to_before(lanes)) {
        vd_notice_say(lanes->notice, "nothing to redo");
    }
}

bool vd_lanes_fork(vd_lanes *lanes, size_t keep)
{
    if (!vd_conversation_fork(lanes->conversation, keep))
        return vd_notice_complain(lanes->notice, "out of memory: the conversation stays as it is");
    stop_waiting(lanes);
    return true;
}

void vd_lanes_use_branch(vd_lanes *lanes, int branch)
{
    vd_conversation *conversation = lanes->conversation;
    int count = conversation->branches.count;
    if (count < 2 || branch < 0 || branch >= count) {
        vd_notice_say(lanes->notice, "there is only one branch; /branch starts another here");
        return;
    }
    if (vd_lanes_must_wait(lanes))
        return;
    vd_conversation_use(conversation, branch);
    stop_waiting(lanes);
    vd_notice_say(lanes->notice, "branch %d of %d: %zu round%s", branch + 1, count,
                  conversation->branch->count, conversation->branch->count == 1 ? "" : "s");
    vd_lanes_pump(lanes);
}

// Every lane with this answer in its history forgets what came after it.
static void forget_after(vd_lanes *lanes, int lane, size_t round)
{
    for (int other = 0; other < lanes->count; other++)
        if (vd_lanes_source(lanes, other, round) == lane)
            vd_lanes_forget(lanes, other, round + 1);
    vd_lanes_pump(lanes);
}

bool vd_lanes_choose(vd_lanes *lanes, int lane, size_t at, int rank)
{
    vd_conversation *conversation = lanes->conversation;
    const vd_response *shown = &conversation->branch->rounds[at].response[lane];
    size_t count = conversation->branch->count;
    if (vd_lanes_must_wait(lanes) || rank < 0 || rank >= shown->reply.answer.candidates)
        return false;
    int from = vd_lanes_source(lanes, lane, at);
    if (from != lane) {
        vd_notice_say(
            lanes->notice, "%s continues from %s here; /history own gives it its own history",
            shown->model, vd_follow_answers(from < 0 ? VD_FOLLOW_DATA : VD_FOLLOW_SHARED));
        return false;
    }
    bool last = at + 1 == count;
    if (!last && !vd_lanes_fork(lanes, count)) // what comes after it will change
        return false;
    vd_response *response = &conversation->branch->rounds[at].response[lane];
    response->chosen = response->reply.answer.order[rank];
    vd_conversation_clear_undone(conversation);
    if (!last)
        conversation->asked_again = (int)at + 1;
    vd_notice_say(lanes->notice, "the conversation continues with \"%s\"",
                  vd_response_text(response, response->chosen));
    forget_after(lanes, lane, at);
    return true;
}

bool vd_lanes_change(vd_lanes *lanes, size_t at, const char *typed)
{
    vd_conversation *conversation = lanes->conversation;
    if (!vd_lanes_fork(lanes, conversation->branch->count))
        return false;
    bool other = strcmp(conversation->branch->rounds[at].typed, typed) != 0;
    vd_conversation_change(conversation, at, typed);
    for (int lane = 0; lane < lanes->count; lane++) {
        vd_lanes_forget(lanes, lane, at);
        conversation->branch->rounds[at].response[lane].before.other_question = other;
    }
    conversation->asked_again = (int)at;
    vd_lanes_pump(lanes);
    return true;
}

// Where the data has no answer, the shared one is the first model's.
static void say_followed(const vd_lanes *lanes, int lane)
{
    const vd_lane *own = &lanes->lane[lane];
    const vd_branch *branch = lanes->conversation->branch;
    const char *model = own->loaded ? own->model : own->name;
    size_t missing = 0;
    for (size_t i = 0; i < branch->count; i++)
        missing += vd_people_answer(lanes->conversation, &branch->rounds[i]) == NULL;
    if (own->follow == VD_FOLLOW_DATA)
        vd_notice_say(lanes->notice,
                      "%s continues from answers in the data; where it has none (%zu of %zu "
                      "rounds), from %s",
                      model, missing, branch->count, lane ? "shared answers" : "its own");
    else if (own->follow == VD_FOLLOW_SHARED && lane)
        vd_notice_say(lanes->notice, "%s continues from shared answers", model);
    else
        vd_notice_say(lanes->notice, "%s continues from its own answers%s", model,
                      lane ? "" : "; models compared with it (F10) share them");
}

void vd_lanes_follow(vd_lanes *lanes, int lane, vd_follow follow)
{
    if (vd_lanes_must_wait(lanes))
        return;
    vd_conversation *conversation = lanes->conversation;
    vd_lane *own = &lanes->lane[lane];
    size_t same = 0, count = conversation->branch->count; // rounds that stay as they are
    const vd_follow before = own->follow;
    for (; same < count; same++) {
        own->follow = before;
        const char *then = vd_lanes_answer(lanes, lane, same);
        own->follow = follow;
        const char *now = vd_lanes_answer(lanes, lane, same);
        if (!then || !now || strcmp(then, now) != 0)
            break;
    }
    own->follow = follow;
    if (lane == 0 && same < count)
        vd_conversation_clear_undone(conversation);
    if (same + 1 < count) {
        if (lane == 0 && !vd_lanes_fork(lanes, count)) {
            own->follow = before;
            return;
        }
        vd_lanes_forget(lanes, lane, same + 1);
        if (lane == 0)
            conversation->asked_again = (int)same + 1;
    }
    if (lane > 0)
        vd_conversation_forget_aside(conversation, lane);
    say_followed(lanes, lane);
    vd_lanes_pump(lanes);
}

void vd_lanes_recaption(vd_lanes *lanes)
{
    vd_conversation *conversation = lanes->conversation;
    vd_conversation_recaption(conversation);
    for (int lane = 0; lane < lanes->count; lane++)
        vd_lanes_forget(lanes, lane, 0);
    conversation->asked_again = conversation->branch->count ? 0 : -1;
    vd_lanes_pump(lanes);
}

// ---- pictures ----------------------------------------------------------------------------------

bool vd_lanes_reads_image(const vd_lanes *lanes, size_t index)
{
    const char *path = vd_world_own_path(lanes->conversation->world, index);
    return path && *path == '/';
}

long vd_lanes_read_image(vd_lanes *lanes, const char *path, size_t index)
{
    return vd_lanes_send(lanes, VD_REQUEST_IMAGE, VD_MODELS - 1, path, index);
}

// The last lane is seldom in use: there the regions of a picture of one's own are found while the
// first one loads its model.
static void ask_picture(vd_lanes *lanes, size_t index, bool image)
{
    int lane = vd_world_own_path(lanes->conversation->world, index) ? VD_MODELS - 1 : 0;
    if (vd_conversation_waits(lanes->conversation))
        vd_lanes_send(lanes, VD_REQUEST_STOP, 0, NULL, 0);
    image = image && vd_lanes_reads_image(lanes, index);
    lanes->image = image ? vd_lanes_read_image(lanes, NULL, index) : 0;
    lanes->picture = vd_lanes_send(lanes, VD_REQUEST_PICTURE, lane, NULL, index);
}

void vd_lanes_show_picture(vd_lanes *lanes, size_t index, bool image)
{
    ask_picture(lanes, index, image);
    bool other = index != lanes->conversation->branches.picture;
    if (vd_conversation_show(lanes->conversation, index))
        vd_notice_say(lanes->notice,
                      "the conversation about this picture continues; /new starts over");
    if (other)
        stop_waiting(lanes);
    vd_lanes_pump(lanes);
}

bool vd_lanes_leave_session(vd_lanes *lanes, size_t index)
{
    if (vd_lanes_must_wait(lanes))
        return false;
    ask_picture(lanes, index, true);
    lanes->lane[0].follow = VD_FOLLOW_SHARED;
    lanes->conversation->branches.picture = index;
    vd_conversation_clear(lanes->conversation);
    stop_waiting(lanes);
    return true;
}

void vd_lanes_start_over(vd_lanes *lanes)
{
    ask_picture(lanes, lanes->conversation->branches.picture, lanes->image != 0);
    if (lanes->conversation->branch->count)
        vd_notice_say(lanes->notice, "started over; Alt-u brings the conversation back");
    vd_conversation_leave(lanes->conversation);
    stop_waiting(lanes);
}

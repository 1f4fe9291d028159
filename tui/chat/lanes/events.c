// What comes back from the models.
#include <math.h>
#include <string.h>

#include "tui/chat/lanes/lanes.h"

// ---- models ------------------------------------------------------------------------------------

// The one before it, if any, answers on.
static void no_model(vd_lanes *lanes, const vd_event *event)
{
    vd_lane *own = &lanes->lane[event->lane];
    vd_notice_complain(lanes->notice, "%s", event->error.text);
    if (own->answering) {
        g_free(own->name);
        own->name = g_strdup(own->answering);
    }
    if (event->lane > 0 && !own->loaded && event->lane == lanes->count - 1)
        vd_lanes_remove_last(lanes);
}

// What is shown is what the model that answers from now on makes of the last question. An answer
// that was chosen instead of the first one stays chosen.
static void ask_last_again(vd_lanes *lanes)
{
    vd_conversation *conversation = lanes->conversation;
    size_t count = conversation->branch->count;
    vd_response *last = count ? &conversation->branch->rounds[count - 1].response[0] : NULL;
    if (!last || !last->ready || vd_answerer_same(&last->by, &lanes->lane[0].by))
        return;
    bool chosen = last->chosen != last->reply.answer.order[0];
    conversation->asked_again = (int)count - 1;
    vd_conversation_clear_undone(conversation);
    vd_lanes_forget(lanes, 0, count - 1);
    if (chosen && last->before.answer)
        last->wanted = g_strdup(last->before.answer);
}

static void take_model(vd_lane *own, vd_event *event)
{
    g_free(own->answering);
    own->answering = event->asked;
    event->asked = NULL;
    own->loaded = true;
    own->by = event->by;
    memcpy(own->model, event->model, sizeof own->model);
    memcpy(own->backend, event->backend, sizeof own->backend);
    own->pool = event->pool;
    own->vocab = event->vocab;
}

// Of those that were asked for one after another the last one answers; where it cannot be read, the
// one that was read before it does.
static void model_came(vd_lanes *lanes, vd_event *event)
{
    vd_lane *own = &lanes->lane[event->lane];
    if (!own->loading)
        return; // it is not compared any more
    bool last = event->serial == own->loading, first = !own->loaded;
    if (event->status == VD_OK)
        take_model(own, event);
    if (event->status == VD_OK && event->lane > 0 && !first) {
        vd_lanes_forget(lanes, event->lane, 0);
        vd_conversation_forget_aside(lanes->conversation, event->lane);
    }
    if (!last)
        return;
    own->loading = 0;
    own->failed = event->status ? event->error : (vd_error){0};
    if (event->status) {
        no_model(lanes, event);
    } else if (event->lane > 0) {
        vd_notice_say(lanes->notice, "%s is compared with %s", own->model, lanes->lane[0].model);
    } else if (!first) {
        vd_notice_say(lanes->notice, "%s answers from now on", own->model);
    }
    if (event->lane == 0 && own->loaded)
        ask_last_again(lanes);
    vd_lanes_pump(lanes);
}

// ---- no answer ---------------------------------------------------------------------------------

// Without a model, why there is none.
static const char *reason(const vd_lanes *lanes, const vd_event *event)
{
    const vd_lane *own = &lanes->lane[event->lane];
    if (own->failed.status && !own->loaded)
        return own->failed.text;
    return event->status ? event->error.text : "no answer came";
}

// A recorded conversation was not asked to its end: the whole of it becomes a branch, which is
// asked when it is looked at, and the answered part continues. Where no branch is free it is asked
// to its end.
static void keep_recorded(vd_lanes *lanes, size_t at, const vd_event *event)
{
    const vd_conversation *conversation = lanes->conversation;
    size_t all = conversation->branch->count;
    bool stopped = event->status == VD_INTERRUPTED,
         full = conversation->branches.count == VD_BRANCHES;
    int used = conversation->branches.used,
        whole = used + 1 - (full && used > 0); // the oldest goes
    if (stopped && full) {
        vd_notice_say(lanes->notice,
                      "all %d branches are used: this cannot be stopped; Ctrl-D leaves",
                      VD_BRANCHES);
        vd_lanes_pump(lanes);
    } else if (!vd_lanes_fork(lanes, at)) {
        lanes->lane[0].stopped = true; // and says why; nothing of it is written anew
    } else if (stopped) {
        vd_notice_say(lanes->notice,
                      "stopped: the old conversation (rounds: %zu) is kept in branch %d (Alt-n)",
                      all, whole);
    } else {
        vd_notice_complain(
            lanes->notice,
            "%.400s; the old conversation (rounds: %zu) is kept in branch %d (Alt-n)",
            reason(lanes, event), all, whole);
    }
}

// Questions that were typed ahead do not depend on the one that failed.
static void remove_failed(vd_lanes *lanes, size_t at)
{
    for (int lane = 0; lane < lanes->count; lane++)
        vd_lanes_forget(lanes, lane, at);
    vd_conversation_remove(lanes->conversation, at);
    vd_lanes_pump(lanes);
}

// The first lane's question that has no answer, and those after it, are out of the conversation.
// Returns it, owned.
static char *take_back(vd_lanes *lanes, size_t at, const vd_event *event)
{
    const vd_branch *branch = lanes->conversation->branch;
    size_t lost = branch->count - at;
    bool ahead = lanes->conversation->asked_again < 0; // nothing of it was answered before
    char *question = g_strdup(branch->rounds[at].typed);
    if (event->status != VD_INTERRUPTED) {
        vd_notice_complain(lanes->notice, "%s%s%.200s", reason(lanes, event), lost > 1 ? ": " : "",
                           lost > 1 ? question : "");
        if (lost > 1 && ahead) {
            remove_failed(lanes, at);
            return question;
        }
    } else if (lost > 1 && ahead)
        vd_notice_say(lanes->notice, "stopped: %zu later question%s not asked; Up finds %s",
                      lost - 1, lost == 2 ? " was" : "s were", lost == 2 ? "it" : "them");
    else if (lost > 1)
        vd_notice_say(lanes->notice, "stopped: %zu later question%s not asked again", lost - 1,
                      lost == 2 ? " was" : "s were");
    else
        vd_notice_say(lanes->notice, "stopped");
    vd_lanes_drop(lanes, at);
    return question;
}

static char *no_answer(vd_lanes *lanes, const vd_event *event)
{
    vd_lane *own = &lanes->lane[event->lane];
    own->stopped = event->lane > 0;
    if (event->lane > 0) {
        if (event->status != VD_INTERRUPTED)
            vd_notice_complain(lanes->notice, "%s: %s", own->model, reason(lanes, event));
        return NULL;
    }
    if (!lanes->conversation->branch->rounds[own->at].response[0].wanted)
        return take_back(lanes, own->at, event);
    keep_recorded(lanes, own->at, event);
    return NULL;
}

// ---- answers -----------------------------------------------------------------------------------

// After the last of the rounds that were asked again.
static void sum_up(vd_lanes *lanes)
{
    vd_conversation *conversation = lanes->conversation;
    const vd_round *rounds = conversation->branch->rounds;
    int from = conversation->asked_again, changed = 0, count = (int)conversation->branch->count;
    if (from < 0 || vd_conversation_waits(conversation))
        return;
    conversation->asked_again = -1;
    for (int i = from; i < count; i++)
        changed += vd_response_changed(&rounds[i].response[0]);
    char before[256];
    vd_response_before(&rounds[from].response[0], before, sizeof before);
    if (from == count - 1 && before[0])
        vd_notice_say(lanes->notice, "round %d was: %s", count, before);
    else if (from < count - 1)
        vd_notice_say(lanes->notice, "rounds %d to %d were asked again: %d of %d answers changed",
                      from + 1, count, changed, count - from);
}

static double entropy_bits(const vd_answer *answer)
{
    double bits = 0;
    for (int i = 0; i < answer->candidates; i++)
        if (answer->probability[i] > 0)
            bits -= (double)(answer->probability[i] * log2f(answer->probability[i]));
    return bits;
}

static void take_answer(const vd_lanes *lanes, const vd_lane *own, vd_event *event)
{
    vd_conversation *conversation = lanes->conversation;
    vd_round *round = &conversation->branch->rounds[own->at];
    vd_response *response = &round->response[event->lane];
    response->ready = true;
    response->stamp = event->serial;
    response->reply = event->reply;
    event->reply = (vd_reply){0};
    response->by = own->by;
    memcpy(response->model, own->model, sizeof response->model);
    response->pool = own->pool;
    response->entropy = entropy_bits(&response->reply.answer);
    int rank = response->wanted ? vd_response_rank(response, response->wanted) : 0;
    response->chosen = response->reply.answer.order[rank < 0 ? 0 : rank];
    g_clear_pointer(&response->wanted, g_free);
    const char *question = response->reply.question;
    round->human = vd_people_round(conversation, question ? question : "", own->at);
    response->metrics = vd_people_metrics(conversation, round, response);
    vd_conversation_trim_topics(conversation, response);
}

static vd_arrival answer_came(vd_lanes *lanes, vd_event *event)
{
    vd_lane *own = &lanes->lane[event->lane];
    if (vd_lanes_recall_came(lanes, event) || !own->serial || own->serial != event->serial)
        return (vd_arrival){0}; // an answer to a conversation that was left
    own->serial = 0;
    if (event->status || event->reply.answer.candidates < 1)
        return (vd_arrival){.question = no_answer(lanes, event)};
    take_answer(lanes, own, event);
    if (event->lane == 0) {
        if (lanes->notice->kind == VD_NOTICE_WAIT)
            *lanes->notice = (vd_notice){0};
        sum_up(lanes);
    }
    vd_lanes_pump(lanes);
    return (vd_arrival){.answered = event->lane == 0};
}

vd_arrival vd_lanes_event(vd_lanes *lanes, vd_event *event)
{
    if (event->kind == VD_REQUEST_ASK)
        return answer_came(lanes, event);
    if (event->kind == VD_REQUEST_MODEL)
        model_came(lanes, event);
    else if (event->kind == VD_REQUEST_WALK)
        vd_lanes_walk_came(lanes, event);
    else if (event->kind == VD_REQUEST_CAPTION)
        vd_lanes_caption_came(lanes, event);
    else if (event->status && event->kind != VD_REQUEST_IMAGE) // the picture's place says it
        vd_notice_complain(lanes->notice, "%s", event->error.text);
    return (vd_arrival){0};
}

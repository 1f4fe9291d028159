// The models that answer: what each of them hears, asking them, taking their answers.
#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "tui/chat/chat.h"

// ---- whose answers a lane hears ----------------------------------------------------------------

const char *vd_follow_name(vd_follow follow)
{
    static const char *const names[VD_FOLLOWS] = {"shared", "own", "people's"};
    return names[follow];
}

// The lane whose answer to a round a lane hears; -1: people's.
static int heard_lane(const vd_chat *chat, int lane, const vd_round *round)
{
    vd_follow follow = chat->lanes[lane].follow;
    if (follow == VD_FOLLOW_HUMAN && vd_chat_human_answer(chat, round))
        return -1;
    return follow == VD_FOLLOW_OWN ? lane : 0;
}

const char *vd_chat_heard(const vd_chat *chat, int lane, size_t index)
{
    const vd_round *round = &chat->rounds[index];
    int from = heard_lane(chat, lane, round);
    if (from < 0)
        return vd_chat_human_answer(chat, round);
    const vd_take *take = &round->take[from];
    return take->ready ? vd_take_answer(take, take->chosen) : NULL;
}

bool vd_chat_hears_itself(const vd_chat *chat, int lane, size_t round)
{
    return heard_lane(chat, lane, &chat->rounds[round]) == lane;
}

// ---- asking ------------------------------------------------------------------------------------

static const char *heard_or_nothing(const vd_chat *chat, int lane, size_t index)
{
    const char *heard = vd_chat_heard(chat, lane, index);
    return heard ? heard : "";
}

vd_turn *vd_chat_history(const vd_chat *chat, int lane, size_t count)
{
    size_t bytes = count * sizeof(vd_turn);
    for (size_t i = 0; i < count; i++)
        bytes += strlen(chat->rounds[i].typed) + strlen(heard_or_nothing(chat, lane, i)) + 2;
    vd_turn *history = vd_alloc(bytes, 1);
    char *to = history ? (char *)(history + count) : NULL;
    for (size_t i = 0; to && i < count; i++) {
        const char *said[2] = {chat->rounds[i].typed, heard_or_nothing(chat, lane, i)};
        char *copy[2];
        for (int part = 0; part < 2; part++) {
            size_t size = strlen(said[part]) + 1;
            copy[part] = memcpy(to, said[part], size);
            to += size;
        }
        history[i] = (vd_turn){copy[0], copy[1]};
    }
    return history;
}

// The round a lane has to ask next; false when there is none, or it must wait.
static bool next_round(const vd_chat *chat, int lane, size_t *out)
{
    size_t at = 0;
    while (at < chat->round_count && chat->rounds[at].take[lane].ready)
        at++;
    if (at == chat->round_count)
        return false;
    for (size_t i = 0; i < at; i++)
        if (!vd_chat_heard(chat, lane, i))
            return false;
    *out = at;
    return true;
}

static bool ask_round(vd_chat *chat, int lane, size_t at)
{
    vd_request request = {.kind = VD_REQUEST_ASK,
                          .lane = lane,
                          .text = vd_strdup(chat->rounds[at].typed),
                          .index = chat->index,
                          .history = at ? vd_chat_history(chat, lane, at) : NULL,
                          .turns = (int)at};
    if (!request.text || (at && !request.history)) {
        vd_request_clear(&request);
        vd_chat_complain(chat, "out of memory: the question was not asked");
        return false;
    }
    if (!vd_chat_post_request(chat, &request))
        return false;
    chat->lanes[lane].serial = chat->serial;
    chat->lanes[lane].at = at;
    return true;
}

void vd_chat_pump(vd_chat *chat)
{
    for (int lane = 0; lane < chat->lane_count; lane++) {
        vd_lane *own = &chat->lanes[lane];
        size_t at;
        if (own->serial || own->stopped || (!own->model[0] && !own->loading[0]) ||
            !next_round(chat, lane, &at) || ask_round(chat, lane, at))
            continue;
        if (lane > 0 || chat->rounds[at].take[0].wanted)
            own->stopped = true;
        else // what cannot be asked is not in the conversation, unless it was recorded
            vd_chat_drop_rounds(chat, at);
    }
}

// ---- changes -----------------------------------------------------------------------------------

static char *describe(const vd_take *take)
{
    char text[256], percent[16] = "?";
    if (take->chosen >= 0 && take->chosen < take->reply.answer.candidates)
        vd_percent(percent, sizeof percent, take->reply.answer.probability[take->chosen]);
    snprintf(text, sizeof text, "%.150s (%s, %s)", vd_take_answer(take, take->chosen), percent,
             take->model);
    return vd_strdup(text);
}

void vd_chat_forget(vd_chat *chat, int lane, size_t from)
{
    vd_lane *own = &chat->lanes[lane];
    for (size_t i = from; i < chat->round_count; i++) {
        vd_take *take = &chat->rounds[i].take[lane];
        vd_free(take->wanted);
        take->wanted = NULL;
        if (!take->ready)
            continue;
        char *was = describe(take);
        vd_take_clear(take);
        take->was = was;
    }
    if (own->serial && own->at >= from)
        own->serial = 0; // its answer is not waited for any more
    own->stopped = false;
}

void vd_chat_rechosen(vd_chat *chat, int lane, size_t round)
{
    for (int other = 0; other < chat->lane_count; other++)
        if (heard_lane(chat, other, &chat->rounds[round]) == lane)
            vd_chat_forget(chat, other, round + 1);
    vd_chat_pump(chat);
}

void vd_chat_follow(vd_chat *chat, int lane, vd_follow follow)
{
    if (vd_chat_busy(chat)) {
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
        return;
    }
    vd_lane *own = &chat->lanes[lane];
    size_t same = 0; // rounds that are heard as before stay
    const vd_follow before = own->follow;
    for (; same < chat->round_count; same++) {
        own->follow = before;
        const char *heard = vd_chat_heard(chat, lane, same);
        own->follow = follow;
        const char *now = vd_chat_heard(chat, lane, same);
        if (!heard || !now || strcmp(heard, now) != 0)
            break;
    }
    own->follow = follow;
    if (same + 1 < chat->round_count) {
        if (lane == 0 && !vd_chat_fork(chat, chat->round_count)) {
            own->follow = before;
            return;
        }
        vd_chat_forget(chat, lane, same + 1);
        if (lane == 0)
            chat->asked_again = (int)same + 1;
    }
    if (lane > 0)
        vd_chat_forget_aside(chat, lane);
    vd_chat_say(chat, "%s continues from %s answers", own->model[0] ? own->model : own->name,
                (lane == 0 && follow == VD_FOLLOW_SHARED) || follow == VD_FOLLOW_OWN
                    ? "its own"
                    : vd_follow_name(follow));
    vd_chat_pump(chat);
}

// ---- models ------------------------------------------------------------------------------------

void vd_chat_use_model(vd_chat *chat, int lane, const char *name)
{
    if (vd_chat_busy(chat)) {
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
        return;
    }
    vd_lane *own = &chat->lanes[lane];
    char *copy = vd_strdup(name);
    if (!copy) {
        vd_chat_complain(chat, "out of memory");
        return;
    }
    if (!vd_chat_post(chat, VD_REQUEST_MODEL, lane, name, 0)) {
        vd_free(copy);
        return;
    }
    vd_free(own->name);
    own->name = copy;
    const char *base = strrchr(name, '/');
    snprintf(own->loading, sizeof own->loading, "%s", base ? base + 1 : name);
}

static const char *other_model(const vd_lane *lane)
{
    const char *now = lane->loading[0] ? lane->loading : lane->model;
    return strcmp(now, "improved") == 0 ? "base" : "improved";
}

// Two that are compared change places, and the conversation is that of the other one.
static void exchange_models(vd_chat *chat)
{
    char *first = vd_strdup(chat->lanes[0].name), *second = vd_strdup(chat->lanes[1].name);
    if (!first || !second)
        vd_chat_complain(chat, "out of memory");
    else if (vd_chat_busy(chat))
        vd_chat_say(chat, "still answering; Ctrl-C stops it");
    else if (chat->round_count == 0 || vd_chat_fork(chat, chat->round_count)) {
        vd_chat_use_model(chat, 0, second);
        vd_chat_use_model(chat, 1, first);
        vd_chat_forget(chat, 0, 0);
        chat->asked_again = chat->round_count ? 0 : -1;
        vd_chat_pump(chat);
    }
    vd_free(first);
    vd_free(second);
}

void vd_chat_switch_model(vd_chat *chat)
{
    if (chat->lane_count > 1)
        exchange_models(chat);
    else
        vd_chat_use_model(chat, 0, other_model(&chat->lanes[0]));
}

void vd_chat_compare_with(vd_chat *chat, const char *model)
{
    if (!model[0]) {
        chat->compare_when_free = chat->lane_count == 1 && vd_chat_busy(chat);
        if (chat->lane_count > 1 || chat->compare_when_free)
            return;
        model = other_model(&chat->lanes[0]);
    }
    for (int i = 0; i < chat->lane_count; i++)
        if (chat->lanes[i].name && strcmp(chat->lanes[i].name, model) == 0) {
            vd_chat_say(chat, "%s is compared already", model);
            return;
        }
    if (chat->lane_count == VD_MODELS) {
        vd_chat_complain(chat, "%d models are compared at most; /compare off starts anew",
                         VD_MODELS);
        return;
    }
    int lane = chat->lane_count++;
    vd_chat_use_model(chat, lane, model);
    if (!chat->lanes[lane].loading[0])
        chat->lane_count--; // it said why
}

static void free_lane(vd_chat *chat, int lane)
{
    for (size_t i = 0; i < chat->round_count; i++)
        vd_take_clear(&chat->rounds[i].take[lane]);
    vd_chat_forget_aside(chat, lane);
    vd_free(chat->lanes[lane].name);
    chat->lanes[lane] = (vd_lane){0};
}

void vd_chat_stop_comparing(vd_chat *chat)
{
    while (chat->lane_count > 1)
        free_lane(chat, --chat->lane_count);
    chat->lane = 0;
}

// ---- what comes back ---------------------------------------------------------------------------

void vd_chat_model_came(vd_chat *chat, vd_event *event)
{
    vd_lane *own = &chat->lanes[event->lane];
    if (!own->loading[0])
        return; // it is not compared any more
    own->loading[0] = '\0';
    own->failed = event->status != VD_OK;
    if (event->status) {
        vd_chat_complain(chat, "%s", event->error.text);
        if (event->lane > 0 && !own->model[0] && event->lane == chat->lane_count - 1)
            free_lane(chat, --chat->lane_count);
        chat->lane = vd_clamp(chat->lane, chat->lane_count - 1);
        return;
    }
    bool first = !own->model[0];
    memcpy(own->model, event->model, sizeof own->model);
    memcpy(own->backend, event->backend, sizeof own->backend);
    own->answers = event->answers;
    own->by_text = event->by_text;
    own->answer_count = event->answer_count;
    if (event->lane > 0) {
        if (!first) {
            vd_chat_forget(chat, event->lane, 0);
            vd_chat_forget_aside(chat, event->lane);
        }
        vd_chat_say(chat, "%s is compared with %s", own->model, chat->lanes[0].model);
    } else if (!first) {
        vd_chat_say(chat, "%s answers from now on%s", own->model,
                    chat->round_count ? "; F6 asks it the last question" : "");
    }
    vd_chat_pump(chat);
}

bool vd_take_changed(const vd_take *take)
{
    const char *now = vd_take_answer(take, take->chosen);
    size_t length = strlen(now);
    return take->was &&
           (strncmp(take->was, now, length) != 0 || strncmp(take->was + length, " (", 2) != 0);
}

// After the last of the rounds that were asked again.
static void sum_up(vd_chat *chat)
{
    int from = chat->asked_again, changed = 0, count = (int)chat->round_count;
    if (from < 0 || vd_chat_busy(chat))
        return;
    chat->asked_again = -1;
    for (int i = from; i < count; i++)
        changed += vd_take_changed(&chat->rounds[i].take[0]);
    if (from == count - 1 && chat->rounds[from].take[0].was)
        vd_chat_say(chat, "round %d before: %s", count, chat->rounds[from].take[0].was);
    else if (from < count - 1)
        vd_chat_say(chat, "rounds %d to %d were asked again: %d of %d answers changed", from + 1,
                    count, changed, count - from);
}

// A recorded conversation was not taken up to its end: as a whole it is set aside, to be asked when
// it is looked at, and what was answered goes on. Where no branch is free it is asked on.
static void keep_recorded(vd_chat *chat, size_t at, const vd_event *event)
{
    size_t all = chat->round_count;
    int whole = chat->branch + 1;
    bool stopped = event->status == VD_INTERRUPTED;
    if (stopped && chat->branch_count == VD_BRANCHES) {
        vd_chat_say(chat, "%d branches are the most: it is taken up to its end; Ctrl-D leaves",
                    VD_BRANCHES);
        vd_chat_pump(chat);
    } else if (!vd_chat_fork(chat, at)) {
        chat->lanes[0].stopped = true; // and says why; nothing of it is written anew
    } else if (stopped) {
        vd_chat_say(chat, "stopped: all %zu rounds are kept in branch %d (Alt-n)", all, whole);
    } else {
        vd_chat_complain(chat, "%s; all %zu rounds are kept in branch %d (Alt-n)",
                         event->status ? event->error.text : "no answer came", all, whole);
    }
}

static void no_answer(vd_chat *chat, const vd_event *event)
{
    vd_lane *own = &chat->lanes[event->lane];
    const char *why = event->status ? event->error.text : "no answer came";
    own->stopped = true;
    if (event->lane > 0) {
        if (event->status != VD_INTERRUPTED)
            vd_chat_complain(chat, "%s: %s", own->model, why);
        return;
    }
    own->stopped = false;
    if (chat->rounds[own->at].take[0].wanted) {
        keep_recorded(chat, own->at, event);
        return;
    }
    size_t lost = chat->round_count - own->at;
    if (chat->line.length == 0)
        vd_line_set(&chat->line, chat->rounds[own->at].typed);
    if (event->status != VD_INTERRUPTED)
        vd_chat_complain(chat, "%s", why);
    else if (lost > 1)
        vd_chat_say(chat, "stopped: %zu later questions were not asked again", lost - 1);
    else
        vd_chat_say(chat, "stopped");
    vd_chat_drop_rounds(chat, own->at);
}

static double entropy_bits(const vd_answer *answer)
{
    double bits = 0;
    for (int i = 0; i < answer->candidates; i++)
        if (answer->probability[i] > 0)
            bits -= (double)(answer->probability[i] * log2f(answer->probability[i]));
    return bits;
}

void vd_chat_answer_came(vd_chat *chat, vd_event *event)
{
    vd_lane *own = &chat->lanes[event->lane];
    if (vd_chat_recall_came(chat, event) || !own->serial || own->serial != event->serial)
        return; // an answer to a conversation that was left
    own->serial = 0;
    if (event->status || event->reply.answer.candidates < 1) {
        no_answer(chat, event);
        return;
    }
    vd_round *round = &chat->rounds[own->at];
    vd_take *take = &round->take[event->lane];
    take->ready = true;
    take->stamp = event->serial;
    take->reply = event->reply;
    event->reply = (vd_reply){0};
    memcpy(take->model, own->model, sizeof take->model);
    take->answers = own->answers;
    take->by_text = own->by_text;
    take->answer_count = own->answer_count;
    take->entropy = entropy_bits(&take->reply.answer);
    int place = take->wanted ? vd_take_place(take, take->wanted) : 0;
    take->chosen = take->reply.answer.order[place < 0 ? 0 : place];
    vd_free(take->wanted);
    take->wanted = NULL;
    round->human = vd_chat_human_round(chat, take->reply.question ? take->reply.question : "",
                                       (size_t)(round - chat->rounds));
    take->metrics = vd_chat_measure(chat, round, take);
    vd_chat_recall_trim(chat, take);
    if (event->lane == 0) {
        chat->word = 0;
        chat->scroll = 0;
        if (strncmp(chat->message, "still answering", 15) == 0)
            chat->message[0] = '\0'; // no more
        sum_up(chat);
    }
    vd_chat_pump(chat);
    if (chat->compare_when_free && chat->place == VD_PLACE_COMPARE && !vd_chat_busy(chat))
        vd_chat_compare_with(chat, "");
}

#include "tui/chat_recorder.h"

#include <string.h>

#include "engine/alloc.h"

// ---- start --------------------------------------------------------------------------------------

static vd_status take_up(vd_recorder *recorder, const char *path, int64_t *image_id, vd_error *err)
{
    vd_transcript_file file;
    vd_status status = vd_transcript_read(path, &file, err);
    if (status)
        return status;
    if (file.talk_count == 0) {
        status = vd_error_set(err, VD_FORMAT, "%.400s: holds no conversation to go on with", path);
    } else {
        recorder->resumed = file.talks[file.talk_count - 1];
        file.talk_count--;
        *image_id = recorder->resumed.image_id;
    }
    vd_transcript_clear(&file);
    return status;
}

vd_status vd_recorder_start(vd_recorder *recorder, bool resume, const char *path, int64_t *image_id,
                            vd_error *err)
{
    char *newest = NULL;
    vd_status status = VD_OK;
    if (resume && !path) {
        status = vd_transcript_newest(&newest, err);
        path = newest;
    }
    if (status == VD_OK && resume)
        status = take_up(recorder, path, image_id, err);
    if (status == VD_OK)
        status = vd_transcript_start(path, &recorder->transcript, err);
    vd_free(newest);
    return status;
}

static void forget_resumed(vd_recorder *recorder)
{
    for (int i = 0; i < recorder->resumed.count; i++) {
        vd_free(recorder->resumed.rounds[i].question);
        vd_free(recorder->resumed.rounds[i].answer);
    }
    vd_free(recorder->resumed.rounds);
    vd_free(recorder->resumed.caption);
    recorder->resumed = (vd_talk){0};
    recorder->next = 0;
}

void vd_recorder_free(vd_recorder *recorder)
{
    forget_resumed(recorder);
    vd_transcript_close(recorder->transcript);
    *recorder = (vd_recorder){0};
}

// ---- writing ------------------------------------------------------------------------------------

static void give_up(vd_recorder *recorder, vd_chat *chat, const vd_error *why)
{
    vd_chat_complain(chat, "no transcript from here on: %s", why->text);
    vd_transcript_close(recorder->transcript);
    recorder->transcript = NULL;
}

// The first `count` rounds as a lane heard them; NULL: out of memory, or one is not answered.
static vd_said *heard(const vd_chat *chat, int lane, size_t count)
{
    vd_said *said = vd_alloc(count, sizeof *said);
    for (size_t i = 0; said && i < count; i++) {
        const char *answer = vd_chat_heard(chat, lane, i);
        if (!answer) {
            vd_free(said);
            return NULL;
        }
        said[i] = (vd_said){chat->rounds[i].typed, (char *)answer}; // borrowed
    }
    return said;
}

static void write_answer(vd_recorder *recorder, vd_chat *chat, int lane, size_t at)
{
    const vd_take *take = &chat->rounds[at].take[lane];
    vd_said *history = heard(chat, lane, at);
    if (!history)
        return;
    vd_error err = {0};
    void *context = chat->source.context;
    const vd_told told = {
        .lane = lane,
        .name = chat->lanes[lane].name,
        .model = take->model,
        .reply = &take->reply,
        .texts = take->answers,
        .image_id = chat->source.image_id(context, chat->index),
        .caption = chat->source.caption(context, chat->index),
        .history = history,
        .turns = (int)at,
        .boxes = chat->regions == take->reply.answer.regions ? chat->boxes : NULL,
        .regions = chat->regions,
        .model_hash = recorder->model[lane],
        .pool_hash = recorder->pool[lane],
        .features_hash = recorder->features,
    };
    if (vd_transcript_answer(recorder->transcript, &told, &err))
        give_up(recorder, chat, &err);
    vd_free(history);
}

void vd_recorder_event(vd_recorder *recorder, vd_chat *chat, vd_event *event)
{
    int lane = event->lane;
    if (event->kind == VD_REQUEST_MODEL && event->status == VD_OK) {
        recorder->model[lane] = event->model_hash;
        recorder->pool[lane] = event->pool_hash;
    } else if (event->kind == VD_REQUEST_PICTURE && event->status == VD_OK) {
        recorder->features = event->features_hash;
    }
    bool answer = event->kind == VD_REQUEST_ASK && event->status == VD_OK &&
                  chat->lanes[lane].serial == event->serial;
    size_t at = chat->lanes[lane].at;
    vd_chat_event(chat, event);
    if (answer && recorder->transcript && recorder->next == 0 && at < chat->round_count &&
        chat->rounds[at].take[lane].ready)
        write_answer(recorder, chat, lane, at);
}

// ---- step ---------------------------------------------------------------------------------------

// Asks the next round of the conversation that is taken up, once the one before it is answered and
// has the answer that it went on with.
static void ask_next(vd_recorder *recorder, vd_chat *chat)
{
    if (recorder->next > 0) {
        const vd_round *round = chat->round_count ? &chat->rounds[chat->round_count - 1] : NULL;
        if (!round || (int)chat->round_count != recorder->next) {
            vd_chat_say(chat, "the conversation was taken up as far as round %d",
                        (int)chat->round_count);
            forget_resumed(recorder);
            return;
        }
        const vd_said *said = &recorder->resumed.rounds[recorder->next - 1];
        const vd_take *take = &round->take[0];
        int place = vd_take_place(take, said->answer);
        if (place >= 0 && take->reply.answer.order[place] != take->chosen)
            vd_chat_choose(chat, place);
    }
    if (recorder->next == recorder->resumed.count) {
        vd_chat_say(chat, "a conversation of %d rounds was taken up", recorder->resumed.count);
        forget_resumed(recorder);
        return;
    }
    vd_chat_ask(chat, recorder->resumed.rounds[recorder->next++].question);
}

void vd_recorder_step(vd_recorder *recorder, vd_chat *chat)
{
    const vd_lane *own = &chat->lanes[0];
    bool idle = !vd_chat_busy(chat) && own->model[0] && !own->loading[0];
    if (recorder->resumed.count > 0) {
        if (idle)
            ask_next(recorder, chat);
        return;
    }
    if (!recorder->transcript || !idle)
        return;
    vd_said *rounds = heard(chat, 0, chat->round_count);
    if (!rounds)
        return;
    vd_error err = {0};
    void *context = chat->source.context;
    if (vd_transcript_conversation(
            recorder->transcript, chat->source.image_id(context, chat->index),
            chat->source.caption(context, chat->index), rounds, (int)chat->round_count, &err))
        give_up(recorder, chat, &err);
    vd_free(rounds);
}

#include "tui/conversation.h"

#include <string.h>

#include "engine/alloc.h"

enum { MOST_MODELS = 8 };

typedef struct loaded {
    char *name; // as asked for
    vd_session *session;
    const char **answers; // (pool count) borrowed texts
} loaded;

struct vd_conversation {
    vd_world *world;
    loaded model[MOST_MODELS];
    int count;
    loaded *now; // NULL: none yet
};

vd_status vd_conversation_new(vd_world *world, vd_conversation **out, vd_error *err)
{
    *out = vd_alloc(1, sizeof **out);
    if (!*out)
        return vd_error_memory(err, "the conversation");
    (*out)->world = world;
    return VD_OK;
}

static void unload(loaded *model)
{
    vd_session_free(model->session);
    vd_free(model->answers);
    vd_free(model->name);
    *model = (loaded){0};
}

void vd_conversation_free(vd_conversation *conversation)
{
    if (!conversation)
        return;
    for (int i = 0; i < conversation->count; i++)
        unload(&conversation->model[i]);
    vd_free(conversation);
}

// ---- models ------------------------------------------------------------------------------------

static vd_status load(vd_conversation *conversation, const char *name, loaded *out, vd_error *err)
{
    size_t count = conversation->world->pool.count;
    out->name = vd_strdup(name);
    out->answers = vd_alloc(count, sizeof *out->answers);
    vd_status status = VD_OK;
    if (!out->name || !out->answers)
        status = vd_error_memory(err, "a model");
    else
        status = vd_session_new(conversation->world, name, &out->session, err);
    if (status) {
        unload(out);
        return status;
    }
    for (size_t i = 0; i < count; i++)
        out->answers[i] = vd_session_answer_text(out->session, (int)i);
    return VD_OK;
}

// Says to `to` what was said to `from`, with the same answers.
static vd_status carry_over(const vd_session *from, vd_session *to, vd_error *err)
{
    vd_status status = vd_session_picture(to, vd_session_index(from), err);
    for (int i = 0; !status && i < vd_session_turns(from); i++) {
        const vd_turn *turn = vd_session_turn(from, i);
        vd_reply reply = {0};
        status = vd_session_ask(to, turn->reply.typed, NULL, &reply, err);
        if (!status)
            status = vd_session_accept(to, &reply, turn->chosen, err);
        vd_reply_clear(&reply);
    }
    return status;
}

static vd_status use_model(vd_conversation *conversation, const char *name, vd_error *err)
{
    loaded *model = NULL;
    for (int i = 0; i < conversation->count && !model; i++)
        if (strcmp(conversation->model[i].name, name) == 0)
            model = &conversation->model[i];
    if (!model && conversation->count == MOST_MODELS)
        return vd_error_set(err, VD_USAGE, "%s: %d models are loaded already; restart to load more",
                            name, conversation->count);
    if (!model) {
        vd_status status = load(conversation, name, &conversation->model[conversation->count], err);
        if (status)
            return status;
        model = &conversation->model[conversation->count++];
    }
    if (conversation->now && conversation->now != model) {
        vd_status status = carry_over(conversation->now->session, model->session, err);
        if (status)
            return status;
    }
    conversation->now = model;
    return VD_OK;
}

static vd_status tell_boxes(const vd_session *session, vd_event *event, vd_error *err)
{
    int regions = 0;
    const float *boxes = vd_session_boxes(session, &regions);
    if (!boxes || regions <= 0)
        return VD_OK;
    event->boxes = vd_alloc((size_t)regions * 4, sizeof *event->boxes);
    if (!event->boxes)
        return vd_error_memory(err, "the regions' boxes");
    memcpy(event->boxes, boxes, (size_t)regions * 4 * sizeof *boxes);
    event->regions = regions;
    return VD_OK;
}

static vd_status serve_model(vd_conversation *conversation, const char *name, vd_event *event,
                             vd_error *err)
{
    vd_status status = use_model(conversation, name, err);
    if (status)
        return status;
    const vd_session *session = conversation->now->session;
    snprintf(event->model, sizeof event->model, "%s", vd_model_name(vd_session_model(session)));
    snprintf(event->backend, sizeof event->backend, "%s", vd_session_backend(session));
    event->answers = conversation->now->answers;
    event->answer_count = (int)conversation->world->pool.count;
    return tell_boxes(session, event, err);
}

// ---- questions ---------------------------------------------------------------------------------

static float *copy_floats(const float *from, size_t count, bool *failed)
{
    float *copy = from ? vd_alloc(count, sizeof *copy) : NULL;
    if (copy)
        memcpy(copy, from, count * sizeof *copy);
    else if (from)
        *failed = true;
    return copy;
}

static int32_t *copy_ids(const int32_t *from, size_t count, bool *failed)
{
    int32_t *copy = from ? vd_alloc(count, sizeof *copy) : NULL;
    if (copy)
        memcpy(copy, from, count * sizeof *copy);
    else if (from)
        *failed = true;
    return copy;
}

static void copy_answer(const vd_answer *from, vd_answer *to, bool *failed)
{
    size_t candidates = (size_t)from->candidates, rounds = (size_t)from->rounds;
    size_t words = (size_t)from->question_length, regions = (size_t)from->regions;
    *to = *from;
    to->score = copy_floats(from->score, candidates, failed);
    to->probability = copy_floats(from->probability, candidates, failed);
    to->order = copy_ids(from->order, candidates, failed);
    to->history_length = copy_ids(from->history_length, rounds, failed);
    to->context_attention = copy_floats(from->context_attention, rounds, failed);
    to->topic_attention =
        copy_floats(from->topic_attention, rounds * words * (size_t)from->history_width, failed);
    to->word_attention = copy_floats(from->word_attention, regions * words, failed);
    to->region_attention = copy_floats(from->region_attention, regions, failed);
}

// The session keeps its reply; the screen, on another thread, gets its own.
static vd_status copy_reply(const vd_reply *from, vd_reply *to, vd_error *err)
{
    bool failed = false;
    *to = (vd_reply){.cut = from->cut};
    memcpy(to->ids, from->ids, sizeof to->ids);
    to->typed = vd_strdup(from->typed);
    to->question = vd_strdup(from->question);
    to->word = vd_alloc((size_t)from->words, sizeof *to->word);
    to->unknown = vd_alloc((size_t)from->words, sizeof *to->unknown);
    failed = !to->typed || !to->question || !to->word || !to->unknown;
    for (int i = 0; i < from->words && !failed; i++) {
        to->unknown[i] = from->unknown[i];
        to->word[i] = vd_strdup(from->word[i]);
        failed = !to->word[i];
        to->words = i + 1;
    }
    copy_answer(&from->answer, &to->answer, &failed);
    if (!failed)
        return VD_OK;
    vd_reply_clear(to);
    return vd_error_memory(err, "an answer");
}

static vd_status serve_ask(vd_session *session, const vd_request *request, const atomic_int *stop,
                           vd_event *event, vd_error *err)
{
    vd_reply reply = {0};
    vd_status status = vd_session_ask(session, request->text, stop, &reply, err);
    if (!status)
        status = copy_reply(&reply, &event->reply, err);
    if (!status)
        status = vd_session_accept(session, &reply, reply.answer.order[0], err);
    vd_reply_clear(&reply);
    if (status)
        vd_reply_clear(&event->reply);
    return status;
}

void vd_conversation_serve(void *context, const vd_request *request, const atomic_int *stop,
                           vd_event *event)
{
    vd_conversation *conversation = context;
    vd_error *err = &event->error;
    if (request->kind == VD_REQUEST_MODEL) {
        event->status = serve_model(conversation, request->text, event, err);
        return;
    }
    if (!conversation->now) {
        event->status = vd_error_set(err, VD_UNAVAILABLE,
                                     "no model is loaded: /model base, /model improved or /model "
                                     "FILE");
        return;
    }
    vd_session *session = conversation->now->session;
    switch ((int)request->kind) {
    case VD_REQUEST_PICTURE:
        event->status = vd_session_picture(session, request->index, err);
        if (!event->status)
            event->status = tell_boxes(session, event, err);
        break;
    case VD_REQUEST_ASK:
        event->status = serve_ask(session, request, stop, event, err);
        break;
    case VD_REQUEST_CHOOSE:
        event->status = vd_session_rechoose(session, (int)request->index, err);
        break;
    case VD_REQUEST_UNDO:
        vd_session_undo(session);
        break;
    default:
        event->status = vd_error_set(err, VD_USAGE, "the engine does not know this request");
    }
}

#include "tui/session/service.h"

#include <string.h>

#include "features/pictures/resample.h"
#include "tui/base/bundled.h"
#include "tui/session/captioning.h"

enum { MOST_MODELS = 8 };

typedef struct loaded {
    char *name; // as asked for
    vd_session *session;
    vd_pool_texts texts;
    vd_answerer by;
} loaded;

struct vd_service {
    vd_world *world;
    loaded model[MOST_MODELS];
    int count;
    loaded *now; // NULL: none yet
    vd_fingerprint features;
    size_t features_of;    // the picture of these features, from 1; 0: none yet
    vd_captioning *second; // the captioner that was compared last; NULL: none
};

vd_service *vd_service_new(vd_world *world)
{
    vd_service *service = g_new0(vd_service, 1);
    service->world = world;
    return service;
}

const vd_world *vd_service_world(const vd_service *service)
{
    return service->world;
}

static void unload(loaded *model)
{
    vd_session_free(model->session);
    g_clear_pointer(&model->texts.index, g_hash_table_destroy);
    g_free(model->name);
    *model = (loaded){0};
}

void vd_service_free(vd_service *service)
{
    if (!service)
        return;
    for (int i = 0; i < service->count; i++)
        unload(&service->model[i]);
    vd_captioning_free(service->second);
    g_free(service);
}

// ---- models ------------------------------------------------------------------------------------

GHashTable *vd_pool_index(const char *const *text, int count)
{
    GHashTable *index = g_hash_table_new(g_str_hash, g_str_equal);
    for (int i = count; i > 0; i--)
        g_hash_table_replace(index, (char *)text[i - 1], GINT_TO_POINTER(i));
    return index;
}

static void list_answers(loaded *out)
{
    const vd_session *session = out->session;
    const char *const *text = vd_session_texts(session);
    int count = (int)session->answers->count;
    out->texts = (vd_pool_texts){text, count, session->pool_path, vd_pool_index(text, count)};
}

static vd_status load(vd_service *service, const char *name, loaded *out, vd_error *err)
{
    out->name = g_strdup(name);
    vd_status status = vd_session_new(service->world, name, &out->session, err);
    if (status == VD_OK)
        status = vd_session_fingerprints(out->session, &out->by.model, &out->by.pool, err);
    if (status == VD_OK)
        list_answers(out);
    if (status == VD_OK)
        status = vd_session_settle(out->session, err);
    if (status)
        unload(out);
    return status;
}

static vd_status use_model(vd_service *service, const char *name, vd_error *err)
{
    loaded *model = NULL;
    for (int i = 0; i < service->count && !model; i++)
        if (strcmp(service->model[i].name, name) == 0)
            model = &service->model[i];
    if (!model && service->count == MOST_MODELS)
        return vd_error_set(err, VD_USAGE, "%s: %d models are loaded already; restart to load more",
                            name, service->count);
    if (!model) {
        vd_status status = load(service, name, &service->model[service->count], err);
        if (status)
            return status;
        model = &service->model[service->count++];
    }
    service->now = model;
    return VD_OK;
}

static vd_status serve_model(vd_service *service, const char *name, vd_event *event, vd_error *err)
{
    event->asked = g_strdup(name);
    vd_status status = use_model(service, name, err);
    if (status)
        return status;
    const vd_session *session = service->now->session;
    snprintf(event->model, sizeof event->model, "%s", vd_model_name(session->model));
    const vd_decoder_choice *decoder = &service->world->decoder;
    snprintf(event->backend, sizeof event->backend, "%s%s%s",
             vd_model_backend(session->model)->name, decoder->made ? ", " : "",
             decoder->made ? vd_decoders_name(decoder->by) : "");
    event->vocab = vd_model_vocab(session->model);
    event->pool = service->now->texts;
    event->by = service->now->by;
    return VD_OK;
}

// ---- pictures ----------------------------------------------------------------------------------

static vd_status check_index(const vd_world *world, size_t index, vd_error *err)
{
    return index < vd_world_count(world)
               ? VD_OK
               : vd_error_set(err, VD_NOT_FOUND, "there is no picture number %zu; there are %zu",
                              index + 1, vd_world_count(world));
}

// Boxes and names of the picture's regions; this needs no model.
static vd_status serve_picture(vd_service *service, size_t index, vd_event *event, vd_error *err)
{
    vd_status status = check_index(service->world, index, err);
    if (!status)
        status = vd_world_regions(service->world, index, &event->regions, err);
    vd_picture_regions_forget_features(&event->regions);
    return status;
}

static vd_status serve_image(vd_service *service, const vd_request *request, vd_event *event,
                             vd_error *err)
{
    enum { MOST_SIDE = 2560 };
    vd_image image = {0};
    vd_status status = request->text ? vd_image_read(request->text, &image, err)
                                     : check_index(service->world, request->index, err);
    if (!status && !request->text)
        status = vd_world_image(service->world, request->index, &image, err);
    int side = MAX(image.width, image.height);
    if (status || side <= MOST_SIDE) {
        event->image = image;
        return status;
    }
    status = vd_image_scale(&image, MAX(image.width * MOST_SIDE / side, 1),
                            MAX(image.height * MOST_SIDE / side, 1), &event->image, err);
    vd_image_clear(&image);
    return status;
}

// ---- questions ---------------------------------------------------------------------------------

// The answer's event carries boxes, names and the features' hash itself: the event of the picture
// may come later, since each lane has its own thread.
static vd_status tell_features(vd_service *service, size_t index, vd_event *event, vd_error *err)
{
    vd_status status = VD_OK;
    if (service->features_of != index + 1)
        status = vd_world_features_fingerprint(service->world, index, &service->features, err);
    service->features_of = status ? 0 : index + 1;
    event->features_hash = service->features;
    return status ? status
                  : vd_picture_regions_copy(&service->now->session->regions, &event->regions, err);
}

static vd_status serve_ask(vd_service *service, const vd_request *request, const atomic_int *stop,
                           vd_event *event, vd_error *err)
{
    if (!service->now)
        return vd_error_set(err, VD_UNAVAILABLE, VD_NO_MODEL);
    vd_session *session = service->now->session;
    vd_status status = VD_OK;
    if (!vd_session_has_picture(session, request->index))
        status = vd_session_picture(session, request->index, err);
    if (!status)
        status = vd_session_continue(session, request->history, request->turns, stop, err);
    if (status)
        return status;
    if (request->kind == VD_REQUEST_WALK)
        return vd_walk_new(session, request->text, request->switches, request->effects, stop,
                           &event->walk, err);
    status = tell_features(service, request->index, event, err);
    return status ? status : vd_session_ask(session, request->text, stop, &event->reply, err);
}

// ---- captions ----------------------------------------------------------------------------------

// The second captioner; one that is there stays. NULL where the path is "".
static vd_captioning *use_second(vd_service *service, const char *path)
{
    if (!*path)
        return NULL;
    if (!service->second || strcmp(vd_captioning_path(service->second), path) != 0) {
        vd_captioning_free(service->second);
        service->second = vd_captioning_new(path);
    }
    return service->second;
}

static vd_status serve_caption(vd_service *service, const vd_caption_wish *wish, vd_event *event,
                               vd_error *err)
{
    vd_captioning *second = use_second(service, wish->second);
    vd_status status = vd_caption_sheet_of(service->world, second, wish, &event->caption, err);
    if (status && second) { // the next time it is read again
        vd_captioning_free(second);
        service->second = NULL;
    }
    return status;
}

static vd_status serve(vd_service *service, const vd_request *request, const atomic_int *stop,
                       vd_event *event, vd_error *err)
{
    switch ((int)request->kind) {
    case VD_REQUEST_MODEL:
        return serve_model(service, request->text, event, err);
    case VD_REQUEST_PICTURE:
        return serve_picture(service, request->index, event, err);
    case VD_REQUEST_IMAGE:
        return serve_image(service, request, event, err);
    case VD_REQUEST_CAPTION:
        return serve_caption(service, request->caption, event, err);
    case VD_REQUEST_ASK:
    case VD_REQUEST_WALK:
        return serve_ask(service, request, stop, event, err);
    default:
        return vd_error_set(err, VD_USAGE, "the engine does not know this request");
    }
}

void vd_service_serve(void *context, const vd_request *request, const atomic_int *stop,
                      vd_event *event)
{
    event->status = serve(context, request, stop, event, &event->error);
}

#include "tests/support/plain_chat.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static size_t source_count(void *context)
{
    return vd_world_count(context);
}

static int64_t source_image_id(void *context, size_t index)
{
    return vd_world_image_id(context, index);
}

static const char *source_caption(void *context, size_t index)
{
    return vd_world_caption(context, index);
}

static bool source_human(void *context, size_t index, int round, vd_human *out)
{
    (void)context;
    (void)index;
    (void)round;
    (void)out;
    return false;
}

static vd_status source_find(void *context, int64_t image_id, size_t *index, vd_error *err)
{
    return vd_world_find(context, image_id, index, err);
}

static vd_status source_picture(void *context, size_t index, vd_image *out, vd_error *err)
{
    (void)context;
    (void)index;
    (void)err;
    return vd_image_new(8, 6, out, err);
}

vd_chat_source plain_chat_source(vd_world *world)
{
    return (vd_chat_source){.context = world,
                            .count = source_count,
                            .image_id = source_image_id,
                            .caption = source_caption,
                            .human = source_human,
                            .find = source_find,
                            .picture = source_picture};
}

void plain_chat_serve_some(plain_chat *p, int questions)
{
    vd_request request;
    for (int asked = 0; asked < questions && vd_chat_take_request(&p->chat, &request);) {
        vd_event event = {.kind = request.kind, .serial = request.serial, .lane = request.lane};
        atomic_int stop = 0;
        asked += request.kind == VD_REQUEST_ASK;
        if (request.kind == VD_REQUEST_MODEL || request.kind == VD_REQUEST_PICTURE ||
            request.kind == VD_REQUEST_ASK) {
            vd_service_serve(p->service[request.lane], &request, &stop, &event);
            vd_recorder_event(&p->recorder, &p->chat, &event);
        }
        vd_event_clear(&event);
        vd_request_clear(&request);
        vd_recorder_step(&p->recorder, &p->chat);
    }
}

void plain_chat_serve(plain_chat *p)
{
    plain_chat_serve_some(p, INT_MAX);
}

void plain_chat_open(vd_world *world, plain_chat *p, bool resume, const char *file)
{
    vd_error err = {0};
    int64_t image = 1;
    size_t index = 0;
    *p = (plain_chat){0};
    for (int i = 0; i < VD_MODELS; i++)
        assert_int_equal(vd_service_new(world, &p->service[i], &err), VD_OK);
    const char *model = "improved";
    vd_status status = vd_recorder_start(&p->recorder, resume, file, &image, &model, &err);
    if (status)
        print_error("%s\n", err.text);
    assert_int_equal(status, VD_OK);
    assert_int_equal(vd_world_find(world, image, &index, &err), VD_OK);
    const vd_chat_source source = plain_chat_source(world);
    assert_int_equal(vd_chat_init(&p->chat, &source, index, model, 1, &err), VD_OK);
    vd_recorder_take_up(&p->recorder, &p->chat);
    plain_chat_serve(p);
    vd_recorder_step(&p->recorder, &p->chat);
}

void plain_chat_close(plain_chat *p)
{
    vd_chat_free(&p->chat);
    vd_recorder_free(&p->recorder);
    for (int i = 0; i < VD_MODELS; i++)
        vd_service_free(p->service[i]);
}

void plain_chat_ask(plain_chat *p, const char *question)
{
    vd_chat_ask(&p->chat, question);
    plain_chat_serve(p);
    vd_recorder_step(&p->recorder, &p->chat);
}

vd_transcript_file plain_chat_read_back(const char *file)
{
    vd_transcript_file out;
    vd_error err = {0};
    vd_status status = vd_transcript_read(file, &out, &err);
    if (status)
        print_error("%s\n", err.text);
    assert_int_equal(status, VD_OK);
    return out;
}

vd_status plain_chat_read_once(void *file, vd_error *err)
{
    vd_transcript_file out;
    vd_status status = vd_transcript_read(file, &out, err);
    if (status == VD_OK)
        vd_transcript_clear(&out);
    return status;
}

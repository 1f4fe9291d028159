#include "tests/support/plain_chat.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void plain_chat_serve_some(plain_chat *p, int questions)
{
    vd_request request;
    for (int asked = 0; asked < questions && vd_lanes_take_request(&p->chat.lanes, &request);) {
        vd_event event = {.kind = request.kind, .serial = request.serial, .lane = request.lane};
        atomic_int stop = 0;
        asked += request.kind == VD_REQUEST_ASK;
        if (request.kind == VD_REQUEST_MODEL || request.kind == VD_REQUEST_PICTURE ||
            request.kind == VD_REQUEST_IMAGE || request.kind == VD_REQUEST_ASK) {
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

void plain_chat_enter(plain_chat *p, const char *text)
{
    for (const char *at = text; *at; at++)
        vd_chat_key(&p->chat, (vd_key){.code = (unsigned char)*at});
    vd_chat_key(&p->chat, (vd_key){.code = VD_KEY_ENTER});
}

void plain_chat_type(plain_chat *p, const char *text)
{
    plain_chat_enter(p, text);
    plain_chat_serve(p);
}

void plain_chat_open(vd_world *world, plain_chat *p, bool resume, const char *file)
{
    vd_error err = {0};
    int64_t image = vd_world_image_id(world, 0);
    size_t index = 0;
    *p = (plain_chat){0};
    for (int i = 0; i < VD_MODELS; i++)
        p->service[i] = vd_service_new(world);
    const char *model = "improved";
    vd_status status = vd_recorder_start(&p->recorder, resume, file, &image, &model, &err);
    if (!status)
        status = vd_recorder_open_pictures(&p->recorder.resumed, world, &err);
    if (status)
        print_error("%s\n", err.text);
    assert_int_equal(status, VD_OK);
    assert_int_equal(vd_world_find(world, image, &index, &err), VD_OK);
    assert_int_equal(vd_chat_init(&p->chat, world, index, model, 1, &err), VD_OK);
    vd_recorder_restore(&p->recorder, &p->chat);
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

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/support.h"
#include "tui/session/worker.h"

// Serves: an ASK of "wait" runs until it is stopped, everything else at once.
static atomic_int served, running;
static void *const contexts[2];

static void serve(void *context, const vd_request *request, const atomic_int *stop, vd_event *event)
{
    (void)context;
    atomic_fetch_add(&served, 1);
    if (request->text && strcmp(request->text, "wait") == 0) {
        atomic_store(&running, 1);
        while (!atomic_load(stop))
            ;
        event->status = vd_error_set(&event->error, VD_INTERRUPTED, "stopped");
    } else if (request->text) {
        event->reply.typed = vd_strdup(request->text);
    }
}

static void submit(vd_worker *worker, vd_request_kind kind, long serial, const char *text)
{
    vd_request request = {.kind = kind, .serial = serial, .text = text ? vd_strdup(text) : NULL};
    assert_int_equal(vd_worker_submit(worker, &request, NULL), VD_OK);
    assert_null(request.text);
}

// Waits for the next event as the screen does: asleep on the file descriptor.
static vd_event next(vd_worker *worker)
{
    vd_event event = {0};
    struct pollfd wait = {.fd = vd_worker_fd(worker), .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 10000), 1);
    assert_true(vd_worker_take(worker, &event));
    return event;
}

static bool readable(const vd_worker *worker)
{
    struct pollfd wait = {.fd = vd_worker_fd(worker), .events = POLLIN};
    return poll(&wait, 1, 0) == 1;
}

static void requests_are_served_in_order(void **state)
{
    (void)state;
    vd_worker *worker;
    assert_int_equal(vd_worker_start(serve, contexts, 2, &worker, NULL), VD_OK);
    assert_false(readable(worker));
    submit(worker, VD_REQUEST_MODEL, 1, "base");
    submit(worker, VD_REQUEST_PICTURE, 2, NULL);
    submit(worker, VD_REQUEST_ASK, 3, "is there a cube?");
    for (long serial = 1; serial <= 3; serial++) {
        vd_event event = next(worker);
        assert_int_equal(event.serial, serial);
        assert_int_equal(event.status, VD_OK);
        if (serial == 3)
            assert_string_equal(event.reply.typed, "is there a cube?");
        vd_event_clear(&event);
    }
    assert_false(readable(worker));
    vd_event none;
    assert_false(vd_worker_take(worker, &none));
    vd_worker_free(worker);
}

static void a_running_answer_can_be_stopped_and_the_next_one_runs(void **state)
{
    (void)state;
    vd_worker *worker;
    atomic_store(&running, 0);
    assert_int_equal(vd_worker_start(serve, contexts, 2, &worker, NULL), VD_OK);
    submit(worker, VD_REQUEST_ASK, 1, "wait");
    while (!atomic_load(&running))
        ;
    vd_worker_stop(worker);
    vd_event event = next(worker);
    assert_int_equal(event.status, VD_INTERRUPTED);
    vd_event_clear(&event);
    submit(worker, VD_REQUEST_ASK, 2, "again");
    event = next(worker);
    assert_int_equal(event.status, VD_OK);
    vd_event_clear(&event);
    vd_worker_free(worker);
}

// A question that is asked at once after a stop does not undo it.
static void a_stop_holds_for_what_was_there(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        vd_worker *worker;
        atomic_store(&running, 0);
        assert_int_equal(vd_worker_start(serve, contexts, 2, &worker, NULL), VD_OK);
        submit(worker, VD_REQUEST_ASK, 1, "wait");
        submit(worker, VD_REQUEST_ASK, 2, "wait");
        while (!atomic_load(&running))
            ;
        vd_worker_stop(worker);
        submit(worker, VD_REQUEST_ASK, 3, "again");
        for (long serial = 1; serial <= 3; serial++) {
            vd_event event = next(worker);
            assert_int_equal(event.serial, serial);
            assert_int_equal(event.status, serial < 3 ? VD_INTERRUPTED : VD_OK);
            vd_event_clear(&event);
        }
        vd_worker_free(worker);
    }
}

// A lane that leaving stops must not take its next request first: many times, since that is a
// matter of microseconds.
static void leave_while_one_runs(void)
{
    vd_worker *worker;
    atomic_store(&running, 0);
    atomic_store(&served, 0);
    assert_int_equal(vd_worker_start(serve, contexts, 2, &worker, NULL), VD_OK);
    submit(worker, VD_REQUEST_ASK, 1, "done before");
    submit(worker, VD_REQUEST_ASK, 2, "wait");
    submit(worker, VD_REQUEST_ASK, 3, "never served");
    while (!atomic_load(&running))
        ;
    vd_worker_free(worker);
    assert_int_equal(atomic_load(&served), 2);
}

static void leaving_stops_what_runs_and_drops_what_waits(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++)
        leave_while_one_runs();
    vd_worker_free(NULL);
}

// One lane waits to be stopped while another one answers.
static void lanes_are_served_at_the_same_time(void **state)
{
    (void)state;
    vd_worker *worker;
    atomic_store(&running, 0);
    assert_int_equal(vd_worker_start(serve, contexts, 2, &worker, NULL), VD_OK);
    submit(worker, VD_REQUEST_ASK, 1, "wait");
    while (!atomic_load(&running))
        ;
    vd_request request = {
        .kind = VD_REQUEST_ASK, .serial = 2, .lane = 1, .text = vd_strdup("is it red?")};
    assert_int_equal(vd_worker_submit(worker, &request, NULL), VD_OK);
    vd_event event = next(worker);
    assert_int_equal(event.serial, 2);
    assert_int_equal(event.lane, 1);
    vd_event_clear(&event);
    vd_worker_stop(worker);
    event = next(worker);
    assert_int_equal(event.serial, 1);
    assert_int_equal(event.lane, 0);
    assert_int_equal(event.status, VD_INTERRUPTED);
    vd_event_clear(&event);
    vd_worker_free(worker);
}

static vd_status start_and_ask(void *context, vd_error *err)
{
    (void)context;
    vd_worker *worker;
    vd_status status = vd_worker_start(serve, contexts, 2, &worker, err);
    if (status) {
        assert_null(worker);
        return status;
    }
    vd_request request = {.kind = VD_REQUEST_PICTURE};
    status = vd_worker_submit(worker, &request, err);
    vd_worker_free(worker);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    assert_int_equal(support_fail_each_allocation(start_and_ask, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_served_in_order),
        cmocka_unit_test(a_running_answer_can_be_stopped_and_the_next_one_runs),
        cmocka_unit_test(a_stop_holds_for_what_was_there),
        cmocka_unit_test(lanes_are_served_at_the_same_time),
        cmocka_unit_test(leaving_stops_what_runs_and_drops_what_waits),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

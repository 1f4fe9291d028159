// A conversation on a GPU that fails in the middle of it, at every call in turn: the CPU takes
// over, the question is answered as it would have been, nothing of the conversation is lost.
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/backend/open.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/session/session.h"

static tiny_world tiny;
static vd_error err;
static const vd_backend *gpu;
static void (*stage)(int memory_at, int lost_at);
static int (*count_allocations)(void);

enum { TURNS = 2 };
static const char *const questions[TURNS] = {"what color is it", "is it red"};

static int open_gpu(void **state)
{
    (void)state;
    char path[4200];
    const char *program = getenv("VISDIAL_BIN");
    snprintf(path, sizeof path, "%s", program ? program : "build/visdial");
    char *slash = strrchr(path, '/');
    if (!slash)
        return -1;
    snprintf(slash, sizeof path - (size_t)(slash - path), "/host/visdial-cuda.so");
    if (vd_backend_open_plugin(path, 0, &gpu, &err) != VD_OK)
        return -1;
    void *shared = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    *(void **)&stage = shared ? dlsym(shared, "vd_host_fail") : NULL;
    *(void **)&count_allocations = shared ? dlsym(shared, "vd_host_allocations") : NULL;
    tiny_world_make(&tiny);
    return stage && count_allocations ? 0 : -1;
}

static int remove_tiny(void **state)
{
    (void)state;
    tiny_world_remove(&tiny);
    return 0;
}

static void must(vd_status status)
{
    if (status != VD_OK)
        fail_msg("%s", err.text);
}

// What a conversation leaves to compare.
typedef struct talk {
    int best[TURNS], answers;
    float score[TURNS][64];
} talk;

// Turns from `from` on; the answer taken is the best.
static void say_turns(vd_session *session, int from, int to, talk *out)
{
    out->answers = (int)session->answers->count;
    assert_in_range(out->answers, 1, 64);
    for (int i = from; i < to; i++) {
        vd_reply reply;
        must(vd_session_ask(session, questions[i], NULL, &reply, &err));
        out->best[i] = reply.answer.order[0];
        memcpy(out->score[i], reply.answer.score, sizeof(float) * (size_t)out->answers);
        must(vd_session_accept(session, &reply, out->best[i], &err));
    }
}

static vd_session *begin(vd_world *world, const vd_backend *backend)
{
    vd_session *session;
    world->backend = backend;
    must(vd_session_new(world, "improved", &session, &err));
    must(vd_session_picture(session, 1, &err));
    return session;
}

static void expect_same_talk(const talk *expected, const talk *found, int n)
{
    for (int i = 0; i < TURNS; i++) {
        if (found->best[i] != expected->best[i])
            fail_msg("failing at call %d: question %d: answer %d, expected %d", n, i + 1,
                     found->best[i], expected->best[i]);
        for (int k = 0; k < expected->answers; k++)
            assert_float_equal(found->score[i][k], expected->score[i][k], 1e-4);
    }
}

// One conversation, which the GPU does not get through: memory is out at its n-th allocation from
// the start, or it is lost at its n-th call after the first turn. Whether there was such a one.
static bool fails_at(vd_world *world, const talk *expected, int n, bool memory)
{
    talk found;
    vd_answer masked;
    static const vd_intervention blank = {.blank = true};
    static const int32_t ids[] = {VD_UNKNOWN};
    stage(memory ? n : 0, 0);
    vd_session *session = begin(world, gpu);
    say_turns(session, 0, 1, &found);
    if (!memory) {
        assert_string_equal(vd_model_backend(session->model)->name, "cuda");
        stage(0, n);
    }
    say_turns(session, 1, TURNS, &found);
    must(vd_session_ask_if(session, ids, 1, &blank, NULL, &masked, NULL, &err));
    vd_answer_clear(&masked);
    const char *why = vd_session_fallback(session);
    bool failed = why;
    if (failed) {
        assert_string_equal(vd_model_backend(session->model)->name, "cpu");
        if (!strstr(why, "GPU") && !strstr(why, "memory"))
            fail_msg("failing at call %d: '%s' does not say what failed", n, why);
    }
    expect_same_talk(expected, &found, n);
    assert_int_equal(session->turns, TURNS);
    for (int i = 0; i < TURNS; i++) {
        assert_string_equal(session->turn[i].question, questions[i]);
        assert_string_equal(session->turn[i].answer, vd_session_texts(session)[expected->best[i]]);
    }
    stage(0, 0);
    vd_session_free(session);
    gpu->last_error(); // what freeing on a lost device may have said
    return failed;
}

static void fails_at_every_call(bool memory, int least)
{
    talk expected;
    vd_world *world;
    must(vd_world_open_files(&(vd_world_files){.directory = tiny.directory}, &world, &err));
    vd_session *session = begin(world, NULL);
    say_turns(session, 0, TURNS, &expected);
    vd_session_free(session);
    int n = 1;
    while (fails_at(world, &expected, n, memory))
        n++;
    print_message("the CPU took over after each of %d calls\n", n - 1);
    assert_true(n > least);
    vd_world_close(world);
}

static void a_device_lost_at_any_call_loses_nothing(void **state)
{
    (void)state;
    fails_at_every_call(false, 50);
}

static void memory_that_is_out_at_any_call_loses_nothing(void **state)
{
    (void)state;
    fails_at_every_call(true, 3);
}

// ---- memory -------------------------------------------------------------------------------------

static void a_question_like_the_one_before_takes_no_memory(void **state)
{
    (void)state;
    talk first;
    vd_world *world;
    must(vd_world_open_files(&(vd_world_files){.directory = tiny.directory}, &world, &err));
    vd_session *session = begin(world, gpu);
    say_turns(session, 0, TURNS, &first);
    for (int i = 0; i < 4; i++) {
        int taken = 0;
        for (int k = 0; k < 2; k++) { // the first time may take memory
            vd_reply reply;
            taken = count_allocations();
            must(vd_session_ask(session, questions[i % TURNS], NULL, &reply, &err));
            vd_reply_clear(&reply);
        }
        assert_int_equal(count_allocations(), taken);
    }
    assert_null(vd_session_fallback(session));
    vd_session_free(session);
    vd_world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_like_the_one_before_takes_no_memory),
        cmocka_unit_test(memory_that_is_out_at_any_call_loses_nothing),
        cmocka_unit_test(a_device_lost_at_any_call_loses_nothing),
    };
    return cmocka_run_group_tests(tests, open_gpu, remove_tiny);
}

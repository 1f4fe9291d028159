// The engine of a chat: a request comes in, an event goes out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/opened_world.h"
#include "tests/support/support.h"
#include "tui/session/service.h"

static vd_service *service;
static const atomic_int go_on;

// What was said before the next question; in one block, as requests have it.
static const char *said[8][2];
static int said_count;

static vd_turn *history(void)
{
    vd_turn *turns = g_new(vd_turn, said_count);
    for (int i = 0; i < said_count; i++)
        turns[i] = (vd_turn){g_strdup(said[i][0]), g_strdup(said[i][1])};
    return turns;
}

static vd_event serve(vd_request_kind kind, const char *text, size_t index)
{
    vd_request request = {.kind = kind,
                          .serial = 7,
                          .text = text ? vd_strdup(text) : NULL,
                          .index = index,
                          .history = history(),
                          .turns = said_count};
    vd_event event = {.kind = kind, .serial = 7};
    vd_service_serve(service, &request, &go_on, &event);
    vd_request_clear(&request);
    return event;
}

static void serve_well(vd_request_kind kind, const char *text, size_t index)
{
    vd_event event = serve(kind, text, index);
    if (event.status)
        fail_msg("%s", event.error.text);
    vd_event_clear(&event);
}

static int start(void **state)
{
    (void)state;
    said_count = 0;
    world->decoder = (vd_decoder_choice){0};
    service = vd_service_new(world);
    return 0;
}

static int end(void **state)
{
    (void)state;
    vd_service_free(service);
    return 0;
}

static void a_model_says_who_it_is_and_what_it_can_answer(void **state)
{
    (void)state;
    vd_event event = serve(VD_REQUEST_MODEL, "improved", 0);
    assert_int_equal(event.status, VD_OK);
    assert_string_equal(event.model, "improved");
    assert_string_equal(event.backend, "cpu");
    assert_int_equal(event.pool.count, TINY_ANSWERS);
    for (int i = 0; i < event.pool.count; i++)
        assert_string_equal(event.pool.text[i], world->pool.answer[i]);
    vd_event_clear(&event);
}

static void a_decoder_that_was_chosen_is_named(void **state)
{
    (void)state;
    world->decoder = (vd_decoder_choice){true, VD_DISCRIMINATIVE};
    vd_event event = serve(VD_REQUEST_MODEL, "base", 0);
    assert_int_equal(event.status, VD_OK);
    assert_string_equal(event.backend, "cpu, discriminative");
    vd_event_clear(&event);
    world->decoder.by = VD_BOTH;
    event = serve(VD_REQUEST_MODEL, "improved", 0);
    support_refused(event.status, VD_MISMATCH, &event.error, "improved", "no such decoder", NULL);
    vd_event_clear(&event);
}

// Fewer or more answers than the world's pool has.
static void a_model_answers_from_a_pool_of_its_own(void **state)
{
    (void)state;
    static const char *const pools[] = {"3\tgreen\n", "9\ta\n8\tb\n7\tc\n6\td\n5\te\n4\tf\n"};
    static const int counts[] = {1, 6};
    for (int i = 0; i < 2; i++) {
        char *path = support_join(tiny.directory, i ? "large.safetensors" : "small.safetensors");
        char *pool = support_join(tiny.directory, i ? "large.txt" : "small.txt");
        support_write_text(pool, pools[i]);
        tiny_world_model(&tiny, path, TINY_REGION_SIZE, i ? "large.txt" : "small.txt");
        vd_event event = serve(VD_REQUEST_MODEL, path, 0);
        assert_int_equal(event.status, VD_OK);
        assert_int_equal(event.pool.count, counts[i]);
        assert_string_equal(event.pool.text[counts[i] - 1], i ? "f" : "green");
        vd_event_clear(&event);
        event = serve(VD_REQUEST_ASK, "is it red", 0);
        assert_int_equal(event.status, VD_OK);
        assert_int_equal(event.reply.answer.candidates, counts[i]);
        vd_event_clear(&event);
        free(pool);
        free(path);
    }
}

static void a_picture_tells_its_boxes(void **state)
{
    (void)state;
    serve_well(VD_REQUEST_MODEL, "improved", 0);
    vd_event event = serve(VD_REQUEST_PICTURE, NULL, 2);
    assert_int_equal(event.status, VD_OK);
    assert_int_equal(event.regions.count, TINY_REGIONS);
    assert_non_null(event.regions.boxes);
    vd_event_clear(&event);
}

static void say(const char *question, int answer)
{
    said[said_count][0] = question;
    said[said_count++][1] = world->pool.answer[answer];
}

static void an_answer_comes_whole(void **state)
{
    (void)state;
    serve_well(VD_REQUEST_MODEL, "improved", 0);
    vd_event event = serve(VD_REQUEST_ASK, "What color is the BALL?", 0);
    assert_int_equal(event.status, VD_OK);
    assert_string_equal(event.reply.typed, "What color is the BALL?");
    assert_true(event.reply.words >= 5);
    const vd_answer *answer = &event.reply.answer;
    assert_int_equal(answer->candidates, TINY_ANSWERS);
    assert_int_equal(answer->rounds, 1);
    assert_int_equal(answer->regions, TINY_REGIONS);
    double sum = 0, attention = 0;
    for (int i = 0; i < TINY_ANSWERS; i++)
        sum += (double)answer->probability[answer->order[i]];
    for (int i = 0; i < TINY_REGIONS; i++)
        attention += (double)vd_answer_shares(answer, VD_AXIS_REGIONS)[i];
    assert_true(sum > 0.999 && sum < 1.001);
    assert_true(attention > 0.999 && attention < 1.001);
    vd_event_clear(&event);
}

static void expect_scores(const vd_event *a, const vd_event *b)
{
    assert_int_equal(a->status, VD_OK);
    assert_int_equal(b->status, VD_OK);
    assert_int_equal(a->reply.answer.rounds, b->reply.answer.rounds);
    for (int i = 0; i < TINY_ANSWERS; i++)
        assert_float_equal(a->reply.answer.score[i], b->reply.answer.score[i], 1e-5);
}

// Whatever was asked before of this model: an answer follows from what comes with the question.
static void an_answer_follows_from_what_comes_with_the_question(void **state)
{
    (void)state;
    serve_well(VD_REQUEST_MODEL, "base", 0);
    say("what color is the ball?", 2);
    say("and the cube?", 1);
    vd_event fresh = serve(VD_REQUEST_ASK, "which one is larger?", 0);
    assert_int_equal(fresh.reply.answer.rounds, 3);
    said_count = 1; // two rounds forgotten, another answer, another picture, and back
    serve_well(VD_REQUEST_ASK, "is it red?", 0);
    said[0][1] = world->pool.answer[0];
    serve_well(VD_REQUEST_ASK, "is it red?", 0);
    serve_well(VD_REQUEST_ASK, "is it red?", 3);
    said_count = 0;
    say("what color is the ball?", 2);
    say("and the cube?", 1);
    vd_event again = serve(VD_REQUEST_ASK, "which one is larger?", 0);
    expect_scores(&fresh, &again);
    // The other model hears the same, and this one goes on where it was.
    serve_well(VD_REQUEST_MODEL, "improved", 0);
    vd_event there = serve(VD_REQUEST_ASK, "which one is larger?", 0);
    assert_int_equal(there.reply.answer.rounds, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(there.reply.answer.history_start[i + 1],
                         fresh.reply.answer.history_start[i + 1]);
    serve_well(VD_REQUEST_MODEL, "base", 0);
    vd_event back = serve(VD_REQUEST_ASK, "which one is larger?", 0);
    expect_scores(&fresh, &back);
    vd_event_clear(&fresh);
    vd_event_clear(&again);
    vd_event_clear(&there);
    vd_event_clear(&back);
}

static void a_walk_is_of_the_answer_to_the_same_question(void **state)
{
    (void)state;
    serve_well(VD_REQUEST_MODEL, "base", 0);
    say("what color is the cube", 0);
    vd_event asked = serve(VD_REQUEST_ASK, "is it red", 2);
    vd_event walked = serve(VD_REQUEST_WALK, "is it red", 2);
    assert_int_equal(asked.status, VD_OK);
    assert_int_equal(walked.status, VD_OK);
    assert_non_null(walked.walk);
    assert_int_equal(walked.walk->entries, 2);
    assert_int_equal(walked.walk->effects, 0);
    const vd_answer *a = &asked.reply.answer, *b = &walked.walk->reply.answer;
    assert_int_equal(a->candidates, b->candidates);
    assert_memory_equal(a->score, b->score, (size_t)a->candidates * sizeof *a->score);
    vd_event_clear(&asked);
    vd_event_clear(&walked);
}

static void wrong_requests_come_back_with_a_reason(void **state)
{
    (void)state;
    vd_event event = serve(VD_REQUEST_ASK, "what color is it?", 0);
    assert_int_equal(event.status, VD_UNAVAILABLE);
    assert_non_null(strstr(event.error.text, "no model is loaded"));
    vd_event_clear(&event);
    event = serve(VD_REQUEST_MODEL, "no-such-model", 0);
    assert_int_not_equal(event.status, VD_OK);
    assert_non_null(strstr(event.error.text, "no-such-model"));
    vd_event_clear(&event);
    serve_well(VD_REQUEST_MODEL, "base", 0);
    event = serve(VD_REQUEST_MODEL, "no-such-model", 0); // the one that is loaded stays
    assert_int_not_equal(event.status, VD_OK);
    vd_event_clear(&event);
    serve_well(VD_REQUEST_PICTURE, NULL, 0);
    event = serve(VD_REQUEST_PICTURE, NULL, 1000);
    assert_int_not_equal(event.status, VD_OK);
    vd_event_clear(&event);
    event = serve(VD_REQUEST_ASK, "   ", 0);
    assert_int_equal(event.status, VD_USAGE);
    vd_event_clear(&event);
    event = serve(VD_REQUEST_LEAVE, NULL, 0);
    assert_int_equal(event.status, VD_USAGE);
    vd_event_clear(&event);
}

static void a_stopped_question_is_not_in_the_conversation(void **state)
{
    (void)state;
    serve_well(VD_REQUEST_MODEL, "base", 0);
    serve_well(VD_REQUEST_PICTURE, NULL, 0);
    const atomic_int stopped = 1;
    vd_request request = {.kind = VD_REQUEST_ASK, .text = vd_strdup("what color is it?")};
    vd_event event = {.kind = VD_REQUEST_ASK};
    vd_service_serve(service, &request, &stopped, &event);
    assert_int_equal(event.status, VD_INTERRUPTED);
    vd_event_clear(&event);
    vd_request_clear(&request);
    event = serve(VD_REQUEST_ASK, "what color is it?", 0);
    assert_int_equal(event.reply.answer.rounds, 1);
    vd_event_clear(&event);
}

static vd_status ask_once(void *context, vd_error *err)
{
    (void)context;
    vd_request request = {.kind = VD_REQUEST_ASK, .text = vd_strdup("what color is it?")};
    if (!request.text)
        return vd_error_memory(err, "a question");
    vd_event event = {.kind = VD_REQUEST_ASK};
    vd_service_serve(service, &request, &go_on, &event);
    vd_status status = event.status;
    if (status)
        *err = event.error;
    vd_event_clear(&event);
    vd_request_clear(&request);
    return status;
}

static vd_status begin(void *context, vd_error *err)
{
    (void)context;
    vd_service *fresh = vd_service_new(world);
    vd_request request = {.kind = VD_REQUEST_MODEL, .text = vd_strdup("base")};
    vd_event event = {.kind = VD_REQUEST_MODEL};
    if (request.text)
        vd_service_serve(fresh, &request, &go_on, &event);
    else
        event.status = vd_error_memory(&event.error, "a name");
    vd_status status = event.status;
    if (status)
        *err = event.error;
    vd_event_clear(&event);
    vd_request_clear(&request);
    vd_service_free(fresh);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(begin, NULL) > 5);
    serve_well(VD_REQUEST_MODEL, "base", 0);
    serve_well(VD_REQUEST_PICTURE, NULL, 0);
    assert_true(support_fail_each_allocation(ask_once, NULL) > 10);
}

static vd_event serve_caption(const char *second)
{
    vd_request request = {
        .kind = VD_REQUEST_CAPTION, .serial = 7, .caption = vd_alloc(1, sizeof *request.caption)};
    vd_event event = {.kind = request.kind, .serial = 7};
    request.caption->place = 1;
    snprintf(request.caption->second, sizeof request.caption->second, "%s", second);
    vd_service_serve(service, &request, &go_on, &event);
    vd_request_clear(&request);
    return event;
}

// Its captioner and its regions do not go together, and no other one is there.
static void a_caption_that_nobody_can_say_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        vd_event event = serve_caption("");
        support_refused(event.status, VD_MISMATCH, &event.error, "captioner.safetensors",
                        "they must come from one extractor", NULL);
        assert_null(event.caption);
        vd_event_clear(&event);
        event = serve_caption("nowhere.safetensors");
        assert_int_not_equal(event.status, VD_OK);
        vd_event_clear(&event);
    }
}

static void a_text_is_found_where_it_is_first(void **state)
{
    (void)state;
    static const char *const texts[] = {"yes", "no", "yes"};
    GHashTable *index = vd_pool_index(texts, 3);
    assert_int_equal(GPOINTER_TO_INT(g_hash_table_lookup(index, "yes")), 1);
    assert_int_equal(GPOINTER_TO_INT(g_hash_table_lookup(index, "no")), 2);
    assert_null(g_hash_table_lookup(index, "maybe"));
    g_hash_table_destroy(index);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_model_says_who_it_is_and_what_it_can_answer),
        TEST(a_decoder_that_was_chosen_is_named),
        TEST(a_model_answers_from_a_pool_of_its_own),
        TEST(a_picture_tells_its_boxes),
        TEST(an_answer_comes_whole),
        TEST(an_answer_follows_from_what_comes_with_the_question),
        TEST(a_walk_is_of_the_answer_to_the_same_question),
        TEST(wrong_requests_come_back_with_a_reason),
        TEST(a_stopped_question_is_not_in_the_conversation),
        TEST(out_of_memory_is_reported),
        TEST(a_caption_that_nobody_can_say_is_refused),
        cmocka_unit_test(a_text_is_found_where_it_is_first),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}

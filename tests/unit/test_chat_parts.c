// The parts of the chat by themselves: a conversation without models, lanes without a screen.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/fake_chat.h"
#include "tui/session/service.h"

static vd_conversation talk;
static vd_lanes lanes;
static vd_notice notice;
static const char *const texts[] = {"yes", "no"};

static vd_pool_texts pool(void)
{
    static GHashTable *index;
    if (!index)
        index = vd_pool_index(texts, 2);
    return (vd_pool_texts){texts, 2, NULL, index};
}

static int start(void **state)
{
    (void)state;
    notice = (vd_notice){0};
    vd_conversation_init(&talk, fake_chat_world(), 0);
    vd_lanes_init(&lanes, &talk, &notice);
    return 0;
}

static int end(void **state)
{
    (void)state;
    vd_lanes_free(&lanes);
    vd_conversation_free(&talk);
    return 0;
}

// ---- conversation -------------------------------------------------------------------------------

// An answer from a pool of two, with this one first and the share 3/4.
static vd_reply make_reply(int first)
{
    vd_reply reply = {.typed = vd_strdup("?"), .question = vd_strdup(""), .ranked.made = true};
    vd_answer *answer = &reply.answer;
    answer->candidates = 2;
    answer->score = vd_alloc(2, sizeof *answer->score);
    answer->probability = vd_alloc(2, sizeof *answer->probability);
    answer->order = vd_alloc(2, sizeof *answer->order);
    assert_true(answer->score && answer->probability && answer->order);
    answer->probability[first] = answer->score[first] = 0.75f;
    answer->probability[!first] = 0.25f;
    answer->order[0] = first;
    answer->order[1] = !first;
    return reply;
}

static void answer_round(size_t at, int lane, int chosen)
{
    vd_response *response = &talk.branch->rounds[at].response[lane];
    *response = (vd_response){.ready = true, .stamp = 7, .chosen = chosen, .pool = pool()};
    snprintf(response->model, sizeof response->model, "base");
    response->reply = make_reply(chosen);
}

static void add(const char *question)
{
    assert_non_null(vd_branch_add(talk.branch, question));
}

static void a_branch_is_a_copy_that_goes_its_own_way(void **state)
{
    (void)state;
    add("one?");
    add("two?");
    answer_round(0, 0, 1);
    assert_true(vd_conversation_waits(&talk));
    unsigned edition = talk.edition;
    assert_true(vd_conversation_fork(&talk, 1));
    assert_int_not_equal(talk.edition, edition);
    assert_int_equal(talk.branches.used, 1);
    assert_int_equal(talk.branch->count, 1);
    assert_false(vd_conversation_waits(&talk));
    assert_int_equal(talk.branch->rounds[0].response[0].chosen, 1);
    assert_true(talk.branch->rounds[0].response[0].reply.ranked.made);
    vd_conversation_change(&talk, 0, "uno?");
    vd_conversation_use(&talk, 0);
    assert_int_equal(talk.branch->count, 2);
    assert_string_equal(talk.branch->rounds[0].typed, "one?");
    vd_conversation_use(&talk, 1);
    assert_string_equal(talk.branch->rounds[0].typed, "uno?");
}

static void the_oldest_branch_goes_but_not_the_one_in_use(void **state)
{
    (void)state;
    add("the first?");
    for (int i = 1; i < VD_BRANCHES; i++)
        assert_true(vd_conversation_fork(&talk, 0));
    vd_conversation_use(&talk, 0);
    assert_true(vd_conversation_fork(&talk, 1));
    assert_int_equal(talk.branches.count, VD_BRANCHES);
    assert_int_equal(talk.branches.used, VD_BRANCHES - 1);
    assert_string_equal(talk.branches.at[0].rounds[0].typed, "the first?");
    assert_string_equal(talk.branch->rounds[0].typed, "the first?");
    assert_ptr_equal(talk.branch, &talk.branches.at[VD_BRANCHES - 1]);
    assert_true(vd_conversation_fork(&talk, 1)); // now the first one goes
    assert_int_equal(talk.branches.at[0].count, 0);
}

static void a_picture_has_its_conversations_again(void **state)
{
    (void)state;
    add("is it red?");
    assert_true(vd_conversation_fork(&talk, 1));
    assert_false(vd_conversation_show(&talk, 1));
    assert_int_equal(talk.branch->count, 0);
    assert_false(vd_conversation_show(&talk, 2)); // nothing was asked about picture 1
    assert_int_equal(talk.earlier_count, 1);
    assert_true(vd_conversation_show(&talk, 0));
    assert_int_equal(talk.earlier_count, 0);
    assert_int_equal(talk.branches.used, 1);
    assert_string_equal(talk.branch->rounds[0].typed, "is it red?");
    assert_int_equal(vd_conversation_image_id(&talk), 1000001);
}

static void the_oldest_picture_goes_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < VD_EARLIER; i++) {
        vd_branches branches = {.picture = 10 + i, .count = 1};
        vd_conversation_keep(&talk, &branches);
    }
    assert_int_equal(talk.earlier_count, VD_EARLIER - 1);
    assert_int_equal(talk.earlier[0].picture, 11);
    assert_int_equal(talk.earlier[VD_EARLIER - 2].picture, 10 + VD_EARLIER - 1);
}

static void dropped_rounds_are_not_asked_again(void **state)
{
    (void)state;
    add("one?");
    add("two?");
    talk.asked_again = 1;
    vd_conversation_drop(&talk, 2);
    assert_int_equal(talk.asked_again, 1);
    vd_conversation_drop(&talk, 1);
    assert_int_equal(talk.asked_again, -1);
}

// By the answer, not by what is said of it: another model and another share are no other answer.
static void what_an_answer_was_before_is_known(void **state)
{
    (void)state;
    char text[64];
    add("one?");
    answer_round(0, 0, 1);
    vd_response *response = &talk.branch->rounds[0].response[0];
    vd_response_before(response, text, sizeof text);
    assert_string_equal(text, "");
    vd_response_replace(response);
    assert_false(response->ready);
    vd_replaced before = response->before;
    response->before = (vd_replaced){0};
    answer_round(0, 0, 1);
    response->before = before;
    vd_response_before(response, text, sizeof text);
    assert_string_equal(text, "no (75 %, base)");
    assert_false(vd_response_changed(response));
    response->chosen = 0;
    assert_true(vd_response_changed(response));
}

// ---- lanes --------------------------------------------------------------------------------------

// The oldest request, which is of this kind and lane.
static vd_request take(vd_request_kind kind, int lane)
{
    vd_request request;
    assert_true(vd_lanes_take_request(&lanes, &request));
    assert_int_equal(request.kind, kind);
    assert_int_equal(request.lane, lane);
    return request;
}

static void nothing_waits(void)
{
    assert_int_equal(lanes.requests->len, 0);
}

static void load(int lane, const char *name)
{
    vd_request request = take(VD_REQUEST_MODEL, lane);
    vd_event event = {.kind = VD_REQUEST_MODEL,
                      .serial = request.serial,
                      .lane = lane,
                      .asked = vd_strdup(name),
                      .pool = pool()};
    assert_string_equal(request.text, name);
    const char *slash = strrchr(name, '/');
    snprintf(event.model, sizeof event.model, "%s", slash ? slash + 1 : name);
    snprintf(event.by.model.text, sizeof event.by.model.text, "%s", name);
    if (strcmp(name, "nowhere") == 0)
        event.status = vd_error_set(&event.error, VD_NOT_FOUND, "%s: no such model", name);
    vd_lanes_event(&lanes, &event);
    vd_event_clear(&event);
    vd_request_clear(&request);
}

// Answers the oldest question; first: the answer ranked first.
static vd_arrival reply_to(vd_request *request, vd_status status, int first)
{
    vd_event event = {.kind = VD_REQUEST_ASK, .serial = request->serial, .lane = request->lane};
    if (status)
        event.status = vd_error_set(&event.error, status, "the engine says no");
    else
        event.reply = make_reply(first);
    vd_arrival arrival = vd_lanes_event(&lanes, &event);
    vd_event_clear(&event);
    vd_request_clear(request);
    return arrival;
}

static vd_arrival reply(int lane, vd_status status, int first)
{
    vd_request request = take(VD_REQUEST_ASK, lane);
    return reply_to(&request, status, first);
}

static void start_with(const char *model)
{
    vd_lanes_use_model(&lanes, 0, model);
    load(0, model);
}

static void answers_now(const char *name, const char *coming)
{
    const vd_lane *lane = &lanes.lane[0];
    assert_string_equal(lane->model, name);
    assert_string_equal(vd_lane_name(lane), name);
    assert_int_equal(lane->loading != 0, *coming != '\0');
    if (lane->loading)
        assert_string_equal(lane->coming, coming);
}

// Each answers from when it is loaded until the next one is; one that cannot be loaded changes
// nothing.
static void models_asked_for_at_once_answer_in_turn(void **state)
{
    (void)state;
    start_with("improved");
    vd_lanes_use_model(&lanes, 0, "base");
    vd_lanes_use_model(&lanes, 0, "best");
    load(0, "base");
    answers_now("base", "best");
    load(0, "best");
    answers_now("best", "");
    vd_lanes_use_model(&lanes, 0, "base");
    vd_lanes_use_model(&lanes, 0, "nowhere");
    load(0, "base");
    load(0, "nowhere");
    answers_now("base", "");
    assert_string_equal(notice.text, "nowhere: no such model");
    vd_lanes_compare_with(&lanes, "base");
    assert_string_equal(notice.text, "base is compared already");
    // A compared one that is gone before it is loaded, and asked for again.
    vd_lanes_compare_with(&lanes, "nowhere");
    vd_lanes_use_model(&lanes, 1, "best");
    load(1, "nowhere");
    assert_int_equal(lanes.count, 2);
    load(1, "best");
    assert_string_equal(lanes.lane[1].model, "best");
}

// Two of one name are two: what one answered is asked of the other one, which walks through it.
static void models_of_one_name_are_two(void **state)
{
    (void)state;
    start_with("best");
    vd_lanes_ask(&lanes, "one?");
    reply(0, VD_OK, 0);
    const vd_response *shown = &talk.branch->rounds[0].response[0];
    vd_lanes_walk(&lanes, 0, 0);
    vd_request walk = take(VD_REQUEST_WALK, 0);
    vd_event event = {
        .kind = VD_REQUEST_WALK, .serial = walk.serial, .walk = vd_alloc(1, sizeof *event.walk)};
    vd_lanes_event(&lanes, &event);
    vd_request_clear(&walk);
    assert_true(vd_lanes_walks(&lanes, 0, shown));
    vd_lanes_use_model(&lanes, 0, "other/best");
    load(0, "other/best");
    assert_string_equal(notice.text, "best answers from now on");
    assert_false(shown->ready);
    reply(0, VD_OK, 1);
    assert_string_equal(notice.text, "round 1 was: yes (75 %, best)");
    assert_false(vd_lanes_walks(&lanes, 0, shown));
    // The same one once more is no other one.
    vd_lanes_use_model(&lanes, 0, "other/best");
    load(0, "other/best");
    assert_true(shown->ready);
    // Nor is the branch of one that of the other.
    vd_lanes_compare_with(&lanes, "best");
    load(1, "best");
    reply(1, VD_OK, 0);
    vd_lanes_switch_model(&lanes);
    assert_int_equal(talk.branches.count, 2);
}

static void a_question_hears_the_answers_before_it(void **state)
{
    (void)state;
    start_with("base");
    assert_true(vd_lanes_ask(&lanes, "one?"));
    assert_true(vd_lanes_must_wait(&lanes));
    assert_int_equal(notice.kind, VD_NOTICE_WAIT);
    assert_true(reply(0, VD_OK, 1).answered);
    assert_int_equal(notice.kind, VD_NOTICE_NONE); // that is not so any more
    assert_true(vd_lanes_ask(&lanes, "two?"));
    vd_request request = take(VD_REQUEST_ASK, 0);
    assert_int_equal(request.turns, 1);
    assert_string_equal(request.history[0].question, "one?");
    assert_string_equal(request.history[0].answer, "no");
    reply_to(&request, VD_OK, 0);
    // Another answer to the first round: in another branch the second is asked again.
    assert_true(vd_lanes_choose(&lanes, 0, 0, 1));
    assert_int_equal(talk.branches.count, 2);
    request = take(VD_REQUEST_ASK, 0);
    assert_string_equal(request.text, "two?");
    assert_string_equal(request.history[0].answer, "yes");
    reply_to(&request, VD_OK, 1);
    assert_string_equal(notice.text, "round 2 was: yes (75 %, base)");
    nothing_waits();
}

static void an_unanswered_question_is_given_back(void **state)
{
    (void)state;
    start_with("base");
    vd_lanes_ask(&lanes, "one?");
    vd_arrival arrival = reply(0, VD_INTERRUPTED, 0);
    assert_false(arrival.answered);
    assert_string_equal(arrival.question, "one?");
    assert_int_equal(talk.branch->count, 0);
    vd_free(arrival.question);
    assert_string_equal(notice.text, "stopped");
}

static void questions_typed_ahead_are_asked_in_turn(void **state)
{
    (void)state;
    start_with("base");
    static const char *const typed[] = {"one?", "two?", "three?", "four?"};
    for (int i = 0; i < 4; i++)
        assert_true(vd_lanes_ask(&lanes, typed[i]));
    assert_string_equal(notice.text, "3 questions before it; Ctrl-C stops all");
    assert_int_equal(vd_conversation_pending(&talk), 4);
    for (int i = 0; i < 4; i++) {
        vd_request request = take(VD_REQUEST_ASK, 0);
        assert_string_equal(request.text, typed[i]);
        assert_int_equal(request.turns, i);
        assert_true(reply_to(&request, VD_OK, 0).answered);
    }
    assert_int_equal(vd_conversation_pending(&talk), 0);
    nothing_waits();
}

static void one_of_them_that_fails_is_given_back_and_the_others_are_asked(void **state)
{
    (void)state;
    start_with("base");
    vd_lanes_compare_with(&lanes, "improved");
    load(1, "improved");
    vd_lanes_follow(&lanes, 1, VD_FOLLOW_OWN);
    vd_lanes_ask(&lanes, "one?");
    vd_lanes_ask(&lanes, "???");
    vd_lanes_ask(&lanes, "three?");
    vd_request first = take(VD_REQUEST_ASK, 0), other = take(VD_REQUEST_ASK, 1);
    reply_to(&other, VD_OK, 1);
    other = take(VD_REQUEST_ASK, 1); // is ahead of the first model
    reply_to(&first, VD_OK, 0);
    vd_arrival arrival = reply(0, VD_USAGE, 0);
    assert_string_equal(arrival.question, "???");
    vd_free(arrival.question);
    assert_int_equal(talk.branch->count, 2);
    first = take(VD_REQUEST_ASK, 0);
    assert_string_equal(first.text, "three?");
    assert_int_equal(first.turns, 1);
    assert_true(reply_to(&first, VD_OK, 0).answered);
    reply_to(&other, VD_OK, 1); // was about the question that is gone
    other = take(VD_REQUEST_ASK, 1);
    assert_string_equal(other.text, "three?");
    reply_to(&other, VD_OK, 1);
    nothing_waits();
    vd_lanes_ask(&lanes, "four?");
    vd_lanes_ask(&lanes, "five?");
    arrival = reply(0, VD_INTERRUPTED, 0);
    assert_string_equal(arrival.question, "four?");
    vd_free(arrival.question);
    assert_string_equal(notice.text, "stopped: 1 later question was not asked; Up finds it");
    assert_int_equal(talk.branch->count, 2);
}

static void an_answer_to_a_conversation_that_was_left_is_dropped(void **state)
{
    (void)state;
    start_with("base");
    vd_lanes_ask(&lanes, "one?");
    vd_request late = take(VD_REQUEST_ASK, 0), request;
    vd_lanes_show_picture(&lanes, 1, true);
    request = take(VD_REQUEST_STOP, 0);
    request = take(VD_REQUEST_PICTURE, 0);
    assert_int_equal(request.index, 1);
    assert_false(reply_to(&late, VD_OK, 0).answered);
    vd_lanes_show_picture(&lanes, 0, true); // it is asked once more
    assert_true(vd_conversation_waits(&talk));
    request = take(VD_REQUEST_PICTURE, 0);
    assert_true(reply(0, VD_OK, 1).answered);
    nothing_waits();
}

static void compared_models_follow_whom_they_are_told(void **state)
{
    (void)state;
    start_with("base");
    vd_lanes_ask(&lanes, "one?");
    reply(0, VD_OK, 0);
    vd_lanes_ask(&lanes, "two?");
    reply(0, VD_OK, 0);
    vd_lanes_compare_with(&lanes, "");
    load(1, "improved"); // and is asked all of it
    reply(1, VD_OK, 1);
    vd_request request = take(VD_REQUEST_ASK, 1);
    assert_string_equal(request.history[0].answer, "yes");
    reply_to(&request, VD_OK, 1);
    vd_lanes_follow(&lanes, 1, VD_FOLLOW_OWN);
    request = take(VD_REQUEST_ASK, 1);
    assert_string_equal(request.history[0].answer, "no");
    // A lane that fails waits for the next question; the conversation goes on without it.
    assert_null(reply_to(&request, VD_IO, 0).question);
    assert_true(lanes.lane[1].stopped);
    assert_int_equal(talk.branch->count, 2);
    vd_lanes_stop_comparing(&lanes);
    assert_int_equal(lanes.count, 1);
    assert_false(talk.branch->rounds[0].response[1].ready);
    nothing_waits();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_branch_is_a_copy_that_goes_its_own_way),
        TEST(the_oldest_branch_goes_but_not_the_one_in_use),
        TEST(a_picture_has_its_conversations_again),
        TEST(the_oldest_picture_goes_first),
        TEST(dropped_rounds_are_not_asked_again),
        TEST(what_an_answer_was_before_is_known),
        TEST(models_asked_for_at_once_answer_in_turn),
        TEST(models_of_one_name_are_two),
        TEST(a_question_hears_the_answers_before_it),
        TEST(an_unanswered_question_is_given_back),
        TEST(questions_typed_ahead_are_asked_in_turn),
        TEST(one_of_them_that_fails_is_given_back_and_the_others_are_asked),
        TEST(an_answer_to_a_conversation_that_was_left_is_dropped),
        TEST(compared_models_follow_whom_they_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

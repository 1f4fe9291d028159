#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/opened_world.h"
#include "tests/support/plain_chat.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tui/session/remark.h"

static void a_conversation_is_taken_up_again(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "resume.jsonl");
    plain_chat p;
    plain_chat_open(world, &p, false, file);
    plain_chat_ask(&p, "What colour is the <cube>?");
    plain_chat_ask(&p, "is it next to the ball");
    vd_chat_choose(&p.chat, 2);
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    plain_chat_close(&p);
    plain_chat_open(world, &p, true, file);
    assert_false(p.recorder.resuming);
    assert_string_equal(p.chat.notice.text,
                        "continued a conversation of 2 rounds; every score is as recorded");
    assert_int_equal(p.chat.conversation.branch->count, 2);
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.record_count, 2); // nothing is written twice
    assert_string_equal(vd_lanes_answer(&p.chat.lanes, 0, 0), back.dialogs[0].rounds[0].answer);
    assert_string_equal(vd_lanes_answer(&p.chat.lanes, 0, 1), back.dialogs[0].rounds[1].answer);
    vd_transcript_clear(&back);
    plain_chat_ask(&p, "what color is the ball");
    plain_chat_close(&p);
    back = plain_chat_read_back(file);
    assert_int_equal(back.record_count, 3);
    assert_int_equal(back.dialogs[back.dialog_count - 1].count, 3);
    vd_transcript_clear(&back);
    free(file);
}

// As plain_chat_open with resume, up to the first question.
static void resume_unserved(plain_chat *p, const char *file)
{
    vd_error err = {0};
    int64_t image = 1;
    const char *model = "improved";
    *p = (plain_chat){0};
    for (int i = 0; i < VD_MODELS; i++)
        p->service[i] = vd_service_new(world);
    assert_int_equal(vd_recorder_start(&p->recorder, true, file, &image, &model, &err), VD_OK);
    assert_int_equal(vd_chat_init(&p->chat, world, 0, model, 1, &err), VD_OK);
    vd_recorder_restore(&p->recorder, &p->chat);
}

static void expect_ready(const plain_chat *p, size_t rounds, const char *last)
{
    const vd_branch *branch = p->chat.conversation.branch;
    assert_int_equal(branch->count, rounds);
    assert_true(branch->rounds[rounds - 1].response[0].ready);
    assert_string_equal(branch->rounds[rounds - 1].typed, last);
}

static void go(plain_chat *p, size_t picture)
{
    vd_chat_go_picture(&p->chat, picture);
    plain_chat_serve(p);
    vd_recorder_step(&p->recorder, &p->chat);
}

static void every_picture_s_conversation_is_taken_up_again(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "pictures.jsonl");
    plain_chat p;
    plain_chat_open(world, &p, false, file);
    plain_chat_ask(&p, "is it red");
    plain_chat_ask(&p, "and the ball");
    vd_chat_choose(&p.chat, 2);
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    const char *chosen = vd_lanes_answer(&p.chat.lanes, 0, 1);
    go(&p, 1);
    plain_chat_ask(&p, "is it blue");
    vd_chat_start_over(&p.chat); // given up
    plain_chat_serve(&p);
    go(&p, 2);
    plain_chat_ask(&p, "what color is the cube");
    plain_chat_ask(&p, "and now");
    vd_chat_branch(&p.chat);
    plain_chat_ask(&p, "and then");
    go(&p, 3);
    plain_chat_ask(&p, "is it large");
    plain_chat_close(&p);

    plain_chat_open(world, &p, true, file);
    assert_string_equal(p.chat.notice.text,
                        "continued a conversation of 1 round, and those about 2 other "
                        "pictures; every score is as recorded");
    expect_ready(&p, 1, "is it large");
    assert_int_equal(p.chat.conversation.earlier_count, 2);
    go(&p, 1);
    assert_int_equal(p.chat.conversation.branch->count, 0);
    go(&p, 0);
    assert_string_equal(p.chat.notice.text,
                        "continued a conversation of 2 rounds; every score is as recorded");
    expect_ready(&p, 2, "and the ball");
    assert_string_equal(vd_lanes_answer(&p.chat.lanes, 0, 1), chosen);
    go(&p, 2);
    expect_ready(&p, 3, "and then");
    assert_int_equal(p.chat.conversation.branches.count, 2);
    assert_int_equal(p.chat.conversation.branches.used, 1);
    go(&p, 0); // once more it is only shown
    assert_string_equal(p.chat.notice.text,
                        "the conversation about this picture continues; /new starts over");
    plain_chat_ask(&p, "which one");
    plain_chat_close(&p);
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.record_count, 8); // nothing is written twice
    assert_int_equal(back.dialog_count, 4);
    assert_int_equal(back.dialogs[3].image_id, 1);
    assert_int_equal(back.dialogs[3].count, 3);
    vd_transcript_clear(&back);
    // A question that waits when the picture is left is asked again when it is back.
    resume_unserved(&p, file);
    plain_chat_serve_some(&p, 1);
    go(&p, 3);
    go(&p, 0);
    expect_ready(&p, 3, "which one");
    assert_int_equal(p.recorder.mismatched, 0);
    plain_chat_close(&p);
    free(file);
}

static void expect_left(vd_left left, int waiting, int lost)
{
    assert_int_equal(left.waiting, waiting);
    assert_int_equal(left.lost, lost);
}

// About the picture that is shown and about those before it.
static void questions_that_wait_are_asked_when_it_goes_on(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "waiting.jsonl");
    plain_chat p;
    plain_chat_open(world, &p, false, file);
    vd_chat_ask(&p.chat, "is it red"); // nothing of this conversation is answered
    expect_left(vd_recorder_leave(&p.recorder, &p.chat), 0, 1);
    assert_false(support_exists(file));
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    vd_chat_ask(&p.chat, "and the ball");
    vd_chat_ask(&p.chat, "and now");
    vd_chat_go_picture(&p.chat, 1); // before they were answered
    plain_chat_serve_some(&p, 0);
    plain_chat_ask(&p, "is it blue");
    vd_chat_ask(&p.chat, "and then");
    expect_left(vd_recorder_leave(&p.recorder, &p.chat), 3, 0);
    plain_chat_close(&p);
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.dialog_count, 2);
    assert_int_equal(back.dialogs[1].count, 1); // what was answered
    vd_transcript_clear(&back);

    plain_chat_open(world, &p, true, file);
    assert_non_null(strstr(p.chat.notice.text, "every score is as recorded"));
    expect_ready(&p, 2, "and then");
    go(&p, 0);
    expect_ready(&p, 3, "and now");
    expect_left(vd_recorder_leave(&p.recorder, &p.chat), 0, 0);
    plain_chat_close(&p);
    back = plain_chat_read_back(file);
    assert_int_equal(back.dialog_count, 2);
    assert_int_equal(back.dialogs[0].count, 2);
    assert_int_equal(back.dialogs[1].count, 3);
    assert_int_equal(back.record_count, 5);
    vd_transcript_clear(&back);
    free(file);
}

// /new and back again: one conversation, which goes on.
static void a_conversation_that_was_left_and_returned_to_is_one(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "returned.jsonl");
    plain_chat p;
    plain_chat_open(world, &p, false, file);
    plain_chat_ask(&p, "is it red");
    vd_chat_start_over(&p.chat);
    plain_chat_serve(&p);
    vd_lanes_undo(&p.chat.lanes);
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    plain_chat_ask(&p, "and the ball");
    vd_chat_start_over(&p.chat);
    plain_chat_serve(&p);
    plain_chat_ask(&p, "is it red"); // another one that begins alike
    plain_chat_close(&p);
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.dialog_count, 2);
    assert_int_equal(back.dialogs[0].count, 2);
    assert_int_equal(back.dialogs[1].count, 1);
    vd_transcript_clear(&back);
    free(file);
}

// Two models, the second on its own way with another answer than its first; a question of the
// first branch is another one in the second, which has a third round.
static void write_branches(const char *file)
{
    plain_chat p;
    unlink(file);
    plain_chat_open(world, &p, false, file);
    vd_lanes_compare_with(&p.chat.lanes, "base");
    plain_chat_serve(&p);
    vd_lanes_follow(&p.chat.lanes, 1, VD_FOLLOW_OWN);
    plain_chat_ask(&p, "What colour is the cube?");
    plain_chat_ask(&p, "is it next to the ball");
    p.chat.nav.lane = 1;
    vd_chat_choose(&p.chat, 3);
    p.chat.nav.lane = 0;
    vd_chat_choose(&p.chat, 1);
    plain_chat_serve(&p);
    vd_chat_change(&p.chat, 0, "what is red?");
    plain_chat_serve(&p);
    plain_chat_ask(&p, "and behind it?");
    plain_chat_close(&p);
}

static void expect_same_response(const vd_response *a, const vd_response *b)
{
    assert_true(a->ready && b->ready);
    assert_string_equal(a->model, b->model);
    assert_string_equal(vd_response_text(a, a->chosen), vd_response_text(b, b->chosen));
    for (int i = 0; i < TINY_ANSWERS; i++)
        assert_true(fabsf(a->reply.answer.score[i] - b->reply.answer.score[i]) < 1e-6f);
}

static void expect_same_rounds(const vd_branch *a, const vd_branch *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->rounds[i].typed, b->rounds[i].typed);
        for (int lane = 0; lane < 2; lane++)
            expect_same_response(&a->rounds[i].response[lane], &b->rounds[i].response[lane]);
    }
}

static void models_histories_and_branches_are_taken_up(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "branches.jsonl");
    write_branches(file);
    size_t written, after;
    free(support_read_file(file, &written));
    plain_chat p, again;
    plain_chat_open(world, &p, true, file);
    assert_string_equal(
        p.chat.notice.text,
        "continued a conversation of 3 rounds, 2 branches; every score is as recorded");
    assert_int_equal(p.chat.lanes.count, 2);
    assert_string_equal(p.chat.lanes.lane[0].model, "improved");
    assert_string_equal(p.chat.lanes.lane[1].model, "base");
    assert_int_equal(p.chat.lanes.lane[1].follow, VD_FOLLOW_OWN);
    assert_int_equal(p.chat.conversation.branches.count, 2);
    assert_int_equal(p.chat.conversation.branches.used, 1);
    assert_int_equal(p.chat.conversation.branch->count, 3);
    assert_string_equal(p.chat.conversation.branch->rounds[0].typed, "what is red?");
    assert_int_equal(p.recorder.verified, 6);
    // The branch that is set aside is asked again when it is looked at.
    vd_lanes_use_branch(&p.chat.lanes, 0);
    plain_chat_serve(&p);
    assert_int_equal(p.chat.conversation.branch->count, 2);
    assert_string_equal(p.chat.conversation.branch->rounds[0].typed, "What colour is the cube?");
    for (int lane = 0; lane < 2; lane++) {
        const vd_response *response = &p.chat.conversation.branch->rounds[1].response[lane];
        assert_true(response->ready);
        assert_int_equal(response->chosen, response->reply.answer.order[lane == 0 ? 1 : 3]);
    }
    assert_int_equal(p.recorder.verified, 10);
    assert_int_equal(p.recorder.mismatched, 0);
    vd_recorder_step(&p.recorder, &p.chat);
    free(support_read_file(file, &after));
    assert_true(after > written); // another branch is in use now
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.record_count, 10); // nothing is written twice
    vd_transcript_clear(&back);

    plain_chat_open(world, &again, true, file);
    expect_same_rounds(p.chat.conversation.branch, again.chat.conversation.branch);
    vd_lanes_use_branch(&p.chat.lanes, 1);
    vd_lanes_use_branch(&again.chat.lanes, 1);
    plain_chat_serve(&p);
    plain_chat_serve(&again);
    expect_same_rounds(p.chat.conversation.branch, again.chat.conversation.branch);
    plain_chat_close(&again);
    plain_chat_close(&p);
    free(file);
}

static void expect_aside(const vd_branch *branch, size_t index, size_t before, const char *typed)
{
    assert_true(index < branch->aside_count);
    assert_int_equal(branch->asides[index].before, before);
    assert_string_equal(branch->asides[index].typed, typed);
    assert_non_null(strstr(branch->asides[index].reply, VD_PROGRAM_SAYS));
}

static void small_talk_is_taken_up(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "talk.jsonl");
    plain_chat p;
    plain_chat_open(world, &p, false, file);
    vd_chat_ask(&p.chat, "hello");
    plain_chat_ask(&p, "is it red");
    vd_chat_branch(&p.chat);
    plain_chat_ask(&p, "and the ball");
    vd_chat_ask(&p.chat, "Thanks!");
    vd_recorder_step(&p.recorder, &p.chat);
    go(&p, 1);
    vd_chat_ask(&p.chat, "hi");
    plain_chat_ask(&p, "is it blue");
    plain_chat_close(&p);
    plain_chat_open(world, &p, true, file);
    assert_int_equal(p.chat.conversation.branch->aside_count, 1);
    expect_aside(p.chat.conversation.branch, 0, 0, "hi");
    go(&p, 0);
    const vd_branches *branches = &p.chat.conversation.branches;
    assert_int_equal(branches->used, 1);
    assert_int_equal(branches->at[0].aside_count, 1);
    expect_aside(&branches->at[0], 0, 0, "hello");
    assert_int_equal(branches->at[1].aside_count, 2);
    expect_aside(&branches->at[1], 0, 0, "hello");
    expect_aside(&branches->at[1], 1, 2, "Thanks!");
    assert_true(support_fail_each_allocation(plain_chat_read_once, file) > 100);
    plain_chat_close(&p);
    free(file);
}

// Digits of recorded scores are changed: they are found, and the answers as they are now written.
static void scores_that_differ_are_found_when_it_is_taken_up(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "other.jsonl");
    write_branches(file);
    size_t size, changed = 0;
    char *text = support_read_file(file, &size);
    for (char *at = text; (at = strstr(at, "\"typed\":\"what is red?\"")); at++) {
        char *score = strstr(at, "\"scores\":[") + strlen("\"scores\":[");
        score += *score == '-';
        assert_in_range(*score, '0', '9');
        *score = *score == '9' ? '8' : (char)(*score + 1);
        changed++;
    }
    assert_int_equal(changed, 2);
    support_write_file(file, text, size);
    free(text);
    plain_chat p;
    plain_chat_open(world, &p, true, file);
    assert_non_null(
        strstr(p.chat.notice.text, "; 2 of 6 answers have scores that differ from the record"));
    assert_int_equal(p.chat.conversation.branch->count, 3);
    plain_chat_close(&p);
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.record_count, 12);
    vd_transcript_clear(&back);
    free(file);
}

// A file whose last conversation, about picture 1, is of this text.
static char *write_made(const char *conversation)
{
    char *file = support_join(tiny.directory, "made.jsonl"), text[2048];
    snprintf(text, sizeof text,
             "{\"transcript\":1}\n{\"conversation\":{\"image_id\":1,"
             "\"caption\":\"c\",%s}}\n",
             conversation);
    support_write_text(file, text);
    return file;
}

static void resume_from(plain_chat *p, const char *conversation)
{
    char *file = write_made(conversation);
    plain_chat_open(world, p, true, file);
    free(file);
}

static void what_cannot_be_restored_is_said(void **state)
{
    (void)state;
    plain_chat p;
    resume_from(&p, "\"rounds\":[[\"is it red\",\"an answer of another pool\"]]");
    assert_string_equal(p.chat.notice.text, "continued a conversation of 1 round; 1 answer is not "
                                            "in this pool");
    plain_chat_close(&p);
    // A model that is gone: the others are there, and the chat can be used.
    resume_from(&p, "\"rounds\":[[\"is it red\",\"red\"]],\"models\":[[\"base\",\"shared\"],"
                    "[\"/nonexistent/model\",\"own\"]],\"branch\":0,"
                    "\"branches\":[[[\"is it red\",\"red\",null]]]");
    assert_int_equal(p.chat.lanes.count, 1);
    assert_string_equal(p.chat.lanes.lane[0].model, "base");
    assert_int_equal(p.chat.conversation.branch->count, 1);
    plain_chat_ask(&p, "and the cube");
    assert_int_equal(p.chat.conversation.branch->count, 2);
    plain_chat_close(&p);
    // More branches than there are places: the one in use is kept.
    char many[1024];
    size_t used = (size_t)snprintf(many, sizeof many,
                                   "\"rounds\":[[\"q1\",\"red\"]],\"models\":[[\"base\","
                                   "\"odd\"]],\"branch\":1,\"branches\":[");
    for (int i = 0; i < VD_BRANCHES + 4; i++)
        used += (size_t)snprintf(many + used, sizeof many - used, "%s[[\"q%d\",\"red\"]]",
                                 i ? "," : "", i);
    snprintf(many + used, sizeof many - used, "]");
    resume_from(&p, many);
    assert_int_equal(p.chat.conversation.branches.count, VD_BRANCHES);
    assert_string_equal(p.chat.conversation.branch->rounds[0].typed, "q1");
    assert_int_equal(p.chat.lanes.lane[0].follow, VD_FOLLOW_SHARED);
    plain_chat_close(&p);
}

// Its error stays, and another model answers what waits.
static void a_model_that_is_gone_is_replaced(void **state)
{
    (void)state;
    plain_chat p;
    resume_from(&p, "\"rounds\":[[\"is it red\",\"red\"],[\"and now\",\"blue\"]],"
                    "\"models\":[[\"/nonexistent/model\",\"shared\"]]");
    assert_non_null(strstr(p.chat.notice.text, "model '/nonexistent/model': No such file"));
    assert_non_null(strstr(p.chat.notice.text, "(rounds: 2) is kept in branch 1 (Alt-n)"));
    vd_lanes_use_branch(&p.chat.lanes, 0);
    plain_chat_serve(&p);
    vd_chat_key(&p.chat, (vd_key){.code = 'c', .modifiers = VD_CTRL});
    assert_string_equal(p.chat.notice.text, "Ctrl-D or /quit leaves");
    vd_lanes_use_model(&p.chat.lanes, 0, "base");
    plain_chat_serve(&p);
    assert_string_equal(vd_lanes_answer(&p.chat.lanes, 0, 1), "blue");
    plain_chat_close(&p);
}

// The question that waits for its answer is stopped, or fails; fail_at: an allocation then, too.
static void end_question(plain_chat *p, vd_status status, size_t fail_at)
{
    vd_request request;
    while (vd_lanes_take_request(&p->chat.lanes, &request)) {
        vd_event event = {.kind = request.kind, .serial = request.serial, .lane = request.lane};
        bool asked = request.kind == VD_REQUEST_ASK;
        atomic_int stop = 0;
        if (asked)
            event.status = vd_error_set(&event.error, status, "the engine says no");
        else if (request.kind == VD_REQUEST_MODEL || request.kind == VD_REQUEST_PICTURE)
            vd_service_serve(p->service[request.lane], &request, &stop, &event);
        vd_alloc_fail_at(asked ? fail_at : 0);
        vd_recorder_event(&p->recorder, &p->chat, &event);
        vd_alloc_fail_at(0);
        vd_request_clear(&request);
        vd_recorder_step(&p->recorder, &p->chat);
        if (asked)
            return;
    }
    fail_msg("nothing was asked");
}

// The picture's regions come after everything else: each lane has a thread of its own.
static void serve_picture_last(plain_chat *p)
{
    vd_request request, picture = {0};
    while (vd_lanes_take_request(&p->chat.lanes, &request)) {
        vd_event event = {.kind = request.kind, .serial = request.serial, .lane = request.lane};
        atomic_int stop = 0;
        if (request.kind == VD_REQUEST_PICTURE) {
            picture = request;
            continue;
        }
        vd_service_serve(p->service[request.lane], &request, &stop, &event);
        vd_recorder_event(&p->recorder, &p->chat, &event);
        vd_request_clear(&request);
        vd_recorder_step(&p->recorder, &p->chat);
    }
    vd_event event = {.kind = picture.kind, .serial = picture.serial, .lane = picture.lane};
    atomic_int stop = 0;
    assert_int_equal(picture.kind, VD_REQUEST_PICTURE);
    vd_service_serve(p->service[picture.lane], &picture, &stop, &event);
    vd_recorder_event(&p->recorder, &p->chat, &event);
}

static void answers_may_come_before_the_picture(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "early.jsonl");
    plain_chat p;
    write_branches(file);
    resume_unserved(&p, file);
    serve_picture_last(&p);
    assert_int_equal(p.recorder.verified, 6);
    vd_chat_go_picture(&p.chat, 2); // the picture's answers are told from the other's, too
    vd_chat_ask(&p.chat, "what color is the cube");
    serve_picture_last(&p);
    plain_chat_close(&p);
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.record_count, 12); // nothing of the first picture is written twice
    for (size_t i = 0; i < back.record_count; i++) {
        const vd_sheet *sheet = &back.records[i].sheet;
        bool same =
            strcmp(sheet->features_hash.text, back.records[0].sheet.features_hash.text) == 0;
        assert_int_equal(strlen(sheet->features_hash.text), 64);
        assert_int_equal(same, sheet->image_id == 1);
        assert_int_equal(sheet->regions, TINY_REGIONS);
    }
    vd_transcript_clear(&back);
    free(file);
}

// Ctrl-C, or a failure, at any round while a conversation is taken up: all of it is still there,
// in this chat and in the next one.
static void stopping_while_it_is_taken_up_loses_nothing(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "stopped.jsonl");
    for (int stop_at = 0; stop_at < 6; stop_at++) {
        bool fails = stop_at >= 3;
        plain_chat p;
        unlink(file);
        plain_chat_open(world, &p, false, file);
        plain_chat_ask(&p, "what color is the cube");
        plain_chat_ask(&p, "is it next to the ball");
        vd_chat_choose(&p.chat, 2);
        plain_chat_ask(&p, "and behind it?");
        plain_chat_close(&p);
        resume_unserved(&p, file);
        plain_chat_serve_some(&p, stop_at % 3);
        end_question(&p, fails ? VD_IO : VD_INTERRUPTED, 0);
        assert_int_equal(p.chat.conversation.branch->count, stop_at % 3);
        assert_int_equal(p.chat.conversation.branches.count, 2);
        assert_non_null(strstr(p.chat.notice.text,
                               "the old conversation (rounds: 3) is kept in branch 1 (Alt-n)"));
        assert_int_equal(p.chat.notice.kind == VD_NOTICE_WRONG, fails);
        assert_false(vd_conversation_waits(&p.chat.conversation));
        assert_string_equal(p.chat.nav.line.text, "");
        plain_chat_ask(&p, "how many"); // the conversation goes on from what was answered
        assert_int_equal(p.chat.conversation.branch->count, stop_at % 3 + 1);
        plain_chat_close(&p);

        plain_chat_open(world, &p, true, file);
        assert_int_equal(p.chat.conversation.branches.count, 2);
        assert_int_equal(p.chat.conversation.branch->count, stop_at % 3 + 1);
        vd_lanes_use_branch(&p.chat.lanes, 0);
        plain_chat_serve(&p);
        assert_int_equal(p.chat.conversation.branch->count, 3);
        assert_string_equal(p.chat.conversation.branch->rounds[2].typed, "and behind it?");
        const vd_response *chosen = &p.chat.conversation.branch->rounds[1].response[0];
        assert_int_equal(chosen->chosen, chosen->reply.answer.order[2]);
        assert_int_equal(p.recorder.mismatched, 0);
        plain_chat_close(&p);
    }
    free(file);
}

// With every branch in use there is no place to set it aside: it is taken up to its end.
static void with_every_branch_in_use_it_cannot_be_stopped(void **state)
{
    (void)state;
    char many[1024];
    size_t used = (size_t)snprintf(many, sizeof many,
                                   "\"rounds\":[[\"q0\",\"red\"]],\"models\":[[\"base\","
                                   "\"shared\"]],\"branch\":0,\"branches\":[");
    for (int i = 0; i < VD_BRANCHES; i++)
        used += (size_t)snprintf(many + used, sizeof many - used, "%s[[\"q%d\",\"red\"]]",
                                 i ? "," : "", i);
    snprintf(many + used, sizeof many - used, "]");
    char *file = write_made(many);
    plain_chat p;
    resume_unserved(&p, file);
    end_question(&p, VD_INTERRUPTED, 0);
    assert_non_null(strstr(p.chat.notice.text, "all 16 branches are used"));
    assert_true(vd_conversation_waits(&p.chat.conversation));
    plain_chat_serve(&p);
    assert_false(vd_conversation_waits(&p.chat.conversation));
    assert_int_equal(p.chat.conversation.branches.count, VD_BRANCHES);
    assert_int_equal(p.chat.conversation.branch->count, 1);
    plain_chat_close(&p);
    // Without memory to set it aside it waits, and Ctrl-C asks once more.
    resume_from(&p, "\"rounds\":[[\"is it red\",\"red\"],[\"and now\",\"blue\"]]");
    plain_chat_close(&p);
    resume_unserved(&p, file);
    plain_chat_serve_some(&p, 1);
    end_question(&p, VD_INTERRUPTED, 1);
    assert_string_equal(p.chat.notice.text, "out of memory: the conversation stays as it is");
    assert_int_equal(p.chat.conversation.branch->count, 2);
    vd_chat_key(&p.chat, (vd_key){.code = 'c', .modifiers = VD_CTRL});
    plain_chat_serve(&p);
    assert_false(vd_conversation_waits(&p.chat.conversation));
    assert_int_equal(p.chat.conversation.branch->count, 2);
    assert_string_equal(vd_lanes_answer(&p.chat.lanes, 0, 1), "blue");
    plain_chat_close(&p);
    free(file);
}

static void memory_that_is_out_while_it_is_read_is_no_crash(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "branches.jsonl");
    write_branches(file);
    assert_true(support_fail_each_allocation(plain_chat_read_once, file) > 100);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conversation_is_taken_up_again),
        cmocka_unit_test(every_picture_s_conversation_is_taken_up_again),
        cmocka_unit_test(questions_that_wait_are_asked_when_it_goes_on),
        cmocka_unit_test(a_conversation_that_was_left_and_returned_to_is_one),
        cmocka_unit_test(models_histories_and_branches_are_taken_up),
        cmocka_unit_test(small_talk_is_taken_up),
        cmocka_unit_test(scores_that_differ_are_found_when_it_is_taken_up),
        cmocka_unit_test(what_cannot_be_restored_is_said),
        cmocka_unit_test(a_model_that_is_gone_is_replaced),
        cmocka_unit_test(answers_may_come_before_the_picture),
        cmocka_unit_test(stopping_while_it_is_taken_up_loses_nothing),
        cmocka_unit_test(with_every_branch_in_use_it_cannot_be_stopped),
        cmocka_unit_test(memory_that_is_out_while_it_is_read_is_no_crash),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}

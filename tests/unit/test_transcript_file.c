// The file of a transcript: torn, written by another chat, on a full disk.
#include <fcntl.h>
#include <glib.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/opened_world.h"
#include "tests/support/plain_chat.h"
#include "tests/support/support.h"

static void expect_rounds(const char *file, size_t records, int rounds)
{
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.record_count, records);
    assert_int_equal(back.dialog_count, 1);
    assert_int_equal(back.dialogs[0].count, rounds);
    vd_transcript_clear(&back);
}

// Wherever the last line was cut off, the chat goes on behind the line before it.
static void a_torn_last_line_is_put_aside(void **state)
{
    (void)state;
    plain_chat p;
    char *file = support_join(tiny.directory, "torn.jsonl");
    char *aside = support_join(tiny.directory, "torn.jsonl.torn");
    size_t size;
    plain_chat_open(world, &p, false, file);
    plain_chat_ask(&p, "what color is the ball");
    plain_chat_close(&p);
    char *text = support_read_file(file, &size);
    char *last = strstr(text, "{\"conversation\"");
    size_t whole = (size_t)(last - text), tails[] = {1, size - whole - 1, (size - whole) / 2};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        FILE *torn = fopen(file, "w");
        assert_true(fwrite(text, 1, size, torn) == size); // a whole conversation, a torn one
        assert_true(fwrite(last, 1, tails[i], torn) == tails[i] && fclose(torn) == 0);
        plain_chat_open(world, &p, true, file);
        assert_non_null(strstr(p.chat.notice.text, "was cut off and is now in "));
        assert_non_null(strstr(p.chat.notice.text, "continued a conversation"));
        plain_chat_ask(&p, "and the cube");
        plain_chat_close(&p);
        expect_rounds(file, 2, 2);
        char *kept = support_read_file(aside, NULL);
        assert_int_equal(strlen(kept), tails[i]);
        assert_memory_equal(kept, last, tails[i]);
        free(kept);
        unlink(aside);
    }
    static const char *const starts[] = {"{\"transcript\":1,\"prog", "{\"tra"};
    for (size_t i = 0; i < 2; i++) { // the first line, too
        support_write_text(file, starts[i]);
        plain_chat_open(world, &p, false, file);
        plain_chat_ask(&p, "and the cube");
        plain_chat_close(&p);
        expect_rounds(file, 1, 1);
    }
    free(text);
    free(aside);
    free(file);
}

static void two_chats_do_not_share_a_file(void **state)
{
    (void)state;
    plain_chat first, second, third;
    char *file = support_join(tiny.directory, "talk.jsonl");
    char *own = support_join(tiny.directory, "talk-2.jsonl");
    char *next = support_join(tiny.directory, "talk-3.jsonl");
    plain_chat_open(world, &first, false, file); // neither is there yet
    plain_chat_open(world, &second, false, file);
    plain_chat_ask(&first, "what color is the ball");
    plain_chat_ask(&second, "what color is the cube");
    const char *remark = strstr(second.chat.notice.text, "another chat writes to this transcript;");
    assert_non_null(remark); // before the path, which may be cut
    assert_non_null(strstr(remark, own));
    plain_chat_ask(&first, "and the cube");
    plain_chat_ask(&second, "and the ball");
    plain_chat_ask(&second, "is it red");
    plain_chat_open(world, &third, true, file); // has the answers so far as well
    plain_chat_ask(&third, "is it next to it");
    plain_chat_close(&third);
    expect_rounds(next, 3, 3);
    plain_chat_open(world, &third, false, file);
    plain_chat_close(&third);
    char *none = support_join(tiny.directory, "talk-4.jsonl");
    assert_false(support_exists(none)); // nothing was said
    free(none);
    plain_chat_close(&first);
    plain_chat_close(&second);
    expect_rounds(file, 2, 2);
    expect_rounds(own, 3, 3);
    free(next);
    free(own);
    free(file);
}

static void rounds_of_a_model_before_are_counted_when_a_chat_goes_on(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "switched.jsonl");
    plain_chat p;
    plain_chat_open(world, &p, false, file);
    plain_chat_ask(&p, "what is the biggest thing");
    plain_chat_ask(&p, "what color is it");
    vd_lanes_switch_model(&p.chat.lanes); // which is asked the last question again
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    plain_chat_close(&p);
    plain_chat_open(world, &p, true, file);
    assert_string_equal(p.chat.notice.text, "continued a conversation of 2 rounds; 1 round was "
                                            "answered by improved before, now by base");
    plain_chat_close(&p);
    free(file);
}

static void another_model_file_is_noticed_when_a_chat_goes_on(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "replaced.jsonl");
    plain_chat p;
    size_t size;
    plain_chat_open(world, &p, false, file);
    plain_chat_ask(&p, "what color is the ball");
    plain_chat_close(&p);
    char *text = support_read_file(file, &size);
    char *hash = strstr(text, "\"model_hash\":\"") + strlen("\"model_hash\":\"");
    *hash = *hash == '0' ? '1' : '0';
    support_write_file(file, text, size);
    plain_chat_open(world, &p, true, file);
    assert_non_null(strstr(p.chat.notice.text,
                           "; the model, its pool or the features have changed: "
                           "scores of 1 answer cannot be compared"));
    plain_chat_close(&p);
    free(text);
    free(file);
}

static void the_newest_is_the_one_written_last(void **state)
{
    (void)state;
    char *home = support_join(tiny.directory, "newest");
    vd_transcript_file newest;
    vd_error err = {0};
    vd_turn said = {(char *)"a", (char *)"b"};
    const vd_chat_record dialog = {
        .image_id = 1, .caption = (char *)"c", .rounds = &said, .count = 1};
    vd_transcript *one, *other;
    setenv("XDG_STATE_HOME", home, 1);
    assert_int_equal(vd_transcript_start(NULL, &one, &err), VD_OK);
    assert_int_equal(vd_transcript_conversation(one, &dialog, &err), VD_OK);
    assert_int_equal(vd_transcript_newest(&newest, &err), VD_OK);
    assert_int_equal(vd_transcript_start(newest.path, &other, &err), VD_OK);
    assert_true(vd_transcript_elsewhere(other)); // the default file is locked, too
    assert_non_null(vd_transcript_remark(other));
    assert_null(vd_transcript_remark(other)); // once
    vd_transcript_close(other);
    const struct timespec past[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, newest.path, past, 0), 0);
    char *directory = g_path_get_dirname(newest.path), *late = support_join(directory, "a.jsonl"),
         *early = strdup(newest.path);
    const char *const texts[] = {"{\"transcript\":1}\n", // nothing was asked in it
                                 "{\"transcript\":1}\n{\"conversation\":{\"image_id\":1,"
                                 "\"caption\":\"c\",\"rounds\":[[\"a\",\"b\"]]}}\n"};
    for (int i = 0; i < 2; i++) {
        vd_transcript_clear(&newest);
        support_write_text(late, texts[i]);
        assert_int_equal(vd_transcript_newest(&newest, &err), VD_OK);
        assert_string_equal(newest.path, i ? late : early);
        assert_int_equal(newest.dialog_count, 1);
    }
    vd_transcript_clear(&newest);
    support_write_text(late, "no transcript\n");
    assert_int_equal(vd_transcript_newest(&newest, &err), VD_FORMAT);
    assert_non_null(strstr(err.text, late));
    assert_non_null(strstr(err.text, "`visdial replay FILE` runs"));
    char *hidden = support_join(directory, ".b.jsonl"),
         *folder = support_join(directory, "c.jsonl");
    support_write_text(hidden, "no session");
    support_write_text(late, ""); // the program was killed before its first line
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(vd_transcript_newest(&newest, &err), VD_OK);
    assert_string_equal(newest.path, early);
    vd_transcript_clear(&newest);
    free(folder);
    free(hidden);
    free(early);
    free(late);
    g_free(directory);
    vd_transcript_close(one);
    unsetenv("XDG_STATE_HOME");
    free(home);
}

static void a_full_disk_leaves_whole_lines(void **state)
{
    (void)state;
    plain_chat p;
    struct rlimit old, limit;
    char *file = support_join(tiny.directory, "full.jsonl");
    plain_chat_open(world, &p, false, file);
    plain_chat_ask(&p, "what color is the ball");
    size_t size;
    char *text = support_read_file(file, &size);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = size + 100;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    plain_chat_ask(&p, "and the cube");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_non_null(strstr(p.chat.notice.text, "no transcript from here on: "));
    plain_chat_close(&p);
    char *after = support_read_file(file, NULL);
    assert_string_equal(after, text);
    free(after);
    free(text);
    free(file);
}

static void a_pipe_is_no_transcript(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "pipe");
    vd_transcript *transcript;
    vd_transcript_file back;
    vd_error err = {0};
    assert_int_equal(mkfifo(file, 0600), 0);
    support_refused(vd_transcript_start(file, &transcript, &err), VD_FORMAT, &err, file, "pipe",
                    NULL);
    support_refused(vd_transcript_read(file, &back, &err), VD_FORMAT, &err, file, "pipe", NULL);
    free(file);
}

// A caption typed while an empty branch is in use is the caption from then on.
static void a_caption_of_an_empty_branch_is_kept(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "caption.jsonl");
    support_write_text(
        file, "{\"transcript\":1}\n"
              "{\"conversation\":{\"image_id\":1,\"caption\":\"old\",\"rounds\":[[\"a\",\"b\"]]}}\n"
              "{\"conversation\":{\"image_id\":1,\"caption\":\"new\",\"rounds\":[],\"branch\":1,"
              "\"branches\":[[[\"a\"]],[]]}}\n");
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.dialog_count, 1);
    assert_string_equal(back.dialogs[0].caption, "new");
    assert_int_equal(back.dialogs[0].branch_count, 2);
    vd_transcript_clear(&back);
    free(file);
}

// The end of a conversation is undone while an empty branch is in use: its rounds are in another
// one.
static void an_end_that_is_undone_in_an_empty_branch_is_none(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "undone.jsonl");
    support_write_text(
        file, "{\"transcript\":1}\n"
              "{\"conversation\":{\"image_id\":1,\"caption\":\"c\",\"rounds\":[[\"a\",\"b\"]]}}\n"
              "{\"conversation\":{\"image_id\":1,\"caption\":\"c\",\"rounds\":[]}}\n"
              "{\"conversation\":{\"image_id\":1,\"caption\":\"c\",\"rounds\":[],\"returned\":true,"
              "\"branch\":1,\"branches\":[[[\"a\"]],[]]}}\n");
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.dialog_count, 1);
    assert_int_equal(back.dialogs[0].branch_count, 2);
    assert_int_equal(back.dialogs[0].count, 1);
    assert_false(back.dialogs[0].closed);
    vd_transcript_clear(&back);
    free(file);
}

// Names of files are bytes; JSON is not.
static void a_picture_whose_name_is_no_utf_8_is_recorded(void **state)
{
    (void)state;
    static const char *const names[] = {"/tmp/pict\xe9.ppm", "/tmp/100%.ppm", "/tmp/b\xc3\xa9.png"};
    char *file = support_join(tiny.directory, "bytes.jsonl");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vd_transcript *one;
        vd_error err = {0};
        vd_turn said = {(char *)"a", (char *)"b"};
        const vd_chat_record dialog = {.image_id = 1,
                                       .picture = (char *)names[i],
                                       .caption = (char *)"c",
                                       .rounds = &said,
                                       .count = 1};
        remove(file);
        assert_int_equal(vd_transcript_start(file, &one, &err), VD_OK);
        if (vd_transcript_conversation(one, &dialog, &err))
            fail_msg("%s", err.text);
        vd_transcript_close(one);
        vd_transcript_file back = plain_chat_read_back(file);
        assert_int_equal(back.dialog_count, 1);
        assert_string_equal(back.dialogs[0].picture, names[i]);
        vd_transcript_clear(&back);
    }
    free(file);
}

// Exports have what was said on the screen, in its place: the small talk of the branch in use.
static void small_talk_is_exported(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "said.jsonl"),
         *out = support_join(tiny.directory, "said");
    plain_chat p;
    plain_chat_open(world, &p, false, file);
    vd_chat_ask(&p.chat, "hello");
    plain_chat_ask(&p, "is it red");
    vd_chat_branch(&p.chat);
    plain_chat_ask(&p, "and the ball");
    vd_chat_ask(&p.chat, "Thanks!");
    vd_lanes_use_branch(&p.chat.lanes, 0);
    vd_chat_ask(&p.chat, "good night");
    vd_lanes_use_branch(&p.chat.lanes, 1);
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    plain_chat_close(&p);
    static const struct {
        const char *parts[5]; // in this order
    } expected[] = {{{"<p class=\"question\">hello</p><p class=\"note\">visdial says: hello! Ask",
                      "round 1 of 2", "round 2 of 2",
                      "<p class=\"question\">Thanks!</p><p class=\"note\">visdial says: you are"}},
                    {{"**hello**\n\nvisdial says: hello! Ask", "round 1 of 2", "round 2 of 2",
                      "**Thanks!**\n\nvisdial says: you are welcome"}},
                    {{"\"gt_index\"", "\"asides\":[[0,\"hello\",\"visdial says: hello! Ask",
                      "],[2,\"Thanks!\",\"visdial says: you are welcome", "\"]]"}}};
    vd_transcript_file back = plain_chat_read_back(file);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(i == 0   ? vd_transcript_html(&back, NULL, out, NULL)
                         : i == 1 ? vd_transcript_markdown(&back, NULL, out, NULL)
                                  : vd_transcript_visdial(&back, out, NULL),
                         VD_OK);
        char *text = support_read_file(out, NULL), *at = text;
        for (int k = 0; expected[i].parts[k]; k++) {
            at = strstr(at, expected[i].parts[k]);
            if (!at)
                fail_msg("\"%s\" is not in its place in %s", expected[i].parts[k], text);
        }
        assert_null(strstr(text, "good night"));
        free(text);
    }
    vd_transcript_clear(&back);
    free(out);
    free(file);
}

static void a_transcript_that_cannot_be_written_is_given_up(void **state)
{
    (void)state;
    plain_chat p;
    char *directory = support_temp_dir(), *file = support_join(directory, "chat.jsonl");
    plain_chat_open(world, &p, false, file);
    support_remove_tree(directory);
    plain_chat_ask(&p, "what color is the ball");
    assert_null(p.recorder.transcript);
    assert_non_null(strstr(p.chat.notice.text, "no transcript from here on: "));
    assert_non_null(strstr(p.chat.notice.text, file));
    assert_int_equal(p.chat.conversation.branch->count, 1);
    plain_chat_ask(&p, "and the cube");
    assert_int_equal(p.chat.conversation.branch->count, 2);
    plain_chat_close(&p);
    free(directory);
    free(file);
}

// Before anything is asked.
static void one_that_could_not_be_written_is_refused(void **state)
{
    (void)state;
    vd_recorder recorder = {0};
    int64_t image = 1;
    const char *model = "improved";
    vd_error err = {0};
    support_refused(
        vd_recorder_start(&recorder, false, "/nonexistent/chat.jsonl", &image, &model, &err),
        VD_NOT_FOUND, &err, "/nonexistent/chat.jsonl", "cannot be created", NULL);
    vd_recorder_free(&recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_torn_last_line_is_put_aside),
        cmocka_unit_test(two_chats_do_not_share_a_file),
        cmocka_unit_test(rounds_of_a_model_before_are_counted_when_a_chat_goes_on),
        cmocka_unit_test(another_model_file_is_noticed_when_a_chat_goes_on),
        cmocka_unit_test(the_newest_is_the_one_written_last),
        cmocka_unit_test(a_full_disk_leaves_whole_lines),
        cmocka_unit_test(a_pipe_is_no_transcript),
        cmocka_unit_test(a_transcript_that_cannot_be_written_is_given_up),
        cmocka_unit_test(one_that_could_not_be_written_is_refused),
        cmocka_unit_test(a_caption_of_an_empty_branch_is_kept),
        cmocka_unit_test(an_end_that_is_undone_in_an_empty_branch_is_none),
        cmocka_unit_test(a_picture_whose_name_is_no_utf_8_is_recorded),
        cmocka_unit_test(small_talk_is_exported),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}

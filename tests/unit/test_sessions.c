// Sessions with names: /save, /load, --session, and how to go on after leaving.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "tests/support/opened_world.h"
#include "tests/support/plain_chat.h"
#include "tests/support/program.h"
#include "tests/support/pty.h"
#include "tests/support/support.h"

static char *directory; // of the transcripts

static int set_up(void **state)
{
    open_world(state);
    setenv("XDG_STATE_HOME", tiny.directory, 1);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    directory = support_join(tiny.directory, "visdial/transcripts");
    return 0;
}

static int tear_down(void **state)
{
    free(directory);
    return close_world(state);
}

static int forget_all(void **state)
{
    (void)state;
    support_remove_tree(directory);
    return 0;
}

static void type(plain_chat *p, const char *line)
{
    for (; *line; line++)
        vd_chat_key(&p->chat, (vd_key){.code = (unsigned char)*line});
    vd_chat_key(&p->chat, (vd_key){.code = VD_KEY_ENTER});
    vd_recorder_handle_wish(&p->recorder, &p->chat);
    vd_recorder_step(&p->recorder, &p->chat);
    plain_chat_serve(p);
    vd_recorder_step(&p->recorder, &p->chat);
}

static void expect_notice(const plain_chat *p, const char *text)
{
    if (!strstr(p->chat.notice.text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, p->chat.notice.text);
}

static vd_saved expect_saved(size_t count, const char *newest)
{
    vd_saved *list, first;
    size_t found;
    assert_int_equal(vd_saved_list(&list, &found, NULL), VD_OK);
    assert_int_equal(found, count);
    if (newest)
        assert_string_equal(list[0].name, newest);
    vd_saved_look(&list[0]);
    first = list[0];
    vd_free(list);
    return first;
}

static char *file_of(const char *name)
{
    char *path;
    assert_int_equal(vd_saved_path(name, &path, NULL), VD_OK);
    return path;
}

static void what_can_be_no_name_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "a/b", "../x", ".hidden", "a\nb"};
    vd_error err;
    char *path, name[VD_SAVED_NAME], much[VD_SAVED_NAME + 1];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        support_refused(vd_saved_path(wrong[i], &path, &err), VD_USAGE, &err, "is no name",
                        "expected 1 to 127 characters", NULL);
    memset(much, 'a', VD_SAVED_NAME);
    much[VD_SAVED_NAME] = '\0';
    support_refused(vd_saved_path(much, &path, &err), VD_USAGE, &err, "is no name", NULL);
    path = file_of("monday 2");
    assert_true(vd_saved_name(path, name));
    assert_string_equal(name, "monday 2");
    assert_false(vd_saved_name("/elsewhere/monday.jsonl", name));
    assert_false(vd_saved_unnamed(name));
    assert_true(vd_saved_unnamed("2026-03-01T120000Z-77"));
    vd_free(path);
}

static void a_session_gets_a_name_and_a_copy_another_one(void **state)
{
    (void)state;
    plain_chat p;
    char *monday = file_of("monday"), *tuesday = file_of("tuesday"), farewell[4400];
    plain_chat_open(world, &p, false, NULL);
    assert_false(vd_recorder_farewell(&p.recorder, farewell, sizeof farewell));
    plain_chat_ask(&p, "is it red");
    assert_true(vd_recorder_farewell(&p.recorder, farewell, sizeof farewell));
    assert_int_equal(strncmp(farewell, "visdial --resume\nLater: visdial --session 2", 43), 0);
    vd_saved saved = expect_saved(1, NULL);
    assert_true(vd_saved_unnamed(saved.name));
    type(&p, "/save");
    expect_notice(&p, "/save takes a name");
    type(&p, "/save a/b");
    expect_notice(&p, "'a/b' is no name of a session");
    type(&p, "/save monday");
    expect_notice(&p, "this session is called monday; visdial --session 'monday' continues it");
    type(&p, "/save monday");
    expect_notice(&p, "is called monday already");
    plain_chat_ask(&p, "and the ball");
    saved = expect_saved(1, "monday");
    assert_int_equal(saved.rounds, 2);
    assert_string_equal(saved.picture, "1");
    assert_string_equal(saved.question, "and the ball");
    vd_chat_go_picture(&p.chat, 1); // looked at only: the session is still about the other one
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    saved = expect_saved(1, "monday");
    assert_int_equal(saved.rounds, 2);
    assert_string_equal(saved.picture, "1");
    vd_chat_go_picture(&p.chat, 0);
    plain_chat_serve(&p);
    assert_true(vd_recorder_farewell(&p.recorder, farewell, sizeof farewell));
    assert_string_equal(farewell, "visdial --session 'monday'");
    char much[8 + VD_SAVED_NAME] = "/save ";
    memset(much + 6, 'a', VD_SAVED_NAME); // no shorter name is taken for it
    type(&p, much);
    expect_notice(&p, "is no name of a session");
    type(&p, "/save tuesday");
    struct stat about;
    assert_int_equal(stat(tuesday, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    plain_chat_ask(&p, "and now");
    vd_transcript_file one = plain_chat_read_back(monday), other = plain_chat_read_back(tuesday);
    assert_int_equal(one.dialogs[0].count, 2);
    assert_int_equal(other.dialogs[0].count, 3);
    vd_transcript_clear(&one);
    vd_transcript_clear(&other);
    type(&p, "/save monday");
    expect_notice(&p, "/save monday: there is a session of this name");
    char *link = file_of("link"), *behind = file_of("behind"); // nothing is written through a link
    assert_int_equal(symlink(behind, link), 0);
    type(&p, "/save link");
    expect_notice(&p, "File exists");
    assert_int_equal(access(behind, F_OK), -1);
    assert_int_equal(unlink(link), 0);
    plain_chat_close(&p);
    // A name before the first question; a chat without a transcript.
    plain_chat_open(world, &p, false, NULL);
    type(&p, "/save early");
    plain_chat_ask(&p, "is it red");
    expect_saved(3, "early");
    vd_transcript_close(p.recorder.transcript);
    p.recorder.transcript = NULL;
    type(&p, "/save late");
    expect_notice(&p, "no transcript is written");
    plain_chat_close(&p);
    vd_free(behind);
    vd_free(link);
    vd_free(tuesday);
    vd_free(monday);
}

static void another_session_is_gone_on_with(void **state)
{
    (void)state;
    plain_chat p;
    plain_chat_open(world, &p, false, NULL);
    type(&p, "/save first");
    plain_chat_ask(&p, "is it red");
    vd_chat_go_picture(&p.chat, 2);
    plain_chat_serve(&p);
    plain_chat_ask(&p, "what color is the cube");
    plain_chat_ask(&p, "and the ball");
    plain_chat_close(&p);
    plain_chat_open(world, &p, false, NULL);
    type(&p, "/model base");
    type(&p, "/save second");
    plain_chat_ask(&p, "is it blue");
    vd_lanes_compare_with(&p.chat.lanes, "improved");
    plain_chat_serve(&p);
    type(&p, "/load third");
    expect_notice(&p, "/load third: there is no session of this name; /sessions lists them");
    type(&p, "/load second");
    expect_notice(&p, "this session is second");
    type(&p, "/load first");
    expect_notice(&p, "continued a conversation of 2 rounds, and those about 1 other picture; "
                      "every score is as recorded");
    assert_int_equal(vd_conversation_image_id(&p.chat.conversation), 3);
    assert_string_equal(p.chat.lanes.lane[0].model, "improved");
    assert_int_equal(p.chat.lanes.count, 1);
    assert_int_equal(p.chat.conversation.branch->count, 2);
    plain_chat_ask(&p, "and then");
    vd_chat_go_picture(&p.chat, 0);
    plain_chat_serve(&p);
    assert_string_equal(p.chat.conversation.branch->rounds[0].typed, "is it red");
    type(&p, "/load"); // a list
    assert_int_equal(p.chat.nav.places.now, VD_PLACE_SESSIONS);
    assert_int_equal(p.chat.saved_count, 2);
    type(&p, "blue"); // by its question
    assert_string_equal(vd_transcript_path(p.recorder.transcript) + strlen(directory),
                        "/second.jsonl");
    assert_string_equal(p.chat.conversation.branch->rounds[0].typed, "is it blue");
    assert_int_equal(p.chat.lanes.count, 2);
    plain_chat_close(&p);
    char *first = file_of("first");
    vd_transcript_file back = plain_chat_read_back(first);
    assert_int_equal(back.dialog_count, 2);
    assert_int_equal(back.record_count, 4);
    vd_transcript_clear(&back);
    vd_free(first);
}

// ---- the program ------------------------------------------------------------------------------

static void expect(const char *const *arguments, int code, const char *out, const char *err)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, err, NULL);
    assert_non_null(strstr(run.out, out));
    support_program_clear(&run);
}
#define EXPECT(code, out, err, ...) expect((const char *const[]){__VA_ARGS__, NULL}, code, out, err)

// Runs the chat until `text` is shown, types the keys, and waits until the transcript says that so
// many rounds were answered, and for the end.
static void chat(const char *const *arguments, const char *text, const char *keys,
                 const char *transcript, int rounds)
{
    assert_true(pty_start(arguments, 100, 30));
    assert_true(pty_await(text));
    assert_true(pty_tell(keys));
    bool answered = false;
    for (int tries = 0; tries < 1000 && !answered; tries++, usleep(20000)) {
        vd_transcript_file file;
        answered = vd_transcript_read(transcript, &file, NULL) == VD_OK;
        if (answered) {
            answered = file.dialog_count == 1 && file.dialogs[0].count == rounds;
            vd_transcript_clear(&file);
        }
    }
    assert_true(answered);
    assert_true(pty_tell("\004") && pty_await("visdial --"));
    pty_end();
}

static void the_program_goes_on_with_a_session_and_lists_them(void **state)
{
    (void)state;
    const char *const arguments[] = {"--session", "my dialog", NULL};
    char *dialog = file_of("my dialog");
    EXPECT(0, "there are no sessions yet", NULL, "--sessions");
    chat(arguments, "cpu", "is it red\r", dialog, 1);
    chat(arguments, "every score is as recorded", "and the ball\r", dialog, 2);
    vd_free(dialog);
    EXPECT(0, "my dialog  ", NULL, "chat", "--sessions");
    EXPECT(0, "  2  and the ball", NULL, "chat", "--sessions");
    EXPECT(2, "", "--session does not go with --resume", "--session", "x", "--resume");
    EXPECT(2, "", "is no name of a session", "--session", "../x");
    EXPECT(2, "", "--session continues with the picture of the conversation", "--session",
           "my dialog", "--image", "2");
}

// What it is about is found again, and moved files are named.
static void a_transcript_made_with_data_replays_and_resumes(void **state)
{
    (void)state;
    char *dialog = support_join(tiny.directory, "talk.jsonl"),
         *moved = support_join(tiny.directory, "moved.json");
    const char *const first[] = {"chat",        "--data",       tiny.val, "--features",
                                 tiny.features, "--transcript", dialog,   NULL},
                      *const again[] = {"--resume", "--transcript", dialog, NULL};
    chat(first, "picture 1/4", "is it red\r", dialog, 1);
    EXPECT(0, "1 answer, 4 scores, 0 differ", NULL, "replay", dialog);
    chat(again, "every score is as recorded", "and the ball\r", dialog, 2);
    assert_int_equal(rename(tiny.val, moved), 0);
    EXPECT(3, "", tiny.val, "replay", dialog);
    EXPECT(0, "2 answers, 8 scores, 0 differ", NULL, "replay", dialog, "--data", moved);
    assert_int_equal(rename(moved, tiny.val), 0);
    // It is no session of the bundled pictures.
    char *copy = file_of("of data");
    size_t size;
    char *text = support_read_file(dialog, &size);
    support_write_file(copy, text, size);
    plain_chat p;
    plain_chat_open(world, &p, false, NULL);
    type(&p, "/load of data");
    expect_notice(&p,
                  "it is about other files: leave, then visdial --session 'of data' continues it");
    plain_chat_close(&p);
    free(text);
    vd_free(copy);
    free(moved);
    free(dialog);
}

// The first question was answered by the present model and then by another one, whose answer the
// conversation had when it ended.
static void a_round_that_another_model_answered_last_is_told(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "models.jsonl");
    plain_chat p;
    plain_chat_open(world, &p, false, file);
    plain_chat_ask(&p, "is there a cube");
    char *first = g_strdup(p.chat.lanes.lane[0].model);
    const char *models[] = {"base", first};
    for (int i = 0; i < 2; i++) {
        vd_lanes_use_model(&p.chat.lanes, 0, models[i]);
        plain_chat_serve(&p);
        vd_recorder_step(&p.recorder, &p.chat);
        plain_chat_ask(&p, "is it red");
    }
    plain_chat_close(&p);
    plain_chat_open(world, &p, true, file);
    assert_non_null(strstr(p.chat.notice.text, "answered by base before, now by"));
    plain_chat_close(&p);
    g_free(first);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_that_another_model_answered_last_is_told),
        cmocka_unit_test_setup(what_can_be_no_name_is_refused, forget_all),
        cmocka_unit_test_setup(a_session_gets_a_name_and_a_copy_another_one, forget_all),
        cmocka_unit_test_setup(another_session_is_gone_on_with, forget_all),
        cmocka_unit_test_setup(the_program_goes_on_with_a_session_and_lists_them, forget_all),
        cmocka_unit_test_setup(a_transcript_made_with_data_replays_and_resumes, forget_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

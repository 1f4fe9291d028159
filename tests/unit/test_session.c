#include "tui/session/session.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/must.h"
#include "tests/support/one_world.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tui/session/walk.h"

static vd_error err;

static vd_world *open_world(void)
{
    vd_world *world;
    vd_status status =
        vd_world_open_files(&(vd_world_files){.directory = tiny.directory}, &world, &err);
    if (status)
        print_error("%s\n", err.text);
    assert_int_equal(status, VD_OK);
    return world;
}

static vd_session *open_session(vd_world *world, const char *model)
{
    vd_session *session;
    vd_status status = vd_session_new(world, model, &session, &err);
    if (status)
        print_error("%s\n", err.text);
    assert_int_equal(status, VD_OK);
    return session;
}

// ---- world --------------------------------------------------------------------------------------

static void a_world_lists_its_pictures_in_the_order_of_the_dialogs(void **state)
{
    (void)state;
    vd_world *world = open_world();
    size_t index = 77;
    assert_int_equal(vd_world_count(world), TINY_PICTURES + 1);
    assert_int_equal(vd_world_image_id(world, 2), 3);
    assert_string_equal(vd_world_caption(world, 0), "a red cube and a blue ball");
    assert_int_equal(vd_world_find(world, 5, &index, &err), VD_OK);
    assert_int_equal(index, 4);
    assert_null(world->dialogs->dialogs[0].rounds[0].relevance); // dense.json was not read
    assert_int_equal(vd_world_read_relevance(world, &err), VD_OK);
    assert_non_null(world->dialogs->dialogs[0].rounds[0].relevance);
    vd_world_close(world);
}

// F3 goes round what the directory has; one without models of its own has them all.
static void models_go_round_from_the_one_that_answers_first(void **state)
{
    (void)state;
    vd_world *world = open_world(), empty = {.directory = (char *)"/nonexistent"};
    const struct {
        const vd_world *world;
        const char *name, *next;
    } expected[] = {{world, NULL, "base"},        {world, "base", "improved"},
                    {world, "improved", "base"},  {world, "my.safetensors", "base"},
                    {&empty, NULL, "best"},       {&empty, "best", "base"},
                    {&empty, "base", "improved"}, {&empty, "improved", "best"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(vd_world_next_model(expected[i].world, expected[i].name, NULL),
                            expected[i].next);
    vd_world_close(world);
}

// Another would answer differently, without a word.
static void the_first_model_is_the_same_when_memory_is_out(void **state)
{
    (void)state;
    vd_world *world = open_world();
    for (size_t n = 1; n <= 3; n++) {
        vd_alloc_fail_at(n);
        const char *first = vd_world_next_model(world, NULL, NULL);
        vd_alloc_fail_at(0);
        assert_string_equal(first, "base");
    }
    vd_world_close(world);
}

static void an_unknown_picture_is_refused_with_some_that_exist(void **state)
{
    (void)state;
    vd_world *world = open_world();
    size_t index;
    support_refused(vd_world_find(world, 12, &index, &err), VD_NOT_FOUND, &err, "no picture 12",
                    tiny.directory, "it has 9", "1, 2, 3", NULL);
    vd_world_close(world);
}

static void a_picture_file_that_is_missing_is_named(void **state)
{
    (void)state;
    vd_world *world = open_world();
    char *path = vd_world_picture_path(world, 0, &err);
    assert_non_null(path);
    assert_non_null(strstr(path, "/pictures/1.png"));
    g_free(path);
    assert_null(vd_world_picture_path(world, TINY_PICTURES, &err));
    support_refused(err.status, VD_NOT_FOUND, &err, "pictures/99.png", NULL);
    vd_world_close(world);
}

static void public_files_are_a_world(void **state)
{
    (void)state;
    char *data = support_join(tiny.directory, "dialogs.json");
    char *features = support_join(tiny.directory, "features.safetensors");
    char *images = support_join(tiny.directory, "pictures");
    char *other = support_temp_dir();
    vd_world_files files = {.directory = tiny.directory, .data = data, .features = features};
    vd_world *world;
    assert_int_equal(vd_world_open_files(&files, &world, &err), VD_OK);
    assert_int_equal(vd_world_image_id(world, 0), 1);
    assert_true(world->pool.count > 0);
    assert_null(vd_world_picture_path(world, 0, &err));
    support_refused(err.status, VD_NOT_FOUND, &err, "image 1", "--images", NULL);
    // Without photos there is a conversation all the same.
    vd_session *session;
    assert_int_equal(vd_session_new(world, "improved", &session, &err), VD_OK);
    assert_int_equal(vd_session_picture(session, 0, &err), VD_OK);
    vd_session_free(session);
    vd_world_close(world);

    files.images = images;
    assert_int_equal(vd_world_open_files(&files, &world, &err), VD_OK);
    char *path = vd_world_picture_path(world, 0, &err);
    assert_non_null(path);
    assert_non_null(strstr(path, "/pictures/1.png"));
    g_free(path);
    vd_world_close(world);

    files.images = other;
    assert_int_equal(vd_world_open_files(&files, &world, &err), VD_OK);
    assert_null(vd_world_picture_path(world, 0, &err));
    support_refused(err.status, VD_NOT_FOUND, &err, other, "no photo of image 1", "among its 0",
                    "000000000001.jpg", NULL);
    vd_world_close(world);

    files.features = NULL;
    support_refused(vd_world_open_files(&files, &world, &err), VD_USAGE, &err, "--features", NULL);
    assert_null(world);
    files.data = NULL;
    support_refused(vd_world_open_files(&files, &world, &err), VD_USAGE, &err,
                    "--images (replay: --pictures) needs", NULL);
    support_remove_tree(other);
    free(other);
    free(images);
    free(features);
    free(data);
}

static void a_directory_that_is_no_world_is_refused(void **state)
{
    (void)state;
    vd_world *world;
    support_refused(
        vd_world_open_files(&(vd_world_files){.directory = "/nonexistent"}, &world, &err),
        VD_NOT_FOUND, &err, "/nonexistent", "no dialogs.json", NULL);
    assert_null(world);
    setenv("VISDIAL_ASSETS", "/nonexistent/too", 1);
    support_refused(vd_world_open_files(&(vd_world_files){0}, &world, &err), VD_NOT_FOUND, &err,
                    "/nonexistent/too", "$VISDIAL_ASSETS", NULL);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    assert_int_equal(vd_world_open_files(&(vd_world_files){0}, &world, &err), VD_OK);
    assert_string_equal(world->directory, tiny.directory);
    vd_world_close(world);
    unsetenv("VISDIAL_ASSETS");
}

static void a_missing_or_damaged_file_of_the_world_is_named(void **state)
{
    (void)state;
    static const char *const names[] = {"features.safetensors", "pool.txt", "dialogs.json"};
    for (size_t i = 0; i < 3; i++) {
        char *path = support_join(tiny.directory, names[i]);
        char *aside = support_join(tiny.directory, "aside");
        vd_world *world;
        assert_int_equal(rename(path, aside), 0);
        if (strcmp(names[i], "pool.txt") != 0) // which may be missing
            support_refused(
                vd_world_open_files(&(vd_world_files){.directory = tiny.directory}, &world, &err),
                VD_NOT_FOUND, &err, names[i], NULL);
        support_write_text(path, "\x80\x02}q");
        support_refused(
            vd_world_open_files(&(vd_world_files){.directory = tiny.directory}, &world, &err),
            VD_FORMAT, &err, names[i], NULL);
        assert_null(world);
        assert_int_equal(rename(aside, path), 0);
        free(aside);
        free(path);
    }
}

// Relevance may be absent; only who looks at it reads it, and says what is wrong with it.
static void relevance_is_read_where_it_is_used(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "dense.json"),
         *aside = support_join(tiny.directory, "aside");
    support_program run;
    vd_world *world = open_world();
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(vd_world_read_relevance(world, &err), VD_OK);
    support_write_text(path, "[{\"image_id\": damaged");
    support_refused(vd_world_read_relevance(world, &err), VD_FORMAT, &err, path, NULL);
    vd_world_close(world);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    support_program_run(&run, (const char *[]){"ask", "--image", "1", "is it red", NULL}, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    static const char *const users[][6] = {{"chat"},
                                           {"eval", "--model", "base"},
                                           {"compare", "--model", "base", "--model", "improved"}};
    for (size_t i = 0; i < 3; i++) {
        support_program_run(&run, users[i], NULL);
        support_program_expect(&run, 4, path, NULL);
        support_program_clear(&run);
    }
    unsetenv("VISDIAL_ASSETS");
    assert_int_equal(rename(aside, path), 0);
    free(aside);
    free(path);
}

// ---- models -------------------------------------------------------------------------------------

static void a_model_that_is_missing_is_refused_with_what_would_do(void **state)
{
    (void)state;
    vd_world *world = open_world();
    vd_session *session;
    support_refused(vd_session_new(world, "better", &session, &err), VD_NOT_FOUND, &err, "'better'",
                    "base, improved or the path", NULL);
    assert_null(session);
    support_refused(vd_session_new(world, tiny.directory, &session, &err), VD_NOT_FOUND, &err,
                    "is a directory", NULL);
    char *aside = support_join(tiny.directory, "aside");
    assert_int_equal(rename(tiny.base, aside), 0);
    // The program's own takes its place; it was trained on other features.
    support_refused(vd_session_new(world, "base", &session, &err), VD_MISMATCH, &err,
                    "assets/base.safetensors", NULL);
    session = open_session(world, aside); // a path will do
    vd_session_free(session);
    assert_int_equal(rename(aside, tiny.base), 0);
    free(aside);
    vd_world_close(world);
}

static void features_that_do_not_fit_the_model_are_refused_with_both_numbers(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "wide.safetensors");
    tiny_world_model(&tiny, path, TINY_REGION_SIZE + 2, NULL);
    vd_world *world = open_world();
    vd_session *session;
    support_refused(vd_session_new(world, path, &session, &err), VD_MISMATCH, &err, path,
                    "regions of 7", "features.safetensors has 5", NULL);
    vd_world_close(world);
    free(path);
}

static void a_model_may_bring_its_own_pool(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "other.safetensors");
    char *pool = support_join(tiny.directory, "few.txt");
    tiny_world_model(&tiny, path, TINY_REGION_SIZE, "few.txt");
    vd_world *world = open_world();
    vd_session *session;
    support_refused(vd_session_new(world, path, &session, &err), VD_NOT_FOUND, &err, "few.txt",
                    NULL);
    support_write_text(pool, "2\tperhaps\n1\tred\n");
    session = open_session(world, path);
    assert_string_equal(vd_session_texts(session)[0], "perhaps");
    vd_session_free(session);
    tiny_world_model(&tiny, path, TINY_REGION_SIZE, "../few.txt");
    support_refused(vd_session_new(world, path, &session, &err), VD_FORMAT, &err, "../few.txt",
                    NULL);
    vd_world_close(world);
    free(pool);
    free(path);
}

static void a_truncated_model_is_refused(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "cut.safetensors");
    size_t size;
    char *bytes = support_read_file(tiny.base, &size);
    vd_world *world = open_world();
    for (size_t length = 0; length < size; length += length < 64 ? 7 : size / 9) {
        vd_session *session;
        support_write_file(path, bytes, length);
        support_refused(vd_session_new(world, path, &session, &err), VD_FORMAT, &err, path, NULL);
        assert_null(session);
    }
    vd_world_close(world);
    free(bytes);
    free(path);
}

// ---- conversation -------------------------------------------------------------------------------

static void an_answer_ranks_the_pool_and_shows_what_was_seen(void **state)
{
    (void)state;
    vd_world *world = open_world();
    vd_session *session = open_session(world, "improved");
    assert_string_equal(vd_model_backend(session->model)->name, "cpu");
    assert_int_equal(vd_session_picture(session, 0, &err), VD_OK);
    vd_reply reply;
    assert_int_equal(vd_session_ask(session, "What color is the ZEBRA ?", NULL, &reply, &err),
                     VD_OK);
    assert_string_equal(reply.typed, "What color is the ZEBRA ?");
    assert_string_equal(reply.question, "what color is the zebra");
    assert_int_equal(reply.words, 6);
    assert_string_equal(reply.word[4], "zebra");
    assert_true(reply.unknown[4]);
    assert_false(reply.unknown[1]);
    assert_string_equal(reply.word[5], "?");
    assert_int_equal(reply.cut, 0);
    assert_int_equal(reply.answer.candidates, TINY_ANSWERS);
    assert_int_equal(reply.answer.rounds, 1);
    const float *boxes = session->regions.boxes;
    assert_non_null(boxes);
    assert_int_equal(session->regions.count, TINY_REGIONS);
    assert_int_equal(reply.answer.regions, TINY_REGIONS);
    assert_true(boxes[3] > 0.74f && boxes[3] < 0.76f);
    vd_reply_clear(&reply);
    vd_reply_clear(&reply); // twice is fine
    vd_session_free(session);
    vd_world_close(world);
}

static vd_reply ask(vd_session *session, const char *question)
{
    vd_reply reply;
    vd_status status = vd_session_ask(session, question, NULL, &reply, &err);
    if (status)
        print_error("%s\n", err.text);
    assert_int_equal(status, VD_OK);
    return reply;
}

static void asking_changes_nothing_until_it_is_accepted(void **state)
{
    (void)state;
    vd_world *world = open_world();
    vd_session *session = open_session(world, "base");
    assert_int_equal(vd_session_picture(session, 1, &err), VD_OK);
    vd_reply first = ask(session, "what color is the cube"), second;
    assert_int_equal(session->turns, 0);
    second = ask(session, "what color is the cube");
    assert_memory_equal(first.answer.score, second.answer.score,
                        TINY_ANSWERS * sizeof *first.answer.score);
    vd_reply_clear(&second);
    assert_int_equal(vd_session_accept(session, &first, 2, &err), VD_OK);
    assert_null(first.typed);
    assert_int_equal(session->turns, 1);
    assert_string_equal(session->turn[0].question, "what color is the cube");
    assert_string_equal(session->turn[0].answer, vd_session_texts(session)[2]);
    second = ask(session, "is it red");
    assert_int_equal(second.answer.rounds, 2);
    support_refused(vd_session_accept(session, &second, TINY_ANSWERS, &err), VD_USAGE, &err,
                    "no answer 4", NULL);
    assert_non_null(second.typed);
    vd_reply_clear(&second);
    assert_int_equal(vd_session_picture(session, 0, &err), VD_OK); // a new conversation
    assert_int_equal(session->turns, 0);
    vd_session_free(session);
    vd_world_close(world);
}

// The scores of a question after "what color is the cube" was answered by `chosen`.
static void scores_after(vd_session *session, int chosen, float *scores)
{
    assert_int_equal(vd_session_picture(session, 1, &err), VD_OK);
    vd_reply reply = ask(session, "what color is the cube");
    assert_int_equal(vd_session_accept(session, &reply, chosen, &err), VD_OK);
    reply = ask(session, "is it next to the ball");
    memcpy(scores, reply.answer.score, TINY_ANSWERS * sizeof *scores);
    vd_reply_clear(&reply);
}

static void going_on_from_another_answer_is_as_if_it_had_been_chosen_first(void **state)
{
    (void)state;
    vd_world *world = open_world();
    vd_session *session = open_session(world, "base");
    float red[TINY_ANSWERS], blue[TINY_ANSWERS];
    char cube[] = "what color is the cube", red_too[] = "is it red", now[] = "and now";
    char stranger[] = "a word nobody knows", *answer = world->pool.answer[2];
    const vd_turn said[3] = {{cube, answer}, {red_too, answer}, {now, stranger}};
    support_refused(vd_session_continue(session, said, 1, NULL, &err), VD_USAGE, &err,
                    "no picture has been chosen", NULL);
    scores_after(session, 2, red);
    scores_after(session, 3, blue);
    assert_memory_not_equal(red, blue, sizeof red); // the history matters
    assert_int_equal(vd_session_continue(session, said, 1, NULL, &err), VD_OK);
    assert_string_equal(session->turn[0].answer, said[0].answer);
    vd_reply reply = ask(session, "is it next to the ball");
    assert_memory_equal(reply.answer.score, red, sizeof red);
    vd_reply_clear(&reply);
    // Longer, with an answer that is in no pool; and back.
    assert_int_equal(vd_session_continue(session, said, 3, NULL, &err), VD_OK);
    assert_int_equal(session->turns, 3);
    reply = ask(session, "is it next to the ball");
    assert_int_equal(reply.answer.rounds, 4);
    vd_reply_clear(&reply);
    assert_int_equal(vd_session_continue(session, said, 1, NULL, &err), VD_OK);
    reply = ask(session, "is it next to the ball");
    assert_memory_equal(reply.answer.score, red, sizeof red);
    vd_reply_clear(&reply);
    assert_int_equal(vd_session_continue(session, NULL, 0, NULL, &err), VD_OK);
    assert_int_equal(session->turns, 0);
    atomic_int stop = 1;
    assert_int_equal(vd_session_continue(session, said, 3, &stop, &err), VD_INTERRUPTED);
    assert_int_equal(session->turns, 0);
    reply = ask(session, "is it next to the ball");
    assert_int_equal(reply.answer.rounds, 1);
    vd_reply_clear(&reply);
    vd_session_free(session);
    vd_world_close(world);
}

static void a_long_conversation_goes_on(void **state)
{
    (void)state;
    vd_world *world = open_world();
    vd_session *session = open_session(world, "improved");
    assert_int_equal(vd_session_picture(session, 3, &err), VD_OK);
    for (int i = 0; i < 40; i++) {
        vd_reply reply = ask(session, "is it red");
        assert_int_equal(vd_session_accept(session, &reply, i % TINY_ANSWERS, &err), VD_OK);
    }
    assert_int_equal(session->turns, 40);
    assert_string_equal(session->turn[39].answer, vd_session_texts(session)[3]);
    vd_session_free(session);
    vd_world_close(world);
}

static void a_picture_without_features_is_refused_and_the_last_one_stays(void **state)
{
    (void)state;
    vd_world *world = open_world();
    vd_session *session = open_session(world, "improved");
    vd_reply reply;
    support_refused(vd_session_ask(session, "is it red", NULL, &reply, &err), VD_USAGE, &err,
                    "no picture", NULL);
    assert_int_equal(vd_session_picture(session, 2, &err), VD_OK);
    support_refused(vd_session_picture(session, TINY_PICTURES, &err), VD_NOT_FOUND, &err, "99",
                    "features.safetensors", NULL);
    support_refused(vd_session_picture(session, 1000, &err), VD_NOT_FOUND, &err, "1001", NULL);
    assert_true(vd_session_has_picture(session, 2));
    reply = ask(session, "is it red");
    vd_reply_clear(&reply);
    vd_session_free(session);
    vd_world_close(world);
}

static void odd_questions_are_answered_or_refused_with_a_reason(void **state)
{
    (void)state;
    vd_world *world = open_world();
    vd_session *session = open_session(world, "improved");
    assert_int_equal(vd_session_picture(session, 0, &err), VD_OK);
    vd_reply reply;
    static const char *const empty[] = {"", "   \t ", "?", " ?! "};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        support_refused(vd_session_ask(session, empty[i], NULL, &reply, &err), VD_USAGE, &err,
                        "no words", NULL);
    support_refused(vd_session_ask(session, "is it \xff\xfe", NULL, &reply, &err), VD_FORMAT, &err,
                    NULL);
    assert_null(reply.typed);

    char *endless = malloc(10001);
    assert_non_null(endless);
    for (int i = 0; i < 10000; i++)
        endless[i] = i % 4 == 3 ? ' ' : 'x';
    endless[10000] = '\0';
    reply = ask(session, endless); // 2500 words and "?", of which 19 are seen
    assert_int_equal(reply.words, 19);
    assert_int_equal(reply.cut, 2500 - 19);
    for (int i = 0; i < 19; i++)
        assert_true(reply.unknown[i]);
    vd_reply_clear(&reply);
    memset(endless, 'x', 10000); // one word
    reply = ask(session, endless);
    assert_int_equal(reply.words, 2);
    vd_reply_clear(&reply);
    free(endless);
    vd_session_free(session);
    vd_world_close(world);
}

static void a_stop_ends_an_answer_and_changes_nothing(void **state)
{
    (void)state;
    vd_world *world = open_world();
    vd_session *session = open_session(world, "improved");
    assert_int_equal(vd_session_picture(session, 0, &err), VD_OK);
    atomic_int stop = 1;
    vd_reply reply;
    assert_int_equal(vd_session_ask(session, "is it red", &stop, &reply, &err), VD_INTERRUPTED);
    assert_null(reply.word[0]);
    assert_int_equal(session->turns, 0);
    vd_session_free(session);
    vd_world_close(world);
}

// ---- memory -------------------------------------------------------------------------------------

static vd_status everything(void *context, vd_error *error)
{
    (void)context;
    vd_world *world;
    vd_session *session = NULL;
    vd_reply reply = {0};
    char question[] = "is it red", yes[] = "yes";
    const vd_turn said[2] = {{question, yes}, {question, yes}};
    vd_status status =
        vd_world_open_files(&(vd_world_files){.directory = tiny.directory}, &world, error);
    if (status == VD_OK)
        status = vd_session_new(world, "improved", &session, error);
    if (status == VD_OK)
        status = vd_session_picture(session, 0, error);
    if (status == VD_OK)
        status = vd_session_ask(session, "what color is it", NULL, &reply, error);
    if (status == VD_OK)
        status = vd_session_accept(session, &reply, 0, error);
    if (status == VD_OK)
        status = vd_session_continue(session, said, 2, NULL, error);
    vd_reply_clear(&reply);
    vd_session_free(session);
    vd_world_close(world);
    return status;
}

static void memory_that_is_out_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(everything, NULL) > 20);
}

// Words of the pool that the model does not know are shown as they are in the pool.
static void an_answer_that_looks_has_its_own_words(void **state)
{
    (void)state;
    char *pool = support_join(tiny.directory, "strange.txt");
    char *model = support_join(tiny.directory, "looking-generative.safetensors");
    support_write_text(pool, "9\tyes, 3 gnus\n7\ttwo llamas\n");
    tiny_world_model(&tiny, model, TINY_REGION_SIZE, "strange.txt");
    vd_world *world = open_world();
    vd_session *session = open_session(world, model);
    vd_reply reply;
    vd_walk *walk;
    must(vd_session_picture(session, 0, &err), &err);
    must(vd_session_ask(session, "is it red", NULL, &reply, &err), &err);
    bool first = reply.answer.order[0] == 0;
    assert_string_equal(reply.given, first ? "yes , 3 gnus" : "two llamas");
    vd_reply_clear(&reply);
    must(vd_walk_new(session, "is it red", NULL, false, NULL, &walk, &err), &err);
    assert_null(strstr(walk->reply.given, "<UNK>"));
    vd_walk_free(walk);
    vd_session_free(session);
    vd_world_close(world);
    free(model);
    free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_lists_its_pictures_in_the_order_of_the_dialogs),
        cmocka_unit_test(models_go_round_from_the_one_that_answers_first),
        cmocka_unit_test(the_first_model_is_the_same_when_memory_is_out),
        cmocka_unit_test(an_unknown_picture_is_refused_with_some_that_exist),
        cmocka_unit_test(a_picture_file_that_is_missing_is_named),
        cmocka_unit_test(public_files_are_a_world),
        cmocka_unit_test(a_directory_that_is_no_world_is_refused),
        cmocka_unit_test(a_missing_or_damaged_file_of_the_world_is_named),
        cmocka_unit_test(relevance_is_read_where_it_is_used),
        cmocka_unit_test(a_model_that_is_missing_is_refused_with_what_would_do),
        cmocka_unit_test(features_that_do_not_fit_the_model_are_refused_with_both_numbers),
        cmocka_unit_test(a_model_may_bring_its_own_pool),
        cmocka_unit_test(a_truncated_model_is_refused),
        cmocka_unit_test(an_answer_ranks_the_pool_and_shows_what_was_seen),
        cmocka_unit_test(asking_changes_nothing_until_it_is_accepted),
        cmocka_unit_test(going_on_from_another_answer_is_as_if_it_had_been_chosen_first),
        cmocka_unit_test(a_long_conversation_goes_on),
        cmocka_unit_test(a_picture_without_features_is_refused_and_the_last_one_stays),
        cmocka_unit_test(odd_questions_are_answered_or_refused_with_a_reason),
        cmocka_unit_test(a_stop_ends_an_answer_and_changes_nothing),
        cmocka_unit_test(memory_that_is_out_is_reported_and_nothing_leaks),
        cmocka_unit_test(an_answer_that_looks_has_its_own_words),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}

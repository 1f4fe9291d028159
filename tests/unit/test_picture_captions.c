// Whose caption a picture has: people's stays, an opened picture's is the captioner's, another
// hypothesis or typed words take its place, and a transcript brings back what there was.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_directory.h"
#include "tests/support/plain_chat.h"
#include "tests/support/program.h"
#include "tui/session/captioning.h"

static vd_error err;
static vd_world *world;
static char *path;

static char *copy_picture(const char *from, const char *name)
{
    size_t size;
    char *bytes = support_read_file(from, &size), *to = support_join(directory, name);
    support_write_file(to, bytes, size);
    free(bytes);
    return to;
}

static void open_world(const char *captioner)
{
    if (vd_world_open_files(&(vd_world_files){.captioner = captioner}, &world, &err))
        fail_msg("%s", err.text);
}

// Opens it and looks at it.
static size_t looked_at(const char *picture)
{
    vd_picture_regions regions;
    size_t index = 0;
    if (vd_world_named(world, picture, &index, &err) ||
        vd_world_regions(world, index, &regions, &err))
        fail_msg("%s", err.text);
    vd_picture_regions_clear(&regions);
    return index;
}

static void expect(size_t index, vd_caption_by by, int place, const char *mark)
{
    char text[64];
    const vd_picture_caption caption = vd_world_captioned(world, index);
    vd_caption_mark(&caption, text, sizeof text);
    assert_int_equal(caption.by, by);
    assert_int_equal(caption.place, place);
    assert_string_equal(text, mark);
    assert_true(*caption.text);
}

static void an_opened_picture_has_the_captioners_caption(void **state)
{
    (void)state;
    open_world(NULL);
    size_t index = looked_at(path);
    double before = 0;
    char mark[64];
    for (int i = 1; i <= VD_HYPOTHESES; i++) {
        const vd_picture_caption caption = vd_world_captioned(world, index);
        snprintf(mark, sizeof mark, "by the captioner, %d of %d", i, VD_HYPOTHESES);
        expect(index, VD_CAPTION_CAPTIONER, i, mark);
        assert_true(caption.log_probability < before); // the best first
        before = caption.log_probability;
        assert_int_equal(vd_world_next_caption(world, index, &err), VD_OK);
    }
    expect(index, VD_CAPTION_FOUND, 0, "made from the detected objects");
    assert_memory_equal(vd_world_caption(world, index), "I see ", 6);
    assert_int_equal(vd_world_next_caption(world, index, &err), VD_OK);
    expect(index, VD_CAPTION_CAPTIONER, 1, "by the captioner, 1 of 5"); // round and round
    support_program run;
    support_program_run(&run, (const char *[]){"caption", "--image", path, NULL}, NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, vd_world_caption(world, index))); // the same beam
    support_program_clear(&run);
    vd_world_close(world);
}

static void people_and_scenes_have_the_first_word(void **state)
{
    (void)state;
    open_world(NULL);
    expect(0, VD_CAPTION_PEOPLE, 0, "");
    support_refused(vd_world_set_caption(world, 0, "mine", VD_CAPTION_TYPED, &err), VD_USAGE, &err,
                    "1000001", "caption in the data, which stays", NULL);
    support_refused(vd_world_next_caption(world, 0, &err), VD_USAGE, &err, "1000001", NULL);
    size_t made = looked_at("blocks:7");
    expect(made, VD_CAPTION_SCENE, 0, "by the scene");
    assert_int_equal(vd_world_next_caption(world, made, &err), VD_OK);
    expect(made, VD_CAPTION_CAPTIONER, 1, "by the captioner, 1 of 5");
    vd_world_close(world);
}

static void another_caption_leaves_the_old_text_where_it_is(void **state)
{
    (void)state;
    open_world(NULL);
    size_t index = looked_at(path);
    const char *first = vd_world_caption(world, index);
    char *kept = vd_strdup(first);
    assert_int_equal(vd_world_set_caption(world, index, "two cones", VD_CAPTION_TYPED, &err),
                     VD_OK);
    expect(index, VD_CAPTION_TYPED, 0, "typed");
    const char *typed = vd_world_caption(world, index);
    assert_int_equal(vd_world_set_caption(world, index, "two cones", VD_CAPTION_TYPED, &err),
                     VD_OK);
    assert_ptr_equal(vd_world_caption(world, index), typed); // nothing has changed
    assert_string_equal(first, kept);
    support_refused(vd_world_set_caption(world, index, "", VD_CAPTION_TYPED, &err), VD_USAGE, &err,
                    "caption is empty", NULL);
    vd_free(kept);
    vd_world_close(world);
}

// A caption that is known before anybody looked stays: so a recorded one comes back.
static void a_caption_may_come_before_the_regions(void **state)
{
    (void)state;
    open_world(NULL);
    size_t index;
    assert_int_equal(vd_world_named(world, path, &index, &err), VD_OK);
    assert_int_equal(vd_world_next_caption(world, index, &err), VD_UNAVAILABLE);
    assert_int_equal(vd_world_set_caption(world, index, "a cone", VD_CAPTION_FOUND, &err), VD_OK);
    assert_int_equal(looked_at(path), index);
    assert_string_equal(vd_world_caption(world, index), "a cone");
    vd_world_close(world);
}

static void without_a_captioner_it_is_what_was_found(void **state)
{
    (void)state;
    char *none = support_join(directory, "none.safetensors");
    support_refused(vd_world_open_files(&(vd_world_files){.captioner = none}, &world, &err),
                    VD_NOT_FOUND, &err, none, NULL);
    support_refused(vd_world_open_files(&(vd_world_files){.captioner = "assets/base.safetensors"},
                                        &world, &err),
                    VD_MISMATCH, &err, "assets/base.safetensors", "answers", NULL);
    // One of other regions says nothing.
    open_world(NULL);
    vd_captioning_free(world->captioning);
    world->captioning = vd_captioning_new(none);
    vd_captioner *captioner;
    support_refused(vd_captioning_take(world->captioning, &captioner, &err), VD_NOT_FOUND, &err,
                    none, NULL);
    support_refused(vd_captioning_take(world->captioning, &captioner, &err), VD_NOT_FOUND, &err,
                    none, NULL); // and is not waited for
    vd_world_close(world);
    free(none);
}

// ---- in a conversation --------------------------------------------------------------------------

static void type_line(plain_chat *p, const char *text)
{
    for (const char *at = text; *at; at++)
        vd_chat_key(&p->chat, (vd_key){.code = (unsigned char)*at});
    vd_chat_key(&p->chat, (vd_key){.code = VD_KEY_ENTER});
    plain_chat_serve(p);
    vd_recorder_step(&p->recorder, &p->chat);
}

static float first_score(const plain_chat *p)
{
    const vd_response *response = &p->chat.conversation.branch->rounds[0].response[0];
    assert_true(response->ready);
    return response->reply.answer.score[0];
}

static void another_caption_begins_the_dialog_anew(void **state)
{
    (void)state;
    char line[600], *file = support_join(directory, "anew.jsonl");
    plain_chat p;
    open_world(NULL);
    plain_chat_open(world, &p, false, file);
    type_line(&p, "/caption mine");
    assert_non_null(strstr(p.chat.notice.text, "caption in the data, which stays"));
    type_line(&p, "/caption edit"); // nothing to edit then
    assert_non_null(strstr(p.chat.notice.text, "caption in the data, which stays"));
    assert_string_equal(p.chat.nav.line.text, "");
    snprintf(line, sizeof line, "/open %s", path);
    type_line(&p, line);
    type_line(&p, "what color is it");
    float before = first_score(&p);
    type_line(&p, "/caption two yellow cones are on the left");
    assert_non_null(strstr(p.chat.notice.text, "round 1 was: "));
    assert_true(fabsf(first_score(&p) - before) > 1e-4f); // another history
    type_line(&p, "/caption next");
    assert_float_equal(first_score(&p), before, 1e-5f);
    type_line(&p, "/caption");
    assert_non_null(strstr(p.chat.notice.text, "(by the captioner, 1 of 5)"));
    type_line(&p, "/caption edit");
    assert_non_null(strstr(p.chat.nav.line.text, "/caption "));
    assert_non_null(strstr(p.chat.nav.line.text, vd_world_caption(world, 48)));
    plain_chat_close(&p);
    vd_world_close(world);
    free(file);
}

static void a_transcript_says_whose_caption_it_is(void **state)
{
    (void)state;
    char *file = support_join(directory, "whose.jsonl"), line[600];
    char *html = support_join(directory, "whose.html"), *md = support_join(directory, "whose.md");
    char *json = support_join(directory, "whose.json");
    plain_chat p;
    open_world(NULL);
    plain_chat_open(world, &p, false, file);
    snprintf(line, sizeof line, "/open %s", path);
    type_line(&p, line);
    type_line(&p, "/caption next");
    type_line(&p, "what color is it");
    char *second = vd_strdup(vd_world_caption(world, 48));
    float score = first_score(&p);
    plain_chat_close(&p);
    vd_world_close(world);

    open_world(NULL);
    plain_chat_open(world, &p, true, file);
    expect(48, VD_CAPTION_CAPTIONER, 0, "by the captioner");
    assert_string_equal(vd_world_caption(world, 48), second);
    assert_float_equal(first_score(&p), score, 1e-5f);
    assert_non_null(strstr(p.chat.notice.text, "every score is as recorded"));
    plain_chat_close(&p);
    vd_world_close(world);

    support_program run;
    support_program_run(
        &run,
        (const char *[]){"replay", file, "--html", html, "--markdown", md, "--visdial", json, NULL},
        NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, " 0 differ"));
    support_program_clear(&run);
    const struct {
        const char *path, *says;
    } files[] = {{html, "<span class=\"note\">by the captioner</span>"},
                 {md, "(by the captioner)"},
                 {json, "\"caption_by\":\"captioner\""},
                 {file, "\"caption_by\":\"captioner\""}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t size;
        char *text = support_read_file(files[i].path, &size);
        assert_non_null(strstr(text, files[i].says));
        assert_non_null(strstr(text, second));
        free(text);
    }
    vd_free(second);
    free(json);
    free(md);
    free(html);
    free(file);
}

static void commands_say_whose_caption_it_is(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, (const char *[]){"ask", "--image", path, "what", NULL}, NULL);
    support_program_expect(&run, 0, "(by the captioner, 1 of 5)", NULL);
    support_program_clear(&run);
    support_program_run(&run, (const char *[]){"ask", "--json", "--image", path, "what", NULL},
                        NULL);
    assert_non_null(strstr(run.out, "\"caption_by\":\"captioner\""));
    support_program_clear(&run);
    support_program_run(&run, (const char *[]){"walk", "--image", path, "what", NULL}, NULL);
    assert_non_null(strstr(run.out, ", by the captioner"));
    support_program_clear(&run);
    support_program_run(&run,
                        (const char *[]){"ask", "--captioner", "assets/base.safetensors", "--image",
                                         path, "what", NULL},
                        NULL);
    support_program_expect(&run, 5, "assets/base.safetensors", NULL);
    support_program_clear(&run);
}

static vd_status open_and_caption(void *context, vd_error *error)
{
    (void)context;
    size_t index;
    vd_status status = vd_world_open_files(&(vd_world_files){0}, &world, error);
    if (status == VD_OK)
        status = vd_world_named(world, path, &index, error);
    vd_picture_regions regions = {0};
    if (status == VD_OK)
        status = vd_world_regions(world, index, &regions, error);
    if (status == VD_OK)
        status = vd_world_set_caption(world, index, "mine", VD_CAPTION_TYPED, error);
    if (status == VD_OK)
        status = vd_world_next_caption(world, index, error);
    vd_picture_regions_clear(&regions);
    vd_world_close(world);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(open_and_caption, NULL) > 20);
}

static int make(void **state)
{
    make_directory(state);
    setenv("XDG_STATE_HOME", directory, 1);
    path = copy_picture("assets/pictures/1000003.png", "mine.png");
    return 0;
}

static int unmake(void **state)
{
    free(path);
    return remove_directory(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_opened_picture_has_the_captioners_caption),
        cmocka_unit_test(people_and_scenes_have_the_first_word),
        cmocka_unit_test(another_caption_leaves_the_old_text_where_it_is),
        cmocka_unit_test(a_caption_may_come_before_the_regions),
        cmocka_unit_test(without_a_captioner_it_is_what_was_found),
        cmocka_unit_test(another_caption_begins_the_dialog_anew),
        cmocka_unit_test(a_transcript_says_whose_caption_it_is),
        cmocka_unit_test(commands_say_whose_caption_it_is),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}

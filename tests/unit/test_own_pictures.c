// Pictures of one's own: opened from files, folders and seeds, with the bundled models.
#include "tui/session/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <glib.h>

#include "engine/base/alloc.h"
#include "features/extract/extract.h"
#include "tests/support/plain_chat.h"
#include "tests/support/program.h"
#include "tests/support/pty.h"
#include "tests/support/support.h"
#include "tui/chat/views/draw.h"

enum { BUNDLED = 48 };

static char *directory;
static vd_error err;

static int make_directory(void **state)
{
    (void)state;
    directory = support_temp_dir();
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    support_remove_tree(directory);
    return 0;
}

static vd_world *open_world(const char *features)
{
    vd_world *world;
    if (vd_world_open_files(&(vd_world_files){.features = features}, &world, &err))
        fail_msg("%s", err.text);
    assert_int_equal(vd_world_count(world), BUNDLED);
    return world;
}

static char *copy_picture(const char *from, const char *name)
{
    size_t size;
    char *bytes = support_read_file(from, &size), *path = support_join(directory, name);
    support_write_file(path, bytes, size);
    free(bytes);
    return path;
}

// Nothing that the extractor knows.
static char *draw_stripes(const char *name)
{
    char *path = support_join(directory, name);
    vd_image image;
    assert_int_equal(vd_image_new(400, 300, &image, NULL), VD_OK);
    for (int i = 0; i < 400 * 300; i++)
        memcpy(image.rgb + (size_t)3 * (size_t)i,
               i % 400 / 20 % 2 ? "\xff\x20\x20" : "\x10\xa0\x40", 3);
    assert_int_equal(vd_image_write_png(path, &image, NULL), VD_OK);
    vd_image_clear(&image);
    return path;
}

static size_t opened(vd_world *world, const char *path)
{
    size_t index = 0;
    if (vd_world_open_path(world, path, &index, &err))
        fail_msg("%s", err.text);
    return index;
}

static void an_opened_picture_is_one_more_of_the_world(void **state)
{
    (void)state;
    char name[64], *path = copy_picture("assets/pictures/1000002.png", "mine 7.png");
    int things;
    vd_world *world = open_world(NULL);
    vd_picture_regions regions, bundled;
    vd_image image;
    size_t index = opened(world, path), found;
    assert_int_equal(index, BUNDLED);
    assert_int_equal(vd_world_count(world), BUNDLED + 1);
    assert_int_equal(opened(world, path), index); // once
    assert_string_equal(vd_world_caption(world, index), "");
    assert_null(vd_world_contents(world, index, &things)); // nobody has looked yet
    assert_int_equal(vd_world_regions(world, index, &regions, &err), VD_OK);
    assert_int_equal(vd_world_regions(world, 1, &bundled, &err), VD_OK);
    assert_int_equal(regions.size, VD_FEATURE_SIZE);
    assert_int_equal(regions.count, bundled.count); // the same pixels
    assert_float_equal(regions.boxes[0], bundled.boxes[0], 1e-3f);
    assert_int_equal(vd_world_captioned(world, index).by, VD_CAPTION_CAPTIONER);
    assert_null(vd_world_doubt(world, index));
    assert_null(vd_world_dialog(world, index));
    vd_region_name *contents = vd_world_contents(world, index, &things);
    assert_int_equal(things, regions.count);
    vd_free(contents);
    vd_world_name(world, index, name, sizeof name);
    assert_string_equal(name, "mine 7.png");
    assert_int_equal(vd_world_find(world, vd_world_image_id(world, index), &found, &err), VD_OK);
    assert_int_equal(found, index);
    assert_int_equal(vd_world_image(world, index, &image, &err), VD_OK);
    assert_int_equal(image.width, 320);
    vd_image_clear(&image);
    // The world's own file is no new picture, whatever leads to it.
    assert_int_equal(opened(world, "./assets/pictures/../pictures/1000002.png"), 1);
    assert_int_equal(vd_world_named(world, "1000003", &found, &err), VD_OK);
    assert_int_equal(found, 2);
    vd_picture_regions_clear(&bundled);
    vd_picture_regions_clear(&regions);
    vd_world_close(world);
    free(path);
}

static void every_part_of_a_conversation_works_with_it(void **state)
{
    (void)state;
    char *path = copy_picture("assets/pictures/1000003.png", "chat.png");
    vd_world *world = open_world(NULL);
    vd_session *session;
    vd_fingerprint hash;
    vd_reply reply;
    size_t index = opened(world, path);
    assert_int_equal(vd_session_new(world, "base", &session, &err), VD_OK);
    assert_int_equal(vd_session_picture(session, index, &err), VD_OK);
    assert_non_null(session->regions.boxes);
    assert_int_equal(session->regions.count, 4);
    assert_int_equal(vd_world_features_fingerprint(world, index, &hash, &err), VD_OK);
    assert_int_equal(strlen(hash.text), 64);
    assert_int_equal(vd_session_ask(session, "how many things are there", NULL, &reply, &err),
                     VD_OK);
    assert_string_equal(vd_session_texts(session)[reply.answer.order[0]], "4");
    vd_reply_clear(&reply);
    assert_non_null(strstr(session->pool_path, "assets/pool.txt"));
    vd_session_free(session);
    vd_world_close(world);
    free(path);
}

static void a_picture_of_another_world_is_doubted(void **state)
{
    (void)state;
    char *path = draw_stripes("stripes.png");
    int things;
    vd_world *world = open_world(NULL);
    vd_picture_regions regions;
    size_t index = opened(world, path);
    assert_null(vd_world_doubt(world, index));
    assert_int_equal(vd_world_regions(world, index, &regions, &err), VD_OK);
    assert_memory_equal(vd_world_doubt(world, index),
                        "This does not look like a Blocks picture, so answers mean nothing", 64);
    assert_string_equal(vd_world_caption(world, index), "a picture");
    assert_null(regions.names);
    assert_null(vd_world_contents(world, index, &things));
    vd_picture_regions_clear(&regions);
    vd_world_close(world);
    support_program run;
    support_program_run(&run, (const char *[]){"ask", "--image", path, "what is it", NULL}, NULL);
    support_program_expect(&run, 0, "picture stripes.png: a picture",
                           "not look like a Blocks picture", "features", NULL);
    support_program_clear(&run);
    support_program_run(&run, (const char *[]){"walk", "--image", path, "what is it", NULL}, NULL);
    support_program_expect(&run, 0, "not look like a Blocks picture", NULL);
    support_program_clear(&run);
    free(path);
}

// A picture's features beside it, or named, are taken instead of the extractor's.
static void features_beside_a_picture_are_used(void **state)
{
    (void)state;
    char *path = draw_stripes("brought.png"),
         *beside = support_join(directory, "brought.safetensors");
    char *two = support_join(directory, "two.safetensors");
    support_program run;
    support_program_run(&run,
                        (const char *[]){"extract", "--quiet", "--out", beside,
                                         "assets/pictures/1000003.png", NULL},
                        NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    for (int given = 0; given < 2; given++) {
        vd_world *world = open_world(given ? two : NULL);
        vd_picture_regions regions;
        size_t index = opened(world, path);
        assert_int_equal(vd_world_regions(world, index, &regions, &err), VD_OK);
        assert_int_equal(regions.count, 4);
        assert_null(vd_world_doubt(world, index)); // nobody looked at the pixels
        vd_picture_regions_clear(&regions);
        vd_world_close(world);
        if (!given)
            assert_int_equal(rename(beside, two), 0);
    }
    support_program_run(&run,
                        (const char *[]){"extract", "--quiet", "--force", "--out", two,
                                         "assets/pictures/1000003.png",
                                         "assets/pictures/1000004.png", NULL},
                        NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    support_program_run(
        &run, (const char *[]){"ask", "--image", path, "--features", two, "what", NULL}, NULL);
    support_program_expect(&run, 5, two, "regions of 2 pictures", "brought.png", NULL);
    support_program_clear(&run);
    free(two);
    free(beside);
    free(path);
}

// Of no other picture: they would change nothing.
static void features_without_a_picture_file_are_refused(void **state)
{
    (void)state;
    static const char *const pictures[] = {"1000001", "blocks:7", "assets/pictures/1000003.png"};
    static const char *const commands[] = {"ask", "walk", "caption"};
    for (int i = 0; i < 3; i++) {
        support_program run;
        support_program_run(&run,
                            (const char *[]){commands[i], "--image", pictures[i], "--features",
                                             "nowhere.npz", i < 2 ? "what" : NULL, NULL},
                            NULL);
        support_program_expect(&run, 2, "--features without --data", "which", pictures[i], "is not",
                               NULL);
        support_program_clear(&run);
    }
}

static void a_folder_is_all_its_pictures_by_name(void **state)
{
    (void)state;
    char *folder = support_join(directory, "album"), name[64];
    char *notes = support_join(folder, "notes.png");
    assert_int_equal(mkdir(folder, 0777), 0);
    free(copy_picture("assets/pictures/1000005.png", "album/b.png"));
    free(copy_picture("assets/pictures/1000004.png", "album/a.dat"));
    char *other = copy_picture("assets/pictures/1000006.png", "b.png");
    support_write_text(notes, "no picture");
    vd_world *world = open_world(NULL);
    size_t index = opened(world, folder);
    assert_int_equal(index, BUNDLED);
    assert_int_equal(vd_world_count(world), BUNDLED + 2);
    vd_world_name(world, index, name, sizeof name);
    assert_string_equal(name, "a.dat");
    // One of two that are called alike is shown with its folder.
    index = opened(world, other);
    vd_world_name(world, index - 1, name, sizeof name);
    assert_string_equal(name, "b.png");
    vd_world_name(world, index, name, sizeof name);
    assert_true(g_str_has_suffix(name, "/b.png"));
    free(other);
    support_refused(vd_world_named(world, folder, &index, &err), VD_USAGE, &err, folder, "folder",
                    NULL);
    support_refused(vd_world_open_path(world, "engine", &index, &err), VD_NOT_FOUND, &err,
                    "no picture in this folder", NULL);
    vd_world_close(world);
    free(notes);
    free(folder);
}

static void a_new_picture_is_the_same_for_the_same_seed(void **state)
{
    (void)state;
    vd_world *world = open_world(NULL);
    vd_picture_regions regions;
    vd_image one, again, other;
    size_t index, same, third;
    assert_int_equal(vd_world_make_picture(world, 7, &index, &err), VD_OK);
    assert_int_equal(vd_world_make_picture(world, 8, &third, &err), VD_OK);
    assert_int_equal(vd_world_named(world, "blocks:7", &same, &err), VD_OK);
    assert_int_equal(index, same);
    assert_int_equal(vd_world_image(world, index, &one, &err), VD_OK);
    assert_int_equal(vd_world_image(world, index, &again, &err), VD_OK);
    assert_int_equal(vd_world_image(world, third, &other, &err), VD_OK);
    size_t bytes = (size_t)one.width * (size_t)one.height * 3;
    assert_memory_equal(one.rgb, again.rgb, bytes);
    assert_memory_not_equal(one.rgb, other.rgb, bytes);
    assert_int_equal(vd_world_regions(world, index, &regions, &err), VD_OK);
    assert_true(regions.count >= 3);
    assert_true(strlen(vd_world_caption(world, index)) > 5);
    vd_picture_regions_clear(&regions);
    vd_image_clear(&other);
    vd_image_clear(&again);
    vd_image_clear(&one);
    vd_world_close(world);
}

static void what_cannot_be_opened_is_said(void **state)
{
    (void)state;
    char *damaged = copy_picture("assets/pictures/1000003.png", "damaged.png");
    assert_int_equal(truncate(damaged, 900), 0);
    static const struct {
        const char *argument;
        int code;
        const char *says;
    } wrong[] = {{"README.md", 4, "the file is not a picture"},
                 {"nothing.png", 3, "no such file"},
                 {"blocks:x", 3, "no such file"},
                 {"engine", 2, "folder"}};
    support_program run;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        support_program_run(
            &run, (const char *[]){"ask", "--image", wrong[i].argument, "what", NULL}, NULL);
        support_program_expect(&run, wrong[i].code, wrong[i].argument, wrong[i].says, NULL);
        support_program_clear(&run);
    }
    support_program_run(&run, (const char *[]){"ask", "--image", damaged, "what", NULL}, NULL);
    support_program_expect(&run, 4, damaged, NULL);
    support_program_clear(&run);
    support_program_run(&run, (const char *[]){"nothing.png", NULL}, NULL);
    support_program_expect(&run, 2, "there is no picture file or command 'nothing.png'", NULL);
    support_program_clear(&run);
    free(damaged);
}

static void a_world_without_models_uses_the_programs_own(void **state)
{
    (void)state;
    char *world = support_join(directory, "w5"), *pool = support_join(world, "pool.txt");
    support_program run;
    support_program_run(
        &run, (const char *[]){"blocks", "world", "--quiet", "--count", "2", "--out", world, NULL},
        NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    assert_false(support_exists(pool)); // whose counting took half a minute
    support_program_run(
        &run, (const char *[]){"ask", "--assets", world, "--image", "1000002", "what color", NULL},
        NULL);
    support_program_expect(&run, 0, "picture 1000002", "ranks 598 answers of", "assets/pool.txt",
                           NULL);
    support_program_clear(&run);
    free(pool);
    free(world);
}

// Not the few answers of the file.
static void a_bundled_model_ranks_its_own_pool_of_public_files(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run,
                        (const char *[]){"ask", "--data", "assets/dialogs.json", "--features",
                                         "assets/features.safetensors", "--image", "1000001",
                                         "how many things are there", NULL},
                        NULL);
    support_program_expect(&run, 0, "ranks 598 answers of", "assets/pool.txt", NULL);
    support_program_clear(&run);
}

// ---- in the chat --------------------------------------------------------------------------------

static void expect_picture(const plain_chat *p, size_t index, const char *name)
{
    char now[64];
    const vd_conversation *conversation = &p->chat.conversation;
    assert_int_equal(conversation->branches.picture, index);
    vd_world_name(conversation->world, index, now, sizeof now);
    assert_string_equal(now, name);
    assert_non_null(p->chat.shown.picture.image.rgb);
}

static void the_chat_opens_what_is_typed_or_dragged(void **state)
{
    (void)state;
    char *path = copy_picture("assets/pictures/1000003.png", "two words.png"), line[600];
    char *other = copy_picture("assets/pictures/1000004.png", "b.png");
    vd_world *world = open_world(NULL);
    plain_chat p;
    setenv("XDG_STATE_HOME", directory, 1);
    plain_chat_open(world, &p, false, NULL);
    snprintf(line, sizeof line, "/open %s", path); // as Tab completes it
    plain_chat_type(&p, line);
    expect_picture(&p, BUNDLED, "two words.png");
    assert_int_equal(p.chat.shown.regions.count, 4);
    snprintf(line, sizeof line, "/open %s '%s'", other, path);
    plain_chat_type(&p, line);
    expect_picture(&p, BUNDLED + 1, "b.png");
    static const char *const dragged[] = {"'%s/two words.png'", "\"%s/two words.png\"",
                                          "%s/two\\ words.png", "file://%s/two%%20words.png "};
    for (size_t i = 0; i < sizeof dragged / sizeof *dragged; i++) {
        vd_chat_go_picture(&p.chat, 0);
        snprintf(line, sizeof line, dragged[i], directory);
        plain_chat_type(&p, line);
        expect_picture(&p, BUNDLED, "two words.png");
        assert_int_equal(p.chat.conversation.branch->count, 0); // no question
    }
    plain_chat_type(&p, "how many things are there");
    assert_true(p.chat.conversation.branch->rounds[0].response[0].ready);
    plain_chat_type(&p, "/open nothing.png");
    assert_non_null(strstr(p.chat.notice.text, "nothing.png"));
    expect_picture(&p, BUNDLED, "two words.png");
    snprintf(line, sizeof line, "/open %s/two", directory);
    vd_line_set(&p.chat.nav.line, line);
    vd_chat_complete(&p.chat);
    assert_non_null(strstr(p.chat.nav.line.text, "two words.png"));
    plain_chat_close(&p);
    vd_world_close(world);
    free(other);
    free(path);
}

static void the_chat_makes_and_keeps_new_pictures(void **state)
{
    (void)state;
    char *kept = support_join(directory, "kept.png"), line[600];
    vd_world *world = open_world(NULL);
    plain_chat p;
    vd_image image;
    plain_chat_open(world, &p, false, NULL);
    plain_chat_type(&p, "/new-picture 7");
    expect_picture(&p, BUNDLED, "blocks:7");
    assert_true(strlen(vd_conversation_caption(&p.chat.conversation).text) > 5);
    vd_chat_key(&p.chat, (vd_key){.code = 'g', .modifiers = VD_ALT});
    plain_chat_serve(&p);
    assert_int_equal(p.chat.conversation.branches.picture, BUNDLED + 1);
    plain_chat_type(&p, "/new-picture many");
    assert_non_null(strstr(p.chat.notice.text, "expected a number"));
    snprintf(line, sizeof line, "/save %s", kept);
    plain_chat_type(&p, line);
    assert_int_equal(vd_image_read(kept, &image, &err), VD_OK);
    assert_memory_equal(image.rgb, p.chat.shown.picture.image.rgb, 320 * 240 * 3);
    vd_image_clear(&image);
    plain_chat_type(&p, line);
    assert_non_null(strstr(p.chat.notice.text, "exists already"));
    plain_chat_close(&p);
    vd_world_close(world);
    free(kept);
}

// The transcript says where the picture is; a new program opens it again.
static void a_conversation_about_it_goes_on_and_is_replayed(void **state)
{
    (void)state;
    char *path = copy_picture("assets/pictures/1000003.png", "later.png");
    char *file = support_join(directory, "talk.jsonl"), line[600];
    char *html = support_join(directory, "talk.html");
    vd_world *world = open_world(NULL);
    plain_chat p;
    support_program run;
    plain_chat_open(world, &p, false, file);
    plain_chat_type(&p, "/new-picture 9");
    plain_chat_type(&p, "how many cubes are there");
    snprintf(line, sizeof line, "/open %s", path);
    plain_chat_type(&p, line);
    plain_chat_type(&p, "what is on the left");
    vd_recorder_step(&p.recorder, &p.chat);
    plain_chat_close(&p);
    vd_world_close(world);
    world = open_world(NULL);
    plain_chat_open(world, &p, true, file);
    char name[64];
    vd_world_name(world, p.chat.conversation.branches.picture, name, sizeof name);
    assert_string_equal(name, "later.png");
    assert_int_equal(p.chat.conversation.branch->count, 1);
    assert_non_null(strstr(p.chat.notice.text, "every score is as recorded"));
    plain_chat_close(&p);
    vd_world_close(world);
    support_program_run(&run, (const char *[]){"replay", file, "--html", html, NULL}, NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, " 0 differ"));
    support_program_clear(&run);
    size_t size;
    char *page = support_read_file(html, &size);
    assert_non_null(strstr(page, "Picture later.png"));
    assert_non_null(strstr(page, "Picture blocks:9"));
    free(page);
    // The file changed, then it is gone.
    free(copy_picture("assets/pictures/1000004.png", "later.png"));
    support_program_run(&run, (const char *[]){"replay", file, NULL}, NULL);
    support_program_expect(&run, 5, NULL);
    assert_non_null(strstr(run.out, "features have changed"));
    support_program_clear(&run);
    assert_int_equal(remove(path), 0);
    support_program_run(&run, (const char *[]){"replay", file, NULL}, NULL);
    support_program_expect(&run, 3, "1 answer was not checked: the pictures cannot be opened",
                           NULL);
    assert_non_null(strstr(run.out, "later.png: there is no such file"));
    support_program_clear(&run);
    free(html);
    free(file);
    free(path);
}

// Of two conversations one is about a picture that is gone, the other about one that has changed.
static void a_picture_is_gone_and_another_has_changed(void **state)
{
    (void)state;
    char *gone = copy_picture("assets/pictures/1000003.png", "gone.png");
    char *changed = copy_picture("assets/pictures/1000004.png", "changed.png");
    char *file = support_join(directory, "two.jsonl"), line[600];
    const char *const pictures[] = {gone, changed};
    vd_world *world = open_world(NULL);
    plain_chat p;
    support_program run;
    plain_chat_open(world, &p, false, file);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "/open %s", pictures[i]);
        plain_chat_type(&p, line);
        plain_chat_type(&p, "what is on the left");
    }
    vd_recorder_step(&p.recorder, &p.chat);
    plain_chat_close(&p);
    vd_world_close(world);
    assert_int_equal(remove(gone), 0);
    world = open_world(NULL);
    plain_chat_open(world, &p, true, file);
    assert_non_null(strstr(p.chat.notice.text, "; 1 picture cannot be opened any more"));
    plain_chat_close(&p);
    vd_world_close(world);
    free(copy_picture("assets/pictures/1000006.png", "changed.png"));
    support_program_run(&run, (const char *[]){"replay", file, NULL}, NULL);
    support_program_expect(&run, 5, "cannot be opened", NULL);
    assert_non_null(strstr(run.out, "features have changed"));
    support_program_clear(&run);
    free(file);
    free(changed);
    free(gone);
}

// Starts the program, which is to show this, and leaves.
static void see(const char *text, const char *const *arguments)
{
    assert_true(pty_start(arguments, 100, 30) && pty_await(text));
    assert_true(pty_tell("\004") && pty_wait());
    pty_end();
}

static void await_talk(const char *file)
{
    vd_transcript_file back;
    vd_status status = VD_NOT_FOUND;
    for (int tries = 0; tries < 1000 && status; tries++, usleep(20000)) {
        status = vd_transcript_read(file, &back, NULL);
        if (!status && back.record_count == 0)
            status = VD_NOT_FOUND;
        vd_transcript_clear(&back);
    }
    assert_int_equal(status, VD_OK);
}

// The session is not gone on with in a chat either, which says this.
static void load_it(const char *file, const char *why)
{
    size_t size;
    char *text = support_read_file(file, &size), *path;
    setenv("XDG_STATE_HOME", directory, 1);
    assert_int_equal(vd_saved_path("gone", &path, &err), VD_OK);
    support_write_file(path, text, size);
    vd_world *world = open_world(NULL);
    plain_chat p;
    plain_chat_open(world, &p, false, NULL);
    vd_chat_wish(&p.chat, VD_WISH_LOAD, "gone");
    vd_recorder_handle_wish(&p.recorder, &p.chat);
    assert_non_null(strstr(p.chat.notice.text, why));
    plain_chat_close(&p);
    vd_world_close(world);
    vd_free(path);
    free(text);
}

// The same by the program, which knows of which pictures before it opens any.
static void the_program_goes_on_with_a_conversation_about_it(void **state)
{
    (void)state;
    char *path = copy_picture("assets/pictures/1000003.png", "go on.png"),
         *other = support_join(directory, "elsewhere.png"),
         *file = support_join(directory, "program.jsonl");
    const char *const first[] = {"--transcript", file, path, NULL}, *const again[] = {
                                                                        "--resume", "--transcript",
                                                                        file, NULL};
    support_program run;
    assert_true(pty_start(first, 100, 30) && pty_await("by the captioner"));
    assert_true(pty_tell("what is on the left\r"));
    await_talk(file);
    assert_true(pty_tell("\004") && pty_wait());
    pty_end();
    see("every score is as recorded", again);
    see("the transcript exists: this conversation is added to it", first);
    assert_int_equal(rename(path, other), 0);
    support_program_run(&run, again, NULL);
    support_program_expect(&run, 3, "go on.png",
                           "the conversation is about this picture; put it back", NULL);
    support_program_clear(&run);
    assert_int_equal(symlink(other, path), 0);
    support_program_run(&run, again, NULL);
    support_program_expect(&run, 3, "go on.png: it names another file now", NULL);
    support_program_clear(&run);
    load_it(file, "go on.png: it names another file now");
    free(file);
    free(other);
    free(path);
}

typedef struct opening {
    vd_world *world;
    const char *path;
} opening;

static vd_status open_and_look(void *context, vd_error *error)
{
    const opening *o = context;
    vd_picture_regions regions = {0};
    size_t index;
    vd_status status = vd_world_open_path(o->world, o->path, &index, error);
    if (!status)
        status = vd_world_regions(o->world, index, &regions, error);
    vd_picture_regions_clear(&regions);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    char *path = copy_picture("assets/pictures/1000003.png", "memory.png");
    opening o = {open_world(NULL), path};
    assert_true(support_fail_each_allocation(open_and_look, &o) > 10);
    vd_world_close(o.world);
    free(path);
}

// There is no terminal here, which would be the next thing to be refused.
static void a_chat_that_could_not_work_is_not_opened(void **state)
{
    (void)state;
    char *damaged = support_join(directory, "damaged.png");
    support_write_text(damaged, "no picture");
    const struct {
        const char *arguments[5];
        int code;
        const char *said;
    } cases[] = {{{"chat", damaged, NULL}, 4, "the file is not a picture"},
                 {{damaged, NULL}, 4, "the file is not a picture"},
                 {{"chat", "--model", "nope", NULL}, 3, "model 'nope'"},
                 {{"chat", "--model", damaged, NULL}, 4, "damaged.png"},
                 {{"chat", "blocks:x", NULL}, 3, "there is no such picture"},
                 {{"blocks:7", "--features", "assets/features.safetensors", NULL},
                  2,
                  "which blocks:7 is not"},
                 {{"blocks:7", NULL}, 8, "terminal"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_program run;
        support_program_run(&run, cases[i].arguments, NULL);
        support_program_expect(&run, cases[i].code, cases[i].said, NULL);
        support_program_clear(&run);
    }
    free(damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_opened_picture_is_one_more_of_the_world),
        cmocka_unit_test(every_part_of_a_conversation_works_with_it),
        cmocka_unit_test(a_picture_of_another_world_is_doubted),
        cmocka_unit_test(features_beside_a_picture_are_used),
        cmocka_unit_test(features_without_a_picture_file_are_refused),
        cmocka_unit_test(a_folder_is_all_its_pictures_by_name),
        cmocka_unit_test(a_new_picture_is_the_same_for_the_same_seed),
        cmocka_unit_test(what_cannot_be_opened_is_said),
        cmocka_unit_test(a_world_without_models_uses_the_programs_own),
        cmocka_unit_test(a_bundled_model_ranks_its_own_pool_of_public_files),
        cmocka_unit_test(the_chat_opens_what_is_typed_or_dragged),
        cmocka_unit_test(the_chat_makes_and_keeps_new_pictures),
        cmocka_unit_test(a_conversation_about_it_goes_on_and_is_replayed),
        cmocka_unit_test(a_picture_is_gone_and_another_has_changed),
        cmocka_unit_test(the_program_goes_on_with_a_conversation_about_it),
        cmocka_unit_test(a_chat_that_could_not_work_is_not_opened),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

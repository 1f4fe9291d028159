// The chat's pictures from files: the engine's thread reads them, so that keys are taken meanwhile.
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

#include "engine/base/alloc.h"
#include "tests/support/must.h"
#include "tests/support/plain_chat.h"
#include "tests/support/support.h"
#include "tui/chat/views/draw.h"

enum { BUNDLED = 48 };

static char *directory, *whole, *cut;
static vd_world *world;
static vd_error err;

static char *copy_picture(const char *from, const char *name)
{
    size_t size;
    char *bytes = support_read_file(from, &size), *path = support_join(directory, name);
    support_write_file(path, bytes, size);
    free(bytes);
    return path;
}

// A whole picture and one that is cut off behind a good beginning.
static int set_up(void **state)
{
    (void)state;
    directory = support_temp_dir();
    whole = copy_picture("assets/pictures/1000003.png", "whole.png");
    cut = copy_picture("assets/pictures/1000003.png", "cut.png");
    assert_int_equal(truncate(cut, 900), 0);
    setenv("XDG_STATE_HOME", directory, 1);
    must(vd_world_open_files(&(vd_world_files){0}, &world, &err), &err);
    assert_int_equal(vd_world_count(world), BUNDLED);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vd_world_close(world);
    support_remove_tree(directory);
    free(cut);
    free(whole);
    free(directory);
    return 0;
}

static void enter_open(plain_chat *p, const char *path)
{
    char line[600];
    snprintf(line, sizeof line, "/open %s", path);
    plain_chat_enter(p, line);
}

// The screen says so (100x30).
static bool shows(plain_chat *p, const char *text)
{
    vd_grid grid = {.look.depth = VD_DEPTH_MONO};
    vd_grid_resize(&grid, 100, 30);
    vd_chat_draw(&p->chat, &grid);
    char *all = vd_grid_to_text(&grid);
    bool found = strstr(all, text) != NULL;
    vd_free(all);
    vd_grid_free(&grid);
    return found;
}

static void press(plain_chat *p, uint32_t code, unsigned modifiers)
{
    vd_chat_key(&p->chat, (vd_key){.code = code, .modifiers = modifiers});
}

static size_t shown(const plain_chat *p)
{
    return p->chat.conversation.branches.picture;
}

static void a_picture_that_cannot_be_read_is_not_opened(void **state)
{
    (void)state;
    plain_chat p;
    plain_chat_open(world, &p, false, NULL);
    enter_open(&p, cut);
    plain_chat_serve(&p);
    assert_non_null(strstr(p.chat.notice.text, "cut.png"));
    assert_int_equal(vd_world_count(world), BUNDLED);
    assert_int_equal(shown(&p), 0);
    assert_false(shows(&p, "Esc stops"));
    char line[600]; // what comes after it is not opened either
    snprintf(line, sizeof line, "/open '%s' '%s'", cut, whole);
    plain_chat_type(&p, line);
    assert_int_equal(vd_world_count(world), BUNDLED);
    plain_chat_close(&p);
}

static void keys_are_taken_while_a_picture_is_read(void **state)
{
    (void)state;
    plain_chat p;
    plain_chat_open(world, &p, false, NULL);
    enter_open(&p, whole);
    assert_true(shows(&p, "reading whole.png; Esc stops"));
    press(&p, 'a', 0);
    assert_true(shows(&p, " > a") && shows(&p, "reading whole.png; Esc stops"));
    assert_int_equal(shown(&p), 0);
    assert_int_equal(vd_world_count(world), BUNDLED);
    vd_line_clear(&p.chat.nav.line);
    for (int i = 0; i < 2; i++) { // nothing comes of it
        if (i > 0)
            enter_open(&p, whole);
        press(&p, i ? 'c' : VD_KEY_ESCAPE, i ? VD_CTRL : 0);
        assert_true(shows(&p, "whole.png was not opened"));
        plain_chat_serve(&p);
        assert_int_equal(vd_world_count(world), BUNDLED);
        assert_int_equal(shown(&p), 0);
    }
    enter_open(&p, whole);
    plain_chat_serve(&p);
    assert_int_equal(shown(&p), BUNDLED);
    assert_int_equal(p.chat.shown.picture.image.width, 320);
    assert_int_equal(p.chat.shown.regions.count, 4);
    assert_false(shows(&p, "Esc stops"));
    vd_chat_go_picture(&p.chat, 0);
    assert_non_null(p.chat.shown.picture.image.rgb); // the program's own are there at once
    vd_chat_go_picture(&p.chat, BUNDLED);
    assert_null(p.chat.shown.picture.image.rgb);
    assert_true(shows(&p, "the picture is being read") && shows(&p, "reading whole.png"));
    press(&p, VD_KEY_ESCAPE, 0);
    plain_chat_serve(&p);
    assert_null(p.chat.shown.picture.image.rgb);
    assert_non_null(strstr(p.chat.shown.error, "/picture #49 reads it"));
    plain_chat_type(&p, "/picture #49");
    assert_non_null(p.chat.shown.picture.image.rgb);
    plain_chat_type(&p, "/new"); // its pixels stay
    assert_non_null(p.chat.shown.picture.image.rgb);
    vd_chat_go_picture(&p.chat, BUNDLED);
    plain_chat_type(&p, "/new"); // before they came
    assert_non_null(p.chat.shown.picture.image.rgb);
    plain_chat_close(&p);
}

static void the_list_of_pictures_does_not_wait_either(void **state)
{
    (void)state;
    plain_chat p;
    plain_chat_open(world, &p, false, NULL);
    enter_open(&p, whole);
    plain_chat_serve(&p);
    vd_chat_open(&p.chat, VD_PLACE_PICTURES);
    assert_true(shows(&p, "the picture is being read"));
    assert_null(p.chat.preview.picture.image.rgb);
    press(&p, VD_KEY_UP, 0);
    assert_true(shows(&p, "picture 48 of 49"));
    assert_non_null(p.chat.preview.picture.image.rgb);
    plain_chat_serve(&p); // it is of another picture than the one under the cursor
    assert_int_equal(p.chat.preview.index, BUNDLED - 1);
    press(&p, VD_KEY_DOWN, 0);
    assert_true(shows(&p, "the picture is being read"));
    plain_chat_serve(&p);
    assert_false(shows(&p, "the picture is being read"));
    assert_int_equal(p.chat.preview.index, BUNDLED);
    assert_non_null(p.chat.preview.picture.image.rgb);
    plain_chat_close(&p);
}

// It has no more pixels than a screen.
static void a_large_picture_is_reduced(void **state)
{
    (void)state;
    char *wide = support_join(directory, "wide.png");
    vd_image image;
    plain_chat p;
    must(vd_image_new(5120, 30, &image, &err), &err);
    memset(image.rgb, 77, (size_t)3 * 5120 * 30);
    must(vd_image_write_png(wide, &image, &err), &err);
    vd_image_clear(&image);
    plain_chat_open(world, &p, false, NULL);
    enter_open(&p, wide);
    plain_chat_serve(&p);
    assert_int_equal(p.chat.shown.picture.image.width, 2560);
    assert_int_equal(p.chat.shown.picture.image.height, 15);
    for (int i = 0; i < 3 * 2560 * 15; i++)
        assert_int_equal(p.chat.shown.picture.image.rgb[i], 77);
    plain_chat_close(&p);
    free(wide);
}

static void expect_caption_line(plain_chat *p, const char *begin, const char *part)
{
    char line[VD_CAPTION_LINE];
    vd_caption_line(&p->chat, line);
    assert_int_equal(strncmp(line, begin, strlen(begin)), 0);
    assert_non_null(strstr(line, part));
}

// Of a folder others may be good: one whose beginning is right is found to be damaged when it is
// shown.
static void a_damaged_picture_of_a_folder_is_not_looked_at_for_ever(void **state)
{
    (void)state;
    plain_chat p;
    plain_chat_open(world, &p, false, NULL);
    enter_open(&p, directory);
    plain_chat_serve(&p);
    size_t index;
    must(vd_world_open_path(world, cut, &index, &err), &err);
    vd_chat_go_picture(&p.chat, index);
    expect_caption_line(&p, "looking for what is in it ...", "");
    plain_chat_serve(&p);
    expect_caption_line(&p, "what is in it is not known: ", cut);
    assert_non_null(strstr(p.chat.shown.error, "cut.png"));
    must(vd_world_open_path(world, whole, &index, &err), &err);
    vd_chat_go_picture(&p.chat, index);
    plain_chat_serve(&p);
    assert_true(*vd_conversation_caption(&p.chat.conversation).text);
    expect_caption_line(&p, vd_conversation_caption(&p.chat.conversation).text, "");
    plain_chat_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_that_cannot_be_read_is_not_opened),
        cmocka_unit_test(keys_are_taken_while_a_picture_is_read),
        cmocka_unit_test(the_list_of_pictures_does_not_wait_either),
        cmocka_unit_test(a_large_picture_is_reduced),
        cmocka_unit_test(a_damaged_picture_of_a_folder_is_not_looked_at_for_ever),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

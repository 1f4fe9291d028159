// The file of what a person wants every time, and completing what is typed.
#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assets/blocks/scene.h"
#include "engine/base/alloc.h"
#include "tests/support/support.h"
#include "tui/base/complete.h"
#include "tui/session/config.h"
#include "tui/session/session.h"

static char *directory, *path;
static vd_error err;

static int start(void **state)
{
    (void)state;
    directory = support_temp_dir();
    path = support_join(directory, "config");
    return 0;
}

static int end(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    free(path);
    return 0;
}

static void settings_are_read_over_what_is_there(void **state)
{
    (void)state;
    vd_preferences wanted = vd_preferences_defaults();
    assert_int_equal(vd_preferences_read(path, &wanted, &err), VD_OK); // no file
    assert_int_equal(wanted.theme, VD_THEME_AUTO);
    assert_true(wanted.mouse);
    assert_true(wanted.motion);
    assert_false(wanted.fold);
    support_write_text(path, "# mine\r\n\n  theme=light\r\nmouse =\toff\nfold=on\npicture = "
                             "sixel\nmotion = off\nmodel = my models/a b.st \n");
    assert_int_equal(vd_preferences_read(path, &wanted, &err), VD_OK);
    assert_int_equal(wanted.theme, VD_THEME_LIGHT);
    assert_false(wanted.mouse);
    assert_false(wanted.motion);
    assert_true(wanted.fold);
    assert_int_equal(wanted.pictures, VD_PICTURE_SIXEL);
    assert_string_equal(wanted.model, "my models/a b.st");
    support_write_text(path, "theme = safe"); // no line end
    assert_int_equal(vd_preferences_read(path, &wanted, &err), VD_OK);
    assert_int_equal(wanted.theme, VD_THEME_SAFE);
    assert_string_equal(wanted.model, "my models/a b.st");
}

static void refused(const char *text, const char *what)
{
    vd_preferences wanted = vd_preferences_defaults();
    support_write_text(path, text);
    assert_int_equal(vd_preferences_read(path, &wanted, &err), VD_OK); // the program starts
    if (!strstr(wanted.remark, path) || !strstr(wanted.remark, what))
        fail_msg("expected '%s', found '%s'", what, wanted.remark);
}

// What is right is taken, whatever stands around it.
static void a_wrong_line_is_left_out(void **state)
{
    (void)state;
    vd_preferences wanted = vd_preferences_defaults();
    support_write_text(path, "fold = on\ntehme = light\nmouse = off\nfold=perhaps\nfoo\n");
    assert_int_equal(vd_preferences_read(path, &wanted, &err), VD_OK);
    assert_true(wanted.fold);
    assert_false(wanted.mouse);
    assert_int_equal(wanted.theme, VD_THEME_AUTO);
    assert_non_null(strstr(wanted.remark, "line 2: there is no setting 'tehme'; did you mean "
                                          "theme? (wrong, too: lines 4, 5)"));
}

// Nothing of it is used, not even its beginning.
static void a_path_that_is_too_long_is_left_out(void **state)
{
    (void)state;
    char text[700] = "model = ";
    memset(text + strlen(text), 'm', 600);
    vd_preferences wanted = vd_preferences_defaults(), before = wanted;
    support_write_text(path, text);
    assert_int_equal(vd_preferences_read(path, &wanted, &err), VD_OK);
    assert_string_equal(wanted.model, before.model);
    assert_non_null(strstr(wanted.remark, "line 1"));
}

static void keys_are_bound(void **state)
{
    (void)state;
    vd_preferences wanted = vd_preferences_defaults();
    support_write_text(path, "key Ctrl-G=/theme light\nkey\t F9 = none\nkey F99 = /walk\n");
    assert_int_equal(vd_preferences_read(path, &wanted, &err), VD_OK);
    assert_int_equal(wanted.key_count, 2);
    assert_string_equal(wanted.keys[0].line, "/theme light");
    assert_int_equal(wanted.keys[1].key.code, VD_KEY_F0 + 9);
    assert_non_null(strstr(wanted.remark, "line 3: there is no key 'F99'"));
}

static void a_file_that_cannot_be_read_is_said(void **state)
{
    (void)state;
    vd_preferences wanted = vd_preferences_defaults();
    assert_int_equal(vd_preferences_read(directory, &wanted, &err), VD_OK);
    assert_non_null(strstr(wanted.remark, directory));
}

static void a_wrong_line_is_named(void **state)
{
    (void)state;
    refused("\ntheme = pink\n",
            "line 2: found theme = 'pink', expected auto, light, dark, mono or safe");
    refused("mouse = maybe", "line 1: found mouse = 'maybe', expected on or off");
    refused("fold = yes", "line 1: found fold = 'yes', expected on or off");
    refused("model =", "line 1: found model = '', expected best, base, improved or a model file");
    refused("colour = red",
            "line 1: there is no setting 'colour'; there are theme, picture, mouse, motion, "
            "model, fold and key NAME");
    refused("picture = colour",
            "line 1: found picture = 'colour', expected auto, kitty, sixel, iterm, "
            "cells or none");
    refused("theme", "line 1: found 'theme', expected `name = value`");
    refused("fold = on\ntehme = light", "line 2: there is no setting 'tehme'; did you mean theme?");
    vd_preferences wanted = vd_preferences_defaults();
    support_write_file(path, "theme = \0light", 14);
    assert_int_equal(vd_preferences_read(path, &wanted, &err), VD_OK);
    assert_non_null(strstr(wanted.remark, "NUL"));
}

static vd_status read_it(void *context, vd_error *error)
{
    vd_preferences wanted = vd_preferences_defaults();
    return vd_preferences_read(context, &wanted, error);
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    support_write_text(path, "theme = mono\n");
    assert_true(support_fail_each_allocation(read_it, path) >= 1);
}

static void the_place_is_where_the_specification_says(void **state)
{
    (void)state;
    setenv("VD_TEST_PLACE", "/somewhere", 1);
    char *place = vd_config_place("VD_TEST_PLACE", ".config", "config");
    assert_string_equal(place, "/somewhere/visdial/config");
    g_free(place);
    setenv("VD_TEST_PLACE", "relative", 1); // to be ignored
    setenv("HOME", "/home-of-a-test", 1);
    place = vd_config_place("VD_TEST_PLACE", ".config", "config");
    assert_string_equal(place, "/home-of-a-test/.config/visdial/config");
    g_free(place);
    unsetenv("HOME");
    assert_null(vd_config_place("VD_TEST_PLACE", ".config", "config"));
}

// ---- completion --------------------------------------------------------------------------------

static void words_complete_to_what_they_share(void **state)
{
    (void)state;
    vd_completion completion = {.typed = "/mo"};
    vd_complete_add(&completion, "/model");
    assert_string_equal(completion.common, "/model");
    vd_complete_add(&completion, "/quit");
    vd_complete_add(&completion, "/mouse");
    assert_int_equal(completion.matches, 2);
    assert_string_equal(completion.common, "/mo");
    assert_string_equal(completion.list, "/model  /mouse");
    completion = (vd_completion){.typed = "/export html docs/"}; // what is typed is not repeated
    vd_complete_add(&completion, "/export html docs/a.html");
    vd_complete_add(&completion, "/export html docs/b.html");
    assert_string_equal(completion.list, "a.html  b.html");
}

// What does not fit into one list is in the next.
static void a_long_list_goes_on_behind_what_was_shown(void **state)
{
    (void)state;
    int shown = 0;
    for (int skip = 0, lists = 1; skip < 40; lists++) {
        vd_completion completion = {.typed = "/", .skip = skip};
        for (int i = 0; i < 40; i++) {
            char name[32];
            snprintf(name, sizeof name, "/command-%02d", i);
            vd_complete_add(&completion, name);
        }
        char first[32];
        snprintf(first, sizeof first, "/command-%02d", skip);
        assert_int_equal(strncmp(completion.list, first, strlen(first)), 0);
        assert_int_equal(completion.matches, 40);
        assert_true(completion.listed > 0 && lists < 8);
        shown += completion.listed;
        skip += completion.listed;
    }
    assert_int_equal(shown, 40);
}

static vd_completion complete_path(const char *typed)
{
    vd_completion completion = {.typed = typed};
    vd_complete_paths(&completion, strlen("/model "), (const char *const[]){".safetensors", NULL});
    return completion;
}

static void paths_complete_to_models_and_directories(void **state)
{
    (void)state;
    static const char *const names[] = {"one.safetensors", "once.txt", ".hidden.safetensors",
                                        "caf\xc3\xa9.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *file = support_join(directory, names[i]);
        support_write_text(file, "");
        free(file);
    }
    char typed[600], expected[600];
    snprintf(typed, sizeof typed, "/model %s/on", directory);
    vd_completion completion = complete_path(typed);
    snprintf(expected, sizeof expected, "/model %s/one.safetensors", directory);
    assert_int_equal(completion.matches, 1);
    assert_string_equal(completion.common, expected);
    snprintf(typed, sizeof typed, "/model %s/", directory);
    completion = complete_path(typed);
    assert_int_equal(completion.matches, 2); // neither the hidden one nor the text
    assert_string_equal(completion.list, "caf\xc3\xa9.safetensors  one.safetensors"); // sorted
    snprintf(typed, sizeof typed, "/model %s/.h", directory);
    assert_int_equal(complete_path(typed).matches, 1);
    const char *base = strrchr(directory, '/');
    snprintf(typed, sizeof typed, "/model %.*s", (int)(base - directory + strlen(base)), directory);
    completion = complete_path(typed);
    assert_int_equal(completion.matches, 1);
    assert_int_equal(completion.common[strlen(completion.common) - 1], '/');
    setenv("HOME", directory, 1);
    completion = complete_path("/model ~/on");
    assert_string_equal(completion.common, "/model ~/one.safetensors");
    assert_int_equal(complete_path("/model /nowhere/at/all/").matches, 0);
}

// ---- contents ----------------------------------------------------------------------------------

static void attributes_are_named_as_the_world_names_them(void **state)
{
    (void)state;
    const char *const *at = vd_attribute_names;
    for (int i = 0; i < BLOCKS_COLORS; i++)
        assert_string_equal(*at++, blocks_color_names[i]);
    for (int i = 0; i < BLOCKS_SHAPES; i++)
        assert_string_equal(*at++, blocks_shape_names[i]);
    for (int i = 0; i < BLOCKS_MATERIALS; i++)
        assert_string_equal(*at++, blocks_material_names[i]);
    for (int i = 0; i < BLOCKS_SIZES; i++)
        assert_string_equal(*at++, blocks_size_names[i]);
}

// The bundled picture 1000001: what its scene file says is what its features say.
static void a_bundled_picture_tells_what_is_in_it(void **state)
{
    (void)state;
    vd_world *world;
    assert_int_equal(vd_world_open_files(&(vd_world_files){.directory = "assets"}, &world, &err),
                     VD_OK);
    static const char *const wanted[] = {"large blue metal cube", "large blue rubber ball",
                                         "small blue metal cone"};
    int count, found = 0;
    vd_region_name *things = vd_world_contents(world, 0, &count);
    for (int i = 0; i < count; i++)
        for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
            found |= (strcmp(things[i].text, wanted[w]) == 0) << w; // nothing else in it
    assert_int_equal(found, 7);
    vd_free(things);
    vd_world_close(world);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(settings_are_read_over_what_is_there),
        TEST(a_wrong_line_is_named),
        TEST(a_wrong_line_is_left_out),
        TEST(a_path_that_is_too_long_is_left_out),
        TEST(keys_are_bound),
        TEST(a_file_that_cannot_be_read_is_said),
        TEST(out_of_memory_is_reported),
        TEST(words_complete_to_what_they_share),
        TEST(a_long_list_goes_on_behind_what_was_shown),
        TEST(paths_complete_to_models_and_directories),
        TEST(attributes_are_named_as_the_world_names_them),
        TEST(a_bundled_picture_tells_what_is_in_it),
        TEST(the_place_is_where_the_specification_says), // last: it takes HOME away
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/support.h"
#include "tui/session/history.h"

static char *directory, *path;
static vd_line line;

static int start(void **state)
{
    (void)state;
    directory = support_temp_dir();
    path = support_join(directory, "history");
    return 0;
}

static int end(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    free(path);
    vd_line_free(&line);
    return 0;
}

static void questions_come_back_in_their_order(void **state)
{
    (void)state;
    assert_int_equal(vd_history_load(path, &line, NULL), VD_OK); // no file yet
    assert_int_equal(line.count, 0);
    assert_int_equal(vd_history_append(path, "is there a cube?", NULL), VD_OK);
    assert_int_equal(vd_history_append(path, "what colour is the caf\xc3\xa9?", NULL), VD_OK);
    assert_int_equal(vd_history_load(path, &line, NULL), VD_OK);
    assert_int_equal(line.count, 2);
    assert_string_equal(line.history[0], "is there a cube?");
    assert_string_equal(line.history[1], "what colour is the caf\xc3\xa9?");
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600); // what one asks is one's own
}

static void what_is_no_text_is_left_out(void **state)
{
    (void)state;
    static const char damaged[] = "good\n\033[2Jbad\nnull\0byte\n\nalso good\nnot ended";
    support_write_file(path, damaged, sizeof damaged - 1);
    assert_int_equal(vd_history_load(path, &line, NULL), VD_OK);
    assert_int_equal(line.count, 2);
    assert_string_equal(line.history[0], "good");
    assert_string_equal(line.history[1], "also good");
    char *wide = malloc(VD_LINE_MAX + 3);
    memset(wide, 'x', VD_LINE_MAX + 1);
    memcpy(wide + VD_LINE_MAX + 1, "\n", 2);
    support_write_text(path, wide);
    free(wide);
    assert_int_equal(vd_history_load(path, &line, NULL), VD_OK);
    assert_int_equal(line.count, 2);
}

static void a_long_file_is_cut_to_its_newer_half(void **state)
{
    (void)state;
    size_t size = 0;
    char *text = NULL;
    FILE *file = open_memstream(&text, &size);
    for (int i = 0; ftell(file) < VD_HISTORY_BYTES + 100; i++)
        fprintf(file, "question %d?\n", i);
    fclose(file);
    support_write_text(path, text);
    free(text);
    assert_int_equal(vd_history_load(path, &line, NULL), VD_OK);
    assert_int_equal(line.count, VD_LINE_HISTORY);
    char *kept = support_read_file(path, &size);
    assert_true(size < VD_HISTORY_BYTES * 6 / 10);
    assert_int_equal(strncmp(kept, "question ", 9), 0);
    char last[VD_LINE_MAX + 2];
    snprintf(last, sizeof last, "%s\n", line.history[line.count - 1]);
    assert_string_equal(kept + size - strlen(last), last);
    free(kept);
    assert_int_equal(support_count_entries(directory), 1);
}

// Whatever made it so long: the newest questions are known.
static void of_a_very_long_file_the_end_is_read(void **state)
{
    (void)state;
    size_t size = 0;
    char *text = NULL, last[40];
    int count = 0;
    FILE *file = open_memstream(&text, &size);
    while (ftell(file) < 5 * VD_HISTORY_BYTES)
        fprintf(file, "question %d?\n", ++count);
    fclose(file);
    support_write_text(path, text);
    free(text);
    assert_int_equal(vd_history_load(path, &line, NULL), VD_OK);
    snprintf(last, sizeof last, "question %d?", count);
    assert_int_equal(line.count, VD_LINE_HISTORY);
    assert_string_equal(line.history[line.count - 1], last);
    char *kept = support_read_file(path, &size);
    assert_true(size > VD_HISTORY_BYTES && size < 3 * VD_HISTORY_BYTES);
    assert_int_equal(strncmp(kept, "question ", 9), 0);
    assert_int_equal(strncmp(kept + size - strlen(last) - 1, last, strlen(last)), 0);
    free(kept);
}

static void pipes_are_refused_and_devices_hold_nothing(void **state)
{
    (void)state;
    vd_error error = {0};
    assert_int_equal(mkfifo(path, 0600), 0);
    support_refused(vd_history_load(path, &line, &error), VD_FORMAT, &error, path, "pipe", NULL);
    support_refused(vd_history_append(path, "x", &error), VD_FORMAT, &error, path, "pipe", NULL);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0); // as people do who want none
    assert_int_equal(vd_history_append(path, "x", &error), VD_OK);
    assert_int_equal(vd_history_load(path, &line, &error), VD_OK);
    assert_int_equal(line.count, 0);
}

static void the_place_follows_the_environment(void **state)
{
    (void)state;
    setenv("XDG_STATE_HOME", directory, 1);
    char *found = vd_state_path("history");
    assert_non_null(found);
    assert_non_null(strstr(found, "/visdial/history"));
    assert_int_equal(strncmp(found, directory, strlen(directory)), 0);
    assert_int_equal(vd_history_append(found, "x", NULL), VD_OK); // its directory is there
    g_free(found);
    setenv("XDG_STATE_HOME", "relative", 1);
    setenv("HOME", directory, 1);
    found = vd_state_path("history");
    assert_non_null(strstr(found, "/.local/state/visdial/history"));
    g_free(found);
    setenv("HOME", "/dev/null", 1);
    assert_null(vd_state_path("history"));
    unsetenv("HOME");
    assert_null(vd_state_path("history"));
}

static void failures_have_a_reason(void **state)
{
    (void)state;
    vd_error error = {0};
    support_refused(vd_history_append(directory, "x", &error), VD_IO, &error, directory, NULL);
    char *below = support_join(path, "below");
    support_write_text(path, "a file, no directory");
    support_refused(vd_history_load(below, &line, &error), VD_IO, &error, below, NULL);
    free(below);
}

static vd_status append_and_load(void *context, vd_error *err)
{
    (void)context;
    vd_status status = vd_history_append(path, "what color is it?", err);
    vd_line_free(&line);
    return status ? status : vd_history_load(path, &line, err);
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    assert_int_equal(support_fail_each_allocation(append_and_load, NULL), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(questions_come_back_in_their_order),
        TEST(what_is_no_text_is_left_out),
        TEST(a_long_file_is_cut_to_its_newer_half),
        TEST(of_a_very_long_file_the_end_is_read),
        TEST(pipes_are_refused_and_devices_hold_nothing),
        TEST(the_place_follows_the_environment),
        TEST(failures_have_a_reason),
        TEST(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

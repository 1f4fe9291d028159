// Whole files and JSON: the parts that the readers and writers share.
#include "engine/base/file.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ONE_FILE "file"

#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "tests/support/one_file.h"

static vd_status write_pieces(void *context, vd_error *err)
{
    const size_t *sizes = context;
    vd_output *output;
    vd_status status = vd_output_create(path, &output, err);
    if (status)
        return status;
    char *bytes = calloc(1, 300000);
    for (size_t i = 0; i < 300000; i++)
        bytes[i] = (char)(i * 7);
    size_t at = 0;
    for (; !status && *sizes; at += *sizes++)
        status = vd_output_write(output, bytes + at, *sizes, err);
    free(bytes);
    if (!status)
        return vd_output_commit(output, err);
    vd_output_abort(output);
    return status;
}

static void pieces_of_any_size_make_one_file(void **state)
{
    (void)state;
    static const size_t pieces[][8] = {
        {1, 2, 3}, {65536}, {65535, 1, 1}, {65537, 1}, {100, 100000, 7, 65536, 65530, 20, 1}};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t total = 0, size;
        for (int p = 0; pieces[i][p]; p++)
            total += pieces[i][p];
        vd_error err = {0};
        assert_int_equal(write_pieces((void *)(uintptr_t)pieces[i], &err), VD_OK);
        char *data;
        assert_int_equal(vd_file_read(path, 1 << 20, &data, &size, &err), VD_OK);
        assert_int_equal(size, total);
        for (size_t b = 0; b < size; b++)
            assert_int_equal(data[b], (char)(b * 7));
        assert_int_equal(data[size], 0);
        vd_free(data);
        assert_int_equal(support_count_entries(directory), 1);
    }
}

static void what_killed_processes_left_is_swept_away(void **state)
{
    (void)state;
    char name[64];
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    // Of a process that is no more; of this one, of nobody, of another file.
    static const char *const kept[] = {"%s.%ld-1.part", "%s.%ldx-1.part", "%s.%ld-1.part2",
                                       "other%s.%ld-1.part"};
    const char *file = strrchr(path, '/') + 1;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(name, sizeof name, kept[i], file, (long)(i ? gone : getpid()));
        char *left = support_join(directory, name);
        support_write_text(left, "half of it");
        free(left);
    }
    snprintf(name, sizeof name, "%s.%ld-12.part", file, (long)gone);
    char *left = support_join(directory, name);
    support_write_text(left, "half of it");
    vd_output_sweep(path);
    assert_false(support_exists(left));
    assert_int_equal(support_count_entries(directory), 4);
    vd_output_sweep("/nowhere/at/all");
    free(left);
}

// A real limit, not a stand-in: a process may not write files longer than this.
static void a_limit_on_the_length_of_files_is_an_error_that_leaves_nothing(void **state)
{
    (void)state;
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    static const size_t pieces[] = {100000, 0};
    vd_error err = {0};
    vd_status status = write_pieces((void *)(uintptr_t)pieces, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    support_refused(status, VD_IO, &err, path, strerror(EFBIG), NULL);
    assert_int_equal(support_count_entries(directory), 0);
}

static void files_that_cannot_be_read_or_written_are_told(void **state)
{
    (void)state;
    vd_error err = {0};
    char *data;
    size_t size;
    int file;
    vd_output *output;
    support_refused(vd_file_read(path, 10, &data, &size, &err), VD_NOT_FOUND, &err, path, NULL);
    assert_null(data);
    support_refused(vd_file_read(directory, 10, &data, &size, &err), VD_FORMAT, &err, "directory",
                    NULL);
    support_write_text(path, "eleven char");
    support_refused(vd_file_read(path, 10, &data, &size, &err), VD_FORMAT, &err, path, "11", "10",
                    NULL);
    char *below = support_join(path, "below");
    support_refused(vd_file_open(below, &file, &size, &err), VD_NOT_FOUND, &err, below, NULL);
    assert_int_equal(file, -1);
    support_refused(vd_output_create(below, &output, &err), VD_NOT_FOUND, &err, below, NULL);
    assert_null(output);
    support_refused(vd_output_create(directory, &output, &err), VD_IO, &err, directory, NULL);
    support_refused(vd_file_open("/dev/null", &file, &size, &err), VD_FORMAT, &err, "device", NULL);
    vd_output_abort(NULL);
    free(below);
}

static void a_name_without_directory_is_written_where_we_are(void **state)
{
    (void)state;
    char *here = getcwd(NULL, 0), *data;
    size_t size;
    vd_error err = {0};
    vd_output *output;
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(vd_output_create("plain", &output, &err), VD_OK);
    assert_int_equal(vd_output_write(output, "text", 4, &err), VD_OK);
    assert_int_equal(vd_output_commit(output, &err), VD_OK);
    assert_int_equal(vd_file_read("plain", 10, &data, &size, &err), VD_OK);
    assert_string_equal(data, "text");
    vd_free(data);
    assert_int_equal(chdir(here), 0);
    free(here);
}

static vd_status read_whole(void *context, vd_error *err)
{
    (void)context;
    char *data;
    size_t size;
    vd_status status = vd_file_read(path, 1 << 20, &data, &size, err);
    vd_free(data);
    return status;
}

// ---- JSON ---------------------------------------------------------------------------------------

static int count_string(void *context, const unsigned char *text, size_t length)
{
    (void)text;
    *(size_t *)context += length;
    return 1;
}

static int stop(void *context)
{
    (void)context;
    return 0;
}

static const yajl_callbacks strings = {.yajl_string = count_string, .yajl_null = stop};

static yajl_gen_status emit_two(yajl_gen gen, void *context)
{
    const char *text = context;
    yajl_gen_array_open(gen);
    yajl_gen_string(gen, (const unsigned char *)"a\"\n\xc3\xa9", 5);
    yajl_gen_status status = yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
    return status ? status : yajl_gen_array_close(gen);
}

static void json_goes_out_and_in_again(void **state)
{
    (void)state;
    char *text, long_word[5001] = {0};
    size_t length, total = 0;
    vd_error err = {0};
    memset(long_word, 'w', 5000);
    assert_int_equal(vd_json_write("out", emit_two, long_word, &text, &length, &err), VD_OK);
    assert_int_equal(strlen(text), length);
    assert_int_equal(vd_json_read("in", text, length, &strings, &total, NULL, &err), VD_OK);
    assert_int_equal(total, 5005);
    vd_free(text);
    vd_status status =
        vd_json_write("out", emit_two, (void *)(uintptr_t) "\xff", &text, &length, &err);
    support_refused(status, VD_FORMAT, &err, "out", "UTF-8", NULL);
    assert_null(text);
}

static void json_errors_have_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {{"", "line 1, column 1"},
               {"[\n\n  \"a\" \"b\"]", "line 3"},
               {"[\"a\",\n", "line 2, column 1"},
               {"[\"a\"]\n]", "line 2"}};
    size_t total = 0;
    vd_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        support_refused(
            vd_json_read("file", bad[i].text, strlen(bad[i].text), &strings, &total, NULL, &err),
            VD_FORMAT, &err, "file", bad[i].words, NULL);
    vd_status refused = VD_MISMATCH;
    assert_int_equal(vd_json_read("file", "[null]", 6, &strings, &total, &refused, &err),
                     VD_MISMATCH);
}

static vd_status write_and_read_json(void *context, vd_error *err)
{
    (void)context;
    char *text;
    size_t length, total = 0;
    vd_status status =
        vd_json_write("out", emit_two, (void *)(uintptr_t) "\xc3\xa9", &text, &length, err);
    if (!status)
        status = vd_json_read("in", text, length, &strings, &total, NULL, err);
    vd_free(text);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    static const size_t pieces[] = {10, 70000, 0};
    assert_true(support_fail_each_allocation(write_pieces, (void *)(uintptr_t)pieces) >= 3);
    assert_int_equal(support_count_entries(directory), 1);
    assert_true(support_fail_each_allocation(read_whole, NULL) >= 1);
    assert_true(support_fail_each_allocation(write_and_read_json, NULL) >= 6);
}

#define PROMISE(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROMISE(pieces_of_any_size_make_one_file),
        PROMISE(what_killed_processes_left_is_swept_away),
        PROMISE(a_limit_on_the_length_of_files_is_an_error_that_leaves_nothing),
        PROMISE(files_that_cannot_be_read_or_written_are_told),
        PROMISE(a_name_without_directory_is_written_where_we_are),
        PROMISE(json_goes_out_and_in_again),
        PROMISE(json_errors_have_line_and_column),
        PROMISE(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

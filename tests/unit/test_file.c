// Whole files and JSON: the parts that the readers and writers share.
#include "engine/base/file.h"

#include <errno.h>
#include <math.h>
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

static vd_status write_word(const char *to, const char *word)
{
    vd_output *output;
    vd_status status = vd_output_create(to, &output, NULL);
    if (status)
        return status;
    assert_int_equal(vd_output_write(output, word, strlen(word), NULL), VD_OK);
    return vd_output_commit(output, NULL);
}

static void expect_word(const char *file, const char *word)
{
    char *text = support_read_file(file, NULL);
    assert_string_equal(text, word);
    free(text);
}

// Two at once, killed while they write: the next one that writes the file removes what they left.
static void what_killed_processes_left_is_swept_away(void **state)
{
    (void)state;
    for (int sweeping = 0; sweeping < 2; sweeping++) {
        vd_output *own, *second;
        pid_t gone = fork();
        if (gone == 0) {
            vd_output_create(path, &own, NULL);
            vd_output_create(path, &second, NULL);
            _exit(0);
        }
        assert_int_equal(waitpid(gone, NULL, 0), gone);
        assert_int_equal(support_count_entries(directory), 2 + sweeping);
        if (sweeping)
            vd_output_sweep(path);
        else
            assert_int_equal(write_word(path, "whole"), VD_OK);
        assert_int_equal(support_count_entries(directory), 1);
    }
    vd_output_sweep("/nowhere/at/all");
}

static void what_is_being_written_is_not_swept_away(void **state)
{
    (void)state;
    vd_output *slow;
    char *other = support_join(directory, ONE_FILE "s.visdial-0.part");
    support_write_text(other, "of another file");
    assert_int_equal(vd_output_create(path, &slow, NULL), VD_OK);
    assert_int_equal(vd_output_write(slow, "slow", 4, NULL), VD_OK);
    vd_output_sweep(path);
    assert_int_equal(write_word(path, "quick"), VD_OK);
    expect_word(path, "quick");
    assert_int_equal(vd_output_commit(slow, NULL), VD_OK);
    expect_word(path, "slow");
    assert_int_equal(support_count_entries(directory), 2);
    free(other);
}

static void a_symbolic_link_is_followed(void **state)
{
    (void)state;
    char *place = support_join(directory, "sub"), *link = support_join(place, "link");
    struct stat about;
    assert_int_equal(mkdir(place, 0777), 0);
    assert_int_equal(symlink("sub/link", path), 0);
    assert_int_equal(symlink("../real", link), 0);
    free(link);
    free(place);
    place = support_join(directory, "real");
    for (int there = 0; there < 2; there++) { // a link to nothing yet, then to a file
        assert_int_equal(write_word(path, there ? "second" : "first"), VD_OK);
        expect_word(place, there ? "second" : "first");
        assert_int_equal(lstat(path, &about), 0);
        assert_true(S_ISLNK(about.st_mode));
        assert_int_equal(support_count_entries(directory), 3);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(ONE_FILE, path), 0);
    vd_error err = {0};
    support_refused(vd_output_try(path, &err), VD_IO, &err, path, strerror(ELOOP), NULL);
    free(place);
}

// A link at the temporary name leads nowhere, whoever made it.
static void a_planted_link_is_not_followed(void **state)
{
    (void)state;
    char *victim = support_join(directory, "victim"), *planted;
    support_write_text(victim, "untouched");
    planted = support_join(directory, ONE_FILE ".visdial-0.part");
    assert_int_equal(symlink("victim", planted), 0);
    assert_int_equal(write_word(path, "written"), VD_OK);
    expect_word(path, "written");
    expect_word(victim, "untouched");
    assert_int_equal(unlink(planted), 0);
    assert_int_equal(mkfifo(planted, 0600), 0); // nor waited for
    assert_int_equal(write_word(path, "again"), VD_OK);
    expect_word(path, "again");
    free(planted);
    free(victim);
}

static void the_mode_of_what_is_replaced_is_kept(void **state)
{
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0666, 0444};
    struct stat about;
    mode_t mask = umask(022);
    assert_int_equal(write_word(path, "new"), VD_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0644);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        vd_output *output;
        char *part = support_join(directory, ONE_FILE ".visdial-0.part");
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(vd_output_create(path, &output, NULL), VD_OK);
        assert_int_equal(stat(part, &about), 0);
        assert_int_equal(about.st_mode & 0077, 0); // nobody else reads it before
        assert_int_equal(vd_output_commit(output, NULL), VD_OK);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode & 0777, modes[i]);
        free(part);
    }
    umask(mask);
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

// What a full disk takes only a part of is not there afterwards.
static void an_end_is_added_whole_or_not_at_all(void **state)
{
    (void)state;
    struct rlimit old, limit;
    vd_error err = {0};
    int file;
    char *text = calloc(1, 4097);
    memset(text, 'x', 4000);
    support_write_text(path, text);
    assert_int_equal(vd_file_extend(path, 0600, &file, &err), VD_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    vd_status status = vd_file_append(file, path, text, 97, &err);
    vd_status fits = vd_file_append(file, path, "y", 1, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    support_refused(status, VD_IO, &err, path, strerror(EFBIG), NULL);
    assert_int_equal(fits, VD_OK);
    assert_int_equal(vd_file_append(file, path, "z\n", 2, &err), VD_OK);
    close(file);
    memcpy(text + 4000, "yz\n", 3);
    expect_word(path, text);
    free(text);
}

static void a_pipe_is_refused_and_not_waited_for(void **state)
{
    (void)state;
    vd_error err = {0};
    size_t size;
    int file;
    char *data;
    assert_int_equal(mkfifo(path, 0600), 0);
    support_refused(vd_file_extend(path, 0600, &file, &err), VD_FORMAT, &err, path, "pipe", NULL);
    assert_int_equal(file, -1);
    support_refused(vd_file_read(path, 10, &data, &size, &err), VD_FORMAT, &err, path, "pipe",
                    NULL);
    assert_int_equal(vd_file_extend("/dev/null", 0600, &file, &err), VD_OK);
    assert_int_equal(vd_file_append(file, "/dev/null", "x", 1, &err), VD_OK);
    close(file);
    support_refused(vd_file_extend(directory, 0600, &file, &err), VD_IO, &err, directory, NULL);
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

static yajl_gen_status put_parts(yajl_gen gen, void *context)
{
    static const char *const texts[] = {"a", "\"b\""};
    static const float numbers[] = {0.1f, INFINITY};
    const bool yes = true;
    vd_json_put(gen, "{none: null, %s: [%d, %ld, %lld, %zu", "R@1", -1, 2L, 3LL, (size_t)4);
    vd_json_put(gen, "%.9g, %g, %g], empty: %s, val-limit: {is_it: %hhd, word", 0.1 + 0.2, 1e-7,
                (double)NAN, "", yes);
    vd_json_put(gen, "false}, texts:");
    vd_json_put_texts(gen, texts, 2);
    vd_json_put(gen, "numbers:\n");
    vd_json_put_numbers(gen, numbers, 2);
    return vd_json_put(gen, "%s: {}}", (const char *)context);
}

static void json_is_put_as_the_format_says(void **state)
{
    (void)state;
    char *text;
    size_t length;
    vd_error err = {0};
    assert_int_equal(
        vd_json_write("out", put_parts, (void *)(uintptr_t) "end", &text, &length, &err), VD_OK);
    assert_string_equal(text, "{\"none\":null,\"R@1\":[-1,2,3,4,0.3,1e-07,null],\"empty\":\"\","
                              "\"val-limit\":{\"is_it\":true,\"word\":\"false\"},"
                              "\"texts\":[\"a\",\"\\\"b\\\"\"],"
                              "\"numbers\":[0.100000001,null],\"end\":{}}");
    vd_free(text);
    support_refused(
        vd_json_write("out", put_parts, (void *)(uintptr_t) "\xff", &text, &length, &err),
        VD_FORMAT, &err, "out: a string is not valid UTF-8", NULL);
}

// As exports of transcripts put their parts.
static yajl_gen_status put_unchecked(yajl_gen json, void *context)
{
    vd_json_put(json, "{path: %s", (const char *)context);
    vd_json_put(json, "list: [");
    return vd_json_put(json, "]}");
}

static void json_says_what_is_not_utf8_wherever_it_is(void **state)
{
    (void)state;
    char *text;
    size_t length;
    vd_error err;
    support_refused(
        vd_json_write("out", put_unchecked, (void *)(uintptr_t) "\xff", &text, &length, &err),
        VD_FORMAT, &err, "out: a string is not valid UTF-8", NULL);
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
        PROMISE(what_is_being_written_is_not_swept_away),
        PROMISE(a_symbolic_link_is_followed),
        PROMISE(a_planted_link_is_not_followed),
        PROMISE(the_mode_of_what_is_replaced_is_kept),
        PROMISE(a_limit_on_the_length_of_files_is_an_error_that_leaves_nothing),
        PROMISE(an_end_is_added_whole_or_not_at_all),
        PROMISE(a_pipe_is_refused_and_not_waited_for),
        PROMISE(files_that_cannot_be_read_or_written_are_told),
        PROMISE(a_name_without_directory_is_written_where_we_are),
        PROMISE(json_goes_out_and_in_again),
        PROMISE(json_is_put_as_the_format_says),
        PROMISE(json_says_what_is_not_utf8_wherever_it_is),
        PROMISE(json_errors_have_line_and_column),
        PROMISE(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

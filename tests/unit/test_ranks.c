// Rankings in the challenge server's format, written and read.
#include "features/dialogs/ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/file.h"
#include "tests/support/support.h"

static char *directory, *path;
static vd_visdial *data; // three dialogs; images 101, 102, 103

static int set_up(void **state)
{
    (void)state;
    directory = support_temp_dir();
    path = support_join(directory, "ranks.json");
    return vd_visdial_read("tests/fixtures/dialogs.json", &data, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    vd_visdial_free(data);
    support_remove_tree(directory);
    free(path);
    free(directory);
    return 0;
}

static void write_ranks(int64_t image, int32_t round, const float *scores, int n)
{
    vd_ranks_writer *writer;
    assert_int_equal(vd_ranks_create(path, &writer, NULL), VD_OK);
    assert_int_equal(vd_ranks_add(writer, image, round, scores, n, NULL), VD_OK);
    assert_int_equal(vd_ranks_commit(writer, NULL), VD_OK);
}

static void the_file_is_what_the_server_takes(void **state)
{
    (void)state;
    vd_ranks_writer *writer;
    assert_int_equal(vd_ranks_create(path, &writer, NULL), VD_OK);
    assert_int_equal(vd_ranks_add(writer, 7, 1, (const float[]){0.5f, 2, -1}, 3, NULL), VD_OK);
    assert_int_equal(vd_ranks_add(writer, 7, 10, (const float[]){3, 2, INFINITY, NAN}, 4, NULL),
                     VD_OK);
    assert_int_equal(vd_ranks_commit(writer, NULL), VD_OK);
    char *text = support_read_file(path, NULL);
    assert_string_equal(text, "[{\"image_id\":7,\"round_id\":1,\"ranks\":[2,1,3]},\n"
                              "{\"image_id\":7,\"round_id\":10,\"ranks\":[2,3,1,4]}]\n");
    free(text);
    assert_int_equal(vd_ranks_create(path, &writer, NULL), VD_OK);
    assert_int_equal(vd_ranks_commit(writer, NULL), VD_OK);
    text = support_read_file(path, NULL);
    assert_string_equal(text, "[]\n");
    free(text);
}

// Of a hundred candidates that tie, each gets every rank about as often, whatever its place.
static void ties_are_broken_by_lot(void **state)
{
    (void)state;
    enum { N = 10, ROUNDS = 2000 };
    const float scores[N] = {0};
    double sum[N] = {0};
    vd_ranks_writer *writer;
    assert_int_equal(vd_ranks_create(path, &writer, NULL), VD_OK);
    for (int k = 0; k < ROUNDS; k++)
        assert_int_equal(vd_ranks_add(writer, k, 1 + k % 10, scores, N, NULL), VD_OK);
    assert_int_equal(vd_ranks_commit(writer, NULL), VD_OK);
    char *text = support_read_file(path, NULL), *at = text;
    for (int k = 0; k < ROUNDS; k++) {
        int seen = 0;
        at = strstr(at, "\"ranks\":[") + 9;
        for (int i = 0; i < N; i++, at++) {
            long rank = strtol(at, &at, 10);
            sum[i] += (double)rank;
            seen |= 1 << rank;
        }
        assert_int_equal(seen, (1 << (N + 1)) - 2); // each of 1..N once
    }
    for (int i = 0; i < N; i++) // mean 5.5, deviation 2.87 / sqrt(2000)
        assert_true(fabs(sum[i] / ROUNDS - 5.5) < 5 * 2.88 / sqrt(ROUNDS));
    free(text);
    // The same draw every time.
    write_ranks(5, 2, scores, N);
    char *first = support_read_file(path, NULL);
    write_ranks(5, 2, scores, N);
    text = support_read_file(path, NULL);
    assert_string_equal(text, first);
    free(text);
    free(first);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    const vd_visdial_dialog *dialog = &data->dialogs[1];
    int n = dialog->rounds[0].option_count;
    float scores[64] = {0};
    for (int i = 0; i < n; i++)
        scores[i] = (float)((i * 7) % n);
    write_ranks(dialog->image_id, 1, scores, n);
    vd_ranks *ranks;
    assert_int_equal(vd_ranks_read(path, data, &ranks, NULL), VD_OK);
    assert_int_equal(vd_ranks_irregular(ranks), 0);
    const float *own = vd_ranks_of(ranks, 1, 0);
    for (int i = 0; i < n; i++)
        assert_true(own[i] == (float)(n - (i * 7) % n));
    assert_null(vd_ranks_of(ranks, 0, 0));
    assert_null(vd_ranks_of(ranks, 1, 1));
    vd_ranks_free(ranks);
    // Two that share a place are read, but no server takes them.
    size_t size;
    char *text = support_read_file(path, &size), *at = strstr(text, "\"ranks\":[");
    assert_non_null(at);
    assert_int_equal(at[9], '0' + n);
    at[9]--;
    support_write_text(path, text);
    free(text);
    assert_int_equal(vd_ranks_read(path, data, &ranks, NULL), VD_OK);
    assert_int_equal(vd_ranks_irregular(ranks), 1);
    vd_ranks_free(ranks);
}

static void refused(const char *text, vd_status status, const char *message)
{
    vd_ranks *ranks;
    vd_error err = {0};
    support_write_text(path, text);
    support_refused(vd_ranks_read(path, data, &ranks, &err), status, &err, "ranks.json", message,
                    NULL);
    assert_null(ranks);
}

static void damaged_files_are_refused_with_their_place(void **state)
{
    (void)state;
    char text[400];
    long long image = (long long)data->dialogs[0].image_id;
    int n = data->dialogs[0].rounds[0].option_count;
    char good[200] = "1";
    for (int i = 1; i < n; i++)
        snprintf(good + strlen(good), sizeof good - strlen(good), ",%d", i + 1);
    refused("[]", VD_FORMAT, "there are no ranks of ");
    refused("{}", VD_FORMAT, "expected");
    refused("[{\"image_id\": 5", VD_FORMAT, "");
    refused("[{\"image_id\":1,\"round_id\":1}]", VD_FORMAT, "\"ranks\"");
    refused("[{\"image_id\":999999,\"round_id\":1,\"ranks\":[1]}]", VD_MISMATCH,
            "image 999999 is not in tests/fixtures/dialogs.json; are the two files of one split?");
    snprintf(text, sizeof text, "[{\"image_id\":%lld,\"round_id\":0,\"ranks\":[1]}]", image);
    refused(text, VD_FORMAT, "\"round_id\" is 0; rounds count from 1");
    snprintf(text, sizeof text, "[{\"image_id\":%lld,\"round_id\":77,\"ranks\":[1]}]", image);
    refused(text, VD_MISMATCH, "\"round_id\" is 77, but the dialog has");
    snprintf(text, sizeof text, "[{\"image_id\":%lld,\"round_id\":1,\"ranks\":[1]}]", image);
    refused(text, VD_MISMATCH, "1 ranks for");
    snprintf(text, sizeof text, "[{\"image_id\":%lld,\"round_id\":1,\"ranks\":[0]}]", image);
    refused(text, VD_FORMAT, "rank 1 is 0; expected 1 to 1000000");
    snprintf(text, sizeof text, "[{\"image_id\":%lld,\"round_id\":1,\"ranks\":[\"x\"]}]", image);
    refused(text, VD_FORMAT, "round 1");
    snprintf(text, sizeof text,
             "[{\"image_id\":%lld,\"round_id\":1,\"ranks\":[%s]},"
             "{\"image_id\":%lld,\"round_id\":1,\"ranks\":[%s]}]",
             image, good, image, good);
    refused(text, VD_FORMAT, "ranked twice; expected once");
    vd_ranks *ranks;
    vd_error err = {0};
    support_refused(vd_ranks_read("nowhere.json", data, &ranks, &err), VD_NOT_FOUND, &err,
                    "nowhere.json", NULL);
}

static vd_status write_and_read(void *context, vd_error *err)
{
    const vd_visdial_dialog *dialog = &data->dialogs[0];
    const float scores[64] = {0};
    vd_ranks_writer *writer;
    vd_ranks *ranks;
    (void)context;
    vd_status status = vd_ranks_create(path, &writer, err);
    if (status)
        return status;
    status = vd_ranks_add(writer, dialog->image_id, 1, scores, dialog->rounds[0].option_count, err);
    if (status) {
        vd_ranks_abort(writer);
        return status;
    }
    status = vd_ranks_commit(writer, err);
    if (status == VD_OK)
        status = vd_ranks_read(path, data, &ranks, err);
    if (status == VD_OK)
        vd_ranks_free(ranks);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(write_and_read, NULL) > 8);
    assert_int_equal(support_count_entries(directory), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_what_the_server_takes),
        cmocka_unit_test(ties_are_broken_by_lot),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(damaged_files_are_refused_with_their_place),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

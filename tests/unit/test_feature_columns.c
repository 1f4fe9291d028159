// features import --columns: which numbers of each region are kept.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "features/regions/import.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

enum { SIZE = 372 };

static const char *const bundled = "assets/features.safetensors";
static vd_error err;

static void lists_of_columns_are_read(void **state)
{
    (void)state;
    int *column, columns;
    must(vd_import_columns("0-2,7,9-9,371", SIZE, &column, &columns, &err), &err);
    const int expected[] = {0, 1, 2, 7, 9, 371};
    assert_int_equal(columns, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(column[i], expected[i]);
    vd_free(column);
    static const char *const bad[] = {
        "",   "a",    "1,",  "1,1",  "3,2", "5-4",   "0-372", "372",
        "-1", "1--2", "1 2", "1,2-", ",1",  "1-2-3", "0-9,9", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        support_refused(vd_import_columns(bad[i], SIZE, &column, &columns, &err), VD_USAGE, &err,
                        "columns", "from 0 to 371", NULL);
        assert_null(column);
    }
}

static vd_regions *open_features(const char *path)
{
    vd_regions *regions;
    must(vd_regions_open(path, &regions, &err), &err);
    return regions;
}

static void stop_after_two(void *context, size_t done)
{
    atomic_store((atomic_int *)context, done >= 2);
}

static void columns_are_kept_and_boxes_stay(void **state)
{
    (void)state;
    const int column[] = {0, 5, 100, 270, 371};
    enum { KEPT = sizeof column / sizeof *column, MOST = 36 };
    static float whole[MOST * SIZE], boxes[MOST * 4], less[MOST * KEPT], same[MOST * 4];
    char *directory = support_temp_dir(), *out = support_join(directory, "out.safetensors");
    vd_regions *from = open_features(bundled);
    atomic_int stop = 0;
    size_t done;
    vd_import import = {.from = from,
                        .source = "test",
                        .out = out,
                        .column = column,
                        .columns = KEPT,
                        .stop = &stop,
                        .context = &stop,
                        .progress = stop_after_two};
    support_refused(vd_import_run(&import, &err), VD_INTERRUPTED, &err, "2 of", NULL);
    // Other columns are another work.
    const int others[] = {0, 5, 100, 270, 370};
    import.column = others;
    must(vd_import_resumed(&import, &done, &err), &err);
    assert_int_equal(done, 0);
    import.column = column;
    import.stop = NULL;
    import.progress = NULL;
    must(vd_import_resumed(&import, &done, &err), &err);
    assert_int_equal(done, 2);
    must(vd_import_run(&import, &err), &err);

    vd_regions *to = open_features(out);
    assert_int_equal(to->count, from->count);
    assert_int_equal(to->size, KEPT);
    for (size_t row = 0; row < from->count; row++) {
        must(vd_regions_read(from, row, whole, boxes, &err), &err);
        must(vd_regions_read(to, row, less, same, &err), &err);
        assert_int_equal(to->used[row], from->used[row]);
        for (int r = 0; r < from->used[row]; r++) {
            for (int i = 0; i < KEPT; i++)
                assert_true(less[r * KEPT + i] == whole[r * SIZE + column[i]]);
            for (int i = 0; i < 4; i++)
                assert_true(same[r * 4 + i] == boxes[r * 4 + i]);
        }
    }
    vd_regions_close(to);
    vd_regions_close(from);
    support_remove_tree(directory);
    free(out);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_columns_are_read),
        cmocka_unit_test(columns_are_kept_and_boxes_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

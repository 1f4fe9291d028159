// Photos are found by the image id that ends their names, in folders below, too.
#include "features/pictures/photos.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/support/must.h"
#include "tests/support/support.h"

static void photos_are_found_by_id(void **state)
{
    (void)state;
    static const char *const names[] = {"COCO_train2014_000000000009.jpg",
                                        "42.png",
                                        "VisualDialog_val2018_000000185565.JPG",
                                        "notes.txt",
                                        "000000000013.jpeg",
                                        "7.npz",
                                        "8.pnm",
                                        "cover.jpg"};
    char *directory = support_temp_dir(), *path = support_join(directory, "missing");
    char *folder = support_join(directory, "folder");
    char *below = support_join(folder, "train2014");
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(mkdir(below, 0777), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name = support_join(i < 2 ? below : folder, names[i]);
        support_write_text(name, "");
        free(name);
    }
    vd_photos *photos;
    vd_error err = {0};
    must(vd_photos_open(folder, &photos, &err), &err);
    assert_int_equal(photos->files.count, 5);
    assert_non_null(strstr(vd_photos_find(photos, 9), "train2014/COCO_train2014_000000000009.jpg"));
    assert_non_null(strstr(vd_photos_find(photos, 42), "train2014/42.png"));
    assert_non_null(strstr(vd_photos_find(photos, 185565), "folder/VisualDialog_val2018"));
    assert_non_null(vd_photos_find(photos, 13));
    assert_non_null(vd_photos_find(photos, 8));
    assert_null(vd_photos_find(photos, 7));
    assert_null(vd_photos_find(photos, 10));
    vd_photos_close(photos);
    support_refused(vd_photos_open(path, &photos, &err), VD_NOT_FOUND, &err, path, NULL);
    assert_null(photos);
    support_remove_tree(directory);
    free(below);
    free(folder);
    free(path);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photos_are_found_by_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

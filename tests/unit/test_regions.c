// Region feature files: what is written is read back, and no damaged file gets through.
#include "features/regions/regions.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define ONE_FILE "features.safetensors"

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "engine/base/safetensors.h"
#include "features/pictures/image.h"
#include "features/regions/import.h"
#include "tests/support/must.h"
#include "tests/support/one_file.h"
#include "tests/support/public_files.h"

enum { COUNT = 5, MAX = 4, SIZE = 6 };

static const int64_t ids[COUNT] = {500, 3, -7, 1000000000000, 42};

static float feature_of(size_t row, int region, int i)
{
    return (float)row + (float)region / 4.0f - (float)i / 64.0f; // exact in half precision
}

// Picture `row` has row % 3 + 1 regions, so that the last of the MAX places is never used.
static vd_region_set make_set(void)
{
    vd_region_set set;
    assert_int_equal(vd_region_set_new(COUNT, MAX, SIZE, &set, NULL), VD_OK);
    for (size_t row = 0; row < COUNT; row++) {
        set.image_id[row] = ids[row];
        set.used[row] = (int32_t)(row % 3 + 1);
        for (int p = 0; p < set.used[row]; p++) {
            for (int i = 0; i < SIZE; i++)
                set.features[(row * MAX + (size_t)p) * SIZE + (size_t)i] =
                    vd_half_from_float(feature_of(row, p, i));
            const float box[4] = {0.0f, 0.125f * (float)p, 0.5f, 1.0f};
            memcpy(set.boxes + (row * MAX + (size_t)p) * 4, box, sizeof box);
        }
    }
    return set;
}

static void write_set(void)
{
    vd_region_set set = make_set();
    vd_error err = {0};
    assert_int_equal(vd_region_set_write(&set, path, "test", &err), VD_OK);
    vd_region_set_clear(&set);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    write_set();
    vd_regions *file;
    vd_error err = {0};
    assert_int_equal(vd_regions_open(path, &file, &err), VD_OK);
    assert_int_equal(file->count, COUNT);
    assert_int_equal(file->size, SIZE);
    int max = file->max;
    assert_in_range(max, 3, MAX);
    assert_true(!file->no_boxes);
    for (size_t row = 0; row < COUNT; row++) {
        assert_int_equal(file->image_id[row], ids[row]);
        size_t found;
        assert_int_equal(vd_regions_find(file, ids[row], &found, &err), VD_OK);
        assert_int_equal(found, row);
        int used = file->used[row];
        assert_int_equal(used, row % 3 + 1);
        float features[MAX * SIZE], boxes[MAX * 4];
        memset(features, 0xff, sizeof features);
        memset(boxes, 0xff, sizeof boxes);
        assert_int_equal(vd_regions_read(file, row, features, boxes, &err), VD_OK);
        for (int p = 0; p < max; p++) {
            for (int i = 0; i < SIZE; i++)
                assert_true(features[p * SIZE + i] == (p < used ? feature_of(row, p, i) : 0.0f));
            assert_true(boxes[p * 4 + 1] == (p < used ? 0.125f * (float)p : 0.0f));
            assert_true(boxes[p * 4 + 3] == (p < used ? 1.0f : 0.0f));
        }
        assert_int_equal(vd_regions_read(file, row, features, NULL, &err), VD_OK);
    }
    float features[MAX * SIZE];
    support_refused(vd_regions_read(file, COUNT, features, NULL, &err), VD_NOT_FOUND, &err, path,
                    "row 5", NULL);
    vd_regions_close(file);
    vd_regions_close(NULL);
}

static void a_missing_picture_is_told_with_the_nearest_one(void **state)
{
    (void)state;
    write_set();
    vd_regions *file;
    vd_error err = {0};
    assert_int_equal(vd_regions_open(path, &file, &err), VD_OK);
    static const struct {
        int64_t wanted;
        const char *nearest;
    } cases[] = {{41, "nearest id is 42"},        {44, "nearest id is 42"},
                 {400, "nearest id is 500"},      {INT64_MAX, "nearest id is 1000000000000"},
                 {INT64_MIN, "nearest id is -7"}, {0, "nearest id is 3"},
                 {-3, "nearest id is -7"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t row;
        support_refused(vd_regions_find(file, cases[i].wanted, &row, &err), VD_NOT_FOUND, &err,
                        path, "5 pictures", cases[i].nearest, NULL);
    }
    vd_regions_close(file);
}

// ---- files that are not what they should be -----------------------------------------------------

// A file of one tensor kind after another; each test changes one thing.
typedef struct file_layout {
    size_t count, ids, used, max, size, box_count, box_numbers;
    vd_dtype id_type, used_type, feature_type, box_type;
    const char *leave_out;
    int64_t id[2];
    int32_t regions[2];
    float feature, box[4];
} file_layout;

static const file_layout sound = {.count = 2,
                                  .ids = 2,
                                  .used = 2,
                                  .max = 2,
                                  .size = 3,
                                  .box_count = 2,
                                  .box_numbers = 4,
                                  .id_type = VD_I64,
                                  .used_type = VD_I32,
                                  .feature_type = VD_F32,
                                  .box_type = VD_F32,
                                  .id = {7, 9},
                                  .regions = {2, 1},
                                  .feature = 0.5f,
                                  .box = {0.1f, 0.2f, 0.3f, 0.4f}};

static void put(vd_safetensors_writer *writer, const file_layout *layout, const char *name,
                vd_dtype dtype, int dims, const size_t *shape)
{
    if (!layout->leave_out || strcmp(layout->leave_out, name) != 0)
        assert_int_equal(vd_safetensors_declare(writer, name, dtype, dims, shape, NULL), VD_OK);
}

static void append_bytes(vd_safetensors_writer *writer, const file_layout *layout, const char *name,
                         const void *data, size_t elements)
{
    if (!layout->leave_out || strcmp(layout->leave_out, name) != 0)
        assert_int_equal(vd_safetensors_append(writer, data, elements, NULL), VD_OK);
}

static void write_layout(const file_layout *layout)
{
    vd_safetensors_writer *writer;
    const size_t id_shape[] = {layout->ids}, used_shape[] = {layout->used};
    const size_t shape[] = {layout->count, layout->max, layout->size};
    const size_t box_shape[] = {layout->box_count, layout->max, layout->box_numbers};
    assert_int_equal(vd_safetensors_create(path, &writer, NULL), VD_OK);
    put(writer, layout, "image_id", layout->id_type, 1, id_shape);
    put(writer, layout, "num_regions", layout->used_type, 1, used_shape);
    put(writer, layout, "features", layout->feature_type, 3, shape);
    put(writer, layout, "boxes", layout->box_type, 3, box_shape);
    unsigned char zeros[256] = {0};
    append_bytes(writer, layout, "image_id",
                 layout->id_type == VD_I64 ? (const void *)layout->id : zeros, layout->ids);
    append_bytes(writer, layout, "num_regions",
                 layout->used_type == VD_I32 ? (const void *)layout->regions : zeros, layout->used);
    float features[64], boxes[64];
    for (int i = 0; i < 64; i++) {
        features[i] = layout->feature;
        boxes[i] = layout->box[i % 4];
    }
    append_bytes(writer, layout, "features", features, layout->count * layout->max * layout->size);
    append_bytes(writer, layout, "boxes", boxes,
                 layout->box_count * layout->max * layout->box_numbers);
    assert_int_equal(vd_safetensors_commit(writer, NULL), VD_OK);
}

static vd_status open_and_read(void *context, vd_error *err)
{
    (void)context;
    float features[64], boxes[64];
    vd_regions *file;
    vd_status status = vd_regions_open(path, &file, err);
    if (status) {
        assert_null(file);
        return status;
    }
    for (size_t row = 0; !status && row < file->count; row++)
        status = vd_regions_read(file, row, features, boxes, err);
    vd_regions_close(file);
    return status;
}

static void lying_files_are_refused_with_file_and_place(void **state)
{
    (void)state;
    vd_error err = {0};
    write_layout(&sound);
    assert_int_equal(open_and_read(NULL, &err), VD_OK);
    enum { CASES = 24 };
    struct {
        file_layout layout;
        vd_status status;
        const char *words;
    } cases[CASES];
    for (int i = 0; i < CASES; i++) {
        cases[i].layout = sound;
        cases[i].status = VD_FORMAT;
    }
    int n = 0;
#define CASE(change, what)                                                                         \
    do {                                                                                           \
        file_layout *l = &cases[n].layout;                                                         \
        change;                                                                                    \
        cases[n++].words = what;                                                                   \
    } while (0)
    CASE(l->regions[0] = 0, "num_regions");
    CASE(l->regions[1] = 3, "num_regions");
    CASE(l->regions[1] = -1, "num_regions");
    CASE(l->regions[0] = INT32_MIN, "num_regions");
    CASE(l->id[1] = 7, "image 7");
    CASE(l->feature = NAN, "not finite");
    CASE(l->feature = INFINITY, "not finite");
    CASE(l->box[0] = NAN, "box");
    CASE(l->box[0] = -INFINITY, "box");
    CASE(l->box[0] = 0.35f, "0.35"); // x1 > x2
    CASE(l->box[1] = 0.45f, "0.45");
    CASE(l->box[2] = 640.0f, "640"); // pixels
    CASE(l->box[3] = -0.5f, "-0.5");
    CASE(l->feature_type = VD_I32, "I32");
    CASE(l->id_type = VD_F32, "F32");
    CASE(l->used_type = VD_F32, "F32");
    CASE(l->box_type = VD_I32, "I32");
    int shapes_from = n;
    CASE(l->ids = 1, "image_id");
    CASE(l->used = 1, "num_regions");
    CASE(l->box_count = 1, "boxes");
    CASE(l->box_numbers = 3, "boxes");
    CASE(l->leave_out = "image_id", "image_id");
    CASE(l->leave_out = "num_regions", "num_regions");
    CASE(l->leave_out = "features", "features");
    assert_int_equal(n, CASES);
    for (int i = 0; i < n; i++) {
        write_layout(&cases[i].layout);
        vd_status status = open_and_read(NULL, &err);
        support_refused(status, i < shapes_from ? VD_FORMAT : VD_MISMATCH, &err, path,
                        cases[i].words, NULL);
    }
    support_write_text(path, "no features");
    support_refused(open_and_read(NULL, &err), VD_FORMAT, &err, path, NULL);
    support_remove_tree(path);
    support_refused(open_and_read(NULL, &err), VD_NOT_FOUND, &err, path, NULL);
}

static void boxes_may_be_absent_and_a_hair_outside(void **state)
{
    (void)state;
    file_layout changed = sound;
    changed.leave_out = "boxes";
    write_layout(&changed);
    vd_regions *file;
    vd_error err = {0};
    float features[6], boxes[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    assert_int_equal(vd_regions_open(path, &file, &err), VD_OK);
    assert_false(!file->no_boxes);
    assert_int_equal(vd_regions_read(file, 0, features, boxes, &err), VD_OK);
    for (int i = 0; i < 8; i++)
        assert_true(boxes[i] == 0.0f);
    vd_regions_close(file);

    changed = sound;
    changed.box[0] = -0.001f;
    changed.box[3] = 1.001f;
    write_layout(&changed);
    assert_int_equal(vd_regions_open(path, &file, &err), VD_OK);
    assert_int_equal(vd_regions_read(file, 0, features, boxes, &err), VD_OK);
    assert_true(boxes[0] == 0.0f && boxes[3] == 1.0f);
    vd_regions_close(file);
}

static void sets_that_cannot_be_are_refused(void **state)
{
    (void)state;
    vd_region_set set;
    vd_error err = {0};
    assert_int_not_equal(vd_region_set_new(SIZE_MAX / 2, 36, 2048, &set, &err), VD_OK);
    assert_null(set.features);
    assert_int_not_equal(vd_region_set_new(1, 0, 2048, &set, &err), VD_OK);
    assert_int_not_equal(vd_region_set_new(1, 36, -1, &set, &err), VD_OK);
    set = make_set();
    set.used[2] = MAX + 1;
    support_refused(vd_region_set_write(&set, path, "test", &err), VD_USAGE, &err, path, "-7",
                    NULL);
    set.used[2] = 0;
    support_refused(vd_region_set_write(&set, path, "test", &err), VD_USAGE, &err, path, NULL);
    assert_int_equal(support_count_entries(directory), 0);
    vd_region_set_clear(&set);
    vd_region_set_clear(&set);
}

static void random_damage_never_leads_outside_the_file(void **state)
{
    (void)state;
    write_layout(&sound);
    size_t size, refused = 0;
    char *bytes = support_read_file(path, &size), *changed = malloc(size);
    vd_rng rng = vd_rng_seed(9, 9);
    for (int round = 0; round < 6000; round++) {
        memcpy(changed, bytes, size);
        for (int flips = 1 + vd_rng_below(&rng, 3); flips > 0; flips--)
            changed[vd_rng_below(&rng, (int)size)] = (char)vd_rng_next(&rng);
        support_write_file(path, changed, size);
        vd_error err = {0};
        refused += open_and_read(NULL, &err) != VD_OK;
    }
    assert_in_range(refused, 3000, 5999);
    free(changed);
    free(bytes);
}

static vd_status make_and_write(void *context, vd_error *err)
{
    (void)context;
    vd_region_set set;
    vd_status status = vd_region_set_new(2, 2, 3, &set, err);
    if (status)
        return status;
    for (int i = 0; i < 2; i++) {
        set.image_id[i] = i;
        set.used[i] = 1;
    }
    status = vd_region_set_write(&set, path, "test", err);
    vd_region_set_clear(&set);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(make_and_write, NULL) > 10);
    assert_int_equal(support_count_entries(directory), 1);
    assert_true(support_fail_each_allocation(open_and_read, NULL) > 8);
}

// ---- boxes in pixels ----------------------------------------------------------------------------

// Those of pictures of 200 x 100 pixels.
static void expect_boxes(const vd_regions *regions, size_t picture)
{
    float features[PUBLIC_REGIONS * PUBLIC_SIZE], box[PUBLIC_REGIONS * 4], expected[4];
    vd_error err = {0};
    size_t row;
    must(vd_regions_find(regions, public_image(picture), &row, &err), &err);
    must(vd_regions_read(regions, row, features, box, &err), &err);
    for (size_t p = 0; p < PUBLIC_REGIONS; p++) {
        public_box(picture, p, expected);
        for (size_t c = 0; c < 4; c++)
            assert_float_equal(box[4 * p + c], expected[c] / (c % 2 ? 100.0f : 200.0f), 1e-6);
    }
}

// Boxes in pixels of pictures whose size only their photos say.
static void photos_tell_how_large_pictures_are(void **state)
{
    (void)state;
    vd_regions *regions;
    vd_photos *photos;
    vd_image image;
    vd_error err = {0};
    float features[PUBLIC_REGIONS * PUBLIC_SIZE], box[PUBLIC_REGIONS * 4];
    size_t row;
    char *directory_of_photos = support_join(directory, "photos");
    mkdir(directory_of_photos, 0777);
    must(vd_image_new(200, 100, &image, &err), &err);
    for (size_t i = 0; i < PUBLIC_IMAGES; i++) {
        char name[64];
        snprintf(name, sizeof name, "photos/VisualDialog_val2018_%012lld.png",
                 (long long)public_image(i));
        char *photo = support_join(directory, name);
        must(vd_image_write_png(photo, &image, &err), &err);
        free(photo);
    }
    vd_image_clear(&image);
    public_challenge(path, "pixel places");
    must(vd_regions_open(path, &regions, &err), &err);
    assert_false(!regions->no_boxes);
    assert_non_null(strstr(regions->no_boxes, "--images"));
    must(vd_regions_read(regions, 0, features, box, &err), &err); // without them
    must(vd_photos_open(directory_of_photos, &photos, &err), &err);
    vd_regions_use_photos(regions, photos);
    assert_true(!regions->no_boxes);
    for (size_t i = 0; i < PUBLIC_IMAGES; i++)
        expect_boxes(regions, i);
    vd_photos_close(photos);
    // One is missing.
    char *gone = support_join(directory, "photos/VisualDialog_val2018_000000000007.png");
    assert_int_equal(remove(gone), 0);
    must(vd_photos_open(directory_of_photos, &photos, &err), &err);
    vd_regions_use_photos(regions, photos);
    must(vd_regions_find(regions, 7, &row, &err), &err);
    support_refused(vd_regions_read(regions, row, features, box, &err), VD_NOT_FOUND, &err, path,
                    "image 7", "photos", NULL);
    vd_photos_close(photos);
    vd_regions_close(regions);
    // Nothing changes where the file says it itself.
    public_challenge(path, "sized places");
    must(vd_regions_open(path, &regions, &err), &err);
    must(vd_photos_open(directory_of_photos, &photos, &err), &err);
    vd_regions_use_photos(regions, photos);
    expect_boxes(regions, 1);
    vd_regions_close(regions);
    vd_photos_close(photos);
    // Boxes in 0..1 stay as they are, whether or not the file has the sizes of pictures.
    public_challenge(path, "unit sized places");
    must(vd_regions_open(path, &regions, &err), &err);
    expect_boxes(regions, 1);
    vd_regions_close(regions);
    support_remove_tree(directory_of_photos);
    free(gone);
    free(directory_of_photos);
}

static void stop_after_two(void *context, size_t done)
{
    atomic_store((atomic_int *)context, done >= 2);
}

// Of a folder, the files themselves count: one of them written again makes another work.
static void an_import_of_changed_files_starts_over(void **state)
{
    (void)state;
    vd_regions *from;
    vd_error err = {0};
    atomic_int stop = 0;
    size_t done = 9;
    char *folder = support_join(directory, "npy"), *out_path = support_join(directory, "out");
    public_folder(folder, "npy");
    must(vd_regions_open(folder, &from, &err), &err);
    vd_import import = {.from = from,
                        .source = "test",
                        .out = out_path,
                        .stop = &stop,
                        .context = &stop,
                        .progress = stop_after_two};
    support_refused(vd_import_run(&import, &err), VD_INTERRUPTED, &err, "2 of 3", NULL);
    vd_regions_close(from);
    char *name = public_file_name(folder, 0, "npy");
    const struct timespec past[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, name, past, 0), 0);
    must(vd_regions_open(folder, &from, &err), &err);
    import.from = from;
    must(vd_import_resumed(&import, &done, &err), &err);
    assert_int_equal(done, 0);
    import.stop = NULL;
    import.progress = NULL;
    must(vd_import_run(&import, &err), &err);
    vd_regions_close(from);
    support_remove_tree(folder);
    remove(out_path);
    free(name);
    free(folder);
    free(out_path);
}

#define PROMISE(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROMISE(what_is_written_is_read_back),
        PROMISE(a_missing_picture_is_told_with_the_nearest_one),
        PROMISE(lying_files_are_refused_with_file_and_place),
        PROMISE(boxes_may_be_absent_and_a_hair_outside),
        PROMISE(sets_that_cannot_be_are_refused),
        PROMISE(random_damage_never_leads_outside_the_file),
        PROMISE(every_failed_allocation_is_reported),
        PROMISE(photos_tell_how_large_pictures_are),
        PROMISE(an_import_of_changed_files_starts_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Region features are read from every public layout, nothing damaged is accepted, and importing
// keeps what was read.
#include "features/regions/regions.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/regions/import.h"
#include "tests/support/must.h"
#include "tests/support/program.h"
#include "tests/support/public_files.h"
#include "tests/support/support.h"

static char *directory, *path, *index_path, *out_path, *folder;

static int set_up(void **state)
{
    (void)state;
    // Large blocks apart from the heap, which stays small: who reads far beyond it crashes.
    mallopt(M_MMAP_THRESHOLD, 1 << 17);
    directory = support_temp_dir();
    path = support_join(directory, "val_btmup_f.hdf5");
    index_path = support_join(directory, "val_imgid2idx.pkl");
    out_path = support_join(directory, "out.safetensors");
    folder = support_join(directory, "folder");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    free(path);
    free(index_path);
    free(out_path);
    free(folder);
    return 0;
}

// ---- writing every layout -----------------------------------------------------------------------

static void write_text(const char *text)
{
    support_write_text(path, text);
}

static char *npy_name(size_t picture, const char *suffix)
{
    return public_file_name(folder, picture, suffix);
}

static void write_folder(const char *suffix)
{
    public_folder(folder, suffix);
}

static const char *write_layout(int layout)
{
    bool in_folder = layout == PUBLIC_NPZ || layout == PUBLIC_NPY;
    public_layout(layout, in_folder ? folder : path, index_path);
    return in_folder ? folder : path;
}

// ---- what is read -------------------------------------------------------------------------------

static void expect_picture(const vd_regions *regions, size_t picture, bool all, bool boxes)
{
    float features[PUBLIC_REGIONS * PUBLIC_SIZE], box[PUBLIC_REGIONS * 4];
    vd_error err = {0};
    size_t row, used = all ? PUBLIC_REGIONS : public_used(picture);
    must(vd_regions_find(regions, public_image(picture), &row, &err), &err);
    assert_int_equal(regions->image_id[row], public_image(picture));
    assert_int_equal(regions->used[row], used);
    memset(features, 1, sizeof features);
    must(vd_regions_read(regions, row, features, box, &err), &err);
    for (size_t p = 0; p < PUBLIC_REGIONS; p++) {
        float expected[4];
        public_box(picture, p, expected);
        for (size_t k = 0; k < PUBLIC_SIZE; k++)
            assert_float_equal(features[p * PUBLIC_SIZE + k],
                               p < used ? public_feature(picture, p, k) : 0, 0);
        for (size_t c = 0; c < 4; c++)
            assert_float_equal(box[4 * p + c],
                               boxes && p < used ? expected[c] / (c % 2 ? 100.0f : 200.0f) : 0,
                               1e-6);
    }
}

static void expect_all(const char *from, int layout)
{
    vd_regions *regions;
    vd_error err = {0};
    must(vd_regions_open(from, &regions, &err), &err);
    bool all = layout <= PUBLIC_CHALLENGE_UNIT && layout != PUBLIC_CHALLENGE_COUNTS,
         boxes = !regions->no_boxes;
    assert_int_equal(boxes, layout >= PUBLIC_CHALLENGE_SIZED && layout != PUBLIC_NPY);
    assert_int_equal(!regions->no_boxes, boxes);
    assert_int_equal(regions->count, PUBLIC_IMAGES);
    assert_int_equal(regions->max, PUBLIC_REGIONS);
    assert_int_equal(regions->size, PUBLIC_SIZE);
    for (size_t i = PUBLIC_IMAGES; i-- > 0;)
        expect_picture(regions, i, all, boxes);
    vd_regions_close(regions);
}

static void every_layout_is_read(void **state)
{
    (void)state;
    for (int layout = 0; layout < PUBLIC_LAYOUTS; layout++)
        expect_all(write_layout(layout), layout);
}

static void boxes_beyond_the_picture_are_cut(void **state)
{
    (void)state;
    write_folder("npz");
    char *name = npy_name(1, "npz");
    public_npz(name, 1, "box");
    vd_regions *regions;
    vd_error err = {0};
    float features[PUBLIC_REGIONS * PUBLIC_SIZE], box[PUBLIC_REGIONS * 4];
    size_t row;
    must(vd_regions_open(folder, &regions, &err), &err);
    must(vd_regions_find(regions, 7, &row, &err), &err);
    // Twenty-five pictures wide is no detector's box.
    support_refused(vd_regions_read(regions, row, features, box, &err), VD_FORMAT, &err, folder,
                    "image 7, region 1", "25", NULL);
    vd_regions_close(regions);
    free(name);
}

static void real_samples_are_imported(void **state)
{
    (void)state;
    static const char *const files[] = {"data/features/features_faster_rcnn_x101_val_sample.h5",
                                        "data/features/val_btmup_f_sample.hdf5",
                                        "data/features/bottom_up_sample.tsv", "data/features"};
    static const size_t counts[] = {8, 3, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        vd_regions *from, *made;
        vd_error err = {0};
        must(vd_regions_open(support_shared(files[i]), &from, &err), &err);
        assert_int_equal(from->count, counts[i]);
        vd_import import = {.from = from, .source = "sample", .out = out_path};
        must(vd_import_run(&import, &err), &err);
        must(vd_regions_open(out_path, &made, &err), &err);
        size_t p = (size_t)from->max, d = (size_t)from->size;
        float *a = calloc(p * d, sizeof *a), *b = calloc(p * d, sizeof *b);
        float *x = calloc(p, 4 * sizeof *x), *y = calloc(p, 4 * sizeof *y);
        assert_int_equal(!from->no_boxes, !made->no_boxes);
        for (size_t row = 0; row < counts[i]; row++) {
            assert_int_equal(from->image_id[row], made->image_id[row]);
            must(vd_regions_read(from, row, a, x, &err), &err);
            must(vd_regions_read(made, row, b, y, &err), &err);
            for (size_t k = 0; k < p * d; k++)
                assert_float_equal(b[k], vd_half_to_float(vd_half_from_float(a[k])), 0);
            assert_memory_equal(x, y, p * 4 * sizeof *x);
        }
        free(a);
        free(b);
        free(x);
        free(y);
        vd_regions_close(from);
        vd_regions_close(made);
    }
}

// ---- what is refused ----------------------------------------------------------------------------

// Opens and reads everything; the first failure.
static vd_status read_all(const char *from, vd_error *err)
{
    vd_regions *regions = NULL;
    float features[64 * PUBLIC_SIZE], boxes[64 * 4];
    vd_status status = vd_regions_open(from, &regions, err);
    for (size_t i = 0; status == VD_OK && i < regions->count; i++)
        status = vd_regions_read(regions, i, features, boxes, err);
    assert_true(status == VD_OK || regions || err->status == status);
    vd_regions_close(regions);
    return status;
}

typedef struct damage {
    const char *wrong; // or the text that is replaced
    const char *by;
    const char *said[3];
} damage;

static void expect_words(const char *from, const damage *d, const char *file)
{
    vd_error err = {0};
    vd_status status = read_all(from, &err);
    if (status != VD_FORMAT && status != VD_MISMATCH)
        fail_msg("'%s': %s", d->wrong, status ? err.text : "accepted");
    if (!strstr(err.text, file))
        fail_msg("'%s': \"%s\" does not name the file", d->wrong, err.text);
    for (int k = 0; k < 3 && d->said[k]; k++)
        if (!strstr(err.text, d->said[k]))
            fail_msg("'%s': \"%s\" lacks \"%s\"", d->wrong, err.text, d->said[k]);
}

static void damaged_hdf5_is_refused(void **state)
{
    (void)state;
    static const damage challenge[] = {
        {"fraction", NULL, {"\"image_id\"[1] is 7.5", "whole number"}},
        {"negative", NULL, {"\"image_id\"[1] is -7"}},
        {"nan id", NULL, {"\"image_id\"[1] is", "nan"}},
        {"twice", NULL, {"image 42", "rows 0 and 1"}},
        {"nan", NULL, {"image 7, region 3", "feature 3 is not finite"}},
        {"no boxes of one", NULL, {"image 7", "is 0, expected 1 to 4"}},
        {"many boxes", NULL, {"image 7", "is 5, expected 1 to 4"}},
        {"no ids", NULL, {"\"image_ids\""}},
        {"fewer ids", NULL, {"\"image_id\" has 2 rows", "expected 3"}},
        {"flat", NULL, {"\"features\" has 2 dimensions", "3 are expected"}},
        {"empty", NULL, {"no pictures"}},
        {"text", NULL, {"\"features\" does not hold numbers"}},
        {"wide numbers", NULL, {"numbers of 64 bytes in \"features\"", "at most 16"}},
        {"no features", NULL, {"neither \"features\""}},
        {"narrow places", NULL, {"\"boxes\" has the shape 3 x 4 x 3", "expected 3 x 4 x 4"}},
        {"places of nothing", NULL, {"\"image_w\"", "picture 1 has 0 x 100 pixels"}},
        {"wild places", NULL, {"image 7, region 3", "x1 y1 x2 y2 in 0..1"}},
        {"turned places", NULL, {"image 7, region 3", "its box is"}},
    };
    static const damage adaptive[] = {
        {"range", NULL, {"\"pos_boxes\"[1]", "4 to 8", "7 rows"}},
        {"empty range", NULL, {"\"pos_boxes\"[1]", "4 to 4"}},
        {"negative range", NULL, {"\"pos_boxes\"[1] is -1"}},
        {"box", NULL, {"image 7, region 1", "0.05 0 20 0.3"}},
        {"box order", NULL, {"image 7, region 1", "0.9"}},
        {"spatial rows", NULL, {"\"spatial_features\"", "6 x 6", "7 x 6"}},
        {"no ranges", NULL, {"\"pos_boxes\""}},
        {"columns", NULL, {"\"pos_boxes\" has 3 columns"}},
        {"unwritten ranges", NULL, {"\"pos_boxes\"", "1099511627776 rows", "only 0 bytes"}},
        {"row", NULL, {"image 42 row 3", "3 rows"}},
    };
    for (size_t i = 0; i < sizeof challenge / sizeof *challenge; i++) {
        public_challenge(path, challenge[i].wrong);
        expect_words(path, &challenge[i], path);
    }
    for (size_t i = 0; i < sizeof adaptive / sizeof *adaptive; i++) {
        public_adaptive(path, index_path, adaptive[i].wrong);
        expect_words(path, &adaptive[i], path);
    }
    // Without the file beside it.
    vd_error err = {0};
    public_adaptive(path, NULL, NULL);
    remove(index_path);
    support_refused(read_all(path, &err), VD_NOT_FOUND, &err, path, "val_imgid2idx.pkl", "--index",
                    NULL);
    // Cut off.
    size_t size;
    public_challenge(path, NULL);
    char *bytes = support_read_file(path, &size);
    for (size_t keep = size - 8; keep > 600; keep -= 300) {
        support_write_file(path, bytes, keep);
        expect_words(path, &(damage){"cut", NULL, {"HDF5"}}, path);
    }
    free(bytes);
}

// libhdf5 1.10 itself crashes on some of these: 1.10.8 with a word at byte 120 or 168.
static void hdf5_that_libhdf5_cannot_bear_is_refused(void **state)
{
    (void)state;
    enum { MOST = 1024 };
    size_t size, refused = 0;
    const uint64_t most = UINT64_MAX;
    public_challenge(path, NULL);
    char *bytes = support_read_file(path, &size);
    for (size_t at = 16; at + 8 <= size && at < MOST; at += 8) {
        uint64_t word;
        vd_error err = {0};
        memcpy(&word, bytes + at, 8);
        if (word == 0)
            continue;
        memcpy(bytes + at, &most, 8);
        support_write_file(path, bytes, size);
        vd_status status = read_all(path, &err);
        if (status != VD_OK && (status != VD_FORMAT || !strstr(err.text, path)))
            fail_msg("byte %zu: status %d, '%s'", at, status, err.text);
        refused += status != VD_OK;
        memcpy(bytes + at, &word, 8);
    }
    assert_true(refused > 10);
    free(bytes);
}

// Where libhdf5 crashes, one picture is refused, and no program ends.
static void a_chunk_that_libhdf5_cannot_bear_is_refused(void **state)
{
    (void)state;
    vd_regions *regions;
    vd_error err = {0};
    public_chunks(path, 1);
    must(vd_regions_open(path, &regions, &err), &err);
    size_t numbers = (size_t)regions->max * (size_t)regions->size;
    float *features = malloc(numbers * sizeof *features);
    for (int again = 0; again < 2; again++) {
        must(vd_regions_read(regions, 0, features, NULL, &err), &err);
        support_refused(vd_regions_read(regions, 1, features, NULL, &err), VD_FORMAT, &err, path,
                        "libhdf5 1.", "crashes on rows 1 to 2 of \"features\"", NULL);
        must(vd_regions_read(regions, 2, features, NULL, &err), &err);
    }
    free(features);
    vd_regions_close(regions);
    static const char *const commands[][3] = {{"info", NULL}, {"features", "info", NULL}};
    for (size_t i = 0; i < 2; i++) {
        support_program program;
        const char *arguments[4] = {commands[i][0], commands[i][1]};
        arguments[1 + i] = path;
        support_program_run(&program, arguments, NULL);
        support_program_expect(&program, 4, "crashes on rows 1 to 2 of \"features\"", NULL);
        assert_non_null(strstr(program.out, "readable    no"));
        support_program_clear(&program);
    }
}

static void write_replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    size_t size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    write_text(out);
    free(out);
}

static void damaged_tsv_is_refused(void **state)
{
    (void)state;
    static const damage list[] = {
        {"7\t200", "x\t200", {"line 2", "image id \"x\""}},
        {"7\t200", "\t200", {"line 2", "image id"}},
        {"7\t200", "7\t0", {"line 2", "image 7", "width"}},
        {"7\t200", "7\t2e2", {"line 2", "width"}},
        {"7\t200", "7\t-200", {"line 2", "width"}},
        {"7\t200", "42\t200", {"image 42", "twice", "rows 0 and 1"}},
        {"7\t200", "7 200", {"line 2", "5 columns", "6, as in the lines before"}},
        {"7\t200", "7\t\t200", {"line 2", "7 columns"}},
        {"42\t200", "42\t9\t200", {"line 1", "7 columns", "10 (LXMERT)"}},
        {"100\t4\t", "100\t0\t", {"line 2", "number of boxes"}},
        {"100\t4\t", "100\t3\t", {"line 2", "boxes of", "3 x 4"}},
        {"100\t4\t", "100\t4000\t", {"line 2", "number of boxes"}},
        {"100\t4\t", "100\t4\tAAAA", {"line 2", "boxes of"}},
        {"100\t4\t", "100\t4\tA", {"line 2", "boxes of"}},
        {"\r\n", "A\r\n", {"line 2", "features of"}},
        {"\r\n", "AAAA\r\n", {"line 2", "features of"}},
        {"\r\n", "\n\n", {"line 3", "1 columns"}},
    };
    char *text = public_tsv_text(0);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        write_replaced(text, list[i].wrong, list[i].by);
        expect_words(path, &list[i], path);
    }
    // One letter of a line's numbers.
    char *end = strchr(text, '\n');
    end[-10] = '*';
    write_text(text);
    expect_words(path, &(damage){"*", NULL, {"line 1", "column 6, character", "base64"}}, path);
    end[-10] = 'A';
    memcpy(strrchr(text, '\t') + 1, "AADAfwAA", 8); // NaN
    write_text(text);
    expect_words(path, &(damage){"NaN", NULL, {"image 581929", "not finite"}}, path);
    free(text);
}

static void damaged_folders_are_refused(void **state)
{
    (void)state;
    static const damage npz[] = {
        {"no x", NULL, {"\"x\""}},
        {"no bbox", NULL, {"\"bbox\""}},
        {"short x", NULL, {": x", "92 bytes"}},
        {"height", NULL, {"image_h", "from 1 on"}},
        {"two widths", NULL, {"image_w", "one number"}},
        {"box columns", NULL, {"bbox", "(4, 2)", "(4, 4)"}},
        {"box", NULL, {"image 7, region 1"}},
    };
    static const damage npy[] = {
        {"\x93NUMPY", "\x93NUMBY", {"byte 0", "NumPy"}},
        {"<f4", ">f4", {"byte", "'<f4'"}},
        {"<f4", "<c8", {"byte", "'<f4'"}},
        {"<f4", "<f8", {"96 bytes", "24 of 8"}},
        {"False", "True ", {"byte", "header"}},
        {"(4, 6)", "(5, 6)", {"96 bytes", "30 of 4"}},
        {"(4, 6)", "(4 6) ", {"byte", "header"}},
        {"(4, 6)", "(24,) ", {"1 dimensions", "(regions, numbers)"}},
        {"(4, 6)", "(6, 4)", {"(2, 6)", "expected"}},
        {"(4, 6)", "(0, 6)", {"96 bytes"}},
        {"(4, 6)", "(-4,6)", {"header"}},
        {"shape", "shave", {"header"}},
    };
    char *name = npy_name(1, "npz"), *other = npy_name(0, "npz");
    for (size_t i = 0; i < sizeof npz / sizeof *npz; i++) {
        write_folder("npz");
        public_npz(name, 1, npz[i].wrong);
        // The boxes' message comes from who checks them all, and names the folder.
        expect_words(folder, &npz[i], strcmp(npz[i].wrong, "box") == 0 ? folder : name);
    }
    size_t size;
    write_folder("npz");
    char *bytes = support_read_file(name, &size);
    bytes[size / 2] ^= 0x55;
    support_write_file(name, bytes, size / 2);
    expect_words(folder, &(damage){"cut zip", NULL, {"npz"}}, name);
    free(bytes);
    free(name);
    free(other);

    name = npy_name(1, "npy");
    for (size_t i = 0; i < sizeof npy / sizeof *npy; i++) {
        write_folder("npy");
        bytes = support_read_file(name, &size);
        char *at = bytes; // the header ends with the only line end
        while (*at != '\n' && memcmp(at, npy[i].wrong, strlen(npy[i].wrong)) != 0)
            at++;
        assert_int_not_equal(*at, '\n');
        memcpy(at, npy[i].by, strlen(npy[i].by));
        support_write_file(name, bytes, size);
        // The first file says how many numbers a region has; the second then differs.
        expect_words(folder, &npy[i], strcmp(npy[i].by, "(6, 4)") == 0 ? folder : name);
        free(bytes);
    }
    write_folder("npy");
    other = npy_name(0, "npz"); // npz have boxes, npy have none
    public_npz(other, 0, NULL);
    free(name);
    name = npy_name(1, "npy");
    expect_words(folder, &(damage){"two kinds", NULL, {"npz", "one kind"}}, name);
    free(other);
    write_folder("npy");
    char *odd = support_join(folder, "picture.npy");
    support_write_text(odd, "");
    expect_words(folder, &(damage){"name", NULL, {"picture.npy", "number"}}, folder);
    free(odd);
    free(name);
    support_remove_tree(folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    expect_words(folder, &(damage){"nothing", NULL, {"no npz or npy files"}}, folder);
}

static void damaged_indices_are_refused(void **state)
{
    (void)state;
    typedef struct pickle {
        const char *bytes;
        size_t size;
        const char *said[2];
    } pickle;
#define P(text) text, sizeof(text) - 1
    static const pickle list[] = {
        {P(""), {"byte 0", "protocol 2 to 5"}},
        {P("(dp0\nI1\nI0\ns."), {"byte 0", "protocol 2 to 5"}},
        {P("\x80\x01}K\x07K\x00s."), {"byte 0", "protocol"}},
        {P("\x80\x02}"), {"byte 3", "cut short"}},
        {P("\x80\x02}(K\x07K\x00u"), {"byte 9", "cut short"}},
        {P("\x80\x02}(K\x07K\x00"), {"byte 8", "cut short"}},
        {P("\x80\x02}(K\x07J\x00\x00"), {"byte 6", "cut short"}},
        {P("\x80\x02}(K\x07u."), {"byte 6", "not complete"}},
        {P("\x80\x02}K\x07K\x00u."), {"byte 7", "not complete"}},
        {P("\x80\x02}(K\x07K\x00s."), {"byte 8", "not complete"}},
        {P("\x80\x02}(K\x07K\x00."), {"byte 8", "complete"}},
        {P("\x80\x02}(K\x07K\x00u.x"), {"byte 9", "after the end"}},
        {P("\x80\x02K\x07."), {"byte 2", "dictionary should begin"}},
        {P("\x80\x02}}."), {"byte 3", "second dictionary"}},
        {P("\x80\x02}((K\x07K\x00u."), {"byte 4", "mark"}},
        {P("\x80\x02}(X\x01\x00\x00\x00"
           "7K\x00u."),
         {"byte 4", "0x58"}},
        {P("\x80\x02}(cos\nsystem\nK\x00u."), {"byte 4", "0x63"}},
        {P("\x80\x02}(G\x00\x00\x00\x00\x00\x00\x00\x00K\x00u."), {"byte 4", "0x47"}},
        {P("\x80\x02}(\x8a\x09"
           "123456789K\x00u."),
         {"byte 4", "eight bytes"}},
    };
    public_adaptive(path, index_path, NULL);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        support_write_file(index_path, list[i].bytes, list[i].size);
        char name[16];
        snprintf(name, sizeof name, "pickle %zu", i);
        expect_words(path, &(damage){name, NULL, {list[i].said[0], list[i].said[1]}}, index_path);
    }
    // As Python writes it with protocols 4 (a frame) and 2 (long numbers, one pair).
    static const char good[] = "\x80\x04\x95\x0e\x00\x00\x00\x00\x00\x00\x00}\x94(K\x07K\x00K*"
                               "K\x02J\x29\xe1\x08\x00K\x01u.";
    support_write_file(index_path, good, sizeof good - 1);
    expect_all(path, PUBLIC_ADAPTIVE);
    support_write_file(index_path, P("\x80\x02}q\x00\x8a\x01\x07K\x00s."));
    vd_regions *regions;
    vd_error err = {0};
    must(vd_regions_open(path, &regions, &err), &err);
    assert_int_equal(regions->count, 1);
    vd_regions_close(regions);
#undef P
}

// ---- importing ----------------------------------------------------------------------------------

static void stop_after_two(void *context, size_t done)
{
    atomic_store((atomic_int *)context, done >= 2);
}

static void imports_go_on_where_they_were(void **state)
{
    (void)state;
    for (int layout = 0; layout < PUBLIC_LAYOUTS; layout++) {
        vd_regions *from;
        vd_error err = {0};
        atomic_int stop = 0;
        size_t done = 9, whole, again;
        must(vd_regions_open(write_layout(layout), &from, &err), &err);
        vd_import import = {.from = from, .source = "test", .out = out_path};
        must(vd_import_run(&import, &err), &err);
        expect_all(out_path, layout);
        char *expected = support_read_file(out_path, &whole);
        remove(out_path);

        vd_import half = import;
        half.stop = &stop;
        half.context = &stop;
        half.progress = stop_after_two;
        support_refused(vd_import_run(&half, &err), VD_INTERRUPTED, &err, "2 of 3", NULL);
        assert_false(support_exists(out_path));
        must(vd_import_resumed(&import, &done, &err), &err);
        assert_int_equal(done, 2);
        // Another kind of number is another work.
        vd_import other = import;
        other.full = true;
        must(vd_import_resumed(&other, &done, &err), &err);
        assert_int_equal(done, 0);
        must(vd_import_run(&import, &err), &err);
        char *got = support_read_file(out_path, &again);
        assert_int_equal(whole, again);
        assert_memory_equal(expected, got, whole);
        free(got);

        must(vd_import_run(&other, &err), &err);
        expect_all(out_path, layout);
        assert_int_equal(support_count_entries(directory) - (size_t)support_exists(index_path) -
                             (size_t)support_exists(folder),
                         2 - (size_t)!support_exists(path));
        free(expected);
        vd_regions_close(from);
    }
}

// A link planted where the work lies is refused, one at the output is followed; a mode is kept.
static void imports_write_where_the_output_leads(void **state)
{
    (void)state;
    vd_regions *from;
    vd_error err = {0};
    struct stat about;
    char *real = support_join(directory, "real"), *planted = support_join(directory, "real.part");
    must(vd_regions_open(write_layout(0), &from, &err), &err);
    vd_import import = {.from = from, .source = "test", .out = out_path};
    support_write_text(real, "of mode 0600");
    remove(out_path);
    assert_int_equal(chmod(real, 0600), 0);
    assert_int_equal(symlink("real", out_path), 0);
    assert_int_equal(symlink("victim", planted), 0);
    support_refused(vd_import_run(&import, &err), VD_IO, &err, planted, strerror(ELOOP), NULL);
    assert_int_equal(unlink(planted), 0);
    must(vd_import_run(&import, &err), &err);
    expect_all(real, 0);
    assert_int_equal(stat(real, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(lstat(out_path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(unlink(out_path) + unlink(real), 0);
    vd_regions_close(from);
    free(planted);
    free(real);
}

static void what_half_precision_cannot_hold_is_refused(void **state)
{
    (void)state;
    vd_regions *from;
    vd_error err = {0};
    public_challenge(path, "large");
    must(vd_regions_open(path, &from, &err), &err);
    vd_import import = {.from = from, .source = "test", .out = out_path};
    support_refused(vd_import_run(&import, &err), VD_FORMAT, &err, path, "image 7, region 3",
                    "feature 3 is 70000", "--f32", NULL);
    import.full = true;
    must(vd_import_run(&import, &err), &err);
    vd_regions_close(from);
}

static vd_status open_and_import(void *context, vd_error *err)
{
    vd_regions *from = NULL;
    vd_status status = vd_regions_open(context, &from, err);
    vd_import import = {.from = from, .source = "test", .out = out_path};
    if (status == VD_OK)
        status = vd_import_run(&import, err);
    vd_regions_close(from);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int layout = 0; layout < PUBLIC_LAYOUTS; layout++) {
        char *from = strdup(write_layout(layout));
        assert_true(support_fail_each_allocation(open_and_import, from) > 10);
        free(from);
    }
}

// ---- the command --------------------------------------------------------------------------------

static void the_command_imports_and_describes(void **state)
{
    (void)state;
    support_program program;
    public_adaptive(path, index_path, NULL);
    support_program_run(
        &program, (const char *[]){"features", "import", path, "--out", out_path, "--force", NULL},
        NULL);
    support_program_expect(&program, 0, NULL);
    assert_non_null(strstr(program.out, "out.safetensors: 3 pictures, "));
    support_program_clear(&program);
    expect_all(out_path, PUBLIC_ADAPTIVE);
    const char *const info[] = {
        "features", "info", path, "--index", index_path, "--data", "tests/fixtures/dialogs.json",
        NULL};
    support_program_run(&program, info, NULL);
    support_program_expect(&program, 0, NULL);
    static const char *const lines[] = {
        "layout      HDF5, adaptive\n",
        "pictures    3, ids 7 to 581929\n",
        "regions     1 to 4 a picture, 2.3 on average; room for 4\n",
        "boxes       yes\n",
        "readable    all pictures\n",
        "dialogs     1 of 3 have features; image 3 is the first without\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(program.out, lines[i]))
            fail_msg("\"%s\" is not in:\n%s", lines[i], program.out);
    support_program_clear(&program);
    static const struct {
        const char *arguments[8];
        const char *said;
    } wrong[] = {
        {{"features", NULL}, "expected info or import"},
        {{"features", "info", NULL}, "info: expected a file"},
        {{"features", "info", "assets/features.safetensors", "--index", "x", NULL},
         "an index belongs to adaptive HDF5"},
        {{"features", "show", "x", NULL}, "expected info or import"},
        {{"features", "import", "x", NULL}, "--out is missing"},
        {{"features", "info", "x", "--out", "y", NULL}, "--out goes with import"},
        {{"features", "import", "x", "--out", "y", "--data", "z", NULL}, "--data goes with info"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        support_program_run(&program, wrong[i].arguments, NULL);
        support_program_expect(&program, 2, "visdial features: ", wrong[i].said, NULL);
        support_program_clear(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_is_read),
        cmocka_unit_test(boxes_beyond_the_picture_are_cut),
        cmocka_unit_test(real_samples_are_imported),
        cmocka_unit_test(damaged_hdf5_is_refused),
        cmocka_unit_test(hdf5_that_libhdf5_cannot_bear_is_refused),
        cmocka_unit_test(a_chunk_that_libhdf5_cannot_bear_is_refused),
        cmocka_unit_test(damaged_tsv_is_refused),
        cmocka_unit_test(damaged_folders_are_refused),
        cmocka_unit_test(damaged_indices_are_refused),
        cmocka_unit_test(imports_go_on_where_they_were),
        cmocka_unit_test(imports_write_where_the_output_leads),
        cmocka_unit_test(what_half_precision_cannot_hold_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_command_imports_and_describes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

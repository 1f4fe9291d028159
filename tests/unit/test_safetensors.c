// The container: what is written is read back, and nothing damaged is accepted.
#include "engine/base/safetensors.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "tests/support/support.h"

// ---- a disk that fills up
// ------------------------------------------------------------------------ The program's own
// write() and fsync() stand in for the C library's.

static long disk_room = -1; // bytes that still fit; -1 = any number
static bool sync_fails;

ssize_t write(int file, const void *data, size_t size)
{
    if (disk_room >= 0 && file > 2) {
        if (disk_room == 0) {
            errno = ENOSPC;
            return -1;
        }
        if (size > (size_t)disk_room)
            size = (size_t)disk_room;
        disk_room -= (long)size;
    }
    return syscall(SYS_write, file, data, size);
}

int fsync(int file)
{
    if (sync_fails) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, file);
}

// ---- files --------------------------------------------------------------------------------------

static char *directory, *path;

static int set_up(void **state)
{
    (void)state;
    directory = support_temp_dir();
    path = support_join(directory, "file.safetensors");
    disk_room = -1;
    sync_fails = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    free(path);
    return 0;
}

// A file from a header and data, as they are.
static void put_file(const char *header, size_t header_length, size_t claimed, const void *data,
                     size_t size)
{
    char *bytes = malloc(8 + header_length + size);
    uint64_t length = claimed;
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, header_length);
    if (size)
        memcpy(bytes + 8 + header_length, data, size);
    support_write_file(path, bytes, 8 + header_length + size);
    free(bytes);
}

static void put_header(const char *header, size_t data_size)
{
    char data[256] = {0};
    assert_true(data_size <= sizeof data);
    put_file(header, strlen(header), strlen(header), data, data_size);
}

static const float numbers[6] = {1.0f, -2.5f, 3e-8f, 65504.0f, 0.0f, 1.0f / 3.0f};
static const int64_t ids[2] = {-5, INT64_MAX};
static const int32_t counts[2] = {7, -8};

static vd_status write_sample(void *context, vd_error *err)
{
    (void)context;
    vd_safetensors_writer *writer;
    vd_status status = vd_safetensors_create(path, &writer, err);
    if (status)
        return status;
    const size_t two_three[] = {2, 3}, two[] = {2}, none[] = {0, 4};
    if ((status = vd_safetensors_put_metadata(writer, "note", "quote \" and \xc3\xa9", err)) ||
        (status = vd_safetensors_put_metadata(writer, "empty", "", err)) ||
        (status = vd_safetensors_declare(writer, "floats", VD_F32, 2, two_three, err)) ||
        (status = vd_safetensors_declare(writer, "halves", VD_F16, 2, two_three, err)) ||
        (status = vd_safetensors_declare(writer, "nothing", VD_F32, 2, none, err)) ||
        (status = vd_safetensors_declare(writer, "ids", VD_I64, 1, two, err)) ||
        (status = vd_safetensors_declare(writer, "counts", VD_I32, 1, two, err)) ||
        (status = vd_safetensors_declare(writer, "one", VD_U8, 0, NULL, err)) ||
        (status = vd_safetensors_append_floats(writer, numbers, 2, err)) ||
        (status = vd_safetensors_append_floats(writer, numbers + 2, 4, err)) ||
        (status = vd_safetensors_append_floats(writer, numbers, 6, err)) ||
        (status = vd_safetensors_append(writer, ids, 2, err)) ||
        (status = vd_safetensors_append(writer, counts, 2, err)) ||
        (status = vd_safetensors_append(writer, "x", 1, err))) {
        vd_safetensors_abort(writer);
        return status;
    }
    return vd_safetensors_commit(writer, err);
}

static vd_status read_sample(void *context, vd_error *err)
{
    vd_safetensors *file;
    vd_status status = vd_safetensors_open(context, &file, err);
    if (status)
        assert_null(file);
    vd_safetensors_close(file);
    return status;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    vd_error err;
    assert_int_equal(write_sample(NULL, &err), VD_OK);
    assert_int_equal(support_count_entries(directory), 1);
    vd_safetensors *file;
    assert_int_equal(vd_safetensors_open(path, &file, &err), VD_OK);
    assert_string_equal(vd_safetensors_path(file), path);
    assert_int_equal(vd_safetensors_count(file), 6);
    assert_string_equal(vd_safetensors_metadata(file, "note"), "quote \" and \xc3\xa9");
    assert_string_equal(vd_safetensors_metadata(file, "empty"), "");
    assert_null(vd_safetensors_metadata(file, "absent"));
    const char *key, *value;
    assert_true(vd_safetensors_metadata_at(file, 1, &key, &value)); // by key, not as written
    assert_string_equal(key, "note");
    assert_false(vd_safetensors_metadata_at(file, 2, &key, &value));
    assert_null(vd_safetensors_find(file, "absent"));
    assert_null(vd_safetensors_at(file, 6));

    const vd_tensor *tensor;
    const size_t shape[] = {2, 0};
    float floats[6];
    assert_int_equal(vd_safetensors_require(file, "floats", 2, shape, &tensor, &err), VD_OK);
    assert_int_equal(tensor->elements, 6);
    assert_int_equal((uintptr_t)tensor->data % 8, 0); // the header is padded
    assert_int_equal(vd_tensor_floats(tensor, 0, 6, floats, &err), VD_OK);
    assert_memory_equal(floats, numbers, sizeof numbers);
    assert_int_equal(vd_safetensors_require(file, "halves", 2, shape, &tensor, &err), VD_OK);
    assert_int_equal(vd_tensor_floats(tensor, 1, 5, floats, &err), VD_OK);
    for (int i = 0; i < 5; i++)
        assert_true(floats[i] == vd_half_to_float(vd_half_from_float(numbers[i + 1])));

    int64_t ints[2];
    assert_int_equal(vd_tensor_ints(vd_safetensors_find(file, "ids"), 0, 2, ints, &err), VD_OK);
    assert_memory_equal(ints, ids, sizeof ids);
    assert_int_equal(vd_tensor_ints(vd_safetensors_find(file, "counts"), 1, 1, ints, &err), VD_OK);
    assert_int_equal(ints[0], -8);
    tensor = vd_safetensors_find(file, "nothing");
    assert_int_equal(tensor->elements, 0);
    assert_int_equal(vd_tensor_floats(tensor, 0, 0, floats, &err), VD_OK);
    tensor = vd_safetensors_find(file, "one");
    assert_int_equal(tensor->dims, 0);
    assert_int_equal(tensor->elements, 1);
    assert_int_equal(*(const char *)tensor->data, 'x');
    vd_safetensors_close(file);
}

static void wrong_uses_of_a_tensor_are_errors_with_names(void **state)
{
    (void)state;
    vd_error err;
    assert_int_equal(write_sample(NULL, &err), VD_OK);
    vd_safetensors *file;
    assert_int_equal(vd_safetensors_open(path, &file, &err), VD_OK);
    const size_t shape[] = {0, 4, 5};
    const vd_tensor *tensor;
    vd_status status = vd_safetensors_require(file, "floats", 2, shape, &tensor, &err);
    support_refused(status, VD_MISMATCH, &err, path, "floats", "[2, 3]", "[?, 4]", NULL);
    assert_null(tensor);
    status = vd_safetensors_require(file, "floats", 3, shape, &tensor, &err);
    support_refused(status, VD_MISMATCH, &err, path, "floats", "[2, 3]", "[?, 4, 5]", NULL);
    status = vd_safetensors_require(file, "flats", 2, shape, &tensor, &err);
    support_refused(status, VD_MISMATCH, &err, path, "flats", "[?, 4]", NULL);

    float floats[6];
    int64_t ints[6];
    tensor = vd_safetensors_find(file, "floats");
    support_refused(vd_tensor_ints(tensor, 0, 1, ints, &err), VD_MISMATCH, &err, "F32", NULL);
    support_refused(vd_tensor_floats(tensor, 3, 4, floats, &err), VD_MISMATCH, &err, "floats",
                    NULL);
    support_refused(vd_tensor_floats(tensor, SIZE_MAX, 2, floats, &err), VD_MISMATCH, &err,
                    "floats", NULL);
    tensor = vd_safetensors_find(file, "ids");
    support_refused(vd_tensor_floats(tensor, 0, 1, floats, &err), VD_MISMATCH, &err, "I64", NULL);
    vd_safetensors_close(file);
}

static void other_number_types_become_floats(void **state)
{
    (void)state;
    const char *header = "{\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                         "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[4,12]}}";
    unsigned char data[12] = {0x80, 0x3f, 0x20, 0xc0}; // 1, -2.5
    double third = 1.0 / 3.0;
    memcpy(data + 4, &third, sizeof third);
    put_file(header, strlen(header), strlen(header), data, sizeof data);
    vd_error err;
    vd_safetensors *file;
    assert_int_equal(vd_safetensors_open(path, &file, &err), VD_OK);
    float out[2];
    assert_int_equal(vd_tensor_floats(vd_safetensors_find(file, "b"), 0, 2, out, &err), VD_OK);
    assert_true(out[0] == 1.0f && out[1] == -2.5f);
    assert_int_equal(vd_tensor_floats(vd_safetensors_find(file, "d"), 0, 1, out, &err), VD_OK);
    assert_true(out[0] == (float)third);
    vd_safetensors_close(file);
}

static void opens_whole(const char *name, const char *hidden)
{
    vd_error err = {0};
    vd_safetensors *file;
    assert_int_equal(vd_safetensors_open(name, &file, &err), VD_OK);
    assert_int_equal(vd_safetensors_count(file), 297);
    assert_string_equal(vd_safetensors_metadata(file, "hidden"), hidden);
    const vd_tensor *image;
    const size_t any[] = {2, 0, 0};
    assert_int_equal(vd_safetensors_require(file, "in.img_feat", 3, any, &image, &err), VD_OK);
    assert_int_equal(image->dtype, VD_F32);
    size_t bytes = 0;
    for (size_t t = 0; t < vd_safetensors_count(file); t++) {
        const vd_tensor *tensor = vd_safetensors_at(file, t);
        assert_ptr_equal(vd_safetensors_find(file, tensor->name), tensor);
        for (size_t e = 0; tensor->dtype == VD_F32 && e < tensor->elements; e++) {
            float value;
            assert_int_equal(vd_tensor_floats(tensor, e, 1, &value, &err), VD_OK);
            assert_true(isfinite(value));
        }
        bytes += tensor->elements * vd_dtype_size(tensor->dtype);
    }
    assert_true(bytes > 100000);
    vd_safetensors_close(file);
}

static void the_tiny_golden_file_opens(void **state)
{
    (void)state;
    opens_whole("tests/golden/data/mvan_tiny.safetensors", "8");
}

static void the_small_golden_file_opens(void **state)
{
    (void)state;
    opens_whole(support_shared("golden/mvan_small.safetensors"), "16");
}

// ---- half precision -----------------------------------------------------------------------------

// What a half means, from the definition.
static double half_value(unsigned half)
{
    int exponent = half >> 10 & 31;
    double fraction = (half & 1023) / 1024.0;
    double value = exponent == 0    ? ldexp(fraction, -14)
                   : exponent == 31 ? (half & 1023 ? (double)NAN : (double)INFINITY)
                                    : ldexp(1.0 + fraction, exponent - 15);
    return half & 0x8000 ? -value : value;
}

static void every_half_becomes_its_float_and_comes_back(void **state)
{
    (void)state;
    for (unsigned half = 0; half < 65536; half++) {
        float value = vd_half_to_float((uint16_t)half);
        double expected = half_value(half);
        if (isnan(expected)) {
            assert_true(isnan(value));
            assert_true((vd_half_from_float(value) & 0x7e00) == 0x7e00);
        } else {
            assert_true((double)value == expected && !signbit(value) == !signbit(expected));
            assert_int_equal(vd_half_from_float(value), half);
        }
    }
}

// The processor's own instruction, where there is one, says the same to the bit.
static void many_halves_widen_as_one_does(void **state)
{
    (void)state;
    enum { N = 65536 - 3 };
    uint16_t *half = vd_alloc(N, sizeof *half);
    float *value = vd_alloc(N, sizeof *value);
    for (size_t i = 0; i < N; i++)
        half[i] = (uint16_t)i;
    vd_floats_from_halves(half, N, value);
    for (size_t i = 0; i < N; i++) {
        float expected = vd_half_to_float(half[i]);
        assert_true(isnan(expected)
                        ? isnan(value[i])
                        : value[i] == expected && !signbit(value[i]) == !signbit(expected));
    }
    vd_free(half);
    vd_free(value);
}

// Conversion is monotonic, so the places where the result changes settle every float: halfway
// between two neighbours it goes to the even one, a hair beside that to the nearer one.
static void floats_round_to_the_nearest_half_ties_to_even(void **state)
{
    (void)state;
    for (unsigned half = 0; half < 0x7c00; half++) {
        double here = half_value(half);
        double above = half + 1 == 0x7c00 ? 65536.0 : half_value(half + 1);
        float middle = (float)((here + above) / 2);
        assert_true((double)middle == (here + above) / 2);
        unsigned even = half + (half & 1);
        for (unsigned sign = 0; sign <= 0x8000; sign += 0x8000) {
            float s = sign ? -1.0f : 1.0f;
            assert_int_equal(vd_half_from_float(s * middle), even | sign);
            assert_int_equal(vd_half_from_float(s * nextafterf(middle, 0.0f)), half | sign);
            assert_int_equal(vd_half_from_float(s * nextafterf(middle, INFINITY)),
                             (half + 1) | sign);
        }
    }
    assert_int_equal(vd_half_from_float(INFINITY), 0x7c00);
    assert_int_equal(vd_half_from_float(-3e38f), 0xfc00);
    assert_int_equal(vd_half_from_float(1e-45f), 0);
    assert_int_equal(vd_half_from_float(-0.0f), 0x8000);
}

#ifdef __FLT16_MAX__
static void conversion_agrees_with_the_compilers_own_type(void **state)
{
    (void)state;
    for (uint64_t wide = 0; wide <= UINT32_MAX; wide += 509) {
        uint32_t bits = (uint32_t)wide;
        float value;
        memcpy(&value, &bits, sizeof value);
        _Float16 theirs = (_Float16)value;
        uint16_t expected, ours = vd_half_from_float(value);
        memcpy(&expected, &theirs, sizeof expected);
        if (isnan(value) ? (ours & 0x7fff) <= 0x7c00 : ours != expected)
            fail_msg("float %08x: half %04x, the compiler says %04x", bits, ours, expected);
    }
}
#endif

// ---- writing ------------------------------------------------------------------------------------

static void a_full_disk_is_told_with_the_path_and_leaves_nothing(void **state)
{
    (void)state;
    vd_error err = {0};
    for (long room = 0; room < 400; room += 37) {
        disk_room = room;
        vd_status status = write_sample(NULL, &err);
        disk_room = -1;
        support_refused(status, VD_IO, &err, path, "No space left", "free some space", NULL);
        assert_int_equal(support_count_entries(directory), 0);
    }
    sync_fails = true;
    vd_status status = write_sample(NULL, &err);
    sync_fails = false;
    support_refused(status, VD_IO, &err, path, NULL);
    assert_int_equal(support_count_entries(directory), 0);
}

static void the_old_file_stays_until_the_new_one_is_complete(void **state)
{
    (void)state;
    vd_error err = {0};
    support_write_text(path, "old");
    disk_room = 100;
    assert_int_equal(write_sample(NULL, &err), VD_IO);
    disk_room = -1;
    char *content = support_read_file(path, NULL);
    assert_string_equal(content, "old");
    free(content);
    assert_int_equal(support_count_entries(directory), 1);
    assert_int_equal(write_sample(NULL, &err), VD_OK);
    assert_int_equal(read_sample(path, &err), VD_OK);
    assert_int_equal(support_count_entries(directory), 1);
}

static vd_safetensors_writer *begin_small(vd_error *err)
{
    vd_safetensors_writer *writer;
    const size_t shape[] = {3};
    assert_int_equal(vd_safetensors_create(path, &writer, err), VD_OK);
    assert_int_equal(vd_safetensors_declare(writer, "w", VD_F32, 1, shape, err), VD_OK);
    return writer;
}

static void a_writer_used_wrongly_refuses_and_leaves_nothing(void **state)
{
    (void)state;
    vd_error err = {0};
    const size_t shape[] = {3}, huge[] = {SIZE_MAX / 2, 3};

    vd_safetensors_writer *writer = begin_small(&err);
    assert_int_equal(vd_safetensors_append_floats(writer, numbers, 2, &err), VD_OK);
    support_refused(vd_safetensors_commit(writer, &err), VD_USAGE, &err, "\"w\"", "2 of its 3",
                    NULL);
    writer = begin_small(&err);
    support_refused(vd_safetensors_append_floats(writer, numbers, 4, &err), VD_USAGE, &err, "\"w\"",
                    NULL);
    assert_int_not_equal(vd_safetensors_commit(writer, &err), VD_OK);
    writer = begin_small(&err);
    assert_int_equal(vd_safetensors_append_floats(writer, numbers, 3, &err), VD_OK);
    support_refused(vd_safetensors_append(writer, numbers, 1, &err), VD_USAGE, &err, path, NULL);
    vd_safetensors_abort(writer);
    writer = begin_small(&err);
    assert_int_equal(vd_safetensors_append_floats(writer, numbers, 1, &err), VD_OK);
    support_refused(vd_safetensors_declare(writer, "v", VD_F32, 1, shape, &err), VD_USAGE, &err,
                    path, NULL);
    vd_safetensors_abort(writer);
    writer = begin_small(&err);
    support_refused(vd_safetensors_declare(writer, "w", VD_F32, 1, shape, &err), VD_USAGE, &err,
                    "twice", NULL);
    // What failed first is what comes out in the end, although nobody looked at it.
    err = (vd_error){0};
    vd_safetensors_append_floats(writer, numbers, 4, NULL);
    support_refused(vd_safetensors_commit(writer, &err), VD_USAGE, &err, "twice", NULL);
    writer = begin_small(&err);
    support_refused(vd_safetensors_declare(writer, "v", VD_F32, 2, huge, &err), VD_USAGE, &err,
                    "too large", NULL);
    vd_safetensors_abort(writer);
    writer = begin_small(&err);
    assert_int_equal(vd_safetensors_put_metadata(writer, "k", "\xff", &err), VD_OK);
    support_refused(vd_safetensors_append_floats(writer, numbers, 3, &err), VD_FORMAT, &err,
                    "UTF-8", NULL);
    vd_safetensors_abort(writer);
    vd_safetensors_abort(NULL);
    assert_int_equal(support_count_entries(directory), 0);

    char *nowhere = support_join(directory, "missing/file.safetensors");
    support_refused(vd_safetensors_create(nowhere, &writer, &err), VD_NOT_FOUND, &err, nowhere,
                    NULL);
    assert_null(writer);
    support_refused(vd_safetensors_create(directory, &writer, &err), VD_IO, &err, directory, NULL);
    free(nowhere);
}

static void every_failed_allocation_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    const size_t made = support_fail_each_allocation(write_sample, NULL);
    assert_true(made > 10);
    assert_int_equal(support_count_entries(directory), 1);
    assert_true(support_fail_each_allocation(read_sample, path) > 8);
    for (size_t n = 1; n <= made; n++) {
        support_remove_tree(path);
        vd_error err;
        vd_alloc_fail_at(n);
        assert_int_equal(write_sample(NULL, &err), VD_NO_MEMORY);
        vd_alloc_fail_at(0);
        assert_int_equal(support_count_entries(directory), 0);
    }
}

// ---- damaged files ------------------------------------------------------------------------------

#define T(rest)   "{\"t\":{" rest "}}"
#define F32_2     "\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]"
#define TWO(a, b) "{\"a\":{" a "},\"b\":{" b "}}"
#define AT(from, to, shape)                                                                        \
    "\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]"

// Header, bytes of data behind it, words that the message must have beside the file's name.
static const struct {
    const char *header;
    size_t data;
    const char *words;
} damaged[] = {
    {"", 0, "a header of 0 bytes"},
    {"[]", 0, "an array"},
    {"7", 0, "7"},
    {"null", 0, "null"},
    {"{} {}", 0, "not valid JSON at line 1"},
    {"{", 0, "not valid JSON"},
    {"{\"t\"}", 0, "not valid JSON"},
    {"{\"t\":1}", 0, "found 1"},
    {"{\"t\":[]}", 0, "an array"},
    {"{\"t\":null}", 0, "null"},
    {"{\"t\":{}}", 0, "\"t\": dtype is missing"},
    {T("\"dtype\":\"F32\",\"data_offsets\":[0,8]"), 8, "\"t\": shape is missing"},
    {T("\"dtype\":\"F32\",\"shape\":[2]"), 8, "\"t\": data_offsets is missing"},
    {T("\"dtype\":\"Q4\",\"shape\":[2],\"data_offsets\":[0,8]"), 8, "\"Q4\""},
    {T("\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]"), 8, "a string as dtype"},
    {T("\"dtype\":[],\"shape\":[2],\"data_offsets\":[0,8]"), 8, "an array"},
    {T("\"dtype\":{},\"shape\":[2],\"data_offsets\":[0,8]"), 8, "an object"},
    {T("\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]"), 8, "an array of sizes"},
    {T("\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]"), 8, "-2"},
    {T("\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]"), 8, "2.0"},
    {T("\"dtype\":\"F32\",\"shape\":[2e0],\"data_offsets\":[0,8]"), 8, "2e0"},
    {T("\"dtype\":\"F32\",\"shape\":[\"2\"],\"data_offsets\":[0,8]"), 8, "a string"},
    {T("\"dtype\":\"F32\",\"shape\":[[2]],\"data_offsets\":[0,8]"), 8, "an array"},
    {T("\"dtype\":\"F32\",\"shape\":[NaN],\"data_offsets\":[0,8]"), 8, "not valid JSON"},
    {T("\"dtype\":\"F32\",\"shape\":[true],\"data_offsets\":[0,8]"), 8, "true"},
    {T("\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,8]"), 8, "dimensions"},
    {T("\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]"), 8, "9999"},
    {T("\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,2],\"data_offsets\":[0,8]"), 8, "many"},
    {T("\"dtype\":\"F32\",\"shape\":[4611686018427387905],\"data_offsets\":[0,4]"), 4, "large"},
    {T("\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]"), 8, "12 bytes"},
    {T("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]"), 8, "two numbers"},
    {T("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]"), 8, "more than two"},
    {T("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]"), 8, "[8, 0]"},
    {T("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-8,0]"), 8, "-8"},
    {T(F32_2 ",\"extra\":1"), 8, "\"extra\""},
    {T(F32_2 ",\"dtype\":\"F32\""), 8, "dtype is given twice"},
    {T(F32_2), 7, "has 7"},
    {T(F32_2), 9, "1 bytes of data after"},
    {TWO(F32_2, F32_2), 8, "inside"},
    {TWO(AT("0", "8", "[2]"), AT("4", "12", "[2]")), 12, "\"b\" starts at byte 4"},
    {TWO(AT("0", "8", "[2]"), AT("12", "20", "[2]")), 20, "gap"},
    {TWO(AT("4", "8", "[1]"), AT("8", "12", "[1]")), 12, "\"a\" starts at byte 4"},
    {TWO(AT("0", "8", "[2]"), AT("18446744073709551608", "18446744073709551615", "[2]")), 8, "[18"},
    {"{\"t\":{" F32_2 "},\"t\":{" AT("8", "12", "[1]") "}}", 12, "two tensors are named \"t\""},
    {"{\"__metadata__\":{\"a\":1}}", 0, "found 1"},
    {"{\"__metadata__\":{\"a\":{}}}", 0, "an object"},
    {"{\"__metadata__\":{\"a\":[]}}", 0, "an array"},
    {"{\"__metadata__\":\"a\"}", 0, "a string"},
    {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, "\"a\" twice"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "given twice"},
    {"{\"__metadata__\":{\"a\\u0000b\":\"1\"}}", 0, "NUL"},
    {"{\"__metadata__\":{\"a\":\"\xff\"}}", 0, "not valid JSON"},
    {"{\"\xc3\":{" F32_2 "}}", 8, "not valid JSON"},
};

static void headers_that_lie_are_refused_with_file_and_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        put_header(damaged[i].header, damaged[i].data);
        vd_error err = {0};
        support_refused(read_sample(path, &err), VD_FORMAT, &err, path, damaged[i].words, NULL);
        assert_int_equal(read_sample(path, NULL), VD_FORMAT);
    }
    put_header(T(F32_2) "   ", 8); // and the one they are made from is fine
    vd_error err = {0};
    assert_int_equal(read_sample(path, &err), VD_OK);
}

static void lengths_that_lie_are_refused(void **state)
{
    (void)state;
    const char *header = T(F32_2);
    static const uint64_t claims[] = {0, 1, 40, 1000, 100000000, 100000001, UINT64_MAX};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        vd_error err = {0};
        put_file(header, strlen(header), claims[i], "12345678", 8);
        support_refused(read_sample(path, &err), VD_FORMAT, &err, path,
                        claims[i] == 0 ? "byte 0: a header of 0 bytes" : "header", NULL);
    }
}

static void deep_nesting_is_refused_at_once(void **state)
{
    (void)state;
    enum { DEPTH = 1 << 20 };
    char *header = malloc(DEPTH * 5);
    for (int i = 0; i < DEPTH; i++)
        memcpy(header + i * 5, "{\"a\":", 5);
    vd_error err = {0};
    put_file(header, DEPTH * 5, DEPTH * 5, NULL, 0);
    support_refused(read_sample(path, &err), VD_FORMAT, &err, path, "nested deeper than 16 levels",
                    NULL);
    memset(header, '[', DEPTH * 5);
    put_file(header, DEPTH * 5, DEPTH * 5, NULL, 0);
    support_refused(read_sample(path, &err), VD_FORMAT, &err, path, "nested deeper than 16 levels",
                    NULL);
    free(header);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    vd_error err = {0};
    assert_int_equal(write_sample(NULL, &err), VD_OK);
    size_t size;
    char *bytes = support_read_file(path, &size);
    for (size_t length = 0; length < size; length++) {
        support_write_file(path, bytes, length);
        support_refused(read_sample(path, &err), VD_FORMAT, &err, path, NULL);
    }
    support_write_file(path, bytes, size);
    assert_int_equal(read_sample(path, &err), VD_OK);
    free(bytes);
}

static void what_is_no_safetensors_file_is_told_so(void **state)
{
    (void)state;
    static const char *const others[][2] = {
        {"PK\3\4 and what a zip has", "PyTorch"},
        {"\x80\x02\x8a\x0al\xfc\x9c pickle", "PyTorch"},
        {"\x89HDF\r\n\x1a\n and more", "HDF5"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
        {"{\"vocab\": []}", "is it a safetensors file?"},
    };
    vd_error err = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        support_write_text(path, others[i][0]);
        support_refused(read_sample(path, &err), VD_FORMAT, &err, path, others[i][1], NULL);
    }
    support_refused(read_sample(directory, &err), VD_FORMAT, &err, directory, "directory", NULL);
    char *missing = support_join(directory, "missing");
    support_refused(read_sample(missing, &err), VD_NOT_FOUND, &err, missing, NULL);
    free(missing);
}

// Whatever the bytes, opening ends with a status, and what opens can be read to its last element.
static void random_damage_never_leads_outside_the_file(void **state)
{
    (void)state;
    vd_error err = {0};
    assert_int_equal(write_sample(NULL, &err), VD_OK);
    size_t size, refused = 0;
    char *bytes = support_read_file(path, &size), *changed = malloc(size);
    vd_rng rng = vd_rng_seed(20, 1);
    for (int round = 0; round < 20000; round++) {
        memcpy(changed, bytes, size);
        for (int flips = 1 + vd_rng_below(&rng, 3); flips > 0; flips--) {
            // Mostly the header: a change in the data cannot be seen.
            size_t at = (size_t)vd_rng_below(&rng, (int)(vd_rng_below(&rng, 8) ? size - 70 : size));
            changed[at] = (char)(vd_rng_below(&rng, 2) ? changed[at] ^ 1 << vd_rng_below(&rng, 8)
                                                       : (int)vd_rng_next(&rng));
        }
        support_write_file(path, changed, size);
        vd_safetensors *file;
        vd_status status = vd_safetensors_open(path, &file, &err);
        if (status) {
            refused++;
            support_refused(status, VD_FORMAT, &err, path, NULL);
            continue;
        }
        unsigned sum = 0;
        for (size_t t = 0; t < vd_safetensors_count(file); t++) {
            const vd_tensor *tensor = vd_safetensors_at(file, t);
            size_t all = tensor->elements * vd_dtype_size(tensor->dtype);
            for (size_t i = 0; i < all; i++)
                sum += ((const unsigned char *)tensor->data)[i];
        }
        assert_true(sum < 1u << 20);
        vd_safetensors_close(file);
    }
    assert_true(refused > 10000);
    free(changed);
    free(bytes);
}

#define PROMISE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROMISE(what_is_written_is_read_back),
        PROMISE(wrong_uses_of_a_tensor_are_errors_with_names),
        PROMISE(other_number_types_become_floats),
        PROMISE(the_tiny_golden_file_opens),
        PROMISE(the_small_golden_file_opens),
        PROMISE(every_half_becomes_its_float_and_comes_back),
        PROMISE(many_halves_widen_as_one_does),
        PROMISE(floats_round_to_the_nearest_half_ties_to_even),
#ifdef __FLT16_MAX__
        PROMISE(conversion_agrees_with_the_compilers_own_type),
#endif
        PROMISE(a_full_disk_is_told_with_the_path_and_leaves_nothing),
        PROMISE(the_old_file_stays_until_the_new_one_is_complete),
        PROMISE(a_writer_used_wrongly_refuses_and_leaves_nothing),
        PROMISE(every_failed_allocation_is_reported_and_leaves_nothing),
        PROMISE(headers_that_lie_are_refused_with_file_and_place),
        PROMISE(lengths_that_lie_are_refused),
        PROMISE(deep_nesting_is_refused_at_once),
        PROMISE(every_truncation_is_refused),
        PROMISE(what_is_no_safetensors_file_is_told_so),
        PROMISE(random_damage_never_leads_outside_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Packed dialogs hold what the JSON holds, and nothing damaged is accepted.
#include "features/dialogs/pack.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <glib.h>

#include "engine/base/alloc.h"
#include "engine/base/safetensors.h"
#include "features/dialogs/dataset.h"
#include "features/dialogs/store.h"
#include "features/text/vocab_file.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

static char *directory, *packed_path, *damaged_path;

static int set_up(void **state)
{
    (void)state;
    directory = support_temp_dir();
    packed_path = support_join(directory, "packed");
    damaged_path = support_join(directory, "damaged");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(directory);
    free(packed_path);
    free(damaged_path);
    return 0;
}

static vd_visdial *read_or_fail(const char *path)
{
    vd_visdial *data = NULL;
    vd_error err = {0};
    must(vd_visdial_read(path, &data, &err), &err);
    return data;
}

static vd_visdial *packed_of(const vd_visdial *data)
{
    vd_error err = {0};
    must(vd_visdial_pack(data, NULL, "a test", packed_path, &err), &err);
    return read_or_fail(packed_path);
}

static void pack_the_fixture(void)
{
    vd_visdial *data = read_or_fail("tests/fixtures/dialogs.json");
    vd_visdial_free(packed_of(data));
    vd_visdial_free(data);
}

// ---- what is kept -------------------------------------------------------------------------------

static void same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void same_round(const vd_visdial_round *a, const vd_visdial_round *b)
{
    assert_int_equal(a->question, b->question);
    assert_int_equal(a->answer, b->answer);
    assert_int_equal(a->truth, b->truth);
    assert_int_equal(a->coreference, b->coreference);
    same_text(a->family, b->family);
    assert_int_equal(a->option_count, b->option_count);
    assert_int_equal(!a->options, !b->options);
    if (a->options)
        assert_memory_equal(a->options, b->options, (size_t)a->option_count * sizeof *a->options);
}

static void same_dialogs(const vd_visdial *a, const vd_visdial *b)
{
    assert_string_equal(a->version, b->version);
    assert_string_equal(a->split, b->split);
    assert_int_equal(a->question_count, b->question_count);
    assert_int_equal(a->answer_count, b->answer_count);
    assert_int_equal(a->dialog_count, b->dialog_count);
    for (size_t i = 0; i < a->question_count; i++)
        assert_string_equal(a->questions[i], b->questions[i]);
    for (size_t i = 0; i < a->answer_count; i++)
        assert_string_equal(a->answers[i], b->answers[i]);
    for (size_t d = 0; d < a->dialog_count; d++) {
        const vd_visdial_dialog *x = &a->dialogs[d], *y = &b->dialogs[d];
        assert_int_equal(x->image_id, y->image_id);
        assert_string_equal(x->caption, y->caption);
        assert_int_equal(x->round_count, y->round_count);
        assert_ptr_equal(vd_visdial_find(b, x->image_id), y);
        for (int32_t r = 0; r < x->round_count; r++)
            same_round(&x->rounds[r], &y->rounds[r]);
    }
}

static void same_vocabulary(const vd_visdial *a, const vd_visdial *b, int64_t minimum)
{
    vd_vocab *x, *y;
    vd_error err = {0};
    must(vd_dataset_vocab(a, minimum, &x, &err), &err);
    must(vd_dataset_vocab(b, minimum, &y, &err), &err);
    assert_int_equal(vd_vocab_size(x), vd_vocab_size(y));
    for (int32_t id = 0; id < vd_vocab_size(x); id++)
        assert_string_equal(vd_vocab_word(x, id), vd_vocab_word(y, id));
    vd_vocab_free(x);
    vd_vocab_free(y);
}

static void expect_the_same(const char *json)
{
    vd_visdial *data = read_or_fail(json), *packed = packed_of(data);
    same_dialogs(data, packed);
    for (int64_t minimum = 1; minimum <= 5; minimum += 2)
        same_vocabulary(data, packed, minimum);
    // What was packed can be packed again, to the same file.
    size_t size, again;
    char *before = support_read_file(packed_path, &size);
    vd_error err = {0};
    must(vd_visdial_pack(packed, NULL, "a test", damaged_path, &err), &err);
    char *after = support_read_file(damaged_path, &again);
    assert_int_equal(size, again);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    vd_visdial_free(packed);
    vd_visdial_free(data);
}

static void packing_keeps_everything(void **state)
{
    (void)state;
    expect_the_same("tests/fixtures/dialogs.json");
    expect_the_same("tests/fixtures/dialogs_test.json");
}

static void real_samples_are_packed(void **state)
{
    (void)state;
    expect_the_same(support_shared("data/visdial/visdial_1.0_val_sample.json"));
    expect_the_same(support_shared("data/visdial/visdial_1.0_test_sample.json"));
}

static void dense_annotations_are_added(void **state)
{
    (void)state;
    vd_visdial *data = read_or_fail("tests/fixtures/dialogs.json"), *packed = packed_of(data);
    vd_error err = {0};
    must(vd_visdial_read_dense(packed, "tests/fixtures/dense.json", &err), &err);
    assert_non_null(packed->dialogs[1].rounds[1].relevance);
    assert_float_equal(packed->dialogs[1].rounds[1].relevance[0], 0.5, 0);
    vd_visdial_free(packed);
    vd_visdial_free(data);
}

// ---- what is refused ----------------------------------------------------------------------------

typedef struct damage {
    const char *tensor;
    size_t element;
    int64_t value;
    const char *said[3];
} damage;

// A copy of the packed file with one element changed.
static void write_damaged(const damage *d)
{
    size_t size;
    char *bytes = support_read_file(packed_path, &size);
    vd_safetensors *file = NULL;
    vd_error err = {0};
    must(vd_safetensors_open(packed_path, &file, &err), &err);
    const vd_tensor *tensor = vd_safetensors_find(file, d->tensor);
    if (!tensor || d->element >= tensor->elements)
        fail_msg("there is no element %zu of \"%s\"", d->element, d->tensor);
    size_t element = vd_dtype_size(tensor->dtype), total = 0;
    for (size_t i = 0; i < vd_safetensors_count(file); i++) {
        const vd_tensor *t = vd_safetensors_at(file, i);
        total += t->elements * vd_dtype_size(t->dtype);
    }
    const char *first = vd_safetensors_at(file, 0)->data;
    size_t place = size - total + (size_t)((const char *)tensor->data - first);
    memcpy(bytes + place + d->element * element, &d->value, element); // little-endian
    support_write_file(damaged_path, bytes, size);
    vd_safetensors_close(file);
    free(bytes);
}

static void expect_refused(const damage *list, size_t count)
{
    pack_the_fixture();
    for (size_t i = 0; i < count; i++) {
        write_damaged(&list[i]);
        vd_error err = {0};
        vd_visdial *data = (vd_visdial *)1;
        vd_status status = vd_visdial_read(damaged_path, &data, &err);
        if (status != VD_FORMAT || data || !strstr(err.text, damaged_path))
            fail_msg("%s[%zu] = %" PRId64 ": %s", list[i].tensor, list[i].element, list[i].value,
                     status ? err.text : "accepted");
        for (int k = 0; k < 3 && list[i].said[k]; k++)
            if (!strstr(err.text, list[i].said[k]))
                fail_msg("%s[%zu] = %" PRId64 ": \"%s\" lacks \"%s\"", list[i].tensor,
                         list[i].element, list[i].value, err.text, list[i].said[k]);
    }
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    static const damage list[] = {
        {"image_id", 1, -3, {"dialog 2", "negative"}},
        {"image_id", 1, 7, {"image 7", "has a dialog already"}},
        {"first_round", 0, 1, {"first_round[0] is 1", "expected 0"}},
        {"first_round", 1, 0, {"first_round[1] is 0"}},
        {"first_round", 1, -1, {"first_round[1] is -1"}},
        {"first_round", 2, 1000, {"first_round[2] is 1000", "up to 6"}},
        {"first_round", 2, INT64_MAX, {"first_round[2]"}},
        {"first_round", 2, INT64_MIN, {"first_round[2]"}},
        {"first_round", 3, 5, {"first_round[3] is 5"}},
        {"question", 2, 4, {"image 3, round 1", "question 4", "table of 4"}},
        {"question", 2, -1, {"image 3, round 1", "question -1"}},
        {"answer", 0, 6, {"image 7, round 1", "answer 6", "table of 6"}},
        {"answer", 0, -1, {"image 7, round 1", "no \"answer\""}},
        {"truth", 1, 4, {"image 7, round 2", "gt_index"}},
        {"truth", 1, 1, {"image 7, round 2", "points at \"no\""}},
        {"truth", 1, -1, {"image 7, round 2", "no \"gt_index\""}},
        {"options", 5, 6, {"image 12, round 1", "row of candidates"}},
        {"options", 5, -1, {"image 12, round 1", "no \"answer_options\""}},
        {"candidates", 22, 6, {"image 12, round 1", "option 2 is answer 6"}},
        {"candidates", 22, -1, {"image 12, round 1", "option 2 is answer -1"}},
        {"candidates", 22, INT32_MIN, {"image 12, round 1", "option 2"}},
        {"family", 0, 200, {"image 7, round 1", "family"}},
        {"coreference", 1, 3, {"image 7, round 2", "before the caption"}},
        {"question_start", 1, 0, {"question_start[1] is 0"}},
        {"question_start", 1, INT64_MAX, {"question_start[1]"}},
        {"question_start", 1, 3, {"question 0", "NUL"}},
        {"answer_start", 6, 9, {"answer_start[6] is 9"}},
        {"question_text", 2, 0xff, {"question 0", "UTF-8"}},
        {"question_text", 2, 0, {"question 0", "NUL"}},
        {"question_text", 24, 'x', {"question 0", "NUL"}},
        {"caption_text", 0, 0xc0, {"caption 0", "UTF-8"}},
        {"question_first", 1, 2000, {"question_first[1] is 2000"}},
        {"answer_first", 3, -1, {"answer_first[3] is -1"}},
        {"caption_first", 1, 0x7fffffff, {"caption_first[1]"}},
        {"word_count", 0, 0, {"word_count[1]"}},
        {"word_count", 3, -1, {"word_count[3] is -1"}},
    };
    expect_refused(list, sizeof list / sizeof *list);
}

// Candidates and words are looked at when they are used.
static void what_is_looked_at_late_is_refused_late(void **state)
{
    (void)state;
    pack_the_fixture();
    write_damaged(&(damage){.tensor = "candidates", .element = 22, .value = 6});
    vd_visdial *data = NULL;
    vd_error err = {0};
    must(vd_visdial_open(damaged_path, &data, &err), &err);
    must(vd_visdial_check_options(data, 0, &err), &err);
    support_refused(vd_visdial_check_options(data, 2, &err), VD_FORMAT, &err, damaged_path,
                    "image 12, round 1", "option 2 is answer 6", NULL);
    vd_visdial_free(data);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    vd_visdial *data = NULL;
    vd_error err = {0};
    support_refused(vd_visdial_read("tests/golden/data/mvan_tiny.safetensors", &data, &err),
                    VD_FORMAT, &err, "mvan_tiny", "not one of packed dialogs", NULL);
    assert_null(data);
    // Cut anywhere, it is refused.
    pack_the_fixture();
    size_t size;
    char *bytes = support_read_file(packed_path, &size);
    for (size_t keep = 0; keep < size; keep += keep < 300 ? 7 : 97) {
        support_write_file(damaged_path, bytes, keep);
        support_refused(vd_visdial_read(damaged_path, &data, &err), VD_FORMAT, &err, damaged_path,
                        NULL);
    }
    // So is one that lacks a tensor.
    memcpy(strstr(bytes + 8, "\"truth\""), "\"froth\"", 7);
    support_write_file(damaged_path, bytes, size);
    support_refused(vd_visdial_read(damaged_path, &data, &err), VD_MISMATCH, &err, damaged_path,
                    "truth", NULL);
    free(bytes);
}

// ---- words counted elsewhere --------------------------------------------------------------------

static void given_counts_make_the_vocabulary(void **state)
{
    (void)state;
    char *path = support_join(directory, "counts.json");
    vd_visdial *data = read_or_fail("tests/fixtures/dialogs.json"), *packed = NULL;
    vd_word_counts counts = {0};
    vd_vocab *words = NULL, *expected = NULL;
    vd_error err = {0};
    // Another order than the data's, a tie, a word that no dialog has, one that is too rare.
    support_write_text(path, "{\"zebra\": 7, \"cube\": 5, \"a\": 7, \"is\": 4, \"ball\": 9}");
    must(vd_word_counts_read(path, &counts, &err), &err);
    must(vd_visdial_pack(data, &counts, "a test", packed_path, &err), &err);
    packed = read_or_fail(packed_path);
    same_dialogs(data, packed);
    must(vd_dataset_vocab(packed, 5, &words, &err), &err);
    must(vd_vocab_read(path, 5, &expected, &err), &err);
    static const char *const order[] = {"ball", "zebra", "a", "cube"};
    assert_int_equal(vd_vocab_size(words), VD_FIRST_WORD + 4);
    assert_int_equal(vd_vocab_size(expected), VD_FIRST_WORD + 4);
    for (int32_t i = 0; i < 4; i++) {
        assert_string_equal(vd_vocab_word(words, VD_FIRST_WORD + i), order[i]);
        assert_string_equal(vd_vocab_word(expected, VD_FIRST_WORD + i), order[i]);
    }
    assert_true(vd_visdial_hash(data) == vd_visdial_hash(packed)); // the same dialogs
    vd_vocab_free(words);
    ((vd_visdial_store *)packed)->partial = true; // dialogs left out change nothing of it
    must(vd_dataset_vocab(packed, 5, &words, &err), &err);
    assert_int_equal(vd_vocab_size(words), VD_FIRST_WORD + 4);
    vd_vocab_free(expected);
    vd_vocab_free(words);
    must(vd_dataset_own_vocab(data, 1, &expected, &err), &err); // what the dialogs themselves have
    must(vd_dataset_own_vocab(packed, 1, &words, &err), &err);
    assert_int_equal(vd_vocab_size(words), vd_vocab_size(expected));
    vd_vocab_free(expected);
    vd_vocab_free(words);
    vd_word_counts_clear(&counts);
    vd_visdial_free(packed);
    vd_visdial_free(data);
    free(path);
}

// Of a packed file only the header is read for it; a file of before says nothing there.
static void one_hash_tells_dialogs_apart(void **state)
{
    (void)state;
    vd_visdial *data = read_or_fail("tests/fixtures/dialogs.json"), *packed = packed_of(data);
    vd_visdial *other = read_or_fail("tests/fixtures/dialogs_test.json");
    uint64_t hash = vd_visdial_hash(data);
    assert_true(hash == vd_visdial_hash(packed));
    assert_true(hash != vd_visdial_hash(other));
    vd_visdial_free(packed);
    size_t size;
    char *bytes = support_read_file(packed_path, &size), *key = strstr(bytes + 8, "content");
    assert_non_null(key);
    memcpy(key, "comment", 7);
    support_write_file(damaged_path, bytes, size);
    packed = read_or_fail(damaged_path);
    assert_true(hash == vd_visdial_hash(packed));
    data->dialogs[0].rounds[0].answer = -1;
    assert_true(hash != vd_visdial_hash(data));
    free(bytes);
    vd_visdial_free(packed);
    vd_visdial_free(other);
    vd_visdial_free(data);
}

// A packed file may have more families than the reader of JSON takes (256).
static void many_families_are_packed(void **state)
{
    (void)state;
    enum { DIALOGS = 40 };
    char name[DIALOGS * 10][8];
    GString *json = g_string_new("{\"version\": \"1.0\", \"split\": \"train\", \"data\": "
                                 "{\"questions\": [\"is it red\"], \"answers\": [\"yes\", \"no\"], "
                                 "\"dialogs\": [");
    for (int d = 0; d < DIALOGS; d++) {
        g_string_append_printf(json, "%s{\"image_id\": %d, \"caption\": \"a ball\", \"dialog\": [",
                               d ? ", " : "", d);
        for (int r = 0; r < 10; r++)
            g_string_append_printf(
                json,
                "%s{\"question\": 0, \"answer\": 0, \"answer_options\": [0, 1], \"gt_index\": 0}",
                r ? ", " : "");
        g_string_append(json, "]}");
    }
    g_string_append(json, "]}}");
    support_write_text(damaged_path, json->str);
    g_string_free(json, TRUE);
    vd_visdial *data = read_or_fail(damaged_path);
    for (int i = 0; i < DIALOGS * 10; i++) {
        snprintf(name[i], sizeof name[i], "f%d", i);
        data->dialogs[i / 10].rounds[i % 10].family = name[i];
    }
    vd_visdial *packed = packed_of(data);
    same_dialogs(data, packed);
    vd_visdial_free(packed);
    vd_visdial_free(data);
}

// ---- memory -------------------------------------------------------------------------------------

static vd_status pack_and_open(void *context, vd_error *err)
{
    vd_visdial *packed = NULL;
    vd_word_counts counts = {0};
    vd_status status = vd_word_counts_read(damaged_path, &counts, err);
    if (status == VD_OK)
        status = vd_visdial_pack(context, &counts, "a test", packed_path, err);
    vd_word_counts_clear(&counts);
    if (status == VD_OK)
        status = vd_visdial_read(packed_path, &packed, err);
    vd_visdial_free(packed);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    vd_visdial *data = read_or_fail("tests/fixtures/dialogs.json");
    support_write_text(damaged_path, "{\"zebra\": 7, \"a\": 7, \"is\": 4}");
    assert_true(support_fail_each_allocation(pack_and_open, data) > 100);
    vd_visdial_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_keeps_everything),
        cmocka_unit_test(real_samples_are_packed),
        cmocka_unit_test(dense_annotations_are_added),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(what_is_looked_at_late_is_refused_late),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(given_counts_make_the_vocabulary),
        cmocka_unit_test(one_hash_tells_dialogs_apart),
        cmocka_unit_test(many_families_are_packed),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

// Dialog files: what they hold is read whatever the order of keys, and nothing damaged is accepted.
#include "features/dialogs/visdial.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

#define ONE_FILE "dialogs.json"

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "tests/support/one_file.h"

static const char *const dialogs_path = "tests/fixtures/dialogs.json";
static const char *const dense_path = "tests/fixtures/dense.json";
static vd_visdial *read_or_fail(const char *from)
{
    vd_visdial *data;
    vd_error err = {0};
    if (vd_visdial_read(from, &data, &err) != VD_OK)
        fail_msg("%s", err.text);
    return data;
}

// ---- what is read -----------------------------------------------------

static void a_file_is_read_in_any_key_order(void **state)
{
    (void)state;
    vd_visdial *data = read_or_fail(dialogs_path);
    assert_string_equal(data->path, dialogs_path);
    assert_string_equal(data->version, "1.0");
    assert_string_equal(data->split, "val");
    assert_int_equal(data->question_count, 4);
    assert_int_equal(data->answer_count, 6);
    assert_int_equal(data->dialog_count, 3);
    assert_string_equal(data->answers[3], "it's red");
    assert_string_equal(data->questions[0], "how many cubes are there");

    const vd_visdial_dialog *dialog = &data->dialogs[0];
    assert_int_equal(dialog->image_id, 7);
    assert_int_equal(dialog->round_count, 2);
    assert_int_equal(dialog->rounds[0].option_count, 4);
    assert_int_equal(dialog->rounds[0].options[3], 3);
    assert_int_equal(dialog->rounds[0].truth, 1);
    assert_int_equal(dialog->rounds[0].coreference, -1);
    assert_null(dialog->rounds[0].relevance);
    assert_int_equal(dialog->rounds[1].question, 1);
    assert_int_equal(dialog->rounds[1].answer, 0);
    assert_int_equal(dialog->rounds[1].coreference, 1);
    assert_string_equal(dialog->rounds[1].family, "exist");

    dialog = &data->dialogs[1];
    assert_int_equal(dialog->image_id, 3);
    assert_string_equal(dialog->caption, "a café table, “empty”");
    assert_int_equal(dialog->round_count, 3);
    assert_null(dialog->rounds[0].family);
    // Kinds of question are the same pointer when they are the same word.
    assert_ptr_equal(dialog->rounds[1].family, data->dialogs[0].rounds[0].family);
    vd_visdial_free(data);
}

static void an_image_is_found_by_its_id(void **state)
{
    (void)state;
    vd_visdial *data = read_or_fail(dialogs_path);
    assert_ptr_equal(vd_visdial_find(data, 7), &data->dialogs[0]);
    assert_ptr_equal(vd_visdial_find(data, 3), &data->dialogs[1]);
    assert_ptr_equal(vd_visdial_find(data, 12), &data->dialogs[2]);
    static const int64_t absent[] = {-1, 0, 4, 13, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(vd_visdial_find(data, absent[i]));
    vd_visdial_free(data);
}

static void test_splits_end_without_an_answer(void **state)
{
    (void)state;
    vd_visdial *data = read_or_fail("tests/fixtures/dialogs_test.json");
    const vd_visdial_dialog *dialog = &data->dialogs[0];
    assert_int_equal(dialog->rounds[0].answer, 0);
    assert_int_equal(dialog->rounds[0].option_count, 0);
    assert_null(dialog->rounds[0].options);
    assert_int_equal(dialog->rounds[1].answer, -1);
    assert_int_equal(dialog->rounds[1].truth, -1);
    assert_int_equal(dialog->rounds[1].option_count, 3);
    vd_visdial_free(data);
}

static void dense_annotations_are_added(void **state)
{
    (void)state;
    // In this language 0.5 is written 0,5; a file is not.
    char *before = strdup(setlocale(LC_ALL, NULL));
    setlocale(LC_ALL, "de_DE.UTF-8");
    vd_visdial *data = read_or_fail(dialogs_path);
    vd_error err = {0};
    if (vd_visdial_read_dense(data, dense_path, &err) != VD_OK)
        fail_msg("%s", err.text);
    const float *relevance = data->dialogs[1].rounds[1].relevance;
    assert_non_null(relevance);
    assert_float_equal(relevance[0], 0.5, 0);
    assert_float_equal(relevance[2], 1.0, 0);
    assert_float_equal(relevance[3], 0.2, 1e-7);
    assert_float_equal(data->dialogs[2].rounds[0].relevance[2], 0.25, 0);
    assert_null(data->dialogs[0].rounds[0].relevance);
    vd_visdial_free(data);
    setlocale(LC_ALL, before);
    free(before);
}

// Of no candidates, which a round of the test split may have, nothing is annotated.
static void an_annotation_may_be_empty(void **state)
{
    (void)state;
    vd_visdial *data = read_or_fail("tests/fixtures/dialogs_test.json");
    vd_error err = {0};
    support_write_text(path, "[{\"image_id\": 41, \"round_id\": 1, \"gt_relevance\": []}]");
    if (vd_visdial_read_dense(data, path, &err) != VD_OK)
        fail_msg("%s", err.text);
    vd_visdial_free(data);
}

static void the_real_samples_are_read(void **state)
{
    (void)state;
    vd_visdial *data = read_or_fail(support_shared("data/visdial/visdial_1.0_val_sample.json"));
    assert_string_equal(data->split, "val2018");
    assert_int_equal(data->question_count, 45237);
    assert_int_equal(data->answer_count, 34821);
    assert_int_equal(data->dialog_count, 97);
    for (size_t d = 0; d < data->dialog_count; d++) {
        assert_int_equal(data->dialogs[d].round_count, 10);
        assert_ptr_equal(vd_visdial_find(data, data->dialogs[d].image_id), &data->dialogs[d]);
        for (int r = 0; r < 10; r++)
            assert_int_equal(data->dialogs[d].rounds[r].option_count, 100);
    }
    vd_error err = {0};
    const char *dense =
        support_shared("data/visdial/visdial_1.0_val_sample_dense_annotations.json");
    if (vd_visdial_read_dense(data, dense, &err) != VD_OK)
        fail_msg("%s", err.text);
    size_t annotated = 0;
    for (size_t d = 0; d < data->dialog_count; d++)
        for (int r = 0; r < 10; r++)
            annotated += data->dialogs[d].rounds[r].relevance != NULL;
    assert_int_equal(annotated, 97);
    vd_visdial_free(data);

    data = read_or_fail(support_shared("data/visdial/visdial_1.0_test_sample.json"));
    assert_string_equal(data->split, "test2018");
    assert_int_equal(data->dialog_count, 50);
    size_t rounds = 0;
    for (size_t d = 0; d < data->dialog_count; d++) {
        rounds += (size_t)data->dialogs[d].round_count;
        const vd_visdial_dialog *dialog = &data->dialogs[d];
        assert_int_equal(dialog->rounds[dialog->round_count - 1].option_count, 100);
        assert_int_equal(dialog->rounds[dialog->round_count - 1].answer, -1);
    }
    assert_int_equal(rounds, 257);
    // The annotations are of other images.
    support_refused(vd_visdial_read_dense(data, dense, &err), VD_MISMATCH, &err, "image 239030",
                    "not in", NULL);
    vd_visdial_free(data);
}

// ---- what is refused -----------------------------------------------------

// Replaces the first `from` by `to` in text; free().
static char *replace(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("\"%s\" is not in the fixture", from);
    size_t size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

typedef struct damage {
    const char *from, *to;
    const char *said[4]; // what the error says, besides the file
} damage;

static void expect_refused(const char *fixture, const damage *list, size_t count, bool dense)
{
    char *text = support_read_file(fixture, NULL);
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        char *damaged = replace(text, list[i].from, list[i].to);
        support_write_text(path, damaged);
        vd_error err = {0};
        vd_visdial *data = (vd_visdial *)1;
        vd_status status;
        if (dense) {
            data = read_or_fail(dialogs_path);
            status = vd_visdial_read_dense(data, path, &err);
            // Nothing was added.
            for (size_t d = 0; d < data->dialog_count; d++)
                for (int32_t r = 0; r < data->dialogs[d].round_count; r++)
                    assert_null(data->dialogs[d].rounds[r].relevance);
            vd_visdial_free(data);
        } else {
            status = vd_visdial_read(path, &data, &err);
            assert_true(status == VD_OK || !data);
        }
        if (status == VD_OK)
            fail_msg("accepted: \"%s\" for \"%s\"", list[i].to, list[i].from);
        assert_true(status == VD_FORMAT || (dense && status == VD_MISMATCH));
        assert_int_equal(status, err.status);
        assert_non_null(strstr(err.text, path));
        for (int k = 0; k < 4 && list[i].said[k]; k++)
            if (!strstr(err.text, list[i].said[k])) {
                print_error("\"%s\" for \"%s\" gives: %s\nwithout \"%s\"\n", list[i].to,
                            list[i].from, err.text, list[i].said[k]);
                wrong++;
            }
        free(damaged);
    }
    free(text);
    assert_int_equal(wrong, 0);
}

static void damaged_dialogs_are_refused_with_their_place(void **state)
{
    (void)state;
    static const damage list[] = {
        // not JSON
        {"\"image_id\": 12", "\"image_id\" 12", {"line 10", "not valid JSON", "dialog 3"}},
        {"\"image_id\": 12", "image_id: 12", {"line 10", "not valid JSON"}},
        {"[0, 1, 2, 3]", "[0, 1, 2, 3", {"line 3", "image 7, round 1", "found a string"}},
        {"[0, 1, 2, 3]", "[0, 1,, 3]", {"line 3", "image 7, round 1"}},
        {"\"version\": \"1.0\"}", "\"version\": \"1.0\"", {"cut short", "line 16"}},
        {"\"version\": \"1.0\"}", "\"version\": \"1.0\"}}", {"not valid JSON", "line 15"}},
        {"\"version\": \"1.0\"}", "\"version\": \"1.0\"} {}", {"not valid JSON", "line 15"}},
        {"café", "caf\xe9", {"UTF8", "dialog 2"}},
        {"café", "caf\xed\xa0\x80", {"UTF8", "dialog 2"}},
        {"café", "caf\\x", {"not valid JSON"}},
        {"café", "caf\n", {"not valid JSON"}},
        // wrong kinds
        {"\"image_id\": 7", "\"image_id\": \"7\"", {"dialog 1", "a string", "a whole number"}},
        {"\"image_id\": 7", "\"image_id\": 7.0", {"dialog 1", "7.0", "a whole number"}},
        {"\"image_id\": 7", "\"image_id\": 7e0", {"dialog 1", "7e0"}},
        {"\"image_id\": 7", "\"image_id\": null", {"dialog 1", "null"}},
        {"\"image_id\": 7", "\"image_id\": true", {"dialog 1", "true"}},
        {"\"image_id\": 7", "\"image_id\": [7]", {"dialog 1", "a list"}},
        {"\"image_id\": 7", "\"image_id\": -7", {"dialog 1", "-7", "0 or more"}},
        {"\"image_id\": 7", "\"image_id\": 99999999999999999999", {"dialog 1", "999999"}},
        {"\"caption\": \"a cone\"", "\"caption\": 5", {"image 12", "\"caption\" is 5", "a string"}},
        {"\"caption\": \"a cone\"", "\"caption\": {}", {"image 12", "an object", "a string"}},
        {"\"a cone\"", "\"a\\u0000cone\"", {"image 12", "\\u0000"}},
        {"\"gt_index\": 0}]}],", "\"gt_index\": \"0\"}]}],", {"image 12, round 1", "\"gt_index\""}},
        {"[4, 0, 1, 2]", "[4, 0, \"1\", 2]", {"image 12, round 1", "a string"}},
        {"[4, 0, 1, 2]", "{\"4\": 0}", {"image 12, round 1", "an object", "a list"}},
        {"[4, 0, 1, 2]", "[4, 0, [1], 2]", {"image 12, round 1", "a list"}},
        {"\"yes\"", "1", {"a string", "1"}},
        {"\"yes\"", "null", {"a string", "null"}},
        {"\"is there a ball\"", "[\"is there a ball\"]", {"a string", "a list"}},
        {"{\"data\"", "[{\"data\"", {"a list", "an object"}},
        {"\"split\": \"val\"", "\"split\": 5", {"\"split\"", "a string"}},
        {"\"coreference\": 1", "\"coreference\": 0.5", {"image 7, round 2", "\"coreference\""}},
        {"\"family\": \"exist\"", "\"family\": 3", {"image 7, round 2", "\"family\""}},
        // missing and repeated keys
        {"\"image_id\": 7, ", "", {"dialog 1", "no \"image_id\""}},
        {", \"caption\": \"a cone\"", "", {"image 12: ", "no \"caption\""}},
        {"\"dialog\": [\n    {\"question\": 3",
         "\"talk\": [\n    {\"question\": 3",
         {"image 12", "no \"dialog\""}},
        {"{\"question\": 3, ", "{", {"image 12, round 1", "no \"question\""}},
        {"\"answer\": 4, ", "", {"image 12, round 1", "no \"answer\""}},
        {"\"answer_options\": [4, 0, 1, 2], \"gt_index\": 0",
         "\"x\": 0",
         {"image 12, round 1", "no \"answer_options\""}},
        {"\"answer_options\": [4, 0, 1, 2], ",
         "",
         {"image 12, round 1", "no \"answer_options\"", "\"gt_index\" is 0"}},
        {", \"gt_index\": 0}]}],", "}]}],", {"image 12, round 1", "no \"gt_index\""}},
        {"\"version\"", "\"Version\"", {"no \"version\""}},
        {"\"split\"", "\"part\"", {"no \"split\""}},
        {"{\"data\"", "{\"content\"", {"no \"data\""}},
        {"\"answers\"", "\"replies\"", {"no \"answers\""}},
        {"\"questions\"", "\"queries\"", {"no \"questions\""}},
        {"\"dialogs\"", "\"talks\"", {"no \"dialogs\""}},
        {"\"image_id\": 7, ", "\"image_id\": 7, \"image_id\": 7, ", {"image 7", "given twice"}},
        {"\"answers\"", "\"questions\": [], \"answers\"", {"\"questions\"", "given twice"}},
        // numbers out of range
        {"\"question\": 3", "\"question\": 4", {"image 12, round 1", "question 4", "table of 4"}},
        {"\"question\": 3", "\"question\": -1", {"image 12, round 1", "-1", "0 or more"}},
        {"\"question\": 3", "\"question\": 4294967296", {"image 12, round 1", "4294967296"}},
        {"\"answer\": 4", "\"answer\": 6", {"image 12, round 1", "answer 6", "table of 6"}},
        {"[4, 0, 1, 2]", "[4, 0, 6, 2]", {"image 12, round 1", "option 2", "answer 6"}},
        {"[4, 0, 1, 2]", "[4, 0, -1, 2]", {"image 12, round 1", "-1"}},
        {"\"gt_index\": 3",
         "\"gt_index\": 4",
         {"dialog 2, round 3", "\"gt_index\" is 4", "4 answer"}},
        {"\"gt_index\": 2", "\"gt_index\": -1", {"image 7, round 2", "-1"}},
        {"\"gt_index\": 2", "\"gt_index\": 1", {"image 7, round 2", "points at \"no\"", "\"yes\""}},
        {"\"coreference\": 1", "\"coreference\": 3", {"image 7, round 2", "before the caption"}},
        // counts
        {"[4, 0, 1, 2]", "[4, 0, 1]", {"image 12, round 1", "3 answer_options", "expected 4"}},
        {"[4, 0, 1, 2]",
         "[4, 0, 1, 2, 3]",
         {"image 12, round 1", "5 answer_options", "expected 4"}},
        {"[0, 1, 2, 3]", "[1]", {"image 7, round 1", "2 or more"}},
        {"[0, 1, 2, 3]", "[]", {"image 7, round 1", "2 or more"}},
        {"[\n    {\"question\": 3, \"answer\": 4, \"answer_options\": [4, 0, 1, 2], "
         "\"gt_index\": 0}]",
         "[]",
         {"image 12", "no rounds"}},
        // what only the whole file shows
        {"\"image_id\": 12", "\"image_id\": 7", {"image 7", "dialog 3", "has a dialog already"}},
        {"\"version\": \"1.0\"", "\"version\": \"2.0\"", {"2.0", "1.0 and 0.9"}},
        // nesting
        {"{\"deep\": null}",
         "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
         {"nesting", "line 14"}},
    };
    _Static_assert(sizeof list / sizeof *list >= 40, "fewer than promised");
    expect_refused(dialogs_path, list, sizeof list / sizeof *list, false);
}

static void damaged_test_splits_are_refused(void **state)
{
    (void)state;
    static const damage list[] = {
        {"\"test2018\"", "\"val2018\"", {"image 41, round 1", "answer_options", "test split"}},
        {"\"question\": 1, \"answer\": 0", "\"question\": 1", {"image 41, round 1", "\"answer\""}},
        {", \"answer_options\": [3, 1, 0]", "", {"image 41, round 2", "\"answer_options\""}},
        {", \"answer_options\": [3, 1, 0]", ", \"gt_index\": 0", {"image 41, round 2", "gt_index"}},
        {"[0, 1, 2]", "[0, 1, 4]", {"image 42, round 1", "option 2"}},
    };
    expect_refused("tests/fixtures/dialogs_test.json", list, sizeof list / sizeof *list, false);
}

static void damaged_annotations_are_refused_and_add_nothing(void **state)
{
    (void)state;
    static const damage list[] = {
        {"[{", "{", {"line 1", "an object"}},
        {"[{\"image_id\": 3", "[{\"image_id\": 4", {"image 4", "not in", dialogs_path}},
        {"[{\"image_id\": 3", "[{\"image_id\": -3", {"image -3", "not in"}},
        {"[{\"image_id\": 3, ", "[{", {"entry 1", "no \"image_id\""}},
        {"\"round_id\": 2, ", "", {"image 3", "no \"round_id\""}},
        {"\"round_id\": 2", "\"round_id\": 0", {"image 3", "count from 1"}},
        {"\"round_id\": 2", "\"round_id\": 4", {"image 3", "has 3 rounds"}},
        {"\"round_id\": 2", "\"round_id\": 4294967298", {"image 3", "has 3 rounds"}},
        {"\"round_id\": 2", "\"round_id\": \"2\"", {"image 3", "a string"}},
        {"gt_relevance", "importance", {"image 3", "neither"}},
        {"\"note\": \"as the train split has it\"",
         "\"gt_relevance\": [0, 0, 0, 0]",
         {"image 12", "both"}},
        {"2e-1]", "2e-1, 0]", {"image 3, round 2", "5 relevances for 4"}},
        {", 2e-1]", "]", {"image 3, round 2", "3 relevances for 4"}},
        {"2e-1", "2", {"image 3, round 2", "relevance 4 is 2", "0 to 1"}},
        {"2e-1", "-2e-1", {"image 3, round 2", "0 to 1"}},
        {"2e-1", "1e999", {"image 3, round 2", "0 to 1"}},
        {"2e-1", "0.22222222222222222222222222222222222222222222222222", {"too many digits"}},
        {"2e-1", "\"0.2\"", {"image 3, round 2", "a string"}},
        {"2e-1", "NaN", {"image 3, round 2", "not valid JSON"}},
        {"2e-1", "null", {"image 3, round 2", "null"}},
        {"{\"round_id\": 1, \"relevance\": [1, 0.0, 0.25, 0], \"image_id\": 12",
         "{\"round_id\": 2, \"relevance\": [1, 0.0, 0.25, 0], \"image_id\": 3",
         {"image 3, round 2", "twice"}},
        {"split has it\"}]", "split has it\"}", {"cut short"}},
    };
    expect_refused(dense_path, list, sizeof list / sizeof *list, true);
    vd_visdial *data = read_or_fail(dialogs_path);
    vd_error err = {0};
    support_write_text(path, "[]");
    support_refused(vd_visdial_read_dense(data, path, &err), VD_FORMAT, &err, path,
                    "no annotations", NULL);
    vd_visdial_free(data);
}

static void files_that_are_none_are_refused(void **state)
{
    (void)state;
    vd_error err = {0};
    vd_visdial *data = (vd_visdial *)1;
    support_refused(vd_visdial_read("no/such/file.json", &data, &err), VD_NOT_FOUND, &err,
                    "no/such/file.json", NULL);
    assert_null(data);
    support_refused(vd_visdial_read(directory, &data, &err), VD_FORMAT, &err, directory, NULL);
    static const struct {
        const char *text, *said;
    } list[] = {
        {"", "cut short"},
        {" \n", "cut short"},
        {"\"dialogs\"", "a string"},
        {"7", "7"},
        {"null", "null"},
        {"\x89PNG\r\n", "not valid JSON"},
        {"{}", "no \"version\""},
        {"{\"version\": \"1.0\", \"split\": \"val\", \"data\": {\"questions\": [], "
         "\"answers\": [], \"dialogs\": []}}",
         "no dialogs"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        support_write_text(path, list[i].text);
        support_refused(vd_visdial_read(path, &data, &err), VD_FORMAT, &err, path, list[i].said,
                        NULL);
        assert_null(data);
    }
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    size_t size;
    char *text = support_read_file(dialogs_path, &size);
    while (size > 0 && text[size - 1] == '\n')
        size--;
    for (size_t cut = 0; cut < size; cut++) {
        support_write_file(path, text, cut);
        vd_visdial *data;
        vd_error err = {0};
        assert_int_equal(vd_visdial_read(path, &data, &err), VD_FORMAT);
        assert_null(data);
    }
    free(text);
}

static void a_string_without_end_is_given_up(void **state)
{
    (void)state;
    size_t size = 4 << 20;
    char *text = malloc(size);
    memset(text, 'a', size);
    memcpy(text, "{\"version\": \"", 13);
    support_write_file(path, text, size);
    free(text);
    vd_visdial *data;
    vd_error err = {0};
    support_refused(vd_visdial_read(path, &data, &err), VD_FORMAT, &err, path, "1 MiB", NULL);
}

static vd_status read_both(void *context, vd_error *err)
{
    (void)context;
    vd_visdial *data;
    vd_status status = vd_visdial_read(dialogs_path, &data, err);
    assert_true((status == VD_OK) == (data != NULL));
    if (status == VD_OK)
        status = vd_visdial_read_dense(data, dense_path, err);
    vd_visdial_free(data);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(read_both, NULL) > 20);
}

// One to three bytes changed, dropped, doubled: either a good file or a proper refusal.
static void mutated_files_never_harm(void **state)
{
    (void)state;
    static const char *const fixtures[] = {"tests/fixtures/dialogs.json",
                                           "tests/fixtures/dialogs_test.json"};
    vd_rng rng = vd_rng_seed(11, 3);
    size_t accepted = 0, refused = 0;
    for (int i = 0; i < 3000; i++) {
        size_t size;
        char *text = support_read_file(fixtures[i % 2], &size);
        for (int edits = 1 + vd_rng_below(&rng, 3); edits > 0; edits--) {
            size_t at = (size_t)vd_rng_below(&rng, (int)size);
            static const char likely[] = "\"{}[]:,-0159.eE\\ \n\xc3";
            switch (vd_rng_below(&rng, 3)) {
            case 0:
                text[at] = likely[vd_rng_below(&rng, sizeof likely - 1)];
                break;
            case 1:
                memmove(text + at, text + at + 1, size - at - 1);
                size--;
                break;
            default:
                text[at] = (char)vd_rng_below(&rng, 256);
            }
        }
        support_write_file(path, text, size);
        vd_visdial *data;
        vd_error err = {0};
        vd_status status = vd_visdial_read(path, &data, &err);
        if (status == VD_OK) {
            accepted++;
            for (size_t d = 0; d < data->dialog_count; d++)
                assert_ptr_equal(vd_visdial_find(data, data->dialogs[d].image_id),
                                 &data->dialogs[d]);
        } else {
            refused++;
            assert_int_equal(status, VD_FORMAT);
            assert_non_null(strstr(err.text, path));
        }
        vd_visdial_free(data);
        free(text);
    }
    assert_true(accepted > 100 && refused > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_in_any_key_order),
        cmocka_unit_test(an_image_is_found_by_its_id),
        cmocka_unit_test(test_splits_end_without_an_answer),
        cmocka_unit_test(dense_annotations_are_added),
        cmocka_unit_test(damaged_dialogs_are_refused_with_their_place),
        cmocka_unit_test(damaged_test_splits_are_refused),
        cmocka_unit_test(damaged_annotations_are_refused_and_add_nothing),
        cmocka_unit_test(files_that_are_none_are_refused),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(a_string_without_end_is_given_up),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test(mutated_files_never_harm),
        cmocka_unit_test(an_annotation_may_be_empty),
        cmocka_unit_test(the_real_samples_are_read),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}

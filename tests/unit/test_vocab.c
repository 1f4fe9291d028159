// Words and ids: both ways, through JSON and from counts.
#include "engine/model/vocab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/base/rng.h"
#include "tests/support/support.h"

static const char *const few[] = {"is", "the", "caf\xc3\xa9", "\"", "\xe2\x80\x99s"};

static vd_vocab *make_few(void)
{
    vd_vocab *vocab;
    assert_int_equal(vd_vocab_from_words(few, 5, &vocab, NULL), VD_OK);
    return vocab;
}

static void words_have_the_ids_of_their_places_after_the_special_ones(void **state)
{
    (void)state;
    vd_vocab *vocab = make_few();
    assert_int_equal(vd_vocab_size(vocab), 9);
    assert_string_equal(vd_vocab_word(vocab, VD_PAD), "<PAD>");
    assert_string_equal(vd_vocab_word(vocab, VD_START), "<S>");
    assert_string_equal(vd_vocab_word(vocab, VD_END), "</S>");
    assert_string_equal(vd_vocab_word(vocab, VD_UNKNOWN), "<UNK>");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(vd_vocab_id(vocab, few[i]), VD_FIRST_WORD + i);
        assert_string_equal(vd_vocab_word(vocab, VD_FIRST_WORD + i), few[i]);
    }
    assert_int_equal(vd_vocab_id(vocab, "absent"), VD_UNKNOWN);
    assert_int_equal(vd_vocab_id(vocab, ""), VD_UNKNOWN);
    assert_string_equal(vd_vocab_word(vocab, -1), "<UNK>");
    assert_string_equal(vd_vocab_word(vocab, 9), "<UNK>");
    vd_vocab_free(vocab);
    vd_vocab_free(NULL);
}

static void json_out_is_json_in(void **state)
{
    (void)state;
    vd_vocab *vocab = make_few(), *again;
    char *json = vd_vocab_to_json(vocab);
    assert_string_equal(json, "[\"<PAD>\",\"<S>\",\"</S>\",\"<UNK>\",\"is\",\"the\","
                              "\"caf\xc3\xa9\",\"\\\"\",\"\xe2\x80\x99s\"]");
    assert_int_equal(vd_vocab_from_json(json, strlen(json), "test", &again, NULL), VD_OK);
    assert_int_equal(vd_vocab_size(again), 9);
    for (int id = 0; id < 9; id++)
        assert_string_equal(vd_vocab_word(again, id), vd_vocab_word(vocab, id));
    vd_free(json);
    vd_vocab_free(again);
    vd_vocab_free(vocab);
}

static void a_large_vocabulary_is_found_word_by_word(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    char(*text)[16] = calloc(COUNT, sizeof *text);
    const char **words = calloc(COUNT, sizeof *words);
    for (int i = 0; i < COUNT; i++) {
        snprintf(text[i], sizeof text[i], "w%d", i * 7);
        words[i] = text[i];
    }
    vd_vocab *vocab;
    assert_int_equal(vd_vocab_from_words(words, COUNT, &vocab, NULL), VD_OK);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(vd_vocab_id(vocab, words[i]), VD_FIRST_WORD + i);
    assert_int_equal(vd_vocab_id(vocab, "w1"), VD_UNKNOWN);
    vd_vocab_free(vocab);
    free(words);
    free(text);
}

#define FOUR "\"<PAD>\",\"<S>\",\"</S>\",\"<UNK>\""

static void bad_vocabularies_are_refused_with_source_and_place(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"", "not valid JSON"},
        {"[", "line 1, column 2"},
        {"[" FOUR ",\"a\"", "not valid JSON"},
        {"[" FOUR "] x", "not valid JSON"},
        {"null", "null"},
        {"true", "true"},
        {"\"a\"", "a string"},
        {"{\"a\":1}", "an object"},
        {"12", "a number"},
        {"[]", "0 words"},
        {"[\"<PAD>\",\"<S>\",\"</S>\"]", "3 words"},
        {"[\"a\"]", "<PAD> is expected"},
        {"[\"<PAD>\",\"</S>\"]", "word 1 is \"</S>\"; <S> is expected"},
        {"[" FOUR ",1]", "a number"},
        {"[" FOUR ",[\"a\"]]", "an array"},
        {"[" FOUR ",null]", "null"},
        {"[" FOUR ",{}]", "an object"},
        {"[" FOUR ",\"\"]", "word 4 is empty"},
        {"[" FOUR ",\"a\",\"b\",\"a\"]", "word 6, \"a\", is word 4 already"},
        {"[" FOUR ",\"<UNK>\"]", "is word 3 already"},
        {"[" FOUR ",\"a\\u0000\"]", "at [4]: a string holds a NUL"},
        {"[" FOUR ",\"\xff\"]", "not valid JSON"},
        {"[" FOUR ",\"a\n\"]", "not valid JSON"},
        {"[" FOUR ",\n\n \"a\",,]", "line 3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vd_error err = {0};
        vd_vocab *vocab;
        vd_status status =
            vd_vocab_from_json(bad[i][0], strlen(bad[i][0]), "m.safetensors", &vocab, &err);
        support_refused(status, VD_FORMAT, &err, "m.safetensors", bad[i][1], NULL);
        assert_null(vocab);
    }
    vd_error err = {0};
    vd_vocab *vocab;
    const char *const twice[] = {"a", "a"}, *const empty[] = {""};
    support_refused(vd_vocab_from_words(twice, 2, &vocab, &err), VD_FORMAT, &err, "\"a\"", NULL);
    support_refused(vd_vocab_from_words(empty, 1, &vocab, &err), VD_FORMAT, &err, "empty", NULL);
}

static void counts_order_by_fall_then_by_first_seen(void **state)
{
    (void)state;
    vd_word_counts counts = {0};
    static const struct {
        const char *word;
        int64_t times;
    } seen[] = {{"five", 5}, {"four", 4},        {"ten", 3}, {"five again", 5},
                {"ten", 7},  {"zero", 0},        {"six", 6}, {"five at last", 2},
                {"four", 0}, {"five at last", 3}};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        assert_int_equal(vd_word_counts_add(&counts, seen[i].word, seen[i].times, NULL), VD_OK);
    vd_vocab *vocab;
    assert_int_equal(vd_word_counts_vocab(&counts, 5, &vocab, NULL), VD_OK);
    static const char *const expected[] = {"ten", "six", "five", "five again", "five at last"};
    assert_int_equal(vd_vocab_size(vocab), VD_FIRST_WORD + 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(vd_vocab_word(vocab, VD_FIRST_WORD + i), expected[i]);
    vd_vocab_free(vocab);
    assert_int_equal(vd_word_counts_vocab(&counts, 100, &vocab, NULL), VD_OK);
    assert_int_equal(vd_vocab_size(vocab), VD_FIRST_WORD);
    vd_vocab_free(vocab);

    assert_int_equal(vd_word_counts_add(&counts, "ten", INT64_MAX, NULL), VD_OK); // no overflow
    vd_error err = {0};
    support_refused(vd_word_counts_add(&counts, "ten", -1, &err), VD_FORMAT, &err, "ten", NULL);
    support_refused(vd_word_counts_add(&counts, "", 1, &err), VD_FORMAT, &err, "\"\"", NULL);
    vd_word_counts_clear(&counts);
    vd_word_counts_clear(&counts);
}

static vd_status make_everything(void *context, vd_error *err)
{
    (void)context;
    vd_word_counts counts = {0};
    vd_vocab *vocab = NULL, *again = NULL;
    char *json = NULL, word[16];
    vd_status status = VD_OK;
    for (int i = 0; !status && i < 70; i++) { // past the table's first growth
        snprintf(word, sizeof word, "w%d", i);
        status = vd_word_counts_add(&counts, word, 1, err);
    }
    if (!status)
        status = vd_word_counts_vocab(&counts, 1, &vocab, err);
    if (!status && !(json = vd_vocab_to_json(vocab)))
        status = vd_error_memory(err, "text");
    if (!status)
        status = vd_vocab_from_json(json, strlen(json), "test", &again, err);
    vd_word_counts_clear(&counts);
    vd_vocab_free(vocab);
    vd_vocab_free(again);
    vd_free(json);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(make_everything, NULL) > 200);
}

static void random_damage_is_refused_or_read(void **state)
{
    (void)state;
    vd_vocab *vocab = make_few();
    char *json = vd_vocab_to_json(vocab);
    size_t length = strlen(json), refused = 0;
    char *changed = malloc(length);
    vd_rng rng = vd_rng_seed(5, 5);
    for (int round = 0; round < 20000; round++) {
        memcpy(changed, json, length);
        for (int flips = 1 + vd_rng_below(&rng, 3); flips > 0; flips--)
            changed[vd_rng_below(&rng, (int)length)] = (char)vd_rng_next(&rng);
        size_t cut = vd_rng_below(&rng, 4) ? length : (size_t)vd_rng_below(&rng, (int)length);
        vd_vocab *read;
        vd_error err;
        vd_status status = vd_vocab_from_json(changed, cut, "fuzz", &read, &err);
        if (status) {
            refused++;
            support_refused(status, VD_FORMAT, &err, "fuzz", NULL);
        } else {
            assert_in_range(vd_vocab_size(read), VD_FIRST_WORD, 9);
        }
        vd_vocab_free(read);
    }
    assert_in_range(refused, 10000, 19999);
    free(changed);
    vd_free(json);
    vd_vocab_free(vocab);
}

static void unknown_words_have_numbers_of_their_own(void **state)
{
    static const char *const word[] = {"zebra", "apple-pie", "zebra"};
    static const int expected[] = {9, 10, 9};
    (void)state;
    vd_vocab *vocab = make_few();
    vd_oov_words own = {0};
    vd_error err;
    int32_t id;
    own.vocab = vocab;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vd_oov_words_id(&own, word[i], &id, &err), VD_OK);
        assert_int_equal(id, expected[i]);
        assert_string_equal(vd_oov_words_word(&own, id), word[i]);
    }
    assert_int_equal(vd_oov_words_id(&own, few[2], &id, &err), VD_OK);
    assert_int_equal(id, VD_FIRST_WORD + 2);
    assert_string_equal(vd_oov_words_word(&own, id), few[2]);
    assert_string_equal(vd_oov_words_word(&own, 11), "<UNK>");
    assert_string_equal(vd_oov_words_word(&own, -1), "<UNK>");
    vd_word_counts_clear(&own.more);
    vd_vocab_free(vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_the_ids_of_their_places_after_the_special_ones),
        cmocka_unit_test(json_out_is_json_in),
        cmocka_unit_test(a_large_vocabulary_is_found_word_by_word),
        cmocka_unit_test(bad_vocabularies_are_refused_with_source_and_place),
        cmocka_unit_test(counts_order_by_fall_then_by_first_seen),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(unknown_words_have_numbers_of_their_own),
        cmocka_unit_test(random_damage_is_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

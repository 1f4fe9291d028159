// Answer pools: text in and out, and their tokens.
#include "features/dialogs/answer_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ONE_FILE "pool.txt"

#include "engine/base/alloc.h"
#include "engine/networks/batch.h"
#include "engine/base/rng.h"
#include "features/text/tokenize.h"
#include "tests/support/one_file.h"

static const char few[] = "900\tyes\n900\tno\n12\ti can't tell\n1\tcaf\xc3\xa9, maybe\n0\tnever\n";

static vd_status read_pool(void *context, vd_error *err)
{
    (void)context;
    vd_answer_pool pool;
    vd_status status = vd_answer_pool_read(path, &pool, err);
    if (status)
        assert_true(!pool.answer && !pool.times && pool.count == 0);
    vd_answer_pool_clear(&pool);
    return status;
}

static void a_pool_is_read_and_written_as_it_was(void **state)
{
    (void)state;
    support_write_text(path, few);
    vd_answer_pool pool;
    vd_error err = {0};
    assert_int_equal(vd_answer_pool_read(path, &pool, &err), VD_OK);
    assert_int_equal(pool.count, 5);
    assert_string_equal(pool.answer[0], "yes");
    assert_int_equal(pool.times[0], 900);
    assert_string_equal(pool.answer[2], "i can't tell");
    assert_string_equal(pool.answer[3], "caf\xc3\xa9, maybe");
    assert_int_equal(pool.times[4], 0);
    support_remove_tree(path);
    assert_int_equal(vd_answer_pool_write(&pool, path, &err), VD_OK);
    char *text = support_read_file(path, NULL);
    assert_string_equal(text, few);
    free(text);
    vd_answer_pool_clear(&pool);
    vd_answer_pool_clear(&pool);
}

static void other_line_ends_are_read(void **state)
{
    (void)state;
    support_write_text(path, "2\ta b\r\n1\tc");
    vd_answer_pool pool;
    assert_int_equal(vd_answer_pool_read(path, &pool, NULL), VD_OK);
    assert_int_equal(pool.count, 2);
    assert_string_equal(pool.answer[0], "a b");
    assert_string_equal(pool.answer[1], "c");
    vd_answer_pool_clear(&pool);
}

static void bad_pools_are_refused_with_file_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size; // 0: up to the NUL
        const char *words;
    } bad[] = {
        {"", 0, "answer"},
        {"\n", 0, "line 1"},
        {"yes\n", 0, "line 1"},
        {"3 yes\n", 0, "line 1"},
        {"3\tyes\n\n", 0, "line 2"},
        {"3\tyes\n2\t\n", 0, "line 2"},
        {"3\tyes\n2\t\r\n", 0, "line 2"},
        {"3\tyes\n\tno\n", 0, "line 2"},
        {"3\tyes\n-2\tno\n", 0, "line 2"},
        {"3\tyes\n+2\tno\n", 0, "line 2"},
        {"3\tyes\n 2\tno\n", 0, "line 2"},
        {"3\tyes\n2.0\tno\n", 0, "line 2"},
        {"3\tyes\n0x2\tno\n", 0, "line 2"},
        {"3\tyes\n2x\tno\n", 0, "line 2"},
        {"3\tyes\n2\tno\tway\n", 0, "line 2"},
        {"3\tyes\n4\tno\n", 0, "line 2: count 4 after 3"},
        {"3\tyes\n2\tno\n1\tyes\n", 0, "line 3: \"yes\" is in line 1 already"},
        {"99999999999999999999\tyes\n", 0, "line 1"},
        {"3\tyes\n2\tno\xff\n", 0, "line 2"},
        {"3\tyes\n2\tno\xc3", 0, "line 2"},
        {"3\tye\0s\n", 8, "NUL"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vd_error err = {0};
        support_write_file(path, bad[i].text, bad[i].size ? bad[i].size : strlen(bad[i].text));
        support_refused(read_pool(NULL, &err), VD_FORMAT, &err, path, bad[i].words, NULL);
    }
    vd_error err = {0};
    support_remove_tree(path);
    support_refused(read_pool(NULL, &err), VD_NOT_FOUND, &err, path, NULL);
}

static void what_could_not_be_read_is_not_written(void **state)
{
    (void)state;
    static const struct {
        const char *answer[2];
        int64_t times[2];
    } bad[] = {{{"yes", "n\to"}, {2, 1}}, {{"yes", "n\no"}, {2, 1}}, {{"yes", ""}, {2, 1}},
               {{"yes", "no"}, {2, -1}},  {{"yes", "no"}, {1, 2}},   {{"yes", "no\r"}, {2, 1}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vd_error err = {0};
        int64_t times[2] = {bad[i].times[0], bad[i].times[1]};
        char first[8], second[8], *answers[2] = {first, second};
        snprintf(first, sizeof first, "%s", bad[i].answer[0]);
        snprintf(second, sizeof second, "%s", bad[i].answer[1]);
        vd_answer_pool pool = {2, answers, times};
        support_refused(vd_answer_pool_write(&pool, path, &err), VD_USAGE, &err, path, NULL);
        assert_int_equal(support_count_entries(directory), 0);
    }
}

static vd_vocab *make_vocab(void)
{
    static const char *const words[] = {"yes", "no", "very", "ca", "n't"};
    vd_vocab *vocab;
    assert_int_equal(vd_vocab_from_words(words, 5, &vocab, NULL), VD_OK);
    return vocab;
}

static void tokens_are_the_answers_words_between_start_and_end(void **state)
{
    (void)state;
    support_write_text(path,
                       "9\tyes\n8\tno, can't\n7\tvery very very very very very very very very "
                       "very very very very very very very very very very very yes\n");
    vd_answer_pool pool;
    vd_error err = {0};
    assert_int_equal(vd_answer_pool_read(path, &pool, &err), VD_OK);
    vd_vocab *vocab = make_vocab();
    int32_t *tokens, *lengths;
    assert_int_equal(vd_answer_pool_tokens(&pool, vocab, &tokens, &lengths, &err), VD_OK);
    static const int32_t first[] = {VD_START, 4, VD_END, VD_PAD};
    static const int32_t second[] = {VD_START, 5, VD_UNKNOWN, 7, 8, VD_END, VD_PAD};
    assert_int_equal(lengths[0], 3);
    assert_memory_equal(tokens, first, sizeof first);
    assert_int_equal(lengths[1], 6);
    assert_memory_equal(tokens + VD_MAX_CANDIDATE, second, sizeof second);
    const int32_t *third = tokens + 2 * VD_MAX_CANDIDATE;
    assert_int_equal(lengths[2], VD_MAX_CANDIDATE); // cut
    assert_int_equal(third[0], VD_START);
    for (int i = 1; i < VD_MAX_CANDIDATE; i++)
        assert_int_equal(third[i], 6);
    vd_free(tokens);
    vd_free(lengths);
    vd_vocab_free(vocab);
    vd_answer_pool_clear(&pool);
}

// So many that several threads find them; the last piece is not full.
static void many_answers_have_the_tokens_of_each(void **state)
{
    (void)state;
    enum { MANY = 10001 };
    static char text[MANY][32], *answer[MANY];
    static const char *const words[] = {"yes", "no", "very", "ca", "n't", "blue"};
    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "%s %s %s, %s", words[i % 6], words[i / 6 % 6],
                 words[i / 36 % 6], words[i / 216 % 6]);
        answer[i] = text[i];
    }
    const vd_answer_pool pool = {.count = MANY, .answer = answer};
    vd_vocab *vocab = make_vocab();
    vd_error err = {0};
    int32_t *tokens, *lengths;
    assert_int_equal(vd_answer_pool_tokens(&pool, vocab, &tokens, &lengths, &err), VD_OK);
    for (int i = 0; i < MANY; i++) {
        int32_t alone[VD_MAX_CANDIDATE] = {0};
        int length;
        assert_int_equal(vd_answer_ids(vocab, text[i], VD_MAX_CANDIDATE, alone, &length, &err),
                         VD_OK);
        assert_int_equal(lengths[i], length);
        assert_memory_equal(tokens + (size_t)i * VD_MAX_CANDIDATE, alone, sizeof alone);
    }
    vd_free(tokens);
    vd_free(lengths);
    vd_vocab_free(vocab);
}

static vd_status read_tokens_write(void *context, vd_error *err)
{
    vd_answer_pool pool;
    int32_t *tokens = NULL, *lengths = NULL;
    vd_status status = vd_answer_pool_read(path, &pool, err);
    if (!status)
        status = vd_answer_pool_tokens(&pool, context, &tokens, &lengths, err);
    if (status)
        assert_true(!tokens && !lengths);
    if (!status)
        status = vd_answer_pool_write(&pool, path, err);
    vd_free(tokens);
    vd_free(lengths);
    vd_answer_pool_clear(&pool);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    support_write_text(path, "9\tyes\n8\tno\n7\tvery\n6\tblue\n5\tyes, very\n4\tcan't\n"
                             "3\tno, blue\n2\tvery blue\n1\tred\n1\tgreen\n");
    vd_vocab *vocab = make_vocab();
    assert_true(support_fail_each_allocation(read_tokens_write, vocab) > 15);
    assert_int_equal(support_count_entries(directory), 1);
    vd_vocab_free(vocab);
}

static void random_damage_is_refused_or_read(void **state)
{
    (void)state;
    char changed[sizeof few];
    size_t refused = 0;
    vd_rng rng = vd_rng_seed(4, 4);
    for (int round = 0; round < 5000; round++) {
        memcpy(changed, few, sizeof few);
        for (int flips = 1 + vd_rng_below(&rng, 3); flips > 0; flips--)
            changed[vd_rng_below(&rng, (int)sizeof few - 1)] = (char)vd_rng_next(&rng);
        support_write_file(path, changed, sizeof few - 1);
        vd_error err = {0};
        vd_status status = read_pool(NULL, &err);
        refused += status != VD_OK;
        if (status)
            support_refused(status, VD_FORMAT, &err, path, NULL);
    }
    assert_in_range(refused, 2000, 4999);
}

#define PROMISE(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROMISE(a_pool_is_read_and_written_as_it_was),
        PROMISE(other_line_ends_are_read),
        PROMISE(bad_pools_are_refused_with_file_and_line),
        PROMISE(what_could_not_be_read_is_not_written),
        PROMISE(tokens_are_the_answers_words_between_start_and_end),
        PROMISE(many_answers_have_the_tokens_of_each),
        PROMISE(every_failed_allocation_is_reported),
        PROMISE(random_damage_is_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

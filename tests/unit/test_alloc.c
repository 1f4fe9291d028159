// Memory: zeroed, aligned, checked sizes, failures on request; and the errors' texts.
#include "engine/base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/error.h"

static bool all_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 64, 65, 1000, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int again = 0; again < 2; again++) { // the second time memory that was dirtied
            unsigned char *memory = vd_alloc(sizes[i], 1);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % 64, 0);
            assert_true(all_zero(memory, sizes[i]));
            memset(memory, 0xa5, sizes[i]);
            vd_free(memory);
        }
    }
    vd_free(NULL);
}

static void nothing_is_a_valid_pointer(void **state)
{
    (void)state;
    void *none = vd_alloc(0, 8), *empty = vd_alloc(8, 0);
    assert_non_null(none);
    assert_non_null(empty);
    assert_ptr_not_equal(none, empty);
    vd_free(none);
    vd_free(empty);
}

static void sizes_that_overflow_give_null(void **state)
{
    (void)state;
    assert_null(vd_alloc(SIZE_MAX, 2));
    assert_null(vd_alloc(SIZE_MAX / 2 + 1, 2));
    assert_null(vd_alloc(SIZE_MAX, 1));
    assert_null(vd_alloc(1, SIZE_MAX - 32));
    char *memory = vd_alloc(4, 1);
    assert_null(vd_grow(memory, 4, SIZE_MAX, 2));
    vd_free(memory); // still ours
}

static void growing_keeps_what_was_there_and_zeroes_the_rest(void **state)
{
    (void)state;
    int *numbers = vd_grow(NULL, 0, 3, sizeof *numbers);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(numbers[i], 0);
        numbers[i] = i + 1;
    }
    numbers = vd_grow(numbers, 3, 1000, sizeof *numbers);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i < 3 ? i + 1 : 0);
    numbers = vd_grow(numbers, 1000, 2, sizeof *numbers);
    assert_int_equal(numbers[1], 2);
    vd_alloc_fail_at(1);
    assert_null(vd_grow(numbers, 2, 5, sizeof *numbers));
    assert_int_equal(numbers[0], 1); // still valid
    vd_free(numbers);
}

static void strings_are_copied(void **state)
{
    (void)state;
    char *whole = vd_strdup("caf\xc3\xa9"), *part = vd_strndup("picture", 3), *none = vd_strdup("");
    assert_string_equal(whole, "caf\xc3\xa9");
    assert_string_equal(part, "pic");
    assert_string_equal(none, "");
    vd_free(whole);
    vd_free(part);
    vd_free(none);
}

static void the_chosen_allocation_fails_once(void **state)
{
    (void)state;
    vd_alloc_fail_at(2);
    void *first = vd_alloc(1, 1), *second = vd_alloc(1, 1), *third = vd_alloc(1, 1);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(vd_alloc_fail_at(0), 3);
    void *fourth = vd_alloc(1, 1);
    assert_non_null(fourth);
    assert_int_equal(vd_alloc_fail_at(0), 1);
    vd_free(first);
    vd_free(third);
    vd_free(fourth);
}

static void errors_hold_status_and_text_and_may_be_absent(void **state)
{
    (void)state;
    vd_error err = {0};
    assert_int_equal(vd_error_set(&err, VD_FORMAT, "%s: line %d", "file", 3), VD_FORMAT);
    assert_int_equal(err.status, VD_FORMAT);
    assert_string_equal(err.text, "file: line 3");
    assert_int_equal(vd_error_set(NULL, VD_IO, "nobody reads this"), VD_IO);
    assert_int_equal(vd_error_memory(&err, "weights"), VD_NO_MEMORY);
    assert_non_null(strstr(err.text, "weights"));
    char *words = vd_alloc(5001, 1);
    memset(words, 'x', 5000);
    vd_error_set(&err, VD_IO, "%s", words);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    vd_free(words);
}

static void every_status_has_an_exit_code_of_its_own(void **state)
{
    (void)state;
    for (int a = VD_OK; a <= VD_INTERRUPTED; a++)
        for (int b = VD_OK; b < a; b++)
            assert_int_not_equal(vd_status_exit_code((vd_status)a),
                                 vd_status_exit_code((vd_status)b));
    assert_int_equal(vd_status_exit_code(VD_OK), 0);
    assert_int_equal(vd_status_exit_code(VD_INTERRUPTED), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(nothing_is_a_valid_pointer),
        cmocka_unit_test(sizes_that_overflow_give_null),
        cmocka_unit_test(growing_keeps_what_was_there_and_zeroes_the_rest),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(the_chosen_allocation_fails_once),
        cmocka_unit_test(errors_hold_status_and_text_and_may_be_absent),
        cmocka_unit_test(every_status_has_an_exit_code_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

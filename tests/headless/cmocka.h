// What the tests of the network use of cmocka, for machines that have only a compiler and the CUDA
// toolkit (`make test-cuda`). A failure ends its test, the others run on.
#ifndef TESTS_HEADLESS_CMOCKA_H
#define TESTS_HEADLESS_CMOCKA_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

extern jmp_buf headless_failed;

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f                                                                                      \
    }
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf("%s:%d: ", __FILE__, __LINE__);                                                     \
        printf(__VA_ARGS__);                                                                       \
        putchar('\n');                                                                             \
        longjmp(headless_failed, 1);                                                               \
    } while (0)
#define headless_must(what)                                                                        \
    do {                                                                                           \
        if (!(what))                                                                               \
            fail_msg("%s", #what);                                                                 \
    } while (0)
#define assert_true(x)               headless_must(x)
#define assert_false(x)              headless_must(!(x))
#define assert_null(x)               headless_must((x) == NULL)
#define assert_non_null(x)           headless_must((x) != NULL)
#define assert_int_equal(a, b)       headless_must((long long)(a) == (long long)(b))
#define assert_ptr_equal(a, b)       headless_must((const void *)(a) == (const void *)(b))
#define assert_string_equal(a, b)    headless_must(strcmp(a, b) == 0)
#define assert_memory_equal(a, b, n) headless_must(memcmp(a, b, n) == 0)
#define skip()                       longjmp(headless_failed, 2)

// 0 passed, 1 failed, 2 skipped
static inline int headless_one(const struct CMUnitTest *test)
{
    int how = setjmp(headless_failed);
    if (how == 0)
        test->run(NULL);
    return how;
}

static inline int headless_run(const struct CMUnitTest *tests, size_t count)
{
    static const char *const names[] = {"passed ", "FAILED ", "skipped"};
    int failed = 0;
    for (size_t i = 0; i < count; i++) {
        int how = headless_one(&tests[i]);
        printf("%s %s\n", names[how], tests[i].name);
        fflush(stdout);
        failed += how == 1;
    }
    printf("%d of %zu failed\n", failed, count);
    return failed;
}

#define cmocka_run_group_tests(tests, begin, end)                                                  \
    headless_run(tests, sizeof(tests) / sizeof *(tests))
#define cmocka_run_group_tests_name(name, tests, begin, end)                                       \
    ((void)(name), cmocka_run_group_tests(tests, begin, end))

#endif

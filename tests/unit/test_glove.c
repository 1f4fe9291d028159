#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "features/text/glove.h"
#include "tests/support/support.h"

static char *directory, *path;
static vd_vocab *vocab; // <PAD> <S> </S> <UNK> red blue chair

static int make(void **state)
{
    (void)state;
    vd_error err;
    directory = support_temp_dir();
    path = support_join(directory, "glove.txt");
    return vd_vocab_from_words((const char *const[]){"red", "blue", "chair"}, 3, &vocab, &err);
}

static int clean(void **state)
{
    (void)state;
    vd_vocab_free(vocab);
    support_remove_tree(directory);
    free(path);
    free(directory);
    return 0;
}

static void words_start_from_their_vectors(void **state)
{
    (void)state;
    int width, found;
    float rows[7 * 3];
    vd_error err;
    static const float expected[7 * 3] = {0, 0, 0,    0,  0, 0, 0, 0,     0,       7, 8,
                                          9, 1, -2.5, 30, 7, 8, 9, 0.25f, -0.125f, 4};
    memset(rows, 0xff, sizeof rows);
    support_write_text(path, "the 1 1 1\nunk 7 8 9\nred 1 -2.5 3e1\r\nchair 9 9 9\n, 1 2 3\n"
                             "<S> 5 5 5\nchair 0.25 -.125 4\n");
    assert_int_equal(vd_glove_width(path, &width, &err), VD_OK);
    assert_int_equal(width, 3);
    assert_int_equal(vd_glove_read(path, vocab, 3, rows, &found, &err), VD_OK);
    assert_int_equal(found, 2);
    assert_memory_equal(rows, expected, sizeof rows);
}

static void unk_may_be_a_word_of_the_vocabulary(void **state)
{
    (void)state;
    int found;
    float rows[6];
    vd_vocab *own;
    vd_error err;
    assert_int_equal(vd_vocab_from_words((const char *const[]){"unk", "x"}, 2, &own, &err), VD_OK);
    support_write_text(path, "unk 7\n");
    assert_int_equal(vd_glove_read(path, own, 1, rows, &found, &err), VD_OK);
    assert_int_equal(found, 1);
    assert_memory_equal(rows, ((const float[]){0, 0, 0, 7, 7, 7}), sizeof rows);
    vd_vocab_free(own);
}

static void refused(const char *text, const char *what)
{
    float rows[7 * 3];
    vd_error err;
    support_write_text(path, text);
    support_refused(vd_glove_read(path, vocab, 3, rows, NULL, &err), VD_FORMAT, &err, path, what,
                    NULL);
}

static void lines_that_are_off_are_refused_by_number(void **state)
{
    (void)state;
    int width;
    vd_error err;
    refused("unk 1 2 3\nthe 1 2\n", "line 2: 2 numbers after a word, expected 3");
    refused("unk 1 2 3\nthe 1 2 3 4\n", "line 2: 4 numbers");
    refused("unk 1 2 3\n\n", "line 2: 0 numbers");
    refused("unk 1 2 3\nred 1 x 3\n", "line 2: 'x 3' where number 2 of 3 should be");
    refused("unk 1 2 3\nred 1 2 nan\n", "line 2: 'nan' where number 3");
    refused("unk 1 2 3\nred 1 2  3\n", "line 2: 4 numbers");
    refused("unk 1 2 3\nred 1 2 1e99\n", "line 2: '1e99'");
    refused("red 1 2 3\n", "no word \"unk\"");
    refused("", "no word \"unk\"");
    char *longest = malloc(100001);
    memset(longest, 'a', 100000);
    longest[100000] = '\0';
    refused(longest, "line 1: longer than");
    free(longest);
    support_write_text(path, "word\n");
    support_refused(vd_glove_width(path, &width, &err), VD_FORMAT, &err, path, "line 1", NULL);
    support_refused(vd_glove_width(directory, &width, &err), VD_FORMAT, &err, directory, NULL);
    char *nowhere = support_join(directory, "nowhere");
    support_refused(vd_glove_width(nowhere, &width, &err), VD_NOT_FOUND, &err, nowhere, NULL);
    assert_int_equal(mkfifo(nowhere, 0600), 0); // not waited for
    support_refused(vd_glove_width(nowhere, &width, &err), VD_FORMAT, &err, nowhere, "pipe", NULL);
    free(nowhere);
}

static vd_status read_all(void *context, vd_error *err)
{
    float rows[7 * 3];
    (void)context;
    return vd_glove_read(path, vocab, 3, rows, NULL, err);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    support_write_text(path, "unk 1 2 3\n");
    assert_true(support_fail_each_allocation(read_all, NULL) >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_start_from_their_vectors),
        cmocka_unit_test(unk_may_be_a_word_of_the_vocabulary),
        cmocka_unit_test(lines_that_are_off_are_refused_by_number),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make, clean);
}

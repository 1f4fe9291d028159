// Words side by side: equal ones stay together, as few as possible differ.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/align.h"

static int split(char *text, const char **out)
{
    int count = 0;
    for (char *word = strtok_r(text, " ", &text); word; word = strtok_r(NULL, " ", &text))
        out[count++] = word;
    return count;
}

// expected: "a=a cube/ball -/big": equal, beside each other, alone.
static void align(const char *first, const char *second, const char *expected)
{
    char texts[2][200], found[400] = "";
    const char *word[2][VD_ALIGN_MOST];
    vd_aligned row[2 * VD_ALIGN_MOST];
    snprintf(texts[0], sizeof texts[0], "%s", first);
    snprintf(texts[1], sizeof texts[1], "%s", second);
    int n = split(texts[0], word[0]), m = split(texts[1], word[1]);
    int rows = vd_align(word[0], n, word[1], m, row);
    for (int i = 0; i < rows; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s%s%s", i ? " " : "",
                 row[i].first < 0 ? "-" : word[0][row[i].first],
                 vd_aligned_same(&row[i], word[0], word[1]) ? "=" : "/",
                 row[i].second < 0 ? "-" : word[1][row[i].second]);
    assert_string_equal(found, expected);
}

static void words_are_aligned(void **state)
{
    (void)state;
    align("a red cube", "a red cube", "a=a red=red cube=cube");
    align("a red cube", "a blue cube", "a=a red/blue cube=cube");
    align("a cube", "a big red cube", "a=a -/big -/red cube=cube");
    align("there is a cube", "a cube", "there/- is/- a=a cube=cube");
    align("a b c d", "b c d e", "a/- b=b c=c d=d -/e");
    align("x y", "z", "x/z y/-");
    align("", "a b", "-/a -/b");
    align("", "", "");
}

// Rows have every word once and in order.
static void the_longest_fit(void **state)
{
    const char *one[VD_ALIGN_MOST], *two[VD_ALIGN_MOST];
    vd_aligned row[2 * VD_ALIGN_MOST];
    (void)state;
    for (int i = 0; i < VD_ALIGN_MOST; i++) {
        one[i] = i % 3 ? "a" : "b";
        two[i] = i % 2 ? "a" : "c";
    }
    int rows = vd_align(one, VD_ALIGN_MOST, two, VD_ALIGN_MOST, row), first = 0, second = 0;
    for (int i = 0; i < rows; i++) {
        assert_true(row[i].first == -1 || row[i].first == first);
        assert_true(row[i].second == -1 || row[i].second == second);
        first += row[i].first >= 0;
        second += row[i].second >= 0;
    }
    assert_int_equal(first, VD_ALIGN_MOST);
    assert_int_equal(second, VD_ALIGN_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_aligned),
        cmocka_unit_test(the_longest_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Tokens equal NLTK's for every golden string: those of the project, and all of ../shared.
#include "features/text/tokenize.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "tests/support/support.h"

static const char *text_of(yajl_val node, const char *key)
{
    const char *path[] = {key, NULL};
    yajl_val value = yajl_tree_get(node, path, yajl_t_string);
    return value ? YAJL_GET_STRING(value) : NULL;
}

// How many of the line's tokens are not as expected; says which.
static int check_line(const char *path, size_t number, const char *line)
{
    char problem[256];
    yajl_val node = yajl_tree_parse(line, problem, sizeof problem);
    if (!node)
        fail_msg("%s:%zu: %s", path, number, problem);
    const char *tokens_path[] = {"tokens", NULL};
    const char *kind = text_of(node, "kind"), *text = text_of(node, "text");
    yajl_val expected = yajl_tree_get(node, tokens_path, yajl_t_array);
    assert_non_null(text);
    assert_non_null(expected);

    char asked[4096];
    bool question = kind && strcmp(kind, "question") == 0;
    snprintf(asked, sizeof asked, "%s%s", text, question ? "?" : "");
    vd_words words;
    vd_error err = {0};
    if (vd_tokenize(asked, &words, &err) != VD_OK)
        fail_msg("%s:%zu: %s", path, number, err.text);
    bool same = words.count == expected->u.array.len;
    for (size_t i = 0; same && i < words.count; i++) {
        const char *token = YAJL_GET_STRING(expected->u.array.values[i]);
        same = token && strcmp(words.word[i], token) == 0;
    }
    if (!same) {
        print_error("%s:%zu: \"%s\" gives", path, number, asked);
        for (size_t i = 0; i < words.count; i++)
            print_error(" [%s]", words.word[i]);
        print_error("\n");
    }
    vd_words_clear(&words);
    yajl_tree_free(node);
    return !same;
}

static size_t check_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0, lines = 0;
    int wrong = 0;
    while (getline(&line, &room, file) >= 0)
        wrong += check_line(path, ++lines, line);
    free(line);
    fclose(file);
    assert_int_equal(wrong, 0);
    return lines;
}

static void strings_tokenise_as_nltk_does(void **state)
{
    (void)state;
    assert_int_equal(check_file("tests/golden/data/tokens.jsonl"), 571);
}

static void all_golden_strings_tokenise_as_nltk_does(void **state)
{
    (void)state;
    assert_int_equal(check_file(support_shared("golden/tokens.jsonl")), 7944);
}

int main(int argc, char **argv)
{
    if (argc > 1) // check other files by hand
        return check_file(argv[1]) == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_tokenise_as_nltk_does),
        cmocka_unit_test(all_golden_strings_tokenise_as_nltk_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

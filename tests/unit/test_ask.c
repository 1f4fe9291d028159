#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "tests/support/one_world.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

#define ARGUMENTS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        "ask", __VA_ARGS__, NULL                                                                   \
    }

static int lines(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

// ---- text ---------------------------------------------------------------------------------------

static void answers_go_to_stdout_and_messages_to_stderr(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "1", "what color is the cube", "is it zorky"),
                        NULL);
    support_program_expect(&run, 0, "a red cube and a blue ball", "base", NULL);
    assert_non_null(strstr(run.out, "1. what color is the cube"));
    assert_non_null(strstr(run.out, "2. is it zorky"));
    assert_non_null(strstr(run.out, "<UNK:zorky>"));
    assert_non_null(strstr(run.out, "caption 100 %"));
    assert_non_null(strstr(run.out, "round 1"));
    assert_non_null(strstr(run.err, "are probabilities among these"));
    assert_null(strstr(run.out, "red cube"));
    assert_null(strchr(run.out, '\x1b'));
    support_program_clear(&run);
}

static void top_limits_the_answers(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ARGUMENTS("--image=1", "--top=2", "is it red"), NULL);
    support_program_expect(&run, 0, NULL);
    for (char *line = run.out, *end; (end = strchr(line, '\n')); line = end + 1)
        assert_true(end - line < 80 + 40); // bars are three bytes a cell
    // The question, two answers, history, three regions, shares of words, words.
    assert_int_equal(lines(run.out), 9);
    assert_non_null(strstr(run.out, "\n   on words  "));
    support_program_clear(&run);
}

// A path is a path: digits in a name say nothing about what the file shows.
static void a_path_is_a_path_whatever_digits_are_in_it(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "VisDial_val2018_000000000003.jpg");
    char *pictures = support_join(tiny.directory, "pictures"),
         *own = support_join(pictures, "3.png");
    char *elsewhere = support_join(tiny.directory, "dog 2.png");
    const char *const commands[] = {"ask", "walk"};
    assert_int_equal(symlink(own, elsewhere), 0);
    for (size_t i = 0; i < 2; i++) {
        support_program run;
        const char *arguments[] = {commands[i], "--image", path, "is it red", NULL};
        support_program_run(&run, arguments, NULL);
        support_program_expect(&run, 3, path, "no such file", NULL);
        assert_string_equal(run.out, "");
        support_program_clear(&run);
        support_write_text(path, "another picture");
        support_program_run(&run, arguments, NULL);
        support_program_expect(&run, 4, path, "the file is not a picture", NULL);
        assert_string_equal(run.out, "");
        support_program_clear(&run);
        remove(path);
        support_program by_number;
        arguments[2] = "3";
        support_program_run(&by_number, arguments, NULL);
        for (int linked = 0; linked < 2; linked++) {
            arguments[2] = linked ? elsewhere : own;
            support_program_run(&run, arguments, NULL);
            support_program_expect(&run, 0, NULL);
            assert_string_equal(run.out, by_number.out);
            assert_string_equal(run.err, by_number.err);
            support_program_clear(&run);
        }
        support_program_clear(&by_number);
    }
    remove(elsewhere);
    free(elsewhere);
    free(own);
    free(pictures);
    free(path);
}

static void nothing_typed_can_steer_the_terminal(void **state)
{
    (void)state;
    static const char escapes[] =
        "is it \x1b[31m \xc2\x9b[31m red"; // ESC, and CSI as one character
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "1", escapes), NULL);
    support_program_expect(&run, 0, NULL);
    assert_null(strchr(run.out, '\x1b'));
    assert_null(strstr(run.out, "\xc2\x9b"));
    support_program_clear(&run);
}

// ---- standard input -----------------------------------------------------------------------------

static void questions_come_from_stdin_when_none_are_given(void **state)
{
    (void)state;
    support_program typed, piped;
    support_program_run(&typed, ARGUMENTS("--image", "2", "what color is the cube", "is it red"),
                        NULL);
    support_program_run(&piped, ARGUMENTS("--image", "2"),
                        "what color is the cube\r\n\n   \nis it red");
    support_program_expect(&typed, 0, NULL);
    support_program_expect(&piped, 0, NULL);
    assert_string_equal(typed.out, piped.out);
    support_program_clear(&typed);
    support_program_clear(&piped);
}

static void no_questions_at_all_is_no_output(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "2"), "");
    support_program_expect(&run, 0, NULL);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
}

static void a_line_without_words_is_refused_with_its_number(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "2"), "is it red\n\n...\nis it big\n");
    support_program_expect(&run, 2, "standard input, line 3: the question has no words", NULL);
    assert_non_null(strstr(run.out, "1. is it red"));
    assert_non_null(strstr(run.out, "2. is it big")); // the others are asked
    support_program_clear(&run);
}

static void an_endless_line_is_refused_with_its_number(void **state)
{
    (void)state;
    size_t size = 100000;
    char *input = malloc(size + 1);
    assert_non_null(input);
    memset(input, 'x', size);
    memcpy(input, "is it red\n", 10);
    input[size] = '\0';
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "2"), input);
    support_program_expect(&run, 4, "standard input, line 2", "longer than 65536", NULL);
    assert_non_null(strstr(run.out, "is it red")); // what came before was answered
    support_program_clear(&run);
    free(input);
}

// ---- JSON ---------------------------------------------------------------------------------------

static yajl_val value_of(yajl_val tree, const char *a, const char *b, yajl_type type)
{
    const char *path[] = {a, b, NULL};
    yajl_val value = yajl_tree_get(tree, path, type);
    if (!value)
        print_error("JSON lacks %s %s\n", a, b ? b : "");
    assert_non_null(value);
    return value;
}

static double sum_of(yajl_val array)
{
    double sum = 0;
    for (size_t i = 0; i < array->u.array.len; i++)
        sum += YAJL_GET_DOUBLE(array->u.array.values[i]);
    return sum;
}

static void check_object(yajl_val tree, const char *question, int rounds)
{
    static const char
        *const keys[] = {"question",     "tokens",  "unknown",    "answers", "attention",
                         "picture",      "caption", "caption_by", "model",   "backend",
                         "milliseconds", "remark"}; // of questions with words that are not known
    size_t unknown = value_of(tree, "unknown", NULL, yajl_t_array)->u.array.len;
    assert_int_equal(tree->u.object.len, unknown ? 12 : 11);
    for (size_t i = 0; i < tree->u.object.len; i++)
        assert_string_equal(tree->u.object.keys[i], keys[i]);
    assert_string_equal(value_of(tree, "question", NULL, yajl_t_string)->u.string, question);
    assert_string_equal(value_of(tree, "model", NULL, yajl_t_string)->u.string, "base");
    assert_string_equal(value_of(tree, "backend", NULL, yajl_t_string)->u.string, "cpu");
    assert_true(YAJL_GET_DOUBLE(value_of(tree, "milliseconds", NULL, yajl_t_number)) > 0);
    yajl_val answers = value_of(tree, "answers", NULL, yajl_t_array);
    assert_int_equal(answers->u.array.len, TINY_ANSWERS);
    double sum = 0, before = 1;
    for (size_t i = 0; i < answers->u.array.len; i++) {
        yajl_val answer = answers->u.array.values[i];
        double p = YAJL_GET_DOUBLE(value_of(answer, "probability", NULL, yajl_t_number));
        value_of(answer, "text", NULL, yajl_t_string);
        assert_true(p <= before);
        before = p;
        sum += p;
    }
    assert_true(sum > 0.9999 && sum < 1.0001);
    yajl_val weights = value_of(tree, "attention", "rounds", yajl_t_array);
    assert_int_equal(weights->u.array.len, rounds);
    assert_true(sum_of(weights) > 0.9999 && sum_of(weights) < 1.0001);
    yajl_val words = value_of(tree, "attention", "words", yajl_t_array);
    assert_int_equal(words->u.array.len, value_of(tree, "tokens", NULL, yajl_t_array)->u.array.len);
    assert_true(sum_of(words) > 0.9999 && sum_of(words) < 1.0001);
    yajl_val regions = value_of(tree, "attention", "regions", yajl_t_array);
    assert_int_equal(regions->u.array.len, TINY_REGIONS);
    yajl_val box = value_of(regions->u.array.values[1], "box", NULL, yajl_t_array);
    assert_int_equal(box->u.array.len, 4);
    assert_true(YAJL_GET_DOUBLE(box->u.array.values[3]) > 0.74);
}

static void json_is_one_object_a_question_with_the_agreed_keys(void **state)
{
    (void)state;
    static const char *const question[] = {"What color is the \"zebra\"?", "is it red"};
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "1", "--json", question[0], question[1]), NULL);
    support_program_expect(&run, 0, NULL);
    assert_int_equal(lines(run.out), 2);
    char *line = run.out;
    for (int i = 0; i < 2; i++) {
        char *end = strchr(line, '\n');
        *end = '\0';
        char reason[200];
        yajl_val tree = yajl_tree_parse(line, reason, sizeof reason);
        assert_non_null(tree);
        check_object(tree, question[i], i + 1);
        yajl_val unknown = value_of(tree, "unknown", NULL, yajl_t_array);
        if (i == 0)
            assert_true(unknown->u.array.len > 0);
        yajl_tree_free(tree);
        line = end + 1;
    }
    support_program_clear(&run);
}

// ---- decoders -----------------------------------------------------------------------------------

static const char *const pool[TINY_ANSWERS] = {"yes", "no", "red", "blue"};

static char *train_two_decoders(void)
{
    char *out = support_join(tiny.directory, "two");
    const char *const arguments[] = {"train",    "--data", tiny.train, "--features", tiny.features,
                                     "--hidden", "8",      "--epochs", "2",          "--decoder",
                                     "both",     "--out",  out,        NULL};
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    char *model = support_join(out, "model.safetensors");
    free(out);
    return model;
}

// Logarithms of the shares of pool's answers by these decoders.
static void log_shares(const char *model, const char *decoder, double share[TINY_ANSWERS])
{
    char reason[200];
    support_program run;
    support_program_run(
        &run, ARGUMENTS("--image", "1", "--json", "--model", model, "--decoder", decoder, "is it"),
        NULL);
    support_program_expect(&run, 0, NULL);
    yajl_val tree = yajl_tree_parse(run.out, reason, sizeof reason);
    assert_non_null(tree);
    const char *said = value_of(tree, "decoder", NULL, yajl_t_string)->u.string;
    assert_memory_equal(said, decoder, 3);
    yajl_val answers = value_of(tree, "answers", NULL, yajl_t_array);
    assert_int_equal(answers->u.array.len, TINY_ANSWERS);
    for (size_t i = 0; i < TINY_ANSWERS; i++)
        for (size_t k = 0; k < TINY_ANSWERS; k++) {
            yajl_val one = answers->u.array.values[i];
            if (!strcmp(value_of(one, "text", NULL, yajl_t_string)->u.string, pool[k]))
                share[k] = log(YAJL_GET_DOUBLE(value_of(one, "probability", NULL, yajl_t_number)));
        }
    yajl_tree_free(tree);
    support_program_clear(&run);
}

// Of averaged scores: log p = (log p_1 + log p_2) / 2, up to a constant.
static void both_decoders_rank_by_the_mean_of_their_scores(void **state)
{
    (void)state;
    double one[TINY_ANSWERS], other[TINY_ANSWERS], both[TINY_ANSWERS];
    char *model = train_two_decoders();
    log_shares(model, "discriminative", one);
    log_shares(model, "gen", other);
    log_shares(model, "both", both);
    assert_true(fabs((one[0] - one[2]) - (other[0] - other[2])) > 1e-3);
    for (int i = 1; i < TINY_ANSWERS; i++)
        assert_float_equal(both[i] - both[0], (one[i] - one[0] + other[i] - other[0]) / 2, 1e-5);
    support_program run;
    support_program_run(&run, ARGUMENTS("--image", "1", "--model", model, "--decoder", "both", "a"),
                        NULL);
    support_program_expect(&run, 0, "cpu, decoder both", NULL);
    support_program_clear(&run);
    const char *const walk[] = {"walk",      "--image",    "1",         "--model", model,
                                "--decoder", "generative", "is it red", NULL};
    support_program_run(&run, walk, NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "z_c = mean_t log P"));
    support_program_clear(&run);
    free(model);
}

// ---- what is refused ----------------------------------------------------------------------------

static void refuse(const char *const *arguments, int code, const char *a, const char *b)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, "visdial ask: ", a, b, NULL);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
}

static void wrong_use_is_refused_with_what_would_be_right(void **state)
{
    (void)state;
    refuse(ARGUMENTS("is it red"), 2, "--image", "which picture");
    refuse(ARGUMENTS("--image", "one", "is it red"), 3, "--image", "'one'");
    refuse(ARGUMENTS("--image", "99999999999999999999", "is it red"), 3, "--image", "image id");
    refuse(ARGUMENTS("--image", "1", "--top", "none", "is it red"), 2, "--top", "found 'none'");
    refuse(ARGUMENTS("--image", "1", "--modle", "base", "is it red"), 2, "--modle", "--model");
    refuse(ARGUMENTS("--image", "1", ""), 2, "no words", "question");
    refuse(ARGUMENTS("--image", "1", "--decoder", "x", "is it"), 2, "--decoder", "found 'x'");
    refuse(ARGUMENTS("--image", "1", "--decoder", "both", "is it"), 5, "has no such decoder",
           "only a discriminative one");
}

static void unknown_pictures_models_and_assets_are_refused(void **state)
{
    (void)state;
    refuse(ARGUMENTS("--image", "123", "is it red"), 3, "no picture 123", "1, 2, 3");
    refuse(ARGUMENTS("--image", "99", "is it red"), 3, "99", "features.safetensors");
    refuse(ARGUMENTS("--image", "1", "--model", "nope", "is it red"), 3, "nope", "base, improved");
    refuse(ARGUMENTS("--image", "1", "--model", "imporved", "is it red"), 3, "imporved",
           "did you mean improved? expected best");
    refuse(ARGUMENTS("--image", "1", "--assets", "/nonexistent", "is it red"), 3, "/nonexistent",
           "dialogs.json");
}

static void questions_that_are_not_text_are_refused(void **state)
{
    (void)state;
    refuse(ARGUMENTS("--image", "1", "is it \xff\xfe red"), 4, "UTF-8", "byte");
}

static void a_model_that_is_no_model_is_refused(void **state)
{
    (void)state;
    char *path = support_join(tiny.directory, "hostile.safetensors");
    static const char endless[] = "\xff\xff\xff\xff\xff\xff\xff\xff{}";
    static const char empty[] = "\x02\0\0\0\0\0\0\0{}";
    static const char vast[] = "\x4c\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":"
                               "[99999999999,99999999999],\"data_offsets\":[0,8]}}";
    static const char picture[] = "\x89PNG\r\n\x1a\n";
    static const struct {
        const char *bytes;
        size_t size;
    } hostile[] = {
        {"", 0},
        {endless, sizeof endless - 1},
        {empty, sizeof empty - 1},
        {vast, sizeof vast - 1},
        {picture, sizeof picture - 1},
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        support_write_file(path, hostile[i].bytes, hostile[i].size);
        refuse(ARGUMENTS("--image", "1", "--model", path, "is it red"), 4, path, "");
    }
    tiny_world_model(&tiny, path, TINY_REGION_SIZE + 1, NULL);
    refuse(ARGUMENTS("--image", "1", "--model", path, "is it red"), 5, "regions of 6", "has 5");
    free(path);
}

static void damaged_weights_are_told(void **state)
{
    (void)state;
    size_t size;
    char *path = support_join(tiny.directory, "damaged.safetensors");
    char *file = support_read_file(tiny.base, &size);
    memset(file + size / 2, 0xff, size - size / 2);
    support_write_file(path, file, size);
    refuse(ARGUMENTS("--image", "1", "--model", path, "is it red"), 4, path, "not a finite number");
    free(file);
    free(path);
}

// Infinite in one place, which need not show in an answer: each command that opens a model sees it.
static void an_infinite_weight_is_refused_by_every_command(void **state)
{
    (void)state;
    size_t size, length = 0;
    char *path = support_join(tiny.directory, "infinite.safetensors");
    char *out = support_join(tiny.directory, "made");
    char *file = support_read_file(tiny.base, &size);
    static const float infinite = INFINITY;
    memcpy(&length, file, 8);
    memcpy(file + 8 + length, &infinite, sizeof infinite); // the vector of <PAD>
    support_write_file(path, file, size);
    const char *const commands[][12] = {
        {"ask", "--image", "1", "--model", path, "is it red"},
        {"walk", "--image", "1", "--model", path, "is it red"},
        {"eval", "--model", path, "--data", tiny.val, "--features", tiny.features},
        {"compare", "--model", "base", "--model", path, "--data", tiny.val, "--features",
         tiny.features},
        {"replay", "--image", "1", "--model", "base", "--model", path, "--data", tiny.val,
         "--features", tiny.features},
        {"train", "--from", path, "--data", tiny.train, "--features", tiny.features, "--out", out},
        {"pool", "build", "--data", tiny.train, "--model", path},
        {"data", "info", tiny.train, "--model", path},
        {"info", path},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        support_program run;
        support_program_run(&run, commands[i], NULL);
        if (run.code != 4 || !strstr(run.err, path) || !strstr(run.err, "not a finite number"))
            fail_msg("%s: exit status %d: %s", commands[i][0], run.code, run.err);
        support_program_clear(&run);
    }
    support_remove_tree(out);
    remove(path);
    free(file);
    free(out);
    free(path);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    static const char *const words[] = {"is it red", "thanks"};
    for (int i = 0; i < 2; i++) {
        char command[600];
        const char *binary = getenv("VISDIAL_BIN");
        snprintf(command, sizeof command,
                 "%s ask --image 1 '%s' >/dev/full 2>'%s/message'; test $? = 6 && "
                 "grep -q 'No space' '%s/message'",
                 binary && *binary ? binary : "build/visdial", words[i], tiny.directory,
                 tiny.directory);
        assert_int_equal(system(command), 0);
    }
}

// A features file that has a picture without a region: named with its row, image and range by each
// command that answers, before a screen opens.
static void a_picture_without_regions_is_refused(void **state)
{
    (void)state;
    size_t size, length = 0;
    char *file = support_read_file(tiny.features, &size), *whole = malloc(size);
    assert_non_null(whole);
    memcpy(whole, file, size);
    memcpy(&length, file, 8);
    char *number = strstr(strstr(file + 8, "\"num_regions\""), "\"data_offsets\":[") + 16;
    memset(file + 8 + length + strtoul(number, NULL, 10), 0, 4);
    support_write_file(tiny.features, file, size);
    static const char *const commands[][5] = {{"ask", "--image", "1", "is it red", NULL},
                                              {"walk", "--image", "1", "is it red", NULL},
                                              {"chat", "--image", "1", NULL, NULL}};
    for (size_t i = 0; i < 3; i++) {
        support_program run;
        support_program_run(&run, commands[i], NULL);
        support_program_expect(&run, 4, "features.safetensors",
                               "num_regions[0] (image 8) is 0, expected 1 to 3", NULL);
        assert_string_equal(run.out, "");
        support_program_clear(&run);
    }
    support_write_file(tiny.features, whole, size);
    free(whole);
    free(file);
}

// No model answers these; it is not asked, and they are in nobody's history.
static void greetings_are_answered_by_the_program(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ((const char *[]){"ask", "--image", "1", "hello", "is it red", NULL}),
                        NULL);
    support_program_expect(&run, 0, NULL);
    assert_ptr_equal(strstr(run.out, "1. hello\n   visdial says: hello!"), run.out);
    assert_null(strstr(run.out, "round 1"));
    support_program_clear(&run);
    support_program_run(
        &run, ((const char *[]){"ask", "--image", "1", "--json", "hello", "is it red", NULL}),
        NULL);
    support_program_expect(&run, 0, NULL);
    assert_ptr_equal(strstr(run.out, "{\"question\":\"hello\",\"remark\":\"hello! Ask"), run.out);
    const char *second = strstr(run.out, "{\"question\":\"is it red\"");
    assert_non_null(second);
    assert_non_null(strstr(second, "\"rounds\":[1]")); // the caption's share: nothing was said yet
    support_program_clear(&run);
}

static void words_that_are_not_known_have_a_remark(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run, ((const char *[]){"ask", "--image", "1", "is it rde", NULL}), NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "   remark    rde: red?"));
    support_program_clear(&run);
    support_program_run(
        &run, ((const char *[]){"ask", "--image", "1", "--json", "is it rde", NULL}), NULL);
    assert_non_null(strstr(run.out, "\"remark\":\"rde: red?\""));
    support_program_clear(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greetings_are_answered_by_the_program),
        cmocka_unit_test(words_that_are_not_known_have_a_remark),
        cmocka_unit_test(answers_go_to_stdout_and_messages_to_stderr),
        cmocka_unit_test(top_limits_the_answers),
        cmocka_unit_test(a_path_is_a_path_whatever_digits_are_in_it),
        cmocka_unit_test(nothing_typed_can_steer_the_terminal),
        cmocka_unit_test(questions_come_from_stdin_when_none_are_given),
        cmocka_unit_test(no_questions_at_all_is_no_output),
        cmocka_unit_test(a_line_without_words_is_refused_with_its_number),
        cmocka_unit_test(an_endless_line_is_refused_with_its_number),
        cmocka_unit_test(json_is_one_object_a_question_with_the_agreed_keys),
        cmocka_unit_test(both_decoders_rank_by_the_mean_of_their_scores),
        cmocka_unit_test(wrong_use_is_refused_with_what_would_be_right),
        cmocka_unit_test(unknown_pictures_models_and_assets_are_refused),
        cmocka_unit_test(questions_that_are_not_text_are_refused),
        cmocka_unit_test(a_model_that_is_no_model_is_refused),
        cmocka_unit_test(damaged_weights_are_told),
        cmocka_unit_test(an_infinite_weight_is_refused_by_every_command),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(a_picture_without_regions_is_refused),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}

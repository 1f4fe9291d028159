// `visdial caption`: what if a region were not there, a word another one, the history nothing; a
// caption that is read; two captioners side by side. Words are aligned, and each caption's
// log-probability is under both.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_tree.h>

#include "tests/support/must.h"
#include "tests/support/random_model.h"
#include "tests/support/support.h"
#include "tests/support/train_run.h"

static char *model, *other;

// A captioner with words w0 to w<vocab - 5>.
static char *captioner_file(const char *name, vd_captioner_kind kind, int vocab)
{
    const vd_caption_config caption = {.captioner = kind,
                                       .vocab = vocab,
                                       .region = TINY_REGION_SIZE,
                                       .hidden = 8,
                                       .embed = 3,
                                       .heads = 2,
                                       .layers = 1,
                                       .inner = 8,
                                       .shared = 1,
                                       .history = VD_HISTORY_OWN};
    const vd_config config = vd_config_of_captioner(&caption);
    char *path = support_join(tiny.directory, name);
    support_write_random_model(&config, path);
    return path;
}

static int begin(void **state)
{
    train_run_world(state);
    model = captioner_file("cat.safetensors", VD_CAPTIONER_CAT, 9);
    other = captioner_file("sat.safetensors", VD_CAPTIONER_SAT_HARD, 7);
    return 0;
}

static int end(void **state)
{
    free(other);
    free(model);
    return train_run_end(state);
}

#define PICTURE      "--assets", tiny.directory, "--image", "3"
#define CAPTION(...) MORE("caption", PICTURE, "--longest", "6", "--length-power", "4", __VA_ARGS__)

#define BUNDLED(...) MORE("caption", "--assets", "assets", "--image", "1000003", __VA_ARGS__)

// What it printed, free().
static char *printed(const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    char *text = strdup(run.out);
    support_program_clear(&run);
    return text;
}

static yajl_val json_of(const char *const *arguments)
{
    char *text = printed(arguments);
    yajl_val tree = yajl_tree_parse(text, NULL, 0);
    assert_non_null(tree);
    free(text);
    return tree;
}

static yajl_val member(yajl_val tree, const char *name)
{
    yajl_val value = yajl_tree_get(tree, (const char *[]){name, NULL}, yajl_t_any);
    if (!value)
        fail_msg("no %s", name);
    return value;
}

static yajl_val item(yajl_val list, size_t i)
{
    assert_true(YAJL_IS_ARRAY(list) && i < list->u.array.len);
    return list->u.array.values[i];
}

static double number(yajl_val tree, const char *name)
{
    return YAJL_GET_DOUBLE(member(tree, name));
}

static const char *text(yajl_val tree, const char *name)
{
    return YAJL_GET_STRING(member(tree, name));
}

// Log-probability of a caption under one of both.
static double under(yajl_val tree, size_t caption, size_t by)
{
    return YAJL_GET_DOUBLE(item(item(member(tree, "log_probabilities"), caption), by));
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) < 1e-5))
        fail_msg("%.9g is not %.9g", a, b);
}

// Every word of both once, in order.
static void check_rows(yajl_val tree)
{
    yajl_val rows = member(tree, "aligned");
    size_t next[2] = {0, 0};
    for (size_t i = 0; i < rows->u.array.len; i++)
        for (size_t k = 0; k < 2; k++) {
            yajl_val at = item(item(rows, i), k);
            assert_true(YAJL_IS_NULL(at) || YAJL_GET_INTEGER(at) == (long long)next[k]);
            next[k] += !YAJL_IS_NULL(at);
        }
    assert_int_equal(next[0], member(tree, "words")->u.array.len);
    assert_int_equal(next[1], member(member(tree, "other"), "words")->u.array.len);
}

static void a_region_left_out_gets_nothing(void **state)
{
    (void)state;
    yajl_val tree = json_of(CAPTION("--model", model, "--what-if", "region 2", "--json")),
             changed = member(tree, "other"), words = member(changed, "words");
    assert_string_equal(text(changed, "name"), "without region 2");
    for (size_t i = 0; i < words->u.array.len; i++) {
        yajl_val share = member(item(words, i), "regions");
        assert_true(YAJL_GET_DOUBLE(item(share, 1)) == 0.0);
        assert_true(YAJL_GET_DOUBLE(item(share, 0)) > 0.0);
    }
    assert_near(under(tree, 0, 0), number(tree, "log_probability"));
    assert_near(under(tree, 1, 1), number(changed, "log_probability"));
    assert_true(under(tree, 0, 0) != under(tree, 0, 1));
    check_rows(tree);
    yajl_tree_free(tree);
}

// The word, the words before it as they were; the network is the same.
static void a_forced_word_is_said(void **state)
{
    (void)state;
    yajl_val tree = json_of(CAPTION("--model", model, "--what-if", "word 3=w4", "--json")),
             changed = member(tree, "other");
    yajl_val before = member(tree, "words"), after = member(changed, "words");
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(text(item(after, i), "word"), text(item(before, i), "word"));
    assert_string_equal(text(item(after, 2), "word"), "w4");
    assert_near(under(tree, 0, 1), under(tree, 0, 0));
    assert_near(under(tree, 1, 0), under(tree, 1, 1));
    yajl_tree_free(tree);
    tree = json_of(CAPTION("--model", model, "--begin", "w1 W0", "--what-if", "word 4=w3",
                           "--what-if", "region 1", "--json"));
    changed = member(tree, "other");
    assert_string_equal(text(changed, "name"), "word 4=w3, without region 1, beginning with w1 W0");
    after = member(changed, "words");
    assert_string_equal(text(item(after, 0), "word"), "w1");
    assert_string_equal(text(item(after, 1), "word"), "w0");
    assert_string_equal(text(item(after, 3), "word"), "w3");
    yajl_tree_free(tree);
    tree = json_of(CAPTION("--model", model, "--what-if", "word 3=(end)", "--json"));
    assert_int_equal(member(member(tree, "other"), "words")->u.array.len, 3);
    yajl_tree_free(tree);
}

static void without_history_nothing_is_drawn_from_it(void **state)
{
    (void)state;
    yajl_val tree = json_of(CAPTION("--model", model, "--what-if", "history", "--json")),
             words = member(member(tree, "other"), "words");
    assert_string_equal(text(member(tree, "other"), "name"), "without history");
    for (size_t i = 0; i < words->u.array.len; i++) {
        double before = 0, now = 0;
        yajl_val share = member(item(words, i), "history");
        for (size_t k = 0; k < share->u.array.len; k++)
            now += YAJL_GET_DOUBLE(item(share, k));
        share = member(item(member(tree, "words"), 0), "history");
        for (size_t k = 0; k < share->u.array.len; k++)
            before += YAJL_GET_DOUBLE(item(share, k));
        assert_true(now == 0.0 && before > 0.0);
        assert_true(number(item(words, i), "given") == 0.0);
        assert_near(number(item(words, i), "chance"), (double)(i + 1) / (TINY_REGIONS + i + 1));
    }
    assert_true(under(tree, 0, 0) != under(tree, 0, 1));
    yajl_tree_free(tree);
}

// Each caption under both, whichever comes first; words that one does not know are named.
static void two_captioners_stand_side_by_side(void **state)
{
    (void)state;
    yajl_val one = json_of(CAPTION("--model", model, "--other-model", other, "--json")),
             two = json_of(CAPTION("--model", other, "--other-model", model, "--json"));
    assert_string_equal(text(one, "caption"), text(member(two, "other"), "caption"));
    assert_string_equal(text(two, "caption"), text(member(one, "other"), "caption"));
    assert_string_equal(text(member(one, "other"), "hard"), "largest");
    yajl_val said = item(member(two, "words"), 0);
    assert_true(number(said, "gate") > 0.0 && number(said, "gate") < 1.0);
    assert_true(number(said, "chosen") >= 1.0 && number(said, "chosen") <= TINY_REGIONS);
    for (size_t of = 0; of < 2; of++)
        for (size_t by = 0; by < 2; by++)
            assert_near(under(one, of, by), under(two, 1 - of, 1 - by));
    check_rows(one);
    yajl_tree_free(one);
    yajl_tree_free(two);
    char *same = printed(CAPTION("--model", model, "--other-model", model));
    assert_null(strchr(same, '*')); // nothing differs
    assert_non_null(strstr(same, "under 2"));
    free(same);
    char *apart = printed(CAPTION("--model", model, "--other-model", other));
    assert_non_null(strstr(apart, "   *  "));
    assert_non_null(strstr(apart, "2: hard attention: largest"));
    assert_non_null(strstr(apart, "   captioner 2 does not know "));
    assert_non_null(strstr(apart, " of the words of caption 1\n"));
    free(apart);
}

// A given caption has the numbers of one that was forced to be the same, word by word.
static void a_given_caption_is_read(void **state)
{
    (void)state;
    yajl_val tree = json_of(CAPTION("--model", model, "--read", "W1 w2 w3", "--json")),
             read = member(tree, "other"), words = member(read, "words"),
             same = json_of(CAPTION("--model", model, "--begin", "w1 w2 w3", "--what-if",
                                    "word 4=(end)", "--json")),
             forced = member(same, "other");
    double sum = 0;
    assert_string_equal(text(read, "name"), "the given caption");
    assert_string_equal(text(read, "caption"), "w1 w2 w3");
    assert_true(YAJL_IS_TRUE(member(read, "read")) && YAJL_IS_FALSE(member(tree, "read")));
    assert_string_equal(text(tree, "caption"), text(same, "caption"));
    assert_near(number(read, "log_probability"), number(forced, "log_probability"));
    assert_int_equal(words->u.array.len, 4);
    for (size_t i = 0; i < 4; i++) {
        yajl_val word = item(words, i), as_forced = item(member(forced, "words"), i);
        assert_near(number(word, "probability"), number(as_forced, "probability"));
        for (size_t k = 0; k < TINY_REGIONS; k++)
            assert_near(YAJL_GET_DOUBLE(item(member(word, "regions"), k)),
                        YAJL_GET_DOUBLE(item(member(as_forced, "regions"), k)));
        sum += log(number(word, "probability"));
    }
    assert_near(sum, number(read, "log_probability"));
    assert_near(under(tree, 0, 0), number(tree, "log_probability"));
    check_rows(tree);
    yajl_tree_free(same);
    yajl_tree_free(tree);
    // What a captioner said it reads as it said it.
    yajl_val own = json_of(BUNDLED("--json"));
    tree = json_of(BUNDLED("--read", text(own, "caption"), "--json"));
    assert_near(number(member(tree, "other"), "log_probability"), number(own, "log_probability"));
    yajl_tree_free(own);
    yajl_tree_free(tree);
}

// One captioner judges both captions alike, and has said how; with something changed it does not.
static void captions_are_judged_twice_only_where_judges_differ(void **state)
{
    (void)state;
    char *read = printed(BUNDLED("--read", "there are 2 red balls")),
         *changed = printed(BUNDLED("--read", "there are 2 red balls", "--what-if", "region 1"));
    assert_non_null(strstr(read, "log-probability -"));
    assert_null(strstr(read, "under 1"));
    assert_non_null(strstr(changed, "under 1"));
    free(read);
    free(changed);
}

// The bundled captioner knows numbers as digits.
static void numbers_are_read_as_the_captioner_knows_them(void **state)
{
    (void)state;
    yajl_val of_words = json_of(BUNDLED("--read", "there are two red balls", "--json")),
             of_digits = json_of(BUNDLED("--read", "there are 2 red balls", "--json"));
    assert_string_equal(text(item(member(member(of_words, "other"), "words"), 2), "word"), "2");
    assert_near(number(member(of_words, "other"), "log_probability"),
                number(member(of_digits, "other"), "log_probability"));
    char *begun = printed(BUNDLED("--begin", "there are three"));
    assert_non_null(strstr(begun, "there are 3 "));
    free(begun);
    yajl_tree_free(of_words);
    yajl_tree_free(of_digits);
}

// By names; <UNK> is read in their place.
static void words_that_a_captioner_does_not_know_are_named(void **state)
{
    (void)state;
    yajl_val tree = json_of(CAPTION("--model", model, "--read", "zebra w2 giraffe", "--json")),
             words = member(member(tree, "other"), "words");
    assert_string_equal(text(item(words, 0), "word"), "zebra");
    assert_true(YAJL_IS_TRUE(member(item(words, 0), "unknown")));
    assert_null(yajl_tree_get(item(words, 1), (const char *[]){"unknown", NULL}, yajl_t_any));
    assert_true(number(item(words, 0), "probability") > 0.0);
    yajl_tree_free(tree);
    char *shown = printed(CAPTION("--model", model, "--read", "zebra w2 giraffe"));
    assert_non_null(strstr(shown, "   words that the captioner does not know, read as <UNK>: "
                                  "zebra, giraffe\n"));
    assert_non_null(strstr(shown, "\n2  zebra w2 giraffe\n   the given caption\n"));
    free(shown);
    shown = printed(CAPTION("--model", model, "--read", "w1 w2"));
    assert_null(strstr(shown, "does not know"));
    free(shown);
    shown = printed(CAPTION("--model", model, "--read",
                            "w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1"));
    assert_non_null(strstr(shown, "; cut at the longest"));
    free(shown);
}

// Regions are left out and words replaced in what is read; nothing is said anew.
static void a_given_caption_is_read_with_changes(void **state)
{
    (void)state;
    yajl_val tree = json_of(CAPTION("--model", model, "--read", "w1 w2 w3", "--what-if", "region 2",
                                    "--what-if", "word 2=w0", "--json")),
             read = member(tree, "other");
    assert_string_equal(text(read, "name"), "the given caption, without region 2, word 2=w0");
    assert_string_equal(text(read, "caption"), "w1 w0 w3");
    for (size_t i = 0; i < 4; i++) {
        yajl_val share = member(item(member(read, "words"), i), "regions");
        assert_true(YAJL_GET_DOUBLE(item(share, 1)) == 0.0);
    }
    assert_near(under(tree, 1, 1), number(read, "log_probability"));
    assert_true(under(tree, 1, 0) != under(tree, 1, 1));
    yajl_tree_free(tree);
    tree = json_of(
        CAPTION("--model", model, "--read", "w1 w2 w3", "--what-if", "word 4=w0", "--json"));
    assert_string_equal(text(member(tree, "other"), "caption"), "w1 w2 w3 w0");
    yajl_tree_free(tree);
    tree = json_of(
        CAPTION("--model", model, "--read", "w1 w2 w3", "--what-if", "word 2=(end)", "--json"));
    assert_string_equal(text(member(tree, "other"), "caption"), "w1");
    yajl_tree_free(tree);
}

// By both of two captioners, each as if it were alone.
static void two_captioners_read_the_same(void **state)
{
    static const char words[] = "w1 w2 w3";
    (void)state;
    yajl_val both = json_of(
                 CAPTION("--model", model, "--other-model", other, "--read", words, "--json")),
             one = json_of(CAPTION("--model", model, "--read", words, "--json")),
             two = json_of(CAPTION("--model", other, "--read", words, "--json"));
    assert_string_equal(text(both, "caption"), words);
    assert_true(YAJL_IS_TRUE(member(both, "read")));
    assert_near(number(both, "log_probability"), number(member(one, "other"), "log_probability"));
    assert_near(number(member(both, "other"), "log_probability"),
                number(member(two, "other"), "log_probability"));
    assert_near(number(member(both, "score"), "rouge_l"),
                number(member(member(both, "other"), "score"), "rouge_l"));
    yajl_tree_free(both);
    yajl_tree_free(one);
    yajl_tree_free(two);
}

// Two captioners are also compared with the caption of the data, which is like itself.
static void captions_have_scores_beside_the_datas(void **state)
{
    (void)state;
    yajl_val tree = json_of(BUNDLED("--other-model", "assets/captioner.safetensors", "--json")),
             same = json_of(
                 BUNDLED("--other-model", "assets/captioner.safetensors", "--read-data", "--json"));
    static const char *const metrics[] = {"bleu_1", "rouge_l", "meteor_es"};
    for (size_t i = 0; i < 3; i++) {
        double score = number(member(tree, "score"), metrics[i]);
        assert_true(score > 0.01 && score < 0.9);
        assert_true(number(member(same, "score"), metrics[i]) > 0.99);
    }
    char *shown = printed(BUNDLED("--other-model", "assets/captioner.safetensors", "--read-data"));
    assert_non_null(strstr(shown, "   beside the data's caption: BLEU-1 100.0, ROUGE-L 100.0, "));
    free(shown);
    shown = printed(BUNDLED("--beam", "1"));
    assert_null(strstr(shown, "BLEU"));
    free(shown);
    yajl_tree_free(tree);
    yajl_tree_free(same);
}

static void the_caption_of_the_data_is_read(void **state)
{
    (void)state;
    char *shown = printed(BUNDLED("--read-data"));
    assert_non_null(strstr(shown, "\n   the captioner's own caption\n"));
    assert_non_null(strstr(shown, "\n   the given caption\n"));
    assert_non_null(strstr(shown, "   faithful: ")); // people are right
    free(shown);
}

static void is_refused(int code, const char *words, const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, words, NULL);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
}

// Of the bundled captioner about bundled pictures and one that is made.
static void the_scene_says_what_is_true(void **state)
{
    static const char *const pictures[] = {"1000003", "blocks:7"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        yajl_val tree = json_of(MORE("caption", "--assets", "assets", "--image", pictures[i],
                                     "--what-if", "region 1", "--json"));
        const char *is = text(member(tree, "verdict"), "is");
        assert_true(strcmp(is, "faithful") == 0 || strcmp(is, "false") == 0);
        assert_non_null(strstr(text(member(tree, "verdict"), "why"), "objects"));
        text(member(member(tree, "other"), "verdict"), "why");
        yajl_tree_free(tree);
    }
    char *shown = printed(MORE("caption", "--assets", "assets", "--image", "1000003", "--begin",
                               "there is just 1 cube"));
    assert_non_null(strstr(shown, "   false: 0 of 4 objects are a cube; it says exactly 1\n"));
    free(shown);
    is_refused(5, "no scene of image 3",
               CAPTION("--model", model, "--scenes", "assets/scenes.json"));
}

// Beside each word stands the one region that it looked at.
static void hard_attention_shows_one_region(void **state)
{
    (void)state;
    yajl_val tree = json_of(CAPTION("--model", other, "--json"));
    char *shown = printed(CAPTION("--model", other)), *line = strstr(shown, "  regions\n");
    yajl_val words = member(tree, "words");
    assert_non_null(line);
    for (size_t i = 0; i < words->u.array.len; i++) {
        char region[16];
        line = strchr(line, '\n') + 1;
        char *ends = strchr(line, '\n');
        *ends = '\0';
        snprintf(region, sizeof region, "  %.0f ", number(item(words, i), "chosen"));
        char *found = strstr(line, region);
        if (!found || strcmp(ends - 6, " 100 %") != 0 || strchr(found, ','))
            fail_msg("not region %s alone: %s", region, line);
        *ends = '\n';
        line = ends;
    }
    yajl_tree_free(tree);
    free(shown);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    is_refused(2, "what-if 'region 4': there are only 3 regions",
               CAPTION("--model", model, "--what-if", "region 4"));
    is_refused(2, "all 3 regions are left out",
               CAPTION("--model", model, "--what-if", "region 1", "--what-if", "region 2",
                       "--what-if", "region 3"));
    is_refused(2, "of a caption: region N, word N=OTHER or history",
               CAPTION("--model", model, "--what-if", "positions"));
    is_refused(2, "needs a word: word 2=red", CAPTION("--model", model, "--what-if", "word 2"));
    is_refused(2, "a caption has at least one word",
               CAPTION("--model", model, "--what-if", "word 1=(end)"));
    is_refused(2, "the caption has 4 words; expected a word up to 5",
               CAPTION("--model", model, "--what-if", "word 9=w1"));
    is_refused(2, "the captioner does not know 'cube'",
               CAPTION("--model", model, "--begin", "w1 cube"));
    is_refused(2, "words for 7 places; expected 0 to 6, the longest",
               CAPTION("--model", model, "--begin", "w1 w1 w1 w1 w1 w1 w1"));
    is_refused(2, "this captioner (sat-hard) has no history",
               CAPTION("--model", other, "--what-if", "history"));
    is_refused(2, "leave one out", CAPTION("--model", model, "--read", "w1", "--read-data"));
    is_refused(2, "cannot be combined with --read",
               CAPTION("--model", model, "--read", "w1", "--begin", "w1"));
    is_refused(2, "without words", CAPTION("--model", model, "--read", ""));
    is_refused(2, "without words", CAPTION("--model", model, "--read", " "));
    is_refused(2, "word 6 of a caption of 3 words",
               CAPTION("--model", model, "--read", "w1 w2 w3", "--what-if", "word 6=w1"));
    is_refused(3, "the data have no caption of picture blocks:7",
               MORE("caption", "--assets", "assets", "--image", "blocks:7", "--read-data"));
    is_refused(2, "leave one out",
               CAPTION("--model", model, "--other-model", other, "--begin", "w1"));
    is_refused(2, "expected sat-hard", CAPTION("--model", model, "--hard", "expected"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_left_out_gets_nothing),
        cmocka_unit_test(a_forced_word_is_said),
        cmocka_unit_test(without_history_nothing_is_drawn_from_it),
        cmocka_unit_test(a_given_caption_is_read),
        cmocka_unit_test(captions_are_judged_twice_only_where_judges_differ),
        cmocka_unit_test(numbers_are_read_as_the_captioner_knows_them),
        cmocka_unit_test(words_that_a_captioner_does_not_know_are_named),
        cmocka_unit_test(a_given_caption_is_read_with_changes),
        cmocka_unit_test(two_captioners_read_the_same),
        cmocka_unit_test(captions_have_scores_beside_the_datas),
        cmocka_unit_test(the_caption_of_the_data_is_read),
        cmocka_unit_test(two_captioners_stand_side_by_side),
        cmocka_unit_test(the_scene_says_what_is_true),
        cmocka_unit_test(hard_attention_shows_one_region),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

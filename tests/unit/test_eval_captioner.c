// `visdial eval --task caption --model`: a captioner's captions of a whole split are said, kept and
// scored at once, the same with any number of threads; how they were said is named.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_tree.h>

#include "engine/base/alloc.h"
#include "features/captions/tokens.h"
#include "tests/support/must.h"
#include "tests/support/random_model.h"
#include "tests/support/support.h"
#include "tests/support/train_run.h"
#include "tui/measure/generate.h"

static char *model, *other, *hard, *out, *dialogs;

static char *captioner_file(const char *name, vd_captioner_kind kind)
{
    const vd_caption_config caption = {.captioner = kind,
                                       .vocab = 9,
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
    model = captioner_file("transformer.safetensors", VD_CAPTIONER_TRANSFORMER);
    other = captioner_file("cat.safetensors", VD_CAPTIONER_CAT);
    hard = captioner_file("hard.safetensors", VD_CAPTIONER_SAT_HARD);
    out = support_join(tiny.directory, "said.json");
    dialogs = support_join(tiny.directory, "dialogs.json");
    return 0;
}

static int end(void **state)
{
    free(dialogs);
    free(out);
    free(hard);
    free(other);
    free(model);
    return train_run_end(state);
}

#define EVAL(...) MORE("eval", "--task", "caption", "--quiet", __VA_ARGS__)
#define SAID      "--model", model, "--features", tiny.features

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

static void is_refused(int code, const char *words, const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, words, NULL);
    assert_string_equal(run.out, "");
    support_program_clear(&run);
}

static char *said(vd_captioner *captioner, const float *image, const vd_generation *how)
{
    vd_generated_caption caption;
    const char *word[VD_MAX_CAPTION];
    int count;
    vd_error err;
    must(vd_captioner_generate(captioner, image, TINY_REGIONS, how, &caption, 1, &count, &err),
         &err);
    for (int i = 0; i < caption.length; i++)
        word[i] = vd_vocab_word(vd_model_vocab(captioner->model), caption.word[i]);
    return vd_caption_text(word, caption.length);
}

static void all_pictures_get_the_caption_that_each_gets_alone(void **state)
{
    (void)state;
    vd_captioner *captioner;
    vd_regions *regions;
    vd_results *results[2];
    vd_error err;
    static const int64_t image[] = {5, 1, 8};
    const vd_generation how = {.beam = 3, .longest = 6, .no_repeat = true};
    const vd_watch watch = {0};
    must(vd_captioner_load(model, &captioner, &err), &err);
    must(vd_regions_open(tiny.features, &regions, &err), &err);
    const vd_pictures_to_caption pictures = {regions, 3, image};
    must(vd_generate_captions(captioner, &pictures, &how, VD_HARD_OWN, 1, &watch, "one",
                              &results[0], &err),
         &err);
    must(vd_generate_captions(captioner, &pictures, &how, VD_HARD_OWN, 3, &watch, "three",
                              &results[1], &err),
         &err);
    for (size_t i = 0; i < 3; i++) {
        float features[TINY_REGIONS * TINY_REGION_SIZE];
        size_t row;
        must(vd_regions_find(regions, image[i], &row, &err), &err);
        must(vd_regions_read(regions, row, features, NULL, &err), &err);
        char *expected = said(captioner, features, &how);
        assert_string_equal(vd_results_find(results[0], image[i]), expected);
        assert_string_equal(vd_results_find(results[1], image[i]), expected);
        vd_free(expected);
    }
    vd_results_free(results[0]);
    vd_results_free(results[1]);
    vd_regions_close(regions);
    vd_captioner_free(captioner);
}

// A picture has numbers of its own: the same features do not give the same draws.
static void draws_differ_from_picture_to_picture(void **state)
{
    (void)state;
    char *first = printed(EVAL(SAID, "--out", out, "--temperature", "5", "--seed", "3", "--force")),
         *again = support_join(tiny.directory, "again.json"), *text = support_read_file(out, NULL);
    free(
        printed(EVAL(SAID, "--out", again, "--temperature", "5", "--seed", "3", "--threads", "2")));
    char *same = support_read_file(again, NULL);
    assert_string_equal(text, same);
    free(same);
    free(printed(EVAL(SAID, "--out", again, "--temperature", "5", "--seed", "4", "--force")));
    char *differs = support_read_file(again, NULL);
    assert_string_not_equal(text, differs);
    assert_non_null(strstr(first, "temperature=5 seed=3 longest=20"));
    assert_non_null(strstr(first, "8 written to "));
    free(differs);
    free(text);
    free(again);
    free(first);
}

// Where hard attention looks is as asked for, drawn for each picture anew, and named.
static void hard_attention_looks_as_asked_for(void **state)
{
    (void)state;
    static const char *const ways[] = {"largest", "draw", "expected"};
    char *text[3], *said = support_join(tiny.directory, "looked.json");
    for (int i = 0; i < 3; i++) {
        char named[40];
        for (int threads = 1; threads < 3; threads++) {
            char count[2] = {(char)('0' + threads), '\0'};
            char *shown = printed(EVAL("--model", hard, "--features", tiny.features, "--out", said,
                                       "--force", "--hard", ways[i], "--threads", count));
            snprintf(named, sizeof named, "beam=%d", i == 1 ? 1 : 5);
            assert_non_null(strstr(shown, named));
            snprintf(named, sizeof named, " hard=%s\n", ways[i]);
            assert_non_null(strstr(shown, named));
            free(shown);
            char *found = support_read_file(said, NULL);
            if (threads == 1) {
                text[i] = found;
            } else {
                assert_string_equal(found, text[i]);
                free(found);
            }
        }
    }
    assert_string_not_equal(text[0], text[1]);
    is_refused(2, "expected sat-hard", EVAL(SAID, "--out", said, "--force", "--hard", "draw"));
    is_refused(2, "--hard is about captions", MORE("eval", "--model", "base", "--hard", "draw"));
    for (int i = 0; i < 3; i++)
        free(text[i]);
    free(said);
}

static double at(yajl_val tree, const char *one, const char *two)
{
    const char *path[] = {one, two, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_number);
    assert_non_null(value);
    return YAJL_GET_DOUBLE(value);
}

// Scored at once, and from what was kept.
static void what_is_said_is_scored_as_its_file_is(void **state)
{
    (void)state;
    char *now = printed(EVAL(SAID, "--references", tiny.val, "--out", out, "--json", "--beam", "2",
                             "--force", "--no-trigram", "--merge-repeats", "--resamples", "20")),
         *kept = printed(
             EVAL("--results", out, "--references", tiny.val, "--json", "--resamples", "20"));
    yajl_val one = yajl_tree_parse(now, NULL, 0), two = yajl_tree_parse(kept, NULL, 0);
    static const char *const metrics[] = {"bleu_1", "rouge_l", "cider_d", "length", "pictures"};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        assert_true(at(one, "all", metrics[i]) == at(two, "all", metrics[i]));
    assert_true(at(one, "all", "pictures") == 4);
    assert_non_null(strstr(now, "\"said\":\"beam=2 longest=20 length-power=0 no-trigram "
                                "merge-repeats\""));
    assert_null(strstr(kept, "\"said\""));
    yajl_tree_free(one);
    yajl_tree_free(two);
    free(now);
    free(kept);
}

static void two_captioners_are_compared(void **state)
{
    (void)state;
    char *json = printed(EVAL(SAID, "--references", tiny.val, "--other-model", other, "--json"));
    yajl_val tree = yajl_tree_parse(json, NULL, 0);
    assert_true(at(tree, "other", "pictures") == 4);
    const char *path[] = {"difference", "cider_d", NULL};
    assert_non_null(yajl_tree_get(tree, path, yajl_t_array));
    assert_non_null(strstr(json, "transformer.safetensors"));
    assert_non_null(strstr(json, "cat.safetensors"));
    yajl_tree_free(tree);
    free(json);
}

static void pictures_without_features_are_refused_or_left_out(void **state)
{
    (void)state;
    is_refused(3, "the first is image 99; --missing skip leaves them out",
               EVAL(SAID, "--references", dialogs));
    char *text = printed(EVAL(SAID, "--references", dialogs, "--missing", "skip"));
    assert_non_null(strstr(text, "8 pictures, 8 captions"));
    free(text);
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    char *wide = support_join(tiny.directory, "wide.safetensors");
    tiny_world_features(wide, TINY_REGION_SIZE + 1);
    is_refused(5, "they must come from one extractor",
               EVAL("--model", model, "--features", wide, "--references", tiny.val));
    is_refused(2, "--features is missing", EVAL("--model", model, "--references", tiny.val));
    is_refused(2, "a file for the captions with --out", EVAL(SAID));
    is_refused(2, "one of the two", EVAL(SAID, "--results", out, "--references", tiny.val));
    is_refused(2, "one of the two", EVAL("--references", tiny.val));
    is_refused(2, "--out needs --model",
               EVAL("--results", out, "--references", tiny.val, "--out", wide));
    is_refused(2, "--beam needs --model",
               EVAL("--results", out, "--references", tiny.val, "--beam", "2"));
    is_refused(2, "--split needs --references", EVAL(SAID, "--out", out, "--split", "val"));
    is_refused(2, "exclude each other",
               EVAL(SAID, "--references", tiny.val, "--beam", "2", "--temperature", "1"));
    is_refused(
        2, "exclude each other",
        EVAL(SAID, "--references", tiny.val, "--other-model", other, "--other-results", out));
    is_refused(2, "", EVAL(SAID, "--references", tiny.val, "--out", tiny.val)); // an input
    is_refused(5, "which answers questions",
               EVAL("--model", tiny.base, "--features", tiny.features, "--references", tiny.val));
    is_refused(2, "--beam is about captions", MORE("eval", "--model", tiny.base, "--beam", "2"));
    free(wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pictures_get_the_caption_that_each_gets_alone),
        cmocka_unit_test(draws_differ_from_picture_to_picture),
        cmocka_unit_test(hard_attention_looks_as_asked_for),
        cmocka_unit_test(what_is_said_is_scored_as_its_file_is),
        cmocka_unit_test(two_captioners_are_compared),
        cmocka_unit_test(pictures_without_features_are_refused_or_left_out),
        cmocka_unit_test(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

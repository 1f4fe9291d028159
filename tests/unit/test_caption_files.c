// Files of captions: each layout reads as what it is, words get their numbers and ids, splits and
// features choose pictures, and what is wrong is refused with file and place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "features/captions/captions.h"
#include "features/captions/results.h"
#include "tests/support/caption_files.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

static char *directory, *file;

static int begin(void **state)
{
    (void)state;
    directory = support_temp_dir();
    file = support_join(directory, "some.json");
    return 0;
}

static int end(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(file);
    free(directory);
    return 0;
}

static vd_captions *read(const char *text)
{
    vd_captions *captions;
    vd_error err = {0};
    support_write_text(file, text);
    must(vd_captions_read(file, &captions, &err), &err);
    return captions;
}

// The words of a caption with "|" between them.
static const char *words_of(const vd_captions *captions, const vd_caption *caption)
{
    static char text[400];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < caption->words.count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "|" : "",
                                 captions->words.words[caption->words.id[i]].text);
    return text;
}

// ---- what is read -------------------------------------------------------------------------------

static void karpathys_tokens_are_taken_as_they_stand(void **state)
{
    (void)state;
    vd_captions *captions = read(caption_karpathy);
    assert_string_equal(captions->kind, "Karpathy split");
    assert_int_equal(captions->count, 3);
    assert_int_equal(vd_captions_total(captions), 5);
    const vd_captioned *image = captions->image;
    assert_int_equal(image[0].image_id, 7);
    assert_string_equal(image[0].split, "train");
    assert_string_equal(image[0].caption[0].text, "A red ball.");
    assert_string_equal(words_of(captions, &image[0].caption[0]), "a|red|ball");
    assert_string_equal(image[1].split, "restval");
    assert_string_equal(image[1].caption[0].text, "the dog's ball, a red ball"); // no raw
    assert_int_equal(image[2].image_id, 4);                                      // no cocoid
    assert_int_equal(image[2].caption[0].words.count, 0);
    assert_ptr_equal(vd_captions_find(captions, 9), &image[1]);
    assert_null(vd_captions_find(captions, 8));
    vd_captions_free(captions);
}

static void coco_annotations_find_their_images(void **state)
{
    (void)state;
    vd_captions *captions = read(caption_coco);
    assert_string_equal(captions->kind, "COCO captions");
    assert_int_equal(captions->count, 3);
    assert_int_equal(captions->image[0].captions, 2); // in the order of the file
    assert_string_equal(captions->image[0].caption[0].text, "A red ball.");
    assert_string_equal(words_of(captions, &captions->image[0].caption[0]), "a|red|ball|.");
    assert_string_equal(captions->image[0].caption[1].text, "Two balls");
    assert_string_equal(words_of(captions, &captions->image[1].caption[0]), "a|man|'s|hat");
    assert_string_equal(captions->image[2].split, "");
    vd_captions_free(captions);
}

static void captions_of_dialogs_are_read_from_both_forms(void **state)
{
    (void)state;
    vd_captions *captions;
    vd_error err = {0};
    must(vd_captions_read("tests/fixtures/dialogs.json", &captions, &err), &err);
    assert_string_equal(captions->kind, "VisDial captions");
    assert_true(captions->count > 0);
    for (size_t i = 0; i < captions->count; i++)
        assert_int_equal(captions->image[i].captions, 1);
    vd_captions_free(captions);
}

static void results_come_back_as_they_were_written(void **state)
{
    (void)state;
    static const vd_result list[] = {{9, "a ball"}, {4, ""}, {7, "two \"red\" balls\n\u00e9"}};
    vd_results *results;
    vd_error err = {0};
    must(vd_results_write(file, list, 3, &err), &err);
    must(vd_results_read(file, &results, &err), &err);
    assert_int_equal(results->count, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(vd_results_find(results, list[i].image_id), list[i].caption);
    assert_null(vd_results_find(results, 5));
    vd_results_free(results);
}

static vd_status keep_results(void *context, vd_error *err)
{
    vd_results *results;
    vd_status status = vd_results_new("epoch 3", context, 2, &results, err);
    vd_results_free(results);
    return status;
}

static void results_in_memory_are_as_from_a_file(void **state)
{
    (void)state;
    char text[] = "a ball";
    vd_result list[] = {{9, text}, {4, "a dog"}};
    vd_results *results;
    vd_error err = {0};
    must(vd_results_new("epoch 3", list, 2, &results, &err), &err);
    text[0] = 'b'; // they are copied
    assert_string_equal(vd_results_find(results, 9), "a ball");
    assert_string_equal(vd_results_find(results, 4), "a dog");
    vd_results_free(results);
    assert_true(support_fail_each_allocation(keep_results, list) >= 3);
    list[1].image_id = 9;
    support_refused(vd_results_new("epoch 3", list, 2, &results, &err), VD_FORMAT, &err, "epoch 3",
                    "image 9", NULL);
}

// ---- splits, features, vocabulary ---------------------------------------------------------------

static void train_takes_restval_too(void **state)
{
    (void)state;
    vd_error err = {0};
    vd_captions *captions = read(caption_karpathy);
    must(vd_captions_choose(captions, "train", &err), &err);
    assert_int_equal(captions->count, 2);
    assert_int_equal(captions->image[1].image_id, 9);
    support_refused(vd_captions_choose(captions, "test", &err), VD_NOT_FOUND, &err, "some.json",
                    "\"test\"", "train, restval", NULL);
    vd_captions_free(captions);
    captions = read(caption_coco);
    must(vd_captions_choose(captions, "val", &err), &err);
    assert_int_equal(captions->count, 3);
    vd_captions_free(captions);
}

static vd_regions *regions_of(const int64_t *images, size_t count)
{
    vd_region_set set;
    vd_regions *regions;
    vd_error err = {0};
    char *path = support_join(directory, "regions.safetensors");
    must(vd_region_set_new(count, 1, 2, &set, &err), &err);
    for (size_t i = 0; i < count; i++) {
        set.image_id[i] = images[i];
        set.used[i] = 1;
        set.features[2 * i] = 0x3c00;
    }
    must(vd_region_set_write(&set, path, "test", &err), &err);
    vd_region_set_clear(&set);
    must(vd_regions_open(path, &regions, &err), &err);
    free(path);
    return regions;
}

static void pictures_without_features_are_counted(void **state)
{
    (void)state;
    size_t skipped;
    vd_error err = {0};
    vd_captions *captions = read(caption_karpathy);
    vd_regions *regions = regions_of((int64_t[]){3, 9}, 2);
    support_refused(vd_captions_match(captions, regions, VD_MISSING_REFUSE, &skipped, &err),
                    VD_NOT_FOUND, &err, "regions.safetensors", "2 of the 3", "image 7", NULL);
    must(vd_captions_match(captions, regions, VD_MISSING_SKIP, &skipped, &err), &err);
    assert_int_equal(skipped, 2);
    assert_int_equal(captions->count, 1);
    assert_int_equal(captions->image[0].image_id, 9);
    vd_regions_close(regions);
    regions = regions_of((int64_t[]){3}, 1);
    support_refused(vd_captions_match(captions, regions, VD_MISSING_SKIP, &skipped, &err),
                    VD_NOT_FOUND, &err, "1 of the 1", "image 9", NULL);
    vd_regions_close(regions);
    vd_captions_free(captions);
}

static void words_are_ordered_by_count_and_then_as_in_the_file(void **state)
{
    (void)state;
    static const char *const expected[] = {"ball", "a", "red", "two", "balls"};
    vd_error err = {0};
    vd_vocab *vocab;
    int32_t *ids;
    vd_captions *captions = read(caption_karpathy);
    must(vd_captions_choose(captions, "train", &err), &err);
    must(vd_captions_vocab(captions, 1, 0, &vocab, &err), &err);
    for (int i = 0; i < 5; i++)
        assert_string_equal(vd_vocab_word(vocab, VD_FIRST_WORD + i), expected[i]);
    assert_int_equal(vd_vocab_size(vocab), VD_FIRST_WORD + 9);
    vd_vocab_free(vocab);
    must(vd_captions_vocab(captions, 2, 7, &vocab, &err), &err); // without the eighth word, "ball"
    assert_int_equal(vd_vocab_size(vocab), VD_FIRST_WORD + 3);
    assert_string_equal(vd_vocab_word(vocab, VD_FIRST_WORD), "a");
    must(vd_captions_ids(captions, vocab, &ids, &err), &err);
    const vd_tokens words = captions->image[0].caption[0].words;
    assert_int_equal(ids[words.id[0]], VD_FIRST_WORD);
    assert_int_equal(ids[words.id[1]], VD_FIRST_WORD + 1);
    assert_int_equal(ids[captions->image[0].caption[1].words.id[0]], VD_UNKNOWN);
    vd_free(ids);
    vd_vocab_free(vocab);
    vd_captions_free(captions);
}

// ---- tokens -------------------------------------------------------------------------------------

static void is_tokenized(vd_caption_tokenizer by, const char *text, const char *expected)
{
    vd_words words;
    vd_error err = {0};
    char found[400] = "";
    must(vd_caption_tokenize(text, by, &words, &err), &err);
    for (size_t i = 0, used = 0; i < words.count; i++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%s", i ? " " : "",
                                 words.word[i]);
    assert_string_equal(found, expected);
    vd_words_clear(&words);
}

// The right sides are what Stanford's tokenizer and coco-caption's list leave.
static void cocos_tokens_have_no_punctuation(void **state)
{
    (void)state;
    is_tokenized(VD_CAPTION_COCO, "A man. The dog sits.", "a man the dog sits");
    is_tokenized(VD_CAPTION_COCO, "A man (and hat) - smiling!",
                 "a man -lrb- and hat -rrb- smiling");
    is_tokenized(VD_CAPTION_COCO, "it's John's dog, isn't it?", "it 's john 's dog is n't it");
    is_tokenized(VD_CAPTION_COCO, "a \"stop\" sign; the boys' bikes", "a stop sign the boys bikes");
    is_tokenized(VD_CAPTION_COCO, "'quoted' two- and three-story dogs -- cats",
                 "quoted two and three-story dogs cats");
    is_tokenized(VD_CAPTION_COCO, "\u201ccurly\u201d \u2018quotes\u2019 it\u2019s\u2026 a\u2014b",
                 "curly quotes it 's a b");
    is_tokenized(VD_CAPTION_COCO, "cannot go $5 50% 10 o'clock cats...",
                 "can not go $ 5 50 % 10 o'clock cats");
    is_tokenized(VD_CAPTION_COCO, ". , !", "");
    is_tokenized(VD_CAPTION_WORDS, "A Red, red ball.", "a red , red ball .");
    is_tokenized(VD_CAPTION_GIVEN, "  A red-ish\tball ,\n", "A red-ish ball ,");
    is_tokenized(VD_CAPTION_GIVEN, "", "");
}

static void text_has_no_blanks_before_marks(void **state)
{
    (void)state;
    static const char *const words[] = {"the", "dog", "'s", "ball", ",", "is", "n't", "red", "!"};
    char *text = vd_caption_text(words, 9);
    assert_string_equal(text, "the dog's ball, isn't red!");
    vd_free(text);
    text = vd_caption_text(words, 0);
    assert_string_equal(text, "");
    vd_free(text);
}

static void words_of_one_stem_have_one_number(void **state)
{
    (void)state;
    vd_captions *captions = read(caption_karpathy);
    vd_error err = {0};
    int32_t *stem;
    must(vd_caption_stems(&captions->words, &stem, &err), &err);
    int32_t ball = vd_word_counts_number(&captions->words, "ball"),
            balls = vd_word_counts_number(&captions->words, "balls"),
            dog = vd_word_counts_number(&captions->words, "dog");
    assert_int_equal(stem[ball], stem[balls]);
    assert_int_not_equal(stem[ball], stem[dog]);
    vd_free(stem);
    vd_captions_free(captions);
}

static void a_word_without_a_stem_is_its_own(void **state)
{
    (void)state;
    vd_word_counts words = {0};
    vd_error err = {0};
    int32_t *stem;
    must(vd_word_counts_add(&words, "''s", 1, &err), &err);
    must(vd_word_counts_add(&words, "''s'", 1, &err), &err);
    must(vd_caption_stems(&words, &stem, &err), &err);
    assert_int_not_equal(stem[0], stem[1]);
    vd_free(stem);
    vd_word_counts_clear(&words);
}

// ---- what is refused ----------------------------------------------------------------------------

// The text with the first `from` in it replaced; free().
static char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("'%s' is not in the file", from);
    size_t size = strlen(text) + strlen(to) + 1;
    char *other = malloc(size);
    snprintf(other, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return other;
}

typedef vd_status reader(const char *path, vd_error *err);

static void is_refused(reader *open, const char *text, const char *place)
{
    vd_error err = {0};
    support_write_text(file, text);
    support_refused(open(file, &err), VD_FORMAT, &err, file, place, NULL);
}

// Values of other kinds in place of each: every one is refused, with its place.
static int wrong_kinds(reader *open, const char *text, const char *key, const char *value,
                       const char *wrong, const char *place)
{
    char from[100], to[100], list[200];
    int count = 0;
    snprintf(from, sizeof from, "%s%s", key, value);
    snprintf(list, sizeof list, "%s", wrong);
    for (char *rest = list, *word; (word = strtok_r(rest, " ", &rest)); count++) {
        snprintf(to, sizeof to, "%s%s", key, word);
        char *other = changed(text, from, to);
        is_refused(open, other, place);
        free(other);
    }
    return count;
}

static void sixty_damaged_files_are_refused_with_their_place(void **state)
{
    (void)state;
    static const char number[] = "null true \"7\" [] {} 1.5 -1 1e99 99999999999999999999",
                      string[] = "null false 7 [] {}", list[] = "null true 7 \"x\" {}",
                      object[] = "null false 7 \"x\" []";
    reader *captions = caption_files_read, *results = caption_files_read_results;
    int count = 0;
    count += wrong_kinds(captions, caption_karpathy, "\"cocoid\": ", "7", number, "line 2");
    count += wrong_kinds(captions, caption_karpathy, "\"imgid\": ", "4", number, "line 7");
    count += wrong_kinds(captions, caption_karpathy, "\"split\": ", "\"train\"", string, "image 7");
    count += wrong_kinds(captions, caption_karpathy, "[\"a\", ", "\"red\"", string,
                         "image 7, sentence 1");
    count += wrong_kinds(captions, caption_karpathy, "\"tokens\": ", "[]", list, "sentence 1");
    count += wrong_kinds(captions, caption_karpathy, "\"raw\": ", "\"Two balls!\"", string,
                         "image 7, sentence 2");
    count += wrong_kinds(captions, caption_coco, "\"image_id\": ", "9", number, "annotation 1");
    count +=
        wrong_kinds(captions, caption_coco, "\"caption\": ", "\"a dog\"", string, "annotation 3");
    count +=
        wrong_kinds(captions, caption_coco, "\"id\": ", "4}", "null} true} \"4\"} -1}", "line 7");
    count +=
        wrong_kinds(captions, caption_coco, "\"licenses\": [],\n\"annotations\": [",
                    "{\"caption\": \"A man's hat\", \"image_id\": 9, \"id\": 1}", object, "line 2");
    count += wrong_kinds(results, caption_results, "\"image_id\": ", "7", number, "entry 2");
    count +=
        wrong_kinds(results, caption_results, "\"caption\": ", "\"a ball\"", string, "entry 1");
    assert_true(count >= 60);
    print_message("%d files\n", count);
}

static void what_does_not_fit_together_is_refused(void **state)
{
    (void)state;
    static const struct {
        reader *open;
        const char *text, *from, *to, *place;
    } list[] = {
        {caption_files_read, caption_karpathy, "\"split\": \"restval\", ", "", "image 9"},
        {caption_files_read, caption_karpathy, "\"imgid\": 4, ", "", "image number 3"},
        {caption_files_read, caption_karpathy, "\"cocoid\": 9", "\"cocoid\": 7",
         "image 7 is there"},
        {caption_files_read, caption_karpathy, "{\"tokens\": [], \"raw\": \"\"}, ", "{}, ",
         "image 4, sentence 1"},
        {caption_files_read, caption_karpathy, "[\"two\", \"balls\"]", "[\"\"]", "1 to 255"},
        {caption_files_read, caption_karpathy, "\"sentences\": [\n {\"tokens\": [\"the",
         "\"sentences\": [], \"x\": [\n {\"tokens\": [\"the", "image 9"},
        {caption_files_read, caption_karpathy, "\"images\"", "\"pictures\"", "expected captions"},
        {caption_files_read, caption_karpathy, "]}]}\n", "]}", "cut short"},
        {caption_files_read, caption_coco, "\"image_id\": 4", "\"image_id\": 5",
         "annotation 3 is of image 5"},
        {caption_files_read, caption_coco, "\"image_id\": 4", "\"image_id\": 7",
         "the first is image 4"},
        {caption_files_read, caption_coco, "{\"id\": 4}", "{\"id\": 9}", "image 9 is there twice"},
        {caption_files_read, caption_coco, "\"id\": 7, ", "", "image number 1"},
        {caption_files_read, caption_coco, "\"images\": [", "\"images\": [], \"x\": [",
         "no \"images\""},
        {caption_files_read, caption_coco, "\"annotations\"", "\"notes\"", "expected captions"},
        {caption_files_read, caption_coco, "a dog", "\\u0000", "annotation 3"},
        {caption_files_read, caption_coco, "a dog", "\xff", "line 4"},
        {caption_files_read_results, caption_results, "9", "7", "two captions of image 7"},
        {caption_files_read_results, caption_results, ", \"image_id\": 7", "", "entry 2"},
        {caption_files_read_results, caption_results, "]\n", "", "cut short"},
        {caption_files_read_results, "[]", "[]", "[]", "no captions"},
        {caption_files_read_results, "{}", "{}", "{}", "expected a list"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char *other = changed(list[i].text, list[i].from, list[i].to);
        is_refused(list[i].open, other, list[i].place);
        free(other);
    }
}

static void a_caption_without_end_is_refused(void **state)
{
    (void)state;
    char words[2 * VD_CAPTION_MOST + 8] = "";
    for (int i = 0; i <= VD_CAPTION_MOST; i++)
        memcpy(words + 2 * i, "a ", 3);
    char *other = changed(caption_coco, "a dog", words);
    is_refused(caption_files_read, other, "annotation 3: a caption of 257 words");
    free(other);
}

static vd_status read_karpathy(void *context, vd_error *err)
{
    return caption_files_read(context, err);
}

static vd_status read_results(void *context, vd_error *err)
{
    return caption_files_read_results(context, err);
}

static void running_out_of_memory_leaves_nothing(void **state)
{
    (void)state;
    caption_files_karpathy(file);
    assert_true(support_fail_each_allocation(read_karpathy, file) > 10);
    caption_files_coco(file);
    assert_true(support_fail_each_allocation(read_karpathy, file) > 10);
    caption_files_results(file);
    assert_true(support_fail_each_allocation(read_results, file) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(karpathys_tokens_are_taken_as_they_stand),
        cmocka_unit_test(coco_annotations_find_their_images),
        cmocka_unit_test(captions_of_dialogs_are_read_from_both_forms),
        cmocka_unit_test(results_come_back_as_they_were_written),
        cmocka_unit_test(results_in_memory_are_as_from_a_file),
        cmocka_unit_test(train_takes_restval_too),
        cmocka_unit_test(pictures_without_features_are_counted),
        cmocka_unit_test(words_are_ordered_by_count_and_then_as_in_the_file),
        cmocka_unit_test(cocos_tokens_have_no_punctuation),
        cmocka_unit_test(text_has_no_blanks_before_marks),
        cmocka_unit_test(words_of_one_stem_have_one_number),
        cmocka_unit_test(a_word_without_a_stem_is_its_own),
        cmocka_unit_test(sixty_damaged_files_are_refused_with_their_place),
        cmocka_unit_test(what_does_not_fit_together_is_refused),
        cmocka_unit_test(a_caption_without_end_is_refused),
        cmocka_unit_test(running_out_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

// visdial train --task caption reads every format of captions: Karpathy's splits, COCO, VisDial,
// what `blocks make --captions` writes; pictures without features, and splits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/captioner.h"
#include "tests/support/must.h"
#include "tests/support/support.h"
#include "tests/support/train_run.h"

#define SMALL "--task", "caption", "--heads", "2", "--layers", "1", "--inner", "8"

// Pictures 1..3 to train on, of which the last is restval's, 4 to validate on, 5 to test; %s is the
// key of their number.
#define KARPATHY                                                                                   \
    "{\"images\": ["                                                                               \
    "{\"%s\": 1, \"split\": \"train\", \"sentences\": [{\"tokens\": [\"a\", \"red\", \"cube\"], "  \
    "\"raw\": \"A red cube.\"}, {\"tokens\": [\"a\", \"cube\"]}]},"                                \
    "{\"%s\": 4, \"split\": \"val\", \"sentences\": [{\"tokens\": [\"unseen\", \"ball\"]}]},"      \
    "{\"%s\": 2, \"split\": \"train\", \"sentences\": [{\"tokens\": [\"the\", \"blue\", "          \
    "\"ball\"]}, {\"tokens\": [\"a\", \"ball\"]}]},"                                               \
    "{\"%s\": 5, \"split\": \"test\", \"sentences\": [{\"tokens\": [\"a\", \"tested\", "           \
    "\"ball\"]}]},"                                                                                \
    "{\"%s\": 3, \"split\": \"restval\", \"sentences\": [{\"tokens\": [\"a\", \"ball\"]}]}]}"

// The same captions of 1..3; keys and annotations in another order.
static const char coco[] =
    "{\"annotations\": [{\"caption\": \"A ball\", \"image_id\": 3, \"id\": 9},"
    "{\"image_id\": 1, \"id\": 1, \"caption\": \"A red cube\"},"
    "{\"id\": 2, \"caption\": \"a cube\", \"image_id\": 1},"
    "{\"image_id\": 2, \"id\": 3, \"caption\": \"The blue ball\"},"
    "{\"image_id\": 2, \"id\": 4, \"caption\": \"a ball\"}],"
    "\"info\": {\"year\": 2014}, \"images\": [{\"id\": 1}, {\"height\": 2, \"id\": 2}, {\"id\": "
    "3}]}";

static char *karpathy_file, *flickr_file, *coco_file;

static char *file_of(const char *name, const char *text)
{
    char *path = support_join(tiny.directory, name);
    support_write_text(path, text);
    return path;
}

static char *karpathy_of(const char *name, const char *key)
{
    char text[2048];
    snprintf(text, sizeof text, KARPATHY, key, key, key, key, key);
    return file_of(name, text);
}

static int begin(void **state)
{
    train_run_world(state);
    karpathy_file = karpathy_of("dataset_coco.json", "cocoid");
    flickr_file = karpathy_of("dataset_flickr8k.json", "imgid");
    coco_file = file_of("captions_train2014.json", coco);
    return 0;
}

static int end(void **state)
{
    free(karpathy_file);
    free(flickr_file);
    free(coco_file);
    return train_run_end(state);
}

static char *metadata_of(const char *out, const char *key)
{
    char *path = train_run_file(out, "model.safetensors");
    vd_captioner *captioner;
    vd_error err;
    must(vd_captioner_load(path, &captioner, &err), &err);
    char *text = strdup(vd_model_metadata(captioner->model, key));
    vd_captioner_free(captioner);
    free(path);
    return text;
}

static void every_format_trains_the_same_captioner(void **state)
{
    const char *const data[] = {karpathy_file, flickr_file, coco_file};
    static const char *const out[] = {"karpathy", "flickr", "coco"};
    char *scalars[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        train_run_expect(out[i], 0, "", MORE(SMALL, "--data", data[i]));
        char *found = metadata_of(out[i], "data"), *source = metadata_of(out[i], "trained_on");
        assert_ptr_equal(strstr(found, "captions=5 hash="), found);
        assert_ptr_equal(
            strstr(source, i == 0   ? "dataset_coco.json (Karpathy split train and restval)"
                           : i == 1 ? "dataset_flickr8k.json (Karpathy split train and restval)"
                                    : "captions_train2014.json (COCO captions )"),
            source);
        scalars[i] = train_run_scalars(out[i]);
        free(source);
        free(found);
    }
    assert_string_equal(scalars[0], scalars[1]);
    assert_non_null(strstr(scalars[2], "train/loss 1 "));
    for (size_t i = 0; i < 3; i++)
        free(scalars[i]);
}

// <PAD> <S> </S> <UNK>, then by falling count, ties in file order; of train and restval alone.
static void words_are_those_of_the_training_split(void **state)
{
    static const char *const expected[] = {"a", "ball", "cube", "red", "the", "blue"};
    char *path = train_run_file("karpathy", "model.safetensors");
    vd_captioner *captioner;
    vd_error err;
    (void)state;
    must(vd_captioner_load(path, &captioner, &err), &err);
    const vd_vocab *vocab = vd_model_vocab(captioner->model);
    assert_int_equal(vd_vocab_size(vocab), 4 + 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(vd_vocab_word(vocab, 4 + i), expected[i]);
    vd_captioner_free(captioner);
    free(path);
    train_run_expect("often", 0, "", MORE(SMALL, "--data", karpathy_file, "--min-count", "3"));
    path = train_run_file("often", "model.safetensors");
    must(vd_captioner_load(path, &captioner, &err), &err);
    assert_int_equal(vd_model_config(captioner->model)->vocab, 4 + 2); // a, ball
    vd_captioner_free(captioner);
    free(path);
    train_run_expect("no-words", 4, "no word occurs 99 times in",
                     MORE(SMALL, "--data", karpathy_file, "--min-count", "99"));
}

static void splits_are_chosen(void **state)
{
    (void)state;
    train_run_expect("split", 0, "",
                     MORE(SMALL, "--data", karpathy_file, "--val", karpathy_file, "--val-features",
                          tiny.features));
    char *kept = train_run_file("split", "log.tsv"), *log = support_read_file(kept, NULL);
    double loss;
    assert_int_equal(sscanf(strstr(log, "\n1\t"), "\n1\t1\t%*f\t%lf", &loss), 1); // of val
    free(log);
    free(kept);
    train_run_expect("tested", 0, "",
                     MORE(SMALL, "--data", karpathy_file, "--split", "test", "--stop-after", "1"));
    train_run_expect("tested", 0, "", MORE("--data", karpathy_file, "--resume")); // the split, too
    char *data = metadata_of("tested", "data");
    assert_ptr_equal(strstr(data, "captions=1 hash="), data);
    free(data);
    train_run_expect("none", 3, "no picture of split \"dev\"; it has train, val, test, restval",
                     MORE(SMALL, "--data", karpathy_file, "--split", "dev"));
    train_run_expect("none", 2, "--split needs --task caption", MORE("--split", "train"));
    train_run_expect("none", 2, "--val-split needs --val", MORE(SMALL, "--val-split", "test"));
}

// A file that is of one split is taken whole, whatever its split.
static void dialogs_give_their_captions(void **state)
{
    (void)state;
    train_run_expect("dialogs", 0, "", MORE(SMALL, "--data", tiny.val));
    char *data = metadata_of("dialogs", "data");
    assert_ptr_equal(strstr(data, "captions=4 hash="), data);
    free(data);
}

static void pictures_without_features_are_refused_or_left_out(void **state)
{
    (void)state;
    char *more = file_of("more.json", "{\"annotations\": [{\"image_id\": 1, \"caption\": \"a\"}, "
                                      "{\"image_id\": 4711, \"caption\": \"a\"}, {\"image_id\": "
                                      "4712, \"caption\": \"a\"}], \"images\": [{\"id\": 1}, "
                                      "{\"id\": 4711}, {\"id\": 4712}]}");
    train_run_expect("missing", 3, "2 of the 3 pictures", MORE(SMALL, "--data", more));
    train_run_expect("missing", 3, "the first is image 4711; --missing skip leaves them out",
                     MORE(SMALL, "--data", more));
    train_run_expect("missing", 0, "2 of 3 pictures have no features in",
                     MORE(SMALL, "--data", more, "--missing", "skip", "--stop-after", "1"));
    train_run_expect("missing", 0, "2 of 3 pictures have no features in",
                     MORE("--data", more, "--resume"));
    // Of --val, too, and once.
    support_program run;
    train_run_start(&run, "of val", 0,
                    MORE(SMALL, "--val", more, "--val-features", tiny.features, "--missing", "skip",
                         "--stop-after", "1"));
    support_program_wait(&run);
    support_program_expect(&run, 0, "2 of 3 pictures have no features in", NULL);
    assert_null(strstr(strstr(run.err, "2 of 3") + 1, "2 of 3"));
    support_program_clear(&run);
    free(more);
}

// A run knows its captions.
static void other_captions_do_not_continue_a_run(void **state)
{
    (void)state;
    train_run_expect("continued", 0, "", MORE(SMALL, "--data", karpathy_file, "--stop-after", "1"));
    train_run_expect("continued", 5, "was started with other data (captions=5 hash=",
                     MORE("--data", tiny.val, "--resume"));
    train_run_expect("continued", 0, "", MORE("--data", karpathy_file, "--resume"));
}

static int steps_of(const char *out)
{
    char *scalars = train_run_scalars(out);
    int steps = 0;
    for (const char *at = scalars; (at = strstr(at, "train/loss ")); at++)
        steps++;
    free(scalars);
    return steps;
}

static void program(const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
}

// Pictures of 50 captions a step, unless --batch says how many pictures.
static void a_batch_has_fifty_captions(void **state)
{
    FILE *out;
    char *path = support_join(tiny.directory, "twenty_five.json"),
         *directory = support_join(tiny.directory, "fifty");
    (void)state;
    assert_non_null(out = fopen(path, "w"));
    fprintf(out, "{\"images\": [");
    for (int i = 1; i <= 8; i++) {
        fprintf(out, "%s{\"imgid\": %d, \"split\": \"train\", \"sentences\": [", i > 1 ? "," : "",
                i);
        for (int c = 0; c < 25; c++)
            fprintf(out, "%s{\"tokens\": [\"a\", \"ball\"]}", c ? "," : "");
        fprintf(out, "]}");
    }
    fprintf(out, "]}");
    assert_int_equal(fclose(out), 0);
    const char *const arguments[] = {
        "train",       "--quiet", "--data",   path, "--features", tiny.features,
        "--out",       directory, "--embed",  "6",  "--hidden",   "4",
        "--min-count", "1",       "--epochs", "1",  SMALL,        NULL};
    program(arguments);
    assert_int_equal(steps_of("fifty"), 4); // of 2 pictures
    train_run_expect("three", 0, "", MORE(SMALL, "--data", path));
    assert_int_equal(steps_of("three"), 2 * 3); // --batch 3, twice
    free(directory);
    free(path);
}

static void blocks_captions_train_a_captioner(void **state)
{
    char *blocks = support_join(tiny.directory, "blocks"), *out = support_join(blocks, "run"),
         *train = support_join(blocks, "train_captions.json"),
         *val = support_join(blocks, "val_captions.json"),
         *features = support_join(blocks, "train_features.safetensors"),
         *val_features = support_join(blocks, "val_features.safetensors");
    (void)state;
    program((const char *const[]){"blocks", "make", "--out", blocks, "--train", "6", "--val", "3",
                                  "--test", "0", "--captions", "3", "--quiet", NULL});
    program((const char *const[]){"train",      "--quiet",    "--data",
                                  train,        "--features", features,
                                  "--val",      val,          "--val-features",
                                  val_features, "--out",      out,
                                  "--hidden",   "8",          "--min-count",
                                  "1",          "--epochs",   "1",
                                  "--batch",    "2",          SMALL,
                                  NULL});
    char *data = metadata_of("blocks/run", "data");
    assert_ptr_equal(strstr(data, "captions=18 hash="), data);
    assert_int_equal(steps_of("blocks/run"), 3);
    free(data);
    free(val_features);
    free(features);
    free(val);
    free(train);
    free(out);
    free(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_trains_the_same_captioner),
        cmocka_unit_test(words_are_those_of_the_training_split),
        cmocka_unit_test(splits_are_chosen),
        cmocka_unit_test(dialogs_give_their_captions),
        cmocka_unit_test(pictures_without_features_are_refused_or_left_out),
        cmocka_unit_test(other_captions_do_not_continue_a_run),
        cmocka_unit_test(a_batch_has_fifty_captions),
        cmocka_unit_test(blocks_captions_train_a_captioner),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

// Pictures without features are left out, and it is said how many; or they are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "features/dialogs/dataset.h"
#include "engine/base/safetensors.h"
#include "features/dialogs/pack.h"
#include "tests/support/must.h"
#include "tests/support/one_world.h"
#include "tests/support/program.h"
#include "tests/support/pty.h"
#include "tests/support/support.h"

static char *dialogs_path, *packed_path; // of eight pictures with features and one without
static vd_regions *regions;

static int set_up(void **state)
{
    vd_error err;
    vd_visdial *dialogs;
    make_tiny(state);
    dialogs_path = support_join(tiny.directory, "dialogs.json");
    packed_path = support_join(tiny.directory, "dialogs.packed");
    must(vd_visdial_read(dialogs_path, &dialogs, &err), &err);
    must(vd_visdial_pack(dialogs, NULL, "tiny", packed_path, &err), &err);
    must(vd_regions_open(tiny.features, &regions, &err), &err);
    vd_visdial_free(dialogs);
    return 0;
}

static int tear_down(void **state)
{
    vd_regions_close(regions);
    free(dialogs_path);
    free(packed_path);
    return remove_tiny(state);
}

// Only those with features, whatever file they come from: as the training data has them.
static void dialogs_without_features_are_left_out(void **state)
{
    (void)state;
    vd_error err;
    vd_visdial *expected;
    must(vd_visdial_read(tiny.train, &expected, &err), &err);
    for (int packed = 0; packed < 2; packed++) {
        vd_visdial *dialogs;
        vd_vocab *words;
        size_t skipped;
        must(vd_visdial_open(packed ? packed_path : dialogs_path, &dialogs, &err), &err);
        assert_int_equal(dialogs->dialog_count, TINY_PICTURES + 1);
        assert_int_not_equal(vd_visdial_hash(dialogs), vd_visdial_hash(expected));
        must(vd_visdial_match(dialogs, regions, VD_MISSING_SKIP, &skipped, &err), &err);
        assert_int_equal(skipped, 1);
        assert_int_equal(dialogs->dialog_count, TINY_PICTURES);
        assert_int_equal(vd_visdial_hash(dialogs), vd_visdial_hash(expected));
        assert_null(vd_visdial_find(dialogs, TINY_BARE));
        assert_int_equal(vd_visdial_find(dialogs, 3)->image_id, 3);
        must(vd_visdial_match(dialogs, regions, VD_MISSING_REFUSE, &skipped, &err), &err);
        assert_int_equal(skipped, 0);
        must(vd_dataset_vocab(dialogs, 9, &words, &err), &err);
        assert_true(vd_vocab_size(words) > VD_FIRST_WORD);
        vd_dataset *set;
        must(vd_dataset_new(dialogs, regions, words, &set, &err), &err);
        vd_dataset_free(set);
        vd_vocab_free(words);
        vd_visdial_free(dialogs);
    }
    vd_visdial_free(expected);
}

// What is left is counted, candidates among it, so these are looked at.
static void damaged_candidates_of_those_left_are_refused(void **state)
{
    (void)state;
    vd_error err;
    vd_visdial *dialogs;
    vd_safetensors *file;
    size_t skipped, size;
    char *bytes = support_read_file(packed_path, &size);
    must(vd_safetensors_open(packed_path, &file, &err), &err);
    const vd_tensor *candidates = vd_safetensors_find(file, "candidates");
    size_t total = 0;
    for (size_t i = 0; i < vd_safetensors_count(file); i++)
        total +=
            vd_safetensors_at(file, i)->elements * vd_dtype_size(vd_safetensors_at(file, i)->dtype);
    const char *first = vd_safetensors_at(file, 0)->data;
    const int32_t far = 0x7ffffff0;
    memcpy(bytes + (size - total) + ((const char *)candidates->data - first), &far, sizeof far);
    vd_safetensors_close(file);
    char *damaged = support_join(tiny.directory, "damaged.packed");
    support_write_file(damaged, bytes, size);
    must(vd_visdial_open(damaged, &dialogs, &err), &err);
    support_refused(vd_visdial_match(dialogs, regions, VD_MISSING_SKIP, &skipped, &err), VD_FORMAT,
                    &err, damaged, "pack the dialogs again", NULL);
    vd_visdial_free(dialogs);
    free(damaged);
    free(bytes);
}

static void they_can_be_refused_and_so_are_all(void **state)
{
    (void)state;
    vd_error err;
    vd_visdial *dialogs;
    size_t skipped;
    must(vd_visdial_read(dialogs_path, &dialogs, &err), &err);
    support_refused(vd_visdial_match(dialogs, regions, VD_MISSING_REFUSE, &skipped, &err),
                    VD_NOT_FOUND, &err, "no features of image 99", "1 of 9 pictures",
                    "--missing skip", NULL);
    assert_int_equal(dialogs->dialog_count, TINY_PICTURES + 1);
    vd_region_set none;
    char *path = support_join(tiny.directory, "none.safetensors");
    vd_regions *others;
    must(vd_region_set_new(1, 1, 5, &none, &err), &err);
    none.image_id[0] = 77;
    none.used[0] = 1;
    must(vd_region_set_write(&none, path, "none", &err), &err);
    must(vd_regions_open(path, &others, &err), &err);
    support_refused(vd_visdial_match(dialogs, others, VD_MISSING_SKIP, &skipped, &err),
                    VD_NOT_FOUND, &err, path, "none of the 9 pictures", NULL);
    vd_regions_close(others);
    vd_region_set_clear(&none);
    vd_visdial_free(dialogs);
    free(path);
}

static void expect(const char *const *arguments, int code, const char *said)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, said, NULL);
    support_program_clear(&run);
}
#define EXPECT(code, said, ...) expect((const char *const[]){__VA_ARGS__, NULL}, code, said)

static void training_and_evaluation_say_how_many(void **state)
{
    (void)state;
    static const char said[] = "1 of 9 pictures have no features in ",
                      refused[] = "no features of image 99";
    char *out = support_join(tiny.directory, "run");
    EXPECT(0, said, "eval", "--model", "base", "--resamples", "0");
    EXPECT(3, refused, "eval", "--model", "base", "--missing", "refuse");
    EXPECT(2, "expected skip or refuse", "eval", "--model", "base", "--missing", "both");
    EXPECT(3, refused, "train", "--data", dialogs_path, "--features", tiny.features, "--out", out,
           "--missing", "refuse");
    assert_false(support_exists(out));
    EXPECT(0, said, "train", "--data", packed_path, "--features", tiny.features, "--val",
           dialogs_path, "--val-features", tiny.features, "--val-dense", tiny.dense, "--out", out,
           "--epochs", "1", "--embed", "4", "--hidden", "4", "--min-count", "1");
    free(out);
}

// With the features, rankings of the others are all that is expected.
static void rankings_of_those_left_are_measured(void **state)
{
    (void)state;
    char *ranks = support_join(tiny.directory, "ranks.json");
    EXPECT(0, "1 of 9 pictures", "eval", "--model", "base", "--resamples", "0", "--ranks", ranks);
    EXPECT(5, "image 99, round 1 has no ranks", "eval", "--from-ranks", ranks, "--data",
           dialogs_path);
    EXPECT(5, "--features FILE leaves out dialogs", "study", "--data", dialogs_path, ranks,
           "--against", ranks);
    EXPECT(0, "1 of 9 pictures", "eval", "--from-ranks", ranks, "--data", dialogs_path,
           "--features", tiny.features, "--resamples", "0");
    EXPECT(0, "1 of 9 pictures", "study", "--data", dialogs_path, "--features", tiny.features,
           "--resamples", "100", ranks, "--against", ranks);
    // Of a file that has them all the others are left out.
    char *text = support_read_file(ranks, NULL);
    char *all = g_strconcat("[{\"image_id\":99,\"round_id\":1,\"ranks\":[1,2]},", text + 1, NULL);
    support_write_text(ranks, all);
    EXPECT(0, "1 of 9 pictures", "eval", "--from-ranks", ranks, "--data", dialogs_path,
           "--features", tiny.features, "--resamples", "0");
    EXPECT(2, "--missing needs --features", "eval", "--from-ranks", ranks, "--data", dialogs_path,
           "--missing", "refuse");
    EXPECT(2, "--missing needs --features", "study", "--data", dialogs_path, ranks, "--against",
           ranks, "--missing", "refuse");
    g_free(all);
    free(text);
    free(ranks);
}

static void the_chat_says_how_many(void **state)
{
    (void)state;
    const char *const arguments[] = {"chat", NULL};
    assert_true(pty_start(arguments, 80, 24));
    assert_true(pty_await("picture 1/8"));
    assert_true(pty_await("1 of 9 pictures have no features and are left out"));
    pty_end();
    EXPECT(8, "needs a terminal", "chat", "--missing", "skip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dialogs_without_features_are_left_out),
        cmocka_unit_test(damaged_candidates_of_those_left_are_refused),
        cmocka_unit_test(they_can_be_refused_and_so_are_all),
        cmocka_unit_test(training_and_evaluation_say_how_many),
        cmocka_unit_test(rankings_of_those_left_are_measured),
        cmocka_unit_test(the_chat_says_how_many),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

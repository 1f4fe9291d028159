// visdial train --task caption: a captioner is trained, a resumed run makes the same one bit for
// bit, what belongs to the other task is refused; visdial caption and info know the file.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/model/captioner.h"
#include "engine/train/options.h"
#include "features/captions/set.h"
#include "tests/support/must.h"
#include "tests/support/support.h"
#include "tests/support/train_run.h"

#define SMALL "--task", "caption", "--heads", "2", "--layers", "1", "--inner", "8"
#define CAT   SMALL, "--captioner", "cat", "--awc", "learnt", "--smoothing", "0.1"

static void expect_out(const char *const *arguments, const char *words)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, words));
    support_program_clear(&run);
}

static void a_resumed_run_makes_the_same_captioner_bit_for_bit(void **state)
{
    (void)state;
    const char *const val[] = {"--val", tiny.val, "--val-features", tiny.features, NULL};
    train_run_expect("whole", 0, "", MORE(val[0], val[1], val[2], val[3], CAT));
    static const char *const stops[] = {"1", "3", "4", "5"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        char out[16];
        snprintf(out, sizeof out, "parts%s", stops[i]);
        train_run_expect(out, 0, "--resume continues it",
                         MORE(val[0], val[1], val[2], val[3], CAT, "--stop-after", stops[i]));
        // What the checkpoint has need not be said again.
        train_run_expect(out, 0, "", MORE(val[0], val[1], val[2], val[3], "--resume"));
        train_run_same("whole", out);
    }
}

// The two that are read word by word; hard attention keeps what its choices brought, too.
static void recurrent_captioners_resume_exactly(void **state)
{
    static const char *const captioners[] = {"sat-soft", "sat-hard"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *const val[] = {"--val",       tiny.val,      "--val-features",
                                   tiny.features, "--captioner", captioners[i]};
        char parts[16];
        snprintf(parts, sizeof parts, "parts-%s", captioners[i]);
        train_run_expect(captioners[i], 0, "",
                         MORE(val[0], val[1], val[2], val[3], val[4], val[5], SMALL));
        train_run_expect(
            parts, 0, "--resume continues it",
            MORE(val[0], val[1], val[2], val[3], val[4], val[5], SMALL, "--stop-after", "2"));
        train_run_expect(parts, 0, "", MORE(val[0], val[1], val[2], val[3], "--resume"));
        train_run_same(captioners[i], parts);
    }
}

static void a_run_measures_the_cross_entropy_and_learns(void **state)
{
    (void)state;
    train_run_expect("learns", 0, "",
                     MORE("--val", tiny.val, "--val-features", tiny.features, "--val-limit", "3",
                          SMALL, "--rate", "0.02", "--epochs", "30"));
    char *path = train_run_file("learns", "log.tsv"), *log = support_read_file(path, NULL);
    double first, last;
    assert_ptr_equal(
        strstr(log,
               "epoch\tstep\tloss\tcross-entropy\tperplexity\tcider-d\tbleu-4\t"
               "faithful\ttrue-bits\tchair-i\tbleu-1\tbleu-2\tbleu-3\trouge-l\tmeteor-es\tlength\t"
               "read\tchair-s\tattributes\tdifferent\n1\t3\t"),
        log);
    assert_int_equal(sscanf(strstr(log, "\n1\t") + 1, "1\t3\t%lf", &first), 1);
    assert_int_equal(sscanf(strstr(log, "\n30\t") + 1, "30\t90\t%lf", &last), 1);
    assert_true(last < first / 2);
    char *scalars = train_run_scalars("learns");
    assert_non_null(strstr(scalars, "val/cross_entropy 90 "));
    assert_non_null(strstr(scalars, "train/loss 1 "));
    free(scalars);
    free(log);
    free(path);
}

// What heads of CAT give to the history, and to which levels they are held, is in the log.
static void a_run_logs_every_head(void **state)
{
    (void)state;
    train_run_expect("heads", 0, "", MORE("--val", tiny.val, "--val-features", tiny.features, CAT));
    char *path = train_run_file("heads", "log.tsv"), *log = support_read_file(path, NULL);
    double w, awc, given[2], beta[2];
    assert_non_null(strstr(log, "perplexity\tw\tawc\tw.0.0\tbeta.0.0\tw.0.1\tbeta.0.1\tcider-d"));
    assert_int_equal(sscanf(strstr(log, "\n2\t6\t") + 1,
                            "2\t6\t%*f\t%*f\t%*f\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf", &w, &awc,
                            &given[0], &beta[0], &given[1], &beta[1]),
                     6);
    assert_true(w > 0.01 && w < 1 && fabs(w - (given[0] + given[1]) / 2) < 2e-6);
    assert_true(beta[0] > 0.4 && beta[0] < 0.6 && beta[0] != 0.5 && awc > 0 && awc < 0.3);
    free(log);
    free(path);
}

// Also of as many heads as one epoch is written of.
static void the_curves_of_many_heads_are_written(void **state)
{
    (void)state;
    train_run_expect("many", 0, "",
                     MORE("--val", tiny.val, "--val-features", tiny.features, CAT, "--hidden", "8",
                          "--heads", "8", "--layers", "4", "--epochs", "1"));
    char *scalars = train_run_scalars("many");
    assert_non_null(strstr(scalars, "val/cider_d 3 "));
    assert_non_null(strstr(scalars, "val/beta.3.7 3 "));
    free(scalars);
    char *out = support_join(tiny.directory, "many");
    expect_out(MORE("curves", out), "val/bleu_4");
    free(out);
}

// The weights of a captioner are where another starts.
static void a_run_starts_from_a_captioner(void **state)
{
    (void)state;
    char *from = train_run_file("learns", "model.safetensors");
    char *scalars[2];
    train_run_expect("further", 0, "", MORE(CAT, "--from", from));
    train_run_expect("anew", 0, "", MORE(CAT));
    const char *const out[] = {"further", "anew"};
    double loss[2];
    for (int i = 0; i < 2; i++) {
        scalars[i] = train_run_scalars(out[i]);
        assert_int_equal(sscanf(scalars[i], "train/loss 1 %la", &loss[i]), 1);
        free(scalars[i]);
    }
    assert_true(loss[0] < 0.8 * loss[1]);
    free(from);
}

static void what_is_of_the_other_task_is_refused(void **state)
{
    (void)state;
    train_run_expect("none", 2, "--decoder does not apply to captioners",
                     MORE(SMALL, "--decoder", "both"));
    train_run_expect("none", 2, "--linear-start does not apply to captioners",
                     MORE(SMALL, "--linear-start", "0.5"));
    train_run_expect("none", 2, "--margin does not apply to captioners",
                     MORE(SMALL, "--margin", "1"));
    train_run_expect("none", 2, "--glove does not apply to captioners",
                     MORE(SMALL, "--glove", "x"));
    train_run_expect("none", 2, "--layers needs --task caption", MORE("--layers", "2"));
    train_run_expect("none", 2, "the vector size (hidden) 4 is not a multiple of 3 heads",
                     MORE("--task", "caption", "--heads", "3"));
    train_run_expect("none", 2, "history past: the captioner transformer has none",
                     MORE(SMALL, "--history", "past"));
    train_run_expect("none", 5, "its task is dialog, expected caption",
                     MORE(SMALL, "--from", tiny.base));
    char *captioner = train_run_file("learns", "model.safetensors");
    train_run_expect("none2", 5, "its task is caption, expected dialog", MORE("--from", captioner));
    train_run_expect("none3", 5, "expected sat-soft",
                     MORE("--task", "caption", "--captioner", "sat-soft", "--from", captioner));
    train_run_expect("whole", 5, "--task: the run was started with caption, found dialog",
                     MORE("--task", "dialog", "--resume"));
    free(captioner);
}

static void options_that_change_nothing_are_named(void **state)
{
    (void)state;
    train_run_expect("idle", 0, "--soft-share changes nothing with cat",
                     MORE(CAT, "--soft-share", "0.3", "--stop-after", "1"));
    train_run_expect("idle_embed", 0, "--embed changes nothing with cat",
                     MORE(CAT, "--embed", "8", "--stop-after", "1"));
    train_run_expect(
        "idle_awc", 0, "--awc-level changes nothing with awc none",
        MORE("--task", "caption", "--hidden", "4", "--awc-level", "1", "--stop-after", "1"));
    train_run_expect("idle_optimiser", 0, "--beta-1 changes nothing with rmsprop",
                     MORE("--task", "caption", "--hidden", "4", "--optimiser", "rmsprop",
                          "--beta-1", "0.8", "--stop-after", "1"));
}

static void the_captioner_describes_a_picture(void **state)
{
    (void)state;
    char *model = train_run_file("learns", "model.safetensors");
    support_program run;
    const char *const say[] = {"caption", "--image", "3", "--model", model, NULL};
    support_program_run(&run, say, NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "log-probability -"));
    assert_non_null(strstr(run.out, "(end)"));
    support_program_clear(&run);
    const char *const json[] = {"caption", "--image", "3", "--model", model,
                                "--json",  "--beam",  "2", NULL};
    support_program_run(&run, json, NULL);
    support_program_expect(&run, 0, NULL);
    for (size_t i = 0; i < 6; i++) {
        static const char *const keys[] = {"\"caption\":\"",        "\"log_probability\":-",
                                           "\"words\":[{\"word\":", "\"likely\":[{",
                                           "\"regions\":[",         "\"others\":[{\"caption\":"};
        assert_non_null(strstr(run.out, keys[i]));
    }
    support_program_clear(&run);
    const char *const info[] = {"info", model, NULL};
    support_program_run(&run, info, NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "a captioner: a model that describes pictures"));
    assert_non_null(strstr(run.out, "captioner   transformer"));
    support_program_clear(&run);
    free(model);
}

// Every result says how the captioner was trained.
static void results_say_the_signature(void **state)
{
    (void)state;
    char *model = train_run_file("heads", "model.safetensors");
    for (int i = 0; i < 3; i++) {
        support_program run;
        const char *const commands[3][7] = {
            {"info", model, NULL},
            {"caption", "--image", "3", "--model", model, NULL},
            {"caption", "--image", "3", "--model", model, "--json", NULL}};
        support_program_run(&run, commands[i], NULL);
        support_program_expect(&run, 0, NULL);
        assert_non_null(strstr(run.out, "ce=mean smooth=0.1 awc=learnt scst=none seed=1"));
        support_program_clear(&run);
    }
    free(model);
}

static void results_say_where_hard_attention_looked(void **state)
{
    (void)state;
    char *model = train_run_file("sat-hard", "model.safetensors");
    expect_out(MORE("caption", "--image", "3", "--model", model), "hard attention: largest");
    expect_out(MORE("caption", "--image", "3", "--model", model, "--hard", "draw", "--seed", "2"),
               "hard attention: draw");
    expect_out(MORE("caption", "--image", "3", "--model", model, "--hard", "expected", "--json"),
               "\"hard\":\"expected\"");
    free(model);
}

static void a_signature_names_every_setting(void **state)
{
    vd_caption_config c = {.awc = VD_AWC_FIXED, .awc_level = 0.3, .ce = VD_CE_SUM};
    vd_train_options o = vd_train_defaults();
    char found[VD_SIGNATURE];
    (void)state;
    o.scst = VD_SCST_CIDER_D;
    vd_train_signature(&c, &o, found);
    assert_string_equal(found, "ce=sum smooth=0 awc=fixed:0.3 scst=cider-d sample=beam K=5 "
                               "baseline=mean df=pictures eos=in seed=1");
    o.scst = VD_SCST_BITS;
    o.sample = VD_SAMPLE_DRAW;
    o.reward_most = 3.5;
    o.variety = 2;
    o.ce_weight = 0.1;
    c = (vd_caption_config){.captioner = VD_CAPTIONER_SAT_SOFT};
    vd_train_signature(&c, &o, found);
    assert_string_equal(found, "ce=sum smooth=0 awc=none scst=bits sample=draw K=5 baseline=mean "
                               "most=3.5 variety=2 ce-weight=0.1 seed=1");
}

// The published schedule and Adam: at the first steps of a run.
static void the_rate_warms_up(void **state)
{
    (void)state;
    train_run_expect("warm", 0, "",
                     MORE(SMALL, "--schedule", "warm-up", "--warm-up", "4", "--beta-2", "0.98"));
    char *scalars = train_run_scalars("warm");
    for (int step = 1; step <= 6; step++) {
        char name[64];
        double found, s = step, expected = 1 / sqrt(4) * fmin(1 / sqrt(s), s / 8);
        snprintf(name, sizeof name, "train/learning_rate %d ", step);
        const char *at = strstr(scalars, name);
        assert_non_null(at);
        assert_int_equal(sscanf(at + strlen(name), "%la", &found), 1);
        assert_true(fabs(found - expected) < 1e-6);
    }
    free(scalars);
}

static void expect(const char *const *arguments, int code, const char *words)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, words, NULL);
    support_program_clear(&run);
}

static void what_cannot_be_described_is_refused(void **state)
{
    (void)state;
    char *model = train_run_file("learns", "model.safetensors");
    expect(MORE("caption", "--model", model), 2, "name it with --image PICTURE");
    expect(MORE("caption", "--image", "3"), 5, "they must come from one extractor");
    expect(MORE("caption", "--image", "3", "--model", tiny.base), 5, "which answers questions");
    expect(MORE("ask", "--image", "3", "--model", model, "what"), 5, "it is a captioner");
    expect(MORE("caption", "--image", "3", "--model", model, "--seed", "1"), 2,
           "--seed needs --temperature");
    expect(MORE("caption", "--image", "3", "--model", model, "--temperature", "1", "--beam", "2"),
           2, "exclude each other");
    free(model);
}

static vd_status load_both(void *loader, vd_error *err)
{
    static const size_t pictures[] = {1, 0};
    const vd_batch *batch;
    return vd_caption_loader_batch(loader, pictures, 2, &batch, err);
}

// Several captions a picture, in any order; words that the vocabulary lacks; more than 20.
static const char gathered[] =
    "{\"images\": [{\"id\": 5}, {\"id\": 2}], \"annotations\": ["
    "{\"image_id\": 5, \"caption\": \"a ball\"}, {\"image_id\": 2, \"caption\": \"cube\"},"
    "{\"image_id\": 5, \"caption\": \"\"}, {\"image_id\": 5, \"caption\": \"ball a a a a a a a "
    "a a a a a a a a a a a a a ball\"}]}";

static void captions_are_gathered_by_picture(void **state)
{
    static const char *const words[] = {"ball", "a"};
    char *path = support_join(tiny.directory, "gathered.json");
    vd_regions *regions;
    vd_captions *captions;
    vd_vocab *vocab;
    vd_caption_set *set;
    vd_caption_loader loader = {0};
    const vd_batch *batch;
    vd_totals of;
    vd_error err;
    (void)state;
    support_write_text(path, gathered);
    must(vd_regions_open(tiny.features, &regions, &err), &err);
    must(vd_captions_read(path, &captions, &err), &err);
    must(vd_vocab_from_words(words, 2, &vocab, &err), &err);
    must(vd_caption_set_new(captions, vocab, regions, &set, &err), &err);
    assert_int_equal(set->captions->count, 2);
    assert_int_equal(set->captions->image[0].image_id, 5);
    loader.set = set;
    assert_true(support_fail_each_allocation(load_both, &loader) > 0); // goes on after each
    const size_t pictures[] = {1, 0};
    must(vd_caption_loader_batch(&loader, pictures, 2, &batch, &err), &err);
    vd_caption_set_totals(set, pictures, 2, &of);
    assert_int_equal(of.questions, 4);
    assert_int_equal(of.words, 4 + 1 + 2 + 0 + 20);
    const vd_caption_batch *c = batch->captions;
    static const int picture[] = {0, 1, 1, 1}, length[] = {1, 2, 0, 20},
                     first[] = {VD_UNKNOWN, 5, 0, 4};
    assert_int_equal(c->count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(c->picture[i], picture[i]);
        assert_int_equal(c->length[i], length[i]);
        assert_int_equal(c->word[i * c->width], first[i]);
    }
    const size_t beyond = 2;
    support_refused(vd_caption_loader_batch(&loader, &beyond, 1, &batch, &err), VD_USAGE, &err,
                    "picture 2 of 2", NULL);
    vd_arena_free(&loader.arena);
    vd_caption_set_free(set);
    captions->image[1].image_id = 99;
    support_refused(vd_caption_set_new(captions, vocab, regions, &set, &err), VD_NOT_FOUND, &err,
                    "99", NULL);
    vd_vocab_free(vocab);
    vd_captions_free(captions);
    vd_regions_close(regions);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_run_makes_the_same_captioner_bit_for_bit),
        cmocka_unit_test(recurrent_captioners_resume_exactly),
        cmocka_unit_test(a_run_measures_the_cross_entropy_and_learns),
        cmocka_unit_test(a_run_logs_every_head),
        cmocka_unit_test(the_curves_of_many_heads_are_written),
        cmocka_unit_test(results_say_the_signature),
        cmocka_unit_test(results_say_where_hard_attention_looked),
        cmocka_unit_test(a_signature_names_every_setting),
        cmocka_unit_test(the_rate_warms_up),
        cmocka_unit_test(a_run_starts_from_a_captioner),
        cmocka_unit_test(what_is_of_the_other_task_is_refused),
        cmocka_unit_test(options_that_change_nothing_are_named),
        cmocka_unit_test(the_captioner_describes_a_picture),
        cmocka_unit_test(what_cannot_be_described_is_refused),
        cmocka_unit_test(captions_are_gathered_by_picture),
    };
    return cmocka_run_group_tests(tests, train_run_world, train_run_end);
}

// A caption word by word as the captioners say it: the same as they say without it, with what is
// changed as they say it then.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/token.h"
#include "tests/support/must.h"
#include "tests/support/one_directory.h"
#include "tests/support/program.h"
#include "tests/support/random_model.h"
#include "tests/support/support.h"
#include "tui/measure/verdict.h"
#include "tui/session/caption_sheet.h"
#include "tui/session/captioning.h"

enum { PICTURE = 2 };

static vd_world *world;
static vd_error err;
static vd_captioning *cat; // of other words, with a history
static vd_generated_caption said[VD_HYPOTHESES];

static vd_caption_sheet *sheet_of(vd_captioning *second, const vd_caption_wish *wish)
{
    vd_caption_sheet *sheet;
    must(vd_caption_sheet_of(world, second, wish, &sheet, &err), &err);
    return sheet;
}

static vd_caption_wish wish_of(int place)
{
    return (vd_caption_wish){.picture = PICTURE, .place = place};
}

static void add(vd_caption_wish *wish, vd_switch_kind kind, int index, const char *word)
{
    vd_switch *one = &wish->switches.at[wish->switches.count++];
    *one = (vd_switch){.kind = kind, .index = index};
    snprintf(one->word, sizeof one->word, "%s", word);
}

static void it_is_what_the_beam_ends_with(void **state)
{
    (void)state;
    for (int place = 1; place <= 2; place++) {
        const vd_caption_wish wish = wish_of(place);
        vd_caption_sheet *sheet = sheet_of(NULL, &wish);
        const vd_caption_side *c = &sheet->side[0];
        const vd_generated_caption *same = &said[place - 1];
        assert_int_equal(sheet->sides, 1);
        assert_int_equal(sheet->rows, same->length + same->ended);
        assert_true(fabs(c->trace.log_probability - same->log_probability) < 1e-4);
        for (int t = 0; t < same->length; t++)
            assert_int_equal(c->trace.word[t].id, same->word[t]);
        assert_string_equal(c->word[same->length], "(end)");
        assert_int_equal(vd_caption_sheet_word(sheet, 0, 1), 1);
        assert_false(vd_caption_sheet_differs(sheet, 1));
        assert_true(vd_caption_side_chance(c, 1) < 0); // it has no history
        vd_caption_sheet_free(sheet);
    }
}

static void a_region_that_is_left_out_gets_nothing(void **state)
{
    (void)state;
    vd_caption_wish wish = wish_of(1);
    add(&wish, VD_SWITCH_REGION, 1, "");
    vd_caption_sheet *sheet = sheet_of(NULL, &wish);
    assert_int_equal(sheet->sides, 2);
    assert_false(sheet->side[0].changed);
    assert_true(sheet->side[1].changed);
    assert_int_equal(sheet->side[1].seen, sheet->side[0].seen - 1);
    float share[64];
    for (int t = 0; t < sheet->side[1].trace.words; t++) {
        vd_caption_trace_look(&sheet->side[1].trace, t, -1, -1, share, NULL);
        assert_true(share[1] == 0 && share[0] > 0);
    }
    vd_caption_sheet_free(sheet);
}

// Words before a forced one stay, also before the second of two.
static void forced_words_leave_those_before_them(void **state)
{
    enum { FIRST = 4, SECOND = 5 };
    (void)state;
    vd_caption_wish wish = wish_of(1);
    vd_caption_sheet *plain = sheet_of(NULL, &wish);
    add(&wish, VD_SWITCH_WORD, FIRST, plain->side[0].likely[FIRST][1]);
    vd_caption_sheet *sheet = sheet_of(NULL, &wish);
    const vd_caption_side *c = &sheet->side[1];
    for (int t = 0; t < FIRST; t++)
        assert_string_equal(c->word[t], plain->side[0].word[t]);
    assert_string_equal(c->word[FIRST], wish.switches.at[0].word);
    assert_true(c->trace.log_probability < plain->side[0].trace.log_probability);
    assert_true(vd_caption_sheet_differs(sheet, FIRST));
    assert_false(vd_caption_sheet_differs(sheet, FIRST - 1));
    assert_true(c->trace.words > SECOND);
    add(&wish, VD_SWITCH_WORD, SECOND, c->likely[SECOND][1]);
    vd_caption_sheet *twice = sheet_of(NULL, &wish);
    for (int t = 0; t < SECOND; t++)
        assert_string_equal(twice->side[1].word[t], c->word[t]);
    assert_string_equal(twice->side[1].word[SECOND], wish.switches.at[1].word);
    vd_caption_sheet_free(twice);
    vd_caption_sheet_free(sheet);
    vd_caption_sheet_free(plain);
}

static void it_may_be_forced_to_end(void **state)
{
    (void)state;
    vd_caption_wish wish = wish_of(1);
    add(&wish, VD_SWITCH_WORD, 3, "(end)");
    vd_caption_sheet *sheet = sheet_of(NULL, &wish);
    assert_int_equal(sheet->side[1].trace.words, 4);
    assert_string_equal(sheet->side[1].word[3], "(end)");
    vd_caption_sheet_free(sheet);
}

static void refuse(vd_captioning *second, const vd_switch *one, vd_status status, const char *why)
{
    vd_caption_wish wish = wish_of(1);
    vd_caption_sheet *sheet;
    wish.switches = (vd_switches){.count = 1, .at = {*one}};
    support_refused(vd_caption_sheet_of(world, second, &wish, &sheet, &err), status, &err, why,
                    NULL);
    assert_null(sheet);
}

static void what_cannot_be_changed_is_refused(void **state)
{
    (void)state;
    refuse(NULL, &(vd_switch){VD_SWITCH_REGION, 40, ""}, VD_USAGE, "what-if 'region 41': there");
    refuse(NULL, &(vd_switch){VD_SWITCH_WORD, 1, "zebra"}, VD_USAGE, "does not know this word");
    refuse(NULL, &(vd_switch){VD_SWITCH_WORD, 1, ""}, VD_USAGE, "needs a word");
    refuse(NULL, &(vd_switch){VD_SWITCH_ENTRY, 0, ""}, VD_USAGE, "region N, word N=OTHER");
    refuse(NULL, &(vd_switch){VD_SWITCH_HISTORY, 0, ""}, VD_USAGE,
           "this captioner (transformer) has no history");
}

static void two_captioners_stand_beside_each_other(void **state)
{
    (void)state;
    vd_caption_wish wish = wish_of(1);
    vd_caption_sheet *sheet = sheet_of(cat, &wish);
    assert_int_equal(sheet->sides, 2);
    assert_string_equal(sheet->side[0].name, "captioner");
    assert_string_equal(sheet->side[1].name, "cat");
    assert_null(sheet->side[0].trace.history);
    assert_non_null(sheet->side[1].trace.history);
    for (int t = 0; t < sheet->side[1].trace.words; t++) { // t / (P + t)
        double chance = (t + 1.0) / (sheet->side[1].seen + t + 1);
        assert_true(fabs(vd_caption_side_chance(&sheet->side[1], t) - chance) < 1e-12);
    }
    int seen[2] = {0};
    for (int i = 0; i < sheet->rows; i++)
        for (int s = 0; s < 2; s++)
            seen[s] += vd_caption_sheet_word(sheet, s, i) >= 0;
    for (int s = 0; s < 2; s++)
        assert_int_equal(seen[s], sheet->side[s].trace.words);
    vd_caption_sheet_free(sheet);
    // Only the one that is meant is changed.
    add(&wish, VD_SWITCH_HISTORY, 0, "");
    wish.changed = 1;
    sheet = sheet_of(cat, &wish);
    assert_false(sheet->side[0].changed);
    assert_true(sheet->side[1].changed);
    float history[VD_SIDE_WORDS];
    vd_caption_trace_look(&sheet->side[1].trace, 0, -1, -1, NULL, history);
    assert_true(history[0] == 0);
    vd_caption_sheet_free(sheet);
}

// Each reads what the other says; words that it lacks are counted.
static void each_side_reads_the_others_words(void **state)
{
    (void)state;
    vd_captioning *same = vd_captioning_new(vd_captioning_path(world->captioning));
    vd_caption_wish wish = wish_of(1);
    vd_caption_sheet *sheet = sheet_of(same, &wish);
    for (int s = 0; s < 2; s++) {
        assert_int_equal(sheet->side[s].unknown[!s], 0);
        assert_float_equal(sheet->side[s].under[!s], sheet->side[s].trace.log_probability, 1e-5);
    }
    vd_caption_sheet_free(sheet);
    vd_captioning_free(same);
    sheet = sheet_of(cat, &wish);
    for (int s = 0; s < 2; s++) {
        const vd_caption_side *c = &sheet->side[s];
        bool ended = c->trace.word[c->trace.words - 1].id == VD_END;
        assert_int_equal(c->unknown[!s], c->trace.words - ended); // "w7" and its like
    }
    vd_caption_sheet_free(sheet);
    // Without the region that it spoke of a caption is less likely.
    add(&wish, VD_SWITCH_REGION, 0, "");
    sheet = sheet_of(NULL, &wish);
    assert_true(sheet->side[0].under[1] < sheet->side[0].trace.log_probability - 0.1);
    assert_true(sheet->side[1].under[0] != sheet->side[1].trace.log_probability);
    vd_caption_sheet_free(sheet);
}

// Beside its own caption, with the numbers that its own words have when they were said.
static void a_given_caption_is_read(void **state)
{
    (void)state;
    vd_caption_wish wish = wish_of(1);
    vd_caption_sheet *own = sheet_of(NULL, &wish);
    vd_caption_wish_read(&wish, own->side[0].text);
    vd_caption_sheet *sheet = sheet_of(NULL, &wish);
    const vd_caption_side *read = &sheet->side[1];
    assert_int_equal(sheet->sides, 2);
    assert_true(read->read && !sheet->side[0].read && !read->changed);
    assert_int_equal(read->of, 0);
    assert_int_equal(sheet->rows, own->rows);
    for (int t = 0; t < sheet->rows; t++) {
        assert_false(vd_caption_sheet_differs(sheet, t));
        assert_float_equal(read->trace.word[t].probability, own->side[0].trace.word[t].probability,
                           1e-6);
        assert_string_equal(read->likely[t][0], own->side[0].likely[t][0]);
    }
    vd_caption_sheet_free(sheet);
    vd_caption_sheet_free(own);
    vd_caption_wish_read(&wish, "A Cone, and a zebra.");
    sheet = sheet_of(NULL, &wish);
    static const char *const expected[] = {"a", "cone", ",", "and", "a", "zebra", ".", "(end)"};
    read = &sheet->side[1];
    assert_int_equal(read->trace.words, 8);
    for (int t = 0; t < 8; t++) {
        assert_string_equal(read->word[t], expected[t]);
        assert_int_equal(vd_caption_side_knows(read, t), t != 5 && t != 6);
    }
    assert_int_equal(read->unknown[0], 2);
    assert_true(sheet->side[0].trace.log_probability > read->trace.log_probability);
    vd_caption_sheet_free(sheet);
}

// To the whole words that there is room for; then it has no end.
static void a_caption_that_is_too_long_is_cut(void **state)
{
    (void)state;
    enum { WORD = 79, WORDS = VD_READ_TEXT / (WORD + 1) };
    char text[VD_MAX_CAPTION * (WORD + 1)] = "";
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (i + 1) % (WORD + 1) ? 'a' : ' ';
    vd_caption_wish wish = wish_of(1);
    vd_caption_wish_read(&wish, text);
    vd_caption_sheet *sheet = sheet_of(NULL, &wish);
    const vd_caption_side *side = &sheet->side[1];
    assert_false(side->ended);
    assert_int_equal(side->trace.words, WORDS);
    for (int t = 0; t < side->trace.words; t++)
        assert_int_equal(strlen(side->word[t]), WORD);
    vd_caption_sheet_free(sheet);
}

// In place of its own captions; the switches are of one of them.
static void two_captioners_read_the_same_caption(void **state)
{
    (void)state;
    vd_caption_wish wish = wish_of(1);
    vd_caption_wish_read(&wish, "w7 w8 cone");
    add(&wish, VD_SWITCH_REGION, 1, "");
    wish.changed = 1;
    vd_caption_sheet *sheet = sheet_of(cat, &wish);
    for (int s = 0; s < 2; s++) {
        assert_true(sheet->side[s].read);
        assert_string_equal(sheet->side[s].text, "w7 w8 cone");
        assert_int_equal(sheet->side[s].unknown[s], s ? 1 : 2);
        assert_int_equal(sheet->side[s].changed, s);
    }
    assert_int_equal(sheet->side[1].seen, sheet->side[0].seen - 1);
    vd_caption_sheet_free(sheet);
}

// By the scenes beside the dialogs; of a picture of one's own nothing is known.
static void captions_are_judged_where_the_scene_is_known(void **state)
{
    (void)state;
    vd_caption_wish wish = wish_of(1);
    add(&wish, VD_SWITCH_WORD, 3, "4"); // "a table with 1 blue cone and other things"
    add(&wish, VD_SWITCH_WORD, 4, "blue");
    vd_caption_sheet *sheet = sheet_of(NULL, &wish);
    assert_int_equal(sheet->side[0].verdict.is, VD_NOT_JUDGED);
    must(vd_verdict_sheet(world, NULL, sheet, &err), &err);
    assert_int_equal(sheet->side[0].verdict.is, VD_JUDGED_FAITHFUL);
    assert_memory_equal(sheet->side[0].verdict.why, "1 of ", 5);
    assert_int_not_equal(sheet->side[1].verdict.is, VD_JUDGED_FAITHFUL);
    assert_true(*sheet->side[1].verdict.why);
    vd_caption_sheet_free(sheet);
    wish = wish_of(1);
    size_t size;
    char *bytes = support_read_file("assets/pictures/1000003.png", &size);
    char *own = support_join(directory, "own.png");
    support_write_file(own, bytes, size);
    must(vd_world_named(world, own, &wish.picture, &err), &err);
    sheet = sheet_of(NULL, &wish);
    must(vd_verdict_sheet(world, NULL, sheet, &err), &err);
    assert_int_equal(sheet->side[0].verdict.is, VD_NOT_JUDGED);
    vd_caption_sheet_free(sheet);
    free(bytes);
    free(own);
}

static void regions_of_another_kind_are_refused(void **state)
{
    (void)state;
    const vd_caption_config small = {.captioner = VD_CAPTIONER_CAT,
                                     .vocab = 9,
                                     .region = 5,
                                     .hidden = 8,
                                     .embed = 4,
                                     .heads = 2,
                                     .layers = 1,
                                     .inner = 8,
                                     .shared = 1};
    const vd_config config = vd_config_of_captioner(&small);
    char *path = support_join(directory, "small.safetensors");
    vd_captioning *other = vd_captioning_new(path);
    vd_caption_sheet *sheet;
    const vd_caption_wish wish = wish_of(1);
    support_write_random_model(&config, path);
    support_refused(vd_caption_sheet_of(world, other, &wish, &sheet, &err), VD_MISMATCH, &err,
                    "small.safetensors", "regions of 5 numbers", NULL);
    assert_null(sheet);
    vd_captioning_free(other);
    free(path);
}

// Before the screen is there.
static void a_second_captioner_is_read_at_the_start(void **state)
{
    (void)state;
    static const char first[] = "assets/captioner.safetensors";
    support_program run;
    support_program_run(&run,
                        (const char *[]){"chat", "--captioner", first, "--captioner", first,
                                         "--captioner", first, NULL},
                        NULL);
    support_program_expect(&run, 2, "--captioner: two at most, found a third", NULL);
    support_program_clear(&run);
    support_program_run(&run,
                        (const char *[]){"chat", "--captioner", first, "--captioner",
                                         "assets/base.safetensors", NULL},
                        NULL);
    support_program_expect(&run, 5, "assets/base.safetensors", "answers", NULL);
    support_program_clear(&run);
}

static vd_status make_and_free(void *context, vd_error *error)
{
    (void)context;
    vd_caption_sheet *sheet = NULL;
    vd_caption_wish wish = wish_of(1);
    add(&wish, VD_SWITCH_REGION, 1, "");
    add(&wish, VD_SWITCH_WORD, 1, "red");
    vd_status status = vd_caption_sheet_of(world, NULL, &wish, &sheet, error);
    assert_true((sheet != NULL) == (status == VD_OK));
    vd_caption_sheet_free(sheet);
    return status;
}

static vd_status read_and_free(void *context, vd_error *error)
{
    (void)context;
    vd_caption_sheet *sheet = NULL;
    vd_caption_wish wish = wish_of(1);
    vd_caption_wish_read(&wish, "a red zebra");
    add(&wish, VD_SWITCH_WORD, 1, "blue");
    vd_status status = vd_caption_sheet_of(world, NULL, &wish, &sheet, error);
    assert_true((sheet != NULL) == (status == VD_OK));
    vd_caption_sheet_free(sheet);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(make_and_free, NULL) > 10);
    assert_true(support_fail_each_allocation(read_and_free, NULL) > 10);
}

// The bundled captioner's beam, and a cat with random weights.
static int make(void **state)
{
    make_directory(state);
    vd_picture_regions regions;
    vd_captioner *captioner;
    int count;
    must(vd_world_open_files(&(vd_world_files){0}, &world, &err), &err);
    must(vd_world_regions(world, PICTURE, &regions, &err), &err);
    must(vd_captioning_take(world->captioning, &captioner, &err), &err);
    must(vd_hypotheses(captioner, &regions, said, &count, &err), &err);
    vd_captioning_give_back(world->captioning);
    const vd_caption_config caption = {.captioner = VD_CAPTIONER_CAT,
                                       .vocab = 40,
                                       .region = regions.size,
                                       .hidden = 16,
                                       .embed = 4,
                                       .heads = 2,
                                       .layers = 2,
                                       .inner = 16,
                                       .history = VD_HISTORY_COMPLETE,
                                       .shared = 1};
    const vd_config config = vd_config_of_captioner(&caption);
    char *path = support_join(directory, "cat.safetensors");
    support_write_random_model(&config, path);
    cat = vd_captioning_new(path);
    vd_picture_regions_clear(&regions);
    free(path);
    return 0;
}

static int unmake(void **state)
{
    vd_captioning_free(cat);
    vd_world_close(world);
    return remove_directory(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_the_beam_ends_with),
        cmocka_unit_test(a_region_that_is_left_out_gets_nothing),
        cmocka_unit_test(forced_words_leave_those_before_them),
        cmocka_unit_test(it_may_be_forced_to_end),
        cmocka_unit_test(what_cannot_be_changed_is_refused),
        cmocka_unit_test(two_captioners_stand_beside_each_other),
        cmocka_unit_test(each_side_reads_the_others_words),
        cmocka_unit_test(a_given_caption_is_read),
        cmocka_unit_test(a_caption_that_is_too_long_is_cut),
        cmocka_unit_test(two_captioners_read_the_same_caption),
        cmocka_unit_test(captions_are_judged_where_the_scene_is_known),
        cmocka_unit_test(regions_of_another_kind_are_refused),
        cmocka_unit_test(a_second_captioner_is_read_at_the_start),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}

// What if: forcing a caption's own words changes nothing, other words are said where they are
// forced and the rest follows from them; leaving out a region is a picture without it; without its
// history a captioner is the same weights without one.
#include <math.h>
#include <string.h>

#include "tests/support/one_captioner.h"

enum { T = 4 };

static const int32_t some[3] = {4, 6, 5};

static vd_caption_trace trace_of(const float *picture, int regions, const vd_caption_what_if *w)
{
    vd_caption_trace t;
    vd_error err;
    must(vd_captioner_trace(captioner, picture, regions, some, 3, true, w, &t, &err), &err);
    return t;
}

static void assert_same(const vd_generated_caption *a, const vd_generated_caption *b)
{
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->word, b->word, (size_t)a->length * sizeof *a->word);
    assert_int_equal(a->ended, b->ended);
    assert_true(fabs(a->log_probability - b->log_probability) < 1e-5);
}

static void own_words_change_nothing(void **state)
{
    (void)state;
    for (vd_caption_history h = VD_HISTORY_COMPLETE; h <= VD_HISTORY_NONE; h++) {
        open_captioner(h);
        for (int beam = 1; beam <= 5; beam += 4) {
            vd_caption_what_if w = {0};
            vd_generation how = {.beam = beam, .longest = 6};
            vd_generated_caption plain = say(&how);
            how.what_if = &w;
            vd_generated_caption again = say(&how);
            assert_same(&plain, &again);
            memcpy(w.forced, plain.word, (size_t)plain.length * sizeof *plain.word);
            w.places = plain.length;
            if (plain.ended)
                w.forced[w.places++] = VD_END;
            again = say(&how);
            assert_same(&plain, &again);
            assert_true(
                fabs(forced(plain.word, plain.length, plain.ended) - again.log_probability) < 1e-5);
        }
        vd_captioner_free(captioner);
    }
}

// The likeliest caption with such words, by brute force.
static void try_all(const vd_caption_what_if *w, int32_t *word, int length, double *best)
{
    if (length >= w->places && length > 0)
        *best = fmax(*best, forced(word, length, true));
    if (length == T)
        *best = fmax(*best, forced(word, length, false));
    for (int32_t id = VD_FIRST_WORD; id < V && length < T; id++)
        if (length >= w->places || w->forced[length] == VD_PAD || w->forced[length] == id) {
            word[length] = id;
            try_all(w, word, length + 1, best);
        }
}

static void the_rest_is_said_anew(void **state)
{
    static const vd_caption_what_if cases[] = {
        {.forced = {6}, .places = 1},                     // a beginning
        {.forced = {VD_PAD, VD_PAD, 5}, .places = 3},     // a word in its midst
        {.forced = {4, VD_PAD, 4, 4}, .places = 4},       // the longest
        {.forced = {VD_PAD, 6, VD_END}, .places = 3},     // an end
        {.forced = {VD_PAD, VD_PAD, VD_PAD}, .places = 3} // so many words
    };
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const vd_caption_what_if *w = &cases[i];
        vd_generation how = {.beam = 32, .longest = T, .what_if = w};
        vd_generated_caption c = say(&how);
        bool end = w->forced[w->places - 1] == VD_END;
        assert_true(end ? c.ended && c.length == w->places - 1 : c.length >= w->places);
        for (int k = 0; k < c.length && k < w->places; k++)
            assert_true(w->forced[k] == VD_PAD || c.word[k] == w->forced[k]);
        assert_true(fabs(forced(c.word, c.length, c.ended) - c.log_probability) < 1e-5);
        double best = -INFINITY;
        int32_t word[T];
        try_all(w, word, 0, &best);
        assert_true(end || fabs(c.log_probability - best) < 1e-5);
    }
    vd_captioner_free(captioner);
}

// Against constraints, and in draws of all words there are.
static void forced_words_come_first(void **state)
{
    const vd_caption_what_if w = {.forced = {5, 5, VD_UNKNOWN}, .places = 3};
    vd_generation how = {.beam = 1, .longest = 8, .no_repeat = true, .what_if = &w};
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    for (int i = 0; i < 40; i++) {
        vd_generated_caption c = say(&how);
        assert_true(c.length >= 3);
        assert_memory_equal(c.word, w.forced, 3 * sizeof *c.word);
        how.temperature = 1;
        how.anything = i > 20;
        how.seed++;
    }
    vd_captioner_free(captioner);
}

static void leaving_out_nothing_changes_no_bit(void **state)
{
    static const bool none[P] = {false};
    const vd_caption_what_if w = {.mask_region = none};
    (void)state;
    for (vd_caption_history h = VD_HISTORY_COMPLETE; h <= VD_HISTORY_NONE; h++) {
        open_captioner(h);
        vd_caption_trace a = trace_of(image, P, NULL), b = trace_of(image, P, &w);
        assert_true(a.log_probability == b.log_probability);
        assert_memory_equal(a.word, b.word, sizeof a.word);
        size_t rows = (size_t)(a.words * a.layers * a.heads);
        assert_memory_equal(a.region, b.region, rows * P * sizeof *a.region);
        vd_caption_trace_clear(&a);
        vd_caption_trace_clear(&b);
        vd_captioner_free(captioner);
    }
}

static void left_out_is_not_there(vd_captioner_kind kind)
{
    static const bool mask[P] = {false, false, true, false};
    static const int kept[P - 1] = {0, 1, 3};
    const vd_caption_what_if w = {.mask_region = mask};
    float without[(P - 1) * D];
    for (int k = 0; k < P - 1; k++)
        memcpy(without + k * D, image + kept[k] * D, D * sizeof *without);
    vd_caption_trace a = trace_of(image, P, &w), b = trace_of(without, P - 1, NULL),
                     whole = trace_of(image, P, NULL);
    assert_true(a.log_probability == b.log_probability);
    assert_true(a.log_probability != whole.log_probability);
    for (int row = 0; row < a.words * a.layers * a.heads; row++) {
        assert_true(a.region[row * P + 2] == 0);
        for (int k = 0; k < P - 1; k++)
            assert_true(a.region[row * P + kept[k]] == b.region[row * (P - 1) + k]);
    }
    vd_caption_trace_clear(&a);
    vd_caption_trace_clear(&b);
    vd_caption_trace_clear(&whole);
    vd_generation how = {.beam = 5, .longest = 8, .what_if = &w};
    vd_generated_caption masked = say(&how), other;
    vd_error err;
    int count;
    how.what_if = NULL;
    must(vd_captioner_generate(captioner, without, P - 1, &how, &other, 1, &count, &err), &err);
    if (masked.log_probability != other.log_probability)
        fail_msg("%s: %.9g, without the region %.9g", vd_captioner_names[kind],
                 masked.log_probability, other.log_probability);
    assert_same(&masked, &other);
}

static void a_region_left_out_is_a_picture_without_it(void **state)
{
    (void)state;
    for (vd_captioner_kind kind = 0; kind < VD_CAPTIONERS; kind++) {
        vd_caption_config c = config_of(VD_HISTORY_OWN);
        c.captioner = kind;
        open_config(&c);
        left_out_is_not_there(kind);
        vd_captioner_free(captioner);
    }
}

// w = 0: the second look is the first, so that the weights are those of a captioner without one.
static void compare_without_history(vd_captioner_kind kind, vd_caption_history history)
{
    const vd_caption_what_if w = {.no_history = true};
    vd_caption_config c = config_of(history);
    c.captioner = kind;
    open_config(&c);
    vd_generation how = {.beam = 5, .longest = 8, .what_if = &w};
    vd_generated_caption said = say(&how);
    vd_caption_trace t = trace_of(image, P, &w), plain = trace_of(image, P, NULL);
    assert_true(fabs(t.log_probability - plain.log_probability) > 1e-6);
    for (int i = 0; i < t.words * t.layers * t.heads * t.words; i++)
        assert_true(t.history[i] == 0);
    vd_caption_trace_clear(&plain);
    vd_captioner_free(captioner);
    c.history = VD_HISTORY_NONE;
    open_config(&c);
    how.what_if = NULL;
    vd_generated_caption none = say(&how);
    vd_caption_trace other = trace_of(image, P, NULL);
    assert_same(&said, &none);
    assert_true(fabs(t.log_probability - other.log_probability) < 1e-6);
    for (int i = 0; i < t.words * t.layers * t.heads * P; i++)
        assert_true(fabsf(t.region[i] - other.region[i]) < 1e-6F);
    vd_caption_trace_clear(&t);
    vd_caption_trace_clear(&other);
    vd_captioner_free(captioner);
}

static void without_history_it_has_none(void **state)
{
    (void)state;
    for (vd_caption_history h = VD_HISTORY_COMPLETE; h < VD_HISTORY_NONE; h++)
        if (h != VD_HISTORY_ONLY)
            compare_without_history(VD_CAPTIONER_CAT, h);
    compare_without_history(VD_CAPTIONER_SAT_SOFT, VD_HISTORY_COMPLETE);
    compare_without_history(VD_CAPTIONER_SAT_SOFT, VD_HISTORY_PAST);
}

// Weights of its own: the shares of the regions are 1 then.
static void a_second_look_of_its_own_sees_the_regions_alone(void **state)
{
    const vd_caption_what_if w = {.no_history = true};
    vd_caption_config c = config_of(VD_HISTORY_COMPLETE);
    (void)state;
    c.shared = 0;
    open_config(&c);
    vd_caption_trace t = trace_of(image, P, &w);
    for (int row = 0; row < t.words * t.layers * t.heads; row++) {
        double sum = 0;
        for (int k = 0; k < P; k++)
            sum += (double)t.region[row * P + k];
        assert_true(fabs(sum - 1) < 1e-6);
    }
    vd_caption_trace_clear(&t);
    vd_captioner_free(captioner);
}

static void refuse(const vd_caption_what_if *w, const char *expected)
{
    const vd_generation how = {.beam = 2, .longest = 5, .what_if = w};
    vd_generated_caption out[2];
    vd_error err;
    int count;
    assert_int_equal(vd_captioner_generate(captioner, image, P, &how, out, 1, &count, &err),
                     VD_USAGE);
    assert_string_equal(err.text, expected);
}

static void what_cannot_be_is_refused(void **state)
{
    static const bool all[P] = {true, true, true, true};
    static const struct {
        vd_caption_what_if w;
        const char *expected;
    } cases[] = {
        {{.mask_region = all}, "all 4 regions are left out; expected one that stays"},
        {{.places = 6}, "words for 6 places; expected 0 to 5, the longest"},
        {{.forced = {4, 7}, .places = 2},
         "word 2 is to be id 7; expected 3 to 6, or the end (2) behind words"},
        {{.forced = {VD_START}, .places = 1},
         "word 1 is to be id 1; expected 3 to 6, or the end (2) behind words"},
        {{.forced = {VD_END}, .places = 1},
         "word 1 is to be id 2; expected 3 to 6, or the end (2) behind words"},
        {{.forced = {4, VD_END, 4}, .places = 3},
         "word 2 is to be id 2; expected 3 to 6, or the end (2) behind words"},
    };
    const vd_caption_what_if no_history = {.no_history = true};
    (void)state;
    open_captioner(VD_HISTORY_ONLY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(&cases[i].w, cases[i].expected);
    refuse(&no_history, "the history is left out of a captioner (cat) that looks again at nothing "
                        "else; expected one that sees the regions, too");
    vd_captioner_free(captioner);
    open_captioner(VD_HISTORY_NONE);
    refuse(&no_history, "this captioner (cat) has no history to leave out; only one trained "
                        "with a history has");
    vd_captioner_free(captioner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_words_change_nothing),
        cmocka_unit_test(the_rest_is_said_anew),
        cmocka_unit_test(forced_words_come_first),
        cmocka_unit_test(leaving_out_nothing_changes_no_bit),
        cmocka_unit_test(a_region_left_out_is_a_picture_without_it),
        cmocka_unit_test(without_history_it_has_none),
        cmocka_unit_test(a_second_look_of_its_own_sees_the_regions_alone),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

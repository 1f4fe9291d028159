// Saying captions: greedy is the likeliest word each time, a beam finds the likeliest caption, its
// sum is the teacher-forced one, draws follow the probabilities, constraints hold; a file of
// another task is refused.
#include <math.h>
#include <string.h>

#include "tests/support/one_captioner.h"

enum { LONGEST = 3, MANY = 400 };

static void greedy_is_the_likeliest_word_each_time(void **state)
{
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    const vd_generation how = vd_generation_greedy();
    vd_caption_trace trace;
    vd_error err;
    vd_generated_caption c = say(&how);
    assert_true(c.length > 0);
    must(vd_captioner_trace(captioner, image, P, c.word, c.length, c.ended, NULL, &trace, &err),
         &err);
    assert_int_equal(trace.words, c.length + c.ended);
    assert_true(fabs(trace.log_probability - c.log_probability) < 1e-5);
    for (int t = 0; t < trace.words; t++) {
        const vd_generated_word *w = &trace.word[t];
        int best = 0; // the likeliest that may be said
        while (w->likely[best].id < VD_END || w->likely[best].id == VD_UNKNOWN ||
               (t == 0 && w->likely[best].id == VD_END))
            best++;
        assert_int_equal(w->id, w->likely[best].id);
        assert_true(fabs(w->probability - w->likely[best].probability) < 1e-12);
        assert_true(w->entropy > 0 && w->entropy <= log(V) + 1e-6);
        assert_int_equal(w->likelies, VD_RUNNERS_UP);
        assert_true(w->likely[0].probability >= w->likely[4].probability);
    }
    vd_caption_trace_clear(&trace);
    vd_captioner_free(captioner);
}

// All captions of up to LONGEST words, by brute force.
static void try_all(int32_t *word, int length, double *best)
{
    if (length > 0)
        *best = fmax(*best, forced(word, length, true));
    if (length == LONGEST) {
        *best = fmax(*best, forced(word, length, false));
        return;
    }
    for (word[length] = VD_FIRST_WORD; word[length] < V; word[length]++)
        try_all(word, length + 1, best);
}

static void beam_finds_the_likeliest_caption(void **state)
{
    (void)state;
    for (vd_caption_history h = VD_HISTORY_COMPLETE; h <= VD_HISTORY_NONE; h++) {
        int32_t word[LONGEST + 1];
        double best = -INFINITY, before = -INFINITY;
        open_captioner(h);
        try_all(word, 0, &best);
        vd_generation how = {.beam = 32, .longest = LONGEST};
        vd_generated_caption c = say(&how);
        // A caption that is cut at the longest is no worse than the same with its end.
        assert_true(fabs(c.log_probability - best) < 1e-5);
        for (how.beam = 1; how.beam <= 4; how.beam++) {
            c = say(&how);
            assert_true(fabs(forced(c.word, c.length, c.ended) - c.log_probability) < 1e-5);
            before = how.beam == 1 ? c.log_probability : before;
        }
        assert_true(before <= best + 1e-6);
        vd_captioner_free(captioner);
    }
}

static void beams_come_in_order(void **state)
{
    vd_generated_caption out[8];
    vd_error err;
    int count;
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    vd_generation how = {.beam = 8, .longest = 6};
    must(vd_captioner_generate(captioner, image, P, &how, out, 8, &count, &err), &err);
    assert_int_equal(count, 8);
    for (int i = 1; i < count; i++)
        assert_true(out[i].log_probability <= out[i - 1].log_probability);
    how.length_power = 1;
    must(vd_captioner_generate(captioner, image, P, &how, out, 8, &count, &err), &err);
    for (int i = 1; i < count; i++)
        assert_true(out[i].log_probability / (out[i].length + out[i].ended) <=
                    out[i - 1].log_probability / (out[i - 1].length + out[i - 1].ended));
    vd_captioner_free(captioner);
}

// The first word of many draws against its probabilities, at temperature 2.
static void draws_follow_the_probabilities(void **state)
{
    double p[V] = {0}, sum = 0, found[V] = {0};
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    for (int32_t id = VD_FIRST_WORD; id < V; id++)
        sum += p[id] = exp(forced(&id, 1, false) / 2);
    vd_generation how = {.beam = 1, .longest = 5, .temperature = 2};
    for (how.seed = 0; how.seed < MANY; how.seed++)
        found[say(&how).word[0]] += 1.0 / MANY;
    for (int id = VD_FIRST_WORD; id < V; id++)
        assert_true(fabs(found[id] - p[id] / sum) < 4 * sqrt(p[id] / sum / MANY));
    how.seed = 5;
    vd_generated_caption one = say(&how), other = say(&how);
    assert_memory_equal(one.word, other.word, (size_t)one.length * sizeof *one.word);
    assert_true(one.log_probability == other.log_probability);
    vd_captioner_free(captioner);
}

static void constraints_hold(void **state)
{
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    vd_generation how = {.beam = 1, .longest = VD_MAX_CAPTION, .temperature = 1};
    int twice = 0, thrice = 0;
    for (int i = 0; i < 2 * MANY; i++) {
        how.seed = (uint64_t)i / 2;
        how.no_repeat = how.no_trigram = i % 2;
        vd_generated_caption c = say(&how);
        assert_true(c.length > 0 && c.length <= VD_MAX_CAPTION);
        for (int k = 0; k < c.length; k++)
            assert_true(c.word[k] >= VD_FIRST_WORD);
        for (int k = 1; k < c.length; k++) {
            twice += c.word[k] == c.word[k - 1] && i % 2 == 0;
            assert_false(i % 2 && c.word[k] == c.word[k - 1]);
        }
        for (int k = 0; k + 3 < c.length; k++)
            for (int m = k + 1; m + 2 < c.length; m++) {
                bool same = memcmp(c.word + k, c.word + m, 3 * sizeof *c.word) == 0;
                thrice += same && i % 2 == 0;
                assert_false(same && i % 2);
            }
    }
    assert_true(twice > 0 && thrice > 0); // without constraints it happens
    vd_captioner_free(captioner);
}

static void shares_are_parts_of_one(void **state)
{
    static const int32_t word[] = {4, 6, 5};
    vd_caption_trace t;
    vd_error err;
    (void)state;
    for (vd_caption_history h = VD_HISTORY_COMPLETE; h <= VD_HISTORY_NONE; h++) {
        open_captioner(h);
        must(vd_captioner_trace(captioner, image, P, word, 3, true, NULL, &t, &err), &err);
        assert_int_equal(t.words, 4);
        assert_true((t.history == NULL) == (h == VD_HISTORY_NONE));
        for (int w = 0; w < t.words; w++) {
            float region[P], history[4];
            double sum = 0;
            vd_caption_trace_look(&t, w, -1, -1, region, NULL);
            vd_caption_trace_look(&t, w, -1, -1, NULL, history);
            assert_true(region[1] == 0); // padding
            for (int k = 0; k < P; k++)
                sum += (double)region[k];
            assert_true((sum > 1e-3) == (h != VD_HISTORY_ONLY));
            for (int k = 0; k < t.words; k++) {
                bool seen = h == VD_HISTORY_NOW    ? k == w
                            : h == VD_HISTORY_PAST ? k < w
                                                   : k <= w && h != VD_HISTORY_NONE;
                assert_true((history[k] > 0) == seen);
                sum += (double)history[k];
            }
            assert_true(fabs(sum - 1) < 1e-5);
        }
        vd_caption_trace_clear(&t);
        vd_captioner_free(captioner);
    }
}

static void refuse_saying(vd_generation how, int most, const char *expected)
{
    vd_generated_caption out[2];
    vd_error err;
    int count;
    assert_int_equal(vd_captioner_generate(captioner, image, P, &how, out, most, &count, &err),
                     VD_USAGE);
    assert_string_equal(err.text, expected);
}

static void what_cannot_be_said_is_refused(void **state)
{
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    refuse_saying((vd_generation){.beam = 33, .longest = 5}, 1,
                  "a beam of 33 hypotheses; expected 1 to 32");
    refuse_saying((vd_generation){.beam = 1, .longest = 21}, 1,
                  "captions of 21 words; expected 1 to 20");
    refuse_saying((vd_generation){.beam = 1, .longest = 2}, 2, "2 captions of a beam of 1");
    refuse_saying((vd_generation){.beam = 2, .longest = 2, .temperature = 1}, 1,
                  "sampling needs a temperature above 0 and a beam of 1");
    memset(image, 0, sizeof image);
    refuse_saying(vd_generation_greedy(), 1, "a picture without regions cannot be described");
    vd_captioner_free(captioner);
}

// Hard attention: its expectation is the soft captioner of the same weights; the largest share is
// what there is unless somebody says otherwise; draws are the seed's, and none goes with a beam.
static void open_sat(vd_captioner_kind kind)
{
    vd_caption_config caption = config_of(VD_HISTORY_NONE);
    caption.captioner = kind;
    open_config(&caption);
}

static void hard_attention_looks_as_it_is_told(void **state)
{
    static const int32_t word[2] = {4, 5};
    vd_generation how = vd_generation_greedy();
    vd_generated_caption out[2];
    int count, others = 0;
    vd_error err;
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    support_refused(vd_captioner_look(captioner, VD_HARD_DRAW, 1, &err), VD_USAGE, &err,
                    "its captioner is cat; expected sat-hard", NULL);
    vd_captioner_free(captioner);
    open_sat(VD_CAPTIONER_SAT_SOFT);
    double soft = forced(word, 2, true);
    vd_captioner_free(captioner);
    open_sat(VD_CAPTIONER_SAT_HARD);
    double own = forced(word, 2, true);
    must(vd_captioner_look(captioner, VD_HARD_EXPECTED, 0, &err), &err);
    assert_true(forced(word, 2, true) == soft);
    must(vd_captioner_look(captioner, VD_HARD_LARGEST, 0, &err), &err);
    assert_true(forced(word, 2, true) == own && own != soft);
    for (uint64_t seed = 1; seed < 20; seed++) {
        must(vd_captioner_look(captioner, VD_HARD_DRAW, seed, &err), &err);
        double drawn = forced(word, 2, true);
        others += drawn != own;
        assert_true(forced(word, 2, true) == drawn);
        must(vd_captioner_generate(captioner, image, P, &how, out, 1, &count, &err), &err);
        assert_true(fabs(forced(out->word, out->length, out->ended) - out->log_probability) < 1e-5);
    }
    assert_true(others > 3);
    how.beam = 2;
    support_refused(vd_captioner_generate(captioner, image, P, &how, out, 1, &count, &err),
                    VD_USAGE, &err, "a captioner that draws where it looks; expected 1", NULL);
    vd_captioner_free(captioner);
}

// The mean over heads is that of single looks, and what is shown first is the top layer's.
static void a_look_is_of_a_layer_and_a_head(void **state)
{
    static const int32_t word[] = {4, 6, 5};
    vd_caption_trace t;
    vd_error err;
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    must(vd_captioner_trace(captioner, image, P, word, 3, true, NULL, &t, &err), &err);
    for (int l = 0; l < t.layers; l++) {
        float mean[P], region[P], history[4], given = 0, sum[P] = {0};
        for (int h = 0; h < t.heads; h++) {
            double whole = 0;
            vd_caption_trace_look(&t, 2, l, h, region, history);
            for (int k = 0; k < P; k++, whole += (double)region[k - 1])
                sum[k] += region[k] / (float)t.heads;
            for (int k = 0; k < t.words; k++, whole += (double)history[k - 1])
                given += history[k] / (float)t.heads;
            assert_true(fabs(whole - 1) < 1e-5);
        }
        vd_caption_trace_look(&t, 2, l, -1, mean, history);
        for (int k = 0; k < P; k++)
            assert_float_equal(mean[k], sum[k], 1e-6f);
        for (int k = 0; k < t.words; k++)
            given -= history[k];
        assert_float_equal(given, 0, 1e-6f);
    }
    float top[P], first[P], history[4];
    vd_caption_trace_look(&t, 2, t.layers - 1, -1, top, history);
    vd_caption_trace_look(&t, 2, -1, -1, first, NULL);
    assert_memory_equal(top, first, sizeof top);
    vd_caption_trace_clear(&t);
    vd_captioner_free(captioner);
}

static void sat_says_what_it_lets_in_and_where_it_looked(void **state)
{
    static const int32_t word[2] = {4, 5};
    vd_caption_trace t;
    vd_error err;
    (void)state;
    for (vd_captioner_kind kind = VD_CAPTIONER_CAT; kind <= VD_CAPTIONER_SAT_HARD; kind++) {
        if (kind == VD_CAPTIONER_CAT)
            open_captioner(VD_HISTORY_COMPLETE);
        else
            open_sat(kind);
        must(vd_captioner_trace(captioner, image, P, word, 2, true, NULL, &t, &err), &err);
        for (int i = 0; i < t.words; i++) {
            float region[P];
            int largest = 0;
            vd_caption_trace_look(&t, i, -1, -1, region, NULL);
            for (int k = 1; k < P; k++)
                largest = region[k] > region[largest] ? k : largest;
            const vd_generated_word *w = &t.word[i];
            assert_true(kind == VD_CAPTIONER_CAT ? w->gate == -1 : w->gate > 0 && w->gate < 1);
            assert_int_equal(w->chosen, kind == VD_CAPTIONER_SAT_HARD ? largest : -1);
        }
        assert_true(kind == VD_CAPTIONER_CAT || t.word[0].gate != t.word[1].gate);
        vd_caption_trace_clear(&t);
        vd_captioner_free(captioner);
    }
}

// Runs of a word become one; all else, the sum too, is as before.
static void repeats_are_merged_when_asked_for(void **state)
{
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    vd_generation how = {.longest = VD_MAX_CAPTION, .beam = 1, .temperature = 3};
    int shorter = 0;
    for (how.seed = 0; how.seed < 50; how.seed++) {
        vd_generation merging = how;
        merging.merge_repeats = true;
        vd_generated_caption plain = say(&how), merged = say(&merging);
        int kept = 0;
        for (int i = 0; i < plain.length; i++)
            if (i == 0 || plain.word[i] != plain.word[i - 1])
                assert_int_equal(merged.word[kept++], plain.word[i]);
        assert_int_equal(merged.length, kept);
        assert_true(merged.log_probability == plain.log_probability);
        shorter += kept < plain.length;
    }
    assert_true(shorter > 10);
    vd_captioner_free(captioner);
}

static void how_it_was_said_is_named(void **state)
{
    (void)state;
    char text[200];
    vd_generation how = vd_generation_greedy();
    vd_generation_text(&how, text, sizeof text);
    assert_string_equal(text, "beam=1 longest=20 length-power=0");
    how = (vd_generation){.beam = 5,
                          .longest = 16,
                          .length_power = 0.5,
                          .no_repeat = true,
                          .no_trigram = true,
                          .no_dangling = true,
                          .merge_repeats = true};
    vd_generation_text(&how, text, sizeof text);
    assert_string_equal(text, "beam=5 longest=16 length-power=0.5 no-repeat no-trigram no-dangling "
                              "merge-repeats");
    how = (vd_generation){.beam = 1, .longest = 20, .temperature = 0.7, .seed = 12};
    vd_generation_text(&how, text, sizeof text);
    assert_string_equal(text, "temperature=0.7 seed=12 longest=20");
}

static void files_of_another_task_are_refused(void **state)
{
    vd_error err;
    vd_model *model;
    char *path = support_join(directory, "captioner.safetensors"),
         *other = support_join(directory, "answerer.safetensors");
    const vd_config config = {
        .vocab = V, .embed = 4, .hidden = 6, .region = D, .gate = VD_GATE_SIGMOID};
    (void)state;
    open_captioner(VD_HISTORY_COMPLETE);
    vd_captioner_free(captioner);
    support_refused(vd_model_load(path, &model, &err), VD_MISMATCH, &err, path,
                    "it is a captioner, which describes pictures", NULL);
    support_write_random_model(&config, other);
    support_refused(vd_captioner_load(other, &captioner, &err), VD_MISMATCH, &err, other,
                    "which answers questions", NULL);
    must(vd_model_load_any(path, &model, &err), &err);
    assert_int_equal(vd_model_config(model)->task, VD_TASK_CAPTION);
    vd_model_free(model);
    free(path);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_is_the_likeliest_word_each_time),
        cmocka_unit_test(beam_finds_the_likeliest_caption),
        cmocka_unit_test(beams_come_in_order),
        cmocka_unit_test(draws_follow_the_probabilities),
        cmocka_unit_test(constraints_hold),
        cmocka_unit_test(shares_are_parts_of_one),
        cmocka_unit_test(a_look_is_of_a_layer_and_a_head),
        cmocka_unit_test(sat_says_what_it_lets_in_and_where_it_looked),
        cmocka_unit_test(what_cannot_be_said_is_refused),
        cmocka_unit_test(hard_attention_looks_as_it_is_told),
        cmocka_unit_test(repeats_are_merged_when_asked_for),
        cmocka_unit_test(how_it_was_said_is_named),
        cmocka_unit_test(files_of_another_task_are_refused),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

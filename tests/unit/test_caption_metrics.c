// Metrics of captions by hand: the cases that the formulas are known by, and rewards.
#include "engine/measure/caption_metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/measure/cider.h"
#include "engine/measure/meteor.h"
#include "engine/measure/statistics.h"
#include "features/captions/reward.h"
#include "tests/support/caption_files.h"
#include "tests/support/must.h"
#include "tests/support/support.h"

#define TOKENS(...)                                                                                \
    (vd_tokens)                                                                                    \
    {                                                                                              \
        (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)   \
    }

static const vd_tokens nothing = {NULL, 0};

static void is_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9))
        fail_msg("found %.12f, expected %.12f", found, expected);
}

// ---- BLEU ---------------------------------------------------------------------------------------

static void bleu_of_one_right_word(void **state)
{
    (void)state;
    vd_bleu sums = {0};
    double score[VD_BLEU_ORDERS];
    vd_bleu_add(&sums, TOKENS(5), (vd_tokens[]){TOKENS(5)}, 1);
    vd_bleu_scores(&sums, score);
    is_near(score[0], 1.0 / (1.0 + 1e-9));
    assert_true(fabs(score[1] - 0.001) < 1e-6); // sqrt(1e-15 / 1e-9)
}

// A word counts as often as one reference has it; the nearest length, of two the shorter.
static void bleu_clips_and_takes_the_nearest_length(void **state)
{
    (void)state;
    vd_bleu sums = {0};
    vd_bleu_add(&sums, TOKENS(1, 1, 1, 2),
                (vd_tokens[]){TOKENS(1, 3, 1), TOKENS(1, 2, 3, 4, 5), TOKENS(9)}, 3);
    is_near(sums.correct[0], 3.0); // two of word 1, one of word 2
    is_near(sums.correct[1], 1.0); // 1 2
    is_near(sums.guess[3], 1.0);
    is_near(sums.hypothesis, 4.0);
    is_near(sums.reference, 3.0);
    vd_bleu_add(&sums, nothing, (vd_tokens[]){TOKENS(1)}, 1);
    is_near(sums.guess[0], 4.0);
    is_near(sums.reference, 4.0);
}

// ---- ROUGE-L ------------------------------------------------------------------------------------

static void rouge_takes_precision_and_recall_of_different_references(void **state)
{
    (void)state;
    double p = 3.0 / 4.0, r = 1.0; // of the first, of the second
    is_near(vd_rouge_l(TOKENS(1, 2, 3, 4), (vd_tokens[]){TOKENS(1, 9, 2, 8, 3, 7), TOKENS(4)}, 2),
            2.44 * p * r / (r + 1.44 * p));
    is_near(vd_rouge_l(TOKENS(1), (vd_tokens[]){TOKENS(2)}, 1), 0.0);
    is_near(vd_rouge_l(nothing, (vd_tokens[]){nothing}, 1), 1.0);
    is_near(vd_rouge_l(nothing, (vd_tokens[]){TOKENS(2)}, 1), 0.0);
}

// ---- CIDEr-D ------------------------------------------------------------------------------------

static vd_cider cider_of(const vd_tokens *reference, int pictures)
{
    vd_cider cider = {0};
    vd_error err = {0};
    for (int i = 0; i < pictures; i++)
        must(vd_cider_add(&cider, &reference[i], 1, &err), &err);
    return cider;
}

static void cider_of_perfect_captions(void **state)
{
    (void)state;
    const vd_tokens references[] = {TOKENS(1, 2, 3), TOKENS(4, 5, 6, 7)};
    vd_cider alone = cider_of(references, 1), both = cider_of(references, 2);
    is_near(vd_cider_score(&alone, references[0], &references[0], 1), 0.0);
    is_near(vd_cider_score(&both, references[0], &references[0], 1), 7.5); // no 4-gram
    is_near(vd_cider_score(&both, references[1], &references[1], 1), 10.0);
    is_near(vd_cider_score(&both, nothing, &references[1], 1), 0.0);
    // Of all words twice: counts are clipped, and the length is punished.
    is_near(vd_cider_score(&both, TOKENS(4, 4, 5, 5, 6, 6, 7, 7), &references[1], 1),
            2.5 * (4.0 / (4.0 * 2.0) + 3.0 / (sqrt(7.0) * sqrt(3.0))) * exp(-16.0 / 72.0));
    vd_cider_clear(&both);
    vd_cider_clear(&alone);
    // Words that no picture has weigh most, where all pictures have none, too.
    vd_cider empty = cider_of((const vd_tokens[]){nothing, nothing}, 2);
    is_near(vd_cider_score(&empty, references[1], &references[1], 1), 10.0);
    vd_cider_clear(&empty);
}

// One word in common, in one of two pictures: 10/4 for n = 1 alone.
static void cider_by_hand(void **state)
{
    (void)state;
    const vd_tokens references[] = {TOKENS(1, 2), TOKENS(2, 3), TOKENS(3, 4)};
    vd_cider cider = cider_of(references, 3);
    double rare = log(3.0), common = log(3.0) - log(2.0);
    double cosine = rare * rare / (rare * sqrt(rare * rare + common * common));
    is_near(vd_cider_score(&cider, TOKENS(1), &references[0], 1),
            10.0 / 4.0 * cosine * exp(-1.0 / 72.0));
    vd_cider_clear(&cider);
}

static void cider_keeps_many_ngrams(void **state)
{
    (void)state;
    vd_cider cider = {0};
    vd_error err = {0};
    for (int32_t i = 0; i < 3000; i++) {
        const vd_tokens reference = TOKENS(i, i + 1, i + 2, i + 3, i);
        must(vd_cider_add(&cider, &reference, 1, &err), &err);
    }
    for (int32_t i = 0; i < 3000; i += 500) {
        const vd_tokens reference = TOKENS(i, i + 1, i + 2, i + 3, i);
        is_near(vd_cider_score(&cider, reference, &reference, 1), 10.0);
    }
    vd_cider_clear(&cider);
}

static vd_status make_cider(void *context, vd_error *err)
{
    vd_cider cider = {0};
    vd_status status = VD_OK;
    for (int32_t i = 0; i < 600 && status == VD_OK; i++)
        status = vd_cider_add(&cider, &TOKENS(i, 2 * i, 3 * i), 1, err);
    vd_cider_clear(&cider);
    (void)context;
    return status;
}

static void cider_out_of_memory_says_so(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(make_cider, NULL) >= 4);
}

// ---- METEOR-es ----------------------------------------------------------------------------------

static void meteor_prefers_words_then_fewest_chunks(void **state)
{
    (void)state;
    static const int32_t stem[] = {0, 1, 2, 2, 4, 5}; // words 2 and 3 have one stem
    vd_meteor m = vd_meteor_align(TOKENS(1, 2, 1, 4), TOKENS(1, 4, 3, 1), stem);
    is_near(m.matches, 4.0);
    is_near(m.weight, 3.6); // 2 with 3 by their stem
    is_near(m.chunks, 3.0); // "1 4" of the end; the other two alone
    m = vd_meteor_align(TOKENS(2, 3), TOKENS(3, 5), stem);
    is_near(m.weight, 1.0); // the equal word, though the other comes first
    m = vd_meteor_align(TOKENS(2, 3), TOKENS(3, 5), NULL);
    is_near(m.matches, 1.0);
}

static void meteor_by_hand(void **state)
{
    (void)state;
    const vd_tokens references[] = {TOKENS(9, 8, 7), TOKENS(1, 2, 3, 4)};
    vd_meteor best = vd_meteor_best(TOKENS(1, 2, 5), references, 2, NULL);
    double p = 2.0 / 3.0, r = 2.0 / 4.0;
    is_near(vd_meteor_score(&best),
            (1.0 - 0.6 * pow(1.0 / 2.0, 0.2)) * p * r / (0.85 * p + 0.15 * r));
    best = vd_meteor_best(TOKENS(1, 2, 3, 4), references, 2, NULL);
    is_near(vd_meteor_score(&best), 1.0);
    is_near(best.chunks, 0.0); // so that sums over perfect captions have no penalty either
    best = vd_meteor_best(nothing, references, 2, NULL);
    is_near(vd_meteor_score(&best), 0.0);
}

// Two words a hundred times each: more alignments than can be looked at.
static void meteor_of_a_long_hostile_caption_ends(void **state)
{
    (void)state;
    int32_t one[VD_CAPTION_MOST], two[VD_CAPTION_MOST];
    for (int i = 0; i < VD_CAPTION_MOST; i++) {
        one[i] = i % 2;
        two[i] = (i / 3) % 2;
    }
    vd_meteor m =
        vd_meteor_align((vd_tokens){one, VD_CAPTION_MOST}, (vd_tokens){two, VD_CAPTION_MOST}, NULL);
    is_near(m.matches, 255.0); // of 128 words 0, 127 words 1 in the reference
    is_near(m.weight, 255.0);
}

// ---- statistics of what is no ratio -------------------------------------------------------------

static void product_of_means(const double *sum, double *metric)
{
    metric[0] = sum[0] / sum[2] * (sum[1] / sum[2]);
}

static void intervals_of_functions_of_sums(void **state)
{
    (void)state;
    double sums[20][3], metric;
    for (int i = 0; i < 20; i++) {
        sums[i][0] = i % 2;
        sums[i][1] = 3.0;
        sums[i][2] = 1.0;
    }
    vd_sample sample = {
        .dialogs = 20, .metrics = 1, .columns = 3, .sum = &sums[0][0], .derive = product_of_means};
    vd_interval interval;
    vd_error err = {0};
    const vd_bootstrap_options options = {.resamples = 4000, .seed = 1};
    must(vd_bootstrap(&sample, 1, &options, &interval, &err), &err);
    product_of_means((double[]){10, 60, 20}, &metric);
    is_near(interval.estimate, metric);
    assert_true(fabs(interval.standard_error - 3.0 * sqrt(0.25 / 20)) < 0.01);
    must(vd_bootstrap_paired(&sample, 1, &sample, 1, &options, &interval, &err), &err);
    is_near(interval.p, 1.0);
    vd_sample other = sample;
    other.columns = 2;
    assert_int_equal(vd_bootstrap_paired(&sample, 1, &other, 1, &options, &interval, &err),
                     VD_USAGE);
}

// ---- rewards ------------------------------------------------------------------------------------

typedef struct rewarded {
    vd_captions *captions;
    vd_vocab *vocab;
    vd_caption_reward *in, *out; // </S> a token, and not
} rewarded;

static rewarded make_rewards(const char *directory)
{
    rewarded r;
    vd_error err = {0};
    char *path = support_join(directory, "captions.json");
    caption_files_karpathy(path);
    must(vd_captions_read(path, &r.captions, &err), &err);
    must(vd_captions_vocab(r.captions, 2, 0, &r.vocab, &err), &err);
    must(vd_caption_reward_new(r.captions, r.vocab, true, &r.in, &err), &err);
    must(vd_caption_reward_new(r.captions, r.vocab, false, &r.out, &err), &err);
    free(path);
    return r;
}

static void rewards_are_ciders_of_the_words(void **state)
{
    (void)state;
    char *directory = support_temp_dir();
    rewarded r = make_rewards(directory);
    int32_t a = vd_vocab_id(r.vocab, "a"), red = vd_vocab_id(r.vocab, "red"),
            ball = vd_vocab_id(r.vocab, "ball");
    assert_true(a != VD_UNKNOWN && red != VD_UNKNOWN && ball != VD_UNKNOWN);
    assert_int_equal(vd_vocab_id(r.vocab, "two"), VD_UNKNOWN); // once only
    const int32_t hypothesis[] = {a, red, ball, VD_END, ball, ball}, broken[] = {a, red, a};
    double whole = vd_caption_reward_of(r.in, 0, hypothesis, 6);
    assert_true(whole > vd_caption_reward_of(r.in, 0, hypothesis, 3)); // the end is missing
    is_near(vd_caption_reward_of(r.out, 0, hypothesis, 6),
            vd_caption_reward_of(r.out, 0, hypothesis, 3));
    assert_true(vd_caption_reward_of(r.out, 0, hypothesis, 3) >
                vd_caption_reward_of(r.out, 0, broken, 3));
    assert_true(vd_caption_reward_of(r.in, 0, hypothesis, 6) >
                vd_caption_reward_of(r.in, 2, hypothesis, 6));
    is_near(vd_caption_reward_of(r.in, 0, (int32_t[]){VD_UNKNOWN, VD_PAD}, 2), 0.0);
    // The same by hand, with the numbers of the words.
    vd_cider cider = {0};
    vd_error err = {0};
    vd_tokens references[3][2];
    for (int i = 0; i < 3; i++) {
        const vd_captioned *image = &r.captions->image[i];
        for (int c = 0; c < image->captions; c++)
            references[i][c] = image->caption[c].words;
        must(vd_cider_add(&cider, references[i], image->captions, &err), &err);
    }
    is_near(vd_caption_reward_of(r.out, 0, hypothesis, 3),
            vd_cider_score(&cider, references[0][0], references[0], 2));
    vd_cider_clear(&cider);
    vd_caption_reward_free(r.in);
    vd_caption_reward_free(r.out);
    vd_vocab_free(r.vocab);
    vd_captions_free(r.captions);
    support_remove_tree(directory);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bleu_of_one_right_word),
        cmocka_unit_test(bleu_clips_and_takes_the_nearest_length),
        cmocka_unit_test(rouge_takes_precision_and_recall_of_different_references),
        cmocka_unit_test(cider_of_perfect_captions),
        cmocka_unit_test(cider_by_hand),
        cmocka_unit_test(cider_keeps_many_ngrams),
        cmocka_unit_test(cider_out_of_memory_says_so),
        cmocka_unit_test(meteor_prefers_words_then_fewest_chunks),
        cmocka_unit_test(meteor_by_hand),
        cmocka_unit_test(meteor_of_a_long_hostile_caption_ends),
        cmocka_unit_test(intervals_of_functions_of_sums),
        cmocka_unit_test(rewards_are_ciders_of_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

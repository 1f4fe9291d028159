// Captions and dialogs are what dialog.h promises: the same for the same scene, varied, even,
// referring back, and with candidates that give nothing away.
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assets/blocks/answers.h"
#include "assets/blocks/manner.h"
#include "engine/networks/batch.h"
#include "features/text/tokenize.h"
#include "tests/support/blocks_dialogs.h"

_Static_assert((int)BLOCKS_MOST_WORDS == (int)VD_MAX_QUESTION,
               "the network reads all of a question");

// ---- form -------------------------------------------------------------------------------------

static void a_dialog_is_the_same_for_the_same_scene(void **state)
{
    (void)state;
    static blocks_dialog again;
    for (int i = 0; i < 50; i++) {
        memset(&again, 0xa5, sizeof again);
        blocks_dialog_make(&scenes[i], &again);
        assert_memory_equal(&again, &dialogs[i], sizeof again);
    }
    blocks_scene other = scenes[0];
    other.image_id++;
    blocks_dialog_make(&other, &again);
    assert_memory_not_equal(&again, &dialogs[0], sizeof again);
    other = scenes[0];
    other.dialog_seed++;
    blocks_dialog_make(&other, &again);
    assert_memory_not_equal(&again, &dialogs[0], sizeof again);
}

static void *make_again(void *argument)
{
    bool *same = argument;
    blocks_dialog *again = malloc(sizeof *again);
    *same = again != NULL;
    for (int i = 0; i < 200 && *same; i++) {
        blocks_dialog_make(&scenes[i], again);
        const void *now = again, *before = &dialogs[i];
        *same = !memcmp(now, before, sizeof *again); // every byte is written
    }
    free(again);
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    pthread_t thread[3];
    bool same[3];
    for (int t = 0; t < 3; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, make_again, &same[t]), 0);
    for (int t = 0; t < 3; t++) {
        pthread_join(thread[t], NULL);
        assert_true(same[t]);
    }
}

static void check_text(const char *text)
{
    size_t n = strlen(text);
    assert_in_range(n, 1, BLOCKS_TEXT - 1);
    assert_true(text[0] != ' ' && text[n - 1] != ' ' && text[n - 1] != ',');
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (!(islower((unsigned char)c) || isdigit((unsigned char)c) || c == ' ' || c == '\'' ||
              strchr(",.!:", c)))
            fail_msg("'%s' has a '%c'", text, c);
        if (c == ' ' && (text[i + 1] == ' ' || text[i + 1] == ','))
            fail_msg("'%s' has a stray blank", text);
    }
}

static size_t words_in(const char *text, const char *end)
{
    char whole[BLOCKS_TEXT + 4];
    snprintf(whole, sizeof whole, "%s%s", text, end);
    vd_words words;
    assert_int_equal(vd_tokenize(whole, &words, NULL), VD_OK);
    for (size_t i = 0; i < words.count; i++)
        for (const char *c = words.word[i]; *c; c++)
            if (!(islower((unsigned char)*c) || isdigit((unsigned char)*c)) && words.word[i][1] &&
                *c != '\'')
                fail_msg("'%s' in '%s' is no word", words.word[i], whole);
    size_t count = words.count;
    vd_words_clear(&words);
    return count;
}

static void texts_are_as_the_public_ones_and_short_enough_for_the_network(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        check_text(dialogs[i].caption);
        assert_in_range(words_in(dialogs[i].caption, ""), 3, 39);
    }
    for (int i = 0; i < 300 * BLOCKS_ROUNDS; i++) {
        check_text(round_at(i)->question);
        assert_in_range(words_in(round_at(i)->question, "?"), 2, 20);
    }
    for (int i = 0; i < blocks_answer_count(); i++) {
        check_text(blocks_answer_text(i));
        assert_in_range(words_in(blocks_answer_text(i), ""), 1, 11);
    }
}

// A text that fills its place is never cut or written beyond it.
static void a_manner_keeps_to_its_place(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(3, 1);
    for (int i = 0; i < 3000; i++) {
        char text[BLOCKS_TEXT + 8], last[4];
        size_t length = (size_t)(i % BLOCKS_TEXT);
        memset(text, '*', sizeof text);
        for (size_t k = 0; k < length; k++)
            text[k] = "the color, "[k % 11];
        text[length] = 0;
        if (length >= 3)
            memcpy(text + length - 3, "cat", 3);
        blocks_manner_apply(&rng, (unsigned)i % 64, i % 3 ? "a red cube" : NULL, text, BLOCKS_TEXT);
        assert_true(strlen(text) < BLOCKS_TEXT);
        memcpy(last, text + BLOCKS_TEXT, sizeof last);
        assert_memory_equal(last, "****", 4);
        assert_true(length < 3 || strstr(text, "cat"));
    }
}

static void no_question_comes_twice_in_a_dialog(void **state)
{
    (void)state;
    for (int i = 0; i < DIALOGS; i++)
        for (int r = 0; r < BLOCKS_ROUNDS; r++)
            for (int s = 0; s < r; s++)
                assert_string_not_equal(dialogs[i].round[r].question, dialogs[i].round[s].question);
}

static void answers_are_few_and_distinct(void **state)
{
    (void)state;
    int count = blocks_answer_count();
    assert_in_range(count, 200, ANSWERS_MAX);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(blocks_answer_text(i), blocks_answer_text(k));
}

// ---- candidates -------------------------------------------------------------------------------

static void candidates_hold_the_answer_and_are_distinct(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        char seen[ANSWERS_MAX] = {0};
        for (int k = 0; k < BLOCKS_CANDIDATES; k++) {
            assert_in_range(r->options[k], 0, blocks_answer_count() - 1);
            assert_false(seen[r->options[k]]++);
            assert_true(r->relevance[k] >= 0 && r->relevance[k] <= 1);
        }
        assert_in_range(r->truth, 0, BLOCKS_CANDIDATES - 1);
        assert_int_equal(r->options[r->truth], r->answer);
        assert_true(r->relevance[r->truth] == 1);
    }
}

static void yes_and_no_are_never_both_true(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        bool is[2] = {false, false};
        for (int k = 0; k < BLOCKS_CANDIDATES; k++) {
            int p = polarity(blocks_answer_text(r->options[k]));
            if (p >= 0 && r->relevance[k] > 0)
                is[p] = true;
        }
        assert_false(is[0] && is[1]);
    }
}

// Ranking by index must be as bad as guessing: mean rank 50.5, every decade as likely.
static void the_order_of_candidates_leaks_nothing(void **state)
{
    (void)state;
    double sum = 0;
    int decade[10] = {0}, last[10] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        sum += round_at(i)->truth + 1;
        decade[round_at(i)->truth / 10]++;
        last[round_at(i)->truth % 10]++;
    }
    // Standard error: 28.9 / sqrt(20000) = 0.20.
    assert_true(fabs(sum / ROUNDS - 50.5) < 1.1);
    double chi[2] = {0, 0}, expected = ROUNDS / 10.0;
    for (int d = 0; d < 10; d++) {
        chi[0] += (decade[d] - expected) * (decade[d] - expected) / expected;
        chi[1] += (last[d] - expected) * (last[d] - expected) / expected;
    }
    assert_true(chi[0] < 27.9 && chi[1] < 27.9); // 9 degrees of freedom, 0.001
}

// Without picture and question: guessing among the candidates by what they are overall must not do
// much better than always saying the most popular answer.
static void what_is_among_the_candidates_leaks_little(void **state)
{
    (void)state;
    static double given[ANSWERS_MAX], offered[ANSWERS_MAX];
    for (int i = 0; i < ROUNDS / 2; i++) {
        const blocks_round *r = round_at(i);
        given[r->answer]++;
        for (int k = 0; k < BLOCKS_CANDIDATES; k++)
            offered[r->options[k]]++;
    }
    int right = 0;
    for (int i = ROUNDS / 2; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        int best = 0;
        for (int k = 0; k < BLOCKS_CANDIDATES; k++)
            if (given[r->options[k]] * offered[r->options[best]] >
                given[r->options[best]] * offered[r->options[k]])
                best = k;
        right += r->relevance[best] == 1;
    }
    print_message("blind to the question: %.3f\n", right / (ROUNDS / 2.0));
    assert_true(right < 0.35 * ROUNDS / 2);
}

// ---- balance ----------------------------------------------------------------------------------

static const char *const families[] = {"count",    "exist",      "verify",      "attribute",
                                       "relation", "comparison", "superlative", "choice",
                                       "another",  "absent"};
enum { FAMILIES = sizeof families / sizeof *families, ABSENT_FAMILY = FAMILIES - 1 };

static int family_of(const blocks_round *r)
{
    for (int f = 0; f < FAMILIES; f++)
        if (!strcmp(r->family, families[f]))
            return f;
    fail_msg("no such family: '%s'", r->family);
    return -1;
}

static void every_family_comes_and_looking_ones_lead(void **state)
{
    (void)state;
    int count[FAMILIES] = {0};
    for (int i = 0; i < ROUNDS; i++)
        count[family_of(round_at(i))]++;
    for (int f = 0; f < FAMILIES; f++) {
        print_message("%-12s %.3f\n", families[f], count[f] / (double)ROUNDS);
        assert_true(count[f] > 0.03 * ROUNDS);
    }
    assert_in_range(count[0] + count[1] + count[2] + count[3], (int)(0.55 * ROUNDS),
                    (int)(0.7 * ROUNDS));
}

static void yes_and_no_are_even_in_every_family(void **state)
{
    (void)state;
    int count[FAMILIES][2] = {{0}};
    for (int i = 0; i < ROUNDS; i++) {
        int p = polarity(blocks_answer_text(round_at(i)->answer));
        if (p >= 0)
            count[family_of(round_at(i))][p]++;
    }
    for (int f = 0; f < ABSENT_FAMILY; f++) { // what is absent is absent
        int both = count[f][0] + count[f][1];
        if (both > 100)
            print_message("%-12s yes %.3f of %d\n", families[f], count[f][1] / (double)both, both);
        if (both > 100)
            assert_in_range(count[f][1], both * 2 / 5, both * 3 / 5);
    }
    assert_true(count[ABSENT_FAMILY][1] > 0);
    assert_true(count[ABSENT_FAMILY][0] > count[ABSENT_FAMILY][1]);
}

// The question without made-up words ("gavuzeko": pairs of a consonant and a vowel).
static void drop_made_up(const char *question, char out[BLOCKS_TEXT])
{
    size_t used = 0;
    for (const char *word = question; *word;) {
        size_t length = strcspn(word, " "), pairs = 0;
        while (2 * pairs + 1 < length && strchr("bdgjkvwz", word[2 * pairs]) &&
               strchr("aeou", word[2 * pairs + 1]))
            pairs++;
        if (pairs < 4)
            used += (size_t)snprintf(out + used, BLOCKS_TEXT - used, "%s%.*s", used ? " " : "",
                                     (int)length, word);
        word += length + (word[length] == ' ');
    }
}

static void half_of_the_questions_refer_back(void **state)
{
    (void)state;
    int count = 0, caption = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int back = round_at(i)->coreference, round = i % BLOCKS_ROUNDS + 1;
        assert_in_range(back, 0, round); // the caption is round 0
        count += back > 0;
        caption += back == round;
        // "it" is never used without something to stand for ("they" may be all there is), be it in
        // the question itself: "and the ball, is it red", "left of the ball or right of it". In "is
        // it mostly cubes" and "it has 2 cones" it is the picture.
        // In "look at the ball, is it red" it is named before. In "what colors does it have" it is
        // the picture.
        static const char *const own[] = {
            "and ", "adn ", "nad ", ", is it", ", what is it", " or ", " ro ", "it mostly",
            "it has", "look at ", "see the ", "n't it", "see a", "ese a", "for the ", "about the ",
            "s does it ", "s deos it ", "s doe it ", "are in it", "what else is in it", "take the ",
            "now the ", "notice a", "there is a", "there's a", "theres a", "got it",
            // remarks
            "it is hard", "it si hard", "it is so", "it si so", " it so", "see it", "ese it",
            "tell it", "i can't", "it looks", "it could be"};
        char question[BLOCKS_TEXT] = "";
        drop_made_up(round_at(i)->question, question);
        bool named = !strcmp(round_at(i)->family, "absent");
        // "hm, behind it! now ...": the answer just heard.
        named |= round > 1 && strstr(question, blocks_answer_text(round_at(i - 1)->answer));
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            named |= strstr(question, own[k]) != NULL;
        if (strstr(question, " it ") && !named)
            assert_string_equal(back > 0 ? question : "referring back", question);
    }
    print_message("coreferent %.3f, to the caption %.3f\n", count / (double)ROUNDS,
                  caption / (double)ROUNDS);
    assert_in_range(count, (int)(0.4 * ROUNDS), (int)(0.55 * ROUNDS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dialog_is_the_same_for_the_same_scene),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(texts_are_as_the_public_ones_and_short_enough_for_the_network),
        cmocka_unit_test(a_manner_keeps_to_its_place),
        cmocka_unit_test(no_question_comes_twice_in_a_dialog),
        cmocka_unit_test(answers_are_few_and_distinct),
        cmocka_unit_test(candidates_hold_the_answer_and_are_distinct),
        cmocka_unit_test(yes_and_no_are_never_both_true),
        cmocka_unit_test(the_order_of_candidates_leaks_nothing),
        cmocka_unit_test(what_is_among_the_candidates_leaks_little),
        cmocka_unit_test(every_family_comes_and_looking_ones_lead),
        cmocka_unit_test(yes_and_no_are_even_in_every_family),
        cmocka_unit_test(half_of_the_questions_refer_back),
    };
    return cmocka_run_group_tests(tests, make_dialogs, NULL);
}

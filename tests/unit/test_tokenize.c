// Typed text, ids and the limits of the tokenizer. That tokens equal NLTK's is tests/golden's.
#include "features/text/tokenize.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/networks/batch.h"
#include "engine/base/rng.h"
#include "features/text/sentences.h"
#include "tests/support/support.h"

static vd_vocab *vocab;

static int set_up(void **state)
{
    (void)state;
    static const char *const words[] = {"?",  "what", "color", "is", "the", "ball",
                                        "do", "n't",  "yes",   ",",  "red"};
    vd_error err;
    return vd_vocab_from_words(words, sizeof words / sizeof *words, &vocab, &err) != VD_OK;
}

static int tear_down(void **state)
{
    (void)state;
    vd_vocab_free(vocab);
    return 0;
}

static void expect_typed(const char *typed, const char *expected)
{
    char *normal;
    vd_error err = {0};
    if (vd_normalise_typed(typed, &normal, &err) != VD_OK)
        fail_msg("%s", err.text);
    assert_string_equal(normal, expected);
    vd_free(normal);
}

static void typed_text_looks_like_the_training_text(void **state)
{
    (void)state;
    expect_typed("What COLOR is the ball?", "what color is the ball");
    expect_typed("  what \t color\n is it  ?? ", "what color is it");
    expect_typed("Is it red.", "is it red");
    expect_typed("is it red!?!", "is it red");
    expect_typed("don’t you see “two” balls", "don't you see \"2\" balls");
    expect_typed("dont you see it, isnt it there", "don't you see it, isn't it there");
    expect_typed("are there two, three or Ten?", "are there 2, 3 or 10");
    expect_typed("one-two", "1-2");
    expect_typed("everyone someone tenth", "everyone someone tenth");
    expect_typed("is it 5:30 p.m.?", "is it 5:30 p.m");
    expect_typed("ÉCLAIR", "éclair");
    expect_typed("e\xcc\x81"
                 "clair",
                 "éclair"); // e and a combining accent
    expect_typed("ｗｈａｔ　ｃｏｌｏｒ", "what color");
    expect_typed("what\xc2\xa0is\xe2\x80\x8b it", "what is it");
    expect_typed("left–right", "left-right");
    expect_typed("a\x01\x1b[31mb", "a [31mb");
    expect_typed("???", "");
    expect_typed("", "");
}

static void every_typed_number_and_contraction_is_found(void **state)
{
    (void)state;
    expect_typed("zero one two three four five six seven eight nine ten", "0 1 2 3 4 5 6 7 8 9 10");
    expect_typed("aint arent cant couldnt didnt doesnt dont hadnt hasnt havent hes im isnt ive",
                 "ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't he's i'm "
                 "isn't i've");
    expect_typed("shes shouldnt thats theres theyre theyve wasnt werent whats wheres whos wont "
                 "wouldnt youre youve",
                 "she's shouldn't that's there's they're they've wasn't weren't what's where's "
                 "who's won't wouldn't you're you've");
    expect_typed("its well were ill lets", "its well were ill lets");
}

static void invalid_utf8_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char *const bad[] = {"ab\xff",         "ab\xc3",         "ab\x80",
                                      "ab\xed\xa0\x80", "ab\xf5\x80\x80", "ab\xc0\xaf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vd_error err = {0};
        vd_words words;
        support_refused(vd_tokenize(bad[i], &words, &err), VD_FORMAT, &err, "UTF-8", "byte 3",
                        NULL);
        assert_null(words.word);
        assert_int_equal(words.count, 0);
        char *normal = (char *)1;
        support_refused(vd_normalise_typed(bad[i], &normal, &err), VD_FORMAT, &err, "byte 3", NULL);
        assert_null(normal);
    }
}

static void expect_ids(const int32_t *ids, int length, const char *expected)
{
    char text[512] = "";
    size_t used = 0;
    for (int i = 0; i < length; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 vd_vocab_word(vocab, ids[i]));
    assert_string_equal(text, expected);
}

static void two_dots_in_a_word_are_a_token(void **state)
{
    (void)state;
    vd_words words;
    vd_error err;
    assert_int_equal(vd_tokenize("wait..what", &words, &err), VD_OK);
    assert_int_equal(words.count, 3);
    assert_string_equal(words.word[1], "..");
    vd_words_clear(&words);
}

static void questions_end_in_a_question_mark(void **state)
{
    (void)state;
    int32_t ids[VD_MAX_QUESTION];
    int length, found;
    vd_error err;
    assert_int_equal(
        vd_text_ids(vocab, "what color is the thing", true, 19, ids, &length, &found, &err), VD_OK);
    expect_ids(ids, length, "what color is the <UNK> ?");
    assert_int_equal(found, 6);
    assert_int_equal(vd_text_ids(vocab, "", true, 19, ids, &length, &found, &err), VD_OK);
    expect_ids(ids, length, "?");
    assert_int_equal(vd_text_ids(vocab, "the red ball", false, 39, ids, &length, &found, &err),
                     VD_OK);
    expect_ids(ids, length, "the red ball");
    assert_int_equal(vd_text_ids(vocab, "", false, 39, ids, &length, &found, &err), VD_OK);
    assert_int_equal(length, 0);
    assert_int_equal(found, 0);
}

static void long_questions_are_cut_and_say_so(void **state)
{
    (void)state;
    char question[256] = "";
    size_t used = 0;
    for (int i = 0; i < 25; i++)
        used += (size_t)snprintf(question + used, sizeof question - used, "red ");
    int32_t ids[20] = {[19] = -7};
    int length, found;
    vd_error err;
    assert_int_equal(vd_text_ids(vocab, question, true, 19, ids, &length, &found, &err), VD_OK);
    assert_int_equal(length, 19);
    assert_int_equal(found, 26);
    assert_int_equal(ids[18], vd_vocab_id(vocab, "red"));
    assert_int_equal(ids[19], -7);
}

static void answers_are_wrapped_and_then_cut(void **state)
{
    (void)state;
    int32_t ids[VD_MAX_CANDIDATE] = {[19] = -7};
    int length;
    vd_error err;
    assert_int_equal(vd_answer_ids(vocab, "yes, red", 19, ids, &length, &err), VD_OK);
    expect_ids(ids, length, "<S> yes , red </S>");
    assert_int_equal(vd_answer_ids(vocab, "", 19, ids, &length, &err), VD_OK);
    expect_ids(ids, length, "<S> </S>");
    const char *exact = "red red red red red red red red red red red red red red red red red";
    assert_int_equal(vd_answer_ids(vocab, exact, 19, ids, &length, &err), VD_OK);
    assert_int_equal(length, 19);
    assert_int_equal(ids[18], VD_END);
    const char *over = "red red red red red red red red red red red red red red red red red red";
    assert_int_equal(vd_answer_ids(vocab, over, 19, ids, &length, &err), VD_OK);
    assert_int_equal(length, 19);
    assert_int_equal(ids[18], vd_vocab_id(vocab, "red"));
    assert_int_equal(ids[19], -7);
}

static vd_status tokenise_all(void *context, vd_error *err)
{
    vd_word_counts counts = {0};
    vd_status status = vd_text_count_words(&counts, context, true, 1, err);
    vd_word_counts_clear(&counts);
    char *normal = NULL;
    if (status == VD_OK)
        status = vd_normalise_typed(context, &normal, err);
    assert_true((status == VD_OK) == (normal != NULL));
    vd_free(normal);
    int32_t ids[VD_MAX_QUESTION];
    int length, found;
    if (status == VD_OK)
        status = vd_text_ids(vocab, context, true, 19, ids, &length, &found, err);
    if (status == VD_OK)
        status = vd_answer_ids(vocab, context, 19, ids, &length, err);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    char text[] = "what's \"this\", mr. ball... isn't it red? a b c d e f g h i j k l m n o p q!";
    assert_true(support_fail_each_allocation(tokenise_all, text) > 20);
}

// Any text ends in words without white space that hold all its letters and digits.
static void any_text_keeps_its_letters(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "a", "'", "\"", ".",   "...", "?", "!", ",", ":",  " ", "  ", "--",       "can", "not",
        "’", "“", "5",  "n't", "'s",  "(", ")", "`", "``", "é", "\t", "\xc2\xa0", "Z"};
    vd_rng rng = vd_rng_seed(5, 5);
    for (int round = 0; round < 20000; round++) {
        char text[128] = "";
        size_t used = 0;
        int count = vd_rng_below(&rng, 20);
        for (int i = 0; i < count; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     parts[vd_rng_below(&rng, sizeof parts / sizeof *parts)]);
        vd_words words;
        vd_error err = {0};
        assert_int_equal(vd_tokenize(text, &words, &err), VD_OK);
        const char *letter = text;
        for (size_t i = 0; i < words.count; i++) {
            assert_true(words.word[i][0] != '\0');
            assert_null(strpbrk(words.word[i], " \t\n"));
            for (const char *c = words.word[i]; *c; c++) {
                if (!((*c >= 'a' && *c <= 'z') || *c == 'Z' || *c == '5'))
                    continue;
                letter = strchr(letter, *c);
                assert_non_null(letter);
                letter++;
            }
        }
        assert_null(strpbrk(letter, "acnotsZ5"));
        vd_words_clear(&words);
    }
}

static void bytes_at_random_never_harm(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(6, 6);
    for (int round = 0; round < 20000; round++) {
        char text[64] = "";
        int count = vd_rng_below(&rng, 40);
        for (int i = 0; i < count; i++)
            text[i] = (char)(1 + vd_rng_below(&rng, 255));
        vd_words words;
        vd_error err = {0};
        vd_status status = vd_tokenize(text, &words, &err);
        assert_true(status == VD_OK || status == VD_FORMAT);
        vd_words_clear(&words);
        char *normal;
        assert_int_equal(vd_normalise_typed(text, &normal, &err), status);
        vd_free(normal);
    }
}

static size_t sentences_in(const char *text)
{
    GArray *spans = vd_sentences(text);
    size_t count = spans->len;
    g_array_unref(spans);
    return count;
}

static void sentences_end_where_punkt_ends_them(void **state)
{
    (void)state;
    assert_int_equal(sentences_in(""), 0);
    assert_int_equal(sentences_in("one sentence"), 1);
    assert_int_equal(sentences_in("one. two. three."), 3);
    assert_int_equal(sentences_in("really?! yes! no"), 3);
    assert_int_equal(sentences_in("mr. a met dr. b in st. c"), 1);
    assert_int_equal(sentences_in("at 3 p.m. it rains"), 1);
    assert_int_equal(sentences_in("item 2. is here"), 1);
    assert_int_equal(sentences_in("he said \"go.\" then left"), 2);
    assert_int_equal(sentences_in("wait... what"), 1);
    assert_int_equal(sentences_in("Messrs. and ave. and vs. and v. x"), 1);
    // What the published model knows, and what it does not.
    assert_int_equal(sentences_in("in tenn. and wis. it is ok. is it"), 1);
    assert_int_equal(sentences_in("a 10 oz. can"), 2);
    assert_int_equal(sentences_in("cups etc. on a table"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_text_looks_like_the_training_text),
        cmocka_unit_test(every_typed_number_and_contraction_is_found),
        cmocka_unit_test(invalid_utf8_is_refused_with_its_place),
        cmocka_unit_test(two_dots_in_a_word_are_a_token),
        cmocka_unit_test(questions_end_in_a_question_mark),
        cmocka_unit_test(long_questions_are_cut_and_say_so),
        cmocka_unit_test(answers_are_wrapped_and_then_cut),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test(any_text_keeps_its_letters),
        cmocka_unit_test(bytes_at_random_never_harm),
        cmocka_unit_test(sentences_end_where_punkt_ends_them),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

// What the program itself says about what was typed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fake_chat.h"
#include "tests/support/must.h"
#include "engine/base/alloc.h"
#include "engine/base/utf8.h"
#include "tests/support/support.h"
#include "tui/session/remark.h"
#include "tui/session/spelling.h"

static vd_vocab *vocab;
static vd_error err;

static int start(void **state)
{
    static const char *const words[] = {"?",   "the",  "is",    "there", "a",     "how",  "many",
                                        "are", "what", "color", "cube",  "balls", "ball", "2"};
    (void)state;
    must(vd_vocab_from_words(words, sizeof words / sizeof *words, &vocab, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    vd_vocab_free(vocab);
    return 0;
}

static void greetings_and_thanks_are_no_questions(void **state)
{
    (void)state;
    static const char *const talk[] = {
        "hello",        "Hi!",   " hey there ", "Good morning.",
        "how are you?", "bye",   "Thanks!!",    "thank you very much",
        "Thank you :)", "Help?", "What's up?",  "what can you do?"};
    for (size_t i = 0; i < sizeof talk / sizeof *talk; i++)
        if (!vd_small_talk(talk[i]))
            fail_msg("'%s' was taken for a question", talk[i]);
    assert_non_null(strstr(vd_small_talk("thx"), "welcome"));
    assert_non_null(strstr(vd_small_talk("great, thanks!"), "welcome"));
    assert_non_null(strstr(vd_small_talk("ok, cool"), "Ask more"));
    assert_non_null(strstr(vd_small_talk("that's wrong!"), "F4"));
    assert_non_null(strstr(vd_small_talk("you're wrong"), "F4"));
    assert_non_null(strstr(vd_small_talk(":q"), "/quit"));
    assert_non_null(strstr(vd_small_talk("good night"), "goodbye"));
    assert_non_null(strstr(vd_small_talk("hello"), "Ask about the picture"));
    static const char *const questions[] = {"hello, is there a cube?",
                                            "is it a hat",
                                            "",
                                            "?!",
                                            "hi|hello",
                                            "there",
                                            "|",
                                            "thank",
                                            "how are",
                                            "are you sure?",
                                            "h",
                                            "ok, how many cubes",
                                            "no, wrong: is it red?",
                                            "right?",
                                            "what is it?"};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (vd_small_talk(questions[i]))
            fail_msg("'%s' was taken for small talk", questions[i]);
}

static void the_nearest_word_of_the_vocabulary_is_proposed(void **state)
{
    (void)state;
    assert_string_equal(vd_vocab_nearest(vocab, "teh"), "the");
    assert_string_equal(vd_vocab_nearest(vocab, "cubee"), "cube");
    assert_string_equal(vd_vocab_nearest(vocab, "colour"), "color");
    assert_string_equal(vd_vocab_nearest(vocab, "bals"), "balls"); // the more frequent one
    assert_null(vd_vocab_nearest(vocab, "xylophone"));
    assert_null(vd_vocab_nearest(vocab, "hall"));   // slips seldom are in the first letter
    assert_null(vd_vocab_nearest(vocab, "colons")); // in six letters one edit
    assert_null(vd_vocab_nearest(vocab, "cat"));    // "a" would be two edits away
    assert_null(vd_vocab_nearest(vocab, "3"));      // no number is proposed for another
    assert_null(vd_vocab_nearest(vocab, "x"));
}

static const char *read_of(const char *typed)
{
    static char text[256];
    char *read = NULL;
    must(vd_read_typed(vocab, typed, &read, &err), &err);
    snprintf(text, sizeof text, "%s", read);
    vd_free(read);
    return text;
}

static void a_word_one_edit_from_a_frequent_one_is_read_as_that(void **state)
{
    (void)state;
    assert_string_equal(read_of("What CUBEE is it?"), "what cube is it");
    assert_string_equal(read_of("cubee,colr; cubee"), "cube,color; cube");
    assert_string_equal(read_of("is teh cube there"), "is teh cube there"); // three letters
    assert_string_equal(read_of("a hube"), "a hube");                       // the first letter
    assert_string_equal(read_of("cubbee"), "cubbee");                       // two edits
    assert_string_equal(read_of("isn't, doesnt"), "isn't, doesn't");        // parts of words
    assert_string_equal(read_of("c\xc3\xbc"
                                "be"),
                        "c\xc3\xbc"
                        "be"); // two bytes differ
    assert_string_equal(read_of("what color is the ball"), "what color is the ball");
    assert_string_equal(read_of(""), "");
    support_refused(vd_read_typed(vocab, "is it \xff", &(char *){NULL}, &err), VD_FORMAT, &err,
                    "byte 7", NULL);
}

static const char *remark_of(const char *typed)
{
    static char text[1024];
    vd_reply reply = {.typed = (char *)typed};
    must(vd_read_typed(vocab, typed, &reply.question, &err), &err);
    must(vd_reply_see(&reply, vocab, &err), &err);
    must(vd_question_remark(&reply, vocab, fake_chat_world(), 0, text, sizeof text, &err), &err);
    reply.typed = NULL;
    vd_reply_clear(&reply);
    return text;
}

static void what_is_read_otherwise_is_said(void **state)
{
    (void)state;
    assert_string_equal(remark_of("Is there a cubee"), "cubee: read as cube");
    assert_string_equal(remark_of("is there a cube is there a cube is there a cube is there a "
                                  "cube is there a cube"),
                        "too long: only the first 19 words are read");
    assert_string_equal(remark_of("is teh cubee there"), "cubee: read as cube  teh: the?");
}

static void unknown_words_have_a_suggestion(void **state)
{
    (void)state;
    assert_string_equal(remark_of("is there a cube"), "");
    assert_string_equal(remark_of("is teh cube there"), "teh: the?");
    assert_string_equal(remark_of("what colour is the xylophone"),
                        "colour: read as color  xylophone: not known");
    assert_null(strstr(remark_of("zork is zork") + strlen("zork"), "zork")); // once
    assert_string_equal(remark_of("is there a \"cube\" (there) - & %"), ""); // signs are no words
    assert_string_equal(remark_of("%"), "");
    char ball[20 * 3 + 1] = "";
    for (int i = 0; i < 20; i++)
        memcpy(ball + 3 * i, "\xe7\x90\x83", 3);
    const char *text = remark_of(ball);
    assert_int_equal(vd_utf8_valid(text, strlen(text)), strlen(text)); // cut between characters
}

static void a_question_of_unknown_words_says_what_can_be_asked(void **state)
{
    (void)state;
    const char *text = remark_of("wie viele kugeln is there");
    assert_non_null(strstr(text, "The model knows 2 of these 5 words."));
    assert_non_null(strstr(text, "for example \"is there a cube?\" or \"what color is it?\""));
    assert_null(strstr(remark_of("is kugel there"), "knows")); // most are known
    assert_non_null(strstr(remark_of("kugel"), "The model knows no such word. It can be asked"));
    assert_non_null(strstr(remark_of("viele kugeln"), "The model knows no such words. It"));
    assert_null(strstr(remark_of("is there a \"foo\" cube"), "knows")); // quotes are no words
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(greetings_and_thanks_are_no_questions),
        TEST(the_nearest_word_of_the_vocabulary_is_proposed),
        TEST(a_word_one_edit_from_a_frequent_one_is_read_as_that),
        TEST(what_is_read_otherwise_is_said),
        TEST(unknown_words_have_a_suggestion),
        TEST(a_question_of_unknown_words_says_what_can_be_asked),
    };
    return cmocka_run_group_tests(tests, start, end);
}

// Ways to the same things in the chat: /commands, keys of the person.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"
#include "tests/support/support.h"
#include "tui/chat/recorder.h"
#include "tui/screen/clipboard.h"

// ---- commands and keys --------------------------------------------------------------------------

// Where there is no Alt and no function key.
static void what_keys_do_is_typed(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'and a ball?' Enter '/older' Enter");
    assert_int_equal(fake.chat.nav.selected, 0);
    fake_chat_keys(&fake, "'/newer' Enter");
    assert_int_equal(fake.chat.nav.selected, -1);
    fake_chat_keys(&fake, "'/round 1' Enter");
    assert_int_equal(fake.chat.nav.selected, 0);
    fake_chat_keys(&fake, "'/round 3' Enter");
    expect("/round takes the number of a round; there are 2");
    fake_chat_keys(&fake, "'/outlines' Enter '/attention' Enter '/right' Enter");
    assert_true(fake.chat.shown.no_outlines);
    assert_int_equal(fake.chat.nav.word, 1);
    fake_chat_keys(&fake, "'/back' Enter '/walk' Enter '/right' Enter '/right' Enter");
    assert_int_equal(fake.chat.nav.walk_page, 2);
    fake_chat_keys(&fake, "'/back' Enter '/redraw' Enter '/suspend' Enter");
    assert_int_equal(fake.redraws, 1);
    assert_int_equal(fake.suspends, 1);
    fake_chat_keys(&fake, "'/suggest' Enter");
    expect("how many balls are there?"); // people's third question
}

static void what_needs_a_round_says_so(void **state)
{
    (void)state;
    static const char *const commands[] = {"/choose",  "/choose 2", "/round", "/round 1",
                                           "/branch",  "/edit",     "/again", "/what-if picture",
                                           "/answers", "/walk",     "/copy",  "/export x.md"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "'/new' Enter '%s' Enter", commands[i]);
        fake_chat_keys(&fake, keys);
        assert_string_equal(fake.chat.notice.text, "ask something first");
        assert_int_equal(fake.chat.conversation.branches.count, 1);
    }
    fake.hold = true;
    fake_chat_keys(&fake, "'is there a cube?' Enter '/export x.md' Enter");
    assert_non_null(strstr(fake.chat.notice.text, "still answering"));
    fake.hold = false;
    fake_chat_release(&fake, VD_OK);
    fake_chat_keys(&fake, "'/choose' Enter");
    expect("/choose takes a place in the ranking, 1 to ");
}

static void escape_goes_back_to_the_last_round(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'and a ball?' Enter M-Up F5 Esc");
    assert_int_equal(fake.chat.nav.selected, 0);
    fake_chat_keys(&fake, "M-e Esc"); // the edit ends before
    assert_int_equal(fake.chat.nav.selected, 0);
    fake_chat_keys(&fake, "Esc");
    assert_int_equal(fake.chat.nav.selected, -1);
}

static void pictures_are_saved_as_png_only(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'/save my.jpg' Enter");
    expect("a picture is saved as PNG: /save my.png");
    fake_chat_keys(&fake, "'/save my.JPEG' Enter");
    expect("a picture is saved as PNG: /save my.png");
    assert_int_equal(fake.chat.wish, VD_WISH_NONE);
    fake_chat_keys(&fake, "'/save my.day' Enter");
    assert_int_equal(fake.chat.wish, VD_WISH_SAVE);
}

static void a_key_of_the_person_runs_a_command(void **state)
{
    (void)state;
    vd_rebinding mine[3];
    assert_int_equal(vd_rebinding_read("C-g", "/picture #3", &mine[0], NULL), VD_OK);
    assert_int_equal(vd_rebinding_read("F11", "M-2", &mine[1], NULL), VD_OK);
    assert_int_equal(vd_rebinding_read("F8", "none", &mine[2], NULL), VD_OK);
    vd_keymap_rebind(mine, 3);
    fake_chat_keys(&fake, "'is there a cube?' Enter F11");
    assert_int_equal(last_take()->chosen, last_take()->reply.answer.order[1]);
    fake_chat_keys(&fake, "F8");
    expect("picture 1/3");
    fake_chat_keys(&fake, "C-g");
    expect("picture 3/3");
    vd_keymap_rebind(NULL, 0);
}

// ---- the history --------------------------------------------------------------------------------

static void earlier_questions_are_searched(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'how many balls are there?' Enter 'is there a cube?' Enter");
    fake_chat_keys(&fake, "'how many cubes are there?' Enter 'my draft' C-r");
    expect("> my draft");
    fake_chat_keys(&fake, "'MANY'");
    expect(" search \"MANY\"> how many cubes are there?");
    assert_int_equal(fake.grid.cursor_x, 20); // at "many"
    fake_chat_keys(&fake, "C-r");
    expect("> how many balls are there?");
    fake_chat_keys(&fake, "C-r");
    expect(" not found \"MANY\"> how many balls are there?");
    fake_chat_keys(&fake, "C-s");
    expect("> how many cubes are there?");
    fake_chat_keys(&fake, "'x'");
    expect(" not found \"MANYx\">");
    fake_chat_keys(&fake, "Backspace Backspace");
    expect(" search \"MAN\"> how many cubes are there?");
    fake_chat_keys(&fake, "C-c");
    expect(" > my draft");
    assert_int_equal(fake.asked, 3);
}

static void what_was_found_is_asked_or_edited(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'how many balls are there?' Enter 'is there a cube?' Enter");
    fake_chat_keys(&fake, "C-r 'balls' Enter");
    assert_int_equal(fake.asked, 3);
    assert_string_equal(last_round()->typed, "how many balls are there?");
    fake_chat_keys(&fake, "C-r 'cube' Esc M-d 'cone' Enter");
    assert_string_equal(last_round()->typed, "is there a cone?");
    fake_chat_keys(&fake, "C-r 'cube' End Backspace Backspace"); // any key of the line ends it
    expect(" > is there a cub");
    fake_chat_keys(&fake, "C-u C-r 'ball' C-g");
    assert_int_equal(fake.chat.nav.line.length, 0);
}

// ---- Tab ----------------------------------------------------------------------------------------

static void tab_completes_questions(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'How' Tab"); // people's; what was typed stays as it is
    expect("> How many balls are there?");
    fake_chat_keys(&fake, "C-u 'how many cubes are there?' Enter 'how m' Tab");
    expect("> how many");
    fake_chat_keys(&fake, "Tab"); // what was asked comes before what people asked
    expect("> how many cubes are there?");
    expect("1 of 2 questions that begin like this");
    fake_chat_keys(&fake, "Tab");
    expect("> how many balls are there?");
    fake_chat_keys(&fake, "Tab");
    expect("> how many cubes are there?");
    fake_chat_keys(&fake, "Enter");
    assert_int_equal(fake.asked, 2);
    fake_chat_keys(&fake, "'w' Tab Tab");
    expect("1 of 2 questions that begin like this"); // what color, where is
    // A Tab that would add only a space goes on to the questions.
    fake_chat_keys(&fake, "C-u 'are those' Enter 'are those red' Enter 'are those blue' Enter");
    fake_chat_keys(&fake, "'are th' Tab Tab");
    expect("1 of 2 questions that begin like this");
    // One is how another begins.
    fake_chat_keys(&fake, "C-u 'is there a' Enter 'is th' Tab");
    expect("> is there a");
    fake_chat_keys(&fake, "Tab");
    expect("> is there a cube?");
}

static void tab_completes_words(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'are the balls rub' Tab");
    expect("> are the balls rubber");
    assert_int_equal(fake.chat.nav.line.cursor, strlen("are the balls rubber "));
    fake_chat_keys(&fake, "C-u 'are TH' Tab");
    expect("> are the");
    fake_chat_keys(&fake, "Tab");
    expect("the  there");
    fake_chat_keys(&fake, "C-u 'are BAL' Tab"); // nobody asks with "ball"
    expect("> are balls");
    assert_int_equal(fake.chat.nav.line.cursor, strlen("are balls "));
    fake_chat_keys(&fake, "C-u 'are cub there' M-b Left Tab");
    expect("> are cube there");
    fake_chat_keys(&fake, "C-e C-u 'are xyz' Tab");
    expect("the model knows no word that begins like this");
    fake_chat_keys(&fake, "C-u Tab"); // and still suggests
    expect("> is there a cube?");
}

static void tab_cuts_no_character_in_two(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'xa B\xc3\xa4r' Enter 'xa B\xc3\xb6l' Enter 'xa' Tab");
    assert_string_equal(fake.chat.nav.line.text, "xa B");
    fake_chat_keys(&fake, "C-u 'zz \xc3\xa4th' Tab"); // no word begins in the middle of a word
    assert_string_equal(fake.chat.nav.line.text, "zz \xc3\xa4th");
}

// ---- what the program says ----------------------------------------------------------------------

static void greetings_are_answered_by_the_program(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'hello!' Enter");
    expect("visdial says: hello! Ask about the picture");
    assert_int_equal(fake.asked, 0); // the model is not asked, and it is in no history
    assert_int_equal(fake.chat.conversation.branch->count, 0);
    assert_int_equal(fake.chat.nav.line.length, 0);
    fake_chat_keys(&fake, "'is there a cube?' Enter 'thanks' Enter");
    expect("visdial says: you are welcome!");
    assert_int_equal(fake.asked, 1);
    fake_chat_keys(&fake, "Up");
    expect("> thanks");
}

// The texts stand on the screen one behind the other.
static void expect_in_order(const char *const *texts)
{
    char *screen = fake_chat_text(&fake), *at = screen;
    for (; *texts; at += strlen(*texts++)) {
        at = strstr(at, *texts);
        if (!at)
            fail_msg("'%s' does not follow on\n%s", *texts, screen);
    }
    vd_free(screen);
}

// Where people look for it: in the dialog, before and behind the rounds, whatever comes later.
static void small_talk_stands_in_the_dialog(void **state)
{
    (void)state;
    static const char *const said[] = {"hello!", "visdial says: hello!",  "1 is there a cube?",
                                       "thanks", "visdial says: you are", "2 is it red?",
                                       NULL};
    static const char *const again[] = {"1 is there a cube?", "visdial says: you are", "2 how big?",
                                        NULL};
    fake_chat_size(&fake, 100, 40);
    fake_chat_keys(&fake, "'hello!' Enter 'is there a cube?' Enter 'thanks' Enter");
    assert_string_equal(fake.chat.notice.text, ""); // it is not said twice
    fake_chat_keys(&fake, "'is it red?' Enter");
    expect_in_order(said);
    fake_chat_keys(&fake, "F8 F7 M-u M-u M-r '/branch' Enter 'how big?' Enter");
    expect_in_order(again);
    fake_chat_keys(&fake, "F4 'hi' Enter"); // where there is no dialog it is said at the bottom
    expect("visdial says: hello!");
    for (int i = 0; i < VD_ASIDES + 10; i++)
        fake_chat_keys(&fake, "'hi' Enter");
    assert_int_equal(fake.chat.conversation.branch->aside_count, VD_ASIDES);
    fake_chat_keys(&fake, "'/new' Enter");
    assert_int_equal(fake.chat.conversation.branch->aside_count, 0);
}

static void small_talk_stays_before_its_round(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'is it red?' Enter 'thanks' Enter");
    const vd_branch *branch = fake.chat.conversation.branch;
    assert_int_equal(branch->asides[0].before, 2);
    vd_conversation_remove(&fake.chat.conversation, 0);
    assert_int_equal(branch->asides[0].before, 1);
}

// The row then has no names of keys that could be clicked.
static void a_question_that_is_too_long_says_so(void **state)
{
    (void)state;
    fake_chat_size(&fake, 100, 40);
    fake_chat_keys(&fake,
                   "'is there a cube, or a ball, or a cone, or a cylinder, or any thing else "
                   "that is red and small?'");
    assert_int_equal(vd_chat_left_over(&fake.chat), 7);
    expect("too long: last 7 words not read");
    fake_chat_keys(&fake, "C-u");
    assert_int_equal(vd_chat_left_over(&fake.chat), 0);
}

static vd_style style_at(const char *row_text, int column)
{
    for (int y = 0; y < fake.grid.height; y++) {
        char *screen = fake_chat_text(&fake), *line = screen, *found;
        for (int i = 0; i < y && line; i++)
            line = strchr(line, '\n') + 1;
        found = strstr(line, row_text);
        bool here = found && found < strchr(line, '\n');
        int x = here ? vd_text_width(line, (size_t)(found - line)) : 0;
        vd_free(screen);
        if (here)
            return vd_grid_at(&fake.grid, x + column, y)->style;
    }
    fail_msg("'%s' is not on the screen", row_text);
    return (vd_style){0};
}

static void unknown_words_are_marked_in_the_question(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a Wug there?' Enter");
    assert_int_equal(style_at("is there a Wug", 0).attributes & VD_UNDERLINE, 0);
    fake_chat_keys(&fake, "'/new' Enter 'is there a wug there?' Enter");
    expect("wug: cube?");
    assert_int_not_equal(style_at("1 is there a wug", 13).attributes & VD_UNDERLINE, 0);
    assert_int_not_equal(style_at("1 is there a wug", 15).attributes & VD_UNDERLINE, 0);
    assert_int_equal(style_at("1 is there a wug", 11).attributes & VD_UNDERLINE, 0);
    assert_int_equal(style_at("1 is there a wug", 17).attributes & VD_UNDERLINE, 0);
}

// While it is typed, too, but not the word that is not at its end yet.
static void unknown_words_are_marked_in_the_line(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'What xylophone is'");
    assert_int_equal(style_at("> What xylophone", 2).attributes & VD_UNDERLINE, 0);
    assert_int_not_equal(style_at("> What xylophone", 7).attributes & VD_UNDERLINE, 0);
    assert_int_equal(style_at("> What xylophone is", 17).attributes & VD_UNDERLINE, 0);
    fake_chat_keys(&fake, "C-u 'What coluor is'"); // read as color
    assert_int_equal(style_at("> What coluor is", 7).attributes & VD_UNDERLINE, 0);
    fake_chat_keys(&fake, "C-u 'is teh'");
    assert_int_equal(style_at("> is teh", 5).attributes & VD_UNDERLINE, 0);
    fake_chat_keys(&fake, "' '");
    assert_int_not_equal(style_at("> is teh", 5).attributes & VD_UNDERLINE, 0);
    fake_chat_keys(&fake, "C-u '/theme drak '");
    assert_int_equal(style_at("> /theme drak", 9).attributes & VD_UNDERLINE, 0);
}

// ---- out of the chat ----------------------------------------------------------------------------

static void answers_rounds_and_conversations_are_copied(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'/copy' Enter");
    expect("ask something first");
    fake_chat_keys(&fake, "'is there a cube?' Enter 'and a ball?' Enter M-Up '/copy' Enter");
    const vd_response *first = &fake.chat.conversation.branch->rounds[0].response[0];
    const char *answer = vd_response_text(first, first->chosen);
    assert_string_equal(fake.copied, answer);
    expect("answer copied to the terminal's clipboard");
    char expected[256];
    snprintf(expected, sizeof expected, "Q: is there a cube?\nA: %s\n", answer);
    fake_chat_keys(&fake, "'/copy round' Enter");
    assert_string_equal(fake.copied, expected);
    fake_chat_keys(&fake, "'/copy conv' Enter");
    assert_non_null(strstr(fake.copied, "Picture 1000001: two red balls"));
    assert_non_null(strstr(fake.copied, expected));
    assert_non_null(strstr(fake.copied, "Q: and a ball?\nA: "));
    fake_chat_keys(&fake, "'/copy that' Enter");
    expect("/copy answer, round or conversation");
}

static void the_clipboard_gets_base_64(void **state)
{
    (void)state;
    char *plain = vd_clipboard_sequence("yes, caf\xc3\xa9", false);
    assert_string_equal(plain, "\033]52;c;eWVzLCBjYWbDqQ==\a");
    g_free(plain);
    char *both = vd_clipboard_sequence("no", true);
    assert_string_equal(both, "\033]52;c;bm8=\a\033Ptmux;\033\033]52;c;bm8=\a\033\\");
    g_free(both);
}

static void the_conversation_is_exported(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'/export html a.html' Enter");
    expect("ask something first");
    fake_chat_keys(&fake, "'is there a cube?' Enter '/export md my notes.md' Enter");
    assert_string_equal(fake.exported, "1 my notes.md");
    fake_chat_keys(&fake, "'/export html' Enter");
    expect("/export html FILE (or md, json)");
    fake_chat_keys(&fake, "'/export pdf x' Enter");
    expect("/export html FILE (or md, json)");
    char *directory = support_temp_dir(), *path = support_join(directory, "a"), keys[4200];
    support_write_text(path, "another");
    snprintf(keys, sizeof keys, "'/export md %s' Enter", path);
    fake_chat_keys(&fake, keys);
    expect("it with --force"); // the row may be wrapped before it
    assert_string_equal(fake.exported, "1 my notes.md");
    snprintf(keys, sizeof keys, "'/export md %s --force' Enter", path);
    fake_chat_keys(&fake, keys);
    snprintf(keys, sizeof keys, "1 %s", path);
    assert_string_equal(fake.exported, keys);
    support_remove_tree(directory);
    free(path);
    free(directory);
}

// The files are those of the transcript's renderers, without a transcript being written.
static void exports_hold_the_conversation(void **state)
{
    (void)state;
    static const char *const ends[] = {"html", "md", "json"};
    vd_error err;
    char *directory = support_temp_dir();
    fake_chat_keys(&fake, "'is there a cube?' Enter F8 'is there a wug?' Enter");
    for (int i = 0; i < 3; i++) {
        char *path = support_join(directory, ends[i]);
        size_t size;
        if (vd_recorder_export(&fake.chat, (vd_export_kind)i, path, &err))
            fail_msg("%s", err.text);
        char *text = support_read_file(path, &size);
        assert_non_null(strstr(text, "is there a wug"));
        assert_null(strstr(text, "\"is there a cube\"")); // of another picture
        free(text);
        free(path);
    }
    char *path = support_join(directory, "no/such/place");
    assert_int_not_equal(vd_recorder_export(&fake.chat, VD_EXPORT_HTML, path, &err), VD_OK);
    free(path);
    support_remove_tree(directory);
    free(directory);
}

// ---- the mouse ----------------------------------------------------------------------------------

static void click(int x, int y)
{
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = x, .y = y});
}

static void answers_and_regions_are_clicked(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    vd_rect answers = fake.chat.nav.layout.answers, attention = fake.chat.nav.layout.attention;
    click(answers.x + 5, answers.y + 2);
    assert_int_equal(last_take()->chosen, last_take()->reply.answer.order[1]);
    click(answers.x + 5, answers.y);
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_ANSWERS);
    fake_chat_keys(&fake, "Esc");
    click(attention.x + 1, attention.y + 1);
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_WALK);
    assert_int_equal(fake.chat.lanes.walk.switches.count, 1);
    assert_int_equal(fake.chat.lanes.walk.switches.at[0].kind, VD_SWITCH_REGION);
    fake_chat_keys(&fake, "Esc 'and a ball?' Enter F1 Esc");
    click(fake.chat.nav.layout.attention.x + fake.chat.nav.layout.attention.width - 3,
          fake.chat.nav.layout.attention.y + 2);
    assert_int_equal(fake.chat.nav.selected, 0); // the round in the history
}

static void regions_of_the_picture_are_clicked(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter F2");
    const vd_navigation *nav = &fake.chat.nav;
    int clicked = 0;
    for (int i = 0; i < nav->spot_count; i++)
        clicked += strncmp(nav->spots[i].command, "/what-if region", 15) == 0 &&
                   nav->spots[i].at.x < nav->layout.picture.width / 2;
    assert_true(clicked > 0);
    for (int i = nav->spot_count - 1; i >= 0; i--)
        if (strncmp(nav->spots[i].command, "/what-if region", 15) == 0) {
            click(nav->spots[i].at.x, nav->spots[i].at.y);
            break;
        }
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_WALK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(small_talk_stays_before_its_round),
        TEST(a_question_that_is_too_long_says_so),
        TEST(what_keys_do_is_typed),
        TEST(what_needs_a_round_says_so),
        TEST(escape_goes_back_to_the_last_round),
        TEST(pictures_are_saved_as_png_only),
        TEST(a_key_of_the_person_runs_a_command),
        TEST(earlier_questions_are_searched),
        TEST(what_was_found_is_asked_or_edited),
        TEST(tab_completes_questions),
        TEST(tab_completes_words),
        TEST(tab_cuts_no_character_in_two),
        TEST(greetings_are_answered_by_the_program),
        TEST(small_talk_stands_in_the_dialog),
        TEST(unknown_words_are_marked_in_the_question),
        TEST(unknown_words_are_marked_in_the_line),
        TEST(answers_rounds_and_conversations_are_copied),
        TEST(the_clipboard_gets_base_64),
        TEST(the_conversation_is_exported),
        TEST(exports_hold_the_conversation),
        TEST(answers_and_regions_are_clicked),
        TEST(regions_of_the_picture_are_clicked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

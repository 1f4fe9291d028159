#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"
#include "tui/chat/views/draw.h"

static void the_first_screen_says_what_to_do(void **state)
{
    (void)state;
    expect("picture 1/3  id 1000001");
    expect("two red balls are left of the large metal cube");
    expect("Type a question and press Enter.");
    expect("F1 help");
    expect("improved  cpu");
    assert_int_equal(fake.grid.cursor_y, 22);
    assert_int_equal(fake.grid.cursor_x, 3);
}

static void a_question_shows_at_once_and_its_answer_when_it_comes(void **state)
{
    (void)state;
    fake.hold = true;
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    expect(" 1 is there a cube?");
    expect("improved is answering");
    assert_int_equal(fake.chat.nav.line.length, 0);
    fake_chat_keys(&fake, "'and a ball?'"); // typing goes on meanwhile
    expect("> and a ball?");
    fake_chat_release(&fake, VD_OK);
    assert_true(last_take()->ready);
    expect("Best of 12");
    expect("7.2 ms");
    expect("> and a ball?");
    const char *first = vd_response_text(last_take(), last_take()->reply.answer.order[0]);
    expect(first);
    assert_int_equal(fake.asked, 1);
}

static void what_was_refused_meanwhile_is_not_said_after_it(void **state)
{
    (void)state;
    fake.hold = true;
    fake_chat_keys(&fake, "'one?' Enter 'two' M-u");
    expect("still answering; Ctrl-C stops it");
    fake_chat_release(&fake, VD_OK);
    assert_false(fake_chat_shows(&fake, "still answering"));
    expect("> two"); // the line is as it was
}

static void a_stopped_or_failed_answer_gives_the_question_back(void **state)
{
    (void)state;
    fake.hold = true;
    fake_chat_keys(&fake, "'is there a cube?' Enter C-c");
    assert_int_equal(fake.stops, 1);
    fake_chat_release(&fake, VD_INTERRUPTED);
    expect("> is there a cube?");
    expect("stopped");
    assert_int_equal(fake.chat.conversation.branch->count, 0);
    fake_chat_keys(&fake, "Enter");
    fake_chat_release(&fake, VD_FORMAT);
    expect("the engine says no");
    expect("> is there a cube?");
}

static void an_answer_to_a_picture_that_was_left_is_dropped(void **state)
{
    (void)state;
    fake.hold = true;
    fake_chat_keys(&fake, "'is there a cube?' Enter F8");
    assert_int_equal(fake.stops, 1);
    expect("picture 2/3");
    fake_chat_release(&fake, VD_OK);
    assert_int_equal(fake.chat.conversation.branch->count, 0);
    expect("Type a question and press Enter.");
}

static void every_picture_keeps_its_conversation(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'what color is it?' Enter '/branch' Enter");
    fake_chat_keys(&fake, "F8");
    expect("Type a question and press Enter.");
    fake_chat_keys(&fake, "'is there a ball?' Enter F7");
    expect("the conversation about this picture continues; /new starts over");
    expect("what color is it?");
    assert_int_equal(fake.chat.conversation.branch->count, 2);
    assert_int_equal(fake.chat.conversation.branches.count, 2);
    assert_int_equal(fake.chat.conversation.branches.used, 1);
    fake_chat_keys(&fake, "M-n F9 '/picture #2' Enter");
    assert_int_equal(fake.chat.conversation.branch->count, 1);
    assert_string_equal(last_round()->typed, "is there a ball?");
    fake_chat_keys(&fake, "'/new' Enter");
    assert_int_equal(fake.chat.conversation.branch->count, 0);
    fake_chat_keys(&fake, "F7 F8");
    assert_int_equal(fake.chat.conversation.branch->count, 0);
}

// "what color is it?" is people's question only after what "it" was there.
static void people_s_questions_are_known_by_what_they_are_about(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'what color is it?' Enter");
    assert_int_equal(last_round()->human, -1);
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    assert_int_equal(last_round()->human, 0);
    fake_chat_keys(&fake, "'what color is it?' Enter");
    assert_int_equal(last_round()->human, 1);
    fake_chat_keys(&fake, "'where is the cube?' Enter"); // nobody knows what it is about
    assert_int_equal(last_round()->human, -1);
    fake_chat_keys(&fake, "'/new' Enter 'is there a cube?' Enter 'what color is it?' Enter");
    fake_chat_keys(&fake, "'how many balls are there?' Enter 'where is the cube?' Enter");
    assert_int_equal(last_round()->human, 3);
}

static void pictures_change_by_key_and_command(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "M-Right");
    expect("picture 2/3  id 1000002");
    fake_chat_keys(&fake, "F7 F7");
    expect("picture 3/3");
    expect("there is no such file"); // where the picture would be
    expect("caf\xc3\xa9");
    fake_chat_keys(&fake, "'/picture 1000001' Enter");
    expect("picture 1/3");
    fake_chat_keys(&fake, "'/picture #2' Enter");
    expect("picture 2/3");
    fake_chat_keys(&fake, "'/picture 7' Enter");
    expect("no picture 7 in tests/fixtures/chat; it has 3, among them 1000001, 1000002,");
    expect("picture 2/3");
    fake_chat_keys(&fake, "'/picture #4' Enter");
    expect("there are pictures #1 to #3");
    for (int i = 0; i < 20; i++) {
        size_t before = fake.chat.conversation.branches.picture;
        fake_chat_keys(&fake, "F9");
        assert_int_not_equal(fake.chat.conversation.branches.picture,
                             before); // another one, always
    }
}

static void another_answer_can_be_chosen(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "M-2");
    expect("ask something first");
    fake_chat_keys(&fake, "'is there a cube?' Enter M-3");
    int third = last_take()->reply.answer.order[2];
    assert_int_equal(last_take()->chosen, third);
    expect("the conversation continues with");
    expect("chosen ");
    fake_chat_keys(&fake, "'/choose 12' Enter");
    assert_int_equal(last_take()->chosen, last_take()->reply.answer.order[11]);
    fake_chat_keys(&fake, "'/choose 13' Enter");
    expect("a place in the ranking, 1 to 12");
    fake_chat_keys(&fake, "'and a ball?' Enter");
    char history[128];
    snprintf(history, sizeof history, "0: is there a cube? %s.",
             vd_response_text(&fake.chat.conversation.branch->rounds[0].response[0],
                              fake.chat.conversation.branch->rounds[0].response[0].chosen));
    assert_string_equal(fake.history, history);
    // Another answer to an earlier round: what came after it is asked again.
    int asked = fake.asked;
    fake_chat_keys(&fake, "M-Up M-2");
    assert_int_equal(fake.asked, asked + 1);
    assert_int_equal(fake.chat.conversation.branches.count, 2);
    const vd_response *first = &fake.chat.conversation.branch->rounds[0].response[0];
    assert_int_equal(first->chosen, first->reply.answer.order[1]);
    snprintf(history, sizeof history, "0: is there a cube? %s.",
             vd_response_text(first, first->chosen));
    assert_string_equal(fake.history, history);
}

static void earlier_rounds_bring_back_their_ranking(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'what color is it?' Enter");
    const vd_round *second = last_round();
    assert_ptr_equal(vd_chat_round(&fake.chat), second);
    fake_chat_keys(&fake, "M-Up");
    assert_ptr_equal(vd_chat_round(&fake.chat), second - 1);
    expect("Round 1: best of 12");
    expect("Saw is");
    fake_chat_keys(&fake, "M-Up M-Up M-Down");
    assert_ptr_equal(vd_chat_round(&fake.chat), second);
    expect("Best of 12");
}

// Probabilities mean nothing without the pool that they are within.
static void the_file_of_the_pool_is_named(void **state)
{
    (void)state;
    fake.chat.lanes.lane[0].pool.path = "some/where/pool.txt";
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    expect("Best of 12 in pool.txt         margin");
    fake_chat_size(&fake, 160, 40);
    expect("Best of 12 in some/where/pool.txt ");
    fake_chat_size(&fake, 40, 12);
    expect("Best of 12    margin");
    fake_chat_keys(&fake, "M-Up");
    expect("Round 1: best of 12 in p");
    fake_chat_size(&fake, 80, 24);
    fake_chat_keys(&fake, "F4");
    expect("Round 1: best of 12 in some/where/pool.txt");
}

static void undo_forgets_the_last_round(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'/undo' Enter");
    expect("nothing to undo");
    fake_chat_keys(&fake, "'one?' Enter 'two?' Enter M-u");
    assert_int_equal(fake.chat.conversation.branch->count, 1);
    fake_chat_keys(&fake, "'/undo' Enter");
    assert_int_equal(fake.chat.conversation.branch->count, 0);
    expect("Type a question and press Enter.");
}

static void a_missing_model_is_said_and_can_be_mended(void **state)
{
    (void)state;
    fake_chat_end(&fake);
    fake.model_lost = true;
    fake_chat_start(&fake);
    expect("no model");
    expect("improved: no such model");
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    expect("no model is loaded: /model best, base, improved or FILE");
    assert_int_equal(fake.chat.conversation.branch->count, 0);
    expect("> is there a cube?"); // what was typed is not lost
    assert_non_null(vd_branch_add(fake.chat.conversation.branch, "of a record"));
    fake_chat_keys(&fake, "C-c"); // nothing is being answered that it could stop
    expect("> no model is loaded: /model best, base, improved or FILE");
    fake.model_lost = false;
    fake_chat_keys(&fake, "C-u '/model base' Enter 'is there a cube?' Enter");
    assert_string_equal(last_take()->model, "base");
}

static void people_s_questions_are_suggested(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "Tab");
    expect("> is there a cube?");
    fake_chat_keys(&fake, "Tab");
    expect("> what color is it?");
    fake_chat_keys(&fake, "Tab Tab Tab"); // around
    expect("> is there a cube?");
    fake_chat_keys(&fake, "Enter");
    assert_int_equal(last_round()->human, 0);
    expect("relevance 0; human answer at place 11: yes");
    fake_chat_keys(&fake, "Tab"); // the one behind it
    expect("> what color is it?");
    fake_chat_keys(&fake, "Enter");
    assert_int_equal(last_round()->human, 1);
    fake_chat_keys(&fake, "F8 F8 Tab");
    expect("> is there a cube?");
    expect("a question about another picture; Tab: another one, Enter: ask it");
}

static void regions_are_outlined_and_listed_with_the_same_numbers(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    vd_share top[VD_OUTLINES];
    const vd_answer *answer = &last_take()->reply.answer;
    int count = vd_shares_top(vd_answer_shares(answer, VD_AXIS_REGIONS), answer->regions, 0.9, top,
                              VD_OUTLINES);
    assert_true(count >= 2);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        assert_true(i == 0 || top[i].share <= top[i - 1].share);
        sum += top[i].share;
    }
    assert_true(sum >= 0.9 && sum - top[count - 1].share < 0.9);
    // Each number stands on the picture, left of column 35, and in the list, right of it.
    vd_rect picture = fake.chat.nav.layout.picture;
    for (int i = 0; i < count; i++) {
        bool outlined = false;
        for (int y = picture.y; y < picture.y + picture.height; y++)
            for (int x = picture.x; x < picture.x + picture.width; x++)
                outlined |= vd_grid_at(&fake.grid, x, y)->code[0] == (uint32_t)('1' + top[i].index);
        assert_true(outlined);
    }
    expect("Regions");
    fake_chat_keys(&fake, "M-o");
    for (int y = picture.y; y < picture.y + picture.height; y++)
        for (int x = picture.x; x < picture.x + picture.width; x++)
            assert_int_equal(vd_grid_at(&fake.grid, x, y)->code[0], ' ');
    fake_chat_end(&fake);
    fake.no_boxes = true;
    fake_chat_start(&fake);
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    expect("Regions (no bo"); // why nothing is outlined
    fake.no_boxes = false;
}

static void unknown_and_unseen_words_are_marked(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a wug?' Enter");
    expect("[wug]");
    expect("[ ] not known");
    fake_chat_size(&fake, 80, 30);
    fake_chat_keys(&fake, "'is the wug in a red box?' Enter");
    expect("[ ] not known"); // below the words, where it does not fit behind them
    fake_chat_size(&fake, 80, 24);
    fake_chat_keys(&fake, "'a b c d e f g h i j k l m n o p q r s t u v?' Enter");
    expect("4 not seen");
}

static void the_whole_pool_can_be_listed_filtered_and_picked(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F4");
    expect("ask something first");
    fake_chat_keys(&fake, "'is there a cube?' Enter F4");
    expect("answer 1 of 12; typing filters");
    fake_chat_keys(&fake, "'YES'"); // case does not matter
    expect("answer 1 of 2 that match");
    fake_chat_keys(&fake, "Down Down Down");
    expect("answer 2 of 2 that match");
    fake_chat_keys(&fake, "Enter");
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
    assert_int_equal(strncmp(vd_response_text(last_take(), last_take()->chosen), "yes", 3), 0);
    fake_chat_keys(&fake, "F4 'nothing has this' Enter");
    expect("no answer of the pool has");
    fake_chat_keys(&fake, "Esc");
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
}

static void the_attention_view_goes_word_by_word(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'what color is it?' Enter F5");
    expect("where \"what\" looks");
    fake_chat_keys(&fake, "Right Right");
    expect("where \"is\" looks");
    fake_chat_keys(&fake, "Left Left Left");
    expect("where \"?\" looks");
    expect("caption");
    expect("round 1");
    expect("Regions: share of the attention");
    fake_chat_keys(&fake, "Esc");
    expect("Best of");
}

static void help_lists_the_keys_of_the_place(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "?");
    expect("Keys in the chat");
    fake_chat_keys(&fake, "C-End");
    expect("/words"); // alphabetical: the last one
    fake_chat_keys(&fake, "q");
    expect("Type a question");
    fake_chat_keys(&fake, "'really' ?"); // on a line with text it is a character
    expect("> really?");
    fake_chat_keys(&fake, "C-u 'is it?' Enter F4 F1");
    expect("Keys in the list of answers");
    fake_chat_keys(&fake, "F1");
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_ANSWERS);
}

// Whether there is a message says its kind, not its text.
static void no_message_is_not_shown(void **state)
{
    (void)state;
    fake.chat.notice = (vd_notice){VD_NOTICE_NONE, "left over"};
    fake_chat_size(&fake, 80, 24);
    assert_false(fake_chat_shows(&fake, "left over"));
    expect("Tab suggests  F1 help");
}

static void commands_complete_and_complain(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'/ne' Tab");
    expect("/new  /new-picture  /newer  /next  /next-branch"); // alphabetical
    fake_chat_keys(&fake, "'x' Tab");
    expect("> /next");
    fake_chat_keys(&fake, "Enter");
    expect("picture 2/3");
    fake_chat_keys(&fake, "'/mod' Tab");
    expect("> /model");
    fake_chat_keys(&fake, "'bas' Tab");
    expect("> /model base");
    fake_chat_keys(&fake, "C-u '/theme' Enter"); // says what there is, and changes nothing
    assert_non_null(strstr(fake.chat.notice.text, "theme auto of auto, light, dark, mono or safe"));
    assert_non_null(strstr(fake.chat.notice.text, "/visdial/config keeps one"));
    assert_int_equal(fake.chat.theme, VD_THEME_AUTO);
    fake_chat_keys(&fake, "C-u '/theme ' Tab"); // as the settings have them
    expect(" auto  light  dark  mono  safe");
    fake_chat_keys(&fake, "C-u '/picture-mode s' Tab");
    expect("> /picture-mode sixel");
    fake_chat_keys(&fake, "C-u '/compare o' Tab");
    expect("> /compare off");
    fake_chat_keys(&fake, "C-u '/export h' Tab 'a'");
    expect("> /export html a");
    fake_chat_keys(&fake, "C-u '/nonsense' Enter");
    expect("/nonsense is not a command; F1 lists them");
    fake_chat_keys(&fake, "'/pictuers' Enter");
    expect("/pictuers is not a command; did you mean /pictures?");
    fake_chat_keys(&fake, "'/n' Enter");
    expect("/n is short for more than one");
    fake_chat_keys(&fake, "'/' Enter");
    expect("/ is not a command");
    fake_chat_keys(&fake, "'/undo now' Enter");
    expect("/undo takes no argument, found \"now\"");
    fake_chat_keys(&fake, "'/mouse off' Enter");
    assert_int_equal(fake.mouse, 0);
    fake_chat_keys(&fake, "'/zz' Tab");
    expect("no command starts like that");
}

static void what_if_and_branches_complete(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter '/what-if reg' Tab");
    expect("> /what-if region");
    fake_chat_keys(&fake, "'5' Tab");
    expect("> /what-if region 5");
    fake_chat_keys(&fake, "C-u '/what-if w' Tab '5' Tab Tab"); // is there a cube ?
    expect("> /what-if word 5");
    assert_int_equal(fake.chat.notice.text[0], '\0');
    fake_chat_keys(&fake, "C-u '/what-if word 6' Tab");
    expect("there is no completion that starts like that");
    fake_chat_keys(&fake, "C-u '/what-if pi' Tab Enter");
    expect("[x] picture blank");
    fake_chat_keys(&fake, "Esc '/branch 2' Enter");
    expect("/branch 2: no such branch; there are branches 1 to 1");
    fake_chat_keys(&fake, "'/branch' Enter '/branch ' Tab");
    expect(" 1  2");
}

// At 40 columns most messages are wider than the screen.
static void a_long_message_takes_the_rows_it_needs(void **state)
{
    (void)state;
    fake_chat_size(&fake, 40, 12);
    fake_chat_keys(&fake, "'is there a cube?' Enter 'what color is it?' Enter M-Up M-e");
    expect(" Enter asks it instead of round 1, and");
    expect(" all later ones again; Esc cancels");
    expect("is there a cube?");
    assert_int_equal(fake.grid.cursor_y, 9);
    fake_chat_keys(&fake, "Esc");
    assert_int_equal(fake.grid.cursor_y, 10); // the row is given back
    for (int place = 0; place < 6; place++) {
        static const char *const keys[] = {"F2", "F4", "F5", "F10", "F12", "M-p"};
        fake_chat_keys(&fake, keys[place]);
        vd_notice_complain(&fake.chat.notice, "%s",
                           "a text of many words, of which only those of the first "
                           "three rows have room at the bottom of this screen, "
                           "because the others would leave no room for the chat");
        fake_chat_size(&fake, 40, 12);
        expect(" a text of many words, of which only");
        expect("\xe2\x80\xa6"); // and no more rows than three
        assert_int_equal(fake.grid.cursor_y, 8);
        fake_chat_keys(&fake, "Esc");
    }
}

static void the_dialog_scrolls_and_is_searched(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "'question number %d?' Enter", i + 1);
        fake_chat_keys(&fake, keys);
    }
    expect("question number 12?");
    fake_chat_keys(&fake, "C-Home");
    expect(" 1 question number 1?");
    fake_chat_keys(&fake, "PgDn WheelDown");
    expect("question number 6?");
    fake_chat_keys(&fake, "C-End");
    expect("question number 12?");
    fake_chat_keys(&fake, "'NUMBER 4' C-s");
    assert_int_equal(fake.chat.nav.selected, 3);
    expect(" 4\xe2\x96\x8cquestion number 4?");
    fake_chat_keys(&fake, "C-s");
    expect("round 4 has"); // the only one
    fake_chat_keys(&fake, "'/find elephants' Enter");
    expect("no question or answer has \"elephants\"");
}

static void pasted_text_is_typed_not_run(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "PasteBegin Enter 'is there' Tab 'a cube?' Enter Enter F1 PasteEnd");
    assert_int_equal(fake.asked, 0);
    assert_string_equal(fake.chat.nav.line.text, " is there a cube?");
    fake_chat_keys(&fake, "Enter");
    assert_int_equal(fake.asked, 1);
}

static void pasted_lines_are_questions_after_a_confirmation(void **state)
{
    (void)state;
    static const char paste[] = "'and ' PasteBegin 'one?' Enter 'two?' Enter Enter '/next' Enter "
                                "'three?' Enter PasteEnd";
    fake_chat_keys(&fake, paste);
    assert_int_equal(fake.asked, 0);
    expect("> and one?\u23cetwo?\u23ce/next\u23cethree?");
    expect("4 lines were pasted: Enter asks them one after another, Esc joins them");
    fake_chat_keys(&fake, "Enter");
    expect("picture 2/3");
    assert_string_equal(last_round()->typed, "three?");
    assert_true(last_take()->ready);
    fake_chat_keys(&fake, "F7"); // what was left unanswered is asked on
    assert_int_equal(fake.chat.conversation.branch->count, 2);
    assert_string_equal(last_round()->typed, "two?");
    assert_true(last_take()->ready);
    int asked = fake.asked;
    fake_chat_keys(&fake, "PasteBegin 'is there' Enter 'a cube?' PasteEnd Esc");
    expect("> is there a cube?");
    fake_chat_keys(&fake, "Enter");
    assert_int_equal(fake.asked, asked + 1);
    // Into other lines the text goes as one.
    fake_chat_keys(&fake, "M-e C-u PasteBegin 'is it' Enter 'red?' PasteEnd");
    expect("> is it red?");
    fake_chat_keys(&fake, "Esc M-p PasteBegin 'cube' Enter 'red' PasteEnd");
    expect("find> cube red");
}

// Not every terminal marks what is pasted, and people may type on.
static void a_full_line_says_so(void **state)
{
    (void)state;
    for (int i = 0; i < VD_LINE_MAX; i++)
        fake_chat_key(&fake, (vd_key){.code = 'a'});
    assert_int_equal(fake.chat.nav.line.length, VD_LINE_MAX);
    assert_string_equal(fake.chat.notice.text, "");
    fake_chat_keys(&fake, "'b'");
    expect("a line holds 2000 bytes: there is no room for more");
    assert_null(strchr(fake.chat.nav.line.text, 'b'));
    fake_chat_keys(&fake, "Backspace");
    assert_string_equal(fake.chat.notice.text, "");
    fake_chat_keys(&fake, "C-u C-y");
    assert_string_equal(fake.chat.notice.text, "");
    fake_chat_keys(&fake, "C-y");
    expect("a line holds 2000 bytes: the end of what was cut did not fit");
    assert_int_equal(fake.chat.nav.line.length, VD_LINE_MAX);
}

// A pasted book fills the line and no more; the rest of the program goes on.
static void a_long_paste_and_a_long_caption_have_room(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "PasteBegin");
    for (int i = 0; i < 3 * VD_LINE_MAX; i++)
        fake_chat_key(&fake, (vd_key){.code = i % 7 == 6 ? VD_KEY_ENTER : 'a'});
    fake_chat_keys(&fake, "PasteEnd");
    assert_int_equal(fake.asked, 0);
    assert_true(fake.chat.nav.line.length <= VD_LINE_MAX &&
                fake.chat.nav.line.length > VD_LINE_MAX - 8);
    expect("a line holds 2000 bytes: the last 4444 characters were not pasted");
    fake_chat_keys(&fake, "Esc Enter");
    assert_int_equal(fake.asked, 1);
    static const char *const keys[] = {"C-l", "F2", "F4", "F5", "F10", "F12", "M-p", "F1"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        fake_chat_keys(&fake, keys[i]);
        fake_chat_size(&fake, 40, 12);
        fake_chat_size(&fake, 200, 60);
        fake_chat_size(&fake, 80, 24);
        fake_chat_keys(&fake, "Esc Esc");
    }
    // A caption of 4,000 characters leaves room for picture, answers and dialog.
    static char caption[4001];
    for (size_t i = 0; i + 1 < sizeof caption; i++)
        caption[i] = i % 6 == 5 ? ' ' : 'c';
    fake_chat_caption(caption);
    fake_chat_keys(&fake, "C-u '/new' Enter");
    static const int sizes[][2] = {{40, 12}, {80, 24}, {120, 40}, {200, 60}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fake_chat_size(&fake, sizes[i][0], sizes[i][1]);
        expect("ccccc ccccc");
        expect("Type a question");
        fake_chat_keys(&fake, "F2");
        expect("ccccc ccccc");
        fake_chat_keys(&fake, "Esc");
    }
    fake_chat_keys(&fake, "'is it red?' Enter");
    expect("is it red?");
    expect("Best of 12");
}

static void the_mouse_zooms_and_selects(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'what color is it?' Enter");
    vd_rect dialog = fake.chat.nav.layout.dialog;
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = dialog.x + 4, .y = dialog.y + 1});
    assert_int_equal(fake.chat.nav.selected, 0);
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = 3, .y = 3});
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_ZOOM);
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = 3, .y = 3});
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = -1, .y = 90000});
}

static void leaving_asks_for_an_empty_line_or_quit(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'x' C-a C-d"); // deletes the x
    assert_int_equal(fake.leaves, 0);
    fake_chat_keys(&fake, "C-d");
    assert_int_equal(fake.leaves, 1);
    fake_chat_keys(&fake, "'/quit' Enter 'quit' Enter 'Exit' Enter");
    assert_int_equal(fake.leaves, 4);
    fake_chat_keys(&fake, "'help' Enter");
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_HELP);
    fake_chat_keys(&fake, "Esc");
    assert_int_equal(fake.chat.conversation.branch->aside_count, 0);
    fake_chat_keys(&fake, "C-l C-z 'abc' C-c");
    assert_int_equal(fake.redraws, 1);
    assert_int_equal(fake.suspends, 1);
    assert_int_equal(fake.chat.nav.line.length, 0);
    fake_chat_keys(&fake, "C-c");
    expect("Ctrl-D or /quit leaves");
}

static void a_bad_pool_or_answer_is_not_fatal(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    vd_response *response = &fake.chat.conversation.branch->rounds[0].response[0];
    response->pool.count = 2; // a pool smaller than the ranking
    vd_chat_draw(&fake.chat, &fake.grid);
    response->chosen = 99;
    fake_chat_keys(&fake, "F4 Esc F6");
    vd_event event = {.kind = VD_REQUEST_ASK, .serial = -1};
    vd_chat_event(&fake.chat, &event); // from nowhere
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_screen_says_what_to_do),
        TEST(a_question_shows_at_once_and_its_answer_when_it_comes),
        TEST(a_stopped_or_failed_answer_gives_the_question_back),
        TEST(what_was_refused_meanwhile_is_not_said_after_it),
        TEST(an_answer_to_a_picture_that_was_left_is_dropped),
        TEST(every_picture_keeps_its_conversation),
        TEST(people_s_questions_are_known_by_what_they_are_about),
        TEST(pictures_change_by_key_and_command),
        TEST(another_answer_can_be_chosen),
        TEST(earlier_rounds_bring_back_their_ranking),
        TEST(the_file_of_the_pool_is_named),
        TEST(undo_forgets_the_last_round),
        TEST(a_missing_model_is_said_and_can_be_mended),
        TEST(people_s_questions_are_suggested),
        TEST(regions_are_outlined_and_listed_with_the_same_numbers),
        TEST(unknown_and_unseen_words_are_marked),
        TEST(the_whole_pool_can_be_listed_filtered_and_picked),
        TEST(the_attention_view_goes_word_by_word),
        TEST(help_lists_the_keys_of_the_place),
        TEST(no_message_is_not_shown),
        TEST(commands_complete_and_complain),
        TEST(what_if_and_branches_complete),
        TEST(a_long_message_takes_the_rows_it_needs),
        TEST(a_full_line_says_so),
        TEST(a_long_paste_and_a_long_caption_have_room),
        TEST(the_dialog_scrolls_and_is_searched),
        TEST(pasted_text_is_typed_not_run),
        TEST(pasted_lines_are_questions_after_a_confirmation),
        TEST(the_mouse_zooms_and_selects),
        TEST(leaving_asks_for_an_empty_line_or_quit),
        TEST(a_bad_pool_or_answer_is_not_fatal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

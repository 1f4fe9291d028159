// The caption word by word in the chat: when it is asked for, how it plays, what can be looked at
// and changed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"
#include "tests/support/fake_caption.h"

static const vd_caption_look *look(void)
{
    return &fake.chat.nav.caption;
}

// On to the next word, and until its regions are there.
static void tick(void)
{
    for (int i = 0; i < VD_FADES; i++)
        vd_chat_tick(&fake.chat);
    vd_chat_draw(&fake.chat, &fake.grid);
}

static void click(int x, int y)
{
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = x, .y = y});
}

// ---- asking -------------------------------------------------------------------------------------

static void it_is_asked_for_once(void **state)
{
    (void)state;
    assert_int_equal(fake.captions, 0);
    fake_chat_keys(&fake, "F11");
    expect("captioner's own caption, 1 of 5");
    expect("in the data: two red balls are left of the large metal cube"); // at 80 columns
    fake_chat_keys(&fake, "Right Esc F11 F1 Esc");
    assert_int_equal(fake.captions, 1);
    fake_chat_keys(&fake, "F8"); // another picture
    assert_int_equal(fake.captions, 2);
    assert_int_equal(fake.chat.lanes.caption.sheet->wish.picture, 1);
    assert_int_equal(look()->column, 0);
    fake_chat_keys(&fake, "F11");
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
    fake_chat_keys(&fake, "'/words' Enter");
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CAPTION);
}

static void a_failure_says_why_and_is_asked_again_when_it_is_opened_again(void **state)
{
    (void)state;
    fake.no_caption = true;
    fake_chat_keys(&fake, "F11");
    expect("the captioner says no");
    expect("No captioner can describe this picture.");
    fake_chat_keys(&fake, "Right Left Enter Space M-h");
    assert_int_equal(fake.captions, 1);
    fake.no_caption = false;
    fake_chat_keys(&fake, "Esc F11");
    expect("captioner's own caption");
}

static void a_late_caption_of_a_picture_that_was_left_is_not_shown(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11");
    const vd_caption_sheet *shown = fake.chat.lanes.caption.sheet;
    vd_event event = {.kind = VD_REQUEST_CAPTION,
                      .serial = fake.chat.lanes.serial + 1000,
                      .caption = fake_caption(&shown->wish, FAKE_REGIONS, false)};
    vd_chat_event(&fake.chat, &event);
    assert_null(event.caption);
    assert_ptr_equal(fake.chat.lanes.caption.sheet, shown);
}

// ---- playing ------------------------------------------------------------------------------------

static void it_plays_to_its_end(void **state)
{
    (void)state;
    assert_int_equal(vd_chat_pause(&fake.chat), -1);
    fake_chat_keys(&fake, "F11");
    assert_true(vd_chat_pause(&fake.chat) > 100);
    int last = fake.chat.lanes.caption.sheet->rows - 1;
    for (int i = 0; i < last; i++) {
        assert_int_equal(look()->column, i);
        assert_true(vd_chat_pause(&fake.chat) > 100);
        tick();
    }
    expect("(end) ");
    assert_int_equal(look()->column, last);
    assert_int_equal(vd_chat_pause(&fake.chat), -1);
    tick(); // a late one
    assert_int_equal(look()->column, last);
    fake_chat_keys(&fake, "Space"); // once more
    assert_int_equal(look()->column, 0);
    assert_true(vd_chat_pause(&fake.chat) > 0);
}

// Between two words their regions are mixed, in steps that sum to the whole way.
static void regions_fade_into_the_next_ones(void **state)
{
    (void)state;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "F11");
    char *before = fake_chat_text(&fake), *after[VD_FADES];
    int slow = vd_chat_pause(&fake.chat);
    for (int i = 0; i < VD_FADES; i++) {
        vd_chat_tick(&fake.chat);
        vd_chat_draw(&fake.chat, &fake.grid);
        assert_int_equal(look()->column, 1);
        assert_true((vd_chat_pause(&fake.chat) < slow) == (i + 1 < VD_FADES));
        after[i] = fake_chat_text(&fake);
        assert_string_not_equal(after[i], i ? after[i - 1] : before);
    }
    fake_chat_keys(&fake, "Left Right"); // at once
    char *at_once = fake_chat_text(&fake);
    assert_string_equal(after[VD_FADES - 1], at_once);
    for (int i = 0; i < VD_FADES; i++)
        vd_free(after[i]);
    vd_free(before);
    vd_free(at_once);
}

static void it_pauses_and_is_left_by_one_key(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11");
    tick();
    fake_chat_keys(&fake, "Space");
    assert_int_equal(vd_chat_pause(&fake.chat), -1);
    tick();
    assert_int_equal(look()->column, 1);
    fake_chat_keys(&fake, "'/play' Enter");
    tick();
    assert_int_equal(look()->column, 2);
    fake_chat_keys(&fake, "Right"); // by hand
    assert_int_equal(look()->column, 3);
    assert_int_equal(vd_chat_pause(&fake.chat), -1);
    fake_chat_keys(&fake, "Space Esc");
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
    assert_int_equal(vd_chat_pause(&fake.chat), -1);
}

static void nothing_moves_where_that_is_not_wanted(void **state)
{
    (void)state;
    fake.chat.still = true;
    fake_chat_keys(&fake, "F11");
    assert_int_equal(vd_chat_pause(&fake.chat), -1);
    fake_chat_keys(&fake, "Space");
    expect("motion = off");
    assert_int_equal(vd_chat_pause(&fake.chat), -1);
}

// ---- looking ------------------------------------------------------------------------------------

static void any_word_is_reached(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11 End");
    assert_int_equal(look()->column, 10);
    fake_chat_keys(&fake, "Right");
    assert_int_equal(look()->column, 10);
    fake_chat_keys(&fake, "Left Left Home Left");
    assert_int_equal(look()->column, 0);
    fake_chat_keys(&fake, "'/word 4' Enter");
    assert_int_equal(look()->column, 3);
    fake_chat_keys(&fake, "'/word 12' Enter");
    expect("/word 12: expected a number from 1 to 11");
    fake_chat_keys(&fake, "Esc '/word 2' Enter");
    expect("F11 (or /words) shows the caption word by word first");
}

static void clicks_open_select_and_change(void **state)
{
    (void)state;
    vd_rect caption = fake.chat.nav.layout.caption;
    click(caption.x + 3, caption.y);
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CAPTION);
    click(7, 3); // " two red balls", below the title and the caption of the data
    assert_int_equal(look()->column, 1);
    vd_rect list = fake_chat_list(&fake);
    click(list.x + 5, list.y + 5);
    assert_int_equal(look()->at, 5);
    assert_int_equal(fake.captions, 1);
    click(list.x + 5, list.y + 5);
    assert_int_equal(fake.captions, 2);
    assert_int_equal(fake.chat.lanes.caption.sheet->wish.switches.at[0].kind, VD_SWITCH_REGION);
}

static void layers_and_heads_go_round(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11");
    expect("layer 2 of 2  mean of 2 heads");
    fake_chat_keys(&fake, "M-h");
    expect("layer 2 of 2  head 1 of 2");
    fake_chat_keys(&fake, "M-h M-l");
    expect("layer 1 of 2  head 2 of 2");
    fake_chat_keys(&fake, "M-h");
    expect("layer 1 of 2  mean of 2 heads");
    fake_chat_keys(&fake, "'/head 2' Enter '/layer 2' Enter");
    expect("layer 2 of 2  head 2 of 2");
    fake_chat_keys(&fake, "'/head 3' Enter");
    expect("/head 3: expected a number from 1 to 2");
}

// ---- what if ------------------------------------------------------------------------------------

static const vd_switches *wanted(void)
{
    return &fake.chat.lanes.caption.wanted.switches;
}

static void the_rest_is_said_anew(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11 Right Right Down Enter");
    expect("B captioner, changed (word 3=blue)");
    assert_int_equal(look()->side, 1);
    assert_int_equal(look()->column, 2); // still the third word
    assert_string_equal(fake.chat.lanes.caption.sheet->side[0].word[2], "balls");
    fake_chat_keys(&fake, "Right '/what-if word 5=a' Enter");
    assert_int_equal(wanted()->count, 2);
    fake_chat_keys(&fake, "'/what-if word 2=the' Enter"); // later ones are said anew
    assert_int_equal(wanted()->count, 1);
    assert_string_equal(wanted()->at[0].word, "the");
    fake_chat_keys(&fake, "Del");
    assert_int_equal(fake.chat.lanes.caption.sheet->sides, 1);
    expect("captioner's own caption");
}

static void regions_are_left_out_and_put_back(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11 '/what-if region 3' Enter '/what-if region 1' Enter");
    expect("changed (region 3, region 1)");
    expect("[x] 3");
    fake_chat_keys(&fake, "'/what-if region 3' Enter");
    expect("changed (region 1)");
    fake_chat_keys(&fake, "'/what-if none' Enter");
    assert_int_equal(wanted()->count, 0);
    fake_chat_keys(&fake, "'/what-if moon' Enter");
    expect("what-if 'moon':");
}

static void what_is_said_anyway_is_not_forced(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11 Enter");
    expect("this is the captioner's own word");
    assert_int_equal(fake.captions, 1);
}

static void what_cannot_be_changed_is_put_back(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11 '/what-if region 3' Enter");
    fake.no_caption = true;
    fake_chat_keys(&fake, "'/what-if region 1' Enter");
    expect("the captioner says no");
    expect("changed (region 3)");
    assert_int_equal(wanted()->count, 1);
    assert_int_equal(fake.captions, 3);
}

// ---- reading ------------------------------------------------------------------------------------

static const char *wanted_text(void)
{
    return fake.chat.lanes.caption.wanted.read;
}

static void the_dialogs_caption_is_read(void **state)
{
    (void)state;
    const char *caption = vd_conversation_caption(&fake.chat.conversation).text;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "F11 M-t");
    expect("A captioner's own caption, 1 of 5: log-probability");
    expect("B captioner reads the human caption: log-probability");
    assert_string_equal(wanted_text(), caption);
    assert_int_equal(look()->side, 1);
    assert_int_equal(fake.captions, 2);
    fake_chat_keys(&fake, "F8"); // the next picture's, too
    assert_string_not_equal(wanted_text(), caption);
    assert_string_equal(wanted_text(), vd_conversation_caption(&fake.chat.conversation).text);
    expect("B captioner reads the human caption");
    fake_chat_keys(&fake, "M-t");
    assert_int_equal(fake.chat.lanes.caption.sheet->sides, 1);
    expect("in the data: ");
    assert_int_equal(look()->side, 0);
}

static void any_caption_is_read(void **state)
{
    (void)state;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "'/read two zebra balls' Enter"); // opens the place
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CAPTION);
    expect("B captioner reads your caption: log-probability");
    fake_chat_keys(&fake, "Home Right");
    expect("unknown to the captioner, which reads <UNK>");
    fake_chat_keys(&fake, "F8"); // it was of that picture
    assert_string_equal(wanted_text(), "");
    fake_chat_keys(&fake, "'/read a cube' Enter '/read off' Enter");
    assert_int_equal(fake.chat.lanes.caption.sheet->sides, 1);
    fake_chat_keys(&fake, "'/read a cube' Enter Esc F8 '/read' Enter"); // of that picture, too
    assert_string_equal(wanted_text(), vd_conversation_caption(&fake.chat.conversation).text);
    expect("B captioner reads the human caption");
}

// Words are replaced where they stand; the captioner's own caption stays as it is.
static void what_is_read_can_be_changed(void **state)
{
    (void)state;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "'/read two red balls' Enter '/what-if word 3=cubes' Enter");
    fake_chat_keys(&fake, "'/what-if word 1=the' Enter");
    expect("B captioner reads your caption, changed (word 3=cubes, word 1=the)");
    assert_string_equal(fake.chat.lanes.caption.sheet->side[1].word[2], "cubes");
    assert_int_equal(fake.chat.lanes.caption.sheet->side[1].trace.words, 4);
    fake_chat_keys(&fake, "Tab '/what-if region 1' Enter");
    expect("what-if works on the caption that is read; Tab selects it");
    assert_int_equal(wanted()->count, 2);
    fake_chat_keys(&fake, "Del");
    assert_int_equal(wanted()->count, 0);
    assert_string_equal(wanted_text(), "two red balls");
}

// In a column where the caption has no word.
static void the_column_stays_when_something_is_changed(void **state)
{
    (void)state;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "'/read two balls' Enter");
    const vd_caption_sheet *sheet = fake.chat.lanes.caption.sheet;
    int column = 0;
    while (vd_caption_sheet_word(sheet, 1, column) >= 0)
        column++;
    assert_true(vd_caption_sheet_word(sheet, 1, column + 2) < 0); // there are others
    int before = fake.captions;
    vd_chat_words_go(&fake.chat, column);
    fake_chat_keys(&fake, "'/what-if region 1' Enter");
    assert_int_equal(fake.captions, before + 1);
    assert_int_equal(look()->column, column);
}

static void both_captioners_read_it(void **state)
{
    (void)state;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "'/captioner other' Enter '/read two red balls' Enter");
    expect("A captioner reads your caption: log-probability");
    expect("B other reads your caption: log-probability");
    assert_int_equal(look()->side, 0);
}

static void what_cannot_be_read_is_not(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11");
    fake.no_caption = true;
    fake_chat_keys(&fake, "M-t");
    expect("the captioner says no");
    expect("captioner's own caption");
    assert_string_equal(wanted_text(), "");
    assert_int_equal(fake.captions, 2);
    fake_chat_keys(&fake, "Right Left");
    assert_int_equal(fake.captions, 2); // once
    fake_chat_keys(&fake, "F8");        // the other picture fails without it, too
    assert_int_equal(fake.captions, 3);
}

// ---- two captioners -----------------------------------------------------------------------------

static void a_second_captioner_stands_beside_the_first(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'/captioner other' Enter"); // opens the place
    expect("A captioner's own caption");
    expect("B other's own caption");
    expect("A two*");
    expect("B there*");
    fake_chat_keys(&fake, "Tab");
    assert_int_equal(look()->side, 1);
    fake_chat_keys(&fake, "'/wha' Tab"); // of a line that is not empty it completes
    expect("> /what-if");
    assert_int_equal(look()->side, 1);
    fake_chat_keys(&fake, "C-u '/what-if region 1' Enter");
    expect("B other, changed (region 1)");
    fake_chat_keys(&fake, "F3 '/what-if region 2' Enter"); // of the first: the other is as it was
    expect("A captioner, changed (region 2)");
    expect("B other's own caption");
    click(3, 1); // on the title of the first: nothing; of the second: to it
    assert_int_equal(look()->side, 0);
    click(3, 2);
    assert_int_equal(look()->side, 1);
    fake_chat_keys(&fake, "'/captioner off' Enter");
    assert_int_equal(fake.chat.lanes.caption.sheet->sides, 1);
    fake_chat_keys(&fake, "Tab");
    expect("there is one caption");
}

// The first one stays where the second cannot be read.
static void a_second_captioner_that_fails_is_none(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F11");
    fake.no_caption = true;
    fake_chat_keys(&fake, "'/captioner nowhere' Enter");
    expect("the captioner says no");
    expect("captioner's own caption");
    assert_string_equal(fake.chat.lanes.caption.wanted.second, "");
    fake_chat_keys(&fake, "'/captioner' Enter");
    expect("/captioner takes the file of a second captioner, or off");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(it_is_asked_for_once),
        TEST(a_failure_says_why_and_is_asked_again_when_it_is_opened_again),
        TEST(a_late_caption_of_a_picture_that_was_left_is_not_shown),
        TEST(it_plays_to_its_end),
        TEST(regions_fade_into_the_next_ones),
        TEST(it_pauses_and_is_left_by_one_key),
        TEST(nothing_moves_where_that_is_not_wanted),
        TEST(any_word_is_reached),
        TEST(clicks_open_select_and_change),
        TEST(layers_and_heads_go_round),
        TEST(the_rest_is_said_anew),
        TEST(regions_are_left_out_and_put_back),
        TEST(what_is_said_anyway_is_not_forced),
        TEST(what_cannot_be_changed_is_put_back),
        TEST(the_dialogs_caption_is_read),
        TEST(any_caption_is_read),
        TEST(what_is_read_can_be_changed),
        TEST(the_column_stays_when_something_is_changed),
        TEST(both_captioners_read_it),
        TEST(what_cannot_be_read_is_not),
        TEST(a_second_captioner_stands_beside_the_first),
        TEST(a_second_captioner_that_fails_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// When the chat asks for a walk, and what becomes of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"

static void without_an_answer_there_is_no_walk(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F12");
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
    assert_int_equal(fake.walks, 0);
    fake_chat_keys(&fake, "'/what-if picture' Enter");
    expect("ask something first");
}

static void an_answer_is_walked_through_once(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter F12");
    assert_int_equal(fake.walks, 1);
    expect("1/9 Word states");
    fake_chat_keys(&fake, "Right Right Esc F12 F1 Esc");
    assert_int_equal(fake.walks, 1);
    fake_chat_keys(&fake, "'is it blue?' Enter"); // asked from within the walk
    assert_int_equal(fake.walks, 2);
    assert_string_equal(fake.chat.lanes.walk.walk->reply.typed, "is it blue?");
    fake_chat_keys(&fake, "M-Up");
    assert_int_equal(fake.walks, 3);
    assert_string_equal(fake.chat.lanes.walk.walk->reply.typed, "is it red?");
    fake_chat_keys(&fake, "F8"); // another picture: no answer any more
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
    assert_int_equal(fake.walks, 3);
}

// The texts and the ranking would be those of the other model's pool.
static void an_answer_of_another_model_is_not_walked_through(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter 'is it blue?' Enter F3 M-Up F12");
    expect("Another model gave this answer");
    assert_int_equal(fake.walks, 0);
    fake_chat_keys(&fake, "Space Enter Right");
    assert_int_equal(fake.walks, 0);
    fake_chat_keys(&fake, "M-Down"); // this one was asked again
    assert_int_equal(fake.walks, 1);
}

// Space goes to the what-ifs from any stage, as the hints say; Enter to the next stage.
static void space_goes_to_the_what_ifs(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter F12 Enter");
    expect("2/9 Context matching");
    expect("Space what-if");
    fake_chat_keys(&fake, "Space");
    expect("9/9 What if?");
    assert_int_equal(fake.chat.lanes.walk.switches.count, 0);
    fake_chat_keys(&fake, "Space");
    expect("[x] region 1");
}

static void every_page_says_which_question_it_is_about(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter F12");
    for (int page = 0; page <= fake.chat.lanes.walk.walk->trace.stages; page++) {
        expect("is it red?  ");
        fake_chat_keys(&fake, "Right");
    }
    fake_chat_size(&fake, 40, 12);
    expect("is it red?  ");
}

// Its sign, what the answer would be then, and every region with its number in the picture.
static void a_what_if_tells_the_change_and_the_answer_then(void **state)
{
    (void)state;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "'is it red?' Enter F12 Left");
    const vd_walk *walk = fake.chat.lanes.walk.walk;
    bool flips = false, gain = false, loss = false;
    for (int i = 0; i < walk->effects; i++) {
        int first = walk->reply.answer.order[0];
        double before = (double)walk->reply.answer.probability[first];
        flips |= walk->effect[i].first != first;
        gain |= walk->effect[i].left > before;
        loss |= walk->effect[i].left < before;
    }
    assert_true(flips && gain && loss);
    expect("now: ");
    expect(" +");
    expect(" -");
    vd_rect picture = fake.chat.nav.layout.attention; // it stands beside the list
    for (int number = 1; number <= FAKE_REGIONS; number++) {
        bool outlined = false;
        for (int y = picture.y; y < picture.y + picture.height * 3 / 5; y++)
            for (int x = picture.x; x < picture.x + picture.width; x++)
                outlined |= vd_grid_at(&fake.grid, x, y)->code[0] == (uint32_t)('0' + number);
        assert_true(outlined);
    }
}

static void a_switch_asks_again_and_keeps_the_effects(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter F12 Left");
    const vd_effect *effects = fake.chat.lanes.walk.walk->effect;
    int count = fake.chat.lanes.walk.walk->effects;
    assert_true(effects && count == FAKE_REGIONS + 2);
    fake_chat_keys(&fake, "Down Down Space");
    assert_int_equal(fake.walks, 2);
    assert_ptr_equal(fake.chat.lanes.walk.walk->effect, effects);
    assert_int_equal(fake.chat.lanes.walk.walk->effects, count);
    assert_int_equal(fake.chat.lanes.walk.walk->switches.at[0].index, 2);
    expect("[x] region 3");
    expect("changed: region 3");
    fake_chat_keys(&fake, "Space");
    assert_int_equal(fake.chat.lanes.walk.walk->switches.count, 0);
    fake_chat_keys(&fake, "'/what-if picture' Enter '/what-if word 2=zebra' Enter");
    expect("changed: picture, word 2=zebra");
    fake_chat_keys(&fake, "Del");
    expect("[ ] picture blank");
    assert_int_equal(fake.chat.lanes.walk.walk->switches.count, 0);
}

static void a_click_switches(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter F12 Left");
    vd_rect list = fake_chat_list(&fake);
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = list.x + 5, .y = list.y + 3});
    expect("[x] region 4");
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = list.x + 5, .y = list.y - 1});
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = list.x + 5, .y = list.y + 12});
    assert_int_equal(fake.walks, 2);
}

static void a_late_walk_of_an_answer_that_was_left_is_not_shown(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter F12");
    vd_event event = {.kind = VD_REQUEST_WALK,
                      .serial = fake.chat.lanes.walk.serial + 1000,
                      .walk = vd_alloc(1, sizeof *event.walk)};
    vd_walk *shown = fake.chat.lanes.walk.walk;
    vd_chat_event(&fake.chat, &event);
    assert_null(event.walk);
    assert_ptr_equal(fake.chat.lanes.walk.walk, shown);
}

static void a_walk_that_fails_says_why_and_is_not_asked_for_again(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter");
    fake.no_walk = true;
    fake_chat_keys(&fake, "F12");
    expect("the engine says no");
    expect("There is no walk through this answer.");
    fake_chat_keys(&fake, "Right Left");
    assert_int_equal(fake.walks, 1);
}

static void what_cannot_be_switched_is_switched_back(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter F12 Left");
    fake.no_walk = true;
    fake_chat_keys(&fake, "Space");
    expect("the engine says no");
    expect("[ ] region 1");
    assert_int_equal(fake.chat.lanes.walk.switches.count, 0);
}

static void another_model_walks_anew(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter F12 F3");
    assert_int_equal(fake.walks, 2);
    assert_string_equal(fake.chat.lanes.walk.walk->model, "base");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_page_says_which_question_it_is_about, start, end),
        cmocka_unit_test_setup_teardown(a_what_if_tells_the_change_and_the_answer_then, start, end),
        cmocka_unit_test_setup_teardown(without_an_answer_there_is_no_walk, start, end),
        cmocka_unit_test_setup_teardown(an_answer_is_walked_through_once, start, end),
        cmocka_unit_test_setup_teardown(an_answer_of_another_model_is_not_walked_through, start,
                                        end),
        cmocka_unit_test_setup_teardown(space_goes_to_the_what_ifs, start, end),
        cmocka_unit_test_setup_teardown(a_switch_asks_again_and_keeps_the_effects, start, end),
        cmocka_unit_test_setup_teardown(a_click_switches, start, end),
        cmocka_unit_test_setup_teardown(a_late_walk_of_an_answer_that_was_left_is_not_shown, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_walk_that_fails_says_why_and_is_not_asked_for_again,
                                        start, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_switched_is_switched_back, start, end),
        cmocka_unit_test_setup_teardown(another_model_walks_anew, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Ways to the same things in the chat: /commands, keys of the person.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"

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
    expect("/round takes a round that was asked; there are 2");
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_keys_do_is_typed),
        TEST(a_key_of_the_person_runs_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The chat under keys that nobody would press and without memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"

// Every allocation of a short chat fails once: nothing breaks, nothing is lost for good.
static void out_of_memory_is_survived(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'one?' Enter");
    for (size_t n = 1; n < 40; n++) {
        vd_alloc_fail_at(0);
        vd_chat_key(&fake.chat, (vd_key){.code = 'x'});
        vd_alloc_fail_at(n);
        vd_chat_key(&fake.chat, (vd_key){.code = VD_KEY_ENTER});
        vd_chat_key(&fake.chat, (vd_key){.code = VD_KEY_F0 + 6});
        vd_chat_key(&fake.chat, (vd_key){.code = VD_KEY_F0 + 8});
        vd_chat_key(&fake.chat, (vd_key){.code = VD_KEY_F0 + 3});
        vd_chat_draw(&fake.chat, &fake.grid);
        vd_alloc_fail_at(0);
        fake_chat_keys(&fake, "C-c Esc C-u"); // serves what was requested
    }
    fake_chat_keys(&fake, "'still here?' Enter");
    expect("still here?");
}

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u; // Knuth's "quick and dirty" constants
    return (seed >> 8) % below;
}

// Ten thousand keys and resizes, the same ones every time; they get to every place.
static void random_keys_do_no_harm(void **state)
{
    (void)state;
    static const uint32_t special[] = {VD_KEY_UP,
                                       VD_KEY_DOWN,
                                       VD_KEY_LEFT,
                                       VD_KEY_RIGHT,
                                       VD_KEY_HOME,
                                       VD_KEY_END,
                                       VD_KEY_PAGE_UP,
                                       VD_KEY_PAGE_DOWN,
                                       VD_KEY_DELETE,
                                       VD_KEY_BACKSPACE,
                                       VD_KEY_ENTER,
                                       VD_KEY_TAB,
                                       VD_KEY_ESCAPE,
                                       VD_KEY_WHEEL_UP,
                                       VD_KEY_WHEEL_DOWN,
                                       VD_KEY_CLICK,
                                       VD_KEY_PASTE_END,
                                       VD_KEY_F0 + 1,
                                       VD_KEY_F0 + 2,
                                       VD_KEY_F0 + 3,
                                       VD_KEY_F0 + 4,
                                       VD_KEY_F0 + 5,
                                       VD_KEY_F0 + 6,
                                       VD_KEY_F0 + 7,
                                       VD_KEY_F0 + 8,
                                       VD_KEY_F0 + 9,
                                       VD_KEY_F0 + 10,
                                       VD_KEY_F0 + 11,
                                       VD_KEY_F0 + 12,
                                       VD_KEY_ENTER,
                                       VD_KEY_ENTER,
                                       VD_KEY_PASTE_BEGIN,
                                       '/',
                                       0x7403,
                                       0x301,
                                       0x1F468,
                                       0x200D,
                                       0x202E};
    int seen[VD_PLACES] = {0};
    seed = 20240607;
    for (int i = 0; i < 10000; i++) {
        vd_key key = {.x = (int)(draw(130)) - 5, .y = (int)(draw(50)) - 5};
        switch (draw(8)) {
        case 0:
        case 1:
        case 2:
            key.code = special[draw(sizeof special / sizeof *special)];
            break;
        case 3:
            key.code = 'a' + draw(26);
            key.modifiers = VD_CTRL;
            break;
        case 4:
            key.code = ' ' + draw(95);
            key.modifiers = VD_ALT;
            break;
        case 5:
            key.code = special[draw(16)];
            key.modifiers = (uint8_t)(draw(8));
            break;
        default:
            key.code = ' ' + draw(95);
        }
        fake.hold = draw(4) == 0;
        if (!fake.hold && fake.held.text)
            fake_chat_release(&fake, draw(3) ? VD_OK : VD_INTERRUPTED);
        if (draw(20) == 0)
            fake_chat_size(&fake, (int)(draw(140)), (int)(draw(50)));
        fake_chat_key(&fake, key);
        assert_true(fake.chat.nav.line.cursor <= fake.chat.nav.line.length);
        assert_true(fake.chat.conversation.branches.picture < vd_world_count(fake_chat_world()));
        seen[fake.chat.nav.places.now]++;
    }
    assert_true(fake.asked > 50);
    for (int place = 0; place < VD_PLACES; place++)
        assert_true(seen[place] > 20);
    fake.hold = false;
    if (fake.held.text)
        fake_chat_release(&fake, VD_OK);
    fake_chat_size(&fake, 80, 24);
    fake_chat_keys(&fake, "PasteEnd Esc Esc C-c C-c '/new' Enter 'still there?' Enter");
    expect("still there?");
}

// The same within the walk and its what-ifs, of which every key that leaves them is left out.
static void random_keys_in_the_walk_do_no_harm(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "Left",  "Left",    "Left",      "Left", "Right", "Up",  "Down", "PgUp", "PgDn", "C-Home",
        "C-End", "Space",   "Enter",     "Del",  "M-Up",  "F3",  "M-e",  "Esc",  "M-n",  "M-a",
        "M-2",   "WheelUp", "WheelDown", "C-c",  "x",     "Tab", "C-u",  "F6"};
    static const char *const lines[] = {"'/what-if region 2' Enter", "'/what-if word 1=cube' Enter",
                                        "'/what-if round 1' Enter",  "'/what-if picture' Enter",
                                        "'/what-if none' Enter",     "'and the ball?' Enter",
                                        "'/branch' Enter",           "'/undo' Enter"};
    enum { STAGES = 8 };
    int stages[STAGES + 1] = {0}, switched = 0;
    fake_chat_keys(&fake, "'is it red?' Enter 'is it blue?' Enter");
    seed = 7;
    for (int i = 0; i < 10000; i++) {
        if (fake.chat.nav.places.now != VD_PLACE_WALK)
            fake_chat_keys(&fake, "C-u F12");
        fake.no_walk = draw(20) == 0;
        if (draw(12) == 0)
            fake_chat_keys(&fake, lines[draw(sizeof lines / sizeof *lines)]);
        else if (draw(10) == 0)
            fake_chat_key(
                &fake,
                (vd_key){.code = VD_KEY_CLICK, .x = (int)draw(130) - 5, .y = (int)draw(50) - 5});
        else
            fake_chat_keys(&fake, keys[draw(sizeof keys / sizeof *keys)]);
        if (draw(20) == 0)
            fake_chat_size(&fake, (int)(draw(140)), (int)(draw(50)));
        if (fake.chat.conversation.branch->count == 0)
            fake_chat_keys(&fake, "C-u 'is it red?' Enter");
        int page = fake.chat.nav.walk_page; // behind the last stage: what-if
        stages[page < STAGES ? page + 1 : 0]++;
        switched += fake.chat.lanes.walk.switches.count > 0;
    }
    for (int page = 0; page <= STAGES; page++)
        assert_true(stages[page] > 20);
    assert_true(switched > 500 && fake.walks > 1000);
    fake.no_walk = false;
    fake_chat_size(&fake, 80, 24);
    fake_chat_keys(&fake, "C-u '/what-if none' Enter");
    expect("9/9 What if?");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(out_of_memory_is_survived),
        TEST(random_keys_do_no_harm),
        TEST(random_keys_in_the_walk_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

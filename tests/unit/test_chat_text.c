// Text of every kind in the chat, and very long dialogs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"
#include "tests/support/support.h"

// A round as if it had been asked and answered.
static void add_round(const char *typed)
{
    const vd_response *like = &fake.chat.conversation.branch->rounds[0].response[0];
    vd_round *round = vd_branch_add(fake.chat.conversation.branch, typed);
    assert_non_null(round);
    like = &fake.chat.conversation.branch->rounds[0].response[0]; // the rounds may have moved
    vd_response *response = &round->response[0];
    *response = *like;
    response->before = (vd_replaced){0};
    assert_int_equal(vd_reply_copy(&like->reply, &response->reply, NULL), VD_OK);
}

// Every cell belongs to whole clusters: wide ones have their second half, none is cut.
static void expect_whole_cells(void)
{
    const vd_grid *grid = &fake.grid;
    for (int y = 0; y < grid->height; y++)
        for (int x = 0; x < grid->width; x++) {
            const vd_cell *cell = vd_grid_at(grid, x, y);
            if (cell->width == 2) {
                assert_true(x + 1 < grid->width);
                assert_int_equal(vd_grid_at(grid, x + 1, y)->width, 0);
            } else if (cell->width == 0) {
                assert_true(x > 0);
                assert_int_equal(vd_grid_at(grid, x - 1, y)->width, 2);
            }
        }
}

static const char *const texts[] = {
    "\xe7\x90\x83\xe3\x81\xaf\xe4\xbd\x95\xe8\x89\xb2\xe3\x81\xa7\xe3\x81\x99\xe3\x81\x8b?", // wide
    "cafe\xcc\x81 na\xc3\xafve e\xcc\x81\xcc\x82\xcc\x83?",       // combining
    "\xd7\x9e\xd7\x94 \xd7\x94\xd7\xa6\xd7\x91\xd7\xa2 abc 123?", // right to left
    "\xd8\xa7\xd9\x84\xd9\x83\xd8\xb1\xd8\xa9 \xd8\xad\xd9\x85\xd8\xb1\xd8\xa7\xd8\xa1?",
    "bad \xff\xfe utf \xc3( \xe2\x82 end?",                                             // no UTF-8
    "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 family?", // joined
    "control \x01\x1b[31m\x7f chars?",
    "\342\200\256backwards\xe2\x80\xac?", // an override
    "averyveryveryveryveryveryveryveryveryveryveryveryveryveryverylongwordwithoutanybreak?",
    "",
};

static void any_text_is_drawn_in_whole_cells_at_any_size(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'first?' Enter");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_round(texts[i]);
    static const char *const places[] = {"", "F5", "F4", "M-c", "M-p"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        fake_chat_keys(&fake, places[i]);
        for (int width = 40; width < 124; width += 3)
            for (int height = 12; height < 44; height += 7) {
                fake_chat_size(&fake, width, height);
                expect_whole_cells();
                char *screen = fake_chat_text(&fake);
                for (const unsigned char *at = (unsigned char *)screen; *at; at++)
                    assert_true(*at == '\n' || (*at >= ' ' && *at != 0x7f));
                vd_free(screen);
            }
    }
}

// What is written from right to left stands in the order of the text: terminals turn it themselves.
static void right_to_left_text_is_kept_in_order(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'first?' Enter");
    add_round(texts[2]);
    add_round(texts[3]);
    fake_chat_size(&fake, 80, 24);
    expect(texts[2]);
    expect(texts[3]);
    expect("cube"); // the caption below is as it was
}

static void what_is_no_text_is_replaced(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'first?' Enter");
    add_round(texts[4]);
    add_round(texts[6]);
    fake_chat_size(&fake, 80, 24);
    expect("bad \xef\xbf\xbd\xef\xbf\xbd utf \xef\xbf\xbd( ");
    expect("control \xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd chars?");
}

static void add_rounds(int count)
{
    char typed[64];
    fake_chat_keys(&fake, "'question 1?' Enter");
    for (int i = 2; i <= count; i++) {
        snprintf(typed, sizeof typed, "question %d%s?", i, i % 3 ? "" : " \xe7\x90\x83");
        add_round(typed);
    }
}

// Ten thousand rounds: the rows that are shown are those that a fresh count finds, wherever one is.
static void ten_thousand_rounds_scroll_and_are_searched(void **state)
{
    (void)state;
    char typed[64];
    add_rounds(10000);
    fake_chat_keys(&fake, "C-End");
    expect("10000 question 10000?");
    fake_chat_keys(&fake, "C-Home");
    expect(" 1 question 1?");
    int rows = 0, page = fake.chat.nav.places.seen;
    while (fake.chat.nav.scroll > 0 && rows < 30000) {
        fake_chat_keys(&fake, "PgDn");
        rows += page - 1;
        if (rows > 400) // the rest in one go
            break;
    }
    snprintf(typed, sizeof typed, "question %d", rows / 2 + 2);
    expect(typed);
    fake_chat_keys(&fake, "'question 5000?' C-s");
    expect("round 5000 has");
    expect("5000\xe2\x96\x8cquestion 5000?");
    for (int i = 0; i < 19; i++)
        fake_chat_keys(&fake, "M-Up");
    expect("question 4981?");
    // Another width wraps everything anew and still shows the same round.
    fake_chat_size(&fake, 41, 30);
    fake_chat_keys(&fake, "M-Up");
    expect("question 4980 \xe7\x90\x83?");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(any_text_is_drawn_in_whole_cells_at_any_size),
        TEST(right_to_left_text_is_kept_in_order),
        TEST(what_is_no_text_is_replaced),
        TEST(ten_thousand_rounds_scroll_and_are_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

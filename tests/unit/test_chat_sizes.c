// The chat at every size of the window.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"
#include "tui/screen/theme.h"

static void expect_style(const vd_cell *cell, vd_style style)
{
    assert_int_equal(cell->style.fg, style.fg);
    assert_int_equal(cell->style.bg, style.bg);
    assert_int_equal(cell->style.attributes, style.attributes);
}

// Status row, question line and keys are where they belong, in the colours of the theme.
static void expect_frame(void)
{
    const vd_grid *grid = &fake.grid;
    vd_look look = vd_theme_look(grid->look, VD_THEME_LIGHT);
    if (grid->width < VD_LEAST_WIDTH || grid->height < VD_LEAST_HEIGHT) {
        assert_int_equal(vd_grid_at(grid, 0, 0)->code[0], 'v'); // "visdial needs 40x12"
        return;
    }
    int line = fake.chat.nav.layout.line.y, keys = fake.chat.nav.layout.hints.y;
    const vd_cell *name = vd_grid_at(grid, 1, 0), *prompt = vd_grid_at(grid, 1, line),
                  *key = vd_grid_at(grid, 1, keys);
    assert_int_equal(line, grid->height - 2);
    assert_int_equal(keys, grid->height - 1);
    assert_int_equal(name->code[0], 'v');
    expect_style(name, vd_theme(look, VD_ROLE_STATUS_NAME));
    assert_true(prompt->code[0] == '>' || prompt->code[0] == 'f');
    expect_style(prompt, vd_theme(look, VD_ROLE_PROMPT));
    assert_true(key->code[0] > ' ');
}

static void any_size_is_drawn(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'what color is it?' Enter");
    static const char *const places[] = {"",    "F1",      "Esc F2",  "Esc F4",  "Esc F5",
                                         "F10", "Esc F12", "Esc F11", "Esc M-p", "Esc M-s"};
    static const int widths[] = {10, 300, 40, 120, 39, 72, 213, 71},
                     heights[] = {100, 5, 12, 41, 11, 20};
    fake.grid.look.depth = VD_DEPTH_256;
    fake.chat.theme = VD_THEME_LIGHT;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        fake_chat_keys(&fake, places[i]);
        fake_chat_size(&fake, 80, 24);
        char *before = fake_chat_text(&fake);
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
                fake_chat_size(&fake, widths[w], heights[h]);
                expect_frame();
            }
        fake_chat_size(&fake, 80, 24);
        char *after = fake_chat_text(&fake);
        assert_string_equal(after, before);
        vd_free(before);
        vd_free(after);
    }
    fake_chat_keys(&fake, "Esc");
    fake_chat_size(&fake, 39, 12);
    expect("visdial needs 40x12; this is 39x12");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_size_is_drawn, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

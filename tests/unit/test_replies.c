// What terminals say of themselves, told from keys.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tui/screen/replies.h"

// Takes a text with '^' for the escape as a screen does: what comes behind an escape is offered.
// Returns what were keys, in out.
static void take(vd_replies *replies, const char *text, char *out)
{
    char *keys = out;
    for (; *text; text++) {
        bool second = replies->length == 1, offered = replies->length > 0;
        if (!offered && *text == '^') {
            text++;
            offered = true;
        }
        uint32_t code = *text == '^' ? 033 : (unsigned char)*text;
        if (offered && vd_replies_take(replies, code) != VD_REPLY_NONE)
            continue;
        if (second) // the one before was a key as well
            *keys++ = text[-1];
        *keys++ = *text;
    }
    *keys = '\0';
}

static void expect_keys(const char *text, const char *keys)
{
    vd_replies replies = {0};
    char out[256];
    take(&replies, text, out);
    assert_string_equal(out, keys);
}

static void terminals_say_what_they_can(void **state)
{
    (void)state;
    static const struct {
        const char *said;
        vd_replies is;
    } terminals[] = {
        {"^_Gi=31;OK^\\^P>|kitty(0.35.2)^\\^[6;20;10t^[?62;c",
         {.kitty = true, .placeholders = true, .named = true, .cell_width = 10, .cell_height = 20}},
        {"^_Gi=31;ENOTSUPPORTED:no^\\^P>|iTerm2 3.4.15^\\^[6;17;8t^[?62;4c",
         {.iterm = true, .sixel = true, .named = true, .cell_width = 8, .cell_height = 17}},
        {"^P1$r48:2::1:2:3m^\\^P>|XTerm(379)^\\^[?1;0;256S^[6;13;6t^[?63;1;2;4;6;9;15;22c",
         {.sixel = true,
          .named = true,
          .direct_color = true,
          .sixel_colors = 256,
          .cell_width = 6,
          .cell_height = 13}},
        {"^P1$r0;48;2;1;2;3m^\\", {.direct_color = true}},
        {"^]11;rgb:ffff/fffa/f000^\\", {.light = true}},
        {"^]11;rgb:fd/f6/e3\a", {.light = true}}, // Solarized light
        {"^]11;rgb:0000/2b2b/3636^\\", {0}},      // Solarized dark
        {"^]11;rgb:0000/0000/ffff^\\", {0}},
        {"^]11;rgb:ffff/ffff^\\", {0}},
        {"^]11;rgb:^\\", {0}},
        {"^]11;rgb:fffff/fffff/fffff^\\", {0}},
        {"^P1$r48:5:16m^\\^[?64;14;24c", {.named = true}}, // the nearest of its palette
        {"^P0$r^\\^[?1;2c", {.named = true}},
        {"^P>|ghostty 1.1.0^\\", {.placeholders = true}},
        {"^_Gi=31;OK^\\^P>|kitty(0.26.5)^\\", {.kitty = true}}, // which has none yet
        {"^_Gi=31;OK^\\^P>|WezTerm 20240203^\\", {.kitty = true, .iterm = true}},
        {"^[?6c", {.named = true}},
        {"^[6;0;10t^[6;99999;10t^[4;600;800t", {0}},
    };
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        vd_replies replies = {0}, is = terminals[i].is;
        char keys[256];
        take(&replies, terminals[i].said, keys);
        assert_string_equal(keys, "");
        assert_int_equal(replies.kitty, is.kitty);
        assert_int_equal(replies.iterm, is.iterm);
        assert_int_equal(replies.placeholders, is.placeholders);
        assert_int_equal(replies.sixel, is.sixel);
        assert_int_equal(replies.named, is.named);
        assert_int_equal(replies.direct_color, is.direct_color);
        assert_int_equal(replies.light, is.light);
        assert_int_equal(replies.sixel_colors, is.sixel_colors);
        assert_int_equal(replies.cell_width, is.cell_width);
        assert_int_equal(replies.cell_height, is.cell_height);
    }
}

static void keys_stay_keys(void **state)
{
    (void)state;
    expect_keys("how many?", "how many?");
    expect_keys("is^[?62;4c it^_Gi=31;OK^\\ red^[6;20;10t?", "is it red?");
    expect_keys("^pa^xb^_u", "paxb_u"); // with Alt
    expect_keys("^Pq", "Pq");
    expect_keys("^]q", "]q");
    expect_keys("a^[27;5;9~b", "ab"); // of a key that nobody knows, not its digits
    expect_keys("^P>|an evil\a name\a!", " name\a!");
}

static void long_answers_end_as_well(void **state)
{
    (void)state;
    char text[2000], keys[2000];
    memset(text, 'x', sizeof text);
    memcpy(text, "^P>|", 4);
    snprintf(text + sizeof text - 12, 12, "^\\^[?62;4cz");
    vd_replies replies = {0};
    take(&replies, text, keys);
    assert_string_equal(keys, "z");
    assert_true(replies.named && replies.sixel);
}

static void tmux_is_asked_for_what_stands_behind_it(void **state)
{
    (void)state;
    char question[256];
    vd_replies_question(true, false, question, sizeof question);
    assert_ptr_equal(strstr(question, "\033Ptmux;\033\033_Gi=31"), question);
    assert_null(strstr(question, "48;2"));
    vd_replies_question(false, true, question, sizeof question);
    assert_null(strstr(question, "tmux"));
    assert_non_null(strstr(question, "48;2;1;2;3m\033P$qm\033\\\033[m"));
    assert_non_null(strstr(question, "\033]11;?\033\\"));
    assert_string_equal(question + strlen(question) - 3, "\033[c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminals_say_what_they_can),
        cmocka_unit_test(keys_stay_keys),
        cmocka_unit_test(long_answers_end_as_well),
        cmocka_unit_test(tmux_is_asked_for_what_stands_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

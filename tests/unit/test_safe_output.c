// The filter under everything that is printed: nothing of a file or a person controls a terminal.
#include "tui/base/safe_output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/rng.h"

// `text` in pieces of `piece` bytes.
static char *filtered(const char *text, bool terminal, size_t piece)
{
    vd_safe_text filter = {.terminal = terminal};
    size_t length = strlen(text), used = 0;
    char *out = calloc(length + 64, 1);
    for (size_t at = 0; at < length; at += piece) {
        size_t size = length - at < piece ? length - at : piece;
        used += vd_safe_text_filter(&filter, text + at, size, out + used);
    }
    return out;
}

static void expect(const char *text, const char *terminal, const char *pipe)
{
    for (size_t piece = 1; piece <= 6; piece++) {
        char *seen = filtered(text, true, piece), *kept = filtered(text, false, piece);
        assert_string_equal(seen, terminal);
        assert_string_equal(kept, pipe);
        free(seen);
        free(kept);
    }
}

static void what_people_write_is_kept(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain\ttext\n",
                                        "caf\xc3\xa9",
                                        "\xe2\x96\x88 54 %",
                                        "\xf0\x9f\x98\x80",
                                        "\xed\x9f\xbf\xee\x80\x80",
                                        ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(texts[i], texts[i], texts[i]);
}

static void control_characters_are_replaced(void **state)
{
    (void)state;
    expect("a\033[31mb", "a?[31mb", "a?[31mb");
    expect("\a\b\r\x7f", "????", "????");
    expect("a\xc2\x9b"
           "2J",
           "a?2J", "a?2J"); // CSI as one character
    expect("\xc2\x80\xc2\x9f\xc2\xa0", "??\xc2\xa0", "??\xc2\xa0");
}

static void unseen_characters_are_replaced_on_a_terminal(void **state)
{
    (void)state;
    expect("a\xe2\x80\xae"
           "b",
           "a?b",
           "a\xe2\x80\xae"
           "b"); // right-to-left override
    expect("\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf", "???", "\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    expect("a\x9b"
           "2J",
           "a?2J", "a?2J"); // CSI where the terminal reads bytes
    expect("\xc3[", "?[", "?[");
    expect("\xe2\x82[", "??[", "??[");
    expect("\xc0\xaf\xed\xa0\x80\xf5", "??????", "??????"); // overlong, surrogate, too large
    expect("\xf0\x9f\x98\xc3\xa9", "???\xc3\xa9", "???\xc3\xa9");
}

// Whatever comes, in whatever pieces: it ends, and nothing of it controls a terminal.
static void any_bytes_come_out_harmless(void **state)
{
    (void)state;
    vd_rng rng = vd_rng_seed(3, 4);
    for (int round = 0; round < 20000; round++) {
        char text[16] = "", out[64];
        vd_safe_text filter = {.terminal = true};
        size_t length = 1 + vd_rng_below(&rng, 15), used = 0;
        for (size_t i = 0; i < length; i++)
            text[i] = (char)(vd_rng_below(&rng, 2) ? 0x80 + vd_rng_below(&rng, 128)
                                                   : vd_rng_below(&rng, 256));
        for (size_t at = 0, piece; at < length; at += piece) {
            piece = 1 + vd_rng_below(&rng, (uint32_t)(length - at));
            used += vd_safe_text_filter(&filter, text + at, piece, out + used);
        }
        assert_true(used + filter.held_length <= length);
        for (size_t i = 0; i < used; i++)
            assert_true((unsigned char)out[i] >= 0x20 || out[i] == '\n' || out[i] == '\t');
        assert_null(memchr(out, 0x7f, used));
    }
}

static void json_escapes_what_would_be_replaced(void **state)
{
    (void)state;
    static const char json[] = "[\"a\xc2\x9b\xe2\x80\xae\x7f caf\xc3\xa9 \xf3\xa0\x80\x81\"]";
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    vd_safe_output_json(out, json, strlen(json));
    fclose(out);
    assert_string_equal(text, "[\"a\\u009b\\u202e\\u007f caf\xc3\xa9 \\udb40\\udc01\"]");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_people_write_is_kept),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(unseen_characters_are_replaced_on_a_terminal),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(any_bytes_come_out_harmless),
        cmocka_unit_test(json_escapes_what_would_be_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>

#include "engine/base/alloc.h"
#include "tests/support/attentions.h"
#include "tests/support/support.h"
#include "tui/page/html.h"
#include "tui/page/markdown.h"

static char *directory, *path;

static int make_directory(void **state)
{
    (void)state;
    directory = support_temp_dir();
    path = support_join(directory, "page");
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(path);
    free(directory);
    return 0;
}

static void writes(vd_markup_kind kind, const char *text, const char *expected)
{
    vd_error err = {0};
    vd_markup *markup;
    assert_int_equal(vd_markup_create(path, kind, &markup, &err), VD_OK);
    vd_markup_put(markup, "%s", text);
    assert_int_equal(vd_markup_commit(markup, &err), VD_OK);
    char *written = support_read_file(path, NULL);
    assert_string_equal(written, expected);
    free(written);
}

static void no_text_becomes_markup(void **state)
{
    (void)state;
    writes(VD_MARKUP_HTML, "<script>alert(\"1\" & '2')</script>",
           "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
    writes(VD_MARKUP_HTML, "caf\xC3\xA9 \xE7\x8A\xAC %s 100 %",
           "caf\xC3\xA9 \xE7\x8A\xAC %s 100 %");
    writes(VD_MARKUP_HTML, "a\nb\tc\x1B[31m\xC2\x9B", "a b c\xEF\xBF\xBD[31m\xEF\xBF\xBD");
    writes(VD_MARKUP_HTML, "\xFF<\xC3", "\xEF\xBF\xBD&lt;\xEF\xBF\xBD");
    writes(VD_MARKUP_MARKDOWN, "a | *b* <i> `c` [d](e) #1 \\",
           "a \\| \\*b\\* \\<i\\> \\`c\\` "
           "\\[d\\](e) \\#1 \\\\");
    writes(VD_MARKUP_MARKDOWN, "", "");
}

static void numbers_are_written_as_printf_does(void **state)
{
    (void)state;
    vd_error err = {0};
    vd_markup *markup;
    const char *volatile nothing = NULL;
    assert_int_equal(vd_markup_create(path, VD_MARKUP_HTML, &markup, &err), VD_OK);
    vd_markup_put(markup, "%d|%zu|%lld|%ld|%+.3f|%.0f|%%|%s|%s|end", -5, (size_t)7,
                  (long long)INT64_MIN, -9L, 0.12345, 99.6, nothing, "x");
    assert_int_equal(vd_markup_commit(markup, &err), VD_OK);
    char *written = support_read_file(path, NULL);
    assert_string_equal(written, "-5|7|-9223372036854775808|-9|+0.123|100|%||x|end");
    free(written);
}

static void the_first_failure_is_told_and_leaves_no_file(void **state)
{
    (void)state;
    vd_error err = {0};
    vd_markup *markup;
    char *other = support_join(directory, "other");
    size_t before = support_count_entries(directory);
    assert_int_equal(vd_markup_create(other, VD_MARKUP_HTML, &markup, &err), VD_OK);
    vd_markup_put(markup, "something");
    vd_markup_fail(markup, &(vd_error){.status = VD_FORMAT, .text = "the picture is damaged"});
    vd_markup_fail(markup, &(vd_error){.status = VD_IO, .text = "later"});
    support_refused(vd_markup_commit(markup, &err), VD_FORMAT, &err, "the picture is damaged",
                    NULL);
    assert_false(support_exists(other));

    assert_int_equal(vd_markup_create(other, VD_MARKUP_HTML, &markup, &err), VD_OK);
    vd_markup_abort(markup);
    vd_markup_abort(NULL);
    assert_false(support_exists(other));
    assert_int_equal(support_count_entries(directory), before);
    free(other);
    support_refused(vd_markup_create("/nonexistent/x", VD_MARKUP_HTML, &markup, &err), VD_NOT_FOUND,
                    &err, "/nonexistent", NULL);
}

// ---- sheets -------------------------------------------------------------------------------------

// A sheet whose every text is hostile.
#define EVIL "<b>\"'&|*`"

typedef struct fake_sheet {
    vd_reply reply;
    vd_sheet sheet;
    vd_turn said[2];
} fake_sheet;

static float score[] = {3, 2, 1}, probability[] = {0.7f, 0.2f, 0.1f};
static int32_t order[] = {0, 1, 2};
static float context[] = {0.5f, 0.25f, 0.25f}, regions[] = {0.9f, 0.1f};
static vd_attention attentions[4];
static float word_attention[] = {0.5f, 0.5f, 1, 0};
static float boxes[] = {0.1f, 0.1f, 0.4f, 0.5f, 0, 0, 1, 1};
static float relevance[] = {0, 1, 0.5f};
static char evil[] = EVIL, mark[] = "?";
static const char *const texts[] = {EVIL "0", EVIL "1", EVIL "2"};

static fake_sheet hostile(void)
{
    fake_sheet f = {.said = {{evil, evil}, {evil, NULL}}};
    f.reply = (vd_reply){.typed = evil,
                         .question = evil,
                         .words = 2,
                         .word = {evil, mark},
                         .unknown = {true},
                         .cut = 3};
    f.reply.answer = (vd_answer){.candidates = 3,
                                 .score = score,
                                 .probability = probability,
                                 .order = order,
                                 .rounds = 3,
                                 .question_length = 2,
                                 .regions = 2,
                                 .attention = attentions};
    f.reply.answer.attentions =
        support_mvan(&f.reply.answer, context, NULL, word_attention, regions, attentions);
    f.sheet = (vd_sheet){.id = "case-1-3",
                         .title = EVIL,
                         .image_id = 1,
                         .width = 4,
                         .height = 3,
                         .boxes = boxes,
                         .regions = 2,
                         .caption = EVIL,
                         .rounds = 2,
                         .question = EVIL,
                         .human = EVIL,
                         .group = "first",
                         .group_name = EVIL,
                         .family = EVIL,
                         .moved = 0.25,
                         .sides = 2};
    for (int i = 0; i < 2; i++)
        f.sheet.side[i] = (vd_sheet_side){.model = EVIL,
                                          .texts = texts,
                                          .relevance = relevance,
                                          .human = 2,
                                          .chosen = 1,
                                          .judged = true,
                                          .right = i == 1};
    return f;
}

static vd_status write_html(void *context_, vd_error *err)
{
    (void)context_;
    fake_sheet f = hostile();
    f.sheet.history = f.said;
    f.sheet.side[0].reply = f.sheet.side[1].reply = &f.reply;
    uint8_t pixels[4 * 3 * 3] = {0};
    const vd_image image = {4, 3, pixels};
    vd_markup *html;
    vd_status status = vd_html_create(path, EVIL, "compare", &html, err);
    if (status)
        return status;
    vd_html_picture(html, 1, &image);
    vd_html_sheet(html, &f.sheet);
    vd_table table = {0};
    vd_table_add(&table, "%s\tp", EVIL);
    vd_table_row *row = vd_table_add(&table, "%s\t%s", EVIL, EVIL);
    row->range = (vd_table_range){0.1, -0.1, 0.2, 0.2};
    vd_html_table(html, &table);
    vd_table_clear(&table);
    return vd_html_commit(html, err);
}

static void hostile_texts_stay_texts_in_a_page(void **state)
{
    (void)state;
    vd_error err = {0};
    assert_int_equal(write_html(NULL, &err), VD_OK);
    char *page = support_read_file(path, NULL);
    assert_null(strstr(page, EVIL));
    assert_null(strstr(page, "<b>\""));
    assert_non_null(strstr(page, "&lt;b&gt;&quot;&#39;&amp;|*`"));
    assert_non_null(strstr(page, "3 more words were not seen"));
    assert_non_null(strstr(page, "class=\"word unknown\""));
    // Nothing is loaded from anywhere.
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, "https:"));
    assert_null(strstr(page, "src="));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, "url("));
    assert_non_null(strstr(page, "href=\"data:image/png;base64,iVBORw0KGgo"));
    free(page);
}

static void running_out_of_memory_leaves_no_page(void **state)
{
    (void)state;
    unlink(path);
    assert_true(support_fail_each_allocation(write_html, NULL) >= 4);
}

// As wide as it is for what is drawn over it, but with no more pixels than a page shows.
static void a_large_picture_is_stored_smaller(void **state)
{
    (void)state;
    vd_image image;
    vd_markup *html;
    vd_error err = {0};
    assert_int_equal(vd_image_new(3000, 1500, &image, &err), VD_OK);
    for (int i = 0; i < 3 * image.width * image.height; i++)
        image.rgb[i] = (uint8_t)(i * 2654435761u >> 24);
    assert_int_equal(vd_html_create(path, "large", "compare", &html, &err), VD_OK);
    vd_html_picture(html, 1, &image);
    assert_int_equal(vd_html_commit(html, &err), VD_OK);
    vd_image_clear(&image);
    char *page = support_read_file(path, NULL), *data = strstr(page, "png;base64,");
    assert_non_null(strstr(page, "width=\"3000\" height=\"1500\""));
    assert_non_null(data);
    data += strlen("png;base64,");
    data[strcspn(data, "\"")] = '\0';
    gsize size;
    guchar *png = g_base64_decode(data, &size);
    char *file = support_join(directory, "stored.png");
    support_write_file(file, png, size);
    int width, height;
    assert_int_equal(vd_image_size(file, &width, &height, &err), VD_OK);
    assert_int_equal(width, 1280);
    assert_int_equal(height, 640);
    g_free(png);
    free(file);
    free(page);
}

static void a_sheet_in_markdown(void **state)
{
    (void)state;
    vd_error err = {0};
    vd_markup *markup;
    fake_sheet f = hostile();
    f.sheet.history = f.said;
    f.sheet.side[0].reply = f.sheet.side[1].reply = &f.reply;
    f.sheet.title = "Picture 1";
    f.sheet.caption = "a cube";
    char question[] = "is it red", yes[] = "yes";
    f.sheet.question = f.said[0].question = question;
    f.sheet.human = f.said[0].answer = yes;
    f.sheet.sides = 1;
    assert_int_equal(vd_markup_create(path, VD_MARKUP_MARKDOWN, &markup, &err), VD_OK);
    vd_markdown_sheet(markup, &f.sheet);
    assert_int_equal(vd_markup_commit(markup, &err), VD_OK);
    char *page = support_read_file(path, NULL);
    static const char *const wanted[] = {
        "### Picture 1: \\<b\\>",
        "*a cube*\n\n1. is it red? **yes**\n",
        "\n\n**is it red?**\n\nHuman: **yes**\n",
        "| 1 | \\<b\\>\"'\\&\\|\\*\\`0 | 70 % | 0.00 |\n",
        "| 2 | \\<b\\>\"'\\&\\|\\*\\`1 (chosen) | 20 % | 1.00 |\n",
        "| 3 | \\<b\\>\"'\\&\\|\\*\\`2 (human) | 10 % | 0.50 |\n",
        "* looked at region 1: 90 % (0.10 0.10 0.40 0.50); region 2",
        "* drew on the caption: 50 %; round 1: 25 %; round 2: 25 %\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!strstr(page, wanted[i]))
            print_error("missing: %s\nin: %s\n", wanted[i], page);
        assert_non_null(strstr(page, wanted[i]));
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_text_becomes_markup),
        cmocka_unit_test(numbers_are_written_as_printf_does),
        cmocka_unit_test(the_first_failure_is_told_and_leaves_no_file),
        cmocka_unit_test(hostile_texts_stay_texts_in_a_page),
        cmocka_unit_test(running_out_of_memory_leaves_no_page),
        cmocka_unit_test(a_large_picture_is_stored_smaller),
        cmocka_unit_test(a_sheet_in_markdown),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

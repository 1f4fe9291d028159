// The page of `visdial caption --html` in a browser: words are stepped through, clicked and played,
// both captions together; links and curves of captioners that look back; layers and
// heads are chosen; no motion where a reader
// wants none; all words without scripts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/model/captioner.h"
#include "tests/support/browser.h"
#include "tests/support/program.h"
#include "tests/support/random_model.h"
#include "tests/support/support.h"

static char *directory, *one, *two;
static support_browser browser;

// Words w0 to w8, regions as the bundled ones are.
static char *looks_back(void)
{
    const vd_caption_config caption = {.captioner = VD_CAPTIONER_CAT,
                                       .vocab = 13,
                                       .region = 372,
                                       .hidden = 8,
                                       .embed = 3,
                                       .heads = 2,
                                       .layers = 2,
                                       .inner = 8,
                                       .shared = 1};
    const vd_config config = vd_config_of_captioner(&caption);
    char *path = support_join(directory, "cat.safetensors");
    support_write_random_model(&config, path);
    return path;
}

static void write_page(const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
}

static int open_page(void **state)
{
    (void)state;
    directory = support_temp_dir();
    one = support_join(directory, "one.html");
    two = support_join(directory, "two.html");
    char *cat = looks_back();
    write_page((const char *const[]){"caption", "--assets", "assets", "--image", "1000003",
                                     "--html", one, NULL});
    write_page((const char *const[]){"caption", "--assets", "assets", "--image", "1000003",
                                     "--model", cat, "--begin", "w1 w2 w3 w4 w5", "--html", two,
                                     NULL});
    free(cat);
    support_browser_start(&browser, 1400, 1000);
    return 0;
}

static int close_page(void **state)
{
    (void)state;
    support_browser_stop(&browser);
    support_remove_tree(directory);
    free(one);
    free(two);
    free(directory);
    return 0;
}

static void expect(const char *expression, const char *expected)
{
    char *value = support_browser_value(&browser, expression);
    if (strcmp(value, expected) != 0)
        print_error("%s is %s\n", expression, value);
    assert_string_equal(value, expected);
    free(value);
}

#define WORDS "document.querySelectorAll('.caption-word')"
#define NOW   "[...document.querySelectorAll('.caption-word.now')].map(w => w.firstChild.data).join()"
#define SEEN                                                                                       \
    "[...document.querySelectorAll('.step')].filter(a => getComputedStyle(a).display !== 'none')"

static void words_are_stepped_through(void **state)
{
    (void)state;
    int faults = browser.faults;
    support_browser_open(&browser, one, "");
    expect("document.title", "Picture 1000003, word by word");
    expect("performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:'))"
           ".length",
           "0");
    expect(SEEN ".length", "1");
    expect(NOW " === " WORDS "[0].firstChild.data", "true");
    support_browser_key(&browser, "ArrowRight");
    support_browser_key(&browser, "ArrowRight");
    expect("document.querySelector('.caption-word.now') === " WORDS "[2]", "true");
    expect(SEEN "[0].dataset.row", "2");
    expect(SEEN "[0].querySelectorAll('svg .region').length > 0", "true");
    expect(SEEN "[0].querySelectorAll('.ranking tbody tr').length", "5");
    expect(SEEN "[0].textContent.includes(' bits')", "true");
    support_browser_key(&browser, "ArrowLeft");
    expect("document.querySelector('.caption-word.now') === " WORDS "[1]", "true");
    support_browser_key(&browser, "End");
    expect(NOW, "(end)");
    support_browser_key(&browser, "ArrowRight"); // stops at the last
    expect(NOW, "(end)");
    support_browser_key(&browser, "Home");
    expect("document.querySelector('.caption-word.now') === " WORDS "[0]", "true");
    support_browser_click(&browser, ".caption-word:nth-child(4)");
    expect("document.querySelector('.caption-word.now') === " WORDS "[3]", "true");
    expect("document.querySelectorAll('.caption-word[aria-pressed=true]').length", "1");
    support_browser_click(&browser, "[data-go=forth]");
    support_browser_click(&browser, "[data-go=back]");
    expect("document.querySelector('.caption-word.now') === " WORDS "[3]", "true");
    expect("document.querySelectorAll('.chart').length", "0"); // it does not look back
    expect("document.querySelector('.verdict b').textContent.length > 4", "true");
    assert_int_equal(browser.faults, faults);
}

// With a clock of the test's own.
static void it_plays_and_pauses(void **state)
{
    (void)state;
    support_browser_open(&browser, one, "");
    expect("(window.setInterval = f => { window.turn = f; return 7; }, "
           "window.clearInterval = n => { window.ended = n; }, 1)",
           "1");
    support_browser_click(&browser, "[data-go=play]");
    expect("document.querySelector('[data-go=play]').textContent", "Pause");
    expect("(turn(), turn(), document.querySelector('.caption-word.now') === " WORDS "[2])",
           "true");
    support_browser_key(&browser, "Escape");
    expect("window.ended + document.querySelector('[data-go=play]').textContent", "7Play");
    expect("(document.activeElement.blur(), 1)", "1");
    support_browser_key(&browser, "End");
    support_browser_key(&browser, " "); // from the beginning
    expect("document.querySelector('.caption-word.now') === " WORDS "[0]", "true");
    expect("([..." WORDS "].forEach(() => turn()), " NOW ")", "(end)");
    expect("document.querySelector('[data-go=play]').textContent", "Play"); // at the end
}

static void nothing_moves_where_a_reader_wants_that(void **state)
{
    (void)state;
    support_browser_still(&browser, true);
    support_browser_open(&browser, one, "");
    expect("getComputedStyle(document.querySelector('[data-go=play]')).display", "none");
    expect("(window.setInterval = () => { window.moved = 1; }, 1)", "1");
    support_browser_key(&browser, " ");
    expect("typeof window.moved", "undefined");
    expect("getComputedStyle(document.querySelector('.step.now .region')).animationName", "none");
    support_browser_key(&browser, "ArrowRight"); // by hand as ever
    expect("document.querySelector('.caption-word.now') === " WORDS "[1]", "true");
    support_browser_still(&browser, false);
    expect("getComputedStyle(document.querySelector('.step.now .region')).animationName", "appear");
}

// Both captions go together, by rows of the alignment; differing words are marked.
static void two_captions_go_together(void **state)
{
    (void)state;
    support_browser_open(&browser, two, "");
    expect("document.querySelectorAll('section.side').length", "2");
    expect("document.querySelectorAll('.numbers tbody tr').length", "2");
    expect("document.querySelectorAll('.differs').length > 0", "true");
    expect("[...document.querySelectorAll('.side-1 .caption-word')].slice(0, 5).map(w => "
           "w.firstChild.data).join()",
           "w1,w2,w3,w4,w5");
    support_browser_key(&browser, "End");
    expect("[...document.querySelectorAll('.caption-word.now')].every(w => w.dataset.row === "
           "document.querySelector('.step.now').dataset.row)",
           "true");
    expect(SEEN ".length", "2");
}

// A curve and the line of equal scores for each; links to earlier words of the word that is
// selected, the wider the more.
static void what_looks_back_has_links_and_a_curve(void **state)
{
    (void)state;
    support_browser_open(&browser, two, "");
    expect("document.querySelectorAll('.chart').length", "2");
    expect("document.querySelectorAll('.side-0 .curve.chance').length", "1");
    expect("document.querySelectorAll('.side-0 .curve.thin:not(.away)').length", "1");
    // t / (P + t) with 4 regions: 1/5 at the first word, 2/6 at the second.
    expect("document.querySelector('.side-1 .curve.chance').getAttribute('points').split(' ')"
           ".slice(0, 2).join(' ')",
           "32.0,54.4 96.0,46.7");
    support_browser_click(&browser, ".side-1 .caption-word:nth-child(5)");
    expect("[...document.querySelectorAll('.side-1 .links')].filter(l => getComputedStyle(l)"
           ".display !== 'none').length",
           "1");
    expect("document.querySelectorAll('.side-1 .links.now:not(.away) .link').length > 0", "true");
    expect("[...document.querySelectorAll('.links .link')].every(l => (parseFloat(l.getAttribute("
           "'stroke-width')) - 1) / 8 > 0.04)",
           "true");
    expect("document.querySelectorAll('.links.now:not(.away) .own').length <= 2", "true");
    expect("document.documentElement.scrollWidth <= innerWidth", "true");
    support_browser_size(&browser, 500, 900);
    expect("document.documentElement.scrollWidth <= innerWidth", "true");
    vd_image seen = support_browser_screenshot(&browser, "caption-narrow");
    vd_image_clear(&seen);
    support_browser_size(&browser, 1400, 1000);
    seen = support_browser_screenshot(&browser, "caption");
    vd_image_clear(&seen);
}

#define FIGURES "[...document.querySelectorAll('.step figure')].map(f => f.innerHTML).join()"
#define CHOSEN                                                                                     \
    "[...document.querySelectorAll('[data-choose]')].map(c => c.dataset.choose + c.value).join()"

// Round to where it began: what the script draws is what the page came with.
static void layers_and_heads_are_chosen(void **state)
{
    (void)state;
    int faults = browser.faults;
    support_browser_open(&browser, one, "");
    expect(CHOSEN, "layer1,head-1"); // of 2 layers and 4 heads
    expect("(window.first = " FIGURES ", window.first.length > 1000)", "true");
    support_browser_key(&browser, "h");
    expect(CHOSEN, "layer1,head0");
    expect("window.first === " FIGURES, "false");
    expect(SEEN "[0].querySelectorAll('svg .region').length === " SEEN
                "[0].querySelectorAll('svg .label').length",
           "true");
    expect(SEEN "[0].querySelectorAll('svg .region').length === " SEEN
                "[0].querySelectorAll('li').length",
           "true");
    for (int i = 0; i < 4; i++)
        support_browser_key(&browser, "h");
    expect(CHOSEN, "layer1,head-1");
    expect("window.first === " FIGURES, "true");
    support_browser_key(&browser, "l");
    expect(CHOSEN, "layer0,head-1");
    expect("window.first === " FIGURES, "false");
    support_browser_key(&browser, "l");
    expect("window.first === " FIGURES, "true");
    assert_int_equal(browser.faults, faults);
}

// A region's share in the mean is the mean of its shares in the heads, in every layer; looks are
// listed to nine tenths, so that not every region is in all of them.
static void the_mean_is_over_the_heads(void **state)
{
    (void)state;
    support_browser_open(&browser, one, "");
    expect("(window.looks = [...document.querySelectorAll('figure')].map(f => "
           "f.dataset.looks.split('|').map(l => Object.fromEntries(l.split(';').slice(1).map(r => "
           "[r.split(',')[0], Number(r.split(',')[2])])))), looks[0].length)",
           "10");
    expect(
        "(window.apart = looks.flatMap(f => [0, 5].flatMap(m => Object.keys(f[m]).filter(r => "
        "[1, 2, 3, 4].every(h => r in f[m + h])).map(r => Math.abs(f[m][r] - [1, 2, 3, 4].reduce("
        "(s, h) => s + f[m + h][r] / 4, 0))))), apart.length > 0 && Math.max(...apart) < 0.0002)",
        "true");
}

// Of captioners that look back also the curve, the links and the number.
static void what_looks_back_has_them_for_each_head(void **state)
{
    (void)state;
    support_browser_open(&browser, two, "");
    expect("(window.points = () => [...document.querySelectorAll('.curve.own:not(.away)')].map("
           "c => c.getAttribute('points')), window.before = points(), before.length)",
           "2");
    expect("document.querySelector('.drawn').parentElement.querySelectorAll('.drawn:not(.away)')"
           ".length",
           "1");
    support_browser_key(&browser, "h");
    expect("points().length === 2 && points().every((p, i) => p !== before[i])", "true");
    expect("document.querySelector('.side-0 .curve.thin:not(.away)').getAttribute('points') === "
           "points()[1].split(' ').slice(0, document.querySelector('.side-0 .curve.thin:not(.away)'"
           ").getAttribute('points').trim().split(' ').length).join(' ') + ' '",
           "true");
    expect("new Set([...document.querySelectorAll('.links:not(.away)')].map(l => "
           "l.dataset.look)).size",
           "1");
    support_browser_key(&browser, "h");
    support_browser_key(&browser, "h"); // two heads, then the mean
    expect("points().join() === before.join()", "true");
}

static void a_page_is_small(void **state)
{
    (void)state;
    size_t size;
    free(support_read_file(one, &size));
    assert_true(size < 300000);
}

static void without_scripts_all_words_are_there(void **state)
{
    (void)state;
    support_browser_scripts(&browser, false);
    support_browser_open(&browser, one, "");
    expect(SEEN ".length === " WORDS ".length", "true");
    support_browser_open(&browser, two, "");
    expect("document.querySelectorAll('.curve.own:not(.away)').length", "2");
    support_browser_scripts(&browser, true);
}

static void pages_in_a_browser(void **state)
{
    (void)state;
    support_skip("chromium, which make deps installs");
}

int main(void)
{
    const struct CMUnitTest none[] = {cmocka_unit_test(pages_in_a_browser)};
    if (!support_browser_here())
        return cmocka_run_group_tests(none, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_stepped_through),
        cmocka_unit_test(it_plays_and_pauses),
        cmocka_unit_test(nothing_moves_where_a_reader_wants_that),
        cmocka_unit_test(two_captions_go_together),
        cmocka_unit_test(what_looks_back_has_links_and_a_curve),
        cmocka_unit_test(layers_and_heads_are_chosen),
        cmocka_unit_test(the_mean_is_over_the_heads),
        cmocka_unit_test(what_looks_back_has_them_for_each_head),
        cmocka_unit_test(a_page_is_small),
        cmocka_unit_test(without_scripts_all_words_are_there),
    };
    return cmocka_run_group_tests(tests, open_page, close_page);
}

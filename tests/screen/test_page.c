// The pages of `visdial compare` and of transcripts in a browser, as a person uses them: clicked
// through, filtered, with keys, printed, without scripts, and looked at.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/browser.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tui/transcript/transcript.h"

static char *directory, *page;
static support_browser browser;

// The bundled models on bundled pictures: outlines and rankings as people get them.
static int open_page(void **state)
{
    (void)state;
    directory = support_temp_dir();
    page = support_join(directory, "compare.html");
    support_program run;
    support_program_run(&run,
                        (const char *const[]){"compare", "--quiet", "--assets", "assets", "--limit",
                                              "12", "--cases", "4", "--resamples", "200", "--html",
                                              page, NULL},
                        NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    support_browser_start(&browser, 1400, 1000);
    return 0;
}

static int close_page(void **state)
{
    (void)state;
    support_browser_stop(&browser);
    support_remove_tree(directory);
    free(page);
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

#define SEEN                                                                                       \
    "[...document.querySelectorAll('article.case')].filter(a => getComputedStyle(a).display !== "  \
    "'none')"
#define LISTED                                                                                     \
    "[...document.querySelectorAll('#list li')].filter(a => getComputedStyle(a).display !== "      \
    "'none')"

static void nothing_is_loaded_and_nothing_fails(void **state)
{
    (void)state;
    support_browser_open(&browser, page, "");
    expect("document.title", "base and improved, question by question");
    expect("performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:'))"
           ".length",
           "0");
    assert_true(support_browser_number(&browser, "document.querySelectorAll('article').length") >
                8);
    if (browser.faults)
        print_error("the page reported: %s\n", browser.fault);
    assert_int_equal(browser.faults, 0);
}

static void cases_are_gone_through_by_mouse_and_keys(void **state)
{
    (void)state;
    support_browser_open(&browser, page, "");
    expect(SEEN ".length", "1");
    expect(SEEN "[0].id === document.querySelector('#list a').hash.slice(1)", "true");
    support_browser_click(&browser, "#list li:nth-child(3) a");
    expect(SEEN ".length", "1");
    expect(SEEN "[0].id === document.querySelectorAll('#list a')[2].hash.slice(1)", "true");
    expect("document.querySelectorAll('#list [aria-current]').length", "1");
    support_browser_key(&browser, "j");
    expect(SEEN "[0].id === document.querySelectorAll('#list a')[3].hash.slice(1)", "true");
    expect("location.hash === document.querySelectorAll('#list a')[3].hash", "true");
    support_browser_key(&browser, "k");
    support_browser_key(&browser, "k");
    expect(SEEN "[0].id === document.querySelectorAll('#list a')[1].hash.slice(1)", "true");
    for (int i = 0; i < 5; i++)
        support_browser_key(&browser, "k"); // stops at the first
    expect(SEEN "[0].id === document.querySelectorAll('#list a')[0].hash.slice(1)", "true");
    support_browser_key(&browser, "ArrowDown"); // the focus is in the list
    expect(SEEN "[0].id === document.querySelectorAll('#list a')[1].hash.slice(1)", "true");

    // A link to a case opens it.
    char *hash = support_browser_value(&browser, "document.querySelectorAll('#list a')[4].hash");
    support_browser_open(&browser, page, hash);
    expect("'#' + " SEEN "[0].id", hash);
    free(hash);
}

static void cases_are_filtered_and_ordered(void **state)
{
    (void)state;
    support_browser_open(&browser, page, "");
    char *all = support_browser_value(&browser, LISTED ".length");
    support_browser_click(&browser, "button[data-group=both]");
    expect(LISTED ".some(l => l.className.includes('group-both'))", "false");
    expect("document.querySelector('button[data-group=both]').getAttribute('aria-pressed')",
           "false");
    expect(SEEN "[0].dataset.group !== 'both'", "true");
    support_browser_key(&browser, "4");
    expect(LISTED ".some(l => l.className.includes('group-neither'))", "false");
    support_browser_key(&browser, "4");
    expect(LISTED ".some(l => l.className.includes('group-neither'))", "true");
    support_browser_key(&browser, "Escape");
    expect(LISTED ".length", all);

    support_browser_key(&browser, "/");
    expect("document.activeElement.id", "find");
    const char *word = "jzq"; // keys of the page when not typed into a field
    for (; *word; word++)
        support_browser_key(&browser, (const char[]){*word, '\0'});
    expect("document.querySelector('#find').value", "jzq");
    expect(LISTED ".length", "0");
    expect("getComputedStyle(document.querySelector('.none')).display", "block");
    support_browser_key(&browser, "Escape");
    expect(LISTED ".length", all);

    expect("(() => { const f = document.querySelector('#family'); f.value = "
           "document.querySelector('article').dataset.family; f.dispatchEvent(new "
           "Event('change')); return " LISTED ".length > 0 && " SEEN
           "[0].dataset.family === f.value; })()",
           "true");
    support_browser_key(&browser, "Escape");
    expect("(() => { const o = document.querySelector('#order'); o.value = 'dialog'; "
           "o.dispatchEvent(new Event('change')); const ids = " LISTED
           ".map(l => l.firstChild.hash.split('-').slice(1).map(Number)); return ids.every((x, i) "
           "=> !i || ids[i - 1][0] < x[0] || (ids[i - 1][0] === x[0] && ids[i - 1][1] < x[1])); "
           "})()",
           "true");
    free(all);
}

// ---- by screenshot ------------------------------------------------------------------------------

static const uint8_t *pixel(const vd_image *image, double x, double y)
{
    int column = (int)x, row = (int)y;
    assert_true(column >= 0 && column < image->width && row >= 0 && row < image->height);
    return image->rgb + ((size_t)row * (size_t)image->width + (size_t)column) * 3;
}

static bool near(const uint8_t *rgb, int r, int g, int b, int most)
{
    return abs(rgb[0] - r) <= most && abs(rgb[1] - g) <= most && abs(rgb[2] - b) <= most;
}

// Pictures, outlines and bars are where the page says they are, in their colours.
static void what_is_seen_is_what_is_there(void **state)
{
    (void)state;
    support_browser_open(&browser, page, "");
    expect("(document.querySelector('#cases').scrollIntoView(), 1)", "1");
    char name[64], *id = support_browser_value(&browser, SEEN "[0].id");
    long image = strtol(id + strlen("case-"), NULL, 10);
    free(id);
    snprintf(name, sizeof name, "assets/pictures/%ld.png", image);
    vd_image source, seen = support_browser_screenshot(&browser, "cases");
    vd_error err;
    assert_int_equal(vd_image_read(name, &source, &err), VD_OK);
    for (int side = 0; side < 2; side++) {
        double box[4];
        static const char *const edges[] = {"left", "top", "width", "height"};
        char expression[400];
        for (int i = 0; i < 4; i++) {
            snprintf(expression, sizeof expression,
                     SEEN "[0].querySelectorAll('svg.picture')[%d].getBoundingClientRect().%s",
                     side, edges[i]);
            box[i] = support_browser_number(&browser, expression);
        }
        assert_true(box[2] > 300 &&
                    fabs(box[2] / box[3] - (double)source.width / source.height) < 0.05);
        // The upper rows of the bundled pictures are background, which no outline crosses.
        int good = 0;
        for (int i = 1; i < 20; i++) {
            const uint8_t *from = pixel(&source, source.width * i / 20.0, source.height * 0.04);
            const uint8_t *shown = pixel(&seen, box[0] + box[2] * i / 20, box[1] + box[3] * 0.04);
            good += near(shown, from[0], from[1], from[2], 12);
        }
        assert_true(good >= 18);
        // The strongest region's outline: the middle of its lower edge.
        for (int i = 0; i < 2; i++) {
            snprintf(expression, sizeof expression,
                     "((r) => %s)([..." SEEN "[0].querySelectorAll('section.side')[%d]."
                     "querySelectorAll('.region .line')].pop().getBoundingClientRect())",
                     i ? "r.bottom" : "r.left + r.width / 2", side);
            box[i] = support_browser_number(&browser, expression);
        }
        bool yellow = false;
        for (int dy = -4; dy <= 4 && box[1] + dy < seen.height; dy++)
            yellow |= near(pixel(&seen, box[0], box[1] + dy), 0xFF, 0xD8, 0x4A, 40);
        assert_true(yellow);
    }
    vd_image_clear(&source);
    vd_image_clear(&seen);
}

static void it_prints_and_reads_without_scripts(void **state)
{
    (void)state;
    support_browser_open(&browser, page, "");
    int articles =
        (int)support_browser_number(&browser, "document.querySelectorAll('article').length");
    support_browser_media(&browser, "print");
    assert_int_equal(support_browser_number(&browser, SEEN ".length"), articles);
    expect("getComputedStyle(document.querySelector('.tools')).display", "none");
    support_browser_media(&browser, "");
    int pages = support_browser_printed(&browser);
    // A page for each case, and for the numbers.
    if (pages < articles || pages > articles + 2)
        print_error("%d pages for %d cases\n", pages, articles);
    assert_true(pages >= articles && pages <= articles + 2);

    support_browser_scripts(&browser, false);
    support_browser_open(&browser, page, "");
    assert_int_equal(support_browser_number(&browser, SEEN ".length"), articles);
    support_browser_scripts(&browser, true);
}

// Regions light up under the mouse, and where the focus is: each with its line below the picture.
static void regions_light_up(void **state)
{
    (void)state;
    support_browser_open(&browser, page, "");
    expect("(" SEEN "[0].scrollIntoView(), document.querySelectorAll('.lit').length)", "0");
    // By falling share; each with its number in the picture.
    char lit[64],
        *first = support_browser_value(&browser, SEEN "[0].querySelector('.side-0 .regions "
                                                      "li b').textContent"),
        *last = support_browser_value(
            &browser,
            "[..." SEEN "[0].querySelectorAll('.side-1 .regions li b')].pop().textContent");
    expect("([..." SEEN "[0].querySelectorAll('.side-1 .regions li')].pop().focus(), "
           "document.activeElement.dataset.region)",
           last);
    snprintf(lit, sizeof lit, "side side-1 %s", last);
    expect("[...new Set([..." SEEN "[0].querySelectorAll('.lit')].map(e => "
           "e.closest('.side').className + ' ' + e.dataset.region))].join()",
           lit);
    expect(SEEN "[0].querySelectorAll('.lit').length", "3"); // outline, label, line
    support_browser_click(&browser, "article:not(.away) .side-0 .regions li");
    snprintf(lit, sizeof lit, "side side-0 %s", first);
    expect("[...new Set([..." SEEN "[0].querySelectorAll('.lit')].map(e => "
           "e.closest('.side').className + ' ' + e.dataset.region))].join()",
           lit);
    free(first);
    free(last);
}

// From a wide window to a telephone's: tables beside each other, then one below the other, models
// too; nothing but a table's own box is scrolled sideways.
static void it_fits_every_width(void **state)
{
    (void)state;
    static const struct {
        int width;
        const char *tables, *models;
    } sizes[] = {{1400, "2", "2"}, {1000, "1", "2"}, {640, "1", "1"}, {360, "1", "1"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        support_browser_size(&browser, sizes[i].width, 900);
        support_browser_open(&browser, page, "");
        expect("document.documentElement.scrollWidth <= innerWidth", "true");
        expect("new Set([...document.querySelectorAll('.slices > .scroll')].map(s => "
               "Math.round(s.getBoundingClientRect().left))).size",
               sizes[i].tables);
        expect("new Set([..." SEEN "[0].querySelectorAll('section.side')].map(s => "
               "Math.round(s.getBoundingClientRect().left))).size",
               sizes[i].models);
    }
    // What is cut off there can be reached.
    expect("[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth)"
           ".every(s => (s.scrollLeft = 1000, s.scrollLeft > 0))",
           "true");
    expect("document.querySelector('.scroll').scrollLeft > 0", "true");
    vd_image seen = support_browser_screenshot(&browser, "narrow");
    vd_image_clear(&seen);
    support_browser_size(&browser, 1400, 1000);
}

// Four models: a column each, the first one's colours everywhere, gone through by keys alone, read
// in print.
static void four_models_are_compared_in_one_page(void **state)
{
    (void)state;
    char *html = support_join(directory, "four.html");
    support_program run;
    support_program_run(&run, (const char *const[]){"compare",     "--quiet",
                                                    "--assets",    "assets",
                                                    "--limit",     "6",
                                                    "--cases",     "2",
                                                    "--resamples", "100",
                                                    "--model",     "base",
                                                    "--model",     "improved",
                                                    "--model",     "assets/base.safetensors",
                                                    "--model",     "assets/improved.safetensors",
                                                    "--html",      html,
                                                    NULL},
                        NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    int faults = browser.faults;
    support_browser_open(&browser, html, "");
    expect("document.title",
           "base (1), improved (2), base (3) and improved (4), question by question");
    expect("document.querySelectorAll('#numbers h2.pair').length", "3");
    expect(SEEN "[0].querySelectorAll('section.side').length", "4");
    expect(SEEN "[0].querySelectorAll('svg.picture').length", "4");
    // The same weights: the same ranking, no move against the first; two columns of two.
    expect("[..." SEEN "[0].querySelectorAll('.side-2 .move')].every(m => m.textContent === '=')",
           "true");
    expect(SEEN "[0].querySelectorAll('section.side-0 .move').length", "0");
    expect("new Set([..." SEEN "[0].querySelectorAll('section.side')].map(s => "
           "Math.round(s.getBoundingClientRect().left))).size",
           "2");
    expect("document.querySelector('#list .marks').textContent.length", "4");
    expect("document.documentElement.scrollWidth <= innerWidth", "true");
    expect("new Set([0, 1, 2, 3].map(i => getComputedStyle(" SEEN
           "[0].querySelector('section.side-' + i)).borderTopColor)).size",
           "4");
    support_browser_key(&browser, "j");
    expect(SEEN "[0].id === document.querySelectorAll('#list a')[1].hash.slice(1)", "true");
    support_browser_key(&browser, "1");
    expect(LISTED ".some(l => l.className.includes('group-both'))", "false");
    support_browser_key(&browser, "Escape");
    int articles =
        (int)support_browser_number(&browser, "document.querySelectorAll('article').length");
    support_browser_media(&browser, "print");
    expect("new Set([..." SEEN "[0].querySelectorAll('section.side')].map(s => "
           "Math.round(s.getBoundingClientRect().left))).size",
           "2");
    support_browser_media(&browser, "");
    int pages = support_browser_printed(&browser);
    if (pages < articles || pages > 3 * articles + 6)
        print_error("%d pages for %d cases\n", pages, articles);
    assert_true(pages >= articles && pages <= 3 * articles + 6);
    assert_int_equal(browser.faults, faults);
    vd_image seen = support_browser_screenshot(&browser, "four");
    vd_image_clear(&seen);
    free(html);
}

// A chat's page: all of it is shown, j and k go from question to question.
static void a_transcript_is_read(void **state)
{
    (void)state;
    char *log = support_join(directory, "chat.jsonl"), *html = support_join(directory, "chat.html");
    vd_world *world;
    vd_transcript *transcript;
    vd_session *session;
    vd_error err = {0};
    const char *questions[] = {"how many balls are there?", "what is <b>it</b> made of"};
    const char *texts[2000];
    vd_turn history[2] = {{0}};
    assert_int_equal(vd_world_open_files(&(vd_world_files){.directory = "assets"}, &world, &err),
                     VD_OK);
    assert_true(world->pool.count < 2000);
    assert_int_equal(vd_session_new(world, "improved", &session, &err), VD_OK);
    assert_int_equal(vd_session_picture(session, 0, &err), VD_OK);
    assert_int_equal(vd_transcript_start(log, &transcript, &err), VD_OK);
    for (size_t i = 0; i < world->pool.count; i++)
        texts[i] = vd_session_texts(session)[i];
    for (int i = 0; i < 2; i++) {
        vd_reply reply;
        vd_sheet sheet = {
            .image_id = vd_world_image_id(world, 0),
            .caption = vd_world_caption(world, 0),
            .history = history,
            .rounds = i,
            .sides = 1,
            .side = {{.name = "improved", .model = "improved", .reply = &reply, .texts = texts}}};
        sheet.boxes = session->regions.boxes;
        sheet.regions = session->regions.count;
        assert_int_equal(vd_session_continue(session, history, i, NULL, &err), VD_OK);
        assert_int_equal(vd_session_ask(session, questions[i], NULL, &reply, &err), VD_OK);
        assert_int_equal(vd_transcript_answer(transcript, &sheet, &err), VD_OK);
        history[i] = (vd_turn){(char *)questions[i], (char *)texts[reply.answer.order[0]]};
        vd_reply_clear(&reply);
    }
    const vd_chat_record dialog = {.image_id = vd_world_image_id(world, 0),
                                   .caption = (char *)vd_world_caption(world, 0),
                                   .rounds = history,
                                   .count = 2};
    assert_int_equal(vd_transcript_conversation(transcript, &dialog, &err), VD_OK);
    vd_transcript_close(transcript);
    vd_transcript_file file;
    assert_int_equal(vd_transcript_read(log, &file, &err), VD_OK);
    assert_int_equal(vd_transcript_html(&file, world, html, &err), VD_OK);
    vd_transcript_clear(&file);
    vd_session_free(session);
    vd_world_close(world);

    int faults = browser.faults;
    support_browser_open(&browser, html, "");
    expect(SEEN ".length", "2");
    expect("document.querySelectorAll('svg.picture').length", "3");
    expect("document.querySelectorAll('.question')[1].textContent", "what is <b>it</b> made of?");
    support_browser_key(&browser, "j");
    expect("document.activeElement.id", "dialog-1-1");
    support_browser_key(&browser, "j");
    expect("document.activeElement.id", "dialog-1-2");
    support_browser_key(&browser, "k");
    expect("document.activeElement.id", "dialog-1-1");
    vd_image seen = support_browser_screenshot(&browser, "transcript");
    vd_image_clear(&seen);
    assert_int_equal(browser.faults, faults);
    free(html);
    free(log);
}

// `make test` does without a browser, which is large; `make deps` installs it, and .ci/run does.
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
        cmocka_unit_test(nothing_is_loaded_and_nothing_fails),
        cmocka_unit_test(cases_are_gone_through_by_mouse_and_keys),
        cmocka_unit_test(cases_are_filtered_and_ordered),
        cmocka_unit_test(what_is_seen_is_what_is_there),
        cmocka_unit_test(it_prints_and_reads_without_scripts),
        cmocka_unit_test(regions_light_up),
        cmocka_unit_test(it_fits_every_width),
        cmocka_unit_test(four_models_are_compared_in_one_page),
        cmocka_unit_test(a_transcript_is_read),
    };
    return cmocka_run_group_tests(tests, open_page, close_page);
}

// The screen of the cases: keys are played to it, the screens are compared with
// tests/screen/expected/cases.txt (VISDIAL_UPDATE=1 writes it instead). Groups, ranks and answers
// are made up, so that they are the same on every machine.
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/alloc.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "tui/view_cases.h"

static tiny_world tiny;
static vd_corpus corpus;
static vd_cases *cases;
static vd_cases_view view;
static vd_grid grid;
static const vd_case_filter by_human = {.by = VD_RIGHT_HUMAN};

// ---- made-up cases ------------------------------------------------------------------------------

static void make_up(vd_case *at, size_t i)
{
    const vd_visdial_round *round = vd_case_round(cases, at);
    at->moved = (float)(i * 5 % 12) / 12;
    for (int side = 0; side < 2; side++) {
        bool right = side == 0 ? i & 1 : i >> 1 & 1;
        vd_metrics metrics = {.rounds = 1,
                              .rank = right ? 1 : 3,
                              .reciprocal = right ? 1 : 1.0 / 3,
                              .dense_rounds = 1,
                              .ndcg = right ? 0.9 : 0.4,
                              .correct = !right};
        metrics.recall[0] = right;
        at->side[side] = (vd_case_side){.metrics = metrics,
                                        .rank = right ? 1 : 3,
                                        .first = right ? round->truth : (round->truth + 1) % 4};
    }
}

static float *copied(const float *from, size_t count)
{
    float *to = vd_alloc(count, sizeof *to);
    assert_non_null(to);
    memcpy(to, from, count * sizeof *to);
    return to;
}

static vd_reply make_reply(const vd_case *at, int side)
{
    static const float probability[] = {0.62f, 0.25f, 0.12f, 0.01f};
    static const float regions[2][3] = {{0.7f, 0.2f, 0.1f}, {0.05f, 0.15f, 0.8f}};
    static const float words[3 * 2] = {0.9f, 0.1f, 0.5f, 0.5f, 0.3f, 0.7f};
    static const float rounds[] = {0.5f, 0.3f, 0.2f};
    vd_reply reply = {.words = 2};
    reply.word = vd_alloc(2, sizeof *reply.word);
    reply.unknown = vd_alloc(2, sizeof *reply.unknown);
    assert_true(reply.word && reply.unknown);
    reply.word[0] = vd_strdup("cube");
    reply.word[1] = vd_strdup("?");
    vd_answer *answer = &reply.answer;
    *answer = (vd_answer){.candidates = 4, .rounds = at->round + 1, .question_length = 2};
    answer->regions = 3;
    answer->probability = vd_alloc(4, sizeof(float));
    answer->score = vd_alloc(4, sizeof(float));
    answer->order = vd_alloc(4, sizeof *answer->order);
    assert_true(answer->probability && answer->score && answer->order);
    for (int i = 0; i < 4; i++) {
        answer->order[i] = (at->side[side].first + i) % 4;
        answer->probability[answer->order[i]] = probability[i];
    }
    answer->region_attention = copied(regions[side], 3);
    answer->word_attention = copied(words, 6);
    answer->context_attention = copied(rounds, (size_t)answer->rounds);
    return reply;
}

static void serve(void)
{
    vd_request request;
    while (vd_cases_view_take_request(&view, &request)) {
        static const float boxes[] = {0.1f, 0.1f, 0.4f, 0.6f, 0.5f, 0.2f,
                                      0.9f, 0.5f, 0.3f, 0.6f, 0.8f, 0.95f};
        vd_event event = {.kind = request.kind, .case_index = request.index};
        const vd_case *at = &cases->at[request.index];
        event.case_answers = vd_alloc(1, sizeof *event.case_answers);
        assert_non_null(event.case_answers);
        *event.case_answers = (vd_case_answers){.reply = {make_reply(at, 0), make_reply(at, 1)},
                                                .boxes = copied(boxes, 12),
                                                .regions = 3};
        vd_cases_view_event(&view, &event);
        vd_request_clear(&request);
    }
}

static int open_view(void **state)
{
    (void)state;
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    tiny_world_make(&tiny);
    vd_error err = {0};
    const vd_corpus_paths paths = {
        .data = tiny.val, .features = tiny.features, .dense = tiny.dense};
    const vd_cases_options options = {.model = {tiny.base, tiny.improved}};
    assert_int_equal(vd_corpus_open(&paths, &corpus, &err), VD_OK);
    assert_int_equal(vd_cases_new(&corpus, &options, &cases, &err), VD_OK);
    for (size_t i = 0; i < cases->count; i++)
        make_up(&cases->at[i], i);
    return 0;
}

static int close_view(void **state)
{
    (void)state;
    vd_grid_free(&grid);
    vd_cases_free(cases);
    vd_corpus_close(&corpus);
    tiny_world_remove(&tiny);
    return 0;
}

// ---- playing ------------------------------------------------------------------------------------

static void play(const char *keys)
{
    char copy[200], *rest = copy, *name;
    snprintf(copy, sizeof copy, "%s", keys);
    while ((name = strsep(&rest, " ")) != NULL) {
        vd_key key;
        assert_true(vd_key_parse(name, &key));
        vd_cases_view_key(&view, key);
        serve();
    }
}

static void draw(int width, int height)
{
    assert_int_equal(vd_grid_resize(&grid, width, height, NULL), VD_OK);
    vd_cases_view_draw(&view, &grid);
}

static void add(FILE *out, const char *title, int width, int height)
{
    draw(width, height);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(text);
    fprintf(out, "==== %s (%dx%d)\n%s", title, width, height, text);
    vd_free(text);
}

static void the_screens_are_as_expected(void **state)
{
    (void)state;
    char *played = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&played, &size);
    assert_non_null(out);
    assert_int_equal(vd_cases_view_init(&view, cases, &by_human, VD_CASE_BY_DIFFERENCE, NULL, NULL),
                     VD_OK);
    serve();
    add(out, "the list, largest difference first", 80, 24);
    play("Down Down");
    add(out, "list and case", 140, 40);
    play("Enter");
    add(out, "the case", 80, 24);
    play("Tab");
    add(out, "what the other model looked at", 120, 40);
    add(out, "the case where there is little room", 40, 12);
    play("Esc 1 4");
    add(out, "without two groups", 80, 24);
    play("Esc / b a l l");
    add(out, "found", 80, 24);
    play("Enter o");
    add(out, "by picture and round", 40, 12);
    play("?");
    add(out, "help", 80, 24);
    play("x Esc f r");
    add(out, "a family, by relevance", 80, 24);
    add(out, "too small", 30, 10);
    vd_cases_view_free(&view);
    fclose(out);
    static const char path[] = "tests/screen/expected/cases.txt";
    if (getenv("VISDIAL_UPDATE")) {
        support_write_text(path, played);
    } else {
        char *expected = support_read_file(path, NULL);
        if (strcmp(played, expected) != 0)
            print_message("%s: the screens differ; played:\n%s", path, played);
        assert_string_equal(played, expected);
        free(expected);
    }
    free(played);
}

static void keys_do_what_they_say(void **state)
{
    (void)state;
    assert_int_equal(
        vd_cases_view_init(&view, cases, &by_human, VD_CASE_BY_DIALOG, &cases->at[4], NULL), VD_OK);
    serve();
    draw(80, 24);
    assert_true(view.open);
    assert_ptr_equal(view.shown, &cases->at[4]);
    play("n n k");
    assert_ptr_equal(view.shown, &cases->at[5]);
    play("Home Up");
    assert_ptr_equal(view.shown, &cases->at[0]);
    play("End j");
    assert_ptr_equal(view.shown, &cases->at[11]);
    // What is looked at stays when the order or the filter changes and it is still there.
    play("o");
    assert_ptr_equal(view.at[view.cursor], &cases->at[11]);
    play("Esc Home 4");
    assert_int_equal(view.count, 9);
    play("1 2 3"); // never everything off
    assert_int_equal(view.count, 12);
    play("/ z z z");
    assert_int_equal(view.count, 0);
    play("Enter Down Enter Tab");
    assert_int_equal(view.count, 0);
    draw(80, 24);
    play("Esc");
    assert_int_equal(view.count, 12);
    play("f f");
    assert_string_equal(view.filter.family, "exist");
    assert_int_equal(view.count, 4);
    play("f");
    assert_int_equal(view.count, 12);
    assert_false(view.leaving);
    play("/ q"); // goes into the text
    assert_false(view.leaving);
    play("Esc q");
    assert_true(view.leaving);
    vd_cases_view_free(&view);
}

static void an_error_is_shown_in_place_of_the_case(void **state)
{
    (void)state;
    assert_int_equal(
        vd_cases_view_init(&view, cases, &by_human, VD_CASE_BY_DIALOG, &cases->at[0], NULL), VD_OK);
    vd_request request;
    assert_true(vd_cases_view_take_request(&view, &request));
    assert_false(vd_cases_view_take_request(&view, &request));
    vd_event event = {.kind = VD_REQUEST_CASE, .status = VD_FORMAT};
    vd_error_set(&event.error, VD_FORMAT, "the features are damaged");
    vd_cases_view_event(&view, &event);
    draw(80, 24);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(strstr(text, "the features are damaged"));
    vd_free(text);
    vd_cases_view_free(&view);
}

// Any key at any size leaves a screen that can be drawn.
static void random_keys_do_no_harm(void **state)
{
    (void)state;
    static const uint32_t codes[] = {VD_KEY_UP,
                                     VD_KEY_DOWN,
                                     VD_KEY_PAGE_DOWN,
                                     VD_KEY_PAGE_UP,
                                     VD_KEY_HOME,
                                     VD_KEY_END,
                                     VD_KEY_ENTER,
                                     VD_KEY_TAB,
                                     VD_KEY_ESCAPE,
                                     VD_KEY_BACKSPACE,
                                     '1',
                                     '2',
                                     '3',
                                     '4',
                                     '/',
                                     'f',
                                     'o',
                                     'r',
                                     '?',
                                     'a',
                                     'b',
                                     'q',
                                     0x4E2D,
                                     VD_KEY_F0 + 1};
    assert_int_equal(vd_cases_view_init(&view, cases, &by_human, VD_CASE_BY_DIALOG, NULL, NULL),
                     VD_OK);
    uint32_t random = 12345;
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t code = codes[(random >> 16) % (sizeof codes / sizeof *codes)];
        vd_cases_view_key(&view, (vd_key){.code = code, .modifiers = random >> 8 & 7 ? 0 : VD_ALT});
        serve();
        if (i % 7 == 0)
            draw((int)(random >> 20 & 127) + 1, (int)(random >> 12 & 63) + 1);
    }
    vd_cases_view_free(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screens_are_as_expected),
        cmocka_unit_test(keys_do_what_they_say),
        cmocka_unit_test(an_error_is_shown_in_place_of_the_case),
        cmocka_unit_test(random_keys_do_no_harm),
    };
    return cmocka_run_group_tests(tests, open_view, close_view);
}

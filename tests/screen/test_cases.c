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
#include "features/tokenize.h"
#include "tui/layout.h"
#include "tui/theme.h"
#include "tui/view_cases.h"

static tiny_world tiny;
static vd_corpus corpus;
static vd_cases *cases, *two, *four; // cases: one of the others
static vd_cases_view view;
static vd_grid grid;
static const vd_case_filter by_human = {.by = VD_RIGHT_HUMAN};

// ---- made-up cases ------------------------------------------------------------------------------

static void make_up(vd_case *at, size_t i)
{
    const vd_visdial_round *round = vd_case_round(cases, at);
    at->moved = (float)(i * 5 % 12) / 12;
    for (int side = 0; side < cases->models; side++) {
        bool right = side < 2 ? i >> side & 1 : (i * 7 >> side) & 1;
        vd_metrics metrics = {.rounds = 1,
                              .rank = right ? 1 : 3,
                              .reciprocal = right ? 1 : 1.0 / 3,
                              .dense_rounds = 1,
                              .ndcg = right ? 0.9 : 0.4,
                              .correct = !right};
        metrics.recall[0] = right;
        at->side[side] =
            (vd_case_side){.metrics = metrics,
                           .rank = right ? 1 : 3,
                           .first = right ? round->truth : (round->truth + 1 + side / 2) % 4,
                           .moved = side ? at->moved / (float)side : 0};
    }
}

static float *copied(const float *from, size_t count)
{
    float *to = vd_alloc(count, sizeof *to);
    assert_non_null(to);
    memcpy(to, from, count * sizeof *to);
    return to;
}

// Attention 2: every word of the question looks at one word of an entry, and a little elsewhere.
static void make_topic(vd_answer *answer, const vd_case *at)
{
    enum { WIDTH = VD_MAX_HISTORY, AROUND = 6 }; // "?" <S> answer </S> </S> and one more
    const vd_visdial *data = corpus.dialogs;
    const vd_visdial_dialog *dialog = vd_case_dialog(cases, at);
    answer->history_width = WIDTH;
    answer->history_length = vd_alloc((size_t)answer->rounds, sizeof *answer->history_length);
    answer->topic_attention = vd_alloc((size_t)answer->rounds * 2 * WIDTH, sizeof(float));
    assert_true(answer->history_length && answer->topic_attention);
    for (int entry = 0; entry < answer->rounds; entry++) {
        vd_words words = {0};
        const char *text =
            entry ? data->questions[dialog->rounds[entry - 1].question] : dialog->caption;
        assert_int_equal(vd_tokenize(text, &words, NULL), VD_OK);
        int length = (int)words.count + (entry ? AROUND - 1 : 0);
        answer->history_length[entry] = length;
        for (int word = 0; word < 2; word++) {
            float *share = answer->topic_attention + (entry * 2 + word) * WIDTH;
            for (int i = 0; i < length; i++)
                share[i] = i == word + entry ? 0.6f : 0.4f / (float)(length - 1);
        }
        vd_words_clear(&words);
    }
}

static vd_reply make_reply(const vd_case *at, int side)
{
    static const float probability[] = {0.62f, 0.25f, 0.12f, 0.01f};
    static const float regions[4][3] = {
        {0.7f, 0.2f, 0.1f}, {0.05f, 0.15f, 0.8f}, {0.3f, 0.5f, 0.2f}, {0.34f, 0.33f, 0.33f}};
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
    make_topic(answer, at);
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
        *event.case_answers = (vd_case_answers){.boxes = copied(boxes, 12), .regions = 3};
        for (int side = 0; side < cases->models; side++)
            event.case_answers->reply[side] = make_reply(at, side);
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
    char *third = support_join(tiny.directory, "third.safetensors");
    char *other = support_join(tiny.directory, "without-history.safetensors");
    tiny_world_model(&tiny, third, TINY_REGION_SIZE, NULL);
    tiny_world_model(&tiny, other, TINY_REGION_SIZE, NULL);
    const vd_cases_options of_two = {.model = {tiny.base, tiny.improved}};
    const vd_cases_options of_four = {.model = {tiny.base, tiny.improved, third, other}};
    assert_int_equal(vd_corpus_open(&paths, &corpus, &err), VD_OK);
    assert_int_equal(vd_cases_new(&corpus, &of_two, &two, &err), VD_OK);
    assert_int_equal(vd_cases_new(&corpus, &of_four, &four, &err), VD_OK);
    for (int i = 0; i < 24; i++) {
        cases = i < 12 ? two : four;
        assert_int_equal(cases->count, 12);
        make_up(&cases->at[i % 12], (size_t)i % 12);
    }
    free(other);
    free(third);
    return 0;
}

static int close_view(void **state)
{
    (void)state;
    vd_grid_free(&grid);
    vd_cases_free(two);
    vd_cases_free(four);
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

// A screen at every size that is promised.
static void add_sizes(FILE *out, const char *title)
{
    add(out, title, 80, 24);
    add(out, title, 120, 40);
    add(out, title, 40, 12);
}

static void expect_screens(const char *name, char *played)
{
    char path[128];
    snprintf(path, sizeof path, "tests/screen/expected/%s.txt", name);
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

static void open_list(vd_cases *of)
{
    cases = of;
    assert_int_equal(vd_cases_view_init(&view, cases, &by_human, VD_CASE_BY_DIFFERENCE, NULL, NULL),
                     VD_OK);
    serve();
}

// Every state at every size; with two models and with four.
static void every_state_is_as_expected(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *title;
    } states[] = {
        {"Home", "the list"},
        {"Down Down Enter", "a case"},
        {"Tab", "the next model"},
        {"a", "its attentions word by word"},
        {"Right PgDn", "another word, scrolled"},
        {"n", "the next case's"},
        {"z", "its picture"},
        {"?", "help of the picture"},
        {"x Esc ?", "help of the attentions"},
        {"x Esc ?", "help of a case"},
        {"x Esc / b a l l", "typing a filter"},
        {"Enter o f", "one family, by picture"},
        {"Esc / z z z Enter", "nothing matches"},
        {"Esc 2 3 r", "without two groups, by relevance"},
        {"?", "help of the list"},
    };
    static const char *const names[] = {"cases_of_two", "cases_of_four"};
    for (int i = 0; i < 2; i++) {
        char *played = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&played, &size);
        assert_non_null(out);
        open_list(i ? four : two);
        for (size_t s = 0; s < sizeof states / sizeof *states; s++) {
            draw(80, 24); // so that keys that need what was drawn find it
            play(states[s].keys);
            add_sizes(out, states[s].title);
        }
        play("Esc Esc End Enter a");
        draw(40, 12);
        play("PgDn Right");
        add(out, "its attentions scrolled", 40, 12);
        play("Esc Esc");
        grid.look.ascii = true;
        play("Enter Home");
        add(out, "a case in ASCII", 80, 24);
        play("a");
        add(out, "attentions in ASCII", 80, 24);
        grid.look.ascii = false;
        vd_cases_view_free(&view);
        fclose(out);
        expect_screens(names[i], played);
    }
}

static void the_screens_are_as_expected(void **state)
{
    (void)state;
    char *played = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&played, &size);
    assert_non_null(out);
    open_list(two);
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
    expect_screens("cases", played);
}

static void keys_do_what_they_say(void **state)
{
    (void)state;
    cases = two;
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

// Presses a mouse button (or turns the wheel) where the text is on the screen, `right` columns on.
static void click(const char *text, int right, uint32_t code)
{
    char *screen = vd_grid_to_text(&grid);
    const char *line = screen;
    for (int y = 0; line; y++) {
        const char *end = strchr(line, '\n'), *found = strstr(line, text);
        if (found && (!end || found < end)) {
            int x = vd_text_width(line, (size_t)(found - line)) + right;
            vd_free(screen);
            vd_cases_view_key(&view, (vd_key){.code = code, .x = x, .y = y});
            serve();
            return;
        }
        line = end ? end + 1 : NULL;
    }
    fail_msg("'%s' is not on the screen", text);
}

static void the_mouse_does_what_keys_do(void **state)
{
    (void)state;
    open_list(four);
    draw(140, 40);
    click("2.2", 3, VD_KEY_CLICK);
    assert_int_equal(vd_case_dialog(cases, view.at[view.cursor])->image_id, 2);
    assert_ptr_equal(view.shown, view.at[view.cursor]);
    assert_false(view.open);
    size_t was = view.cursor;
    draw(140, 40);
    click("2.2", 3, VD_KEY_WHEEL_DOWN);
    assert_int_equal(view.cursor, was + 1);
    click("2.2", 3, VD_KEY_WHEEL_UP);
    assert_int_equal(view.cursor, was);
    draw(140, 40);
    click("third", 30, VD_KEY_CLICK); // of the status row: names mean nothing
    assert_int_equal(view.side, 0);
    vd_cases_view_key(&view, (vd_key){.code = VD_KEY_CLICK,
                                      .x = view.columns.at.x + view.columns.at.width / 2 + 5,
                                      .y = view.columns.at.y + 2});
    assert_int_equal(view.side, view.columns.side[view.columns.count / 2]);
    assert_true(view.side > 0);
    draw(140, 40);
    click("2.2", 3, VD_KEY_CLICK); // once more where the cursor is: opens
    assert_true(view.open);
    draw(120, 40);
    size_t all = view.count;
    click(" 4\u2717", 1, VD_KEY_CLICK); // the group of the status row
    assert_int_equal(view.count, all - view.in_group[VD_CASE_NEITHER]);
    draw(120, 40);
    click(" 4\u2717", 1, VD_KEY_CLICK);
    assert_int_equal(view.count, all);
    // The wheel scrolls attentions, over the list it steps.
    play("a");
    draw(80, 12);
    assert_true(view.most_top > 0);
    was = view.cursor;
    click("picture", 1, VD_KEY_WHEEL_DOWN);
    assert_int_equal(view.top, 1);
    assert_int_equal(view.cursor, was);
    play("PgDn PgDn PgDn PgDn PgDn");
    assert_int_equal(view.top, view.most_top);
    play("n");
    assert_int_not_equal(view.cursor, was);
    vd_cases_view_key(&view, (vd_key){.code = VD_KEY_CLICK, .x = -3, .y = 4000});
    play("?");
    draw(80, 24);
    vd_cases_view_key(&view, (vd_key){.code = VD_KEY_CLICK, .x = 5, .y = 5});
    assert_false(view.help);
    vd_cases_view_free(&view);
}

// Where models have no room beside each other the first stays, and the one looked at is there.
static void every_model_can_be_seen(void **state)
{
    (void)state;
    open_list(four);
    play("Enter");
    for (int width = VD_LEAST_WIDTH; width <= 200; width += 8) {
        for (int side = 0; side < 4; side++) {
            draw(width, 24);
            bool first = false, looked_at = false;
            for (int i = 0; i < view.columns.count; i++) {
                first |= view.columns.side[i] == 0;
                looked_at |= view.columns.side[i] == view.side;
            }
            assert_int_equal(view.side, side);
            assert_true(first && looked_at);
            assert_true(view.columns.count >= 2 && view.columns.count <= 4);
            play("Tab");
        }
        assert_int_equal(view.side, 0);
    }
    play("Esc t");
    draw(80, 24);
    assert_int_equal(view.theme, VD_THEME_LIGHT);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(strstr(text, "theme light; `theme = light` in the config file keeps it"));
    vd_free(text);
    play("t t t");
    draw(80, 24);
    assert_int_equal(view.theme, VD_THEME_DARK);
    vd_cases_view_free(&view);
}

static bool is_shown(const char *part)
{
    char *text = vd_grid_to_text(&grid);
    bool found = strstr(text, part) != NULL;
    vd_free(text);
    return found;
}

// Of how many outlines the number is on the screen, in the look that only outlines have.
static int labels(void)
{
    int count = 0;
    vd_look look = grid.look;
    look.theme = view.theme;
    vd_style label = vd_theme(look, VD_ROLE_LABEL);
    for (int y = 0; y < grid.height; y++)
        for (int x = 0; x < grid.width; x++) {
            const vd_cell *cell = vd_grid_at(&grid, x, y);
            count += cell->style.fg == label.fg && cell->style.bg == label.bg &&
                     cell->code[0] >= '1' && cell->code[0] <= '9';
        }
    return count;
}

// What each model looked at is outlined on a picture of its own, and chosen there by the mouse.
static void every_model_has_its_picture(void **state)
{
    (void)state;
    static const int regions[] = {3, 2, 3, 3}; // until 90 % of the mass (make_reply)
    grid.look.depth = VD_DEPTH_256;
    open_list(four);
    play("Enter");
    draw(160, 48);
    assert_int_equal(view.pictures.count, 4);
    assert_int_equal(labels(), 3 + 2 + 3 + 3);
    const vd_rect at = view.pictures.at;
    for (int i = 3; i >= 0; i--) {
        draw(160, 48);
        vd_cases_view_key(
            &view, (vd_key){.code = VD_KEY_CLICK, .x = at.x + i * at.width / 4 + 3, .y = at.y + 3});
        assert_int_equal(view.side, i);
    }
    draw(80, 24); // one that Tab goes on from
    assert_int_equal(view.pictures.count, 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(labels(), regions[view.side]);
        play("Tab");
        draw(80, 24);
    }
    // The whole screen, and back to where it was.
    play("Tab z");
    draw(80, 24);
    assert_int_equal(labels(), regions[1]);
    assert_true(is_shown("improved") && is_shown("looked at 1 80 %") && !is_shown("drew on"));
    play("n Esc");
    draw(80, 24);
    assert_true(is_shown("drew on"));
    play("a");
    draw(80, 48); // below the attentions where there is room
    assert_int_equal(labels(), regions[1]);
    play("F2 F2");
    draw(80, 24);
    assert_true(is_shown("The question as the model saw it"));
    play("z a");
    draw(80, 24);
    assert_true(is_shown("The question as the model saw it"));
    play("z Enter");
    assert_false(view.zoom || view.open || view.maps);
    play("z");
    assert_true(view.zoom && view.open);
    vd_cases_view_free(&view);
    grid.look = (vd_look){0};
}

// The help names the keys of where the person is, and what the mouse does has a key there.
static void help_is_about_where_the_person_is(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        const char *has[6], *lacks[4];
    } places[] = {
        {"Esc",
         {"Keys of the list", "Enter, click", "1 .. 4, click", "next case", "all cases"},
         {"Tab, click", "Left, Right", "scroll"}},
        {"Enter",
         {"Keys of the case", "Tab, click", "Enter ", "back to where you were", "next case"},
         {"Left, Right", "Enter, click", "all cases", "scroll"}},
        {"a",
         {"Keys of the attentions", "Left, Right", "Tab, click", "scroll by a page", "n, p, j, k",
          "back to where"},
         {"Enter, click", "all cases", "first case"}},
        {"z",
         {"Keys of the picture", "Tab, click", "z, F2", "back to where", "next case"},
         {"Left, Right", "Enter, click", "scroll"}},
    };
    open_list(four);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        play(places[i].keys);
        draw(80, 40);
        play("?");
        draw(80, 40);
        for (int k = 0; k < 6 && places[i].has[k]; k++)
            if (!is_shown(places[i].has[k]))
                fail_msg("%s: no \"%s\"", places[i].has[0], places[i].has[k]);
        for (int k = 0; k < 4 && places[i].lacks[k]; k++)
            if (is_shown(places[i].lacks[k]))
                fail_msg("%s: \"%s\"", places[i].has[0], places[i].lacks[k]);
        play("x");
    }
    play("Esc Esc Esc");
    draw(140, 40);
    play("?");
    draw(140, 40);
    assert_true(is_shown("Keys of the list and the case"));
    assert_true(is_shown("Enter, click") && is_shown("Tab, click") && is_shown("all cases again"));
    assert_false(is_shown("back to where you were") || is_shown("Left, Right"));
    vd_cases_view_free(&view);
}

static void help_is_scrolled_where_it_is_long(void **state)
{
    (void)state;
    open_list(two);
    play("?");
    draw(40, 12);
    play("End");
    draw(40, 12);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(strstr(text, "Ctrl-Z")); // the last one
    vd_free(text);
    assert_true(view.help);
    play("Home Up");
    assert_true(view.help);
    assert_int_equal(view.top, 0);
    play("x");
    assert_false(view.help);
    play("? C-c");
    assert_true(view.leaving);
    vd_cases_view_free(&view);
}

static void an_error_is_shown_in_place_of_the_case(void **state)
{
    (void)state;
    cases = two;
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

static uint32_t seed;

static uint32_t drawn(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u; // Knuth's "quick and dirty" constants
    return (seed >> 8) % below;
}

// Ten thousand keys, clicks and resizes, the same ones every time, with answers that come at once,
// late, or not.
static void random_keys_do_no_harm(void **state)
{
    (void)state;
    static const uint32_t codes[] = {VD_KEY_UP,
                                     VD_KEY_DOWN,
                                     VD_KEY_LEFT,
                                     VD_KEY_RIGHT,
                                     VD_KEY_PAGE_DOWN,
                                     VD_KEY_PAGE_UP,
                                     VD_KEY_HOME,
                                     VD_KEY_END,
                                     VD_KEY_ENTER,
                                     VD_KEY_TAB,
                                     VD_KEY_ESCAPE,
                                     VD_KEY_ESCAPE,
                                     VD_KEY_BACKSPACE,
                                     VD_KEY_CLICK,
                                     VD_KEY_CLICK,
                                     VD_KEY_WHEEL_DOWN,
                                     VD_KEY_WHEEL_UP,
                                     'a',
                                     'a',
                                     'z',
                                     '1',
                                     '2',
                                     '3',
                                     '4',
                                     '/',
                                     'f',
                                     'o',
                                     'r',
                                     't',
                                     '?',
                                     'b',
                                     'q',
                                     0x4E2D,
                                     0x301,
                                     VD_KEY_PASTE_BEGIN,
                                     VD_KEY_F0 + 1,
                                     VD_KEY_F0 + 2};
    vd_cases *const of[] = {two, four};
    for (int i = 0; i < 2; i++) {
        int mapped = 0, shown = 0, zoomed = 0;
        seed = 20240607 + (uint32_t)i;
        open_list(of[i]);
        draw(80, 24);
        for (int k = 0; k < 10000; k++) {
            vd_key key = {.code = drawn(4) ? codes[drawn(sizeof codes / sizeof *codes)]
                                           : ' ' + drawn(95),
                          .modifiers = (uint8_t)(drawn(8) ? 0 : drawn(8)),
                          .x = (int)drawn(150) - 5,
                          .y = (int)drawn(50) - 5};
            vd_cases_view_key(&view, key);
            if (drawn(4))
                serve();
            int width = (int)drawn(160), height = (int)drawn(60);
            if (drawn(7) == 0)
                draw(width, height);
            assert_true(view.count == 0 || view.cursor < view.count);
            assert_true(view.side >= 0 && view.side < cases->models);
            mapped += view.maps && view.shown;
            zoomed += view.zoom && view.shown;
            shown += view.shown != NULL;
        }
        assert_true(mapped > 100 && zoomed > 100 && shown > 1000);
        play("x Esc Esc Esc Esc C-c"); // clean end
        assert_true(view.leaving);
        vd_cases_view_free(&view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screens_are_as_expected),
        cmocka_unit_test(every_state_is_as_expected),
        cmocka_unit_test(keys_do_what_they_say),
        cmocka_unit_test(the_mouse_does_what_keys_do),
        cmocka_unit_test(every_model_can_be_seen),
        cmocka_unit_test(every_model_has_its_picture),
        cmocka_unit_test(help_is_about_where_the_person_is),
        cmocka_unit_test(help_is_scrolled_where_it_is_long),
        cmocka_unit_test(an_error_is_shown_in_place_of_the_case),
        cmocka_unit_test(random_keys_do_no_harm),
    };
    return cmocka_run_group_tests(tests, open_view, close_view);
}

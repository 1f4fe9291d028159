// What one to four networks made of a question: rankings, moves, columns, and how they are drawn.
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/attentions.h"
#include "tui/answer/columns.h"
#include "tui/answer/panels.h"
#include "tui/answer/ranking.h"

// ---- two rankings of five answers ---------------------------------------------------------------

enum { ANSWERS = 5 };
static const char *const texts[] = {"yes", "no", "red", "blue", "yes it is"};
static const char *const other_texts[] = {"blue", "yes", "green", "no", "red"};
// For each of the others its index above.
static const int32_t same[] = {3, 0, -1, 1, 2};
static int32_t order[2][ANSWERS] = {{2, 0, 1, 4, 3}, {1, 4, 0, 3, 2}};
static float probability[2][ANSWERS] = {{0.25f, 0.125f, 0.5f, 0.03125f, 0.09375f},
                                        {0.25f, 0.375f, 0.0625f, 0.0625f, 0.25f}};
static float regions[] = {0.25f, 0.75f};
static vd_attention regions_shown;
static vd_reply reply[2];
static vd_sheet sheet;
static vd_grid grid;

static int make_sheet(void **state)
{
    (void)state;
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    sheet = (vd_sheet){.sides = 2};
    regions_shown = support_attention("regions", VD_AXIS_QUESTIONS, VD_AXIS_REGIONS, 1, 2, regions);
    for (int i = 0; i < 2; i++) {
        reply[i].answer = (vd_answer){.candidates = ANSWERS,
                                      .order = order[i],
                                      .probability = probability[i],
                                      .regions = 2,
                                      .attention = &regions_shown,
                                      .attentions = 1,
                                      .milliseconds = 7.25};
        sheet.side[i] = (vd_sheet_side){.model = i ? "other" : "first",
                                        .reply = &reply[i],
                                        .texts = i ? other_texts : texts,
                                        .same = i ? same : NULL,
                                        .human = -1,
                                        .chosen = -1};
    }
    return 0;
}

static int free_grid(void **state)
{
    (void)state;
    vd_grid_free(&grid);
    return 0;
}

static void a_place_is_that_of_the_ranking(void **state)
{
    (void)state;
    assert_int_equal(vd_answer_place(&reply[0].answer, 2), 0);
    assert_int_equal(vd_answer_place(&reply[0].answer, 3), 4);
    assert_int_equal(vd_answer_place(&reply[0].answer, 5), -1);
    assert_int_equal(vd_sheet_row_of(&sheet.side[0], 2), 0);
    assert_int_equal(vd_sheet_row_of(&sheet.side[0], 3), 4);
    assert_int_equal(vd_sheet_row_of(&sheet.side[0], 5), -1);
    assert_int_equal(vd_sheet_row_of(&sheet.side[0], -1), -1);
    assert_int_equal(vd_sheet_rows(&sheet.side[0]), ANSWERS);
    assert_string_equal(vd_sheet_mark("is it"), "?");
    assert_string_equal(vd_sheet_mark("is it?"), "");
    assert_string_equal(vd_sheet_mark("tell me."), "");
    assert_string_equal(vd_sheet_mark("say it!"), "");
    assert_string_equal(vd_sheet_mark(""), "?");
}

static void moves_are_held_against_the_first(void **state)
{
    (void)state;
    static const struct {
        int before, place;
        double change;
    } moves[] = {
        {1, 0, 0.375 - 0.25},   // yes
        {0, 1, 0.25 - 0.5},     // red
        {4, 2, 0.25 - 0.03125}, // blue
        {2, 3, 0.0625 - 0.125}, // no
        {-1, 4, 0.0625},        // green: the first one has none
    };
    double far = 0;
    for (int row = 0; row < ANSWERS; row++) {
        vd_sheet_move move = vd_sheet_moved(&sheet, 1, row);
        assert_int_equal(move.before, moves[row].before);
        assert_int_equal(move.place, moves[row].place);
        assert_float_equal(move.change, moves[row].change, 1e-9);
        far += (move.change < 0 ? -move.change : move.change) / 2;
        vd_sheet_move own = vd_sheet_moved(&sheet, 0, row);
        assert_true(own.before == row && own.place == row);
        assert_float_equal(own.change, 0, 1e-9);
    }
    vd_agreement they = vd_sheet_agreement(&sheet, 1, 2);
    assert_false(they.same);
    assert_int_equal(they.most, 2);
    assert_int_equal(they.shared, 2); // yes and red
    assert_float_equal(they.far, far, 1e-9);
    assert_int_equal(vd_sheet_agreement(&sheet, 1, 3).shared, 2); // not blue
    assert_int_equal(vd_sheet_agreement(&sheet, 1, 4).shared, 3); // which is the fifth
    assert_int_equal(vd_sheet_agreement(&sheet, 1, 9).most, ANSWERS);
    sheet.side[1].apart = true; // of pools that cannot be compared
    assert_int_equal(vd_sheet_moved(&sheet, 1, 0).before, -1);
    assert_int_equal(vd_sheet_agreement(&sheet, 1, 3).shared, 0);
    vd_agreement own = vd_sheet_agreement(&sheet, 0, 3);
    assert_true(own.same && own.shared == 3 && own.far < 1e-9);
}

static void alike_answers_are_one_row(void **state)
{
    (void)state;
    const vd_answer_group folded[] = {
        {2, 0, 0, 0.5}, {0, 1, 1, 0.34375}, {1, 2, 0, 0.125}, {3, 4, 0, 0.03125}};
    const int32_t row[] = {1, 2, 0, 3, 1, 77}; // the last one is no candidate's
    vd_sheet_side *first = &sheet.side[0];
    first->folded = folded;
    first->folded_count = 4;
    first->row = row;
    assert_int_equal(vd_sheet_rows(first), 4);
    assert_int_equal(vd_sheet_row_of(first, 4), 1);
    assert_int_equal(vd_sheet_row_of(first, 5), -1);
    assert_int_equal(vd_sheet_row(first, 1).answer, 0);
    first->chosen = 4; // the conversation goes on with the other one
    assert_int_equal(vd_sheet_row(first, 1).answer, 4);
    assert_int_equal(vd_sheet_row(first, 1).place, 3);
    assert_float_equal(vd_sheet_row(first, 1).probability, 0.34375, 1e-9);
    assert_int_equal(vd_sheet_row(first, 2).answer, 1);
    // "no" is in the third row, whose best answer is at place 2.
    assert_int_equal(vd_sheet_moved(&sheet, 1, 3).before, 2);
    assert_float_equal(vd_sheet_moved(&sheet, 1, 0).change, 0.375 - 0.34375, 1e-9);
}

// ---- columns -----------------------------------------------------------------------------------

static void columns_are(int width, int least, int fewest, int models, int looked_at,
                        const char *expected)
{
    vd_columns columns =
        vd_columns_choose((vd_rect){3, 2, width, 9}, 2, least, fewest, models, looked_at);
    char text[32] = "";
    for (int i = 0; i < columns.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d", columns.side[i]);
    if (strcmp(text, expected) != 0)
        fail_msg("%d columns, %d models, %d looked at: %s, not %s", width, models, looked_at, text,
                 expected);
}

static void the_first_and_the_one_looked_at_have_columns(void **state)
{
    (void)state;
    // Two of 20 with 2 between them need 42.
    columns_are(41, 20, 1, 4, 0, "0");
    columns_are(41, 20, 1, 4, 2, "2");
    columns_are(42, 20, 1, 4, 0, "01");
    columns_are(42, 20, 1, 4, 1, "01");
    columns_are(42, 20, 1, 4, 2, "02");
    columns_are(42, 20, 1, 4, 3, "03");
    columns_are(63, 20, 1, 4, 3, "03");
    columns_are(64, 20, 1, 4, 0, "012");
    columns_are(64, 20, 1, 4, 1, "012");
    columns_are(64, 20, 1, 4, 2, "012");
    columns_are(64, 20, 1, 4, 3, "023");
    columns_are(86, 20, 1, 4, 3, "0123");
    columns_are(400, 20, 1, 4, 1, "0123"); // never more than there are
    columns_are(400, 20, 1, 2, 1, "01");
    columns_are(30, 20, 2, 4, 3, "03"); // narrower than wanted
    columns_are(5, 20, 1, 1, 0, "0");
    columns_are(0, 20, 1, 3, 1, "1");
}

static void columns_share_the_width(void **state)
{
    (void)state;
    vd_columns columns = vd_columns_choose((vd_rect){3, 2, 64, 9}, 2, 20, 1, 4, 3);
    static const int left[] = {3, 25, 47};
    for (int i = 0; i < 3; i++) {
        vd_rect at = vd_columns_place(&columns, i);
        assert_true(at.x == left[i] && at.width == 20 && at.y == 2 && at.height == 9);
        assert_int_equal(vd_columns_side(&columns, at.x, 2), columns.side[i]);
        assert_int_equal(vd_columns_side(&columns, at.x + 19, 10), columns.side[i]);
        assert_int_equal(vd_columns_side(&columns, at.x - 1, 5), -1);
        assert_int_equal(vd_columns_side(&columns, at.x + 20, 5), -1);
        assert_int_equal(vd_columns_side(&columns, at.x, 1), -1);
        assert_int_equal(vd_columns_side(&columns, at.x, 11), -1);
    }
}

// ---- a row of a ranking ------------------------------------------------------------------------

static vd_ranking_columns row_of(int width, int last, bool beside, bool moves)
{
    return vd_ranking_columns_of(width, last, beside, moves);
}

static void a_row_gives_the_text_what_is_left(void **state)
{
    (void)state;
    vd_ranking_columns c = row_of(40, 9, false, false);
    assert_true(c.place_width == 2 && c.mark == 2 && c.text == 4 && c.move_width == 0);
    assert_true(c.share == 34 && c.share_width == 6 && c.bar_width == 10 && c.bar == 24);
    assert_int_equal(c.text_width, 19);
    assert_int_equal(row_of(40, 99, false, false).place_width, 2);
    assert_int_equal(row_of(40, 100, false, false).place_width, 3);
    assert_int_equal(row_of(50, 9, false, false).place_width, 2);
    assert_int_equal(row_of(51, 9, false, false).place_width, 4);
    assert_int_equal(row_of(51, 999, false, false).place_width, 4);
    assert_int_equal(row_of(51, 1000, false, false).place_width, 5);
    assert_int_equal(row_of(120, 9, true, false).place_width, 2);
    assert_int_equal(row_of(95, 9, false, false).bar_width, 23);
    assert_int_equal(row_of(100, 9, false, false).bar_width, 24);
    // Beside others.
    assert_int_equal(row_of(29, 9, true, false).bar_width, 0);
    assert_int_equal(row_of(30, 9, true, false).bar_width, 6);
    assert_int_equal(row_of(47, 9, true, true).bar_width, 0);
    c = row_of(48, 9, true, true);
    assert_true(c.bar_width == 9 && c.move_width == VD_RANK_MOVE_CHANGE && c.move == 33);
    assert_true(c.bar == 23 && c.text_width == 18);
    assert_int_equal(row_of(29, 9, true, true).move_width, VD_RANK_MOVE);
    assert_int_equal(row_of(30, 9, true, true).move_width, VD_RANK_MOVE_CHANGE);
    assert_int_equal(row_of(22, 9, true, true).move_width, VD_RANK_MOVE);
    assert_int_equal(row_of(21, 9, true, true).move_width, VD_RANK_MOVE_ARROW);
    assert_int_equal(row_of(3, 9, true, true).text_width, 0);
}

// The parts lie in the row, one after another.
static void the_parts_of_a_row_do_not_touch(void **state)
{
    (void)state;
    for (int width = 24; width < 200; width++)
        for (int kind = 0; kind < 4; kind++) {
            vd_ranking_columns c = row_of(width, 100, kind & 1, kind & 2);
            int end = c.text + c.text_width;
            assert_true(c.mark >= c.place_width && c.text > c.mark);
            if (c.bar_width) {
                assert_int_equal(c.bar, end + 1);
                end = c.bar + c.bar_width;
            }
            if (c.move_width) {
                assert_int_equal(c.move, end + 1);
                end = c.move + c.move_width;
            }
            assert_int_equal(c.share, end);
            assert_int_equal(c.share + c.share_width, width);
        }
}

static void shows(int width, int height, const char *expected)
{
    char *text = vd_grid_to_text(&grid);
    if (strcmp(text, expected) != 0)
        fail_msg("%dx%d shows\n%s-- not\n%s", width, height, text, expected);
    vd_free(text);
}

static void rankings_are_drawn(void **state)
{
    (void)state;
    sheet.side[1].chosen = 4;
    sheet.side[1].human = 3;
    vd_grid_resize(&grid, 32, 3);
    vd_ranking_draw(&grid, (vd_rect){0, 0, 32, 3}, &sheet, 1, 0, false);
    shows(32, 3,
          " 1  yes          \u21911    +12  38 %\n"
          " 2\u25B8 red          \u21931    -25  25 %\n"
          " 3  blue         \u21912    +22  25 %\n");
    vd_grid_clear(&grid);
    vd_ranking_draw(&grid, (vd_rect){0, 0, 32, 3}, &sheet, 1, 0, true); // the human's below
    shows(32, 3,
          " 1  yes          \u21911    +12  38 %\n"
          " 2\u25B8 red          \u21931    -25  25 %\n"
          " 4* no           \u21931     -6 6.2 %\n");
    vd_grid_clear(&grid);
    vd_ranking_draw(&grid, (vd_rect){0, 0, 32, 3}, &sheet, 1, 1, true); // and in sight
    shows(32, 3,
          " 2\u25B8 red          \u21931    -25  25 %\n"
          " 3  blue         \u21912    +22  25 %\n"
          " 4* no           \u21931     -6 6.2 %\n");
    vd_grid_clear(&grid);
    vd_ranking_draw(&grid, (vd_rect){0, 0, 32, 3}, &sheet, 1, 4, false); // the end
    shows(32, 3, " 5  green              new 6.2 %\n\n\n");
    vd_grid_clear(&grid);
    vd_ranking_draw(&grid, (vd_rect){0, 0, 32, 3}, &sheet, 1, 9, true);
    shows(32, 3, "\n\n\n");
}

// Places have as many columns as the largest that is seen.
static void places_have_room(void **state)
{
    (void)state;
    enum { MANY = 101 };
    int32_t places[MANY];
    float shares[MANY] = {0};
    const char *many[MANY];
    for (int i = 0; i < MANY; i++) {
        places[i] = i;
        many[i] = "x";
    }
    reply[0].answer = (vd_answer){.candidates = MANY, .order = places, .probability = shares};
    sheet.side[0].texts = many;
    vd_grid_resize(&grid, 14, 1);
    vd_ranking_draw(&grid, (vd_rect){0, 0, 14, 1}, &sheet, 0, 98, false);
    shows(14, 1, "99  x    0.0 %\n");
    vd_grid_clear(&grid);
    vd_ranking_draw(&grid, (vd_rect){0, 0, 14, 1}, &sheet, 0, 99, false);
    shows(14, 1, "100  x   0.0 %\n");
    vd_grid_clear(&grid);
    sheet.side[0].human = 99; // alone in the last row
    vd_ranking_draw(&grid, (vd_rect){0, 0, 14, 1}, &sheet, 0, 0, true);
    shows(14, 1, "100* x   0.0 %\n");
}

static void heads_are_drawn(void **state)
{
    (void)state;
    static const float relevance[] = {1, 0, 0, 0, 0};
    vd_grid_resize(&grid, 44, 1);
    vd_sheet_side *side = &sheet.side[0];
    side->judged = true;
    side->human_rank = 2.5;
    vd_sheet_draw_head(&grid, (vd_rect){0, 0, 44, 1}, side, false);
    shows(44, 1, "first \u2717 red                 human: place 2.5\n");
    vd_grid_clear(&grid);
    side->right = true;
    side->relevance = relevance;
    side->human_rank = 0;
    vd_sheet_draw_head(&grid, (vd_rect){0, 0, 44, 1}, side, false);
    shows(44, 1, "first \u2713 red relevance 0\n");
    vd_grid_clear(&grid);
    vd_sheet_draw_head(&grid, (vd_rect){0, 0, 29, 1}, side, false);
    shows(29, 1, "first \u2713 red relevance 0\n");
    vd_grid_clear(&grid);
    vd_sheet_draw_head(&grid, (vd_rect){0, 0, 27, 1}, side, false); // no room to say it
    shows(27, 1, "first \u2713 red\n");
    vd_grid_clear(&grid);
    *side = (vd_sheet_side){.model = "first", .note = "own answers", .reply = &reply[0]};
    vd_sheet_draw_head(&grid, (vd_rect){0, 0, 44, 1}, side, false);
    shows(44, 1, "first  own answers                    7.2 ms\n");
    vd_grid_clear(&grid);
    side->reply = NULL;
    vd_sheet_draw_head(&grid, (vd_rect){0, 0, 44, 1}, side, false);
    shows(44, 1, "first  own answers\n");
}

// The strongest region is named, by its number where there is no more room.
static void the_strongest_region_is_always_named(void **state)
{
    (void)state;
    static const vd_region_name names[] = {{"red cube"}, {"yellow rubber ball"}};
    sheet.names = names;
    sheet.regions = 2;
    vd_grid_resize(&grid, 34, 1);
    vd_sheet_draw_regions(&grid, (vd_rect){0, 0, 34, 1}, &sheet, 0);
    shows(34, 1, "Regions 2 yellow rubber ball 75 %\n");
    vd_grid_resize(&grid, 24, 1);
    vd_sheet_draw_regions(&grid, (vd_rect){0, 0, 24, 1}, &sheet, 0);
    shows(24, 1, "Regions 2 75 %\n");
}

#define IN_A_SHEET(name) cmocka_unit_test_setup(name, make_sheet)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_SHEET(a_place_is_that_of_the_ranking),
        IN_A_SHEET(moves_are_held_against_the_first),
        IN_A_SHEET(alike_answers_are_one_row),
        IN_A_SHEET(the_first_and_the_one_looked_at_have_columns),
        IN_A_SHEET(columns_share_the_width),
        IN_A_SHEET(a_row_gives_the_text_what_is_left),
        IN_A_SHEET(the_parts_of_a_row_do_not_touch),
        IN_A_SHEET(rankings_are_drawn),
        IN_A_SHEET(places_have_room),
        IN_A_SHEET(heads_are_drawn),
        IN_A_SHEET(the_strongest_region_is_always_named),
    };
    return cmocka_run_group_tests(tests, NULL, free_grid);
}

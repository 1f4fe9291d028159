// Rankings as they are shown: alike answers as one, and one model's beside another's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"
#include "tests/support/support.h"
#include "tui/session/service.h"

// "yes, i do" is place 4 of the pool, "yes" place 11; folded they are one.
static void the_chosen_answer_is_marked_in_its_group(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter M-a");
    expect("   4  yes, i do (+1 alike)");
    fake_chat_keys(&fake, "'/choose 11' Enter C-l");
    expect("  11\u25b8 yes (+1 alike)");
    assert_false(fake_chat_shows(&fake, "yes, i do"));
    fake_chat_keys(&fake, "F4");
    expect("  11\u25b8 yes (+1 alike)");
    fake_chat_keys(&fake, "Down Down Down Enter"); // its row: it stays the one
    const vd_response *response = vd_chat_response(&fake.chat);
    assert_string_equal(vd_response_text(response, response->chosen), "yes");
    fake_chat_keys(&fake, "M-4");
    expect("   4\u25b8 yes, i do (+1 alike)");
    fake_chat_keys(&fake, "M-a");
    expect("   4\u25b8 yes, i do ");
}

static vd_sheet sheet_of(const vd_response *first, const vd_response *other)
{
    vd_rankings *rankings = &fake.chat.rankings;
    return (vd_sheet){.sides = 2,
                      .side = {vd_rankings_side(rankings, 0, first, NULL),
                               vd_rankings_side(rankings, 1, other, first)}};
}

// The walk's ranking, as it is and as each change makes it.
static void a_walk_is_ranked_folded(void **state)
{
    (void)state;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "'is there a cube?' Enter F12 Left");
    assert_false(fake_chat_shows(&fake, "alike)"));
    fake_chat_keys(&fake, "M-a C-l");
    expect("yes, i do (+1 alike)");
    for (int i = 0; i < 3; i++) {
        fake_chat_keys(&fake, "Space Down C-l");
        expect("alike)");
        const vd_lane_ranking *ranking = &fake.chat.rankings.lane[VD_RANKING_CHANGED];
        const vd_answer *changed = &fake.chat.lanes.walk.walk->changed.answer;
        assert_int_equal(ranking->count, changed->candidates - 1);
        for (int row = 0; row < ranking->count; row++)
            if (ranking->list[row].alike == 0)
                assert_float_equal(ranking->list[row].probability,
                                   changed->probability[ranking->list[row].answer], 1e-9);
    }
}

static void models_are_compared_folded(void **state)
{
    (void)state;
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "'is there a cube?' Enter F10");
    assert_false(fake_chat_shows(&fake, "alike)"));
    expect("yes, i do"); // each by itself
    const vd_response *first = &fake.chat.conversation.branch->rounds[0].response[0],
                      *other = &fake.chat.conversation.branch->rounds[0].response[1];
    fake_chat_keys(&fake, "M-a C-l");
    expect("yes, i do (+1 alike)");
    const vd_sheet sheet = sheet_of(first, other);
    int rows = vd_sheet_rows(&sheet.side[1]);
    assert_int_equal(rows, FAKE_ANSWERS - 1);
    double sum = 0, now_sum = 0;
    for (int i = 0; i < rows; i++) {
        vd_answer_group now = vd_sheet_row(&sheet.side[1], i);
        vd_sheet_move move = vd_sheet_moved(&sheet, 1, i);
        int row = vd_sheet_row_of(&sheet.side[0], sheet.side[0].reply->answer.order[move.before]);
        assert_in_range(row, 0, rows - 1);
        sum += now.probability - move.change;
        now_sum += now.probability;
        assert_int_equal(now.alike, vd_sheet_row(&sheet.side[0], row).alike);
    }
    assert_true(fabs(sum - 1) < 1e-5 && fabs(now_sum - 1) < 1e-5);
    // People's "yes" carries its mark where it is one of several.
    assert_int_equal(vd_sheet_row_of(&sheet.side[0], 0),
                     vd_sheet_row_of(&sheet.side[0], 6)); // "yes", "yes, i do"
    expect(" 4* yes, i do (+1 alike)");
    fake_chat_keys(&fake, "M-a");
    assert_false(fake_chat_shows(&fake, "alike)"));
}

// ---- pools --------------------------------------------------------------------------------------

enum { LARGE = 20000 };

static char texts[LARGE][24];
static const char *pool[LARGE], *shuffled[LARGE];
static GHashTable *pool_index;

// Answers number 0..count-1, ranked by falling score in steps of `step` (prime to count).
static void make_take(vd_response *response, const char *const *answers, int count, int step,
                      long stamp)
{
    vd_answer *answer = &response->reply.answer;
    vd_free(answer->score);
    vd_free(answer->probability);
    vd_free(answer->order);
    answer->candidates = count;
    answer->score = vd_alloc((size_t)count, sizeof *answer->score);
    answer->probability = vd_alloc((size_t)count, sizeof *answer->probability);
    answer->order = vd_alloc((size_t)count, sizeof *answer->order);
    assert_true(answer->score && answer->probability && answer->order);
    double share = 0.5;
    for (int i = 0; i < count; i++) {
        int one = (int)(((long)i * step) % count);
        answer->order[i] = one;
        answer->probability[one] = (float)share;
        answer->score[one] = -(float)i;
        share /= 2;
    }
    response->pool = (vd_pool_texts){answers, count, NULL, answers == pool ? pool_index : NULL};
    response->chosen = answer->order[0];
    response->stamp = stamp;
    response->ready = true;
}

static void make_pools(int count, int missing)
{
    for (int i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "answer number %d", i);
        pool[i] = texts[i];
    }
    g_clear_pointer(&pool_index, g_hash_table_destroy);
    pool_index = vd_pool_index(pool, count);
    for (int i = 0; i < count; i++)
        shuffled[i] = i % missing ? pool[((long)i * 7919) % count] : "in no other pool";
}

// Two pools in other orders, one with answers that the other has not: as looking for each text.
static void an_answer_is_found_in_another_pool(void **state)
{
    (void)state;
    vd_response first = {0}, other = {0};
    make_pools(1000, 10);
    make_take(&first, pool, 1000, 7, 1);
    make_take(&other, shuffled, 1000, 3, 2);
    const vd_sheet sheet = sheet_of(&first, &other);
    for (int i = 0; i < 1000; i++) {
        vd_sheet_move move = vd_sheet_moved(&sheet, 1, i);
        const char *text = vd_sheet_text(&sheet.side[1], other.reply.answer.order[i]);
        int place = 999;
        while (place >= 0 &&
               strcmp(vd_response_text(&first, first.reply.answer.order[place]), text) != 0)
            place--;
        assert_int_equal(move.before, place);
        assert_int_equal(move.place, i);
        assert_int_equal(vd_response_rank(&first, text), place);
    }
    vd_reply_clear(&first.reply);
    vd_reply_clear(&other.reply);
}

// Two models with 20,000 answers each, in pools of other orders, and the list of them while it is
// filtered.
static void large_pools_are_compared_and_filtered(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter F10");
    make_pools(LARGE, 10);
    vd_round *round = &fake.chat.conversation.branch->rounds[0];
    make_take(&round->response[0], pool, LARGE, 7, 1001);
    make_take(&round->response[1], shuffled, LARGE, 3, 1002);
    for (int folded = 0; folded < 2; folded++) {
        fake.chat.rankings.folded = folded;
        fake_chat_size(&fake, 200, 60); // what is kept of an answer is made
        fake_chat_keys(&fake, "PgDn PgUp F4 PgDn PgUp 'ANSWER number 1'");
        expect("of 11111 that match");
        fake_chat_keys(&fake, "7");
        expect("of 1111 that match");
        fake_chat_keys(&fake, "Backspace");
        expect("of 11111 that match");
        fake_chat_keys(&fake, "Esc");
    }
}

// With every allocation failing in turn the comparison is drawn, if need be without what was kept.
static void without_memory_rankings_are_shown_all_the_same(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter F10 M-a");
    for (size_t fail = 1; fail < 20; fail++) {
        vd_rankings_clear(&fake.chat.rankings);
        vd_alloc_fail_at(fail);
        vd_chat_draw(&fake.chat, &fake.grid);
        vd_alloc_fail_at(0);
        expect("base against improved: ");
        vd_chat_draw(&fake.chat, &fake.grid);
        expect("there are two");
        const vd_sheet_side side = vd_rankings_side(
            &fake.chat.rankings, 0, &fake.chat.conversation.branch->rounds[0].response[0], NULL);
        assert_int_equal(vd_sheet_rows(&side), FAKE_ANSWERS - 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_chosen_answer_is_marked_in_its_group),
        TEST(a_walk_is_ranked_folded),
        TEST(models_are_compared_folded),
        TEST(an_answer_is_found_in_another_pool),
        TEST(large_pools_are_compared_and_filtered),
        TEST(without_memory_rankings_are_shown_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

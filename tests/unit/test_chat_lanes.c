// Rounds edited, conversations set aside, models compared.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/one_chat.h"

static const char *answer_of(int lane, size_t round)
{
    const vd_response *response = &fake.chat.conversation.branch->rounds[round].response[lane];
    assert_true(response->ready);
    return vd_response_text(response, response->chosen);
}

// What the panels show is by the model that the screen names: it is asked the last question.
static void models_change_and_answer_again(void **state)
{
    (void)state;
    const vd_response *last;
    fake_chat_keys(&fake, "F3");
    expect("base answers from now on");
    assert_int_equal(fake.asked, 0);
    fake_chat_keys(&fake, "F3 'is there a cube?' Enter 'draft' F3");
    assert_int_equal(fake.asked, 2);
    last = &fake.chat.conversation.branch->rounds[0].response[0];
    assert_string_equal(last->model, "base");
    expect("was: ");
    expect("> draft");
    fake_chat_keys(&fake, "F6");
    assert_int_equal(fake.asked, 3);
    // An answer that a person chose stays chosen.
    fake_chat_keys(&fake, "M-3");
    char *chosen = strdup(answer_of(0, 0));
    fake_chat_keys(&fake, "F3");
    assert_string_equal(last->model, "improved");
    assert_string_equal(answer_of(0, 0), chosen);
    free(chosen);
    fake_chat_keys(&fake, "F3");
    fake_chat_keys(&fake, "F3");
    expect("improved  cpu");
    fake_chat_keys(&fake, "C-u '/model my/own.safetensors' Enter");
    assert_int_equal(fake.models, 8);
}

static void assert_recorded(const char *name)
{
    vd_chat_record record = vd_lanes_describe(&fake.chat.lanes);
    assert_string_equal(record.lanes[0].name, name);
    vd_lanes_describe_free(&record);
}

// Who leaves while a model is being loaded has the answers of the one before.
static void the_record_names_the_model_that_answered(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    assert_recorded("improved");
    vd_lanes_use_model(&fake.chat.lanes, 0, "base");
    assert_recorded("improved");
    fake_chat_keys(&fake, "'and a ball?' Enter");
    assert_recorded("base");
    fake.model_lost = true;
    fake_chat_keys(&fake, "'/model my/own.safetensors' Enter");
    assert_recorded("base");
    fake.model_lost = false;
}

// A bundled model that was named by its path is the same model: another one comes after it.
static void a_bundled_model_is_known_by_its_file(void **state)
{
    (void)state;
    const vd_lane *lane = fake.chat.lanes.lane;
    fake_chat_keys(&fake, "'/model tests/fixtures/chat/base.safetensors' Enter F3");
    assert_string_equal(lane[0].name, "improved");
    fake_chat_keys(&fake, "'/model tests/fixtures/chat/base.safetensors' Enter F10");
    assert_string_equal(lane[1].name, "improved");
    fake_chat_keys(&fake, "'/compare off' Enter");
    fake_chat_keys(&fake, "'/model tests/fixtures/chat/improved.safetensors' Enter F10");
    assert_string_equal(lane[1].name, "base");
}

// F3 twice before the first of the two was read: the second one answers, under its own name.
static void the_model_asked_for_last_answers(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    vd_lanes_use_model(&fake.chat.lanes, 0, "base");
    vd_lanes_use_model(&fake.chat.lanes, 0, "best");
    fake_chat_keys(&fake, "C-l");
    expect("best  cpu");
    assert_recorded("best");
    assert_string_equal(last_take()->model, "best");
    assert_int_equal(fake.asked, 2); // once by each of the two that were waited for
    // One that cannot be read changes nothing; what was read before it answers.
    vd_lanes_use_model(&fake.chat.lanes, 0, "improved");
    vd_lanes_use_model(&fake.chat.lanes, 0, "no/model.safetensors");
    fake_chat_keys(&fake, "C-l");
    expect("improved  cpu");
    assert_recorded("improved");
    assert_string_equal(last_take()->model, "improved");
}

static void an_edited_round_is_asked_again_with_all_after_it(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "M-e");
    expect("ask something first");
    fake_chat_keys(&fake, "'one?' Enter 'two?' Enter 'three?' Enter M-Up M-Up M-e");
    expect(" round 1> one?");
    fake_chat_keys(&fake, "Esc"); // and nothing happened
    assert_int_equal(fake.chat.nav.editing, -1);
    assert_int_equal(fake.chat.nav.line.length, 0);
    int asked = fake.asked;
    fake_chat_keys(&fake, "M-e C-u 'uno?' Enter");
    assert_int_equal(fake.asked, asked + 3);
    assert_int_equal(fake.chat.conversation.branch->count, 3);
    assert_string_equal(fake.chat.conversation.branch->rounds[0].typed, "uno?");
    char history[256];
    snprintf(history, sizeof history, "0: uno? %s. two? %s.", answer_of(0, 0), answer_of(0, 1));
    assert_string_equal(fake.history, history);
    expect("rounds 1 to 3 were asked again: ");
    expect("branch 2/2");
    fake_chat_keys(&fake, "M-n");
    assert_string_equal(fake.chat.conversation.branch->rounds[0].typed, "one?");
    assert_int_equal(fake.asked, asked + 3); // it is as it was
    expect("branch 1 of 2: 3 rounds");
    // What is asked here hears this conversation.
    fake_chat_keys(&fake, "M-Down M-Down 'four?' Enter");
    assert_int_equal(strncmp(fake.history, "0: one? ", 8), 0);
    fake_chat_keys(&fake, "M-n");
    assert_int_equal(fake.chat.conversation.branch->count, 3);
}

static void asking_again_can_be_stopped(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'one?' Enter 'two?' Enter 'three?' Enter");
    fake.hold = true;
    fake_chat_keys(&fake, "M-Up M-Up M-e C-u 'uno?' Enter C-c");
    assert_int_equal(fake.stops, 1);
    fake_chat_release(&fake, VD_INTERRUPTED);
    expect("stopped: 2 later questions were not asked again");
    assert_int_equal(fake.chat.conversation.branch->count, 0);
    fake_chat_keys(&fake, "C-c M-n"); // the conversation before is whole
    assert_int_equal(fake.chat.conversation.branch->count, 3);
}

static void branches_start_at_the_selected_round_and_the_oldest_goes(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'one?' Enter 'two?' Enter M-Up '/branch' Enter");
    assert_int_equal(fake.chat.conversation.branch->count, 1);
    expect("branch 2/2");
    fake_chat_keys(&fake, "'/branch 3' Enter");
    expect("/branch 3: no such branch; there are branches 1 to 2");
    fake_chat_keys(&fake, "'/branch 1' Enter");
    assert_int_equal(fake.chat.conversation.branch->count, 2);
    for (int i = 0; i < 2 * VD_BRANCHES; i++)
        fake_chat_keys(&fake, "'/branch' Enter");
    assert_int_equal(fake.chat.conversation.branches.count, VD_BRANCHES);
    assert_int_equal(fake.chat.conversation.branch->count, 2);
    fake_chat_keys(&fake, "F8");
    assert_int_equal(fake.chat.conversation.branches.count, 1);
}

// Each column says what its model ranks, when that is not the same.
static void columns_name_pools_that_differ(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "F10");
    fake.chat.lanes.lane[0].pool.path = "the/first pool.txt";
    fake.chat.lanes.lane[1].pool.path = "the/first pool.txt";
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    char *screen = fake_chat_text(&fake);
    assert_null(strstr(screen, "pool.txt"));
    vd_free(screen);
    fake.chat.lanes.lane[1].pool.path = "my/pool.txt";
    fake_chat_keys(&fake, "'and a ball?' Enter");
    expect("Best of 12 in the/first pool.txt");
    expect("Best of 12 in my/pool.txt");
    fake_chat_size(&fake, 40, 12);
    expect("Best of 12");
}

// Small terminals show it as well, as long as some answers have room below.
static void columns_have_a_picture(void **state)
{
    (void)state;
    static const int sizes[][2] = {{120, 40}, {80, 24}, {72, 18}, {60, 20}, {40, 16}};
    fake_chat_keys(&fake, "F10 'is there a cube?' Enter");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fake_chat_size(&fake, sizes[i][0], sizes[i][1]);
        expect("\u2501\u2501"); // the outline of a region
        expect(sizes[i][0] == 40 ? "*human at place" : "* human answer at place");
    }
}

// The branch that a model has answered already is gone back to.
static void models_that_change_places_need_two_branches(void **state)
{
    (void)state;
    const vd_branches *branches = &fake.chat.conversation.branches;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'what color is it?' Enter F10 F3");
    assert_int_equal(branches->count, 2);
    for (int i = 0; i < 4; i++) {
        int asked = fake.asked;
        fake_chat_keys(&fake, "F3");
        assert_int_equal(branches->count, 2);
        assert_int_equal(branches->used, i % 2);
        assert_string_equal(fake.chat.lanes.lane[0].model, i % 2 ? "base" : "improved");
        assert_true(fake.asked - asked < 4); // the model that has answered is not asked again
    }
    fake_chat_keys(&fake, "'and a ball?' Enter F3"); // a question more: another conversation
    assert_int_equal(branches->count, 3);
}

static void no_model_is_compared_with_itself(void **state)
{
    (void)state;
    const vd_lane *lane = fake.chat.lanes.lane;
    fake_chat_keys(&fake, "'is there a cube?' Enter F10 F10 '/model base' Enter");
    assert_string_equal(lane[0].model, "base");
    assert_string_equal(lane[1].model, "improved");
    fake_chat_keys(&fake, "'/compare best' Enter '/model best' Enter");
    expect("best is compared already");
    assert_string_equal(lane[0].model, "base");
}

// Questions of one's own have no answer in the data; the old word for it is still known.
static void answers_in_the_data_may_be_missing(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it big?' Enter 'is there a cube?' Enter '/history data' Enter");
    assert_string_equal(fake.chat.notice.text,
                        "improved continues from answers in the data; where it has none (1 of 2 "
                        "rounds), from its own");
    fake_chat_keys(&fake, "'/history own' Enter '/history people' Enter");
    assert_int_equal(fake.chat.lanes.lane[0].follow, VD_FOLLOW_DATA);
    fake_chat_keys(&fake, "F10 '/history base data' Enter");
    assert_non_null(strstr(fake.chat.notice.text, "(1 of 2 rounds), from shared answers"));
    fake_chat_keys(&fake, "Right M-Up M-2"); // to "is it big?" it is the first one's
    expect("base continues from shared answers here");
}

// The next history is chosen where it can be seen.
static void a_history_alone_is_for_models_side_by_side(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is it red?' Enter '/history' Enter");
    expect("/history own, shared or data");
}

static void models_are_compared_and_go_their_own_ways(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter 'what color is it?' Enter F10");
    assert_int_equal(fake.chat.lanes.count, 2);
    expect("improved  own answers");
    expect("base  shared answers");
    // It was asked both rounds, the second one after the first model's answer.
    char history[256];
    snprintf(history, sizeof history, "1: is there a cube? %s.", answer_of(0, 0));
    assert_string_equal(fake.history, history);
    fake_chat_keys(&fake, "Right M-h");
    expect("base  own answers");
    snprintf(history, sizeof history, "1: is there a cube? %s.", answer_of(1, 0));
    assert_string_equal(fake.history, history);
    fake_chat_keys(&fake, "M-h");
    expect("base  answers in the data");
    assert_string_equal(fake.history, "1: is there a cube? yes.");
    // A shared answer that is replaced is no business of a model that follows the data.
    int asked = fake.asked;
    fake_chat_keys(&fake, "Left M-Up M-3");
    assert_int_equal(fake.asked, asked + 1);
    assert_int_equal(fake.history[0], '0');
    fake_chat_keys(&fake, "'/history base shared' Enter");
    snprintf(history, sizeof history, "1: is there a cube? %s.", answer_of(0, 0));
    assert_string_equal(fake.history, history);
    fake_chat_keys(&fake, "'/history nobody own' Enter");
    expect("/history nobody own: no such model is shown");
    fake_chat_keys(&fake, "'/history whatever' Enter");
    expect("/history own, shared or data");
    // The answer of a model that continues from others' cannot be chosen.
    fake_chat_keys(&fake, "Right M-2");
    expect("base continues from shared answers here");
    // They change places, the conversation before is kept.
    fake_chat_keys(&fake, "F3");
    expect("branch ");
    assert_string_equal(fake.chat.lanes.lane[0].model, "base");
    assert_string_equal(fake.chat.lanes.lane[1].model, "improved");
    assert_string_equal(fake.chat.conversation.branch->rounds[1].response[0].model, "base");
    assert_string_equal(fake.chat.conversation.branch->rounds[1].response[1].model, "improved");
    fake_chat_keys(&fake, "'/compare base' Enter");
    expect("base is compared already");
    fake_chat_keys(&fake, "'/compare a' Enter '/compare b' Enter '/compare c' Enter");
    expect("at most 4 models can be compared");
    fake_chat_keys(&fake, "'/compare off' Enter");
    expect("base answers alone");
    assert_int_equal(fake.chat.lanes.count, 1);
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
    fake_chat_keys(&fake, "'/compare improved' Enter"); // this one, and no other
    assert_int_equal(fake.chat.lanes.count, 2);
    assert_string_equal(fake.chat.lanes.lane[1].model, "improved");
    fake_chat_keys(&fake, "'/compare off' Enter");
    fake.model_lost = true;
    fake_chat_keys(&fake, "F10");
    expect("improved: no such model");
    assert_int_equal(fake.chat.lanes.count, 1);
    assert_int_equal(fake.chat.nav.places.now, VD_PLACE_CHAT);
    fake.model_lost = false;
}

// F10 while a question is answered: the other model comes as soon as that is done.
static void what_was_forgotten_comes_back(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "M-r");
    expect("nothing to redo");
    fake_chat_keys(&fake, "'one?' Enter 'two?' Enter 'three?' Enter M-2");
    int asked = fake.asked, chosen = last_take()->chosen;
    fake_chat_keys(&fake, "M-u M-u");
    expect("the last round was undone; Alt-r brings it back");
    assert_int_equal(fake.chat.conversation.branch->count, 1);
    fake_chat_keys(&fake, "M-r");
    expect("round 2 is back");
    fake_chat_keys(&fake, "M-r");
    assert_string_equal(last_round()->typed, "three?");
    assert_int_equal(last_take()->chosen, chosen);
    assert_int_equal(fake.asked, asked); // as it was
    fake_chat_keys(&fake, "M-r");
    expect("nothing to redo");
    // A model that is compared since then is asked.
    fake_chat_keys(&fake, "M-u F10 Esc M-r");
    assert_true(last_round()->response[1].ready);
    assert_int_equal(last_take()->chosen, chosen);
    // Not behind another question, in another branch or about another picture.
    fake_chat_keys(&fake, "M-u 'four?' Enter M-r");
    expect("nothing to redo");
    fake_chat_keys(&fake, "M-u '/branch' Enter M-r");
    expect("nothing to redo");
    fake_chat_keys(&fake, "M-u F8 'five?' Enter M-r");
    expect("nothing to redo");
    // Nor after another answer, whose history it does not know.
    fake_chat_keys(&fake, "'six?' Enter M-u M-2 M-r");
    expect("nothing to redo");
    fake_chat_keys(&fake, "'seven?' Enter M-u F6 M-r");
    expect("nothing to redo");
    fake_chat_keys(&fake, "'eight?' Enter M-u F3 M-r");
    expect("nothing to redo");
    assert_int_equal(fake.chat.conversation.branch->count, 1);
}

static void starting_over_can_be_undone(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'one?' Enter 'two?' Enter '/branch' Enter '/new' Enter");
    expect("started over; Alt-u brings the conversation back");
    assert_int_equal(fake.chat.conversation.branch->count, 0);
    int asked = fake.asked;
    fake_chat_keys(&fake, "F8 M-u"); // nothing was left there
    expect("nothing to undo: no question was asked yet");
    fake_chat_keys(&fake, "F7 M-u");
    expect("the conversation before /new is back");
    assert_int_equal(fake.chat.conversation.branch->count, 2);
    assert_int_equal(fake.chat.conversation.branches.count, 2);
    assert_int_equal(fake.asked, asked);
    fake_chat_keys(&fake, "'/new' Enter '/new' Enter 'three?' Enter M-u M-u");
    assert_int_equal(fake.chat.conversation.branch->count, 2);
    fake_chat_keys(&fake, "'/new' Enter M-r"); // the other way as well
    assert_int_equal(fake.chat.conversation.branch->count, 2);
    fake_chat_keys(&fake, "M-u");
    assert_int_equal(fake.chat.conversation.branch->count, 1);
}

static void comparing_waits_for_the_answer(void **state)
{
    (void)state;
    fake.hold = true;
    fake_chat_keys(&fake, "'is there a cube?' Enter F10");
    assert_int_equal(fake.chat.lanes.count, 1);
    fake_chat_release(&fake, VD_OK);
    fake.hold = false;
    assert_int_equal(fake.chat.lanes.count, 2);
    expect("base  shared answers");
    fake_chat_keys(&fake, "'/compare off' Enter");
    fake.hold = true;
    fake_chat_keys(&fake, "'and a ball?' Enter F10 Esc"); // left before: nothing comes
    fake_chat_release(&fake, VD_OK);
    assert_int_equal(fake.chat.lanes.count, 1);
}

// What the running figures say is what the metrics make of the same ranks.
static void running_metrics_are_those_of_the_candidates(void **state)
{
    (void)state;
    fake_chat_keys(&fake, "'is there a cube?' Enter");
    const vd_response *response = last_take();
    int rank = 1; // of "yes" among the first ten answers of the pool, which people had
    for (int i = 1; i < FAKE_ANSWERS - 2; i++)
        rank += response->reply.answer.score[i] > response->reply.answer.score[0];
    assert_int_equal(response->metrics.rounds, 1);
    assert_float_equal(response->metrics.sum[VD_MEAN_RANK], rank, 1e-9);
    assert_int_equal(response->metrics.dense_rounds, 1);
    fake_chat_keys(&fake, "'what color is it?' Enter 'nobody asked this' Enter");
    assert_int_equal(fake.chat.conversation.branch->rounds[1].response[0].metrics.dense_rounds, 0);
    assert_int_equal(last_take()->metrics.rounds, 0);
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "F10");
    expect("2 rounds: R@1 ");
    // A candidate that is not in the pool leaves a round without metrics, and that is said.
    vd_round *rounds = fake.chat.conversation.branch->rounds;
    rounds[1].response[0].metrics = (vd_metrics){0};
    fake_chat_keys(&fake, "C-l");
    expect("1 of 2 rounds: R@1 ");
    rounds[0].response[0].metrics = (vd_metrics){0};
    fake_chat_keys(&fake, "C-l");
    expect("0 of 2 rounds: candidates not in pool");
}

// The picture's request; what else waits is left out.
static vd_request take_picture(void)
{
    vd_request request = {0};
    while (request.kind != VD_REQUEST_PICTURE) {
        vd_request_clear(&request);
        assert_true(vd_lanes_take_request(&fake.chat.lanes, &request));
    }
    return request;
}

static void regions_came(const vd_request *of, int regions)
{
    vd_event event = {.kind = VD_REQUEST_PICTURE,
                      .serial = of->serial,
                      .lane = of->lane,
                      .regions = {.count = regions}};
    vd_chat_event(&fake.chat, &event);
}

// Pictures of one's own are looked at by another thread: their regions may come when another one is
// shown.
static void regions_that_come_late_are_not_those_of_the_next_picture(void **state)
{
    (void)state;
    vd_chat_go_picture(&fake.chat, 1);
    const vd_request late = take_picture();
    vd_chat_go_picture(&fake.chat, 2);
    const vd_request shown = take_picture();
    regions_came(&shown, 3);
    regions_came(&late, 5);
    assert_int_equal(fake.chat.shown.regions.count, 3);
    vd_chat_start_over(&fake.chat);
    const vd_request again = take_picture();
    regions_came(&shown, 5);
    assert_int_equal(fake.chat.shown.regions.count, 0);
    regions_came(&again, 4);
    assert_int_equal(fake.chat.shown.regions.count, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

// Two may be called the same: as they were asked for, they are told apart.
static void models_of_one_name_are_told_apart(void **state)
{
    (void)state;
    const vd_lane *lane = fake.chat.lanes.lane;
    fake_chat_keys(&fake,
                   "'/model other/base' Enter '/compare base' Enter '/compare a/base' Enter");
    assert_string_equal(lane[0].model, lane[1].model);
    fake_chat_keys(&fake, "'/history other/base people' Enter '/history base own' Enter");
    assert_int_equal(lane[0].follow, VD_FOLLOW_DATA);
    assert_int_equal(lane[1].follow, VD_FOLLOW_OWN);
    assert_int_equal(lane[2].follow, VD_FOLLOW_SHARED);
    // Behind one that is not bundled comes the first one, whatever its file is called.
    fake_chat_keys(&fake, "'/compare off' Enter F3");
    assert_string_equal(lane[0].name, "base");
}

static void rebind(vd_rebinding *mine, const char *line)
{
    vd_error err;
    assert_int_equal(vd_rebinding_read("Ctrl-G", line, mine, &err), VD_OK);
    vd_keymap_rebind(mine, 1);
}

// A command without what it takes is its key: there, and back.
static void commands_do_what_their_keys_do(void **state)
{
    (void)state;
    const vd_navigation *nav = &fake.chat.nav;
    vd_rebinding mine;
    fake_chat_keys(&fake, "'/compare' Enter");
    assert_int_equal(nav->places.now, VD_PLACE_COMPARE);
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = 60, .y = 4});
    assert_int_equal(nav->lane, 1);
    fake_chat_key(&fake, (vd_key){.code = VD_KEY_CLICK, .x = 20, .y = 4});
    assert_int_equal(nav->lane, 0);
    fake_chat_keys(&fake, "Right '/history' Enter");
    assert_int_equal(fake.chat.lanes.lane[1].follow, VD_FOLLOW_OWN);
    fake_chat_keys(&fake, "M-h");
    assert_int_equal(fake.chat.lanes.lane[1].follow, VD_FOLLOW_DATA);
    fake_chat_keys(&fake, "'/compare' Enter");
    assert_int_equal(nav->places.now, VD_PLACE_CHAT);
    assert_int_equal(fake.chat.lanes.count, 2);
    rebind(&mine, "/pictures");
    fake_chat_keys(&fake, "C-g");
    assert_int_equal(nav->places.now, VD_PLACE_PICTURES);
    fake_chat_keys(&fake, "C-g");
    assert_int_equal(nav->places.now, VD_PLACE_CHAT);
    rebind(&mine, "/pictures cube");
    fake_chat_keys(&fake, "C-g");
    assert_string_equal(nav->filter.text, "cube");
    fake_chat_keys(&fake, "'s' C-g"); // it looks for this, and goes nowhere
    assert_string_equal(nav->filter.text, "cube");
    assert_int_equal(nav->places.now, VD_PLACE_PICTURES);
    fake_chat_keys(&fake, "Esc");
    rebind(&mine, "/find");
    fake_chat_keys(&fake, "'is there a cube?' Enter 'cube' C-g");
    expect("round 1 has \"cube\"");
    assert_int_equal(nav->line.length, 0);
    rebind(&mine, "/all-back");
    fake_chat_keys(&fake, "C-g");
    assert_string_equal(fake.chat.notice.text,
                        "/all-back does nothing here; it works in the walk through an answer or "
                        "while a caption is looked at word by word");
    vd_keymap_rebind(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(models_change_and_answer_again),
        TEST(models_of_one_name_are_told_apart),
        TEST(commands_do_what_their_keys_do),
        TEST(the_record_names_the_model_that_answered),
        TEST(the_model_asked_for_last_answers),
        TEST(a_bundled_model_is_known_by_its_file),
        TEST(an_edited_round_is_asked_again_with_all_after_it),
        TEST(asking_again_can_be_stopped),
        TEST(branches_start_at_the_selected_round_and_the_oldest_goes),
        TEST(columns_name_pools_that_differ),
        TEST(columns_have_a_picture),
        TEST(models_that_change_places_need_two_branches),
        TEST(no_model_is_compared_with_itself),
        TEST(answers_in_the_data_may_be_missing),
        TEST(a_history_alone_is_for_models_side_by_side),
        TEST(models_are_compared_and_go_their_own_ways),
        TEST(what_was_forgotten_comes_back),
        TEST(starting_over_can_be_undone),
        TEST(comparing_waits_for_the_answer),
        TEST(regions_that_come_late_are_not_those_of_the_next_picture),
        TEST(running_metrics_are_those_of_the_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

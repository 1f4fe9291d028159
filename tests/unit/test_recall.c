// A conversation of 1,000 rounds with questions and history entries as long as the engine takes
// them: what words looked at is kept for the newest rounds, and computed again for older ones.
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/attentions.h"
#include "tests/support/fake_chat.h"

enum { ROUNDS = 1000 };

static fake_chat fake;

static size_t kept_bytes(void)
{
    size_t bytes = 0;
    for (size_t i = 0; i < fake.chat.conversation.branch->count; i++)
        for (int lane = 0; lane < VD_MODELS; lane++) {
            const vd_answer *answer =
                &fake.chat.conversation.branch->rounds[i].response[lane].reply.answer;
            for (int a = 0; a < answer->attentions; a++)
                if (answer->attention[a].key == VD_AXIS_HISTORY_WORDS && answer->attention[a].share)
                    bytes += sizeof(float) * (size_t)answer->attention[a].rows *
                             (size_t)answer->attention[a].columns;
        }
    return bytes;
}

static const vd_answer *answer_of(size_t round, int lane)
{
    return &fake.chat.conversation.branch->rounds[round].response[lane].reply.answer;
}

static void long_question(int number, char *out, size_t size)
{
    snprintf(out, size,
             "is the %d th of the very small and shiny red balls in front of the large blue "
             "cube",
             number);
}

static void talk(int rounds)
{
    fake_chat_start(&fake);
    fake.full_size = true;
    for (int i = 0; i < rounds; i++) {
        char question[160];
        long_question(i, question, sizeof question);
        vd_chat_ask(&fake.chat, question);
        fake_chat_keys(&fake, "C-l");
        assert_int_equal(fake.chat.conversation.branch->count, i + 1);
    }
}

static void a_long_conversation_stays_within_its_memory(void **state)
{
    (void)state;
    struct mallinfo2 before = mallinfo2();
    talk(ROUNDS);
    struct mallinfo2 after = mallinfo2();
    size_t all = 0;
    for (size_t i = 0; i < ROUNDS; i++)
        all += sizeof(float) * (i + 1) * (VD_MAX_HISTORY - 1) *
               (size_t)answer_of(i, 0)->question_length;
    size_t used = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
    print_message("%d rounds: %zu MB are in use; attention to words of the history %zu of %zu MB\n",
                  ROUNDS, used >> 20, kept_bytes() >> 20, all >> 20);
    assert_true(all > 20 * (size_t)VD_TOPIC_BYTES); // else there is nothing to bound
    assert_true(kept_bytes() <= VD_TOPIC_BYTES);
    assert_true(kept_bytes() > VD_TOPIC_BYTES / 2);
    assert_true(vd_answer_whole(answer_of(ROUNDS - 1, 0)));
    assert_false(vd_answer_whole(answer_of(0, 0)));
    for (size_t i = 0; i < ROUNDS; i++) // all else is there
        for (int a = 0; a < answer_of(i, 0)->attentions; a++)
            assert_true(answer_of(i, 0)->attention[a].share ||
                        answer_of(i, 0)->attention[a].key == VD_AXIS_HISTORY_WORDS);

    // Set aside, it counts with the one that goes on.
    assert_true(vd_lanes_fork(&fake.chat.lanes, ROUNDS));
    fake_chat_keys(&fake, "'is it red?' Enter");
    size_t aside = 0;
    for (size_t i = 0; i < ROUNDS; i++)
        aside += vd_answer_whole(
            &fake.chat.conversation.branches.at[0].rounds[i].response[0].reply.answer);
    assert_true(kept_bytes() <= VD_TOPIC_BYTES);
    assert_true(aside <= 1);
    fake_chat_end(&fake);
}

static void an_old_round_is_computed_again_when_it_is_looked_at(void **state)
{
    (void)state;
    talk(300);
    int asked = fake.asked;
    size_t round = 11;
    assert_false(vd_answer_whole(answer_of(round, 0)));
    int chosen = fake.chat.conversation.branch->rounds[round].response[0].chosen;
    long stamp = fake.chat.conversation.branch->rounds[round].response[0].stamp;
    fake.chat.nav.selected = (int)round;
    fake_chat_keys(&fake, "C-l"); // the chat does not need it
    assert_int_equal(fake.asked, asked);
    fake_chat_keys(&fake, "F5");
    assert_int_equal(fake.asked, asked + 1);
    assert_true(strncmp(fake.history, "0: is the 0 th", 14) == 0);
    const vd_answer *answer = answer_of(round, 0);
    assert_true(vd_answer_whole(answer));
    assert_int_equal(answer->rounds, round + 1);
    assert_true(fake_chat_shows(&fake, "and where \"is\" looks"));
    // The answer is the one it was, and nothing else was asked again.
    assert_int_equal(fake.chat.conversation.branch->rounds[round].response[0].chosen, chosen);
    assert_int_equal(fake.chat.conversation.branch->rounds[round].response[0].stamp, stamp);
    assert_int_equal(fake.chat.conversation.branch->count, 300);
    assert_true(kept_bytes() <= VD_TOPIC_BYTES);
    fake_chat_keys(&fake, "Right Right");
    assert_int_equal(fake.asked, asked + 1);
    fake_chat_keys(&fake, "M-Up"); // the one before it is looked at
    assert_int_equal(fake.asked, asked + 2);
    assert_true(vd_answer_whole(answer_of(round - 1, 0)));
    fake_chat_end(&fake);
}

static void it_says_so_while_it_waits_and_when_it_fails(void **state)
{
    (void)state;
    talk(300);
    fake.hold = true;
    fake.chat.nav.selected = 3;
    fake_chat_keys(&fake, "F5");
    assert_true(fake_chat_shows(&fake, "what the words attend to is being computed"));
    fake_chat_release(&fake, VD_IO);
    assert_true(fake_chat_shows(&fake, "the engine says no"));
    assert_true(fake_chat_shows(&fake, "what the words attend to is no longer kept"));
    int asked = fake.asked;
    fake_chat_keys(&fake, "Right"); // not again and again
    assert_int_equal(fake.asked, asked);
    // A question asked while one is being computed is answered all the same.
    fake_chat_keys(&fake, "M-Up");
    assert_true(fake_chat_shows(&fake, "what the words attend to is being computed"));
    fake.hold = false;
    fake_chat_release(&fake, VD_OK);
    fake_chat_keys(&fake, "'is it red?' Enter");
    assert_int_equal(fake.chat.conversation.branch->count, 301);
    // Another model's attention is not this one's.
    fake_chat_keys(&fake, "F3");
    fake.chat.nav.selected = 5;
    asked = fake.asked;
    fake_chat_keys(&fake, "C-l");
    assert_int_equal(fake.asked, asked);
    assert_true(fake_chat_shows(&fake, "what the words attend to is no longer kept"));
    fake_chat_end(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_conversation_stays_within_its_memory),
        cmocka_unit_test(an_old_round_is_computed_again_when_it_is_looked_at),
        cmocka_unit_test(it_says_so_while_it_waits_and_when_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

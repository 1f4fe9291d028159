// What a transcript keeps of a long conversation.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/attentions.h"
#include "tests/support/plain_chat.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "engine/base/json_tree.h"

enum { ROUNDS = 60 };

static tiny_world tiny;
static char *path;

static int make_conversation(void **state)
{
    (void)state;
    vd_error err = {0};
    vd_world *world;
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    assert_int_equal(vd_world_open_files(&(vd_world_files){0}, &world, &err), VD_OK);
    path = support_join(tiny.directory, "long.jsonl");
    plain_chat p;
    plain_chat_open(world, &p, false, path);
    static const char *const questions[] = {"what color is the ball", "is the cube red",
                                            "is it next to the ball", "and the cube"};
    for (int i = 0; i < ROUNDS; i++)
        plain_chat_ask(&p, questions[i * 7 / 3 % 4]);
    assert_int_equal(p.chat.conversation.branch->count, ROUNDS);
    plain_chat_close(&p);
    vd_world_close(world);
    return 0;
}

static int remove_conversation(void **state)
{
    (void)state;
    free(path);
    tiny_world_remove(&tiny);
    return 0;
}

static double largest(const vd_json_value *rounds, const vd_json_value *topic, vd_json_type type)
{
    double most = 0;
    for (; rounds; rounds = rounds->next, topic = topic->next)
        if (topic->type == type && rounds->number > most)
            most = rounds->number;
    return most;
}

static double smallest_kept(const vd_json_value *rounds, const vd_json_value *topic)
{
    double least = 1;
    for (; rounds; rounds = rounds->next, topic = topic->next)
        if (topic->type == VD_JSON_LIST && rounds->number < least)
            least = rounds->number;
    return least;
}

// Every answer's line has the words' attention to the 20 strongest entries of its history, and
// grows by no more than what a round said.
static void words_attention_is_kept_of_the_strongest_rounds(void **state)
{
    (void)state;
    size_t size, round = 0, length_at_20 = 0, length = 0;
    char *text = support_read_file(path, &size);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        vd_error err = {0};
        vd_json_value *value;
        assert_int_equal(vd_json_value_read("line", line, (size_t)(end - line), &value, &err),
                         VD_OK);
        const vd_json_value *answer = vd_json_member(value, "answer", VD_JSON_MAP);
        if (answer) {
            const vd_json_value *all = vd_json_member(answer, "attentions", VD_JSON_LIST);
            const vd_json_value *rounds = vd_json_member(all->first, "shares", VD_JSON_LIST)->first;
            const vd_json_value *topic = vd_json_member(all->first->next, "entries", VD_JSON_LIST);
            size_t kept = 0;
            round++;
            assert_int_equal(rounds->count, round);
            assert_int_equal(topic->count, round);
            for (const vd_json_value *one = topic->first; one; one = one->next)
                kept += one->type == VD_JSON_LIST;
            assert_int_equal(kept, round < VD_TOPIC_ENTRIES ? round : VD_TOPIC_ENTRIES);
            assert_true(smallest_kept(rounds->first, topic->first) >=
                        largest(rounds->first, topic->first, VD_JSON_NULL));
            length = (size_t)(end - line);
            length_at_20 = round == VD_TOPIC_ENTRIES ? length : length_at_20;
        }
        vd_json_value_free(value);
    }
    assert_int_equal(round, ROUNDS);
    print_message("a line of round %d: %zu bytes, of round %d: %zu\n", VD_TOPIC_ENTRIES,
                  length_at_20, ROUNDS, length);
    assert_true(length < length_at_20 * 3 / 2 + (ROUNDS - VD_TOPIC_ENTRIES) * 80);
    free(text);
}

static void expect_replay(const char *file)
{
    char expected[100];
    support_program run;
    const char *const arguments[] = {"replay", file, NULL};
    support_program_run(&run, arguments, NULL);
    snprintf(expected, sizeof expected, ": %d answers, %d scores, 0 differ\n", ROUNDS,
             ROUNDS * TINY_ANSWERS);
    support_program_expect(&run, 0, "", NULL);
    assert_non_null(strstr(run.out, expected));
    support_program_clear(&run);
}

// Every score can be verified; so it can with files that have the attention to every round.
static void every_score_is_verified_with_and_without_them(void **state)
{
    (void)state;
    expect_replay(path);
    char *older = support_join(tiny.directory, "older.jsonl");
    size_t size;
    char *text = support_read_file(path, &size), *whole = NULL;
    FILE *out = open_memstream(&whole, &size);
    assert_non_null(out);
    for (const char *at = text, *next; *at; at = next) {
        const char *left_out = strstr(at, ",null");
        next = left_out ? left_out + strlen(",null") : at + strlen(at);
        fprintf(out, "%.*s%s", (int)((left_out ? left_out : next) - at), at,
                left_out ? ",[[0.5,0.5]]" : "");
    }
    fclose(out);
    assert_non_null(strstr(whole, ",[[0.5,0.5]]"));
    support_write_text(older, whole);
    expect_replay(older);
    free(whole);
    free(older);
    free(text);
}

// ---- large pools --------------------------------------------------------------------------------

enum { LARGE = 1200 };

static char texts[LARGE][16];
static const char *pool[LARGE];

// An answer ranked in a large pool: its probabilities are those of all, though 1,000 are written.
static void write_large(const char *file, vd_reply *reply)
{
    vd_error err = {0};
    vd_answer *answer = &reply->answer;
    double sum = 0;
    *reply = (vd_reply){.typed = vd_strdup("is it?"), .question = vd_strdup("is it"), .words = 1};
    *answer = (vd_answer){.candidates = LARGE,
                          .score = vd_alloc(LARGE, sizeof(float)),
                          .probability = vd_alloc(LARGE, sizeof(float)),
                          .order = vd_alloc(LARGE, sizeof(int32_t)),
                          .rounds = 1,
                          .question_length = 1,
                          .regions = 1,
                          .attention = vd_alloc(4, sizeof *answer->attention)};
    answer->attentions =
        support_mvan(answer, vd_alloc(1, sizeof(float)), NULL, vd_alloc(1, sizeof(float)),
                     vd_alloc(1, sizeof(float)), answer->attention);
    reply->word[0] = vd_strdup("it");
    for (int i = 0; i < LARGE; i++) {
        int one = (int)((long)i * 7 % LARGE);
        snprintf(texts[i], sizeof texts[i], "answer %d", i);
        pool[i] = texts[i];
        answer->order[i] = one;
        answer->score[one] = 4 - 0.002f * (float)i;
        sum += exp((double)answer->score[one]);
    }
    for (int i = 0; i < LARGE; i++)
        answer->probability[i] = (float)(exp((double)answer->score[i]) / sum);
    const vd_sheet sheet = {.image_id = 1,
                            .caption = "c",
                            .features_hash = {"f"},
                            .sides = 1,
                            .side = {{.name = "base",
                                      .model = "base",
                                      .reply = reply,
                                      .texts = pool,
                                      .model_hash = {"m"},
                                      .pool_hash = {"p"}}}};
    vd_transcript *transcript;
    assert_int_equal(vd_transcript_start(file, &transcript, &err), VD_OK);
    assert_int_equal(vd_transcript_answer(transcript, &sheet, &err), VD_OK);
    vd_transcript_close(transcript);
}

static void refuse_changed(const char *file, char *text, const char *part, const char *other)
{
    vd_transcript_file back;
    vd_error err = {0};
    char *at = strstr(text, part), kept[64];
    assert_non_null(at);
    memcpy(kept, at, strlen(other));
    memcpy(at, other, strlen(other));
    support_write_text(file, text);
    support_refused(vd_transcript_read(file, &back, &err), VD_FORMAT, &err, "line 3", NULL);
    memcpy(at, kept, strlen(other));
}

static void of_a_large_pool_the_best_scores_are_kept(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "large.jsonl");
    size_t size;
    vd_reply reply;
    write_large(file, &reply);
    vd_transcript_file back = plain_chat_read_back(file);
    assert_int_equal(back.record_count, 1);
    const vd_answer *was = &reply.answer, *now = &back.records[0].reply.answer;
    assert_int_equal(now->candidates, LARGE);
    for (int i = 0; i < LARGE; i++) {
        int one = was->order[i];
        bool kept = i < VD_RECORDED_SCORES;
        assert_true(now->score[one] == (kept ? was->score[one] : -INFINITY));
        assert_true(fabsf(now->probability[one] - (kept ? was->probability[one] : 0)) < 1e-7f);
        assert_true(!kept || now->order[i] == one);
    }
    vd_transcript_clear(&back);
    assert_true(support_fail_each_allocation(plain_chat_read_once, file) > 10);
    char *text = support_read_file(file, &size);
    char *line = strstr(text, "{\"answer\"");
    print_message("a line of %d candidates: %zu bytes\n", LARGE, strlen(line));
    assert_true(strlen(line) < 20000);
    refuse_changed(file, text, "\"best\":[0,7,", "\"best\":[-1,7");
    refuse_changed(file, text, "\"best\":[0,7,", "\"best\":[{},");
    refuse_changed(file, text, "\"best\":[0,7,", "\"best\":[9999");
    refuse_changed(file, text, "\"best\":", "\"bets\":");
    refuse_changed(file, text, "\"log_sum\"", "\"log_mus\"");
    vd_reply_clear(&reply);
    free(text);
    free(file);
}

// ---- many answers -------------------------------------------------------------------------------

enum { ANSWERS = 16000 };

static void write_many(const char *file)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out, "{\"transcript\":1}\n{\"pool\":{\"hash\":\"p\",\"answers\":[\"yes\"]}}\n");
    for (int i = 0; i < ANSWERS; i++) {
        fprintf(out,
                "{\"answer\":{\"lane\":0,\"name\":\"m\",\"model\":\"m\",\"image_id\":%d,"
                "\"caption\":\"c\",\"history\":[],\"model_hash\":\"m\",\"pool_hash\":\"p\","
                "\"features_hash\":\"f\",\"typed\":\"q%d\",\"question\":\"q\",\"words\":[\"q\"],"
                "\"unknown\":[false],\"cut\":0,\"scores\":[1],\"region_count\":1,"
                "\"attentions\":[]}}\n",
                i / 2, i);
        fprintf(out,
                "{\"conversation\":{\"image_id\":%d,\"caption\":\"c\",\"rounds\":[[\"q%d\","
                "\"answer %d\"]]}}\n{\"conversation\":{\"image_id\":%d,\"caption\":\"c\","
                "\"rounds\":[]}}\n",
                i / 2, i, i, i / 2);
    }
    assert_int_equal(fclose(out), 0);
}

// What is done with each answer takes no longer for all than reading them, however many there are.
static void answers_are_found_without_looking_at_all(void **state)
{
    (void)state;
    char *file = support_join(tiny.directory, "many.jsonl");
    char *out = support_join(tiny.directory, "many.json");
    write_many(file);
    clock_t start = clock();
    vd_transcript_file back = plain_chat_read_back(file);
    clock_t reading = clock() - start;
    assert_int_equal(back.record_count, ANSWERS);
    assert_int_equal(back.dialog_count, ANSWERS);
    start = clock();
    for (size_t i = 0; i < back.dialog_count; i++) {
        const vd_record *found = vd_transcript_find(&back, &back.dialogs[i], 0, 0);
        assert_ptr_equal(found, &back.records[i]);
        const vd_record *other;
        assert_ptr_equal(vd_transcript_find_same(&back, &found->sheet, &other), found);
        assert_int_equal(back.dialogs[i].again, i % 2);
        assert_int_equal(back.dialogs[i].later, !(i % 2));
    }
    assert_true(clock() - start < reading);
    start = clock();
    assert_int_equal(vd_transcript_visdial(&back, out, NULL), VD_OK);
    print_message("read %.3f s, exported %.3f s\n", (double)reading / CLOCKS_PER_SEC,
                  (double)(clock() - start) / CLOCKS_PER_SEC);
    assert_true(clock() - start < reading);
    vd_transcript_clear(&back);
    free(out);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_attention_is_kept_of_the_strongest_rounds),
        cmocka_unit_test(of_a_large_pool_the_best_scores_are_kept),
        cmocka_unit_test(answers_are_found_without_looking_at_all),
        cmocka_unit_test(every_score_is_verified_with_and_without_them),
    };
    return cmocka_run_group_tests(tests, make_conversation, remove_conversation);
}

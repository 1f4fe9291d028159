#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "features/dialogs/visdial.h"
#include "tests/support/plain_chat.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tests/support/tiny_world.h"
#include "engine/base/json_tree.h"

static tiny_world tiny;
static vd_world *world;
static char *path; // of the transcript that the chat below wrote

// Two rounds about picture 1, the second with another answer than the first one; one about 2.
static void write_transcript(vd_world *of, const char *file)
{
    plain_chat p;
    plain_chat_open(of, &p, false, file);
    plain_chat_ask(&p, "What colour is the <cube>?");
    plain_chat_ask(&p, "is it next to the ball");
    vd_chat_choose(&p.chat, 2);
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    vd_chat_go_picture(&p.chat, 1);
    plain_chat_serve(&p);
    vd_recorder_step(&p.recorder, &p.chat);
    plain_chat_ask(&p, "what color is the ball");
    plain_chat_close(&p);
}

static int make_tiny(void **state)
{
    (void)state;
    vd_error err = {0};
    tiny_world_make(&tiny);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
    assert_int_equal(vd_world_open_files(&(vd_world_files){0}, &world, &err), VD_OK);
    path = support_join(tiny.directory, "chat.jsonl");
    write_transcript(world, path);
    return 0;
}

static int remove_tiny(void **state)
{
    (void)state;
    vd_world_close(world);
    tiny_world_remove(&tiny);
    free(path);
    return 0;
}

// ---- writing and reading ------------------------------------------------------------------------

static void what_was_said_is_read_back(void **state)
{
    (void)state;
    vd_transcript_file file = plain_chat_read_back(path);
    assert_int_equal(file.record_count, 3);
    assert_int_equal(file.dialog_count, 2);
    assert_int_equal(file.pool_count, 1);
    const vd_chat_record *dialog = &file.dialogs[0];
    assert_int_equal(dialog->image_id, 1);
    assert_int_equal(dialog->count, 2);
    assert_string_equal(dialog->rounds[0].question, "What colour is the <cube>?");
    assert_int_equal(file.dialogs[1].image_id, 2);
    assert_int_equal(file.dialogs[1].count, 1);

    const vd_record *second = vd_transcript_find(&file, dialog, 1, 0);
    assert_non_null(second);
    const vd_answer *answer = &second->reply.answer;
    assert_string_equal(second->sheet.side[0].model, "improved");
    assert_string_equal(second->sheet.history[0].answer, dialog->rounds[0].answer);
    assert_int_equal(answer->candidates, TINY_ANSWERS);
    assert_int_equal(answer->rounds, 2);
    assert_int_equal(answer->regions, TINY_REGIONS);
    assert_string_equal(dialog->rounds[1].answer, second->sheet.side[0].texts[answer->order[2]]);
    assert_null(vd_transcript_find(&file, dialog, 1, 1));

    // The same as the engine says now, all of it.
    vd_session *session;
    vd_reply now;
    vd_error err = {0};
    size_t index;
    assert_int_equal(vd_world_find(world, 1, &index, &err), VD_OK);
    assert_int_equal(vd_session_new(world, "improved", &session, &err), VD_OK);
    assert_int_equal(vd_session_picture(session, index, &err), VD_OK);
    assert_int_equal(
        vd_session_continue(session, second->sheet.history, second->sheet.rounds, NULL, &err),
        VD_OK);
    assert_int_equal(vd_session_ask(session, "is it next to the ball", NULL, &now, &err), VD_OK);
    for (int i = 0; i < TINY_ANSWERS; i++) {
        assert_true(fabsf(answer->score[i] - now.answer.score[i]) < 1e-6f);
        assert_true(fabsf(answer->probability[i] - now.answer.probability[i]) < 1e-6f);
        assert_int_equal(answer->order[i], now.answer.order[i]);
    }
    static const vd_axis axes[][2] = {{VD_AXIS_QUESTIONS, VD_AXIS_ENTRIES},
                                      {VD_AXIS_REGIONS, VD_AXIS_QUESTION_WORDS},
                                      {VD_AXIS_QUESTIONS, VD_AXIS_REGIONS}};
    assert_int_equal(answer->attentions, 3); // not those of the history's words
    for (int k = 0; k < 3; k++) {
        const vd_attention *read = vd_answer_attention(answer, axes[k][0], axes[k][1]);
        const vd_attention *said = vd_answer_attention(&now.answer, axes[k][0], axes[k][1]);
        assert_string_equal(read->name, said->name);
        assert_true(read->rows == said->rows && read->columns == said->columns);
        for (int i = 0; i < said->rows * said->columns; i++)
            assert_true(fabsf(read->share[i] - said->share[i]) < 1e-6f);
    }
    assert_int_equal(second->reply.words, now.words);
    for (int i = 0; i < now.words; i++)
        assert_string_equal(second->reply.word[i], now.word[i]);
    vd_fingerprint model, pool, features;
    assert_int_equal(vd_session_fingerprints(session, &model, &pool, &err), VD_OK);
    assert_int_equal(vd_world_features_fingerprint(world, index, &features, &err), VD_OK);
    assert_string_equal(second->sheet.side[0].model_hash.text, model.text);
    assert_string_equal(second->sheet.side[0].pool_hash.text, pool.text);
    assert_string_equal(second->sheet.features_hash.text, features.text);
    assert_int_equal(strlen(model.text), 64);
    vd_reply_clear(&now);
    vd_session_free(session);
    vd_transcript_clear(&file);
}

static void without_a_place_for_transcripts_the_chat_says_so(void **state)
{
    (void)state;
    static const char *const places[] = {"", "/proc/nowhere"};
    char *home = strdup(getenv("HOME") ? getenv("HOME") : "");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        plain_chat p;
        setenv("XDG_STATE_HOME", places[i], 1);
        setenv("HOME", places[i], 1);
        plain_chat_open(world, &p, false, NULL);
        assert_null(p.recorder.transcript);
        assert_non_null(
            strstr(p.chat.notice.text, "no transcript is written: $XDG_STATE_HOME (without it ~/"));
        assert_non_null(strstr(p.chat.notice.text, "--transcript FILE"));
        plain_chat_ask(&p, "what color is the ball");
        assert_int_equal(p.chat.conversation.branch->count, 1);
        plain_chat_close(&p);
    }
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", home, 1);
    free(home);
}

// Lines go to a new file, an empty one or a transcript, and to no other.
static void other_files_get_no_lines(void **state)
{
    (void)state;
    static const char *const others[] = {"# A text\n", "\x89PNG\r\n", "{\"transcript\":2}\n",
                                         "{\"version\":\"1.0\"}\n", "\n{\"transcript\":1}\n"};
    char *file = support_join(tiny.directory, "there");
    vd_transcript *transcript;
    vd_error err = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        support_write_text(file, others[i]);
        support_refused(vd_transcript_start(file, &transcript, &err), VD_FORMAT, &err, file,
                        "is not a transcript", "--transcript", NULL);
        assert_null(transcript);
        char *text = support_read_file(file, NULL);
        assert_string_equal(text, others[i]);
        free(text);
    }
    static const char *const fine[] = {"", "{\"transcript\":1,\"program\":\"visdial 1.0\"}\n"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        support_write_text(file, fine[i]);
        assert_int_equal(vd_transcript_start(file, &transcript, &err), VD_OK);
        vd_transcript_close(transcript);
    }
    free(file);
}

static void transcripts_are_found_by_their_names(void **state)
{
    (void)state;
    char *home = support_join(tiny.directory, "state");
    vd_transcript_file newest;
    vd_error err = {0};
    setenv("XDG_STATE_HOME", home, 1);
    support_refused(vd_transcript_newest(&newest, &err), VD_NOT_FOUND, &err,
                    "there is no recorded conversation yet", NULL);
    vd_transcript *transcript;
    assert_int_equal(vd_transcript_start(NULL, &transcript, &err), VD_OK);
    vd_turn said = {(char *)"a", (char *)"b"};
    const vd_chat_record nothing = {.image_id = 1, .caption = (char *)"c"};
    const vd_chat_record dialog = {
        .image_id = 1, .caption = (char *)"c", .rounds = &said, .count = 1};
    assert_int_equal(vd_transcript_conversation(transcript, &nothing, &err), VD_OK);
    assert_int_equal(vd_transcript_newest(&newest, NULL), VD_NOT_FOUND); // nothing was said
    assert_int_equal(vd_transcript_conversation(transcript, &dialog, &err), VD_OK);
    assert_int_equal(vd_transcript_conversation(transcript, &dialog, &err), VD_OK);
    assert_int_equal(vd_transcript_newest(&newest, &err), VD_OK);
    assert_non_null(strstr(newest.path, "/state/visdial/transcripts/2"));
    char *text = support_read_file(newest.path, NULL);
    int lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 2); // the same conversation once
    free(text);
    vd_transcript_clear(&newest);
    vd_transcript_close(transcript);
    unsetenv("XDG_STATE_HOME");
    free(home);
}

// What is said about a picture when it is looked at again belongs to what was said before, unless
// that was given up.
static void a_picture_s_conversation_goes_on_later(void **state)
{
    (void)state;
    char *own = support_join(tiny.directory, "again.jsonl");
    vd_turn said[] = {{(char *)"a", (char *)"b"}, {(char *)"c", (char *)"d"}};
    const vd_chat_record lines[] = {
        {.image_id = 1, .caption = (char *)"x", .rounds = said, .count = 1},
        {.image_id = 2, .caption = (char *)"y"}, // nothing was said about it
        {.image_id = 1, .caption = (char *)"x", .rounds = said, .count = 1},
        {.image_id = 2, .caption = (char *)"y", .rounds = said, .count = 1},
        {.image_id = 1, .caption = (char *)"x", .rounds = said, .count = 2},
        {.image_id = 1, .caption = (char *)"x"}, // begun anew
        {.image_id = 1, .caption = (char *)"x", .rounds = said, .count = 1},
        {.image_id = 2, .caption = (char *)"y", .rounds = said, .count = 2},
        {.image_id = 1, .caption = (char *)"x", .rounds = said + 1, .count = 1}}; // a later chat's
    static const struct {
        size_t lines, dialogs;
        int64_t last;
        int rounds;
    } expected[] = {{1, 1, 1, 1}, {3, 1, 1, 1}, {4, 2, 2, 1}, {5, 2, 1, 2},
                    {6, 2, 1, 2}, {7, 3, 1, 1}, {8, 3, 2, 2}, {9, 4, 1, 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        vd_transcript *transcript;
        vd_transcript_file file;
        vd_error err = {0};
        unlink(own);
        assert_int_equal(vd_transcript_start(own, &transcript, &err), VD_OK);
        for (size_t n = 0; n < expected[i].lines; n++)
            assert_int_equal(vd_transcript_conversation(transcript, &lines[n], &err), VD_OK);
        vd_transcript_close(transcript);
        assert_int_equal(vd_transcript_read(own, &file, &err), VD_OK);
        assert_int_equal(file.dialog_count, expected[i].dialogs);
        const vd_chat_record *last = &file.dialogs[file.dialog_count - 1];
        assert_int_equal(last->image_id, expected[i].last);
        assert_int_equal(last->count, expected[i].rounds);
        vd_transcript_clear(&file);
    }
    free(own);
}

// ---- damage -------------------------------------------------------------------------------------

static void refuse_text(const char *text, const char *what)
{
    char *bad = support_join(tiny.directory, "bad.jsonl");
    vd_transcript_file file;
    vd_error err = {0};
    support_write_text(bad, text);
    support_refused(vd_transcript_read(bad, &file, &err), VD_FORMAT, &err, "bad.jsonl", what, NULL);
    free(bad);
}

static void damage_is_refused_with_its_line(void **state)
{
    (void)state;
    refuse_text("", "empty");
    refuse_text("{}\n", "line 1");
    refuse_text("{\"transcript\": 2}\n", "version 1");
    refuse_text("not JSON\n", "line 1");
    refuse_text("{\"transcript\": 1}\n{\"pool\": {\"hash\": \"x\", \"answers\": []}}\n", "line 2");
    refuse_text("{\"transcript\": 1}\n{\"conversation\": {\"image_id\": 1, \"caption\": \"c\", "
                "\"rounds\": [[\"q\"]]}}\n",
                "[question, answer]");
    static const char *const open[] = {"\"models\": []",
                                       "\"models\": [[\"base\"]]",
                                       "\"models\": [[\"base\", 1]]",
                                       "\"models\": [[\"b\", \"own\"]], \"branches\": []",
                                       "\"models\": [[\"b\", \"own\"]], \"branches\": [[]]",
                                       "\"branch\": 1, \"branches\": [[]]",
                                       "\"branch\": 0, \"branches\": [[\"q\"]]",
                                       "\"branch\": 0, \"branches\": [[[\"q\", \"a\"]]]",
                                       "\"branch\": 0, \"branches\": [[[1]]]",
                                       "\"branch\": 0, \"branches\": [{}]",
                                       "\"asides\": [[0, 0, \"hi\"]]",
                                       "\"asides\": [[1, 0, \"hi\", \"hello\"]]",
                                       "\"asides\": [[0, -1, \"hi\", \"hello\"]]",
                                       "\"asides\": [[0, 0, \"hi\", 1]]"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 "{\"transcript\": 1}\n{\"conversation\": {\"image_id\": 1, \"caption\": \"c\", "
                 "\"rounds\": [], %s}}\n",
                 open[i]);
        refuse_text(line, "line 2");
    }
    refuse_text("{\"transcript\": 1}\n[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n", "16 levels");

    // Every member of an answer that is missing or another one.
    size_t size;
    char *text = support_read_file(path, &size);
    char *answer = strstr(text, "{\"answer\"");
    static const char *const keys[] = {
        "\"lane\"",   "\"image_id\"",   "\"history\"",      "\"words\"", "\"unknown\"",
        "\"scores\"", "\"attentions\"", "\"region_count\"", "\"query\"", "\"key\"",
        "\"shares\"", "\"name\"",       "\"pool_hash\"",    "\"typed\"", "\"cut\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *key = strstr(answer, keys[i]);
        assert_non_null(key);
        key[1] = '#';
        refuse_text(text, "line 3");
        key[1] = keys[i][1];
    }
    char *scores = strstr(answer, "\"scores\":[");
    memcpy(scores + 10, "[]", 2); // a list in place of a number
    refuse_text(text, "line 3");
    free(text);
}

// A program that is killed leaves a line that was not written to its end; the rest can be read.
static void a_cut_off_line_is_left_out(void **state)
{
    (void)state;
    size_t size;
    char *text = support_read_file(path, &size), *cut = support_join(tiny.directory, "cut.jsonl");
    char *first = strchr(text, '\n');
    for (size_t length = (size_t)(first - text) + 1; length < size; length += size / 23) {
        vd_transcript_file file;
        vd_error err = {0};
        support_write_file(cut, text, length);
        assert_int_equal(vd_transcript_read(cut, &file, &err), VD_OK);
        vd_transcript_clear(&file);
    }
    free(cut);
    free(text);
}

static vd_status export_once(void *context, vd_error *err)
{
    char *out = support_join(tiny.directory, "export");
    vd_status status = vd_transcript_html(context, world, out, err);
    if (status == VD_OK)
        status = vd_transcript_markdown(context, NULL, out, err);
    if (status == VD_OK)
        status = vd_transcript_visdial(context, out, err);
    free(out);
    return status;
}

static void memory_that_is_out_is_reported(void **state)
{
    (void)state;
    assert_true(support_fail_each_allocation(plain_chat_read_once, path) > 100);
    vd_transcript_file file = plain_chat_read_back(path);
    assert_true(support_fail_each_allocation(export_once, &file) > 10);
    vd_transcript_clear(&file);
}

// ---- command ------------------------------------------------------------------------------------

static void replay(int code, const char *out, const char *err, const char *file, const char *option,
                   const char *value)
{
    support_program run;
    const char *const arguments[] = {"replay", file, "--force", option, value, NULL};
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, code, err, NULL);
    if (!strstr(run.out, out))
        print_error("missing: %s\nin: %s\n", out, run.out);
    assert_non_null(strstr(run.out, out));
    support_program_clear(&run);
}

static void replaying_finds_the_scores_that_differ(void **state)
{
    (void)state;
    char expected[100], *altered = support_join(tiny.directory, "altered.jsonl");
    snprintf(expected, sizeof expected, ": 3 answers, %d scores, 0 differ\n", 3 * TINY_ANSWERS);
    replay(0, expected, "", path, NULL, NULL);
    replay(0, "3 answers; nothing was asked again (--no-check)\n", "", path, "--no-check", NULL);

    size_t size;
    char *text = support_read_file(path, &size);
    char *score = strstr(text, "\"scores\":[") + strlen("\"scores\":[");
    size_t width = strcspn(score, ",");
    char before[40];
    snprintf(before, sizeof before, "%.*s", (int)width, score);
    memset(score, '1', width); // some other number
    score[1] = '.';
    support_write_file(altered, text, size);
    replay(5, "line 3, picture 1, round 1, improved: scores differ: What colour", "1 of 3 answers",
           altered, NULL, NULL);
    replay(5, ", 1 differ\n", "answers have changed", altered, NULL, NULL);
    memcpy(score, before, width);
    support_write_file(altered, text, size - 10);
    replay(0, "the last line is incomplete and was left out", "", altered, NULL, NULL);
    char *hash = strstr(strstr(text, "{\"answer\""), "\"model_hash\":\"") + 14;
    *hash = *hash == 'a' ? 'b' : 'a';
    support_write_file(altered, text, size);
    replay(0, "the model file has changed", "", altered, NULL, NULL);
    free(text);
    free(altered);
    replay(3, "", "/nonexistent", "/nonexistent", NULL, NULL);
    replay(4, "", "val.json", tiny.val, NULL, NULL);
    replay(2, "", "give one of them", path, "--image", "1");
}

// Of a model with two decoders the file says which one ranked, and that one ranks again.
static void the_decoder_that_ranked_ranks_again(void **state)
{
    (void)state;
    tiny_world two;
    vd_world *of;
    vd_error err = {0};
    tiny_world_make(&two);
    char *both = support_join(two.directory, "both.safetensors");
    char *file = support_join(two.directory, "chat.jsonl");
    tiny_world_model(&two, both, TINY_REGION_SIZE, "pool.txt");
    assert_int_equal(rename(both, two.improved), 0);
    assert_int_equal(vd_world_open_files(&(vd_world_files){.directory = two.directory}, &of, &err),
                     VD_OK);
    of->decoder = (vd_decoder_choice){true, VD_GENERATIVE};
    write_transcript(of, file);
    vd_world_close(of);
    setenv("VISDIAL_ASSETS", two.directory, 1);
    replay(0, ", 0 differ\n", "", file, NULL, NULL);
    replay(5, "scores differ", "3 of 3 answers", file, "--decoder", "discriminative");
    char *text = support_read_file(file, NULL), *at = text;
    static const char key[] = "\"decoder\":\"generative\"";
    for (int i = 0; i < 3; i++) {
        assert_non_null(at = strstr(at, key));
        memcpy(at, "\"was-not\"", strlen("\"was-not\"")); // where none is named
    }
    support_write_text(file, text);
    replay(5, "scores differ", "3 of 3 answers", file, NULL, NULL);
    replay(0, ", 0 differ\n", "", file, "--decoder", "generative");
    memcpy(strstr(text, "\"was-not\":\"generative"), "\"decoder\":\"Generative", 21);
    support_write_text(file, text);
    replay(4, "", "an unknown \"decoder\"", file, NULL, NULL);
    free(text);
    free(file);
    free(both);
    tiny_world_remove(&two);
    setenv("VISDIAL_ASSETS", tiny.directory, 1);
}

static void conversations_are_exported(void **state)
{
    (void)state;
    char *out = support_join(tiny.directory, "chat.out");
    replay(0, "0 differ", "", path, "--html", out);
    char *text = support_read_file(out, NULL);
    assert_non_null(strstr(text, "id=\"dialog-1-2\""));
    assert_non_null(strstr(text, "id=\"dialog-2-1\""));
    assert_non_null(strstr(text, "<image id=\"pic-2\""));
    assert_null(strstr(text, "<cube>"));
    assert_non_null(strstr(text, "&lt;cube&gt;"));
    assert_non_null(strstr(text, ">chosen</span>"));
    assert_null(strstr(text, "http:"));
    assert_null(strstr(text, "https:"));
    free(text);
    replay(0, "0 differ", "", path, "--markdown", out);
    text = support_read_file(out, NULL);
    assert_non_null(strstr(text, "### Picture 1, round 2 of 2"));
    assert_non_null(strstr(text, "(chosen)"));
    assert_non_null(strstr(text, "**What colour is the \\<cube\\>?**")); // as typed
    assert_null(strstr(text, "**what colour is"));
    assert_non_null(strstr(text, "* saw, with the share of attention: what "));
    free(text);

    replay(0, "0 differ", "", path, "--visdial", out);
    text = support_read_file(out, NULL);
    assert_non_null(strstr(text, "\"typed\":\"What colour is the <cube>?\"")); // beside
    free(text);
    vd_visdial *data;
    vd_error err = {0};
    vd_status status = vd_visdial_read(out, &data, &err);
    if (status)
        print_error("%s\n", err.text);
    assert_int_equal(status, VD_OK);
    vd_transcript_file file = plain_chat_read_back(path);
    assert_int_equal(data->dialog_count, 2);
    assert_int_equal(data->dialogs[0].image_id, 1);
    assert_int_equal(data->dialogs[0].round_count, 2);
    for (int r = 0; r < 2; r++) {
        const vd_visdial_round *round = &data->dialogs[0].rounds[r];
        assert_string_equal(data->answers[round->answer], file.dialogs[0].rounds[r].answer);
        assert_int_equal(round->option_count, TINY_ANSWERS);
        assert_int_equal(round->options[round->truth], round->answer);
    }
    assert_string_equal(data->questions[data->dialogs[0].rounds[0].question],
                        "what color is the <cube>"); // as it was read
    vd_transcript_clear(&file);
    vd_visdial_free(data);
    free(out);
}

static void every_model_of_a_round_is_exported(void **state)
{
    (void)state;
    char *three = support_join(tiny.directory, "three.jsonl");
    char *out = support_join(tiny.directory, "three.html");
    plain_chat p;
    plain_chat_open(world, &p, false, three);
    vd_lanes_compare_with(&p.chat.lanes, "base");
    plain_chat_serve(&p);
    vd_lanes_compare_with(&p.chat.lanes, tiny.base);
    plain_chat_serve(&p);
    plain_chat_ask(&p, "is it next to the ball");
    assert_int_equal(p.chat.lanes.count, 3);
    plain_chat_close(&p);
    replay(0, "0 differ", "", three, "--html", out);
    char *text = support_read_file(out, NULL);
    assert_non_null(strstr(text, "class=\"case sides-3\""));
    free(text);
    free(out);
    free(three);
}

static void a_dialog_is_laid_out(void **state)
{
    (void)state;
    support_program run;
    support_program_run(&run,
                        (const char *const[]){"replay", "--image", "2", "--data", tiny.val,
                                              "--features", tiny.features, NULL},
                        NULL);
    support_program_expect(&run, 0, NULL);
    static const char *const wanted[] = {"picture 2: a blue cube and a blue ball",
                                         "   1  what color is the cube?\n      human      ",
                                         "      base     ",
                                         "      improved ",
                                         "human answer: place ",
                                         "\n           R@1    MRR",
                                         "\nbase      "};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!strstr(run.out, wanted[i]))
            print_error("missing: %s\nin: %s\n", wanted[i], run.out);
        assert_non_null(strstr(run.out, wanted[i]));
    }
    support_program_clear(&run);
    support_program_run(&run,
                        (const char *const[]){"replay", "--image", "77", "--data", tiny.val,
                                              "--features", tiny.features, NULL},
                        NULL);
    support_program_expect(&run, 3, "no dialog about the picture 77", NULL);
    support_program_clear(&run);
    support_program_run(&run,
                        (const char *const[]){"replay", "--image", "2", "--data", tiny.val,
                                              "--features", tiny.features, "--model", "improved",
                                              "--model", "base", "--model", tiny.base, NULL},
                        NULL);
    support_program_expect(&run, 0, NULL);
    static const char *const three[] = {"\n      improved ", "\n      base (2) ",
                                        "\n      base (3) ", "\nbase (3)  "};
    for (size_t i = 0; i < sizeof three / sizeof *three; i++)
        assert_non_null(strstr(run.out, three[i]));
    support_program_clear(&run);
    // A name is not cut off, and what follows is in line.
    char *both = support_join(tiny.directory, "both.safetensors");
    tiny_world_model(&tiny, both, TINY_REGION_SIZE, NULL);
    support_program_run(&run,
                        (const char *const[]){"replay", "--image", "2", "--data", tiny.val,
                                              "--features", tiny.features, "--model", both,
                                              "--model", both, "--decoder", "generative",
                                              "--decoder", "both", NULL},
                        NULL);
    support_program_expect(&run, 0, NULL);
    assert_non_null(strstr(run.out, "\n      both, generative "));
    assert_non_null(strstr(run.out, "\n      both, both       "));
    assert_non_null(strstr(run.out, "\n      human              "));
    support_program_clear(&run);
    free(both);
}

// What would be without effect is refused, with what would have one.
static void options_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[6], *says;
    } cases[] = {
        {{"replay", "--image", "2", "x.jsonl"}, "'x.jsonl' is a transcript"},
        {{"replay", "--screen", "x.jsonl"}, "--screen shows dialogs"},
        {{"replay", "--image", "2", "--html", "x.html"}, "visdial compare --find ID"},
        {{"replay", "--image", "2", "--no-check"}, "--no-check is about transcripts"},
        {{"replay", "--image", "2", "--model", "base"}, "no model to compare 'base' with"},
        {{"replay", "--model", "base", "x.jsonl"}, "--model is for --image or --screen"},
        {{"replay", "--dense", "there", "x.jsonl"}, "--dense is for --image or --screen"},
        {{"replay", "--decoder", "gen", "--decoder", "disc"}, "more than one is for --image"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_program run;
        support_program_run(&run, cases[i].arguments, NULL);
        support_program_expect(&run, 2, cases[i].says, NULL);
        support_program_clear(&run);
    }
}

// ---- JSON ---------------------------------------------------------------------------------------

static void values_are_read_as_a_tree(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\": [1, 2.5, \"x\", null, true], \"b\": {\"c\": -9007199254740993}}";
    vd_json_value *value;
    vd_error err = {0};
    assert_int_equal(vd_json_value_read("here", text, strlen(text), &value, &err), VD_OK);
    const vd_json_value *list = vd_json_member(value, "a", VD_JSON_LIST);
    assert_int_equal(list->count, 5);
    assert_int_equal(list->first->whole, 1);
    assert_int_equal(list->first->next->whole, 0);
    assert_true(list->first->next->number > 2.4 && list->first->next->number < 2.6);
    assert_string_equal(list->first->next->next->text, "x");
    assert_int_equal(list->last->type, VD_JSON_TRUTH);
    const vd_json_value *map = vd_json_member(value, "b", VD_JSON_MAP);
    assert_int_equal(vd_json_member(map, "c", VD_JSON_NUMBER)->whole, -9007199254740993);
    assert_null(vd_json_member(map, "c", VD_JSON_TEXT));
    assert_null(vd_json_member(list, "c", VD_JSON_TEXT));
    assert_null(vd_json_text(NULL, "c"));
    vd_json_value_free(value);
    support_refused(vd_json_value_read("here", "{\"a\": }", 7, &value, &err), VD_FORMAT, &err,
                    "here", "line 1", NULL);
    assert_null(value);
}

static void what_is_no_tree_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"\"a\\u0000b\"", "here: a string holds a NUL"},
        {"[1, {\"a\": [2, \"\\u0000\"]}]", "here: at [1].\"a\"[1]: a string holds a NUL"},
        {"{\"a\": 1, \"\\u0000\": 2}", "a string holds a NUL"},
        {"{\"a\": 1234567890123456789012345678901234567890123456789012345678901234}",
         "here: at .\"a\": a number of 64 digits"},
        {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "nested deeper than 16 levels"},
    };
    vd_json_value *value;
    vd_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vd_status status = vd_json_value_read("here", bad[i][0], strlen(bad[i][0]), &value, &err);
        support_refused(status, VD_FORMAT, &err, bad[i][1], NULL);
        assert_null(value);
    }
    size_t length = 2 * ((size_t)VD_JSON_MOST_VALUES + 1) + 1;
    char *many = malloc(length);
    memset(many, '0', length);
    many[0] = '[';
    for (size_t i = 2; i < length; i += 2)
        many[i] = ',';
    many[length - 1] = ']';
    support_refused(vd_json_value_read("here", many, length, &value, &err), VD_FORMAT, &err,
                    "more than 4194304 values", NULL);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said_is_read_back),
        cmocka_unit_test(without_a_place_for_transcripts_the_chat_says_so),
        cmocka_unit_test(other_files_get_no_lines),
        cmocka_unit_test(transcripts_are_found_by_their_names),
        cmocka_unit_test(a_picture_s_conversation_goes_on_later),
        cmocka_unit_test(damage_is_refused_with_its_line),
        cmocka_unit_test(a_cut_off_line_is_left_out),
        cmocka_unit_test(memory_that_is_out_is_reported),
        cmocka_unit_test(replaying_finds_the_scores_that_differ),
        cmocka_unit_test(the_decoder_that_ranked_ranks_again),
        cmocka_unit_test(conversations_are_exported),
        cmocka_unit_test(every_model_of_a_round_is_exported),
        cmocka_unit_test(a_dialog_is_laid_out),
        cmocka_unit_test(options_that_do_not_fit_are_refused),
        cmocka_unit_test(values_are_read_as_a_tree),
        cmocka_unit_test(what_is_no_tree_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}

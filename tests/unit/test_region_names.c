// A region has one number in a picture, and one name where the detector knows what it is: in
// everything that the program writes about an answer.
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "engine/base/alloc.h"
#include "features/extract/extract.h"
#include "tests/support/program.h"
#include "tests/support/support.h"
#include "tui/answer/sheet.h"
#include "tui/session/found.h"
#include "tui/session/session.h"
#include "tui/transcript/transcript.h"

#define PICTURE  "1000001"
#define QUESTION "what color is the big ball"

static vd_world *world;
static vd_picture_regions regions;
static char *directory;

static int open_world(void **state)
{
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("VISDIAL_ASSETS");
    directory = support_temp_dir();
    return vd_world_open_files(&(vd_world_files){.directory = "assets"}, &world, NULL) ||
           vd_picture_regions_read(world->regions, atoll(PICTURE), &regions, NULL);
}

static int close_world(void **state)
{
    (void)state;
    vd_picture_regions_clear(&regions);
    vd_world_close(world);
    support_remove_tree(directory);
    free(directory);
    return 0;
}

// What the detector believes, in the words of the pictures' contents.
static void a_region_is_called_what_the_detector_believes(void **state)
{
    (void)state;
    size_t index;
    int count, named = 0;
    assert_int_equal(vd_world_find(world, atoll(PICTURE), &index, NULL), VD_OK);
    vd_region_name *things = vd_world_contents(world, index, &count);
    assert_non_null(regions.names);
    for (int i = 0; i < regions.count; i++) // in the same order
        if (regions.names[i].text[0])
            assert_non_null(strstr(things[named++].text, regions.names[i].text));
    assert_int_equal(named, count);
    vd_free(things);
    assert_true(regions.names[0].text[0]);
    const vd_region_text label = vd_region_label(regions.names, 0);
    assert_memory_equal(label.text, "1 ", 2);
    assert_string_equal(label.text + 2, regions.names[0].text);
    assert_string_equal(vd_region_label(NULL, 41).text, "42");
}

// Each "3 blue metal cone" in a text is the third region. Returns how many there are.
static int names_in(const char *text)
{
    regex_t pattern;
    regmatch_t at[3];
    int count = 0;
    assert_int_equal(regcomp(&pattern,
                             "([0-9]+)(</b>)? [a-z]+ (rubber|metal) (cube|ball|cylinder|cone)",
                             REG_EXTENDED),
                     0);
    while (regexec(&pattern, text, 3, at, 0) == 0) {
        long number = strtol(text + at[1].rm_so, NULL, 10);
        const char *name = strchr(text + at[1].rm_so, ' ') + 1;
        assert_true(number >= 1 && number <= regions.count);
        const char *own = regions.names[number - 1].text;
        assert_memory_equal(name, own, strlen(own));
        text += at[0].rm_eo;
        count++;
    }
    regfree(&pattern);
    return count;
}

static void every_text_has_the_same_numbers_and_names(void **state)
{
    (void)state;
    char *page = support_join(directory, "page");
    const char *const commands[][15] = {
        {"ask", "--image", PICTURE, QUESTION},
        {"walk", "--image", PICTURE, QUESTION},
        {"walk", "--image", PICTURE, "--markdown", QUESTION},
        {"walk", "--image", PICTURE, "--what-if", "region 2", QUESTION},
        {"compare", "--quiet", "--limit", "2", "--find", PICTURE, "--resamples", "100",
         "--markdown", page, "--force"},
        {"compare", "--quiet", "--limit", "2", "--find", PICTURE, "--resamples", "100", "--html",
         page, "--force"},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        support_program run;
        support_program_run(&run, commands[i], NULL);
        support_program_expect(&run, 0, NULL);
        size_t size;
        bool written = strcmp(commands[i][0], "compare") == 0;
        char *text = written ? support_read_file(page, &size) : NULL;
        int count = names_in(written ? text : run.out);
        free(text);
        if (count < 2)
            fail_msg("%s %zu: %d names", commands[i][0], i, count);
        support_program_clear(&run);
    }
    free(page);
}

static void write_transcript(const char *path)
{
    vd_session *session;
    vd_reply reply;
    vd_transcript *transcript;
    size_t index;
    vd_error err;
    assert_int_equal(vd_world_find(world, strtoll(PICTURE, NULL, 10), &index, NULL), VD_OK);
    assert_int_equal(vd_session_new(world, "base", &session, &err), VD_OK);
    assert_int_equal(vd_session_picture(session, index, &err), VD_OK);
    assert_int_equal(vd_session_ask(session, QUESTION, NULL, &reply, &err), VD_OK);
    vd_sheet sheet = {.image_id = strtoll(PICTURE, NULL, 10),
                      .caption = vd_world_caption(session->world, session->index),
                      .boxes = session->regions.boxes,
                      .names = session->regions.names,
                      .regions = session->regions.count,
                      .sides = 1};
    sheet.side[0] = (vd_sheet_side){
        .name = "base", .model = "base", .reply = &reply, .texts = vd_session_texts(session)};
    assert_int_equal(
        vd_session_fingerprints(session, &sheet.side[0].model_hash, &sheet.side[0].pool_hash, &err),
        VD_OK);
    vd_turn turn = {reply.typed, (char *)sheet.side[0].texts[reply.answer.order[0]]};
    const vd_chat_record talk = {
        .image_id = sheet.image_id, .caption = (char *)sheet.caption, .rounds = &turn, .count = 1};
    assert_int_equal(vd_transcript_start(path, &transcript, &err), VD_OK);
    assert_int_equal(vd_transcript_answer(transcript, &sheet, &err), VD_OK);
    assert_int_equal(vd_transcript_conversation(transcript, &talk, &err), VD_OK);
    vd_transcript_close(transcript);
    vd_reply_clear(&reply);
    vd_session_free(session);
}

// Pages made of a transcript have them, too.
static void transcripts_keep_the_names(void **state)
{
    (void)state;
    char *talk = support_join(directory, "talk.jsonl"), *page = support_join(directory, "talk");
    vd_transcript_file file = {0};
    write_transcript(talk);
    assert_int_equal(vd_transcript_read(talk, &file, NULL), VD_OK);
    assert_int_equal(file.record_count, 1);
    assert_int_equal(file.records[0].sheet.regions, regions.count);
    assert_memory_equal(file.records[0].sheet.names, regions.names,
                        (size_t)regions.count * sizeof *regions.names);
    vd_transcript_clear(&file);
    for (int html = 0; html < 2; html++) {
        const char *const arguments[] = {
            "replay", "--no-check", talk, html ? "--html" : "--markdown", page, NULL};
        support_program run;
        size_t size;
        support_program_run(&run, arguments, NULL);
        support_program_expect(&run, 0, NULL);
        support_program_clear(&run);
        char *text = support_read_file(page, &size);
        assert_true(names_in(text) >= 2);
        free(text);
        support_remove_tree(page);
    }
    free(page);
    free(talk);
}

static yajl_val json_of(const char *const *arguments)
{
    support_program run;
    support_program_run(&run, arguments, NULL);
    support_program_expect(&run, 0, NULL);
    yajl_val tree = yajl_tree_parse(run.out, NULL, 0);
    assert_non_null(tree);
    support_program_clear(&run);
    return tree;
}

static const char *text_of(yajl_val value, const char *key)
{
    const char *path[] = {key, NULL};
    return YAJL_GET_STRING(yajl_tree_get(value, path, yajl_t_string));
}

static double number_of(yajl_val value, const char *key)
{
    const char *path[] = {key, NULL};
    return YAJL_GET_DOUBLE(yajl_tree_get(value, path, yajl_t_number));
}

// "region 2" of a what-if is the region that `ask` calls 2: it got the same attention.
static void a_what_if_is_about_the_region_that_ask_numbers(void **state)
{
    (void)state;
    const char *const asked[] = {"ask", "--image", PICTURE, "--json", QUESTION, NULL};
    const char *const walked[] = {"walk", "--image", PICTURE, "--json", QUESTION, NULL};
    yajl_val ask = json_of(asked), walk = json_of(walked);
    const char *listed[] = {"attention", "regions", NULL}, *effects[] = {"effects", NULL};
    yajl_val all = yajl_tree_get(ask, listed, yajl_t_array);
    yajl_val each = yajl_tree_get(walk, effects, yajl_t_array);
    int found = 0;
    for (size_t i = 0; i < YAJL_GET_ARRAY(all)->len; i++) {
        yajl_val one = YAJL_GET_ARRAY(all)->values[i];
        char what[32], name[80];
        assert_int_equal(number_of(one, "number"), i + 1);
        assert_string_equal(text_of(one, "name"), regions.names[i].text);
        snprintf(what, sizeof what, "region %zu", i + 1);
        snprintf(name, sizeof name, "region %zu%s%s", i + 1, regions.names[i].text[0] ? " " : "",
                 regions.names[i].text);
        for (size_t k = 0; k < YAJL_GET_ARRAY(each)->len; k++) {
            yajl_val effect = YAJL_GET_ARRAY(each)->values[k];
            if (strcmp(text_of(effect, "what_if"), what) != 0)
                continue;
            assert_true(number_of(effect, "attention") >= number_of(one, "weight")); // of any step
            assert_string_equal(text_of(effect, "name"), name);
            found++;
        }
    }
    assert_int_equal(found, regions.count);
    yajl_tree_free(ask);
    yajl_tree_free(walk);
}

static void a_caption_of_what_is_found_has_the_most_first(void **state)
{
    (void)state;
    // An orange ball, two blue cubes, and one that the extractor is not sure of.
    static const struct {
        int color, shape;
        float confidence;
    } things[] = {{5, 1, 1}, {2, 0, 1}, {0, 3, 0.4f}, {2, 0, 0.9f}};
    enum { THINGS = sizeof things / sizeof *things };
    static float features[THINGS][VD_FEATURE_SIZE];
    for (int i = 0; i < THINGS; i++) {
        features[i][VD_FEATURE_ATTRIBUTES + things[i].color] = 1;
        features[i][VD_FEATURE_ATTRIBUTES + VD_COLORS + things[i].shape] = 1;
        features[i][VD_FEATURE_ONE] = 1;
        features[i][VD_FEATURE_CONFIDENCE] = things[i].confidence;
    }
    const vd_picture_regions found = {
        .count = THINGS, .size = VD_FEATURE_SIZE, .features = *features};
    char text[VD_FOUND_CAPTION];
    vd_found_caption(&found, text);
    assert_string_equal(text, "I see 2 blue cubes, an orange ball");
    vd_found_caption(NULL, text);
    assert_string_equal(text, "a picture");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_is_called_what_the_detector_believes),
        cmocka_unit_test(every_text_has_the_same_numbers_and_names),
        cmocka_unit_test(a_caption_of_what_is_found_has_the_most_first),
        cmocka_unit_test(transcripts_keep_the_names),
        cmocka_unit_test(a_what_if_is_about_the_region_that_ask_numbers),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}

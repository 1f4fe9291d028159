// Networks that name other attentions than MVAN, in all views: one without any, one that looks at
// the picture in two steps; and a list of every kind that an axis allows.
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <yajl/yajl_gen.h>

#include "engine/base/alloc.h"
#include "engine/networks/attention.h"
#include "tests/support/attentions.h"
#include "tests/support/one_chat.h"
#include "tests/support/support.h"
#include "tui/answer/attention.h"
#include "tui/answer/heat_maps.h"
#include "tui/answer/json.h"
#include "tui/answer/panels.h"
#include "tui/base/shares.h"
#include "tui/page/html.h"
#include "tui/page/markdown.h"
#include "tui/transcript/transcript.h"

// ---- a sheet by hand ----------------------------------------------------------------------------

static float score[] = {2, 1}, probability[] = {0.75f, 0.25f};
static int32_t order[] = {0, 1}, begins[] = {0, 2, 5};
static float rounds[] = {0.25f, 0.75f}, look_one[] = {0.125f, 0.875f, 0},
             look_two[] = {0, 0.25f, 0.75f};
static float own[] = {0.625f, 0.375f}, topic[] = {0.5f, 0.5f, 0, 0, 0, 0, 0, 0, 0.25f, 0.75f};
static float boxes[3 * 4] = {0, 0, 0.5f, 0.5f, 0.5f, 0, 1, 0.5f, 0, 0.5f, 1, 1};
static char color[] = "color", mark[] = "?", question[] = "what color", red[] = "red";
static const char *const texts[] = {"red", "blue"};
static vd_attention list[8];
static vd_turn said[1];
static vd_reply reply;
static vd_sheet sheet;

static void make_sheet(void)
{
    said[0] = (vd_turn){question, red};
    reply = (vd_reply){.typed = question, .question = question, .words = 2, .word = {color, mark}};
    reply.answer = (vd_answer){.candidates = 2,
                               .score = score,
                               .probability = probability,
                               .order = order,
                               .rounds = 2,
                               .question_length = 2,
                               .regions = 3,
                               .history_start = begins,
                               .attention = list};
    sheet = (vd_sheet){.id = "case",
                       .title = "a case",
                       .image_id = 1,
                       .boxes = boxes,
                       .regions = 3,
                       .caption = "red cube",
                       .history = said,
                       .rounds = 1,
                       .question = question,
                       .moved = -1,
                       .sides = 1,
                       .side = {{.name = "base",
                                 .model = "base",
                                 .reply = &reply,
                                 .texts = texts,
                                 .human = -1,
                                 .chosen = -1,
                                 .model_hash = {"m"},
                                 .pool_hash = {"p"}}}};
}

static int show_nothing(void **state)
{
    (void)state;
    make_sheet();
    return 0;
}

static int show_steps(void **state)
{
    (void)state;
    make_sheet();
    reply.answer.attentions = support_steps(&reply.answer, rounds, look_one, look_two, list);
    return 0;
}

// ---- pages --------------------------------------------------------------------------------------

static char *write_page(vd_markup_kind kind)
{
    char path[] = "/tmp/visdial-attention-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    vd_markup *markup;
    if (kind == VD_MARKUP_HTML)
        assert_int_equal(vd_html_create(path, "a page", "compare", &markup, NULL), VD_OK);
    else
        assert_int_equal(vd_markup_create(path, kind, &markup, NULL), VD_OK);
    (kind == VD_MARKUP_HTML ? vd_html_sheet : vd_markdown_sheet)(markup, &sheet);
    assert_int_equal(vd_markup_commit(markup, NULL), VD_OK);
    char *text = support_read_file(path, NULL);
    unlink(path);
    return text;
}

static void has(char *text, const char *const *wanted, const char *unwanted)
{
    for (; *wanted; wanted++)
        if (!strstr(text, *wanted))
            fail_msg("no '%s' in\n%s", *wanted, text);
    if (unwanted && strstr(text, unwanted))
        fail_msg("'%s' in\n%s", unwanted, text);
    free(text);
}

static char *draw_maps(int width);

static char *write_json(void)
{
    const unsigned char *text;
    size_t length;
    yajl_gen json = yajl_gen_alloc(NULL);
    yajl_gen_map_open(json);
    vd_sheet_json_attention(json, &sheet, 0);
    yajl_gen_map_close(json);
    yajl_gen_get_buf(json, &text, &length);
    char *copy = strndup((const char *)text, length);
    yajl_gen_free(json);
    return copy;
}

static void pages_say_that_the_picture_is_seen_as_a_whole(void **state)
{
    (void)state;
    static const char *const html[] = {"It looks at the picture as a whole", "<td></td>", NULL};
    static const char *const markdown[] = {"* looks at the picture as a whole", "color", NULL};
    static const char *const json[] = {"\"rounds\":[]", "\"regions\":[]", "\"words\":[]", NULL};
    has(write_page(VD_MARKUP_HTML), html, "Where it looked");
    has(write_page(VD_MARKUP_MARKDOWN), markdown, "drew on");
    has(write_json(), json, "further");
}

static void pages_show_every_step(void **state)
{
    (void)state;
    static const char *const html[] = {"Where it looked", "<b>3</b>", "regions, step 1 of 2",
                                       "region 2 88 %, region 1 12 %", NULL};
    static const char *const markdown[] = {"looked at, step 2 of 2: region 3: 75 %",
                                           "drew on the caption: 25 %",
                                           "* regions, step 1 of 2: region 2 88 %", NULL};
    static const char *const json[] = {
        "\"rounds\":[0.25,0.75]", "\"weight\":0.75",
        "\"further\":[{\"name\":\"regions\",\"part\":\"step\",\"index\":0,\"of\":2,"
        "\"key\":\"regions\",\"shares\":[0.125,0.875,0]}]",
        NULL};
    has(write_page(VD_MARKUP_HTML), html, NULL);
    has(write_page(VD_MARKUP_MARKDOWN), markdown, NULL);
    has(write_json(), json, NULL);
}

// What the words of the given answer look at: "red@0" of the caption, "?" of the question.
static int show_looks(void **state)
{
    static float look[2 * 7] = {0, 0.75f, 0, 0, 0, 0, 0.25f, 0, 0, 0, 0, 0, 1, 0};
    (void)state;
    make_sheet();
    static char spoken[] = "red";
    reply.given = spoken;
    list[0] = (vd_attention){.name = "answer-words",
                             .of = 1,
                             .query = VD_AXIS_ANSWER_WORDS,
                             .key = VD_AXIS_DIALOG_WORDS,
                             .rows = 2,
                             .columns = 7,
                             .share = look};
    reply.answer.attentions = 1;
    return 0;
}

static void pages_show_what_the_words_of_the_answer_look_at(void **state)
{
    (void)state;
    static const char *const html[] = {"red -&gt; cube@0 75 %, ? 25 %", "(end) -&gt; color 100 %",
                                       NULL};
    static const char *const markdown[] = {"answer-words: red -", "cube@0 75 %, ? 25 %", NULL};
    static const char *const json[] = {
        "\"given\":\"red\"", "\"answer_words\":[[[0,0.75,0,0,0,0,0.25],[0,0,0,0,0,1,0]]]", NULL};
    has(write_page(VD_MARKUP_HTML), html, NULL);
    has(write_page(VD_MARKUP_MARKDOWN), markdown, NULL);
    has(write_json(), json, NULL);
    static const char *const maps[] = {"answer-words", "red", "(end)", "cube@0", NULL};
    has(draw_maps(78), maps, NULL);
}

// As MVAN's: the question's words look at those of each entry, the regions at the question's words.
static int show_matrices(void **state)
{
    static float by_region[3 * 2] = {0.75f, 0.25f, 0, 1, 0, 0};
    (void)state;
    make_sheet();
    list[0] = (vd_attention){.name = "history-words",
                             .of = 1,
                             .query = VD_AXIS_QUESTION_WORDS,
                             .key = VD_AXIS_HISTORY_WORDS,
                             .by_entry = true,
                             .rows = 2,
                             .columns = 5,
                             .share = topic};
    list[1] = (vd_attention){.name = "question-words",
                             .of = 1,
                             .query = VD_AXIS_REGIONS,
                             .key = VD_AXIS_QUESTION_WORDS,
                             .rows = 3,
                             .columns = 2,
                             .share = by_region};
    reply.answer.attentions = 2;
    return 0;
}

static void pages_show_what_rows_of_others_look_at(void **state)
{
    (void)state;
    static const char *const html[] = {
        "color -&gt; red@0 50 %", "? -&gt; ", "@1 75 %", "region 1 -&gt; color 75 %, ? 25 %",
        "region 2 -&gt; ? 100 %", NULL};
    static const char *const markdown[] = {"* history-words: color -", "* question-words: region 2",
                                           NULL};
    static const char *const json[] = {
        "{\"name\":\"history-words\",\"query\":\"question words\",\"key\":\"history words\","
        "\"shares\":[[0.5,0.5,0,0,0],[0,0,0,0.25,0.75]]}",
        "\"shares\":[[0.75,0.25],[0,1],[0,0]]}]", NULL};
    has(write_page(VD_MARKUP_HTML), html, "region 3 -&gt;");
    has(write_page(VD_MARKUP_MARKDOWN), markdown, NULL);
    has(write_json(), json, NULL);
}

// ---- heat maps ----------------------------------------------------------------------------------

static char *draw_word(int width, int word)
{
    static vd_grid grid;
    vd_grid_resize(&grid, width, 30);
    vd_grid_clear(&grid);
    const vd_heat_maps maps = {.sheet = &sheet, .word = word};
    int rows = vd_heat_maps_draw(&maps, &grid, (vd_rect){0, 0, width, 30}, 0);
    assert_true(rows > 2 && rows <= 30);
    char *text = vd_grid_to_text(&grid), *copy = strdup(text);
    vd_free(text);
    vd_grid_free(&grid);
    return copy;
}

static char *draw_maps(int width)
{
    return draw_word(width, 0);
}

static void maps_are_of_what_there_is(void **state)
{
    (void)state;
    static const char *const none[] = {"The network looks at the picture as a whole", NULL};
    static const char *const steps[] = {"History: weight of each round",
                                        "Regions, step 2 of 2: share of the attention",
                                        "regions by step: question to regions",
                                        "step 1",
                                        "step 2",
                                        NULL};
    show_nothing(NULL);
    has(draw_maps(80), none, "History");
    show_steps(NULL);
    has(draw_maps(80), steps, "looks at the picture as a whole");
    has(draw_maps(40), steps + 2, NULL);
}

// Heads are rows of one table; their mean, of the same name, is not among them.
static void heads_are_a_table_without_their_mean(void **state)
{
    (void)state;
    static const char *const wanted[] = {"regions by head: question to regions", "head 1", "head 2",
                                         NULL};
    show_steps(NULL);
    for (int i = 1; i < 3; i++)
        snprintf(list[i].part, sizeof list[i].part, VD_ATTENTION_HEAD);
    list[3] = support_attention("regions", VD_AXIS_QUESTIONS, VD_AXIS_REGIONS, 1, 3, look_two);
    reply.answer.attentions = 4;
    char *text = draw_maps(80), *first = strstr(text, "head 1");
    assert_true(first && !strstr(first + 1, "head 1"));
    has(text, wanted, "head 3");
}

static void every_pair_of_axes_has_a_table(void **state)
{
    (void)state;
    static float grid_of[5 * 5];
    static const char *const wanted[] = {"own-words: question to question words",
                                         "pooled: history words to question words",
                                         "parents: entries to entries",
                                         "where \"color\" looks",
                                         "regions by step: question to regions",
                                         "self: history words to history words",
                                         "1      2      3",
                                         NULL};
    for (int i = 0; i < 25; i++)
        grid_of[i] = (float)(i + 1) / 25;
    const vd_answer *a = &reply.answer;
    list[3] = support_attention("own-words", VD_AXIS_QUESTIONS, VD_AXIS_QUESTION_WORDS, 1, 2, own);
    list[4] = support_attention("history-words", VD_AXIS_QUESTION_WORDS, VD_AXIS_HISTORY_WORDS, 2,
                                5, topic);
    list[5] =
        support_attention("pooled", VD_AXIS_HISTORY_WORDS, VD_AXIS_QUESTION_WORDS, 5, 2, grid_of);
    list[6] =
        support_attention("self", VD_AXIS_HISTORY_WORDS, VD_AXIS_HISTORY_WORDS, 5, 5, grid_of);
    list[7] = support_attention("parents", VD_AXIS_ENTRIES, VD_AXIS_ENTRIES, 2, 2, grid_of);
    reply.answer.attentions = 8;
    assert_float_equal(vd_word_share(a, 0), 0.625, 1e-9); // what it says itself
    static vd_grid grid;
    vd_grid_resize(&grid, 100, 80);
    const vd_heat_maps maps = {.sheet = &sheet};
    vd_heat_maps_draw(&maps, &grid, (vd_rect){0, 0, 100, 80}, 0);
    char *text = vd_grid_to_text(&grid);
    has(strdup(text), wanted, NULL);
    vd_free(text);
    vd_grid_free(&grid);
}

// Behind the words is what each row gives to nothing; a row that was not seen gives nothing to
// that.
static void a_sentinel_is_shown_as_nothing(void **state)
{
    (void)state;
    static float shares[] = {0.5f, 0.25f, 0, 0, 0.125f, 0.5f};
    static const char *const wanted[] = {
        "color      ?          nothing", "50 %      \u258225 %      \u258225 %",
        "0.0 %     \u25810.0 %     \u25810.0 %", "12 %      \u258450 %      \u258338 %", NULL};
    list[0] =
        support_attention("question-words", VD_AXIS_REGIONS, VD_AXIS_QUESTION_WORDS, 3, 2, shares);
    list[0].nothing = true;
    reply.answer.attentions = 1;
    has(draw_maps(80), wanted, NULL);
    // Where not all have room, nothing is no word, and stands behind the last one.
    static const char *const first[] = {"Regions, words 1-2 of 2 (Left/", NULL};
    static const char *const last[] = {"Regions, words 2-2 of 2 and nothing", NULL};
    has(draw_word(40, 0), first, "nothing");
    has(draw_word(40, 1), last, NULL);
    list[0].query = VD_AXIS_ENTRIES; // in a table of its own
    has(draw_maps(80), wanted, NULL);
    assert_float_equal(vd_attention_nothing(&list[0], 2), 0.375, 1e-9);
    list[0].nothing = false;
    assert_float_equal(vd_attention_nothing(&list[0], 2), 0, 0);
}

// Where a sheet does not have the words, or has others than the answer saw, they are numbers.
static void words_of_the_history_are_named_where_they_are_known(void **state)
{
    (void)state;
    char name[64], typed[] = "Color?", blue[] = "blue";
    begins[2] = 8; // color ? <S> blue </S> </S>
    said[0] = (vd_turn){typed, blue};
    vd_sheet_item(&sheet, 0, VD_AXIS_HISTORY_WORDS, 1, name, sizeof name);
    assert_string_equal(name, "cube@0");
    vd_sheet_item(&sheet, 0, VD_AXIS_HISTORY_WORDS, 5, name, sizeof name);
    assert_string_equal(name, "blue@1");
    begins[2] = 5;
    vd_sheet_item(&sheet, 0, VD_AXIS_HISTORY_WORDS, 2, name, sizeof name);
    assert_string_equal(name, "#1@1");
    sheet.caption = NULL;
    vd_sheet_item(&sheet, 0, VD_AXIS_HISTORY_WORDS, 1, name, sizeof name);
    assert_string_equal(name, "#2@0");
}

// ---- transcripts --------------------------------------------------------------------------------

static void a_transcript_keeps_the_list(void **state)
{
    (void)state;
    char path[] = "/tmp/visdial-attention-XXXXXX";
    assert_int_equal(close(mkstemp(path)), 0);
    unlink(path);
    vd_error err = {0};
    vd_transcript *transcript;
    vd_transcript_file file;
    assert_int_equal(vd_transcript_start(path, &transcript, &err), VD_OK);
    show_nothing(NULL);
    assert_int_equal(vd_transcript_answer(transcript, &sheet, &err), VD_OK);
    show_steps(NULL);
    list[3] = support_attention("history-words", VD_AXIS_QUESTION_WORDS, VD_AXIS_HISTORY_WORDS, 2,
                                5, topic);
    list[2].nothing = true;
    reply.answer.attentions = 4;
    assert_int_equal(vd_transcript_answer(transcript, &sheet, &err), VD_OK);
    vd_transcript_close(transcript);
    char *text = support_read_file(path, NULL);
    assert_non_null(strstr(text,
                           "\"key\":\"history words\",\"entries\":[[[0.5,0.5],[0,0]],[[0,0,0],"
                           "[0,0.25,0.75]]]"));
    free(text);
    if (vd_transcript_read(path, &file, &err))
        fail_msg("%s", err.text);
    assert_int_equal(file.record_count, 2);
    assert_int_equal(file.records[0].reply.answer.attentions, 0);
    assert_int_equal(file.records[0].reply.answer.regions, 3);
    const vd_answer *read = &file.records[1].reply.answer;
    assert_int_equal(read->attentions, 3);
    for (int i = 0; i < 3; i++) {
        const vd_attention *a = &read->attention[i];
        assert_string_equal(a->name, list[i].name);
        assert_string_equal(a->part, list[i].part);
        assert_true(a->index == list[i].index && a->of == list[i].of);
        assert_true(a->nothing == list[i].nothing);
        assert_true(a->query == list[i].query && a->key == list[i].key);
        assert_memory_equal(a->share, list[i].share, (size_t)a->columns * sizeof(float));
    }
    vd_transcript_clear(&file);
    unlink(path);
}

// ---- the chat -----------------------------------------------------------------------------------

static void expect_no_outlines(void)
{
    const vd_rect at = fake.chat.nav.layout.picture;
    for (int y = at.y; y < at.y + at.height; y++)
        for (int x = at.x; x < at.x + at.width; x++)
            assert_int_not_equal(vd_grid_at(&fake.grid, x, y)->code[0], '1');
}

static void a_chat_with_a_network_without_attention(void **state)
{
    (void)state;
    fake_chat_network(FAKE_WHOLE);
    fake_chat_keys(&fake, "'is it red?' Enter");
    expect("looks at the");
    expect("no attention to");
    expect_no_outlines();
    fake_chat_keys(&fake, "F5");
    expect("The network looks at the picture as a whole");
    fake_chat_keys(&fake, "Esc F12");
    expect("1/3 Reading");
    fake_chat_keys(&fake, "Right");
    expect("2/3 Steps");
    fake_chat_keys(&fake, "Right");
    expect("3/3 What if?");
    fake_chat_keys(&fake, "Right");
    expect("1/3 Reading");
    fake_chat_size(&fake, 120, 40);
    fake_chat_keys(&fake, "Esc F10");
    expect("Regions looks at the picture as a whole");
    expect("History no attention to single rounds");
}

static void a_chat_with_a_network_that_looks_twice(void **state)
{
    (void)state;
    fake_chat_network(FAKE_STEPS);
    fake_chat_keys(&fake, "'is it red?' Enter F5");
    expect("regions by step: question to regions");
    expect("step 2");
    fake_chat_keys(&fake, "Esc F12 Right");
    expect("2/3 Steps");
    expect("Where each step looks");
    // The last step is what is outlined.
    const vd_answer *answer = &fake.chat.lanes.walk.walk->reply.answer;
    assert_ptr_equal(vd_answer_shares(answer, VD_AXIS_REGIONS), answer->attention[2].share);
    // A page of another network's walk that this one does not have is what-if.
    fake.chat.nav.walk_page = 7;
    fake_chat_keys(&fake, "C-l");
    expect("3/3 What if?");
}

// ---- the list -----------------------------------------------------------------------------------

static void names_are_listed_once(void **state)
{
    (void)state;
    const char *name = NULL;
    char title[64];
    assert_true(vd_attention_named(list, 3, 0, &name));
    assert_string_equal(name, "rounds");
    assert_true(vd_attention_named(list, 3, 1, &name));
    assert_string_equal(name, "regions");
    assert_false(vd_attention_named(list, 3, 2, &name));
    list[0].derived = true; // what comes from others cannot be made uniform
    assert_true(vd_attention_named(list, 3, 0, &name));
    assert_string_equal(name, "regions");
    list[0].derived = false;
    vd_attention_title(&list[2], title, sizeof title);
    assert_string_equal(title, "regions, step 2 of 2");
    vd_answer copy;
    assert_int_equal(vd_answer_copy(&reply.answer, &copy, NULL), VD_OK);
    assert_memory_equal(copy.attention[2].share, look_two, sizeof look_two);
    assert_ptr_not_equal(copy.attention[2].share, look_two);
    vd_answer_clear(&copy);
}

// What an intervention left out, and padding, has share zero in its place.
static void what_a_pass_sees_is_spread_over_the_dialog(void **state)
{
    (void)state;
    const int entry[] = {0, 2}, word[] = {0, 1, 4}, region[] = {1};
    const vd_axis_subsets places = {
        .count = {[VD_AXIS_QUESTIONS] = 1,
                  [VD_AXIS_QUESTION_WORDS] = 1,
                  [VD_AXIS_ENTRIES] = 3,
                  [VD_AXIS_HISTORY_WORDS] = 5,
                  [VD_AXIS_REGIONS] = 2},
        .at = {
            [VD_AXIS_ENTRIES] = entry, [VD_AXIS_HISTORY_WORDS] = word, [VD_AXIS_REGIONS] = region}};
    const vd_attention_at seen[] = {{.name = "rounds",
                                     .query = VD_AXIS_QUESTIONS,
                                     .key = VD_AXIS_ENTRIES,
                                     .rows = 1,
                                     .columns = 2},
                                    {.name = "words",
                                     .part = "head",
                                     .index = 1,
                                     .of = 2,
                                     .nothing = true,
                                     .query = VD_AXIS_REGIONS,
                                     .key = VD_AXIS_HISTORY_WORDS,
                                     .rows = 1,
                                     .columns = 4}};
    const float share[] = {0.25f, 0.75f, 0.5f, 0.125f, 0.25f, 0.125f};
    static const float found[2][10] = {{0.25f, 0, 0.75f},
                                       {0, 0, 0, 0, 0, 0.5f, 0.125f, 0, 0, 0.25f}};
    vd_attention *out;
    assert_int_equal(vd_attentions_spread(seen, 2, share, &places, &out, NULL), VD_OK);
    for (int i = 0; i < 2; i++)
        assert_memory_equal(out[i].share, found[i],
                            (size_t)(out[i].rows * out[i].columns) * sizeof(float));
    assert_true(out[1].rows == 2 && out[1].columns == 5 && out[1].index == 1 && out[1].of == 2);
    assert_string_equal(out[1].part, "head");
    assert_true(vd_attention_nothing(&out[1], 0) == 0 && vd_attention_nothing(&out[1], 1) == 0.125);
    vd_attentions_free(out, 2);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pages_say_that_the_picture_is_seen_as_a_whole, show_nothing),
        cmocka_unit_test_setup(pages_show_every_step, show_steps),
        cmocka_unit_test_setup(pages_show_what_the_words_of_the_answer_look_at, show_looks),
        cmocka_unit_test_setup(pages_show_what_rows_of_others_look_at, show_matrices),
        cmocka_unit_test(maps_are_of_what_there_is),
        cmocka_unit_test(heads_are_a_table_without_their_mean),
        cmocka_unit_test_setup(every_pair_of_axes_has_a_table, show_steps),
        cmocka_unit_test_setup(a_sentinel_is_shown_as_nothing, show_nothing),
        cmocka_unit_test_setup(words_of_the_history_are_named_where_they_are_known, show_nothing),
        cmocka_unit_test(a_transcript_keeps_the_list),
        cmocka_unit_test_setup_teardown(a_chat_with_a_network_without_attention, start, end),
        cmocka_unit_test_setup_teardown(a_chat_with_a_network_that_looks_twice, start, end),
        cmocka_unit_test_setup(names_are_listed_once, show_steps),
        cmocka_unit_test(what_a_pass_sees_is_spread_over_the_dialog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/support/fake_cases.h"

#include <glib.h>
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
#include "features/text/tokenize.h"
#include "tests/support/attentions.h"
#include "tests/support/support.h"

static tiny_world tiny;
vd_cases *cases, *two, *four;
vd_cases_view view;
bool left;
vd_grid grid;
const vd_case_filter by_human = {.by = VD_RIGHT_HUMAN};
static vd_corpus corpus;

// ---- made-up cases ------------------------------------------------------------------------------

static void make_up(vd_case *at, size_t i)
{
    const vd_visdial_round *round = vd_case_round(cases, at);
    at->moved = (float)(i * 5 % 12) / 12;
    for (int side = 0; side < cases->models; side++) {
        bool right = side < 2 ? i >> side & 1 : (i * 7 >> side) & 1;
        vd_metrics metrics = {.rounds = 1,
                              .dense_rounds = 1,
                              .sum = {[VD_R1] = right,
                                      [VD_MEAN_RANK] = right ? 1 : 3,
                                      [VD_MRR] = right ? 1 : 1.0 / 3,
                                      [VD_NDCG] = right ? 0.9 : 0.4,
                                      [VD_CORRECT] = !right}};
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

// Every word of the question looks at one word of an entry, and a little elsewhere. *start: where
// the entries begin.
static float *make_topic(int rounds, const vd_case *at, int32_t **start)
{
    enum { AROUND = 6 }; // "?" <S> answer </S> </S> and one more
    const vd_visdial *data = corpus.dialogs;
    const vd_visdial_dialog *dialog = vd_case_dialog(cases, at);
    int32_t *begins = *start = vd_alloc((size_t)rounds + 1, sizeof *begins);
    assert_non_null(begins);
    for (int entry = 0; entry < rounds; entry++) {
        vd_words words = {0};
        const char *text =
            entry ? data->questions[dialog->rounds[entry - 1].question] : dialog->caption;
        assert_int_equal(vd_tokenize(text, &words, NULL), VD_OK);
        begins[entry + 1] = begins[entry] + (int)words.count + (entry ? AROUND - 1 : 0);
        vd_words_clear(&words);
    }
    float *share = vd_alloc((size_t)begins[rounds] * 2, sizeof *share), *to = share;
    assert_non_null(share);
    for (int word = 0; word < 2; word++)
        for (int entry = 0; entry < rounds; entry++) {
            int length = begins[entry + 1] - begins[entry];
            for (int i = 0; i < length; i++)
                *to++ = i == word + entry ? 0.6f : 0.4f / (float)(length - 1);
        }
    return share;
}

static vd_reply make_reply(const vd_case *at, int side)
{
    static const float probability[] = {0.62f, 0.25f, 0.12f, 0.01f};
    static const float regions[4][3] = {
        {0.7f, 0.2f, 0.1f}, {0.05f, 0.15f, 0.8f}, {0.3f, 0.5f, 0.2f}, {0.34f, 0.33f, 0.33f}};
    static const float words[3 * 2] = {0.9f, 0.1f, 0.5f, 0.5f, 0.3f, 0.7f};
    static const float rounds[] = {0.5f, 0.3f, 0.2f};
    vd_reply reply = {.words = 2};
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
    float *topic = make_topic(answer->rounds, at, &answer->history_start);
    answer->attention = vd_alloc(4, sizeof *answer->attention);
    answer->attentions =
        support_mvan(answer, copied(rounds, (size_t)answer->rounds), topic, copied(words, 6),
                     copied(regions[side], 3), answer->attention);
    return reply;
}

void serve(void)
{
    vd_request request;
    while (vd_cases_view_take_request(&view, &request)) {
        left |= request.kind == VD_REQUEST_LEAVE;
        if (request.kind != VD_REQUEST_CASE)
            continue; // the terminal's
        static const float boxes[] = {0.1f, 0.1f, 0.4f, 0.6f, 0.5f, 0.2f,
                                      0.9f, 0.5f, 0.3f, 0.6f, 0.8f, 0.95f};
        vd_event event = {.kind = request.kind, .case_index = request.index};
        vd_case_sheet *sheet = g_new(vd_case_sheet, 1);
        const vd_case *at = &cases->at[request.index];
        vd_case_sheet_lay_out(cases, at, VD_RIGHT_HUMAN, sheet);
        sheet->sheet.boxes = sheet->regions.boxes = copied(boxes, 12);
        sheet->sheet.regions = 3;
        for (int side = 0; side < cases->models; side++)
            sheet->reply[side] = make_reply(at, side);
        event.made = sheet;
        vd_cases_view_event(&view, &event);
        vd_request_clear(&request);
    }
}

int open_view(void **state)
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

int close_view(void **state)
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

static void press(vd_key key)
{
    vd_cases_view_key(&view, key);
    serve();
}

void play(const char *keys)
{
    left = false;
    for (size_t length; *keys; keys += length, keys += strspn(keys, " ")) {
        char name[24];
        bool text = *keys == '\'';
        keys += text;
        length = strcspn(keys, text ? "'" : " ");
        vd_key key;
        snprintf(name, sizeof name, "%.*s", (int)length, keys);
        if (!text && vd_key_parse(name, &key))
            press(key);
        else if (!text)
            fail_msg("no key is called %s", name);
        for (size_t i = 0; text && i < length; i++)
            press((vd_key){.code = (unsigned char)keys[i]});
        length += text;
    }
}

void draw(int width, int height)
{
    vd_grid_resize(&grid, width, height);
    vd_cases_view_draw(&view, &grid);
}

void open_list(vd_cases *of)
{
    cases = of;
    vd_cases_view_init(&view, cases, &by_human, VD_CASE_BY_DIFFERENCE, NULL);
    serve();
}

bool is_shown(const char *part)
{
    char *text = vd_grid_to_text(&grid);
    bool found = strstr(text, part) != NULL;
    vd_free(text);
    return found;
}

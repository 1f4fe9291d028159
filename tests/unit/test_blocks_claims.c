// Captions are read back as what they claim: all that the maker says is read and true; with one
// attribute, number or direction changed the verdict is the scene's.
#include "assets/blocks/claim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assets/blocks/dialog.h"
#include "engine/base/alloc.h"
#include "tests/support/must.h"

enum { SCENES = 7500, CAPTIONS = 4 };

static blocks_scene scenes[SCENES];
static char captions[SCENES][CAPTIONS][BLOCKS_TEXT];

static int make(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        blocks_scene_make(18, BLOCKS_TRAIN, i, &scenes[i]);
        blocks_captions_make(&scenes[i], CAPTIONS, captions[i]);
    }
    return 0;
}

// ---- captions -----------------------------------------------------------------------------------

static void the_first_caption_is_the_dialogs(void **state)
{
    (void)state;
    static blocks_dialog dialog, again;
    char other[CAPTIONS][BLOCKS_TEXT];
    int different = 0;
    for (int i = 0; i < 300; i++) {
        blocks_dialog_make(&scenes[i], &dialog);
        assert_string_equal(captions[i][0], dialog.caption);
        blocks_captions_make(&scenes[i], 2, other); // fewer of them are the same ones
        assert_string_equal(other[1], captions[i][1]);
        different += strcmp(captions[i][0], captions[i][1]) != 0;
        blocks_dialog_make(&scenes[i], &again);
        assert_memory_equal(&again, &dialog, sizeof dialog);
    }
    assert_true(different > 250);
}

static void every_caption_is_read_and_true(void **state)
{
    (void)state;
    int sorts[BLOCKS_CLAIM_SORTS] = {0};
    for (int i = 0; i < SCENES; i++)
        for (int c = 0; c < CAPTIONS; c++) {
            blocks_claim claim;
            if (!blocks_claim_read(captions[i][c], &claim))
                fail_msg("'%s' is not read", captions[i][c]);
            if (blocks_claim_judge(&claim, &scenes[i]) != BLOCKS_TRUE)
                fail_msg("'%s' is read as false", captions[i][c]);
            blocks_mentions m = blocks_claim_mentions(&claim, &scenes[i]);
            assert_true(m.absent == 0 && m.wrong == 0);
            sorts[claim.sort]++;
        }
    for (int s = 0; s < BLOCKS_CLAIM_SORTS; s++)
        assert_true(sorts[s] > SCENES / 20);
}

// ---- one word changed ---------------------------------------------------------------------------

// A word of the caption becomes another of the same list. Which one it was; -1: it has none of
// them, or several.
static int exchange(const char *caption, const char *const *list, int count, int by,
                    char out[BLOCKS_TEXT])
{
    const char *found = NULL;
    int which = -1;
    for (int i = 0; i < count; i++)
        for (const char *at = caption; (at = strstr(at, list[i])); at++) {
            char behind = at[strlen(list[i])];
            if ((at > caption && at[-1] != ' ') || (behind && behind != ' ' && behind != ','))
                continue;
            if (found)
                return -1;
            found = at;
            which = i;
        }
    if (!found)
        return -1;
    snprintf(out, BLOCKS_TEXT, "%.*s%s%s", (int)(found - caption), caption,
             list[(which + by) % count], found + strlen(list[which]));
    return which;
}

static int sign(double value)
{
    return value > 0.0 ? 1 : -1;
}

// The scene's own word on a claim, found without facts.c and claim.c: by counting and comparing.
static bool is_kind(const blocks_object *o, blocks_kind kind)
{
    return (kind.value[BLOCKS_COLOR] < 0 || kind.value[BLOCKS_COLOR] == (int)o->color) &&
           (kind.value[BLOCKS_SHAPE] < 0 || kind.value[BLOCKS_SHAPE] == (int)o->shape) &&
           (kind.value[BLOCKS_MATERIAL] < 0 || kind.value[BLOCKS_MATERIAL] == (int)o->material) &&
           (kind.value[BLOCKS_SIZE] < 0 || kind.value[BLOCKS_SIZE] == (int)o->size);
}

// 1: clearly beyond, 0: by less than 0.325 table units, -1: not.
static int lies(const blocks_object *a, blocks_direction d, const blocks_object *b)
{
    double by = d == BLOCKS_LEFT || d == BLOCKS_RIGHT ? blocks_left_by(a, b) : b->y - a->y;
    by = d == BLOCKS_RIGHT || d == BLOCKS_BEHIND ? -by : by;
    return fabs(by) > 0.325 ? sign(by) : by > 0.0 ? 0 : -1;
}

static int place_of(const blocks_scene *scene, int i, blocks_direction d)
{
    int least = 1;
    for (int j = 0; j < scene->count; j++)
        if (j != i && lies(&scene->object[i], d, &scene->object[j]) < least)
            least = lies(&scene->object[i], d, &scene->object[j]);
    return least;
}

static blocks_verdict plain_verdict(const blocks_claim *c, const blocks_scene *scene)
{
    int count = 0, best = -1;
    for (int i = 0; i < scene->count; i++) {
        if (!is_kind(&scene->object[i], c->kind))
            continue;
        count++;
        if (c->sort == BLOCKS_CLAIM_PLACE && place_of(scene, i, c->direction) > best)
            best = place_of(scene, i, c->direction);
        for (int j = 0; c->sort == BLOCKS_CLAIM_RELATION && j < scene->count; j++) {
            const blocks_object *a = &scene->object[i], *b = &scene->object[j];
            if (j != i && is_kind(b, c->other) && lies(a, c->direction, b) > best)
                best = lies(a, c->direction, b);
        }
    }
    if (c->sort == BLOCKS_CLAIM_PLACE || c->sort == BLOCKS_CLAIM_RELATION)
        return best > 0 ? BLOCKS_TRUE : best == 0 ? BLOCKS_DOUBTFUL : BLOCKS_FALSE;
    return count == (c->sort == BLOCKS_CLAIM_THERE ? (count ? count : -1) : c->number)
               ? BLOCKS_TRUE
               : BLOCKS_FALSE;
}

// Whether the objects that are said to decide it do.
static bool decides(const blocks_claim *c, const blocks_scene *scene, blocks_verdict verdict)
{
    blocks_evidence e = blocks_claim_evidence(c, scene);
    int kinds = 0;
    for (int i = 0; i < scene->count; i++) {
        if (blocks_has(e.kinds, i) != is_kind(&scene->object[i], c->kind))
            return false;
        kinds += blocks_has(e.kinds, i);
    }
    if (c->sort == BLOCKS_CLAIM_PLACE)
        return e.other == -1 &&
               is_kind(&scene->object[e.one], c->kind) == (verdict != BLOCKS_FALSE) &&
               place_of(scene, e.one, c->direction) >= 0;
    if (c->sort != BLOCKS_CLAIM_RELATION)
        return e.one == -1 && e.other == -1 &&
               (c->sort == BLOCKS_CLAIM_THERE ? kinds > 0 : kinds == c->number) ==
                   (verdict == BLOCKS_TRUE);
    if (e.one < 0)
        return verdict == BLOCKS_FALSE &&
               (kinds == 0 || blocks_size_of(e.others) == 0 || (kinds == 1 && e.others == e.kinds));
    int by = lies(&scene->object[e.one], c->direction, &scene->object[e.other]);
    return blocks_has(e.kinds, e.one) && is_kind(&scene->object[e.other], c->other) &&
           by == (verdict == BLOCKS_TRUE       ? 1
                  : verdict == BLOCKS_DOUBTFUL ? 0
                                               : -1);
}

// Reads the changed caption and expects the claim to be `expected`, and the plain verdict.
static blocks_verdict follows(const char *text, const blocks_claim *expected,
                              const blocks_scene *scene)
{
    blocks_claim claim;
    if (!blocks_claim_read(text, &claim))
        fail_msg("'%s' is not read", text);
    if (claim.sort != expected->sort || !blocks_kind_same(claim.kind, expected->kind) ||
        !blocks_kind_same(claim.other, expected->other) || claim.number != expected->number ||
        claim.direction != expected->direction)
        fail_msg("'%s' is read as something else", text);
    blocks_verdict found = blocks_claim_judge(&claim, scene);
    if (found != plain_verdict(&claim, scene))
        fail_msg("'%s': verdict %d, expected %d", text, found, plain_verdict(&claim, scene));
    if (!decides(&claim, scene, found))
        fail_msg("'%s': its objects do not decide it", text);
    return found;
}

// The kind of which the value `was` is named; NULL: both, in whatever words.
static blocks_kind *kind_with(blocks_claim *claim, blocks_attribute a, int was)
{
    bool first = claim->kind.value[a] == was, second = claim->other.value[a] == was;
    return first == second ? NULL : first ? &claim->kind : &claim->other;
}

// "a orange ball" becomes "an orange ball", "an red ball" "a red ball".
static void mend_articles(char text[BLOCKS_TEXT])
{
    char was[BLOCKS_TEXT];
    size_t used = 0;
    snprintf(was, sizeof was, "%s", text);
    for (const char *at = was; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        bool article = strncmp(at, "a ", 2) == 0 || strncmp(at, "an ", 3) == 0;
        const char *next = at + length + strspn(at + length, " ");
        const char *word = !article ? at : strchr("aeiou", *next) ? "an" : "a";
        used += (size_t)snprintf(text + used, BLOCKS_TEXT - used, "%s%.*s", used ? " " : "",
                                 article ? (int)strlen(word) : (int)length, word);
    }
}

static void change_value(const char *caption, blocks_attribute a, const char *const *words,
                         const blocks_scene *scene, int verdicts[3])
{
    char text[BLOCKS_TEXT];
    blocks_claim claim;
    int values = blocks_values(a);
    for (int by = 1; by < values; by++) {
        int was = exchange(caption, words, values, by, text);
        assert_true(blocks_claim_read(caption, &claim));
        blocks_kind *kind = was < 0 ? NULL : kind_with(&claim, a, was);
        if (!kind)
            return;
        kind->value[a] = (int8_t)((was + by) % values);
        mend_articles(text);
        verdicts[follows(text, &claim, scene)]++;
    }
}

static void a_changed_attribute_changes_the_verdict_with_the_scene(void **state)
{
    (void)state;
    static const char *const many[] = {"cubes", "balls", "cylinders", "cones"};
    int verdicts[3] = {0};
    for (int i = 0; i < SCENES; i++)
        for (int c = 0; c < CAPTIONS; c++) {
            const char *caption = captions[i][c];
            change_value(caption, BLOCKS_COLOR, blocks_color_names, &scenes[i], verdicts);
            change_value(caption, BLOCKS_SHAPE, blocks_shape_names, &scenes[i], verdicts);
            change_value(caption, BLOCKS_SHAPE, many, &scenes[i], verdicts);
            change_value(caption, BLOCKS_MATERIAL, blocks_material_names, &scenes[i], verdicts);
            change_value(caption, BLOCKS_SIZE, blocks_size_names, &scenes[i], verdicts);
        }
    print_message("%d false, %d doubtful, %d true\n", verdicts[0], verdicts[1], verdicts[2]);
    assert_true(verdicts[BLOCKS_FALSE] > 1000 && verdicts[BLOCKS_TRUE] > 100);
}

static void a_changed_number_is_false(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
    int changed = 0;
    for (int i = 0; i < SCENES * CAPTIONS; i++) {
        const blocks_scene *scene = &scenes[i / CAPTIONS];
        const char *caption = captions[i / CAPTIONS][i % CAPTIONS];
        blocks_claim claim;
        char text[BLOCKS_TEXT];
        assert_true(blocks_claim_read(caption, &claim));
        if (claim.sort != BLOCKS_CLAIM_COUNT)
            continue;
        for (int by = 1; by < 11; by++, changed++) {
            blocks_claim other = claim;
            other.number = (claim.number + by) % 11;
            assert_int_equal(exchange(caption, numbers, 11, by, text), claim.number);
            assert_int_equal(follows(text, &other, scene), BLOCKS_FALSE);
        }
    }
    assert_true(changed > 1000);
}

static void a_turned_direction_follows_the_scene(void **state)
{
    (void)state;
    static const char *const turned[][2] = {{"left", "right"},
                                            {"leftmost", "rightmost"},
                                            {"behind", "in front of"},
                                            {"in back of", "in front of"},
                                            {"in the front", "in the back"},
                                            {"at the front", "at the back"},
                                            {"in the foreground", "in the background"},
                                            {"closest object", "farthest object"}};
    int verdicts[3] = {0};
    for (int i = 0; i < SCENES; i++)
        for (int c = 0; c < CAPTIONS; c++)
            for (size_t t = 0; t < sizeof turned / sizeof *turned; t++) {
                char text[BLOCKS_TEXT];
                blocks_claim claim;
                assert_true(blocks_claim_read(captions[i][c], &claim));
                if (claim.sort < BLOCKS_CLAIM_PLACE ||
                    exchange(captions[i][c], turned[t], 2, 1, text) < 0)
                    continue;
                claim.direction = (blocks_direction)((int)claim.direction ^ 1);
                verdicts[follows(text, &claim, &scenes[i])]++;
            }
    print_message("%d false, %d doubtful, %d true\n", verdicts[0], verdicts[1], verdicts[2]);
    assert_true(verdicts[BLOCKS_FALSE] > 1000);
}

// ---- what is not read ---------------------------------------------------------------------------

static void what_no_pattern_says_is_not_read(void **state)
{
    (void)state;
    static const char *const list[] = {"",
                                       " ",
                                       "a",
                                       "a red",
                                       "a red ball",
                                       "a red ball is",
                                       "a red ball is on the far left left",
                                       "a red blue ball is on the far left",
                                       "a ball red is on the far left",
                                       "a red ball is red",
                                       "there is just 1 red balls",
                                       "there are red balls on the table",
                                       "there are 3 red ball on the table",
                                       "there are 12345 red balls on the table",
                                       "a red ball is behind",
                                       "a red ball is behind a",
                                       "is a red ball behind a cube",
                                       "A red ball is on the far left",
                                       "a orange ball is on the far left",
                                       "an red ball is on the far left",
                                       "a red ball is on the far left.",
                                       "only 1 of the things is of glass",
                                       "a redball is on the far left"};
    char text[4 * BLOCKS_TEXT] = "a red ball is on the far left";
    blocks_claim claim;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (blocks_claim_read(list[i], &claim))
            fail_msg("'%s' is read", list[i]);
    memset(text + strlen(text), 'x', 3 * BLOCKS_TEXT);
    assert_false(blocks_claim_read(text, &claim));
}

static void blanks_of_tokens_are_forgiven(void **state)
{
    (void)state;
    blocks_claim claim;
    assert_true(blocks_claim_read(" several things , 1 of them  a red block ", &claim));
    assert_int_equal(claim.sort, BLOCKS_CLAIM_ONE);
    assert_int_equal(claim.kind.value[BLOCKS_COLOR], BLOCKS_RED);
    assert_int_equal(claim.kind.value[BLOCKS_SHAPE], -1); // a block is any solid
    assert_true(blocks_claim_read("an orange thing among some other things", &claim));
    assert_int_equal(claim.sort, BLOCKS_CLAIM_THERE);
}

static void mentions_count_what_is_not_there(void **state)
{
    (void)state;
    blocks_scene scene = {.count = 2};
    scene.object[0] = (blocks_object){.color = BLOCKS_RED, .shape = BLOCKS_BALL, .size = 1};
    scene.object[1] = (blocks_object){.color = BLOCKS_BLUE, .shape = BLOCKS_CUBE, .y = 3};
    blocks_claim claim;
    assert_true(blocks_claim_read("a big red cube is behind a blue thing", &claim));
    blocks_mentions m = blocks_claim_mentions(&claim, &scene);
    assert_true(m.mentions == 2 && m.absent == 1 && m.attributes == 4 && m.wrong == 1);
    assert_true(blocks_claim_read("there are 2 things on the table", &claim));
    m = blocks_claim_mentions(&claim, &scene);
    assert_true(m.mentions == 0 && m.absent == 0 && m.attributes == 0 && m.wrong == 0);
}

// ---- bits ---------------------------------------------------------------------------------------

static void bits_are_the_share_of_scenes(void **state)
{
    (void)state;
    enum { SOME = 400 };
    blocks_shares *shares;
    vd_error err = {0};
    double sum = 0.0;
    must(blocks_shares_new(scenes, SOME, &shares, &err), &err);
    for (int i = 0; i < SOME; i++) {
        blocks_claim claim;
        int with = 0;
        assert_true(blocks_claim_read(captions[i][i % CAPTIONS], &claim));
        for (int j = 0; j < SOME; j++)
            with += blocks_claim_judge(&claim, &scenes[j]) == BLOCKS_TRUE;
        assert_true(with >= 1);
        double bits = blocks_shares_bits(shares, &claim);
        assert_true(fabs(bits + log2((double)with / SOME)) < 1e-12);
        assert_true(bits == blocks_caption_bits(shares, captions[i][i % CAPTIONS], &scenes[i]));
        sum += bits;
    }
    print_message("%.2f bits a caption\n", sum / SOME);
    assert_true(blocks_caption_bits(shares, "there are 11 things on the table", &scenes[0]) == 0.0);
    assert_true(blocks_caption_bits(shares, "what is this", &scenes[0]) == 0.0);
    blocks_shares_free(shares);
    assert_int_equal(blocks_shares_new(scenes, 0, &shares, NULL), VD_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_caption_is_the_dialogs),
        cmocka_unit_test(every_caption_is_read_and_true),
        cmocka_unit_test(a_changed_attribute_changes_the_verdict_with_the_scene),
        cmocka_unit_test(a_changed_number_is_false),
        cmocka_unit_test(a_turned_direction_follows_the_scene),
        cmocka_unit_test(what_no_pattern_says_is_not_read),
        cmocka_unit_test(blanks_of_tokens_are_forgiven),
        cmocka_unit_test(mentions_count_what_is_not_there),
        cmocka_unit_test(bits_are_the_share_of_scenes),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}

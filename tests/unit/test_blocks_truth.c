// Dialogs are true, checked by reading the questions anew and looking at the scene without the code
// that made them; and without looking they cannot be guessed.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assets/blocks/facts.h"
#include "tests/support/blocks_dialogs.h"

// ---- truth, read anew -------------------------------------------------------------------------

typedef struct description {
    int color, shape, material, size; // -1 = any
    bool known;                       // every word was understood
} description;

typedef struct synonym {
    const char *word;
    int attribute, value; // 0 color, 1 shape, 2 material, 3 size; 4 any thing
} synonym;

static const synonym synonyms[] = {
    {"red", 0, BLOCKS_RED},
    {"green", 0, BLOCKS_GREEN},
    {"blue", 0, BLOCKS_BLUE},
    {"yellow", 0, BLOCKS_YELLOW},
    {"purple", 0, BLOCKS_PURPLE},
    {"orange", 0, BLOCKS_ORANGE},
    {"white", 0, BLOCKS_WHITE},
    {"black", 0, BLOCKS_BLACK},
    {"cube", 1, BLOCKS_CUBE},
    {"cubes", 1, BLOCKS_CUBE},
    {"box", 1, BLOCKS_CUBE},
    {"boxes", 1, BLOCKS_CUBE},
    {"ball", 1, BLOCKS_BALL},
    {"balls", 1, BLOCKS_BALL},
    {"sphere", 1, BLOCKS_BALL},
    {"spheres", 1, BLOCKS_BALL},
    {"cylinder", 1, BLOCKS_CYLINDER},
    {"cylinders", 1, BLOCKS_CYLINDER},
    {"cone", 1, BLOCKS_CONE},
    {"cones", 1, BLOCKS_CONE},
    {"rubber", 2, BLOCKS_RUBBER},
    {"matte", 2, BLOCKS_RUBBER},
    {"dull", 2, BLOCKS_RUBBER},
    {"metal", 2, BLOCKS_METAL},
    {"metallic", 2, BLOCKS_METAL},
    {"shiny", 2, BLOCKS_METAL},
    {"small", 3, BLOCKS_SMALL},
    {"little", 3, BLOCKS_SMALL},
    {"tiny", 3, BLOCKS_SMALL},
    {"big", 3, BLOCKS_LARGE},
    {"large", 3, BLOCKS_LARGE},
    {"huge", 3, BLOCKS_LARGE},
    {"thing", 4, 0},
    {"things", 4, 0},
    {"object", 4, 0},
    {"objects", 4, 0},
    {"item", 4, 0},
    {"items", 4, 0},
    {"shape", 4, 0},
    {"shapes", 4, 0},
    {"one", 4, 0},
    {"1", 4, 0},
    {"ones", 4, 0},
};

// Reads words from *text on as long as they describe something.
static description read_description(const char **text)
{
    description d = {-1, -1, -1, -1, false};
    int *const at[] = {&d.color, &d.shape, &d.material, &d.size};
    for (;;) {
        size_t n = strcspn(*text, " ");
        const synonym *found = NULL;
        for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
            if (strlen(synonyms[i].word) == n && !strncmp(*text, synonyms[i].word, n))
                found = &synonyms[i];
        if (!found || n == 0)
            return d;
        if (found->attribute < 4)
            *at[found->attribute] = found->value;
        d.known = found->attribute == 4 || found->attribute == 1;
        *text += n;
        if (**text == ' ')
            ++*text;
        if (d.known) // the noun ends it
            return d;
    }
}

static bool fits(const blocks_object *o, description d)
{
    return (d.color < 0 || d.color == (int)o->color) && (d.shape < 0 || d.shape == (int)o->shape) &&
           (d.material < 0 || d.material == (int)o->material) &&
           (d.size < 0 || d.size == (int)o->size);
}

static int number_of(const blocks_scene *scene, description d, int *last)
{
    int count = 0;
    for (int i = 0; i < scene->count; i++)
        if (fits(&scene->object[i], d)) {
            count++;
            *last = i;
        }
    return count;
}

// Behind `start`, a description and then nothing but where to look.
static bool reads_as(const char *question, const char *start, const char *const *ends,
                     description *d)
{
    if (!starts(question, start))
        return false;
    const char *rest = question + strlen(start);
    *d = read_description(&rest);
    if (!d->known)
        return false;
    for (; *ends; ends++)
        if (!strcmp(rest, *ends))
            return true;
    return false;
}

static const char *const anywhere[] = {"",
                                       "on the table",
                                       "in the picture",
                                       "in the image",
                                       "in this picture",
                                       "here",
                                       "in the scene",
                                       NULL};
static const char *const there[] = {"are there",
                                    "are there on the table",
                                    "are there in total",
                                    "are there in the picture",
                                    "do you see",
                                    "can you see",
                                    NULL};
static const char *const nothing[] = {"", NULL};

static int number_in(const char *answer)
{
    if (!strcmp(answer, "none") || !strcmp(answer, "there are none") ||
        !strcmp(answer, "i don't see any"))
        return 0;
    const char *digit = strpbrk(answer, "0123456789");
    return digit ? (int)strtol(digit, NULL, 10) : -1;
}

static void counts_are_true(void **state)
{
    (void)state;
    int read = 0, last = 0, spread[BLOCKS_MAX + 1] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        const blocks_scene *scene = &scenes[i / BLOCKS_ROUNDS];
        description d;
        if (r->coreference || !reads_as(r->question, "how many ", there, &d))
            continue;
        int count = number_of(scene, d, &last);
        if (number_in(blocks_answer_text(r->answer)) != count)
            fail_msg("'%s' has %d, not '%s'", r->question, count, blocks_answer_text(r->answer));
        for (int k = 0; k < BLOCKS_CANDIDATES; k++)
            if (r->relevance[k] == 1)
                assert_int_equal(number_in(blocks_answer_text(r->options[k])), count);
        spread[count]++;
        read++;
    }
    assert_true(read > 300);
    for (int n = 0; n <= 4; n++) // no number is the answer to half of them
        assert_in_range(spread[n], read / 40, read * 2 / 5);
}

static void existence_is_true_and_even(void **state)
{
    (void)state;
    static const char *const begin[] = {"is there a ",     "is there an ",     "are there any ",
                                        "do you see any ", "can you see any ", "any ",
                                        "do you see a ",   "can you see a ",   "is there any "};
    int read = 0, yes = 0, last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        description d;
        for (int b = 0; b < 9; b++) {
            if (r->coreference || !reads_as(r->question, begin[b], anywhere, &d))
                continue;
            if (strcmp(r->family, "exist")) // "are there any things" asks about the picture
                continue;
            int truth = number_of(&scenes[i / BLOCKS_ROUNDS], d, &last) > 0;
            if (polarity(blocks_answer_text(r->answer)) != truth)
                fail_msg("'%s' is not '%s'", r->question, blocks_answer_text(r->answer));
            read++;
            yes += truth;
        }
    }
    assert_true(read > 400);
    assert_in_range(yes, read * 2 / 5, read * 3 / 5);
}

static void attributes_are_true_and_their_things_unique(void **state)
{
    (void)state;
    int read = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        const blocks_scene *scene = &scenes[i / BLOCKS_ROUNDS];
        const char *answer = blocks_answer_text(r->answer);
        description d;
        int object = -1;
        if (r->coreference || strcmp(r->family, "attribute"))
            continue;
        const char *expected = NULL;
        static const char *const made[] = {"made of", NULL};
        if (reads_as(r->question, "what color is the ", nothing, &d))
            expected = "color";
        else if (reads_as(r->question, "what shape is the ", nothing, &d))
            expected = "shape";
        else if (reads_as(r->question, "what is the ", made, &d))
            expected = "material";
        else
            continue;
        if (number_of(scene, d, &object) != 1)
            fail_msg("'%s' is not one thing", r->question);
        const blocks_object *o = &scene->object[object];
        const char *value = expected[0] == 'c'   ? blocks_color_names[o->color]
                            : expected[0] == 's' ? blocks_shape_names[o->shape]
                                                 : blocks_material_names[o->material];
        if (!strstr(answer, value))
            fail_msg("'%s' is %s, not '%s'", r->question, value, answer);
        read++;
    }
    assert_true(read > 100);
}

static void verified_attributes_are_true_and_even(void **state)
{
    (void)state;
    int read = 0, yes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        const blocks_scene *scene = &scenes[i / BLOCKS_ROUNDS];
        if (r->coreference || strcmp(r->family, "verify") || !starts(r->question, "is the "))
            continue;
        const char *rest = r->question + strlen("is the ");
        description d = read_description(&rest);
        int object = -1;
        if (!d.known || number_of(scene, d, &object) != 1)
            continue;
        if (starts(rest, "a "))
            rest += 2;
        else if (starts(rest, "made of "))
            rest += strlen("made of ");
        char value[BLOCKS_TEXT + 8];
        // A word that describes, and a noun behind it for the reader to end at.
        bool noun = false;
        for (size_t s = 0; s < sizeof synonyms / sizeof *synonyms; s++)
            noun |= synonyms[s].attribute == 1 && !strcmp(synonyms[s].word, rest);
        snprintf(value, sizeof value, "%s%s", rest, noun ? "" : " thing");
        const char *at = value;
        description said = read_description(&at);
        if (!said.known || *at)
            continue;
        int truth = fits(&scene->object[object], said);
        if (polarity(blocks_answer_text(r->answer)) != truth)
            fail_msg("'%s' is not '%s'", r->question, blocks_answer_text(r->answer));
        read++;
        yes += truth;
    }
    assert_true(read > 150);
    assert_in_range(yes, read * 2 / 5, read * 3 / 5);
}

// ---- guessing ---------------------------------------------------------------------------------

// What a reader without the picture knows of a question: its wording with the named values blanked.
static uint64_t wording(const blocks_round *r, bool family_only)
{
    uint64_t hash = 0xcbf29ce484222325u;
    char text[BLOCKS_TEXT];
    snprintf(text, sizeof text, "%s", family_only ? r->family : r->question);
    char *rest = text;
    for (char *word; (word = strsep(&rest, " "));) {
        char as[BLOCKS_TEXT];
        snprintf(as, sizeof as, "%s", word);
        for (size_t s = 0; s < sizeof synonyms / sizeof *synonyms; s++)
            if (!strcmp(synonyms[s].word, word))
                snprintf(as, sizeof as, "<%d>", synonyms[s].attribute);
        for (const char *c = as; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
        hash = (hash ^ ' ') * 0x100000001b3u;
    }
    return hash;
}

enum { SLOTS = 1 << 15, KEPT = 40 };

typedef struct habit {
    uint64_t wording;
    int seen;
    int answer[KEPT], times[KEPT]; // true answers
} habit;

static habit habits[SLOTS];

static habit *habit_of(uint64_t key)
{
    size_t at = key % SLOTS;
    while (habits[at].seen && habits[at].wording != key)
        at = (at + 1) % SLOTS;
    habits[at].wording = key;
    return &habits[at];
}

static void remember(habit *h, const blocks_round *r)
{
    h->seen++;
    for (int k = 0; k < BLOCKS_CANDIDATES; k++) {
        if (r->relevance[k] < 1)
            continue;
        int i = 0;
        while (i < KEPT - 1 && h->times[i] && h->answer[i] != r->options[k])
            i++;
        if (h->answer[i] != r->options[k] && h->times[i])
            continue; // no room
        h->answer[i] = r->options[k];
        h->times[i]++;
    }
}

static void guessing_from_the_wording_is_right_less_than_half_of_the_time(void **state)
{
    (void)state;
    memset(habits, 0, sizeof habits);
    for (int i = 0; i < ROUNDS / 2; i++) {
        remember(habit_of(wording(round_at(i), false)), round_at(i));
        remember(habit_of(wording(round_at(i), true)), round_at(i));
    }
    int right = 0, referring = 0, right_referring = 0;
    for (int i = ROUNDS / 2; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        const habit *h = habit_of(wording(r, false));
        if (h->seen < 10)
            h = habit_of(wording(r, true));
        int best = 0;
        for (int k = 1; k < KEPT; k++)
            best = h->times[k] > h->times[best] ? k : best;
        bool good = false;
        for (int k = 0; k < BLOCKS_CANDIDATES; k++)
            good |= r->options[k] == h->answer[best] && r->relevance[k] == 1;
        right += good;
        referring += r->coreference > 0;
        right_referring += r->coreference > 0 && good;
    }
    print_message("blind to the picture: %.3f, coreferent %.3f\n", right / (ROUNDS / 2.0),
                  right_referring / (double)referring);
    assert_true(right < 0.5 * ROUNDS / 2);
    assert_true(right_referring < 0.5 * referring);
}

// Those colors whose names stand in the text, a bit each.
static unsigned colors_in(const char *text)
{
    unsigned colors = 0;
    for (int c = 0; c < BLOCKS_COLORS; c++)
        if (strstr(text, blocks_color_names[c]))
            colors |= 1u << c;
    return colors;
}

static void up_to_five_colors_are_listed(void **state)
{
    (void)state;
    static const char *const questions[] = {
        "what colors are there",          "what colors do you see", "what colors can you see",
        "what colors are in the picture", "which colors are there", "which colors do you see"};
    int listed[BLOCKS_COLORS + 1] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        const blocks_round *r = round_at(i);
        const blocks_scene *scene = &scenes[i / BLOCKS_ROUNDS];
        bool asks = false;
        for (size_t k = 0; k < sizeof questions / sizeof *questions; k++)
            asks |= starts(r->question, questions[k]);
        if (!asks)
            continue;
        unsigned colors = 0;
        for (int o = 0; o < scene->count; o++)
            colors |= 1u << scene->object[o].color;
        int count = __builtin_popcount(colors);
        for (int k = 0; k < BLOCKS_CANDIDATES; k++) {
            const char *text = blocks_answer_text(r->options[k]);
            bool vague = !strcmp(text, "different colors");
            bool truth = vague ? count > 5 : colors_in(text) == colors;
            if (count > 1 && truth != (r->relevance[k] == 1))
                fail_msg("'%s': '%s' has relevance %g", r->question, text, (double)r->relevance[k]);
        }
        listed[count]++;
    }
    for (int n = 2; n <= 6; n++)
        assert_true(listed[n] > 0);
}

// ---- nearness -----------------------------------------------------------------------------------

static void behind_is_what_stands_in_its_column(void **state)
{
    (void)state;
    // In the picture: a thing, one straight behind it, and one nearer but far to the right.
    blocks_scene scene = {.count = 3,
                          .object = {{.x = 0, .y = 0, .box = {100, 130, 140, 170}},
                                     {.x = 0.1, .y = 2, .box = {104, 80, 140, 116}},
                                     {.x = 1.3, .y = 0.6, .box = {146, 124, 182, 160}}}};
    assert_int_equal(blocks_nearest(&scene, BLOCKS_BEHIND, 0), 1);
    assert_int_equal(blocks_nearest(&scene, BLOCKS_FRONT, 1), 0);
    assert_int_equal(blocks_nearest(&scene, BLOCKS_RIGHT, 0), 2);
    assert_int_equal(blocks_nearest(&scene, BLOCKS_AROUND, 0), 2);
    // Two that are about equally near: neither is the nearest.
    scene.object[2] = (blocks_object){.x = -0.6, .y = 1.9, .box = {88, 84, 124, 120}};
    assert_int_equal(blocks_nearest(&scene, BLOCKS_BEHIND, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_true),
        cmocka_unit_test(existence_is_true_and_even),
        cmocka_unit_test(attributes_are_true_and_their_things_unique),
        cmocka_unit_test(verified_attributes_are_true_and_even),
        cmocka_unit_test(up_to_five_colors_are_listed),
        cmocka_unit_test(behind_is_what_stands_in_its_column),
        cmocka_unit_test(guessing_from_the_wording_is_right_less_than_half_of_the_time),
    };
    return cmocka_run_group_tests(tests, make_dialogs, NULL);
}

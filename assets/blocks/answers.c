#include "assets/blocks/answers.h"

#include <pthread.h>
#include <stdio.h>

static blocks_answer table[ANSWERS_MAX];
static int table_count;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static blocks_answer *add(blocks_form f, float weight, const char *text)
{
    blocks_answer *a = &table[table_count++];
    snprintf(a->text, sizeof a->text, "%s", text);
    a->form = f;
    a->weight = weight;
    a->says = blocks_anything;
    a->number = -1;
    return a;
}

// before + name + after, "a" before a vowel made "an".
static void compose(char *text, const char *before, const char *name, const char *after)
{
    size_t n = strlen(before);
    bool an = n >= 2 && before[n - 1] == ' ' && before[n - 2] == 'a' &&
              (n == 2 || before[n - 3] == ' ') && strchr("aeiou", name[0]);
    snprintf(text, ANSWER_TEXT, "%.*s%s%s%s", (int)(an ? n - 1 : n), before, an ? "n " : "", name,
             after);
}

// One answer for every value of the attribute.
static void add_values(blocks_form f, float weight, blocks_attribute attribute, const char *before,
                       const char *after)
{
    for (int v = 0; v < blocks_values(attribute); v++) {
        const char *name = blocks_value_name(attribute, v);
        if (attribute == BLOCKS_SIZE)
            name = v == BLOCKS_LARGE ? "big" : "small";
        char text[ANSWER_TEXT];
        compose(text, before, name, after);
        add(f, weight, text)->says.value[attribute] = (int8_t)v;
    }
}

static void add_number(blocks_form f, float weight, const char *before, int n, const char *after)
{
    char text[ANSWER_TEXT];
    snprintf(text, sizeof text, "%s%d%s", before, n, after);
    add(f, weight, text)->number = n;
}

// Every two to BLOCKS_LISTED values of the attribute, each with what stands before it, in the order
// of the values.
static void add_lists(blocks_attribute attribute, const char *before)
{
    for (unsigned set = 1; set < 1u << blocks_values(attribute); set++) {
        int left = __builtin_popcount(set);
        if (left < 2 || left > BLOCKS_LISTED)
            continue;
        char text[ANSWER_TEXT] = "";
        for (unsigned rest = set; rest; rest &= rest - 1) {
            const char *name = blocks_value_name(attribute, __builtin_ctz(rest));
            size_t at = strlen(text);
            left--;
            snprintf(text + at, sizeof text - at, "%s%s%s", before, name,
                     left > 1 ? ", "
                     : left   ? " and "
                              : "");
        }
        blocks_answer *a = add(FORM_LIST, 1, text);
        a->says.value[attribute] = (int8_t)__builtin_ctz(set);
        a->listed = set;
    }
}

// What follows a "no".
static void add_reasons(void)
{
    add(FORM_NO_MORE, 1, "no, that's all");
    add(FORM_NO_MORE, 1, "no, that's the only one");
    static const char *const sides[] = {"on the left", "on the right", "in front", "behind"};
    for (int d = 0; d < BLOCKS_DIRECTIONS; d++) {
        char text[ANSWER_TEXT];
        compose(text, "no, it's ", sides[d], "");
        add(FORM_NO_SIDE, 1, text)->number = d;
    }
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++) {
        static const char *const plural[] = {"colors", "shapes", "materials", "sizes"};
        char text[ANSWER_TEXT];
        compose(text, "no, different ", plural[a], "");
        add(FORM_NO_DIFFERENT, 1, text)->number = a;
    }
}

static void add_polar(void)
{
    add(FORM_YES, 20, "yes");
    add(FORM_YES, 1, "yep");
    add(FORM_YES, 1, "yeah");
    add(FORM_YES_THERE, 3, "yes, there is")->number = VERB_IS;
    add(FORM_YES_THERE, 2, "yes, there are")->number = VERB_ARE;
    add(FORM_YES_IT, 1, "yes, it is");
    add(FORM_YES_THEY, 1, "yes, they are");
    add(FORM_YES_ALL, 1, "yes, all of them");
    add(FORM_YES_ALL, 1, "all of them");
    add(FORM_NO, 20, "no");
    add(FORM_NO, 2, "nope");
    add(FORM_NO_THERE, 3, "no, there isn't")->number = VERB_IS;
    add(FORM_NO_THERE, 2, "no, there aren't")->number = VERB_ARE;
    add(FORM_NO_THERE, 3, "no, i don't see any");
    add(FORM_NO_THERE, 1, "not that i can see");
    add(FORM_NO_IT, 1, "no, it isn't");
    add(FORM_NO_IT, 1, "no, it's not");
    add(FORM_NO_THEY, 1, "no, they aren't");
    add(FORM_NO_THEY, 1, "no, they're not");
    add(FORM_NO_ALL, 1, "no, not all of them");
    add(FORM_NO_SOME, 1, "no, only some of them");
    add(FORM_NO_NONE, 1, "no, none of them");
    add(FORM_NO_BLOCKS, 1, "no, just blocks");
    add_values(FORM_YES_ONE, 3, BLOCKS_COLOR, "yes, a ", " one");
    add_values(FORM_YES_ONE, 3, BLOCKS_SHAPE, "yes, a ", "");
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++) {
        add_values(FORM_YES_VALUE, 1, (blocks_attribute)a,
                   a == BLOCKS_SHAPE ? "yes, it's a " : "yes, it's ", "");
        add_values(FORM_NO_VALUE, 1, (blocks_attribute)a,
                   a == BLOCKS_SHAPE ? "no, it's a " : "no, it's ", "");
    }
    for (int n = 1; n <= BLOCKS_MAX; n++) {
        add_number(FORM_YES_COUNT, 1, "yes, ", n, "");
        if (n <= 4)
            add_number(FORM_YES_MORE, 1, "yes, ", n, " more");
        if (n > 1)
            add_number(FORM_YES_COUNT, 1, "yes, ", n, " of them");
    }
}

static void add_counts(void)
{
    for (int n = 0; n <= BLOCKS_MAX; n++) {
        add_number(FORM_COUNT, 8, "", n, "");
        if (n >= 1)
            add_number(FORM_COUNT, 1, n == 1 ? "there is " : "there are ", n, "");
        if (n >= 1)
            add_number(FORM_COUNT, 0.5f, "", n, " of them");
    }
    add(FORM_COUNT, 1, "just 1")->number = 1;
    add(FORM_COUNT, 1, "only 1")->number = 1;
    add(FORM_COUNT, 0.5f, "just 2")->number = 2;
    add(FORM_COUNT, 0.5f, "only 2")->number = 2;
    add(FORM_COUNT, 0.5f, "just 3")->number = 3;
    add(FORM_COUNT, 5, "none")->number = 0;
    add(FORM_COUNT, 1, "there are none")->number = 0;
    add(FORM_COUNT, 1, "i don't see any")->number = 0;
    add(FORM_ABOUT, 1, "a couple")->number = 2;
    add(FORM_ABOUT, 1, "a few")->number = 3;
    add(FORM_ABOUT, 1, "several")->number = 5;
}

static void add_things(void)
{
    add_values(FORM_VALUE, 5, BLOCKS_COLOR, "", "");
    add_values(FORM_VALUE, 2, BLOCKS_COLOR, "it's ", "");
    add_values(FORM_VALUE, 5, BLOCKS_MATERIAL, "", "");
    add_values(FORM_VALUE, 2, BLOCKS_MATERIAL, "it's ", "");
    add_values(FORM_VALUE, 5, BLOCKS_SIZE, "", "");
    add_values(FORM_VALUE, 2, BLOCKS_SIZE, "it's ", "");
    add(FORM_VALUE, 2, "large")->says.value[BLOCKS_SIZE] = BLOCKS_LARGE;
    add(FORM_VALUE, 1, "shiny metal")->says.value[BLOCKS_MATERIAL] = BLOCKS_METAL;
    add(FORM_VALUE, 1, "matte rubber")->says.value[BLOCKS_MATERIAL] = BLOCKS_RUBBER;
    add_values(FORM_VALUE, 2, BLOCKS_SHAPE, "", "");
    add_values(FORM_VALUE, 5, BLOCKS_SHAPE, "a ", "");
    add_values(FORM_VALUE, 2, BLOCKS_SHAPE, "it's a ", "");
    for (int c = 0; c < BLOCKS_COLORS; c++)
        for (int s = 0; s < BLOCKS_SHAPES; s++) {
            static const blocks_form forms[] = {FORM_A, FORM_THE, FORM_YES_ONE};
            static const char *const before[] = {"a ", "the ", "yes, a "};
            for (int i = 0; i < 3; i++) {
                char name[ANSWER_TEXT], text[ANSWER_TEXT];
                snprintf(name, sizeof name, "%s %s", blocks_color_names[c], blocks_shape_names[s]);
                compose(text, before[i], name, "");
                blocks_answer *a = add(forms[i], i == 2 ? 1.5f : 4, text);
                a->says.value[BLOCKS_COLOR] = (int8_t)c;
                a->says.value[BLOCKS_SHAPE] = (int8_t)s;
            }
        }
    add_values(FORM_THE, 3, BLOCKS_COLOR, "the ", " one");
    add_values(FORM_THE, 4, BLOCKS_SHAPE, "the ", "");
    add_values(FORM_THE, 1, BLOCKS_MATERIAL, "the ", " one");
    add_values(FORM_THE, 2, BLOCKS_SIZE, "the ", " one");
    add(FORM_NOTHING, 3, "nothing");
    add(FORM_NOTHING, 1, "there's nothing there");
    add_values(FORM_NO_SUCH, 1, BLOCKS_SHAPE, "there is no ", "");
    add(FORM_NO_SUCH, 1, "there isn't one");
    add(FORM_NO_SUCH, 1, "i don't see one");
}

static void add_groups(void)
{
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        add_values(FORM_SHARED, 1, (blocks_attribute)a, "they're all ",
                   a == BLOCKS_SHAPE ? "s" : "");
    add_lists(BLOCKS_COLOR, "");
    add_lists(BLOCKS_SHAPE, "a ");
    add(FORM_DIFFERENT, 1, "different colors")->number = BLOCKS_COLOR;
    add(FORM_DIFFERENT, 1, "different shapes")->number = BLOCKS_SHAPE;
    add(FORM_DIFFERENT, 1, "metal and rubber")->number = BLOCKS_MATERIAL;
    add(FORM_DIFFERENT, 1, "different sizes")->number = BLOCKS_SIZE;
    add_values(FORM_MORE, 2, BLOCKS_SHAPE, "", "s");
    add_values(FORM_MORE, 1, BLOCKS_SHAPE, "more ", "s");
    add_values(FORM_MORE, 2, BLOCKS_COLOR, "the ", " ones");
    add_values(FORM_MORE, 2, BLOCKS_MATERIAL, "the ", " ones");
    add_values(FORM_MORE, 2, BLOCKS_SIZE, "the ", " ones");
    add(FORM_BOTH, 2, "both")->number = 2;
    add(FORM_BOTH, 2, "both of them")->number = 2;
    add(FORM_BOTH, 2, "neither")->number = 0;
    add(FORM_BOTH, 2, "neither of them")->number = 0;
    add(FORM_BOTH, 2, "none of them")->number = 0;
    static const char *const aspects[] = {"the color", "the shape", "the material", "the size"};
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        add(FORM_ASPECT, 1, aspects[a])->number = a;
    add(FORM_SAME, 2, "the same");
    add(FORM_SAME, 1, "the same number");
    static const char *const extents[] = {"smaller", "the same size", "bigger"};
    static const char *const told[] = {"it's smaller", "they're the same size", "it's bigger"};
    for (int e = 0; e < 3; e++) {
        add(FORM_EXTENT, 3, extents[e])->number = e;
        add(FORM_EXTENT, 1, told[e])->number = e;
    }
}

static void add_scene(void)
{
    static const char *const places[] = {"on the left", "on the right", "in the front",
                                         "in the back"};
    for (int d = 0; d < BLOCKS_DIRECTIONS; d++)
        add(FORM_PLACE, 1, places[d])->number = d;
    add(FORM_PLACE, 1, "in the middle")->number = BLOCKS_DIRECTIONS;
    static const char *const sides[] = {"to the left",    "left",     "to the right", "right",
                                        "in front of it", "in front", "behind it",    "behind"};
    for (int i = 0; i < 2 * BLOCKS_DIRECTIONS; i++)
        add(FORM_SIDE, i % 2 + 1, sides[i])->number = i / 2;
    add(FORM_TELL, 2, "i can't tell");
    add(FORM_TELL, 1, "can't tell");
    add(FORM_TELL, 1, "i don't know");
    add(FORM_SCENE, 2, "some blocks on a table")->number = SCENE_WHAT;
    add(FORM_SCENE, 1, "just some blocks")->number = SCENE_WHAT;
    add(FORM_SCENE, 2, "gray")->number = SCENE_GRAY;
    add(FORM_SCENE, 1, "it's gray")->number = SCENE_GRAY;
    add(FORM_SCENE, 2, "a table")->number = SCENE_TABLE;
    add(FORM_SCENE, 1, "on a table")->number = SCENE_TABLE;
}

static void fill_table(void)
{
    add_polar();
    add_reasons();
    add_counts();
    add_things();
    add_groups();
    add_scene();
    for (int i = 0; i < table_count; i++) {
        table[i].named = blocks_kind_mask(table[i].says);
        table[i].it = !strncmp(table[i].text, "it's ", 5) || !strncmp(table[i].text, "a ", 2);
    }
}

const blocks_answer *blocks_answer_at(int index)
{
    pthread_once(&table_once, fill_table);
    return &table[index];
}

int blocks_answer_count(void)
{
    pthread_once(&table_once, fill_table);
    return table_count;
}

const char *blocks_answer_text(int index)
{
    return blocks_answer_at(index)->text;
}

unsigned blocks_answer_says(int index)
{
    return blocks_answer_at(index)->named;
}

int blocks_answer_number(int index)
{
    const blocks_answer *a = blocks_answer_at(index);
    return a->form == FORM_COUNT || a->form == FORM_YES_COUNT ? a->number : -1;
}

#include "assets/blocks/answers.h"

#include <pthread.h>
#include <stdio.h>

// ---- the table
// ------------------------------------------------------------------------------------

typedef enum {
    FORM_YES,
    FORM_YES_THERE,
    FORM_YES_IT,
    FORM_YES_THEY,
    FORM_YES_ALL,
    FORM_YES_ONE,   // yes, a red one
    FORM_YES_COUNT, // yes, 2 of them
    FORM_YES_VALUE, // yes, it's red
    FORM_NO,
    FORM_NO_THERE,
    FORM_NO_IT,
    FORM_NO_THEY,
    FORM_NO_ALL,   // no, not all of them
    FORM_NO_SOME,  // no, only some of them
    FORM_NO_NONE,  // no, none of them
    FORM_NO_VALUE, // no, it's red
    FORM_NO_BLOCKS,
    FORM_COUNT,
    FORM_ABOUT, // a few
    FORM_VALUE, // red, it's red
    FORM_A,     // a red cube
    FORM_THE,   // the red cube, the red one
    FORM_NOTHING,
    FORM_SHARED,    // they're all red
    FORM_PAIR,      // red and blue
    FORM_DIFFERENT, // different colors
    FORM_PLACE,
    FORM_MORE, // cubes, the red ones
    FORM_SAME,
    FORM_NO_SUCH, // there is no cone
    FORM_TELL,
    FORM_SCENE,
} form;

enum { ANSWERS_MAX = 512, ANSWER_TEXT = 40 };

typedef struct answer {
    char text[ANSWER_TEXT];
    form form;
    blocks_kind says; // attributes it names
    unsigned told;    // which ones, a bit each
    blocks_kind also; // PAIR: those of the other object
    int number;       // COUNT, YES_COUNT; PLACE: its direction; SCENE: its topic
    bool it;          // speaks of one thing: it's red
    float weight;     // how often among answers of its form
} answer;

static answer table[ANSWERS_MAX];
static int table_count;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static answer *add(form f, float weight, const char *text)
{
    answer *a = &table[table_count++];
    snprintf(a->text, sizeof a->text, "%s", text);
    a->form = f;
    a->weight = weight;
    a->says = a->also = blocks_anything;
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
static void add_values(form f, float weight, blocks_attribute attribute, const char *before,
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
    for (int n = 1; n <= 5; n++) {
        char text[ANSWER_TEXT];
        snprintf(text, sizeof text, "yes, %d", n);
        add(FORM_YES_COUNT, 1, text)->number = n;
        snprintf(text, sizeof text, "yes, %d of them", n);
        if (n > 1)
            add(FORM_YES_COUNT, 1, text)->number = n;
    }
}

static void add_counts(void)
{
    char text[ANSWER_TEXT];
    for (int n = 0; n <= BLOCKS_MAX; n++) {
        snprintf(text, sizeof text, "%d", n);
        add(FORM_COUNT, 8, text)->number = n;
        snprintf(text, sizeof text, n == 1 ? "there is %d" : "there are %d", n);
        if (n >= 1)
            add(FORM_COUNT, 1, text)->number = n;
        snprintf(text, sizeof text, "%d of them", n);
        if (n >= 1 && n <= 6)
            add(FORM_COUNT, 0.5f, text)->number = n;
    }
    add(FORM_COUNT, 1, "just 1")->number = 1;
    add(FORM_COUNT, 1, "only 1")->number = 1;
    add(FORM_COUNT, 0.5f, "just 2")->number = 2;
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
            static const form forms[] = {FORM_A, FORM_THE, FORM_YES_ONE};
            static const char *const before[] = {"a ", "the ", "yes, a "};
            for (int i = 0; i < 3; i++) {
                char name[ANSWER_TEXT], text[ANSWER_TEXT];
                snprintf(name, sizeof name, "%s %s", blocks_color_names[c], blocks_shape_names[s]);
                compose(text, before[i], name, "");
                answer *a = add(forms[i], i == 2 ? 1.5f : 4, text);
                a->says.value[BLOCKS_COLOR] = (int8_t)c;
                a->says.value[BLOCKS_SHAPE] = (int8_t)s;
            }
        }
    add_values(FORM_THE, 3, BLOCKS_COLOR, "the ", " one");
    add_values(FORM_THE, 4, BLOCKS_SHAPE, "the ", "");
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
    for (int c = 0; c < BLOCKS_COLORS; c++)
        for (int d = c + 1; d < BLOCKS_COLORS; d++) {
            char text[ANSWER_TEXT];
            snprintf(text, sizeof text, "%s and %s", blocks_color_names[c], blocks_color_names[d]);
            answer *a = add(FORM_PAIR, 1, text);
            a->says.value[BLOCKS_COLOR] = (int8_t)c;
            a->also.value[BLOCKS_COLOR] = (int8_t)d;
        }
    for (int s = 0; s < BLOCKS_SHAPES; s++)
        for (int t = s + 1; t < BLOCKS_SHAPES; t++) {
            char text[ANSWER_TEXT];
            snprintf(text, sizeof text, "a %s and a %s", blocks_shape_names[s],
                     blocks_shape_names[t]);
            answer *a = add(FORM_PAIR, 1, text);
            a->says.value[BLOCKS_SHAPE] = (int8_t)s;
            a->also.value[BLOCKS_SHAPE] = (int8_t)t;
        }
    add(FORM_DIFFERENT, 1, "different colors")->number = BLOCKS_COLOR;
    add(FORM_DIFFERENT, 1, "different shapes")->number = BLOCKS_SHAPE;
    add(FORM_DIFFERENT, 1, "metal and rubber")->number = BLOCKS_MATERIAL;
    add(FORM_DIFFERENT, 1, "different sizes")->number = BLOCKS_SIZE;
    add_values(FORM_MORE, 2, BLOCKS_SHAPE, "", "s");
    add_values(FORM_MORE, 1, BLOCKS_SHAPE, "more ", "s");
    add_values(FORM_MORE, 2, BLOCKS_COLOR, "the ", " ones");
    add_values(FORM_MORE, 2, BLOCKS_MATERIAL, "the ", " ones");
    add_values(FORM_MORE, 2, BLOCKS_SIZE, "the ", " ones");
    add(FORM_SAME, 2, "the same");
    add(FORM_SAME, 1, "the same number");
}

static void add_scene(void)
{
    static const char *const places[] = {"on the left", "on the right", "in the front",
                                         "in the back"};
    for (int d = 0; d < BLOCKS_DIRECTIONS; d++)
        add(FORM_PLACE, 1, places[d])->number = d;
    add(FORM_PLACE, 1, "in the middle")->number = BLOCKS_DIRECTIONS;
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
    add_counts();
    add_things();
    add_groups();
    add_scene();
    for (int i = 0; i < table_count; i++) {
        table[i].told = blocks_kind_mask(table[i].says);
        table[i].it = !strncmp(table[i].text, "it's ", 5) || !strncmp(table[i].text, "a ", 2);
    }
}

static const answer *at(int index)
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
    return at(index)->text;
}

unsigned blocks_answer_says(int index)
{
    return at(index)->told;
}

int blocks_answer_number(int index)
{
    const answer *a = at(index);
    return a->form == FORM_COUNT || a->form == FORM_YES_COUNT ? a->number : -1;
}

// ---- what is true
// ---------------------------------------------------------------------------------

static bool says_yes(form f)
{
    return f <= FORM_YES_VALUE;
}

static bool says_no(form f)
{
    return f >= FORM_NO && f <= FORM_NO_BLOCKS;
}

// How much of the set the answer describes: 1 if all of it, 0.5 if some, 0 if none.
static float describes(const blocks_scene *scene, blocks_set objects, blocks_kind says)
{
    blocks_set told = blocks_find(scene, says) & objects;
    return !told ? 0 : told == objects ? 1 : 0.5f;
}

static float judge_there(const blocks_scene *scene, const blocks_meaning *m, const answer *a)
{
    switch (a->form) {
    case FORM_YES:
    case FORM_NO:
        return 1;
    case FORM_YES_THERE:
    case FORM_NO_THERE:
        return a->number < 0 || a->number == (int)m->verb ? 1 : 0.5f;
    case FORM_YES_ONE:
        return describes(scene, m->objects, a->says);
    case FORM_YES_COUNT:
        return a->number == blocks_size_of(m->objects);
    case FORM_NO_BLOCKS:
        return m->absent;
    case FORM_NO_NONE:
        return m->ask == ASK_ANY ? 1 : 0.5f;
    default:
        return 0;
    }
}

static float judge_one(const blocks_scene *scene, const blocks_meaning *m, const answer *a)
{
    switch (a->form) {
    case FORM_YES:
    case FORM_YES_IT:
    case FORM_NO:
    case FORM_NO_IT:
        return 1;
    case FORM_YES_VALUE:
    case FORM_NO_VALUE:
        return m->attribute < BLOCKS_ATTRIBUTES && a->says.value[m->attribute] >= 0 &&
               describes(scene, m->objects, a->says) == 1;
    case FORM_YES_THERE:
    case FORM_YES_THEY:
    case FORM_NO_THERE:
    case FORM_NO_THEY:
        return 0.5f; // right, but not how one says it
    default:
        return 0;
    }
}

static float judge_all(const blocks_meaning *m, const answer *a)
{
    switch (a->form) {
    case FORM_YES:
    case FORM_YES_THEY:
    case FORM_YES_ALL:
    case FORM_NO:
    case FORM_NO_THEY:
    case FORM_NO_ALL:
        return 1;
    case FORM_NO_SOME:
        return m->number > 0;
    case FORM_NO_NONE:
        return m->number == 0;
    case FORM_YES_IT:
    case FORM_YES_THERE:
    case FORM_NO_IT:
    case FORM_NO_THERE:
        return 0.5f;
    default:
        return 0;
    }
}

static float judge_polar(const blocks_scene *scene, const blocks_meaning *m, const answer *a)
{
    if (!says_yes(a->form) && !says_no(a->form)) {
        // "is it red": "blue" says no without saying so.
        bool told = m->ask == ASK_ONE && a->form == FORM_VALUE &&
                    m->attribute < BLOCKS_ATTRIBUTES && a->says.value[m->attribute] >= 0;
        return told && describes(scene, m->objects, a->says) == 1 ? 0.5f : 0;
    }
    if (says_yes(a->form) != m->yes)
        return 0;
    if (m->ask == ASK_THERE || m->ask == ASK_ANY)
        return judge_there(scene, m, a);
    if (m->ask == ASK_ONE)
        return judge_one(scene, m, a);
    if (m->ask == ASK_ALL)
        return judge_all(m, a);
    if (a->form == FORM_YES || a->form == FORM_NO)
        return 1;
    return a->form == FORM_YES_ONE || a->form == FORM_YES_COUNT || a->form == FORM_YES_VALUE ||
                   a->form == FORM_NO_VALUE || a->form == FORM_NO_BLOCKS || a->form == FORM_NO_SOME
               ? 0
               : 0.5f;
}

static float judge_count(const blocks_meaning *m, const answer *a)
{
    if (a->form == FORM_COUNT)
        return a->number == m->number;
    if (m->number == 0 && (a->form == FORM_NO || a->form == FORM_NO_THERE))
        return 0.5f;
    if (a->form != FORM_ABOUT)
        return 0;
    int low = a->number, high = low == 2 ? 2 : low == 3 ? 4 : BLOCKS_MAX;
    return m->number >= low && m->number <= high ? 0.5f : 0;
}

static float judge_value(const blocks_scene *scene, const blocks_meaning *m, const answer *a)
{
    if (a->form == FORM_NO_SUCH)
        return !m->objects && (a->says.value[BLOCKS_SHAPE] < 0 ||
                               a->says.value[BLOCKS_SHAPE] == m->more.value[BLOCKS_SHAPE]);
    if (!m->objects || a->says.value[m->attribute] < 0 || describes(scene, m->objects, a->says) < 1)
        return 0;
    return a->form == FORM_VALUE ? 1 : a->form == FORM_A || a->form == FORM_THE ? 0.5f : 0;
}

static float judge_shared(const blocks_scene *scene, const blocks_meaning *m, const answer *a)
{
    int shared = blocks_shared(scene, m->objects, m->attribute);
    if (a->form == FORM_DIFFERENT)
        return a->number == (int)m->attribute && shared < 0;
    if (a->form == FORM_PAIR) {
        blocks_set one = blocks_find(scene, a->says) & m->objects;
        blocks_set two = blocks_find(scene, a->also) & m->objects;
        return one && two && (one | two) == m->objects && a->says.value[m->attribute] >= 0;
    }
    if (a->says.value[m->attribute] < 0)
        return 0;
    float part = describes(scene, m->objects, a->says);
    if (a->form == FORM_SHARED)
        return part == 1;
    bool many = a->form == FORM_MORE && m->attribute == BLOCKS_SHAPE;
    return a->form == FORM_VALUE ? (a->it ? part / 2 : part) : many ? part : 0;
}

static float judge_which(const blocks_scene *scene, const blocks_meaning *m, const answer *a)
{
    if (a->form == FORM_NOTHING)
        return !m->objects;
    if (!m->objects)
        return 0;
    bool shape = a->says.value[BLOCKS_SHAPE] >= 0;
    if (a->form != FORM_A && a->form != FORM_THE && !(a->form == FORM_VALUE && shape))
        return 0;
    if (describes(scene, m->objects, a->says) < 1)
        return blocks_find(scene, a->says) & m->partly ? 0.5f : 0;
    if (m->ask == ASK_CHOICE)
        return blocks_is(&scene->object[m->other], a->says) ? 0.25f : 1;
    return shape ? 1 : 0.5f;
}

static float judge_where(const blocks_scene *scene, const blocks_meaning *m, const answer *a)
{
    int object = blocks_only(m->objects);
    if (a->form != FORM_PLACE || object < 0)
        return 0;
    int side = blocks_side(scene, object), depth = blocks_depth(scene, object);
    if (a->number == BLOCKS_DIRECTIONS)
        return side < 0 && depth < 0 ? 1 : side < 0 ? 0.5f : 0;
    return a->number == side || a->number == depth;
}

static float judge_more(const blocks_meaning *m, const answer *a)
{
    if (a->form == FORM_SAME)
        return m->equal;
    return a->form == FORM_MORE && !m->equal && blocks_kind_same(a->says, m->more);
}

static float judge(const blocks_scene *scene, const blocks_meaning *m, const answer *a)
{
    switch (m->ask) {
    case ASK_COUNT:
        return judge_count(m, a);
    case ASK_VALUE:
        return judge_value(scene, m, a);
    case ASK_SHARED:
        return judge_shared(scene, m, a);
    case ASK_WHICH:
    case ASK_CHOICE:
        return judge_which(scene, m, a);
    case ASK_WHERE:
        return judge_where(scene, m, a);
    case ASK_MORE:
        return judge_more(m, a);
    case ASK_SCENE:
        return m->topic == SCENE_TELL ? a->form == FORM_TELL
                                      : a->form == FORM_SCENE && a->number == (int)m->topic;
    default:
        return judge_polar(scene, m, a);
    }
}

float blocks_relevance(const blocks_scene *scene, const blocks_meaning *meaning, int index)
{
    return judge(scene, meaning, at(index));
}

// ---- what is said
// ---------------------------------------------------------------------------------

// How likely people are to answer such a question in this form; 0: never. What the question asks
// decides, not what is true, so that the candidates give nothing away.
static float form_weight(blocks_ask ask, form f)
{
    static const float weight[BLOCKS_ASKS][FORM_SCENE + 1] = {
        [ASK_THERE] = {[FORM_YES] = 10,
                       [FORM_YES_THERE] = 2,
                       [FORM_YES_ONE] = 6,
                       [FORM_YES_COUNT] = 3,
                       [FORM_NO] = 10,
                       [FORM_NO_THERE] = 4,
                       [FORM_NO_BLOCKS] = 1},
        [ASK_ANY] = {[FORM_YES] = 10,
                     [FORM_YES_ONE] = 2,
                     [FORM_YES_COUNT] = 5,
                     [FORM_NO] = 10,
                     [FORM_NO_NONE] = 4},
        [ASK_ONE] = {[FORM_YES] = 10,
                     [FORM_YES_IT] = 2,
                     [FORM_YES_VALUE] = 0.7f,
                     [FORM_NO] = 9,
                     [FORM_NO_IT] = 1.5f,
                     [FORM_NO_VALUE] = 2},
        [ASK_ALL] = {[FORM_YES] = 8,
                     [FORM_YES_THEY] = 2,
                     [FORM_YES_ALL] = 1,
                     [FORM_NO] = 8,
                     [FORM_NO_THEY] = 1,
                     [FORM_NO_ALL] = 1,
                     [FORM_NO_SOME] = 1,
                     [FORM_NO_NONE] = 1},
        [ASK_POLAR] = {[FORM_YES] = 1, [FORM_NO] = 1},
        [ASK_COUNT] = {[FORM_COUNT] = 1},
        [ASK_VALUE] = {[FORM_VALUE] = 1, [FORM_NO_SUCH] = 1},
        [ASK_SHARED] = {[FORM_VALUE] = 3,
                        [FORM_SHARED] = 2,
                        [FORM_PAIR] = 3,
                        [FORM_DIFFERENT] = 2,
                        [FORM_MORE] = 3},
        [ASK_WHICH] = {[FORM_A] = 6, [FORM_THE] = 2, [FORM_VALUE] = 2, [FORM_NOTHING] = 1},
        [ASK_CHOICE] = {[FORM_A] = 0.5f, [FORM_THE] = 8, [FORM_VALUE] = 0.5f},
        [ASK_WHERE] = {[FORM_PLACE] = 1},
        [ASK_MORE] = {[FORM_MORE] = 1, [FORM_SAME] = 1},
        [ASK_SCENE] = {[FORM_SCENE] = 1, [FORM_TELL] = 1},
    };
    return weight[ask][f];
}

// The same for one answer of the form.
static float answer_weight(const blocks_meaning *m, const answer *a)
{
    float weight = form_weight(m->ask, a->form) * a->weight;
    unsigned says = a->told;
    bool about = m->attribute < BLOCKS_ATTRIBUTES && says >> m->attribute & 1;
    if ((m->ask == ASK_WHICH || m->ask == ASK_CHOICE) && a->form == FORM_VALUE)
        about = says == 1u << BLOCKS_SHAPE;
    bool must = a->form == FORM_VALUE || a->form == FORM_SHARED || a->form == FORM_YES_VALUE ||
                a->form == FORM_NO_VALUE || a->form == FORM_PAIR ||
                (a->form == FORM_MORE && m->ask == ASK_SHARED);
    // "what shape are they": "cubes", not "cube".
    bool one =
        m->ask == ASK_SHARED && a->form == FORM_VALUE && (a->it || m->attribute == BLOCKS_SHAPE);
    return one || (must && !about) ? 0 : weight;
}

int blocks_answer_draw(const blocks_scene *scene, const blocks_meaning *meaning, vd_rng *rng)
{
    int drawn = -1;
    float total[FORM_SCENE + 1] = {0}, all = 0;
    float weight[ANSWERS_MAX];
    int count = blocks_answer_count();
    // A form first, by its own weight, so that a form with many true members is not favoured.
    for (int i = 0; i < count; i++) {
        const answer *a = &table[i];
        weight[i] = answer_weight(meaning, a);
        // "is there a red ball": "yes, a red one" would be true and dull.
        if (a->form == FORM_YES_ONE && !(a->told & ~meaning->given))
            weight[i] = 0;
        if (weight[i] > 0 && judge(scene, meaning, a) < 1)
            weight[i] = 0;
        total[a->form] += weight[i];
    }
    for (int f = 0; f <= FORM_SCENE; f++)
        all += total[f] > 0 ? form_weight(meaning->ask, (form)f) : 0;
    float at_form = (float)vd_rng_uniform(rng) * all;
    form chosen = FORM_YES;
    for (int f = 0; f <= FORM_SCENE; f++) {
        if (total[f] <= 0)
            continue;
        chosen = (form)f;
        at_form -= form_weight(meaning->ask, (form)f);
        if (at_form < 0)
            break;
    }
    float draw = (float)vd_rng_uniform(rng) * total[chosen];
    for (int i = 0; i < count; i++) {
        if (table[i].form != chosen || weight[i] <= 0)
            continue;
        drawn = i;
        draw -= weight[i];
        if (draw < 0)
            break;
    }
    return drawn;
}

// ---- candidates
// -----------------------------------------------------------------------------------

// The first `take` become a random choice of all, in random order.
static void shuffle(vd_rng *rng, int *list, int count, int take)
{
    for (int i = 0; i < take; i++) {
        int j = i + vd_rng_below(rng, count - i), t = list[i];
        list[i] = list[j];
        list[j] = t;
    }
}

// Answers that any question may get.
static bool popular(const answer *a)
{
    switch (a->form) {
    case FORM_YES:
    case FORM_NO:
    case FORM_YES_THERE:
    case FORM_YES_IT:
    case FORM_NO_IT:
        return true;
    case FORM_COUNT:
        return a->weight >= 8 && a->number <= 5;
    default:
        return false;
    }
}

// VisDial's: the truth, plausible answers to similar questions, popular ones, random ones. All that
// could answer the question are in, whatever is true, as far as there is room.
void blocks_candidates(const blocks_scene *scene, const blocks_meaning *meaning, vd_rng *rng,
                       blocks_round *round)
{
    int tier[3][ANSWERS_MAX], size[3] = {0}, count = blocks_answer_count(), n = 0;
    for (int i = 0; i < count; i++) {
        if (i == round->answer)
            continue;
        const answer *a = &table[i];
        int t = answer_weight(meaning, a) > 0 ? 0 : popular(a) ? 1 : 2;
        tier[t][size[t]++] = i;
    }
    round->options[n++] = round->answer;
    for (int t = 0; t < 3; t++) {
        int room = (t == 0 ? BLOCKS_CANDIDATES - 8 : BLOCKS_CANDIDATES) - n;
        int take = size[t] < room ? size[t] : room;
        shuffle(rng, tier[t], size[t], take);
        memcpy(round->options + n, tier[t], (size_t)take * sizeof *tier[t]);
        n += take;
    }
    shuffle(rng, round->options, BLOCKS_CANDIDATES, BLOCKS_CANDIDATES);
    for (int i = 0; i < BLOCKS_CANDIDATES; i++) {
        if (round->options[i] == round->answer)
            round->truth = i;
        round->relevance[i] = judge(scene, meaning, &table[round->options[i]]);
    }
}

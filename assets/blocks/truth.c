// Which answers are true of a scene, and how true.
#include "assets/blocks/answers.h"

#include <string.h>

// How much of the set the answer describes: 1 if all of it, 0.5 if some, 0 if none.
static float describes(const blocks_scene *scene, blocks_set objects, blocks_kind says)
{
    blocks_set told = blocks_find(scene, says) & objects;
    return !told ? 0 : told == objects ? 1 : 0.5f;
}

static float judge_there(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
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

static float judge_another(const blocks_scene *scene, const blocks_meaning *m,
                           const blocks_answer *a)
{
    switch (a->form) {
    case FORM_YES_MORE:
        return a->number == m->number;
    case FORM_NO_MORE:
        return 1;
    case FORM_YES_COUNT: // one more, or one in all?
        return 0;
    default:
        return judge_there(scene, m, a);
    }
}

// A plain yes or no: by itself, or with "there is", "it is", "they are", "all of them"; -1: another
// form.
static int plain_form(blocks_form form)
{
    int put = (int)form - (int)(form < FORM_NO ? FORM_YES : FORM_NO);
    return put <= (int)FORM_YES_ALL ? put : -1;
}

// Whether that is how one says it: 0.5 is right all the same.
static const float plain_fits[ASK_POLAR + 1][FORM_YES_ALL + 1] = {
    [ASK_ONE] = {1, 0.5f, 1, 0.5f, 0},
    [ASK_ALL] = {1, 0.5f, 0.5f, 1, 1},
    [ASK_SAME] = {1, 0, 0.5f, 1, 0.5f},
    [ASK_POLAR] = {1, 0.5f, 0.5f, 0.5f, 0.5f},
};

// Whether it names the value that is asked for, rightly.
static bool names_value(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
{
    return m->ask == ASK_ONE && m->attribute < BLOCKS_ATTRIBUTES &&
           a->says.value[m->attribute] >= 0 && describes(scene, m->objects, a->says) == 1;
}

static float judge_polar(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
{
    if (!blocks_form_yes(a->form) && !blocks_form_no(a->form)) // "is it red": "blue" says no
        return a->form == FORM_VALUE && names_value(scene, m, a) ? 0.5f : 0;
    if (blocks_form_yes(a->form) != m->yes)
        return 0;
    if (m->ask == ASK_THERE || m->ask == ASK_ANY)
        return judge_there(scene, m, a);
    if (m->ask == ASK_ANOTHER)
        return judge_another(scene, m, a);
    switch ((int)a->form) {
    case FORM_YES_VALUE:
    case FORM_NO_VALUE:
        return names_value(scene, m, a);
    case FORM_NO_SIDE:
        return m->ask == ASK_ONE && a->number == m->toward;
    case FORM_NO_SOME:
        return m->ask == ASK_ALL && m->number > 0;
    case FORM_NO_NONE:
        return m->ask == ASK_ALL ? m->number == 0 : m->ask == ASK_POLAR ? 0.5f : 0;
    case FORM_NO_DIFFERENT:
        return m->ask == ASK_SAME && a->number == (int)m->attribute;
    default:
        return plain_form(a->form) < 0 ? 0 : plain_fits[m->ask][plain_form(a->form)];
    }
}

static float judge_count(const blocks_meaning *m, const blocks_answer *a)
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

static float judge_value(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
{
    int shape = a->says.value[BLOCKS_SHAPE];
    // "which shape is missing", not "what shape is the green thing".
    bool missing = m->attribute == BLOCKS_SHAPE && m->more.value[BLOCKS_SHAPE] >= 0;
    if (!m->objects && a->form == FORM_NO_SUCH) // "there is no cube": also no other one than such
        return shape < 0 ? !missing
                         : shape == m->more.value[BLOCKS_SHAPE] &&
                               !blocks_find(scene, blocks_such(BLOCKS_SHAPE, shape));
    if (!m->objects && missing && a->form == FORM_VALUE && !a->it)
        return shape == m->more.value[BLOCKS_SHAPE];
    if (a->form == FORM_NO_SUCH)
        return 0;
    if (!m->objects || a->says.value[m->attribute] < 0 || describes(scene, m->objects, a->says) < 1)
        return 0;
    return a->form == FORM_VALUE ? 1 : a->form == FORM_A || a->form == FORM_THE ? 0.5f : 0;
}

static float judge_shared(const blocks_scene *scene, const blocks_meaning *m,
                          const blocks_answer *a)
{
    if (a->form == FORM_DIFFERENT) {
        // People say which, if these are not too many: "red and blue".
        int values = blocks_distinct(scene, m->objects, m->attribute);
        bool few = values <= BLOCKS_LISTED && m->attribute <= BLOCKS_SHAPE;
        return a->number != (int)m->attribute || values == 1 ? 0 : few ? 0.5f : 1;
    }
    if (a->form == FORM_LIST)
        return a->named == 1u << m->attribute &&
               a->listed == blocks_values_in(scene, m->objects, m->attribute);
    if (a->says.value[m->attribute] < 0)
        return 0;
    float part = describes(scene, m->objects, a->says);
    if (a->form == FORM_SHARED)
        return part == 1;
    bool many =
        a->form == FORM_MORE && m->attribute == BLOCKS_SHAPE && strncmp(a->text, "more ", 5) != 0;
    return a->form == FORM_VALUE ? (a->it ? part / 2 : part) : many ? part : 0;
}

static float judge_which(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
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
    return shape ? 1 : 0.5f;
}

// Whether an answer in words of attributes singles out the object among those to choose from.
static bool is_tellable(const blocks_scene *scene, const blocks_meaning *m, int object)
{
    static const unsigned said[] = {1u << BLOCKS_COLOR, 1u << BLOCKS_SHAPE, 1u << BLOCKS_MATERIAL,
                                    1u << BLOCKS_SIZE, 1u << BLOCKS_COLOR | 1u << BLOCKS_SHAPE};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i] & ~m->given &&
            blocks_size_of(blocks_find(scene, blocks_kind_of(&scene->object[object], said[i])) &
                           m->among) == 1)
            return true;
    return false;
}

// "which of them is metal": "on the left", best where nothing else distinguishes them.
static float judge_place(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
{
    int object = blocks_only(m->objects), direction = a->number;
    bool asked = m->toward >= 0 && direction / 2 == m->toward / 2;
    if (direction >= BLOCKS_DIRECTIONS || asked ||
        blocks_extreme(scene, m->among, (blocks_direction)direction) != object)
        return 0;
    if (m->sides || m->rows) // "the left one or the right one"
        return direction / 2 != m->rows ? 0 : a->form == FORM_PLACE || m->sides ? 1 : 0.5f;
    return a->form == FORM_PLACE && !is_tellable(scene, m, object) ? 1 : 0.5f;
}

// "which of them is metal": "the red one", when only that one is red. Nothing is said by "the metal
// one".
static float judge_choice(const blocks_scene *scene, const blocks_meaning *m,
                          const blocks_answer *a)
{
    if (a->form == FORM_BOTH)
        return a->number ? m->objects == m->among && blocks_size_of(m->among) == 2
                         : !m->objects && (strncmp(a->text, "neither", 7) != 0 ||
                                           blocks_size_of(m->among) == 2);
    if (a->form == FORM_NO_NONE)
        return m->objects ? 0 : 0.5f;
    if (blocks_size_of(m->objects) != 1 || describes(scene, m->objects, a->says) < 1)
        return 0;
    if (a->form == FORM_PLACE || a->form == FORM_SIDE)
        return judge_place(scene, m, a);
    bool alone = (blocks_find(scene, a->says) & m->among) == m->objects;
    bool news = a->named & ~m->given;
    switch (a->form) {
    case FORM_A:
    case FORM_THE:
        return !alone || !news ? 0.25f : m->sides || m->rows ? 0.5f : 1;
    case FORM_VALUE:
        return !alone || !news ? 0.25f : a->named >> BLOCKS_SHAPE & 1 ? 1 : 0.5f;
    default:
        return 0;
    }
}

static float judge_where(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
{
    int object = blocks_only(m->objects);
    int side = object < 0 ? -1 : blocks_side(scene, object);
    if (object >= 0 && a->form == FORM_SIDE && a->number <= BLOCKS_RIGHT)
        return a->number != side ? 0 : m->sides ? 1 : 0.5f;
    if (a->form != FORM_PLACE || object < 0)
        return 0;
    int depth = blocks_depth(scene, object);
    if (m->sides || m->rows)
        return a->number == (m->sides ? side : depth);
    if (a->number == BLOCKS_DIRECTIONS)
        return side < 0 && depth < 0 ? 1 : side < 0 ? 0.5f : 0;
    return a->number == side || a->number == depth;
}

static float judge_side(const blocks_meaning *m, const blocks_answer *a)
{
    bool side = a->form == FORM_SIDE || (a->form == FORM_PLACE && m->toward <= BLOCKS_RIGHT);
    return side && a->number == m->toward;
}

// "which color is most common": "red", "the red ones".
static float judge_most(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
{
    bool only = a->named == 1u << m->attribute && a->says.value[m->attribute] >= 0;
    if (!only || !blocks_kind_same(a->says, m->more))
        return 0;
    if (a->form == FORM_SHARED)
        return blocks_find(scene, a->says) == blocks_all(scene) ? 0.5f : 0;
    return a->form == FORM_VALUE || a->form == FORM_MORE;
}

static float judge_more(const blocks_meaning *m, const blocks_answer *a)
{
    if (a->form == FORM_SAME)
        return m->equal;
    return a->form == FORM_MORE && !m->equal && blocks_kind_same(a->says, m->more);
}

// "is it bigger or smaller than the ball": "bigger".
static float judge_extent(const blocks_meaning *m, const blocks_answer *a)
{
    if (a->form == FORM_SAME)
        return m->number == 1 && !strcmp(a->text, "the same") ? 0.5f : 0;
    return a->form == FORM_EXTENT && a->number == m->number;
}

// "what is the difference between them": "the color", "different colors".
static float judge_aspect(const blocks_meaning *m, const blocks_answer *a)
{
    if (a->form == FORM_NOTHING)
        return !m->given && !strcmp(a->text, "nothing");
    bool aspect = a->form == FORM_ASPECT || (m->yes && a->form == FORM_DIFFERENT);
    return aspect && m->given >> a->number & 1;
}

// "what do you see": "some blocks on a table", "a cube and a ball".
static float judge_scene(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
{
    if (m->topic == SCENE_TELL)
        return a->form == FORM_TELL;
    if (m->topic == SCENE_WHAT && (a->form == FORM_LIST || a->form == FORM_SHARED))
        return judge_shared(scene, m, a);
    return a->form == FORM_SCENE && a->number == (int)m->topic;
}

static float judge(const blocks_scene *scene, const blocks_meaning *m, const blocks_answer *a)
{
    switch (m->ask) {
    case ASK_COUNT:
        return judge_count(m, a);
    case ASK_VALUE:
        return judge_value(scene, m, a);
    case ASK_SHARED:
        return judge_shared(scene, m, a);
    case ASK_WHICH:
        return judge_which(scene, m, a);
    case ASK_CHOICE:
        return judge_choice(scene, m, a);
    case ASK_WHERE:
        return judge_where(scene, m, a);
    case ASK_SIDE:
        return judge_side(m, a);
    case ASK_MOST:
        return judge_most(scene, m, a);
    case ASK_MORE:
        return judge_more(m, a);
    case ASK_EXTENT:
        return judge_extent(m, a);
    case ASK_ASPECT:
        return judge_aspect(m, a);
    case ASK_SCENE:
        return judge_scene(scene, m, a);
    default:
        return judge_polar(scene, m, a);
    }
}

float blocks_relevance(const blocks_scene *scene, const blocks_meaning *meaning, int index)
{
    return judge(scene, meaning, blocks_answer_at(index));
}

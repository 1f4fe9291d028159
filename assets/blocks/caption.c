#include "assets/blocks/caption.h"

#include <stdio.h>

#include "assets/blocks/state.h"

// ---- patterns -----------------------------------------------------------------------------------

const char *const blocks_caption_at[BLOCKS_DIRECTIONS] = {
    "(2:on the far left|on the left side|at the left edge)",
    "(2:on the far right|on the right side|at the right edge)",
    "(in the front|at the front|in the foreground)", "(in the back|at the back|in the background)"};

static const char *const most[BLOCKS_DIRECTIONS] = {
    "(2:leftmost thing|thing furthest to the left|object on the far left)",
    "(2:rightmost thing|thing furthest to the right|object on the far right)",
    "(thing in the front|object closest to the camera|closest object)",
    "(thing in the back|object farthest from the camera|farthest object)"};

void blocks_caption_place(blocks_direction direction, char pattern[BLOCKS_PATTERN_ROOM])
{
    snprintf(
        pattern, BLOCKS_PATTERN_ROOM,
        "(3:%%a is %%b (2:|of the table|of the picture)|2:there is %%a %%b|%%b (2:there is|stands) "
        "%%a|a table with %%a %%b|3:the %s is %%a|several solids on a table, with %%a %%b)",
        most[direction]);
}

const char blocks_caption_only[] = "(only 1 of the (things|objects) (on the table|) is "
                                   "%c|(some|several) (things|objects), 1 of them (is|) %c)";
const char blocks_caption_one[] =
    "(3:there is just 1 %b|2:there is only 1 %b on the table|a table with 1 %b and other "
    "things|2:a table with %a and (some|several|a few) other (things|objects|blocks)|%a among "
    "(some|several) other (things|objects)|a picture with a single %b)";
const char blocks_caption_all[] =
    "(2:%a (things|objects|blocks|solids) on a (gray|) table|there are %a "
    "(things|objects|blocks|shapes) on the table|a table with %a (things|objects|blocks|shapes) on "
    "it|a picture of %a (blocks|solids|objects))";
const char blocks_caption_many[] =
    "(3:there are %a %b on the table|2:%a %b on a table|a table with %a %b|there are exactly %a "
    "%b|a picture with %a %b|%a of the (things|objects) are %b)";
const char blocks_caption_relation[] =
    "(3:%a is %c %b|2:there is %a %c %b|%a (stands|sits) %c %b|a table with %a %c %b)";

// ---- captions -----------------------------------------------------------------------------------

// Some of an object's attributes, one or two left untold so that there is something to ask.
static unsigned some_attributes(blocks_state *state)
{
    static const unsigned char masks[] = {2, 2, 2, 1, 3, 3, 6, 6, 10, 10, 5, 9, 12, 4, 8};
    return BLOCKS_ONE_OF(state, masks);
}

static void spoke_of(blocks_state *state, int object, blocks_kind kind, bool alone)
{
    state->known[object] |= blocks_kind_mask(kind);
    state->last[object] = state->mention[object] = 0;
    state->entry[0].words |= blocks_kind_words(kind);
    if (alone) {
        state->entry[0].object = object;
        state->it = object;
        state->it_entry = 0;
    }
}

// Each says what the letters stand for, and returns the pattern; NULL: nothing of that sort.
static const char *caption_extreme(blocks_state *state)
{
    const blocks_scene *scene = state->scene;
    blocks_direction d = blocks_some_direction(state);
    int object = blocks_extreme(scene, blocks_all(scene), d);
    if (object < 0)
        return NULL;
    blocks_kind kind = blocks_kind_of(&scene->object[object], some_attributes(state));
    blocks_say(state, "a", blocks_noun(&state->rng, kind, BLOCKS_A).text);
    blocks_say(state, "b", blocks_expansion(&state->rng, blocks_caption_at[d]).text);
    spoke_of(state, object, kind, true);
    blocks_caption_place(d, state->pattern);
    return state->pattern;
}

static const char *caption_unique(blocks_state *state)
{
    const blocks_scene *scene = state->scene;
    for (int attempt = 0; attempt < 10; attempt++) {
        int object = blocks_some_object(state);
        blocks_kind kind = blocks_kind_of(&scene->object[object], some_attributes(state));
        if (blocks_number(scene, kind) != 1)
            continue;
        unsigned mask = blocks_kind_mask(kind);
        blocks_phrase noun = blocks_noun(&state->rng, kind, BLOCKS_A);
        blocks_say(state, "abc", noun.text, blocks_noun(&state->rng, kind, BLOCKS_BARE).text,
                   noun.text);
        // "only 1 of them is red": for one attribute, or a thing with its name.
        blocks_attribute first = (blocks_attribute)__builtin_ctz(mask);
        if (!(mask & (mask - 1)))
            blocks_say(state, "c", blocks_predicate(&state->rng, first, kind.value[first]).text);
        bool is = !(mask & (mask - 1)) || mask & 1u << BLOCKS_SHAPE;
        spoke_of(state, object, kind, true);
        blocks_add_fact(state, kind, 1);
        return is && blocks_chance(state, 0.3) ? blocks_caption_only : blocks_caption_one;
    }
    return NULL;
}

static const char *caption_count(blocks_state *state)
{
    const blocks_scene *scene = state->scene;
    blocks_kind kind = blocks_anything;
    char number[8];
    if (blocks_chance(state, 0.6)) {
        static const unsigned char masks[] = {2, 2, 2, 1, 1, 3, 4, 8, 6, 10};
        for (int attempt = 0; attempt < 10; attempt++) {
            int some = blocks_some_object(state);
            kind = blocks_kind_of(&scene->object[some], BLOCKS_ONE_OF(state, masks));
            if (blocks_number(scene, kind) >= 2)
                break;
            kind = blocks_anything;
        }
    }
    int count = blocks_number(scene, kind);
    snprintf(number, sizeof number, "%d", count);
    blocks_say(state, "ab", number, blocks_noun(&state->rng, kind, BLOCKS_PLURAL).text);
    state->entry[0].words |= blocks_kind_words(kind);
    blocks_add_fact(state, kind, count);
    state->they = count >= 2;
    state->they_kind = kind;
    state->they_entry = 0;
    return blocks_kind_mask(kind) ? blocks_caption_many : blocks_caption_all;
}

static const char *caption_relation(blocks_state *state)
{
    const blocks_scene *scene = state->scene;
    for (int attempt = 0; attempt < 10; attempt++) {
        int one = blocks_some_object(state);
        int two = blocks_some_object(state);
        blocks_direction d = blocks_some_direction(state);
        blocks_kind a = blocks_kind_of(&scene->object[one], some_attributes(state));
        blocks_kind b = blocks_kind_of(&scene->object[two], some_attributes(state));
        if (one == two || !blocks_lies(scene, one, d, two) || blocks_number(scene, a) != 1 ||
            blocks_number(scene, b) != 1)
            continue;
        blocks_say(state, "a", blocks_noun(&state->rng, a, BLOCKS_A).text);
        blocks_say(state, "b", blocks_noun(&state->rng, b, BLOCKS_A).text);
        blocks_say(state, "c", blocks_expansion(&state->rng, blocks_direction_words(d)).text);
        spoke_of(state, one, a, false);
        spoke_of(state, two, b, false);
        return blocks_caption_relation;
    }
    return NULL;
}

void blocks_caption(blocks_state *state)
{
    state->entry[0] = (blocks_entry){.object = -1,
                                     .ask = BLOCKS_ASKS,
                                     .attribute = BLOCKS_ATTRIBUTES,
                                     .kind = blocks_anything,
                                     .whole = blocks_anything,
                                     .asked = -1,
                                     .named = -1,
                                     .beside = -1,
                                     .answer_value = blocks_anything,
                                     .furthest_of = blocks_anything};
    const char *pattern = NULL;
    while (!pattern) {
        int draw = vd_rng_below(&state->rng, 100);
        pattern = draw < 36   ? caption_extreme(state)
                  : draw < 68 ? caption_unique(state)
                  : draw < 86 ? caption_count(state)
                              : caption_relation(state);
    }
    blocks_write(state, pattern, state->dialog->caption, sizeof state->dialog->caption);
}

// ---- several of one scene -----------------------------------------------------------------------

static void draw(const blocks_scene *scene, vd_rng *rng, char caption[BLOCKS_TEXT])
{
    blocks_dialog dialog;
    blocks_state state = {.scene = scene, .dialog = &dialog, .rng = *rng, .it = -1, .before = -1};
    blocks_caption(&state);
    snprintf(caption, BLOCKS_TEXT, "%s", dialog.caption);
    *rng = state.rng;
}

vd_rng blocks_dialog_stream(const blocks_scene *scene)
{
    return vd_rng_seed(scene->dialog_seed ^ 0x6469616c6f67u, (uint64_t)scene->image_id);
}

void blocks_captions_make(const blocks_scene *scene, int count, char (*caption)[BLOCKS_TEXT])
{
    vd_rng rng = blocks_dialog_stream(scene);
    draw(scene, &rng, caption[0]);
    rng = vd_rng_seed(scene->dialog_seed ^ 0x63617074696f6eu, (uint64_t)scene->image_id);
    for (int i = 1; i < count; i++)
        draw(scene, &rng, caption[i]);
}

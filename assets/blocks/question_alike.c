// Questions about what is alike and what is not ("are any two the same color", "which is the odd
// one out"), and about what stands partly behind something else.
#include "assets/blocks/state.h"

enum { TOPIC_PAIR = 120, TOPIC_IDENTICAL, TOPIC_ODD, TOPIC_HIDDEN, TOPIC_ONE_EACH };

// Whether two objects agree in all attributes of the mask.
static bool pair_alike(const blocks_scene *scene, unsigned mask)
{
    for (int i = 0; i < scene->count; i++)
        if (blocks_number(scene, blocks_kind_of(&scene->object[i], mask)) > 1)
            return true;
    return false;
}

static void of_the_picture(blocks_draft *draft, bool yes)
{
    *draft = blocks_draft_new("verify", ASK_POLAR);
    draft->meaning.yes = yes;
    draft->other_thing = draft->other_group = true;
}

// "do any two things have the same color"
const char *blocks_ask_any_pair(blocks_state *state, blocks_draft *draft)
{
    blocks_attribute a = blocks_chance(state, 0.7) ? BLOCKS_COLOR : BLOCKS_SHAPE;
    of_the_picture(draft, pair_alike(state->scene, 1u << a));
    draft->topic = blocks_topic(TOPIC_PAIR, a, 0, 0);
    blocks_say(state, "v", blocks_attribute_word(&state->rng, a).text);
    return "(3:do any (two|) (things|objects) have the same %v|are any (two|) (things|objects) "
           "(of|) the same %v|do any (two|) of the (things|objects) (share a|have the same) "
           "%v|does anything match in %v|are there two (things|objects) (of|with) the same %v|are "
           "any two the same %v|do any of the (things|objects) match in %v)";
}

// "are any two things identical": none that differ in size or material alone.
const char *blocks_ask_identical(blocks_state *state, blocks_draft *draft)
{
    bool yes = pair_alike(state->scene, (1u << BLOCKS_ATTRIBUTES) - 1);
    if (!yes && pair_alike(state->scene, 1u << BLOCKS_COLOR | 1u << BLOCKS_SHAPE))
        return NULL;
    of_the_picture(draft, yes);
    draft->topic = blocks_topic(TOPIC_IDENTICAL, 0, 0, 0);
    return "(3:are any (two|) (things|objects) (identical|exactly (the same|alike))|are any two "
           "(of them|) (identical|the same|alike)|are there (any|two) identical "
           "(things|objects)|do any two (things|objects) look (exactly|) the same|any "
           "(identical|matching) (things|objects))";
}

// Those that differ in the attribute from all others of the set, which agree in it.
static blocks_set odd_ones(const blocks_scene *scene, blocks_set set, blocks_attribute a)
{
    blocks_set odd = 0;
    for (int i = 0; i < scene->count; i++) {
        int shared = blocks_shared(scene, set & ~(1u << i), a);
        if (blocks_has(set, i) && shared >= 0 && shared != blocks_value_of(scene, i, a))
            odd |= 1u << i;
    }
    return odd;
}

// "which of the cubes differs in color": the only one that has another than all others
static const char *ask_odd_attribute(blocks_state *state, blocks_draft *draft)
{
    blocks_group g;
    blocks_attribute a = blocks_chance(state, 0.6) ? BLOCKS_COLOR : blocks_some_attribute(state);
    if (!blocks_group_pick(state, &g) || blocks_size_of(g.set) < 3)
        return NULL;
    blocks_set odd = odd_ones(state->scene, g.set, a);
    if (blocks_only(odd) < 0)
        return NULL;
    *draft = blocks_group_draft(&g, "superlative", ASK_CHOICE, odd);
    draft->meaning.among = g.set;
    draft->group = draft->plural = false;
    draft->other_group = g.named;
    draft->about = draft->single = blocks_only(odd);
    draft->topic = blocks_topic(TOPIC_ODD, g.key, 2, a);
    blocks_say(state, "v", blocks_attribute_word(&state->rng, a).text);
    return "(2:which (one|) of %m has (another|a different) %v|which (one|) of %m differs in "
           "%v|which (one|) of %m is different in %v|which (one|) of %m is the odd one out in "
           "%v|which (one|) of %m has a different %v than the others)";
}

// "which is the odd one out", "which of the cubes is different"
const char *blocks_ask_odd_one(blocks_state *state, blocks_draft *draft)
{
    blocks_group g = {.set = blocks_all(state->scene)};
    if (blocks_chance(state, 0.5))
        return ask_odd_attribute(state, draft);
    bool all = state->naming == TARGET_NAMED && blocks_chance(state, 0.5);
    if (!all && !blocks_group_pick(state, &g))
        return NULL;
    blocks_set differ = 0;
    for (int a = 0; a < BLOCKS_ATTRIBUTES; a++)
        differ |= odd_ones(state->scene, g.set, (blocks_attribute)a);
    int odd = blocks_only(differ);
    if (blocks_size_of(g.set) < 3 || odd < 0)
        return NULL;
    if (all)
        *draft = blocks_draft_new("superlative", ASK_WHICH);
    else
        *draft = blocks_group_draft(&g, "superlative", ASK_CHOICE, 0);
    draft->meaning.objects = 1u << odd;
    draft->meaning.among = g.set;
    draft->group = draft->plural = false;
    draft->other_group = g.named;
    draft->about = draft->single = odd;
    draft->topic = blocks_topic(TOPIC_ODD, g.key, all, 0);
    if (all)
        return "(2:(which|what) is the odd one out|which (thing|object|one) is the odd one "
               "out|which (thing|object|one) (does not|doesn't) belong|which (thing|object) is "
               "different (from the (others|rest)|)|which (thing|object) is (not like|unlike) the "
               "others|which (thing|object|one) stands out|what stands out|which (thing|object) "
               "does not fit in)";
    return "(2:which (one|) of %m is the odd one out|2:which (one|) of %m is different (from the "
           "(others|rest)|)|which (one|) of %m is not like the others|which of %m (does "
           "not|doesn't) (belong|fit in)|which (one|) of %m stands out)";
}

// "is one of them red and the other blue"
const char *blocks_ask_one_each(blocks_state *state, blocks_draft *draft)
{
    const blocks_scene *scene = state->scene;
    blocks_group g;
    blocks_attribute a = blocks_some_attribute(state);
    if (!blocks_group_pick(state, &g) || blocks_size_of(g.set) != 2 || g.kind.value[a] >= 0 ||
        (!g.both && state->they_last != state->round - 1))
        return NULL;
    int first = __builtin_ctz(g.set), second = __builtin_ctz(g.set & (g.set - 1u));
    int one = blocks_value_of(scene, first, a), two = blocks_value_of(scene, second, a);
    bool yes = blocks_chance(state, 0.5),
         told = state->known[first] & state->known[second] & 1u << a;
    if (told || (yes && one == two))
        return NULL;
    int wrong = blocks_other_value(state, a, one);
    if (!yes && wrong == two)
        return NULL;
    *draft = blocks_group_draft(&g, "verify", ASK_POLAR, g.set);
    draft->meaning.yes = yes;
    draft->topic = blocks_topic(TOPIC_ONE_EACH, g.key, a, 0);
    blocks_phrase other = blocks_predicate(&state->rng, a, yes ? two : wrong);
    blocks_say(state, "vw", blocks_predicate(&state->rng, a, one).text, other.text);
    if (g.both)
        blocks_say(state, "m", "those two");
    return "(3:is one of %m %v and the other %w|2:is one of %m %v and one %w|is one %v and the "
           "other %w|one is %v and the other %w, (right|correct))";
}

// ---- partly hidden ------------------------------------------------------------------------------

// 1: clearly, 0: not at all; -1: people might see it either way.
static int hidden(const blocks_object *o)
{
    double seen = (double)o->visible / (double)o->total;
    return seen < 0.75 ? 1 : seen > 0.97 ? 0 : -1;
}

static blocks_set hidden_ones(const blocks_scene *scene, blocks_set *doubtful)
{
    blocks_set found = 0;
    *doubtful = 0;
    for (int i = 0; i < scene->count; i++) {
        found |= hidden(&scene->object[i]) == 1 ? 1u << i : 0;
        *doubtful |= hidden(&scene->object[i]) < 0 ? 1u << i : 0;
    }
    return found;
}

static const char part[] = "(2:partly|2:partially|a bit|)";

// "is anything partly hidden"
const char *blocks_ask_any_hidden(blocks_state *state, blocks_draft *draft)
{
    blocks_set doubtful, found = hidden_ones(state->scene, &doubtful);
    if (!found && doubtful)
        return NULL;
    of_the_picture(draft, found != 0);
    draft->topic = blocks_topic(TOPIC_HIDDEN, 100, 0, 0);
    blocks_say(state, "p", blocks_expansion(&state->rng, part).text);
    return "(3:is anything %p hidden|are any (of the|) (things|objects) %p (hidden|covered)|is "
           "(something|anything) %p (hidden|hiding) behind something else|is any (thing|object) %p "
           "(hidden|covered|blocked)|does (anything|any object) (hide|block) (another one|another "
           "object|something else)|do any (things|objects) overlap)";
}

// "which thing is partly hidden"
const char *blocks_ask_which_hidden(blocks_state *state, blocks_draft *draft)
{
    blocks_set doubtful, found = hidden_ones(state->scene, &doubtful);
    int only = blocks_only(found);
    if (doubtful || (only < 0 && (found || !blocks_chance(state, 0.1))))
        return NULL;
    *draft = blocks_draft_new("attribute", ASK_WHICH);
    draft->meaning.objects = found;
    draft->single = draft->about = only;
    draft->topic = blocks_topic(TOPIC_HIDDEN, 101, 0, 0);
    blocks_say(state, "p", blocks_expansion(&state->rng, part).text);
    return "(3:which (thing|object|one) is %p (2:hidden|covered|blocked)|2:what is %p "
           "hidden|what's (%p hidden|hiding)|which (thing|object|one) is hidden behind "
           "something|which (thing|object) is not completely visible)";
}

// "is it partly hidden"
const char *blocks_ask_hidden(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick(state, 0, &target))
        return NULL;
    int is = hidden(&state->scene->object[target.object]);
    bool whole = blocks_chance(state, 0.15);
    if (is < 0)
        return NULL;
    *draft = blocks_draft_about("verify", ASK_POLAR, &target);
    draft->meaning.yes = is != whole;
    draft->topic = blocks_topic(TOPIC_HIDDEN, target.object, 0, 0);
    blocks_say(state, "p", blocks_expansion(&state->rng, part).text);
    return whole
               ? "(can you see (the whole of|all of) %t|is %t (completely|fully|entirely) visible)"
               : "(4:is %t %p hidden|is %t %p (covered|blocked)|is (something|anything) "
                 "(hiding|covering|blocking) %t|is %t (hidden|hiding) behind "
                 "(something|anything)|is %t %p (hidden|covered) by (something|anything)|does "
                 "(something|anything) (hide|cover|block) %t)";
}

// The one thing that covers a part of the object, as the boxes of what is seen of both say; -1:
// none or several.
static int hider(const blocks_scene *scene, int object)
{
    const blocks_object *o = &scene->object[object];
    int found = -1;
    for (int i = 0; i < scene->count; i++) {
        const blocks_object *other = &scene->object[i];
        bool touch = other->box[0] <= o->box[2] + 1 && o->box[0] <= other->box[2] + 1 &&
                     other->box[1] <= o->box[3] + 1 && o->box[1] <= other->box[3] + 1;
        if (i == object || !touch || other->y > o->y)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

// "what is it hidden behind", "what is covering the ball"
const char *blocks_ask_hider(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick(state, 0, &target) || hidden(&state->scene->object[target.object]) != 1)
        return NULL;
    int by = hider(state->scene, target.object);
    if (by < 0)
        return NULL;
    *draft = blocks_draft_about("relation", ASK_WHICH, &target);
    draft->meaning.given = 0;
    draft->meaning.objects = 1u << by;
    draft->about = by;
    draft->single = -1;
    draft->crowded = true;
    draft->both = 1u << by | 1u << target.object;
    draft->topic = blocks_topic(TOPIC_HIDDEN, 200 + target.object, 0, 0);
    blocks_say(state, "p", blocks_expansion(&state->rng, part).text);
    return "(3:what is %p (2:hiding|covering|blocking) %t|which (thing|object|one) is %p "
           "(hiding|covering|blocking) %t|2:what is %t (hidden|hiding) behind|what's "
           "(hiding|covering|blocking) %t|what (hides|covers|blocks) %t)";
}

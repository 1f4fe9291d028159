#include "tui/session/caption_walk.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/token.h"
#include "engine/base/utf8.h"
#include "tui/session/captioning.h"

bool vd_caption_wish_same(const vd_caption_wish *a, const vd_caption_wish *b)
{
    return a->picture == b->picture && a->place == b->place && strcmp(a->second, b->second) == 0 &&
           vd_switches_same(&a->switches, &b->switches) &&
           (a->switches.count == 0 || a->changed == b->changed);
}

// ---- what is changed ----------------------------------------------------------------------------

static const char end_word[] = "(end)";

static vd_status refuse(const vd_switch *one, const char *why, vd_error *err)
{
    char name[64];
    vd_switch_name(one, name, sizeof name);
    return vd_error_set(err, VD_USAGE, "what if '%s'? %s", name, why);
}

static vd_status read_switch(const vd_switch *one, int regions, bool *mask, vd_caption_what_if *out,
                             vd_error *err)
{
    char why[64];
    switch ((int)one->kind) {
    case VD_SWITCH_HISTORY:
        out->no_history = true;
        return VD_OK;
    case VD_SWITCH_WORD:
        return one->word[0] ? VD_OK : refuse(one, "which word instead? word 2=red", err);
    case VD_SWITCH_REGION:
        snprintf(why, sizeof why, "there are only %d regions", regions);
        if (one->index >= regions)
            return refuse(one, why, err);
        mask[one->index] = true;
        out->mask_region = mask;
        return VD_OK;
    default:
        return refuse(one, "of a caption: region N, word N=OTHER or history", err);
    }
}

// The word that is said at a place whatever happens; NULL: any.
static const vd_switch *forced_at(const vd_switches *switches, int place)
{
    for (int i = 0; i < switches->count; i++)
        if (switches->at[i].kind == VD_SWITCH_WORD && switches->at[i].index == place)
            return &switches->at[i];
    return NULL;
}

static vd_status word_id(const vd_vocab *vocab, const vd_switch *one, int32_t *id, vd_error *err)
{
    *id = strcmp(one->word, end_word) == 0 ? VD_END : vd_vocab_id(vocab, one->word);
    return *id == VD_UNKNOWN ? refuse(one, "the captioner does not know this word", err) : VD_OK;
}

// ---- one caption --------------------------------------------------------------------------------

// A captioner, which is this thread's, and a picture.
typedef struct saying {
    vd_captioner *captioner;
    const vd_picture_regions *regions;
    vd_said_caption said[VD_HYPOTHESES];
    int count;
} saying;

static vd_status say(saying *s, const vd_caption_what_if *what_if, vd_error *err)
{
    return vd_hypotheses(s->captioner, s->regions, what_if, s->said, &s->count, err);
}

// One forced word after another, from the first on.
static vd_status force_words(saying *s, const vd_switches *switches, vd_caption_what_if *what_if,
                             vd_error *err)
{
    const vd_vocab *vocab = vd_model_vocab(vd_captioner_model(s->captioner));
    vd_status status = VD_OK;
    for (int place = 0; place < VD_MAX_CAPTION && status == VD_OK; place++) {
        const vd_switch *one = forced_at(switches, place);
        if (!one)
            continue;
        for (int i = what_if->places; i < place; i++)
            what_if->forced[i] = i < s->said[0].length ? s->said[0].word[i] : VD_PAD;
        what_if->places = place + 1;
        status = word_id(vocab, one, &what_if->forced[place], err);
        if (status == VD_OK)
            status = say(s, what_if, err);
    }
    return status;
}

static void copy_word(const vd_vocab *vocab, int32_t id, vd_caption_word *out)
{
    const char *text = id == VD_END ? end_word : vd_vocab_word(vocab, id);
    size_t length = vd_utf8_whole(text, strlen(text), sizeof out->text - 1);
    snprintf(out->text, sizeof out->text, "%.*s", (int)length, text);
}

static void copy_words(const vd_vocab *vocab, vd_walked_caption *out)
{
    for (int t = 0; t < out->trace.words; t++) {
        const vd_said_word *w = &out->trace.word[t];
        copy_word(vocab, w->id, &out->word[t]);
        for (int i = 0; i < w->likelies; i++)
            copy_word(vocab, w->likely[i].id, &out->likely[t][i]);
    }
}

static void describe(const saying *s, int place, vd_walked_caption *out)
{
    const vd_model *model = vd_captioner_model(s->captioner);
    snprintf(out->name, sizeof out->name, "%.63s", vd_model_name(model));
    out->config = vd_model_config(model)->caption;
    out->of = s->count;
    out->place = place <= s->count ? place : 1;
    out->seen = s->regions->count;
}

static vd_status trace(saying *s, const vd_caption_what_if *what_if, vd_walked_caption *out,
                       vd_error *err)
{
    const vd_said_caption *c = &s->said[out->place - 1];
    vd_status status = vd_captioner_trace(s->captioner, s->regions->features, s->regions->count,
                                          c->word, c->length, c->ended, what_if, &out->trace, err);
    if (status == VD_OK)
        copy_words(vd_model_vocab(vd_captioner_model(s->captioner)), out);
    return status;
}

static vd_status walk_changed(saying *s, const vd_switches *switches, bool *mask,
                              vd_walked_caption *out, vd_error *err)
{
    vd_caption_what_if what_if = {0};
    vd_status status = VD_OK;
    for (int i = 0; i < switches->count && status == VD_OK; i++)
        status = read_switch(&switches->at[i], s->regions->count, mask, &what_if, err);
    if (status == VD_OK)
        status = say(s, &what_if, err);
    if (status == VD_OK)
        status = force_words(s, switches, &what_if, err);
    if (status != VD_OK)
        return status;
    describe(s, 1, out);
    out->changed = true;
    for (int k = 0; k < s->regions->count; k++)
        out->seen -= mask[k];
    return trace(s, &what_if, out, err);
}

static vd_status walk_as_it_is(saying *s, int place, vd_walked_caption *out, vd_error *err)
{
    vd_status status = say(s, NULL, err);
    if (status != VD_OK)
        return status;
    describe(s, place, out);
    return trace(s, NULL, out, err);
}

// ---- both ---------------------------------------------------------------------------------------

static vd_status walk_one(struct vd_captioning *by, const vd_picture_regions *regions,
                          const vd_caption_wish *wish, bool changed, vd_walked_caption *out,
                          vd_error *err)
{
    saying s = {.regions = regions};
    vd_status status = vd_captioning_take(by, &s.captioner, err);
    if (status != VD_OK)
        return status;
    bool *mask = vd_alloc((size_t)regions->count + 1, sizeof *mask);
    if (!mask)
        status = vd_error_memory(err, "what is changed");
    else if (changed)
        status = walk_changed(&s, &wish->switches, mask, out, err);
    else
        status = walk_as_it_is(&s, wish->place, out, err);
    vd_free(mask);
    vd_captioning_give_back(by);
    return status;
}

static int word_texts(const vd_walked_caption *side, const char *out[VD_WALKED_WORDS])
{
    for (int i = 0; i < side->trace.words; i++)
        out[i] = side->word[i].text;
    return side->trace.words;
}

static void align(vd_caption_walk *walk)
{
    const char *first[VD_WALKED_WORDS], *second[VD_WALKED_WORDS];
    int count = word_texts(&walk->side[0], first), other = word_texts(&walk->side[1], second);
    if (walk->sides == 2) {
        walk->columns = vd_align(first, count, second, other, walk->column);
        return;
    }
    for (walk->columns = 0; walk->columns < count; walk->columns++)
        walk->column[walk->columns] = (vd_aligned){walk->columns, -1};
}

vd_status vd_caption_walk_new(const vd_world *world, struct vd_captioning *second,
                              const vd_caption_wish *wish, vd_caption_walk **out, vd_error *err)
{
    vd_picture_regions regions = {0};
    vd_caption_walk *walk = *out = vd_alloc(1, sizeof *walk);
    if (!walk)
        return vd_error_memory(err, "a caption");
    walk->wish = *wish;
    bool changed = wish->switches.count > 0;
    walk->sides = second || changed ? 2 : 1;
    vd_status status = vd_world_regions(world, wish->picture, &regions, err);
    for (int i = 0; i < walk->sides && status == VD_OK; i++)
        status = walk_one(i && second ? second : world->captioning, &regions, wish,
                          changed && i == (second ? wish->changed : 1), &walk->side[i], err);
    vd_picture_regions_clear(&regions);
    if (status == VD_OK) {
        align(walk);
        return VD_OK;
    }
    vd_caption_walk_free(walk);
    *out = NULL;
    return status;
}

void vd_caption_walk_free(vd_caption_walk *walk)
{
    for (int i = 0; walk && i < VD_WALKED_SIDES; i++)
        vd_caption_trace_clear(&walk->side[i].trace);
    vd_free(walk);
}

int vd_caption_walk_word(const vd_caption_walk *walk, int side, int column)
{
    const vd_aligned *at = &walk->column[column];
    return side ? at->second : at->first;
}

bool vd_caption_walk_differs(const vd_caption_walk *walk, int column)
{
    const vd_aligned *at = &walk->column[column];
    return walk->sides == 2 &&
           (at->first < 0 || at->second < 0 ||
            strcmp(walk->side[0].word[at->first].text, walk->side[1].word[at->second].text) != 0);
}

double vd_walked_chance(const vd_walked_caption *caption, int word)
{
    vd_caption_history history = vd_caption_history_of(&caption->config);
    if (!caption->trace.history || history == VD_HISTORY_NONE)
        return -1;
    int entries = history == VD_HISTORY_NOW ? 1 : history == VD_HISTORY_PAST ? word : word + 1;
    int regions = history == VD_HISTORY_ONLY ? 0 : caption->seen;
    return (double)entries / (regions + entries);
}

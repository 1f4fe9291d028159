#include "tui/session/caption_walk.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/token.h"
#include "engine/base/utf8.h"
#include "tui/session/caption_change.h"
#include "tui/session/captioning.h"

bool vd_caption_wish_same(const vd_caption_wish *a, const vd_caption_wish *b)
{
    return a->picture == b->picture && a->place == b->place && strcmp(a->second, b->second) == 0 &&
           vd_switches_same(&a->switches, &b->switches) &&
           (a->switches.count == 0 || a->changed == b->changed);
}

// ---- one caption --------------------------------------------------------------------------------

// A captioner, which is this thread's, and a picture.
typedef struct saying {
    vd_captioner *captioner;
    const vd_picture_regions *regions;
    vd_said_caption said[VD_HYPOTHESES];
    int count;
} saying;

static void copy_word(const vd_vocab *vocab, int32_t id, vd_caption_word *out)
{
    const char *text = id == VD_END ? VD_END_WORD : vd_vocab_word(vocab, id);
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

static vd_status walk_changed(saying *s, const vd_switches *switches, vd_walked_caption *out,
                              vd_error *err)
{
    const vd_caption_changes changes = {.switches = switches};
    vd_saying how = vd_saying_greedy();
    vd_caption_change change;
    how.beam = VD_HYPOTHESES;
    vd_status status = vd_caption_change_say(s->captioner, s->regions, &how, &changes, &change,
                                             s->said, VD_HYPOTHESES, &s->count, err);
    if (status != VD_OK)
        return status;
    describe(s, 1, out);
    out->changed = true;
    for (int k = 0; k < s->regions->count; k++)
        out->seen -= change.mask_region[k];
    status = trace(s, &change.what_if, out, err);
    vd_caption_change_clear(&change);
    return status;
}

static vd_status walk_as_it_is(saying *s, int place, vd_walked_caption *out, vd_error *err)
{
    vd_status status = vd_hypotheses(s->captioner, s->regions, s->said, &s->count, err);
    if (status != VD_OK)
        return status;
    describe(s, place, out);
    return trace(s, NULL, out, err);
}

// The words that another one said; those that this one does not know are <UNK>.
static vd_status read_other(const saying *s, const vd_switches *switches, vd_walked_caption *of,
                            vd_error *err)
{
    const vd_vocab *vocab = vd_model_vocab(vd_captioner_model(s->captioner));
    int length = of->trace.words, ended = of->trace.word[length - 1].id == VD_END;
    const vd_caption_changes changes = {.switches = switches};
    vd_caption_change change;
    int32_t word[VD_WALKED_WORDS];
    vd_caption_trace trace;
    for (int t = 0; t < length - ended; t++) {
        word[t] = vd_vocab_id(vocab, of->word[t].text);
        of->unknown += word[t] == VD_UNKNOWN;
    }
    vd_status status = vd_caption_change_read(s->captioner, s->regions, &changes, &change, err);
    if (status == VD_OK)
        status = vd_captioner_trace(s->captioner, s->regions->features, s->regions->count, word,
                                    length - ended, ended, &change.what_if, &trace, err);
    vd_caption_change_clear(&change);
    if (status != VD_OK)
        return status;
    of->under = trace.log_probability;
    vd_caption_trace_clear(&trace);
    return VD_OK;
}

// ---- both ---------------------------------------------------------------------------------------

// By whom a side is said, and whether with the switches.
typedef struct speaker {
    struct vd_captioning *by;
    const vd_picture_regions *regions;
    const vd_caption_wish *wish;
    bool changed;
} speaker;

// Says the caption of a side, or (other) reads that of the other side.
static vd_status speak(const speaker *by, vd_walked_caption *out, bool other, vd_error *err)
{
    const vd_switches none = {0}, *switches = by->changed ? &by->wish->switches : &none;
    saying s = {.regions = by->regions};
    vd_status status = vd_captioning_take(by->by, &s.captioner, err);
    if (status != VD_OK)
        return status;
    if (other)
        status = read_other(&s, switches, out, err);
    else if (by->changed)
        status = walk_changed(&s, switches, out, err);
    else
        status = walk_as_it_is(&s, by->wish->place, out, err);
    vd_captioning_give_back(by->by);
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

static vd_status fill(vd_caption_walk *walk, const speaker by[VD_WALKED_SIDES], vd_error *err)
{
    vd_walked_caption *first = &walk->side[0], *other = &walk->side[1];
    bool two = walk->sides == VD_WALKED_SIDES;
    vd_status status = speak(&by[0], first, false, err);
    if (status == VD_OK && two)
        status = speak(&by[1], other, false, err);
    if (status == VD_OK && two)
        status = speak(&by[1], first, true, err);
    if (status == VD_OK && two)
        status = speak(&by[0], other, true, err);
    if (status == VD_OK)
        align(walk);
    return status;
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
    int which = second ? wish->changed : 1;
    const speaker by[VD_WALKED_SIDES] = {
        {world->captioning, &regions, wish, changed && which == 0},
        {second ? second : world->captioning, &regions, wish, changed && which == 1}};
    walk->sides = second || changed ? 2 : 1;
    vd_status status = vd_world_regions(world, wish->picture, &regions, err);
    if (status == VD_OK)
        status = fill(walk, by, err);
    vd_picture_regions_clear(&regions);
    if (status == VD_OK)
        return VD_OK;
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

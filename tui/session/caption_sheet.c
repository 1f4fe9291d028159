#include "tui/session/caption_sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/base/token.h"
#include "engine/base/utf8.h"
#include "features/captions/tokens.h"
#include "tui/base/progress.h"
#include "tui/session/captioning.h"

const char *const vd_caption_judged_names[] = {"", "not checked", "false", "doubtful", "faithful"};

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool vd_caption_wish_same(const vd_caption_wish *a, const vd_caption_wish *b)
{
    return a->picture == b->picture && a->place == b->place && strcmp(a->second, b->second) == 0 &&
           strcmp(a->read, b->read) == 0 && same_text(a->begin, b->begin) &&
           vd_switches_same(&a->switches, &b->switches) &&
           (a->switches.count == 0 || a->changed == b->changed);
}

void vd_caption_wish_read(vd_caption_wish *wish, const char *text)
{
    size_t whole = vd_utf8_whole(text, strlen(text), sizeof wish->read - 1), length = whole;
    wish->read_cut = text[whole] != '\0';
    while (wish->read_cut && length > 0 && text[length] != ' ')
        length--;
    length = length > 0 ? length : whole; // of one long word
    snprintf(wish->read, sizeof wish->read, "%.*s", (int)length, text);
}

// ---- one side -----------------------------------------------------------------------------------

// What a side is made of.
typedef struct speaker {
    const vd_caption_sayers *by;
    const vd_caption_wish *wish;
    const vd_picture_regions *regions;
    vd_captioner *captioner;
    vd_caption_change change;
    vd_said_caption said[VD_MOST_BEAMS];
    vd_caption_side *side;
} speaker;

static const vd_vocab *vocab_of(const speaker *s)
{
    return vd_model_vocab(vd_captioner_model(s->captioner));
}

static const char *copy_text(speaker *s, const char *text)
{
    return text ? vd_string_arena_text(&s->side->texts, text, strlen(text)) : NULL;
}

static const char *copy_word(speaker *s, int32_t id)
{
    return copy_text(s, id == VD_END ? VD_END_WORD : vd_vocab_word(vocab_of(s), id));
}

// Frees it.
static const char *take_text(speaker *s, char *text)
{
    const char *copy = copy_text(s, text);
    vd_free(text);
    return copy;
}

static bool is_padding(const vd_picture_regions *regions, int region)
{
    const float *x = regions->features + (size_t)region * (size_t)regions->size;
    for (int i = 0; i < regions->size; i++)
        if (x[i] != 0)
            return false;
    return true;
}

static vd_status describe(speaker *s, vd_error *err)
{
    const vd_model *model = vd_captioner_model(s->captioner);
    const char *signature = vd_model_metadata(model, "signature");
    vd_caption_side *side = s->side;
    side->name = copy_text(s, vd_model_name(model));
    side->path = copy_text(s, vd_model_path(model));
    side->signature = copy_text(s, signature);
    side->backend = copy_text(s, vd_model_backend(model)->name);
    side->config = vd_model_config(model)->caption;
    for (int r = 0; r < s->regions->count; r++)
        side->seen += !is_padding(s->regions, r) && !s->change.mask_region[r];
    bool all = side->name && side->path && side->backend && (side->signature || !signature);
    return all ? VD_OK : vd_error_memory(err, "a caption");
}

// The words as the captioner reads them, and what else it could have said.
static vd_status trace(speaker *s, const vd_said_caption *c, vd_error *err)
{
    vd_caption_side *side = s->side;
    side->ended = c->ended;
    vd_status status =
        vd_captioner_trace(s->captioner, s->regions->features, s->regions->count, c->word,
                           c->length, c->ended, &s->change.what_if, &side->trace, err);
    for (int t = 0; t < side->trace.words && status == VD_OK; t++) {
        const vd_said_word *w = &side->trace.word[t];
        if (!side->word[t] && !(side->word[t] = copy_word(s, w->id)))
            status = vd_error_memory(err, "a caption");
        for (int i = 0; i < w->likelies && status == VD_OK; i++)
            if (!(side->likely[t][i] = copy_word(s, w->likely[i].id)))
                status = vd_error_memory(err, "a caption");
    }
    if (status == VD_OK && !(side->text = take_text(s, vd_caption_text(side->word, c->length))))
        status = vd_error_memory(err, "a caption");
    return status;
}

// ---- saying -------------------------------------------------------------------------------------

static vd_status keep_said(speaker *s, vd_error *err)
{
    vd_caption_side *side = s->side;
    for (int i = 0; i < side->of; i++) {
        side->said[i].log_probability = s->said[i].log_probability;
        if (!(side->said[i].text = take_text(s, vd_said_text(vocab_of(s), &s->said[i]))))
            return vd_error_memory(err, "a caption");
    }
    return VD_OK;
}

static vd_status say(speaker *s, const vd_caption_changes *changes, vd_error *err)
{
    vd_caption_side *side = s->side;
    double start = vd_seconds();
    vd_status status = vd_caption_change_say(s->captioner, s->regions, &s->by->how, changes,
                                             &s->change, s->said, s->by->most, &side->of, err);
    side->milliseconds = 1000 * (vd_seconds() - start);
    if (status == VD_OK)
        status = describe(s, err);
    if (status == VD_OK)
        status = keep_said(s, err);
    int place = side->changed ? 1 : s->wish->place;
    side->place = place > 0 && place <= side->of ? place : 1;
    return status ? status : trace(s, &s->said[side->place - 1], err);
}

// ---- reading ------------------------------------------------------------------------------------

static vd_status put_word(speaker *s, int place, const char *text, vd_said_caption *c,
                          vd_error *err)
{
    c->word[place] = vd_caption_typed_id(vocab_of(s), &text);
    bool end = c->word[place] == VD_END;
    if (place >= c->length || end)
        c->length = place + !end;
    c->ended |= end;
    s->side->word[place] = end ? NULL : copy_text(s, text);
    return end || s->side->word[place] ? VD_OK : vd_error_memory(err, "a caption");
}

// Words that are said to be others; the one behind the last word is another word's place, too.
static vd_status change_words(speaker *s, vd_said_caption *c, vd_error *err)
{
    const vd_switches *switches = &s->wish->switches;
    vd_status status = VD_OK;
    for (int i = 0; i < switches->count && status == VD_OK; i++) {
        const vd_switch *one = &switches->at[i];
        if (one->kind != VD_SWITCH_WORD)
            continue;
        if (one->index > c->length || one->index >= VD_MAX_CAPTION || one->index < 0)
            status = vd_error_set(err, VD_USAGE,
                                  "word %d of a caption of %d words; expected one of its words",
                                  one->index + 1, c->length);
        else
            status = put_word(s, one->index, one->word, c, err);
    }
    return status;
}

// Captioners learn from captions that are cut, too: such a one has no end.
static vd_status read_given(speaker *s, const vd_caption_changes *changes, vd_error *err)
{
    vd_said_caption c = {0};
    vd_words words = {0};
    vd_status status = vd_caption_change_read(s->captioner, s->regions, changes, &s->change, err);
    if (status == VD_OK)
        status = vd_caption_tokenize(s->wish->read, VD_CAPTION_WORDS, &words, err);
    if (status == VD_OK && words.count == 0)
        status = vd_error_set(err, VD_USAGE, "a caption without words; expected some");
    for (size_t i = 0; i < words.count && i < VD_MAX_CAPTION && status == VD_OK; i++)
        status = put_word(s, (int)i, words.word[i], &c, err);
    c.ended = words.count <= VD_MAX_CAPTION && !s->wish->read_cut;
    vd_words_clear(&words);
    if (status == VD_OK && s->side->changed)
        status = change_words(s, &c, err);
    if (status == VD_OK)
        status = describe(s, err);
    return status ? status : trace(s, &c, err);
}

static vd_status make_side(speaker *s, vd_error *err)
{
    vd_caption_changes changes = {0};
    if (s->side->changed)
        changes = (vd_caption_changes){&s->wish->switches, s->wish->begin};
    return s->side->read ? read_given(s, &changes, err) : say(s, &changes, err);
}

// ---- both ---------------------------------------------------------------------------------------

// How likely `by` finds the caption of `of`, in words of its own vocabulary.
static vd_status find_under(speaker *by, int which, vd_caption_side *of, vd_error *err)
{
    const vd_vocab *vocab = vocab_of(by);
    int length = of->trace.words - of->ended;
    int32_t word[VD_SAID_WORDS];
    vd_caption_trace trace;
    for (int t = 0; t < length; t++) {
        const char *text = of->word[t];
        word[t] = vd_caption_typed_id(vocab, &text);
        of->unknown[which] += word[t] == VD_UNKNOWN;
    }
    of->under[which] = of->trace.log_probability;
    if (of == by->side)
        return VD_OK;
    vd_status status =
        vd_captioner_trace(by->captioner, by->regions->features, by->regions->count, word, length,
                           of->ended, &by->change.what_if, &trace, err);
    of->under[which] = trace.log_probability;
    vd_caption_trace_clear(&trace);
    return status;
}

static void align(vd_caption_sheet *sheet)
{
    const vd_caption_side *first = &sheet->side[0], *second = &sheet->side[1];
    int count = sheet->sides > 1 ? second->trace.words : 0; // else one list beside none
    sheet->rows = vd_align(first->word, first->trace.words, second->word, count, sheet->row);
}

static vd_status speak(vd_caption_sheet *sheet, const vd_caption_sayers *by,
                       speaker speakers[VD_CAPTION_SIDES], vd_error *err)
{
    const vd_caption_wish *wish = &sheet->wish;
    bool two = by->captioner[1] != NULL, changed = wish->switches.count > 0 || wish->begin,
         read = *wish->read;
    vd_status status = VD_OK;
    sheet->captioners = two ? 2 : 1;
    sheet->sides = two || changed || read ? 2 : 1;
    for (int i = 0; i < sheet->sides && status == VD_OK; i++) {
        vd_caption_side *side = &sheet->side[i];
        side->changed = changed && i == (two ? wish->changed : 1);
        side->read = read && (two || i == 1);
        side->hard = by->hard[two ? i : 0];
        speakers[i] = (speaker){.by = by,
                                .wish = wish,
                                .regions = &sheet->regions,
                                .captioner = by->captioner[two ? i : 0],
                                .side = side};
        status = make_side(&speakers[i], err);
    }
    for (int of = 0; of < sheet->sides; of++)
        for (int i = 0; i < sheet->sides && status == VD_OK; i++)
            status = find_under(&speakers[i], i, &sheet->side[of], err);
    if (status == VD_OK)
        align(sheet);
    return status;
}

// The picture, and no captions yet.
static vd_status begin(const vd_world *world, const vd_caption_wish *wish, vd_caption_sheet **out,
                       vd_error *err)
{
    vd_caption_sheet *sheet = *out = vd_alloc(1, sizeof *sheet);
    if (!sheet)
        return vd_error_memory(err, "a caption");
    sheet->wish = *wish;
    vd_world_name(world, wish->picture, sheet->picture, sizeof sheet->picture);
    sheet->doubt = vd_world_doubt(world, wish->picture);
    return vd_world_regions(world, wish->picture, &sheet->regions, err);
}

static vd_status fill(vd_caption_sheet *sheet, const vd_caption_sayers *by, vd_error *err)
{
    speaker *speakers = vd_alloc(VD_CAPTION_SIDES, sizeof *speakers);
    if (!speakers)
        return vd_error_memory(err, "a caption");
    vd_status status = speak(sheet, by, speakers, err);
    for (int i = 0; i < VD_CAPTION_SIDES; i++)
        vd_caption_change_clear(&speakers[i].change);
    vd_free(speakers);
    return status;
}

static vd_status end(vd_status status, vd_caption_sheet **out)
{
    if (status == VD_OK)
        return VD_OK;
    vd_caption_sheet_free(*out);
    *out = NULL;
    return status;
}

vd_status vd_caption_sheet_new(const vd_world *world, const vd_caption_sayers *by,
                               const vd_caption_wish *wish, vd_caption_sheet **out, vd_error *err)
{
    vd_status status = begin(world, wish, out, err);
    return end(status ? status : fill(*out, by, err), out);
}

// The regions of an opened picture come with its caption, for which the captioner must be free.
vd_status vd_caption_sheet_of(const vd_world *world, struct vd_captioning *second,
                              const vd_caption_wish *wish, vd_caption_sheet **out, vd_error *err)
{
    vd_caption_sayers by = {.how = vd_saying_greedy(), .most = VD_HYPOTHESES};
    by.how.beam = VD_HYPOTHESES;
    vd_status status = begin(world, wish, out, err);
    if (status == VD_OK)
        status = vd_captioning_take(world->captioning, &by.captioner[0], err);
    if (status == VD_OK && second)
        status = vd_captioning_take(second, &by.captioner[1], err);
    if (status == VD_OK)
        status = fill(*out, &by, err);
    if (by.captioner[1])
        vd_captioning_give_back(second);
    if (by.captioner[0])
        vd_captioning_give_back(world->captioning);
    return end(status, out);
}

void vd_caption_sheet_free(vd_caption_sheet *sheet)
{
    if (!sheet)
        return;
    for (int i = 0; i < VD_CAPTION_SIDES; i++) {
        vd_caption_trace_clear(&sheet->side[i].trace);
        vd_string_arena_clear(&sheet->side[i].texts);
    }
    vd_picture_regions_clear(&sheet->regions);
    vd_free(sheet);
}

// ---- what is seen of it -------------------------------------------------------------------------

int vd_caption_sheet_word(const vd_caption_sheet *sheet, int side, int row)
{
    const vd_aligned *at = &sheet->row[row];
    return side ? at->second : at->first;
}

bool vd_caption_sheet_differs(const vd_caption_sheet *sheet, int row)
{
    return sheet->sides == 2 &&
           !vd_aligned_same(&sheet->row[row], sheet->side[0].word, sheet->side[1].word);
}

void vd_caption_score_text(const vd_caption_score *score, char *out, size_t size)
{
    out[0] = '\0';
    if (score->known)
        snprintf(out, size, "beside the data's caption: BLEU-1 %.1f, ROUGE-L %.1f, METEOR-es %.1f",
                 100 * score->bleu_1, 100 * score->rouge_l, 100 * score->meteor_es);
}

static bool same_names(const vd_caption_sheet *sheet)
{
    return sheet->sides > 1 && strcmp(sheet->side[0].name, sheet->side[1].name) == 0;
}

void vd_caption_side_label(const vd_caption_sheet *sheet, int side, char *out, size_t size)
{
    const vd_caption_side *c = &sheet->side[side];
    const vd_caption_changes changes = {&sheet->wish.switches, sheet->wish.begin};
    char changed[400];
    vd_caption_changes_text(&changes, changed, sizeof changed);
    if (sheet->captioners == 1 && sheet->sides > 1)
        snprintf(out, size, "%s%s%s",
                 c->read             ? "the given caption"
                 : c->changed        ? ""
                 : *sheet->wish.read ? "the captioner's own caption"
                                     : "as it is",
                 c->read && c->changed ? ", " : "", c->changed ? changed : "");
    else
        snprintf(out, size, "%s%s", c->read ? "the given caption, read by " : "",
                 same_names(sheet) ? c->path : c->name);
}

double vd_caption_side_perplexity(const vd_caption_side *side)
{
    return exp(-side->trace.log_probability / side->trace.words);
}

bool vd_caption_side_knows(const vd_caption_side *side, int word)
{
    return side->trace.word[word].id != VD_UNKNOWN;
}

double vd_caption_side_given(const vd_caption_side *side, int word, int layer, int head)
{
    float history[VD_SAID_WORDS] = {0};
    double sum = 0;
    if (side->trace.history)
        vd_caption_trace_look(&side->trace, word, layer, head, NULL, history);
    for (int i = 0; i < side->trace.words; i++)
        sum += (double)history[i];
    return sum;
}

void vd_caption_side_look(const vd_caption_side *side, int word, int layer, int head,
                          float *regions, float *history)
{
    int chosen = side->trace.word[word].chosen;
    vd_caption_trace_look(&side->trace, word, layer, head, regions, history);
    for (int r = 0; r < side->trace.regions && chosen >= 0 && regions; r++)
        regions[r] = r == chosen ? 1 : 0;
}

double vd_caption_side_chance(const vd_caption_side *side, int word)
{
    vd_caption_history history = vd_caption_history_of(&side->config);
    if (!side->trace.history || history == VD_HISTORY_NONE)
        return -1;
    int entries = history == VD_HISTORY_NOW ? 1 : history == VD_HISTORY_PAST ? word : word + 1;
    int regions = history == VD_HISTORY_ONLY ? 0 : side->seen;
    return (double)entries / (regions + entries);
}

#include "tui/session/caption_sheet.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/append.h"
#include "engine/base/clock.h"
#include "engine/base/token.h"
#include "engine/base/utf8.h"
#include "features/captions/tokens.h"
#include "tui/session/captioning.h"

#define END_WORD "(end)" // the end of a caption as a word

const char *const vd_caption_judged_names[] = {"", "not checked", "false", "doubtful", "faithful"};

bool vd_caption_wish_same(const vd_caption_wish *a, const vd_caption_wish *b)
{
    return a->picture == b->picture && a->place == b->place && strcmp(a->second, b->second) == 0 &&
           strcmp(a->read, b->read) == 0 && g_strcmp0(a->begin, b->begin) == 0 &&
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

// The run of a captioner that fills a side.
typedef struct captioner_run {
    const vd_caption_sources *by;
    const vd_caption_wish *wish;
    const vd_picture_regions *regions;
    vd_captioner *captioner;
    vd_caption_what_if what_if;
    bool *mask_region; // of what_if, owned
    vd_generated_caption generated[VD_MOST_BEAMS];
    vd_caption_side *side;
} captioner_run;

static const vd_vocab *vocab_of(const captioner_run *run)
{
    return vd_model_vocab(run->captioner->model);
}

static const char *copy_text(captioner_run *run, const char *text)
{
    return text ? g_string_chunk_insert(run->side->texts, text) : NULL;
}

static const char *copy_word(captioner_run *run, int32_t id)
{
    return copy_text(run, id == VD_END ? END_WORD : vd_vocab_word(vocab_of(run), id));
}

// Frees it.
static const char *take_text(captioner_run *run, char *text)
{
    const char *copy = copy_text(run, text);
    g_free(text);
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

static void describe(captioner_run *run)
{
    const vd_model *model = run->captioner->model;
    vd_caption_side *side = run->side;
    side->name = copy_text(run, vd_model_name(model));
    side->path = copy_text(run, vd_model_path(model));
    side->signature = copy_text(run, vd_model_metadata(model, "signature"));
    side->backend = copy_text(run, vd_model_backend(model)->name);
    side->config = vd_model_config(model)->caption;
    for (int r = 0; r < run->regions->count; r++)
        side->seen += !is_padding(run->regions, r) && !run->mask_region[r];
}

// The words as the captioner reads them, and what else it could have generated.
static vd_status trace(captioner_run *run, const vd_generated_caption *c, vd_error *err)
{
    vd_caption_side *side = run->side;
    side->ended = c->ended;
    vd_status status =
        vd_captioner_trace(run->captioner, run->regions->features, run->regions->count, c->word,
                           c->length, c->ended, &run->what_if, &side->trace, err);
    if (status)
        return status;
    for (int t = 0; t < side->trace.words; t++) {
        const vd_generated_word *w = &side->trace.word[t];
        if (!side->word[t])
            side->word[t] = copy_word(run, w->id);
        for (int i = 0; i < w->likelies; i++)
            side->likely[t][i] = copy_word(run, w->likely[i].id);
    }
    side->text = take_text(run, vd_caption_text(side->word, c->length));
    return VD_OK;
}

// ---- what is changed ----------------------------------------------------------------------------

// Of what the captioner says, or reads, here.
static const vd_switches *switches_of(const captioner_run *run)
{
    static const vd_switches none;
    return run->side->changed ? &run->wish->switches : &none;
}

static vd_status refuse(const vd_switch *one, const char *why, vd_error *err)
{
    char name[64];
    vd_switch_name(one, name, sizeof name);
    return vd_error_set(err, VD_USAGE, "what-if '%s': %s", name, why);
}

static vd_status read_switch(captioner_run *run, const vd_switch *one, vd_error *err)
{
    int regions = run->regions->count;
    char why[64];
    switch ((int)one->kind) {
    case VD_SWITCH_HISTORY:
        run->what_if.no_history = true;
        return VD_OK;
    case VD_SWITCH_WORD:
        if (one->index == 0 && strcmp(one->word, END_WORD) == 0)
            return refuse(one, "a caption has at least one word", err);
        return one->word[0] ? VD_OK : refuse(one, "needs a word: word 2=red", err);
    case VD_SWITCH_REGION:
        snprintf(why, sizeof why,
                 regions == 1 ? "there is only %d region" : "there are only %d regions", regions);
        if (one->index >= regions)
            return refuse(one, why, err);
        run->mask_region[one->index] = true;
        run->what_if.mask_region = run->mask_region;
        return VD_OK;
    default:
        return refuse(one, "of a caption: region N, word N=OTHER or history", err);
    }
}

// The id of a typed word: VD_END for END_WORD, VD_UNKNOWN for one that the vocabulary lacks. A
// number that it has only as digits becomes them: "two", "2".
static int32_t typed_id(const vd_vocab *vocab, const char **word)
{
    int32_t id = strcmp(*word, END_WORD) == 0 ? VD_END : vd_vocab_id(vocab, *word);
    const char *digits = id == VD_UNKNOWN ? vd_typed_digits(*word) : NULL;
    if (!digits || vd_vocab_id(vocab, digits) == VD_UNKNOWN)
        return id;
    *word = digits;
    return vd_vocab_id(vocab, digits);
}

// False: the captioner does not know it.
static bool find_word(const captioner_run *run, const char *text, int32_t *id)
{
    *id = typed_id(vocab_of(run), &text);
    return *id == VD_END || *id >= VD_FIRST_WORD;
}

static vd_status begin_with(captioner_run *run, const char *begin, vd_error *err)
{
    vd_words words;
    vd_status status = vd_caption_tokenize(begin, VD_CAPTION_WORDS, &words, err);
    if (status)
        return status;
    if (words.count < 1 || words.count > VD_MAX_CAPTION)
        status = vd_error_set(err, VD_USAGE, "a caption begins with %zu words; expected 1 to %d",
                              words.count, VD_MAX_CAPTION);
    for (size_t i = 0; i < words.count && status == VD_OK; i++)
        if (!find_word(run, words.word[i], &run->what_if.forced[i]))
            status = vd_error_set(
                err, VD_USAGE, "the beginning of the caption: the captioner does not know '%.60s'",
                words.word[i]);
    run->what_if.places = status ? 0 : (int)words.count;
    vd_words_clear(&words);
    return status;
}

// Before anything is generated: regions, history, the beginning.
static vd_status read_changes(captioner_run *run, vd_error *err)
{
    const vd_switches *switches = switches_of(run);
    const char *begin = run->side->changed ? run->wish->begin : NULL;
    vd_status status = vd_captioner_fits(run->captioner, run->regions, err);
    if (status)
        return status;
    run->mask_region = g_new0(bool, (gsize)run->regions->count + 1);
    for (int i = 0; i < switches->count && status == VD_OK; i++)
        status = read_switch(run, &switches->at[i], err);
    return status || !begin ? status : begin_with(run, begin, err);
}

// ---- saying -------------------------------------------------------------------------------------

// The word that is generated at a place whatever happens; NULL: any.
static const vd_switch *forced_at(const vd_switches *switches, int place)
{
    for (int i = 0; i < switches->count; i++)
        if (switches->at[i].kind == VD_SWITCH_WORD && switches->at[i].index == place)
            return &switches->at[i];
    return NULL;
}

// Forces the word, those before it as they are generated.
static vd_status force(captioner_run *run, const vd_switch *one, vd_error *err)
{
    const vd_generated_caption *generated = &run->generated[0];
    vd_caption_what_if *out = &run->what_if;
    int place = one->index;
    char why[80];
    snprintf(why, sizeof why, "the caption has %d word%s; expected a word up to %d",
             generated->length, generated->length == 1 ? "" : "s", generated->length + 1);
    if (place > generated->length)
        return refuse(one, why, err);
    for (int i = out->places; i < place; i++)
        out->forced[i] = generated->word[i];
    out->places = place < out->places ? out->places : place + 1;
    return find_word(run, one->word, &out->forced[place])
               ? VD_OK
               : refuse(one, "the captioner does not know this word", err);
}

static vd_status generate_once(captioner_run *run, vd_error *err)
{
    vd_generation how = run->by->how;
    how.what_if = &run->what_if;
    return vd_captioner_generate(run->captioner, run->regions->features, run->regions->count, &how,
                                 run->generated, run->by->most, &run->side->of, err);
}

// Words are forced from the first place on: those before one stay as they are generated without it,
// and the rest is generated anew; END_WORD ends the caption.
static vd_status generate_changed(captioner_run *run, vd_error *err)
{
    vd_status status = read_changes(run, err);
    if (status == VD_OK)
        status = generate_once(run, err);
    for (int place = 0; place < VD_MAX_CAPTION && status == VD_OK; place++) {
        const vd_switch *one = forced_at(switches_of(run), place);
        if (!one)
            continue;
        status = force(run, one, err);
        if (status == VD_OK)
            status = generate_once(run, err);
    }
    return status;
}

static void keep_generated(captioner_run *run)
{
    vd_caption_side *side = run->side;
    for (int i = 0; i < side->of; i++) {
        side->generated[i].log_probability = run->generated[i].log_probability;
        side->generated[i].text =
            take_text(run, vd_generated_caption_text(vocab_of(run), &run->generated[i]));
    }
}

static vd_status generate(captioner_run *run, vd_error *err)
{
    vd_caption_side *side = run->side;
    double start = vd_seconds();
    vd_status status = generate_changed(run, err);
    side->milliseconds = 1000 * (vd_seconds() - start);
    if (status == VD_OK) {
        describe(run);
        keep_generated(run);
    }
    int place = side->changed ? 1 : run->wish->place;
    side->place = place > 0 && place <= side->of ? place : 1;
    return status ? status : trace(run, &run->generated[side->place - 1], err);
}

// ---- reading ------------------------------------------------------------------------------------

static void put_word(captioner_run *run, int place, const char *text, vd_generated_caption *c)
{
    c->word[place] = typed_id(vocab_of(run), &text);
    bool end = c->word[place] == VD_END;
    if (place >= c->length || end)
        c->length = place + !end;
    c->ended |= end;
    run->side->word[place] = end ? NULL : copy_text(run, text);
}

// Words that are generated to be others; the one after the last word is another word's place, too.
static vd_status change_words(captioner_run *run, vd_generated_caption *c, vd_error *err)
{
    const vd_switches *switches = switches_of(run);
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
            put_word(run, one->index, one->word, c);
    }
    return status;
}

// Captioners learn from captions that are cut, too: such a one has no end.
static vd_status read_given(captioner_run *run, vd_error *err)
{
    vd_generated_caption c = {0};
    vd_words words = {0};
    vd_status status = read_changes(run, err);
    if (status == VD_OK)
        status = vd_caption_tokenize(run->wish->read, VD_CAPTION_WORDS, &words, err);
    if (status == VD_OK && words.count == 0)
        status = vd_error_set(err, VD_USAGE, "a caption without words; expected some");
    for (size_t i = 0; i < words.count && i < VD_MAX_CAPTION && status == VD_OK; i++)
        put_word(run, (int)i, words.word[i], &c);
    c.ended = words.count <= VD_MAX_CAPTION && !run->wish->read_cut;
    vd_words_clear(&words);
    if (status == VD_OK)
        status = change_words(run, &c, err);
    if (status)
        return status;
    describe(run);
    return trace(run, &c, err);
}

// ---- both ---------------------------------------------------------------------------------------

// How likely `by` finds the caption of `of`, in words of its own vocabulary.
static vd_status find_under(captioner_run *by, int which, vd_caption_side *of, vd_error *err)
{
    const vd_vocab *vocab = vocab_of(by);
    int length = of->trace.words - of->ended;
    int32_t word[VD_SIDE_WORDS];
    vd_caption_trace trace;
    for (int t = 0; t < length; t++) {
        const char *text = of->word[t];
        word[t] = typed_id(vocab, &text);
        of->unknown[which] += word[t] == VD_UNKNOWN;
    }
    of->under[which] = of->trace.log_probability;
    if (of == by->side)
        return VD_OK;
    vd_status status = vd_captioner_trace(by->captioner, by->regions->features, by->regions->count,
                                          word, length, of->ended, &by->what_if, &trace, err);
    of->under[which] = trace.log_probability;
    vd_caption_trace_clear(&trace);
    return status;
}

static vd_status run_captioners(vd_caption_sheet *sheet, const vd_caption_sources *by,
                                captioner_run runs[VD_CAPTION_SIDES], vd_error *err)
{
    const vd_caption_wish *wish = &sheet->wish;
    bool two = by->captioner[1] != NULL, changed = wish->switches.count > 0 || wish->begin,
         read = *wish->read;
    vd_status status = VD_OK;
    sheet->captioners = two ? 2 : 1;
    sheet->sides = two || changed || read ? 2 : 1;
    for (int i = 0; i < sheet->sides && status == VD_OK; i++) {
        vd_caption_side *side = &sheet->side[i];
        side->texts = g_string_chunk_new(1024);
        side->changed = changed && i == (two ? wish->changed : 1);
        side->read = read && (two || i == 1);
        side->hard = by->hard[two ? i : 0];
        runs[i] = (captioner_run){.by = by,
                                  .wish = wish,
                                  .regions = &sheet->regions,
                                  .captioner = by->captioner[two ? i : 0],
                                  .side = side};
        status = side->read ? read_given(&runs[i], err) : generate(&runs[i], err);
    }
    for (int of = 0; of < sheet->sides; of++)
        for (int i = 0; i < sheet->sides && status == VD_OK; i++)
            status = find_under(&runs[i], i, &sheet->side[of], err);
    const vd_caption_side *first = &sheet->side[0], *second = &sheet->side[1];
    if (status == VD_OK) // of one side: one list beside none
        sheet->rows = vd_align(first->word, first->trace.words, second->word, second->trace.words,
                               sheet->row);
    return status;
}

// The picture, and no captions yet.
static vd_status begin(const vd_world *world, const vd_caption_wish *wish, vd_caption_sheet **out,
                       vd_error *err)
{
    vd_caption_sheet *sheet = *out = g_new0(vd_caption_sheet, 1);
    sheet->wish = *wish;
    vd_world_name(world, wish->picture, sheet->picture, sizeof sheet->picture);
    sheet->doubt = vd_world_doubt(world, wish->picture);
    return vd_world_regions(world, wish->picture, &sheet->regions, err);
}

static vd_status fill(vd_caption_sheet *sheet, const vd_caption_sources *by, vd_error *err)
{
    captioner_run runs[VD_CAPTION_SIDES] = {0};
    vd_status status = run_captioners(sheet, by, runs, err);
    for (int i = 0; i < VD_CAPTION_SIDES; i++)
        g_free(runs[i].mask_region);
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

vd_status vd_caption_sheet_new(const vd_world *world, const vd_caption_sources *by,
                               const vd_caption_wish *wish, vd_caption_sheet **out, vd_error *err)
{
    vd_status status = begin(world, wish, out, err);
    return end(status ? status : fill(*out, by, err), out);
}

// The regions of an opened picture come with its caption, for which the captioner must be free.
vd_status vd_caption_sheet_of(const vd_world *world, struct vd_captioning *second,
                              const vd_caption_wish *wish, vd_caption_sheet **out, vd_error *err)
{
    vd_caption_sources by = {.how = vd_generation_greedy(), .most = VD_HYPOTHESES};
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
        g_clear_pointer(&sheet->side[i].texts, g_string_chunk_free);
    }
    vd_picture_regions_clear(&sheet->regions);
    g_free(sheet);
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

// "without region 3, word 2=red, beginning with there is".
static void name_changes(const vd_caption_wish *wish, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < wish->switches.count; i++) {
        const vd_switch *one = &wish->switches.at[i];
        char name[64];
        vd_switch_name(one, name, sizeof name);
        vd_append(out, size, "%s%s%s", *out ? ", " : "",
                  one->kind == VD_SWITCH_WORD ? "" : "without ", name);
    }
    if (wish->begin)
        vd_append(out, size, "%sbeginning with %s", *out ? ", " : "", wish->begin);
}

void vd_caption_side_label(const vd_caption_sheet *sheet, int side, char *out, size_t size)
{
    const vd_caption_side *c = &sheet->side[side];
    char changed[400];
    name_changes(&sheet->wish, changed, sizeof changed);
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
    float history[VD_SIDE_WORDS] = {0};
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

#include "tui/session/caption_change.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "features/captions/tokens.h"
#include "features/text/tokenize.h"

void vd_caption_changes_text(const vd_caption_changes *changes, char *out, size_t size)
{
    int count = changes->switches ? changes->switches->count : 0;
    out[0] = '\0';
    for (int i = 0; i < count; i++) {
        const vd_switch *one = &changes->switches->at[i];
        char name[64];
        vd_switch_name(one, name, sizeof name);
        vd_append(out, size, "%s%s%s", *out ? ", " : "",
                  one->kind == VD_SWITCH_WORD ? "" : "without ", name);
    }
    if (changes->begin)
        vd_append(out, size, "%sbeginning with %s", *out ? ", " : "", changes->begin);
}

vd_status vd_captioner_fits(const vd_captioner *captioner, const vd_picture_regions *regions,
                            vd_error *err)
{
    const vd_model *model = vd_captioner_model(captioner);
    int expected = vd_model_config(model)->region;
    if (regions->size == expected)
        return VD_OK;
    return vd_error_set(err, VD_MISMATCH,
                        "%.300s wants regions of %d numbers, the picture's have %d; they must come "
                        "from one extractor",
                        vd_model_path(model), expected, regions->size);
}

// ---- what is changed ----------------------------------------------------------------------------

static vd_status refuse(const vd_switch *one, const char *why, vd_error *err)
{
    char name[64];
    vd_switch_name(one, name, sizeof name);
    return vd_error_set(err, VD_USAGE, "what-if '%s': %s", name, why);
}

static vd_status read_switch(const vd_switch *one, int regions, vd_caption_change *out,
                             vd_error *err)
{
    char why[64];
    switch ((int)one->kind) {
    case VD_SWITCH_HISTORY:
        out->what_if.no_history = true;
        return VD_OK;
    case VD_SWITCH_WORD:
        if (one->index == 0 && strcmp(one->word, VD_END_WORD) == 0)
            return refuse(one, "a caption has at least one word", err);
        return one->word[0] ? VD_OK : refuse(one, "needs a word: word 2=red", err);
    case VD_SWITCH_REGION:
        snprintf(why, sizeof why,
                 regions == 1 ? "there is only %d region" : "there are only %d regions", regions);
        if (one->index >= regions)
            return refuse(one, why, err);
        out->mask_region[one->index] = true;
        out->what_if.mask_region = out->mask_region;
        return VD_OK;
    default:
        return refuse(one, "of a caption: region N, word N=OTHER or history", err);
    }
}

int32_t vd_caption_typed_id(const vd_vocab *vocab, const char **word)
{
    int32_t id = strcmp(*word, VD_END_WORD) == 0 ? VD_END : vd_vocab_id(vocab, *word);
    const char *digits = id == VD_UNKNOWN ? vd_typed_digits(*word) : NULL;
    if (!digits || vd_vocab_id(vocab, digits) == VD_UNKNOWN)
        return id;
    *word = digits;
    return vd_vocab_id(vocab, digits);
}

// False: the captioner does not know it.
static bool find_word(const vd_captioner *captioner, const char *text, int32_t *id)
{
    *id = vd_caption_typed_id(vd_model_vocab(vd_captioner_model(captioner)), &text);
    return *id == VD_END || *id >= VD_FIRST_WORD;
}

static vd_status begin_with(const vd_captioner *captioner, const char *begin,
                            vd_caption_what_if *out, vd_error *err)
{
    vd_words words;
    vd_status status = vd_caption_tokenize(begin, VD_CAPTION_WORDS, &words, err);
    if (status)
        return status;
    if (words.count < 1 || words.count > VD_MAX_CAPTION)
        status = vd_error_set(err, VD_USAGE, "a caption begins with %zu words; expected 1 to %d",
                              words.count, VD_MAX_CAPTION);
    for (size_t i = 0; i < words.count && status == VD_OK; i++)
        if (!find_word(captioner, words.word[i], &out->forced[i]))
            status = vd_error_set(
                err, VD_USAGE, "the beginning of the caption: the captioner does not know '%.60s'",
                words.word[i]);
    out->places = status ? 0 : (int)words.count;
    vd_words_clear(&words);
    return status;
}

vd_status vd_caption_change_read(const vd_captioner *captioner, const vd_picture_regions *regions,
                                 const vd_caption_changes *changes, vd_caption_change *out,
                                 vd_error *err)
{
    int count = changes->switches ? changes->switches->count : 0;
    *out = (vd_caption_change){0};
    vd_status status = vd_captioner_fits(captioner, regions, err);
    if (status)
        return status;
    out->mask_region = vd_alloc((size_t)regions->count + 1, sizeof *out->mask_region);
    if (!out->mask_region)
        return vd_error_memory(err, "what is changed");
    for (int i = 0; i < count && status == VD_OK; i++)
        status = read_switch(&changes->switches->at[i], regions->count, out, err);
    if (status == VD_OK && changes->begin)
        status = begin_with(captioner, changes->begin, &out->what_if, err);
    if (status)
        vd_caption_change_clear(out);
    return status;
}

// ---- saying -------------------------------------------------------------------------------------

// The word that is said at a place whatever happens; NULL: any.
static const vd_switch *forced_at(const vd_switches *switches, int place)
{
    for (int i = 0; i < switches->count; i++)
        if (switches->at[i].kind == VD_SWITCH_WORD && switches->at[i].index == place)
            return &switches->at[i];
    return NULL;
}

// Forces the word, those before it as they are said.
static vd_status force(const vd_captioner *captioner, const vd_switch *one,
                       const vd_said_caption *said, vd_caption_what_if *out, vd_error *err)
{
    int place = one->index;
    char why[80];
    snprintf(why, sizeof why, "the caption has %d word%s; expected a word up to %d", said->length,
             said->length == 1 ? "" : "s", said->length + 1);
    if (place > said->length)
        return refuse(one, why, err);
    for (int i = out->places; i < place; i++)
        out->forced[i] = said->word[i];
    out->places = place < out->places ? out->places : place + 1;
    return find_word(captioner, one->word, &out->forced[place])
               ? VD_OK
               : refuse(one, "the captioner does not know this word", err);
}

vd_status vd_caption_change_say(vd_captioner *captioner, const vd_picture_regions *regions,
                                const vd_saying *how, const vd_caption_changes *changes,
                                vd_caption_change *out, vd_said_caption *said, int most, int *count,
                                vd_error *err)
{
    vd_saying so = *how;
    so.what_if = &out->what_if;
    vd_status status = vd_caption_change_read(captioner, regions, changes, out, err);
    if (status == VD_OK)
        status = vd_captioner_say(captioner, regions->features, regions->count, &so, said, most,
                                  count, err);
    for (int place = 0; changes->switches && place < VD_MAX_CAPTION && status == VD_OK; place++) {
        const vd_switch *one = forced_at(changes->switches, place);
        if (!one)
            continue;
        status = force(captioner, one, said, &out->what_if, err);
        if (status == VD_OK)
            status = vd_captioner_say(captioner, regions->features, regions->count, &so, said, most,
                                      count, err);
    }
    if (status)
        vd_caption_change_clear(out);
    return status;
}

void vd_caption_change_clear(vd_caption_change *change)
{
    vd_free(change->mask_region);
    *change = (vd_caption_change){0};
}

#include "tui/answer/caption_change.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "features/captions/tokens.h"

bool vd_caption_changes_any(const vd_caption_changes *changes)
{
    return changes->switches.count > 0 || changes->begin || changes->no_history;
}

static void add_name(vd_caption_change *out, const char *before, const char *name)
{
    size_t used = strlen(out->name);
    snprintf(out->name + used, sizeof out->name - used, "%s%s%s", used ? ", " : "", before, name);
}

static vd_status find_word(const vd_caption_side *side, const char *text, int32_t *id,
                           vd_error *err)
{
    const vd_model *model = vd_caption_side_model(side);
    *id = strcmp(text, "(end)") == 0 ? VD_END : vd_vocab_id(vd_model_vocab(model), text);
    return *id >= VD_FIRST_WORD || *id == VD_END
               ? VD_OK
               : vd_error_set(err, VD_USAGE,
                              "%.300s does not know the word '%.60s'; expected one of its "
                              "%d words, or (end)",
                              vd_model_path(model), text,
                              vd_model_config(model)->vocab - VD_FIRST_WORD);
}

static vd_status begin_with(const char *begin, const vd_caption_side *side, vd_caption_change *out,
                            vd_error *err)
{
    vd_words words;
    vd_status status = vd_caption_tokenize(begin, VD_CAPTION_WORDS, &words, err);
    if (status)
        return status;
    if (words.count < 1 || words.count > VD_MAX_CAPTION)
        status =
            vd_error_set(err, VD_USAGE, "a caption that begins with %zu words; expected 1 to %d",
                         words.count, VD_MAX_CAPTION);
    for (size_t i = 0; i < words.count && status == VD_OK; i++)
        status = find_word(side, words.word[i], &out->what_if.forced[i], err);
    out->what_if.places = status ? 0 : (int)words.count;
    vd_words_clear(&words);
    add_name(out, "beginning with ", begin);
    return status;
}

static vd_status leave_out(const vd_switch *one, const vd_caption_side *before,
                           vd_caption_change *out, vd_error *err)
{
    if (one->index >= before->trace.regions)
        return vd_error_set(err, VD_USAGE, "what if 'region %d'? the picture has %d",
                            one->index + 1, before->trace.regions);
    out->mask_region[one->index] = true;
    out->what_if.mask_region = out->mask_region;
    return VD_OK;
}

// The words before the first that is replaced stay as they are.
static void keep_words(const vd_switches *switches, const vd_caption_side *before,
                       vd_caption_what_if *w)
{
    int count = before->trace.words;
    for (int i = 0; i < switches->count; i++)
        if (switches->at[i].kind == VD_SWITCH_WORD && switches->at[i].index < count)
            count = switches->at[i].index;
    for (int i = 0; i < count && count < before->trace.words; i++)
        w->forced[i] = before->trace.word[i].id;
}

static vd_status replace(const vd_switch *one, const vd_caption_side *before,
                         vd_caption_change *out, vd_error *err)
{
    vd_caption_what_if *w = &out->what_if;
    if (!one->word[0])
        return vd_error_set(err, VD_USAGE, "what if 'word %d'? which one instead? word %d=OTHER",
                            one->index + 1, one->index + 1);
    if (one->index >= before->said->length)
        return vd_error_set(err, VD_USAGE, "what if 'word %d'? the caption has %d", one->index + 1,
                            before->said->length);
    w->places = one->index >= w->places ? one->index + 1 : w->places;
    return find_word(before, one->word, &w->forced[one->index], err);
}

static vd_status change_by(const vd_switch *one, const vd_caption_side *before,
                           vd_caption_change *out, vd_error *err)
{
    char name[96];
    vd_switch_name(one, name, sizeof name);
    if (one->kind != VD_SWITCH_REGION && one->kind != VD_SWITCH_WORD)
        return vd_error_set(err, VD_USAGE, "what if '%.60s'? of captions: region N or word N=OTHER",
                            name);
    add_name(out, one->kind == VD_SWITCH_REGION ? "without " : "", name);
    return one->kind == VD_SWITCH_REGION ? leave_out(one, before, out, err)
                                         : replace(one, before, out, err);
}

vd_status vd_caption_change_make(const vd_caption_changes *changes, const vd_caption_side *before,
                                 vd_caption_change *out, vd_error *err)
{
    *out = (vd_caption_change){.what_if.no_history = changes->no_history};
    out->mask_region = vd_alloc((size_t)before->trace.regions, sizeof *out->mask_region);
    vd_status status = out->mask_region ? VD_OK : vd_error_memory(err, "what is changed");
    if (status == VD_OK && changes->begin)
        status = begin_with(changes->begin, before, out, err);
    else if (status == VD_OK)
        keep_words(&changes->switches, before, &out->what_if);
    for (int i = 0; i < changes->switches.count && status == VD_OK; i++)
        status = change_by(&changes->switches.at[i], before, out, err);
    if (changes->no_history)
        add_name(out, "without ", "history");
    if (status)
        vd_caption_change_clear(out);
    return status;
}

void vd_caption_change_clear(vd_caption_change *change)
{
    vd_free(change->mask_region);
    *change = (vd_caption_change){0};
}

#include "tui/answer/caption_sheet.h"

#include <math.h>

#include "engine/base/alloc.h"
#include "features/captions/tokens.h"
#include "tui/base/progress.h"

const char *const vd_caption_judged_names[] = {"", "not read", "false", "doubtful", "faithful"};

const vd_model *vd_caption_side_model(const vd_caption_side *side)
{
    return vd_captioner_model(side->captioner);
}

const char *vd_caption_side_word(const vd_caption_side *side, int32_t id)
{
    return id == VD_END ? VD_END_WORD
                        : vd_vocab_word(vd_model_vocab(vd_caption_side_model(side)), id);
}

char *vd_caption_side_text(const vd_caption_side *side, int which)
{
    const vd_said_caption *c = &side->said[which];
    const char *word[VD_MAX_CAPTION];
    for (int i = 0; i < c->length; i++)
        word[i] = vd_caption_side_word(side, c->word[i]);
    return vd_caption_text(word, c->length);
}

double vd_caption_side_perplexity(const vd_caption_side *side)
{
    return exp(-side->trace.log_probability / side->trace.words);
}

double vd_caption_side_given(const vd_caption_side *side, int word)
{
    float history[VD_MOST_SAID_WORDS];
    double sum = 0;
    vd_caption_trace_history(&side->trace, word, history);
    for (int i = 0; i < side->trace.words; i++)
        sum += (double)history[i];
    return sum;
}

// Regions that a side sees.
static int seen(const vd_caption_side *side, const vd_picture_regions *regions)
{
    int count = 0;
    for (int r = 0; r < regions->count; r++) {
        const float *x = regions->features + (size_t)r * (size_t)regions->size;
        bool real = false;
        for (int i = 0; i < regions->size && !real; i++)
            real = x[i] != 0;
        count += real && !side->change.mask_region[r];
    }
    return count;
}

double vd_caption_side_chance(const vd_caption_side *side, const vd_picture_regions *regions,
                              int word)
{
    vd_caption_history history =
        vd_caption_history_of(&vd_model_config(vd_caption_side_model(side))->caption);
    int entries = history == VD_HISTORY_NOW ? 1 : history == VD_HISTORY_PAST ? word : word + 1;
    return (double)entries / (entries + (history == VD_HISTORY_ONLY ? 0 : seen(side, regions)));
}

void vd_caption_sheet_under(const vd_caption_sheet *sheet, vd_table *out)
{
    vd_table_add(out, "log-probability\tunder 1\tunder 2");
    for (int i = 0; i < 2; i++)
        vd_table_add(out, "of caption %d\t%.3f\t%.3f", i + 1, sheet->side[i].under[0],
                     sheet->side[i].under[1]);
}

vd_status vd_caption_side_say(vd_caption_side *side, const vd_picture_regions *regions,
                              const vd_saying *how, int most, vd_error *err)
{
    const vd_said_caption *c = side->said;
    double start = vd_progress_clock();
    vd_status status = vd_caption_change_say(side->captioner, regions, how, &side->changes,
                                             &side->change, side->said, most, &side->count, err);
    side->milliseconds = 1000 * (vd_progress_clock() - start);
    if (status == VD_OK)
        status = vd_captioner_trace(side->captioner, regions->features, regions->count, c->word,
                                    c->length, c->ended, &side->change.what_if, &side->trace, err);
    if (status == VD_OK && !(side->text = vd_caption_side_text(side, 0)))
        status = vd_error_memory(err, "the caption");
    for (int t = 0; t < side->trace.words; t++)
        side->word[t] = vd_caption_side_word(side, side->trace.word[t].id);
    return status;
}

// How likely `by` finds the caption of `of`, in words of its own vocabulary.
static vd_status find_under(vd_caption_side *of, const vd_caption_side *by, int which,
                            const vd_picture_regions *regions, vd_error *err)
{
    const vd_vocab *vocab = vd_model_vocab(vd_caption_side_model(by));
    const vd_said_caption *c = of->said;
    int32_t word[VD_MAX_CAPTION];
    vd_caption_trace trace;
    for (int i = 0; i < c->length; i++) {
        word[i] = vd_vocab_id(vocab, of->word[i]);
        of->unknown[which] += word[i] == VD_UNKNOWN;
    }
    vd_status status = vd_captioner_trace(by->captioner, regions->features, regions->count, word,
                                          c->length, c->ended, &by->change.what_if, &trace, err);
    of->under[which] = trace.log_probability;
    vd_caption_trace_clear(&trace);
    return status;
}

static void align_sides(vd_caption_sheet *sheet)
{
    const vd_caption_side *one = &sheet->side[0], *two = &sheet->side[1];
    if (sheet->sides == 2) {
        sheet->rows =
            vd_align(one->word, one->trace.words, two->word, two->trace.words, sheet->row);
        return;
    }
    sheet->rows = one->trace.words;
    for (int i = 0; i < sheet->rows; i++)
        sheet->row[i] = (vd_aligned){i, -1};
}

vd_status vd_caption_sheet_compare(vd_caption_sheet *sheet, vd_error *err)
{
    vd_status status = VD_OK;
    align_sides(sheet);
    for (int of = 0; of < sheet->sides; of++)
        for (int by = 0; by < sheet->sides && status == VD_OK; by++)
            if (of == by)
                sheet->side[of].under[by] = sheet->side[of].trace.log_probability;
            else
                status = find_under(&sheet->side[of], &sheet->side[by], by, sheet->regions, err);
    return status;
}

void vd_caption_sheet_clear(vd_caption_sheet *sheet)
{
    for (int i = 0; i < 2; i++) {
        vd_caption_trace_clear(&sheet->side[i].trace);
        vd_caption_change_clear(&sheet->side[i].change);
        vd_free(sheet->side[i].text);
        sheet->side[i].text = NULL;
    }
}

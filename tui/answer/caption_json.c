// Captions as JSON.
#include <glib.h>

#include "engine/base/json.h"
#include "tui/answer/caption_text.h"

// What the word drew from its history, and of that what equal scores would give; sat: what it let
// in, and the region that it looked at alone, from 1.
static void json_curves(yajl_gen json, const vd_caption_side *side, int t)
{
    const vd_generated_word *w = &side->trace.word[t];
    float history[VD_SIDE_WORDS];
    vd_caption_trace_look(&side->trace, t, -1, -1, NULL, history);
    if (side->trace.history) {
        vd_json_put(json, "history:");
        vd_json_put_numbers(json, history, (size_t)side->trace.words);
        vd_json_put(json, "given: %.9g, chance: %.9g",
                    vd_caption_side_given(side, t, side->trace.layers - 1, -1),
                    vd_caption_side_chance(side, t));
    }
    if (w->gate >= 0)
        vd_json_put(json, "gate: %.9g", w->gate);
    if (w->chosen >= 0)
        vd_json_put(json, "chosen: %d", w->chosen + 1);
}

static void json_word(yajl_gen json, const vd_caption_side *side, int t, float *share)
{
    const vd_generated_word *w = &side->trace.word[t];
    const bool unknown = !vd_caption_side_knows(side, t);
    vd_json_put(json, "{word: %s", side->word[t]);
    if (unknown)
        vd_json_put(json, "unknown: %hhd", unknown);
    vd_json_put(json, "probability: %.9g, entropy: %.9g, likely: [", w->probability, w->entropy);
    for (int i = 0; i < w->likelies; i++)
        vd_json_put(json, "{word: %s, probability: %.9g}", side->likely[t][i],
                    w->likely[i].probability);
    vd_json_put(json, "], regions:");
    vd_caption_trace_look(&side->trace, t, -1, -1, share, NULL);
    vd_json_put_numbers(json, share, (size_t)side->trace.regions);
    json_curves(json, side, t);
    vd_json_put(json, "}");
}

static void json_others(yajl_gen json, const vd_caption_side *side)
{
    vd_json_put(json, "others: [");
    for (int i = 1; i < side->of; i++)
        vd_json_put(json, "{caption: %s, log_probability: %.9g}", side->generated[i].text,
                    side->generated[i].log_probability);
    vd_json_put(json, "]");
}

static void json_side(yajl_gen json, const vd_caption_side *side, float *share)
{
    vd_json_put(json, "caption: %s, read: %hhd, log_probability: %.9g, perplexity: %.9g",
                side->text, side->read, side->trace.log_probability,
                vd_caption_side_perplexity(side));
    if (side->hard)
        vd_json_put(json, "hard: %s", side->hard);
    if (side->signature)
        vd_json_put(json, "signature: %s", side->signature);
    vd_json_put(json, "ended: %hhd", side->ended);
    if (side->verdict.is != VD_NOT_JUDGED)
        vd_json_put(json, "verdict: {is: %s, why: %s}", vd_caption_judged_names[side->verdict.is],
                    side->verdict.why);
    if (side->score.known)
        vd_json_put(json, "score: {bleu_1: %.9g, rouge_l: %.9g, meteor_es: %.9g}",
                    side->score.bleu_1, side->score.rouge_l, side->score.meteor_es);
    vd_json_put(json, "words: [");
    for (int t = 0; t < side->trace.words; t++)
        json_word(json, side, t, share);
    vd_json_put(json, "]");
    if (!side->read)
        json_others(json, side);
    vd_json_put(json, "model: %s, backend: %s", side->name, side->backend);
    if (!side->read)
        vd_json_put(json, "milliseconds: %.9g", side->milliseconds);
}

static void json_place(yajl_gen json, int place)
{
    if (place < 0)
        vd_json_put(json, "null");
    else
        vd_json_put(json, "%d", place);
}

// The places of words beside each other, null where one has none.
static void json_rows(yajl_gen json, const vd_caption_sheet *sheet)
{
    vd_json_put(json, "aligned: [");
    for (int i = 0; i < sheet->rows; i++) {
        vd_json_put(json, "[");
        json_place(json, sheet->row[i].first);
        json_place(json, sheet->row[i].second);
        vd_json_put(json, "]");
    }
    vd_json_put(json, "], log_probabilities: ["); // of each caption, under each
    for (int of = 0; of < 2; of++)
        vd_json_put(json, "[%.9g, %.9g]", sheet->side[of].under[0], sheet->side[of].under[1]);
    vd_json_put(json, "]");
}

void vd_caption_sheet_json(yajl_gen json, const vd_caption_sheet *sheet)
{
    char label[4096];
    float *share = g_new(float, sheet->regions.count);
    vd_json_put(json, "picture: %s", sheet->picture);
    json_side(json, &sheet->side[0], share);
    if (sheet->sides == 2) {
        vd_caption_side_label(sheet, 1, label, sizeof label);
        vd_json_put(json, "other: {name: %s", label);
        json_side(json, &sheet->side[1], share);
        vd_json_put(json, "}");
        json_rows(json, sheet);
    }
    g_free(share);
}

// Captions as JSON.
#include "engine/base/alloc.h"
#include "tui/answer/caption_text.h"
#include "tui/base/output.h"

static void json_flag(yajl_gen json, const char *name, bool value)
{
    vd_output_string(json, name);
    yajl_gen_bool(json, value);
}

// What the word drew from its history, and of that what equal scores would give; sat: what it let
// in, and the region that it looked at alone, from 1.
static void json_curves(yajl_gen json, const vd_caption_side *side, int t)
{
    const vd_said_word *w = &side->trace.word[t];
    float history[VD_SAID_WORDS];
    vd_caption_trace_history(&side->trace, t, history);
    if (side->trace.history) {
        vd_member_numbers(json, "history", history, (size_t)side->trace.words);
        vd_member_number(json, "given", vd_caption_side_given(side, t, side->trace.layers - 1, -1));
        vd_member_number(json, "chance", vd_caption_side_chance(side, t));
    }
    if (w->gate >= 0)
        vd_member_number(json, "gate", w->gate);
    if (w->chosen >= 0)
        vd_member_integer(json, "chosen", w->chosen + 1);
}

static void json_word(yajl_gen json, const vd_caption_side *side, int t, float *share)
{
    const vd_said_word *w = &side->trace.word[t];
    yajl_gen_map_open(json);
    vd_member_string(json, "word", side->word[t]);
    if (!vd_caption_side_knows(side, t))
        json_flag(json, "unknown", true);
    vd_member_number(json, "probability", w->probability);
    vd_member_number(json, "entropy", w->entropy);
    vd_member_list(json, "likely");
    for (int i = 0; i < w->likelies; i++) {
        yajl_gen_map_open(json);
        vd_member_string(json, "word", side->likely[t][i]);
        vd_member_number(json, "probability", w->likely[i].probability);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    vd_caption_trace_regions(&side->trace, t, share);
    vd_member_numbers(json, "regions", share, (size_t)side->trace.regions);
    json_curves(json, side, t);
    yajl_gen_map_close(json);
}

static void json_others(yajl_gen json, const vd_caption_side *side)
{
    vd_member_list(json, "others");
    for (int i = 1; i < side->of; i++) {
        yajl_gen_map_open(json);
        vd_member_string(json, "caption", side->said[i].text);
        vd_member_number(json, "log_probability", side->said[i].log_probability);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void json_verdict(yajl_gen json, const vd_caption_verdict *verdict)
{
    if (verdict->is == VD_NOT_JUDGED)
        return;
    vd_member_map(json, "verdict");
    vd_member_string(json, "is", vd_caption_judged_names[verdict->is]);
    vd_member_string(json, "why", verdict->why);
    yajl_gen_map_close(json);
}

static void json_side(yajl_gen json, const vd_caption_side *side, float *share)
{
    vd_member_string(json, "caption", side->text);
    json_flag(json, "read", side->read);
    vd_member_number(json, "log_probability", side->trace.log_probability);
    vd_member_number(json, "perplexity", vd_caption_side_perplexity(side));
    if (side->hard)
        vd_member_string(json, "hard", side->hard);
    if (side->signature)
        vd_member_string(json, "signature", side->signature);
    json_flag(json, "ended", side->ended);
    json_verdict(json, &side->verdict);
    vd_member_list(json, "words");
    for (int t = 0; t < side->trace.words; t++)
        json_word(json, side, t, share);
    yajl_gen_array_close(json);
    if (!side->read)
        json_others(json, side);
    vd_member_string(json, "model", side->name);
    vd_member_string(json, "backend", side->backend);
    if (!side->read)
        vd_member_number(json, "milliseconds", side->milliseconds);
}

// The places of words beside each other, null where one has none.
static void json_rows(yajl_gen json, const vd_caption_sheet *sheet)
{
    vd_member_list(json, "aligned");
    for (int i = 0; i < sheet->rows; i++) {
        const int at[] = {sheet->row[i].first, sheet->row[i].second};
        yajl_gen_array_open(json);
        for (int k = 0; k < 2; k++)
            if (at[k] < 0)
                yajl_gen_null(json);
            else
                yajl_gen_integer(json, at[k]);
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
    vd_member_list(json, "log_probabilities"); // of each caption, under each
    for (int of = 0; of < 2; of++) {
        yajl_gen_array_open(json);
        for (int by = 0; by < 2; by++)
            vd_output_number(json, sheet->side[of].under[by]);
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
}

vd_status vd_caption_sheet_json(yajl_gen json, const vd_caption_sheet *sheet, vd_error *err)
{
    char label[4096];
    float *share = vd_alloc((size_t)sheet->regions.count, sizeof *share);
    if (!share)
        return vd_error_memory(err, "the regions");
    vd_member_string(json, "picture", sheet->picture);
    json_side(json, &sheet->side[0], share);
    if (sheet->sides == 2) {
        vd_caption_side_label(sheet, 1, label, sizeof label);
        vd_member_map(json, "other");
        vd_member_string(json, "name", label);
        json_side(json, &sheet->side[1], share);
        yajl_gen_map_close(json);
        json_rows(json, sheet);
    }
    vd_free(share);
    return VD_OK;
}

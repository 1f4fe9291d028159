#include "tui/answer/json.h"

#include "tui/answer/attention.h"
#include "tui/base/output.h"
#include "tui/base/shares.h"

void vd_sheet_json_words(yajl_gen json, const vd_sheet_side *side)
{
    const vd_reply *reply = side->reply;
    vd_member_texts(json, "tokens", (const char *const *)reply->word, (size_t)reply->words);
    vd_member_list(json, "unknown");
    for (int i = 0; i < reply->words; i++)
        if (reply->unknown[i])
            vd_output_string(json, reply->word[i]);
    yajl_gen_array_close(json);
}

void vd_sheet_json_answers(yajl_gen json, const char *key, const vd_sheet_side *side, int most)
{
    vd_member_list(json, key);
    for (int i = 0; i < vd_sheet_rows(side) && i < most; i++) {
        vd_folded row = vd_sheet_row(side, i);
        yajl_gen_map_open(json);
        vd_member_string(json, "text", vd_sheet_text(side, row.answer));
        vd_member_number(json, "probability", row.probability);
        if (side->folded)
            vd_member_integer(json, "alike", row.alike);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void emit_regions(yajl_gen json, const vd_sheet *sheet, const float *share, int regions)
{
    vd_member_list(json, "regions");
    for (int p = 0; p < regions && share; p++) {
        yajl_gen_map_open(json);
        vd_member_integer(json, "number", p + 1);
        if (sheet->names && p < sheet->regions)
            vd_member_string(json, "name", sheet->names[p].text);
        vd_output_string(json, "box");
        if (sheet->boxes && p < sheet->regions)
            vd_output_numbers(json, sheet->boxes + (size_t)4 * (size_t)p, 4);
        else
            yajl_gen_null(json);
        vd_member_number(json, "weight", (double)share[p]);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

void vd_json_attention_name(yajl_gen json, const vd_attention *a)
{
    vd_member_string(json, "name", a->name);
    if (a->of > 1) {
        vd_member_string(json, "part", a->part);
        vd_member_integer(json, "index", a->index);
        vd_member_integer(json, "of", a->of);
    }
}

static void emit_further(yajl_gen json, const vd_answer *answer)
{
    const vd_attention *a = vd_answer_further(answer, 0);
    if (a)
        vd_member_list(json, "further");
    for (int i = 0; a; a = vd_answer_further(answer, ++i)) {
        yajl_gen_map_open(json);
        vd_json_attention_name(json, a);
        vd_member_string(json, "key", vd_axis_name(a->key));
        vd_member_numbers(json, "shares", a->share, (size_t)a->columns);
        yajl_gen_map_close(json);
        if (!vd_answer_further(answer, i + 1))
            yajl_gen_array_close(json);
    }
}

// A row of shares of the dialog's words for each word of the given answer and its end, by layer.
static void emit_looks(yajl_gen json, const vd_reply *reply)
{
    const vd_answer *answer = &reply->answer;
    bool any = vd_answer_attention(answer, VD_AXIS_ANSWER_WORDS, VD_AXIS_DIALOG_WORDS);
    if (!any)
        return;
    vd_member_string(json, "given", reply->given);
    vd_member_list(json, "answer_words");
    for (int i = 0; i < answer->attentions; i++) {
        const vd_attention *a = &answer->attention[i];
        if (a->query != VD_AXIS_ANSWER_WORDS || !a->share)
            continue;
        yajl_gen_array_open(json);
        for (int r = 0; r < a->rows; r++)
            vd_output_numbers(json, a->share + (size_t)r * (size_t)a->columns, (size_t)a->columns);
        yajl_gen_array_close(json);
    }
    yajl_gen_array_close(json);
}

void vd_sheet_json_attention(yajl_gen json, const vd_sheet *sheet, int which)
{
    const vd_answer *answer = &sheet->side[which].reply->answer;
    const float *rounds = vd_answer_shares(answer, VD_AXIS_ENTRIES);
    vd_member_map(json, "attention");
    vd_member_numbers(json, "rounds", rounds, rounds ? (size_t)answer->rounds : 0);
    emit_regions(json, sheet, vd_answer_shares(answer, VD_AXIS_REGIONS), answer->regions);
    vd_member_list(json, "words");
    for (int i = 0; i < answer->question_length && vd_word_share(answer, i) >= 0; i++)
        vd_output_number(json, vd_word_share(answer, i));
    yajl_gen_array_close(json);
    emit_further(json, answer);
    emit_looks(json, sheet->side[which].reply);
    yajl_gen_map_close(json);
}

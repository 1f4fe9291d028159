#include "tui/answer/json.h"

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

void vd_sheet_json_attention(yajl_gen json, const vd_sheet *sheet, int which)
{
    const vd_answer *answer = &sheet->side[which].reply->answer;
    vd_member_map(json, "attention");
    vd_member_numbers(json, "rounds", answer->context_attention, (size_t)answer->rounds);
    vd_member_list(json, "regions");
    for (int p = 0; p < answer->regions; p++) {
        yajl_gen_map_open(json);
        vd_member_integer(json, "number", p + 1);
        if (sheet->names && p < sheet->regions)
            vd_member_string(json, "name", sheet->names[p].text);
        vd_output_string(json, "box");
        if (sheet->boxes && p < sheet->regions)
            vd_output_numbers(json, sheet->boxes + (size_t)4 * (size_t)p, 4);
        else
            yajl_gen_null(json);
        vd_member_number(json, "weight", (double)answer->region_attention[p]);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    vd_member_list(json, "words");
    for (int i = 0; i < answer->question_length; i++)
        vd_output_number(json, vd_word_share(answer, i));
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
}

#include "tui/answer/json.h"

#include "engine/base/json.h"
#include "tui/answer/attention.h"
#include "tui/base/shares.h"

void vd_sheet_json_words(yajl_gen json, const vd_sheet_side *side)
{
    const vd_reply *reply = side->reply;
    vd_json_put(json, "tokens:");
    vd_json_put_texts(json, (const char *const *)reply->word, (size_t)reply->words);
    vd_json_put(json, "unknown: [");
    for (int i = 0; i < reply->words; i++)
        if (reply->unknown[i])
            vd_json_put(json, "%s", reply->word[i]);
    vd_json_put(json, "]");
}

void vd_sheet_json_answers(yajl_gen json, const char *key, const vd_sheet_side *side, int most)
{
    vd_json_put(json, "%s: [", key);
    for (int i = 0; i < vd_sheet_rows(side) && i < most; i++) {
        vd_answer_group row = vd_sheet_row(side, i);
        vd_json_put(json, "{text: %s, probability: %.9g", vd_sheet_text(side, row.answer),
                    row.probability);
        if (side->folded)
            vd_json_put(json, "alike: %d", row.alike);
        vd_json_put(json, "}");
    }
    vd_json_put(json, "]");
}

static void emit_regions(yajl_gen json, const vd_sheet *sheet, const float *share, int regions)
{
    vd_json_put(json, "regions: [");
    for (int p = 0; p < regions && share; p++) {
        vd_json_put(json, "{number: %d", p + 1);
        if (sheet->names && p < sheet->regions)
            vd_json_put(json, "name: %s", sheet->names[p].text);
        vd_json_put(json, "box:");
        if (sheet->boxes && p < sheet->regions)
            vd_json_put_numbers(json, sheet->boxes + (size_t)4 * (size_t)p, 4);
        else
            vd_json_put(json, "null");
        vd_json_put(json, "weight: %.9g}", (double)share[p]);
    }
    vd_json_put(json, "]");
}

void vd_json_attention_name(yajl_gen json, const vd_attention *a)
{
    vd_json_put(json, "name: %s", a->name);
    if (a->of > 1)
        vd_json_put(json, "part: %s, index: %d, of: %d", a->part, a->index, a->of);
}

static void emit_rows(yajl_gen json, const vd_attention *a)
{
    for (int r = 0; r < a->rows; r++)
        vd_json_put_numbers(json, a->share + (size_t)r * (size_t)a->columns, (size_t)a->columns);
}

// Those of answer words are emitted with the answer.
static void emit_further(yajl_gen json, const vd_answer *answer)
{
    const vd_attention *a;
    bool any = false;
    for (int i = 0; (a = vd_answer_further(answer, i)); i++) {
        if (a->query == VD_AXIS_ANSWER_WORDS)
            continue;
        vd_json_put(json, any ? "{" : "further: [{");
        any = true;
        vd_json_attention_name(json, a);
        bool rows = a->query != VD_AXIS_QUESTIONS;
        if (rows)
            vd_json_put(json, "query: %s", vd_axis_name(a->query));
        vd_json_put(json, rows ? "key: %s, shares: [" : "key: %s, shares:", vd_axis_name(a->key));
        emit_rows(json, a);
        vd_json_put(json, rows ? "]}" : "}");
    }
    if (any)
        vd_json_put(json, "]");
}

// A row of shares of the dialog's words for each word of the given answer and its end, by layer.
static void emit_looks(yajl_gen json, const vd_reply *reply)
{
    const vd_answer *answer = &reply->answer;
    if (!vd_answer_attention(answer, VD_AXIS_ANSWER_WORDS, VD_AXIS_DIALOG_WORDS))
        return;
    vd_json_put(json, "given: %s, answer_words: [", reply->given);
    for (int i = 0; i < answer->attentions; i++) {
        const vd_attention *a = &answer->attention[i];
        if (a->query != VD_AXIS_ANSWER_WORDS || !a->share)
            continue;
        vd_json_put(json, "[");
        emit_rows(json, a);
        vd_json_put(json, "]");
    }
    vd_json_put(json, "]");
}

void vd_sheet_json_attention(yajl_gen json, const vd_sheet *sheet, int which)
{
    const vd_answer *answer = &sheet->side[which].reply->answer;
    const float *rounds = vd_answer_shares(answer, VD_AXIS_ENTRIES);
    vd_json_put(json, "attention: {rounds:");
    vd_json_put_numbers(json, rounds, rounds ? (size_t)answer->rounds : 0);
    emit_regions(json, sheet, vd_answer_shares(answer, VD_AXIS_REGIONS), answer->regions);
    vd_json_put(json, "words: [");
    for (int i = 0; i < answer->question_length && vd_word_share(answer, i) >= 0; i++)
        vd_json_put(json, "%.9g", vd_word_share(answer, i));
    vd_json_put(json, "]");
    emit_further(json, answer);
    emit_looks(json, sheet->side[which].reply);
    vd_json_put(json, "}");
}

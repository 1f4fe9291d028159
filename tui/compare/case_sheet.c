// One case in full: what the models made of one round of the data, as a sheet.
#include <glib.h>
#include <inttypes.h>

#include "engine/base/alloc.h"
#include "tui/compare/cases.h"

// ---- one model ----------------------------------------------------------------------------------

static vd_status make_pool(const vd_cases *cases, int side, const vd_answer_pool *answers,
                           vd_pool **out, vd_error *err)
{
    const vd_model *model = cases->model[side];
    int32_t *tokens = NULL, *lengths = NULL;
    vd_status status =
        vd_answer_pool_tokens(answers, vd_model_vocab(model), &tokens, &lengths, err);
    if (status == VD_OK)
        status = vd_pool_new(model, tokens, lengths, (int)answers->count, VD_MAX_CANDIDATE, NULL,
                             out, err);
    if (status == VD_OK)
        status = vd_pool_score_by(*out, cases->by[side], tokens, lengths, VD_MAX_CANDIDATE, err);
    vd_free(lengths);
    vd_free(tokens);
    return status;
}

static vd_status make_dialog(const vd_model *model, vd_oov_words *own, const vd_pool *pool,
                             const vd_case_sheet *from, vd_dialog **out, vd_error *err)
{
    int32_t ids[VD_MAX_HISTORY];
    int length = 0;
    vd_status status = vd_caption_ids(model, own, from->sheet.caption, ids, &length, err);
    if (status == VD_OK)
        status = vd_dialog_new(model, pool, from->regions.features, from->regions.count, ids,
                               length, out, err);
    for (int r = 0; r < from->sheet.rounds && status == VD_OK; r++) {
        const vd_turn *turn = &from->history[r];
        status = vd_turn_ids(model, own, turn->question, turn->answer, ids, &length, err);
        if (status == VD_OK)
            status = vd_dialog_append(*out, ids, length, err);
    }
    return status;
}

static vd_status answer_one(const vd_cases *cases, const vd_case *at, int side,
                            const atomic_int *stop, vd_case_sheet *out, vd_error *err)
{
    const vd_model *model = cases->model[side];
    const vd_answer_pool answers = {.answer = (char **)out->texts,
                                    .count = (size_t)vd_case_round(cases, at)->option_count};
    vd_reply *reply = &out->reply[side];
    vd_pool *pool = NULL;
    vd_dialog *dialog = NULL;
    vd_oov_words own = {.vocab = vd_model_vocab(model)};
    reply->typed = g_strdup(out->sheet.question);
    reply->question = g_strdup(out->sheet.question);
    vd_status status = vd_reply_see(reply, vd_model_vocab(model), err);
    if (status == VD_OK)
        status = vd_reply_number(reply, model, &own, err);
    if (status == VD_OK)
        status = make_pool(cases, side, &answers, &pool, err);
    if (status == VD_OK)
        status = make_dialog(model, &own, pool, out, &dialog, err);
    if (status == VD_OK)
        status = vd_dialog_ask(dialog, reply->ids, reply->words, stop, &reply->answer, err);
    if (status == VD_OK && vd_attends(vd_model_config(model)))
        reply->given = vd_generated_answer_text(&own, &reply->answer.given);
    vd_word_counts_clear(&own.more);
    vd_dialog_free(dialog);
    vd_pool_free(pool);
    return status;
}

// ---- the sheet ----------------------------------------------------------------------------------

static void borrow_texts(const vd_cases *cases, const vd_case *at, vd_case_sheet *out)
{
    const vd_visdial *data = cases->corpus->dialogs;
    const vd_visdial_dialog *dialog = vd_case_dialog(cases, at);
    const vd_visdial_round *round = vd_case_round(cases, at);
    out->history = g_new0(vd_turn, at->round);
    out->texts = g_new(const char *, round->option_count);
    for (int r = 0; r < at->round; r++) {
        const vd_visdial_round *before = &dialog->rounds[r];
        out->history[r].question = (char *)data->questions[before->question];
        out->history[r].answer = before->answer >= 0 ? (char *)data->answers[before->answer] : NULL;
    }
    for (int i = 0; i < round->option_count; i++)
        out->texts[i] = vd_case_option(cases, at, i);
}

void vd_case_sheet_judge(const vd_cases *cases, const vd_case *at, vd_right by, vd_case_sheet *out)
{
    vd_case_group group = vd_case_group_of(cases, at, by);
    vd_case_group_name(cases, group, out->group_name, sizeof out->group_name);
    out->sheet.group = vd_case_group_key(group);
    for (int i = 0; i < cases->models; i++) {
        out->sheet.side[i].judged = group != VD_CASE_UNKNOWN;
        out->sheet.side[i].right = vd_case_right(at, i, by);
    }
}

void vd_case_sheet_lay_out(const vd_cases *cases, const vd_case *at, vd_right by,
                           vd_case_sheet *out)
{
    *out = (vd_case_sheet){0};
    const vd_visdial_dialog *dialog = vd_case_dialog(cases, at);
    const vd_visdial_round *round = vd_case_round(cases, at);
    borrow_texts(cases, at, out);
    snprintf(out->id, sizeof out->id, "case-%" PRId64 "-%d", dialog->image_id, at->round + 1);
    snprintf(out->title, sizeof out->title, "Picture %" PRId64 ", round %d of %d", dialog->image_id,
             at->round + 1, dialog->round_count);
    out->sheet = (vd_sheet){
        .id = out->id,
        .title = out->title,
        .image_id = dialog->image_id,
        .caption = dialog->caption,
        .history = out->history,
        .rounds = at->round,
        .question = vd_case_question(cases, at),
        .human = vd_case_human(cases, at),
        .group_name = out->group_name,
        .family = round->family,
        .moved = (double)at->moved,
        .sides = cases->models,
    };
    for (int i = 0; i < cases->models; i++)
        out->sheet.side[i] = (vd_sheet_side){
            .model = cases->name[i],
            .reply = &out->reply[i],
            .texts = out->texts,
            .relevance = round->relevance,
            .human = round->truth,
            .human_rank = (double)at->side[i].rank,
            .chosen = -1,
        };
    vd_case_sheet_judge(cases, at, by, out);
}

vd_status vd_case_sheet_make(const vd_cases *cases, const vd_case *at, vd_right by,
                             const atomic_int *stop, vd_case_sheet *out, vd_error *err)
{
    vd_case_sheet_lay_out(cases, at, by, out);
    vd_status status =
        vd_picture_regions_read(cases->corpus->regions, out->sheet.image_id, &out->regions, err);
    out->sheet.boxes = out->regions.boxes;
    out->sheet.names = out->regions.names;
    out->sheet.regions = out->regions.count;
    for (int side = 0; side < cases->models && status == VD_OK; side++)
        status = answer_one(cases, at, side, stop, out, err);
    if (status)
        vd_case_sheet_clear(out);
    return status;
}

void vd_case_sheet_clear(vd_case_sheet *sheet)
{
    for (int side = 0; side < VD_MODELS; side++)
        vd_reply_clear(&sheet->reply[side]);
    vd_picture_regions_clear(&sheet->regions);
    g_free(sheet->history);
    g_free(sheet->texts);
    *sheet = (vd_case_sheet){0};
}

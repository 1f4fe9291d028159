#include <inttypes.h>

#include "engine/base/alloc.h"
#include "tui/compare/compare.h"

static vd_status borrow_texts(const vd_cases *cases, const vd_case *at, vd_case_sheet *out,
                              vd_error *err)
{
    const vd_visdial *data = cases->corpus->dialogs;
    const vd_visdial_dialog *dialog = vd_case_dialog(cases, at);
    const vd_visdial_round *round = vd_case_round(cases, at);
    out->said = vd_alloc((size_t)at->round, sizeof *out->said);
    out->texts = vd_alloc((size_t)round->option_count, sizeof *out->texts);
    if (!out->said || !out->texts)
        return vd_error_memory(err, "a case");
    for (int r = 0; r < at->round; r++) {
        const vd_visdial_round *before = &dialog->rounds[r];
        out->said[r].question = data->questions[before->question];
        out->said[r].answer = before->answer >= 0 ? data->answers[before->answer] : NULL;
    }
    for (int i = 0; i < round->option_count; i++)
        out->texts[i] = vd_case_option(cases, at, i);
    return VD_OK;
}

vd_status vd_case_sheet_make(const vd_cases *cases, const vd_case *at, vd_right by,
                             const atomic_int *stop, vd_case_sheet *out, vd_error *err)
{
    *out = (vd_case_sheet){0};
    const vd_visdial_dialog *dialog = vd_case_dialog(cases, at);
    const vd_visdial_round *round = vd_case_round(cases, at);
    vd_status status = vd_case_answer(cases, at, stop, &out->answers, err);
    if (status == VD_OK)
        status = borrow_texts(cases, at, out, err);
    if (status) {
        vd_case_sheet_clear(out);
        return status;
    }
    vd_case_group group = vd_case_group_of(cases, at, by);
    vd_case_group_name(cases, group, out->group_name, sizeof out->group_name);
    snprintf(out->id, sizeof out->id, "case-%" PRId64 "-%d", dialog->image_id, at->round + 1);
    snprintf(out->title, sizeof out->title, "Picture %" PRId64 ", round %d of %d", dialog->image_id,
             at->round + 1, dialog->round_count);
    out->sheet = (vd_sheet){
        .id = out->id,
        .title = out->title,
        .image_id = dialog->image_id,
        .boxes = out->answers.boxes,
        .regions = out->answers.regions,
        .caption = dialog->caption,
        .said = out->said,
        .rounds = at->round,
        .question = vd_case_question(cases, at),
        .human = vd_case_human(cases, at),
        .group = vd_case_group_key(group),
        .group_name = out->group_name,
        .family = round->family,
        .moved = (double)at->moved,
        .sides = cases->models,
    };
    for (int i = 0; i < cases->models; i++)
        out->sheet.side[i] = (vd_sheet_side){
            .model = cases->name[i],
            .reply = &out->answers.reply[i],
            .texts = out->texts,
            .relevance = round->relevance,
            .human = round->truth,
            .chosen = -1,
            .judged = group != VD_CASE_UNKNOWN,
            .right = vd_case_right(at, i, by),
        };
    return VD_OK;
}

void vd_case_sheet_clear(vd_case_sheet *sheet)
{
    vd_answers_clear(&sheet->answers);
    vd_free(sheet->said);
    vd_free(sheet->texts);
    *sheet = (vd_case_sheet){0};
}

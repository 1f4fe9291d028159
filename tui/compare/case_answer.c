// One case in full: the models' probabilities and attentions for one round of the data.
#include <string.h>

#include "engine/base/alloc.h"
#include "features/text/tokenize.h"
#include "tui/compare/cases.h"

// The most that the network sees of each, as in the evaluation.
enum { CUT_QUESTION = VD_MAX_QUESTION - 1, CUT_CAPTION = VD_MAX_HISTORY - 1 };

// ---- what the models share ----------------------------------------------------------------------

static vd_status read_regions(const vd_cases *cases, int64_t image_id, float **features,
                              vd_answers *out, vd_error *err)
{
    const vd_regions *file = cases->corpus->regions;
    size_t row, most = (size_t)vd_regions_max(file);
    vd_status status = vd_regions_find(file, image_id, &row, err);
    if (status)
        return status;
    *features = vd_alloc(most, sizeof **features * (size_t)vd_regions_size(file));
    if (vd_regions_has_boxes(file))
        out->boxes = vd_alloc(most, 4 * sizeof *out->boxes);
    if (!*features || (!out->boxes && vd_regions_has_boxes(file)))
        return vd_error_memory(err, "a picture's regions");
    out->regions = vd_regions_used(file, row);
    return vd_regions_read(file, row, *features, out->boxes, err);
}

// ---- one model ----------------------------------------------------------------------------------

static vd_status make_pool(const vd_cases *cases, const vd_case *at, int side, vd_pool **out,
                           vd_error *err)
{
    const vd_model *model = cases->model[side];
    int count = vd_case_round(cases, at)->option_count;
    int32_t *tokens = vd_alloc((size_t)count * VD_MAX_CANDIDATE, sizeof *tokens);
    int32_t *lengths = vd_alloc((size_t)count, sizeof *lengths);
    vd_status status = tokens && lengths ? VD_OK : vd_error_memory(err, "the candidates");
    for (int i = 0; i < count && status == VD_OK; i++)
        status = vd_answer_ids(vd_model_vocab(model), vd_case_option(cases, at, i),
                               VD_MAX_CANDIDATE, tokens + i * VD_MAX_CANDIDATE, &lengths[i], err);
    if (status == VD_OK)
        status = vd_pool_new(model, tokens, lengths, count, VD_MAX_CANDIDATE, NULL, out, err);
    if (status == VD_OK)
        status = vd_pool_score_by(*out, cases->by[side], tokens, lengths, VD_MAX_CANDIDATE, err);
    vd_free(lengths);
    vd_free(tokens);
    return status;
}

static vd_status append_round(vd_dialog *dialog, const vd_vocab *vocab, const char *question,
                              const char *answer, vd_error *err)
{
    int32_t asked[VD_MAX_QUESTION], said[VD_MAX_CANDIDATE], entry[VD_MAX_HISTORY];
    int asked_length = 0, said_length = 0;
    vd_status status =
        vd_question_ids(vocab, question, CUT_QUESTION, asked, &asked_length, NULL, err);
    if (status == VD_OK && answer)
        status = vd_answer_ids(vocab, answer, VD_CUT_CANDIDATE, said, &said_length, err);
    if (status)
        return status;
    int length = vd_history_entry(asked, asked_length, said, said_length, entry);
    return vd_dialog_append(dialog, entry, length, err);
}

static vd_status make_dialog(const vd_cases *cases, const vd_case *at, const vd_model *model,
                             const vd_pool *pool, const float *features, int regions,
                             vd_dialog **out, vd_error *err)
{
    const vd_visdial *data = cases->corpus->dialogs;
    const vd_visdial_dialog *dialog = vd_case_dialog(cases, at);
    const vd_vocab *vocab = vd_model_vocab(model);
    int32_t caption[VD_MAX_HISTORY];
    int length = 0;
    vd_status status =
        vd_text_ids(vocab, dialog->caption, CUT_CAPTION, caption, &length, NULL, err);
    if (status)
        return status;
    if (length == 0) // as in the evaluation
        caption[length++] = VD_UNKNOWN;
    status = vd_dialog_new(model, pool, features, regions, caption, length, out, err);
    for (int r = 0; r < at->round && status == VD_OK; r++) {
        const vd_visdial_round *round = &dialog->rounds[r];
        status = append_round(*out, vocab, data->questions[round->question],
                              round->answer >= 0 ? data->answers[round->answer] : NULL, err);
    }
    return status;
}

static vd_status answer_one(const vd_cases *cases, const vd_case *at, int side,
                            const float *features, int regions, const atomic_int *stop,
                            vd_reply *reply, vd_error *err)
{
    const vd_model *model = cases->model[side];
    vd_pool *pool = NULL;
    vd_dialog *dialog = NULL;
    reply->typed = vd_strdup(vd_case_question(cases, at));
    reply->question = vd_strdup(vd_case_question(cases, at));
    vd_status status = reply->typed && reply->question ? VD_OK : vd_error_memory(err, "a question");
    if (status == VD_OK)
        status = vd_reply_see(reply, vd_model_vocab(model), err);
    if (status == VD_OK)
        status = make_pool(cases, at, side, &pool, err);
    if (status == VD_OK)
        status = make_dialog(cases, at, model, pool, features, regions, &dialog, err);
    if (status == VD_OK)
        status = vd_dialog_ask(dialog, reply->ids, reply->words, stop, &reply->answer, err);
    vd_dialog_free(dialog);
    vd_pool_free(pool);
    return status;
}

vd_status vd_case_answer(const vd_cases *cases, const vd_case *at, const atomic_int *stop,
                         vd_answers *out, vd_error *err)
{
    *out = (vd_answers){0};
    float *features = NULL;
    vd_status status =
        read_regions(cases, vd_case_dialog(cases, at)->image_id, &features, out, err);
    for (int side = 0; side < cases->models && status == VD_OK; side++)
        status = answer_one(cases, at, side, features, out->regions, stop, &out->reply[side], err);
    vd_free(features);
    if (status)
        vd_answers_clear(out);
    return status;
}

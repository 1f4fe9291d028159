#include "engine/networks/network.h"

#include "engine/networks/boundaries.h"
#include "engine/networks/encoder.h"

vd_status vd_pass_geometry(vd_pass *pass, int dialogs, int rounds, int entries, vd_error *err)
{
    int n = dialogs * rounds;
    size_t starts = (size_t)dialogs + 1, size = 2 * (starts + (size_t)n);
    int *question = vd_arena_ints(pass->arena, size);
    if (!question)
        return vd_error_memory(err, "the batch's geometry");
    int *entry = question + starts, *dialog = entry + starts, *seen = dialog + n;
    for (int b = 0; b <= dialogs; b++) {
        question[b] = b * rounds;
        entry[b] = b * entries;
    }
    for (int k = 0; k < n; k++) {
        dialog[k] = k / rounds;
        seen[k] = entries - rounds + k % rounds + 1;
    }
    const int *at = vd_arena_upload(pass->arena, question, size, sizeof *question);
    if (!at)
        return vd_error_memory(err, "the batch's geometry");
    pass->span = (vd_geometry){.dialogs = dialogs,
                               .questions = n,
                               .most = entries,
                               .question_start = question,
                               .entry_start = entry,
                               .dialog = dialog,
                               .seen = seen,
                               .question = &pass->question_words,
                               .history = &pass->history_words,
                               .rows = {.question_start = at,
                                        .entry_start = at + (entry - question),
                                        .dialog = at + (dialog - question),
                                        .seen = at + (seen - question)}};
    return VD_OK;
}

vd_status vd_pass_texts(vd_pass *pass, const vd_texts *questions, const vd_texts *entries,
                        vd_error *err)
{
    const int32_t *ids = entries->ids, *lengths = entries->lengths;
    vd_status status = vd_packed_make(questions->ids, questions->lengths, questions->count,
                                      questions->width, pass->arena, &pass->question_words, err);
    if (status == VD_OK && pass->config->boundaries == VD_BOUNDARIES_NONE)
        status = vd_bare_texts(pass->arena, &ids, &lengths, NULL, entries->count, entries->width,
                               false, err);
    if (status == VD_OK)
        status = vd_packed_make(ids, lengths, entries->count, entries->width, pass->arena,
                                &pass->history_words, err);
    return status;
}

// The geometry of a batch, and its questions and history entries packed.
static vd_status lay_out(vd_pass *pass, const vd_batch *batch, vd_error *err)
{
    int n = batch->dialogs * batch->rounds;
    const vd_texts questions = {batch->question, batch->question_length, n, batch->question_width};
    const vd_texts entries = {batch->history, batch->history_length, n, batch->history_width};
    vd_texts own_questions = questions, own_entries = entries;
    if (batch->own.question && batch->own.history) {
        own_questions.ids = batch->own.question;
        own_entries.ids = batch->own.history;
    }
    vd_status status = vd_pass_geometry(pass, batch->dialogs, batch->rounds, batch->rounds, err);
    if (status == VD_OK)
        status = vd_pass_texts(pass, &questions, &entries, err);
    return status == VD_OK ? vd_source_ids(pass, &own_questions, &own_entries, err) : status;
}

static vd_status list_regions(vd_pass *pass, const vd_batch *batch, vd_error *err)
{
    int n = pass->span.questions, regions = batch->regions;
    size_t most = (size_t)n * (size_t)regions;
    pass->regions = regions;
    pass->image_rows = pass->span.dialogs * regions;
    int *row = vd_arena_ints(pass->arena, (size_t)pass->image_rows);
    int *from = vd_arena_ints(pass->arena, (size_t)pass->span.dialogs + 1);
    int *start = vd_arena_ints(pass->arena, (size_t)n + 1);
    int *question = vd_arena_ints(pass->arena, most);
    pass->row_image = vd_arena_ints(pass->arena, most);
    if (pass->arena->failed)
        return vd_error_memory(err, "the image");
    // A picture of nothing but padding: all its regions are alike, so the attention is uniform.
    vd_batch_regions(batch, pass->config->region, true, row, from);
    pass->real.row = row;
    pass->real.start = from;
    pass->rows = 0;
    for (int k = 0; k < n; k++) {
        int b = pass->span.dialog[k];
        start[k] = pass->rows;
        for (int r = from[b]; r < from[b + 1]; r++) {
            pass->row_image[pass->rows] = row[r];
            question[pass->rows++] = k;
        }
    }
    start[n] = pass->rows;
    pass->span.region_start = start;
    size_t k = (size_t)pass->rows;
    pass->span.rows.region_start =
        vd_arena_upload(pass->arena, start, (size_t)n + 1, sizeof *start);
    pass->rows_at.image = vd_arena_upload(pass->arena, pass->row_image, k, sizeof(int));
    pass->rows_at.question = vd_arena_upload(pass->arena, question, k, sizeof(int));
    return pass->arena->failed ? vd_error_memory(err, "the image") : VD_OK;
}

// One picture for each dialog.
static vd_batch batch_of(const vd_pass *pass, const float *image, int regions)
{
    return (vd_batch){.dialogs = pass->span.dialogs, .regions = regions, .image = image};
}

vd_status vd_pass_regions(vd_pass *pass, const float *image, int regions, vd_error *err)
{
    const vd_batch batch = batch_of(pass, image, regions);
    return list_regions(pass, &batch, err);
}

// A batch's pictures in pass->image; normalised there for MVAN.
static vd_status load_image(vd_pass *pass, const vd_batch *batch, vd_error *err)
{
    int region = pass->config->region;
    vd_status status = list_regions(pass, batch, err);
    if (status != VD_OK)
        return status;
    pass->image = vd_batch_image(batch, region, pass->be, pass->arena);
    if (!pass->image)
        return vd_error_memory(err, "the image");
    if (vd_is_fused(pass->config))
        pass->be->normalise_regions(pass->image, pass->image, batch->dialogs, batch->regions,
                                    region);
    return VD_OK;
}

vd_status vd_pass_image(vd_pass *pass, const float *image, int regions, vd_error *err)
{
    const vd_batch batch = batch_of(pass, image, regions);
    return load_image(pass, &batch, err);
}

// ---- stages -------------------------------------------------------------------------------------

static const struct {
    vd_stage *forward, *backward;
} stages[] = {
    {vd_context_matching_forward, vd_context_matching_backward},
    {vd_topic_aggregation_forward, vd_topic_aggregation_backward},
    {vd_topic_view_forward, vd_topic_view_backward},
    {vd_context_view_forward, vd_context_view_backward},
    {vd_fusion_forward, vd_fusion_backward},
};
static const size_t stage_count = sizeof stages / sizeof *stages;

vd_status vd_pass_answer(vd_pass *pass, vd_error *err)
{
    vd_status status = VD_OK;
    for (size_t i = 0; status == VD_OK && i < stage_count; i++)
        status = stages[i].forward(pass, err);
    return status;
}

// MVAN, once the words are packed and pass->image is there.
static vd_status encode_fused(vd_pass *pass, vd_error *err)
{
    vd_status status =
        vd_sentences_forward(pass, &pass->question, &pass->question_words, pass->w->question,
                             VD_SITE_QUESTION_WORDS, VD_SITE_QUESTION_LAYER, err);
    if (status == VD_OK)
        status = vd_sentences_forward(pass, &pass->history, &pass->history_words, pass->w->history,
                                      VD_SITE_HISTORY_WORDS, VD_SITE_HISTORY_LAYER, err);
    return status == VD_OK ? vd_pass_answer(pass, err) : status;
}

vd_status vd_network_encode(vd_network *net, const vd_batch *batch, vd_error *err)
{
    vd_pass *pass = &net->pass;
    net->batch = batch;
    vd_status status = vd_batch_check(batch, pass->config->vocab, err);
    if (status == VD_OK)
        status = lay_out(pass, batch, err);
    if (status == VD_OK)
        status = load_image(pass, batch, err);
    if (status == VD_OK)
        status = vd_is_fused(pass->config) ? encode_fused(pass, err) : vd_encoder_run(pass, err);
    return status == VD_OK ? vd_source_read(pass, err) : status;
}

vd_status vd_network_encode_backward(vd_network *net, vd_error *err)
{
    vd_pass *pass = &net->pass;
    vd_status status = VD_OK;
    if (pass->tape)
        return vd_tape_backward(pass->tape, err);
    for (size_t i = stage_count; status == VD_OK && i-- > 0;)
        status = stages[i].backward(pass, err);
    if (status == VD_OK)
        status = vd_sentences_backward(pass, &pass->history, pass->dw->history,
                                       VD_SITE_HISTORY_WORDS, err);
    if (status == VD_OK)
        status = vd_sentences_backward(pass, &pass->question, pass->dw->question,
                                       VD_SITE_QUESTION_WORDS, err);
    return status;
}

vd_status vd_network_scores(vd_network *net, const vd_batch *batch, vd_decoders by, float *scores,
                            vd_error *err)
{
    vd_decoders has = net->pass.config->decoders;
    vd_decoders other = has == VD_GENERATIVE ? VD_DISCRIMINATIVE : VD_GENERATIVE;
    if (by != has && has != VD_BOTH)
        return vd_error_set(err, VD_USAGE, "the model has no %s decoder, only a %s one",
                            vd_decoders_name(other), vd_decoders_name(has));
    vd_status status = vd_network_encode(net, batch, err);
    if (status == VD_OK && vd_has_generative(by))
        status = vd_generative_scores(net, scores, err);
    if (status == VD_OK && vd_has_discriminative(by))
        status = vd_discriminative_forward(net, err);
    if (status != VD_OK || !vd_has_discriminative(by))
        return status;
    size_t all = (size_t)net->pass.span.questions * (size_t)batch->candidates;
    float *products = scores;
    if (by == VD_BOTH && !(products = vd_arena_take(net->pass.arena, all, sizeof *products)))
        return vd_error_memory(err, "candidate scores");
    net->pass.be->read_floats(net->scores, products, all);
    for (size_t i = 0; i < all && by == VD_BOTH; i++)
        scores[i] = (scores[i] + products[i]) / 2;
    return vd_backend_status(net->pass.be, err);
}

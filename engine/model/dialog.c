#include "engine/model/dialog_private.h"

#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/base/token.h"

// f_v of the regions and the image's half of the topic view's first layer, once per picture.
static vd_status keep_image(vd_dialog *d, vd_error *err)
{
    const vd_config *c = &d->model->config;
    int wide = c->region + 2 * c->embed;
    size_t p = (size_t)d->regions, h = (size_t)c->hidden;
    vd_pass pass;
    d->f_image = vd_model_take(d->model, p * h, sizeof *d->f_image);
    d->view_half = vd_model_take(d->model, p * (size_t)wide, sizeof *d->view_half);
    if (!d->f_image || !d->view_half)
        return vd_error_memory(err, "the picture's features");
    vd_arena_reset(&d->arena);
    vd_model_pass(d->model, &d->arena, &pass);
    vd_status status = vd_pass_geometry(&pass, 1, 1, d->history.entries, err);
    if (status == VD_OK)
        status = vd_pass_image(&pass, d->image, d->regions, err);
    if (status == VD_OK)
        status = vd_gated_forward(&pass, &pass.view_image, &pass.w->view_image, pass.image,
                                  d->regions, c->region, VD_SITE_VIEW_IMAGE, err);
    if (status == VD_OK)
        status = vd_topic_view_half(&pass, err);
    if (status != VD_OK)
        return status;
    const vd_memory *memory = d->model->be->memory;
    memory->copy(d->f_image, pass.view_image.y, p * h * sizeof *d->f_image);
    memory->copy(d->view_half, pass.view_half, p * (size_t)wide * sizeof *d->view_half);
    return vd_backend_status(d->model->be, err);
}

vd_status vd_dialog_new(const vd_model *model, const vd_pool *pool, const float *image, int regions,
                        const int32_t *caption, int caption_length, vd_dialog **out, vd_error *err)
{
    const vd_config *c = &model->config;
    *out = NULL;
    if (regions < 1 || regions > 1000)
        return vd_error_set(err, VD_USAGE, "%d regions: expected 1 to 1000", regions);
    if (pool->model != model)
        return vd_error_set(err, VD_USAGE, "the answer pool was encoded by another model");
    vd_dialog *d = vd_alloc(1, sizeof *d);
    if (!d)
        return vd_error_memory(err, "the dialog");
    size_t numbers = (size_t)regions * (size_t)c->region;
    vd_status status = VD_OK;
    d->model = model;
    d->pool = pool;
    d->regions = regions;
    d->image = vd_alloc(numbers, sizeof *d->image);
    if (!d->image)
        status = vd_error_memory(err, "the picture's features");
    if (status == VD_OK) {
        memcpy(d->image, image, numbers * sizeof *image);
        status = vd_dialog_append(d, caption, caption_length, err);
    }
    if (status == VD_OK && vd_dialog_is_fused(d))
        status = keep_image(d, err);
    if (status == VD_OK)
        *out = d;
    else
        vd_dialog_free(d);
    return status;
}

void vd_dialog_free(vd_dialog *d)
{
    if (!d)
        return;
    vd_free(d->history.start);
    vd_free(d->history.id);
    vd_model_give(d->model, d->history.sentence.numbers);
    vd_model_give(d->model, d->history.matching.numbers);
    vd_model_give(d->model, d->history.embedding.numbers);
    vd_model_give(d->model, d->history.aggregation.numbers);
    vd_model_give(d->model, d->history.source.numbers);
    vd_model_give(d->model, d->memo_rows.numbers);
    vd_free(d->image);
    vd_model_give(d->model, d->f_image);
    vd_model_give(d->model, d->view_half);
    vd_arena_free(&d->arena);
    vd_free(d);
}

// ---- answer -------------------------------------------------------------------------------------

static vd_status allocate_answer(const vd_dialog *d, int length, vd_answer *a, vd_error *err)
{
    const vd_kept_history *k = &d->history;
    size_t o = (size_t)d->pool->count, r = (size_t)k->entries;
    *a = (vd_answer){.candidates = d->pool->count,
                     .rounds = k->entries,
                     .question_length = length,
                     .regions = d->regions};
    a->score = vd_alloc_raw(o * sizeof *a->score); // the ranking writes all of these
    a->probability = vd_alloc_raw(o * sizeof *a->probability);
    a->order = vd_alloc_raw(o * sizeof *a->order);
    a->history_start = vd_alloc(r + 1, sizeof *a->history_start);
    if (!a->score || !a->probability || !a->order || !a->history_start)
        return vd_error_memory(err, "the answer");
    for (int i = 0; i <= k->entries; i++)
        a->history_start[i] = k->start[i];
    return VD_OK;
}

// Whether the network reads a word of an entry that ends before `end` (boundaries.h).
static bool is_read(const vd_dialog *d, int word, int end)
{
    int32_t id = d->history.id[word];
    return d->model->config.boundaries == VD_BOUNDARIES_BOTH ||
           (id != VD_START && (id != VD_END || word == end - 1));
}

// entry: (entries) those that are seen.
static vd_status list_subsets(const vd_dialog *d, const vd_pass *pass, const int *entry,
                              int entries, int length, vd_axis_subsets *subsets, vd_error *err)
{
    const vd_kept_history *k = &d->history;
    int *word = vd_arena_ints(pass->arena, (size_t)k->words + (size_t)length), seen = 0;
    if (!word)
        return vd_error_memory(err, "the history");
    for (int s = 0; s < entries; s++)
        for (int j = k->start[entry[s]]; j < k->start[entry[s] + 1]; j++)
            if (is_read(d, j, k->start[entry[s] + 1]))
                word[seen++] = j;
    for (int j = 0; j < length; j++)
        word[seen++] = k->words + j;
    *subsets = (vd_axis_subsets){.count = {[VD_AXIS_QUESTIONS] = 1,
                                           [VD_AXIS_QUESTION_WORDS] = length,
                                           [VD_AXIS_ENTRIES] = k->entries,
                                           [VD_AXIS_HISTORY_WORDS] = k->words,
                                           [VD_AXIS_DIALOG_WORDS] = k->words + length,
                                           [VD_AXIS_REGIONS] = d->regions},
                                 .at = {[VD_AXIS_ENTRIES] = entry,
                                        [VD_AXIS_HISTORY_WORDS] = word,
                                        [VD_AXIS_DIALOG_WORDS] = word,
                                        [VD_AXIS_REGIONS] = pass->row_image}};
    return VD_OK;
}

static bool are_finite(const float *x, size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite &= isfinite(x[i]) != 0;
    return finite;
}

// Behind the attentions that the answer has.
static vd_status append_attentions(vd_answer *a, vd_attention *more, int count, vd_error *err)
{
    size_t had = (size_t)a->attentions;
    vd_attention *all = vd_grow(a->attention, had, had + (size_t)count, sizeof *all);
    if (!all) {
        vd_attentions_free(more, count);
        return vd_error_memory(err, "the attentions");
    }
    memcpy(all + had, more, (size_t)count * sizeof *all);
    vd_free(more);
    a->attention = all;
    a->attentions += count;
    return VD_OK;
}

// list: (count) of the pass; NULL: there was no memory for it.
static vd_status read_attentions(const vd_dialog *d, const vd_pass *pass,
                                 const vd_attention_at *list, int count,
                                 const vd_axis_subsets *subsets, vd_answer *a, vd_error *err)
{
    vd_attention *more;
    vd_real *there;
    size_t n = 0;
    vd_status status =
        list ? vd_attentions_gather(pass->be, pass->arena, list, count, &there, &n, err)
             : vd_error_memory(err, "the attentions");
    float *share = status == VD_OK ? vd_arena_take_raw(pass->arena, n, sizeof *share) : NULL;
    if (!share)
        return status ? status : vd_error_memory(err, "the attentions");
    pass->be->read_floats(there, share, n);
    status = vd_backend_status(pass->be, err);
    if (status != VD_OK)
        return status;
    if (!are_finite(share, n) || !are_finite(a->score, (size_t)a->candidates))
        return vd_error_set(err, VD_FORMAT,
                            "%.300s: it computes numbers that are not finite; its weights or the "
                            "pool's vectors are damaged, or its training diverged",
                            vd_model_path(d->model));
    status = vd_attentions_spread(list, count, share, subsets, &more, err);
    return status == VD_OK ? append_attentions(a, more, count, err) : status;
}

// ---- what the words of the answer look at -------------------------------------------------------

static vd_generated_answer given_answer(const vd_dialog *d, const vd_answer *a)
{
    const vd_pool *pool = d->pool;
    vd_generated_answer given = a->generated.beam[0];
    if (!vd_has_generative(pool->by) || !pool->tokens)
        return given;
    const int32_t *best = pool->tokens + (size_t)a->order[0] * (size_t)pool->width;
    given = (vd_generated_answer){.score = a->score[a->order[0]]};
    for (int i = 1; i < pool->lengths[a->order[0]] && best[i] != VD_END; i++)
        if (given.length < VD_MOST_WORDS)
            given.word[given.length++] = best[i];
    return given;
}

// Reads the given answer once more, for what its words look at.
static vd_status look_back(const vd_dialog *d, vd_pass *pass, const vd_axis_subsets *dialog,
                           vd_answer *a, vd_error *err)
{
    int32_t ids[VD_MAX_CANDIDATE] = {VD_START}, length = a->given.length + 1;
    int question = 0, count = 0;
    vd_axis_subsets subsets = *dialog;
    vd_given_answers given;
    memcpy(ids + 1, a->given.word, (size_t)a->given.length * sizeof *ids);
    vd_status status = vd_given_read(pass, &given, ids, &length, &question, 1, length, err);
    if (status != VD_OK)
        return status;
    subsets.count[VD_AXIS_ANSWER_WORDS] = length;
    const vd_attention_at *list = vd_tape_shown(given.attended.tape, "layer", &count);
    return read_attentions(d, pass, list, count, &subsets, a, err);
}

// shown: how many of the attentions are the network's; the others are what the answer's words look
// at.
static vd_status take_trace(const vd_dialog *d, const vd_pass *pass, const vd_axis_subsets *subsets,
                            int shown, const vd_answer *a, vd_trace *trace, vd_error *err)
{
    const vd_outcome outcome = {.attention = a->attention,
                                .attentions = shown,
                                .looks = a->attention + shown,
                                .look_count = a->attentions - shown,
                                .by = d->pool->by,
                                .answer = d->model->config.answer,
                                .copy = d->model->config.copy,
                                .candidates = a->candidates,
                                .score = a->score,
                                .probability = a->probability};
    return vd_trace_take(pass, subsets, &outcome, trace, err);
}

static vd_status rank_pool(const vd_dialog *d, vd_pass *pass, const atomic_int *stop, vd_answer *a,
                           vd_error *err)
{
    const vd_pool *pool = d->pool;
    int n = a->candidates;
    vd_real *z = vd_arena_reals(pass->arena, (size_t)n);
    int32_t *scratch = vd_arena_take_raw(pass->arena, 4 * (size_t)n, sizeof *scratch);
    float *product = vd_arena_take_raw(pass->arena, (size_t)n, sizeof *product);
    if (pass->arena->failed)
        return vd_error_memory(err, "the ranking");
    if (vd_has_discriminative(pool->by))
        pass->be->linear(pass->encoded, &pool->vectors, NULL, z, 1);
    if (vd_has_generative(pool->by)) {
        vd_status status = vd_pool_generative_scores(pass, pool->tokens, pool->lengths, n,
                                                     pool->width, stop, a->score, err);
        if (status != VD_OK)
            return status;
        if (pool->by == VD_BOTH)
            pass->be->read_floats(z, product, (size_t)n);
        for (int i = 0; i < n && pool->by == VD_BOTH; i++)
            a->score[i] = (a->score[i] + product[i]) / 2;
        pass->be->load_floats(a->score, z, (size_t)n);
    }
    pass->be->rank(z, n, a->score, a->probability, a->order, scratch);
    return VD_OK;
}

static vd_positions swapped(vd_positions positions)
{
    return positions == VD_POSITIONS_NONE ? VD_POSITIONS_SINUSOIDAL : VD_POSITIONS_NONE;
}

// The entries that are seen, by index: all but the dropped ones.
static vd_status list_entries(const vd_dialog *d, const vd_intervention *what_if, vd_pass *pass,
                              int **entry, int *count, vd_error *err)
{
    *entry = vd_arena_ints(pass->arena, (size_t)d->history.entries);
    *count = 0;
    if (!*entry)
        return vd_error_memory(err, "the history");
    for (int r = 0; r < d->history.entries; r++)
        if (!what_if->drop_entry || !what_if->drop_entry[r])
            (*entry)[(*count)++] = r;
    return *count > 0
               ? VD_OK
               : vd_error_set(err, VD_USAGE,
                              "no history entry is left (of %d): one must stay, the caption or a "
                              "round",
                              d->history.entries);
}

// The picture without the features that are left out. Rows of zeros are padding to the network:
// they take no part in the norm over the regions, and none in the attention.
static vd_status encode_masked(const vd_dialog *d, const vd_intervention *what_if, vd_pass *pass,
                               vd_error *err)
{
    size_t size = (size_t)d->model->config.region;
    float *image = vd_arena_take(pass->arena, (size_t)d->regions * size, sizeof *image);
    if (!image)
        return vd_error_memory(err, "the picture");
    for (int p = 0; p < d->regions; p++)
        if (!what_if->blank && !(what_if->mask_region && what_if->mask_region[p]))
            memcpy(image + (size_t)p * size, d->image + (size_t)p * size, size * sizeof *image);
    return vd_pass_image(pass, image, d->regions, err);
}

static vd_status use_kept_image(const vd_dialog *d, vd_pass *pass, vd_error *err)
{
    pass->view_image.y = d->f_image;
    pass->view_half = d->view_half;
    return vd_pass_regions(pass, d->image, d->regions, err);
}

// What is asked, and what of the dialog is seen.
typedef struct vd_request {
    const int32_t *question;
    int length;
    const vd_intervention *what_if;
    int *entry, entries;
    const atomic_int *stop;
} vd_request;

static vd_status run_fused(const vd_dialog *d, const vd_request *q, vd_pass *pass, vd_error *err)
{
    const vd_intervention *what_if = q->what_if;
    const vd_texts question = {q->question, &q->length, 1, q->length};
    vd_texts asked = question, entries;
    vd_status status = vd_pass_geometry(pass, 1, 1, q->entries, err);
    if (status == VD_OK)
        status = q->entries < d->history.entries || what_if->swap_positions
                     ? vd_dialog_encode_history(d, q->entry, q->entries, pass, err)
                     : vd_dialog_use_history(d, pass, err);
    if (status == VD_OK)
        status = what_if->blank || what_if->mask_region ? encode_masked(d, what_if, pass, err)
                                                        : use_kept_image(d, pass, err);
    if (status == VD_OK)
        status = vd_dialog_read_known(pass, &asked, err);
    if (status == VD_OK)
        status = vd_packed_make(asked.ids, &q->length, 1, q->length, pass->arena,
                                &pass->question_words, err);
    if (status == VD_OK && vd_copies(pass->config))
        status = vd_dialog_list_ids(d, q->entry, q->entries, pass, &entries, err);
    if (status == VD_OK && vd_copies(pass->config))
        status = vd_source_ids(pass, &question, &entries, err);
    if (status == VD_OK)
        status =
            vd_sentences_forward(pass, &pass->question, &pass->question_words, pass->w->question,
                                 VD_SITE_QUESTION_WORDS, VD_SITE_QUESTION_LAYER, err);
    if (status == VD_OK)
        status = vd_stopped(q->stop, err);
    if (status == VD_OK)
        status = vd_pass_answer(pass, err);
    return status == VD_OK ? vd_source_read(pass, err) : status;
}

// The questions of a dialog; those before this one are what stands before <S> in the entries after
// the first.
static vd_status list_questions(const vd_request *q, const vd_texts *entries, int rounds,
                                vd_arena *arena, vd_texts *out, vd_error *err)
{
    int32_t *ids = vd_arena_take(arena, (size_t)rounds * VD_MAX_QUESTION, sizeof *ids);
    int32_t *length = vd_arena_take(arena, (size_t)rounds, sizeof *length);
    if (arena->failed)
        return vd_error_memory(err, "the questions");
    for (int s = 0; s < rounds; s++) {
        bool last = s == rounds - 1;
        const int32_t *from =
            last ? q->question : entries->ids + (size_t)(s + 1) * (size_t)entries->width;
        int most = last ? q->length : entries->lengths[s + 1];
        most = most < VD_MAX_QUESTION ? most : VD_MAX_QUESTION;
        while (length[s] < most && (last || from[length[s]] != VD_START))
            length[s]++;
        memcpy(ids + (size_t)s * VD_MAX_QUESTION, from, (size_t)length[s] * sizeof *ids);
    }
    *out = (vd_texts){ids, length, rounds, VD_MAX_QUESTION};
    return VD_OK;
}

// The dialog as it is, and all of it.
static bool is_plain(const vd_dialog *d, const vd_request *q)
{
    const vd_intervention *w = q->what_if;
    return q->entries == d->history.entries && !w->mask_region && !w->blank && !w->swap_positions &&
           !(w->uniform && *w->uniform);
}

// What the pass made for the questions to come. Where there is no memory for it, they begin at the
// first round again.
static void keep_memo(vd_dialog *d, const vd_memo *now)
{
    vd_error err;
    vd_status status = VD_OK;
    if (now->width != d->memo.width) {
        vd_model_give(d->model, d->memo_rows.numbers);
        d->memo_rows = (vd_kept_rows){0};
    }
    for (int i = 0, at = now->known; i < now->values && status == VD_OK; i++) {
        int rows = now->value[i]->rows * now->value[i]->columns / now->width;
        status =
            vd_dialog_keep_rows(d, &d->memo_rows, at, rows, now->width, now->value[i]->x, &err);
        at += rows;
    }
    d->memo = *now;
    d->memo.numbers = d->memo_rows.numbers;
    d->memo.entries = status == VD_OK ? now->entries + now->made : 0;
    d->memo.value = NULL;
}

// Unknown words keep their numbers where they may be copied from.
static vd_status pack_texts(vd_pass *pass, vd_texts questions, vd_texts entries, vd_error *err)
{
    const vd_texts asked = questions, entry_texts = entries;
    vd_status status = vd_dialog_read_known(pass, &questions, err);
    if (status == VD_OK)
        status = vd_dialog_read_known(pass, &entries, err);
    if (status == VD_OK)
        status = vd_pass_texts(pass, &questions, &entries, err);
    return status == VD_OK ? vd_source_ids(pass, &asked, &entry_texts, err) : status;
}

// A network on the tape, from the words on.
static vd_status run_composed(const vd_dialog *d, const vd_request *q, vd_pass *pass, vd_error *err)
{
    int rounds = vd_encoder_of(pass->config)->reads_earlier ? q->entries : 1;
    vd_texts entries, questions;
    vd_status status = vd_pass_geometry(pass, 1, rounds, q->entries, err);
    if (status == VD_OK)
        status = vd_dialog_list_ids(d, q->entry, q->entries, pass, &entries, err);
    if (status == VD_OK)
        status = list_questions(q, &entries, rounds, pass->arena, &questions, err);
    if (status == VD_OK)
        status = pack_texts(pass, questions, entries, err);
    if (status == VD_OK)
        status = encode_masked(d, q->what_if, pass, err);
    if (status == VD_OK)
        status = vd_encoder_run(pass, err);
    if (status == VD_OK)
        status = vd_source_read(pass, err);
    if (status == VD_OK) { // the last question is the one that is asked
        pass->encoded += (size_t)(rounds - 1) * (size_t)pass->config->hidden;
        pass->source.first = rounds - 1;
    }
    return status;
}

static vd_status answer(vd_dialog *d, const int32_t *question, int length,
                        const vd_intervention *what_if, const atomic_int *stop, vd_answer *a,
                        vd_trace *trace, vd_error *err)
{
    static const vd_intervention nothing;
    vd_config config = d->model->config;
    vd_request q = {question, length, what_if ? what_if : &nothing, NULL, 0, stop};
    vd_memo memo = d->memo;
    vd_pass pass;
    vd_axis_subsets subsets;
    int shown = 0;
    vd_arena_reset(&d->arena);
    vd_model_pass(d->model, &d->arena, &pass);
    pass.uniform = q.what_if->uniform;
    if (q.what_if->swap_positions)
        config.positions = swapped(config.positions);
    pass.config = &config;

    vd_status status = list_entries(d, q.what_if, &pass, &q.entry, &q.entries, err);
    if (status == VD_OK && is_plain(d, &q))
        pass.memo = &memo;
    if (status == VD_OK)
        status =
            vd_dialog_is_fused(d) ? run_fused(d, &q, &pass, err) : run_composed(d, &q, &pass, err);
    if (status == VD_OK)
        status = vd_stopped(stop, err);
    if (status == VD_OK)
        status = allocate_answer(d, length, a, err);
    if (status == VD_OK)
        status = rank_pool(d, &pass, stop, a, err);
    if (status == VD_OK && vd_has_generative(config.decoders))
        status = vd_generate_answers(&pass, stop, &a->generated, err);
    if (status == VD_OK)
        status = list_subsets(d, &pass, q.entry, q.entries, length, &subsets, err);
    if (status == VD_OK) {
        const vd_attention_at *list = vd_pass_shown(&pass, &shown);
        status = read_attentions(d, &pass, list, shown, &subsets, a, err);
    }
    if (status == VD_OK && vd_attends(&config)) {
        a->given = given_answer(d, a);
        status = look_back(d, &pass, &subsets, a, err);
    }
    if (status == VD_OK && trace)
        status = take_trace(d, &pass, &subsets, shown, a, trace, err);
    if (status == VD_OK)
        status = vd_backend_status(pass.be, err);
    if (status == VD_OK && pass.memo)
        keep_memo(d, &memo);
    return status;
}

vd_status vd_dialog_ask_if(vd_dialog *dialog, const int32_t *question, int length,
                           const vd_intervention *what_if, const atomic_int *stop, vd_answer *out,
                           vd_trace *trace, vd_error *err)
{
    *out = (vd_answer){0};
    if (trace)
        *trace = (vd_trace){0};
    if (length < 1 || length >= VD_MAX_QUESTION ||
        !vd_dialog_ids_fit(question, length, &dialog->model->config))
        return vd_error_set(err, VD_USAGE,
                            "a question of %d tokens: expected 1 to %d, each below %d", length,
                            VD_MAX_QUESTION - 1, dialog->model->config.vocab);
    double from = vd_seconds();
    vd_status status = answer(dialog, question, length, what_if, stop, out, trace, err);
    double to = vd_seconds();
    if (status != VD_OK) {
        vd_answer_clear(out);
        if (trace)
            vd_trace_clear(trace);
        return status;
    }
    out->milliseconds = (to - from) * 1e3;
    return VD_OK;
}

vd_status vd_dialog_ask(vd_dialog *dialog, const int32_t *question, int length,
                        const atomic_int *stop, vd_answer *out, vd_error *err)
{
    return vd_dialog_ask_if(dialog, question, length, NULL, stop, out, NULL, err);
}

#include "engine/dialog.h"

#include <string.h>
#include <time.h>

#include "engine/alloc.h"
#include "engine/model_private.h"
#include "engine/network.h"
#include "engine/pool_private.h"

static bool ids_fit(const int32_t *ids, int count, int vocab)
{
    for (int i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= vocab)
            return false;
    return true;
}

// What is kept of the history: per entry and per word of all entries, in order.
typedef struct vd_kept_history {
    int entries, words;
    size_t entry_room, word_room;
    int *start;           // (entries + 1) first word of an entry
    vd_real *sentence;    // (entries, 2H)
    vd_real *matching;    // (entries, H) f_h of context matching
    vd_real *embedding;   // (words, E)
    vd_real *aggregation; // (words, H) f_h of topic aggregation
} vd_kept_history;

struct vd_dialog {
    const vd_model *model;
    const vd_pool *pool;
    vd_kept_history history;
    int regions;
    float *image;       // (P, D) as given
    vd_real *f_image;   // (P, H) f_v of the topic view
    vd_real *view_half; // (P, D+2E) W1's image half
    vd_arena arena;
};

static vd_status make_room(vd_dialog *d, int entries, int words, vd_error *err)
{
    vd_kept_history *k = &d->history;
    const vd_config *c = &d->model->config;
    size_t h = (size_t)c->hidden, e = (size_t)c->embed, had = (size_t)k->entries;
    struct {
        vd_real **memory;
        size_t used, size;
        bool per_entry;
    } part[] = {
        {&k->sentence, had, 2 * h * sizeof *k->sentence, true},
        {&k->matching, had, h * sizeof *k->matching, true},
        {&k->embedding, (size_t)k->words, e * sizeof *k->embedding, false},
        {&k->aggregation, (size_t)k->words, h * sizeof *k->aggregation, false},
    };
    size_t entry_room = k->entry_room, word_room = k->word_room;
    while (entry_room < (size_t)entries + 1)
        entry_room = entry_room ? 2 * entry_room : 16;
    while (word_room < (size_t)words)
        word_room = word_room ? 2 * word_room : 256;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        size_t room = part[i].per_entry ? entry_room : word_room;
        if (room == (part[i].per_entry ? k->entry_room : k->word_room))
            continue;
        vd_real *grown = vd_model_take(d->model, room, part[i].size);
        if (!grown)
            return vd_error_memory(err, "the history");
        d->model->be->memory->copy(grown, *part[i].memory, part[i].used * part[i].size);
        vd_model_give(d->model, *part[i].memory);
        *part[i].memory = grown;
    }
    if (entry_room != k->entry_room) {
        int *start = vd_grow(k->start, had + 1, entry_room, sizeof *start);
        if (!start)
            return vd_error_memory(err, "the history");
        k->start = start;
    }
    k->entry_room = entry_room;
    k->word_room = word_room;
    return VD_OK;
}

vd_status vd_dialog_append(vd_dialog *d, const int32_t *entry, int length, vd_error *err)
{
    const vd_config *c = &d->model->config;
    vd_kept_history *k = &d->history;
    size_t h = (size_t)c->hidden, e = (size_t)c->embed;
    if (length < 1 || length > VD_MAX_HISTORY || !ids_fit(entry, length, c->vocab))
        return vd_error_set(err, VD_USAGE,
                            "a history entry of %d tokens: expected 1 to %d, each below %d", length,
                            VD_MAX_HISTORY, c->vocab);
    vd_pass pass;
    vd_packed packed;
    vd_arena_reset(&d->arena);
    vd_model_pass(d->model, &d->arena, &pass);
    vd_status status = make_room(d, k->entries + 1, k->words + length, err);
    if (status == VD_OK)
        status = vd_packed_make(entry, &length, 1, length, &d->arena, &packed, err);
    if (status == VD_OK)
        status = vd_sentences_forward(&pass, &pass.history, &packed, pass.w->history,
                                      VD_SITE_HISTORY_WORDS, VD_SITE_HISTORY_LAYER, err);
    if (status == VD_OK)
        status =
            vd_gated_forward(&pass, &pass.context_history, &pass.w->context_history,
                             pass.history.sentence, 1, 2 * c->hidden, VD_SITE_CONTEXT_HISTORY, err);
    if (status == VD_OK)
        status = vd_gated_forward(&pass, &pass.topic_history, &pass.w->topic_history,
                                  pass.history.recurrent.y, length, 2 * c->hidden,
                                  VD_SITE_TOPIC_HISTORY, err);
    if (status != VD_OK)
        return status;
    size_t at = (size_t)k->entries, word = (size_t)k->words, n = (size_t)length;
    const vd_memory *memory = d->model->be->memory;
    memory->copy(k->sentence + at * 2 * h, pass.history.sentence, 2 * h * sizeof *k->sentence);
    memory->copy(k->matching + at * h, pass.context_history.y, h * sizeof *k->matching);
    memory->copy(k->embedding + word * e, pass.history.embedding, n * e * sizeof *k->embedding);
    memory->copy(k->aggregation + word * h, pass.topic_history.y, n * h * sizeof *k->aggregation);
    status = vd_backend_status(d->model->be, err);
    if (status != VD_OK)
        return status;
    k->words += length;
    k->start[++k->entries] = k->words;
    return VD_OK;
}

void vd_dialog_truncate(vd_dialog *dialog, int entries)
{
    if (entries < 1)
        entries = 1;
    if (entries < dialog->history.entries) {
        dialog->history.entries = entries;
        dialog->history.words = dialog->history.start[entries];
    }
}

int vd_dialog_entries(const vd_dialog *dialog)
{
    return dialog->history.entries;
}

// One question over everything said so far.
static vd_status make_span(vd_dialog *d, vd_pass *pass, vd_error *err)
{
    const vd_kept_history *k = &d->history;
    size_t size = 6 + (size_t)k->entries + 1;
    int *start = vd_arena_ints(pass->arena, size);
    if (!start)
        return vd_error_memory(err, "the question's geometry");
    start[1] = 1;          // question_start: 0, 1
    start[3] = k->entries; // entry_start: 0, entries
    start[5] = k->entries; // seen (dialog: start + 4 = 0)
    memcpy(start + 6, k->start, ((size_t)k->entries + 1) * sizeof *start);
    const int *at = vd_arena_upload(pass->arena, start, size, sizeof *start);
    if (!at)
        return vd_error_memory(err, "the question's geometry");
    pass->history_words = (vd_packed){
        .sequences = k->entries, .tokens = k->words, .start = start + 6, .rows = {.start = at + 6}};
    pass->span = (vd_span){
        .dialogs = 1,
        .questions = 1,
        .most = k->entries,
        .question_start = start,
        .entry_start = start + 2,
        .dialog = start + 4,
        .seen = start + 5,
        .question = &pass->question_words,
        .history = &pass->history_words,
        .rows = {.question_start = at, .entry_start = at + 2, .dialog = at + 4, .seen = at + 5}};
    return VD_OK;
}

// f_v of the regions and the image's half of the topic view's first layer, once per picture.
static vd_status keep_image(vd_dialog *d, vd_error *err)
{
    const vd_config *c = &d->model->config;
    int wide = c->region + 2 * c->embed;
    vd_pass pass;
    vd_arena_reset(&d->arena);
    vd_model_pass(d->model, &d->arena, &pass);
    vd_status status = make_span(d, &pass, err);
    if (status == VD_OK)
        status = vd_pass_image(&pass, d->image, d->regions, err);
    if (status == VD_OK)
        status = vd_gated_forward(&pass, &pass.view_image, &pass.w->view_image, pass.image,
                                  d->regions, c->region, VD_SITE_VIEW_IMAGE, err);
    if (status == VD_OK)
        status = vd_topic_view_half(&pass, err);
    if (status != VD_OK)
        return status;
    size_t p = (size_t)d->regions, h = (size_t)c->hidden;
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
    size_t p = (size_t)regions, wide = (size_t)c->region + 2 * (size_t)c->embed;
    vd_status status = VD_OK;
    d->model = model;
    d->pool = pool;
    d->regions = regions;
    d->image = vd_alloc(p * (size_t)c->region, sizeof *d->image);
    d->f_image = vd_model_take(model, p * (size_t)c->hidden, sizeof *d->f_image);
    d->view_half = vd_model_take(model, p * wide, sizeof *d->view_half);
    if (!d->image || !d->f_image || !d->view_half)
        status = vd_error_memory(err, "the picture's features");
    if (status == VD_OK) {
        memcpy(d->image, image, p * (size_t)c->region * sizeof *image);
        status = vd_dialog_append(d, caption, caption_length, err);
    }
    if (status == VD_OK)
        status = keep_image(d, err);
    if (status != VD_OK) {
        vd_dialog_free(d);
        return status;
    }
    *out = d;
    return VD_OK;
}

void vd_dialog_free(vd_dialog *d)
{
    if (!d)
        return;
    vd_free(d->history.start);
    vd_model_give(d->model, d->history.sentence);
    vd_model_give(d->model, d->history.matching);
    vd_model_give(d->model, d->history.embedding);
    vd_model_give(d->model, d->history.aggregation);
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
    size_t o = (size_t)d->pool->count, r = (size_t)k->entries, q = (size_t)length,
           p = (size_t)d->regions;
    *a = (vd_answer){.candidates = d->pool->count,
                     .rounds = k->entries,
                     .question_length = length,
                     .regions = d->regions};
    for (int i = 0; i < k->entries; i++)
        if (k->start[i + 1] - k->start[i] > a->history_width)
            a->history_width = k->start[i + 1] - k->start[i];
    a->score = vd_alloc(o, sizeof *a->score);
    a->probability = vd_alloc(o, sizeof *a->probability);
    a->order = vd_alloc(o, sizeof *a->order);
    a->history_length = vd_alloc(r, sizeof *a->history_length);
    a->context_attention = vd_alloc(r, sizeof *a->context_attention);
    a->topic_attention = vd_alloc(r * q * (size_t)a->history_width, sizeof *a->topic_attention);
    a->word_attention = vd_alloc(p * q, sizeof *a->word_attention);
    a->region_attention = vd_alloc(p, sizeof *a->region_attention);
    if (a->score && a->probability && a->order && a->history_length && a->context_attention &&
        a->topic_attention && a->word_attention && a->region_attention)
        return VD_OK;
    return vd_error_memory(err, "the answer");
}

static vd_status copy_attentions(const vd_dialog *d, const vd_pass *pass, vd_answer *a,
                                 vd_error *err)
{
    const vd_kept_history *k = &d->history;
    const vd_backend *be = pass->be;
    size_t q = (size_t)a->question_length, width = (size_t)a->history_width,
           words = (size_t)k->words, rows = (size_t)pass->rows;
    float *topic = vd_arena_take_raw(pass->arena, q * words, sizeof *topic);
    float *region = vd_arena_take_raw(pass->arena, rows, sizeof *region);
    if (pass->arena->failed)
        return vd_error_memory(err, "the answer");
    be->read_floats(pass->context, a->context_attention, (size_t)a->rounds);
    be->read_floats(pass->topic, topic, q * words);
    be->read_floats(pass->word, a->word_attention, (size_t)a->regions * q);
    be->read_floats(pass->region, region, rows);
    for (int r = 0; r < a->rounds; r++) {
        int first = k->start[r];
        a->history_length[r] = k->start[r + 1] - first;
        for (size_t i = 0; i < q; i++)
            memcpy(a->topic_attention + ((size_t)r * q + i) * width,
                   topic + i * words + (size_t)first, (size_t)a->history_length[r] * sizeof *topic);
    }
    for (size_t row = 0; row < rows; row++)
        a->region_attention[pass->row_image[row]] = region[row];
    return VD_OK;
}

static vd_status rank_pool(const vd_dialog *d, vd_pass *pass, vd_answer *a, vd_error *err)
{
    int n = a->candidates, h = d->model->config.hidden;
    vd_real *z = vd_arena_reals(pass->arena, (size_t)n);
    int32_t *other = vd_arena_take_raw(pass->arena, (size_t)n, sizeof *other);
    if (pass->arena->failed)
        return vd_error_memory(err, "the ranking");
    pass->be->gemm(false, true, 1, n, h, 1, pass->encoded, h, d->pool->vector, h, 0, z, n);
    pass->be->rank(z, n, a->score, a->probability, a->order, other);
    return VD_OK;
}

static vd_status stopped(const atomic_int *stop, vd_error *err)
{
    return stop && atomic_load(stop) ? vd_error_set(err, VD_INTERRUPTED, "stopped") : VD_OK;
}

static vd_status answer(vd_dialog *d, const int32_t *question, int length, const atomic_int *stop,
                        vd_answer *a, vd_error *err)
{
    vd_kept_history *k = &d->history;
    vd_pass pass;
    vd_arena_reset(&d->arena);
    vd_model_pass(d->model, &d->arena, &pass);
    vd_status status = make_span(d, &pass, err);
    if (status == VD_OK)
        status = vd_pass_regions(&pass, d->image, d->regions, err);
    if (status == VD_OK)
        status = vd_packed_make(question, &length, 1, length, &d->arena, &pass.question_words, err);
    if (status == VD_OK)
        status = vd_sentences_forward(&pass, &pass.question, &pass.question_words, pass.w->question,
                                      VD_SITE_QUESTION_WORDS, VD_SITE_QUESTION_LAYER, err);
    if (status == VD_OK)
        status = stopped(stop, err);
    pass.history.packed = &pass.history_words;
    pass.history.sentence = k->sentence;
    pass.history.embedding = k->embedding;
    pass.context_history.y = k->matching;
    pass.topic_history.y = k->aggregation;
    pass.view_image.y = d->f_image;
    pass.view_half = d->view_half;
    if (status == VD_OK)
        status = vd_pass_answer(&pass, err);
    if (status == VD_OK)
        status = stopped(stop, err);
    if (status == VD_OK)
        status = allocate_answer(d, length, a, err);
    if (status == VD_OK)
        status = rank_pool(d, &pass, a, err);
    if (status == VD_OK)
        status = copy_attentions(d, &pass, a, err);
    return status == VD_OK ? vd_backend_status(pass.be, err) : status;
}

vd_status vd_dialog_ask(vd_dialog *dialog, const int32_t *question, int length,
                        const atomic_int *stop, vd_answer *out, vd_error *err)
{
    struct timespec from, to;
    *out = (vd_answer){0};
    if (length < 1 || length >= VD_MAX_QUESTION ||
        !ids_fit(question, length, dialog->model->config.vocab))
        return vd_error_set(err, VD_USAGE,
                            "a question of %d tokens: expected 1 to %d, each below %d", length,
                            VD_MAX_QUESTION - 1, dialog->model->config.vocab);
    clock_gettime(CLOCK_MONOTONIC, &from);
    vd_status status = answer(dialog, question, length, stop, out, err);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (status != VD_OK) {
        vd_answer_clear(out);
        return status;
    }
    out->milliseconds =
        (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
    return VD_OK;
}

void vd_answer_clear(vd_answer *answer)
{
    vd_free(answer->score);
    vd_free(answer->probability);
    vd_free(answer->order);
    vd_free(answer->history_length);
    vd_free(answer->context_attention);
    vd_free(answer->topic_attention);
    vd_free(answer->word_attention);
    vd_free(answer->region_attention);
    *answer = (vd_answer){0};
}

static int cut(int length)
{
    return length < VD_MAX_QUESTION - 1 ? length : VD_MAX_QUESTION - 1;
}

int vd_history_entry(const int32_t *question, int question_length, const int32_t *answer,
                     int answer_length, int32_t entry[VD_MAX_HISTORY])
{
    int q = cut(question_length), a = cut(answer_length);
    memcpy(entry, question, (size_t)q * sizeof *entry);
    memcpy(entry + q, answer, (size_t)a * sizeof *entry);
    entry[q + a] = VD_END;
    return q + a + 1;
}

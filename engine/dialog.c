#include "engine/dialog.h"

#include <string.h>
#include <time.h>

#include "engine/alloc.h"
#include "engine/model_private.h"
#include "engine/network.h"

// ---- pool ---------------------------------------------------------------------------------------

struct vd_pool {
    const vd_model *model;
    int count;
    vd_real *vector; // (count, H)
};

// So many candidates are encoded at once: enough for fast products, little memory.
enum { POOL_PIECE = 1024 };

static vd_status encode_pool(vd_pool *pool, const int32_t *tokens, const int32_t *lengths,
                             int width, vd_arena *arena, vd_error *err)
{
    size_t h = (size_t)pool->model->config.hidden;
    for (int first = 0; first < pool->count; first += POOL_PIECE) {
        int n = pool->count - first < POOL_PIECE ? pool->count - first : POOL_PIECE;
        vd_pass pass;
        vd_text_pass text = {0};
        vd_packed packed;
        vd_arena_reset(arena);
        vd_model_pass(pool->model, arena, &pass);
        vd_status status = vd_packed_make(tokens + (size_t)first * (size_t)width, lengths + first,
                                          n, width, arena, &packed, err);
        if (status == VD_OK)
            status =
                vd_candidates_encode(&pass, &text, &packed, pool->vector + (size_t)first * h, err);
        if (status != VD_OK)
            return status;
    }
    return VD_OK;
}

static bool ids_fit(const int32_t *ids, int count, int vocab)
{
    for (int i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= vocab)
            return false;
    return true;
}

vd_status vd_pool_new(const vd_model *model, const int32_t *tokens, const int32_t *lengths,
                      int count, int width, vd_pool **out, vd_error *err)
{
    *out = NULL;
    if (count < 1)
        return vd_error_set(err, VD_USAGE, "a pool needs at least one answer");
    for (int i = 0; i < count; i++)
        if (lengths[i] < 0 || lengths[i] > width || lengths[i] > VD_MAX_CANDIDATE ||
            !ids_fit(tokens + (size_t)i * (size_t)width, lengths[i], model->config.vocab))
            return vd_error_set(err, VD_USAGE,
                                "answer %d of the pool has a length or token out of range", i);
    vd_pool *pool = vd_alloc(1, sizeof *pool);
    if (!pool)
        return vd_error_memory(err, "the answer pool");
    vd_arena arena = {0};
    vd_status status = VD_OK;
    pool->model = model;
    pool->count = count;
    pool->vector = vd_alloc((size_t)count * (size_t)model->config.hidden, sizeof *pool->vector);
    if (!pool->vector)
        status = vd_error_memory(err, "the answer pool's vectors");
    if (status == VD_OK)
        status = encode_pool(pool, tokens, lengths, width, &arena, err);
    vd_arena_free(&arena);
    if (status != VD_OK) {
        vd_pool_free(pool);
        return status;
    }
    *out = pool;
    return VD_OK;
}

void vd_pool_free(vd_pool *pool)
{
    if (pool)
        vd_free(pool->vector);
    vd_free(pool);
}

int vd_pool_count(const vd_pool *pool)
{
    return pool->count;
}

// ---- dialog -------------------------------------------------------------------------------------

// What is kept of the history: per entry and per word of all entries, in order.
typedef struct vd_kept_history {
    int entries, words;
    size_t entry_room, word_room;
    int *start;           // (entries + 1) first word of an entry
    int32_t *id;          // (words)
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
        void **memory;
        size_t used, size;
        bool per_entry;
    } part[] = {
        {(void **)&k->start, had + 1, sizeof *k->start, true},
        {(void **)&k->sentence, had, 2 * h * sizeof *k->sentence, true},
        {(void **)&k->matching, had, h * sizeof *k->matching, true},
        {(void **)&k->id, (size_t)k->words, sizeof *k->id, false},
        {(void **)&k->embedding, (size_t)k->words, e * sizeof *k->embedding, false},
        {(void **)&k->aggregation, (size_t)k->words, h * sizeof *k->aggregation, false},
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
        void *grown = vd_grow(*part[i].memory, part[i].used, room, part[i].size);
        if (!grown)
            return vd_error_memory(err, "the history");
        *part[i].memory = grown;
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
    memcpy(k->sentence + at * 2 * h, pass.history.sentence, 2 * h * sizeof *k->sentence);
    memcpy(k->matching + at * h, pass.context_history.y, h * sizeof *k->matching);
    memcpy(k->id + word, entry, n * sizeof *k->id);
    memcpy(k->embedding + word * e, pass.history.embedding, n * e * sizeof *k->embedding);
    memcpy(k->aggregation + word * h, pass.topic_history.y, n * h * sizeof *k->aggregation);
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
    int *start = vd_arena_ints(pass->arena, 8);
    if (!start)
        return vd_error_memory(err, "the question's geometry");
    start[1] = 1;          // question_start: 0, 1
    start[3] = k->entries; // entry_start: 0, entries
    start[5] = k->entries; // seen (dialog: start + 4 = 0)
    pass->history_words =
        (vd_packed){.sequences = k->entries, .tokens = k->words, .start = k->start, .id = k->id};
    pass->span = (vd_span){.dialogs = 1,
                           .questions = 1,
                           .most = k->entries,
                           .question_start = start,
                           .entry_start = start + 2,
                           .dialog = start + 4,
                           .seen = start + 5,
                           .question = &pass->question_words,
                           .history = &pass->history_words};
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
    memcpy(d->f_image, pass.view_image.y, p * h * sizeof *d->f_image);
    memcpy(d->view_half, pass.view_half, p * (size_t)wide * sizeof *d->view_half);
    return VD_OK;
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
    d->f_image = vd_alloc(p * (size_t)c->hidden, sizeof *d->f_image);
    d->view_half = vd_alloc(p * wide, sizeof *d->view_half);
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
    vd_free(d->history.id);
    vd_free(d->history.sentence);
    vd_free(d->history.matching);
    vd_free(d->history.embedding);
    vd_free(d->history.aggregation);
    vd_free(d->image);
    vd_free(d->f_image);
    vd_free(d->view_half);
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

static void copy_attentions(const vd_dialog *d, const vd_pass *pass, vd_answer *a)
{
    const vd_kept_history *k = &d->history;
    size_t q = (size_t)a->question_length, width = (size_t)a->history_width;
    for (int r = 0; r < a->rounds; r++) {
        int first = k->start[r];
        a->history_length[r] = k->start[r + 1] - first;
        a->context_attention[r] = (float)pass->context[r];
        for (size_t i = 0; i < q; i++)
            for (int j = 0; j < a->history_length[r]; j++)
                a->topic_attention[((size_t)r * q + i) * width + (size_t)j] =
                    (float)pass->topic[i * (size_t)k->words + (size_t)(first + j)];
    }
    for (size_t i = 0; i < (size_t)a->regions * q; i++)
        a->word_attention[i] = (float)pass->word[i];
    for (int row = 0; row < pass->rows; row++)
        a->region_attention[pass->row_image[row]] = (float)pass->region[row];
}

// Merge sort by falling score; stable, so that equal scores keep the pool's order.
static void sort_scores(const float *score, int32_t *order, int32_t *other, int n)
{
    if (n < 2)
        return;
    int half = n / 2, i = 0, j = half;
    sort_scores(score, order, other, half);
    sort_scores(score, order + half, other, n - half);
    memcpy(other, order, (size_t)n * sizeof *order);
    for (int k = 0; k < n; k++)
        order[k] =
            j >= n || (i < half && score[other[i]] >= score[other[j]]) ? other[i++] : other[j++];
}

static vd_status rank(const vd_dialog *d, vd_pass *pass, vd_answer *a, vd_error *err)
{
    int n = a->candidates, h = d->model->config.hidden;
    vd_real *z = vd_arena_reals(pass->arena, (size_t)n);
    int32_t *other = vd_arena_take(pass->arena, (size_t)n, sizeof *other);
    if (pass->arena->failed)
        return vd_error_memory(err, "the ranking");
    pass->be->gemm(false, true, 1, n, h, 1, pass->encoded, h, d->pool->vector, h, 0, z, n);
    for (int i = 0; i < n; i++) {
        a->score[i] = (float)z[i];
        a->order[i] = i;
    }
    pass->be->softmax(z, 1, n, n);
    for (int i = 0; i < n; i++)
        a->probability[i] = (float)z[i];
    sort_scores(a->score, a->order, other, n);
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
        status = rank(d, &pass, a, err);
    if (status == VD_OK)
        copy_attentions(d, &pass, a);
    return status;
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

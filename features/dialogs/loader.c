// A batch is built in three steps: sizes (widths, rounds, regions, distinct candidates), room, and
// the numbers. Candidates are found distinct by stamping the answer table: one look a candidate.
#include "features/dialogs/dataset.h"

#include <glib.h>

#include "engine/base/alloc.h"
#include "engine/base/prefetch.h"
#include "engine/model/dialog.h"
#include "engine/backend/packed.h"
#include "features/dialogs/store.h"
#include "features/dialogs/picture_cache.h"

// Where an answer of the table is among the distinct candidates of a batch.
typedef struct seen {
    uint32_t batch; // the last that offered it
    int32_t index;
} seen;

struct vd_loader {
    const vd_dataset *set;
    vd_arena arena;              // of the batch
    int32_t *distinct;           // answers of its distinct candidates, in the arena
    seen *answers;               // (answer_count)
    uint32_t now;                // number of this batch
    const vd_candidates *shared; // NULL: each batch has its own
    vd_picture_cache *kept;      // has the pictures, borrowed; NULL: they are read
    vd_batch batch;
};

static const vd_dataset_view plain;

vd_status vd_loader_new(const vd_dataset *dataset, vd_loader **out, vd_error *err)
{
    *out = NULL;
    vd_loader *loader = vd_alloc(1, sizeof *loader);
    if (!loader)
        return vd_error_memory(err, "a loader");
    loader->set = dataset;
    loader->answers = vd_alloc(dataset->dialogs->answer_count, sizeof *loader->answers);
    if (!loader->answers) {
        vd_loader_free(loader);
        return vd_error_memory(err, "a loader");
    }
    *out = loader;
    return VD_OK;
}

void vd_loader_free(vd_loader *loader)
{
    if (!loader)
        return;
    vd_arena_free(&loader->arena);
    vd_free(loader->answers);
    vd_free(loader);
}

static void *room(vd_loader *loader, size_t count, size_t size)
{
    return vd_arena_take_raw(&loader->arena, count, size);
}

static int32_t *zeros(vd_loader *loader, size_t count)
{
    return vd_arena_take(&loader->arena, count, sizeof(int32_t));
}

// Texts of `count` tokens as networks read them: unknown words as <UNK>.
static const int32_t *known(vd_loader *loader, const int32_t *own, size_t count)
{
    int32_t *at = room(loader, count, sizeof *at);
    if (!at)
        return NULL;
    memcpy(at, own, count * sizeof *at);
    vd_batch_known(at, count, loader->set->vocab);
    return at;
}

// ---- sizes ------------------------------------------------------------------

static void measure(vd_loader *loader, const size_t *dialogs, size_t count)
{
    const vd_dataset *set = loader->set;
    vd_batch *batch = &loader->batch;
    vd_arena_reset(&loader->arena);
    *batch = (vd_batch){.dialogs = (int)count, .candidates = set->candidates};
    for (size_t b = 0; b < count; b++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(set, dialogs[b]);
        batch->rounds = MAX(batch->rounds, dialog->round_count);
        for (int32_t r = 0; r < dialog->round_count; r++)
            batch->question_width =
                MAX(batch->question_width,
                    set->tokens[VD_QUESTIONS].length[dialog->rounds[r].question]);
    }
}

// ---- numbers ----------------------------------------------------------------

static vd_status read_images(vd_loader *loader, const size_t *rows, size_t count, vd_error *err)
{
    const vd_regions *regions = loader->set->regions;
    size_t all = (size_t)regions->max, size = (size_t)regions->size;
    size_t used = (size_t)loader->batch.regions;
    float *image = room(loader, count * used * size, sizeof *image);
    float *picture = room(loader, all * size, sizeof *picture);
    if (!image || !picture)
        return vd_error_memory(err, "the pictures of a batch");
    for (size_t b = 0; b < count; b++) {
        float *to = image + b * used * size;
        vd_status status = vd_regions_read(regions, rows[b], used == all ? to : picture, NULL, err);
        if (status != VD_OK)
            return status;
        if (used != all)
            memcpy(to, picture, used * size * sizeof *to);
    }
    loader->batch.image = image;
    return VD_OK;
}

static vd_status keep_images(vd_loader *loader, const size_t *rows, size_t count, vd_error *err)
{
    int32_t *kept = room(loader, count, sizeof *kept);
    uint8_t *real = room(loader, count * (size_t)loader->batch.regions, sizeof *real);
    if (!kept || !real)
        return vd_error_memory(err, "the pictures of a batch");
    return vd_picture_cache_batch(loader->kept, rows, count, &loader->batch, kept, real, err);
}

static vd_status fill_images(vd_loader *loader, const size_t *dialogs, size_t count, bool other,
                             vd_error *err)
{
    const vd_dataset *set = loader->set;
    vd_batch *batch = &loader->batch;
    size_t total = set->dialogs->dialog_count;
    size_t *rows = room(loader, count, sizeof *rows);
    if (!rows)
        return vd_error_memory(err, "the pictures of a batch");
    for (size_t b = 0; b < count; b++) {
        rows[b] = set->row[other ? (dialogs[b] + 1) % total : dialogs[b]];
        batch->regions = MAX(batch->regions, set->regions->used[rows[b]]);
    }
    return loader->kept ? keep_images(loader, rows, count, err)
                        : read_images(loader, rows, count, err);
}

static vd_status fill_questions(vd_loader *loader, const size_t *dialogs, size_t count,
                                vd_error *err)
{
    const vd_dataset *set = loader->set;
    vd_batch *batch = &loader->batch;
    size_t rounds = (size_t)batch->rounds, width = (size_t)batch->question_width;
    int32_t *question = zeros(loader, count * rounds * width);
    int32_t *length = zeros(loader, count * rounds);
    if (!question || !length)
        return vd_error_memory(err, "the questions of a batch");
    for (size_t b = 0; b < count; b++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(set, dialogs[b]);
        for (size_t r = 0; r < (size_t)dialog->round_count; r++) {
            size_t row = b * rounds + r, index = (size_t)dialog->rounds[r].question;
            length[row] = set->tokens[VD_QUESTIONS].length[index];
            memcpy(question + row * width, vd_sequence(&set->tokens[VD_QUESTIONS], index),
                   (size_t)length[row] * sizeof *question);
        }
    }
    batch->own.question = question;
    batch->question = known(loader, question, count * rounds * width);
    batch->question_length = length;
    return batch->question ? VD_OK : vd_error_memory(err, "the questions of a batch");
}

static int history_entry(const vd_loader *loader, size_t index, int32_t r, bool none,
                         int32_t out[VD_MAX_HISTORY])
{
    const vd_dataset *set = loader->set;
    if (none) {
        out[0] = VD_UNKNOWN;
        return 1;
    }
    if (r == 0) {
        int length = set->tokens[VD_CAPTIONS].length[index];
        memcpy(out, vd_sequence(&set->tokens[VD_CAPTIONS], index), (size_t)length * sizeof *out);
        return length;
    }
    int32_t answer[VD_MAX_CANDIDATE];
    const vd_visdial_round *before = &vd_dataset_dialog(set, index)->rounds[r - 1];
    const vd_token_table *questions = &set->tokens[VD_QUESTIONS];
    int length = before->answer >= 0 ? vd_wrap_answer(set, before->answer, answer) : 0;
    return vd_history_entry(vd_sequence(questions, (size_t)before->question),
                            questions->length[before->question], answer, length, out);
}

static vd_status fill_history(vd_loader *loader, const size_t *dialogs, size_t count, bool none,
                              vd_error *err)
{
    vd_batch *batch = &loader->batch;
    size_t rounds = (size_t)batch->rounds;
    // At full width first; the batch's own width is known afterwards, and rows move up to it.
    int32_t *history = zeros(loader, count * rounds * VD_MAX_HISTORY);
    int32_t *length = zeros(loader, count * rounds);
    if (!history || !length)
        return vd_error_memory(err, "the history of a batch");
    for (size_t b = 0; b < count; b++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(loader->set, dialogs[b]);
        for (int32_t r = 0; r < dialog->round_count; r++) {
            size_t row = b * rounds + (size_t)r;
            length[row] =
                history_entry(loader, dialogs[b], r, none, history + row * VD_MAX_HISTORY);
            batch->history_width = MAX(batch->history_width, length[row]);
        }
    }
    size_t width = (size_t)batch->history_width;
    for (size_t i = 1; i < count * rounds; i++)
        memmove(history + i * width, history + i * VD_MAX_HISTORY, width * sizeof *history);
    batch->own.history = history;
    batch->history = known(loader, history, count * rounds * width);
    batch->history_length = length;
    return batch->history ? VD_OK : vd_error_memory(err, "the history of a batch");
}

// Answers lie anywhere in large tables: they are prefetched so many candidates earlier.
enum { SOON = 16 };

// Numbers the distinct candidates of the batch as they come; distinct gets their answers.
static int number_candidates(vd_loader *loader, const vd_visdial_round *round, int count,
                             int32_t *distinct, int32_t *option)
{
    for (int32_t i = 0; i < round->option_count; i++) {
        int32_t answer = round->options[i];
        if (i + SOON < round->option_count)
            __builtin_prefetch(&loader->answers[round->options[i + SOON]], 1);
        seen *s = &loader->answers[answer];
        if (s->batch != loader->now) {
            *s = (seen){loader->now, count};
            distinct[count++] = answer;
        }
        option[i] = s->index;
    }
    return count;
}

static vd_status look_up_candidates(const vd_candidates *shared, const vd_visdial_round *round,
                                    int32_t *option, vd_error *err)
{
    for (int32_t i = 0; i < round->option_count; i++) {
        option[i] = shared->index[round->options[i]];
        if (option[i] < 0)
            return vd_error_set(err, VD_USAGE,
                                "answer %d is not among the candidates that the batches share",
                                (int)round->options[i]);
    }
    return VD_OK;
}

static vd_status fill_options(vd_loader *loader, const size_t *dialogs, size_t count, vd_error *err)
{
    const vd_dataset *set = loader->set;
    vd_batch *batch = &loader->batch;
    size_t rounds = (size_t)batch->rounds, candidates = (size_t)batch->candidates;
    int32_t *option = zeros(loader, count * rounds * candidates);
    int32_t *truth = zeros(loader, count * rounds);
    int32_t *distinct = room(loader, count * rounds * candidates, sizeof *distinct);
    vd_status status = VD_OK;
    if (!option || !truth || !distinct)
        return vd_error_memory(err, "the options of a batch");
    if (++loader->now == 0) {
        memset(loader->answers, 0, set->dialogs->answer_count * sizeof *loader->answers);
        loader->now = 1;
    }
    for (size_t i = 0; i < count * rounds; i++)
        truth[i] = -1;
    for (size_t b = 0; b < count; b++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(set, dialogs[b]);
        for (size_t r = 0; status == VD_OK && r < (size_t)dialog->round_count; r++) {
            size_t row = b * rounds + r;
            const vd_visdial_round *round = &dialog->rounds[r];
            truth[row] = round->truth;
            if (loader->shared)
                status = look_up_candidates(loader->shared, round, option + row * candidates, err);
            else
                batch->distinct = number_candidates(loader, round, batch->distinct, distinct,
                                                    option + row * candidates);
        }
    }
    batch->option = option;
    batch->truth = truth;
    loader->distinct = distinct;
    return status;
}

// Of rounds that are annotated; without any the batch has none.
static vd_status fill_relevance(vd_loader *loader, const size_t *dialogs, size_t count,
                                vd_error *err)
{
    vd_batch *batch = &loader->batch;
    size_t rounds = (size_t)batch->rounds, candidates = (size_t)batch->candidates;
    float *relevance = NULL;
    for (size_t b = 0; b < count; b++) {
        const vd_visdial_dialog *dialog = vd_dataset_dialog(loader->set, dialogs[b]);
        for (size_t r = 0; r < (size_t)dialog->round_count; r++) {
            const vd_visdial_round *round = &dialog->rounds[r];
            if (!round->relevance)
                continue;
            if (!relevance)
                relevance =
                    vd_arena_take(&loader->arena, count * rounds * candidates, sizeof *relevance);
            if (!relevance)
                return vd_error_memory(err, "the relevance of a batch");
            memcpy(relevance + (b * rounds + r) * candidates, round->relevance,
                   (size_t)round->option_count * sizeof *relevance);
        }
    }
    batch->relevance = relevance;
    return VD_OK;
}

static void show_candidates(vd_batch *batch, const vd_candidates *candidates)
{
    batch->distinct = candidates->count;
    batch->candidate_width = candidates->width;
    batch->candidate = candidates->tokens;
    batch->candidate_length = candidates->length;
    batch->candidate_in = candidates->generated_in;
    batch->candidate_out = candidates->generated_out;
    batch->own.candidate_in = candidates->own_in;
    batch->own.candidate_out = candidates->own_out;
    batch->candidate_order = NULL;
}

// The network computes what sorted candidates begin with alike once; sorting here, on the loader's
// thread, does not delay it.
static vd_status sort_candidates(vd_loader *loader, vd_error *err)
{
    vd_batch *b = &loader->batch;
    int *order = room(loader, (size_t)b->distinct, sizeof *order);
    b->candidate_order = order;
    return order ? vd_packed_sort(b->candidate, b->candidate_length, b->candidate_width,
                                  b->distinct, order, err)
                 : vd_error_memory(err, "the candidates of a batch");
}

static vd_status fill_candidates(vd_loader *loader, vd_error *err)
{
    const vd_dataset *set = loader->set;
    const vd_token_table *answers = &set->tokens[VD_ANSWERS];
    const int32_t *distinct = loader->distinct;
    size_t count = (size_t)loader->batch.distinct;
    vd_candidates own = {.count = (int)count};
    for (size_t u = 0; u < count; u++) {
        if (u + SOON < count) {
            __builtin_prefetch(&answers->first[distinct[u + SOON]]);
            __builtin_prefetch(&answers->length[distinct[u + SOON]]);
        }
        own.width = MAX(own.width, vd_wrapped_length(set, distinct[u]));
    }
    if (!vd_candidates_room(&own, &loader->arena))
        return vd_error_memory(err, "the candidates of a batch");
    for (size_t u = 0; u < count; u++) {
        if (u + SOON < count)
            __builtin_prefetch(vd_sequence(answers, (size_t)distinct[u + SOON]));
        vd_candidate_fill(set, distinct[u], (int)u, &own);
    }
    show_candidates(&loader->batch, &own);
    return sort_candidates(loader, err);
}

void vd_loader_share(vd_loader *loader, const vd_candidates *candidates)
{
    loader->shared = candidates;
}

vd_status vd_loader_batch(vd_loader *loader, const size_t *dialogs, size_t count,
                          const vd_dataset_view *view, const vd_batch **out, vd_error *err)
{
    *out = NULL;
    size_t total = loader->set->dialogs->dialog_count;
    view = view ? view : &plain;
    if (count == 0 || count > INT32_MAX)
        return vd_error_set(err, VD_USAGE, "a batch of %zu dialogs; expected 1 or more", count);
    for (size_t b = 0; b < count; b++) {
        if (dialogs[b] >= total)
            return vd_error_set(err, VD_USAGE, "dialog %zu of %zu was asked for", dialogs[b],
                                total);
        vd_status fits = vd_visdial_check_options(loader->set->dialogs, dialogs[b], err);
        if (fits != VD_OK)
            return fits;
    }
    if (view->other_image && total < 2)
        return vd_error_set(err, VD_USAGE,
                            "with one dialog there is no other picture to show; 2 are needed");
    measure(loader, dialogs, count);
    vd_status status = fill_images(loader, dialogs, count, view->other_image, err);
    if (status == VD_OK)
        status = fill_questions(loader, dialogs, count, err);
    if (status == VD_OK)
        status = fill_history(loader, dialogs, count, view->no_history, err);
    if (status == VD_OK)
        status = fill_options(loader, dialogs, count, err);
    if (status == VD_OK)
        status = fill_relevance(loader, dialogs, count, err);
    if (status == VD_OK && loader->shared)
        show_candidates(&loader->batch, loader->shared);
    else if (status == VD_OK)
        status = fill_candidates(loader, err);
    if (status == VD_OK)
        *out = &loader->batch;
    return status;
}

// ---- the next batch while one is used -----------------------------------------------------------
// Two loaders alternate: one holds the batch that is being used, the other prefetches the next one.

enum { SLOTS = VD_DATA_LOADER_BATCHES };

// What came of one batch.
typedef struct prepared {
    vd_loader *loader;
    const vd_batch *batch;
    vd_status status;
    vd_error err;
} prepared;

struct vd_data_loader {
    vd_data_loader_plan plan;
    void *context;
    prepared slot[SLOTS];
    vd_prefetch *prefetch;
};

// False when batch n was the last.
static bool prepare(void *context, size_t n, size_t slot)
{
    vd_data_loader *loader = context;
    prepared *p = &loader->slot[slot];
    const size_t *dialogs;
    p->batch = NULL;
    p->status = VD_OK;
    size_t count = loader->plan(loader->context, n, &dialogs);
    if (count > 0)
        p->status = vd_loader_batch(p->loader, dialogs, count, NULL, &p->batch, &p->err);
    return count > 0 && p->status == VD_OK;
}

vd_status vd_data_loader_new(const vd_dataset *dataset, vd_data_loader_plan plan, void *context,
                             vd_picture_cache *cache, vd_data_loader **out, vd_error *err)
{
    *out = NULL;
    vd_data_loader *loader = vd_alloc(1, sizeof *loader);
    if (!loader)
        return vd_error_memory(err, "prefetched batches");
    loader->plan = plan;
    loader->context = context;
    vd_status status = VD_OK;
    for (int i = 0; status == VD_OK && i < SLOTS; i++) {
        status = vd_loader_new(dataset, &loader->slot[i].loader, err);
        if (status == VD_OK)
            loader->slot[i].loader->kept = cache;
    }
    if (status == VD_OK)
        status = vd_prefetch_new(SLOTS, prepare, loader, &loader->prefetch, err);
    if (status == VD_OK)
        *out = loader;
    else
        vd_data_loader_free(loader);
    return status;
}

vd_status vd_data_loader_next(vd_data_loader *loader, const vd_batch **out, vd_error *err)
{
    const prepared *p = &loader->slot[vd_prefetch_next(loader->prefetch)];
    *out = p->batch;
    return p->status ? vd_error_set(err, p->status, "%s", p->err.text) : VD_OK;
}

void vd_data_loader_free(vd_data_loader *loader)
{
    if (!loader)
        return;
    vd_prefetch_free(loader->prefetch);
    for (int i = 0; i < SLOTS; i++)
        vd_loader_free(loader->slot[i].loader);
    vd_free(loader);
}

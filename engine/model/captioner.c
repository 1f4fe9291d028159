#include "engine/model/captioner_private.h"

#include <math.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/elementary.h"
#include "engine/base/rng.h"

static const uint64_t LOOKS = 0x6c6f6f6b; // stream of draws

vd_status vd_captioner_load(const char *path, vd_captioner **out, vd_error *err)
{
    *out = NULL;
    vd_captioner *captioner = vd_alloc(1, sizeof *captioner);
    if (!captioner)
        return vd_error_memory(err, "the captioner");
    vd_status status = vd_model_load_for(VD_TASK_CAPTION, path, &captioner->model, err);
    if (status == VD_OK)
        *out = captioner;
    else
        vd_captioner_free(captioner);
    return status;
}

void vd_captioner_free(vd_captioner *captioner)
{
    if (!captioner)
        return;
    vd_arena_free(&captioner->arena);
    vd_model_free(captioner->model);
    vd_free(captioner);
}

vd_status vd_captioner_look(vd_captioner *captioner, vd_hard how, uint64_t seed, vd_error *err)
{
    const vd_caption_config *config = &captioner->model->config.caption;
    if (how > VD_HARD_LARGEST && !vd_caption_is_hard(config))
        return vd_error_set(err, VD_USAGE,
                            "%s: its captioner is %s; expected sat-hard, which looks at one region",
                            vd_model_path(captioner->model), vd_captioner_names[config->captioner]);
    captioner->hard = how;
    captioner->seed = seed;
    return VD_OK;
}

static vd_status check_no_history(const vd_caption_config *c, vd_error *err)
{
    vd_caption_history history = vd_caption_history_of(c);
    const char *kind = vd_captioner_names[c->captioner];
    if (history == VD_HISTORY_NONE)
        return vd_error_set(err, VD_USAGE,
                            "this captioner (%s) has no history to leave out; only one trained "
                            "with a history has",
                            kind);
    if (history == VD_HISTORY_ONLY)
        return vd_error_set(err, VD_USAGE,
                            "the history is left out of a captioner (%s) that looks again at "
                            "nothing else; expected one that sees the regions, too",
                            kind);
    return VD_OK;
}

// *image: the same with rows of zeros, which are no regions, for those left out.
static vd_status leave_out(vd_arena *arena, const bool *mask, int regions, int size,
                           const float **image, vd_error *err)
{
    int left = 0;
    size_t each = (size_t)size;
    float *copy = vd_arena_take(arena, (size_t)regions * each, sizeof *copy);
    if (!copy)
        return vd_error_memory(err, "the regions");
    for (int k = 0; k < regions; k++)
        if (!mask[k]) {
            memcpy(copy + (size_t)k * each, *image + (size_t)k * each, each * sizeof *copy);
            left++;
        }
    *image = copy;
    return left > 0 ? VD_OK
                    : vd_error_set(err, VD_USAGE,
                                   "all %d regions are left out; expected one that stays", regions);
}

vd_status vd_captioner_encode(vd_captioner *captioner, const float *image, int regions,
                              const vd_caption_what_if *what_if, vd_caption_pass *pass,
                              vd_error *err)
{
    const vd_model *model = captioner->model;
    const vd_caption_config *config = &model->config.caption;
    const vd_caption_what_if unchanged = {0}, *change = what_if ? what_if : &unchanged;
    vd_status status = change->no_history ? check_no_history(config, err) : VD_OK;
    vd_pass settings;
    vd_arena_reset(&captioner->arena);
    if (status == VD_OK && change->mask_region)
        status =
            leave_out(&captioner->arena, change->mask_region, regions, config->region, &image, err);
    if (status != VD_OK)
        return status;
    vd_model_pass(model, &captioner->arena, &settings);
    *pass = (vd_caption_pass){.tape = {.be = model->be,
                                       .arena = &captioner->arena,
                                       .w = &model->weights.all,
                                       .key = vd_rng_seed(captioner->seed, LOOKS).state},
                              .hard = captioner->hard,
                              .no_history = change->no_history,
                              .config = config,
                              .sinusoid = model->sinusoid};
    const vd_batch batch = {.dialogs = 1, .regions = regions, .image = image};
    return vd_caption_encode(pass, &batch, err);
}

vd_status vd_caption_logs(vd_caption_pass *pass, float *logs, vd_error *err)
{
    const vd_value *y = pass->logits;
    size_t v = (size_t)y->columns, rows = (size_t)y->rows;
    pass->tape.be->read_floats(y->x, logs, rows * v);
    for (float *row = logs; row < logs + rows * v; row += v) {
        float most = row[0];
        double sum = 0;
        for (size_t i = 1; i < v; i++)
            most = row[i] > most ? row[i] : most;
        for (size_t i = 0; i < v; i++)
            sum += (double)vd_exp(row[i] - most);
        double rest = (double)most + log(sum);
        for (size_t i = 0; i < v; i++)
            row[i] = (float)((double)row[i] - rest);
    }
    return vd_backend_status(pass->tape.be, err);
}

// ---- word by word -------------------------------------------------------------------------------

static void add_likely(vd_generated_word *w, int32_t id, double log)
{
    double p = exp(log);
    int at = w->likelies;
    while (at > 0 && w->likely[at - 1].probability < p)
        at--;
    if (at == VD_RUNNERS_UP)
        return;
    w->likelies += w->likelies < VD_RUNNERS_UP;
    memmove(w->likely + at + 1, w->likely + at, (size_t)(w->likelies - at - 1) * sizeof *w->likely);
    w->likely[at].id = id;
    w->likely[at].probability = p;
}

static void describe_word(vd_generated_word *w, int32_t id, const float *log, int vocab)
{
    *w = (vd_generated_word){
        .id = id, .probability = exp((double)log[id]), .gate = -1, .chosen = -1};
    for (int32_t i = 0; i < vocab; i++) {
        w->entropy -= exp((double)log[i]) * (double)log[i];
        add_likely(w, i, (double)log[i]);
    }
}

// The shares of one row of a head: regions, then history.
static void copy_shares(const vd_caption_pass *pass, const vd_pairing *p, const float *numbers,
                        int query, float *region, float *history)
{
    int regions = pass->region_start[1];
    for (const vd_pair_group *g = p->group; g < p->group + p->count; g++) {
        int keys = g->key[0].count + g->key[1].count, row = query - g->query.first;
        if (row < 0 || row >= g->query.count)
            continue;
        const float *share = numbers + (size_t)g->at + (size_t)row * (size_t)keys;
        for (int r = 0; r < 2; r++)
            for (int k = g->key[r].first; k < g->key[r].first + g->key[r].count; k++, share++)
                if (k < regions)
                    region[pass->region_row[k]] = *share;
                else if (history)
                    history[k - regions] = *share;
    }
}

// Of word t in layer l.
static vd_status copy_look(const vd_caption_pass *pass, int t, int l, vd_caption_trace *out,
                           vd_error *err)
{
    int row;
    const vd_value *a = vd_caption_look(pass, l, t, &row);
    float *numbers = vd_alloc((size_t)a->rows, sizeof *numbers);
    if (!numbers)
        return vd_error_memory(err, "what words look at");
    pass->tape.be->read_floats(a->x, numbers, (size_t)a->rows);
    for (int h = 0; h < out->heads; h++) {
        size_t at = ((size_t)t * (size_t)out->layers + (size_t)l) * (size_t)out->heads + (size_t)h;
        copy_shares(pass, a->pairing, numbers + (size_t)h * (size_t)a->pairing->pairs, row,
                    out->region + at * (size_t)out->regions,
                    out->history ? out->history + at * (size_t)out->words : NULL);
    }
    vd_free(numbers);
    return vd_backend_status(pass->tape.be, err);
}

static vd_status allocate_trace(const vd_caption_config *c, int words, int regions,
                                vd_caption_trace *out, vd_error *err)
{
    *out = (vd_caption_trace){.words = words,
                              .layers = vd_caption_layers(c),
                              .heads = vd_caption_heads(c),
                              .regions = regions};
    size_t each = (size_t)words * (size_t)out->layers * (size_t)out->heads;
    bool history = vd_caption_history_of(c) != VD_HISTORY_NONE;
    out->region = vd_alloc(each * (size_t)regions, sizeof *out->region);
    out->history = history ? vd_alloc(each * (size_t)words, sizeof *out->history) : NULL;
    return out->region && (out->history || !history) ? VD_OK
                                                     : vd_error_memory(err, "what words look at");
}

// What only sat has: the gate of word t, and where hard attention looked.
static void copy_step(const vd_caption_pass *pass, int t, vd_generated_word *w)
{
    const vd_caption_step *s = &pass->step[t];
    float gate;
    pass->tape.be->read_floats(s->gate->x, &gate, 1);
    w->gate = (double)gate;
    if (!s->chosen || s->chosen[0] < 0)
        return;
    const vd_pair_group *g = &s->look->pairing->group[0];
    w->chosen = pass->region_row[g->key[0].first + s->chosen[0] - g->at];
}

static vd_status fill_trace(vd_caption_pass *pass, vd_caption_trace *out, vd_error *err)
{
    size_t v = (size_t)pass->config->vocab;
    float *logs = vd_alloc((size_t)pass->logits->rows * v, sizeof *logs);
    if (!logs)
        return vd_error_memory(err, "what words look at");
    vd_status status = vd_caption_logs(pass, logs, err);
    for (int t = 0; t < out->words && status == VD_OK; t++) {
        int32_t id = pass->words.target[t];
        describe_word(&out->word[t], id, logs + (size_t)t * v, (int)v);
        out->log_probability += (double)logs[(size_t)t * v + (size_t)id];
        if (vd_caption_is_sat(pass->config))
            copy_step(pass, t, &out->word[t]);
    }
    vd_free(logs);
    for (int t = 0; t < out->words; t++)
        for (int l = 0; l < out->layers && status == VD_OK; l++)
            status = copy_look(pass, t, l, out, err);
    return status;
}

vd_status vd_captioner_trace(vd_captioner *captioner, const float *image, int regions,
                             const int32_t *word, int length, bool ended,
                             const vd_caption_what_if *what_if, vd_caption_trace *out,
                             vd_error *err)
{
    const int picture = 0, shown = length + ended;
    const int32_t count = length;
    const vd_caption_batch one = {1, length, word, &count, &picture};
    vd_caption_pass pass;
    vd_caption_words words;
    *out = (vd_caption_trace){0};
    vd_status status = vd_captioner_encode(captioner, image, regions, what_if, &pass, err);
    if (status == VD_OK)
        status = vd_caption_words_all(&pass, &one, &words, err);
    if (status == VD_OK)
        status = vd_caption_read(&pass, &words, err);
    if (status == VD_OK)
        status = allocate_trace(pass.config, shown, regions, out, err);
    if (status == VD_OK)
        status = fill_trace(&pass, out, err);
    if (status != VD_OK)
        vd_caption_trace_clear(out);
    return status;
}

void vd_caption_trace_clear(vd_caption_trace *trace)
{
    vd_free(trace->region);
    vd_free(trace->history);
    *trace = (vd_caption_trace){0};
}

// Mean over `heads` rows of `width`, the first of them `row`.
static void mean_of_rows(const float *shares, size_t row, int heads, int width, float *out)
{
    if (out)
        memset(out, 0, (size_t)width * sizeof *out);
    for (int h = 0; h < heads && shares && out; h++)
        for (int k = 0; k < width; k++)
            out[k] += shares[(row + (size_t)h) * (size_t)width + (size_t)k] / (float)heads;
}

// The first row of a layer's heads.
static size_t row_of(const vd_caption_trace *trace, int word, int layer)
{
    return ((size_t)word * (size_t)trace->layers + (size_t)layer) * (size_t)trace->heads;
}

void vd_caption_trace_look(const vd_caption_trace *trace, int word, int layer, int head,
                           float *regions, float *history)
{
    size_t row =
        row_of(trace, word, layer < 0 ? trace->layers - 1 : layer) + (size_t)(head < 0 ? 0 : head);
    int heads = head < 0 ? trace->heads : 1;
    mean_of_rows(trace->region, row, heads, trace->regions, regions);
    mean_of_rows(trace->history, row, heads, trace->words, history);
}

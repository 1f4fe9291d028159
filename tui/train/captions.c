// Learning captions: batches of pictures with all their captions; how an epoch is measured on the
// validation data: cross entropy of the words, what heads give to the history and their levels, and
// the greedy captions: metrics, verdicts, rewards.
#include "tui/train/task.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/base/progress.h"
#include "tui/session/captioning.h"

struct vd_batches {
    vd_caption_loader loader;
    vd_sampler *prefetch;
    size_t taken; // micro-batches
};

static void totals(const vd_training *plan, const size_t *items, size_t n, vd_totals *of)
{
    vd_caption_set_totals(plan->data.set, items, n, of);
    if (plan->settings.scst != VD_SCST_NONE)
        of->questions = (int64_t)n; // its own captions, not those of the data
}

static void close_batches(vd_batches *batches)
{
    if (!batches)
        return;
    vd_arena_free(&batches->loader.arena);
    g_free(batches);
}

static vd_status open_batches(const vd_training *plan, vd_sampler *prefetch, vd_pictures_kept *most,
                              vd_batches **out, vd_error *err)
{
    vd_batches *batches = *out = g_new0(vd_batches, 1);
    (void)err;
    *most = VD_PICTURES_READ;
    batches->prefetch = prefetch;
    batches->loader.set = plan->data.set;
    return VD_OK;
}

static vd_status next(void *context, const vd_batch **batch, vd_error *err)
{
    vd_batches *batches = context;
    const size_t *pictures;
    size_t n = vd_sampler_micro_batch(batches->prefetch, batches->taken++, &pictures);
    return vd_caption_loader_batch(&batches->loader, pictures, n, batch, err);
}

// ---- an epoch -----------------------------------------------------------------------------------

enum { VALIDATED = 64 }; // pictures at a time

// Sums over all validation pictures.
typedef struct sums {
    double cross_entropy, other, reward;
    double given[VD_CAPTION_LAYERS * 64];
    int64_t words, captions;
    vd_result *generated; // (pictures) by rising place; texts are new
} sums;

static double reward_of(const vd_rewards *rewards, size_t item,
                        const vd_generated_caption *generated)
{
    int32_t id[VD_MAX_CAPTION + 1];
    memcpy(id, generated->word, (size_t)generated->length * sizeof *id);
    id[generated->length] = VD_END;
    return rewards->of(rewards->context, item, id, generated->length + generated->ended);
}

// The greedy captions of a batch.
static vd_status describe(const vd_training *plan, const vd_batch *batch, sums *all, vd_error *err)
{
    vd_generated_caption generated[VALIDATED];
    const vd_vocab *vocab = vd_trainer_vocab(plan->trainer);
    vd_status status = vd_trainer_describe(plan->trainer, batch, generated, err);
    for (int p = 0; p < batch->dialogs && status == VD_OK; p++) {
        size_t item = batch->item[p];
        if (plan->validation_rewards)
            all->reward += reward_of(plan->validation_rewards, item, &generated[p]);
        all->generated[item] = (vd_result){plan->validation.set->captions->image[item].image_id,
                                           vd_generated_caption_text(vocab, &generated[p])};
    }
    return status;
}

// Pictures from `first` on.
static vd_status add_pictures(const vd_training *plan, vd_caption_loader *loader, size_t first,
                              size_t n, sums *all, vd_error *err)
{
    static const vd_totals undivided = {.questions = 1, .words = 1};
    size_t pictures[VALIDATED];
    const vd_batch *batch;
    vd_caption_loss loss = {0};
    for (size_t i = 0; i < n; i++)
        pictures[i] = first + i;
    vd_status status = vd_caption_loader_batch(loader, pictures, n, &batch, err);
    if (status == VD_OK)
        status = vd_trainer_caption_loss(plan->trainer, batch, &undivided, &loss, all->given, err);
    if (status != VD_OK)
        return status;
    all->cross_entropy += loss.words;
    all->other += loss.other;
    all->words += vd_captions_totals(batch->captions).words;
    all->captions += batch->captions->count;
    return describe(plan, batch, all, err);
}

static vd_status add_all(const vd_training *plan, size_t pictures, sums *all, vd_error *err)
{
    vd_caption_loader loader = {.set = plan->validation.set};
    vd_progress progress;
    vd_status status = VD_OK;
    vd_progress_start(&progress, "validating", (int64_t)pictures, 0, plan->quiet);
    for (size_t p = 0; p < pictures && status == VD_OK; p += VALIDATED) {
        size_t n = pictures - p < VALIDATED ? pictures - p : VALIDATED;
        status = plan->stop && atomic_load(plan->stop)
                     ? vd_error_set(err, VD_INTERRUPTED, "stopped")
                     : add_pictures(plan, &loader, p, n, all, err);
        vd_progress_update(&progress, (int64_t)p, "");
    }
    vd_progress_clear(&progress);
    vd_arena_free(&loader.arena);
    return status;
}

// ---- the row of the log -------------------------------------------------------------------------

// NaN: it is not known.
static void add(vd_epoch *out, const char *label, const char *column, int digits, double value)
{
    vd_epoch_measure *m = &out->measure[out->count++];
    *m = (vd_epoch_measure){.label = label, .digits = digits, .known = !isnan(value)};
    m->value = m->known ? value : 0;
    snprintf(m->column, sizeof m->column, "%s", column);
    snprintf(m->tag, sizeof m->tag, "val/%s", column);
    for (char *c = m->tag; *c; c++)
        *c = *c == '-' ? '_' : *c;
}

// Mean w, and its level, of every head; on the screen the mean of all.
static void add_heads(const vd_training *plan, const sums *all, vd_epoch *out)
{
    const vd_caption_config *c = &vd_trainer_config(plan->trainer)->caption;
    int heads = vd_caption_heads(c), n = vd_caption_layers(c) * heads;
    double levels[VD_CAPTION_LAYERS * 64], sum = 0;
    char name[24];
    if (vd_caption_history_of(c) == VD_HISTORY_NONE)
        return;
    bool held = vd_trainer_levels(plan->trainer, levels);
    for (int i = 0; i < n; i++)
        sum += all->given[i] / (double)all->words;
    add(out, "w", "w", 3, sum / n);
    if (held && !vd_caption_is_sat(c))
        add(out, "AWC", "awc", 4, all->other / (double)all->captions);
    for (int i = 0; i < n && i < VD_EPOCH_HEADS; i++) {
        snprintf(name, sizeof name, "w.%d.%d", i / heads, i % heads);
        add(out, NULL, name, 4, all->given[i] / (double)all->words);
        snprintf(name, sizeof name, "beta.%d.%d", i / heads, i % heads);
        if (held)
            add(out, NULL, name, 4, levels[i]);
    }
}

// In the log; the screen shows the first SHOWN ones.
enum { SHOWN = 5 };
static const struct {
    vd_caption_metric metric;
    const char *column;
    vd_best_by by;
} logged[] = {{VD_CAPTION_CIDER_D, "cider-d", VD_BEST_CIDER_D},
              {VD_CAPTION_BLEU_4, "bleu-4", VD_BEST_BLEU_4},
              {VD_CAPTION_FAITHFUL, "faithful", VD_BEST_FAITHFUL},
              {VD_CAPTION_BITS, "true-bits", VD_BEST_BITS},
              {VD_CAPTION_CHAIR_I, "chair-i", VD_BESTS},
              {VD_CAPTION_BLEU_1, "bleu-1", VD_BESTS},
              {VD_CAPTION_BLEU_2, "bleu-2", VD_BESTS},
              {VD_CAPTION_BLEU_3, "bleu-3", VD_BESTS},
              {VD_CAPTION_ROUGE_L, "rouge-l", VD_BESTS},
              {VD_CAPTION_METEOR_ES, "meteor-es", VD_BESTS},
              {VD_CAPTION_LENGTH, "length", VD_BESTS},
              {VD_CAPTION_READ, "read", VD_BESTS},
              {VD_CAPTION_CHAIR_S, "chair-s", VD_BESTS},
              {VD_CAPTION_ATTRIBUTES, "attributes", VD_BESTS}};

// The greedy captions' metrics; *best where an epoch is known by one of them.
static vd_status add_metrics(const vd_training *plan, const sums *all, size_t pictures,
                             vd_epoch *out, vd_error *err)
{
    vd_results *results;
    vd_caption_measure measure = {0};
    vd_status status = vd_results_new("greedy captions", all->generated, pictures, &results, err);
    if (status == VD_OK)
        status = vd_caption_measure_run(plan->judge, results, &measure, err);
    for (size_t i = 0; status == VD_OK && i < sizeof logged / sizeof *logged; i++) {
        const vd_caption_metric_name *name = &vd_caption_metric_names[logged[i].metric];
        double value = measure.metric[logged[i].metric] * name->scale;
        add(out, i < SHOWN ? name->label : NULL, logged[i].column, name->digits, value);
        if (plan->settings.best_by == logged[i].by)
            out->best = 1 + value; // never 0, which says that nothing was measured
    }
    if (status == VD_OK)
        add(out, NULL, "different", 4, (double)measure.distinct / (double)measure.pictures);
    vd_caption_measure_clear(&measure);
    vd_results_free(results);
    return status;
}

static vd_status fill_epoch(const vd_training *plan, const sums *all, size_t pictures,
                            vd_epoch *out, vd_error *err)
{
    bool rewarded = plan->validation_rewards;
    double loss = all->cross_entropy / (double)all->words, reward = all->reward / (double)pictures;
    vd_best_by by = plan->settings.best_by;
    out->best = rewarded && by != VD_BEST_CE ? 1 + reward : exp(-loss);
    add(out, "CE a word", "cross-entropy", 4, loss);
    add(out, "perplexity", "perplexity", 3, exp(loss));
    if (rewarded)
        add(out, "val reward", "val-reward", 4, reward);
    add_heads(plan, all, out);
    return add_metrics(plan, all, pictures, out, err);
}

static vd_status measure_epoch(const vd_training *plan, vd_epoch *out, vd_error *err)
{
    sums all = {0};
    *out = (vd_epoch){0};
    if (!plan->validation.set) {
        add(out, "CE a word", "cross-entropy", 4, NAN);
        add(out, "perplexity", "perplexity", 3, NAN);
        return VD_OK;
    }
    size_t pictures = plan->validation.set->captions->count;
    if (plan->validation_limit && plan->validation_limit < pictures)
        pictures = plan->validation_limit;
    all.generated = g_new0(vd_result, pictures);
    vd_status status = add_all(plan, pictures, &all, err);
    if (status == VD_OK)
        status = fill_epoch(plan, &all, pictures, out, err);
    for (size_t p = 0; p < pictures; p++)
        g_free((char *)(uintptr_t)all.generated[p].caption);
    g_free(all.generated);
    return status;
}

static const char *best_by(const vd_training *plan)
{
    vd_best_by by = plan->settings.best_by;
    return by != VD_BEST_OWN                     ? vd_best_names[by]
           : plan->settings.scst != VD_SCST_NONE ? "reward"
                                                 : "ce";
}

const vd_train_task vd_train_captions = {totals,        open_batches,  next,
                                         close_batches, measure_epoch, best_by};

#include "tui/training.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/alloc.h"
#include "engine/rng.h"
#include "engine/safetensors.h"
#include "tui/measure.h"
#include "tui/progress.h"

typedef struct course {
    vd_training *plan;
    vd_loader *loader;
    size_t dialogs;
    size_t *order;               // (dialogs) of epoch `ordered`
    int64_t ordered;             // -1: none yet
    int64_t epoch_steps, logged; // logged: epochs that are measured and saved
    double loss_sum;             // over the epoch's steps so far
    int64_t loss_steps;
    double saved_at; // monotonic seconds of the last checkpoint
    char path[4096 + 32];
} course;

int64_t vd_training_epoch_steps(size_t dialogs, int64_t batch)
{
    return ((int64_t)dialogs + batch - 1) / batch;
}

void vd_training_order(uint64_t seed, int64_t epoch, size_t *order, size_t dialogs)
{
    // A stream of its own, far from those that the trainer draws for its steps.
    vd_rng rng = vd_rng_seed(seed, UINT64_C(0x6f72646572) << 20 ^ (uint64_t)epoch);
    for (size_t i = 0; i < dialogs; i++)
        order[i] = i;
    for (size_t i = dialogs; i > 1; i--) {
        size_t j = (size_t)(vd_rng_uniform(&rng) * (double)i);
        size_t kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static const char *path_of(course *c, const char *name)
{
    snprintf(c->path, sizeof c->path, "%.4096s/%s", c->plan->directory, name);
    return c->path;
}

// ---- what a checkpoint keeps --------------------------------------------------------------------

static vd_status save_checkpoint(course *c, vd_error *err)
{
    char state[120];
    snprintf(state, sizeof state, "logged=%" PRId64 " steps=%" PRId64 " loss=%a", c->logged,
             c->loss_steps, c->loss_sum);
    vd_status status = vd_trainer_set_metadata(c->plan->trainer, VD_TRAINING_STATE, state, err);
    if (status == VD_OK)
        status = vd_trainer_checkpoint(c->plan->trainer, path_of(c, "checkpoint.safetensors"), err);
    c->saved_at = vd_progress_clock();
    return status;
}

static vd_status restore_state(course *c, vd_error *err)
{
    const char *state = vd_trainer_metadata(c->plan->trainer, VD_TRAINING_STATE);
    int64_t step = vd_trainer_steps(c->plan->trainer);
    if (step == 0)
        return VD_OK;
    bool good = state && sscanf(state, "logged=%" SCNd64 " steps=%" SCNd64 " loss=%la", &c->logged,
                                &c->loss_steps, &c->loss_sum) == 3;
    int64_t done = step / c->epoch_steps;
    if (!good || c->logged < 0 || c->logged > done || c->logged < done - 1 || c->loss_steps < 0 ||
        c->loss_steps > c->epoch_steps)
        return vd_error_set(err, VD_FORMAT,
                            "%.300s/checkpoint.safetensors: at step %" PRId64
                            " its state is '%.100s'; expected what `visdial train` writes",
                            c->plan->directory, step, state ? state : "missing");
    return VD_OK;
}

// ---- log ----------------------------------------------------------------------------------------

static const char LOG_HEAD[] = "epoch\tstep\tloss\tr@1\tr@5\tr@10\tmean\tmrr\tndcg\tcorrect@1\n";

// Cuts the log behind the epochs that count, so that what a lost run wrote is not there twice.
static vd_status trim_log(course *c, vd_error *err)
{
    const char *path = path_of(c, "log.tsv");
    FILE *file = fopen(path, "r");
    if (!file)
        return errno == ENOENT ? VD_OK
                               : vd_error_set(err, VD_IO, "%.300s: %s", path, strerror(errno));
    char line[512];
    long keep = 0;
    while (fgets(line, sizeof line, file)) {
        long long epoch;
        bool whole = strchr(line, '\n') != NULL;
        if (!whole || (keep > 0 && (sscanf(line, "%lld", &epoch) != 1 || epoch > c->logged)))
            break;
        keep = ftell(file);
    }
    fclose(file);
    if (truncate(path, keep) != 0)
        return vd_error_set(err, VD_IO, "%.300s: %s", path, strerror(errno));
    return VD_OK;
}

static vd_status append_log(course *c, const char *row, vd_error *err)
{
    const char *path = path_of(c, "log.tsv");
    FILE *file = fopen(path, "a");
    if (!file)
        return vd_error_set(err, VD_IO, "%.300s: %s", path, strerror(errno));
    struct stat about;
    off_t before = fstat(fileno(file), &about) == 0 ? about.st_size : 0;
    bool good = (before > 0 || fputs(LOG_HEAD, file) >= 0) && fputs(row, file) >= 0;
    good = fflush(file) == 0 && good;
    int why = errno;
    if (!good && truncate(path, before) != 0)
        why = errno;
    fclose(file);
    return good ? VD_OK
                : vd_error_set(err, VD_IO, "%.300s: writing failed: %s", path, strerror(why));
}

// ---- end of an epoch ----------------------------------------------------------------------------

static vd_status score(void *context, int worker, const vd_batch *batch, float *scores,
                       vd_error *err)
{
    (void)worker;
    return vd_trainer_scores(context, batch, scores, err);
}

static vd_status validate(course *c, vd_metrics *out, vd_error *err)
{
    vd_training *plan = c->plan;
    *out = (vd_metrics){0};
    if (!plan->validation)
        return VD_OK;
    size_t count = vd_dataset_count(plan->validation);
    if (plan->validation_limit && plan->validation_limit < count)
        count = plan->validation_limit;
    vd_progress progress;
    vd_progress_start(&progress, "validating", (int64_t)count, 0, plan->quiet);
    vd_measure_options options = {.limit = count, .stop = plan->stop, .progress = &progress};
    const vd_measure_source source = {.context = plan->trainer, .score = score};
    vd_measure measure;
    vd_status status = vd_measure_run(plan->validation, &source, &options, &measure, err);
    vd_progress_clear(&progress);
    if (status == VD_OK)
        *out = measure.all;
    if (status == VD_OK)
        vd_measure_clear(&measure);
    return status;
}

static void report_epoch(const course *c, double loss, const vd_metrics *metrics, char *row,
                         size_t size)
{
    vd_metrics_means mean = vd_metrics_mean(metrics);
    int64_t step = vd_trainer_steps(c->plan->trainer);
    char known[160] = "\t\t\t\t\t", dense[80] = "\t";
    printf("epoch %" PRId64 "  step %" PRId64 "  loss %.4f", c->logged + 1, step, loss);
    if (metrics->rounds) {
        snprintf(known, sizeof known, "%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t", mean.recall[0],
                 mean.recall[1], mean.recall[2], mean.mean_rank, mean.mrr);
        printf("  R@1 %.4f  R@5 %.4f  R@10 %.4f  mean %.3f  MRR %.4f", mean.recall[0],
               mean.recall[1], mean.recall[2], mean.mean_rank, mean.mrr);
    }
    if (metrics->dense_rounds) {
        snprintf(dense, sizeof dense, "%.6f\t%.6f", mean.ndcg, mean.correct);
        printf("  NDCG %.4f  correct@1 %.4f", mean.ndcg, mean.correct);
    }
    printf("\n");
    fflush(stdout);
    snprintf(row, size, "%" PRId64 "\t%" PRId64 "\t%.6f\t%s%s\n", c->logged + 1, step, loss, known,
             dense);
}

static vd_status finish_epoch(course *c, vd_error *err)
{
    vd_metrics metrics;
    char row[512];
    vd_status status = validate(c, &metrics, err);
    if (status)
        return status;
    double loss = c->loss_steps ? c->loss_sum / (double)c->loss_steps : 0;
    report_epoch(c, loss, &metrics, row, sizeof row);
    // Until all of this is done the epoch does not count as logged, so that a resumed run repeats
    // it. The state is part of the model file's metadata, and must be the same then.
    status = vd_trainer_set_metadata(c->plan->trainer, VD_TRAINING_STATE, "", err);
    if (status == VD_OK)
        status = vd_trainer_save_model(c->plan->trainer, path_of(c, "model.safetensors"),
                                       c->plan->settings.half ? VD_F16 : VD_F32, err);
    if (status == VD_OK)
        status = append_log(c, row, err);
    if (status) {
        save_checkpoint(c, NULL); // where there is room for it, the epoch's work is kept
        return status;
    }
    c->logged++;
    return save_checkpoint(c, err);
}

// ---- steps --------------------------------------------------------------------------------------

static vd_status take_step(course *c, double *loss, double *multiplier, vd_error *err)
{
    const vd_run_settings *settings = &c->plan->settings;
    int64_t step = vd_trainer_steps(c->plan->trainer);
    int64_t epoch = step / c->epoch_steps, place = step % c->epoch_steps;
    if (c->ordered != epoch) {
        vd_training_order((uint64_t)settings->seed, epoch, c->order, c->dialogs);
        c->ordered = epoch;
    }
    if (place == 0) {
        c->loss_sum = 0;
        c->loss_steps = 0;
    }
    size_t first = (size_t)(place * settings->batch);
    size_t count = c->dialogs - first;
    if (count > (size_t)settings->batch)
        count = (size_t)settings->batch;
    const vd_batch *batch;
    const vd_dataset_view plain = {0};
    vd_status status = vd_loader_batch(c->loader, c->order + first, count, &plain, &batch, err);
    if (status)
        return status;
    *multiplier = vd_schedule_multiplier(8.0 * (double)step / (double)c->epoch_steps /
                                         (double)settings->epochs);
    double norm;
    status = vd_trainer_step(c->plan->trainer, batch, *multiplier, loss, &norm, err);
    if (status)
        return status;
    if (!isfinite(*loss) || !isfinite(norm))
        return vd_error_set(err, VD_FORMAT,
                            "the loss or its gradient is no longer a number at step %" PRId64
                            "; nothing was saved since the last checkpoint; try a smaller --rate "
                            "or --clip 1",
                            step + 1);
    c->loss_sum += *loss;
    c->loss_steps++;
    return VD_OK;
}

static vd_status stopped(course *c, vd_error *err)
{
    vd_status status = save_checkpoint(c, err);
    if (status)
        return status;
    int64_t step = vd_trainer_steps(c->plan->trainer);
    return vd_error_set(err, VD_INTERRUPTED,
                        "stopped after step %" PRId64 " of %" PRId64
                        "; the work is in %.300s; the same command with --resume continues it",
                        step, c->epoch_steps * c->plan->settings.epochs, c->path);
}

static void checkpoint_if_due(course *c, vd_progress *progress)
{
    vd_training *plan = c->plan;
    bool due =
        (plan->checkpoint_steps && vd_trainer_steps(plan->trainer) % plan->checkpoint_steps == 0) ||
        (plan->checkpoint_seconds > 0 &&
         vd_progress_clock() - c->saved_at >= plan->checkpoint_seconds);
    vd_error err;
    if (due && save_checkpoint(c, &err) != VD_OK) {
        vd_progress_clear(progress);
        fprintf(stderr,
                "visdial train: %s (training goes on; the checkpoint before this one is "
                "as it was)\n",
                err.text);
    }
}

// From where the trainer stands to the end of that epoch, or to a stop.
static vd_status run_epoch(course *c, vd_error *err)
{
    vd_training *plan = c->plan;
    int64_t step = vd_trainer_steps(plan->trainer), start = step / c->epoch_steps * c->epoch_steps;
    char what[32], suffix[80];
    snprintf(what, sizeof what, "epoch %" PRId64, start / c->epoch_steps + 1);
    vd_progress progress;
    vd_progress_start(&progress, what, c->epoch_steps, step - start, plan->quiet);
    vd_status status = VD_OK;
    while (step - start < c->epoch_steps && status == VD_OK) {
        if ((plan->stop && atomic_load(plan->stop)) ||
            (plan->stop_after && step >= plan->stop_after)) {
            vd_progress_clear(&progress);
            return stopped(c, err);
        }
        double loss, multiplier;
        if ((status = take_step(c, &loss, &multiplier, err)))
            break;
        step = vd_trainer_steps(plan->trainer);
        snprintf(suffix, sizeof suffix, "loss %.4f  lr %.2g", c->loss_sum / (double)c->loss_steps,
                 plan->settings.rate * multiplier);
        vd_progress_update(&progress, step - start, suffix);
        checkpoint_if_due(c, &progress);
    }
    vd_progress_clear(&progress);
    return status;
}

static vd_status run(course *c, vd_error *err)
{
    vd_training *plan = c->plan;
    for (;;) {
        int64_t step = vd_trainer_steps(plan->trainer), done = step / c->epoch_steps;
        vd_status status = VD_OK;
        if (step % c->epoch_steps == 0 && done > c->logged) {
            status = finish_epoch(c, err);
            if (status == VD_INTERRUPTED)
                return stopped(c, err);
        } else if (done < plan->settings.epochs) {
            status = run_epoch(c, err);
        } else {
            return VD_OK;
        }
        if (status)
            return status;
    }
}

vd_status vd_training_run(vd_training *training, vd_error *err)
{
    course c = {.plan = training, .ordered = -1, .saved_at = vd_progress_clock()};
    c.dialogs = vd_dataset_count(training->data);
    c.epoch_steps = vd_training_epoch_steps(c.dialogs, training->settings.batch);
    vd_status status = VD_OK;
    c.order = vd_alloc(c.dialogs, sizeof *c.order);
    if (!c.order)
        status = vd_error_memory(err, "the order of the dialogs");
    if (status == VD_OK)
        status = vd_loader_new(training->data, &c.loader, err);
    if (status == VD_OK)
        status = restore_state(&c, err);
    if (status == VD_OK)
        status = trim_log(&c, err);
    if (status == VD_OK)
        status = run(&c, err);
    vd_loader_free(c.loader);
    vd_free(c.order);
    return status;
}

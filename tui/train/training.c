#include "tui/train/training.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/backend/open.h"
#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/networks/encoder.h"
#include "tui/base/progress.h"
#include "tui/train/event_file.h"
#include "tui/train/task.h"

typedef struct course {
    vd_training *plan;
    const vd_train_task *task;
    vd_sampler sampler, prefetch; // of the step that is taken, of the prefetch
    vd_batches *batches;          // of batches from the trainer's step on; NULL before the first
    vd_pictures_kept most;        // that may be kept on the device
    int64_t epoch_steps, logged;  // logged: epochs that are measured and saved
    double loss_sum, reward_sum;  // over the epoch's steps so far
    int64_t loss_steps;
    int64_t waited;    // epochs since it
    double best;       // of best.safetensors (vd_epoch), 0 before there is one
    vd_events *events; // NULL where they cannot be read or written
    bool losing;       // the last point of the curves could not be written
    int64_t records;   // of the event file, at the checkpoint
    double saved_at;   // monotonic seconds of the last checkpoint
    char path[4096 + 32];
} course;

static const char *path_of(course *c, const char *name)
{
    snprintf(c->path, sizeof c->path, "%.4096s/%s", c->plan->directory, name);
    return c->path;
}

// Whether no epoch was better for as long as a run waits for one.
static bool is_patience_over(const course *c)
{
    int patience = c->plan->settings.patience;
    return patience > 0 && c->best > 0 && c->waited >= patience;
}

// ---- what a checkpoint keeps --------------------------------------------------------------------

// Of processes that train together only the first writes, measures and prints.
static bool is_first(const course *c)
{
    return !c->plan->group || c->plan->group->rank == 0;
}

static bool is_rewarded(const course *c)
{
    return c->plan->settings.scst != VD_SCST_NONE;
}

static vd_status save_checkpoint(course *c, vd_error *err)
{
    if (!is_first(c))
        return VD_OK;
    char state[240];
    snprintf(state, sizeof state,
             "logged=%" PRId64 " steps=%" PRId64 " loss=%a best=%a events=%" PRId64 " by=%s",
             c->logged, c->loss_steps, c->loss_sum, c->best,
             c->events ? vd_events_count(c->events) : c->records, c->task->best_by(c->plan));
    if (is_rewarded(c) || c->plan->settings.patience)
        vd_append(state, sizeof state, " reward=%a waited=%" PRId64, c->reward_sum, c->waited);
    vd_status status = vd_trainer_set_metadata(c->plan->trainer, VD_TRAINING_STATE, state, err);
    if (status == VD_OK)
        status = vd_trainer_checkpoint(c->plan->trainer, path_of(c, "checkpoint.safetensors"), err);
    c->saved_at = vd_seconds();
    return status;
}

static vd_status restore_state(course *c, vd_error *err)
{
    const char *state = vd_trainer_metadata(c->plan->trainer, VD_TRAINING_STATE);
    int64_t step = vd_trainer_steps(c->plan->trainer);
    if (step == 0)
        return VD_OK;
    char by[16] = "";
    bool good =
        state && sscanf(state,
                        "logged=%" SCNd64 " steps=%" SCNd64 " loss=%la best=%la events=%" SCNd64
                        " by=%15s reward=%la waited=%" SCNd64,
                        &c->logged, &c->loss_steps, &c->loss_sum, &c->best, &c->records, by,
                        &c->reward_sum, &c->waited) >= 6;
    if (strcmp(by, c->task->best_by(c->plan)) != 0)
        c->best = 0; // of another measure: the next epoch is the best so far
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

// Cuts the log after the epochs of the checkpoint, so that a run that was killed leaves no second
// row of an epoch.
static vd_status trim_log(course *c, vd_error *err)
{
    const char *path = path_of(c, "log.tsv");
    char *text;
    size_t size, keep = 0;
    vd_status status = vd_file_read(path, (size_t)1 << 30, &text, &size, err);
    if (status == VD_NOT_FOUND)
        return VD_OK;
    if (status != VD_OK)
        return status;
    for (const char *end; (end = memchr(text + keep, '\n', size - keep));
         keep = (size_t)(end + 1 - text)) {
        long long epoch;
        if (keep > 0 && (sscanf(text + keep, "%lld", &epoch) != 1 || epoch > c->logged))
            break;
    }
    vd_free(text);
    if (truncate(path, (off_t)keep) != 0)
        return vd_error_set(err, VD_IO, "%.300s: %s", path, strerror(errno));
    return VD_OK;
}

// Its head, if it is new, and the epoch's row.
static vd_status append_log(course *c, double loss, const vd_epoch *epoch, vd_error *err)
{
    const char *path = path_of(c, "log.tsv");
    int file;
    vd_status status = vd_file_extend(path, 0666, &file, err);
    if (status != VD_OK)
        return status;
    GString *text = g_string_new(NULL);
    const vd_epoch_measure *end = epoch->measure + epoch->count;
    if (lseek(file, 0, SEEK_END) == 0) {
        g_string_append(text, "epoch\tstep\tloss");
        for (const vd_epoch_measure *m = epoch->measure; m < end; m++)
            g_string_append_printf(text, "\t%s", m->column);
        g_string_append_c(text, '\n');
    }
    g_string_append_printf(text, "%" PRId64 "\t%" PRId64 "\t%.6f", c->logged + 1,
                           vd_trainer_steps(c->plan->trainer), loss);
    for (const vd_epoch_measure *m = epoch->measure; m < end; m++)
        g_string_append_printf(text, m->known ? "\t%.6f" : "\t", m->value);
    g_string_append_c(text, '\n');
    status = vd_file_append(file, path, text->str, text->len, err);
    g_string_free(text, TRUE);
    close(file);
    return status;
}

// Without curves training continues: when the event file cannot be read or written there are none,
// and a damaged one is continued after its last valid record.
static vd_status open_events(course *c, vd_error *err)
{
    vd_error why;
    vd_status status = vd_events_open(c->plan->directory, c->records, &c->events, &why);
    if (status == VD_NO_MEMORY)
        return vd_error_set(err, status, "%s", why.text);
    if (status != VD_OK)
        fprintf(stderr, "visdial train: %s (training continues without curves)\n", why.text);
    else if (vd_events_damage(c->events))
        fprintf(stderr, "visdial train: %s (curves continue after the last complete record)\n",
                vd_events_damage(c->events));
    return VD_OK;
}

static void log_scalars(course *c, const vd_scalar *scalars, int count)
{
    vd_error err;
    int64_t step = vd_trainer_steps(c->plan->trainer);
    if (!c->events)
        return;
    bool lost = vd_events_add(c->events, step, scalars, count, &err) != VD_OK;
    if (lost && !c->losing)
        fprintf(stderr, "visdial train: %s (training continues, the curves have a gap)\n",
                err.text);
    c->losing = lost;
}

// ---- end of an epoch ----------------------------------------------------------------------------

// What was learned, the rewards of the steps' captions included, in front of what was measured.
static void add_reward(const course *c, vd_epoch *epoch)
{
    if (!is_rewarded(c))
        return;
    double mean = c->loss_steps ? c->reward_sum / (double)c->loss_steps : 0;
    memmove(epoch->measure + 1, epoch->measure, (size_t)epoch->count * sizeof *epoch->measure);
    epoch->measure[0] =
        (vd_epoch_measure){"reward", "reward", "epoch/reward", 4, c->loss_steps > 0, mean};
    epoch->count++;
}

static void print_epoch(const course *c, double loss, const vd_epoch *epoch)
{
    if (c->plan->silent)
        return;
    printf("epoch %" PRId64 "  step %" PRId64 "  loss %.4f", c->logged + 1,
           vd_trainer_steps(c->plan->trainer), loss);
    for (const vd_epoch_measure *m = epoch->measure; m < epoch->measure + epoch->count; m++)
        if (m->known && m->label)
            printf("  %s %.*f", m->label, m->digits, m->value);
    printf("\n");
    fflush(stdout);
}

static vd_status keep_best(course *c, const vd_epoch *epoch, vd_error *err)
{
    bool over = is_patience_over(c); // this was the epoch with coverage, which ends the run
    c->waited++;
    if (epoch->best <= c->best)
        return VD_OK;
    vd_status status = vd_trainer_save_model(c->plan->trainer, path_of(c, "best.safetensors"),
                                             c->plan->settings.half ? VD_F16 : VD_F32, err);
    if (status == VD_OK)
        c->best = epoch->best;
    c->waited = over ? c->waited : 0;
    return status;
}

static void log_epoch(course *c, double loss, const vd_epoch *epoch)
{
    vd_scalar scalars[1 + VD_EPOCH_MEASURES] = {{"epoch/loss", loss}};
    int count = 1;
    for (const vd_epoch_measure *m = epoch->measure; m < epoch->measure + epoch->count; m++)
        if (m->known)
            scalars[count++] = (vd_scalar){m->tag, m->value};
    log_scalars(c, scalars, count);
}

static vd_status finish_epoch(course *c, vd_error *err)
{
    vd_epoch epoch;
    const double best = c->best;
    const int64_t waited = c->waited;
    vd_status status = c->task->measure(c->plan, &epoch, err);
    if (status)
        return status;
    double loss = c->loss_steps ? c->loss_sum / (double)c->loss_steps : 0;
    add_reward(c, &epoch);
    print_epoch(c, loss, &epoch);
    // Until all of this is done the epoch does not count as logged, so that a resumed run repeats
    // it. The state is part of the model file's metadata, and must be the same then.
    status = vd_trainer_set_metadata(c->plan->trainer, VD_TRAINING_STATE, "", err);
    if (status == VD_OK)
        status = vd_trainer_save_model(c->plan->trainer, path_of(c, "model.safetensors"),
                                       c->plan->settings.half ? VD_F16 : VD_F32, err);
    if (status == VD_OK)
        status = keep_best(c, &epoch, err);
    if (status == VD_OK)
        status = append_log(c, loss, &epoch, err);
    if (status) {
        c->best = best;
        c->waited = waited;
        save_checkpoint(c, NULL); // where there is room for it, the epoch's work is kept
        return status;
    }
    log_epoch(c, loss, &epoch);
    c->logged++;
    return save_checkpoint(c, err);
}

// ---- steps --------------------------------------------------------------------------------------

static void stop_batches(course *c)
{
    c->task->close(c->batches);
    vd_sampler_clear(&c->prefetch);
    c->batches = NULL;
}

// From the trainer's step on.
static vd_status start_batches(course *c, vd_error *err)
{
    c->prefetch = c->sampler;
    c->prefetch.step = vd_trainer_steps(c->plan->trainer);
    vd_sampler_start(&c->prefetch);
    return c->task->open(c->plan, &c->prefetch, &c->most, &c->batches, err);
}

// The coverage loss is of the last epoch: that of --epochs, or one more where no epoch was better
// for as long as a run waits for one.
static bool covers(const course *c, int64_t epoch)
{
    const vd_train_options *settings = &c->plan->settings;
    return epoch >= settings->epochs - 1 || is_patience_over(c);
}

// Whether the next step is of a linear start (memn2n).
static bool is_linear(const course *c)
{
    const vd_train_options *settings = &c->plan->settings;
    double start = settings->linear_start * settings->epochs * (double)c->epoch_steps;
    return vd_encoder_reads(vd_trainer_config(c->plan->trainer), "linear-start") &&
           (double)vd_trainer_steps(c->plan->trainer) < start;
}

// The gradient of this process' part of the next step.
static vd_status compute_gradient(course *c, double *loss, vd_error *err)
{
    size_t count;
    vd_status status = c->batches ? VD_OK : start_batches(c, err);
    if (status)
        return status;
    int64_t done = vd_trainer_steps(c->plan->trainer);
    const size_t *items = vd_sampler_step(&c->sampler, done, &count);
    vd_micro_batches step = {.count = vd_sampler_micro_batches(&c->sampler, count),
                             .last_epoch = covers(c, done / c->epoch_steps),
                             .linear = is_linear(c),
                             .next = c->task->next,
                             .context = c->batches};
    c->task->totals(c->plan, items, count, &step.of);
    return vd_trainer_gradient(c->plan->trainer, &step, loss, err);
}

// The same, also when the device runs out of memory: first its cache of pictures is freed, then the
// weights are moved to the CPU, which continues. When the device is lost, the weights are lost too,
// and the run continues from the last checkpoint.
static vd_status compute_gradient_anywhere(course *c, double *loss, vd_error *err)
{
    vd_trainer *trainer = c->plan->trainer;
    vd_error why = {0}, moving = {0};
    vd_status status = compute_gradient(c, loss, &why);
    if (status == VD_OK)
        return VD_OK;
    stop_batches(c);
    bool gave_up = vd_backend_gave_up(vd_trainer_backend(trainer), status);
    if (gave_up && c->most == VD_PICTURES_RESIDENT) {
        c->most = VD_PICTURES_STREAMED;
        return compute_gradient_anywhere(c, loss, err);
    }
    if (c->plan->group || !gave_up)
        return vd_error_set(err, status, "%s", why.text);
    if (vd_trainer_use(trainer, vd_backend_cpu(), &moving))
        return vd_error_set(err, status,
                            "%s; continue from the last checkpoint with --resume, here or with "
                            "--backend cpu",
                            why.text);
    fprintf(stderr, "visdial train: %s; continuing on the CPU\n", why.text);
    return compute_gradient(c, loss, err);
}

// After a step with numbers that are not finite: the weights and the checkpoint are unchanged.
static vd_status went_wrong(course *c, vd_error *err)
{
    vd_error why = *err;
    const char *path = path_of(c, "checkpoint.safetensors");
    if (access(path, F_OK) != 0)
        return why.status;
    return vd_error_set(err, why.status, "%.400s; %.300s is unchanged", why.text, path);
}

static vd_status take_step(course *c, double *loss, double *multiplier, vd_error *err)
{
    const vd_train_options *settings = &c->plan->settings;
    int64_t step = vd_trainer_steps(c->plan->trainer);
    if (step % c->epoch_steps == 0) {
        c->loss_sum = c->reward_sum = 0;
        c->loss_steps = 0;
    }
    vd_status status = compute_gradient_anywhere(c, loss, err);
    if (status)
        return status;
    double done = (double)step / (double)c->epoch_steps / (double)settings->epochs;
    *multiplier = vd_schedule_multiplier(settings->schedule, done);
    if (settings->schedule == VD_SCHEDULE_WARM_UP)
        *multiplier =
            vd_warm_up(vd_trainer_config(c->plan->trainer)->hidden, step + 1, settings->warm_up);
    *multiplier *= is_linear(c) ? 0.5 : 1;
    double norm;
    status = vd_trainer_update(c->plan->trainer, *multiplier, loss, &norm, err);
    if (status == VD_FORMAT)
        return went_wrong(c, err);
    if (status)
        return status;
    c->loss_sum += *loss;
    c->loss_steps++;
    double reward = vd_trainer_rewarded(c->plan->trainer);
    c->reward_sum += reward;
    const vd_scalar scalars[] = {{"train/loss", *loss},
                                 {"train/gradient_norm", norm},
                                 {"train/learning_rate", settings->rate * *multiplier},
                                 {"train/reward", reward}};
    log_scalars(c, scalars, is_rewarded(c) ? 4 : 3);
    return VD_OK;
}

static vd_status stopped(course *c, vd_error *err)
{
    vd_status status = save_checkpoint(c, err);
    if (status)
        return status;
    int64_t step = vd_trainer_steps(c->plan->trainer);
    return vd_error_set(
        err, VD_INTERRUPTED,
        "stopped after step %" PRId64 " of %" PRId64
        "; the work is saved in %.300s; the same command with --resume continues it",
        step, c->epoch_steps * c->plan->settings.epochs, c->path);
}

static void checkpoint_if_due(course *c, vd_progress *progress)
{
    vd_training *plan = c->plan;
    bool due =
        (plan->checkpoint_steps && vd_trainer_steps(plan->trainer) % plan->checkpoint_steps == 0) ||
        (plan->checkpoint_seconds > 0 && vd_seconds() - c->saved_at >= plan->checkpoint_seconds);
    vd_error err;
    if (due && save_checkpoint(c, &err) != VD_OK) {
        vd_progress_clear(progress);
        fprintf(stderr,
                "visdial train: %s (training continues; the previous checkpoint is unchanged)\n",
                err.text);
    }
}

// Processes that train together stop together.
static vd_status asked_to_stop(const vd_training *plan, bool *stop, vd_error *err)
{
    double asked = plan->stop && atomic_load(plan->stop);
    const char *trouble = plan->group ? plan->group->sum_doubles(&asked, 1) : NULL;
    *stop = asked > 0;
    return trouble ? vd_error_set(err, VD_IO, "the training processes: %s", trouble) : VD_OK;
}

static void publish(const course *c, int64_t step)
{
    vd_training_place *place = c->plan->place;
    if (!place)
        return;
    if (atomic_load(&place->steps) == 0)
        atomic_store(&place->first, step);
    atomic_store(&place->step, step);
    atomic_store(&place->epoch_steps, c->epoch_steps);
    atomic_store(&place->steps, c->epoch_steps * c->plan->settings.epochs);
}

// From the trainer's step to the end of its epoch, or to a stop.
static vd_status run_epoch(course *c, vd_error *err)
{
    vd_training *plan = c->plan;
    int64_t step = vd_trainer_steps(plan->trainer), start = step / c->epoch_steps * c->epoch_steps;
    char what[32], suffix[80];
    snprintf(what, sizeof what, "epoch %" PRId64, start / c->epoch_steps + 1);
    vd_progress progress;
    vd_progress_start(&progress, what, c->epoch_steps, step - start, plan->quiet);
    vd_status status = VD_OK;
    publish(c, step);
    while (step - start < c->epoch_steps && status == VD_OK) {
        bool stop;
        if ((status = asked_to_stop(plan, &stop, err)))
            break;
        if (stop || (plan->stop_after && step >= plan->stop_after)) {
            vd_progress_clear(&progress);
            return stopped(c, err);
        }
        double loss, multiplier;
        if ((status = take_step(c, &loss, &multiplier, err)))
            break;
        step = vd_trainer_steps(plan->trainer);
        publish(c, step);
        snprintf(suffix, sizeof suffix, "%s %.4f  lr %.2g", is_rewarded(c) ? "reward" : "loss",
                 (is_rewarded(c) ? c->reward_sum : c->loss_sum) / (double)c->loss_steps,
                 plan->settings.rate * multiplier);
        vd_progress_update(&progress, step - start, suffix);
        checkpoint_if_due(c, &progress);
    }
    vd_progress_clear(&progress);
    return status;
}

// One with coverage ends with an epoch that has it.
static bool is_over(const course *c)
{
    const vd_train_options *settings = &c->plan->settings;
    return is_patience_over(c) && (settings->coverage == 0 || c->waited > settings->patience);
}

static vd_status run(course *c, vd_error *err)
{
    vd_training *plan = c->plan;
    for (;;) {
        int64_t step = vd_trainer_steps(plan->trainer), done = step / c->epoch_steps;
        vd_status status = VD_OK;
        if (step % c->epoch_steps == 0 && done > c->logged) {
            status = is_first(c) ? finish_epoch(c, err) : VD_OK;
            if (!is_first(c))
                c->logged++;
            if (status == VD_INTERRUPTED) {
                bool stop; // the other processes, which have continued, learn of it at their next
                           // step
                if (done < plan->settings.epochs)
                    asked_to_stop(plan, &stop, NULL);
                return stopped(c, err);
            }
        } else if (done < plan->settings.epochs && !is_over(c)) {
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
    const vd_train_options *settings = &training->settings;
    const vd_group *group = training->group;
    course c = {.plan = training,
                .task = training->data.set ? &vd_train_captions : &vd_train_dialogs,
                .most = VD_PICTURES_RESIDENT,
                .saved_at = vd_seconds()};
    size_t items = vd_run_data_items(&training->data);
    c.epoch_steps = vd_training_epoch_steps(items, settings->batch);
    c.sampler = (vd_sampler){.seed = (uint64_t)settings->seed,
                             .dialogs = items,
                             .batch = settings->batch,
                             .micro_batch = (size_t)settings->micro_batch,
                             .rank = group ? (size_t)group->rank : 0,
                             .size = group ? (size_t)group->size : 1,
                             .end = c.epoch_steps * settings->epochs};
    training->wait.stop = training->stop;
    vd_group_use_wait(group, vd_trainer_backend(training->trainer), &training->wait);
    vd_sampler_start(&c.sampler);
    vd_status status = restore_state(&c, err);
    if (status == VD_OK && is_first(&c))
        status = trim_log(&c, err);
    if (status == VD_OK && is_first(&c))
        status = open_events(&c, err);
    if (status == VD_OK)
        status = run(&c, err);
    training->has_best = c.best > 0;
    if (status == VD_IO && group) // another process may be gone; the weights are of the last step
        save_checkpoint(&c, NULL);
    vd_events_close(c.events);
    stop_batches(&c);
    vd_sampler_clear(&c.sampler);
    return status;
}

#include "tui/train/curves.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "engine/base/clock.h"
#include "tui/base/progress.h"
#include "tui/screen/screen.h"
#include "tui/screen/theme.h"

void vd_watch_draw(vd_grid *grid, const vd_curves *curves, const char *note)
{
    int width = grid->width, below = grid->height - 1;
    vd_curves_draw(curves, grid, (vd_rect){0, 0, width, below});
    vd_style status = vd_theme(grid->look, VD_ROLE_STATUS);
    vd_grid_fill(grid, (vd_rect){0, below, width, 1}, status);
    vd_grid_text(grid, 1, below, width - 2, note, status);
}

void vd_watch_note(const vd_training_place *place, double seconds, int width, const char *hint,
                   char *out, size_t size)
{
    long long steps = place ? atomic_load(&place->steps) : 0;
    if (steps == 0) {
        snprintf(out, size, "%s", hint);
        return;
    }
    char what[64], line[300];
    size_t hint_width = strlen(hint) + 2;
    long long step = atomic_load(&place->step), epoch = atomic_load(&place->epoch_steps);
    long long now = step < steps ? step / epoch + 1 : steps / epoch;
    snprintf(what, sizeof what, "epoch %lld of %lld", now, steps / epoch);
    size_t left = width > 0 && (size_t)width > hint_width ? (size_t)width - hint_width : 0;
    vd_progress_line(line, sizeof line, left, what, step, steps, atomic_load(&place->first),
                     seconds, NULL);
    snprintf(out, size, "%s  %s", hint, line);
}

static void draw(vd_screen *screen, vd_grid *grid, const vd_curves *curves, const char *note)
{
    int width, height;
    vd_screen_size(screen, &width, &height);
    grid->look = vd_screen_look(screen);
    if (vd_grid_resize(grid, width, height, NULL) != VD_OK)
        return;
    vd_watch_draw(grid, curves, note);
    vd_screen_show(screen, grid);
}

// Escape leaves curves, but does not stop a run.
static bool leaves(const vd_key *key, bool training)
{
    return key->code == 'q' || (key->code == VD_KEY_ESCAPE && !training) ||
           (key->code == 'c' && (key->modifiers & VD_CTRL));
}

enum { SOON = 200, SECOND = 1000 }; // milliseconds

// Waits once; false when the screen is to be closed.
static bool go_on(vd_screen *screen, int milliseconds, const atomic_int *done, atomic_int *stop)
{
    vd_key key;
    vd_wake wake = vd_screen_wait(screen, -1, milliseconds, &key);
    bool leave = wake == VD_WAKE_GONE || (wake == VD_WAKE_KEY && leaves(&key, stop));
    if (leave && stop)
        atomic_store(stop, SIGINT);
    if (wake == VD_WAKE_GONE || (leave && !stop))
        return false;
    return !done || !atomic_load(done);
}

vd_status vd_watch(vd_curves *curves, const atomic_int *done, atomic_int *stop,
                   const vd_training_place *place, vd_error *err)
{
    double began = vd_seconds();
    char note[400];
    vd_screen *screen = NULL;
    vd_grid grid = {0};
    const atomic_int *signalled = NULL;
    int patience = SOON;
    vd_status status = vd_screen_open(false, VD_PICTURE_NONE, "leave --watch out", &screen, err);
    if (status == VD_OK && stop) // instead of what the screen does about signals
        signalled = vd_interrupt_watch();
    while (status == VD_OK) {
        status = vd_curves_refresh(curves, err);
        if (done && status != VD_NO_MEMORY)
            status = VD_OK; // the run has no curves yet, or goes on without them
        if (signalled && atomic_load(signalled))
            atomic_store(stop, atomic_load(signalled));
        bool stopping = stop && atomic_load(stop);
        vd_watch_note(place, vd_seconds() - began, grid.width - 2,
                      stopping ? "stopping after this step"
                      : stop   ? "q stops with a checkpoint"
                               : "q leaves",
                      note, sizeof note);
        draw(screen, &grid, curves, note);
        if (status != VD_OK || !go_on(screen, patience, done, stop))
            break;
        patience = SECOND;
    }
    vd_screen_close(screen);
    vd_grid_free(&grid);
    return status;
}

// ---- a run on a thread of its own, while the caller's owns the terminal -------------------------

typedef struct run_thread {
    vd_training *training;
    atomic_int stop, done;
    vd_training_place place;
    vd_status status;
    vd_error err;
} run_thread;

static void *run_in_thread(void *context)
{
    run_thread *run = context;
    run->status = vd_training_run(run->training, &run->err);
    atomic_store(&run->done, 1);
    return NULL;
}

vd_status vd_training_run_watched(vd_training *training, vd_error *err)
{
    run_thread run = {.training = training};
    vd_curves *curves = NULL;
    pthread_t thread;
    vd_error shown;
    vd_status status = vd_curves_new(&training->directory, 1, NULL, &curves, err);
    if (status)
        return status;
    training->quiet = training->silent = true;
    training->stop = &run.stop;
    training->place = &run.place;
    if (pthread_create(&thread, NULL, run_in_thread, &run) != 0) {
        vd_curves_free(curves);
        return vd_error_set(err, VD_UNAVAILABLE, "no thread for the run could be started");
    }
    vd_status watched = vd_watch(curves, &run.done, &run.stop, &run.place, &shown);
    if (watched != VD_OK) // nobody could stop it now
        atomic_store(&run.stop, SIGTERM);
    pthread_join(thread, NULL);
    vd_interrupt_release();
    vd_curves_free(curves);
    if (watched != VD_OK)
        return vd_error_set(err, watched, "--watch: %s", shown.text);
    if (run.status != VD_OK)
        vd_error_set(err, run.status, "%s", run.err.text);
    return run.status;
}

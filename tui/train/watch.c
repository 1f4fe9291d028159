#include "tui/train/curves.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "engine/base/clock.h"
#include "tui/base/progress.h"
#include "tui/screen/theme.h"
#include "tui/session/loop.h"

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

static void draw_last_row(const vd_curves_view *view, vd_grid *grid, vd_rect at)
{
    char hints[256], note[400];
    if (view->places.now == VD_PLACE_HELP && view->stop) // where Ctrl-D leaves no run as it is
        snprintf(hints, sizeof hints, "Esc back");
    else
        vd_keymap_hints(view->places.now, at.width - 2, hints, sizeof hints);
    vd_watch_note(view->progress, vd_seconds() - view->began, at.width - 2,
                  view->stop && atomic_load(view->stop) ? "stopping after this step" : hints, note,
                  sizeof note);
    vd_grid_fill(grid, at, VD_ROLE_STATUS);
    vd_grid_text(grid, at.x + 1, at.y, at.width - 2, note, VD_ROLE_STATUS);
}

void vd_curves_view_draw(void *context, vd_grid *grid)
{
    vd_curves_view *view = context;
    vd_look able = grid->look; // what the terminal can do, whatever is wanted of it
    vd_rect room = {0, 0, grid->width, grid->height - 1}, last = {0, room.height, room.width, 1};
    grid->look = vd_theme_look(able, view->theme);
    vd_grid_clear(grid);
    if (view->places.now == VD_PLACE_HELP)
        vd_places_draw_help(&view->places, grid, room);
    else
        vd_curves_draw(view->curves, grid, room);
    if (!vd_entry_draw(&view->entry, grid, last))
        draw_last_row(view, grid, last);
    grid->look = able;
}

// What keys and /commands do (vd_act).
static bool act(void *context, vd_action action, const char *argument)
{
    vd_curves_view *view = context;
    bool leave = action == VD_ACTION_LEAVE || action == VD_ACTION_STOP;
    if (leave && view->stop)
        atomic_store(view->stop, SIGINT);
    return (leave && view->stop) || vd_places_act(&view->places, action, argument) ||
           vd_terminal_act(leave ? VD_ACTION_LEAVE : action, argument, &view->theme,
                           &view->entry.notice, &view->ask);
}

bool vd_curves_view_key(void *context, vd_key key)
{
    vd_curves_view *view = context;
    if (!vd_entry_key(&view->entry, &view->places, key, act, view))
        act(view, vd_keymap_action(view->places.now, key, true), "");
    return false;
}

bool vd_curves_view_take_request(void *context, vd_request *out)
{
    vd_curves_view *view = context;
    *out = view->ask;
    view->ask = (vd_request){0};
    return out->kind != VD_REQUEST_NONE;
}

// ---- on the terminal ----------------------------------------------------------------------------

enum { SOON = 200, SECOND = 1000 }; // milliseconds

typedef struct watching {
    vd_curves_view view; // first, so that a watching is a view
    const atomic_int *done, *signalled;
    int patience;
    vd_status status;
    vd_error *err;
} watching;

static int pause_of(void *context)
{
    return ((watching *)context)->patience;
}

static void read_on(void *context)
{
    watching *w = context;
    w->status = vd_curves_refresh(w->view.curves, w->err);
    if (w->done && w->status != VD_NO_MEMORY)
        w->status = VD_OK; // the run has no curves yet, or goes on without them
    if (w->signalled && atomic_load(w->signalled))
        atomic_store(w->view.stop, atomic_load(w->signalled));
    if (w->status || (w->done && atomic_load(w->done)))
        w->view.ask.kind = VD_REQUEST_LEAVE;
    w->patience = SECOND;
}

vd_status vd_curves_watch(vd_curves *curves, const atomic_int *done, atomic_int *stop,
                          const vd_training_place *place, vd_error *err)
{
    watching w = {.view = {.curves = curves, .stop = stop, .progress = place}, .done = done};
    const vd_loop_view loop = {.context = &w,
                               .draw = vd_curves_view_draw,
                               .key = vd_curves_view_key,
                               .take_request = vd_curves_view_take_request,
                               .pause = pause_of,
                               .tick = read_on};
    vd_preferences wanted;
    vd_screen *screen = NULL;
    vd_status status = vd_loop_ready("leave --watch out", &wanted, err);
    if (status == VD_OK)
        status = vd_screen_open(false, VD_PICTURE_NONE, "leave --watch out", &screen, err);
    if (status != VD_OK)
        return status;
    if (stop) // instead of what the screen does about signals
        w.signalled = vd_interrupt_watch();
    w.err = err;
    w.view.began = vd_seconds();
    w.view.theme = wanted.theme;
    vd_places_begin(&w.view.places, stop ? VD_PLACE_RUN : VD_PLACE_CURVES);
    vd_keymap_rebind(wanted.keys, wanted.key_count);
    read_on(&w);
    w.patience = SOON;
    status = vd_loop_run(&loop, screen, NULL, err);
    if (stop && !atomic_load(done)) // the terminal is gone
        atomic_store(stop, SIGINT);
    vd_keymap_rebind(NULL, 0);
    vd_line_free(&w.view.entry.line);
    vd_screen_close(screen);
    return status ? status : w.status;
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
    vd_status watched = vd_curves_watch(curves, &run.done, &run.stop, &run.place, &shown);
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

// A run on a thread of its own, with its curves on the screen; the caller's owns the terminal.
#include "tui/train/watched.h"

#include <pthread.h>
#include <signal.h>

#include "tui/base/progress.h"
#include "tui/train/curves.h"

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

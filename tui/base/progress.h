// Progress of long work, on stderr: on a terminal one line that is rewritten (bar, count, rate,
// time left, a free text), elsewhere a plain line every 30 seconds or so.
#ifndef VD_PROGRESS_H
#define VD_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct vd_progress {
    FILE *stream; // NULL: writes nothing
    bool terminal;
    const char *what;    // borrowed, "epoch 3", "pictures"
    int64_t total;       // 0 = not known
    int64_t first;       // count at the start, for the rate
    double began, shown; // seconds on the monotonic clock
    double interval;     // seconds between two updates on the screen
    size_t width;        // cells of the line on the terminal now
} vd_progress;

// quiet: nothing is ever written. first: how much was done before (resumed work).
void vd_progress_start(vd_progress *progress, const char *what, int64_t total, int64_t first,
                       bool quiet);
// suffix may be NULL. Cheap: writes only when `interval` is over.
void vd_progress_update(vd_progress *progress, int64_t done, const char *suffix);
void vd_progress_report(void *progress, size_t done); // the same; a vd_parallel_report
// Writes the last state as a line that stays, or clears the line when the work failed.
void vd_progress_end(vd_progress *progress, int64_t done, bool good);
// Clears the updating line so that something else can be printed; the next update draws it again.
void vd_progress_clear(vd_progress *progress);

// One line of at most `width` columns into out (size bytes), without a newline; what the calls
// above write. seconds: time since the start.
void vd_progress_line(char *out, size_t size, size_t width, const char *what, int64_t done,
                      int64_t total, int64_t first, double seconds, const char *suffix);

// ---- C-c, SIGTERM and SIGHUP as a flag that long work checks from time to time ------------------

// From this call on these signals set the flag to their number; a second SIGINT or SIGTERM does
// what it did before the call. A SIGHUP that is ignored (nohup) stays so. There is one flag per
// process.
const atomic_int *vd_interrupt_watch(void);
// Restores the earlier handlers.
void vd_interrupt_release(void);

#endif

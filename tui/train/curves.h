// Curves of training runs: scalars read from event files, drawn on a grid.
#ifndef VD_CURVES_H
#define VD_CURVES_H

#include <stdatomic.h>

#include "tui/screen/entry.h"
#include "tui/session/request.h"
#include "tui/train/event_file.h"
#include "tui/train/training.h"

enum { VD_MOST_RUNS = 6 };

typedef struct vd_curves vd_curves;

// Curves of these directories (borrowed, 1 to VD_MOST_RUNS), with tags that contain `tag` (NULL:
// all). Nothing is read yet.
vd_status vd_curves_new(const char *const *directories, int count, const char *tag, vd_curves **out,
                        vd_error *err);
void vd_curves_free(vd_curves *curves);

// Reads what was written since the last call. A directory without an event file is VD_NOT_FOUND.
vd_status vd_curves_refresh(vd_curves *curves, vd_error *err);
void vd_curves_add(vd_curves *curves, int run, int64_t step, const char *tag, double value);
int vd_curves_tags(const vd_curves *curves); // how many panels there are

// One panel per tag, in the order of their first occurrence, as many as fit into `place`: its name,
// the last values, the lowest and highest value and step, and a line of dots for every run (the
// mean of the steps of a column).
void vd_curves_draw(const vd_curves *curves, vd_grid *grid, vd_rect place);

// ---- on the screen, redrawn every second during a run (watch.c) ----------------------

// The screen of the curves: keys go in, requests and a drawn grid come out (vd_loop_view).
typedef struct vd_curves_view {
    vd_curves *curves;
    vd_places places; // from VD_PLACE_CURVES or, of a run that is stopped by leaving, VD_PLACE_RUN
    vd_theme_name theme;
    atomic_int *stop;                  // of this run
    const vd_training_place *progress; // of the run, shown in the last row; may be NULL
    double began;                      // vd_seconds
    vd_entry entry;                    // of /commands
    vd_request ask;                    // of the loop
} vd_curves_view;

bool vd_curves_view_key(void *view, vd_key key);
bool vd_curves_view_take_request(void *view, vd_request *out);
void vd_curves_view_draw(void *view, vd_grid *grid);

// Shows them until the person leaves, or until *done (NULL where stop is) becomes non-zero. A key
// or a signal (vd_interrupt_watch, which the caller releases) sets *stop (may be NULL), and the
// screen then stays until *done. place: see progress. VD_UNAVAILABLE when there is no terminal.
vd_status vd_curves_watch(vd_curves *curves, const atomic_int *done, atomic_int *stop,
                          const vd_training_place *place, vd_error *err);
// That row, at most `width` columns: "hint  epoch 2 of 8 512/3752  13% 2.1/s 25:43 left".
// seconds: since the start of this process.
void vd_watch_note(const vd_training_place *place, double seconds, int width, const char *hint,
                   char *out, size_t size);

// vd_training_run, quiet and silent, while the screen shows the curves; a key stops it with a
// checkpoint. VD_UNAVAILABLE: no thread, or no terminal.
vd_status vd_training_run_watched(vd_training *training, vd_error *err);

#endif

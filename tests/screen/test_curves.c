// The screen of `train --watch` and `curves`: two runs, one of them just begun, at every size that
// is promised, held to tests/screen/expected/curves.txt.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "tests/support/screens.h"
#include "tui/train/curves.h"

static vd_grid grid;

static void add(FILE *out, const vd_curves *curves, const char *note, const char *title)
{
    static const int sizes[3][2] = {{80, 24}, {120, 40}, {40, 12}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vd_grid_resize(&grid, sizes[i][0], sizes[i][1], NULL), VD_OK);
        vd_watch_draw(&grid, curves, note);
        char *text = vd_grid_to_text(&grid);
        assert_non_null(text);
        fprintf(out, "==== %s (%dx%d)\n%s", title, sizes[i][0], sizes[i][1], text);
        vd_free(text);
    }
}

// What a run writes: losses at every step, metrics of val after every epoch.
static void run_for(vd_curves *curves, int run, int steps)
{
    for (int step = 1; step <= steps; step++) {
        vd_curves_add(curves, run, step, "train/loss", 4.6 * exp(-step / 200.0) + 0.8 + run * 0.1);
        vd_curves_add(curves, run, step, "train/rate", 0.001 * (step < 100 ? step / 100.0 : 1));
        if (step % 100 == 0) {
            vd_curves_add(curves, run, step, "val/mrr", 0.6 - 0.4 * exp(-step / 300.0));
            vd_curves_add(curves, run, step, "val/ndcg", 0.5 - 0.3 * exp(-step / 300.0));
        }
    }
}

static void the_screens_are_as_expected(void **state)
{
    (void)state;
    const char *const runs[] = {"runs/base", "runs/improved"};
    char *played = NULL;
    size_t size = 0;
    vd_curves *curves;
    FILE *out = open_memstream(&played, &size);
    assert_non_null(out);
    assert_int_equal(vd_curves_new(runs, 2, NULL, &curves, NULL), VD_OK);
    add(out, curves, "q leaves", "nothing yet");
    run_for(curves, 0, 700);
    run_for(curves, 1, 60);
    add(out, curves, "q stops with a checkpoint", "one run, another just begun");
    run_for(curves, 1, 700);
    grid.look.ascii = true;
    add(out, curves, "stopping after this step", "both, in ASCII");
    vd_curves_free(curves);
    vd_grid_free(&grid);
    fclose(out);
    screens_expect("curves", played);
}

// Epoch, rate and time left, of a run that went on at step 400.
static void the_last_row_says_how_far_the_run_is(void **state)
{
    (void)state;
    vd_training_place place = {0};
    char note[200];
    vd_watch_note(&place, 1, 78, "q leaves", note, sizeof note);
    assert_string_equal(note, "q leaves"); // nothing is known yet
    atomic_store(&place.first, 400);
    atomic_store(&place.step, 500);
    atomic_store(&place.epoch_steps, 300);
    atomic_store(&place.steps, 1200);
    vd_watch_note(&place, 50, 78, "q leaves", note, sizeof note);
    assert_memory_equal(note, "q leaves  epoch 2 of 4", 22);
    assert_non_null(strstr(note, "500/1200  41% 2.00/s 5:50 left"));
    vd_watch_note(&place, 50, 24, "q leaves", note, sizeof note);
    assert_string_equal(note, "q leaves  epoch 2 of 4 5"); // how to leave comes first
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screens_are_as_expected),
        cmocka_unit_test(the_last_row_says_how_far_the_run_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The screen of `train --watch` and `curves`: two runs, one of them just begun, at every size that
// is promised, held to tests/screen/expected/curves.txt.
#include <math.h>
#include <setjmp.h>
#include <signal.h>
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

static vd_curves_view view;

static void draw(FILE *out, int width, int height, const char *title)
{
    vd_grid_resize(&grid, width, height);
    vd_curves_view_draw(&view, &grid);
    char *text = vd_grid_to_text(&grid);
    assert_non_null(text);
    fprintf(out, "==== %s (%dx%d)\n%s", title, width, height, text);
    vd_free(text);
}

static void add(FILE *out, const char *title)
{
    draw(out, 80, 24, title);
    draw(out, 120, 40, title);
    draw(out, 40, 12, title);
}

static void press(const char *name)
{
    vd_key key;
    assert_true(vd_key_parse(name, &key));
    vd_curves_view_key(&view, key);
}

static void type(const char *text)
{
    for (; *text; text++)
        vd_curves_view_key(&view, (vd_key){.code = (unsigned char)*text});
}

// What a key asks of the main loop.
static vd_request_kind asked(const char *name)
{
    vd_request request;
    press(name);
    return vd_curves_view_take_request(&view, &request) ? request.kind : VD_REQUEST_NONE;
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
    atomic_int stop = 0;
    FILE *out = open_memstream(&played, &size);
    assert_non_null(out);
    assert_int_equal(vd_curves_new(runs, 2, NULL, &view.curves, NULL), VD_OK);
    vd_places_begin(&view.places, VD_PLACE_CURVES);
    add(out, "nothing yet");
    run_for(view.curves, 0, 700);
    run_for(view.curves, 1, 60);
    vd_places_begin(&view.places, VD_PLACE_RUN);
    view.stop = &stop;
    add(out, "one run, another just begun");
    press("F1");
    add(out, "its keys");
    press("Esc");
    type("/stpo");
    press("Enter");
    add(out, "a command that is none");
    type("/");
    press("Tab");
    add(out, "its commands");
    press("Esc");
    run_for(view.curves, 1, 700);
    press("q");
    grid.look.ascii = true;
    add(out, "both, in ASCII");
    vd_curves_free(view.curves);
    vd_line_free(&view.entry.line);
    vd_grid_free(&grid);
    fclose(out);
    screens_expect("curves", played);
}

// As everywhere: the help opens and closes, the terminal is redrawn, keys can be others.
static void keys_do_what_the_key_map_says(void **state)
{
    (void)state;
    vd_error err;
    vd_rebinding mine;
    view = (vd_curves_view){0};
    vd_places_begin(&view.places, VD_PLACE_CURVES);
    assert_int_equal(asked("Ctrl-L"), VD_REQUEST_REDRAW);
    assert_int_equal(asked("Ctrl-Z"), VD_REQUEST_SUSPEND);
    assert_int_equal(asked("?"), VD_REQUEST_NONE);
    assert_int_equal(view.places.now, VD_PLACE_HELP);
    assert_int_equal(asked("x"), VD_REQUEST_NONE);
    assert_int_equal(view.places.now, VD_PLACE_HELP);
    assert_int_equal(asked("q"), VD_REQUEST_NONE); // leaves the help only
    assert_int_equal(view.places.now, VD_PLACE_CURVES);
    assert_int_equal(vd_rebinding_read("F9", "q", &mine, &err), VD_OK);
    vd_keymap_rebind(&mine, 1);
    assert_int_equal(asked("F9"), VD_REQUEST_LEAVE);
    vd_keymap_rebind(NULL, 0);
    assert_int_equal(asked("F9"), VD_REQUEST_NONE);
    assert_int_equal(asked("Esc"), VD_REQUEST_LEAVE);
    press("?");
    assert_int_equal(asked("Ctrl-C"), VD_REQUEST_LEAVE);
}

static void commands_are_typed(void **state)
{
    (void)state;
    atomic_int stop = 0;
    view = (vd_curves_view){0};
    vd_places_begin(&view.places, VD_PLACE_CURVES);
    type("/help");
    assert_int_equal(asked("Enter"), VD_REQUEST_NONE);
    assert_int_equal(view.places.now, VD_PLACE_HELP);
    press("Esc");
    type("/quti");
    assert_int_equal(asked("Enter"), VD_REQUEST_NONE);
    assert_string_equal(view.entry.notice.text, "/quti is not a command; did you mean /quit?");
    type("/theme dark");
    press("Enter");
    assert_int_equal(view.theme, VD_THEME_DARK);
    type("/q"); // letters of a line are no keys
    assert_int_equal(asked("Esc"), VD_REQUEST_NONE);
    type("/red");
    assert_int_equal(asked("Enter"), VD_REQUEST_REDRAW);
    type("/quit");
    assert_int_equal(asked("Enter"), VD_REQUEST_LEAVE);
    view.stop = &stop;
    view.places.depth = 0;
    vd_places_begin(&view.places, VD_PLACE_RUN);
    type("/quit");
    assert_int_equal(asked("Enter"), VD_REQUEST_NONE);
    assert_int_equal(stop, SIGINT);
    vd_line_free(&view.entry.line);
}

static void a_run_is_stopped_by_q_but_not_by_escape(void **state)
{
    (void)state;
    atomic_int stop = 0;
    view = (vd_curves_view){.stop = &stop};
    vd_places_begin(&view.places, VD_PLACE_RUN);
    assert_int_equal(asked("Esc"), VD_REQUEST_NONE);
    assert_int_equal(stop, 0);
    assert_int_equal(asked("q"), VD_REQUEST_NONE); // the screen stays until the run has stopped
    assert_int_equal(stop, SIGINT);
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
        cmocka_unit_test(keys_do_what_the_key_map_says),
        cmocka_unit_test(commands_are_typed),
        cmocka_unit_test(a_run_is_stopped_by_q_but_not_by_escape),
        cmocka_unit_test(the_last_row_says_how_far_the_run_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

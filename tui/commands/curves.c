#include "tui/commands/command.h"

#include "tui/train/curves.h"

typedef struct curve_settings {
    const char *tag;
    int width, height;
    bool watch;
} curve_settings;

static const vd_option options[] = {
    {"tag", "TEXT", "only curves whose name contains TEXT, such as train/loss or val/",
     VD_INTO(curve_settings, tag)},
    {"width", "N", "columns to draw (default: those of the terminal, else 80)",
     VD_INTO(curve_settings, width), 20, 1000},
    {"height", "N", "rows of one curve (10)", VD_INTO(curve_settings, height), 4, 60},
    {"watch", NULL, VD_HELP_WATCH, VD_INTO(curve_settings, watch)},
    {0},
};

static void print(vd_curves *curves, int runs, int width, int height)
{
    vd_grid grid = {0};
    int tags = vd_curves_tags(curves);
    int rows = (tags > 0 ? tags * height : 1) + (runs > 1);
    vd_grid_resize(&grid, width, rows);
    vd_curves_draw(curves, &grid, (vd_rect){0, 0, width, rows});
    g_autofree char *text = vd_grid_to_text(&grid);
    fputs(text, stdout);
    vd_grid_free(&grid);
}

static vd_status run(int argc, char **argv, vd_error *err)
{
    int columns = vd_output_columns();
    curve_settings s = {.width = columns >= 20 ? columns : 80, .height = 10};
    vd_arguments given;
    vd_curves *curves = NULL;
    vd_status status = vd_arguments_read(options, argc, argv, &s, &given, err);
    if (status == VD_OK && given.count == 0)
        status = vd_error_set(err, VD_USAGE,
                              "which run? name the directory that `visdial train --out` made");
    if (status == VD_OK)
        status =
            vd_curves_new((const char *const *)given.operand, given.count, s.tag, &curves, err);
    if (status == VD_OK)
        status = vd_curves_refresh(curves, err);
    if (status == VD_OK && s.tag && vd_curves_tags(curves) == 0)
        status = vd_error_set(err, VD_NOT_FOUND, "--tag: no curve has '%.80s' in its name", s.tag);
    if (status == VD_OK && s.watch)
        status = vd_curves_watch(curves, NULL, NULL, NULL, err);
    else if (status == VD_OK)
        print(curves, given.count, s.width, s.height);
    vd_curves_free(curves);
    return status;
}

const vd_command vd_cmd_curves = {
    "curves",
    run,
    "draw the curves of training runs",
    "[options] DIR...",
    "Draws the event files (TensorBoard's format) that `visdial train --out DIR` writes: loss, "
    "gradient norm and learning rate of every step, metrics of every epoch. Several runs share "
    "the same panels.",
    "  visdial curves run1\n"
    "  visdial curves --tag val/ run1 run2\n"
    "  visdial curves --watch run1\n",
    .options = options};

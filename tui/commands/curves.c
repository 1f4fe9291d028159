#include "tui/commands/command.h"

#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/alloc.h"
#include "tui/base/option_texts.h"
#include "tui/base/output.h"
#include "tui/train/watch.h"

enum { TAG, WIDTH, HEIGHT, WATCH };

const vd_option vd_cmd_curves_options[] = {
    {"tag", "TEXT", "only curves whose name contains TEXT, such as train/loss or val/"},
    {"width", "N", "columns to draw (default: those of the terminal, else 80)"},
    {"height", "N", "rows of one curve (10)"},
    {"watch", NULL, VD_HELP_WATCH},
    {0},
};

static int64_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

static vd_status print(vd_curves *curves, int runs, int64_t width, int64_t height, vd_error *err)
{
    vd_grid grid = {0};
    int tags = vd_curves_tags(curves);
    int rows = (tags > 0 ? tags : 1) * (int)height + (runs > 1);
    vd_status status = vd_grid_resize(&grid, (int)width, rows, err);
    if (status)
        return status;
    vd_curves_draw(curves, &grid, (vd_rect){0, 0, (int)width, rows});
    char *text = vd_grid_to_text(&grid);
    if (text)
        fputs(text, stdout);
    else
        status = vd_error_memory(err, "the curves");
    vd_free(text);
    vd_grid_free(&grid);
    return status;
}

int vd_cmd_curves(int argc, char **argv)
{
    vd_option_walk walk = {.options = vd_cmd_curves_options, .argc = argc, .argv = argv};
    const char *value, *tag = NULL;
    int option;
    int64_t width = terminal_width(), height = 10;
    bool watch = false;
    vd_error err = {0};
    vd_status status = VD_OK;
    while (status == VD_OK && (option = vd_option_next(&walk, &value, &err)) >= 0) {
        if (option == TAG)
            tag = value;
        else if (option == WATCH)
            watch = true;
        else
            status = vd_option_int(vd_cmd_curves_options[option].name, value,
                                   option == WIDTH ? 20 : 4, option == WIDTH ? 1000 : 60,
                                   option == WIDTH ? &width : &height, &err);
    }
    if (status == VD_OK && option == VD_OPTION_ERROR)
        status = VD_USAGE;
    if (status == VD_OK && walk.operands >= argc)
        status = vd_error_set(&err, VD_USAGE,
                              "which run? name the directory that `visdial train --out` made");
    vd_curves *curves = NULL;
    int runs = argc - walk.operands;
    if (status == VD_OK)
        status = vd_curves_new((const char *const *)argv + walk.operands, runs, tag, &curves, &err);
    if (status == VD_OK)
        status = vd_curves_refresh(curves, &err);
    if (status == VD_OK && tag && vd_curves_tags(curves) == 0)
        status = vd_error_set(&err, VD_NOT_FOUND, "--tag: no curve has '%.80s' in its name", tag);
    if (status == VD_OK)
        status =
            watch ? vd_watch(curves, NULL, NULL, &err) : print(curves, runs, width, height, &err);
    vd_curves_free(curves);
    return status ? vd_command_fail("curves", &err) : 0;
}

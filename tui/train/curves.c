#include "tui/train/curves.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/alloc.h"

enum { LABEL = 9, LEAST_HEIGHT = 6, LEAST_WIDTH = 36, MOST_TAGS = 96 };

typedef struct point {
    int64_t step;
    double value;
} point;

typedef struct series {
    point *at;
    size_t count, room;
} series;

typedef struct panel {
    char tag[128];
    series run[VD_MOST_RUNS];
} panel;

typedef struct source {
    const char *directory;
    char *path; // of the event file that is read, NULL before there is one
    size_t offset;
} source;

struct vd_curves {
    source source[VD_MOST_RUNS];
    int runs;
    const char *tag;
    panel panel[MOST_TAGS];
    int panels;
    int reading; // the run that is read now
    bool no_memory;
};

vd_status vd_curves_new(const char *const *directories, int count, const char *tag, vd_curves **out,
                        vd_error *err)
{
    *out = NULL;
    if (count < 1 || count > VD_MOST_RUNS)
        return vd_error_set(err, VD_USAGE, "%d runs: expected 1 to %d", count, VD_MOST_RUNS);
    vd_curves *curves = g_new0(vd_curves, 1);
    for (int i = 0; i < count; i++)
        curves->source[i].directory = directories[i];
    curves->runs = count;
    curves->tag = tag;
    *out = curves;
    return VD_OK;
}

void vd_curves_free(vd_curves *curves)
{
    if (!curves)
        return;
    for (int i = 0; i < curves->runs; i++)
        vd_free(curves->source[i].path);
    for (int i = 0; i < curves->panels; i++)
        for (int r = 0; r < curves->runs; r++)
            vd_free(curves->panel[i].run[r].at);
    g_free(curves);
}

int vd_curves_tags(const vd_curves *curves)
{
    return curves->panels;
}

// ---- reading ------------------------------------------------------------------------------------

static panel *panel_of(vd_curves *curves, const char *tag)
{
    if (curves->tag && !strstr(tag, curves->tag))
        return NULL;
    for (int i = 0; i < curves->panels; i++)
        if (strcmp(curves->panel[i].tag, tag) == 0)
            return &curves->panel[i];
    if (curves->panels == MOST_TAGS)
        return NULL;
    panel *fresh = &curves->panel[curves->panels++];
    snprintf(fresh->tag, sizeof fresh->tag, "%s", tag);
    return fresh;
}

void vd_curves_add(vd_curves *curves, int run, int64_t step, const char *tag, double value)
{
    panel *p = panel_of(curves, tag);
    if (!p || !isfinite(value))
        return;
    series *s = &p->run[run];
    if (vd_make_room(&s->at, &s->room, s->count + 1, sizeof *s->at))
        s->at[s->count++] = (point){step, value};
    else
        curves->no_memory = true;
}

static void take(void *context, int64_t step, const char *tag, double value)
{
    vd_curves *curves = context;
    vd_curves_add(curves, curves->reading, step, tag, value);
}

// For another file, or one that is shorter now: the run was started again.
static void forget(vd_curves *curves, int run)
{
    curves->source[run].offset = 0;
    for (int i = 0; i < curves->panels; i++)
        curves->panel[i].run[run].count = 0;
}

static vd_status refresh_run(vd_curves *curves, int run, vd_error *err)
{
    source *s = &curves->source[run];
    char *path;
    size_t before = s->offset;
    vd_status status = vd_events_find(s->directory, &path, err);
    if (status != VD_OK)
        return status;
    if (!s->path || strcmp(s->path, path) != 0)
        forget(curves, run);
    vd_free(s->path);
    s->path = path;
    curves->reading = run;
    status = vd_events_read(path, &s->offset, take, curves, err);
    if (status == VD_OK && s->offset < before) {
        forget(curves, run);
        status = vd_events_read(path, &s->offset, take, curves, err);
    }
    return status;
}

vd_status vd_curves_refresh(vd_curves *curves, vd_error *err)
{
    vd_status status = VD_OK;
    for (int run = 0; run < curves->runs && status == VD_OK; run++)
        status = refresh_run(curves, run, err);
    if (status == VD_OK && curves->no_memory)
        status = vd_error_memory(err, "curves");
    return status;
}

// ---- drawing ------------------------------------------------------------------------------------

static const vd_role roles[VD_MOST_RUNS] = {VD_ROLE_FIRST,    VD_ROLE_BAR_REGION, VD_ROLE_BAR_ROUND,
                                            VD_ROLE_BAR_WORD, VD_ROLE_WRONG,      VD_ROLE_TITLE};

static vd_role role_of(int run)
{
    return roles[run % VD_MOST_RUNS];
}

typedef struct range {
    int64_t first, last;
    double low, high;
} range;

static range range_of(const panel *p, int runs)
{
    range r = {.first = INT64_MAX, .last = INT64_MIN, .low = INFINITY, .high = -INFINITY};
    for (int i = 0; i < runs; i++)
        for (size_t k = 0; k < p->run[i].count; k++) {
            const point *at = &p->run[i].at[k];
            r.first = at->step < r.first ? at->step : r.first;
            r.last = at->step > r.last ? at->step : r.last;
            r.low = fmin(r.low, at->value);
            r.high = fmax(r.high, at->value);
        }
    return r;
}

// Where there are no colours, the number of a run of several is its mark: as text, in a pipe.
static bool marks_runs(const vd_curves *curves, const vd_grid *grid)
{
    return curves->runs > 1 && grid->look.depth == VD_DEPTH_MONO;
}

// What stands in front of a run's name and value, "2 ".
static const char *mark_of(const vd_curves *curves, const vd_grid *grid, int run)
{
    static const char *const marks[VD_MOST_RUNS] = {"1 ", "2 ", "3 ", "4 ", "5 ", "6 "};
    return marks_runs(curves, grid) ? marks[run] : "";
}

// One dot of the 2 x 4 of a braille cell; an asterisk where there is only ASCII. Or the mark.
static void dot(vd_grid *grid, vd_rect plot, int x, int y, char mark, vd_role role)
{
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int column = plot.x + x / 2, row = plot.y + y / 4;
    const vd_cell *cell = vd_grid_at(grid, column, row);
    if (!cell)
        return;
    if (mark) {
        vd_grid_put(grid, column, row, (unsigned char)mark, mark, role);
        return;
    }
    uint32_t code = cell->count == 1 && cell->code[0] >= 0x2800 && cell->code[0] < 0x2900
                        ? cell->code[0]
                        : 0x2800;
    vd_grid_put(grid, column, row, code | bits[y % 4][x % 2], '*', role);
}

static int row_of(double value, const range *r, int dots)
{
    double span = r->high - r->low, place = span > 0 ? (r->high - value) / span : 0.5;
    return (int)lround(place * (dots - 1));
}

// The mean of the steps on each column of dots, joined by lines.
static void draw_series(vd_grid *grid, vd_rect plot, const series *s, const range *r, char mark,
                        vd_role role)
{
    int wide = 2 * plot.width, tall = 4 * plot.height, before_x = -1, before_y = 0;
    double steps = r->last > r->first ? (double)(r->last - r->first) : 1;
    for (size_t k = 0; k < s->count;) {
        int x = (int)((double)(s->at[k].step - r->first) / steps * (wide - 1));
        double sum = 0;
        size_t count = 0;
        for (; k < s->count && (int)((double)(s->at[k].step - r->first) / steps * (wide - 1)) == x;
             k++, count++)
            sum += s->at[k].value;
        int y = row_of(sum / (double)count, r, tall);
        int from = before_x < 0 ? x : before_x, length = x - from > 0 ? x - from : 1;
        int rise = before_x < 0 ? 0 : y - before_y, fine = rise < 0 ? -rise : rise;
        int parts = length > fine ? length : fine;
        for (int i = before_x < 0 ? parts : 1; i <= parts; i++)
            dot(grid, plot, from + (x - from) * i / parts,
                before_x < 0 ? y : before_y + rise * i / parts, mark, role);
        before_x = x;
        before_y = y;
    }
}

static void draw_title(const vd_curves *curves, const panel *p, vd_grid *grid, vd_rect place)
{
    char text[64];
    int x = place.x + place.width;
    for (int run = curves->runs - 1; run >= 0; run--) {
        const series *s = &p->run[run];
        if (s->count == 0)
            continue;
        int width = snprintf(text, sizeof text, " %s%.5g", mark_of(curves, grid, run),
                             s->at[s->count - 1].value);
        width += marks_runs(curves, grid);
        x -= width;
        vd_grid_text(grid, x, place.y, width, text, role_of(run));
    }
    vd_grid_text(grid, place.x, place.y, x - place.x - 1, p->tag, VD_ROLE_TITLE);
}

// With as many digits as have room beside the plot.
static void draw_label(vd_grid *grid, int x, int y, double value)
{
    char text[32];
    int digits = 5;
    do
        snprintf(text, sizeof text, "%.*g", --digits, value);
    while (digits > 1 && strlen(text) >= LABEL);
    vd_grid_right(grid, x, y, LABEL - 1, text, VD_ROLE_FAINT);
}

static void draw_panel(const vd_curves *curves, const panel *p, vd_grid *grid, vd_rect place)
{
    range r = range_of(p, curves->runs);
    char text[48];
    draw_title(curves, p, grid, place);
    if (r.first > r.last) // there is none yet
        return;
    vd_rect plot = {place.x + LABEL, place.y + 1, place.width - LABEL, place.height - 2};
    draw_label(grid, place.x, plot.y, r.high);
    draw_label(grid, place.x, plot.y + plot.height - 1, r.low);
    for (int run = curves->runs - 1; run >= 0; run--)
        draw_series(grid, plot, &p->run[run], &r, mark_of(curves, grid, run)[0], role_of(run));
    snprintf(text, sizeof text, "%" PRId64, r.first);
    vd_grid_text(grid, plot.x, place.y + place.height - 1, plot.width, text, VD_ROLE_FAINT);
    snprintf(text, sizeof text, "step %" PRId64, r.last);
    vd_grid_right(grid, plot.x, place.y + place.height - 1, plot.width, text, VD_ROLE_FAINT);
}

static void draw_runs(const vd_curves *curves, vd_grid *grid, vd_rect *place)
{
    if (curves->runs == 1)
        return;
    int x = place->x;
    for (int run = 0; run < curves->runs && x < place->x + place->width; run++) {
        vd_role role = role_of(run);
        x += vd_grid_text(grid, x, place->y, place->x + place->width - x,
                          mark_of(curves, grid, run), role);
        x += 2 + vd_grid_text(grid, x, place->y, place->x + place->width - x,
                              curves->source[run].directory, role);
    }
    place->y++;
    place->height--;
}

void vd_curves_draw(const vd_curves *curves, vd_grid *grid, vd_rect place)
{
    draw_runs(curves, grid, &place);
    if (curves->panels == 0) {
        vd_grid_text(grid, place.x, place.y, place.width, "no scalars yet", VD_ROLE_FAINT);
        return;
    }
    int columns = 1, rows = curves->panels;
    while (place.height / rows < LEAST_HEIGHT && place.width / (columns + 1) >= LEAST_WIDTH) {
        columns++;
        rows = (curves->panels + columns - 1) / columns;
    }
    if (place.height / rows < LEAST_HEIGHT)
        rows = place.height / LEAST_HEIGHT > 0 ? place.height / LEAST_HEIGHT : 1;
    int hidden = curves->panels - rows * columns;
    if (hidden > 0) {
        char text[80];
        place.height--;
        snprintf(text, sizeof text, "%d more: enlarge the window, or --tag", hidden);
        vd_grid_right(grid, place.x, place.y + place.height, place.width, text, VD_ROLE_NOTE);
    }
    int width = place.width / columns, height = place.height / rows;
    for (int i = 0; i < curves->panels && i < rows * columns; i++) {
        vd_rect at = {place.x + i % columns * width, place.y + i / columns * height,
                      width - (columns > 1 ? 2 : 0), height};
        draw_panel(curves, &curves->panel[i], grid, at);
    }
}

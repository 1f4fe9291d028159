// The screen of the questions of a data set with the answers of two to four models: a list that can
// be filtered and ordered, one case with the dialog, every ranking and what each model looked at
// (the thesis' layout), and its attentions word by word. Keys and events go in, requests and a
// drawn grid come out; no terminal here.
#ifndef VD_COMPARE_CASES_VIEW_H
#define VD_COMPARE_CASES_VIEW_H

#include "tui/answer/columns.h"
#include "tui/compare/cases.h"
#include "tui/session/config.h"
#include "tui/screen/entry.h"
#include "tui/screen/picture.h"
#include "tui/session/request.h"

typedef struct vd_cases_view {
    const vd_cases *cases;
    vd_case_filter filter; // its text is find.text
    vd_case_order order;
    const vd_case **at; // (count) those that match, owned
    size_t count;
    size_t cursor; // in at
    size_t in_group[VD_CASE_GROUPS];

    vd_places places; // from the list on; what it begins with depends on the width
    vd_line find;
    int side; // the model that is looked at: its attention is on the picture
    int word; // of the question, in its attentions word by word
    vd_theme_name theme;
    vd_entry entry; // of /commands

    // Written while drawing, for keys and mouse.
    int page;      // rows of the list
    vd_rect hints; // the last row, unless something else is said there
    vd_rect list;
    size_t list_top; // index of the case in its first row
    vd_columns columns;
    vd_columns pictures;              // theirs, where there are several
    int group_x[VD_CASE_UNKNOWN + 1]; // columns of the status row where groups begin, and the end

    // The case that is shown, once its answers came.
    const vd_case *shown; // NULL: none yet
    vd_case_sheet *sheet; // owned; NULL: none
    const vd_case *asked; // requested last
    vd_picture picture;
    int64_t pictured; // whose picture it is, when there is one
    vd_status status; // of the answers to shown; error: unless VD_OK
    vd_error error;
    char picture_error[300]; // where there is no picture
    const vd_case *wanted;   // to be requested
    vd_request ask;          // of the main loop
} vd_cases_view;

// order: what the list begins with. at: a case to begin with, already open; NULL: the list.
void vd_cases_view_init(vd_cases_view *view, const vd_cases *cases, const vd_case_filter *filter,
                        vd_case_order order, const vd_case *at);
void vd_cases_view_free(vd_cases_view *view);

// The functions of a vd_loop_view, with a vd_cases_view as their context. Requests are
// VD_REQUEST_CASE (its index is the case's), or for the terminal.
bool vd_cases_view_key(void *view, vd_key key);
bool vd_cases_view_take_request(void *view, vd_request *out);
void vd_cases_view_event(void *view, vd_event *event);
void vd_cases_view_draw(void *view, vd_grid *grid);

// Checks, before the cases are computed, that the terminal can show them and the configuration can
// be read. *out: the user's preferences.
vd_status vd_cases_screen_ready(vd_preferences *out, vd_error *err);
// On the terminal until the person leaves (cases_screen.c).
vd_status vd_cases_screen(const vd_cases *cases, const vd_case_filter *filter, vd_case_order order,
                          const vd_case *at, const vd_preferences *wanted, vd_error *err);

// The rest is between its files.
// cases_view.c
void vd_cases_view_go(vd_cases_view *view, size_t index); // puts the cursor there
// Lists what matches after a change of filter or order; the case under the cursor stays there.
void vd_cases_view_choose(vd_cases_view *view);
// case_view.c
void vd_cases_view_draw_case(vd_cases_view *view, vd_grid *grid, vd_rect at);
void vd_cases_view_draw_zoom(vd_cases_view *view, vd_grid *grid, vd_rect at);
void vd_cases_view_draw_maps(vd_cases_view *view, vd_grid *grid, vd_rect at);

#endif

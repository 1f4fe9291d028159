// The cases on the terminal: screen, view and the engine's thread put together.
#include "tui/compare/cases_view.h"
#include "tui/session/loop.h"

#include <glib.h>

static void free_sheet(void *sheet)
{
    vd_case_sheet_clear(sheet);
    g_free(sheet);
}

static void serve_case(void *context, const vd_request *request, const atomic_int *stop,
                       vd_event *event)
{
    const vd_cases *cases = context;
    event->case_index = request->index;
    event->made = g_new(vd_case_sheet, 1);
    event->free_made = free_sheet;
    event->status = vd_case_sheet_make(cases, &cases->at[request->index], VD_RIGHT_HUMAN, stop,
                                       event->made, &event->error);
}

static const char instead[] = "omit --screen to print the results";

vd_status vd_cases_screen_ready(vd_preferences *out, vd_error *err)
{
    return vd_loop_ready(instead, out, err);
}

vd_status vd_cases_screen(const vd_cases *cases, const vd_case_filter *filter, vd_case_order order,
                          const vd_case *at, const vd_preferences *wanted, vd_error *err)
{
    vd_keymap_rebind(wanted->keys, wanted->key_count);
    vd_cases_view *view = g_new(vd_cases_view, 1);
    vd_screen *screen = NULL;
    vd_worker *worker = NULL;
    const vd_loop_view loop = {.context = view,
                               .draw = vd_cases_view_draw,
                               .key = vd_cases_view_key,
                               .take_request = vd_cases_view_take_request,
                               .event = vd_cases_view_event};
    void *lanes[] = {(void *)cases};
    vd_cases_view_init(view, cases, filter, order, at);
    view->theme = wanted->theme;
    vd_status status = vd_screen_open(wanted->mouse, wanted->pictures, instead, &screen, err);
    if (status == VD_OK)
        status = vd_worker_start(serve_case, lanes, 1, &worker, err);
    if (status == VD_OK)
        status = vd_loop_run(&loop, screen, worker, err);
    vd_screen_close(screen);
    vd_worker_free(worker);
    vd_cases_view_free(view);
    g_free(view);
    vd_keymap_rebind(NULL, 0);
    return status;
}

// The cases on the terminal: screen, view and the engine's thread put together.
#include "engine/base/alloc.h"
#include "tui/screen/screen.h"
#include "tui/compare/cases_view.h"
#include "tui/session/worker.h"

typedef struct cases_program {
    vd_cases_view view;
    vd_screen *screen;
    vd_worker *worker;
    vd_grid grid;
} cases_program;

static void serve_case(void *context, const vd_request *request, const atomic_int *stop,
                       vd_event *event)
{
    const vd_cases *cases = context;
    event->case_index = request->index;
    event->case_answers = vd_alloc(1, sizeof *event->case_answers);
    if (event->case_answers)
        event->status = vd_case_answer(cases, &cases->at[request->index], stop, event->case_answers,
                                       &event->error);
    else
        event->status = vd_error_memory(&event->error, "a case");
}

static vd_status show_cases(cases_program *program, vd_error *err)
{
    int width, height;
    vd_screen_size(program->screen, &width, &height);
    if (width != program->grid.width || height != program->grid.height) {
        vd_status status = vd_grid_resize(&program->grid, width, height, err);
        if (status)
            return status;
    }
    vd_cases_view_draw(&program->view, &program->grid);
    vd_screen_show(program->screen, &program->grid);
    return VD_OK;
}

static vd_status run_cases(cases_program *program, vd_error *err)
{
    vd_status status = VD_OK;
    while (status == VD_OK && !program->view.leaving) {
        vd_request request;
        vd_key key;
        vd_event event;
        status = show_cases(program, err);
        if (status == VD_OK && vd_cases_view_take_request(&program->view, &request))
            status = vd_worker_submit(program->worker, &request, err);
        if (status)
            break;
        switch (vd_screen_wait(program->screen, vd_worker_fd(program->worker), &key)) {
        case VD_WAKE_KEY:
            if (key.modifiers == VD_CTRL && key.code == 'l')
                vd_screen_redraw(program->screen);
            else if (key.modifiers == VD_CTRL && key.code == 'z')
                vd_screen_suspend(program->screen);
            else
                vd_cases_view_key(&program->view, key);
            break;
        case VD_WAKE_FD:
            while (vd_worker_take(program->worker, &event))
                vd_cases_view_event(&program->view, &event);
            break;
        case VD_WAKE_RESIZE:
            break;
        case VD_WAKE_GONE:
            return VD_OK;
        }
    }
    return status;
}

static const char instead[] = "leave --screen out, what is found is then printed";

vd_status vd_cases_screen_ready(vd_preferences *out, vd_error *err)
{
    *out = vd_preferences_defaults();
    vd_status status = vd_screen_usable(instead, err);
    return status ? status : vd_preferences_read(NULL, out, err);
}

vd_status vd_cases_screen(const vd_cases *cases, const vd_case_filter *filter, vd_case_order order,
                          const vd_case *at, const vd_preferences *wanted, vd_error *err)
{
    cases_program *program = vd_alloc(1, sizeof *program);
    if (!program)
        return vd_error_memory(err, "the screen");
    void *lanes[] = {(void *)cases};
    vd_status status = vd_cases_view_init(&program->view, cases, filter, order, at, err);
    program->view.theme = wanted->theme;
    if (status == VD_OK)
        status = vd_screen_open(wanted->mouse, instead, &program->screen, err);
    if (status == VD_OK)
        status = vd_worker_start(serve_case, lanes, 1, &program->worker, err);
    if (status == VD_OK) {
        program->grid.look = vd_screen_look(program->screen);
        status = run_cases(program, err);
    }
    vd_screen_close(program->screen);
    vd_worker_free(program->worker);
    vd_cases_view_free(&program->view);
    vd_grid_free(&program->grid);
    vd_free(program);
    return status;
}

#include "tui/session/loop.h"

#include <glib.h>
#include <math.h>

#include "engine/base/clock.h"
#include "tui/base/options.h"
#include "tui/screen/clipboard.h"
#include "tui/screen/entry.h"
#include "tui/screen/theme.h"
#include "tui/session/config.h"

typedef struct loop {
    const vd_loop_view *view;
    vd_screen *screen;
    vd_worker *worker;
    vd_grid grid;
    bool leaving, redraw;
    double due; // vd_loop_left
} loop;

static void show(loop *l)
{
    int width, height;
    vd_screen_size(l->screen, &width, &height);
    if (width != l->grid.width || height != l->grid.height)
        vd_grid_resize(&l->grid, width, height);
    l->grid.look = vd_screen_look(l->screen); // which the terminal's answers change
    l->view->draw(l->view->context, &l->grid);
    vd_screen_show(l->screen, &l->grid);
}

// ---- what a view asks for -----------------------------------------------------------------------

static void choose_theme(const char *name, vd_theme_name *theme, vd_notice *notice)
{
    int found = vd_choice_find(VD_THEME_NAMES, name);
    if (!*name) {
        char *path = vd_preferences_path();
        vd_notice_say(notice, "theme %s of " VD_THEME_NAMES "; `theme = NAME` in %s keeps one",
                      vd_theme_title(*theme), path ? path : "the config file");
        g_free(path);
        return;
    }
    if (found < 0) {
        vd_notice_complain(notice, "/theme " VD_THEME_NAMES " (for colour-blind users)");
        return;
    }
    *theme = (vd_theme_name)found;
    name = vd_theme_title(*theme);
    vd_notice_say(notice, "theme %s; `theme = %s` in the config file keeps it", name, name);
}

static vd_request choose_mouse(const char *argument, vd_notice *notice)
{
    bool on;
    if (!vd_entry_switch("/mouse", argument, &on, notice))
        return (vd_request){0};
    vd_notice_say(notice, "mouse %s", on ? "on" : "off: the terminal selects text again");
    return (vd_request){.kind = VD_REQUEST_MOUSE, .index = on};
}

static vd_request choose_pictures(const char *argument, vd_notice *notice)
{
    int mode = vd_choice_find(VD_PICTURE_MODE_NAMES, argument);
    if (mode < 0) {
        vd_notice_complain(notice, "/picture-mode %s", VD_PICTURE_MODE_NAMES);
        return (vd_request){0};
    }
    vd_notice_say(notice, "`picture = %s` in the config file keeps it", argument);
    return (vd_request){.kind = VD_REQUEST_PICTURE_MODE, .index = (size_t)mode};
}

bool vd_terminal_act(vd_action action, const char *argument, vd_theme_name *theme,
                     vd_notice *notice, vd_request *out)
{
    static const vd_request_kind kinds[VD_ACTIONS] = {
        [VD_ACTION_LEAVE] = VD_REQUEST_LEAVE,
        [VD_ACTION_REDRAW] = VD_REQUEST_REDRAW,
        [VD_ACTION_SUSPEND] = VD_REQUEST_SUSPEND,
    };
    *out = (vd_request){.kind = kinds[action]};
    if (action == VD_ACTION_THEME)
        choose_theme(argument, theme, notice);
    else if (action == VD_ACTION_NEXT_THEME)
        choose_theme(vd_theme_title((*theme + 1) % VD_THEMES), theme, notice);
    else if (action == VD_ACTION_MOUSE)
        *out = choose_mouse(argument, notice);
    else if (action == VD_ACTION_PICTURE_MODE)
        *out = choose_pictures(argument, notice);
    else
        return out->kind != VD_REQUEST_NONE;
    return true;
}

// ---- the loop -----------------------------------------------------------------------------------

static vd_status serve(loop *l, vd_request *request, vd_error *err)
{
    switch ((int)request->kind) {
    case VD_REQUEST_STOP:
        vd_worker_stop(l->worker);
        return VD_OK;
    case VD_REQUEST_MOUSE:
        vd_screen_mouse(l->screen, request->index != 0);
        return VD_OK;
    case VD_REQUEST_COPY:
        vd_clipboard_copy(request->text);
        return VD_OK;
    case VD_REQUEST_LEAVE:
        l->leaving = true;
        return VD_OK;
    case VD_REQUEST_PICTURE_MODE:
        vd_screen_pictures(l->screen, (vd_picture_mode)request->index);
        break;
    case VD_REQUEST_REDRAW:
        vd_screen_redraw(l->screen);
        break;
    case VD_REQUEST_SUSPEND:
        vd_screen_suspend(l->screen);
        break;
    case VD_REQUEST_SHOW:
        break;
    default:
        return vd_worker_submit(l->worker, request, err);
    }
    l->redraw = true;
    return VD_OK;
}

static vd_status serve_all(loop *l, vd_error *err)
{
    vd_request request;
    vd_status status = VD_OK;
    while (status == VD_OK && l->view->take_request(l->view->context, &request)) {
        status = serve(l, &request, err);
        vd_request_clear(&request);
    }
    return status;
}

// A key, and typed keys that have already arrived, so that the screen is not drawn for every
// letter. Other keys wait for the next screen, since their meaning may depend on it.
static void take_keys(loop *l, vd_key key)
{
    while (l->view->key(l->view->context, key) && vd_screen_key(l->screen, &key))
        ;
}

int vd_loop_left(double *due, int pause, double now)
{
    if (pause < 0) {
        *due = 0;
        return -1;
    }
    if (*due == 0)
        *due = now + 1e-3 * pause;
    return *due > now ? (int)ceil(1e3 * (*due - now)) : 0;
}

static vd_wake wait(loop *l, vd_key *key)
{
    int pause = l->view->pause ? l->view->pause(l->view->context) : -1;
    int left = vd_loop_left(&l->due, pause, vd_seconds());
    return vd_screen_wait(l->screen, l->worker ? vd_worker_fd(l->worker) : -1, left, key);
}

static void tick(loop *l)
{
    l->due = 0;
    l->view->tick(l->view->context);
}

static void take_events(loop *l)
{
    vd_event event;
    while (vd_worker_take(l->worker, &event))
        l->view->event(l->view->context, &event);
}

vd_status vd_loop_ready(const char *instead, vd_preferences *out, vd_error *err)
{
    *out = vd_preferences_defaults();
    vd_status status = vd_screen_usable(instead, err);
    if (status == VD_OK)
        status = vd_preferences_read(NULL, out, err);
    if (out->remark[0])
        fprintf(stderr, "visdial: %s\n", out->remark);
    return status;
}

vd_status vd_loop_run(const vd_loop_view *view, vd_screen *screen, vd_worker *worker, vd_error *err)
{
    loop l = {.view = view, .screen = screen, .worker = worker};
    vd_status status = VD_OK;
    bool gone = false; // the terminal was closed
    vd_screen_settle(screen);
    while (!gone) {
        show(&l);
        status = serve_all(&l, err);
        if (status || l.leaving)
            break;
        if (l.redraw) { // at once, not with the next key
            l.redraw = false;
            continue;
        }
        vd_key key;
        vd_wake why = wait(&l, &key);
        gone = why == VD_WAKE_GONE;
        if (why == VD_WAKE_KEY)
            take_keys(&l, key);
        else if (why == VD_WAKE_FD)
            take_events(&l);
        else if (why == VD_WAKE_TIME)
            tick(&l);
        if (view->step && !gone)
            view->step(view->context);
    }
    vd_grid_free(&l.grid);
    return status;
}

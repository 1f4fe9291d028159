#include "tui/screen/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "tui/base/safe_output.h"
#include "tui/screen/abilities.h"
#include "tui/screen/direct_color.h"
#include "tui/screen/rescue.h"
#include "tui/screen/shown.h"
#include "tui/screen/typed.h"

enum { WAKES = 3 }; // signals that wake the loop: resized, stopped, continued

struct vd_screen {
    SCREEN *terminal;
    vd_look look;
    bool mouse;
    vd_kept_errors errors;
    bool again;  // a key was read already: more may wait inside curses
    vd_key kept; // read before its time; VD_KEY_NONE none
    bool said;   // the other descriptor was served last
    vd_abilities abilities;
    bool changed; // the look has
    vd_placed_pictures shown;
    struct sigaction before[WAKES];
};

// ---- resized, stopped, continued ----------------------------------------------------------------

static volatile sig_atomic_t resized, stop_wanted, continued;
static int wake_pipe[2] = {-1, -1};

static void on_wake(int number)
{
    int before = errno;
    *(number == SIGWINCH ? &resized : number == SIGTSTP ? &stop_wanted : &continued) = 1;
    if (write(wake_pipe[1], "", 1) < 0) {
        // Full: a wake-up is pending already.
    }
    errno = before;
}

static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";

static const int wakes[] = {SIGWINCH, SIGTSTP, SIGCONT};

static vd_status watch_terminal(vd_screen *screen, vd_error *err)
{
    if (pipe(wake_pipe) != 0)
        return vd_error_set(err, VD_UNAVAILABLE, "a pipe could not be made: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        fcntl(wake_pipe[i], F_SETFD, FD_CLOEXEC);
        fcntl(wake_pipe[i], F_SETFL, O_NONBLOCK);
    }
    struct sigaction action = {.sa_handler = on_wake, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    resized = stop_wanted = continued = 0;
    for (int i = 0; i < WAKES; i++)
        sigaction(wakes[i], &action, &screen->before[i]);
    return VD_OK;
}

static void unwatch_terminal(vd_screen *screen)
{
    if (wake_pipe[0] < 0)
        return;
    for (int i = 0; i < WAKES; i++)
        sigaction(wakes[i], &screen->before[i], NULL);
    close(wake_pipe[0]);
    close(wake_pipe[1]);
    wake_pipe[0] = wake_pipe[1] = -1;
}

// ---- opening -----------------------------------------------------------------------------------

vd_status vd_screen_usable(const char *instead, vd_error *err)
{
    const char *name = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return vd_error_set(err, VD_UNAVAILABLE,
                            "the screen needs a terminal, and standard %s is not one; %s",
                            isatty(STDIN_FILENO) ? "output" : "input", instead);
    if (!name || !*name)
        return vd_error_set(err, VD_UNAVAILABLE, "TERM is not set; %s", instead);
    int found;
    if (setupterm(name, STDOUT_FILENO, &found) != OK)
        return vd_error_set(err, VD_UNAVAILABLE,
                            "no description of the terminal '%.60s' (TERM) is installed: try "
                            "TERM=xterm-256color; %s",
                            name, instead);
    const char *place = tigetstr("cup");
    bool places = strcmp(name, "dumb") != 0 && place && place != (char *)-1;
    del_curterm(cur_term); // newterm reads its own
    if (!places)
        return vd_error_set(err, VD_UNAVAILABLE,
                            "the terminal '%.60s' (TERM) cannot place the cursor; %s", name,
                            instead);
    return VD_OK;
}

static bool promises_direct(void)
{
    const char *promise = getenv("COLORTERM");
    if (vd_abilities_no_color())
        return false;
    return (promise && (strcmp(promise, "truecolor") == 0 || strcmp(promise, "24bit") == 0)) ||
           tigetflag("Tc") == 1;
}

// The terminal with 24-bit colour by a description of our own; NULL: not promised, or not possible.
// said: the terminal itself said that it has them.
static SCREEN *open_direct(const char *name, bool said, FILE *out)
{
    int found;
    g_autofree char *description = NULL;
    if (setupterm(name, STDOUT_FILENO, &found) != OK)
        return NULL;
    if ((said || promises_direct()) && tigetflag("RGB") != 1)
        description = vd_direct_color_describe(name);
    del_curterm(cur_term);
    if (!description)
        return NULL;
    const char *given = getenv("TERMINFO");
    g_autofree char *before = g_strdup(given);
    setenv("TERMINFO", description, 1);
    SCREEN *terminal = newterm(name, out, stdin);
    if (before)
        setenv("TERMINFO", before, 1);
    else
        unsetenv("TERMINFO");
    return terminal;
}

static vd_depth terminal_depth(void)
{
    if (vd_abilities_no_color() || !has_colors() || COLORS < 8)
        return VD_DEPTH_MONO;
    if (COLORS > 256 && (tigetflag("RGB") == 1 || COLORS >= 0x1000000))
        return VD_DEPTH_DIRECT;
    return COLORS >= 256 ? VD_DEPTH_256 : COLORS >= 16 ? VD_DEPTH_16 : VD_DEPTH_8;
}

// Keys that terminals send but terminfo often does not name: Alt and Ctrl with arrows, paste marks.
enum { OWN_KEYS = KEY_MAX + 100 };
static const uint32_t arrow_codes[] = {VD_KEY_UP,   VD_KEY_DOWN, VD_KEY_RIGHT,
                                       VD_KEY_LEFT, VD_KEY_HOME, VD_KEY_END};
static const char arrow_letters[] = "ABCDHF";

static void define_keys(void)
{
    define_key("\033[200~", OWN_KEYS);
    define_key("\033[201~", OWN_KEYS + 1);
    // CSI X, and CSI 1 ; m X with m = 1 + (1 shift, 2 alt, 4 ctrl)
    for (int letter = 0; letter < 6; letter++) {
        char sequence[24];
        snprintf(sequence, sizeof sequence, "\033[%c", arrow_letters[letter]);
        define_key(sequence, OWN_KEYS + 10 + letter * 8);
        for (int bits = 1; bits < 8; bits++) {
            snprintf(sequence, sizeof sequence, "\033[1;%d%c", bits + 1, arrow_letters[letter]);
            define_key(sequence, OWN_KEYS + 10 + letter * 8 + bits);
            snprintf(sequence, sizeof sequence, "\033\033[%c", arrow_letters[letter]);
            define_key(sequence, OWN_KEYS + 10 + letter * 8 + 2); // Alt as an escape in front
        }
    }
}

void vd_screen_mouse(vd_screen *screen, bool on)
{
    screen->mouse = on;
    mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
    mouseinterval(0);
}

// Curses reads on behind a mouse event that it was not asked for, whatever nodelay() says: a read
// gives what is there and never waits.
static void never_wait(void)
{
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) != 0)
        return;
    modes.c_cc[VMIN] = modes.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) == 0)
        def_prog_mode(); // what curses goes back to
}

static void say(const char *bytes)
{
    if (write(STDOUT_FILENO, bytes, strlen(bytes)) < 0) {
        // The terminal is gone.
    }
}

static void set_modes(vd_screen *screen)
{
    raw();
    noecho();
    nonl();
    never_wait();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    leaveok(stdscr, FALSE);
    vd_screen_mouse(screen, screen->mouse);
    say(paste_on);
}

// Opens the terminal for curses; false when that is not possible.
static bool start_curses(vd_screen *screen)
{
    FILE *out = vd_safe_output_terminal(stdout);
    screen->terminal = open_direct(getenv("TERM"), screen->abilities.replies.direct_color, out);
    if (!screen->terminal)
        screen->terminal = newterm(NULL, out, stdin);
    if (!screen->terminal)
        return false;
    if (has_colors()) {
        start_color();
        use_default_colors();
    }
    screen->look.depth = terminal_depth();
    return true;
}

static void start_input(vd_screen *screen)
{
    set_modes(screen);
    define_keys();
}

// ---- what the terminal can ---------------------------------------------------------------------

static void ask(vd_screen *screen)
{
    char question[256];
    if (vd_abilities_question(&screen->abilities, &screen->look, question, sizeof question))
        say(question);
}

static void take_look(vd_screen *screen)
{
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    bool known = size.ws_col > 0 && size.ws_row > 0;
    screen->changed |=
        vd_abilities_look(&screen->abilities, known ? size.ws_xpixel / size.ws_col : 0,
                          known ? size.ws_ypixel / size.ws_row : 0, &screen->look);
}

static void take_size(vd_screen *screen)
{
    resized = 0;
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resizeterm(size.ws_row, size.ws_col);
    if (screen->shown.count > 0) { // terminals differ in what becomes of them
        vd_screen_redraw(screen);
        say(vd_replies_cell_question);
    }
    take_look(screen);
}

// The terminal said that it has 24-bit colour: it is opened once more, as one that has.
static void use_direct_color(vd_screen *screen)
{
    if (!screen->abilities.replies.direct_color || screen->look.depth != VD_DEPTH_256)
        return;
    endwin();
    delscreen(screen->terminal);
    if (start_curses(screen))
        start_input(screen);
    screen->shown.gone = screen->changed = true;
}

void vd_screen_pictures(vd_screen *screen, vd_picture_mode pictures)
{
    screen->abilities.wanted = pictures;
    ask(screen);
    take_look(screen);
    vd_screen_redraw(screen);
}

vd_status vd_screen_open(bool mouse, vd_picture_mode pictures, const char *instead, vd_screen **out,
                         vd_error *err)
{
    *out = NULL;
    bool utf8 = vd_abilities_utf8();
    struct termios modes;
    vd_status status = vd_screen_usable(instead, err);
    if (status)
        return status;
    if (tcgetattr(STDIN_FILENO, &modes) != 0)
        return vd_error_set(err, VD_UNAVAILABLE, "the terminal's modes: %s", strerror(errno));
    vd_screen *screen = g_new0(vd_screen, 1);
    screen->kept.code = VD_KEY_NONE;
    screen->abilities.wanted = pictures;
    screen->mouse = mouse;
    screen->look.ascii = !utf8;
    status = watch_terminal(screen, err);
    if (status)
        goto fail;
    set_escdelay(25);
    if (!start_curses(screen)) {
        status = vd_error_set(err, VD_UNAVAILABLE, "the terminal could not be set up; %s", instead);
        goto fail;
    }
    vd_errors_keep(&screen->errors);
    vd_rescue_arm(&modes, &screen->errors);
    start_input(screen);
    ask(screen);
    take_look(screen);
    *out = screen;
    return VD_OK;
fail:
    unwatch_terminal(screen);
    g_free(screen);
    return status;
}

// What it answers once the program has left would be typed into the shell.
static void drop_answers(vd_screen *screen)
{
    enum { PATIENCE_MS = 50 };
    if (screen->abilities.asked <= 0 || screen->abilities.replies.named ||
        vd_seconds() - screen->abilities.asked > 1)
        return;
    double end = vd_seconds() + 1e-3 * PATIENCE_MS;
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    vd_key key;
    while (!screen->abilities.replies.named && vd_seconds() < end && poll(&wait, 1, 10) >= 0)
        if (wait.revents & POLLIN && !vd_screen_key(screen, &key))
            break;
}

static void leave_modes(vd_screen *screen)
{
    vd_shown_forget(&screen->shown, vd_safe_output_terminal(stdout));
    drop_answers(screen);
    say(paste_off);
    move(LINES - 1, 0); // where the shell goes on, on terminals without another screen
    clrtoeol();
    refresh();
    endwin();
}

void vd_screen_close(vd_screen *screen)
{
    if (!screen)
        return;
    mousemask(0, NULL);
    leave_modes(screen);
    vd_rescue_disarm();
    unwatch_terminal(screen);
    delscreen(screen->terminal);
    vd_errors_show(&screen->errors);
    g_free(screen);
}

static void resume(vd_screen *screen)
{
    struct termios modes;
    bool known = tcgetattr(STDIN_FILENO, &modes) == 0;
    continued = stop_wanted = 0;
    take_size(screen);
    set_modes(screen);
    if (known)
        vd_rescue_arm(&modes, &screen->errors);
    vd_screen_redraw(screen);
}

void vd_screen_suspend(vd_screen *screen)
{
    mousemask(0, NULL);
    leave_modes(screen);
    vd_rescue_disarm(); // the terminal is the shell's: killed now, the program just ends
    struct sigaction stop = {.sa_handler = SIG_DFL}, before;
    sigemptyset(&stop.sa_mask);
    sigaction(SIGTSTP, &stop, &before);
    kill(0, SIGTSTP); // the whole job, as the terminal's driver would do it
    sigaction(SIGTSTP, &before, NULL);
    resume(screen);
}

vd_look vd_screen_look(const vd_screen *screen)
{
    return screen->look;
}

void vd_screen_size(const vd_screen *screen, int *width, int *height)
{
    (void)screen;
    *width = COLS;
    *height = LINES;
}

// ---- drawing -----------------------------------------------------------------------------------

// A colour as curses numbers it.
static int color_number(const vd_screen *screen, vd_color color)
{
    if (color == VD_COLOR_DEFAULT)
        return -1;
    if (color & VD_COLOR_RGB) {
        int rgb = (int)(color & 0xFFFFFF);
        return rgb < 8 ? 8 : rgb; // 0..7 are the palette's, whose black is grey when it is bold
    }
    int index = (int)(color & 0xFF);
    if (screen->look.depth == VD_DEPTH_DIRECT)
        return index < 8 ? index : (int)vd_color_to_rgb(color, 0);
    return index < COLORS ? index : -1;
}

static void cell_out(const vd_screen *screen, int x, int y, const vd_cell *cell)
{
    static const struct {
        int ours;
        attr_t curses;
    } attributes[] = {{VD_BOLD, A_BOLD},
                      {VD_DIM, A_DIM},
                      {VD_REVERSE, A_REVERSE},
                      {VD_UNDERLINE, A_UNDERLINE},
                      {VD_ITALIC, A_ITALIC}};
    attr_t attribute = A_NORMAL;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (cell->style.attributes & attributes[i].ours)
            attribute |= attributes[i].curses;
    int pair = 0;
    if (screen->look.depth != VD_DEPTH_MONO && (cell->style.fg || cell->style.bg)) {
        pair =
            alloc_pair(color_number(screen, cell->style.fg), color_number(screen, cell->style.bg));
        pair = pair < 0 ? 0 : pair;
    }
    wchar_t text[VD_CLUSTER_CODES + 1] = {0};
    for (int i = 0; i < cell->count; i++)
        text[i] = (wchar_t)cell->code[i];
    cchar_t out;
    // The pair goes through the last argument: the short one ends at 32,767, COLOR_PAIR() at 255.
    if (setcchar(&out, text, attribute, 0, &pair) == OK)
        mvadd_wch(y, x, &out);
}

void vd_screen_show(vd_screen *screen, const vd_grid *grid)
{
    for (int y = 0; y < grid->height && y < LINES; y++)
        for (int x = 0; x < grid->width && x < COLS; x++) {
            const vd_cell *cell = vd_grid_at(grid, x, y);
            if (cell->width > 0)
                cell_out(screen, x, y, cell);
        }
    bool cursor = grid->cursor_x >= 0 && grid->cursor_x < COLS && grid->cursor_y < LINES;
    curs_set(cursor ? 1 : 0);
    if (cursor)
        move(grid->cursor_y, grid->cursor_x);
    refresh();
    vd_shown_update(&screen->shown, grid, vd_safe_output_terminal(stdout));
}

void vd_screen_redraw(vd_screen *screen)
{
    screen->shown.gone = true;
    clearok(curscr, TRUE);
}

// ---- keys --------------------------------------------------------------------------------------

static const struct {
    int curses;
    uint32_t code;
} key_codes[] = {
    {KEY_UP, VD_KEY_UP},           {KEY_DOWN, VD_KEY_DOWN},     {KEY_LEFT, VD_KEY_LEFT},
    {KEY_RIGHT, VD_KEY_RIGHT},     {KEY_HOME, VD_KEY_HOME},     {KEY_END, VD_KEY_END},
    {KEY_FIND, VD_KEY_HOME},       {KEY_SELECT, VD_KEY_END},    {KEY_PPAGE, VD_KEY_PAGE_UP},
    {KEY_NPAGE, VD_KEY_PAGE_DOWN}, {KEY_IC, VD_KEY_INSERT},     {KEY_DC, VD_KEY_DELETE},
    {KEY_ENTER, VD_KEY_ENTER},     {KEY_BTAB, VD_KEY_BACK_TAB}, {KEY_BACKSPACE, VD_KEY_BACKSPACE},
};

static vd_key mouse_key(void)
{
    MEVENT event;
    vd_key key = {.code = VD_KEY_NONE};
    if (getmouse(&event) != OK)
        return key;
    key.x = event.x;
    key.y = event.y;
    if (event.bstate & BUTTON4_PRESSED)
        key.code = VD_KEY_WHEEL_UP;
    else if (event.bstate & BUTTON5_PRESSED)
        key.code = VD_KEY_WHEEL_DOWN;
    else if (event.bstate & BUTTON1_PRESSED)
        key.code = VD_KEY_CLICK;
    return key;
}

static vd_key special_key(int code)
{
    vd_key key = {.code = VD_KEY_NONE};
    if (code == KEY_MOUSE)
        return mouse_key();
    if (code == OWN_KEYS || code == OWN_KEYS + 1) {
        key.code = code == OWN_KEYS ? VD_KEY_PASTE_BEGIN : VD_KEY_PASTE_END;
    } else if (code >= OWN_KEYS + 10 && code < OWN_KEYS + 10 + 48) {
        int bits = (code - OWN_KEYS - 10) % 8;
        key.code = arrow_codes[(code - OWN_KEYS - 10) / 8];
        key.modifiers = (uint8_t)((bits & 1 ? VD_SHIFT : 0) | (bits & 2 ? VD_ALT : 0) |
                                  (bits & 4 ? VD_CTRL : 0));
    } else if (code > KEY_F0 && code < KEY_F0 + 64) {
        key.code = (uint32_t)(VD_KEY_F0 + code - KEY_F0);
    }
    for (size_t i = 0; i < sizeof key_codes / sizeof *key_codes; i++)
        if (key_codes[i].curses == code)
            key.code = key_codes[i].code;
    return key;
}

static vd_key character_key(wint_t code)
{
    vd_key key = {.code = (uint32_t)code};
    if (code == '\r' || code == '\n')
        key.code = VD_KEY_ENTER;
    else if (code == '\t')
        key.code = VD_KEY_TAB;
    else if (code == 0x7F)
        key.code = VD_KEY_BACKSPACE;
    else if (code == 0x1B)
        key.code = VD_KEY_ESCAPE;
    else if (code < 0x20) {
        key.code = (uint32_t)code + (code >= 1 && code <= 26 ? 'a' - 1 : '@');
        key.modifiers = VD_CTRL;
    }
    return key;
}

// A key or a character that has arrived, as get_wch has it, which loses what follows a byte that is
// not of the locale.
static int next_code(wint_t *code)
{
    int byte = getch();
    *code = (wint_t)byte;
    if (byte == ERR || byte < 0x80 || byte > 0xFF)
        return byte == ERR ? ERR : byte > 0xFF ? KEY_CODE_YES : OK;
    int32_t typed = vd_typed_character(byte, getch, ungetch);
    *code = (wint_t)typed;
    return typed < 0 ? ERR : OK;
}

// The rest of what may be an answer of the terminal, behind an escape and a first character, which
// alone are the key in *key.
static void read_answer(vd_screen *screen, vd_key *key)
{
    wint_t code;
    while (next_code(&code) == OK) {
        switch (vd_replies_take(&screen->abilities.replies, code)) {
        case VD_REPLY_MORE:
            key->code = VD_KEY_NONE;
            continue;
        case VD_REPLY_NONE: // two keys
            screen->kept = character_key(code);
            return;
        case VD_REPLY_DONE:
            key->code = VD_KEY_NONE;
            use_direct_color(screen);
            take_look(screen);
            return;
        }
    }
    if (screen->abilities.replies.length == 1) // nothing follows
        screen->abilities.replies.length = 0;
}

// A key that has arrived, or VD_KEY_NONE; false when none has.
static bool read_key(vd_screen *screen, vd_key *key)
{
    wint_t code;
    *key = (vd_key){.code = VD_KEY_NONE};
    if (screen->abilities.replies.length > 0) { // the rest of an answer
        read_answer(screen, key);
        if (screen->abilities.replies.length > 0)
            return false;
    }
    int kind = next_code(&code);
    if (kind == ERR)
        return false;
    if (kind == KEY_CODE_YES) {
        *key = special_key((int)code);
        return true;
    }
    *key = character_key(code);
    if (key->code != VD_KEY_ESCAPE)
        return true;
    // Alt sends an escape and then the key, at once.
    kind = next_code(&code);
    if (kind == ERR)
        return true;
    *key = kind == KEY_CODE_YES ? special_key((int)code) : character_key(code);
    if (key->code != VD_KEY_ESCAPE)
        key->modifiers |= VD_ALT;
    if (kind == OK && vd_replies_take(&screen->abilities.replies, code) == VD_REPLY_MORE)
        read_answer(screen, key);
    return true;
}

bool vd_screen_key(vd_screen *screen, vd_key *key)
{
    if (screen->kept.code != VD_KEY_NONE) {
        *key = screen->kept;
        screen->kept.code = VD_KEY_NONE;
        return true;
    }
    while (read_key(screen, key))
        if (key->code != KEY_RESIZE && key->code != VD_KEY_NONE)
            return true;
    return false;
}

void vd_screen_settle(vd_screen *screen)
{
    enum { PATIENCE_MS = 60 };
    double end = screen->abilities.asked + 1e-3 * PATIENCE_MS;
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    while (!screen->abilities.replies.named && screen->kept.code == VD_KEY_NONE &&
           vd_seconds() < end) {
        if (poll(&wait, 1, (int)(1e3 * (end - vd_seconds())) + 1) <= 0)
            break;
        vd_key key;
        if (vd_screen_key(screen, &key))
            screen->kept = key;
        else if (wait.revents & (POLLHUP | POLLERR | POLLNVAL))
            break;
    }
    screen->again = true;
    screen->changed = false;
}

// What signals asked for; false when they asked for nothing.
static bool serve_signals(vd_screen *screen)
{
    char bytes[64];
    while (read(wake_pipe[0], bytes, sizeof bytes) > 0)
        ;
    if (stop_wanted)
        vd_screen_suspend(screen);
    else if (continued)
        resume(screen);
    else if (resized)
        take_size(screen);
    else
        return false;
    return true;
}

vd_wake vd_screen_wait(vd_screen *screen, int fd, int milliseconds, vd_key *key)
{
    for (;;) {
        if (serve_signals(screen))
            return VD_WAKE_RESIZE;
        // Even when many keys wait, events of the engine are served between two of them.
        struct pollfd other = {.fd = fd, .events = POLLIN};
        if (screen->again && !screen->said && poll(&other, 1, 0) > 0 && other.revents & POLLIN) {
            screen->said = true;
            return VD_WAKE_FD;
        }
        screen->said = false;
        // Curses may have read more than the key it gave: ask it before sleeping.
        if (screen->again && vd_screen_key(screen, key))
            return VD_WAKE_KEY;
        screen->again = false;
        if (screen->changed) {
            screen->changed = false;
            return VD_WAKE_RESIZE;
        }
        struct pollfd wait[3] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                 {.fd = wake_pipe[0], .events = POLLIN},
                                 {.fd = fd, .events = POLLIN}};
        int ready = poll(wait, 3, milliseconds);
        if (ready < 0 && errno != EINTR)
            return VD_WAKE_GONE;
        if (ready == 0)
            return VD_WAKE_TIME;
        if (wait[2].revents & POLLIN)
            return VD_WAKE_FD;
        screen->again = wait[0].revents & POLLIN;
        // A terminal that is gone can be read as well, for ever, but it gives no key.
        if (wait[0].revents & (POLLHUP | POLLERR | POLLNVAL))
            return screen->again && vd_screen_key(screen, key) ? VD_WAKE_KEY : VD_WAKE_GONE;
    }
}

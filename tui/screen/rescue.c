#include "tui/screen/rescue.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>

#include "tui/screen/screen.h"

// ---- when the program is killed ----------------------------------------------------------------

// All of it prepared before a signal can come; the handler only writes it (async-signal-safe).
static struct {
    volatile sig_atomic_t armed;
    char bytes[256];
    size_t length;
    struct termios modes;
    int log, standard_error;
} rescue;

// All that end a program which does nothing about them.
static const int fatal[] = {SIGTERM, SIGHUP,  SIGINT,  SIGQUIT, SIGSEGV,   SIGBUS,  SIGABRT,
                            SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,  SIGXCPU,   SIGUSR1, SIGUSR2,
                            SIGALRM, SIGPIPE, SIGPOLL, SIGPROF, SIGVTALRM, SIGPWR,  SIGSTKFLT};

static void copy_log(int log, int to)
{
    char buffer[1024];
    ssize_t count;
    if (log < 0 || to < 0 || lseek(log, 0, SEEK_SET) < 0)
        return;
    while ((count = read(log, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)count) != count)
            break;
}

void vd_screen_rescue(void)
{
    if (!rescue.armed)
        return;
    rescue.armed = 0;
    if (write(STDOUT_FILENO, rescue.bytes, rescue.length) < 0) {
        // There is nobody to report it to.
    }
    pid_t front = tcgetpgrp(STDIN_FILENO);
    if (front < 0 || front == getpgrp()) // else the shell has the terminal
        tcsetattr(STDIN_FILENO, TCSANOW, &rescue.modes);
    copy_log(rescue.log, rescue.standard_error);
    if (rescue.standard_error >= 0)
        dup2(rescue.standard_error, STDERR_FILENO);
}

static void on_fatal(int number)
{
    vd_screen_rescue();
    // SA_RESETHAND put the default action back: the signal now has its usual effect. On process 1
    // it has none (the first of a container).
    if (getpid() == 1)
        _exit(128 + number);
    raise(number);
}

static void add_bytes(const char *bytes)
{
    // Terminfo strings may hold delays ("$<5>"), which only tputs understands.
    for (; bytes && bytes != (char *)-1 && *bytes; bytes++) {
        if (bytes[0] == '$' && bytes[1] == '<' && strchr(bytes, '>')) {
            bytes = strchr(bytes, '>');
            continue;
        }
        if (rescue.length < sizeof rescue.bytes)
            rescue.bytes[rescue.length++] = *bytes;
    }
}

// Calls `act` with each of them: the named ones and those for programs' own use.
static void each_fatal(void (*act)(int number))
{
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        act(fatal[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        act(number);
}

static void handle(int number)
{
    struct sigaction action = {.sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND}, before;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGTTOU); // in the background, too, the program ends
    sigaction(number, NULL, &before);
    if (before.sa_handler != SIG_IGN) // nohup and the like
        sigaction(number, &action, NULL);
}

static void release(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    if (now.sa_handler == on_fatal)
        signal(number, SIG_DFL);
}

void vd_rescue_arm(const struct termios *modes, const vd_kept_errors *kept)
{
    rescue.modes = *modes;
    rescue.log = kept->log;
    rescue.standard_error = kept->standard_error;
    rescue.length = 0;
    add_bytes("\033\\"); // ends the picture that was being sent, in tmux on its terminal, too
    if (getenv("TMUX"))
        add_bytes("\033Ptmux;\033\033\\\033\\");
    add_bytes("\033[?2004l");
    add_bytes("\033[?1000l\033[?1002l\033[?1003l\033[?1006l"); // the mouse
    add_bytes(tigetstr("sgr0"));
    add_bytes(tigetstr("op"));
    add_bytes(tigetstr("rmkx"));
    add_bytes(tigetstr("cnorm"));
    add_bytes(tigetstr("rmcup"));
    add_bytes("\r");
    rescue.armed = 1;
    each_fatal(handle);
}

void vd_rescue_disarm(void)
{
    rescue.armed = 0;
    each_fatal(release);
}

// ---- standard error ----------------------------------------------------------------------------

void vd_errors_keep(vd_kept_errors *kept)
{
    *kept = (vd_kept_errors){-1, -1};
    fflush(stderr);
    kept->log = memfd_create("standard error", MFD_CLOEXEC);
    kept->standard_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (kept->log >= 0 && kept->standard_error >= 0) // else a message may spoil the screen
        dup2(kept->log, STDERR_FILENO);
}

void vd_errors_show(vd_kept_errors *kept)
{
    if (kept->log >= 0 && kept->standard_error >= 0) {
        fflush(stderr);
        dup2(kept->standard_error, STDERR_FILENO);
        copy_log(kept->log, STDERR_FILENO);
    }
    if (kept->log >= 0)
        close(kept->log);
    if (kept->standard_error >= 0)
        close(kept->standard_error);
    kept->log = kept->standard_error = -1;
}

#include "tests/support/pty.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/support.h"

enum { PATIENCE_MS = 20000, OUTPUT = 1 << 24 };

static int terminal = -1;
static pid_t child;
static char output[OUTPUT + 1];
static size_t length;
static size_t searched; // pty_await looks at what comes behind

bool pty_start(const char *const *arguments, int width, int height)
{
    struct winsize size = {.ws_row = (unsigned short)height, .ws_col = (unsigned short)width};
    const char *program = getenv("VISDIAL_BIN");
    char *list[32] = {(char *)(program ? program : "build/visdial")};
    for (int i = 0; i < 30 && arguments[i]; i++)
        list[i + 1] = (char *)arguments[i];
    pty_forget();
    child = forkpty(&terminal, NULL, NULL, &size);
    if (child == 0) {
        setenv("TERM", "xterm-256color", 1);
        execv(list[0], list);
        _exit(127);
    }
    return child > 0;
}

void pty_end(void)
{
    double start = support_milliseconds();
    kill(child, SIGTERM);
    while (waitpid(child, NULL, WNOHANG) == 0) {
        pty_drain();
        if (support_milliseconds() - start > PATIENCE_MS)
            kill(child, SIGKILL);
    }
    pty_drain();
    close(terminal);
    terminal = -1;
}

bool pty_leaves_with_its_terminal(void)
{
    enum { STEPS = 1000 };
    pid_t ended = 0;
    close(terminal);
    terminal = -1;
    for (int i = 0; i < STEPS && !(ended = waitpid(child, NULL, WNOHANG)); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (ended == child)
        return true;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return false;
}

bool pty_tell(const char *keys)
{
    searched = length;
    return write(terminal, keys, strlen(keys)) == (ssize_t)strlen(keys);
}

void pty_forget(void)
{
    length = searched = 0;
    output[0] = '\0';
}

bool pty_showed(const char *text)
{
    return strstr(output, text) != NULL;
}

const char *pty_output(size_t *out)
{
    *out = length;
    return output;
}

bool pty_resize(int width, int height)
{
    struct winsize size = {.ws_row = (unsigned short)height, .ws_col = (unsigned short)width};
    return ioctl(terminal, TIOCSWINSZ, &size) == 0;
}

// What has come; false when that is the end.
static bool take_output(void)
{
    if (length > OUTPUT / 2) { // what came long ago
        size_t gone = length - OUTPUT / 4;
        memmove(output, output + gone, OUTPUT / 4);
        length = OUTPUT / 4;
        searched = searched > gone ? searched - gone : 0;
    }
    ssize_t count = read(terminal, output + length, OUTPUT - length);
    length += count > 0 ? (size_t)count : 0;
    output[length] = '\0';
    return count > 0;
}

// Whether it is in what was not searched yet. A text may come in two parts: the last of them is
// searched with the end of the one before.
static bool find(const char *text)
{
    const char *found = strstr(output + searched, text);
    searched = found ? (size_t)(found - output) + strlen(text) : searched;
    return found != NULL;
}

bool pty_await(const char *text)
{
    double start = support_milliseconds();
    while (!find(text)) {
        struct pollfd wait = {.fd = terminal, .events = POLLIN};
        if (support_milliseconds() - start > PATIENCE_MS ||
            (poll(&wait, 1, 100) > 0 && !take_output()))
            return false;
    }
    return true;
}

bool pty_take(void)
{
    struct pollfd wait = {.fd = terminal, .events = POLLIN};
    return poll(&wait, 1, 0) <= 0 || take_output();
}

void pty_drain(void)
{
    struct pollfd wait = {.fd = terminal, .events = POLLIN};
    while (poll(&wait, 1, 30) > 0 && take_output())
        ;
}

bool pty_wait(void)
{
    double start = support_milliseconds();
    struct pollfd wait = {.fd = terminal, .events = POLLIN};
    while (support_milliseconds() - start < PATIENCE_MS)
        if (poll(&wait, 1, 100) > 0 && !take_output())
            break;
    return pty_leaves_with_its_terminal();
}

double pty_letter(const char *before, int number)
{
    // A letter that stands nowhere else: digits and words change all the time.
    const char *letter = number % 2 ? "Q" : "Z";
    char keys[64];
    snprintf(keys, sizeof keys, "%s%s", before, letter);
    double start = support_milliseconds();
    if (!pty_tell(keys) || !pty_await(letter))
        return -1;
    double took = support_milliseconds() - start;
    return pty_tell("\025") ? took : -1; // Ctrl-U
}

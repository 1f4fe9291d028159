#include "tests/support/terminal.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/support.h"

enum { PATIENCE_MS = 20000, PAUSE_MS = 10 };

tiny_world terminal_world;
char *terminal_directory;
static char server[64];

static long now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){0, PAUSE_MS * 1000000L}, NULL);
}

char *tmux(const char *format, ...)
{
    char command[1024], arguments[800];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command, "tmux -u -L %s -f /dev/null %s 2>&1", server, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *out = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&out, &size);
    for (int c; (c = getc(pipe)) != EOF;)
        putc(c, memory);
    fclose(memory);
    pclose(pipe);
    return out;
}

void tell(const char *arguments)
{
    free(tmux("%s", arguments));
}

bool shows(const char *text)
{
    char *screen = tmux("capture-pane -J -p -t chat"); // lines that the terminal broke, whole
    bool found = strstr(screen, text) != NULL;
    free(screen);
    return found;
}

void await(const char *text)
{
    long end = now_ms() + PATIENCE_MS;
    while (!shows(text)) {
        if (now_ms() > end) {
            char *screen = tmux("capture-pane -p -t chat");
            fail_msg("\"%s\" did not come; the screen:\n%s", text, screen);
        }
        pause_briefly();
    }
}

void expect_format(const char *format, const char *expected)
{
    char *value = tmux("display-message -p -t chat '%s'", format);
    value[strcspn(value, "\n")] = '\0';
    assert_string_equal(value, expected);
    free(value);
}

void start_program(const char *environment, const char *format, ...)
{
    char arguments[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    const char *program = getenv("VISDIAL_BIN");
    char script[4096];
    char *path = support_join(terminal_directory, "run.sh");
    snprintf(script, sizeof script,
             "rm -f '%s/pid'\n"
             "env -u NO_COLOR -u LC_ALL -u LC_CTYPE -u LANG -u COLORTERM XDG_STATE_HOME='%s'"
             " XDG_CONFIG_HOME='%s/config' TERM=tmux-256color %s"
             " sh -c 'echo $$ >%s/pid; exec %s %s'\n"
             "echo \"[exit $?]\"\nstty -a | tr ' ' '\\n' | grep -E '^-?(icanon|echo|isig);?$'"
             " | tr '\\n' ' '\necho '[end]'\nexec cat\n",
             terminal_directory, terminal_directory, terminal_directory, environment,
             terminal_directory, program ? program : "build/visdial", arguments);
    support_write_text(path, script);
    tell("kill-session -t chat");
    free(tmux("new-session -d -s chat -x 80 -y 24 'sh %s'", path));
    free(path);
}

void start_command(const char *environment, const char *command)
{
    start_program(environment, "%s --assets %s", command, terminal_world.directory);
}

pid_t program_pid(void)
{
    char *path = support_join(terminal_directory, "pid");
    char *text = support_read_file(path, NULL);
    pid_t pid = (pid_t)strtol(text, NULL, 10);
    free(text);
    free(path);
    assert_true(pid > 1);
    return pid;
}

void expect_restored(const char *exit_code)
{
    await(exit_code);
    await("[end]");
    assert_true(shows("isig"));
    assert_false(shows("-isig"));
    assert_false(shows("-icanon"));
    assert_false(shows("-echo"));
    expect_format("#{alternate_on}", "0");
    expect_format("#{cursor_flag}", "1");
    expect_format("#{keypad_flag}", "0");
    expect_format("#{mouse_any_flag}", "0");
}

bool is_coloured(void)
{
    char *screen = tmux("capture-pane -e -p -t chat");
    bool found = false;
    for (const char *at = screen; (at = strstr(at, "\033[")) && !found; at++) {
        size_t length = strcspn(at, "m");
        char codes[64];
        snprintf(codes, sizeof codes, ";%.*s;", (int)(length > 50 ? 50 : length) - 2, at + 2);
        found = strstr(codes, ";38;") || strstr(codes, ";48;");
        for (int color = 30; color < 48 && !found; color++) {
            char code[8];
            snprintf(code, sizeof code, ";%d;", color);
            found = color != 39 && strstr(codes, code);
        }
    }
    free(screen);
    return found;
}

void configure(const char *text)
{
    char *config = support_join(terminal_directory, "config"),
         *own = support_join(config, "visdial");
    char *path = support_join(own, "config");
    mkdir(config, 0700);
    mkdir(own, 0700);
    support_write_text(path, text);
    free(path);
    free(own);
    free(config);
}

// Made from the description of one with 256.
void describe_16_colours(char *environment, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command,
             "infocmp -x xterm-256color | sed -e 's/^xterm-256color|[^,]*,/visdial-16|test,/'"
             " -e 's/colors#[0-9a-fx]*,/colors#16,/' -e 's/pairs#[0-9a-fx]*,/pairs#256,/'"
             " >'%s/16.ti' && tic -x -o '%s/terminfo' '%s/16.ti'",
             terminal_directory, terminal_directory, terminal_directory);
    assert_int_equal(system(command), 0);
    snprintf(environment, size, "TERM=visdial-16 TERMINFO='%s/terminfo'", terminal_directory);
}

int terminal_open(void **state)
{
    (void)state;
    tiny_world_make(&terminal_world);
    terminal_directory = support_temp_dir();
    snprintf(server, sizeof server, "visdial-test-%ld", (long)getpid());
    tell("new-session -d -s keeper -x 80 -y 24 cat"); // the server stays between the chats
    return 0;
}

int terminal_close(void **state)
{
    (void)state;
    tell("kill-server");
    support_remove_tree(terminal_directory);
    free(terminal_directory);
    tiny_world_remove(&terminal_world);
    return 0;
}

void expect_end_with_terminal(void)
{
    pid_t pid = program_pid();
    tell("kill-session -t chat");
    long end = now_ms() + PATIENCE_MS;
    while (kill(pid, 0) == 0 && now_ms() < end)
        pause_briefly();
    assert_true(kill(pid, 0) != 0 && errno == ESRCH);
}

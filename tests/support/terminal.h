// The built program in a real terminal: the pane "chat" of a private tmux server. Nothing sleeps
// for a fixed time; screens are awaited, for twenty seconds at most. Short names: tests of the
// terminal are written in them.
#ifndef VD_TEST_TERMINAL_H
#define VD_TEST_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tests/support/tiny_world.h"

extern tiny_world terminal_world;
extern char *terminal_directory; // home of the program's state and configuration, and for files

// Set-up and tear-down of a group of tests: the server, the world, the directory.
int terminal_open(void **state);
int terminal_close(void **state);

// What a tmux command printed, free().
char *tmux(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tell(const char *arguments); // the same, unread

// Starts visdial with these arguments and environment ("NAME=value ...") in a new terminal of
// 80x24. When it ends, its exit code and the terminal's modes are shown.
void start_program(const char *environment, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The same with the tiny world's assets.
void start_command(const char *environment, const char *command);
pid_t program_pid(void);
// Writes the configuration that the program reads from now on.
void configure(const char *text);
// Makes a terminal of 16 colours known, which few machines have a description of: the environment
// that has it.
void describe_16_colours(char *environment, size_t size);

bool shows(const char *text);
void await(const char *text);
void expect_format(const char *format, const char *expected); // what tmux says of the pane
// The program ended so ("[exit 0]") and left the terminal as it was.
void expect_restored(const char *exit_code);
// Closes the terminal and waits for the program's end.
void expect_end_with_terminal(void);
bool is_coloured(void); // escape sequences for colours are on the screen

#endif

// The program in a terminal of its own, for measuring how soon a key is on its screen. Its output
// is read as it comes; tests/support/terminal.h has one whose screen can be looked at.
#ifndef VD_TEST_PTY_H
#define VD_TEST_PTY_H

#include <stdbool.h>
#include <stddef.h>

// Runs $VISDIAL_BIN (else build/visdial) with these arguments, without its name, NULL at the end.
bool pty_start(const char *const *arguments, int width, int height);
void pty_end(void);
// Closes the terminal under the program; false (and it is killed) when it runs ten seconds later.
bool pty_leaves_with_its_terminal(void);
bool pty_tell(const char *keys);
// Reads until `text` has come since the last key and since the text last awaited; false after
// twenty seconds, or when the program ends.
bool pty_await(const char *text);
bool pty_take(void);               // what has come, without waiting; false when it has ended
void pty_drain(void);              // everything that is on its places, until nothing came for 30 ms
bool pty_showed(const char *text); // in what was read since the last pty_forget
const char *pty_output(size_t *length);
bool pty_resize(int width, int height);
bool pty_wait(void); // for its end by itself; what it still writes is read
void pty_forget(void);
// Milliseconds from a letter that is written, behind other keys, until it is on the screen; the
// line is emptied after it. Negative: it did not come. `number` tells one letter from the next.
double pty_letter(const char *before, int number);

#endif

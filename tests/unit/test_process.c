// The program as a process: with standard files that are closed, and as the first of a container.
#include <fcntl.h>
#include <linux/sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/one_world.h"
#include "tests/support/support.h"

static const char *program(void)
{
    const char *path = getenv("VISDIAL_BIN");
    return path ? path : "build/visdial";
}

static int ended(pid_t pid)
{
    int state;
    assert_int_equal(waitpid(pid, &state, 0), pid);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

// Nothing that is written gets into a file that was opened meanwhile.
static void closed_standard_files_are_no_harm(void **state)
{
    (void)state;
    char *out = support_join(tiny.directory, "closed"), *pool = support_join(out, "pool.txt");
    for (int closed = 1; closed < 8; closed++) {
        support_remove_tree(out);
        pid_t pid = fork();
        if (pid == 0) {
            for (int file = 0; file < 3; file++)
                if (closed & 1 << file)
                    close(file);
            execl(program(), "visdial", "train", "--data", tiny.train, "--features", tiny.features,
                  "--out", out, "--hidden", "4", "--embed", "4", "--epochs", "1", "--min-count",
                  "1", (char *)NULL);
            _exit(99);
        }
        assert_int_equal(ended(pid), 0);
        size_t size;
        char *text = support_read_file(pool, &size);
        assert_null(strstr(text, "visdial"));
        assert_true(strspn(text, "0123456789") > 0);
        free(text);
    }
    free(out);
    free(pool);
}

// SIGTERM as process 1 of a process namespace, where the kernel has no default action.
static void a_signal_ends_the_first_process_of_a_container(void **state)
{
    (void)state;
    int input[2], output[2];
    assert_int_equal(pipe(input), 0);
    assert_int_equal(pipe(output), 0);
    unsigned long flags = CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD;
    pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (pid < 0)
        support_skip("process namespaces");
    if (pid == 0) {
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDERR_FILENO);
        for (int i = 0; i < 2; i++) {
            close(input[i]);
            close(output[i]);
        }
        execl(program(), "visdial", "ask", "--assets", tiny.directory, "--image", "1",
              (char *)NULL);
        _exit(99);
    }
    char byte;
    close(output[1]);
    assert_int_equal(read(output[0], &byte, 1), 1); // it runs: it names the picture
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(ended(pid), 128 + SIGTERM);
    close(output[0]);
    close(input[0]);
    close(input[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_standard_files_are_no_harm),
        cmocka_unit_test(a_signal_ends_the_first_process_of_a_container),
    };
    return cmocka_run_group_tests(tests, make_tiny, remove_tiny);
}

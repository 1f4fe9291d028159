#include "tests/support/program.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_ARGUMENTS = 60, MOST_WAITS = 6000 };

static int scratch_file(const char *content)
{
    char name[] = "/tmp/visdial-run-XXXXXX";
    int file = mkstemp(name);
    assert_true(file >= 0);
    unlink(name);
    if (content) {
        size_t length = strlen(content);
        assert_int_equal(write(file, content, length), length);
        lseek(file, 0, SEEK_SET);
    }
    return file;
}

static char *content_of(int file)
{
    off_t size = lseek(file, 0, SEEK_END);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    lseek(file, 0, SEEK_SET);
    assert_int_equal(read(file, text, (size_t)size), size);
    text[size] = '\0';
    close(file);
    return text;
}

void support_program_start(support_program *program, const char *const *arguments,
                           const char *input, size_t most_bytes)
{
    const char *binary = getenv("VISDIAL_BIN");
    char *argv[MOST_ARGUMENTS + 2];
    int count = 0;
    argv[count++] = strdup(binary && *binary ? binary : "build/visdial");
    for (; arguments[count - 1] && count <= MOST_ARGUMENTS; count++)
        argv[count] = strdup(arguments[count - 1]);
    argv[count] = NULL;
    memset(program, 0, sizeof *program);
    program->files[0] = scratch_file(NULL);
    program->files[1] = scratch_file(NULL);
    int from = input ? scratch_file(input) : open("/dev/null", O_RDONLY);
    fflush(NULL);
    program->pid = fork();
    assert_true(program->pid >= 0);
    if (program->pid == 0) {
        dup2(from, STDIN_FILENO);
        dup2(program->files[0], STDOUT_FILENO);
        dup2(program->files[1], STDERR_FILENO);
        struct rlimit limit = {most_bytes, most_bytes};
        if (most_bytes)
            setrlimit(RLIMIT_FSIZE, &limit);
        execv(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    close(from);
    for (int i = 0; i < count; i++)
        free(argv[i]);
}

void support_program_wait(support_program *program)
{
    int status = 0;
    struct timespec pause = {.tv_nsec = 10000000};
    int waits = 0;
    while (waitpid(program->pid, &status, WNOHANG) == 0) {
        if (++waits == MOST_WAITS)
            kill(program->pid, SIGKILL);
        nanosleep(&pause, NULL);
    }
    program->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    program->out = content_of(program->files[0]);
    program->err = content_of(program->files[1]);
}

void support_program_run(support_program *program, const char *const *arguments, const char *input)
{
    support_program_start(program, arguments, input, 0);
    support_program_wait(program);
}

void support_program_clear(support_program *program)
{
    free(program->out);
    free(program->err);
    memset(program, 0, sizeof *program);
}

void support_program_expect(const support_program *program, int code, ...)
{
    int good = program->code == code;
    va_list words;
    va_start(words, code);
    for (const char *word; (word = va_arg(words, const char *));) {
        if (!strstr(program->err, word)) {
            print_error("standard error lacks '%s'\n", word);
            good = 0;
        }
    }
    va_end(words);
    if (!good)
        print_error("exit code %d, expected %d\n--- out\n%.2000s\n--- err\n%.2000s\n---\n",
                    program->code, code, program->out, program->err);
    assert_true(good);
}

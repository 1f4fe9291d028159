// Training that is killed, and goes on as if it had not been.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "tests/support/support.h"
#include "tests/support/train_run.h"

// 12, or $VISDIAL_KILLS for a longer search (`make kill`).
static int kills_wanted(void)
{
    const char *text = getenv("VISDIAL_KILLS");
    return text ? (int)strtol(text, NULL, 10) : 12;
}

// Killed again and again wherever it happens to be, and resumed each time.
static void a_run_that_is_killed_ends_as_if_it_was_not(void **state)
{
    (void)state;
    const int wanted = kills_wanted();
    char epochs[16]; // more than the run gets through between them
    snprintf(epochs, sizeof epochs, "%d", 10 * wanted);
    const char *arguments[] = {"--epochs",  epochs,   "--checkpoint-steps", "2",
                               "--decoder", "both",   "--micro-batch",      "2",
                               "--val",     tiny.val, "--val-features",     tiny.features,
                               NULL,        NULL};
    const size_t last = sizeof arguments / sizeof *arguments - 2;
    vd_rng rng = vd_rng_seed((uint64_t)time(NULL), 9);
    char *checkpoint = train_run_file("killed", "checkpoint.safetensors");
    int kills = 0, code = -1;
    train_run_expect("alive", 0, "", arguments);
    while (code != 0) {
        support_program run;
        arguments[last] = support_exists(checkpoint) ? "--resume" : NULL;
        train_run_start(&run, "killed", 0, arguments);
        struct timespec pause = {.tv_nsec = 1000000 * (long)vd_rng_below(&rng, 60)};
        nanosleep(&pause, NULL);
        if (kills < wanted)
            kill(run.pid, SIGKILL);
        support_program_wait(&run);
        if (run.code != 0 && run.code != 128 + SIGKILL)
            fail_msg("exit code %d: %s", run.code, run.err);
        kills += run.code == 128 + SIGKILL;
        code = run.code;
        support_program_clear(&run);
    }
    print_message("killed %d times\n", kills);
    assert_int_equal(kills, wanted);
    train_run_same("alive", "killed");
    free(checkpoint);
}

// Calls that change a file, its name or what is on the disk.
static bool changes_files(const struct __ptrace_syscall_info *call)
{
    static const long calls[] = {SYS_write,  SYS_pwrite64,  SYS_fsync,    SYS_ftruncate,
                                 SYS_rename, SYS_renameat2, SYS_unlink,   SYS_unlinkat,
                                 SYS_openat, SYS_close,     SYS_fdatasync};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (call->op == PTRACE_SYSCALL_INFO_ENTRY && (long)call->entry.nr == calls[i])
            return true;
    return false;
}

// Whether a checkpoint is half written; locked: by a process that lives.
static bool is_half_written(const char *out, bool locked)
{
    char *part = train_run_file(out, "checkpoint.safetensors.visdial-0.part");
    int file = open(part, O_RDONLY | O_CLOEXEC);
    bool found = file >= 0 && (!locked || flock(file, LOCK_EX | LOCK_NB) != 0);
    if (file >= 0)
        close(file);
    free(part);
    return found;
}

// Kills the run right before the `count`-th such call since it wrote its first checkpoint, or since
// it has begun one of its own; false when it ends before.
static bool kill_before_call(pid_t pid, const char *out, int count)
{
    bool begun = false;
    if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD) != 0)
        return false; // ended already
    ptrace(PTRACE_INTERRUPT, pid, 0, 0);
    for (;;) {
        siginfo_t about = {0};
        struct __ptrace_syscall_info call = {0};
        int how;
        assert_int_equal(waitid(P_PID, (id_t)pid, &about, WEXITED | WSTOPPED | WNOWAIT), 0);
        if (about.si_code != CLD_TRAPPED && about.si_code != CLD_STOPPED)
            return false;
        assert_int_equal(waitpid(pid, &how, 0), pid);
        bool in_call = WSTOPSIG(how) == (SIGTRAP | 0x80);
        if (in_call)
            ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, &call);
        if (in_call && changes_files(&call)) {
            begun = begun || is_half_written(out, true);
            if (begun && count-- == 0) {
                kill(pid, SIGKILL);
                return true;
            }
        }
        int signal = in_call || how >> 16 ? 0 : WSTOPSIG(how);
        ptrace(PTRACE_SYSCALL, pid, 0, signal);
    }
}

// One step after the other through what a checkpoint's writing asks of the system.
static void a_run_may_be_killed_at_every_call_of_a_checkpoint(void **state)
{
    (void)state;
    enum { CALLS = 24 };
    const char *arguments[] = {"--epochs", "40", "--checkpoint-steps", "1", NULL, NULL};
    const size_t last = sizeof arguments / sizeof *arguments - 2;
    char *checkpoint = train_run_file("stepped", "checkpoint.safetensors");
    int kills = 0, half_written = 0, again = 0, code = -1;
    train_run_expect("steady", 0, "", arguments);
    while (code != 0) {
        support_program run;
        arguments[last] = support_exists(checkpoint) ? "--resume" : NULL;
        train_run_start(&run, "stepped", 0, arguments);
        if (kills < CALLS && kill_before_call(run.pid, "stepped", kills))
            kills++;
        support_program_wait(&run);
        half_written += is_half_written("stepped", false);
        if (run.code != 0 && run.code != 128 + SIGKILL)
            fail_msg("exit code %d: %s", run.code, run.err);
        code = run.code;
        support_program_clear(&run);
        if (code == 0 && kills < CALLS && again++ < 10) { // through before it could be traced
            train_run_remove("stepped");
            code = -1;
        }
    }
    print_message("killed %d times, %d of them with a checkpoint half written\n", kills,
                  half_written);
    assert_int_equal(kills, CALLS);
    assert_true(half_written > 2 && half_written < CALLS);
    char *directory = support_join(tiny.directory, "steady"),
         *stepped = support_join(tiny.directory, "stepped");
    // What a kill left is cleared away.
    assert_int_equal(support_count_entries(directory), support_count_entries(stepped));
    free(stepped);
    free(directory);
    train_run_same_file("steady", "stepped", "model.safetensors");
    train_run_same_file("steady", "stepped", "checkpoint.safetensors");
    train_run_same_file("steady", "stepped", "log.tsv");
    free(checkpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_is_killed_ends_as_if_it_was_not),
        cmocka_unit_test(a_run_may_be_killed_at_every_call_of_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, train_run_world, train_run_end);
}
